"""Flips between two runs or models: which tasks flipped, which differ, what chance alone does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passk_cli.errors import ParameterError
from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.flips import Chances, boschloo, chances, flipped, number_law, range_of
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Estimate
from passk_cli.report.words import natural, series_name
from passk_cli.study.fact import Fact, Size
from passk_cli.study.study import Study
from passk_cli.study.values import Series

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

IMPROVED, REGRESSED = "improved", "regressed"
_FLIPS = {1: "to passing", -1: "to failing", 0: ""}
_VERDICTS = {1: IMPROVED, -1: REGRESSED, 0: ""}


class Side(NamedTuple):
    """One model (and groups) in one run: a series of some counts, and what it is called."""

    counts: Counts
    place: int
    name: str

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.counts.series[self.place]


@dataclass(frozen=True)
class Flips:
    """One side against another at the tasks both have attempts at.

    series : of the first.  name, against : what both are called.  tasks : names of the shared
    tasks.  n, c, n_base, c_base : attempts and passes of both.  strips : attempts in their order.
    p : exact, of equal rates.  adjusted : by Benjamini and Hochberg over the tasks of all pairs.
    only, only_base : tasks that the other side lacks, left out.  level : of significance.
    """

    series: Series
    name: str
    against: str
    tasks: tuple[str, ...]
    n: Ints
    c: Ints
    n_base: Ints
    c_base: Ints
    strips: tuple[tuple[str, ...], tuple[str, ...]]
    p: Floats
    adjusted: Floats
    only: int
    only_base: int
    level: float

    @cached_property
    def signs(self) -> Ints:
        """1 where a task flipped to passing, −1 to failing, else 0."""
        return flipped(self.n, self.c, self.n_base, self.c_base)

    @cached_property
    def verdicts(self) -> Ints:
        """1 where a task improved significantly, −1 where it regressed, else 0."""
        significant = self.adjusted <= 1 - self.level + 1e-12
        return np.where(significant, np.sign(self.change), 0).astype(np.int64)

    @cached_property
    def chance(self) -> Chances:
        """Of each task, what it does with its rate unchanged."""
        return chances(self.n, self.n_base, self.c + self.c_base)

    @property
    def number(self) -> int:
        """How many tasks flipped."""
        return int((self.signs != 0).sum())

    @property
    def single(self) -> NDArray[np.bool_]:
        """Tasks with one attempt on each side, of which nothing shows what chance does."""
        once: NDArray[np.bool_] = (self.n == 1) & (self.n_base == 1)
        return once

    @property
    def repeated(self) -> int:
        """How many flipped among the other tasks."""
        return int((self.signs[~self.single] != 0).sum())

    @property
    def expected(self) -> float:
        """Expected number of flips with no change, of the tasks with more than one attempt."""
        return float(self.chance.flips[~self.single].sum())

    @cached_property
    def law(self) -> Floats:
        """P(0 flips), P(1 flip), … of these tasks with no change."""
        return number_law(self.chance.flips[~self.single])

    @property
    def range(self) -> tuple[int, int]:
        """As many flips as these tasks have with no change, at the level."""
        return range_of(self.law, self.level)

    @property
    def p_more(self) -> float:
        """P(at least as many flips) with no change."""
        return min(1.0, float(self.law[self.repeated :].sum()))

    @property
    def most_single(self) -> float:
        """The most flips to expect of the tasks with one attempt each: 2 T m (1 − m), m their mean.

        Σ 2p(1 − p) is largest where all rates are equal.
        """
        once = self.single
        if not once.any():
            return 0.0
        mean = float((self.c + self.c_base)[once].mean()) / 2
        return 2 * int(once.sum()) * mean * (1 - mean)

    @property
    def change(self) -> Floats:
        """c/n − c₀/n₀ of each task."""
        return self.c / self.n - self.c_base / self.n_base

    def facts(self) -> Iterator[Fact]:
        """A tidy row for each shared task, with all that is known of it."""
        rows = zip(
            self.tasks, self.change.tolist(), self.p.tolist(), self.adjusted.tolist(),
            self.verdicts.tolist(), self.n.tolist(), self.c.tolist(), self.n_base.tolist(),
            self.c_base.tolist(), self.signs.tolist(), self.chance.flips.tolist(), *self.strips,
            strict=True,
        )  # fmt: skip
        for task, change, p, adjusted, verdict, n, c, n_base, c_base, sign, chance, *strips in rows:
            more = {
                "task": task, "n": n, "passes": c, "n_against": n_base, "passes_against": c_base,
                "flip": _FLIPS[sign], "flip_by_chance": chance, "attempts": strips[0],
                "attempts_against": strips[1],
            }  # fmt: skip
            yield Fact(
                self.series, "pass rate", None, Estimate(change, signed=True),
                size=Size(1, *sorted((n, n_base))), level=self.level, against=self.against, p=p,
                p_adjusted=adjusted, verdict=_VERDICTS[verdict], more=more,
            )  # fmt: skip

    def count(self, values: Ints, sign: int) -> int:
        """How many of `signs` or `verdicts` have a sign."""
        return int((values == sign).sum())


def find_flips(pairs: Sequence[tuple[Side, Side]], level: float = 0.95) -> list[Flips]:
    """Each pair at the tasks that both sides have, tested, and adjusted together.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [("new", "a", 9, 9), ("new", "b", 9, 1), ("old", "a", 9, 0), ("old", "b", 9, 2)]
    >>> counts = Counts.from_cells(cells)
    >>> (flips,) = find_flips([(Side(counts, 0, "new"), Side(counts, 1, "old"))])
    >>> flips.signs.tolist(), flips.verdicts.tolist(), round(flips.expected, 3)
    ([1, 0], [1, 0], 0.057)
    """
    both = {id(side.counts): side.counts for pair in pairs for side in pair}
    strips = {key: strips_of(counts) for key, counts in both.items()}
    every = [_matched(first, second, strips, level) for first, second in pairs]
    if not every:
        return []
    adjusted = benjamini_hochberg(np.concatenate([each.p for each in every]))
    parts = np.split(adjusted, np.cumsum([len(each.p) for each in every])[:-1])
    return [replace(each, adjusted=own) for each, own in zip(every, parts, strict=True)]


def _matched(
    first: Side, second: Side, strips: Mapping[int, NDArray[np.object_]], level: float
) -> Flips:
    """A pair on its shared tasks, not yet adjusted."""
    rows = [side.counts.rows_of(side.place) for side in (first, second)]
    places = [
        {side.counts.tasks[t]: i for i, t in enumerate(side.counts.task_codes[own].tolist())}
        for side, own in zip((first, second), rows, strict=True)
    ]
    tasks = sorted(places[0].keys() & places[1].keys(), key=natural)
    at = [np.array([place[task] for task in tasks], dtype=np.int64) for place in places]
    n, c, n_base, c_base = (
        values[own][where]
        for side, own, where in zip((first, second), rows, at, strict=True)
        for values in (side.counts.n, side.counts.c)
    )
    in_order = [
        tuple(strips[id(side.counts)][own][where].tolist())
        for side, own, where in zip((first, second), rows, at, strict=True)
    ]
    p = boschloo(n, c, n_base, c_base)
    return Flips(
        first.series, first.name, second.name, tuple(tasks), n, c, n_base, c_base,
        (in_order[0], in_order[1]), p, p,
        len(places[0]) - len(tasks), len(places[1]) - len(tasks), level,
    )  # fmt: skip


def pairs_of(study: Study) -> list[tuple[Side, Side]]:
    """Every model against one of the same data, or against the same one in another run.

    study : its `decided` names what is compared with, as "against".

    Errors: ParameterError where there is nothing to compare with.
    """
    counts, base, against = study.counts, study.baseline, str(study.decided["against"])
    others = counts if base is None else base
    models = sorted({series[0] for series in others.series})
    if base is None and against not in models:
        raise ParameterError(
            f"--against {against}: no such file, and no such model; there are {', '.join(models)}"
        )
    only = against if base is None else models[0] if len(models) == 1 else None
    places = {series: place for place, series in enumerate(others.series)}
    pairs = []
    for s in study.best_first:
        series = counts.series[s]
        model = only or series[0]
        other = (model, *series[1:])
        if other in places and (base is not None or series[0] != against):
            name = f"{model} ({against})" if model == series[0] else model
            side = Side(counts, s, series_name(series))
            pairs.append((side, Side(others, places[other], name)))
    return pairs


def strips_of(counts: Counts) -> NDArray[np.object_]:
    """Per cell "++-+", by the order of the attempts; "" where it is not known, or two attempts at
    one time have different outcomes."""
    strips = np.full(len(counts.n), "", dtype=object)
    bag = counts.attempts.get("attempt")
    if bag is None:
        return strips
    tied = (bag.passed > 0) & (bag.passed < bag.count)
    signs = np.repeat(np.where(bag.passed > 0, "+", "-"), bag.count)
    text = "".join(signs.tolist())
    ends = np.concatenate([[0], np.cumsum(bag.count)])[bag.start]
    fine = np.diff(ends) == counts.n
    fine[bag.cell[tied]] = False
    for i in np.flatnonzero(fine).tolist():
        strips[i] = text[ends[i] : ends[i + 1]]
    return strips
