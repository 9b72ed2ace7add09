"""A plan for a fixed suite: the attempts at which two runs of one model hardly differ by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from passk_cli.report.model import Column, Estimate
from passk_cli.report.words import SeriesName
from passk_cli.study.answer import Answer
from passk_cli.study.noise import NoiseOfModel
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import GROUPS, MODEL, Section, data_field
from passk_cli.study.values import Series


class SuiteDesign(NamedTuple):
    """A number of attempts at each task of the suite, for one series."""

    noise: NoiseOfModel
    attempts: int

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.noise.series

    @property
    def floor(self) -> float:
        """The difference of two such runs that chance rarely exceeds."""
        return self.noise.noise_floor(self.attempts)


@dataclass(frozen=True)
class FixedSuiteTable(Section[SuiteDesign]):
    """Attempts per task, and the difference of two runs of one model that chance makes.

    allowed_difference : the largest difference that chance may make.
    """

    allowed_difference: float

    view = "with --population these-tasks"
    columns = (
        data_field("fact", "Kind of row: suite.", lambda design: "suite"),
        MODEL,
        GROUPS,
        Column("attempts per task", "count", cell=lambda design: design.attempts,
               meaning="Attempts of each run at each task."),
        Column("two runs differ by up to", "points", cell=lambda design: Estimate(design.floor),
               meaning="The difference of the pass rates of two runs of one model at these tasks"
               " that chance exceeds in 5 % of cases, or in 1 − --level of them."),
    )  # fmt: skip

    answers = (
        Answer("attempts-of-suite", lambda _: True,
               "With {needed:attempt} per task, two runs of {model} at {several:task} differ by up"
               " to {floor:=points} by chance ({level}); with one attempt, by up to"
               " {single:=points}.{?single_attempts| Its other {single_attempts:task} with one"
               " attempt show no noise.}{?others| The other models need no more attempts.}"
               "{?silent| The pilot shows no noise of {silent}.}"),
    )  # fmt: skip

    @property
    def fields(self) -> Mapping[str, Any]:
        """The attempts that the noisiest series needs."""
        noise = max(
            (d.noise for d in self.records),
            key=lambda candidate: candidate.attempts_needed(self.allowed_difference),
        )
        attempts_needed, planned_series = (
            noise.attempts_needed(self.allowed_difference),
            {design.series for design in self.records},
        )
        silent = [SeriesName(s) for s in self.study.counts.series if s not in planned_series]
        return {
            "needed": attempts_needed, "model": SeriesName(noise.series),
            "several": int(noise.repeated_tasks.sum()), "single_attempts": int((noise.n == 1).sum(
            )),
            "floor": noise.noise_floor(attempts_needed), "level": f"{100 * noise.level:g} %",
            "single": noise.noise_floor(), "others": len(planned_series) > 1, "silent": silent,
        }  # fmt: skip

    def facts_of(self, record: SuiteDesign) -> Iterator[Result]:
        attempts, noise = record.attempts, record.noise
        yield Result(
            record.series, "noise floor", None, Estimate(record.floor),
            size=SampleSize(int(noise.repeated_tasks.sum()), attempts, attempts), level=noise.level,
        )  # fmt: skip

    def context(self) -> Iterator[str]:
        yield "pass@1 of these tasks"
        yield "attempts as independent"


def suite_designs(
    noises: Iterable[NoiseOfModel], allowed_difference: float, attempts: Sequence[int]
) -> Iterator[SuiteDesign]:
    """The designs of each series: the given numbers of attempts.

    Without given numbers, they double from 1 up to the attempts that are needed.
    """
    for noise in noises:
        attempts_needed = noise.attempts_needed(allowed_difference)
        usual = [
            1 << power
            for power in range(attempts_needed.bit_length())
            if 1 << power < attempts_needed
        ]
        for number in attempts or (*usual, attempts_needed):
            yield SuiteDesign(noise, number)
