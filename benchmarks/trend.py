"""Runs of one setup: thresholds of changes, simulated nights, coverage of a gate on a history.

python benchmarks/trend.py thresholds|steady|bounds|correlated|nights|early|costs|coverage [NUMBER]
python benchmarks/trend.py tau|terminal FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import passk_cli
from passk_cli.files.history import append_run_rows
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.run_effects import (
    ChangePoint,
    are_amounts_above_task_divider,
    chance_variances,
    change_points,
    largest_change_deviate,
    largest_run_effect_difference,
    run_effect_variance,
    run_mean_logs_and_variances,
    widen_by_run_effect,
)
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.registry import Metric


def thresholds(histories: int = 20_000, runs: int = 365) -> None:
    """Quantiles of the largest deviate over all splits of all nights of quiet histories."""
    random = np.random.default_rng(1)
    largest = np.array([largest_change_deviate(random.normal(size=runs)) for _ in range(histories)])
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
    """Passes of runs with a mean rate that is shifted by that much: (runs, tasks)."""
    spread = rates * (1 - rates)
    shifts = np.broadcast_to(shift, runs)[:, None] * spread / spread.mean()
    return random.binomial(n, np.clip(rates + shifts, 0, 1), (runs, len(rates)))


def detected_changes(n: np.ndarray, c: np.ndarray) -> list[ChangePoint]:
    """Changes as `passk trend` seeks them."""
    return change_points((c / n).mean(axis=1), chance_variances(n, c), counts=(n, c))


# Rates of tasks of steady models, the audit's and three that nothing was tuned on.
STEADY: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "all .999": lambda random, tasks: np.full(tasks, 0.999),
    "all .99": lambda random, tasks: np.full(tasks, 0.99),
    "one task of ten at .98, others 1": lambda random, tasks: np.where(
        np.arange(tasks) % 10 == 0, 0.98, 1.0
    ),
    "Beta(1.2, .8)": rates_of,
    "held out: Beta(.3, 6)": lambda random, tasks: random.beta(0.3, 6.0, tasks),
    "held out: all .5": lambda random, tasks: np.full(tasks, 0.5),
    "held out: half always, half never": lambda random, tasks: (np.arange(tasks) % 2).astype(float),
}
ATTEMPTS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "1": lambda random, runs, tasks: np.ones((runs, tasks), dtype=int),
    "4": lambda random, runs, tasks: np.full((runs, tasks), 4),
    "1 or 8, by run": lambda random, runs, tasks: np.repeat(
        random.choice([1, 8], (runs, 1), p=[0.2, 0.8]), tasks, axis=1
    ),
    "1 to 5, by task and run": lambda random, runs, tasks: random.integers(1, 6, (runs, tasks)),
}


def steady(histories: int = 100, length: int = 365) -> None:
    """How many years of nights without a change have a false alarm."""
    print("| rates | tasks | attempts | effect | false alarms | by the largest t alone |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (name, rates), (sizes, attempts), tasks, effect in product(
        STEADY.items(), ATTEMPTS.items(), (3, 50), (0.0, 0.02)
    ):
        if effect and "Beta(1" not in name and "Beta(.3" not in name:
            continue
        random = np.random.default_rng([ord(sign) for sign in f"{name}{sizes}{tasks}{effect}"])
        alarms = np.zeros(2)
        for _ in range(histories):
            task_rates, n = rates(random, tasks), attempts(random, length, tasks)
            spread = task_rates * (1 - task_rates)
            shift = random.normal(0, effect, (length, 1)) if effect else np.zeros((length, 1))
            c = random.binomial(
                n, np.clip(task_rates + shift * spread / max(spread.mean(), 1e-9), 0, 1)
            )
            means, floors = (c / n).mean(axis=1), chance_variances(n, c)
            alarms += bool(detected_changes(n, c)), largest_change_deviate(means, floors) > 4.255
        error = 100 * np.sqrt(np.maximum(alarms, 1) * (1 - alarms / histories)) / histories
        shares = 100 * alarms / histories
        print(f"| {name} | {tasks} | {sizes} | {100 * effect:g} | {shares[0]:.0f}"
              f" ± {error[0]:.0f} % | {shares[1]:.0f} % |", flush=True)  # fmt: skip


# Rates of tasks at which the run moves all tasks alike, on the logit scale.
NEAR: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    **{
        f"all {rate:g}": lambda random, tasks, rate=rate: np.full(tasks, rate)
        for rate in (0.99, 0.97, 0.95, 0.9, 0.5, 0.03)
    },
    "Beta(9, 1)": lambda random, tasks: random.beta(9, 1, tasks),
    "Beta(5, .5)": lambda random, tasks: random.beta(5, 0.5, tasks),
    "Beta(.3, 6)": lambda random, tasks: random.beta(0.3, 6, tasks),
    "half .99, half .3": lambda random, tasks: np.where(np.arange(tasks) % 2, 0.99, 0.3),
}


def bounds(histories: int = 200, length: int = 365, tasks: int = 50, n: int = 4) -> None:
    """Years of nights with an effect of the run on logits; drops on night 120 of 200."""
    print("| rates | effect on logits | on the mean, points | years with a false alarm |"
          " drop of 5 points: seen | nights | of 10 points: seen | nights |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (name, rates), effect in product(NEAR.items(), (0.3, 0.5)):
        random, alarms = np.random.default_rng([*(ord(x) for x in name), int(10 * effect)]), 0
        spread, delays = 0.0, ([], [])
        for history in range(histories):
            clipped = np.clip(rates(random, tasks), 1e-9, 1 - 1e-9)
            logits = np.log(clipped) - np.log1p(-clipped) + random.normal(0, effect, (length, 1))
            true = 1 / (1 + np.exp(-logits))
            spread += true.mean(axis=1).std() / histories
            c = random.binomial(n, true)
            attempts = np.full_like(c, n)
            alarms += bool(detected_changes(attempts, c))
            for delays_at_drop, drop in zip(delays, (0.05, 0.1), strict=True):
                if history % 2 or clipped.mean() < drop:
                    continue
                fallen = true[:200] - drop * (np.arange(200) >= 119)[:, None] * (
                    true[:200] / true[:200].mean(axis=1, keepdims=True)
                )
                c = random.binomial(n, np.clip(fallen, 0, 1))
                later = [
                    x.detected_run - 118
                    for x in detected_changes(attempts[:200], c)
                    if x.detected_run >= 119
                ]
                delays_at_drop.append(later[0] if later else 999)
        cells = []
        for delays_at_drop in delays:
            times = [nights_ for nights_ in delays_at_drop if nights_ < 999]
            late = f"{np.median(times):.0f} ({np.quantile(times, 0.9):.0f})" if times else "–"
            cells.append(
                f"{100 * len(times) / len(delays_at_drop):.0f} % | {late}"
                if delays_at_drop
                else "– | –"
            )
        error = 100 * np.sqrt(max(alarms, 1) * (1 - alarms / histories)) / histories
        print(f"| {name} | {effect:g} | {100 * spread:.1f} | {100 * alarms / histories:.1f} ±"
              f" {error:.1f} % | {' | '.join(cells)} |", flush=True)  # fmt: skip


def correlated(histories: int = 200, length: int = 365) -> None:
    """The same years with correlated run effects, as a share of the variance of a run's mean."""
    print("| correlation | share of the run effect | false alarms | drop of 1.5 sd on night 120:"
          " nights (90 %) | of 4 sd on night 10 |\n| --- | --- | --- | --- | --- |")  # fmt: skip
    cells = ((0.0, 1.0), (0.3, 1.0), (0.7, 1.0), (0.7, 0.5), (0.9, 1.0), (0.9, 0.5),
             (0.5, 0.8), (0.8, 0.7), (-0.3, 1.0))  # fmt: skip
    for phi, share in cells:
        random, alarms = np.random.default_rng([int(10 * abs(phi)), int(10 * share)]), 0
        delays: list[list[int]] = [[], []]
        for _ in range(histories):
            noise, effect = random.normal(size=(2, length))
            for run in range(1, length):
                effect[run] = phi * effect[run - 1] + np.sqrt(1 - phi**2) * effect[run]
            means = np.sqrt(share) * effect + np.sqrt(1 - share) * noise
            alarms += bool(change_points(means))
            for delays_of_model, (at, drop) in zip(delays, ((119, 1.5), (9, 4.0)), strict=True):
                fallen = means[:200] - drop * (np.arange(200) >= at)
                later = [
                    point.detected_run
                    for point in change_points(fallen)
                    if point.detected_run >= at
                ]
                delays_of_model.append(later[0] - at + 1 if later else 200)
        late = [
            f"{np.median(delay_list):.0f} ({np.quantile(delay_list, 0.9):.0f})"
            for delay_list in delays
        ]
        error = 100 * np.sqrt(max(alarms, 1) / histories * (1 - alarms / histories) / histories)
        print(
            f"| {phi:g} | {share:g} | {100 * alarms / histories:.0f} ± {error:.0f} % |"
            f" {late[0]} | {late[1]} |",
            flush=True,
        )


