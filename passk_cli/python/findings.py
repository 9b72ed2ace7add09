"""Findings: the results of the Python functions, as DataFrames, charts and text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_cli import pages
from passk_cli.charts import PICTURE_SUFFIXES
from passk_cli.charts.chart_options import Appearance, PictureSize, with_appearance
from passk_cli.charts.theme import THEMES
from passk_cli.cleanup import write_all_or_none, write_atomically
from passk_cli.errors import ParameterError
from passk_cli.files.export import write_columns
from passk_cli.option import load_object
from passk_cli.outcomes.model_selection import parse_numbers
from passk_cli.python.pickling import register_report_pickling
from passk_cli.python.python_calls import spell_for_python, translate_errors_to_python
from passk_cli.render import FORMAT_BY_SUFFIX, WRITER_BY_FORMAT
from passk_cli.render.csv_json import message_data
from passk_cli.render.markup import html
from passk_cli.render.plain import plain
from passk_cli.render.style import Style, report_with_answers_as_titles, sentence_text
from passk_cli.report.data_types import Cell, Column, Estimate, Limits, PhraseCell, Report, Table
from passk_cli.suggestions import did_you_mean_or_list

if TYPE_CHECKING:
    import pandas as pd

FRAME_LIBRARIES = ("pandas", "polars")

PYTHON_STYLE = Style(spell_option=spell_for_python)


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """A chart of results.  A notebook shows the chart, and the method `save` writes the chart to a
    file.

    appearance : the size and the title of the chart, its bands, and the highlighted models.
    theme : "light" or "dark".  percent : whether shares are shown as percentages.
    """

    report: Report
    appearance: Appearance
    theme: str
    percent: bool

    @property
    def svg(self) -> str:
        """The chart as a string in the SVG format."""
        return self._render(".svg").decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart to a file.  The suffix sets the format: .png, .svg, .pdf or .html.

        passk writes the file completely or not at all.  In an .html file, the chart is light or
        dark like the browser that shows the chart.
        Errors: ParameterError for an unknown suffix, or for a file that passk cannot write.
        """
        path = Path(path)
        if path.suffix.lower() not in PICTURE_SUFFIXES:
            raise _unknown_suffix_error(path, PICTURE_SUFFIXES)
        write_atomically(path, self._render(path.suffix.lower()))

    def _render(self, suffix: str) -> bytes:
        from passk_cli.charts.picture import picture_bytes

        with translate_errors_to_python({}):
            report = with_appearance(
                report_with_answers_as_titles(self.report, Style(percent=self.percent)),
                self.appearance,
            )
            return picture_bytes(report, suffix, self.theme, self.percent, self.appearance.size)

    def __repr__(self) -> str:
        return f"<Chart: {', '.join(plot.title or plot.kind for plot in self.report.plots)}>"

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}


