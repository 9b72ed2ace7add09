"""Flips: tasks that pass in one run or model and fail in another, and what chance alone flips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.adjust import holm
from passk_cli.inference.flips import boschloo
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.report.model import ALWAYS, FULL, Cell, Column, Estimate, Sentence, Table
from passk_cli.report.plot import Plot, forest
from passk_cli.report.words import plural, series_name, span
from passk_cli.study.fact import Fact, Size
from passk_cli.study.flips import Flips, Side, find_flips
from passk_cli.study.section import Section, data_field, view

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study
    from passk_cli.study.values import Series

__all__ = ["Flips", "Side", "find_flips"]

# Tasks of a table without --full, and of a chart; attempts of one task that people see.
ROWS, DRAWN, _LONGEST = 12, 30, 24
IMPROVED, REGRESSED = "improved", "regressed"
_FLIPS = {1: "to passing", -1: "to failing", 0: ""}
_VERDICTS = {1: IMPROVED, -1: REGRESSED, 0: ""}

TASKS_OF_ONE_SIDE = Message(
    "tasks-of-one-side", WARNING,
    "tasks that only one side has are left out: {only} of {model} and {only_base} of {against}"
    "{?others|; the same holds for {others}}",
    "",
    "A task can only flip where both runs or models have attempts at it. Tasks of one side are left"
    " out of flips, expected flips and tests.",
)  # fmt: skip
NO_TASK_SIGNIFICANT = Message(
    "no-task-significant", WARNING, "with {attempts} attempts each no task can be significant",
    "",
    "The test of one task compares its passes in both runs. With very few attempts even a change"
    " from passed every attempt to failed every attempt has a p-value above the level. More"
    " attempts per task help; more tasks do not.",
)  # fmt: skip
SIGNIFICANT_TOGETHER = Message(
    "significant-together", NOTE,
    "with {attempts:attempt} each, nothing is significant unless {alone:task} change completely",
    "",
    "Every task is tested, so p-values are adjusted for all tests (Benjamini and Hochberg). With"
    " few attempts one task alone cannot reach the level after that, even when it passed every"
    " attempt in one run and failed every attempt in the other; so many such tasks together can."
    " More attempts, fewer models or fewer tasks lower that number.",
)  # fmt: skip


class TaskChange(NamedTuple):
    """One task of a pair: flips, and the place of the task in them."""

    flips: Flips
    at: int

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.flips.tasks[self.at]

    @property
    def changed(self) -> bool:
        """Whether the task flipped or differs significantly."""
        return bool(self.flips.signs[self.at] or self.flips.verdicts[self.at])

    @property
    def flip(self) -> str:
        """ "to passing", "to failing" or ""."""
        return _FLIPS[int(self.flips.signs[self.at])]

    @property
    def verdict(self) -> str:
        """ "improved", "regressed", or "" where the rates do not differ significantly."""
        return _VERDICTS[int(self.flips.verdicts[self.at])]

    @property
    def rank(self) -> tuple[bool, bool, float, float]:
        """Significant changes first, then flips, then the rest by p and by the change."""
        p, change = float(self.flips.p[self.at]), float(self.flips.change[self.at])
        return not self.verdict, not self.flip, p, -abs(change)

    def passed(self, side: int) -> str:
        """ "3 of 4" on the first or second side."""
        n, c = self.flips.sides[side]
        return f"{c[self.at]:,} of {n[self.at]:,}"

    def fact(self, **more: Cell) -> Fact:
        """The tidy row of its change, with further fields."""
        flips, at = self.flips, self.at
        (n, _), (n_base, _) = flips.sides
        return Fact(
            flips.series, "pass rate", None, Estimate(float(flips.change[at]), signed=True),
            against=flips.against, size=Size(1, *sorted((int(n[at]), int(n_base[at])))),
            p=float(flips.p[at]), p_adjusted=float(flips.adjusted[at]), verdict=self.verdict,
            more={"task": self.task, **more},
        )  # fmt: skip


def changes_of(every: Iterable[Flips]) -> list[TaskChange]:
    """Every shared task of every pair."""
    return [TaskChange(flips, at) for flips in every for at in range(len(flips.tasks))]


@dataclass(frozen=True)
class FlippedPairs(Section[Flips]):
    """How many tasks of each pair flipped, and how many would with no change."""

    title = "Flips"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell=lambda flips: flips.name,
               meaning="The model or agent whose tasks flipped."),
        Column("against", cell=lambda flips: flips.against,
               meaning="The model or run that it is compared with."),
        Column("tasks", "count", cell=lambda flips: len(flips.tasks),
               meaning="Tasks that both have attempts at."),
        Column("flipped", "count", cell=lambda flips: flips.number,
               meaning="Tasks whose two pass rates differ by more than one half."),
        Column("expected", cell=lambda flips: _expected(flips),
               meaning="Flips expected with no change, all passes of a task dealt at random among"
               " its attempts; in brackets their range in most such runs (at the level). With one"
               " attempt each only a range is known, 0 to its upper end."),
        Column("to passing", "count", cell=lambda flips: flips.count(flips.signs, 1),
               meaning="Tasks that flipped to passing."),
        Column("to failing", "count", cell=lambda flips: flips.count(flips.signs, -1),
               meaning="Tasks that flipped to failing."),
        Column("improved", "count", cell=lambda flips: flips.count(flips.verdicts, 1),
               meaning="Tasks whose pass rate is significantly higher."),
        Column("regressed", "count", cell=lambda flips: flips.count(flips.verdicts, -1),
               meaning="Tasks whose pass rate is significantly lower."),
    )  # fmt: skip

    def answer(self) -> tuple[Sentence, ...]:
        """How many flipped, how many chance alone would flip, and which differ significantly."""
        return flips_answer(self.records)

    def context(self) -> Iterator[str]:
        """The test of each task."""
        yield "by task: Boschloo, Benjamini–Hochberg"

    def details(self) -> Iterator[str]:
        """The false discoveries to expect, and the test of how many flipped."""
        level, tests = self.records[0].level, sum(len(flips.tasks) for flips in self.records)
        yield (
            f"Boschloo's exact test of each task, Benjamini–Hochberg over {plural(tests, 'test')};"
            f" on average at most {100 * (1 - level):.3g} % of the significant tasks are false"
            " (fewer, as p is discrete)"
        )
        yield (
            f"more flips than chance explains: above the {100 * level:g} % range of their exact"
            f" law, Holm over {plural(len(self.records), 'pair')}"
        )

    def messages(self) -> Iterator[Said]:
        """Tasks that are left out, and what so few attempts cannot show."""
        lacking = [flips for flips in self.records if flips.only or flips.only_base]
        if lacking:
            most = max(lacking, key=lambda flips: flips.only + flips.only_base)
            others = plural(len(lacking) - 1, "other pair") if len(lacking) > 1 else ""
            yield TASKS_OF_ONE_SIDE(
                only=most.only, model=most.name, only_base=most.only_base, against=most.against,
                others=others,
            )  # fmt: skip
        tests = sum(len(flips.tasks) for flips in self.records)
        if not tests:
            return
        most_attempts = max(int((f.n + f.n_base).max()) for f in self.records if len(f.tasks))
        half, level = most_attempts // 2, self.records[0].level
        least = float(boschloo(most_attempts - half, most_attempts - half, half, 0))
        if least > 1 - level:
            yield NO_TASK_SIGNIFICANT(attempts=span(half, most_attempts - half))
        elif least * tests > 1 - level:
            yield SIGNIFICANT_TOGETHER(
                attempts=half, alone=int(np.ceil(least * tests / (1 - level)))
            )

    def tables(self) -> Iterator[Table]:
        """A row per pair; of one pair, the answer says it."""
        for table in super().tables():
            yield replace(table, shown=ALWAYS if len(self.records) > 1 else FULL)


@dataclass(frozen=True)
class FlippedTasks(Section[TaskChange]):
    """The tasks that flipped, or whose pass rates differ significantly.

    records : every shared task of every pair, of which those that changed are shown.
    first : rows without --full.
    """

    title = "Tasks that flipped"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell=lambda change: change.flips.name,
               meaning="The model or agent whose task flipped.",
               where=lambda section: section.several),
        Column("against", cell=lambda change: change.flips.against,
               meaning="The model or run that it is compared with.",
               where=lambda section: section.several),
        Column("task", name="task", cell=lambda change: change.task, meaning="The task's name."),
        Column("{0[1]}", cell=lambda change, side: change.passed(side[0]),
               across=lambda section: enumerate(section.sides),
               meaning="Attempts that passed, of all at this task."),
        Column("change", "share",
               cell=lambda change: Estimate(float(change.flips.change[change.at]), signed=True),
               meaning="Difference of the two pass rates."),
        Column("flip", name="flip", cell=lambda change: change.flip,
               meaning="Whether the two pass rates differ by more than one half, and how."),
        Column("p", "p", cell=lambda change: float(change.flips.p[change.at]), shown=FULL,
               meaning="Boschloo's exact test that both pass rates are equal."),
        Column("adjusted p", "p", cell=lambda change: float(change.flips.adjusted[change.at]),
               meaning="The p-value by Benjamini and Hochberg over the tasks of all pairs."),
        Column("verdict", cell=lambda change: change.verdict,
               meaning="improved or regressed where the adjusted p-value is at most 1 − level."),
        Column("attempts", "strip", shown=FULL, name="attempts",
               cell=lambda change: strip_cell(change.flips.strips[0][change.at]),
               where=lambda section: section.in_order,
               meaning="The attempts in their order."),
        Column("attempts against", "strip", shown=FULL, name="attempts_against",
               cell=lambda change: strip_cell(change.flips.strips[1][change.at]),
               where=lambda section: section.in_order,
               meaning="The attempts in their order of what it is compared with."),
        data_field("passes", "Attempts that passed."),
        data_field("passes_against", "Attempts that passed of what it is compared with."),
    )  # fmt: skip

    first: int = ROWS

    @property
    def several(self) -> bool:
        """Whether there is more than one pair."""
        return len({id(change.flips) for change in self.records}) > 1

    @property
    def sides(self) -> tuple[str, str]:
        """What the columns of both sides are called."""
        flips = self.records[0].flips
        return ("passed", "other passed") if self.several else (flips.name, flips.against)

    @property
    def in_order(self) -> bool:
        """Whether the order of attempts is known on both sides."""
        every = {id(change.flips): change.flips for change in self.records}.values()
        return all(any(any(flips.strips[side]) for flips in every) for side in (0, 1))

    @property
    def changes(self) -> list[TaskChange]:
        """The tasks that are shown, as they are read."""
        return sorted((c for c in self.records if c.changed), key=lambda change: change.rank)

    def facts(self) -> Iterator[Fact]:
        """A tidy row for each task that flipped or differs significantly."""
        for change in self.records:
            if change.changed:
                (_, c), (_, c_base) = change.flips.sides
                yield change.fact(
                    passes=int(c[change.at]), passes_against=int(c_base[change.at]),
                    flip=change.flip,
                )  # fmt: skip

    def tables(self) -> Iterator[Table]:
        """A row per task; with several pairs only with --full."""
        if changes := self.changes:
            shown = FULL if self.several else ALWAYS
            yield replace(self.table(changes, self.title), shown=shown, first=self.first)

    def plots(self) -> tuple[Plot, ...]:
        """The change of the pass rate at each task that is shown."""
        rows = [
            {
                "task": f"{change.flips.name} · {change.task}" if self.several else change.task,
                "change": float(change.flips.change[change.at]), "low": None, "high": None,
                "told": bool(change.verdict),
            }
            for change in self.changes[: max(self.first, DRAWN)]
        ]  # fmt: skip
        flips = self.records[0].flips
        names = "" if self.several else f"{flips.name} − {flips.against}"
        return (
            forest(
                rows, label="task", value="change", low="low", high="high", told="told",
                title="Change of the pass rate at each task",
                subtitle=" · ".join(filter(None, (names, "○ not significant"))), x_title="change",
            ),
        )  # fmt: skip


@dataclass(frozen=True)
class ComparedTasks(FlippedTasks):
    """Every shared task of every pair, also where nothing changed."""

    title = ""
    columns: ClassVar[tuple[Column, ...]] = (
        *FlippedTasks.columns,
        data_field("n", "Attempts at the task."),
        data_field("n_against", "Attempts at it of what it is compared with."),
        data_field("flip_by_chance", "Probability that the task flips with no change."),
    )

    @property
    def changes(self) -> list[TaskChange]:
        """The tasks as they are read."""
        return sorted(self.records, key=lambda change: change.rank)

    def facts(self) -> Iterator[Fact]:
        """A tidy row for each task."""
        for change in self.changes:
            flips, at = change.flips, change.at
            fact = change.fact(
                n=int(flips.n[at]), passes=int(flips.c[at]), n_against=int(flips.n_base[at]),
                passes_against=int(flips.c_base[at]), flip=change.flip,
                flip_by_chance=float(flips.chance.flips[at]), attempts=flips.strips[0][at],
                attempts_against=flips.strips[1][at],
            )  # fmt: skip
            yield replace(fact, level=flips.level)


def strip_cell(strip: str) -> str:
    """A strip as people see it: of a long one the first attempts, and how many there are.

    >>> strip_cell("+-" * 2), strip_cell("+" * 50)[-6:]
    ('+-+-', ' of 50')
    """
    if len(strip) <= _LONGEST:
        return strip
    return f"{strip[:_LONGEST]} first {_LONGEST} of {len(strip):,}"


def _expected(flips: Flips) -> str:
    """As "12.3 (6–19)", or "0 to 40" where there is one attempt each."""
    if flips.single.all():
        return f"0 to {flips.most_single:.0f}"
    several = f"{flips.expected:.1f} ({span(*flips.range)})"
    return f"{several} + 0 to {flips.most_single:.0f}" if flips.single.any() else several


def flips_answer(every: Sequence[Flips]) -> tuple[Sentence, ...]:
    """How many flipped, how many chance alone would flip, and which differ significantly."""
    flipped = sum(flips.number for flips in every)
    improved, regressed = (sum(flips.count(flips.verdicts, sign) for flips in every)
                           for sign in (1, -1))  # fmt: skip
    significant = "no task differs significantly"
    if improved + regressed:
        significant = (
            f"{plural(improved + regressed, 'task')} changed significantly: {improved:,} improved,"
            f" {regressed:,} regressed"
        )
    # Holm over the pairs: more flips than chance explains.
    adjusted = holm([flips.p_more for flips in every]).tolist()
    beyond = sorted(
        (flips for flips, p in zip(every, adjusted, strict=True) if p <= (1 - flips.level) / 2),
        key=lambda flips: flips.p_more,
    )
    if len(every) == 1:
        chance = (("Chance does not explain so many.",),) if beyond else ()
        return (_one_pair(every[0]),), *chance, (f"{significant[0].upper()}{significant[1:]}.",)
    start = f"{plural(len(every), 'pair')} of models: {plural(flipped, 'flip')}; {significant}."
    if not beyond:
        return (start,), ("No pair has more flips than chance explains.",)
    first = beyond[0]
    return (start,), (
        f"More than chance explains: {first.name} against {first.against}"
        f" ({first.repeated:,} flips, {first.expected:.1f} expected)"
        + (f" and {plural(len(beyond) - 1, 'more pair')}." if beyond[1:] else "."),
    )


def _one_pair(flips: Flips) -> str:
    """How many flipped, and how many chance alone flips as far as the attempts show."""
    gains, losses = (flips.count(flips.signs, sign) for sign in (1, -1))
    flipped = (
        f"{flips.number:,} of {plural(len(flips.tasks), 'task')} flipped, {gains:,} to passing and"
        f" {losses:,} to failing"
    )
    expected = f"{flips.expected:.1f} ({span(*flips.range)}) expected with no change"
    if flips.single.all():
        return f"{flipped}; one attempt each: 0 to {flips.most_single:.0f} expected with no change."
    if flips.single.any():
        tasks = plural(int((~flips.single).sum()), "task")
        return f"{flipped}; of {tasks} with several attempts {flips.repeated:,}, {expected}."
    return f"{flipped}; {expected}."


def changes_listed(every: Sequence[Flips], most: int = 20) -> tuple[str, ...]:
    """For a pipeline: a line for each pair, and one for each of the first tasks that changed."""
    lines = []
    for flips in every:
        answer = " ".join(str(part) for sentence in flips_answer([flips]) for part in sentence)
        lines.append(f"{flips.name} against {flips.against}: {answer}")
        changes = sorted(
            (change for change in changes_of([flips]) if change.changed),
            key=lambda change: change.rank,
        )
        lines += [
            f"{change.task}: {change.passed(1)} passed, now {change.passed(0)}"
            f" ({change.verdict or 'not significant'}, p = {flips.adjusted[change.at]:.4f})"
            for change in changes[:most]
        ]
        if len(changes) > most:
            lines.append(f"and {len(changes) - most:,} more")
    return tuple(lines)


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


def flips_report(study: Study, rows: int | None) -> Report:
    """Every model of the data against another run or model."""
    pairs, against = pairs_of(study), study.decided["against"]
    if not pairs:
        raise ParameterError(
            f"--against {against}: no model of the data is there as well, in the same groups"
        )
    every = find_flips(pairs, study.confidence.level)
    if not any(flips.tasks for flips in every):
        raise ParameterError(f"--against {against}: no task that both have")
    study = replace(study, confidence=replace(study.confidence, population=THESE_TASKS))
    tasks = [len(flips.tasks) for flips in every]
    n = [attempts for flips in every for attempts in (*flips.n, *flips.n_base)]
    return view(
        study,
        [FlippedPairs(study, every), ComparedTasks(study, changes_of(every), rows or ROWS)],
        context=[f"{span(min(tasks), max(tasks))} tasks × {span(min(n), max(n))} attempts"],
        messages=study.messages(()),
        interval=None,
        test="boschloo",
        adjust="bh",
        level=study.confidence.level,
    )


# Bridges for `compare`, which does not list sections yet.
def flips_tables(study: Study, every: Sequence[Flips], rows: int) -> list[Table]:
    """Tables of the sections."""
    sections = FlippedPairs(study, every), FlippedTasks(study, changes_of(every), rows)
    return [replace(t, shown=ALWAYS) for section in sections for t in section.tables()]


def flips_facts(study: Study, every: Sequence[Flips]) -> list[Fact]:
    """Tidy rows of the section."""
    return list(FlippedTasks(study, changes_of(every)).facts())


def flips_caption(every: Sequence[Flips]) -> tuple[str, ...]:
    """The context of the section."""
    return tuple(FlippedPairs(None, every).context())  # type: ignore[arg-type]


def flips_notes(every: Sequence[Flips]) -> Iterator[Said]:
    """Messages of the section."""
    yield from FlippedPairs(None, every).messages()  # type: ignore[arg-type]
