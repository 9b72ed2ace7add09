"""Report pages as files: one HTML file, or a Markdown file with a folder of pictures."""

from __future__ import annotations

from pathlib import Path

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style
from passk_cli.report.data_types import Report

SUFFIX_BY_FORMAT = {"html": ".html", "markdown": ".md"}
FORMAT_BY_SUFFIX = {suffix: name for name, suffix in SUFFIX_BY_FORMAT.items()}


def page_files_by_name(
    report: Report, page_format: str, style: Style, pictures: str = ""
) -> dict[str, bytes]:
    """The contents of the files of a report page by name.  The page itself has the name "".

    pictures : folder of the pictures of a Markdown page, or "" if the page has no pictures.
    """
    if page_format == "html":
        from passk_cli.pages.html import html

        return {"": html(report, style).encode(errors="backslashreplace")}
    from passk_cli.pages.markdown import markdown_files

    return markdown_files(report, style, pictures)


def page_files_by_path(
    report: Report, page_format: str, path: Path, style: Style
) -> dict[Path, str | bytes]:
    """The files of a report page, as a mapping from paths to contents.

    passk creates a folder for pictures if the page needs one.

    Errors: ParameterError if the folder cannot be created.
    """
    folder = path.with_name(f"{path.stem}_images")
    files = page_files_by_name(report, page_format, style, folder.name)
    if len(files) > 1:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            problem = f"{folder}: passk cannot create this folder ({error.strerror})"
            raise ParameterError(problem, name="unwritable-output") from None
    # The page is written after its pictures, so that the page never links to a missing picture.
    document_bytes = files.pop("")
    return {**{folder / file: content for file, content in files.items()}, path: document_bytes}
