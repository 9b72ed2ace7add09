"""Coverage and width of numbers that labels correct, and the size of their differences.

Run: python benchmarks/judge.py coverage 200 | sizes 500 | rates 300
     python benchmarks/judge.py pair 250 RUN/eval_results.json …
Writes its tables into benchmarks/judge.md.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import keep, table

from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.intervals import LOGIT_T, IntervalData, interval, intervals
from passk_cli.inference.judge_correction import (
    FEWEST_PAIRS,
    MIN_BOTH_PASS_OR_FAIL_PROBABILITY,
    MIN_TASKS_OFF_BOUND,
    JudgeLabels,
    cohens_kappa_scaled_to_0_1,
    error_rate,
)
from passk_cli.metrics.registry import Metric, parse_metric

# So many of the lowest situations are run again, so often.
LOWEST, AGAIN = 60, 1000


@dataclass(frozen=True)
class Judge:
    """A judge's errors: the rate of false passes and of false failures, and how alike they are
    within a task: the correlation of the errors of two of its attempts."""

    false_pass: float
    false_fail: float
    error_correlation: float = 0.0

    def verdicts(self, rng: np.random.Generator, truth: Any) -> Any:
        """The verdicts of attempts, (runs × tasks × n)."""
        rates = []
        for rate in (self.false_pass, self.false_fail):
            if 0 < rate < 1 and self.error_correlation:
                size = 1 / self.error_correlation - 1
                rates.append(rng.beta(rate * size, (1 - rate) * size, (*truth.shape[:2], 1)))
            else:
                rates.append(rate)
        return truth ^ (rng.random(truth.shape) < np.where(truth, rates[1], rates[0]))


@dataclass(frozen=True)
class Draws:
    """Many draws of one situation: n of each task, (runs × tasks); verdict, truth and whether there
    is a label, of each attempt, (runs × tasks × most attempts), false beyond n."""

    n: Any
    verdict: Any
    truth: Any
    has_label: Any
    k: int

    @classmethod
    def labelled(
        cls, rng: np.random.Generator, verdict: Any, truth: Any, n: Any, labels: int, k: int
    ) -> Draws:
        """Labels of that many random attempts, or k labels in each of labels / k tasks if k is
        above 0. The order of tasks and attempts is random."""
        present = np.arange(verdict.shape[2]) < n[:, :, None]
        if k:
            visible = present & (np.arange(verdict.shape[2]) < k)
            visible[:, max(labels // k, 2) :] = False
        else:
            order = np.where(present, rng.random(present.shape), 2.0).reshape(len(n), -1)
            most = np.sort(order, axis=1)[:, min(labels, order.shape[1]) - 1]
            visible = (order <= most[:, None]).reshape(present.shape) & present
        return cls(n, verdict & present, truth & present, visible, k)

    def counts(self) -> tuple[Any, Any, Any]:
        """Passing verdicts, and labelled attempts by verdict and truth."""
        by_verdict = [self.has_label & (self.verdict == bool(v)) for v in (0, 1)]
        table = [[(group & (self.truth == bool(y))).sum(2) for y in (0, 1)] for group in by_verdict]
        return (
            self.verdict.sum(2),
            np.moveaxis(np.array(table), (0, 1), (2, 3)),
            self.has_label.sum(2),
        )

    def samples(self, metric: Metric) -> list[IntervalData | None]:
        """The corrected values of each run, computed for all runs at once.

        Some of them are compared with `JudgeLabels`, which corrects one run. A value is None if
        passk refuses.
        """
        c, table, label_counts = self.counts()
        g = values(metric, self.n, c)
        if np.array_equal(label_counts, self.n):
            return [
                IntervalData(values_of_run)
                for values_of_run in values(metric, self.n, table[..., 1].sum(2))
            ]
        estimates = self._by_task(metric, g, table) if self.k else self._scattered(metric, c, table)
        # Where every task happens to have several labels, they are taken for labels by task.
        several = (
            np.where((label_counts > 0) & (label_counts < self.n), label_counts, 2).min(axis=1) > 1
        )
        for run in {0, len(g) - 1, *np.flatnonzero(several & (self.k == 0)).tolist()}:
            labels = JudgeLabels(self.n[run], c[run], table[run])
            if bool(labels.min_labels_per_labelled_task) != bool(self.k):
                estimates[run] = None
                if not labels.refusal_reason(metric):
                    estimates[run] = IntervalData(**labels.corrected(metric)._asdict())
                continue
            result, same = (
                estimates[run],
                None if labels.refusal_reason(metric) else labels.corrected(metric),
            )
            assert (result is None) == (same is None), (metric, run)
            if result is not None and same is not None:
                np.testing.assert_allclose(result.values, same.values, atol=1e-12)
                np.testing.assert_allclose(result.hidden_variance, same.hidden_variance, atol=1e-12)
                assert (
                    result.label_degrees_of_freedom,
                    result.labelled_values_near_bound is None,
                ) == (
                    same.label_degrees_of_freedom,
                    same.labelled_values_near_bound is None,
                )
        return estimates

    def _by_task(self, metric: Metric, g: Any, table: Any) -> list[IntervalData | None]:
        m, tasks = int((table[0].sum((1, 2)) > 0).sum()), g.shape[1]
        label_counts, true = table[:, :m].sum((2, 3)), table[:, :m, :, 1].sum(2)
        u, task_shares = values(metric, label_counts, true), g[:, :m]
        away = task_shares - task_shares.mean(1, keepdims=True)
        spread = (away**2).sum(1)
        slope = (away * (u - u.mean(1, keepdims=True))).sum(1) / np.where(spread > 0, spread, 1)
        slope = np.where(spread > 0, slope, 0).clip(0, 1)[:, None]
        residuals = u - slope * task_shares
        mean = residuals.mean(1, keepdims=True)
        estimates = slope * g + mean
        estimates[:, :m] += (residuals - mean) * tasks / np.sqrt(m * max(m - 2, 1))
        off = np.min([np.abs(u - task_shares).sum(1), u.sum(1), (1 - u).sum(1)], axis=0)
        hidden = unseen(off, m) * (1 / m - slope[:, 0] ** 2 / tasks)
        rare = np.minimum((u > 1e-12).sum(1), (u < 1 - 1e-12).sum(1)) < MIN_TASKS_OFF_BOUND
        return [
            IntervalData(
                estimate,
                hidden_variance=more,
                label_degrees_of_freedom=m - 1,
                labelled_values_near_bound=labelled if few else None,
            )
            for estimate, more, labelled, few in zip(estimates, hidden, u, rare, strict=True)
        ]

    def _scattered(self, metric: Metric, c: Any, table: Any) -> list[IntervalData | None]:
        complement, n, k = metric.family == "pass@", self.n, metric.k
        size = np.stack([n - c, c], axis=2)
        code = 2 * (2 * c > n)[:, :, None] + np.arange(2)
        label_counts, true = table.sum(3), table[..., 1]
        runs = np.arange(len(n))[:, None, None]
        total, labels, passing = (
            np.array([np.where(code == s, amounts, 0).sum((1, 2)) for s in range(4)]).T
            for amounts in (size, label_counts, true)
        )
        mu = np.where(labels > 0, passing / np.maximum(labels, 1), 0.5)
        part = np.where(total > 0, labels / np.maximum(total, 1), 1.0)
        mean, share = mu[runs, code], part[runs, code]
        divided = np.maximum(share, 1e-300)
        scores = np.stack([mean, mean - mean / divided, mean + (1 - mean) / divided], axis=3)
        often = np.concatenate([(size - label_counts)[..., None], table], axis=3)
        scores = np.where(often > 0, 1 - scores if complement else scores, 0.0)
        first, second = (often * scores).sum((2, 3)), (often * scores**2).sum((2, 3))
        slope = np.broadcast_to(1 / n[:, :, None], mean.shape)
        estimates = first / n
        if k == 2:
            pairs = n * (n - 1)
            estimates, level = (first**2 - second) / pairs, 1 - mean if complement else mean
            slope = 2 * ((size * level).sum(2, keepdims=True) - level) / pairs[:, :, None]
        hidden = np.zeros(len(n))
        for s in range(4):
            weight = (np.where(code == s, size * slope, 0)).sum((1, 2)) / n.shape[1]
            label_totals = np.maximum(labels[:, s], 1)
            more = np.where(
                labels[:, s] > 0, unseen(passing[:, s], label_totals) / label_totals, 0.25
            )
            hidden += np.where(total[:, s] > 0, (1 - part[:, s]) * weight**2 * more, 0)
        estimates = 1 - estimates if complement else estimates
        of_task = label_counts.sum(2)
        pair_count = (of_task * (of_task - 1) // 2).sum(1)
        rare = 1 - estimates.mean(1) if complement else estimates.mean(1)
        refused = (k == 2) & (
            (pair_count < FEWEST_PAIRS) | (rare < MIN_BOTH_PASS_OR_FAIL_PROBABILITY)
        )
        samples = []
        for run, estimate in enumerate(estimates):
            full = of_task[run] >= k
            u = values(metric, of_task[run][full], true[run].sum(1)[full])
            few = u if u.size and u.min() == u.max() and u.min() in (0, 1) else None
            degrees = (of_task[run] > 0).sum() - 1
            sample = IntervalData(
                estimate,
                hidden_variance=hidden[run],
                label_degrees_of_freedom=degrees,
                labelled_values_near_bound=few,
            )
            samples.append(None if refused[run] else sample)
        return samples


def values(metric: Metric, n: Any, c: Any) -> Any:
    """The metric of counts, looked up."""
    most = int(n.max()) + 1
    lookup = np.full((most, most), np.nan)
    for size in range(metric.k, most):
        lookup[size, : size + 1] = metric.values(np.full(size + 1, size), np.arange(size + 1))
    return lookup[n, c]


def unseen(errors: Any, labels: Any) -> Any:
    """The variance of an error that labels may hide."""
    rate, more = errors / labels, (errors + 0.5) / (labels + 1)
    return np.maximum(more * (1 - more) - rate * (1 - rate), 0)


def draw(
    rng: np.random.Generator, rate: Any, judge: Judge, n: Any, labels: int, k: int
) -> Draws:  # fmt: skip
    """Attempts of tasks with these rates, (runs × tasks)."""
    truth = rng.random((*n.shape, n.max())) < rate[:, :, None]
    return Draws.labelled(rng, judge.verdicts(rng, truth), truth, n, labels, k)


def rates_of(rng: np.random.Generator, rates: tuple[float, float], size: tuple[int, int]) -> Any:
    """Success rates of tasks, from a Beta distribution, or all 0 or 1."""
    return rng.beta(*rates, size) if all(rates) else np.full(size, float(rates[0] > 0))


def target(metric: Metric, rates: tuple[float, float]) -> float:
    """The metric's mean over all tasks of Beta rates."""
    if not all(rates):
        return float(rates[0] > 0)
    a, b = rates if metric.family == "pass^" else rates[::-1]
    j = np.arange(metric.k)
    power = float(np.prod((a + j) / (a + b + j)))
    return power if metric.family == "pass^" else 1 - power


