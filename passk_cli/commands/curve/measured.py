"""Counts → curves over k with bands, Δ_k, gains and moments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.curve.curves import (
    CURVES,
    UNEVEN,
    Climb,
    Curves,
    facts_of,
    plots,
    signs,
    tables,
)
from passk_cli.commands.curve.grid import POINTWISE, SIMULTANEOUS, Grid, steps
from passk_cli.commands.curve.stretches import Stretch, banded, stretches_of
from passk_cli.commands.curve.words import (
    EVEN,
    LIMITS,
    SKEWNESS,
    certainty,
    curve_answer,
    length_notes,
    missing_notes,
    uneven_certainty,
)
from passk_cli.errors import ParameterError
from passk_cli.inference.heterogeneity import (
    Setting,
    Spread,
    both_gains,
    gains,
    spread_of_rates,
)
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.limits import MOST_CURVE
from passk_cli.metrics.pass_k import at_pairs, curve_blocks
from passk_cli.metrics.polynomials import Expectation, Polynomial
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Estimate, Note, Report
from passk_cli.report.words import plural, span
from passk_cli.study.fact import Fact
from passk_cli.study.notes import flaw_notes
from passk_cli.study.study import Study
from passk_cli.study.values import require_monotone

if TYPE_CHECKING:
    from numpy.typing import NDArray

# k's (tasks × k's without draws) computed at once for Δ_k: bounds the memory.
_BLOCK_KS, _BLOCK_CELLS = 64, 1 << 21
_NO_GAINS = (
    "what more attempts gain is left out: it may be largest with some missing outcomes passing and"
    " others failing"
)
_COUNT = "a count of these tasks as they were attempted"


@dataclass(frozen=True)
class Growth(Metric):
    """How much pass@k exceeds pass@start in each task."""

    start: int = 1

    @property
    def name(self) -> str:
        """As the tidy rows call it."""
        return f"pass@{self.k}-pass@{self.start}"

    def values(self, n: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.float64]:
        """Its values at each (n, c) pair, in [0, 1]; NaN where n < k."""
        return at_pairs(n, c, self.k) - at_pairs(n, c, self.start)

    @property
    def expectation(self) -> Expectation | None:
        """(1 − p)^start − (1 − p)^k, at any k."""
        return Polynomial(((0.0, 1.0, 0, self.start), (0.0, -1.0, 0, self.k))), False


def curve_report(
    study: Study,
    grid: Grid,
    further: Sequence[Metric] = (),
    shown: Sequence[str] = CURVES,
    *,
    band: str = POINTWISE,
    delta: bool = False,
) -> Report:
    """pass@k and pass^k over k for every model, what more attempts gain, and Δ_k when asked for.

    further : curves of other metrics, each as the metric at k = 1.  shown : which of CURVES.
    band : POINTWISE, or SIMULTANEOUS to hold both curves of a model at all k together.
    delta : whether what uneven tasks do is told as well.
    """
    _check_reach(grid, int(study.counts.n.max()))
    confidence, together = study.confidence, band == SIMULTANEOUS
    by_series = [stretches_of(study, s, grid) for s in study.best_first]
    if together:
        by_series = [[model] for model in banded([model for [model] in by_series], confidence)]
    if study.bounded:
        every, drawn = _at_both_ends(study, grid, further)
    else:
        every = drawn = [
            _curves(study, s, stretches, further, delta)
            for s, stretches in zip(study.best_first, by_series, strict=True)
        ]
    every, drawn = (
        [model.only(shown, every_k=bool(grid.ks)) for model in some] for some in (every, drawn)
    )
    points = [p for model in every for name in model.measured for p in model.points[name]]
    sizes = study.sizes(points)
    intervals = certainty(confidence, [model[0].level for model in by_series] if together else ())
    uneven = uneven_certainty(confidence)
    return study.report(
        facts_of(every),
        tables(every, study.counts.group_names),
        answer=(curve_answer(every, study.counts.group_names),),
        context=(sizes, intervals, *signs(every), f"Δ_k, deficit, sd, skewness: {uneven}" * delta),
        messages=(
            *study.messages(()),
            *[Note(_NO_GAINS)] * study.bounded,
            *length_notes(study, by_series, grid.max_k),
            *flaw_notes(points),
            *missing_notes(every),
        ),
        plots=partial(plots, drawn, f"{sizes} · {intervals}", uneven),
        **_signature(study, every, grid, band, delta),
    )


def _at_both_ends(
    study: Study, grid: Grid, further: Sequence[Metric]
) -> tuple[list[Curves], list[Curves]]:
    """The curves as ranges, from missing outcomes failing to their passing; and both, to be drawn.

    What more attempts gain is left out: it does not rise with every pass.
    Errors: ParameterError for intervals or curves of which the same is true.
    """
    study.confidence.required_steady()
    require_monotone(further)
    failing, passing = (
        [_curves(end, s, stretches_of(end, s, grid), further, False) for s in study.best_first]
        for end in study.ends
    )
    ranges = [low.across(high) for low, high in zip(failing, passing, strict=True)]
    drawn = []
    for words, end in (("missing fail", failing), ("missing pass", passing)):
        drawn += [replace(c, series=(f"{c.series[0]} ({words})", *c.series[1:])) for c in end]
    return ranges, drawn


def _check_reach(grid: Grid, most: int) -> None:
    """ParameterError for a k beyond what tasks have attempts for, or curves are computed to."""
    if (last := min(grid.max_k or most, most)) > MOST_CURVE:
        raise ParameterError(
            f"k up to {last:,} is too far for a curve of counts; name --max-k, at most"
            f" {MOST_CURVE:,}"
        )
    if grid.max_k is not None and grid.max_k > most:
        option = "-k" if grid.ks else "--max-k"
        raise ParameterError(
            f"{option} {grid.max_k} needs {plural(grid.max_k, 'attempt')} per task;"
            f" the most any task has is {most}; extrapolate predicts what lies beyond"
        )


def _signature(
    study: Study, every: Sequence[Curves], grid: Grid, band: str, delta: bool
) -> dict[str, object]:
    """What the numbers depend on besides the data."""
    confidence, ends = study.confidence, [model.last for model in every]
    entries: dict[str, object] = {
        "curves": ",".join(every[0].measured),
        "max_k": span(min(ends), max(ends)).replace("–", "-"),
        "points": grid.points_text,
        **confidence.signature(),
    }
    if confidence.method != "none":
        entries["band"] = band
        if band == SIMULTANEOUS or (delta and _new(study)):
            entries |= {"resamples": confidence.resamples, "seed": confidence.seed}
    if delta:
        entries["delta"] = EVEN[confidence.population]
    return entries


def _new(study: Study) -> bool:
    return study.confidence.population == NEW_TASKS


def _curves(
    study: Study, s: int, stretches: Sequence[Stretch], further: Sequence[Metric], delta: bool
) -> Curves:
    points: dict[str, list[Fact]] = {name: [] for name in CURVES}
    for stretch in stretches:
        for name, more in zip(CURVES, _points(study, stretch), strict=True):
            points[name] += more
    ks = [k for stretch in stretches for k in stretch.ks.tolist()]
    for metric in further:
        name = f"{metric.family}k{metric.argument.removeprefix(str(metric.k))}"
        facts = study.facts([replace(metric, k=k) for k in ks], [s])
        points[name] = [_pointwise(study, fact) for fact in facts]
    if delta:
        points |= {name: [] for name in UNEVEN}
        for stretch in stretches:
            for name, point in _uneven(study, stretch):
                points[name].append(point)
    first = stretches[0]
    return Curves(
        study.counts.series[s],
        points,
        list(_climbs(study, stretches)),
        _share(study, first, "never", first.rates.c == 0),
        _share(study, first, "always", first.rates.c == first.rates.n),
        list(_moments(study, first)) if delta else (),
        span(int(first.rates.n.min()), int(first.rates.n.max())),
    )


def _pointwise(study: Study, fact: Fact, **more: Cell) -> Fact:
    """The fact beside the level of its interval by itself, which in a band is another; without the
    values: those of a long curve would fill the memory."""
    if fact.level is not None:
        more = {"pointwise_level": fact.level, **more}
    return replace(fact, level=study.confidence.interval_level, values=None, more=more)


def _points(study: Study, stretch: Stretch) -> tuple[list[Fact], list[Fact]]:
    """pass@k and pass^k at each k of a stretch, as `passk estimate` gives them at its level."""
    rates, confidence = stretch.rates, replace(study.confidence, level=stretch.level)
    bare = confidence.method == "none" and _new(study) and rates.clusters is None
    points: tuple[list[Fact], list[Fact]] = ([], [])
    for here, *both in curve_blocks(rates.n, rates.c, stretch.ks):
        ks = stretch.ks[here].tolist()
        for facts, family, values in zip(points, ("pass@", "pass^"), both, strict=True):
            if bare:
                facts += _without_intervals(stretch, family, ks, values)
                continue
            of_ks = [
                replace(rates, metric=Metric(family, k), values=v)
                for k, v in zip(ks, values, strict=True)
            ]
            facts += [_pointwise(study, fact) for fact in study.facts_of(of_ks, confidence)]
    return points


def _without_intervals(
    stretch: Stretch, family: str, ks: Sequence[int], values: NDArray[np.float64]
) -> Iterator[Fact]:
    """As `Study.fact`, for thousands of k's at once.  values : (k's × tasks)."""
    tasks, series, size = values.shape[1], stretch.rates.series, stretch.size
    means = values.mean(axis=1).tolist()
    errors: list[float | None] = [None] * len(ks)
    if tasks > 1:
        errors = (values.std(axis=1, ddof=1) / math.sqrt(tasks)).tolist()
    for k, mean, se in zip(ks, means, errors, strict=True):
        yield Fact(series, f"{family}{k}", k, Estimate(mean, se), se, size)


def _setting(study: Study, stretch: Stretch) -> Setting:
    confidence = study.confidence
    clusters = stretch.rates.clusters if _new(study) else None
    return Setting(
        confidence.population, confidence.interval_level, clusters, confidence.resamples,
        confidence.seed,
    )  # fmt: skip


def _uneven(study: Study, stretch: Stretch) -> Iterator[tuple[str, Fact]]:
    """(curve, Δ_k or the coverage deficit) at each k of a stretch."""
    setting, rates = _setting(study, stretch), stretch.rates
    size = _BLOCK_KS if setting.level else max(_BLOCK_KS, _BLOCK_CELLS // len(rates.n))
    for start in range(0, len(stretch.ks), size):
        ks = stretch.ks[start : start + size]
        both = both_gains(rates.n, rates.c, ks, setting)
        for name, family, gain in zip(UNEVEN, ("delta_", "deficit_"), both, strict=True):
            columns = (gain.estimate, gain.se, gain.low, gain.high, gain.bound)
            for k, *numbers in zip(ks.tolist(), *(each.tolist() for each in columns), strict=True):
                value, se, low, high, bound = (None if math.isnan(v) else v for v in numbers)
                spread = Spread(value, se, low, high, _missing(value, setting, len(rates.n)))
                fact = _corrected(study, stretch, f"{family}{k}", k, spread)
                yield name, _pointwise(study, fact, at_most=bound)


def _missing(value: float | None, setting: Setting, tasks: int) -> str:
    """Why there is no Δ_k; nothing where there is."""
    if value is None:
        codes = setting.clusters
        units = f"tasks; there are {tasks}"
        if codes is not None:
            units = f"clusters; there are {int(codes.max()) + 1}"
        return f"μ^k needs k different {units}"
    return ""


def _corrected(
    study: Study, stretch: Stretch, name: str, k: int | None, spread: Spread, *, share: bool = True
) -> Fact:
    """A number corrected for what attempts add to it, with its limits."""
    level = study.confidence.interval_level
    estimate = Estimate(
        spread.value, spread.se if level is None else None, spread.low, spread.high,
        spread.reason, signed=not share, share=share,
    )  # fmt: skip
    method = "none" if level is None else LIMITS[study.confidence.population]
    if name == "skewness" and level is not None and not _new(study):
        method = SKEWNESS
    return Fact(stretch.rates.series, name, k, estimate, spread.se, stretch.size, method, level)


def _climbs(study: Study, stretches: Sequence[Stretch]) -> Iterator[Climb]:
    """The gain of pass@k from each step to the next."""
    for start, k in pairwise(steps(stretches[-1].last)):
        stretch = next(stretch_ for stretch_ in stretches if stretch_.last >= k)
        rates, growth = stretch.rates, Growth("pass@", k, start=start)
        n, c = rates.n, rates.c
        gain = study.fact(replace(rates, metric=growth, values=growth.values(n, c)))
        # Equally hard tasks would lose no coverage: their growth is larger by what is lost more.
        setting = replace(_setting(study, stretch), level=None)
        lost = gains(n, n - c, np.array([start, k]), setting).estimate
        even = float((gain.estimate.value or 0.0) + lost[1] - lost[0])
        alike = Estimate(even)
        if math.isnan(even):
            alike = Estimate(None, reason="no estimate if equally hard: fewer tasks than k")
        name = f"{growth.name} if equally hard"
        equal = Fact(rates.series, name, k, alike, size=stretch.size)
        yield Climb(start, _pointwise(study, gain), equal)


def _moments(study: Study, stretch: Stretch) -> Iterator[Fact]:
    """Mean, standard deviation and skewness of the success rates."""
    rates = stretch.rates
    yield _pointwise(study, replace(study.fact(rates), name="mean", k=None))
    shapes = spread_of_rates(rates.n, rates.c, _setting(study, stretch))
    for name, spread in zip(("sd", "skewness"), shapes, strict=True):
        fact = _corrected(study, stretch, name, None, spread, share=name == "sd")
        yield _pointwise(study, fact)


def _share(study: Study, stretch: Stretch, name: str, mask: NDArray[np.bool_]) -> Fact:
    """A share of tasks, which has an interval where the tasks are a sample."""
    rates = stretch.rates
    values = mask.astype(np.float64)
    fact = study.mean(rates.series, name, values, rates.tasks, rates.n, fixed=_COUNT)
    return _pointwise(study, fact if _new(study) else replace(fact, method="none"))
