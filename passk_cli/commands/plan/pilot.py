"""A pilot's outlooks: which model and which pair vary most, and what a pilot cannot tell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from passk_cli.commands.plan.outlook import USUAL_CORRELATION, Outlook, alike
from passk_cli.errors import ParameterError
from passk_cli.inference.correlation import tells_apart, true_correlation
from passk_cli.inference.design import Difference, Piloted, cluster_excess
from passk_cli.inference.intervals import Sample
from passk_cli.inference.rounding import constant
from passk_cli.limits import refuse_many_pairs, refuse_many_steps
from passk_cli.message import Said
from passk_cli.report.model import Note
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues


def pilot_outlooks(study: Study, correlation: float | None) -> tuple[list[Outlook], list[Said]]:
    """Every metric that the pilot says something about, and notes on what it does not tell.

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
    notes = [
        Note(f"{_each(v.metric.name for v in each)} of {_each(v.name for v in each)}: {reason}",
             "warning")
        for reason, each in silent.items()
    ]  # fmt: skip
    if not usable:
        raise ParameterError(f"nothing to plan from; {'; '.join(note.text for note in notes)}")
    names = [metric.name for metric in study.metrics]
    if absent := [name for name in names if name not in usable]:
        left_out = f"left out of every table: {', '.join(absent)}, for the reason given"
        notes.append(Note(left_out, "warning"))
    outlooks, doubts = [], dict[str, list[str]]()
    for name in names:
        if name in usable:
            outlook, doubt = _without_doubt(_outlook(usable[name], correlation))
            outlooks.append(_clustered(outlook, usable[name]))
            if doubt:
                doubts.setdefault(doubt, []).append(name)
    notes += [Note(f"{', '.join(each)}: {doubt}", "warning") for doubt, each in doubts.items()]
    return outlooks, [*notes, *_of_clusters(study, usable, outlooks)]


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
        one, other = first.on(shared), second.on(shared)
        both = cluster_excess(one.values - other.values, one.clusters)
    size = Sample(widest.values, clusters=widest.clusters).guard_size
    return replace(
        outlook, excess=(own, both), cluster_size=size, clusters=tuple(widest.clusters.tolist())
    )


def _of_clusters(
    study: Study, usable: Mapping[str, Sequence[TaskValues]], outlooks: Sequence[Outlook]
) -> Iterator[Said]:
    """How many times more tasks clusters make necessary."""
    if study.counts.clusters is None:
        return
    effects = []
    for outlook in outlooks:
        name = outlook.metric.name
        values = next(v.values for v in usable[name] if v.name == outlook.name)
        effects.append((name, 1.0 + outlook.excess[0] / float(values.var(ddof=1))))
    several = len(effects) > 1
    shown = ", ".join(f"{effect:.3g}" + f" ({name})" * several for name, effect in effects)
    yield Note(
        f"clusters of {study.counts.cluster}: at the pilot's attempts, {shown} times as many tasks"
        " are needed as without clusters; the plan's clusters have the sizes of the pilot's"
    )


def _each(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _silence(values: TaskValues) -> str:
    """Why these values say nothing about others; empty when they do."""
    if not values.there:
        return f"{values.reason}; --short-tasks drop uses the tasks with n ≥ k"
    if len(values.values) < 2:
        return "one task does not show how tasks differ"
    if _one_cluster(values):
        return "one cluster does not show how clusters differ"
    if constant(values.values):
        same = f"every task has the value {values.values[0]:g}"
        return f"{same}, so the spread of new tasks is unknown"
    return ""


def _one_cluster(values: TaskValues) -> bool:
    return values.clusters is not None and bool(np.ptp(values.clusters) == 0)


def _piloted(values: TaskValues) -> Piloted:
    return Piloted(values.metric, values.n, values.c)


def _outlook(usable: Sequence[TaskValues], correlation: float | None) -> Outlook:
    """One metric, by the model whose values vary most and the pair whose differences do."""
    widest = max(usable, key=lambda values: float(values.values.var()))
    pairs = _pairs(usable)
    values = _piloted(widest)
    if not pairs:
        return alike(widest.metric, values, correlation, widest.series)
    if correlation is not None:
        raise ParameterError(
            "--correlation is for a pilot of one model; here it is measured:"
            " leave it out, or choose one with --model"
        )
    first, second = max(pairs, key=_spread)
    one, other = _piloted(first), _piloted(second)
    covariance = float(np.cov(one.values, other.values)[0, 1])
    difference = Difference(one, other, covariance)
    pair = (first.name, second.name)
    return Outlook(widest.metric, values, difference, None, widest.series, pair)


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
    """With the pair's correlation, or the usual one where the pilot cannot tell it, and why not.

    A pair's correlation is measured when the true values of both models differ over tasks more
    than chance explains and it lies in [−1, 1].  With one attempt per task it is not known and not
    needed: only designs of one attempt are planned, whose differences the pilot itself shows.
    """
    first, second = outlook.difference.first, outlook.difference.second
    if outlook.pair is None or not isinstance(first, Piloted) or not isinstance(second, Piloted):
        return outlook, ""
    cannot = f"the correlation of {' and '.join(outlook.pair)} cannot be measured"
    if math.isnan(first.between) or math.isnan(second.between):
        return outlook, f"{cannot} with one attempt per task"
    even = [
        name
        for name, pilot in zip(outlook.pair, (first, second), strict=True)
        if not tells_apart(pilot)
    ]
    correlation = true_correlation(first, second, outlook.difference.covariance)
    if not even and -1.0 <= correlation <= 1.0:
        return replace(outlook, correlation=correlation), ""
    because = (
        f"the tasks of {' and of '.join(even)} do not differ clearly more than chance explains"
        if even
        else f"too few attempts, the estimate is {correlation:.2f}, outside −1 to 1"
    )
    return alike(outlook.metric, outlook.values, None, outlook.series), (
        f"{cannot}: {because}; {USUAL_CORRELATION:g} is assumed"
        f" (--model {outlook.name} --correlation R assumes another)"
    )
