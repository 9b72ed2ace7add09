"""passk bootstrap: the distribution behind every number."""

from __future__ import annotations

from dataclasses import dataclass, replace
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

    Resamples the tasks, and shows for each metric what the choice of an interval changes. The full
    tables add bias, standard errors, the shares of the variance from tasks and from attempts, and
    how often each model comes first.

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
            "Intervals side by side, e.g. guard,bca,t.",
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
        """Estimates with intervals side by side, bias, standard error, and first in resamples."""
        from passk_cli.commands.bootstrap.view import Distributions
        from passk_cli.study.distribution import choose_methods, distributions, draw_columns
        from passk_cli.study.section import view

        confidence = study.confidence
        methods = choose_methods(study.counts, self.interval, confidence)
        # The signature names all methods; a number by itself has none yet.
        plain = replace(study, confidence=replace(confidence, interval="none"))
        values = plain.values()
        lines = [plain.fact(each) for each in values]
        records = distributions(study, values, methods, self.weights)
        used = dict.fromkeys(fact.method for d in records for fact in d.estimates)
        report = view(
            plain, [Distributions(study, records, lines, methods, self.weights)],
            messages=plain.messages(lines), interval=None, intervals=",".join(used),
            level=confidence.level, population=confidence.population, weights=self.weights,
            cluster=confidence.cluster, bounds=confidence.bounds_text,
            resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip
        columns = {} if self.draws is None else {self.draws: draw_columns(study.counts, records)}
        return replace(report, exports=columns)


COMMAND = Command(
    Bootstrap, (Request, Metrics, Confidence), charts=True, view="passk_cli.commands.bootstrap.view"
)