def by_t(before: np.ndarray, after: np.ndarray, n: int) -> bool:
    """Whether a paired t test of two nights is significant at 5 %, one-sided."""
    d = (after - before) / n
    error = d.std(ddof=1) / np.sqrt(len(d))
    return bool(error > 0 and d.mean() / error < -1.676)


def by_gate(c: np.ndarray, n: int, runs: int = 5) -> list[int]:
    """Nights on which a gate against the last five, --max-drop pass@1=0, fails.

    c : (nights, tasks).  As `passk gate` computes it, for all nights at once.
    """
    nights_ = np.arange(runs, len(c))
    pooled = np.array([c[r - runs : r].sum(axis=0) for r in nights_])
    d = c[runs:] / n - pooled / (n * runs)
    attempts = np.broadcast_to(np.array([n, n * runs])[:, None, None], (2, *d.shape))
    floor = difference_variance_floor(Metric("pass@", 1), attempts, np.array([c[runs:], pooled]))
    lows, highs = difference_distribution(d, 1.0, floor).limits(0.05)
    return [
        int(r)
        for r, significance, low, high in zip(nights_, d.mean(axis=1), lows, highs, strict=True)
        if widen_by_run_effect(
            significance,
            low,
            high,
            largest_run_effect_difference(run_effect_variance(c[:r] / n), runs, int(r)),
        )[1]
        < 0
    ]


