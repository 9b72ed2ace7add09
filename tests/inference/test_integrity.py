"""Submissions that differ from all others: found in doctored boards, and not in honest ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from passk_cli.inference.integrity import (
    FLAG_LEVEL,
    closest_partners,
    constant_outcome_tasks_test,
    equal_texts_test,
    rasch_rates_and_difficulties,
    selective_omission_test,
)
from tests.conftest import long_cases

Ints = NDArray[np.int64]
SUBMISSIONS, TASKS, ATTEMPTS = 30, 150, 4
COPY, ORIGINAL, LEAKED, LOSING = 29, 3, 28, 27


def outcomes(rng: np.random.Generator, family: float = 0.0) -> NDArray[np.bool_]:
    """(submissions, tasks, attempts) of honest submissions in five families."""
    ability, difficulty = rng.normal(0, 0.6, SUBMISSIONS), rng.normal(0, 1.6, TASKS)
    shared = rng.normal(0, family, (5, TASKS))[rng.integers(0, 5, SUBMISSIONS)]
    logits = ability[:, None] + difficulty + shared + rng.normal(0, 0.8, (SUBMISSIONS, TASKS))
    return rng.random((SUBMISSIONS, TASKS, ATTEMPTS)) < expit(logits)[..., None]


def doctored(rng: np.random.Generator, passed: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Attempts and passes with a copy, leaked tasks, and lost failures."""
    passed, remaining = passed.copy(), np.ones(passed.shape, dtype=bool)
    changed = rng.random(passed.shape[1:]) < 0.06
    passed[COPY] = np.where(changed, ~passed[ORIGINAL], passed[ORIGINAL])
    passed[LEAKED, rng.random(TASKS) < 0.5] = True
    remaining[LOSING] = passed[LOSING] | (rng.random((TASKS, ATTEMPTS)) < 0.5)
    return remaining.sum(axis=2), (passed & remaining).sum(axis=2)


def test_rates_are_at_the_maximum_of_their_posterior() -> None:
    """Its slopes vanish, but for what moves abilities and difficulties together."""
    rng = np.random.default_rng(1)
    n = rng.integers(0, 5, (6, 40))
    c = rng.binomial(n, 0.6)
    rates, difficulty = rasch_rates_and_difficulties(n, c)
    ability = np.log(rates / (1 - rates))[:, 0] + difficulty[0]
    slopes = (c - n * rates).sum(axis=1) - ability / 4
    np.testing.assert_allclose(slopes, slopes.mean(), atol=0.02)
    slopes = (c - n * rates).sum(axis=0) + difficulty / 9
    np.testing.assert_allclose(slopes, slopes.mean(), atol=0.02)


def test_agreement_counts_matched_outcomes() -> None:
    """Against attempts that are matched one by one, and tasks of a block that are exchanged."""
    rng = np.random.default_rng(2)
    n = rng.integers(0, 4, (5, 9))
    c = rng.binomial(n, 0.5)
    result = closest_partners(n, c)
    for first, second in enumerate(result.partner.tolist()):

        def equal(t: int, u: int, one: int = first, other: int = second) -> int:
            passes = min(c[one, t], c[other, u])
            return int(passes + min(n[one, t] - c[one, t], n[other, u] - c[other, u]))

        common = [min(n[first, t], n[second, u]) for t in range(9) for u in range(9) if t != u]
        exchanged = [equal(t, u) for t in range(9) for u in range(9) if t != u]
        shared = np.minimum(n[first], n[second]).sum()
        assert result.compared_outcome_counts[first] == shared
        assert result.agreeing_outcomes[first] == sum(equal(t, t) for t in range(9))
        expected = sum(exchanged) / sum(common) * shared
        assert result.expected_agreeing_outcomes[first] == pytest.approx(expected)


@pytest.mark.parametrize("family", [0.0, *long_cases(0.5)])
def test_doctored_submissions_are_flagged_and_honest_ones_are_not(family: float) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, int(10 * family)])
        passed = outcomes(rng, family)
        n = np.full(passed.shape[:2], ATTEMPTS)
        c = passed.sum(axis=2)
        for honest in (
            closest_partners(n, c).p,
            constant_outcome_tasks_test(n, c).p,
            selective_omission_test(n, c).p,
        ):
            assert honest.min() > FLAG_LEVEL
        n, c = doctored(rng, passed)
        pairs = closest_partners(n, c)
        assert [*np.flatnonzero(pairs.p < FLAG_LEVEL)] == [ORIGINAL, COPY]
        assert (
            pairs.partner[COPY],
            pairs.has_no_worse_difficulty_fit[ORIGINAL],
            pairs.has_no_worse_difficulty_fit[COPY],
        ) == (3, True, False)
        assert [*np.flatnonzero(selective_omission_test(n, c).p < FLAG_LEVEL)] == [LOSING]
        assert [*np.flatnonzero(constant_outcome_tasks_test(n, c).p < FLAG_LEVEL)] == [LEAKED]


def test_certain_tasks_are_counted_among_those_with_several_attempts() -> None:
    result = constant_outcome_tasks_test(np.array([[2, 2, 1, 0]] * 3), np.array([[2, 1, 1, 0]] * 3))
    assert (result.certain_task_counts.tolist(), result.several_attempt_task_counts.tolist()) == (
        [1] * 3,
        [2] * 3,
    )


def test_losses_by_chance_are_no_remark() -> None:
    rng = np.random.default_rng(3)
    passed = outcomes(rng)
    remaining = np.ones(passed.shape, dtype=bool)
    remaining[5] = rng.random((TASKS, ATTEMPTS)) < 0.7
    result = selective_omission_test(remaining.sum(axis=2), (passed & remaining).sum(axis=2))
    assert result.missing_attempts[5] == TASKS * ATTEMPTS - remaining[5].sum()
    assert result.missing_attempts.sum() == result.missing_attempts[5]
    assert result.p[5] > 0.05


def test_texts_that_third_submissions_share_are_expected() -> None:
    """All have the same right answer; two have the same wrong ones, which others do not have."""
    rows = []
    for submission in range(8):
        for task in range(60):
            passed = (submission + task) % 2
            wrong = task if submission in (2, 4) else 1000 + 60 * submission + task
            rows.append((submission, task, passed, 5000 + task if passed else wrong, 1))
    result = equal_texts_test(*np.array(rows).T, 8)
    assert [*np.flatnonzero(result.p < FLAG_LEVEL)] == [2, 4]
    assert (result.partner[2], result.equal_text_attempts[2], result.attempts_with_text[2]) == (
        4,
        60,
        60,
    )
    assert result.equal_text_attempts[1] == 30


def test_no_texts_are_no_agreement() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    result = equal_texts_test(nothing, nothing, nothing, nothing, nothing, 3)
    assert (result.partner.tolist(), result.attempts_with_text.tolist()) == ([-1] * 3, [0] * 3)
