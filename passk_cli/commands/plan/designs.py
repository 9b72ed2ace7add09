"""Designs of a run (tasks × attempts), with standard errors, interval widths and best splits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from passk_cli.arrays import group_by, group_pairs
from passk_cli.commands.plan.parameters import PILOT_KEYWORD, PlanParameters
from passk_cli.commands.plan.variance import ASSUMED, MEASURED, VarianceComponents
from passk_cli.inference.design import best_split_by_metric, budget_splits
from passk_cli.inference.intervals import DEFAULT_METHOD_BY_POPULATION
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.rounding import ROUNDING_TOLERANCE
from passk_cli.report.data_types import Estimate
from passk_cli.study.result import Result, SampleSize

DESIGN, SPLIT, DETECT = "design", "split", "detect"
_USUAL_TASKS = (50, 200, 800)


@dataclass(frozen=True)
class DesignWithRemarks:
    """A design of a run for one metric.

    result : the planned result. If no number of tasks is enough, `result.size.tasks` is None.
    remarks : how the design differs from the other designs, for example "best split".
    """

    result: Result
    remarks: tuple[str, ...]
    cost: float | None

    @property
    def attempts_per_model(self) -> int | None:
        tasks, n, _ = self.result.size
        return None if tasks is None else tasks * (n or 0)

    @property
    def design_text(self) -> str:
        """The size of the design (tasks × attempts per task) as text, for example "200 × 4"."""
        tasks, n, _ = self.result.size
        return f"{'–' if tasks is None else f'{tasks:,}'} × {n:,}"


@dataclass(frozen=True, eq=False)
class Designs:
    """All planned designs of a run.

    The designs are the requested designs, the best splits of the budget, and the designs that
    detect the difference of --detect.

    has_several_models : whether the pilot has several models.
    pilot_mean_attempt_cost : mean cost of an attempt in the pilot, if it was measured.
    """

    variance_components: Sequence[VarianceComponents]
    parameters: PlanParameters
    has_several_models: bool = False
    pilot_mean_attempt_cost: Estimate | None = None

    @cached_property
    def parameters_with_defaults(self) -> PlanParameters:
        """The options of the plan, with default designs and a default budget for unset options.

        The default numbers of tasks are 1/4, 1 and 4 times the number of tasks in the pilot, up to
        --max-tasks. The default numbers of attempts per task are the smallest and the largest k,
        the number of attempts in the pilot, and twice that number. The default budget is the number
        of attempts by one model in the pilot.
        """
        targets = self.parameters
        pilots = [o.pilot for o in self.variance_components if o.pilot is not None]
        ks = [components.metric.k for components in self.variance_components]
        tasks: tuple[int, ...] = _USUAL_TASKS
        attempts, spent, most = 2 * max(ks), _USUAL_TASKS[1] * max(ks), targets.max_tasks
        if pilots:
            pilot_tasks = max(len(pilot.n) for pilot in pilots)
            tasks = tuple(sorted({max(pilot_tasks // 4, 2), pilot_tasks, 4 * pilot_tasks}))
            attempts = min(pilot.fewest_attempts for pilot in pilots)
            spent = max(int(pilot.n.sum()) for pilot in pilots)
            most = str(pilot_tasks) if most == PILOT_KEYWORD else most
        if most is not None:
            tasks = tuple(sorted({min(number, int(most)) for number in tasks}))
        usual = {min(ks), max(ks), attempts, 2 * attempts}
        return replace(
            targets, tasks=targets.tasks or tasks,
            attempts=targets.attempts or tuple(sorted(usual)),
            budget=targets.budget or f"{spent} attempts", max_tasks=most,
        )  # fmt: skip

    @cached_property
    def size_grid_results(self) -> list[Result]:
        aims = self.parameters_with_defaults
        return [
            self.result_for_design(DESIGN, components, tasks, n)
            for tasks in aims.tasks
            for n in aims.attempts
            for components in self.variance_components
        ]

    @cached_property
    def best_split_results(self) -> list[Result]:
        aims, metric_components = self.parameters_with_defaults, self.variance_components
        ks = sorted({components.metric.k for components in metric_components})
        options = sorted(
            {
                s
                for k in ks
                for s in budget_splits(aims.affordable_attempts, k, aims.max_split_tasks)
            }
        )
        errors = {}
        for components in metric_components:
            standard_errors = [
                math.sqrt(components.variances(n)[0] / tasks) for tasks, n in options
            ]
            # A split with an unknown standard error must never be the best split.
            errors[components.metric.name] = [
                math.inf if math.isnan(error) else max(error, 1e-300) for error in standard_errors
            ]
        best = best_split_by_metric(options, errors)
        goals = group_pairs((split, name) for name, split in best.items())
        return [
            self.result_for_design(SPLIT, components, tasks, n, ", ".join(names))
            for (tasks, n), names in goals.items()
            for components in metric_components
        ]

    @cached_property
    def planned_results(self) -> list[Result]:
        """The planned results of all designs, with the widths of intervals."""
        detecting = [
            self.detecting_design(components, n)
            for n in self.parameters_with_defaults.attempts
            for components in self.variance_components
        ]
        facts = [*self.size_grid_results, *self.best_split_results, *detecting]
        metric_components = {
            components.metric.name: components for components in self.variance_components
        }
        widths: dict[tuple[str, int | None, int | None], float | None] = {}
        same_size = group_by(facts, lambda fact: (fact.name, fact.size.n_min or 0))
        for (name, n), group in same_size.items():
            tasks = [fact.size.tasks for fact in group if fact.size.tasks is not None]
            interval_widths = metric_components[name].interval_widths(
                n, tasks, self.parameters_with_defaults.level
            )
            widths |= {(name, n, count): w for count, w in zip(tasks, interval_widths, strict=True)}
        return [
            replace(
                fact, extra_fields={**fact.extra_fields, "width": widths.get((fact.name, n, tasks))}
            )
            for fact in facts
            for tasks, n, _ in [fact.size]
        ]

    @property
    def answer_attempts_per_task(self) -> int:
        """The number of attempts per task in the answer.

        The answer uses the number of attempts in the pilot, or the largest k if there is no pilot.
        If the plan does not include this number, the answer uses the plan's largest number.
        """
        first = self.variance_components[0]
        largest_k = max(components.metric.k for components in self.variance_components)
        attempts = max(first.pilot.fewest_attempts, first.metric.k) if first.pilot else largest_k
        return (
            attempts
            if attempts in self.parameters_with_defaults.attempts
            else self.parameters_with_defaults.attempts[-1]
        )

    @property
    def correlation_sources_text(self) -> str:
        """The source of each correlation, for example "measured; assumed 0.5 for pass@4"."""
        metrics = group_pairs(
            (f"{source} {components.correlation:g}" if source == ASSUMED else source,
             components.metric.name)
            for components in self.variance_components for source in [components.correlation_source]
        )  # fmt: skip
        if len(metrics) == 1:
            return next(iter(metrics))
        return "; ".join(
            words if words == MEASURED else f"{words} for {', '.join(names)}"
            for words, names in metrics.items()
        )

    @property
    def main_table_choices(self) -> list[DesignWithRemarks]:
        """The designs of the first metric that the main table shows.

        The table shows the requested designs, the best splits of a requested budget, and designs
        that detect the difference. If no designs are requested, the table shows the default designs
        with as many attempts per task as the pilot and at least as many tasks.
        """
        first, targets = self.variance_components[0], self.parameters
        least = len(first.pilot.n) if first.pilot else 0

        def decisive(fact: Result) -> bool:
            tasks, n, _ = fact.size
            if fact.extra_fields["fact"] == DESIGN:
                usual = n == self.answer_attempts_per_task and (tasks or 0) >= least
                return usual or bool(targets.tasks or targets.attempts)
            if fact.extra_fields["fact"] == SPLIT:
                return targets.budget is not None and bool(
                    {fact.name, "all"} & {*metrics_split_is_best_for(fact)}
                )
            return tasks is not None

        return self.designs_with_remarks_of_metric(first.metric.name, decisive)

    def designs_with_remarks_of_metric(
        self, metric: str, include: Callable[[Result], bool] = lambda fact: True
    ) -> list[DesignWithRemarks]:
        """The different designs of a metric, sorted by number of tasks and by attempts per task."""
        aims, pilot = self.parameters_with_defaults, self.variance_components[0].pilot
        pilot_size = (len(pilot.n), pilot.fewest_attempts) if pilot else None
        facts = (fact for fact in self.planned_results if fact.name == metric and include(fact))
        sizes = group_by(facts, lambda f: (f.size.tasks or math.inf, f.size.n_min or 0))
        detecting = [
            size for size, facts in sizes.items()
            if size[0] < math.inf and any(fact.extra_fields["fact"] == DETECT for fact in facts)
        ]  # fmt: skip
        fewest = min(detecting, key=lambda size: size[0] * size[1], default=None)
        split = "best split"
        if self.parameters.budget is None:
            split += f" of {aims.budget_amount_text(aims.budget_number)}"
        records = []
        for size in sorted(sizes):
            fact = sizes[size][0]
            best = [
                goal
                for design_fact in sizes[size]
                for goal in metrics_split_is_best_for(design_fact)
            ]
            total = None if fact.size.tasks is None else fact.size.tasks * size[1]
            remainder = (
                round(aims.budget_remainder(total), 2) if total and {metric, "all"} & {*best} else 0
            )
            difference = fact.extra_fields["difference"]
            points = 100 * difference if isinstance(difference, float) else 0.0
            short = points > 100 * aims.detect and f"{points:.2g}" == f"{100 * aims.detect:.2g}"
            remarks = {
                "pilot": size == pilot_size,
                f"{points:.3g} points": short and f"{points:.3g}" != f"{points:.2g}",
                split: metric in best,
                f"{split} for all metrics": metric not in best and "all" in best,
                f"{aims.budget_amount_text(remainder)} left": remainder > 0,
                "fewest attempts": size == fewest and len(detecting) > 1,
                "fewest tasks": detecting and size == min(detecting) != fewest,
                "too many tasks": aims.max_split_tasks is not None
                and size[0] > aims.max_split_tasks,
                fact.note: bool(fact.note),
            }
            words = tuple(words for words, holds in remarks.items() if holds)
            records.append(DesignWithRemarks(fact, words, aims.cost_of_attempts(total)))
        return records

    def smallest_difference(
        self, components: VarianceComponents, tasks: int, n: int
    ) -> tuple[float | None, str]:
        """The smallest difference that a design detects, or None and the reason."""
        if reason := components.reason_difference_unknown(n):
            return None, reason
        if components.largest_difference <= ROUNDING_TOLERANCE:
            return (
                None,
                f"two models with means of {components.metric_moments.expected:.4g} cannot differ",
            )
        difference = components.paired_test(
            n, self.parameters_with_defaults.level
        ).detectable_difference(tasks, self.parameters_with_defaults.power)
        if difference > components.largest_difference:
            return None, "too few tasks to detect any difference"
        return difference, ""

    def result_for_design(
        self, kind: str, components: VarianceComponents, tasks: int, n: int, best_for: str = ""
    ) -> Result:
        """The planned result of a metric, with the smallest difference that the design detects."""
        difference, reason = self.smallest_difference(components, tasks, n)
        return self._design_result(kind, components, tasks, n, difference, reason, best_for)

    def detecting_design(self, components: VarianceComponents, n: int) -> Result:
        """The design with n attempts per task and enough tasks for the difference of --detect."""
        aims, tasks, reason = (
            self.parameters_with_defaults,
            None,
            components.reason_difference_unknown(n),
        )
        if not reason and aims.detect > components.largest_difference:
            mean = f"{components.metric_moments.expected:.4g}"
            reason = f"two models with means of {mean} cannot differ that much"
        if not reason:
            tasks = components.paired_test(n, aims.level).tasks_needed(aims.detect, aims.power)
            reason = "" if tasks else "more than a billion tasks"
        return self._design_result(DETECT, components, tasks, n, aims.detect, reason)

    def _design_result(
        self, kind: str, components: VarianceComponents, tasks: int | None, n: int,
        difference: float | None, reason: str, best_for: str = "",
    ) -> Result:  # fmt: skip
        """Create the planned result of a metric in a design.

        tasks : number of tasks, or None if no number of tasks is enough.
        best_for : metrics for which the design is the best split of the budget, or "all".
        """
        metric, aims, se = components.metric, self.parameters_with_defaults, None
        if tasks is not None and not components.reason_standard_error_unknown(n):
            se = math.sqrt(components.variances(n)[0] / tasks)
        total = None if tasks is None else tasks * n
        ends = (
            (self.pilot_mean_attempt_cost.low, self.pilot_mean_attempt_cost.high)
            if self.pilot_mean_attempt_cost
            else (None, None)
        )
        limits = [None if total is None or end is None else total * end for end in ends]
        return Result(
            components.series, metric.name, metric.k,
            Estimate(components.metric_moments.expected, reason=reason), se=se,
            size=SampleSize(tasks, n, n),
            method=DEFAULT_METHOD_BY_POPULATION[NEW_TASKS], level=aims.level,
            extra_fields={
                "fact": kind, "best_for": best_for, "attempts_in_all": total,
                "cost": aims.cost_of_attempts(total), "cost_low": limits[0], "cost_high": limits[1],
                "left": None if total is None or kind != SPLIT else aims.budget_remainder(total),
                "width": None, "difference": difference, "power": aims.power,
                "correlation": components.correlation,
                "correlation_source": components.correlation_source,
                "source": components.data_source_of_standard_error(n),
            },
        )  # fmt: skip


def metrics_split_is_best_for(split: Result) -> list[str]:
    return str(split.extra_fields["best_for"]).split(", ")
