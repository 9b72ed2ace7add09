"""Best temperatures of models, comparisons of models at each temperature, and power laws."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.arrays import group_by
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import quote_text
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.metrics.pass_k import pass_at_and_hat_curves
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Cell, Estimate
from passk_cli.report.phrases import plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.pairwise_tests import BETTER, WORSE, compare_pairs
from passk_cli.study.rank_resampling import shares_of_lead
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.significance_options import SECONDARY_TEST_FAMILY
from passk_cli.study.values import SeriesKey, TaskValues, on_shared_tasks
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.temperature_models.temperature import (
    FEWEST_TEMPERATURES,
    best_temperature_index_by_k,
    fit_power_law_to_switches,
)

# passk fits a power law to the best temperature T* at no more than _MAX_POWER_LAW_KS values of k,
# which are spaced logarithmically.
_MAX_POWER_LAW_KS = 64
# passk reports an interval for a power law only if a power law can be fitted in at least the share
# _MIN_FITTED_RESAMPLE_SHARE of the resamples. An interval from fewer resamples would be biased.
_MIN_FITTED_RESAMPLE_SHARE = 0.95
# A difference between two means that is smaller than 1e-12 is a rounding error.
_EQUAL_TOLERANCE = 1e-12
TEMPERATURE_COLUMN_NAME = "temperature"
_PLAIN_NUMBER_PATTERN = re.compile(r"\d+(\.\d*)?|\.\d+")


def regrouped_by_temperature(counts: Counts, column: str) -> Counts:
    """Use the values of `column` as temperatures, and make the temperature the first group.

    Temperatures are written in the shortest form, for example "0.2" instead of "0.20". The counts
    of equal temperatures are added up.
    Errors: DataError if a temperature is negative or not a number.
    """
    place = 1 + counts.group_names.index(column)
    temperatures = [
        format_temperature(_parse_temperature(column, series[place])) for series in counts.series
    ]
    if column != TEMPERATURE_COLUMN_NAME and TEMPERATURE_COLUMN_NAME in counts.group_names:
        values = {
            series[1 + counts.group_names.index(TEMPERATURE_COLUMN_NAME)]
            for series in counts.series
        }
        settle = SuggestedFix({"--temperature": TEMPERATURE_COLUMN_NAME, "--by": None})
        raise ParameterError(
            OptionWithValue("--by", TEMPERATURE_COLUMN_NAME),
            f"the output already has a column with this name, which contains {column}",
            name="reserved-column", settles=[settle] * all(map(_PLAIN_NUMBER_PATTERN.fullmatch,
                values)),
        )  # fmt: skip
    other_groups = [i for i in range(1, 1 + len(counts.group_names)) if i != place]
    return counts.with_renamed_series(
        [
            (series[0], temperature, *(series[i] for i in other_groups))
            for series, temperature in zip(counts.series, temperatures, strict=True)
        ],
        (TEMPERATURE_COLUMN_NAME, *(counts.group_names[i - 1] for i in other_groups)),
    )


def format_temperature(temperature: float) -> str:
    """Format a temperature without unnecessary digits.

    >>> format_temperature(0.2), format_temperature(1.0)
    ('0.2', '1')
    """
    return repr(temperature).removesuffix(".0")


def _parse_temperature(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        value_text = repr(text) if text else "empty"
        keep_others = {"--where": f"CAST({column} AS VARCHAR) <> {quote_text(text)}"}
        raise DataError(
            f"column {column}",
            f"a temperature must be a number of at least 0; got {value_text}", "correct it",
            name="no-temperature", settles=[SuggestedFix(keep_others, "leaves its rows out")],
        )  # fmt: skip
    return value + 0.0


@dataclass(frozen=True)
class BestTemperatureVerdict:
    """The best temperature T* of a model at one metric, and the lead of T* over other temperatures.

    The ranked temperatures begin with T*. `comparisons_with_best` compares T* with all other
    temperatures, of which the second-best comes first. If the number of attempts differs between
    temperatures, `first_place_shares` contains None instead of shares of resamples.
    """

    task_values_of_ranked_temperatures: Sequence[TaskValues]
    first_place_shares: Mapping[SeriesKey, Cell]
    comparisons_with_best: Sequence[Comparison]
    lead_over_second: Result

    @property
    def series(self) -> SeriesKey:
        """The model and its groups, without the temperature."""
        return without_temperature(self.task_values_of_ranked_temperatures[0].series)

    @property
    def best_temperatures(self) -> list[str]:
        """The temperatures with the highest mean, in increasing order."""
        differences = (
            (series_temperature_text(c.second), c.difference) for c in self.comparisons_with_best
        )
        equal = [
            temperature
            for temperature, d in differences
            if d is not None and abs(d) < _EQUAL_TOLERANCE
        ]
        return sorted(
            (series_temperature_text(self.task_values_of_ranked_temperatures[0]), *equal), key=float
        )

    @property
    def has_significant_lead(self) -> bool:
        return self.comparisons_with_best[0].verdict == BETTER

    @property
    def tied_temperatures(self) -> list[str]:
        """The temperatures that are not significantly worse than T*, in increasing order."""
        return sorted(
            (
                series_temperature_text(c.second)
                for c in self.comparisons_with_best
                if c.verdict != BETTER
            ),
            key=float,
        )


def series_temperature_text(rates: TaskValues) -> str:
    """The temperature of a model's values, which is the first group after the model."""
    return rates.series[1]


