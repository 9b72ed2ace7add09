"""The options of passk plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from passk_cli.cli.options import option

if TYPE_CHECKING:
    from passk_cli.report.designs import Aims


@dataclass(frozen=True)
class Assuming:
    """What is assumed where no pilot tells it."""

    mean: Annotated[
        float | None, option("--mean", metavar="P", help="Without a pilot: mean success rate.")
    ] = None
    spread: Annotated[
        float | None,
        option("--spread", metavar="S", help="Without one: standard deviation of the rates."),
    ] = None
    correlation: Annotated[
        float | None,
        option(
            "--correlation",
            metavar="R",
            help="How alike two models' tasks are: the pilot's, or 0.5.",
        ),
    ] = None


@dataclass(frozen=True)
class Designing:
    """What is asked of the designs."""

    tasks: Annotated[
        str | None,
        option("--tasks", metavar="50,200", help="Numbers of tasks. Default: around the pilot's."),
    ] = None
    attempts: Annotated[
        str | None,
        option("--attempts", metavar="1,10", help="Attempts per task. Default: 1, k and beyond."),
    ] = None
    budget: Annotated[
        float | None,
        option("--budget", metavar="N", help="Attempts to split; money with --cost-per-attempt."),
    ] = None
    max_tasks: Annotated[
        int | None, option("--max-tasks", metavar="N", help="Tasks there are to split it on.")
    ] = None
    detect: Annotated[
        float,
        option("--detect", metavar="X", show_default=True, help="A difference to be detected."),
    ] = 0.05
    power: Annotated[
        float,
        option("--power", metavar="P", show_default=True, help="How surely differences are."),
    ] = 0.8
    level: Annotated[
        float,
        option("--level", metavar="P", show_default=True, help="Of intervals and tests."),
    ] = 0.95
    cost: Annotated[
        float | None,
        option("--cost-per-attempt", metavar="X", help="Shows costs, and budgets in money."),
    ] = None

    def aims(self) -> Aims:
        """The same for the report, checked."""
        from passk_cli.report.designs import Aims, parse_sizes

        tasks = parse_sizes("--tasks", self.tasks, 2, 10**9)
        attempts = parse_sizes("--attempts", self.attempts, 1, 10**5)
        split = tasks, attempts, self.budget, self.max_tasks
        return Aims(*split, self.detect, self.power, self.level, self.cost).checked()
