"""Aligned text for pipes and files: full names, never cut, no colour."""

from __future__ import annotations

from textwrap import wrap

from passk_cli.render.style import (
    Style,
    aligned,
    answer,
    context,
    joined,
    methods,
    padded,
    shown_tables,
    signed,
)
from passk_cli.report.model import Report, Table
from passk_cli.text import cells_of, printable

GAP = "  "
# Prose of several sentences is broken into lines.
_WIDEST = 100


def plain(report: Report, style: Style) -> str:
    """The answer, tables, context and signature as text."""
    blocks = [text] if (text := answer(report, style)) else []
    blocks += [block(table, style) for table in shown_tables(report, style)]
    closing = [line for line in (context(report, style), signed(report, style)) if line]
    blocks += filter(None, ["\n".join(closing)])
    if said := methods(report, style):
        blocks += ["\n".join(wrap(said.words, _WIDEST)), said.bibtex]
    return "\n\n".join(blocks) + "\n"


def block(table: Table, style: Style) -> str:
    """One table under its title."""
    columns = [(name, [joined(cell) for cell in cells]) for name, cells in aligned(table, style)]
    widths = [max([cells_of(name), *map(cells_of, cells)]) for name, cells in columns]
    lines = [GAP.join(padded(name, w) for (name, _), w in zip(columns, widths, strict=True))]
    for place in range(len(table.rows)):
        lines.append(
            GAP.join(padded(cells[place], w) for (_, cells), w in zip(columns, widths, strict=True))
        )
    text = "\n".join(line.rstrip() for line in lines)
    return f"{printable(table.title)}\n{text}" if table.title else text
