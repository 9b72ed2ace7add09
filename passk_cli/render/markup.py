"""Tables for documents: Markdown and LaTeX (booktabs)."""

from __future__ import annotations

import re

from passk_cli.render.style import Style, parts, signature_line
from passk_cli.report.model import Column, Estimate, Report, Table

_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "−": r"$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "·": r"$\cdot$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def markdown(report: Report, style: Style) -> str:
    """GitHub tables, numbers right-aligned, names escaped."""
    blocks = []
    for table in report.tables:
        if table.title:
            blocks.append(f"**{_escape(table.title)}**")
        blocks.append(_markdown_table(table, style))
    blocks += [_escape(report.caption)] if report.caption else []
    blocks += [f"`{signature_line(report)}`"] if report.signature else []
    return "\n\n".join(blocks) + "\n"


def latex(report: Report, style: Style) -> str:
    """A tabular with booktabs rules; the signature is a comment above it."""
    lines = [f"% {signature_line(report)}", r"% needs \usepackage{booktabs}"]
    for table in report.tables:
        if table.title:
            lines.append(f"% {table.title}")
        align = "".join("l" if column.kind == "text" else "r" for column in table.columns)
        lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        lines.append(" & ".join(tex(column.name) for column in table.columns) + r" \\")
        lines.append(r"\midrule")
        for row in table.rows:
            cells = [_joined(c, col, style, tex) for c, col in zip(row, table.columns, strict=True)]
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [f"% {report.caption}"] if report.caption else []
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """Text with LaTeX's special characters escaped.

    >>> tex("gpt-4_0613 at 50%")
    'gpt-4\\\\_0613 at 50\\\\%'
    """
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown_table(table: Table, style: Style) -> str:
    lines = [
        "| " + " | ".join(_escape(column.name) for column in table.columns) + " |",
        "| " + " | ".join("---" if c.kind == "text" else "--:" for c in table.columns) + " |",
    ]
    for row in table.rows:
        cells = [_joined(c, col, style, _escape) for c, col in zip(row, table.columns, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _joined(cell: object, column: Column, style: Style, escape: object) -> str:
    value, sure = parts(cell, column, style)  # type: ignore[arg-type]
    text = escape(f"{value} {sure}".strip())  # type: ignore[operator]
    bold = isinstance(cell, Estimate) and cell.marked
    return (rf"\textbf{{{text}}}" if escape is tex else f"**{text}**") if bold else text


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", text).replace("\n", " ")
