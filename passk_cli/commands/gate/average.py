"""Averages over the suites of a gate, macro or micro, with intervals and verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rulebook import MICRO, AverageRules, Rulebook
from passk_cli.commands.gate.rules import DifferenceRule, MaxDrop, Minimum
from passk_cli.commands.gate.trial import Trial
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.sources.arguments import paths_of, read_paths
from passk_cli.inference.macro import macro_average
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric, needs
from passk_cli.report.model import Estimate
from passk_cli.report.words import SeriesName
from passk_cli.study.fact import Fact, Size
from passk_cli.study.rules import NOT_JUDGED
from passk_cli.study.values import AVERAGE, Series


def labels_of(parts: Sequence[GatePart]) -> list[dict[str, Series]]:
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


def statements(average: AverageRules | None, parts: Sequence[GatePart]) -> int:
    """How many verdicts on averages there are that chance can mislead."""
    if average is None:
        return 0
    waiting = any(part.entry and part.entry.first for part in parts)
    rules = len(average.minimum) * (average.min_by != "estimate")
    return len(labels_of(parts)) * (rules + len(average.max_drop) * (not waiting))


def averages(
    book: Rulebook | None, parts: Sequence[GatePart], runs: Sequence[Sequence[Trial | None]]
) -> list[list[Judgement]]:
    """The verdicts on averages over suites, of several runs.

    The average is Σ wᵢ mᵢ of the suites' means, or differences to their baselines.  Macro: wᵢ as
    the file has them; micro: the number of tasks.  Limits add up as those of independent suites,
    √(Σ wᵢ² dᵢ²), or without squares where suites share tasks of one file; see `macro_average`.

    runs : (parts × runs), None of a part that could not be read.  Returns (runs × verdicts), none
        where the file has no rule about averages.

    Errors: ParameterError for metrics of more than passes, and for missing outcomes that may pass
    or fail.
    """
    lines = list[list[Judgement]]()
    if book is None or (average := book.average) is None:
        return [[] for _ in runs[0]]
    for rule in (Minimum(average.minimum, average.min_by), MaxDrop(average.max_drop)):
        for metric in rule.named:
            if needs((metric,)) or any(part.trial and part.trial.study.bounded for part in parts):
                raise ParameterError(
                    f"average of {metric.name}: it is one of passes and failures, and of outcomes"
                    " that are all there; take another metric, or missing fail",
                    name="bad-rules",
                )
            labels = labels_of(parts)
            for series in labels:
                shown = f"{average.kind} average"
                if len(labels) > 1:
                    shown += f": {SeriesName(next(iter(series.values())))}"
                lines.append([
                    replace(line.counting(book.on_undecided), name=shown)
                    for line in _judged(book, rule, metric, series, parts, runs)
                ])  # fmt: skip
    return [list(each) for each in zip(*lines, strict=True)]


def _judged(
    book: Rulebook, rule: Minimum | MaxDrop, metric: Metric, series: Mapping[str, Series],
    parts: Sequence[GatePart], runs: Sequence[Sequence[Trial | None]],
) -> list[Judgement]:  # fmt: skip
    """One rule on the average of one model, of each run."""
    names = {SeriesName(each) for each in series.values()}
    model = names.pop() if len(names) == 1 else "the run"
    words, limit = rule.rule(metric)
    blank = Judgement(words, Fact((model, AVERAGE), metric.name, metric.k, Estimate(None)),
                      limit=limit)  # fmt: skip
    waiting = [part.name for part in parts if part.entry and part.entry.first]
    if isinstance(rule, DifferenceRule) and waiting:
        reason = f"no baseline yet in {waiting[0]}"
        return [blank.judged(NOT_JUDGED, ("no baseline yet",), reason)] * len(runs[0])
    apart = not any(_share(*pair) for pair in combinations(parts, 2))
    detail = "" if apart else "suites share tasks, so limits are as wide as they can make them"
    fixed = any(part.trial and part.trial.study.confidence.population == THESE_TASKS
                for part in parts)  # fmt: skip
    facts = [
        _facts(rule, metric, own, series.get(part.name))
        for part, own in zip(parts, runs, strict=True)
    ]
    lines = []
    for each in zip(*facts, strict=True):
        lacking = [
            part.name
            for part, fact in zip(parts, each, strict=True)
            if fact is None or None in (fact.estimate.value, fact.estimate.low)
        ]
        if lacking:
            lines.append(blank.unchecked(f"no number in suite {lacking[0]}"))
            continue
        fact = _average(book, parts, [fact for fact in each if fact], independent=apart)
        line = replace(blank, fact=replace(fact, series=(model,)), fixed_tasks=fixed,
                       details=(detail,) if detail else ())  # fmt: skip
        judged, kind = rule.worded(line), book.average and book.average.kind
        lines.append(replace(
            judged, fact=replace(judged.fact, series=(model, AVERAGE)),
            finding=(f"{kind} average: ", *judged.finding),
        ))  # fmt: skip
    return lines


def _average(
    book: Rulebook, parts: Sequence[GatePart], facts: Sequence[Fact], *, independent: bool
) -> Fact:
    """The average of the suites' numbers."""
    ends = [(f.estimate.value, f.estimate.low, f.estimate.high) for f in facts]
    means, lows, highs = zip(*ends, strict=True)
    ses = [math.nan if fact.se is None else fact.se for fact in facts]
    weights = [part.entry.suite.weight for part in parts if part.entry]
    if book.average and book.average.kind == MICRO:
        weights = [float(fact.size.tasks or 0) for fact in facts]
    mean = macro_average(means, ses, lows, highs, weights, level=book.each, independent=independent)
    n = [end for fact in facts for end in fact.size[1:] if end is not None]
    return replace(
        facts[0],
        estimate=replace(facts[0].estimate, value=mean.mean, low=mean.low, high=mean.high),
        se=None if facts[0].against else mean.se, flaw="", p=None, p_adjusted=None, values=None,
        size=Size(sum(fact.size.tasks or 0 for fact in facts), min(n), max(n)), level=book.each,
    )  # fmt: skip


def _facts(
    rule: Minimum | MaxDrop, metric: Metric, runs: Sequence[Trial | None], series: Series | None
) -> list[Fact | None]:
    """The number of one suite, of each run."""
    trials = []
    for trial in runs:
        if trial is None or series is None:
            return [None] * len(runs)
        confidence = trial.study.confidence.for_metrics((metric,))
        study = replace(trial.study, metrics=(metric,), confidence=confidence)
        trials.append(replace(trial, study=study))
    only = Minimum({metric: 0.0}) if isinstance(rule, Minimum) else MaxDrop({metric: 0.0})
    own = [[o for o in each if o.series == series] for each in only.outcomes(trials)]
    return [outcomes[0].words().fact if outcomes else None for outcomes in own]


def _share(one: GatePart, other: GatePart) -> bool:
    """Whether two suites have tasks of one name in one file."""
    try:
        files = [read_paths(paths_of(part.entry.options.files))
                 for part in (one, other) if part.entry]  # fmt: skip
    except DataError:
        return False
    tasks = [set(part.trial.sides.counts.tasks) for part in (one, other) if part.trial]
    return bool(files[0] & files[1]) and len(tasks) == 2 and bool(tasks[0] & tasks[1])
