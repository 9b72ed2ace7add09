"""The verdict of a gate: the table of its rules, what a rehearsal shows of them, its messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from passk_cli.commands.gate import GateOptions
from passk_cli.commands.gate.judgement import Judgement, at_both_ends
from passk_cli.commands.gate.rehearsal import POWER, Catch, Stage, rehearsable, stage
from passk_cli.commands.gate.rules import (
    BY_INTERVAL,
    EveryAttempt,
    EveryTask,
    GateRule,
)
from passk_cli.commands.gate.trial import Trial
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.commands.tasks.flips import changes_listed
from passk_cli.errors import ParameterError
from passk_cli.files.request import BOUNDS, Request
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.metrics.registry import Metric, needs, scores_only
from passk_cli.report.model import (
    BRIEF,
    FULL,
    Check,
    Column,
    Estimate,
    Phrase,
    Report,
    Sentence,
    Table,
)
from passk_cli.report.words import first_few, plural, series_name
from passk_cli.study.adjustment import tests_shown
from passk_cli.study.alarms import Odds, false_alarm
from passk_cli.study.baseline import Runs, only_models
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact, Size
from passk_cli.study.flips import Side, find_flips
from passk_cli.study.losses import uneven_notes
from passk_cli.study.made_attempts import made_by
from passk_cli.study.notes import reading_notes
from passk_cli.study.rules import (
    ADJUSTED,
    ALL,
    BONFERRONI,
    ERROR,
    FAIL,
    HOLM,
    MAX_T,
    PASS,
    UNDECIDED,
)
from passk_cli.study.section import Section, data_field, view
from passk_cli.study.sides import against, coverage_of_rivals, sides_of
from passk_cli.study.study import Study
from passk_cli.study.values import require_monotone

# Rows of the table without --full, columns of a screen, and the characters of a verdict.
_ROWS, _SCREEN, _LONGEST = 14, 100, 200
# The characters that a number with its interval takes.
_NUMBER = 23
# The order of rows, and in which the verdict names what shuts the gate.
_ORDER = (FAIL, UNDECIDED, ERROR, PASS)
WHOLE = "the whole gate"
# The name of a baseline that is the run itself.
ITSELF = "itself"

TASKS_NOT_RUN = Message(
    "baseline-tasks-not-run", WARNING,
    "{lost} of {tasks:baseline task} {lost:has|have} no attempts in {model}", "",
    "With `--unpaired drop` a gate compares the tasks that the new run has. A task without any"
    " attempt often crashed, so that what remains looks better than it is.",
)  # fmt: skip
NOT_COMPARED = Message(
    "not-compared", WARNING, "{model} is not compared: {reason}", "",
    "A rule about differences needs the baseline's model and group of tasks. With `--unpaired drop`"
    " what has none is left out; without it the gate fails.",
)  # fmt: skip
FEWER_TASKS = Message(
    "fewer-tasks", WARNING, "{model} has no attempts at {lost} of {tasks:task} of the data", "",
    "Without a baseline a gate looks at what the models of the data have together. A model without"
    " attempts at some of these tasks is judged on the others.",
)  # fmt: skip
GROUP_NOT_RUN = Message(
    "group-not-run", WARNING, "{model} has no attempts in {group}", "",
    "The model has no attempts in this group of `--by`, while other models have.",
)  # fmt: skip
MISSING_DECIDE = Message(
    "missing-outcomes-decide", WARNING,
    "{rules:rule} would fail for some values of the missing outcomes, which fails the gate", "",
    "With `--missing bounds` each rule is judged twice: with the missing outcomes as bad for the"
    " new run as they can be, and as good. With a baseline the worst case is that those of the new"
    " run fail and those of the baseline pass. A rule that fails in either case fails the gate: it"
    " passes only what it would pass with any outcomes.",
)  # fmt: skip
DECIDES_NOTHING = Message(
    "rule-decides-nothing", WARNING,
    "{rule}: {verdict} if every attempt passes and if every attempt fails, so it decides nothing",
    "",
    "A rehearsal judges a run in which every attempt passes and one in which every attempt fails."
    " A rule that says the same of both cannot tell runs of this size apart; it needs more tasks,"
    " or another number.",
)  # fmt: skip
CANNOT_DECIDE = Message(
    "rule-cannot-decide", WARNING,
    "{rule} cannot {verb}: {verdict} even if every attempt {run}", "",
    "A rehearsal judges a run in which every attempt passes and one in which every attempt fails."
    " A rule that does not pass the first, or does not fail the second, never will with so many"
    " tasks and attempts.",
)  # fmt: skip
NOT_REHEARSED = Message(
    "not-rehearsed", WARNING, "{metrics} not rehearsed: passes and failures do not decide it", "",
    "A rehearsal draws runs as passes and failures. Metrics of scores, answers or solutions, and"
    " gain@k, are not decided by these.",
)  # fmt: skip
ONE_ATTEMPT = Message(
    "one-attempt-rehearsed", WARNING,
    "one attempt per task does not show its success rate: if all tasks had the same rate,"
    " {share} of rehearsals with nothing changed would fail", "",
    "With one attempt per task the data show the pass rate, and not how tasks differ. The rates of"
    " the rehearsal come from a prior with this pass rate; the message has the other extreme.",
)  # fmt: skip
DROPS_TOGETHER = Message(
    "drops-together", NOTE, "drops are made in all models at once", "",
    "To find the smallest drop that a rule detects, a rehearsal lowers the success rates of all"
    " models of the new run alike.",
)  # fmt: skip
FEW_REHEARSALS = Message(
    "few-rehearsals", NOTE, "only {runs:rehearsal}, since intervals of this method are slow", "",
    "Every rehearsal computes the intervals of all rules anew. For methods that take long there are"
    " a fifth as many rehearsals, and the limits of false alarms are wider.",
)  # fmt: skip


@dataclass(frozen=True)
class TableLine:
    """A rule about a candidate, and what its rehearsal showed; Nones where outcomes do not decide.

    odds : at the estimated rates.  predicted : at rates as uncertain as the data leave them.
    catch : the smallest drop that fails with power 0.8.
    best, worst : verdicts on a run that passes everything, and one that passes nothing.
    shown : the verdict as the table has it; "" for the verdict alone.
    """

    line: Judgement
    odds: Odds | None = None
    predicted: Odds | None = None
    catch: Catch | None = None
    best: str | None = None
    worst: str | None = None
    shown: str = ""

    @property
    def alarm(self) -> Estimate | None:
        """The share of false alarms; None where it was not rehearsed."""
        if self.odds is None or self.predicted is None:
            return None
        return false_alarm(self.odds, self.predicted)

    @property
    def words(self) -> str:
        """The rehearsal's results in words, for logs of pipelines."""
        if self.odds is None or self.predicted is None or self.catch is None:
            checked = self.line.verdict != ERROR
            reason = "it asks what was run, not how it went" if checked else "it cannot be checked"
            return f"not rehearsed: {reason}"
        words = [
            f"fails {_percent(self.odds.share)} of rehearsals with nothing changed",
            f"predicted failures {_percent(self.predicted.share)}",
        ]
        if self.odds.undecided:
            words.append(f"undecided in {_percent(self.odds.open)}")
        detected = f"smallest drop detected with power {POWER:g}: "
        if self.catch.lost == 0.0:
            words.append(f"{detected}any, it fails without one")
        else:
            drop = self.catch.drop.value
            words.append(f"{detected}{'none' if drop is None else f'{drop:.3f}'}")
        return "; ".join([*words, f"all pass: {self.best}", f"all fail: {self.worst}"])


