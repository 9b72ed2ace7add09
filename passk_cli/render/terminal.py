"""Writes a report for a terminal, with tables that fit its width.

If a table is too wide, its numbers lose one decimal.  Then long names are shortened, but keep the
words by which they differ.  If the table has few rows, intervals then move below their estimates.
Columns that still do not fit appear only with --full, which splits the table into blocks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from passk_cli.render.style import Style, aligned_columns, context_line, visible_parts
from passk_cli.report.model import Cell, Column, Estimate, OptionHint, Report, Table
from passk_cli.report.words import plural
from passk_cli.text import balance_lines, cells_of, printable, short_names, wrap_text

# This character joins a number to its percent sign, and the limits of an interval.  rich breaks
# lines at a no-break space, but not at this blank character.
_JOINT = "\u2800"
_INSIDE = re.compile(
    r"(?<=\d) (?=%|more\b)|(?<=\w) (?=\[[+−-]?\d)|(?<=[\d%],) (?=[+−-]?[\d.]+\])"
    r"|(?<=[<=]) (?=\d)|(?<=\bp) (?=[<=] )|(?<=[@^]\d) (?=\d)|(?<=\band) (?=[\d,]+ more\b)"
)
# Trailing blanks and colour codes of a line, and a colour code that applies to no text.
_ENDS = re.compile(r"(?:\x1b\[[\d;]*m| )+$", re.MULTILINE)
_NOTHING = re.compile(r"\x1b\[[1-9][\d;]*m\x1b\[0m")
# Verdict → its colour.
_VERDICTS = {
    "pass": "green", "fail": "red", "error": "red", "undecided": "yellow", "better": "green",
    "worse": "red",
}  # fmt: skip
# Minimum widths of columns in a narrow terminal: any text, a readable text, and a name.
_NARROWEST, _READABLE, _SHORTEST = 8, 14, 20
# Maximum number of rows of a table with intervals below their estimates.
_FEW = 10


def table(report: Report, style: Style) -> str:
    """A report as text for a terminal: answer, tables, context and signature."""
    width, style = style.width or 80, style.for_print
    console = Console(
        file=io.StringIO(), width=width, force_terminal=style.colour, no_color=not style.colour,
        highlight=False, emoji=False, markup=False,
    )  # fmt: skip
    parts = visible_parts(report, style)
    if parts.answer:
        answer = Text(_unbreakable(parts.answer))
        answer.highlight_regex(r"^[A-Z]+(?=:)", lambda word: _VERDICTS.get(word.lower(), ""))
        console.print(answer)
        console.print()
    cuts = dict[OptionHint, None]()
    for item in parts.tables:
        if item.title:
            console.print(Text(printable(item.title), style="bold"))
        for grid, hidden_columns in _fit_table(item, style, width):
            console.print(grid)
            console.print()
            cuts |= (
                {OptionHint(plural(hidden_columns, "more column")): None} if hidden_columns else {}
            )
    if context := context_line((*cuts, parts.context), style):
        console.print(Text("\n".join(balance_lines(_unbreakable(context), width)), style="dim"))
    if parts.signature:
        # passk does not wrap the signature, so that you can copy it as one line.
        console.print(Text(parts.signature, style="dim"), soft_wrap=True)
    if parts.methods:
        console.print("\n" + _unbreakable(parts.methods.plain_text))
        console.print("\n" + parts.methods.bibtex, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue().replace(_JOINT, " ")
    return _ENDS.sub(lambda end: _NOTHING.sub("", end[0].replace(" ", "")), text)


def _unbreakable(text: str) -> str:
    """The text with unbreakable blanks inside percentages and intervals."""
    return _INSIDE.sub(_JOINT, text)


Cells = list[tuple[str, list[tuple[str, str]]]]
# The shape of a table: its style, whether names are shortened, and whether intervals are stacked.
Shape = tuple[Style, bool, bool]


def _fit_table(table: Table, style: Style, width: int) -> Iterator[tuple[RichTable, int]]:
    """The table in the widest shape that fits, and the number of columns that are left out.

    With --full, a table that does not fit is split into blocks, and no column is left out.
    """
    fewer = replace(style, digits=style.decimals - 1)
    less = style if style.digits is not None or not style.decimals else fewer
    all_places = list(range(len(table.columns)))
    few, keys, too_broken = len(table.rows) <= _FEW, _key_columns(table), False
    first, last = (style, False, False), (less, not style.full, style.full or few)
    for shape in (first, (less, False, False), (less, not style.full, False), last):
        columns = _columns(table, shape, all_places, width)
        if shape is last and last[2]:
            _break_widest(columns, table, all_places, width, names=style.full)
            too_broken |= not style.full and any(
                value.count("\n") > 1 for i in all_places for value, _ in columns[i][1]
                if i not in keys and table.columns[i].header != "verdict"
            )  # fmt: skip
        if _total_width(columns, all_places) <= width and not too_broken:
            yield _grid(table, columns, all_places), 0
            return
    if style.full:
        columns = _columns(table, first, all_places, 0)
        for places in _column_blocks(table, columns, width, True):
            columns = _columns(table, first, places, width)
            _break_widest(columns, table, places, width, names=True)
            yield _grid(table, columns, places), 0
        return
    # Columns of long texts are left out, but verdicts and the columns that identify a row stay.
    narrow = _columns(table, last, all_places, width)
    brief = [
        i for i in all_places if i in keys or _stays_on_one_line(table.columns[i], narrow[i][1])
    ]
    columns = _columns(table, last, brief, width)
    _break_widest(columns, table, brief, width, least=_READABLE)
    if _total_width(columns, brief) > width:
        brief = _column_blocks(table, narrow, width, False)[0]
        columns = _columns(table, last, brief, width)
        if _total_width(columns, brief) > width:
            columns = _columns(table, last, brief, width, _NARROWEST)
        _break_widest(columns, table, brief, width)
    yield _grid(table, columns, brief), len(all_places) - len(brief)


def _columns(
    table: Table, shape: Shape, places: Sequence[int], width: int, least: int = _SHORTEST
) -> Cells:
    """The columns of a table in a shape.  Names are shortened if needed, but not below `least`."""
    style, cut, stacked = shape
    columns = aligned_columns(table, style)
    if stacked:
        columns = [
            (name, [(f"{value.strip() if ranged else value}\n{error}".rstrip() if value.strip()
                     else error, "") if "]" in error else (value, error) for value, error in cells])
            for name, cells in columns for ranged in [any("–" in v.strip("– ") for v, _ in cells)]
        ]  # fmt: skip
    if cut:
        name_columns = [i for i in places if _has_names(table.columns[i], columns[i][1])]
        texts = {i: [value.strip() for value, _ in columns[i][1]] for i in name_columns}
        names = {i: [text for text in texts[i] if " " not in text] for i in name_columns}
        all_names = list(chain.from_iterable(names.values()))
        for i in sorted(name_columns, key=lambda i: -_column_width(*columns[i])):
            name, cells = columns[i]
            over = _total_width(columns, places) - width
            if over <= 0:
                break
            # A name that all rows share, like a baseline, must differ from names in other columns.
            column_names = all_names if len({*names[i]}) == 1 else names[i]
            distinct_width = max(
                map(cells_of, short_names(column_names, 0, telling=True)), default=0
            )
            several = least >= _SHORTEST and len({*column_names}) > 1
            floor = max(least, min(distinct_width, width // 2)) if several else least
            room = max(_column_width(name, cells) - over, min(floor, _column_width(name, cells)))
            short = dict(zip(column_names, short_names(column_names, room), strict=True))
            lines = (short.get(text) or "\n".join(wrap_text(text, room)) for text in texts[i])
            columns[i] = (name, [(line, "") for line in lines])
    return columns


def _stays_on_one_line(column: Column, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether a column contains only numbers, names, verdicts or short texts."""
    verdict = column.joined or column.header == "verdict"
    short = _column_width("", cells) <= _SHORTEST
    return column.kind != "text" or verdict or short or _has_names(column, cells)


