"""Coverage and width of numbers that labels correct, and the size of their differences."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import table

from passk_cli.inference.difference import difference_law
from passk_cli.inference.intervals import METHODS, Sample
from passk_cli.inference.labels import Corrected, Labels
from passk_cli.metrics.registry import Metric, parse


@dataclass(frozen=True)
class Judge:
    """A judge's errors: the rate of false passes and of false failures, and how alike they are
    within a task: the correlation of the errors of two of its attempts."""

    false_pass: float
    false_fail: float
    alike: float = 0.0

    def verdicts(self, rng: np.random.Generator, truth: Any) -> Any:
        """Of attempts, (tasks × n) of 0 and 1."""
        rates = []
        for rate in (self.false_pass, self.false_fail):
            if 0 < rate < 1 and self.alike:
                size = 1 / self.alike - 1
                rates.append(rng.beta(rate * size, (1 - rate) * size, (len(truth), 1)))
            else:
                rates.append(np.full((len(truth), 1), rate))
        wrong = rng.random(truth.shape) < np.where(truth == 1, rates[1], rates[0])
        return np.where(wrong, 1 - truth, truth)


@dataclass(frozen=True)
class Data:
    """A draw: verdict and truth of each attempt, (tasks × most attempts); n of each task."""

    verdict: Any
    truth: Any
    n: Any

    def labelled(self, rng: np.random.Generator, labels: int, k: int) -> Labels:
        """Labels at so many attempts at random, or k in each of labels / k tasks where k is above
        0."""
        there = np.arange(self.verdict.shape[1]) < self.n[:, None]
        if k:
            size = min(k, int(self.n.max()))
            order = rng.random(there.shape)
            order[~there] = 2.0
            first = np.argsort(np.argsort(order, axis=1), axis=1) < size
            tasks = rng.permutation(len(self.n))[: max(labels // size, 2)]
            seen = first & there & np.isin(np.arange(len(self.n)), tasks)[:, None]
        else:
            seen = np.zeros(there.shape, dtype=bool)
            places = np.flatnonzero(there)
            seen.ravel()[rng.choice(places, min(labels, len(places)), replace=False)] = True
        table = np.zeros((len(self.n), 2, 2), dtype=np.int64)
        for v in (0, 1):
            for y in (0, 1):
                at = seen & (self.verdict == v) & (self.truth == y)
                table[:, v, y] = at.sum(axis=1)
        return Labels(self.n, (self.verdict * there).sum(axis=1).astype(np.int64), table)


def draw(rng: np.random.Generator, rates: tuple[float, float], judge: Judge, n: Any) -> Data:
    """Tasks of Beta rates with n attempts each."""
    rate = rng.beta(*rates, len(n)) if all(rates) else np.full(len(n), float(rates[0] > 0))
    truth = (rng.random((len(n), n.max())) < rate[:, None]).astype(int)
    return Data(judge.verdicts(rng, truth), truth, n)


def target(metric: Metric, rates: tuple[float, float]) -> float:
    """The metric's mean over all tasks of Beta rates."""
    if not all(rates):
        return float(rates[0] > 0)
    a, b = rates if metric.family == "pass^" else rates[::-1]
    j = np.arange(metric.k)
    power = float(np.prod((a + j) / (a + b + j)))
    return power if metric.family == "pass^" else 1 - power


def limits(each: Corrected) -> tuple[float, float]:
    """Of the mean."""
    sample = Sample(
        each.values, hidden=each.hidden, degrees=each.degrees, open_ends=each.open_ends
    )  # fmt: skip
    ends: tuple[float, float] = METHODS["logit-t"].limits(sample, 0.025)
    return ends


def attempts(rng: np.random.Generator, tasks: int, n: int) -> Any:
    """n of each task; of −n between 2 and n, unequally."""
    return np.full(tasks, n) if n > 0 else rng.integers(2, -n + 1, tasks)


@dataclass(frozen=True)
class Cell:
    """Tasks, attempts (below 0: unequal, up to so many), labels, and labels of a task (0: scattered
    over attempts)."""

    tasks: int
    n: int
    labels: int
    k: int

    @property
    def metrics(self) -> list[Metric]:
        """Those that such labels correct."""
        ks = [1, self.k] if self.k > 1 else [1, 2] if abs(self.n) > 1 else [1]
        names = [f"{family}{k}" for k in ks for family in ("pass@", "pass^")[: 1 + (k > 1)]]
        return [parse(name) for name in names]

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
         "Beta(.3, .2)": (0.3, 0.2), "all pass": (1, 0), "all fail": (0, 1)}  # fmt: skip
