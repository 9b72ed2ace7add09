"""The page of a report as a document: one html file, or Markdown with a folder of pictures.

`render` rounds the numbers and `charts` draws the plots.  The templates here combine both, and
compute nothing.
"""

from __future__ import annotations

from pathlib import Path

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style
from passk_cli.report.model import Report

# Format → suffix.
FORMATS = {"html": ".html", "markdown": ".md"}
SUFFIXES = {suffix: name for name, suffix in FORMATS.items()}


def document(report: Report, name: str, style: Style, pictures: str = "") -> dict[str, bytes]:
    """Name of file → content; the document has the name "".

    name : one of FORMATS.  pictures : the folder of Markdown's pictures in links; "" for a document
        without pictures.
    """
    if name == "html":
        from passk_cli.pages.html import html

        return {"": html(report, style).encode(errors="backslashreplace")}
    from passk_cli.pages.markdown import markdown

    return markdown(report, style, pictures)


def document_files(report: Report, name: str, path: Path, style: Style) -> dict[Path, str | bytes]:
    """Path → content of the document and of Markdown's pictures.

    The pictures are in a folder next to the document, which is created.
    Errors: ParameterError if the folder cannot be created.
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
    # The document is written last, after its pictures.
    document_bytes = files.pop("")
    return {**{folder / file: content for file, content in files.items()}, path: document_bytes}
