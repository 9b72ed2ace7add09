"""The verdict of a gate: the table of its rules, what a rehearsal shows of them, its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from passk_cli.arrays import gathered
from passk_cli.commands.gate import COMMAND, GateOptions
from passk_cli.commands.gate.judgement import POWER, Judgement, Rehearsed, text_of
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rehearsal import ALARMS, Stage, extremes, rehearsable, rehearsed
from passk_cli.commands.gate.rulebook import (
    FILE,
    Rulebook,
    SuiteEntry,
    read_rulebook,
    refuse_all,
    said_in_keys,
)
from passk_cli.commands.gate.rules import (
    BY_INTERVAL,
    EVERY,
    EVERY_ATTEMPT,
    DifferenceRule,
    EveryAttempt,
    EveryTask,
    GateRule,
    MaxIncrease,
    Relative,
    is_given,
)
from passk_cli.commands.gate.sides import ITSELF, Sides
from passk_cli.commands.gate.trial import Trial
from passk_cli.commands.gate.verdict import (
    LONGEST,
    NUMBER,
    ORDER,
    merged,
    verdict_of,
    with_notes,
    with_reason,
)
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.commands.tasks.flips import changes_of
from passk_cli.commands.trend.view import Trend
from passk_cli.errors import DataError, ParameterError, PasskError, refuse
from passk_cli.files.database import column_sql
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.sources.arguments import is_file_argument, paths_of
from passk_cli.limits import MOST_GROUPS
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.metrics.registry import AMOUNTS, Metric, needs, scores_only
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.report.model import (
    BRIEF,
    COMMENT,
    FULL,
    ChangedTasks,
    Check,
    Column,
    Estimate,
    Hint,
    Phrase,
    Report,
    Sentence,
    Stated,
    Table,
)
from passk_cli.report.words import SeriesName, first_few, plural, sized, span
from passk_cli.settle import Blank, Given, Settle
from passk_cli.study.adjustment import tests_shown
from passk_cli.study.answer import Answer, first_true
from passk_cli.study.baseline import Runs, label_of, only_models
from passk_cli.study.benchmarks import disagreements
from passk_cli.study.comparison import match
from passk_cli.study.confidence import Confidence
from passk_cli.study.copies import copied_runs
from passk_cli.study.fact import Fact, Size
from passk_cli.study.flips import Side, find_flips
from passk_cli.study.history import last_runs, past_of, require_another, without_runs
from passk_cli.study.losses import uneven_notes
from passk_cli.study.metrics import is_corrected
from passk_cli.study.notes import reading_notes
from passk_cli.study.rules import (
    ADJUSTED,
    ALL,
    BH,
    BONFERRONI,
    ERROR,
    FAIL,
    HOLM,
    MIN_P,
    NOT_JUDGED,
    PASS,
    UNADJUSTED,
    UNDECIDED,
)
from passk_cli.study.section import VERSION, Section, data_field, view
from passk_cli.study.study import Study
from passk_cli.study.values import require_monotone

# Rows of the table without --full and of a comment, columns of a screen.
_ROWS, _COMMENTED, _SCREEN = 14, 20, 100
# Columns whose texts are errors of attempts.
_ERRORS = ("error", "errors", "error_message", "exception")
# A cost that may rise to so many times the baseline's can hardly fail a rule.
_TIMES = 10.0
# Runs of a history from which the effect of a run is known well enough.
_KNOWN = 5

RUNS_POOLED = Message(
    "runs-pooled", NOTE,
    "the baseline is the last {runs:run} of its history, and intervals allow for the effect of a"
    " run", "",
    "Every difference to a history has the variance of the effect of the run added,"
    " σ² (1 + 1/R) for R runs, with σ² estimated from all runs of the history.")  # fmt: skip
FEW_RUNS_KNOWN = Message(
    "few-runs-known", WARNING,
    "the history has {runs:run}{?noun| with {noun}}, which tell little of how much runs differ:"
    " limits may be too narrow", "record further runs",
    "With fewer than five runs the effect of a run is known roughly: where it is as large as chance"
    " within tasks or larger, intervals of 95 % covered in 91 to 96 % of simulated gates with two"
    " or three runs, and in 95 to 97 % with twenty (benchmarks/trend.md).")  # fmt: skip
ONE_RUN_KNOWN = Message(
    "one-run-known", WARNING,
    "the history has one run of a model, so intervals do not allow for the effect of a run",
    "record further runs",
    "The effect of the run on a difference is estimated from two runs of a history or more.",
)  # fmt: skip
TASKS_NOT_RUN = Message(
    "baseline-tasks-not-run", WARNING,
    "{lost} of {tasks:baseline task} {lost:has|have} no attempts in {model}", "",
    "With `--unpaired drop` a gate compares the tasks that the new run has. A task without any"
    " attempt often crashed, so that what remains looks better than it is.")  # fmt: skip
MODELS_NOT_RUN = Message(
    "baseline-models-not-run", WARNING,
    "{lost} of {models:model} of the baseline {lost:has|have} no attempts in the new run",
    (Settle({"--model": "{both}"}, "judges the model that both have"),
     Settle({"--unpaired": "{drop}"}, "compares what both have")),
    "The baseline has models that the new run has not. A gate fails for that, unless --model names"
    " the models that were to be run, or --unpaired drop says that others may be missing.",
)  # fmt: skip
OTHER_ATTEMPTS = Message(
    "other-attempts-than-baseline", NOTE,
    "{models:model} {models:has|have} other tasks or attempts than {baseline}",
    Settle({"--unpaired": "drop"}, "compares those that are there"),
    "A gate fails where the new run lacks tasks or attempts of its baseline, or has more attempts:"
    " lost ones often failed. Models of one file may have been given different numbers; `--unpaired"
    " drop` compares them as they are, and the verdict says what they lack.",
)  # fmt: skip
RENAMED_MODEL = Message(
    "renamed-model", WARNING, "{old} has no attempts, and {new} has its tasks and rates",
    Settle({"--alias": {"{old}": "{new}"}}, "counts both as one, if they are"),
    "A model of the baseline is not in the new run, and another model has nine tenths of its tasks"
    " or more and passes them as often as chance within tasks allows. Where a model was renamed,"
    " --alias (aliases in a file of rules) says so, of baselines and histories as well.",
)  # fmt: skip
OTHER_NAME = Message(
    "other-model-name", WARNING, "{new} is compared with {old}, the only model of {baseline}",
    Settle({"--alias": {"{old}": "{new}"}}, "counts both as one, if the model was renamed"),
    "One model is compared with one model, whatever they are named. A history keeps the runs of"
    " each name apart: from the next night on a renamed model has no earlier runs. --alias (aliases"
    " in a file of rules) counts both names as one.",
)  # fmt: skip
NOT_COMPARED = Message(
    "not-compared", WARNING, "{model} is not compared: {reason}", "",
    "A rule about differences needs the baseline's model and group of tasks. With `--unpaired drop`"
    " what has none is left out; without it the gate fails.")  # fmt: skip
FEWER_TASKS = Message(
    "fewer-tasks", WARNING, "{model} has no attempts at {lost} of {tasks:task} of the data", "",
    "Without a baseline a gate looks at what the models of the data have together. A model without"
    " attempts at some of these tasks is judged on the others.")  # fmt: skip
GROUP_NOT_RUN = Message(
    "group-not-run", WARNING, "{model} has no attempts in {group}", "",
    "The model has no attempts in this group of `--by`, while other models have.")  # fmt: skip
MISSING_DECIDE = Message(
    "missing-outcomes-decide", WARNING,
    "{rules:rule} would fail for some values of the missing outcomes, which fails the gate", "",
    "With `--missing bounds` each rule is judged twice: with the missing outcomes as bad for the"
    " new run as they can be, and as good. With a baseline the worst case is that those of the new"
    " run fail and those of the baseline pass. A rule that fails in either case fails the gate: it"
    " passes only what it would pass with any outcomes.")  # fmt: skip
DECIDES_NOTHING = Message(
    "rule-decides-nothing", WARNING,
    "{rule}: {verdict} if every attempt passes and if every attempt fails, so it decides nothing",
    "",
    "A rule is judged as well on a run in which every attempt passes and one in which every attempt"
    " fails. If it says the same of both, it cannot tell runs of this size apart; it needs more"
    " tasks, or another number.")  # fmt: skip
CANNOT_DECIDE = Message(
    "rule-cannot-decide", WARNING,
    "{rule} cannot {verb}: {verdict} even if every attempt {run}", "",
    "A rule is judged as well on a run in which every attempt passes, and on one in"
    " which every attempt fails. A rule that does not pass the first, or does not fail the second,"
    " never will with so many tasks and attempts.")  # fmt: skip
CANNOT_FAIL = Message(
    "rule-cannot-fail", WARNING,
    "{rule} can hardly fail: one attempt of the baseline has {value} on average",
    Settle({"--max-increase": {"{metric}": "10%"}}, "limits the share by which it rises"),
    "A limit without % is an amount per attempt, in the unit of the metric: cost=20 is $20 and not"
    " 20 %. The new run would have to reach more than ten times the baseline.")  # fmt: skip
NOT_REHEARSED = Message(
    "not-rehearsed", WARNING, "{metrics} not rehearsed: passes and failures do not decide it", "",
    "A rehearsal draws runs as passes and failures. Metrics of scores, answers or solutions, and"
    " gain@k, are not decided by these.")  # fmt: skip
ONE_ATTEMPT = Message(
    "one-attempt-rehearsed", WARNING,
    "one attempt per task does not show its success rate: were all rates equal, {share} of"
    " rehearsals with nothing changed would fail", "",
    "With one attempt per task the data show the pass rate, and not how tasks differ. The rates of"
    " the rehearsal come from a prior with this pass rate; the message has the other extreme.",
)  # fmt: skip
DROPS_TOGETHER = Message(
    "drops-together", NOTE, "drops are made in all models at once", "",
    "To find the smallest drop that a rule detects, a rehearsal lowers the success rates of all"
    " models of the new run alike.")  # fmt: skip
FEW_REHEARSALS = Message(
    "few-rehearsals", NOTE, "only {runs:rehearsal}, since intervals of this method are slow", "",
    "Every rehearsal computes the intervals of all rules anew. For methods that take long there are"
    " a fifth as many rehearsals, and the limits of false alarms are wider.")  # fmt: skip

QUARANTINED = Message(
    "quarantined", WARNING,
    "{suite}: {tasks:task} in quarantine {tasks:is|are} not judged, passed {c} of {n:attempt}:"
    " {names}", "",
    "A file of rules names tasks that are known to be flaky, each with a reason and a last day."
    " They are left out of every verdict of the suite, in the new run and in its baseline, and"
    " counted in a row of their own.")  # fmt: skip
QUARANTINE_OVER = Message(
    "quarantine-over", WARNING,
    "{suite}: the quarantine of {task} ended with {until} ({reason}), and it is judged again",
    "renew it or take it out",
    "A quarantine has a last day, in UTC. After it the task counts as any other.")  # fmt: skip
QUARANTINE_ABSENT = Message(
    "quarantine-absent", WARNING, "{suite}: in quarantine, but not in the data: {names}",
    "check the names",
    "The task has another name in the data, or was not run.")  # fmt: skip
SUITE_OF = Message(
    "suite-tasks-and-attempts", NOTE, "{words}", "",
    "The tasks and attempts that a suite's verdicts rest on where they are not those of its"
    " baseline, or where nothing says how many there should be.")  # fmt: skip
NO_BASELINE_YET = Message(
    "no-baseline-yet", NOTE,
    "{?suite|{suite}: }{rules:rule} about changes {rules:is|are} not judged, since there is no"
    " baseline yet", "record this run, so that the next one has a baseline",
    "With `--first-run` a gate has its first night: rules that compare the run with a baseline are"
    " not judged, and do not fail. The other rules are judged.")  # fmt: skip


_SUITE = Column("suite", meaning="The suite, with the model where it has several.",
                cell=lambda line: line.name, where=lambda section: section.book)  # fmt: skip
_MODEL = Column("model", meaning="The model of the new run, with its groups.",
                cell=lambda line: line.name,
                where=lambda section: section.several and not section.book)  # fmt: skip
_RULE = Column(
    "rule", meaning="The rule; `every baseline task` and `every baseline attempt` are added.",
    cell=lambda line: Phrase(line.words))  # fmt: skip
_FIELDS = (
    data_field("rule", "The rule, in words.", lambda line: line.rule),
    data_field("limit", "The number of the rule.", lambda line: line.limit),
    data_field(
        "counted",
        'What was counted, where that is the evidence: "24 of 60".',
        lambda line: str(line.counted) if line.counted else None,
    ),
    data_field(
        "shared_tasks",
        "Tasks of the baseline that the new run has attempts at.",
        lambda line: line.covered and line.covered.shared,
    ),
    data_field(
        "baseline_tasks",
        "Tasks of the baseline.",
        lambda line: line.covered and line.covered.expected,
    ),
    data_field("test", "The test behind p."),
    data_field("adjustment", "How p is adjusted for the number of tests."),
)


def _of(cell: Callable[[Rehearsed], Any]) -> Callable[[Judgement], Any]:
    """A cell of what was rehearsed; None where a rule was not."""
    return lambda line: None if line.rehearsed is None else cell(line.rehearsed)


@dataclass(frozen=True)
class RuleTable(Section[Judgement]):
    """Every rule for every candidate: its evidence and its verdict.

    parts : the run that was judged, or the suites.  book : the file of the suites; None of a run
    alone.  reasons : whether the verdict has its reason beside it.
    """

    reasons: ClassVar[bool] = True

    columns: ClassVar[tuple[Column, ...]] = (
        _SUITE,
        _MODEL,
        _RULE,
        Column(
            "evidence", "share", meaning="The number that decides, with its interval; a number with"
            " a sign is a difference, model minus baseline. Or what was counted.",
            cell=lambda line: line.evidence),
        Column(
            "verdict", meaning="pass, fail; undecided: the interval contains the limit; error: the"
            " rule cannot be checked, which fails the gate.", cell=lambda line: line.verdict),
        Column(
            "detail", meaning="What else the verdict rests on, and what it leaves out.", shown=FULL,
            cell=lambda line: "; ".join(line.notes)),
        *_FIELDS,
        data_field("fails", "Whether the row fails the gate; undecided ones by --on-undecided.",
                   lambda line: line.failing),
    )  # fmt: skip

    parts: Sequence[GatePart]
    book: Rulebook | None = None

    @property
    def lines(self) -> Sequence[Judgement]:
        """The judgements that count."""
        return [line for line in self.records if line.verdict != NOT_JUDGED]

    @property
    def read(self) -> list[tuple[GatePart, Trial]]:
        """The parts that could be read, with their trials."""
        return [(part, part.trial) for part in self.parts if part.trial is not None]

    @property
    def several(self) -> bool:
        """Whether a row says what it is about."""
        return self.book is not None or len({line.name for line in self.lines}) > 1

    @property
    def noun(self) -> str:
        """The thing that a row is about."""
        if self.book is not None:
            return "suite"
        return "group" if self.study.counts.group_names else "model"

    def facts_of(self, record: Judgement) -> Iterator[Fact]:
        yield record.row

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(line.check for line in self.records)

    def answer(self) -> Iterator[Stated]:
        yield verdict_of(self.lines, self._omitted(), self.noun)

    def _omitted(self) -> list[str]:
        """Rules that are not judged, and what the numbers of each part lack."""
        later = sum(len(part.waiting) for part in self.parts)
        waiting = [f"{plural(later, 'rule')} not judged, no baseline yet"] if later else []
        if self.book is None:
            return [*waiting, *_omitted(self.read[0][1])]
        held = sum(len(part.there) for part in self.parts)
        others = len(self.book.others)
        words = {
            f"{plural(held, 'task')} in quarantine": held,
            f"{plural(others, 'suite')} not in tier {self.book.tier}": others,
        }
        lacking = gathered(
            (text, part.name) for part, trial in self.read for text in _omitted(trial)
        )
        return [
            *waiting,
            *(text for text, there in words.items() if there),
            *(f"{', '.join(names)}: {text}" for text, names in lacking.items()),
        ]

    def context(self) -> Iterator[str | Hint]:
        """Tasks and attempts behind the numbers, their level, and what undecided rules count as."""
        book, tests = self.book, ""
        if book is None:
            yield self._sizes()
            if any(line.fact.estimate.low is not None for line in self.lines):
                yield f"{100 * self.study.confidence.level:g} %"
            if tests := self._tests():
                yield tests
            if self.study.bounded:
                yield "missing outcomes tried as fail and as pass"
        else:
            yield plural(len(self.parts), "suite")
            counts = [trial.sides.counts for _, trial in self.read]
            tasks = [len({*codes.task_codes.tolist()}) for codes in counts]
            yield sized(tasks, [int(n) for each in counts for n in (each.n.min(), each.n.max())])
            if book.statements > 1:
                level, each = (f"{100 * share:.4g} %" for share in (book.level, book.each))
                yield f"{level} for {book.statements} verdicts together ({each} each)"
            elif book.statements:
                yield f"{100 * book.level:g} %"
        if undecided := [line for line in self.lines if line.verdict == UNDECIDED]:
            counted = FAIL if all(line.failing for line in undecided) else PASS
            decided = book or tests or all(line.shut for line in undecided)
            words = f"undecided counts as {counted}"
            yield words if decided else Hint(words, Given("--on-undecided"))
        if held := sum(len(part.there) for part in self.parts):
            yield f"{plural(held, 'task')} in quarantine"
        if book and book.others:
            left_out = plural(len(book.others), "suite")
            yield f"tier {book.tier}: {left_out} left out"

    def _sizes(self) -> str:
        """The tasks and attempts of a run; of rules without numbers those of its models."""
        ((_, trial),) = self.read
        sized = [line.fact for line in self.lines if line.fact.size.n_min is not None]
        shared = bool(sized) and all(fact.against for fact in sized)
        if not sized:
            counts, sides = trial.sides.counts, trial.sides
            cells = [counts.n[counts.rows_of(s)] for s in sides.candidates]
            sized = [
                replace(trial.fact(series), size=Size(len(n), int(n.min()), int(n.max())))
                for series, n in zip(sides.series, cells, strict=True)
            ]
        return self.study.sizes(sized).replace(" task", " shared task" if shared else " task", 1)

    def _tests(self) -> str:
        """How p is adjusted, where several regressions were tested."""
        tested = [line.fact for line in self.lines if line.fact.p_adjusted is not None]
        if len(tested) < 2:
            return ""
        adjustment = str(tested[0].more.get("adjustment", ""))
        if adjustment not in ADJUSTED:
            return "no regression: by p, unadjusted"
        return f"{ADJUSTED[adjustment]} over {plural(len(tested), 'test')}"

    def details(self) -> Iterator[str]:
        """The intervals, and whose are adjusted; of suites those that are left out."""
        if self.book is not None:
            if self.book.others:
                yield f"left out: {', '.join(self.book.others)}"
            return
        valued = [line.fact for line in self.lines if line.fact.estimate.value is not None]
        shown = {bool(fact.against) for fact in valued}
        if True in shown:
            yield f"differences: model − baseline ({self.read[0][1].sides.label})"
        if shown == {True}:
            yield self.differences.words()
        elif shown:
            yield self.study.confidence.words(self.differences if True in shown else None)
        adjustments = {line.fact.more.get("adjustment") for line in self.lines}
        if self._tests() and adjustments & {MIN_P, BONFERRONI}:
            # Rules about one metric keep the interval of that metric alone.
            yield "several tests and their intervals are adjusted; those of other rules are not"

    @property
    def differences(self) -> Confidence:
        """The confidence of differences, with the methods that they got."""
        facts = [line.fact for line in self.lines if line.fact.against and line.fact.method]
        methods = [(fact.name, fact.method) for fact in facts if fact.estimate.low is not None]
        return self.study.confidence.for_differences().as_used(methods)

    def messages(self) -> Iterator[Said]:
        """Messages of reading, and of what the verdicts leave out.

        Of suites each is about those that say it: what several suites of one run say stands there
        once.
        """
        for part in self.parts:
            yield from _of_suite(part)
        every = list[tuple[Said, str]]()
        for part, trial in self.read:
            if self.book and (lacks := _omitted(trial)):
                every.append((SUITE_OF(words="; ".join(lacks)), part.name))
            every += [(said, part.name) for said in _useless(part, trial)]
            every += [(said, part.name) for said in _messages(part, trial)]
        for said, names in gathered(every).items():
            yield said_in_keys(said).about(", ".join(names)) if self.book else said

    def tables(self) -> Iterator[Table]:
        """Failing rows first, then undecided ones; as many rows as a screen has, and with --full
        a row per rule and model.  In a comment those that do not pass, and what was measured."""
        every = sorted(self.records, key=lambda line: (
            # Rows that shut the gate first, changes before others; the whole gate last.
            not line.name, not line.failing, ORDER.index(line.verdict) if line.name else 0,
            line.failing and not line.fact.against,
        ))  # fmt: skip
        brief = merged(every, _ROWS, self.noun)
        evidence = [str(line.counted) if line.counted else " " * NUMBER for line in brief]
        texts = [evidence, [line.rule for line in brief]]
        if self.several:
            texts.append([line.name for line in brief])
        widths = sum(max(map(len, column)) + 2 for column in texts)
        room = _SCREEN - widths - len("undecided ()")
        if self.reasons:
            brief = [with_reason(line, room) for line in brief]
        yield replace(self.table(brief, self.title), shown=BRIEF)
        yield replace(self.table(every, self.title), shown=FULL)
        commented = [line for line in every
                     if line.verdict != PASS or line.rehearsed or not line.counted]  # fmt: skip
        commented = merged(commented, _COMMENTED, self.noun)
        if self.reasons:
            commented = [with_reason(line, LONGEST) for line in commented]
        yield replace(self.table(commented), shown=COMMENT)

    def decided(self) -> dict[str, object]:
        """Entries of the signature; of suites the file says the rest."""
        if self.book is not None:
            book = self.book
            n = np.concatenate([trial.sides.counts.n for _, trial in self.read])
            return {
                "rules": book.name, "rules_sha256": book.digest,
                "suites": ",".join(part.name for part in self.parts), "tier": book.tier or None,
                "level": self.book.level, "verdicts": self.book.statements,
                "tasks": sum(len({*t.sides.counts.task_codes.tolist()}) for _, t in self.read),
                "n": span(int(n.min()), int(n.max())).replace("–", "-"),
            }  # fmt: skip
        ((part, trial),) = self.read
        study, label, rules = self.study, trial.sides.label, part.rules
        tests = any(rule.general for rule in rules)
        more = [line.fact.more for line in self.lines]
        adjustments = filter(None, (str(each.get("adjustment") or "") for each in more))
        draws = tests or "seed" in study.confidence.signature()
        compares = any(rule.compares for rule in rules)
        return {
            "differences": self.differences.method_name if compares else None,
            "test": tests_shown(str(each.get("test") or "") for each in more) or None,
            "resamples": study.confidence.resamples if draws else None,
            "seed": study.confidence.seed if draws else None,
            "adjust": next(adjustments, study.rules.adjust or HOLM) if tests else None,
            "baseline": label or None,
            "unpaired": trial.unpaired if label else None,
            "short_tasks": study.short_tasks if study.short_tasks != "empty" else None,
            "on_undecided": part.on_undecided,
            **{name: value for rule in rules for name, value in rule.signature.items()},
        }

    def changes(self) -> tuple[ChangedTasks, ...]:
        """The tasks that changed against the baseline, where outcomes are known; those of suites of
        one run once."""
        suites: dict[ChangedTasks, list[str]] = {}
        for part, trial in self.read:
            sides, pairs = trial.sides, []
            if sides.baseline is None or trial.study.bounded:
                continue
            for s, series in zip(sides.candidates, sides.series, strict=True):
                base = sides.base(series)
                if base is not None:
                    name = sides.label if sides.apart else base[0]
                    other = Side(sides.baseline, sides.baseline.series.index(base), name)
                    pairs.append((Side(sides.counts, s, SeriesName(series)), other))
            every = find_flips(pairs, trial.study.confidence.level)
            failed = any(line.failing for line in self.records)
            for changes in changes_of([flips for flips in every if flips.tasks], failed=failed):
                suites.setdefault(changes, []).append(part.name)
        return tuple(
            replace(changes, summary=": ".join(filter(None, (", ".join(names), changes.summary))))
            for changes, names in suites.items()
        )


def _omitted(trial: Trial) -> list[str]:
    """Tasks and attempts lacking or too many, with the series where it is not all of them.

    Of declared attempts without a baseline also at how many tasks: no rule asks for more.
    """
    every, said = trial.sides.series, list[tuple[str, str]]()
    declared = trial.made[0] if trial.attempts and trial.sides.baseline is None else {}
    for series in every:
        if series in declared and declared[series].whole:
            tasks = plural(len(declared[series].made), "task")
            words = f"{tasks} with {plural(trial.attempts or 0, 'attempt')} each"
            said.append((words, SeriesName(series)))
        said += [(words, SeriesName(series)) for words in trial.lesser(series)]
    said += [(f"same outcomes as {copy.other}", copy.name) for copy in trial.copies]
    return [
        words if len(names) == len(every) else f"{first_few(names)}: {words}"
        for words, names in gathered(said).items()
    ]


def _messages(part: GatePart, trial: Trial) -> Iterator[Said]:
    """Messages of reading, and of what the verdicts of one part leave out."""
    sides, baseline = trial.sides, trial.sides.baseline
    yield from trial.study.reading
    if trial.study.past is not None:
        past = trial.study.past
        known, role = past.fewest
        message = RUNS_POOLED if known > 1 else ONE_RUN_KNOWN
        yield message(runs=max(past.stretches[""].runs.values()))
        if 1 < known < _KNOWN:
            yield FEW_RUNS_KNOWN(runs=known, noun=AMOUNTS[role][1] if role else "")
    yield from reading_notes(trial.study.counts)
    pairs = [match(*pair) for pair in trial.pairs(trial.general[:1])]
    yield from disagreements(sides.counts, [pair for pair in pairs if not pair.reason])
    if sides.apart and baseline is not None and sides.label != ITSELF:
        for said in reading_notes(baseline):
            yield said.about(f"baseline {sides.label}")
        # Whether the new run loses attempts more, or less often than its baseline.
        both = sides.counts.facts, baseline.facts
        if any(facts.losses is not None for facts in both):
            losses = sides.counts.losses.beside(baseline.losses, "baseline")
            yield from uneven_notes(losses, both[0].missing_policy, "baseline ")
    yield from copied_runs(trial.copies)
    for old, new in sides.renamed:
        yield RENAMED_MODEL(old=old, new=new)
    if (names := sides.other_name) is not None:
        yield OTHER_NAME(old=names[0], new=names[1], baseline=sides.label)
    shut = {line.fact.series for _, line in part.lines
            if line.verdict == FAIL and line.words in ((EVERY,), (EVERY_ATTEMPT,))}  # fmt: skip
    if shut and not (sides.apart or part.name or any(map(trial.retried, shut & {*trial.made[0]}))):
        yield OTHER_ATTEMPTS(models=len({series[0] for series in shut}), baseline=sides.label)
    compares, dropped = any(rule.compares for rule in part.rules), trial.unpaired == "drop"
    own = {model for model, *_ in sides.series}
    gone = {s: coverage for s, coverage in sides.missing.items() if s[0] not in own}
    if gone and sides.apart:
        # A model that only the run has stays an error, whatever is dropped.
        asked = not (part.name or dropped) and own <= sides.base_models
        shared = sorted(own & sides.base_models)
        said = MODELS_NOT_RUN(
            lost=len({s[0] for s in gone}), models=len(sides.base_models),
            both=shared[0] if asked and len(shared) == 1 else "", drop="drop" if asked else "",
        )  # fmt: skip
        # A verdict that says it needs no warning beside it.
        yield said if dropped else replace(said, severity=NOTE)
    covered = {**trial.coverages, **sides.missing} if dropped else {}
    covered = {s: coverage for s, coverage in covered.items() if s not in gone}
    for series, coverage in covered.items():
        name = SeriesName(series)
        if coverage is not None and coverage.lost:
            yield TASKS_NOT_RUN(lost=coverage.lost, tasks=coverage.expected, model=name)
        elif coverage is None and compares and sides.partner(series[0]) is not None:
            yield NOT_COMPARED(model=name, reason=sides.lacking(series))
    if baseline is None:
        yield from _unequal(trial)
    if deciding := sum(line.shut for _, line in part.lines):
        yield MISSING_DECIDE(rules=deciding)


def _unequal(trial: Trial) -> Iterator[Said]:
    """Without a baseline, the tasks and groups that other candidates have."""
    every = trial.sides.tasks
    for series in every:
        rivals = trial.sides.coverage_of_rivals(series)
        if rivals.lost:
            name = SeriesName(series)
            yield FEWER_TASKS(model=name, lost=rivals.lost, tasks=rivals.expected)
    for group in dict.fromkeys(series[1:] for series in every):
        for model in dict.fromkeys(series[0] for series in every):
            if (model, *group) not in every:
                yield GROUP_NOT_RUN(model=model, group=SeriesName(group))


def _of_suite(part: GatePart) -> Iterator[Said]:
    """Messages of a suite about its quarantine, and the baseline that it lacks."""
    yield from _over(part.entry)
    if part.there:
        yield QUARANTINED(
            suite=part.name, tasks=len(part.there), names=[h.task for h in part.there],
            c=sum(h.c for h in part.there), n=sum(h.n for h in part.there),
        )  # fmt: skip
    if absent := [held.task for held in part.held if not held.n]:
        yield QUARANTINE_ABSENT(suite=part.name, names=absent)
    if part.waiting:
        yield NO_BASELINE_YET(suite=part.name, rules=len(part.waiting))


def _over(entry: SuiteEntry | None) -> Iterator[Said]:
    """Messages of the tasks whose quarantine has ended."""
    if entry is not None:
        for task in entry.suite.quarantine:
            if not task.active:
                yield QUARANTINE_OVER(suite=entry.suite.name, task=task.task,
                                      until=str(task.until), reason=task.reason)  # fmt: skip


_WOULD = ALARMS + "; this run would {would}"
REHEARSALS = (
    Answer("rehearsal-fails", lambda section: section.records[-1].verdict == FAIL,
           "FAIL: " + _WOULD),
    Answer("rehearsal-passes", lambda section: section.most is not None, "PASS: " + _WOULD),
    Answer("rehearsal", lambda _: True, "REHEARSAL: " + _WOULD),
)  # fmt: skip


@dataclass(frozen=True)
class Rehearsal(RuleTable):
    """Each rule where nothing changed, and the smallest drop that it detects; last the whole gate,
    with a verdict where the rehearsal is judged.

    stages : the drawn runs of each part.  most : the largest share of false alarms that is allowed,
    if any.
    """

    title = "Rehearsal"
    reasons = False
    columns: ClassVar[tuple[Column, ...]] = (
        _SUITE,
        _MODEL,
        _RULE,
        Column("verdict", meaning="The rule's verdict on this run; of the whole gate, on its false"
               " alarms.", cell=lambda line: line.verdict or "–"),
        *_FIELDS,
        data_field("false_alarm", "Share of rehearsals with nothing changed that fail.",
                   _of(lambda r: r.alarm.value)),
        data_field("false_alarm_low", "Its lower 95 % limit.", _of(lambda r: r.alarm.low)),
        data_field("false_alarm_high", "Its upper 95 % limit.", _of(lambda r: r.alarm.high)),
        Column("false alarms", "share", meaning="Share of rehearsals with nothing changed in which"
               " it fails, at the estimated success rates; 95 % limits hold the errors of the rates"
               " and of the simulation.", cell=_of(lambda r: r.alarm)),
        Column("predicted failures", "share", name="predicted_failure", shown=FULL,
               meaning="Share that fails where the success rates are drawn from their posterior, as"
               " uncertain as the data leave them.", cell=_of(lambda r: r.predicted.share)),
        Column("undecided", "share", name="undecided",
               meaning="Share of rehearsals with nothing changed in which it is undecided.",
               cell=_of(lambda r: r.odds.open if r.catch else None)),
        data_field("drop", "Smallest drop of the metric that fails with power 0.8.",
                   _of(lambda r: r.catch and r.catch.drop.value)),
        data_field("drop_se", "Its Monte-Carlo standard error.",
                   _of(lambda r: r.catch and r.catch.drop.se)),
        Column("drop detected", "share", meaning="Smallest drop that fails with power 0.8, every"
               " task losing the same share of its passes ± Monte-Carlo standard error.",
               cell=_of(lambda r: r.catch and r.catch.drop)),
        data_field("passes_lost", "The share of the passes that a drop of this size loses.",
                   _of(lambda r: r.catch and r.catch.lost)),
        data_field("power", "Share of the runs that fail at this drop.",
                   _of(lambda r: r.catch and r.catch.reached)),
        Column("if all pass", name="if_all_pass", shown=FULL, cell=_of(lambda r: r.best),
               meaning="The verdict if every attempt passes."),
        Column("if all fail", name="if_all_fail", shown=FULL, cell=_of(lambda r: r.worst),
               meaning="The verdict if every attempt fails."),
    )  # fmt: skip

    stages: Sequence[Stage] = ()
    most: float | None = None

    @property
    def lines(self) -> Sequence[Judgement]:
        return [line for line in self.records[:-1] if line.verdict != NOT_JUDGED]

    @property
    def checks(self) -> tuple[Check, ...]:
        """The rows for formats of pipelines; last what is asked of the rehearsal."""
        every = []
        for line in self.lines:
            reason = "it asks what was run, not how it went"
            reason = "it cannot be checked" if line.verdict == ERROR else reason
            words = line.rehearsed.words if line.rehearsed else f"not rehearsed: {reason}"
            every.append(replace(line.check, rehearsed=words))
        if self.most is not None:
            whole = self.records[-1]
            check = replace(whole, words=whole.words[1:]).check
            every.append(replace(check, of_rehearsal=True))
        return tuple(every)

    def changes(self) -> tuple[ChangedTasks, ...]:
        return ()

    def answer(self) -> Iterator[Stated]:
        yield with_notes(next(first_true(REHEARSALS, self)), self._omitted())

    @property
    def fields(self) -> Mapping[str, Any]:
        """The false alarms, and the verdict on this run."""
        would = "FAIL" if any(line.failing for line in self.lines) else "PASS"
        return {**self.records[-1].finding.fields, "would": would}  # type: ignore[attr-defined]

    def context(self) -> Iterator[str]:
        sides = [trial.sides for _, trial in self.read]
        alone = all(each.baseline is None or each.label == ITSELF for each in sides)
        whose = "this run's" if alone else "the baseline's"
        yield f"{self.stages[0].runs:,} rehearsals at {whose} rates"
        if effects := [100 * effect for own in self.stages for effect in own.effects]:
            ends = dict.fromkeys(f"{end:.1f}" for end in (min(effects), max(effects)))
            yield f"effect of a run: {'–'.join(ends)} points"
        yield f"drop detected: power {POWER:g}"

    def details(self) -> Iterator[str]:
        yield "both runs are drawn, with the same tasks and attempts"
        yield f"drops: {plural(self.stages[0].planted, 'rehearsal')} each"

    def messages(self) -> Iterator[Said]:
        yield from super().messages()
        for part, own in zip((part for part, _ in self.read), self.stages, strict=True):
            for said in _of_rehearsal(part, own):
                yield said.about(part.name) if part.name else said
        if self.stages[0].fewer:
            yield FEW_REHEARSALS(runs=self.stages[0].runs)

    def decided(self) -> dict[str, object]:
        entries, confidence = super().decided(), self.stages[0].trial.study.confidence
        if entries.get("resamples") is not None:
            entries["resamples"] = confidence.resamples
        if self.most is not None:
            entries["max_false_alarms"] = self.most
        return {**entries, "rehearsals": self.stages[0].runs, "seed": confidence.seed}


def _useless(part: GatePart, trial: Trial) -> Iterator[Said]:
    """Rules of a part that no run of so many tasks and attempts passes, or none fails."""
    shut = (FAIL, ERROR, UNDECIDED) if part.on_undecided == FAIL else (FAIL, ERROR)
    known = [(line.rule, line.rehearsed.best or "", line.rehearsed.worst or "")
             for _, line in part.lines if line.rehearsed]  # fmt: skip
    yield from _generous(part, trial)
    every = dict.fromkeys(known or extremes(part, trial))
    for (best, worst), rules in gathered((tuple(ends), rule) for rule, *ends in every).items():
        if best == worst:
            yield DECIDES_NOTHING(rule=rules, verdict=best)
        elif best != PASS:
            yield CANNOT_DECIDE(rule=rules, verb="pass", verdict=best, run="passes")
        elif worst not in shut:
            yield CANNOT_DECIDE(rule=rules, verb="fail", verdict=worst, run="fails")


def _generous(part: GatePart, trial: Trial) -> Iterator[Said]:
    """Rules by which a cost may rise to many times the baseline's."""
    for rule in part.rules:
        if not isinstance(rule, MaxIncrease):
            continue
        for rates, base in trial.pairs(rule.named):
            most, name = rule.given[rates.metric], rates.metric.name
            if isinstance(most, Relative) or base.values is None or not len(base.values):
                continue
            mean = float(np.nanmean(base.values))
            if mean + most > _TIMES * mean:
                yield CANNOT_FAIL(rule=text_of(rule.rule(rates.metric)[0]), metric=name,
                                  value=f"{mean:.3g}")  # fmt: skip


