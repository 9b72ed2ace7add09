"""Writes a report as aligned text for pipes and files, with full names and without colours."""

from __future__ import annotations

from textwrap import wrap

from passk_cli.render.style import Style, headings_and_aligned_cells, pad, visible_parts
from passk_cli.report.data_types import Report
from passk_cli.text import display_width, printable


def plain(report: Report, style: Style) -> str:
    """A report as plain text: answer, tables, context and signature."""
    parts = visible_parts(report, style)
    blocks = [parts.answer]
    for table in parts.tables:
        columns = []
        for name, cells in headings_and_aligned_cells(table, style):
            texts = [name, *(" ".join(filter(None, cell)) for cell in cells)]
            width = max(map(display_width, texts))
            columns.append([pad(text, width) for text in texts])
        title = [printable(table.title)] * bool(table.title)
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        blocks.append("\n".join([*title, *lines]))
    blocks.append("\n".join(filter(None, (parts.context, parts.signature))))
    if methods := parts.methods:
        blocks += ["\n".join(wrap(methods.text_with_author_year_citations, 100)), methods.bibtex]
    return "\n\n".join(filter(None, blocks)) + "\n"
