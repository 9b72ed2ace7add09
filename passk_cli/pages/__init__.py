"""A report's page as a document: html in one file, or Markdown with its pictures beside it.

Numbers are rounded by `render`, plots are drawn by `charts`; here both meet in templates.  Nothing
is computed.
"""

from __future__ import annotations

from pathlib import Path

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style
from passk_cli.report.model import Report

# Format → its suffix.
FORMATS = {"html": ".html", "markdown": ".md"}
SUFFIXES = {suffix: name for name, suffix in FORMATS.items()}


def document(report: Report, name: str, style: Style, pictures: str = "") -> dict[str, bytes]:
    """Name of each file → its content, the document itself under "".

    name : one of FORMATS.  pictures : the folder of Markdown's pictures, as its links write it; ""
        for a document without pictures.
    """
    if name == "html":
        from passk_cli.pages.html import html

        return {"": html(report, style).encode(errors="backslashreplace")}
    from passk_cli.pages.markdown import markdown

    return markdown(report, style, pictures)


def files_of(report: Report, name: str, path: Path, style: Style) -> dict[Path, str | bytes]:
    """The document, and Markdown's pictures for a folder beside it that has its name and is made.

    Errors: ParameterError where it cannot be made.
    """
    folder = path.with_name(f"{path.stem}_images")
    files = document(report, name, style, folder.name)
    if len(files) > 1:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ParameterError(
                f"{folder}: cannot be made ({error.strerror})", name="unwritable-output"
            ) from None
    # The document is the last to appear.
    document_bytes = files.pop("")
    return {**{folder / file: content for file, content in files.items()}, path: document_bytes}
