"""A difference that a few tasks decide is said to be one; one that many carry is not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import passk_cli


def table(old: np.ndarray, new: np.ndarray, n: int = 10) -> dict[str, list[object]]:
    """Counts of two models."""
    tasks = [f"t{t}" for t in range(len(old))]
    return {
        "model": ["old"] * len(old) + ["new"] * len(new),
        "task": tasks * 2,
        "n": [n] * 2 * len(old),
        "c": [*old.tolist(), *new.tolist()],
    }


def test_a_few_tasks_that_decide_are_named() -> None:
    old, new = np.full(60, 5), np.full(60, 5)
    old[:3], new[:3] = 0, 10
    new[3:15], new[15:19] = 6, 4
    with pytest.warns(
        passk_cli.PasskWarning, match="few tasks decide the verdict about new against old at"
    ):
        findings = passk_cli.compare(table(old, new), metrics=["pass@1"])
    assert findings.frame["verdict"].iloc[0] in ("better", "worse")


@pytest.mark.parametrize("tasks", [20, 60])
def test_a_difference_of_many_tasks_gets_no_warning(tasks: int) -> None:
    rng = np.random.default_rng(3)
    rates = rng.beta(2, 2, tasks)
    old = rng.binomial(10, rates * 0.5)
    new = rng.binomial(10, rates)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = passk_cli.compare(table(old, new), metrics=["pass@1"])
    assert findings.frame["verdict"].iloc[0] in ("better", "worse")
