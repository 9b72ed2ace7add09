"""The report of a gate: the sentence with the verdict, the table of rules, and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from passk_cli.arrays import group_by, group_pairs
from passk_cli.commands.gate.baseline_match import ITSELF
from passk_cli.commands.gate.context import GateContext, JudgedRun
from passk_cli.commands.gate.evidence import CountEvidence
from passk_cli.commands.gate.judgement import UNCHECKED, Judgement, flatten_phrases, sentence_text
from passk_cli.commands.gate.rulebook import Rulebook, with_file_keys
from passk_cli.commands.gate.rules import (
    EVERY,
    EVERY_ATTEMPT,
    MaxIncrease,
    RelativeLimit,
    all_pass_and_all_fail_verdicts,
)
from passk_cli.commands.tasks.flips import changed_tasks_by_pair
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.metrics.registry import AMOUNTS
from passk_cli.report.data_types import (
    BRIEF,
    COMMENT,
    FULL,
    AnswerSentence,
    ChangedTasks,
    Column,
    Estimate,
    GateCheck,
    OptionHint,
    Phrase,
    Table,
)
from passk_cli.report.phrases import (
    SeriesName,
    all_in_words,
    first_few,
    number_range,
    plural,
    tasks_and_attempts,
)
from passk_cli.study.adjustment import names_of_tests
from passk_cli.study.answer import Answer, first_true
from passk_cli.study.benchmarks import benchmark_disagreement_warning
from passk_cli.study.comparison import match_tasks
from passk_cli.study.confidence import Confidence
from passk_cli.study.data_notes import reading_notes
from passk_cli.study.duplicate_runs import copied_runs_warning
from passk_cli.study.flips import NamedSeries, find_flips
from passk_cli.study.missing_outcomes import uneven_missing_notes
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import Section, data_field
from passk_cli.study.significance_options import (
    ADJUSTMENT_NAMES,
    BONFERRONI,
    ERROR,
    FAIL,
    HOLM,
    MIN_P,
    NOT_JUDGED,
    PASS,
    UNDECIDED,
)
from passk_cli.suggested_fix import OptionValue, SuggestedFix

_ROWS, _COMMENTED, _SCREEN = 14, 20, 100
_LONGEST, _NUMBER = 212, 23
_ORDER = (FAIL, UNDECIDED, ERROR, PASS, NOT_JUDGED)
# A rule that allows ten times the cost of the baseline can hardly fail.
_TIMES = 10.0
# A good estimate of the variation between runs needs at least _KNOWN runs.
_KNOWN = 5

RUNS_POOLED = DiagnosticType(
    "runs-pooled", NOTE,
    "the baseline pools the last {runs:run} of its history, and intervals include the variation"
    " between runs",
    meaning="The baseline pools several runs of a history. For R runs, the variance of each"
    " difference includes σ² (1 + 1/R), the variation between runs. passk estimates σ² from all"
    " runs of the history.",
    why="Without the variance between runs, intervals would be too narrow if runs differ by more"
    " than chance within tasks explains.",
    example="note[runs-pooled]: the baseline pools the last 5 runs of its history, and intervals"
    " include the variation between runs",
)  # fmt: skip
FEW_RUNS_KNOWN = DiagnosticType(
    "few-runs-known", WARNING,
    "the history has only {runs:run}{?noun| with {noun}}, so intervals may be too narrow",
    "record further runs",
    meaning="passk estimates the variation between runs from fewer than five runs.",
    why="An estimate from fewer than five runs is rough. If runs vary at least as much as chance"
    " within tasks, 95 % intervals contained the truth in 91 to 96 % of simulated gates with two or"
    " three runs, and in 95 to 97 % with twenty runs (benchmarks/trend.md).",
    advice="Record further runs with `passk record`.",
    example="warning[few-runs-known]: the history has only 3 runs, so intervals may be too narrow;"
    " record further runs",
)  # fmt: skip
ONE_RUN_KNOWN = DiagnosticType(
    "one-run-known", WARNING,
    "the history has one run of a model, so intervals ignore the variation between runs",
    "record further runs",
    meaning="passk needs at least two runs of a model to estimate the variation between runs.",
    why="If runs differ by more than chance within tasks, the intervals are too narrow.",
    advice="Record further runs with `passk record`.",
    example="warning[one-run-known]: the history has one run of a model, so intervals ignore the"
    " variation between runs; record further runs",
)  # fmt: skip
TASKS_NOT_RUN = DiagnosticType(
    "baseline-tasks-not-run", WARNING,
    "{model} has no attempts at {lost} of the {tasks:baseline task}",
    meaning="With `--unpaired drop`, a gate compares only the tasks that both runs have, and the"
    " new run lacks some tasks of the baseline.",
    why="Tasks without attempts have often crashed. If crashed tasks are left out, the new run"
    " looks better than it is.",
    advice="Run the missing tasks. Without `--unpaired drop`, the gate fails if tasks are missing.",
    example="warning[baseline-tasks-not-run]: gpt-4o has no attempts at 3 of the 50 baseline"
    " tasks",
)  # fmt: skip
MODELS_NOT_RUN = DiagnosticType(
    "baseline-models-not-run", WARNING,
    "{lost} of {models:model} of the baseline {lost:has|have} no attempts in the new run",
    (SuggestedFix({"--model": "{both}"}, "judges the model that both runs have"),
     SuggestedFix({"--unpaired": "{drop}"}, "compares the models that both runs have")),
    meaning="The baseline has models that the new run does not have.",
    why="A gate fails if models of the baseline are missing, because they may have crashed.",
    advice="If the new run has only some models on purpose, select them with `--model NAME`, or"
    " allow missing models with `--unpaired drop`.",
    example="warning[baseline-models-not-run]: 1 of 2 models of the baseline has no attempts in the"
    " new run; --model m1 judges the model that both runs have; --unpaired drop compares the models"
    " that both runs have",
)  # fmt: skip
OTHER_ATTEMPTS = DiagnosticType(
    "other-attempts-than-baseline", NOTE,
    "{models:model} {models:differs|differ} from {baseline} in tasks or numbers of attempts",
    SuggestedFix({"--unpaired": "drop"}, "compares the tasks that both models have"),
    meaning="All models are in one file, and some models have other tasks or numbers of attempts"
    " than the baseline.",
    why="The gate fails if tasks or attempts differ, because lost attempts are often failed"
        " attempts.",
    advice="If the models have different tasks or numbers of attempts on purpose, use `--unpaired"
    " drop`. With `--unpaired drop`, the verdict reports the missing tasks and attempts.",
    example="note[other-attempts-than-baseline]: 1 model differs from m1 in tasks or numbers of"
    " attempts; --unpaired drop compares the tasks that both models have",
)  # fmt: skip
RENAMED_MODEL = DiagnosticType(
    "renamed-model", WARNING,
    "{old} has no attempts, but {new} has the same tasks and similar pass rates",
    SuggestedFix({"--alias": {"{old}": "{new}"}}, "counts both as one model, if it was renamed"),
    meaning="A model of the baseline is not in the new run. A model of the new run has at least"
    " nine tenths of the tasks of the missing model, and passes these tasks equally often, apart"
    " from chance within tasks.",
    why="If the model was renamed, the gate does not compare it with its baseline.",
    advice="If the model was renamed, use `--alias OLD=NEW`, or the key aliases in a rules file."
    " The alias also applies to baselines and histories.",
    example="warning[renamed-model]: agent-v1 has no attempts, but agent-v2 has the same tasks and"
    " similar pass rates; --alias agent-v1=agent-v2 counts both as one model, if it was renamed",
)  # fmt: skip
OTHER_NAME = DiagnosticType(
    "other-model-name", WARNING, "{new} is compared with {old}, the only model of {baseline}",
    SuggestedFix({"--alias": {"{old}": "{new}"}}, "counts both as one model, if it was renamed"),
    meaning="The new run and the baseline have one model each, with different names. The gate"
    " compares the two models with each other, although their names differ.",
    why="A history separates models by name. If you record a renamed model, it has no earlier runs"
    " in the history.",
    advice="If the model was renamed, use `--alias OLD=NEW`, or the key aliases in a rules file.",
    example="warning[other-model-name]: agent-v2 is compared with agent-v1, the only model of"
    " old.jsonl; --alias agent-v1=agent-v2 counts both as one model, if it was renamed",
)  # fmt: skip
NOT_COMPARED = DiagnosticType(
    "not-compared", WARNING, "{model} is not compared: {reason}",
    meaning="A rule about changes needs the same model and group in the run and in the baseline."
    " With `--unpaired drop`, models and groups without a baseline are left out.",
    why="No rule compares the model with a baseline in the group that the message names.",
    advice="Add the model or group to the baseline. Without `--unpaired drop`, the gate fails if a"
    " model or group has no baseline.",
    example="warning[not-compared]: m2 · hard is not compared: old.jsonl has no attempts in this"
    " group",
)  # fmt: skip
GROUP_NOT_RUN = DiagnosticType(
    "group-not-run", WARNING, "{model} has no attempts in the group {group}",
    meaning="The model has no attempts in this group of `--by`, but other models have attempts.",
    why="No rule judges the model in a group without attempts.",
    advice="Check whether the model was run in this group, and whether passk read all files.",
    example="warning[group-not-run]: m2 has no attempts in the group hard",
)  # fmt: skip
MISSING_DECIDE = DiagnosticType(
    "missing-outcomes-decide", WARNING,
    "{rules:rule} would fail for some values of the missing outcomes, so the gate fails",
    meaning="With `--missing bounds`, each rule is judged in the worst and the best case. In the"
    " worst case, missing outcomes are failures in the new run and passes in the baseline.",
    why="With `--missing bounds`, a gate passes only if it would pass for all values of the missing"
    " outcomes.",
    advice="Find the missing outcomes, or choose how to count them with `--missing fail` or"
    " `--missing drop`.",
    example="warning[missing-outcomes-decide]: 1 rule would fail for some values of the missing"
    " outcomes, so the gate fails",
)  # fmt: skip
DECIDES_NOTHING = DiagnosticType(
    "rule-decides-nothing", WARNING,
    "{rule} decides nothing: the verdict is {verdict} whether every attempt passes or every attempt"
    " fails",
    meaning="passk also judges the rule on a run in which every attempt passes, and on a run in"
    " which every attempt fails. If both verdicts are equal, the rule decides nothing.",
    why="A rule that decides nothing has the same verdict for all runs of the same size.",
    advice="Use more tasks or attempts, or another limit.",
    example="warning[rule-decides-nothing]: pass@1 ≥ 0.99 decides nothing: the verdict is undecided"
    " whether every attempt passes or every attempt fails",
)  # fmt: skip
CANNOT_DECIDE = DiagnosticType(
    "rule-cannot-decide", WARNING,
    "{rule} cannot {verb}: the verdict is {verdict} even if every attempt {run}",
    meaning="passk also judges the rule on a run in which every attempt passes, and on a run in"
    " which every attempt fails. With this number of tasks and attempts, the rule can never pass,"
    " or it can never fail.",
    why="A rule that cannot fail does not protect you. A rule that cannot pass never reports"
    " success.",
    advice="Use more tasks or attempts, or another limit. `--rehearse` shows what each rule"
    " detects.",
    example="warning[rule-cannot-decide]: pass@1 ≥ 0.9 cannot pass: the verdict is undecided even"
    " if every attempt passes",
)  # fmt: skip
CANNOT_FAIL = DiagnosticType(
    "rule-cannot-fail", WARNING,
    "{rule} can hardly fail, because the baseline has a mean of {value} per attempt",
    SuggestedFix({"--max-increase": {"{metric}": "10%"}}, "limits the relative increase"),
    meaning="A limit without % is an amount per attempt, in the unit of the metric. For example,"
    " cost=20 means $20 and not 20 %.",
    why="The rule fails only if the new run needs more than ten times the amount of the baseline.",
    advice="Write the limit as a percentage of the baseline, such as `--max-increase cost=10%`.",
    example="warning[rule-cannot-fail]: cost increase ≤ $20 can hardly fail, because the baseline"
    " has a mean of 0.31 per attempt; --max-increase cost=10% limits the relative increase",
)  # fmt: skip
NO_BASELINE_YET = DiagnosticType(
    "no-baseline-yet", NOTE,
    "{rules:rule} about changes {rules:is|are} not judged, because there is no"
    " baseline yet", "record this run, so that the next run has a baseline",
    meaning="With `--first-run`, rules that compare the run with a baseline are not judged, and do"
    " not fail. passk judges all other rules.",
    why="The gate does not detect regressions until there is a baseline.",
    advice="Record the run with `passk record`, and leave out `--first-run` for all later runs.",
    example="note[no-baseline-yet]: 1 rule about changes is not judged, because there is no"
    " baseline yet; record this run, so that the next run has a baseline",
)  # fmt: skip


LEADING = (
    Column("suite", meaning="Name of the suite, with the model if the suite has several models.",
           cell=lambda line: line.name, where=lambda section: section.book),
    Column("model", meaning="Name of the model in the new run, with its groups.",
           cell=lambda line: line.name,
           where=lambda section: section.names_subject and not section.book),
    Column("rule", meaning="The rule. passk adds `every baseline task` and `every baseline"
           " attempt`.", cell=lambda line: Phrase(line.words)),
)  # fmt: skip
FIELDS = (
    data_field("rule", "The rule, in words.", lambda line: line.rule),
    data_field("limit", "The limit of the rule.", lambda line: line.limit),
    data_field("counted", 'The count that decides the rule, for example "24 of 60".',
               lambda line: str(line.count) if line.count else None),
    data_field("shared_tasks", "Number of baseline tasks at which the new run has attempts.",
               lambda line: line.covered and line.covered.shared),
    data_field("baseline_tasks", "Number of tasks in the baseline.",
               lambda line: line.covered and line.covered.expected),
    data_field("test", "The test that calculates p."),
    data_field("adjustment", "How passk adjusts p for the number of tests."),
)  # fmt: skip


@dataclass(frozen=True)
class FailingRules:
    """The judgements of one rule that fail the gate with the same verdict.

    who : the models in a few words, for example "12 of 24 models".
    """

    lines: Sequence[Judgement]
    who: str

    @classmethod
    def groups(cls, lines: Sequence[Judgement], noun: str) -> list[FailingRules]:
        """Group the failing judgements by rule: first failures, then undecided rules, then errors.

        Among rules with the same verdict, rules about changes come first.
        """

        def merit(line: Judgement) -> float:
            value = line.fact.estimate.value or 0.0
            return -abs(value) if line.fact.against else value

        order = sorted((line for line in lines if line.failing), key=lambda line: (
            _ORDER.index(line.verdict), not line.fact.against,
        ))  # fmt: skip
        groups = []
        lines_by_rule = group_by(order, lambda line: (line.rule, line.verdict))
        for (rule, _), rule_lines in lines_by_rule.items():
            judged, number = sum(line.rule == rule for line in lines), len(rule_lines)
            thing = rule_lines[0].noun or noun
            who = rule_lines[0].name if number == 1 else f"{number} of {judged} {thing}s"
            who = all_in_words(plural(number, thing)) if 1 < number == judged else who
            groups.append(cls(sorted(rule_lines, key=merit), who))
        return groups

    @property
    def note(self) -> str:
        """A clause such as "pass@1 ≥ 0.5 fails for 12 of 24 models"."""
        first, single = self.lines[0], len(self.lines) == 1
        if single and first.count is not None:
            return f"{first.name}: {first.reason}" if first.reason else first.clause
        if single and first.verdict == ERROR:
            return first.clause
        verbs = {ERROR: "cannot be checked", UNDECIDED: "is undecided"}
        return f"{first.rule} {verbs.get(first.verdict, 'fails')} for {self.who}"


class GateVerdict:
    """The verdict of a gate, which the first sentence of the report states."""

    def __init__(self, lines: Sequence[Judgement], noun: str) -> None:
        self.lines = lines
        self.groups = FailingRules.groups(lines, noun)
        self.undecided = [x for x in lines if x.verdict == UNDECIDED and not x.failing]
        self.covered = next((c for x in lines if (c := x.covered) is not None and c.lost), None)
        measured = [line for line in lines if isinstance(line.evidence, Estimate)]
        single = len(measured) == 1 and self.covered is None
        # The first sentence of the report is about the worst result, the first undecided result,
        # or the only result with an estimate.
        self.line = self.undecided[0] if self.undecided else measured[0] if single else None
        if self.groups:
            worst = self.groups[0].lines
            self.line = worst[0] if len(worst) == 1 else None

    @property
    def worst_verdict(self) -> str:
        return self.groups[0].lines[0].verdict if self.groups else ""

    @property
    def fields(self) -> dict[str, Any]:
        lines, covered, line = self.lines, self.covered, self.line
        counts = [x.count for x in lines if x.rule == EVERY_ATTEMPT and x.count]
        attempts = counts[0] if counts else None
        # If a rule passes with fewer attempts than the baseline has, the evidence is weaker, so
        # the report adds a note.
        fewer = attempts is not None and attempts.part < attempts.total
        fields: dict[str, Any] = {
            "total": len(lines), "holds": sum(line.verdict == PASS for line in lines),
            "undecided": len(self.undecided), "made": str(attempts) if fewer else "",
            "all": all_in_words(plural(len(lines), "rule")) if len(lines) > 1 else "",
            "one": len(lines) == 1, "shared": covered.shared if covered else None,
            "expected": covered.expected if covered else None,
        }  # fmt: skip
        if self.groups:
            group = self.groups[0]
            fields |= {
                "failing": sum(len(group.lines) for group in self.groups), "who": group.who,
                "rule": Phrase(group.lines[0].words), "models": [x.name for x in group.lines],
                "why": group.lines[0].reason.removeprefix(UNCHECKED),
            }  # fmt: skip
        if line is not None:
            fields |= {"finding": Phrase(line.finding), "rule": line.rule, "model": line.name,
                       "estimate": line.fact.estimate}  # fmt: skip
        return fields

    def notes(self, omitted: Sequence[str]) -> tuple[list[str], list[str]]:
        """Clauses after the first sentence: if there is room, and always."""
        line_notes = [] if self.line is None else list(self.line.details)
        if not self.groups:
            return [*omitted, *line_notes], []
        other_groups = sorted(self.groups[1:], key=lambda group: group.lines[0].count is None)
        total, failing = len(self.lines), sum(len(group.lines) for group in self.groups)
        counts = [f"{failing} of {total} rules fail"] if len(self.groups) > 2 else []
        if undecided := len(self.undecided):
            counts.append(f"{undecided} of {total} undecided, counted as pass")
        group_notes = [group.note for group in other_groups]
        return [*group_notes, *(omitted if self.line is None else line_notes)], counts


_PASS = "PASS{?made|, with {made} baseline attempts}: "
_SHARED = "{?shared| on {shared} of {expected:baseline task}}"
_COUNTED = "; {undecided} undecided, counted as pass: {finding}"
_FIRST = "undecided, counted as fail: "
VERDICTS = (
    Answer("gate-cannot-check", lambda verdict: verdict.worst_verdict == ERROR and verdict.line,
           "ERROR: {finding}"),
    Answer("gate-cannot-check-several", lambda verdict: verdict.worst_verdict == ERROR,
           "ERROR: {who} cannot be checked: {why} ({rule}): {models}"),
    Answer("gate-fails", lambda verdict: verdict.worst_verdict == FAIL and verdict.line,
    "FAIL: {finding}"),
    Answer("gate-fails-several", lambda verdict: verdict.worst_verdict == FAIL,
           "FAIL: {rule} fails for {who}: {models}"),
    Answer("gate-fails-undecided", lambda verdict: verdict.worst_verdict and verdict.line,
           "FAIL: " + _FIRST + "{finding}"),
    Answer("gate-fails-several-undecided", lambda verdict: verdict.worst_verdict,
           "FAIL: " + _FIRST + "{rule} for {who}: {models}"),
    Answer("gate-judges-nothing", lambda verdict: not verdict.lines, "PASS: no rule is judged"),
    Answer("gate-undecided", lambda verdict: verdict.undecided and verdict.fields["holds"],
           _PASS + "{holds} of {total} rules {holds:holds|hold}" + _SHARED + _COUNTED),
    Answer("gate-all-undecided", lambda verdict: verdict.undecided,
           _PASS + "no rule fails" + _SHARED + _COUNTED),
    Answer("gate-passes-by", lambda verdict: verdict.line, _PASS + "{finding}"),
    Answer("gate-passes", lambda _: True,
           _PASS + "{?one|the rule holds}{?all|{all} hold}" + _SHARED),
)  # fmt: skip
_NOTES = "{?notes|; {notes:;}}{more}{?counts|; {counts:;}}"


def with_notes(
    head: AnswerSentence, notes: Sequence[str], counts: Sequence[str] = (),
    line: Judgement | None = None,
) -> AnswerSentence:  # fmt: skip
    """Add to a sentence the notes that fit, the number of remaining notes, and counts.

    line : the judgement that the sentence is about. If the rule fails, its reason is the first
        note. Otherwise its reason is the last note if there is room.
    """
    text = "".join(
        piece if isinstance(piece, str) else " " * _NUMBER for piece in flatten_phrases(head)
    )
    reason = "; ".join(r for r in line.reason.split("; ") if r not in text) if line else ""
    fails = line is not None and line.verdict in (FAIL, ERROR)
    notes = [n for n in dict.fromkeys((reason * fails, *notes)) if n and n not in text]
    room = _LONGEST - len(text) - sum(len(count) + 2 for count in counts)
    fitting: list[str] = []
    more: OptionHint | str = ""
    for at, note in enumerate(notes):
        remaining = len(notes) - at - 1
        if len(note) + 2 > room - (len(f"; {OptionHint('9 more details')}") if remaining else 0):
            more = OptionHint(f"; {plural(remaining + 1, 'more detail')}")
            break
        room -= len(note) + 2
        fitting.append(note)
    if reason and not fails and not {reason, text} & {*fitting} and len(reason) + 2 <= room:
        fitting.append(reason)
    fields = {**head.fields, "notes": fitting, "more": more, "counts": list(counts)}
    return AnswerSentence(head.name, head.template + _NOTES, fields)


@dataclass(frozen=True)
class RuleTable(Section[Judgement]):
    """One row per rule and candidate, with the evidence and the verdict.

    runs : the judged run, or one run per suite.  book : the rules file with the suites.
    reasons : whether the table shows the reason next to the verdict.
    """

    reasons: ClassVar[bool] = True
    columns: ClassVar[tuple[Column, ...]] = (
        *LEADING,
        Column(
            "evidence", "share", meaning="The estimate or the count that decides the verdict. An"
            " estimate with a sign is a difference, model minus baseline.",
            cell=lambda line: line.evidence.value_or_limits
            if isinstance(line.evidence, Estimate) else line.evidence),
        Column(
            "verdict", meaning="pass, fail, undecided (the interval contains the limit) or error"
            " (the rule cannot be checked, which fails the gate).",
            cell=lambda line: line.verdict),
        Column(
            "detail", meaning="The reason for the verdict, and data that the verdict leaves out.",
            shown=FULL, cell=lambda line: "; ".join(line.notes)),
        *FIELDS,
        data_field("fails", "Whether the rule fails the gate (undecided: see --on-undecided).",
                   lambda line: line.failing),
    )  # fmt: skip

    runs: Sequence[JudgedRun]
    book: Rulebook | None = None

    @property
    def lines(self) -> Sequence[Judgement]:
        return [line for line in self.records if line.verdict != NOT_JUDGED]

    @property
    def names_subject(self) -> bool:
        return self.book is not None or len({line.name for line in self.lines}) > 1

    @property
    def noun(self) -> str:
        if self.book is not None:
            return "suite"
        return "group" if self.study.counts.group_names else "model"

    def facts_of(self, record: Judgement) -> Iterator[Result]:
        yield record.row

    @property
    def checks(self) -> tuple[GateCheck, ...]:
        return tuple(line.check for line in self.records)

    def answer(self) -> Iterator[AnswerSentence]:
        verdict = GateVerdict(self.lines, self.noun)
        head = next(first_true(VERDICTS, verdict))
        yield with_notes(head, *verdict.notes(self.omitted()), verdict.line)

    def omitted(self) -> list[str]:
        later = sum(len(run.gate.waiting) for run in self.runs)
        waiting = [f"{plural(later, 'rule')} not judged, no baseline yet"] if later else []
        if self.book is None:
            return [*waiting, *_deviation_clauses(self.runs[0].context)]
        pairs = ((text, run.name) for run in self.runs for text in _deviation_clauses(run.context))
        lacking = group_pairs(pairs)
        words = [f"{', '.join(names)}: {text}" for text, names in lacking.items()]
        return [*waiting, *self.book.omissions, *words]

    def context(self) -> Iterator[str | OptionHint]:
        book, tests = self.book, ""
        if book is None:
            yield self._sizes()
            if any(line.fact.estimate.low is not None for line in self.lines):
                yield f"{100 * self.study.confidence.level:g} %"
            if tests := self._adjustment_text():
                yield tests
            if self.study.has_ranges:
                yield "missing outcomes tried as fail and as pass"
        else:
            yield plural(len(book.entries), "suite")
            all_counts = [run.context.sides.counts for run in self.runs]
            tasks = [len({*counts.task_codes.tolist()}) for counts in all_counts]
            attempts = [int(n) for counts in all_counts for n in (counts.n.min(), counts.n.max())]
            yield tasks_and_attempts(tasks, attempts)
            yield book.level_words
        if undecided := [line for line in self.lines if line.verdict == UNDECIDED]:
            counted_as = FAIL if all(line.failing for line in undecided) else PASS
            decided = book or tests or all(line.shut for line in undecided)
            words = f"undecided counts as {counted_as}"
            yield words if decided else OptionHint(words, OptionValue("--on-undecided"))
        yield from book.omissions if book else ()

    def _sizes(self) -> str:
        context = self.runs[0].context
        sized = [line.fact for line in self.lines if line.fact.size.n_min is not None]
        shared = bool(sized) and all(fact.against for fact in sized)
        if not sized:
            # If no rule has an estimate, the report shows the tasks and attempts of the candidates.
            counts, sides = context.sides.counts, context.sides
            for s, series in zip(sides.candidates, sides.series, strict=True):
                n = counts.n[counts.rows_of(s)]
                size = SampleSize(len(n), int(n.min()), int(n.max()))
                sized.append(replace(context.empty_result(series), size=size))
        return self.study.sizes(sized).replace(" task", " shared task" if shared else " task", 1)

    def _adjustment_text(self) -> str:
        tested = [line.fact for line in self.lines if line.fact.p_adjusted is not None]
        if len(tested) < 2:
            return ""
        adjustment = str(tested[0].more.get("adjustment", ""))
        if adjustment not in ADJUSTMENT_NAMES:
            return "no regression: by p, unadjusted"
        return f"{ADJUSTMENT_NAMES[adjustment]} over {plural(len(tested), 'test')}"

    def details(self) -> Iterator[str]:
        if self.book is not None:
            if self.book.other_suites:
                yield f"left out: {', '.join(self.book.other_suites)}"
            return
        valued = [line.fact for line in self.lines if line.fact.estimate.value is not None]
        kinds = {bool(fact.against) for fact in valued}
        if True in kinds:
            yield f"differences: model − baseline ({self.runs[0].context.sides.label})"
        if kinds == {True}:
            yield self.differences.words()
        elif kinds:
            yield self.study.confidence.words(self.differences if True in kinds else None)
        adjustments = {line.fact.more.get("adjustment") for line in self.lines}
        if self._adjustment_text() and adjustments & {MIN_P, BONFERRONI}:
            yield "adjusted: only tests and intervals of rules about several metrics"

    @property
    def differences(self) -> Confidence:
        facts = [line.fact for line in self.lines if line.fact.against and line.fact.method]
        methods = [(fact.name, fact.method) for fact in facts if fact.estimate.low is not None]
        return self.study.confidence.for_differences().with_methods_used(methods)

    def messages(self) -> Iterator[Diagnostic]:
        """Messages about the data. A message about several suites appears once, with all names."""
        named_messages = [(message, run.name) for run in self.runs for message in _messages(run)]
        for message, names in group_pairs(named_messages).items():
            yield with_file_keys(message).with_prefix(first_few(names)) if self.book else message

    def tables(self) -> Iterator[Table]:
        """The tables for the screen, for --full, and for a comment on a pull request.

        Failing rows come first, then undecided rows. The comment contains all rows that do not
        pass, and all rows with an estimate.
        """
        rows = sorted(self.records, key=lambda line: (
            not line.name, not line.failing, _ORDER.index(line.verdict) if line.name else 0,
            line.failing and not line.fact.against,
        ))  # fmt: skip
        brief = _cut_lines(self._fold_passing(rows), _ROWS)
        texts = [
            [str(line.count) if line.count else " " * _NUMBER for line in brief],
            [line.rule for line in brief],
            [line.name for line in brief] * self.names_subject,
        ]
        room = _SCREEN - sum(max(map(len, column), default=-2) + 2 for column in texts)
        yield replace(self.table(self._with_reasons(brief, room - 12), self.title), shown=BRIEF)
        yield replace(self.table(rows, self.title), shown=FULL)
        telling = [line for line in rows
                   if line.verdict != PASS or self.title or not line.count]  # fmt: skip
        comment = self._with_reasons(_cut_lines(self._fold_passing(telling), _COMMENTED), _LONGEST)
        yield replace(self.table(comment), shown=COMMENT)

    def _fold_passing(self, lines: Sequence[Judgement]) -> list[Judgement]:
        rows = list(lines)
        for judged in group_by(lines, lambda line: line.rule).values():
            passing = [line for line in judged if line.count and line.verdict == PASS]
            if len(passing) > 1:
                counts = list(dict.fromkeys(line.count for line in passing if line.count))
                total = CountEvidence(sum(c.part for c in counts), sum(c.total for c in counts))
                words = f"{counts[0]} each" if len(counts) == 1 else str(total)
                names, all_pass = [line.name for line in passing], len(passing) == len(judged)
                name = all_in_words(plural(len(passing), self.noun))
                name = name if all_pass else f"{len(passing)} other {self.noun}s"
                if self.book:
                    name = ", ".join(names) if len(passing) < 4 else f"{len(passing)} rows"
                rows[rows.index(passing[0])] = replace(
                    passing[0], name=name, reason="", details=(), count=CountEvidence(0, 0, words)
                )
                rows = [row for row in rows if row not in passing]
        return rows

    def _with_reasons(self, lines: Sequence[Judgement], room: int) -> list[Judgement]:
        """Add the reason to each verdict, shortened to `room` characters.

        A reason such as "about 80 tasks would decide if …" is never cut, because its end matters
        most.
        """
        rows = []
        for line in lines if self.reasons else ():
            reason = line.reason.removeprefix(UNCHECKED)
            about = reason.partition("; ")[0]
            short = [text for text in (reason, about, about.replace(" would decide", ""))
                     if len(text) <= room]  # fmt: skip
            if not short and " would decide" not in about and room > 0:
                short = [f"{reason[: room - 1]}…"]
            words = f" ({short[0]})" if reason and short else ""
            rows.append(replace(line, verdict=line.verdict + words))
        return rows or list(lines)

    def decided(self) -> dict[str, object]:
        if (book := self.book) is not None:
            all_counts = [run.context.sides.counts for run in self.runs]
            n = np.concatenate([counts.n for counts in all_counts])
            return {
                "rules": book.name, "rules_sha256": book.digest,
                "level": book.level, "verdicts": book.statements, "tier": book.tier or None,
                "suites": ",".join(e.suite.name for e in book.entries),
                "tasks": sum(len({*counts.task_codes.tolist()}) for counts in all_counts),
                "n": number_range(int(n.min()), int(n.max())).replace("–", "-"),
            }  # fmt: skip
        (run,) = self.runs
        study, context, rules = self.study, run.context, run.gate.active_rules
        label = context.sides.label
        tests = any(rule.general for rule in rules)
        more = [line.fact.more for line in self.lines]
        adjustments = filter(None, (str(fields.get("adjustment") or "") for fields in more))
        draws = tests or "seed" in study.confidence.signature()
        return {
            "differences": self.differences.method_name if run.gate.needs_baseline else None,
            "test": names_of_tests(str(fields.get("test") or "") for fields in more) or None,
            "resamples": study.confidence.resamples if draws else None,
            "seed": study.confidence.seed if draws else None,
            "adjust": next(adjustments, study.rules.adjust or HOLM) if tests else None,
            "baseline": label or None,
            "unpaired": context.unpaired if label else None,
            "short_tasks": study.short_tasks if study.short_tasks != "empty" else None,
            "on_undecided": run.gate.on_undecided,
            **{name: value for rule in rules for name, value in rule.signature.items()},
        }

    def changes(self) -> tuple[ChangedTasks, ...]:
        """The tasks that changed compared with the baseline, if all outcomes are known.

        Suites that use the same run share one entry.
        """
        suites: dict[ChangedTasks, list[str]] = {}
        failed = any(line.failing for line in self.records)
        for run in self.runs:
            sides, pairs = run.context.sides, []
            if sides.baseline is None or run.context.study.has_ranges:
                continue
            for s, series in zip(sides.candidates, sides.series, strict=True):
                base = sides.base_series(series)
                if base is not None:
                    name = sides.label if sides.separate_file else base[0]
                    base_side = NamedSeries(sides.baseline, sides.baseline.series.index(base), name)
                    pairs.append((NamedSeries(sides.counts, s, SeriesName(series)), base_side))
            all_flips = find_flips(pairs, run.context.study.confidence.level)
            for changes in changed_tasks_by_pair(
                [flips for flips in all_flips if flips.tasks], failed=failed
            ):
                suites.setdefault(changes, []).append(run.name)
        return tuple(
            replace(changes, summary=": ".join(filter(None, (", ".join(names), changes.summary))))
            for changes, names in suites.items()
        )


def _cut_lines(lines: Sequence[Judgement], room: int) -> list[Judgement]:
    """Cut the rows to a maximum of `room`. The last row then counts the hidden rows by verdict."""
    last = [line for line in lines if not line.name]
    model_lines = [line for line in lines if line.name]
    most = max(room - len(last), 2)
    if len(model_lines) <= most:
        return list(lines)
    hidden = [line.verdict for line in model_lines[most - 1 :]]
    verdicts = ", ".join(f"{hidden.count(v)} {v}" for v in _ORDER if v in hidden)
    more = Judgement(
        "{hint}", replace(model_lines[-1].fact, estimate=Estimate(None)), verdicts,
        fields={"hint": OptionHint("")}, name=f"{len(hidden)} more rows",
        count=CountEvidence(0, 0, " "),
    )  # fmt: skip
    return [*model_lines[: most - 1], more, *last]


def _deviation_clauses(context: GateContext) -> list[str]:
    all_series, notes = context.sides.series, list[tuple[str, str]]()
    is_declared = context.attempts and context.sides.baseline is None
    declared = context.expected_attempts[0] if is_declared else {}
    for series in all_series:
        if series in declared and declared[series].complete:
            tasks = plural(len(declared[series].attempts), "task")
            words = f"{tasks} with {plural(context.attempts or 0, 'attempt')} each"
            notes.append((words, SeriesName(series)))
        notes += [(words, SeriesName(series)) for words in context.deviations(series)]
    notes += [(f"same outcomes as {copy.original}", copy.name) for copy in context.duplicate_runs]
    return [
        words if len(names) == len(all_series) else f"{first_few(names)}: {words}"
        for words, names in group_pairs(notes).items()
    ]


def _messages(run: JudgedRun) -> Iterator[Diagnostic]:
    context, sides, past = run.context, run.context.sides, run.context.study.past
    baseline = sides.baseline
    yield from run.messages
    if run.gate.waiting:
        yield NO_BASELINE_YET(rules=len(run.gate.waiting))
    yield from _useless_rules(run)
    yield from context.study.reading
    if past is not None:
        fewest_runs, role = past.fewest_runs
        message = RUNS_POOLED if fewest_runs > 1 else ONE_RUN_KNOWN
        yield message(runs=max(past.runs_by_amount[""].runs.values()))
        if 1 < fewest_runs < _KNOWN:
            yield FEW_RUNS_KNOWN(runs=fewest_runs, noun=AMOUNTS[role][1] if role else "")
    yield from reading_notes(context.study.counts)
    pairs = [match_tasks(*pair) for pair in context.pairs(context.general[:1])]
    pairs = [pair for pair in pairs if not pair.reason]
    yield from benchmark_disagreement_warning(sides.counts, pairs)
    if sides.separate_file and baseline is not None and sides.label != ITSELF:
        for diagnostic in reading_notes(baseline):
            yield diagnostic.with_prefix(f"baseline {sides.label}")
        # Messages about missing outcomes compare the new run with its baseline.
        facts_of_runs = sides.counts.facts, baseline.facts
        if any(facts.missing_outcomes is not None for facts in facts_of_runs):
            new_losses, old_losses = sides.counts.missing_outcomes, baseline.missing_outcomes
            losses = new_losses.joined_with(old_losses, "baseline")
            yield from uneven_missing_notes(losses, facts_of_runs[0].missing_policy, "baseline ")
    yield from copied_runs_warning(context.duplicate_runs)
    for old, new in sides.renamed:
        yield RENAMED_MODEL(old=old, new=new)
    if (names := sides.renamed_model) is not None:
        yield OTHER_NAME(old=names[0], new=names[1], baseline=sides.label)
    shut = {line.fact.series for line in run.lines
            if line.verdict == FAIL and line.rule in (EVERY, EVERY_ATTEMPT)}  # fmt: skip
    retried = any(map(context.retry_warning, shut & {*context.expected_attempts[0]}))
    if shut and not (sides.separate_file or run.name or retried):
        yield OTHER_ATTEMPTS(models=len({series[0] for series in shut}), baseline=sides.label)
    compares, dropped = run.gate.needs_baseline, context.unpaired == "drop"
    models = {model for model, *_ in sides.series}
    gone = {s: coverage for s, coverage in sides.missing_series.items() if s[0] not in models}
    if gone and sides.separate_file:
        # If the new run has a model that the baseline lacks, `--unpaired drop` does not help.
        suggests_fix = not (run.name or dropped) and models <= sides.base_models
        shared = sorted(models & sides.base_models)
        diagnostic = MODELS_NOT_RUN(
            lost=len({s[0] for s in gone}), models=len(sides.base_models),
            both=shared[0] if suggests_fix and len(shared) == 1 else "",
            drop="drop" if suggests_fix else "",
        )  # fmt: skip
        yield diagnostic if dropped else replace(diagnostic, severity=NOTE)
    covered = {**context.coverages, **sides.missing_series} if dropped else {}
    covered = {s: coverage for s, coverage in covered.items() if s not in gone}
    for series, coverage in covered.items():
        name = SeriesName(series)
        if coverage is not None and coverage.lost:
            yield TASKS_NOT_RUN(lost=coverage.lost, tasks=coverage.expected, model=name)
        elif coverage is None and compares and sides.base_model(series[0]) is not None:
            yield NOT_COMPARED(model=name, reason=sides.reason_not_compared(series))
    if baseline is None:
        yield from _unequal_groups(context)
    if deciding := sum(line.shut for line in run.lines):
        yield MISSING_DECIDE(rules=deciding)


def _unequal_groups(context: GateContext) -> Iterator[Diagnostic]:
    tasks = context.sides.tasks
    for group in dict.fromkeys(series[1:] for series in tasks):
        for model in dict.fromkeys(series[0] for series in tasks):
            if (model, *group) not in tasks:
                yield GROUP_NOT_RUN(model=model, group=SeriesName(group))


def _useless_rules(run: JudgedRun) -> Iterator[Diagnostic]:
    """Messages about rules that no run of this size can pass, or that no run can fail."""
    shut = (FAIL, ERROR, UNDECIDED) if run.gate.on_undecided == FAIL else (FAIL, ERROR)
    for rule in [rule for rule in run.gate.active_rules if isinstance(rule, MaxIncrease)]:
        for rates, base in run.context.pairs(rule.option_metrics):
            most, mean = rule.value[rates.metric], base.mean
            generous = base.has_values and mean + most > _TIMES * mean
            if generous and not isinstance(most, RelativeLimit):
                words = sentence_text(rule.words(rates.metric))
                yield CANNOT_FAIL(rule=words, metric=rates.metric.name, value=f"{mean:.3g}")
    ends = all_pass_and_all_fail_verdicts(run.gate.active_rules, run.context)
    names = {(x.place, x.fact.series, x.fact.name): x.rule for x in run.lines}
    rules_by_ends = dict.fromkeys((ends[at], rule) for at, rule in names.items() if at in ends)
    for (best, worst), rules in group_pairs(rules_by_ends).items():
        if best == worst:
            yield DECIDES_NOTHING(rule=rules, verdict=best)
        elif best != PASS:
            yield CANNOT_DECIDE(rule=rules, verb="pass", verdict=best, run="passes")
        elif worst not in shut:
            yield CANNOT_DECIDE(rule=rules, verb="fail", verdict=worst, run="fails")
