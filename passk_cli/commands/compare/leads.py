"""Where one model leads: the difference of two curves over k, with a band that holds at all k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints, gathered
from passk_cli.commands.compare.pairs import OfPair
from passk_cli.errors import ParameterError
from passk_cli.inference.bands import errors_these_tasks, pointwise_level, spread_out
from passk_cli.inference.intervals import DEFAULT
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.ranking import CrossingSet, Run, possible_crossings, runs
from passk_cli.inference.weights import bootstrap_means
from passk_cli.limits import refuse_many_steps
from passk_cli.metrics.registry import Metric, task_values
from passk_cli.report.model import Cell
from passk_cli.report.words import span
from passk_cli.settle import Given, Settle
from passk_cli.study.comparison import Comparison, difference_intervals
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact
from passk_cli.study.pairs import BETTER, EQUIVALENT, TIED, WORSE
from passk_cli.study.rules import Rules
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues

# k's of a band, all where there are no more, and for these tasks, where a hull costs a hundred
# times what a guard does; k's at which it is calibrated.
_MOST_KS, _MOST_KS_FIXED, _CALIBRATED = 100, 40, 16
# Points of all bands together, of which each has some at least.
_MOST_POINTS, _FEWEST_KS = 6_000, 10
# Pairs whose draws are held at once, and those that a run can wait for.
_BATCH, _MOST_BANDS = 32, 1_000
UNKNOWN = ""
_CODES = (TIED, BETTER, WORSE, EQUIVALENT, UNKNOWN)
_WORDS = {UNKNOWN: "no interval"}


@dataclass(frozen=True)
class Band(OfPair):
    """The difference of one pair's curves over k.

    comparison : the pair at one of the curve's metrics.  points : the difference at each k, its
    limits at a level that lets the whole band hold, its verdict.  level : of each k by itself.
    """

    points: Sequence[Fact]
    level: float

    @property
    def curve(self) -> str:
        """The metric over k: "pass@k"."""
        metric = self.comparison.first.metric
        return f"{metric.family}k{metric.argument.removeprefix(str(metric.k))}"

    @property
    def ks(self) -> Ints:
        """The k's of the points."""
        return np.array([point.k for point in self.points])

    @cached_property
    def ranges(self) -> list[Run]:
        """Neighbouring k's with the same verdict, as places in `points`."""
        return runs(np.array([_CODES.index(point.verdict) for point in self.points]))

    @cached_property
    def crossings(self) -> list[CrossingSet]:
        """The k's at which the lead may change; see `possible_crossings`."""
        return possible_crossings(self.ks, np.array([_sign(point) for point in self.points]))

    @property
    def sentence(self) -> str:
        """ "better for k = 1–10, tied for 11–60, worse from 61"."""
        parts: list[str] = []
        for run in self.ranges:
            first, last = (int(self.ks[place]) for place in (run.first, run.last))
            verdict = _CODES[run.code]
            word = _WORDS.get(verdict, verdict)
            if len(self.ranges) == 1:
                return f"{word} at every k" if last > first else f"{word} at k = {first}"
            equals = "" if parts else "k = "
            if run.last == len(self.points) - 1:
                parts.append(f"{word} from {first}" if last > first else f"{word} at {first}")
            else:
                parts.append(f"{word} for {equals}{span(first, last)}")
        return ", ".join(parts)

    @property
    def crossing_words(self) -> str:
        """The set of possible crossing points: "k = 11–61", "k = 2–10 or none", "none"."""
        words = [
            f"k = {span(crossing.first, crossing.last)}{'' if crossing.certain else ' or none'}"
            for crossing in self.crossings
        ]
        return ", ".join(words) or "none"

    @property
    def rows(self) -> Iterator[Fact]:
        """Tidy rows: a k each, with the range of its verdict and whether the lead may change."""
        for run in self.ranges:
            ends = {"range_first": int(self.ks[run.first]), "range_last": int(self.ks[run.last])}
            for point in self.points[run.first : run.last + 1]:
                certain = [crossing.certain for crossing in self.crossings
                           if crossing.first <= (point.k or 0) <= crossing.last]  # fmt: skip
                may = "no" if not certain else "certain" if any(certain) else "possible"
                more: dict[str, Cell] = {"band": "simultaneous", "pointwise_level": self.level}
                yield replace(point, more={**more, **ends, "crossing": may})