def _series_temperature_number(rates: TaskValues) -> float:
    return float(series_temperature_text(rates))


def without_temperature(series: SeriesKey) -> SeriesKey:
    """The model and its groups, without the temperature."""
    return (series[0], *series[2:])


def temperature_rankings(values: Sequence[TaskValues]) -> list[list[TaskValues]]:
    """Rank the temperatures of each model at each metric, if there are two or more temperatures.

    T* is the temperature with the highest mean on the tasks that all temperatures share. If means
    are equal, the lowest temperature is T*. The remaining temperatures follow in the order of their
    means.
    """
    estimable = filter(lambda rates: rates.has_values, values)
    cells = group_by(estimable, lambda rates: (without_temperature(rates.series), rates.metric))
    ranked = []
    for temperatures in cells.values():
        temperatures.sort(key=_series_temperature_number)
        shared = on_shared_tasks(temperatures)
        if len(temperatures) > 1 and len(shared[0].tasks):
            means = np.stack([rates.values for rates in shared], axis=1).mean(axis=0)
            best = best_temperature_index_by_k(means[:, None])[0]
            remaining = (i for i in np.argsort(-means, kind="stable") if i != best)
            ranked.append([temperatures[i] for i in (best, *remaining)])
    return ranked


@dataclass(frozen=True)
class ModelPairAcrossTemperatures:
    """Two models of one group, compared at equal temperatures and at their best temperatures."""

    first: SeriesKey
    second: SeriesKey
    at_equal_temperatures: Sequence[Comparison]
    at_best_temperatures: dict[Metric, Comparison]

    @property
    def has_rank_flip(self) -> bool:
        """Whether each of the two models is significantly better at some temperature and metric."""
        return {BETTER, WORSE} <= {c.verdict for c in self.at_equal_temperatures}


def pairs_of_models_to_compare(
    values: Sequence[TaskValues], best: Sequence[TaskValues]
) -> list[tuple[TaskValues, TaskValues]]:
    """All pairs of models in one group at each metric, at equal and at the best temperatures.

    The model with the higher mean over all metrics and temperatures comes first.
    """
    comparable: dict[tuple[Metric, SeriesKey], list[TaskValues]] = {}
    means: dict[str, list[float]] = {}
    for rates in values:
        if rates.has_values:
            comparable.setdefault((rates.metric, rates.series[1:]), []).append(rates)
            means.setdefault(rates.series[0], []).append(rates.mean)
    for rates in best:
        comparable.setdefault((rates.metric, ("best", *rates.series[2:])), []).append(rates)
    order = {
        model: (-sum(model_means) / len(model_means), model) for model, model_means in means.items()
    }
    pairs: dict[tuple[Metric, SeriesKey, SeriesKey], tuple[TaskValues, TaskValues]] = {}
    for (metric, _), models in comparable.items():
        for a, b in combinations(sorted(models, key=lambda rates: order[rates.series[0]]), 2):
            pairs.setdefault((metric, a.series, b.series), (a, b))
    return list(pairs.values())


