"""Questions: how a command reads, computes and answers what its options ask for."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from passk_cli.diagnostic import DiagnosticType
from passk_cli.errors import ParameterError, refuse
from passk_cli.files.database import quote_name, quote_text
from passk_cli.files.export import write_columns
from passk_cli.files.request import BOUNDS, MISSING_FIXES, Request, require_names
from passk_cli.files.roles import TRUTH
from passk_cli.files.sources.arguments import is_read_once, paths_of, split_label
from passk_cli.limits import refuse_many
from passk_cli.option import changed_options, declared, filled, is_given
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import DATA, Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, is_corrected, refuse_ranges
from passk_cli.study.result import FIELDS
from passk_cli.study.rules import Rules
from passk_cli.study.section import Section
from passk_cli.suggested_fix import OptionValue, SuggestedFix


class Read(Protocol):
    """Reads what a request asks for, from whatever the caller gave: files, a frame, counts."""

    def __call__(self, request: Request, source: Any = None, /) -> Counts:
        """source : data to read instead, as in `SharedOptions`."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedOptions:
    """The shared options, by group, as the user set them.

    source : what the data is given as: paths, rows, columns, a table, Counts; None for no data.
    earlier : the label of the first of two labelled runs; "" for none.
    """

    request: Request
    metrics: Metrics
    confidence: Confidence
    rules: Rules
    source: Any = None
    earlier: str = ""

    @property
    def data(self) -> bool:
        """Whether there is data to read."""
        return self.source is not None

    @property
    def once(self) -> bool:
        """Whether it can be read only once, as a pipe can."""
        return is_read_once(self.source)

    @property
    def files(self) -> list[str]:
        """Where it lies; none for data that lies in no files."""
        return paths_of(self.source)


