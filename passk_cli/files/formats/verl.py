"""verl's dumps of generations: STEP.jsonl with lines {input, output, score, step, …}.

Source: github.com/volcengine/verl (Apache-2.0), verl/trainer/ppo/ray_trainer.py, _dump_generations
and _validate.  The outcome is acc if the reward function returns acc, and otherwise the score.
passk treats each training step as a separate model, which is named after the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import (
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    number_attempts_per_task,
    reader_of_outcome_per_attempt,
)


def _rows(file: File, request: RowRequest) -> Iterator[Row]:
    for line, record in file.numbered_records(request):
        outcome, score = judge_without_harness_pass_rule(record.get("score"))
        yield Row(
            _task_name(record.get("input"), record.get("gts")),
            record.get("acc", outcome),
            score,
            default_missing_reason="no score",
            settings={"step": record.get("step")},
            solution=record.get("output"),
            place=f"line {line}",
        )


def _task_name(prompt: Any, expected: Any = None) -> str | None:
    """Name a task by the beginning of its prompt and a hash, because prompts have no ids.

    expected : the expected answer. Questions about different images can have the same text, but
        usually have different answers.

    >>> _task_name("What is 1 + 1?"), _task_name("What is shown?", "a cat")
    ('What is 1 + 1? #72f89175', 'What is shown? #eebd3082')
    """
    if not isinstance(prompt, str):
        return None
    stated = prompt if expected is None else f"{prompt}\0{expected}"
    digest = hashlib.sha256(stated.encode()).hexdigest()[:8]
    return f"{' '.join(prompt.split())[:40]} #{digest}"


VERL = Format(
    "verl",
    "acc that is true; without acc a score of 1, and scores other than 0 and 1 need --threshold",
    "github.com/volcengine/verl: verl/trainer/ppo/ray_trainer.py",
    lambda file: (
        file.structure in ("lines", "object") and file.has_keys("input", "output", "score", "step")
    ),
    reader_of_outcome_per_attempt(
        lambda file, request: number_attempts_per_task(_rows(file, request))
    ),
    example=Example(
        ("validation/100.jsonl",),
        """\
{"input": "1 + 1?", "output": "2", "gts": "2", "score": 1.0, "step": 100, "acc": true}
{"input": "1 + 2?", "output": "4", "gts": "3", "score": 0.0, "step": 100, "acc": false}
""",
        arguments="validation",
    ),
)
