"""Shares of tasks that reach a success rate: closed forms, laws, and a short simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.compatible_rates import allowed_log_likelihood_drop
from passk_cli.inference.cover_range import ShareAboveThresholdRange
from passk_cli.inference.extrapolation import MAX_RANGE_WIDTH

NEAR = 2e-3


def draws(seed: int, tasks: int = 60, n: int = 8) -> tuple[Ints, Ints]:
    rng = np.random.default_rng(seed)
    made = np.full(tasks, n)
    return made, rng.binomial(made, rng.beta(1, 1, tasks))


@pytest.mark.parametrize(
    ("tasks", "n", "rate"), [(3, 4, 0.8), (50, 4, 0.8), (50, 20, 0.5), (200, 1, 0.9), (1, 1, 0.5)]
)
def test_tasks_that_all_pass_or_all_fail_have_a_closed_form(
    tasks: int, n: int, rate: float
) -> None:
    # A share x of the tasks always passes, and the others have a rate just below the threshold:
    # the log likelihood is T log(x + (1 − x) τ^n), and that of the best distribution is 0.
    likelihood = math.exp(-allowed_log_likelihood_drop(0.95) / tasks)
    low = max(0.0, (likelihood - rate**n) / (1 - rate**n))
    high = min(1.0, (1 - likelihood) / (1 - (1 - rate) ** n))
    numbered = np.full(tasks, n)
    assert ShareAboveThresholdRange(numbered, numbered, rate).limits == pytest.approx(
        (low, 1.0), abs=NEAR
    )
    assert ShareAboveThresholdRange(numbered, 0 * numbered, rate).limits == pytest.approx(
        (0.0, high), abs=NEAR
    )


def test_a_rate_of_the_threshold_leaves_everything_open() -> None:
    numbered = np.full(100, 50)
    assert ShareAboveThresholdRange(numbered, np.full(100, 40), 0.8).limits == pytest.approx(
        (0.0, 1.0), abs=NEAR
    )


def test_no_task_can_be_shown_to_have_a_rate_of_one() -> None:
    numbered = np.full(20, 30)
    low, high = ShareAboveThresholdRange(numbered, numbered, 1.0).limits
    assert low == pytest.approx(0.0, abs=NEAR)
    assert high == 1.0


def test_likely_distributions_have_their_share_in_the_range() -> None:
    """Distributions near the likeliest one, tilted as far as the likelihood allows."""
    numbered, c = draws(3)
    low, high = ShareAboveThresholdRange(numbered, c, 0.7).limits
    rates = np.linspace(0.001, 0.999, 200)
    chance = np.exp(c[:, None] * np.log(rates) + (numbered - c)[:, None] * np.log1p(-rates))
    masses = np.full(200, 1 / 200)
    for _ in range(2_000):  # the EM algorithm
        masses = masses * (chance / (chance @ masses)[:, None]).mean(axis=0)
    floor = np.log(chance @ masses).sum() - allowed_log_likelihood_drop(0.95)

    def tilted(direction: Floats, by: float) -> Floats:
        weights = masses * np.exp(by * direction)
        return np.asarray(weights / weights.sum())

    rng, shares = np.random.default_rng(4), []
    reached = (rates >= 0.7).astype(np.float64)
    directions = [reached, -reached, *(np.repeat(rng.normal(size=10), 20) for _ in range(40))]
    for direction in directions:
        least, most = 0.0, 50.0
        for _ in range(40):
            by = (least + most) / 2
            allowed = np.log(chance @ tilted(direction, by)).sum() >= floor
            least, most = (by, most) if allowed else (least, by)
        shares.append(float(tilted(direction, least) @ reached))
    assert low - NEAR <= min(shares) < max(shares) <= high + NEAR
    # Tilts of one distribution use most of it.
    assert max(shares) - min(shares) > 0.5 * (high - low)


def test_shares_fall_with_the_rate_and_ranges_widen_with_the_level() -> None:
    numbered, c = draws(5, n=20)
    ends = np.array(
        [ShareAboveThresholdRange(numbered, c, rate).limits for rate in (0.2, 0.5, 0.8, 0.95)]
    )
    assert np.all(np.diff(ends, axis=0) <= NEAR)
    low, high = ShareAboveThresholdRange(numbered, c, 0.5, level=0.8).limits
    assert ends[1, 0] < low < high < ends[1, 1]


def test_clusters_widen_the_range_and_clusters_of_one_do_not() -> None:
    numbered, c = draws(6)
    single = ShareAboveThresholdRange(numbered, c, 0.5).limits
    assert ShareAboveThresholdRange(numbered, c, 0.5, clusters=np.arange(60)).limits == single
    low, high = ShareAboveThresholdRange(numbered, c, 0.5, clusters=np.arange(60) // 5).limits
    assert low < single[0] < single[1] < high


def test_the_order_of_tasks_does_not_matter() -> None:
    numbered, c = draws(7)
    numbered[::3], c[::3] = 30, 2
    turned = ShareAboveThresholdRange(numbered[::-1], c[::-1], 0.5)
    assert turned.limits == ShareAboveThresholdRange(numbered, c, 0.5).limits


def test_a_point_needs_a_narrow_range_and_is_in_it() -> None:
    narrow = ShareAboveThresholdRange(*draws(8, tasks=200, n=50), 0.5)
    low, high = narrow.limits
    assert narrow.point_estimate is not None
    assert low <= narrow.point_estimate <= high <= low + MAX_RANGE_WIDTH
    wide = ShareAboveThresholdRange(*draws(8, n=2), 0.5)
    assert wide.point_estimate is None
    assert wide.limits[1] - wide.limits[0] > MAX_RANGE_WIDTH


def test_needed_attempts_narrow_the_range_of_new_data() -> None:
    numbered, c = draws(9, tasks=100, n=4)
    attempts, tasks = ShareAboveThresholdRange(numbered, c, 0.5).data_needed
    assert tasks is None
    assert attempts is not None
    assert attempts > 4
    widths = [
        high - low
        for seed in range(8)
        for low, high in [ShareAboveThresholdRange(*draws(seed, tasks=100, n=attempts), 0.5).limits]
    ]
    assert np.mean(widths) <= MAX_RANGE_WIDTH


def test_few_tasks_need_more_tasks_and_a_rate_of_the_threshold_both() -> None:
    numbered = np.full(3, 8)
    assert ShareAboveThresholdRange(numbered, np.array([8, 0, 4]), 0.5).data_needed.attempts is None
    assert ShareAboveThresholdRange(numbered, numbered, 0.5).data_needed.tasks is not None
    numbered = np.full(40, 400)
    assert ShareAboveThresholdRange(numbered, np.full(40, 200), 0.5).data_needed == (None, None)


@pytest.mark.parametrize(
    ("a", "b", "rate", "n", "tasks"),
    [(2, 2, 0.5, 4, 50), (0.3, 0.5, 0.8, 8, 50), (5, 0.5, 0.9, 20, 50), (2, 2, 0.8, 1, 100)],
)
def test_the_range_covers(a: float, b: float, rate: float, n: int, tasks: int) -> None:
    """benchmarks/cover.md has more populations and sizes, with more sets."""
    rng = np.random.default_rng([int(10 * a), n])
    truth = float((rng.beta(a, b, 400_000) >= rate).mean())
    covers = 0
    for _ in range(25):
        numbered = np.full(tasks, n)
        low, high = ShareAboveThresholdRange(
            numbered, rng.binomial(numbered, rng.beta(a, b, tasks)), rate
        ).limits
        covers += low <= truth <= high
    assert covers >= 22  # less in 3 of 100,000 tests if coverage is 97 %
