"""Tasks between two runs or models: which flipped, which differ significantly, what chance does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from passk_cli.commands.tasks.classes import strips_of
from passk_cli.commands.tasks.listing import Listing, listing_report, natural, strip_cell, table_of
from passk_cli.errors import ParameterError
from passk_cli.inference.adjust import benjamini_hochberg, holm
from passk_cli.inference.flips import Chances, boschloo, chances, flipped, number_law, range_of
from passk_cli.message import Said
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Sentence, Table
from passk_cli.report.plot import Plot, forest
from passk_cli.report.words import first_few, plural, series_name, span
from passk_cli.study.fact import Fact, Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts
    from passk_cli.study.study import Study
    from passk_cli.study.values import Series

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

IMPROVED, REGRESSED = "improved", "regressed"
_FLIPS = {1: "to passing", -1: "to failing", 0: ""}
_VERDICTS = {1: IMPROVED, -1: REGRESSED, 0: ""}
MEANING = "a task flips when its two pass rates differ by more than one half"


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
    signs : 1 where a task flipped to passing, −1 to failing, else 0.
    p : exact, of equal rates.  adjusted : by Benjamini and Hochberg over the tasks of all pairs.
    verdicts : 1 where a task improved significantly, −1 where it regressed, else 0.
    chance : what a task does with its rate unchanged.
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
    signs: Ints
    p: Floats
    adjusted: Floats
    verdicts: Ints
    chance: Chances
    only: int
    only_base: int
    level: float

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

    @property
    def rows(self) -> Iterator[Fact]:
        """A tidy row for each task that flipped or differs significantly."""
        for t in np.flatnonzero((self.signs != 0) | (self.verdicts != 0)).tolist():
            counts = {"passes": int(self.c[t]), "passes_against": int(self.c_base[t])}
            sizes = sorted((int(self.n[t]), int(self.n_base[t])))
            yield Fact(
                self.series, "pass rate", None, Estimate(float(self.change[t]), signed=True),
                against=self.against, size=Size(1, *sizes), p=float(self.p[t]),
                p_adjusted=float(self.adjusted[t]), verdict=_VERDICTS[int(self.verdicts[t])],
                more={"task": self.tasks[t], **counts, "flip": _FLIPS[int(self.signs[t])]},
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
    return [
        replace(
            each, adjusted=own,
            verdicts=np.where(own <= 1 - level + 1e-12, np.sign(each.change), 0).astype(np.int64),
        )
        for each, own in zip(every, parts, strict=True)
    ]  # fmt: skip


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
        (in_order[0], in_order[1]), flipped(n, c, n_base, c_base), p, p,
        np.zeros(len(tasks), dtype=np.int64), chances(n, n_base, c + c_base),
        len(places[0]) - len(tasks), len(places[1]) - len(tasks), level,
    )  # fmt: skip


def pairs_of(study: Study) -> list[tuple[Side, Side]]:
    """Every model against one of the same data, or against the same one in another run.

    study : its `decided` names what is compared with, as "against".

    Errors: ParameterError where there is nothing to compare with.
    """
    counts, base, against = study.counts, study.baseline, str(study.decided["against"])
    order = study.best_first
    if base is None:
        models = sorted({series[0] for series in counts.series})
        if against not in models:
            raise ParameterError(
                f"--against {against}: no such file, and no such model; there are"
                f" {', '.join(models)}"
            )
        pairs = _partners(counts, order, counts, lambda series: (against, *series[1:]))
        return [pair for pair in pairs if pair[0].series[0] != against]
    alone = sorted({series[0] for series in base.series})
    if len(alone) == 1:
        return _partners(counts, order, base, lambda s: (alone[0], *s[1:]), against)
    return _partners(counts, order, base, lambda series: series, against)


def _partners(
    counts: Counts,
    order: Sequence[int],
    base: Counts,
    partner: Callable[[Series], Series],
    label: str = "",
) -> list[tuple[Side, Side]]:
    """The series in this order, each with its partner in other counts, where it has one."""
    places = {series: place for place, series in enumerate(base.series)}
    pairs = []
    for s in order:
        series = counts.series[s]
        other = partner(series)
        if other in places:
            name = f"{other[0]} ({label})" if label and other[0] == series[0] else other[0]
            pairs.append((Side(counts, s, series_name(series)), Side(base, places[other], name)))
    return pairs


def flips_report(study: Study, rows: int) -> Report:
    """A row per pair and shared task: significant changes first, then flips, then the rest."""
    pairs, against = pairs_of(study), study.decided["against"]
    if not pairs:
        raise ParameterError(
            f"--against {against}: no model of the data is there as well, in the same groups"
        )
    every = find_flips(pairs, study.confidence.level)
    if not any(flips.tasks for flips in every):
        raise ParameterError(f"--against {against}: no task that both have")
    order = _order(every)
    tables = [*_summary(every), _table(study, every, order[:rows], several=len(every) > 1)]
    return listing_report(
        study,
        Listing(tuple(tables), _data(study, every, order), len(order), min(rows, len(order))),
        answer=flips_answer(every),
        context=flips_caption(every),
        messages=flips_notes(every),
        plots=partial(_changes, every, order[:rows]),
        test="boschloo",
        adjust="bh",
        level=study.confidence.level,
    )


def _order(every: Sequence[Flips]) -> list[tuple[int, int]]:
    """(pair, task) of every row, in the order in which they are read."""
    places = [(i, t) for i, flips in enumerate(every) for t in range(len(flips.tasks))]
    keys = [
        np.concatenate([-np.abs(flips.change) for flips in every]),
        np.concatenate([flips.p for flips in every]),
        np.concatenate([flips.signs == 0 for flips in every]),
        np.concatenate([flips.verdicts == 0 for flips in every]),
    ]
    return [places[i] for i in np.lexsort(keys)]


def _changes(every: Sequence[Flips], order: Sequence[tuple[int, int]]) -> tuple[Plot, ...]:
    """The changes of the rows that people see."""
    rows = []
    for i, t in order:
        flips = every[i]
        name = f"{flips.name} · {flips.tasks[t]}" if len(every) > 1 else flips.tasks[t]
        rows.append({"task": name, "change": float(flips.change[t]), "low": None, "high": None,
                     "told": bool(flips.verdicts[t])})  # fmt: skip
    names = f"{every[0].name} − {every[0].against}" if len(every) == 1 else ""
    chart = forest(
        rows, label="task", value="change", low="low", high="high", told="told",
        title="Change of the pass rate at each task",
        subtitle=" · ".join(filter(None, (names, "○ not significant"))), x_title="change",
    )  # fmt: skip
    return (chart,)


def flips_tables(study: Study, every: Sequence[Flips], rows: int) -> list[Table]:
    """What `compare` shows of them: a row per pair, and the tasks that flipped or are significant.

    rows : at most so many tasks.
    """
    changed = [
        (i, t) for i, t in _order(every) if every[i].signs[t] != 0 or every[i].verdicts[t] != 0
    ]
    tables = list(_summary(every, always=True))
    if changed:
        more = f", first {rows:,} of {len(changed):,}" * (len(changed) > rows)
        table = _table(study, every, changed[:rows], several=True)
        tables.append(replace(table, title=f"Tasks that flipped{more}"))
    return tables


def _summary(every: Sequence[Flips], *, always: bool = False) -> Iterator[Table]:
    """A row per pair, where there are several."""
    if len(every) < 2 and not always:
        return
    columns = (
        Column("model"), Column("against"), Column("tasks", "count"), Column("flipped", "count"),
        Column("expected with no change"), Column("to passing", "count"),
        Column("to failing", "count"), Column("improved", "count"), Column("regressed", "count"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (flips.name, flips.against, len(flips.tasks), flips.number, _expected_words(flips),
         flips.count(flips.signs, 1), flips.count(flips.signs, -1),
         flips.count(flips.verdicts, 1), flips.count(flips.verdicts, -1))
        for flips in every
    ]  # fmt: skip
    yield Table(columns, tuple(rows), "Flips")


def _expected_words(flips: Flips) -> str:
    """As "12.3 (6–19)", or "0 to 40" where there is one attempt each."""
    if flips.single.all():
        return f"0 to {flips.most_single:.0f}"
    low, high = flips.range
    more = f" + 0 to {flips.most_single:.0f}" if flips.single.any() else ""
    return f"{flips.expected:.1f} ({span(low, high)}){more}"


def _table(
    study: Study, every: Sequence[Flips], order: Sequence[tuple[int, int]], *, several: bool
) -> Table:
    known = [any(text for flips in every for text in flips.strips[side]) for side in (0, 1)]
    both = all(known)
    names = ("passed", "against") if several else (every[0].name, every[0].against)
    columns = [*[Column("model"), Column("compared with")] * several, Column("task")]
    columns += [Column(names[0]), *[Column("attempts", "strip")] * both]
    columns += [Column(names[1]), *[Column("attempts", "strip")] * both]
    columns += [Column("change", "share"), Column("flip"), Column("p", "p")]
    columns += [Column("adjusted", "p"), Column("verdict")]
    rows: list[tuple[Cell, ...]] = []
    for i, t in order:
        flips = every[i]
        row: list[Cell] = [*[flips.name, flips.against] * several, flips.tasks[t]]
        row += [f"{flips.c[t]:,} of {flips.n[t]:,}", *[strip_cell(flips.strips[0][t])] * both]
        row += [f"{flips.c_base[t]:,} of {flips.n_base[t]:,}"]
        row += [strip_cell(flips.strips[1][t])] * both
        row += [Estimate(float(flips.change[t]), signed=True), _FLIPS[int(flips.signs[t])]]
        row += [float(flips.p[t]), float(flips.adjusted[t]), _VERDICTS[int(flips.verdicts[t])]]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), "Tasks" if several else "")


def flips_answer(every: Sequence[Flips]) -> tuple[Sentence, ...]:
    """How many flipped, how many chance alone would flip, and which differ significantly."""
    if len(every) > 1:
        flipped_, improved, regressed = (
            sum(values)
            for values in zip(
                *((f.number, f.count(f.verdicts, 1), f.count(f.verdicts, -1)) for f in every),
                strict=True,
            )
        )
        return (
            (
                f"{plural(len(every), 'pair')} of models at {_tasks_words(every)}:"
                f" {plural(flipped_, 'flip')}; {_significant(improved, regressed)}.",
            ),
            (_beyond_words(every),),
        )
    (flips,) = every
    improved, regressed = (flips.count(flips.verdicts, sign) for sign in (1, -1))
    gains, losses = (flips.count(flips.signs, sign) for sign in (1, -1))
    first = (
        f"{flips.number:,} of {plural(len(flips.tasks), 'task')} flipped, {gains:,} to passing and"
        f" {losses:,} to failing; {_chance_words(flips)}."
        f"{' Chance does not explain so many.' * bool(_beyond(every))}"
    )
    return (first,), (f"{_significant(improved, regressed).capitalize()}.",)


def _chance_words(flips: Flips) -> str:
    """How many flips chance alone makes, as far as the attempts tell."""
    if flips.single.all():
        return (
            "one attempt each does not tell how many of them are chance: with no change"
            f" 0 to {flips.most_single:.0f} are expected"
        )
    low, high = flips.range
    words = f"{flips.expected:.1f} are expected with no change ({span(low, high)})"
    if flips.single.any():
        once = int(flips.single.sum())
        words += (
            f" of the {plural(len(flips.tasks) - once, 'task')} with several attempts, where"
            f" {flips.repeated:,} flipped"
        )
    return words


def _significant(improved: int, regressed: int) -> str:
    total = improved + regressed
    if not total:
        return "no task differs significantly"
    verb = "differs" if total == 1 else "differ"
    return (
        f"{plural(total, 'task')} {verb} significantly: {improved:,} improved, {regressed:,}"
        " regressed"
    )


def _tasks_words(every: Sequence[Flips]) -> str:
    sizes = [len(flips.tasks) for flips in every]
    return f"{span(min(sizes), max(sizes))} task{'s' * (max(sizes) != 1)} each"


def _beyond(every: Sequence[Flips]) -> list[Flips]:
    """Pairs with more flips than chance explains (Holm over the pairs), as far as attempts tell."""
    adjusted = holm([flips.p_more for flips in every]).tolist()
    return [flips for flips, p in zip(every, adjusted, strict=True) if p <= (1 - flips.level) / 2]


def _beyond_words(every: Sequence[Flips]) -> str:
    """Which pairs these are, with their numbers."""
    over = f"Holm over {plural(len(every), 'pair')}"
    beyond = sorted(_beyond(every), key=lambda flips: flips.p_more)
    if not beyond:
        return f"No pair has more flips than chance explains ({over})."
    names = [
        f"{flips.name} against {flips.against} ({flips.repeated:,} where {flips.expected:.1f} are"
        " expected)"
        for flips in beyond
    ]
    return f"More flips than chance explains: {first_few(names)} ({over})."


def flips_caption(every: Sequence[Flips]) -> tuple[str, ...]:
    """What a flip is, how many are expected, and how tasks are tested."""
    level, tests = every[0].level, sum(len(flips.tasks) for flips in every)
    known = not all(flips.single.all() for flips in every)
    return (
        MEANING,
        f"expected with no change: all passes of a task dealt at random among its attempts; in"
        f" brackets {100 * level:g} % of such runs" * known,
        f"p: Boschloo's exact test of each task, Benjamini–Hochberg over {plural(tests, 'task')};"
        f" on average at most {100 * (1 - level):.3g} % of those listed are false (fewer, as p is"
        " discrete)",
    )


def flips_notes(every: Sequence[Flips]) -> Iterator[Said]:
    """What is left out, and what so few attempts cannot show."""
    for flips in every:
        if flips.only or flips.only_base:
            yield Note(
                f"{flips.name} against {flips.against}: tasks that only one has are left out"
                f" ({flips.only:,} and {flips.only_base:,})", "warning",
            )  # fmt: skip
    most = max((int((f.n + f.n_base).max()) for f in every if len(f.tasks)), default=0)
    tests = sum(len(flips.tasks) for flips in every)
    half = most // 2
    least = float(boschloo(most - half, most - half, half, 0)) if half else 1.0
    if half and least > 1 - every[0].level:
        yield Note(
            f"with {span(half, most - half)} attempt{'s' * (most > 2)} each no task can be"
            " significant",
            "warning",
        )
    elif least * tests > 1 - every[0].level:
        alone = int(np.ceil(least * tests / (1 - every[0].level)))
        yield Note(
            f"{plural(tests, 'task')} with {half} attempts each: none is significant unless at"
            f" least {alone:,} change from always to never, or back; more attempts, fewer models or"
            " fewer tasks lower that number"
        )


def changes_listed(every: Sequence[Flips], most: int = 20) -> tuple[str, ...]:
    """For a pipeline: a line for all pairs, and one for each of the first tasks that changed."""
    lines = []
    for flips in every:
        head = f"{flips.name} against {flips.against}"
        answer = " ".join(str(part) for sentence in flips_answer([flips]) for part in sentence)
        lines.append(f"{head}: {answer}")
        places = [
            t for _, t in _order([flips]) if flips.signs[t] != 0 or flips.verdicts[t] != 0
        ]  # fmt: skip
        for t in places[:most]:
            verdict = _VERDICTS[int(flips.verdicts[t])] or "not significant"
            lines.append(
                f"{flips.tasks[t]}: {flips.c_base[t]} of {flips.n_base[t]} passed, now"
                f" {flips.c[t]} of {flips.n[t]} ({verdict}, p = {flips.adjusted[t]:.4f})"
            )
        if len(places) > most:
            lines.append(f"and {len(places) - most:,} more")
    return tuple(lines)


def _data(study: Study, every: Sequence[Flips], order: Sequence[tuple[int, int]]) -> Table:
    """All rows in the schema of all commands."""
    groups = study.counts.group_names
    level, size = study.confidence.level, len(order)
    at = np.array(order, dtype=np.int64).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum([len(flips.tasks) for flips in every])])[:-1]
    flat = starts[at[:, 0]] + at[:, 1]

    def column(values: Sequence[NDArray[np.generic]]) -> list[Cell]:
        return list(np.concatenate(values)[flat].tolist())

    series = [every[i].series for i in at[:, 0].tolist()]
    fewest = column([np.minimum(flips.n, flips.n_base) for flips in every])
    most = column([np.maximum(flips.n, flips.n_base) for flips in every])
    signs = [_FLIPS[int(sign)] for sign in np.concatenate([f.signs for f in every])[flat]]
    verdicts = [_VERDICTS[int(v)] for v in np.concatenate([f.verdicts for f in every])[flat]]
    tasks = [every[i].tasks[t] for i, t in order]
    return table_of([
        ("model", [s[0] for s in series]),
        ("against", [every[i].against for i in at[:, 0].tolist()]),
        *((name, [s[1 + place] for s in series]) for place, name in enumerate(groups)),
        ("metric", ["pass rate"] * size), ("k", [None] * size),
        ("estimate", column([flips.change for flips in every])), ("se", [None] * size),
        ("low", [None] * size), ("high", [None] * size), ("level", [level] * size),
        ("interval", ["none"] * size), ("population", ["these-tasks"] * size),
        ("p", column([flips.p for flips in every])),
        ("p_adjusted", column([flips.adjusted for flips in every])), ("verdict", verdicts),
        ("tasks", [1] * size), ("n_min", fewest), ("n_max", most), ("task", tasks),
        ("n", column([flips.n for flips in every])),
        ("passes", column([flips.c for flips in every])),
        ("n_against", column([flips.n_base for flips in every])),
        ("passes_against", column([flips.c_base for flips in every])), ("flip", signs),
        ("flip_by_chance", column([flips.chance.flips for flips in every])),
        ("attempts", [every[i].strips[0][t] for i, t in order]),
        ("attempts_against", [every[i].strips[1][t] for i, t in order]),
        ("note", [""] * size),
    ])  # fmt: skip
