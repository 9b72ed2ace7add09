"""Sampling that stopped because of outcomes: bounds against enumeration, false alarms, hits."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from passk_cli.inference.stopping import (
    FIRST_PASS,
    ONCE_PASSED,
    OPTIONAL_STOPPING_LEVEL,
    REPLACED,
    UNKNOWN_LAST_OUTCOME,
    detect_optional_stopping,
    has_optional_stopping,
)
from tests.conftest import long_cases

Cells = tuple[np.ndarray, np.ndarray, np.ndarray]


def until_first_pass(rng: np.random.Generator, p: np.ndarray, most: int) -> Cells:
    """n, c and whether the last passed, of attempts that stop at the first pass or after `most`."""
    first = rng.geometric(np.maximum(p, 1e-9))
    passed = (first <= most).astype(np.int64)
    return np.minimum(first, most), passed, passed


def honest(rng: np.random.Generator, p: np.ndarray, n: np.ndarray) -> Cells:
    """n, c and whether the last passed, of attempts whose number nothing changes."""
    passed = (rng.random((len(n), n.max())) < p[:, None]) & (np.arange(n.max()) < n[:, None])
    return n, passed.sum(axis=1), passed[np.arange(len(n)), n - 1].astype(np.int64)


def test_fisher_is_the_share_of_all_placements() -> None:
    # One pass each, of which the bound for one among n says less here.
    n, c = np.array([5, 5, 10, 10, 10, 10, 10]), np.array([1, 1, 1, 0, 0, 0, 0])
    solved = [set(places) for places in combinations(range(7), 3)]
    share = sum({0, 1} <= places for places in solved) / len(solved)
    result = detect_optional_stopping(n, c)
    assert result is not None
    assert (result.kind, result.largest_n, result.short_tasks) == (FIRST_PASS, 10, 2)
    assert result.max_data_probability_if_n_fixed == pytest.approx(share, rel=1e-12)
    assert result.first_attempt_pass_share == 0
    assert result.solved_share_of_all_tasks == pytest.approx(3 / 7)


def test_one_pass_each_and_none_unsolved() -> None:
    # All solved: Fisher says nothing; one pass among n has at most the chance (1 − 1/n)^(n−1).
    n = np.array([1, 2, 3, 4, 5])
    result = detect_optional_stopping(n, np.ones(5, dtype=np.int64))
    most_likely = math.prod((1 - 1 / i) ** (i - 1) for i in range(2, 6))
    assert result is not None
    assert result.max_data_probability_if_n_fixed == pytest.approx(most_likely, rel=1e-12)
    assert result.first_attempt_pass_share == pytest.approx(0.2)
    # In order, the pass stands last with a chance of 1/n besides.
    ordered = detect_optional_stopping(
        n, np.ones(5, dtype=np.int64), last=np.ones(5, dtype=np.int64)
    )
    assert ordered is not None
    assert ordered.max_data_probability_if_n_fixed == pytest.approx(
        most_likely / math.factorial(5), rel=1e-12
    )


def test_a_pass_known_to_be_followed_by_an_attempt_speaks_against_the_first_pass() -> None:
    rng = np.random.default_rng(3)
    n, c, last = until_first_pass(rng, np.full(50, 0.3), 10)
    result = detect_optional_stopping(n, c, last=last)
    assert result is not None
    assert result.kind == FIRST_PASS
    followed = last.copy()
    followed[np.flatnonzero((n > 1) & (c == 1))[0]] = 0
    second = detect_optional_stopping(n, c, last=followed)
    assert second is None or second.kind == ONCE_PASSED
    unknown = detect_optional_stopping(n, c, last=np.full(50, UNKNOWN_LAST_OUTCOME))
    assert unknown is not None
    assert unknown.kind == FIRST_PASS


@pytest.mark.parametrize(
    ("n", "c"),
    [
        ([10] * 60, [0, 1] * 30),
        ([1] * 60, [0, 1] * 30),
        ([1, 2, 5, 5], [1, 1, 0, 0]),
        ([2, 3, 1], [1, 1, 1]),
        ([2], [0]),
    ],
    ids=["equal n", "n = 1", "few tasks", "fewer", "one task"],
)
def test_never_a_word(n: list[int], c: list[int]) -> None:
    assert not has_optional_stopping(np.array(n), np.array(c))


def test_failures_replaced_by_retries() -> None:
    rng = np.random.default_rng(0)
    numbered, c, last = until_first_pass(rng, rng.beta(1, 4, 60), 5)
    remaining = np.ones(60, dtype=np.int64)
    result = detect_optional_stopping(remaining, c, numbered, last)
    assert result is not None
    assert (result.kind, result.largest_n) == (REPLACED, 5)
    assert result.max_data_probability_if_n_fixed < OPTIONAL_STOPPING_LEVEL
    assert result.first_attempt_pass_share == pytest.approx(np.mean((numbered == 1) & (c == 1)))
    # Holes that attempts lost by accident leave say nothing.
    assert not has_optional_stopping(
        *honest(rng, np.full(60, 0.5), np.full(60, 3))[:2], rng.integers(3, 6, 60)
    )


def test_batches_until_something_passed() -> None:
    rng = np.random.default_rng(0)
    batches = np.where(rng.binomial(10, rng.beta(0.5, 3, 60)) > 0, 10, 30)
    assert has_optional_stopping(batches, (batches == 10) * rng.integers(1, 5, 60))


@pytest.mark.parametrize("sizes", [(5, 10), (10, 20, 40), (20, 200)])
def test_fewer_attempts_at_tasks_known_to_be_easy_are_a_design(sizes: tuple[int, ...]) -> None:
    """Fisher's test alone took up to 98 % of such models for stopped ones."""
    rng, alarms = np.random.default_rng(4), 0
    for tasks in (20, 164):
        for _ in range(20):
            p = np.sort(rng.beta(0.3, 0.5, tasks))[::-1]
            n = np.array(sizes)[np.arange(tasks) * len(sizes) // tasks]
            alarms += has_optional_stopping(*honest(rng, p, n)[:2])
    assert alarms <= 2


def test_missing_zeros_are_detected_if_every_task_has_passed() -> None:
    """Batches of ten until one has a pass, and none was without in the end."""
    rng = np.random.default_rng(0)
    passes = rng.binomial(10, 0.12, (60, 40))
    first = (passes > 0).argmax(axis=1)
    n, c = 10 * (first + 1), passes[np.arange(60), first]
    result = detect_optional_stopping(n, c)
    assert result is not None
    assert (result.kind, result.solved_share_of_all_tasks) == (ONCE_PASSED, 1.0)
    assert result.max_data_probability_if_n_fixed < 1e-6
    # The same passes among tasks of which as many have none as the rates let expect.
    assert detect_optional_stopping(np.r_[n, 10, 400], np.r_[c, 0, 0]) is None


def test_no_zeros_are_missing_if_all_tasks_pass_often() -> None:
    result = detect_optional_stopping(np.r_[np.full(30, 10), 40, 40], np.r_[np.full(30, 9), 0, 0])
    assert result is not None
    assert result.max_data_probability_if_n_fixed == pytest.approx(0.5, abs=1e-3)


LAWS = [(0.5, 3), (1, 4), (2, 2), (9, 1)]


@pytest.mark.parametrize("law", [*LAWS[::2], *long_cases(*((law,) for law in LAWS[1::2]))], ids=str)
def test_false_alarms_are_rarer_than_the_level(law: tuple[float, float]) -> None:
    # 4 laws × 600 data sets: at a rate of 1 % each, more than 14 of 600 have a chance of 0.1 %.
    rng, alarms = np.random.default_rng(1), 0
    for tasks in (10, 20, 50):
        for expected in (False, True):
            for _ in range(50):
                p = rng.beta(*law, tasks)
                for n in (np.maximum(rng.binomial(5, 0.9, tasks), 1), rng.choice([3, 6], tasks)):
                    sizes, c, last = honest(rng, p, n)
                    alarms += has_optional_stopping(sizes, c, last=last if expected else None)
    assert alarms <= 14


@pytest.mark.parametrize("law", LAWS[:3], ids=str)
def test_stopped_sampling_is_detected(law: tuple[float, float]) -> None:
    rng, hits = np.random.default_rng(2), 0
    for _ in range(50):
        n, c, _ = until_first_pass(rng, rng.beta(*law, 50), 5)
        hits += has_optional_stopping(n, c)
    assert hits >= 49
