"""Add candidate columns, with the options that choose them, to an error about unclear columns.

If the roles are certain, the error also contains a complete command that drops no attempts. The
error contains no command if the file is a summary, compares two answers, or has no outcomes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, PasskError
from passk_cli.files.reading.candidates import Candidate, Candidates, find_candidates
from passk_cli.files.reading.fix_trials import FixTrials, is_untestable, size_text
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    FIXED_VALUE_PREFIX,
    POSITION_AS_TASK,
    column_name_words,
    combined_columns,
    normalized_last_key,
    role_name_strength,
    usual_columns,
)
from passk_cli.files.sources.arguments import is_read_once
from passk_cli.files.sources.memory import index_hint
from passk_cli.files.sources.path_templates import suggested_template
from passk_cli.files.sources.source import FIX_TRIAL_BYTES
from passk_cli.files.toml_map import map_folders
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean, nearest_names
from passk_cli.text import truncated_text

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.reading.layout import Batch
    from passk_cli.files.sources.source import Source
    from passk_cli.outcomes.counts import Counts

# Users can solve some errors by choosing a column. _ROLE_BY_ERROR_NAME maps the name of such an
# error to the role of the column, or to "" if the role depends on the data.
_ROLE_BY_ERROR_NAME = {
    "no-task-column": "task",
    "no-outcome-column": "outcome",
    "no-model-column": "model",
    "ambiguous-column": "",
    "ambiguous-records": "",
    "no-results": "",
    "unknown-format": "",
    "missing-outcome": "outcome",
    "bad-outcome": "outcome",
    "no-such-column": "",
}
_QUESTION_TEXTS = {
    "task": "which column is the task?",
    "task outcome": "which column is the task, and which one shows whether an attempt passed?",
    "outcome": "which column shows whether an attempt passed?",
    "model": "which column is the model?",
}
# An error shows at most _SHOWN_PER_ROLE candidate columns per role, and pads options to
# _OPTION_WIDTH characters.
_SHOWN_PER_ROLE, _OPTION_WIDTH = 8, 44
# The list of candidate columns has at most _LINES lines of _COLUMNS characters. To fit into a line,
# the text about the values is shortened, but to no less than _SHORTEST_TALLY characters.
_LINES, _COLUMNS, _SHORTEST_TALLY = 20, 80, 30
# For a new map, passk suggests the first file name in _NEW_MAP_FILE_NAMES that does not exist yet.
_NEW_MAP_FILE_NAMES = ("passk.toml", "map.toml")


def column_choice_error(
    error: DataError,
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    read: Callable[[Request], Counts],
    data: Any,
) -> PasskError:
    """Add the possible columns to an error. If the file cannot contain outcomes, return a
    different error.

    data : the path that the user gave. The error suggests a map in the same folder.
    """
    if any(is_read_once(source.frame) for source in sources):
        return error
    paths = [source.path for source in sources if source.frame is None]
    trials = FixTrials(request, read, sum(map(os.path.getsize, paths)) <= FIX_TRIAL_BYTES)
    roles = {role for settle in error.fixes for role in settle.options.get("--field", {})}
    # No option can choose between two columns with the same name.
    other_column = error.name == "ambiguous-column" and (not roles or roles - {*_QUESTION_TEXTS})
    empty = error.name == "no-results" and bool(error.fixes)
    if error.name not in (*_ROLE_BY_ERROR_NAME, "no-role-column") or other_column or empty:
        if not trials.is_data_small:
            return error
        completed = trials.with_working_fixes(error)
        if isinstance(completed, DataError) and completed.name == "bad-outcome" != error.name:
            return column_choice_error(completed, con, sources, request, read, data)
        if error.name != "ambiguous-column" or completed.fixes or not error.fixes:
            return completed
    place = str(error.place)
    first = sorted(sources, key=lambda source: not place.startswith(source.name))
    try:
        places = find_candidates(con, first, request)
    except DataError as refusal:
        return refusal if error.name == "unknown-format" else error
    if not places:
        return error
    template = suggested_template(paths) if error.name == "no-task-column" else ""
    if template and "{task}" not in template:
        # If the files are named like runs, the row number may identify the task.
        runs = {"--path": template, "--field": {"model": f"{FIXED_VALUE_PREFIX}all"}}
        task_candidates = [*places[0].get("task", ())]
        for i, c in enumerate(task_candidates):
            if c.column == POSITION_AS_TASK:
                option = c.option.merged_with(SuggestedFix(runs))
                task_candidates[i] = replace(
                    c, option=option, values_summary="if each file is an attempt"
                )
        places[0] = replace(places[0], by_role={**places[0].by_role, "task": (*task_candidates,)})
    elif template and "outcome" in places[0]:
        option = SuggestedFix({"--path": template})
        way, counts = trials.complete_fix(option)
        task_name = way.options.get("--field", {}).get("task", "task")
        tasks = places[0].get("task", ())
        columns = [task for task in tasks if task.column != POSITION_AS_TASK]
        stated = [
            task.distinct_count for task in columns if role_name_strength("task", task.column)
        ]
        files = 0 if isinstance(counts, PasskError) else len(counts.tasks)
        # If each file has one row and no column can be the task, each file certainly contains
        # exactly one task.
        sure = all(values >= files for values in stated) and len(columns) == len(stated)
        sure = sure and places[0].row_count <= len(paths) and not trials.doubt_reason(counts)
        if files and "task" in combined_columns(task_name) and sure:
            return error.with_changes(type(error), settles=[way])
        tasks = (*tasks, Candidate("task", template, option, f"{len(paths):,} files"))
        places[0] = replace(places[0], by_role={**places[0].by_role, "task": tasks})
    inside = (
        places[0].records_key
        and request.records is None
        and "outcome" not in request.named_column_by_role
    )
    inner = any(f'"{c.column}"' in error.problem for c in places[0].get("outcome", ()))
    if error.name == "bad-outcome" and inside and not inner:
        problem = f"the outcomes are in {places[0].records_key}"
        error = DataError(first[0].name, problem, name="ambiguous-records")
    if error.name == "no-such-column":
        return _misspelled_column_error(error, places[0], request)
    if error.name == "no-role-column":
        return _error_with_nested_field_fixes(error, places[0], trials)
    if error.name == "bad-outcome" and (request.passes or request.fails):
        return _unnamed_outcome_words_error(error, places[0], request)
    if error.name == "missing-outcome":
        other_outcomes = [
            c for c in places[0].get("outcome", ()) if not (c.missing_count or c.is_used_by_default)
        ]
        if "outcome" in request.named_column_by_role or not other_outcomes:
            return trials.with_working_fixes(error)
    hidden = index_hint(first[0].frame) if error.name == "no-task-column" else ""
    draft = [*_map_draft_fixes(next(map_folders(data), ""))]
    return _unusable_data_error(error, places) or _with_candidates(
        error, places, trials, hidden, draft
    )


def _error_with_nested_field_fixes(
    error: DataError, candidate_set: Candidates, trials: FixTrials
) -> PasskError:
    (role,) = error.fixes[0].options["--field"]
    nested = [
        path
        for path in candidate_set.summary_by_column
        if "." in path and usual_columns(role, [normalized_last_key(path)])
    ]
    refusal = error.with_changes(
        type(error),
        settles=[SuggestedFix({"--field": {role: path}}, "names it") for path in nested],
    )
    completed = trials.with_working_fixes(refusal) if nested else error
    return completed if completed.fixes else error


def _unnamed_outcome_words_error(
    error: DataError, candidate_set: Candidates, request: Request
) -> DataError:
    named_words = {word.lower() for word in (*request.passes, *request.fails)}
    ways = (
        way
        for candidate in candidate_set.get("outcome", ())[:1]
        for way in candidate.pass_definitions
    )
    words_left = [word for way in ways for word in way.options.get("--passes", ())
                  if word.lower() not in named_words]  # fmt: skip
    if not words_left:
        return error
    settles = [
        SuggestedFix({option: (word,)}, f"if {word} {verb}")
        for word in words_left
        for option, verb in (("--passes", "passes"), ("--fails", "fails"))
    ]
    problem = f"no option names these outcomes as passes or failures: {', '.join(words_left)}"
    return error.with_changes(type(error), problem=problem, remedy="", settles=settles)


def _misspelled_column_error(
    error: DataError, candidate_set: Candidates, request: Request
) -> DataError:
    option_of = {
        part: {"--field": role}
        for role, c in request.named_column_by_role.items()
        for part in combined_columns(c)
    }
    option_of |= {column: {"--by": ""} for column in request.by}
    missing = next((c for c in option_of if error.problem.startswith(f"no column {c!r}")), "")
    paths = [*candidate_set.summary_by_column]
    if not missing or missing in paths:
        return error
    similar = [p for p in paths if normalized_last_key(p) == missing] or nearest_names(
        missing, paths
    )
    if not similar or similar[0] in (*request.named_column_by_role.values(), *request.by):
        return error
    ((option, role),) = option_of[missing].items()
    # passk replaces only the wrong column of --by by the right one, and keeps the other columns.
    columns = [similar[0] if column == missing else column for column in request.by]
    right = columns if len(columns) > 1 else similar[0]
    settles = [SuggestedFix({option: {role: similar[0]} if role else right})]
    return error.with_changes(type(error), remedy=did_you_mean(similar), settles=settles)


def _unusable_data_error(error: DataError, places: Sequence[Candidates]) -> DataError | None:
    """The error for a file that cannot contain outcomes, such as a summary, or else None."""
    if error.name not in (
        "no-task-column", "no-outcome-column", "ambiguous-column", "no-results", "bad-outcome",
    ):  # fmt: skip
        return None
    if preference := next(
        (place.preference_column for place in places if place.preference_column), ""
    ):
        return DataError(
            error.place,
            f"the column {preference} contains preferences between two answers",
            "passk needs one row per attempt that passed or failed",
            name="preferences",
        )
    if places[0].average_column and error.name != "no-results":
        column = places[0].average_column
        meaning = (
            "the rank of a row"
            if "rank" in column_name_words(column)
            else "an average of several attempts"
        )
        problem = f"this is a summary: {column} is {meaning}"
        return DataError(
            error.place, problem, "read the file that contains the attempts", name="summary"
        )
    answered = error.name in ("no-results", "bad-outcome")
    if answered or any("outcome" in place or "counts" in place for place in places):
        return None
    more = re.search(r" \([0-9,]+ more files? not read either\)", error.problem)
    problem = f"no column shows whether an attempt passed{more[0] if more else ''}"
    if not places[0].weak_outcomes:
        return DataError(error.place, problem, error.words, name="no-outcome-column")
    problem = f"no column is named like an outcome{more[0] if more else ''}"
    remedy = "if one of these columns shows whether an attempt passed, name it"
    refusal = DataError(error.place, problem, remedy, name="no-outcome-column")
    refusal.candidates = replace(
        places[0].with_weak_outcomes_if_none(), row_count_by_other_record_list={}
    )
    return refusal


def _with_candidates(
    error: DataError,
    places: Sequence[Candidates],
    trials: FixTrials,
    hidden: str,
    draft: Sequence[SuggestedFix],
) -> PasskError:
    """Add the candidate columns to an error. If the roles are certain, also add a complete command.

    hidden : a hint that the index of a data frame may contain the task, or "".
    draft : suggested fixes that write a map file.
    """
    role, request = _ROLE_BY_ERROR_NAME[error.name], trials.request
    best = next((place for place in places if role in place), places[0])
    if role and role not in best and not (role != "model" and "counts" in best):
        return trials.with_working_fixes(error)
    likely_found = likely_record_lists(places)
    command = _certain_options(best, request) if len(likely_found) == 1 else None
    settles: Sequence[SuggestedFix] = ()
    question = _question_text(error, best, request)
    if command is not None and command.options:
        command, counts = trials.complete_fix(command, mixing=False)
        if not isinstance(counts, PasskError):
            why = size_text(counts) if trials.is_data_small else ""
            settles, question = [replace(command, effect=why)], ""
        elif counts.name not in _ROLE_BY_ERROR_NAME or counts.name == "missing-outcome":
            # The user must also choose whether to drop or to pool attempts, so the error suggests
            # one command per choice.
            ways = (settle for settle in counts.fixes if not is_untestable(settle))
            settles = [replace(command.merged_with(way), effect=way.effect) for way in ways]
            settles = trials.with_working_fixes(
                error.with_changes(type(error), settles=settles)
            ).fixes
            # passk read only the beginning of a long file, so the total number of attempts is
            # unknown.
            question = counts.problem if trials.is_data_small else counts.problem.partition(" (")[0]
    if error.name == "bad-outcome":
        question = error.words
        settles = [settle for settle in error.fixes if is_untestable(settle)]
    answer = error.with_changes(
        type(error), remedy=f"{question}{hidden}".removeprefix("; "),
        settles=[*settles, *draft],
    )  # fmt: skip
    other_places = {
        place.records_key: place.row_count
        for place in likely_found
        if place.records_key != best.records_key
    }
    answer.candidates = replace(
        best.with_weak_outcomes_if_none(), row_count_by_other_record_list=other_places
    )
    return answer


def _map_draft_fixes(folder: str) -> Iterator[SuggestedFix]:
    free = (os.path.join(folder, name) for name in _NEW_MAP_FILE_NAMES)
    for name in islice((name for name in free if not os.path.lexists(name)), 1):
        why = "writes a map with all candidates that you can edit"
        yield SuggestedFix({"--init": name}, why, "describe")


def likely_record_lists(places: Sequence[Candidates]) -> list[Candidates]:
    """The lists of records with a task and an outcome, or the first list if no list has both."""
    candidates_with_both = []
    for place in places:
        models = {candidate.column for candidate in place.get("model", ())}
        tasks = {candidate.column for candidate in place.get("task", ())} - models
        candidates_with_both += [place] * bool(tasks and place.keys() & {"outcome", "counts"})
    return candidates_with_both or [*places[:1]]


def _question_text(error: DataError, candidate_set: Candidates, request: Request) -> str:
    open_roles = [
        role
        for role in ("task", "outcome")
        if candidate_set.certain_candidate(role) is None
        and role not in request.named_column_by_role
    ]
    return _QUESTION_TEXTS.get(" ".join(open_roles), "")


def _certain_options(candidate_set: Candidates, request: Request) -> SuggestedFix | None:
    """The options that select a list of records and its columns, or None if a role is unclear."""
    options: dict[str, Any] = {}
    fields: dict[str, str] = {}
    if candidate_set.records_key and request.records is None:
        options["--records"] = candidate_set.records_key
    passed = "counts" if "counts" in candidate_set else "outcome"
    certain_candidates = [candidate_set.certain_candidate(role) for role in ("task", passed)]
    for role, candidate in zip(("task", "outcome"), certain_candidates, strict=True):
        if role in request.named_column_by_role:
            continue
        if candidate is None:
            return None
        if not candidate.is_used_by_default:
            fields |= candidate.option.options["--field"]
    models = [
        model for model in candidate_set.get("model", ()) if model.column not in fields.values()
    ]
    if models and "model" not in request.named_column_by_role and not models[0].is_used_by_default:
        if len(models) > 1:
            return None
        fields["model"] = models[0].column
    return SuggestedFix(({"--field": fields} if fields else {}) | options)


def inner_records_error(con: duckdb.DuckDBPyConnection, batch: Batch) -> DataError | None:
    """The error for a document that passk read as one attempt although it contains many attempts.

    The fields of the document are probably a summary of these attempts.
    """
    source, column = batch.sources[0], batch.roles.outcome or ""
    if batch.layout.kind != "record":
        return None
    for candidate_set in find_candidates(con, [source], Request()):
        outcomes = [candidate.column for candidate in candidate_set.get("outcome", ())]
        if candidate_set.row_count < 2 or "{" in candidate_set.records_key or not outcomes:
            continue
        choices = (
            SuggestedFix({"--records": candidate_set.records_key}, "reads these records"),
            SuggestedFix({"--records": "."}, "reads the document itself"),
        )
        problem = f"the document has the outcome {column}, and its {candidate_set.records_key}"
        problem += f" are {candidate_set.row_count:,} records with {outcomes[0]}"
        return DataError(source.name, problem, name="ambiguous-records", settles=choices)
    return None


def candidate_lines(
    candidate_set: Mapping[str, Sequence[Candidate]],
    spelled: Callable[[SuggestedFix], str],
    *,
    columns: bool = False,
    full: bool = False,
) -> Iterator[str]:
    """List the candidates of each role as lines of text, with the options that choose each
    candidate.

    spelled : a function that writes an option for the command line or for Python.
    columns : whether the list includes columns without a role.
    full : whether the list includes all candidates. Without `full`, the list has at most 8
        candidates per role and 20 lines of 80 characters.
    """
    rows, place = [], candidate_set if isinstance(candidate_set, Candidates) else None
    if place and (place.records_key or place.row_count_by_other_record_list):
        counts = {place.records_key: place.row_count, **place.row_count_by_other_record_list}
        for at, (records, count) in enumerate(counts.items()):
            option = spelled(SuggestedFix({"--records": records or "."}))
            rows.append(("" if at else "records", option, f"{count:,} records", ""))
    full_hint = ": --full" if columns else ""
    for role, role_candidates in candidate_set.items():
        for at, candidate in enumerate(
            role_candidates if full else role_candidates[:_SHOWN_PER_ROLE]
        ):
            ways = " or ".join(
                spelled(replace(way, effect="")) for way in candidate.pass_definitions[:4]
            )
            ways = f"; {ways}" if ways else ""
            option = spelled(candidate.option)
            rows.append((role if at == 0 else "", option, candidate.values_summary, ways))
        if not full and len(role_candidates) > _SHOWN_PER_ROLE:
            rows.append(
                ("", f"and {len(role_candidates) - _SHOWN_PER_ROLE:,} more{full_hint}", "", "")
            )
    if columns and place:
        shown_columns = {
            part
            for role_candidates in candidate_set.values()
            for c in role_candidates
            for part in combined_columns(c.column)
        }
        other_columns = [
            ("column", path, t, "")
            for path, t in place.summary_by_column.items()
            if path not in shown_columns
        ]
        most = len(other_columns) if full else max(_LINES - len(rows), 1)
        rows += other_columns[:most]
        if len(other_columns) > most:
            rows.append(("", f"and {len(other_columns) - most:,} more columns{full_hint}", "", ""))
    if place and place.coverage:
        rows.append(("", f"values of {place.coverage}", "", ""))
    width = min(max((len(option) for _, option, *_ in rows), default=0), _OPTION_WIDTH)
    for role, option, tally, ways in rows:
        room = _COLUMNS - len(ways) - max(width, len(option)) - 13
        text = tally if full else truncated_text(tally, max(room, _SHORTEST_TALLY))
        yield f"{role:8} {option:{width}}  {text}{ways}".rstrip()
