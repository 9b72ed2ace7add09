"""Every sentence above a table is true: random data, and the fields behind the words.

Means are computed here from the rows, with exact fractions and no code of passk.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import passk_cli
from passk_cli.report.model import Stated

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")

Row = dict[str, Any]
NUMBER = 60


def random_rows(draw: random.Random, groups: int = 0) -> list[Row]:
    """One to five models with few tasks, so that ties, gaps and numbers of attempts differ."""
    models = "abcde"[: draw.randint(1, 5)]
    tasks, same_n = draw.randint(1, 6), draw.random() < 0.6
    n, lacking = draw.choice([1, 2, 4]), draw.choice([0.0, 0.0, 0.3])
    rows = []
    for model in models:
        for task in range(tasks):
            own = n if same_n else draw.randint(1, 4)
            group = {"suite": f"s{draw.randrange(groups)}"} if groups else {}
            if draw.random() >= lacking:
                row = {"model": model, "task": str(task), "n": own, "c": draw.randint(0, own)}
                rows.append({**row, **group})
    # One row at least, so that there is something to read.
    return rows or [{"model": "a", "task": "0", "n": 1, "c": 1, **({"suite": "s0"} * bool(groups)
                     if False else ({"suite": "s0"} if groups else {}))}]


def pass_at(k: int, n: int, c: int) -> Fraction:
    """1 − C(n − c, k) / C(n, k)."""
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def mean_of(rows: list[Row], k: int, tasks: set[str] | None = None) -> Fraction | None:
    """pass@k over the tasks; None if one of them has fewer than k attempts."""
    own = [row for row in rows if tasks is None or row["task"] in tasks]
    if not own or any(row["n"] < k for row in own):
        return None
    values = [pass_at(k, row["n"], row["c"]) for row in own]
    return sum(values, Fraction(0)) / len(values)


def stated(command: str, rows: list[Row], **options: Any) -> Iterator[Stated]:
    """The declared sentences of a command about these rows."""
    found = getattr(passk_cli, command)(rows, **options)
    return (sentence for sentence in found.report.answer if isinstance(sentence, Stated))
