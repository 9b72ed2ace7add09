"""Size, coverage, power and width of the distribution of a difference, for pairs and families.

Run: python benchmarks/difference.py [SECTION …] [--runs 1000]
SECTION is tuned, held-out (situations that no constant was chosen on), small (3 to 8 tasks),
audited (cells of an audit of the law before), rare (few tasks change much), few (how often few
tasks decide), family, chosen and unseen (all intervals of ten models together) or many (all pairs
of 134 models); all but many when none is named.  Writes its tables into benchmarks/difference.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from passk_cli.inference.adjust import holm
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.min_p import ModelValuesAndPairs, SharedLevelTests, draw_min_p
from passk_cli.inference.paired_tests import paired_t
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.metrics.registry import parse_metric

PAGE = Path(__file__).with_suffix(".md")
Floats = NDArray[np.float64]
# Draws success rates of (runs × tasks).
Rates = Callable[[np.random.Generator, tuple[int, int]], Floats]
# How the second model's rates come from the first's.
ALIKE, OTHER, SPREAD, WORSE = "same rates", "other rates", "equal means", "worse"
EQUAL = (ALIKE, OTHER, SPREAD)


def beta(a: float, b: float) -> Rates:
    return lambda rng, shape: rng.beta(a, b, shape)


def lumps(share: float, low_rate: float | Rates, elsewhere: float | Rates) -> Rates:
    """A distribution of rates for a share of the tasks, and another one for the rest."""

    def draw_rates(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        sides = [law(rng, shape) if callable(law) else law for law in (low_rate, elsewhere)]
        return np.where(rng.random(shape) < share, *sides)

    return draw_rates


LAWS: dict[str, Rates] = {
    "Beta(2, 2)": beta(2, 2),
    "Beta(9, 1)": beta(9, 1),
    "Beta(.5, .5)": beta(0.5, 0.5),
    "Beta(5, .5)": beta(5, 0.5),
    "Beta(.3, 2)": beta(0.3, 2),
    "bimodal": lumps(0.5, beta(3, 17), beta(17, 3)),
    "U": beta(0.1, 0.1),
    "90 % impossible": lumps(0.9, 0.0, beta(2, 2)),
    "5 % at .2, rest .995": lumps(0.05, 0.2, 0.995),
    "5 % at .8, rest .005": lumps(0.05, 0.8, 0.005),
    "all .3": lambda rng, shape: np.full(shape, 0.3),
}
HELD_OUT: dict[str, Rates] = {
    "Beta(1, 1)": beta(1, 1),
    "Beta(20, 1)": beta(20, 1),
    "Beta(.2, 4)": beta(0.2, 4),
    "three levels": lumps(1 / 3, 0.02, lumps(0.5, 0.5, 0.98)),
    "10 % at .5, rest .95": lumps(0.1, 0.5, 0.95),
    "all .9": lambda rng, shape: np.full(shape, 0.9),
}
TASKS = (13, 37, 50, 100, 211)
ATTEMPTS = ((3, 3), (7, 7), (17, 17), (100, 100), (17, 7), (20, 10), (100, 10))
HELD_TASKS, HELD_ATTEMPTS = (16, 29, 80, 164), ((4, 4), (12, 12), (30, 5), (50, 40), (9, 2))


@dataclass(frozen=True)
class Cell:
    """One situation: a distribution of rates, the kind of difference, tasks, attempts of both, and
    k."""

    law: str
    models: str
    tasks: int
    n: tuple[int, int]
    k: int

    @property
    def step(self) -> float:
        """How much worse the second model is, in logits. The value is smaller for more tasks."""
        return 3.75 / self.tasks**0.5 if self.models == WORSE else 0.0


def cells(
    laws: Sequence[str], tasks: Sequence[int], attempts: Sequence[tuple[int, int]]
) -> list[Cell]:
    """All situations in which values other than 0 and 1 can occur."""
    outcomes = []
    for law, models, size, n in product(laws, (*EQUAL, WORSE), tasks, attempts):
        least = min(n)
        for k in sorted({1, (least + 1) // 2, least}):
            if not (n[0] == n[1] == k):
                outcomes.append(Cell(law, models, size, n, k))
    return outcomes


def rates_of(cell: Cell, rng: np.random.Generator, runs: int) -> tuple[Floats, Floats]:
    law, shape = {**LAWS, **HELD_OUT}[cell.law], (runs, cell.tasks)
    first = law(rng, shape)
    if cell.models == ALIKE:
        return first, first
    if cell.models == OTHER:
        return first, law(rng, shape)
    if cell.models == SPREAD:
        reach = 0.8 * np.minimum(first, 1 - first)
        return first, first + reach * (2 * rng.integers(0, 2, shape) - 1)
    with np.errstate(divide="ignore"):
        return first, 1 / (1 + np.exp(cell.step - np.log(first / (1 - first))))


@cache
def truth(cell: Cell) -> float:
    """The mean difference over the population, from 400,000 tasks."""
    if cell.models in (ALIKE, OTHER):
        return 0.0
    rng = np.random.default_rng(7)
    first, second = rates_of(cell, rng, 400_000 // cell.tasks)
    return float(((1 - second) ** cell.k - (1 - first) ** cell.k).mean())


@dataclass(frozen=True)
class Result:
    """Coverage, share of rejections and mean width of one cell, by the distribution and by
    Student's t."""

    cell: Cell
    covers: tuple[float, float]
    rejects: tuple[float, float]
    width: tuple[float, float]


