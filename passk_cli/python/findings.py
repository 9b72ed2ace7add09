"""Findings: what a function gives back, as frames, tables, pictures and text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from passk_cli import pages
from passk_cli.charts import PICTURES
from passk_cli.charts.look import Look, shown
from passk_cli.charts.theme import THEMES
from passk_cli.cleanup import write_whole, written
from passk_cli.errors import ParameterError
from passk_cli.option import loaded
from passk_cli.render import FORMATS, SUFFIXES
from passk_cli.render.data import message_data
from passk_cli.render.markup import html
from passk_cli.render.plain import plain
from passk_cli.render.style import Style, said, with_words
from passk_cli.report.model import Cell, Estimate, Limits, Phrase, Report, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """Answer of a command, as a Python object.

    frame : the tidy rows as a DataFrame, one per number, at full precision; an estimate that cannot
        be computed is NaN, and its note says why.
    tables : the tables for people.  messages : what a reader must know beside the numbers, each
        with a name.
    signature : name → value of all that it takes to reproduce the numbers.
    report : what all of these are made from.

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

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The tidy rows."""
        return _frame(self.report.data)

    @property
    def tables(self) -> list[pd.DataFrame]:
        """The tables for people, at full precision: each cell its estimate, without limits.

        The title of a table is in its `attrs`.
        """
        return [_frame(table) for table in self.report.tables]

    @property
    def messages(self) -> list[dict[str, object]]:
        """Messages beside the numbers: name, severity, text and fields of each."""
        return [message_data(message) for message in self.report.messages]

    @property
    def signature(self) -> dict[str, object]:
        """All that it takes to reproduce the numbers."""
        return dict(self.report.signature)

    @property
    def passed(self) -> bool:
        """Whether no rule of a gate fails; True for other commands.

        With `max_false_alarms`, whether the rehearsal has no more of them.
        """
        checks = self.report.checks
        asked = [check for check in checks if check.of_rehearsal] or checks
        return not any(check.failing for check in asked)

    def __bool__(self) -> bool:
        """As `passed`, so that `if gate(…):` asks what it seems to ask."""
        return self.passed

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        digits: int | None = None,
        percent: bool = False,
        theme: str = "light",
        width: int | None = None,
        height: int | None = None,
        title: bool = True,
        bands: bool = True,
        highlight: Sequence[str] = (),
        safe_csv: bool = False,
    ) -> None:
        """Write it in the format of the suffix, whole or not at all.

        path : .csv, .tsv, .json and .jsonl hold the tidy rows, .md, .tex and .txt the tables; .png,
            .svg, .pdf and .html are pictures.  Of `report`, .html and .md are the whole page.
        digits : decimals shown in tables.  percent : shares as percentages.
        theme : of a picture, "light" or "dark"; html follows its reader.
        width, height : of a panel of a picture, in pixels.
        title : whether a picture has its title.  bands : whether its lines have their intervals.
        highlight : models whose lines have colours, all others being grey; of more than 8 models,
            the best 5.
        safe_csv : whether texts that a spreadsheet would compute (=, +, -, @) get an apostrophe.
        Errors: ParameterError for another suffix, or where there is nothing to draw.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if self.report.page is not None and suffix in pages.SUFFIXES:
            name, style = pages.SUFFIXES[suffix], Style(digits, percent)
            with written(pages.files_of(self.report, name, path, style)):
                pass
            return
        known = (*SUFFIXES, *(name for name in PICTURES if name not in SUFFIXES))
        if suffix not in known:
            raise ParameterError(
                f"{path}: no format has this suffix; use {', '.join(known)}", name="bad-output"
            )
        if theme not in THEMES:
            raise ParameterError(f'theme="{theme}": choose one of {", ".join(THEMES)}')
        if suffix in SUFFIXES:
            style = Style(digits, percent, safe_csv=safe_csv)
            content = loaded(FORMATS[SUFFIXES[suffix]])(self.report, style)
            write_whole(path, content)
        elif not self.report.plots:
            raise ParameterError("there is nothing to draw", name="no-chart")
        else:
            from passk_cli.charts.picture import picture

            look = Look(width, height, title, bands, tuple(highlight))
            report = shown(with_words(self.report, Style(digits, percent)), look)
            write_whole(path, picture(report, suffix, theme, percent))

    def __str__(self) -> str:
        """Text that the command prints."""
        return plain(self.report, Style()).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self.report, Style())


def _frame(table: Table) -> pd.DataFrame:
    import pandas as pd

    rows = [[_value(cell) for cell in row] for row in table.rows]
    frame = pd.DataFrame(rows, columns=[column.header for column in table.columns])
    frame.attrs["title"] = table.title
    return frame


def _value(cell: Cell) -> str | float | tuple[float | None, float | None] | None:
    if isinstance(cell, Phrase):
        return said(cell.pieces, Style())
    if isinstance(cell, Limits):
        return cell.low, cell.high
    if isinstance(cell, Estimate) and cell.upper is not None:
        return cell.ends
    return cell.value if isinstance(cell, Estimate) else cell