def _with_reason(line: Judgement, room: int) -> str:
    """The verdict and its reason, as far as a screen has room for it."""
    reason, verdict = line.reason.removeprefix("cannot be checked: "), line.verdict
    if not reason or room <= 0:
        return verdict
    for short in (reason, reason.removesuffix(" would decide"), reason.partition(", no ")[0]):
        if len(short) <= room:
            return f"{verdict} ({short})"
    return f"{verdict} ({reason[: room - 1]}…)"


_MODEL = Column(
    "model", meaning="The model of the new run, with its groups.",
    cell=lambda entry: entry.line.name, where=lambda section: section.several,
)  # fmt: skip
_RULE = Column(
    "rule", meaning="The rule; `every baseline task` and `every baseline attempt` are added.",
    cell=lambda entry: Phrase(entry.line.words),
)  # fmt: skip
_FIELDS = (
    data_field("rule", "The rule, in words."),
    data_field("limit", "The number of the rule."),
    data_field("counted", "What was counted, where that is the evidence: \"24 of 60\"."),
    data_field("shared_tasks", "Tasks of the baseline that the new run has attempts at."),
    data_field("baseline_tasks", "Tasks of the baseline."),
    data_field("test", "The test behind p."),
    data_field("adjustment", "How p is adjusted for the number of tests."),
)  # fmt: skip

_REHEARSED = (
    data_field("false_alarm", "Share of rehearsals with nothing changed that fail.",
               lambda entry: entry.alarm and entry.alarm.value),
    data_field("false_alarm_low", "Its lower 95 % limit.",
               lambda entry: entry.alarm and entry.alarm.low),
    data_field("false_alarm_high", "Its upper 95 % limit.",
               lambda entry: entry.alarm and entry.alarm.high),
    data_field("predicted_failure", "Share that fails at rates drawn from their posterior.",
               lambda entry: entry.predicted and entry.predicted.share),
    data_field("undecided", "Share of rehearsals with nothing changed that are undecided.",
               lambda entry: entry.odds.open if entry.catch else None),
    data_field("drop", "Smallest drop of the metric that fails with power 0.8.",
               lambda entry: entry.catch and entry.catch.drop.value),
    data_field("drop_se", "Its Monte-Carlo standard error.",
               lambda entry: entry.catch and entry.catch.drop.se),
    data_field("passes_lost", "The share of the passes that a drop of this size loses.",
               lambda entry: entry.catch and entry.catch.lost),
    data_field("power", "Share of the runs that fail at this drop.",
               lambda entry: entry.catch and entry.catch.reached),
    data_field("if_all_pass", "The verdict if every attempt passes.", lambda entry: entry.best),
    data_field("if_all_fail", "The verdict if every attempt fails.", lambda entry: entry.worst),
)  # fmt: skip


