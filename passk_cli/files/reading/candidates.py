"""Candidates: the columns that may play a role, with tallies and the option that chooses each.

`find_candidates(con, sources, request)` looks at the beginning of a file and returns `Candidates`,
one for each place with records, the most likely place first:

    found = find_candidates(con, sources, request)[0]
    found.records                    # value of --records, "" at the top of the file
    found["task"]                    # tuple of Candidate, the most likely first
    found["outcome"][0].option       # SuggestedFix({"--field": {"outcome": "verdict"}})
    found["outcome"][0].passing      # one SuggestedFix per way to pass; empty if the values say it
    found.certain("task")            # the Candidate that is certain, or None

The roles are "task", "outcome", "counts" (columns of attempts and of passes), "model" and
"setting".  Nothing is chosen here, and nothing is counted: an order is only for the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from passk_cli.files.reading.places import FieldValues, RecordPlace, find_places, text_of
from passk_cli.files.request import RESERVED, Request
from passk_cli.files.roles import (
    COLUMN,
    EACH,
    EQUAL,
    POSITION,
    ROLES,
    SHORT,
    SUMMED_UP,
    VALUE,
    above,
    agree_sql,
    candidates,
    leaf,
    parts,
    strength,
    words,
)
from passk_cli.files.sources.source import Source
from passk_cli.files.vocabulary import (
    ANSWER_WORDS,
    ATTACK_WORDS,
    ATTEMPT_COUNT_WORDS,
    AVERAGE_WORDS,
    BAD_WORDS,
    CORRECT_WORDS,
    ENDED_ONLY_WORDS,
    ENDED_WORDS,
    EXPECTED_WORDS,
    HAPPENING_WORDS,
    JUDGE_WORDS,
    NOT_OUTCOME_WORDS,
    NUMBERED,
    NUMBERING_WORDS,
    PASS_COUNT_WORDS,
    PREDICTED_WORDS,
    PROSE_WORDS,
    SETTING_NAMES,
    STATEMENT_WORDS,
    STEP_WORDS,
    VERDICT_WORDS,
    look_like_models,
)
from passk_cli.suggested_fix import SuggestedFix

if TYPE_CHECKING:
    import duckdb

#: The roles that columns can be chosen for, in the order in which they are shown.
SHOWN_ROLES = ("task", "outcome", "counts", "model", "setting")
# Words of names of what is not an outcome, whatever its values are.
_NOT_OUTCOMES = (
    NOT_OUTCOME_WORDS | (EXPECTED_WORDS - {"label", "true"}) | HAPPENING_WORDS | PREDICTED_WORDS
)
# Words of names of what does not name tasks, unless the name is a usual one.
_NOT_TASKS = (
    (HAPPENING_WORDS | NUMBERING_WORDS | ANSWER_WORDS | EXPECTED_WORDS | JUDGE_WORDS)
    | (VERDICT_WORDS | PROSE_WORDS | {"code", "error", "status", "level", "type"})
) - {"sample"}
# Words of names of what was asked, expected or answered.
_SAID = STATEMENT_WORDS | EXPECTED_WORDS | ANSWER_WORDS
# Names of values of several attempts, like pass@5.
_OF_SEVERAL = re.compile(r"(.*_)?pass(_at|_hat|@|\^)_?[0-9k]+", re.I)
# A numbered attempt in a name, like run_1_passed.
_NUMBERED_PART = re.compile(
    rf"(^|[\W_])({'|'.join(NUMBERING_WORDS)})[ _\-#]*[0-9]+(?=$|[\W_])", re.I
)
# Words of columns that say which of two answers is better; values that name one, and neither.
_PREFERENCES = {*"winner preference preferred".split()}
_SIDE, _TIES = re.compile(r"(.*[\W_])?[ab12]", re.I), {"tie", "draw", "both"}
# Words that may be outcomes; values of a setting; values from which on text may name tasks.
_WORDS, _VALUES, _FEW = 6, 16, 5
# The most values of a scale, of which the second lowest may pass as well.
_LEVELS = 5
# How many more statements than names there may be before a name is one of a kind of tasks.
_STATED = 1.2
# The highest grade of columns without a grade's name.
_HIGHEST = 100
# Share of long answers among short ones.
_RARE = 0.05


@dataclass(frozen=True)
class Candidate:
    """A column that may play a role.

    column : as --field takes it; of counts the columns of attempts and passes, "n,c".
    option : the option that chooses it.
    tally : its values in words: "145 false, 43 true", or "30 values, 5 rows each" of a task.
    values : how many different values a task has.
    certain : whether its name, or that nothing else can be meant, leaves no doubt.
    unasked : whether it plays the role without the option.
    missing : records without a value.
    passing : options that say what passes, one for each way, each with its meaning as `why`; empty
        if the values say it themselves.
    """

    role: str
    column: str
    option: SuggestedFix
    tally: str
    values: int = 0
    certain: bool = False
    unasked: bool = False
    missing: int = 0
    passing: tuple[SuggestedFix, ...] = ()


@dataclass(frozen=True, eq=False)
class Candidates(Mapping[str, tuple[Candidate, ...]]):
    """Role → its candidates, the most likely first, of the records at one place of a file.

    records : the place, as --records takes it; "" at the top.  rows : records that were looked at.
    columns : path → tally of each column, also of those that play no role.
    some : which files or records were looked at, if not all.
    others : records → rows of the other places that may be meant.
    preference, summary : the column that says which of two answers is better, and the one with an
        average of several attempts, which passk does not read; else "".
    weak : columns that may say which attempts passed, though neither names nor verdicts speak for
        them.
    """

    records: str
    rows: int
    by_role: Mapping[str, tuple[Candidate, ...]]
    columns: Mapping[str, str]
    some: str = ""
    others: Mapping[str, int] = field(default_factory=dict)
    preference: str = ""
    summary: str = ""
    weak: tuple[Candidate, ...] = ()

    def __getitem__(self, role: str) -> tuple[Candidate, ...]:
        return self.by_role[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_role)

    def __len__(self) -> int:
        return len(self.by_role)

    def with_weak(self) -> Candidates:
        """The same, with columns that nothing speaks for as outcomes if there are no other ones."""
        if "outcome" in self or not self.weak:
            return self
        by_role = {**self.by_role, "outcome": self.weak}
        return replace(self, by_role={r: by_role[r] for r in SHOWN_ROLES if r in by_role})

    def certain(self, role: str) -> Candidate | None:
        """The candidate of a role that is certain; None if there is none."""
        found = (candidate for candidate in self.get(role, ()) if candidate.certain)
        return next(found, None)


def find_candidates(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request
) -> list[Candidates]:
    """The candidates at each place of these files, the most likely place first.

    Empty for a file that a harness wrote.  Errors: DataError for a file that is not one of results.
    """
    places = find_places(con, sources, request)
    found = [_Reader(con, place, request) for place in places]
    found = [reader for reader in found if request.records in (None, reader.place.keys)]
    return [reader.candidates() for reader in sorted(found, key=_Reader.likeliness, reverse=True)]


class _Reader:
    """The columns of a place, judged by their names and values."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, place: RecordPlace, request: Request
    ) -> None:
        self.con, self.place, self.request = con, place, request
        self.columns = place.columns

    def candidates(self) -> Candidates:
        """The candidates of all roles."""
        tasks = [self._task_candidate(path) for path in self.tasks]
        # Entries whose names repeat in every record are never attempts.
        outcomes = [p for p in self.outcomes if p not in self.picks and p not in self.numbered]
        if not any(task.certain for task in tasks):
            tasks += [self._task_candidate(path) for path in self.weak_tasks]
        texts = any(self.columns[task.column].is_text for task in tasks)
        if self.place.rows > 1 and not (texts or self.tasks or self.counts):
            option = SuggestedFix({"--field": {"task": POSITION}})
            tasks.append(Candidate("task", POSITION, option, "the place of a record in its list"))
        named = [task for task in tasks if task.column in self.columns]
        totals = self.counts and tasks and all(task.column in self.models for task in tasks)
        once = all(max(self.columns[task.column].counts.values()) == 1 for task in named)
        if totals or (once and "model" in self.place.levels):
            # Counts per model are totals.  Attempts at one question have no column in common.
            option = SuggestedFix({"--field": {"task": f"{VALUE}all"}})
            one = Candidate("task", f"{VALUE}all", option, "one task with all attempts")
            tasks = [one, *(replace(task, certain=False) for task in tasks if not totals)]
        found = {
            "task": tasks,
            "outcome": [self._outcome_candidate(path) for path in outcomes],
            "counts": self._count_candidates(),
            "model": [self._candidate("model", path) for path in self.models],
            "setting": [self._candidate("setting", path) for path in self.settings],
        }
        usual = [c for c in found["outcome"] if self._outcome_level(c.column) == 3]
        others = [c for c in found["outcome"] if c not in usual]
        found["outcome"] = [*usual, *self._pick_candidates(), *others]
        verdicts = (p for p in outcomes if self.columns[p].verdicts == {0, 1})
        if not found["counts"] and not any(self._outcome_level(p) > 1 for p in verdicts):
            found["outcome"] += [*self._agreements(), *self._side_by_side()]
        if self.numbered:
            tally = f"{len(self.numbered):,} columns, one per attempt"
            option = SuggestedFix({"--field": {"outcome": ",".join(self.numbered)}})
            joined = Candidate("outcome", ",".join(self.numbered), option, tally)
            found["outcome"] = [joined, *found["outcome"]]
        weak: tuple[Candidate, ...] = ()
        if not (self.numbered or any(map(self._is_decisive, outcomes))):
            compared = {part for c in found["outcome"] for part in parts(c.column)}
            weak = (*(self._outcome_candidate(p) for p in self.weak_outcomes if p not in compared),)
            found["outcome"] += weak if found["outcome"] else ()
        tallies = {path: column.tally for path, column in self.columns.items()}
        by_role = {role: (*found[role],) for role in SHOWN_ROLES if found[role]}
        certain = any(candidate.certain for candidate in found["outcome"])
        return Candidates(
            self.place.keys, self.place.rows, by_role, tallies, self.place.some,
            preference="" if certain else self._preference(), summary=self._summary(), weak=weak,
        )  # fmt: skip

    def likeliness(self) -> tuple[int, ...]:
        """How likely records are attempts: higher ones come first."""
        task = max((self._task_level(path) for path in self.tasks), default=0)
        outcome = max((self._outcome_level(path) for path in self.outcomes), default=0)
        task = max(task, bool(self.weak_tasks))
        named = sum(path in self.columns for path in self.request.named.values())
        # Records that are attempts come before records that contain lists of them.
        first = next(iter(self.outcomes), "")
        inside = not ("." in first or (first and self.columns[first].listed))
        both, several = min(task, outcome), self.place.rows > 1
        strong = bool(self.tasks) and outcome > 0
        # Steps of attempts, and sums of them, come last.
        own = not (words(self.place.keys) & (STEP_WORDS | SUMMED_UP) or self._summary())
        return (
            named, both > 0 and own, both > 0, several, inside, strong, both, task + outcome,
            -self.place.keys.count("."),
        )  # fmt: skip

    def _candidate(self, role: str, path: str, *, certain: bool = False) -> Candidate:
        option = {"--by": (path,)} if role == "setting" else {"--field": {role: path}}
        column = self.columns[path]
        unasked = self._is_unasked(role, path)
        tally, missing = column.tally, column.missing
        return Candidate(role, path, SuggestedFix(option), tally, 0, certain, unasked, missing)

    def _is_unasked(self, role: str, path: str) -> bool:
        """Whether a column plays a role by its name."""
        return role in ROLES and candidates(role, self.place.usual) == [path]

    # Tasks

    @cached_property
    def tasks(self) -> list[str]:
        """Columns that may name the tasks: one of those that tell the same records apart."""
        found = [path for path in self.columns if self._task_level(path)]
        # A task above all records is that of a run if the records have tasks of their own.
        several = [path for path in found if len(self.columns[path].counts) > 1]
        found = [
            path for path in found if path in several or not (several and path in self.place.above)
        ]
        found.sort(key=self._task_rank, reverse=True)
        kept: dict[tuple[int, ...], str] = {}
        for path in found:
            kept.setdefault(self.columns[path].codes, path)
        return [*kept.values()]

    @cached_property
    def weak_tasks(self) -> list[str]:
        """Columns that nothing speaks for, and that could name tasks; those that are named like
        something else only if there are no other ones."""
        taken = {*self.tasks, *self.outcomes, *(self.counts or ())}
        taken |= {path for path in self.weak_outcomes if self.columns[path].numbers}
        found = [path for path, column in self.columns.items() if path not in taken
                 and _names(column) and not column.verdicts <= {0, 1}]  # fmt: skip
        plain = [path for path in found if not _names_something_else(path)]
        return sorted(plain or ([] if self.tasks else found), key=lambda p: self.columns[p].whole)

    def _task_level(self, path: str) -> int:
        """3 if a column has a task's usual name, 2 a word of it, 1 if its values speak for it."""
        column, named = self.columns[path], strength("task", path)
        if not _is_plain(column) or path in (self.counts or ()):
            return 0
        if named == 3:
            return 3
        if _names_something_else(path) or not _names(column) or self._is_kind(path):
            return 0
        if named:
            return 2
        even = len({*column.counts.values()}) == 1
        repeats = len(column.counts) < self.place.rows
        return int(len(column.counts) >= _FEW and repeats and (even or column.is_text))

    def _task_rank(self, path: str) -> tuple[float, ...]:
        column = self.columns[path]
        sizes, longest = column.counts.values(), max(map(len, column.counts))
        even, few = len({*sizes}) == 1, len(sizes) < _FEW
        level, own = self._task_level(path), path not in self.place.above
        return level, own, not few, even, not column.whole, -longest

    def _is_kind(self, path: str) -> bool:
        """Whether a statement or an expected answer differs within the values of a column."""
        column = self.columns[path]
        for other, stated in self.columns.items():
            named = words(other) & (STATEMENT_WORDS | {"gold", "expected"})
            if other != path and named and stated.is_text:
                pairs = len({*zip(column.codes, stated.codes, strict=True)})
                if min(pairs, len(stated.counts)) > _STATED * len(column.counts):
                    return True
        return False

    def _task_candidate(self, path: str) -> Candidate:
        usual = [task for task in self.tasks if self._task_level(task) == 3]
        alone = self.tasks == [path] and not self.weak_tasks
        found = self._candidate("task", path)
        column = self.columns[path]
        certain = found.unasked or usual == [path] or (not usual and alone)
        # Records in a list of models are not attempts, and one task is that of a whole run.
        certain = certain and not words(self.place.keys) & SUMMED_UP
        certain = certain and (len(column.counts) > 1 or self.place.rows == 1)
        return replace(found, tally=column.spread, values=len(column.counts), certain=certain)

    # Outcomes

    @cached_property
    def outcomes(self) -> list[str]:
        """Columns that may say which attempts passed, verdicts first.

        One without a verdict's word is left out if another column is equal to it.
        """
        found = [path for path in self.columns if self._outcome_level(path)]
        found = found or [path for path in self.columns if self._is_constant_verdict(path)]
        found.sort(key=self._outcome_rank, reverse=True)
        kept: dict[tuple[object, ...], str] = {}
        for path in found:
            named = self._outcome_level(path) > 1
            kept.setdefault((path,) if named else self.columns[path].judged or (path,), path)
        judged = {self.columns[path].judged for path in found if self._outcome_level(path) > 1}
        return [
            path
            for path in kept.values()
            if self._outcome_level(path) > 1 or self.columns[path].judged not in judged - {()}
        ]

    @cached_property
    def weak_outcomes(self) -> list[str]:
        """Columns with a few words, or with numbers up to 100, that no name speaks for."""
        taken = {*self.outcomes, *self.tasks, *self.models, *self.place.above, *(self.counts or ())}
        # Without an outcome, nothing tells a setting from what came of it.
        taken |= {*self.settings} if self.outcomes else set()
        found = []
        for path, column in self.columns.items():
            if path in taken or column.listed or strength("attempt", path) == 3:
                continue
            other = _forms(path) & (_NOT_OUTCOMES | NUMBERING_WORDS) or leaf(path) in SETTING_NAMES
            # A hit_rate_at_3 of 0 or 1 is one of a single attempt.
            if other and not (is_average(path) and column.verdicts == {0, 1}):
                continue
            numbers = {*column.numbers}
            graded = len(numbers) > 1 and min(numbers) >= 0 and max(numbers) <= _HIGHEST
            if (graded and len(numbers) < self.place.rows) or self._has_few_words(path):
                found.append(path)
        return sorted(found, key=lambda path: len(self.columns[path].counts))

    def _is_decisive(self, path: str) -> bool:
        """Whether a column has two verdicts and a verdict's word that says more than an end."""
        judged = self._outcome_level(path) > 1 and len(self.columns[path].verdicts & {0, 1}) == 2
        return judged and not _forms(path) & ENDED_ONLY_WORDS

    def _is_constant_verdict(self, path: str) -> bool:
        """Whether a flag that never varies has a verdict's word."""
        column, own = self.columns[path], _forms(path)
        return (
            column.verdicts <= {0, 1} and path not in self.place.above
            and bool(own & (VERDICT_WORDS | BAD_WORDS)) and not own & _NOT_OUTCOMES
        )  # fmt: skip

    def _outcome_level(self, path: str) -> int:
        """3 if a column has an outcome's usual name, 2 a verdict's word, 1 if its values may be
        verdicts; 0 if it is not an outcome."""
        column, own, named = self.columns[path], _forms(path), strength("outcome", path)
        if path == self.request.named.get("outcome"):
            return 3
        inner = column.listed and any(words(key) & STEP_WORDS for key in above(path).split("."))
        if path in self.place.above or inner or not re.search(r"[^\W\d_]", path):
            return 0
        constant = len(column.counts) < 2 <= self.place.rows
        if path in (self.counts or ()) or (own & ENDED_ONLY_WORDS and constant):
            return 0
        flags = column.verdicts <= {0, 1}
        like = named > 0 or bool(own & VERDICT_WORDS)
        both = len(column.verdicts) == 2
        # What happened to a verdict is one: found_correct_chunk; so is the highest reward of turns.
        happened = HAPPENING_WORDS if flags and both and like else frozenset[str]()
        if flags and own & (CORRECT_WORDS - {"label", "verdict", "judgment"}):
            # What a prediction is, and not what it predicts; whether an answer matches the gold.
            happened = happened | PREDICTED_WORDS | EXPECTED_WORDS
        others = own & _NOT_OUTCOMES - happened
        others = others - {"has"} if flags and both else others
        if column.numbers and like and len(column.counts) > 1 and max(column.numbers) <= 1:
            others = others - {"max"}
        if named < 3 and (others or (is_average(path) and not flags)):
            return 0
        if strength("attempt", path) and not like:
            return 0
        level = 3 if named == 3 else 2 if like else 1
        if flags:
            settled = not (both or named) or (level == 1 and self._is_of_task(path))
            return 0 if settled else level
        if column.numbers:
            varies = len(column.counts) > 1 or self.place.rows == 1
            return level if like and varies else 0
        return level if like and self._has_few_words(path) else 0

    def _outcome_rank(self, path: str) -> tuple[float, ...]:
        column, own = self.columns[path], _forms(path)
        return (
            len(column.verdicts) == 2 or not column.verdicts <= {0, 1},
            not own & ENDED_WORDS,
            self._outcome_level(path),
            column.verdicts <= {0, 1},
            not self._is_condition(path),
            -column.missing,
        )

    def _is_condition(self, path: str) -> bool:
        """Whether a flag is true wherever another one is, as that an attempt was executed."""
        own = {at for at, value in enumerate(self.columns[path].values) if value is True}
        flags = (c for c in self.columns.values() if {*map(type, c.flat)} == {bool})
        return any(
            {at for at, value in enumerate(flag.values) if value is True} < own
            for flag in flags if len(flag.verdicts) == 2
        )  # fmt: skip

    def _has_few_words(self, path: str) -> bool:
        """Whether a column has a few short values, other ones for some attempts at a task."""
        counts = self.columns[path].counts
        return (
            2 <= len(counts) <= _WORDS and max(map(len, counts)) <= SHORT
            and (strength("outcome", path) > 0 or not self._is_of_task(path))
        )  # fmt: skip

    def _is_of_task(self, path: str) -> bool:
        """Whether a column has one value at each task, and tasks have several records."""
        if not self.tasks or self.columns[path].listed:
            return False
        tasks, column = self.columns[self.tasks[0]], self.columns[path]
        several = 2 * len(tasks.counts) <= self.place.rows
        return several and len({*zip(tasks.codes, column.codes, strict=True)}) == len(tasks.counts)

    def _outcome_candidate(self, path: str) -> Candidate:
        column, passing = self.columns[path], self._passing(path)
        usual = [p for p in self.outcomes if self._outcome_level(p) == 3]
        # An outcome is certain only if nothing next to it looks like a verdict.
        alone = all(self._outcome_level(p) < 2 or p == path for p in self.outcomes)
        # One that never varies may be that of failures only, or of ends.
        constant = len(column.counts) < 2 <= self.place.rows
        certain = usual == [path] and not (passing or constant or self.picks) and alone
        return replace(self._candidate("outcome", path, certain=certain), passing=passing)

    def _passing(self, path: str) -> tuple[SuggestedFix, ...]:
        """The ways to pass; empty if the values say themselves what passes."""
        column, own = self.columns[path], _forms(path)
        if column.verdicts <= {0, 1}:
            attacks = any(words(other) & ATTACK_WORDS for other in self.columns)
            open_ = own & BAD_WORDS or (attacks and own & {"success", "successful", "achieved"})
            if not open_ and (own & VERDICT_WORDS or strength("outcome", path)):
                return ()
            true, false = (
                next((text for text in column.counts if column.verdict_of[text][0] == v), word)
                for v, word in ((1, "true"), (0, "false"))
            )
            ways = tuple(SuggestedFix({"--passes": (v,)}, f"if {v} passes") for v in (true, false))
            return ways[::-1] if own & BAD_WORDS else ways
        if column.numbers:
            values = sorted({*column.numbers})
            # The ends of a scale: full marks, or all but the lowest.
            lowest = values[1:2] if len(values) <= _LEVELS else []
            bars = dict.fromkeys((values[-1], *lowest))
            return tuple(SuggestedFix({"--threshold": (bar,)}, f"if {bar:g} or more passes")
                         for bar in bars)  # fmt: skip
        verdict_of = {
            text: column.verdict_of.get(text, (-1, None))[0]
            for text, _ in column.counts.most_common(_WORDS)
        }
        known = tuple(text for text, verdict in verdict_of.items() if verdict == 1)
        unknown = [text for text, verdict in verdict_of.items() if verdict == -1]
        if len(verdict_of) == 2:
            # A word that usually means a missing outcome is one of two verdicts here.
            unknown += [text for text, verdict in verdict_of.items() if verdict is None]
        found: list[SuggestedFix] = []
        for text in unknown:
            if {0, 1} & {*verdict_of.values()}:
                # The words that are known keep their verdicts.
                found.append(SuggestedFix({"--fails": (text,)}, f"if {text} fails"))
            found.append(SuggestedFix({"--passes": (*known, text)}, f"if {text} passes"))
        return tuple(found)

    @cached_property
    def picks(self) -> dict[str, list[FieldValues]]:
        """Column in a list of named verdicts → its entries, like `scores[name=correct].value`."""
        found: dict[str, list[FieldValues]] = {}
        for path, other in product(self.outcomes, self.columns):
            (way, _, own), (above, _, key) = path.rpartition("."), other.rpartition(".")
            column, names = self.columns[path], self.columns[other]
            if not (way and way == above and column.listed and names.is_text and EACH not in path):
                continue
            lists = [value for value in names.values if isinstance(value, list)]
            once = all(len({*map(str, value)}) == len(value) for value in lists)
            if once and 1 < len(names.counts) <= _VALUES:
                rows = [
                    dict(zip(map(str, of or ()), values or (), strict=False))
                    for of, values in zip(names.values, column.values, strict=True)
                ]
                found[path] = [
                    FieldValues(f"{way}[{key}={name}].{own}", [row.get(name) for row in rows],
                           column.verdict_of)
                    for name in names.counts
                ]  # fmt: skip
        return found

    def _pick_candidates(self) -> list[Candidate]:
        return [
            Candidate(
                "outcome", pick.path, SuggestedFix({"--field": {"outcome": pick.path}}), pick.tally
            )
            for picks in self.picks.values()
            for pick in picks
        ]

    def _agreements(self) -> list[Candidate]:
        """An answer and what was expected, if they have values in common."""
        plain = {path: column for path, column in self.columns.items() if _is_short(column)}
        gold = [path for path in plain if words(path) & (EXPECTED_WORDS - {"label"})]
        answers = [path for path in plain if words(path) & ANSWER_WORDS and path not in gold]
        if not answers:
            # Without a usual name, a text that nearly always is one of the expected values.
            expected = {text for path in gold for text in plain[path].counts}
            answers = [path for path in plain if path not in gold and len(expected) > 1
                       and not _forms(path) & _NOT_OUTCOMES and not plain[path].missing
                       and 2 * sum(plain[path].counts[text] for text in expected)
                       > self.place.rows]  # fmt: skip
        # Next to an answer a label is what was expected; next to the true label it is an answer.
        labels = [path for path in plain if "label" in words(path) and path not in gold + answers]
        found = []
        for one, other in [*product(answers, gold + labels), *product(labels, gold)]:
            pairs = [
                *zip(
                    map(text_of, plain[one].values), map(text_of, plain[other].values), strict=True
                )
            ]
            sql = "SELECT count(*) FROM (SELECT unnest($1::VARCHAR[]) a, unnest($2::VARCHAR[]) b)"
            ((same,),) = self.con.execute(
                f"{sql} WHERE {agree_sql('a', 'b')} = 'true'",
                [*map(list, zip(*pairs, strict=True))],
            ).fetchall()
            if same:
                path = f"{one}{EQUAL}{other}"
                option = SuggestedFix({"--field": {"outcome": path}})
                tally = f"{same:,} of {len(pairs):,} agree"
                found.append(Candidate("outcome", path, option, tally))
        return found

    @cached_property
    def flags(self) -> list[str]:
        """Plain columns of verdicts that may be side by side, at least one of which varies."""
        found = [
            path for path, column in self.columns.items()
            if column.verdicts <= {0, 1} and not (column.listed or "." in path or "," in path)
            and not _forms(path) & (_NOT_OUTCOMES | BAD_WORDS)
        ]  # fmt: skip
        return found if any(len(self.columns[path].verdicts) == 2 for path in found) else []

    @cached_property
    def numbered(self) -> list[str]:
        """Columns of verdicts that are numbered, as in a table with a column per attempt."""
        found = [p for p in self.flags if NUMBERED.fullmatch(p) or _NUMBERED_PART.search(p)]
        return found if len(found) > 1 else []

    def _side_by_side(self) -> list[Candidate]:
        """Columns with a verdict per model."""
        flags = [p for p in self.flags if p not in self.numbered and not strength("attempt", p)]
        # Names of models have the same words of verdicts, or none.
        if len(flags) < 2 or len({frozenset(_forms(path) & VERDICT_WORDS) for path in flags}) > 1:
            return []
        # Verdicts of one kind are of the same words, and nothing else may be the outcome.
        kinds = [{*self.columns[path].counts} for path in flags]
        if max(map(len, kinds)) < len(set[str]().union(*kinds)) or {*self.weak_outcomes} - {*flags}:
            return []
        joined = ",".join(flags)
        option = SuggestedFix({"--field": {"outcome": joined, "model": COLUMN}})
        return [Candidate("outcome", joined, option, "if each column is a model")]

    # What passk does not read

    def _preference(self) -> str:
        """The column that says which of two answers is better: by its name, or with the values A, B
        and tie, or with names of other columns."""
        texts = {leaf(path) for path, column in self.columns.items() if column.is_text}
        paired = any(t[-1:] in {"a", "1"} and t[:-1] + chr(ord(t[-1]) + 1) in texts for t in texts)
        for path, column in self.columns.items():
            values = {text.lower() for text in column.counts}
            sides = values - _TIES
            signs = all(map(_SIDE.fullmatch, sides)) and (paired or sides < values)
            if words(path) & _PREFERENCES or (
                0 < len(sides) <= 2 <= len(values) and (signs or sides <= texts)
                and {*self.outcomes} <= {path}
            ):  # fmt: skip
                return path
        return ""

    def _summary(self) -> str:
        """The column with an average, if there are only grades and each row is one model, or with
        the ranks of the rows."""
        if self.counts:
            return ""
        rows = self.place.rows
        ranks = [p for p, c in self.columns.items() if "rank" in words(p) and rows > 2
                 and {*c.numbers} == {*range(1, rows + 1)}]  # fmt: skip
        if ranks and not any(strength("task", path) == 3 for path in self.tasks):
            return ranks[0]
        grades = [self.columns[path] for path in self.outcomes]
        rated = any(is_average(p) and not c.verdicts <= {0, 1} for p, c in self.columns.items())
        each = any(len(self.columns[path].counts) == rows for path in self.models)
        flagged = any(c.verdicts <= {0, 1} or not c.numbers for c in grades)
        if flagged and not (rated and each):
            return ""
        averages = [*filter(is_average, self.columns)]
        named = self.models if grades else [p for p, c in self.columns.items() if c.is_text]
        once = any(len(self.columns[path].counts) == rows > 1 for path in named)
        short = all(map(_is_short, self.columns.values()))
        several = not grades and any(_OF_SEVERAL.fullmatch(leaf(path)) for path in averages)
        return next(iter([*averages, *self.outcomes]), "") if several or (once and short) else ""

    # Counts, models and settings

    @cached_property
    def counts(self) -> tuple[str, str] | None:
        """The columns of attempts and of passes: whole, c ≤ n in every row, some n above 1."""
        whole = {path: column for path, column in self.columns.items()
                 if column.whole and not (column.missing or column.listed)
                 and path not in self.place.above}  # fmt: skip
        for n, c in product(_count_columns("n", whole), _count_columns("c", whole)):
            if re.sub("[0-9]+", "", n) == re.sub("[0-9]+", "", c):
                # Two totals, of one task each.
                continue
            pairs = [*zip(whole[n].numbers, whole[c].numbers, strict=True)]
            if all(passed <= made for made, passed in pairs) and any(made > 1 for made, _ in pairs):
                return n, c
        return None

    def _count_candidates(self) -> list[Candidate]:
        if self.counts is None:
            return []
        n, c = self.counts
        made, passed = (sum(self.columns[path].numbers) for path in (n, c))
        tally = f"{passed:g} of {made:g}"
        option = SuggestedFix({"--field": {"n": n, "c": c}})
        unasked = self._is_unasked("n", n) and self._is_unasked("c", c)
        # A total, or counts next to a verdict, may be of the tests of one attempt.
        attempts = words(n) & (ATTEMPT_COUNT_WORDS - {"total", "count", "evaluated"})
        certain = bool(attempts) and all(map(is_average, self.outcomes)) and 0 < passed < made
        return [Candidate("counts", f"{n},{c}", option, tally, 0, certain, unasked)]

    @cached_property
    def models(self) -> list[str]:
        """Columns of text that may name the model."""
        found = [
            path for path, column in self.columns.items()
            if column.is_text and not (column.listed or column.missing)
            and (strength("model", path) or look_like_models(column.counts))
            and not words(path) & JUDGE_WORDS
        ]  # fmt: skip
        found.sort(key=lambda p: (-strength("model", p), len(self.columns[p].counts) < 2))
        kept: dict[tuple[int, ...], str] = {}
        for path in found:
            kept.setdefault(self.columns[path].codes, path)
        return [*kept.values()]

    @cached_property
    def settings(self) -> list[str]:
        """Columns of few values that may be settings or groups, and are not consequences."""
        taken = {*self.tasks, *self.outcomes, *self.models, *(self.counts or ())}
        found = []
        for path, column in self.columns.items():
            named = leaf(path) in SETTING_NAMES
            if path in taken or path in RESERVED or not _names(column) or words(path) & _SAID:
                continue
            few = len(column.counts) <= _VALUES and len(column.counts) < self.place.rows
            if few and (named or (column.is_text and not self._is_consequence(path))):
                found.append(path)
        return sorted(found, key=lambda path: leaf(path) not in SETTING_NAMES)

    def _is_consequence(self, path: str) -> bool:
        """Whether the values of a column separate passes from failures perfectly."""
        column = self.columns[path]
        for outcome in self.outcomes:
            other = self.columns[outcome]
            if other.listed or len(other.counts) < 2:
                continue
            if len({*zip(column.codes, other.codes, strict=True)}) == len(column.counts):
                return True
        return False


