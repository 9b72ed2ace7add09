"""The suites of a rules file, which are judged like gates and share one confidence level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from passk_cli.commands.gate.context import JudgedRun, row_without_number
from passk_cli.commands.gate.evidence import OF, CountEvidence
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rulebook import (
    TREND,
    QuarantinedTask,
    Rulebook,
    SuiteEntry,
    TrendEntry,
)
from passk_cli.commands.gate.rules import BY_INTERVAL, EveryTask
from passk_cli.commands.question import ReadCounts
from passk_cli.commands.trend.view import TrendQuestion
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import paths_of
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.report.data_types import Column, Estimate, GateCheck, Phrase, Report
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.baseline import baseline_label
from passk_cli.study.result import Result
from passk_cli.study.section import VERSION, Section
from passk_cli.study.significance_options import ERROR, NOT_JUDGED, PASS

QUARANTINED = DiagnosticType(
    "quarantined", WARNING,
    "{tasks:task} in quarantine {tasks:is|are} not judged ({c} of {n:attempt} passed): {names}",
    meaning="The rules file lists flaky tasks, each with a reason and a last day. All verdicts of"
    " the suite leave tasks in quarantine out, in the new run and in the baseline.",
    why="The gate does not detect a regression in a task in quarantine.",
    advice="Fix each flaky task before the last day of its quarantine. A row of the table shows how"
    " many attempts at tasks in quarantine passed.",
    example="passk gate --rules sample_data/passk.toml\n"
    "warning[quarantined]: airline: 1 task in quarantine is not judged (1 of 4 attempts passed):"
    " 17",
)  # fmt: skip
QUARANTINE_OVER = DiagnosticType(
    "quarantine-over", WARNING,
    "the quarantine of task {task} ({reason}) ended on {until}, so the task is judged again",
    "renew the quarantine or remove its entry",
    meaning="The last day of the quarantine (in UTC) is over, so the gate judges the task again.",
    why="If the task is still flaky, it can fail the gate.",
    advice="If the task is still flaky, set a later day in the rules file. If the task is not flaky"
    " any more, remove its entry.",
    example="warning[quarantine-over]: the quarantine of task t17 (flaky endpoint) ended on"
    " 2026-10-31, so the task is judged again; renew the quarantine or remove its entry",
)  # fmt: skip
QUARANTINE_ABSENT = DiagnosticType(
    "quarantine-absent", WARNING, "the data does not contain these tasks in quarantine: {names}",
    "check the names",
    meaning="The rules file lists tasks in quarantine that the data does not contain.",
    why="If the data has another name for a flaky task, the gate judges this task.",
    advice="Compare the names in the rules file with the names in the data, or remove the entry.",
    example="warning[quarantine-absent]: the data does not contain these tasks in quarantine: t71;"
    " check the names",
)  # fmt: skip


@dataclass(frozen=True)
class SuiteRun(JudgedRun):
    """The run of a suite.  quarantined : tasks in quarantine, with their numbers of attempts."""

    entry: SuiteEntry = None  # type: ignore[assignment]
    quarantined: tuple[QuarantinedTask, ...] = ()

    @classmethod
    def from_entry(cls, entry: SuiteEntry, read: ReadCounts) -> SuiteRun:
        """Read the run and the baseline of a suite, and leave out the tasks in quarantine."""
        runs, out = list[Counts](), entry.suite.quarantined

        def read_judged(request: Request, source: Any = None, /) -> Counts:
            counts = read(request, entry.options.source if source is None else source)
            runs.append(counts)
            try:
                return counts.without_tasks({task.task for task in out})
            except ValueError:
                raise DataError(
                    entry.suite.name, "all tasks of the suite are in quarantine",
                    "remove some tasks from the quarantine", name="unusable-data",
                ) from None  # fmt: skip

        with entry.locate_errors():
            context = entry.gate.gate_context(entry.gate.study(entry.options, read_judged))
        quarantined, losses = [], runs[0].missing_outcomes
        tasks = [unit[0] for unit in losses.units]
        for flaky in out:
            has_attempts = [task == flaky.task for task in tasks]
            passed = [task == flaky.task for task in runs[0].tasks]
            n = int(losses.attempts[np.array(has_attempts)[losses.unit_codes]].sum())
            c = int(runs[0].c[np.array(passed)[runs[0].task_codes]].sum())
            quarantined.append(flaky._replace(n=n, c=c))
        return cls(entry.gate, context, (), entry, tuple(quarantined))

    @property
    def name(self) -> str:
        return self.entry.suite.name

    @property
    def present_quarantined(self) -> list[QuarantinedTask]:
        return [task for task in self.quarantined if task.n]

    def judge(self, level: float) -> Self:
        with self.entry.locate_errors():
            return super().judge(level)

    def row_of(self, line: Judgement) -> Judgement:
        several = len({line.name for line in self.lines}) > 1
        model = SeriesName(line.fact.series)
        fields = {**line.fields, "model": model, "suite": self.name}
        return replace(
            line, name=f"{self.name}: {line.name}" if several else self.name,
            fact=replace(line.fact, series=(model, self.name)),
            template="{suite}: " + line.template, fields=fields,
        )  # fmt: skip

    @property
    def rows_not_judged(self) -> list[Judgement]:
        """Rows for rules that need a first baseline, and a row for the tasks in quarantine."""
        why, flaky = "no baseline yet", self.present_quarantined
        rows = [row_without_number(words, (self.name,), why) for words in self.gate.waiting]
        if not flaky:
            return rows
        count = CountEvidence(sum(t.c for t in flaky), sum(t.n for t in flaky), f"passed {OF}")
        details = tuple(f"{t.task} passed {t.c:,} of {t.n:,}, until {t.until}: {t.reason}"
                        for t in flaky)  # fmt: skip
        words = f"{plural(len(flaky), 'task')} in quarantine"
        row = row_without_number((words,), (self.name,), str(count), count=count, details=details)
        return [*rows, replace(row, reason="")]

    @property
    def messages(self) -> Iterator[Diagnostic]:
        yield from quarantine_messages(self.entry)
        if flaky := self.present_quarantined:
            yield QUARANTINED(
                tasks=len(flaky), names=[task.task for task in flaky],
                c=sum(task.c for task in flaky), n=sum(task.n for task in flaky),
            )  # fmt: skip
        if absent := [task.task for task in self.quarantined if not task.n]:
            yield QUARANTINE_ABSENT(names=absent)


def quarantine_messages(entry: SuiteEntry) -> Iterator[Diagnostic]:
    for task in entry.suite.quarantine:
        if not task.active:
            yield QUARANTINE_OVER(task=task.task, until=str(task.until), reason=task.reason)


def report_on_suites(gate: Any, book: Rulebook, read: ReadCounts) -> Report:
    """The report about all suites, with verdicts that share one confidence level (Bonferroni).

    A suite with unreadable data becomes a row with the verdict "error".

    Errors: DataError if no suite can be read.
    """
    if gate.check:
        return _check_report(book)
    entries, read = book.entries, _cached_reader(read)
    if gate.first_run:
        gates = [entry.gate.first_run_gate(entry.options, read) for entry in entries]
        if not any(gates):
            raise gate.first_run_error()
        pairs = zip(entries, gates, strict=True)
        entries = tuple(replace(entry, gate=first or entry.gate) for entry, first in pairs)
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
            unread.append(replace(row, failing=True))
    if len(entries) == len(errors) == 1:
        raise errors[0]
    if not runs:
        problems = (f"suite {row.name}: {row.reason}" for row in unread)
        problem = f"no suite can be read: {'; '.join(problems)}"
        raise DataError(book.name, problem, name=errors[0].name)
    book = replace(
        book, level=runs[0].context.study.confidence.level,
        quarantined=sum(len(run.present_quarantined) for run in runs),
        statements=sum(rule.statements(r.context) for r in runs for rule in r.gate.active_rules),
    )  # fmt: skip
    runs = [run.judge(book.verdict_level) for run in runs]
    further_rows = [*unread, *_trend_rows(book.trend, read, first_run=gate.first_run)]
    study = _combined_study([run.context.study for run in runs])
    report: Report = gate.report_of_runs(study, runs, book, further_rows)
    # Some options may have a different value in each suite, so the signature of the whole report
    # does not show such options.
    entry_of = {name: value for name, value in report.signature.items()
                if name not in ("missing", "duplicates", "by")}  # fmt: skip
    return replace(report, sign=lambda: entry_of)


def _cached_reader(read: ReadCounts) -> ReadCounts:
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


def _trend_rows(entry: TrendEntry | None, read: ReadCounts, *, first_run: bool) -> list[Judgement]:
    """Rows with the verdicts of `passk trend --fail` about the history of a rules file.

    An unreadable history becomes a row with an error or, with --first-run, a row without a verdict.
    """
    if entry is None:
        return []
    values, history = {"metrics": "pass@1", **entry.values, "fail": True}, [entry.history]
    try:
        question, options = TrendQuestion.ask(values, history, requires_data=True)
        report = question.report_from(
            options, lambda request, source=None, /: read(request, source or history)
        )
    except DataError as error:
        words = (f"no change of {values['metrics']} for the worse",)
        row = row_without_number(words, (TREND,), str(error), NOT_JUDGED if first_run else ERROR)
        return [replace(row, failing=not first_run)]
    except ParameterError as error:
        raise entry.refused(error) from None
    return [_trend_row(check, several=len(report.checks) > 1) for check in report.checks]


def _trend_row(check: GateCheck, *, several: bool) -> Judgement:
    fields = {"words": check.rule, "finding": Phrase(check.finding)}
    line = Judgement(
        "{words}", Result((check.model, TREND), "", None, Estimate(None)), check.verdict,
        "trend: {finding}", fields, details=check.details, noun=TREND,
    ).with_failing(PASS)  # fmt: skip
    return replace(line, name=f"{TREND}: {check.model}" if several else TREND)


def _combined_study(studies: Sequence[Analysis]) -> Analysis:
    study = studies[0]
    names = [(SeriesName(series), "") for series in study.counts.series]
    counts = replace(study.counts, facts=ReadFacts(), attempts={}, clusters=None)
    metrics = tuple(dict.fromkeys(metric for analysis in studies for metric in analysis.metrics))
    return replace(study, counts=counts.regrouped(names, ("suite",)), metrics=metrics,
                   baseline=None, reading=())  # fmt: skip


class SuiteTable(Section[SuiteEntry]):
    """One row per suite of a rules file, for --check."""

    view = "with --check"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("suite", meaning="Name of the suite.", cell=lambda entry: entry.suite.name),
        Column("rules", meaning="The rules as options.", cell=lambda entry: _rules_of(entry)),
        Column("runs", meaning="The files of the new run.",
               cell=lambda entry: ", ".join(map(str, entry.options.files))),
        Column("baseline", meaning="The baseline of the suite.",
               cell=lambda entry: (
                   ", ".join(map(str, paths_of(entry.gate.baseline)))
                   or baseline_label(entry.gate.baseline)) if entry.gate.baseline else ""),
        Column("quarantine", meaning="Tasks in quarantine today.",
               cell=lambda entry: ", ".join(task.task for task in entry.suite.quarantined)),
    )  # fmt: skip


def _rules_of(entry: SuiteEntry) -> str:
    rules = [rule for rule in entry.gate.active_rules if not isinstance(rule, EveryTask)]
    entries = {name: value for rule in rules for name, value in rule.signature.items()}
    options = {f"--{name.replace('_', '-')}": value for name, value in entries.items()}
    if options.get("--min-by") == BY_INTERVAL:
        del options["--min-by"]
    words = (name if value == "yes" else f"{name} {value}" for name, value in options.items())
    return " ".join(words)


VALID = Answer(
    "valid-rules", lambda _: True,
    "The rules file {name} is valid and contains {suites:suite}{?others|; {others:suite} not in"
    " tier {tier}}. No data was read.",
    lambda book: {"name": book.name, "suites": len(book.entries), "others": len(book.other_suites),
                  "tier": book.tier},
)  # fmt: skip


def _check_report(book: Rulebook) -> Report:
    (table,) = SuiteTable(None, book.entries).tables()  # type: ignore[arg-type]
    over = [message.with_prefix(entry.suite.name) for entry in book.entries
            for message in quarantine_messages(entry)]  # fmt: skip
    fields = replace(table, columns=tuple(Column(column.header) for column in table.columns))
    answer = (VALID.sentence_about(book),)
    return Report((table,), lambda: fields, (VERSION,), messages=tuple(over), answer=answer)
