"""Writes a report for a terminal, with tables that fit the width of the terminal.

If a table is too wide, passk shows one decimal less.  If the table has few rows, passk also moves
intervals below the estimates.  If the table is still too wide, passk leaves out columns that the
answer does not mention, and finally shortens long names.  With --full, passk splits the table into
blocks of columns instead.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from passk_cli.render import style as formatting
from passk_cli.render.interval_strip import NARROWEST_STRIP, strip_column
from passk_cli.render.style import MAX_SCREEN_ROWS, FormattedColumns, Style
from passk_cli.report.data_types import WIDE, Cell, Column, Estimate, OptionHint, Report, Table
from passk_cli.text import (
    NameList,
    balance_lines,
    display_width,
    first_few,
    names_that_fit,
    plural,
    printable,
    short_names,
    wrap_text,
)

# rich breaks lines even at a no-break space, so passk replaces blanks that must not break by the
# character _UNBREAKABLE_BLANK_STAND_IN while rich makes the lines.
_UNBREAKABLE_BLANK_STAND_IN = "\u2800"
_BLANK_TO_KEEP_UNBROKEN_PATTERN = re.compile(
    r"(?<=\d) (?=%|more\b)|(?<=\w) (?=\[[+−-]?\d)|(?<=[\d%],) (?=[+−-]?[\d.]+\])"
    r"|(?<=[<=]) (?=\d)|(?<=\bp) (?=[<=] )|(?<=[@^]\d) (?=\d)|(?<=\band) (?=[\d,]+ more\b)"
)
_COLOUR_CODE = re.compile(r"\x1b\[[\d;]*m")
_TRAILING_BLANKS_PATTERN = re.compile(r"(?:\x1b\[[\d;]*m| )+$", re.MULTILINE)
_EMPTY_COLOUR_CODE_PATTERN = re.compile(r"\x1b\[[1-9][\d;]*m\x1b\[0m")
_MAIN_CLAUSE = re.compile(r"^.*?(?=[;.](?:\s|$)|$)", re.DOTALL)
_COLOUR_BY_VERDICT = {
    "pass": "green", "fail": "red", "error": "red", "undecided": "yellow", "better": "green",
    "worse": "red",
}  # fmt: skip
# In a narrow terminal, a column is at least _NARROWEST characters wide, a column with readable text
# at least _READABLE, and a column with names at least _SHORTEST.
_NARROWEST, _READABLE, _SHORTEST = 8, 14, 16
_MIN_NAME_LIST_WIDTH = 28
_MAX_ROWS_WITH_STACKED_INTERVALS = 10
# Without --full, a report and its first messages together have at most _SCREEN_LINES lines, unless
# they are longer even if each table has the smallest number of rows in _ROW_LIMITS.
_SCREEN_LINES, _ROW_LIMITS = 30, (MAX_SCREEN_ROWS, 13, 9, 5, 3)


def terminal_text(report: Report, style: Style) -> str:
    """A report as text for a terminal: answer, tables, context and signature."""
    style, width = style.copy_with_typographic_minus, style.terminal_width or 80
    messages = formatting.default_messages(report)[:3]
    message_lines = [formatting.message_line(message, style) for message in messages]
    limits = _ROW_LIMITS if style.terminal_width and not style.full else _ROW_LIMITS[:1]
    text = ""
    for max_rows in limits:
        text = _terminal_text(report, style, max_rows)
        lines = _COLOUR_CODE.sub("", "\n".join((text, *message_lines))).splitlines()
        if sum(max(1, math.ceil(len(line) / width)) for line in lines) <= _SCREEN_LINES:
            break
    return text


def _terminal_text(report: Report, style: Style, max_rows: int) -> str:
    width = style.terminal_width or 80
    console = Console(
        file=io.StringIO(), width=width, force_terminal=style.colour, no_color=not style.colour,
        highlight=False, emoji=False, markup=False,
    )  # fmt: skip
    parts = formatting.visible_parts(report, style, max_rows)
    if parts.answer:
        answer = Text(_with_unbreakable_blanks(parts.answer))
        answer.highlight_regex(_MAIN_CLAUSE, "bold")
        answer.highlight_regex(r"\b[A-Z]{4,}(?=:)", lambda w: _COLOUR_BY_VERDICT.get(w.lower(), ""))
        console.print(answer)
        console.print()
    hidden = dict[str, None]()
    for item in parts.tables:
        if item.title:
            console.print(Text(printable(item.title), style="bold"))
        for grid, headings in _fit_table(item, style, width, parts.answer):
            console.print(grid)
            console.print()
            hidden |= dict.fromkeys(headings)
    more = f"{plural(len(hidden), 'more column')} ({first_few([*hidden])})"
    cuts = [OptionHint(more)] if hidden else []
    if context := formatting.context_line((*cuts, parts.context), style):
        lines = balance_lines(_with_unbreakable_blanks(context), width)
        console.print(Text("\n".join(lines), style="dim"))
    if parts.signature:
        # passk does not wrap the signature, so that you can copy the signature as one line.
        console.print(Text(parts.signature, style="dim"), soft_wrap=True)
    if methods := parts.methods:
        console.print("\n" + _with_unbreakable_blanks(methods.text_with_author_year_citations))
        console.print("\n" + methods.bibtex, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue().replace(_UNBREAKABLE_BLANK_STAND_IN, " ")
    return _TRAILING_BLANKS_PATTERN.sub(
        lambda end: _EMPTY_COLOUR_CODE_PATTERN.sub("", end[0].replace(" ", "")), text
    )


def _with_unbreakable_blanks(text: str) -> str:
    return _BLANK_TO_KEEP_UNBROKEN_PATTERN.sub(_UNBREAKABLE_BLANK_STAND_IN, text)


def _fit_table(
    table: Table, style: Style, width: int, answer: str
) -> Iterator[tuple[RichTable, list[str]]]:
    """Yield the widest fitting form of the table or of each block, with the hidden headings.

    With --full, no column is left out, and a table that does not fit is split into blocks.
    """
    fewer = replace(style, digits=style.decimals - 1)
    less = style if style.digits is not None or not style.decimals else fewer
    drawn = next((i for i, column in enumerate(table.columns) if column.visibility == WIDE), None)
    all_places = [i for i in range(len(table.columns)) if i != drawn]
    few = len(table.rows) <= _MAX_ROWS_WITH_STACKED_INTERVALS
    for shape, stacked in ((style, False), (less, False), (less, few)):
        columns = _formatted_columns(table, shape, stacked)
        total = _total_width(columns, all_places)
        if drawn is not None and width - total - 2 >= NARROWEST_STRIP:
            columns[drawn] = strip_column([row[drawn] for row in table.rows], width - total - 2)
            all_places, total = sorted([*all_places, drawn]), 0
        if total <= width:
            yield _rich_table(table, columns, all_places), []
            return
    if style.full:
        columns = _formatted_columns(table, style, False)
        for places in _column_blocks(table, columns, width):
            block = _formatted_columns(table, style, False)
            _wrap_widest_column(block, table, places, width, names=True)
            yield _rich_table(table, block, places), []
        return
    columns = _formatted_columns(table, less, few)
    _wrap_widest_column(columns, table, all_places, width, least=_READABLE)
    fits = few and _total_width(columns, all_places) <= width
    if not fits or _has_text_over_two_lines(table, columns):
        columns = _formatted_columns(table, less, few)
    columns = _with_shorter_headings(columns, all_places, width)
    places = _important_columns(table, columns, width, answer)
    places = _places_with_fitting_name_list(columns, table, places, width)
    _cut_names(columns, table, places, width)
    _wrap_widest_column(columns, table, places, width)
    hidden = [table.columns[i].header for i in all_places if i not in places]
    yield _rich_table(table, columns, places), hidden


def _formatted_columns(table: Table, style: Style, stacked: bool) -> FormattedColumns:
    columns = formatting.headings_and_aligned_cells(table, style)
    if stacked:
        columns = [
            (name, [(f"{value.strip() if ranged else value}\n{error}".rstrip() if value.strip()
                     else error, "") if "]" in error else (value, error) for value, error in cells])
            for name, cells in columns for ranged in [any("–" in v.strip("– ") for v, _ in cells)]
        ]  # fmt: skip
    return columns


def _important_columns(
    table: Table, columns: FormattedColumns, width: int, answer: str
) -> list[int]:
    """The indices of the columns to show if a table is too wide to show all columns.

    Important columns identify a row, contain a verdict, or occur in the answer.  Further columns
    are shown if they fit without shortened names.
    """
    keys, groups = _key_columns(table), _inseparable_column_groups(table)
    headers = [[table.columns[i].header for i in group] for group in groups]
    mentioned = [
        group for group, names in zip(groups, headers, strict=True)
        if {"verdict", "difference"} & {*names} or names[0].startswith(("gain ", "k for "))
        or any(_answer_mentions_header(answer, name) for name in names)
    ]  # fmt: skip
    chosen = mentioned or groups[:1]
    chosen.sort(key=lambda group: table.columns[group[0]].header != "difference")
    floors = _columns_with_shortest_names(columns, table)
    while len(chosen) > 1 and _total_width(floors, [*keys, *chain(*chosen)]) > width:
        chosen = chosen[:-1]
    places = [*keys, *chain(*chosen)]
    for group in groups:
        one_line = all(_stays_on_one_line(table.columns[i], columns[i][1]) for i in group)
        if group not in chosen and one_line:
            if _total_width(columns, [*places, *group]) > width:
                break
            places += group
    return sorted(places)


def _answer_mentions_header(answer: str, header: str) -> bool:
    pattern = rf"(?<![\w@^]){re.escape(header)}(?![\w@^])"
    return bool(re.search(r"[\W_]", header) and re.search(pattern, answer))


def _columns_with_shortest_names(columns: FormattedColumns, table: Table) -> FormattedColumns:
    copies = [*columns]
    for i in range(len(columns)):
        if table.columns[i].kind == "text":
            _cut_names(copies, table, [i], _SHORTEST)
            _wrap_widest_column(copies, table, [i], _NARROWEST)
    return copies


def _has_text_over_two_lines(table: Table, columns: FormattedColumns) -> bool:
    """Whether a cell has more than two lines, except in verdicts and names of rows."""
    keys = _key_columns(table)
    return any(
        value.count("\n") > 1 for i, column in enumerate(table.columns)
        if i not in keys and column.header != "verdict" for value, _ in columns[i][1]
    )  # fmt: skip


def _cut_names(columns: FormattedColumns, table: Table, places: Sequence[int], width: int) -> None:
    """Shorten names in the widest columns until the table fits.  Different names stay different."""
    name_columns = [i for i in places if _has_names(table.columns[i], columns[i][1])]
    texts = {i: [value.strip() for value, _ in columns[i][1]] for i in name_columns}
    names = {i: [text for text in texts[i] if " " not in text] for i in name_columns}
    all_names = list(chain.from_iterable(names.values()))
    for i in sorted(name_columns, key=lambda i: -_column_width(*columns[i])):
        name, cells = columns[i]
        over = _total_width(columns, places) - width
        if over <= 0:
            break
        column_names = all_names if len({*names[i]}) == 1 else names[i]
        room = max(_column_width(name, cells) - over, _SHORTEST)
        short = dict(zip(column_names, short_names(column_names, room), strict=True))
        lines = (short.get(text) or "\n".join(wrap_text(text, room)) for text in texts[i])
        columns[i] = (name, [(line, "") for line in lines])


def _with_shorter_headings(
    columns: FormattedColumns, places: Sequence[int], width: int
) -> FormattedColumns:
    """The columns, with shorter names of models as headings if the table is too wide."""
    names = [name for name, _ in columns if len(name) > _SHORTEST and " " not in name]
    shorter = columns
    for room in range(max(map(len, names), default=0), _SHORTEST - 1, -1):
        if len(names) < 2 or _total_width(shorter, places) <= width:
            break
        short = dict(zip(names, short_names(names, room), strict=True))
        shorter = [(short.get(name, name), cells) for name, cells in columns]
    return shorter


def _places_with_fitting_name_list(
    columns: FormattedColumns, table: Table, places: list[int], width: int
) -> list[int]:
    """The places, with one more column if its lists of names fit with fewer names."""
    room = width - _total_width(columns, places) - 2
    hidden = [i for i in range(len(table.columns)) if i not in places]
    lists = [i for i in hidden if any(isinstance(row[i], NameList) for row in table.rows)]
    if not lists or room < _MIN_NAME_LIST_WIDTH:
        return places
    at, shorter = lists[0], room - len(" and 1,000 more")
    cells = (row[at] for row in table.rows)
    texts = (names_that_fit(cell.names, shorter, cell.joint) if isinstance(cell, NameList)
             else str(cell) for cell in cells)  # fmt: skip
    columns[at] = (columns[at][0], [(printable(text), "") for text in texts])
    return sorted([*places, at])


def _stays_on_one_line(column: Column, cells: Sequence[tuple[str, str]]) -> bool:
    verdict = column.stays_with_previous or column.header == "verdict"
    short = _column_width("", cells) <= _SHORTEST
    return column.kind != "text" or verdict or short or _has_names(column, cells)


def _has_names(column: Column, cells: Sequence[tuple[str, str]]) -> bool:
    """Whether a column contains names, which may be shortened, rather than prose or verdicts.

    In a column of names, at most a quarter of the cells contain blanks, or at most half if the
    longest cell has no blank.
    """
    texts = [value.strip() for value, _ in cells]
    prose, longest = sum(" " in text for text in texts), max(texts, key=display_width, default="")
    few = 4 * prose <= len(texts) or (2 * prose <= len(texts) and " " not in longest)
    is_name = column.header == "model" or (few and not any(error.strip() for _, error in cells))
    return column.kind == "text" and column.header != "verdict" and is_name


def _column_width(name: str, cells: Sequence[tuple[str, str]]) -> int:
    lines = (line for cell in cells for line in " ".join(filter(None, cell)).split("\n"))
    return max(display_width(name), *map(display_width, lines), 0)


def _total_width(columns: FormattedColumns, places: Sequence[int]) -> int:
    return sum(_column_width(*columns[i]) + 2 for i in places) - 2


def _key_columns(table: Table) -> list[int]:
    kinds = [column.kind == "text" for column in table.columns]
    return list(range(kinds.index(False) if False in kinds else len(kinds)))


def _inseparable_column_groups(table: Table) -> list[list[int]]:
    """Groups of column indices that stay together, without the columns that identify a row.

    A verdict or a joined column stays with the column before it.
    """
    keys, groups = _key_columns(table), list[list[int]]()
    for i, column in enumerate(table.columns):
        if (column.stays_with_previous or column.header == "verdict") and groups:
            groups[-1].append(i)
        elif i not in keys and column.visibility != WIDE:
            groups.append([i])
    return groups


def _column_blocks(table: Table, columns: FormattedColumns, width: int) -> list[list[int]]:
    keys = _key_columns(table)
    blocks: list[list[int]] = [[]]
    for group in _inseparable_column_groups(table):
        if blocks[-1] and _total_width(columns, [*keys, *blocks[-1], *group]) > width:
            blocks.append([])
        blocks[-1] += group
    return [[*keys, *block] for block in blocks]


def _wrap_widest_column(
    columns: FormattedColumns, table: Table, places: Sequence[int], width: int, *,
    names: bool = False, least: int = _NARROWEST,
) -> None:  # fmt: skip
    """Wrap the texts of the widest text column so that the table fits.

    names : whether passk may also wrap columns with names, for example names of tasks.
    """
    texts = [i for i in places if table.columns[i].kind == "text"
             and (names or not _has_names(table.columns[i], columns[i][1]))]  # fmt: skip
    over = _total_width(columns, places) - width
    if texts and over > 0:
        widest = max(texts, key=lambda i: _column_width(*columns[i]))
        name, cells = columns[widest]
        words = [word for value, _ in cells for word in value.split() if len(word) <= _READABLE]
        room = max(_column_width(name, cells) - over, least, *map(display_width, words))
        wrapped = [wrap_text(_with_unbreakable_blanks(value), room) for value, _ in cells]
        pairs = zip(wrapped, cells, strict=True)
        columns[widest] = (name, [("\n".join(lines), error) for lines, (_, error) in pairs])


def _rich_table(table: Table, columns: FormattedColumns, places: Sequence[int]) -> RichTable:
    grid = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    for i in places:
        prose = table.columns[i].kind == "text"
        grid.add_column(_with_unbreakable_blanks(columns[i][0]), no_wrap=not prose, overflow="fold")
    for row, cells in enumerate(table.rows):
        if row and row == table.tied_leader_count:
            grid.add_row(*(Text("─" * _column_width(*columns[i]), style="dim") for i in places))
        texts = []
        for i in places:
            value, error = columns[i][1][row]
            number, line, below = value.partition("\n")
            stacked = table.columns[i].kind != "text"
            words = _with_unbreakable_blanks(number if stacked else value)
            text = Text(words, style=_cell_style(cells[i]))
            if stacked and line:
                text.append(f"\n{below}", style="dim")
            texts.append(text.append(" " * bool(value) + error, style="dim") if error else text)
        grid.add_row(*texts)
    return grid


def _cell_style(cell: Cell) -> str:
    if isinstance(cell, str):
        return _COLOUR_BY_VERDICT.get(cell.partition(" ")[0], "")
    return "bold" if isinstance(cell, Estimate) and cell.is_significantly_best else ""
