"""The report of `passk trend`, with changes of a metric, run effects and variation of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import itemgetter
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.trend import TrendOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.inference.adjust import holm
from passk_cli.inference.run_effects import (
    MAX_RUNS_FOR_FALSE_ALARM_RATE,
    RunToRunEffect,
    are_amounts_above_task_divider,
    chance_variances,
    change_points,
    lag_1_run_correlation,
    least_detectable_change,
    run_effect,
    run_effect_draw_count,
    run_mean_logs_and_variances,
)
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, Metric, parse_metric
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    Column,
    Estimate,
    GateCheck,
    PhraseCell,
    Report,
)
from passk_cli.report.phrases import (
    MonteCarloP,
    SeriesName,
    number_range,
    p_sign_and_number_text,
    plural,
)
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.duplicate_runs import COPIED_RUN
from passk_cli.study.history import (
    RUN_AND_SETTINGS_COLUMNS,
    UNPRICED_RUNS,
    RecordedRunIdentity,
    RunGroup,
    drop_incomplete_and_skipped_runs,
    find_run_groups,
    pool_runs,
    read_history_as_series_per_run,
    runs_by_suite_and_series,
    with_attempts_of_known_amount,
)
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import FAIL, PASS, UNDECIDED
from passk_cli.study.value_range import name_with_groups
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

# passk estimates the variation between runs from at most the last _MAX_EFFECT_RUNS runs, to limit
# the time.
_MAX_EFFECT_RUNS = 60
# A chart draws points for about _MAX_RUNS_DRAWN_AS_POINTS runs, and no points for the other runs.
_MAX_RUNS_DRAWN_AS_POINTS = 50
_ALPHA_BY_CONFIDENCE_LEVEL = {0.9: 0.1, 0.95: 0.05, 0.99: 0.01}
_PASS_AT_1 = Metric("pass@", 1)

MIN_SIGNIFICANT_DIFFERENCE_NOTE = DiagnosticType(
    "two-runs", NOTE,
    "two single runs of {model} differ significantly if they differ by at least {points} points",
    meaning="At the default confidence level of 0.95, the difference between two runs of the same"
    " setup exceeds the number in the message in 5 % of comparisons. passk computes the number in"
    " the message from the random variation within tasks and from the run effects of both runs.",
    why="Smaller differences between two runs are not evidence of a change.",
    advice="Compare a new run with several runs, for example with `passk gate`, or make more"
    " attempts per run.",
    example="passk trend sample_data/nights.parquet\n"
    "note[two-runs]: two single runs of agent differ significantly if they differ by at least 12.0"
    " points",
)  # fmt: skip
SAMPLING_FLIPS_NOTE = DiagnosticType(
    "sampling-flips", NOTE,
    "two runs of {model} differ on {between} of {tasks:task}, compared with {within} by chance"
    " ({p})", "use more tasks, because a steadier machine does not help",
    meaning="The first number in the message is the average number of tasks on which two attempts"
    " of different runs disagree. The second number is the average number of tasks on which two"
    " attempts of the same run disagree. The first number is not significantly larger than the"
    " second number. The test randomly reassigns the attempts at each task to the runs.",
    why="If outcomes change from run to run, the likely cause is random sampling, and not a"
    " difference between the runs.",
    advice="Use more tasks or attempts. A steadier machine does not make the outcomes of attempts"
    " less random.",
    example="passk trend sample_data/nights.parquet\n"
    "note[sampling-flips]: two runs of agent differ on 20.3 of 60 tasks, compared with 20.0 by"
    " chance (p = 0.41); use more tasks, because a steadier machine does not help",
)  # fmt: skip
FLIPS_BEYOND_SAMPLING_WARNING = DiagnosticType(
    "run-flips", WARNING,
    "two runs of {model} differ on {between} of {tasks:task}, compared with {within} by chance"
    " ({p})", "compare the machines, versions and time of day of the runs",
    meaning="Two attempts of different runs have different outcomes significantly more often than"
    " two attempts of the same run.",
    why="Something other than the randomness of attempts changes from run to run. More attempts per"
    " run do not reduce the variation between runs.",
    advice="Compare the machines, versions, time limits and time of day of the runs.",
    example="warning[run-flips]: two runs of agent differ on 24.1 of 60 tasks, compared with 20.0"
    " by chance (p < 0.001); compare the machines, versions and time of day of the runs",
)  # fmt: skip
ONE_ATTEMPT_NOTE = DiagnosticType(
    "one-attempt", NOTE,
    "runs of {models:and} with one attempt per task do not show whether outcomes differ by chance",
    "record runs with two attempts per task",
    meaning="All runs of the models in the message have one attempt per task.",
    why="At least two attempts at a task within a run are needed to measure how often outcomes"
    " differ by chance. passk can estimate the run effect on the mean from runs with one attempt"
    " per task.",
    advice="Record runs with at least two attempts per task.",
    example="note[one-attempt]: runs of agent with one attempt per task do not show whether"
    " outcomes differ by chance; record runs with two attempts per task",
)  # fmt: skip
FEW_RUNS_NOTE = DiagnosticType(
    "few-runs", NOTE, "passk needs at least {runs} runs of {models:and} to find a {what}",
    (
        SuggestedFix({"--field": {"model": "{column}"}}, "compares single runs", "compare"),
        SuggestedFix({"--alias": "{aliases}"}, "counts these names as one model"),
    ),
    meaning="To estimate the run effect, passk needs at least two runs since the last change. To"
    " find a change, passk needs at least five runs.",
    why="With fewer runs, passk cannot distinguish a change or a run effect from random variation.",
    advice="Record more runs. In a history, runs with the same model name are runs of one model."
    " `passk record agent=FILE` records the run under the name agent, and `--alias NEW=OLD` treats"
    " two names as names of one model.",
    example="note[few-runs]: passk needs at least 5 runs of agent to find a change",
)  # fmt: skip
MIXED_SETTINGS_WARNING = DiagnosticType(
    "mixed-settings", WARNING,
    "runs of {models:and} were recorded with different options: {options:and}",
    meaning="A history contains the options that change counts, for example --missing and"
    " --threshold. A history also contains the prices from which passk computed costs. The options"
    " in the message differ between runs of the history.",
    why="A change of the metric may be due to different options, and not to the model.",
    advice="Record the runs again with the same options, or use `--skip-run REVISION` to leave out"
    " a run.",
    example="warning[mixed-settings]: runs of agent were recorded with different options:"
    " threshold",
)  # fmt: skip
RUN_EFFECT_ONLY_FOR_PASSES_NOTE = DiagnosticType(
    "effect-of-passes", NOTE,
    "for metrics other than pass@1, passk does not test whether runs differ by more than chance",
    meaning="The test of the run effect randomly reassigns passes to runs, so it works only for"
    " pass@1. passk can find changes of costs without the test of the run effect.",
    why="The report contains no run effect and no p-value for a metric other than pass@1.",
    advice="Use `-m pass@1` to test whether runs differ.",
    example="note[effect-of-passes]: for metrics other than pass@1, passk does not test whether"
    " runs differ by more than chance",
)  # fmt: skip
RATIO_METRIC_NOT_SEARCHED_NOTE = DiagnosticType(
    "changes-of-parts", NOTE,
    "passk does not look for changes of the ratio {metric}",
    (
        SuggestedFix({"-m": "{amount}"}, "looks for changes of the amount"),
        SuggestedFix({"-m": "pass@1"}, "looks for changes of the pass rate"),
    ),
    meaning="A metric such as cost-per-success is a ratio of two means. The ratio can change"
    " because of the amount, because of the pass rate, or because of both.",
    why="A change of a ratio does not show which of the two means changed.",
    advice="Look for changes of the amount and of the pass rate separately. Each of the two"
    " searches has its own false-alarm rate.",
    example="note[changes-of-parts]: passk does not look for changes of the ratio cost-per-success;"
    " -m cost looks for changes of the amount; -m pass@1 looks for changes of the pass rate",
)  # fmt: skip
CORRELATED_RUNS_WARNING = DiagnosticType(
    "correlated-runs", WARNING,
    "successive runs of {model} have a correlation of {lag:=score}",
    "a change may be a drift",
    meaning="The lag-1 correlation of the run means since the last change is more than two standard"
    " errors above 0.",
    why="Correlated runs cause more false alarms, although the search for changes allows for"
    " correlation. In simulations without a change, 13 to 17 % of the years had a false alarm at a"
    " correlation of 0.7. At a correlation of 0.9, 31 to 49 % of the years had a false alarm"
    " (benchmarks/trend.md).",
    advice="Look at the chart (`--chart trend.svg`) before you act on a change. Look for something"
    " that drifts, such as a service or the load of a machine.",
    example="warning[correlated-runs]: successive runs of agent have a correlation of 0.62; a"
    " change may be a drift",
)  # fmt: skip
WORSE_THAN_BEFORE_NOTE = DiagnosticType(
    "worse-than-before", NOTE, "{metric} of {model} is worse since {run}",
    SuggestedFix({"--acknowledge": "{run}"}, "accepts the new level"),
    meaning="The newest runs are worse than earlier runs, and nobody has acknowledged the change."
    " The newest runs are still worse by more than half of the change.",
    why="With `--fail`, `passk trend` exits with code 1 until you acknowledge the change or until"
    " at least half of the change is gone.",
    advice="Look for the cause of the change in the run that the message names. If the change is"
    " intended, acknowledge it with `--acknowledge REVISION`.",
    example="passk trend sample_data/nights.parquet --fail\n"
    "note[worse-than-before]: pass@1 of agent is worse since 17bd287; --acknowledge 17bd287 accepts"
    " the new level",
)  # fmt: skip
UNSEARCHED_OLD_RUNS_NOTE = DiagnosticType(
    "old-runs", NOTE, "passk looks for changes only in the last {runs} runs of {models:and}",
    meaning="passk controls the false-alarm rate for the number of runs in the message, but the"
    " history contains more runs.",
    why="passk does not report changes in older runs.",
    example="note[old-runs]: passk looks for changes only in the last 365 runs of agent",
)  # fmt: skip


_WORSE_SENTENCE = (
    "{metric} of {model} is {less:lower|higher}{?points| by {points:=share points}}"
    "{?factor| by a factor of {factor}} since {run} ({date})"
)
_NO_WORSENING_FOUND_SENTENCE = (
    "{metric} of {model} has not become significantly worse{?since| since {since}}"
)
_TOO_FEW_RUNS_SENTENCE = "{runs:run} of {model} {runs:is|are} too few to show a change of {metric}"
BECAME_WORSE_ANSWER = Answer("became-worse", lambda _: True, _WORSE_SENTENCE)
NO_WORSENING_FOUND_ANSWER = Answer("not-worse", lambda _: True, _NO_WORSENING_FOUND_SENTENCE)
TOO_FEW_RUNS_ANSWER = Answer("too-few-runs", lambda _: True, _TOO_FEW_RUNS_SENTENCE)
VERDICT_ANSWERS = (
    Answer("trend-fails", lambda fields: fields["failing"],
           "FAIL: {metric} of {model} is {less:lower|higher}{?points| by {points:=share"
           " points}}{?factor| by a factor of {factor}} since {run} ({date}){?others|; {others}"
           " became worse, too}.",
           lambda fields: {**fields["failing"][0].finding.fields,
                         "others": [check.model for check in fields["failing"][1:]]}),
    Answer("trend-undecided", lambda fields: fields["undecided"],
           "PASS: {runs:run} of {model} {runs:is|are} too few to show a change of {metric}.",
           lambda fields: fields["undecided"][0].finding.fields),
    Answer("trend-passes", lambda fields: fields["verdicts"],
           "PASS: {metric} of {model} has not become significantly worse{?since| since {since}}.",
           lambda fields: fields["verdicts"][0].finding.fields),
)  # fmt: skip
_OTHER_MODELS_PHRASE = "{?others|; {others} changed as well}."
_NO_CHANGE_SENTENCE_FIELD_NAMES = (
    "metric",
    "model",
    "models",
    "runs",
    "latest",
    "points",
    "factor",
)


def _no_change_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in _NO_CHANGE_SENTENCE_FIELD_NAMES}


CHANGE_ANSWERS = (
    Answer("changed-by-points", lambda fields: fields["change"] and "points" in fields["change"],
           "{metric} of {model} {fell:fell|rose} by {points:=share points} at {run}"
           " ({date}){?later|, seen {later:run} later}" + _OTHER_MODELS_PHRASE,
           itemgetter("change")),
    Answer("changed-by-factor", lambda fields: fields["change"],
           "{metric} of {model} {fell:fell|rose} by a factor of {factor} (geometric mean) at"
           " {run} ({date}){?later|, seen {later:run} later}: {before} before, {after} since"
           + _OTHER_MODELS_PHRASE, itemgetter("change")),
    Answer("no-last-ratio", lambda fields: fields["ratio"] and fields["latest"].value is None,
           "{metric} of {model} is undefined in the last of {runs:run}: no attempt passed.",
           _no_change_fields),
    Answer("last-ratio", lambda fields: fields["ratio"],
           "{metric} of {model} is {latest} in the last of {runs:run}.",
           _no_change_fields),
    Answer("too-few-for-a-change", lambda fields: fields["too_few"],
           "{runs:run} {runs:is|are} too few to show a change of {metric} of"
           "{?model| {model}}{?models| {models} models}.",
           _no_change_fields),
    Answer("no-change", lambda _: True,
           "{runs:run} {runs:shows|show} no change of {metric} of{?model| {model}}"
           "{?models| {models} models}{?points|, but would show a change of {points:=share points}"
           " or more}{?factor|, but would show a change by a factor of {factor} or more}.",
           _no_change_fields),
)  # fmt: skip
RUN_EFFECT_ANSWERS = (
    Answer("runs-differ", lambda fields: "effect" in fields and fields["effect"]["models"],
           "Runs of {models} differ by more than chance: standard deviation"
           " {deviation:=share points}{?more| for {model}}, p {relation}.", itemgetter("effect")),
    Answer("runs-alike", lambda fields: "effect" in fields,
           "{?changed|Otherwise runs}{?unchanged|Runs} differ no more than expected by chance:"
           " {?several|smallest }p {relation}.", itemgetter("effect")),
)  # fmt: skip


def parse_metric_of_histories(name: str) -> str:
    """Parse the value of --metric, or raise a ParameterError if a history lacks the metric.

    >>> parse_metric_of_histories("Median-Cost")
    'median-cost'
    """
    if "," in name:
        problem = "name only one metric, and run the command once per metric"
        raise ParameterError(OptionWithValue("--metric", name), problem)
    metric = parse_metric(name)
    if metric != _PASS_AT_1 and not metric.definition.amount_unit:
        raise ParameterError(
            OptionWithValue("--metric", metric.name),
            "a history contains only the metrics pass@1 and"
            f" {', '.join(AMOUNT_UNITS_AND_NOUNS)}", name="unknown-metric",
        )  # fmt: skip
    return metric.name


class LevelChange(NamedTuple):
    """A change in the level of a metric.

    first_run_index : index of the first run after the change.
    detection_run_index : index of the run at which the change became significant.
    size : the metric after the change minus the metric before it or, for costs, the ratio of
        geometric means.
    """

    first_run_index: int
    detection_run_index: int
    before: float
    after: float
    size: Estimate

    @property
    def is_fall(self) -> bool:
        return (self.size.value or 0.0) < (0.0 if self.size.is_share else 1.0)


@dataclass(frozen=True)
class RunSeries:
    """The runs of one model in one suite, with the metric of each run, changes and the run effect.

    effect_estimate_first_run_index : index of the first run that the estimate of the run effect
        uses.
    effect : the run effect, or None if there is only one run or if the metric is a cost.
    detectable_change : smallest change that the runs can show or, for costs, its logarithm.
    run_effect_p_standard_error : Monte-Carlo standard error of the p-value of the run effect.
    run_effect_p_adjusted : p-value of the run effect, adjusted for the number of models and suites
        (Holm).
    verdict : whether the newest runs are worse, or None if --fail is not set.
    """

    recorded_runs: RunGroup
    series: SeriesKey
    results: tuple[Result, ...]
    changes: tuple[LevelChange, ...]
    effect_estimate_first_run_index: int
    effect: RunToRunEffect | None
    detectable_change: float
    run_effect_p_standard_error: float = 0.0
    run_effect_p_adjusted: float | None = None
    verdict: GateCheck | None = None

    def lasting_change_for_worse_after(self, time: str) -> LevelChange | None:
        """The change for the worse after `time` that the newest runs still show, or None.

        The result is None if at least half of the change is gone. Otherwise, the result begins at
        the first change for the worse, and its size is the total size of all changes since then.
        """
        later = [
            change
            for change in self.changes
            if self.recorded_runs.runs[change.first_run_index].time > time
        ]
        for place, change in enumerate(later):
            share = change.size.is_share
            sizes = [step.size.value or 0.0 for step in later[place:]]
            steps = [size if share else -math.log(size) for size in sizes]
            if steps[0] < 0 and sum(steps) < steps[0] / 2:
                total = sum(steps) if share else math.exp(-sum(steps))
                size = replace(change.size, value=total)
                return change._replace(after=later[-1].after, size=size)
        return None

    def with_verdict(self, metric: Metric, run: RecordedRunIdentity | None) -> RunSeries:
        """Set the verdict, which fails if the newest runs are worse than earlier runs.

        run : the run up to which the user has acknowledged changes, or None.
        """
        less = metric.definition.amount_unit
        since = f" since {_truncated_run_name(run)}" if run else ""
        rule = f"no {'rise' if less else 'fall'} of {metric.name}{since}"
        change = self.lasting_change_for_worse_after(run.time if run else "")
        fields: dict[str, Any] = {"metric": metric.name, "model": self.name, "less": int(not less)}
        verdict = GateCheck(self.name, rule, PASS)
        if change is not None:
            first, share = self.recorded_runs.runs[change.first_run_index], change.size.is_share
            size = abs(change.size.value or 0.0)
            fields |= {
                "points": size if share else None,
                "factor": None if share else Estimate(size, unit="ratio"),
                "run": _truncated_run_name(first), "date": first.time[:10],
            }  # fmt: skip
            finding = BECAME_WORSE_ANSWER.sentence_about(fields)
            verdict = replace(verdict, verdict=FAIL, failing=True, finding=finding)
        elif not self.changes and self.detectable_change >= (math.inf if less else 1.0):
            finding = TOO_FEW_RUNS_ANSWER.sentence_about(
                {**fields, "runs": len(self.recorded_runs.runs)}
            )
            verdict = replace(verdict, verdict=UNDECIDED, finding=finding)
        else:
            finding = NO_WORSENING_FOUND_ANSWER.sentence_about(
                {**fields, "since": run and _truncated_run_name(run)}
            )
            verdict = replace(verdict, finding=finding)
        return replace(self, verdict=verdict)

    @property
    def name(self) -> str:
        return SeriesName(self.series)

    @property
    def runs_in_effect_estimate(self) -> RunGroup:
        return self.recorded_runs.with_last_runs(
            len(self.recorded_runs.runs) - self.effect_estimate_first_run_index
        )

    @cached_property
    def is_all_copies(self) -> bool:
        """Whether all runs are copies of one run."""
        return (
            0
            < len(self.runs_in_effect_estimate.copies)
            == len(self.runs_in_effect_estimate.runs) - 1
        )

    @property
    def run_effect_p(self) -> float | None:
        return (
            None
            if self.effect is None
            else MonteCarloP(self.effect.p, self.run_effect_p_standard_error)
        )

    @property
    def run_effect_deviation(self) -> Estimate:
        if self.effect is None:
            return Estimate(None, reason="one run")
        value, low, high = map(
            math.sqrt, (self.effect.effect_variance, self.effect.low, self.effect.high)
        )  # fmt: skip
        return Estimate(value, low=low, high=high)

    @property
    def single_run_standard_deviation(self) -> float:
        """The standard deviation of one run, from chance within tasks and from the run effect."""
        assert self.effect is not None
        return math.sqrt(self.effect.effect_variance + float(self.effect.chance_variances.mean()))


def _truncated_run_name(run: RecordedRunIdentity) -> str:
    return run.run if len(run.run) <= 24 else f"{run.run[:10]}…"


def _last_change_text(course: RunSeries) -> PhraseCell | str:
    if not course.changes:
        return "none"
    change = course.changes[-1]
    times = "" if change.size.is_share else "× "
    return PhraseCell(
        (
            times,
            change.size,
            f" at {_truncated_run_name(course.recorded_runs.runs[change.first_run_index])}",
        )
    )


_METRIC_VALUES_COLUMN = Column(
    "{0.name}", meaning="{0.name} on the tasks that all runs have.", example=_PASS_AT_1,
    repeated_items=lambda section: section.study.metrics, kind_of_item=lambda section, metric:
    metric.unit,
    cell_of_record=lambda fact, _: fact.estimate,
)  # fmt: skip


def _is_pass_rate(section: ReportSection[Any]) -> bool:
    return section.study.metrics == (_PASS_AT_1,)


def _is_metric_searched_for_changes(section: ReportSection[Any]) -> bool:
    return not section.study.metrics[0].definition.is_ratio_of_means


class ModelTrendTable(ReportSection[RunSeries]):
    """One row per suite and model, with the last run, the run effect and the last change."""

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        replace(_METRIC_VALUES_COLUMN, header="{0.name} of last",
                meaning="{0.name} of the last run, on the tasks that all runs have.",
                cell_of_record=lambda course, _: course.results[-1].estimate),
        Column("run effect", "share", cell_of_record=lambda course: course.run_effect_deviation,
            exists_in_section=_is_pass_rate,
               meaning="Standard deviation of pass@1 between runs since the last change, without"
               " the variation that chance within tasks explains, with its interval."),
        Column("its p", "p", stays_with_previous=True,
            cell_of_record=lambda course: course.run_effect_p_adjusted,
               exists_in_section=_is_pass_rate,
               meaning="p-value of the run effect. The test permutes attempts over runs within"
               " tasks, and is adjusted for the number of models (Holm)."),
        Column("change", cell_of_record=_last_change_text,
            exists_in_section=_is_metric_searched_for_changes,
               meaning="Size of the last change (for costs, the ratio of geometric means), and the"
               " first run after the change."),
        Column("runs", "count", cell_of_record=lambda course: len(course.recorded_runs.runs),
               meaning="Number of runs."),
        Column("attempts", "count", cell_of_record=lambda course: int(course.recorded_runs.n.sum()),
               meaning="Number of attempts at the tasks that all runs have."),
        data_field("suite", "Name of the suite."),
        data_field("run", "Name of the run; empty in rows about all runs."),
        data_field("at", "Time of the run, in UTC."),
        data_field("revision", "Revision of the run."),
        data_field("runs", "Number of runs from which the value is computed."),
    )  # fmt: skip

    def results_of(self, record: RunSeries) -> Iterator[Result]:
        yield from record.results
        blank = replace(record.results[-1], name="", k=None, se=None, level=None, values=None,
                        method="none", interval_flaw="")  # fmt: skip
        for change in record.changes:
            yield replace(blank, name="change" if change.size.is_share else "change-ratio",
                          estimate=change.size,
                          extra_fields=record.results[change.first_run_index].extra_fields,
                          )  # fmt: skip
        if _is_pass_rate(self):
            of_all = dict.fromkeys(("run", "at", "revision"))
            of_all |= {"runs": len(record.runs_in_effect_estimate.runs)}
            yield replace(
                blank, name="run effect", estimate=record.run_effect_deviation,
                p=record.run_effect_p,
                p_adjusted=record.run_effect_p_adjusted, level=self.study.confidence.level,
                method="q-profile",
                extra_fields={**blank.extra_fields, **of_all},
            )  # fmt: skip

    def answer(self) -> Iterator[AnswerSentence]:
        fields = self._sentence_fields
        yield from first_true_sentence(VERDICT_ANSWERS, fields)
        if not fields["failing"]:
            yield from first_true_sentence(CHANGE_ANSWERS, fields)
        yield from first_true_sentence(RUN_EFFECT_ANSWERS, fields)

    @property
    def _sentence_fields(self) -> dict[str, Any]:
        metric, records = self.study.metrics[0], self.records
        verdicts = [course.verdict for course in records if course.verdict]
        failing = [check for check in verdicts if check.failing]
        undecided = [check for check in verdicts if check.verdict == UNDECIDED]
        changed = sorted((course for course in records if course.changes), reverse=True,
                         key=lambda c:
                          c.recorded_runs.runs[c.changes[-1].first_run_index].time)  # fmt: skip
        tested = sorted(
            (c for c in records if c.run_effect_p_adjusted is not None and not c.is_all_copies),
            key=lambda course: (course.run_effect_p_adjusted, course.run_effect_p),
        )
        level = 1 - self.study.confidence.level + 1e-12
        effects = [course for course in tested if (course.run_effect_p_adjusted or 0.0) <= level]
        last = max(records, key=lambda course: course.recorded_runs.runs[-1].time)
        sizes = [course.detectable_change for course in records]
        quantity, most = (
            metric.definition.amount_unit,
            math.inf if metric.definition.amount_unit else 1.0,
        )
        detectable = max(sizes) if max(sizes) < most else None
        fields: dict[str, Any] = {
            "failing": failing, "undecided": undecided, "verdicts": verdicts,
            "change": self._change_sentence_fields(changed) if changed else None,
            "metric": metric.name,
            "ratio": metric.definition.is_ratio_of_means, "latest": last.results[-1].estimate,
            "model": last.name if metric.definition.is_ratio_of_means or len(records) == 1 else "",
            "models": len(records) if len(records) > 1 else 0,
            "runs": max(len(course.recorded_runs.runs) for course in records),
            "too_few": min(sizes) >= most, "points": None if quantity else detectable,
            "factor": Estimate(math.exp(detectable), unit="ratio") if quantity and detectable
            else None,
        }  # fmt: skip
        if tested:
            p = tested[0].run_effect_p_adjusted or 0.0
            fields["effect"] = {
                "model": tested[0].name, "deviation": tested[0].run_effect_deviation, "p": p,
                "relation": p_sign_and_number_text(p),
                "models": [course.name for course in effects],
                "changed": bool(changed), "unchanged": not changed, "several": len(tested) > 1,
                "more": len(effects) > 1,
            }  # fmt: skip
        return fields

    def _change_sentence_fields(self, changed: Sequence[RunSeries]) -> dict[str, Any]:
        (course, *other_courses), groups = changed, self.study.counts.group_names
        change, metric = course.changes[-1], self.study.metrics[0]
        first, size = course.recorded_runs.runs[change.first_run_index], change.size.value or 0.0
        factor = replace(change.size, value=1 / (size or 1.0) if change.is_fall else size or 1.0)
        before, after = (Estimate(mean, unit=metric.unit) for mean in (change.before, change.after))
        return {
            "metric": metric.name, "model": name_with_groups(course.series, groups, " at "),
            "fell": int(change.is_fall), "run": _truncated_run_name(first), "date": first.time[:10],
            "later": change.detection_run_index - change.first_run_index,
            "others": [name_with_groups(rival.series, groups, " at ") for rival in other_courses],
            **({"points": abs(size)} if change.size.is_share
               else {"factor": factor, "before": before, "after": after}),
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        sizes = [course.results[-1] for course in self.records]
        yield f"last run: {self.study.sizes_text(sizes)}"
        if run_counts := [
            len(course.runs_in_effect_estimate.runs) for course in self.records if course.effect
        ]:
            since = "since the last change, " * any(course.changes for course in self.records)
            yield f"run effect {since}from {number_range(min(run_counts), max(run_counts))} runs"
            if len(run_counts) > 1 and _is_pass_rate(self):
                yield f"p: Holm over {len(run_counts)} models, intervals unadjusted"
        if _is_metric_searched_for_changes(self) and any(
            len(c.recorded_runs.runs) >= 5 for c in self.records
        ):
            alpha = 1 - self.study.confidence.level
            per_model = " of a model" if len(self.records) > 1 else ""
            alarm = f"{100 * alpha:g} % chance of a false alarm"
            yield f"{alarm} in {MAX_RUNS_FOR_FALSE_ALARM_RATE} uncorrelated runs{per_model}"
        yield f"{100 * self.study.confidence.level:g} %"

    def full_footer_parts(self) -> Iterator[str]:
        if _is_pass_rate(self):
            yield "run effect: permutation within tasks, Paule–Mandel, Q-profile"
        elif _is_metric_searched_for_changes(self):
            yield "changes: of mean logarithms"
        yield self.study.confidence.words()

    def messages(self) -> Iterator[Diagnostic]:
        yield from self.study.messages([])
        for course in self.records:
            if course.verdict and course.verdict.failing:
                last = course.recorded_runs.runs[course.changes[-1].first_run_index]
                yield WORSE_THAN_BEFORE_NOTE(
                    metric=self.study.metrics[0].name, model=course.name, run=last.run
                )
        alpha = 1 - self.study.confidence.level + 1e-12
        passes = _is_pass_rate(self)
        mixed = {c.name: differ for c in self.records if (differ := [
            name for name in c.recorded_runs.differing_options if not (passes
            and name == "price")])}  # fmt: skip
        if mixed:
            options = dict.fromkeys(name for names in mixed.values() for name in names)
            yield MIXED_SETTINGS_WARNING(models=[*mixed], options=[*options])
        metric = self.study.metrics[0]
        if metric.definition.is_ratio_of_means:
            yield RATIO_METRIC_NOT_SEARCHED_NOTE(
                metric=metric.name, amount=metric.definition.required_attempt_data
            )
        elif not passes:
            yield RUN_EFFECT_ONLY_FOR_PASSES_NOTE()
        several = [course for course in self.records if course.effect is not None]
        flips = [
            c
            for c in several
            if c.effect is not None and not math.isnan(c.effect.expected_flips_between_runs)
        ]
        for course in sorted(
            flips, key=lambda c: c.effect.p_of_run_effects_on_tasks if c.effect else 1.0
        )[:1]:
            assert course.effect is not None
            effect, p = course.effect, course.effect.p_of_run_effects_on_tasks
            flipping = p <= alpha / len(flips)
            if not flipping and effect.p <= alpha:
                continue
            tasks = len(course.recorded_runs.shared_task_codes)
            between, within = next(
                pair
                for digits in range(1, 13)
                if (
                    pair := (
                        f"{effect.expected_flips_between_runs:.{digits}f}",
                        f"{effect.expected_flips_within_run:.{digits}f}",
                    )
                )
                and (digits == 12 or pair[0] != pair[1])
            )
            yield (FLIPS_BEYOND_SAMPLING_WARNING if flipping else SAMPLING_FLIPS_NOTE)(
                model=course.name, tasks=tasks, between=between, within=within,
                p=f"p {p_sign_and_number_text(MonteCarloP(p, course.run_effect_p_standard_error))}",
            )  # fmt: skip
        noisiest = max(
            several, key=lambda course: course.single_run_standard_deviation, default=None
        )
        if noisiest is not None:
            z = NormalDist().inv_cdf(1 - alpha / 2)
            detectable_points = 100 * z * math.sqrt(2) * noisiest.single_run_standard_deviation
            yield MIN_SIGNIFICANT_DIFFERENCE_NOTE(
                model=noisiest.name, points=f"{detectable_points:.1f}"
            )
        if single := [
            c.name for c in several if c.effect and math.isnan(c.effect.expected_flips_between_runs)
        ]:
            yield ONE_ATTEMPT_NOTE(models=single)
        setup_messages = [m for course in self.records for m in course.recorded_runs.messages]
        yield from self._merge_copy_messages(setup_messages)
        since = {course.name: len(course.runs_in_effect_estimate.runs) for course in self.records}
        runs = {course.name: len(course.recorded_runs.runs) for course in self.records}
        minimums = [(2, "run effect", since)] * passes
        minimums += [(5, "change", runs)] * _is_metric_searched_for_changes(self)
        for least, noun, numbers in minimums:
            excluded = 1 if passes and noun == "change" else 0
            if few := [name for name, number in numbers.items() if excluded < number < least]:
                column = "run" if [*numbers.values()] in ([2], [3], [4]) else ""
                aliases = self._suggested_aliases() if least == 2 else []
                yield FEW_RUNS_NOTE(
                    models=few, runs=least, what=noun, column=column, aliases=aliases
                )
        for course in self.records if _is_metric_searched_for_changes(self) else ():
            values = [
                fact.estimate.value
                for fact in course.results[course.effect_estimate_first_run_index :]
            ]
            lag = lag_1_run_correlation(np.array(values, dtype=float))
            if lag > 2 / len(values) ** 0.5:
                yield CORRELATED_RUNS_WARNING(model=course.name, lag=lag)
        if old := [
            c.name
            for c in self.records
            if len(c.recorded_runs.runs) > MAX_RUNS_FOR_FALSE_ALARM_RATE
        ]:
            yield UNSEARCHED_OLD_RUNS_NOTE(runs=MAX_RUNS_FOR_FALSE_ALARM_RATE, models=old)

    def _suggested_aliases(self) -> list[str]:
        """Values NEW=OLD for --alias, if several names may be names of the same model.

        The list is empty unless every model has one run, all runs are different, and all models
        share a task.
        """
        setups = [course.recorded_runs for course in self.records]
        names, runs = [s.series[0] for s in setups], [run.run for s in setups for run in s.runs]
        distinct = len({*names}) == len(names) == len({*runs}) == len(runs) > 1
        if not distinct or not len(reduce(np.intersect1d, (s.shared_task_codes for s in setups))):
            return []
        *earlier, (_, last) = sorted((s.runs[0], s.series[0]) for s in setups)
        return [f"{name}={last}" for _, name in earlier]

    def _merge_copy_messages(self, messages: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        copied = []
        for message in messages:
            if message.name != COPIED_RUN.name:
                yield message
            else:
                copied.append(message)
        if copied:
            more = sum(message.fields["more"] + 1 for message in copied) - 1
            yield COPIED_RUN(**{**copied[0].fields, "more": more})

    def plots(self) -> tuple[Plot, ...]:
        metric, unit = self.study.metrics[0], self.study.metrics[0].unit
        rows = [
            fact.chart_point(metric.name, run=place)
            for course in self.records
            for place, fact in enumerate(course.results, 1)
        ]
        changes: dict[int, dict[str, Estimate]] = {}
        for course in self.records:
            for change in course.changes:
                changes.setdefault(change.first_run_index + 1, {})[course.name] = change.size
        names = {
            change.first_run_index + 1:
            f" at {_truncated_run_name(course.recorded_runs.runs[change.first_run_index])}"
            for course in self.records for change in course.changes
        }  # fmt: skip
        rules, sizes = list[ReferenceLine](), dict[str, float]()
        for run, sizes_by_model in changes.items():
            ordered = sorted(sizes_by_model.items(), key=lambda item: -(item[1].value or 0.0))
            ends = dict.fromkeys(
                f"{100 * (size.value or 0.0):+.1f} points".replace("-", "−")
                if size.is_share else f"× {size.value:.3g}"
                for _, size in (ordered[0], ordered[-1])
            )  # fmt: skip
            model = ordered[0][0] if len(sizes_by_model) == 1 else f"{len(sizes_by_model)} models"
            rules.append(ReferenceLine(x=run, text=f"{' to '.join(ends)}{names[run]} · {model}"))
            sizes |= {
                name: abs(value if size.is_share else math.log(value))
                for name, size in ordered if (value := size.value)
            }  # fmt: skip
        leading = sorted(sizes, key=lambda name: -sizes[name])[:5]
        runs = max((len(course.results) for course in self.records), default=0)
        shared = plural(len(self.study.counts.tasks), "task")
        chart = curves(
            rows, x="run", y=metric.name, low="low", high="high", colour="model", rules=rules,
            title=f"{metric.name} over runs",
            subtitle=f"{shared} · {self.study.confidence.words()}", x_title="run",
            y_title=metric.name + {"$": " ($)", "s": " (s)"}.get(unit, ""), log_x=False,
            shares=unit == "share", y_domain=(0, 1) if unit == "share" else None,
            marked=range(1, runs + 1,
                max(1, runs * min(len(self.records), 5) // _MAX_RUNS_DRAWN_AS_POINTS)),
        )  # fmt: skip
        # The chart labels runs with their days if all models ran once per day on the same days.
        days: dict[float, set[str]] = {}
        for course in self.records:
            for place, label in enumerate(course.recorded_runs.runs, 1):
                days.setdefault(place, set()).add(label.time[5:10])
        dated = len({day for dates in days.values() for day in dates}) == len(days)
        day_names = {run: min(dates) for run, dates in days.items()} if dated else {}
        return (replace(chart, leading_models=tuple(leading), x_tick_labels=day_names),)


class RunTable(ReportSection[Result]):
    """One row per run, with the metric and the change at this run."""

    title = "Runs"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("run", meaning="Name of the run.",
            cell_of_record=lambda fact: fact.extra_fields["run"]),
        Column("at", meaning="Time of the run, in UTC.",
            cell_of_record=lambda fact: fact.extra_fields["at"][:16]),
        Column("revision", meaning="Revision of the run.",
               cell_of_record=lambda fact: fact.extra_fields["revision"]),
        _METRIC_VALUES_COLUMN,
        Column("change", "share", cell_of_record=lambda fact: fact.extra_fields["change"],
            exists_in_section=_is_metric_searched_for_changes,
               meaning="Size of a change that begins at this run. For costs, a ratio."),
    )  # fmt: skip


class TrendRunner(CommandRunner, TrendOptions):
    """Reads the history of `passk trend` and computes the report."""

    sections = (ModelTrendTable, RunTable)

    missing_bounds_refusal: ClassVar[str] = "a history contains one number of passes per task"

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        confidence = options.confidence
        _ = confidence.method
        raise_parameter_error_if_any("contradicting-options", (
            self.acknowledge is not None and not self.fail,
            OptionWithValue("--acknowledge"), "this option needs a verdict on the newest runs",
            (SuggestedFix({"--fail": True}, "adds --fail"), SuggestedFix({"--acknowledge": None})),
        ))  # fmt: skip
        if self.fail and parse_metric(self.metrics).definition.is_ratio_of_means:
            raise ParameterError(
                OptionWithValue("--metric", self.metrics),
                "passk does not search for changes of a ratio, so no change can fail the command",
                settles=[SuggestedFix({"-m": "pass@1"})],
            )  # fmt: skip
        if confidence.level not in _ALPHA_BY_CONFIDENCE_LEVEL:
            raise ParameterError(
                OptionWithValue("--level", f"{confidence.level:g}"),
                "passk trend supports only the levels 0.9, 0.95 and 0.99", name="invalid-method",
                settles=[SuggestedFix({
                    "--level": min(_ALPHA_BY_CONFIDENCE_LEVEL,
                        key=lambda level: abs(level - confidence.level)),
                })],
            )  # fmt: skip
        metric = parse_metric(self.metrics)
        attempts = (
            (metric.definition.required_attempt_data,)
            if metric.definition.required_attempt_data
            else ()
        )
        request = replace(options.request, cluster=confidence.cluster, attempts=attempts)
        history = read_history_as_series_per_run(read, request, files=options.files)
        history = drop_incomplete_and_skipped_runs(history, self.skip_run)
        counts = with_attempts_of_known_amount(history, metric.definition.required_attempt_data)
        return Analysis(
            counts,
            (metric,),
            confidence.with_methods_for_metrics((metric,)),
            options.comparison_options,
        )

    def report(self, study: Analysis) -> Report:
        (metric,) = study.metrics
        all_setups = find_run_groups(study.counts)
        if metric.definition.amount_unit:
            attempts = study.counts.attempts[metric.definition.required_attempt_data]
            all_setups, messages = _run_groups_with_amounts(all_setups, attempts, metric)
            study = replace(study, reading_messages=messages)
        groups = tuple(n for n in study.counts.group_names if n not in RUN_AND_SETTINGS_COLUMNS)
        several = len({setup.suite for setup in all_setups}) > 1
        groups = (*groups, *["suite"] * several)
        names = [(*s.series, *[s.suite] * several) for s in all_setups]
        parts = [
            ((*name, f"{place:09d}"), cells)
            for name, setup in zip(names, all_setups, strict=True)
            for place, cells in enumerate(setup.cell_indices)
        ]
        counts = pool_runs(study.counts, parts, (*groups, "#run"))
        of_runs = replace(study, counts=counts)
        facts = {fact.series: fact for fact in of_runs.results()}
        pooled = counts.with_renamed_series([series[:-1] for series in counts.series], groups)
        pooled_study = replace(study, counts=pooled)
        courses = []
        for name, setup in zip(names, all_setups, strict=True):
            run_facts = tuple(
                replace(
                    facts[(*name, f"{place:09d}")], series=name, values=None,
                    extra_fields={**({} if several else {"suite": setup.suite}), "run": run.run,
                          "at": run.time, "revision": run.revision, "runs": 1},
                )
                for place, run in enumerate(setup.runs)
            )  # fmt: skip
            courses.append(_analyse_run_series(setup, name, run_facts, study))
        rows = [
            replace(fact, extra_fields={**fact.extra_fields, "change": sizes.get(place)})
            for course in courses
            for sizes in [{change.first_run_index: change.size for change in course.changes}]
            for place, fact in enumerate(course.results)
        ]
        courses = _adjust_p_values(courses)
        if self.fail:
            acknowledged = self._acknowledged_run(study.counts)
            courses = [course.with_verdict(metric, acknowledged) for course in courses]
        tables = ModelTrendTable(pooled_study, courses), RunTable(pooled_study, rows)
        report = build_report(pooled_study, tables)
        return replace(report, checks=tuple(c.verdict for c in courses if c.verdict))

    def _acknowledged_run(self, counts: Counts) -> RecordedRunIdentity | None:
        """The newest run that --acknowledge names, or None if the option is not given."""
        if self.acknowledge is None:
            return None
        runs = [run for rows in runs_by_suite_and_series(counts).values() for run, _ in rows]
        matches = [run for run in runs if self.acknowledge in (run.run, run.revision)]
        if not matches:
            names = {name for run in runs for name in (run.run, run.revision)}
            problem = (
                f"the history has no such run; {did_you_mean_or_list(self.acknowledge, names)}"
            )
            raise ParameterError(OptionWithValue("--acknowledge", self.acknowledge), problem)
        return max(matches)


def _adjust_p_values(courses: Sequence[RunSeries]) -> list[RunSeries]:
    tested = iter(holm([course.effect.p for course in courses if course.effect]).tolist())
    return [
        replace(course, run_effect_p_adjusted=MonteCarloP(p, course.run_effect_p_standard_error))
        if course.effect and (p := next(tested)) is not None else course
        for course in courses
    ]  # fmt: skip


def _run_groups_with_amounts(
    all_setups: Sequence[RunGroup], attempts: AttemptValuesByCell, metric: Metric
) -> tuple[list[RunGroup], tuple[Diagnostic, ...]]:
    values = np.nan_to_num(attempts.value, nan=1.0)
    spent = np.bincount(attempts.row_cell_indices, values, len(attempts.cell_offsets) - 1)
    noun, priced, messages = (
        AMOUNT_UNITS_AND_NOUNS[metric.definition.required_attempt_data][1],
        [],
        [],
    )
    for setup in all_setups:
        has_amount = spent[setup.cell_indices].sum(axis=1) > 0
        if has_amount.any():
            priced.append(setup.select_runs(has_amount))
        if not has_amount.all():
            free = setup.select_runs(~has_amount).runs
            messages.append(UNPRICED_RUNS(noun=noun, model=SeriesName(setup.series), runs=len(free),
                                      names=[run.run for run in free]))  # fmt: skip
    if not priced:
        raise DataError(
            "history", f"the {noun} of every attempt is 0",
            f"check that the agent reports the {noun}, or record the runs with prices",
            name="missing-cost",
        )  # fmt: skip
    return priced, tuple(messages)


def _analyse_run_series(
    setup: RunGroup, name: SeriesKey, facts: tuple[Result, ...], study: Analysis
) -> RunSeries:
    confidence, (metric,) = study.confidence, study.metrics
    values = np.array([fact.estimate.value for fact in facts])
    means, floors, sizes = values, chance_variances(setup.n, setup.c), (setup.n, setup.c)
    if metric.definition.amount_unit:
        attempts = study.counts.attempts[metric.definition.required_attempt_data]
        means, floors, sizes = _log_amount_statistics(attempts, setup)
    alpha = _ALPHA_BY_CONFIDENCE_LEVEL[confidence.level]
    points = (
        []
        if metric.definition.is_ratio_of_means
        else change_points(means, floors, counts=sizes, alpha=alpha)
    )
    edges = [
        max(len(means) - MAX_RUNS_FOR_FALSE_ALARM_RATE, 0),
        *(point.first_run for point in points),
        len(means),
    ]
    steps = []
    for point, begin, end in zip(points, edges, edges[2:], strict=False):
        levels = np.split(values[begin:end], [point.first_run - begin])
        before, after = (float(level.mean()) for level in levels)
        size = Estimate(after - before, signed=True)
        if metric.definition.amount_unit:
            size = Estimate(math.exp(point.mean_after - point.mean_before), unit="ratio")
        steps.append(LevelChange(point.first_run, point.detected_run, before, after, size))
    since = max(steps[-1].first_run_index if steps else 0, len(means) - _MAX_EFFECT_RUNS)
    effect, error = None, 0.0
    if len(means) - since > 1 and not metric.definition.amount_unit:
        n, c = setup.n[since:], setup.c[since:]
        effect = run_effect(n, c, level=confidence.level, seed=confidence.seed)
        error = math.sqrt(max(effect.p * (1 - effect.p), 1e-6) / run_effect_draw_count(n))
    start = max(steps[-1].first_run_index if steps else 0, edges[0])
    least = least_detectable_change(means[start:], floors[start:], alpha=alpha)
    return RunSeries(setup, name, facts, tuple(steps), since, effect, least, error)


def _log_amount_statistics(
    attempts: AttemptValuesByCell, setup: RunGroup
) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
    """Prepare the data for the search for changes of costs.

    Returns the two arrays of `run_mean_logs_and_variances`, and two matrices with one row per
    run and one column per task. The matrices contain the number of amounts, and the number of
    amounts above the median of the task. Amounts of 0 are left out, because 0 has no logarithm.
    """
    positive = (attempts.value > 0) & np.isin(attempts.row_cell_indices, setup.cell_indices)
    cell, count = attempts.row_cell_indices[positive], attempts.count[positive]
    value: Floats = attempts.value[positive].astype(np.float64)
    logs, cells = np.log(value), len(attempts.cell_offsets) - 1
    task_of = np.zeros(cells, dtype=np.int64)
    task_of[setup.cell_indices] = np.arange(setup.cell_indices.shape[1])
    above = are_amounts_above_task_divider(task_of[cell], value, count)
    n, total, squares, high = (
        np.bincount(cell, count * weight, cells)[setup.cell_indices]
        for weight in (np.ones(len(logs)), logs, logs**2, above)
    )
    has_amounts = n.any(axis=0)
    sizes = n[:, has_amounts].astype(np.int64), high[:, has_amounts].astype(np.int64)
    sums: list[Floats] = [table[:, has_amounts].astype(np.float64) for table in (total, squares)]
    return *run_mean_logs_and_variances(sizes[0], *sums), sizes
