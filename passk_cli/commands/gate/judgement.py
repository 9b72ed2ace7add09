"""One rule judged for one candidate: the number that speaks for it, a verdict, and its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passk_cli.report.model import Cell, Check, Estimate, Sentence
from passk_cli.report.words import series_name
from passk_cli.study.fact import Fact, across
from passk_cli.study.rules import ERROR, FAIL, PASS, UNDECIDED

if TYPE_CHECKING:
    from passk_cli.study.sides import Coverage


@dataclass(frozen=True)
class Judgement:
    """A rule about a candidate's series.

    words : the rule, a number in it as a piece.  fact : the number it is judged by.
    counted : what is shown instead, as "24 of 60".  limit : the rule's number.
    finding : what the number shows, as a clause.  reason : why the rule is undecided or fails, in
        a few words.
    details : what else the reader has to know, such as what the verdict leaves out.
    covered : the candidate's share of the baseline's tasks.
    shut : whether the rule fails for some outcomes that are missing, so that it shuts the gate
        though the verdict is undecided.
    name : the model and its groups; of a row about several, how many.
    """

    words: Sentence
    fact: Fact
    verdict: str = PASS
    finding: Sentence = ()
    reason: str = ""
    details: tuple[str, ...] = ()
    counted: str = ""
    limit: float | None = None
    covered: Coverage | None = None
    shut: bool = False
    failing: bool = False
    name: str = ""

    @property
    def rule(self) -> str:
        """The rule as text."""
        return "".join(p if isinstance(p, str) else f"{p[0]:g}" for p in self.words)  # type: ignore[index]

    @property
    def evidence(self) -> Estimate | str:
        """The number that decides, or what was counted."""
        return self.counted or self.fact.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        """The reason and the details."""
        return tuple(filter(None, (self.reason, *self.details)))

    def judged(self, verdict: str, finding: Sentence, reason: str = "", *notes: str) -> Judgement:
        """The judgement with a verdict; its notes come before the other details."""
        return replace(
            self, verdict=verdict, finding=finding, reason=reason, details=(*notes, *self.details)
        )

    def unchecked(self, reason: str) -> Judgement:
        """The judgement of a rule that cannot be checked."""
        fact = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       more={})  # fmt: skip
        why = f"cannot be checked: {reason}"
        finding = (*self.words, f" of {series_name(self.fact.series)} {why}")
        return replace(self, fact=fact, counted="").judged(ERROR, finding, why)

    def counting(self, on_undecided: str) -> Judgement:
        """The judgement with whether it shuts the gate.

        on_undecided : "fail" where undecided rules do.  Those that cannot be checked, or fail for
        some outcomes that are missing, always do.
        """
        undecided = self.verdict == UNDECIDED and (self.shut or on_undecided == FAIL)
        name = self.name or series_name(self.fact.series)
        return replace(self, failing=undecided or self.verdict in (FAIL, ERROR), name=name)

    def check(self, rehearsed: str = "") -> Check:
        """The judgement for formats of pipelines."""
        return Check(
            self.name, self.rule, self.evidence, self.verdict, self.notes, self.failing,
            self.finding, rehearsed,
        )  # fmt: skip

    @property
    def row(self) -> Fact:
        """The judgement as a tidy row."""
        covered = self.covered
        more: dict[str, Cell] = {
            "rule": self.rule, "limit": self.limit, "counted": self.counted or None,
            "shared_tasks": None if covered is None else covered.shared,
            "baseline_tasks": None if covered is None else covered.expected,
            "fails": self.failing,
        }  # fmt: skip
        # Limits alone are no test.
        tested = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""),
            flaw="; ".join(self.notes), verdict=self.verdict, more={**tested, **more},
        )  # fmt: skip


def at_both_ends(worst: Judgement, best: Judgement) -> Judgement:
    """One judgement of two: with missing outcomes as bad for the candidate as can be, and as good.

    A rule that comes to the same at both ends holds (or fails, or is undecided) whatever the
    missing outcomes are.  Where the ends differ it is undecided, and shuts the gate if it fails in
    the worst case: a gate passes only what it would pass with any outcomes.
    """
    if ERROR in (worst.verdict, best.verdict):
        return worst if worst.verdict == ERROR else best
    shared = tuple(note for note in worst.notes if note in best.notes)
    own = tuple(
        f"{case}: {note}"
        for case, line in (("worst case", worst), ("best case", best))
        for note in line.notes
        if note not in shared
    )
    fact = across(worst.fact, best.fact)
    verdict, reason = worst.verdict, ""
    if verdict != best.verdict:
        reason = f"worst case: {worst.verdict}, best case: {best.verdict}"
        verdict = UNDECIDED
    finding = worst.finding
    if reason or any(not isinstance(piece, str) for piece in finding):
        evidence = worst.counted or fact.estimate
        cases = reason or f"{verdict} in the worst and the best case"
        finding = (f"{series_name(fact.series)}, ", *worst.words, ": ", evidence, f"; {cases}")
    return replace(
        worst, fact=fact, verdict=verdict, finding=finding, reason=reason, details=(*own, *shared),
        shut=bool(reason) and FAIL in (worst.verdict, best.verdict),
    )  # fmt: skip
