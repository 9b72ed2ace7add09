"""Size and power of the sign-flip test against the paired t-test, and its speed.

Run: python benchmarks/comparison.py [--comparisons 50000] [--speed] [--runs 5]
Simulates pairs of models, tests each pair, and writes the tables into benchmarks/comparison.md;
with --speed writes its timing table instead.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

# As under `passk`: BLAS threads and ours would wait for one another, ten times as long when the
# cores are busy. Children inherit it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import in_turn, keep, machine, table
from numpy.typing import NDArray

from passk_cli.estimators.pass_k import pass_at_k
from passk_cli.inference.paired import paired_t, sign_flip

LEVEL = 0.05
MEANS = (0.5, 0.9, 0.99)
TASKS = (30, 164)
ATTEMPTS = 10
KS = (1, 5, 10)
# Shifts of the second model's logits, and what they take from a mean of 0.5 under Beta(½, ½).
SHIFTS = {0.4: 0.05, 0.8: 0.10}
BATCH = 2000


@dataclass(frozen=True)
class Rates:
    """Shares over the simulated comparisons of a cell."""

    sign_flip: float
    mid_p: float
    paired_t: float
    exact: float
    alike: float


def rates(mean: float, tasks: int, k: int, shift: float, comparisons: int) -> Rates:
    """How often each test rejects at LEVEL, the second model's logits being lower by shift.

    p_t ~ Beta(mean, 1 − mean) for both models, attempts independent.  Every column of a batch is a
    comparison of its own; each batch has its own signs.
    """
    seeds = np.random.SeedSequence([round(1000 * mean), tasks, k, round(1000 * shift)])
    found = []
    for batch, child in enumerate(seeds.spawn(comparisons // BATCH)):
        rng = np.random.default_rng(child)
        p = rng.beta(mean, 1 - mean, size=(tasks, BATCH))
        first, second = (
            pass_at_k(ATTEMPTS, rng.binomial(ATTEMPTS, each), k) for each in (p, shifted(p, shift))
        )
        differences = first - second
        flips = sign_flip(differences, seed=batch)
        halved = sign_flip(differences, seed=batch, mid=True).p
        found.append(
            # A t that is undefined (no spread) rejects nothing.
            (
                flips.p <= LEVEL,
                halved <= LEVEL,
                paired_t(differences) <= LEVEL,
                flips.exact,
                ~differences.any(0),
            )
        )
    return Rates(*(float(np.mean(each)) for each in zip(*found, strict=True)))


def shifted(p: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Probabilities whose logits are lower by shift."""
    return p / (p + (1 - p) * np.exp(shift))


def percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def monte_carlo(comparisons: int) -> str:
    error = 100 * sqrt(LEVEL * (1 - LEVEL) / comparisons)
    return f"{comparisons:,} comparisons a cell; Monte-Carlo error at 5 %: {error:.2f} points"


def size_rows(comparisons: int) -> Iterator[tuple[object, ...]]:
    for mean in MEANS:
        for tasks in TASKS:
            for k in KS:
                at = rates(mean, tasks, k, 0.0, comparisons)
                yield (mean, tasks, f"pass@{k}", percent(at.sign_flip), percent(at.mid_p),
                       percent(at.paired_t), percent(at.exact), percent(at.alike))  # fmt: skip


def power_rows(comparisons: int) -> Iterator[tuple[object, ...]]:
    for tasks in TASKS:
        for k in KS:
            for shift, fall in SHIFTS.items():
                at = rates(0.5, tasks, k, shift, comparisons)
                yield (f"−{fall:.2f}", tasks, f"pass@{k}", percent(at.sign_flip),
                       percent(at.mid_p), percent(at.paired_t),
                       f"{100 * (at.sign_flip - at.paired_t):+.1f}",
                       f"{100 * (at.mid_p - at.paired_t):+.1f}", percent(at.exact))  # fmt: skip


def simulate(comparisons: int) -> None:
    start = time.perf_counter()
    for section, head, rows in (
        ("size",
         ("mean success", "tasks", "metric", "sign flip rejects %", "mid-p", "paired t",
          "p exact %", "no task differs %"),
         size_rows(comparisons)),
        ("power",
         ("mean success moves by", "tasks", "metric", "sign flip rejects %", "mid-p", "paired t",
          "sign flip − t", "mid-p − t", "p exact %"),
         power_rows(comparisons)),
    ):  # fmt: skip
        kept = []
        for row in rows:
            kept.append(row)
            print(section, *row, sep="\t", flush=True)
        keep(section, f"{monte_carlo(comparisons)}\n\n{table(head, kept)}", file="comparison.md")
    print(f"{time.perf_counter() - start:.0f} s")


DATA = """
import numpy as np
rng = np.random.default_rng(0)
differences = ({draw})[:, :{columns}]
"""
OURS = """
from passk_cli.inference.paired import sign_flip
sign_flip(differences)
"""
SCIPY = """
from scipy.stats import permutation_test
permutation_test((differences,), lambda d, axis: d.mean(axis=axis), permutation_type="samples",
                 n_resamples=9999, vectorized=True, rng=0)
"""
NORMAL, TENTHS = "rng.normal(size=(800, 1998))", "rng.integers(-10, 11, size=(800, 1998)) / 10"


def many_models() -> str:
    """Counts of 37 models at 800 tasks, ten attempts each, as CSV."""
    rng = np.random.default_rng(0)
    rates = rng.beta(0.4, 0.4, 800)
    lines = ["model,task,n,c"]
    for model in range(37):
        c = rng.binomial(ATTEMPTS, shifted(rates, 0.08 * (18 - model)))
        lines += [f"m{model:02d},t{task},{ATTEMPTS},{c[task]}" for task in range(800)]
    return "\n".join(lines)


def speed(runs: int) -> None:
    """Whole processes in turn, one BLAS thread as under `passk`; the data alone for reference."""
    scripts = {
        "the data alone": DATA.format(draw=NORMAL, columns=1998),
        "sign_flip, 1998 columns, normal": DATA.format(draw=NORMAL, columns=1998) + OURS,
        "sign_flip, 1998 columns, tenths": DATA.format(draw=TENTHS, columns=1998) + OURS,
        "sign_flip, 1 column": DATA.format(draw=NORMAL, columns=1) + OURS,
        "scipy.stats.permutation_test, 1 column": DATA.format(draw=NORMAL, columns=1) + SCIPY,
    }
    commands = {name: [sys.executable, "-c", it] for name, it in scripts.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "models.csv"
        path.write_text(many_models())
        name = "passk compare, 37 models × 800 tasks × 3 metrics, all 666 pairs"
        commands[name] = [sys.executable, "-m", "passk_cli", "compare", str(path), "-k", "1,5"]
        found = in_turn(commands, runs)
    alone = found["the data alone"].seconds
    rows = [
        (name, f"{each.seconds:.2f}", f"{each.seconds - alone:.2f}", f"{each.mebibytes:,.0f}")
        for name, each in found.items()
    ]
    head = ("800 tasks, 10,000 resamples", "wall s", "s beyond the data", "peak MiB")
    text = f"{machine()}; medians of {runs}\n\n{table(head, rows)}"
    print(text)
    keep("speed", text, file="comparison.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=50_000, help=f"a multiple of {BATCH}")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments.runs)
    else:
        simulate(arguments.comparisons)


if __name__ == "__main__":
    main()
