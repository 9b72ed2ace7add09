"""The reports of `passk tasks`: flaky tasks, a list of tasks, a matrix, and suspect tasks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.tasks import TasksOptions
from passk_cli.commands.tasks.flips import (
    MANY_CHANGES_NEEDED_NOTE,
    NO_TASK_SIGNIFICANT_WARNING,
    UNSHARED_TASKS_WARNING,
    ComparedTaskTable,
    FlipCountsByPairTable,
    flips_report,
    shorten_strip,
)
from passk_cli.commands.tasks.item_rest_correlations import FEWEST, MOST_ORDERED
from passk_cli.commands.tasks.matrix import (
    EVERYBODY,
    FAILED,
    FLAKY,
    MISSING,
    NOBODY,
    PASSED,
    SUSPECT,
    TASK_CLASSES,
    TaskWithItemRestCorrelation,
    results_per_model_and_task,
    sort_all_tasks_by_suspicion,
    task_rate_matrices,
)
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import distinguishing_name, paths_in_data
from passk_cli.inference.binomial_rate import MAX_FURTHER_ATTEMPTS, further_passes_needed
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.data_types import (
    ALWAYS,
    BRIEF,
    FULL,
    AnswerSentence,
    Column,
    Estimate,
    Limits,
    OptionHint,
    Report,
    Table,
)
from passk_cli.report.phrases import (
    SeriesName,
    names_that_fit,
    natural_key,
    plural,
    tasks_and_attempts,
)
from passk_cli.report.plot import Plot, bars, heat
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.baseline import FilesOfRunAndBaseline, baseline_label, select_models
from passk_cli.study.flips import outcome_strips
from passk_cli.study.result import Result
from passk_cli.study.run_to_run_noise import NOISE_ANSWERS_OMITTING_FLAKY_COUNT, NoiseSummary
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.value_range import name_with_groups
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.text import short_names

__all__ = ["MANY_CHANGES_NEEDED_NOTE", "NO_TASK_SIGNIFICANT_WARNING", "UNSHARED_TASKS_WARNING"]

_WIDE, _MOST_ROWS = 50, 11
# By default, a table with one row per task shows _DEFAULT_ROWS rows.
_DEFAULT_ROWS = 12
_SCREEN, _NAME, _TASK = 100, 16, 24
# A row of a heat map has at most _ACROSS cells, and a heat map has about _IN_ALL cells in total. A
# heat map with many rows may have more cells, because each row can have _FEWEST cells.
_ACROSS, _IN_ALL, _FEWEST = 160, 8_000, 50
SUSPECT_TASK_ADVICE = "look at the task's checker"

TOO_FEW_MODELS_WARNING = DiagnosticType(
    "few-models", WARNING,
    "item–rest correlations need at least {fewest} models, but a group has only {models}",
    meaning="passk computes the item–rest correlation of a task across models. An item–rest"
    " correlation needs at least four models.",
    why="If a group has fewer than four models, passk computes no correlation and no test for the"
    " tasks of this group.",
    advice="Add results of more models to each group with fewer than four models, or leave out"
    " --by.",
    example="warning[few-models]: item–rest correlations need at least 4 models, but a group has"
    " only 3",
)  # fmt: skip
_FEW_MODELS_P_VALUES_TEXT = (
    "With few models, only a few different p-values are possible. passk also adjusts the p-values"
    " for the number of tasks."
)
_LOWEST_CORRELATIONS_ADVICE = (
    "You can still rank the tasks by their correlations. Look at the tasks with the lowest"
    " correlations first, or add results of more models."
)
NO_SUSPECT_POSSIBLE_NOTE = DiagnosticType(
    "no-suspect-possible", NOTE,
    "{models:model} {models:is|are} too few to find suspect tasks (smallest possible p"
    " {smallest:=p})",
    meaning=_FEW_MODELS_P_VALUES_TEXT,
    why="No task can have a significant correlation, so an empty list of suspect tasks does not"
    " show that all tasks are correct.",
    advice=_LOWEST_CORRELATIONS_ADVICE,
    example="passk tasks sample_data/agents.jsonl --suspects\n"
    "note[no-suspect-possible]: 8 models are too few to find suspect tasks (smallest possible p"
    " 0.13)",
)  # fmt: skip
SUSPECTS_SIGNIFICANT_TOGETHER_NOTE = DiagnosticType(
    "suspects-together", NOTE,
    "with {models:model}, the smallest possible p is {smallest:=p}, which is significant only if"
    " {alone:task} have this p",
    meaning=_FEW_MODELS_P_VALUES_TEXT,
    why="If fewer tasks have the smallest possible p-value than the message requires, no task is"
    " significant.",
    advice=_LOWEST_CORRELATIONS_ADVICE,
    example="passk tasks sample_data/evalplus.csv.gz --suspects\n"
    "note[suspects-together]: with 6 models, the smallest possible p is 0.050, which is significant"
    " only if 361 tasks have this p",
)  # fmt: skip
MODEL_INDEPENDENCE_ASSUMED_NOTE = DiagnosticType(
    "related-models", NOTE,
    "passk assumes that models are independent; related models make intervals too narrow",
    meaning="passk treats each model as an independent observation. Versions of one model, or"
    " models trained on the same data, tend to pass the same tasks.",
    why="If many models are related, intervals of correlations are too narrow and p-values are too"
    " small.",
    advice="Use `--model` to keep only one model of each family.",
    example="passk tasks sample_data/agents.jsonl --suspects\n"
    "note[related-models]: passk assumes that models are independent; related models make intervals"
    " too narrow",
)  # fmt: skip
PAIRS_WITHOUT_ATTEMPTS_WARNING = DiagnosticType(
    "pairs-without-attempts", WARNING,
    "{pairs:model–task pair} without attempts {pairs:is|are} left out",
    meaning="Some models have no attempts at tasks that other models have.",
    why="passk computes the correlation of each task from the models with attempts at this task."
    " The correlations of two tasks may therefore be based on different models.",
    advice="Run the missing tasks, or use `--model` to keep only the models that have all tasks.",
    example="warning[pairs-without-attempts]: 12 model–task pairs without attempts are left out",
)  # fmt: skip


def _agreement_fields(section: ReportSection[Any]) -> Mapping[str, int]:
    counts = section.study.counts
    n, c = (np.bincount(counts.task_codes, values) for values in (counts.n, counts.c))
    return {
        "tasks": len(counts.tasks), "passed": int((c == n).sum()), "failed": int((c == 0).sum()),
    }  # fmt: skip


AGREEMENT_ANSWERS = (
    Answer("agreed", lambda section: all(_agreement_fields(section).values()),
           "All attempts of all models passed at {passed} of {tasks:task}, and failed at {failed}.",
           _agreement_fields),
    Answer("passed-by-all", lambda section: _agreement_fields(section)["passed"],
           "All attempts of all models passed at {passed} of {tasks:task}.", _agreement_fields),
    Answer("failed-by-all", lambda section: _agreement_fields(section)["failed"],
           "All attempts of all models failed at {failed} of {tasks:task}.", _agreement_fields),
    Answer("nothing-agreed", lambda _: True,
           "At every task, some attempts of the models passed and some failed.", _agreement_fields),
)  # fmt: skip


class PassCountGroup(NamedTuple):
    """The tasks with the same number of passes, or with similar pass rates (such as 10–20 %)."""

    label: str
    true_rate_limits: Limits | None
    task_names: list[str]


class PassCountTable(ReportSection[PassCountGroup]):
    """One row per number of passes, with the tasks at which one model has this number."""

    shown_when = "of one model"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("passed", cell_of_record=lambda passes: passes.label,
               meaning="Number or share of the attempts at a task that passed."),
               Column("tasks", "count", cell_of_record=lambda passes: len(passes.task_names),
                      meaning="Number of tasks with this number or share of passes."),
        Column("true rate", "share", cell_of_record=lambda passes: passes.true_rate_limits,
               exists_in_section=lambda section: all(passes.true_rate_limits
                   for passes in section.records),
               meaning="Range of pass rates that the attempts do not rule out (Clopper–Pearson)."),
        Column("which", cell_of_record=lambda passes: names_that_fit(passes.task_names, _WIDE),
               meaning="Names of the tasks with this number or share of passes."),
    )  # fmt: skip

    answers = (
        Answer("flaky-of-single-attempts", lambda section: section.sentence_fields["most"] == 1,
               "With one attempt per task, no task can be flaky; {passed} of {tasks:task} passed,"
               " {failed} failed."),
        Answer("flaky-of-equal-attempts",
               lambda section: section.sentence_fields["most"] == section.sentence_fields["least"],
               "{flaky} of {tasks:task} {flaky:is|are} flaky; all {most} attempts passed at"
               " {passed:task} and failed at {failed:task}."),
        Answer("flaky", lambda _: True,
               "{flaky} of {tasks:task} {flaky:is|are} flaky; every attempt passed at"
               " {passed:task} and failed at {failed:task}."),
    )  # fmt: skip

    def answer(self) -> Iterator[AnswerSentence]:
        yield from super().answer()
        yield from first_true_sentence(NOISE_ANSWERS_OMITTING_FLAKY_COUNT, NoiseSummary(self.study))

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        n, c = self.study.counts.n, self.study.counts.c
        passed, failed = int((c == n).sum()), int((c == 0).sum())
        return {
            "tasks": len(n), "flaky": len(n) - passed - failed, "passed": passed,
            "failed": failed, "least": int(n.min()), "most": int(n.max()),
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str | OptionHint]:
        n = self.study.counts.n
        yield tasks_and_attempts([len(n)], n.tolist())
        if all(passes.true_rate_limits for passes in self.records):
            yield f"true rate: {100 * self.study.confidence.level:g} % Clopper–Pearson"
        yield OptionHint("each task")

    def plots(self) -> tuple[Plot, ...]:
        name, n = SeriesName(self.study.counts.series[0]), self.study.counts.n
        tasks = {row.label: len(row.task_names) for row in self.records}
        if n.min() == n.max() < _MOST_ROWS:
            labels = [f"{passes} of {n[0]}" for passes in range(n[0] + 1)]
            tasks = {label: tasks.get(label, 0) for label in labels}
        rows = [{"passed": label, "tasks": number, "model": name}
                for label, number in reversed(tasks.items())]  # fmt: skip
        return (bars(rows, label="passed", value="tasks", colour="model",
                     title="Tasks by how many attempts passed", x_title="tasks"),)  # fmt: skip


def group_tasks_by_pass_count(study: Analysis) -> list[PassCountGroup]:
    """Group the tasks of one model by number of passes, or by pass rate in steps of 10 %."""
    n, c = study.counts.n.tolist(), study.counts.c.tolist()
    few = len(set(zip(n, c, strict=True))) <= _MOST_ROWS
    ends = {-1: "no attempt", 10: "every attempt"}
    rows: dict[tuple[float, int], PassCountGroup] = {}
    for fact in results_per_model_and_task(study, by_name=True):
        passes, attempts = int(str(fact.extra_fields["passes"])), fact.size.n_max or 1
        limits = Limits(fact.estimate.low, fact.estimate.high) if few else None
        place, label = (passes / attempts, attempts), f"{passes:,} of {attempts:,}"
        if not few:
            tenth = -1 if passes == 0 else 10 if passes == attempts else 10 * passes // attempts
            place, label = (tenth, 0), ends.get(tenth, f"{10 * tenth}–{10 * tenth + 10} %")
        rows.setdefault(place, PassCountGroup(label, limits, [])).task_names.append(
            str(fact.extra_fields["task"])
        )
    return [rows[place] for place in sorted(rows)]


class ModelTaskClasses(NamedTuple):
    """The names of the tasks of one model by class (flaky, passed, failed or missing)."""

    series: SeriesKey
    tasks_by_class: dict[str, list[str]]

    @property
    def task_count(self) -> int:
        return sum(map(len, self.tasks_by_class.values()))


class FlakyTaskCountsByModelTable(ReportSection[ModelTaskClasses]):
    """One row per model, with the numbers of flaky tasks and of tasks that always pass or fail."""

    shown_when = "of several models"
    columns: ClassVar[tuple[Column, ...]] = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("tasks", "count", cell_of_record=lambda model: model.task_count,
               exists_in_section=lambda section: len({model.task_count
                   for model in section.records}) > 1,
               meaning="Number of tasks at which at least one model of the group has attempts."),
        Column("flaky", "count", cell_of_record=lambda model: len(model.tasks_by_class[FLAKY]),
               meaning="Number of tasks at which some attempts passed and some attempts failed."),
        Column("passed every attempt", "count",
            cell_of_record=lambda model: len(model.tasks_by_class[PASSED]),
               meaning="Number of tasks at which every attempt passed."),
        Column("failed every attempt", "count",
            cell_of_record=lambda model: len(model.tasks_by_class[FAILED]),
               meaning="Number of tasks at which every attempt failed."),
        Column("missing", "count", cell_of_record=lambda model: len(model.tasks_by_class[MISSING]),
               exists_in_section=lambda section: any(model.tasks_by_class[MISSING]
                   for model in section.records),
               meaning="Number of tasks at which only other models have attempts."),
        Column("flaky tasks",
            cell_of_record=lambda model: names_that_fit(model.tasks_by_class[FLAKY] or [""], 30),
               meaning="Names of the flaky tasks."),
    )  # fmt: skip

    answers = (
        Answer("equally-flaky",
            lambda section: section.sentence_fields["least"] == section.sentence_fields["most"],
               "Each of the {models} models has {most:flaky task} among its {tasks} tasks."),
        Answer("flakiest", lambda _: True,
               "{least}–{most} of {tasks} tasks per model are flaky, most for"
               " {flakiest}."),
    )  # fmt: skip
    further_answers = (AGREEMENT_ANSWERS,)

    def answer(self) -> Iterator[AnswerSentence]:
        yield from super().answer()
        yield from first_true_sentence(NOISE_ANSWERS_OMITTING_FLAKY_COUNT, NoiseSummary(self.study))

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        flaky = [len(model.tasks_by_class[FLAKY]) for model in self.records]
        flakiest = [
            model for model in self.records if len(model.tasks_by_class[FLAKY]) == max(flaky)
        ]
        groups = self.study.counts.group_names
        return {
            "models": len(self.records), "least": min(flaky), "most": max(flaky),
            "tasks": flakiest[0].task_count,
            "flakiest": [name_with_groups(model.series, groups) for model in flakiest],
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str | OptionHint]:
        yield tasks_and_attempts(
            [model.task_count for model in self.records], self.study.counts.n.tolist()
        )
        yield OptionHint("each task")


@dataclass(frozen=True)
class ModelTaskPassRateTable(ReportSection[Result]):
    """A row per model and task with its attempts and its pass rate."""

    title = "Each task"
    columns: ClassVar[tuple[Column, ...]] = (
        replace(MODEL_COLUMN, exists_in_section=lambda section: section.has_several_models),
        replace(GROUP_VALUES_COLUMN, exists_in_section=lambda section: section.has_several_models),
        Column("task", field_name="task", cell_of_record=lambda fact: fact.extra_fields["task"],
               meaning="Name of the task."),
        Column("passed",
            cell_of_record=lambda fact: f"{fact.extra_fields['passes']:,} of {fact.size.n_min:,}",
               meaning="Number of attempts at the task that passed, and number of all attempts at"
               " the task."),
        Column("attempts", "strip", field_name="attempts",
               cell_of_record=lambda fact: shorten_strip(fact.extra_fields["attempts"]),
               exists_in_section=lambda section: section.is_attempt_order_known
               and section.always_option_rate is None,
               meaning="Outcomes of the attempts in the order in which they were made: + for"
               " passed, - for failed."),
        Column("pass rate", "share", cell_of_record=lambda fact: fact.estimate,
               meaning="Share of the attempts that passed, with Clopper–Pearson limits."),
        Column("class", field_name="class", cell_of_record=lambda fact: fact.extra_fields["class"],
               exists_in_section=lambda section: section.always_option_rate is None,
               meaning="flaky (some attempts passed and some failed), passed every attempt, failed"
               " every attempt, or missing (only another model has attempts)."),
        Column("above {0}", repeated_items=lambda section: [f"{section.always_option_rate:g}"]
            if section.always_option_rate else [],
               cell_of_record=lambda fact, rate: "shown" if fact.extra_fields["above_shown"]
               else "not shown",
               example="0.95",
               meaning="Whether the attempts show that the true pass rate of the task is above this"
               " rate."),
        Column("more passes",
            exists_in_section=lambda section: section.always_option_rate is not None,
               cell_of_record=lambda fact: "many"
               if fact.extra_fields["passes_needed"] >= MAX_FURTHER_ATTEMPTS // 2
               else f"{fact.extra_fields['passes_needed']:,}",
               meaning="Number of further attempts that must all pass to show that the true pass"
               " rate is above the rate."),
        data_field("passes", "Number of attempts that passed."),
        data_field("above", "The rate of --always."),
        data_field("above_shown", "1 if the attempts show that the true pass rate is above the"
                                  " rate, otherwise 0."),
        data_field("passes_needed", "Number of further attempts that must all pass to show that"
                          " the true pass rate is above the rate."),
    )  # fmt: skip

    always_option_rate: float | None

    @property
    def has_several_models(self) -> bool:
        return len(self.study.counts.series) > 1

    @cached_property
    def is_attempt_order_known(self) -> bool:
        return bool(outcome_strips(self.study.counts).any())

    def results_of(self, record: Result) -> tuple[Result]:
        return (record,)

    answers = (
        Answer("shown-to-pass", lambda section: section.always_option_rate is not None,
               "{shown} of {pairs} {shown:is|are} shown to pass above {rate}; a task without a"
               " failure needs {needed:attempt} to show such a rate."),
    )  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        assert self.always_option_rate is not None
        noun = "model–task pair" if self.has_several_models else "task"
        return {
            "shown": sum(bool(fact.extra_fields["above_shown"]) for fact in self.records),
            "pairs": plural(len(self.records), noun), "rate": f"{self.always_option_rate:g}",
            "needed": int(further_passes_needed(0, 0, self.always_option_rate,
                self.study.confidence.level)),
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        if self.always_option_rate is not None:
            yield tasks_and_attempts([len(self.study.counts.tasks)], self.study.counts.n.tolist())
            yield f"shown: one-sided {100 * self.study.confidence.level:g} % limit"

    def full_footer_parts(self) -> Iterator[str]:
        yield (
            "attempts in their order"
            if self.is_attempt_order_known
            else "the order of attempts is unknown"
        )

    def tables(self) -> Iterator[Table]:
        title = self.title if self.always_option_rate is None else ""
        yield replace(
            self.table(self.records, title), visibility=ALWAYS if self.rows_without_full else FULL
        )

    def plots(self) -> tuple[Plot, ...]:
        return (
            heat_maps(self.study)
            if self.has_several_models or self.always_option_rate is not None
            else ()
        )


def flaky_or_always_tasks_report(
    study: Analysis, rows: int, rate: float | None, *, brief: bool
) -> Report:
    """The report on flaky tasks or, with --always, on tasks with a pass rate above a limit."""
    level = study.confidence.level
    study = replace(study, confidence=replace(study.confidence, population=THESE_TASKS))
    sections: list[ReportSection[Any]] = []
    if not rate and len(study.counts.series) > 1:
        sections.append(FlakyTaskCountsByModelTable(study, tasks_by_class(study)))
    elif not rate:
        sections.append(PassCountTable(study, group_tasks_by_pass_count(study)))
    if not brief:
        first = rows or (_DEFAULT_ROWS if rate else 0)
        sections.append(
            ModelTaskPassRateTable(
                study, results_per_model_and_task(study, rate), rate, rows_without_full=first
            )
        )
    return build_report(
        study, sections, messages=study.messages(()), interval="clopper-pearson", level=level,
        population=THESE_TASKS, always=rate,
    )  # fmt: skip


def tasks_by_class(study: Analysis) -> list[ModelTaskClasses]:
    """The tasks of each model by class. The best model comes first."""
    models: dict[int, ModelTaskClasses] = {}
    for group in task_rate_matrices(study.counts):
        order = sorted(range(len(group.tasks)), key=lambda task: natural_key(group.tasks[task]))
        names = np.array(group.tasks, dtype=object)[order]
        for s, codes in zip(
            group.series_indices.tolist(), group.model_task_class_codes[:, order], strict=True
        ):
            classes = {
                name: names[codes == code].tolist() for code, name in enumerate(TASK_CLASSES)
            }
            models[s] = ModelTaskClasses(study.counts.series[s], classes)
    return [models[s] for s in study.series_indices_by_pass_rate]


class MatrixRow(NamedTuple):
    """The pass rate of each model of a group at one task."""

    groups: SeriesKey
    task: str
    mean: float
    rates_by_model: dict[str, float]


_GROUP_COLUMNS = replace(
    GROUP_VALUES_COLUMN, cell_of_record=lambda record, item: record.groups[item[0]]
)


@dataclass(frozen=True)
class RateMatrixTable(ReportSection[MatrixRow]):
    """Pass rates, with one row per task and one column per model."""

    has_own_schema = True
    shown_when = "with --matrix"
    columns: ClassVar[tuple[Column, ...]] = (
        _GROUP_COLUMNS,
        Column("task", field_name="task", cell_of_record=lambda row: row.task,
            meaning="Name of the task."),
        Column("models' mean", "share", cell_of_record=lambda row: row.mean,
               meaning="Mean of the models' pass rates at the task. The easiest task comes first."),
        Column("{0[1]}", "share", field_name="MODEL", cell_of_record=lambda row, model:
        row.rates_by_model.get(model[0]),
               repeated_items=lambda section: section.model_and_header_pairs[
                   slice(*section.model_slice)],
               example=("", "MODEL"),
               meaning="Pass rate of this model at the task. The best model comes first."),
    )  # fmt: skip

    model_slice: tuple[int, int | None] = (0, None)
    max_header_length: float = math.inf

    @cached_property
    def model_and_header_pairs(self) -> list[tuple[str, str]]:
        reserved = (*self.study.counts.group_names, "task", "models' mean")
        models = list(dict.fromkeys(model for row in self.records for model in row.rates_by_model))
        heads = (f"{name} (model)" if name in reserved else name for name in models)
        return list(zip(models, short_names(list(heads), self.max_header_length), strict=True))

    @cached_property
    def model_slices(self) -> list[tuple[int, int]]:
        """The ranges of model columns that fit next to each other on a screen."""
        heads = (*self.study.counts.group_names, "task", "models' mean")
        texts = [heads, *((*row.groups, row.task, "") for row in self.records)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        names = sum(min(width, _TASK) + 2 for width in widths)
        parts, start, end = [], 0, names - 2
        for place, (_, header) in enumerate(self.model_and_header_pairs):
            width = max(len(header), len("0.000")) + 2
            end += width
            if end > _SCREEN and place > start:
                parts.append((start, place))
                start, end = place, names - 2 + width
        return [*parts, (start, len(self.model_and_header_pairs))]

    @property
    def table_with_short_headers(self) -> RateMatrixTable:
        long = any(len(header) > _NAME for _, header in self.model_and_header_pairs)
        return (
            replace(self, max_header_length=_NAME) if len(self.model_slices) > 1 or long else self
        )

    answers = AGREEMENT_ANSWERS

    def footer_parts(self) -> Iterator[str | OptionHint]:
        yield "best models and easiest tasks first"
        if (
            more := len(self.model_and_header_pairs)
            - self.table_with_short_headers.model_slices[0][1]
        ):
            yield OptionHint(f"{plural(more, 'more model')}")

    def tables(self) -> Iterator[Table]:
        full_parts = [(self, part, FULL) for part in self.model_slices]
        for section, part, shown in [
            (self.table_with_short_headers, self.table_with_short_headers.model_slices[0], BRIEF),
            *full_parts,
        ]:
            table = replace(section, model_slice=part).table(self.records, self.title)
            yield replace(table, visibility=shown)

    def plots(self) -> tuple[Plot, ...]:
        return heat_maps(self.study)


def matrix_report(study: Analysis, rows: int) -> Report:
    """The report of --matrix: pass rates with a row per task and a column per model."""
    records = []
    for group in (rates.easiest_and_best_first() for rates in task_rate_matrices(study.counts)):
        means = np.nanmean(group.rates.T.copy(), axis=1).tolist()
        for task, mean, rates in zip(group.tasks, means, group.rates.T.tolist(), strict=True):
            by_model = zip(group.models, rates, strict=True)
            model_rates = {model: rate for model, rate in by_model if not math.isnan(rate)}
            records.append(MatrixRow(group.groups, task, mean, model_rates))
    matrix = RateMatrixTable(study, records, rows_without_full=rows)
    return build_report(study, [matrix], messages=study.messages(()), interval=None)


def heat_maps(study: Analysis) -> tuple[Plot, ...]:
    """One heat map per group: pass rates with a row per model and a column per task.

    If there are many tasks, neighbouring tasks share a cell.
    """
    cells: list[dict[str, Any]] = []
    most = most_across = 0
    for group in (rates.easiest_and_best_first() for rates in task_rate_matrices(study.counts)):
        tasks = len(group.tasks)
        across = min(tasks, max(_FEWEST, min(_ACROSS, _IN_ALL // len(group.models))))
        most, most_across = max(most, tasks), max(most_across, across)
        ends = np.linspace(0, tasks, across + 1).round().astype(int)
        present = ~np.isnan(group.rates)
        sums = np.add.reduceat(np.where(present, group.rates, 0.0), ends[:-1], axis=1)
        numbers = np.add.reduceat(present, ends[:-1], axis=1, dtype=np.int64)
        panel = SeriesName(group.groups)
        places = [
            {"group": panel, "from": low, "to": high,
             "tasks": group.tasks[low] if high == low + 1 else f"{high - low} tasks"}
            for low, high in pairwise(ends.tolist())
        ]  # fmt: skip
        for model, *totals in zip(group.models, sums.tolist(), numbers.tolist(), strict=True):
            for place, total, number in zip(places, *totals, strict=True):
                rate = total / number if number else None
                cells.append({"model": model, **place, "pass rate": rate})
    together = f"about {most / most_across:.0f} tasks share a cell" if most > most_across else ""
    return (
        heat(
            cells, label="model", low="from", high="to", value="pass rate", words="tasks",
            facet="group" if study.counts.group_names else "",
            title="Pass rate of each model at each task",
            subtitle=" · ".join(filter(None, (plural(most, "task"), together))),
            x_title="tasks, from the easiest to the hardest",
        ),
    )  # fmt: skip


class ItemRestCorrelationTable(ReportSection[TaskWithItemRestCorrelation]):
    """A row per task with its item–rest correlation, sorted by p-value."""

    has_own_schema = True
    shown_when = "with --suspects"
    columns: ClassVar[tuple[Column, ...]] = (
        _GROUP_COLUMNS,
        Column("task", field_name="task", cell_of_record=lambda task: task.task,
            meaning="Name of the task."),
        data_field("metric", "", lambda task: "item-rest correlation"),
        Column("pass rate", "share", cell_of_record=lambda task: task.mean,
               meaning="Mean of the models' pass rates."),
        Column("item–rest correlation", "score",
               cell_of_record=lambda task: Estimate(task.correlation, low=task.low, high=task.high,
                                          signed=True, unit="score"),
               meaning="Spearman correlation across models between the pass rate at the task and"
               " the pass rate at all other tasks, with an interval. If the correlation is below"
               " 0, weaker models pass the task more often."),
        data_field("estimate", "", lambda task: task.correlation),
        data_field("low", "", lambda task: task.low),
        data_field("high", "", lambda task: task.high),
        data_field("level", "", lambda task: task.level),
        Column("p", "p", field_name="p", cell_of_record=lambda task: task.p, visibility=FULL,
               meaning="One-sided p-value of the hypothesis that the correlation is at least 0."),
        Column("adjusted p", "p", field_name="p_adjusted",
            cell_of_record=lambda task: task.adjusted_p,
               meaning="p-value adjusted for the number of tasks with the Benjamini–Hochberg"
               " method."),
        Column("finding", field_name="verdict", cell_of_record=lambda task: task.finding,
               meaning="Finding about the task, for example that weaker models pass"
               " it more often."),
        data_field("models", "Number of models with attempts at the task.",
                   lambda task: task.models_with_attempts),
        data_field("n", "Number of attempts of all models at the task.", lambda task: task.n),
        data_field("c", "Number of passes of all models at the task.", lambda task: task.c),
        data_field("mean_rate", "Mean of the models' pass rates.", lambda task: task.mean),
        Column("contribution", "share", field_name="contribution",
            cell_of_record=lambda task: task.between_model_variance_share,
               visibility=FULL,
               meaning="Share of the variance between the models' means that is due to the task."
               " The shares of all tasks add up to 1. A share is negative if better models pass"
               " the task less often."),
        data_field("note", "", lambda task: SUSPECT_TASK_ADVICE if task.finding == SUSPECT else ""),
    )  # fmt: skip

    answers = (
        Answer("no-task-tested", lambda section: all(task.p is None for task in section.records),
               "No task could be tested: at every task, all models pass equally often."),
        Answer("suspect-tasks", lambda section: section.sentence_fields["suspects"],
               "Weaker models pass {count:task} more often: {suspects}; look at the task's"
               " checker."),
        Answer("no-suspect-task", lambda _: True,
               "Weaker models pass no task significantly more often."),
    )  # fmt: skip
    further_answers = ((
        Answer("solved-by-none-and-all",
               lambda section: section.sentence_fields["none"] and section.sentence_fields["every"],
               "{none:task} {none:is|are} solved by no model, {every} by every model."),
        Answer("solved-by-none", lambda section: section.sentence_fields["none"],
               "{none:task} {none:is|are} solved by no model."),
        Answer("solved-by-all", lambda section: section.sentence_fields["every"],
               "{every:task} {every:is|are} solved by every model."),
    ),)  # fmt: skip

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        suspects = [SeriesName((*t.groups, t.task)) for t in self.records if t.finding == SUSPECT]
        kinds = Counter(task.finding for task in self.records)
        return {
            "suspects": suspects, "count": len(suspects), "none": kinds[NOBODY],
            "every": kinds[EVERYBODY],
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        yield plural(max(task.models_in_group for task in self.records), "model")
        yield f"{100 * self.records[0].level:g} % limits"
        yield "Benjamini–Hochberg"

    def full_footer_parts(self) -> Iterator[str]:
        ordered = max(task.models_in_group for task in self.records) <= MOST_ORDERED
        yield "p from all orders of the models" if ordered else "p from the t distribution of ranks"

    def messages(self) -> Iterator[Diagnostic]:
        fewest, most = (end(task.models_in_group for task in self.records) for end in (min, max))
        if fewest < FEWEST:
            yield TOO_FEW_MODELS_WARNING(fewest=FEWEST, models=fewest)
        tests = [task.smallest_p for task in self.records if task.smallest_p is not None]
        if tests and min(tests) * len(tests) > 1 - self.records[0].level:
            tasks_together = math.ceil(min(tests) * len(tests) / (1 - self.records[0].level))
            message = (
                SUSPECTS_SIGNIFICANT_TOGETHER_NOTE
                if tasks_together <= len(tests)
                else NO_SUSPECT_POSSIBLE_NOTE
            )
            yield message(models=most, smallest=min(tests), alone=tasks_together)
        yield MODEL_INDEPENDENCE_ASSUMED_NOTE()
        if gone := sum(task.models_in_group - task.models_with_attempts for task in self.records):
            yield PAIRS_WITHOUT_ATTEMPTS_WARNING(pairs=gone)

    def plots(self) -> tuple[Plot, ...]:
        return heat_maps(self.study)


def suspects_report(study: Analysis, rows: int) -> Report:
    """The report of --suspects: tasks that weaker models pass more often than better models."""
    level = study.confidence.level
    records = sort_all_tasks_by_suspicion(study.counts, level)
    most = max(task.models_in_group for task in records)
    if most < FEWEST:
        raise ParameterError(
            OptionWithValue("--suspects"),
            f"the data must have at least {FEWEST} models to compare each task with all other"
            f" tasks; got {most}",
            name="nothing-to-compare",
        )
    return build_report(
        study, [ItemRestCorrelationTable(study, records, rows_without_full=rows)],
        messages=study.messages(()),
        interval=None, correlation="spearman", level=level, adjust="bh",
    )  # fmt: skip


class TasksRunner(CommandRunner, TasksOptions):
    sections = (PassCountTable, FlakyTaskCountsByModelTable, ModelTaskPassRateTable,
        FlipCountsByPairTable, ComparedTaskTable,
    RateMatrixTable,
                ItemRestCorrelationTable)  # fmt: skip

    reports_metrics: ClassVar[bool] = False
    omits_task_list: ClassVar[bool] = False

    missing_bounds_refusal: ClassVar[str] = (
        "a task may be flaky or not, depending on which missing outcomes pass"
    )

    def request(self, options: SharedOptions) -> Request:
        if self.order_from_lines:
            return replace(options.request, attempts=("line",))
        return replace(options.request, uses_attempt_order=options.request.missing != "bounds")

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        views = {"--against": self.against is not None, "--suspects": self.suspects,
                 "--matrix": self.matrix, "--always": self.always is not None}  # fmt: skip
        views_set = [name for name, is_set in views.items() if is_set]
        raise_parameter_error_if_any("contradicting-options", (
            views_set[1:], OptionWithValue(next(iter(views_set), "")),
            "this option cannot be combined with another view of the tasks; choose one view", (),
        ))  # fmt: skip
        if self.against is None:
            return super().read_analysis(options, read)
        runs = FilesOfRunAndBaseline.from_arguments(options.files, self.against)
        if runs.baseline is None:
            study = super().read_analysis(
                options,
                lambda request, source=None: read(
                    request.with_additional_model(self.against), source
                ),
            )
            return replace(study, signature_entries={"against": self.against})
        study = super().read_analysis(
            options, lambda request, source=None: read(request, runs.files)
        )
        request = self.request(options)
        baseline = select_models(runs.read_baseline(read, request), request)
        names = [distinguishing_name(path, options.files) for path in paths_in_data(self.against)]
        label = ", ".join(names) or baseline_label(self.against)
        return replace(
            study,
            baseline=baseline,
            reading_messages=runs.notes,
            signature_entries={"against": label},
        )

    def report(self, study: Analysis) -> Report:
        first = self.rows or _DEFAULT_ROWS
        if self.against is not None:
            return flips_report(study, first, are_rows_requested=self.rows is not None)
        if self.suspects:
            return suspects_report(study, first)
        if self.matrix:
            return matrix_report(study, first)
        return flaky_or_always_tasks_report(
            study, self.rows or 0, self.always, brief=self.omits_task_list
        )


class TasksWithoutTaskListRunner(TasksRunner):
    """The report on flaky tasks without the list of tasks."""

    omits_task_list = True
