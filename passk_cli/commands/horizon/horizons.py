"""The horizons of models, computed from fitted curves, and how fast the longest horizon grows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.arrays import Floats
from passk_cli.errors import DataError
from passk_cli.inference.horizon import (
    LOGISTIC_LINK_FUNCTION,
    WEIBULL_LINK_FUNCTION,
    doublings_per_day,
    fit_curves,
    frontier_models,
    isotonic_fit,
    isotonic_log2_horizon,
    log2_horizons,
    minutes_from_log2,
    percentile_limits,
    resampled_counts,
    resampled_log2_horizons,
    task_weights,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.values import SeriesKey, attempts_of, cluster_codes

# passk estimates a doubling time only from at least _MIN_GROWTH_MODELS models, because a line
# through two models always fits.
_MIN_GROWTH_MODELS = 3
_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class ModelHorizon:
    """The horizons of a model.

    log2_task_lengths, task_success_rates, weights : log₂ of the length, the success rate and the
        weight of each task.
    task_length_range : lengths of the shortest and of the longest task, in minutes.
    release_day : release date of the model, in days since 1970.
    curve_parameters, resampled_curve_parameters : parameters a and b of the logistic curve that is
        fitted to the data, and of the curves that are fitted to resamples.
    log2_horizons_by_shape : maps each shape of the curve to log₂ of the horizon at each success
        rate; infinite if the horizon is beyond all tasks.
    """

    series: SeriesKey
    log2_task_lengths: Floats
    task_success_rates: Floats
    weights: Floats
    task_length_range: tuple[float, float]
    family_count: int
    release_day: float | None
    curve_parameters: tuple[float, float]
    resampled_curve_parameters: Floats
    results: tuple[Result, ...]
    log2_horizons_by_shape: Mapping[str, Sequence[float]]

    @property
    def name(self) -> SeriesName:
        return SeriesName(self.series)

    @property
    def first_horizon(self) -> Estimate:
        return self.results[0].estimate

    @property
    def log2_first_horizon(self) -> float:
        return self.log2_horizons_by_shape["logistic"][0]

    @property
    def is_extrapolated(self) -> bool:
        return (
            self.first_horizon.value is not None
            and not self.log2_task_lengths.min()
            <= self.log2_first_horizon
            <= self.log2_task_lengths.max()
        )


def finite_minutes(log2: float) -> float | None:
    """Convert log₂ of a length to minutes, or return None if the length is 0 or not finite."""
    minutes = minutes_from_log2(log2)
    return minutes if 0 < minutes < math.inf else None


def task_minutes(counts: Counts) -> Floats:
    """The length of each task in minutes, or NaN if the length is unknown.

    Errors: DataError if a task has two lengths.
    """
    attempts = counts.attempts["minutes"]
    known = attempts.value > 0
    tasks, values = counts.task_codes[attempts.row_cell_indices[known]], attempts.value[known]
    low, high = np.full(len(counts.tasks), math.inf), np.zeros(len(counts.tasks))
    np.minimum.at(low, tasks, values)
    np.maximum.at(high, tasks, values)
    for task in np.flatnonzero(high > low * (1 + 1e-9)):
        raise DataError(
            f"task {counts.tasks[task]}",
            f"the task has two lengths, {low[task]:g} and {high[task]:g} minutes",
            "each task must have only one length; check the column with the"
            " lengths", name="two-values",
        )  # fmt: skip
    return np.where(np.isfinite(low), low, math.nan)


def sorted_model_horizons(
    study: Analysis, rates: Sequence[float], lengths: Floats, penalty: float
) -> list[ModelHorizon]:
    """The horizons of each model with tasks of known length.

    The model with the longest horizon comes first.
    """
    places = items_with_progress(range(len(study.counts.series)), "computing", "models")
    models = [
        model for place in places for model in _model_horizon(study, rates, lengths, penalty, place)
    ]
    return sorted(
        models,
        key=lambda m: (m.first_horizon.value is None, -(m.first_horizon.value or 0), m.series),
    )


def _model_horizon(
    study: Analysis, rates: Sequence[float], lengths: Floats, penalty: float, place: int
) -> Iterator[ModelHorizon]:
    counts, confidence = study.counts, study.confidence
    rows = np.r_[counts.slice_of_series(place)]
    rows = rows[np.isfinite(lengths[counts.task_codes[rows]])]
    if not len(rows):
        return
    tasks, n, c = counts.task_codes[rows], counts.n[rows], counts.c[rows]
    x, clusters = np.log2(lengths[tasks]), cluster_codes(counts, tasks)
    # If all tasks are in one family, passk resamples tasks instead of families.
    single = clusters is None or clusters.max() == 0
    families = np.arange(len(tasks)) if clusters is None or single else clusters
    weights = task_weights(families)
    passed, failed = weights * c / n, weights * (n - c) / n
    (a,), (b,) = fit_curves(x, passed[None], failed[None], penalty=penalty)
    draws = np.array([[a, b]])
    if math.isfinite(a):
        share = weights / n
        blocks = resampled_counts(n, c, families, **confidence.resample_arguments)
        draws = np.concatenate([
            np.stack(fit_curves(x, up * share, down * share, LOGISTIC_LINK_FUNCTION, (a, b),
                penalty),
                axis=1)
            for up, down in blocks
        ])  # fmt: skip
    shapes = {"logistic": [log2_horizons(a, b, rate).item() for rate in rates]}
    if math.isfinite(a):
        other, slope = fit_curves(
            x, passed[None], failed[None], WEIBULL_LINK_FUNCTION, penalty=penalty
        )
        shapes["Weibull"] = [
            log2_horizons(other, slope, rate, WEIBULL_LINK_FUNCTION).item() for rate in rates
        ]
        shapes["isotonic"] = [
            isotonic_log2_horizon(*isotonic_fit(x, passed, failed), r) for r in rates
        ]
    ends = float(lengths[tasks].min()), float(lengths[tasks].max())
    facts = []
    for rate, log2 in zip(rates, shapes["logistic"], strict=True):
        estimate = Estimate(finite_minutes(log2), unit="min")
        if estimate.value is None:
            estimate = replace(estimate, reason=_reason_without_horizon(a, x, log2))
        else:
            resampled = resampled_log2_horizons(draws, rate, float(weights @ x))
            low, high = map(minutes_from_log2, percentile_limits(resampled, confidence.level))
            unknown = ["lower"] * (low == 0) + ["upper"] * (high == math.inf)
            reason = f"resamples give no {' and '.join(unknown)} limit" if unknown else ""
            estimate = replace(estimate, low=low, high=high, reason=reason)
        facts.append(Result(
            counts.series[place], f"horizon@{rate:g}", None, estimate, method="percentile",
            size=SampleSize(len(tasks), int(n.min()), int(n.max())), level=confidence.level,
            extra_fields={"shape": "logistic", "shortest": ends[0], "longest": ends[1]},
        ))  # fmt: skip
    yield ModelHorizon(
        counts.series[place], x, c / n, weights, ends,
        len(x) if clusters is None else int(clusters.max()) + 1, _release_date(counts, place),
        (a, b), draws, tuple(facts), shapes,
    )  # fmt: skip


def _reason_without_horizon(a: float, x: Floats, log2: float) -> str:
    if math.isinf(a):
        return "every attempt passed" if a > 0 else "no attempt passed"
    if x.max() - x.min() < 1e-9:
        return "all tasks have the same length"
    if math.isnan(log2):
        return "success does not fall with the length of the tasks"
    return "success hardly falls with the length of the tasks"


def _release_date(counts: Counts, place: int) -> float | None:
    if "date" not in counts.attempts:
        return None
    dates = np.unique(attempts_of(counts, "date", counts.slice_of_series(place)).value)
    dates = dates[np.isfinite(dates)]
    if len(dates) > 1:
        raise DataError(
            f"model {SeriesName(counts.series[place])}", "the model has two release dates",
            "each model must have only one release date; check the column with the"
            " dates", name="two-values",
        )  # fmt: skip
    return float(dates[0]) / _SECONDS_PER_DAY if len(dates) else None


@dataclass(frozen=True)
class HorizonGrowth:
    """The doubling time in days, and the models that had the longest horizon at their release."""

    frontier_models: Sequence[ModelHorizon]
    doubling_time: Result


def horizon_growth(rivals: Sequence[ModelHorizon], rate: float, level: float) -> HorizonGrowth:
    """The doubling time of the longest horizon among models with release dates.

    Like METR, passk fits a line to log₂ of the horizons by release date, with least squares. The
    fit uses only models that had the longest horizon at their release. The limits are percentiles
    over joint resamples of these models.
    """
    known = [model for model in rivals if model.first_horizon.value is not None]
    dates, values = (
        [model.release_day or 0.0 for model in known],
        [model.log2_first_horizon for model in known],
    )
    leading = [known[place] for place in frontier_models(dates, values)]
    fact = Result(
        ("", *rivals[0].series[1:]), f"doubling@{rate:g}", None, Estimate(None, unit="days"),
        size=SampleSize(None), extra_fields={"models": len(leading)},
    )  # fmt: skip
    days = np.array([model.release_day for model in leading])
    if len(leading) < _MIN_GROWTH_MODELS or days.max() == days.min():
        reason = (
            f"a doubling time needs {_MIN_GROWTH_MODELS} models on the frontier with"
            f" different dates"
        )
        return HorizonGrowth(leading, replace(fact, estimate=replace(fact.estimate, reason=reason)))
    slope = doublings_per_day(
        days, np.array([[model.log2_first_horizon for model in leading]])
    ).item()
    draws = np.stack(
        [
            log2_horizons(
                model.resampled_curve_parameters[:, 0], model.resampled_curve_parameters[:, 1], rate
            )
            for model in leading
        ],
        axis=1,
    )
    low, high = percentile_limits(doublings_per_day(days, draws), level)
    # If the horizon does not grow, the doubling time is infinite.
    longest, shortest = (1 / each if each > 0 else math.inf for each in (low, high))
    estimate = Estimate(
        1 / slope if slope > 0 else None, low=shortest, high=longest, unit="days",
        reason="" if slope > 0 else "the longest horizon does not grow",
    )  # fmt: skip
    return HorizonGrowth(
        leading, replace(fact, estimate=estimate, method="percentile", level=level)
    )


def success_curve(model: ModelHorizon, x: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """The success rates of a model at the log₂ lengths x, and pointwise limits of the rates."""
    a, b = model.resampled_curve_parameters.T
    rates = LOGISTIC_LINK_FUNCTION.rates_of_predictor(
        np.clip(a, -700, 700)[:, None] + b[:, None] * x
    )[2]
    low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return (
        LOGISTIC_LINK_FUNCTION.rates_of_predictor(
            model.curve_parameters[0] + model.curve_parameters[1] * x
        )[2],
        low,
        high,
    )
