"""Options of a plan: assumptions, numbers of tasks and attempts, difference and budget."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.errors import ParameterError
from passk_cli.inference.populations import NEW_TASKS, POPULATIONS
from passk_cli.limits import parse_whole_number
from passk_cli.option import Option
from passk_cli.report.phrases import amount_text, plural
from passk_cli.suggested_fix import OptionWithValue

# A plan has at least 2 and at most 10⁹ tasks, and at least 1 and at most 10⁵ attempts per task.
_TASKS, _ATTEMPTS = (2, 10**9), (1, 10**5)
PILOT_KEYWORD = "pilot"
_BUDGET_PATTERN = re.compile(
    r"([$]?)([0-9.]+(?:e[+-]?[0-9]+)?) ?(usd|dollars?|attempts?|)", re.IGNORECASE
)


def parse_tasks(value: Any) -> tuple[int, ...]:
    """Parse numbers of tasks such as "200,50" into a sorted tuple without repeats.

    >>> parse_tasks(["200,50"])
    (50, 200)
    """
    return _parse_sizes("--tasks", value, *_TASKS)


def parse_attempt_counts(value: Any) -> tuple[int, ...]:
    """Parse numbers of attempts per task such as "1,10" into a sorted tuple without repeats."""
    return _parse_sizes("--attempts", value, *_ATTEMPTS)


def parse_max_tasks_or_pilot(value: Any) -> str:
    """Check that the value of --max-tasks is a number or "pilot", and return the value as text.

    >>> parse_max_tasks_or_pilot(115), parse_max_tasks_or_pilot("pilot")
    ('115', 'pilot')
    """
    text = str(value).strip()
    if text == PILOT_KEYWORD:
        return text
    return str(parse_whole_number(OptionWithValue("--max-tasks", text), text, *_TASKS))


def normalise_budget_text(value: Any) -> str:
    """Parse a budget above 0, which may have a unit, and return it in a standard form.

    >>> [normalise_budget_text(x) for x in (200, "$200", "0.5 usd", "200attempts")]
    ['200', '$200', '$0.5', '200 attempts']
    """
    text = str(value).strip()
    match = _BUDGET_PATTERN.fullmatch(text)
    sign, number, unit = match.groups() if match else ("", "", "")
    dollars, attempts = bool(sign) or unit[:1].lower() in ("u", "d"), unit[:1].lower() == "a"
    amount = _parse_positive_or_return_zero(number)
    if not amount or (dollars and attempts) or (sign and unit):
        # Without quotes, a shell changes $200 to "00" and $1,000 to ",000".
        quoted = " (a shell needs the quotes)" if text[:1] in ("0", ",") else ""
        raise ParameterError(
            OptionWithValue("--budget", text),
            f"the budget must be an amount above 0; write dollars as '$200'{quoted} or 200usd,"
            " attempts as 200attempts",
        )
    return f"{'$' * dollars}{amount:.12g}{' attempts' * attempts}"


def parse_cost_or_pilot(value: Any) -> str:
    """Check that the cost of an attempt is above 0 or "pilot", and return the cost as text.

    >>> parse_cost_or_pilot("$0.25"), parse_cost_or_pilot(0.25), parse_cost_or_pilot("pilot")
    ('0.25', '0.25', 'pilot')
    """
    text = str(value).strip()
    number = text.removeprefix("$")
    if text != PILOT_KEYWORD and not _parse_positive_or_return_zero(number):
        raise ParameterError(
            OptionWithValue("--cost-per-attempt", text),
            "the cost must be an amount above 0 or the word pilot",
        )
    return number


def _parse_positive_or_return_zero(number: str) -> float:
    try:
        amount = float(number)
    except ValueError:
        return 0.0
    return amount if 0.0 < amount < math.inf else 0.0


def _parse_sizes(option: str, value: Any, least: int, most: int) -> tuple[int, ...]:
    text = ",".join(map(str, value))
    try:
        sizes = {parse_whole_number("", part, least, most) for part in text.split(",")}
    except ParameterError:
        raise ParameterError(
            OptionWithValue(option, text),
            f"the sizes must be whole numbers from {least} to {most:,}, for example 50,200",
        ) from None
    return tuple(sorted(sizes))


@dataclass(frozen=True)
class PlanParameters:
    """The options of a plan.

    tasks, attempts : numbers of tasks and of attempts per task; empty for the default numbers.
    budget : budget for one model, in the form of `normalise_budget_text`. A budget without a unit
        is in dollars if attempts have a cost, otherwise in attempts. If `budget` is None, the plan
        uses the default budget.
    """

    # fmt: off
    mean: Annotated[float | None, Option(
        "--mean", "P", "Mean success rate, if you have no pilot.")] = None
    spread: Annotated[float | None, Option(
        "--spread", "S", "Standard deviation of success rates, if you have no pilot.")] = None
    correlation: Annotated[float | None, Option(
        "--correlation", "R", "Correlation between two models' success rates across"
        " tasks.", low=-1,
        high=1,
        detail="If the pilot has several models, the default is their correlation in the pilot."
        " Otherwise, the default is 0.5.")] = None
    tasks: Annotated[tuple[int, ...], Option(
        "--tasks", "50,200", "Numbers of tasks. By default, passk derives the numbers of tasks from"
        " the pilot.", parse=parse_tasks,
    )] = ()
    attempts: Annotated[tuple[int, ...], Option(
        "--attempts", "1,10", "Attempts per task. By default, passk derives the numbers of attempts"
        " from k and the pilot.",
        parse=parse_attempt_counts,
    )] = ()
    budget: Annotated[str | None, Option(
        "--budget", "N", "Budget per model, in attempts or dollars ('$200').",
        parse=normalise_budget_text,
        detail="For a budget in dollars, write '$200' or 200usd. For a budget in attempts, write"
        " 200attempts. A number without a unit means dollars if attempts have a cost (from"
        " --cost-per-attempt or the pilot), and attempts otherwise.")] = None
    max_tasks: Annotated[str | None, Option(
        "--max-tasks", "N|pilot", "Maximum number of tasks.", parse=parse_max_tasks_or_pilot,
        detail="The best split of the budget has at most N tasks. If you write 'pilot' instead of"
        " N, the best split has at most as many tasks as the pilot.")] = None
    cluster: Annotated[str | None, Option(
        "--cluster", "COLUMN", "Column of the pilot that names groups of related tasks.",
        detail="Tasks are related if they share, for example, a repository or a passage. The plan"
        " assumes groups of the same sizes as in the pilot.",
    )] = None
    population: Annotated[str, Option(
        "--population", help="Which tasks you plan for", choices=POPULATIONS,
        detail="With new-tasks, you plan for new tasks that are similar to the tasks of the pilot."
        " With these-tasks, you plan for the tasks of the pilot as a fixed suite. For a fixed"
        " suite, the plan shows how many attempts you need so that two runs of one model differ by"
        " at most --detect by chance.",
        )] = NEW_TASKS
    detect: Annotated[float, Option(
        "--detect", "X", "Difference to detect.", low=0, high=1, excludes_limits=True,
        detail="With --population these-tasks, X is the largest difference that chance may cause.",
        )] = 0.05
    power: Annotated[float, Option(
        "--power", "P", "Probability of detecting the difference.", low=0, high=1,
        excludes_limits=True,
        )] = 0.8
    level: Annotated[float, Option(
        "--level", "P", "Confidence level; tests use the significance level 1 − P.", low=0, high=1,
        excludes_limits=True)] = 0.95
    next: Annotated[bool, Option(
        "--next", help="Compare ways to extend the pilot run.",
        detail="passk shows the standard error after spending the budget on new tasks, on more"
        " attempts, or on more attempts of one model. With --next, --budget is for all models"
        " together, and the default budget is the cost of the pilot.")] = False
    cost_per_attempt: Annotated[str | None, Option(
        "--cost-per-attempt", "X|pilot", "Cost of an attempt in US dollars.",
        parse=parse_cost_or_pilot,
        detail="If you write 'pilot' instead of X, passk uses the mean cost of an attempt in the"
        " pilot. The mean cost is also the default for a --budget in dollars. If the cost column"
        " has another name, use --field cost=COLUMN.")] = None
    # fmt: on

    def check(self) -> None:
        if self.cost_per_attempt is not None:
            parse_cost_or_pilot(self.cost_per_attempt)
        if self.budget is not None:
            normalise_budget_text(self.budget)
        if not 1.0 - self.level < self.power < 1.0:
            raise ParameterError(
                OptionWithValue("--power", f"{self.power:g}"),
                f"the power must be above {1 - self.level:g} (the significance level) and below 1",
            )

    def check_affordable_attempt_count(self) -> None:
        """Raise a ParameterError if the budget does not pay for 1 to 10¹² attempts.

        Call this method only if the unit of the budget and the cost of an attempt are known.
        """
        if self.budget is not None and not 1 <= self.affordable_attempts < 10**12:
            price = (
                f"; an attempt costs ${self.dollars_per_attempt:.3g}"
                if self.is_budget_in_dollars
                else ""
            )
            problem = f"the budget must pay for 1 to 10¹² attempts{price}"
            raise ParameterError(OptionWithValue("--budget", self.budget), problem)

    @property
    def dollars_per_attempt(self) -> float | None:
        """The cost of an attempt in dollars, or None if the options do not set a number."""
        has_amount = self.cost_per_attempt not in (None, PILOT_KEYWORD)
        return float(str(self.cost_per_attempt)) if has_amount else None

    @property
    def has_pilot_dependent_budget_unit(self) -> bool:
        """Whether the budget has no unit, so that the unit depends on costs in the pilot."""
        text = str(self.budget)
        return self.cost_per_attempt is None and text[:1].isdigit() and text[-1:].isdigit()

    @property
    def is_budget_in_dollars(self) -> bool:
        text = str(self.budget)
        return text[:1] == "$" or (self.cost_per_attempt is not None and text[-1:].isdigit())

    @property
    def budget_number(self) -> float:
        return float(str(self.budget).removeprefix("$").removesuffix(" attempts"))

    @property
    def max_split_tasks(self) -> int | None:
        """The maximum number of tasks in a split of the budget, or None if there is no maximum."""
        return None if self.max_tasks is None else int(self.max_tasks)

    @property
    def affordable_attempts(self) -> int:
        unit = (self.dollars_per_attempt or math.inf) if self.is_budget_in_dollars else 1.0
        return math.floor(self.budget_number / unit * (1.0 + 1e-12))

    def budget_remainder(self, attempts: int) -> float:
        if self.is_budget_in_dollars:
            return max(self.budget_number - attempts * (self.dollars_per_attempt or 0.0), 0.0)
        return self.affordable_attempts - attempts

    def budget_amount_text(self, amount: float) -> str:
        """An amount of the budget with a unit as text, for example "$200" or "2,000 attempts"."""
        return (
            amount_text(amount, "$")
            if self.is_budget_in_dollars
            else plural(math.floor(amount), "attempt")
        )

    def cost_of_attempts(self, attempts: int | None) -> float | None:
        """The cost of a number of attempts in dollars, or None if the cost is unknown."""
        unit = self.dollars_per_attempt
        return None if attempts is None or unit is None else attempts * unit
