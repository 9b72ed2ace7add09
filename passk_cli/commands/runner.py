"""The base class of command runners, which read the data of a command and compute the report."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from passk_cli.diagnostic import DiagnosticType
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.database import quote_name, quote_text
from passk_cli.files.export import write_columns
from passk_cli.files.request import BOUNDS, MISSING_FIXES, Request, require_existing_names
from passk_cli.files.roles import TRUTH_ROLE
from passk_cli.files.sources.arguments import is_read_once, paths_in_data, split_label
from passk_cli.limits import refuse_too_many
from passk_cli.option import changed_option_names, fill_options, is_given, options_by_field
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import DATA, Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import (
    MetricOptions,
    is_corrected_for_judge_errors,
    refuse_range_valued_metrics,
)
from passk_cli.study.result import SHARED_FIELDS
from passk_cli.study.section import ReportSection
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix


class ReadCountsFunction(Protocol):
    """A function that reads counts from files, a data frame or other counts."""

    def __call__(self, request: Request, source: Any = None, /) -> Counts:
        """Read the data of the command, or the data of `source` if it is given."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedOptions:
    """The groups of options that commands share, and the data that the user gave.

    source : paths, rows, columns, a table or Counts; None if the user gave no data.
    earlier_run_label : label of the first run if the user gave exactly two labelled runs, or "".
    """

    request: Request
    metric_options: MetricOptions
    confidence: Confidence
    comparison_options: ComparisonOptions
    source: Any = None
    earlier_run_label: str = ""

    @property
    def has_data(self) -> bool:
        return self.source is not None

    @property
    def is_readable_only_once(self) -> bool:
        """Whether the data can be read only once, for example from a pipe."""
        return is_read_once(self.source)

    @property
    def files(self) -> list[str]:
        return paths_in_data(self.source)


