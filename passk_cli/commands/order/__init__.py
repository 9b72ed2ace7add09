"""passk order: whether attempts are independent of their order, as pass@k assumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, parse_k
from passk_cli.study.rules import Rules

if TYPE_CHECKING:
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Order(Question):
    """Whether attempts depend on their order.

    pass@k takes the attempts at a task as independent. Three tests look for a trend over the
    attempts, for a correlation of neighbours, and for pairs that are too alike.

    Example: passk order sample_data/tau_airline.csv

    Example: passk order sample_data/cruxeval.jsonl.gz --where "temperature > 0.5" -k 1,2,4
    """

    unbounded: ClassVar[str] = (
        "a trend is not at its largest when all missing outcomes fail or all pass, but when"
        " the early ones fail and the late ones pass"
    )

    # fmt: off
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,2,4", "first@k beside pass@k at these k.", parse=parse_k,
        detail="Default: 1, 2, 4, … and the most attempts that every task of some model has.",
    )] = ()
    order_from_lines: Annotated[bool, Option(
        "--order-from-lines", help="Attempts were made in the order of the lines.",
        detail="Lines of the files, or rows of a list. Default: by attempt number or time; --field"
        " attempt=COLUMN names it.",
    )] = False
    # fmt: on

    def request(self, options: SharedOptions) -> Request:
        """The request, with the order of the attempts."""
        role = "line" if self.order_from_lines else "attempt"
        return replace(options.request, cluster=options.confidence.cluster, attempts=(role,))

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """first@k and pass@k at each k; ParameterError for a k that no task has attempts for."""
        from passk_cli.metrics.registry import Metric

        most = int(counts.n.max())
        if short := [k for k in self.k if k > most]:
            raise ParameterError(
                f"first@{short[0]} needs {short[0]} attempts; the most any task has is {most}",
                name="too-few-attempts",
            )
        top = max(int(counts.n[counts.rows_of(s)].min()) for s in range(len(counts.series)))
        ks = self.k or (*(1 << i for i in range((top - 1).bit_length())), top)
        return tuple(Metric(family, k) for family in ("first@", "pass@") for k in ks)

    def report(self, study: Study) -> Report:
        """Verdicts for every model, and the numbers behind them."""
        from passk_cli.commands.order.view import order_view

        return order_view(study, by_lines=self.order_from_lines)


COMMAND = Command(
    Order,
    (Request, Metrics, Rules, Confidence),
    without=("metrics", "test", "family", "margin", "unpaired", "bounds"),
    charts=True,
    view="passk_cli.commands.order.view",
)
