"""Python as its users meet it: names, data of every kind, counts that are read already, options."""

from __future__ import annotations

import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.api import in_python
from passk_cli.commands import COMMANDS
from tests.conftest import SAMPLES, Passk

TAU, CRUX = SAMPLES / "tau_airline.csv", SAMPLES / "cruxeval.jsonl.gz"
ROWS: list[dict[str, Any]] = [
    {"model": model, "task": task, "passed": (at + len(task)) % 3 == 0, "repo": task[0]}
    for model in ("a", "b") for task in ("x1", "x22", "007") for at in range(4 + (model == "b"))
]  # fmt: skip
FRAME = pd.DataFrame(ROWS)


class Arrow:
    """Rows that hand themselves over as Arrow does, and can do nothing else."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def kinds() -> Iterator[tuple[str, Any]]:
    """Name → a way to hold the rows."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({name: [row[name] for row in ROWS] for name in ROWS[0]})
    yield "rows", ROWS
    yield "pyarrow", table
    yield "a stream, once", Arrow(table.to_reader())
    yield "DuckDB", duckdb.from_arrow(table)


def assert_same(counts: passk_cli.Counts) -> None:
    expected = passk_cli.read(FRAME)
    pd.testing.assert_frame_equal(counts.to_frame(), expected.to_frame())


def test_every_kind_of_data_gives_the_same_counts(tmp_path: Path) -> None:
    for _, data in kinds():
        assert_same(passk_cli.read(data))
    FRAME.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    assert_same(passk_cli.read(str(tmp_path / "x.jsonl")))
    assert_same(passk_cli.read([tmp_path / "x.jsonl"]))


