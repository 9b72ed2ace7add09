"""Is the model that leads most resamples the best model, as often as its share predicts?

Run: python benchmarks/lead.py [--sets 3000]
Writes its table into benchmarks/lead.md.
"""

from __future__ import annotations

import argparse
import os
from math import sqrt

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table

from passk_cli.inference.ranking import lead_shares

RESAMPLES = 400


def leader(
    rng: np.random.Generator, tasks: int, n: int, rivals: int, lead: float
) -> tuple[float, bool]:
    """(share of the resamples that the leader leads, whether it is truly best) of one set."""
    p = rng.beta(0.5, 0.5, (tasks, 1)).clip(1e-6, 1 - 1e-6)
    hard = np.log(p / (1 - p)) + lead * rng.standard_normal(rivals)
    values = rng.binomial(n, 1 / (1 + np.exp(-hard - rng.standard_normal((tasks, rivals))))) / n
    # The result is true over new tasks: the rival with the largest shift is better than the other
    # rivals.
    shifts = (hard - np.log(p / (1 - p)))[0]
    weights = rng.multinomial(tasks, np.full(tasks, 1 / tasks), RESAMPLES)
    shares = lead_shares(weights @ values / tasks)
    return float(shares.max()), bool(shares.argmax() == shifts.argmax())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=3000)
    sets = parser.parse_args().sets
    rows = []
    for tasks, n in ((50, 5), (200, 5)):
        for rivals in (2, 5, 8):
            for lead in (0.05, 0.2, 0.5):
                rng = np.random.default_rng([tasks, rivals, int(100 * lead)])
                share, right = np.array(
                    [leader(rng, tasks, n, rivals, lead) for _ in range(sets)]
                ).T
                sure = (share >= 0.85) & (share <= 0.97)
                rows.append([
                    f"{tasks} × {n}", rivals, lead, f"{share.mean():.2f}", f"{right.mean():.2f}",
                    int(sure.sum()), *(f"{x[sure].mean():.2f}" for x in (share, right)),
                ])  # fmt: skip
    head = [
        "tasks × attempts",
        "rivals",
        "spread",
        "leads",
        "is best",
        "with .85–.97",
        "leads",
        "is best",
    ]
    text = f"{sets:,} sets a row; Monte-Carlo error of “is best” at most {sqrt(0.25 / sets):.3f}"
    keep("lead", f"{text}\n\n{table(head, rows)}", "lead.md")


if __name__ == "__main__":
    main()
