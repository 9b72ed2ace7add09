"""How often looks at a run err, what they find, and how much of the plan they use.

Run: python benchmarks/watch.py [--runs 1000]
    [--only size,each,bar,overshoot,epochs,calls]
Writes its tables into benchmarks/watch.md.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from measure import keep, table

import passk_cli
from passk_cli import inspect
from passk_cli.commands.gate.runner import GateRunner
from passk_cli.commands.watch.interim_looks import WatchPlan
from passk_cli.commands.watch.task_order import (
    LIST,
    InterimLookCountingOrder,
    attempt_counts_by_task_and_model,
)
from passk_cli.commands.watch.watched_run import WatchedRun
from passk_cli.inference.alpha_spending import confidence_level_at_boundary
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis

warnings.simplefilter("ignore", passk_cli.PasskWarning)
PASS_1 = Metric("pass@", 1)
# Runs that are judged together, with one model per run.
TOGETHER = 250
# Tasks, attempts, the distribution of the tasks' rates, and the change of log-odds to find.
CHANGES = {
    "164 × 4": (164, 4, (2, 2), 0.32),
    "164 × 1": (164, 1, (2, 2), 0.60),
    "500 × 1": (500, 1, (2, 2), 0.33),
    "50 × 4": (50, 4, (2, 2), 0.60),
    "164 × 10, spread": (164, 10, (0.3, 0.5), 0.40),
    "164 × 4, easy": (164, 4, (5, 0.5), 0.70),
    "500 × 4, rare": (500, 4, (0.1, 1), 0.60),
}
BARS = {
    "164 × 1": (164, 1, (2, 2)),
    "164 × 4, easy": (164, 4, (5, 0.5)),
    "500 × 1, spread": (500, 1, (0.3, 0.5)),
}


def names(tasks: int) -> list[str]:
    """Names of tasks, in their order."""
    return [f"t{at:04}" for at in range(tasks)]


def counts_of(c: np.ndarray, n: int, model: str = "m") -> Counts:
    """Counts of passes (models, tasks)."""
    models, tasks = c.shape
    series = [(f"{model}{at:04}",) for at in range(models)]
    codes = np.repeat(np.arange(models), tasks), np.tile(np.arange(tasks), models)
    return Counts.from_codes(
        (series, codes[0]), (names(tasks), codes[1]), np.full(models * tasks, n), c.ravel()
    )


def lowered(p: np.ndarray, shift: float) -> np.ndarray:
    """Rates with lower log-odds."""
    p = p.clip(1e-12, 1 - 1e-12)
    return 1 / (1 + (1 - p) / p * math.exp(shift))


def run_of(
    gate: GateRunner, counts: Counts, plan: WatchPlan, base: Counts | None = None
) -> WatchedRun:
    """A complete run with looks one after the other."""
    study = Analysis(counts, (PASS_1,), baseline=base)
    attempts = attempt_counts_by_task_and_model(counts, {series[0] for series in counts.series})
    return WatchedRun(
        replace(gate, baseline=base),
        study,
        plan,
        InterimLookCountingOrder(names(plan.total_tasks), LIST),
        attempts,
    )


def verdicts(run: WatchedRun, tasks: int, level: float) -> np.ndarray:
    """The verdict on each model at the first tasks: 1 pass, −1 fail, 0 undecided."""
    study = replace(run.study, counts=run.counts_of_first_tasks(tasks))
    confidence = replace(study.confidence, level=level)
    trial = run.gate_runner.gate_context(replace(study, confidence=confidence))
    (rule,) = (rule for rule in run.gate_runner.active_rules if rule.option_metrics)
    (outcomes,) = rule.outcomes([trial])
    return np.array([{"pass": 1, "fail": -1}.get(outcome.verdict, 0) for outcome in outcomes])


def looked(run: WatchedRun, level: Callable[[int], float | None]) -> tuple[np.ndarray, np.ndarray]:
    """The first verdict on each model, and the share of the plan that was used for it."""
    models = len(run.study.counts.series)
    verdict, fraction = np.zeros(models, dtype=int), np.ones(models)
    for place, tasks in enumerate(run.plan.task_counts_at_looks):
        at = level(place)
        if at is None:
            continue
        now = verdicts(run, tasks, at)
        first = (verdict == 0) & (now != 0)
        verdict[first], fraction[first] = now[first], tasks / run.plan.total_tasks
    return verdict, fraction


def by_boundary(run: WatchedRun) -> Callable[[int], float | None]:
    """The level of each look."""
    limits = run.plan.boundaries
    return lambda place: (
        confidence_level_at_boundary(limits[place]) if math.isfinite(limits[place]) else None
    )


def changes(
    runs: int, interval: int, rules: Sequence[str], *, peeking: bool = True
) -> list[list[object]]:
    """A row per situation: equal models, then one that is worse."""
    rows = []
    for name in rules:
        tasks, n, (a, b), shift = CHANGES[name]
        rng, results = np.random.default_rng([tasks, n, interval, 7]), []
        for shifted in (0.0, shift):
            parts = []
            for _ in range(0, runs, TOGETHER):
                p = rng.beta(a, b, (TOGETHER, tasks))
                new, old = rng.binomial(n, lowered(p, shifted)), rng.binomial(n, p)
                gate = GateRunner(max_drop={PASS_1: 0.0}, unpaired="drop")
                plan = WatchPlan(tasks, n, interval, 0.95)
                run = run_of(gate, counts_of(new, n), plan, counts_of(old, n))
                verdict, fraction = looked(run, by_boundary(run))
                fixed = verdicts(run, tasks, 0.95)
                peeked = looked(run, lambda _: 0.95)[0] if peeking and not shifted else fixed
                parts.append((verdict, fraction, fixed, peeked, new.mean(1) - old.mean(1)))
            results.append([np.concatenate(column) for column in zip(*parts, strict=True)])
        equal, worse = results
        drop = -worse[4].mean() / n
        stopped = (worse[0] < 0) & (worse[1] < 1)
        rows.append([
            name, f"{(equal[0] != 0).mean():.3f}", f"{(equal[2] != 0).mean():.3f}",
            f"{(equal[3] != 0).mean():.3f}" if peeking else "–", f"{drop:.3f}",
            f"{(worse[0] < 0).mean():.2f}", f"{(worse[2] < 0).mean():.2f}",
            f"{worse[1].mean():.2f}", f"{equal[1].mean():.2f}", f"{stopped.mean():.2f}",
        ])  # fmt: skip
        print(*rows[-1], sep=" | ", flush=True)
    return rows


CHANGE_HEAD = [
    "tasks × attempts", "decided, equal models", "fixed", "ordinary 5 % at each look", "drop",
    "found", "found, fixed", "plan used", "plan used, equal", "stopped before the end",
]  # fmt: skip


def bars(runs: int, interval: int) -> list[list[object]]:
    """One row per situation: a true value at the limit, and one that is 10 points below it."""
    rows = []
    for name, (tasks, n, (a, b)) in BARS.items():
        rng, results = np.random.default_rng([tasks, n, 11]), []
        for bar in (a / (a + b), a / (a + b) + 0.1):
            parts = []
            for _ in range(0, runs, TOGETHER):
                c = rng.binomial(n, rng.beta(a, b, (TOGETHER, tasks)))
                gate = GateRunner(minimum={PASS_1: min(bar, 0.999)}, unpaired="drop")
                run = run_of(gate, counts_of(c, n), WatchPlan(tasks, n, interval, 0.95))
                peeked = looked(run, lambda _: 0.95)[0]
                parts.append((*looked(run, by_boundary(run)), verdicts(run, tasks, 0.95), peeked))
            results.append([np.concatenate(column) for column in zip(*parts, strict=True)])
        on, below = results
        rows.append([
            name, *(f"{(verdict != 0).mean():.3f}" for verdict in (on[0], on[2], on[3])),
            *(f"{(verdict < 0).mean():.2f}" for verdict in (below[0], below[2])),
            f"{below[1].mean():.2f}",
        ])  # fmt: skip
        print(*rows[-1], sep=" | ", flush=True)
    return rows


BAR_HEAD = [
    "tasks × attempts", "decided, truth on the bar", "fixed", "ordinary 5 % at each look",
    "found, 10 points below", "found, fixed", "plan used",
]  # fmt: skip


def overshoot(runs: int) -> str:
    """The drop that is estimated at the end of each run, compared with the true drop."""
    rng, results = np.random.default_rng(5), []
    for _ in range(0, runs, TOGETHER):
        p = rng.beta(2, 2, (TOGETHER, 164))
        q = lowered(p, CHANGES["164 × 4"][3])
        new, old = rng.binomial(4, q), rng.binomial(4, p)
        gate = GateRunner(max_drop={PASS_1: 0.0}, unpaired="drop")
        run = run_of(gate, counts_of(new, 4), WatchPlan(164, 4, 10, 0.95), counts_of(old, 4))
        verdict, fraction = looked(run, by_boundary(run))
        mask = np.arange(164) < (fraction * 164).round()[:, None]
        drop = ((old - new) * mask).sum(1) / mask.sum(1) / 4
        results.append((drop, (p - q).mean(1), (verdict < 0) & (fraction < 1)))
    drop, true, early = map(np.concatenate, zip(*results, strict=True))
    return (
        f"164 × 4, a drop of {true.mean():.3f}: at the end of a run {drop.mean():.3f} is estimated"
        f" on average, of the {early.mean():.0%} that stopped early {drop[early].mean():.3f}"
    )


def calls(runs: int) -> str:
    """Verdicts of `passk_cli.watch`, compared with the verdicts of the simulation, run by run."""
    rng, same, interval = np.random.default_rng(99), 0, 10
    for at in range(runs):
        tasks, n, shift = 164, (1, 4)[at % 2], (0.0, 0.6)[at % 4 // 2]
        p = rng.beta(2, 2, (1, tasks))
        new, old = rng.binomial(n, lowered(p, shift)), rng.binomial(n, p)
        gate = GateRunner(max_drop={PASS_1: 0.0}, unpaired="drop")
        run = run_of(
            gate, counts_of(new, n), WatchPlan(tasks, n, interval, 0.95), counts_of(old, n)
        )
        (verdict,), (fraction,) = looked(run, by_boundary(run))
        report = passk_cli.watch(
            counts_of(new, n), baseline=counts_of(old, n), order=names(tasks), attempts=n,
            every=interval, max_drop={"pass@1": 0.0},
        )  # fmt: skip
        row = report.frame.iloc[0]
        verdict_of_passk = {"pass": 1, "fail": -1}.get(row.verdict, 0)
        same += verdict_of_passk == verdict and math.isclose(row.tasks, fraction * tasks)
    return f"{same} of {runs} runs: verdict and number of tasks are the same"


async def hooked(passed: np.ndarray, rule: str, rng: np.random.Generator) -> tuple[str, int]:
    """The result of `passk_cli.inspect.stop` for outcomes (tasks, epochs), and its number of tasks.

    Eight samples run at once, and failures need three times as long.
    """
    tasks, epochs = passed.shape
    stopper = inspect.stop(rule, every=10)
    spec: Any = SimpleNamespace(
        eval_id=str(rng.random()), model="m", task="t", dataset=SimpleNamespace(shuffled=True)
    )
    samples: list[Any] = [SimpleNamespace(id=name) for name in names(tasks)]
    await stopper.start_task(spec, samples, epochs)
    remaining = list(np.ndindex(tasks, epochs))[::-1]
    way: list[tuple[float, int, int]] = []
    now = 0.0
    while way or (remaining and not stopper.reason):
        while remaining and len(way) < 8 and not stopper.reason:
            task, epoch = remaining.pop()
            way.append((now + rng.exponential(1.0 if passed[task, epoch] else 3.0), task, epoch))
        now, task, epoch = first = min(way)
        way.remove(first)
        score: Any = SimpleNamespace(score=SimpleNamespace(value="CI"[not passed[task, epoch]]))
        await stopper.complete_sample(samples[task].id, epoch + 1, {"scorer": score})
    decision = await stopper.complete_task()
    return stopper.reason, decision["looked_at"]


def epochs(runs: int) -> str:
    """Epochs that end in any order, by Inspect's hook, compared with attempts of tasks in order."""
    # There are no errors here, because no sample has one.
    inspect._register_error_hook = lambda: None  # type: ignore[assignment]
    rng, agreements, later, stopped = np.random.default_rng(31), 0, 0, 0
    for at in range(runs):
        tasks, n, shift = 60, 4, (0.0, 0.8)[at % 2]
        passed = rng.random((tasks, n)) < lowered(rng.beta(2, 2, tasks), shift)[:, None]
        reason, looked_at = asyncio.run(hooked(passed, "pass@1 >= 0.5", rng))
        gate = GateRunner(minimum={PASS_1: 0.5}, unpaired="drop")
        plan = WatchPlan(tasks, n, 10, 0.95)
        (verdict,), (fraction,) = looked(
            run := run_of(gate, counts_of(passed.sum(1)[None], n), plan), by_boundary(run)
        )
        decision = 0 if "undecided" in reason else 1 if "PASS" in reason else -1
        agreements += decision == verdict
        later += looked_at > round(fraction * tasks)
        stopped += looked_at < tasks
    return (
        f"60 × 4, {runs} runs, half of them 18 points below the bar: the verdict is the same in"
        f" {agreements}, {later} of them one or more looks later; {stopped} stopped early"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", default="size,each,bar,overshoot,epochs,calls")
    arguments = parser.parse_args()
    runs, text = arguments.runs, {}
    for part in arguments.only.split(","):
        if part == "size":
            text[part] = table(CHANGE_HEAD, changes(runs, 10, [*CHANGES]))
        elif part == "each":
            few = changes(max(runs // 4, TOGETHER), 1, ["164 × 4", "50 × 4"], peeking=False)
            text[part] = table(CHANGE_HEAD, few)
        elif part == "bar":
            text[part] = table(BAR_HEAD, bars(runs, 10))
        elif part == "overshoot":
            text[part] = overshoot(runs)
        elif part == "epochs":
            text[part] = epochs(max(runs // 10, 10))
            print(text[part])
        elif part == "calls":
            text[part] = calls(max(runs // 25, 4))
            print(text[part])
    for part, content in text.items():
        keep(part, content, "watch.md")


if __name__ == "__main__":
    main()
