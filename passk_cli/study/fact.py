"""A number with its limits: a tidy row, a cell of a table and a point of a chart in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from passk_cli.report.model import Cell, Column, Estimate, Table

if TYPE_CHECKING:
    from passk_cli.study.values import Series, TaskValues


class Size(NamedTuple):
    """What a number rests on: tasks, and the fewest and most attempts at one of them.

    None where there is no such number, as of tasks where a plan finds none to be enough.
    """

    tasks: int | None
    n_min: int | None = None
    n_max: int | None = None


NO_SIZE = Size(0)


@dataclass(frozen=True)
class Fact:
    """One number about one series, or about the difference of two.

    series : the model and its groups.  against : the model it is compared with; "" for none.
    name : as people and tidy rows call it, "pass@10"; k : its k, or None.
    estimate : value and limits, or why there are none.  se : standard error; inside the estimate
        as well where that is what is shown.
    size : what it rests on.  method : of the interval.  level : of the interval; None without.
    flaw : what is special about the interval, or why there is none.
    p, p_adjusted, verdict : of the test, where there is one.
    more : further tidy columns of its command.
    values : the values it is the mean of, where it is one.
    """

    series: Series
    name: str
    k: int | None
    estimate: Estimate
    se: float | None = None
    size: Size = NO_SIZE
    method: str = "none"
    level: float | None = None
    flaw: str = ""
    against: str = ""
    p: float | None = None
    p_adjusted: float | None = None
    verdict: str = ""
    more: Mapping[str, Cell] = field(default_factory=dict)
    values: TaskValues | None = None

    @property
    def note(self) -> str:
        """What qualifies the number, in one line."""
        return "; ".join(filter(None, (self.estimate.reason, self.flaw)))


def across(first: Fact, second: Fact) -> Fact:
    """One number at both ends of what missing outcomes may be: a range, with the hull of limits.

    p : the larger one where both differences have one sign; else 1, for a difference of 0 may lie
        between.
    flaw : the one of both, or of the end that has one.
    verdict : theirs where they agree, else "undecided".
    """
    one, other = first.estimate, second.estimate
    if one.value is None or other.value is None:
        return first if one.value is None else second
    low, high = sorted((one.value, other.value))
    estimate = replace(
        one, value=low, upper=high if high > low else None, se=_most(one.se, other.se),
        low=_hull(one.low, other.low, min), high=_hull(one.high, other.high, max),
        marked=one.marked and other.marked, reason=one.reason or other.reason,
    )  # fmt: skip
    flaw = first.flaw if first.flaw == second.flaw else f"at one end: {first.flaw or second.flaw}"
    return replace(
        first, estimate=estimate, se=_most(first.se, second.se), flaw=flaw,
        p=_largest(first.p, second.p, one.value * other.value > 0),
        p_adjusted=_largest(first.p_adjusted, second.p_adjusted, one.value * other.value > 0),
        verdict=first.verdict if first.verdict == second.verdict else "undecided",
    )  # fmt: skip


def _hull(
    one: float | None, other: float | None, outermost: Callable[[float, float], float]
) -> float | None:
    return None if one is None or other is None else outermost(one, other)


def _most(one: float | None, other: float | None) -> float | None:
    return _hull(one, other, max)


def _largest(one: float | None, other: float | None, agree: bool) -> float | None:
    return _most(one, other) if agree or one is None or other is None else 1.0


def _spread_out(fact: Fact) -> Fact:
    """The fact with the ends of its ranges as further columns."""
    ranges = {"estimate": fact.estimate, **fact.more}
    ends = {
        f"{name}_{end}": value
        for name, cell in ranges.items()
        if isinstance(cell, Estimate) and cell.upper is not None
        for end, value in zip(("low", "high"), cell.ends, strict=True)
    }
    return replace(fact, more={**fact.more, **ends}) if ends else fact


def tidy(facts: Sequence[Fact], group_names: Sequence[str], population: str) -> Table:
    """The facts as rows of the one schema that all commands share.

    model, against?, <groups>, metric, k, estimate, se, low, high, level, interval, population,
    p?, p_adjusted?, verdict?, tasks, n_min, n_max, <more>, note; those with ? where some fact has
    one, and `more` in the order in which facts bring them.  A number that is a range is empty, and
    its ends are in two further columns, estimate_low and estimate_high, whose like `more` gets.
    """
    facts = [_spread_out(fact) for fact in facts]
    with_rivals = any(fact.against for fact in facts)
    with_tests = any(fact.p is not None or fact.verdict for fact in facts)
    more = list(dict.fromkeys(name for fact in facts for name in fact.more))
    names = [
        "model", *["against"] * with_rivals, *group_names, "metric", "k", "estimate", "se", "low",
        "high", "level", "interval", "population",
        *["p", "p_adjusted", "verdict"] * with_tests, "tasks", "n_min", "n_max", *more, "note",
    ]  # fmt: skip
    rows = []
    for fact in facts:
        e, against = fact.estimate, [fact.against or None] * with_rivals
        tests = [fact.p, fact.p_adjusted, fact.verdict] * with_tests
        rows.append(
            (fact.series[0], *against, *fact.series[1:], fact.name or None, fact.k,
             e.value if e.upper is None else None,
             fact.se, e.low, e.high, fact.level, fact.method, population, *tests, *fact.size,
             *(fact.more.get(name) for name in more), fact.note)
        )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))