def differences(cell: Cell, rng: np.random.Generator, runs: int) -> tuple[Floats, Floats]:
    """Differences (runs × tasks), and the floor of their variances."""
    c = [rng.binomial(n, p) for n, p in zip(cell.n, rates_of(cell, rng, runs), strict=True)]
    metric = parse_metric(f"pass@{cell.k}")
    first, second = (
        metric.values(np.full(n + 1, n), np.arange(n + 1))[passes]
        for n, passes in zip(cell.n, c, strict=True)
    )
    n = np.stack([np.full((runs, cell.tasks), attempts) for attempts in cell.n])
    return first - second, difference_variance_floor(metric, n, np.stack(c))


def measured(cell: Cell, runs: int) -> Result:
    seed = [ord(sign) for sign in f"{cell.tasks} {cell.n} {cell.k}"]
    d, floor = differences(cell, np.random.default_rng(seed), runs)
    law = difference_distribution(d, 1.0, floor)
    mean, half = d.mean(axis=1), d.std(axis=1, ddof=1) / cell.tasks**0.5
    half = half * stdtrit(cell.tasks - 1, 0.975)
    pairs = (law.limits(0.05), (mean - half, mean + half))
    true = truth(cell)
    covers = [float(((low <= true + 1e-12) & (true - 1e-12 <= high)).mean()) for low, high in pairs]
    rejects = [float(((low > 1e-12) | (high < -1e-12)).mean()) for low, high in pairs]
    width = [float((high - low).mean()) for low, high in pairs]
    assert abs(float((law.p() <= 0.05).mean()) - rejects[0]) < 2 / runs
    return Result(cell, tuple(covers), tuple(rejects), tuple(width))  # type: ignore[arg-type]


def summary(results: Sequence[Result], runs: int) -> str:
    """One line per question and group of situations."""
    equal_cells = {key(r.cell): r for r in results if r.cell.models == ALIKE}
    rows = []
    for models in (*EQUAL, WORSE, "all"):
        selection = [r for r in results if models in (r.cell.models, "all")]
        covers = np.array([r.covers for r in selection])
        reliable = [r for r in selection if r.covers[1] >= 0.94 and r.width[1] > 0]
        ratio = np.array([r.width[0] / r.width[1] for r in reliable])
        judged = [
            r
            for r in selection
            if r.cell.models == WORSE and equal_cells[key(r.cell)].rejects[1] <= 0.055
        ]
        lost = np.array([r.rejects[1] - r.rejects[0] for r in judged])
        size = [r.rejects for r in selection if r.cell.models == ALIKE]
        largest = [f"{100 * max(side):.1f}" for side in zip(*size, strict=True)]
        above = [str(sum(s > 0.06 for s in side)) for side in zip(*size, strict=True)]
        rows.append([
            models, len(selection), f"{100 * (covers[:, 0] >= 0.94).mean():.1f}",
            f"{100 * (covers[:, 1] >= 0.94).mean():.1f}", int((covers[:, 0] < 0.92).sum()),
            int((covers[:, 1] < 0.92).sum()), f"{100 * covers[:, 0].min():.1f}",
            " / ".join(largest), " / ".join(above),
            f"{(lost > 0.05).sum()} of {len(lost)}, most {100 * max(lost, default=0):.0f}",
            f"{np.median(ratio):.2f}, above 1.1 in {100 * (ratio > 1.1).mean():.0f} %",
        ])  # fmt: skip
    head = [
        "models", "situations", "covers ≥ 94 %: situations %", "t", "below 92 %", "t", "lowest %",
        "largest size / t %", "size above 6 % / t", "5 points less power than t", "width to t's",
    ]  # fmt: skip
    return f"{errors(runs)}\n\n{table(head, rows)}"


