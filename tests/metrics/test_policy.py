"""Retry policies against every order of the attempts of one model, and of both."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.metrics.policy import cascade, retry
from passk_cli.outcomes.attempts import Attempts

Attempt = tuple[int, bool]
cells = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4)


def attempts_of(cell: list[tuple[float, bool]]) -> Attempts:
    rows = sorted(cell)
    cost, passed = zip(*rows, strict=True)
    return Attempts.of_rows([0] * len(rows), cost, [1] * len(rows), [int(p) for p in passed], 1)


def until_a_pass(attempts: tuple[Attempt, ...]) -> tuple[bool, int]:
    spent = 0
    for cost, passes in attempts:
        spent += cost
        if passes:
            return True, spent
    return False, spent


@settings(deadline=None, max_examples=40)
@given(cells, cells, st.data())
def test_rate_and_cost_are_means_over_all_orders(
    cheap: list[Attempt], big: list[Attempt], data: st.DataObject
) -> None:
    a, b = (data.draw(st.integers(0, len(cell))) for cell in (cheap, big))
    runs = [
        until_a_pass(first[:a] + second[:b])
        for first, second in product(permutations(cheap), permutations(big))
    ]
    policy = cascade(attempts_of(cheap), attempts_of(big), (a, b))  # type: ignore[arg-type]
    assert policy.rate[0] == pytest.approx(float(Fraction(sum(s for s, _ in runs), len(runs))))
    assert policy.cost[0] == pytest.approx(float(Fraction(sum(x for _, x in runs), len(runs))))
    alone = [until_a_pass(order[:a]) for order in permutations(cheap)]
    policy = retry(attempts_of(cheap), a)  # type: ignore[arg-type]
    assert policy.cost[0] == pytest.approx(sum(x for _, x in alone) / len(alone))
    if a:
        c = sum(passes for _, passes in cheap)
        assert policy.rate[0] == pytest.approx(float(pass_at_k(len(cheap), c, a)))


def test_too_few_attempts_are_no_number() -> None:
    policy = retry(attempts_of([(1, True)]), 2)
    assert np.isnan([policy.rate[0], policy.cost[0]]).all()


def test_a_missing_cost_makes_a_lower_bound_where_its_attempt_may_be_made() -> None:
    lacking = attempts_of([(np.nan, False), (2.0, True)])
    policy = retry(lacking, 1)
    assert [each[0].item() for each in policy] == [0.5, 1.0, True]
    passing = attempts_of([(2.0, True)])
    assert cascade(lacking, passing).lacking.tolist() == [True]
    # The second model's attempt without a cost is never made.
    assert cascade(passing, lacking).lacking.tolist() == [False]


def test_what_is_no_cost_and_no_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        retry(attempts_of([(-1.0, True)]), 1)
    two = Attempts.of_rows([0, 1], [1.0, 1.0], [1, 1], [1, 1], 2)
    with pytest.raises(ValueError, match="same tasks"):
        cascade(two, attempts_of([(1.0, True)]))
