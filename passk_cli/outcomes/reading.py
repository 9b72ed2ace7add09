"""Files or a frame in, Counts out: find, understand, count, decide, or say why not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.outcomes.fields import assign, find
from passk_cli.outcomes.layout import Layout, object_bytes, sniff, typed_columns
from passk_cli.outcomes.model import Counts, InputFacts, ReadFacts
from passk_cli.outcomes.sources import Source, expand, model_names
from passk_cli.outcomes.tables import Batch, Request, Statement, Tally, columns_in, run

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

MISSING = ("error", "fail", "drop")
DUPLICATES = ("error", "first", "last", "keep")


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
) -> Counts:
    """Counts of attempts and passes per model and task, from result files or a DataFrame.

    data : a path, a list of paths (globs, directories, "label=path", "-"), or a pandas DataFrame
        with one row per attempt or one row of counts per task.
    fields : role (task, outcome, attempt, model, n, c) → column, where the usual names mislead.
    threshold : an outcome that is a number other than 0 and 1 passes when ≥ threshold (−1e-9).
    missing : null outcomes are an "error", a "fail", or "drop"ped.
    duplicates : the same model, task and attempt twice is an "error"; or "first", "last", "keep".
    skip_bad : leave out lines that are not records, and count them.
    by : columns that split each model further.  where : a DuckDB expression on the columns.
    models : keep only these.  cluster : the column that says which tasks belong together.
    format : force a file format instead of recognising it.

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
    )
    return load(data, checked(request))


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """`read` for a ready Request; tolerant counts what is wrong in `facts` instead of refusing."""
    import duckdb

    con = duckdb.connect()
    with tempfile.TemporaryDirectory(prefix="passk-") as spool:
        batches, names = _batches(con, data, request, Path(spool))
        try:
            layouts = [b.layout for b in batches]
            statement = Statement(batches, names, request, columns_in(con, request.where, layouts))
            tally = _run(con, statement, batches)
        except duckdb.Error as error:
            from passk_cli.outcomes import diagnose

            raise diagnose.explain(error, batches, request) from None
        return _decide(batches, names, request, tally, tolerant)


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
    ):
        if value not in allowed:
            raise ParameterError(f"{name}={value!r}; it is one of {', '.join(allowed)}")
    if request.threshold is not None and not np.isfinite(request.threshold):
        raise ParameterError("the threshold must be a finite number")
    return request


def _batches(
    con: duckdb.DuckDBPyConnection, data: Any, request: Request, spool: Path
) -> tuple[list[Batch], dict[str, str]]:
    """The files in groups that one SELECT can read, and the model name of each nameless file."""
    if not isinstance(data, str | os.PathLike | list | tuple):
        return _frame(con, data, request)
    sources = expand([data] if isinstance(data, str | os.PathLike) else data, spool)
    if not sources:
        raise ParameterError("no files given")
    names = model_names(sources)
    named: dict[str, str] = {}
    groups: dict[Any, Batch] = {}
    for source in sources:
        layout = sniff(con, source, request.format)
        roles = assign(source.name, layout.kinds, request.fields)
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


def _joined(batch: Batch, layout: Layout, source: Source) -> Batch:
    """A batch with one more file; the kinds of values seen in its columns add up."""
    kinds = batch.layout.kinds
    columns = tuple((name, seen | kinds.get(name, set())) for name, seen in layout.columns)
    return replace(
        batch, layout=replace(batch.layout, columns=columns), sources=(*batch.sources, source)
    )


def _frame(
    con: duckdb.DuckDBPyConnection, frame: pd.DataFrame, request: Request
) -> tuple[list[Batch], dict[str, str]]:
    if not hasattr(frame, "columns"):
        raise ParameterError(f"cannot read a {type(frame).__name__}; give paths or a DataFrame")
    con.register("frame", frame)
    columns = typed_columns(con.execute("DESCRIBE SELECT * FROM frame").fetchall())
    layout = Layout("frame", "a DataFrame", columns)
    roles = assign("DataFrame", layout.kinds, request.fields)
    batch = Batch(layout, roles, (Source("<frame>", "DataFrame", None, "none"),))
    return [batch], {"<frame>": "model"} if roles.model is None else {}


def _decide(
    batches: Sequence[Batch],
    names: Mapping[str, str],
    request: Request,
    tally: Tally,
    tolerant: bool,
) -> Counts:
    """Refuse what is wrong, apply the policies, and keep account of both."""
    _refuse(batches, request, tally, tolerant)
    cells = dict(tally.cells)
    nameless = _null(cells["task"])
    skipped = int(cells["attempts"][nameless].sum()) + tally.rejected
    cells = {name: values[~nameless] for name, values in cells.items()}
    bad, missing = int(cells["bad"].sum()), int(cells["missing"].sum())
    _require_one_model(batches, names, cells)
    n = cells["n"] + (cells["missing"] if request.missing == "fail" else 0)
    attempted = n > 0
    if not attempted.any():
        place = batches[0].sources[0].name
        raise DataError(
            place, "no attempts in this data", "is --where too narrow?" if request.where else ""
        )
    groups = [f"group{i}" for i in range(len(request.by))]
    series = list(zip(*(_texts(cells[c][attempted]) for c in ("name", *groups)), strict=True))
    tasks = _texts(cells["task"][attempted])
    facts = ReadFacts(
        inputs=tuple(_input(b, request) for b in batches),
        missing=missing,
        missing_policy=request.missing,
        duplicates=tally.repeated[1] if tally.repeated else 0,
        duplicates_policy=request.duplicates,
        duplicates_checked=all(b.roles.attempt or b.roles.shape != "attempts" for b in batches),
        unnumbered=_unnumbered(batches, cells),
        skipped=skipped,
        emptied=int((~attempted).sum()),
        not_understood=bad,
        varying=_varying(tally, cells),
        where=request.where,
        threshold=request.threshold,
    )
    counts = Counts.from_columns(
        series,
        tasks,
        n[attempted].astype(np.int64),
        cells["passed"][attempted].astype(np.int64),
        tuple(request.by),
        facts,
    )
    if request.cluster:
        counts = counts.with_clusters(_clusters(request.cluster, cells, batches))
    return keep_models(counts, request.models)


