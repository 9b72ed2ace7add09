"""Writes a report as Markdown, LaTeX (booktabs) or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from passk_cli.render import style as formatting
from passk_cli.render.style import Style, cell_parts, column_headings, message_line, visible_parts
from passk_cli.report import data_types
from passk_cli.report.data_types import Cell, Column, Estimate, Report, Table
from passk_cli.report.phrases import plural
from passk_cli.text import printable

_LOWER_LIMIT_PATTERN = re.compile(r"(\\\[[+−\d.]+), ")
# GitHub turns words into links if they begin like URLs, mail addresses, issue numbers or @name.
_GITHUB_AUTOLINK_START_PATTERN = re.compile(
    r"(?i)(?<![a-z0-9])(?:https?|ftp|mailto|xmpp)(?=:)|(?<![a-z0-9])www(?=\.)|(?<![a-z0-9])gh(?=-\d)"
    r"|(?<!\w)[@#](?=\w)|#(?=\d)|@(?=[\w-]+\.\w)"
)
# GitHub turns hexadecimal words into links, because a hexadecimal word may be a commit hash.
_COMMIT_HASH_PATTERN = re.compile(r"(?i)(?<![a-z0-9])[0-9a-f]{7,40}(?![a-z0-9])")
# GitHub accepts 65,536 characters per comment, and a comment has several sections.
_MAX_SECTION_CHARACTERS = 12_000
_LATEX_ESCAPES = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "−": r"$-$",
    "±": r"$\pm$", "✓": "+", "✗": r"$-$", "≥": r"$\geq$", "≤": r"$\leq$", "·": r"$\cdot$",
    "×": r"$\times$", "→": r"$\to$", "∞": r"$\infty$", "∝": r"$\propto$", "Δ": r"$\Delta$",
    "μ": r"$\mu$", "τ": r"$\tau$", "²": r"$^2$", "…": r"\dots{}", "–": "--", "<": r"\textless{}",
    ">": r"\textgreater{}",
}  # fmt: skip


def markdown(report: Report, style: Style) -> str:
    """A report as GitHub Markdown, with escaped names."""
    style = style.copy_with_typographic_minus
    if any(table.visibility == data_types.COMMENT for table in report.tables):
        return _pull_request_comment(report, style)
    visible = visible_parts(report, style)
    blocks = [escape_markdown(visible.answer)]
    for table in visible.tables:
        blocks += [f"**{escape_markdown(table.title)}**" if table.title else ""]
        blocks.append(markdown_table(table, style))
    blocks += [escape_markdown(visible.context), caveats_details(report, style)]
    blocks += [code_span(text)] if (text := visible.signature) else []
    if methods := visible.methods:
        blocks.append(escape_markdown(methods.text_with_author_year_citations))
        blocks.append(f"```bibtex\n{methods.bibtex}\n```")
    return "\n\n".join(filter(None, blocks)) + "\n"


def caveats_details(report: Report, style: Style) -> str:
    """A folded section with warnings, notes and the signature, or "" if it would be empty."""
    messages = formatting.warnings_first(report.messages)
    lines = markdown_items(message_line(message, style) for message in messages)
    if report.signature:
        lines.append(f"- {code_span(data_types.options_signature_line(report))}")
    line = data_types.message_counts_and_changed_options(report)
    return _folded_text(line, _bounded_lines(lines)) if line else ""


def _pull_request_comment(report: Report, style: Style) -> str:
    """A gate's report as a comment on a pull request.

    The comment shows the verdict, the rules that do not pass, the numbers, the warnings and the
    tasks that changed significantly.  The list of all rules, further flipped tasks and the notes
    are in folded sections.
    """
    visible = visible_parts(report, replace(style, full=True))
    tables = {table.visibility: table for table in report.tables}
    verdict, _, finding = escape_markdown(visible.answer).partition(": ")
    blocks = [f"**{verdict}:** {finding}"]
    if (measured := tables[data_types.COMMENT]).rows:
        shortened = measured.with_fewer_rows()
        table = markdown_table(shortened, replace(style, full=True))
        blocks.append(_LOWER_LIMIT_PATTERN.sub("\\1,\N{NO-BREAK SPACE}", table))
        if len(shortened.rows) < len(measured.rows):
            blocks.append(f"<sub>{len(shortened.rows):,} of {len(measured.rows):,} rows</sub>")
    changed, flipped = [], []
    for changes in report.make_changed_tasks():
        summary = markdown_items([changes.summary])
        changed += summary + markdown_items(changes.significant_lines, "  - ")
        if changes.insignificant_lines:
            flipped += summary + markdown_items(changes.insignificant_lines, "  - ")
    warning_texts = [formatting.sentence_text(m.pieces(), style) for m in report.warnings]
    warnings = markdown_items(warning_texts, "- **Warning:** ")
    note_messages = [message for message in report.messages if message not in report.warnings]
    notes = markdown_items(formatting.sentence_text(m.pieces(), style) for m in note_messages)
    head, ruler, *rules = markdown_table(tables[data_types.FULL], style).splitlines()
    blocks += [
        _bounded_lines([*warnings, *changed]),
        f"<sub>{escape_markdown(visible.context)}</sub>",
        code_span(visible.signature) if visible.signature else "",
        _folded_text(f"All {len(rules):,} rules", "\n".join((head, ruler, _bounded_lines(rules)))),
        _folded_text("Changes that chance explains", _bounded_lines(flipped)),
        _folded_text(plural(len(notes), "note"), _bounded_lines(notes)),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def markdown_items(texts: Iterable[str], start: str = "- ") -> list[str]:
    """The texts as items of a Markdown list, with escaped names."""
    return [start + escape_markdown(text) for text in texts]


def _bounded_lines(lines: Sequence[str]) -> str:
    room = _MAX_SECTION_CHARACTERS
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines[:place], f"\n{len(lines) - place:,} more lines"))
    return "\n".join(lines)


def _folded_text(title: str, text: str) -> str:
    line = escape(printable(title))
    return f"<details><summary>{line}</summary>\n\n{text}\n\n</details>" if text else ""


def markdown_error(problem: str) -> str:
    """The error that stopped a gate, as Markdown."""
    return f"**ERROR:** {escape_markdown(problem)}\n"


def latex(report: Report, style: Style) -> str:
    """A report as LaTeX tabulars with booktabs rules.

    The answer and the signature become LaTeX comments.  If a model has several rows, only the
    first row contains the name of the model.
    """
    style = style.copy_with_typographic_minus
    visible = visible_parts(report, style)
    lines = [f"% {data_types.options_signature_line(report)}"] if report.signature else []
    lines.append(r"% needs \usepackage{booktabs}")
    lines += [f"% {text}"] if (text := visible.answer) else []
    if line := data_types.message_counts_and_changed_options(report):
        messages = formatting.warnings_first(report.messages)
        lines.append(f"% write below the table: {line}")
        lines += [f"% {message_line(message, style)}" for message in messages]
    for table in visible.tables:
        lines += [f"% {printable(table.title)}"] if table.title else []
        align = "".join("r" if column.is_numeric else "l" for column in table.columns)
        head = _latex_row([escape_latex(name) for name in column_headings(table, style)])
        lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", head, r"\midrule"]
        # A blank line after a tabular makes LaTeX put the next tabular on a new line.
        lines += [*_latex_body_rows(table, style), r"\bottomrule", r"\end{tabular}", ""]
    lines += [f"% {text}"] if (text := visible.context) else []
    if methods := visible.methods:
        escaped_methods = data_types.MethodsText(escape_latex(methods.text), methods.references)
        text = escaped_methods.text_with_citations(lambda keys: rf"~\cite{{{','.join(keys)}}}")
        lines += ["", text, "", *(f"% {line}" for line in methods.bibtex.splitlines())]
    return "\n".join(lines).rstrip("\n") + "\n"


def html(report: Report, style: Style) -> str:
    """A report as HTML for a notebook: answer, tables, context, messages and signature."""
    style = style.copy_with_typographic_minus
    visible = visible_parts(report, style)
    blocks = [f"<p>{_escape_html(text)}</p>"] if (text := visible.answer) else []
    for table in visible.tables:
        ends = ["right" if column.is_numeric else "left" for column in table.columns]
        title = f"<caption>{_escape_html(table.title)}</caption>" if table.title else ""
        names = [_escape_html(name) for name in column_headings(table, style)]
        blocks += [f"<table>{title}", _html_row("th", names, ends)]
        rows = _cell_texts(table, style, _escape_html)
        blocks += [*(_html_row("td", texts, ends) for texts in rows), "</table>"]
    messages = [message_line(message, style) for message in report.messages]
    below = [visible.context, *messages, visible.signature]
    blocks += [f"<p>{_escape_html(text)}</p>" for text in below if text]
    return "<div>\n" + "\n".join(blocks) + "\n</div>"


def escape_latex(text: str) -> str:
    """The text on one line, with the special characters of LaTeX escaped.

    >>> escape_latex("gpt-4_0613 at 50%")
    'gpt-4\\\\_0613 at 50\\\\%'
    """
    return "".join(_LATEX_ESCAPES.get(character, character) for character in printable(text))


def _rows_by_model(table: Table) -> Sequence[tuple[Cell, ...]]:
    if table.columns[0].header != "model":
        return table.rows
    place: dict[Cell, int] = {}
    return sorted(table.rows, key=lambda row: place.setdefault(row[0], len(place)))


def _latex_body_rows(table: Table, style: Style) -> list[str]:
    rows = _rows_by_model(table)
    firsts = [row[0] for row in rows] if table.columns[0].header == "model" else []
    grouped = any(first == second for first, second in pairwise(firsts))
    lines: list[str] = []
    for place, row in enumerate(rows):
        pairs = [_latex_cell(*pair, style) for pair in zip(row, table.columns, strict=True)]
        texts, below = ([*column_texts] for column_texts in zip(*pairs, strict=True))
        if grouped and place:
            if firsts[place] == firsts[place - 1]:
                texts[0] = ""
            else:
                lines.append(r"\addlinespace")
        lines.append(_latex_row(texts))
        if any(below):
            lines.append(_latex_row([text and rf"{{\scriptsize {text}}}" for text in below]))
    return lines


def _latex_cell(cell: Cell, column: Column, style: Style) -> tuple[str, str]:
    value, error = (escape_latex(text) for text in cell_parts(cell, column, style))
    if not isinstance(cell, Estimate):
        return f"{value} {error}".strip(), ""
    sign = r"$\sim$ " if cell.tie_or_equivalence_sign == "~" else ""
    value = value.removeprefix(escape_latex("~ ")) if sign else value
    below = error if style.intervals_below_estimates and cell.low is not None else ""
    if error and error == escape_latex(cell.tie_letters):
        value += rf"\textsuperscript{{{error}}}"
    elif not below:
        value = f"{value} {error}".strip()
    return sign + (rf"\textbf{{{value}}}" if cell.is_significantly_best else value), below


def markdown_table(table: Table, style: Style) -> str:
    """A table as GitHub Markdown, with numbers aligned right."""
    lines = [
        map(escape_markdown, column_headings(table, style)),
        ("--:" if column.is_numeric else "---" for column in table.columns),
        *_cell_texts(replace(table, rows=_rows_by_model(table)), style, escape_markdown),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _html_row(tag: str, cells: Sequence[str], ends: Sequence[str]) -> str:
    pairs = zip(cells, ends, strict=True)
    inside = "".join(f'<{tag} style="text-align: {end}">{cell}</{tag}>' for cell, end in pairs)
    return f"<tr>{inside}</tr>"


def _escape_html(text: str) -> str:
    return escape(printable(text))


def _cell_texts(table: Table, style: Style, spelling: Callable[[str], str]) -> Iterator[list[str]]:
    for row in table.rows:
        texts = []
        for cell, column in zip(row, table.columns, strict=True):
            text = spelling(" ".join(cell_parts(cell, column, style)).strip())
            bold = f"<b>{text}</b>" if spelling is _escape_html else f"**{text}**"
            is_bold = isinstance(cell, Estimate) and cell.is_significantly_best
            texts.append(bold if is_bold else text)
        yield texts


def _latex_row(cells: Sequence[str]) -> str:
    """A LaTeX row.  {} keeps LaTeX from reading a leading [ or * as an option of \\\\."""
    line = " & ".join(cells)
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def escape_markdown(text: str) -> str:
    """The text on one line, escaped so that GitHub shows no markup, formula, mention or link.

    >>> escape_markdown("see www.x.org, #12 and @me at pass@1")
    'see www<!-- -->.x.org, #<!-- -->12 and @<!-- -->me at pass@1'
    """
    text = re.sub(r"([\\`*_|<>\[\]~&$])", r"\\\1", printable(text))
    # An empty HTML comment inside a word keeps GitHub from making a link.
    text = _GITHUB_AUTOLINK_START_PATTERN.sub(r"\g<0><!-- -->", text)
    return _COMMIT_HASH_PATTERN.sub(lambda m: "<!-- -->".join(re.findall(".{1,6}", m[0])), text)


def code_span(text: str) -> str:
    """The text as a Markdown code span, with more backticks around the text than in the text."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " * (len(fence) > 1)
    return f"{fence}{blank}{text}{blank}{fence}"