class Question:
    """Base of the questions: a subclass has the options of its command, and `report` answers.

    sections : those of its answer, in reading order: what its columns and fields mean.
    """

    sections: ClassVar[tuple[type[Section[Any]], ...]] = ()

    # Whether outcomes that are neither pass nor fail are counted instead of refused.
    tolerant: ClassVar[bool] = False
    # Whether counts that Python has read are read again for what they lack, as the order.
    reads_again: ClassVar[bool] = False
    # Whether its numbers are metrics at some k; tasks, laws and whole curves are none.
    of_metrics: ClassVar[bool] = True
    # Why it says nothing of missing outcomes that may pass or fail; "" where it does.
    unbounded: ClassVar[str] = ""
    # Option → why it says nothing of them, and what to do.
    unbounded_options: ClassVar[Mapping[OptionValue, str]] = {}
    # Why it takes no labels; "" where it corrects a judge's verdicts by them.
    uncorrected: ClassVar[str] = (
        "labels correct the rates of a judge, and this is about each verdict"
    )
    # Option → why it takes none, and what to do.
    uncorrected_options: ClassVar[Mapping[str, str]] = {}
    # Groups of an answer: of more it takes minutes, or nobody reads it.
    most_groups: ClassVar[float] = math.inf
    # Whether it answers for metrics that counts leave a range, as cover@0.8.
    ranged: ClassVar[bool] = False
    # Whether attempts and tasks are tested for what its intervals take as independent.
    sampled: ClassVar[bool] = False

    @classmethod
    def ask(
        cls, values: Mapping[str, Any], source: Any, *, requires_data: bool
    ) -> tuple[Self, SharedOptions]:
        """The question and the shared options, from what was given for them.

        given : field → value, as text from the command line or as Python has it.
        source : the data, as in `SharedOptions`.  needed : whether it must be there.
        Errors: ParameterError for a value that an option does not know, or files that are missing.
        """
        own_fields = declared(cls)
        question = filled(cls, {k: v for k, v in values.items() if k in own_fields})
        if requires_data and source is None:
            raise ParameterError("no files given", name="no-files")
        shared = {k: v for k, v in values.items() if k not in own_fields}
        request, metrics = filled(Request, shared), filled(Metrics, shared)
        if not cls.ranged:
            refuse_ranges(metrics.metrics, "-m")
        request = replace(
            request, given_options=frozenset(k for k, v in shared.items() if is_given(v))
        )
        confidence, rules = filled(Confidence, shared), filled(Rules, shared)
        if confidence.bounds is not None:
            request = replace(request, lowest=confidence.bounds[0])
        options = SharedOptions(request, metrics, confidence, rules, source)
        labels = [label or "" for label, _ in map(split_label, options.files)]
        earlier = labels[0] if len(labels) == 2 and all(labels) else ""
        return question, replace(options, earlier=earlier)

    @classmethod
    def answer_columns(cls) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Whose columns a table has, and their headers and meanings; each column once."""
        columns_before: set[tuple[str, str]] = set()
        for section in cls.sections:
            columns = [column.with_example for column in section.columns if column.shown != DATA]
            rows = [(c.header, c.meaning) for c in columns if c.meaning]
            if new := [row for row in dict.fromkeys(rows) if row not in columns_before]:
                yield f'of "{section.title}"' if section.title else section.view, new
            columns_before.update(rows)

    @classmethod
    def answer_fields(cls) -> dict[str, str]:
        """Name → meaning, of the fields of its rows in csv, json and Python.

        Of sections with a field of one name, the first says what it is.
        """
        common = {column.name: column.meaning for column in FIELDS}
        meanings: dict[str, str] = {}
        for column in (column for section in cls.sections for column in section.columns):
            if column.name:
                meanings.setdefault(column.name, column.meaning or common.get(column.name, ""))
        # Rows of sections without facts are their records.
        facts = not cls.sections or any(
            (section.facts, section.facts_of) != (Section.facts, Section.facts_of)
            for section in cls.sections
        )
        return {**common, **meanings} if facts else meanings

    @classmethod
    def answer_messages(cls) -> dict[str, DiagnosticType]:
        """Name → message, of those that its answer may come with besides those of reading."""
        names = vars(sys.modules[cls.__module__]).values()
        return {message.name: message for message in names if isinstance(message, DiagnosticType)}

    def request(self, options: SharedOptions) -> Request:
        """The request to read."""
        return replace(
            options.request, cluster=options.confidence.cluster, **options.metrics.reading
        )

    @property
    def inputs(self) -> list[str]:
        """Files that it reads besides those that its caller names."""
        return []

    def report_without_data(self, options: SharedOptions) -> Report | None:
        """The report where no data is needed; None where it is."""
        return None

    def report_from(self, options: SharedOptions, read: Read) -> Report:
        """The report of what `read` finds, or of no data."""
        report = self.report_without_data(options)
        return self.report(self.study(options, read)) if report is None else report

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Any, ...]:
        """The metrics it is about, of those the data supports."""
        return options.metrics.choose(counts) if self.of_metrics else ()

    def study(self, options: SharedOptions, read: Read) -> Analysis:
        """The data and what is asked of it."""
        _ = options.confidence.method  # refused before anything is read
        counts = read(self.request(options))
        metrics = self.metrics_of(options, counts)
        confidence = options.confidence.for_metrics(metrics)
        if is_corrected(counts):
            confidence = confidence.for_corrected_values()
        hint = options.metrics.hint(counts)
        names_metrics = bool(options.metrics.k or options.metrics.metrics)
        short = options.metrics.short_tasks
        return Analysis(
            counts, metrics, confidence, options.rules, short, hint, names_metrics,
            earlier=options.earlier,
        )  # fmt: skip

    def require(self, options: SharedOptions, counts: Counts) -> None:
        """PasskError for counts that it has no answer for, whose remedies are not offered."""

    def report(self, study: Analysis) -> Report:
        """The answer."""
        raise NotImplementedError

    def refuse_ranges(self) -> None:
        """ParameterError where it, or an option that is given, has no answer for missing outcomes
        that may pass or fail."""
        names = changed_options(self)
        refuse(
            "no-bounds",
            (self.unbounded, OptionValue("--missing", BOUNDS), self.unbounded, MISSING_FIXES),
            *((option.option in names, option,
            f"with bounds of missing outcomes {reason}",
               (*MISSING_FIXES, SuggestedFix({option.option: None})))
              for option, reason in self.unbounded_options.items()),
        )  # fmt: skip


def refuse_labels(question: Question) -> None:
    """ParameterError where a question, or an option that is given, does not correct by labels."""
    names = changed_options(question)
    refuse(
        "no-labels",
        (question.uncorrected, "", f"{question.uncorrected}; leave them out", ()),
        *((option in names, OptionValue(option), f"with labels {reason}", (SuggestedFix({
        option: None}),))
          for option, reason in question.uncorrected_options.items()),
    )  # fmt: skip


def _answerable(question: Question, report: Report) -> Report:
    """The report without remedies that this question has no answer for."""
    if not question.unbounded:
        return report
    messages = tuple(
        replace(
            message, settles=tuple(s for s in message.settles if s.options != {"--missing": BOUNDS})
        )
        for message in report.messages
    )
    return replace(report, messages=messages)


def require_met(names: Collection[tuple[str, str]], data: Sequence[Counts]) -> None:
    """ParameterError for a model or a task that an option names and no data has.

    names : options and names, as `Request.chosen_names`.  every : the data that was read.
    """
    nearest_names = {
        name: [c.facts.option_names.get(name, "there are none") for c in data] for name in names
    }
    require_names(
        sorted(names), {name: texts[0] for name, texts in nearest_names.items() if all(texts)}
    )


def require_few_groups(counts: Counts, most: float) -> None:
    """ParameterError where the data is split into more groups than an answer is given for."""
    names, groups = counts.group_names, {series[1:] for series in counts.series}
    condition = " AND ".join(
        f"{quote_name(name)} = {quote_text(value)}"
        for name, value in zip(names, min(groups), strict=True)
    )
    refuse_many(
        "groups", len(groups), most,
        SuggestedFix({"--by": None}, "has one group"), SuggestedFix({"--where": condition},
        "keeps some"),
        place=OptionValue("--by", ",".join(names)),
    )  # fmt: skip


def answer(
    question: Question,
    options: SharedOptions,
    read: Read,
    judged: Callable[[Report], Report] = lambda report: report,
) -> Report:
    """The report of a question about what `read` finds; its exports are written.

    Outcomes that may pass or fail are refused where it, or one of its options, has no answer for
    them.
    judged : the report with the messages that are wanted, or an error, before anything is written.
    """

    def counts_of(request: Request, source: Any = None) -> Counts:
        if request.missing == BOUNDS and question.unbounded:
            question.refuse_ranges()
        if request.has_labels or request.truth_from is not None:
            refuse_labels(question)
        suits = partial(question.require, options)
        request = replace(
            request, ends=not question.unbounded, suits=suits, sampled=question.sampled
        )
        counts = options.metrics.complete(read(request, source))
        if counts.missing is not None:
            question.refuse_ranges()
        if TRUTH in counts.attempts or counts.facts.judge_errors:
            refuse_labels(question)
        names.update(request.chosen_names)
        counts_read.append(counts)
        if counts.group_names:
            require_few_groups(counts, question.most_groups)
        return counts

    names, counts_read = set[tuple[str, str]](), list[Counts]()
    report = question.report_from(options, counts_of)
    require_met(names, counts_read)
    report = judged(_answerable(question, report))
    if options.request.by:
        # A group of the name of a column is refused whatever is shown.
        _ = report.data
    for path, columns in report.exports.items():
        write_columns(Path(path), columns)
    if report.commit is not None:
        report.commit()
    return report
