"""A judge's errors by model, what correcting them costs in width, and the labels to make next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import grouped
from passk_cli.commands.judge import JudgeOptions
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, refuse
from passk_cli.files.request import Request
from passk_cli.files.roles import TRUTH, spelled
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.intervals import LOGIT_T, interval
from passk_cli.inference.labels import (
    FEWEST_TASKS,
    Clustering,
    LabelNeed,
    Labels,
    clustering,
    confusion,
    error_rate,
    kappa,
    required_labels,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import UnlabelledAttempt
from passk_cli.report.model import FULL, Cell, Column, Estimate, Report
from passk_cli.report.words import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, all_true
from passk_cli.study.headlines import name_with_groups
from passk_cli.study.metrics import judge_labels
from passk_cli.study.result import Result, Size
from passk_cli.study.section import GROUPS, MODEL, Section, data_field, view
from passk_cli.study.values import Series
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

CONCENTRATED_LABELS = DiagnosticType(
    "concentrated-labels", WARNING,
    "the labels of {models} are of fewer than half of the tasks that labels at random would be of",
    meaning="Corrected numbers and their intervals are right if labels are at random attempts, or"
    " if random tasks have labels at k attempts or more. A few tasks picked for labelling show how"
    " the judge errs there, not elsewhere. `passk judge --list` draws attempts at random.",
)  # fmt: skip
CHOSEN_LABELS = DiagnosticType(
    "chosen-labels", WARNING,
    "how often attempts of {models} have a label depends on how often the judge passes their task",
    meaning="If attempts were labelled where the judge looked wrong, or where a task looked easy,"
    " the labels do not show how often the judge errs in general. `passk judge --list` draws"
    " attempts at random.")  # fmt: skip
_ERROR_KINDS = ("false passes", "false failures")
_VERDICTS, _TRUTHS = ("judge fails", "judge passes"), ("truly fails", "truly passes")
# Labels that chance gives this seldom were not drawn at random.
_CHANCE_LIMIT = 1e-3
# Labels to begin with, where none say how many there have to be.
_FIRST_LABELS = 100
# Of each verdict, so that none is without a label.
_MIN_PER_STRATUM = 10
# Words of the names of columns that hold labels.
_LABEL_WORDS = frozenset("truth label labels human gold annotation annotator annotated".split())


@dataclass(frozen=True)
class JudgeErrorRates:
    """The judge's errors about one model, by its labels.

    rates : of false passes, and of false failures.  alike : p that both are those of the other
        models of its group, adjusted for all of them; None for one model.
    """

    series: Series
    labels: Labels
    rates: tuple[Result, Result]
    error_clustering: Clustering
    agreement: Result
    cells: tuple[Result, ...]
    p_alike: float | None = None

    @property
    def facts(self) -> Iterator[Result]:
        """Its rates as tidy rows."""
        more: dict[str, Cell] = {
            "labels": int(self.labels.label_counts.sum()),
            "error_pairs": self.error_clustering.pairs,
            "error_pairs_expected": self.error_clustering.expected,
            "p_together": self.error_clustering.p,
            "p_alike": self.p_alike,
        }  # fmt: skip
        return (replace(fact, more=more) for fact in (*self.rates, self.agreement, *self.cells))


def _rate(study: Analysis, series: Series, labels: Labels, truth: int) -> Result:
    """The judge's error rate among attempts of this truth."""
    confidence, sample = study.confidence, error_rate([labels], truth)
    labels_per_task = labels.table[:, :, truth].sum(axis=1)
    size = Size(
        int(np.count_nonzero(labels_per_task)),
        int(labels_per_task.min()),
        int(labels_per_task.max()),
    )
    if sample is None:
        reason = f"no labelled attempt {'passes' if truth else 'fails'}"
        return Result(series, _ERROR_KINDS[truth], None, Estimate(None, reason=reason), size=size)
    limits = interval(sample, LOGIT_T, confidence.level)
    return Result(
        series, _ERROR_KINDS[truth], None, Estimate(sample.mean, None, limits.low, limits.high),
        sample.se, size, LOGIT_T, confidence.level, limits.reason,
    )  # fmt: skip


