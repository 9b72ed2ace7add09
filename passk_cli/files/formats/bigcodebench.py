"""BigCodeBench's eval_results.json: {"eval": {task: [{"status": "pass", "solution": …}, …]}}.

Source: github.com/bigcode-project/bigcodebench (Apache-2.0), bigcodebench/evaluate.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Example,
    File,
    Format,
    Row,
    Wanted,
    at,
    listed,
    outcomes_alone,
)

_FAILURES = ("fail", "timeout", "error")


def _rows(file: File, wanted: Wanted) -> Iterator[Row]:
    for task, attempts in file.members("eval"):
        for attempt, result in enumerate(listed(file, f"eval.{task}", attempts) or [None]):
            status = at(result, "status")
            outcome = True if status == "pass" else False if status in _FAILURES else status
            reason = "timeout" if status == "timeout" else "not attempted" if result is None else ""
            place = f"eval.{task}[{attempt}]"
            solution = at(result, "solution")
            yield Row(task, outcome, None, attempt, reason, solution=solution, place=place)


BIGCODEBENCH = Format(
    "bigcodebench",
    'a status of "pass"',
    "github.com/bigcode-project/bigcodebench: bigcodebench/evaluate.py",
    lambda file: any(key[:5] == "eval." and key.endswith("[].status") for key in file.keys),
    outcomes_alone(_rows),
    ("*_pass_at_k.json",),
    example=Example(
        ("MODEL--bigcodebench-complete--BACKEND-0.8-2-sanitized_calibrated_eval_results.json",),
        """\
{"date": "2026-01-01 12:00",
 "eval": {
   "BigCodeBench/0": [{"task_id": "BigCodeBench/0", "status": "pass"},
                      {"task_id": "BigCodeBench/0", "status": "fail"}],
   "BigCodeBench/1": [{"task_id": "BigCodeBench/1", "status": "pass"},
                      {"task_id": "BigCodeBench/1", "status": "timeout"}]
 }}
""",
    ),
)