@dataclass(frozen=True)
class RuleTable(Section[TableLine]):
    """Every rule for every candidate: its evidence and its verdict.

    trial : both sides.  rules : those asked for.  on_undecided : "pass" or "fail".
    """

    columns: ClassVar[tuple[Column, ...]] = (
        _MODEL,
        _RULE,
        Column(
            "evidence", "share", meaning="The number that decides, with its interval; a number with"
            " a sign is a difference, model minus baseline. Or what was counted.",
            cell=lambda entry: entry.line.evidence,
        ),
        Column(
            "verdict", meaning="pass, fail; undecided: the interval contains the limit; error: the"
            " rule cannot be checked, which fails the gate.",
            cell=lambda entry: entry.shown or entry.line.verdict,
        ),
        Column(
            "detail", meaning="What else the verdict rests on, and what it leaves out.", shown=FULL,
            cell=lambda entry: "; ".join(entry.line.notes),
        ),
        *_FIELDS,
        data_field("fails", "Whether the row fails the gate; undecided ones by --on-undecided."),
    )  # fmt: skip

    trial: Trial
    rules: Sequence[GateRule]
    on_undecided: str

    @property
    def lines(self) -> list[Judgement]:
        """The judgements."""
        return [entry.line for entry in self.records]

    @property
    def several(self) -> bool:
        """Whether there is more than one model."""
        return len({line.name for line in self.lines if line.name}) > 1

    def facts(self) -> Iterator[Fact]:
        """A tidy row per rule and candidate."""
        yield from (line.row for line in self.lines)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The rows for formats of pipelines."""
        return tuple(line.check() for line in self.lines)

    def answer(self) -> Iterator[Sentence]:
        """The verdict."""
        yield _verdict(self.lines, self._omitted())

    def _omitted(self) -> list[str]:
        """Tasks and attempts lacking or too many, with the series where it is not all of them.

        Of declared attempts without a baseline also at how many tasks: no rule asks for more.
        """
        trial, series_of = self.trial, dict[str, list[str]]()
        declared = trial.made[0] if trial.attempts and trial.sides.baseline is None else {}
        for series in trial.sides.series:
            words_of = trial.lesser(series)
            if series in declared and declared[series].whole:
                tasks = plural(len(declared[series].made), "task")
                words_of.insert(0, f"{tasks} with {plural(trial.attempts or 0, 'attempt')} each")
            for words in words_of:
                series_of.setdefault(words, []).append(series_name(series))
        every = len(trial.sides.series)
        return [
            words if len(names) == every else f"{first_few(names)}: {words}"
            for words, names in series_of.items()
        ]

    def context(self) -> Iterator[str]:
        """Tasks and attempts behind the numbers, and what undecided rules count as."""
        sized = [line.fact for line in self.lines if line.fact.size.n_min is not None]
        shared = bool(sized) and all(fact.against for fact in sized)
        if not sized:
            counts, sides = self.trial.sides.counts, self.trial.sides
            cells = [counts.n[counts.rows_of(s)] for s in sides.candidates]
            sized = [
                replace(self.trial.fact(series), size=Size(len(n), int(n.min()), int(n.max())))
                for series, n in zip(sides.series, cells, strict=True)
            ]
        yield self.study.sizes(sized).replace(" task", " shared task" if shared else " task", 1)
        if any(line.fact.estimate.low is not None for line in self.lines):
            yield f"{100 * self.study.confidence.level:g} %"
        tests = self._tests()
        if tests:
            yield tests
        if self.study.bounded:
            yield "missing outcomes tried as fail and as pass"
        shut = {line.shut for line in self.lines if line.verdict == UNDECIDED}
        if shut:
            counted = FAIL if shut == {True} else self.on_undecided
            hint = "" if tests or shut == {True} else " (--on-undecided)"
            yield f"undecided counts as {counted}{hint}"

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
        """The intervals, and whose are adjusted."""
        label = self.trial.sides.label
        shown = {
            bool(line.fact.against) for line in self.lines if line.fact.estimate.value is not None
        }
        if True in shown:
            yield f"differences: model − baseline ({label})"
        if shown == {True}:
            yield self.differences.words()
        elif shown:
            yield self.study.confidence.words(self.differences if True in shown else None)
        adjustments = {line.fact.more.get("adjustment") for line in self.lines}
        if self._tests() and adjustments & {MAX_T, BONFERRONI}:
            # Rules about one metric keep the interval of that metric alone.
            yield "several tests and their intervals are adjusted; those of other rules are not"

    @property
    def differences(self) -> Confidence:
        """The confidence of differences, with the methods that they got."""
        facts = [line.fact for line in self.lines if line.fact.against and line.fact.method]
        methods = [(fact.name, fact.method) for fact in facts if fact.estimate.low is not None]
        return self.study.confidence.for_differences().as_used(methods)

    def messages(self) -> Iterator[Said]:
        """Messages of reading, and of what the verdicts leave out."""
        yield from _of_reading(self.trial)
        yield from _of_tasks(self.trial, any(rule.compares for rule in self.rules))
        if shut := sum(line.shut for line in self.lines):
            yield MISSING_DECIDE(rules=shut)

    def tables(self) -> Iterator[Table]:
        """Failing rows first, then undecided ones; as many rows as a screen has, and with --full
        a row per rule and model."""
        groups = bool(self.study.counts.group_names)
        every = sorted(self.records, key=_rank)
        brief = _merged(every, _ROWS, "group" if groups else "model")
        names, rules, evidence = (
            max(map(len, texts)) + 2
            for texts in (
                [entry.line.name for entry in brief],
                [entry.line.rule for entry in brief],
                [entry.line.counted or " " * _NUMBER for entry in brief],
            )
        )
        room = _SCREEN - names * self.several - rules - evidence - len("undecided ()")
        brief = [replace(entry, shown=_with_reason(entry.line, room)) for entry in brief]
        yield replace(self.table(brief, self.title), shown=BRIEF)
        yield replace(self.table(every, self.title), shown=FULL)

    def decided(self) -> dict[str, object]:
        """Entries of the signature."""
        study, label = self.study, self.trial.sides.label
        tests = any(rule.general for rule in self.rules)
        more = [line.fact.more for line in self.lines]
        adjustments = filter(None, (str(each.get("adjustment") or "") for each in more))
        draws = tests or study.confidence.needs_draws
        compares = any(rule.compares for rule in self.rules)
        return {
            "differences": self.differences.method_name if compares else None,
            "test": tests_shown(str(each.get("test") or "") for each in more) or None,
            "resamples": study.confidence.resamples if draws else None,
            "seed": study.confidence.seed if draws else None,
            "adjust": next(adjustments, study.rules.adjust or HOLM) if tests else None,
            "baseline": label or None,
            "unpaired": self.trial.unpaired if label else None,
            "short_tasks": study.short_tasks if study.short_tasks != "empty" else None,
            "on_undecided": self.on_undecided,
            **{name: value for rule in self.rules for name, value in rule.signature.items()},
        }

    def flips(self) -> tuple[str, ...]:
        """The tasks that flipped against the baseline, where outcomes are known."""
        sides = self.trial.sides
        if sides.baseline is None or self.study.bounded:
            return ()
        bases = {sides.baseline.series[s]: s for s in sides.bases}
        pairs = []
        for s in sides.candidates:
            series = sides.counts.series[s]
            base = sides.base(series)
            if base is not None:
                name = sides.label if sides.apart else base[0]
                first = Side(sides.counts, s, series_name(series))
                pairs.append((first, Side(sides.baseline, bases[base], name)))
        every = find_flips(pairs, self.study.confidence.level)
        return changes_listed([flips for flips in every if flips.tasks])


@dataclass(frozen=True)
class Rehearsal(RuleTable):
    """Each rule where nothing changed, and the smallest drop that it detects.

    whole : the gate as a whole; of a rehearsal that is judged, with a verdict.
    setting : the drawn runs.  most : the largest share of false alarms that is allowed, if any.
    """

    title = "Rehearsal"
    columns: ClassVar[tuple[Column, ...]] = (
        _MODEL,
        _RULE,
        Column(
            "verdict", meaning="The rule's verdict on this run; of the whole gate, on its false"
            " alarms.", cell=lambda entry: entry.line.verdict or "–",
        ),
        Column(
            "false alarms", "share", meaning="Share of rehearsals with nothing changed in which it"
            " fails, at the estimated success rates; 95 % limits hold the errors of the rates and"
            " of the simulation.", cell=lambda entry: entry.alarm,
        ),
        Column(
            "predicted failures", "share", meaning="Share that fails where the success rates are"
            " drawn from their posterior, as uncertain as the data leave them.", shown=FULL,
            cell=lambda entry: entry.predicted.share if entry.predicted else None,
        ),
        Column(
            "undecided", "share", meaning="Share of rehearsals with nothing changed in which it is"
            " undecided.", cell=lambda entry: entry.odds.open if entry.catch else None,
        ),
        Column(
            "drop detected", "share", meaning="Smallest drop that fails with power 0.8, every task"
            " losing the same share of its passes ± Monte-Carlo standard error.",
            cell=lambda entry: entry.catch.drop if entry.catch else None,
        ),
        Column(
            "if all pass", meaning="The verdict if every attempt passes.", shown=FULL,
            cell=lambda entry: entry.best,
        ),
        Column(
            "if all fail", meaning="The verdict if every attempt fails.", shown=FULL,
            cell=lambda entry: entry.worst,
        ),
        *_FIELDS,
        *_REHEARSED,
    )  # fmt: skip

    whole: TableLine
    setting: Stage
    most: float | None = None

    @property
    def lines(self) -> list[Judgement]:
        """The judgements of the rules."""
        return [entry.line for entry in self.records if entry is not self.whole]

    def facts(self) -> Iterator[Fact]:
        """A tidy row per rule and candidate, and one of the whole gate."""
        for entry in self.records:
            row = entry.line.row
            more = {name: cell for name, cell in row.more.items() if name != "fails"}
            more |= {each.name: each.cell(entry) for each in _REHEARSED if each.cell}
            yield replace(row, more=more)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The rows for formats of pipelines; last what is asked of the rehearsal."""
        every = [entry.line.check(entry.words) for entry in self.records[:-1]]
        if self.most is not None:
            line = self.whole.line
            every.append(Check(
                "", line.rule.removeprefix(f"{WHOLE}: "), self.whole.alarm or "", line.verdict,
                failing=line.failing, finding=line.finding, of_rehearsal=True,
            ))  # fmt: skip
        return tuple(every)

    def answer(self) -> Iterator[Sentence]:
        """How often the gate fails by chance, and this run's verdict."""
        line = self.whole.line
        would = "FAIL" if any(each.failing for each in self.lines) else "PASS"
        head = f"{line.verdict.upper()}: " if self.most is not None else "REHEARSAL: "
        yield _within((head, *line.finding, f"; this run would {would}"), self._omitted())

    def context(self) -> Iterator[str]:
        """Whose rates the rehearsals are drawn from."""
        sides = self.trial.sides
        alone = sides.baseline is None or sides.label == ITSELF
        whose = "this run's" if alone else "the baseline's"
        yield f"{self.setting.runs:,} rehearsals at {whose} rates"
        yield f"drop detected: power {POWER:g}"

    def details(self) -> Iterator[str]:
        """The drops, and this run's verdict."""
        yield "both runs are drawn, with the same tasks and attempts"
        yield f"drops: {plural(self.setting.planted, 'rehearsal')} each"

    def messages(self) -> Iterator[Said]:
        """Those of the gate, and rules that a rehearsal shows to be useless."""
        yield from super().messages()
        for entry in self.records[:-1]:
            yield from _doubt(entry, self.on_undecided)
        others = [metric.name for metric in self.study.metrics if not rehearsable(metric)]
        if others:
            yield NOT_REHEARSED(metrics=others)
        sides = self.trial.sides
        # The rates come from one attempt at each task.
        if (sides.baseline or sides.counts).n.max() == 1:
            alike = stage(self.trial, self.rules, self.on_undecided, alike=True)
            yield ONE_ATTEMPT(share=alike.unchanged[1].share)
        if len(sides.candidates) > 1:
            yield DROPS_TOGETHER()
        if self.setting.fewer:
            yield FEW_REHEARSALS(runs=self.setting.runs)

    def decided(self) -> dict[str, object]:
        """Entries of the signature."""
        entries, confidence = super().decided(), self.setting.trial.study.confidence
        if entries["resamples"] is not None:
            entries["resamples"] = confidence.resamples
        if self.most is not None:
            entries["max_false_alarms"] = self.most
        return {**entries, "rehearsals": self.setting.runs, "seed": confidence.seed}


