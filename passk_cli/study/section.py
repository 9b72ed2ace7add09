"""Sections, which are the parts of a report, each with its records and columns.

A section declares each column once.  passk uses the declaration of a column for the table in a
terminal, the table of --full, the fields of csv and json, `passk help COMMAND`, the documentation
and the JSON Schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from passk_cli.files.roles import TRUTH_ROLE
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
    PhraseCell,
    Report,
    Table,
)
from passk_cli.report.phrases import number_range, plural
from passk_cli.study.answer import Answer, first_true_sentence, true_sentences
from passk_cli.study.result import SHARED_FIELD_NAMES, Result, tidy_rows
from passk_cli.study.signature import signature
from passk_cli.text import quote_if_outer_blank
from passk_cli.version import RELEASE

if TYPE_CHECKING:
    from passk_cli.diagnostic import Diagnostic
    from passk_cli.report.plot import Plot
    from passk_cli.study.analysis import Analysis
    from passk_cli.study.values import SeriesKey

Record = TypeVar("Record")
# The line below the tables ends with the version, because results may differ between versions.
FOOTER_VERSION_TEXT = f"passk {RELEASE.rpartition('.')[0]}"


@dataclass(frozen=True, eq=False, repr=False)
class ReportSection(Generic[Record]):
    """One part of a report, with records of one kind, the columns of the records, and answers about
    the records.

    shown_when : the condition under which the section appears, as help texts write it, for example
        "with --matrix".
    visibility : ALWAYS for a section that is always shown, or FULL for a section that only --full
        shows.
    columns : the columns in the order of the table.  Columns with a name are also fields of csv and
        json.
    has_own_schema : whether the rows of csv and json contain only the fields of this section, and
        not the fields that all commands share.
    answers : the possible answers.  passk prints only the first true answer, above the table.
    further_answers : further possible answers.  passk prints all of these answers that are true,
        after the first answer.
    rows_without_full : the number of rows that a table without --full shows, or 0 for all rows.
    """

    title: ClassVar[str] = ""
    shown_when: ClassVar[str] = ""
    visibility: ClassVar[str] = ALWAYS
    columns: ClassVar[tuple[Column, ...]] = ()
    has_own_schema: ClassVar[bool] = False
    answers: ClassVar[tuple[Answer, ...]] = ()
    further_answers: ClassVar[tuple[Answer | tuple[Answer, ...], ...]] = ()

    study: Analysis
    records: Sequence[Record]
    rows_without_full: int = field(default=0, kw_only=True)

    def results_of(self, record: Record) -> Iterable[Result]:
        """The results in a record.  Each result becomes one row of csv and json."""
        return ()

    def results(self) -> Sequence[Result]:
        """All results of the section, with the values of the named columns as further fields."""
        extra_columns = [
            c
            for c in self.columns
            if c.field_name and c.field_name not in SHARED_FIELD_NAMES and not c.repeated_items
        ]
        fields = [
            (column.field_name, column.cell_of_record)
            for column in extra_columns
            if column.cell_of_record
        ]
        facts = []
        for record in self.records:
            for fact in self.results_of(record):
                extra = {
                    name: cell(record) for name, cell in fields if name not in fact.extra_fields
                }
                facts.append(
                    replace(fact, extra_fields={**fact.extra_fields, **extra}) if extra else fact
                )
        return facts

    def answer(self) -> Iterable[AnswerSentence]:
        """The first true answer of `answers`, and all true answers of `further_answers`."""
        yield from first_true_sentence(self.answers, self)
        yield from true_sentences(self.further_answers, self)

    def footer_parts(self) -> Iterable[str | OptionHint]:
        """Phrases for the line below the tables."""
        return ()

    def full_footer_parts(self) -> Iterable[str]:
        """Phrases that only --full adds to the line below the tables."""
        return ()

    def messages(self) -> Iterable[Diagnostic]:
        """The messages about the records of the section."""
        return ()

    def plots(self) -> tuple[Plot, ...]:
        """The charts of the section."""
        return ()

    def tables(self) -> Iterator[Table]:
        """The records of the section as one table, or no table if there are no records."""
        if self.records:
            yield self.table(self.records, self.title)

    def table(self, records: Sequence[Record], title: str = "") -> Table:
        """A table of some records with the columns of the section."""
        columns, cells = self._selected_columns_and_cells(lambda column: column.visibility != DATA)
        return Table(
            columns, LazyRows(records, cells), title, self.visibility, self.rows_without_full
        )

    def data_table(self) -> Table:
        """The records as rows of csv and json, with only the named columns of the section."""
        columns, cells = self._selected_columns_and_cells(
            lambda column: bool(column.field_name) or column in (MODEL_COLUMN, GROUP_VALUES_COLUMN)
        )
        heads = tuple(
            Column(c.field_name if c.field_name and not c.repeated_items else c.header)
            for c in columns
        )
        return Table(heads, LazyRows(self.records, cells))

    def _selected_columns_and_cells(
        self, is_selected: Callable[[Column], bool]
    ) -> tuple[tuple[Column, ...], list[Callable[[Record], Cell]]]:
        columns: list[Column] = []
        cells: list[Callable[[Record], Cell]] = []
        for column in filter(is_selected, self.columns):
            if column.cell_of_record is None or (
                column.exists_in_section is not None and not column.exists_in_section(self)
            ):
                continue
            if column.repeated_items is None:
                columns.append(column)
                cells.append(column.cell_of_record)
                continue
            for item in column.repeated_items(self):
                kind = column.kind_of_item(self, item) if column.kind_of_item else column.kind
                header, meaning = column.header.format(item), column.meaning.format(item)
                visibility = getattr(item, "visibility", column.visibility)
                columns.append(
                    replace(
                        column, header=header, meaning=meaning, kind=kind, visibility=visibility
                    )
                )
                cells.append(
                    lambda record, cell=column.cell_of_record, item=item: cell(record, item)  # type: ignore[misc]
                )
        return tuple(columns), cells


def data_field(name: str, meaning: str = "", cell: Callable[[Any], Cell] | None = None) -> Column:
    """A field that appears in csv, json and Python results, but in no table.

    cell : a function that takes a record and returns the value of the field.  `cell` is None if the
        results of the section already contain the field.
    """
    return Column("", meaning=meaning, field_name=name, visibility=DATA, cell_of_record=cell)


MODEL_COLUMN = Column("model", field_name="model",
    meaning="The model or agent, named like in the files.",
               cell_of_record=lambda record: quote_if_outer_blank(record.series[0]))  # fmt: skip
AGAINST_MODEL_COLUMN = Column(
    "against", meaning="The model with which `model` is compared. Differences are model minus"
    " against.",
    cell_of_record=lambda record: record.against)  # fmt: skip
GROUP_VALUES_COLUMN = Column(
    "{0[1]}", meaning="The column {0[1]} of the data, by which models are split (--by).",
    cell_of_record=lambda record, item: record.series[1 + item[0]],
    repeated_items=lambda section: enumerate(section.study.counts.group_names),
    example=(0, "COLUMN"))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SeriesRow:
    """The results of one series, as a mapping from the name of each result to the result."""

    series: SeriesKey
    result_by_name: Mapping[str, Result]


def rows_by_series(facts: Iterable[Result]) -> list[SeriesRow]:
    """The results in rows, with one row per series, in the order in which the series first
    occur."""
    by_series: dict[SeriesKey, dict[str, Result]] = {}
    for fact in facts:
        by_series.setdefault(fact.series, {})[fact.name] = fact
    return [SeriesRow(series, numbers) for series, numbers in by_series.items()]


def amount_or_minimum(estimate: Estimate) -> Cell:
    """A table cell with an amount, or with a phrase such as "at least $0.50" if the upper limit of
    the amount is not known."""
    least = estimate.low if estimate.value is None else estimate.value
    certain = estimate.value is not None and estimate.range_upper_end is None
    if certain or least is None:
        return estimate
    return PhraseCell(("at least ", (least, Column("", estimate.unit))))


class MetricColumnItem(NamedTuple):
    """A column of a `SeriesMetricTable`, for example a metric."""

    name: str
    meaning: str
    unit: str
    visibility: str = ALWAYS


METRIC_VALUES_COLUMN = Column(
    "{0.name}", "share", meaning="{0.meaning}",
    cell_of_record=lambda row, number: _metric_cell(row.result_by_name[number.name].estimate)
    if number.name in row.result_by_name else Estimate(None),
    repeated_items=lambda section: section.metric_columns,
    kind_of_item=lambda section, number: number.unit,
    example=MetricColumnItem("METRIC", "A metric of -k or -m, with its interval.",
    "share"))  # fmt: skip


def _metric_cell(estimate: Estimate) -> Cell:
    unlimited = estimate.high is None or math.isinf(estimate.high)
    if estimate.value is None and unlimited:
        return amount_or_minimum(estimate)
    return estimate.value_or_limits


class SeriesMetricTable(ReportSection[SeriesRow]):
    """A table with one row per series and one column per metric.

    If the results have different numbers of tasks or attempts, the table also has columns with
    these numbers.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        replace(METRIC_VALUES_COLUMN, repeated_items=lambda section: section.metric_columns[:1]),
        Column("interval of {0.name}", visibility=WIDE,
            repeated_items=lambda section: section.interval_strip_columns,
               meaning="The interval of {0.name}, drawn on a common scale. Only terminals with at"
               " least 110 columns show"
               " it.", cell_of_record=lambda row, number: row.result_by_name[number.name].estimate
               if number.name in row.result_by_name else None,
               example=METRIC_VALUES_COLUMN.example),
        replace(METRIC_VALUES_COLUMN, repeated_items=lambda section: section.metric_columns[1:]),
        Column("tasks", meaning="Number of tasks that the results use.",
               cell_of_record=lambda row: _range_text(fact.size.tasks
                   for fact in row.result_by_name.values()),
               exists_in_section=lambda section: section.sizes_differ),
        Column("attempts", meaning="Minimum and maximum number of attempts per task.",
               cell_of_record=lambda row: _range_text(n for f in row.result_by_name.values()
                   for n in f.size[1:]),
               exists_in_section=lambda section: section.sizes_differ),
    )  # fmt: skip

    def results_of(self, record: SeriesRow) -> Iterable[Result]:
        return record.result_by_name.values()

    @property
    def interval_strip_columns(self) -> list[MetricColumnItem]:
        """The column that draws the intervals of the first metric, or an empty list if there is
        only one row or the metric is not a share."""
        several = len(self.records) > 1
        return [
            number._replace(visibility=WIDE)
            for number in self.metric_columns[:1]
            if several and number.unit == "share"
        ]

    @property
    def metric_columns(self) -> list[MetricColumnItem]:
        """The columns of the metrics, in the order in which their results first occur."""
        meanings = {metric.name: metric.meaning for metric in self.study.metrics}
        facts = {name: fact for row in self.records for name, fact in row.result_by_name.items()}
        ks = {fact.k for fact in facts.values()}
        return [
            MetricColumnItem(name, meanings.get(name, ""), fact.estimate.unit,
                   ALWAYS if self.study.is_k_in_short_table(fact.k, ks) else FULL)
            for name, fact in facts.items()
        ]  # fmt: skip

    @property
    def sizes_differ(self) -> bool:
        """Whether the results in the table use different numbers of tasks or attempts."""
        return len({fact.size for fact in self.results()}) > 1


