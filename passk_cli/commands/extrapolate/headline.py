"""Answer sentences for `passk extrapolate`, about predictions or the k that a target needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from passk_cli.commands.extrapolate.prediction import LARGEST_SEARCH_K_WORDS, Prediction
from passk_cli.report.data_types import Cell, Estimate, Limits, PhraseCell
from passk_cli.study.answer import Answer
from passk_cli.study.value_range import all_series_words

# Predictions that differ by less than _EQUAL_TOLERANCE are treated as equal, because they look
# equal after rounding.
_EQUAL_TOLERANCE = 0.0005


class RankedPredictions:
    """The predictions of all models at one k, with the highest prediction first."""

    def __init__(self, models: Sequence[Prediction], k: int, where: str) -> None:
        self.models, self.k, self.where = models, k, where
        self.open = [row for row in models if row.results_by_k[k].estimate.value is None]
        self.top, *self.lower_estimates = (row.results_by_k[k].estimate for row in models)
        low = math.inf if self.top.low is None else self.top.low
        self.rivals = [
            row.task_values.name for row, rival in zip(models[1:], self.lower_estimates,
                strict=True)
            if rival.high is None or rival.high >= low
        ]  # fmt: skip

    @property
    def all_look_equal(self) -> bool:
        values = [estimate.value or 0.0 for estimate in (self.top, *self.lower_estimates)]
        return values[0] - values[-1] < _EQUAL_TOLERANCE

    @property
    def sentence_fields(self) -> dict[str, Any]:
        best, last = self.models[0], self.models[-1]
        fields: dict[str, Any] = {
            "number": f"{best.metric_family}{self.k}", "model": best.task_values.name,
            "where": self.where,
            "models": len(self.models), "all": all_series_words(len(self.models)),
            "estimate": self.top,
            "highest": self.top.without_interval, "rivals": self.rivals, "count": len(self.rivals),
            "within": self.k <= best.known_k, "open": len(self.open), "last": last.task_values.name,
            "lowest": (self.top, *self.lower_estimates)[-1].without_interval,
        }  # fmt: skip
        if self.open:
            widest = max(self.open, key=lambda row: _range_width(row.results_by_k[self.k].estimate))
            limits, prospect = widest.results_by_k[self.k].estimate, widest.attempts_needed(self.k)
            fields |= {"attempts": widest.known_k, "limits": Limits(limits.low, limits.high)}
            if prospect:
                fields |= {
                    "ahead": prospect.attempts,
                    "next": f"{best.metric_family}{prospect.determined_k}",
                }
        return fields


_SHARED_TASKS_CLAUSE = "{?where| on {where}}"
_WITHIN_ATTEMPTS_CLAUSE = "{?within|. This k is not larger than the number of attempts made}."
_ATTEMPTS_TO_PREDICT_CLAUSE = "{?ahead|; with {ahead:attempt} {next} could be predicted}."
PREDICTION_ANSWER_TEMPLATES = (
    Answer("not-determined",
           lambda predictions: predictions.open and not predictions.lower_estimates,
           "With {attempts:attempt} per task, passk can predict only a range for {number} of"
           " {model}" + _SHARED_TASKS_CLAUSE
           + ": {limits}" + _ATTEMPTS_TO_PREDICT_CLAUSE),
    Answer("some-not-determined", lambda predictions: predictions.open,
           "With {attempts:attempt} per task, passk can predict only a range for {number} of"
           " {open} of {models:model}"
           + _SHARED_TASKS_CLAUSE + _ATTEMPTS_TO_PREDICT_CLAUSE),
    Answer("predicted", lambda predictions: not predictions.lower_estimates,
           "{number} of {model}" + _SHARED_TASKS_CLAUSE + " is {estimate}"
           + _WITHIN_ATTEMPTS_CLAUSE),
    Answer("predicted-highest", lambda predictions: not predictions.rivals,
           "{number} is highest for"
           " {model}" + _SHARED_TASKS_CLAUSE + ": {highest}" + _WITHIN_ATTEMPTS_CLAUSE),
    Answer("predicted-alike", lambda predictions: predictions.all_look_equal,
           "{number}" + _SHARED_TASKS_CLAUSE + " is about {highest} for {all}."),
    Answer("predicted-range", lambda _: True,
           "{number}" + _SHARED_TASKS_CLAUSE + " ranges from {lowest} ({last}) to {highest}"
               " ({model}). The"
           " highest range overlaps with the {count:range|ranges} of {rivals}"
           + _WITHIN_ATTEMPTS_CLAUSE),
)  # fmt: skip
FEW_SHARED_TASKS_ANSWER_TEMPLATE = Answer(
    "too-few-shared", lambda _: True,
    "Too few tasks are shared by all models to predict {number}.", lambda name: {"number": name},
)  # fmt: skip


class RankedTargetKs:
    """The k at which each model reaches the target, with the smallest k first.

    For pass^k, the model that stays at or above the target up to the largest k comes first.
    """

    def __init__(self, models: Sequence[Prediction], target: float, where: str) -> None:
        self.rising, self.target, self.where = models[0].metric_family == "pass@", target, where
        self.models = sorted(models, key=_k_reaching_target_limits, reverse=not self.rising)
        self.ends = [_k_reaching_target_limits(row) for row in self.models]

    @property
    def sentence_fields(self) -> dict[str, Any]:
        best, (low, high) = self.models[0], self.ends[0]
        rivals = [
            row.task_values.name for row, (start, end) in zip(self.models[1:], self.ends[1:],
                strict=True)
            if start <= high and end >= low
        ]  # fmt: skip
        return {
            "rising": int(self.rising), "target": self.target, "where": self.where,
            "model": best.task_values.name, "all": all_series_words(len(self.models)),
            "ks": PhraseCell((*k_reaching_target_text_parts(best),)), "low": low, "high": high,
            "rivals": rivals, "count": len(rivals),
        }  # fmt: skip


TARGET_K_ANSWERS = (
    Answer("target-of-one", lambda targets: len(targets.models) == 1,
           "{rising:k for pass@k =|k up to which pass^k ≥} {target} of"
           " {model}" + _SHARED_TASKS_CLAUSE
           + ": {ks}."),
    Answer("target-alike", lambda targets: len({*targets.ends}) == 1,
           "{rising:k for pass@k =|k up to which pass^k ≥} {target} for"
           " {all}" + _SHARED_TASKS_CLAUSE
           + ": {ks}."),
    Answer("target-first", lambda _: True,
           "{rising:k for pass@k =|k up to which pass^k ≥} {target} is {rising:lowest|highest}"
           " for {model}" + _SHARED_TASKS_CLAUSE
           + ": {ks}{?rivals|; its range overlaps with the {count:range|ranges} of {rivals}}."),
)  # fmt: skip


def ranking_value(prediction: Prediction, k: int) -> float:
    """The value that orders the models: the prediction at k, or the middle of the range at k."""
    estimate = prediction.results_by_k[k].estimate
    middle = ((estimate.low or 0.0) + (estimate.high or 0.0)) / 2
    return middle if estimate.value is None else estimate.value


def _range_width(estimate: Estimate) -> float:
    return (estimate.high or 0.0) - (estimate.low or 0.0)


def _k_reaching_target_limits(prediction: Prediction) -> tuple[float, float]:
    [fact] = prediction.target_k_results
    low, high = (math.inf if end is None else end
                 for end in (fact.estimate.low, fact.estimate.high))  # fmt: skip
    return low, high


def k_reaching_target_text_parts(prediction: Prediction) -> Iterator[Cell]:
    """Yield the parts of a text that names a k, for example "17 [12, 26]" or "not before 94"."""
    [fact] = prediction.target_k_results
    value, low, high = (
        None if k is None else int(k)
        for k in (fact.estimate.value, fact.estimate.low, fact.estimate.high)
    )
    rising = prediction.metric_family == "pass@"
    if low is None:
        yield (
            f"not up to {LARGEST_SEARCH_K_WORDS}" if rising else f"{LARGEST_SEARCH_K_WORDS} or more"
        )
    elif high is None and rising:
        yield from ("not before ", low, "; no k is certain")
    elif high is None:
        yield from (low, " or more")
    elif value is not None:
        yield from (value, " [", low, ", ", high, "]")
    else:
        yield from (low, " to ", high)
