"""The judgement of one gate rule about one candidate: evidence, verdict and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passk_cli.commands.gate.evidence import PartOfTotal, TaskCoverage
from passk_cli.diagnostic import fill_template
from passk_cli.report.data_types import Estimate, GateCheck, PhraseCell, Sentence
from passk_cli.report.phrases import SeriesName
from passk_cli.study.result import Result, range_result_between
from passk_cli.study.significance_options import ERROR, FAIL, PASS, UNDECIDED

UNCHECKED_PREFIX = "cannot be checked: "
_UNCHECKED_TEMPLATE = "{rule} of {model} " + UNCHECKED_PREFIX + "{reason}"
_WORST_AND_BEST_CASE_TEMPLATE = "{model}, {rule}: {evidence}; {cases}"


@dataclass(frozen=True)
class Judgement:
    """The judgement of one rule about one candidate, shown as a row of the gate's report.

    rule_template : template of the rule in words.  rule_index_in_gate : index of the rule in the
        gate.
    count_evidence : evidence that replaces the estimate of `result`.
    finding_template, template_fields : template and fields of the sentence about the evidence.
    detail_notes : further notes, for example about tasks that the verdict leaves out.
    task_coverage : number of baseline tasks that the candidate has.
    fails_in_some_case : whether the rule fails for some values of the missing outcomes. The rule
        then fails the gate, although the verdict is undecided.
    lacks_data : whether there are no data to judge.
    subject_name : the model and its groups, or the number of models in a row about several models.
    subject_noun : noun for the subject of the row if it is not a model, a group or a suite.
    """

    rule_template: str
    result: Result
    verdict: str = PASS
    finding_template: str = ""
    template_fields: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    detail_notes: tuple[str, ...] = ()
    count_evidence: PartOfTotal | None = None
    limit: float | None = None
    lacks_data: bool = False
    task_coverage: TaskCoverage | None = None
    rule_index_in_gate: int = -1
    fails_in_some_case: bool = False
    fails_gate: bool = False
    subject_name: str = ""
    subject_noun: str = ""

    @property
    def rule_sentence(self) -> Sentence:
        """The rule in words, with each number as a separate piece."""
        return tuple(filter(None, fill_template(self.rule_template, self.template_fields)))

    @property
    def rule_text(self) -> str:
        return sentence_text(self.rule_sentence)

    @property
    def finding_sentence(self) -> Sentence:
        """The pieces of the sentence about the evidence."""
        fields = {
            "rule": PhraseCell(self.rule_sentence),
            "model": SeriesName(self.result.series),
            **self.template_fields,
        }
        return tuple(
            piece
            for piece in flattened_pieces(fill_template(self.finding_template, fields))
            if piece
        )

    @property
    def finding_text(self) -> str:
        return sentence_text(self.finding_sentence)

    @property
    def evidence(self) -> Estimate | str:
        return str(self.count_evidence) if self.count_evidence else self.result.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.reason, *self.detail_notes)))

    def as_error(self, reason: str, *, absent: bool = False) -> Judgement:
        """Turn the judgement into an error with the reason why the rule cannot be checked."""
        fact = replace(self.result, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       extra_fields={})  # fmt: skip
        return replace(
            self, result=fact, verdict=ERROR, finding_template=_UNCHECKED_TEMPLATE,
            reason=UNCHECKED_PREFIX + reason,
            template_fields={**self.template_fields, "reason": reason}, count_evidence=None,
            lacks_data=absent,
        )  # fmt: skip

    def with_fails_gate_set(self, on_undecided: str, place: int = -1) -> Judgement:
        """Copy the judgement, and set `fails_gate`, `rule_index_in_gate` and `subject_name`.

        on_undecided : "fail" if undecided rules fail the gate.  The gate always fails if a rule
            cannot be checked, or fails for some values of the missing outcomes.
        """
        undecided = self.verdict == UNDECIDED and (self.fails_in_some_case or on_undecided == FAIL)
        return replace(
            self, fails_gate=undecided or self.verdict in (FAIL, ERROR), rule_index_in_gate=place,
            subject_name=SeriesName(self.result.series),
        )  # fmt: skip

    @property
    def gate_check(self) -> GateCheck:
        return GateCheck(
            self.subject_name,
            self.rule_text,
            self.verdict,
            self.notes,
            self.fails_gate,
            self.finding_sentence,
        )

    @property
    def result_with_verdict(self) -> Result:
        # A rule that uses an interval has no test, so the test fields of the rule are None instead
        # of empty strings.
        tested = {
            name: None if value == "" else value for name, value in self.result.extra_fields.items()
        }
        return replace(
            self.result, estimate=replace(self.result.estimate, reason=""),
            interval_flaw="; ".join(self.notes), verdict=self.verdict, extra_fields=tested,
        )  # fmt: skip


def sentence_text(sentence: Sentence) -> str:
    """The text of a sentence, in which limits from the user are not rounded."""
    pieces = flattened_pieces(sentence)
    return "".join(f"{p[0]:g}" if isinstance(p, tuple) else str(p) for p in pieces)


def flattened_pieces(sentence: Sentence) -> Iterator[Any]:
    """Yield the pieces of a sentence, including the pieces of nested phrases."""
    for piece in sentence:
        if isinstance(piece, PhraseCell):
            yield from flattened_pieces(piece.pieces)
        else:
            yield piece


def join_worst_and_best(worst: Judgement, best: Judgement) -> Judgement:
    """Join the judgements of a rule for the worst and the best case of the missing outcomes.

    If the verdicts differ and neither of them is error, the joined verdict is undecided. If one of
    the verdicts is fail, the gate fails, because a gate passes only if it would pass for all values
    of the missing outcomes.
    """
    verdicts = worst.verdict, best.verdict
    if ERROR in verdicts:
        return worst if worst.verdict == ERROR else best
    shared = tuple(note for note in worst.notes if note in best.notes)
    case_notes = tuple(
        f"{case}: {note}"
        for case, line in (("worst case", worst), ("best case", best))
        for note in line.notes
        if note not in shared
    )
    verdict, reason, cases = worst.verdict, "", f"{worst.verdict} in the worst and the best case"
    if worst.verdict != best.verdict:
        verdict = UNDECIDED
        reason = cases = f"worst case: {worst.verdict}, best case: {best.verdict}"
    line = replace(
        worst, result=range_result_between(worst.result, best.result), verdict=verdict,
        reason=reason,
        detail_notes=(*case_notes, *shared), fails_in_some_case=bool(reason) and FAIL in verdicts,
    )  # fmt: skip
    if not reason and worst.count_evidence is not None:
        return line
    fields = {**line.template_fields, "evidence": line.evidence, "cases": cases}
    return replace(line, finding_template=_WORST_AND_BEST_CASE_TEMPLATE, template_fields=fields)
