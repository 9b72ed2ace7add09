"""Files or a frame in, Counts out: find the files, understand their columns, count."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import temporary_folder
from passk_cli.errors import DataError, ParameterError
from passk_cli.outcomes.columns import columns_in, names_in
from passk_cli.outcomes.connection import connect
from passk_cli.outcomes.fields import Roles, assign, find
from passk_cli.outcomes.layout import Layout, object_bytes, respelled, sniff, typed_columns
from passk_cli.outcomes.sources import Source, expand, may_be_uneven, mentions, model_names
from passk_cli.outcomes.tables import LATE, Batch, Request, Statement, Tally, run
from passk_cli.text import decoded

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from passk_cli.outcomes.model import Counts

# Columns of most outputs, which a group must not share its name with.
RESERVED = frozenset(
    "model against metric k estimate se low high level interval population tasks n_min n_max note"
    " bias best value resample difference p verdict threshold".split()
)
MISSING = ("error", "fail", "drop")
DUPLICATES = ("error", "first", "last", "keep")
ATTEMPTS = ("score", "answer", "solution", "attempt", "line")
NORMALISE = ("none", "space", "python")


def read(
    data: Any,
    *,
    fields: Mapping[str, str] | None = None,
    threshold: float | None = None,
    missing: str = "error",
    duplicates: str = "error",
    skip_bad: bool = False,
    by: Sequence[str] = (),
    where: str = "",
    models: Sequence[str] = (),
    cluster: str | None = None,
    format: str | None = None,
    attempts: Sequence[str] = (),
    normalise: str = "none",
    similarity: float | None = None,
) -> Counts:
    """Counts of attempts and passes per model and task, from result files or a DataFrame.

    data : a path, a list of paths (globs, directories, "label=path", "-"), or a pandas DataFrame
        with one row per attempt or one row of counts per task.
    fields : role (task, outcome, attempt, model, n, c) → column, where the usual names mislead.
    threshold : an outcome that is a number other than 0 and 1 passes when ≥ threshold (−1e-9);
        math.inf when only the scores matter (best@k, worst@k, mean), so that none passes.
    missing : null outcomes are an "error", a "fail", or "drop"ped.
    duplicates : the same model, task and attempt twice is an "error"; or "first", "last", "keep".
    skip_bad : leave out lines that are not records, and count them.
    by : columns that split each model further.  where : a DuckDB expression on the columns.
    models : keep only these.  cluster : the column that says which tasks belong together.
    format : force a file format instead of recognising it.
    attempts : what is to be known of the attempts besides passing, for metrics that need it:
        "score" (best@k, worst@k, mean), "answer" (maj@k), "solution" (distinct@k), "attempt"
        (their order, for first@k).
    normalise : solutions are compared as their text ("none"), with single spaces ("space") or as
        "python" without comments, docstrings and layout.
    similarity : from what share of common runs of three tokens on solutions are one; in (0, 1].

    Errors: ParameterError for a request that makes no sense, DataError (`place: problem; remedy`)
    for a file that cannot be used.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": ["a", "a", "b"], "passed": [True, False, True]})
    >>> counts = read(frame)
    >>> counts.n.tolist(), counts.c.tolist()
    ([2, 1], [1, 1])
    """
    request = Request(
        fields or {},
        threshold,
        missing,
        duplicates,
        skip_bad,
        tuple(by),
        where,
        tuple(models),
        cluster,
        format,
        tuple(attempts),
        normalise,
        similarity,
    )
    return load(data, checked(request))


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """`read` for a ready Request; tolerant counts what is wrong in `facts` instead of refusing."""
    import duckdb

    with temporary_folder("passk-") as spool:
        sources = _sources(data, spool)
        con = connect((source.path for source in sources), spool)
        statement, tally = _tallied(con, data, sources, request)
        batches, names = statement.batches, statement.names
        from passk_cli.outcomes.deciding import decide

        if request.models:
            known = [name for (name,) in con.execute(statement.models()).fetchall()]
            unknown = [model for model in request.models if model not in known]
            if unknown:
                raise ParameterError(f"no model {unknown[0]!r}; there are {', '.join(known)}")
        counts = decide(batches, names, request, tally, tolerant)
        from passk_cli.outcomes.attempts import numbers_matter, with_attempts, with_numbering

        repeated = tally.repeated is not None
        try:
            numbered = bool(tally.cells["numbered"].any()) and not statement.counted
            if numbered and numbers_matter(counts, dense=bool(tally.cells["unrepeated"].all())):
                counts = with_numbering(con, statement, counts, repeated=repeated)
            if request.attempts:
                counts = with_attempts(con, statement, counts, repeated=repeated)
            return counts
        except duckdb.Error as error:
            from passk_cli.outcomes import diagnose

            raise diagnose.explain(error, batches, request) from None


def _tallied(
    con: duckdb.DuckDBPyConnection, data: Any, sources: Sequence[Source], request: Request
) -> tuple[Statement, Tally]:
    """The statement and its answer; once more when columns that matter appear further down."""
    import duckdb

    for whole in (False, True):
        batches, names = (
            _batches(con, sources, request, whole) if sources else _frame(con, data, request)
        )
        try:
            layouts = [b.layout for b in batches]
            statement = Statement(batches, names, request, columns_in(con, request.where, layouts))
            tally = _run(con, statement, batches)
            _require_even_rows(batches, request)
            return statement, tally
        except duckdb.Error as error:
            if LATE in str(error) and not whole:
                continue
            from passk_cli.outcomes import diagnose

            raise diagnose.explain(error, batches, request) from None
    raise AssertionError("a complete layout has no columns that appear further down")


def _run(con: duckdb.DuckDBPyConnection, statement: Statement, batches: Sequence[Batch]) -> Tally:
    import duckdb

    try:
        return run(con, statement)
    except duckdb.Error as error:
        if "maximum_object_size" not in str(error):
            raise
        # A record longer than the default 16 MB: once more with room for the longest possible.
        statement.object_bytes = max(object_bytes(b.sources) for b in batches)
        return run(con, statement)


def checked(request: Request) -> Request:
    """The same request; ParameterError when an option has a value it does not know."""
    for name, value, allowed in (
        ("missing", request.missing, MISSING),
        ("duplicates", request.duplicates, DUPLICATES),
        ("normalise", request.normalise, NORMALISE),
    ):
        if value not in allowed:
            raise ParameterError(f"{name}={value!r}; it is one of {', '.join(allowed)}")
    unknown = [role for role in request.attempts if role not in ATTEMPTS]
    if unknown:
        raise ParameterError(f"attempts={unknown[0]!r}; it is one of {', '.join(ATTEMPTS)}")
    for text in (*request.fields.values(), *request.by, request.where, *request.models,
                 request.cluster or ""):  # fmt: skip
        if decoded(text) != text:
            raise ParameterError(f"{decoded(text)}: this is not UTF-8, as all names in data are")
    reserved = [column for column in request.by if column in RESERVED]
    if reserved:
        raise ParameterError(
            f"--by {reserved[0]}: the output has a column of that name; rename it in the data"
        )
    if request.threshold is not None and math.isnan(request.threshold):
        raise ParameterError("the threshold must be a finite number")
    if request.similarity is not None and not 0 < request.similarity <= 1:
        raise ParameterError(f"--similarity {request.similarity:g}: it lies above 0, at most at 1")
    return request


def _sources(data: Any, spool: Path) -> list[Source]:
    """The files to read; none for a DataFrame."""
    if not isinstance(data, str | os.PathLike | list | tuple):
        return []
    sources = expand([data] if isinstance(data, str | os.PathLike) else data, spool)
    if not sources:
        raise ParameterError("no files given")
    return sources


def _batches(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request, whole: bool
) -> tuple[list[Batch], dict[str, str]]:
    """The files in groups that one SELECT can read, and the model name of each nameless file.

    whole : look for columns from end to end.
    """
    asked = (*request.by, *request.fields.values(), *names_in(con, request.where))
    asked += (request.cluster,) if request.cluster else ()
    names = model_names(sources)
    named: dict[str, str] = {}
    groups: dict[Any, Batch] = {}
    for source in sources:
        layout = sniff(con, source, request.format, whole=whole)
        if not layout.complete and _appear_later(asked, layout, source):
            layout = sniff(con, source, request.format, whole=True)
        roles = _roles(source.name, layout, request)
        _require_spelling(source, layout, roles)
        if roles.model is None or source.label is not None:
            named[source.path] = names[source.path]
        columns = tuple(name for name, _ in layout.columns) if layout.kind == "csv" else ()
        settings = tuple(c for c in layout.kinds if find(c, layout.kinds))
        key = (layout.kind, layout.packing, layout.delimiter, roles, columns or frozenset(settings))
        if key in groups:
            groups[key] = _joined(groups[key], layout, source)
        else:
            groups[key] = Batch(layout, roles, (source,))
    return list(groups.values()), named


def _appear_later(columns: Sequence[str], layout: Layout, source: Source) -> bool:
    """Whether one of these columns has not been seen so far, and its name is in the file."""
    unseen = [column for column in columns if find(column, layout.kinds) is None]
    return any(mentions(source, json.dumps(c.split(".")[0])[:-1].encode()) for c in unseen)


def _require_spelling(source: Source, layout: Layout, roles: Roles) -> None:
    """DataError for names that are JSON numbers and would be read in another spelling."""
    for column in (roles.task, roles.model) if layout.kind in ("json", "jsonl") else ():
        if column is not None and "number" in layout.kinds.get(column, ()):
            number = respelled(source, column)
            if number is not None:
                problem = f'"{column}" is the number {number}, which reads as {float(number)!r}'
                raise DataError(source.name, problem, "names are text: put it in quotes")


def _require_even_rows(batches: Sequence[Batch], request: Request) -> None:
    """DataError for a row of a delimited text that ends in a delimiter too many."""
    for batch in batches:
        layout = batch.layout
        for source in batch.sources if layout.kind == "csv" and not request.skip_bad else ():
            if may_be_uneven(source, layout.delimiter.encode(), len(layout.columns)):
                from passk_cli.outcomes import diagnose

                diagnose.require_even_rows(source, batch)


def _roles(place: str, layout: Layout, request: Request) -> Roles:
    return assign(place, layout.kinds, request.fields, request.attempts, request.scores_only)


def _joined(batch: Batch, layout: Layout, source: Source) -> Batch:
    """A batch with one more file; the kinds of values seen in its columns add up."""
    kinds = batch.layout.kinds
    columns = tuple((name, seen | kinds.get(name, set())) for name, seen in layout.columns)
    complete = batch.layout.complete and layout.complete
    joint = replace(batch.layout, columns=columns, complete=complete)
    return replace(batch, layout=joint, sources=(*batch.sources, source))


def _frame(
    con: duckdb.DuckDBPyConnection, frame: pd.DataFrame, request: Request
) -> tuple[list[Batch], dict[str, str]]:
    if not hasattr(frame, "columns"):
        raise ParameterError(f"cannot read a {type(frame).__name__}; give paths or a DataFrame")
    con.register("frame", frame)
    columns = typed_columns(con.execute("DESCRIBE SELECT * FROM frame").fetchall())
    layout = Layout("frame", "a DataFrame", columns)
    roles = _roles("DataFrame", layout, request)
    batch = Batch(layout, roles, (Source("<frame>", "DataFrame", None, "none"),))
    return [batch], {"<frame>": "model"} if roles.model is None else {}
