"""Do intervals of macro averages cover as often as their level?

Run: python benchmarks/macro.py [--sets 400]
Writes its table into benchmarks/macro.md.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.typing import NDArray

import passk_cli
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.macro_average import macro_average
from passk_cli.metrics.pass_k import pass_at_k

SAMPLE = Path(__file__).parent.parent / "sample_data" / "cruxeval.jsonl.gz"
Floats = NDArray[np.float64]
# The function draws the success rates of that many tasks.
Law = Callable[[np.random.Generator, int], Floats]


def beta(a: float, b: float) -> Law:
    return lambda rng, tasks: rng.beta(a, b, tasks)


def fixed(p: float) -> Law:
    return lambda rng, tasks: np.full(tasks, p)


EASY, MIDDLE, UNEVEN, HARD = beta(5, 0.5), beta(2, 2), beta(0.3, 0.5), beta(0.5, 5)


@dataclass(frozen=True)
class Situation:
    """Groups by the distribution of their tasks and their number of tasks.

    cluster : tasks with one success rate, which are one cluster.  shared : whether all groups have
    the same tasks.
    """

    name: str
    laws: Sequence[Law]
    sizes: Sequence[int]
    n: int
    k: int
    cluster: int = 1
    shared: bool = False


MIXED = (MIDDLE, UNEVEN, EASY)
SITUATIONS = [
    Situation(f"{name}, n = {n}, k = {k}", laws, sizes, n, k)
    for name, laws, sizes in (
        ("3 equal groups", MIXED, (100, 100, 100)),
        ("sizes 10, 50, 500", MIXED, (10, 50, 500)),
        ("3 tasks each", MIXED, (3, 3, 3)),
        ("8 groups of 20", (MIDDLE, UNEVEN, EASY, HARD) * 2, (20,) * 8),
        ("2 groups near 1", (EASY, EASY), (30, 164)),
    )
    for n, k in ((1, 1), (5, 1), (5, 5), (20, 10))
] + [
    Situation("one group all pass", (fixed(1.0), MIDDLE, UNEVEN), (30, 30, 30), 5, 1),
    Situation("one group all fail", (fixed(0.0), MIDDLE, UNEVEN), (30, 30, 30), 5, 1),
    Situation("all pass", (fixed(1.0),) * 3, (30, 30, 30), 5, 1),
    Situation("all fail", (fixed(0.0),) * 3, (30, 30, 30), 5, 1),
    Situation("nearly all pass", (fixed(0.999),) * 3, (30, 30, 30), 5, 1),
    Situation("clusters of 5", MIXED, (100, 100, 100), 5, 1, cluster=5),
    Situation("clusters of 5, sizes 25, 100, 400", MIXED, (25, 100, 400), 5, 1, cluster=5),
    Situation("same tasks in 3 groups", (MIDDLE,) * 3, (100,) * 3, 5, 1, shared=True),
]  # fmt: skip


def draw_samples(rng: np.random.Generator, at: Situation) -> list[IntervalData]:
    """One set of results: a sample per group."""
    samples, rates = [], None
    for law, size in zip(at.laws, at.sizes, strict=True):
        if rates is None or not at.shared:
            rates = np.repeat(law(rng, size // at.cluster), at.cluster)
        codes = np.arange(len(rates)) // at.cluster if at.cluster > 1 else None
        n = np.full(len(rates), at.n)
        values = pass_at_k(n, rng.binomial(at.n, rates), at.k)
        samples.append(IntervalData(values, attempts=n, clusters=codes))
    return samples


def truth(at: Situation) -> float:
    """The mean over groups of E[1 − (1 − p)^k], from 200,000 tasks of each."""
    rng = np.random.default_rng(1)
    return float(np.mean([(1 - (1 - law(rng, 200_000)) ** at.k).mean() for law in at.laws]))


def judged(samples: Sequence[IntervalData], true: float, independent: bool) -> list[float]:
    """Whether the truth is too low, too high for the interval; its width; the same by ± 1.96 se."""
    limits = [interval(sample, "guard") for sample in samples]
    ses = [sample.se or 0.0 for sample in samples]
    means = [sample.mean for sample in samples]
    lows, highs = [limit.low or 0.0 for limit in limits], [limit.high for limit in limits]
    average = macro_average(means, ses, lows, highs, independent=independent)
    low, high, plain = average.low - 1e-9, average.high + 1e-9, 1.96 * average.se
    return [true < low, true > high, high - low, abs(true - average.mean) <= plain, 2 * plain]


def row(name: str, judgements: Sequence[Sequence[float]]) -> list[str]:
    below, above, width, plain, plain_width = np.array(judgements, dtype=float).mean(axis=0)
    cover = 100 * (1 - below - above)
    error = 100 * sqrt(max(cover / 100 * (1 - cover / 100), 1e-4) / len(judgements))
    return [
        name, f"{cover:.1f} ± {error:.1f}", f"{100 * below:.1f}", f"{100 * above:.1f}",
        f"{width:.3f}", f"{100 * plain:.1f}", f"{plain_width:.3f}",
    ]  # fmt: skip


def real(sets: int) -> list[list[str]]:
    """Tasks from three real sets of 800 tasks, with no choice of a distribution."""
    counts = passk_cli.read(SAMPLE, by="temperature")
    names = [("gpt-4-0613", "0.2"), ("codellama-7b", "0.8"), ("deepseek-base-6.7b", "0.2")]
    populations = [counts.slice_of_series(counts.series.index(name)) for name in names]
    rows = []
    for k in (1, 5):
        values = [pass_at_k(counts.n[codes], counts.c[codes], k) for codes in populations]
        true = float(np.mean([column.mean() for column in values]))
        for sizes in ((3, 3, 3), (30, 30, 30), (10, 50, 300)):
            rng = np.random.default_rng([k, *sizes])
            judgements = [
                judged(
                    [IntervalData(rng.choice(v, s)) for v, s in zip(values, sizes, strict=True)],
                    true, True,
                )
                for _ in range(sets)
            ]  # fmt: skip
            tasks = ", ".join(map(str, sizes))
            rows.append(row(f"CRUXEval, {tasks} tasks, n = 10, k = {k}", judgements))
    return rows


def false_ranks(sets: int) -> list[list[str]]:
    """Sets in which one of four equal models is ranked before another."""
    rows = []
    for at in (SITUATIONS[1], SITUATIONS[5], SITUATIONS[9], SITUATIONS[-1]):
        rng, wrong = np.random.default_rng([11, SITUATIONS.index(at)]), 0
        for _ in range(sets):
            rates, cells = [], []
            for group, (law, size) in enumerate(zip(at.laws, at.sizes, strict=True)):
                rates = rates if at.shared and len(rates) else law(rng, size)
                cells += [
                    {"model": model, "group": f"g{group}", "n": at.n, "c": int(c),
                     "task": f"{'' if at.shared else group}t{task}"}
                    for model in "abcd"
                    for task, c in enumerate(rng.binomial(at.n, rates).tolist())
                ]  # fmt: skip
            with warnings.catch_warnings(action="ignore"):
                page = passk_cli.report(cells, by="group", board=True, metrics="pass@1").report.page
            board = page.chapters[-1].panels[0].board
            wrong += len({entry.ranks[0] for entry in board.entries}) > 1
        share = wrong / sets
        rows.append([at.name, f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / sets):.1f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    sets = parser.parse_args().sets
    rows, all_judgements = [], []
    for place, at in enumerate(SITUATIONS):
        rng, true = np.random.default_rng([7, place]), truth(at)
        judgements = [judged(draw_samples(rng, at), true, not at.shared) for _ in range(sets)]
        rows.append(row(at.name, judgements))
        all_judgements += judgements
    rows.append(row("all together", all_judgements))
    head = [
        "groups", "covers %", "truth below %", "truth above %", "width", "± 1.96 se covers %",
        "its width",
    ]  # fmt: skip
    keep("macro", f"{sets} sets a row\n\n{table(head, rows)}", "macro.md")
    keep("real", f"{sets} sets a row\n\n{table(head, real(sets))}", "macro.md")
    ranks = table(["groups", "ranked falsely %"], false_ranks(sets))
    keep("ranks", f"{sets} sets a row\n\n{ranks}", "macro.md")


if __name__ == "__main__":
    main()
