"""Do verdicts survive without each group of tasks, and with half the attempts?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.streams import stream
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.attempts import Attempts
from passk_cli.report.compare import choose_pairs
from passk_cli.report.model import Cell, Column, Table
from passk_cli.report.pairs import Rules, compare_pairs
from passk_cli.report.samples import Uncertainty, measure

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

Verdicts = dict[tuple[tuple[str, ...], tuple[str, ...], str], str]


def sensitivity_table(
    counts: Counts,
    group: str,
    metrics: Sequence[Metric],
    how: Uncertainty,
    rules: Rules,
    baseline: str | None,
    short_tasks: str,
) -> Table:
    """One row per pair and metric: its verdict, and what changes it.

    counts : split by `group`; leaving a group out leaves its cells out.
    """

    def verdicts(some: Counts) -> Verdicts:
        pairs = choose_pairs(some, measure(some, metrics, short_tasks), baseline)
        found = compare_pairs(some, pairs, how, rules)
        answers: Verdicts = {}
        for c in found:
            answers[c.first.series, c.second.series, c.first.metric.name] = c.verdict or "empty"
            answers[c.second.series, c.first.series, c.first.metric.name] = _turned(c.verdict)
        return answers

    place = 1 + counts.group_names.index(group)
    values = sorted({series[place] for series in counts.series})
    if len(values) < 2:
        raise ParameterError(f"--sensitivity {group}: all tasks have the same value, {values[0]!r}")
    whole = counts.without_group(group)
    full = verdicts(whole)
    without = {v: verdicts(counts.without_group(group, v)) for v in values}
    half = verdicts(halved(whole, how.seed)) if int(whole.n.min()) >= 2 else {}
    rows: list[tuple[Cell, ...]] = []
    pairs = choose_pairs(whole, measure(whole, metrics, short_tasks), baseline)
    for first, second in pairs:
        key = (first.series, second.series, first.metric.name)
        changed = [
            f"{value} ({answers.get(key, 'empty')})"
            for value, answers in without.items()
            if answers.get(key, "empty") != full[key]
        ]
        rows.append(
            (
                first.series[0], second.series[0], *first.series[1:], first.metric.name, full[key],
                f"{len(without) - len(changed)} of {len(without)}", ", ".join(changed) or "–",
                half.get(key, "n = 1") if half else "n = 1",
            )
        )  # fmt: skip
    columns = (
        Column("model"), Column("against"), *(Column(g) for g in whole.group_names),
        Column("metric"), Column("verdict"), Column("kept without one"),
        Column(f"changes without {group}"), Column("half the attempts"),
    )  # fmt: skip
    return Table(columns, tuple(rows), f"do the verdicts survive? (leaving out each {group})")


def halved(counts: Counts, seed: int) -> Counts:
    """The same cells with n // 2 of their attempts, drawn without replacement."""
    n = counts.n // 2
    rng = stream(seed, "half the attempts")
    fewer = rng.hypergeometric(counts.c, counts.n - counts.c, n)
    attempts = {role: _drawn(known, n, rng) for role, known in counts.attempts.items()}
    return replace(counts, n=n, c=fewer, attempts=attempts)


def _drawn(known: Attempts, n: NDArray[np.int64], rng: Generator) -> Attempts:
    """n of each cell's attempts, drawn without replacement."""
    row = np.repeat(np.arange(len(known.cell)), known.count)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(known.count) - known.count, known.count)
    passed = copy < known.passed[row]
    cell_of = known.cell
    cell = cell_of[row]
    order = np.lexsort((rng.random(len(row)), cell))
    sizes = np.bincount(cell, minlength=len(n))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = order[rank < n[cell]]
    count = np.bincount(row[chosen], minlength=len(known.cell))
    passes = np.bincount(row[chosen], passed[chosen], len(known.cell)).astype(np.int64)
    left = count > 0
    return Attempts.of_rows(cell_of[left], known.value[left], count[left], passes[left], len(n))


def _turned(verdict: str) -> str:
    return {"better": "worse", "worse": "better"}.get(verdict, verdict or "empty")
