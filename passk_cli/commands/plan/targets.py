"""Targets of a plan: the requested designs, the difference to detect, and the budget."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.errors import ParameterError
from passk_cli.inference.populations import NEW_TASKS, POPULATIONS
from passk_cli.limits import whole_number
from passk_cli.option import Option
from passk_cli.report.words import amount_text, plural
from passk_cli.suggested_fix import OptionValue

# Tasks and attempts per task that a design can have.
_TASKS, _ATTEMPTS = (2, 10**9), (1, 10**5)
# The number of tasks of the pilot, and the cost of its attempts.
PILOT = "pilot"
_BUDGET = re.compile(r"([$]?)([0-9.]+(?:e[+-]?[0-9]+)?) ?(usd|dollars?|attempts?|)", re.IGNORECASE)


def parse_tasks(value: Any) -> tuple[int, ...]:
    """Parse numbers of tasks from numbers or texts such as "200,50", ascending and without repeats.

    >>> parse_tasks(["200,50"])
    (50, 200)
    """
    return _parse_sizes("--tasks", value, *_TASKS)


def parse_attempts(value: Any) -> tuple[int, ...]:
    """Parse numbers of attempts per task, ascending and without repeats."""
    return _parse_sizes("--attempts", value, *_ATTEMPTS)


def parse_most_tasks(value: Any) -> str:
    """Parse a number of tasks, as text, or "pilot" for the number of tasks of the pilot.

    >>> parse_most_tasks(115), parse_most_tasks("pilot")
    ('115', 'pilot')
    """
    text = str(value).strip()
    return (
        text
        if text == PILOT
        else str(whole_number(OptionValue("--max-tasks", text), text, *_TASKS))
    )


def parse_budget(value: Any) -> str:
    """Parse a budget above 0, with its unit if it has one.

    >>> [parse_budget(x) for x in (200, "$200", "0.5 usd", "200attempts")]
    ['200', '$200', '$0.5', '200 attempts']
    """
    text = str(value).strip()
    match = _BUDGET.fullmatch(text)
    sign, number, unit = match.groups() if match else ("", "", "")
    dollars, attempts = bool(sign) or unit[:1].lower() in ("u", "d"), unit[:1].lower() == "a"
    amount = _parse_positive(number)
    if not amount or (dollars and attempts) or (sign and unit):
        # A shell turns an unquoted $200 into "00", and $1,000 into ",000".
        quoted = " (a shell needs the quotes)" if text[:1] in ("0", ",") else ""
        raise ParameterError(
            OptionValue("--budget", text),
            f"the budget must be an amount above 0; write dollars as '$200'{quoted} or 200usd,"
            " attempts as 200attempts",
        )
    return f"{'$' * dollars}{amount:.12g}{' attempts' * attempts}"


def parse_cost(value: Any) -> str:
    """Parse dollars above 0, as text, or "pilot" for the mean cost of an attempt of the pilot.

    >>> parse_cost("$0.25"), parse_cost(0.25), parse_cost("pilot")
    ('0.25', '0.25', 'pilot')
    """
    text = str(value).strip()
    number = text.removeprefix("$")
    if text != PILOT and not _parse_positive(number):
        raise ParameterError(
            OptionValue("--cost-per-attempt", text), "the cost must be an amount above 0, or pilot"
        )
    return number


def _parse_positive(number: str) -> float:
    """A number above 0; 0 for any other text."""
    try:
        amount = float(number)
    except ValueError:
        return 0.0
    return amount if 0.0 < amount < math.inf else 0.0


def _parse_sizes(option: str, value: Any, least: int, most: int) -> tuple[int, ...]:
    text = ",".join(map(str, value))
    try:
        sizes = {whole_number("", part, least, most) for part in text.split(",")}
    except ParameterError:
        raise ParameterError(
            OptionValue(option, text),
            f"the sizes must be whole numbers from {least} to {most:,}, for example 50,200",
        ) from None
    return tuple(sorted(sizes))


@dataclass(frozen=True)
class PlanTargets:
    """Assumptions for a plan without a pilot, and the targets of the designs.

    tasks, attempts : the designs; empty for usual ones.
    budget : for one model, as `parse_budget` writes it. Without a unit it is dollars if an attempt
        has a cost, otherwise attempts.  None for a usual budget.
    level : the confidence level of intervals and tests.
    """

    # fmt: off
    mean: Annotated[float | None, Option(
        "--mean", "P", "Without a pilot: mean success rate.")] = None
    spread: Annotated[float | None, Option(
        "--spread", "S", "Without a pilot: standard deviation over tasks.")] = None
    correlation: Annotated[float | None, Option(
        "--correlation", "R", "Correlation of two models over tasks.", low=-1, high=1,
        detail="Default: the pilot's, or 0.5.")] = None
    tasks: Annotated[tuple[int, ...], Option(
        "--tasks", "50,200", "Numbers of tasks. Default: around the pilot's.", parse=parse_tasks,
    )] = ()
    attempts: Annotated[tuple[int, ...], Option(
        "--attempts", "1,10", "Attempts per task. Default: 1, k and beyond.", parse=parse_attempts,
    )] = ()
    budget: Annotated[str | None, Option(
        "--budget", "N", "Attempts or dollars ('$200') of one model to split.", parse=parse_budget,
        detail="200usd is dollars too, and 200attempts is attempts. A plain number is dollars if an"
        " attempt has a cost (--cost-per-attempt, or in the pilot), else attempts.")] = None
    max_tasks: Annotated[str | None, Option(
        "--max-tasks", "N|pilot", "The most tasks that you have.", parse=parse_most_tasks,
        detail="Limits the split of the budget; pilot: as many as the pilot has.")] = None
    cluster: Annotated[str | None, Option(
        "--cluster", "COLUMN", "The pilot's column of groups of related tasks.",
        detail="E.g. repositories or passages; the plan's tasks come in groups of such sizes.",
    )] = None
    population: Annotated[str, Option(
        "--population", help="Plan for", choices=POPULATIONS,
        detail="new-tasks: tasks like those of the pilot; these-tasks: the pilot's tasks as a fixed"
        " suite, and the attempts with which two runs of one model differ by at most --detect by"
        " chance.")] = NEW_TASKS
    detect: Annotated[float, Option(
        "--detect", "X", "Difference to detect.", low=0, high=1, between=True,
        detail="With --population these-tasks, the most that chance may make.")] = 0.05
    power: Annotated[float, Option(
        "--power", "P", "Power to detect it with.", low=0, high=1, between=True)] = 0.8
    level: Annotated[float, Option(
        "--level", "P", "Confidence level; tests are at 1 minus it.", low=0, high=1,
        between=True)] = 0.95
    next: Annotated[bool, Option(
        "--next", help="What to run next: new tasks, attempts, or which model.",
        detail="The same --budget, of all models together, by the standard error it leaves;"
        " default: as much again. A pilot's outcomes never choose tasks.")] = False
    cost_per_attempt: Annotated[str | None, Option(
        "--cost-per-attempt", "X|pilot", "Cost of an attempt in US dollars.", parse=parse_cost,
        detail="pilot: the mean cost of the pilot's attempts, as for a --budget in dollars;"
        " --field cost=COLUMN names its column.")] = None
    # fmt: on

    def check(self) -> None:
        """Raise a ParameterError for values that no plan can have."""
        if self.cost_per_attempt is not None:
            parse_cost(self.cost_per_attempt)
        if self.budget is not None:
            parse_budget(self.budget)
        if not 1.0 - self.level < self.power < 1.0:
            raise ParameterError(
                OptionValue("--power", f"{self.power:g}"),
                f"the power must be above {1 - self.level:g} (the power without any difference) and"
                " below 1",
            )

    def check_budget(self) -> None:
        """Raise a ParameterError for a budget that pays for no attempt, or for too many.

        The unit of the budget and the cost of an attempt must be known.
        """
        if self.budget is not None and not 1 <= self.affordable_attempts < 10**12:
            price = f"; an attempt costs ${self.unit_cost:.3g}" if self.in_dollars else ""
            problem = f"the budget must pay for 1 to 10¹² attempts{price}"
            raise ParameterError(OptionValue("--budget", self.budget), problem)

    @property
    def unit_cost(self) -> float | None:
        """Dollars of an attempt; None if they are not known, or before "pilot" is an amount."""
        has_amount = self.cost_per_attempt not in (None, PILOT)
        return float(str(self.cost_per_attempt)) if has_amount else None

    @property
    def has_open_unit(self) -> bool:
        """Whether the pilot decides if the budget is in dollars or attempts."""
        text = str(self.budget)
        return self.cost_per_attempt is None and text[:1].isdigit() and text[-1:].isdigit()

    @property
    def in_dollars(self) -> bool:
        """Whether the budget is in dollars."""
        text = str(self.budget)
        return text[:1] == "$" or (self.cost_per_attempt is not None and text[-1:].isdigit())

    @property
    def amount(self) -> float:
        """The budget without its unit."""
        return float(str(self.budget).removeprefix("$").removesuffix(" attempts"))

    @property
    def most_tasks(self) -> int | None:
        """The most tasks that the budget is split over; None for any number.

        "pilot" must already be a number.
        """
        return None if self.max_tasks is None else int(self.max_tasks)

    @property
    def affordable_attempts(self) -> int:
        """Attempts that the budget pays for."""
        unit = (self.unit_cost or math.inf) if self.in_dollars else 1.0
        return math.floor(self.amount / unit * (1.0 + 1e-12))

    def remainder(self, attempts: int) -> float:
        """The part of the budget that is left after a number of attempts, in its unit."""
        if self.in_dollars:
            return max(self.amount - attempts * (self.unit_cost or 0.0), 0.0)
        return self.affordable_attempts - attempts

    def words(self, amount: float) -> str:
        """An amount in the unit of the budget, for example "$200" or "2,000 attempts"."""
        return (
            amount_text(amount, "$") if self.in_dollars else plural(math.floor(amount), "attempt")
        )

    def cost(self, attempts: int | None) -> float | None:
        """Dollars of a number of attempts; None if they are not known."""
        unit = self.unit_cost
        return None if attempts is None or unit is None else attempts * unit
