"""The log of an openai/evals run: a line {"spec": …}, then an event per line.

Source: github.com/openai/evals (MIT), evals/record.py and evals/base.py.  An event has run_id,
sample_id, type and data: type "match" has data.correct; "error" is a sample that went wrong.
A sample that is matched twice in one run is no second attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Folder,
    Format,
    Row,
    Wanted,
    at,
    lines,
    unscored,
)
from passk_cli.files.formats.head import Head


def _table(head: Head, folder: Folder) -> Contents:
    events = lines(head, Wanted("", skip_bad=True))
    spec: Any = next((record["spec"] for _, record in events if "spec" in record), {})
    models = at(spec, "completion_fns")
    matched = any(record.get("type") == "match" for _, record in events)
    facts = {
        "model": ", ".join(map(str, models)) if isinstance(models, list) else models,
        "run": at(spec, "run_id"),
        "temperature": at(spec, "run_config", "completion_args", "temperature"),
    }
    return Contents(lambda wanted: _rows(head, wanted), ("correct",) if matched else (), facts)


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    judged: set[str] = set()
    errors: dict[str, int] = {}
    for line, event in lines(head, wanted):
        sample = event.get("sample_id")
        if event.get("type") == "match":
            judged.add(str(sample))
            outcome = at(event, "data", "correct")
            texts = wanted.of(answer=at(event, "data", "picked"))
            yield Row(sample, outcome, 0, unscored(outcome), texts=texts, place=f"line {line}")
        elif event.get("type") == "error":
            errors.setdefault(str(sample), line)
    for sample, line in errors.items():
        if sample not in judged:
            yield Row(sample, None, 0, "error", place=f"line {line}")


OPENAI_EVALS = Format(
    "openai-evals",
    "an event of type match whose data.correct is true",
    "github.com/openai/evals: evals/record.py",
    lambda head: head.has("spec.eval_name", "spec.run_id"),
    _table,
)
