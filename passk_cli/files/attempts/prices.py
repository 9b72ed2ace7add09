"""Compute costs from token counts and from the prices in the file of --price.

The file has one table per model or per pattern of model names. Prices are in dollars per million
tokens:

    ["claude-sonnet-*"]
    input = 3.0
    output = 15.0
    cached = 0.3

passk contains no prices, because prices change and a wrong price is worse than a missing price.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from typing import Any

from passk_cli.errors import ParameterError
from passk_cli.files.database import models_condition
from passk_cli.files.request import Request, matches_pattern
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.toml import read_toml

# _TOKEN_ROLE_BY_PRICE_KEY maps each key in a price table to the role of the column that contains
# the tokens.
_TOKEN_ROLE_BY_PRICE_KEY = {"input": "tokens_in", "output": "tokens_out", "cached": "tokens_cached"}
_PRICE_EXAMPLE_TEXT = 'for example ["gpt-5*"] input = 1.25, output = 10, cached = 0.125'


@dataclass(frozen=True)
class PricesPerMillionTokens:
    """The prices of a model, in dollars per million tokens.

    cached : the price of cached input tokens, or None if cached tokens cost as much as other input
        tokens.
    """

    input: float
    output: float
    cached: float | None = None


def parse_prices(value: Any) -> Mapping[str, PricesPerMillionTokens]:
    """Read a TOML file or a mapping, and map each model name or pattern to a price.

    Errors: ParameterError for an invalid entry. The error names the entry.

    >>> parse_prices({"gpt-*": {"input": 1.25, "output": 10}})
    {'gpt-*': PricesPerMillionTokens(input=1.25, output=10.0, cached=None)}
    """
    (value,) = value if isinstance(value, list) else (value,)
    place, tables = "prices", value
    if isinstance(value, str):
        place = value
        _, tables = read_toml(
            value, "bad-price", f"write TOML, names with dots quoted, {_PRICE_EXAMPLE_TEXT}"
        )
    if not isinstance(tables, Mapping) or not tables:
        raise ParameterError(
            f"{place}: the file contains no prices; write one table per model,"
            f" {_PRICE_EXAMPLE_TEXT}",
                             name="bad-price")  # fmt: skip
    where = "price of {!r}" if tables is value else f"{place}: [{{}}]"
    return {
        str(model): _parse_prices_per_million_tokens(where.format(model), price)
        for model, price in tables.items()
    }


def _parse_prices_per_million_tokens(place: str, table: Any) -> PricesPerMillionTokens:
    if isinstance(table, PricesPerMillionTokens):
        return table
    wrong = [] if isinstance(table, Mapping) else [f"{table!r} is not a price"]
    numbers: dict[str, float] = {}
    for name, number in table.items() if isinstance(table, Mapping) else ():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if name not in _TOKEN_ROLE_BY_PRICE_KEY or not is_number or not 0 <= number < math.inf:
            wrong.append(f"{name} = {number}")
        else:
            numbers[name] = float(number)
    wrong += [f"no {name}" for name in ("input", "output") if not (wrong or name in numbers)]
    if wrong:
        raise ParameterError(
            f"{place}: {wrong[0]}; write prices in dollars per million tokens,"
            f" {_PRICE_EXAMPLE_TEXT}",
            name="bad-price",
        )
    return PricesPerMillionTokens(**numbers)


def require_prices(request: Request, models: Sequence[str]) -> None:
    """Raise ParameterError if a model has no price, or if the command computes no costs."""
    prices = request.price
    without = [
        m
        for m in dict.fromkeys(models)
        if not any(matches_pattern(m, pattern) for pattern in prices)
    ]
    if "cost" not in request.attempts:
        ask_for_costs = SuggestedFix({"--metric": ("cost",)}, "computes costs")
        raise ParameterError(
            OptionWithValue("--price"), ("prices are used only for costs, and this command computes"
                " no costs"),
            name="contradicting-options",
            settles=[SuggestedFix({"--price": None}), *[ask_for_costs] * (not without)],
        )  # fmt: skip
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        problem = f"there is no price for {without[0]}{more}"
        fix = SuggestedFix({"--exclude-model": (*without,)}, "leaves out models without a price")
        settles = [fix] * (len(without) < len({*models}))
        remedy = f"there are prices for {', '.join(prices)}"
        raise ParameterError(
            OptionWithValue("--price"), f"{problem}; {remedy}", name="no-price", settles=settles
        )


def cost_sql(prices: Mapping[str, PricesPerMillionTokens], model: str) -> str:
    """SQL that computes the cost of an attempt in dollars from the token counts of the attempt.

    The SQL returns NULL if an attempt has no token counts. An exact model name takes precedence
    over a pattern, and an earlier pattern takes precedence over a later pattern. The number of
    input tokens includes the cached tokens.
    """
    cases = []
    for pattern, price in sorted(prices.items(), key=lambda pair: has_magic(pair[0])):
        cached = price.input if price.cached is None else price.cached
        sum_of_parts = (
            f"(tokens_in - coalesce(tokens_cached, 0)) * {price.input!r}"
            f" + coalesce(tokens_cached, 0) * {cached!r} + tokens_out * {price.output!r}"
        )
        sum_of_parts = (
            f"CASE WHEN tokens_cached > tokens_in THEN '-inf'::DOUBLE ELSE {sum_of_parts} END"
        )
        cases.append(f"WHEN {models_condition(model, [pattern], [])} THEN ({sum_of_parts}) / 1e6")
    return f"CASE {' '.join(cases)} END"