def shares(
    samples: Sequence[IntervalData | None], judged: Any, value: float
) -> tuple[float, float, float, float] | None:
    """How many intervals contain the value, their mean width, how many of the judge's intervals
    contain it, and how many runs passk refuses. None if it refuses most runs."""
    defined = [sample for sample in samples if sample is not None]
    if len(defined) < len(samples) / 2:
        return None
    ends = intervals(defined)
    low, high = np.array([(sample.low, sample.high) for sample in ends], dtype=float).T
    g = judged[[sample is not None for sample in samples]]
    naive = np.abs(g.mean(1) - value) <= 1.96 * g.std(1, ddof=1) / g.shape[1] ** 0.5
    inside = (low - 1e-12 <= value) & (value <= high + 1e-12)
    return (
        float(inside.mean()), float((high - low).mean()), float(naive.mean()),
        1 - len(defined) / len(samples),
    )  # fmt: skip


def attempts(rng: np.random.Generator, runs: int, tasks: int, n: int) -> Any:
    """n of each task; of −n between 2 and n, unequally."""
    size = (runs, tasks)
    return np.full(size, n) if n > 0 else rng.integers(2, -n + 1, size)


@dataclass(frozen=True)
class Cell:
    """Tasks, attempts (below 0: unequal, up to that many), labels, and labels of a task (0:
    scattered over attempts)."""

    tasks: int
    n: int
    labels: int
    k: int

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that these labels correct."""
        ks = [1, self.k] if self.k > 1 else [1, 2] if abs(self.n) > 1 else [1]
        names = [f"{family}{k}" for k in ks for family in ("pass@", "pass^")[: 1 + (k > 1)]]
        return [parse_metric(name) for name in names]

    @property
    def words(self) -> str:
        """For a table."""
        n = f"2–{-self.n}" if self.n < 0 else str(self.n)
        design = f"{self.k} in each task" if self.k else "scattered"
        return f"{self.tasks} × {n}, {self.labels} {design}"


JUDGES = {
    "errs by itself": Judge(0.08, 0.1), "weak tests": Judge(0.18, 0.0, 0.67),
    "strict": Judge(0.0, 0.15, 0.3), "bad": Judge(0.3, 0.2, 0.3), "never errs": Judge(0.0, 0.0),
    "hardly errs": Judge(0.01, 0.01),
}  # fmt: skip
RATES = {"Beta(1, 1)": (1, 1), "Beta(4, .7)": (4, 0.7), "Beta(.5, 3)": (0.5, 3),
         "Beta(.3, .2)": (0.3, 0.2), "Beta(.05, 1)": (0.05, 1), "Beta(1, .03)": (1, 0.03),
         "all pass": (1, 0), "all fail": (0, 1)}  # fmt: skip
CELLS = [
    Cell(50, 1, 50, 0), Cell(164, 1, 100, 0), Cell(50, 5, 50, 0), Cell(50, 5, 120, 0),
    Cell(164, 10, 100, 0), Cell(164, 10, 200, 0), Cell(200, -6, 150, 0), Cell(500, 4, 200, 0),
    Cell(500, 4, 400, 0), Cell(50, 10, 30, 0), Cell(40, 3, 30, 0), Cell(50, 5, 75, 5),
    Cell(50, 2, 30, 2), Cell(50, 3, 60, 3), Cell(164, 10, 100, 5), Cell(164, 10, 400, 10),
    Cell(200, -6, 100, 2), Cell(500, 8, 400, 8), Cell(20, 4, 60, 4),
    Cell(100, 1, 50, 0), Cell(500, 1, 400, 0), Cell(100, 10, 400, 0), Cell(100, 4, 60, 4),
    Cell(200, 3, 150, 3), Cell(500, 10, 200, 10), Cell(100, 2, 50, 2), Cell(50, 10, 250, 5),
]  # fmt: skip


def covers(
    rates: tuple[float, float], judge: Judge, cell: Cell, runs: int, seed: int = 0
) -> Iterator[tuple[str, float, float, float, float]]:
    """Metric, coverage, width, the judge's own coverage, and the share of runs that are refused."""
    rng = np.random.default_rng(seed)
    size = attempts(rng, runs, cell.tasks, cell.n)
    rate = rates_of(rng, rates, size.shape)
    draws = draw(rng, rate, judge, size, cell.labels, cell.k)
    for metric in cell.metrics:
        judged = values(metric, size, draws.verdict.sum(2))
        results = shares(draws.samples(metric), judged, target(metric, rates))
        if results is not None:
            yield metric.name, *results