def _agreement(study: Analysis, series: Series, labels: Labels) -> Result:
    """Cohen's kappa of judge and labels."""
    level, sample = study.confidence.level, kappa(labels)
    size = Size(int(np.count_nonzero(labels.label_counts)))
    if sample is None:
        reason = "judge and labels always say the same one thing"
        return Result(series, "kappa", None, Estimate(None, reason=reason, unit="score"), size=size)
    limits = interval(sample, LOGIT_T, level)
    low, high = (None if end is None else 2 * end - 1 for end in (limits.low, limits.high))
    estimate = Estimate(2 * sample.mean - 1, None, low, high, unit="score")
    return Result(series, "kappa", None, estimate, size=size, method=LOGIT_T, level=level)


def _cells(study: Analysis, series: Series, labels: Labels) -> tuple[Result, ...]:
    """The confusion table: shares of all attempts by verdict and truth."""
    level, size, facts = (
        study.confidence.level,
        Size(int(np.count_nonzero(labels.label_counts))),
        [],
    )
    for verdict, says in enumerate(_VERDICTS):
        for truth, true in enumerate(_TRUTHS):
            sample, name = confusion(labels, verdict, truth), f"{says}, {true}"
            if sample is None:
                facts.append(
                    Result(series, name, None, Estimate(None, reason="no label"), size=size)
                )
                continue
            limits = interval(sample, LOGIT_T, level)
            estimate = Estimate(sample.mean, None, limits.low, limits.high)
            facts.append(
                Result(series, name, None, estimate, size=size, method=LOGIT_T, level=level)
            )
    return tuple(facts)


def judge_errors(study: Analysis) -> list[JudgeErrorRates]:
    """The judge's errors about each model."""
    counts, draws = study.counts, study.confidence.draws
    labels_by_series = dict(zip(counts.series, judge_labels(counts), strict=True))
    rows = [
        JudgeErrorRates(
            series, labels,
            (_rate(study, series, labels, 0), _rate(study, series, labels, 1)),
            clustering(labels, **draws), _agreement(study, series, labels),
            _cells(study, series, labels),
        )
        for series, labels in labels_by_series.items()
    ]  # fmt: skip
    p = []
    for series in labels_by_series:
        rivals = [
            rival
            for name, rival in labels_by_series.items()
            if name != series and name[1:] == series[1:]
        ]
        p.append(_difference_p(labels_by_series[series], rivals) if rivals else math.nan)
    adjusted = ADJUSTMENTS["holm"](np.array(p)).tolist()
    return [
        replace(row, p_alike=None if math.isnan(p_value) else p_value)
        for row, p_value in zip(rows, adjusted, strict=True)
    ]


def _difference_p(labels: Labels, rivals: Sequence[Labels]) -> float:
    """p that a model's two error rates are those of the other models together, by Welch's t."""
    from passk_cli.special import stdtr

    least = math.nan
    for truth in (0, 1):
        sides = error_rate([labels], truth), error_rate(rivals, truth)
        first, second = (side for side in sides)
        if first is None or second is None or first.se is None or second.se is None:
            continue
        error = math.hypot(first.se, second.se)
        degrees = min(side.degrees or 1 for side in (first, second))
        p = 2 * float(stdtr(degrees, -abs(first.mean - second.mean) / error)) if error else 1.0
        least = min(p, least) if least == least else p
    return min(2 * least, 1.0)


class Correction(NamedTuple):
    """A number, as the judge has it and as labels correct it.

    needed : what more labels would give; None where these are too few for the number.
    labels : how many, or how many tasks with some, for the width asked for; None where no number
        of labels is enough.
    """

    fact: Result
    judged: Result
    label_need: LabelNeed | None
    labels_for_width: int | None

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.fact.series

    @property
    def width_ratio(self) -> float | None:
        """How many times as wide as the judge's interval."""
        width, plain = map(_width, (self.fact, self.judged))
        return width / plain if width and plain else None


