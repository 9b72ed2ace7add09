"""Files of math evaluation scripts: a line per problem, with a list of scores per sample.

Source: github.com/ZubinGou/math-evaluation-harness (MIT), math_eval.py, from which those of
Qwen2.5-Math and DeepSeek-Math descend.  Lines {idx, question, gt, code: […], pred: […], score: […]}
in <model>/<benchmark>/test_<prompt>_<n>_seed<seed>_t<temperature>_s<start>_e<end>.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Folder,
    Format,
    Row,
    Wanted,
    at,
    graded,
    lines,
    unscored,
)
from passk_cli.files.formats.head import Head

_NAME = re.compile(
    r"[^_]+_(?P<prompt>.+)_-?\d+_seed(?P<seed>\d+)_t(?P<temperature>\d+(?:\.\d+)?)"
    r"_s\d+_e-?\d+(?:_.*)?\.jsonl"
)
# Output has a column "level" of its own.
_SETTINGS = {"difficulty": "level", "type": "type", "subfield": "subfield"}


def _table(head: Head, folder: Folder) -> Contents:
    name, facts = _NAME.fullmatch(head.name), {}
    if name is not None:
        facts = {
            "model": head.path.parent.parent.name or None,
            "suite": head.path.parent.name,
            "run": name["seed"],
            "prompt": name["prompt"],
            "temperature": float(name["temperature"]),
        }
    return Contents(lambda wanted: _rows(head, wanted), facts=facts)


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    for line, record in lines(head, wanted):
        scores = record.get("score")
        settings = {name: record.get(key) for name, key in _SETTINGS.items()}
        for attempt, value in enumerate(scores if isinstance(scores, list) else [scores]):
            outcome, score = graded(value)
            answer, code = at(record, "pred", attempt), at(record, "code", attempt)
            yield Row(
                record.get("idx"),
                outcome,
                attempt,
                unscored(outcome),
                score,
                settings=settings,
                texts=wanted.of(answer=answer, solution=code),
                place=f"line {line}",
            )


MATH_EVALUATION = Format(
    "math-evaluation",
    "an entry of score that is true",
    "github.com/ZubinGou/math-evaluation-harness: math_eval.py",
    lambda head: head.has("idx", "gt", "pred", "score"),
    _table,
    ("*_metrics.json",),
)
