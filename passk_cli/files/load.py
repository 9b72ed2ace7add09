"""Files or a frame in, Counts out.

The way of a row, each hop a function: `load` → `sources_of` (find the files) → `_read` →
`_counts` → `_recognised` (which files are of a harness, which are tables) → `_tallied`: `look`
(how rows are laid out, what columns mean), `Statement`, `run` (one SQL statement) →
`policies.decide` (what is missing or repeated; Counts) → `_with_attempts` (what else is to be known
of attempts).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from passk_cli.cleanup import no_room, temporary_folder
from passk_cli.errors import DataError, ParameterError, not_named
from passk_cli.files.checks import (
    CELLS,
    DISTINGUISHING,
    CheckContext,
    Finding,
    attempt_number,
    error_of,
    findings,
    warning_of,
)
from passk_cli.files.counting.checks import require_as_written, require_sound
from passk_cli.files.counting.diagnosis import explain
from passk_cli.files.counting.policies import decide
from passk_cli.files.counting.sample import of_cells, surveyed
from passk_cli.files.counting.statement import LateColumn, Statement, Tally, run
from passk_cli.files.database import connect
from passk_cli.files.mapping import mapped
from passk_cli.files.reading.condition import columns_in, ordered
from passk_cli.files.reading.look import Inputs, Spooled, first_columns, look
from passk_cli.files.reading.strays import is_empty
from passk_cli.files.reading.survey import Survey
from passk_cli.files.request import BOUNDS, COUNTED, TABLES, Request
from passk_cli.files.roles import BELOW, REACHED, TRUTH, UNITS, find, reached
from passk_cli.files.roles import words as words_of
from passk_cli.files.sources.arguments import expand
from passk_cli.files.sources.memory import (
    READABLE,
    file_of_rows,
    frames_of,
    rows_of,
    rows_of_arrays,
    tables_of,
)
from passk_cli.files.sources.source import Source, text_kind
from passk_cli.files.vocabulary import CORRECT_WORDS
from passk_cli.message import NOTE, Message, Said, refused
from passk_cli.near import meant
from passk_cli.settle import Blank, Given, Settle
from passk_cli.text import decoded, first_few, plural

if TYPE_CHECKING:
    from passk_cli.files.reading.spool import Recognised, Unpacked
    from passk_cli.outcomes.counts import Counts

HIDDEN_FILES = Message(
    "hidden-files", NOTE, "skipped {count:file} in hidden folders: {files}", "name one to read it",
    "Folders whose names begin with a dot hold caches and checkpoints, which usually repeat"
    " results. Files in them are not read unless they are named on the command line.",
)  # fmt: skip
NAMED_OUTCOMES = Message(
    "named-outcomes", NOTE, "counted as passes: {passes}; as failures: {fails}", "",
    "--passes names the outcomes that pass, and every other word fails; a --threshold judges the"
    " numbers. How many outcomes there are of each word shows whether one was forgotten.",
)  # fmt: skip
IDLE_THRESHOLD = Message(
    "idle-threshold", NOTE, "no outcome is a number, so the threshold judges none", "",
    "--threshold says from where on a score passes. Outcomes of true and false, or of words, pass"
    " and fail as they say, and counts of passes were judged before.",
)  # fmt: skip
# Files without an outcome in a folder of results that are looked at again.
_FEW_FOREIGN = 3
# What JSON, archives and Parquet begin with; "" of a file that has not been looked at.
_OPENINGS = ("", "{", "[", "PK", "PAR1")
# What a file that holds nothing may begin with.
_EMPTY = ("", "{", "[")


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """Counts of attempts and passes per model and task, from files, rows or a table.

    data : as `passk_cli.read` takes it.
    tolerant : count what is wrong in `facts` instead of refusing it.
    Errors: ParameterError for a request that makes no sense, DataError (`place: problem; remedy`)
    for data that cannot be used.
    """
    if request.truth_from is not None:
        from passk_cli.files.attempts.labels import with_errors

        return with_errors(load, data, request, tolerant=tolerant)
    with temporary_folder("passk-") as folder:
        try:
            hidden: list[str] = []
            found = sources_of(data, folder, request, hidden)
            sources, request, said = mapped(data, found, request, first_columns)
            if hidden:
                said.append(HIDDEN_FILES(count=len(hidden), files=hidden))
            if request.labelled and TRUTH not in request.attempts:
                request = replace(request, attempts=(*request.attempts, TRUTH))
            if request.missing == BOUNDS:
                _require_passes(request)
            scores = len(request.threshold) > 1
            asked = _of_scores(request) if scores else request
            counts = _read(data, sources, asked, folder, tolerant).saying(*said)
            return counts.at_thresholds(request.threshold) if scores else counts
        except OSError as error:
            # Of the system while files are read, as an error that the user can act on.
            ours = request.conversion is not None and error.filename == request.conversion.file
            if ours or error.strerror is None:
                raise
            raise no_room(error, "temporary files") or DataError(
                decoded(error.filename or "files"),
                f"cannot be read ({error.strerror})",
                "is it there, and does nothing change it?",
                name="unreadable-file",
            ) from None


def _read(
    data: Any, sources: Sequence[Source], request: Request, folder: Path, tolerant: bool
) -> Counts:
    """Count the files; an error comes with the columns that can be chosen.

    folder : for temporary files.
    """
    files = all(source.frame is None for source in sources)
    paths = [source.path for source in sources if files]
    paths += [request.conversion.file] if request.conversion else []
    unpacked: Unpacked = {}

    def again(other: Request) -> Counts:
        # With tables of its own, but no database: to make one takes as long as a small file.
        with con.cursor() as own:
            return _counts(own, sources, other, folder, unpacked, tolerant=False)

    if request.truth is not None:
        from passk_cli.files.attempts.labels import write_labels

        write_labels(request, data, folder, load)
        fields = {role: name for role, name in request.fields.items() if role != TRUTH}
        request = replace(request, fields=fields)
    con = connect(paths, folder, [folder])
    if request.normalise != "none":
        from passk_cli.files.attempts.solutions import register

        # Here: what a cursor makes known goes with it, and the database would still call it.
        register(con, request.normalise)
    # Closed at once: whoever keeps an error, as a notebook does, keeps no threads of the database.
    with con:
        try:
            counts = _counts(con, sources, request, folder, unpacked, tolerant=tolerant)
            losses = counts.facts.losses
            rows = map(losses.of, losses.models) if losses and files else ()
            # Who names the outcome means the one that is missing.
            named = request.outcome is not None or "outcome" in request.fields
            none_left = not named and any(lost == made for lost, made in rows)
            if losses and files and (tolerant or none_left):
                from passk_cli.files.reading.asking import asking

                missing = f"{plural(counts.facts.missing, 'attempt')} without an outcome"
                error = DataError(sources[0].name, missing, name="missing-outcome")
                deeper = asking(error, con, sources, request, again, data)
                counts = counts if deeper is error else counts.saying(refused(deeper))
        except DataError as error:
            if not files and sources[0].label is not None:
                # Of frames by model each has an error of its own.
                raise
            from passk_cli.files.reading.asking import asking

            raise asking(error, con, sources, request, again, data) from None
    return counts


def named_outcomes(
    words: Sequence[tuple[str, int, int | None]], request: Request, place: str
) -> Said:
    """What counts as a pass and a failure, where --passes or --fails name words.

    words : outcome, how often, its verdict.
    Errors: DataError for numbers that fail because --passes names only words, and no threshold
    judges them.
    """
    named = {*request.passes, *request.fails}
    numbers = [w for w, _, verdict in words if verdict == 0 and text_kind(w) == "number"]
    unnamed = not any(text_kind(word) == "number" for word in named)
    if request.passes and request.bar is None and numbers and unnamed:
        problem = f"numbers fail that no word names ({first_few(numbers)})"
        says = Settle({"--threshold": Blank("X")}, "says from where on a score passes")
        raise DataError(place, problem, name="unjudged-numbers", settles=[says])
    return NAMED_OUTCOMES(
        passes=[f"{word} ({n:,})" for word, n, verdict in words if verdict == 1] or "none",
        fails=[f"{word} ({n:,})" for word, n, verdict in words if verdict == 0] or "none",
    )


def require_matched(
    words: Sequence[tuple[str, int, int | None]], request: Request, place: str
) -> None:
    """Refuse words of --passes, or of --fails, that no outcome has, unless the other option names
    every outcome.  words : as of `named_outcomes`."""
    values = {word.strip().lower() for word, *_ in words if word is not None}
    options = ("--passes", request.passes), ("--fails", request.fails)
    named = {option: {word.strip().lower() for word in given} for option, given in options}
    for (option, given), (other, _) in zip(options, reversed(options), strict=True):
        if given and not (values & named[option] or values <= named[other]):
            shown = [f"{word} ({times:,})" for word, times, _ in words if word is not None]
            problem = f"no outcome is {' or '.join(given)}; the outcomes are {first_few(shown)}"
            remedy = f"give {option} some of these"
            raise DataError(place, problem, remedy, name="unmatched-words")


def _require_one_name(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    foreign: Sequence[DataError],
    request: Request,
) -> None:
    """DataError for a file of a folder with a task and a verdict of another name than the others.

    It would be passed over as one without results.
    """
    unread = [e for e in foreign if e.name == "no-outcome-column"][:_FEW_FOREIGN]
    for error in unread:
        from passk_cli.files.reading.candidates import find_candidates

        own = [source for source in sources if source.name == str(error.place)]
        for place in find_candidates(con, own, request) if own else ():
            verdicts = [c for c in place.get("outcome", ()) if words_of(c.column) & CORRECT_WORDS]
            if place.certain("task") and any(not each.passing for each in verdicts):
                raise error.but(DataError, remedy="other files have an outcome's usual name")


def _counts(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    folder: Path,
    unpacked: Unpacked,
    *,
    tolerant: bool,
) -> Counts:
    """The way of a row: recognise, look and count, decide, and what is to be known of attempts.

    folder : for temporary files.  unpacked : as of `spool.recognised`.
    """
    states = [*map(_state, sources)]
    attempts, tables = _recognised(
        sources, request, folder, unpacked, skip_empty=request.skip_bad or tolerant
    )
    inputs = Inputs(sources, tables, attempts)
    statement, tally = _tallied(con, inputs, request)
    if request.models or request.exclude_models:
        exact = request.naming([name for (name,) in con.execute(statement.models()).fetchall()])
        if exact is not request:
            request = exact
            statement, tally = _tallied(con, inputs, request)

    statement, tally, context, found = _checked(con, inputs, statement, tally, folder)
    request = statement.request
    named_words = bool(request.passes or request.fails) and not request.all_of
    words: list[tuple[str, int, int | None]] = []
    if named_words and not (statement.has_counts or request.unjudged):
        words = con.execute(statement.words()).fetchall()
        # With labels, the words may be those of the labels.
        if not request.labelled:
            require_matched(words, request, statement.batches[0].sources[0].name)
    errors = [error_of(finding, statement.batches) for finding in found if finding.certain]
    if errors and not tolerant:
        raise errors[0]
    if not (tolerant or "outcome" in request.named):
        _require_one_name(con, sources, [*attempts.refused, *attempts.foreign], request)
    named = _near_names(con, statement) if request.chosen_names else {}
    if request.only_tasks and all(named["--only-task", name] for name in request.only_tasks):
        first = request.only_tasks[0]
        raise not_named("--only-task", first, named["--only-task", first])
    counts = decide(con, statement, attempts, tally, tolerant)
    alias = {new: old for new, old in request.alias.items() if not named["--alias", new]}
    counts = replace(counts, facts=replace(counts.facts, named=named, alias=alias))
    if request.sampled and not (statement.has_counts or tally.repeats.attempts):
        from passk_cli.files.counting.sampled import sampled_rows

        settings = {str(finding.fields.get("column", "")) for finding in found}
        facts = replace(counts.facts, sampled=sampled_rows(context, statement, settings))
        counts = replace(counts, facts=facts)
    if request.price:
        from passk_cli.files.attempts.prices import require_all

        require_all(request, [model for model, *_ in counts.series])
    said = [warning_of(finding) for finding in found if not finding.certain]
    if words:
        said.append(named_outcomes(words, request, statement.batches[0].sources[0].name))
    if request.threshold and statement.has_counts:
        said.append(IDLE_THRESHOLD())
    elif request.threshold and not request.unjudged:
        number = f"TRY_CAST(outcome AS DOUBLE) IS NOT NULL OR outcome IN ('{REACHED}', '{BELOW}')"
        scored = statement.matching(number)
        if not con.execute(f"{scored} SELECT 1 FROM matching LIMIT 1").fetchall():
            said.append(IDLE_THRESHOLD())
    counts = counts.saying(*map(refused, errors), *said)
    if tolerant:
        from passk_cli.files.choices import choices

        columns = tuple(choices(con, sources, context, found))
        counts = replace(counts, facts=replace(counts.facts, columns=columns))
    try:
        if request.conversion is None:
            counts = _with_attempts(con, statement, tally, counts, folder)
        else:
            from passk_cli.files.conversion import convert

            convert(con, statement, tally)
    except duckdb.Error as error:
        raise explain(con, error, statement.batches, request) from None
    changed = [s for s, before in zip(sources, states, strict=True) if _state(s) != before]
    if changed:
        # Its numbers would mix.
        problem = "changed while it was read"
        remedy = "read it again when it is complete"
        raise DataError(changed[0].name, problem, remedy, name="changed-file")
    return counts


def _near_names(con: duckdb.DuckDBPyConnection, statement: Statement) -> dict[tuple[str, str], str]:
    """Option and name of each model and task that an option names → what is near it; "" for a name
    that is in the data."""
    rows = con.execute(statement.there()).fetchall()
    models, tasks = ({name for name in names if name} for names in zip(*rows, strict=True))
    asked = [(o, n, models if o == "--alias" else tasks) for o, n in statement.request.chosen_names]
    return {(o, n): "" if n in names else meant(n, sorted(names)) for o, n, names in asked}


def _checked(
    con: duckdb.DuckDBPyConnection, inputs: Inputs, statement: Statement, tally: Tally, folder: Path
) -> tuple[Statement, Tally, CheckContext, list[Finding]]:
    """The statement and its answer, once more if a column numbers the attempts, and what checks
    find in them.

    folder : for samples.  Errors: DataError.
    """
    try:
        context = _context(con, statement, tally, folder)
        if column := attempt_number(context):
            # A table without it among others has no numbers.
            fields = {**statement.request.fields, "attempt": column}
            statement, tally = _tallied(con, inputs, replace(statement.request, fields=fields))
            context = _context(con, statement, tally, folder)
        found = list(findings(context))
    except duckdb.Error as error:
        raise explain(con, error, statement.batches, statement.request) from None
    if tally.repeats.attempts:
        # Attempts that repeat speak for what tells them apart.
        found = [replace(f, certain=f.certain or f.message in DISTINGUISHING) for f in found]
    return statement, tally, context, found


def _context(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally, folder: Path
) -> CheckContext:
    """What checks of a reading see.  folder : for samples."""
    request, batches, tasks = statement.request, statement.batches, tally.every["task"]
    columns = {"file", *(column for batch in batches for column in batch.layout.kinds)}
    for name in request.pool:
        if find(name, {column: set() for column in columns}) is None:
            question = meant(name, sorted(columns - {"file"}))
            problem = f"no such column; {question}"
            raise ParameterError(Given("--pool", name), problem, name="no-such-column")
    one_in = max(1, len(tasks.names) // CELLS)

    def refined(columns: Sequence[str]) -> Survey:
        return of_cells(con, statement, columns, one_in)

    return CheckContext(surveyed(con, statement, folder), batches, request, tally.every, refined)


def _state(source: Source) -> tuple[int, int] | None:
    """Size and time of the last change of a file that is here; None where it is gone."""
    with suppress(OSError):
        status = os.stat(source.path)
        return status.st_size, status.st_mtime_ns
    return None


def _of_scores(request: Request) -> Request:
    """The request for the scores alone, which several thresholds judge afterwards."""
    lowest, threshold = request.lowest or 0.0, request.threshold[0]
    if request.missing == "fail" and reached(lowest, threshold):
        raise ParameterError(
            Given("--missing", "fail"),
            f"a failure scores {lowest:g}, which passes at {threshold:g};"
            " choose thresholds above it", name="contradicting-options",
            settles=[Settle({"--missing": "drop"}, "leaves missing outcomes out")],
        )  # fmt: skip
    if {*request.attempts} - {"score"}:
        raise ParameterError(
            "several thresholds go with metrics of passes or scores; choose one",
            name="contradicting-options",
        )
    return replace(request, threshold=(math.inf,), attempts=("score",))


def _require_passes(request: Request) -> None:
    """ParameterError where passing is not all that is asked of a missing attempt."""
    problem = ""
    # What an attempt took is known whether it passes or fails.
    others = [role for role in request.attempts if role not in UNITS]
    if len(request.threshold) > 1:
        problem = "a missing score passes every threshold or none; give one threshold"
    elif others or request.scores_only:
        role = next(iter(others), "score")
        place = "place in the order"
        what = {"attempt": place, "line": place, TRUTH: "label"}.get(role, role)
        problem = f"a missing attempt could pass or fail, but its {what} is unknown"
        # Labels correct metrics of passes; there the metric is not what is wrong.
        problem += "; use metrics of passes, as pass@k and pass^k" * (not request.labelled)
    if problem:
        raise ParameterError(Given("--missing", BOUNDS), problem, name="no-bounds", settles=COUNTED)


def _recognised(
    sources: Sequence[Source],
    request: Request,
    folder: Path,
    unpacked: Unpacked,
    *,
    skip_empty: bool,
) -> tuple[Spooled, list[Source]]:
    """The attempts that formats find in these files, and the files that are tables as they are.

    folder : where the attempts that are found are written.
    skip_empty : whether empty files among others are left out instead of refused.
    Errors: ParameterError for a format that does not exist; DataError for what cannot be used.
    """
    files: list[Recognised] = []
    tables = [*sources]
    if any(source.frame is not None for source in sources):
        return Spooled(), tables
    # Importing all formats takes milliseconds, which a delimited table should not wait for.
    by_formats = request.format not in TABLES and bool(
        request.format or request.records or {*_OPENINGS} & {s.opening for s in sources}
    )
    if by_formats:
        from passk_cli.files.reading.spool import recognised, spooled

        # What repeats another file is gone by now, empty or not.
        files, tables = recognised(sources, request, unpacked)
    every = [*(file.source for file in files), *tables]
    empty = [source for source in every if source.opening in _EMPTY and is_empty(source)]
    if len(empty) == len(every):
        empty = []
    if empty and not skip_empty:
        # A run that ended early lost its results.
        more = f", as {plural(len(empty) - 1, 'more file')}" if len(empty) > 1 else ""
        without = Settle({"--skip-bad": True}, "leaves empty files out")
        raise DataError(
            empty[0].name, f"the file is empty{more}", "run it again", name="no-results",
            settles=[without],
        )  # fmt: skip
    tables = [source for source in tables if source not in empty]
    attempts = Spooled()
    if by_formats:
        files = [file for file in files if file.source not in empty]
        attempts = spooled(files, request, folder, unpacked)
    attempts.empty += [source.name for source in empty]
    return attempts, tables


def _with_attempts(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally, counts: Counts, folder: Path
) -> Counts:
    """The counts with what has to be known of their attempts, where that is anything.

    folder : with labels that stand apart.
    """
    request = statement.request
    # Numbers may tell that sampling stopped because of outcomes where they have holes, and where a
    # model's n varies and none of its tasks has two passes.
    numbering = bool(tally.cells["numbered"].any()) and not statement.has_counts
    if numbering and tally.cells["unrepeated"].all():
        numbering = any(
            int(counts.n[rows].min()) < int(counts.n[rows].max()) and int(counts.c[rows].max()) == 1
            for rows in map(counts.rows_of, range(len(counts.series)))
        )
    if not (numbering or request.attempts or request.order or request.labelling is not None):
        return counts
    from passk_cli.files.attempts.query import (
        AttemptQuery,
        with_attempts,
        with_numbering,
        with_order,
    )

    query = AttemptQuery(con, statement, tally.keep)
    if numbering:
        counts = with_numbering(query, counts)
    if request.truth is not None:
        from passk_cli.files.attempts.labels import join_labels

        counts = counts.saying(*join_labels(query, folder))
    if request.attempts:
        counts = with_attempts(query, counts)
        if not UNITS.keys().isdisjoint(request.attempts):
            from passk_cli.files.attempts.spending import settled

            counts = settled(counts, query)
    if request.order:
        counts = with_order(query, counts)
    if request.labelling is not None:
        from passk_cli.files.attempts.labels import unlabelled

        facts = replace(counts.facts, unlabelled=unlabelled(query, counts))
        counts = replace(counts, facts=facts)
    return counts


def _tallied(
    con: duckdb.DuckDBPyConnection, inputs: Inputs, request: Request
) -> tuple[Statement, Tally]:
    """The statement and its answer; once more when columns that matter appear further down."""
    for whole in (False, True):
        batches, names = look(con, inputs, request, whole=whole)
        try:
            where = columns_in(con, request.where, batches) if request.where else []
            statement = Statement(batches, names, request, where)
            if request.where:
                for sql in statement.compared(ordered(con, request.where)):
                    con.execute(sql)
            statement, tally = run(con, statement)
            # Records without an outcome or a number may have it in a column not seen so far.
            numbered, attempts = tally.every["numbered"], tally.every["attempts"]
            empty = ["outcome"] * bool(tally.every["missing"].any())
            empty += ["attempt"] * bool(numbered.any() and (numbered < attempts).any())
            queries = (sql for role in empty for sql in statement.renamed(role))
            if any(con.execute(sql).fetchone() is not None for sql in queries):
                continue
        except LateColumn:
            continue
        except duckdb.Error as error:
            raise explain(con, error, batches, request) from None
        for batch in batches:
            require_as_written(batch, tally)
            require_sound(batch.layout, batch.sources, request)
        return statement, tally
    raise AssertionError("a complete layout has no columns that appear further down")


def sources_of(data: Any, folder: Path, request: Request, hidden: list[str]) -> list[Source]:
    """The sources to read: files, rows of Python's among them, or tables in memory.

    hidden : as of `arguments.expand`.
    """
    if isinstance(data, str | os.PathLike):
        data = [data]
    if rows := [*rows_of_arrays(data)]:
        return [file_of_rows(rows, folder / "rows.jsonl")]
    if not isinstance(data, list | tuple | Mapping) or frames_of(data):
        return tables_of(data)
    if not data:
        raise ParameterError("no files given", name="no-files")
    if isinstance(data, Mapping):
        return [file_of_rows(rows_of(data), folder / "rows.jsonl")]
    if any(isinstance(item, Mapping) for item in data):
        return [file_of_rows(data, folder / "rows.jsonl")]
    wrong = next((item for item in data if not isinstance(item, str | os.PathLike)), None)
    if wrong is not None:
        problem = f"a list of {type(wrong).__name__} cannot be read"
        raise DataError("data", problem, READABLE, name="wrong-data")
    return expand(data, folder, hidden)
