"""Output of math evaluation scripts: one line per problem, with one score per attempt.

Source: github.com/ZubinGou/math-evaluation-harness (MIT), math_eval.py. The scripts of Qwen2.5-Math
and DeepSeek-Math are derived from this script.  A line is a record {idx, question, gt, code: […],
pred: […], score: […]}. The path of a file is
MODEL/BENCHMARK/test_PROMPT_N_seedSEED_tTEMPERATURE_sSTART_eEND.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    value_at_key_path,
)

_FILE_NAME_PATTERN = re.compile(
    r"[^_]+_(?P<prompt>.+)_-?\d+_seed(?P<seed>\d+)_t(?P<temperature>\d+(?:\.\d+)?)"
    r"_s\d+_e-?\d+(?:_.*)?\.jsonl"
)
# passk's output already has a column "level", so the level of a problem becomes "difficulty".
_RECORD_KEY_BY_PROBLEM_ATTRIBUTE = {"difficulty": "level", "type": "type", "subfield": "subfield"}


def _contents(file: File) -> Contents:
    name, facts = _FILE_NAME_PATTERN.fullmatch(file.name), {}
    if name is not None:
        facts = {
            "model": file.path.parent.parent.name or None,
            "suite": file.path.parent.name,
            "run": name["seed"],
            "prompt": name["prompt"],
            "temperature": float(name["temperature"]),
        }

    def rows(request: RowRequest) -> Iterator[Row]:
        for line, record in file.numbered_records(request):
            scores = record.get("score")
            settings = {
                name: record.get(key) for name, key in _RECORD_KEY_BY_PROBLEM_ATTRIBUTE.items()
            }
            for attempt, value in enumerate(scores if isinstance(scores, list) else [scores]):
                yield Row(
                    record.get("idx"),
                    *judge_without_harness_pass_rule(value),
                    attempt,
                    settings=settings,
                    answer=value_at_key_path(record, "pred", attempt),
                    solution=value_at_key_path(record, "code", attempt),
                    place=f"line {line}",
                )

    return Contents(rows, constants=facts)


MATH_EVALUATION_FORMAT = Format(
    "math-evaluation",
    "an entry of score that is true",
    "github.com/ZubinGou/math-evaluation-harness: math_eval.py",
    lambda file: file.has_keys("idx", "gt", "pred", "score"),
    _contents,
    ("*_metrics.json",),
    example=Example(
        ("outputs/MODEL/math/test_cot_-1_seed0_t0.6_s0_e-1.jsonl",),
        """\
{"idx": 0, "gt": "0", "code": ["…", "…"], "pred": ["0", "1"], "score": [true, false]}
{"idx": 1, "gt": "2", "code": ["…", "…"], "pred": ["2", "2"], "score": [true, true]}
""",
        arguments="outputs",
    ),
)