def _has_names(column: Column, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether a column contains names, which may be shortened, and not prose or verdicts.

    In a column of names, at most a quarter of the cells contain blanks, or at most half if the
    longest cell has no blank.
    """
    texts = [value.strip() for value, _ in cells]
    prose, longest = sum(" " in text for text in texts), max(texts, key=cells_of, default="")
    few = 4 * prose <= len(texts) or (2 * prose <= len(texts) and " " not in longest)
    is_name = column.header == "model" or (few and not any(error.strip() for _, error in cells))
    return column.kind == "text" and column.header != "verdict" and is_name


def _column_width(name: str, cells: Sequence[tuple[str, str]]) -> int:
    """The width of a column in characters of the terminal."""
    lines = (line for cell in cells for line in " ".join(filter(None, cell)).split("\n"))
    return max(cells_of(name), *map(cells_of, lines), 0)


def _total_width(columns: Cells, places: Sequence[int]) -> int:
    """The total width of some columns of a table, including the gaps between them."""
    return sum(_column_width(*columns[i]) + 2 for i in places) - 2


def _key_columns(table: Table) -> list[int]:
    """The indices of the leading text columns, which identify a row."""
    kinds = [column.kind == "text" for column in table.columns]
    return list(range(kinds.index(False) if False in kinds else len(kinds)))


def _column_blocks(table: Table, columns: Cells, width: int, all_shown: bool) -> list[list[int]]:
    """The indices of the columns of each block, which always begins with the key columns.

    A verdict or a joined column stays with the column before it.  If only the first block is shown,
    it contains the verdicts.
    """
    widths, keys = [_column_width(*column) + 2 for column in columns], _key_columns(table)
    together: list[list[int]] = []
    for i, column in enumerate(table.columns):
        if (column.joined or column.header == "verdict") and together:
            together[-1].append(i)
        elif i not in keys:
            together.append([i])
    blocks: list[list[int]] = [[]]
    if not all_shown:
        together.sort(key=lambda group: all(table.columns[i].header != "verdict" for i in group))
    for group in together:
        width_used = sum(widths[j] for j in (*keys, *blocks[-1], *group)) - 2
        if width_used > width and blocks[-1]:
            blocks.append([])
        blocks[-1] += group
    return [[*keys, *sorted(block)] for block in blocks]


def _break_widest(
    columns: Cells, table: Table, places: Sequence[int], width: int, *, names: bool = False,
    least: int = _NARROWEST,
) -> None:  # fmt: skip
    """Wrap the texts of the widest text column so that the table fits.

    names : whether to wrap columns of names, too.  least : minimum width of the wrapped column.
    """
    texts = [i for i in places if table.columns[i].kind == "text"
             and (names or not _has_names(table.columns[i], columns[i][1]))]  # fmt: skip
    over = _total_width(columns, places) - width
    if texts and over > 0:
        widest = max(texts, key=lambda i: _column_width(*columns[i]))
        name, cells = columns[widest]
        room = max(_column_width(name, cells) - over, least)
        columns[widest] = (
            name,
            [("\n".join(wrap_text(_unbreakable(value), room)), error) for value, error in cells],
        )


def _grid(table: Table, columns: Cells, places: Sequence[int]) -> RichTable:
    grid = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i in places:
        prose = table.columns[i].kind == "text"
        grid.add_column(_unbreakable(columns[i][0]), no_wrap=not prose, overflow="fold")
    for row, cells in enumerate(table.rows):
        texts = []
        for i in places:
            value, error = columns[i][1][row]
            number, line, below = value.partition("\n")
            stacked = table.columns[i].kind != "text"
            text = Text(_unbreakable(number if stacked else value), style=_cell_style(cells[i]))
            if stacked and line:
                text.append(f"\n{below}", style="dim")
            texts.append(text.append(" " * bool(value) + error, style="dim") if error else text)
        grid.add_row(*texts)
    return grid


def _cell_style(cell: Cell) -> str:
    """The rich style of a cell: best estimates are bold, and verdicts have a colour."""
    if isinstance(cell, str):
        return _VERDICTS.get(cell.partition(" ")[0], "")
    return "bold" if isinstance(cell, Estimate) and cell.marked else ""
