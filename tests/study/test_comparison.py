"""Two models on the tasks both have: which these are, and what their differences can be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from passk_cli import read
from passk_cli.errors import DataError
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.study.comparison import comparison_on_shared_tasks, difference_interval_data
from passk_cli.study.confidence import Confidence
from passk_cli.study.pairwise_tests import compare_pairs
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.study.values import TaskValues, compute_values

CELLS = [("a", "t", 4, 4), ("a", "u", 4, 1), ("a", "v", 4, 2),
         ("b", "u", 2, 2), ("b", "v", 2, 1), ("b", "w", 2, 0), ("b", "x", 2, 0)]  # fmt: skip


def sides(cells: list[tuple[str, str, int, int]]) -> tuple[TaskValues, TaskValues]:
    first, second = compute_values(Counts.from_cells(cells), parse_metric_list("pass@1"))
    return first, second


def test_a_comparison_counts_tasks_that_one_model_lacks() -> None:
    first, second = sides(CELLS)
    comparison = comparison_on_shared_tasks(first, second)
    assert comparison.differences.tolist() == [1 / 4 - 1, 0.0]
    assert (comparison.only_in_first_count, comparison.only_in_second_count) == (1, 2)
    with pytest.raises(DataError, match="only the first model has 1 of the tasks"):
        comparison_on_shared_tasks(first, second, "error")
    same = comparison_on_shared_tasks(
        first.restrict(comparison.tasks), second.restrict(comparison.tasks), "error"
    )
    assert (same.differences.tolist(), same.only_in_first_count, same.only_in_second_count) == (
        comparison.differences.tolist(),
        0,
        0,
    )


def test_attempts_of_both_models_vary_for_these_tasks() -> None:
    comparison = comparison_on_shared_tasks(*sides(CELLS))
    (over_tasks,) = difference_interval_data([comparison], Confidence())
    assert (
        over_tasks.attempt_variances,
        over_tasks.metrics_with_attempt_counts,
        over_tasks.mixed_task_count,
    ) == (None, (), 0)
    (again,) = difference_interval_data([comparison], Confidence(population=THESE_TASKS))
    # p(1 − p)/(n − 1) of a, and of b.
    expected = [1 / 4 * 3 / 4 / 3, 1 / 4 / 3 + 1 / 4]
    assert again.attempt_variances is not None
    assert again.attempt_variances.tolist() == pytest.approx(expected, rel=1e-12)
    assert (len(again.metrics_with_attempt_counts), again.mixed_task_count) == (2, 2)


def test_a_difference_has_the_range_of_its_bounds() -> None:
    rows = [(model, task, score, 1) for model in "ab" for task in "tuv" for score in (1.0, 5.0)]
    data = pd.DataFrame(rows, columns=["model", "task", "score", "passed"])
    counts = read(data, attempts=["score"])
    pair = comparison_on_shared_tasks(*compute_values(counts, parse_metric_list("mean")))
    (sample,) = difference_interval_data([pair], Confidence(bounds=(1.0, 5.0)))
    assert (sample.lower_bound, sample.upper_bound) == (-4.0, 4.0)


def test_few_tasks_have_a_smallest_p() -> None:
    cells = [(model, task, 1, int(model == "a")) for model in "ab" for task in "tuv"]
    (all_differ,) = compare_pairs([sides(cells)], Confidence(), ComparisonOptions())
    assert (all_differ.test, all_differ.is_binary) == ("suissa-shuster", True)
    # Of 2³ outcomes of three tasks that differ, two are as far out.
    assert (all_differ.p, all_differ.smallest_p) == pytest.approx((2 / 8, 2 / 8), rel=1e-9)
    none_differ = [(model, task, 1, 1) for model in "ab" for task in "tuv"]
    (equal,) = compare_pairs([sides(none_differ)], Confidence(), ComparisonOptions())
    assert (equal.p, equal.smallest_p) == (1.0, 2 / 8)
    assert np.sign(all_differ.differences).tolist() == [1, 1, 1]
