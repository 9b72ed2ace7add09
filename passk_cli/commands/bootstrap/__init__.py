"""passk bootstrap: the distribution behind every number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from passk_cli.commands.command import Command, Question
from passk_cli.files.request import Request
from passk_cli.option import Option, split
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Bootstrap(Question):
    """Bias, standard errors, and intervals of every method.

    Resamples the tasks, and shows for each metric what the choice of an interval changes, which
    share of the variance comes from tasks and which from attempts, and how often each model leads.

    Example: passk bootstrap sample_data/tau_airline.csv -k 1,2 --interval guard,percentile,bca

    Example: passk bootstrap sample_data/tau_airline.csv --weights dirichlet --draws draws.csv
    """

    unbounded: ClassVar[str] = (
        "it resamples one number, and here are two, with all missing outcomes failing and"
        " with all passing; passk estimate has the interval of both, --interval names its"
        " method"
    )

    interval: Annotated[
        tuple[str, ...],
        Option(
            "--interval",
            "METHODS|all",
            "Intervals side by side, as guard,bca,t.",
            parse=split,
            detail="There are guard, percentile, bca, basic, gaffke, jeffreys and t; all: every"
            " one.",
        ),
    ] = ()
    weights: Annotated[
        str,
        Option(
            "--weights",
            help="Ordinary or Bayesian bootstrap",
            choices=("multinomial", "dirichlet"),
        ),
    ] = "multinomial"
    draws: Annotated[
        str | None,
        Option("--draws", "FILE", "Write the draws: .csv, .jsonl or .parquet.", file="written"),
    ] = None

    def report(self, study: Study) -> Report:
        """Estimate, bias, standard error, intervals side by side, and who leads."""
        from passk_cli.commands.bootstrap.distribution import bootstrap_report

        return bootstrap_report(study, self.interval, self.weights, self.draws)


COMMAND = Command(Bootstrap, (Request, Metrics, Confidence), charts=True)
