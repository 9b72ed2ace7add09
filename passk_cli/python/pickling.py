"""Pickling of reports, so that you can cache findings or send them to other processes."""

from __future__ import annotations

import copyreg
from dataclasses import fields
from functools import partial
from typing import Any

from passk_cli.report.data_types import Column, LazyRows, Report
from passk_cli.report.phrases import MonteCarloP


def _identity(value: Any) -> Any:
    return value


def _reduce_report(report: Report) -> tuple[Any, ...]:
    results = {
        "rows": report.data, "explain": tuple(report.explain()), "sign": report.signature,
        "draw": report.plots, "changes": report.changes(),
    }  # fmt: skip
    if report.methods is not None:
        results["methods"] = report.methods()
    arguments = {item.name: getattr(report, item.name) for item in fields(report)} | {
        "commit": None
    }
    arguments |= {name: partial(_identity, value) for name, value in results.items()}
    return partial(Report, **arguments), ()


def _reduce_column(column: Column) -> tuple[Any, ...]:
    # The functions that compute cells cannot be pickled. All cells are already computed, so
    # pickling drops the functions.
    words = (column.header, column.kind, column.joined, column.meaning, column.name, column.shown)
    return Column, words


def _reduce_rows(rows: LazyRows) -> tuple[Any, ...]:
    return tuple, (list(rows),)


def picklable(report: Report) -> Report:
    """Register how reports are pickled, and return the report."""
    copyreg.pickle(Report, _reduce_report)
    copyreg.pickle(Column, _reduce_column)
    copyreg.pickle(LazyRows, _reduce_rows)
    copyreg.pickle(MonteCarloP, lambda p: (MonteCarloP, (float(p), p.error)))
    return report
