"""How often do gates fail if nothing changed, and does a rehearsal predict this?

Run: python benchmarks/gate.py [--runs 12000] [--splits 300] [--only TABLE]
Writes the tables into benchmarks/gate.md.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.typing import NDArray

import passk_cli
from passk_cli.commands.gate.baseline_match import BaselineMatch
from passk_cli.commands.gate.context import GateContext
from passk_cli.commands.gate.rules import GateRule, MaxDrop, RelativeLimit
from passk_cli.commands.gate.runner import GateRunner
from passk_cli.commands.gate.simulation import SimulationSetup, false_alarm_rate, simulation_setup
from passk_cli.files.request import Request
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.history import (
    RUN_AND_SETTINGS_COLUMNS,
    PooledBaseline,
    read_pooled_baseline,
    shift_logits,
)
from passk_cli.study.significance_options import ALL, ComparisonOptions

Ints = NDArray[np.int64]
DATA = Path(__file__).parent.parent / "tests" / "data"
FAMILIES = {"Beta(.3, .5)": (0.3, 0.5), "Beta(.5, .5)": (0.5, 0.5), "uniform": (1.0, 1.0)}
SIZES, DROPS = [(40, 5), (100, 4), (500, 1)], (0.02, 0.05, 0.1)
POINT_GATES = [(30, 1, 0.0), (50, 3, 0.02), (100, 3, 0.02), (500, 1, 0.02)]
PASS_1 = parse_metric("pass@1")
REHEARSED = 5  # halves that a rehearsal is made of, for each set of data


@dataclass(frozen=True)
class Ruled(GateContext):
    """A trial with the given rules."""

    rules: tuple[GateRule, ...] = ()


def points(runs: int) -> str:
    """Gates on the difference of two pass rates, compared with the rules of passk."""
    rng, rows = np.random.default_rng(1), []
    for tasks, n, most in POINT_GATES:
        row: list[object] = [
            f"{tasks} × {n}",
            "any drop" if not most else f"> {100 * most:g} points",
        ]
        for a, b in FAMILIES.values():
            p = rng.beta(a, b, (runs, tasks))
            d = (rng.binomial(n, p).sum(axis=1) - rng.binomial(n, p).sum(axis=1)) / (tasks * n)
            row.append(f"{100 * np.mean(d < -most - 1e-12):.1f}")
        for a, b in FAMILIES.values():
            trials = []
            for _ in range(runs // 20):
                p = rng.beta(a, b, tasks)
                trials.append(trial(n, rng.binomial(n, p), n, rng.binomial(n, p), most))
            drop, regression = failing(trials)
            row.append(f"{100 * drop:.1f} / {100 * regression:.1f}")
        rows.append(row)
    error, small = 100 * sqrt(0.25 / runs), 100 * sqrt(0.025 / (runs // 20))
    head = ["tasks × attempts", "point gate", *(f"{f}: fails %" for f in FAMILIES)]
    head += [f"{f}: passk %" for f in FAMILIES]
    return (
        f"{runs:,} pairs of runs a cell, Monte-Carlo error at most {error:.1f} points; of passk's"
        f" rules {runs // 20:,}, at most {small:.1f} points\n\n{table(head, rows)}"
    )


def unchanged(runs: int) -> str:
    """How often rules about any drop fail and how often they pass if nothing changed."""
    rng, rows = np.random.default_rng(2), []
    for tasks, n, _ in POINT_GATES:
        for name, (a, b) in FAMILIES.items():
            trials = []
            for _ in range(runs):
                p = rng.beta(a, b, tasks)
                trials.append(trial(n, rng.binomial(n, p), n, rng.binomial(n, p), 0.0))
            regression, drop = (verdicts(trials, place) for place in (1, 2))
            metrics = tuple(map(parse_metric, ("pass@1", f"pass@{n}", f"pass^{n}")))
            settings: dict[str, Any] = {"metrics": metrics, "rules": ComparisonOptions(family=ALL)}
            of_three = [
                replace(context, study=replace(context.study, **settings), general=metrics)
                for context in trials
            ]
            outcomes = trials[0].rules[1].judge(of_three) if n > 1 else []
            row: list[object] = [f"{tasks} × {n}", name]
            for verdict in ("fail", "pass"):
                row += [
                    f"{100 * np.mean(row_verdicts == verdict):.1f}"
                    for row_verdicts in (drop, regression)
                ]
                several = [
                    verdict in [o.verdict for o in row_verdicts] for row_verdicts in outcomes
                ]
                row.append(f"{100 * np.mean(several):.1f}" if n > 1 else "–")
            rows.append([*row, f"{100 * np.mean(drop != regression):.1f}"])
            print(rows[-1], file=sys.stderr)
    names = "--max-drop pass@1=0", "--no-regression -m pass@1", "of 3 metrics, any"
    head = ["tasks × attempts", "rates", *(f"{rule}: fails %" for rule in names)]
    head += [*(f"{rule}: passes %" for rule in names), "verdicts differ %"]
    title = f"{runs:,} pairs of runs a row, Monte-Carlo error {100 * sqrt(0.025 / runs):.1f} points"
    return f"{title}\n\n{table(head, rows)}"


# Rules of each suite that are at the edge of the truth: nothing changed, and pass@1 is RATE.
RATE, SUITES = 0.5, 4
DROP = 'max-drop = {"pass@1" = 0, "pass^4" = 0}'
RULES_OF_SUITES: dict[str, tuple[str, str, bool]] = {
    "max-drop of 2 metrics": (DROP, "", False),
    "both, a minimum, a macro average": (
        f'{DROP}\nno-regression = true\nmin = {{"pass@1" = {RATE}}}',
        f'[average]\nmin = {{"pass@1" = {RATE}}}\nmax-drop = {{"pass@1" = 0}}', False,
    ),
    "the same, all suites of one run": (
        f'{DROP}\nno-regression = true\nmin = {{"pass@1" = {RATE}}}',
        f'[average]\nmin = {{"pass@1" = {RATE}}}\nmax-drop = {{"pass@1" = 0}}', True,
    ),
}  # fmt: skip


def suites(runs: int) -> str:
    """How often any rule of `passk gate --rules` with several suites fails if nothing changed."""
    rows: list[list[object]] = []
    for name, (rules, average, shared) in RULES_OF_SUITES.items():
        rng, fails, verdicts = np.random.default_rng(6), 0, 0
        with TemporaryDirectory() as folder:
            of_run = [0] * SUITES if shared else range(SUITES)
            tables = [
                f'[[suite]]\nname = "s{s}"\nruns = "new{r}.csv"\nbaseline = "old{r}.csv"\n{rules}'
                for s, r in enumerate(of_run)
            ]
            lines = ['metric = ["pass@1", "pass@4", "pass^4"]', *tables, average]
            Path(folder, "passk.toml").write_text("\n".join(lines))
            for _ in range(runs):
                for s in set(of_run):
                    p = rng.beta(0.5, 0.5, 50)
                    for side in ("new", "old"):
                        c = rng.binomial(4, p)
                        counts = "".join(f"t{s}-{t},4,{passes}\n" for t, passes in enumerate(c))
                        Path(folder, f"{side}{s}.csv").write_text(f"task,n,c\n{counts}")
                result = passk_cli.gate(rules=f"{folder}/passk.toml")
                fails += not result.passed
                verdicts = int(result.signature["verdicts"])
        error = 100 * sqrt(fails / runs * (1 - fails / runs) / runs)
        rows.append([f"{SUITES} suites", name, verdicts, f"{100 * fails / runs:.1f} ± {error:.1f}"])
        print(rows[-1], file=sys.stderr)
    head = ["suites", "rules of each", "verdicts together", "any fails %"]
    return f"{runs:,} nights a row, 50 tasks × 4, rates Beta(.5, .5)\n\n{table(head, rows)}"


def undecided(runs: int) -> str:
    """`--max-drop X` at real drops of 0, X and 2X: verdicts, and how often the gate stops."""
    rows = []
    for tasks, n in SIZES:
        for most in DROPS:
            row, losses = [f"{tasks} × {n}", f"{most:g}"], []
            for times in (0, 1, 2):
                rng, pairs = np.random.default_rng([3, tasks]), []
                for _ in range(runs):
                    p = rng.beta(0.5, 0.5, tasks)
                    remaining_rate = 1.0 - times * most / p.mean()
                    pairs.append((rng.binomial(n, remaining_rate * p), rng.binomial(n, p)))
                stops = verdicts([trial(n, new, n, old, most) for new, old in pairs], 2)
                lost = [(old - new).mean() / n > most + 1e-12 for new, old in pairs]
                shares = [np.mean(stops == "fail"), np.mean(stops != "pass"), np.mean(lost)]
                losses.append(f"{100 * np.mean(stops == 'undecided'):.0f}")
                errors = [1.0 - share for share in shares] if times == 2 else shares
                row.append(" / ".join(f"{100 * share:.1f}" for share in errors))
            rows.append([*row[:2], " / ".join(losses), *row[2:]])
            print(rows[-1], file=sys.stderr)
    head = ["tasks × attempts", "X", "undecided % at 0 / X / 2 X", "nothing changed: stops %",
            "a drop of X: stops %", "a drop of 2 X: let through %"]  # fmt: skip
    return (
        f"{runs:,} pairs of runs a cell, rates Beta(.5, .5), Monte-Carlo error at most"
        f" {100 * sqrt(0.25 / runs):.1f} points; undecided as pass / as fail / by the estimate\n\n"
        f"{table(head, rows)}"
    )


def relative(runs: int) -> str:
    """`--max-drop pass@1=10%` and `--max-increase cost=10%` at changes of 0, 10 and 25 %: the size
    if the limit is the truth, the power beyond it, and the share of undecided gates."""
    rows = []
    for tasks, n in SIZES[:2]:
        for name, index in (("pass@1 drop", 1), ("cost increase", 0)):
            row = [f"{tasks} × {n}", f"{name} ≤ 10 %"]
            for change in (0.0, 0.1, 0.25):
                rng, trials = np.random.default_rng([9, tasks, int(100 * change)]), []
                for _ in range(runs if index else runs // 5):
                    p = rng.beta(0.5, 0.5, tasks)
                    if index:
                        sides = rng.binomial(n, p * (1 - change)), rng.binomial(n, p)
                        trials.append(trial(n, sides[0], n, sides[1], 0.0))
                    else:
                        trials.append(_priced(rng, p, n, 1 + change))
                if index:
                    rule = MaxDrop({parse_metric("pass@1"): RelativeLimit(0.1)})
                    decisions = [o.verdict for outcomes in rule.judge(trials) for o in outcomes]
                else:
                    decisions = trials
                shares = [
                    100 * np.mean([v == verdict for v in decisions])
                    for verdict in ("fail", "undecided")
                ]
                row.append(" / ".join(f"{share:.1f}" for share in shares))
            rows.append(row)
            print(rows[-1], file=sys.stderr)
    head = ["tasks × attempts", "rule", *(f"changed by {x}: fails / undecided %" for x in
                                          ("0", "10 %", "25 %"))]  # fmt: skip
    return (
        f"{runs:,} pairs of runs a cell for pass@1, {runs // 5:,} for costs; rates Beta(.5, .5);"
        f" costs log-normal, σ 1 between tasks and .7 within\n\n{table(head, rows)}"
    )


def _priced(rng: np.random.Generator, p: Any, n: int, times: float) -> str:
    """The verdict of a rule about costs on a pair of runs. The new run costs more."""
    base = np.exp(rng.normal(size=len(p)))
    sides = [
        [
            {"task": f"t{t}", "passed": bool(rng.random() < rate), "cost": cost * factor}
            for t, rate in enumerate(p)
            for cost in (base[t] * np.exp(0.7 * rng.normal(size=n))).tolist()
        ]
        for factor in (times, 1.0)
    ]
    with warnings.catch_warnings(action="ignore"):
        frame = passk_cli.gate(sides[0], baseline=sides[1], max_increase={"cost": "10%"}).frame
    return str(frame[frame.metric == "cost"].verdict.iloc[0])


# Tasks, attempts, rates, limit; the audit's, and others.
DECIDED = (
    (40, 5, (0.5, 0.5), 0.05), (100, 4, (0.5, 0.5), 0.05), (200, 1, (0.5, 0.5), 0.05),
    (50, 4, (2.0, 2.0), 0.03), (100, 4, (9.0, 1.0), 0.02), (30, 10, (1.0, 1.0), 0.1),
    (3, 4, (1.0, 1.0), 0.1), (60, 2, (0.3, 6.0), 0.02),
)  # fmt: skip


def decided(runs: int) -> str:
    """How many runs are decided with the number of tasks from "about N tasks would decide"."""
    rows = []
    for tasks, n, (a, b), most in DECIDED:
        rng = np.random.default_rng([8, tasks, n, int(100 * most)])

        def pair(
            size: int, n: int = n, a: float = a, b: float = b, most: float = most,
            rng: np.random.Generator = rng,
        ) -> Ruled:  # fmt: skip
            p = rng.beta(a, b, size)
            return trial(n, rng.binomial(n, p), n, rng.binomial(n, p), most)

        numbers = []
        while len(numbers) < runs:
            context = pair(tasks)
            (outcome,) = context.rules[2].judge([context])[0]
            if outcome.verdict != "undecided":
                continue
            match = re.match(r"about ([\d,]+) task", outcome.reason)
            numbers.append(int(match[1].replace(",", "")) if match else tasks)
        trials = [pair(size) for size in numbers if size < 20_000]
        share = np.mean([verdicts([context], 2)[0] != "undecided" for context in trials])
        low, middle, high = np.quantile(numbers, (0.1, 0.5, 0.9))
        error = 100 * sqrt(share * (1 - share) / len(trials))
        rows.append([f"{tasks} × {n}", f"Beta({a:g}, {b:g})", f"{most:g}", f"{middle:,.0f}",
                     f"{low:,.0f}–{high:,.0f}", f"{100 * share:.0f} ± {error:.0f}"])  # fmt: skip
        print(rows[-1], file=sys.stderr)
    head = ["run", "rates", "--max-drop", "tasks said, median", "80 % of runs",
            "decided with these tasks %"]  # fmt: skip
    return (
        f"{runs} undecided runs a row in which nothing changed; a run of the tasks said after each"
        f"\n\n{table(head, rows)}"
    )


def rehearsals_at_known_rates(sets: int) -> str:
    """Rehearsals of one run, compared with the results at the true rates of the run."""
    rows = []
    for tasks, n in SIZES:
        rng = np.random.default_rng([4, tasks])
        p = rng.beta(0.5, 0.5, tasks)
        error = sqrt((p * (1 - p)).sum() / n) / tasks
        for rule, by, least, place in (
            ("--min 1.63 standard errors lower, by the estimate", "estimate", 1.63, 0),
            ("--min 0.5 standard errors lower, by the estimate", "estimate", 0.5, 0),
            ("--min at the rate, by the interval", "interval", 0.0, 0),
            ("--max-drop 0", "interval", 0.0, 2),
        ):

            def gate(
                by: str = by, bar: float = float(p.mean()) - least * error, n: int = n,
                p: NDArray[np.float64] = p, rng: np.random.Generator = rng,
            ) -> Ruled:  # fmt: skip
                return trial(n, rng.binomial(n, p), n, rng.binomial(n, p), 0.0, bar, by)

            if by == "estimate":
                means = rng.binomial(n, p, (200_000, tasks)).mean(axis=1) / n
                truth = float(np.mean(means < p.mean() - least * error - 1e-12))
            else:
                truth = float(np.mean(verdicts([gate() for _ in range(2000)], place) == "fail"))
            results = []
            for _ in range(sets):
                limits = gate()
                rule_of = [limits.rules[place]]
                odds, predicted = (
                    next(
                        iter(
                            simulation_setup(limits, rule_of, "pass", predictive=p)
                            .verdict_rates_and_gate_failures[0]
                            .values()
                        )
                    )
                    for p in (False, True)
                )
                alarm = false_alarm_rate(odds, predicted)
                holds = (alarm.low or 0.0) <= truth <= (1.0 if alarm.high is None else alarm.high)
                plain = false_alarm_rate(
                    predicted, replace(predicted, failing=predicted.runs, both=1.0)
                )
                plain_holds = (
                    (plain.low or 0.0) <= truth <= (1.0 if plain.high is None else plain.high)
                )
                results.append((odds.failing_share, predicted.failing_share, holds, plain_holds))
            share, next_run, holds, plain_holds = np.array(results).T
            summary = (
                truth,
                np.median(share),
                np.median(next_run),
                np.mean(holds),
                np.mean(plain_holds),
            )
            rows.append([f"{tasks} × {n}", rule, *(f"{100 * e:.1f}" for e in summary)])
            print(rows[-1], file=sys.stderr)
    head = ["tasks × attempts", "rule", "truth: fails %", "false alarms, median %",
            "predicted failures, median %", "limits hold the truth %",
            "Monte-Carlo limits of the prediction hold it %"]  # fmt: skip
    return f"{sets} runs a row, rates Beta(.5, .5); truth by 2,000 runs\n\n{table(head, rows)}"


# Runs of a history, and the standard deviation of the effect of a run.
HISTORIES, EFFECTS = (2, 5, 10), (0.0, 0.02, 0.04)
OF_HISTORY = {
    "--max-drop 0": lambda bar: GateRunner(max_drop={PASS_1: 0.0}),
    "--min 1.63 standard errors lower, by the estimate": lambda bar: GateRunner(
        minimum={PASS_1: bar}, min_by="estimate"
    ),
}


def histories(sets: int) -> str:
    """Rehearsals against a history, compared with the results at the true rates and effect of a
    run: how often their limits contain the share that fails."""
    tasks, n, rows, hits = 50, 4, [], list[bool]()
    for runs, effect, (name, gate) in product(HISTORIES, EFFECTS, OF_HISTORY.items()):
        rng = np.random.default_rng([10, runs, int(100 * effect)])
        p = rng.beta(0.5, 0.5, tasks)
        blank, scale = _history(tasks, n, runs), effect / float((p * (1 - p)).mean())
        base = blank.counts
        scales = {base.series[0]: scale}
        error = sqrt((p * (1 - p)).sum() / n / tasks**2 + effect**2)
        rules = [
            rule
            for rule in gate(float(p.mean()) - 1.63 * error).active_rules
            if rule.option_metrics
        ]

        def night(
            blank: PooledBaseline = blank, base: Counts = base, scale: float = scale, p: Any = p,
            scales: dict[Any, float] = scales, rng: np.random.Generator = rng,
        ) -> GateContext:  # fmt: skip
            past, passes = blank.simulate_runs(base, p, scales, rng)
            new = rng.binomial(n, shift_logits(p, scale * rng.standard_normal()))
            counts = replace(base, c=new, n=np.full(tasks, n))
            study = Analysis(
                counts,
                (PASS_1,),
                Confidence(resamples=1000),
                ComparisonOptions(),
                pooled_baseline=past,
            )
            sides = BaselineMatch.from_two_files(counts, replace(base, c=passes), "old")
            return GateContext(study, sides, (PASS_1,), "fail")

        context = night()
        truth = SimulationSetup(context, rules, p[None], p[None], "pass", 8000,
                      between_run_deviations={s: np.array([x]) for s,
                          x in scales.items()})  # fmt: skip
        share = next(iter(truth.verdict_rates_and_gate_failures[0].values())).failing_share
        results = []
        for _ in range(sets):
            night_context = night()
            odds, predicted = (
                next(
                    iter(
                        simulation_setup(night_context, rules, "pass", predictive=predictive)
                        .verdict_rates_and_gate_failures[0]
                        .values()
                    )
                )
                for predictive in (False, True)
            )
            alarm = false_alarm_rate(odds, predicted)
            results.append((alarm.value, alarm.low, alarm.high))
        values, lows, highs = np.array(results).T
        holds = (lows <= share) & (share <= highs)
        hits += holds.tolist()
        summary = share, np.median(values), np.median(lows), np.median(highs), np.mean(holds)
        rows.append([runs, f"{100 * effect:g}", name, *(f"{100 * e:.1f}" for e in summary)])
        print(rows[-1], file=sys.stderr)
    head = ["runs of the history", "effect of a run, points", "rule", "truth: fails %",
            "false alarms, median %", "lower limit, median %", "upper limit, median %",
            "limits hold the truth %"]  # fmt: skip
    return (
        f"{sets} histories a row, {len(hits)} in all, whose limits hold the truth in"
        f" {100 * np.mean(hits):.1f} %; {tasks} tasks × {n}, rates Beta(.5, .5), the last 5 runs"
        f" pooled; truth by 8,000 pairs of a history and a run\n\n{table(head, rows)}"
    )


def _history(tasks: int, n: int, runs: int) -> PooledBaseline:
    """A history without passes, its last five runs as the baseline."""
    names = [("m", f"r{run:02}", f"2026-01-{run + 1:02}", "rev", "suite", "{}")
             for run in range(runs) for _ in range(tasks)]  # fmt: skip
    task_names = [f"t{t:03}" for t in range(tasks)] * runs
    counts = Counts.from_columns(
        names,
        task_names,
        np.full(len(task_names), n),
        np.zeros(len(task_names), dtype=np.int64),
        RUN_AND_SETTINGS_COLUMNS,
    )
    with NamedTemporaryFile(suffix=".parquet") as file:
        return read_pooled_baseline(lambda *_: counts, Request(), f"{file.name}:last5")


def trial(
    new_n: int | Ints,
    new: Ints,
    old_n: int | Ints,
    old: Ints,
    most: float,
    least: float = 0.0,
    by: str = "estimate",
) -> Ruled:
    """A gate on pass@1 of a run against another one."""
    counts, base = (
        Counts.from_columns(
            [("m",)] * len(c), [f"{t:05d}" for t in range(len(c))], np.broadcast_to(n, c.shape), c
        )
        for n, c in ((new_n, new), (old_n, old))
    )
    gate = GateRunner(
        max_drop={PASS_1: most}, no_regression=True, minimum={PASS_1: least}, min_by=by
    )
    study = Analysis(counts, (PASS_1,), Confidence(resamples=1000), ComparisonOptions())
    sides = BaselineMatch.from_two_files(counts, base, "old")
    return Ruled(study, sides, (PASS_1,), "fail", rules=tuple(gate.active_rules[2:]))


def failing(trials: list[Ruled]) -> tuple[float, float]:
    """Shares that --max-drop and --no-regression fail."""
    _, regression, drop = (verdicts(trials, place) for place in range(3))
    return float(np.mean(drop == "fail")), float(np.mean(regression == "fail"))


def verdicts(trials: list[Ruled], place: int) -> NDArray[np.str_]:
    if place == 0:  # Each trial has a separate minimum.
        outcomes = [context.rules[place].judge([context])[0] for context in trials]
    else:
        outcomes = trials[0].rules[place].judge(trials)
    return np.array([outcome[0].verdict for outcome in outcomes])


def sets() -> Iterator[tuple[str, Ints, Ints, int]]:
    """(name, n, c, attempts of either half) of real runs, every eighth task of CRUXEval."""
    tau = passk_cli.read(DATA / "tau_bench" / "gpt-4o-airline.json")
    for half in (1, 2):
        yield f"tau-bench gpt-4o, 50 × {half}", tau.n, tau.c, half
    for name in ("codellama-7b_temp0.2", "codellama-7b_temp0.8", "gpt-4-0613_temp0.8"):
        counts = passk_cli.read(DATA / "cruxeval" / f"{name}.json.gz")
        for half, step in ((1, 8), (2, 8), (5, 8)):
            n, c = counts.n[::step], counts.c[::step]
            yield f"{name.replace('_temp', ' T ')}, {len(n)} × {half}", n, c, half


def halves(n: Ints, c: Ints, half: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Passes among two sets of attempts of each task without one in common."""
    first = rng.hypergeometric(c, n - c, half)
    return first, rng.hypergeometric(c - first, n - c - (half - first), half)


