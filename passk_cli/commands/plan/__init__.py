"""passk plan: how many tasks, how many attempts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import MOST_PLANNED_K, whole_number
from passk_cli.option import Option, changed
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study

# Tasks and attempts per task that a design can have.
_TASKS, _ATTEMPTS = (2, 10**9), (1, 10**5)
# The number of tasks of the pilot.
PILOT = "pilot"


def parse_tasks(given: Any) -> tuple[int, ...]:
    """Numbers of tasks from numbers or texts as "200,50", ascending and each once.

    >>> parse_tasks(["200,50"])
    (50, 200)
    """
    return _sizes("--tasks", given, *_TASKS)


def parse_attempts(given: Any) -> tuple[int, ...]:
    """Numbers of attempts per task, likewise."""
    return _sizes("--attempts", given, *_ATTEMPTS)


def parse_most_tasks(given: Any) -> str:
    """A number of tasks as text, or "pilot" for those of the pilot.

    >>> parse_most_tasks(115), parse_most_tasks("pilot")
    ('115', 'pilot')
    """
    text = str(given).strip()
    return text if text == PILOT else str(whole_number(f"--max-tasks {text}:", text, *_TASKS))


def _sizes(option: str, given: Any, least: int, most: int) -> tuple[int, ...]:
    text = ",".join(map(str, given))
    try:
        sizes = {whole_number(option, part, least, most) for part in text.split(",")}
    except ParameterError:
        raise ParameterError(
            f"{option} {text}: whole numbers from {least} to {most:,}, as in 50,200"
        ) from None
    return tuple(sorted(sizes))


@dataclass(frozen=True)
class Plan(Question):
    """How many tasks and attempts the next run needs.

    From a pilot file or from assumed success rates: the tasks that a difference needs, the
    difference that designs not yet run detect, their interval widths, and the best split of a
    budget.

    Example: passk plan sample_data/tau_airline.csv --detect 0.05 --budget 5000

    Example: passk plan --mean 0.6 --spread 0.3 --tasks 200,800 --attempts 1,10
    """

    unbounded: ClassVar[str] = "a plan needs one success rate of each task"

    mean: Annotated[float | None, Option("--mean", "P", "Without a pilot: mean success rate.")] = (
        None
    )
    spread: Annotated[
        float | None,
        Option("--spread", "S", "Without a pilot: standard deviation over tasks."),
    ] = None
    correlation: Annotated[
        float | None,
        Option(
            "--correlation", "R", "Correlation of two models over tasks.", low=-1, high=1,
            detail="Default: the pilot's, or 0.5.",
        ),
    ] = None  # fmt: skip
    tasks: Annotated[
        tuple[int, ...],
        Option(
            "--tasks", "50,200", "Numbers of tasks. Default: around the pilot's.", parse=parse_tasks
        ),
    ] = ()
    attempts: Annotated[
        tuple[int, ...],
        Option(
            "--attempts", "1,10", "Attempts per task. Default: 1, k and beyond.",
            parse=parse_attempts,
        ),
    ] = ()  # fmt: skip
    budget: Annotated[
        float | None,
        Option("--budget", "N", "Attempts of one model to split; money with --cost-per-attempt."),
    ] = None
    max_tasks: Annotated[
        str | None,
        Option(
            "--max-tasks", "N|pilot", "The most tasks there are.", parse=parse_most_tasks,
            detail="The budget is split over so many at most; pilot: as many as the pilot has.",
        ),
    ] = None  # fmt: skip
    cluster: Annotated[
        str | None,
        Option(
            "--cluster", "COLUMN", "The pilot's column of groups of related tasks.",
            detail="E.g. repositories or passages; the plan's tasks come in groups of such sizes.",
        ),
    ] = None  # fmt: skip
    detect: Annotated[float, Option("--detect", "X", "Difference to detect.")] = 0.05
    power: Annotated[float, Option("--power", "P", "Power to detect it with.")] = 0.8
    level: Annotated[
        float, Option("--level", "P", "Confidence level; tests are at 1 minus it.")
    ] = 0.95
    cost_per_attempt: Annotated[
        float | None,
        Option("--cost-per-attempt", "X", "Cost of an attempt; --budget is then money."),
    ] = None

    def check(self) -> None:
        """ParameterError for values that no plan can have."""
        cost, budget = self.cost_per_attempt, self.budget
        if not 0.0 < self.level < 1.0:
            raise ParameterError(f"--level {self.level:g}: it must lie between 0 and 1, as 0.95")
        if not 1.0 - self.level < self.power < 1.0:
            raise ParameterError(
                f"--power {self.power:g}: it must lie between {1 - self.level:g} (what the test"
                " reaches without any difference) and 1"
            )
        if not 0.0 < self.detect < 1.0:
            raise ParameterError(f"--detect {self.detect:g}: it must lie between 0 and 1, as 0.05")
        if cost is not None and not 0.0 < cost < math.inf:
            raise ParameterError(f"--cost-per-attempt {cost:g}: it must be above 0")
        if budget is not None and not 1.0 <= budget / (cost or 1.0) < 1e12:
            raise ParameterError(f"--budget {budget:g}: it must pay for 1 to 10¹² attempts")

    @property
    def most_tasks(self) -> int | None:
        """Tasks that the budget is split over at most, once "pilot" is a number; None for any."""
        return None if self.max_tasks is None else int(self.max_tasks)

    @property
    def spend(self) -> int:
        """Attempts that the budget pays for."""
        return math.floor((self.budget or 0.0) / (self.cost_per_attempt or 1.0) * (1.0 + 1e-12))

    def cost(self, attempts: int | None) -> float | None:
        """Cost of so many attempts; None where it is not known."""
        unit = self.cost_per_attempt
        return None if attempts is None or unit is None else attempts * unit

    def request(self, options: SharedOptions) -> Request:
        """The pilot to read, with the clusters of its tasks."""
        return replace(super().request(options), cluster=self.cluster)

    def alone(self, options: SharedOptions) -> Report | None:
        """The plan without a pilot, from assumed success rates."""
        from passk_cli.metrics.registry import standard_metrics

        self.check()
        metrics = (*standard_metrics(options.metrics.k), *options.metrics.metrics)
        _check_metrics(metrics)
        if options.data:
            if self.mean is not None or self.spread is not None:
                raise ParameterError("--mean and --spread are for planning without a pilot")
            return None
        if self.mean is None or self.spread is None:
            raise ParameterError(
                "nothing to plan from; give the FILE of a pilot, or --mean and --spread, as"
                " --mean 0.6 --spread 0.3"
            )
        if self.max_tasks == PILOT:
            raise ParameterError(
                "--max-tasks pilot: there is no pilot; name its FILE, or give a number"
            )
        read = self.cluster or options.metrics.short_tasks != "empty"
        if read or changed(options.request):
            raise ParameterError(
                "without a pilot there is nothing to read or leave out; name its FILE"
            )
        from passk_cli.commands.plan.view import assumed_report

        return assumed_report(tuple(dict.fromkeys(metrics)) or standard_metrics((1, 10)), self)

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The pilot; of the usual k's only the smallest and the largest are planned for."""
        pilot = super().study(options, read)
        ks = sorted({metric.k for metric in pilot.metrics})
        if options.metrics.k or options.metrics.metrics or len(ks) < 3:
            return pilot
        ends = tuple(metric for metric in pilot.metrics if metric.k in (ks[0], ks[-1]))
        hint = f"planned for k = {ks[0]} and {ks[-1]} of {', '.join(map(str, ks))}"
        return replace(pilot, metrics=ends, hint=hint)

    def report(self, study: Study) -> Report:
        """The plan for the model and the pair of models that vary most in a pilot."""
        from passk_cli.commands.plan.view import pilot_report

        return pilot_report(study, self)


COMMAND = Command(
    Plan, (Request, Metrics), files="optional", charts=True, view="passk_cli.commands.plan.view"
)


def _check_metrics(metrics: Iterable[Metric]) -> None:
    """ParameterError for metrics that need more than passes and failures, and for k's whose designs
    would take more than seconds: the cost grows by k²."""
    for metric in metrics:
        if metric.kind.needs:
            raise ParameterError(
                f"{metric.name}: designs are known for metrics of passes and failures,"
                " as pass@10, pass^4 and gpass@8:0.5"
            )
        if metric.k > MOST_PLANNED_K:
            raise ParameterError(
                f"{metric.name}: plans are for k up to {MOST_PLANNED_K:,}; choose a smaller k"
            )