def _of_rehearsal(part: GatePart, own: Stage) -> Iterator[Said]:
    """Metrics that a rehearsal of a part left out, and assumptions that it rests on."""
    metrics = () if part.trial is None else part.trial.study.metrics
    if others := [metric.name for metric in metrics if not rehearsable(metric)]:
        yield NOT_REHEARSED(metrics=others)
    sides = own.trial.sides
    # The rates come from one attempt at each task.
    if (sides.baseline or sides.counts).n.max() == 1:
        failing = own.alike.judged[1]
        yield ONE_ATTEMPT(share=sum(failing) / len(failing))
    if len(sides.candidates) > 1:
        yield DROPS_TOGETHER()


def _part_of(entry: SuiteEntry, read: Read) -> GatePart:
    """A suite's run and baseline, without the tasks in quarantine."""
    runs, out, gate = list[Counts](), entry.suite.out, entry.gate

    def kept(request: Request, source: Any = None, /) -> Counts:
        counts = read(request, entry.options.source if source is None else source)
        runs.append(counts)
        try:
            return counts.without_tasks({each.task for each in out})
        except ValueError:
            raise DataError(
                entry.suite.name, "every task is in quarantine", "take some out of it",
                name="unusable-data",
            ) from None  # fmt: skip

    with entry.placed():
        trial = gate.trial(gate.study(entry.options, kept))
    held, losses = [], runs[0].losses
    tasks = [unit[0] for unit in losses.units]
    for each in out:
        made = [task == each.task for task in tasks]
        passed = [task == each.task for task in runs[0].tasks]
        n = int(losses.made[np.array(made)[losses.unit_codes]].sum())
        c = int(runs[0].c[np.array(passed)[runs[0].task_codes]].sum())
        held.append(each._replace(n=n, c=c))
    return GatePart(
        gate.chosen, gate.on_undecided, trial, entry, held=tuple(held), waiting=gate.waiting
    )  # fmt: skip


