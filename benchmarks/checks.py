"""How often is an honest column taken for a setting, and how often is a setting found?

python benchmarks/checks.py [REPETITIONS] writes checks.md; 1,000 repetitions take ten minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from passk_cli.files.checks.evenness import Evenness, evenness

TASKS, SIZES, VALUES = (10, 30, 100, 1000), (2, 5, 20), (2, 3, 5, 10, 20)
# Arms: rows of each value at a task.  The last four were not looked at before the test was made.
ARMS = ((1, 1), (1, 2), (2, 2), (1, 4), (4, 4), (3, 8), (1, 1, 1), (2, 4, 4), (8, 8),
        (5, 5), (2, 3), (1, 3), (2, 2, 2, 2))  # fmt: skip
FOUND_IN = (8, 12, 20, 30, 60)
LOST = 0.05


def honest(random: np.random.Generator, kind: str, tasks: int, n: int, values: int) -> Evenness:
    """The evenness of a column that happened: at random, by the task, or by the outcome.

    Numbers of attempts vary, as attempts were lost.
    """
    sizes = np.maximum(random.binomial(n, 1 - LOST, tasks), 1)
    cell = np.repeat(np.arange(tasks), sizes)
    shares = random.dirichlet(np.ones(values))
    value = random.choice(values, len(cell), p=shares)
    if kind == "by the task":
        # Each task has its own shares.
        own = random.dirichlet(shares * 3 + 0.05, tasks)
        value = (random.random(len(cell))[:, None] > own.cumsum(1)[cell]).sum(1)
    elif kind == "by the outcome":
        passed = random.random(len(cell)) < random.beta(1, 1, tasks)[cell]
        value = np.where(passed, 0, 1 + random.integers(0, max(values - 1, 1), len(cell)))
    return evenness(cell, np.minimum(value, values - 1))


def arms(random: np.random.Generator, sizes: tuple[int, ...], tasks: int, half: bool) -> Evenness:
    """The evenness of arms; half : the last one ran on half of the tasks."""
    one = np.repeat(np.arange(len(sizes)), sizes)
    cell, value = np.repeat(np.arange(tasks), len(one)), np.tile(one, tasks)
    kept = random.random(len(cell)) >= LOST
    if half:
        kept &= (value < len(sizes) - 1) | (cell % 2 == 0)
    return evenness(cell[kept], value[kept])


def share(times: int, make: Callable[[], Evenness]) -> tuple[float, float]:
    """Shares of the repetitions that are certain, and certain or likely, in percent."""
    found = [make() for _ in range(times)]
    certain = [each.certain for each in found]
    either = [each.certain or each.likely for each in found]
    return 100 * float(np.mean(certain)), 100 * float(np.mean(either))


def main() -> None:
    """Write the tables."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    random = np.random.default_rng(20261123)
    rows, worst = [], {}
    for tasks, kind in product(TASKS, ("at random", "by the task", "by the outcome")):
        for n, values in product(SIZES, VALUES):
            often = times if tasks < 1000 else max(times // 5, 100)
            certain, either = share(often, partial(honest, random, kind, tasks, n, values))
            worst.setdefault((tasks, kind), []).append((certain, either))
    for (tasks, kind), pairs in worst.items():
        certain, either = zip(*pairs, strict=True)
        rows.append(
            f"| {tasks:,} | {kind} | {np.mean(certain):.2f} | {max(certain):.1f}"
            f" | {np.mean(either):.2f} | {max(either):.1f} |"
        )
    found: dict[bool, list[str]] = {False: [], True: []}
    for half, sizes in product(found, ARMS):
        cells = []
        for tasks in FOUND_IN:
            certain, either = share(max(times // 5, 50), partial(arms, random, sizes, tasks, half))
            cells.append(f"{certain:.0f} ({either:.0f})")
        found[half].append(f"| {' : '.join(map(str, sizes))} | " + " | ".join(cells) + " |")
    head = "| arms | " + " | ".join(f"{tasks} tasks" for tasks in FOUND_IN) + " |\n"
    head += "| --- |" + " --: |" * len(FOUND_IN) + "\n"
    error = 100 * (0.005 * 0.995 / times) ** 0.5
    Path(__file__).with_suffix(".md").write_text(
        "# Checks: settings that were pooled\n\n"
        "- An honest column is accused for certain in at most"
        f" {max(c for pairs in worst.values() for c, _ in pairs):.1f} % of files, in"
        f" {np.mean([c for pairs in worst.values() for c, _ in pairs]):.2f} % on average.\n"
        "- Arms are found for certain in the shares below; in brackets with those that are only"
        " likely.\n"
        f"- {times:,} repetitions a cell, a fifth of them at 1,000 tasks and for arms; at 0.5 %"
        f" ± {error:.2f} points.\n\n"
        "`python benchmarks/checks.py` makes both tables: 5 % of the attempts are lost.\n\n"
        "## Honest columns: accused, % of files\n\n"
        f"n of {', '.join(map(str, SIZES))}, columns of {', '.join(map(str, VALUES))} values: mean"
        " and largest of these.\n\n"
        "| tasks | values come | certain: mean | largest | certain or likely: mean | largest |\n"
        "| --: | --- | --: | --: | --: | --: |\n" + "\n".join(rows) + "\n\n"
        "## Settings: found, % of files\n\n"
        "Attempts of each arm at a task. The last four kinds were held out.\n\n"
        + head
        + "\n".join(found[False])
        + "\n\n## The last arm on half of the tasks\n\n"
        + head
        + "\n".join(found[True])
        + "\n"
    )


if __name__ == "__main__":
    main()
