"""The suites of a rules file, which are judged like gates and share one confidence level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from passk_cli.commands.gate.context import JudgedRun, row_without_number
from passk_cli.commands.gate.evidence import PART_OF_TOTAL_TEMPLATE, PartOfTotal
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rulebook import (
    TREND,
    QuarantinedTask,
    Rulebook,
    SuiteEntry,
    TrendTableValues,
)
from passk_cli.commands.gate.rules import BY_INTERVAL, BaselineTasksPresentRule
from passk_cli.commands.runner import ReadCountsFunction
from passk_cli.commands.trend.view import TrendRunner
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import paths_in_data
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.report.data_types import Column, Estimate, GateCheck, PhraseCell, Report
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.baseline import baseline_label
from passk_cli.study.result import Result
from passk_cli.study.section import FOOTER_VERSION_TEXT, ReportSection
from passk_cli.study.significance_options import ERROR, PASS, RULE_NOT_JUDGED

QUARANTINED_TASKS_WARNING = DiagnosticType(
    "quarantined", WARNING,
    "{tasks:task} in quarantine {tasks:is|are} not judged ({c} of {n:attempt} passed): {names}",
    meaning="The rules file lists flaky tasks, with a reason and a last day for each task. All"
    " verdicts of the suite leave out the tasks in quarantine, both in the new run and in the"
    " baseline.",
    why="The gate does not detect regressions in quarantined tasks.",
    advice="Fix each flaky task before the last day of its quarantine. A row of the table shows how"
    " many attempts at tasks in quarantine passed.",
    example="passk gate --rules sample_data/passk.toml\n"
    "warning[quarantined]: airline: 1 task in quarantine is not judged (1 of 4 attempts passed):"
    " 17",
)  # fmt: skip
QUARANTINE_ENDED_WARNING = DiagnosticType(
    "quarantine-over", WARNING,
    "the quarantine of task {task} ({reason}) ended on {until}, so the task is judged again",
    "renew the quarantine or remove its entry",
    meaning="The last day of the quarantine (in UTC) has passed, so the verdicts include the task"
    " again.",
    why="If the task is still flaky, the task can make the gate fail.",
    advice="If the task is still flaky, set a later day in the rules file. If the task is no"
    " longer flaky, remove its entry from the rules file.",
    example="warning[quarantine-over]: the quarantine of task t17 (flaky endpoint) ended on"
    " 2026-10-31, so the task is judged again; renew the quarantine or remove its entry",
)  # fmt: skip
QUARANTINE_ABSENT_WARNING = DiagnosticType(
    "quarantine-absent", WARNING, "the data does not contain these tasks in quarantine: {names}",
    "check the names",
    meaning="The rules file lists tasks in quarantine that the data does not contain.",
    why="If a flaky task has a different name in the data, the verdicts include the flaky task.",
    advice="Compare the names in the rules file with the names in the data, or remove the entries"
    " of tasks that no longer exist.",
    example="warning[quarantine-absent]: the data does not contain these tasks in quarantine: t71;"
    " check the names",
)  # fmt: skip


@dataclass(frozen=True)
class SuiteRun(JudgedRun):
    """The run of a suite.

    quarantined_tasks_with_counts : tasks in quarantine, with the numbers of attempts and passes at
        each task.
    """

    suite_entry: SuiteEntry = None  # type: ignore[assignment]
    quarantined_tasks_with_counts: tuple[QuarantinedTask, ...] = ()

    @classmethod
    def from_entry(cls, entry: SuiteEntry, read: ReadCountsFunction) -> SuiteRun:
        """Read the run and the baseline of a suite, and leave out the tasks in quarantine."""
        runs, out = list[Counts](), entry.suite.active_quarantine

        def read_judged(request: Request, source: Any = None, /) -> Counts:
            counts = read(request, entry.shared_options.source if source is None else source)
            runs.append(counts)
            try:
                return counts.without_tasks({task.task for task in out})
            except ValueError:
                raise DataError(
                    entry.suite.name, "all tasks of the suite are in quarantine",
                    "remove some tasks from the quarantine", name="unusable-data",
                ) from None  # fmt: skip

        with entry.locate_errors():
            context = entry.gate_runner.gate_context(
                entry.gate_runner.read_analysis(entry.shared_options, read_judged)
            )
        quarantined, losses = [], runs[0].missing_outcomes
        tasks = [unit[0] for unit in losses.task_and_group_keys]
        for flaky in out:
            has_attempts = [task == flaky.task for task in tasks]
            passed = [task == flaky.task for task in runs[0].tasks]
            n = int(
                losses.attempt_counts[np.array(has_attempts)[losses.task_and_group_key_codes]].sum()
            )
            c = int(runs[0].c[np.array(passed)[runs[0].task_codes]].sum())
            quarantined.append(flaky._replace(n=n, c=c))
        return cls(entry.gate_runner, context, (), entry, tuple(quarantined))

    @property
    def suite_name(self) -> str:
        return self.suite_entry.suite.name

    @property
    def quarantined_with_attempts(self) -> list[QuarantinedTask]:
        return [task for task in self.quarantined_tasks_with_counts if task.n]

    def judge(self, level: float) -> Self:
        with self.suite_entry.locate_errors():
            return super().judge(level)

    def report_row(self, line: Judgement) -> Judgement:
        several = len({line.subject_name for line in self.judgements}) > 1
        model = SeriesName(line.result.series)
        fields = {**line.template_fields, "model": model, "suite": self.suite_name}
        return replace(
            line, subject_name=f"{self.suite_name}: {line.subject_name}"
            if several else self.suite_name,
            result=replace(line.result, series=(model, self.suite_name)),
            finding_template="{suite}: " + line.finding_template, template_fields=fields,
        )  # fmt: skip

    @property
    def rows_not_judged(self) -> list[Judgement]:
        """Rows for rules that have no baseline yet, and a row for the tasks in quarantine."""
        why, flaky = "no baseline yet", self.quarantined_with_attempts
        rows = [
            row_without_number(words, (self.suite_name,), why)
            for words in self.gate_runner.names_awaiting_baseline
        ]
        if not flaky:
            return rows
        count = PartOfTotal(
            sum(t.c for t in flaky), sum(t.n for t in flaky), f"passed {PART_OF_TOTAL_TEMPLATE}"
        )
        details = tuple(f"{t.task} passed {t.c:,} of {t.n:,}, until {t.until}: {t.reason}"
                        for t in flaky)  # fmt: skip
        words = f"{plural(len(flaky), 'task')} in quarantine"
        row = row_without_number(
            (words,), (self.suite_name,), str(count), count_evidence=count, detail_notes=details
        )
        return [*rows, replace(row, reason="")]

    @property
    def messages(self) -> Iterator[Diagnostic]:
        yield from ended_quarantine_messages(self.suite_entry)
        if flaky := self.quarantined_with_attempts:
            yield QUARANTINED_TASKS_WARNING(
                tasks=len(flaky), names=[task.task for task in flaky],
                c=sum(task.c for task in flaky), n=sum(task.n for task in flaky),
            )  # fmt: skip
        if absent := [task.task for task in self.quarantined_tasks_with_counts if not task.n]:
            yield QUARANTINE_ABSENT_WARNING(names=absent)


def ended_quarantine_messages(entry: SuiteEntry) -> Iterator[Diagnostic]:
    for task in entry.suite.quarantine:
        if not task.is_active:
            yield QUARANTINE_ENDED_WARNING(
                task=task.task, until=str(task.until), reason=task.reason
            )


def report_on_suites(gate: Any, book: Rulebook, read: ReadCountsFunction) -> Report:
    """The report about all suites, with verdicts that share one confidence level (Bonferroni).

    A suite with unreadable data becomes a row with the verdict "error".

    Errors: DataError if no suite can be read.
    """
    if gate.check:
        return _check_report(book)
    entries, read = book.suite_entries, _cached_reader(read)
    if gate.first_run:
        gates = [
            entry.gate_runner.runner_without_baseline_rules(entry.shared_options, read)
            for entry in entries
        ]
        if not any(gates):
            raise gate.first_run_option_error()
        pairs = zip(entries, gates, strict=True)
        entries = tuple(
            replace(entry, gate_runner=first or entry.gate_runner) for entry, first in pairs
        )
    runs, unread, errors = list[SuiteRun](), list[Judgement](), list[DataError]()
    for entry in entries:
        try:
            runs.append(SuiteRun.from_entry(entry, read))
        except DataError as error:
            if error.kind != "data":
                raise
            errors.append(error)
            words = ("its data can be read",)
            row = row_without_number(words, (entry.suite.name,), str(error), ERROR)
            unread.append(replace(row, fails_gate=True))
    if len(entries) == len(errors) == 1:
        raise errors[0]
    if not runs:
        problems = (f"suite {row.subject_name}: {row.reason}" for row in unread)
        problem = f"no suite can be read: {'; '.join(problems)}"
        raise DataError(book.path, problem, name=errors[0].name)
    book = replace(
        book, level=runs[0].context.study.confidence.level,
        quarantined_task_count=sum(len(run.quarantined_with_attempts) for run in runs),
        fallible_verdict_count=sum(rule.fallible_verdict_count(r.context)
            for r in runs for rule in r.gate_runner.active_rules),
    )  # fmt: skip
    runs = [run.judge(book.adjusted_confidence_per_verdict) for run in runs]
    further_rows = [*unread, *_trend_verdict_rows(book.trend_entry, read, first_run=gate.first_run)]
    study = _combined_study([run.context.study for run in runs])
    report: Report = gate.report_of_runs(study, runs, book, further_rows)
    # Some options may have a different value in each suite, so the signature of the whole report
    # leaves out these options.
    entry_of = {name: value for name, value in report.signature.items()
                if name not in ("missing", "duplicates", "by")}  # fmt: skip
    return replace(report, make_signature=lambda: entry_of)


def _cached_reader(read: ReadCountsFunction) -> ReadCountsFunction:
    cache: dict[str, Counts] = {}

    def once(request: Request, source: Any = None, /) -> Counts:
        parts = source if isinstance(source, list | tuple) else [source]
        if not all(isinstance(part, str) for part in parts):
            return read(request, source)
        key = repr((request, source))
        if key not in cache:
            cache[key] = read(request, source)
        return cache[key]

    return once


def _trend_verdict_rows(
    entry: TrendTableValues | None, read: ReadCountsFunction, *, first_run: bool
) -> list[Judgement]:
    """Rows with the verdicts of `passk trend --fail` about the history that the rules file names.

    If the history cannot be read, the result is a row with an error. With --first-run, this row has
    no verdict.
    """
    if entry is None:
        return []
    values, history = {"metrics": "pass@1", **entry.values, "fail": True}, [entry.history]
    try:
        question, options = TrendRunner.parse_options(values, history, requires_data=True)
        report = question.read_and_report(
            options, lambda request, source=None, /: read(request, source or history)
        )
    except DataError as error:
        words = (f"no change of {values['metrics']} for the worse",)
        row = row_without_number(
            words, (TREND,), str(error), RULE_NOT_JUDGED if first_run else ERROR
        )
        return [replace(row, fails_gate=not first_run)]
    except ParameterError as error:
        raise entry.error_with_line(error) from None
    return [_trend_verdict_row(check, several=len(report.checks) > 1) for check in report.checks]


def _trend_verdict_row(check: GateCheck, *, several: bool) -> Judgement:
    fields = {"words": check.rule, "finding": PhraseCell(check.finding)}
    line = Judgement(
        "{words}", Result((check.model, TREND), "", None, Estimate(None)), check.verdict,
        "trend: {finding}", fields, detail_notes=check.details, subject_noun=TREND,
    ).with_fails_gate_set(PASS)  # fmt: skip
    return replace(line, subject_name=f"{TREND}: {check.model}" if several else TREND)


def _combined_study(studies: Sequence[Analysis]) -> Analysis:
    study = studies[0]
    names = [(SeriesName(series), "") for series in study.counts.series]
    counts = replace(study.counts, read_facts=ReadFacts(), attempts={}, clusters=None)
    metrics = tuple(dict.fromkeys(metric for analysis in studies for metric in analysis.metrics))
    return replace(study, counts=counts.with_renamed_series(names, ("suite",)), metrics=metrics,
                   baseline=None, reading_messages=())  # fmt: skip


class SuiteDeclarationTable(ReportSection[SuiteEntry]):
    """One row per suite of a rules file, for --check."""

    shown_when = "with --check"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("suite", meaning="Name of the suite.",
            cell_of_record=lambda entry: entry.suite.name),
        Column("rules", meaning="The rules as options.",
            cell_of_record=lambda entry: _rules_as_options(entry)),
        Column("runs", meaning="The files of the new run.",
               cell_of_record=lambda entry: ", ".join(map(str, entry.shared_options.files))),
        Column("baseline", meaning="The baseline of the suite.",
               cell_of_record=lambda entry: (
                   ", ".join(map(str, paths_in_data(entry.gate_runner.baseline)))
                   or baseline_label(entry.gate_runner.baseline)) if entry.gate_runner.baseline
                   else ""),
        Column("quarantine", meaning="Tasks in quarantine today.",
               cell_of_record=lambda entry: ", ".join(task.task
                   for task in entry.suite.active_quarantine)),
    )  # fmt: skip


def _rules_as_options(entry: SuiteEntry) -> str:
    rules = [
        rule
        for rule in entry.gate_runner.active_rules
        if not isinstance(rule, BaselineTasksPresentRule)
    ]
    entries = {name: value for rule in rules for name, value in rule.signature.items()}
    options = {f"--{name.replace('_', '-')}": value for name, value in entries.items()}
    if options.get("--min-by") == BY_INTERVAL:
        del options["--min-by"]
    words = (name if value == "yes" else f"{name} {value}" for name, value in options.items())
    return " ".join(words)


VALID_RULES_ANSWER = Answer(
    "valid-rules", lambda _: True,
    "The rules file {name} is valid and contains {suites:suite}{?others|; {others:suite}"
    " {others:is|are} not in tier {tier}}. No data was read.",
    lambda book: {"name": book.path, "suites": len(book.suite_entries),
        "others": len(book.other_suites),
                  "tier": book.tier},
)  # fmt: skip


def _check_report(book: Rulebook) -> Report:
    (table,) = SuiteDeclarationTable(None, book.suite_entries).tables()  # type: ignore[arg-type]
    over = [message.with_prefix(entry.suite.name) for entry in book.suite_entries
            for message in ended_quarantine_messages(entry)]  # fmt: skip
    fields = replace(table, columns=tuple(Column(column.header) for column in table.columns))
    answer = (VALID_RULES_ANSWER.sentence_about(book),)
    return Report(
        (table,), lambda: fields, (FOOTER_VERSION_TEXT,), messages=tuple(over), answer=answer
    )