def rejects(
    rates: tuple[float, float], judges: tuple[Judge, Judge], cell: Cell, runs: int, seed: int = 0
) -> Iterator[tuple[str, float, float]]:
    """The metric, and the share of runs in which two models with the same rates differ: corrected,
    and judged."""
    rng = np.random.default_rng(seed)
    size = attempts(rng, runs, cell.tasks, cell.n)
    rate = rates_of(rng, rates, size.shape)
    sides = [draw(rng, rate, judge, size, cell.labels, cell.k) for judge in judges]
    for metric in cell.metrics:
        sample_pairs = [
            (first, second)
            for first, second in zip(*(side.samples(metric) for side in sides), strict=True)
            if first is not None and second is not None
        ]
        if len(sample_pairs) < runs / 2:
            continue
        law = difference_distribution(
            np.array([first.values - second.values for first, second in sample_pairs]), 1.0,
            hidden=[first.hidden + second.hidden for first, second in sample_pairs],
            degrees=min(sample.degrees or cell.tasks - 1 for pair in sample_pairs for sample
            in pair),
        )  # fmt: skip
        plain = [values(metric, size, side.verdict.sum(2)) for side in sides]
        judged = difference_distribution(plain[0] - plain[1], 1.0).p() <= 0.05
        yield metric.name, float((law.p() <= 0.05).mean()), float(judged.mean())


