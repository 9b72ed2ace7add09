"""How a report is made again, so that caches and other processes can keep findings."""

from __future__ import annotations

import copyreg
from dataclasses import fields
from functools import partial
from typing import Any

from passk_cli.report.model import Column, LazyRows, Report
from passk_cli.report.words import DrawnP


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


def _of_rows(rows: LazyRows) -> tuple[Any, ...]:
    return tuple, (list(rows),)


def keepable(report: Report) -> Report:
    """The report, of types that caches and other processes know how to keep from now on."""
    copyreg.pickle(Report, _of_report)
    copyreg.pickle(Column, _of_column)
    copyreg.pickle(LazyRows, _of_rows)
    copyreg.pickle(DrawnP, lambda p: (DrawnP, (float(p), p.error)))
    return report
