"""Rounds numbers, and writes sentences and cells for all formats that people read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.diagnostic import DIAGNOSTIC_TYPE_BY_NAME, NOTE, Diagnostic
from passk_cli.report import data_types
from passk_cli.report.data_types import Cell, Column, Estimate, Limits, OptionHint, Report, Table
from passk_cli.report.phrases import duration_text, p_number_text, round_half_up
from passk_cli.suggested_fix import FULL_DETAILS_OPTION, OptionWithValue, SuggestedFix
from passk_cli.text import display_width, printable

if TYPE_CHECKING:
    from passk_cli.report.plot import Plot

# A table in a terminal has at most MAX_SCREEN_ROWS rows.
MAX_SCREEN_ROWS = 17
# In a pipe, a context of more than _MAX_CONTEXT_WIDTH characters has a line for hidden rows.
_MAX_CONTEXT_WIDTH = 100
_MIN_WIDTH_FOR_DRAWN_INTERVALS = 110
# _PRINTED is the typographic minus sign. _MARKS translates "+" and "-" to marks for pass and fail.
_PRINTED, _MARKS = "−", str.maketrans("+-", "✓✗")
# _EMPTY marks a cell without a number, and _EXPLAINED matches captions that explain the mark.
_EMPTY, _EXPLAINED = "–", re.compile("(^|[ ,])–[: ]")

FormattedColumns = list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True, eq=False, repr=False)
class Style:
    """How a report is written as text, according to the options about output.

    digits : number of decimals of a share.  If `digits` is None, a share has 3 decimals, or 1
        decimal as a percentage.
    terminal_width : width of the terminal in columns, or 0 if there is no terminal.
    minus : the minus sign: "-" for programs, "−" for people.
    safe_csv : whether csv and tsv have an apostrophe before texts that look like formulas.
    full : whether all tables and columns are shown, with the meaning of the columns.
    spell_option : function that writes an option, for example as a Python keyword.
    """

    digits: int | None = None
    percent: bool = False
    terminal_width: int = 0
    colour: bool = False
    minus: str = "-"
    safe_csv: bool = False
    full: bool = False
    with_signature: bool = False
    intervals_below_estimates: bool = False
    with_methods: bool = False
    spell_option: Callable[[OptionWithValue | SuggestedFix], str] = str

    @property
    def copy_with_typographic_minus(self) -> Style:
        """The style with a typographic minus sign."""
        return replace(self, minus=_PRINTED)

    @property
    def decimals(self) -> int:
        """The number of decimals of a share."""
        return self.digits if self.digits is not None else (1 if self.percent else 3)


def share_text(value: float, style: Style, *, signed: bool = False) -> str:
    """A share, or a difference of shares, as text.  −0.000 is written 0.000."""
    # A share and its percentage must have the same digits. For example, 0.7425 is 0.743 and 74.3 %,
    # never 74.2 %.
    shift = 2 if style.percent else 0
    number = round_half_up(value, style.decimals + shift).scaleb(shift)
    text = f"{number:{'+' if signed and number else ''}.{style.decimals}f}"
    return text.replace("-", style.minus)


def answer_text(report: Report, style: Style) -> str:
    """The answer of a report as text, with numbers rounded like in the tables."""
    return " ".join(sentence_text(sentence, style) for sentence in report.answer)


class VisibleParts(NamedTuple):
    """The parts of a report that the options for output select, in reading order.

    tables : with --full, all tables and a legend.  Otherwise, the tables, columns and rows that
        matter for a decision.
    signature : the line that contains everything needed to reproduce the numbers, or "".
    """

    answer: str
    tables: tuple[Table, ...]
    context: str
    signature: str
    methods: data_types.MethodsText | None


def visible_parts(report: Report, style: Style, max_rows: int = MAX_SCREEN_ROWS) -> VisibleParts:
    """The parts of a report that a style selects.

    max_rows : maximum number of rows of a table in a terminal without --full.
    """
    left_out = (data_types.BRIEF if style.full else data_types.FULL, data_types.COMMENT)
    selected = [table for table in report.tables if table.visibility not in left_out]
    cuts: list[OptionHint] = []
    if style.full:
        columns = (data_types.ALWAYS, data_types.FULL)
        tables = [table.with_columns_of_visibility(columns) for table in selected]
        if entries := {c.header: c.meaning for t in tables for c in t.columns if c.meaning}:
            heads = (Column("column"), Column("meaning"))
            tables.append(Table(heads, tuple(entries.items()), "Columns"))
        words = [*report.context, *report.make_full_context()]
    else:
        is_wide = style.terminal_width >= _MIN_WIDTH_FOR_DRAWN_INTERVALS
        shown = (data_types.ALWAYS, data_types.WIDE) if is_wide else (data_types.ALWAYS,)
        limit = max_rows if style.terminal_width else 0
        tables = [t.with_columns_of_visibility(shown).with_fewer_rows(limit) for t in selected]
        counts = [(len(t.rows), len(s.rows)) for t, s in zip(tables, selected, strict=True)]
        cuts = [OptionHint(f"{few:,} of {many:,} rows") for few, many in counts if few < many]
        words = [*dict.fromkeys(cuts), *report.context]
    context = context_line(words, style)
    if cuts and not style.terminal_width and len(context) > _MAX_CONTEXT_WIDTH:
        context = (
            f"{context_line(dict.fromkeys(cuts), style)}\n{context_line(report.context, style)}"
        )
    empty = any(
        cell is None
        or (isinstance(cell, Estimate) and cell.value is None)
        or (isinstance(cell, Limits) and None in (cell.low, cell.high))
        for table in tables for row in table.rows for cell in row
    )  # fmt: skip
    if empty and not _EXPLAINED.search(context):
        context = " · ".join(filter(None, (context, f"{_EMPTY}: no number")))
    has_signature = style.with_signature and report.signature
    signature = data_types.options_signature_line(report) if has_signature else ""
    make_methods = report.make_methods_text if style.with_methods else None
    methods = None if make_methods is None else make_methods()
    answer = answer_text(report, style)
    return VisibleParts(
        answer, tuple(tables), "\n".join(map(printable, context.split("\n"))), signature, methods
    )


def context_line(context: Iterable[str | OptionHint], style: Style) -> str:
    """The line of context below the tables."""
    return " · ".join(filter(None, (sentence_text((part,), style) for part in context)))


def warnings_first(messages: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The messages, with warnings before notes."""
    return sorted(messages, key=lambda message: message.severity == NOTE)