def nights(histories: int = 400, length: int = 200, at: int = 120, tasks: int = 50) -> None:
    """200 nights, quiet or with a drop of 5 points on night 120: false alarms and delay."""
    print("| nights | rule | false alarms a night | histories with one | drop seen |"
          " nights until it is |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- |")
    rules: dict[str, Callable[[np.ndarray, int], list[int]]] = {
        "passk trend": lambda c, n: [
            point.detected_run for point in detected_changes(np.full_like(c, n), c)
        ],
        "passk gate, last 5": by_gate,
        "t test per night": lambda c, n: [r for r in range(1, length) if by_t(c[r - 1], c[r], n)],
        "threshold 200 %": lambda c, n: by_ratio(c.mean(axis=1)),
    }
    for n, effect in product((1, 4), (0.0, 0.02)):
        random = np.random.default_rng(n * 10 + int(100 * effect))
        quiet: dict[str, list[int]] = {name: [] for name in rules}
        delays: dict[str, list[int]] = {name: [] for name in rules}
        for _ in range(histories):
            rates = rates_of(random, tasks)
            shift = random.normal(0, effect, length)
            c = night(random, rates, n, shift, length)
            shift[at - 1 :] -= 0.05
            fallen = night(random, rates, n, shift, length)
            for name, alarms in rules.items():
                quiet[name].append(len(alarms(c, n)))
                later = [r for r in alarms(fallen, n) if r >= at - 1]
                delays[name] += [later[0] - at + 2] if later else []
        for name, delay_list in delays.items():
            false = np.array(quiet[name])
            print(
                f"| {tasks} × {n}, effect {100 * effect:g} | {name} |"
                f" {false.mean() / length:.4f} | {(false > 0).mean():.3f} |"
                f" {len(delay_list) / histories:.3f} | "
                + (
                    f"{np.median(delay_list):.0f} ({np.quantile(delay_list, 0.9):.0f}) |"
                    if delay_list
                    else "– |"
                )
            )


def early(histories: int = 200, after: int = 60, tasks: int = 50, n: int = 4) -> None:
    """How many histories show a drop after few nights, and after how many nights."""
    drops = (0.05, 0.1, 0.2)
    heads = [f"drop of {100 * drop:g} points: seen" for drop in drops]
    print("| nights before | effect | " + " | ".join(f"{head} | nights" for head in heads) + " |")
    print("| --- | --- |" + " --- | --- |" * len(drops))
    for before, effect in product((4, 8, 12, 20, 40, 80), (0.0, 0.02)):
        cells = []
        for drop in drops:
            random = np.random.default_rng([before, int(100 * effect), int(100 * drop)])
            delays_of_history = []
            for _ in range(histories):
                shift = random.normal(0, effect, before + after)
                shift[before:] -= drop
                c = night(random, rates_of(random, tasks), n, shift, before + after)
                later = [point.detected_run for point in detected_changes(np.full_like(c, n), c)]
                delays_of_history += [r - before + 1 for r in later if r >= before][:1]
            late = (
                f"{np.median(delays_of_history):.0f} ({np.quantile(delays_of_history, 0.9):.0f})"
                if delays_of_history
                else "–"
            )
            cells.append(f"{100 * len(delays_of_history) / histories:.0f} % | {late}")
        print(f"| {before} | {100 * effect:g} | {' | '.join(cells)} |", flush=True)