def of_coverage(runs: int) -> dict[str, str]:
    """All situations by design, and those with the lowest coverage, run again."""
    rows: list[tuple[Any, ...]] = []
    for place, cell in enumerate(CELLS):
        for judge, errors in JUDGES.items():
            for name, rates in RATES.items():
                for metric, *results in covers(rates, errors, cell, runs, seed=place):
                    rows.append((*results, cell, judge, name, metric))
        print(cell.words, len(rows), f"{time.process_time():.0f} s", flush=True)
    rows.sort(key=lambda row: row[0])
    results_by_cell, again = dict[tuple[Any, ...], Any](), []
    for inside, *_, cell, judge, name, metric in rows[:LOWEST]:
        # By chance some of many are low.
        if (cell, judge, name) not in results_by_cell:
            results = covers(RATES[name], JUDGES[judge], cell, AGAIN, seed=1000)
            results_by_cell[cell, judge, name] = {
                metric_name: numbers for metric_name, *numbers in results
            }
        more, width, naive, refused = results_by_cell[cell, judge, name][metric]
        again.append((
            cell.words, judge, name, metric, f"{more:.3f}", f"{inside:.3f}", f"{width:.2f}",
            f"{naive:.2f}", f"{100 * refused:.0f}",
        ))  # fmt: skip
    again.sort(key=lambda row: float(row[4]))
    heads = ("data, labels of a model", "judge", "rates", "metric", "covers", "at first", "width",
             "judged covers", "refused %")  # fmt: skip
    designs = []
    for cell in CELLS:
        for metric in cell.metrics:
            selection = [row[:3] for row in rows if row[4] == cell and row[7] == metric.name]
            if selection:
                inside, width, naive = map(np.array, zip(*selection, strict=True))
                designs.append((
                    cell.words, metric.name, len(selection), f"{inside.min():.3f}",
                    f"{inside.mean():.3f}", f"{width.mean():.2f}", f"{naive.mean():.2f}",
                ))  # fmt: skip
    covered = np.array([row[0] for row in rows])
    summary = (
        f"{len(rows):,} situations of {runs:,} runs: mean {covered.mean():.3f},"
        f" {np.count_nonzero(covered < 0.94)} below .94, lowest {covered.min():.3f}. The lowest"
        f" {len(again)} again, {AGAIN:,} runs: {again[0][4]} to {again[-1][4]}."
    )
    wide = ("data, labels of a model", "metric", "situations", "lowest", "mean covers",
            "mean width", "judged covers")  # fmt: skip
    designs_of = f"{summary}\n\n{table(wide, designs)}"
    return {"coverage": designs_of, "lowest": table(heads, again)}


