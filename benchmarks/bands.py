"""Does the band of a difference over k hold at all k together?

Run: python benchmarks/bands.py [new] [held-out] [these] [--repetitions 250]
Writes its tables into benchmarks/bands.md.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from functools import cache
from math import sqrt

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from guards import GUARD, JEFFREYS
from measure import keep, table
from numpy.typing import NDArray

from passk_cli.inference.bands import (
    errors_these_tasks,
    pointwise_level,
    spread_out,
)
from passk_cli.inference.hull import Passes
from passk_cli.inference.intervals import Sample, interval
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.weights import bootstrap_means
from passk_cli.metrics.pass_k import curve
from passk_cli.metrics.registry import Metric

LEVEL, RESAMPLES = 0.95, 1000
FAMILIES = ("pass@", "pass^")
Law = tuple[float, float]
Floats = NDArray[np.float64]
# Both models' laws of success rates; equal ones are equal at each task.  Crossing ones cross at
# pass@k: the second is better at k = 1 (ceiling, middle) and worse at large k.
LOOKED_AT: dict[str, tuple[Law, Law]] = {
    "equal, ceiling": ((5.0, 0.5), (5.0, 0.5)),
    "equal, middle": ((2.0, 2.0), (2.0, 2.0)),
    "crossing, ceiling": ((5.0, 0.5), (2.0, 0.15)),
    "crossing, middle": ((2.0, 2.0), (0.6, 0.5)),
}
HELD_OUT: dict[str, tuple[Law, Law]] = {
    "equal": ((0.4, 0.4), (0.4, 0.4)),
    "crossing, ceiling": ((9.0, 1.0), (1.5, 0.12)),
    "crossing, floor": ((0.5, 5.0), (0.15, 1.2)),
    "apart": ((8.0, 2.0), (2.0, 3.0)),
}


# Tasks of a population: the quantiles of its law at so many midpoints, all equally likely.
POPULATION = 4096


@cache
def population(law: Law) -> Floats:
    from scipy.stats import beta

    return np.asarray(beta.ppf((np.arange(POPULATION) + 0.5) / POPULATION, *law))


def truths(laws: tuple[Law, Law], ks: NDArray[np.int64]) -> list[Floats]:
    """The difference of pass@k and of pass^k over the population of tasks."""
    first, second = (population(law)[:, None] for law in laws)
    at = ((1 - second) ** ks - (1 - first) ** ks).mean(axis=0)
    return [at, (first**ks - second**ks).mean(axis=0)]


def rates(rng: np.random.Generator, laws: tuple[Law, Law], tasks: int) -> tuple[Floats, Floats]:
    """Success rates of both models; seven tasks of ten are as hard for one as for the other."""
    u, other = rng.integers(POPULATION, size=(2, tasks))
    v = u if laws[0] == laws[1] else np.where(rng.random(tasks) < 0.7, u, other)
    return population(laws[0])[u], population(laws[1])[v]


def new_cell(
    laws: tuple[Law, Law], tasks: int, n: tuple[int, int], repetitions: int, seed: int
) -> Iterator[tuple[object, ...]]:
    """Of each curve: shares of runs whose band holds, and the level of each k by itself."""
    last = min(n)
    ks = spread_out(np.arange(1, last + 1))
    truth = truths(laws, ks)
    held, levels = np.zeros((2, 4)), np.zeros(2)
    rng = np.random.default_rng([seed, tasks, *n])
    for run in range(repetitions):
        both = rates(rng, laws, tasks)
        curves = [
            curve(np.full(tasks, m), rng.binomial(m, p), last) for m, p in zip(n, both, strict=True)
        ]
        for f in range(2):
            gap = (curves[0][f] - curves[1][f])[:, ks - 1]
            draws = bootstrap_means(gap, RESAMPLES, run, kind="dirichlet", threads=1)
            level = pointwise_level(draws, LEVEL)
            guard, jeffreys = smallest(gap, truth[f])
            held[f] += (
                guard > 1 - level, jeffreys > 1 - level, jeffreys > 1 - LEVEL,
                multiplier(gap, truth[f], rng),
            )  # fmt: skip
            levels[f] += level
    for f, family in enumerate(FAMILIES):
        yield (
            f"{family}k",
            *(f"{100 * x:.1f}" for x in (*held[f], levels[f]) / np.array(repetitions)),
        )


def smallest(gap: Floats, truth: Floats) -> list[float]:
    """The smallest p of the truth over all k, by `guard` and by `jeffreys`.

    Within 1.5 standard errors of the estimate p is far from any level of interest.
    """
    away = np.abs(gap.mean(axis=0) - truth)
    far = away >= 1.5 * gap.std(axis=0, ddof=1) / sqrt(len(gap))
    samples = [(Sample(gap[:, k], -1.0, 1.0), truth[k]) for k in np.flatnonzero(far).tolist()]
    return [min((law.p(s, t) for s, t in samples), default=1.0) for law in (GUARD, JEFFREYS)]


def multiplier(gap: Floats, truth: Floats, rng: np.random.Generator) -> bool:
    """Whether a Gaussian multiplier band holds: d̄ ± q·s/√T, q the quantile of max |Σ ξ(d − d̄)|."""
    tasks, mean = len(gap), gap.mean(axis=0)
    se = gap.std(axis=0, ddof=1) / sqrt(tasks)
    moving = se > 0
    if not moving.any():
        return bool(np.allclose(mean, truth, atol=1e-12))
    draws = rng.standard_normal((RESAMPLES, tasks)) @ (gap - mean)[:, moving] / tasks / se[moving]
    reach = np.quantile(np.abs(draws).max(axis=1), LEVEL) * se
    return bool(np.all(np.abs(mean - truth) <= reach + 1e-12))


def new_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, (name, laws) in enumerate(LOOKED_AT.items()):
        for tasks in (30, 164):
            for n in (10, 50, 100):
                for row in new_cell(laws, tasks, (n, n), repetitions, place):
                    yield name, tasks, n, *row


def held_out_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, (name, laws) in enumerate(HELD_OUT.items()):
        for tasks, n in ((20, (8, 8)), (60, (40, 10)), (164, (30, 30))):
            for row in new_cell(laws, tasks, n, repetitions, 10 + place):
                yield name, tasks, f"{n[0]} / {n[1]}", *row


def these_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    """Rates drawn again in each run, so that coverage is on average over sets of tasks."""
    for place, (name, laws) in enumerate(
        {**LOOKED_AT, "apart (held out)": HELD_OUT["apart"]}.items()
    ):
        for n in (10,):
            ks, tasks = spread_out(np.arange(1, n + 1), 6), 30
            rng = np.random.default_rng([20 + place, n])
            held, levels = np.zeros((2, 2)), np.zeros(2)
            for run in range(repetitions):
                p = rates(rng, laws, tasks)
                c = [rng.binomial(n, own) for own in p]
                for f, family in enumerate(FAMILIES):
                    level, inside = these_run(family, n, c, p, ks, run)
                    held[f] += inside
                    levels[f] += level
            for f, family in enumerate(FAMILIES):
                shares = (f"{100 * x / repetitions:.1f}" for x in (*held[f], levels[f]))
                yield name, tasks, n, f"{family}k", *shares


def these_run(
    family: str, n: int, c: list[NDArray[np.int64]], p: tuple[Floats, Floats],
    ks: NDArray[np.int64], run: int,
) -> tuple[float, tuple[bool, bool]]:  # fmt: skip
    """The level of each k, and whether the whole band holds: at that level, and at 95 %."""
    size = np.full(len(p[0]), n)
    draws = [
        errors_these_tasks(size, own, ks, family, resamples=RESAMPLES, seed=run, purpose=name)
        for own, name in zip(c, "ab", strict=True)
    ]
    level = pointwise_level(draws[0] - draws[1], LEVEL)
    inside = [True, True]
    for k in ks.tolist():
        metric = Metric(family, k)
        exact = [(1 - (1 - own) ** k if family == "pass@" else own**k).mean() for own in p]
        values = metric.values(size, c[0]) - metric.values(size, c[1])
        passes = tuple(Passes(metric, size, own) for own in c)
        sample = Sample(values, -1.0, 1.0, passes=passes)
        for which, at in enumerate((level, LEVEL)):
            limits = interval(sample, "hull", at, THESE_TASKS)
            inside[which] &= limits.low - 1e-12 <= exact[0] - exact[1] <= limits.high + 1e-12
    return level, (inside[0], inside[1])


CELL = ("models", "tasks", "n", "curve")
NEW = (*CELL, "band % (`guard`)", "with `jeffreys`", "pointwise `jeffreys`",
       "Gaussian multiplier", "level at each k %")  # fmt: skip
SECTIONS = {
    "new": (NEW, new_rows),
    "held-out": (NEW, held_out_rows),
    "these": ((*CELL, "band % (`hull`)", "pointwise `hull`", "level at each k %"), these_rows),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--repetitions", type=int, default=250)
    arguments = parser.parse_args()
    for section in arguments.sections or SECTIONS:
        start, kept = time.perf_counter(), []
        head, rows = SECTIONS[section]
        for row in rows(arguments.repetitions):
            kept.append(row)
            print(*row, sep="\t", flush=True)
        error = 100 * sqrt(LEVEL * (1 - LEVEL) / arguments.repetitions)
        said = (
            f"{arguments.repetitions:,} runs a cell; Monte-Carlo error at 95 %: {error:.1f} points"
        )
        keep(section, f"{said}\n\n{table(head, kept)}", file="bands.md")
        print(f"{section}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
