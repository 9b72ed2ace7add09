"""Answers that name the models with the lowest and with the highest estimate of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from passk_cli.report.data_types import AnswerSentence, Estimate
from passk_cli.report.phrases import all_in_words, plural
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.result import Result
from passk_cli.study.values import SeriesKey, first_or_combined_reason

# Values that differ by at most _EQUAL are treated as equal. A sentence names at most _NAMED models.
_EQUAL, _NAMED = 1e-12, 3


class ModelsWithExtremeValue(NamedTuple):
    """The models that have the highest or the lowest value of a metric, or may have this value if
    outcomes are missing.

    estimate : the highest or the lowest estimate, without an interval if there are several series.
    certain : whether these models have this value, no matter how many missing outcomes pass.
    """

    names: Sequence[str]
    words: str
    estimate: Estimate
    certain: bool


class LowestAndHighestEstimates:
    """The estimates of one metric, with the lowest and the highest value.

    The highest of several estimates has no interval, because the interval would not be valid after
    this selection.
    """

    def __init__(self, facts: Sequence[Result], group_names: Sequence[str]) -> None:
        self.metric, self.groups = facts[0].name, group_names
        self.valued = [fact for fact in facts if fact.estimate.value is not None]
        self.without = [
            name_with_groups(fact.series, group_names)
            for fact in facts
            if fact.estimate.value is None
        ]
        self.reason = first_or_combined_reason(
            [*filter(None, (fact.estimate.reason for fact in facts)), ""]
        )

    @cached_property
    def top(self) -> ModelsWithExtremeValue:
        """The series with the highest estimate."""
        return find_extreme(self.valued, self.groups, 1)

    @cached_property
    def bottom(self) -> ModelsWithExtremeValue:
        """The series with the lowest estimate."""
        return find_extreme(self.valued, self.groups, -1)

    @property
    def same(self) -> bool:
        """Whether all series have the same estimate."""
        return len(self.top.names) == len(self.valued) and self.top.certain


_MODELS_WITHOUT_VALUE_CLAUSE = "{?without| {metric} cannot be computed for {without}.}"
LOWEST_AND_HIGHEST_ANSWERS = (
    Answer("no-value-of-any", lambda numbers: not numbers.valued,
           "{metric} cannot be computed{?reason|: {reason}}.",
           lambda numbers: {"metric": numbers.metric, "reason": numbers.reason}),
    Answer("value-of-one", lambda numbers: len(numbers.valued) == 1,
           "{metric} of {model} is {estimate}." + _MODELS_WITHOUT_VALUE_CLAUSE,
           lambda numbers: {
               "metric": numbers.metric, "model": name_with_groups(numbers.valued[0].series,
               numbers.groups),
               "estimate": numbers.valued[0].estimate, "without": numbers.without}),
    Answer("one-value", lambda numbers: numbers.same,
           "{metric} is {estimate} for {models}." + _MODELS_WITHOUT_VALUE_CLAUSE,
           lambda numbers: {
               "metric": numbers.metric, "estimate": numbers.top.estimate,
               "without": numbers.without,
               "models": all_series_words(len(numbers.valued), numbers.groups)}),
    Answer("range-of-values", lambda numbers: True,
           "{metric} ranges from {low} ({lowest}) to {high} ({highest})"
           "{?unsure|; missing outcomes decide which models these"
           " are}." + _MODELS_WITHOUT_VALUE_CLAUSE,
           lambda numbers: {
               "metric": numbers.metric, "low": numbers.bottom.estimate,
               "lowest": numbers.bottom.words,
               "high": numbers.top.estimate, "highest": numbers.top.words,
               "unsure": not (numbers.top.certain and numbers.bottom.certain),
               "without": numbers.without}),
)  # fmt: skip


NO_SHARED_TASK_ANSWERS = (
    Answer("no-task-with-attempts", lambda k: k > 0, "No task has {k:attempt} by each model.",
           lambda k: {"k": k}),
    Answer("no-shared-task", lambda _: True, "No task is shared by all models.", lambda _: {}),
)  # fmt: skip


def range_sentence(facts: Sequence[Result], group_names: Sequence[str] = ()) -> AnswerSentence:
    """The sentence about the lowest and the highest estimate of a metric; see
    `LowestAndHighestEstimates`.

    >>> numbers = {"a": 0.7, "b": 0.4, "c": 0.4}
    >>> facts = [Result((model,), "pass@1", 1, Estimate(v)) for model, v in numbers.items()]
    >>> range_sentence(facts).fields["lowest"], range_sentence(facts).fields["high"].value
    ('b, c', 0.7)
    """
    return next(
        first_true_sentence(
            LOWEST_AND_HIGHEST_ANSWERS, LowestAndHighestEstimates(facts, group_names)
        )
    )


def name_with_groups(series: SeriesKey, group_names: Sequence[str], joint: str = ", ") -> str:
    """The name of a model with its group values, for example "gpt-4, temperature 0.2".

    >>> name_with_groups(("gpt-4", "0.2"), ["temperature"]), name_with_groups(("a", ""), ["b"])
    ('gpt-4, temperature 0.2', 'a, b ""')
    """
    groups = f"{joint}{named_group_values(series[1:], group_names)}" if group_names else ""
    return series[0] + groups


def results_of_named_groups(facts: Sequence[Result]) -> Sequence[Result]:
    """The results of the groups with a name, or all results if no group has a name."""
    return [fact for fact in facts if all(fact.series[1:])] or facts


def named_group_values(values: Sequence[str], group_names: Sequence[str]) -> str:
    """The group values of a series with the names of their columns, for example "temperature
    0.2"."""
    pairs = zip(group_names, values, strict=True)
    return ", ".join(f"""{name} {value or '""'}""" for name, value in pairs)


def series_count_words(count: int, group_names: Sequence[str]) -> str:
    """A number of series in words, for example "3 models" or "3 combinations of model and
    temperature"."""
    if not group_names:
        return plural(count, "model")
    return f"{plural(count, 'combination')} of {' and '.join(('model', *group_names))}"


def all_series_words(count: int, group_names: Sequence[str] = ()) -> str:
    """All series in words, for example "both models" or "all 3 combinations of model and
    temperature"."""
    return all_in_words(series_count_words(count, group_names))


def find_extreme(
    facts: Sequence[Result], group_names: Sequence[str] = (), sign: int = 1
) -> ModelsWithExtremeValue:
    """The models with the highest value (if sign is 1) or with the lowest value (if sign is −1).
    Groups without a name are used only if no group has a name."""
    facts = results_of_named_groups(facts)
    spans = np.sort(
        [[sign * float(end or 0.0) for end in f.estimate.range_ends] for f in facts], axis=1
    )
    least, most = spans.max(axis=0).tolist()
    places = np.flatnonzero(spans[:, 1] >= least - _EQUAL).tolist()
    names = [name_with_groups(facts[i].series, group_names) for i in places]
    ends = spans[places]
    certain = len(places) == 1 or max(ends.max(), most) - min(ends.min(), least) <= _EQUAL
    words = ("; " if group_names else ", " if certain else " or ").join(names)
    if len(names) > _NAMED:
        words = ("" if certain else "one of ") + series_count_words(len(names), group_names)
    first = facts[places[0]].estimate
    if not certain:
        low, high = sorted((sign * least, sign * most))
        return ModelsWithExtremeValue(
            names, words, Estimate(low, range_upper_end=high, unit=first.unit), certain
        )
    return ModelsWithExtremeValue(
        names, words, first.without_interval if len(facts) > 1 else first, certain
    )