def _width(fact: Result) -> float:
    low, high = fact.estimate.low, fact.estimate.high
    return 0.0 if low is None or high is None else high - low


def corrections(study: Analysis, width: float | None) -> list[Correction]:
    """Each number of the study.  width : the one that is asked for."""
    all_values = study.values()
    plain = [replace(v, values=v.judged, hidden=0.0, degrees=None, few=None, labels=None)
             for v in all_values]  # fmt: skip
    judged = study.facts(
        [v for v in plain if v.has_values], replace(study.confidence, method_overrides={})
    )
    by_name = {(fact.series, fact.name): fact for fact in judged}
    rows = []
    for fact in study.facts(all_values):
        values, label_need, labels = fact.values, None, None
        # One task does not show how much tasks differ.
        if values is not None and values.labels is not None and len(values.values) > 1:
            label_need = required_labels(values.metric, values.labels)
            if width and values.degrees is not None and _width(fact) and fact.se:
                labels = label_need.labels_for((fact.se * width / _width(fact)) ** 2)
        nothing = replace(fact, estimate=Estimate(None))
        rows.append(
            Correction(fact, by_name.get((fact.series, fact.name), nothing), label_need, labels)
        )
    return rows


class JudgeErrors(Section[JudgeErrorRates]):
    """A row per model: how often the judge errs, and whether its errors go together."""

    columns = (
        MODEL,
        GROUPS,
        Column("labels", "count", name="labels", meaning="Labelled attempts.",
               cell=lambda row: int(row.labels.label_counts.sum())),
        Column("false passes", "share", cell=lambda row: row.rates[0].estimate,
               meaning="Share of the attempts that fail which the judge passes."),
        Column("false failures", "share", cell=lambda row: row.rates[1].estimate,
               meaning="Share of the attempts that pass which the judge fails."),
        Column("kappa", "score", cell=lambda row: row.agreement.estimate,
               meaning="Cohen's κ: agreement of judge and labels beyond chance, at most 1."),
        Column("p (equal rates)", "p", cell=lambda row: row.p_alike, name="p_alike",
               meaning="p that both rates are those of the other models, adjusted (Holm): a small"
               " one shows that the judge is kinder to some.",
               where=lambda section: len(section.records) > 1),
        Column("errors of one task", "count", cell=lambda row: row.error_clustering.pairs,
               name="error_pairs", meaning="Pairs of errors of one task.",
               where=lambda section: section.paired),
        Column("expected", "amount", True, cell=lambda row: row.error_clustering.expected,
               name="error_pairs_expected", where=lambda section: section.paired,
               meaning="The same if errors did not depend on the task."),
        Column("p (together)", "p", cell=lambda row: row.error_clustering.p, name="p_together",
               meaning="p of so many pairs by chance: a small one shows that errors go together"
               " within tasks.", where=lambda section: section.paired),
    )  # fmt: skip

    @property
    def paired(self) -> bool:
        """Whether some task has several labels of one model."""
        return any(row.labels.pairs for row in self.records)

    def facts_of(self, record: JudgeErrorRates) -> Iterator[Result]:
        return record.facts

    answers = (
        Answer("judge-errs", lambda section: section.rated and section.fields["failed"],
               "The judge passes {passed} of the attempts of {model} that fail, and fails {failed}"
               " of those that pass."),
        Answer("judge-passes-failures", lambda section: section.rated,
               "The judge passes {passed} of the attempts of {model} that fail."),
    )  # fmt: skip
    further_answers = (
        Answer("judge-differs", lambda section: section.rated and section.differing,
               "It errs differently about {model} than about the others.",
               lambda section: {"model": section.name_of(section.differing[0]),
                                "p": section.differing[0].p_alike}),
    )  # fmt: skip

    @property
    def rated(self) -> list[JudgeErrorRates]:
        """The models with a rate of false passes, the highest first."""
        rows = [row for row in self.records if row.rates[0].estimate.value is not None]
        return sorted(rows, key=lambda row: -(row.rates[0].estimate.value or 0.0))

    @property
    def differing(self) -> list[JudgeErrorRates]:
        """The models about which the judge errs significantly differently, the smallest p first."""
        rows = [row for row in self.records if row.p_alike is not None and row.p_alike <= 0.05]
        return sorted(rows, key=lambda row: row.p_alike or 0.0)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The model with the highest rate of false passes, and its two rates."""
        passed, failed = (rate.estimate for rate in self.rated[0].rates)
        return {"model": self.name_of(self.rated[0]), "passed": passed,
                "failed": None if failed.value is None else failed}  # fmt: skip

    def name_of(self, row: JudgeErrorRates) -> str:
        """The model of a row, with its groups."""
        return name_with_groups(row.series, self.study.counts.group_names)

    def messages(self) -> Iterator[Diagnostic]:
        for message, rows in (
            (CONCENTRATED_LABELS, [row for row in self.records if row.labels.concentrated]),
            (CHOSEN_LABELS, [row for row in self.records if row.labels.rate_p < _CHANCE_LIMIT
                             and not row.labels.labels_per_task]),
        ):  # fmt: skip
            if rows:
                yield message(models=[*map(self.name_of, rows)])

    def context(self) -> Iterator[str]:
        level = 100 * self.study.confidence.level
        yield f"{level:g} % {LOGIT_T} intervals, tasks as a sample"


class Confusion(NamedTuple):
    """A row of the confusion table: a model and one verdict."""

    series: Series
    verdict: str
    fails: Result
    passes: Result


class ConfusionTable(Section[Confusion]):
    """Two rows per model: the judge's verdicts by the truth, as shares of all attempts."""

    title = "Confusion table"
    shown = FULL
    columns = (
        MODEL,
        GROUPS,
        Column("verdict", cell=lambda row: row.verdict, meaning="What the judge says."),
        Column("truly fails", "share", cell=lambda row: row.fails.estimate,
               meaning="Share of all attempts with this verdict that truly fail."),
        Column("truly passes", "share", cell=lambda row: row.passes.estimate,
               meaning="Share of all attempts with this verdict that truly pass."),
    )  # fmt: skip

    @classmethod
    def from_errors(cls, study: Analysis, errors: Sequence[JudgeErrorRates]) -> ConfusionTable:
        """The table of these errors; their facts are rows of the errors."""
        return cls(study, [
            Confusion(row.series, says, row.cells[2 * place], row.cells[2 * place + 1])
            for row in errors for place, says in enumerate(_VERDICTS)
        ])  # fmt: skip


