"""The judgement of one rule about one candidate: the evidence, the verdict, and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passk_cli.commands.gate.evidence import CountEvidence, Coverage
from passk_cli.diagnostic import fill_template
from passk_cli.report.model import Estimate, GateCheck, Phrase, Sentence
from passk_cli.report.words import SeriesName
from passk_cli.study.result import Result, range_between
from passk_cli.study.rules import ERROR, FAIL, PASS, UNDECIDED

# It precedes the reason why a rule cannot be checked.
UNCHECKED = "cannot be checked: "
_UNCHECKED = "{rule} of {model} " + UNCHECKED + "{reason}"
_BOTH_CASES = "{model}, {rule}: {evidence}; {cases}"


@dataclass(frozen=True)
class Judgement:
    """The judgement of a rule about one candidate, which is a row of the gate.

    phrase : the rule in words, with fields.  place : the place of the rule in the gate.
    fact : the number that it is judged by.  count : evidence that replaces the number.
    limit : the limit of the rule.  reason : why it fails or is undecided, in a few words.
    template, fields : the clause about the evidence.
    details : further notes, for example about tasks that the verdict leaves out.
    covered : how many tasks of the baseline the candidate has.
    shut : whether the rule fails for some values of missing outcomes. It then fails the gate,
        although the verdict is undecided.
    failing : whether it fails the gate.  absent : whether there is nothing to judge.
    name : the model and its groups; for a row about several models, their number.
    noun : the subject of the row, if it differs from that of most rows.
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
        """The rule in words, with numbers as separate pieces."""
        return tuple(filter(None, fill_template(self.phrase, self.fields)))

    @property
    def rule(self) -> str:
        """The rule as text."""
        return sentence_text(self.words)

    @property
    def finding(self) -> Sentence:
        """The clause about the evidence, in pieces."""
        fields = {"rule": Phrase(self.words), "model": SeriesName(self.fact.series), **self.fields}
        return tuple(piece for piece in flatten(fill_template(self.template, fields)) if piece)

    @property
    def clause(self) -> str:
        """The finding as text."""
        return sentence_text(self.finding)

    @property
    def evidence(self) -> Estimate | str:
        """The number that decides, or the count."""
        return str(self.count) if self.count else self.fact.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        """The reason and the details."""
        return tuple(filter(None, (self.reason, *self.details)))

    def as_error(self, reason: str, *, absent: bool = False) -> Judgement:
        """The same judgement as an error: the rule cannot be checked for this reason."""
        fact = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       more={})  # fmt: skip
        return replace(
            self, fact=fact, verdict=ERROR, template=_UNCHECKED, reason=UNCHECKED + reason,
            fields={**self.fields, "reason": reason}, count=None, absent=absent,
        )  # fmt: skip

    def with_failing(self, on_undecided: str, place: int = -1) -> Judgement:
        """The same judgement with `failing`, `place` and `name` set.

        on_undecided : "fail" if undecided rules fail the gate.  Rules that cannot be checked, or
        that fail for some values of missing outcomes, always fail it.
        """
        undecided = self.verdict == UNDECIDED and (self.shut or on_undecided == FAIL)
        return replace(
            self, failing=undecided or self.verdict in (FAIL, ERROR), place=place,
            name=SeriesName(self.fact.series),
        )  # fmt: skip

    @property
    def check(self) -> GateCheck:
        """The judgement for the formats of CI systems."""
        return GateCheck(self.name, self.rule, self.verdict, self.notes, self.failing, self.finding)

    @property
    def row(self) -> Result:
        """The judgement as a tidy row."""
        # A judgement by limits has no test, so empty texts become None.
        tested = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""),
            flaw="; ".join(self.notes), verdict=self.verdict, more=tested,
        )  # fmt: skip


def sentence_text(sentence: Sentence) -> str:
    """A sentence as text, with the numbers of the user unrounded."""
    pieces = flatten(sentence)
    return "".join(f"{p[0]:g}" if isinstance(p, tuple) else str(p) for p in pieces)


def flatten(sentence: Sentence) -> Iterator[Any]:
    """The pieces of a sentence, with nested clauses replaced by their pieces."""
    for piece in sentence:
        if isinstance(piece, Phrase):
            yield from flatten(piece.pieces)
        else:
            yield piece


def join_worst_and_best(worst: Judgement, best: Judgement) -> Judgement:
    """Join the judgements with missing outcomes in the worst and in the best case.

    If both have the same verdict, this is the verdict for all values of the missing outcomes.
    Otherwise the verdict is undecided, and it fails the gate if one case fails: a gate passes only
    if it would pass whatever the missing outcomes are.
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
