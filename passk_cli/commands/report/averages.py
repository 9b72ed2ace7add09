"""Macro averages of a model over groups of tasks, as benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from passk_cli.commands.report.page import Page
from passk_cli.inference.macro import macro_average
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.model import Cell, Column, Estimate, Panel, Report
from passk_cli.report.words import plural
from passk_cli.study.section import Section


class GroupAverage(NamedTuple):
    """The macro averages of one model: metric → the number, or why there is none."""

    model: str
    numbers: Mapping[str, Cell]


@dataclass(frozen=True)
class MacroAverages(Section[GroupAverage]):
    """The macro average of every model at every metric.

    units : metric → kind of its numbers.  independent : whether groups share no tasks.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell=lambda average: average.model),
        Column("{}", cell=lambda average, metric: average.numbers[metric],
               across=lambda section: section.records[0].numbers,
               units=lambda section, metric: section.units.get(metric, "share")),
    )  # fmt: skip

    units: Mapping[str, str]
    independent: bool

    def context(self) -> Iterator[str]:
        """The groups, and what is assumed of them."""
        groups = len({series[1:] for series in self.study.counts.series})
        yield f"mean of {plural(groups, 'group')} of {', '.join(self.study.counts.group_names)}"
        yield self.study.confidence.words()
        if self.independent:
            yield "limits add up as those of independent groups"
        else:
            yield "groups share tasks, so limits are as wide as any correlation can make them"
        yield "–: no number in some group"


def macro_panel(page: Page, whole: Report) -> Panel:
    """The macro average of every model at every metric.

    whole : the estimates of all groups.
    """
    counts = page.counts
    groups = len({series[1:] for series in counts.series})
    names = counts.tasks if counts.clusters is None else counts.clusters
    cells = zip(counts.series_codes.tolist(), counts.task_codes.tolist(), strict=True)
    units = {(names[task], counts.series[s][1:]) for s, task in cells}
    apart = len(units) == len({unit for unit, _ in units})
    independent = page.confidence.population == THESE_TASKS or apart
    kinds = {column.header: column.kind for table in whole.tables for column in table.columns}

    numbers: dict[tuple[str, str], list[list[float]]] = {}
    fields = [column.header for column in whole.data.columns]
    for row in whole.data.rows:
        cell: dict[str, Any] = dict(zip(fields, row, strict=True))
        values = [cell[name] for name in ("estimate", "se", "low", "high")]
        every = numbers.setdefault((cell["model"], cell["metric"]), [])
        if None not in values:
            every.append(values)

    def average(model: str, metric: str) -> Estimate:
        unit = kinds.get(metric, "share")
        every = numbers.get((model, metric), [])
        if len(every) < groups:
            return Estimate(None, reason="no number in some group", unit=unit)
        mean = macro_average(
            *map(list, zip(*every, strict=True)),
            level=page.confidence.level, independent=independent,
        )  # fmt: skip
        return Estimate(mean.mean, mean.se, mean.low, mean.high, unit=unit)

    metrics = list(dict.fromkeys(metric for _, metric in numbers))
    rows = [GroupAverage(model, {m: average(model, m) for m in metrics}) for model in page.models]
    section = MacroAverages(page, rows, kinds, independent)
    (table,) = section.tables()
    return Panel(
        "macro",
        "Macro average",
        "The macro average is the mean of a model's groups, each of which counts the same however"
        " many tasks it has. It is there only for models that have a number in every group.",
        Report((table,), lambda: table, " · ".join(section.context())),
    )