def rehearsed(
    trial: Trial,
    rules: Sequence[GateRule],
    lines: Sequence[tuple[int, Judgement]],
    on_undecided: str,
    most: float | None,
) -> tuple[list[TableLine], Stage]:
    """Every line with what its rehearsal showed, and last the gate as a whole.

    lines : with the place of their rule.  most : as in `Rehearsal`.
    """
    setting = stage(trial, rules, on_undecided)
    predictive = stage(trial, rules, on_undecided, predictive=True)
    odds, predicted = setting.unchanged[0], predictive.unchanged[0]
    lines_of = {(place, series, metric.name): (place, series, metric)
                for place, series, metric in odds}  # fmt: skip
    best, worst = setting.verdicts([setting.extreme(passing=passing) for passing in (True, False)])
    entries = []
    for place, judgement in lines:
        line = lines_of.get((place, judgement.fact.series, judgement.fact.name))
        rehearsal = () if line is None else (
            odds[line], predicted[line], setting.catch(line), best[line], worst[line]
        )  # fmt: skip
        entries.append(TableLine(judgement, *rehearsal))
    both = setting.unchanged[1], predictive.unchanged[1]
    if any(entry.line.failing and entry.odds is None for entry in entries):
        # Lines that rehearsals leave as they are keep the gate shut in every one of them.
        both = both[0].always, both[1].always
    words: Sentence = (WHOLE,)
    verdict = ""
    finding: Sentence = (
        f"with nothing changed, {WHOLE} fails in {both[0].failing:,} of {both[0].runs:,}"
        " rehearsals (", false_alarm(*both), ")",
    )  # fmt: skip
    if most is not None:
        given = (most, Column("", "given"))
        words = (f"{WHOLE}: false alarms ≤ ", given)
        verdict = FAIL if both[0].share > most + 1e-12 else PASS
        finding = (*finding, f", {'' if verdict == FAIL else 'not '}more than ", given)
    blank = Fact(("", *[""] * len(trial.study.counts.group_names)), "", None, Estimate(None))
    line_of_all = Judgement(words, blank, verdict, finding, limit=most, failing=verdict == FAIL)
    return [*entries, TableLine(line_of_all, *both)], setting