CELLS = [
    Cell(50, 1, 50, 0), Cell(164, 1, 100, 0), Cell(50, 5, 50, 0), Cell(50, 5, 120, 0),
    Cell(164, 10, 100, 0), Cell(164, 10, 200, 0), Cell(200, -6, 150, 0), Cell(500, 4, 200, 0),
    Cell(500, 4, 400, 0), Cell(50, 10, 30, 0), Cell(40, 3, 30, 0), Cell(50, 5, 75, 5),
    Cell(50, 2, 30, 2), Cell(50, 3, 60, 3), Cell(164, 10, 100, 5), Cell(164, 10, 400, 10),
    Cell(200, -6, 100, 2), Cell(500, 8, 400, 8), Cell(20, 4, 60, 4), Cell(3, 50, 100, 0),
]  # fmt: skip


def covers(
    rates: tuple[float, float], judge: Judge, cell: Cell, runs: int, seed: int = 0
) -> Iterator[tuple[str, float, float, float, float]]:
    """Metric, coverage, width, the judge's own coverage, and the share of runs that are refused."""
    rng, metrics = np.random.default_rng(seed), cell.metrics
    got = np.full((4, runs, len(metrics)), np.nan)
    for run in range(runs):
        data = draw(rng, rates, judge, attempts(rng, cell.tasks, cell.n))
        known = data.labelled(rng, cell.labels, cell.k)
        for at, metric in enumerate(metrics):
            value = target(metric, rates)
            those = known.on(np.flatnonzero(known.n >= metric.k))
            refused = bool(those.refusal(metric))
            got[3, run, at] = refused
            if refused:
                continue
            low, high = limits(those.corrected(metric))
            judged = metric.values(those.n, those.c)
            reach = 1.96 * judged.std(ddof=1) / len(judged) ** 0.5
            got[:3, run, at] = (
                low - 1e-12 <= value <= high + 1e-12,
                high - low,
                (abs(judged.mean() - value) <= reach),
            )
    for at, metric in enumerate(metrics):
        refused = got[3, :, at].mean()
        if refused < 0.5:
            inside, width, naive = (float(np.nanmean(each[:, at])) for each in got[:3])
            yield metric.name, inside, width, naive, refused


