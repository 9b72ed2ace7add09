"""Test for unusual submissions: copied outcomes, too many tasks that always pass or always fail,
missing attempts, and equal texts.

Most functions take arrays with one row per submission and one column per task. All p-values are
adjusted for the number of submissions, or for the number of pairs of submissions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from passk_cli.arrays import Bools, Floats, Indices, Ints

# FLAG_LEVEL is the significance level per leaderboard, which is the share of honest leaderboards on
# which passk flags a submission. At a level of 0.05, passk would flag a submission on a third of
# the leaderboards with strongly related models (benchmarks/integrity.md).
FLAG_LEVEL = 0.001
# _ABILITY and _DIFFICULTY are the prior variances, in squared log odds, of a submission's ability
# and of a task's difficulty.
_ABILITY, _DIFFICULTY = 4.0, 9.0
_ROUNDS, _MIXTURE_ROUNDS = 30, 40
# The expected agreement is averaged over _EXPECTED_AGREEMENT_BLOCK_TASKS tasks of similar
# difficulty.
_EXPECTED_AGREEMENT_BLOCK_TASKS = 10
# The standard deviation of a normal distribution is _SD_PER_MAD times its median absolute
# deviation.
_SD_PER_MAD = 1.4826
# passk compares the texts of a submission only with the texts of the _MAX_TEXT_PARTNER_SUBMISSIONS
# other submissions that have the most equal texts.
_MAX_TEXT_PARTNER_SUBMISSIONS = 3


@dataclass(frozen=True, eq=False, repr=False)
class ClosestPartners:
    """For each submission, the partner that agrees with it most, beyond what the difficulty of the
    tasks explains.

    agreeing_outcomes, compared_outcome_counts : number of equal outcomes, and number of outcomes
        that both submissions have.
    expected_agreeing_outcomes : expected number of equal outcomes if outcomes are compared between
        different tasks of similar difficulty.
    p : p-value, adjusted for all pairs.
    has_no_worse_difficulty_fit : whether the submission fits the difficulty of the tasks at least
        as well as the partner does. Only tasks with different outcomes are compared.
    """

    partner: Indices
    agreeing_outcomes: Ints
    compared_outcome_counts: Ints
    expected_agreeing_outcomes: Floats
    p: Floats
    has_no_worse_difficulty_fit: Bools


@dataclass(frozen=True, eq=False, repr=False)
class ConstantOutcomeTasksTest:
    """A test for too many tasks with a pass rate of exactly 0 or 1. Only tasks with several
    attempts count.

    certain_task_counts, several_attempt_task_counts : number of tasks with a pass rate of 0 or 1,
        and number of tasks with several attempts.
    expected_constant_outcome_tasks : expected number of tasks with a pass rate of 0 or 1, given the
        submission's ability and the difficulty of the tasks.
    p : p-value of the hypothesis that difficulty explains `certain_task_counts`, adjusted for all
        submissions.
    """

    certain_task_counts: Ints
    several_attempt_task_counts: Ints
    expected_constant_outcome_tasks: Floats
    p: Floats


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveOmissionTest:
    """Attempts that a submission lacks although most submissions have them.

    missing_attempts : number of missing attempts of each submission.
    usual_attempt_total : usual total number of attempts of a submission.
    p : p-value of the hypothesis that attempts are missing at random, adjusted for all submissions.
    """

    missing_attempts: Ints
    usual_attempt_total: int
    p: Floats


@dataclass(frozen=True, eq=False, repr=False)
class EqualTextsTest:
    """The partner with the most significant number of equal texts, for each submission.

    partner : index of the partner, or −1 if there is no partner.
    equal_text_attempts : number of attempts with a text that the partner also has at the same task.
    attempts_with_text : number of attempts with a text.
    p : p-value, adjusted for all pairs.
    """

    partner: Indices
    equal_text_attempts: Ints
    attempts_with_text: Ints
    p: Floats


def rasch_rates_and_difficulties(n: Ints, c: Ints) -> tuple[Floats, Floats]:
    """Success rates in a model with one ability per submission and one difficulty per task.

    The model is logit p_st = a_s − b_t for submission s and task t, with normal priors of variance
    4 for the abilities a and 9 for the difficulties b.

    n, c : arrays (submissions × tasks) with the numbers of attempts and passes. The number n is 0
        if there is no attempt.
    Returns the success rates p in (0, 1) and the difficulties b.  Source: Rasch 1960.

    >>> rates, difficulty = rasch_rates_and_difficulties(np.full((2, 2), 4), np.array([[4, 2], [2,
    ...     0]]))
    >>> bool(rates[0, 0] > rates[1, 0] > rates[1, 1]), bool(difficulty[0] < difficulty[1])
    (True, True)
    """
    from passk_cli.scipy_special import expit

    ability, ease = np.zeros(len(n)), np.zeros(n.shape[1])

    def step(axis: int, values: Floats, variance: float) -> Floats:
        rates = expit(ability[:, None] + ease)
        slope = (c - n * rates).sum(axis) - values / variance
        change: Floats = slope / ((n * rates * (1 - rates)).sum(axis) + 1 / variance)
        return change

    for _ in range(_ROUNDS):
        ability += step(1, ability, _ABILITY)
        ease += step(0, ease, _DIFFICULTY)
    return expit(ability[:, None] + ease), -ease


def closest_partners(n: Ints, c: Ints) -> ClosestPartners:
    """Find the closest partner of each submission, among at least three submissions.

    The residual of submission s at task t is r_st = (c − n p) / √(n p (1 − p)) with the success
    rate p from `rasch_rates_and_difficulties`. For a pair of submissions s and u, the statistic is
    z = Σ_t r_st r_ut / √(Σ_t r_st² r_ut²). Outcomes of related models always agree to some degree.
    Therefore, z is standardised with the median and the median absolute deviation (MAD) over all
    pairs: (z − median) / max(1, 1.4826 MAD). The p-value is the normal tail probability of this
    number, times the number of pairs.

    n, c : attempts and passes as in `rasch_rates_and_difficulties`.

    >>> rng = np.random.default_rng(0)
    >>> c = rng.binomial(4, rng.random(200), (12, 200))
    >>> c[11] = c[3]
    >>> result = closest_partners(np.full(c.shape, 4), c)
    >>> (int(result.partner[3]), int(result.agreeing_outcomes[3]),
    ...  bool(result.p[3] < 1e-6 < result.p[4]))
    (11, 800, True)
    """
    rates, difficulty = rasch_rates_and_difficulties(n, c)
    r = (c - n * rates) / np.sqrt(np.maximum(n, 1) * rates * (1 - rates))
    z = r @ r.T / np.sqrt(np.maximum(r**2 @ (r**2).T, np.finfo(float).tiny))
    first, second = np.triu_indices(len(n), 1)
    pairs = z[first, second]
    np.fill_diagonal(z, -np.inf)
    partner = z.argmax(axis=1)
    rows = np.arange(len(n))
    p = _adjusted_normal_tails(z[rows, partner], pairs)
    blocks = np.array_split(
        np.argsort(difficulty, kind="stable"), max(n.shape[1] // _EXPECTED_AGREEMENT_BLOCK_TASKS, 1)
    )
    agreeing, shared, expected = [], [], []
    for submission, partner_row in enumerate(partner):
        counts = (n[submission], c[submission]), (n[partner_row], c[partner_row])
        matches, common = _agreeing_and_compared_outcomes(*counts)
        agreeing.append(int(matches.sum()))
        shared.append(int(common.sum()))
        expected.append(
            sum(
                _agreement_at_different_tasks(*counts, tasks) * common[tasks].sum()
                for tasks in blocks
            )
        )
    logs = c * np.log(rates) + (n - c) * np.log1p(-rates)
    differ = (c != c[partner]) & (n == n[partner])
    fits = ((logs - logs[partner]) * differ).sum(axis=1) >= 0
    return ClosestPartners(
        partner, np.array(agreeing), np.array(shared), np.array(expected), p, fits
    )  # fmt: skip


def _agreeing_and_compared_outcomes(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints]
) -> tuple[Ints, Ints]:
    (n, c), (n_other, c_other) = first, second
    return (
        np.minimum(c, c_other) + np.minimum(n - c, n_other - c_other), np.minimum(n, n_other)
    )  # fmt: skip


def _agreement_at_different_tasks(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints], tasks: Indices
) -> float:
    (n, c), (n_other, c_other) = first, second
    matches, common = _agreeing_and_compared_outcomes(
        (n[tasks, None], c[tasks, None]), (n_other[None, tasks], c_other[None, tasks])
    )
    different = ~np.eye(len(tasks), dtype=bool)
    return float(matches[different].sum() / max(common[different].sum(), 1))


def constant_outcome_tasks_test(n: Ints, c: Ints) -> ConstantOutcomeTasksTest:
    """Test whether a submission always passes or always fails some tasks, whatever the difficulty
    of the tasks is.

    In the model of a submission, all attempts pass at a share π₁ of the tasks, and all attempts
    fail at a share π₀ of the tasks. The remaining tasks have the rates of
    `rasch_rates_and_difficulties`, but an EM algorithm estimates the ability again. The statistic
    is the square root of twice the log likelihood ratio against the hypothesis π₀ = π₁ = 0. The
    statistic is standardised with the median and the MAD of all submissions, as in
    `closest_partners`. Tasks with one attempt are ignored.

    n, c : attempts and passes as in `rasch_rates_and_difficulties`.
    """
    from passk_cli.scipy_special import expit, logit

    several = n > 1
    n, c = n * several, c * several
    rates, _ = rasch_rates_and_difficulties(n, c)
    odds, shift = logit(rates), np.zeros(len(n))
    passes, fails = several & (c == n), several & (c == 0)
    tasks = several.sum(axis=1)
    shares = np.full((2, len(n)), 0.05)

    def likelihood(rates: Floats) -> Floats:
        return np.where(several, np.exp(c * np.log(rates) + (n - c) * np.log1p(-rates)), 1.0)

    for _ in range(_MIXTURE_ROUNDS):
        model_rates = expit(odds + shift[:, None])
        parts = _mixture_likelihoods(shares, likelihood(model_rates), passes, fails)
        weights = parts / parts.sum(axis=0)
        shares = (weights[:2] * several).sum(axis=2) / np.maximum(tasks, 1)
        slope = (weights[2] * (c - n * model_rates)).sum(axis=1)
        shift += slope / (
            (weights[2] * n * model_rates * (1 - model_rates)).sum(axis=1) + 1 / _ABILITY
        )
    parts = _mixture_likelihoods(shares, likelihood(expit(odds + shift[:, None])), passes, fails)
    gain = (np.log(parts.sum(axis=0)) - np.log(likelihood(rates))).sum(axis=1, where=several)
    statistic = np.sqrt(2 * np.maximum(gain, 0.0))
    expected = (rates**n + (1 - rates) ** n).sum(axis=1, where=several)
    number = (passes | fails).sum(axis=1)
    return ConstantOutcomeTasksTest(
        number, tasks, expected, _adjusted_normal_tails(statistic, statistic)
    )


def _mixture_likelihoods(shares: Floats, likelihood: Floats, passes: Bools, fails: Bools) -> Floats:
    always, never = shares[:, :, None]
    return np.stack([always * passes, never * fails, (1 - always - never) * likelihood])


def selective_omission_test(n: Ints, c: Ints) -> SelectiveOmissionTest:
    """A test of whether attempts are missing mainly at tasks that the other submissions fail.

    The usual number of attempts at a task is the median of the numbers over submissions. The
    hypothesis is that each usual attempt is equally likely to be missing. The statistic is the mean
    failure rate of the other submissions at the tasks of the missing attempts. Under the
    hypothesis, the statistic is approximately normal.

    n, c : attempts and passes as in `rasch_rates_and_difficulties`.
    """
    from passk_cli.scipy_special import ndtr

    usual = np.floor(np.median(n, axis=0)).astype(np.int64)
    missing = np.maximum(usual - n, 0)
    number, usual_total = missing.sum(axis=1), int(usual.sum())
    attempts, passes = n.sum(axis=0) - n, c.sum(axis=0) - c
    failing = 1 - passes / np.maximum(attempts, 1)
    mean = (usual * failing).sum(axis=1) / max(usual_total, 1)
    spread = (usual * (failing - mean[:, None]) ** 2).sum(axis=1) / max(usual_total, 1)
    variance = number * spread * (usual_total - number) / max(usual_total - 1, 1)
    excess = (missing * failing).sum(axis=1) - number * mean
    z = np.divide(excess, np.sqrt(variance), out=np.zeros(len(n)), where=variance > 0)
    return SelectiveOmissionTest(number, usual_total, np.minimum(ndtr(-z) * len(n), 1.0))


def equal_texts_test(
    submission: Ints, task: Ints, passed: Ints, text: Ints, times: Ints, submissions: int
) -> EqualTextsTest:
    """A test of whether two submissions have more equal texts than the other submissions suggest.

    For a given text, let m be the number of the partner's attempts with the same task and verdict.
    The expected probability that one of these attempts has the same text is 1 − (1 − f)^m. In this
    formula, f = (h + ½) / (H + 1) is the frequency of the text. All other submissions together have
    H attempts with this task and verdict, and h of these attempts have the text. Two submissions
    are therefore expected to have equal short answers, but not equal long texts. The p-value is a
    Poisson-binomial tail probability times the number of pairs.

    submission, task, passed, text, times : columns of a table with one row per submission, task,
        verdict and text. The column `times` contains the number of attempts with the text.
    submissions : number of submissions.
    """
    words, judged, group = (
        _sparse_attempt_count_matrix(
            submissions, submission, _codes_of_distinct_rows(task, *keys), times
        )
        for keys in ((text,), (passed, text), (passed,))
    )
    equal = (words @ (words > 0).T).toarray()
    np.fill_diagonal(equal, 0)
    all_judged, all_groups = judged.sum(axis=0), group.sum(axis=0)
    of_judged, of_group = (
        _codes_of_distinct_rows(task, passed, text),
        _codes_of_distinct_rows(task, passed),
    )
    pairs = submissions * (submissions - 1) / 2
    partner, p = np.full(submissions, -1), np.ones(submissions)
    for row in range(submissions):
        rows = submission == row
        texts, groups = of_judged[rows], of_group[rows]
        for candidate in np.argsort(-equal[row], kind="stable")[
            :_MAX_TEXT_PARTNER_SUBMISSIONS
        ].tolist():
            if not equal[row, candidate]:
                continue
            same = judged[[candidate]].toarray()[0][texts]
            partner_attempts = group[[candidate]].toarray()[0][groups]
            third = all_judged[texts] - times[rows] - same
            third_attempts = (
                all_groups[groups] - group[[row]].toarray()[0][groups] - partner_attempts
            )
            chance = 1 - (1 - (third + 0.5) / (third_attempts + 1)) ** partner_attempts
            tail = _poisson_binomial_upper_tail(chance, int((same > 0).sum())) * pairs
            if partner[row] < 0 or tail < p[row]:
                partner[row], p[row] = candidate, min(tail, 1.0)
    number = np.where(partner < 0, 0, equal[np.arange(submissions), partner])
    return EqualTextsTest(partner, number, np.asarray(words.sum(axis=1)), p)


def _sparse_attempt_count_matrix(
    submissions: int, submission: Ints, code: Ints, times: Ints
) -> Any:
    from scipy.sparse import csr_array

    shape = (submissions, int(code.max(initial=-1)) + 1)
    return csr_array((times, (submission, code)), shape=shape)


def _codes_of_distinct_rows(*columns: Ints) -> Ints:
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()


def _poisson_binomial_upper_tail(chance: Floats, number: int) -> float:
    from passk_cli.inference.flips import poisson_binomial

    return float(poisson_binomial(chance)[number:].sum())


def _adjusted_normal_tails(values: Floats, all_values: Floats) -> Floats:
    from passk_cli.scipy_special import ndtr

    middle = np.median(all_values)
    spread = max(1.0, _SD_PER_MAD * float(np.median(np.abs(all_values - middle))))
    tails: Floats = ndtr(-(values - middle) / spread) * len(all_values)
    return np.minimum(tails, 1.0)
