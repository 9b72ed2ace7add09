"""Size and power of the tests of two models, and their speed.

Run: python benchmarks/comparison.py [SECTION …] [--comparisons 50000] [--repetitions 2000]
Simulates pairs of models, tests each pair, and writes the tables into benchmarks/comparison.md.
SECTION is equal (as many attempts of both; --comparisons a cell), unequal, held-out,
interval-power, these-tasks, these-attempts, family, family-size, family-held-out (--repetitions a
cell) or speed (--runs); all but speed when none is named.
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

# As in `passk`, BLAS uses one thread. More threads would wait for each other, ten times as long on
# a busy machine. Child processes inherit the setting.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import in_turn, keep, machine, table
from numpy.typing import NDArray

from passk_cli.inference.adjust import holm
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.discordance import suissa_shuster
from passk_cli.inference.min_p import SharedLevelTests as TestFamily
from passk_cli.inference.min_p import draw_min_p
from passk_cli.inference.paired_tests import mcnemar, paired_t, sign_flip_test
from passk_cli.inference.permutation_test import (
    permutation_test_of_attempt_values,
    permutation_test_within_tasks,
)
from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.attempts import AttemptValuesByCell

LEVEL = 0.05
MEANS = (0.5, 0.9, 0.99)
TASKS = (30, 164)
ATTEMPTS = 10
KS = (1, 5, 10)
# Shifts of the second model's logits, and how much they lower a mean of 0.5 under Beta(½, ½).
SHIFTS = {0.4: 0.05, 0.8: 0.10}
BATCH = 2000
# Attempts of the two models, and the distributions of success rates, for unequal attempts.
UNEQUAL = ((20, 5), (100, 10), (10, 8), (200, 100))
LAWS = ((9.0, 1.0), (2.0, 2.0), (0.5, 0.5))
SIZES = (20, 50, 164)
# Sign patterns per test in the column that shows what was done before.
FEW_RESAMPLES = 1000
FAMILY_RESAMPLES = 499

Row = tuple[object, ...]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Shares over the simulated comparisons of a cell."""

    sign_flip: float
    mid_p: float
    paired_t: float
    exact: float
    alike: float


