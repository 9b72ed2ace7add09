"""A run that goes on, as far as it is: what a look at its first tasks decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rules import Minimum, Relative
from passk_cli.commands.gate.view import Gate
from passk_cli.commands.watch.looks import Look, WatchPlan, digest
from passk_cli.commands.watch.order import Completed, Made, TaskOrder
from passk_cli.errors import DataError
from passk_cli.inference.boundary import LEAST, chances, level_at
from passk_cli.inference.exact import NORMAL
from passk_cli.metrics.registry import Metric, parse
from passk_cli.outcomes.counts import Counts
from passk_cli.settle import Settle
from passk_cli.study.rules import FAIL, PASS, UNDECIDED
from passk_cli.study.study import Study

# How a run that is looked at ends, besides PASS and FAIL.
GIVEN_UP, END = "given up", "end"
# The interval from which the error of an estimate is taken: it never is 0, as a spread may be.
_USUAL = 0.95


def line_of(line: Judgement) -> str:
    """The name of a line in a file of looks."""
    return f"{line.name}: {line.rule}"


@dataclass(frozen=True)
class WatchedRun:
    """A run with what is asked of it.

    study : what was read of it, tasks that are not complete among it.  made : their attempts.
    prior : standard deviation of what differences there are; infinite for any.
    give_up : the chance of a decision below which it ends; None for none.
    """

    # The verdicts that are final.
    final: ClassVar[tuple[str, ...]] = (PASS, FAIL)

    gate: Gate
    study: Study
    plan: WatchPlan
    order: TaskOrder
    made: Made
    prior: float = math.inf
    give_up: float | None = None

    @property
    def models(self) -> frozenset[str]:
        """The models that are judged."""
        return frozenset(model for own in self.made.values() for model in own)

    def going_on(self, looks: Sequence[Look]) -> frozenset[str]:
        """The models whose tasks a look after these counts."""
        return self.models

    def course(self, looks: Sequence[Look]) -> Completed:
        """How far the run is after these looks."""
        return self.order.course(
            self.made, self.going_on(looks), self.plan.attempts, self.plan.planned
        )

    def counted(self, looks: Sequence[Look], tasks: int) -> Counts:
        """The counts of the first tasks of the order, of the models that go on after these looks.

        Errors: DataError where none of these has an outcome.
        """
        counts, going_on = self.study.counts, self.going_on(looks)
        first, out = set(self.course(looks).tasks[:tasks]), self.models - going_on
        try:
            kept = counts.without_tasks([task for task in counts.tasks if task not in first])
        except ValueError:
            raise DataError(
                next(iter(first)), f"none of the first {tasks} tasks has an outcome",
                name="no-attempts",
            ) from None  # fmt: skip
        stays = np.array([series[0] not in out for series in kept.series])[kept.series_codes]
        return kept.of_sizes(kept.n * stays, kept.c * stays) if out else kept

    def judged(self, looks: Sequence[Look], tasks: int, level: float) -> GatePart:
        """The first tasks by each rule, every interval at a level.

        Errors: DataError where the baseline lacks one of them.
        """
        trial = self.gate.trial(replace(self.study, counts=self.counted(looks, tasks)))
        sides = trial.sides
        for series, coverage in trial.coverages.items():
            base = sides.base(series)
            if coverage is not None and coverage.more and base is not None:
                own, theirs = sides.tasks[series].tolist(), set(sides.base_tasks[base].tolist())
                name = sides.counts.tasks[next(code for code in own if code not in theirs)]
                raise DataError(
                    name, "the baseline has no attempts at this task of the plan",
                    name="other-plan",
                    settles=[Settle({"--exclude-task": (name,)}, "leaves it out")],
                )  # fmt: skip
        return GatePart(self.gate.chosen, self.gate.on_undecided, trial).judged(level)

    def look(self, looks: Sequence[Look], *, forecast: bool) -> Look:
        """The look after these.  forecast : whether its chance is asked for."""
        place = len(looks)
        tasks, limit, verdicts = self.plan.sizes[place], self.plan.limits[place], {}
        if math.isfinite(limit):
            lines = self.judged(looks, tasks, level_at(limit)).lines
            verdicts = {line_of(line): line.verdict for _, line in lines}
        look = Look(tasks, digest(self.counted(looks, tasks)), verdicts)
        return replace(look, chance=self.chance([*looks, look])) if forecast else look

    def chance(self, looks: Sequence[Look]) -> float | None:
        """The chance that the rest of the plan decides: that all lines that are open come to pass,
        or one to fail, as if they were independent; None where it is not known."""
        decided, tasks = self.decided(looks), looks[-1].tasks
        share, all_pass, none_fails = tasks / self.plan.planned, 1.0, 1.0
        if share >= 1:
            return 0.0
        part = self.judged(looks[:-1], tasks, _USUAL)
        for place, line in part.lines:
            number, limit = line.fact.estimate, line.limit or 0.0
            if line_of(line) in decided:
                continue
            if number.value is None or number.low is None or number.high is None or number.upper:
                return None
            away = number.value - limit
            if not isinstance(part.rules[place], Minimum):
                away = parse(line.fact.name).sign * number.value + limit
            error = (number.high - number.low) / 2 / NORMAL.inv_cdf((1 + _USUAL) / 2)
            if not 0 < error < math.inf:
                return None
            shares = number.unit == "share" or isinstance(line.limit, Relative)
            prior = self.prior if shares else math.inf
            up, down = chances(away, error, share, self.plan.limits[-1], prior)
            all_pass, none_fails = all_pass * up, none_fails * (1 - down)
        return min(all_pass + 1 - none_fails, 1.0)

    def decided(self, looks: Sequence[Look]) -> dict[str, int]:
        """Each line that is decided → the place of the first look that decided it, which holds."""
        places: dict[str, int] = {}
        for place, look in enumerate(looks):
            for name, verdict in look.verdicts.items():
                if verdict in self.final:
                    places.setdefault(name, place)
        return places

    def ended(self, looks: Sequence[Look]) -> str:
        """How the run ends after these looks: PASS, FAIL, GIVEN_UP, END; "" where it goes on."""
        if not looks:
            return ""
        last, decided = looks[-1], self.decided(looks)
        if FAIL in (looks[place].verdicts[name] for name, place in decided.items()):
            return FAIL
        if last.verdicts and last.verdicts.keys() <= decided.keys():
            return PASS
        if last.tasks == self.plan.planned:
            return END
        if self.give_up is not None and last.chance is not None and last.chance < self.give_up:
            return GIVEN_UP
        return ""

    def lines(self, looks: Sequence[Look]) -> GatePart:
        """The part at the last look, each line that was decided before as it was at that look; what
        would decide the others is said by the plan."""
        decided, parts = self.decided(looks), dict[int, GatePart]()
        for place in {len(looks) - 1, *decided.values()}:
            limit, tasks = self.plan.limits[place], looks[place].tasks
            level = level_at(limit) if math.isfinite(limit) else 1 - LEAST
            parts[place] = self.judged(looks[:place], tasks, level)
        every = {(place, line_of(own)): (at, own) for place, part in parts.items()
                 for at, own in part.lines}  # fmt: skip
        names = dict.fromkeys((*decided, *(line_of(own) for _, own in parts[len(looks) - 1].lines)))
        lines = [every[decided.get(name, len(looks) - 1), name] for name in names]
        lines.sort(key=lambda line: line[0])
        return replace(parts[len(looks) - 1], lines=tuple(
            (at, line if line_of(line) in decided or line.verdict not in (PASS, FAIL, UNDECIDED)
             else replace(line, verdict=UNDECIDED, reason="",
                          failing=line.failing and line.verdict == UNDECIDED))
            for at, line in lines
        ))  # fmt: skip


class Race(WatchedRun):
    """Models of which the best is looked for: those behind the leader are stopped.

    A model is stopped where its mean is significantly below that of the leader of this look, by the
    rule --max-drop METRIC=0 with the leader as the baseline.  With the spending 2 α / (M − 1) in
    place of α, the best of M is stopped with a chance of α at most, over all looks.
    """

    final = (FAIL,)

    @property
    def metric(self) -> Metric:
        """The metric by which the best is looked for."""
        metric: Metric = next(iter(self.gate.max_drop))
        return metric

    def going_on(self, looks: Sequence[Look]) -> frozenset[str]:
        return self.models - {name.rpartition(": ")[0] for name in self.decided(looks)}

    def judged(self, looks: Sequence[Look], tasks: int, level: float) -> GatePart:
        """The models that go on against their leader."""
        study = replace(self.study, counts=self.counted(looks, tasks))
        means = {each.series[0]: each.mean for each in study.values([self.metric])}
        leader = max(sorted(means), key=lambda model: means[model])
        gate = replace(self.gate, baseline=leader)
        return GatePart(gate.chosen, PASS, gate.trial(study)).judged(level)

    def chance(self, looks: Sequence[Look]) -> None:
        """Not known."""

    def ended(self, looks: Sequence[Look]) -> str:
        """PASS where one model is left, END at the end of the plan, "" where it goes on."""
        if looks and len(self.going_on(looks)) == 1:
            return PASS
        return END if looks and looks[-1].tasks == self.plan.planned else ""
