"""Tests differences between ratios of means, for example between costs per success."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.errors import raise_parameter_error_if_any
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.cost_per_success import RatioComparison, TaskCosts, compare_costs
from passk_cli.inference.intervals import FIELLER, Interval
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import ALL, BONFERRONI, MIN_P, ComparisonOptions
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix


def compare_costs_per_success(
    pairs: Sequence[tuple[Any, Any, Ints]], spending: Callable[[Any, Ints], TaskCosts],
    confidence: Confidence, tests: int, *, together: bool,
) -> list[RatioComparison]:  # fmt: skip
    """Compare the cost per success of each pair of models.

    tests : the number of tests in Bonferroni's method, or 1 if this method is not used.
    together : whether passk adjusts p-values and limits for all pairs together.
    """
    sides: dict[tuple[SeriesKey, bytes], TaskCosts] = {}
    for *models, tasks in pairs:
        for side in models:
            key = side.series, tasks.tobytes()
            if key not in sides:
                sides[key] = spending(side, tasks)
    place = {key: at for at, key in enumerate(sides)}
    return compare_costs(
        list(sides.values()),
        [(place[a.series, tasks.tobytes()], place[b.series, tasks.tobytes()])
         for a, b, tasks in pairs],
        1 - (1 - confidence.level) / tests, confidence.population, adjust=together,
        **confidence.resample_arguments,
    )  # fmt: skip


def compare_ratio_metrics(
    family: Sequence[Comparison], confidence: Confidence, rules: ComparisonOptions
) -> list[dict[str, Any]]:
    """For each comparison of a family, the p-value, the adjusted p-value, and the limits of the
    difference and of the ratio.

    If not all pairs share the same tasks, Bonferroni's method replaces min-P.
    """
    tests, name = len(family), rules.adjust or MIN_P
    if confidence.population != NEW_TASKS:
        name = rules.adjustment_without_sign_flips() if rules.adjust else BONFERRONI
    same_tasks = all(np.array_equal(c.tasks, family[0].tasks) for c in family)
    together = name == MIN_P and same_tasks
    if name == MIN_P and not same_tasks:
        name = BONFERRONI
    compared = compare_costs_per_success(
        [(c.first, c.second, c.tasks) for c in family],
        lambda side, tasks: side.restrict(tasks).task_costs,
        confidence, tests if name == BONFERRONI else 1, together=together,
    )  # fmt: skip
    adjusted = np.array([comparison.adjusted for comparison in compared])
    if name == BONFERRONI:
        adjusted = np.minimum(adjusted * tests, 1.0)
    elif not together:
        adjusted = ADJUSTMENTS[name](adjusted, np.zeros(tests))
    answers = []
    for comparison, p in zip(compared, adjusted.tolist(), strict=True):
        limits = Interval(
            comparison.difference.low, comparison.difference.high, confidence.level, FIELLER,
            confidence.population, comparison.difference.reason,
        )  # fmt: skip
        test = "" if math.isnan(comparison.p) else FIELLER
        answers.append({
            "interval": limits, "ratio": comparison.ratio, "test": test, "p": comparison.p,
            "smallest_p": 0.0,
            "adjusted": p, "alpha": comparison.alpha, "adjustment": name if test else "",
        })  # fmt: skip
    return answers


def refuse_options_for_ratios(comparisons: Sequence[Comparison], rules: ComparisonOptions) -> None:
    """Raise ParameterError for options that do not apply to ratios of means."""
    metrics = dict.fromkeys(c.first.metric for c in comparisons)
    ratio = next((metric.name for metric in metrics if metric.definition.is_ratio_of_means), "")
    problem = (
        f"{ratio} is a ratio of means, which has its own test and no values per task; leave out the"
        " metric or the option"
    )
    raise_parameter_error_if_any("invalid-method", *(
        (ratio and value, option, problem, (SuggestedFix({option.option: None}),)) for option, value
        in (
            (OptionWithValue("--test", rules.test), rules.test),
            (OptionWithValue("--margin", f"{rules.margin:g}"), rules.margin),
            (OptionWithValue("--family", ALL), rules.family == ALL and len(metrics) > 1),
        )
    ))  # fmt: skip
