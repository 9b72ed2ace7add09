"""Answer sentences for `passk estimate`, which name the models with the best values.

The answer names the leaders of the first and of the last metric. With --by, passk ranks models only
within a group, on the tasks that all models of the group have. The answer gives no interval for a
leader, because an interval for the best of several estimates would be too short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from passk_cli.arrays import group_by
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result
from passk_cli.study.value_range import (
    LOWEST_AND_HIGHEST_ANSWERS,
    LowestAndHighestEstimates,
    ModelsWithExtremeValue,
    find_extreme,
    name_with_groups,
    named_group_values,
)

# A sentence names at most _NAMED models, and at most _FEW_GROUPS groups per leader.
_NAMED, _FEW_GROUPS = 3, 2


class ModelsWithBestValue(NamedTuple):
    """The models with the best value of a metric.

    direction : 1 if a higher value is better, −1 if a lower value is better.
    """

    metric: str
    best_value_and_models: ModelsWithExtremeValue
    model_count: int
    task_count: int | None
    direction: int

    @property
    def is_one_model(self) -> bool:
        """Whether exactly one model has the best value, however missing outcomes are counted."""
        return self.best_value_and_models.certain and len(self.best_value_and_models.names) == 1


def _leader(facts: Sequence[Result]) -> ModelsWithBestValue | None:
    valued = [fact for fact in facts if fact.estimate.value is not None]
    if len(valued) < 2:
        return None
    sign = 1 if valued[0].values is None else valued[0].values.metric.better_sign
    end = find_extreme(valued, (), sign)
    return ModelsWithBestValue(valued[0].name, end, len(valued), valued[0].size.tasks, sign)


class Headline(LowestAndHighestEstimates):
    """The range of the first metric over all models, and the leaders of two metrics."""

    def __init__(self, study: Analysis, facts: Sequence[Result]) -> None:
        self.study = study
        self.facts_with_value = [fact for fact in facts if fact.estimate.value is not None]
        metric = (self.facts_with_value or facts)[0].name
        self.numbers = [fact for fact in facts if fact.name == metric]
        super().__init__(self.numbers, study.counts.group_names)

    @cached_property
    def _first_and_last_metric_results(self) -> list[Result]:
        names = self.metric, *(fact.name for fact in self.facts_with_value[-1:])
        return [fact for fact in self.facts_with_value if fact.name in names]

    @cached_property
    def _results_and_text_on_shared_tasks(self) -> tuple[list[Result], str]:
        return self.study.on_shared_tasks(self._first_and_last_metric_results)

    @property
    def shared_tasks_text(self) -> str:
        """The shared tasks in words, for example "the 3 tasks that …", or "" for all tasks."""
        return self._results_and_text_on_shared_tasks[1].removeprefix(" on ")

    @cached_property
    def leader_by_group(self) -> dict[tuple[str, ...], ModelsWithBestValue]:
        """The leader for the first metric in each group with at least two comparable models."""
        first = [
            fact for fact in self._results_and_text_on_shared_tasks[0] if fact.name == self.metric
        ]
        by_group = group_by(first, lambda fact: fact.series[1:])
        return {
            group: led for group, group_facts in by_group.items() if (led := _leader(group_facts))
        }

    @property
    def shares_no_task(self) -> bool:
        return bool(self.shared_tasks_text) and not self.leader_by_group and not self.groups

    @property
    def unreached_k(self) -> int:
        """The largest k for which some task has too few attempts; 0 if there is no such k."""
        return self.study.largest_unsupported_k(self._first_and_last_metric_results)

    @property
    def first_metric_leader(self) -> ModelsWithBestValue:
        return next(iter(self.leader_by_group.values()))

    @cached_property
    def last_metric_leader(self) -> ModelsWithBestValue | None:
        """The leader of the last metric if the leader is a single model, otherwise None.

        The result is also None if there is only one metric, or if the first and the last metric are
        known for different numbers of models or tasks.
        """
        last = self.facts_with_value[-1].name
        last_leader = _leader(
            [fact for fact in self._results_and_text_on_shared_tasks[0] if fact.name == last]
        )
        if last == self.metric or last_leader is None or not last_leader.is_one_model:
            return None
        sizes = (last_leader.model_count, last_leader.task_count)
        return (
            last_leader
            if sizes == (self.first_metric_leader.model_count, self.first_metric_leader.task_count)
            else None
        )

    @property
    def has_one_model(self) -> bool:
        return len({fact.series[0] for fact in self.numbers}) == 1

    @cached_property
    def led_groups_by_model(self) -> dict[str, list[str]]:
        """Maps each model to the groups in which only this model has the best value.

        The model with the most groups comes first.
        """
        groups: dict[str, list[str]] = {}
        for group, led in self.leader_by_group.items():
            if led.is_one_model:
                groups.setdefault(led.best_value_and_models.names[0], []).append(
                    named_group_values(group, self.groups)
                )
        return dict(sorted(groups.items(), key=lambda item: -len(item[1])))

    @property
    def group_sentence_fields(self) -> Mapping[str, Any]:
        ends = [led.best_value_and_models for led in self.leader_by_group.values()]
        leaders = [
            f"{model} ({', '.join(names) if len(names) <= _FEW_GROUPS else f'{len(names)} groups'})"
            for model, names in self.led_groups_by_model.items()
        ]
        return {
            "metric": self.metric, "direction": next(iter(self.leader_by_group.values())).direction,
            "ranked": len(ends), "groups": len({fact.series[1:] for fact in self.numbers}),
            "by": self.groups, "leaders": leaders, "where": self.shared_tasks_text,
            "model": next(iter(self.led_groups_by_model), ""),
            "shared": sum(end.certain and len(end.names) > 1 for end in ends),
            "unsure": sum(not end.certain for end in ends),
        }  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        led, last_leader = self.first_metric_leader, self.last_metric_leader
        further = {} if last_leader is None else {
            "other": last_leader.metric, "other_model": last_leader.best_value_and_models.names[0],
            "other_estimate": last_leader.best_value_and_models.estimate,
            "other_direction": last_leader.direction,
        }  # fmt: skip
        return {
            "metric": self.metric, "models": led.best_value_and_models.names,
            "count": len(led.best_value_and_models.names),
            "model": led.best_value_and_models.names[0], "words": led.best_value_and_models.words,
            "estimate": led.best_value_and_models.estimate,
            "direction": led.direction, "where": self.shared_tasks_text, "without": self.without,
            **further,
        }  # fmt: skip

    @property
    def single_series_sentence_fields(self) -> Mapping[str, Any]:
        fact, total_tasks = self.valued[0], len(self.study.counts.tasks)
        tasks = fact.size.tasks or 0
        return {
            "model": name_with_groups(fact.series, self.groups), "metric": self.metric,
            "estimate": fact.estimate, "tasks": tasks, "all": total_tasks if 0 < tasks < total_tasks
            else 0,
        }  # fmt: skip

    @cached_property
    def pass_at_and_hat_at_largest_k(self) -> tuple[Result, Result] | None:
        """pass@k and pass^k of the only model at the largest k, if both exist."""
        if len(self.numbers) > 1 or not self.valued:
            return None
        of = {fact.name: fact for fact in self.facts_with_value[1:] if (fact.k or 0) > 1}
        k = max((f.k or 0 for n, f in of.items() if n.startswith(("pass@", "pass^"))), default=0)
        at, hat = of.get(f"pass@{k}"), of.get(f"pass^{k}")
        return (at, hat) if at is not None and hat is not None else None

    @property
    def largest_k_sentence_fields(self) -> Mapping[str, Any]:
        assert self.pass_at_and_hat_at_largest_k is not None
        at, hat = self.pass_at_and_hat_at_largest_k
        total_tasks = len(self.study.counts.tasks)
        tasks = at.size.tasks or 0
        return {
            "k": at.k, "at": at.estimate.without_interval, "hat": hat.estimate.without_interval,
            "tasks": tasks,
            "all": total_tasks if 0 < tasks < total_tasks else 0,
        }  # fmt: skip


_SHARED_TASKS_CLAUSE = "{?where| on {where}}"
_MISSING_VALUES_CLAUSE = "{?without| No value of {metric}: {without}.}"
# The answers in _UNRANKED_ANSWERS are about several models that passk does not rank.
_UNRANKED_ANSWERS = (
    replace(
        LOWEST_AND_HIGHEST_ANSWERS[2],
        when=lambda headline: not headline.leader_by_group and headline.same,
    ),
    replace(LOWEST_AND_HIGHEST_ANSWERS[3], when=lambda headline: not headline.leader_by_group),
)
HEADLINE_ANSWERS = (
    Answer("estimate", lambda headline: len(headline.numbers) == 1 and bool(headline.valued),
           "{model}: {metric} {estimate}{?all| on {tasks} of {all:task}}.",
           lambda headline: headline.single_series_sentence_fields),
    *LOWEST_AND_HIGHEST_ANSWERS[:2],
    Answer("no-groups-ranked",
           lambda headline: headline.groups and not headline.leader_by_group
           and not headline.has_one_model,
           "No group of {by:and} has two models with {metric} on shared tasks, so no model is"
           " ranked.", lambda headline: {"by": headline.groups, "metric": headline.metric}),
    *_UNRANKED_ANSWERS,
    Answer("highest-in-groups",
           lambda headline: headline.groups and len(headline.led_groups_by_model) == 1
           and all(led.is_one_model for led in headline.leader_by_group.values()),
           "{model} {direction:scores highest|is lowest} at {metric} in {ranked} of"
           " {groups:group} of {by:and}{?where|, on {where}}.",
           lambda headline: headline.group_sentence_fields),
    Answer("highest-by-group", lambda headline: headline.groups and headline.led_groups_by_model,
           "{direction:Highest|Lowest} {metric} in {ranked} of {groups:group} of {by:and}:"
           " {leaders}{?shared|; several models share it in {shared:group}}"
           "{?unsure|; missing outcomes decide it in {unsure:group}}{?where|; on {where}}.",
           lambda headline: headline.group_sentence_fields),
    Answer("no-leader-in-groups", lambda headline: bool(headline.groups),
           "In {ranked} of {groups:group} of {by:and}, no model has the {direction:highest|lowest}"
           " {metric} by itself{?where|, on {where}}.",
           lambda headline: headline.group_sentence_fields),
    Answer("highest-unsure",
        lambda headline: not headline.first_metric_leader.best_value_and_models.certain,
           "{words} {direction:scores highest|is lowest}" + _SHARED_TASKS_CLAUSE
           + ": {metric} {estimate}; missing outcomes decide which model it"
               " is." + _MISSING_VALUES_CLAUSE),
    Answer("same-estimates",
           lambda headline: len(headline.first_metric_leader.best_value_and_models.names)
           == headline.first_metric_leader.model_count <= _NAMED,
           "{models:and} have the same estimate" + _SHARED_TASKS_CLAUSE + ": {metric}"
               " {estimate}." + _MISSING_VALUES_CLAUSE),
    Answer("same-estimates-of-all",
           lambda headline: len(headline.first_metric_leader.best_value_and_models.names)
           == headline.first_metric_leader.model_count,
           "All {count:model} have the same estimate" + _SHARED_TASKS_CLAUSE + ": {metric}"
               " {estimate}."
           + _MISSING_VALUES_CLAUSE),
    Answer("several-highest",
        lambda headline: 1 < len(
            headline.first_metric_leader.best_value_and_models.names) <= _NAMED,
           "{models:and} {direction:score highest|are lowest}, with the same"
           " estimate" + _SHARED_TASKS_CLAUSE
           + ": {metric} {estimate}." + _MISSING_VALUES_CLAUSE),
    Answer("many-highest",
        lambda headline: len(headline.first_metric_leader.best_value_and_models.names) > 1,
           "{count:model} {direction:score highest|are lowest}, with the same"
           " estimate" + _SHARED_TASKS_CLAUSE
           + ": {metric} {estimate}." + _MISSING_VALUES_CLAUSE),
    Answer("highest-at-both",
           lambda headline: headline.last_metric_leader is not None
           and (headline.last_metric_leader.best_value_and_models.names[0],
               headline.last_metric_leader.direction)
           == (headline.first_metric_leader.best_value_and_models.names[0],
               headline.first_metric_leader.direction),
           "{model} {direction:scores highest|is lowest}" + _SHARED_TASKS_CLAUSE
           + ": {metric} {estimate}, {other} {other_estimate}." + _MISSING_VALUES_CLAUSE),
    Answer("highest-per-metric", lambda headline: headline.last_metric_leader is not None,
           "{direction:Highest|Lowest} {metric}: {model} ({estimate});"
           " {other_direction:highest|lowest} {other}: {other_model} ({other_estimate})"
           "{?where|; on {where}}." + _MISSING_VALUES_CLAUSE),
    Answer("highest", lambda headline: True,
           "{model} {direction:scores highest|is lowest}" + _SHARED_TASKS_CLAUSE
           + ": {metric} {estimate}." + _MISSING_VALUES_CLAUSE),
)  # fmt: skip
ANY_AND_ALL_PASS_ANSWER = Answer(
    "any-and-all-attempts", lambda headline: headline.pass_at_and_hat_at_largest_k is not None,
    "At least one of {k:attempt} passes with probability {at}, and all {k} pass with probability"
    " {hat}{?all| on {tasks} of {all:task}}.", lambda headline: headline.largest_k_sentence_fields,
)  # fmt: skip
TABLE_USES_ALL_TASKS_ANSWER = Answer(
    "own-tasks-below", lambda headline: bool(headline.shared_tasks_text
        and headline.leader_by_group),
    "The rows of the table use all tasks of each model.", lambda headline: {},
)  # fmt: skip