def _rank(entry: TableLine) -> tuple[bool, int, float]:
    """Rows that shut the gate first, then by the verdict; the whole gate last."""
    line = entry.line
    if line.verdict not in _ORDER or line.rule.startswith(WHOLE):
        return True, len(_ORDER), 0.0
    return not line.failing, _ORDER.index(line.verdict), 0.0


def _merged(entries: Sequence[TableLine], room: int, noun: str) -> list[TableLine]:
    """The rows of a screen: what passes for all models in one row, and the first of the others.

    noun : what a row is about, "model" or "group".
    """
    rows = list(entries)
    for counted in (True, False):
        for rule in dict.fromkeys(entry.line.rule for entry in entries):
            same = [e for e in rows if e.line.rule == rule and e.line.name]
            passing = [e for e in same if e.line.verdict == PASS and e.odds is None]
            fits = len(passing) == len(same) if counted else len(rows) > room
            if len(passing) > 1 and fits and bool(passing[0].line.counted) == counted:
                at = rows.index(passing[0])
                one = _one_row(passing, noun, whole=len(passing) == len(same))
                rows = [e for e in rows if e not in passing]
                rows.insert(min(at, len(rows)), one)
    if len(rows) <= room:
        return rows
    passes = [e for e in rows if not e.line.name or (e.line.verdict == PASS and e.odds is None)]
    others = [e for e in rows if e not in passes]
    kept = max(room - len(passes) - 1, 1)
    rest = others[kept:]
    if len(rest) < 2:
        return rows
    verdicts = [f"{sum(e.line.verdict == v for e in rest)} {v}" for v in _ORDER
                if any(e.line.verdict == v for e in rest)]  # fmt: skip
    last = replace(
        rest[0].line, name=f"{len(rest)} more rows", words=("--full",), reason="",
        verdict=", ".join(verdicts), counted=" ", details=(),
    )  # fmt: skip
    return [*others[:kept], TableLine(last), *passes]


