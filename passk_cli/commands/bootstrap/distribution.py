"""The bootstrap distribution of every metric of every model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.inference.intervals import GUARDED, GUARDED_T, METHODS, TANGO, check
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.ranking import lead_shares
from passk_cli.inference.rounding import ROUNDING
from passk_cli.message import Said
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Estimate, Limits, Note, Report, Sentence, Table
from passk_cli.report.plot import Plot, densities
from passk_cli.report.words import numbers_of_models, plural, series_name
from passk_cli.study.confidence import Confidence
from passk_cli.study.extremes import bare, range_of
from passk_cli.study.fact import Fact
from passk_cli.study.lead import attempts_agree, lead_words, on_shared_tasks, resampled_means
from passk_cli.study.pivot import head
from passk_cli.study.study import Study
from passk_cli.study.values import TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

    Draws = NDArray[np.float64]

USUAL = {
    NEW_TASKS: ("guard", "percentile", "bca", "t"),
    THESE_TASKS: ("hull", "jackknife", "percentile"),
}


@dataclass(frozen=True)
class Distribution:
    """One model × metric: its draws and what follows from them.

    estimates : its mean with the limits of each method.
    leads : share of the draws in which it is in the lead at this metric (in its group), ties
        shared; None where attempts differ between the models.
    """

    values: TaskValues
    draws: Draws
    estimates: tuple[Fact, ...]
    leads: float | None = None

    @property
    def rivals(self) -> tuple[object, ...]:
        """What it shares with the models that it is compared with: the metric and the group."""
        return (self.values.metric, *self.values.series[1:])

    @property
    def bias(self) -> float:
        """Mean of the draws minus the estimate."""
        return float(self.draws.mean()) - self.values.mean

    @property
    def se(self) -> float:
        """Standard deviation of the draws."""
        return float(self.draws.std(ddof=1))

    @property
    def shares(self) -> tuple[float | None, float | None]:
        """Shares of the variance from tasks and from attempts; None where unknown."""
        within = self.values.share_within
        return (None if within is None else 1 - within), within

    @property
    def facts(self) -> Iterator[Fact]:
        """Its tidy rows, one per method."""
        tasks, attempts = self.shares
        more = {"bias": self.bias, "leads": self.leads, "share_tasks": tasks,
                "share_attempts": attempts}  # fmt: skip
        return (replace(fact, se=self.se, more=more) for fact in self.estimates)


def choose_methods(counts: Counts, names: Sequence[str], confidence: Confidence) -> tuple[str, ...]:
    """The interval methods asked for: names, "all" that apply, or the usual ones when none."""
    population, level = confidence.population, confidence.level
    if tuple(names) == ("all",):
        single = int(counts.n.max()) == 1 and counts.clusters is None
        suitable = [m for m, method in METHODS.items() if population in method.populations]
        others = () if single else ("wilson", "clopper-pearson")
        return tuple(m for m in suitable if m not in (GUARDED_T, TANGO, *others))
    if not names:
        return USUAL[population]
    return tuple(check(name, level, population) for name in names)


def applicable(metric: Metric, methods: Sequence[str], confidence: Confidence) -> tuple[str, ...]:
    """The methods that can answer: without known bounds BCa stands in for those that need them."""
    if metric.bounds is not None or confidence.bounds is not None:
        return tuple(methods)
    return tuple(dict.fromkeys("bca" if m in GUARDED else m for m in methods))


def bootstrap_report(
    study: Study, names: Sequence[str] = (), kind: str = "multinomial", target: str | None = None
) -> Report:
    """Estimate, bias, standard error, intervals side by side, and who leads.

    names : of interval methods, see `choose_methods`.  kind : of the weights.
    target : the file for the draws, if any.
    """
    confidence = study.confidence
    methods = choose_methods(study.counts, names, confidence)
    # The caption and the signature name all methods; a number by itself has none yet.
    plain = replace(study, confidence=replace(confidence, interval="none"))
    values = plain.values()
    lines = [plain.fact(rates) for rates in values]
    distributions = _distributions(study, values, methods, kind)
    methods_used = dict.fromkeys(fact.method for d in distributions for fact in d.estimates)
    population = confidence.population.replace("-", " ")
    clustered = f", clustered by {confidence.cluster}" if confidence.cluster else ""
    caption = (
        f"{study.sizes(lines)} · {confidence.resamples:,} {kind} resamples for"
        f" {population}{clustered}, seed {confidence.seed} · {100 * confidence.level:g} %"
    )
    drawn = "tasks" if confidence.population == NEW_TASKS else "attempts"
    led = any(d.leads is not None for d in distributions)
    report = plain.report(
        [fact for d in distributions for fact in d.facts],
        _tables(study, distributions, methods),
        answer=(bootstrap_answer(study, distributions, lines),),
        context=(
            f"{caption} confidence intervals",
            *_signs(distributions),
            lead_words(confidence.resamples, drawn) if led else "",
        ),
        messages=(*plain.messages(lines), *_notes(study, distributions, methods)),
        plots=partial(
            _charts, study.metrics, distributions, f"{caption} confidence intervals ({methods[0]})"
        ),
        interval=None,
        intervals=",".join(methods_used),
        level=confidence.level,
        population=confidence.population,
        weights=kind,
        cluster=confidence.cluster,
        bounds=confidence.bounds_text,
        resamples=confidence.resamples,
        seed=confidence.seed,
    )
    columns = {} if target is None else {target: draw_columns(study.counts, distributions)}
    return replace(report, exports=columns)


def bootstrap_answer(
    study: Study, distributions: Sequence[Distribution], lines: Sequence[Fact]
) -> Sentence:
    """By how much a limit depends on the method, at most; of one method, the first interval.

    lines : the numbers without intervals, which say why there are none.
    """
    if not distributions:
        return range_of(lines[:1], study.counts.group_names)
    gaps = [gap for d in distributions for gap in _gaps(d)]
    if not gaps:
        return _first_interval(distributions[0])
    # Of gaps equal but for rounding, the first.
    gap, number, narrow, wide = max(gaps, key=lambda each: round(each[0], 12))
    share = number.values.metric.unit == "share"
    if gap <= ROUNDING:
        return ("The method does not matter: all intervals are equal.",)
    return (
        "The method changes a limit by up to ", Estimate(gap, share=share),
        f" ({number.values.metric.name} of {number.values.name}: {narrow.method} ",
        _limits(narrow), f", {wide.method} ", _limits(wide), ").",
    )  # fmt: skip


def _gaps(d: Distribution) -> Iterator[tuple[float, Distribution, Fact, Fact]]:
    """How far the lower, and the upper, limits of two methods lie apart at most, and which two."""
    bounded = [fact for fact in d.estimates if fact.estimate.low is not None]
    for limit in (_low, _high):
        if len(bounded) > 1:
            least, most = min(bounded, key=limit), max(bounded, key=limit)
            yield limit(most) - limit(least), d, least, most


def _low(fact: Fact) -> float:
    return float(fact.estimate.low or 0.0)


def _high(fact: Fact) -> float:
    return float(fact.estimate.high or 0.0)


def _limits(fact: Fact) -> tuple[Cell, Column]:
    unit = "share" if fact.estimate.share else "score"
    return Limits(fact.estimate.low, fact.estimate.high), Column("", unit)


def _first_interval(d: Distribution) -> Sentence:
    number = d.estimates[0]
    begin = (f"{d.values.metric.name} of {d.values.name} is ", bare(number.estimate))
    share = d.values.metric.unit == "share"
    return (*begin, f" ({number.method}), with standard error ", Estimate(d.se, share=share), ".")


def _signs(distributions: Sequence[Distribution]) -> Iterator[str]:
    """What the columns mean."""
    if distributions:
        yield "bias: mean of the resamples − estimate"
        yield "se: standard error"
        yield "from tasks, from attempts: shares of the variance"
    if any(None in d.shares for d in distributions):
        yield "–: cannot be computed"


def _distributions(
    study: Study, values: Iterable[TaskValues], methods: Sequence[str], kind: str
) -> list[Distribution]:
    """The distributions of what has a value, in its order."""
    confidence = study.confidence
    estimable = [rates for rates in values if rates.there]
    draws = _draws(estimable, confidence, kind)
    distributions = []
    for rates, means in zip(estimable, draws, strict=True):
        suitable = applicable(rates.metric, methods, confidence)
        estimates = (study.fact(rates, replace(confidence, interval=method)) for method in suitable)
        distributions.append(Distribution(rates, means, tuple(estimates)))
    return _with_leads(distributions, confidence, kind)


def _draws(values: Sequence[TaskValues], confidence: Confidence, kind: str) -> list[Draws]:
    """Draws of each; those over the same tasks share their weights."""
    if confidence.population != NEW_TASKS:
        return [rates.attempt_draws(confidence) for rates in values]
    together: dict[bytes, list[int]] = {}
    for i, rates in enumerate(values):
        together.setdefault(rates.tasks.tobytes(), []).append(i)
    draws: dict[int, Draws] = {}
    for places in together.values():
        means = resampled_means([values[i] for i in places], confidence, kind)
        draws |= dict(zip(places, means.T, strict=True))
    return [draws[i] for i in range(len(values))]


def _with_leads(
    distributions: Sequence[Distribution], confidence: Confidence, kind: str
) -> list[Distribution]:
    """The same with the share of the draws in which each leads its group at its metric.

    Nothing where attempts differ between models: see `lead.attempts_agree`.
    """
    leads: dict[int, float] = {}
    for places in _rivals(distributions).values():
        models = [distributions[i].values for i in places]
        if len(places) < 2 or not attempts_agree(models):
            continue
        draws = np.stack([distributions[i].draws for i in places], axis=1)
        if confidence.population == NEW_TASKS and len({m.tasks.tobytes() for m in models}) > 1:
            shared = on_shared_tasks(models)
            if not len(shared[0].tasks):
                continue
            draws = resampled_means(shared, confidence, kind)
        leads |= dict(zip(places, lead_shares(draws).tolist(), strict=True))
    return [replace(d, leads=leads.get(i)) for i, d in enumerate(distributions)]


def _rivals(distributions: Sequence[Distribution]) -> dict[tuple[object, ...], list[int]]:
    """The places of those that are compared with each other."""
    rivals: dict[tuple[object, ...], list[int]] = {}
    for i, d in enumerate(distributions):
        rivals.setdefault(d.rivals, []).append(i)
    return rivals


def draw_columns(counts: Counts, distributions: Sequence[Distribution]) -> dict[str, Any]:
    """The draws as columns: resample, model, groups, metric, value; one row per draw."""
    count = len(distributions[0].draws) if distributions else 0

    def repeated(texts: list[str]) -> NDArray[np.object_]:
        return np.repeat(np.array(texts, dtype=object), count)

    columns: dict[str, Any] = {"resample": np.tile(np.arange(count), len(distributions))}
    for place, name in enumerate(("model", *counts.group_names)):
        columns[name] = repeated([d.values.series[place] for d in distributions])
    columns["metric"] = repeated([d.values.metric.name for d in distributions])
    draws = [d.draws for d in distributions]
    return {**columns, "value": np.concatenate(draws) if draws else np.empty(0)}


def _notes(
    study: Study, distributions: Sequence[Distribution], methods: Sequence[str]
) -> Iterator[Said]:
    """Which intervals are left out or special, and what leads rests on."""
    confidence = study.confidence
    lacking = [m.name for m in study.metrics if applicable(m, methods, confidence) != methods]
    if lacking:
        guarded = ", ".join(m for m in methods if m in GUARDED)
        why = "needs the lowest and highest possible score: add --bounds LOW,HIGH"
        yield Note(f"{', '.join(lacking)} without {guarded}, which {why}")
    yield from _flaws(distributions)
    if confidence.population == NEW_TASKS:
        yield from _unshared_notes([d for d in distributions if d.leads is not None])
    alone = {rivals for rivals, places in _rivals(distributions).items() if len(places) < 2}
    if any(d.leads is None and d.rivals not in alone for d in distributions):
        yield Note("leads is empty where attempts differ between models")


def _flaws(distributions: Sequence[Distribution]) -> Iterator[Said]:
    """What is special about intervals, once each, with the methods and numbers it is true of."""
    methods: dict[str, dict[str, None]] = {}
    numbers: dict[str, list[tuple[str, str]]] = {}
    for fact in (fact for d in distributions for fact in d.estimates if fact.flaw):
        methods.setdefault(fact.flaw, {})[fact.method] = None
        numbers.setdefault(fact.flaw, []).append((fact.name, series_name(fact.series)))
    for flaw, pairs in numbers.items():
        whom = numbers_of_models(list(dict.fromkeys(pairs)))
        yield Note(f"{', '.join(methods[flaw])} at {whom}: {flaw}")


def _unshared_notes(distributions: Sequence[Distribution]) -> list[Said]:
    """A warning for each comparison of models, per metric and group, that leaves tasks out."""
    lost: dict[str, list[str]] = {}
    for places in _rivals(distributions).values():
        models = [distributions[i].values for i in places]
        tasks = [set(rates.tasks.tolist()) for rates in models]
        every, shared = set.union(*tasks), set.intersection(*tasks)
        if len(shared) < len(every):
            group = models[0].series[1:]
            place = f" in {' '.join(group)}" if group else ""
            part = f"the {plural(len(shared), 'task')} that all models have{place}"
            lost.setdefault(f"{part}, of {len(every):,}", []).append(models[0].metric.name)
    return [
        Note(f"leads at {', '.join(names)} rests on {part}", "warning")
        for part, names in lost.items()
    ]


def _tables(
    study: Study, distributions: Sequence[Distribution], methods: Sequence[str]
) -> Iterator[Table]:
    """A table per metric that some model has a value of, the best model first."""
    for metric in study.metrics:
        models = [d for d in distributions if d.values.metric == metric]
        models.sort(key=lambda d: (-d.values.mean, d.values.series))
        shown = any(d.leads is not None for d in models)
        unit = metric.unit
        fine_unit = "fine" if unit == "share" else unit
        suitable = applicable(metric, methods, study.confidence)
        columns = (
            *head(study.counts.group_names), Column("estimate", unit), Column("bias", fine_unit),
            Column("se", fine_unit), *(Column(method, unit) for method in suitable),
            *[Column("leads", "share")] * shown, Column("from tasks", "share"),
            Column("from attempts", "share"),
        )  # fmt: skip
        if models:
            yield Table(columns, tuple(_row(d, shown) for d in models), metric.name)


def _row(d: Distribution, leads: bool) -> tuple[Cell, ...]:
    limits = (Limits(f.estimate.low, f.estimate.high, f.flaw) for f in d.estimates)
    return (*d.values.series, d.values.mean, d.bias, d.se, *limits, *[d.leads] * leads, *d.shares)


def _charts(
    metrics: Sequence[Metric], distributions: Sequence[Distribution], caption: str
) -> tuple[Plot, ...]:
    """The densities of the draws, a panel per metric, with estimate and first interval."""
    if not distributions:
        return ()
    first = {d.values.series: d for d in reversed(distributions)}
    series = sorted(first, key=lambda s: (-first[s].values.mean, s))
    place = {(d.values.series, d.values.metric): d for d in distributions}
    rows = []
    for d in (place.get((s, metric)) for metric in metrics for s in series):
        if d is not None:
            estimate = d.estimates[0].estimate
            rows.append(
                {
                    "model": d.values.name, "metric": d.values.metric.name,
                    "estimate": estimate.value, "low": estimate.low, "high": estimate.high,
                    "draws": d.draws,
                }
            )  # fmt: skip
    chart = densities(
        rows, label="model", draws="draws", value="estimate", low="low", high="high",
        facet="metric", title="Bootstrap distributions", subtitle=caption,
    )  # fmt: skip
    return (chart,)
