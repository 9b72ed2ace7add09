"""Facts → rows of a table for people: series down, their numbers across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from passk_cli.report.model import ALWAYS, FULL, Column, Estimate
from passk_cli.report.words import span
from passk_cli.study.fact import Fact, Size
from passk_cli.study.section import GROUPS, MODEL, Section
from passk_cli.study.values import Series


@dataclass(frozen=True)
class SeriesRow:
    """The numbers of one series, by their names."""

    series: Series
    numbers: Mapping[str, Fact]

    @property
    def sizes(self) -> list[Size]:
        """Tasks and attempts of each number."""
        return [fact.size for fact in self.numbers.values()]


def rows_of(facts: Iterable[Fact]) -> list[SeriesRow]:
    """A row per series, in the order in which they first come."""
    by_series: dict[Series, dict[str, Fact]] = {}
    for fact in facts:
        by_series.setdefault(fact.series, {})[fact.name] = fact
    return [SeriesRow(series, numbers) for series, numbers in by_series.items()]


class Number(NamedTuple):
    """A column of numbers: its name, what it means, and its unit."""

    name: str
    meaning: str
    unit: str
    shown: str = ALWAYS


NUMBER = Column(
    "{0.name}", "share", meaning="{0.meaning}",
    cell=lambda row, number: row.numbers[number.name].estimate
    if number.name in row.numbers else Estimate(None),
    across=lambda section: section.numbers,
    units=lambda section, number: number.unit,
    example=Number("METRIC", "A metric of -k or -m, with its interval.", "share"),
)  # fmt: skip


@dataclass(frozen=True)
class Numbers(Section[SeriesRow]):
    """A row per series and a column per number; tasks and attempts where they differ."""

    columns: ClassVar[tuple[Column, ...]] = (
        MODEL,
        GROUPS,
        NUMBER,
        Column(
            "tasks", meaning="Tasks that the numbers rest on.",
            cell=lambda row: _ends(size.tasks for size in row.sizes),
            where=lambda section: section.differ,
        ),
        Column(
            "attempts", meaning="Fewest and most attempts at one task.",
            cell=lambda row: _ends(n for _, *ends in row.sizes for n in ends),
            where=lambda section: section.differ,
        ),
    )  # fmt: skip

    def facts(self) -> list[Fact]:
        """All numbers, row by row."""
        return [fact for row in self.records for fact in row.numbers.values()]

    @property
    def numbers(self) -> list[Number]:
        """The numbers, in the order in which they first come."""
        meanings = {metric.name: metric.meaning for metric in self.study.metrics}
        facts = {name: fact for row in self.records for name, fact in row.numbers.items()}
        # Of metrics that nobody asked for, the ends say enough.
        most = max((fact.k or 1 for fact in facts.values()), default=1)
        ends = {name for name, fact in facts.items() if (fact.k or 1) in (1, most)}
        return [
            Number(
                name, meanings.get(name, ""), "share" if fact.estimate.share else "score",
                ALWAYS if self.study.asked or name in ends else FULL,
            )
            for name, fact in facts.items()
        ]  # fmt: skip

    @property
    def differ(self) -> bool:
        """Whether the numbers rest on different tasks or attempts."""
        return len({size for row in self.records for size in row.sizes}) > 1


def _ends(numbers: Iterable[int | None]) -> str:
    known = [number for number in numbers if number is not None]
    return span(min(known), max(known)) if known else ""