def _one_row(passing: Sequence[TableLine], noun: str, *, whole: bool) -> TableLine:
    """One row of a rule that several models pass: their counts together, or the lowest number."""
    number = len(passing)
    name = f"{number} other {noun}s"
    if whole:
        name = "both" if number == 2 else f"all {number} {noun}s"
    lines = [entry.line for entry in passing]
    counted = list(dict.fromkeys(line.counted for line in lines))
    line = replace(lines[0], name=name, reason="", details=())
    if not lines[0].counted:
        lowest = min(lines, key=lambda line: line.fact.estimate.value or 0.0)
        return TableLine(
            replace(line, fact=lowest.fact, name=f"lowest of {name.removeprefix('all ')}")
        )
    if len(counted) == 1:
        return TableLine(replace(line, counted=f"{counted[0]} each"))
    pairs = [re.search(r"([\d,]+) of ([\d,]+)", line.counted) for line in lines]
    if any(pair is None for pair in pairs):
        return TableLine(replace(line, counted=f"from {counted[0]} to {counted[-1]}"))
    sums = (sum(int(pair[at].replace(",", "")) for pair in pairs if pair) for at in (1, 2))
    return TableLine(replace(line, counted=" of ".join(f"{each:,}" for each in sums)))


def _verdict(lines: Sequence[Judgement], omitted: Sequence[str]) -> Sentence:
    """The gate's verdict in one sentence: PASS and how many rules hold, or FAIL and the first
    reason."""
    total = len(lines)
    failing = sorted((line for line in lines if line.failing),
                     key=lambda line: _ORDER.index(line.verdict))  # fmt: skip
    undecided = [line for line in lines if line.verdict == UNDECIDED and not line.failing]
    counts = []
    if failing:
        first = failing[0]
        unchecked = sum(line.verdict == ERROR for line in failing)
        fails = len(failing) - unchecked
        if len(failing) > 1 and fails:
            counts.append(f"{fails} of {total} rules {'fails' if fails == 1 else 'fail'}")
        if len(failing) > 1 and unchecked:
            counts.append(f"{unchecked} of {total} cannot be checked")
        if undecided:
            counts.append(f"{len(undecided)} of {total} undecided, counted as pass")
        counted = "undecided, counted as fail: " if first.verdict == UNDECIDED else ""
        return _within(("FAIL: ", counted, *first.finding), first.details, first, counts)
    lost = [c for line in lines for c in [line.covered] if c is not None and c.lost]
    where = ""
    if lost:
        where = f" on {lost[0].shared:,} of {plural(lost[0].expected, 'baseline task')}"
    if undecided:
        first, left = undecided[0], len(undecided)
        holds = total - left
        start = f"no rule fails{where}"
        if holds:
            start = f"{holds} of {total} rules {'holds' if holds == 1 else 'hold'}{where}"
        head = (f"PASS: {start}; {left} undecided, counted as pass: ", *first.finding)
        return _within(head, (*omitted, *first.details), first)
    measured = [line for line in lines if isinstance(line.evidence, Estimate)]
    if len(measured) == 1 and not where:
        line = measured[0]
        return _within(("PASS: ", *line.finding), (*omitted, *line.details), line)
    every = {1: "the rule holds", 2: "both rules hold"}.get(total, f"all {total} rules hold")
    return _within((f"PASS: {every}{where}",), omitted)


