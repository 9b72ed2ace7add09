"""Compares models at metrics that are known only as ranges, for example cover@0.8.

Two models differ significantly if their ranges do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from passk_cli.arrays import group_by
from passk_cli.commands.compare.pairs import PairTableRow
from passk_cli.inference.extrapolation import MAX_RANGE_WIDTH
from passk_cli.inference.intervals import RANGE_METHOD
from passk_cli.report.data_types import AnswerSentence, Cell, Column, Estimate
from passk_cli.report.phrases import count_range
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.comparison import comparison_on_shared_tasks
from passk_cli.study.cover_ranges import range_limits_only
from passk_cli.study.pairwise_tests import BETTER, TIED, WORSE, choose_pairs
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    data_field,
)
from passk_cli.study.value_range import name_with_groups

# Without --full, the table of ranges shows only MAX_ROWS_IN_SHORT_TABLE rows.
MAX_ROWS_IN_SHORT_TABLE = 10


@dataclass(frozen=True)
class PairAtRangeMetric(PairTableRow):
    """The results of two models on their shared tasks, at a metric that is known as a range."""

    model_results: tuple[Result, Result]

    @property
    def are_both_results_ranges(self) -> bool:
        return all(side.is_range for side in self.model_results)

    @cached_property
    def result(self) -> Result:
        """The range of the difference between the two models.

        The lower end is the lower end of the first range minus the upper end of the second range.
        """
        c, (first, second) = self.comparison, self.model_results
        nothing = Result(
            self.series,
            c.first.metric.name,
            None,
            Estimate(None, signed=True),
            size=SampleSize(len(c.tasks), *c.attempts_range),
            method=RANGE_METHOD,
            level=first.level,
            against=self.against,
        )
        left, right = first.estimate, second.estimate
        if left.low is None or left.high is None or right.low is None or right.high is None:
            reason = c.reason or left.reason or right.reason
            return replace(nothing, estimate=Estimate(None, reason=reason, signed=True))
        low, high, value = left.low - right.high, left.high - right.low, None
        if high - low <= MAX_RANGE_WIDTH and left.value is not None and right.value is not None:
            value = left.value - right.value
        verdict = BETTER if low > 0 else WORSE if high < 0 else TIED
        more: dict[str, Cell] = {
            "low_model": left.low, "high_model": left.high,
            "low_against": right.low, "high_against": right.high,
        }  # fmt: skip
        estimate = Estimate(value, low=low, high=high, signed=True)
        return replace(nothing, estimate=estimate, verdict=verdict, extra_fields=more)


def cover_pairs(study: Analysis, baseline: str | None) -> list[PairAtRangeMetric]:
    """Compare all pairs of models, or each model with the baseline, at metrics that are ranges."""
    metrics = tuple(metric for metric in study.metrics if metric.definition.is_known_only_as_range)
    facts_of_sides: dict[tuple[Any, ...], Result] = {}
    pairs = []
    for rivals in choose_pairs(replace(study, metrics=metrics), baseline):
        c = comparison_on_shared_tasks(*rivals, study.comparison_options.unpaired)
        keys = [(values.series, values.metric, c.tasks.tobytes()) for values in rivals]
        for key, values in zip(keys, rivals, strict=True):
            if key not in facts_of_sides:
                shared = replace(values, values=c.differences[:0])
                if len(c.tasks):
                    shared = values.restrict(c.tasks)
                facts_of_sides[key] = study.result(shared)
        pairs.append(PairAtRangeMetric(c, (facts_of_sides[keys[0]], facts_of_sides[keys[1]])))
    place = {metric: at for at, metric in enumerate(metrics)}
    return sorted(pairs, key=lambda pair: (
        place[pair.comparison.first.metric], pair.result.verdict not in (BETTER, WORSE),
    ))  # fmt: skip


class PairsAtRangeMetricSummary:
    """The answer about all pairs of models at one metric that is a range."""

    def __init__(self, pairs: Sequence[PairAtRangeMetric], groups: Sequence[str]) -> None:
        self.pairs, self.groups = [pair for pair in pairs if pair.are_both_results_ranges], groups
        self.without, self.metric = pairs[0], pairs[0].result.name
        self.differ = sum(pair.result.verdict in (BETTER, WORSE) for pair in self.pairs)

    @property
    def verdict(self) -> str:
        return self.pairs[0].result.verdict if len(self.pairs) == 1 else ""

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        fields: dict[str, Any] = {
            "metric": self.metric, "differ": self.differ, "pairs": len(self.pairs),
            "reason": self.without.result.note,
        }  # fmt: skip
        if self.verdict:
            pair = self.pairs[0]
            sides = pair.model_results if self.verdict != WORSE else pair.model_results[::-1]
            model, against = (name_with_groups(side.series, self.groups) for side in sides)
            limits, other_limits = map(range_limits_only, sides)
            fields |= {"model": model, "against": against, "limits": limits, "others": other_limits}
        return fields


COVER_ANSWERS = (
    Answer("cover-not-compared", lambda comparison: not comparison.pairs,
           "No comparison at {metric} is possible: {reason}."),
    Answer("cover-higher", lambda comparison: comparison.verdict in (BETTER, WORSE),
           "{model} has a significantly higher {metric} than {against}: the ranges {limits} and"
           " {others} do not overlap."),
    Answer("cover-tied", lambda comparison: comparison.verdict == TIED,
           "{model} and {against} tie at {metric}: the ranges {limits} and {others} overlap."),
    Answer("cover-pairs", lambda comparison: True,
           "At {metric}, {differ} of {pairs:pair} {differ:differs|differ} significantly:"
           " their ranges do not overlap."),
)  # fmt: skip


class CoverPairTable(ReportSection[PairAtRangeMetric]):
    """A row per pair of models and metric, with the ranges of both models and of the difference."""

    title = "Ranges"
    columns = (
        MODEL_COLUMN, AGAINST_MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("metric", meaning="Name of the"
               " metric, as in `-m`.", cell_of_record=lambda pair: pair.result.name),
        Column("range", "share", meaning="Range of the model's metric on the tasks that both models"
               " have. If the range is narrow, an estimate comes before it.",
               cell_of_record=lambda pair: pair.model_results[0].estimate.value_or_limits),
        Column("range of other", "share", meaning="Range of the other model's metric.",
               cell_of_record=lambda pair: pair.model_results[1].estimate.value_or_limits),
        Column("difference", "share", meaning="Range of the difference, computed from the ranges of"
               " both models.",
               cell_of_record=lambda pair: pair.result.estimate.value_or_limits),
        Column("verdict", stays_with_previous=True,
            meaning="better or worse if the two ranges do not overlap,"
               " otherwise tied.",
               cell_of_record=lambda pair: pair.result.verdict),
        data_field("low_model", "Lower end of the model's range."),
        data_field("high_model", "Upper end of the model's range."),
        data_field("low_against", "Lower end of the other model's range."),
        data_field("high_against", "Upper end of the other model's range."),
    )  # fmt: skip

    def results_of(self, record: PairAtRangeMetric) -> Iterator[Result]:
        yield record.result

    def answer(self) -> Iterator[AnswerSentence]:
        for pairs in group_by(self.records, lambda pair: pair.comparison.first.metric).values():
            yield from first_true_sentence(
                COVER_ANSWERS, PairsAtRangeMetricSummary(pairs, self.study.counts.group_names)
            )

    def footer_parts(self) -> Iterator[str]:
        if self.records:
            confidence = self.study.confidence
            metrics = {pair.comparison.first.metric for pair in self.records}
            if len(metrics) == len(self.study.metrics):
                yield count_range(
                    [len(pair.comparison.tasks) for pair in self.records], "shared task"
                )
            yield f"{100 * confidence.level:g} % ranges; models with overlapping ranges are tied"