def errors(runs: int) -> str:
    points = 100 * (0.05 * 0.95 / runs) ** 0.5
    return f"{runs:,} runs a row or situation; Monte-Carlo error at 5 %: {points:.1f} points"


def key(cell: Cell) -> tuple[object, ...]:
    return cell.law, cell.tasks, cell.n, cell.k


def worst(results: Sequence[Result], count: int = 8) -> str:
    rows = [
        [r.cell.law, r.cell.models, r.cell.tasks, f"{r.cell.n[0]}/{r.cell.n[1]}", r.cell.k,
         f"{100 * r.covers[0]:.1f}", f"{100 * r.covers[1]:.1f}", f"{100 * r.rejects[0]:.1f}",
         f"{100 * r.rejects[1]:.1f}"]
        for r in sorted(results, key=lambda r: r.covers[0])[:count]
    ]  # fmt: skip
    return table(["rates", "models", "tasks", "n", "k", "covers %", "t", "rejects %", "t"], rows)


def rare(runs: int) -> str:
    """3 % of the tasks rise from .05 to .95 and the rest falls a little, so the means are equal."""
    rows = []
    for tasks, n in product((13, 37, 211), ((17, 17), (100, 100))):
        rng = np.random.default_rng([tasks, *n])
        changed = rng.random((runs, tasks)) < 0.03
        rates = np.where(changed, 0.05, 0.5), np.where(changed, 0.95, 0.5 - 0.9 * 0.03 / 0.97)
        c = np.stack([rng.binomial(attempts, p) for attempts, p in zip(n, rates, strict=True)])
        sizes = np.broadcast_to(np.array(n)[:, None, None], c.shape)
        d = c[0] / n[0] - c[1] / n[1]
        law = difference_distribution(
            d, 1.0, difference_variance_floor(parse_metric("pass@1"), sizes, c)
        )
        rejects = law.p() <= 0.05
        t = (
            2 * stdtr(tasks - 1, -np.abs(d.mean(axis=1)) * tasks**0.5 / d.std(axis=1, ddof=1))
            <= 0.05
        )
        rows.append(
            [tasks, f"{n[0]}/{n[1]}", f"{100 * rejects.mean():.1f}", f"{100 * t.mean():.1f}"]
        )
    return table(["tasks", "n", "rejects %", "t"], rows)


