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
        "make_data_rows": report.data_table, "make_full_context": tuple(report.make_full_context()),
        "make_signature": report.signature,
        "make_plots": report.plots, "make_changed_tasks": report.make_changed_tasks(),
    }  # fmt: skip
    if report.make_methods_text is not None:
        results["make_methods_text"] = report.make_methods_text()
    arguments = {item.name: getattr(report, item.name) for item in fields(report)} | {
        "write_command_file": None
    }
    arguments |= {name: partial(_identity, value) for name, value in results.items()}
    return partial(Report, **arguments), ()


def _reduce_column(column: Column) -> tuple[Any, ...]:
    # The functions that compute cells cannot be pickled. All cells are already computed, so
    # pickling drops the functions.
    words = (
        column.header,
        column.kind,
        column.stays_with_previous,
        column.meaning,
        column.field_name,
        column.visibility,
    )
    return Column, words


def _reduce_rows(rows: LazyRows) -> tuple[Any, ...]:
    return tuple, (list(rows),)


def register_report_pickling(report: Report) -> Report:
    """Make reports picklable, by registering functions with `copyreg`, and return the report."""
    copyreg.pickle(Report, _reduce_report)
    copyreg.pickle(Column, _reduce_column)
    copyreg.pickle(LazyRows, _reduce_rows)
    copyreg.pickle(MonteCarloP, lambda p: (MonteCarloP, (float(p), p.error)))
    return report