def rejects(
    rates: tuple[float, float], judges: tuple[Judge, Judge], cell: Cell, metric: Metric,
    runs: int, seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Share of runs in which two models with the same rates differ: corrected, and judged."""
    rng = np.random.default_rng(seed)
    found = np.zeros((runs, 2))
    for run in range(runs):
        size = attempts(rng, cell.tasks, cell.n)
        rate = rng.beta(*rates, cell.tasks)[:, None]
        sides, plain = [], []
        for judge in judges:
            truth = (rng.random((cell.tasks, size.max())) < rate).astype(int)
            data = Data(judge.verdicts(rng, truth), truth, size)
            known = data.labelled(rng, cell.labels, cell.k)
            sides.append(known.corrected(metric))
            plain.append(metric.values(known.n, known.c))
        law = difference_law(
            sides[0].values - sides[1].values, 1.0, hidden=sum(each.hidden for each in sides),
            degrees=min(each.degrees for each in sides),
        )  # fmt: skip
        found[run] = law.p()[0] <= 0.05, difference_law(plain[0] - plain[1], 1.0).p()[0] <= 0.05
    corrected, judged = found.mean(axis=0).tolist()
    return corrected, judged


def of_coverage(runs: int) -> str:
    """The situations with the lowest coverage, and all of them by design."""
    rows: list[tuple[Any, ...]] = []
    for place, cell in enumerate(CELLS):
        for judge, errors in JUDGES.items():
            for name, rates in RATES.items():
                for metric, inside, width, naive, refused in covers(
                    rates, errors, cell, runs, seed=place
                ):
                    rows.append((inside, cell, judge, name, metric, width, naive, refused))
    rows.sort(key=lambda row: row[0])
    again = []
    for inside, cell, judge, name, metric, *_ in rows[:40]:
        # By chance some of many are low: the lowest are run once more, ten times as long.
        drawn = covers(RATES[name], JUDGES[judge], cell, 10 * runs, seed=1000)
        ((more, width, naive, refused),) = [rest for named, *rest in drawn if named == metric]
        again.append((more, inside, cell.words, judge, name, metric, width, naive, refused))
    low = [
        (*words, f"{more:.3f}", f"{inside:.3f}", f"{width:.2f}", f"{naive:.2f}",
         f"{100 * refused:.0f}")
        for more, inside, *words, width, naive, refused in sorted(again, key=lambda row: row[0])
    ][:12]  # fmt: skip
    heads = ("data, labels of a model", "judge", "rates", "metric", "covers", "at first", "width",
             "judged covers", "refused %")  # fmt: skip
    designs = []
    for cell in CELLS:
        for metric in cell.metrics:
            own = [row for row in rows if row[1] == cell and row[4] == metric.name]
            if own:
                inside, width, naive = (np.array([row[at] for row in own]) for at in (0, 5, 6))
                designs.append((
                    cell.words, metric.name, len(own), f"{inside.min():.3f}",
                    f"{inside.mean():.3f}", f"{width.mean():.2f}", f"{naive.mean():.2f}",
                ))  # fmt: skip
    covered = np.array([row[0] for row in rows])
    summary = (
        f"{len(rows):,} situations of {runs:,} runs; mean {covered.mean():.3f},"
        f" below .94: {np.count_nonzero(covered < 0.94)}; of the lowest {len(again)}, run again:"
        f" {min(row[0] for row in again):.3f} to {max(row[0] for row in again):.3f}"
    )
    wide = ("data, labels of a model", "metric", "situations", "lowest", "mean covers",
            "mean width", "judged covers")  # fmt: skip
    return "\n\n".join([summary, table(wide, designs), "The lowest:", table(heads, low)])


def of_sizes(runs: int) -> str:
    """Equal models, and a judge that is kinder to one."""
    rows = []
    kinds = {
        "kinder to one": (Judge(0.25, 0.05, 0.3), Judge(0.05, 0.05, 0.3)),
        "stricter to one": (Judge(0.05, 0.3), Judge(0.05, 0.05)),
        "alike": (Judge(0.18, 0.0, 0.67), Judge(0.18, 0.0, 0.67)),
    }
    cells = [
        Cell(164, 1, 100, 0), Cell(164, 5, 100, 0), Cell(100, 5, 200, 0), Cell(50, 5, 60, 0),
        Cell(164, 5, 100, 5), Cell(50, 5, 75, 5), Cell(20, 4, 60, 4), Cell(200, -6, 100, 2),
    ]  # fmt: skip
    for name, judges in kinds.items():
        for rates in ((1, 1), (0.3, 0.2), (0.5, 3)):
            for place, cell in enumerate(cells):
                for metric in (
                    cell.metrics[:: max(len(cell.metrics) - 1, 1)] if cell.k else [cell.metrics[0]]
                ):
                    own, judged = rejects(rates, judges, cell, metric, runs, seed=place)
                    rows.append((name, str(rates), cell.words, metric.name, own, judged))
    rows.sort(key=lambda row: -row[4])
    own, judged = (np.array([row[at] for row in rows]) for at in (4, 5))
    shown = [(*row[:4], f"{100 * row[4]:.1f}", f"{100 * row[5]:.0f}") for row in rows[:10]]
    summary = (
        f"{len(rows)} situations of {runs:,} runs; corrected: mean {100 * own.mean():.1f} %, most"
        f" {100 * own.max():.1f}; judged: mean {100 * judged.mean():.0f}, most"
        f" {100 * judged.max():.0f}"
    )
    heads = ("judge", "rates", "data, labels of a model", "metric", "corrected %", "judged %")
    return "\n\n".join([summary, table(heads, shown)])


def of_pair(files: list[str], runs: int) -> str:
    """A real pair: EvalPlus's base tests as judge, base and plus tests as truth; tasks and labels
    drawn anew."""
    rows = []
    for file in files:
        records = json.loads(Path(file).read_text())["eval"]
        base, plus = (
            np.array([[a[key] == "pass" for a in each] for each in records.values()])
            for key in ("base_status", "plus_status")
        )
        truth, n = (base & plus).astype(int), np.full(len(base), base.shape[1])
        verdict, rng = base.astype(int), np.random.default_rng(0)
        for labels, k in ((100, 0), (200, 0), (400, 0), (100, 5), (200, 5), (400, 5)):
            cell = Cell(len(n), int(n[0]), labels, k)
            values = {m: m.values(n, truth.sum(axis=1)).mean() for m in cell.metrics}
            inside = {m.name: list[tuple[bool, float, bool]]() for m in values}
            for _ in range(runs):
                tasks = rng.integers(0, len(n), len(n))
                known = Data(verdict[tasks], truth[tasks], n).labelled(rng, labels, k)
                for metric, value in values.items():
                    if known.refusal(metric):
                        continue
                    low, high = limits(known.corrected(metric))
                    judged = metric.values(known.n, known.c)
                    reach = 1.96 * judged.std(ddof=1) / len(judged) ** 0.5
                    inside[metric.name].append(
                        (low <= value <= high, high - low, abs(judged.mean() - value) <= reach)
                    )
            for metric, value in values.items():
                if len(inside[metric.name]) > runs / 2:
                    got = np.array(inside[metric.name], dtype=float).mean(axis=0)
                    judged = metric.values(n, verdict.sum(axis=1)).mean()
                    rows.append((
                        Path(file).parent.name, cell.words, metric.name,
                        f"{value:.3f}", f"{judged:.3f}",
                        f"{got[0]:.3f}", f"{got[1]:.2f}", f"{got[2]:.2f}",
                    ))  # fmt: skip
    heads = ("run", "data, labels", "metric", "true", "judged", "covers", "width",
             "judged covers")  # fmt: skip
    return table(heads, rows)


if __name__ == "__main__":
    what, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    if what == "pair":
        print(of_pair(sys.argv[3:], runs))
    else:
        print({"coverage": of_coverage, "sizes": of_sizes}[what](runs))