def rehearsed(splits: int) -> str:
    rows = []
    for name, n, c, half in sets():
        rng = np.random.default_rng([len(n), half, int(c.sum())])
        pairs = [halves(n, c, half, rng) for _ in range(splits)]
        real = [trial(half, b, half, a, 0.02, _minimum_rate(a, half)) for a, b in pairs]
        row: list[object] = [name]
        stages = []
        for a, _ in pairs[:REHEARSED]:
            context = trial(half, a, half, a, 0.02, _minimum_rate(a, half))
            stages.append(
                (
                    simulation_setup(context, context.rules, "pass"),
                    simulation_setup(context, context.rules, "pass", predictive=True),
                )
            )
        for place, verdict in ((0, "fail"), (2, "undecided"), (2, "fail"), (1, "fail")):
            share = float(np.mean(verdicts(real, place) == verdict))
            shares = [_rehearsed(predicted, place, verdict) for _, predicted in stages]
            mean, spread = float(np.mean(shares)), float(np.std(shares, ddof=1))
            error = sqrt(share * (1 - share) / splits + spread**2 / len(shares))
            row.append(f"{100 * share:.1f} / {100 * mean:.1f} ± {100 * error:.1f}")
        row.append(
            _caught([stage for stage, _ in stages[:2]], n, c, half, rng, splits)
            if half > 1
            else "–"
        )
        rows.append(row)
        print(row, file=sys.stderr)
    head = ["data", "--min at 1 point less fails %", "--max-drop .02 undecided %", "fails %",
            "--no-regression fails %", "planted drop caught %"]  # fmt: skip
    return (
        f"{splits} splits, {REHEARSED} rehearsals of 500 runs each; realised / rehearsed ± standard"
        f" error of their difference\n\n{table(head, rows)}"
    )