KINDS = {
    "kinder to one": (Judge(0.25, 0.05, 0.3), Judge(0.05, 0.05, 0.3)),
    "stricter to one": (Judge(0.05, 0.3), Judge(0.05, 0.05)),
    "alike": (Judge(0.18, 0.0, 0.67), Judge(0.18, 0.0, 0.67)),
}  # fmt: skip


def of_sizes(runs: int) -> str:
    """Equal models, and a judge that is kinder to one; the highest run again, six times as long."""
    rows: list[tuple[Any, ...]] = []
    cells = [
        Cell(164, 1, 100, 0), Cell(164, 5, 100, 0), Cell(100, 5, 200, 0), Cell(50, 5, 60, 0),
        Cell(164, 5, 150, 5), Cell(50, 5, 150, 5), Cell(500, 8, 400, 8), Cell(200, -6, 100, 2),
    ]  # fmt: skip
    for name, judges in KINDS.items():
        for rates in ((1, 1), (0.3, 0.2), (0.5, 3), (0.05, 1), (1, 0.03)):
            for place, cell in enumerate(cells):
                rows += [
                    (name, rates, cell, *results)
                    for results in rejects(rates, judges, cell, runs, seed=place)
                ]
    rows.sort(key=lambda row: -row[4])
    label_shares, judged = (np.array([row[at] for row in rows]) for at in (4, 5))
    texts = [highest(row, runs) for row in rows[:10]]
    summary = (
        f"{len(rows)} situations of {runs:,} runs; corrected: mean"
        f" {100 * label_shares.mean():.1f} %, most {100 * label_shares.max():.1f};"
        f" judged: mean {100 * judged.mean():.0f}, most {100 * judged.max():.0f}"
    )
    heads = ("judge", "rates", "data, labels of a model", "metric", "corrected %", "at first",
             "judged %")  # fmt: skip
    return "\n\n".join([summary, table(heads, texts)])