def default_messages(report: Report) -> list[Diagnostic]:
    """The messages, warnings first, without the messages that are shown only with --full."""
    late = {name for name, message in DIAGNOSTIC_TYPE_BY_NAME.items() if message.only_with_full}
    return [message for message in warnings_first(report.messages) if message.name not in late]


def message_line(message: Diagnostic, style: Style) -> str:
    """A message in the style of a compiler: "warning[pooled-settings]: attempts differ in …"."""
    name = f"[{message.name}]" if message.name else ""
    return f"{message.severity}{name}: {sentence_text(message.pieces(), style)}"


def report_with_answers_as_titles(report: Report, style: Style) -> Report:
    """The report for charts, with rounded messages, and with the answer as the title of each plot.

    The plot's own title moves to the start of its subtitle.
    """

    def titled(plot: Plot) -> Plot:
        title = answer_text(replace(report, answer=plot.answer), style.copy_with_typographic_minus)
        if not title:
            return plot
        subtitle = " · ".join(filter(None, (plot.title, plot.subtitle)))
        return replace(plot, title=title, subtitle=subtitle)

    words = tuple(
        Diagnostic(m.name, m.severity, "{text}", fields={"text": sentence_text(m.pieces(), style)})
        for m in report.messages
    )
    return replace(report, messages=words, make_plots=lambda: tuple(map(titled, report.plots)))


def sentence_text(sentence: Sequence[Any], style: Style) -> str:
    """A sentence as text, with rounded numbers.

    sentence : words, cells, hints about options, and pairs of a number and its column or kind.
    """
    texts = []
    for piece in sentence:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if isinstance(piece, OptionHint):
            hidden = style.full and piece.option == FULL_DETAILS_OPTION
            texts += [] if hidden else [piece.text(style.spell_option)]
            continue
        kind = "count" if isinstance(piece, int) else "share"
        cell, column = piece if isinstance(piece, tuple) else (piece, Column("", kind))
        if isinstance(column, str):
            kind, _, unit = column.partition(" ")
            column = Column(unit, kind)
        value, error = cell_parts(cell, column, style)
        unit = ""
        if style.percent and _is_share(cell, column):
            # Differences between percentages are printed in points, for example "5 points" for the
            # difference of 20 % and 25 %.
            signed = isinstance(cell, Estimate) and cell.signed
            unit = column.header or ("points" if signed else "%")
        texts.append(" ".join(filter(None, (value, error, unit))))
    return printable("".join(texts))


