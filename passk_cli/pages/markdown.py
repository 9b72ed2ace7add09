"""A report page as Markdown, with one picture per chart for light and one for dark screens."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from passk_cli.charts.svg import svg_document
from passk_cli.charts.theme import THEMES
from passk_cli.pages.views import PanelView, sections
from passk_cli.render.markup import caveats_details, code_span, escape_markdown, markdown_table
from passk_cli.render.style import Style, answer_text, message_line, visible_parts
from passk_cli.report.data_types import Report, options_signature_line
from passk_cli.text import printable


def markdown_files(report: Report, style: Style, pictures: str) -> dict[str, bytes]:
    """The contents of the files of a report page by name.  The page itself has the name "".

    Errors: ValueError if the report has no page.
    """
    page = report.page
    if page is None:
        raise ValueError("this report cannot be shown as a page")
    style = style.copy_with_typographic_minus
    files: dict[str, bytes] = {}
    answer = escape_markdown(answer_text(report, style))
    blocks = [f"# {escape_markdown(page.title)}", page.date, answer]
    for section in sections(page.chapters, style):
        if section.title:
            blocks += [f"# {escape_markdown(section.title)}", escape_markdown(section.finding)]
        for view in section.panels:
            images = _images(view, style) if pictures else {}
            files |= images
            blocks += _panel_blocks(view, style, pictures, sorted(images))
    if page.date:
        blocks.append(caveats_details(report, style))
        return {"": _page_bytes(blocks), **files}
    messages = [message_line(message, style) for message in report.messages]
    blocks += ["## Notes", _bullet_list(messages)]
    if page.omissions:
        blocks += ["## What is not shown", _bullet_list(list(page.omissions))]
    lines = [printable(page.command), options_signature_line(report) if report.signature else ""]
    blocks += ["## How to reproduce it", *(code_span(line) for line in lines if line)]
    return {"": _page_bytes(blocks), **files}


def _page_bytes(blocks: list[str]) -> bytes:
    return ("\n\n".join(filter(None, blocks)) + "\n").encode(errors="backslashreplace")


def _panel_blocks(view: PanelView, style: Style, pictures: str, images: list[str]) -> Iterator[str]:
    panel = view.panel
    yield f"## {panel.title}"
    yield escape_markdown(view.finding)
    yield f"*{escape_markdown(panel.instructions)}*" if panel.instructions else ""
    for table in visible_parts(panel.report, style).tables:
        yield f"**{escape_markdown(table.title)}**" if table.title else ""
        yield markdown_table(table, style)
    yield escape_markdown(view.context)
    for dark, light in zip(images[::2], images[1::2], strict=True):
        folder = quote(pictures)
        yield (
            f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{folder}/{dark}">\n'
            f'  <img alt="{panel.title}" src="{folder}/{light}">\n</picture>'
        )


def _images(view: PanelView, style: Style) -> dict[str, bytes]:
    images = {}
    for place, plot in enumerate(view.plots, 1):
        for theme, look in THEMES.items():
            name = f"{view.anchor}-{place}-{theme}.svg"
            images[name] = svg_document([plot], look, style.percent).encode()
    return images


def _bullet_list(texts: list[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts) or "There is nothing to note."
