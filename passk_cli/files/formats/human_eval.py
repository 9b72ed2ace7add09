"""human-eval's results: <samples>_results.jsonl, lines {task_id, completion, result, passed}.

Source: github.com/openai/human-eval (MIT), human_eval/evaluation.py.  `result` says the same as
`passed`, in words.  Nothing numbers the samples of a task: their order in the file does.  Lines
with more in them are some other table, which is read as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from passk_cli.files.formats.format import Format, Row, Wanted, lines, outcomes_alone, unscored
from passk_cli.files.formats.head import Head

_KEYS = frozenset(("task_id", "completion", "result", "passed"))


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    times: Counter[str] = Counter()
    for line, sample in lines(head, wanted):
        task, outcome = sample.get("task_id"), sample.get("passed")
        texts = wanted.of(solution=sample.get("completion"))
        late = sample.get("result") == "timed out"
        reason = unscored(outcome) or ("timeout" if late else "")
        yield Row(task, outcome, times[str(task)], reason, texts=texts, place=f"line {line}")
        times[str(task)] += 1


HUMAN_EVAL = Format(
    "human-eval",
    "a sample whose passed is true",
    "github.com/openai/human-eval: human_eval/evaluation.py",
    lambda head: head.keys == _KEYS,
    outcomes_alone(_rows),
)
