"""Tables for a terminal: as wide as it is, the interval dimmer than the estimate."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from passk_cli.render.style import Style, aligned, joined
from passk_cli.report.model import Estimate, Report, Table, signature_line
from passk_cli.text import cells_of, printable

# What joins a number to its percent sign: one cell wide, and no space to the code that breaks
# lines, which takes a no-break space for one.
_HELD = "\u2800%"


def table(report: Report, style: Style) -> str:
    """Tables, caption and signature; a wide table is broken between columns, never in a name."""
    width = style.width or 80
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=style.colour,
        no_color=not style.colour,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for one in report.tables:
        if one.title:
            console.print(Text(printable(one.title), style="bold"))
        for places in _blocks(one, style, width):
            console.print(_grid(one, style, places))
            console.print()
    if report.caption:
        console.print(_held(printable(report.caption)), soft_wrap=False)
    if report.signature:
        console.print(Text(signature_line(report), style="dim"))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().replace(_HELD, " %").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _held(text: str) -> str:
    return text.replace(" %", _HELD)


def _blocks(one: Table, style: Style, width: int) -> list[list[int]]:
    """Column numbers of each block: leading text columns again in each, the rest while it fits."""
    columns = aligned(one, style)
    widths = [max([cells_of(n), *(cells_of(joined(c)) for c in cs)]) + 2 for n, cs in columns]
    keys = [i for i, column in enumerate(one.columns) if column.kind == "text"]
    keys = keys[: next((at for at, i in enumerate(keys) if at != i), len(keys))]
    together: list[list[int]] = []
    for i in range(len(widths)):
        if one.columns[i].joined and together:
            together[-1].append(i)
        elif i not in keys:
            together.append([i])
    blocks: list[list[int]] = [[]]
    for group in together:
        used = sum(widths[j] for j in (*keys, *blocks[-1], *group)) - 2
        if used > width and blocks[-1]:
            blocks.append([])
        blocks[-1] += group
    return [[*keys, *block] for block in blocks]


def _grid(one: Table, style: Style, places: list[int]) -> RichTable:
    columns = aligned(one, style)
    grid = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i in places:
        text = one.columns[i].kind == "text"
        grid.add_column(_held(columns[i][0]), no_wrap=not text, overflow="fold")
    for row, cells in enumerate(one.rows):
        texts = []
        for i in places:
            value, sure = columns[i][1][row]
            cell = cells[i]
            marked = isinstance(cell, Estimate) and cell.marked
            shown = Text(_held(value), style="bold" if marked else "")
            texts.append(shown.append(f" {sure}", style="dim") if sure else shown)
        grid.add_row(*texts)
    return grid
