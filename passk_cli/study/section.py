"""Sections: the parts of a report, each with its records and columns.

A section declares each column once.  passk uses this declaration for the table in a terminal, the
table of --full, the fields of csv and json, `passk help COMMAND`, the documentation and the JSON
Schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from passk_cli.files.roles import TRUTH
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    ALWAYS,
    DATA,
    FULL,
    WIDE,
    AnswerSentence,
    Cell,
    Column,
    Estimate,
    LazyRows,
    MethodsText,
    OptionHint,
    Phrase,
    Report,
    Table,
)
from passk_cli.report.phrases import number_range, plural
from passk_cli.study.answer import Answer, all_true, first_true
from passk_cli.study.result import SHARED_FIELD_NAMES, Result, tidy_rows
from passk_cli.study.signature import signature
from passk_cli.text import in_quotes
from passk_cli.version import RELEASE

if TYPE_CHECKING:
    from passk_cli.diagnostic import Diagnostic
    from passk_cli.report.plot import Plot
    from passk_cli.study.analysis import Analysis
    from passk_cli.study.values import Series

Record = TypeVar("Record")
# The line below the tables ends with the version, because results may differ between versions.
VERSION = f"passk {RELEASE.rpartition('.')[0]}"


@dataclass(frozen=True, eq=False, repr=False)
class Section(Generic[Record]):
    """One part of a report: records of one kind, with their columns and the answers about these
    records.

    view : when the section appears, as the help writes it, for example "with --matrix".
    shown : ALWAYS, or FULL for a section that only --full shows.
    columns : columns in their order; columns with a name are fields of csv and json.
    separate_schema : whether the rows of csv and json have only this section's fields, without the
        fields that all commands share.
    answers : possible answers.  The first true answer is printed above the table.
    further_answers : answers of which passk prints all that are true, after the first answer.
    first : number of rows that a table without --full shows.  0 for all rows.
    """

    title: ClassVar[str] = ""
    view: ClassVar[str] = ""
    shown: ClassVar[str] = ALWAYS
    columns: ClassVar[tuple[Column, ...]] = ()
    separate_schema: ClassVar[bool] = False
    answers: ClassVar[tuple[Answer, ...]] = ()
    further_answers: ClassVar[tuple[Answer | tuple[Answer, ...], ...]] = ()

    study: Analysis
    records: Sequence[Record]
    first: int = field(default=0, kw_only=True)

    def facts_of(self, record: Record) -> Iterable[Result]:
        """The results in a record.  A result is one row of csv and json."""
        return ()

    def facts(self) -> Sequence[Result]:
        """All results of the section, with the named columns as further fields."""
        extra_columns = [
            c for c in self.columns if c.name and c.name not in SHARED_FIELD_NAMES and not c.across
        ]
        fields = [(column.name, column.cell) for column in extra_columns if column.cell]
        facts = []
        for record in self.records:
            for fact in self.facts_of(record):
                extra = {name: cell(record) for name, cell in fields if name not in fact.more}
                facts.append(replace(fact, more={**fact.more, **extra}) if extra else fact)
        return facts

    def answer(self) -> Iterable[AnswerSentence]:
        """The first true answer of `answers`, and all true answers of `further_answers`."""
        yield from first_true(self.answers, self)
        yield from all_true(self.further_answers, self)

    def context(self) -> Iterable[str | OptionHint]:
        """Parts of the line below the tables."""
        return ()

    def details(self) -> Iterable[str]:
        """Parts of the line below the tables that only --full shows."""
        return ()

    def messages(self) -> Iterable[Diagnostic]:
        """Messages about the records of the section."""
        return ()

    def plots(self) -> tuple[Plot, ...]:
        """The charts of the section."""
        return ()

    def tables(self) -> Iterator[Table]:
        """The records as a table, or no table if there are no records."""
        if self.records:
            yield self.table(self.records, self.title)

    def table(self, records: Sequence[Record], title: str = "") -> Table:
        """A table of some records with the columns of the section."""
        columns, cells = self._visible_columns(lambda column: column.shown != DATA)
        return Table(columns, LazyRows(records, cells), title, self.shown, self.first)

    def data(self) -> Table:
        """The records as rows of csv and json, with the named columns of the section."""
        columns, cells = self._visible_columns(
            lambda column: bool(column.name) or column in (MODEL, GROUPS)
        )
        heads = tuple(Column(c.name if c.name and not c.across else c.header) for c in columns)
        return Table(heads, LazyRows(self.records, cells))

    def _visible_columns(
        self, is_selected: Callable[[Column], bool]
    ) -> tuple[tuple[Column, ...], list[Callable[[Record], Cell]]]:
        columns: list[Column] = []
        cells: list[Callable[[Record], Cell]] = []
        for column in filter(is_selected, self.columns):
            if column.cell is None or (column.where is not None and not column.where(self)):
                continue
            if column.across is None:
                columns.append(column)
                cells.append(column.cell)
                continue
            for item in column.across(self):
                kind = column.units(self, item) if column.units else column.kind
                header, meaning = column.header.format(item), column.meaning.format(item)
                visibility = getattr(item, "shown", column.shown)
                columns.append(
                    replace(column, header=header, meaning=meaning, kind=kind, shown=visibility)
                )
                cells.append(
                    lambda record, cell=column.cell, item=item: cell(record, item)  # type: ignore[misc]
                )
        return tuple(columns), cells


def data_field(name: str, meaning: str = "", cell: Callable[[Any], Cell] | None = None) -> Column:
    """A field of csv, json and Python that no table shows.

    cell : a function of the record that returns the value.  None if the results contain the field.
    """
    return Column("", meaning=meaning, name=name, shown=DATA, cell=cell)


MODEL = Column("model", name="model", meaning="The model or agent, named like in the files.",
               cell=lambda record: in_quotes(record.series[0]))  # fmt: skip
AGAINST = Column(
    "against", meaning="The model with which `model` is compared. Differences are model minus"
    " against.",
    cell=lambda record: record.against)  # fmt: skip
GROUPS = Column(
    "{0[1]}", meaning="The column {0[1]} of the data, by which models are split (--by).",
    cell=lambda record, item: record.series[1 + item[0]],
    across=lambda section: enumerate(section.study.counts.group_names),
    example=(0, "COLUMN"))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SeriesRow:
    """The results of one series by their names."""

    series: Series
    numbers: Mapping[str, Result]


def rows_by_series(facts: Iterable[Result]) -> list[SeriesRow]:
    """One row per series, in the order in which the series first occur."""
    by_series: dict[Series, dict[str, Result]] = {}
    for fact in facts:
        by_series.setdefault(fact.series, {})[fact.name] = fact
    return [SeriesRow(series, numbers) for series, numbers in by_series.items()]


def amount_or_minimum(estimate: Estimate) -> Cell:
    """An amount as a cell, or "at least $0.50" if its upper limit is not known."""
    least = estimate.low if estimate.value is None else estimate.value
    certain = estimate.value is not None and estimate.upper is None
    if certain or least is None:
        return estimate
    return Phrase(("at least ", (least, Column("", estimate.unit))))


class NumberColumn(NamedTuple):
    """A column of a `NumberTable`, for example a metric."""

    name: str
    meaning: str
    unit: str
    shown: str = ALWAYS


NUMBER = Column(
    "{0.name}", "share", meaning="{0.meaning}",
    cell=lambda row, number: _cell(row.numbers[number.name].estimate)
    if number.name in row.numbers else Estimate(None),
    across=lambda section: section.numbers,
    units=lambda section, number: number.unit,
    example=NumberColumn("METRIC", "A metric of -k or -m, with its interval.",
    "share"))  # fmt: skip


def _cell(estimate: Estimate) -> Cell:
    unlimited = estimate.high is None or math.isinf(estimate.high)
    if estimate.value is None and unlimited:
        return amount_or_minimum(estimate)
    return estimate.value_or_limits


class NumberTable(Section[SeriesRow]):
    """A table with one row per series and one column per metric.

    If the sizes of the results differ, the table has columns for tasks and attempts, too.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        MODEL,
        GROUPS,
        replace(NUMBER, across=lambda section: section.numbers[:1]),
        Column("interval of {0.name}", shown=WIDE, across=lambda section: section.drawn_numbers,
               meaning="The interval of {0.name}, drawn on a common scale. Only terminals with at"
               " least 110 columns show"
               " it.", cell=lambda row, number: row.numbers[number.name].estimate
               if number.name in row.numbers else None, example=NUMBER.example),
        replace(NUMBER, across=lambda section: section.numbers[1:]),
        Column("tasks", meaning="Number of tasks that the results use.",
               cell=lambda row: _range_text(fact.size.tasks for fact in row.numbers.values()),
               where=lambda section: section.sizes_differ),
        Column("attempts", meaning="Minimum and maximum number of attempts per task.",
               cell=lambda row: _range_text(n for f in row.numbers.values() for n in f.size[1:]),
               where=lambda section: section.sizes_differ),
    )  # fmt: skip

    def facts_of(self, record: SeriesRow) -> Iterable[Result]:
        return record.numbers.values()

    @property
    def drawn_numbers(self) -> list[NumberColumn]:
        """The column with drawn intervals of the first metric, if the metric is a share."""
        several = len(self.records) > 1
        return [
            number._replace(shown=WIDE)
            for number in self.numbers[:1]
            if several and number.unit == "share"
        ]

    @property
    def numbers(self) -> list[NumberColumn]:
        """The columns of the metrics, in the order in which their results first occur."""
        meanings = {metric.name: metric.meaning for metric in self.study.metrics}
        facts = {name: fact for row in self.records for name, fact in row.numbers.items()}
        ks = {fact.k for fact in facts.values()}
        return [
            NumberColumn(name, meanings.get(name, ""), fact.estimate.unit,
                   ALWAYS if self.study.is_k_in_short_table(fact.k, ks) else FULL)
            for name, fact in facts.items()
        ]  # fmt: skip

    @property
    def sizes_differ(self) -> bool:
        """Whether results use different numbers of tasks or attempts."""
        return len({fact.size for fact in self.facts()}) > 1


