"""Find the columns that may have a role, such as the task or the outcome.

`find_candidates(con, sources, request)` reads the beginning of a file. The function returns one
`Candidates` object for each list of records in the file. The list that most likely contains the
attempts comes first:

    candidates = find_candidates(con, sources, request)[0]
    candidates.records_key                # value of --records, "" at the top of the file
    candidates["task"]                    # tuple of Candidate, the likeliest first
    candidates["outcome"][0].option       # SuggestedFix({"--field": {"outcome": "verdict"}})
    candidates["outcome"][0].pass_definitions  # one SuggestedFix per possible meaning of a pass
    candidates.certain_candidate("task")  # the Candidate that is certain, or None

The roles are "task", "outcome", "counts" (the numbers of attempts and of passes), "model" and
"setting". passk shows the candidates for a role, and the user chooses one candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import TYPE_CHECKING

from passk_cli.files.reading.record_discovery import (
    FieldValues,
    RecordList,
    find_record_lists,
    value_text,
)
from passk_cli.files.request import RESERVED_OUTPUT_COLUMNS, Request
from passk_cli.files.roles import (
    COLUMN_NAME_AS_MODEL,
    EACH_ENTRY_KEY,
    EQUAL_COLUMNS_OPERATOR,
    FIXED_VALUE_PREFIX,
    MAX_NAME_LIKE_TEXT_CHARACTERS,
    POSITION_AS_TASK,
    ROLES,
    SUMMARY_LIST_WORDS,
    agreement_sql,
    column_name_words,
    combined_columns,
    normalized_last_key,
    parent_path,
    role_name_strength,
    usual_columns,
)
from passk_cli.files.sources.source import Source
from passk_cli.files.vocabulary import (
    ANSWER_WORDS,
    ATTACK_WORDS,
    ATTEMPT_COUNT_WORDS,
    ATTEMPT_METADATA_WORDS,
    ATTEMPT_NUMBER_VALUE_PATTERN,
    ATTEMPT_NUMBER_WORDS,
    AVERAGE_WORDS,
    BAD_EVENT_WORDS,
    CORRECTNESS_COLUMN_WORDS,
    EXPECTED_ANSWER_WORDS,
    JUDGE_WORDS,
    NOT_OUTCOME_WORDS,
    PASS_COUNT_WORDS,
    PREDICTED_WORDS,
    PROBLEM_STATEMENT_WORDS,
    PROSE_ABOUT_ANSWER_WORDS,
    RUN_STATUS_COLUMN_WORDS,
    RUN_STATUS_ONLY_COLUMN_WORDS,
    SETTING_NAMES,
    STEP_LIST_COLUMN_WORDS,
    VERDICT_COLUMN_WORDS,
    look_like_models,
)
from passk_cli.suggested_fix import SuggestedFix

if TYPE_CHECKING:
    import duckdb

# Users can choose columns for the roles in SHOWN_ROLES, and passk shows the roles in the order of
# SHOWN_ROLES.
SHOWN_ROLES = ("task", "outcome", "counts", "model", "setting")
# A column with a word in _NON_OUTCOME_COLUMN_WORDS in its name is never the outcome.
_NON_OUTCOME_COLUMN_WORDS = (
    NOT_OUTCOME_WORDS
    | (EXPECTED_ANSWER_WORDS - {"label", "true"})
    | ATTEMPT_METADATA_WORDS
    | PREDICTED_WORDS
)
# A column with a word in _NON_TASK_COLUMN_WORDS in its name is not the task, unless the column has
# a usual task name.
_NON_TASK_COLUMN_WORDS = (
    (
        ATTEMPT_METADATA_WORDS
        | ATTEMPT_NUMBER_WORDS
        | ANSWER_WORDS
        | EXPECTED_ANSWER_WORDS
        | JUDGE_WORDS
    )
    | (
        VERDICT_COLUMN_WORDS
        | PROSE_ABOUT_ANSWER_WORDS
        | {"code", "error", "status", "level", "type"}
    )
) - {"sample"}
_STATEMENT_AND_ANSWER_WORDS = PROBLEM_STATEMENT_WORDS | EXPECTED_ANSWER_WORDS | ANSWER_WORDS
# Columns with metrics over several attempts, such as pass@5, have names that match
# _PASS_AT_K_NAME_PATTERN.
_PASS_AT_K_NAME_PATTERN = re.compile(r"(.*_)?pass(_at|_hat|@|\^)_?[0-9k]+", re.I)
# Columns that belong to one numbered attempt, such as run_1_passed, have names that match
# _NUMBERED_ATTEMPT_NAME_PATTERN.
_NUMBERED_ATTEMPT_NAME_PATTERN = re.compile(
    rf"(^|[\W_])({'|'.join(ATTEMPT_NUMBER_WORDS)})[ _\-#]*[0-9]+(?=$|[\W_])", re.I
)
# A column with a word in _PAIRWISE_PREFERENCE_WORDS in its name shows which of two answers is
# better, for example with the values A, B and tie.
_PAIRWISE_PREFERENCE_WORDS = {*"winner preference preferred".split()}
_SIDE_NAME, _TIES = re.compile(r"(.*[\W_])?[ab12]", re.I), {"tie", "draw", "both"}
_WORDS, _VALUES, _FEW = 6, 16, 5
# If a column contains at most _MAX_GRADES_FOR_SECOND_THRESHOLD different grades, passk also
# suggests the second-lowest grade as a threshold.
_MAX_GRADES_FOR_SECOND_THRESHOLD = 5


@dataclass(frozen=True)
class Candidate:
    """A column that may have a role, for example the role of the task or the outcome.

    column : the name of the column, in the form in which the user gives it to --field. For example,
        "n,c" means that n contains the number of attempts and c the number of passes.
    option : the option that assigns the role to the column.
    values_summary : a summary of the values, for example "145 false, 43 true", or "30 values, 5
        rows each" for a task.
    distinct_count : the number of different values in a column of tasks.
    certain : whether the column definitely has the role, because of the column name or because no
        other column can have the role.
    is_used_by_default : whether passk uses the column in the role without an option.
    missing_count : the number of records without a value in the column.
    pass_definitions : one option per possible definition of a pass. The `effect` of an option
        describes the definition. The tuple is empty if it is clear which values pass.
    """

    role: str
    column: str
    option: SuggestedFix
    values_summary: str
    distinct_count: int = 0
    certain: bool = False
    is_used_by_default: bool = False
    missing_count: int = 0
    pass_definitions: tuple[SuggestedFix, ...] = ()


@dataclass(frozen=True, eq=False)
class Candidates(Mapping[str, tuple[Candidate, ...]]):
    """The candidate columns for each role in a list of records. The likeliest column comes first.

    records_key : the value of --records for the list of records, or "" at the top of the file.
    row_count : the number of records that passk read.
    summary_by_column : maps the path of every column to a summary of the values.
    coverage : a text that describes the part of the files or records that passk read, or "" if
        passk read all of them.
    row_count_by_other_record_list : maps values of --records to numbers of rows, for the other
        lists that may contain the attempts.
    preference_column : a column that shows which of two answers is better, or "". passk cannot use
        a file with such a column.
    average_column : a column with an average over several attempts, or "". passk cannot use a file
        with such a column.
    weak_outcomes : columns that may be the outcome, although neither the column name nor the values
        suggest an outcome.
    """

    records_key: str
    row_count: int
    by_role: Mapping[str, tuple[Candidate, ...]]
    summary_by_column: Mapping[str, str]
    coverage: str = ""
    row_count_by_other_record_list: Mapping[str, int] = field(default_factory=dict)
    preference_column: str = ""
    average_column: str = ""
    weak_outcomes: tuple[Candidate, ...] = ()

    def __getitem__(self, role: str) -> tuple[Candidate, ...]:
        return self.by_role[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_role)

    def __len__(self) -> int:
        return len(self.by_role)

    def with_weak_outcomes_if_none(self) -> Candidates:
        """The same candidates. If there are no outcomes, the weak outcomes become the outcomes."""
        if "outcome" in self or not self.weak_outcomes:
            return self
        by_role = {**self.by_role, "outcome": self.weak_outcomes}
        return replace(self, by_role={r: by_role[r] for r in SHOWN_ROLES if r in by_role})

    def certain_candidate(self, role: str) -> Candidate | None:
        """The candidate that certainly has the role, or None."""
        certain_candidates = (candidate for candidate in self.get(role, ()) if candidate.certain)
        return next(certain_candidates, None)


def find_candidates(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request
) -> list[Candidates]:
    """Find the candidate columns in each list of records. The list that most likely contains the
    attempts comes first.

    The result is empty for a file that a harness wrote. Errors: DataError if a file cannot contain
    results.
    """
    places = find_record_lists(con, sources, request)
    readers = [_CandidateFinder(con, place, request) for place in places]
    readers = [reader for reader in readers if request.records in (None, reader.place.records_key)]
    return [
        reader.candidates()
        for reader in sorted(readers, key=_CandidateFinder.record_list_sort_key, reverse=True)
    ]


class _CandidateFinder:
    def __init__(self, con: duckdb.DuckDBPyConnection, place: RecordList, request: Request) -> None:
        self.con, self.place, self.request = con, place, request
        self.columns = place.columns

    def candidates(self) -> Candidates:
        tasks = [self._task_candidate(path) for path in self.task_columns]
        # If a list contains the same names in every record, its entries are scores or settings and
        # not attempts.
        outcomes = [
            p
            for p in self.outcome_columns
            if p not in self.verdict_entries_by_list_column
            and p not in self.numbered_verdict_columns
        ]
        if not any(task.certain for task in tasks):
            tasks += [self._task_candidate(path) for path in self.weak_task_columns]
        texts = any(self.columns[task.column].is_text for task in tasks)
        if self.place.row_count > 1 and not (texts or self.task_columns or self.count_column_pair):
            option = SuggestedFix({"--field": {"task": POSITION_AS_TASK}})
            tasks.append(
                Candidate("task", POSITION_AS_TASK, option, "the place of a record in its list")
            )
        named_tasks = [task for task in tasks if task.column in self.columns]
        totals = (
            self.count_column_pair
            and tasks
            and all(task.column in self.model_columns for task in tasks)
        )
        once = all(max(self.columns[task.column].text_counts.values()) == 1 for task in named_tasks)
        if totals or (once and "model" in self.place.object_key_columns):
            option = SuggestedFix({"--field": {"task": f"{FIXED_VALUE_PREFIX}all"}})
            single_task = Candidate(
                "task", f"{FIXED_VALUE_PREFIX}all", option, "one task with all attempts"
            )
            tasks = [single_task, *(replace(task, certain=False) for task in tasks if not totals)]
        lists_by_role = {
            "task": tasks,
            "outcome": [self._as_outcome_candidate(path) for path in outcomes],
            "counts": self._candidates_for_count_columns(),
            "model": [self._candidate("model", path) for path in self.model_columns],
            "setting": [self._candidate("setting", path) for path in self.setting_columns],
        }
        usual = [c for c in lists_by_role["outcome"] if self._outcome_likelihood(c.column) == 3]
        unusual = [c for c in lists_by_role["outcome"] if c not in usual]
        lists_by_role["outcome"] = [*usual, *self._named_entry_candidates(), *unusual]
        verdicts = (p for p in outcomes if self.columns[p].verdicts == {0, 1})
        if not lists_by_role["counts"] and not any(
            self._outcome_likelihood(p) > 1 for p in verdicts
        ):
            lists_by_role["outcome"] += [
                *self._answer_match_candidates(),
                *self._verdict_per_model_candidates(),
            ]
        if self.numbered_verdict_columns:
            tally = f"{len(self.numbered_verdict_columns):,} columns, one per attempt"
            option = SuggestedFix({"--field": {"outcome": ",".join(self.numbered_verdict_columns)}})
            joined = Candidate("outcome", ",".join(self.numbered_verdict_columns), option, tally)
            lists_by_role["outcome"] = [joined, *lists_by_role["outcome"]]
        weak: tuple[Candidate, ...] = ()
        if not (
            self.numbered_verdict_columns
            or any(map(self._is_named_verdict_with_both_values, outcomes))
        ):
            compared = {
                part for c in lists_by_role["outcome"] for part in combined_columns(c.column)
            }
            paths = [path for path in self.weak_outcome_columns if path not in compared]
            weak = tuple(map(self._as_outcome_candidate, paths))
            lists_by_role["outcome"] += weak if lists_by_role["outcome"] else ()
        tallies = {path: column.frequency_text for path, column in self.columns.items()}
        by_role = {role: (*lists_by_role[role],) for role in SHOWN_ROLES if lists_by_role[role]}
        certain = any(candidate.certain for candidate in lists_by_role["outcome"])
        return Candidates(
            self.place.records_key, self.place.row_count, by_role, tallies, self.place.coverage,
            preference_column="" if certain else self._preference_column(),
            average_column=self._average_or_rank_column(),
            weak_outcomes=weak,
        )  # fmt: skip

    def record_list_sort_key(self) -> tuple[int, ...]:
        """The sort key of a list of records. The list that most likely contains the attempts has
        the highest key."""
        task = max((self._task_likelihood(path) for path in self.task_columns), default=0)
        outcome = max((self._outcome_likelihood(path) for path in self.outcome_columns), default=0)
        task = max(task, bool(self.weak_task_columns))
        named_columns = sum(
            path in self.columns for path in self.request.named_column_by_role.values()
        )
        first = next(iter(self.outcome_columns), "")
        inside = not ("." in first or (first and self.columns[first].has_lists))
        weaker, several = min(task, outcome), self.place.row_count > 1
        strong = bool(self.task_columns) and outcome > 0
        is_attempt_list = not (
            column_name_words(self.place.records_key)
            & (STEP_LIST_COLUMN_WORDS | SUMMARY_LIST_WORDS)
            or self._average_or_rank_column()
        )
        return (
            named_columns, weaker > 0 and is_attempt_list, weaker > 0, several, inside, strong,
            weaker, task + outcome,
            -self.place.records_key.count("."),
        )  # fmt: skip

    def _candidate(self, role: str, path: str, *, certain: bool = False) -> Candidate:
        option = {"--by": (path,)} if role == "setting" else {"--field": {role: path}}
        column = self.columns[path]
        unasked = self._is_used_by_default(role, path)
        tally, missing = column.frequency_text, column.missing_count
        return Candidate(role, path, SuggestedFix(option), tally, 0, certain, unasked, missing)

    def _is_used_by_default(self, role: str, path: str) -> bool:
        return role in ROLES and usual_columns(role, self.place.columns_seen_without_option) == [
            path
        ]

    @cached_property
    def task_columns(self) -> list[str]:
        """Columns that may be the task. If several columns group the rows in the same way, only the
        likeliest column is included."""
        paths = [path for path in self.columns if self._task_likelihood(path)]
        several = [path for path in paths if len(self.columns[path].text_counts) > 1]
        paths = [
            path
            for path in paths
            if path in several or not (several and path in self.place.parent_columns)
        ]
        paths.sort(key=self._task_rank, reverse=True)
        path_by_codes: dict[tuple[int, ...], str] = {}
        for path in paths:
            path_by_codes.setdefault(self.columns[path].codes, path)
        return [*path_by_codes.values()]

    @cached_property
    def weak_task_columns(self) -> list[str]:
        """Columns that could be the task, although the column names do not suggest a task.

        Columns named like a model, a setting or a result are included only if no other column could
        be the task.
        """
        used_paths = {*self.task_columns, *self.outcome_columns, *(self.count_column_pair or ())}
        used_paths |= {path for path in self.weak_outcome_columns if self.columns[path].numbers}
        paths = [path for path, column in self.columns.items() if path not in used_paths
                 and _has_several_texts_or_integers(column)
                 and not column.verdicts <= {0, 1}]  # fmt: skip
        plain = [path for path in paths if not _has_non_task_name(path)]
        return sorted(
            plain or ([] if self.task_columns else paths), key=lambda p: self.columns[p].is_integer
        )

    def _task_likelihood(self, path: str) -> int:
        """The likelihood that a column contains the task, as a grade from 0 to 3.

        The grade is 3 for a usual column name, 2 for a column name with a word for tasks, and 1 if
        only the values look like tasks.
        """
        column, strength = self.columns[path], role_name_strength("task", path)
        if not _is_text_or_integer(column) or path in (self.count_column_pair or ()):
            return 0
        if strength == 3:
            return 3
        if (
            _has_non_task_name(path)
            or not _has_several_texts_or_integers(column)
            or self._has_several_questions_per_value(path)
        ):
            return 0
        if strength:
            return 2
        even = len({*column.text_counts.values()}) == 1
        repeats = len(column.text_counts) < self.place.row_count
        return int(len(column.text_counts) >= _FEW and repeats and (even or column.is_text))

    def _task_rank(self, path: str) -> tuple[float, ...]:
        column = self.columns[path]
        sizes, longest = column.text_counts.values(), max(map(len, column.text_counts))
        even, few = len({*sizes}) == 1, len(sizes) < _FEW
        level, is_inside = self._task_likelihood(path), path not in self.place.parent_columns
        return level, is_inside, not few, even, not column.is_integer, -longest

    def _has_several_questions_per_value(self, path: str) -> bool:
        """Whether a column contains categories. The tasks of one category have different questions
        or expected answers."""
        column = self.columns[path]
        for path_of_statement, stated in self.columns.items():
            is_statement = column_name_words(path_of_statement) & (
                PROBLEM_STATEMENT_WORDS | {"gold", "expected"}
            )
            if path_of_statement != path and is_statement and stated.is_text:
                pairs = len({*zip(column.codes, stated.codes, strict=True)})
                if min(pairs, len(stated.text_counts)) > 1.2 * len(column.text_counts):
                    return True
        return False

    def _task_candidate(self, path: str) -> Candidate:
        usual = [task for task in self.task_columns if self._task_likelihood(task) == 3]
        is_only_task = self.task_columns == [path] and not self.weak_task_columns
        candidate = self._candidate("task", path)
        column = self.columns[path]
        certain = candidate.is_used_by_default or usual == [path] or (not usual and is_only_task)
        certain = certain and not column_name_words(self.place.records_key) & SUMMARY_LIST_WORDS
        certain = certain and (len(column.text_counts) > 1 or self.place.row_count == 1)
        return replace(
            candidate,
            values_summary=column.value_and_row_counts_text,
            distinct_count=len(column.text_counts),
            certain=certain,
        )

    @cached_property
    def outcome_columns(self) -> list[str]:
        """Columns that may be the outcome. Columns named like verdicts come first.

        A column that is not named like a verdict is left out if an earlier column has the same
        pattern of verdicts.
        """
        paths = [path for path in self.columns if self._outcome_likelihood(path)]
        paths = paths or [path for path in self.columns if self._is_flag_named_like_verdict(path)]
        paths.sort(key=self._outcome_rank, reverse=True)
        path_by_verdicts: dict[tuple[object, ...], str] = {}
        for path in paths:
            is_named_verdict = self._outcome_likelihood(path) > 1
            path_by_verdicts.setdefault(
                (path,)
                if is_named_verdict
                else self.columns[path].verdicts_relative_to_first or (path,),
                path,
            )
        judged = {
            self.columns[path].verdicts_relative_to_first
            for path in paths
            if self._outcome_likelihood(path) > 1
        }
        return [
            path
            for path in path_by_verdicts.values()
            if self._outcome_likelihood(path) > 1
            or self.columns[path].verdicts_relative_to_first not in judged - {()}
        ]

    @cached_property
    def weak_outcome_columns(self) -> list[str]:
        """Columns that are not named like an outcome, but contain grades or a few different
        words."""
        used_paths = {*self.outcome_columns, *self.task_columns, *self.model_columns}
        used_paths |= {*self.place.parent_columns, *(self.count_column_pair or ())}
        used_paths |= {*self.setting_columns} if self.outcome_columns else set()
        paths = []
        for path, column in self.columns.items():
            if path in used_paths or column.has_lists or role_name_strength("attempt", path) == 3:
                continue
            names_another_thing = (
                _word_forms(path) & (_NON_OUTCOME_COLUMN_WORDS | ATTEMPT_NUMBER_WORDS)
                or normalized_last_key(path) in SETTING_NAMES
            )
            # A rate such as hit_rate_at_3 describes a single attempt if the rate is always 0 or 1.
            if names_another_thing and not (
                is_named_like_average(path) and column.verdicts == {0, 1}
            ):
                continue
            numbers = {*column.numbers}
            graded = len(numbers) > 1 and min(numbers) >= 0 and max(numbers) <= 100
            if (
                graded and len(numbers) < self.place.row_count
            ) or self._has_few_distinct_short_texts(path):
                paths.append(path)
        return sorted(paths, key=lambda path: len(self.columns[path].text_counts))

    def _is_named_verdict_with_both_values(self, path: str) -> bool:
        judged = (
            self._outcome_likelihood(path) > 1 and len(self.columns[path].verdicts & {0, 1}) == 2
        )
        return judged and not _word_forms(path) & RUN_STATUS_ONLY_COLUMN_WORDS

    def _is_flag_named_like_verdict(self, path: str) -> bool:
        column, terms = self.columns[path], _word_forms(path)
        return (
            column.verdicts <= {0, 1} and path not in self.place.parent_columns
            and bool(terms & (VERDICT_COLUMN_WORDS | BAD_EVENT_WORDS))
            and not terms & _NON_OUTCOME_COLUMN_WORDS
        )  # fmt: skip

    def _outcome_likelihood(self, path: str) -> int:
        """The likelihood that a column is the outcome, as a grade from 0 to 3.

        The grade is 3 for a usual column name, 2 for a column name with a word for verdicts, and 1
        if only the values may be verdicts.
        """
        column = self.columns[path]
        terms = _word_forms(path)
        strength = role_name_strength("outcome", path)
        if path == self.request.named_column_by_role.get("outcome"):
            return 3
        inner = column.has_lists and any(
            column_name_words(key) & STEP_LIST_COLUMN_WORDS for key in parent_path(path).split(".")
        )
        if path in self.place.parent_columns or inner or not re.search(r"[^\W\d_]", path):
            return 0
        constant = len(column.text_counts) < 2 <= self.place.row_count
        if path in (self.count_column_pair or ()) or (
            terms & RUN_STATUS_ONLY_COLUMN_WORDS and constant
        ):
            return 0
        flags = column.verdicts <= {0, 1}
        like = strength > 0 or bool(terms & VERDICT_COLUMN_WORDS)
        varies_in_verdict = len(column.verdicts) == 2
        # A column with "found" in its name usually contains an event, but a column named
        # found_correct_chunk may contain verdicts.
        happened = (
            ATTEMPT_METADATA_WORDS if flags and varies_in_verdict and like else frozenset[str]()
        )
        if flags and terms & (CORRECTNESS_COLUMN_WORDS - {"label", "verdict", "judgment"}):
            # Columns named like prediction_correct or matches_gold contain verdicts.
            happened = happened | PREDICTED_WORDS | EXPECTED_ANSWER_WORDS
        contrary_terms = terms & _NON_OUTCOME_COLUMN_WORDS - happened
        contrary_terms = contrary_terms - {"has"} if flags and varies_in_verdict else contrary_terms
        if column.numbers and like and len(column.text_counts) > 1 and max(column.numbers) <= 1:
            contrary_terms = contrary_terms - {"max"}
        if strength < 3 and (contrary_terms or (is_named_like_average(path) and not flags)):
            return 0
        if role_name_strength("attempt", path) and not like:
            return 0
        level = 3 if strength == 3 else 2 if like else 1
        if flags:
            settled = not (varies_in_verdict or strength) or (
                level == 1 and self._is_constant_per_task(path)
            )
            return 0 if settled else level
        if column.numbers:
            varies = len(column.text_counts) > 1 or self.place.row_count == 1
            return level if like and varies else 0
        return level if like and self._has_few_distinct_short_texts(path) else 0

    def _outcome_rank(self, path: str) -> tuple[float, ...]:
        column, terms = self.columns[path], _word_forms(path)
        return (
            len(column.verdicts) == 2 or not column.verdicts <= {0, 1},
            not terms & RUN_STATUS_COLUMN_WORDS,
            self._outcome_likelihood(path),
            column.verdicts <= {0, 1},
            not self._is_prerequisite_flag(path),
            -column.missing_count,
        )

    def _is_prerequisite_flag(self, path: str) -> bool:
        """Whether a flag is true in all rows in which another flag is true, and in other rows too.

        For example, the flag "executed" is true for all attempts that pass and for some that fail.
        """
        true_rows = {at for at, value in enumerate(self.columns[path].values) if value is True}
        flags = (c for c in self.columns.values() if {*map(type, c.present_values)} == {bool})
        return any(
            {at for at, value in enumerate(flag.values) if value is True} < true_rows
            for flag in flags if len(flag.verdicts) == 2
        )  # fmt: skip

    def _has_few_distinct_short_texts(self, path: str) -> bool:
        """Whether a column contains a few short texts that can differ between attempts at one
        task."""
        counts = self.columns[path].text_counts
        return (
            2 <= len(counts) <= _WORDS and max(map(len, counts)) <= MAX_NAME_LIKE_TEXT_CHARACTERS
            and (role_name_strength("outcome", path) > 0 or not self._is_constant_per_task(path))
        )  # fmt: skip

    def _is_constant_per_task(self, path: str) -> bool:
        if not self.task_columns or self.columns[path].has_lists:
            return False
        tasks, column = self.columns[self.task_columns[0]], self.columns[path]
        several = 2 * len(tasks.text_counts) <= self.place.row_count
        return several and len({*zip(tasks.codes, column.codes, strict=True)}) == len(
            tasks.text_counts
        )

    def _as_outcome_candidate(self, path: str) -> Candidate:
        column, passing = self.columns[path], self._pass_definition_fixes(path)
        usual = [p for p in self.outcome_columns if self._outcome_likelihood(p) == 3]
        is_only_verdict = all(
            self._outcome_likelihood(p) < 2 or p == path for p in self.outcome_columns
        )
        # A constant column may be the outcome (if no attempt passed), or it may show how runs
        # ended.
        constant = len(column.text_counts) < 2 <= self.place.row_count
        certain = (
            usual == [path]
            and not (passing or constant or self.verdict_entries_by_list_column)
            and is_only_verdict
        )
        return replace(self._candidate("outcome", path, certain=certain), pass_definitions=passing)

    def _pass_definition_fixes(self, path: str) -> tuple[SuggestedFix, ...]:
        column, terms = self.columns[path], _word_forms(path)
        if column.verdicts <= {0, 1}:
            attacks = any(
                column_name_words(column_name) & ATTACK_WORDS for column_name in self.columns
            )
            open_ = terms & BAD_EVENT_WORDS or (
                attacks and terms & {"success", "successful", "achieved"}
            )
            if not open_ and (terms & VERDICT_COLUMN_WORDS or role_name_strength("outcome", path)):
                return ()
            true, false = (
                next(
                    (
                        text
                        for text in column.text_counts
                        if column.verdict_and_number_by_text[text][0] == v
                    ),
                    word,
                )
                for v, word in ((1, "true"), (0, "false"))
            )
            ways = tuple(SuggestedFix({"--passes": (v,)}, f"if {v} passes") for v in (true, false))
            return ways[::-1] if terms & BAD_EVENT_WORDS else ways
        if column.numbers:
            values = sorted({*column.numbers})
            # passk suggests two readings of grades: only the highest grade passes, or every grade
            # except the lowest passes.
            lowest = values[1:2] if len(values) <= _MAX_GRADES_FOR_SECOND_THRESHOLD else []
            bars = dict.fromkeys((values[-1], *lowest))
            return tuple(SuggestedFix({"--threshold": (bar,)}, f"if {bar:g} or more passes")
                         for bar in bars)  # fmt: skip
        verdict_of = {
            text: column.verdict_and_number_by_text.get(text, (-1, None))[0]
            for text, _ in column.text_counts.most_common(_WORDS)
        }
        passing_words = tuple(text for text, verdict in verdict_of.items() if verdict == 1)
        unknown = [text for text, verdict in verdict_of.items() if verdict == -1]
        if len(verdict_of) == 2:
            unknown += [text for text, verdict in verdict_of.items() if verdict is None]
        fixes: list[SuggestedFix] = []
        for text in unknown:
            if {0, 1} & {*verdict_of.values()}:
                fixes.append(SuggestedFix({"--fails": (text,)}, f"if {text} fails"))
            fixes.append(SuggestedFix({"--passes": (*passing_words, text)}, f"if {text} passes"))
        return tuple(fixes)

    @cached_property
    def verdict_entries_by_list_column(self) -> dict[str, list[FieldValues]]:
        """Map each column in a list of named verdicts to entries such as
        `scores[name=ok].value`."""
        entries_by_path: dict[str, list[FieldValues]] = {}
        for path, name_path in product(self.outcome_columns, self.columns):
            (way, _, key_of_value), (above, _, key) = (
                path.rpartition("."),
                name_path.rpartition("."),
            )
            column, names = self.columns[path], self.columns[name_path]
            if not (
                way
                and way == above
                and column.has_lists
                and names.is_text
                and EACH_ENTRY_KEY not in path
            ):
                continue
            lists = [value for value in names.values if isinstance(value, list)]
            once = all(len({*map(str, value)}) == len(value) for value in lists)
            if once and 1 < len(names.text_counts) <= _VALUES:
                rows = [
                    dict(zip(map(str, of or ()), values or (), strict=False))
                    for of, values in zip(names.values, column.values, strict=True)
                ]
                entries_by_path[path] = [
                    FieldValues(f"{way}[{key}={name}].{key_of_value}", [row.get(name) for row
                    in rows],
                           column.verdict_and_number_by_text)
                    for name in names.text_counts
                ]  # fmt: skip
        return entries_by_path

    def _named_entry_candidates(self) -> list[Candidate]:
        candidates = []
        for entry in chain.from_iterable(self.verdict_entries_by_list_column.values()):
            option = SuggestedFix({"--field": {"outcome": entry.path}})
            candidates.append(Candidate("outcome", entry.path, option, entry.frequency_text))
        return candidates

    def _answer_match_candidates(self) -> list[Candidate]:
        plain = {path: column for path, column in self.columns.items() if _has_short_values(column)}
        gold = [
            path for path in plain if column_name_words(path) & (EXPECTED_ANSWER_WORDS - {"label"})
        ]
        answers = [
            path for path in plain if column_name_words(path) & ANSWER_WORDS and path not in gold
        ]
        if not answers:
            expected = {text for path in gold for text in plain[path].text_counts}
            answers = [path for path in plain if path not in gold and len(expected) > 1
                       and not _word_forms(path) & _NON_OUTCOME_COLUMN_WORDS
                       and not plain[path].missing_count
                       and 2 * sum(plain[path].text_counts[text] for text in expected)
                       > self.place.row_count]  # fmt: skip
        # A column named "label" contains the expected answer if there is an answer column. The
        # column "label" contains the answer of the model if another column contains the true label.
        labels = [
            path
            for path in plain
            if "label" in column_name_words(path) and path not in gold + answers
        ]
        agreements = []
        for answer, expected_path in [*product(answers, gold + labels), *product(labels, gold)]:
            pairs = [
                *zip(
                    map(value_text, plain[answer].values),
                    map(value_text, plain[expected_path].values),
                    strict=True,
                )
            ]
            sql = "SELECT count(*) FROM (SELECT unnest($1::VARCHAR[]) a, unnest($2::VARCHAR[]) b)"
            ((same,),) = self.con.execute(
                f"{sql} WHERE {agreement_sql('a', 'b')} = 'true'",
                [*map(list, zip(*pairs, strict=True))],
            ).fetchall()
            if same:
                path = f"{answer}{EQUAL_COLUMNS_OPERATOR}{expected_path}"
                option = SuggestedFix({"--field": {"outcome": path}})
                tally = f"{same:,} of {len(pairs):,} agree"
                agreements.append(Candidate("outcome", path, option, tally))
        return agreements

    @cached_property
    def pass_or_fail_columns(self) -> list[str]:
        """The columns that contain only passes and failures. The list is empty if all of these
        columns are constant."""
        paths = [
            path for path, column in self.columns.items()
            if column.verdicts <= {0, 1} and not (column.has_lists or "." in path or "," in path)
            and not _word_forms(path) & (_NON_OUTCOME_COLUMN_WORDS | BAD_EVENT_WORDS)
        ]  # fmt: skip
        return paths if any(len(self.columns[path].verdicts) == 2 for path in paths) else []

    @cached_property
    def numbered_verdict_columns(self) -> list[str]:
        paths = [
            p
            for p in self.pass_or_fail_columns
            if ATTEMPT_NUMBER_VALUE_PATTERN.fullmatch(p) or _NUMBERED_ATTEMPT_NAME_PATTERN.search(p)
        ]
        return paths if len(paths) > 1 else []

    def _verdict_per_model_candidates(self) -> list[Candidate]:
        flags = [
            p
            for p in self.pass_or_fail_columns
            if p not in self.numbered_verdict_columns and not role_name_strength("attempt", p)
        ]
        if (
            len(flags) < 2
            or len({frozenset(_word_forms(path) & VERDICT_COLUMN_WORDS) for path in flags}) > 1
        ):
            return []
        kinds = [{*self.columns[path].text_counts} for path in flags]
        if max(map(len, kinds)) < len(set[str]().union(*kinds)) or {*self.weak_outcome_columns} - {
            *flags
        }:
            return []
        joined = ",".join(flags)
        option = SuggestedFix({"--field": {"outcome": joined, "model": COLUMN_NAME_AS_MODEL}})
        return [Candidate("outcome", joined, option, "if each column is a model")]

    def _preference_column(self) -> str:
        """The column that shows which of two answers is better, or "" if there is no such column.

        The column has a name such as "winner", or values such as "A", "B" and "tie", or values that
        are column names.
        """
        texts = {
            normalized_last_key(path) for path, column in self.columns.items() if column.is_text
        }
        paired = any(t[-1:] in {"a", "1"} and t[:-1] + chr(ord(t[-1]) + 1) in texts for t in texts)
        for path, column in self.columns.items():
            values = {text.lower() for text in column.text_counts}
            sides = values - _TIES
            signs = all(map(_SIDE_NAME.fullmatch, sides)) and (paired or sides < values)
            if column_name_words(path) & _PAIRWISE_PREFERENCE_WORDS or (
                0 < len(sides) <= 2 <= len(values) and (signs or sides <= texts)
                and {*self.outcome_columns} <= {path}
            ):  # fmt: skip
                return path
        return ""

    def _average_or_rank_column(self) -> str:
        """The column of averages or ranks by which passk recognises a summary table, or "" for
        other tables."""
        if self.count_column_pair:
            return ""
        rows = self.place.row_count
        ranks = [p for p, c in self.columns.items() if "rank" in column_name_words(p) and rows > 2
                 and {*c.numbers} == {*range(1, rows + 1)}]  # fmt: skip
        if ranks and not any(role_name_strength("task", path) == 3 for path in self.task_columns):
            return ranks[0]
        grades = [self.columns[path] for path in self.outcome_columns]
        rated = any(
            is_named_like_average(p) and not c.verdicts <= {0, 1} for p, c in self.columns.items()
        )
        row_per_model = any(
            len(self.columns[path].text_counts) == rows for path in self.model_columns
        )
        flagged = any(c.verdicts <= {0, 1} or not c.numbers for c in grades)
        if flagged and not (rated and row_per_model):
            return ""
        averages = [*filter(is_named_like_average, self.columns)]
        naming_columns = (
            self.model_columns if grades else [p for p, c in self.columns.items() if c.is_text]
        )
        once = any(len(self.columns[path].text_counts) == rows > 1 for path in naming_columns)
        short = all(map(_has_short_values, self.columns.values()))
        several = not grades and any(
            _PASS_AT_K_NAME_PATTERN.fullmatch(normalized_last_key(path)) for path in averages
        )
        return (
            next(iter([*averages, *self.outcome_columns]), "")
            if several or (once and short)
            else ""
        )

    @cached_property
    def count_column_pair(self) -> tuple[str, str] | None:
        """The columns with the numbers of attempts (n) and of passes (c), or None. In all rows, c
        is at most n, and in at least one row, n is above 1."""
        integer_columns = {path: column for path, column in self.columns.items()
                 if column.is_integer and not (column.missing_count or column.has_lists)
                 and path not in self.place.parent_columns}  # fmt: skip
        for n, c in product(
            _possible_count_columns("n", integer_columns),
            _possible_count_columns("c", integer_columns),
        ):
            if re.sub("[0-9]+", "", n) == re.sub("[0-9]+", "", c):
                continue
            pairs = [*zip(integer_columns[n].numbers, integer_columns[c].numbers, strict=True)]
            if all(passed <= attempt_count for attempt_count, passed in pairs) and any(
                attempt_count > 1 for attempt_count, _ in pairs
            ):
                return n, c
        return None

    def _candidates_for_count_columns(self) -> list[Candidate]:
        if self.count_column_pair is None:
            return []
        n, c = self.count_column_pair
        attempt_count, passed = (sum(self.columns[path].numbers) for path in (n, c))
        tally = f"{passed:g} of {attempt_count:g}"
        option = SuggestedFix({"--field": {"n": n, "c": c}})
        unasked = self._is_used_by_default("n", n) and self._is_used_by_default("c", c)
        # If there is a verdict column, columns of counts may count the tests of one attempt.
        attempts = column_name_words(n) & (ATTEMPT_COUNT_WORDS - {"total", "count", "evaluated"})
        certain = (
            bool(attempts)
            and all(map(is_named_like_average, self.outcome_columns))
            and 0 < passed < attempt_count
        )
        return [Candidate("counts", f"{n},{c}", option, tally, 0, certain, unasked)]

    @cached_property
    def model_columns(self) -> list[str]:
        paths = [
            path for path, column in self.columns.items()
            if column.is_text and not (column.has_lists or column.missing_count)
            and (role_name_strength("model", path) or look_like_models(column.text_counts))
            and not column_name_words(path) & JUDGE_WORDS
        ]  # fmt: skip
        paths.sort(
            key=lambda p: (-role_name_strength("model", p), len(self.columns[p].text_counts) < 2)
        )
        path_by_codes: dict[tuple[int, ...], str] = {}
        for path in paths:
            path_by_codes.setdefault(self.columns[path].codes, path)
        return [*path_by_codes.values()]

    @cached_property
    def setting_columns(self) -> list[str]:
        used_paths = {*self.task_columns, *self.outcome_columns, *self.model_columns}
        used_paths |= {*(self.count_column_pair or ())}
        paths = []
        for path, column in self.columns.items():
            is_named_setting = normalized_last_key(path) in SETTING_NAMES
            if (
                path in used_paths
                or path in RESERVED_OUTPUT_COLUMNS
                or not _has_several_texts_or_integers(column)
                or column_name_words(path) & _STATEMENT_AND_ANSWER_WORDS
            ):
                continue
            few = (
                len(column.text_counts) <= _VALUES
                and len(column.text_counts) < self.place.row_count
            )
            if few and (
                is_named_setting or (column.is_text and not self._has_one_outcome_per_value(path))
            ):
                paths.append(path)
        return sorted(paths, key=lambda path: normalized_last_key(path) not in SETTING_NAMES)

    def _has_one_outcome_per_value(self, path: str) -> bool:
        """Whether each value of a column always occurs with the same outcome."""
        column = self.columns[path]
        for outcome in self.outcome_columns:
            outcome_column = self.columns[outcome]
            if outcome_column.has_lists or len(outcome_column.text_counts) < 2:
                continue
            if len({*zip(column.codes, outcome_column.codes, strict=True)}) == len(
                column.text_counts
            ):
                return True
        return False


def is_named_like_average(path: str) -> bool:
    """Whether the name of a column suggests an average over several attempts.

    >>> (is_named_like_average("results.pass@5"), is_named_like_average("success_rate"),
    ...  is_named_like_average("success"))
    (True, True, False)
    """
    return bool(
        column_name_words(path) & AVERAGE_WORDS
        or _PASS_AT_K_NAME_PATTERN.fullmatch(normalized_last_key(path))
    )


def _has_several_texts_or_integers(column: FieldValues) -> bool:
    return _is_text_or_integer(column) and len(column.text_counts) > 1


def _is_text_or_integer(column: FieldValues) -> bool:
    return not (column.has_lists or column.missing_count) and (column.is_text or column.is_integer)


def _has_non_task_name(path: str) -> bool:
    contrary_name = (
        column_name_words(path) & _NON_TASK_COLUMN_WORDS
        or normalized_last_key(path) in SETTING_NAMES
        or role_name_strength("model", path)
    )
    return bool(contrary_name)


def _has_short_values(column: FieldValues) -> bool:
    """Whether nearly all values of a column are short and are not lists with several entries."""
    long = sum(
        n for text, n in column.text_counts.items() if len(text) > MAX_NAME_LIKE_TEXT_CHARACTERS
    )
    lists = sum(isinstance(value, list) and len(value) > 1 for value in column.values)
    return max(long, lists) <= 0.05 * len(column.values)


def _possible_count_columns(role: str, integer_columns: Mapping[str, FieldValues]) -> list[str]:
    """The columns that may contain a number of attempts or passes. If some columns have a usual
    name, the result contains only these columns.

    Columns that count events within an attempt, such as turns, are left out.
    """
    kinds = {"n": ATTEMPT_COUNT_WORDS, "c": PASS_COUNT_WORDS}[role]
    contrary_words = (
        ATTEMPT_METADATA_WORDS - {"count"} | {"tests", "index"} | ANSWER_WORDS - {"actual"}
    )
    return usual_columns(role, integer_columns) or [
        path
        for path in integer_columns
        if column_name_words(path) & kinds and not _word_forms(path) & contrary_words
    ]


def _word_forms(path: str) -> set[str]:
    """The words of a column name, in the singular and the plural."""
    return {
        form
        for word in column_name_words(path)
        for form in (word, word.removesuffix("s"), f"{word}s")
    }
