"""What more attempts gain, which tasks gain it, and the moments of the success rates: as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from passk_cli.report.model import Cell, Column, Estimate, Table

Size = tuple[int, int, int]
Rows = list[tuple[Cell, ...]]
# Shares below this are rounding.
_NONE = 1e-12


@dataclass(frozen=True)
class Climb:
    """How much pass@k grows from one k to another.

    estimate : pass@k − pass@start.  even : the same if all tasks were as hard as their mean.
    size : tasks, fewest and most attempts; None for exact rates.
    """

    series: tuple[str, ...]
    start: int
    k: int
    estimate: Estimate
    se: float | None = None
    even: float | None = None
    size: Size | None = None
    method: str = ""
    note: str = ""

    def rows(self, level: float | None, population: str) -> Rows:
        """Its tidy rows."""
        name, size = f"pass@{self.k}-pass@{self.start}", self.size or (None, None, None)
        even = "no estimate if equally hard: fewer tasks than k" if self.even is None else ""
        e = self.estimate
        return [
            (*self.series, name, self.k, e.value, self.se, e.low, e.high, level, level,
             self.method, population, None, *size, self.note),
            (*self.series, f"{name} if equally hard", self.k, self.even, None, None, None, None,
             None, "", population, None, *size, even),
        ]  # fmt: skip


@dataclass(frozen=True)
class Moment:
    """One fact about the success rates of a series' tasks.

    name : mean, sd, skewness, never or always (the shares of tasks that no, every attempt passes).
    """

    name: str
    estimate: Estimate
    se: float | None = None
    method: str = "none"
    note: str = ""


@dataclass(frozen=True)
class Rates:
    """The success rates of a series' tasks.

    never, always : tasks at 0 and at 1.  moments : mean, sd and skewness, where asked for.
    attempts : per task, for people; "" for exact rates.
    """

    series: tuple[str, ...]
    never: Moment
    always: Moment
    moments: tuple[Moment, ...] = ()
    attempts: str = ""
    size: Size | None = None

    def rows(self, level: float | None, population: str) -> Rows:
        """Its tidy rows."""
        size = self.size or (None, None, None)
        return [
            (*self.series, m.name, None, m.estimate.value, m.se, m.estimate.low, m.estimate.high,
             level, level, m.method, population, None, *size, m.note)
            for m in (*self.moments, self.never, self.always)
        ]  # fmt: skip

    @property
    def sometimes(self) -> float:
        """Share of tasks that some attempts pass and some do not."""
        never, always = self.never.estimate.value, self.always.estimate.value
        return 1.0 - (never or 0.0) - (always or 0.0)


def climb_tables(
    head: Sequence[Column], climbs: Iterable[Climb], rates: Iterable[Rates]
) -> list[Table]:
    """The gains from each step to the next, and one line per series on what they mean."""
    climbs = list(climbs)
    first: dict[tuple[str, ...], Climb] = {}
    for climb in climbs:
        first.setdefault(climb.series, climb)
    gains = tuple(
        (*climb.series, f"{climb.start} → {climb.k}", climb.estimate, climb.even)
        for climb in climbs
    )
    words = tuple(
        (*one.series, in_words(one, first[one.series])) for one in rates if one.series in first
    )
    columns = (*head, Column("attempts"), Column("pass@k gains", "share"))
    return [
        Table((*columns, Column("if equally hard", "share")), gains, "what more attempts gain"),
        Table((*head, Column("where it comes from")), words),
    ]


def in_words(rates: Rates, climb: Climb) -> str:
    """Which tasks the gain comes from, and how it compares with that of equally hard tasks.

    Only tasks solved sometimes can gain: the others have pass@k = pass@1.
    """
    told = _which_tasks(rates)
    if rates.sometimes < _NONE or climb.even is None or climb.even <= 0:
        return told
    share = 100 * max((climb.estimate.value or 0.0) / climb.even, 0.0)
    if share >= 99.5:
        # Beyond 100 % it is chance: no tasks gain more over one attempt than equally hard ones.
        return f"{told}; as much as equally hard tasks would gain to k = {climb.k}"
    return f"{told}; {share:.0f} % of what equally hard tasks gain to k = {climb.k}"


def _which_tasks(rates: Rates) -> str:
    """How many tasks are solved always, never and sometimes; without those that are none."""
    within = f" in {rates.attempts} attempts" if rates.attempts else ""
    some = percent(rates.sometimes)
    ends = (("always", rates.always), ("never", rates.never))
    shares = {word: percent(m.estimate.value) for word, m in ends if m.estimate.value}
    if not shares:
        return f"every task solved sometimes{within}"
    if rates.sometimes > 0.5:
        others = ", ".join(f"{share} {word}" for word, share in shares.items())
        return f"most tasks solved sometimes: {some}{within} ({others})"
    others = " or ".join(f"{word} ({share})" for word, share in shares.items())
    if rates.sometimes < _NONE:
        return f"every task solved {others}{within}: nothing to gain"
    return f"most tasks solved {others}{within}: all of it from the other {some}"


def percent(share: float) -> str:
    """A share in percent; what is neither none nor all does not read as such.

    >>> percent(0.2344), percent(0.0001), percent(0.9999), percent(1.0)
    ('23.4 %', '<0.1 %', '>99.9 %', '100 %')
    """
    if _NONE < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1 - _NONE:
        return ">99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def moments_table(head: Sequence[Column], rates: Iterable[Rates]) -> Table:
    """Mean, spread and skewness of the success rates, and the shares of tasks at 0 and 1."""
    rates = list(rates)
    rows: Rows = [
        (*one.series, *(m.estimate for m in (*one.moments, one.never, one.always)))
        for one in rates
        if one.moments
    ]
    attempts = {one.attempts for one in rates}
    observed = " (observed)" if attempts != {""} else ""
    columns = (
        *head, Column("mean", "share"), Column("sd", "share"), Column("skewness", "number"),
        Column(f"at 0{observed}", "share"), Column(f"at 1{observed}", "share"),
    )  # fmt: skip
    return Table(columns, tuple(rows), "success rates of the tasks")
