"""Do verdicts survive without each group of tasks, and with half the attempts?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.compare.pairs import choose_pairs
from passk_cli.errors import ParameterError
from passk_cli.inference.streams import stream
from passk_cli.outcomes.attempts import Attempts
from passk_cli.report.model import Cell, Column, Table
from passk_cli.study.pairs import BETTER, WORSE, compare_pairs
from passk_cli.study.pivot import head
from passk_cli.study.study import Study
from passk_cli.study.values import Series

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

_TURNED = {BETTER: WORSE, WORSE: BETTER}
_EMPTY, _LONE = "empty", "n = 1"


def sensitivity_table(study: Study, group: str, baseline: str | None) -> Table:
    """One row per pair and metric: its verdict, and what changes it.

    study : its counts are split by `group`; leaving a group out leaves its cells out.
    """
    counts = study.counts
    place = 1 + counts.group_names.index(group)
    values = sorted({series[place] for series in counts.series})
    if len(values) < 2:
        raise ParameterError(f"--sensitivity {group}: all tasks have the same value, {values[0]!r}")
    whole = replace(study, counts=counts.without_group(group))
    full = _verdicts(whole, baseline)
    without = {
        value: _verdicts(replace(study, counts=counts.without_group(group, value)), baseline)
        for value in values
    }
    half = None
    if int(whole.counts.n.min()) >= 2:
        fewer = halved(whole.counts, study.confidence.seed)
        half = _verdicts(replace(study, counts=fewer), baseline)
    rows: list[tuple[Cell, ...]] = []
    for first, second in choose_pairs(whole, baseline):
        key = (first.series, second.series, first.metric.name)
        now = {value: verdicts.get(key, _EMPTY) for value, verdicts in without.items()}
        changed = [f"{value} ({other})" for value, other in now.items() if other != full[key]]
        rows.append(
            (
                first.series[0], second.series[0], *first.series[1:], first.metric.name, full[key],
                f"{len(without) - len(changed)} of {len(without)}", ", ".join(changed) or "none",
                half.get(key, _LONE) if half else _LONE,
            )
        )  # fmt: skip
    model, *groups = head(whole.counts.group_names)
    columns = (
        model, Column("against"), *groups, Column("metric"), Column("verdict"),
        Column("verdict kept"), Column("changes without"),
        Column("half the attempts"),
    )  # fmt: skip
    return Table(
        columns, tuple(rows), f"Verdicts without each {group}, and with half of the attempts"
    )


def _verdicts(study: Study, baseline: str | None) -> dict[tuple[Series, Series, str], str]:
    """(model, against, metric) → the verdict, in either order of the two."""
    verdicts = {}
    for c in compare_pairs(choose_pairs(study, baseline), study.confidence, study.rules):
        first, second, metric = c.first.series, c.second.series, c.first.metric.name
        verdicts[first, second, metric] = c.verdict or _EMPTY
        verdicts[second, first, metric] = _TURNED.get(c.verdict, c.verdict) or _EMPTY
    return verdicts


def halved(counts: Counts, seed: int) -> Counts:
    """The same cells with n // 2 of their attempts, drawn without replacement."""
    n = counts.n // 2
    rng = stream(seed, "half the attempts")
    fewer = rng.hypergeometric(counts.c, counts.n - counts.c, n)
    missing = counts.missing
    if missing is not None:
        missing = rng.hypergeometric(missing, counts.n - counts.c - missing, n - fewer)
    attempts = {role: _sampled(bag, n, rng) for role, bag in counts.attempts.items()}
    return replace(counts, n=n, c=fewer, attempts=attempts, missing=missing)


def _sampled(bag: Attempts, n: NDArray[np.int64], rng: Generator) -> Attempts:
    """n of each cell's attempts, drawn without replacement."""
    row = np.repeat(np.arange(len(bag.cell)), bag.count)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(bag.count) - bag.count, bag.count)
    passed = copy < bag.passed[row]
    cell_of = bag.cell
    cell = cell_of[row]
    order = np.lexsort((rng.random(len(row)), cell))
    sizes = np.bincount(cell, minlength=len(n))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sample = order[rank < n[cell]]
    count = np.bincount(row[sample], minlength=len(bag.cell))
    passes = np.bincount(row[sample], passed[sample], len(bag.cell)).astype(np.int64)
    present = count > 0
    return Attempts.of_rows(
        cell_of[present], bag.value[present], count[present], passes[present], len(n)
    )