class CommandRunner:
    """The base class of runners, which read the data of a command and compute the report."""

    sections: ClassVar[tuple[type[ReportSection[Any]], ...]] = ()

    # `tolerates_invalid_data` is true if the command allows outcomes that neither pass nor fail.
    tolerates_invalid_data: ClassVar[bool] = False
    # `rereads_if_columns_missing` is true if passk reads the files again when the counts lack data
    # that the command needs, for example the order of attempts.
    rereads_if_columns_missing: ClassVar[bool] = False
    # `reports_metrics` is true if the command reports metrics at a single k, unlike commands about
    # tasks or curves.
    reports_metrics: ClassVar[bool] = True
    # `missing_bounds_refusal` is the reason why the command does not support --missing bounds, or
    # "" if the command supports --missing bounds.
    missing_bounds_refusal: ClassVar[str] = ""
    # `missing_bounds_refusal_by_option` maps each option that does not support --missing bounds to
    # the reason.
    missing_bounds_refusal_by_option: ClassVar[Mapping[OptionWithValue, str]] = {}
    # `label_refusal` is the reason why labels cannot correct the result of the command, or "" if
    # labels can correct the result.
    label_refusal: ClassVar[str] = (
        "labels correct pass rates of a judge, but this result uses each single verdict"
    )
    # `label_refusal_by_option` maps an option to the reason why labels cannot correct the results
    # of the option.
    label_refusal_by_option: ClassVar[Mapping[str, str]] = {}
    # `max_groups` is the maximum number of groups of --by, because more groups would take minutes.
    max_groups: ClassVar[float] = math.inf
    # `supports_range_only_metrics` is true if the command supports metrics that are ranges, for
    # example cover@0.8.
    supports_range_only_metrics: ClassVar[bool] = False
    # `checks_independence` is true if passk tests whether attempts and tasks are independent,
    # because the intervals of the command assume independence.
    checks_independence: ClassVar[bool] = False

    @classmethod
    def parse_options(
        cls, values: Mapping[str, Any], source: Any, *, requires_data: bool
    ) -> tuple[Self, SharedOptions]:
        """Create the runner of the command and the shared options from option values.

        values : maps each field to its value, as text from the command line or as a Python value.
        Errors: ParameterError if the value of an option is invalid or if required data is missing.
        """
        own_fields = options_by_field(cls)
        question = fill_options(cls, {k: v for k, v in values.items() if k in own_fields})
        if requires_data and source is None:
            raise ParameterError("no files are given", name="no-files")
        shared = {k: v for k, v in values.items() if k not in own_fields}
        request, metrics = fill_options(Request, shared), fill_options(MetricOptions, shared)
        if not cls.supports_range_only_metrics:
            refuse_range_valued_metrics(metrics.metrics, "-m")
        request = replace(
            request, given_options=frozenset(k for k, v in shared.items() if is_given(v))
        )
        confidence, rules = (
            fill_options(Confidence, shared),
            fill_options(ComparisonOptions, shared),
        )
        if confidence.bounds is not None:
            request = replace(request, score_for_missing_as_failure=confidence.bounds[0])
        options = SharedOptions(request, metrics, confidence, rules, source)
        labels = [label or "" for label, _ in map(split_label, options.files)]
        earlier = labels[0] if len(labels) == 2 and all(labels) else ""
        return question, replace(options, earlier_run_label=earlier)

    @classmethod
    def column_meanings_by_table(cls) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Map the title of each table to the headers and meanings of the columns.

        Columns that earlier tables also have are left out.
        """
        columns_before: set[tuple[str, str]] = set()
        for section in cls.sections:
            columns = [
                column.column_of_example_item
                for column in section.columns
                if column.visibility != DATA
            ]
            rows = [(c.header, c.meaning) for c in columns if c.meaning]
            if new := [row for row in dict.fromkeys(rows) if row not in columns_before]:
                yield f'of "{section.title}"' if section.title else section.shown_when, new
            columns_before.update(rows)

    @classmethod
    def data_field_meanings(cls) -> dict[str, str]:
        """Map the name of each data field (csv, json and Python) to the meaning of the field.

        If several sections have a field of the same name, the first section defines the meaning.
        """
        common = {column.field_name: column.meaning for column in SHARED_FIELDS}
        meanings: dict[str, str] = {}
        for column in (column for section in cls.sections for column in section.columns):
            if column.field_name:
                meanings.setdefault(
                    column.field_name, column.meaning or common.get(column.field_name, "")
                )
        facts = not cls.sections or any(
            (section.results, section.results_of)
            != (ReportSection.results, ReportSection.results_of)
            for section in cls.sections
        )
        return {**common, **meanings} if facts else meanings

    @classmethod
    def declared_messages(cls) -> dict[str, DiagnosticType]:
        """The types of messages, by name, that the module of the command declares or imports."""
        names = vars(sys.modules[cls.__module__]).values()
        return {message.name: message for message in names if isinstance(message, DiagnosticType)}

    def request(self, options: SharedOptions) -> Request:
        return replace(
            options.request,
            cluster=options.confidence.cluster,
            **options.metric_options.request_arguments,
        )

    @property
    def additional_input_files(self) -> list[str]:
        """Files that the command reads in addition to the files that the user gave."""
        return []

    def report_without_data(self, options: SharedOptions) -> Report | None:
        """The report if it needs no data, otherwise None."""
        return None

    def read_and_report(self, options: SharedOptions, read: ReadCountsFunction) -> Report:
        """The report, either without data or from the data that `read` returns."""
        report = self.report_without_data(options)
        return self.report(self.read_analysis(options, read)) if report is None else report

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Any, ...]:
        """The requested metrics, or by default the metrics that the data supports."""
        return options.metric_options.choose(counts) if self.reports_metrics else ()

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        """Read the data, and combine it with the metrics and the options of the analysis."""
        # This line checks --interval before passk reads files, which can take long.
        _ = options.confidence.method
        counts = read(self.request(options))
        metrics = self.selected_metrics(options, counts)
        confidence = options.confidence.with_methods_for_metrics(metrics)
        if is_corrected_for_judge_errors(counts):
            confidence = confidence.for_corrected_values()
        hint = options.metric_options.unavailable_k_hint(counts)
        names_metrics = bool(options.metric_options.k or options.metric_options.metrics)
        short = options.metric_options.short_tasks
        return Analysis(
            counts, metrics, confidence, options.comparison_options, short, hint, names_metrics,
            earlier_run_name=options.earlier_run_label,
        )  # fmt: skip

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        """Raise a PasskError if the counts are not sufficient for the report of the command."""

    def report(self, study: Analysis) -> Report:
        raise NotImplementedError

    def refuse_missing_outcome_bounds(self) -> None:
        """Raise a ParameterError if the command or an option does not support --missing bounds."""
        names = changed_option_names(self)
        raise_parameter_error_if_any(
            "no-bounds",
            (self.missing_bounds_refusal, OptionWithValue("--missing", BOUNDS),
                self.missing_bounds_refusal, MISSING_FIXES),
            *((option.option in names, option,
            f"with bounds of missing outcomes, {reason}",
               (*MISSING_FIXES, SuggestedFix({option.option: None})))
              for option, reason in self.missing_bounds_refusal_by_option.items()),
        )  # fmt: skip


def refuse_labels(question: CommandRunner) -> None:
    """Raise a ParameterError if labels cannot correct the results of the command or an option."""
    names = changed_option_names(question)
    raise_parameter_error_if_any(
        "no-labels",
        (question.label_refusal, "", f"{question.label_refusal}; leave them out", ()),
        *((option in names, OptionWithValue(option), f"with labels, {reason}", (SuggestedFix({
        option: None}),))
          for option, reason in question.label_refusal_by_option.items()),
    )  # fmt: skip


def _report_without_bounds_fixes(question: CommandRunner, report: Report) -> Report:
    if not question.missing_bounds_refusal:
        return report
    messages = tuple(
        replace(
            message, fixes=tuple(s for s in message.fixes if s.options != {"--missing": BOUNDS})
        )
        for message in report.messages
    )
    return replace(report, messages=messages)


def require_known_names(names: Collection[tuple[str, str]], data: Sequence[Counts]) -> None:
    """Raise a ParameterError if an option names a model or task that is not in the data."""
    nearest_names = {
        name: [c.read_facts.suggestion_by_option_value.get(name, "there are none") for c in data]
        for name in names
    }
    require_existing_names(
        sorted(names), {name: texts[0] for name, texts in nearest_names.items() if all(texts)}
    )


def require_few_groups(counts: Counts, most: float) -> None:
    """Raise a ParameterError if the data has more than `most` groups."""
    names, groups = counts.group_names, {series[1:] for series in counts.series}
    condition = " AND ".join(
        f"{quote_name(name)} = {quote_text(value)}"
        for name, value in zip(names, min(groups), strict=True)
    )
    refuse_too_many(
        "groups", len(groups), most,
        SuggestedFix({"--by": None}, "has one group"),
        SuggestedFix({"--where": condition}, "keeps some"),
        place=OptionWithValue("--by", ",".join(names)),
    )  # fmt: skip


def command_report(
    question: CommandRunner,
    options: SharedOptions,
    read: ReadCountsFunction,
    judged: Callable[[Report], Report] = lambda report: report,
) -> Report:
    """Compute the report of a command from the data that `read` returns, and write its exports.

    judged : function that removes ignored messages from the report, or raises an error if --error
        names a message. passk calls this function before it writes files.
    Errors: ParameterError if --missing is bounds, but the command or one of its options does not
        support bounds.
    """

    def counts_of(request: Request, source: Any = None) -> Counts:
        if request.missing == BOUNDS and question.missing_bounds_refusal:
            question.refuse_missing_outcome_bounds()
        if request.has_correcting_labels or request.truth_from is not None:
            refuse_labels(question)
        suits = partial(question.require_sufficient_data, options)
        request = replace(
            request,
            supports_missing_bounds=not question.missing_bounds_refusal,
            suitable_counts_check=suits,
            needs_independence_sample=question.checks_independence,
        )
        counts = options.metric_options.counts_with_required_attempts(read(request, source))
        if counts.missing is not None:
            question.refuse_missing_outcome_bounds()
        if TRUTH_ROLE in counts.attempts or counts.read_facts.judge_error_counts:
            refuse_labels(question)
        names.update(request.named_models_and_tasks)
        counts_read.append(counts)
        if counts.group_names:
            require_few_groups(counts, question.max_groups)
        return counts

    names, counts_read = set[tuple[str, str]](), list[Counts]()
    report = question.read_and_report(options, counts_of)
    require_known_names(names, counts_read)
    report = judged(_report_without_bounds_fixes(question, report))
    if options.request.by:
        _ = report.data_table
    for path, columns in report.exports.items():
        write_columns(Path(path), columns)
    if report.write_command_file is not None:
        report.write_command_file()
    return report