def few(runs: int) -> str:
    """How often passk reports that few tasks decide a significant difference."""
    rows = []
    for name, tasks, n in product(
        ("Beta(2, 2)", "Beta(9, 1)", "Beta(.5, .5)", "U", "90 % impossible"), (13, 37, 211),
        ((7, 7), (17, 7), (100, 100)),
    ):  # fmt: skip
        cell = Cell(name, WORSE, tasks, n, 1)
        d, floor = differences(cell, np.random.default_rng([tasks, *n]), runs)
        law, omitted = difference_distribution(d, 1.0, floor), -(-tasks // 100) + 1
        order = np.argsort(-np.abs(d), axis=1, kind="stable")[:, omitted:]
        remaining = np.take_along_axis(d, order, axis=1)
        without = difference_distribution(remaining, 1.0, floor * tasks / (tasks - omitted))
        significant = law.p() <= 0.05
        lost = without.p() > 0.05
        half = np.abs(without.estimate) < 0.5 * np.abs(law.estimate)
        if significant.mean() > 0.1:
            rows.append([
                name, tasks, f"{n[0]}/{n[1]}", f"{100 * significant.mean():.0f}",
                f"{100 * lost[significant].mean():.0f}",
                f"{100 * (lost & half)[significant].mean():.1f}",
            ])  # fmt: skip
    head = [
        "rates",
        "tasks",
        "n",
        "significant %",
        "of these no longer so %",
        "and less than half %",
    ]
    return f"{errors(runs)}\n\n{table(head, rows)}"


def families(runs: int) -> str:
    """Any false rejection, and any interval that misses, over all pairs of models."""
    rows = []
    grid = product(
        (("Beta(2, 2)", ALIKE), ("Beta(9, 1)", ALIKE), ("U", ALIKE), ("Beta(.5, .5)", OTHER),
         ("Beta(2, 2)", WORSE)),
        (13, 37, 100), ((10, 10), (17, 7), (5, 5)), (4, 10),
    )  # fmt: skip
    for (law, models), tasks, n, count in grid:
        rng = np.random.default_rng([tasks, *n, count])
        false = missed = power = single = 0
        first, second = np.triu_indices(count, 1)
        for _ in range(runs):
            rates = LAWS[law](rng, (1, tasks))[0]
            model_rates = np.stack(
                [LAWS[law](rng, (1, tasks))[0] if models == OTHER else rates for _ in range(count)]
            )
            if models == WORSE:
                model_rates[-1] = 1 / (1 + np.exp(1.0 - np.log(rates / (1 - rates))))
            sizes = np.array([n[m % 2] for m in range(count)])
            c = rng.binomial(sizes[:, None], model_rates)
            values = c / sizes[:, None]
            d = values[first] - values[second]
            true = np.zeros(len(first))
            if models == WORSE:
                true = np.where(second == count - 1, 0.5 - TRUE_WORSE, 0.0)
            attempts = np.broadcast_to(sizes[:, None], c.shape)
            floor = difference_variance_floor(
                parse_metric("pass@1"),
                np.stack([attempts[first], attempts[second]]),
                np.stack([c[first], c[second]]),
            )
            distribution = difference_distribution(d, 1.0, floor)
            p = distribution.p()
            tests = SharedLevelTests(ModelValuesAndPairs(values.T, first, second))
            (law_of_all,) = draw_min_p([tests], resamples=2_000)
            alpha = law_of_all.level_per_test(0.05)
            low, high = distribution.limits(alpha)
            rejected = law_of_all.adjusted(p) <= 0.05
            assert np.array_equal(rejected, (low > 0) | (high < 0))
            null = true == 0
            false += bool(rejected[null].any())
            single += bool((len(p) * p[null] <= 0.05).any())
            missed += bool(((low > true) | (high < true)).any())
            power += float(rejected[~null].mean()) if not null.all() else 0.0
        rows.append([
            law, models, tasks, f"{n[0]}/{n[1]}", count, f"{100 * false / runs:.1f}",
            f"{100 * single / runs:.1f}", f"{100 * (1 - missed / runs):.1f}",
            f"{100 * power / runs:.0f}" if models == WORSE else "",
        ])  # fmt: skip
    head = [
        "rates",
        "models",
        "tasks",
        "n",
        "models",
        "any false %",
        "Bonferroni %",
        "all intervals cover %",
        "found %",
    ]
    return f"{errors(runs)}\n\n{table(head, rows)}"


@dataclass(frozen=True)
class Board:
    """Ten models that attempt the same tasks, with all pairs at pass@k.

    worse : how many of them are worse, by `step` on the logit scale.
    unlike : how different the models are. Model i adds a normal number to the logit of each task,
    with a standard deviation from 0 (the first model) to `unlike` (the last one).
    """

    law: str
    tasks: int
    n: int | tuple[int, int]
    worse: int = 5
    unlike: float = 0.0
    k: int = 1
    step: float = 0.8
    models: int = 10

    @property
    def description(self) -> tuple[object, ...]:
        kind = f"up to {self.unlike:g} unlike" if self.unlike else f"{self.worse} of 10 worse"
        return self.law, self.tasks, self.n, self.k, kind

    def rates(self, rng: np.random.Generator, tasks: int) -> Floats:
        """Rates of (models × tasks)."""
        rates = np.clip(RATES[self.law](rng, tasks), 1e-12, 1 - 1e-12)
        logits = np.log(rates) - np.log1p(-rates) + np.zeros((self.models, 1))
        logits[self.models - self.worse :] -= self.step
        spread = np.linspace(0, self.unlike, self.models)[:, None]
        shifts = rng.normal(0, 1, logits.shape) * spread if self.unlike else 0.0
        return 1 / (1 + np.exp(-logits - shifts))

    def means(self) -> Floats:
        """The true pass@k of the models. Models that should be equal have equal values."""
        rates = self.rates(np.random.default_rng(7), 400_000)
        means: Floats = (1 - (1 - rates) ** self.k).mean(axis=1)
        if not self.unlike:
            middle = self.models - self.worse
            means[:middle], means[middle:] = means[0], means[-1]
        return means


RATES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "rare passes": lambda rng, tasks: rng.beta(0.3, 6, tasks),
    "three kinds": lambda rng, tasks: rng.choice([0.02, 0.5, 0.98], tasks),
    "Beta(9, 1)": lambda rng, tasks: rng.beta(9, 1, tasks),
    "Beta(5, .5)": lambda rng, tasks: rng.beta(5, 0.5, tasks),
    "5 % at .5, rest .01": lambda rng, tasks: np.where(rng.random(tasks) < 0.05, 0.5, 0.01),
    "Beta(2, 2)": lambda rng, tasks: rng.beta(2, 2, tasks),
    "Beta(.5, .5)": lambda rng, tasks: rng.beta(0.5, 0.5, tasks),
    "all .5": lambda rng, tasks: np.full(tasks, 0.5),
    "10 % at .9, rest .999": lambda rng, tasks: np.where(rng.random(tasks) < 0.1, 0.9, 0.999),
    "logit-normal": lambda rng, tasks: 1 / (1 + np.exp(-rng.normal(0, 1.5, tasks))),
    "all .97": lambda rng, tasks: np.full(tasks, 0.97),
    "Beta(.2, 20)": lambda rng, tasks: rng.beta(0.2, 20, tasks),
}
# The situations that the method was chosen on.
CHOSEN = (
    Board("rare passes", 20, 16), Board("rare passes", 60, 4),
    Board("rare passes", 200, (64, 3), 0, 1.0), Board("three kinds", 20, 16),
    Board("three kinds", 60, 16, 0, 1.0), Board("Beta(5, .5)", 60, 16), Board("Beta(5, .5)", 20, 4),
    Board("logit-normal", 60, 16, 0, 1.0),
)  # fmt: skip
# Held out: unlike pairs, few tasks, rates near 0 and 1, other k.
UNSEEN = (
    *(Board(law, tasks, 8, 0, 1.5) for law, tasks in product(
        ("Beta(2, 2)", "Beta(.5, .5)", "rare passes", "Beta(9, 1)"), (12, 50, 150))),
    *(Board(law, tasks, 6) for law, tasks in product(
        ("Beta(2, 2)", "three kinds", "Beta(5, .5)", "all .5"), (5, 8))),
    *(Board(law, tasks, 10) for law, tasks in product(
        ("all .97", "Beta(.2, 20)", "10 % at .9, rest .999", "5 % at .5, rest .01"), (40, 120))),
    Board("Beta(2, 2)", 50, (12, 3)), Board("Beta(.5, .5)", 30, 10, k=4),
    Board("rare passes", 100, 20, 0, 1.0, k=5), Board("three kinds", 60, 8, 0),
)  # fmt: skip


