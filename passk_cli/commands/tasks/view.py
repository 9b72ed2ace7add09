"""Tasks one by one: how many are flaky, each with its rates, all models at once, and suspects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.commands.tasks import ROWS, TasksOptions
from passk_cli.commands.tasks.flips import (
    NO_TASK_SIGNIFICANT,
    SIGNIFICANT_TOGETHER,
    TASKS_OF_ONE_SIDE,
    ComparedTasks,
    FlippedPairs,
    flips_report,
    strip_cell,
)
from passk_cli.errors import ParameterError
from passk_cli.files.arguments import name_beside, paths_of
from passk_cli.files.request import Request
from passk_cli.inference.discrimination import FEWEST, MOST_ORDERED
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.single import MOST_NEEDED, passes_needed
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import (
    ALWAYS,
    FULL,
    Column,
    Estimate,
    Limits,
    Report,
    Sentence,
    Table,
)
from passk_cli.report.plot import Plot, heat
from passk_cli.report.words import first_few, names_cut, natural, plural, series_name, sized
from passk_cli.study.baseline import Runs, label_of, only_models
from passk_cli.study.extremes import named
from passk_cli.study.fact import Fact, Size
from passk_cli.study.section import GROUPS, MODEL, Section, data_field, view
from passk_cli.study.study import Study
from passk_cli.study.tasks import (
    CLASSES,
    EVERYBODY,
    FAILED,
    FLAKY,
    MISSING,
    NOBODY,
    PASSED,
    SUSPECT,
    SuspectTask,
    TaskRates,
    find_suspects,
    matrices,
    natural_ranks,
    rates_by_task,
)
from passk_cli.study.values import Series

__all__ = ["NO_TASK_SIGNIFICANT", "SIGNIFICANT_TOGETHER", "TASKS_OF_ONE_SIDE"]

# Columns of a terminal for names of tasks; rows of one table by passes.
_WIDE, _MOST_ROWS = 50, 11
# Columns of a screen.
_SCREEN = 100
LOOK = "look at the task's checker"

FEW_MODELS = Message(
    "few-models", WARNING, "a correlation over models needs {fewest} models; a group has {models}",
    "",
    "The item–rest correlation is computed over models. With fewer than four it says nothing, and"
    " the tasks of that group are not tested.",
)  # fmt: skip
NO_SUSPECT_POSSIBLE = Message(
    "no-suspect-possible", NOTE,
    "with {models:model} the smallest p is {smallest:=p}: no task can become significant", "",
    "p-values of so few models are coarse, and are adjusted for the number of tasks. The"
    " correlations still rank the tasks: look at the lowest ones first.",
)  # fmt: skip
SUSPECTS_TOGETHER = Message(
    "suspects-together", NOTE,
    "with {models:model} the smallest p is {smallest:=p}: significant only if {alone:task} have it",
    "",
    "p-values of so few models are coarse, and are adjusted for the number of tasks. The"
    " correlations still rank the tasks: look at the lowest ones first.",
)  # fmt: skip
RELATED_MODELS = Message(
    "related-models", NOTE,
    "models are taken as independent; related models make intervals too narrow", "",
    "Versions of one model, or models trained on the same data, tend to pass the same tasks. They"
    " count here as if each were a new observation. Keep one of each family with --model.",
)  # fmt: skip
PAIRS_WITHOUT_ATTEMPTS = Message(
    "pairs-without-attempts", WARNING, "{pairs:model–task pair} without attempts left out", "",
    "Some models have no attempts at tasks that other models have. Each task is judged by the"
    " models that have attempts at it.",
)  # fmt: skip


def _ended(count: int) -> str:
    return "is" if count == 1 else "are"


class ByPasses(NamedTuple):
    """The tasks with one number of passes, or with rates in one tenth.

    limits : of the rates that their attempts do not rule out; None where attempts differ.
    """

    label: str
    limits: Limits | None
    names: Sequence[str]


@dataclass(frozen=True)
class PassesOfTasks(Section[ByPasses]):
    """The tasks of one model by how many attempts passed."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("passed", cell=lambda passes: passes.label,
               meaning="Attempts that passed, of all at the task; or the share that passed."),
        Column("tasks", "count", cell=lambda passes: len(passes.names),
               meaning="Tasks with so many passes."),
        Column("true rate", "share", cell=lambda passes: passes.limits,
               where=lambda section: all(passes.limits for passes in section.records),
               meaning="Pass rates that these attempts do not rule out (Clopper–Pearson)."),
        Column("which", cell=lambda passes: names_cut(passes.names, _WIDE), meaning="Their names."),
    )  # fmt: skip

    rates: TaskRates

    def answer(self) -> Iterator[Sentence]:
        """How many tasks are flaky, and how many are not so far."""
        numbers, n = self.rates.numbers, self.rates.n
        flaky, passed, failed = (numbers[name] for name in (FLAKY, PASSED, FAILED))
        if n.max() == 1:
            yield (
                f"With one attempt each no task shows as flaky; {passed:,} of"
                f" {plural(len(n), 'task')} passed, {failed:,} failed.",
            )
            return
        start = f"{flaky:,} of {plural(len(n), 'task')} {_ended(flaky)} flaky"
        if n.min() == n.max():
            yield (f"{start}; {passed:,} passed all {n[0]:,} attempts, {failed:,} failed all.",)
        else:
            yield (f"{start}; {passed:,} passed every attempt, {failed:,} failed every attempt.",)

    def context(self) -> Iterator[str]:
        """The tasks and attempts, and the method of the limits."""
        yield sized([len(self.rates.n)], self.rates.n.tolist())
        if all(passes.limits for passes in self.records):
            yield f"true rate: {100 * self.study.confidence.level:g} % Clopper–Pearson"
        yield "each task: --full"


