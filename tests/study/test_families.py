"""p, adjusted p and interval of a family come from one standard error and agree as printed."""

from __future__ import annotations

import numpy as np
import pytest

from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.min_p import MinPDistribution
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.pairwise_tests import choose_pairs, compare_pairs
from passk_cli.study.significance_options import ComparisonOptions

# Beta distributions of success rates, confidence levels.
RATES = ((1.0, 1.0), (0.3, 0.3), (0.2, 4.0), (9.0, 1.0))
LEVELS = (0.95, 0.9, 0.99, 0.999999)


def random_study(seed: int, resamples: int) -> Analysis:
    """Two to seven models, alike, unlike or the same on most tasks, at a random pass@k."""
    random = np.random.default_rng(seed)
    models, tasks = int(random.integers(2, 8)), int(random.integers(2, 60))
    n = int(random.choice([1, 2, 4, 10]))
    k = int(random.integers(1, n + 1))
    base = np.clip(random.beta(*RATES[seed % 4], tasks), 1e-9, 1 - 1e-9)
    logits = np.log(base) - np.log1p(-base)
    rows: list[tuple[str, str, int]] = []
    for model in range(models):
        rates = 1 / (1 + np.exp(-logits - random.normal(0, random.choice([0, 0.5, 2]))))
        if random.random() < 0.3:
            rates = np.where(random.random(tasks) < 0.9, base, rates)
        present = random.random(tasks) < (0.9 if seed % 5 == 0 else 1.0)
        c = random.binomial(n, rates)
        rows += [(f"m{model}", f"{task:03}", int(c[task])) for task in np.flatnonzero(present)]
    names, places, passes = zip(*rows, strict=True)
    counts = Counts.from_columns([(name,) for name in names], list(places),
                                 np.full(len(rows), n), np.array(passes))  # fmt: skip
    confidence = Confidence(resamples=resamples, level=LEVELS[seed // 4 % 4])
    return Analysis(counts, (parse_metric(f"pass@{k}"),), confidence, ComparisonOptions())


def disagreements(seeds: range, resamples: int) -> list[str]:
    """Comparisons in which p, adjusted p or the interval contradict each other."""
    differing = []
    for seed in seeds:
        study = random_study(seed, resamples)
        if len(study.counts.series) < 2:
            continue
        alpha = round(1 - study.confidence.level, 12)
        compared = compare_pairs(
            choose_pairs(study, None), study.confidence, study.comparison_options
        )
        tested = [c for c in compared if c.has_p_value and not c.reason]
        for c in tested:
            limits = c.interval
            assert limits is not None
            assert limits.low is not None
            assert limits.high is not None
            if not c.p <= c.adjusted <= min(len(tested) * c.p, 1.0):
                differing.append(f"{seed}: {c.p} {c.adjusted} of {len(tested)} tests")
            if (c.adjusted <= alpha) != (limits.low > 0 or limits.high < 0):
                differing.append(f"{seed}: {c.test} {c.adjusted} {limits.low} {limits.high}")
    return differing


def test_p_adjusted_p_and_interval_agree() -> None:
    assert disagreements(range(40), 1_000) == []


@pytest.mark.long
def test_p_and_interval_agree_on_a_thousand_data_sets() -> None:
    assert disagreements(range(100, 1_070), 1_000) == []
    assert disagreements(range(2_000, 2_030), 40_000) == []


def test_limits_exclude_0_exactly_if_p_is_at_most_alpha() -> None:
    """At the p itself, and one step below it; of p from 1 down to 1e-300."""
    random = np.random.default_rng(5)
    d = random.normal(np.geomspace(1e-3, 1e3, 300)[:, None], 1.0, (300, 40)) / 2e3
    d *= random.choice([-1, 1], (300, 1))
    law = difference_distribution(d, reach=1.0)
    p = law.p()
    assert (p < 4e-16).any()
    assert (p > 0.5).any()
    for alpha, leaves_out in ((p, True), (np.nextafter(p, 0), False)):
        low, high = law.limits(alpha)
        assert (((low > 0) | (high < 0)) == leaves_out)[(p > 0) & (p < 1)].all()


@pytest.mark.parametrize(("draws", "exact"), [(2_048, True), (40_960, False)])
def test_the_adjusted_p_is_alpha_at_the_level_of_a_family(draws: int, exact: bool) -> None:
    """Also of p that equal that of a draw but for rounding, as values on a lattice have."""
    random = np.random.default_rng(draws)
    smallest = np.sort(np.round(random.beta(1, 12, draws), 3) + 1e-6)
    family = MinPDistribution(6, smallest, exact)
    level = family.level_per_test(0.05)
    nearby = smallest[np.searchsorted(smallest, level) - 40 :][:80]
    for p in (
        nearby,
        nearby * (1 - 1e-12),
        nearby * (1 + 1e-12),
        nearby * (1 - 1e-6),
        nearby * (1 + 1e-6),
    ):
        np.testing.assert_array_equal(family.adjusted(p) <= 0.05, p <= level)
