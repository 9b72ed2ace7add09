"""Which column is the outcome and what passes: questions with a command for each answer."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest

import passk_cli
from passk_cli import DataError, ParameterError, read
from tests.conftest import Passk, jsonl

Rows = Sequence[dict[str, Any]]


def _rates(data: Any, **options: Any) -> dict[str, float]:
    """The pass rate of each model."""
    counts = read(data, **options)
    models = {name: counts.slice_of_series(i) for i, (name, *_) in enumerate(counts.series)}
    return {name: round(counts.c[rows].sum() / counts.n[rows].sum(), 4)
            for name, rows in models.items()}  # fmt: skip


def _rows_with_arms_in_columns(value: Any) -> Rows:
    """Rows of two arms in columns, with the values of value(arm, task)."""
    return [
        {"task": f"t{i}"} | {f"{arm}_{key}": value(arm, i, key) for arm in ("base", "tuned")
                             for key in ("judge_score", "bleu")}
        for i in range(12)
    ]  # fmt: skip


LABELS = [("a", "a", "a."), ("b", "a", "B"), ("b", "b", "a"), ("a", "b", "a")] * 5


def test_several_comparisons_are_models_or_attempts() -> None:
    rows = [{"task": i, "truth": t, "new": n, "old": o} for i, (t, n, o) in enumerate(LABELS)]
    fields = {"outcome": "new==truth,old==truth", "model": "@column"}
    assert _rates(rows, fields=fields) == {"new": 0.5, "old": 0.75}
    pair = read(rows, fields={"outcome": "new==truth,old==truth"})
    assert (pair.n.tolist(), pair.c.sum()) == ([2] * 20, 25)
    for wrong in ("new==truth,new==old", "new==truth==old"):
        with pytest.raises(ParameterError):
            read(rows, fields={"outcome": wrong})


def test_answers_agree_without_a_full_stop_and_by_places() -> None:
    answers = ["Yes.", "no", "B", "b", "5!", None]
    truth = ["yes", "No.", 1, "0", "5", "x"]
    rows = [
        {"task": i, "a": g, "b": t} for i, (g, t) in enumerate(zip(answers, truth, strict=True))
    ]
    counts = read(rows, fields={"outcome": "a==b"}, missing="fail")
    assert counts.c.tolist() == [1, 1, 1, 0, 0, 0]


def test_outcomes_in_alternative_columns_are_joined() -> None:
    rows = [{"task": i, "old": i % 2 if i < 6 else None, "new": None if i < 6 else True}
            for i in range(10)]  # fmt: skip
    counts = read(rows, fields={"outcome": "old|new"})
    assert (counts.n.sum(), counts.c.sum()) == (10, 7)
    with pytest.raises(DataError, match=r"0 and true|true and 0"):
        read([*rows, {"task": "both", "old": 0, "new": True}], fields={"outcome": "old|new"})


def test_a_value_that_only_failures_have_is_not_a_setting(passk: Passk, write: Any) -> None:
    rng = random.Random(1)
    rows = [
        {"task": f"t{i}", "passed": passed, "spread": None if passed else rng.random()}
        for i in range(40) for passed in (i % 2 == 0,) * 2
    ]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", jsonl(rows)))
    assert (result.code, "spread" in result.out) == (0, False)


def test_arms_of_few_tasks_lead_to_a_question() -> None:
    rows = [{"model": "m", "task": f"fix {w}", "type": arm, "passed": arm == "wrapped" or i > 2}
            for i, w in enumerate("abcdefghijk") for arm in ("plain", "wrapped")]  # fmt: skip
    with pytest.raises(DataError) as refused:
        read(rows)
    assert refused.value.name == "pooled-settings"
    assert refused.value.fixes[0].options == {"by": ("type",)}


def test_an_object_is_not_an_attempt_number() -> None:
    rows = [{"task": f"t{i % 5}", "passed": i % 3 == 0, "sample": {"text": "same"}}
            for i in range(10)]  # fmt: skip
    assert read(rows).n.tolist() == [2] * 5


def test_a_question_about_thousands_of_fields_comes_quickly() -> None:
    fields = {f"f{i}": {"correct": i % 2, "f1": i / 60, "precision": 0.5, "recall": 1 / 3, "tp": i}
              for i in range(60)}  # fmt: skip
    rows = [{"model": m, "fields": {f"d{d}": fields for d in range(3)}} for m in "abc"]
    before = time.process_time()
    with pytest.raises(DataError):
        passk_cli.read(rows)
    assert time.process_time() - before < 5
