"""pass@k and pass^k of each model over k, from counts or from exact success rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints, group_pairs
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.exact_rates import TasksWithExactRates
from passk_cli.files.request import MORE_LABELS_FIX
from passk_cli.inference.bands import band_level_these_tasks, band_levels_new_tasks, log_spaced_ks
from passk_cli.inference.heterogeneity import (
    IntervalSetting,
    RateMomentEstimate,
    gains_for_several_pass_arrays,
    pass_hat_k_heterogeneity_gains,
    sd_and_skewness_of_rates,
)
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.limits import MOST_CURVE_K
from passk_cli.metrics.heterogeneity import moments_of_rates, pass_curves_from_rates
from passk_cli.metrics.pass_k import pass_at_and_hat_curve_blocks, pass_at_k_per_pair
from passk_cli.metrics.polynomials import PolynomialOrComplement, SuccessRatePolynomial
from passk_cli.metrics.registry import USUAL_K, Metric
from passk_cli.report.data_types import Cell, Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.metric_selection import extrapolation_fixes
from passk_cli.study.result import Result, SampleSize, range_result_between
from passk_cli.study.values import SeriesKey, TaskValues, require_monotone
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import plural

CURVE_NAMES = (AT, HAT) = ("pass@k", "pass^k")
UNEVENNESS_CURVE_NAMES = (DELTA, DEFICIT) = ("Δ_k", "deficit_k")
# passk adds EQUALLY_HARD_SUFFIX to the name of a gain that is computed as if all tasks were equally
# hard.
EQUALLY_HARD_SUFFIX = " if all tasks were equally hard"
# Each population has a default interval method for Δ_k, the coverage deficit and the moments.
UNEVENNESS_METHOD_BY_POPULATION = {NEW_TASKS: "guarded bootstrap", THESE_TASKS: "hull"}
_SKEWNESS_INTERVAL_METHOD = "jackknife"
# passk marks results from exact success rates with EXACT_RATES_MARK, because these results have no
# sampling error.
EXACT_RATES_MARK = "exact"
# `--points all` accepts values of k up to _MOST_POINTS.
_MOST_POINTS = 100_000
_BATCH, _BLOCK_KS, _BLOCK_CELLS = 8, 64, 1 << 21


class GainBetweenKs(NamedTuple):
    """The gain of pass@k between two values of k.

    equally_hard_gain : gain of pass@k that would result if all tasks were equally hard.
    """

    start: int
    gain: Result
    equally_hard_gain: Result

    @property
    def series(self) -> SeriesKey:
        return self.gain.series


@dataclass(frozen=True)
class ModelCurves:
    """The curves of one model, such as pass@k and pass^k over k.

    The results of each curve are sorted by k. If the tasks differ in difficulty, pass^k is larger
    by Δ_k than for equally hard tasks, and pass@k is smaller by the coverage deficit. The results
    of both differences also contain the largest possible value. `never_passed_share` is the share
    of tasks without a passing attempt. `always_passed_share` is the share of tasks without a
    failing attempt.
    """

    series: SeriesKey
    results_by_curve: Mapping[str, Sequence[Result]]
    step_gains: Sequence[GainBetweenKs]
    never_passed_share: Result
    always_passed_share: Result
    rate_moments: Sequence[Result] = ()
    table_ks: Sequence[int] = ()

    def ranges_up_to_curves(self, upper_curves: ModelCurves) -> ModelCurves:
        """Curves in which each value is a range from a value of this object to the same value of
        `upper_curves`.  The result contains no gains."""
        points = {
            name: [
                range_result_between(*pair)
                for pair in zip(ends, upper_curves.results_by_curve[name], strict=True)
            ]
            for name, ends in self.results_by_curve.items()
        }
        return replace(
            self, results_by_curve=points, step_gains=(),
            never_passed_share=range_result_between(
                self.never_passed_share, upper_curves.never_passed_share),
            always_passed_share=range_result_between(
                self.always_passed_share, upper_curves.always_passed_share),
        )  # fmt: skip

    @property
    def has_exact_rates(self) -> bool:
        """Whether the success rates of the tasks are known exactly."""
        return self.never_passed_share.interval_flaw == EXACT_RATES_MARK

    @cached_property
    def metric_curve_names(self) -> list[str]:
        """The names of all curves, except for Δ_k and the coverage deficit."""
        return [name for name in self.results_by_curve if name not in UNEVENNESS_CURVE_NAMES]

    @property
    def metric_curve_results(self) -> list[Result]:
        """The results of all curves, except for Δ_k and the coverage deficit."""
        return [point for name in self.metric_curve_names for point in self.results_by_curve[name]]

    @property
    def main_curve_name(self) -> str:
        """The name of the main curve, which is pass@k, or pass^k if pass@k was not requested."""
        return self.metric_curve_names[0]

    @cached_property
    def ks(self) -> list[int]:
        return [point.k or 0 for point in self.results_by_curve[self.main_curve_name]]

    @cached_property
    def last_complete_k(self) -> int:
        """The largest k at which the main curve includes as many tasks as at its first k."""
        first, *_ = points = self.results_by_curve[self.main_curve_name]
        return max(point.k or 0 for point in points if point.size.tasks == first.size.tasks)

    def result_at(self, name: str, k: int) -> Result:
        """The result of the curve `name` at k."""
        return next(point for point in self.results_by_curve[name] if point.k == k)


@dataclass(frozen=True)
class KGrid:
    """The values of k at which curves are computed.

    There are about `point_count` values of k, up to `max_k`. If `exclusive_ks` is not empty, curves
    are computed only at these values of k.
    """

    point_count: int | None = 40
    max_k: int | None = None
    exclusive_ks: tuple[int, ...] = ()

    def ks_up_to(self, last: int) -> Ints:
        """The values of k of this grid that are at most `last` and at most `max_k`.

        >>> KGrid(point_count=4).ks_up_to(100).tolist()
        [1, 2, 5, 10, 22, 100]
        """
        last = last if self.max_k is None else min(self.max_k, last)
        if self.exclusive_ks:
            return np.array([k for k in sorted(self.exclusive_ks) if k <= last] or [last])
        if self.point_count is None and last > _MOST_POINTS:
            raise ParameterError(
                OptionWithValue("--points", "all"),
                f"a curve can have at most {_MOST_POINTS:,} values of k; got {last:,}", settles=[
                    SuggestedFix({"--points": None}, "spreads the k's"),
                    SuggestedFix({"--max-k": _MOST_POINTS}, "ends the curve there"),
                ],
            )  # fmt: skip
        if self.point_count is None or last <= self.point_count:
            return np.arange(1, last + 1)
        spread = np.rint(np.geomspace(1, last, self.point_count)).astype(np.int64)
        return np.union1d(spread, round_numbers_up_to(last))

    def table_ks(self, ks: Sequence[int]) -> list[int]:
        """The values in `ks` that a table shows.

        If `exclusive_ks` is set, a table shows all values.  Otherwise, a table shows only round
        numbers and the last value.
        """
        return [k for k in ks if self.exclusive_ks or k in round_numbers_up_to(ks[-1])]


def round_numbers_up_to(last: int) -> list[int]:
    """The values 1, 2, 5, 10, 100, 1000, … below `last`, and `last` itself.

    >>> round_numbers_up_to(30), round_numbers_up_to(2000)
    ([1, 2, 5, 10, 30], [1, 2, 5, 10, 100, 1000, 2000])
    """
    round_ones = (1, 2, 5, *(10**d for d in range(1, len(str(last)))))
    return [*(k for k in round_ones if k < last), last]


def k_pairs_of_gains(ks: Sequence[int], *shared: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs (start, k) for which passk reports the gain of pass@k from `start` to k.

    The first pairs are (1, 10) and (10, 100), as far as the curve reaches. If the curve ends below
    10, the first pair is (1, last k). Further pairs contain the first and the last value of `ks`,
    and the first and the last value of each sequence in `shared`.

    >>> [k_pairs_of_gains(ks) for ks in ([1, 2, 250], [1, 7], [1])]
    [[(1, 10), (10, 100), (1, 250)], [(1, 7)], []]
    >>> k_pairs_of_gains([1, 2, 3], [1, 2])
    [(1, 3), (1, 2)]
    """
    within = [k for k in USUAL_K if k <= ks[-1]]
    usual = within if len(within) > 1 else sorted({1, ks[-1]})
    ends = ({ks_of_curve[0], ks_of_curve[-1]} for ks_of_curve in (ks, *shared) if ks_of_curve)
    return list(
        dict.fromkeys(step for step_ks in (usual, *ends) for step in pairwise(sorted(step_ks)))
    )


