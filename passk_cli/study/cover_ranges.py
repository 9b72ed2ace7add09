"""Answers about metrics for which the counts give only a range, for example cover@0.8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from passk_cli.inference.cover_range import DataNeededForPointEstimate
from passk_cli.report.data_types import AnswerSentence, Limits
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence, true_sentences
from passk_cli.study.result import Result
from passk_cli.study.value_range import (
    LOWEST_AND_HIGHEST_ANSWERS,
    NO_SHARED_TASK_ANSWERS,
    LowestAndHighestEstimates,
    name_with_groups,
)


class CoverMetricRanges:
    """The subject of answers about the ranges of one metric.  The ranges are sorted from the
    highest to the lowest range.

    facts : the results of all series.  Results that are not ranges are left out.
    """

    def __init__(self, study: Analysis, facts: Sequence[Result]) -> None:
        self.study, self.groups = study, study.counts.group_names
        shared, where = study.on_shared_tasks(facts)
        self.where = "" if self.groups else where.removeprefix(" on ")
        ranges = [fact for fact in (facts if self.groups else shared) if fact.is_range]
        self.facts = sorted(ranges, key=lambda fact: -(fact.estimate.value_or_midpoint or 0.0))
        self.open = [fact for fact in self.facts if fact.estimate.value is None]

    @property
    def models_overlapping_highest_range(self) -> list[str]:
        """The names of the models with a range that overlaps the highest range."""
        first = self.facts[0].estimate.low or 0.0
        return [
            name_with_groups(f.series, self.groups)
            for f in self.facts[1:]
            if (f.estimate.high or 0.0) >= first
        ]

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The fields of the answers: the highest range, the lowest range, and what would narrow the
        widest range."""
        first, last = self.facts[0], self.facts[-1]
        metric = None if first.values is None else first.values.metric
        fields = {
            "metric": first.name, "model": name_with_groups(first.series, self.groups),
            "where": self.where,
            "rate": metric.k_and_share_name_suffix if metric else "", "estimate": first.estimate,
            "limits": range_limits_only(first),
            "rivals": self.models_overlapping_highest_range,
            "count": len(self.models_overlapping_highest_range),
            "last": name_with_groups(last.series, self.groups),
            "lowest": range_limits_only(last),
            "open": len(self.open), "models": len(self.facts),
        }  # fmt: skip
        if self.open:
            widest = max(self.open, key=lambda f: (f.estimate.high or 0) - (f.estimate.low or 0))
            assert widest.values is not None
            cover = widest.values.cover_range(self.study.confidence.level)
            needed = cover.data_needed
            fields |= {
                "attempts": cover.mostly_available_attempt_count, "ahead": needed.attempts,
                "tasks": needed.tasks,
                "both": needed == DataNeededForPointEstimate(None, None),
                "widest": name_with_groups(widest.series, self.groups),
            }  # fmt: skip
        return fields


def range_limits_only(fact: Result) -> Limits:
    """The limits of a result's range, without the point estimate."""
    return Limits(fact.estimate.low, fact.estimate.high)


_SHARED_TASKS_CLAUSE = "{?where| on {where}}"
_NEEDED_DATA_CLAUSE = (
    "{?ahead|; about {ahead:attempt} per task would narrow it enough}"
    "{?tasks|; about {tasks:task} would narrow it enough}"
    "{?both|; an estimate needs more attempts and more tasks}."
)
COVER_ANSWERS = (
    Answer("cover", lambda covers: len(covers.facts) == 1 and not covers.open,
           "{model}: {metric}, the share of tasks with a true success rate of {rate} or more,"
           " is {estimate}."),
    Answer("cover-not-determined", lambda covers: len(covers.facts) == 1,
           "{model}: {metric}, the share of tasks with a true success rate of {rate} or more, is"
           " in {limits}. With {attempts:attempt} per task, this range is too wide for an estimate"
           + _NEEDED_DATA_CLAUSE),
    Answer("cover-of-groups", lambda covers: bool(covers.groups),
           "The highest range of {metric} is {limits} ({model}), and the lowest range is {lowest}"
           " ({last})."),
    Answer("cover-highest", lambda covers: not covers.models_overlapping_highest_range,
           "{metric} is highest for {model}" + _SHARED_TASKS_CLAUSE + ": it is in {limits}, above"
               " all other"
           " ranges."),
    Answer("cover-overlaps", lambda covers: True,
           "{model} has the highest range of {metric}" + _SHARED_TASKS_CLAUSE + ", {limits}; it"
               " overlaps with"
           " the {count:range|ranges} of {rivals}."),
)  # fmt: skip
TOO_WIDE_RANGES_ANSWER = Answer(
    "cover-some-not-determined",
    lambda covers: covers.open and len(covers.facts) > 1,
    "{open} of {models:range} {open:is|are} too wide for an estimate; {widest} has the widest"
    " range ({attempts:attempt} per task)" + _NEEDED_DATA_CLAUSE,
)


def cover_range_sentences(study: Analysis, facts: Sequence[Result]) -> Iterator[AnswerSentence]:
    """Yield the answers about the results of one metric that gives a range."""
    covers = CoverMetricRanges(study, facts)
    if covers.facts:
        yield from first_true_sentence(COVER_ANSWERS, covers)
        yield from true_sentences((TOO_WIDE_RANGES_ANSWER,), covers)
    elif any(fact.is_range for fact in facts):
        yield from first_true_sentence(NO_SHARED_TASK_ANSWERS, study.largest_unsupported_k(facts))
    else:
        yield from first_true_sentence(
            LOWEST_AND_HIGHEST_ANSWERS, LowestAndHighestEstimates(facts, study.counts.group_names)
        )