def is_average(path: str) -> bool:
    """Whether a column is named like an average of several attempts.

    >>> is_average("results.pass@5"), is_average("success_rate"), is_average("success")
    (True, True, False)
    """
    return bool(words(path) & AVERAGE_WORDS or _OF_SEVERAL.fullmatch(leaf(path)))


def _names(column: FieldValues) -> bool:
    """Whether the values of a column may be names."""
    return _is_plain(column) and len(column.counts) > 1


def _is_plain(column: FieldValues) -> bool:
    """Whether all records have a text, or all a whole number."""
    return not (column.listed or column.missing) and (column.is_text or column.whole)


def _names_something_else(path: str) -> bool:
    """Whether a column is named like a model, a setting or a result."""
    other = words(path) & _NOT_TASKS or leaf(path) in SETTING_NAMES or strength("model", path)
    return bool(other)


def _is_short(column: FieldValues) -> bool:
    """Whether nearly all values are short, and not lists of several."""
    long = sum(n for text, n in column.counts.items() if len(text) > SHORT)
    lists = sum(isinstance(value, list) and len(value) > 1 for value in column.values)
    return max(long, lists) <= _RARE * len(column.values)


def _count_columns(role: str, whole: Mapping[str, FieldValues]) -> list[str]:
    """The columns that may be counts of attempts or of passes, by usual names or by words.

    What happens in an attempt, such as turns, is not counted as attempts.
    """
    kinds = {"n": ATTEMPT_COUNT_WORDS, "c": PASS_COUNT_WORDS}[role]
    others = HAPPENING_WORDS - {"count"} | {"tests", "index"} | ANSWER_WORDS - {"actual"}
    return candidates(role, whole) or [
        path for path in whole if words(path) & kinds and not _forms(path) & others
    ]


def _forms(path: str) -> set[str]:
    """The words of a name, also with a plural's s and without it."""
    return {form for word in words(path) for form in (word, word.removesuffix("s"), f"{word}s")}
