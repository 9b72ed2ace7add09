"""Size and power of the tests of attempt order, coverage of its intervals, and speed.

Run: python benchmarks/order.py [--models 4000] [--speed] [--runs 5]
Simulates models whose attempts come in random order, drift, stick or are copied, and writes the
tables into benchmarks/order.md; with --speed writes its timing table instead.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from math import sqrt
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import in_turn, keep, machine, table
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from passk_cli.inference.adjust import holm
from passk_cli.inference.exchangeability import copies_test, neighbour_test, trend_test
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.metrics.attempt_order import (
    attempts_and_passes_per_task,
    first_at_k,
    neighbour_correlation,
    trend_scores_and_weights,
)
from passk_cli.metrics.pass_k import pass_at_k

LEVEL = 0.05
FAMILIES = {"Beta(2, 2)": (2.0, 2.0), "Beta(.3, .5)": (0.3, 0.5), "Beta(5, .5)": (5.0, 0.5)}
Outcomes = NDArray[np.bool_]
Rows = tuple[NDArray[np.int64], NDArray[np.int64]]
Make = Callable[[np.random.Generator, NDArray[np.float64], int], Outcomes]


def plain(rng: np.random.Generator, p: NDArray[np.float64], n: int) -> Outcomes:
    return rng.random((len(p), n)) < p


def drifting(by: float) -> Make:
    def make(rng: np.random.Generator, p: NDArray[np.float64], n: int) -> Outcomes:
        return rng.random((len(p), n)) < np.clip(p + by * (np.arange(n) - (n - 1) / 2), 0, 1)

    return make


def sticky(share: float) -> Make:
    def make(rng: np.random.Generator, p: NDArray[np.float64], n: int) -> Outcomes:
        x, again = plain(rng, p, n), rng.random((len(p), n)) < share
        for i in range(1, n):
            x[:, i] = np.where(again[:, i], x[:, i - 1], x[:, i])
        return x

    return make


def copied(share: float) -> Make:
    def make(rng: np.random.Generator, p: NDArray[np.float64], n: int) -> Outcomes:
        x = plain(rng, p, n)
        replaced = rng.random(len(p)) < share
        x[replaced, n - 1] = x[replaced, 1]
        return x

    return make


def broken(rng: np.random.Generator, p: NDArray[np.float64], n: int) -> Outcomes:
    return rng.random((len(p), n)) < np.clip(p + np.where(np.arange(n) < n // 2, 0.2, -0.2), 0, 1)


def rows(x: Outcomes, n: NDArray[np.int64] | None = None) -> Rows:
    """(start, passed): all attempts, or the first n of each task."""
    n = np.full(len(x), x.shape[1]) if n is None else n
    passed = x[np.arange(x.shape[1]) < n[:, None]]
    return np.concatenate([[0], np.cumsum(n)]), passed.astype(np.int64)


def slopes(start: NDArray[np.int64], passed: NDArray[np.int64]) -> IntervalData:
    """The sample `passk order` makes the trend's interval of."""
    scores, sizes = trend_scores_and_weights(start, passed)
    scale = len(sizes) / sizes.sum()
    bound = float((np.diff(start) ** 2 // 4).max()) / 2 * scale
    return IntervalData(scores * scale, lower_bound=-bound, upper_bound=bound)


def judged(start: NDArray[np.int64], passed: NDArray[np.int64]) -> tuple[bool, ...]:
    """Whether trend, neighbours and copies are flagged, any of them after Holm, and which are
    reported."""
    trend, neighbours = trend_test(start, passed), neighbour_test(start, passed)
    pairs = copies_test(start, passed)
    raw = np.array([trend.p, neighbours.p, pairs.smallest_p])
    flagged = holm(raw) <= LEVEL
    rejected = bool(flagged[0])
    if rejected and flagged[1] and neighbours.statistic < neighbours.null_mean:
        limits = interval(slopes(start, passed), "guarded-t")
        assert limits.low is not None
        assert limits.high is not None
        rejected = not limits.low <= 0 <= limits.high
    copies = bool(flagged[2] and ((pairs.adjusted <= LEVEL) & pairs.are_pairs_copies).any())
    return (*(raw <= LEVEL).tolist(), bool(flagged.any()), rejected, copies)


def shares(
    family: str, tasks: int, n: int, make: Make, models: int, seed: int, ragged: bool = False
) -> list[str]:
    """How often each of `judged` is true, in percent."""
    rng = np.random.default_rng([seed, tasks, n, *map(ord, family)])
    rejections = []
    for _ in range(models):
        x = make(rng, rng.beta(*FAMILIES[family], size=(tasks, 1)), n)
        rejections.append(judged(*rows(x, rng.choice([3, n // 2, n], tasks) if ragged else None)))
    return [f"{100 * share:.1f}" for share in np.mean(rejections, axis=0)]


def size_rows(models: int) -> Iterator[tuple[object, ...]]:
    for family in FAMILIES:
        for tasks, n, ragged in (
            (18, 3, False), (50, 4, False), (164, 10, False), (30, 100, False), (50, 16, True),
        ):  # fmt: skip
            rates = shares(family, tasks, n, plain, models, 0, ragged)
            yield family, tasks, f"3, {n // 2} or {n}" if ragged else n, *rates[:4], rates[5]


def power_rows(models: int) -> Iterator[tuple[object, ...]]:
    cases: dict[str, Make] = {
        "drift 0.02": drifting(0.02), "drift −0.02": drifting(-0.02),
        "drift −0.01": drifting(-0.01), "sticky 0.1": sticky(0.1), "sticky 0.3": sticky(0.3),
        "copy": copied(1.0), "half copied": copied(0.5), "break": broken,
    }  # fmt: skip
    for name, make in cases.items():
        for family in FAMILIES:
            for tasks, n in ((50, 4), (164, 10)):
                rates = shares(family, tasks, n, make, models, 1)
                yield name, family, tasks, n, *rates[:3], *rates[4:]


def detectable_rows(models: int) -> Iterator[tuple[object, ...]]:
    """How often effects are found that have the size that a run reports as detectable."""
    reach = norm.ppf(1 - LEVEL / 6) + norm.ppf(0.8)
    for family, tasks, n in product(FAMILIES, (20, 50, 164), (4, 8, 10, 20)):
        rng = np.random.default_rng([9, tasks, n, *map(ord, family)])
        sizes = []
        for _ in range(200):
            start, passed = rows(plain(rng, rng.beta(*FAMILIES[family], size=(tasks, 1)), n))
            trend, neighbours = trend_test(start, passed), neighbour_test(start, passed)
            if neighbours.null_mean:
                slope = reach * trend.null_sd / trend_scores_and_weights(start, passed)[1].sum()
                lag = reach * neighbours.null_sd / neighbours.null_mean
                sizes.append((slope, lag * (1 + lag)))
        slope, lag = np.median(sizes, axis=0)
        # The share of repeats with this measured correlation.
        share = np.nan
        if n >= 8 and lag < lag_of(0.99, n, family):
            share = brentq(lambda s, n=n, f=family, lag=lag: lag_of(s, n, f) - lag, 0.0, 0.99)
        drift = np.nan
        if slope < slope_of(1.0, n, family):
            drift = brentq(lambda d, n=n, f=family, s=slope: slope_of(d, n, f) - s, 0.0, 1.0)
        rates = []
        for make, test in ((drifting(-drift), trend_test), (sticky(share), neighbour_test)):
            models_ = [make(rng, rng.beta(*FAMILIES[family], size=(tasks, 1)), n)
                       for _ in range(models)]  # fmt: skip
            rates.append(np.mean([test(*rows(x)).p <= LEVEL / 3 for x in models_]))
        texts = ["–" if np.isnan(limit) else f"{100 * rate:.0f}"
                 for rate, limit in zip(rates, (drift, share), strict=True)]  # fmt: skip
        yield family, tasks, n, f"{100 * slope:.1f}", texts[0], f"{lag:.2f}", texts[1]


def slope_of(by: float, n: int, family: str) -> float:
    """The mean measured slope if rates drift by that much per attempt, within 0 and 1."""
    rng = np.random.default_rng(13)
    x = drifting(by)(rng, rng.beta(*FAMILIES[family], size=(40_000, 1)), n)
    scores, sizes = trend_scores_and_weights(*rows(x))
    return float(scores.sum() / sizes.sum())


def lag_of(share: float, n: int, family: str) -> float:
    """The mean measured correlation of neighbours if that many outcomes repeat the previous one."""
    rng = np.random.default_rng(12)
    x = sticky(share)(rng, rng.beta(*FAMILIES[family], size=(40_000, 1)), n)
    c = x.sum(axis=1)
    return neighbour_correlation((x[:, 1:] != x[:, :-1]).sum(axis=1), np.full(len(c), n), c)


def interval_rows(models: int) -> Iterator[tuple[object, ...]]:
    for by in (0.0, -0.02):
        for family in FAMILIES:
            for tasks, n in ((50, 4), (164, 10)):
                yield f"{by:g}", family, tasks, n, *covered(family, tasks, n, by, models)


def covered(family: str, tasks: int, n: int, by: float, models: int) -> list[str]:
    rng = np.random.default_rng([2, tasks, n, *map(ord, family)])
    place, make = np.arange(n) - (n - 1) / 2, drifting(by)
    p = np.clip(rng.beta(*FAMILIES[family], size=(1_000_000, 1)) + by * place, 0, 1)
    slope = float((p @ place).mean() / (place @ place))
    failing = 1 - p
    pairs = (failing.sum(axis=1) ** 2 - (failing**2).sum(axis=1)) / (n * (n - 1))
    expected = float((pairs - failing[:, 0] * failing[:, 1]).mean())
    hits, width = np.zeros(3), np.zeros(3)
    for _ in range(models):
        start, passed = rows(make(rng, rng.beta(*FAMILIES[family], size=(tasks, 1)), n))
        once = np.ones_like(passed)
        first = first_at_k(start, passed * 0.0, once, passed, 2)
        sample = slopes(start, passed)
        difference = IntervalData(
            first - pass_at_k(*attempts_and_passes_per_task(start, passed), 2), lower_bound=-1.0
        )
        for i, (interval_at, method, true) in enumerate(
            (
                (sample, "guarded-t", slope),
                (sample, "t", slope),
                (difference, "guarded-t", expected),
            )
        ):
            limits = interval(interval_at, method)
            assert limits.low is not None
            assert limits.high is not None
            hits[i] += limits.low <= true <= limits.high
            width[i] += limits.high - limits.low
    return [
        text
        for h, w in zip(hits / models, width / models, strict=True)
        for text in (f"{100 * h:.1f}", f"{w:.4f}")
    ]


def simulate(models: int) -> None:
    start = time.perf_counter()
    tests = ("trend %", "neighbours %", "copies %")
    for section, head, run_section in (
        ("size", ("tasks' rates", "tasks", "attempts", *tests, "any, after Holm %",
                  "called copies %"), size_rows(models)),
        ("power", ("what", "tasks' rates", "tasks", "attempts", *tests, "trend called %",
                   "called copies %"), power_rows(models // 4)),
        ("intervals", ("drift", "tasks' rates", "tasks", "attempts", "trend, guarded-t %", "width",
                       "trend, t %", "width", "first@2 − pass@2 %", "width"),
         interval_rows(models // 4)),
    ):  # fmt: skip
        parts = []
        for row in run_section:
            parts.append(row)
            print(section, *row, sep="\t", flush=True)
        many = models if section == "size" else models // 4
        error = 100 * sqrt(LEVEL * (1 - LEVEL) / many)
        text = f"{many:,} models a row; Monte-Carlo error at 5 % or 95 %: {error:.2f} points"
        keep(section, f"{text}\n\n{table(head, parts)}", file="order.md")
    print(f"{time.perf_counter() - start:.0f} s")


def speed(runs: int) -> None:
    """Whole processes, reading included."""
    rng = np.random.default_rng(0)
    commands = {}
    with tempfile.TemporaryDirectory() as folder:
        for models, tasks, n in ((1, 164, 10), (8, 164, 200), (30, 800, 10)):
            lines = ["model,task,trial,passed"]
            for m in range(models):
                x = plain(rng, rng.beta(0.4, 0.4, size=(tasks, 1)), n).astype(int)
                lines += [f"m{m:02d},t{t},{i},{x[t, i]}" for t in range(tasks) for i in range(n)]
            path = Path(folder) / f"{models}x{tasks}x{n}.csv"
            path.write_text("\n".join(lines))
            for command in ("estimate", "order"):
                name = f"passk {command}, {models} × {tasks} tasks × {n}"
                commands[name] = [
                    sys.executable,
                    "-m",
                    "passk_cli",
                    command,
                    str(path),
                    "-k",
                    "1,2",
                ]
        measurements = in_turn(commands, runs)
    costs = [
        (name, f"{cost.seconds:.2f}", f"{cost.mebibytes:,.0f}")
        for name, cost in measurements.items()
    ]
    text = f"{machine()}; medians of {runs}\n\n{table(('command', 'wall s', 'peak MiB'), costs)}"
    print(text)
    keep("speed", text, file="order.md")


def simulate_detectable(models: int) -> None:
    rows_ = list(detectable_rows(models))
    error = 100 * sqrt(0.16 / models)
    text = f"{models:,} models a row; Monte-Carlo error at 80 %: {error:.1f} points"
    head = ("rates", "tasks", "attempts", "trend, points per attempt", "found %",
            "correlation of neighbours", "found %")  # fmt: skip
    keep("detectable", f"{text}\n\n{table(head, rows_)}", file="order.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=4000)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--detectable", action="store_true", help="this table alone")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments.runs)
    elif arguments.detectable:
        simulate_detectable(arguments.models)
    else:
        simulate(arguments.models)


if __name__ == "__main__":
    main()