def _range_text(numbers: Iterable[int | None]) -> str:
    present = [number for number in numbers if number is not None]
    return number_range(min(present), max(present)) if present else ""


def _data_choice_texts(counts: Counts) -> Iterator[str]:
    facts = counts.read_facts
    if facts.pooled_columns:
        yield f"pooled over {', '.join(facts.pooled_columns)}"
    if facts.judge_error_counts:
        borrowed = plural(sum(number for _, number in facts.judge_error_counts), "label")
        yield f"corrected by {borrowed} of other attempts"
    if TRUTH_ROLE in counts.attempts:
        truth = counts.attempts[TRUTH_ROLE]
        labelled = ~np.isnan(truth.value)
        cells = np.unique(truth.row_cell_indices[labelled])
        tasks = len(np.unique(counts.task_codes[cells]))
        labels = int(truth.count[labelled].sum())
        yield f"corrected by {plural(labels, 'label')} of {plural(tasks, 'task')}"
    for option, words in (("--exclude-task", "left out"), ("--only-task", "chosen")):
        if names := facts.option_value_names_in_data(option):
            yield f"{plural(len(names), 'task')} {words}"


def build_report(
    study: Analysis, sections: Sequence[ReportSection[Any]], *,
    context: Iterable[str | OptionHint] = (),
    messages: Iterable[Diagnostic] = (), **decided: Any,
) -> Report:  # fmt: skip
    """The report of a command, made from the sections of the report in the order in which passk
    prints them.

    The first chart of a section shows the answers of this section.  If the section has no answer,
    the first chart shows the answers of the earlier sections without a chart.

    context : phrases for the line below the tables, which come before the phrases of the sections.
    decided : further entries of the signature.  Entries with the value None are left out.
    """
    section_context = (part for section in sections for part in section.footer_parts())
    parts = (*context, *section_context, *_data_choice_texts(study.counts), FOOTER_VERSION_TEXT)
    all_messages = (*messages, *(message for section in sections for message in section.messages()))

    def rows() -> Table:
        if separate := [section for section in sections if section.has_own_schema]:
            return separate[0].data_table()
        return tidy_rows(facts(), study.counts.group_names, study.confidence.population)

    def entries() -> dict[str, object]:
        short = None if study.short_tasks == "empty" else study.short_tasks
        usual = {} if "interval" in decided else study.confidence.signature()
        return {**usual, **decided, **study.signature_entries, "short_tasks": short}

    @cache
    def facts() -> list[Result]:
        return [fact for section in sections for fact in section.results()]

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
                    replace(
                        plot,
                        answer=answer,
                        columns_that_split_models=study.counts.group_names,
                        all_models=models,
                    )
                )
            message = [] if section_plots else message
        return tuple(pictures)

    def methods() -> MethodsText:
        from passk_cli.study.methods_text import describe_methods

        return describe_methods(study.counts, study.confidence, facts(), entries())

    return Report(
        tables=tuple(table for section in sections for table in section.tables()),
        make_data_rows=rows,
        context=tuple(filter(None, parts)),
        make_full_context=lambda: (
            part for section in sections for part in section.full_footer_parts()
        ),
        messages=tuple(dict.fromkeys(all_messages)),
        make_signature=lambda: signature(study.metrics, entries(), study.counts),
        make_plots=plots,
        answer=tuple(sentence for section in sections for sentence in section.answer()),
        make_methods_text=methods,
    )
