"""Content of the templates: the panels of a page with their words, cells and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passk_cli.charts.look import Look, prepared
from passk_cli.render.style import Style, answer, heading, parts
from passk_cli.report.model import ALWAYS, Cell, Chapter, Column, Estimate, Panel, Report, Table
from passk_cli.report.plot import Plot, distinct
from passk_cli.text import printable

# A picture with more lines, panels or rows than these is no picture any more.
_MOST_ROWS, _MOST_PANELS = 150, 30


@dataclass(frozen=True)
class CellView:
    """A cell: its text in two parts, what it is sorted by ("" of text), and what hovering adds."""

    value: str
    error: str
    key: str
    why: str
    marked: bool
    verdict: str


@dataclass(frozen=True)
class TableView:
    """A table: heading and kind of each column, and its rows."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[CellView, ...], ...]


@dataclass(frozen=True)
class PanelView:
    """A panel with its text ready.

    anchor : its address, of plain letters.  finding : what was found, rounded.
    limits, context : what it is about, and how it was made; printable.
    legend : header and meaning of each column of its tables.
    open : how many of its tables are open; the others are a click away.
    """

    panel: Panel
    anchor: str
    finding: str
    tables: tuple[TableView, ...]
    plots: tuple[Plot, ...]
    limits: str
    context: str
    legend: tuple[tuple[str, str], ...]
    open: int


@dataclass(frozen=True)
class SectionView:
    """A section with its panels."""

    title: str
    anchor: str
    finding: str
    panels: tuple[PanelView, ...]


def sections(page: Sequence[Chapter], style: Style) -> tuple[SectionView, ...]:
    """The sections, with addresses that no name from the data is part of."""
    views = []
    for place, section in enumerate(page):
        end = f"-{place + 1}" if len(page) > 1 else ""
        panels = tuple(_panel(panel, end, style) for panel in section.panels)
        words = Report((), Table((), ()), answer=section.answer)
        anchor = f"section{end}" if section.title else ""
        views.append(SectionView(printable(section.title), anchor, answer(words, style), panels))
    return tuple(views)


def _panel(panel: Panel, end: str, style: Style) -> PanelView:
    report = panel.report
    every = sorted(report.tables, key=lambda table: table.shown != ALWAYS)
    legend = {c.header: c.meaning for table in every for c in table.columns if c.meaning}
    return PanelView(
        panel,
        panel.name + end,
        "" if panel.answered else answer(report, style),
        tuple(table_view(table, style) for table in every),
        tuple(_pictures(report)),
        printable(panel.limits),
        printable(report.basis or report.context),
        tuple((printable(header), printable(meaning)) for header, meaning in legend.items()),
        sum(table.shown == ALWAYS for table in every),
    )


def _pictures(report: Report) -> Iterator[Plot]:
    """The plots that can be looked at, as large as the width of a page allows."""
    plots = [plot for plot in report.plots if len(distinct(plot.rows, "label")) <= _MOST_ROWS]
    for plot in prepared(plots, Look()):
        if len(distinct(plot.rows, "panel")) <= _MOST_PANELS:
            yield plot


def table_view(table: Table, style: Style) -> TableView:
    """A table as text, with a key to sort each column by."""
    kinds = ["text" if column.kind in ("text", "strip") else "number" for column in table.columns]
    columns = tuple((heading(table, place, style), kind) for place, kind in enumerate(kinds))
    rows = tuple(tuple(_cells(row, table.columns, style)) for row in table.rows)
    return TableView(printable(table.title), columns, rows)


def _cells(row: Sequence[Cell], columns: Sequence[Column], style: Style) -> Iterator[CellView]:
    for cell, column in zip(row, columns, strict=True):
        value, error = parts(cell, column, style)
        why = cell.reason if isinstance(cell, Estimate) else ""
        marked = isinstance(cell, Estimate) and cell.marked
        verdict = cell.verdict if isinstance(cell, Estimate) else ""
        number = cell.value if isinstance(cell, Estimate) else cell
        key = repr(float(number)) if isinstance(number, int | float) else ""
        yield CellView(value, error, key, printable(why), marked, verdict)
