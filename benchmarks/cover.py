"""Does the range of cover@τ contain the share of tasks with a true success rate of at least τ?

Run: python benchmarks/cover.py PART [--sets 100]
Parts: known, edges, held-out, pairs, needed.  Each draws success rates of tasks from known
populations and compares with the truth.  The tables go to benchmarks/cover.md.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from zlib import crc32

import numpy as np
from measure import keep, table

from passk_cli.inference.cover_range import ShareAboveThresholdRange

Array = np.ndarray
Rates = Callable[[np.random.Generator, int], Array]
THRESHOLDS, ATTEMPTS, TASKS = (0.5, 0.8, 0.9), (4, 8, 20), (50, 200)


def beta(a: float, b: float) -> Rates:
    return lambda rng, size: rng.beta(a, b, size)


def points(**shares: float) -> Rates:
    """Rates and their shares, as r30=0.4 for 40 % of the tasks at 0.3."""
    rates = [int(name[1:]) / 100 for name in shares]
    return lambda rng, size: rng.choice(rates, size, p=list(shares.values()))


def mixed(share: float, first: Rates, second: Rates) -> Rates:
    return lambda rng, size: np.where(rng.random(size) < share, first(rng, size), second(rng, size))


KNOWN: dict[str, Rates] = {
    "Beta(2, 2)": beta(2, 2),
    "Beta(0.3, 0.5)": beta(0.3, 0.5),
    "Beta(5, 0.5)": beta(5, 0.5),
    "half 0.3, half 0.85": points(r30=0.5, r85=0.5),
    "60 % never, uniform": mixed(0.6, points(r0=1.0), beta(1, 1)),
}
# Written when the method and its constants were fixed.
HELD_OUT: dict[str, Rates] = {
    "Beta(0.1, 0.1)": beta(0.1, 0.1),
    "Beta(8, 2)": beta(8, 2),
    "Beta(1, 6)": beta(1, 6),
    "logit-normal(1, 2)": lambda rng, size: 1 / (1 + np.exp(-rng.normal(1, 2, size))),
    "rates .1, .55, .78, .95": points(r10=0.2, r55=0.3, r78=0.3, r95=0.2),
    "20 % always, Beta(3, 5)": mixed(0.2, points(r100=1.0), beta(3, 5)),
}
# Drawn after everything else was fixed; no other part uses it.
HELD_OUT_SEED = 20_611_129


def truth(rates: Rates, threshold: float) -> float:
    return float((rates(np.random.default_rng(0), 1_000_000) >= threshold - 1e-12).mean())


def summary(records: Sequence[Sequence[float]]) -> list[str]:
    """Coverage with its Monte-Carlo error, width, points, their error, the bias of c / n ≥ τ."""
    covers, width, point, error, plug_in = np.array(records, dtype=float).T
    share = covers.mean()
    several = (1 - share) * share or 1 / len(covers)
    defined = ~np.isnan(point)
    return [
        str(len(covers)),
        f"{100 * share:.1f} ± {196 * np.sqrt(several / len(covers)):.1f}",
        f"{width.mean():.2f}", f"{100 * defined.mean():.0f}",
        f"{100 * np.abs(error[defined]).mean():.1f}" if defined.any() else "–",
        f"{100 * plug_in.mean():+.1f}",
    ]  # fmt: skip


HEAD = ["sets", "covers % (± 1.96 s.e.)", "width", "with an estimate %", "its error", "bias of c/n"]


def record(share: ShareAboveThresholdRange, true: float) -> tuple[float, ...]:
    low, high = share.limits
    point = np.nan if share.point_estimate is None else share.point_estimate
    plug_in = (share.c >= share.threshold * share.n - 1e-9).mean()
    return low - 5e-4 <= true <= high + 5e-4, high - low, point, point - true, plug_in - true


def sets_of(
    name: str, rates: Rates, n: Array, threshold: float, sets: int, seed: int = 0
) -> list[tuple[float, ...]]:
    rng = np.random.default_rng([seed, crc32(name.encode()), int(n.sum()), len(n)])
    true = truth(rates, threshold)
    return [
        record(ShareAboveThresholdRange(n, rng.binomial(n, rates(rng, len(n))), threshold), true)
        for _ in range(sets)
    ]


def grid(populations: dict[str, Rates], sets: int, seed: int = 0) -> str:
    cells = {
        (name, threshold, n, tasks): sets_of(
            name, rates, np.full(tasks, n), threshold, sets, seed
        )
        for (name, rates), threshold, n, tasks in product(
            populations.items(), THRESHOLDS, ATTEMPTS, TASKS
        )
    }  # fmt: skip
    by_size = []
    for n, tasks in product(ATTEMPTS, TASKS):
        selection = [
            cell for (*_, attempts, size), cell in cells.items() if (attempts, size) == (n, tasks)
        ]
        least = min(np.mean([row[0] for row in cell]) for cell in selection)
        widths = [float(np.mean([row[1] for row in cell])) for cell in selection]
        row = summary([row for cell in selection for row in cell])
        row[2] += f" ({min(widths):.2f}–{max(widths):.2f})"
        by_size.append([f"{tasks} × {n}", *row[:2], f"{100 * least:.0f}", *row[2:]])
    head = ["tasks × attempts", *HEAD[:2], "least cell", *HEAD[2:]]
    rows = [[*map(str, cell), *summary(records)] for cell, records in cells.items()]
    return "\n\n".join((
        table(head, by_size),
        table(["population", "τ", "n", "tasks", *HEAD], rows),
    ))  # fmt: skip


def edges(sets: int) -> Iterator[list[str]]:
    uneven = np.where(np.arange(100) % 2, 20, 3)
    cases: list[tuple[str, Rates, Array, float]] = [
        ("3 and 20 attempts", beta(2, 2), uneven, 0.8),
        ("3 and 20 attempts", beta(0.3, 0.5), uneven, 0.5),
        ("1 attempt", beta(2, 2), np.full(100, 1), 0.8),
        ("1 attempt", beta(5, 0.5), np.full(100, 1), 0.8),
        ("3 tasks", beta(2, 2), np.full(3, 8), 0.5),
        ("3 tasks", beta(0.3, 0.5), np.full(3, 20), 0.8),
        ("all pass", points(r100=1.0), np.full(50, 4), 0.8),
        ("all pass", points(r100=1.0), np.full(50, 20), 1.0),
        ("all fail", points(r0=1.0), np.full(50, 4), 0.8),
        ("all at 0.79", points(r79=1.0), np.full(100, 8), 0.8),
        ("all at 0.8", points(r80=1.0), np.full(100, 8), 0.8),
        ("all at 0.81", points(r81=1.0), np.full(100, 50), 0.8),
    ]
    for name, rates, n, threshold in cases:
        yield [name, str(threshold), *summary(sets_of(name, rates, n, threshold, 3 * sets))]
    # The truth is the share among the tasks themselves.
    for n, (name, rates) in product((4, 20), list(KNOWN.items())[:2]):
        rng = np.random.default_rng([7, n, crc32(name.encode())])
        records = []
        for _ in range(3 * sets):
            p, sizes = rates(rng, 100), np.full(100, n)
            records.append(
                record(
                    ShareAboveThresholdRange(sizes, rng.binomial(sizes, p), 0.8), (p >= 0.8).mean()
                )
            )
        yield [f"these tasks, {name}, n {n}", "0.8", *summary(records)]
    for shared in (False, True):
        rng, records, true = np.random.default_rng(8), [], truth(beta(2, 2), 0.5)
        clusters, n = np.repeat(np.arange(20), 5), np.full(100, 8)
        for _ in range(3 * sets):
            c = rng.binomial(n, np.repeat(rng.beta(2, 2, 20), 5))
            records.append(
                record(
                    ShareAboveThresholdRange(n, c, 0.5, clusters=clusters if shared else None), true
                )
            )
        yield [f"20 clusters of 5{'' if shared else ', ignored'}", "0.5", *summary(records)]


def pairs(sets: int) -> Iterator[list[str]]:
    """The share of boards of equal models with two disjoint ranges, and the share of disjoint pairs
    among pairs that differ by 0.3."""
    for models, n, (name, rates) in product((2, 10), (8, 20), KNOWN.items()):
        rng = np.random.default_rng([9, models, n, crc32(name.encode())])
        attempts, false, boards = np.full(100, n), 0, 4 * sets if models == 2 else sets
        for _ in range(boards):
            ends = [ShareAboveThresholdRange(attempts, rng.binomial(attempts, rates(rng, 100)),
                0.8).limits
                    for _ in range(models)]  # fmt: skip
            false += any(a[0] > b[1] or b[0] > a[1] for a, b in combinations(ends, 2))
        yield [
            "equal",
            name,
            str(models),
            str(n),
            f"{100 * false / max(sets, 2 * sets // models):.1f}",
        ]
    for n in (4, 8, 20, 50):
        rng, attempts, findings = np.random.default_rng([10, n]), np.full(100, n), 0
        for _ in range(2 * sets):
            ends = [
                ShareAboveThresholdRange(
                    attempts, rng.binomial(attempts, rates(rng, 100)), 0.8
                ).limits
                for rates in (points(r95=0.6, r20=0.4), points(r95=0.3, r20=0.7))
            ]
            findings += ends[0][0] > ends[1][1]
        yield [
            "0.6 against 0.3",
            "rates .95 and .2",
            "2",
            str(n),
            f"{100 * findings / (2 * sets):.1f}",
        ]


def attempts_needed(sets: int) -> Iterator[list[str]]:
    """Data with as many attempts, or tasks, as would narrow the range enough: are they narrow?"""
    for n, tasks, threshold in product((4, 8), (50, 100), (0.5, 0.8)):
        cost_ratios, narrow, widths, silent = [], [], [], 0
        for name, rates in KNOWN.items():
            rng = np.random.default_rng([11, n, tasks, crc32(name.encode())])
            for _ in range(max(sets // 4, 2)):
                sizes = np.full(tasks, n)
                share = ShareAboveThresholdRange(
                    sizes, rng.binomial(sizes, rates(rng, tasks)), threshold
                )
                if share.point_estimate is not None:
                    continue
                attempts, more = share.data_needed
                if attempts is None and more is None:
                    silent += 1
                    continue
                sizes = np.full(more or tasks, attempts or n)
                c = rng.binomial(sizes, rates(rng, len(sizes)))
                low, high = ShareAboveThresholdRange(sizes, c, threshold).limits
                cost_ratios.append((attempts or n) / n * (more or tasks) / tasks)
                widths.append(high - low)
                narrow.append(high - low <= 0.4)
        width, most = np.mean(widths), np.quantile(widths, 0.9)
        numbers = f"{np.median(cost_ratios):.1f} {width:.2f} {most:.2f} {100 * np.mean(narrow):.0f}"
        size = f"{tasks} × {n}"
        yield [size, str(threshold), str(len(cost_ratios)), str(silent), *numbers.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("known", "edges", "held-out", "pairs", "needed"))
    parser.add_argument("--sets", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.part == "known":
        text = grid(KNOWN, arguments.sets)
    elif arguments.part == "held-out":
        text = grid(HELD_OUT, arguments.sets, HELD_OUT_SEED)
    elif arguments.part == "edges":
        text = table(["case", "τ", *HEAD], list(edges(arguments.sets)))
    elif arguments.part == "pairs":
        head = ["models", "population", "models on a board", "n", "disjoint ranges %"]
        text = table(head, list(pairs(arguments.sets)))
    else:
        head = ["tasks × attempts", "τ", "sets", "neither is enough", "times the attempts made",
                "width then", "90 % below", "at most 0.4 wide %"]  # fmt: skip
        text = table(head, list(attempts_needed(arguments.sets)))
    keep(arguments.part, text, "cover.md")


if __name__ == "__main__":
    main()
