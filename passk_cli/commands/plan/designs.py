"""Designs not yet run: errors and widths, best splits of a budget, what detection needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from passk_cli.arrays import gathered, grouped
from passk_cli.commands.plan.targets import PILOT, PlanTargets
from passk_cli.commands.plan.variance import ASSUMED, MEASURED, VarianceComponents
from passk_cli.inference.design import best_splits, splits
from passk_cli.inference.intervals import DEFAULT
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.rounding import ROUNDING
from passk_cli.report.model import Estimate
from passk_cli.study.result import Result, Size

DESIGN, SPLIT, DETECT = "design", "split", "detect"
_USUAL_TASKS = (50, 200, 800)


@dataclass(frozen=True)
class DesignChoice:
    """A design with the numbers of one metric.

    fact : of that design; its tasks are None where no number of tasks is enough.
    remarks : what distinguishes the design.  cost : of its attempts; None where it is not known.
    """

    fact: Result
    remarks: tuple[str, ...]
    cost: float | None

    @property
    def attempts(self) -> int | None:
        """Attempts of one model."""
        tasks, n, _ = self.fact.size
        return None if tasks is None else tasks * (n or 0)

    @property
    def design(self) -> str:
        """Tasks × attempts per task."""
        tasks, n, _ = self.fact.size
        return f"{'–' if tasks is None else f'{tasks:,}'} × {n:,}"


@dataclass(frozen=True, eq=False)
class Designs:
    """Every metric in the designs asked for, in the best splits, and in those that detect.

    outlooks : one per metric.  asked : what was asked for.  several : whether the pilot has several
    models.  cost : of an attempt of the pilot, where it was measured.
    """

    outlooks: Sequence[VarianceComponents]
    asked: PlanTargets
    several: bool = False
    cost: Estimate | None = None

    @cached_property
    def aims(self) -> PlanTargets:
        """The plan asked for, with the usual designs and budget where none are asked for.

        Around a pilot: a quarter of its tasks, as many, and four times as many; 1, k, its own and
        twice its attempts; what it spent on a model.  Never more tasks than there are.
        """
        asked, pilots = self.asked, [o.pilot for o in self.outlooks if o.pilot is not None]
        ks = [outlook.metric.k for outlook in self.outlooks]
        tasks: tuple[int, ...] = _USUAL_TASKS
        attempts, spent, most = 2 * max(ks), _USUAL_TASKS[1] * max(ks), asked.max_tasks
        if pilots:
            own = max(len(pilot.n) for pilot in pilots)
            tasks = tuple(sorted({max(own // 4, 2), own, 4 * own}))
            attempts = min(pilot.fewest for pilot in pilots)
            spent = max(int(pilot.n.sum()) for pilot in pilots)
            most = str(own) if most == PILOT else most
        if most is not None:
            tasks = tuple(sorted({min(each, int(most)) for each in tasks}))
        usual = {min(ks), max(ks), attempts, 2 * attempts}
        return replace(
            asked, tasks=asked.tasks or tasks, attempts=asked.attempts or tuple(sorted(usual)),
            budget=asked.budget or f"{spent} attempts", max_tasks=most,
        )  # fmt: skip

    @cached_property
    def designs(self) -> list[Result]:
        """Each design asked for, with all metrics."""
        aims = self.aims
        return [
            self.in_design(DESIGN, outlook, tasks, n)
            for tasks in aims.tasks
            for n in aims.attempts
            for outlook in self.outlooks
        ]

    @cached_property
    def splits(self) -> list[Result]:
        """Each best split of the budget, with all metrics."""
        aims, outlooks = self.aims, self.outlooks
        ks = sorted({outlook.metric.k for outlook in outlooks})
        options = sorted({s for k in ks for s in splits(aims.spend, k, aims.most_tasks)})
        errors = {}
        for outlook in outlooks:
            every = [math.sqrt(outlook.variances(n)[0] / tasks) for tasks, n in options]
            # Infinite where there is none.
            errors[outlook.metric.name] = [
                math.inf if math.isnan(error) else max(error, 1e-300) for error in every
            ]
        best = best_splits(options, errors)
        goals = gathered((split, name) for name, split in best.items())
        return [
            self.in_design(SPLIT, outlook, tasks, n, ", ".join(names))
            for (tasks, n), names in goals.items()
            for outlook in outlooks
        ]

    @cached_property
    def facts(self) -> list[Result]:
        """All of them, with the widths of their intervals, those of as many attempts together."""
        detecting = [self.needed(each, n) for n in self.aims.attempts for each in self.outlooks]
        facts = [*self.designs, *self.splits, *detecting]
        outlooks = {outlook.metric.name: outlook for outlook in self.outlooks}
        widths: dict[tuple[str, int | None, int | None], float | None] = {}
        alike = grouped(facts, lambda fact: (fact.name, fact.size.n_min or 0))
        for (name, n), those in alike.items():
            tasks = [fact.size.tasks for fact in those if fact.size.tasks is not None]
            found = outlooks[name].widths(n, tasks, self.aims.level)
            widths |= {(name, n, each): w for each, w in zip(tasks, found, strict=True)}
        return [
            replace(fact, more={**fact.more, "width": widths.get((fact.name, n, tasks))})
            for fact in facts
            for tasks, n, _ in [fact.size]
        ]

    @property
    def reference(self) -> int:
        """The attempts per task that the answer is about: the pilot's, else the largest k; of those
        asked for, the most."""
        first, ks = self.outlooks[0], [outlook.metric.k for outlook in self.outlooks]
        own = max(first.pilot.fewest, first.metric.k) if first.pilot else max(ks)
        return own if own in self.aims.attempts else self.aims.attempts[-1]

    @property
    def correlations(self) -> str:
        """The correlation of each metric: "measured; assumed 0.5 for pass@4"."""
        metrics = gathered(
            (f"{source} {outlook.correlation:g}" if source == ASSUMED else source,
             outlook.metric.name)
            for outlook in self.outlooks for source in [outlook.correlation_source]
        )  # fmt: skip
        if len(metrics) == 1:
            return next(iter(metrics))
        return "; ".join(
            words if words == MEASURED else f"{words} for {', '.join(names)}"
            for words, names in metrics.items()
        )

    @property
    def chosen(self) -> list[DesignChoice]:
        """The designs of the first metric that change a decision.

        Those asked for, or of the usual ones those not smaller than the pilot and with its
        attempts; the best splits of a budget asked for; those that detect the difference.
        """
        first, asked = self.outlooks[0], self.asked
        least = len(first.pilot.n) if first.pilot else 0

        def decisive(fact: Result) -> bool:
            tasks, n, _ = fact.size
            if fact.more["fact"] == DESIGN:
                usual = n == self.reference and (tasks or 0) >= least
                return usual or bool(asked.tasks or asked.attempts)
            if fact.more["fact"] == SPLIT:
                return asked.budget is not None and bool({fact.name, "all"} & {*goals(fact)})
            return tasks is not None

        return self.choices(first.metric.name, decisive)

    def choices(
        self, metric: str, kept: Callable[[Result], bool] = lambda fact: True
    ) -> list[DesignChoice]:
        """The designs with the numbers of a metric, by tasks and attempts, each once."""
        aims, pilot = self.aims, self.outlooks[0].pilot
        own = (len(pilot.n), pilot.fewest) if pilot else None
        facts = (fact for fact in self.facts if fact.name == metric and kept(fact))
        sizes = grouped(facts, lambda f: (f.size.tasks or math.inf, f.size.n_min or 0))
        detecting = [
            size for size, facts in sizes.items()
            if size[0] < math.inf and any(fact.more["fact"] == DETECT for fact in facts)
        ]  # fmt: skip
        fewest = min(detecting, key=lambda size: size[0] * size[1], default=None)
        split = "best split"
        if self.asked.budget is None:
            split += f" of {aims.words(aims.amount)}"
        records = []
        for size in sorted(sizes):
            fact, best = sizes[size][0], [goal for each in sizes[size] for goal in goals(each)]
            total = None if fact.size.tasks is None else fact.size.tasks * size[1]
            rest = round(aims.left(total), 2) if total and {metric, "all"} & {*best} else 0
            difference = fact.more["difference"]
            found = 100 * difference if isinstance(difference, float) else 0.0
            # What rounds to the difference asked for need not detect it.
            short = found > 100 * aims.detect and f"{found:.2g}" == f"{100 * aims.detect:.2g}"
            remarks = {
                "pilot": size == own,
                f"{found:.3g} points": short and f"{found:.3g}" != f"{found:.2g}",
                split: metric in best,
                f"{split} for all metrics": metric not in best and "all" in best,
                f"{aims.words(rest)} left": rest > 0,
                "fewest attempts": size == fewest and len(detecting) > 1,
                "fewest tasks": detecting and size == min(detecting) != fewest,
                "too many tasks": aims.most_tasks is not None and size[0] > aims.most_tasks,
                fact.note: bool(fact.note),
            }
            words = tuple(words for words, holds in remarks.items() if holds)
            records.append(DesignChoice(fact, words, aims.cost(total)))
        return records

    def smallest_difference(
        self, outlook: VarianceComponents, tasks: int, n: int
    ) -> tuple[float | None, str]:
        """The smallest difference that a design detects; None where there is none, and why."""
        if reason := outlook.unknown_difference(n):
            return None, reason
        if outlook.largest_difference <= ROUNDING:
            # Both pass every attempt, or fail every one.
            return None, f"two models around {outlook.values.expected:.4g} cannot differ"
        difference = outlook.test(n, self.aims.level).detectable(tasks, self.aims.power)
        if difference > outlook.largest_difference:
            return None, "too few tasks to detect any difference"
        return difference, ""

    def in_design(
        self, kind: str, outlook: VarianceComponents, tasks: int, n: int, best_for: str = ""
    ) -> Result:
        """A metric in a design: its standard error and the smallest difference it detects."""
        difference, reason = self.smallest_difference(outlook, tasks, n)
        return self._fact(kind, outlook, tasks, n, difference, reason, best_for)

    def needed(self, outlook: VarianceComponents, n: int) -> Result:
        """The tasks that detect the difference asked for, with n attempts of either model."""
        aims, tasks, reason = self.aims, None, outlook.unknown_difference(n)
        if not reason and aims.detect > outlook.largest_difference:
            reason = f"two models around {outlook.values.expected:.4g} cannot differ so much"
        if not reason:
            tasks = outlook.test(n, aims.level).tasks_needed(aims.detect, aims.power)
            reason = "" if tasks else "more than a billion tasks"
        return self._fact(DETECT, outlook, tasks, n, aims.detect, reason)

    def _fact(
        self, kind: str, outlook: VarianceComponents, tasks: int | None, n: int, difference: float
        | None,
        reason: str, best_for: str = "",
    ) -> Result:  # fmt: skip
        """A metric in a design, where it has one: no number of tasks may be enough.

        difference : the smallest one detected, or the one asked for.  reason : why a number is
        missing.  best_for : the metrics, or "all", that a split is best for.
        """
        metric, aims, se = outlook.metric, self.aims, None
        if tasks is not None and not outlook.unknown(n):
            se = math.sqrt(outlook.variances(n)[0] / tasks)
        total = None if tasks is None else tasks * n
        ends = (self.cost.low, self.cost.high) if self.cost else (None, None)
        limits = [None if total is None or end is None else total * end for end in ends]
        return Result(
            outlook.series, metric.name, metric.k,
            Estimate(outlook.values.expected, reason=reason), se=se, size=Size(tasks, n, n),
            method=DEFAULT[NEW_TASKS], level=aims.level,
            more={
                "fact": kind, "best_for": best_for, "attempts_in_all": total,
                "cost": aims.cost(total), "cost_low": limits[0], "cost_high": limits[1],
                "left": None if total is None or kind != SPLIT else aims.left(total),
                "width": None, "difference": difference, "power": aims.power,
                "correlation": outlook.correlation,
                "correlation_source": outlook.correlation_source, "source": outlook.source(n),
            },
        )  # fmt: skip


def goals(split: Result) -> list[str]:
    """The metrics that a split is best for, or "all"."""
    return str(split.more["best_for"]).split(", ")
