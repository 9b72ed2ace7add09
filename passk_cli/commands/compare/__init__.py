"""passk compare: which model is better, which cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Compare(Question):
    """Which models differ significantly, and which tie.

    Models are compared task by task, on the tasks they share. Each difference has an interval and a
    p-value, adjusted for the number of tests. With a baseline,
    every model is compared with it alone.

    Example: passk compare sample_data/agents.jsonl -k 1

    Example: passk compare sample_data/cruxeval.jsonl.gz --baseline gpt-4-0613 --by temperature
    """

    baseline: Annotated[
        str | None,
        Option("--baseline", "NAME", "Compare every model with this one only.", of_models=True),
    ] = None
    crossings: Annotated[
        bool, Option("--crossings", help="The k at which one model overtakes another.")
    ] = False
    band: Annotated[
        bool,
        Option("--band", help="Which model leads at which k: differences with a band over all k."),
    ] = False
    sensitivity: Annotated[
        str | None,
        Option(
            "--sensitivity",
            "COLUMN",
            "Repeat without each group of a column.",
            detail="Do the verdicts hold without each group of tasks, and with half the attempts?",
        ),
    ] = None

    def request(self, options: SharedOptions) -> Request:
        """What to read: the baseline as well, and the groups that are left out in turn."""
        request = super().request(options).keeping(self.baseline)
        groups = (self.sensitivity,) if self.sensitivity else ()
        return replace(request, by=tuple(dict.fromkeys((*request.by, *groups))))

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """The metrics, of those that the data as a whole supports."""
        return super().metrics(options, self._whole(counts))

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it; the intervals are those of differences."""
        confidence = options.confidence.required().for_differences()
        return super().study(replace(options, confidence=confidence), read)

    def report(self, study: Study) -> Report:
        """Differences, tests and verdicts; a ranking where all pairs are compared."""
        from passk_cli.commands.compare.report import compare_report
        from passk_cli.commands.compare.sensitivity import sensitivity_table

        tables = []
        if self.sensitivity:
            tables.append(sensitivity_table(study, self.sensitivity, self.baseline))
        whole = replace(study, counts=self._whole(study.counts))
        return compare_report(
            whole, self.baseline, crossings=self.crossings, band=self.band, further=tables
        )

    def _whole(self, counts: Counts) -> Counts:
        """The counts not split by the groups that are left out in turn."""
        return counts.without_group(self.sensitivity) if self.sensitivity else counts


COMMAND = Command(Compare, (Request, Metrics, Rules, Confidence), charts=True)
