"""Rows that are steps of an attempt, as of an episode or a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.files.reading.doubts.evenness import goes_up
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.survey import joined_codes
from passk_cli.files.roles import words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Words of names of steps, beside words of their numbers; of what has the steps.
_STEPS = {*"step turn hop move retry".split()}
_NUMBERS = {*"id idx index no num number count".split()}
_EPISODES = {
    *"attempt episode trajectory rollout sample session conversation dialogue dialog".split(),
    *"trial run rep seed generation candidate".split(),
}

STEPS = Message(
    "steps", WARNING, "each row is a {step} of an attempt: {column} numbers them in each {part}",
    "",
    "An agent's episode or a conversation is written with a row for each step or turn, numbered"
    " from the start in each. Read as they are, steps would count as attempts. Whether an attempt"
    " passes by its last step, or each step is a task of its own, the data do not say.",
)  # fmt: skip


def steps(grounds: Grounds) -> Iterator[Finding]:
    """Columns that number the steps of an attempt, or of a task that has one."""
    survey = grounds.survey
    for name, part in parts(grounds).items():
        of, numbers = joined_codes(survey.cell, survey.columns[part].codes), survey.numbers(name)
        ordered = _in_order(of, numbers)
        if ordered and grounds.request.duplicates in ("first", "last"):
            # They settle which step of an attempt counts.
            continue
        step, task = next(iter(words(name) & _STEPS)), grounds.column("task")
        # A column that is named for one role is found for no other.
        role = {"task": task} if part == task else {}
        own = {} if part == grounds.column("attempt") else {"attempt": part}
        last = Settle(
            {"--field": {**role, **own}, "--duplicates": "last"},
            f"counts the last {step} of each {part}",
        )
        each = Settle(
            {"--field": {"task": f"{task},{name}", **({} if role else own)}},
            f"counts each {step} as a task",
        )
        pool = Settle({"--pool": (name,)}, "pools them on purpose")
        ends = (last,) if ordered else ()
        ways = (
            (*ends, each, pool) if _passes_at_the_end(grounds, of, numbers) else (each, *ends, pool)
        )
        shown = {"column": quote(name), "step": step, "part": quote(part)}
        yield Finding(STEPS, True, shown, tuple(ways))


def is_step(column: str) -> bool:
    """Whether a column is called as a number of steps is, counted within an attempt.

    >>> [is_step(name) for name in ("step_id", "turn", "steps", "retry_reason")]
    [True, True, False, False]
    """
    own = words(column)
    return len(own & _STEPS) == 1 and own <= _STEPS | _NUMBERS


def parts(grounds: Grounds) -> dict[str, str]:
    """Columns that number steps → the column in each value of which they begin again."""
    survey = grounds.survey
    found: dict[str, str] = {}
    for name in () if grounds.harness else filter(is_step, grounds.unread):
        numbers = survey.numbers(name)
        episodes = [c for c in grounds.unread if c != name and words(c) & _EPISODES]
        attempt = grounds.column("attempt")
        for part in [attempt] if attempt else [*episodes, grounds.column("task")]:
            codes = survey.columns[part].codes if part in survey.columns else None
            if codes is not None and goes_up(joined_codes(survey.cell, codes), numbers):
                found[name] = part
                break
    return found


def _in_order(part: Ints, numbers: Floats) -> bool:
    """Whether the rows of each part come in the order of its steps, so that the last ends it."""
    order = np.argsort(part, kind="stable")
    alike = (np.diff(part[order]) == 0) & (part[order][1:] >= 0)
    return bool(np.all(np.diff(numbers[order])[alike] > 0))


def _passes_at_the_end(grounds: Grounds, part: Ints, numbers: Floats) -> bool:
    """Whether only the last steps of parts pass."""
    there = part >= 0
    most = np.zeros(int(part.max(initial=0)) + 1)
    np.maximum.at(most, part[there], numbers[there])
    before = numbers[there] < most[part[there]]
    return not np.any(grounds.survey.verdict[there][before] == 1)


DOUBTS = (
    Doubt(
        STEPS,
        "An unread column called step, turn, hop, move or retry goes up by 1 from 0 or 1 in each"
        " attempt, episode, conversation or the like, or in each task. The last step comes first"
        " where no other passes.",
        ("--field attempt=X --duplicates last", "--field task=task,X", "--pool X"),
        steps,
    ),
)