def _of_past(request: Request) -> Request:
    """The request to read the history that a new run is compared with."""
    return Request(
        by=request.by, cluster=request.cluster, attempts=request.attempts,
        missing_cost=request.missing_cost, alias=request.alias,
        exclude_tasks=request.exclude_tasks, only_tasks=request.only_tasks,
    )  # fmt: skip


def _with_errors(
    counts: Counts, request: Request, read: Read, files: Sequence[str] | None
) -> Counts:
    """The counts with the attempts that a column of errors says something of."""
    columns = {name for file in counts.facts.inputs for name in file.unused}
    erring = None
    for name in _ERRORS:
        if erring is None and name in columns:
            there = f"length(trim(CAST({column_sql(name)} AS VARCHAR))) > 0"
            where = f"({request.where}) AND {there}" if request.where else there
            try:
                erring = read(replace(request, where=where, attempts=()), files).losses
            except DataError:
                # No attempt has an error.
                return counts
    return replace(counts, facts=replace(counts.facts, erring=erring))


class SuiteList(Section[SuiteEntry]):
    """The suites of a file of rules, as they would be run."""

    view = "with --check"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("suite", meaning="The suite.", cell=lambda entry: entry.suite.name),
        Column("rules", meaning="Its rules, as options.", cell=lambda entry: _rules_of(entry)),
        Column("runs", meaning="The files of the new run.",
               cell=lambda entry: ", ".join(map(str, entry.options.files))),
        Column("baseline", meaning="What it is compared with.",
               cell=lambda entry: (
                   ", ".join(map(str, paths_of(entry.gate.baseline)))
                   or label_of(entry.gate.baseline)) if entry.gate.baseline else ""),
        Column("quarantine", meaning="Tasks in quarantine today.",
               cell=lambda entry: ", ".join(each.task for each in entry.suite.out)),
    )  # fmt: skip