def cell_parts(cell: Cell, column: Column, style: Style) -> tuple[str, str]:
    """A cell as two strings: its value, and its interval, standard error or letters (or "")."""
    if cell is None:
        return _EMPTY, ""
    if isinstance(cell, Estimate):
        return _estimate_parts(cell, style if cell.is_share else replace(style, percent=False))
    if isinstance(cell, data_types.PhraseCell):
        return sentence_text(cell.pieces, style), ""
    if column.kind == "score":
        style = replace(style, percent=False)
    if isinstance(cell, Limits):
        if cell.low is None or cell.high is None:
            return _EMPTY, ""
        return "", _interval_text(cell.low, cell.high, column.kind, style)
    if column.kind == "strip":
        return (str(cell).translate(_MARKS) if style.minus == _PRINTED else str(cell)), ""
    if isinstance(cell, str):
        return printable(cell), ""
    if column.kind in data_types.AMOUNT_UNITS:
        return quantity_text(cell, column.kind, style), ""
    if column.kind in _NUMBER_FORMATTER_BY_KIND:
        return _NUMBER_FORMATTER_BY_KIND[column.kind](cell, style), ""
    return (f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"), ""


def _estimate_parts(cell: Estimate, style: Style) -> tuple[str, str]:
    if cell.value is None:
        return _EMPTY, ""
    ends = (end for end in (cell.value, cell.range_upper_end) if end is not None)
    texts = dict.fromkeys(_number_text(end, cell.unit, style, cell.signed) for end in ends)
    value = (" to " if cell.signed else "–").join(texts)
    value = f"{cell.tie_or_equivalence_sign} {value}" if cell.tie_or_equivalence_sign else value
    if cell.low is not None and cell.high is not None:
        return value, _interval_text(cell.low, cell.high, cell.unit, style, cell.signed)
    if cell.se is not None:
        return value, f"±{_number_text(cell.se, cell.unit, style)}"
    return value, cell.tie_letters


def _number_text(value: float, unit: str, style: Style, signed: bool = False) -> str:
    if unit in data_types.AMOUNT_UNITS:
        return quantity_text(value, unit, style, signed=signed)
    return share_text(value, style, signed=signed)


def _interval_text(low: float, high: float, unit: str, style: Style, signed: bool = False) -> str:
    """The limits of an interval in brackets, without the unit of the limits.

    A limit of an interval that excludes 0 is not rounded to 0.

    >>> _interval_text(0.0041, 0.03, "share", Style(digits=2), True)
    '[+0.004, +0.03]'
    >>> _interval_text(-0.0041, 0.03, "share", Style(digits=2), True)
    '[0.00, +0.03]'
    """
    if unit not in data_types.AMOUNT_UNITS:
        excludes_zero = signed and low * high > 0
        options = (style, signed, excludes_zero)
        limits = (_limit_text_not_rounded_to_zero(end, *options) for end in (low, high))
        return f"[{', '.join(limits)}]"
    first, last = (_quantity_text_without_unit(end, unit, style, signed) for end in (low, high))
    return f"[{first}, {'∞)' if math.isinf(high) else f'{last}]'}"


def _limit_text_not_rounded_to_zero(
    value: float, style: Style, signed: bool, excludes_zero: bool
) -> str:
    further_digits = range(4 if excludes_zero else 1)
    styles = (replace(style, digits=style.decimals + further) for further in further_digits)
    texts = [share_text(value, finer, signed=signed) for finer in styles]
    return next((text for text in texts if re.search("[1-9]", text)), texts[0])


def quantity_text(value: float, unit: str, style: Style, *, signed: bool = False) -> str:
    """An amount, such as a cost, with its unit and three significant digits.

    A relative change has two digits.

    >>> [quantity_text(x, "$", Style()) for x in (0.01312, 12.4, 2070.4)]
    ['$0.0131', '$12.40', '$2,070']
    >>> quantity_text(28392.1, "tokens", Style()), quantity_text(178.04, "s", Style())
    ('28,392', '178 s')
    >>> [quantity_text(x, "%", Style(), signed=True) for x in (0.1234, -0.005, 1.535)]
    ['+12 %', '-0.50 %', '+154 %']
    >>> quantity_text(math.inf, "$", Style())
    '$∞'
    """
    digits = _quantity_text_without_unit(value, unit, style, signed)
    sign = digits[0] if digits[0] in "+-−" else ""
    units = {"$": ("$", ""), "s": ("", " s"), "%": ("", " %"), "days": ("", " days")}
    before, after = units.get(unit, ("", ""))
    return f"{sign}{before}{digits.removeprefix(sign)}{after}"


def _quantity_text_without_unit(value: float, unit: str, style: Style, signed: bool) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else f"{style.minus}∞"
    if unit == "min":
        return duration_text(value)
    value, leading_decimals = (100 * value, 1) if unit == "%" else (value, 2)
    size = abs(value)
    decimals = max(0, leading_decimals - math.floor(math.log10(size))) if size > 1e-12 else 0
    if unit == "$" and 1 <= size < 1000:
        decimals = 2
    shape = f",.{decimals}f" if decimals <= 8 else ".2g"
    number = round_half_up(value, decimals) if decimals <= 8 else value
    text = f"{number:{'+' if signed and size > 1e-12 else ''}{shape}}"
    return text.replace("-", style.minus)


def percentage_points_text(difference: float) -> str:
    """A difference of shares in percentage points, with two significant digits.

    >>> percentage_points_text(0.1706), percentage_points_text(0.01), percentage_points_text(0.9999)
    ('17 points', '1 point', '100 points')
    """
    amount = f"{100 * difference:.2g}" if difference < 0.995 else "100"
    return f"{amount} point{'s' * (amount != '1')}"


def four_digit_text(value: float) -> str:
    """A number of any size with at least four significant digits, including trailing zeros.

    >>> [four_digit_text(number) for number in (11.5, 0.0365123, 32372.4, 0.0)]
    ['11.50', '0.03651', '32,372', '0']
    """
    if value == 0:
        return "0"
    if abs(value) < 1e-9:
        return f"{value:.3e}"
    return f"{value:,.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"


def column_headings(table: Table, style: Style) -> list[str]:
    """The headings of a table's columns, with "(%)" for columns of percentages."""
    names = []
    for place, column in enumerate(table.columns):
        shares = style.percent and any(_is_share(row[place], column) for row in table.rows)
        names.append(printable(column.header) + (" (%)" if shares else ""))
    return names


def _is_share(cell: Cell, column: Column) -> bool:
    if isinstance(cell, Estimate):
        return cell.is_share and cell.value is not None
    kinds_without_shares = ("score", *data_types.AMOUNT_UNITS)
    if isinstance(cell, str | data_types.PhraseCell | None) or column.kind in kinds_without_shares:
        return False
    return isinstance(cell, Limits) or column.kind in ("share", "fine", "given")


def headings_and_aligned_cells(table: Table, style: Style) -> FormattedColumns:
    """The heading and the aligned cells of each column of a table."""
    columns = []
    names = column_headings(table, style)
    for place, (name, column) in enumerate(zip(names, table.columns, strict=True)):
        cells = [cell_parts(row[place], column, style) for row in table.rows]
        limited = [cell for cell in cells if cell[1]]
        first = max((display_width(value) for value, _ in limited or cells), default=0)
        second = max((len(error) for _, error in cells), default=0)
        columns.append((name, [
            (value, "") if display_width(value) > first else (
                pad(value, first, column.is_numeric),
                error.ljust(second) if error[:1].isalpha() else error.rjust(second))
            for value, error in cells
        ]))  # fmt: skip
    return columns


# Each value is the function that writes a number in a column of this kind.
_NUMBER_FORMATTER_BY_KIND: dict[str, Callable[[float, Style], str]] = {
    "share": share_text, "score": share_text,
    "fine": lambda value, style: share_text(value, replace(style, digits=style.decimals + 2)),
    "given": lambda value, style:
        f"{value * (100 if style.percent else 1):.12g}".replace("-", style.minus),
    "amount": lambda value, _: f"{value:,.2f}",
    "points": lambda value, _: percentage_points_text(value),
    "number": lambda value, _: four_digit_text(value),
    "p": lambda value, _: p_number_text(value),
}  # fmt: skip


def pad(text: str, width: int, right: bool = False) -> str:
    """The text, filled with blanks to a width in terminal columns."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks
