"""What values of each family cannot pass, and the whole numbers that a metric takes."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest

from passk_cli import pass_at_k
from passk_cli.errors import ParameterError
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, FAMILIES, Metric, parse_metric

SCORES = {"best@", "worst@", "mean"}
KINDS = {"distinct@": (1.0, 3.0), "distinct-correct@": (0.0, 3.0)}
# Odd k do not reach 1.
ODD = {"mgpass@": (0.0, 2 / 3)}


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds(family: str) -> None:
    metric = Metric(family, 3)
    amount = family.removeprefix("median-").removesuffix("-per-success")
    if amount in AMOUNT_UNITS_AND_NOUNS:
        assert (metric.bounds, metric.unit, metric.better_sign) == (
            (0, inf),
            AMOUNT_UNITS_AND_NOUNS[amount][0],
            -1,
        )
        return
    assert metric.bounds == (None if family in SCORES else {**KINDS, **ODD}.get(family, (0.0, 1.0)))
    assert metric.unit == ("score" if family in SCORES | {*KINDS} else "share")


def test_shares_lie_above_0_and_up_to_1() -> None:
    assert parse_metric("gpass@4:1").share == 1
    assert parse_metric("gpass@4:0.25").share == Fraction(1, 4)
    for share in ("0", "1.25"):
        with pytest.raises(ParameterError, match=r"must be above 0 and at most 1"):
            parse_metric(f"gpass@4:{share}")


def test_whole_numbers_of_any_type() -> None:
    assert pass_at_k(5.0, 3.0, 1.0) == 3 / 5
    for wrong in ((5.5, 3, 1), (5, 2.5, 1), (5, 3, 1.5)):
        with pytest.raises(ValueError, match="must be whole numbers"):
            pass_at_k(*wrong)
