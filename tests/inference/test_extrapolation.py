"""Extrapolation: closed forms, laws, refusals, and a short simulation of the range."""

from __future__ import annotations

import csv
import gzip
import math

import numpy as np
import pytest

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.extrapolation import (
    MAX_RANGE_WIDTH,
    Extrapolation,
    largest_mostly_known_k,
    round_to_two_digits,
    stopped_on_outcome_reason,
)
from passk_cli.metrics.pass_k import pass_at_k_per_pair
from tests.conftest import ROOT


def attempts(
    seed: int = 0, tasks: int = 80, a: float = 0.4, b: float = 2.0, n: int = 40
) -> tuple[Ints, Ints]:
    rng = np.random.default_rng(seed)
    sizes = np.full(tasks, n)
    return sizes, rng.binomial(sizes, rng.beta(a, b, tasks))


def test_the_range_holds_the_estimate_within_the_attempts() -> None:
    n, c = attempts()
    for k in (1, 5, 20, 40):
        low, high = Extrapolation(n, c).range(k)
        assert low < pass_at_k_per_pair(n, c, k).mean() < high


def test_ranges_rise_and_widen() -> None:
    result = Extrapolation(*attempts())
    ends = np.array([result.range(k) for k in (1, 10, 40, 100, 1_000, 10**6, 10**9)])
    assert np.all(np.diff(ends[:, 1]) >= -1e-3)
    # The lowest value stays near that at the attempts made: the unsolved may never pass.
    assert np.all(np.diff(ends[:, 0]) >= -1e-3)
    widths = ends[:, 1] - ends[:, 0]
    assert np.all(np.diff(widths[2:]) >= -1e-3)
    assert ends[-1, 1] > 0.999


def test_failures_are_the_mirror() -> None:
    n, c = attempts()
    for k in (20, 400):
        low, high = Extrapolation(n, n - c).range(k)
        assert Extrapolation(n, c, for_pass_hat_k=True).range(k) == (1 - high, 1 - low)
    hat, at = (
        Extrapolation(n, x, m).model_average(np.array([80])) for x, m in ((c, True), (n - c, False))
    )
    np.testing.assert_allclose(hat.posterior_means, 1 - at.posterior_means)
    np.testing.assert_allclose((hat.low, hat.high), (1 - at.high, 1 - at.low))
    line = Extrapolation(n, n - c).pass_at_k_from_logit_line(np.array([80]))
    np.testing.assert_allclose(
        Extrapolation(n, c, for_pass_hat_k=True).pass_at_k_from_logit_line(np.array([80])), 1 - line
    )


def test_the_order_of_tasks_does_not_matter() -> None:
    n, c = attempts()
    order = np.random.default_rng(1).permutation(len(n))
    assert Extrapolation(n[order], c[order]).range(400) == Extrapolation(n, c).range(400)


def test_the_range_comes_to_the_closed_form_of_many_tasks() -> None:
    """With the shares f0, f1, f2 of tasks with 0, 1, 2 passes known, pass@k is at most
    1 − f0 (1 + f1 / (n f0))^−(k − n) (Jensen): the unsolved have one rate."""
    n, k, many = 10, 40, 400_000
    rates = np.array([0.03, 0.3])  # so the highest is attained by the truth, nearly
    shares = np.array([0.5, 0.5])
    counts = np.array([
        sum(w * math.comb(n, c) * p**c * (1 - p) ** (n - c)
            for p, w in zip(rates, shares, strict=True))
        for c in range(n + 1)
    ])  # fmt: skip
    c = np.repeat(np.arange(n + 1), np.round(counts * many).astype(int))
    low, high = Extrapolation(np.full(len(c), n), c).range(k)
    truth = float(shares @ (1 - (1 - rates) ** k))
    jensen = 1 - counts[0] * (1 + counts[1] / (n * counts[0])) ** -(k - n)
    assert low < truth < high < jensen + 0.01
    assert high - low < 0.05


def test_points_are_inside_narrow_ranges_only() -> None:
    result = Extrapolation(*attempts(tasks=60, a=0.2))
    for k in (60, 400, 100_000):
        low, high = result.range(k)
        point = result.point_estimate(k)
        assert (point is None) == (high - low > MAX_RANGE_WIDTH)
        assert point is None or low <= point <= high
    assert result.point_estimate(60) is not None
    assert result.point_estimate(100_000) is None


def test_clusters_are_worth_fewer_tasks() -> None:
    """Five tasks with the same counts in each cluster: as if each cluster were one task."""
    n, c = attempts(tasks=24)
    single = Extrapolation(n, c).range(200)
    together = Extrapolation(
        np.repeat(n, 5), np.repeat(c, 5), clusters=np.repeat(np.arange(24), 5)
    ).range(200)
    assert together == pytest.approx(single, abs=1e-3)