def _within(
    head: Sentence, notes: Sequence[str], line: Judgement | None = None, counts: Sequence[str] = ()
) -> Sentence:
    """A sentence with as many notes as its length allows, and the number of the others; then
    counts.  A note that it says already is left out.

    line : its reason comes first where the rule fails; else last where there is room, for the table
    has it.
    """
    said = "".join(piece if isinstance(piece, str) else " " * _NUMBER for piece in head)
    end = "".join(f"; {count}" for count in counts)
    reason = line.reason if line else ""
    first = [reason] if line and line.verdict in (FAIL, ERROR) else []
    notes = [n for n in dict.fromkeys((*first, *notes)) if n and n not in said]
    room = _LONGEST - len(said) - len(end)
    parts: list[str] = []
    for at, note in enumerate(notes):
        rest = len(notes) - at - 1
        if len(note) + 2 > room - (len("; 9 more notes: --full") if rest else 0):
            parts.append(f"{plural(rest + 1, 'more note')}: --full")
            break
        room -= len(note) + 2
        parts.append(note)
    if reason and reason not in (*parts, *first) and reason not in said and len(reason) + 2 <= room:
        parts.append(reason)
    return (*head, "".join(f"; {part}" for part in parts), end)


def _of_reading(trial: Trial) -> Iterator[Said]:
    """Messages of reading the new run, and the baseline where that is another file."""
    yield from trial.study.reading
    yield from reading_notes(trial.study.counts)
    sides = trial.sides
    if not sides.apart or sides.baseline is None or sides.label == ITSELF:
        return
    for said in reading_notes(sides.baseline):
        yield said.about(f"baseline {sides.label}")
    # Whether the new run loses attempts more, or less often than its baseline.
    both = sides.counts.facts, sides.baseline.facts
    if any(facts.losses is not None for facts in both):
        losses = sides.counts.losses.beside(sides.baseline.losses, "baseline")
        yield from uneven_notes(losses, both[0].missing_policy, "baseline ")


def _of_tasks(trial: Trial, compares: bool) -> Iterator[Said]:
    """The tasks and groups that no rule is about: dropped ones, and without a baseline those that
    other candidates have."""
    sides = trial.sides
    covered = {**trial.coverages, **sides.missing} if trial.unpaired == "drop" else {}
    for series, coverage in covered.items():
        name = series_name(series)
        if coverage is not None and coverage.lost:
            yield TASKS_NOT_RUN(lost=coverage.lost, tasks=coverage.expected, model=name)
        elif coverage is None and compares and sides.partner(series[0]) is not None:
            yield NOT_COMPARED(model=name, reason=sides.lacking(series))
    if sides.baseline is not None:
        return
    for series in sides.series:
        rivals = coverage_of_rivals(sides, series)
        if rivals.lost:
            yield FEWER_TASKS(model=series_name(series), lost=rivals.lost, tasks=rivals.expected)
    for group in dict.fromkeys(series[1:] for series in sides.series):
        for model in dict.fromkeys(series[0] for series in sides.series):
            if (model, *group) not in sides.series:
                yield GROUP_NOT_RUN(model=model, group=series_name(group))


def _doubt(entry: TableLine, on_undecided: str) -> Iterator[Said]:
    """A rule that decides nothing: no run of this shape passes it, or none fails it."""
    shut = (FAIL, ERROR, UNDECIDED) if on_undecided == FAIL else (FAIL, ERROR)
    best, worst, rule = entry.best, entry.worst, entry.line.rule
    if best is None or worst is None or (best == PASS and worst in shut):
        return
    if best == worst:
        yield DECIDES_NOTHING(rule=rule, verdict=best)
    elif best != PASS:
        yield CANNOT_DECIDE(rule=rule, verb="pass", verdict=best, run="passes")
    else:
        yield CANNOT_DECIDE(rule=rule, verb="fail", verdict=worst, run="fails")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