def group_by_model_pair(
    comparisons: Sequence[Comparison], best: Sequence[TaskValues]
) -> list[ModelPairAcrossTemperatures]:
    """Group the comparisons by pair of models.

    Pairs come first if the better model depends on the temperature or the metric.
    """
    stars = {(rates.metric, rates.series) for rates in best}
    by_pair = group_by(
        comparisons,
        lambda c: (without_temperature(c.first.series), without_temperature(c.second.series)),
    )
    leads = []
    for (first, second), pair_results in by_pair.items():
        at_equal = [
            c
            for c in pair_results
            if series_temperature_text(c.first) == series_temperature_text(c.second)
        ]
        at_best = {
            c.first.metric: c
            for c in pair_results
            if {(c.first.metric, rates.series) for rates in (c.first, c.second)} <= stars
        }
        leads.append(
            ModelPairAcrossTemperatures(
                first,
                second,
                sorted(at_equal, key=lambda c: _series_temperature_number(c.first)),
                at_best,
            )
        )
    return sorted(leads, key=lambda lead: not lead.has_rank_flip)


@dataclass(frozen=True)
class BestTemperaturePowerLaw:
    """The power law T* = factor · k^exponent of one model, or the reason why there is none.

    `temperatures_best_at_some_k` contains the temperatures that are T* at some k up to `k_max`.
    """

    series: SeriesKey
    temperatures_best_at_some_k: Sequence[str]
    k_max: int
    exponent: Result


def fit_power_laws(
    values: Sequence[TaskValues], confidence: Confidence
) -> list[BestTemperaturePowerLaw]:
    """Fit the power law of T* for pass@k, for each model with two or more temperatures.

    T*(k) is the best temperature at k. The fit uses every k up to the smallest number of attempts,
    or at most 64 of these values. A temperature is left out if some task has only one attempt.
    """
    models: dict[SeriesKey, dict[str, TaskValues]] = {}
    for rates in values:
        if rates.n.min() > 1:
            models.setdefault(without_temperature(rates.series), {}).setdefault(
                series_temperature_text(rates), rates
            )
    fits = []
    for model, temperatures in items_with_progress(models.items(), "computing", "models"):
        shared = on_shared_tasks(sorted(temperatures.values(), key=_series_temperature_number))
        if len(shared) > 1 and len(shared[0].tasks):
            k_max = min(int(rates.n.min()) for rates in temperatures.values())
            fits.append(_fit_power_law(model, shared, k_max, confidence))
    return fits


def _fit_power_law(
    model: SeriesKey, shared: Sequence[TaskValues], k_max: int, confidence: Confidence
) -> BestTemperaturePowerLaw:
    """Fit the power law of one model to values on shared tasks, sorted by temperature."""
    ks = np.unique(np.geomspace(1, k_max, _MAX_POWER_LAW_KS).round().astype(np.int64))
    curves = [pass_at_and_hat_curves(rates.n, rates.c, k_max)[0][:, ks - 1] for rates in shared]
    values = np.stack(curves, axis=1)
    temperatures = np.array([_series_temperature_number(rates) for rates in shared])
    means = values.mean(axis=0)
    best = [
        series_temperature_text(shared[i]) for i in np.unique(best_temperature_index_by_k(means))
    ]
    exponent, factor = (
        float(value[0]) for value in fit_power_law_to_switches(temperatures, ks, means[None])
    )
    n = np.concatenate([rates.n for rates in shared])
    reason, low, high = "", None, None
    if math.isnan(exponent):
        reason = (
            f"not fitted: T* has {plural(len(best), 'value')} ({', '.join(best)}); a power law"
            f" needs {FEWEST_TEMPERATURES} values above 0"
        )
    else:
        draws = bootstrap_means(
            values.reshape(len(values), -1), confidence.resamples, confidence.seed,
            clusters=shared[0].clusters,
        ).reshape(-1, *means.shape)  # fmt: skip
        exponents = fit_power_law_to_switches(temperatures, ks, draws)[0]
        finite = np.isfinite(exponents)
        if finite.mean() < _MIN_FITTED_RESAMPLE_SHARE:
            reason = (
                f"without an interval: in {100 * (1 - finite.mean()):.0f} % of the resamples T*"
                f" has fewer than {FEWEST_TEMPERATURES} temperatures"
            )
        else:
            tail = (1 - confidence.level) / 2
            low, high = np.quantile(exponents[finite], [tail, 1 - tail]).tolist()
    value = None if math.isnan(exponent) else exponent
    fact = Result(
        (model[0], "", *model[1:]), "pass@k", None,
        Estimate(value, low=low, high=high, reason=reason, unit="score"),
        size=SampleSize(len(values), int(n.min()), int(n.max())), method="percentile",
        level=confidence.level,
        extra_fields={"fact": "power law", "factor": None if value is None else factor},
    )  # fmt: skip
    return BestTemperaturePowerLaw(model, best, k_max, fact)


