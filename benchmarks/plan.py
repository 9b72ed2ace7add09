"""What `passk plan` predicts against simulation: standard errors, and power of the paired tests.

Run: python benchmarks/plan.py [--draws 20000000] [--pilots 500] [--comparisons 12000]
     [--samples 200] [--only errors|widths|clusters|alike|power]
Writes the tables into benchmarks/plan.md.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import beta, norm

from passk_cli.api import read
from passk_cli.commands.plan.interval_widths import guard_interval_widths
from passk_cli.inference.bootstrap_weights import cluster_contributions_to_means
from passk_cli.inference.design import (
    AssumedMetricMoments,
    BetaRates,
    PilotEstimate,
    PlannedDifferenceMoments,
    cluster_excess_variance,
    true_difference_variance,
)
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.paired_tests import paired_t, sign_flip_test
from passk_cli.inference.power import PairedTest, half_lattice_distance
from passk_cli.metrics.registry import Metric, parse_metric, task_values
from passk_cli.report.phrases import plural

Floats = NDArray[np.float64]

SAMPLE = Path(__file__).parent.parent / "sample_data" / "cruxeval.jsonl.gz"
FAMILIES = ((0.3, 0.5), (0.1, 1.0), (2.0, 2.0), (5.0, 0.5))
DESIGNS = ((5, 1), (10, 5), (20, 10))
LEVEL, CORRELATION = 0.95, 0.5
# Sign patterns of a simulated test: enough that the p-value's noise is far below its level.
RESAMPLES = 1000
# Attempts and k of the widths' designs.
WIDE = ((1, 1), (4, 1), (4, 4))


def rates_of(a: float, b: float) -> BetaRates:
    mean = a / (a + b)
    return BetaRates(mean, sqrt(mean * (1 - mean) / (a + b + 1)))


def metrics_of(k: int) -> list[Metric]:
    return [parse_metric(f"pass@{k}")] + ([parse_metric(f"pass^{k}")] if k > 1 else [])


def values_of(metric: Metric, n: int, p: Floats, rng: np.random.Generator) -> Floats:
    """Values of the metric after n attempts at tasks with these success rates."""
    return metric.values(np.full(n + 1, n), np.arange(n + 1))[rng.binomial(n, p)]


def error_rows(draws: int) -> Iterator[tuple[object, ...]]:
    """Predicted and simulated standard error of each cell; as many tasks drawn in each."""
    for (a, b), tasks, (n, k) in itertools.product(FAMILIES, (30, 164), DESIGNS):
        rng = np.random.default_rng([round(10 * a), round(10 * b), tasks, n])
        errors: dict[Metric, list[Floats]] = {metric: [] for metric in metrics_of(k)}
        for _ in range(10):
            p = rng.beta(a, b, size=(draws // tasks // 10, tasks))
            for metric, batches in errors.items():
                batches.append(values_of(metric, n, p, rng).mean(axis=1))
        for metric, batches in errors.items():
            estimates = np.concatenate(batches)
            repetitions = len(estimates)
            off = estimates - estimates.mean()
            deviation = float(off.std())
            noise = sqrt(((off**4).mean() / deviation**4 - 1) / 4 / repetitions)
            predicted = sqrt(AssumedMetricMoments(metric, rates_of(a, b)).variance(n) / tasks)
            yield (f"Beta({a:g}, {b:g})", tasks, n, metric.name, f"{predicted:.5f}",
                   f"{deviation:.5f}", f"{predicted / deviation:.3f}", f"{noise:.3f}")  # fmt: skip


def width_rows(samples: int) -> Iterator[tuple[object, ...]]:
    """Predicted widths of guard intervals, and their mean over random samples."""
    for mean, (n, k), tasks in itertools.product((0.05, 0.5, 0.95), WIDE, (10, 50, 200)):
        rates = BetaRates(mean, 0.7 * sqrt(mean * (1 - mean)))
        size = 1 / 0.49 - 1
        for metric in metrics_of(k):
            values = AssumedMetricMoments(metric, rates)
            rng = np.random.default_rng([round(100 * mean), n, k, tasks])
            p = rng.beta(mean * size, (1 - mean) * size, size=(samples, tasks))
            limits = [interval(IntervalData(sample)) for sample in values_of(metric, n, p, rng)]
            widths = np.array([(sample.high or 0.0) - (sample.low or 0.0) for sample in limits])
            width, noise = float(widths.mean()), float(widths.std()) / sqrt(samples)
            predicted = float(guard_interval_widths(*values.distribution(n), tasks)[0])
            before = 2 * norm.ppf(0.975) * sqrt(values.variance(n) / tasks)
            yield (f"{mean:g}", f"{tasks} × {n}", metric.name, f"{values.expected:.3f}",
                   f"{width:.3f}", f"{noise:.3f}", f"{predicted:.3f}",
                   f"{predicted / width:.2f}", f"{before:.3f}",
                   f"{before / width:.2f}")  # fmt: skip


def pilot_rows(pilots: int) -> Iterator[tuple[object, ...]]:
    """The standard error that pilots of 50 tasks predict, against the true one."""
    for (a, b), (n, k) in itertools.product(FAMILIES, DESIGNS):
        for have in sorted({n, max(n // 2, k, 2)}):
            rng = np.random.default_rng([round(10 * a), round(10 * b), n, have])
            for metric in metrics_of(k):
                true = AssumedMetricMoments(metric, rates_of(a, b)).variance(n)
                actual, predicted, silent = [], [], 0
                for _ in range(pilots):
                    c = rng.binomial(have, rng.beta(a, b, size=50))
                    pilot = PilotEstimate(metric, np.full(50, have), c)
                    if np.ptp(pilot.task_values) == 0:
                        silent += 1
                    else:
                        actual.append(sqrt(pilot.variance(n) / true))
                        predicted.append(
                            100
                            * float(
                                difference_distribution(
                                    pilot.task_values
                                ).relative_error_of_standard_error[0]
                            )
                        )
                texts: tuple[object, ...] = ("–", "–", "–")
                if actual:
                    low, middle, high = np.quantile(actual, (0.1, 0.5, 0.9))
                    texts = (
                        f"{middle:.3f}",
                        f"{low:.2f}–{high:.2f}",
                        f"{np.median(predicted):.0f}",
                    )
                expected = AssumedMetricMoments(metric, rates_of(a, b)).expected
                yield (f"Beta({a:g}, {b:g})", have, n, metric.name, f"{expected:.3f}", *texts,
                       f"{100 * silent / pilots:.1f}")  # fmt: skip


def cruxeval() -> Iterator[tuple[str, list[tuple[str, NDArray[np.int64]]]]]:
    """Temperature, and each model with its passes of ten attempts at 800 tasks."""
    for temperature in ("0.2", "0.8"):
        counts = read(SAMPLE, where=f"temperature = {temperature}")
        yield temperature, [(s[0], counts.c[counts.slice_of_series(i)])
                            for i, s in enumerate(counts.series)]  # fmt: skip


def rates_in_clusters(
    kind: str, clusters: NDArray[np.int64], shape: tuple[int, int], rng: np.random.Generator
) -> Floats:
    """(runs × tasks) success rates: normal logits, or a Beta law of a task around its cluster's.

    shape : (runs, clusters).  clusters : the cluster of each task.
    """
    if kind == "nothing shared":
        return rng.beta(1.0, 1.0, (shape[0], len(clusters)))
    if kind == "logits":
        logits = rng.normal(0.5, 1.5, shape)[:, clusters]
        return np.asarray(1 / (1 + np.exp(-logits - rng.normal(0, 1.5, logits.shape))))
    around = rng.beta(0.7, 0.7, shape)[:, clusters]
    return rng.beta(6 * around + 0.01, 6 * (1 - around) + 0.01)


def cluster_rows(
    pilots: int, kinds: tuple[str, ...], laws: dict[str, tuple[int, ...]], seed: int
) -> Iterator[tuple[object, ...]]:
    """Standard errors that pilots plan for four times their clusters, against those of new runs.

    laws : sizes of clusters, repeated up to the pilot's number.
    """
    n, factor = 4, 4
    for kind, (name, sizes), groups, metric in itertools.product(
        kinds, laws.items(), (12, 48), (parse_metric("pass@1"), parse_metric("pass^4"))
    ):
        rng = np.random.default_rng([seed, len(kind), len(name), groups, metric.k])
        table_of = metric.values(np.full(n + 1, n), np.arange(n + 1))

        def values(times: int, runs: int, kind: str = kind, sizes: tuple[int, ...] = sizes,
                   groups: int = groups, rng: np.random.Generator = rng,
                   table_of: Floats = table_of) -> tuple[Floats, NDArray[np.int64]]:  # fmt: skip
            of = np.repeat(np.arange(times * groups), np.resize(sizes, times * groups))
            p = rates_in_clusters(kind, of, (runs, times * groups), rng)
            return table_of[rng.binomial(n, p)], of

        new, tasks = values(factor, pilots)
        realised = float(new.mean(axis=1).std(ddof=1))
        pilot_values, of = values(1, pilots)
        varied = [sample for sample in pilot_values if np.ptp(sample) > 0]
        variances = np.array(
            [(sample.var(ddof=1), cluster_excess_variance(sample, of)) for sample in varied]
        )
        forecasts = np.sqrt(variances.sum(axis=1) / len(tasks))
        without = np.sqrt(variances[:, 0] / len(tasks))
        noise = sqrt((0.5 + float(forecasts.var() / forecasts.mean() ** 2)) / pilots)
        silences = [
            difference_distribution(
                cluster_contributions_to_means(sample[:, None], of)[:, 0]
            ).relative_error_of_standard_error[0]
            for sample in varied
        ]
        yield (
            kind,
            name,
            f"{groups} ({len(of)})",
            len(tasks),
            metric.name,
            f"{realised:.4f}",
            f"{np.sqrt((forecasts**2).mean()) / realised:.3f}",
            f"{noise:.3f}",
            f"{np.sqrt((without**2).mean()) / realised:.2f}",
            f"{100 * forecasts.std() / forecasts.mean():.0f}",
            f"{100 * float(np.median(silences)):.0f}",
        )


# Pilots of two models: tasks, attempts, rates, correlation of true rates; the audit's, and others.
ALIKE = (
    (30, 5, (2.0, 2.0), 1.0), (30, 10, (1.0, 1.0), 1.0), (50, 4, (1.0, 1.0), 1.0),
    (50, 4, (0.5, 0.5), 0.98), (50, 10, (2.0, 2.0), 0.95), (100, 5, (1.0, 1.0), 0.95),
    (60, 8, (1.0, 1.0), 0.9),
)  # fmt: skip
ALIKE_HELD_OUT = (
    (3, 3, (1.0, 1.0), 1.0), (12, 2, (1.0, 1.0), 1.0), (40, 3, (5.0, 0.5), 1.0),
    (40, 3, (0.2, 4.0), 0.97), (200, 2, (0.5, 0.5), 1.0), (80, 6, (1.0, 1.0), 0.7),
    (80, 6, (1.0, 1.0), 0.0), (80, (2, 9), (1.0, 2.0), 0.97), (70, 3, (3.0, 1.0), 0.99),
    (20, 20, (2.0, 2.0), 1.0), (25, 6, (1.0, 2.0), 1.0), (150, 10, (1.0, 1.0), 0.85),
)  # fmt: skip


def alike_rows(pilots: int, designs: tuple[Any, ...]) -> Iterator[tuple[object, ...]]:
    """The variance of a difference that pilots of two models plan, over the true variance.

    The second model has the rates of the first one, except for a share 1 − ρ of new rates.
    """
    metric = parse_metric("pass@1")
    for tasks, attempts, (a, b), rho in designs:
        attempts_pair = (attempts, attempts) if isinstance(attempts, int) else attempts
        rng = np.random.default_rng([tasks, *attempts_pair, int(100 * rho)])
        rates = rates_of(a, b)
        luck = AssumedMetricMoments(metric, rates).within_variance(1)
        least = min(attempts_pair)
        true_between = 2 * (1 - rho) * rates.spread**2
        true = true_between + 2 * luck / least
        forecasts, covers, before = [], [], []
        while len(forecasts) < pilots:
            p = rng.beta(a, b, tasks)
            q = np.where(rng.random(tasks) < rho, p, rng.beta(a, b, tasks))
            first, second = (
                PilotEstimate(metric, np.full(tasks, n), rng.binomial(n, r))
                for n, r in zip(attempts_pair, (p, q), strict=True)
            )
            if np.ptp(first.task_values) == 0 or np.ptp(second.task_values) == 0:
                continue
            variance, low, high = true_difference_variance(first, second)
            forecasts.append(
                PlannedDifferenceMoments(first, second, 0.0, variance).variance(least) / true
            )
            covers.append(low <= true_between <= high)
            shared = float(np.cov(first.task_values, second.task_values)[0, 1])
            root = sqrt(max(first.between_variance, 0) * max(second.between_variance, 0))
            if not root or abs(shared / root) > 1:
                before.append(
                    PlannedDifferenceMoments(first, first, 0.5 * first.between_variance).variance(
                        least
                    )
                    / true
                )
            else:
                before.append(
                    PlannedDifferenceMoments(first, second, shared).variance(least) / true
                )
        low, middle, high = np.quantile(forecasts, (0.1, 0.5, 0.9))
        yield (f"Beta({a:g}, {b:g})", f"{tasks} × {attempts}", f"{rho:g}", f"{middle:.2f}",
               f"{low:.2f}–{high:.2f}", f"{np.median(before):.2f}",
               f"{100 * np.mean(covers):.0f}")  # fmt: skip


def simulate_alike(pilots: int) -> None:
    head = ("rates", "pilot", "correlation", "planned / true variance, median",
            "80 % of the pilots", "before, median", "95 % ends hold the truth, %")  # fmt: skip
    for section, designs in (("alike", ALIKE), ("alike-held", ALIKE_HELD_OUT)):
        error = 100 * sqrt(0.05 * 0.95 / pilots)
        write(section, f"{pilots:,} pilots a row; ± {error:.0f} points of what holds the truth",
              head, list(alike_rows(pilots, designs)))  # fmt: skip


def carried_rows(thinnings: int) -> Iterator[tuple[object, ...]]:
    """Standard errors at n = 10 predicted from fewer attempts, against those of all ten."""
    cells = (("pass@1", 2), ("pass@2", 2), ("pass^2", 2), ("pass@3", 3), ("pass^3", 3),
             ("pass@5", 5), ("pass^5", 5))  # fmt: skip
    for temperature, models in cruxeval():
        for name, c in models:
            row: list[object] = [name, temperature]
            rng = np.random.default_rng(0)
            for metric, have in ((parse_metric(name), have) for name, have in cells):
                true = PilotEstimate(metric, np.full(len(c), 10), c).variance(10)
                rates = [
                    PilotEstimate(metric, np.full(len(c), have), rng.hypergeometric(c, 10 - c,
                    have))
                    .variance(10) for _ in range(thinnings)
                ]  # fmt: skip
                row.append(f"{sqrt(np.mean(rates) / true):.3f}")
            yield tuple(row)


def correlation_rows() -> Iterator[tuple[object, ...]]:
    """Correlation of two models' true values over tasks, as all ten attempts tell it."""
    for temperature, models in cruxeval():
        for (first, c), (second, d) in itertools.combinations(models, 2):
            row: list[object] = [f"{first} − {second}", temperature]
            for metric in map(parse_metric, ("pass@1", "pass@2", "pass^2", "pass@5", "pass^5")):
                old_pilot, new_pilot = (
                    PilotEstimate(metric, np.full(len(e), 10), e) for e in (c, d)
                )
                shared = float(np.cov(old_pilot.task_values, new_pilot.task_values)[0, 1])
                row.append(
                    f"{shared / sqrt(old_pilot.between_variance * new_pilot.between_variance):.2f}"
                )
            yield tuple(row)


