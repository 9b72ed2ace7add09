"""The report of a gate: the sentence with the verdict, the table of rules, and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from passk_cli.arrays import group_by, group_pairs
from passk_cli.commands.gate.baseline_match import SELF_BASELINE_LABEL
from passk_cli.commands.gate.context import GateContext, JudgedRun
from passk_cli.commands.gate.evidence import PartOfTotal
from passk_cli.commands.gate.judgement import (
    UNCHECKED_PREFIX,
    Judgement,
    flattened_pieces,
    sentence_text,
)
from passk_cli.commands.gate.rulebook import Rulebook, replace_options_with_keys
from passk_cli.commands.gate.rules import (
    EVERY,
    EVERY_ATTEMPT,
    MaxIncrease,
    RelativeLimit,
    verdicts_if_all_pass_or_fail,
)
from passk_cli.commands.tasks.flips import list_changed_tasks_for_log
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS
from passk_cli.report.data_types import (
    BRIEF,
    COMMENT,
    FULL,
    AnswerSentence,
    ChangedTaskSentences,
    Column,
    Estimate,
    GateCheck,
    OptionHint,
    PhraseCell,
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
from passk_cli.study.adjustment_captions import names_of_tests
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.benchmarks import benchmark_disagreement_warning
from passk_cli.study.comparison import comparison_on_shared_tasks
from passk_cli.study.confidence import Confidence
from passk_cli.study.data_notes import reading_notes
from passk_cli.study.duplicate_runs import copied_runs_warning
from passk_cli.study.flips import NamedSeries, compute_flips_of_pairs
from passk_cli.study.missing_outcomes import uneven_missing_notes
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import ReportSection, data_field
from passk_cli.study.significance_options import (
    ADJUSTMENT_NAMES,
    BONFERRONI,
    ERROR,
    FAIL,
    HOLM,
    MIN_P,
    PASS,
    RULE_NOT_JUDGED,
    UNDECIDED,
)
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

_ROWS, _COMMENTED, _SCREEN = 14, 20, 100
_LONGEST, _NUMBER = 212, 23
# A reason is left out rather than cut to fewer than _MIN_REASON_CHARACTERS characters.
_MIN_REASON_CHARACTERS = 16
_VERDICT_ORDER = (FAIL, UNDECIDED, ERROR, PASS, RULE_NOT_JUDGED)
# A rule that allows ten times the cost of the baseline can hardly fail.
_TOO_GENEROUS_LIMIT_FACTOR = 10.0
# A good estimate of the variation between runs needs at least _MIN_RUNS_FOR_VARIATION runs.
_MIN_RUNS_FOR_VARIATION = 5

RUNS_POOLED_NOTE = DiagnosticType(
    "runs-pooled", NOTE,
    "the baseline pools the last {runs:run} of its history, and intervals include the variation"
    " between runs",
    meaning="The baseline pools several runs of a history. If the baseline pools R runs, the"
    " variance of each difference includes the term σ² (1 + 1/R) for the variation between runs."
    " passk estimates σ², the variance between runs, from all runs of the history.",
    why="If runs differ by more than the random variation within tasks, intervals that ignore the"
    " variance between runs are too narrow.",
    example="note[runs-pooled]: the baseline pools the last 5 runs of its history, and intervals"
    " include the variation between runs",
)  # fmt: skip
FEW_HISTORY_RUNS_WARNING = DiagnosticType(
    "few-runs-known", WARNING,
    "the history has only {runs:run}{?noun| with {noun}}, so intervals may be too narrow",
    "record further runs",
    meaning="passk estimates the variation between runs from fewer than five runs.",
    why="An estimate from fewer than five runs is imprecise. In simulations, runs varied at least"
    " as much as the random variation within tasks. With two or three runs, 95 % intervals"
    " contained the truth in 91 to 96 % of simulated gates. With twenty runs, 95 % intervals"
    " contained the truth in 95 to 97 % of simulated gates (benchmarks/trend.md).",
    advice="Record further runs with `passk record`.",
    example="warning[few-runs-known]: the history has only 3 runs, so intervals may be too narrow;"
    " record further runs",
)  # fmt: skip
ONE_HISTORY_RUN_WARNING = DiagnosticType(
    "one-run-known", WARNING,
    "the history has one run of a model, so intervals ignore the variation between runs",
    "record further runs",
    meaning="passk needs at least two runs of a model to estimate the variation between runs.",
    why="If runs differ by more than the random variation within tasks, the intervals are too"
    " narrow.",
    advice="Record further runs with `passk record`.",
    example="warning[one-run-known]: the history has one run of a model, so intervals ignore the"
    " variation between runs; record further runs",
)  # fmt: skip
BASELINE_TASKS_NOT_RUN_WARNING = DiagnosticType(
    "baseline-tasks-not-run", WARNING,
    "{model} has no attempts at {lost} of the {tasks:baseline task}",
    meaning="The new run has no attempts at some tasks of the baseline. With `--unpaired drop`, a"
    " gate compares only the tasks that both runs contain.",
    why="If a task has no attempts, the reason is often a crash. If crashed tasks are left out, the"
    " new run looks better than it is.",
    advice="Run the missing tasks. Without `--unpaired drop`, the gate fails if tasks are missing.",
    example="warning[baseline-tasks-not-run]: gpt-4o has no attempts at 3 of the 50 baseline"
    " tasks",
)  # fmt: skip
BASELINE_MODELS_NOT_RUN_WARNING = DiagnosticType(
    "baseline-models-not-run", WARNING,
    "{lost} of {models:model} of the baseline {lost:has|have} no attempts in the new run",
    (SuggestedFix({"--model": "{both}"}, "judges the model that both runs have"),
     SuggestedFix({"--unpaired": "{drop}"}, "compares the models that both runs have")),
    meaning="The baseline has models that the new run does not have.",
    why="A gate fails if the new run lacks models of the baseline, because the runs of missing"
    " models may have crashed.",
    advice="If you ran only some models on purpose, select these models with `--model NAME`, or"
    " allow missing models with `--unpaired drop`.",
    example="warning[baseline-models-not-run]: 1 of 2 models of the baseline has no attempts in the"
    " new run; --model m1 judges the model that both runs have; --unpaired drop compares the models"
    " that both runs have",
)  # fmt: skip
OTHER_ATTEMPTS_NOTE = DiagnosticType(
    "other-attempts-than-baseline", NOTE,
    "the tasks or numbers of attempts of {models:model} differ from {baseline}",
    SuggestedFix({"--unpaired": "drop"}, "compares the tasks that both models have"),
    meaning="All models are in one file, and some models have different tasks or numbers of"
    " attempts than the baseline.",
    why="The gate fails if the tasks or the numbers of attempts differ, because missing attempts"
    " are often failures.",
    advice="If the models have different tasks or numbers of attempts on purpose, use `--unpaired"
    " drop`. With `--unpaired drop`, the verdict reports the missing tasks and attempts.",
    example="note[other-attempts-than-baseline]: the tasks or numbers of attempts of 1 model differ"
    " from m1; --unpaired drop compares the tasks that both models have",
)  # fmt: skip
RENAMED_MODEL_WARNING = DiagnosticType(
    "renamed-model", WARNING,
    "{old} has no attempts, but {new} has the same tasks and similar pass rates",
    SuggestedFix({"--alias": {"{old}": "{new}"}}, "counts both as one model, if it was renamed"),
    meaning="A model of the baseline is not in the new run. A model of the new run has at least"
    " nine tenths of the tasks of the missing model. The pass rates of the two models at the"
    " shared tasks differ no more than expected by chance.",
    why="If the model was renamed, the gate does not compare it with its baseline.",
    advice="If the model was renamed, use `--alias OLD=NEW`, or the key aliases in a rules file."
    " An alias also applies to baselines and histories.",
    example="warning[renamed-model]: agent-v1 has no attempts, but agent-v2 has the same tasks and"
    " similar pass rates; --alias agent-v1=agent-v2 counts both as one model, if it was renamed",
)  # fmt: skip
OTHER_MODEL_NAME_WARNING = DiagnosticType(
    "other-model-name", WARNING, "{new} is compared with {old}, the only model of {baseline}",
    SuggestedFix({"--alias": {"{old}": "{new}"}}, "counts both as one model, if it was renamed"),
    meaning="The new run and the baseline have one model each, with different names. The gate"
    " compares the two models with each other, although their names differ.",
    why="A history identifies models by name. If you record a renamed model, the history contains"
    " no earlier runs under the new name.",
    advice="If the model was renamed, use `--alias OLD=NEW`, or the key aliases in a rules file.",
    example="warning[other-model-name]: agent-v2 is compared with agent-v1, the only model of"
    " old.jsonl; --alias agent-v1=agent-v2 counts both as one model, if it was renamed",
)  # fmt: skip
NOT_COMPARED_WARNING = DiagnosticType(
    "not-compared", WARNING, "{model} is not compared: {reason}",
    meaning="A rule about changes needs the same model and group in the new run and in the"
    " baseline. With `--unpaired drop`, models and groups without a baseline are left out.",
    why="No rule compares the model with a baseline in the group that the message names.",
    advice="Add the model or group to the baseline. Without `--unpaired drop`, the gate fails if a"
    " model or group has no baseline.",
    example="warning[not-compared]: m2 · hard is not compared: old.jsonl has no attempts in this"
    " group",
)  # fmt: skip
MODEL_LACKS_GROUP_WARNING = DiagnosticType(
    "group-not-run", WARNING, "{model} has no attempts in the group {group}",
    meaning="The model has no attempts in one group of `--by`, but other models have attempts in"
    " this group.",
    why="passk cannot check any rule for a model in a group without attempts.",
    advice="Check whether the model was run in the group that the message names, and whether passk"
    " read all files.",
    example="warning[group-not-run]: m2 has no attempts in the group hard",
)  # fmt: skip
MISSING_OUTCOMES_DECIDE_WARNING = DiagnosticType(
    "missing-outcomes-decide", WARNING,
    "{rules:rule} would fail for some values of the missing outcomes, so the gate fails",
    meaning="With `--missing bounds`, passk checks each rule in the worst and in the best case of"
    " the missing outcomes. In the worst case, missing outcomes are failures in the new run and"
    " passes in the baseline.",
    why="With `--missing bounds`, a gate passes only if it would pass for all values of the missing"
    " outcomes.",
    advice="Add the missing outcomes to the data, or choose how to count missing outcomes with"
    " `--missing fail` or `--missing drop`.",
    example="warning[missing-outcomes-decide]: 1 rule would fail for some values of the missing"
    " outcomes, so the gate fails",
)  # fmt: skip
RULE_VERDICT_CONSTANT_WARNING = DiagnosticType(
    "rule-decides-nothing", WARNING,
    "{rule} decides nothing: the verdict is {verdict} whether every attempt passes or every attempt"
    " fails",
    meaning="passk also checks the rule for a hypothetical run in which every attempt passes, and"
    " for a hypothetical run in which every attempt fails. If the rule has the same verdict for"
    " both hypothetical runs, the rule decides nothing.",
    why="A rule that decides nothing has the same verdict for all runs of the same size.",
    advice="Use more tasks or attempts, or choose a different limit.",
    example="warning[rule-decides-nothing]: pass@1 ≥ 0.99 decides nothing: the verdict is undecided"
    " whether every attempt passes or every attempt fails",
)  # fmt: skip
RULE_CANNOT_DECIDE_WARNING = DiagnosticType(
    "rule-cannot-decide", WARNING,
    "{rule} cannot {verb}: the verdict is {verdict} even if every attempt {run}",
    meaning="passk also checks the rule for a hypothetical run in which every attempt passes, and"
    " for a hypothetical run in which every attempt fails. With the current numbers of tasks and"
    " attempts, the rule can never pass, or the rule can never fail.",
    why="A rule that cannot fail does not protect you from regressions. A rule that cannot pass"
    " never reports success.",
    advice="Use more tasks or attempts, or choose a different limit. `--rehearse` shows what each"
    " rule detects.",
    example="warning[rule-cannot-decide]: pass@1 ≥ 0.9 cannot pass: the verdict is undecided even"
    " if every attempt passes",
)  # fmt: skip
GENEROUS_INCREASE_LIMIT_WARNING = DiagnosticType(
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
NO_BASELINE_YET_NOTE = DiagnosticType(
    "no-baseline-yet", NOTE,
    "{rules:rule} about changes {rules:is|are} not judged, because there is no"
    " baseline yet", "record this run, so that the next run has a baseline",
    meaning="With `--first-run`, passk does not check rules that compare the run with a baseline,"
    " so these rules do not fail. passk checks all rules that do not need a baseline.",
    why="The gate does not detect regressions until there is a baseline.",
    advice="Record the run with `passk record`, and leave out `--first-run` for all later runs.",
    example="note[no-baseline-yet]: 1 rule about changes is not judged, because there is no"
    " baseline yet; record this run, so that the next run has a baseline",
)  # fmt: skip


LEADING_COLUMNS = (
    Column("suite", meaning="Name of the suite, with the model if the suite has several models.",
           cell_of_record=lambda line: line.subject_name,
           exists_in_section=lambda section: section.rulebook),
    Column("model", meaning="Name of the model in the new run, with its groups.",
           cell_of_record=lambda line: line.subject_name,
           exists_in_section=lambda section: section.shows_subject_names and not section.rulebook),
    Column("rule", meaning="The rule. passk adds `every baseline task` and `every baseline"
           " attempt`.", cell_of_record=lambda line: PhraseCell(line.rule_sentence)),
)  # fmt: skip
JUDGEMENT_DATA_FIELDS = (
    data_field("rule", "The rule, in words.", lambda line: line.rule_text),
    data_field("limit", "The limit of the rule.", lambda line: line.limit),
    data_field("counted", 'The count that decides the rule, for example "24 of 60".',
               lambda line: str(line.count_evidence) if line.count_evidence else None),
    data_field("shared_tasks", "Number of baseline tasks at which the new run has attempts.",
               lambda line: line.task_coverage and line.task_coverage.shared),
    data_field("baseline_tasks", "Number of tasks in the baseline.",
               lambda line: line.task_coverage and line.task_coverage.expected),
    data_field("test", "The test that calculates p."),
    data_field("adjustment", "How passk adjusts p for the number of tests."),
)  # fmt: skip


@dataclass(frozen=True)
class RuleFailureGroup:
    """The judgements of one rule that fail the gate with the same verdict.

    subjects_text : the models in a few words, for example "12 of 24 models".
    """

    judgements: Sequence[Judgement]
    subjects_text: str

    @classmethod
    def groups_from_judgements(
        cls, lines: Sequence[Judgement], noun: str
    ) -> list[RuleFailureGroup]:
        """Group the failing judgements by rule: first failures, then undecided rules, then errors.

        Among rules with the same verdict, rules that compare with the baseline come first.
        """

        def merit(line: Judgement) -> float:
            value = line.result.estimate.value or 0.0
            return -abs(value) if line.result.against else value

        order = sorted((line for line in lines if line.fails_gate), key=lambda line: (
            _VERDICT_ORDER.index(line.verdict), not line.result.against,
        ))  # fmt: skip
        groups = []
        lines_by_rule = group_by(order, lambda line: (line.rule_text, line.verdict))
        for (rule, _), rule_lines in lines_by_rule.items():
            judged, number = sum(line.rule_text == rule for line in lines), len(rule_lines)
            thing = rule_lines[0].subject_noun or noun
            who = rule_lines[0].subject_name if number == 1 else f"{number} of {judged} {thing}s"
            who = all_in_words(plural(number, thing)) if 1 < number == judged else who
            groups.append(cls(sorted(rule_lines, key=merit), who))
        return groups

    @property
    def clause(self) -> str:
        """A clause such as "pass@1 ≥ 0.5 fails for 12 of 24 models"."""
        first, single = self.judgements[0], len(self.judgements) == 1
        if single and first.count_evidence is not None:
            return f"{first.subject_name}: {first.reason}" if first.reason else first.finding_text
        if single and first.verdict == ERROR:
            return first.finding_text
        verbs = {ERROR: "cannot be checked", UNDECIDED: "is undecided"}
        return f"{first.rule_text} {verbs.get(first.verdict, 'fails')} for {self.subjects_text}"


class GateVerdict:
    """The verdict of the whole gate, which the answer of the report states."""

    def __init__(self, lines: Sequence[Judgement], noun: str) -> None:
        self.lines = lines
        self.groups = RuleFailureGroup.groups_from_judgements(lines, noun)
        self.undecided = [x for x in lines if x.verdict == UNDECIDED and not x.fails_gate]
        self.covered = next(
            (c for x in lines if (c := x.task_coverage) is not None and c.lost), None
        )
        measured = [line for line in lines if isinstance(line.evidence, Estimate)]
        single = len(measured) == 1 and self.covered is None
        # The first sentence of the report is about the worst result, the first undecided result,
        # or the only result with an estimate.
        self.line = self.undecided[0] if self.undecided else measured[0] if single else None
        if self.groups:
            worst = self.groups[0].judgements
            self.line = worst[0] if len(worst) == 1 else None

    @property
    def worst_verdict(self) -> str:
        return self.groups[0].judgements[0].verdict if self.groups else ""

    @property
    def sentence_fields(self) -> dict[str, Any]:
        lines, covered, line = self.lines, self.covered, self.line
        counts = [
            x.count_evidence for x in lines if x.rule_text == EVERY_ATTEMPT and x.count_evidence
        ]
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
                "failing": sum(len(group.judgements) for group in self.groups),
                "who": group.subjects_text,
                "rule": PhraseCell(group.judgements[0].rule_sentence), "models": [x.subject_name
                    for x in group.judgements],
                "why": group.judgements[0].reason.removeprefix(UNCHECKED_PREFIX),
            }  # fmt: skip
        if line is not None:
            fields |= {"finding": PhraseCell(line.finding_sentence), "rule": line.rule_text,
                "model": line.subject_name,
                       "estimate": line.result.estimate}  # fmt: skip
        return fields

    def notes(self, omitted: Sequence[str]) -> tuple[list[str], list[str]]:
        """The clauses to add to the answer if there is room, and the clauses to add always."""
        line_notes = [] if self.line is None else list(self.line.detail_notes)
        if not self.groups:
            return [*omitted, *line_notes], []
        other_groups = sorted(
            self.groups[1:], key=lambda group: group.judgements[0].count_evidence is None
        )
        total, failing = len(self.lines), sum(len(group.judgements) for group in self.groups)
        counts = [f"{failing} of {total} rules fail"] if len(self.groups) > 2 else []
        if undecided := len(self.undecided):
            counts.append(f"{undecided} of {total} undecided, counted as pass")
        group_notes = [group.clause for group in other_groups]
        return [*group_notes, *(omitted if self.line is None else line_notes)], counts


_PASSING_GATE_PREFIX = "PASS{?made|, with {made} baseline attempts}: "
_SHARED_TASKS_CLAUSE = "{?shared| on {shared} of {expected:baseline task}}"
_UNDECIDED_AS_PASS_CLAUSE = "; {undecided} undecided, counted as pass: {finding}"
_UNDECIDED_AS_FAIL_PREFIX = "undecided, counted as fail: "
VERDICT_ANSWERS = (
    Answer("gate-cannot-check", lambda verdict: verdict.worst_verdict == ERROR and verdict.line,
           "ERROR: {finding}"),
    Answer("gate-cannot-check-several", lambda verdict: verdict.worst_verdict == ERROR,
           "ERROR: {who} cannot be checked: {why} ({rule}): {models}"),
    Answer("gate-fails", lambda verdict: verdict.worst_verdict == FAIL and verdict.line,
    "FAIL: {finding}"),
    Answer("gate-fails-several", lambda verdict: verdict.worst_verdict == FAIL,
           "FAIL: {rule} fails for {who}: {models}"),
    Answer("gate-fails-undecided", lambda verdict: verdict.worst_verdict and verdict.line,
           "FAIL: " + _UNDECIDED_AS_FAIL_PREFIX + "{finding}"),
    Answer("gate-fails-several-undecided", lambda verdict: verdict.worst_verdict,
           "FAIL: " + _UNDECIDED_AS_FAIL_PREFIX + "{rule} for {who}: {models}"),
    Answer("gate-judges-nothing", lambda verdict: not verdict.lines, "PASS: no rule is judged"),
    Answer("gate-undecided", lambda verdict: verdict.undecided and verdict.sentence_fields["holds"],
           _PASSING_GATE_PREFIX + "{holds} of {total} rules"
               " {holds:holds|hold}" + _SHARED_TASKS_CLAUSE + _UNDECIDED_AS_PASS_CLAUSE),
    Answer("gate-all-undecided", lambda verdict: verdict.undecided,
           _PASSING_GATE_PREFIX + "no rule fails" + _SHARED_TASKS_CLAUSE
           + _UNDECIDED_AS_PASS_CLAUSE),
    Answer("gate-passes-by", lambda verdict: verdict.line, _PASSING_GATE_PREFIX + "{finding}"),
    Answer("gate-passes", lambda _: True,
           _PASSING_GATE_PREFIX + "{?one|the rule holds}{?all|{all} hold}" + _SHARED_TASKS_CLAUSE),
)  # fmt: skip
_NOTES_AND_COUNTS_CLAUSE = "{?notes|; {notes:;}}{more}{?counts|; {counts:;}}"


def with_notes(
    head: AnswerSentence, notes: Sequence[str], counts: Sequence[str] = (),
    line: Judgement | None = None,
) -> AnswerSentence:  # fmt: skip
    """Add the notes that fit to a sentence, then the number of omitted notes, and the counts.

    line : the judgement that the sentence is about. If the rule fails, the reason is the first
        note. Otherwise, the reason is the last note if there is room.
    """
    text = "".join(
        piece if isinstance(piece, str) else " " * _NUMBER for piece in flattened_pieces(head)
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
    return AnswerSentence(head.name, head.template + _NOTES_AND_COUNTS_CLAUSE, fields)


@dataclass(frozen=True)
class RuleTable(ReportSection[Judgement]):
    """One row per rule and candidate, with the evidence and the verdict.

    runs_with_judgements : the judged run, or one run per suite.  rulebook : the rules file with the
        suites.
    shows_reasons : whether the table shows the reason next to the verdict.
    """

    shows_reasons: ClassVar[bool] = True
    columns: ClassVar[tuple[Column, ...]] = (
        *LEADING_COLUMNS,
        Column(
            "evidence", "share", meaning="The estimate or the count that decides the verdict. An"
            " estimate with a sign is a difference: the model minus the baseline.",
            cell_of_record=lambda line: line.evidence.value_or_limits
            if isinstance(line.evidence, Estimate) else line.evidence),
        Column(
            "verdict", meaning="pass, fail, undecided (the interval contains the limit) or error"
            " (the rule cannot be checked, which fails the gate).",
            cell_of_record=lambda line: line.verdict),
        Column(
            "detail", meaning="The reason for the verdict, and data that the verdict leaves out.",
            visibility=FULL, cell_of_record=lambda line: "; ".join(line.notes)),
        *JUDGEMENT_DATA_FIELDS,
        data_field("fails", "Whether the rule fails the gate (undecided: see --on-undecided).",
                   lambda line: line.fails_gate),
    )  # fmt: skip

    runs_with_judgements: Sequence[JudgedRun]
    rulebook: Rulebook | None = None

    @property
    def judgements(self) -> Sequence[Judgement]:
        return [line for line in self.records if line.verdict != RULE_NOT_JUDGED]

    @property
    def shows_subject_names(self) -> bool:
        return self.rulebook is not None or len({line.subject_name for line in self.judgements}) > 1

    @property
    def subject_noun(self) -> str:
        if self.rulebook is not None:
            return "suite"
        return "group" if self.study.counts.group_names else "model"

    def results_of(self, record: Judgement) -> Iterator[Result]:
        yield record.result_with_verdict

    @property
    def checks(self) -> tuple[GateCheck, ...]:
        return tuple(line.gate_check for line in self.records)

    def answer(self) -> Iterator[AnswerSentence]:
        verdict = GateVerdict(self.judgements, self.subject_noun)
        head = next(first_true_sentence(VERDICT_ANSWERS, verdict))
        yield with_notes(head, *verdict.notes(self.omission_notes()), verdict.line)

    def omission_notes(self) -> list[str]:
        later = sum(
            len(run.gate_runner.names_awaiting_baseline) for run in self.runs_with_judgements
        )
        waiting = [f"{plural(later, 'rule')} not judged, no baseline yet"] if later else []
        if self.rulebook is None:
            return [*waiting, *_deviation_clauses(self.runs_with_judgements[0].context)]
        pairs = (
            (text, run.suite_name)
            for run in self.runs_with_judgements
            for text in _deviation_clauses(run.context)
        )
        lacking = group_pairs(pairs)
        words = [f"{', '.join(names)}: {text}" for text, names in lacking.items()]
        return [*waiting, *self.rulebook.omission_notes, *words]

    def footer_parts(self) -> Iterator[str | OptionHint]:
        book, tests = self.rulebook, ""
        if book is None:
            yield self._sizes_text()
            if any(line.result.estimate.low is not None for line in self.judgements):
                yield f"{100 * self.study.confidence.level:g} %"
            if tests := self._adjustment_text():
                yield tests
            if self.study.has_missing_outcome_ranges:
                yield "missing outcomes tried as fail and as pass"
        else:
            yield plural(len(book.suite_entries), "suite")
            all_counts = [run.context.baseline_match.counts for run in self.runs_with_judgements]
            tasks = [len({*counts.task_codes.tolist()}) for counts in all_counts]
            attempts = [int(n) for counts in all_counts for n in (counts.n.min(), counts.n.max())]
            yield tasks_and_attempts(tasks, attempts)
            yield book.level_text
        if undecided := [line for line in self.judgements if line.verdict == UNDECIDED]:
            counted_as = FAIL if all(line.fails_gate for line in undecided) else PASS
            decided = book or tests or all(line.fails_in_some_case for line in undecided)
            words = f"undecided counts as {counted_as}"
            yield words if decided else OptionHint(words, OptionWithValue("--on-undecided"))
        yield from book.omission_notes if book else ()

    def _sizes_text(self) -> str:
        context = self.runs_with_judgements[0].context
        sized = [line.result for line in self.judgements if line.result.size.n_min is not None]
        shared = bool(sized) and all(fact.against for fact in sized)
        if not sized:
            # If no rule has an estimate, the report shows the tasks and attempts of the candidates.
            counts, sides = context.baseline_match.counts, context.baseline_match
            for s, series in zip(sides.candidate_series_indices, sides.series, strict=True):
                n = counts.n[counts.slice_of_series(s)]
                size = SampleSize(len(n), int(n.min()), int(n.max()))
                sized.append(replace(context.result_without_estimate(series), size=size))
        return self.study.sizes_text(sized).replace(
            " task", " shared task" if shared else " task", 1
        )

    def _adjustment_text(self) -> str:
        tested = [line.result for line in self.judgements if line.result.p_adjusted is not None]
        if len(tested) < 2:
            return ""
        adjustment = str(tested[0].extra_fields.get("adjustment", ""))
        if adjustment not in ADJUSTMENT_NAMES:
            return "no regression: by p, unadjusted"
        return f"{ADJUSTMENT_NAMES[adjustment]} over {plural(len(tested), 'test')}"

    def full_footer_parts(self) -> Iterator[str]:
        if self.rulebook is not None:
            if self.rulebook.other_suites:
                yield f"left out: {', '.join(self.rulebook.other_suites)}"
            return
        valued = [line.result for line in self.judgements if line.result.estimate.value is not None]
        kinds = {bool(fact.against) for fact in valued}
        if True in kinds:
            yield (
                f"differences: model − baseline"
                f" ({self.runs_with_judgements[0].context.baseline_match.baseline_label})"
            )
        if kinds == {True}:
            yield self.difference_confidence_settings.words()
        elif kinds:
            yield self.study.confidence.words(
                self.difference_confidence_settings if True in kinds else None
            )
        adjustments = {line.result.extra_fields.get("adjustment") for line in self.judgements}
        if self._adjustment_text() and adjustments & {MIN_P, BONFERRONI}:
            yield "adjusted: only tests and intervals of rules about several metrics"

    @property
    def difference_confidence_settings(self) -> Confidence:
        facts = [
            line.result for line in self.judgements if line.result.against and line.result.method
        ]
        methods = [(fact.name, fact.method) for fact in facts if fact.estimate.low is not None]
        return self.study.confidence.for_differences().with_methods_used(methods)

    def messages(self) -> Iterator[Diagnostic]:
        """Messages about the data.

        A message about several suites is shown once, with the names of these suites.
        """
        named_messages = [
            (message, run.suite_name)
            for run in self.runs_with_judgements
            for message in _run_messages(run)
        ]
        for message, names in group_pairs(named_messages).items():
            yield (
                replace_options_with_keys(message).with_prefix(first_few(names))
                if self.rulebook
                else message
            )

    def tables(self) -> Iterator[Table]:
        """The tables for the screen, for --full, and for a comment on a pull request.

        Failing rows come first, followed by undecided rows. The comment contains all rows that do
        not pass, and all rows with an estimate.
        """
        rows = sorted(self.records, key=lambda line: (
            not line.fails_gate, not line.subject_name,
            _VERDICT_ORDER.index(line.verdict) if line.subject_name else 0,
            line.fails_gate and not line.result.against,
        ))  # fmt: skip
        brief = self._fold_passing(rows)
        texts = [
            [str(line.count_evidence) if line.count_evidence else " " * _NUMBER for line in brief],
            [line.rule_text for line in brief],
            [line.subject_name for line in brief] * self.shows_subject_names,
        ]
        room = _SCREEN - sum(max(map(len, column), default=-2) + 2 for column in texts)
        table = self.table(self._with_reasons(brief, room - 12), self.title)
        yield replace(table, visibility=BRIEF, rows_without_full=_ROWS)
        yield replace(self.table(rows, self.title), visibility=FULL)
        telling = [line for line in rows
                   if line.verdict != PASS or self.title or not line.count_evidence]  # fmt: skip
        table = self.table(self._with_reasons(self._fold_passing(telling), _LONGEST))
        yield replace(table, visibility=COMMENT, rows_without_full=_COMMENTED)

    def _fold_passing(self, lines: Sequence[Judgement]) -> list[Judgement]:
        rows = list(lines)
        for judged in group_by(lines, lambda line: line.rule_text).values():
            passing = [line for line in judged if line.count_evidence and line.verdict == PASS]
            if len(passing) > 1:
                counts = list(
                    dict.fromkeys(line.count_evidence for line in passing if line.count_evidence)
                )
                total = PartOfTotal(sum(c.part for c in counts), sum(c.total for c in counts))
                words = f"{counts[0]} each" if len(counts) == 1 else str(total)
                names, all_pass = (
                    [line.subject_name for line in passing],
                    len(passing) == len(judged),
                )
                name = all_in_words(plural(len(passing), self.subject_noun))
                name = name if all_pass else f"{len(passing)} other {self.subject_noun}s"
                if self.rulebook:
                    name = ", ".join(names) if len(passing) < 4 else f"{len(passing)} rows"
                rows[rows.index(passing[0])] = replace(
                    passing[0],
                    subject_name=name,
                    reason="",
                    detail_notes=(),
                    count_evidence=PartOfTotal(0, 0, words),
                )
                rows = [row for row in rows if row not in passing]
        return rows

    def _with_reasons(self, lines: Sequence[Judgement], room: int) -> list[Judgement]:
        """Add the reason to each verdict, shortened to `room` characters.

        passk never cuts off the end of a reason such as "about 80 tasks would decide if …", because
        the end matters most.
        """
        rows = []
        for line in lines if self.shows_reasons else ():
            reason = line.reason.removeprefix(UNCHECKED_PREFIX)
            about = reason.partition("; ")[0]
            short = [text for text in (reason, about, about.replace(" would decide", ""))
                     if len(text) <= room]  # fmt: skip
            if not short and " would decide" not in about and room >= _MIN_REASON_CHARACTERS:
                short = [f"{reason[: room - 1]}…"]
            words = f" ({short[0]})" if reason and short else ""
            rows.append(replace(line, verdict=line.verdict + words))
        return rows or list(lines)

    def signature_entries(self) -> dict[str, object]:
        if (book := self.rulebook) is not None:
            all_counts = [run.context.baseline_match.counts for run in self.runs_with_judgements]
            n = np.concatenate([counts.n for counts in all_counts])
            return {
                "rules": book.path, "rules_sha256": book.digest,
                "level": book.level, "verdicts": book.fallible_verdict_count,
                "tier": book.tier or None,
                "suites": ",".join(e.suite.name for e in book.suite_entries),
                "tasks": sum(len({*counts.task_codes.tolist()}) for counts in all_counts),
                "n": number_range(int(n.min()), int(n.max())).replace("–", "-"),
            }  # fmt: skip
        (run,) = self.runs_with_judgements
        study, context, rules = self.study, run.context, run.gate_runner.active_rules
        label = context.baseline_match.baseline_label
        tests = any(rule.uses_general_metrics for rule in rules)
        more = [line.result.extra_fields for line in self.judgements]
        adjustments = filter(None, (str(fields.get("adjustment") or "") for fields in more))
        draws = tests or "seed" in study.confidence.signature()
        return {
            "differences": self.difference_confidence_settings.method_name
            if run.gate_runner.needs_baseline
            else None,
            "test": names_of_tests(str(fields.get("test") or "") for fields in more) or None,
            "resamples": study.confidence.resamples if draws else None,
            "seed": study.confidence.seed if draws else None,
            "adjust": next(adjustments, study.comparison_options.adjust or HOLM) if tests else None,
            "baseline": label or None,
            "unpaired": context.unpaired_policy if label else None,
            "short_tasks": study.short_tasks if study.short_tasks != "empty" else None,
            "on_undecided": run.gate_runner.on_undecided,
            **{name: value for rule in rules for name, value in rule.signature.items()},
        }

    def changed_tasks(self) -> tuple[ChangedTaskSentences, ...]:
        """The tasks that changed compared with the baseline, if all outcomes are known.

        Suites that use the same run share one entry.
        """
        suites: dict[ChangedTaskSentences, list[str]] = {}
        failed = any(line.fails_gate for line in self.records)
        for run in self.runs_with_judgements:
            sides, pairs = run.context.baseline_match, []
            if sides.baseline is None or run.context.study.has_missing_outcome_ranges:
                continue
            for s, series in zip(sides.candidate_series_indices, sides.series, strict=True):
                base = sides.base_series(series)
                if base is not None:
                    name = sides.baseline_label if sides.baseline_is_other_file else base[0]
                    base_side = NamedSeries(sides.baseline, sides.baseline.series.index(base), name)
                    pairs.append((NamedSeries(sides.counts, s, SeriesName(series)), base_side))
            all_flips = compute_flips_of_pairs(pairs, run.context.study.confidence.level)
            for changes in list_changed_tasks_for_log(
                [flips for flips in all_flips if flips.tasks], failed=failed
            ):
                suites.setdefault(changes, []).append(run.suite_name)
        return tuple(
            replace(changes, summary=": ".join(filter(None, (", ".join(names), changes.summary))))
            for changes, names in suites.items()
        )


def _deviation_clauses(context: GateContext) -> list[str]:
    all_series, notes = context.baseline_match.series, list[tuple[str, str]]()
    is_declared = context.declared_attempts and context.baseline_match.baseline is None
    declared = context.attempts_by_series_per_expectation[0] if is_declared else {}
    for series in all_series:
        if series in declared and declared[series].has_expected_attempts:
            tasks = plural(len(declared[series].attempts), "task")
            words = f"{tasks} with {plural(context.declared_attempts or 0, 'attempt')} each"
            notes.append((words, SeriesName(series)))
        notes += [(words, SeriesName(series)) for words in context.deviation_notes(series)]
    notes += [(f"same outcomes as {copy.original}", copy.name) for copy in context.duplicate_runs]
    return [
        words if len(names) == len(all_series) else f"{first_few(names)}: {words}"
        for words, names in group_pairs(notes).items()
    ]


def _run_messages(run: JudgedRun) -> Iterator[Diagnostic]:
    context, sides, past = (
        run.context,
        run.context.baseline_match,
        run.context.study.pooled_baseline,
    )
    baseline = sides.baseline
    yield from run.messages
    if run.gate_runner.names_awaiting_baseline:
        yield NO_BASELINE_YET_NOTE(rules=len(run.gate_runner.names_awaiting_baseline))
    yield from _useless_rule_messages(run)
    yield from context.study.reading_messages
    if past is not None:
        fewest_runs, role = past.fewest_runs
        message = RUNS_POOLED_NOTE if fewest_runs > 1 else ONE_HISTORY_RUN_WARNING
        yield message(runs=max(past.runs_by_amount[""].pooled_run_count_by_series.values()))
        if 1 < fewest_runs < _MIN_RUNS_FOR_VARIATION:
            yield FEW_HISTORY_RUNS_WARNING(
                runs=fewest_runs, noun=AMOUNT_UNITS_AND_NOUNS[role][1] if role else ""
            )
    yield from reading_notes(context.study.counts)
    pairs = [
        comparison_on_shared_tasks(*pair)
        for pair in context.paired_values(context.general_metrics[:1])
    ]
    pairs = [pair for pair in pairs if not pair.reason]
    yield from benchmark_disagreement_warning(sides.counts, pairs)
    if (
        sides.baseline_is_other_file
        and baseline is not None
        and sides.baseline_label != SELF_BASELINE_LABEL
    ):
        for diagnostic in reading_notes(baseline):
            yield diagnostic.with_prefix(f"baseline {sides.baseline_label}")
        # Messages about missing outcomes compare the new run with its baseline.
        facts_of_runs = sides.counts.read_facts, baseline.read_facts
        if any(facts.missing_outcomes is not None for facts in facts_of_runs):
            new_losses, old_losses = sides.counts.missing_outcomes, baseline.missing_outcomes
            losses = new_losses.with_baseline(old_losses, "baseline")
            yield from uneven_missing_notes(losses, facts_of_runs[0].missing_policy, "baseline ")
    yield from copied_runs_warning(context.duplicate_runs)
    for old, new in sides.possible_model_renamings:
        yield RENAMED_MODEL_WARNING(old=old, new=new)
    if (names := sides.sole_possible_model_renaming) is not None:
        yield OTHER_MODEL_NAME_WARNING(old=names[0], new=names[1], baseline=sides.baseline_label)
    shut = {line.result.series for line in run.judgements
            if line.verdict == FAIL and line.rule_text in (EVERY, EVERY_ATTEMPT)}  # fmt: skip
    retried = any(
        map(context.retry_warning, shut & {*context.attempts_by_series_per_expectation[0]})
    )
    if shut and not (sides.baseline_is_other_file or run.suite_name or retried):
        yield OTHER_ATTEMPTS_NOTE(
            models=len({series[0] for series in shut}), baseline=sides.baseline_label
        )
    compares, dropped = run.gate_runner.needs_baseline, context.unpaired_policy == "drop"
    models = {model for model, *_ in sides.series}
    gone = {s: coverage for s, coverage in sides.missing_series.items() if s[0] not in models}
    if gone and sides.baseline_is_other_file:
        # If the new run has a model that the baseline lacks, `--unpaired drop` does not help.
        suggests_fix = not (run.suite_name or dropped) and models <= sides.all_baseline_models
        shared = sorted(models & sides.all_baseline_models)
        diagnostic = BASELINE_MODELS_NOT_RUN_WARNING(
            lost=len({s[0] for s in gone}), models=len(sides.all_baseline_models),
            both=shared[0] if suggests_fix and len(shared) == 1 else "",
            drop="drop" if suggests_fix else "",
        )  # fmt: skip
        yield diagnostic if dropped else replace(diagnostic, severity=NOTE)
    covered = {**context.coverages, **sides.missing_series} if dropped else {}
    covered = {s: coverage for s, coverage in covered.items() if s not in gone}
    for series, coverage in covered.items():
        name = SeriesName(series)
        if coverage is not None and coverage.lost:
            yield BASELINE_TASKS_NOT_RUN_WARNING(
                lost=coverage.lost, tasks=coverage.expected, model=name
            )
        elif coverage is None and compares and sides.base_model(series[0]) is not None:
            yield NOT_COMPARED_WARNING(model=name, reason=sides.reason_not_compared(series))
    if baseline is None:
        yield from _model_lacks_group_messages(context)
    if deciding := sum(line.fails_in_some_case for line in run.judgements):
        yield MISSING_OUTCOMES_DECIDE_WARNING(rules=deciding)


def _model_lacks_group_messages(context: GateContext) -> Iterator[Diagnostic]:
    tasks = context.baseline_match.task_codes_by_candidate
    for group in dict.fromkeys(series[1:] for series in tasks):
        for model in dict.fromkeys(series[0] for series in tasks):
            if (model, *group) not in tasks:
                yield MODEL_LACKS_GROUP_WARNING(model=model, group=SeriesName(group))


def _useless_rule_messages(run: JudgedRun) -> Iterator[Diagnostic]:
    """Messages about rules that no run of this size can pass, or that no run can fail."""
    shut = (FAIL, ERROR, UNDECIDED) if run.gate_runner.on_undecided == FAIL else (FAIL, ERROR)
    for rule in [rule for rule in run.gate_runner.active_rules if isinstance(rule, MaxIncrease)]:
        for rates, base in run.context.paired_values(rule.option_metrics):
            most, mean = rule.option_value[rates.metric], base.mean
            generous = base.has_values and mean + most > _TOO_GENEROUS_LIMIT_FACTOR * mean
            if generous and not isinstance(most, RelativeLimit):
                words = sentence_text(rule.rule_sentence(rates.metric))
                yield GENEROUS_INCREASE_LIMIT_WARNING(
                    rule=words, metric=rates.metric.name, value=f"{mean:.3g}"
                )
    ends = verdicts_if_all_pass_or_fail(run.gate_runner.active_rules, run.context)
    names = {
        (x.rule_index_in_gate, x.result.series, x.result.name): x.rule_text for x in run.judgements
    }
    rules_by_ends = dict.fromkeys((ends[at], rule) for at, rule in names.items() if at in ends)
    for (best, worst), rules in group_pairs(rules_by_ends).items():
        if best == worst:
            yield RULE_VERDICT_CONSTANT_WARNING(rule=rules, verdict=best)
        elif best != PASS:
            yield RULE_CANNOT_DECIDE_WARNING(rule=rules, verb="pass", verdict=best, run="passes")
        elif worst not in shut:
            yield RULE_CANNOT_DECIDE_WARNING(rule=rules, verb="fail", verdict=worst, run="fails")