def _refuse(batches: Sequence[Batch], request: Request, tally: Tally, tolerant: bool) -> None:
    """Raise for what the policies do not allow, with the place where it stands."""
    cells, nameless = tally.cells, _null(tally.cells["task"])
    wrong = nameless.any() or _null(cells["name"]).any() or cells["bad"].any()
    if not (wrong or cells["missing"].any() or tally.repeated):
        return
    from passk_cli.outcomes import diagnose

    if nameless.any() and not (request.skip_bad or tolerant):
        raise diagnose.no_name(batches, "task")
    named = replace(tally, cells={name: v[~nameless] for name, v in tally.cells.items()})
    if _null(named.cells["name"]).any():
        raise diagnose.no_name(batches, "model")
    if tolerant:
        return
    if named.cells["bad"].any():
        raise diagnose.bad_value(batches, request, named)
    if named.cells["missing"].any() and request.missing == "error":
        raise diagnose.missing_value(batches, request, named)
    if tally.repeated and request.duplicates == "error":
        raise diagnose.repeated(batches, request, named)


def keep_models(counts: Counts, models: Sequence[str]) -> Counts:
    """Only these models, in every group; all of them when none is named."""
    if not models:
        return counts
    present = {s[0] for s in counts.series}
    unknown = [m for m in models if m not in present]
    if unknown:
        raise ParameterError(f"no model {unknown[0]!r}; there are {', '.join(sorted(present))}")
    keep = np.array([counts.series[s][0] in models for s in counts.series_codes])
    series = [counts.series[s] for s in counts.series_codes[keep]]
    tasks = [counts.tasks[t] for t in counts.task_codes[keep]]
    kept = Counts.from_columns(
        series, tasks, counts.n[keep], counts.c[keep], counts.group_names, counts.facts
    )
    if counts.clusters is None:
        return kept
    return kept.with_clusters(dict(zip(counts.tasks, counts.clusters, strict=True)))


def _null(values: Any) -> Any:
    """Where an array from DuckDB has no value."""
    mask = np.ma.getmaskarray(values)
    return mask | np.array([v is None for v in np.ma.getdata(values)], dtype=bool)


def _texts(values: Any) -> list[str]:
    empty = _null(values)
    return ["" if none else str(v) for v, none in zip(np.ma.getdata(values), empty, strict=True)]


def _require_one_model(
    batches: Sequence[Batch], names: Mapping[str, str], cells: Mapping[str, Any]
) -> None:
    """A label names one model; over a file of several it would merge them."""
    labels = {s.label: s for b in batches for s in b.sources if s.label and b.roles.model}
    for label, source in labels.items():
        mine = np.ma.getdata(cells["name"]) == label
        seen = set(_texts(cells["model_low"][mine])) | set(_texts(cells["model_high"][mine]))
        seen.discard("")
        if len(seen) > 1:
            raise DataError(
                source.name,
                f"holds several models ({', '.join(sorted(seen)[:4])});"
                f" the label {label!r} names one",
                "leave the label out, or keep one model with --where",
            )


def _unnumbered(batches: Sequence[Batch], cells: Mapping[str, Any]) -> int:
    if not any(b.roles.attempt for b in batches if b.roles.shape == "attempts"):
        return 0
    return int((cells["attempts"] - cells["numbered"]).sum())


def _varying(tally: Tally, cells: Mapping[str, Any]) -> tuple[str, ...]:
    """Settings that take several values among the attempts of one model at one task."""
    return tuple(
        name
        for i, name in enumerate(tally.settings)
        if _texts(cells[f"setting{i}_low"]) != _texts(cells[f"setting{i}_high"])
    )


def _clusters(column: str, cells: Mapping[str, Any], batches: Sequence[Batch]) -> dict[str, str]:
    clusters: dict[str, str] = {}
    place = batches[0].sources[0].name
    for task, low, high in zip(
        _texts(cells["task"]),
        _texts(cells["cluster_low"]),
        _texts(cells["cluster_high"]),
        strict=True,
    ):
        if not low:
            raise DataError(place, f"task {task!r} has no {column}", "every task needs its cluster")
        if low != high or clusters.setdefault(task, low) != low:
            other = high if low != high else clusters[task]
            raise DataError(
                place,
                f"task {task!r} lies in two clusters ({low}, {other})",
                "a cluster must hold whole tasks; is it the right column?",
            )
    return clusters


def _input(batch: Batch, request: Request) -> InputFacts:
    roles = batch.roles.used()
    asked = {*roles.values(), *request.by, request.cluster}
    read = {(find(c, batch.layout.kinds) or (c,))[0] for c in asked if c}
    name = batch.sources[0].name
    if len(batch.sources) > 1:
        name += f" and {len(batch.sources) - 1} more"
    packing = "" if batch.layout.packing == "none" else f", {batch.layout.packing}"
    unused = tuple(c for c in batch.layout.kinds if c not in read)
    form = f"{batch.layout.kind} ({batch.layout.how}{packing})"
    return InputFacts(name, form, roles, unused)
