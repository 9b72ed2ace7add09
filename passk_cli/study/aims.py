"""Aims of a plan: the designs asked for, what they are to detect, and at what cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.errors import ParameterError
from passk_cli.limits import whole_number
from passk_cli.option import Option

# Tasks and attempts per task that a design can have.
_TASKS, _ATTEMPTS = (2, 10**9), (1, 10**5)
# The number of tasks of the pilot, and the cost of its attempts.
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


def parse_cost(given: Any) -> str:
    """An amount above 0 as text, or "pilot" for what an attempt of the pilot cost.

    >>> parse_cost(0.25), parse_cost("pilot")
    ('0.25', 'pilot')
    """
    text = str(given).strip()
    try:
        amount = 1.0 if text == PILOT else float(text)
    except ValueError:
        amount = math.nan
    if not 0.0 < amount < math.inf:
        raise ParameterError(f"--cost-per-attempt {text}: write an amount above 0, or pilot")
    return text


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
class Aims:
    """Assumptions where no pilot shows them, and what is asked of the designs.

    tasks, attempts : the designs; usual ones when empty.
    budget : attempts of one model, or money when each has a cost; a usual one when None.
    level : of intervals and tests.
    """

    # fmt: off
    mean: Annotated[float | None, Option(
        "--mean", "P", "Without a pilot: mean success rate.",
    )] = None
    spread: Annotated[float | None, Option(
        "--spread", "S", "Without a pilot: standard deviation over tasks.",
    )] = None
    correlation: Annotated[float | None, Option(
        "--correlation", "R", "Correlation of two models over tasks.", low=-1, high=1,
        detail="Default: the pilot's, or 0.5.",
    )] = None
    tasks: Annotated[tuple[int, ...], Option(
        "--tasks", "50,200", "Numbers of tasks. Default: around the pilot's.", parse=parse_tasks,
    )] = ()
    attempts: Annotated[tuple[int, ...], Option(
        "--attempts", "1,10", "Attempts per task. Default: 1, k and beyond.", parse=parse_attempts,
    )] = ()
    budget: Annotated[float | None, Option(
        "--budget", "N", "Attempts of one model to split; money with --cost-per-attempt.",
    )] = None
    max_tasks: Annotated[str | None, Option(
        "--max-tasks", "N|pilot", "The most tasks there are.", parse=parse_most_tasks,
        detail="The budget is split over so many at most; pilot: as many as the pilot has.",
    )] = None
    cluster: Annotated[str | None, Option(
        "--cluster", "COLUMN", "The pilot's column of groups of related tasks.",
        detail="E.g. repositories or passages; the plan's tasks come in groups of such sizes.",
    )] = None
    detect: Annotated[float, Option("--detect", "X", "Difference to detect.")] = 0.05
    power: Annotated[float, Option("--power", "P", "Power to detect it with.")] = 0.8
    level: Annotated[float, Option(
        "--level", "P", "Confidence level; tests are at 1 minus it.",
    )] = 0.95
    cost_per_attempt: Annotated[str | None, Option(
        "--cost-per-attempt", "X|pilot", "Cost of an attempt; --budget is then money.",
        parse=parse_cost,
        detail="pilot: the mean cost of the pilot's attempts, in US dollars; --field cost=COLUMN"
        " names its column.",
    )] = None
    # fmt: on

    def check(self) -> None:
        """ParameterError for values that no plan can have."""
        if self.cost_per_attempt is not None:
            parse_cost(self.cost_per_attempt)
        cost, budget = self.unit_cost, self.budget
        if not 0.0 < self.level < 1.0:
            raise ParameterError(f"--level {self.level:g}: it must lie between 0 and 1, as 0.95")
        if not 1.0 - self.level < self.power < 1.0:
            raise ParameterError(
                f"--power {self.power:g}: it must lie between {1 - self.level:g} (what the test"
                " reaches without any difference) and 1"
            )
        if not 0.0 < self.detect < 1.0:
            raise ParameterError(f"--detect {self.detect:g}: it must lie between 0 and 1, as 0.05")
        if budget is not None and not 1.0 <= budget / (cost or 1.0) < 1e12:
            raise ParameterError(f"--budget {budget:g}: it must pay for 1 to 10¹² attempts")

    @property
    def unit_cost(self) -> float | None:
        """Cost of an attempt, once "pilot" is an amount; None where attempts cost nothing."""
        known = self.cost_per_attempt not in (None, PILOT)
        return float(str(self.cost_per_attempt)) if known else None

    @property
    def most_tasks(self) -> int | None:
        """Tasks that the budget is split over at most, once "pilot" is a number; None for any."""
        return None if self.max_tasks is None else int(self.max_tasks)

    @property
    def spend(self) -> int:
        """Attempts that the budget pays for."""
        return math.floor((self.budget or 0.0) / (self.unit_cost or 1.0) * (1.0 + 1e-12))

    def cost(self, attempts: int | None) -> float | None:
        """Cost of so many attempts; None where it is not known."""
        unit = self.unit_cost
        return None if attempts is None or unit is None else attempts * unit
