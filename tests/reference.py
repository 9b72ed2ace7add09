"""Every metric a second time, naively: each k-subset of a task's attempts, in exact fractions."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, prod
from pathlib import Path


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task; what the file does not tell is "" or 0."""

    passed: bool
    order: Fraction = Fraction(0)
    score: Fraction = Fraction(0)
    answer: str = ""
    solution: str = ""


Series = tuple[str, ...]
Drawn = list[Attempt]
Cells = dict[Series, dict[str, Drawn]]


def passes(drawn: Drawn) -> int:
    return sum(one.passed for one in drawn)


def some(drawn: Drawn) -> Fraction:
    return Fraction(passes(drawn) > 0)


def values(path: Path, metrics: Sequence[str], by: Sequence[str] = (), missing: str = "fail",
           short_tasks: str = "empty") -> dict[tuple[Series, str], Fraction | None]:  # fmt: skip
    """(model and groups, metric) → its mean over tasks; None where there is none."""
    table: dict[tuple[Series, str], Fraction | None] = {}
    for series, tasks in read(path, by, missing).items():
        for metric in metrics:
            each = [value_of(metric, attempts) for attempts in tasks.values()]
            there = [value for value in each if value is not None]
            complete = there and (short_tasks == "drop" or len(there) == len(each))
            table[series, metric] = average(there) if complete else None
    return table


def read(path: Path, by: Sequence[str], missing: str) -> Cells:
    """The attempts of JSON lines or CSV: a row per attempt, a list per task, or counts."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file) if path.suffix == ".csv" else map(json.loads, file)
        cells: Cells = {}
        for row in rows:
            series = (str(row.get("model") or path.stem), *(str(row[name]) for name in by))
            attempts = cells.setdefault(series, {}).setdefault(str(row["task"]), [])
            attempts += attempts_of(row, missing)
    return {one: {t: a for t, a in tasks.items() if a} for one, tasks in cells.items()
            if any(tasks.values())}  # fmt: skip


def attempts_of(row: dict[str, object], missing: str) -> Iterable[Attempt]:
    if "n" in row:
        yield from (Attempt(i < int(str(row["c"]))) for i in range(int(str(row["n"]))))
        return
    outcomes = row.get("results", [row.get("passed")])
    for outcome in outcomes:  # type: ignore[attr-defined]
        text = "" if outcome is None else str(outcome)
        if text or missing == "fail":
            passed, numbers = text.lower() in ("true", "1"), ("attempt", "score")
            order, score = (Fraction(str(row.get(name, 0))) for name in numbers)
            texts = (str(row.get(name) or "") for name in ("answer", "solution"))
            yield Attempt(passed, order, score, *texts)


def value_of(metric: str, attempts: Drawn) -> Fraction | None:
    """A metric of one task; None where it has fewer than k attempts."""
    parts = re.fullmatch(r"([a-z-]+[@^]?)(\d*)(?::(.*))?", metric)
    assert parts
    family, k = parts[1], int(parts[2] or 1)
    if len(attempts) < k:
        return Fraction(1) if family == "first@" and passes(attempts) else None
    if family in OF_CELL:
        return OF_CELL[family](attempts, k)
    if family == "gpass@":
        least = max(1, ceil(Fraction(parts[3]) * k))
        return mean(attempts, k, lambda drawn: Fraction(passes(drawn) >= least))
    return mean(attempts, k, OF_DRAWN[family])


def mean(attempts: Drawn, k: int, of: Callable[[Drawn], Fraction]) -> Fraction:
    """The mean over all k-subsets."""
    return average(of(list(drawn)) for drawn in combinations(attempts, k))


def average(numbers: Iterable[Fraction]) -> Fraction:
    each = list(numbers)
    return sum(each, Fraction(0)) / len(each)


def first(attempts: Drawn, k: int) -> Fraction:
    """Whether one of the first k passes; attempts of the same number come in any order."""
    last = sorted(one.order for one in attempts)[k - 1]
    before = [one for one in attempts if one.order < last]
    tied = [one for one in attempts if one.order == last]
    return mean(tied, k - len(before), lambda drawn: some(before + drawn))


def majority(drawn: Drawn, attempts: Drawn) -> Fraction:
    """How often the most frequent answer is right; ties share, no answer never wins."""
    votes = Counter(one.answer for one in drawn if one.answer)
    leaders = [one for one, n in votes.items() if n == max(votes.values())]
    return average(share(attempts, "answer", one) for one in leaders) if leaders else Fraction(0)


def pass_distinct(attempts: Drawn, k: int) -> Fraction:
    """Whether one of k different solutions passes, each as often as its attempts do."""
    rates = [share(attempts, "solution", text) for text in {one.solution for one in attempts}]
    subsets = combinations(rates, min(k, len(rates)))
    return 1 - average(prod((1 - rate for rate in one), start=Fraction(1)) for one in subsets)


def share(attempts: Drawn, field: str, text: str) -> Fraction:
    """The pass rate of the attempts with this answer or solution."""
    return average(Fraction(a.passed) for a in attempts if getattr(a, field) == text)


OF_CELL: dict[str, Callable[[Drawn, int], Fraction]] = {
    "gain@": lambda cell, k: mean(cell, k, some) - mean(cell, 1, some),
    "first@": first,
    "maj@": lambda cell, k: mean(cell, k, lambda drawn: majority(drawn, cell)),
    "distinct-pass@": pass_distinct,
}
OF_DRAWN: dict[str, Callable[[Drawn], Fraction]] = {
    "pass@": some,
    "pass^": lambda drawn: Fraction(passes(drawn) == len(drawn)),
    "mgpass@": lambda d: Fraction(max(0, passes(d) - ceil(Fraction(len(d), 2))) * 2, len(d)),
    "best@": lambda drawn: max(one.score for one in drawn),
    "worst@": lambda drawn: min(one.score for one in drawn),
    "mean": lambda drawn: drawn[0].score,
    "distinct@": lambda drawn: Fraction(len({one.solution for one in drawn})),
    "distinct-correct@": lambda drawn: Fraction(len({a.solution for a in drawn if a.passed})),
}  # fmt: skip
