"""Writes a report as csv, tsv, json or jsonl, with numbers at full precision.

An undefined number is an empty cell in csv and tsv, and null in json.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from typing import Any

from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import PasskError
from passk_cli.render.style import Style, answer_text, sentence_text, visible_parts
from passk_cli.report.data_types import Cell, Estimate, Limits, OptionHint, PhraseCell, Report
from passk_cli.text import printable, printable_json

# The version changes if a key of the JSON output disappears or changes its meaning.
REPORT_SCHEMA_VERSION = "passk-report/2"
ERROR_SCHEMA_VERSION = "passk-error/1"
# Spreadsheets also run formulas that begin with a full-width sign, and formulas with blanks,
# control characters or invisible characters before the sign.
_FORMULA_PATTERN = re.compile(
    r"[\t\r\n]|[\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]*[=+\-@＝＋－＠]"
)


def csv_text(report: Report, style: Style) -> str:
    """The rows of a report as CSV with a header (RFC 4180, but lines end in \\n)."""
    return _delimited_text(report, ",", safe=style.safe_csv)


def tsv_text(report: Report, style: Style) -> str:
    """The rows of a report as tab-separated values with a header."""
    return _delimited_text(report, "\t", safe=style.safe_csv)


def json_text(report: Report, style: Style) -> str:
    """A report as one JSON object with its answer, rows, messages, context and signature."""
    verdict = report.gate_result_word
    result = {"result": verdict, "exit": report.exit_code} if verdict else {}
    # --digits and --percent change only tables, so the answer in JSON has the default style.
    methods = visible_parts(report, style).methods
    words = {"answer": text} if (text := answer_text(report, Style())) else {}
    # Boolean fields are left out, because they only select the wording of an answer.
    stated_answers = [
        {"name": sentence.name, "fields": _fields_as_data({
            name: value for name, value in sentence.fields.items()
            if not isinstance(value, bool) and value not in (None, "", [], ())
        })}
        for sentence in report.answer
    ]  # fmt: skip
    further_lists = report.further_json_lists_by_name.items()
    document = {
        "schema": REPORT_SCHEMA_VERSION, **result, **words,
        **({"answers": stated_answers} if stated_answers else {}), "rows": _records(report),
        "messages": list(map(message_data, report.messages)),
        "context": visible_parts(report, Style(full=True)).context,
        "signature": dict(report.signature),
        **{name: list(map(dict, items)) for name, items in further_lists},
        **({"methods": {"text": methods.text_with_author_year_citations,
            "bibtex": methods.bibtex}} if methods else {}),
    }  # fmt: skip
    return printable_json(document, indent=2) + "\n"


def message_data(message: Diagnostic) -> dict[str, Any]:
    """A message as a dict, with fields at full precision and text with default rounding."""
    text = sentence_text(message.pieces(), Style())
    return {
        "name": message.name, "severity": message.severity, "text": text,
        "fields": _fields_as_data(message.fields), "remedies": list(message.remedies),
    }  # fmt: skip


def _fields_as_data(fields: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Estimate):
            data[name] = {"estimate": value.value, **_finite_limits(value)}
        elif isinstance(value, Limits):
            data[name] = _finite_limits(value)
        elif not isinstance(value, OptionHint | PhraseCell):
            data[name] = list(value) if isinstance(value, tuple | list) else _plain_value(value)
    return data


def _finite_limits(interval: Estimate | Limits) -> dict[str, float | None]:
    ends = {"low": interval.low, "high": interval.high}
    return {name: end if end is None or math.isfinite(end) else None for name, end in ends.items()}


def error_json_document(error: PasskError, form: str) -> str:
    """An error as a JSON document in the format `form`, which is "json" or "jsonl"."""
    place, problem, remedy = map(printable, error.parts)
    data = {
        "name": error.name, "kind": error.kind, "place": place, "problem": problem,
        "remedy": remedy, "remedies": list(error.remedies), "exit": error.exit_code,
    }  # fmt: skip
    document = {"schema": ERROR_SCHEMA_VERSION, "error": data}
    return printable_json(document, indent=2 if form == "json" else None) + "\n"


def jsonl_text(report: Report, style: Style) -> str:
    """The rows of a report as JSON lines."""
    return "".join(printable_json(record) + "\n" for record in _records(report))


def _records(report: Report) -> list[dict[str, Any]]:
    names = [column.header for column in report.data_table.columns]
    return [dict(zip(names, map(_plain_value, row), strict=True)) for row in report.data_table.rows]


def escape_formula(cell: str | int | float | None) -> str | int | float | None:
    """The cell, with a leading apostrophe if a spreadsheet would run the cell as a formula.

    A formula begins with a tab, a line break, or one of the signs =, +, - and @.  The sign may be
    a full-width character, or come after blanks and control characters.  Cells that contain numbers
    do not change.
    Source: OWASP, "CSV injection".

    >>> escape_formula("=1+1"), escape_formula(" ＝1+1"), escape_formula(-0.5)
    ("'=1+1", "' ＝1+1", -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA_PATTERN.match(cell) else cell


def _delimited_text(report: Report, delimiter: str, *, safe: bool) -> str:
    lines = _CsvLines()
    # csv.writer puts a cell with \r in quotes only if its line terminator contains \r.
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    for row in ([column.header for column in report.data_table.columns], *report.data_table.rows):
        cells = map(_plain_value, row)
        writer.writerow(list(map(escape_formula, cells) if safe else cells))
    return "".join(lines)


class _CsvLines(list[str]):
    """A list of lines with the `write` method of a file, which replaces \\r\\n by a newline."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _plain_value(cell: Cell) -> str | int | float | None:
    if isinstance(cell, Limits | PhraseCell):
        raise TypeError("a cell of a tidy row must be one number or one string")
    if isinstance(cell, Estimate):
        cell = cell.value if cell.range_upper_end is None else None
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