def highest(row: tuple[Any, ...], runs: int) -> tuple[str, ...]:
    """A situation run again."""
    name, rates, cell, metric, first, _ = row
    rejection_rates = np.array([
        numbers
        for seed in range(1000, 1006)
        for metric_name, *numbers in rejects(rates, KINDS[name], cell, runs, seed)
        if metric_name == metric
    ])  # fmt: skip
    corrected, judged = 100 * rejection_rates.mean(axis=0)
    return (name, str(rates), cell.words, metric, f"{corrected:.1f}", f"{100 * first:.1f}",
            f"{judged:.0f}")  # fmt: skip


def of_pair(files: list[str], runs: int) -> str:
    """A real pair: EvalPlus's base tests as judge, base and plus tests as truth, with random tasks
    and labels."""
    rows = []
    for file in files:
        records = json.loads(Path(file).read_text())["eval"]
        base, plus = (
            np.array([[a[key] == "pass" for a in array] for array in records.values()])
            for key in ("base_status", "plus_status")
        )
        truth, n = base & plus, np.full(len(base), base.shape[1])
        verdict, rng = base, np.random.default_rng(0)
        for labels, k in ((100, 0), (200, 0), (400, 0), (100, 5), (200, 5), (400, 5)):
            cell = Cell(len(n), int(n[0]), labels, k)
            tasks = rng.integers(0, len(n), (runs, len(n)))
            # Attempts of a task in a random order.
            at = np.argsort(rng.random((*tasks.shape, n[0])), axis=2)
            parts = (np.take_along_axis(array[tasks], at, axis=2) for array in (verdict, truth))
            draws = Draws.labelled(rng, *parts, n[tasks], labels, k)
            for metric in cell.metrics:
                value, plain = (
                    metric.values(n, array.sum(axis=1)).mean() for array in (truth, verdict)
                )
                judged = values(metric, draws.n, draws.verdict.sum(2))
                results = shares(draws.samples(metric), judged, value)
                if results is not None:
                    inside, width, naive, _ = results
                    rows.append((
                        Path(file).parent.name, cell.words, metric.name, f"{value:.3f}",
                        f"{plain:.3f}", f"{inside:.3f}", f"{width:.2f}", f"{naive:.2f}",
                    ))  # fmt: skip
    heads = ("run", "data, labels", "metric", "true", "judged", "covers", "width",
             "judged covers")  # fmt: skip
    return table(heads, rows)