def costs(histories: int = 1_000, length: int = 200, at: int = 60, tasks: int = 20) -> None:
    """Nights of lognormal costs, quiet or with a price that doubles: the rule on two scales."""
    print("| tasks × attempts, σ | sought on | false alarms | doubled price seen | nights |")
    print("| --- | --- | --- | --- | --- |")
    for sigma, n in product((1.0, 2.0), (4, 1)):
        random = np.random.default_rng([int(sigma), n])
        alarms: dict[str, int] = {}
        delays: dict[str, list[int]] = {}
        for _ in range(histories):
            logs = random.normal(0, 1, (1, tasks, 1)) + random.normal(0, sigma, (length, tasks, n))
            for name, means, floors, counts in scales(logs):
                points = change_points(means, floors, counts=counts)
                alarms[name] = alarms.get(name, 0) + bool(points)
            logs = logs[:100]
            logs[at:] += np.log(2)
            for name, means, floors, counts in scales(logs):
                all_points = change_points(means, floors, counts=counts)
                late_ = [point.detected_run for point in all_points if point.detected_run >= at]
                delays.setdefault(name, []).extend(
                    night_of_alarm - at + 1 for night_of_alarm in late_[:1]
                )
        for name, points in delays.items():
            late = f"{np.median(points):.0f} ({np.quantile(points, 0.9):.0f})" if points else "–"
            print(f"| {tasks} × {n}, {sigma:g} | {name} | {alarms[name] / histories:.3f} |"
                  f" {len(points) / histories:.3f} | {late} |", flush=True)  # fmt: skip


Scale = tuple[str, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray] | None]


def scales(logs: np.ndarray) -> list[Scale]:
    """Name, means, floors and counts of runs: of logarithms, as trend has them, and of costs."""
    n, plain = np.full(logs.shape[:2], logs.shape[2]), np.exp(logs)
    floors = chance_variances(n, plain.sum(axis=2), (plain**2).sum(axis=2))
    means, spreads = run_mean_logs_and_variances(n, logs.sum(axis=2), (logs**2).sum(axis=2))
    task = np.broadcast_to(np.arange(logs.shape[1])[:, None], logs.shape).ravel()
    high = (
        are_amounts_above_task_divider(task, logs.ravel(), np.ones(logs.size, int))
        .reshape(logs.shape)
        .sum(axis=2)
    )
    return [
        ("mean logarithm", means, spreads, (n, high)),
        ("mean", plain.mean(axis=(1, 2)), floors, None),
    ]


def by_ratio(means: np.ndarray) -> list[int]:
    """Alerts of a benchmark action: the value before is more than twice the value now."""
    return (np.flatnonzero(means[:-1] > 2 * np.maximum(means[1:], 1e-9)) + 1).tolist()


