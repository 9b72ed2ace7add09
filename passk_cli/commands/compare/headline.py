"""The answer of `passk compare`: which models lead or tie, and how much two models differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from passk_cli.arrays import group_by
from passk_cli.commands.compare.pairs import ModelWithRanks, Pair, pairs_at_first_metric
from passk_cli.metrics.registry import Metric
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName, p_sign_and_number_text
from passk_cli.study.answer import Answer
from passk_cli.study.pairwise_tests import BETTER, EQUIVALENT, TIED, WORSE
from passk_cli.study.rank_resampling import RankAllowedByTests
from passk_cli.study.value_range import named_group_values

# The answer of `passk compare` names at most _NAMED models, and at most _FEW_GROUPS groups per
# model.
_NAMED, _FEW_GROUPS = 3, 2
_VERDICT_WORDS = {
    BETTER: "significantly better", WORSE: "significantly worse", EQUIVALENT: EQUIVALENT,
    TIED: TIED,
}  # fmt: skip


def pairs_with_p_value(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of models that have a p-value."""
    return [pair for pair in pairs if pair.comparison.has_p_value]


def count_differing(pairs: Sequence[Pair]) -> int:
    return sum(pair.result.verdict in (BETTER, WORSE) for pair in pairs)


class LeaderSummary:
    """The ranks of models at the first metric, and the tests that determine these ranks."""

    def __init__(
        self, standings: Sequence[ModelWithRanks], pairs: Sequence[Pair], metric: Metric,
        groups: Sequence[str],
    ) -> None:  # fmt: skip
        self.metric, self.groups = metric, groups
        self.tested = pairs_with_p_value(pairs_at_first_metric(pairs))
        ranks = (standing.ranks.get(metric) for standing in standings)
        self.ranked = [rank for rank in ranks if rank is not None and rank.low is not None]
        self.top = [rank for rank in self.ranked if rank.low == 1]
        self.lower_ranks = [rank for rank in self.ranked if rank.low != 1]

    @property
    def are_all_pairs_tested(self) -> bool:
        count = len(self.ranked)
        return bool(self.top) and len(self.tested) >= count * (count - 1) // 2

    @cached_property
    def leader_pairs(self) -> list[Pair]:
        """The pairs that contain the best model, with the best model first in each pair."""
        series = self.top[0].values.series
        return [pair.with_first(series) for pair in self.tested if series in pair.models]

    @property
    def has_leader(self) -> bool:
        return len(self.top) == 1 and all(p.result.verdict == BETTER for p in self.leader_pairs)

    @property
    def pair_count_fields(self) -> Mapping[str, Any]:
        return {
            "metric": self.metric.name, "differ": count_differing(self.tested), "pairs": len(
            self.tested),
            "model": self.top[0].values.series[0] if self.top else "",
        }  # fmt: skip

    @property
    def leader_fields(self) -> Mapping[str, Any]:
        nearest = min(self.leader_pairs, key=lambda pair: pair.advantage_of_first.value or 0.0)
        ties, p = len(self.tested) - count_differing(self.tested), nearest.result.p_adjusted or 0.0
        return {
            **self.pair_count_fields, "lead": nearest.advantage_of_first,
            "second": nearest.models[1][0],
            "p": p, "relation": p_sign_and_number_text(p), "ties": ties,
            "rest": len(self.tested) - 1,
        }  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        names = [rank.values.series[0] for rank in self.top]
        first = {rank.values.series for rank in self.top}
        separating = [p for p in self.tested if len(first.intersection(p.models)) == 1]
        ends, lower_ends = (
            _range_ends_of_each_estimate(self.top),
            _range_ends_of_each_estimate(self.lower_ranks),
        )
        last = (max if self.metric.better_sign > 0 else min)(lower_ends, default=None)
        return {
            "metric": self.metric.name, "count": len(names), "rest": len(self.lower_ranks),
            "level": Estimate(min(ends), range_upper_end=max(ends), unit=self.metric.unit),
            "first": names if len(names) <= _NAMED else names[:1],
            "more": len(names) - 1 if len(names) > _NAMED else 0,
            "other": self.lower_ranks[0].values.series[0] if self.lower_ranks else "",
            "last": Estimate(last, unit=self.metric.unit), "direction": self.metric.better_sign,
            "some": not all(pair.winner for pair in separating),
        }  # fmt: skip

    @cached_property
    def groups_led_by_model(self) -> dict[str, list[str]]:
        """Maps each model to the groups in which only this model leads.

        The model with the most groups comes first.
        """
        names: dict[str, list[str]] = {}
        for group, ranks in group_by(self.ranked, lambda rank: rank.values.series[1:]).items():
            top = [rank.values.series[0] for rank in ranks if rank.low == 1]
            if len(top) == 1:
                names.setdefault(top[0], []).append(named_group_values(group, self.groups))
        return dict(sorted(names.items(), key=lambda item: -len(item[1])))

    @property
    def group_leader_fields(self) -> Mapping[str, Any]:
        groups = len({rank.values.series[1:] for rank in self.ranked})
        leaders = [
            f"{model} ({', '.join(names) if len(names) <= _FEW_GROUPS else f'{len(names)} groups'})"
            for model, names in self.groups_led_by_model.items()
        ]
        ties = groups - sum(map(len, self.groups_led_by_model.values()))
        return {**self.pair_count_fields, "groups": groups, "leaders": leaders, "ties": ties}


