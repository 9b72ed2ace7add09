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
from passk_cli.report.words import numbers_of_models, series_name
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.message import Said
    from passk_cli.report.model import Estimate, Report, Sentence
    from passk_cli.report.plot import Plot
    from passk_cli.study.fact import Fact
    from passk_cli.study.study import Study

# Shares of the variance from which on a note says where the uncertainty comes from.
_MOSTLY_TASKS, _MOSTLY_ATTEMPTS = 0.9, 0.5

# Said where differences are not tested.
UNTESTED = "passk compare tests which differences are significant"


@dataclass(frozen=True)
class Estimation(Question):
    """pass@k and pass^k of every model, with intervals.

    pass@k is the probability that at least one of k attempts passes; pass^k, that all k pass. The
    table has a row per model and a column per metric, each with its 95 % confidence interval.

    Example: passk estimate sample_data/tau_airline.csv

    Example: passk estimate sample_data/cruxeval.jsonl.gz -k 1,5 --by temperature
    """

    sort: Annotated[
        str,
        Option(
            "--sort",
            "COLUMN",
            "Sort rows by a column (default: the first metric).",
            detail="A column is model, a group, a metric or tasks. A minus before its name turns"
            " the order round.",
        ),
    ] = ""

    def report(self, study: Study) -> Report:
        """A row per model, a column per metric."""
        from passk_cli.study.pivot import pivot

        facts = study.facts()
        place = {series: at for at, series in enumerate(_order(study, facts, self.sort))}
        facts.sort(key=lambda fact: place[fact.series])
        return study.report(
            facts,
            [pivot(facts, study.counts.group_names)],
            answer=(estimate_answer(study, facts),),
            context=(study.sizes(facts), study.confidence.words(), _empty(facts), study.hint),
            messages=(*study.messages(facts), *_source_notes(study, facts), *_compare_note(study)),
            plots=partial(_dots, study, facts),
        )


COMMAND = Command(Estimation, (Request, Metrics, Confidence), charts=True)


def estimate_answer(study: Study, facts: Sequence[Fact]) -> Sentence:
    """The first metric that has a value: of the one model, or from the lowest to the highest.

    Of one model whose pass@k and pass^k are there, it also says them at the largest k of each.
    """
    from passk_cli.study.extremes import bare, named, range_of

    groups = study.counts.group_names
    valued = [fact for fact in facts if fact.estimate.value is not None]
    first = valued[0].name if valued else facts[0].name
    same = [fact for fact in facts if fact.name == first]
    if len(same) > 1 or not valued:
        return range_of(same, groups)
    number = valued[0]
    begin = (f"{first} of {named(number.series, groups)} is ", bare(number.estimate))
    far = [_farthest(valued, family) for family in ("pass@", "pass^")]
    at, hat = (None if fact is None or fact is number else fact for fact in far)
    if at is None or hat is None or at.k != hat.k:
        return (*begin, ".")
    return (
        *begin, f". Of {at.k} attempts, at least one passes with probability ", _value(at),
        f" ({at.name}), and all pass with probability ", _value(hat), f" ({hat.name}).",
    )  # fmt: skip


def _farthest(facts: Sequence[Fact], family: str) -> Fact | None:
    """The number of a family at its largest k, above 1."""
    ks = [fact for fact in facts if (fact.k or 0) > 1 and fact.name == f"{family}{fact.k}"]
    return max(ks, key=lambda fact: fact.k or 0, default=None)


def _value(fact: Fact) -> Estimate:
    """Without its interval, which the table has."""
    from passk_cli.report.model import Estimate

    return Estimate(fact.estimate.value, upper=fact.estimate.upper, share=fact.estimate.share)


def _empty(facts: Sequence[Fact]) -> str:
    """What the sign of an empty cell means, where there is one."""
    empty = any(fact.estimate.value is None for fact in facts)
    return "–: some tasks have fewer than k attempts" * empty


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


def _source_notes(study: Study, facts: Sequence[Fact]) -> list[Said]:
    """Where the uncertainty comes from, when one source dominates."""
    from passk_cli.report.model import Note

    confidence = study.confidence
    if confidence.population == THESE_TASKS or confidence.method == "none":
        return []
    shares: dict[str, list[float]] = {}
    noisy: list[tuple[str, str, float]] = []
    for fact in facts:
        within = None if fact.values is None else fact.values.share_within
        shares.setdefault(fact.name, []).append(math.nan if within is None else 1 - within)
        if within is not None and within >= _MOSTLY_ATTEMPTS:
            noisy.append((fact.name, series_name(fact.series), within))
    notes = []
    if noisy:
        least = math.floor(100 * min(within for *_, within in noisy))
        whom = numbers_of_models([(name, model) for name, model, _ in noisy])
        notes.append(
            Note(
                f"more attempts per task narrow these intervals: {whom} ({_at_least(least)} of the"
                " variance is between attempts at one task)"
            )
        )
    by_tasks = {m: min(each) for m, each in shares.items() if all(s >= _MOSTLY_TASKS for s in each)}
    if by_tasks:
        least = math.floor(100 * min(by_tasks.values()))
        notes.append(
            Note(
                f"more tasks narrow the intervals of {', '.join(by_tasks)}, more attempts do not"
                f" ({_at_least(least)} of the variance is between tasks)"
            )
        )
    return notes


def _compare_note(study: Study) -> list[Said]:
    """Where differences are tested, as here they are not."""
    from passk_cli.report.model import Note

    several = len({model for model, *_ in study.counts.series}) > 1
    return [Note(UNTESTED)] * several


def _at_least(percent: int) -> str:
    return "all" if percent >= 100 else f"at least {percent} %"
