"""Computes the noise floor, which is how much two runs of the same model differ by chance."""

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
from passk_cli.inference.stopping import has_optional_stopping
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.metric_selection import is_corrected_for_judge_errors
from passk_cli.study.values import SeriesKey


@dataclass(frozen=True)
class SeriesNoiseEstimator:
    """How much two runs of one series differ by chance, estimated from repeated attempts.

    n, c : number of attempts and number of passes at each task.  At least one task must have two
        attempts.
    level : the share of pairs of runs that differ by no more than the noise floor.
    """

    series: SeriesKey
    n: Ints
    c: Ints
    level: float = 0.95

    @property
    def repeated_attempt_task_mask(self) -> NDArray[np.bool_]:
        """For each task, whether the task has at least two attempts."""
        return self.n > 1

    def noise_floor(self, attempts: int = 1) -> float:
        """The size of a difference between two runs that chance rarely exceeds.

        attempts : number of attempts per task in each of the two runs.
        """
        return noise_floor(
            self.n[self.repeated_attempt_task_mask],
            self.c[self.repeated_attempt_task_mask],
            attempts,
            self.level,
        )

    def attempts_needed(self, difference: float) -> int:
        """The smallest number of attempts per task with a noise floor of at most `difference`."""
        several = self.repeated_attempt_task_mask
        return attempts_for_noise(self.n[several], self.c[several], difference, self.level)

    @property
    def flaky_task_count(self) -> int:
        """The number of flaky tasks, which have both passes and failures."""
        return int(((self.c > 0) & (self.c < self.n)).sum())

    @cached_property
    def intraclass_correlation(self) -> Estimate:
        """The intraclass correlation of attempts at the same task, with its interval."""
        value, low, high = intraclass_correlation(self.n, self.c)
        return Estimate(None) if math.isnan(value) else Estimate(value, low=low, high=high)


def series_noise_estimators(counts: Counts, level: float) -> Iterator[SeriesNoiseEstimator]:
    """The noise of each series that has a task with at least two attempts.

    A series is left out if sampling stopped at the first pass, because the outcomes then determine
    the number of attempts.
    """
    for place, series in enumerate(counts.series):
        rows = counts.slice_of_series(place)
        n, c = counts.n[rows], counts.c[rows]
        if n.max(initial=0) > 1 and not has_optional_stopping(n, c):
            yield SeriesNoiseEstimator(series, n, c, level)


class NoiseSummary:
    """The subject of answers about noise, which contains the noise of every series."""

    def __init__(self, study: Analysis) -> None:
        counts, self.study = study.counts, study
        measurable = not study.has_missing_outcome_ranges and not is_corrected_for_judge_errors(
            counts
        )
        all_models = series_noise_estimators(counts, study.confidence.level) if measurable else ()
        # A series without flaky tasks would have a noise floor of 0, which is too optimistic.
        noisy = sorted(
            (noise for noise in all_models if noise.flaky_task_count),
            key=SeriesNoiseEstimator.noise_floor,
        )
        # A sentence about noise does not help if chance can make two runs differ at all tasks,
        # which happens with few tasks.
        self.noisy = noisy if noisy and noisy[-1].noise_floor() < 1 else []

    @property
    def has_single_series_in_data(self) -> bool:
        """Whether there is only one series."""
        return len(self.study.counts.series) == 1

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The fields of the answers: the lowest and the highest noise floor, and details about the
        noisiest series."""
        least, most = self.noisy[0], self.noisy[-1]
        return {
            "level": f"{100 * most.level:g} %", "floor": most.noise_floor(),
            "least": least.noise_floor(),
            "model": SeriesName(most.series), "steadiest": SeriesName(least.series),
            "by": self.study.counts.group_names, "flaky": most.flaky_task_count,
            "tasks": len(most.n),
            "correlation": most.intraclass_correlation.value if self.has_single_series_in_data
            else None,
            "several": int(most.repeated_attempt_task_mask.sum()) if (most.n == 1).any() else 0,
        }  # fmt: skip


_NOISE_FLOOR_OF_MODELS_ANSWER = Answer(
    "noise-floor-of-models", lambda noise: noise.noisy and not noise.has_single_series_in_data,
    "Two runs of a model{?by| in one group of {by:and}} differ by up to {floor:=points} by chance"
    " ({level}, one attempt per task{?several|, at the {several:task} with several attempts}).",
)  # fmt: skip
NOISE_FLOOR_ANSWERS = (
    _NOISE_FLOOR_OF_MODELS_ANSWER,
    Answer("noise-floor", lambda noise: bool(noise.noisy),
           "Two runs of one attempt per task differ by up to {floor:=points} by chance ({level}"
           "{?several|, at the {several:task} with several attempts}); {flaky} of {tasks:task}"
           " {flaky:is|are} flaky{?correlation|; intraclass correlation {correlation:=score}}."),
)  # fmt: skip
# The answers in NOISE_ANSWERS_OMITTING_FLAKY_COUNT follow a sentence that already contains the
# number of flaky tasks.
NOISE_ANSWERS_OMITTING_FLAKY_COUNT = (
    _NOISE_FLOOR_OF_MODELS_ANSWER,
    Answer("noise-floor-of-tasks", lambda noise: bool(noise.noisy),
           "Two runs of one attempt per task differ by up to {floor:=points} by chance ({level}"
           "{?several|, at the {several:task} with several attempts})"
           "{?correlation|; intraclass correlation {correlation:=score}}."),
)  # fmt: skip
