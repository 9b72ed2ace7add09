"""One rule judged for one candidate: the number that speaks for it, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passk_cli.commands.gate.sentences import of_both_ends, of_nothing
from passk_cli.commands.gate.verdicts import ERROR, FAIL, PASS, UNDECIDED
from passk_cli.report.model import Check, Estimate, Sentence
from passk_cli.report.words import series_name
from passk_cli.study.fact import Fact, across

if TYPE_CHECKING:
    from passk_cli.commands.gate.sides import Coverage


@dataclass(frozen=True)
class Judgement:
    """A rule about a candidate's series.

    fact : the number it is judged by.  counted : what is shown instead, as "24 of 60".
    details : what else the reader has to know, such as what the verdict leaves out.
    limit : the rule's number.  covered : what the candidate has of the baseline's tasks.
    shut : whether it fails for some outcomes that are missing, so that it shuts the gate though
        the verdict is undecided.
    words : the rule as people read it.  finding : what the number shows, as a clause.
    """

    rule: str
    fact: Fact
    verdict: str = PASS
    details: tuple[str, ...] = ()
    counted: str = ""
    limit: float | None = None
    covered: Coverage | None = None
    shut: bool = False
    words: Sentence = ()
    finding: Sentence = ()

    def judged(self, verdict: str, *details: str, finding: Sentence) -> Judgement:
        """The same with a verdict and what it rests on, its reason before the other details."""
        every = (*details, *self.details)
        return replace(self, verdict=verdict, details=every, finding=finding)

    def unchecked(self, reason: str) -> Judgement:
        """The same where the rule cannot be checked."""
        nothing = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                          more={})  # fmt: skip
        why = f"cannot be checked: {reason}"
        return replace(self, fact=nothing, counted="").judged(
            ERROR, why, finding=of_nothing(self.fact, self.words, why)
        )

    @property
    def detail(self) -> str:
        """The details in one line."""
        return "; ".join(filter(None, self.details))

    def check(self, on_undecided: str) -> Check:
        """The same for renderers.

        on_undecided : "fail" where undecided rules shut the gate.  Those that cannot be checked, or
        fail for some outcomes that are missing, always do.
        """
        undecided = self.shut or on_undecided == FAIL
        failing = self.verdict in (FAIL, ERROR, *[UNDECIDED] * undecided)
        details = tuple(filter(None, self.details))
        return Check(
            series_name(self.fact.series), self.rule, self.counted or self.fact.estimate,
            self.verdict, details, failing, *self._tasks, self.words, self.finding,
        )  # fmt: skip

    @property
    def row(self) -> Fact:
        """The same as a tidy row."""
        shared, expected = self._tasks
        more = {"rule": self.rule, "limit": self.limit, "counted": self.counted or None,
                "shared_tasks": shared, "baseline_tasks": expected}  # fmt: skip
        # Limits alone are no test.
        known = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""), flaw=self.detail,
            verdict=self.verdict, more={**known, **more},
        )  # fmt: skip

    @property
    def _tasks(self) -> tuple[int | None, int | None]:
        coverage = self.covered
        return (None, None) if coverage is None else (coverage.shared, coverage.expected)


def at_both_ends(worst: Judgement, best: Judgement) -> Judgement:
    """One judgement of two: with missing outcomes as bad for the candidate as can be, and as good.

    A rule that comes to the same at both ends holds (or fails, or is undecided) whatever the
    missing outcomes are.  Where the ends differ it is undecided, and shuts the gate if it fails in
    the worst case: a gate passes only what it would pass with any outcomes.
    """
    if ERROR in (worst.verdict, best.verdict):
        return worst if worst.verdict == ERROR else best
    same = [detail for detail in worst.details if detail in best.details]
    own = [
        f"{case}: {'; '.join(details)}"
        for case, line in (("worst case", worst), ("best case", best))
        if (details := [detail for detail in line.details if detail and detail not in same])
    ]
    fact = across(worst.fact, best.fact)
    finding = of_both_ends(fact, (worst.verdict, worst.finding), (best.verdict, best.finding))
    merged = replace(worst, fact=fact, details=(*own, *same), finding=finding)
    if worst.verdict == best.verdict:
        return merged
    verb = {PASS: "passes", FAIL: "fails", UNDECIDED: "is undecided"}
    words = f"{verb[worst.verdict]} in the worst case and {verb[best.verdict]} in the best"
    return replace(
        merged.judged(UNDECIDED, words, finding=finding), shut=FAIL in (worst.verdict, best.verdict)
    )
