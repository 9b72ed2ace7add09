"""Where results go: options of every command, and the one place that writes files."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from passk_cli.cli.options import option
from passk_cli.errors import ParameterError
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

    def check(self, inputs: Sequence[str] = (), other: str | None = None) -> None:
        """Refuse before any work is done what could not, or must not, be written afterwards.

        inputs : the files that are read.  other : a second output of the same command.
        """
        if self.format is not None and self.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise ParameterError(f"-f {self.format}: no such format; there are {known}")
        from passk_cli.outcomes.sources import read_paths

        targets = [t for t in (self._target, other) if t is not None]
        for target in targets:
            folder = os.path.dirname(target) or "."
            if not os.path.isdir(folder):
                raise ParameterError(f"{folder}: no such folder for the output; make it first")
            if os.path.isdir(target):
                raise ParameterError(f"{target}: this is a folder; name a file in it")
            if os.path.exists(target) and os.path.realpath(target) in read_paths(inputs):
                raise ParameterError(
                    f"{target} is read as well; choose another name for the output"
                )
        if len(targets) == 2 and os.path.realpath(targets[0]) == os.path.realpath(targets[1]):
            raise ParameterError(f"{targets[0]} is named for two outputs")
        guessed = self._target is not None and self.format is None
        if guessed and stat.S_ISREG(_mode(targets[0])) and self._suffix not in SUFFIXES:
            known = ", ".join(SUFFIXES)
            raise ParameterError(f"{targets[0]}: no format has this suffix; add -f, or use {known}")

    @property
    def _target(self) -> str | None:
        """The file to write; None for stdout."""
        return None if self.output in (None, "-") else self.output

    @property
    def _suffix(self) -> str:
        return Path(self._target or "").suffix.lower()

    def write(self, report: Report) -> None:
        """Notes to stderr, the report to stdout or whole into the file."""
        from passk_cli.render.style import Style, printable

        if not self.quiet:
            for note in report.notes:
                print(f"passk: {note.level}: {printable(note.text)}", file=sys.stderr)
        terminal = self._target is None and sys.stdout.isatty()
        name = self.format or SUFFIXES.get(self._suffix) or ("table" if terminal else "plain")
        style = Style(
            self.digits,
            self.percent,
            shutil.get_terminal_size((80, 24)).columns if name == "table" else 0,
            terminal and not os.environ.get("NO_COLOR"),
        )
        text = renderer(name)(report, style)
        if self._target is None:
            _to_stdout(text)
        else:
            write_whole(Path(self._target), text)

    def append(self, report: Report, format: str, path: str) -> None:
        """Add the report to the end of a file, as a step summary is written."""
        from passk_cli.render.style import Style

        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(renderer(format)(report, Style(self.digits, self.percent)))
        except OSError as error:
            raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def write_whole(path: Path, text: str) -> None:
    """Write beside the file and move it into place, so that no half-written file is ever seen.

    A link is followed, an existing file keeps its mode, and what is no plain file (a pipe, a
    device) is written to directly.
    """
    path = Path(os.path.realpath(path))
    try:
        if not stat.S_ISREG(_mode(str(path))):
            path.write_text(text, encoding="utf-8")
            return
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(beside, mode)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def _to_stdout(text: str) -> None:
    """Print; signs that the terminal's encoding lacks appear as their codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python would try once more at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ParameterError(f"<stdout>: cannot be written ({error.strerror})") from None


def _mode(path: str) -> int:
    """The mode of what is there, that of a plain file when nothing is."""
    return os.stat(path).st_mode if os.path.exists(path) else stat.S_IFREG


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
