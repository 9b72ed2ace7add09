"""EvalScope's reviews (1.0 and newer): <time>/reviews/<model>/<benchmark>_<subset>.jsonl.

Source: github.com/modelscope/evalscope (Apache-2.0), evalscope/api/evaluator/cache.py
(ReviewResult) and evalscope/api/metric/scorer.py.  Lines {index, sample_score: {score: {value:
{metric: number}}, sample_id, group_id}}; repeats of one sample share the group_id.
"""

from __future__ import annotations

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


def _table(head: Head, folder: Folder) -> Contents:
    outcomes: dict[str, None] = {}
    for _, review in lines(head, Wanted("", skip_bad=True)):
        outcomes.update(dict.fromkeys(at(review, "sample_score", "score", "value") or {}))
    above, facts = head.path.parent, {}
    if above.parent.name == "reviews":
        facts = {
            "model": above.name,
            "suite": head.name.removesuffix(".jsonl"),
            "run": above.parent.parent.name,
        }
    return Contents(lambda wanted: _rows(head, wanted), tuple(outcomes), facts)


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    for line, review in lines(head, wanted):
        sample = review.get("sample_score")
        group, own = at(sample, "group_id"), at(sample, "sample_id")
        outcome, score = graded(at(sample, "score", "value", wanted.outcome))
        texts = at(sample, "score")
        yield Row(
            own if group is None else group,
            outcome,
            0 if group is None else own,
            unscored(outcome),
            score,
            texts=wanted.of(
                answer=at(texts, "extracted_prediction"), solution=at(texts, "prediction")
            ),
            place=f"line {line}",
        )


EVALSCOPE = Format(
    "evalscope",
    "a score of 1 passes; other numbers need --threshold",
    "github.com/modelscope/evalscope: evalscope/api/evaluator/cache.py",
    lambda head: head.has("index", "sample_score.score", "sample_score.sample_id"),
    _table,
)
