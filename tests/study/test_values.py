"""Values per task and their means, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.inference.judge_correction import JudgeLabels
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.metrics.registry import Metric, parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.values import TaskValues, correct_by_labels

# c/n is 1/2, 1/4 and 1: mean 7/12, variance over tasks 7/48.
COUNTS = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 4, 1), ("m", "c", 3, 3)])
OVER_TASKS = math.sqrt(7 / 48 / 3)
# p(1 − p)/(n − 1) is 1/4, 1/16 and 0.
OVER_ATTEMPTS = math.sqrt(1 / 4 + 1 / 16) / 3


@pytest.mark.parametrize("method", ["none", None])
@pytest.mark.parametrize(
    ("population", "se"), [(NEW_TASKS, OVER_TASKS), (THESE_TASKS, OVER_ATTEMPTS)]
)
def test_standard_errors_are_over_tasks_or_over_attempts(
    population: str, se: float, method: str | None
) -> None:
    confidence = Confidence(interval=method, population=population)
    (fact,) = Analysis(COUNTS, parse_metric_list("pass@1"), confidence).results()
    assert (fact.estimate.value, fact.se) == pytest.approx((7 / 12, se), rel=1e-12)
    assert fact.estimate.se == (fact.se if method == "none" else None)


@pytest.mark.parametrize(
    ("population", "within", "se"),
    [
        (NEW_TASKS, None, OVER_TASKS),
        (NEW_TASKS, np.array([1 / 4, 1 / 16, 0]), OVER_TASKS),
        (THESE_TASKS, np.array([1 / 4, 1 / 16, 0]), OVER_ATTEMPTS),
        (THESE_TASKS, None, None),
    ],
)
def test_mean_of_any_value(population: str, within: np.ndarray | None, se: float | None) -> None:
    study = Analysis(COUNTS, confidence=Confidence(interval="none", population=population))
    # A task without a value is left out.
    values, spread = np.append(COUNTS.c / COUNTS.n, np.nan), None
    if within is not None:
        spread = np.append(within, 9.0)
    fact = study.mean_result(
        ("m",), "share", values, np.arange(4), np.array([2, 4, 3, 5]), within=spread
    )
    assert fact.estimate.value == pytest.approx(7 / 12, rel=1e-12)
    assert fact.se == (None if se is None else pytest.approx(se, rel=1e-12))
    assert fact.size == (3, 2, 5)
    reason = "no interval for these tasks" if se is None else ""
    assert (fact.estimate.reason, fact.estimate.is_share) == (reason, True)


def test_missing_outcomes_make_a_share_a_range_of_shares() -> None:
    n, c, missing = np.array([[2, 4], [1, 1], [0, 2]])
    counts = Counts.from_columns([("m",)] * 2, ["a", "b"], n, c, missing=missing)
    (values,) = Analysis(counts, parse_metric_list("pass@1")).task_values()
    assert values.estimate == Estimate(3 / 8, range_upper_end=5 / 8)
    (certain,) = Analysis(COUNTS, parse_metric_list("pass@1")).task_values()
    assert certain.estimate == pytest.approx(7 / 12, rel=1e-12)


def test_tasks_that_are_all_labelled_have_their_plain_values() -> None:
    """Of 60 tasks the first 20 have a label for each attempt, and none of these passes."""
    metric, n = Metric("pass^", 2), np.full(60, 2)
    c = np.random.default_rng(1).integers(0, 3, 60)
    table = np.zeros((60, 2, 2), dtype=np.int64)
    table[:20, 0, 0], table[:20, 1, 0] = (n - c)[:20], c[:20]
    judged = TaskValues(("m",), metric, np.arange(60), n, c, metric.values(n, c))
    corrected = correct_by_labels(judged, JudgeLabels(n, c, table))
    assert corrected.label_degrees_of_freedom == 19
    assert corrected.labelled_values_near_bound is not None
    labelled = corrected.restrict(np.arange(20))
    assert (
        labelled.label_degrees_of_freedom,
        labelled.labelled_values_near_bound,
        labelled.hidden_variance,
    ) == (None, None, 0.0)
    assert not labelled.values.any()
