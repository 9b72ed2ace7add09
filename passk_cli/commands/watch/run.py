"""A run that goes on, as far as it is: what a look at its first tasks decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rules import Minimum, Relative
from passk_cli.commands.gate.view import Gate
from passk_cli.commands.watch.course import Course
from passk_cli.commands.watch.looks import Look, Plan, digest
from passk_cli.errors import DataError
from passk_cli.inference.boundary import LEAST, chances, level_at
from passk_cli.metrics.registry import parse
from passk_cli.outcomes.counts import Counts
from passk_cli.settle import Settle
from passk_cli.study.rules import FAIL, PASS, UNDECIDED
from passk_cli.study.study import Study

# How a run that is looked at ends.
GIVEN_UP, END = "given up", "end"
# The interval from which the error of an estimate is taken: it never is 0, as a spread may be.
_USUAL = 0.95


def line_of(line: Judgement) -> str:
    """What a line is called in a file of looks."""
    return f"{line.name}: {line.rule}"


@dataclass(frozen=True)
class Run:
    """A run with what is asked of it.

    study : what was read of it, tasks that are not complete among it.
    prior : standard deviation of what differences there are; infinite for any.
    """

    gate: Gate
    study: Study
    plan: Plan
    course: Course
    prior: float

    def counted(self, tasks: int) -> Counts:
        """The counts of the first tasks of the order.

        Errors: DataError where none of them has an outcome.
        """
        first, counts = set(self.course.tasks[:tasks]), self.study.counts
        try:
            return counts.without_tasks([task for task in counts.tasks if task not in first])
        except ValueError:
            raise DataError(
                self.course.tasks[0], f"none of the first {tasks} tasks has an outcome",
                name="no-attempts",
            ) from None  # fmt: skip

    def judged(self, tasks: int, level: float) -> GatePart:
        """The first tasks by each rule, every interval at a level.

        Errors: DataError where the baseline lacks one of them.
        """
        trial = self.gate.trial(replace(self.study, counts=self.counted(tasks)))
        for series, coverage in trial.coverages.items():
            if coverage is not None and coverage.more:
                own, base = trial.sides.tasks[series], trial.sides.base(series)
                theirs = set(trial.sides.base_tasks[base].tolist()) if base else set()
                task = next(code for code in own.tolist() if code not in theirs)
                name = trial.sides.counts.tasks[task]
                raise DataError(
                    name, "the baseline has no attempts at this task of the plan",
                    name="nothing-to-compare",
                    settles=[Settle({"--exclude-task": (name,)}, "leaves it out")],
                )  # fmt: skip
        return GatePart(self.gate.chosen, self.gate.on_undecided, trial).judged(level)

    def look(self, place: int, before: Mapping[str, str], *, forecast: bool) -> Look:
        """The look at a place of the plan.

        before : lines that were decided, with their verdicts.  forecast : whether its chance is
        asked for.
        """
        tasks, limit = self.plan.sizes[place], self.plan.limits[place]
        verdicts = {}
        if math.isfinite(limit):
            lines = self.judged(tasks, level_at(limit)).lines
            verdicts = {line_of(line): line.verdict for _, line in lines}
        chance = self.chance(tasks, {**verdicts, **before}) if forecast else None
        return Look(tasks, digest(self.counted(tasks)), verdicts, chance)

    def chance(self, tasks: int, verdicts: Mapping[str, str]) -> float | None:
        """The chance that the rest of the plan decides: that all lines that are open come to pass,
        or one to fail, as if they were independent; None where it is not known.

        verdicts : of lines that are decided.
        """
        share = tasks / self.plan.planned
        if share >= 1:
            return 0.0
        part, all_pass, none_fails = self.judged(tasks, _USUAL), 1.0, 1.0
        for place, line in part.lines:
            if verdicts.get(line_of(line)) == PASS:
                continue
            fact, limit = line.fact.estimate, line.limit or 0.0
            if (
                fact.value is None
                or fact.low is None
                or fact.high is None
                or fact.upper is not None
            ):
                return None
            away = fact.value - limit
            if not isinstance(part.rules[place], Minimum):
                away = parse(line.fact.name).sign * fact.value + limit
            error = (fact.high - fact.low) / 2 / _ONE_SIDE
            if not 0 < error < math.inf:
                return None
            share_like = fact.unit == "share" or isinstance(line.limit, Relative)
            prior = self.prior if share_like else math.inf
            up, down = chances(away, error, share, self.plan.limits[-1], prior)
            all_pass, none_fails = all_pass * up, none_fails * (1 - down)
        return min(all_pass + 1 - none_fails, 1.0)

    def lines(self, decided: Mapping[str, tuple[str, int]], last: int) -> GatePart:
        """The part at the last look, each line that was decided before as it was at that look.

        decided : of each such line its verdict, and the tasks of the look.  last : tasks counted.
        """
        parts: dict[int, GatePart] = {}
        for tasks in {last, *(tasks for _, tasks in decided.values())}:
            limit = self.plan.limits[self.plan.sizes.index(tasks)]
            part = self.judged(tasks, level_at(limit) if math.isfinite(limit) else 1 - LEAST)
            if not math.isfinite(limit):
                part = replace(part, lines=tuple(
                    (place, replace(line, verdict=UNDECIDED, failing=False))
                    for place, line in part.lines
                ))  # fmt: skip
            parts[tasks] = part
        lines = []
        for place, line in parts[last].lines:
            _, tasks = decided.get(line_of(line), ("", last))
            (line,) = (own for _, own in parts[tasks].lines if line_of(own) == line_of(line))
            # How many tasks would decide is what the plan says.
            lines.append((place, replace(line, reason="") if line.verdict == UNDECIDED else line))
        return replace(parts[last], lines=tuple(lines))


_ONE_SIDE = 1.959963984540054


def decided_by(
    looks: Sequence[Look], planned: int, give_up: float | None
) -> tuple[dict[str, tuple[str, int]], str]:
    """Each line that is decided with its verdict and the tasks of that look; and how the run ends:
    PASS, FAIL, GIVEN_UP, END, or "" where it goes on.

    A line keeps the verdict of the first look that decided it.
    """
    decided: dict[str, tuple[str, int]] = {}
    for look in looks:
        for name, verdict in look.verdicts.items():
            if verdict in (PASS, FAIL):
                decided.setdefault(name, (verdict, look.tasks))
        if any(verdict == FAIL for verdict, _ in decided.values()):
            return decided, FAIL
        if look.verdicts and look.verdicts.keys() <= decided.keys():
            return decided, PASS
        if look.tasks == planned:
            return decided, END
        if give_up is not None and look.chance is not None and look.chance < give_up:
            return decided, GIVEN_UP
    return decided, ""