def _range_ends_of_each_estimate(ranks: Sequence[RankAllowedByTests]) -> list[float]:
    ends: list[float] = []
    for rank in ranks:
        estimate = rank.values.estimate
        rank_ends = estimate.range_ends if isinstance(estimate, Estimate) else (estimate,)
        ends += [end for end in rank_ends if isinstance(end, int | float)]
    return ends


LEADER_ANSWERS = (
    Answer("first-by-group", lambda places: places.groups and places.groups_led_by_model,
           "First at {metric} in {groups:group}: {leaders}{?ties|; a tie in {ties:group}};"
           " {differ} of {pairs:pair} differ significantly.",
           lambda places: places.group_leader_fields),
    Answer("ties-by-group", lambda places: bool(places.groups),
           "At {metric}, no model comes first by itself in {groups:group}; {differ} of {pairs:pair}"
           " differ significantly.",
           lambda places: places.group_leader_fields),
    Answer("pairs-that-differ", lambda places: not places.are_all_pairs_tested,
           "{differ} of {pairs:pair} differ significantly at {metric}.",
           lambda places: places.pair_count_fields),
    Answer("leads-ties-below", lambda places: places.has_leader and places.leader_fields["ties"],
           "{model} leads at {metric} by {lead:=share points}, p {relation}; {ties} of the other"
           " {rest:pair} {ties:ties|tie}.",
           lambda places: places.leader_fields),
    Answer("leads-all-differ", lambda places: places.has_leader and places.leader_fields["rest"],
           "{model} leads at {metric} by {lead:=share points}, p {relation}; every other pair also"
           " differs significantly.",
           lambda places: places.leader_fields),
    Answer("leads", lambda places: places.has_leader,
           "{model} leads at {metric} by {lead:=share points}, p {relation}.",
           lambda places: places.leader_fields),
    Answer("comes-first", lambda places: len(places.top) == 1,
           "{model} comes first at {metric}; {differ} of {pairs:pair} differ significantly.",
           lambda places: places.pair_count_fields),
    Answer("all-tie", lambda places: not places.lower_ranks,
           "All {count:model} tie at {metric} ({level})."),
    Answer("tie-but-one", lambda places: len(places.lower_ranks) == 1,
           "{first:and}{?more| and {more} more} tie for first at {metric} ({level}); {other}"
           " ({last}) is significantly worse{?some| than at least one model}."),
    Answer("tie-for-first", lambda places: True,
           "{first:and}{?more| and {more} more} tie for first at {metric} ({level}); the other"
           " {rest} ({direction:at most|at least} {last}) are significantly worse"
           "{?some| than at least one model}."),
)  # fmt: skip


