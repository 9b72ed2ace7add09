"""Tables for a terminal: as wide as it is, the interval dimmer than the estimate."""

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from passk_cli.render.style import (
    Style,
    aligned,
    answer,
    context,
    joined,
    methods,
    shown_tables,
    signed,
)
from passk_cli.report.model import Estimate, Report, Table
from passk_cli.text import cells_of, printable

# What joins a number to its percent sign: one cell wide, and no space to the code that breaks
# lines, which takes a no-break space for one.
_UNBREAKABLE = "\u2800%"
# The least that is left for names in a narrow terminal, in columns.
_NARROWEST = 8


def table(report: Report, style: Style) -> str:
    """The answer, tables, context, signature; a wide table is broken between columns."""
    width, style = style.width or 80, style.typeset
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=style.colour,
        no_color=not style.colour,
        highlight=False,
        emoji=False,
        markup=False,
    )
    if report.answer:
        console.print(_unbreakable(answer(report, style)))
        console.print()
    for item in shown_tables(report, style):
        if item.title:
            console.print(Text(printable(item.title), style="bold"))
        for places in _blocks(item, style, width):
            console.print(_grid(item, style, places, width))
            console.print()
    if text := context(report, style):
        console.print(Text(_unbreakable(text), style="dim"), soft_wrap=False)
    if text := signed(report, style):
        # One line, which the terminal itself folds, so that it can be copied as it is.
        console.print(Text(text, style="dim"), soft_wrap=True)
    if said := methods(report, style):
        console.print("\n" + _unbreakable(said.words))
        console.print("\n" + said.bibtex, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().replace(_UNBREAKABLE, " %").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _unbreakable(text: str) -> str:
    return text.replace(" %", _UNBREAKABLE)


def _blocks(table: Table, style: Style, width: int) -> list[list[int]]:
    """Column numbers of each block: leading text columns again in each, the rest while it fits."""
    columns = aligned(table, style)
    widths = [max([cells_of(n), *(cells_of(joined(c)) for c in cs)]) + 2 for n, cs in columns]
    keys = [i for i, column in enumerate(table.columns) if column.kind == "text"]
    keys = keys[: next((at for at, i in enumerate(keys) if at != i), len(keys))]
    together: list[list[int]] = []
    for i in range(len(widths)):
        if table.columns[i].joined and together:
            together[-1].append(i)
        elif i not in keys:
            together.append([i])
    blocks: list[list[int]] = [[]]
    for group in together:
        width_used = sum(widths[j] for j in (*keys, *blocks[-1], *group)) - 2
        if width_used > width and blocks[-1]:
            blocks.append([])
        blocks[-1] += group
    return [[*keys, *block] for block in blocks]


def _narrowed(
    columns: list[tuple[str, list[tuple[str, str]]]], table: Table, places: list[int], width: int
) -> None:
    """Break the names of the widest text column so that these columns fit."""
    widths = {i: max(cells_of(joined(cell)) for cell in [(columns[i][0], ""), *columns[i][1]])
              for i in places}  # fmt: skip
    texts = [i for i in places if table.columns[i].kind == "text"]
    over = sum(widths.values()) + 2 * (len(places) - 1) - width
    if texts and over > 0:
        widest = max(texts, key=widths.__getitem__)
        name, cells = columns[widest]
        room = max(widths[widest] - over, _NARROWEST)
        columns[widest] = (
            name,
            [(broken(_unbreakable(value), room), error) for value, error in cells],
        )


def broken(name: str, width: int) -> str:
    """A name in lines of at most so many columns, ended at blanks, hyphens, slashes, underscores.

    A part that is longer than a line keeps its length.

    >>> broken("org/some-long_name", 10).split("\\n")
    ['org/some-', 'long_name']
    """
    lines = [""]
    for part in re.findall(r"[^-/_\s]+[-/_\s]*|[-/_\s]+", name):
        if lines[-1] and cells_of(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _grid(table: Table, style: Style, places: list[int], width: int) -> RichTable:
    columns = aligned(table, style)
    _narrowed(columns, table, places, width)
    grid = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i in places:
        prose = table.columns[i].kind == "text"
        grid.add_column(_unbreakable(columns[i][0]), no_wrap=not prose, overflow="fold")
    for row, cells in enumerate(table.rows):
        texts = []
        for i in places:
            value, error = columns[i][1][row]
            cell = cells[i]
            bold = isinstance(cell, Estimate) and cell.marked
            text = Text(_unbreakable(value), style="bold" if bold else "")
            texts.append(text.append(f" {error}", style="dim") if error else text)
        grid.add_row(*texts)
    return grid
