"""Pairs of models with the difference between both models, and the rank of each model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

import numpy as np

from passk_cli.commands.compare.crossings import Crossing
from passk_cli.errors import ParameterError
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric, MetricChange
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.flips import NamedSeries
from passk_cli.study.pairwise_tests import BETTER, EQUIVALENT, TIED, WORSE
from passk_cli.study.rank_resampling import RankAllowedByTests
from passk_cli.study.result import Result
from passk_cli.study.values import SeriesKey, TaskValues
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

MARK_BY_VERDICT = {TIED: "~", EQUIVALENT: "="}
OPPOSITE_VERDICTS = {BETTER: WORSE, WORSE: BETTER}


@dataclass(frozen=True)
class PairTableRow:
    """A table row that compares two models."""

    comparison: Comparison

    @property
    def series(self) -> SeriesKey:
        return self.comparison.first.series

    @property
    def against(self) -> str:
        return self.comparison.second.series[0]


@dataclass(frozen=True)
class Pair(PairTableRow):
    """The difference between two models at one metric, with the ranks of both models."""

    result: Result
    ranks: tuple[RankAllowedByTests | None, RankAllowedByTests | None] = (None, None)
    crossing: Crossing | None = None

    @property
    def metric(self) -> Metric:
        return self.comparison.first.metric

    @property
    def models(self) -> tuple[SeriesKey, SeriesKey]:
        return self.series, self.comparison.second.series

    @property
    def difference(self) -> Estimate:
        """The difference, with a mark if it is equivalent to 0 or not significant.

        The mark "=" means equivalent to 0, and the mark "~" means not significant. A significant
        difference within the margin of equivalence also has the mark "=", because the interval
        already shows that the difference is significant.
        """
        verdict = EQUIVALENT if self.comparison.equivalent else self.result.verdict
        return replace(
            self.result.estimate, tie_or_equivalence_sign=MARK_BY_VERDICT.get(verdict, "")
        )

    @property
    def advantage_of_first(self) -> Estimate:
        """The lead of the first model over the second model.

        The lead is positive if the first model is better, even if a lower value is better.
        """
        ahead = (
            self.result.estimate if self.metric.better_sign > 0 else _negated(self.result.estimate)
        )
        return replace(ahead, signed=False)

    @property
    def equivalence_p(self) -> float | None:
        """The p-value of the test of equivalence, or None without --margin."""
        p = self.comparison.equivalence
        return None if math.isnan(p) else p

    @property
    def winner(self) -> SeriesKey | None:
        """The significantly better model, or None if the models tie."""
        return {BETTER: self.series, WORSE: self.models[1]}.get(self.result.verdict)

    def finite_crossing_k_or_limit(self, name: str) -> float | None:
        """The k at which the curves cross, or a limit of this k.  Infinite values become None.

        name : "k" for the k at which the curves cross, and "low" or "high" for a limit.
        """
        at = math.inf if self.crossing is None else getattr(self.crossing, name)
        return at if math.isfinite(at) else None

    def with_first(self, series: SeriesKey) -> Pair:
        if series == self.series:
            return self
        fact = self.result
        verdict = OPPOSITE_VERDICTS.get(fact.verdict, fact.verdict)
        return replace(
            self, result=replace(fact, estimate=_negated(fact.estimate), verdict=verdict)
        )


def _negated(e: Estimate) -> Estimate:
    value, upper, low, high = (
        None if end is None else -end for end in (e.value, e.range_upper_end, e.low, e.high)
    )
    if upper is not None:
        value, upper = upper, value
    return replace(e, value=value, range_upper_end=upper, low=high, high=low)


def model_changes_between_metrics(study: Analysis, change: MetricChange) -> Iterator[TaskValues]:
    """The change of each model from one metric to another metric.

    The change uses only tasks that have values of both metrics.
    Errors: ParameterError if a permutation test would need two kinds of values of each attempt, for
        example a score and an answer.
    """
    if (
        study.confidence.population == THESE_TASKS
        and " and " in change.definition.required_attempt_data
    ):
        raise ParameterError(
            OptionWithValue("--change"),
            f"{change.start_metric.name} and {change.end_metric.name} are computed from different"
            f" values of"
            " an attempt, so the permutation test of attempts cannot compare them",
            settles=[SuggestedFix({"--population": "new-tasks"}, "tests for new tasks")],
        )
    values = study.task_values((change.start_metric, change.end_metric))
    for start, end in zip(values[::2], values[1::2], strict=True):
        lacking = next((side for side in (start, end) if not side.has_values), None)
        if lacking is not None:
            yield replace(lacking, metric=change)
            continue
        tasks = np.intersect1d(start.tasks, end.tasks)
        first, last = start.restrict(tasks), end.restrict(tasks)
        yield replace(
            last, metric=change, values=last.values - first.values,
            reason=first.reason or last.reason,
            attempts=first.attempts if last.attempts is None else last.attempts,
        )  # fmt: skip


@dataclass(frozen=True)
class ModelWithRanks:
    """A model with its rank at each metric.

    pair_with_next : the pair of this model and the next model in the ranking.  None means that this
        model is the last model, or that the two models were not compared.
    """

    series: SeriesKey
    ranks: dict[Metric, RankAllowedByTests] = field(default_factory=dict)
    pair_with_next: Pair | None = None

    @property
    def rank_at_first_metric(self) -> RankAllowedByTests:
        """The rank at the first metric at which the model has a value."""
        return next(iter(self.ranks.values()))


def pairs_with_ranks(
    compared: Sequence[Comparison],
    ranks: Sequence[RankAllowedByTests],
    crossings: Mapping[tuple[SeriesKey, SeriesKey, str], Crossing],
    confidence: Confidence,
) -> list[Pair]:
    """Add the ranks of both models, and the k at which their curves cross, to each comparison."""
    rank_of = {(rank.values.series, rank.values.metric): rank for rank in ranks}
    return [
        Pair(
            c, c.result(confidence),
            (rank_of.get((c.first.series, metric)), rank_of.get((c.second.series, metric))),
            crossings.get((c.first.series, c.second.series, metric.family)),
        )
        for c in compared
        for metric in [c.first.metric]
    ]  # fmt: skip


def first_tested_metric(pairs: Sequence[Pair]) -> Metric:
    """The first metric with a p-value, or the first metric if no metric has a p-value."""
    return next((p.metric for p in pairs if p.comparison.has_p_value), pairs[0].metric)


def pairs_at_first_metric(pairs: Sequence[Pair]) -> list[Pair]:
    metric = first_tested_metric(pairs)
    return [pair for pair in pairs if pair.metric == metric]


def models_in_rank_order(
    ranks: Sequence[RankAllowedByTests], pairs: Sequence[Pair]
) -> list[ModelWithRanks]:
    """The models in the order of their ranks at the first metric that can be tested.

    Models without a value of this metric come last.
    """
    first = pairs_at_first_metric(pairs)
    model_ranks: dict[SeriesKey, dict[Metric, RankAllowedByTests]] = {}
    for rank in sorted(ranks, key=lambda rank: rank.values.metric != first[0].metric):
        model_ranks.setdefault(rank.values.series, {})[rank.values.metric] = rank
    between = {frozenset(pair.models): pair for pair in first}
    order = list(model_ranks)
    nearest = [between.get(frozenset(neighbours)) for neighbours in pairwise(order)]
    return [
        ModelWithRanks(series, model_ranks[series], pair and pair.with_first(series))
        for series, pair in zip_longest(order, nearest)
    ]


def model_pairs_for_flips(
    study: Analysis, comparisons: Sequence[Comparison]
) -> list[tuple[NamedSeries, NamedSeries]]:
    """The pairs of models for which passk looks for tasks that flip.

    Each pair occurs once, even if there are several metrics.
    """
    counts = study.counts
    places = {series: place for place, series in enumerate(counts.series)}
    pairs = dict.fromkeys((c.first.series, c.second.series) for c in comparisons if len(c.tasks))
    return [
        (NamedSeries(counts, places[a], SeriesName(a)), NamedSeries(counts, places[b], b[0]))
        for a, b in pairs
    ]
