"""passk plan: how many tasks, how many attempts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import MOST_PLANNED_K
from passk_cli.option import changed
from passk_cli.study.aims import PILOT, Aims
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Plan(Aims, Question):
    """How many tasks and attempts the next run needs.

    From a pilot file or from assumed success rates: the tasks that a difference needs, the
    difference that designs not yet run detect, their interval widths, and the best split of a
    budget.

    Example: passk plan sample_data/tau_airline.csv --detect 0.05 --budget 5000

    Example: passk plan --mean 0.6 --spread 0.3 --tasks 200,800 --attempts 1,10
    """

    unbounded: ClassVar[str] = "a plan needs one success rate of each task"

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
                raise ParameterError(
                    "--mean and --spread are for planning without a pilot",
                    name="contradicting-options",
                )
            return None
        if self.mean is None or self.spread is None:
            raise ParameterError(
                "nothing to plan from; give the FILE of a pilot, or --mean and --spread, as"
                " --mean 0.6 --spread 0.3",
                name="no-pilot",
            )
        if self.max_tasks == PILOT:
            raise ParameterError(
                "--max-tasks pilot: there is no pilot; name its FILE, or give a number",
                name="no-pilot",
            )
        read = self.cluster or options.metrics.short_tasks != "empty"
        if read or changed(options.request):
            raise ParameterError(
                "without a pilot there is nothing to read or leave out; name its FILE",
                name="no-pilot",
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
                " as pass@10, pass^4 and gpass@8:0.5",
                name="unknown-metric",
            )
        if metric.k > MOST_PLANNED_K:
            raise ParameterError(
                f"{metric.name}: plans are for k up to {MOST_PLANNED_K:,}; choose a smaller k",
                name="too-large",
            )