def coverage(repetitions: int = 4_000, tasks: int = 50, most: int = 5) -> None:
    """Coverage of `passk gate --baseline history.parquet:last5`, compared with intervals without
    runs."""
    print("| effect | attempts | runs of the history | plain | gate | width | gate fails |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    models = 400  # One column is one repetition, and the gate judges all of them.
    for effect, n, history in product((0.0, 0.02, 0.04), (1, 4), (2, 3, 5, 20)):
        runs = min(most, history)
        random = np.random.default_rng([int(1000 * effect), n, history])
        rows, plain = [], []
        for _ in range(repetitions // models):
            c = np.zeros((models, history + 1, tasks), dtype=int)
            for model in range(models):
                shifts = random.normal(0, effect, history + 1)
                c[model] = night(random, rates_of(random, tasks), n, shifts, history + 1)
            rows += gated(c, n, runs)
            d = (c[:, -1] - c[:, -1 - runs : -1].mean(axis=1)) / n
            plain += [
                [float(x[0]) for x in difference_distribution(differences, 1.0).limits(0.05)]
                for differences in d
            ]
        covered = np.mean([row["low"] <= 0 <= row["high"] for row in rows])
        fails = np.mean([row["verdict"] == "fail" for row in rows])
        wider = np.mean([(row["high"] - row["low"]) / (high - low)
                         for row, (low, high) in zip(rows, plain, strict=True)])  # fmt: skip
        print(
            f"| {100 * effect:g} points | {n} | {history} |"
            f" {np.mean([low <= 0 <= high for low, high in plain]):.3f} | {covered:.3f} |"
            f" {wider:.2f} | {fails:.3f} |"
        )


def gated(c: np.ndarray, n: int, runs: int) -> list[dict[str, Any]]:
    """The rows of a gate of the last run of each model against those before it.

    c : (models, runs, tasks), the new run last.
    """
    models, nights_, tasks = c.shape
    names = [f"m{model:03d}" for model in range(models)]
    old = c[:, :-1].swapaxes(0, 1)
    columns = {
        "run": np.repeat([f"night {r:03d}" for r in range(nights_ - 1)], models * tasks),
        "at": np.repeat([f"2026-01-01T00:{r:02d}:00.000Z" for r in range(nights_ - 1)],
                        models * tasks),
        "model": np.tile(np.repeat(names, tasks), nights_ - 1),
        "task": np.tile([f"t{t}" for t in range(tasks)], models * (nights_ - 1)),
        "n": np.full(old.size, n), "c": old.ravel(),
    }  # fmt: skip
    same = {"revision": "1", "suite": "all", "settings": "{}"}
    columns |= {name: np.full(old.size, text) for name, text in same.items()}
    new = pd.DataFrame({
        "model": np.repeat(names, tasks), "task": [f"t{t}" for t in range(tasks)] * models,
        "n": n, "c": c[:, -1].ravel(),
    })  # fmt: skip
    with TemporaryDirectory() as folder:
        history = f"{folder}/history.parquet"
        append_run_rows(history, columns)
        result = passk_cli.gate(new, baseline=f"{history}:last{runs}", max_drop={"pass@1": 0.0})
    rows = {row["model"]: row for row in result.frame.to_dict("records") if "drop" in row["rule"]}
    return [rows[name] for name in names]


def real(form: str, folder: Path) -> None:
    """Published runs that `passk record` recorded as nights: the rows of `passk trend`.

    tau : a file of simulations per model. Its trials are the runs.
    terminal : a folder per agent that contains a folder per run, as `tb run` writes them.
    """
    with TemporaryDirectory() as place:
        history = f"{place}/history.parquet"
        if form == "tau":
            for file in sorted(folder.glob("**/*.json")):
                for trial in passk_cli.estimate(file, by="attempt", k=1).frame["attempt"]:
                    passk_cli.record(
                        f"{file.stem}={file}", to=history, at=f"{trial}",
                        where=f"attempt = {trial}", date=f"2026-01-0{int(trial) + 1}",
                    )  # fmt: skip
        for run in sorted(folder.glob("*/*/results.json")) if form == "terminal" else ():
            trials = json.loads(run.read_text())["results"]
            passk_cli.record(
                f"{run.parts[-3]}={run}", to=history, at=run.parts[-2], missing="fail",
                date=min(filter(None, (trial["trial_started_at"] for trial in trials))),
            )  # fmt: skip
        rows = passk_cli.trend(history).frame
    print("| runs of | tasks | runs | pass@1 of each | p | run effect, points |")
    print("| --- | --- | --- | --- | --- | --- |")
    for model, rows_of_model in rows.groupby("model"):
        means = rows_of_model[rows_of_model["metric"] == "pass@1"]
        (effect,) = rows_of_model[rows_of_model["metric"] == "run effect"].itertuples()
        print(
            f"| {model} | {effect.tasks} | {len(means)} |"
            f" {', '.join(f'{mean:.3f}' for mean in means['estimate'])} | {effect.p:.2f} |"
            f" {100 * effect.estimate:.1f} [{100 * effect.low:.1f}, {100 * effect.high:.1f}] |"
        )


if __name__ == "__main__":
    part, *arguments = sys.argv[1:]
    {
        "thresholds": thresholds,
        "steady": steady,
        "bounds": bounds,
        "correlated": correlated,
        "nights": nights,
        "early": early,
        "costs": costs,
        "coverage": coverage,
    }.get(part, lambda *_: real(part, Path(arguments[0])))(
        *map(int, arguments if arguments and arguments[0].isdecimal() else ())
    )