def test_polars_needs_no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = polars.DataFrame(ROWS)
    assert_same(passk_cli.read(frame))
    assert_same(passk_cli.read(frame.with_columns(polars.col("task").cast(polars.Categorical))))
    with pytest.raises(passk_cli.ParameterError, match="cannot read a LazyFrame; give paths, rows"):
        passk_cli.read(frame.lazy())


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([], passk_cli.ParameterError, "no files given"),
        ([3], passk_cli.ParameterError, "cannot read a list of int; give paths, rows (a list"),
        (3, passk_cli.ParameterError, "cannot read a int; give paths, rows (a list of dicts)"),
        ([{"task": "a", "passed": 1}, 3], passk_cli.DataError, "<rows>:2: a int, not a row"),
        (
            [{"task": "a", "passed": 1}, {"task": "a", "passed": "maybe"}],
            passk_cli.DataError,
            '<rows>:2: "passed" is "maybe"; expected true/false, 0/1 or a score with threshold=',
        ),
        (
            [{"task": "a", "passed": float("nan")}],
            passk_cli.DataError,
            'count it as a failure with missing="fail", or leave the attempt out with'
            ' missing="drop"',
        ),
        (
            pd.DataFrame({"task": ["a", "b"], "n": [3, 3], "c": [1, 4]}),
            passk_cli.DataError,
            "DataFrame: n and c of task 'b' cannot be counts; they need whole numbers",
        ),
    ],
)
def test_data_that_cannot_be_used(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        passk_cli.read(data)


def test_rows_mean_what_they_mean_in_a_file() -> None:
    rows = [
        {
            "task": 7,
            "passed": np.bool_(True),
            "when": pd.Timestamp("2026-01-31"),
            "x": np.array([1]),
        },
        {"task": "007", "passed": True, "cost": float("inf")},
        {"task": 7, "passed": [True, float("nan")]},
    ]
    counts = passk_cli.read(rows[:2])
    assert (counts.tasks, counts.c.tolist()) == (("007", "7"), [1, 1])
    lists = passk_cli.read(rows[2:], missing="drop")
    assert (lists.series, lists.n.tolist()) == ((("model",),), [1])


def test_counts_show_what_they_are() -> None:
    counts = passk_cli.read(FRAME, by="repo", cluster="repo", attempts="solution",
                            fields={"solution": "repo"})  # fmt: skip
    assert repr(counts) == (
        "<Counts: 2 models, 3 tasks, 27 attempts, 11 passed, by repo, with solution>"
    )
    frame = counts.to_frame()
    assert list(frame.columns) == ["model", "repo", "task", "n", "c"]
    again = passk_cli.read(frame, by=["repo"])
    assert again.series == counts.series
    assert again.c.tolist() == counts.c.tolist()


def test_counts_know_their_cluster() -> None:
    counts = passk_cli.read(FRAME, cluster="repo")
    assert list(counts.to_frame().columns)[-1] == "repo"
    findings = passk_cli.estimate(counts, "pass@1")
    assert findings.signature["cluster"] == "repo"
    assert "clustered by repo" in str(findings)
    assert "cluster" not in passk_cli.estimate(FRAME, "pass@1").signature


def test_counts_are_not_read_again() -> None:
    counts = passk_cli.read(FRAME)
    for field, value in (
        ("by", "repo"),
        ("where", "n > 1"),
        ("cluster", "repo"),
        ("missing", "fail"),
    ):
        with pytest.raises(passk_cli.ParameterError, match=f"{field}= is for reading, and these"):
            passk_cli.estimate(counts, **{field: value})
    with pytest.raises(passk_cli.DataError, match=r"Counts: no column 'repo'; read them with read"):
        passk_cli.compare(counts, sensitivity="repo")
    with pytest.raises(passk_cli.ParameterError, match=r"read\(…, attempts=\['answer'\]\)"):
        passk_cli.estimate(counts, "maj@2")


def test_every_option_is_there_in_python() -> None:
    scores = [{"task": t, "score": (t * 3 + at) % 5 / 4} for t in range(9) for at in range(3)]
    bare, bounded = (passk_cli.estimate(scores, "mean", bounds=bounds) for bounds in (None, (0, 1)))
    assert bare.frame.interval[0] == "bca"
    assert any("(bounds=(LOW, HIGH))" in note for note in bare.notes)
    assert bounded.frame.interval[0] == "guard"
    assert bounded.signature["bounds"] == "0,1"
    assert passk_cli.estimate(scores, "mean", bounds="0,1").signature == bounded.signature


@pytest.mark.parametrize("k", ["1,2", [1, 2], (1, "2"), range(1, 3), np.array([1, 2]), ["1,2"]])
def test_numbers_are_taken_as_python_has_them(k: Any) -> None:
    findings = passk_cli.estimate(FRAME, k=k, seed=np.int64(3), level=np.float64(0.9))
    assert findings.signature["metrics"] == "pass@1,2 pass^2"
    assert set(findings.frame.level) == {0.9}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("seed", 1.5, "seed=1.5: write a whole number"),
        ("level", [0.9], "level=0.9: write a number"),
        ("skip_bad", "yes", "skip_bad=True yes: it is True or False"),
        ("sort", 3, "sort=3: write COLUMN"),
        ("models", [3], "models=3: write NAME"),
        ("where", "", "where= is empty; leave it out or give it a value"),
        ("fields", {"task": 3}, "field task=3: no such column"),
    ],
)
def test_values_of_another_type_are_refused(option: str, value: Any, message: str) -> None:
    with pytest.raises(passk_cli.PasskError) as refusal:
        passk_cli.estimate(FRAME, **{option: value})
    assert message in str(refusal.value).replace('fields="', "field ").replace('"', "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--where a: b: no column 'b'", "where=\"a\": b: no column 'b'"),
        ("see --by", "see by="),
        ("leave --test out, or use --test interval", 'leave test= out, or use test="interval"'),
        ("--strict says how --min is read", "--strict says how --min is read"),
        ("name it with --field task=…; a, b", 'name it with fields="task=…"; a, b'),
        ("passk order --order-from-lines takes them", "passk order --order-from-lines takes them"),
        ("the model a--by and pre-trained -k", "the model a--by and pre-trained k="),
        ("--interval none: the verdicts", 'interval="none": the verdicts'),
        ("10 - 3, −1 and -1", "10 - 3, −1 and -1"),
    ],
)
def test_spelling(text: str, expected: str) -> None:
    if "--min" in text and "gate" in COMMANDS:
        pytest.skip("gate has these options")
    assert in_python(text, {}) == expected


def test_what_there_is_can_be_seen() -> None:
    shown = dir(passk_cli)
    assert {*COMMANDS, "read", "Counts", "Findings", "PasskWarning", "pass_at_k"} <= set(shown)
    assert all(hasattr(passk_cli, name) for name in shown)
    module: ModuleType = passk_cli
    text = pydoc.render_doc(module, renderer=pydoc.plaintext)
    for name in (*COMMANDS, "read", "pass_hat_k"):
        assert re.search(rf"^    {name}\(", text, re.MULTILINE), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense


def test_warnings_stand_at_the_callers_line(passk: Passk) -> None:
    printed = passk("estimate", CRUX, "-m", "pass@1", "--model", "gpt-4-0613").err
    with pytest.warns(passk_cli.PasskWarning) as caught:
        passk_cli.estimate(CRUX, "pass@1", models="gpt-4-0613")
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        'attempts of one model at one task differ in temperature and are pooled; by="temperature"'
        " keeps them apart"
    )
    assert "are pooled; --by temperature keeps them apart" in printed


def test_numbers_are_those_of_the_command_line(passk: Passk) -> None:
    none = passk_cli.estimate(passk_cli.read(TAU), ["pass@1"], interval="none")
    assert np.isnan(none.frame.low.astype(float)[0])
    assert none.tables[0]["pass@1"][0] == none.frame.estimate[0] == pytest.approx(0.42)
