"""Where one model leads: the difference of two curves over k, with a band that holds at all k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.bands import (
    end_ranks,
    errors_these_tasks,
    level_of_ranks,
    spread_out,
)
from passk_cli.inference.intervals import DEFAULT
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.ranking import CrossingSet, Run, possible_crossings, runs
from passk_cli.inference.weights import bootstrap_means
from passk_cli.limits import refuse_many_steps
from passk_cli.message import Said
from passk_cli.metrics.registry import task_values
from passk_cli.report.model import Cell, Column, Note, Table
from passk_cli.report.plot import Plot, Rule, curves
from passk_cli.report.words import first_few, span
from passk_cli.study.comparison import Comparison, difference_interval
from passk_cli.study.fact import Fact
from passk_cli.study.pairs import BETTER, EQUIVALENT, UNDECIDED, WORSE
from passk_cli.study.pivot import head
from passk_cli.study.values import TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.confidence import Confidence
    from passk_cli.study.rules import Rules
    from passk_cli.study.study import Study

    Ranks = NDArray[np.int64]

# k's of a band, all where there are no more, and for these tasks, where a hull costs a hundred
# times what a guard does; k's at which it is calibrated.
_MOST_KS, _MOST_KS_FIXED, _CALIBRATED = 100, 40, 16
# Columns of draws held at once, and pairs that a run can wait for.
_COLUMNS = 512
_MOST_BANDS = 1_000
_MOST_LISTED, _MOST_DRAWN = 56, 8
_UNKNOWN = ""
_CODES = (UNDECIDED, BETTER, WORSE, EQUIVALENT, _UNKNOWN)
_WORDS = {UNDECIDED: "tied", _UNKNOWN: "no interval"}


@dataclass(frozen=True)
class Band:
    """The difference of one pair's curves over k.

    comparison : the pair at one of the curve's metrics.  points : the difference at each k, its
    limits at a level that lets the whole band hold, its verdict.  level : of each k by itself.
    """

    comparison: Comparison
    points: Sequence[Fact]
    level: float

    @property
    def curve(self) -> str:
        """What is drawn over k: "pass@k"."""
        metric = self.comparison.first.metric
        return f"{metric.family}k{metric.argument.removeprefix(str(metric.k))}"

    @property
    def ks(self) -> NDArray[np.int64]:
        """The k's of the points."""
        return np.array([point.k for point in self.points])

    @cached_property
    def ranges(self) -> list[Run]:
        """Neighbouring k's with the same verdict, as places in `points`."""
        return runs(np.array([_CODES.index(point.verdict) for point in self.points]))

    @cached_property
    def crossings(self) -> list[CrossingSet]:
        """The k's at which the lead may change; see `possible_crossings`."""
        signs = [_sign(point) for point in self.points]
        return possible_crossings(self.ks, np.array(signs))

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
            f"k = {span(one.first, one.last)}{'' if one.certain else ' or none'}"
            for one in self.crossings
        ]
        return ", ".join(words) or "none"

    @property
    def rows(self) -> Iterator[Fact]:
        """Tidy rows: a k each, with the range of its verdict and whether the lead may change."""
        for run in self.ranges:
            ends = {"range_first": int(self.ks[run.first]), "range_last": int(self.ks[run.last])}
            for point in self.points[run.first : run.last + 1]:
                here = [one for one in self.crossings if one.first <= (point.k or 0) <= one.last]
                may = "no"
                if here:
                    may = "certain" if any(one.certain for one in here) else "possible"
                yield replace(
                    point,
                    more={
                        "band": "simultaneous", "pointwise_level": self.level, **ends,
                        "crossing": may,
                    },
                )  # fmt: skip


