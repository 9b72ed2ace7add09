"""The judgement of one gate rule about one candidate: evidence, verdict and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passk_cli.commands.gate.evidence import CountEvidence, Coverage
from passk_cli.diagnostic import fill_template
from passk_cli.report.data_types import Estimate, GateCheck, Phrase, Sentence
from passk_cli.report.phrases import SeriesName
from passk_cli.study.result import Result, range_between
from passk_cli.study.significance_options import ERROR, FAIL, PASS, UNDECIDED

UNCHECKED = "cannot be checked: "
_UNCHECKED = "{rule} of {model} " + UNCHECKED + "{reason}"
_BOTH_CASES = "{model}, {rule}: {evidence}; {cases}"


@dataclass(frozen=True)
class Judgement:
    """The judgement of one rule about one candidate, which is a row of the gate's report.

    phrase : template of the rule in words.  place : index of the rule in the gate.
    count : evidence that replaces the estimate of `fact`.
    template, fields : template of the sentence about the evidence, and its fields.
    details : further notes, for example about tasks that the verdict leaves out.
    covered : number of baseline tasks that the candidate has.
    shut : whether the rule fails for some values of the missing outcomes. The rule then fails the
        gate, although the verdict is undecided.
    absent : whether there are no data to judge.
    name : the model and its groups, or the number of models in a row about several models.
    noun : word for what `name` names, if the row is not about a model, group or suite.
    """

    phrase: str
    fact: Result
    verdict: str = PASS
    template: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    details: tuple[str, ...] = ()
    count: CountEvidence | None = None
    limit: float | None = None
    absent: bool = False
    covered: Coverage | None = None
    place: int = -1
    shut: bool = False
    failing: bool = False
    name: str = ""
    noun: str = ""

    @property
    def words(self) -> Sentence:
        """The rule in words, with each number as a separate piece."""
        return tuple(filter(None, fill_template(self.phrase, self.fields)))

    @property
    def rule(self) -> str:
        return sentence_text(self.words)

    @property
    def finding(self) -> Sentence:
        """The sentence about the evidence, in pieces."""
        fields = {"rule": Phrase(self.words), "model": SeriesName(self.fact.series), **self.fields}
        return tuple(
            piece for piece in flatten_phrases(fill_template(self.template, fields)) if piece
        )

    @property
    def clause(self) -> str:
        return sentence_text(self.finding)

    @property
    def evidence(self) -> Estimate | str:
        return str(self.count) if self.count else self.fact.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.reason, *self.details)))

    def as_error(self, reason: str, *, absent: bool = False) -> Judgement:
        """Turn the judgement into an error, because the rule cannot be checked for this reason."""
        fact = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       more={})  # fmt: skip
        return replace(
            self, fact=fact, verdict=ERROR, template=_UNCHECKED, reason=UNCHECKED + reason,
            fields={**self.fields, "reason": reason}, count=None, absent=absent,
        )  # fmt: skip

    def with_failing(self, on_undecided: str, place: int = -1) -> Judgement:
        """Copy the judgement, and set `failing`, `place` and `name`.

        on_undecided : "fail" if undecided rules fail the gate.  A rule that cannot be checked, or
            that fails for some values of the missing outcomes, always fails the gate.
        """
        undecided = self.verdict == UNDECIDED and (self.shut or on_undecided == FAIL)
        return replace(
            self, failing=undecided or self.verdict in (FAIL, ERROR), place=place,
            name=SeriesName(self.fact.series),
        )  # fmt: skip

    @property
    def check(self) -> GateCheck:
        return GateCheck(self.name, self.rule, self.verdict, self.notes, self.failing, self.finding)

    @property
    def row(self) -> Result:
        # A rule that uses an interval has no test, so the test fields of the rule are None instead
        # of empty strings.
        tested = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""),
            flaw="; ".join(self.notes), verdict=self.verdict, more=tested,
        )  # fmt: skip


def sentence_text(sentence: Sentence) -> str:
    """A sentence as text, in which the limits that the user gave are not rounded."""
    pieces = flatten_phrases(sentence)
    return "".join(f"{p[0]:g}" if isinstance(p, tuple) else str(p) for p in pieces)


def flatten_phrases(sentence: Sentence) -> Iterator[Any]:
    """Yield the pieces of a sentence, including the pieces of nested phrases."""
    for piece in sentence:
        if isinstance(piece, Phrase):
            yield from flatten_phrases(piece.pieces)
        else:
            yield piece


def join_worst_and_best(worst: Judgement, best: Judgement) -> Judgement:
    """Join the judgements of a rule for the worst and the best case of the missing outcomes.

    If the verdicts differ, the rule is undecided. If one of the verdicts is fail, the rule then
    fails the gate, because a gate passes only if it would pass for all values of the missing
    outcomes.
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
        worst, fact=range_between(worst.fact, best.fact), verdict=verdict, reason=reason,
        details=(*case_notes, *shared), shut=bool(reason) and FAIL in verdicts,
    )  # fmt: skip
    if not reason and worst.count is not None:
        return line
    fields = {**line.fields, "evidence": line.evidence, "cases": cases}
    return replace(line, template=_BOTH_CASES, fields=fields)
