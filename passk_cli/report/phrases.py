"""Writes numbers, ranges, lists and names for sentences of all commands."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from decimal import ROUND_HALF_UP, Decimal

from passk_cli.text import (
    OrderedCategoryValue,
    all_in_words,
    first_few,
    join_names,
    names_that_fit,
    plural,
)

__all__ = ["all_in_words", "first_few", "join_names", "names_that_fit", "plural"]


def round_half_up(value: float, decimals: int) -> Decimal:
    """The value, rounded half away from 0.  −0 becomes 0.

    The value is first rounded to 12 digits, because the last binary digits of a sum depend on the
    order of its terms.

    >>> [str(round_half_up(x, 3)) for x in (0.19749999999999998, 0.1975, 0.7425)]
    ['0.198', '0.198', '0.743']
    """
    digits = Decimal(f"{value:.12g}")
    return digits.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) + 0


def number_range(low: int, high: int) -> str:
    """A range as a string, for example "1–3", or "10" if both numbers are equal."""
    return str(low) if low == high else f"{low}–{high}"


def count_range(numbers: Collection[int], noun: str) -> str:
    """The range of several counts, followed by a noun.

    >>> count_range([3, 1], "task"), count_range([1], "task")
    ('1–3 tasks', '1 task')
    """
    number = number_range(min(numbers), max(numbers))
    return f"{number} {noun}{'s' * (number != '1')}"


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """A sort key that puts "task 3" before "task 28", and keeps the order of ordered categories.

    >>> sorted(["t28", "t3", "a10"], key=natural_key)
    ['a10', 't3', 't28']
    """
    if isinstance(name, OrderedCategoryValue):
        return [(0, name.place, str(name))]
    return [
        (0, int(part), part) if part.isdecimal() and len(part) <= 4_000 else (1, 0, part)
        for part in re.findall(r"\d+|\D+", name)
    ]


def tasks_and_attempts(tasks: Collection[int], attempts: Collection[int]) -> str:
    """The number of tasks and of attempts per task, each as a range.

    >>> tasks_and_attempts([800], [10]), tasks_and_attempts([1], [1, 3])
    ('800 tasks × 10 attempts', '1 task × 1–3 attempts')
    """
    return f"{count_range(tasks, 'task')} × {count_range(attempts, 'attempt')}"


class SeriesName(str):
    """The printed name of a series, with the model and the group values as `parts`.

    An empty group value is printed as two quotes.

    >>> name = SeriesName(("gpt-4", "0.2"))
    >>> name, name.parts, name.without_part(1)
    ('gpt-4 0.2', ('gpt-4', '0.2'), 'gpt-4')
    """

    parts: tuple[str, ...]
    separator: str

    def __new__(cls, parts: Sequence[str], joint: str = " ") -> SeriesName:
        name = super().__new__(cls, joint.join(part or '""' for part in parts))
        name.parts, name.separator = tuple(parts), joint
        return name

    def __reduce__(self) -> tuple[type[SeriesName], tuple[Sequence[str], str]]:
        return SeriesName, (self.parts, self.separator)

    def without_part(self, place: int) -> SeriesName:
        """The name without the part at a given index."""
        return SeriesName((*self.parts[:place], *self.parts[place + 1 :]), self.separator)


def metrics_of_models_text(pairs: Sequence[tuple[str, str]]) -> str:
    """A short phrase with the names of results and models.

    pairs : for each result, the name of the result and the name of the model, in any order.

    >>> metrics_of_models_text([("pass@1", "a"), ("pass@2", "b")])
    'pass@1 of a, pass@2 of b'
    >>> pairs = [(k, m) for m in "ab" for k in ("pass@1", "pass@2")] + [("pass@2", "c")]
    >>> metrics_of_models_text(pairs)
    'pass@1, pass@2 of a and 3 results of 2 other models'
    """
    pairs = list(dict.fromkeys(pairs))
    numbers, models = (tuple(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
    if len(pairs) < len(numbers) * len(models):
        if len(pairs) <= 3:
            return first_few([f"{number} of {model}" for number, model in pairs])
        first_numbers = [number for number, model in pairs if model == models[0]]
        results = plural(len(pairs) - len(first_numbers), "result")
        others = plural(len(models) - 1, "other model")
        return f"{first_few(first_numbers)} of {models[0]} and {results} of {others}"
    return f"{first_few(numbers)} of {first_few(models)}"


class MonteCarloP(float):
    """A p-value that was computed from random draws, with its Monte-Carlo error."""

    error: float

    def __new__(cls, p: float, error: float) -> MonteCarloP:
        """Create a p-value with its standard error over the random draws."""
        value = super().__new__(cls, p)
        value.error = error
        return value


def amount_text(amount: float, unit: str) -> str:
    """An amount with its unit, written for people, for example "$0.05" or "20,000 tokens".

    >>> [amount_text(x, "$") for x in (0.05, 2, 1500, 0.0005)]
    ['$0.05', '$2', '$1,500', '$0.0005']
    >>> amount_text(20000, "tokens"), amount_text(1.5, "s")
    ('20,000 tokens', '1.5 s')
    """
    text = f"{amount:,.12g}" if amount >= 1e-4 else f"{amount:.3g}"
    if unit != "$":
        return f"{text} {unit}"
    return f"${amount:,.2f}" if round(amount, 2) == amount != round(amount) else f"${text}"


def duration_text(minutes: float) -> str:
    """A time in seconds, minutes or hours, with at most three digits.

    >>> [duration_text(x) for x in (0, 0.05, 0.7, 59, 75.3, 12000)]
    ['0 s', '3 s', '42 s', '59 min', '1.25 h', '200 h']
    """
    scale, unit = (60.0, "s") if minutes < 1 else (1.0, "min") if minutes < 60 else (1 / 60, "h")
    value = float(f"{scale * minutes:.3g}")
    return f"{value:,.12g} {unit}"


def p_number_text(p: float) -> str:
    """A p-value with two digits and at most four decimals, but no digits below the Monte-Carlo
    error.

    The text has more digits if rounding would make p look exactly like 0.01, 0.05 or 0.1.

    >>> [p_number_text(p) for p in (0.2482, 0.01467, 1.0, 0.00042, 0.00001)]
    ['0.25', '0.015', '1.00', '0.0004', '<0.0001']
    >>> [p_number_text(p) for p in (0.0499, MonteCarloP(0.5064, 0.005), MonteCarloP(2e-4, 1.4e-4))]
    ['0.0499', '0.51', '<0.001']
    """
    error = p.error if isinstance(p, MonteCarloP) and p.error > 0 else 1e-4
    decimals = min(max(math.floor(-math.log10(error)), 1), 4)
    smallest = 10.0**-decimals
    if p < smallest:
        return f"<{smallest:.{decimals}f}"
    digits = min(max(2, 1 - math.floor(math.log10(p))), decimals)
    while digits < decimals and round(p, digits) in (0.01, 0.05, 0.1) and round(p, digits) != p:
        digits += 1
    return f"{p:.{digits}f}"


def p_sign_and_number_text(p: float) -> str:
    """A p-value with a sign in front, for example "= 0.015" or "< 0.0001"."""
    text = p_number_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"
