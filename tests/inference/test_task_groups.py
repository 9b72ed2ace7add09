"""Groups that explain part of the variance between tasks: an exact case, and size."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from passk_cli.inference.task_groups import group_effect_p


def test_few_deals_are_all_counted() -> None:
    values = np.array([0.0, 0.1, 0.2, 0.7, 0.8, 0.9, 0.5])
    groups = np.array([0, 0, 0, 1, 1, 1, 1])

    def between(dealt: np.ndarray) -> float:
        off = dealt - dealt.mean()
        return sum(off[groups == g].sum() ** 2 / (groups == g).sum() for g in (0, 1))

    all_items = [between(np.array(dealt)) for dealt in permutations(values)]
    expected = np.mean(np.array(all_items) >= between(values) - 1e-9)
    assert group_effect_p(values, groups, 0.5) == pytest.approx(expected, abs=1e-12)


def test_groups_without_meaning_have_a_small_p_value_as_rarely_as_stated() -> None:
    rng, groups = np.random.default_rng(1), np.repeat(np.arange(20), 5)
    p = [group_effect_p(rng.random(100), groups, 0.05) for _ in range(400)]
    # 5 % with a standard error of 1.1 points.
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.083


def test_groups_of_equal_values_are_found() -> None:
    groups = np.repeat(np.arange(12), 4)
    assert group_effect_p(groups % 3 * 1.0, groups, 0.001) <= 0.001
    assert group_effect_p(np.ones(48), groups, 0.001) == 1.0
