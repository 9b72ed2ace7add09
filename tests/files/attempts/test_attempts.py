"""Values of attempts in addition to their outcome, read from every kind of file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from passk_cli import DataError, ParameterError, estimate, read
from passk_cli.commands.compare.sensitivity import halve_attempts
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from tests.conftest import Write, jsonl

ROWS: list[dict[str, Any]] = [
    {"model": m, "task": t, "trial": i, "score": s, "passed": s > 0.4, "answer": a, "code": a}
    for m, t, i, s, a in [
        ("a", "t1", 0, 0.25, "x"), ("a", "t1", 1, 0.5, "y"), ("a", "t1", 2, 0.5, " x "),
        ("a", "t2", 0, 1.0, None), ("b", "t1", 0, 0.75, "x"), ("b", "t1", 1, 0.75, "x"),
    ]
]  # fmt: skip


def _multiset(counts: Counts, role: str) -> dict[tuple[str, str], list[tuple[Any, int, int]]]:
    """(model, task) → [(value, count, passed), …]."""
    amounts, multiset = counts.attempts[role], {}
    for cell, value, count, passed in zip(
        *(
            getattr(amounts, name).tolist()
            for name in ("row_cell_indices", "value", "count", "pass_count")
        ),
        strict=True,
    ):
        series, task = counts.cells[cell]
        multiset.setdefault((series[0], task), []).append((value, count, passed))
    return multiset


@pytest.mark.filterwarnings("ignore:.* because guard needs")
@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, (1.0 + 0.5 + 0 + 0) / 4),
        ({"bounds": (-1, 1)}, (1.0 + 0.5 - 1 + 0) / 4),
        ({"metrics": "best@4"}, 1.0),
        ({"metrics": "worst@4"}, 0.0),
        ({"metrics": "worst@4", "bounds": (-2, 1)}, -2.0),
    ],
)
def test_a_missing_score_that_fails_is_the_lowest(options: dict[str, Any], value: float) -> None:
    rows = [{"task": t, "score": s} for t in "ab" for s in (1.0, None, 0.5, 0.0)]
    result = estimate(rows, **{"metrics": "mean", "missing": "fail", **options})
    (estimated,) = result.frame["estimate"]
    assert estimated == pytest.approx(value)
    names = {message["name"]: message for message in result.messages}
    assert names["missing-scores"]["fields"]["attempts"] == 2


@pytest.mark.filterwarnings("ignore:passk cannot compute an interval for mean")
def test_a_missing_score_cannot_fail_if_scores_are_below_zero() -> None:
    rows = [{"task": t, "score": s} for t in "ab" for s in (1.0, None, -0.5)]
    problem = r"a failure would score 0, but some scores are lower: 2, .* bounds=.LOW, HIGH."
    with pytest.raises(DataError, match=problem):
        estimate(rows, "mean", missing="fail")
    # An attempt with a verdict needs a score in any case.
    judged = [{"task": "a", "passed": p, "score": None} for p in (True, None)]
    with pytest.raises(DataError, match="attempts without a score in 'score': "):
        estimate(judged, ("pass@1", "mean"), missing="fail")
    score_rows = [{"task": "a", "passed": p, "score": 0.5} for p in (True, None)]
    assert estimate(score_rows, "mean", missing="fail").frame["estimate"].tolist() == [0.5]


def test_a_missing_score_never_passes_a_threshold() -> None:
    rows = [{"task": t, "score": s} for t in "ab" for s in (1.0, None)]
    assert read(rows, missing="fail", threshold=(0.5, 0.9)).c.tolist() == [1, 1, 1, 1]
    with pytest.raises(
        ParameterError, match="a failed attempt gets the score 0, which passes at the threshold 0; "
    ):
        read(rows, missing="fail", threshold=(0, 0.9))


def _data_of_kind(kind: str, rows: list[dict[str, Any]], folder: Path) -> Any:
    frame = pd.DataFrame(rows)
    if kind == "frame":
        return frame
    path = folder / f"rows.{kind}"
    if kind == "jsonl":
        path.write_text(jsonl(rows))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "frame"])
def test_scores_are_read_from_every_kind_of_file(kind: str, tmp_path: Path) -> None:
    fields = {"outcome": "passed"}
    counts = read(_data_of_kind(kind, ROWS, tmp_path), fields=fields, attempts=["score"])
    assert _multiset(counts, "score") == {
        ("a", "t1"): [(0.25, 1, 0), (0.5, 2, 2)],
        ("a", "t2"): [(1.0, 1, 1)],
        ("b", "t1"): [(0.75, 2, 2)],
    }


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "frame"])
def test_answers_differ_by_their_text(kind: str, tmp_path: Path) -> None:
    data = _data_of_kind(kind, ROWS, tmp_path)
    counts = read(data, fields={"outcome": "passed"}, attempts=["answer"])
    answers = _multiset(counts, "answer")
    assert sorted((count, passed) for _, count, passed in answers["a", "t1"]) == [(1, 1), (2, 1)]
    assert answers["a", "t2"] == [(-1, 1, 1)]
    assert counts.attempts["answer"].valueless == 1
    # The same text has the same code everywhere.
    assert answers["b", "t1"][0][0] in [value for value, _, _ in answers["a", "t1"]]


def test_attempts_are_ordered_by_number_or_time(tmp_path: Path) -> None:
    times = [
        {"task": "t", "passed": True, "attempt": "2026-01-02T10:00:00Z"},
        {"task": "t", "passed": False, "attempt": "2026-01-02T09:59:30Z"},
        {"task": "t", "passed": False, "attempt": "2026-01-03"},
    ]
    (only,) = _multiset(
        read(_data_of_kind("jsonl", times, tmp_path), attempts=["attempt"]), "attempt"
    ).values()
    assert [passed for _, _, passed in only] == [0, 1, 0]
    assert only[1][0] - only[0][0] == 30
    numbers = [{"task": "t", "passed": i == 10, "attempt": i} for i in (10, 9, 2)]
    (only,) = _multiset(
        read(_data_of_kind("jsonl", numbers, tmp_path), attempts=["attempt"]), "attempt"
    ).values()
    assert only == [(2, 1, 0), (9, 1, 0), (10, 1, 1)]


def test_the_order_of_lines_is_used_on_request(tmp_path: Path, write: Write) -> None:
    rows = [{"task": "t", "passed": p} for p in (True, False, True, True)]
    (only,) = _multiset(
        read(_data_of_kind("jsonl", rows, tmp_path), attempts=["line"]), "attempt"
    ).values()
    assert [passed for _, _, passed in only] == [1, 0, 1, 1]
    lists = write(
        "lists.jsonl",
        '{"task": "t", "outcomes": [true, false]}\n{"task": "u", "outcomes": [0, 1]}\n',
    )
    multiset = _multiset(read(lists, attempts=["line"]), "attempt")
    assert [[p for *_, p in rows] for rows in multiset.values()] == [[1, 0], [0, 1]]


def test_lists_of_solutions_and_scores_are_read_by_position(tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    record = {"task_id": "t", "graded_list": [True, False, True], "code_list": ["p", "q", "p"]}
    path.write_text(json.dumps([record]))
    (only,) = _multiset(read(path, attempts=["solution"]), "solution").values()
    assert sorted((count, passed) for _, count, passed in only) == [(1, 0), (2, 2)]
    path.write_text(json.dumps([{"task_id": "t", "scores": [0.5, 0.25, 0.5]}]))
    (only,) = _multiset(read(path, attempts=["score"], threshold=0.4), "score").values()
    assert only == [(0.25, 1, 0), (0.5, 2, 2)]


def test_pass_and_fail_words_are_scores_of_one_and_zero(tmp_path: Path) -> None:
    rows = [{"task": "t", "passed": word} for word in ("PASS", "fail", "true")]
    (only,) = _multiset(
        read(_data_of_kind("jsonl", rows, tmp_path), attempts=["score"]), "score"
    ).values()
    assert only == [(0.0, 1, 0), (1.0, 2, 2)]


def test_policies_for_duplicates_and_missing_apply_to_attempts(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "attempt": 0, "passed": True, "answer": "x"},
        {"task": "t", "attempt": 0, "passed": False, "answer": "y"},
        {"task": "t", "attempt": 1, "passed": None, "answer": "z"},
        {"task": "t", "attempt": 2, "passed": True, "answer": "x"},
    ]
    data = _data_of_kind("jsonl", rows, tmp_path)
    for duplicates, missing, shapes in (
        ("first", "drop", [(2, 2)]),
        ("last", "drop", [(1, 0), (1, 1)]),
        ("keep", "fail", [(1, 0), (1, 0), (2, 2)]),
    ):
        counts = read(data, duplicates=duplicates, missing=missing, attempts=["answer"])
        (only,) = _multiset(counts, "answer").values()
        assert sorted((count, passed) for _, count, passed in only) == shapes
        assert sum(count for _, count, _ in only) == int(counts.n[0])


def test_shards_and_row_order_do_not_matter(tmp_path: Path) -> None:
    first, second = tmp_path / "x", tmp_path / "y"
    first.mkdir()
    second.mkdir()
    fields = {"outcome": "passed"}
    counts = read(_data_of_kind("jsonl", ROWS, tmp_path), fields=fields, attempts=["score"])
    parts = [
        _data_of_kind("jsonl", ROWS[3:][::-1], first),
        _data_of_kind("jsonl", ROWS[:3], second),
    ]
    split = read([str(p) for p in parts], fields=fields, attempts=["score"])
    assert _multiset(counts, "score") == _multiset(split, "score")


@pytest.mark.parametrize(
    ("rows", "attempts", "message"),
    [
        ([{"task": "t", "passed": 1}], "answer", 'fields={"answer": COLUMN} names it'),
        ([{"task": "t", "passed": 1}], "attempt", "no column with a usual name for the attempt"),
        ([{"task": "t", "n": 3, "c": 1}], "score", "scores need a row (or a list entry) per"),
        (
            [{"task": "t", "passed": 1, "score": None}], "score",
            "attempts without a score in 'score': 1, first of rows at task t",
        ),
        ([{"task": "t", "score": 1e400}], "score", "scores that are infinite: 1"),
        (
            [{"task": "t", "passed": 1, "trial": "first"}], "attempt",
            "attempts without a number or a time in 'trial': 1",
        ),
        (
            [{"task": "t", "passed": 1, "score": 0.5, "reward": 0.5}], "score",
            "2 columns could be the score: score, reward",
        ),
    ],
)  # fmt: skip
def test_attempts_that_cannot_be_read_are_refused(
    rows: list[dict[str, Any]], attempts: str, message: str, tmp_path: Path
) -> None:
    threshold = 0.5 if "passed" not in rows[0] else None
    with pytest.raises(DataError) as caught:
        read(_data_of_kind("jsonl", rows, tmp_path), attempts=[attempts], threshold=threshold)
    assert message in str(caught.value)


def test_attempts_that_share_their_number_are_in_either_order(tmp_path: Path) -> None:
    rows = [{"task": "t", "trial": 1, "passed": p} for p in (True, False)]
    data = _data_of_kind("jsonl", rows, tmp_path)
    counts = read(data, attempts=["attempt"], duplicates="keep")
    assert estimate(counts, "first@1").frame["estimate"].tolist() == [0.5]


def test_thresholds_become_a_group(tmp_path: Path) -> None:
    data = _data_of_kind("jsonl", ROWS, tmp_path)
    counts = read(data, fields={"outcome": "passed"}, attempts=["score"])
    split = counts.at_thresholds([0.5, 0.75])
    assert split.group_names == ("threshold",)
    for threshold in (0.5, 0.75):
        unsplit = read(data, fields={"outcome": "score"}, threshold=threshold)
        rows = [i for i, (series, _) in enumerate(split.cells) if series[1] == f"{threshold:g}"]
        assert split.n[rows].tolist() == unsplit.n.tolist()
        assert split.c[rows].tolist() == unsplit.c.tolist()
    assert np.bincount(split.attempts["score"].row_cell_indices).sum() == 2 * len(
        counts.attempts["score"].row_cell_indices
    )


def test_leaving_a_group_out_removes_its_attempts(tmp_path: Path) -> None:
    rows = [dict(row, kind="even" if i % 2 else "odd") for i, row in enumerate(ROWS)]
    data = _data_of_kind("jsonl", rows, tmp_path)
    fields = {"outcome": "passed"}
    split = read(data, fields=fields, by=["kind"], attempts=["score"])
    all_counts = read(data, fields=fields, attempts=["score"])
    assert _multiset(split.merged_over_group_column("kind"), "score") == _multiset(
        all_counts, "score"
    )
    odd = read(data, fields=fields, where="kind = 'odd'", attempts=["score"])
    assert _multiset(split.merged_over_group_column("kind", "even"), "score") == _multiset(
        odd, "score"
    )


def test_half_of_the_attempts_is_a_subset() -> None:
    attempts = AttemptValuesByCell(
        np.array([0, 2, 3]), np.array([0.1, 0.2, 0.3]), np.array([3, 3, 4]), np.array([0, 3, 2])
    )
    counts = Counts.from_cells([("m", "a", 6, 3), ("m", "b", 4, 2)])
    counts = Counts(**{**counts.__dict__, "attempts": {"score": attempts}})
    half = halve_attempts(counts, seed=0).attempts["score"]
    assert np.bincount(half.row_cell_indices, half.count).tolist() == [3, 2]
    assert np.all(half.pass_count <= half.count)
    assert np.all(half.pass_count[half.value == 0.1] == 0)


def test_an_error_names_the_option_that_reads_scores() -> None:
    with pytest.raises(DataError, match=r"read them again with read\(…, attempts=\['score'\]\)"):
        estimate(Counts.from_cells([("m", "a", 2, 1)]), "best@2")