def together(boards: Sequence[Board], runs: int) -> str:
    """How often all intervals cover together and how often the tests reject, as in `passk compare`,
    without moderation, and by t with Holm."""
    rows = []
    for board in boards:
        seed = [*(ord(sign) for sign in f"{board.description}")]
        rng, means = np.random.default_rng(seed), board.means()
        first, second = np.triu_indices(board.models, 1)
        true = means[first] - means[second]
        sizes, metric = np.resize(board.n, board.models), parse_metric(f"pass@{board.k}")
        n = np.broadcast_to(sizes[:, None], (board.models, board.tasks))
        results = []
        for _ in range(runs):
            c = rng.binomial(n, board.rates(rng, board.tasks))
            values = pass_at_k(n, c, board.k)
            d = values[first] - values[second]
            floor = difference_variance_floor(metric, np.array([n[first], n[second]]),
                                  np.array([c[first], c[second]]))  # fmt: skip
            plain = difference_distribution(d, 1.0, floor)
            moderated = plain.with_moderated_errors()
            holds = []
            for law in (moderated, plain):
                family = SharedLevelTests(ModelValuesAndPairs(values.T, first, second), p=law.p())
                (level,) = draw_min_p([family], resamples=1_000)
                low, high = law.limits(level.level_per_test(0.05))
                holds.append(((low <= true + 1e-12) & (true - 1e-12 <= high)).all())
                if law is moderated:
                    rejected, width = level.adjusted(law.p()) <= 0.05, np.mean(high - low)
                else:
                    width /= np.mean(high - low)
            by_t = holm(np.nan_to_num(paired_t(d.T), nan=1.0)) <= 0.05
            differs = np.abs(true) > 1e-4
            results.append((
                *holds, width, rejected[~differs].any(), by_t[~differs].any(),
                *(rejections[differs].mean() if differs.any() else np.nan
                  for rejections in (rejected, by_t)),
            ))  # fmt: skip
        holds, plain_held, width, false, false_t, power, power_t = np.mean(results, axis=0)
        powers = ["–" if np.isnan(x) else f"{100 * x:.1f}" for x in (power, power_t)]
        error = 100 * (holds * (1 - holds) / runs) ** 0.5
        rows.append([
            *board.description, f"{100 * holds:.1f} ± {error:.1f}", f"{100 * plain_held:.1f}",
            f"{width:.2f}", f"{100 * false:.1f}", f"{100 * false_t:.1f}", *powers,
        ])  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    head = ["rates", "tasks", "n", "k", "models", "all intervals hold %", "without moderation",
            "width to that", "any false %", "t, Holm", "found %", "t, Holm 2"]  # fmt: skip
    return table(head, rows)