@dataclass(frozen=True)
class Corrections(Section[Correction]):
    """A row per model and metric: judged and corrected, and the labels for a width."""

    title = "Corrected"
    columns = (
        MODEL,
        GROUPS,
        Column("metric", cell=lambda row: row.fact.name, meaning="The metric, as in `-m`."),
        Column("judged", "share", cell=lambda row: row.judged.estimate,
               meaning="Its value by the judge's verdicts."),
        Column("corrected", "share", cell=lambda row: row.fact.estimate,
               meaning="Its value with the judge's errors taken out."),
        data_field("judged", "The same by the judge's verdicts, uncorrected.",
                   lambda row: row.judged.estimate.value),
        Column("times as wide", "amount", cell=lambda row: row.width_ratio, name="times_as_wide",
               meaning="Width of the corrected interval divided by that of the judged one."),
        Column("for --width", cell=lambda row: _for_width(row), where=lambda s: s.width,
               meaning="Labels of a model in all for an interval of that width: at scattered"
               " attempts, or so many in each of some tasks."),
        data_field("labels_needed", "Labels of a model in all for --width.", lambda r: _labels(r)),
    )  # fmt: skip

    width: float | None = None

    def facts_of(self, record: Correction) -> tuple[Result]:
        return (replace(record.fact, more={}),)


