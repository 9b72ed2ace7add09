"""Time horizons: published ones, and how often intervals contain a true one.

Run: python benchmarks/horizon.py [--sets 400]
Writes its tables into benchmarks/horizon.md.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table

import passk_cli
from passk_cli.inference.horizon import (
    fit_curves,
    log2_horizons,
    percentile_limits,
    resampled_counts,
    resampled_log2_horizons,
    task_weights,
)

CYBER = Path(__file__).parent.parent / "sample_data" / "cyber.csv.gz"
# The 50 % horizon in minutes with its limits.  Source: github.com/lyptus-research/
# cyber-task-horizons-data, commit 178c0da, analysis/figures/data/model_summaries_human_2M.parquet.
PUBLISHED = {
    "GPT-2": (0.479401, 0.349635, 0.568516), "GPT-3": (0.717007, 0.602256, 0.881266),
    "GPT-3.5": (1.989592, 0.114311, 4.776662), "GPT-4o": (6.124781, 2.077058, 12.821981),
    "Claude 3 Opus": (6.327975, 1.368082, 12.468129),
    "DeepSeek V3.1": (11.028538, 2.836944, 31.662705),
    "Gemini 2.5 Pro": (22.265857, 10.340554, 46.030737), "o3": (29.634699, 16.692920, 52.804428),
    "Opus 4": (36.232026, 19.780241, 66.961963),
    "GPT-5.1 Codex Max": (51.013728, 32.598969, 83.704862),
    "GLM-5": (51.703114, 24.643212, 104.218596),
    "GPT-5.2 Codex": (56.947735, 38.346495, 105.167180),
    "Sonnet 4.6": (120.273675, 73.968500, 420.041030),
    "GPT-5.3 Codex": (186.048777, 101.192172, 410.542792),
    "Opus 4.6": (190.245325, 115.127990, 2535.702959),
    "GPT-5.5": (304.028623, 170.277306, 6404.266915),
}  # fmt: skip
# Days in which the frontier doubles, with limits; trendline_params_human_2M.json, as above.
DOUBLING = (281.7, 138.3, 324.4)
RATES = (0.5, 0.8)
RESAMPLES = 500


class Situation(NamedTuple):
    """Families, tasks in each (0: one to twenty), attempts, and the spread of families in logits.

    horizon : log₂ minutes at which half of the attempts at a task of no family succeed; tasks have
    0 to 9.
    """

    families: int
    tasks: int
    attempts: int
    spread: float
    horizon: float = 4.5


SITUATIONS = [
    *(Situation(families, 3, 5, 1.0) for families in (3, 5, 10, 30)),
    Situation(50, 0, 6, 1.0),
    *(Situation(families, 40, 1, 2.0) for families in (2, 3, 5, 7, 10, 15)),
    Situation(30, 3, 5, 1.0, 11.0),
]


def draw(rng: np.random.Generator, plan: Situation, families: int) -> tuple[np.ndarray, ...]:
    """Lengths, attempts, passes and families of tasks."""
    sizes = np.full(families, plan.tasks)
    if not plan.tasks:
        sizes = np.minimum(rng.geometric(0.3, families), 20)
    family = np.repeat(np.arange(families), sizes)
    x = np.clip(rng.uniform(0, 9, families)[family] + rng.normal(0, 1.5, len(family)), 0, 9)
    eta = 0.8 * (plan.horizon - x) + rng.normal(size=len(x))
    eta += rng.normal(0, plan.spread, families)[family]
    n = np.full(len(x), plan.attempts)
    return x, n, rng.binomial(n, 1 / (1 + np.exp(-eta))), family


def simulated(plan: Situation, sets: int) -> list[list[object]]:
    """A row per rate: coverage as passk computes it and without the resamples that METR leaves out.

    The true horizon is that of the curve fitted to 40,000 families.
    """
    rng = np.random.default_rng([*plan[:3], int(plan.spread), int(plan.horizon)])
    x, n, c, family = draw(rng, plan, 4_000)
    weights = task_weights(family)
    curve = fit_curves(x, (weights * c / n)[None], (weights * (n - c) / n)[None])
    truth = [log2_horizons(*curve, rate).item() for rate in RATES]
    hits, published, widths, errors = (np.zeros((sets, len(RATES))) for _ in range(4))
    for number in range(sets):
        x, n, c, family = draw(rng, plan, plan.families)
        weights = task_weights(family)
        a, b = fit_curves(x, (weights * c / n)[None], (weights * (n - c) / n)[None])
        start = (float(a[0]), float(b[0])) if np.isfinite(a[0]) else (0.0, 0.0)
        draws = np.concatenate([
            np.stack(fit_curves(x, up * weights / n, down * weights / n, start=start), axis=1)
            for up, down in resampled_counts(n, c, family, RESAMPLES, number)
        ])  # fmt: skip
        for at, rate in enumerate(RATES):
            resampled = resampled_log2_horizons(draws, rate, float(weights @ x))
            low, high = percentile_limits(resampled, 0.95)
            hits[number, at] = low <= truth[at] <= high
            finite = resampled[np.isfinite(resampled)]
            ends = np.quantile(finite, [0.025, 0.975]) if len(finite) else (np.inf, -np.inf)
            published[number, at] = ends[0] <= truth[at] <= ends[1]
            errors[number, at] = log2_horizons(a, b, rate).item() - truth[at]
            widths[number, at] = high - low if np.isfinite(high - low) else np.inf
    sizes = [plan.families, plan.tasks or "1 to 20", plan.attempts, f"{plan.spread:g}"]
    sizes.append("inside" if plan.horizon < 9 else "4 times the longest")
    return [
        [*sizes, f"{100 * rate:g} %", f"{hits[:, at].mean():.3f}", f"{published[:, at].mean():.3f}",
         f"{2 ** np.nanmedian(errors[:, at]):.2f}", f"{2 ** np.median(widths[:, at]):.3g}"]
        for at, rate in enumerate(RATES)
    ]  # fmt: skip


def minutes(low: float, high: float) -> str:
    """Limits in three digits."""
    return f"{low:.3g} to {high:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    sets = parser.parse_args().sets
    frame = passk_cli.horizon(
        CYBER, cluster="family", fields={"date": "release_date"}, at=[0.5]
    ).frame
    logistic = frame[frame["shape"] == "logistic"].set_index("model")
    rows = [
        [model, f"{value:.4g}", f"{logistic.estimate[model]:.4g}",
         f"{100 * (logistic.estimate[model] / value - 1):+.2f} %", minutes(low, high),
         minutes(logistic.low[model], logistic.high[model])]
        for model, (value, low, high) in PUBLISHED.items()
    ]  # fmt: skip
    [growth] = frame[frame.metric == "doubling@0.5"].itertuples()
    rows.append(["doubling time in days", f"{DOUBLING[0]:g}", f"{growth.estimate:.4g}",
                 f"{100 * (growth.estimate / DOUBLING[0] - 1):+.2f} %", minutes(*DOUBLING[1:]),
                 minutes(growth.low, growth.high)])  # fmt: skip
    columns = ["", "published", "passk", "difference", "published interval", "interval"]
    keep("published", table(columns, rows), "horizon.md")
    with ProcessPoolExecutor(2) as pool:
        parts = pool.map(simulated, SITUATIONS, [sets] * len(SITUATIONS))
        all_rows = [row for part in parts for row in part]
    error = sqrt(0.05 * 0.95 / sets)
    columns = ["families", "tasks", "attempts", "spread", "horizon", "rate", "coverage",
               "as published", "bias", "width"]  # fmt: skip
    head = f"{sets:,} data sets a row; Monte-Carlo error {error:.3f} at 95 %"
    keep("coverage", f"{head}\n\n{table(columns, all_rows)}", "horizon.md")


if __name__ == "__main__":
    main()