class Coupled:
    """Two models' success rates with given marginals and correlation of their true values."""

    def __init__(self, first: BetaRates, second: BetaRates, metric: Metric, kind: str) -> None:
        self.kind = kind
        self.grid = np.linspace(0, 1, 100_001)
        self.first, self.second = (self._quantiles(rates) for rates in (first, second))
        if kind == "copula":
            self.latent = brentq(lambda c: self._correlation(metric, c) - CORRELATION, 0, 0.9999)
        else:
            self.latent = CORRELATION / self._correlation(metric, 1.0)

    def _quantiles(self, rates: BetaRates) -> Floats:
        size = rates.mean * (1 - rates.mean) / rates.spread**2 - 1
        return beta.ppf(self.grid, rates.mean * size, (1 - rates.mean) * size)

    def _correlation(self, metric: Metric, latent: float) -> float:
        """Correlation of the true values when the normal scores of the rates have this one."""
        z, second = np.random.default_rng(0).standard_normal((2, 400_000))
        scores = z, latent * z + sqrt(1 - latent**2) * second
        p, q = map(self._rates, map(norm.cdf, scores), (self.first, self.second))
        if metric.family == "pass@":
            p, q = 1 - p, 1 - q
        return float(np.corrcoef(p**metric.k, q**metric.k)[0, 1])

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        u = rng.random(shape)
        if self.kind == "copula":
            z = norm.ppf(u) * self.latent
            v = norm.cdf(z + sqrt(1 - self.latent**2) * rng.standard_normal(shape))
        else:
            v = np.where(rng.random(shape) < self.latent, u, rng.random(shape))
        return self._rates(u, self.first), self._rates(v, self.second)

    def _rates(self, u: Floats, quantiles: Floats) -> Floats:
        return np.interp(u, self.grid, quantiles)


