"""Where results go: options of every command, and the one place that writes files."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from passk_cli.charts import PICTURES
from passk_cli.charts.theme import THEMES
from passk_cli.cleanup import temporary_folder
from passk_cli.cli.options import option
from passk_cli.cli.progress import working
from passk_cli.errors import ParameterError
from passk_cli.render import FORMATS, SUFFIXES, renderer

if TYPE_CHECKING:
    from passk_cli.render.style import Style
    from passk_cli.report.model import Report

# Formats on stdout after which a chart can stand; None is the one for a terminal or a pipe.
_FOR_PEOPLE = (None, "table", "plain")


@dataclass(frozen=True)
class Charting:
    """Whether the result is drawn, and where; for commands whose report has charts."""

    chart: Annotated[
        str | None,
        option(
            "--chart",
            metavar="FILE|terminal",
            help=f"Draw it: {', '.join(PICTURES)}, or in the terminal (also -).",
        ),
    ] = None
    chart_theme: Annotated[
        str,
        option(
            "--chart-theme",
            metavar="light|dark",
            show_default=True,
            help="Of the picture; html follows its reader.",
        ),
    ] = "light"

    @property
    def in_terminal(self) -> bool:
        """Whether the chart goes to stdout, in characters."""
        return self.chart in ("-", "terminal")

    @property
    def file(self) -> str | None:
        """The picture to write, if any."""
        return None if self.in_terminal else self.chart

    @property
    def suffix(self) -> str:
        """What kind of picture."""
        return Path(self.chart or "").suffix.lower()

    def check(self) -> None:
        """Refuse before any work is done what cannot be drawn here."""
        if self.chart_theme not in THEMES:
            raise ParameterError(f"--chart-theme {self.chart_theme}: it is light or dark")
        if self.chart is None:
            return
        if not self.in_terminal and self.suffix not in PICTURES:
            raise ParameterError(
                f"--chart {self.chart}: no picture has this suffix; use {', '.join(PICTURES)},"
                " or --chart terminal"
            )
        module = "plotext" if self.in_terminal else PICTURES[self.suffix]
        if module and importlib.util.find_spec(module) is None:
            raise ParameterError(
                f"--chart {self.chart} needs the extra \"plot\": pip install 'passk-cli[plot]'"
            )

    def write(self, report: Report, style: Style) -> None:
        """Draw the report's charts where they were asked for."""
        if self.chart is None:
            return
        if not report.plots:
            raise ParameterError("--chart: there is nothing to draw, as no value could be computed")
        if self.in_terminal:
            from passk_cli.charts.terminal import drawing

            _to_stdout(f"\n{drawing(report.plots, style.width, style.colour, style.percent)}")
            return
        from passk_cli.charts.picture import picture

        with working("drawing"):
            content = picture(report, self.suffix, self.chart_theme, style.percent)
        write_whole(Path(self.chart), content)


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
    quiet: Annotated[bool, option("-q", "--quiet", help="No notes on stderr; warnings stay.")] = (
        False
    )

    def check(
        self,
        inputs: Sequence[str] = (),
        other: str | None = None,
        charting: Charting | None = None,
    ) -> None:
        """Refuse before any work is done what could not, or must not, be written afterwards.

        inputs : the files that are read.  other, charting : further outputs of the same command.
        """
        if self.format is not None and self.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise ParameterError(f"-f {self.format}: no such format; there are {known}")
        from passk_cli.files.sources import read_paths

        charting = charting or Charting()
        charting.check()
        targets = [t for t in (self._target, other, charting.file) if t is not None]
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
        places = [os.path.realpath(target) for target in targets]
        for place, target in zip(places, targets, strict=True):
            if places.count(place) > 1:
                raise ParameterError(f"{target} is named for two outputs")
        guessed = self._target is not None and self.format is None
        if guessed and stat.S_ISREG(_mode(targets[0])) and self._suffix not in SUFFIXES:
            known = ", ".join(SUFFIXES)
            raise ParameterError(f"{targets[0]}: no format has this suffix; add -f, or use {known}")
        if charting.in_terminal and self._target is None and self.format not in _FOR_PEOPLE:
            raise ParameterError(
                f"--chart {charting.chart} would stand in the {self.format} on stdout;"
                " write that with -o FILE, or the chart to a file"
            )

    @property
    def _target(self) -> str | None:
        """The file to write; None for stdout."""
        return None if self.output in (None, "-") else self.output

    @property
    def _suffix(self) -> str:
        return Path(self._target or "").suffix.lower()

    def write(self, report: Report, charting: Charting | None = None) -> None:
        """Notes to stderr, the report to stdout or whole into the file, then its charts."""
        from passk_cli.text import printable

        for note in report.notes:
            # A warning says that a number means less than it seems: nothing silences it.
            if note.level == "warning" or not self.quiet:
                print(f"passk: {note.level}: {printable(note.text)}", file=sys.stderr)
        terminal = self._target is None and sys.stdout.isatty()
        name = self.format or SUFFIXES.get(self._suffix) or ("table" if terminal else "plain")
        style = self._style(name == "table", terminal)
        text = renderer(name)(report, style)
        if self._target is None:
            _to_stdout(text)
        else:
            write_whole(Path(self._target), text)
        if charting is not None:
            charting.write(report, self._style(sys.stdout.isatty(), sys.stdout.isatty()))

    def _style(self, wide: bool, coloured: bool) -> Style:
        """The reader's choices; as wide as the terminal and coloured where that is welcome."""
        from passk_cli.render.style import Style

        width = shutil.get_terminal_size((80, 24)).columns if wide else 0
        return Style(self.digits, self.percent, width, coloured and not os.environ.get("NO_COLOR"))

    def write_verdict(self, report: Report) -> None:
        """A gate's report where it was asked for, and its verdict on stderr in any case.

        In GitHub Actions also as a step summary.
        """
        from passk_cli.render.checks import verdict
        from passk_cli.text import printable

        try:
            self.write(report)
            summary = os.environ.get("GITHUB_STEP_SUMMARY")
            if self.format == "github" and summary:
                self.append(report, "markdown", summary)
        finally:
            line = printable(verdict(report, self._style(False, False)))
            print(f"passk: {line}", file=sys.stderr)

    def write_failure(self, problem: str, *, file: bool) -> None:
        """What kept a gate from its verdict, in the formats that pipelines look at.

        file : whether the output file may be written; it must not be before `check` has said so.
        """
        from passk_cli.render.checks import github_failure, junit_failure

        if self.format == "github":
            _to_stdout(github_failure(problem))
        elif self.format == "junit" and self._target is None:
            _to_stdout(junit_failure(problem))
        elif self.format == "junit" and file and self._target is not None:
            # The problem itself is what is reported, even when the file cannot be written.
            with suppress(ParameterError):
                write_whole(Path(self._target), junit_failure(problem))

    def append(self, report: Report, format: str, path: str) -> None:
        """Add the report to the end of a file, as a step summary is written."""
        from passk_cli.render.style import Style

        try:
            with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(renderer(format)(report, Style(self.digits, self.percent)))
        except OSError as error:
            raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside the file and move it into place, so that no half-written file is ever seen.

    A link is followed, an existing file keeps its mode, and what is no plain file (a pipe, a
    device) is written to directly.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        if not stat.S_ISREG(_mode(str(path))):
            path.write_bytes(data)
            return
        path = Path(os.path.realpath(path))
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        with temporary_folder(".passk-", beside=path) as folder:
            (folder / "output").write_bytes(data)
            os.chmod(folder / "output", mode)
            os.replace(folder / "output", path)
    except BrokenPipeError:
        # A pipe by its name, as /dev/stdout: its reader has gone.
        return
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def _to_stdout(text: str) -> None:
    """Print now: an exit code must not be settled before the result is out."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _mode(path: str) -> int:
    """The mode of what is there, that of a plain file when nothing is."""
    return os.stat(path).st_mode if os.path.exists(path) else stat.S_IFREG


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