def _labels(row: Correction) -> int | None:
    per_task = row.label_need.per_task if row.label_need else 0
    return None if row.labels_for_width is None else row.labels_for_width * max(per_task, 1)


def _for_width(row: Correction) -> str:
    """In words: "212 labels", "3 in each of 80 tasks"."""
    if row.label_need is None:
        k = row.fact.k or 1
        return f"{k} in each of {FEWEST_TASKS} tasks to begin with"
    if row.labels_for_width is None:
        return "more tasks"
    if row.labels_for_width <= row.label_need.labelled:
        return "enough"
    per_task = row.label_need.per_task
    return (
        f"{per_task} in each of {row.labels_for_width:,} tasks"
        if per_task
        else plural(row.labels_for_width, "label")
    )


def attempts_to_label(
    counts: Counts, per_task: int, labels_needed: Mapping[Series, int], number: int | None
) -> list[UnlabelledAttempt]:
    """Attempts to label next, by model and task.

    each : of a task; 1: scattered.  needed : further labels that a width takes, if any.
    number : of a model, whatever is needed; every verdict has its share, and some in any case.
    """
    attempts = []
    for series, rows in grouped(counts.facts.unlabelled, lambda row: row.series).items():
        target = number or labels_needed.get(series) or _FIRST_LABELS
        if per_task > 1:
            # Tasks that were begun come first: each labelled task has so many labels then.
            open_ = [row for row in rows if row.in_task <= per_task - row.labelled]
            order = sorted({(row.labelled == 0, row.task_place) for row in open_})
            begun = sum(not new for new, _ in order)
            tasks = {place for _, place in order[: max(begun, math.ceil(target / per_task))]}
            attempts += [row for row in open_ if row.task_place in tasks]
            continue
        sizes = {row.stratum: row.size for row in rows}
        share = target / sum(sizes.values())
        least = {
            stratum: max(math.ceil(size * share), _MIN_PER_STRATUM)
            for stratum, size in sizes.items()
        }
        attempts += [row for row in rows if row.place <= least[row.stratum]]
    return sorted(attempts, key=lambda row: (row.series, row.task, row.in_task))


def _label_columns(counts: Counts, attempts: Sequence[UnlabelledAttempt]) -> dict[str, Any]:
    """The columns of the file: who made which attempt, and an empty one for the truth."""
    names = ("model", *counts.group_names)
    columns = {name: [row.series[at] for row in attempts] for at, name in enumerate(names)}
    columns |= {"task": [row.task for row in attempts]}
    columns |= {"attempt": [row.attempt or "" for row in attempts], TRUTH: [""] * len(attempts)}
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


def _no_labels_error(counts: Counts, *, numbered: bool = True) -> ParameterError:
    """Error where nothing names labels, with the columns that are called as such.

    numbered : whether attempts can be listed, each by a name of its own.
    """
    unread = dict.fromkeys(column for file in counts.facts.inputs for column in file.unused)
    label_columns = [column for column in unread if {*spelled(column).split("_")} & _LABEL_WORDS]
    return ParameterError(
        "verdicts alone do not show a judge's errors, and two judges that agree may err together:"
        " labels of some attempts do",
        name="no-labels",
        settles=[
            *(
                SuggestedFix({"--field": {TRUTH: column}}, "holds the labels")
                for column in label_columns
            ),
            *[SuggestedFix({"--field": {TRUTH: Placeholder("COLUMN")}}, "names their column")]
            * (not label_columns),
            *[SuggestedFix({"--list": Placeholder("FILE")}, "writes attempts to label")] * numbered,
        ],
    )