def _rules_of(entry: SuiteEntry) -> str:
    rules = [rule for rule in entry.gate.chosen if not isinstance(rule, EveryTask)]
    entries = {name: value for rule in rules for name, value in rule.signature.items()}
    options = {f"--{name.replace('_', '-')}": value for name, value in entries.items()}
    if options.get("--min-by") == BY_INTERVAL:
        del options["--min-by"]
    words = (name if value == "yes" else f"{name} {value}" for name, value in options.items())
    return " ".join(words)


VALID = Answer(
    "valid-rules", lambda _: True,
    "{name} is valid: {suites:suite}{?others|; {others:suite} not in tier {tier}}. No data was"
    " read.",
    lambda book: {"name": book.name, "suites": len(book.entries), "others": len(book.others),
                  "tier": book.tier},
)  # fmt: skip


def checked_rules(book: Rulebook) -> Report:
    """The report of a file of rules that nothing is wrong with; no data is read."""
    (table,) = SuiteList(None, book.entries).tables()  # type: ignore[arg-type]
    over = [said for entry in book.entries for said in _over(entry)]
    fields = replace(table, columns=tuple(Column(column.header) for column in table.columns))
    return Report(
        (table,), lambda: fields, (VERSION,), messages=tuple(over), answer=(VALID.about(book),)
    )


