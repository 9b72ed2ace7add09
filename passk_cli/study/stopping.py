"""Stopped sampling: warnings where the number of attempts seems to depend on the outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passk_cli.inference.stopping import (
    FIRST_PASS,
    LEVEL,
    ONCE_PASSED,
    REPLACED,
    Stopping,
    stopping,
)
from passk_cli.message import WARNING, Message, Said
from passk_cli.outcomes.counts import Counts

# pass@1 of the model beside the rate of its first attempts, which sampling cannot have chosen.
_BIAS = "pass@1 reads {read}{?at_once|, first attempts passed at {at_once}}"
_REMEDY = (
    "use first@k for k ≤ {most} (first@{most} is {solved}), or make {most} attempts at every task"
)
_MEANING = (
    "pass@k takes the number of attempts as fixed beforehand. Where it depends on the outcomes,"
    " easy tasks have few attempts and a high rate, and pass@k is biased; --short-tasks drop does"
    " not help, as it drops the easy tasks. The message is given where numbers fixed beforehand"
    " would look like this with a chance below 1 %. What such data does show is first@k, the share"
    " of tasks solved within k attempts."
)
STOPPED_AT_PASS = Message(
    "stopped-at-pass", WARNING,
    "attempts of {models} seem to stop at the first pass, so pass@k is biased: {short} of {tasks}"
    " tasks of {model} have fewer than {most} attempts and none has two passes; " + _BIAS,
    _REMEDY,
    _MEANING,
)  # fmt: skip
STOPPED_ONCE_PASSED = Message(
    "stopped-once-passed", WARNING,
    "attempts of {models} seem to stop once a task has passed, so pass@k is biased: {short} of"
    " {tasks} tasks of {model} have fewer than {most} attempts and all of these passed; " + _BIAS,
    _REMEDY,
    _MEANING,
)  # fmt: skip
REPLACED_FAILURES = Message(
    "replaced-failures", WARNING,
    "retries of {models} seem to replace failed attempts, so pass@k is biased: attempt numbers"
    " have gaps, and every task of {model} with fewer than {most} attempts ends with a pass; "
    + _BIAS,
    _REMEDY,
    "Numbers of attempts have gaps, as if a failed attempt were deleted when a retry took its"
    " place. " + _MEANING,
)  # fmt: skip
_MESSAGES = {
    FIRST_PASS: STOPPED_AT_PASS, ONCE_PASSED: STOPPED_ONCE_PASSED, REPLACED: REPLACED_FAILURES,
}  # fmt: skip


@dataclass(frozen=True)
class Suspect:
    """A model (or one of its groups) whose number of attempts depends on the outcomes.

    tasks : their number.  read : pass@1 as the mean of c/n.
    """

    name: str
    stopping: Stopping
    tasks: int
    read: float


def stopping_notes(counts: Counts) -> list[Said]:
    """A warning per kind of stopping, with the numbers of the model with the smallest chance."""
    suspects = sorted(_suspects(counts), key=lambda s: s.stopping.chance)
    kinds: dict[str, list[Suspect]] = {}
    for suspect in suspects:
        kinds.setdefault(suspect.stopping.kind, []).append(suspect)
    return [
        _MESSAGES[kind](
            models=[s.name for s in alike], model=alike[0].name, tasks=alike[0].tasks,
            short=alike[0].stopping.short, most=alike[0].stopping.most, read=alike[0].read,
            at_once=alike[0].stopping.at_once, solved=alike[0].stopping.solved,
        )
        for kind, alike in kinds.items()
    ]  # fmt: skip


def _suspects(counts: Counts) -> Iterator[Suspect]:
    """The suspects among models, each tested on all its tasks; among groups where they share
    tasks."""
    by_model: dict[str, list[int]] = {}
    for s, series in enumerate(counts.series):
        by_model.setdefault(series[0], []).append(s)
    for model, groups in by_model.items():
        places = [counts.rows_of(s) for s in groups]
        cells = np.concatenate([np.arange(rows.start, rows.stop) for rows in places])
        if len(np.unique(counts.task_codes[cells])) == len(cells):
            yield from _suspect_of(counts, model, cells)
            continue
        for s, rows in zip(groups, places, strict=True):
            name = " ".join(part or '""' for part in counts.series[s])
            yield from _suspect_of(counts, name, np.arange(rows.start, rows.stop))


def _suspect_of(counts: Counts, name: str, cells: NDArray[np.int64]) -> Iterator[Suspect]:
    n, c, numbering = counts.n[cells], counts.c[cells], counts.numbering
    made, last = (
        (None, None) if numbering is None else (numbering.made[cells], numbering.last[cells])
    )
    evidence = stopping(n, c, made, last)
    if evidence is not None and evidence.chance < LEVEL:
        yield Suspect(name, evidence, len(cells), float(np.mean(c / n)))
