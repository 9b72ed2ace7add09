"""Reports as bytes, so that findings can be kept in caches and sent to other processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copyreg import dispatch_table
from dataclasses import fields
from functools import partial
from io import BytesIO
from typing import Any

from passk_cli.report.model import Column, LazyRows, Report
from passk_cli.report.words import DrawnP


def kept(report: Report) -> bytes:
    """A report as bytes, with all made that is made when it is asked for."""
    file = BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = {**dispatch_table, **_PARTS}
    pickler.dump(report)
    return file.getvalue()


def _made(value: Any) -> Any:
    return value


def _of_report(report: Report) -> tuple[Any, ...]:
    made = {
        "rows": report.data, "explain": tuple(report.explain()), "sign": report.signature,
        "draw": report.plots, "changes": report.changes(),
    }  # fmt: skip
    if report.methods is not None:
        made["methods"] = report.methods()
    own = {each.name: getattr(report, each.name) for each in fields(report)} | {"commit": None}
    own |= {name: partial(_made, value) for name, value in made.items()}
    return partial(Report, **own), ()


def _of_column(column: Column) -> tuple[Any, ...]:
    # What makes its cells has made them.
    words = (column.header, column.kind, column.joined, column.meaning, column.name, column.shown)
    return Column, words


# Type → (value) → a function and its arguments, which make it again.
_PARTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Report: _of_report,
    Column: _of_column,
    LazyRows: lambda rows: (tuple, (list(rows),)),
    DrawnP: lambda p: (DrawnP, (float(p), p.error)),
}
