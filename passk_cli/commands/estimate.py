"""passk estimate: every metric of every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from passk_cli.commands.command import Command, Question
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.option import Option
from passk_cli.report.words import first_few, plural
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.report.model import Note, Report
    from passk_cli.report.plot import Plot
    from passk_cli.study.fact import Fact
    from passk_cli.study.study import Study
    from passk_cli.study.values import TaskValues

# Shares of the variance from which on a note says where the uncertainty comes from.
_MOSTLY_TASKS, _MOSTLY_ATTEMPTS = 0.9, 0.5


@dataclass(frozen=True)
class Estimation(Question):
    """pass@k and pass^k of every model, with intervals.

    pass@k is the chance that at least one of k attempts passes; pass^k, that all k pass. The table
    has a row per model and a column per metric, each with its 95 % confidence interval.

    Example: passk estimate sample_data/tau_airline.csv

    Example: passk estimate sample_data/cruxeval.jsonl.gz -k 1,5 --by temperature
    """

    sort: Annotated[
        str,
        Option(
            "--sort",
            "COLUMN",
            "Order of the rows: a column. Default: the first metric.",
            detail="A column is model, a group, a metric or tasks. A minus before its name turns"
            " the order round.",
        ),
    ] = ""

    def report(self, study: Study) -> Report:
        """A row per model, a column per metric."""
        from passk_cli.study.pivot import pivot

        facts = study.facts()
        if study.confidence.method != "none":
            facts = _mark_best(study, facts)
        place = {series: at for at, series in enumerate(_order(study, facts, self.sort))}
        facts.sort(key=lambda fact: place[fact.series])
        return study.report(
            facts,
            [pivot(facts, study.counts.group_names)],
            caption=(study.sizes(facts), study.confidence.words(), study.hint),
            notes=(*study.notes(facts), *_source_notes(study, facts)),
            plots=partial(_dots, study, facts),
        )


COMMAND = Command(Estimation, (Request, Metrics, Confidence), charts=True)


def _mark_best(study: Study, facts: Sequence[Fact]) -> list[Fact]:
    """Mark the best model at each metric (of a group) when it is told apart from the second."""
    from passk_cli.study.comparison import difference_interval, match

    best_first = list(facts)
    rivals: dict[tuple[object, ...], list[tuple[int, TaskValues]]] = {}
    for place, fact in enumerate(facts):
        if fact.values is not None and fact.values.there:
            rivals.setdefault((fact.name, *fact.series[1:]), []).append((place, fact.values))
    for group in rivals.values():
        group.sort(key=lambda rival: -rival[1].mean)
        if len(group) < 2:
            continue
        place, first = group[0]
        # Where outcomes are missing, another than the second may come closest.
        seconds = group[1:] if study.bounded else group[1:2]
        pairs = [match(first, second) for _, second in seconds]
        lows = [None if p.reason else difference_interval(p, study.confidence).low for p in pairs]
        if all(low is not None and low > 0 for low in lows):
            best = facts[place]
            best_first[place] = replace(best, estimate=replace(best.estimate, marked=True))
    return best_first


def _dots(study: Study, facts: Sequence[Fact]) -> tuple[Plot, ...]:
    """A dot with its interval per model, a panel per metric; scores apart from shares."""
    from passk_cli.report.plot import forest
    from passk_cli.report.words import series_name

    subtitle = f"{study.sizes(facts)} · {study.confidence.words()}"
    pictures = []
    for share in (True, False):
        rows = [
            {
                "model": series_name(fact.series),
                "metric": fact.name,
                "estimate": fact.estimate.value,
                "low": fact.estimate.low,
                "high": fact.estimate.high,
            }
            for fact in facts
            if fact.estimate.share == share and fact.estimate.value is not None
        ]
        if rows:
            chart = forest(
                rows, label="model", value="estimate", low="low", high="high", facet="metric",
                rules=(), title="Estimates", subtitle=subtitle, x_title="" if share else "score",
            )  # fmt: skip
            pictures.append(chart if share else replace(chart, unit=""))
    return tuple(pictures)


def _order(study: Study, facts: Sequence[Fact], sort: str) -> list[tuple[str, ...]]:
    """Series in the order of a column: names ascending, numbers descending, empty ones last.

    sort : the column; "-" before it turns the order round.
    """
    named, back = sort.removeprefix("-"), sort.startswith("-")
    names = ("model", *study.counts.group_names)
    series = sorted(study.counts.series)
    if named in names:
        place = names.index(named)
        return sorted(series, key=lambda name: name[place], reverse=back)
    metrics = {metric.name.lower(): metric.name for metric in study.metrics}
    column = metrics.get(named.lower()) if named else study.metrics[0].name
    if named == "tasks":
        value = {fact.series: float(fact.size.tasks or 0) for fact in facts}
    elif column is not None:
        value = {
            fact.series: math.inf
            if fact.estimate.value is None
            else fact.estimate.value * (1 if back else -1)
            for fact in facts
            if fact.name == column
        }
        return sorted(series, key=lambda name: value[name])
    else:
        columns = ", ".join((*names, *metrics.values(), "tasks"))
        raise ParameterError(f"--sort {sort}: no such column; there are {columns}")
    return sorted(series, key=lambda name: value[name] * (1 if back else -1))


def _source_notes(study: Study, facts: Sequence[Fact]) -> list[Note]:
    """Where the uncertainty comes from, when one source dominates."""
    from passk_cli.report.model import Note

    confidence = study.confidence
    if confidence.population == THESE_TASKS or confidence.method == "none":
        return []
    shares: dict[str, list[float]] = {}
    noisy: list[tuple[str, float]] = []
    for fact in facts:
        within = None if fact.values is None else fact.values.share_within
        shares.setdefault(fact.name, []).append(math.nan if within is None else 1 - within)
        if within is not None and within >= _MOSTLY_ATTEMPTS and fact.values is not None:
            noisy.append((f"{fact.name} of {fact.values.name}", within))
    notes = []
    if noisy:
        least = math.floor(100 * min(within for _, within in noisy))
        notes.append(
            Note(
                f"{first_few([m for m, _ in noisy])}: {_at_least(least)} of the variance comes"
                " from too few attempts per task; more of them would narrow these intervals"
            )
        )
    by_tasks = {m: min(each) for m, each in shares.items() if all(s >= _MOSTLY_TASKS for s in each)}
    if by_tasks:
        count = max(fact.size.tasks or 0 for fact in facts)
        least = math.floor(100 * min(by_tasks.values()))
        notes.append(
            Note(
                f"{', '.join(by_tasks)}: {_at_least(least)} of the variance comes"
                f" from having {plural(count, 'task')};"
                " more tasks narrow these intervals, more attempts will not"
            )
        )
    return notes


def _at_least(percent: int) -> str:
    return "all" if percent >= 100 else f"at least {percent} %"
