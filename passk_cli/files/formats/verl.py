"""verl's dumps of generations: <step>.jsonl of {input, output, score, step, …}.

Source: github.com/volcengine/verl (Apache-2.0), verl/trainer/ppo/ray_trainer.py, _dump_generations
and _validate: what counts is acc where the reward function gives one, else the score.  Each step is
another model, so the file's name is its model's.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import Format, Row, Wanted, graded, lines, outcomes_alone
from passk_cli.files.formats.head import Head

_START = 40


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    attempts: Counter[str] = Counter()
    for line, record in lines(head, wanted):
        task = _task(record.get("input"))
        outcome, score = graded(record.get("score"))
        outcome = record.get("acc", outcome)
        yield Row(
            task,
            outcome,
            attempts[task or ""],
            "no score" if outcome is None else "",
            score,
            settings={"step": record.get("step")},
            texts=wanted.of(solution=record.get("output")),
            place=f"line {line}",
        )
        attempts[task or ""] += 1


def _task(prompt: Any) -> str | None:
    """The prompt's beginning and a hash of all of it: prompts have no ids.

    >>> _task("What is 1 + 1?")
    'What is 1 + 1? #72f89175'
    """
    if not isinstance(prompt, str):
        return None
    digest = hashlib.sha256(prompt.encode()).hexdigest()[:8]
    return f"{' '.join(prompt.split())[:_START]} #{digest}"


VERL = Format(
    "verl",
    "acc where there is one, else a score of 1 (0 fails; others need --threshold)",
    "github.com/volcengine/verl: verl/trainer/ppo/ray_trainer.py",
    lambda head: head.form in ("lines", "object") and head.has("input", "output", "score", "step"),
    outcomes_alone(_rows),
)