def _sign(point: Fact) -> int:
    low, high = point.estimate.low, point.estimate.high
    return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def find_bands(comparisons: Sequence[Comparison], study: Study) -> list[Band]:
    """A band of every pair at every curve of k, adjusted over the pairs of a curve.

    Errors: ParameterError where no metric is a curve over k, or there are too many pairs.
    """
    confidence, fixed = study.confidence, study.confidence.population != NEW_TASKS
    chosen: dict[object, Comparison] = {}
    for c in comparisons:
        curve = replace(c.first.metric, k=1)
        passes = curve.family in ("pass@", "pass^")
        if not c.reason and curve.kind.counted and (passes or not fixed):
            chosen.setdefault((c.first.series, c.second.series, curve), c)
    if not chosen:
        of = "pass@k or pass^k" if fixed else "a metric of k, as pass@k"
        raise ParameterError(
            f"--band needs two models with shared tasks and {of}; name one with -m"
        )
    if len(chosen) > _MOST_BANDS:
        raise ParameterError(
            f"--band: {len(chosen):,} bands take too long, at most {_MOST_BANDS:,};"
            " name a --baseline, or one metric with -m"
        )
    kept = list(chosen.values())
    # By the interval of a mean: near the ceiling the law of a difference holds a band in 79 %.
    method = DEFAULT[confidence.population] if confidence.by_default else confidence.method
    wide = replace(confidence, interval=method, by_default=False)
    levels = _levels(kept, wide, study.rules)
    return [_band(c, wide, study.rules, level) for c, level in zip(kept, levels, strict=True)]


def _grid(c: Comparison, most: int) -> NDArray[np.int64]:
    """The k's up to the smallest n of both."""
    last = _last(c)
    refuse_many_steps("--band", last, "leave it out")
    return spread_out(np.arange(1, last + 1), most)


def _last(c: Comparison) -> int:
    return min(int(n.min()) for n in c.n)


