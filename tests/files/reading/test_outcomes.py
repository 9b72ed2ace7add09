"""Which column is the outcome and what passes: questions with a command for each answer."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest

import passk_cli
from passk_cli import DataError, ParameterError, read
from tests.conftest import Passk
from tests.files.reading.shapes import lines
from tests.proposals import commands, run_printed

Rows = Sequence[dict[str, Any]]


def _rates(data: Any, **options: Any) -> dict[str, float]:
    """The pass rate of each model."""
    counts = read(data, **options)
    own = {name: counts.rows_of(i) for i, (name, *_) in enumerate(counts.series)}
    return {name: round(counts.c[rows].sum() / counts.n[rows].sum(), 4)
            for name, rows in own.items()}  # fmt: skip


def _wide(value: Any) -> Rows:
    """Rows of two arms in columns, with what value(arm, task) says of them."""
    return [
        {"task": f"t{i}"} | {f"{arm}_{key}": value(arm, i, key) for arm in ("base", "tuned")
                             for key in ("judge_score", "bleu")}
        for i in range(12)
    ]  # fmt: skip


LABELS = [("a", "a", "a."), ("b", "a", "B"), ("b", "b", "a"), ("a", "b", "a")] * 5
# Name → rows, and options of what has to be printed, in this order.
ASKED: dict[str, tuple[Rows, Sequence[str]]] = {
    "codes are asked about one by one": (
        [{"task": f"t{i}", "judge_label": i % 4} for i in range(20)],
        [f"--passes {code}  # if {code} passes, 5 of 20" for code in range(4)],
    ),
    "of faults none passes": (
        [{"task": f"t{i}", "total_vuln": i % 5} for i in range(20)],
        ["--field outcome=total_vuln --passes 0  # if 0 passes, 4 of 20",
         "--field outcome=total_vuln -m mean"],
    ),
    "every measure is named": (
        [{"task": f"t{i}", "answer_quality": i / 21, "faithfulness": i / 22, "recall": i / 23}
         for i in range(20)],
        [f"outcome={name} -m mean --bounds 0,1"
         for name in ("answer_quality", "faithfulness", "recall")],
    ),
    "what a harness flagged comes after scores, and what is missing is asked": (
        [{"task": f"t{i}", "overall_score": None if i % 3 == 0 else i % 7, "flagged": i % 3 == 0}
         for i in range(21)],
        [*(f"outcome=overall_score {way} --missing {kind}" for kind in ("fail", "drop")
           for way in ("--threshold 6.0", "-m mean")),
         "outcome=flagged", "outcome=flagged --passes false --fails true"],
    ),
    "arms in columns are models, by each measure": (
        _wide(lambda arm, i, key: (i + len(arm) + len(key)) % 5 / 4),
        ["outcome=base_judge_score,tuned_judge_score --field model=@column -m mean --bounds 0,1",
         "outcome=base_bleu,tuned_bleu --field model=@column -m mean --bounds 0,1"],
    ),
    "two systems are compared with one truth": (
        [{"task": f"t{i}", "true_label": t, "new_label": n, "old_label": o}
         for i, (t, n, o) in enumerate(LABELS)],
        ["outcome=new_label==true_label,old_label==true_label --field model=@column",
         "outcome=new_label==true_label", "outcome=old_label==true_label"],
    ),
    "lists are compared": (
        [{"task": f"t{i}", "gold_tools": [{"name": "a"}],
          "predict_tools": [{"name": "ab"[i % 2]}]} for i in range(10)],
        ["outcome=predict_tools==gold_tools"],
    ),
    "a letter is compared with a place": (
        [{"task": f"t{i}", "sample": {"question": f"Which is number {i}?", "choices": ["x", "y"],
                                      "answer": i % 2}, "answer": "AB"[i % 3 == 0]}
         for i in range(12)],
        ["outcome=answer==sample.answer"],
    ),
    "a flag of what is bad is asked both ways": (
        [{"task": f"t{i}", "reward_hack": i % 3 == 0} for i in range(20)],
        ["outcome=reward_hack  # if true passes, 7 of 20",
         "outcome=reward_hack --passes false --fails true  # if false passes, 13 of 20"],
    ),
    "words of how runs ended judge less than a score": (
        [{"task": f"t{i}", "status": ["completed", "timeout", "rate_limit_error"][i % 3],
          "accuracy_score": i % 90} for i in range(120)],
        ["outcome=accuracy_score -m mean"],
    ),
    "each suite has an outcome of its own": (
        [{"task": f"t{i}", "exact_match": i % 3 % 2 if i < 10 else None,
          "is_right": None if i < 10 else i % 2} for i in range(20)],
        ["'outcome=exact_match|is_right'"],
    ),
    "what is duplicated is asked after what agrees": (
        [{"id": f"t{i % 18}", "trial": 0, "answer": "AB"[i % 2], "pred": "AB"[i % 3 % 2],
          "response": f"It is {i}."} for i in range(20)],
        ["outcome=pred==answer  # asks about duplicated attempts"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_each_answer_has_a_command(passk: Passk, write: Any, name: str) -> None:
    rows, expected = ASKED[name]
    done = passk("estimate", write("runs.jsonl", lines(rows)))
    assert done.code == 3, done.out
    printed = [line for line in done.err.splitlines() if "  passk estimate " in line]
    for option, line in zip(expected, printed, strict=False):
        assert option in line, done.err
    assert len(printed) >= len(expected), done.err
    if "asks about" not in done.err:
        run_printed(passk, done.err, "-q")


def test_the_answers_that_are_left_out_are_named(passk: Passk, write: Any) -> None:
    names = [f"{word}_ok" for word in "alert order limit price stock route mail user page".split()]
    rows = [{"task": f"t{i}"} | {name: (i * len(name)) % 3 == 0 for name in names}
            for i in range(12)]  # fmt: skip
    said = passk("estimate", write("runs.jsonl", lines(rows))).err
    assert all(name in said for name in names)
    assert len(commands(said)) == 9


def test_several_comparisons_are_models_or_attempts() -> None:
    rows = [{"task": i, "truth": t, "new": n, "old": o} for i, (t, n, o) in enumerate(LABELS)]
    fields = {"outcome": "new==truth,old==truth", "model": "@column"}
    assert _rates(rows, fields=fields) == {"new": 0.5, "old": 0.75}
    listed = read(rows, fields={"outcome": "new==truth,old==truth"})
    assert (listed.n.tolist(), listed.c.sum()) == ([2] * 20, 25)
    for wrong in ("new==truth,new==old", "new==truth==old"):
        with pytest.raises(ParameterError):
            read(rows, fields={"outcome": wrong})


def test_answers_agree_without_a_full_stop_and_by_places() -> None:
    given = ["Yes.", "no", "B", "b", "5!", None]
    truth = ["yes", "No.", 1, "0", "5", "x"]
    rows = [{"task": i, "a": g, "b": t} for i, (g, t) in enumerate(zip(given, truth, strict=True))]
    counts = read(rows, fields={"outcome": "a==b"}, missing="fail")
    assert counts.c.tolist() == [1, 1, 1, 0, 0, 0]


def test_outcomes_of_which_a_row_has_one() -> None:
    rows = [{"task": i, "old": i % 2 if i < 6 else None, "new": None if i < 6 else True}
            for i in range(10)]  # fmt: skip
    counts = read(rows, fields={"outcome": "old|new"})
    assert (counts.n.sum(), counts.c.sum()) == (10, 7)
    with pytest.raises(DataError, match=r"0 and true|true and 0"):
        read([*rows, {"task": "both", "old": 0, "new": True}], fields={"outcome": "old|new"})


def test_what_only_failures_have_is_no_setting(passk: Passk, write: Any) -> None:
    rng = random.Random(1)
    rows = [
        {"task": f"t{i}", "passed": passed, "spread": None if passed else rng.random()}
        for i in range(40) for passed in (i % 2 == 0,) * 2
    ]  # fmt: skip
    done = passk("estimate", write("runs.jsonl", lines(rows)))
    assert (done.code, "spread" in done.out) == (0, False)


def test_arms_of_few_tasks_are_asked_about() -> None:
    rows = [{"model": "m", "task": f"fix {w}", "type": arm, "passed": arm == "wrapped" or i > 2}
            for i, w in enumerate("abcdefghijk") for arm in ("plain", "wrapped")]  # fmt: skip
    with pytest.raises(DataError) as refused:
        read(rows)
    assert refused.value.name == "pooled-settings"
    assert refused.value.settles[0].options == {"by": ("type",)}


def test_an_object_numbers_no_attempts() -> None:
    rows = [{"task": f"t{i % 5}", "passed": i % 3 == 0, "sample": {"text": "same"}}
            for i in range(10)]  # fmt: skip
    assert read(rows).n.tolist() == [2] * 5


def test_a_document_of_thousands_of_fields_is_asked_about_soon() -> None:
    fields = {f"f{i}": {"correct": i % 2, "f1": i / 60, "precision": 0.5, "recall": 1 / 3, "tp": i}
              for i in range(60)}  # fmt: skip
    rows = [{"model": m, "fields": {f"d{d}": fields for d in range(3)}} for m in "abc"]
    before = time.process_time()
    with pytest.raises(DataError):
        passk_cli.read(rows)
    assert time.process_time() - before < 5
