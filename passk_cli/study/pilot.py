"""A pilot's outlooks: the model and the pair that vary most, and what a pilot cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.design import (
    Difference,
    Piloted,
    cluster_excess,
    tells_apart,
    true_correlation,
)
from passk_cli.inference.intervals import Sample
from passk_cli.limits import refuse_many_pairs, refuse_many_steps
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.study.outlook import Outlook, alike
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues

LEFT_OUT = Message(
    "unplanned-metrics", WARNING, "{metrics} of {models} left out: {reason}",
    meaning="A plan needs from its pilot how a metric differs from task to task. Where the pilot"
    " has too few attempts for it, one task or one cluster only, or the same value on every task,"
    " it does not show that, and the metric of this model is planned in no table and no row.",
)  # fmt: skip
UNMEASURED = Message(
    "unmeasured-correlation", WARNING,
    "{metrics}: the correlation of {models:and} cannot be measured: {reason}"
    "{?assumed|; {assumed} is assumed, --model with --correlation sets another}",
    meaning="The smallest difference that a run detects depends on the correlation of"
    " their true success rates over tasks. A pilot measures it where the tasks of both models"
    " differ clearly more than chance explains. Elsewhere the plan is for two models similar to the"
    " one that varies most. With one attempt per task nothing is assumed: only designs of one"
    " attempt are planned.",
)  # fmt: skip
CLUSTERED = Message(
    "clustered-pilot", NOTE,
    "related tasks (--cluster {cluster}) need {times:=amount} times as many tasks for {metric}",
    meaning="Tasks of one cluster have something in common, so that each adds less than a task of"
    " its own. The factor is that of the variance at the pilot's attempts; the plan's clusters have"
    " the sizes of the pilot's.",
)  # fmt: skip


def pilot_outlooks(study: Study, correlation: float | None) -> tuple[list[Outlook], list[Said]]:
    """Every metric that the pilot says something about, and messages on the others.

    correlation : for a pilot of one model.
    Errors: ParameterError when no metric is left, or when several models make an assumed
    correlation superfluous.
    """
    refuse_many_steps("the pilot", int(study.counts.n.max()), "thin out the attempts")
    usable: dict[str, list[TaskValues]] = {}
    silent: dict[str, list[TaskValues]] = {}
    for values in study.values():
        if reason := _silence(values):
            silent.setdefault(reason, []).append(values)
        else:
            usable.setdefault(values.metric.name, []).append(values)
    messages = [
        LEFT_OUT(
            metrics=list(dict.fromkeys(values.metric.name for values in those)),
            models=list(dict.fromkeys(values.name for values in those)), reason=reason,
        )
        for reason, those in silent.items()
    ]  # fmt: skip
    if not usable:
        reasons = "; ".join(said.text for said in messages)
        raise ParameterError(f"nothing to plan from; {reasons}", name="no-pilot")
    outlooks, doubts = [], dict[tuple[str, tuple[str, ...], str], list[str]]()
    for metric in study.metrics:
        if estimable := usable.get(metric.name):
            widest = _outlook(estimable, correlation)
            outlook, doubt = _without_doubt(widest)
            outlooks.append(_clustered(outlook, estimable))
            if doubt:
                assumed = "" if outlook.correlation is None else f"{outlook.correlation:g}"
                doubts.setdefault((doubt, widest.pair or (), assumed), []).append(metric.name)
    messages += [
        UNMEASURED(metrics=metrics, models=models, reason=doubt, assumed=assumed)
        for (doubt, models, assumed), metrics in doubts.items()
    ]
    if study.counts.clusters is not None:
        first = outlooks[0]
        values = next(v for v in usable[first.metric.name] if v.series == first.series)
        times = 1.0 + first.excess[0] / float(values.values.var(ddof=1))
        name = first.metric.name
        messages.append(CLUSTERED(cluster=study.counts.cluster, times=times, metric=name))
    return outlooks, messages


def _silence(values: TaskValues) -> str:
    """Why these values say nothing about others; empty when they do."""
    if not values.there:
        return f"{values.reason}; --short-tasks drop uses the tasks with n ≥ k"
    if len(values.values) < 2:
        return "one task does not show how tasks differ"
    if _one_cluster(values):
        return "one cluster does not show how clusters differ"
    if Sample(values.values).one_value:
        same = f"every task has the value {values.values[0]:g}"
        return f"{same}, so the spread of new tasks is unknown"
    return ""


def _one_cluster(values: TaskValues) -> bool:
    return values.clusters is not None and bool(np.ptp(values.clusters) == 0)


def _outlook(usable: Sequence[TaskValues], correlation: float | None) -> Outlook:
    """One metric, by the model whose values vary most and the pair whose differences do."""
    widest = max(usable, key=lambda values: float(values.values.var()))
    pairs = _pairs(usable)
    if not pairs:
        return alike(widest.metric, _piloted(widest), correlation, widest.series)
    if correlation is not None:
        raise ParameterError(
            "--correlation is for a pilot of one model; here it is measured:"
            " leave it out, or choose one with --model",
            name="contradicting-options",
        )
    pair = max(pairs, key=_spread)
    first, second = map(_piloted, pair)
    covariance = float(np.cov(first.values, second.values)[0, 1])
    return Outlook(
        widest.metric, _piloted(widest), Difference(first, second, covariance), None,
        widest.series, (pair[0].name, pair[1].name),
    )  # fmt: skip


def _piloted(values: TaskValues) -> Piloted:
    return Piloted(values.metric, values.n, values.c)


def _pairs(usable: Sequence[TaskValues]) -> list[tuple[TaskValues, TaskValues]]:
    """Two models of one group on the tasks that both have, where these say how others differ.

    Not those that never differ, or share one cluster.
    Errors: ParameterError for too many models.
    """
    groups: dict[Series, list[TaskValues]] = {}
    for values in usable:
        groups.setdefault(values.series[1:], []).append(values)
    refuse_many_pairs(
        max(map(len, groups.values())), sum(math.comb(len(each), 2) for each in groups.values()),
        "plan with some of them: --model",
    )  # fmt: skip
    pairs = []
    for group in groups.values():
        for first, second in combinations(group, 2):
            if not np.array_equal(first.tasks, second.tasks):
                shared = np.intersect1d(first.tasks, second.tasks)
                first, second = first.on(shared), second.on(shared)
            if len(first.tasks) >= 2 and not _one_cluster(first) and _spread((first, second)) > 0:
                pairs.append((first, second))
    return pairs


def _spread(pair: tuple[TaskValues, TaskValues]) -> float:
    """Variance of the pair's differences as the pilot shows them."""
    first, second = pair
    return float((first.values - second.values).var())