def _range_text(numbers: Iterable[int | None]) -> str:
    present = [number for number in numbers if number is not None]
    return number_range(min(present), max(present)) if present else ""


def _data_choice_texts(counts: Counts) -> Iterator[str]:
    facts = counts.facts
    if facts.pool:
        yield f"pooled over {', '.join(facts.pool)}"
    if facts.judge_errors:
        borrowed = plural(sum(number for _, number in facts.judge_errors), "label")
        yield f"corrected by {borrowed} of other attempts"
    if TRUTH in counts.attempts:
        truth = counts.attempts[TRUTH]
        labelled = ~np.isnan(truth.value)
        cells = np.unique(truth.cell[labelled])
        tasks = len(np.unique(counts.task_codes[cells]))
        labels = int(truth.count[labelled].sum())
        yield f"corrected by {plural(labels, 'label')} of {plural(tasks, 'task')}"
    for option, words in (("--exclude-task", "left out"), ("--only-task", "chosen")):
        if names := facts.names_of(option):
            yield f"{plural(len(names), 'task')} {words}"


def build_report(
    study: Analysis, sections: Sequence[Section[Any]], *, context: Iterable[str | OptionHint] = (),
    messages: Iterable[Diagnostic] = (), **decided: Any,
) -> Report:  # fmt: skip
    """The report of a command, from its sections in the order in which they are printed.

    The first chart of a section shows the section's answers.  If the section has no answer, the
    chart shows the answers of earlier sections without a chart.

    context : parts of the line below the tables that precede the parts of the sections.
    decided : further entries of the signature.  Entries with the value None are left out.
    """
    section_context = (part for section in sections for part in section.context())
    parts = (*context, *section_context, *_data_choice_texts(study.counts), VERSION)
    all_messages = (*messages, *(message for section in sections for message in section.messages()))

    def rows() -> Table:
        if separate := [section for section in sections if section.separate_schema]:
            return separate[0].data()
        return tidy_rows(facts(), study.counts.group_names, study.confidence.population)

    def entries() -> dict[str, object]:
        short = None if study.short_tasks == "empty" else study.short_tasks
        usual = {} if "interval" in decided else study.confidence.signature()
        return {**usual, **decided, **study.decided, "short_tasks": short}

    @cache
    def facts() -> list[Result]:
        return [fact for section in sections for fact in section.facts()]

    def plots() -> tuple[Plot, ...]:
        pictures: list[Plot] = []
        models = tuple(dict.fromkeys(model for model, *_ in study.counts.series))
        message: list[AnswerSentence] = []
        for section in sections:
            section_context, section_plots = tuple(section.answer()), section.plots()
            message += section_context
            for place, plot in enumerate(section_plots):
                answer = () if place else section_context or tuple(message)
                pictures.append(
                    replace(plot, answer=answer, groups=study.counts.group_names, models=models)
                )
            message = [] if section_plots else message
        return tuple(pictures)

    def methods() -> MethodsText:
        from passk_cli.study.methods_text import describe_methods

        return describe_methods(study.counts, study.confidence, facts(), entries())

    return Report(
        tables=tuple(table for section in sections for table in section.tables()),
        rows=rows,
        context=tuple(filter(None, parts)),
        explain=lambda: (part for section in sections for part in section.details()),
        messages=tuple(dict.fromkeys(all_messages)),
        sign=lambda: signature(study.metrics, entries(), study.counts),
        draw=plots,
        answer=tuple(sentence for section in sections for sentence in section.answer()),
        methods=methods,
    )