def analyze_temperatures(
    study: Analysis, table_metrics: Sequence[Metric]
) -> tuple[
    list[Result],
    list[Comparison],
    list[BestTemperatureVerdict],
    list[ModelPairAcrossTemperatures],
    list[BestTemperaturePowerLaw],
]:
    """Find the best temperatures with their tests, compare models, and fit power laws.

    The first group of the counts must be the temperature (see `regrouped_by_temperature`). The
    tests of leads at `table_metrics` are one family for the adjustment of p-values. All other
    tests, which only `--full` shows, are a second family.
    Errors: ParameterError if no model has values at two temperatures.
    """
    confidence, series = study.confidence, study.counts.series
    # Rows are sorted by the pass rate of the model at its best temperature, and then by
    # temperature.
    top: dict[SeriesKey, float] = {}
    for name, rate in zip(series, study.mean_pass_rates_of_series, strict=True):
        top[without_temperature(name)] = max(rate, top.get(without_temperature(name), 0.0))
    keys = [
        (-top[without_temperature(name)], without_temperature(name), float(name[1]))
        for name in series
    ]
    values = study.task_values(only=sorted(range(len(series)), key=keys.__getitem__))
    ranked = temperature_rankings(values)
    if not ranked:
        temperatures = {series_temperature_text(rates) for rates in values}
        if len(temperatures) == 1:
            raise ParameterError(
                "there are no temperatures to compare:"
                f" the only temperature is {temperatures.pop()}"
            )
        reasons = (rates.reason for rates in values if not rates.has_values)
        why = next(reasons, "no model has two temperatures with shared tasks")
        raise ParameterError(
            f"there are no temperatures to compare: {why}; passk estimate shows the temperatures"
            " of each model"
        )
    best = [ranking[0] for ranking in ranked]
    temperature_pairs = [pair for ranking in ranked for pair in combinations(ranking, 2)]
    pairs = [*temperature_pairs, *pairs_of_models_to_compare(values, best)]
    leads = {id(ranking[0]): ranking[1] for ranking in ranked if ranking[0].metric in table_metrics}
    primary = [
        at for at, (first, second) in enumerate(temperature_pairs) if leads.get(id(first)) is second
    ]
    answers = dict(
        zip(primary, compare_pairs([pairs[at] for at in primary], confidence,
            study.comparison_options),
            strict=True)
    )  # fmt: skip
    secondary = [at for at in range(len(pairs)) if at not in answers]
    other_comparisons = compare_pairs(
        [pairs[at] for at in secondary], confidence, study.comparison_options
    )
    answers |= {
        at: c.with_changes(family=SECONDARY_TEST_FAMILY)
        for at, c in zip(secondary, other_comparisons, strict=True)
    }
    compared = [answers[at] for at in range(len(pairs))]
    verdicts, remaining = [], iter(compared)
    for ranking in ranked:
        against = list(islice(remaining, math.comb(len(ranking), 2)))[: len(ranking) - 1]
        increasing = sorted(ranking, key=_series_temperature_number)
        shares = shares_of_lead(increasing, confidence)
        verdicts.append(
            BestTemperatureVerdict(ranking, shares, against, against[0].result(confidence))
        )
    rates = any(metric.family == "pass@" for metric in study.metrics)
    power_law_fits = fit_power_laws(values, confidence) if rates else []
    facts = _estimates_with_first_shares(study.results(values), verdicts)
    return facts, compared, verdicts, group_by_model_pair(list(remaining), best), power_law_fits


def _estimates_with_first_shares(
    facts: Sequence[Result], verdicts: Sequence[BestTemperatureVerdict]
) -> list[Result]:
    """Add to each estimate the share of resamples in which its temperature is first.

    The estimates of T* get a verdict, and a mark if T* is significantly better than all other
    temperatures.
    """
    shares = {
        (v.lead_over_second.name, series): s
        for v in verdicts
        for series, s in v.first_place_shares.items()
    }
    is_sole_best = {
        (
            v.lead_over_second.name,
            v.task_values_of_ranked_temperatures[0].series,
        ): not v.tied_temperatures
        for v in verdicts
    }
    words = {None: "", False: "best", True: "best, alone"}
    marks = [(fact, is_sole_best.get((fact.name, fact.series))) for fact in facts]
    return [
        replace(
            fact, estimate=replace(fact.estimate, is_significantly_best=bool(mark)),
            verdict=words[mark],
            extra_fields={"fact": "estimate", "leads": shares.get((fact.name, fact.series))},
        )
        for fact, mark in marks
    ]  # fmt: skip