def of_rates(runs: int) -> str:
    """Error rates and kappa from labels as `passk judge --list` draws them: 100 in all, each
    verdict in tasks that mostly pass and in others by its share, ten at least; 164 tasks × 4."""
    rows = []
    for passing in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95):
        results: dict[str, list[tuple[bool, float, float]]] = {}
        for seed in range(runs):
            rng = np.random.default_rng([seed, round(100 * passing)])
            rates = rng.beta(2 * passing, 2 * (1 - passing), (164, 1))
            truth = rng.random((164, 4)) < rates
            verdict = Judge(0.08, 0.1).verdicts(rng, truth[None])[0]
            labels = JudgeLabels(
                np.full(164, 4), verdict.sum(axis=1), draw_labels(rng, verdict, truth, 100)
            )
            odds = (1 - passing) * 0.92 + passing * 0.9
            judged = passing * 0.9 + (1 - passing) * 0.08
            chance = passing * judged + (1 - passing) * (1 - judged)
            for name, sample, true in (
                ("false passes", error_rate([labels], 0), 0.08),
                ("false failures", error_rate([labels], 1), 0.1),
                (
                    "kappa",
                    cohens_kappa_scaled_to_0_1(labels),
                    ((odds - chance) / (1 - chance) + 1) / 2,
                ),
            ):
                if sample is None:
                    continue
                limits = interval(sample, LOGIT_T, 0.95)
                low, high = limits.low or 0.0, 1.0 if limits.high is None else limits.high
                results.setdefault(name, []).append(
                    (low <= true <= high, high - low, sample.mean - true)
                )
        cells = [str(passing)]
        for name in ("false passes", "false failures", "kappa"):
            holds, width, bias = np.array(results[name], float).mean(axis=0)
            scale = 2 if name == "kappa" else 1
            cells += [f"{100 * holds:.1f}", f"{scale * width:.2f}", f"{scale * bias:+.3f}"]
        rows.append(cells)
        print(cells, flush=True)
    whats = [
        f"{name}: {quantity}" for name in results for quantity in ("covers %", "width", "bias")
    ]
    return table(("pass rate", *whats), rows)


def draw_labels(rng: np.random.Generator, verdict: Any, truth: Any, number: int) -> Any:
    """A table of labels, drawn as --list draws them."""
    stratum = 2 * (2 * verdict.sum(axis=1, keepdims=True) > verdict.shape[1]) + verdict
    labels = np.zeros((len(verdict), 2, 2), dtype=np.int64)
    for code in range(4):
        task, attempt = np.nonzero(stratum == code)
        size = min(max(math.ceil(len(task) * number / verdict.size), 10), len(task))
        sample = rng.choice(len(task), size, replace=False)
        task, attempt = task[sample], attempt[sample]
        np.add.at(
            labels, (task, verdict[task, attempt].astype(int), truth[task, attempt].astype(int)), 1
        )
    return labels


if __name__ == "__main__":
    part, runs = sys.argv[1], int(sys.argv[2])
    tables = {
        "coverage": lambda: of_coverage(runs), "sizes": lambda: {"sizes": of_sizes(runs)},
        "rates": lambda: {"rates": of_rates(runs)},
        "pair": lambda: {"pair": of_pair(sys.argv[3:], runs)},
    }[part]()  # fmt: skip
    for section, text in tables.items():
        keep(section, text, "judge.md")
