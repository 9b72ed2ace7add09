"""Warnings about models whose number of attempts seems to depend on the outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.stopping import FIRST_PASS, LEVEL, REPLACED, Stopping, stopping
from passk_cli.message import Said
from passk_cli.report.model import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts


@dataclass(frozen=True)
class Suspect:
    """A model (or one of its groups) whose number of attempts depends on the outcomes.

    tasks : how many it has.  read : pass@1 as the mean of c/n.
    """

    name: str
    stopping: Stopping
    tasks: int
    read: float


def stopping_notes(counts: Counts) -> list[Said]:
    """One warning per way in which sampling stopped; the likeliest model named, others counted."""
    suspects = sorted(_suspects(counts), key=lambda s: s.stopping.chance)
    notes = []
    for kind in dict.fromkeys(s.stopping.kind for s in suspects):
        alike = [s for s in suspects if s.stopping.kind == kind]
        others = "" if len(alike) == 1 else f"; so for {_others(alike[1:])}"
        notes.append(Note(f"{alike[0].name}: {_words(alike[0])}{others}", "warning"))
    return notes


def _others(suspects: list[Suspect]) -> str:
    names = ", ".join(s.name for s in suspects[:3])
    return names + (f" and {len(suspects) - 3} more" if len(suspects) > 3 else "")


def _suspects(counts: Counts) -> Iterator[Suspect]:
    """Each model judged on all of its tasks; on one group where groups share tasks."""
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


def _words(suspect: Suspect) -> str:
    """What was seen, what is wrong with the numbers, and what can be estimated instead."""
    end = suspect.stopping
    bias = f"(pass@1 reads {suspect.read:.3f}"
    if end.at_once is not None:
        bias += f"; of the first attempts {end.at_once:.3f} passed"
    remedy = (
        f"). Use first@k for k ≤ {end.most:,} (first@{end.most} = {end.solved:.3f}), or make"
        f" {end.most:,} attempts at every task and keep all"
    )
    if end.kind == REPLACED:
        return (
            "retries seem to replace failed attempts: attempt numbers have holes, and every task"
            f" with fewer than {end.most:,} attempts ends with a pass. pass@k is biased"
            f" {bias}{remedy}"
        )
    short = f"{end.short:,} of {suspect.tasks:,} tasks have fewer than {end.most:,} attempts"
    if end.kind == FIRST_PASS:
        seen = f"attempts seem to stop at the first pass: {short}, and no task has two passes"
    else:
        seen = f"attempts seem to stop once a task has passed: {short}, and all have passed"
    return f"{seen}. pass@k is biased, with --short-tasks drop too {bias}{remedy}"
