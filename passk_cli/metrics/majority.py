"""maj@k, the probability that the most frequent of k answers is correct, without random subsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints

NULL_ANSWER = -1
# A block of cells has at most _BLOCK_TERMS polynomial coefficients, which need about 50 MB.
_BLOCK_TERMS = 1 << 21


def majority_at_k(start: Ints, value: Ints, count: Ints, passed: Ints, k: int) -> Floats:
    """Probability that the most frequent answer among k attempts of a cell is correct.

    The k attempts are drawn without replacement from the n attempts of the cell. If j answers are
    tied for the most votes, each of these answers wins with probability 1/j. Attempts without an
    answer (code −1) may be drawn, but never win. If no drawn attempt has an answer, the result is a
    failure. An answer is correct with probability passed / count.

    start, value, count, passed : the rows of the cells, as in the module `graded`. `value` contains
    codes of answers.
    Returns one probability per cell, or NaN if n < k. The absolute error is at most 1e-12 for
    n ≤ 1,000.

    The calculation uses generating functions and is exact up to rounding. To draw k attempts
    without replacement, you can draw each attempt independently with probability θ = k/n, under the
    condition that the total is k. Let b(m, i) = C(m, i) θ^i (1−θ)^(m−i). The probability that a
    correct answer wins with v votes is the coefficient of x^k in

        Σ_a r_a b(m_a, v) x^v ∫₀¹ Π_{j≠a} [Σ_{i<v} b(m_j, i) x^i + t b(m_j, v) x^v] dt

    divided by the number b(n, k). In this formula, answer a occurs in m_a attempts and is correct
    with probability r_a. The exponent of t is the number of answers that are tied with a, and ∫ t^j
    dt = 1/(j+1) splits the win. The integrand is a polynomial in t, so Gauss–Legendre integration
    is exact. Only answers that occur in m_j ≥ v attempts need a limit of v votes. All other
    answers, and attempts without an answer, form one binomial distribution. The time grows with Σ_j
    m_j² k. A cell with n = 256 takes about 1 ms for k = 64.

    >>> three_votes = np.array([7, 8]), np.array([2, 1]), np.array([2, 0])  # right, right, wrong
    >>> [round(float(majority_at_k(np.array([0, 2]), *three_votes, k)[0]), 6) for k in (1, 2, 3)]
    [0.666667, 0.666667, 1.0]
    """
    first = start[:-1]
    n = np.add.reduceat(count, first)
    answered = value != NULL_ANSWER
    right = np.add.reduceat(np.where(answered, passed, 0), first)
    result = np.where(n >= k, 0.0, np.nan)
    open_ = np.flatnonzero((n >= k) & (right > 0))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(n.max(initial=0)) + 1)))])
    for cells, votes, credit in _vote_count_blocks(start, answered, count, passed, open_, k):
        result[cells] = _VotesInCellBlock(
            n[cells], votes, credit, k, logs
        ).correct_majority_probability()
    return result


def _vote_count_blocks(
    start: Ints, answered: Bools, count: Ints, passed: Ints, open_: Ints, k: int
) -> Iterator[tuple[Ints, Ints, Floats]]:
    width = np.add.reduceat(answered.astype(np.int64), start[:-1])
    open_ = open_[np.argsort(width[open_], kind="stable")]
    position = 0
    while position < len(open_):
        answers = int(width[open_[position]])
        size = max(
            1, _BLOCK_TERMS // (2 * (k + 1) * _quadrature_nodes_needed(answers, k) + answers)
        )
        cells = open_[position : position + size]
        position += size
        rows = start[cells][:, None] + np.arange(int((start[cells + 1] - start[cells]).max()))
        inside = rows < start[cells + 1][:, None]
        rows = np.where(inside, rows, 0)
        votes = np.where(inside & answered[rows], count[rows], 0)
        order = np.argsort(-votes, axis=1, kind="stable")
        rows, votes = (np.take_along_axis(table, order, axis=1) for table in (rows, votes))
        yield cells, votes, passed[rows] / count[rows]


def _quadrature_nodes_needed(answers: int, k: int, v: int = 1) -> int:
    return (min(answers, k // v) - 1) // 2 + 1


@dataclass(eq=False, repr=False)
class _VotesInCellBlock:
    """The votes in a block of cells, from which k attempts of each cell are drawn.

    votes : number of attempts with each answer, in decreasing order, (cells × answers).
    answer_pass_rates : share of passes among the attempts with each answer, (cells × answers).
    log_factorials : the logarithms of 0!, 1!, 2!, …
    """

    n: Ints
    votes: Ints
    answer_pass_rates: Floats
    k: int
    log_factorials: Floats

    def correct_majority_probability(self) -> Floats:
        """The probability that the leading answer is correct, in each cell."""
        total = np.zeros(len(self.n))
        total_draws = self._binomial_table(self.n, np.full(1, self.k), self.n)[0]
        for v in range(1, min(self.k, int(self.votes[:, 0].max())) + 1):
            cut = self.votes >= v
            leaders = cut.sum(axis=1)
            uncut = self.n - np.where(cut, self.votes, 0).sum(axis=1)
            cells = np.flatnonzero((leaders > 0) & (v * leaders + uncut >= self.k))
            if len(cells) == 0:
                continue
            cells = cells[np.argsort(-leaders[cells], kind="stable")]
            won = self._win_coefficients(cells, leaders[cells], v)
            remaining = self.k - np.arange(len(won))
            total[cells] += (
                won * self._binomial_table(uncut[cells], remaining, self.n[cells])
            ).sum(axis=0)
        result: Floats = np.minimum(total / total_draws, 1.0)
        return result

    def _win_coefficients(self, cells: Ints, leaders: Ints, v: int) -> Floats:
        """Coefficients of x^0, x^1, … in each cell for a correct answer that leads with v votes."""
        points, weights = np.polynomial.legendre.leggauss(
            _quadrature_nodes_needed(int(leaders[0]), self.k, v)
        )
        t = (points[:, None] + 1) / 2
        polynomials = np.zeros((1, 2, len(t), len(cells)))
        polynomials[0, 0] = 1.0
        for place in range(int(leaders[0])):
            block = cells[: np.searchsorted(-leaders, -place)]
            size = np.arange(v + 1)
            factor = self._binomial_table(self.votes[block, place], size, self.n[block])
            wins = factor[v] * self.answer_pass_rates[block, place]
            fresh = np.zeros((min(len(polynomials) + v, self.k + 1), *polynomials.shape[1:]))
            fresh[: len(polynomials), ..., len(block) :] = polynomials[..., len(block) :]
            old, new = polynomials[..., : len(block)], fresh[..., : len(block)]
            for i in range(min(v + 1, len(fresh))):
                part = old[: len(fresh) - i]
                new[i : i + len(part)] += part * (factor[i] * t if i == v else factor[i])
            if len(fresh) > v:
                part = old[: len(fresh) - v, 0]
                new[v : v + len(part), 1] += part * wins
            polynomials = fresh
        won: Floats = np.einsum("xtc,t->xc", polynomials[:, 1], weights / 2)
        return won

    def _binomial_table(self, m: Ints, i: Ints, n: Ints) -> Floats:
        """The probabilities b(m, i) for θ = k/n, (i × m), which are 0 if i < 0 or i > m."""
        i = i[:, None]
        inside = (i >= 0) & (i <= m)
        chosen_votes = np.where(inside, i, 0)
        unchosen_votes = np.where(inside, m - i, m)
        with np.errstate(divide="ignore", invalid="ignore"):
            unchosen_logs = np.where(
                unchosen_votes > 0, unchosen_votes * np.log1p(-self.k / n), 0.0
            )
        logs = (
            self.log_factorials[m]
            - self.log_factorials[chosen_votes]
            - self.log_factorials[unchosen_votes]
            + chosen_votes * np.log(self.k / n)
        )
        return np.where(inside, np.exp(logs + unchosen_logs), 0.0)
