"""A page as one html file: text, tables, drawings and a short script; it asks for nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from passk_cli.charts.picture import hover, inline, variables
from passk_cli.pages.layout import sections
from passk_cli.render.style import Style, answer, said
from passk_cli.report.model import Report, signature_line
from passk_cli.report.plot import Plot
from passk_cli.text import printable

# The browser is told to load nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def html(report: Report, style: Style) -> str:
    """The document.

    Errors: ValueError for a report without a page.
    """
    from markupsafe import Markup

    page = report.page
    if page is None:
        raise ValueError("this report has no page")

    def drawn(plot: Plot) -> Markup:
        return Markup(inline(replace(plot, title="", subtitle=""), style.percent))

    style = style.typeset
    text: str = _template().render(
        policy=_POLICY,
        title=printable(page.title),
        finding=answer(report, style),
        sections=sections(page.sections, style),
        absent=[printable(text) for text in page.absent],
        messages=[(m.severity, said(m.pieces(), style)) for m in report.messages],
        signature=signature_line(report) if report.signature else "",
        command=printable(page.command),
        css=Markup(_beside("page.css")),
        light=Markup(variables("light")),
        dark=Markup(variables("dark")),
        script=Markup(hover() + _beside("page.js").replace('"use strict";\n', "")),
        drawn=drawn,
    )
    return text


@cache
def _template() -> Any:
    import jinja2

    surroundings = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return surroundings.from_string(_beside("page.html.jinja"))


def _beside(name: str) -> str:
    return files("passk_cli.pages").joinpath(name).read_text(encoding="utf-8")
