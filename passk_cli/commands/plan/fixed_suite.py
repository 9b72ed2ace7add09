"""Plans for a fixed suite of tasks, with the difference between two runs that chance causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from passk_cli.report.data_types import Column, Estimate
from passk_cli.report.phrases import SeriesName
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.run_to_run_noise import SeriesNoiseEstimator
from passk_cli.study.section import GROUP_VALUES_COLUMN, MODEL_COLUMN, ReportSection, data_field
from passk_cli.study.values import SeriesKey


class SuiteDesign(NamedTuple):
    """A design for one model: how many attempts a run makes at each task of a fixed suite."""

    series_noise: SeriesNoiseEstimator
    attempts_per_task: int

    @property
    def series(self) -> SeriesKey:
        return self.series_noise.series

    @property
    def noise_floor(self) -> float:
        """The difference between two runs of this design that chance rarely exceeds."""
        return self.series_noise.noise_floor(self.attempts_per_task)


@dataclass(frozen=True)
class FixedSuiteTable(ReportSection[SuiteDesign]):
    """One row per number of attempts, with the difference between two runs that chance causes."""

    allowed_difference: float

    shown_when = "with --population these-tasks"
    columns = (
        data_field("fact", "Kind of row: suite.", lambda design: "suite"),
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("attempts per task", "count", cell_of_record=lambda design: design.attempts_per_task,
               meaning="Number of attempts that each run makes at each task."),
        Column("two runs differ by up to", "points",
            cell_of_record=lambda design: Estimate(design.noise_floor),
               meaning="Difference between the pass rates of two runs of one model at these tasks"
               " that chance exceeds with probability 1 − --level (by default 5 %)."),
    )  # fmt: skip

    answers = (
        Answer("attempts-of-suite", lambda _: True,
               "With {needed:attempt} per task, two runs of {model} on {several:task} differ by up"
               " to {floor:=points} by chance ({level}); with one attempt per task, by up to"
               " {single:=points}.{?single_attempts| {single_attempts:task} with only one attempt"
               " {single_attempts:does|do} not show any noise.}{?others| No other model needs more"
               " attempts.}{?silent| The pilot does not show the noise of {silent}.}"),
    )  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        noise = max(
            (d.series_noise for d in self.records),
            key=lambda candidate: candidate.attempts_needed(self.allowed_difference),
        )
        attempts_needed = noise.attempts_needed(self.allowed_difference)
        planned_series = {design.series for design in self.records}
        silent = [SeriesName(s) for s in self.study.counts.series if s not in planned_series]
        return {
            "needed": attempts_needed, "model": SeriesName(noise.series),
            "several": int(noise.repeated_attempt_task_mask.sum()),
            "single_attempts": int((noise.n == 1).sum()),
            "floor": noise.noise_floor(attempts_needed), "level": f"{100 * noise.level:g} %",
            "single": noise.noise_floor(), "others": len(planned_series) > 1, "silent": silent,
        }  # fmt: skip

    def results_of(self, record: SuiteDesign) -> Iterator[Result]:
        attempts, noise = record.attempts_per_task, record.series_noise
        yield Result(
            record.series, "noise floor", None, Estimate(record.noise_floor),
            size=SampleSize(int(noise.repeated_attempt_task_mask.sum()), attempts, attempts),
            level=noise.level,
        )  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        yield "pass@1 of these tasks"
        yield "attempts assumed independent"


def suite_designs_of_attempt_counts(
    noises: Iterable[SeriesNoiseEstimator], allowed_difference: float, attempts: Sequence[int]
) -> Iterator[SuiteDesign]:
    """The designs of each model with the requested numbers of attempts.

    By default, the numbers double from 1 up to the number of attempts that is needed.
    """
    for noise in noises:
        attempts_needed = noise.attempts_needed(allowed_difference)
        usual = [1 << power for power in range((attempts_needed - 1).bit_length())]
        for number in attempts or (*usual, attempts_needed):
            yield SuiteDesign(noise, number)
