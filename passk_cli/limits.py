"""Maximum values for k, for numbers of attempts, and for the sizes of tables and files.  passk
raises an error if data or options exceed a maximum.

All counts, and keys such as n·(n + 1) + c, must fit into 64 bits.  Estimates with n up to 10⁹ are
correct to 12 digits.
"""

from __future__ import annotations

from typing import Any

from passk_cli.errors import ParameterError
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# A model makes at most MOST_ATTEMPTS attempts at a task, and k has the same maximum.
MOST_ATTEMPTS = 1_000_000_000
# passk draws at most MOST_RESAMPLES resamples, and keeps at most MOST_DRAWS random numbers in
# memory (1 GB).
MOST_RESAMPLES = 1_000_000
MOST_DRAWS = 125_000_000
# Methods that process attempts one by one accept at most MOST_ATTEMPTS_PROCESSED_SINGLY attempts at
# a task.
MOST_ATTEMPTS_PROCESSED_SINGLY = 100_000
# A curve of pass@k contains values of k up to MOST_CURVE_K.
MOST_CURVE_K = 1_000_000
# A TOML file has at most MOST_TOML bytes, and its tables are nested at most MOST_NESTED levels
# deep.
MOST_TOML, MOST_NESTED = 1_000_000, 30
# A file that lists tasks has at most MOST_TASK_LIST_BYTES bytes.
MOST_TASK_LIST_BYTES = 10_000_000
# A table of data has at most MOST_COLUMNS columns.
MOST_COLUMNS = 20_000
# A report has at most MOST_GROUPS groups, and a page has at most MOST_CHAPTERS chapters and
# MOST_ON_PAGE models.
MOST_GROUPS, MOST_CHAPTERS, MOST_ON_PAGE = 2_000, 100, 1_000
# A table (models × tasks) that is mostly empty has at most MOST_SPARSE_TABLE_CELLS cells.
MOST_SPARSE_TABLE_CELLS = 1_000_000
# Errors about too little memory give the advice in LOW_MEMORY_ADVICE.
LOW_MEMORY_ADVICE = "read fewer models, columns or files at once, or use a machine with more memory"
# A table has at most MOST_CELLS values (models or differences × tasks), which need 300 MB.
MOST_CELLS = 1 << 23
# All metrics together have at most MOST_MODEL_DIFFERENCES differences between models, which need
# 400 MB.
MOST_MODEL_DIFFERENCES = 100_000
# `passk plan` accepts values of k up to MOST_PLANNED_K, because it computes a sum over all outcomes
# of k attempts.
MOST_PLANNED_K = 1_000


def parse_whole_number(
    place: str | OptionWithValue, text: str, least: int = 1, most: int = MOST_ATTEMPTS
) -> int:
    """The whole number that is written in a string of ASCII digits.

    place : the subject of the error message: an option with its value, or a name with the number.
    Errors: ParameterError for a string that is not a whole number, or for a number out of range.

    >>> parse_whole_number(OptionWithValue("-k", "8"), " 8 ")
    8
    """
    digits = text.strip()
    # Python refuses to parse thousands of digits, so the length is checked before `int`.
    if digits.isascii() and digits.isdigit() and len(digits) <= 20 and least <= int(digits) <= most:
        return int(digits)
    raise ParameterError(place, f"write a whole number, at least {least:,} and at most {most:,}")


def is_nested_deeper_than(value: Any, most: int) -> bool:
    """Whether dicts and lists are nested more than `most` levels deep.

    >>> is_nested_deeper_than([[1]], 1), is_nested_deeper_than([[1]], 2)
    (True, False)
    """
    level = [value]
    for _ in range(most):
        parts = [item.values() if isinstance(item, dict) else item for item in level
                 if isinstance(item, dict | list)]  # fmt: skip
        level = [child for part in parts for child in part]
    return any(isinstance(item, dict | list) for item in level)


def refuse_too_many(
    noun: str, number: int, most: float, *settles: SuggestedFix, place: str | OptionWithValue = ""
) -> None:
    """Raise ParameterError if a number, for example the number of groups, is above its maximum."""
    if number > most:
        problem = f"there are {number:,} {noun}, but at most {most:,} are allowed"
        raise ParameterError(place, problem, name="too-large", settles=settles)


def refuse_many_attempts(
    place: str | OptionWithValue, attempts: int, *settles: SuggestedFix, remedy: str = ""
) -> None:
    """Raise ParameterError if a task has too many attempts for a method that processes attempts one
    by one."""
    if attempts > MOST_ATTEMPTS_PROCESSED_SINGLY:
        problem = (
            f"a task has {attempts:,} attempts, but passk can process at most"
            f" {MOST_ATTEMPTS_PROCESSED_SINGLY:,}"
        )
        problem += " one by one" + (f"; {remedy}" if remedy else "")
        raise ParameterError(place, problem, name="too-large", settles=settles)


def refuse_many_pairs(models: int, pairs: int, *settles: SuggestedFix) -> None:
    """Raise ParameterError if there are too many pairs of models to compare.

    pairs : number of pairs over all metrics.
    settles : further options that reduce the number of pairs.
    """
    if pairs > MOST_MODEL_DIFFERENCES:
        raise ParameterError(
            f"{models:,} models have {pairs:,} pairwise differences, but passk compares at most"
            f" {MOST_MODEL_DIFFERENCES:,}",
            name="too-large",
            settles=[*settles, SuggestedFix({"--model": Placeholder("NAME")}, "keeps some")],
        )


def refuse_many_draws(resamples: int, columns: int) -> None:
    """Raise ParameterError if the random numbers of all resamples would not fit into memory."""
    if resamples * columns > MOST_DRAWS:
        raise ParameterError(
            OptionWithValue("--resamples", str(resamples)),
            f"this number of resamples is too large for {columns:,} results; choose at most"
            f" {MOST_DRAWS // columns:,}",
            name="too-large",
        )
