"""Where results go: options of every command, and the one place that writes files."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from passk_cli.cli.options import option
from passk_cli.errors import DataError, ParameterError
from passk_cli.render import FORMATS, SUFFIXES, renderer

if TYPE_CHECKING:
    from passk_cli.report.model import Report


@dataclass(frozen=True)
class Output:
    """Where the result goes and how it looks."""

    format: Annotated[
        str | None,
        option(
            "-f",
            "--format",
            metavar="NAME",
            help=f"One of {', '.join(FORMATS)}. Default: by"
            " the output file's suffix; table on a terminal, plain in a pipe.",
        ),
    ] = None
    output: Annotated[
        str | None,
        option("-o", "--output", metavar="FILE", help="Write here, whole or not at all."),
    ] = None
    digits: Annotated[
        int | None,
        option("--digits", metavar="N", min=0, max=15, help="Decimals shown."),
    ] = None
    percent: Annotated[bool, option("--percent", help="Show shares as percentages.")] = False
    quiet: Annotated[bool, option("-q", "--quiet", help="No notes on stderr.")] = False

    def check(self) -> None:
        """Refuse before any work is done what could not be written afterwards."""
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(
                f"-f {self.format}: no such format; there are {', '.join(FORMATS)}"
            )
        folder = os.path.dirname(self.output or "") or "."
        if not os.path.isdir(folder):
            raise DataError(folder, "no such folder for the output", "make it first")

    def write(self, report: Report) -> None:
        """Notes to stderr, the report to stdout or whole into the file."""
        from passk_cli.render.style import Style

        if not self.quiet:
            for note in report.notes:
                print(f"passk: {note.level}: {note.text}", file=sys.stderr)
        terminal = self.output is None and sys.stdout.isatty()
        by_suffix = SUFFIXES.get(Path(self.output).suffix.lower()) if self.output else None
        name = self.format or by_suffix or ("table" if terminal else "plain")
        style = Style(
            self.digits,
            self.percent,
            terminal_width() if name == "table" else 0,
            terminal and not os.environ.get("NO_COLOR"),
        )
        text = renderer(name)(report, style)
        if self.output is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_whole(Path(self.output), text)

    def append(self, report: Report, format: str, path: str) -> None:
        """Add the report to the end of a file, as a step summary is written."""
        from passk_cli.render.style import Style

        with open(path, "a", encoding="utf-8") as file:
            file.write(renderer(format)(report, Style(self.digits, self.percent)))


def terminal_width() -> int:
    """Columns of the terminal, or COLUMNS where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def write_whole(path: Path, text: str) -> None:
    """Write beside the file and move it into place, so that no half-written file is ever seen."""
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise DataError(
            str(path), f"cannot be written ({error.strerror})", "choose another place"
        ) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