def passes_of(rates: TaskRates) -> list[ByPasses]:
    """Tasks by their passes; by tenths of the pass rate where numbers of passes are many."""
    names = [rates.names[t] for t in rates.tasks.tolist()]
    order = sorted(range(len(names)), key=lambda at: natural(names[at]))
    cells: dict[tuple[int, int], list[int]] = {}
    for at in order:
        cells.setdefault((int(rates.c[at]), int(rates.n[at])), []).append(at)
    if len(cells) <= _MOST_ROWS:
        return [
            ByPasses(
                f"{c:,} of {n:,}", Limits(float(rates.low[ats[0]]), float(rates.high[ats[0]])),
                [names[at] for at in ats],
            )
            for (c, n), ats in sorted(cells.items(), key=lambda cell: (cell[0][0] / cell[0][1],
                                                                       cell[0][1]))
        ]  # fmt: skip
    tenths: dict[int, list[str]] = {}
    places = np.select([rates.c == 0, rates.c == rates.n], [-1, 10],
                       np.minimum(10 * rates.c // np.maximum(rates.n, 1), 9))  # fmt: skip
    for at in order:
        tenths.setdefault(int(places[at]), []).append(names[at])
    ends = {-1: "no attempt", 10: "every attempt"}
    return [
        ByPasses(ends.get(tenth, f"{10 * tenth}–{10 * tenth + 10} %"), None, tenths[tenth])
        for tenth in sorted(tenths)
    ]


@dataclass(frozen=True)
class FlakyModels(Section[TaskRates]):
    """How many tasks of each model are flaky, pass or fail every attempt."""

    columns: ClassVar[tuple[Column, ...]] = (
        MODEL,
        GROUPS,
        Column("tasks", "count", cell=lambda rates: len(rates.tasks),
               where=lambda section: len({len(rates.tasks) for rates in section.records}) > 1,
               meaning="Tasks that some model of its group has attempts at."),
        Column("flaky", "count", cell=lambda rates: rates.numbers[FLAKY],
               meaning="Tasks with attempts that passed and attempts that failed."),
        Column("passed every attempt", "count", cell=lambda rates: rates.numbers[PASSED],
               meaning="Tasks without a failure so far."),
        Column("failed every attempt", "count", cell=lambda rates: rates.numbers[FAILED],
               meaning="Tasks without a pass so far."),
        Column("missing", "count", cell=lambda rates: rates.numbers[MISSING],
               where=lambda section: any(rates.numbers[MISSING] for rates in section.records),
               meaning="Tasks without attempts, which other models have."),
        Column("flaky tasks", cell=lambda rates: names_cut(rates.members(FLAKY) or [""], 30),
               meaning="Their names."),
    )  # fmt: skip

    def answer(self) -> Iterator[Sentence]:
        """Which model is flakiest, and which tasks tell no model from another."""
        numbers = [rates.numbers[FLAKY] for rates in self.records]
        most, least = max(numbers), min(numbers)
        groups = self.study.counts.group_names
        first, *others = (
            named(rates.series, groups)
            for rates, number in zip(self.records, numbers, strict=True) if number == most
        )  # fmt: skip
        tasks = next(len(r.tasks) for r in self.records if r.numbers[FLAKY] == most)
        if most == least:
            yield (f"Each of {len(numbers):,} models has {most:,} flaky tasks of {tasks:,}.",)
        else:
            who = f"{first} and {len(others):,} more" if others else first
            yield (f"Flaky tasks per model: {least:,} to {most:,} of {tasks:,}, most for {who}.",)
        yield agreed(self.study)

    def context(self) -> Iterator[str]:
        """The tasks and attempts."""
        n = np.concatenate([rates.n for rates in self.records])
        yield sized([len(rates.tasks) for rates in self.records], n[n > 0].tolist())
        yield "each task: --full"


def agreed(study: Study) -> Sentence:
    """How many tasks every attempt of every model passed, and how many every attempt failed."""
    counts = study.counts
    n, c = (np.bincount(counts.task_codes, values) for values in (counts.n, counts.c))
    tasks, passed, failed = len(counts.tasks), int((c == n).sum()), int((c == 0).sum())
    return (
        f"{passed:,} of {plural(tasks, 'task')} passed every attempt of every model, {failed:,}"
        " failed every attempt.",
    )


@dataclass(frozen=True)
class TaskList(Section[Fact]):
    """Every model at every task: flaky ones first, or those nearest to a rate.

    rate : that tasks are asked to pass above.  first : 0 for a table with --full alone.
    """

    title = "Each task"
    columns: ClassVar[tuple[Column, ...]] = (
        replace(MODEL, where=lambda section: section.several),
        replace(GROUPS, where=lambda section: section.several),
        Column("task", name="task", cell=lambda fact: fact.more["task"],
               meaning="The task's name."),
        Column("passed", cell=lambda fact: f"{fact.more['passes']:,} of {fact.size.n_min:,}",
               meaning="Attempts that passed, of all at this task."),
        Column("attempts", "strip", name="attempts",
               cell=lambda fact: strip_cell(fact.more["attempts"]),
               where=lambda section: section.in_order and section.rate is None,
               meaning="The attempts in their order; + passed, - failed."),
        Column("pass rate", "share", cell=lambda fact: fact.estimate,
               meaning="Passes per attempt, with the rates that these attempts do not rule out:"
               " Clopper–Pearson limits of this task alone."),
        Column("class", name="class", cell=lambda fact: fact.more["class"],
               where=lambda section: section.rate is None,
               meaning="flaky: some attempts passed and some failed; passed every attempt; failed"
               " every attempt; missing: no attempts, where another model has some."),
        Column("above {0}", across=lambda section: [f"{section.rate:g}"] if section.rate else [],
               cell=lambda fact, rate: "shown" if fact.more["above_shown"] else "not shown",
               example="0.95",
               meaning="Whether the attempts show that the task passes above this rate."),
        Column("more passes", where=lambda section: section.rate is not None,
               cell=lambda fact: "many" if fact.more["passes_needed"] >= MOST_NEEDED // 2
               else f"{fact.more['passes_needed']:,}",
               meaning="Further attempts that would show it, if all of them pass."),
        data_field("passes", "Attempts that passed."),
        data_field("above", "The rate asked for (--always)."),
        data_field("above_shown", "1 where the task is shown to pass above that rate, else 0."),
        data_field("passes_needed", "Further attempts that would show it, if all of them pass."),
    )  # fmt: skip

    rate: float | None

    @property
    def several(self) -> bool:
        """Whether there is more than one model."""
        return len(self.study.counts.series) > 1

    @property
    def in_order(self) -> bool:
        """Whether the order of attempts is known."""
        return any(fact.more["attempts"] for fact in self.records)

    def facts(self) -> Sequence[Fact]:
        """A tidy row per model and task."""
        return self.records

    def answer(self) -> Iterator[Sentence]:
        """How many are shown to pass above the rate."""
        if self.rate is None:
            return
        shown = sum(bool(fact.more["above_shown"]) for fact in self.records)
        noun = "model–task pair" if self.several else "task"
        least = int(passes_needed(0, 0, self.rate, self.study.confidence.level))
        yield (
            f"{shown:,} of {plural(len(self.records), noun)} {_ended(shown)} shown to pass above"
            f" {self.rate:g}; without a failure that takes {plural(least, 'attempt')}.",
        )

    def context(self) -> Iterator[str]:
        """The limit by which a rate is shown."""
        if self.rate is not None:
            yield sized([len(self.study.counts.tasks)], self.study.counts.n.tolist())
            yield f"shown: one-sided {100 * self.study.confidence.level:g} % limit"

    def details(self) -> Iterator[str]:
        """Whether the order of attempts is known."""
        yield "attempts in their order" if self.in_order else "the order of attempts is not known"

    def tables(self) -> Iterator[Table]:
        """A row per model and task; without rows only with --full."""
        for table in super().tables():
            title = self.title if self.rate is None else ""
            yield replace(table, shown=ALWAYS if self.first else FULL, title=title)

    def plots(self) -> tuple[Plot, ...]:
        """All tasks and models as colours."""
        return heat_maps(self.study)


def task_facts(
    counts: Counts, rates: Sequence[TaskRates], level: float, rate: float | None
) -> list[Fact]:
    """A fact per model and task: nearest to the rate first, then those that vary most.

    Of tasks that vary alike the one with more attempts stands first.
    """
    ranks = natural_ranks(counts.tasks)
    facts: list[tuple[tuple[float, ...], Fact]] = []
    for place, each in enumerate(rates):
        needed = [0] * len(each.n)
        if rate is not None:
            needed = passes_needed(each.n, each.c, rate, level).tolist()
        rows = zip(
            each.tasks.tolist(), each.n.tolist(), each.c.tolist(), each.low.tolist(),
            each.high.tolist(), each.codes.tolist(), each.strips, needed, strict=True,
        )  # fmt: skip
        for task, n, c, low, high, code, strip, more in rows:
            fields = {
                "task": counts.tasks[task], "passes": c, "class": CLASSES[code], "attempts": strip
            }  # fmt: skip
            if rate is not None:
                fields |= {"above": rate, "above_shown": int(not more), "passes_needed": more}
            fact = Fact(
                each.series, "pass rate", None, Estimate(c / n if n else None, low=low, high=high),
                size=Size(1, n, n), method="clopper-pearson", level=level,
                flaw="" if n else "no attempts", more=fields,
            )  # fmt: skip
            varied = abs(c / n - 0.5) if n else 1.0
            facts.append(((more, code, varied, -n, ranks[task], place), fact))
    return [fact for _, fact in sorted(facts, key=lambda pair: pair[0])]


def classes_report(study: Study, rows: int, rate: float | None) -> Report:
    """How many tasks are flaky, and each of them; or which pass above a rate."""
    level = study.confidence.level
    study = replace(study, confidence=replace(study.confidence, population=THESE_TASKS))
    rates = rates_by_task(study.counts, level, study.best_first, strips=True)
    facts = task_facts(study.counts, rates, level, rate)
    sections: list[Section[Any]] = [
        TaskList(study, facts, rate, first=rows or (ROWS if rate else 0))
    ]
    if not rate and len(rates) == 1:
        sections.insert(0, PassesOfTasks(study, passes_of(rates[0]), rates[0]))
    elif not rate:
        sections.insert(0, FlakyModels(study, rates))
    return view(
        study, sections, messages=study.messages(()), interval="clopper-pearson", level=level,
        population=THESE_TASKS, always=rate,
    )  # fmt: skip


class MatrixRow(NamedTuple):
    """The pass rates of one group's models at one task."""

    groups: Series
    task: str
    mean: float
    rates: dict[str, float]


_GROUPS = replace(GROUPS, cell=lambda record, item: record.groups[item[0]])


@dataclass(frozen=True)
class MatrixOfModels(Section[MatrixRow]):
    """A row per task and a column per model.

    part : the first and the last of the models that have a column; None for all.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        _GROUPS,
        Column("task", name="task", cell=lambda row: row.task, meaning="The task's name."),
        Column("models' mean", "share", cell=lambda row: row.mean,
               meaning="Mean of the models' pass rates; tasks are sorted, the easiest first."),
        Column("{0[1]}", "share", name="MODEL", cell=lambda row, model: row.rates.get(model[0]),
               across=lambda section: section.models[slice(*section.part)], example=("", "MODEL"),
               meaning="Pass rate of this model at the task; models are sorted, the best first."),
    )  # fmt: skip

    part: tuple[int, int | None] = (0, None)

    @cached_property
    def models(self) -> list[tuple[str, str]]:
        """Every model with its header, which no other column has."""
        others = (*self.study.counts.group_names, "task", "models' mean")
        models = dict.fromkeys(model for row in self.records for model in row.rates)
        return [(name, f"{name} (model)" if name in others else name) for name in models]

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """The models that a screen has columns for at once, from first to last."""
        heads = (*self.study.counts.group_names, "task", "models' mean")
        texts = [heads, *((*row.groups, row.task, "") for row in self.records)]
        names = sum(max(map(len, column)) for column in zip(*texts, strict=True)) + 2 * len(heads)
        parts, start, end = [], 0, names - 2
        for place, (_, header) in enumerate(self.models):
            width = max(len(header), len("0.000")) + 2
            end += width
            if end > _SCREEN and place > start:
                parts.append((start, place))
                start, end = place, names - 2 + width
        return [*parts, (start, len(self.models))]

    def answer(self) -> Iterator[Sentence]:
        """How many tasks tell no model from another."""
        yield agreed(self.study)

    def context(self) -> Iterator[str]:
        """The order of the rows and columns."""
        yield "best models and easiest tasks first"
        if more := len(self.models) - self.parts[:2][-1][1]:
            yield f"{plural(more, 'more model')}: --full"

    def tables(self) -> Iterator[Table]:
        """As many models beside one another as a screen has columns for, and the next ones below;
        with --full all of them."""
        for place, part in enumerate(self.parts):
            table = replace(self, part=part).table(self.records, self.title)
            yield replace(table, shown=ALWAYS if place < 2 else FULL)

    def plots(self) -> tuple[Plot, ...]:
        """All tasks and models as colours."""
        return heat_maps(self.study)


def matrix_report(study: Study, rows: int) -> Report:
    """A row per task and a column per model."""
    records = [
        MatrixRow(
            group.groups, task, mean,
            {m: r for m, r in zip(group.models, rates, strict=True) if r == r},
        )
        for group in matrices(study.counts)
        for task, mean, rates in zip(
            group.tasks, group.mean.tolist(), group.rates.tolist(), strict=True
        )
    ]  # fmt: skip
    matrix = MatrixOfModels(study, records, first=rows)
    report = view(study, [matrix], messages=study.messages(()), interval=None)
    return replace(report, data=matrix.data())


def heat_maps(study: Study) -> tuple[Plot, ...]:
    """The pass rates as colours: models down, tasks across; a panel per group."""
    every = list(matrices(study.counts))
    grouped = bool(study.counts.group_names)
    rows = [
        {**cell, "group": series_name(matrix.groups)} if grouped else cell
        for matrix in every
        for cell in matrix.cells()
    ]
    most = max(len(matrix.tasks) for matrix in every)
    across = max(matrix.across for matrix in every)
    together = f"about {most / across:.0f} tasks share a cell" if most > across else ""
    return (
        heat(
            rows, label="model", low="from", high="to", value="pass rate", words="tasks",
            facet="group" if grouped else "", title="Pass rate of each model at each task",
            subtitle=" · ".join(filter(None, (plural(most, "task"), together))),
            x_title="tasks, from the easiest to the hardest",
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class SuspectTasks(Section[SuspectTask]):
    """Tasks by the smallest p, those that weaker models pass more often first."""

    columns: ClassVar[tuple[Column, ...]] = (
        _GROUPS,
        Column("task", name="task", cell=lambda task: task.task, meaning="The task's name."),
        data_field("metric", "", lambda task: "item-rest correlation"),
        Column("pass rate", "share", cell=lambda task: task.mean,
               meaning="Mean of the models' pass rates."),
        Column("item–rest correlation", "score",
               cell=lambda task: Estimate(task.correlation, low=task.low, high=task.high,
                                          signed=True, share=False),
               meaning="Spearman's correlation, over models, of the pass rate at this task and at"
               " all others, with its interval; below 0, weaker models pass it more often."),
        data_field("estimate", "", lambda task: task.correlation),
        data_field("low", "", lambda task: task.low),
        data_field("high", "", lambda task: task.high),
        data_field("level", "", lambda task: task.level),
        Column("p", "p", name="p", cell=lambda task: task.p, shown=FULL,
               meaning="p-value of a correlation of 0 or more."),
        Column("adjusted p", "p", name="p_adjusted", cell=lambda task: task.adjusted,
               meaning="The p-value by Benjamini and Hochberg over all tasks."),
        Column("finding", name="verdict", cell=lambda task: task.kind,
               meaning="What the task says of differences between models."),
        data_field("models", "Models with attempts at the task.", lambda task: task.tried),
        data_field("n", "Attempts of all models at the task.", lambda task: task.n),
        data_field("c", "Passes of all models at the task.", lambda task: task.c),
        data_field("mean_rate", "Mean of the models' pass rates.", lambda task: task.mean),
        Column("contribution", "share", name="contribution", cell=lambda task: task.share,
               shown=FULL,
               meaning="Share of the task in the variance between the models' means; all add up to"
               " 1, and it is negative where better models pass less often."),
        data_field("note", "", lambda task: LOOK if task.kind == SUSPECT else ""),
    )  # fmt: skip

    def answer(self) -> Iterator[Sentence]:
        """Which tasks are suspect, and how many separate no models."""
        kinds = [task.kind for task in self.records]
        suspects = [series_name((*t.groups, t.task)) for t in self.records if t.kind == SUSPECT]
        if all(task.p is None for task in self.records):
            yield ("No task could be tested: at every task the models pass equally often.",)
        elif suspects:
            yield (
                f"Weaker models pass {plural(len(suspects), 'task')} more often:"
                f" {first_few(suspects)}; {LOOK}.",
            )
        else:
            yield ("No task is passed significantly more often by weaker models.",)
        yield (
            f"Of {plural(len(kinds), 'task')}, {kinds.count(NOBODY):,} nobody solves and"
            f" {kinds.count(EVERYBODY):,} everybody solves.",
        )

    def context(self) -> Iterator[str]:
        """The models, the level and the adjustment."""
        yield plural(max(task.models for task in self.records), "model")
        yield f"{100 * self.records[0].level:g} % limits"
        yield "Benjamini–Hochberg"

    def details(self) -> Iterator[str]:
        """The law of p."""
        ordered = max(task.models for task in self.records) <= MOST_ORDERED
        yield "p from all orders of the models" if ordered else "p from t, given the ranks"

    def messages(self) -> Iterator[Said]:
        """The limits of so few models, and the assumption about them."""
        fewest, most = (end(task.models for task in self.records) for end in (min, max))
        if fewest < FEWEST:
            yield FEW_MODELS(fewest=FEWEST, models=fewest)
        tests = [task.smallest for task in self.records if task.smallest is not None]
        if tests and min(tests) * len(tests) > 1 - self.records[0].level:
            alone = math.ceil(min(tests) * len(tests) / (1 - self.records[0].level))
            message = SUSPECTS_TOGETHER if alone <= len(tests) else NO_SUSPECT_POSSIBLE
            yield message(models=most, smallest=min(tests), alone=alone)
        yield RELATED_MODELS()
        if gone := sum(task.models - task.tried for task in self.records):
            yield PAIRS_WITHOUT_ATTEMPTS(pairs=gone)

    def plots(self) -> tuple[Plot, ...]:
        """All tasks and models as colours."""
        return heat_maps(self.study)


def suspects_report(study: Study, rows: int) -> Report:
    """A row per task, those that weaker models pass more often first."""
    level = study.confidence.level
    records = find_suspects(study.counts, level)
    most = max(task.models for task in records)
    if most < FEWEST:
        raise ParameterError(
            f"--suspects: it needs {FEWEST} models, whose results at each task are compared with"
            f" their results at all others; there {_ended(most)} {most}",
            name="nothing-to-compare",
        )
    tasks = SuspectTasks(study, records, first=rows)
    report = view(
        study, [tasks], messages=study.messages(()),
        interval=None, correlation="spearman", level=level, adjust="bh",
    )  # fmt: skip
    return replace(report, data=tasks.data())


class EachTask(Question, TasksOptions):
    """The question of `passk tasks`."""

    sections = (
    PassesOfTasks, FlakyModels, TaskList, FlippedPairs, ComparedTasks, MatrixOfModels, SuspectTasks,
)  # fmt: skip

    unbounded: ClassVar[str] = (
        "whether a task is flaky changes with each missing outcome that passes or fails"
    )

    def request(self, options: SharedOptions) -> Request:
        """The columns to read, and the order of the attempts where the data has one."""
        if self.order_from_lines:
            return replace(options.request, attempts=("line",))
        return replace(options.request, order=options.request.missing != "bounds")

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None: it is about each task."""
        return ()

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data, and what it is compared with, where that is another file."""
        views = {"--against": self.against is not None, "--suspects": self.suspects,
                 "--matrix": self.matrix, "--always": self.always is not None}  # fmt: skip
        asked = [name for name, given in views.items() if given]
        if len(asked) > 1:
            raise ParameterError(
                f"{' and '.join(asked)} are views of their own; give one of them",
                name="contradicting-options",
            )
        if self.against is None:
            return super().study(options, read)
        runs = Runs.apart(options.files, self.against)
        if runs.baseline is None:
            named = self.against if isinstance(self.against, str) else None
            study = super().study(
                options, lambda request, source=None: read(request.keeping(named), source)
            )
            return replace(study, decided={"against": named})
        study = super().study(options, lambda request, source=None: read(request, runs.files))
        request = self.request(options)
        other = only_models(read(request.of_all_models(), runs.baseline), request)
        names = [name_beside(path, options.files) for path in paths_of(self.against)]
        label = ", ".join(names) or label_of(self.against)
        return replace(study, baseline=other, reading=runs.notes, decided={"against": label})

    def report(self, study: Study) -> Report:
        """The view that was asked for."""
        if self.against is not None:
            return flips_report(study, self.rows or ROWS)
        if self.suspects:
            return suspects_report(study, self.rows or ROWS)
        if self.matrix:
            return matrix_report(study, self.rows or ROWS)
        return classes_report(study, self.rows or 0, self.always)