@dataclass(frozen=True)
class PrintedMessage:
    """A note or warning about results.

    name : name of the message, for example "pooled-settings".  severity : "note" or "warning".
    text : the message as a sentence.
    fields : name → value, for every name and number in the sentence.
    remedies : Python calls that fix the problem.  If there are several calls, any one of them fixes
        the problem.
    """

    name: str
    severity: str
    text: str
    fields: Mapping[str, object]
    remedies: list[str]

    def __getitem__(self, name: str) -> Any:
        """The attribute with this name, so that you can use a message like a dict."""
        return getattr(self, name)


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """The results of a Python function such as `passk_cli.estimate`.

    frame : the results as a DataFrame with one row per result, at full precision.  If passk cannot
        compute an estimate, the estimate is NaN, and the column `note` contains the reason.
    tables : the tables that the command prints, as DataFrames.
    messages : notes and warnings, each with a name, a text and remedies.
    signature : name → value of every option on which the results depend.
    methods : sentences for a paper about how passk computed the results.
    report : the report from which all other attributes are made.
    numeric : names of group columns that contain numbers in the data.
    frame_as : library of the DataFrames, "pandas" or "polars".

    >>> import passk_cli
    >>> findings = passk_cli.estimate(
    ...     [{"task": "a", "n": 4, "c": 1}, {"task": "b", "n": 4, "c": 3}], "pass@1,pass@2"
    ... )
    >>> findings.frame[["metric", "estimate"]].values.tolist()
    [['pass@1', 0.5], ['pass@2', 0.75]]
    >>> findings.signature["tasks"]
    2
    """

    report: Report
    numeric: frozenset[str] = frozenset()
    frame_as: str = "pandas"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            register_report_pickling(self.report),
            self.numeric,
            self.frame_as,
        )

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The results as a DataFrame with one row per result."""
        frame: pd.DataFrame = self._frame(self.report.data_table)
        return frame

    @property
    def tables(self) -> list[pd.DataFrame]:
        """The tables that the command prints, as DataFrames at full precision.

        Two columns next to the estimates contain the limits of the intervals, for example "pass@1
        low" and "pass@1 high".  The `attrs` of a DataFrame contain the title of its table.
        """
        return [self._frame(_with_limit_columns(table)) for table in self.report.tables]

    @property
    def messages(self) -> list[PrintedMessage]:
        """Notes and warnings about the results."""
        return [PrintedMessage(**message_data(message)) for message in self.report.messages]

    @property
    def signature(self) -> dict[str, object]:
        """The options on which the results depend: name → value."""
        return dict(self.report.signature)

    @property
    def methods(self) -> str:
        """Sentences for a paper about how passk computed the results, with BibTeX entries, or "" if
        the function has no such sentences."""
        stated = self.report.make_methods_text() if self.report.make_methods_text else None
        return f"{stated.text_with_author_year_citations}\n\n{stated.bibtex}" if stated else ""

    def chart(
        self,
        name: str = "",
        *,
        theme: str = "light",
        percent: bool = False,
        size: str = "",
        title: bool = True,
        bands: bool = True,
        highlight: str | Sequence[str] = (),
        panel: str = "",
    ) -> Chart:
        """The chart of the results.  A notebook shows the chart if this call is the last line of a
        cell.

        name : kind of the chart ("curves", "forest", …), if there are several charts.  The first
            letters of the kind are enough.  For `report`, `name` must be the name of a section.
        theme : "light" or "dark".  percent : whether shares are shown as percentages.
        size : size of the chart, for example "3.25in", "8cmx5cm" or "800x500" (pixels).
        title : whether the chart has a title.
        bands : whether lines have bands for their intervals.
        highlight : names or patterns of models to colour.  All other models are grey.  By default,
            if there are more than 8 models, only the best 5 models are coloured.
        panel : a column of `by`.  The chart has one panel per value of this column.
        Errors: ParameterError if the results have no chart, or no chart with this name.
        """
        if theme not in THEMES:
            raise ParameterError(f'theme="{theme}": {did_you_mean_or_list(theme, THEMES)}')
        panels = [p for c in page.chapters for p in c.panels] if (page := self.report.page) else []
        charts = [(panel.name, plot) for panel in panels for plot in panel.report.plots]
        charts += [(plot.kind, plot) for plot in self.report.plots]
        shown = self.report.plots_in_picture(full=False)
        kinds = list(dict.fromkeys(kind for kind, _ in charts))
        if not name and not self.report.plots:
            remedy = f" as a whole; name one of {', '.join(kinds)}" * bool(charts)
            raise ParameterError(f"there is nothing to draw{remedy}", name="no-chart")
        # If you name a chart, you also get charts that the command line draws only with --full.
        plots = tuple(plot for kind, plot in charts if kind.startswith(name)) if name else shown
        if not plots:
            raise ParameterError(
                f"there is no chart named {name!r}; {did_you_mean_or_list(name, kinds)}",
                name="no-chart",
            )
        with translate_errors_to_python({}):
            picture_size = PictureSize.parse(size) if size else None
        models = (highlight,) if isinstance(highlight, str) else tuple(highlight)
        look = Appearance(title, bands, models, panel, picture_size)
        return Chart(replace(self.report, make_plots=lambda: plots), look, theme, percent)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        digits: int | None = None,
        percent: bool = False,
        theme: str = "light",
        size: str = "",
        title: bool = True,
        bands: bool = True,
        highlight: str | Sequence[str] = (),
        panel: str = "",
        stacked: bool = False,
        safe_csv: bool = False,
    ) -> None:
        """Write the results to a file, completely or not at all.

        path : the suffix sets the content.  Files that end in .csv, .tsv, .json, .jsonl or .parquet
            contain one row per result.  Files that end in .md, .tex or .txt contain the tables.
            Files that end in .png, .svg, .pdf or .html contain charts.  For `report`, .html and .md
            files contain the whole page.
        digits : number of decimals in tables.  percent : whether shares are shown as percentages.
        theme, size, title, bands, highlight, panel : options of a chart; see `chart`.
        stacked : whether the tables of a .tex file fit a narrow column, with intervals below their
            estimates.
        safe_csv : whether strings that begin with =, +, - or @ get an apostrophe, so that a
            spreadsheet does not run them as formulas.
        Errors: ParameterError for an unknown suffix, for an option that does not apply to the
            suffix, or if there is no chart.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        is_picture = suffix in PICTURE_SUFFIXES or (
            self.report.page is not None and suffix in pages.FORMAT_BY_SUFFIX
        )
        of_pictures = {
            "theme": theme != "light", "size": size, "title": not title, "bands": not bands,
            "highlight": list(highlight), "panel": panel,
        }  # fmt: skip
        ignored = [name for name, value in of_pictures.items() if value and not is_picture]
        ignored += ["stacked"] * (stacked and suffix != ".tex")
        if ignored and suffix in (*FORMAT_BY_SUFFIX, ".parquet", *PICTURE_SUFFIXES):
            raise ParameterError(
                f"{ignored[0]}=: this option does not apply to {suffix} files; leave the option"
                " out,"
                " or save a file with another suffix",
                name="contradicting-options",
            )
        style = replace(
            PYTHON_STYLE,
            digits=digits,
            percent=percent,
            safe_csv=safe_csv,
            intervals_below_estimates=stacked,
        )
        with translate_errors_to_python({}):
            if self.report.page is not None and suffix in pages.FORMAT_BY_SUFFIX:
                with write_all_or_none(
                    pages.page_files_by_path(
                        self.report, pages.FORMAT_BY_SUFFIX[suffix], path, style
                    )
                ):
                    pass
            elif suffix in FORMAT_BY_SUFFIX:
                write_atomically(
                    path,
                    load_object(WRITER_BY_FORMAT[FORMAT_BY_SUFFIX[suffix]])(self.report, style),
                )
            elif suffix == ".parquet":
                frame = replace(self, frame_as="pandas").frame
                write_columns(path, {str(name): frame[name].to_numpy() for name in frame})
            elif suffix in PICTURE_SUFFIXES:
                chart = self.chart(
                    theme=theme, percent=percent, size=size, title=title, bands=bands,
                    highlight=highlight, panel=panel,
                )  # fmt: skip
                chart.save(path)
            else:
                raise _unknown_suffix_error(
                    path, (*FORMAT_BY_SUFFIX, ".parquet", *PICTURE_SUFFIXES)
                )

    def _frame(self, table: Table) -> Any:
        rows = [[_frame_value(cell) for cell in row] for row in table.rows]
        names = [column.header for column in table.columns]
        columns: dict[str, list[Any]] = {
            name: [row[place] for row in rows] for place, name in enumerate(names)
        }
        for name, cells in columns.items():
            is_numeric = name.removesuffix("_against") in self.numeric
            texts = ["" if cell is None else cell for cell in cells]
            if is_numeric and all(isinstance(text, str) for text in texts):
                columns[name] = parse_numbers(map(str, texts)) or cells
        if self.frame_as == "polars":
            import polars

            return polars.DataFrame(columns, strict=False)
        import pandas as pd

        frame = pd.DataFrame(columns)
        frame.attrs["title"] = table.title
        return frame

    def __dir__(self) -> list[str]:
        """The names of the public attributes."""
        return [name for name in super().__dir__() if not name.startswith("_")]

    def __str__(self) -> str:
        """The text that the command line prints for the same analysis."""
        return plain(self.report, PYTHON_STYLE).rstrip("\n")

    __repr__ = __str__

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        return {"text/html": html(self.report, PYTHON_STYLE), "text/plain": str(self)}


