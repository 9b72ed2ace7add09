"""The log of an openai/evals run: one line {"spec": …}, then one event per line.

Source: github.com/openai/evals (MIT), evals/record.py and evals/base.py.  An event has run_id,
sample_id, type and data. An event of type "match" contains the outcome in data.correct. An event of
type "error" reports a sample that failed to run.  If a sample has two events of type "match" in one
run, the second event is not a second attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    value_at_key_path,
)


def _contents(file: File) -> Contents:
    events = file.numbered_records()
    spec: Any = next((record["spec"] for _, record in events if "spec" in record), {})
    models = value_at_key_path(spec, "completion_fns")
    matched = any(record.get("type") == "match" for _, record in events)
    facts = {
        "model": ", ".join(map(str, models)) if isinstance(models, list) else models,
        "run": value_at_key_path(spec, "run_id"),
        "temperature": value_at_key_path(spec, "run_config", "completion_args", "temperature"),
    }

    def rows(request: RowRequest) -> Iterator[Row]:
        judged: set[str] = set()
        errors: dict[str, int] = {}
        for line, event in file.numbered_records(request):
            sample = event.get("sample_id")
            if event.get("type") == "match":
                judged.add(str(sample))
                answer = value_at_key_path(event, "data", "picked")
                outcome = value_at_key_path(event, "data", "correct")
                yield Row(sample, outcome, None, 0, answer=answer, place=f"line {line}")
            elif event.get("type") == "error":
                errors.setdefault(str(sample), line)
        for sample, line in errors.items():
            if sample not in judged:
                yield Row(sample, None, None, 0, "error", place=f"line {line}")

    return Contents(rows, ("correct",) if matched else (), facts)


OPENAI_EVALS = Format(
    "openai-evals",
    "an event of type match with data.correct true",
    "github.com/openai/evals: evals/record.py",
    lambda file: file.has_keys("spec.eval_name", "spec.run_id"),
    _contents,
    example=Example(
        ("evallogs/TIMEID_MODEL_EVAL.jsonl",),
        """\
{"spec": {"completion_fns": ["gpt-5.5"], "eval_name": "sums.dev.v0", "run_id": "26AA"}}
{"run_id": "26AA", "sample_id": "sums.dev.0", "type": "match", "data": {"correct": true}}
{"run_id": "26AA", "sample_id": "sums.dev.1", "type": "match", "data": {"correct": false}}
""",
        arguments="evallogs",
    ),
)