def shifted(metric: Metric, rates: BetaRates, drop: float) -> BetaRates:
    """Rates with another mean and the same correlation between two attempts at a task."""

    def at(mean: float) -> BetaRates:
        return BetaRates(mean, sqrt(rates.intraclass_correlation * mean * (1 - mean)))

    return at(brentq(lambda m: AssumedMetricMoments(metric, at(m)).expected - drop, 1e-4, 1 - 1e-4))


def rejected(differences: Floats) -> tuple[float, float]:
    """Shares of the columns that the sign-flip and the t-test reject."""
    flips = sign_flip_test(differences, resamples=RESAMPLES).p
    return float((flips <= 1 - LEVEL).mean()), float((paired_t(differences) <= 1 - LEVEL).mean())


def power_rows(most: int) -> Iterator[tuple[object, ...]]:
    """Assumed rates. The models are half of the difference above and below.

    most : the number of comparisons in a cell of up to 100 tasks. Larger cells have fewer.
    """
    cells = itertools.product(
        ((0.3, 0.3), (0.5, 0.35), (0.7, 0.4)),
        (("pass@1", 1), ("pass@1", 5), ("pass@5", 5), ("pass@5", 10), ("pass^5", 10)),
        (30, 50, 100, 400), (0.5, 0.8),
    )  # fmt: skip
    for place, ((mean, spread), (name, n), tasks, power) in enumerate(cells):
        metric, rates = parse_metric(name), BetaRates(mean, spread)
        values = AssumedMetricMoments(metric, rates)
        variance = PlannedDifferenceMoments(
            values, values, CORRELATION * values.between_variance
        ).variance(n)
        bend = 1 / (4 * values.expected * (1 - values.expected))
        step = half_lattice_distance(n, metric.k)
        difference = PairedTest(
            variance, continuity_correction=step, variance_drop_per_squared_effect=bend
        ).detectable_difference(tasks, power)
        if not 0.1 <= values.expected - difference / 2 <= 0.9 - difference:
            continue
        plain = PairedTest(variance, variance_drop_per_squared_effect=bend).power(difference, tasks)
        high, low = (shifted(metric, rates, values.expected + half * difference)
                     for half in (0.5, -0.5))  # fmt: skip
        detected = []
        comparisons = most * 100 // max(tasks, 100)
        for kind in ("shared", "copula"):
            rng = np.random.default_rng([place, kind == "copula"])
            pairs = Coupled(high, low, metric, kind).draw((tasks, comparisons), rng)
            first, second = (values_of(metric, n, p, rng) for p in pairs)
            detected.append(rejected(first - second))
        flips, ts = zip(*detected, strict=True)
        yield (
            f"{mean:g} ± {spread:g}",
            tasks,
            n,
            name,
            f"{values.expected:.2f}",
            f"{difference:.3f}",
            f"{100 * power:.0f}",
            *(f"{100 * rate:.1f}" for rate in flips),
            f"{100 * plain:.1f}",
            *(f"{100 * rate:.1f}" for rate in ts),
        )


