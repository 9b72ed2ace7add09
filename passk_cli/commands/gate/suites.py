"""Suites of one gate: each is read and judged by itself, all at one level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from passk_cli.commands.gate.judgement import OF, Counted, Judgement
from passk_cli.commands.gate.rulebook import Quarantined, Rulebook, SuiteEntry
from passk_cli.commands.gate.rules import DifferenceRule, GateRule
from passk_cli.commands.gate.trial import Trial
from passk_cli.commands.question import Read, SharedOptions
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.report.model import Estimate, Sentence
from passk_cli.report.words import plural, series_name
from passk_cli.study.fact import Fact
from passk_cli.study.rules import ERROR, NOT_JUDGED
from passk_cli.study.study import Study


class SuiteGate(Protocol):
    """A suite's question; `Gate` is one."""

    @property
    def on_undecided(self) -> str:
        """The verdict that undecided rules count as."""

    @property
    def baseline(self) -> Any:
        """Files or a model that the run is compared with; None for nothing."""

    @property
    def chosen(self) -> list[GateRule]:
        """The rules."""

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The run and its baseline."""

    def trial(self, study: Study) -> Trial:
        """The run beside its baseline."""

    def lines_of(self, trial: Trial) -> list[tuple[int, Judgement]]:
        """Every candidate by every rule."""


class Asked(NamedTuple):
    """A suite, its question and the options of reading it.

    later : the rules that wait for a first baseline.
    """

    entry: SuiteEntry
    gate: SuiteGate
    options: SharedOptions
    later: Sequence[DifferenceRule] = ()

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.entry.suite.name

    @property
    def waiting(self) -> list[Sentence]:
        """The rules that wait, in words."""
        return [words for rule in self.later for words in rule.waiting]


class Held(NamedTuple):
    """A task in quarantine, and its attempts in the new run, those without an outcome included;
    n = 0 where it is not in the data."""

    task: Quarantined
    n: int = 0
    c: int = 0


@dataclass(frozen=True)
class SuitePart:
    """A suite that was read.

    trial : its run beside the baseline; None where the data could not be used, and
    problem : says why.  held : tasks in quarantine.  lines : the judgements of its rules.
    """

    asked: Asked
    trial: Trial | None = None
    problem: str = ""
    held: tuple[Held, ...] = ()
    lines: tuple[Judgement, ...] = ()

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.asked.name

    @property
    def rows(self) -> list[Judgement]:
        """A row per rule and model, then those that are not judged, under the suite's name."""
        if self.trial is None:
            line = self._row(("its data can be read",), ERROR, self.problem)
            return [replace(line, failing=True)]
        several = len({line.name for line in self.lines}) > 1
        rows = [
            replace(
                line, name=f"{self.name}: {line.name}" if several else self.name,
                fact=self.own(line.fact), finding=(f"{self.name}: ", *line.finding),
            )
            for line in self.lines
        ]  # fmt: skip
        rows += [self._row(words, NOT_JUDGED, "no baseline yet") for words in self.asked.waiting]
        if there := [held for held in self.held if held.n]:
            words = f"{plural(len(there), 'task')} in quarantine"
            passed = Counted(sum(h.c for h in there), sum(h.n for h in there), f"passed {OF}")
            row = self._row((words,), NOT_JUDGED, "", passed)
            rows.append(replace(row, details=tuple(
                f"{h.task.task} passed {h.c:,} of {h.n:,}, until {h.task.until}: {h.task.reason}"
                for h in there
            )))  # fmt: skip
        return rows

    def own(self, fact: Fact) -> Fact:
        """A fact with the suite as its group."""
        return replace(fact, series=(series_name(fact.series), self.name))

    def _row(
        self, words: Sentence, verdict: str, reason: str, counted: Counted | None = None
    ) -> Judgement:
        fact = Fact(("", self.name), "", None, Estimate(None))
        finding = (f"{self.name}: {reason or counted}",)
        return Judgement(words, fact, name=self.name).judged(verdict, finding, reason, (), counted)


