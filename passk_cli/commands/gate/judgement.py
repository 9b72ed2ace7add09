"""One rule judged for one candidate: the number that speaks for it, a verdict, and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from passk_cli.commands.gate.sides import Counted, Coverage
from passk_cli.inference.alarms import Odds, false_alarm
from passk_cli.report.model import Check, Estimate, Sentence
from passk_cli.report.words import SeriesName
from passk_cli.study.fact import Fact, range_between
from passk_cli.study.rules import ERROR, FAIL, PASS, UNDECIDED

# A drop that a rehearsal detects is one that fails with this power.
POWER = 0.8


@dataclass(frozen=True)
class Catch:
    """The smallest planted drop that is detected with power 0.8: the gate fails.

    lost : share of the passes that are lost at every task; None where losing all is not enough.
    drop : the same in the metric, with the Monte-Carlo standard error.
    reached : share of the runs that failed at that drop, or with every pass lost.
    """

    lost: float | None
    drop: Estimate
    reached: float


@dataclass(frozen=True)
class Rehearsed:
    """Results of the rehearsals of a rule, or of the gate as a whole.

    odds : at the estimated rates.  predicted : at rates as uncertain as the data leave them.
    catch : the smallest drop that it detects; None of the whole gate.
    best, worst : verdicts on a run that passes everything, and one that passes nothing.
    """

    odds: Odds
    predicted: Odds
    catch: Catch | None = None
    best: str | None = None
    worst: str | None = None

    @property
    def alarm(self) -> Estimate:
        """The share of false alarms."""
        value, low, high = false_alarm(self.odds, self.predicted)
        return Estimate(value, low=low, high=high)

    @property
    def words(self) -> str:
        """The results in words, for logs of pipelines."""
        words = [
            f"fails {100 * self.odds.share:.1f} % of rehearsals with nothing changed",
            f"predicted failures {100 * self.predicted.share:.1f} %",
        ]
        if self.odds.undecided:
            words.append(f"undecided in {100 * self.odds.open:.1f} %")
        if self.catch is not None:
            value = self.catch.drop.value
            drop = "none" if value is None else f"{value:.3f}"
            drop = "any, it fails without one" if self.catch.lost == 0.0 else drop
            words.append(f"smallest drop detected with power {POWER:g}: {drop}")
        return "; ".join([*words, f"all pass: {self.best}", f"all fail: {self.worst}"])


@dataclass(frozen=True)
class Judgement:
    """A rule about a candidate's series: a row of the gate.

    words : the rule, a number in it as a piece.  fact : the number it is judged by.
    counted : what is shown instead.  limit : the rule's number.
    finding : what the number shows, as a clause.  reason : why the rule is undecided or fails, in
        a few words.
    deed : what a model that fails did, after its name: "lost more than 0.05 of pass@1"; a number
        in it as a piece.
    details : what else the reader has to know, such as what the verdict leaves out.
    covered : the candidate's share of the baseline's tasks.
    fixed_tasks : whether intervals are about these tasks alone.  of_runs : the part of the
        interval's reach that the effect of the run has.
    shut : whether the rule fails for some outcomes that are missing, so that it shuts the gate
        though the verdict is undecided.  failing : whether it shuts the gate.
    name : the model and its groups; of a row about several, how many.
    rehearsed : results of its rehearsals; None where passes and failures do not decide it.
    """

    words: Sentence
    fact: Fact
    verdict: str = PASS
    finding: Sentence = ()
    reason: str = ""
    deed: Sentence = ()
    details: tuple[str, ...] = ()
    counted: Counted | None = None
    limit: float | None = None
    covered: Coverage | None = None
    fixed_tasks: bool = False
    of_runs: float = 0.0
    shut: bool = False
    failing: bool = False
    name: str = ""
    rehearsed: Rehearsed | None = None

    @property
    def rule(self) -> str:
        """The rule as text."""
        return text_of(self.words)

    @property
    def did(self) -> str:
        """The deed of a model that shuts the gate, as text."""
        return f"left {self.rule} undecided" if self.verdict == UNDECIDED else text_of(self.deed)

    @property
    def evidence(self) -> Estimate | str:
        """The number that decides, or what was counted."""
        return str(self.counted) if self.counted else self.fact.estimate

    @property
    def notes(self) -> tuple[str, ...]:
        """The reason and the details."""
        return tuple(filter(None, (self.reason, *self.details)))

    def judged(
        self, verdict: str, finding: Sentence, reason: str = "", notes: Sequence[str] = (),
        counted: Counted | None = None, deed: Sentence = (),
    ) -> Judgement:  # fmt: skip
        """The judgement with a verdict; notes come before the other details."""
        return replace(
            self, verdict=verdict, finding=finding, reason=reason, deed=deed,
            details=(*notes, *self.details), counted=counted,
        )  # fmt: skip

    def unchecked(self, reason: str) -> Judgement:
        """The judgement of a rule that cannot be checked."""
        fact = replace(self.fact, estimate=Estimate(None), se=None, p=None, p_adjusted=None,
                       more={})  # fmt: skip
        why = f"cannot be checked: {reason}"
        finding = (*self.words, f" of {SeriesName(self.fact.series)} {why}")
        deed = ("cannot be checked for ", *self.words, f" ({reason})")
        return replace(self, fact=fact).judged(ERROR, finding, why, deed=deed)

    def counting(self, on_undecided: str) -> Judgement:
        """The judgement with whether it shuts the gate.

        on_undecided : "fail" where undecided rules do.  Those that cannot be checked, or fail for
        some outcomes that are missing, always do.
        """
        undecided = self.verdict == UNDECIDED and (self.shut or on_undecided == FAIL)
        return replace(
            self, failing=undecided or self.verdict in (FAIL, ERROR),
            name=SeriesName(self.fact.series),
        )  # fmt: skip

    @property
    def check(self) -> Check:
        """The judgement for formats of pipelines."""
        return Check(
            self.name, self.rule, self.verdict, self.notes, self.failing, self.finding,
        )  # fmt: skip

    @property
    def row(self) -> Fact:
        """The judgement as a tidy row."""
        # Limits alone are no test.
        tested = {name: None if value == "" else value for name, value in self.fact.more.items()}
        return replace(
            self.fact, estimate=replace(self.fact.estimate, reason=""),
            flaw="; ".join(self.notes), verdict=self.verdict, more=tested,
        )  # fmt: skip


def text_of(pieces: Sentence) -> str:
    """Words, with numbers of the user as they were given."""
    return "".join(f"{p[0]:g}" if isinstance(p, tuple) else str(p) for p in pieces)


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
    own = tuple(
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
        details=(*own, *shared), shut=bool(reason) and FAIL in verdicts,
    )  # fmt: skip
    if not reason and all(isinstance(piece, str) for piece in worst.finding):
        return line
    whose = SeriesName(line.fact.series)
    return replace(line, finding=(f"{whose}, ", *line.words, ": ", line.evidence, f"; {cases}"))
