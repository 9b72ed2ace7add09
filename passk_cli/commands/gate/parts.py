"""Parts of a gate: the run that is judged, or each suite of a file of rules, all at one level."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from passk_cli.commands.gate.judgement import Judgement, at_both_ends
from passk_cli.commands.gate.rulebook import Quarantined, SuiteEntry
from passk_cli.commands.gate.rules import GateRule
from passk_cli.commands.gate.sides import OF, Counted
from passk_cli.commands.gate.trial import Trial
from passk_cli.report.model import Estimate, Sentence
from passk_cli.report.words import SeriesName, plural
from passk_cli.study.fact import Fact
from passk_cli.study.rules import ERROR, NOT_JUDGED


@dataclass(frozen=True)
class GatePart:
    """A run that is judged: one alone, or a suite of a file of rules.

    rules, on_undecided : what it is judged by, and whether undecided lines "pass" or "fail".
    entry : the suite in its file; None of a run alone.
    trial : the run beside its baseline; None where the data could not be used, and
    problem : says why.  waiting : the rules that wait for a first baseline, in words.
    held : tasks in quarantine.  lines : the judgements, each with the place of its rule.
    """

    rules: Sequence[GateRule]
    on_undecided: str
    trial: Trial | None
    entry: SuiteEntry | None = None
    problem: str = ""
    waiting: Sequence[Sentence] = ()
    held: tuple[Quarantined, ...] = ()
    lines: tuple[tuple[int, Judgement], ...] = ()

    @property
    def name(self) -> str:
        """The suite's name; "" of a run alone."""
        return "" if self.entry is None else self.entry.suite.name

    @property
    def there(self) -> list[Quarantined]:
        """The tasks in quarantine that the new run has."""
        return [held for held in self.held if held.n]

    @property
    def placed(self) -> AbstractContextManager[None]:
        """Errors of the block say which suite they are about."""
        return nullcontext() if self.entry is None else self.entry.placed()

    def judged(self, level: float) -> GatePart:
        """The part with every candidate judged by every rule, each verdict at a level."""
        if self.trial is None:
            return self
        confidence = replace(self.trial.study.confidence, level=level)
        trial = replace(self.trial, study=replace(self.trial.study, confidence=confidence))
        lines = []
        with self.placed:
            for place, rule in enumerate(self.rules):
                for first, *others in zip(*map(rule.judge, trial.cases), strict=True):
                    line = at_both_ends(first, *others) if others else first
                    lines.append((place, line.counting(self.on_undecided)))
        return replace(self, trial=trial, lines=tuple(lines))

    @property
    def rows(self) -> list[Judgement]:
        """The judgements; of a suite under its name, with rows of what is not judged."""
        lines = [line for _, line in self.lines]
        waiting = [self._row(words, NOT_JUDGED, "no baseline yet") for words in self.waiting]
        if self.entry is None:
            return [*lines, *waiting]
        if self.trial is None:
            line = self._row(("its data can be read",), ERROR, self.problem)
            return [replace(line, failing=True)]
        several = len({line.name for line in lines}) > 1
        rows = [
            replace(
                line, name=f"{self.name}: {line.name}" if several else self.name,
                fact=replace(line.fact, series=(SeriesName(line.fact.series), self.name)),
                finding=(f"{self.name}: ", *line.finding),
            )
            for line in lines
        ]  # fmt: skip
        rows += waiting
        if self.there:
            words = f"{plural(len(self.there), 'task')} in quarantine"
            c, n = sum(each.c for each in self.there), sum(each.n for each in self.there)
            row = self._row((words,), NOT_JUDGED, "", Counted(c, n, f"passed {OF}"))
            rows.append(replace(row, details=tuple(
                f"{each.task} passed {each.c:,} of {each.n:,}, until {each.until}: {each.reason}"
                for each in self.there
            )))  # fmt: skip
        return rows

    def _row(
        self, words: Sentence, verdict: str, reason: str, counted: Counted | None = None
    ) -> Judgement:
        groups: tuple[str, ...] = (self.name,)
        if self.entry is None and self.trial is not None:
            groups = ("",) * len(self.trial.study.counts.group_names)
        fact = Fact(("", *groups), "", None, Estimate(None))
        finding = (": ".join(filter(None, (self.name, reason or str(counted)))),)
        return Judgement(words, fact, name=self.name).judged(verdict, finding, reason, (), counted)