def _minimum_rate(c: Ints, half: int) -> float:
    return max(float((c / half).mean()) - 0.01, 0.0)


def _rehearsed(stage: SimulationSetup, place: int, verdict: str) -> float:
    odds = next(
        odds for line, odds in stage.verdict_rates_and_gate_failures[0].items() if line[0] == place
    )
    return (odds.failing_count if verdict == "fail" else odds.undecided_count) / odds.runs


def _caught(
    stages: list[SimulationSetup],
    n: Ints,
    c: Ints,
    half: int,
    rng: np.random.Generator,
    splits: int,
) -> str:
    """How often --max-drop fails if the other half loses the share that rehearsals name."""
    shares = []
    for stage in stages:
        line = next(line for line in stage.verdict_rates_and_gate_failures[0] if line[0] == 2)
        shares.append(stage.detectable_drop(line).lost_pass_share)
    if any(share is None for share in shares):
        return "none is"
    lost = float(np.mean([share for share in shares if share is not None]))
    pairs = (halves(n, c, half, rng) for _ in range(splits))
    trials = [trial(half, rng.binomial(b, 1 - lost), half, a, 0.02) for a, b in pairs]
    share = float(np.mean(verdicts(trials, 2) == "fail"))
    return f"{100 * share:.0f} ± {100 * sqrt(0.16 / splits):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12_000)
    parser.add_argument("--splits", type=int, default=300)
    parser.add_argument(
        "--only",
        choices=(
            "points",
            "unchanged",
            "suites",
            "undecided",
            "relative",
            "decided",
            "known",
            "histories",
            "rehearsals",
        ),
    )
    arguments = parser.parse_args()
    tables: dict[str, Callable[[], str]] = {
        "points": lambda: points(arguments.runs),
        "unchanged": lambda: unchanged(arguments.runs // 12),
        "suites": lambda: suites(arguments.runs // 60),
        "undecided": lambda: undecided(arguments.runs // 6),
        "relative": lambda: relative(arguments.runs // 12),
        "decided": lambda: decided(arguments.runs // 40),
        "known": lambda: rehearsals_at_known_rates(arguments.splits // 6),
        "histories": lambda: histories(arguments.splits // 10),
        "rehearsals": lambda: rehearsed(arguments.splits),
    }
    for name, make in tables.items():
        if arguments.only in (None, name):
            keep(name, make(), "gate.md")


if __name__ == "__main__":
    main()
