"""A gate's run beside its baseline: their values, and what the numbers of these leave out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.sides import ITSELF, Coverage, Made, Sides
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.stopping import LEVEL, REPLACED, retries, stopping
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Estimate, Sentence
from passk_cli.report.words import SeriesName, plural
from passk_cli.study.copies import Copy, copies_between
from passk_cli.study.fact import Fact, Size
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues


@dataclass(frozen=True)
class Trial:
    """The new run beside its baseline.

    study : the new run as it was read, with every metric a rule needs.
    general : the metrics of rules without their own.
    unpaired : what becomes of tasks and attempts that were not run: "fail", rules of their own, or
        "drop", the others are compared and every line says how many those are.
    attempts : how many were to be made at every task, where that was declared.
    """

    study: Study
    sides: Sides
    general: Sequence[Metric]
    unpaired: str
    attempts: int | None = None

    @property
    def cases(self) -> tuple[Trial, ...]:
        """The trial at its worst and at its best; itself alone where no outcomes are missing."""
        if not self.study.bounded:
            return (self,)
        sides = (self.sides.filled(passing=passing) for passing in (False, True))
        return tuple(replace(self, sides=each) for each in sides)

    @cached_property
    def candidates(self) -> list[TaskValues]:
        """The candidates' series × metrics."""
        return replace(self.study, counts=self.sides.counts).values(only=self.sides.candidates)

    @cached_property
    def bases(self) -> dict[tuple[Metric, Series], TaskValues]:
        """The baseline's series × metrics."""
        if self.sides.baseline is None:
            return {}
        values = replace(self.study, counts=self.sides.baseline).values(only=self.sides.bases)
        return {(rates.metric, rates.series): rates for rates in values}

    @cached_property
    def coverages(self) -> dict[Series, Coverage | None]:
        """Each candidate's share of its baseline's tasks."""
        return {series: self.sides.coverage(series) for series in self.sides.series}

    @cached_property
    def made(self) -> list[dict[Series, Made]]:
        """The attempts of each candidate's series, beside those to be made: as declared, of the
        baseline, or of both."""
        both = [] if self.attempts is None else [self.sides.made(self.attempts)]
        if self.sides.baseline is not None or not both:
            both.append(self.sides.made())
        return both

    def retried(self, series: Series) -> tuple[str, ...]:
        """That attempts look like failures tried again, and why: the last of too many passed, or
        numbers have holes; nothing where they do not."""
        counts, made = self.sides.counts, self.made[0][series]
        order, numbers, longer = counts.attempts.get("attempt"), counts.numbering, made.longer
        if numbers is not None:
            cells = counts.n, counts.c, numbers.made, numbers.last
            end = stopping(*(values[made.cells] for values in cells))
            if end is not None and end.kind == REPLACED and end.chance < LEVEL:
                return "retries seem to replace failures", "attempt numbers have holes"
        if order is None or not len(longer):
            return ()
        order = order.take(longer)
        ends = order.start[1:] - 1
        n, c = counts.n[longer], counts.c[longer]
        again = retries(n, c, (order.passed[ends] / order.count[ends] == 1).astype(np.int64))
        if again.chance >= LEVEL:
            return ()
        others = plural(int(n.sum()) - len(n), "earlier one")
        return (
            "failures seem retried until one passes",
            f"{again.last:,} of the {len(n):,} last attempts passed there, {again.earlier:,} of the"
            f" {others}",
        )

    @cached_property
    def wrong(self) -> dict[str, dict[Series, tuple[int, int]]]:
        """Of each candidate's series, (attempts that went wrong, attempts): "missing" are those
        without an outcome, "errors" also those that have an error."""
        missing, errors, counts = {}, {}, self.sides.counts
        for series in self.sides.series:
            lost, made = missing[series] = counts.losses.shares(series)
            with_error = counts.facts.erring
            silent, erring = with_error.shares(series) if with_error else (0, 0)
            errors[series] = lost + erring - silent, made
        return {"missing": missing, "errors": errors}

    @cached_property
    def copies(self) -> list[Copy]:
        """The copies that candidates are of their baseline, of a history of any of its runs."""
        sides, past, copies = self.sides, self.study.past, list[Copy]()
        if not sides.apart or sides.label == ITSELF or self.study.bounded:
            return copies
        for place, series in zip(sides.candidates, sides.series, strict=True):
            base = sides.base(series)
            if base is None or sides.baseline is None:
                continue
            rivals, others = {sides.label: sides.baseline.series.index(base)}, sides.baseline
            if past is not None:
                others = past.stretches[""].history
                rivals = past.stretches[""].setups[base].places(others)
            copies += copies_between(sides.counts, place, others, rivals, SeriesName(series))
        return copies

    def pairs(self, metrics: Collection[Metric]) -> list[tuple[TaskValues, TaskValues]]:
        """The candidates at some metrics, each with its baseline."""
        return [
            (rates, self.bases[rates.metric, base])
            for rates in self.candidates
            if rates.metric in metrics and (base := self.sides.base(rates.series)) is not None
        ]

    def unpaired_values(self, metrics: Collection[Metric]) -> list[TaskValues]:
        """The candidates at some metrics that have no baseline, unless that is allowed."""
        sides, dropped = self.sides, self.unpaired == "drop"
        return [
            rates
            for rates in self.candidates
            if rates.metric in metrics and sides.base(rates.series) is None
            and not (dropped and sides.partner(rates.series[0]) is not None)
        ]  # fmt: skip

    def fact(self, series: Series, metric: Metric | None = None) -> Fact:
        """A fact about a series without a number."""
        name, k = ("", None) if metric is None else (metric.name, metric.k)
        tasks = len(self.sides.tasks.get(series, ()))
        return Fact(series, name, k, Estimate(None), size=Size(tasks))

    def line(
        self, words: Sentence, fact: Fact, limit: float | None = None, details: Sequence[str] = ()
    ) -> Judgement:
        """A rule about a candidate, yet without verdict."""
        covered = self.coverages.get(fact.series) or self.sides.missing.get(fact.series)
        return Judgement(
            words, fact, details=tuple(details), limit=limit, covered=covered,
            fixed_tasks=self.study.confidence.population == THESE_TASKS,
        )  # fmt: skip

    def left_out(self, noun: str, *values: TaskValues) -> list[str]:
        """The tasks and attempts that a line's numbers leave out.

        noun : what the tasks are counted among when some are lost.
        """
        series = values[0].series
        words, cover = [rates.reason for rates in values if rates.there], self.coverages[series]
        if cover is not None and cover.lost:
            words.append(f"{cover.shared:,} of {cover.expected:,} {noun} tasks")
        return [*words, *self.lesser(series)]

    def lesser(self, series: Series) -> list[str]:
        """The attempts that a candidate's numbers lack or have too many, and other tasks."""
        words, cover, sides = [], self.coverages[series], self.sides
        if sides.baseline is None:
            rivals = sides.coverage_of_rivals(series)
            if rivals.lost:
                words.append(f"{rivals.shared:,} of {rivals.expected:,} tasks in the data")
        for made in self.made:
            words += made[series].deviations if series in made else []
        if cover is not None and cover.more:
            verb = "is" if cover.more == 1 else "are"
            words.append(f"{plural(cover.more, 'task')} {verb} not in the baseline")
        if self.unpaired == "drop":
            # Without a line of their own: nothing of these was run.
            words += [
                f"0 of {plural(lost.expected, 'baseline task')} in {SeriesName(other)}"
                for other, lost in sides.missing.items()
            ]
        return [*words, *sides.left_out(series)]
