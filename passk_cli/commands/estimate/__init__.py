"""passk estimate: every metric of every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from passk_cli.commands.command import Command, Question
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Estimation(Question):
    """pass@k and pass^k of every model, with intervals.

    pass@k is the probability that at least one of k attempts passes; pass^k, that all k pass. The
    table has a row per model and a column per metric, each with its 95 % confidence interval.

    Example: passk estimate sample_data/tau_airline.csv

    Example: passk estimate sample_data/cruxeval.jsonl.gz -k 1,5 --by temperature
    """

    sort: Annotated[
        str,
        Option(
            "--sort",
            "COLUMN",
            "Sort rows by a column (default: the first metric).",
            detail="A column is model, a group, a metric or tasks. A minus before the name"
            " reverses the order.",
        ),
    ] = ""

    def report(self, study: Study) -> Report:
        """A row per model, a column per metric."""
        from passk_cli.commands.estimate.view import Estimates, series_order
        from passk_cli.study.pivot import rows_of
        from passk_cli.study.section import view

        facts = study.facts()
        place = {series: at for at, series in enumerate(series_order(study, facts, self.sort))}
        facts.sort(key=lambda fact: place[fact.series])
        estimates = Estimates(study, rows_of(facts))
        return view(study, [estimates], messages=study.messages(facts))


COMMAND = Command(
    Estimation,
    (Request, Metrics, Confidence),
    charts=True,
    methods=True,
    view="passk_cli.commands.estimate.view",
)
