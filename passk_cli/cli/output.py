"""Options for output that all commands share, and the code that prints and writes results."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, ClassVar

import passk_cli.pages as pages
from passk_cli.charts import PICTURE_SUFFIXES
from passk_cli.cleanup import (
    st_mode_or_regular_if_missing,
    unwritable_error,
    write_all_or_none,
    write_atomically,
)
from passk_cli.cli.progress import show_activity
from passk_cli.commands.command import Command
from passk_cli.diagnostic import NOTE, Diagnostic
from passk_cli.errors import ParameterError, PasskError
from passk_cli.files.sources.arguments import resolved_file_paths
from passk_cli.option import (
    DeclaredOption,
    Option,
    changed_option_names,
    load_object,
    options_by_field,
    pair_groups_with_options,
)
from passk_cli.render import (
    CODE_QUALITY_FILE_NAME_START,
    ERROR_WRITER_BY_FORMAT,
    FORMAT_BY_SUFFIX,
    GITHUB_ANNOTATION_WRITER,
    VERDICT_FORMAT_BY_SUFFIX,
    VERDICT_FORMATS,
    WRITER_BY_FORMAT,
)
from passk_cli.render.csv_json import error_json_document
from passk_cli.render.style import (
    Style,
    answer_text,
    default_messages,
    message_line,
    report_with_answers_as_titles,
    sentence_text,
    warnings_first,
)
from passk_cli.report.data_types import Report
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.text import cut_long_words, is_github_runner, printable, shield_from_runner

if TYPE_CHECKING:
    from passk_cli.charts.chart_options import Appearance, PictureSize

# _COLOUR_CODE_BY_SEVERITY maps the severity of a message to the escape code of its colour in a
# terminal.
_COLOUR_CODE_BY_SEVERITY = {"note": "1", "warning": "1;33", "error": "1;31"}


def writable_suffixes_of_command(declaration: Command) -> list[str]:
    """The file suffixes, for example ".csv", of the formats that a command can write."""
    fitting = [*(pages.FORMAT_BY_SUFFIX if declaration.writes_page else ()), *FORMAT_BY_SUFFIX,
               *(VERDICT_FORMAT_BY_SUFFIX if declaration.gives_verdict else ())]  # fmt: skip
    return list(dict.fromkeys(fitting))


@dataclass(frozen=True, eq=False, repr=False)
class ChartOptions:
    """The options for charts."""

    title: ClassVar[str] = "Charts"

    # fmt: off
    chart: Annotated[tuple[str, ...], Option(
        "--chart", "FILE", "Write a chart to a file.",
        detail=f"The suffix of the file sets the format: {', '.join(PICTURE_SUFFIXES)}."
        f" Repeatable.")] = ()
    chart_theme: Annotated[str, Option(
        "--chart-theme", help="Colours of the picture.", choices=("light", "dark"),
        detail="A page (.html) uses the light or dark theme of the reader's system.")] = "light"
    chart_size: Annotated[str, Option(
        "--chart-size", "W[xH]", "Size of the whole picture, such as 3.25in or 800x500.",
        detail="Units are in, cm, mm, pt and px (the default). If the size is in inches, cm, mm or"
        " pt, the text in the picture has a size of 7 to 8 points. The charts on a page (.html) fit"
        " the browser's window.")] = ""
    no_title: Annotated[bool, Option("--no-title", help="Omit the title and the subtitle.")] = False
    no_bands: Annotated[bool, Option("--no-bands", help="Omit the interval bands around"
    " lines.")] = False
    highlight: Annotated[tuple[str, ...], Option(
        "--highlight", "MODEL", "Colour only these models.",
        detail="MODEL is the name of a model, or a pattern such as 'gpt-*'. Without this option,"
        " and with more than 8 models, passk colours only the leading models and the models that"
        " the title names. Repeatable.")] = ()
    panel: Annotated[str, Option(
        "--panel", "COLUMN", "Draw a separate panel for each value of a --by column.")] = ""
    # fmt: on

    @property
    def size(self) -> PictureSize | None:
        """The size of the whole picture, or None for the default size."""
        if not self.chart_size:
            return None
        from passk_cli.charts.chart_options import PictureSize

        return PictureSize.parse(self.chart_size)

    def check(self) -> None:
        """Raise ParameterError for chart options without --chart, and for unknown suffixes."""
        if not self.chart and (choices := changed_option_names(self)):
            raise ParameterError(
                OptionWithValue(choices[0]),
                "this option applies only to charts, but no chart is drawn",
                name="contradicting-options",
                settles=[SuggestedFix({"--chart": (Placeholder("FILE.png"),)}, "draws one")],
            )  # fmt: skip
        if gone := [chart for chart in self.chart if chart in ("-", "terminal")]:
            raise ParameterError(
                OptionWithValue("--chart", gone[0]), "charts are no longer drawn in the terminal",
                name="bad-output",
                settles=[SuggestedFix({"--chart": (Placeholder("FILE.png"),)}, "draws a picture")],
            )  # fmt: skip
        for file in self.chart:
            if Path(file).suffix.lower() not in PICTURE_SUFFIXES:
                raise ParameterError(
                    OptionWithValue("--chart", file),
                    "passk draws no pictures with this suffix; use"
                    f" {', '.join(PICTURE_SUFFIXES)}", name="bad-output",
                )  # fmt: skip

    @property
    def appearance(self) -> Appearance:
        """The appearance of charts: title, bands, highlighted models and panels."""
        from passk_cli.charts.chart_options import Appearance

        return Appearance(not self.no_title, not self.no_bands, self.highlight, self.panel)

    def write(self, report: Report, style: Style) -> None:
        """Write the charts of a report to the files of --chart."""
        if not report.plots:
            raise ParameterError(
                OptionWithValue("--chart"),
                "there is nothing to draw, because this report has no chart or no value for it",
                name="no-chart",
            )  # fmt: skip
        from passk_cli.charts.chart_options import with_appearance

        # A picture is often shown without the text of its report, so the title of the picture
        # contains the answer.
        plots = report.plots_in_picture(style.full)
        report = replace(report, make_plots=lambda: plots)
        report = with_appearance(report_with_answers_as_titles(report, style), self.appearance)
        for file in self.chart:
            from passk_cli.charts.picture import picture_bytes

            with show_activity("drawing"):
                suffix = Path(file).suffix.lower()
                content = picture_bytes(report, suffix, self.chart_theme, style.percent, self.size)
            write_atomically(Path(file), content)


@dataclass(frozen=True, eq=False, repr=False)
class OutputOptions:
    """The options for the files and the format of the result."""

    title: ClassVar[str] = "Output"

    # fmt: off
    form: Annotated[str | None, Option(
        "-f --format", "NAME", "Format.", choices=tuple(WRITER_BY_FORMAT),
        detail="By default, the suffix of the output file sets the format. Without an output file,"
        " the format is table in a terminal and plain in a pipe.",
    )] = None
    output: Annotated[tuple[str, ...], Option(
        "-o --output", "FILE", "Write the result to this file.",
        detail="passk writes a file completely or not at all. If you repeat this option, the suffix"
        " of each file sets the file's format. For a file with an unknown suffix, -f sets the"
        " format. Use - to write to stdout.")] = ()
    digits: Annotated[int | None, Option(
        "--digits", "N", "Number of decimal places for shares (default: 3, or 1 for percentages).",
        low=0, high=15,
    )] = None
    percent: Annotated[bool, Option("--percent", help="Show shares as percentages.")] = False
    full: Annotated[bool, Option(
        "--full", help="Show all tables, and the meaning of each column.")] = False
    verbose: Annotated[bool, Option(
        "-v --verbose", help="Print all messages, and a signature to reproduce the numbers.",
        detail="By default, stderr shows only three messages in full. The signature is a line below"
        " the tables with all options that you need to reproduce the numbers.")] = False
    stacked: Annotated[bool, Option(
        "--stacked", help="In LaTeX, put each interval below its estimate.")] = False
    safe_csv: Annotated[bool, Option(
        "--safe-csv", help="Make csv and tsv files safe to open in a spreadsheet.",
        detail="passk puts an apostrophe before strings that begin with =, +, - or @, even if this"
        " sign is a full-width character or comes after spaces or control characters. passk does"
        " not change cells with numbers.")] = False
    methods: Annotated[bool, Option(
        "--methods", help="Explain the methods in sentences for a paper.",
        detail="The methods text appears below the tables, with BibTeX entries for its sources. In"
        " LaTeX output, the methods text cites sources with \\cite. In JSON output, the key"
        " 'methods' contains the methods text.")] = False
    quiet: Annotated[bool, Option("-q --quiet", help="Print only warnings on stderr.")] = False
    # fmt: on

    def check(
        self,
        inputs: Sequence[str],
        further_outputs: Sequence[str],
        charting: ChartOptions,
        declaration: Command,
    ) -> None:
        """Raise ParameterError if an output cannot be written.

        This check runs before passk reads any data.

        inputs : paths of all input files.
        further_outputs : files that the command writes in addition to its result and its charts.
        charting : the chart options, which name the files of the charts.
        """
        charting.check()
        if self.stacked and "latex" not in map(self._format_of_target, self._targets):
            raise ParameterError(
                OptionWithValue("--stacked"), "this option applies only to LaTeX output",
                name="contradicting-options",
                settles=[SuggestedFix({"--format": "latex"})],
            )  # fmt: skip
        if len(self._targets) - len(self._output_files) > 1:
            raise ParameterError(
                OptionWithValue("-o", "-"),
                "stdout is given as the output twice, but only one result can be written to stdout",
                name="bad-output",
            )
        if targets := [*self._output_files, *further_outputs, *charting.chart]:
            _require_valid_paths(targets, inputs)
        if self._output_files:
            self._require_formats(declaration)

    def _require_formats(self, declaration: Command) -> None:
        """Raise ParameterError if passk does not know the suffix of a file and --format is not set.

        The error is also raised if --format has no effect, because the suffixes of several files
        set the formats.
        """
        files = self._output_files
        fitting = writable_suffixes_of_command(declaration)
        unknown = [file for file in files if Path(file).suffix.lower() not in fitting]
        guessed = [file for file in unknown if stat.S_ISREG(st_mode_or_regular_if_missing(file))]
        if guessed and self.form is None:
            suffixes = ", ".join(fitting)
            raise ParameterError(
                f"{guessed[0]}: passk has no output format with this suffix; use {suffixes}",
                name="bad-output",
                settles=[SuggestedFix({"--format": Placeholder("NAME")}, "names it")],
            )
        if self.form is not None and len(files) > 1 and not unknown and None not in self._targets:
            raise ParameterError(
                OptionWithValue("-f", self.form),
                "with several output files, the suffix of each file sets its format",
                name="bad-output",
                settles=[SuggestedFix({"--format": None}), SuggestedFix({"--output": ("-",)},
                "is stdout")],
            )  # fmt: skip

    @property
    def _targets(self) -> list[str | None]:
        return [None if target == "-" else target for target in self.output] or [None]

    @property
    def _output_files(self) -> list[str]:
        return [target for target in self._targets if target is not None]

    def _format_of_target(self, target: str | None, *, paged: bool = False) -> str:
        """The format of an output.

        The option --format sets the format of a single output.  If there are several outputs, the
        suffix of each file sets the format of this file.  The option --format is then used only for
        stdout and for files with unknown suffixes.
        """
        suffixes = {
            **FORMAT_BY_SUFFIX,
            **VERDICT_FORMAT_BY_SUFFIX,
            **(pages.FORMAT_BY_SUFFIX if paged else {}),
        }
        by_suffix = suffixes.get(Path(target or "").suffix.lower())
        if by_suffix == "json" and Path(target or "").name.startswith(CODE_QUALITY_FILE_NAME_START):
            by_suffix = "gitlab"
        name = (by_suffix or self.form) if len(self.output) > 1 else (self.form or by_suffix)
        return name or ("table" if target is None and sys.stdout.isatty() else "plain")

    def message_text(self, message: Diagnostic) -> str:
        """The text of a message, with numbers in the format that --digits and --percent set."""
        return sentence_text(message.pieces(), self._style(False, False))

    def write(self, report: Report, charting: ChartOptions) -> None:
        """Write the report to stdout or files, then draw charts, and then print messages on stderr.

        The verdict of a gate is also printed on stderr, unless stdout begins with the verdict.  In
        GitHub Actions, a gate also writes the step summary.
        """
        printed, form, contents, page_files = "", "", dict[Path, str | bytes](), list[Path]()
        on_terminal, opens = sys.stdout.isatty(), False
        try:
            if charting.highlight or charting.panel:
                from passk_cli.charts.chart_options import plots_with_appearance

                # An unknown model or column must raise an error before passk prints anything.
                plots_with_appearance(report.plots, charting.appearance)
            for target in self._targets:
                name = self._format_of_target(target, paged=report.page is not None)
                opens |= target is None and name in ("table", "plain", "markdown")
                style = self._style(name == "table", target is None and on_terminal)
                paged = report.page is not None and name in pages.SUFFIX_BY_FORMAT
                if target is None and paged:
                    printed = pages.page_files_by_name(report, name, style)[""].decode()
                elif target is None:
                    printed, form = load_object(WRITER_BY_FORMAT[name])(report, style), name
                elif paged:
                    with show_activity("drawing"):
                        contents |= pages.page_files_by_path(report, name, Path(target), style)
                    page_files.append(Path(target))
                else:
                    contents[Path(target)] = load_object(WRITER_BY_FORMAT[name])(report, style)
            with write_all_or_none(contents):
                print(shield_from_runner(printed, form), end="", flush=True)
            for path in page_files if sys.stderr.isatty() and not self.quiet else ():
                size = f"{max(path.stat().st_size / 1e6, 0.1):.1f} MB"
                print(f"passk: written: {printable(str(path))} ({size})", file=sys.stderr)
            if charting.chart:
                charting.write(report, self._style(on_terminal, on_terminal))
            if report.checks and (summary := self._step_summary_file):
                style = Style(self.digits, self.percent)
                _append_to_file(summary, load_object(WRITER_BY_FORMAT["markdown"])(report, style))
        finally:
            self.write_messages(report)
            if report.checks and not opens:
                line = cut_long_words(answer_text(report, self._style(False, False)))
                print(shield_from_runner(f"passk: {line}"), file=sys.stderr)
            if report.checks and self._writes_annotations:
                text = load_object(GITHUB_ANNOTATION_WRITER)(
                    report, Style(self.digits, self.percent)
                )
                print(text, end="", file=sys.stderr)

    @property
    def _step_summary_file(self) -> str:
        """The path of GitHub's step summary, or "" if passk writes no summary.

        passk writes a summary only if it also writes GitHub annotations.
        """
        annotated = (
            "github" in map(self._format_of_target, self._targets) or self._writes_annotations
        )
        return os.environ.get("GITHUB_STEP_SUMMARY", "") if annotated else ""

    @property
    def _writes_annotations(self) -> bool:
        """Whether a gate prints GitHub annotations on stderr.

        In GitHub Actions, a gate prints annotations unless PASSK_CI is "off" or an output has the
        format github.
        """
        annotates = is_github_runner() and os.environ.get("PASSK_CI") != "off"
        return annotates and "github" not in map(self._format_of_target, self._targets)

    def write_messages(self, report: Report) -> None:
        """Print messages on stderr.

        Without --verbose, passk prints at most three messages in full, and then lists the names of
        the remaining messages.
        """
        if not report.messages:
            return
        everything = self.full or self.verbose
        messages = warnings_first(report.messages) if everything else default_messages(report)
        if self.quiet:
            messages = [message for message in messages if message.severity != NOTE]
        room = len(messages) if self.verbose else 3
        style = self._style(False, False)
        for message in messages[:room]:
            print_message(message_line(message, style), message.severity)
        if further := messages[room:]:
            names = ", ".join(dict.fromkeys(message.name for message in further if message.name))
            print(f"{len(further)} more: -v{f' ({names})' if names else ''}", file=sys.stderr)

    def _style(self, wide: bool, coloured: bool) -> Style:
        """The text style that the options set, such as the number of digits and colours.

        wide : whether tables must fit the terminal.
        """
        width = shutil.get_terminal_size((80, 24)).columns if wide else 0
        colour = coloured and _environment_allows_colours()
        return Style(
            self.digits, self.percent, width, colour, safe_csv=self.safe_csv, full=self.full,
            with_signature=self.verbose, intervals_below_estimates=self.stacked,
            with_methods=self.methods,
        )  # fmt: skip

    def write_gate_error(self, error: PasskError, *, file: bool) -> None:
        """Write an error to the outputs in which a CI pipeline expects the verdict of a gate.

        file : whether the method `check` has accepted the output files.
        """
        contents: dict[Path, str | bytes] = {}
        problem = str(error)
        for target in self._targets:
            name = self._format_of_target(target)
            if target is not None and name in ("json", "jsonl"):
                contents[Path(target)] = error_json_document(error, name)
            if name not in ERROR_WRITER_BY_FORMAT:
                continue
            text = load_object(ERROR_WRITER_BY_FORMAT[name])(problem)
            if target is None:
                print(text, end="", flush=True)
            else:
                contents[Path(target)] = text
        # A failure to write an output must not hide the original error.
        with suppress(ParameterError):
            if file:
                with write_all_or_none(contents):
                    pass
            if self._writes_annotations:
                print(
                    load_object(ERROR_WRITER_BY_FORMAT["github"])(problem), end="", file=sys.stderr
                )
            if self._step_summary_file:
                _append_to_file(
                    self._step_summary_file,
                    load_object(ERROR_WRITER_BY_FORMAT["markdown"])(problem),
                )


def _require_valid_paths(targets: Sequence[str], inputs: Sequence[str]) -> None:
    """Raise ParameterError if an output path cannot be used.

    A path cannot be used if it is a folder, an input file, or the path of two outputs, or if its
    folder does not exist.
    """
    places = [os.path.realpath(target) for target in targets]
    for place, target in zip(places, targets, strict=True):
        folder = os.path.dirname(target) or "."
        if not os.path.isdir(folder):
            problem = f"{folder}: the folder of the output does not exist; create it first"
        elif os.path.isdir(target):
            problem = f"{target}: this is a folder; name a file in it"
        elif os.path.exists(target) and place in resolved_file_paths(inputs):
            problem = f"{target} is also an input file; choose another name for the output"
        elif places.count(place) > 1:
            problem = f"{target} is the file of two outputs; choose different names"
        else:
            continue
        raise ParameterError(problem, name="bad-output")


def output_option_groups(declaration: Command) -> Iterator[tuple[str, list[DeclaredOption]]]:
    """The options for charts and output, as pairs of a group's title and the group's options."""
    edge = (ChartOptions, OutputOptions) if declaration.has_charts else (OutputOptions,)
    without = [*options_by_field(declaration.options_type), *declaration.excluded_options]
    without += [] if declaration.has_methods_text else ["methods"]
    for group, options in pair_groups_with_options(edge, without):
        if not declaration.gives_verdict:
            # The formats junit, github and gitlab are only for commands that give verdicts.
            plain = tuple(name for name in WRITER_BY_FORMAT if name not in VERDICT_FORMATS)
            options = [
                option._replace(option=replace(option.option, choices=plain))
                if option.field == "form" else option
                for option in options
            ]  # fmt: skip
        yield getattr(group, "title", ""), options


def _append_to_file(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        print(f"passk: {printable(str(unwritable_error(path, error)))}", file=sys.stderr)


def print_message(text: str, severity: str) -> None:
    """Print a message or an error on stderr.

    In a terminal, the label is coloured and long sentences are wrapped.  Commands are not wrapped,
    so that you can copy the commands.
    """
    if sys.stderr.isatty():
        sentence, *below = text.split("\n")
        width = shutil.get_terminal_size((80, 24)).columns
        folded = wrap(sentence, width, break_long_words=False, break_on_hyphens=False)
        text = "\n".join((*folded, *below))
        if _environment_allows_colours():
            label, _, words = text.partition(": ")
            text = f"\x1b[{_COLOUR_CODE_BY_SEVERITY[severity]}m{label}:\x1b[0m {words}"
    print(shield_from_runner(text), file=sys.stderr)


def _environment_allows_colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