@dataclass(frozen=True)
class Suites:
    """Suites that were judged.

    level : of all verdicts together.  statements : how many of them chance can mislead; each is
        made at `each`.
    """

    book: Rulebook
    parts: tuple[SuitePart, ...]
    level: float
    statements: int

    @property
    def each(self) -> float:
        """The level of one verdict: 1 − (1 − level) / statements (Bonferroni)."""
        return self.level if self.statements < 2 else 1.0 - (1.0 - self.level) / self.statements

    @property
    def read(self) -> list[tuple[SuitePart, Trial]]:
        """The suites that could be read, with their trials."""
        return [(part, part.trial) for part in self.parts if part.trial is not None]

    @property
    def study(self) -> Study:
        """The runs of all suites as one, for what is said of all."""
        trials = self.read
        counts = [
            replace(trial.study.counts, facts=ReadFacts(), attempts={}, clusters=None).regrouped(
                [(series_name(series), part.name) for series in trial.study.counts.series],
                ("suite",),
            )
            for part, trial in trials
        ]
        metrics = dict.fromkeys(m for _, trial in trials for m in trial.study.metrics)
        first = trials[0][1].study
        return replace(
            first, counts=Counts.together(counts), metrics=tuple(metrics), baseline=None, reading=()
        )


def judged_suites(
    book: Rulebook,
    asked: Sequence[Asked],
    read: Read,
    averages: Callable[[Sequence[SuitePart]], int],
) -> Suites:
    """Every suite, read and judged at the level that all share.

    averages : how many verdicts on averages there are besides.
    Errors: DataError with the problem of each, where no suite could be read.
    """
    parts, errors = [], []
    for each in asked:
        try:
            with each.entry.placed():
                parts.append(_read(each, read))
        except (DataError, ParameterError) as error:
            if error.kind != "data":
                raise
            errors.append(error)
            parts.append(SuitePart(each, problem=str(error)))
    if len(errors) == len(parts):
        if len(parts) == 1:
            raise errors[0]
        every = "; ".join(f"suite {part.name}: {part.problem}" for part in parts)
        raise DataError(book.name, f"no suite can be read: {every}", name=errors[0].name)
    trials = [(part, part.trial) for part in parts if part.trial is not None]
    statements = sum(
        rule.statements(trial) for part, trial in trials for rule in part.asked.gate.chosen
    )
    level = trials[0][1].study.confidence.level
    whole = Suites(book, tuple(parts), level, statements + averages(parts))
    return replace(whole, parts=tuple(_judged(part, whole.each) for part in parts))


def _judged(part: SuitePart, level: float) -> SuitePart:
    """The suite with its verdicts, each at a level."""
    if part.trial is None:
        return part
    study = part.trial.study
    confidence = replace(study.confidence, level=level)
    trial = replace(part.trial, study=replace(study, confidence=confidence))
    with part.asked.entry.placed():
        lines = tuple(line for _, line in part.asked.gate.lines_of(trial))
    return replace(part, trial=trial, lines=lines)


def _read(asked: Asked, read: Read) -> SuitePart:
    """A suite's run and baseline, without the tasks in quarantine."""
    out = asked.entry.suite.out
    names = {each.task for each in out}
    runs: list[Counts] = []

    def kept(request: Request, source: Any = None, /) -> Counts:
        counts = read(request, asked.options.source if source is None else source)
        runs.append(counts)
        try:
            return counts.without_tasks(names)
        except ValueError:
            raise DataError(
                asked.name, "every task is in quarantine", "take some out of it",
                name="unusable-data",
            ) from None  # fmt: skip

    trial = asked.gate.trial(asked.gate.study(asked.options, kept))
    held = []
    losses = runs[0].losses
    tasks = [unit[0] for unit in losses.units]
    for each in out:
        made = [task == each.task for task in tasks]
        passed = [task == each.task for task in runs[0].tasks]
        n = int(losses.made[np.array(made)[losses.unit_codes]].sum())
        held.append(Held(each, n, int(runs[0].c[np.array(passed)[runs[0].task_codes]].sum())))
    return SuitePart(asked, trial, held=tuple(held))