def real_rows(comparisons: int) -> Iterator[tuple[object, ...]]:
    """CRUXEval models: tasks drawn from the 800, n of their ten attempts, tested as pairs."""
    for temperature, cells in cruxeval():
        for (first, c), (second, d) in itertools.combinations(cells, 2):
            ten = np.full(len(c), 10)
            for (name, n), tasks in itertools.product(
                (("pass@1", 1), ("pass@1", 5), ("pass@5", 10), ("pass^5", 10), ("pass@5", 5)),
                (50, 100, 400),
            ):
                metric = parse_metric(name)
                old_pilot, new_pilot = PilotEstimate(metric, ten, c), PilotEstimate(metric, ten, d)
                covariance = float(np.cov(old_pilot.task_values, new_pilot.task_values)[0, 1])
                pair = PlannedDifferenceMoments(old_pilot, new_pilot, covariance)
                away = old_pilot.expected - new_pilot.expected
                step = half_lattice_distance(n, metric.k)
                power = PairedTest(pair.variance(n), continuity_correction=step).power(away, tasks)
                if not 0.1 <= power <= 0.95:
                    continue
                rng = np.random.default_rng([tasks, n, metric.k])
                sample = rng.integers(0, len(c), size=(tasks, comparisons))
                x, y = (rng.hypergeometric(e[sample], 10 - e[sample], n) for e in (c, d))
                ns = np.full(x.size, n)
                differences = (
                    task_values([metric], ns, x.ravel()) - task_values([metric], ns, y.ravel())
                ).reshape(tasks, comparisons)
                flip, t = rejected(differences)
                yield (f"{first} − {second}", temperature, tasks, n, name, f"{away:+.3f}",
                       f"{100 * power:.1f}", f"{100 * flip:.1f}",
                       f"{100 * PairedTest(pair.variance(n)).power(away, tasks):.1f}",
                       f"{100 * t:.1f}")  # fmt: skip


