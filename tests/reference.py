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
    """One attempt at a task. A value that the file lacks is "" or 0."""

    passed: bool
    order: Fraction = Fraction(0)
    score: Fraction = Fraction(0)
    answer: str = ""
    solution: str = ""


Series = tuple[str, ...]
Drawn = list[Attempt]
Cells = dict[Series, dict[str, Drawn]]


def passes(sample: Drawn) -> int:
    return sum(attempt.passed for attempt in sample)


def pass_at_least_one(sample: Drawn) -> Fraction:
    return Fraction(passes(sample) > 0)


def values(path: Path, metrics: Sequence[str], by: Sequence[str] = (), missing: str = "fail",
           short_tasks: str = "empty") -> dict[tuple[Series, str], Fraction | None]:  # fmt: skip
    """(model and groups, metric) → the mean over tasks, or None if it is undefined."""
    table: dict[tuple[Series, str], Fraction | None] = {}
    for series, tasks in read(path, by, missing).items():
        for metric in metrics:
            numbers = [value_of(metric, attempts) for attempts in tasks.values()]
            defined = [value for value in numbers if value is not None]
            complete = defined and (short_tasks == "drop" or len(defined) == len(numbers))
            table[series, metric] = average(defined) if complete else None
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
    return {model: {t: a for t, a in tasks.items() if a} for model, tasks in cells.items()
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
    """A metric of one task, or None if the task has fewer than k attempts."""
    parts = re.fullmatch(r"([a-z-]+[@^]?)(\d*)(?::(.*))?", metric)
    assert parts
    family, k = parts[1], int(parts[2] or 1)
    if len(attempts) < k:
        return Fraction(1) if family == "first@" and passes(attempts) else None
    if family in OF_CELL:
        return OF_CELL[family](attempts, k)
    if family == "gpass@":
        least = max(1, ceil(Fraction(parts[3]) * k))
        return mean(attempts, k, lambda sample: Fraction(passes(sample) >= least))
    return mean(attempts, k, OF_DRAWN[family])


def mean(attempts: Drawn, k: int, of: Callable[[Drawn], Fraction]) -> Fraction:
    """The mean over all k-subsets."""
    return average(of(list(sample)) for sample in combinations(attempts, k))


def average(numbers: Iterable[Fraction]) -> Fraction:
    terms = list(numbers)
    return sum(terms, Fraction(0)) / len(terms)


def first(attempts: Drawn, k: int) -> Fraction:
    """Whether one of the first k passes; attempts of the same number come in any order."""
    last = sorted(attempt.order for attempt in attempts)[k - 1]
    before = [attempt for attempt in attempts if attempt.order < last]
    tied = [attempt for attempt in attempts if attempt.order == last]
    return mean(tied, k - len(before), lambda sample: pass_at_least_one(before + sample))


def majority(sample: Drawn, attempts: Drawn) -> Fraction:
    """How often the most frequent answer is right; ties share, no answer never wins."""
    votes = Counter(attempt.answer for attempt in sample if attempt.answer)
    leaders = [attempt for attempt, n in votes.items() if n == max(votes.values())]
    return (
        average(share(attempts, "answer", attempt) for attempt in leaders)
        if leaders
        else Fraction(0)
    )


def pass_distinct(attempts: Drawn, k: int) -> Fraction:
    """Whether one of k different solutions passes, each as often as its attempts do."""
    rates = [share(attempts, "solution", text) for text in {text.solution for text in attempts}]
    subsets = combinations(rates, min(k, len(rates)))
    return 1 - average(prod((1 - rate for rate in text), start=Fraction(1)) for text in subsets)


def share(attempts: Drawn, field: str, text: str) -> Fraction:
    """The pass rate of the attempts with this answer or solution."""
    return average(Fraction(a.passed) for a in attempts if getattr(a, field) == text)


OF_CELL: dict[str, Callable[[Drawn, int], Fraction]] = {
    "gain@": lambda cell, k: mean(cell, k, pass_at_least_one) - mean(cell, 1, pass_at_least_one),
    "first@": first,
    "maj@": lambda cell, k: mean(cell, k, lambda sample: majority(sample, cell)),
    "distinct-pass@": pass_distinct,
}
OF_DRAWN: dict[str, Callable[[Drawn], Fraction]] = {
    "pass@": pass_at_least_one,
    "pass^": lambda sample: Fraction(passes(sample) == len(sample)),
    "mgpass@": lambda d: Fraction(max(0, passes(d) - ceil(Fraction(len(d), 2))) * 2, len(d)),
    "best@": lambda sample: max(attempt.score for attempt in sample),
    "worst@": lambda sample: min(attempt.score for attempt in sample),
    "mean": lambda sample: sample[0].score,
    "distinct@": lambda sample: Fraction(len({attempt.solution for attempt in sample})),
    "distinct-correct@": lambda sample: Fraction(len({a.solution for a in sample if a.passed})),
}  # fmt: skip