def _require_both_verdicts(errors: Sequence[JudgeErrorRates]) -> None:
    """DataError if the labels of a model are all of one verdict."""
    for row in errors:
        if verdict := row.labels.unlabelled_verdict:
            raise DataError(
                SeriesName(row.series),
                f"no attempt that the judge {verdict} has a label, so its errors there are unknown",
                name="missing-labels",
                settles=[
                    SuggestedFix(
                        {"--list": Placeholder("FILE")}, "writes attempts of both to label"
                    )
                ],
            )


TO_LABEL = (
    Answer("nothing-to-label", lambda fields: not fields["attempts"],
           "Every attempt has a label."),
    Answer("to-label", lambda fields: fields["attempts"],
           "{attempts:attempt} of {tasks:task} to label: fill in the column truth of {file}, and"
           " give it as --truth."),
    Answer("more-to-label",
           lambda fields: 0 < fields["number"] * fields["models"] < fields["attempts"],
           "They are more than {number} of each model: each verdict, in tasks that mostly pass and"
           " in others, has its share, and at least ten."),
)  # fmt: skip


class Judge(Question, JudgeOptions):
    """The question of `passk judge`."""

    sections = (JudgeErrors, ConfusionTable, Corrections)
    uncorrected = ""
    unbounded = "a label is compared with one verdict, and a missing outcome has none"

    def request(self, options: SharedOptions) -> Request:
        """The request, for the attempts to label as well."""
        refuse("contradicting-options", (
            options.request.truth_from is not None, OptionValue("--truth-from"),
            "it says nothing of these attempts", (SuggestedFix({"--truth-from": None}),),
        ))  # fmt: skip
        labelling = None if self.to_label is None else options.confidence.seed
        return replace(super().request(options), labelling=labelling)

    def study(self, options: SharedOptions, read: Read) -> Analysis:
        """The labelled data; attempts to label where there are no labels yet."""
        if options.request.has_labels:
            return super().study(options, read)
        request = self.request(options)
        counts = read(request)
        if self.to_label is None:
            try:
                numbered = options.once or bool(read(replace(request, labelling=0)))
            except DataError:
                numbered = False
            raise _no_labels_error(counts, numbered=numbered)
        return Analysis(counts, confidence=options.confidence)

    def require(self, options: SharedOptions, counts: Counts) -> None:
        """ParameterError without labels, where no attempts to label are asked for."""
        if self.to_label is None and not options.request.has_labels:
            raise _no_labels_error(counts)

    def report(self, study: Analysis) -> Report:
        """The judge's errors, the corrected numbers, and the attempts to label."""
        sections: list[Section[Any]] = []
        corrected: list[Correction] = []
        labels_needed: dict[Series, int] = {}
        if TRUTH in study.counts.attempts:
            corrected = corrections(study, self.width)
            errors = judge_errors(study)
            _require_both_verdicts(errors)
            sections = [
                JudgeErrors(study, errors), ConfusionTable.from_errors(study, errors),
                Corrections(study, corrected, self.width),
            ]  # fmt: skip
            for row in corrected:
                more = (row.labels_for_width or 0) - (
                    row.label_need.labelled if row.label_need else 0
                )
                more *= max(row.label_need.per_task if row.label_need else 0, 1)
                labels_needed[row.series] = max(labels_needed.get(row.series, 0), more)
        report = view(
            study, sections, messages=study.messages([row.fact for row in corrected]),
            resamples=study.confidence.resamples, seed=study.confidence.seed,
        )  # fmt: skip
        if self.to_label is None:
            return report
        attempts = attempts_to_label(study.counts, self.each, labels_needed, self.number)
        fields = {
            "attempts": len(attempts), "tasks": len({row.task for row in attempts}),
            "file": self.to_label, "number": self.number or 0, "models": len(study.counts.series),
        }  # fmt: skip
        sentences = all_true(TO_LABEL, fields)
        exports = {self.to_label: _label_columns(study.counts, attempts)}
        return replace(report, answer=(*report.answer, *sentences), exports=exports)