def write(section: str, note: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    text = f"{note}\n\n{table(head, rows)}"
    print(text, flush=True)
    keep(section, text, file="plan.md")


def simulate_errors(draws: int, pilots: int) -> None:
    rows = list(error_rows(draws))
    worst = max(abs(float(row[6]) - 1) for row in rows)
    write("errors", f"{draws:,} tasks drawn a cell; worst ratio off by {100 * worst:.1f} %",
          ("rates", "tasks", "n", "metric", "predicted", "simulated", "ratio",
           "Monte-Carlo error of the ratio"), rows)  # fmt: skip
    write("pilots", f"{pilots:,} pilots a cell",
          ("rates", "pilot's n", "n", "metric", "expected", "median ratio", "80 % of the pilots",
           "± it says, %", "nothing to plan from, %"), list(pilot_rows(pilots)))  # fmt: skip
    write("carried", "Means over 20 random choices of the attempts",
          ("model", "temperature", "pass@1 from 2", "pass@2 from 2", "pass^2 from 2",
           "pass@3 from 3", "pass^3 from 3", "pass@5 from 5", "pass^5 from 5"),
          list(carried_rows(20)))  # fmt: skip
    write("correlations", "800 tasks × 10 attempts",
          ("pair", "temperature", "pass@1", "pass@2", "pass^2", "pass@5", "pass^5"),
          list(correlation_rows()))  # fmt: skip


def simulate_widths(samples: int) -> None:
    rows = list(width_rows(samples))
    ratios, before = ([float(str(row[at])) for row in rows] for at in (7, 9))
    write("widths", f"{samples:,} samples a cell; predicted / simulated {min(ratios):.2f} to"
          f" {max(ratios):.2f}; before (normal) {min(before):.2f} to {max(before):.2f}",
          ("mean", "design", "metric", "expected", "simulated", "Monte-Carlo error", "predicted",
           "ratio", "before (normal)", "its ratio"), rows)  # fmt: skip


# What was looked at while clusters were written, and what was not.
CLUSTERS = (("Beta", "nothing shared"), {"5 each": (5,), "1 × 5, 30": (1, 1, 1, 1, 1, 30)})
HELD_OUT = (("logits",), {"3 each": (3,), "2, 2, 5, 21": (2, 2, 5, 21)})


def simulate_clusters(pilots: int) -> None:
    note = f"{plural(pilots, 'pilot')} and as many new runs a cell"
    head = ("rates", "sizes of clusters", "pilot: clusters (tasks)", "planned tasks", "metric",
            "realised", "planned / realised", "Monte-Carlo error", "before (no clusters)",
            "planned varies, %", "± it says, %")  # fmt: skip
    for section, (kinds, laws), seed in (("clusters", CLUSTERS, 3), ("clusters-held", HELD_OUT, 4)):
        write(section, note, head, list(cluster_rows(pilots, kinds, laws, seed)))


def simulate_power(comparisons: int) -> None:
    noise = 100 * sqrt(0.25 / comparisons)
    note = f"{comparisons:,} comparisons a cell (at 400 tasks a quarter of that);"
    note += f" Monte-Carlo error at most {noise:.1f} points (there {2 * noise:.1f})"
    rows = list(power_rows(comparisons))
    flips, ts = ((6, 7), (6, 8)), ((9, 10), (9, 11))
    many = [row for row in rows if int(str(row[1])) >= 50]
    write("power", f"{note}. From 50 tasks on, sign flip {over(many, flips)}; t {over(many, ts)}."
          f" 30 tasks: sign flip {over([r for r in rows if r not in many], flips)}",
          ("rates", "tasks", "n", "metric", "expected", "difference", "sign flip: predicted",
           "shared", "copula", "t: predicted", "shared", "copula"), rows)  # fmt: skip
    rows = list(real_rows(comparisons // 2))
    note = f"{comparisons // 2:,} comparisons a cell; Monte-Carlo error at most"
    note += f" {1.42 * noise:.1f} points"
    write("real", f"{note}. Sign flip {over(rows, ((6, 7),))}; t {over(rows, ((8, 9),))}",
          ("pair", "temperature", "tasks", "n", "metric", "difference", "sign flip: predicted",
           "simulated", "t: predicted", "simulated"), rows)  # fmt: skip


def over(rows: list[tuple[object, ...]], pairs: tuple[tuple[int, int], ...]) -> str:
    """How far predictions are from what was simulated."""
    off = [abs(float(str(row[i])) - float(str(row[j]))) for row in rows for i, j in pairs]
    many = sum(error > 3 for error in off)
    return f"furthest off {max(off):.1f} points, {many} of {len(off)} by more than 3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000_000)
    parser.add_argument("--pilots", type=int, default=500)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--comparisons", type=int, default=12_000)
    parser.add_argument("--only", choices=("errors", "widths", "clusters", "alike", "power"))
    arguments = parser.parse_args()
    start = time.process_time()
    if arguments.only in (None, "errors"):
        simulate_errors(arguments.draws, arguments.pilots)
    if arguments.only in (None, "widths"):
        simulate_widths(arguments.samples)
    if arguments.only in (None, "clusters"):
        simulate_clusters(4 * arguments.pilots)
    if arguments.only in (None, "alike"):
        simulate_alike(arguments.pilots)
    if arguments.only in (None, "power"):
        simulate_power(arguments.comparisons)
    print(f"{time.process_time() - start:.0f} s of one core")


if __name__ == "__main__":
    main()