def _without_doubt(outlook: Outlook) -> tuple[Outlook, str]:
    """The outlook with the pair's correlation, or the usual one where the pilot cannot tell it; and
    why it cannot.

    A pair's correlation is measured when the true values of both models differ over tasks more
    than chance explains and it lies in [−1, 1].  With one attempt per task it is not known and not
    needed: only designs of one attempt are planned, whose differences the pilot itself shows.
    """
    first, second = outlook.difference.first, outlook.difference.second
    if outlook.pair is None or not isinstance(first, Piloted) or not isinstance(second, Piloted):
        return outlook, ""
    if math.isnan(first.between) or math.isnan(second.between):
        return outlook, "one attempt per task"
    alike_tasks = [
        name
        for name, pilot in zip(outlook.pair, (first, second), strict=True)
        if not tells_apart(pilot)
    ]
    correlation = true_correlation(first, second, outlook.difference.covariance)
    if not alike_tasks and -1.0 <= correlation <= 1.0:
        return replace(outlook, correlation=correlation), ""
    reason = f"too few attempts, the estimate is {correlation:.2f}, outside −1 to 1"
    if alike_tasks:
        tasks = f"the tasks of {' and of '.join(alike_tasks)}"
        reason = f"{tasks} do not differ clearly more than chance explains"
    return alike(outlook.metric, outlook.values, None, outlook.series), reason


def _clustered(outlook: Outlook, usable: Sequence[TaskValues]) -> Outlook:
    """The outlook with what the pilot's clusters add."""
    of = {values.name: values for values in usable}
    widest = of[outlook.name]
    if widest.clusters is None:
        return outlook
    own = cluster_excess(widest.values, widest.clusters)
    if outlook.pair is None:
        both = 2.0 * (1.0 - (outlook.correlation or 0.0)) * own
    else:
        first, second = (of[name] for name in outlook.pair)
        shared = np.intersect1d(first.tasks, second.tasks)
        pair = first.on(shared), second.on(shared)
        both = cluster_excess(pair[0].values - pair[1].values, pair[0].clusters)
    size = Sample(widest.values, clusters=widest.clusters).guard_size
    return replace(
        outlook, excess=(own, both), cluster_size=size, clusters=tuple(widest.clusters.tolist())
    )
