"""human-eval's results: <samples>_results.jsonl, lines {task_id, completion, result, passed}.

Source: github.com/openai/human-eval (MIT), human_eval/evaluation.py.  `result` says the same as
`passed`, in words.  Nothing numbers the samples of a task: their order in the file does.  Lines
with more in them are some other table, which is read as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Example,
    File,
    Format,
    Row,
    Wanted,
    numbered,
    outcomes_alone,
)

_KEYS = frozenset(("task_id", "completion", "result", "passed"))


def _rows(file: File, wanted: Wanted) -> Iterator[Row]:
    for line, sample in file.lines(wanted):
        outcome, late = sample.get("passed"), sample.get("result") == "timed out"
        reason = "timeout" if late and outcome is not None else ""
        solution, place = sample.get("completion"), f"line {line}"
        yield Row(sample.get("task_id"), outcome, reason=reason, solution=solution, place=place)


HUMAN_EVAL = Format(
    "human-eval",
    "a sample whose passed is true",
    "github.com/openai/human-eval: human_eval/evaluation.py",
    lambda file: file.keys == _KEYS,
    outcomes_alone(lambda file, wanted: numbered(_rows(file, wanted))),
    example=Example(
        ("samples.jsonl_results.jsonl",),
        """\
{"task_id": "HumanEval/0", "completion": "return 1", "result": "passed", "passed": true}
{"task_id": "HumanEval/0", "completion": "return 2", "result": "failed: ", "passed": false}
{"task_id": "HumanEval/1", "completion": "return 3", "result": "passed", "passed": true}
{"task_id": "HumanEval/1", "completion": "return 4", "result": "timed out", "passed": false}
""",
    ),
)