@dataclass(frozen=True)
class KRangeOfSameTasks:
    """A range of k in which one model has values for the same tasks."""

    task_values: TaskValues
    ks: Ints
    level: float

    @property
    def sample_size(self) -> SampleSize:
        return SampleSize(len(self.task_values.n), *self.task_values.attempts_range)


@dataclass(frozen=True)
class GainOverStart(Metric):
    """The metric pass@k − pass@start, which is the gain of pass@k between two values of k."""

    start_k: int = 1

    @property
    def name(self) -> str:
        """The name of this metric in csv and json, for example pass@10-pass@1."""
        return f"pass@{self.k}-pass@{self.start_k}"

    def values(self, n: Ints, c: Ints) -> Floats:
        """The value of the metric for n attempts and c passes, or NaN if n < k."""
        return pass_at_k_per_pair(n, c, self.k) - pass_at_k_per_pair(n, c, self.start_k)

    @property
    def expectation_polynomial(self) -> PolynomialOrComplement | None:
        """The expected value of the metric, as a polynomial in the failure rate 1 − p.

        This polynomial is (1 − p)^start − (1 − p)^k.
        """
        return SuccessRatePolynomial(((0.0, 1.0, 0, self.start_k), (0.0, -1.0, 0, self.k))), False


@dataclass(frozen=True)
class CurveComputation:
    """Computes the curves of all models of an analysis.

    simultaneous : whether the intervals of both curves of a model are valid for all values of k
        simultaneously.
    includes_unevenness_measures : whether Δ_k, the coverage deficit, and the mean, standard
        deviation and skewness of the success rates are also computed.
    """

    study: Analysis
    grid: KGrid
    further_metrics: Sequence[Metric] = ()
    curve_names: Sequence[str] = CURVE_NAMES
    simultaneous: bool = False
    includes_unevenness_measures: bool = False

    def curves(self) -> tuple[list[ModelCurves], list[ModelCurves], list[float]]:
        """Compute the curves of each model, the curves to draw, and the levels of the bands.

        The model with the highest pass rate comes first. If `--missing bounds` is set and outcomes
        are missing, each curve is a range. The curves to draw are then the lower and upper bounds
        of that range. The list of levels is empty unless the bands are simultaneous.
        Errors: ParameterError for a k above the number of attempts or above the limit for curves.
        """
        study, grid, most = self.study, self.grid, int(self.study.counts.n.max())
        last = min(grid.max_k or most, most)
        raise_parameter_error_if_any("bad-option-value", (
            last > MOST_CURVE_K, "", f"k = {last:,} is too large for a curve of counts",
            (SuggestedFix({"--max-k": MOST_CURVE_K}, "is the maximum"),),
        ))  # fmt: skip
        if grid.max_k is not None and grid.max_k > most:
            option = "-k" if grid.exclusive_ks else "--max-k"
            shorter = SuggestedFix({option: None}, "ends the curve at the number of attempts")
            raise ParameterError(
                OptionWithValue(option, str(grid.max_k)),
                f"this k needs {plural(grid.max_k, 'attempt')} per task, but no task has more than"
                f" {most}",
                settles=[shorter, *extrapolation_fixes(self.study.counts, grid.max_k)],
            )  # fmt: skip
        order = study.series_indices_by_pass_rate
        if study.has_missing_outcome_ranges:
            study.confidence.require_valid_for_missing_outcomes()
            require_monotone(self.further_metrics)
            ends = [replace(self, study=end) for end in study.analyses_at_missing_bounds]
            failing, passing = (
                [end._curves(end._k_ranges_of_series(s)) for s in order] for end in ends
            )
            end_curves = [
                replace(model, series=(f"{model.series[0]} (missing {word})", *model.series[1:]))
                for word, models in (("fail", failing), ("pass", passing))
                for model in models
            ]
            bounds = zip(failing, passing, strict=True)
            return [low.ranges_up_to_curves(high) for low, high in bounds], end_curves, []
        stretches = [self._k_ranges_of_series(s) for s in order]
        if self.simultaneous:
            stretches = [
                [band]
                for band in self._k_ranges_with_band_levels([k_range for [k_range] in stretches])
            ]
        ks_by_series = [
            {k for k_range in several for k in k_range.ks.tolist()} for several in stretches
        ]
        shared = sorted(set.intersection(*ks_by_series))
        complete_ks = sorted(
            set.intersection(*(set(ranges[0].ks.tolist()) for ranges in stretches))
        )
        all_curves = [self._curves(ranges, shared, complete_ks) for ranges in stretches]
        return (
            all_curves,
            all_curves,
            [ranges[0].level for ranges in stretches] if self.simultaneous else [],
        )

    def _k_ranges_of_series(self, s: int) -> list[KRangeOfSameTasks]:
        study = self.study
        [rates] = study.task_values([Metric("pass@", 1)], [s])
        if rates.label_degrees_of_freedom is not None:
            return self._label_corrected_k_ranges(rates)
        drop = study.short_tasks == "drop"
        ends = np.unique(rates.n).tolist() if drop else [int(rates.n.min())]
        ks = self.grid.ks_up_to(ends[-1])
        return [
            KRangeOfSameTasks(
                rates.restrict(rates.tasks[rates.n >= until]), ks_in_range, study.confidence.level
            )
            for after, until in pairwise([0, *ends])
            if len(ks_in_range := ks[(ks > after) & (ks <= until)])
        ]

    def _label_corrected_k_ranges(self, rates: TaskValues) -> list[KRangeOfSameTasks]:
        largest_k, labels = self.grid.max_k or 1, rates.labels
        reason, most = "labels of other attempts can correct only k = 1", 1
        if labels is not None:
            reason, most = (
                labels.refusal_reason(Metric("pass@", largest_k)),
                labels.largest_correctable_k,
            )
        if reason and largest_k > most:
            raise ParameterError(
                f"k = {largest_k} of {rates.name}: {reason}", name="no-labels",
                settles=[MORE_LABELS_FIX],
            )  # fmt: skip
        ks = self.grid.ks_up_to(min(int(rates.n.min()), max(most, largest_k)))
        return [KRangeOfSameTasks(rates, ks, self.study.confidence.level)]

    def _k_ranges_with_band_levels(
        self, k_ranges: Sequence[KRangeOfSameTasks]
    ) -> list[KRangeOfSameTasks]:
        confidence = self.study.confidence
        draws: dict[str, Any] = {**confidence.resample_arguments}
        cells = [
            (k_range.task_values.n, k_range.task_values.c, log_spaced_ks(k_range.ks))
            for k_range in k_ranges
        ]
        if not self._tasks_are_sample:
            return [
                replace(k_range, level=band_level_these_tasks(*cell, confidence.level, **draws))
                for k_range, cell in zip(k_ranges, cells, strict=True)
            ]
        # All models with equal numbers of tasks and clusters use the same resampled tasks.
        same_tasks = group_pairs(
            ((len(r.tasks), b"" if r.clusters is None else r.clusters.tobytes()), i)
            for i, r in enumerate(k_range.task_values for k_range in k_ranges)
        )
        levels: dict[int, float] = {}
        for members in same_tasks.values():
            for batch in (members[i : i + _BATCH] for i in range(0, len(members), _BATCH)):
                clusters, curves = (
                    k_ranges[batch[0]].task_values.clusters,
                    [cells[i] for i in batch],
                )
                batch_levels = band_levels_new_tasks(
                    curves, confidence.level, clusters=clusters, **draws
                )
                levels |= zip(batch, batch_levels, strict=True)
        return [replace(k_range, level=levels[i]) for i, k_range in enumerate(k_ranges)]

    def _curves(
        self, stretches: Sequence[KRangeOfSameTasks], *shared: Sequence[int]
    ) -> ModelCurves:
        """Compute the curves of one model.

        stretches : the ranges of k of this model, in increasing order.
        shared : further sequences of k, for example the values of k that all models have.  The
            result also contains the gain of pass@k from the first to the last k of each sequence.
        """
        first, study = stretches[0], self.study
        points: dict[str, list[Result]] = {name: [] for name in self.curve_names}
        for stretch in stretches:
            for name, facts in self._curve_results(stretch):
                points[name] += facts
        ks = [k for stretch in stretches for k in stretch.ks.tolist()]
        s = study.counts.series.index(first.task_values.series)
        for metric in self.further_metrics:
            name = f"{metric.family}k{metric.k_and_share_name_suffix.removeprefix(str(metric.k))}"
            facts = study.results(study.task_values([replace(metric, k=k) for k in ks], [s]))
            points[name] = [self._with_pointwise_level_field(fact) for fact in facts]
        if self.includes_unevenness_measures:
            points |= group_pairs(
                point for stretch in stretches for point in self._heterogeneity_results(stretch)
            )
        corrected = first.task_values.label_degrees_of_freedom is not None
        pairs = k_pairs_of_gains(ks, *shared) if AT in self.curve_names and not corrected else ()
        last = {k: next(point for point in stretches if point.ks[-1] >= k) for _, k in pairs}
        return ModelCurves(
            first.task_values.series, points, [self._gain_between_ks(last[k], start, k) for start,
                k in pairs],
            self._task_share(first, "never", first.task_values.c == 0, corrected),
            self._task_share(first, "always", first.task_values.c == first.task_values.n,
                corrected),
            list(self._rate_mean_sd_and_skewness(first)) if self.includes_unevenness_measures
            else (),
            self.grid.table_ks(ks),
        )  # fmt: skip

    def _with_pointwise_level_field(self, fact: Result, **more: Cell) -> Result:
        """A copy of the result with the further field pointwise_level, and without task values.

        In a simultaneous band, the pointwise level differs from the confidence level.

        The task values are dropped, because the values of a long curve would need too much memory.
        """
        if fact.level is not None:
            more = {"pointwise_level": fact.level, **more}
        level = self.study.confidence.interval_level
        return replace(fact, level=level, values=None, extra_fields=more)

    def _curve_results(self, stretch: KRangeOfSameTasks) -> Iterator[tuple[str, list[Result]]]:
        rates, confidence = stretch.task_values, replace(self.study.confidence, level=stretch.level)
        if rates.label_degrees_of_freedom is not None:
            s = self.study.counts.series.index(rates.series)
            for name in self.curve_names:
                metrics = [Metric(name[:-1], k) for k in stretch.ks.tolist()]
                facts = self.study.results(self.study.task_values(metrics, [s]), confidence)
                yield name, [self._with_pointwise_level_field(fact) for fact in facts]
            return
        bare = confidence.method == "none" and self._tasks_are_sample and rates.clusters is None
        for block, *curve_values in pass_at_and_hat_curve_blocks(rates.n, rates.c, stretch.ks):
            ks = stretch.ks[block].tolist()
            for name, values in zip(CURVE_NAMES, curve_values, strict=True):
                family = name[:-1]
                if name not in self.curve_names:
                    continue
                if bare:
                    # Creating thousands of results with `Analysis.result` would be too slow.
                    errors: list[float | None] = [None] * len(ks)
                    if values.shape[1] > 1:
                        errors = (values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])).tolist()
                    means = zip(ks, values.mean(axis=1).tolist(), errors, strict=True)
                    facts = [
                        Result(
                            rates.series,
                            f"{family}{k}",
                            k,
                            Estimate(mean, se),
                            se,
                            stretch.sample_size,
                        )
                        for k, mean, se in means
                    ]
                    yield name, facts
                    continue
                of_ks = [
                    replace(rates, metric=Metric(family, k), values=v)
                    for k, v in zip(ks, values, strict=True)
                ]
                facts = self.study.results(of_ks, confidence)
                yield name, [self._with_pointwise_level_field(fact) for fact in facts]

    @property
    def _tasks_are_sample(self) -> bool:
        return self.study.confidence.population == NEW_TASKS

    def _interval_setting(self, stretch: KRangeOfSameTasks) -> IntervalSetting:
        confidence, clusters = (
            self.study.confidence,
            stretch.task_values.clusters if self._tasks_are_sample else None,
        )
        level = confidence.interval_level
        return IntervalSetting(
            confidence.population, level, clusters, confidence.resamples, confidence.seed
        )

    def _heterogeneity_results(self, stretch: KRangeOfSameTasks) -> Iterator[tuple[str, Result]]:
        setting, rates = self._interval_setting(stretch), stretch.task_values
        units = f"tasks; there are {len(rates.n)}"
        if setting.clusters is not None:
            units = f"clusters; there are {int(setting.clusters.max()) + 1}"
        size = _BLOCK_KS if setting.level else max(_BLOCK_KS, _BLOCK_CELLS // len(rates.n))
        for start in range(0, len(stretch.ks), size):
            ks = stretch.ks[start : start + size]
            uneven_gains = gains_for_several_pass_arrays(
                rates.n, (rates.c, rates.n - rates.c), ks, setting
            )
            for name, family, gain in zip(
                UNEVENNESS_CURVE_NAMES, ("delta_", "deficit_"), uneven_gains, strict=True
            ):
                columns = (gain.estimate, gain.se, gain.low, gain.high, gain.largest_possible)
                for k, *row in zip(
                    ks.tolist(), *(column.tolist() for column in columns), strict=True
                ):
                    value, se, low, high, bound = (None if math.isnan(v) else v for v in row)
                    reason = f"μ^k needs k different {units}" if value is None else ""
                    spread = RateMomentEstimate(value, se, low, high, reason)
                    fact = self._result_of_moment_estimate(stretch, f"{family}{k}", k, spread)
                    yield name, self._with_pointwise_level_field(fact, at_most=bound)

    def _result_of_moment_estimate(
        self, stretch: KRangeOfSameTasks, name: str, k: int | None, spread: RateMomentEstimate
    ) -> Result:
        confidence, share, series = (
            self.study.confidence,
            name != "skewness",
            stretch.task_values.series,
        )
        level = confidence.interval_level
        estimate = Estimate(
            spread.value, spread.se if level is None else None, spread.low, spread.high,
            spread.reason, signed=not share, unit="share" if share else "score",
        )  # fmt: skip
        method = (
            UNEVENNESS_METHOD_BY_POPULATION[confidence.population]
            if share or self._tasks_are_sample
            else _SKEWNESS_INTERVAL_METHOD
        )
        method = "none" if level is None else method
        return Result(series, name, k, estimate, spread.se, stretch.sample_size, method, level)

    def _gain_between_ks(self, stretch: KRangeOfSameTasks, start: int, k: int) -> GainBetweenKs:
        rates, growth = stretch.task_values, GainOverStart("pass@", k, start_k=start)
        n, c = rates.n, rates.c
        gain = self.study.result(replace(rates, metric=growth, values=growth.values(n, c)))
        # If tasks differ in difficulty, their pass@k is lower than the pass@k of equally hard tasks
        # with the same mean success rate.
        setting = replace(self._interval_setting(stretch), level=None)
        lost = pass_hat_k_heterogeneity_gains(n, n - c, np.array([start, k]), setting).estimate
        even = Estimate(float((gain.estimate.value or 0.0) + lost[1] - lost[0]))
        if math.isnan(even.value or 0.0):
            even = Estimate(None, reason="no estimate: fewer tasks than k")
        even_result = Result(
            rates.series, f"{growth.name}{EQUALLY_HARD_SUFFIX}", k, even, size=stretch.sample_size
        )
        return GainBetweenKs(
            start, replace(self._with_pointwise_level_field(gain), values=gain.values), even_result
        )

    def _rate_mean_sd_and_skewness(self, stretch: KRangeOfSameTasks) -> Iterator[Result]:
        rates = stretch.task_values
        yield self._with_pointwise_level_field(
            replace(self.study.result(rates), name="mean", k=None)
        )
        shapes = sd_and_skewness_of_rates(rates.n, rates.c, self._interval_setting(stretch))
        for name, spread in zip(("sd", "skewness"), shapes, strict=True):
            yield self._with_pointwise_level_field(
                self._result_of_moment_estimate(stretch, name, None, spread)
            )

    def _task_share(
        self, stretch: KRangeOfSameTasks, name: str, mask: Bools, corrected: bool
    ) -> Result:
        """The share of tasks for which `mask` is true.

        The share has an interval only if the tasks are a random sample.
        """
        rates = stretch.task_values
        if corrected:
            reason = "labels do not correct single tasks"
            return Result(
                rates.series, name, None, Estimate(None, reason=reason), size=stretch.sample_size
            )
        fact = self.study.mean_result(
            rates.series, name, mask.astype(np.float64), rates.tasks, rates.n,
            fixed="a count of these tasks as they were attempted",
        )  # fmt: skip
        return self._with_pointwise_level_field(
            fact if self._tasks_are_sample else replace(fact, method="none")
        )


def exact_curves(
    family: TasksWithExactRates,
    grid: KGrid,
    last: int,
    names: Sequence[str] = CURVE_NAMES,
    *,
    delta: bool = False,
) -> ModelCurves:
    """The curves of tasks with known success rates.  The curves end at k = `last`, and have no
    intervals."""
    rates, ks = family.success_rates, grid.ks_up_to(last)

    def fact(name: str, value: float | Estimate, k: int | None = None, **more: Cell) -> Result:
        estimate = value if isinstance(value, Estimate) else Estimate(value)
        size = SampleSize(len(rates))
        return Result(
            (family.name,),
            name,
            k,
            estimate,
            size=size,
            interval_flaw=EXACT_RATES_MARK,
            extra_fields=more,
        )

    def curve(name: str, values: Floats, bounds: Floats | None = None) -> Iterable[Result]:
        most = [{}] * len(ks) if bounds is None else [{"at_most": b} for b in bounds.tolist()]
        for k, value, more in zip(ks.tolist(), values.tolist(), most, strict=True):
            yield fact(f"{name}{k}", value, k, **more)

    exact, moments = pass_curves_from_rates(rates, ks), moments_of_rates(rates)
    points = {
        AT: list(curve("pass@", exact.pass_at_k)),
        HAT: list(curve("pass^", exact.pass_hat_k)),
    }
    points = {name: points[name] for name in names}
    shapes: tuple[Result, ...] = ()
    if delta:
        points[DELTA] = list(
            curve(
                "delta_",
                exact.pass_hat_k_heterogeneity_gain,
                exact.max_pass_hat_k_heterogeneity_gain,
            )
        )
        points[DEFICIT] = list(
            curve(
                "deficit_",
                exact.pass_at_k_heterogeneity_loss,
                exact.max_pass_at_k_heterogeneity_loss,
            )
        )
        skewness = moments.skewness if moments.variance > 0 else None
        skew = Estimate(skewness, signed=True, unit="score")
        shapes = fact("mean", moments.mean), fact("sd", moments.sd), fact("skewness", skew)
    step_gains, mean = [], float(rates.mean())
    for start, k in k_pairs_of_gains(ks.tolist()) if AT in names else ():
        two = np.array([start, k])
        low, high = pass_curves_from_rates(rates, two).pass_at_k.tolist()
        even = -np.expm1(two * np.log1p(-mean)) if mean < 1 else np.ones(2)
        name = f"pass@{k}-pass@{start}"
        even_result = fact(f"{name}{EQUALLY_HARD_SUFFIX}", float(even[1] - even[0]), k)
        step_gains.append(GainBetweenKs(start, fact(name, high - low, k), even_result))
    never, always = (fact(w, float((rates == p).mean())) for w, p in (("never", 0), ("always", 1)))
    table_ks = grid.table_ks(ks.tolist())
    return ModelCurves((family.name,), points, step_gains, never, always, shapes, table_ks)
