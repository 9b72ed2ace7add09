"""The content of report pages as texts: sections, panels, tables and cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from passk_cli.charts.chart_options import Appearance, plots_with_appearance
from passk_cli.render.style import Style, answer_text, cell_parts, column_headings, visible_parts
from passk_cli.report import data_types
from passk_cli.report.data_types import Cell, Column, Estimate, Report, ReportPagePanel, Table
from passk_cli.report.plot import Plot, distinct_values
from passk_cli.text import NameList, printable

# A chart on a page is legible with at most _MOST_ROWS rows and _MOST_PANELS panels.
_MOST_ROWS, _MOST_PANELS = 150, 30


@dataclass(frozen=True)
class CellView:
    """A table cell for the page template.

    value_text, interval_text : text of the value, and text of its interval or standard error.
    names : all names of a list, if the value contains only the first names.
    sort_key : sort key of a number, or "" for text. tooltip : text of the tooltip.
    """

    value_text: str
    interval_text: str
    sort_key: str
    tooltip: str
    is_bold: bool
    names: str


@dataclass(frozen=True)
class TableView:
    """A table for the page template: heading, kind and meaning of each column, and the rows."""

    title: str
    columns: tuple[tuple[str, str, str], ...]
    rows: tuple[tuple[CellView, ...], ...]


@dataclass(frozen=True)
class PanelView:
    """A panel for the page template, with printable texts.

    anchor : id of the panel, for links to the panel and for the names of its pictures.
    finding : answer of the panel, with rounded numbers.
    anchor_suffix : suffix of the panel's anchors on a page with several sections, such as "-2".
    """

    panel: ReportPagePanel
    anchor: str
    finding: str
    tables: tuple[TableView, ...]
    context: str
    anchor_suffix: str

    @property
    def plots(self) -> Iterator[Plot]:
        """The charts that are small enough to be legible on a page."""
        report = self.panel.report
        # The leaderboard of a page shows more than the picture of the ranking.
        plots = [
            plot for plot in report.plots
            if len(distinct_values(plot.rows, "label")) <= _MOST_ROWS and plot.kind != "ranking"
        ]  # fmt: skip
        for plot in plots_with_appearance(plots, Appearance()):
            if len(plots) == 1:
                plot = replace(plot, title="", subtitle="" if self.tables else plot.subtitle)
            if len(distinct_values(plot.rows, "panel")) <= _MOST_PANELS:
                yield plot


@dataclass(frozen=True)
class SectionView:
    """A section of a page with its panels, for example for one benchmark."""

    title: str
    anchor: str
    finding: str
    panels: tuple[PanelView, ...]


def sections(page: Sequence[data_types.TaskGroupChapter], style: Style) -> tuple[SectionView, ...]:
    """The sections of a page, with anchors that never contain names from the data."""
    views = []
    for place, section in enumerate(page):
        end = f"-{place + 1}" if len(page) > 1 else ""
        panels = tuple(_panel_view(panel, end, style) for panel in section.panels)
        finding = answer_text(Report(answer=section.answer), style)
        anchor = f"section{end}" if section.title else ""
        views.append(SectionView(printable(section.title), anchor, finding, panels))
    return tuple(views)


def _panel_view(panel: ReportPagePanel, end: str, style: Style) -> PanelView:
    # A page has no options, so hints about options are left out. The version appears only once on
    # the page.
    context_parts = (part for part in panel.report.context if isinstance(part, str))
    context = tuple(part for part in context_parts if panel.board or not part.startswith("passk "))
    report = replace(panel.report, context=context)
    visible = visible_parts(report, replace(style, spell_option=lambda option: ""))
    finding = "" if panel.is_in_page_answer else visible.answer
    tables = tuple(table_view(table, style) for table in visible.tables)
    caption = visible.context if tables else ""
    return PanelView(panel, panel.name + end, finding, tables, caption, end)


def table_view(table: Table, style: Style) -> TableView:
    """A table as texts, with a sort key for each number."""
    columns = tuple(
        (name, "number" if column.is_numeric else "text", column.meaning)
        for name, column in zip(column_headings(table, style), table.columns, strict=True)
    )
    rows = tuple(tuple(_cells(row, table.columns, style)) for row in table.rows)
    return TableView(printable(table.title), columns, rows)


def _cells(row: Sequence[Cell], columns: Sequence[Column], style: Style) -> Iterator[CellView]:
    for cell, column in zip(row, columns, strict=True):
        value, error = cell_parts(cell, column, style)
        why = cell.reason if isinstance(cell, Estimate) else ""
        marked = isinstance(cell, Estimate) and cell.is_significantly_best
        number = cell.value if isinstance(cell, Estimate) else cell
        key = repr(float(number)) if isinstance(number, int | float) else ""
        names = ""
        if isinstance(cell, NameList) and cell != cell.all_names:
            names = printable(cell.all_names)
        yield CellView(value, error, key, printable(why), marked, names)