class Gate(Question, GateOptions):
    """The question of `passk gate`."""

    sections = (RuleTable, Rehearsal)

    @property
    def rules(self) -> list[GateRule]:
        """The rules that are asked for."""
        kinds = [kind for kind in GateOptions.__bases__ if issubclass(kind, GateRule)]
        every = [kind(**{f.name: getattr(self, f.name) for f in fields(kind)}) for kind in kinds]
        return [rule for rule in every if rule.wanted]

    def request(self, options: SharedOptions) -> Request:
        """The columns to read of the new run, with what its metrics need of attempts."""
        general = options.metrics.metrics
        metrics = self.needed(general)
        standard = any(rule.general for rule in self.rules) and not general
        return replace(
            super().request(options),
            attempts=needs(metrics),
            scores_only=scores_only(metrics) and not standard,
        )

    def needed(self, general: Sequence[Metric]) -> tuple[Metric, ...]:
        """Every metric a rule needs.

        general : those that rules without metrics of their own are about.
        """
        # The metrics of rules about differences first.
        named = [metric for rule in reversed(self.rules) for metric in rule.named]
        more = general if any(rule.general for rule in self.rules) else ()
        return tuple(dict.fromkeys((*named, *more)))

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The new run, and the baseline where that is another file."""
        self._check()
        confidence = options.confidence.required()
        runs = Runs.apart(options.files, self.baseline)
        request = self.request(options)
        baseline = None
        if runs.baseline is None:
            counts = read(request.keeping(self.baseline), runs.files)
        else:
            counts = read(request, runs.files)
            baseline = read(request.of_all_models(), runs.baseline)
        # The baseline says what has to be shown: a new run cut short must not ask for less.
        metrics = options.metrics.of(counts if baseline is None else baseline)
        if baseline is not None:
            baseline = only_models(baseline, request)
        study = Study(
            counts, metrics, confidence, replace(options.rules, family=ALL),
            options.metrics.short_tasks, baseline=baseline, reading=runs.notes,
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
        if known or not rows or self.unpaired == "drop" or request.engine != "duckdb":
            return False
        every = made_by(sides_of(study, self.baseline), self.attempts)
        return any(len(made.longer) and not made.design for made in every.values())

    def report(self, study: Study) -> Report:
        """Every rule for every candidate, in each group; rehearsed where that is asked for.

        A rule that cannot be checked is a row with the verdict "error", and shuts the gate.
        Errors: ParameterError when nothing can be judged.
        """
        metrics, rules = self.needed(study.metrics), self.rules
        whole = replace(study, metrics=metrics, confidence=study.confidence.for_metrics(metrics))
        if whole.bounded:
            whole.confidence.required_steady()
            require_monotone(metrics)
        if self.rehearse and self.baseline is None and any(rule.compares for rule in rules):
            sides = against(study.counts, study.counts, ITSELF)
        else:
            sides = sides_of(study, self.baseline)
        trial = Trial(whole, sides, study.metrics, self.unpaired, self.attempts)
        lines = []
        for place, rule in enumerate(rules):
            for first, *others in zip(*(rule.judge(case) for case in trial.cases), strict=True):
                line = at_both_ends(first, *others) if others else first
                lines.append((place, line.counting(self.on_undecided)))
        if not lines:
            raise ParameterError(
                "no rule was checked: the new run and the baseline share no group; see --by",
                name="nothing-to-compare",
            )
        entries = [TableLine(line) for _, line in lines]
        section = RuleTable(whole, entries, trial, rules, self.on_undecided)
        if self.rehearse:
            most = self.max_false_alarms
            entries, setting = rehearsed(trial, rules, lines, self.on_undecided, most)
            section = Rehearsal(
                whole, entries, trial, rules, self.on_undecided, entries[-1], setting, most
            )
        report = view(replace(whole, decided=section.decided()), [section])
        listed = () if self.rehearse else section.flips()
        return replace(report, checks=section.checks, listed=listed, rehearsal=self.rehearse)

    def _check(self) -> None:
        declared = self.attempts is not None and self.unpaired != "drop"
        automatic = EveryTask, EveryAttempt
        if not declared and all(isinstance(rule, automatic) for rule in self.rules):
            raise ParameterError(
                "no rule to check; give --max-drop pass@1=0.02, --min pass@10=0.80"
                " or --no-regression",
                name="no-rule",
            )
        compares = any(rule.compares for rule in self.rules)
        contradictions = {
            "--min-by says how --min is judged; there is no --min": self.min_by != BY_INTERVAL
            and not self.minimum,
            "--max-false-alarms is about a rehearsal; add --rehearse": self.max_false_alarms
            is not None and not self.rehearse,
            "--must-pass-rate is about --must-pass; name its tasks": self.must_pass_rate != 1.0
            and not self.must_pass,
            "--max-drop and --no-regression need a --baseline FILE or NAME": compares
            and self.baseline is None and not self.rehearse,
        }  # fmt: skip
        for words, there in contradictions.items():
            if there:
                raise ParameterError(words, name="contradicting-options")