def _mean_worse() -> float:
    rates = np.random.default_rng(7).beta(2, 2, 2_000_000)
    return float((1 / (1 + np.exp(1.0 - np.log(rates / (1 - rates))))).mean())


TRUE_WORSE = _mean_worse()


def many() -> str:
    """All pairs of 134 models over 500 tasks, with the family's level."""
    rng = np.random.default_rng(0)
    values = rng.binomial(10, rng.beta(0.5, 0.5, (134, 500))) / 10
    first, second = np.triu_indices(134, 1)
    start = time.process_time()
    law = difference_distribution(values[first] - values[second], 1.0)
    p = law.p()
    middle = time.process_time()
    (together,) = draw_min_p([SharedLevelTests(ModelValuesAndPairs(values.T, first, second), p=p)])
    level = together.level_per_test(0.05)
    law.limits(level)
    return table(
        ["8,911 pairs", "CPU s"],
        [
            ["law and p", f"{middle - start:.2f}"],
            ["level of the family, limits", f"{time.process_time() - middle:.2f}"],
        ],
    )


def grid(
    laws: Sequence[str], tasks: Sequence[int], attempts: Sequence[tuple[int, int]], runs: int
) -> str:
    results = [measured(cell, runs) for cell in cells(laws, tasks, attempts)]
    return f"{summary(results, runs)}\n\nThe lowest coverage:\n\n{worst(results)}"


SECTIONS: dict[str, Callable[[int], str]] = {
    "tuned": lambda runs: grid(list(LAWS), TASKS, ATTEMPTS, runs),
    "held-out": lambda runs: grid(list(HELD_OUT), HELD_TASKS, HELD_ATTEMPTS, runs),
    "small": lambda runs: grid(list(LAWS), (3, 5, 8), ((3, 3), (17, 17), (17, 7)), runs),
    "rare": lambda runs: rare(2 * runs),
    "few": few,
    "family": lambda runs: families(max(runs // 2, 100)),
    "chosen": lambda runs: together(CHOSEN, runs // 4),
    "unseen": lambda runs: together(UNSEEN, runs // 4),
    "many": lambda runs: many(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION")
    parser.add_argument("--runs", type=int, default=1_000)
    options = parser.parse_args()
    for name in options.sections or [name for name in SECTIONS if name != "many"]:
        keep(name, SECTIONS[name](options.runs), PAGE.name)


if __name__ == "__main__":
    main()
