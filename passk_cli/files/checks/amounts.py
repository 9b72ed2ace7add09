"""Rule 4, amounts: a row is not one attempt, as a number next to its outcome shows."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np

from passk_cli.files.checks.check import CERTAIN, CheckContext, Finding, ReadingCheck
from passk_cli.files.reading.survey import distinct, joined_codes
from passk_cli.files.roles import EQUAL, leaf, words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Names made of these words are those of weights, of tests that passed, and of all tests.
_WEIGHTS = frozenset("count times weight weights".split())
_PASSED = frozenset("passed passes correct successes tests num n".split())
_TOTALS = frozenset("total tests count num n".split())

WEIGHTED_ROWS = Message(
    "weighted-rows", WARNING,
    "{column} is not read and may be the number of attempts of a row ({values})", "",
    "If each row is a task and an outcome with the number of attempts that had it, passk would"
    " count each row as one attempt. Write a row per attempt, or a row per task with n attempts and"
    " c passes.",
)  # fmt: skip
COUNTED_TESTS = Message(
    "counted-tests", WARNING,
    "{outcome} next to {column} ({values}) counts tests, and an attempt passes if all tests do", "",
    "A row has the number of tests that passed and the number of all tests, or of those that"
    " failed. An attempt with 1 of 5 tests passed is not a pass. Compare the two columns, for"
    " example with --field outcome=passed==total.",
)  # fmt: skip


def next_to_outcomes(context: CheckContext) -> Iterator[Finding]:
    """Numbers of attempts or tests next to the outcome of a row."""
    survey, outcome = context.survey, context.column("outcome")
    if outcome not in survey.columns or context.harness:
        return
    scored = survey.kind(outcome).name == "number"
    names = [name for name in context.unread if survey.kind(name).name == "number"
             and (scored or words(name) <= _WEIGHTS)]  # fmt: skip
    if not names:
        return
    scores = survey.numbers(outcome)
    for name in names:
        numbers, whole = survey.numbers(name), survey.kind(name).whole
        highest = float(np.nanmax(numbers, initial=0))
        shown = {"column": quote(name), "values": survey.texts(name, 20), "outcome": quote(outcome)}
        if scored and whole and _is_passed(outcome) and not context.named_outcome:
            below_total = _is_total(name) and highest > 1 and bool(np.all(scores <= numbers))
            # Two flags that are each other's opposite count nothing.
            failed = leaf(name) == "failed" and np.any(scores + numbers != 1)
            if below_total or (failed and not _has_total(context)):
                compared = {"--field": {"outcome": f"{outcome}{EQUAL}{name}"}}
                all_tests = Settle(compared, "passes if all tests do")
                yield Finding(COUNTED_TESTS, True, shown, (all_tests,) * below_total)
                return
        if words(name) <= _WEIGHTS and whole and highest > 1:
            yield from _weighted(context, name)


def _is_passed(name: str) -> bool:
    return words(name) <= _PASSED and words(name) != {"n"}


def _is_total(name: str) -> bool:
    return words(name) <= _TOTALS and bool(words(name) & {"total", "tests"})


def _has_total(context: CheckContext) -> bool:
    """Whether a column of all tests is there, with which the passed tests are compared."""
    return any(map(_is_total, context.unread))


def _weighted(context: CheckContext, name: str) -> Iterator[Finding]:
    """The finding about a column of weights, if there is one row per task and outcome."""
    survey = context.survey
    pairs = joined_codes(survey.cell, survey.columns[context.column("outcome")].codes)
    rows = np.sum(pairs >= 0)
    if survey.columns[name].share < 1 or distinct(pairs) < 0.95 * rows:
        return
    # One weight per task says as often how much the task matters.
    once = Settle({"--pool": (name,)}, "counts each row once, whatever its weight")
    weighs = "weight" in words(name) and distinct(survey.cell) == rows
    shown = {"column": quote(name), "values": survey.texts(name, 20)}
    yield Finding(WEIGHTED_ROWS, True, shown, (once,) if weighs else ())


CHECKS = (
    ReadingCheck(
        COUNTED_TESTS, CERTAIN,
        "Nobody chose the outcome; it is a whole number named passed or correct, next to a total"
        " that is never less, or next to failed.",
        ("--field outcome=passed==total",), next_to_outcomes,
    ),
    ReadingCheck(
        WEIGHTED_ROWS, CERTAIN,
        "A column named count, freq, times or weight has whole numbers above 1, and there is one"
        " row per task and outcome.",
        ("--pool X",), next_to_outcomes,
    ),
)  # fmt: skip
