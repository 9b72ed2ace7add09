"""The bootstrap distribution of every metric and model, with limits from several methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from passk_cli.arrays import Floats, group_by
from passk_cli.inference.intervals import (
    GUARDED_T,
    METHOD_CHOICES,
    METHODS,
    METHODS_THAT_NEED_BOUNDS,
    PAIRED_SCORE,
    checked_method_name,
)
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.ranking import lead_shares
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.rank_resampling import have_equal_attempt_counts, resampled_means
from passk_cli.study.result import Result
from passk_cli.study.values import SeriesKey, TaskValues, on_shared_tasks

DEFAULT_METHODS_BY_POPULATION = {
    NEW_TASKS: ("guard", "percentile", "bca", "t"),
    THESE_TASKS: ("hull", "jackknife", "percentile"),
}


@dataclass(frozen=True)
class MetricDistribution:
    """The bootstrap distribution of one metric of one model.

    compared_model_count : number of compared models, including this model.
    first_place_share : share of resamples in which this model is first.  If several models are
        first in a resample, they get equal parts of this resample.  The share is None if models
        cannot be compared, for example because they have different numbers of attempts.
    """

    task_values: TaskValues
    draws: Floats
    results_per_interval_method: tuple[Result, ...]
    compared_model_count: int = 1
    shared_task_count: int = 0
    union_task_count: int = 0
    first_place_share: float | None = None

    @property
    def series(self) -> SeriesKey:
        return self.task_values.series

    @property
    def bias(self) -> float:
        """The mean of the resamples minus the estimate."""
        return float(self.draws.mean()) - self.task_values.mean

    @property
    def se(self) -> float:
        """The standard deviation of the resamples, which estimates the standard error."""
        return float(self.draws.std(ddof=1))

    @property
    def variance_shares(self) -> tuple[float | None, float | None]:
        """The share of the variance that comes from tasks, and the share that comes from attempts.

        Both shares are None if they are not known.
        """
        within = self.task_values.within_task_variance_share
        return (None if within is None else 1 - within), within


def choose_interval_methods(
    counts: Counts, names: Sequence[str], confidence: Confidence
) -> tuple[str, ...]:
    """The interval methods with the given names.

    The name "all" stands for all methods that suit the data.  If `names` is empty, the result
    contains the default methods.
    """
    population, level = confidence.population, confidence.level
    if tuple(names) == ("all",):
        single = int(counts.n.max()) == 1 and counts.clusters is None
        suitable = [m for m in METHOD_CHOICES[:-1] if population in METHODS[m].populations]
        excluded = () if single else ("wilson", "clopper-pearson")
        return tuple(m for m in suitable if m not in (GUARDED_T, PAIRED_SCORE, *excluded))
    if not names:
        return DEFAULT_METHODS_BY_POPULATION[population]
    return tuple(checked_method_name(name, level, population) for name in names)


def methods_or_bca_without_bounds(
    metric: Metric, methods: Sequence[str], confidence: Confidence
) -> tuple[str, ...]:
    """The interval methods for a metric.

    If the bounds of the metric are unknown, BCa replaces the methods that need bounds.
    """
    if metric.bounds is not None or confidence.bounds is not None:
        return tuple(methods)
    return tuple(dict.fromkeys("bca" if m in METHODS_THAT_NEED_BOUNDS else m for m in methods))


def compute_metric_distributions(
    study: Analysis, values: Iterable[TaskValues], methods: Sequence[str], kind: str
) -> list[MetricDistribution]:
    """One bootstrap distribution per model and metric, in the order of `values`.

    The result contains only models and metrics that have values.
    """
    confidence = study.confidence
    fixed = confidence.population != NEW_TASKS
    estimable = [rates for rates in values if rates.has_values]
    by_tasks = group_by(estimable, lambda rates: rates.tasks.tobytes())
    rivals = group_by(estimable, lambda rates: (rates.metric, *rates.series[1:]))
    draws: dict[int, Floats] = {}
    for same_tasks in by_tasks.values():
        if fixed:
            draws |= {id(rates): rates.simulated_means(confidence) for rates in same_tasks}
        else:
            means = resampled_means(same_tasks, confidence, kind)
            draws |= dict(zip(map(id, same_tasks), means.T, strict=True))
    records = {}
    for models in rivals.values():
        model_draws = np.stack([draws[id(rates)] for rates in models], axis=1)
        shared = on_shared_tasks(models)
        tasks = len(shared[0].tasks)
        total_tasks = len(np.unique(np.concatenate([rates.tasks for rates in models])))
        leads: list[float | None] = [None] * len(models)
        if len(models) > 1 and have_equal_attempt_counts(models) and (fixed or tasks):
            means = (
                model_draws
                if fixed or tasks == total_tasks
                else resampled_means(shared, confidence, kind)
            )
            leads = list(lead_shares(models[0].metric.better_sign * means).tolist())
        for rates, share in zip(models, leads, strict=True):
            suitable = methods_or_bca_without_bounds(rates.metric, methods, confidence)
            limited = (study.result(rates, replace(confidence, interval=name)) for name in suitable)
            records[id(rates)] = MetricDistribution(
                rates, draws[id(rates)], tuple(limited), len(models), tasks, total_tasks, share
            )
    return [records[id(rates)] for rates in estimable]


def resample_file_columns(
    counts: Counts, distributions: Sequence[MetricDistribution]
) -> dict[str, Any]:
    """The columns of the file to which passk writes the resamples.

    The file has one row per resample, model and metric.
    """
    draws = np.stack([d.draws for d in distributions]) if distributions else np.empty((0, 0))
    names = ("model", *counts.group_names, "metric")
    texts = [(*d.series, d.task_values.metric.name) for d in distributions]
    table = np.array(texts, dtype=object).reshape(-1, len(names))
    return {
        "resample": np.tile(np.arange(draws.shape[1]), len(draws)),
        **dict(zip(names, np.repeat(table, draws.shape[1], axis=0).T, strict=True)),
        "value": draws.ravel(),
    }