def _values(c: Comparison, rates: TaskValues, ks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The curve of one of the two in each shared task: (ks × tasks)."""
    own, metric = rates.on(c.tasks), rates.metric
    every = [replace(metric, k=k) for k in ks.tolist()]
    attempts = {} if own.attempts is None else {metric.kind.needs: own.attempts}
    return task_values(every, own.n, own.c, attempts)


def _levels(comparisons: Sequence[Comparison], confidence: Confidence, rules: Rules) -> list[float]:
    """The level of each k by itself at which all bands of a curve hold together.

    By Bonferroni over the pairs: draws of models that pass everything do not differ, so that a
    level calibrated over pairs would not see them.
    """
    find = _ranks_new if confidence.population == NEW_TASKS else _ranks_fixed
    count = Counter(replace(c.first.metric, k=1) for c in comparisons)
    levels = []
    for c, ranks in zip(comparisons, find(comparisons, confidence), strict=True):
        pairs = 1 if rules.adjust == "none" else count[replace(c.first.metric, k=1)]
        levels.append(level_of_ranks(ranks, 1 - (1 - confidence.level) / pairs))
    return levels


def _ranks_new(comparisons: Sequence[Comparison], confidence: Confidence) -> list[Ranks]:
    """Ranks of the draws of each pair's difference over weighted tasks, shared by all pairs."""
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    for place, c in enumerate(comparisons):
        codes = b"" if c.clusters is None else c.clusters.tobytes()
        alike.setdefault((c.tasks.tobytes(), codes), []).append(place)
    ranks: dict[int, Ranks] = {}
    for places in alike.values():
        batch: list[tuple[int, NDArray[np.float64]]] = []
        for place in places:
            c = comparisons[place]
            ks = _grid(c, _CALIBRATED)
            batch.append((place, (_values(c, c.first, ks) - _values(c, c.second, ks)).T))
            if sum(gap.shape[1] for _, gap in batch) >= _COLUMNS or place == places[-1]:
                ranks |= _batch_ranks(batch, c.clusters, confidence)
                batch = []
    return [ranks[place] for place in range(len(comparisons))]


def _batch_ranks(
    batch: Sequence[tuple[int, NDArray[np.float64]]],
    clusters: NDArray[np.int64] | None,
    confidence: Confidence,
) -> Iterator[tuple[int, Ranks]]:
    """(place, ranks) of several pairs.  batch : (place, differences (tasks × ks))."""
    gaps = np.concatenate([gap for _, gap in batch], axis=1)
    draws = bootstrap_means(
        gaps, confidence.resamples, confidence.seed, kind="dirichlet", clusters=clusters
    )
    ends = np.cumsum([gap.shape[1] for _, gap in batch])[:-1]
    for (place, _), own in zip(batch, np.split(draws, ends, axis=1), strict=True):
        yield place, end_ranks(own)


def _ranks_fixed(comparisons: Sequence[Comparison], confidence: Confidence) -> list[Ranks]:
    """Ranks of the draws of each pair's difference when the same tasks are attempted again."""
    draws: dict[object, NDArray[np.float64]] = {}
    ranks = []
    for c in comparisons:
        ks, errors = _grid(c, _CALIBRATED), []
        for rates in (c.first, c.second):
            key = (rates.series, rates.metric.family, c.tasks.tobytes(), int(ks[-1]))
            if key not in draws:
                own = rates.on(c.tasks)
                draws[key] = errors_these_tasks(
                    own.n, own.c, ks, rates.metric.family, resamples=confidence.resamples,
                    seed=confidence.seed, purpose=" ".join(rates.series),
                )  # fmt: skip
            errors.append(draws[key])
        ranks.append(end_ranks(errors[0] - errors[1]))
    return ranks


def _band(c: Comparison, confidence: Confidence, rules: Rules, level: float) -> Band:
    """The points of one pair at all its k's, with limits at the level of one k."""
    ks = _grid(c, _MOST_KS if confidence.population == NEW_TASKS else _MOST_KS_FIXED)
    alone = replace(confidence, level=level)
    points = []
    both = zip(ks.tolist(), *(_values(c, r, ks) for r in (c.first, c.second)), strict=True)
    for k, first, second in both:
        rates = [replace(r, metric=replace(r.metric, k=k)) for r in (c.first, c.second)]
        at = replace(
            c, first=rates[0], second=rates[1], values=(first, second), p=np.nan, test="",
            alpha=np.nan, floor=None,
        )  # fmt: skip
        at = replace(at, interval=difference_interval(at, alone))
        fact = at.fact(confidence)
        points.append(replace(fact, level=confidence.level, verdict=_verdict(fact, rules.margin)))
    return Band(c, points, level)


def _verdict(point: Fact, margin: float) -> str:
    low, high = point.estimate.low, point.estimate.high
    if low is None or high is None:
        return _UNKNOWN
    if margin > 0 and -margin <= low and high <= margin:
        return EQUIVALENT
    return (UNDECIDED, BETTER, WORSE)[_sign(point)]


def band_tables(study: Study, bands: Sequence[Band]) -> Iterator[Table]:
    """A sentence of every pair and curve, then a row for each of its ranges."""
    model, *groups = head(study.counts.group_names)
    names = (model, Column("against"), *groups, Column("curve"))
    shown = listed_bands(bands)
    if not shown:
        return
    sentences = tuple((*_head(band), band.sentence, band.crossing_words) for band in shown)
    columns = (*names, Column("model against the other"), Column("may cross at"))
    yield Table(columns, sentences, "Which model leads at which k")
    unit = "share" if shown[0].points[0].estimate.share else "score"
    rows = tuple(
        (
            *_head(band), span(int(band.ks[run.first]), int(band.ks[run.last])),
            _WORDS.get(_CODES[run.code], _CODES[run.code]), band.points[run.first].estimate,
            band.points[run.last].estimate, str(len(band.comparison.tasks)),
        )
        for band in shown
        for run in band.ranges
    )  # fmt: skip
    columns = (
        *names, Column("k"), Column("verdict"), Column("difference at its first k", unit),
        Column("at its last k", unit), Column("tasks"),
    )  # fmt: skip
    yield Table(columns, rows, "Differences with a simultaneous band: model − against")


def _head(band: Band) -> tuple[Cell, ...]:
    first, second = band.comparison.first.series, band.comparison.second.series
    return first[0], second[0], *first[1:], band.curve


def listed_bands(bands: Sequence[Band]) -> list[Band]:
    """All bands, if a reader can look at so many; else the first where a model leads somewhere."""
    if len(bands) <= _MOST_LISTED:
        return list(bands)
    return [band for band in bands if any(map(_sign, band.points))][:_MOST_LISTED]


def band_words(study: Study, bands: Sequence[Band]) -> str:
    """For the caption: the level of the bands, by which intervals, at how many k's."""
    confidence, point = study.confidence, bands[0].points[0]
    levels = sorted({100 * band.level for band in bands})
    at = f"{levels[0]:.1f} %" if levels[-1] - levels[0] < 0.05 else (
        f"{levels[0]:.1f}–{levels[-1]:.1f} %"
    )  # fmt: skip
    count = max(sum(other.curve == band.curve for other in bands) for band in bands)
    over = "for all k together, each curve by itself"
    if count > 1 and study.rules.adjust == "none":
        over = "for all k together, each pair and curve by itself"
    elif count > 1:
        over = f"for all k and {count:,} pairs together (Bonferroni), each curve by itself"
    margin = study.rules.margin
    equivalent = f" · equivalent at a k: the band lies within ±{margin:g}" if margin else ""
    return (
        f"band: {100 * confidence.level:g} % {over}"
        f" ({point.method} intervals of {at} at each k) · tied at a k: 0 lies in the band"
        f"{equivalent} · may cross at: the k where the lead can change"
    )


def band_notes(bands: Sequence[Band], comparisons: Sequence[Comparison]) -> Iterator[Said]:
    """What the bands leave out, and where they have no limits."""
    drawn = {band.comparison.first.metric.family for band in bands}
    families = dict.fromkeys(c.first.metric for c in comparisons if not c.reason)
    missing = [metric for metric in families if metric.family not in drawn]
    for names, why in (
        ([metric.name for metric in missing if metric.kind.counted], "these tasks have one of"
         " pass@k and pass^k only"),
        ([metric.name for metric in missing if not metric.kind.counted], "it is no curve over k"),
    ):  # fmt: skip
        if names:
            yield Note(f"no band of {', '.join(names)}: {why}")
    for band in bands:
        last = int(band.ks[-1])
        if len(band.ks) < last:
            pair = f"{band.comparison.first.name} against {band.comparison.second.name}"
            yield Note(
                f"--band: {len(band.ks)} k's up to {last:,}, evenly spread on a log scale"
                f" ({pair}); ranges end at one of them"
            )
            break
    lacking = [point for band in bands for point in band.points if point.verdict == _UNKNOWN]
    for reason in dict.fromkeys(point.flaw for point in lacking):
        places = list(dict.fromkeys(p.name for p in lacking if p.flaw == reason))
        yield Note(f"no band at {first_few(places)}: {reason}", "warning")
    if (more := len(bands) - len(listed_bands(bands))) > 0:
        yield Note(f"--band: {more} of {len(bands)} bands are not listed; -f csv holds them all")


def band_plots(study: Study, bands: Sequence[Band], words: str) -> tuple[Plot, ...]:
    """The differences over k with their bands and a line at zero, a panel per pair."""
    shown = listed_bands(bands) or list(bands)
    pairs = list(dict.fromkeys(_pair_name(band) for band in shown))[:_MOST_DRAWN]
    rows = [
        {
            "pair": _pair_name(band), "curve": band.curve, "k": point.k,
            "difference": point.estimate.value, "low": point.estimate.low,
            "high": point.estimate.high,
        }
        for band in shown
        if _pair_name(band) in pairs
        for point in band.points
    ]  # fmt: skip
    every = len({_pair_name(band) for band in bands})
    part = f"{len(pairs)} of {every} pairs" if every > len(pairs) else ""
    chart = curves(
        rows, x="k", y="difference", low="low", high="high", colour="curve",
        facet="pair" if len(pairs) > 1 else "", rules=[Rule(y=0.0, dashed=False)],
        title="Which model leads at which k" + f": {pairs[0]}" * (len(pairs) == 1),
        subtitle=" · ".join(filter(None, [words, part])), x_title="k", y_title="difference",
        y_domain=None, shares=study.metrics[0].unit == "share",
    )  # fmt: skip
    return (chart,)


def _pair_name(band: Band) -> str:
    first, second = band.comparison.first.series, band.comparison.second.series
    names = f"{first[0]} − {second[0]}"
    return " · ".join([names, *(group or '""' for group in first[1:])])