class Gate(Question, GateOptions):
    """The question of `passk gate`."""

    sections = (RuleTable, Rehearsal, SuiteList)
    uncorrected = ""
    uncorrected_options: ClassVar[Mapping[str, str]] = {
        "--must-pass": "nothing is known of single tasks",
        "--min-each": "nothing is known of single tasks",
        "--rehearse": "a rehearsal would have to invent labels",
    }
    most_groups = MOST_GROUPS

    @classmethod
    def ask(
        cls, given: Mapping[str, Any], source: Any, *, needed: bool
    ) -> tuple[Self, SharedOptions]:
        """The question of a run, or of each suite of a file of rules.

        Errors: ParameterError where there are neither files nor rules, or both.
        """
        question, options = super().ask(given, source, needed=False)
        if source is not None:
            of_suites = {"--rules": question.rules, "--tier": question.tier,
                         "--check": question.check}  # fmt: skip
            refuse("contradicting-options", *(
                (there, Given(option),
                 "a file of rules names the files to judge; name none beside it",
                 (Settle({option: None}, "judges these"),) * question.ruled)
                for option, there in of_suites.items()
            ))  # fmt: skip
            question.require_rules()
            return question, options
        book = read_rulebook(question.rules, question.tier)
        if book is None:
            raise ParameterError(
                f"no files given, and no {FILE}; name files",
                name="no-files",
                settles=[Settle({"--rules": Blank("FILE")}, "names rules")],
            )
        over = {field: value for field, value in given.items() if is_given(value)}
        entries, wrong = list[SuiteEntry](), list[ParameterError]()
        flags = [each.option.name for each in COMMAND.options() if each.field in over]
        for entry in book.entries:
            try:
                with entry.placed(flags):
                    own = {**entry.given, **over, "rules": None, "tier": None, "check": None}
                    gate, shared = super().ask(own, entry.given["runs"], needed=True)
                    held = [t.task for t in entry.suite.out if t.task in gate.must_pass]
                    if held:
                        raise ParameterError(
                            Given("--must-pass", held[0]),
                            "this task is in quarantine; take it out of one", name="bad-rules",
                        )  # fmt: skip
                    if shared.rules.adjust in (BH, UNADJUSTED):
                        raise ParameterError(
                            Given("--adjust", shared.rules.adjust),
                            "suites are judged at one level together", name="invalid-method",
                            settles=[Settle({"--adjust": name}) for name in (MIN_P, HOLM)],
                        )  # fmt: skip
                    gate.require_rules()
                    entries.append(replace(entry, gate=gate, options=shared))
            except ParameterError as error:
                wrong.append(error)
        refuse_all(wrong)
        return replace(question, book=replace(book, entries=tuple(entries))), options

    @property
    def inputs(self) -> list[str]:
        """The files of the suites and their baselines, where they are there."""
        asked = self.book.entries if self.book else ()
        files = [f for each in asked for f in (*each.options.files, *paths_of(each.gate.baseline))]
        files += [self.book.trend["history"]] if self.book and self.book.trend else []
        return [file for file in files if is_file_argument(file)]

    def answered(self, options: SharedOptions, read: Read) -> Report:
        if self.book is None:
            gate = self.on_first_night(options, read) if self.first_run else self
            if gate is None:
                raise self._not_first()
            return super(Gate, gate).answered(options, read)
        book = self.book
        if self.check:
            return checked_rules(book)
        entries = book.entries
        if self.first_run:
            gates = [entry.gate.on_first_night(entry.options, read) for entry in entries]
            if not any(gates):
                raise self._not_first()
            entries = tuple(
                replace(entry, gate=gate or entry.gate)
                for entry, gate in zip(entries, gates, strict=True)
            )
        parts, errors = list[GatePart](), list[PasskError]()
        for entry in entries:
            try:
                parts.append(_part_of(entry, read))
            except DataError as error:
                if error.kind != "data":
                    raise
                errors.append(error)
                gate = entry.gate
                parts.append(
                    GatePart(gate.chosen, gate.on_undecided, None, entry, problem=str(error))
                )
        there = [(part, part.trial) for part in parts if part.trial is not None]
        of_trend = [] if book.trend is None else self._of_trend(book.trend, read)
        if not there and len(parts) == 1:
            raise errors[0]
        if not there:
            every = "; ".join(f"suite {part.name}: {part.problem}" for part in parts)
            raise DataError(book.name, f"no suite can be read: {every}", name=errors[0].name)
        statements = sum(rule.statements(trial) for part, trial in there for rule in part.rules)
        level = there[0][1].study.confidence.level
        book = replace(book, level=level, statements=statements)
        return self._reported([part.judged(book.each) for part in parts], book, of_trend)

    def _of_trend(self, given: Mapping[str, Any], read: Read) -> list[Judgement]:
        """The verdicts of `passk trend --fail` on the history that a file of rules names.

        On a first night, or if the history cannot be read, a line says so.
        """
        given = {"metrics": "pass@1", **given}
        history = [given.pop("history")]
        question, options = Trend.ask({**given, "fail": True}, history, needed=True)
        try:
            report = question.answered(
                options, lambda request, source=None, /: read(request, source or history)
            )
        except DataError as error:
            verdict = NOT_JUDGED if self.first_run else ERROR
            fact = Fact(("", "trend"), "", None, Estimate(None))
            line = Judgement((f"no change of {given['metrics']} for the worse",), fact)
            line = line.judged(verdict, (f"trend: {error}",), str(error)).counting(PASS)
            return [replace(line, name="trend")]
        lines = []
        for check in report.checks:
            name = "trend" if len(report.checks) == 1 else f"trend: {check.model}"
            fact = Fact((check.model, "trend"), "", None, Estimate(None))
            finding = ("trend: ", *check.finding)
            line = Judgement((check.rule,), fact).judged(check.verdict, finding)
            deed = ("became worse",)
            lines.append(replace(line.counting(PASS), name=name, deed=deed))
        return lines

    def _reported(
        self, parts: Sequence[GatePart], book: Rulebook | None = None,
        of_trend: Sequence[Judgement] = (),
    ) -> Report:  # fmt: skip
        """The report of parts that were judged; rehearsed if that was asked for."""
        studies = [part.trial.study for part in parts if part.trial is not None]
        study = studies[0]
        if book is not None:
            # Its rows are of suites; what was read is said of each.
            names = [(SeriesName(series), "") for series in study.counts.series]
            counts = replace(study.counts, facts=ReadFacts(), attempts={}, clusters=None)
            metrics = tuple(dict.fromkeys(m for each in studies for m in each.metrics))
            study = replace(study, counts=counts.regrouped(names, ("suite",)), metrics=metrics,
                            baseline=None, reading=())  # fmt: skip
        if self.rehearse:
            parts, whole, stages = rehearsed(parts, book, self.max_false_alarms)
        rows = [*(row for part in parts for row in part.rows), *of_trend]
        section = RuleTable(study, rows, parts, book)
        if self.rehearse:
            section = Rehearsal(study, [*rows, whole], parts, book, stages, self.max_false_alarms)
        report = view(replace(study, decided=section.decided()), [section])
        if book is not None:
            # Each suite is read by options of its own, which the file says.
            entries = {name: value for name, value in report.signature.items()
                       if name not in ("missing", "duplicates", "by")}  # fmt: skip
            report = replace(report, sign=lambda: entries)
        return replace(
            report, checks=section.checks, changes=section.changes, rehearsal=self.rehearse
        )

    @cached_property
    def chosen(self) -> list[GateRule]:
        """The rules that are asked for."""
        kinds = [kind for kind in GateOptions.__bases__ if issubclass(kind, GateRule)]
        every = [kind(**{f.name: getattr(self, f.name) for f in fields(kind)}) for kind in kinds]
        return [rule for rule in every if rule.wanted]

    @property
    def waiting(self) -> list[Sentence]:
        """The rules that wait for a first baseline, in words."""
        return [words for rule in self.later for words in rule.waiting]

    def on_first_night(self, options: SharedOptions, read: Read) -> Gate | None:
        """The gate without a baseline and the rules that need one; None if the baseline exists."""
        if last_runs(self.baseline):
            try:
                past_of(read, _of_past(self.request(options)), self.baseline, self.skip_run)
                return None
            except DataError as error:
                if error.name != "no-history-yet":
                    raise
        elif not self.baseline or all(map(is_file_argument, paths_of(self.baseline))):
            return None
        later = [rule for rule in self.chosen if isinstance(rule, DifferenceRule)]
        return replace(
            self, baseline=None, max_drop={}, max_increase={}, no_regression=False, later=later
        )

    def _not_first(self) -> ParameterError:
        if self.baseline is None and self.book is None:
            settle = Settle({"--baseline": Blank("FILE")}, "names the baseline of later nights")
            problem = "it is for a baseline that does not exist yet, and none is named"
        else:
            settle = Settle({"--first-run": None}, "compares with it")
            problem = "it is for a night without a baseline, and the baseline exists"
        return ParameterError(
            Given("--first-run"), problem, name="contradicting-options", settles=[settle]
        )

    def request(self, options: SharedOptions) -> Request:
        general = options.metrics.metrics
        metrics = self.needed(general)
        standard = any(rule.general for rule in self.chosen) and not general
        return replace(
            super().request(options),
            attempts=needs(metrics),
            scores_only=scores_only(metrics) and not standard,
            averages=not any(rule.named for rule in self.chosen),
        )

    def needed(self, general: Sequence[Metric]) -> tuple[Metric, ...]:
        """Every metric a rule needs.

        general : those that rules without metrics of their own are about.
        """
        # The metrics of rules about differences first.
        named = [metric for rule in reversed(self.chosen) for metric in rule.named]
        more = general if any(rule.general for rule in self.chosen) else ()
        return tuple(dict.fromkeys((*named, *more)))

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The new run, and the baseline where that is another file."""
        confidence = options.confidence.required()
        history = last_runs(self.baseline)
        runs = Runs.apart(options.files, None if history else self.baseline)
        request = self.request(options)
        baseline = past = None
        if history and (request.labelled or request.truth_from is not None):
            problem = "a history keeps verdicts, without labels"
            raise ParameterError(Given("--baseline"), problem, name="no-labels")
        if history:
            require_another(options.files, history[0])
            counts = read(request, runs.files)
            try:
                past = past_of(read, _of_past(request), self.baseline, self.skip_run)
            except PasskError as error:
                error.settles = runs.fitting(error.settles, read, request)
                raise
            baseline = past.counts
        elif runs.baseline is None:
            counts = read(request.keeping(self.baseline), runs.files)
        else:
            counts = read(request, runs.files)
            try:
                baseline = runs.read_baseline(read, request)
            except DataError as error:
                raise without_runs(read, runs.baseline) or error from None
        if self.max_errors is not None:
            counts = _with_errors(counts, request, read, runs.files)
        # The baseline says what has to be shown: a new run cut short must not ask for less.
        shown = baseline if past is None else past.latest
        metrics = options.metrics.of(counts if shown is None else shown)
        if baseline is not None:
            baseline = only_models(baseline, request)
        study = Study(
            counts, metrics, confidence, replace(options.rules, family=ALL),
            options.metrics.short_tasks, baseline=baseline, past=past,
            reading=runs.notes,
        )  # fmt: skip
        if options.once or not self._asks_for_order(study, request):
            return study
        lines = replace(request, attempts=("line",))
        ordered = read(lines.keeping(self.baseline) if baseline is None else lines, runs.files)
        return replace(
            study, counts=replace(counts, attempts={**counts.attempts, **ordered.attempts})
        )

    def _asks_for_order(self, study: Study, request: Request) -> bool:
        """Whether the order of attempts may tell why there are more of them than there should be.

        It needs one more reading, of rows that are attempts.
        """
        counts = study.counts
        rows = bool(counts.facts.inputs) and all("n" not in f.roles for f in counts.facts.inputs)
        known = "attempt" in counts.attempts or request.missing == BOUNDS
        if known or not rows or self.unpaired == "drop":
            return False
        every = Sides.of(study, self.baseline).made(self.attempts)
        return any(len(made.longer) and not made.design for made in every.values())

    def report(self, study: Study) -> Report:
        """Every rule for every candidate, in each group; rehearsed where that is asked for.

        A rule that cannot be checked is a row with the verdict "error", and shuts the gate.
        Errors: ParameterError when nothing can be judged.
        """
        trial = self.trial(study)
        part = GatePart(self.chosen, self.on_undecided, trial, waiting=self.waiting)
        part = part.judged(study.confidence.level)
        if not (part.lines or part.waiting):
            raise ParameterError(
                "no rule was checked: the new run and the baseline share no group",
                name="nothing-to-compare",
                settles=[Settle({"--by": None}, "compares them as a whole")],
            )
        return self._reported([part])

    def trial(self, study: Study) -> Trial:
        """The run beside its baseline, with every metric a rule needs."""
        metrics = self.needed(study.metrics)
        whole = replace(study, metrics=metrics, confidence=study.confidence.for_metrics(metrics))
        if is_corrected(study.counts):
            whole = replace(whole, confidence=whole.confidence.corrected())
        if whole.bounded:
            whole.confidence.required_steady()
            require_monotone(metrics)
        if self.rehearse and self.baseline is None and any(rule.compares for rule in self.chosen):
            sides = Sides.against(study.counts, study.counts, ITSELF)
        else:
            sides = Sides.of(study, self.baseline)
        return Trial(whole, sides, study.metrics, self.unpaired, self.attempts)

    @property
    def ruled(self) -> bool:
        """Whether its own options give a rule to check."""
        declared = self.attempts is not None and self.unpaired != "drop"
        automatic = EveryTask, EveryAttempt
        return declared or not all(isinstance(rule, automatic) for rule in self.chosen)

    def require_rules(self) -> None:
        """ParameterError for no rule, and for options that need another one."""
        another = {"--no-regression": True, "--baseline": Blank("FILE")}
        differs = Settle({"--no-regression": True}, "compares with the baseline")
        if self.baseline is None:
            differs = Settle(another, "compares with another run")
        refuse("no-rule", (
            not self.ruled, "", "no rule to check",
            (Settle({"--min": {"pass@1": 0.8}}, "asks for a pass rate"), differs),
        ))  # fmt: skip
        compares = any(rule.compares for rule in self.chosen)
        history = last_runs(self.baseline)
        drops = (("--max-drop", self.max_drop), ("--max-increase", self.max_increase))
        differing = next((option for option, given in drops if given), "--no-regression")
        refuse(
            "contradicting-options",
            (self.min_by != BY_INTERVAL and not self.minimum,
             Given("--min-by"), "no rule asks for a minimum", (Settle({"--min-by": None}),)),
            (self.max_false_alarms is not None and not self.rehearse,
             Given("--max-false-alarms"), "it is about a rehearsal",
             (Settle({"--rehearse": True}, "makes one"),)),
            (self.skip_run and not history, Given("--skip-run"),
             "it is for runs of a history, and the baseline is not one",
             (Settle({"--skip-run": None}),)),
            (self.must_pass_rate != 1.0 and not self.must_pass,
             Given("--must-pass-rate"), "no tasks have to pass",
             (Settle({"--must-pass": Blank("TASKS")}, "names them"),)),
            (compares and self.baseline is None and not self.rehearse,
             Given(differing), "it needs a baseline",
             (Settle({"--baseline": Blank("NAME")}, "names a file or a model"),)),
        )  # fmt: skip
