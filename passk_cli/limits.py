"""The largest numbers that are computed with; beyond them a request is refused, never wrong.

n, k and sums of them are whole numbers of 64 bits, and keys such as n·(n + 1) + c must be, too;
estimates with n up to 10⁹ are exact to 12 digits.
"""

from __future__ import annotations

from typing import Any

from passk_cli.errors import ParameterError
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

# The maximum number of attempts of one model at one task, and the largest k.
MOST_ATTEMPTS = 1_000_000_000
# The maximum number of resamples, and of numbers that are drawn together (1 GB).
MOST_RESAMPLES = 1_000_000
MOST_DRAWS = 125_000_000
# The maximum number of attempts of a task for methods that go through them one by one, and the
# largest k of a curve of counts.
MOST_STEPS, MOST_CURVE = 100_000, 1_000_000
# The maximum number of bytes of a file of rules or prices, and the deepest nesting in it.
MOST_TOML, MOST_NESTED = 1_000_000, 30
# The maximum number of bytes of a file that lists tasks, with one name per line.
MOST_LISTED = 10_000_000
# The maximum number of columns in a table.
MOST_COLUMNS = 20_000
# The maximum numbers of groups of an answer, chapters of a page, and models on a page.
MOST_GROUPS, MOST_CHAPTERS, MOST_ON_PAGE = 2_000, 100, 1_000
# The maximum number of cells of a table of models by tasks, which are mostly empty.
MOST_EMPTY = 1_000_000
# Advice for an error of memory.
MORE_MEMORY = "read less at once, or give it more memory"
# The maximum number of values in a table of models, or differences, by tasks (300 MB with copies).
MOST_CELLS = 1 << 23
# The maximum number of differences between models, over all metrics (400 MB of results).
MOST_PAIRS = 100_000
# The largest k of a plan, because every design sums over all outcomes of its attempts.
MOST_PLANNED_K = 1_000


def whole_number(
    place: str | OptionValue, text: str, least: int = 1, most: int = MOST_ATTEMPTS
) -> int:
    """The whole number in a text.

    place : the option with its value, or a name that contains the number.
    Only ASCII digits count; "²" and "١" are not numbers.
    Errors: ParameterError for a text that is not a whole number, or is out of range.

    >>> whole_number(OptionValue("-k", "8"), " 8 ")
    8
    """
    digits = text.strip()
    # The length comes first: Python refuses to read numbers of thousands of digits.
    if digits.isascii() and digits.isdigit() and len(digits) <= 20 and least <= int(digits) <= most:
        return int(digits)
    raise ParameterError(place, f"write a whole number, at least {least:,} and at most {most:,}")


def is_nested(value: Any, most: int) -> bool:
    """Whether dicts and lists are nested more deeply than this.

    >>> is_nested([[1]], 1), is_nested([[1]], 2)
    (True, False)
    """
    level = [value]
    for _ in range(most):
        parts = [item.values() if isinstance(item, dict) else item for item in level
                 if isinstance(item, dict | list)]  # fmt: skip
        level = [child for part in parts for child in part]
    return any(isinstance(item, dict | list) for item in level)


def refuse_too_many(
    noun: str, number: int, most: float, *settles: SuggestedFix, place: str | OptionValue = ""
) -> None:
    """Raise ParameterError if there are more than an answer can be given for.

    noun : what is counted.  settles : options for fewer.  place : what has that many.
    """
    if number > most:
        problem = f"{number:,} {noun}, at most {most:,}"
        raise ParameterError(place, problem, name="too-large", settles=settles)


def refuse_many_steps(
    place: str | OptionValue, attempts: int, *settles: SuggestedFix, remedy: str = ""
) -> None:
    """Raise ParameterError if a method would go through more attempts of a task than it can."""
    if attempts > MOST_STEPS:
        problem = f"{attempts:,} attempts at a task are too many to go through one by one"
        problem += f", at most {MOST_STEPS:,}" + (f"; {remedy}" if remedy else "")
        raise ParameterError(place, problem, name="too-large", settles=settles)


def refuse_many_pairs(models: int, pairs: int, *settles: SuggestedFix) -> None:
    """Raise ParameterError if models make more pairs than can be compared.

    pairs : of models, over all metrics.  settles : options for fewer, other than naming models.
    """
    if pairs > MOST_PAIRS:
        raise ParameterError(
            f"{models:,} models have {pairs:,} pairwise differences, but passk compares at most"
            f" {MOST_PAIRS:,}",
            name="too-large",
            settles=[*settles, SuggestedFix({"--model": Placeholder("NAME")}, "keeps some")],
        )


def refuse_many_draws(resamples: int, columns: int) -> None:
    """Raise ParameterError if resamples × columns would not fit into memory."""
    if resamples * columns > MOST_DRAWS:
        raise ParameterError(
            OptionValue("--resamples", str(resamples)),
            f"too many to hold for {columns:,} numbers; at most {MOST_DRAWS // columns:,} here",
            name="too-large",
        )