def test_the_line_goes_through_points_on_a_line() -> None:
    """With passes at one rate in one attempt per k, logit pass@k is not straight; three points of
    exact counts and numpy's polyfit say where the line goes."""
    n, c = np.full(4, 4), np.array([0, 1, 1, 2])
    heights = [
        float(np.log(p / (1 - p))) for p in (pass_at_k_per_pair(n, c, k).mean() for k in (1, 2, 3))
    ]
    slope, height = np.polyfit(np.log([1, 2, 3, 4]), [*heights, math.log(0.75 / 0.25)], 1)
    expected = 1 / (1 + np.exp(-(height + slope * np.log(50))))
    assert Extrapolation(n, c).pass_at_k_from_logit_line(np.array([50]))[0] == pytest.approx(
        expected
    )
    assert np.isnan(
        Extrapolation(np.full(9, 5), np.full(9, 5)).pass_at_k_from_logit_line(np.array([50]))
    ).all()


def test_a_prospect_comes_true() -> None:
    """With the attempts that it names, the range at its k is about as wide as it may be."""
    n, c = attempts(tasks=40, n=20, a=0.3, b=4.0)
    result = Extrapolation(n, c)
    prospect = result.attempts_needed(5_000)
    assert prospect is not None
    assert 40 <= prospect.attempts <= 200 < prospect.determined_k <= 5_000
    assert round_to_two_digits(prospect.determined_k) == prospect.determined_k
    widths = []
    for seed in range(8):
        more = attempts(seed + 100, tasks=40, n=prospect.attempts, a=0.3, b=4.0)
        low, high = Extrapolation(*more).range(prospect.determined_k)
        widths.append(high - low)
    assert abs(np.median(widths) - MAX_RANGE_WIDTH) < 0.15


def test_no_prospect_if_only_more_tasks_help() -> None:
    assert Extrapolation(np.full(4, 20), np.array([0, 0, 3, 20])).attempts_needed(1_000) is None


@pytest.mark.parametrize(
    ("n", "c", "reason"),
    [
        ([1] * 10 + [30] * 40, [1] * 10 + [0] * 40, "sampling seems to have stopped"),
        ([20] * 9, [3] * 9, ""),
        ([4] * 20, [1] * 20, ""),
        ([20] * 20, [0] * 20, ""),
        ([20] * 20, [20] * 20, ""),
        ([1] * 5, [0, 0, 1, 1, 1], ""),
    ],
)
def test_only_sampling_that_stopped_is_refused(n: list[int], c: list[int], reason: str) -> None:
    message = stopped_on_outcome_reason(np.array(n), np.array(c))
    assert reason in message
    assert bool(message) == bool(reason)
    if not reason:
        low, high = Extrapolation(np.array(n), np.array(c)).range(100)
        assert 0 <= low < high <= 1


def test_largest_known_is_had_by_nine_in_ten() -> None:
    assert largest_mostly_known_k(np.array([10] * 9 + [2])) == 10
    assert largest_mostly_known_k(np.array([10] * 8 + [2] * 2)) == 2
    assert largest_mostly_known_k(np.full(7, 33)) == 33


@pytest.mark.parametrize(
    ("k", "up", "rounded"),
    [(17, True, 17), (21, True, 21), (514, True, 520), (514, False, 510), (123_456, True, 130_000),
     (995, True, 1_000), (0, False, 0)],
)  # fmt: skip
def test_two_digits(k: int, up: bool, rounded: int) -> None:
    assert round_to_two_digits(k, up=up) == rounded


@pytest.mark.parametrize("experiment", ["short", "med", "long"])
def test_real_counts_of_a_thousand_attempts(experiment: str) -> None:
    """100 of the 1,000 attempts at 397 puzzles predict how many all of them solve."""
    with gzip.open(ROOT / "tests" / "data" / "p3" / "counts.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["model"].endswith(experiment)]
    n, c = (np.array([int(row[name]) for row in rows]) for name in ("n", "c"))
    assert (len(n), set(n.tolist())) == (397, {1_000})
    sample_of_tasks = np.random.default_rng(0).hypergeometric(c, n - c, 100)
    result = Extrapolation(np.full(397, 100), sample_of_tasks)
    low, high = result.range(1_000)
    solved = float((c > 0).mean())
    assert low <= solved <= high
    assert abs(float(result.model_average(np.array([1_000])).posterior_means[0]) - solved) < 0.08


def populations() -> dict[str, tuple[Floats, Floats]]:
    """Atoms of rates and their shares: smooth, lumps, and tasks that never pass."""
    even = (np.arange(400) + 0.5) / 400
    return {
        "plateau": (np.array([0.0, 0.3]), np.array([0.6, 0.4])),
        "lumps": (np.array([0.0003, 0.02, 0.6]), np.ones(3) / 3),
        "Kumaraswamy(0.3, 2)": ((1 - (1 - even) ** 0.5) ** (1 / 0.3), np.full(400, 1 / 400)),
    }


@pytest.mark.parametrize("name", populations())
def test_ranges_hold(name: str) -> None:
    """n = 20 → 10 and 100 times; the full simulation is benchmarks/extrapolation.md."""
    rates, shares = populations()[name]
    rng = np.random.default_rng([len(name), 1])
    missed = 0
    for _ in range(10):
        c = rng.binomial(20, rng.choice(rates, 60, p=shares))
        result = Extrapolation(np.full(60, 20), c)
        for k in (200, 2_000):
            low, high = result.range(k)
            missed += not low <= float(shares @ (1 - (1 - rates) ** k)) <= high
    assert missed <= 3
