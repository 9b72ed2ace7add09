"""A report page as one HTML file, which contains all charts, styles and scripts."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from passk_cli.charts import picture
from passk_cli.pages.leaderboard import leaderboard_view
from passk_cli.pages.views import sections
from passk_cli.render.csv_json import csv_text, json_text
from passk_cli.render.style import Style, sentence_text
from passk_cli.report import data_types
from passk_cli.report.data_types import Report, ReportPagePanel, TaskGrid
from passk_cli.report.plot import Plot
from passk_cli.text import printable, printable_json

_DOWNLOAD_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json"}


def html(report: Report, style: Style) -> str:
    """The page of a report as HTML.

    Errors: ValueError if the report has no page.
    """
    from markupsafe import Markup

    page = report.page
    if page is None:
        raise ValueError("this report cannot be shown as a page")

    def draw(plot: Plot) -> Markup:
        return Markup(picture.inline_chart(replace(plot, title="", subtitle=""), style.percent))

    def downloads(panel: ReportPagePanel) -> list[tuple[str, str]]:
        """The file suffix and the data URL of each download in a panel."""
        plain = replace(panel.report, messages=report.messages)
        document = printable_json(json.loads(json_text(plain, style)))
        texts = {"csv": csv_text(plain, style), "json": document}
        codes = {n: b64encode(t.encode(errors="backslashreplace")) for n, t in texts.items()}
        starts = {n: f"data:{kind};base64," for n, kind in _DOWNLOAD_MEDIA_TYPES.items()}
        return [(n, starts[n] + code.decode()) for n, code in codes.items()]

    style = style.copy_with_typographic_minus
    finding, *further = [sentence_text(sentence, style) for sentence in report.answer] or [""]
    script = picture.hover_script() + _resource_text("page.js").replace('"use strict";\n', "")
    text: str = _template().render(
        policy=picture.POLICY_PLACEHOLDER,
        title=printable(page.title),
        finding=finding,
        further=" ".join(further),
        date=page.date,
        sections=sections(page.chapters, style),
        absent=[printable(text) for text in page.omissions],
        caveats=data_types.message_counts_and_changed_options(report),
        messages=[(m.severity, sentence_text(m.pieces(), style)) for m in report.messages],
        signature=data_types.options_signature_line(report) if report.signature else "",
        command=printable(page.command),
        css=Markup(_resource_text("page.css")),
        light=Markup(picture.colour_variables("light")),
        dark=Markup(picture.colour_variables("dark")),
        script=Markup(script),
        drawn=draw,
        board=lambda panel: leaderboard_view(panel.board, style),
        grid=lambda panel: Markup(model_task_grid_json(panel.grid)),
        downloads=downloads,
    )
    return picture.add_security_policy(text, script)


def model_task_grid_json(grid: TaskGrid) -> str:
    """The results of all models at all tasks as JSON for the script of the page.

    The results of a model are one string of base-36 codes, which all have the same number of
    digits.
    """
    count = len(grid.distinct_results)
    digits = 1 if count <= 36 else 2 if count <= 36**2 else 4
    words = [np.base_repr(code, 36).lower().zfill(digits) for code in range(count)]
    data = {
        "models": [printable(name) for name in grid.models],
        "tasks": [printable(name) for name in grid.tasks],
        "results": grid.distinct_results,
        "digits": digits,
        "codes": ["".join(map(words.__getitem__, row)) for row in grid.result_codes],
        "link": grid.transcript_url_template,
        "first": grid.first_attempt_number,
    }
    return printable_json(data).replace("<", "\\u003c")


@cache
def _template() -> Any:
    import jinja2

    surroundings = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return surroundings.from_string(_resource_text("page.html.jinja"))


def _resource_text(name: str) -> str:
    return files("passk_cli.pages").joinpath(name).read_text(encoding="utf-8")
