"""Averages over the suites of a gate, macro or micro, with intervals and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rulebook import MICRO, AverageRules
from passk_cli.commands.gate.rules import DifferenceRule, MaxDrop, Minimum
from passk_cli.commands.gate.suites import SuitePart
from passk_cli.commands.gate.trial import Trial
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.sources.arguments import read_paths
from passk_cli.inference.macro import macro_average
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric, needs
from passk_cli.report.model import Estimate
from passk_cli.report.words import series_name
from passk_cli.study.fact import Fact, Size
from passk_cli.study.rules import FAIL, NOT_JUDGED, UNDECIDED
from passk_cli.study.values import Series

# The group of its rows.
AVERAGE = "average"


def labels_of(parts: Sequence[SuitePart]) -> list[dict[str, Series]]:
    """The models that are averaged: suite → its series.

    Where every suite has one model, these, whatever they are called; else those of one name.
    """
    read = {part.name: part.trial.sides.series for part in parts if part.trial is not None}
    if all(len(series) == 1 for series in read.values()):
        return [{name: series[0] for name, series in read.items()}]
    every = dict.fromkeys(series for several in read.values() for series in several)
    return [
        {name: series for name, several in read.items() if series in several} for series in every
    ]


def statements(average: AverageRules | None, parts: Sequence[SuitePart]) -> int:
    """How many verdicts on averages there are that chance can mislead."""
    if average is None:
        return 0
    waiting = any(part.asked.entry.first for part in parts)
    rules = len(average.minimum) * (average.min_by != "estimate")
    return len(labels_of(parts)) * (rules + len(average.max_drop) * (not waiting))


def averages(
    average: AverageRules, parts: Sequence[SuitePart], level: float, on_undecided: str
) -> list[Judgement]:
    """The verdicts on averages over suites.

    The average is Σ wᵢ mᵢ of the suites' means, or differences to their baselines.  Macro: wᵢ as
    the file has them; micro: the number of tasks.  Limits add up as those of independent suites,
    √(Σ wᵢ² dᵢ²), or without squares where suites share tasks of one file; see `macro_average`.

    level : of one verdict.  on_undecided : "pass" or "fail".
    Errors: ParameterError for metrics of more than passes, and for missing outcomes that may pass
    or fail.
    """
    lines = []
    for rule in (Minimum(average.minimum, average.min_by), MaxDrop(average.max_drop)):
        for metric in rule.named:
            if needs((metric,)) or any(part.trial and part.trial.study.bounded for part in parts):
                raise ParameterError(
                    f"average of {metric.name}: it is one of passes and failures, and of outcomes"
                    " that are all there; take another metric, or missing fail",
                    name="bad-rules",
                )
            for series in labels_of(parts):
                line = _judged(average, rule, metric, series, parts, level)
                names = {series_name(each) for each in series.values()}
                several = len(labels_of(parts)) > 1
                shown = f"{average.kind} average"
                if several:
                    shown += f": {next(iter(names))}"
                failing = line.verdict in (FAIL, "error")
                failing |= line.verdict == UNDECIDED and on_undecided == FAIL
                lines.append(replace(line, name=shown, failing=failing))
    return lines


def _judged(
    average: AverageRules, rule: Minimum | MaxDrop, metric: Metric, series: Mapping[str, Series],
    parts: Sequence[SuitePart], level: float,
) -> Judgement:  # fmt: skip
    """One rule on the average of one model."""
    names = {series_name(each) for each in series.values()}
    model = names.pop() if len(names) == 1 else "the run"
    words, limit = rule.rule(metric)
    blank = Judgement(words, Fact((model, AVERAGE), metric.name, metric.k, Estimate(None)),
                      limit=limit)  # fmt: skip
    waiting = [part.name for part in parts if part.asked.entry.first]
    if isinstance(rule, DifferenceRule) and waiting:
        return blank.judged(NOT_JUDGED, ("no baseline yet",), f"no baseline yet in {waiting[0]}")
    facts: list[Fact] = []
    for part in parts:
        own = part.trial and part.name in series and _fact(
            rule, metric, part.trial, series[part.name]
        )  # fmt: skip
        if not own or own.estimate.value is None or own.estimate.low is None:
            return blank.unchecked(f"no number in suite {part.name}")
        facts.append(own)
    z = NormalDist().inv_cdf((1 + level) / 2)
    ends = [(f.estimate.value, f.estimate.low, f.estimate.high) for f in facts]
    means, lows, highs = ([v for v in each if v is not None] for each in zip(*ends, strict=True))
    ses = [
        (high - low) / (2 * z) if fact.se is None else fact.se
        for fact, low, high in zip(facts, lows, highs, strict=True)
    ]
    weights = [part.asked.entry.suite.weight for part in parts]
    if average.kind == MICRO:
        weights = [float(fact.size.tasks or 0) for fact in facts]
    apart = not any(_share(*pair) for pair in combinations(parts, 2))
    mean = macro_average(means, ses, lows, highs, weights, level=level, independent=apart)
    n = [end for fact in facts for end in fact.size[1:] if end is not None]
    fact = replace(
        facts[0], series=(model,),
        estimate=replace(facts[0].estimate, value=mean.mean, low=mean.low, high=mean.high),
        se=None if facts[0].against else mean.se, flaw="", p=None, p_adjusted=None, values=None,
        size=Size(sum(fact.size.tasks or 0 for fact in facts), min(n), max(n)), level=level,
    )  # fmt: skip
    detail = "" if apart else "suites share tasks, so limits are as wide as they can make them"
    fixed = any(part.trial and part.trial.study.confidence.population == THESE_TASKS
                for part in parts)  # fmt: skip
    line = replace(blank, fact=fact, details=(detail,) if detail else (), fixed_tasks=fixed)
    judged = rule.worded(line)
    fact = replace(judged.fact, series=(model, AVERAGE))
    return replace(judged, fact=fact, finding=(f"{average.kind} average: ", *judged.finding))


def _fact(rule: Minimum | MaxDrop, metric: Metric, trial: Trial, series: Series) -> Fact | None:
    """The number of one suite."""
    confidence = trial.study.confidence.for_metrics((metric,))
    study = replace(trial.study, metrics=(metric,), confidence=confidence)
    own = replace(trial, study=study)
    only = Minimum({metric: 0.0}) if isinstance(rule, Minimum) else MaxDrop({metric: 0.0})
    return next((line.fact for line in only.judge(own) if line.fact.series == series), None)


def _share(one: SuitePart, other: SuitePart) -> bool:
    """Whether two suites have tasks of one name in one file."""
    files = []
    for part in (one, other):
        try:
            files.append(read_paths(part.asked.options.files))
        except DataError:
            return False
    tasks = [set(part.trial.sides.counts.tasks) for part in (one, other) if part.trial]
    return bool(files[0] & files[1]) and len(tasks) == 2 and bool(tasks[0] & tasks[1])