def baseline_answer_fields(
    baseline: str, pairs: Sequence[Pair], groups: Sequence[str]
) -> Mapping[str, Any]:
    """The fields of the answer about models that are compared with a baseline.

    The fields contain the number of models with each verdict, and the best difference from the
    baseline. The model with the best difference is named only if the results are not split into
    groups.

    The difference has an interval only if a single model is compared with the baseline. With
    several models, the interval of the best difference would be too narrow.
    """
    count = Counter(pair.result.verdict for pair in pairs)
    sign = pairs[0].metric.better_sign
    best = max(pairs, key=lambda pair: sign * (pair.result.estimate.value or 0.0))
    estimate = best.result.estimate
    return {
        "baseline": baseline, "metric": pairs[0].metric.name, "direction": sign,
        "verdicts": [f"{count[name]:,} {word}" for name, word in _VERDICT_WORDS.items()
            if count[name]],
        "best": "" if groups else SeriesName(best.series),
        "difference": estimate if len(pairs) == 1 else estimate.without_interval,
        **{name: count[name] for name in _VERDICT_WORDS},
    }  # fmt: skip


class TwoModelDifference:
    """The verdict and the fields of the answer about two models at the first metric."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.verdict = pair, pair.result.verdict

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        pair = self.pair
        model, second = (SeriesName(series) for series in pair.models)
        equivalent = self.verdict == EQUIVALENT
        p = (pair.equivalence_p if equivalent else pair.result.p_adjusted) or 0.0
        within = pair.comparison.equivalent and not equivalent
        return {
            "model": model, "against": second, "metric": pair.metric.name,
            "difference": pair.result.estimate, "p": p, "relation": p_sign_and_number_text(p),
            "within": p_sign_and_number_text(pair.equivalence_p or 0.0) if within else "",
        }  # fmt: skip


TWO_MODEL_ANSWERS = (
    Answer("better", lambda two: two.verdict == BETTER,
           "{model} is significantly better than {against} at {metric}: {difference}, p"
           " {relation}{?within|; within the margin, p {within}}."),
    Answer("worse", lambda two: two.verdict == WORSE,
           "{model} is significantly worse than {against} at {metric}: {difference}, p"
           " {relation}{?within|; within the margin, p {within}}."),
    Answer("equivalent", lambda two: two.verdict == EQUIVALENT,
           "{model} and {against} are equivalent at {metric}: {difference}, p of equivalence"
           " {relation}."),
    Answer("tie", lambda two: True,
           "{model} and {against} tie at {metric}: {difference}, p {relation}"
           "{?within|; within the margin, p {within}}."),
)  # fmt: skip


METRIC_CHANGE_ANSWERS = (
    Answer("changes-that-differ", lambda section: len(section.tested_pairs) > 1,
           "In their change from {start} to {end}, {differ} of {pairs:pair} differ"
           " significantly{?equivalent|; {equivalent} equivalent}."),
    Answer("change-higher", lambda section: section.verdict == BETTER,
           "The change from {start} to {end} is significantly higher for {model}: {difference},"
           " p {relation}{?within|; within the margin, p {within}}."),
    Answer("change-lower", lambda section: section.verdict == WORSE,
           "The change from {start} to {end} is significantly lower for {model}: {difference}, p"
           " {relation}{?within|; within the margin, p {within}}."),
    Answer("change-equivalent", lambda section: section.verdict == EQUIVALENT,
           "The change from {start} to {end} is equivalent for both models: {difference}, p of"
           " equivalence {relation}."),
    Answer("change-tied", lambda section: section.verdict == TIED,
           "The change from {start} to {end} does not differ significantly: {difference}, p"
           " {relation}{?within|; within the margin, p {within}}."),
)  # fmt: skip


class SignificantOrderReversals:
    """Pairs of models that differ significantly in opposite directions at two metrics."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        before = {
            frozenset(pair.models): pair.winner
            for pair in pairs_with_p_value(pairs_at_first_metric(pairs))
        }
        self.turned = [
            pair for pair in pairs
            if pair.winner and (before.get(frozenset(pair.models)) or pair.winner) != pair.winner
        ]  # fmt: skip
        self.pairs = len({frozenset(pair.models) for pair in self.turned})

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        return {
            "metrics": list(dict.fromkeys(pair.metric.name for pair in self.turned)),
            "better": SeriesName(self.turned[0].winner or ()), "pairs": self.pairs,
        }  # fmt: skip


REVERSAL_ANSWERS = (
    Answer("order-reverses", lambda reversals: reversals.pairs == 1,
           "The order of the two models reverses: at {metrics}, {better} is significantly better."),
    Answer("orders-reverse", lambda reversals: reversals.pairs > 1,
           "The order of the models in {pairs:pair} reverses significantly at {metrics}."),
)  # fmt: skip
