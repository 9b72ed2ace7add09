"""Files or a frame in, Counts out: find the files, understand their columns, count."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import no_room, temporary_folder
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.arguments import expand
from passk_cli.files.checks import (
    is_empty,
    require_one_header,
    require_results,
    require_sound,
    require_spelling,
)
from passk_cli.files.condition import columns_in, ordered
from passk_cli.files.database import connect
from passk_cli.files.layout import Batch
from passk_cli.files.look import Inputs, Spooled, look, unshared
from passk_cli.files.memory import READABLE, file_of_rows, rows_of
from passk_cli.files.request import BOUNDS, TABLES, Request
from passk_cli.files.roles import reached
from passk_cli.files.source import Source
from passk_cli.files.statement import LateColumn, Statement, Tally, run
from passk_cli.message import NOTE, Message, refused
from passk_cli.text import decoded

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.resume import Ledger
    from passk_cli.outcomes.counts import Counts

HIDDEN_FILES = Message(
    "hidden-files", NOTE, "skipped {count:file} in hidden folders: {files}", "name one to read it",
    "Folders whose names begin with a dot hold caches and checkpoints, which usually repeat"
    " results. Files in them are not read unless they are named on the command line.",
)  # fmt: skip
# What JSON and archives begin with; "" of a file that has not been looked at.
_OPENINGS = ("", "{", "[", "PK")
# What a file that holds nothing may begin with.
_EMPTY = ("", "{", "[")


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """Counts of attempts and passes per model and task, from files, rows or a table.

    data : as `passk_cli.read` takes it.
    tolerant : count what is wrong in `facts` instead of refusing it.
    Errors: ParameterError for a request that makes no sense, DataError (`place: problem; remedy`)
    for data that cannot be used.
    """
    if request.missing == BOUNDS:
        _require_passes(request)
    if len(request.threshold) > 1:
        if request.missing == "fail" and reached(request.lowest or 0.0, request.threshold[0]):
            raise ParameterError(
                f"--missing fail: a failure scores {request.lowest or 0.0:g}, which passes"
                f" --threshold {request.threshold[0]:g}; choose thresholds above it, or --missing"
                " drop",
                name="contradicting-options",
            )
        scores = replace(request, threshold=(math.inf,), attempts=request.attempts_of_scores)
        return load(data, scores, tolerant=tolerant).at_thresholds(request.threshold)
    hidden: list[str] = []
    ledger = None
    with ExitStack() as opened:
        spool = opened.enter_context(temporary_folder("passk-"))
        opened.enter_context(_readable(request))
        sources = _sources(data, spool, request, hidden)
        if request.resume is not None:
            from passk_cli.files.resume import ledger_of, require_files

            require_files(sources, request)
            ledger = opened.enter_context(ledger_of(request.resume, spool))
        try:
            counts = _counts(data, sources, request, spool, ledger, tolerant)
        except DataError:
            if not any(source.partial for source in sources):
                raise
            from passk_cli.files.spark.addresses import whole

            fetched = whole(sources, request.spark_master)
            if fetched is None:
                raise
            # The same error, which names the line that a cluster does not know.
            counts = _counts(data, fetched, request, spool, ledger, tolerant)
    if not hidden:
        return counts
    return counts.saying(HIDDEN_FILES(count=len(hidden), files=hidden))


def _counts(
    data: Any,
    sources: Sequence[Source],
    request: Request,
    spool: Path,
    ledger: Ledger | None,
    tolerant: bool,
) -> Counts:
    """The counts of files that were found, or of a table in memory.

    spool : a folder for temporary files.  ledger : as of `Inputs`.
    """
    import duckdb

    from passk_cli.files.policies import decide

    states = _states(sources)
    skip_empty = request.skip_bad or tolerant
    attempts, tables = _recognised(sources, request, spool, skip_empty=skip_empty)
    paths = [*(source.path for source in tables), *(b.layout.spool for b in attempts.batches)]
    paths += [request.conversion.file] if request.conversion else []
    con = connect(paths, spool, [] if ledger is None else [ledger.tables])
    inputs = Inputs(data, sources, tables, attempts, ledger)
    statement, tally = _tallied(con, inputs, request)
    if request.models or request.exclude_models:
        models = [name for (name,) in con.execute(statement.models()).fetchall()]
        exact = request.naming(models)
        exact.require_models(models)
        if exact.patterns != request.patterns:
            request = exact
            statement, tally = _tallied(con, inputs, request)
    pooled = None
    # Nearly always models have names, so that this comes late.
    if not all(batch.roles.model for batch in statement.batches):
        from passk_cli.files.pooled import pooled_models

        pooled = pooled_models(con, statement, tally)
    if pooled is not None and not tolerant:
        raise pooled
    counts = decide(statement.batches, attempts, request, tally, tolerant)
    if pooled is not None:
        counts = counts.saying(refused(pooled))
    try:
        if request.conversion is None:
            counts = _with_attempts(con, statement, tally, counts)
        else:
            from passk_cli.files.conversion import convert

            convert(con, statement, tally)
    except duckdb.Error as error:
        from passk_cli.files.explain import explain

        raise explain(error, statement.batches, request) from None
    _require_unchanged(sources, states, request)
    if ledger is None:
        return counts
    # What it no longer needs.
    ledger.tidy()
    return counts.saying(*statement.messages)


@contextmanager
def _readable(request: Request) -> Iterator[None]:
    """Refusals of the system while files are read, as errors that the user can act on."""
    try:
        yield
    except OSError as error:
        ours = request.conversion is not None and error.filename == request.conversion.file
        if ours or error.strerror is None:
            raise
        full = no_room(error, "temporary files")
        place = decoded(error.filename or "files")
        problem = f"cannot be read ({error.strerror})"
        raise full or DataError(
            place, problem, "is it there, and does nothing change it?", name="unreadable-file"
        ) from None


def _states(sources: Sequence[Source]) -> list[tuple[int, int] | None]:
    """Size and time of the last change of each file; None where it is gone."""
    states: list[tuple[int, int] | None] = []
    for source in sources:
        try:
            status = os.stat(source.path)
        except OSError:
            states.append(None)
        else:
            states.append((status.st_size, status.st_mtime_ns))
    return states


def _require_unchanged(
    sources: Sequence[Source], before: Sequence[tuple[int, int] | None], request: Request
) -> None:
    """DataError for a file that is another one than when reading began: its numbers would mix."""
    states = zip(sources, before, _states(sources), strict=True)
    others = [source for source, old, new in states if source.shared is None and old != new]
    if not others and any(source.shared is not None for source in sources):
        from passk_cli.files.spark.addresses import changed

        others = [source for source in [changed(sources, request.spark_master)] if source]
    if others:
        raise DataError(
            others[0].name,
            "changed while it was read",
            "read it again when it is complete",
            name="changed-file",
        )


def _require_passes(request: Request) -> None:
    """ParameterError where passing is not all that is asked of a missing attempt."""
    if len(request.threshold) > 1:
        raise ParameterError(
            f"--missing {BOUNDS}: a missing score passes every threshold or none; give one"
            " --threshold",
            name="no-bounds",
        )
    if request.attempts or request.scores_only:
        role = next(iter(request.attempts), "score")
        what = "place in the order" if role in ("attempt", "line") else role
        raise ParameterError(
            f"--missing {BOUNDS}: a missing attempt could pass or fail, but its {what} is unknown;"
            " use metrics of passes, as pass@k and pass^k, or --missing fail or drop",
            name="no-bounds",
        )


def _recognised(
    sources: Sequence[Source], request: Request, folder: Path, *, skip_empty: bool
) -> tuple[Spooled, list[Source]]:
    """The attempts that formats find in these files, and the files that are tables as they are.

    folder : where the attempts that are found are written.
    skip_empty : whether empty files among others are left out instead of refused.
    Errors: ParameterError for a format that does not exist; DataError for what cannot be used.
    """
    # Importing all formats takes milliseconds, which a table (CSV, Parquet) should not wait for.
    forced = request.format
    if forced in TABLES or (
        (forced, request.records) == (None, None)
        and all(source.opening not in _OPENINGS for source in sources)
    ):
        empty = _empty(sources, skip_empty)
        return Spooled(empty=[*empty.values()]), [s for s in sources if s.path not in empty]
    from passk_cli.files.spool import recognised, spooled

    files, tables = recognised(sources, request)
    # What repeats another file is gone by now, empty or not.
    empty = _empty([*(file.source for file in files), *tables], skip_empty)
    files = [file for file in files if file.source.path not in empty]
    tables = [source for source in tables if source.path not in empty]
    far = [file for file in files if file.source.shared is not None]
    attempts = spooled([file for file in files if file not in far], request, folder)
    for file in far:
        problem = f"in the format of {file.format.name}"
        attempts.pass_over(file.source, unshared(file.source, problem))
    attempts.empty += empty.values()
    return attempts, tables


def _empty(sources: Sequence[Source], skip: bool) -> dict[str, str]:
    """Path → name of the empty files; none where there are no others.

    Errors: DataError for empty files that are not to be skipped.
    """
    empty = [source for source in sources if source.opening in _EMPTY and is_empty(source)]
    if len(empty) == len(sources):
        return {}
    if not skip:
        require_results(empty)
    return {source.path: source.name for source in empty}


def _with_attempts(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally, counts: Counts
) -> Counts:
    """The counts with what has to be known of their attempts, where that is anything."""
    from passk_cli.files.policies import numbers_matter

    request, repeated = statement.request, bool(tally.repeats)
    numbered = bool(tally.cells["numbered"].any()) and not statement.has_counts
    dense = bool(tally.cells["unrepeated"].all())
    numbering = numbered and numbers_matter(counts, dense=dense)
    if not (numbering or request.attempts or request.order):
        return counts
    from passk_cli.files.attempts import with_attempts, with_numbering, with_order

    if numbering or request.order:
        statement.require_numbers()
    if numbering:
        counts = with_numbering(con, statement, counts, repeated=repeated)
    if request.attempts:
        counts = with_attempts(con, statement, counts, repeated=repeated)
    if request.order:
        counts = with_order(con, statement, counts, repeated=repeated)
    return counts


def _tallied(
    con: duckdb.DuckDBPyConnection, inputs: Inputs, request: Request
) -> tuple[Statement, Tally]:
    """The statement and its answer; once more when columns that matter appear further down."""
    import duckdb

    for whole in (False, True):
        batches, names = look(con, inputs, request, whole=whole)
        try:
            layouts = [b.layout for b in batches]
            where = columns_in(con, request.where, layouts)
            statement = _statement(con, batches, names, request, where, inputs.ledger)
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
            for batch in batches:
                require_spelling(batch, tally)
                require_one_header(batch, tally)
                if inputs.ledger is None:
                    require_sound(batch.layout, batch.sources, request)
            return statement, tally
        except LateColumn:
            continue
        except duckdb.Error as error:
            from passk_cli.files.explain import explain

            raise explain(error, batches, request) from None
    raise AssertionError("a complete layout has no columns that appear further down")


def _statement(
    con: duckdb.DuckDBPyConnection,
    batches: Sequence[Batch],
    names: Mapping[str, str],
    request: Request,
    where: Sequence[str],
    ledger: Ledger | None,
) -> Statement:
    """The statement, for the engine that groups the rows, or for counts of files that are kept."""
    if ledger is not None:
        from passk_cli.files.resume import ResumedStatement

        return ResumedStatement(con, batches, names, request, where, ledger)
    if request.engine == "duckdb":
        return Statement(batches, names, request, where)
    from passk_cli.files.spark.statement import SparkStatement

    return SparkStatement(con, batches, names, request, where)


def _sources(data: Any, spool: Path, request: Request, hidden: list[str]) -> list[Source]:
    """The files to read, rows of Python's among them; none for a table.

    hidden : as of `arguments.expand`.
    """
    if isinstance(data, str | os.PathLike):
        data = [data]
    if not isinstance(data, list | tuple | Mapping):
        return []
    if not data:
        raise ParameterError("no files given", name="no-files")
    if isinstance(data, Mapping):
        return [file_of_rows(rows_of(data), spool / "rows.jsonl")]
    if any(isinstance(item, Mapping) for item in data):
        return [file_of_rows(data, spool / "rows.jsonl")]
    wrong = next((item for item in data if not isinstance(item, str | os.PathLike)), None)
    if wrong is not None:
        raise ParameterError(
            f"cannot read a list of {type(wrong).__name__}; {READABLE}", name="wrong-data"
        )
    if request.engine == "spark":
        from passk_cli.files.spark.addresses import gathered

        return gathered(data, spool, request.spark_master, hidden)
    return expand(data, spool, hidden)
