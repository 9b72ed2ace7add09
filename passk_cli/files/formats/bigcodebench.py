"""BigCodeBench's eval_results.json: {"eval": {task: [{"status": "pass", "solution": …}, …]}}.

Source: github.com/bigcode-project/bigcodebench (Apache-2.0), bigcodebench/evaluate.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import Format, Row, Wanted, at, listed, outcomes_alone, unscored
from passk_cli.files.formats.head import Head

_FAILURES = ("fail", "timeout", "error")


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    for task, attempts in head.members("eval"):
        for attempt, one in enumerate(listed(head, f"eval.{task}", attempts) or [None]):
            status = at(one, "status")
            outcome = True if status == "pass" else False if status in _FAILURES else status
            reason = "timeout" if status == "timeout" else unscored(status)
            reason = "not attempted" if one is None else reason
            texts = wanted.of(solution=at(one, "solution"))
            yield Row(task, outcome, attempt, reason, texts=texts, place=f"eval.{task}[{attempt}]")


BIGCODEBENCH = Format(
    "bigcodebench",
    'a status of "pass"',
    "github.com/bigcode-project/bigcodebench: bigcodebench/evaluate.py",
    lambda head: any(key[:5] == "eval." and key.endswith("[].status") for key in head.keys),
    outcomes_alone(_rows),
    ("*_pass_at_k.json",),
)
