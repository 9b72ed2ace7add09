"""Asking: what a file leaves open, as an error with the columns that can be chosen.

The screen of an error lists the candidates of each role, with the option that chooses each.  A
complete command is added only if the names are certain: then there is one, and it drops nothing.
Preferences, summaries and files without outcomes are refused by name, without a command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, PasskError
from passk_cli.files.mapping import folders_of
from passk_cli.files.reading.candidates import Candidate, Candidates, find_candidates
from passk_cli.files.reading.remedies import FixTrials, is_open, size
from passk_cli.files.request import Request
from passk_cli.files.roles import POSITION, VALUE, candidates, leaf, parts, strength, words
from passk_cli.files.sources.arguments import is_read_once
from passk_cli.files.sources.memory import index_hint
from passk_cli.files.sources.paths import layout_template
from passk_cli.files.sources.source import TRIAL_BYTES
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean, nearest
from passk_cli.text import shortened

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.reading.layout import Batch
    from passk_cli.files.sources.source import Source
    from passk_cli.outcomes.counts import Counts

# Errors of which columns are the answer → the question that each asks.
_QUESTIONS = {
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
_ASKED = {
    "task": "which column is the task?",
    "task outcome": "which column is the task, and which says whether an attempt passed?",
    "outcome": "which column says whether an attempt passed?",
    "model": "which column is the model?",
}
# Lines of a role on the screen; the widest option that others are aligned with.
_SHOWN, _WIDE = 8, 44
# Lines and columns of a screen; characters of a tally that are always shown.
_LINES, _COLUMNS, _SHORTEST = 20, 80, 30
# Names of a new map: a file that exists is never overwritten.
_MAPS = ("passk.toml", "map.toml")


def asking(
    error: DataError,
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    read: Callable[[Request], Counts],
    data: Any,
) -> PasskError:
    """The error with the columns that can be chosen, or the refusal of what holds no outcomes.

    read : reads with a request.  data : what was asked for, next to which a map is looked for.
    """
    if any(is_read_once(source.frame) for source in sources):
        return error
    paths = [source.path for source in sources if source.frame is None]
    trials = FixTrials(request, read, sum(map(os.path.getsize, paths)) <= TRIAL_BYTES)
    roles = {role for settle in error.settles for role in settle.options.get("--field", {})}
    # Two columns of one name have no options: only the file can be changed.
    other = error.name == "ambiguous-column" and (not roles or roles - {*_ASKED})
    # Nothing is asked about an empty file.
    empty = error.name == "no-results" and bool(error.settles)
    if error.name not in (*_QUESTIONS, "no-role-column") or other or empty:
        if not trials.small:
            return error
        completed = trials.completed(error)
        if isinstance(completed, DataError) and completed.name == "bad-outcome" != error.name:
            return asking(completed, con, sources, request, read, data)
        if error.name != "ambiguous-column" or completed.settles or not error.settles:
            return completed
    place = str(error.place)
    first = sorted(sources, key=lambda source: not place.startswith(source.name))
    try:
        found = find_candidates(con, first, request)
    except DataError as refusal:
        return refusal if error.name == "unknown-format" else error
    if not found:
        return error
    template = layout_template(paths) if error.name == "no-task-column" else ""
    if template and "{task}" not in template:
        # Files that are named like runs, whose rows are tasks by their places.
        runs = {"--path": template, "--field": {"model": f"{VALUE}all"}}
        own = [
            replace(
                c, option=c.option.merged(SuggestedFix(runs)), tally="if each file is an attempt"
            )
            if c.column == POSITION
            else c
            for c in found[0].get("task", ())
        ]
        found[0] = replace(found[0], by_role={**found[0].by_role, "task": (*own,)})
    elif template and "outcome" in found[0]:
        # Files or folders that are named like tasks.
        option = SuggestedFix({"--path": template})
        way, counts = trials.followed(option)
        named = way.options.get("--field", {}).get("task", "task")
        tasks = found[0].get("task", ())
        columns = [task for task in tasks if task.column != POSITION]
        stated = [task.values for task in columns if strength("task", task.column)]
        files = 0 if isinstance(counts, PasskError) else len(counts.tasks)
        # Questions that tell fewer tasks apart make the files runs, and another column that may be
        # the task makes them anything.  Rows of one file may be tasks as well.
        sure = all(values >= files for values in stated) and len(columns) == len(stated)
        sure = sure and found[0].rows <= len(paths) and not trials.doubt(counts)
        if files and "task" in parts(named) and sure:
            return error.with_changes(type(error), settles=[way])
        tasks = (*tasks, Candidate("task", template, option, f"{len(paths):,} files"))
        found[0] = replace(found[0], by_role={**found[0].by_role, "task": tasks})
    inside = found[0].records and request.records is None and "outcome" not in request.named
    inner = any(f'"{c.column}"' in error.problem for c in found[0].get("outcome", ()))
    if error.name == "bad-outcome" and inside and not inner:
        problem = f"its outcomes are those of its {found[0].records}"
        error = DataError(first[0].name, problem, name="ambiguous-records")
    if error.name == "no-such-column":
        return _near_column(error, found[0], request)
    if error.name == "no-role-column":
        return _deeper(error, found[0], trials)
    if error.name == "bad-outcome" and (request.passes or request.fails):
        return _unnamed(error, found[0], request)
    if error.name == "missing-outcome":
        others = [c for c in found[0].get("outcome", ()) if not (c.missing or c.unasked)]
        if "outcome" in request.named or not others:
            return trials.completed(error)
    hidden = index_hint(first[0].frame) if error.name == "no-task-column" else ""
    draft = [*_draft(next(folders_of(data), ""))]
    return _refused(error, found) or _asked(error, found, trials, hidden, draft)


def _deeper(error: DataError, found: Candidates, trials: FixTrials) -> PasskError:
    """The error about an amount or an answer without a column, with the nested ones of its name."""
    (role,) = error.settles[0].options["--field"]
    nested = [path for path in found.columns if "." in path and candidates(role, [leaf(path)])]
    named = error.with_changes(
        type(error),
        settles=[SuggestedFix({"--field": {role: path}}, "names it") for path in nested],
    )
    completed = trials.completed(named) if nested else error
    return completed if completed.settles else error


def _unnamed(error: DataError, found: Candidates, request: Request) -> DataError:
    """The error about words that neither --passes nor --fails names, with both answers to each."""
    named = {word.lower() for word in (*request.passes, *request.fails)}
    ways = (way for candidate in found.get("outcome", ())[:1] for way in candidate.passing)
    words_left = [word for way in ways for word in way.options.get("--passes", ())
                  if word.lower() not in named]  # fmt: skip
    if not words_left:
        return error
    settles = [
        SuggestedFix({option: (word,)}, f"if {word} {verb}")
        for word in words_left
        for option, verb in (("--passes", "passes"), ("--fails", "fails"))
    ]
    problem = f"neither passes nor fails by name: {', '.join(words_left)}"
    return error.with_changes(type(error), problem=problem, remedy="", settles=settles)


def _near_column(error: DataError, found: Candidates, request: Request) -> DataError:
    """The error about a column that is not there, with a column that has nearly its name or ends in
    it."""
    named = {part: {"--field": role} for role, c in request.named.items() for part in parts(c)}
    named |= {column: {"--by": ""} for column in request.by}
    missing = next((c for c in named if error.problem.startswith(f"no column {c!r}")), "")
    paths = [*found.columns]
    if not missing or missing in paths:
        return error
    near = [p for p in paths if leaf(p) == missing] or nearest(missing, paths)
    if not near or near[0] in (*request.named.values(), *request.by):
        return error
    ((option, role),) = named[missing].items()
    settles = [SuggestedFix({option: {role: path} if role else (path,)}) for path in near[:1]]
    return error.with_changes(type(error), remedy=did_you_mean(near), settles=settles)


def _refused(error: DataError, found: Sequence[Candidates]) -> DataError | None:
    """The refusal of preferences, of a summary, and of a file without outcomes."""
    if error.name not in (
        "no-task-column", "no-outcome-column", "ambiguous-column", "no-results", "bad-outcome",
    ):  # fmt: skip
        return None
    if preference := next((place.preference for place in found if place.preference), ""):
        return DataError(
            error.place,
            f"{preference} says which of two is better",
            "passk counts attempts of one model each, which pass or fail",
            name="preferences",
        )
    if found[0].summary and error.name != "no-results":
        column = found[0].summary
        what = "the rank of a row" if "rank" in words(column) else "an average of several attempts"
        problem = f"a summary: {column} is {what}"
        return DataError(error.place, problem, "give the file with the attempts", name="summary")
    answered = error.name in ("no-results", "bad-outcome")
    if answered or any("outcome" in place or "counts" in place for place in found):
        return None
    more = re.search(r" \([0-9,]+ more files? not read either\)", error.problem)
    problem = f"no column says whether an attempt passed{more[0] if more else ''}"
    if not found[0].weak:
        return DataError(error.place, problem, error.words, name="no-outcome-column")
    problem = f"no column is named like an outcome{more[0] if more else ''}"
    remedy = "if one of these says whether an attempt passed, name it"
    refusal = DataError(error.place, problem, remedy, name="no-outcome-column")
    refusal.candidates = replace(found[0].with_weak(), others={})
    return refusal


def _asked(
    error: DataError,
    found: Sequence[Candidates],
    trials: FixTrials,
    hidden: str,
    draft: Sequence[SuggestedFix],
) -> PasskError:
    """The error with its screen, and with the complete command if the names are certain.

    hidden : what to do if the index of a frame contains the task.  draft : writes a map.
    """
    role, request = _QUESTIONS[error.name], trials.request
    # The outcome of records that contain others may say nothing of them.
    best = next((place for place in found if role in place), found[0])
    if role and role not in best and not (role != "model" and "counts" in best):
        return trials.completed(error)
    likely = likely_places(found)
    command = _certain(best, request) if len(likely) == 1 else None
    settles: Sequence[SuggestedFix] = ()
    question = _question(error, best, request)
    if command is not None and command.options:
        command, counts = trials.followed(command, mixing=False)
        if not isinstance(counts, PasskError):
            why = size(counts) if trials.small else ""
            settles, question = [replace(command, why=why)], ""
        elif counts.name not in _QUESTIONS or counts.name == "missing-outcome":
            # What to drop or to mix is a question of its own, with one command per answer.
            ways = (settle for settle in counts.settles if not is_open(settle))
            settles = [replace(command.merged(way), why=way.why) for way in ways]
            settles = trials.completed(error.with_changes(type(error), settles=settles)).settles
            # The beginning of a long file does not say how many there are in all.
            question = counts.problem if trials.small else counts.problem.partition(" (")[0]
    if error.name == "bad-outcome":
        question, settles = error.words, [settle for settle in error.settles if is_open(settle)]
    own = error.with_changes(
        type(error), remedy=f"{question}{hidden}".removeprefix("; "),
        settles=[*settles, *draft],
    )  # fmt: skip
    others = {place.records: place.rows for place in likely if place.records != best.records}
    own.candidates = replace(best.with_weak(), others=others)
    return own


def _draft(folder: str) -> Iterator[SuggestedFix]:
    """The remedy that is offered with every screen: a map to edit, next to the data."""
    free = (os.path.join(folder, name) for name in _MAPS)
    for name in islice((name for name in free if not os.path.lexists(name)), 1):
        why = "writes a map with every candidate, to edit"
        yield SuggestedFix({"--init": name}, why, "describe")


def likely_places(found: Sequence[Candidates]) -> list[Candidates]:
    """The places that may hold the attempts: those with a task and an outcome, else the first."""
    both = []
    for each in found:
        models = {candidate.column for candidate in each.get("model", ())}
        tasks = {candidate.column for candidate in each.get("task", ())} - models
        both += [each] * bool(tasks and each.keys() & {"outcome", "counts"})
    return both or [*found[:1]]


def _question(error: DataError, found: Candidates, request: Request) -> str:
    """What is to be chosen, as a question."""
    open_roles = [
        role
        for role in ("task", "outcome")
        if found.certain(role) is None and role not in request.named
    ]
    return _ASKED.get(" ".join(open_roles), "")


def _certain(found: Candidates, request: Request) -> SuggestedFix | None:
    """The options that read a place, if the names of its task and outcome are certain."""
    options: dict[str, Any] = {}
    fields: dict[str, str] = {}
    if found.records and request.records is None:
        options["--records"] = found.records
    passed = "counts" if "counts" in found else "outcome"
    chosen = [found.certain(role) for role in ("task", passed)]
    for role, candidate in zip(("task", "outcome"), chosen, strict=True):
        if role in request.named:
            continue
        if candidate is None:
            return None
        if not candidate.unasked:
            fields |= candidate.option.options["--field"]
    models = [each for each in found.get("model", ()) if each.column not in fields.values()]
    if models and "model" not in request.named and not models[0].unasked:
        if len(models) > 1:
            return None
        fields["model"] = models[0].column
    return SuggestedFix(({"--field": fields} if fields else {}) | options)


def records_within(con: duckdb.DuckDBPyConnection, batch: Batch) -> DataError | None:
    """The error of a document that is one attempt and lists records with outcomes.

    It is more likely their summary.
    """
    source, column = batch.sources[0], batch.roles.outcome or ""
    if batch.layout.kind != "record":
        return None
    for found in find_candidates(con, [source], Request()):
        outcomes = [candidate.column for candidate in found.get("outcome", ())]
        if found.rows < 2 or "{" in found.records or not outcomes:
            continue
        choices = (
            SuggestedFix({"--records": found.records}, "reads these"),
            SuggestedFix({"--records": "."}, "reads the document itself"),
        )
        problem = f"one attempt by its own {column}, and its {found.records} are {found.rows:,}"
        problem += f" records with {outcomes[0]}"
        return DataError(source.name, problem, name="ambiguous-records", settles=choices)
    return None


def screen(
    found: Mapping[str, Sequence[Candidate]],
    spelled: Callable[[SuggestedFix], str],
    *,
    columns: bool = False,
    full: bool = False,
) -> Iterator[str]:
    """The candidates of each role as lines, with the option that chooses each.

    spelled : an option as the caller writes it.  columns : whether columns without a role are
        listed.  full : whether everything is shown; else at most 8 candidates per role and 20 lines
        of 80 characters, and the rest is counted.
    """
    rows, place = [], found if isinstance(found, Candidates) else None
    if place and (place.records or place.others):
        counts = {place.records: place.rows, **place.others}
        for at, (records, count) in enumerate(counts.items()):
            option = spelled(SuggestedFix({"--records": records or "."}))
            rows.append(("" if at else "records", option, f"{count:,} records", ""))
    rest = ": --full" if columns else ""
    for role, every in found.items():
        for at, candidate in enumerate(every if full else every[:_SHOWN]):
            ways = " or ".join(spelled(replace(way, why="")) for way in candidate.passing[:4])
            ways = f"; {ways}" if ways else ""
            option = spelled(candidate.option)
            rows.append((role if at == 0 else "", option, candidate.tally, ways))
        if not full and len(every) > _SHOWN:
            rows.append(("", f"and {len(every) - _SHOWN:,} more{rest}", "", ""))
    if columns and place:
        shown = {part for each in found.values() for c in each for part in parts(c.column)}
        others = [("column", path, t, "") for path, t in place.columns.items() if path not in shown]
        most = len(others) if full else max(_LINES - len(rows), 1)
        rows += others[:most]
        if len(others) > most:
            rows.append(("", f"and {len(others) - most:,} more columns{rest}", "", ""))
    if place and place.some:
        rows.append(("", f"values of {place.some}", "", ""))
    width = min(max((len(option) for _, option, *_ in rows), default=0), _WIDE)
    for role, option, tally, ways in rows:
        room = _COLUMNS - len(ways) - max(width, len(option)) - 13
        text = tally if full else shortened(tally, max(room, _SHORTEST))
        yield f"{role:8} {option:{width}}  {text}{ways}".rstrip()
