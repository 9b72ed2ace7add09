"""EvalScope's reviews (1.0 and newer): TIME/reviews/MODEL/BENCHMARK_SUBSET.jsonl.

Source: github.com/modelscope/evalscope (Apache-2.0), evalscope/api/evaluator/cache.py
(ReviewResult) and evalscope/api/metric/scorer.py.  Each line is {index, sample_score: {score:
{value: {metric: number}}, sample_id, group_id}}. All attempts at the same sample have the same
group_id.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    require_type,
    value_at_key_path,
)


def _contents(file: File) -> Contents:
    outcomes: dict[str, None] = {}
    for _, review in file.numbered_records():
        values = value_at_key_path(review, "sample_score", "score", "value")
        outcomes.update(dict.fromkeys(require_type(file, "score.value", values, dict) or {}))
    above, facts = file.path.parent, {}
    if above.parent.name == "reviews":
        suite, run = file.name.removesuffix(".jsonl"), above.parent.parent.name
        facts = {"model": above.name, "suite": suite, "run": run}

    def rows(request: RowRequest) -> Iterator[Row]:
        for line, review in file.numbered_records(request):
            sample = review.get("sample_score")
            group, sample_id, score = (
                value_at_key_path(sample, key) for key in ("group_id", "sample_id", "score")
            )
            yield Row(
                sample_id if group is None else group,
                *judge_without_harness_pass_rule(
                    value_at_key_path(score, "value", request.outcome)
                ),
                0 if group is None else sample_id,
                answer=value_at_key_path(score, "extracted_prediction"),
                solution=value_at_key_path(score, "prediction"),
                place=f"line {line}",
            )

    return Contents(rows, tuple(outcomes), facts)


EVALSCOPE = Format(
    "evalscope",
    "a score of 1 passes; other numbers need --threshold",
    "github.com/modelscope/evalscope: evalscope/api/evaluator/cache.py",
    lambda file: file.has_keys("index", "sample_score.score", "sample_score.sample_id"),
    _contents,
    example=Example(
        ("outputs/TIME/reviews/MODEL/gsm8k_main.jsonl",),
        """\
{"index": 0, "sample_score": {"score": {"value": {"acc": 1.0}}, "sample_id": 0, "group_id": 0}}
{"index": 1, "sample_score": {"score": {"value": {"acc": 0.0}}, "sample_id": 1, "group_id": 1}}
""",
        arguments="outputs/TIME/reviews",
    ),
)
