"""Runs of one setup: thresholds of changes, simulated nights, coverage of a gate on a history.

python benchmarks/trend.py thresholds|nights|coverage|tau  (see trend.md)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from passk_cli.inference.difference import difference_law
from passk_cli.inference.runs import changes, largest_deviate, run_effect, run_variance, widened


def thresholds(histories: int = 20_000, runs: int = 365) -> None:
    """Quantiles of the largest deviate over all splits of all nights of quiet histories."""
    random = np.random.default_rng(1)
    largest = np.array([largest_deviate(random.normal(size=runs)) for _ in range(histories)])
    print("| false alarms | threshold | ± |\n| --- | --- | --- |")
    for rate in (0.10, 0.05, 0.01):
        low, value, high = np.quantile(
            largest, 1 - rate + np.array([-1, 0, 1]) * np.sqrt(rate * (1 - rate) / histories)
        )
        print(f"| {rate:.2f} | {value:.3f} | {(high - low) / 2:.3f} |")


def rates_of(random: np.random.Generator, tasks: int) -> np.ndarray:
    """True success rates of tasks."""
    return random.beta(1.2, 0.8, tasks)


def night(
    random: np.random.Generator, rates: np.ndarray, n: int, shift: float, runs: int = 1
) -> np.ndarray:
    """Passes of runs whose mean rate is shifted by so much: (runs, tasks)."""
    spread = rates * (1 - rates)
    shifts = np.broadcast_to(shift, runs)[:, None] * spread / spread.mean()
    return random.binomial(n, np.clip(rates + shifts, 0, 1), (runs, len(rates)))


def by_t(before: np.ndarray, after: np.ndarray, n: int) -> bool:
    """Whether a paired t test of two nights is significant at 5 %, one-sided."""
    d = (after - before) / n
    error = d.std(ddof=1) / np.sqrt(len(d))
    return bool(error > 0 and d.mean() / error < -1.676)


def nights(histories: int = 1_000, length: int = 200, at: int = 120, tasks: int = 50) -> None:
    """200 nights, quiet or with a drop of 5 points on night 120: false alarms and delay."""
    print("| nights | rule | histories with a false alarm | drop seen | nights until it is |")
    print("| --- | --- | --- | --- | --- |")
    for n in (1, 4):
        for effect in (0.0, 0.02):
            random = np.random.default_rng(n * 10 + int(100 * effect))
            quiet = {"passk trend": 0, "t test per night": 0, "threshold 200 %": 0}
            delays: dict[str, list[int]] = {name: [] for name in quiet}
            for _ in range(histories):
                rates = rates_of(random, tasks)
                for drop in (0.0, -0.05):
                    shift = random.normal(0, effect, length)
                    shift[at - 1 :] += drop
                    c = night(random, rates, n, shift, length)
                    means = c.mean(axis=1) / n
                    alarms = {
                        "passk trend": [change.shown for change in changes(means)],
                        "t test per night": [
                            r for r in range(1, length) if by_t(c[r - 1], c[r], n)
                        ],
                        # A benchmark alert: the value before is more than twice the value now.
                        "threshold 200 %": list(
                            np.flatnonzero(means[:-1] > 2 * np.maximum(means[1:], 1e-9)) + 1
                        ),
                    }
                    for name, seen in alarms.items():
                        if not drop:
                            quiet[name] += bool(seen)
                        elif later := [r for r in seen if r >= at - 1]:
                            delays[name].append(int(later[0]) - at + 2)
            for name, false in quiet.items():
                seen = delays[name]
                print(
                    f"| {tasks} × {n}, effect {100 * effect:g} | {name} | {false / histories:.3f} |"
                    f" {len(seen) / histories:.3f} | "
                    + (f"{np.median(seen):.0f} ({np.quantile(seen, 0.9):.0f}) |" if seen else "– |")
                )


def coverage(repetitions: int = 4_000, tasks: int = 50, runs: int = 5) -> None:
    """Coverage of the difference to the mean of the last runs, without and with their variance."""
    print(
        "| effect | attempts | runs of the history | plain | with the effect | width | drop said |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for effect in (0.0, 0.02, 0.04):
        for n in (1, 4):
            for history in (5, 20):
                random = np.random.default_rng([int(1000 * effect), n, history])
                plain = wide = alarms = 0
                widths = []
                for _ in range(repetitions):
                    rates = rates_of(random, tasks)
                    c = night(random, rates, n, random.normal(0, effect, history), history) / n
                    new = night(random, rates, n, random.normal(0, effect), 1)[0] / n
                    d = new - c[-runs:].mean(axis=0)
                    low, high = (float(x[0]) for x in difference_law(d, 1.0).limits(0.05))
                    plain += low <= 0 <= high
                    a, b = widened(float(d.mean()), low, high, run_variance(c), runs, history)
                    wide += a <= 0 <= b
                    alarms += b < 0
                    widths.append((b - a) / (high - low))
                print(
                    f"| {100 * effect:g} points | {n} | {history} | {plain / repetitions:.3f} |"
                    f" {wide / repetitions:.3f} | {np.mean(widths):.2f} |"
                    f" {alarms / repetitions:.3f} |"
                )


def tau(folder: Path) -> None:
    """Trials of published τ-bench runs as nights: a row per file of simulations."""
    print("| file | tasks | trials | pass@1 by trial | p | run effect, points |")
    print("| --- | --- | --- | --- | --- | --- |")
    for file in sorted(folder.glob("**/*.json")):
        rows = json.loads(file.read_text())
        rows = rows.get("simulations", []) if isinstance(rows, dict) else rows
        outcomes: dict[int, dict[str, int]] = {}
        for row in rows:
            reward = row["reward"] if "reward" in row else row["reward_info"]["reward"]
            outcomes.setdefault(row["trial"], {})[str(row["task_id"])] = int(reward >= 1 - 1e-6)
        shared = sorted(set.intersection(*map(set, outcomes.values()))) if outcomes else []
        if len(outcomes) < 2 or not shared:
            continue
        c = np.array([[outcomes[trial][task] for task in shared] for trial in sorted(outcomes)])
        effect = run_effect(np.ones_like(c), c)
        means = ", ".join(f"{mean:.3f}" for mean in effect.means)
        low, sd, high = (100 * np.sqrt(x) for x in (effect.low, effect.variance, effect.high))
        print(
            f"| {file.name} | {len(shared)} | {len(outcomes)} | {means} | {effect.p:.3f} |"
            f" {sd:.1f} [{low:.1f}, {high:.1f}] |"
        )


if __name__ == "__main__":
    part, *rest = sys.argv[1:]
    {"thresholds": thresholds, "nights": nights, "coverage": coverage}.get(
        part, lambda: tau(Path(rest[0]))
    )()