def _unknown_suffix_error(path: Path, suffixes: Sequence[str]) -> ParameterError:
    choices = ", ".join(dict.fromkeys(suffixes))
    return ParameterError(
        f"{path}: passk has no output format with this suffix; use {choices}", name="bad-output"
    )


def _with_limit_columns(table: Table) -> Table:
    columns, cells = list[Column](), list[Sequence[Cell]]()
    for at, column in enumerate(table.columns):
        column_cells = [row[at] for row in table.rows]
        columns, cells = [*columns, column], [*cells, column_cells]
        for end in ("low", "high"):
            limits = [
                getattr(cell, end) if isinstance(cell, Estimate) else None for cell in column_cells
            ]
            if any(limit is not None for limit in limits):
                columns.append(Column(f"{column.header} {end}"))
                cells.append(limits)
    return replace(table, columns=tuple(columns), rows=tuple(zip(*cells, strict=True)))


def _frame_value(cell: Cell) -> str | float | tuple[float | None, float | None] | None:
    if isinstance(cell, PhraseCell):
        return sentence_text(cell.pieces, PYTHON_STYLE)
    if isinstance(cell, Limits):
        return cell.low, cell.high
    if isinstance(cell, Estimate) and cell.range_upper_end is not None:
        return cell.range_ends
    return cell.value if isinstance(cell, Estimate) else cell


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(Findings):
    """The results of a function that gives a verdict: gate, watch, and trend with `fail=True`.

    >>> import passk_cli
    >>> runs = [{"task": "a", "n": 4, "c": 4}, {"task": "b", "n": 4, "c": 3}]
    >>> passk_cli.gate(runs, must_pass="a").passed
    True
    """

    @property
    def passed(self) -> bool:
        """Whether no rule fails.

        After a simulation of false alarms, `passed` is True if the rate of false alarms is at most
        `max_false_alarms`.
        Errors: AttributeError if no rule was checked.
        """
        checks = self.report.checks
        if not checks and self.report.provisional is None:
            raise AttributeError(
                "no rule was checked, so there is no verdict; pass fail=True to the function"
            )
        return not any(check.failing for check in checks)

    def __bool__(self) -> bool:
        """Whether no rule fails, so that you can write `if gate(…):`."""
        return self.passed
