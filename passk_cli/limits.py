"""The largest numbers that are computed with; beyond them a request is refused, never wrong.

n, k and sums of them are whole numbers of 64 bits, and keys such as n·(n + 1) + c must be, too;
estimates with n up to 10⁹ are exact to 12 digits.
"""

from __future__ import annotations

from passk_cli.errors import ParameterError

# Attempts of one model at one task, and k.
MOST_ATTEMPTS = 1_000_000_000
# Resamples, and numbers drawn in one go: 1 GB.
MOST_RESAMPLES = 1_000_000
MOST_DRAWS = 125_000_000
# Attempts of a task where a method goes through them one by one, and k of a curve of counts.
MOST_STEPS, MOST_CURVE = 100_000, 1_000_000
# What helps where memory does not suffice.
MORE_MEMORY = "read less at once with --where or --model, or give it more memory"
# Differences between models, over all metrics: a second for each thousand of them.
MOST_PAIRS = 200_000
# k of a plan: every design sums over all outcomes of its attempts.
MOST_PLANNED_K = 1_000
# Refits of each model of an extrapolation, which take seconds by the hundred.
MOST_REFITS = 10_000


def whole_number(name: str, text: str, least: int = 1, most: int = MOST_ATTEMPTS) -> int:
    """The whole number a text writes; ParameterError where it is none, or out of range.

    name : what is asked for, as the user knows it: "-k 1,x: k".
    Digits are those of ASCII: "²" and "١" are none.

    >>> whole_number("-k 8: k", " 8 ")
    8
    """
    digits = text.strip()
    # The length comes first: Python refuses to read numbers of thousands of digits.
    if digits.isascii() and digits.isdigit() and len(digits) <= 20 and least <= int(digits) <= most:
        return int(digits)
    raise ParameterError(f"{name} must be a whole number, at least {least:,} and at most {most:,}")


def refuse_many_steps(what: str, attempts: int, remedy: str) -> None:
    """ParameterError where a method would go through more attempts of a task than it can."""
    if attempts > MOST_STEPS:
        raise ParameterError(
            f"{what}: {attempts:,} attempts at a task are too many to go through one by one, at"
            f" most {MOST_STEPS:,}; {remedy}",
            name="too-large",
        )


def refuse_many_pairs(models: int, pairs: int, remedy: str) -> None:
    """ParameterError where so many models make more pairs than can be compared.

    pairs : of models, over all metrics.  remedy : what asks for fewer.
    """
    if pairs > MOST_PAIRS:
        raise ParameterError(
            f"{models:,} models make {pairs:,} differences, at most {MOST_PAIRS:,}; {remedy}",
            name="too-large",
        )


def refuse_many_draws(resamples: int, columns: int) -> None:
    """ParameterError where resamples × columns would not fit into memory."""
    if resamples * columns > MOST_DRAWS:
        raise ParameterError(
            f"--resamples {resamples:,} of {columns:,} numbers are too many to hold;"
            f" at most {MOST_DRAWS // columns:,} here",
            name="too-large",
        )
