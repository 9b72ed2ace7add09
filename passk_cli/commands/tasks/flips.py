"""Tasks that flip between two runs or models, and how many flips are expected by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.inference.adjust import holm
from passk_cli.inference.flips import boschloo
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.data_types import (
    ALWAYS,
    FULL,
    AnswerSentence,
    ChangedTaskSentences,
    Column,
    Report,
    Table,
)
from passk_cli.report.phrases import (
    SeriesName,
    number_range,
    p_sign_and_number_text,
    plural,
    tasks_and_attempts,
)
from passk_cli.report.plot import Plot, forest
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.flips import (
    Flips,
    compute_flips_of_pairs,
    pairs_to_compare,
    pass_rate_changes_per_task,
)
from passk_cli.study.result import Result
from passk_cli.study.section import ReportSection, build_report, data_field
from passk_cli.suggested_fix import OptionWithValue

# A chart shows at most DRAWN tasks, a table cell at most _LONGEST attempts, and a pipeline log at
# most _LINES tasks.
DRAWN, _LONGEST, _LINES = 30, 24, 20

UNSHARED_TASKS_WARNING = DiagnosticType(
    "tasks-of-one-side", WARNING,
    "tasks that only one model has are left out: {only} of {model} and {only_base} of"
    " {against}{?others|; {others} also have such tasks}",
    meaning="A task can flip only if both runs or models have attempts at this task. If only one"
    " run or model has attempts at a task, passk does not use the task for flips, expected flips or"
    " tests.",
    why="The result describes only the shared tasks, which may be easier or harder than the tasks"
    " that are left out.",
    advice="Run the missing tasks. If the same tasks have different names in the two files, rename"
    " the tasks in one file.",
    example="warning[tasks-of-one-side]: tasks that only one model has are left out: 8 of"
    " claude-opus-4-7 and 18 of gpt-5.5; 2 other pairs also have such tasks",
)  # fmt: skip
NO_TASK_SIGNIFICANT_WARNING = DiagnosticType(
    "no-task-significant", WARNING,
    "with {attempts} attempts per task, no single task can be significant",
    meaning="For each task, a test compares the numbers of passes in the two runs. With too few"
    " attempts, the p-value is not significant even if one run only passed and the other run only"
    " failed.",
    why="passk reports no task as improved or regressed, even if some tasks did change.",
    advice="Make more attempts per task. More tasks do not make a single task significant.",
    example="warning[no-task-significant]: with 2 attempts per task, no single task can be"
    " significant",
)  # fmt: skip
MANY_CHANGES_NEEDED_NOTE = DiagnosticType(
    "significant-together", NOTE,
    "with {attempts:attempt} per task, no change is significant unless {alone:task}"
    " change from only passes to only failures or the reverse",
    meaning="passk tests every task and adjusts the p-values for all tests (Benjamini and"
    " Hochberg). A task changes completely if all attempts passed in one run and all attempts"
    " failed in the other run. With few attempts, even a complete change at a single task is not"
    " significant. The message shows how many tasks must change completely before any change is"
    " significant.",
    why="If fewer tasks change completely, the table reports no task as significant.",
    advice="Make more attempts per task, or compare fewer models or fewer tasks.",
    example="passk tasks sample_data/agents.jsonl --against gpt-5.5\n"
    "note[significant-together]: with 3 attempts per task, no change is significant unless 79 tasks"
    " change from only passes to only failures or the reverse",
)  # fmt: skip


def is_flip_or_significant(fact: Result) -> bool:
    return bool(fact.extra_fields["flip"] or fact.verdict)


def _change_sort_key(fact: Result) -> tuple[bool, bool, float, float]:
    p, change = fact.p or 0.0, fact.estimate.value or 0.0
    return not fact.verdict, not fact.extra_fields["flip"], p, -abs(change)


def _passes_text(fact: Result, side: int) -> str:
    against = ("", "_against")[side]
    return f"{fact.extra_fields[f'passes{against}']:,} of {fact.extra_fields[f'n{against}']:,}"


class FlipCountsByPairTable(ReportSection[Flips]):
    """One row per pair of models, with the numbers of flips and of flips expected by chance."""

    title = "Flips"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell_of_record=lambda flips: flips.name,
               meaning="The model or agent whose tasks flipped."),
        Column("against", cell_of_record=lambda flips: flips.baseline_name,
               meaning="The model or run with which this model is compared."),
        Column("tasks", "count", cell_of_record=lambda flips: len(flips.tasks),
               meaning="Number of tasks at which both models have attempts."),
        Column("flipped", "count", cell_of_record=lambda flips: flips.flip_count,
               meaning="Number of tasks with pass rates that differ by more than one half."),
        Column("expected", cell_of_record=lambda flips: _expected_flips_text(flips),
               meaning="Number of flips that you can expect if no task changed, with its range at"
               " the confidence level in brackets. passk computes this number by distributing the"
               " passes of each task at random over the attempts. With one attempt per task, only a"
               " range that begins at 0 is known."),
        Column("to passing", "count", cell_of_record=lambda flips: flips.signs.tolist().count(1),
               meaning="Number of tasks that flipped from failing to passing."),
        Column("to failing", "count", cell_of_record=lambda flips: flips.signs.tolist().count(-1),
               meaning="Number of tasks that flipped from passing to failing."),
        Column("improved", "count", cell_of_record=lambda flips: flips.verdicts.tolist().count(1),
               meaning="Number of tasks with a significantly higher pass rate."),
        Column("regressed", "count", cell_of_record=lambda flips: flips.verdicts.tolist().count(-1),
               meaning="Number of tasks with a significantly lower pass rate."),
    )  # fmt: skip

    def answer(self) -> Iterator[AnswerSentence]:
        return sentences_about_flips(self.records)

    def footer_parts(self) -> Iterator[str]:
        yield "by task: Boschloo, Benjamini–Hochberg"

    def full_footer_parts(self) -> Iterator[str]:
        level, tests = self.records[0].level, sum(len(flips.tasks) for flips in self.records)
        yield (
            f"Boschloo's exact test of each task, Benjamini–Hochberg over {plural(tests, 'test')};"
            f" on average at most {100 * (1 - level):.3g} % of the significant tasks are false"
            " positives"
        )
        yield (
            f"chance does not explain flips above the {100 * level:g} % range of their exact"
            f" distribution, Holm over {plural(len(self.records), 'pair')}"
        )

    def messages(self) -> Iterator[Diagnostic]:
        lacking = [
            flips
            for flips in self.records
            if flips.tasks_only_in_series_count or flips.tasks_only_in_baseline_count
        ]
        if lacking:
            most = max(
                lacking,
                key=lambda flips: (
                    flips.tasks_only_in_series_count + flips.tasks_only_in_baseline_count
                ),
            )
            other_pairs = plural(len(lacking) - 1, "other pair") if len(lacking) > 1 else ""
            yield UNSHARED_TASKS_WARNING(
                only=most.tasks_only_in_series_count, model=most.name,
                only_base=most.tasks_only_in_baseline_count, against=most.baseline_name,
                others=other_pairs,
            )  # fmt: skip
        tests = sum(len(flips.tasks) for flips in self.records)
        if not tests:
            return
        most_attempts = max(int((f.n + f.n_base).max()) for f in self.records if len(f.tasks))
        half, level = most_attempts // 2, self.records[0].level
        least = float(boschloo(most_attempts - half, most_attempts - half, half, 0))
        if least > 1 - level:
            yield NO_TASK_SIGNIFICANT_WARNING(attempts=number_range(half, most_attempts - half))
        elif least * tests > 1 - level:
            yield MANY_CHANGES_NEEDED_NOTE(
                attempts=half, alone=int(np.ceil(least * tests / (1 - level)))
            )

    def tables(self) -> Iterator[Table]:
        for table in super().tables():
            yield replace(table, visibility=ALWAYS if len(self.records) > 1 else FULL)


@dataclass(frozen=True)
class FlippedTaskTable(ReportSection[Result]):
    """One row per task that flipped or that has two significantly different pass rates."""

    are_rows_requested: bool = False

    title = "Tasks that flipped"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell_of_record=lambda fact: SeriesName(fact.series),
               exists_in_section=lambda section: section.has_several_pairs,
               meaning="The model or agent whose task flipped."),
        Column("against", cell_of_record=lambda fact: fact.against,
            exists_in_section=lambda section: section.has_several_pairs,
               meaning="The model or run with which this model is compared."),
        Column("task", field_name="task", cell_of_record=lambda fact: fact.extra_fields["task"],
               meaning="Name of the task."),
               Column("{0[1]}", cell_of_record=lambda fact, side: _passes_text(fact, side[0]),
               repeated_items=lambda section: enumerate(section.side_headers), example=(0, "MODEL"),
               meaning="Number of attempts at the task that passed, and number of all attempts at"
               " the task."),
        Column("change", "share", cell_of_record=lambda fact: fact.estimate,
               meaning="Difference between the two pass rates."),
        Column("flip", field_name="flip", cell_of_record=lambda fact: fact.extra_fields["flip"],
               meaning="Direction of the flip if the two pass rates differ by more than one half."),
        Column("p", "p", cell_of_record=lambda fact: fact.p, visibility=FULL,
               meaning="p-value of Boschloo's exact test that both pass rates are equal."),
        Column("adjusted p", "p", cell_of_record=lambda fact: fact.p_adjusted,
               meaning="p-value adjusted by Benjamini and Hochberg over the tasks of all pairs."),
        Column("verdict", cell_of_record=lambda fact: fact.verdict,
               meaning="improved or regressed if the adjusted p-value is at most the significance"
               " level (1 − confidence level)."),
        Column("attempts", "strip", visibility=FULL,
               cell_of_record=lambda fact: shorten_strip(fact.extra_fields["attempts"]),
               exists_in_section=lambda section: section.is_attempt_order_known,
               meaning="Outcomes of the attempts in the order in which they were made."),
        Column("attempts against", "strip", visibility=FULL,
               cell_of_record=lambda fact: shorten_strip(fact.extra_fields["attempts_against"]),
               exists_in_section=lambda section: section.is_attempt_order_known,
               meaning="Outcomes of the attempts of the other run or model, in the order in which"
               " they were made."),
        data_field("passes", "Number of attempts that passed."),
        data_field("passes_against", "Number of attempts of the other run or model that passed."),
    )  # fmt: skip

    @property
    def has_several_pairs(self) -> bool:
        return len({(fact.series, fact.against) for fact in self.records}) > 1

    @property
    def side_headers(self) -> tuple[str, str]:
        first = self.records[0]
        headers = SeriesName(first.series), first.against
        return ("passed", "other passed") if self.has_several_pairs else headers

    @property
    def is_attempt_order_known(self) -> bool:
        names = ("attempts", "attempts_against")
        return all(any(fact.extra_fields[name] for fact in self.records) for name in names)

    @property
    def tasks_in_table_order(self) -> list[Result]:
        return sorted(filter(is_flip_or_significant, self.records), key=_change_sort_key)

    def results_of(self, record: Result) -> Iterator[Result]:
        names = ("task", "passes", "passes_against", "flip")
        if is_flip_or_significant(record):
            yield replace(
                record, level=None, extra_fields={name: record.extra_fields[name] for name in names}
            )

    def tables(self) -> Iterator[Table]:
        if changes := self.tasks_in_table_order:
            visibility = FULL if self.has_several_pairs and not self.are_rows_requested else ALWAYS
            yield replace(self.table(changes, self.title), visibility=visibility)

    def plots(self) -> tuple[Plot, ...]:
        largest = self.tasks_in_table_order[: max(self.rows_without_full, DRAWN)]
        if self.has_several_pairs:
            largest = sorted(largest, key=lambda fact: (SeriesName(fact.series), fact.against))
        rows = [
            {
                "task": f"{SeriesName(fact.series)} − {fact.against} · {task}"
                if self.has_several_pairs else task,
                "head": SeriesName(fact.series), "tail": f"{fact.against} · {task}",
                "change": fact.estimate.value, "low": None, "high": None,
                "filled": bool(fact.verdict),
            }
            for fact in largest
            for task in [str(fact.extra_fields["task"])]
        ]  # fmt: skip
        names = "" if self.has_several_pairs else " − ".join(self.side_headers)
        return (
            forest(
                rows, label="task", value="change", low="low", high="high", filled="filled",
                title="Change of the pass rate at each task",
                subtitle=" · ".join(filter(None, (names, "○ not significant"))), x_title="change",
                head="head" * self.has_several_pairs, tail="tail" * self.has_several_pairs,
            ),
        )  # fmt: skip


class ComparedTaskTable(FlippedTaskTable):
    """A row per shared task of each pair of models, including tasks that did not change."""

    title = ""
    shown_when = "with --against"
    columns: ClassVar[tuple[Column, ...]] = (
        *FlippedTaskTable.columns,
        data_field("n", "Number of attempts at the task."),
        data_field("n_against", "Number of attempts of the other run or model at the task."),
        data_field(
            "flip_by_chance", "Probability that the task flips if both pass rates are equal."
        ),
        data_field("attempts", "Outcomes of the attempts in the order in which they were made."),
        data_field("attempts_against", "Outcomes of the attempts of the other run or model."),
    )

    @property
    def tasks_in_table_order(self) -> list[Result]:
        return sorted(self.records, key=_change_sort_key)

    def results(self) -> list[Result]:
        return self.tasks_in_table_order


def shorten_strip(strip: str) -> str:
    """Shorten a long text of outcomes such as "+-+-" so that it fits into a table cell.

    >>> shorten_strip("+-" * 2), shorten_strip("+" * 50)[-6:]
    ('+-+-', ' of 50')
    """
    if len(strip) <= _LONGEST:
        return strip
    return f"{strip[:_LONGEST]} first {_LONGEST} of {len(strip):,}"


def _expected_flips_text(flips: Flips) -> str:
    if flips.single_attempt_task_mask.all():
        return f"0 to {flips.max_expected_single_attempt_flips:.0f}"
    several = f"{flips.expected_multi_attempt_flips:.1f} ({number_range(*flips.chance_flip_range)})"
    return (
        f"{several} + 0 to {flips.max_expected_single_attempt_flips:.0f}"
        if flips.single_attempt_task_mask.any()
        else several
    )


def sentences_about_flips(pairs: Sequence[Flips]) -> Iterator[AnswerSentence]:
    """Sentences about the flips, the flips expected by chance, and significant changes."""
    totals = FlipsOfAllPairs(pairs)
    yield from first_true_sentence(FLIP_COUNT_ANSWERS, totals)
    yield from first_true_sentence(FLIPS_BEYOND_CHANCE_ANSWERS, totals)
    yield from first_true_sentence(CHANGED_TASK_ANSWERS, totals)


class FlipsOfAllPairs:
    """The flips of all pairs of models, and the pairs with more flips than chance explains."""

    def __init__(self, pairs: Sequence[Flips]) -> None:
        self.pairs, self.first = pairs, pairs[0]
        adjusted = holm([flips.p_of_at_least_as_many_flips for flips in pairs]).tolist()
        level = (1 - self.first.level) / 2
        significant = (flips for flips, p in zip(pairs, adjusted, strict=True) if p <= level)
        self.beyond = sorted(significant, key=lambda flips: flips.p_of_at_least_as_many_flips)

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        first = self.first
        verdicts = [verdict for flips in self.pairs for verdict in flips.verdicts.tolist()]
        improved, regressed = verdicts.count(1), verdicts.count(-1)
        return {
            **_pair_sentence_fields(first), "pairs": len(self.pairs),
            "all_flips": sum(flips.flip_count for flips in self.pairs), "improved": improved,
            "regressed": regressed, "changed": improved + regressed,
        }  # fmt: skip

    @property
    def beyond_chance_sentence_fields(self) -> Mapping[str, Any]:
        return {**_pair_sentence_fields(self.beyond[0]), "more": len(self.beyond) - 1}


def _pair_sentence_fields(flips: Flips) -> dict[str, Any]:
    gains, losses = (flips.signs.tolist().count(sign) for sign in (1, -1))
    return {
        "model": flips.name, "against": flips.baseline_name, "flips": flips.flip_count,
        "tasks": len(flips.tasks), "gains": gains, "losses": losses,
        "most": round(flips.max_expected_single_attempt_flips),
        "several": int((~flips.single_attempt_task_mask).sum()),
        "repeated": flips.multi_attempt_flip_count,
        "expected": f"{flips.expected_multi_attempt_flips:.1f}",
        "range": number_range(*flips.chance_flip_range),
    }  # fmt: skip


_FLIPPED_CLAUSE = (
    "{flips} of {tasks:task} flipped from {against} to {model}, {gains} to passing and {losses} to"
    " failing; "
)
_EXPECTED_CLAUSE = "{expected} ({range}) are expected by chance."
FLIP_COUNT_ANSWERS = (
    Answer("flips-of-pairs", lambda totals: len(totals.pairs) > 1,
           "{pairs:pair} of models {pairs:has|have} {all_flips:flip}."),
    Answer("flips-of-single-attempts", lambda totals: totals.first.single_attempt_task_mask.all(),
           _FLIPPED_CLAUSE + "0 to {most} flips are expected if no task changed, because each"
           " task has one attempt."),
    Answer("flips-of-some-single-attempts",
           lambda totals: totals.first.single_attempt_task_mask.any(),
           _FLIPPED_CLAUSE + "of {several:task} with several attempts, {repeated} flipped, "
           + _EXPECTED_CLAUSE),
    Answer("flips", lambda _: True, _FLIPPED_CLAUSE + _EXPECTED_CLAUSE),
)  # fmt: skip
FLIPS_BEYOND_CHANCE_ANSWERS = (
    Answer("flips-beyond-chance", lambda totals: totals.beyond and len(totals.pairs) == 1,
           "More tasks flipped than expected by chance."),
    Answer("pairs-beyond-chance", lambda totals: totals.beyond,
           "Chance does not explain all flips: {model} against {against} ({repeated:flip},"
           " {expected} expected){?more| and"
           " {more:more pair}}.", lambda totals: totals.beyond_chance_sentence_fields),
    Answer("no-pair-beyond-chance", lambda totals: len(totals.pairs) > 1,
           "No pair has more flips than expected by chance."),
)  # fmt: skip
CHANGED_TASK_ANSWERS = (
    Answer("no-task-changed", lambda totals: not totals.sentence_fields["changed"],
           "No task differs significantly."),
    Answer("tasks-changed-of-pairs", lambda totals: len(totals.pairs) > 1,
           "{changed:task} changed significantly: {improved} improved, {regressed} regressed."),
    Answer("tasks-changed", lambda _: True,
           "{changed:task} changed significantly from {against} to {model}: {improved} improved,"
           " {regressed} regressed."),
)  # fmt: skip


def _loss_sort_key(fact: Result) -> tuple[bool, float]:
    change = fact.estimate.value or 0.0
    return change >= 0, -abs(change)


def list_changed_tasks_for_log(
    pairs: Sequence[Flips], *, failed: bool
) -> Iterator[ChangedTaskSentences]:
    """The changes of each pair for the log of a pipeline, with one line per changed task.

    failed : whether the gate failed. If the gate failed, the log also lists changes that are not
        significant.
    """
    for flips in pairs:
        answer = " ".join(
            "".join(map(str, sentence)) for sentence in sentences_about_flips([flips])
        )
        changes = sorted(filter(is_flip_or_significant, pass_rate_changes_per_task([flips])),
            key=lambda fact: (
            not (failed or fact.verdict), *_loss_sort_key(fact),
        ))  # fmt: skip
        lines = [
            f"{fact.extra_fields['task']}: {_passes_text(fact, 1)} passed, now"
            f" {_passes_text(fact, 0)}"
            f" ({fact.verdict or 'not significant'},"
            f" p {p_sign_and_number_text(fact.p_adjusted or 0.0)})"
            for fact in changes[:_LINES]
        ]
        significant = min(sum(failed or bool(fact.verdict) for fact in changes), _LINES)
        if len(changes) > _LINES:
            lines.append(f"and {len(changes) - _LINES:,} more")
            significant += failed
        yield ChangedTaskSentences(answer, tuple(lines[:significant]), tuple(lines[significant:]))


def flips_report(study: Analysis, rows: int, *, are_rows_requested: bool) -> Report:
    """The report of --against: tasks that changed between a model and another run or model."""
    pairs, against = pairs_to_compare(study), str(study.signature_entries["against"])
    if not pairs:
        raise ParameterError(
            OptionWithValue("--against", against),
            "this run contains no results for the same models and groups as the data",
            name="no-such-model",
        )  # fmt: skip
    all_flips = compute_flips_of_pairs(pairs, study.confidence.level)
    if not any(flips.tasks for flips in all_flips):
        raise ParameterError(
            OptionWithValue("--against", against),
            "this run or model shares no task with the data",
            name="nothing-to-compare",
        )
    study = replace(study, confidence=replace(study.confidence, population=THESE_TASKS))
    n = [attempts for flips in all_flips for attempts in (*flips.n, *flips.n_base)]
    return build_report(
        study,
        [FlipCountsByPairTable(study, all_flips),
         ComparedTaskTable(study, pass_rate_changes_per_task(all_flips), rows_without_full=rows,
                            are_rows_requested=are_rows_requested)],
        context=[tasks_and_attempts([len(flips.tasks) for flips in all_flips], n)],
        messages=study.messages(()), interval=None, test="boschloo", adjust="bh",
        level=study.confidence.level,
    )  # fmt: skip
