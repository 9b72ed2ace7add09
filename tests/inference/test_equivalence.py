"""Two one-sided tests: against scipy, against the limits they agree with, and their size."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.discordance import score_equivalence_p, score_limits
from passk_cli.inference.intervals import IntervalData, equivalence_p_values, interval
from passk_cli.inference.min_p import MinPDistribution, SharedLevelTests, draw_min_p


@pytest.mark.parametrize("margin", [0.01, 0.08, 0.3])
@pytest.mark.parametrize("shift", [-0.2, 0.0, 0.05])
def test_it_agrees_with_scipy_if_no_guard_acts(shift: float, margin: float) -> None:
    """Forty normal differences: many tasks carry them, so the law is plain Student's."""
    d = np.clip(np.random.default_rng(1).normal(shift, 0.2, 40), -0.9, 0.9)
    expected = max(
        stats.ttest_1samp(d, -margin, alternative="greater").pvalue,
        stats.ttest_1samp(d, margin, alternative="less").pvalue,
    )
    law = difference_distribution(d, reach=1.0)
    assert law.equivalence_p(margin).tolist() == pytest.approx([expected], rel=1e-9)
    sample = IntervalData(d, lower_bound=-1.0)
    assert equivalence_p_values([sample], margin, "guarded-t") == pytest.approx(
        [expected], rel=1e-9
    )
    # What `t` has by the limits of its interval, found at many levels.
    by_limits = expected if expected < 0.499 else 1.0
    assert equivalence_p_values([sample], margin, "t") == pytest.approx(
        [by_limits], rel=1e-5, abs=1e-8
    )


@pytest.mark.parametrize("lump", [0.0, 0.9])
def test_the_distribution_agrees_with_its_limits(lump: float) -> None:
    for seed, margin, alpha in product(range(20), (0.05, 0.2, 0.4), (0.01, 0.05, 0.2)):
        d = np.append(np.random.default_rng(seed).normal(0, 0.1, 12), lump)
        law = difference_distribution(d, reach=1.0)
        low, high = (float(limit[0]) for limit in law.limits(2 * alpha))
        assert (law.equivalence_p(margin)[0] <= alpha) == (-margin <= low and high <= margin)


def test_one_task_is_never_equivalent() -> None:
    assert difference_distribution([0.0], reach=1.0).equivalence_p(0.5).tolist() == [1.0]
    assert equivalence_p_values(
        [IntervalData(np.zeros(1), lower_bound=-1.0)], 0.5, "guarded-t"
    ) == [1.0]


@pytest.mark.long
def test_values_of_0_and_1_agree_with_paired_score() -> None:
    rng = np.random.default_rng(2)
    for _ in range(150):
        tasks = int(rng.choice([1, 2, 3, 8, 20, 50, 137]))
        b = int(rng.integers(0, max(1, tasks // 4) + 1))
        c = int(rng.integers(0, min(tasks - b, max(1, tasks // 4)) + 1))
        margin = float(rng.choice([0.01, 0.03, 0.1, 0.2, 0.5, 0.9]))
        p = score_equivalence_p(tasks, b, c, margin)
        assert p == score_equivalence_p(tasks, c, b, margin)
        for alpha in (0.2, 0.05, 0.01, 1e-3):
            low, high = score_limits(tasks, b, c, 1 - 2 * alpha)
            assert (p <= alpha) == (-margin <= low and high <= margin), (tasks, b, c, margin)


@pytest.mark.parametrize("margin", [0.1, 0.2])
def test_values_of_0_and_1_that_differ_by_the_margin_are_rarely_equivalent(margin: float) -> None:
    """Exactly, over all tables of 50 tasks: at most 5 %."""
    b, c = np.array([(b, c) for b in range(30) for c in range(20)]).T
    result = [
        score_equivalence_p(50, int(x), int(y), margin) <= 0.05 for x, y in zip(b, c, strict=True)
    ]
    assert sum(result) > 4
    for rate in (0.0, 0.01, 0.05, 0.15):
        law = stats.multinomial.pmf(
            np.stack([b, c, 50 - b - c], axis=1), 50, [rate + margin, rate, 1 - 2 * rate - margin]
        )
        assert law[result].sum() <= 0.05


def test_a_method_without_a_distribution_has_the_p_of_its_limits() -> None:
    d = np.random.default_rng(4).choice([-0.5, 0.0, 0.25, 0.5], 30)
    (p,) = equivalence_p_values([IntervalData(d, lower_bound=-1.0)], 0.3, "guard")
    assert 1e-6 < p < 0.4
    for alpha, inside in ((p * 1.01, True), (p * 0.99, False)):
        limits = interval(IntervalData(d, lower_bound=-1.0), "guard", 1 - 2 * alpha)
        assert limits.low is not None
        assert limits.high is not None
        assert (limits.low >= -0.3 and limits.high <= 0.3) == inside
    assert equivalence_p_values(
        [IntervalData(d + 0.5, lower_bound=-1.0, upper_bound=1.5)], 0.3, "guard"
    ) == [1.0]
    assert equivalence_p_values([IntervalData(np.zeros(9), lower_bound=-1.0)], 0.9, "bca") == [1e-8]
    with_clusters = IntervalData(d, lower_bound=-1.0, clusters=np.arange(30) // 2)
    assert np.isnan(equivalence_p_values([with_clusters], 0.3, "paired-score")).all()


def test_equivalence_at_the_margin_is_found_in_five_of_a_hundred() -> None:
    rng = np.random.default_rng(5)
    d = np.clip(rng.normal(0.1, 0.15, (4000, 25)), -1, 1)
    # Monte-Carlo error 0.0034.
    assert (difference_distribution(d, 1.0).equivalence_p(0.1) <= 0.05).mean() == pytest.approx(
        0.05, abs=0.01
    )


def test_one_sided_tests_of_a_family() -> None:
    assert MinPDistribution(1, np.empty(0)).adjusted_one_sided([0.03, np.nan])[0] == 0.03
    # Bonferroni's bound where nothing is known of the law; twice a p where two are the same test.
    assert MinPDistribution(3, np.empty(0)).adjusted_one_sided([0.01, 0.5]).tolist() == [0.03, 1.0]
    d = np.random.default_rng(6).normal(0, 1, (200, 1))
    (same,) = draw_min_p([SharedLevelTests(np.hstack([d] * 8))], resamples=4096)
    (adjusted,) = same.adjusted_one_sided([0.02])
    assert adjusted == pytest.approx(same.adjusted([0.04])[0], rel=1e-12)
    assert adjusted == pytest.approx(0.04, abs=0.01)
