"""Tables that fit the width of a terminal, with dim intervals and coloured verdicts.

A table that is too wide loses a decimal.  Then long names are shortened, but keep the words by
which they differ.  If there are few rows, intervals then move below their estimates.  Columns that
still do not fit appear only with --full, which shows full names and blocks of columns.
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

# Joins a number to its percent sign, and the limits of an interval.  It is one cell wide, and the
# code that breaks lines does not take it for a space, as it does with a no-break space.
_JOINT = "\u2800"
_INSIDE = re.compile(
    r"(?<=\d) (?=%|more\b)|(?<=\w) (?=\[[+−-]?\d)|(?<=[\d%],) (?=[+−-]?[\d.]+\])"
    r"|(?<=[<=]) (?=\d)|(?<=\bp) (?=[<=] )|(?<=[@^]\d) (?=\d)|(?<=\band) (?=[\d,]+ more\b)"
)
# Blanks and colours at the end of a line, and a colour without text.
_ENDS = re.compile(r"(?:\x1b\[[\d;]*m| )+$", re.MULTILINE)
_NOTHING = re.compile(r"\x1b\[[1-9][\d;]*m\x1b\[0m")
# Word → its colour.  The colour adds nothing to the word.
_VERDICTS = {
    "pass": "green", "fail": "red", "error": "red", "undecided": "yellow", "better": "green",
    "worse": "red",
}  # fmt: skip
# The least widths of columns in a narrow terminal: of texts, of readable texts, and of names.
_NARROWEST, _READABLE, _SHORTEST = 8, 14, 20
# The maximum number of rows of a table that may have intervals below their estimates.
_FEW = 10


def table(report: Report, style: Style) -> str:
    """The answer, tables, context and signature as text for a terminal."""
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
        # The signature stays on one line, which the terminal folds, so that you can copy it.
        console.print(Text(parts.signature, style="dim"), soft_wrap=True)
    if parts.methods:
        console.print("\n" + _unbreakable(parts.methods.plain_text))
        console.print("\n" + parts.methods.bibtex, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue().replace(_JOINT, " ")
    return _ENDS.sub(lambda end: _NOTHING.sub("", end[0].replace(" ", "")), text)


def _unbreakable(text: str) -> str:
    """The text with joints that keep percentages, and numbers with their intervals, on a line."""
    return _INSIDE.sub(_JOINT, text)


Cells = list[tuple[str, list[tuple[str, str]]]]
# How a table is narrowed: its style, whether names are cut, and whether intervals are below.
Shape = tuple[Style, bool, bool]


def _fit_table(table: Table, style: Style, width: int) -> Iterator[tuple[RichTable, int]]:
    """The table in the first shape that fits, and the number of columns that are left out.

    With --full no column is left out: if no shape fits, the table is split into blocks of columns.
    """
    fewer = replace(style, digits=style.decimals - 1)
    # If --digits sets the decimals, all of them stay.
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
    # Columns of prose are left out, except verdicts and the columns that identify a row.
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
    """The cells of a shape; names are cut as far as these columns need, but not below `least`."""
    style, cut, stacked = shape
    columns = aligned_columns(table, style)
    if stacked:
        # The interval is below its number.  Numbers in a column with ranges are aligned left.
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
            # If all rows have the same name, as for a baseline, it must differ from other columns.
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
    """Whether the cells of a column fit on one line, or are verdicts."""
    verdict = column.joined or column.header == "verdict"
    short = _column_width("", cells) <= _SHORTEST
    return column.kind != "text" or verdict or short or _has_names(column, cells)


def _has_names(column: Column, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether the cells are names, which may be shortened, and not prose or verdicts.

    A quarter of the cells may contain blanks, or half if they are shorter than the names.
    """
    texts = [value.strip() for value, _ in cells]
    prose, longest = sum(" " in text for text in texts), max(texts, key=cells_of, default="")
    few = 4 * prose <= len(texts) or (2 * prose <= len(texts) and " " not in longest)
    is_name = column.header == "model" or (few and not any(error.strip() for _, error in cells))
    return column.kind == "text" and column.header != "verdict" and is_name


def _column_width(name: str, cells: Sequence[tuple[str, str]]) -> int:
    """The width of a column, in columns of the terminal."""
    lines = (line for cell in cells for line in " ".join(filter(None, cell)).split("\n"))
    return max(cells_of(name), *map(cells_of, lines), 0)


def _total_width(columns: Cells, places: Sequence[int]) -> int:
    """The width of these columns with their gaps."""
    return sum(_column_width(*columns[i]) + 2 for i in places) - 2


def _key_columns(table: Table) -> list[int]:
    """The places of the leading text columns, which identify a row."""
    kinds = [column.kind == "text" for column in table.columns]
    return list(range(kinds.index(False) if False in kinds else len(kinds)))


def _column_blocks(table: Table, columns: Cells, width: int, all_shown: bool) -> list[list[int]]:
    """The places of the columns of each block: the key columns, and as many others as fit.

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
    """Break the texts of the widest text column so that these columns fit.

    names : whether it may be a column of names.  least : the least width that it keeps.
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
    """The style of a cell: the best estimates are bold, and verdicts have a colour.

    Numbers have no colour, because their sign may be so by construction, for example for the
    leader.
    """
    if isinstance(cell, str):
        return _VERDICTS.get(cell.partition(" ")[0], "")
    return "bold" if isinstance(cell, Estimate) and cell.marked else ""
