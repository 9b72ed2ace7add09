"""One rule judged for one candidate: the number that speaks for it, a verdict, and its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passk_cli.commands.gate.evidence import CountEvidence, Coverage
from passk_cli.diagnostic import filled
from passk_cli.report.model import Check, Estimate, Phrase, Sentence
from passk_cli.report.words import SeriesName
from passk_cli.study.result import Result, range_between
from passk_cli.study.rules import ERROR, FAIL, PASS, UNDECIDED

# Before the reason why a rule cannot be checked.
UNCHECKED = "cannot be checked: "
_UNCHECKED = "{rule} of {model} " + UNCHECKED + "{reason}"
_BOTH_CASES = "{model}, {rule}: {evidence}; {cases}"


@dataclass(frozen=True)
class Judgement:
    """A rule about a candidate's series: a row of the gate.

    phrase : the rule, with fields.  place : of the rule among those of the gate.
    fact : the number it is judged by.  counted : what is shown instead.
    limit : the rule's number.  reason : why it fails or is undecided, in a few words.
    template, fields : the clause that says what the evidence shows.
    details : what else the reader has to know, such as what the verdict leaves out.
    covered : the candidate's share of the baseline's tasks.
    shut : whether the rule fails for some outcomes that are missing, so that it shuts the gate
        though the verdict is undecided.  failing : whether it shuts the gate.
    absent : whether there is nothing to judge.
    name : the model and its groups; of a row about several, how many.
    noun : the thing that the row is about, if it is another than that of most rows.
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
        """The rule, a number in it as a piece."""
        return tuple(filter(None, filled(self.phrase, self.fields)))

    @property
    def rule(self) -> str:
        """The rule as text."""
        return text_of(self.words)

    @property
    def finding(self) -> Sentence:
        """The clause that says what the evidence shows."""
        fields = {"rule": Phrase(self.words), "model": SeriesName(self.fact.series), **self.fields}
        return tuple(piece for piece in flatten(filled(self.template, fields)) if piece)

    @property
    def clause(self) -> str:
        """The finding as text."""
        return text_of(self.finding)

    @property
    def evidence(self) -> Estimate | str:
        """The number that decides, or what was counted."""
        return str(self.count) if self.count else self.fact.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        """The reason and the details."""
        return tuple(filter(None, (self.reason, *self.details)))

    def as_error(self, reason: str, *, absent: bool = False) -> Judgement:
        """The judgement of a rule that cannot be checked."""
        fact = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       more={})  # fmt: skip
        return replace(
            self, fact=fact, verdict=ERROR, template=_UNCHECKED, reason=UNCHECKED + reason,
            fields={**self.fields, "reason": reason}, count=None, absent=absent,
        )  # fmt: skip

    def with_failing(self, on_undecided: str, place: int = -1) -> Judgement:
        """The judgement with whether it shuts the gate, and the place of its rule.

        on_undecided : "fail" where undecided rules do.  Those that cannot be checked, or fail for
        some outcomes that are missing, always do.
        """
        undecided = self.verdict == UNDECIDED and (self.shut or on_undecided == FAIL)
        return replace(
            self, failing=undecided or self.verdict in (FAIL, ERROR), place=place,
            name=SeriesName(self.fact.series),
        )  # fmt: skip

    @property
    def check(self) -> Check:
        """The judgement for formats of pipelines."""
        return Check(self.name, self.rule, self.verdict, self.notes, self.failing, self.finding)

    @property
    def row(self) -> Result:
        """The judgement as a tidy row."""
        # Limits alone are no test.
        tested = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""),
            flaw="; ".join(self.notes), verdict=self.verdict, more=tested,
        )  # fmt: skip


def text_of(sentence: Sentence) -> str:
    """A sentence as text, with numbers of the user as they were given."""
    pieces = flatten(sentence)
    return "".join(f"{p[0]:g}" if isinstance(p, tuple) else str(p) for p in pieces)


def flatten(sentence: Sentence) -> Iterator[Any]:
    """The pieces of a sentence, those of clauses in it one by one."""
    for piece in sentence:
        if isinstance(piece, Phrase):
            yield from flatten(piece.pieces)
        else:
            yield piece


def at_both_ends(worst: Judgement, best: Judgement) -> Judgement:
    """One judgement of two: with missing outcomes as bad for the candidate as can be, and as good.

    A rule that comes to the same at both ends holds (or fails, or is undecided) whatever the
    missing outcomes are.  Where the ends differ it is undecided, and shuts the gate if it fails in
    the worst case: a gate passes only what it would pass with any outcomes.
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