def _sign(point: Fact) -> int:
    low, high = point.estimate.low, point.estimate.high
    return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def find_bands(comparisons: Sequence[Comparison], study: Study) -> list[Band]:
    """A band of every pair at every curve of k, adjusted over the pairs of a curve.

    Errors: ParameterError where no metric is a curve over k, or there are too many pairs.
    """
    confidence, fixed = study.confidence, study.confidence.population != NEW_TASKS
    chosen: dict[tuple[Series, Series, Metric], Comparison] = {}
    for c in comparisons:
        curve = replace(c.first.metric, k=1)
        passes = curve.family in ("pass@", "pass^")
        if not c.reason and curve.kind.counted and (passes or not fixed):
            chosen.setdefault((c.first.series, c.second.series, curve), c)
    if not chosen:
        of = "pass@k or pass^k" if fixed else "a metric of k, as pass@k"
        raise ParameterError(
            Given("--band"), f"it needs two models with shared tasks and {of}",
            settles=[Settle({"-m": ("pass@1",)}, "names one"), Settle({"--band": None})],
        )  # fmt: skip
    compared = list(chosen.values())
    if len(compared) > _MOST_BANDS:
        raise ParameterError(
            Given("--band"), f"{len(chosen):,} bands take too long, at most {_MOST_BANDS:,}",
            settles=[
                Settle({"--baseline": compared[0].second.series[0]}, "compares with one model")
            ],
        )  # fmt: skip
    # By the interval of a mean: near the ceiling the law of a difference holds a band in 79 %.
    method = DEFAULT[confidence.population] if confidence.by_default else confidence.method
    wide = replace(confidence, interval=method, by_default=False)
    # By Bonferroni over the pairs of a curve: draws of models that pass everything do not differ,
    # so that a level calibrated over pairs would not see them.
    pairs = Counter(curve for *_, curve in chosen)
    tests = [1 if study.rules.adjust == "none" else pairs[curve] for *_, curve in chosen]
    every = [1 - (1 - confidence.level) / count for count in tests]
    levels = (_levels_fixed if fixed else _levels_new)(compared, wide, every)
    # Intervals of one level are found together; levels are few, as ranks are.
    bands: dict[int, Band] = {}
    order = sorted(range(len(levels)), key=levels.__getitem__)
    most = min(_MOST_KS_FIXED if fixed else _MOST_KS, max(_MOST_POINTS // len(order), _FEWEST_KS))
    for start in range(0, len(order), _BATCH):
        places = order[start : start + _BATCH]
        found = _bands([compared[at] for at in places], wide, study.rules,
                       [levels[at] for at in places], most)  # fmt: skip
        bands |= zip(places, found, strict=True)
    return [bands[place] for place in range(len(compared))]


def _grid(c: Comparison, most: int) -> Ints:
    """The k's up to the smallest n of both."""
    last = min(int(n.min()) for n in c.n)
    refuse_many_steps(Given("--band"), last, Settle({"--band": None}))
    return spread_out(np.arange(1, last + 1), most)


def _values(c: Comparison, rates: TaskValues, ks: Ints) -> Floats:
    """The curve of one of the two in each shared task: (ks × tasks)."""
    own, metric = rates.on(c.tasks), rates.metric
    every = [replace(metric, k=k) for k in ks.tolist()]
    attempts = {} if own.attempts is None else {metric.kind.needs: own.attempts}
    return task_values(every, own.n, own.c, attempts)


def _levels_new(
    comparisons: Sequence[Comparison], confidence: Confidence, every: Sequence[float]
) -> list[float]:
    """The level of each k, by draws of each pair's difference over weighted tasks.

    every : the level of the whole band of each pair.
    """
    alike = gathered(
        ((c.tasks.tobytes(), b"" if c.clusters is None else c.clusters.tobytes()), place)
        for place, c in enumerate(comparisons)
    )
    levels: dict[int, float] = {}
    for places in alike.values():
        for start in range(0, len(places), _BATCH):
            batch = places[start : start + _BATCH]
            gaps = []
            for c in (comparisons[place] for place in batch):
                ks = _grid(c, _CALIBRATED)
                gaps.append((_values(c, c.first, ks) - _values(c, c.second, ks)).T)
            draws = bootstrap_means(
                np.concatenate(gaps, axis=1), confidence.resamples, confidence.seed,
                kind="dirichlet", clusters=comparisons[batch[0]].clusters,
            )  # fmt: skip
            ends = np.cumsum([gap.shape[1] for gap in gaps])[:-1]
            parts = np.split(draws, ends, axis=1)
            levels |= {place: pointwise_level(own, every[place])
                       for place, own in zip(batch, parts, strict=True)}  # fmt: skip
    return [levels[place] for place in range(len(comparisons))]


def _levels_fixed(
    comparisons: Sequence[Comparison], confidence: Confidence, every: Sequence[float]
) -> list[float]:
    """As `_levels_new`, when the same tasks are attempted again."""
    draws: dict[object, Floats] = {}
    levels = []
    for c, whole in zip(comparisons, every, strict=True):
        ks, errors = _grid(c, _CALIBRATED), []
        for rates in (c.first, c.second):
            key = (rates.series, rates.metric.family, c.tasks.tobytes(), int(ks[-1]))
            if key not in draws:
                own = rates.on(c.tasks)
                draws[key] = errors_these_tasks(
                    own.n, own.c, ks, rates.metric.family, purpose=" ".join(rates.series),
                    **confidence.draws,
                )  # fmt: skip
            errors.append(draws[key])
        levels.append(pointwise_level(errors[0] - errors[1], whole))
    return levels


def _bands(
    comparisons: Sequence[Comparison], confidence: Confidence, rules: Rules,
    levels: Sequence[float], most: int,
) -> list[Band]:  # fmt: skip
    """The points of each pair at so many of its k's, with limits at the level of one k."""
    every = []
    for c, level in zip(comparisons, levels, strict=True):
        ks = _grid(c, most)
        both = zip(ks.tolist(), *(_values(c, r, ks) for r in (c.first, c.second)), strict=True)
        every.append([
            replace(
                c, first=replace(c.first, metric=replace(c.first.metric, k=k)),
                second=replace(c.second, metric=replace(c.second.metric, k=k)),
                values=(first, second), p=np.nan, test="", alpha=1 - level, floor=None,
                law=None, kept={},
            )
            for k, first, second in both
        ])  # fmt: skip
    limits = iter(difference_intervals([at for own in every for at in own], confidence))
    bands = []
    for c, level, own in zip(comparisons, levels, every, strict=True):
        facts = [replace(at, alpha=np.nan, interval=next(limits)).fact(confidence) for at in own]
        points = [replace(fact, verdict=_verdict(fact, rules.margin)) for fact in facts]
        bands.append(Band(c, points, level))
    return bands


def _verdict(point: Fact, margin: float) -> str:
    low, high = point.estimate.low, point.estimate.high
    if low is None or high is None:
        return UNKNOWN
    sign = _sign(point)
    if not sign and margin > 0 and -margin <= low and high <= margin:
        return EQUIVALENT
    return (TIED, BETTER, WORSE)[sign]