def rates(mean: float, tasks: int, k: int, shift: float, comparisons: int) -> Rates:
    """How often each test rejects at LEVEL if the second model's logits are lower by shift.

    p_t ~ Beta(mean, 1 − mean) for both models, with independent attempts. A column of a batch is
    one comparison, and each batch has its own signs.
    """
    seeds = np.random.SeedSequence([round(1000 * mean), tasks, k, round(1000 * shift)])
    samples = []
    for batch, child in enumerate(seeds.spawn(comparisons // BATCH)):
        rng = np.random.default_rng(child)
        p = rng.beta(mean, 1 - mean, size=(tasks, BATCH))
        first, second = (
            pass_at_k(ATTEMPTS, rng.binomial(ATTEMPTS, side), k) for side in (p, shifted(p, shift))
        )
        differences = first - second
        flips = sign_flip_test(differences, seed=batch)
        halved = sign_flip_test(differences, seed=batch, mid=True).p
        samples.append(
            # A t that is undefined (no spread) rejects nothing.
            (
                flips.p <= LEVEL,
                halved <= LEVEL,
                paired_t(differences) <= LEVEL,
                flips.exact,
                ~differences.any(0),
            )
        )
    return Rates(*(float(np.mean(column)) for column in zip(*samples, strict=True)))


def shifted(p: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Probabilities after a shift of their logits."""
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
        write(section, head, rows, monte_carlo(comparisons))


def write(section: str, head: tuple[str, ...], rows: Iterator[Row], first: str) -> None:
    """The table of a section into the page, its rows on the screen as they come."""
    start, kept_rows = time.perf_counter(), []
    for row in rows:
        kept_rows.append(row)
        print(section, *row, sep="\t", flush=True)
    keep(section, f"{first}\n\n{table(head, kept_rows)}", file="comparison.md")
    print(f"{section}: {time.perf_counter() - start:.0f} s", flush=True)


def error_of(repetitions: int) -> str:
    error = 100 * sqrt(LEVEL * (1 - LEVEL) / repetitions)
    return f"{repetitions:,} comparisons a cell; Monte-Carlo error at 5 %: {error:.2f} points"


def drawn_differences(
    rng: np.random.Generator, law: tuple[float, float], n: tuple[Integers, Integers], k: int,
    repetitions: int, shift: float = 0.0,
) -> Floats:  # fmt: skip
    """Differences in pass@k of two models with the same rates, the second's lower by shift."""
    tasks = len(n[0])
    p = rng.beta(*law, size=(tasks, repetitions))
    first, second = (
        pass_at_k(size[:, None], rng.binomial(size[:, None], rate), k)
        for size, rate in zip(n, (p, shifted(p, shift)), strict=True)
    )
    return first - second


def percents(differences: Floats, clusters: Integers | None = None) -> tuple[str, ...]:
    """Per cent of columns that sign flips, the paired t and the guarded t without floor reject."""
    totals = differences
    if clusters is not None:
        totals = np.stack([differences[clusters == g].sum(axis=0) for g in np.unique(clusters)])
    tests = (
        sign_flip_test(totals, resamples=FEW_RESAMPLES).p,
        paired_t(totals),
        difference_distribution(differences.T, 1.0, clusters=clusters).p(),
    )
    return tuple(percent(float(np.mean(p <= LEVEL))) for p in tests)


def constant(n: tuple[int, int], tasks: int) -> tuple[Integers, Integers]:
    return np.full(tasks, n[0]), np.full(tasks, n[1])


def unequal_rows(repetitions: int) -> Iterator[Row]:
    """Both models have the same rates; attempts differ."""
    for n in UNEQUAL:
        for law in LAWS:
            for tasks in SIZES:
                for k in (1, min(n)):
                    rng = np.random.default_rng([*n, round(10 * law[0]), tasks, k])
                    d = drawn_differences(rng, law, constant(n, tasks), k, repetitions)
                    yield f"{n[0]} / {n[1]}", name_of(law), tasks, f"pass@{k}", *percents(d)


def held_out_rows(repetitions: int) -> Iterator[Row]:
    """Situations that were not used while the test was made."""
    for tasks in SIZES:
        for n, k in (((40, 10), 5), ((12, 4), 4)):
            rng = np.random.default_rng([1, *n, tasks])
            d = drawn_differences(rng, (5.0, 0.5), constant(n, tasks), k, repetitions)
            yield f"{n[0]} / {n[1]}", "Beta(5, 0.5)", tasks, f"pass@{k}", *percents(d)
        rng = np.random.default_rng([2, tasks])
        mixed = rng.choice([4, 10, 50], tasks), rng.choice([4, 8], tasks)
        for law in ((2.0, 2.0), (9.0, 1.0)):
            d = drawn_differences(rng, law, mixed, 4, repetitions)
            yield "4, 10 or 50 / 4 or 8", name_of(law), tasks, "pass@4", *percents(d)
    for groups, size in ((30, 4), (60, 3)):
        rng = np.random.default_rng([3, groups])
        d, codes = clustered(rng, groups, size, repetitions)
        tasks = f"{groups * size} in {groups} clusters"
        yield "20 / 5", "Beta(2, 2) per cluster", tasks, "pass@5", *percents(d, codes)


def clustered(
    rng: np.random.Generator, groups: int, size: int, repetitions: int
) -> tuple[Floats, Integers]:
    """Differences if the tasks of a cluster share one rate, which differs between the models."""
    codes = np.repeat(np.arange(groups), size)
    rates = (rng.beta(2.0, 2.0, size=(groups, repetitions))[codes] for _ in range(2))
    first, second = (
        pass_at_k(n, rng.binomial(n, p), 5) for n, p in zip((20, 5), rates, strict=True)
    )
    return first - second, codes


def interval_power_rows(repetitions: int) -> Iterator[Row]:
    """Equal attempts of both models, with valid sign flips, and unequal attempts."""
    for n in ((10, 10), (20, 5)):
        for tasks in SIZES:
            for k in (1, 5):
                rng = np.random.default_rng([4, *n, tasks, k])
                n_of = constant(n, tasks)
                d = drawn_differences(rng, (0.5, 0.5), n_of, k, repetitions, shift=0.8)
                flips, t, guarded = percents(d)
                valid = n[0] == n[1]
                gap = f"{float(guarded) - float(flips):+.1f}" if valid else "not valid"
                yield f"{n[0]} / {n[1]}", tasks, f"pass@{k}", flips, t, guarded, gap


def these_tasks_rows(repetitions: int) -> Iterator[Row]:
    """Rates fixed, attempts permuted within tasks: the same rates, and lower ones."""
    for tasks in (4, 18, 50):
        for n, k in (((10, 10), 1), ((10, 10), 5), ((30, 10), 1), ((10, 8), 8)):
            shares = []
            for shift in (0.0, 0.8):
                rng = np.random.default_rng([5, tasks, *n, k])
                rate = rng.beta(2.0, 2.0, tasks)
                shares += within_shares(rng, rate, shifted(rate, shift), n, k, repetitions)
            size, flips_size, power, flips_power = shares
            yield tasks, f"{n[0]} / {n[1]}", f"pass@{k}", size, power, flips_size, flips_power


def within_shares(
    rng: np.random.Generator, rate: Floats, lower: Floats, n: tuple[int, int], k: int,
    repetitions: int,
) -> list[str]:  # fmt: skip
    """Per cent of runs that the permutation within tasks rejects, and the sign flips."""
    attempts = constant(n, len(rate))
    metric, reject, d = parse_metric(f"pass@{k}"), 0, []
    for _ in range(repetitions):
        first, second = (rng.binomial(m, p) for m, p in zip(n, (rate, lower), strict=True))
        p = permutation_test_within_tasks(
            metric, (attempts[0], first), (attempts[1], second), resamples=FEW_RESAMPLES
        ).p
        reject += p <= LEVEL
        d.append(pass_at_k(n[0], first, k) - pass_at_k(n[1], second, k))
    flips = sign_flip_test(np.stack(d, axis=1), resamples=FEW_RESAMPLES).p
    return [percent(reject / repetitions), percent(float(np.mean(flips <= LEVEL)))]


def these_attempts_rows(repetitions: int) -> Iterator[Row]:
    """Fixed tasks, answers and scores made again: both models alike, or the second one worse."""
    names = ("maj@3", "best@3", "worst@3")
    for tasks, n, metrics in ((4, (5, 5), names), (4, (9, 5), names), (18, (5, 5), names[:2])):
        for name in metrics:
            shares = []
            for shift in (0.0, 1.0):
                rng = np.random.default_rng([7, tasks, *n, len(name)])
                level = rng.normal(size=tasks)
                bags = scored if name[0] != "m" else answered
                reject = 0
                for run in range(repetitions):
                    pair = (bags(rng, level - s, m) for s, m in zip((0, shift), n, strict=True))
                    test = permutation_test_of_attempt_values(
                        parse_metric(name), *pair, resamples=FEW_RESAMPLES, seed=run
                    )
                    reject += test.p <= LEVEL
                shares.append(percent(reject / repetitions))
            yield tasks, f"{n[0]} / {n[1]}", name, *shares


def scored(rng: np.random.Generator, level: Floats, n: int) -> AttemptValuesByCell:
    """Attempts with normal scores around the level of their task."""
    value = np.sort(rng.normal(level[:, None], 1.0, (len(level), n)))
    sizes = np.ones(value.size, dtype=np.int64)
    cell = np.repeat(np.arange(len(level)), n)
    return AttemptValuesByCell.from_rows(cell, value.ravel(), sizes, 0 * sizes, len(level))


def answered(rng: np.random.Generator, level: Floats, n: int) -> AttemptValuesByCell:
    """Attempts with one of four answers. The first answer is right."""
    right = rng.random((len(level), n)) < 1 / (1 + np.exp(-level[:, None]))
    answer = np.where(right, 0, rng.integers(1, 4, right.shape))
    table = (answer[:, :, None] == np.arange(4)).sum(axis=1)
    cell, value = np.nonzero(table)
    count = table[cell, value]
    return AttemptValuesByCell.from_rows(
        cell, value, count, np.where(value == 0, count, 0), len(level)
    )


@dataclass(frozen=True)
class Family:
    """Models that attempt the same tasks n times each, all pairs at pass@k."""

    models: int
    tasks: int
    n: int
    k: int
    law: tuple[float, float]

    def worse(self, how: str) -> Floats:
        """The number of logits by which each model is worse: no model, the last one, or half of
        them."""
        shift = 1.5 if self.tasks < 100 else 0.8
        shifts = np.zeros(self.models)
        shifts[{"alike": self.models, "one": -1, "half": self.models // 2}[how] :] = shift
        return shifts

    def runs(self, how: str, repetitions: int) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Differences of all pairs (tasks × pairs), and which pairs are equal."""
        kind = ("alike", "one", "half").index(how)
        law = [round(10 * a) for a in self.law]
        rng = np.random.default_rng([7, self.models, self.tasks, self.n, self.k, kind, *law])
        first, second = np.triu_indices(self.models, 1)
        worse = self.worse(how)
        for _ in range(repetitions):
            p = shifted(rng.beta(*self.law, (self.tasks, 1)), worse)
            values = pass_at_k(self.n, rng.binomial(self.n, p), self.k)
            yield values[:, first] - values[:, second], worse[first] == worse[second]

    def adjusted(self, d: Floats) -> tuple[Floats, ...]:
        """Holm counting the tests that could reject, the same of Suissa and Shuster's, min-P."""
        (law,) = draw_min_p([TestFamily(d)], resamples=FAMILY_RESAMPLES)
        if self.n > 1:
            flips = sign_flip_test(d, resamples=FAMILY_RESAMPLES)
            return holm(flips.p, flips.smallest_possible_p), law.adjusted(
                difference_distribution(d.T, 1.0).p()
            )
        b, c = (d > 0).sum(axis=0), (d < 0).sum(axis=0)
        p = suissa_shuster(self.tasks, b, c)
        before = holm(mcnemar(b, c), np.minimum(1.0, 2.0 ** (1 - b - c)))
        return before, law.adjusted(p), holm(p)

    def shares(self, how: str, repetitions: int) -> list[tuple[str, str]]:
        """Per adjustment: % of runs with any false rejection, % of unequal pairs found."""
        wrong, right = [0.0] * 3, [0.0] * 3
        for d, equal in self.runs(how, repetitions):
            for at, p in enumerate(self.adjusted(d)):
                wrong[at] += bool((p[equal] <= LEVEL).any())
                right[at] += float((p[~equal] <= LEVEL).mean()) if (~equal).any() else 0.0
        pairs = zip(wrong, right, strict=True)
        return [(percent(a / repetitions), percent(b / repetitions)) for a, b in pairs]


def family_rows(repetitions: int) -> Iterator[Row]:
    """A grid of families: equal models, one worse model, or half of the models worse."""
    for n, k in ((1, 1), (10, 1)):
        for law in ((2.0, 2.0), (9.0, 1.0)):
            for tasks in (20, 50, 200):
                for models in (3, 8, 20):
                    family = Family(models, tasks, n, k, law)
                    few = repetitions // (4 if models == 20 else 1)
                    yield (f"{n}, pass@{k}", name_of(law), tasks, models, few,
                           *_cells(family, ("alike", "one", "half"), few))  # fmt: skip


def family_held_out_rows(repetitions: int) -> Iterator[Row]:
    """Equal models in situations that were not used before the default was chosen."""
    for n, k in ((1, 1), (5, 2)):
        for law in ((0.5, 0.5), (5.0, 0.5)):
            for tasks in (30, 100):
                family = Family(12, tasks, n, k, law)
                wrong = [wrong for wrong, _ in family.shares("alike", repetitions)]
                yield f"{n}, pass@{k}", name_of(law), tasks, 12, wrong[0], wrong[1]


def family_size_rows(repetitions: int) -> Iterator[Row]:
    """Twenty models and many runs: the error rate of min-P only."""
    for n, how in ((1, "alike"), (10, "alike"), (10, "one")):
        for tasks in (20, 50):
            wrong = 0
            for d, equal in Family(20, tasks, n, 1, (2.0, 2.0)).runs(how, repetitions):
                p = difference_distribution(d.T, 1.0).p()
                (law,) = draw_min_p([TestFamily(d)], resamples=FAMILY_RESAMPLES)
                adjusted = law.adjusted(p)
                wrong += bool((adjusted[equal] <= LEVEL).any())
            yield f"{n}, pass@1", how, tasks, 20, percent(wrong / repetitions)


def _cells(family: Family, hows: tuple[str, ...], repetitions: int) -> Iterator[str]:
    """Errors and true rejections of Holm, min-P, and Holm with Suissa and Shuster at n = 1."""
    for how in hows:
        shares = family.shares(how, repetitions)
        labels = shares if family.n == 1 else shares[:2]
        yield " / ".join(wrong for wrong, _ in labels)
        if how != "alike":
            yield " / ".join(right for _, right in labels)


def name_of(law: tuple[float, float]) -> str:
    return f"Beta({law[0]:g}, {law[1]:g})"


TESTS = ("sign flip (before) rejects %", "paired t", "guarded t")
CELL = ("attempts", "success rates", "tasks", "metric")
SECTIONS = {
    "unequal": ((*CELL, *TESTS), unequal_rows),
    "held-out": ((*CELL, *TESTS), held_out_rows),
    "interval-power": (("attempts", "tasks", "metric", "sign flip rejects %", "paired t",
                        "guarded t", "guarded t − sign flip"), interval_power_rows),
    "these-tasks": (("tasks", "attempts", "metric", "within tasks: size %", "power %",
                     "sign flip: size %", "power %"), these_tasks_rows),
    "these-attempts": (("tasks", "attempts", "metric", "size %", "power %"), these_attempts_rows),
    "family": (("attempts, metric", "success rates", "tasks", "models", "runs",
                "all alike: any false %",
                "one worse: any false %", "found %", "half worse: any false %", "found %"),
               family_rows),
    "family-size": (("attempts, metric", "models are", "tasks", "models", "min-P: any false %"),
                    family_size_rows),
    "family-held-out": (("attempts, metric", "success rates", "tasks", "models",
                         "Holm: any false %", "min-P: any false %"), family_held_out_rows),
}  # fmt: skip


DATA = """
import numpy as np
rng = np.random.default_rng(0)
differences = ({draw})[:, :{columns}]
"""
OURS = """
from passk_cli.inference.paired_tests import sign_flip
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
    """Whole processes in turn, with one BLAS thread as in `passk`, and reading the data for
    reference."""
    scripts = {
        "the data alone": DATA.format(draw=NORMAL, columns=1998),
        "sign_flip, 1998 columns, normal": DATA.format(draw=NORMAL, columns=1998) + OURS,
        "sign_flip, 1998 columns, tenths": DATA.format(draw=TENTHS, columns=1998) + OURS,
        "sign_flip, 1 column": DATA.format(draw=NORMAL, columns=1) + OURS,
        "scipy.stats.permutation_test, 1 column": DATA.format(draw=NORMAL, columns=1) + SCIPY,
    }
    commands = {name: [sys.executable, "-c", script] for name, script in scripts.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "models.csv"
        path.write_text(many_models())
        name = "passk compare, 37 models × 800 tasks × 3 metrics, all 666 pairs"
        commands[name] = [sys.executable, "-m", "passk_cli", "compare", str(path), "-k", "1,5"]
        measurements = in_turn(commands, runs)
    data_only = measurements["the data alone"].seconds
    rows = [
        (name, f"{cost.seconds:.2f}", f"{cost.seconds - data_only:.2f}", f"{cost.mebibytes:,.0f}")
        for name, cost in measurements.items()
    ]
    head = ("800 tasks, 10,000 resamples", "wall s", "s beyond the data", "peak MiB")
    text = f"{machine()}; medians of {runs}\n\n{table(head, rows)}"
    print(text)
    keep("speed", text, file="comparison.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    sections = ("equal", *SECTIONS, "speed")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(sections))
    parser.add_argument("--comparisons", type=int, default=50_000, help=f"a multiple of {BATCH}")
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    for section in arguments.sections or ("equal", *SECTIONS):
        if section == "speed":
            speed(arguments.runs)
        elif section == "equal":
            simulate(arguments.comparisons)
        else:
            head, rows = SECTIONS[section]
            write(section, head, rows(arguments.repetitions), error_of(arguments.repetitions))


if __name__ == "__main__":
    main()
