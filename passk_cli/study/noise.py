"""What two runs of one model differ by when nothing but chance differs: the noise floor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passk_cli.arrays import Ints
from passk_cli.inference.noise import attempts_for_noise, intraclass_correlation, noise_floor
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Estimate
from passk_cli.report.words import SeriesName
from passk_cli.study.answer import Answer
from passk_cli.study.metrics import is_corrected
from passk_cli.study.study import Study
from passk_cli.study.values import Series


@dataclass(frozen=True)
class NoiseOfModel:
    """How far apart two runs of one attempt per task are by chance, of one series.

    n, c : (tasks,), some n > 1.  level : share of the pairs of runs that differ by less.
    """

    series: Series
    n: Ints
    c: Ints
    level: float = 0.95

    @property
    def several(self) -> NDArray[np.bool_]:
        """The tasks with two attempts or more, which show how attempts vary."""
        return self.n > 1

    def floor(self, attempts: int = 1) -> float:
        """The difference that two runs of so many attempts at each task stay below."""
        return noise_floor(self.n[self.several], self.c[self.several], attempts, self.level)

    def needed(self, difference: float) -> int:
        """The fewest attempts per task with which two runs differ by no more than this."""
        several = self.several
        return attempts_for_noise(self.n[several], self.c[several], difference, self.level)

    @property
    def flaky(self) -> int:
        """Tasks with attempts that passed and attempts that failed."""
        return int(((self.c > 0) & (self.c < self.n)).sum())

    @cached_property
    def correlation(self) -> Estimate:
        """The intraclass correlation, with its interval over tasks."""
        value, low, high = intraclass_correlation(self.n, self.c)
        return Estimate(None) if math.isnan(value) else Estimate(value, low=low, high=high)


def noise_of(counts: Counts, level: float) -> Iterator[NoiseOfModel]:
    """The noise of each series with a task of two attempts or more."""
    for place, series in enumerate(counts.series):
        rows = counts.rows_of(place)
        if counts.n[rows].max(initial=0) > 1:
            yield NoiseOfModel(series, counts.n[rows], counts.c[rows], level)


class NoiseOfStudy:
    """The noise of every series of a study, as the subject of its sentence."""

    def __init__(self, study: Study) -> None:
        counts, self.study = study.counts, study
        known = not study.bounded and not is_corrected(counts)
        every = noise_of(counts, study.confidence.level) if known else ()
        # Attempts that never differ show no noise, which does not mean that there is none.
        noisy = sorted((each for each in every if each.flaky), key=NoiseOfModel.floor)
        # Two runs of a few tasks may differ by all there is.
        self.noisy = noisy if noisy and noisy[-1].floor() < 1 else []

    @property
    def fields(self) -> Mapping[str, Any]:
        """The least and the most, and what one series shows further."""
        least, most = self.noisy[0], self.noisy[-1]
        several = len(self.study.counts.series) > 1
        return {
            "level": f"{100 * most.level:g} %", "floor": most.floor(),
            "model": SeriesName(most.series) if several else "",
            "least": least.floor() if len(self.noisy) > 1 else None,
            "steadiest": SeriesName(least.series), "flaky": most.flaky, "tasks": len(most.n),
            "one": not several, "correlation": most.correlation.value if not several else None,
            "several": int(most.several.sum()) if (most.n == 1).any() else 0,
        }  # fmt: skip


_FLOOR = (
    "Two runs of {?one|one attempt per task}{?model|a model} differ by up to {floor:=points} by"
    " chance ({level}{?model|, one attempt per task}"
    "{?several|, at the {several:task} with several attempts})"
)
_CORRELATION = "{?correlation|; intraclass correlation {correlation:=score}}."
NOISE_FLOOR = Answer(
    "noise-floor", lambda noise: bool(noise.noisy),
    _FLOOR + "{?one|; {flaky} of {tasks:task} {flaky:is|are} flaky}" + _CORRELATION,
)  # fmt: skip
# Next to a sentence that has the number of flaky tasks.
NOISE_OF_TASKS = Answer(
    "noise-floor-of-tasks", lambda noise: bool(noise.noisy), _FLOOR + _CORRELATION,
)  # fmt: skip


def noise_said(study: Study, answer: Answer = NOISE_FLOOR) -> Iterator[Any]:
    """The sentence about the noise of a study, if its attempts show any."""
    noise = NoiseOfStudy(study)
    if answer.when(noise):
        yield answer.about(noise)
