"""Python as its users meet it: names, data of every kind, counts that are read already, options."""

from __future__ import annotations

import inspect
import os
import pickle
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
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.errors import ParameterError, PasskWarning
from passk_cli.python.python_calls import spell_for_python
from passk_cli.suggested_fix import OptionWithValue
from tests import stub
from tests.cli.test_messages import MIXED
from tests.conftest import SAMPLES, Passk, Write, long_cases

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
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    yield "rows", ROWS
    yield "columns", columns
    yield "arrays", {name: np.array(values) for name, values in columns.items()}
    yield "Series", {name: pd.Series(values, range(9, 36)) for name, values in columns.items()}
    yield "Arrow's columns", dict(zip(table.column_names, table.columns, strict=True))
    yield "pyarrow", table
    yield "batch", table.to_batches()[0]
    yield "reader once", table.to_reader()
    yield "stream once", Arrow(table.to_reader())
    yield "DuckDB", duckdb.from_arrow(table)


KINDS = (
    "rows", "columns", "arrays", "Series", "Arrow's columns", "pyarrow", "batch", "reader once",
    "stream once", "DuckDB",
)  # fmt: skip


def assert_same(counts: passk_cli.Counts) -> None:
    expected = passk_cli.read(FRAME)
    pd.testing.assert_frame_equal(counts.to_frame(), expected.to_frame())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_gives_the_same_counts(kind: str) -> None:
    assert_same(passk_cli.read(dict(kinds())[kind]))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:pass@1 drop .* decides nothing")
@pytest.mark.parametrize("kind", KINDS)
def test_a_baseline_is_data_of_any_kind(kind: str, tmp_path: Path) -> None:
    baseline, path = FRAME[FRAME.model == "a"], tmp_path / "old.jsonl"
    FRAME.to_json(path, orient="records", lines=True)
    rules: dict[str, Any] = {"max_drop": {"pass@1": 1}, "by": ["repo"]}
    in_file = passk_cli.gate(baseline, baseline=path, **rules)
    in_memory = passk_cli.gate(baseline, baseline=dict(kinds())[kind], **rules)
    pd.testing.assert_frame_equal(in_memory.frame, in_file.frame)
    assert in_file.signature["baseline"] == "old.jsonl"


@pytest.mark.filterwarnings("ignore:pass@1 drop .* decides nothing")
def test_a_baseline_that_is_read() -> None:
    by, rule = {"by": ["repo"]}, {"max_drop": {"pass@1": 1}}
    plain, split = passk_cli.read(FRAME), passk_cli.read(FRAME, **by)
    expected = passk_cli.gate(FRAME, baseline=FRAME, **by, **rule)
    assert expected.signature["baseline"] == "DataFrame"
    for data, baseline, more in ((split, split, {}), (FRAME, split, by)):
        findings = passk_cli.gate(data, baseline=baseline, **more, **rule)
        pd.testing.assert_frame_equal(findings.frame, expected.frame)
    assert passk_cli.gate(plain, baseline=FRAME, **rule).signature["tasks"] == 3
    with pytest.raises(
        passk_cli.ParameterError, match="counts are split by repo; read the other data"
    ):
        passk_cli.gate(split, baseline=FRAME, **rule)
    with pytest.raises(
        passk_cli.DataError, match=r"Counts: no column 'repo'; read the data again with read"
    ):
        passk_cli.gate(FRAME, baseline=plain, **by, **rule)


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ("nobody", 'baseline="nobody": no such file, and no such model; there are a, b'),
        ([], "no files are given"),
        (3, "int cannot be read; give paths"),
        (["nothing.csv"], "nothing.csv: no such file; check the path"),
    ],
)
def test_a_baseline_that_cannot_be_read(baseline: Any, message: str) -> None:
    with pytest.raises(passk_cli.PasskError, match=re.escape(message)):
        passk_cli.gate(FRAME, baseline=baseline, no_regression=True)


def test_data_is_not_shown_as_a_name() -> None:
    for data, kind in ((FRAME, "DataFrame"), (ROWS, "dict"), (passk_cli.read(FRAME), "Counts")):
        with pytest.raises(passk_cli.ParameterError) as refusal:
            passk_cli.compare(FRAME, sensitivity=data)
        assert f"<{kind}>" in str(refusal.value)
        assert len(str(refusal.value)) < 400


RATES = {"task": ["a", "b", "c"], "model": ["m", "m", "o"], "rate": [0.1, 0.5, 1]}
RATE_ROWS = [dict(zip(RATES, row, strict=True)) for row in zip(*RATES.values(), strict=True)]


@pytest.mark.parametrize("kind", ["columns", "rows", "frame", "Arrow", "DuckDB", "file"])
def test_exact_rates_in_memory(kind: str, tmp_path: Path) -> None:
    pyarrow, path = pytest.importorskip("pyarrow"), tmp_path / "rates.csv"
    pd.DataFrame(RATES).to_csv(path, index=False)
    data = {
        "columns": RATES, "rows": RATE_ROWS, "frame": pd.DataFrame(RATES),
        "Arrow": pyarrow.table(RATES), "DuckDB": duckdb.from_arrow(pyarrow.table(RATES)),
        "file": path,
    }  # fmt: skip
    findings = passk_cli.curve(data[kind])
    expected = passk_cli.curve(rates={"m": [0.1, 0.5], "o": [1]})
    pd.testing.assert_frame_equal(findings.frame, expected.frame)
    with pytest.raises(
        passk_cli.ParameterError,
        match="by=: this option applies to outcomes, but the data contains exact",
    ):
        passk_cli.curve(data[kind], by="task")


def test_wrong_exact_rates_in_memory_are_refused() -> None:
    with pytest.raises(passk_cli.DataError, match=r'<rows>.*: "rate" is 2; expected a probability'):
        passk_cli.curve({"task": ["a"], "rate": [2]})
    beside = passk_cli.curve(FRAME.assign(rate=0.5)).frame
    pd.testing.assert_frame_equal(beside, passk_cli.curve(FRAME).frame)
    pd.testing.assert_frame_equal(beside, passk_cli.curve(passk_cli.read(FRAME)).frame)


def test_paths_are_data(tmp_path: Path) -> None:
    FRAME.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    assert_same(passk_cli.read(str(tmp_path / "x.jsonl")))
    assert_same(passk_cli.read([tmp_path / "x.jsonl"]))


def test_polars_needs_no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    import sys

    # The text of this frame of pandas is held by pyarrow.
    expected = passk_cli.read(FRAME).to_frame()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = polars.DataFrame(ROWS)
    for data in (frame, frame.with_columns(polars.col("task").cast(polars.Categorical))):
        pd.testing.assert_frame_equal(passk_cli.read(data).to_frame(), expected)
    with pytest.raises(
        passk_cli.DataError, match=r"LazyFrame cannot be read; use \.collect\(\) to get a DataFrame"
    ):
        passk_cli.read(frame.lazy())


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([], passk_cli.ParameterError, "no files are given"),
        ([3], passk_cli.DataError, "a list of int cannot be read; give paths, rows (a list"),
        (3, passk_cli.DataError, "int cannot be read; give paths, rows (a list of dicts), columns"),
        (iter(ROWS), passk_cli.DataError, "list_iterator cannot be read; use list(…) to get rows"),
        (
            [{"task": "a", "passed": 1}, 3],
            passk_cli.DataError,
            "<rows>:2: a value of type int is not a row",
        ),
        ({}, passk_cli.ParameterError, "no files are given"),
        ({"task": []}, passk_cli.DataError, "<rows>: the data contains no rows; expected one"),
        (
            {"task": ["a", "b"], "passed": [1]},
            passk_cli.DataError,
            "columns: the columns have different lengths (task 2, passed 1); give each column",
        ),
        (
            {"task": "abc", "passed": [1, 0, 1]},
            passk_cli.DataError,
            "columns: column 'task' is a str; give a list with one value per row",
        ),
        ({"m": FRAME, "o": 3}, passk_cli.DataError, "columns: column 'o' is a int; give a list"),
        (
            [{"task": "a", "passed": 1}, {"task": "a", "passed": "maybe"}],
            passk_cli.DataError,
            '1 1, 1 maybe; fails="maybe" or passes=("1", "maybe")',
        ),
        (
            [{"task": "a", "passed": float("nan")}],
            passk_cli.DataError,
            # Without that attempt there is none: missing="drop" is no way out.
            'missing="fail" counts them as failures; missing="bounds" gives ranges',
        ),
        (
            [{"task": "a", "passed": float("nan")}, {"task": "b", "passed": 1}],
            passk_cli.DataError,
            'missing="drop" leaves these attempts out',
        ),
        (
            pd.DataFrame({"task": ["a", "b"], "n": [3, 3], "c": [1, 4]}),
            passk_cli.DataError,
            "DataFrame: record 2: n = 3 and c = 4 cannot be counts; n and c must be whole numbers",
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


def test_counts_know_that_they_are_clustered() -> None:
    counts = passk_cli.Counts.from_cells([("m", task, 4, c) for c, task in enumerate("abcd")])
    clustered = counts.with_clusters({"a": "x", "b": "x", "c": "y", "d": "y"})
    assert (counts.cluster, clustered.cluster) == (None, "cluster")
    assert list(clustered.to_frame().cluster) == ["x", "x", "y", "y"]
    assert passk_cli.estimate(clustered, "pass@1").signature["cluster"] == "cluster"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": 3}, "cluster=3: write COLUMN"),
        ({"cluster": " "}, "cluster=: the value is empty; give a value, or leave the option out"),
        ({"normalise": "foo"}, 'normalise="foo": choose one of none, space, python'),
        ({"similarity": "x"}, 'similarity="x": write a number'),
        ({"similarity": 2}, "similarity=2: the similarity must be above 0 and at most 1"),
        ({"attempts": ["foo"]}, 'attempts="foo": choose one of score, answer, solution, cost'),
        ({"missing": "foo"}, 'missing="foo": choose one of error, fail, drop'),
        (
            {"by": ["se"]},
            'by="se": the output already has a column with this name; rename the column in',
        ),
        ({"by": [3]}, "by=3: write COLUMN"),
    ],
)
def test_reading_is_refused_in_the_same_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(passk_cli.ParameterError, match=re.escape(message)):
        passk_cli.read(FRAME, **options)


def test_a_group_is_one_column() -> None:
    twice = passk_cli.compare(FRAME, "pass@1", by=["repo", "repo"]).frame
    pd.testing.assert_frame_equal(twice, passk_cli.compare(FRAME, "pass@1", by="repo").frame)
    with pytest.raises(
        passk_cli.ParameterError, match='by="letters": the output already has a column with'
    ):
        passk_cli.compare(FRAME.assign(letters=FRAME.repo), "pass@1", by=["letters"])


def test_counts_are_not_read_again() -> None:
    counts = passk_cli.read(FRAME)
    for field, value in (
        ("by", "repo"),
        ("where", "n > 1"),
        ("cluster", "repo"),
        ("missing", "fail"),
    ):
        with pytest.raises(
            passk_cli.ParameterError, match=f"these counts were already read; leave {field}="
        ):
            passk_cli.estimate(counts, **{field: value})
    with pytest.raises(
        passk_cli.DataError, match=r"Counts: no column 'repo'; read the data again with read"
    ):
        passk_cli.compare(counts, sensitivity="repo")
    with pytest.raises(passk_cli.DataError, match=r"read\(…, attempts=\['answer'\]\)"):
        passk_cli.estimate(counts, "maj@2")


def test_every_option_exists_in_python() -> None:
    scores = [{"task": t, "score": (t * 3 + at) % 5 / 4} for t in range(9) for at in range(3)]
    with pytest.warns(PasskWarning, match="bounds=") as warned:
        bare = passk_cli.estimate(scores, "mean")
    assert len(warned) == 1
    bounded = passk_cli.estimate(scores, "mean", bounds=(0, 1))
    assert bare.frame.interval[0] == "bca"
    assert any('bounds="0,1"' in item["text"] for item in bare.messages)
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
        ("skip_bad", "yes", "skip_bad=yes: it is True or False"),
        ("sort", 3, "sort=3: write COLUMN"),
        ("models", [3], "models=3: write NAME"),
        ("where", "", "where=: the value is empty; give a value, or leave the option out"),
        (
            "where",
            FRAME.assign(there=True).there,
            "where=: the value is a boolean mask; write the condition as",
        ),
        ("by", [0, 1, 2] * 90, "by=0, 1, 2 and 267 more: write COLUMN"),
        ("fields", {"task": 3}, "no column '3'"),
    ],
)
def test_values_of_another_type_are_refused(option: str, value: Any, message: str) -> None:
    with pytest.raises(passk_cli.PasskError) as refusal:
        passk_cli.estimate(FRAME, **{option: value})
    assert message in str(refusal.value).replace('fields="', "field ").replace('"', "")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (OptionWithValue("--where", "a: b"), 'where="a: b"'),
        (OptionWithValue("--by"), "by="),
        (OptionWithValue("--level", "95"), "level=95"),
        (OptionWithValue("-k", "1,2"), "k=(1, 2)"),
        (OptionWithValue("--min"), "minimum="),
        (OptionWithValue("--order-from-lines"), "order_from_lines=True"),
        (OptionWithValue("--highlight", "x y"), 'highlight="x y"'),
        (OptionWithValue("--full"), ".tables"),
        (OptionWithValue("passk formats", "NAME"), "passk_cli.formats(NAME)"),
    ],
)
def test_spelling(option: OptionWithValue, expected: str) -> None:
    assert spell_for_python(option) == expected


def test_data_is_not_read_as_an_option() -> None:
    rows = [{"task": "--by x", "passed": None, "n": "--missing fail"}]
    with pytest.raises(passk_cli.PasskError, match=r"--where' --by x"):
        passk_cli.estimate(rows, where='"--where\' --by x" > 1')
    findings = passk_cli.tasks([{"task": "--full", "n": 2, "c": 1}])
    assert "--full" in str(findings)


def test_public_names_are_listed() -> None:
    names = dir(passk_cli)
    assert {*COMMANDS, "read", "Counts", "Findings", "PasskWarning", "pass_at_k"} <= set(names)
    assert all(hasattr(passk_cli, name) for name in names)
    module: ModuleType = passk_cli
    text = pydoc.render_doc(module, renderer=pydoc.plaintext)
    for name in (*COMMANDS, "read", "pass_hat_k"):
        assert re.search(rf"^    {name}\(", text, re.MULTILINE), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense


def test_all_of_it_can_be_imported() -> None:
    names: dict[str, Any] = {}
    exec("from passk_cli import *", names)
    assert {*COMMANDS, "read", "Findings", "pass_at_k"} <= set(names)


@pytest.mark.parametrize("name", COMMANDS)
def test_signatures_say_what_is_taken(name: str) -> None:
    signature = inspect.signature(getattr(passk_cli, name))
    judges = name in ("gate", "trend", "watch")
    assert signature.return_annotation is (passk_cli.Verdict if judges else passk_cli.Findings)
    options = {option.field: option.default for option in load_command(name).options()}
    data = {"data"} if load_command(name).file_requirement != "none" else set()
    assert set(signature.parameters) == {*data, *options, "frame_as"}
    for field, parameter in signature.parameters.items():
        assert parameter.annotation is not parameter.empty
        if field in options:
            assert parameter.default == (None if options[field] in ("", {}) else options[field])


def test_the_stub_is_in_step() -> None:
    """Set PASSK_GOLDEN=1 to write it anew; mypy checks it with tests/typed.py."""
    if os.environ.get("PASSK_GOLDEN"):
        stub.STUB.write_text(stub.text())
    assert stub.STUB.read_text() == stub.text()


def test_warnings_refer_to_the_line_of_the_caller(passk: Passk, write: Write) -> None:
    path = write("mixed.csv", MIXED)
    printed = passk("estimate", path, "-m", "pass@1").err
    with pytest.warns(passk_cli.PasskWarning) as caught:
        passk_cli.estimate(path, "pass@1")
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        'attempts at one task differ in mode (a, b); fields={"model": "mode"} as models; by="mode"'
        ' keeps them apart; pool="mode" pools them on purpose'
    )
    assert "differ in mode (a, b); --field model=mode as models; --by mode keeps them" in printed
    with pytest.warns(passk_cli.PasskWarning, match="differ in mode") as caught:
        passk_cli.read(path)
    assert caught[0].filename == __file__


def test_names_in_a_list_are_whole() -> None:
    rows = [
        {"task": task, "temp, C": heat, "passed": passed}
        for task in "ab" for heat in "01" for passed in (True, False)
    ]  # fmt: skip
    for by in (["temp, C"], '"temp, C"'):
        assert passk_cli.estimate(rows, k=1, by=by).frame["temp, C"].tolist() == ["0", "1"]
    assert passk_cli.read(rows, pool=["temp, C"]).n.tolist() == [4, 4]
    with pytest.raises(passk_cli.DataError, match="no column 'temp'"):
        passk_cli.estimate(rows, by="temp, C")


def test_numbers_are_those_of_the_command_line(passk: Passk) -> None:
    bare = passk_cli.estimate(passk_cli.read(TAU), ["pass@1"], interval="none")
    assert np.isnan(bare.frame.low.astype(float)[0])
    assert bare.tables[0]["pass@1"][0] == bare.frame.estimate[0] == pytest.approx(0.42)


SMALL = [
    {"model": model, "task": task, "passed": (at + len(task)) % 2 == 0, "T": T, "kind": "007"}
    for model in ("a-1", "a-2", "b") for task in ("x", "yy", "zz") for at in range(4)
    for T in (0.2, 1.0)
]  # fmt: skip


def test_groups_keep_their_type(tmp_path: Path) -> None:
    pd.DataFrame(SMALL).to_csv(tmp_path / "x.csv", index=False)
    for data in (SMALL, pd.DataFrame(SMALL), tmp_path / "x.csv"):
        counts = passk_cli.read(data, by=["T", "kind"])
        for frame in (counts.to_frame(), passk_cli.estimate(counts, k=1).frame):
            assert frame["T"].unique().tolist() == [0.2, 1.0]
            assert frame["kind"].unique().tolist() == ["007"]
    texts = [{**row, "T": str(row["T"])} for row in SMALL]
    assert passk_cli.estimate(texts, k=1, by="T").frame["T"].tolist()[0] == "0.2"


def test_counts_of_some_models() -> None:
    counts = passk_cli.read(SMALL, by="T", attempts="answer", fields={"answer": "passed"})
    filtered = counts.filter(models=["a-*"], exclude_models="a-1")
    assert filtered.attempts["answer"].row_cell_indices.max() < len(filtered.n)
    expected = counts.to_frame().query("model == 'a-2'").reset_index(drop=True)
    pd.testing.assert_frame_equal(filtered.to_frame(), expected)
    with pytest.raises(passk_cli.ParameterError, match="no model 'c'; there are a-1, a-2, b"):
        counts.filter(models="c")


def test_a_chart_is_shown_and_saved(tmp_path: Path) -> None:
    findings = passk_cli.curve(SMALL, where="T = 1")
    chart = findings.chart("curve", highlight=["b"])
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    chart.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == bundle["image/svg+xml"]
    bundle = findings._repr_mimebundle_()
    assert "<table>" in bundle["text/html"]
    assert all("intervals: .tables" in text and "--full" not in text for text in bundle.values())
    for wrong, problem in (
        (lambda: findings.chart("forest"), "there is no chart named 'forest'; there are curves"),
        (
            lambda: chart.save(tmp_path / "x.csv"),
            "passk has no output format with this suffix; use .png",
        ),
        (lambda: findings.chart(highlight=["c"]).svg, 'highlight="c": the chart has no such model'),
        (
            lambda: findings.chart(size="wide"),
            'size="wide": this is not a size that passk can draw',
        ),
        (
            lambda: findings.chart(panel="t").svg,
            'panel="t": the models are not split by this column; by=COLUMN splits by one',
        ),
        (lambda: passk_cli.describe(SMALL, by="T").chart(), "there is nothing to draw$"),
    ):
        with pytest.raises(passk_cli.ParameterError, match=problem):
            wrong()


def test_frames_of_polars_and_of_parquet(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    expected = passk_cli.compare(SMALL, "pass@1", by="T")
    findings = passk_cli.compare(SMALL, "pass@1", by="T", frame_as="polars")
    assert isinstance(findings.frame, polars.DataFrame)
    assert findings.frame["T"].dtype == polars.Float64
    assert findings.frame["estimate"].to_list() == expected.frame["estimate"].tolist()
    assert [table.columns for table in findings.tables] == [[*t.columns] for t in expected.tables]
    for item in (expected, findings):
        item.save(tmp_path / "x.parquet")
        rows = duckdb.read_parquet(str(tmp_path / "x.parquet")).df()
        assert rows["estimate"].tolist() == expected.frame["estimate"].tolist()
        assert rows["T"].dtype == float
    with pytest.raises(passk_cli.ParameterError, match='frame_as="arrow": there are pandas'):
        passk_cli.compare(SMALL, frame_as="arrow")


def test_named_levels_of_an_index_are_columns() -> None:
    assert_same(passk_cli.read(FRAME.set_index("task")))
    assert_same(passk_cli.read(FRAME.set_index(["model", "task"])))
    cells = FRAME.groupby(["model", "task"])["passed"]
    assert_same(passk_cli.read(cells.agg(n="size", c="sum")))
    assert_same(passk_cli.read(cells.apply(list).to_frame("passed")))
    # A column of that name counts, and rows that are numbered have no further column.
    moved = FRAME.set_index(pd.Index(["other"] * len(FRAME), name="task"))
    assert_same(passk_cli.read(moved))
    assert_same(passk_cli.read(FRAME.sample(frac=1, random_state=1)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            FRAME.groupby(["model", "task"]).agg({"passed": ["size", "sum"]}),
            'fields={"n": "passed_size", "c": "passed_sum"} reads 3 tasks',
        ),
        (
            FRAME.set_index(FRAME["task"].rename(None)).drop(columns="task"),
            "which column is the task? if the column is in the index, name the index levels and use"
            " df.reset_index()",
        ),
        (
            FRAME.groupby("task")["passed"].sum(),
            "Series cannot be read; use .reset_index() to get a DataFrame; give",
        ),
    ],
)
def test_what_an_index_hides_is_named(data: Any, message: str) -> None:
    with pytest.raises(passk_cli.PasskError, match=re.escape(message)):
        passk_cli.read(data)
    with pytest.raises(passk_cli.DataError) as caught:
        passk_cli.read(FRAME.drop(columns="task"))
    assert "reset_index" not in str(caught.value)


@pytest.mark.parametrize("library", ["mixed", *long_cases("pandas", "polars", "pyarrow")])
def test_a_dict_of_frames_has_models(library: str) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    variants = {
        "pandas": lambda frame: frame, "polars": polars.from_pandas,
        "pyarrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
    }  # fmt: skip
    frames = {model: item.drop(columns="model") for model, item in FRAME.groupby("model")}
    kinds = ["polars", "pandas"] if library == "mixed" else [library] * 2
    data = {
        model: variants[kind](frame)
        for (model, frame), kind in zip(frames.items(), kinds, strict=True)
    }
    assert_same(passk_cli.read(data))
    by = passk_cli.estimate(data, k=1, by="repo").frame
    pd.testing.assert_frame_equal(by, passk_cli.estimate(FRAME, k=1, by="repo").frame)
    with pytest.warns(PasskWarning, match="undecided whether every attempt passes or every"):
        assert passk_cli.gate(data, baseline=data, no_regression=True).passed is not None


def test_a_dict_of_frames_is_one_model_each() -> None:
    frames = {f"new {model}": item for model, item in FRAME.groupby("model")}
    assert {model for (model,) in passk_cli.read(frames).series} == {"new a", "new b"}
    with pytest.raises(
        passk_cli.DataError, match=r"DataFrame 'x': the file contains several models \(a, b\)"
    ):
        passk_cli.read({"x": FRAME, "y": FRAME})
    problem = r"DataFrame 'y': no column has a usual name for the task"
    with pytest.raises(passk_cli.DataError, match=problem):
        passk_cli.read({"x": frames["new a"], "y": FRAME.drop(columns="task")})


def test_names_of_results_are_public() -> None:
    findings, counts = passk_cli.estimate(SMALL, k=1, by="T"), passk_cli.read(SMALL, by="T")
    assert dir(findings) == [
        "chart", "frame", "frame_as", "messages", "methods", "numeric", "report", "save",
        "signature", "tables",
    ]  # fmt: skip
    assert {"filter", "to_frame", "n", "c", "tasks"} <= {*dir(counts)}
    for thing in (findings, counts, passk_cli):
        assert all(hasattr(thing, name) for name in dir(thing))


def test_docstrings_speak_python() -> None:
    line = re.compile(r"(?<![\w-])--?[a-z][a-z-]+\b|passk (?:help|[a-z]+ --)")
    for name in passk_cli.__all__:
        thing = getattr(passk_cli, name)
        members = (
            [getattr(thing, m) for m in dir(thing) if m[0] != "_"] if inspect.isclass(thing) else []
        )
        for item in (thing, *members):
            assert not line.search(inspect.getdoc(item) or ""), f"{name}: {item}"


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("x.csv", {"size": "3in"}), ("x.json", {"theme": "dark"}), ("x.tex", {"panel": "model"}),
        ("x.parquet", {"bands": False}), ("x.md", {"stacked": True}), ("x.svg", {"stacked": True}),
    ],
)  # fmt: skip
def test_saving_refuses_options_that_do_not_apply(
    tmp_path: Path, name: str, option: dict[str, Any]
) -> None:
    findings = passk_cli.estimate(
        [{"task": "a", "n": 4, "c": 1}, {"task": "b", "n": 4, "c": 3}], k=1
    )
    with pytest.raises(
        ParameterError, match=f"{next(iter(option))}=: this option does not apply to"
    ):
        findings.save(tmp_path / name, **option)
    assert not (tmp_path / name).exists()


def test_values_of_an_ordered_column_keep_their_order() -> None:
    """In rows, groups and panels, of an ordered category and an enum; NaN is a group that is said,
    comes last and is never the best."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    order = ["low", "mid", "high", "none"]
    passes = {"low": 1, "mid": 4, "high": 2, None: 5}
    rows = pd.DataFrame(
        {"model": model, "task": f"{grade} {task}", "grade": grade, "n": 6,
         "c": max(passed - (model == "b"), 0)}
        for model in "ba" for grade, passed in passes.items() for task in range(4)
    )  # fmt: skip
    category = rows.assign(grade=pd.Categorical(rows.grade, order, ordered=True))
    texts = [None if value is None or value != value else value for value in rows.grade]
    enum = polars.DataFrame(
        {name: texts if name == "grade" else rows[name].tolist() for name in rows},
        schema_overrides={"grade": polars.Enum(order)},
    )
    for frame in (category, enum):
        findings = passk_cli.estimate(frame, k=1, by="grade")
        assert findings.frame[["model", "grade"]].agg(" ".join, axis=1).tolist() == [
            "a low", "a mid", "a high", "a ", "b low", "b mid", "b high", "b ",
        ]  # fmt: skip
        assert str(findings).startswith("a scores highest at pass@1 in")
        texts = {message["name"]: message["text"] for message in findings.messages}
        assert texts["without-group"] == (
            "48 attempts have no grade and form a group without a name, which is listed last"
        )
    groups = passk_cli.compare(category, k=1, by="grade").tables[0]["grade"]
    assert list(dict.fromkeys(groups)) == ["low", "mid", "high", ""]
    svg = passk_cli.curve(category, by="grade").chart(panel="grade").svg
    places = [svg.index(f">grade {grade}<") for grade in ("low", "mid", "high")]
    assert places == sorted(places)
    unordered = passk_cli.estimate(rows, k=1, by="grade").frame["grade"].tolist()
    assert unordered == ["mid", "mid", "high", "low", "high", "low", "", ""]
    counts = passk_cli.read(category, by="grade")
    assert pickle.loads(pickle.dumps(counts)).series == counts.series


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are listed on Linux")
@pytest.mark.parametrize("options", [{}, {"truth": [{"task": "a", "attempt": 1}]}])
def test_a_refused_call_closes_its_connection(options: dict[str, Any]) -> None:
    """Whoever keeps the error, as a notebook does, keeps no threads of the reader's."""

    connections, threads = [], []
    for _ in range(4):
        with pytest.raises(passk_cli.PasskError) as error:
            passk_cli.estimate(
                [{"task": "a", "passed": None}, {"task": "b", "passed": True}], **options
            )
        connections.append(error.value)
        threads.append(len(os.listdir("/proc/self/task")))
    assert max(threads[1:]) <= threads[0] + 1


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("command", ["estimate", "compare", "gate", "describe", "report"])
def test_findings_can_be_pickled(command: str) -> None:
    rules = {"minimum": "pass@1=0.3"} if command == "gate" else {}
    findings = getattr(passk_cli, command)(
        [{"model": m, "task": t, "n": 4, "c": (m + t) % 5} for m in range(3) for t in range(9)],
        **rules,
    )
    again = pickle.loads(pickle.dumps(findings))
    assert again.frame.equals(findings.frame)
    assert repr(again) == repr(findings)
    assert again.signature == findings.signature
    assert again.messages == findings.messages
    assert again._repr_mimebundle_() == findings._repr_mimebundle_()


def test_tables_have_the_limits_that_people_see() -> None:
    findings = passk_cli.estimate(SAMPLES / "tau_airline.csv", "pass@1,pass^4")
    (table,) = findings.tables
    numbers = findings.frame.set_index("metric")
    for metric in ("pass@1", "pass^4"):
        assert [table[f"{metric} {end}"][0] for end in ("low", "high")] == [
            numbers["low"][metric], numbers["high"][metric],
        ]  # fmt: skip
    bare = passk_cli.estimate(SAMPLES / "tau_airline.csv", "pass@1", interval="none").tables[0]
    assert not [name for name in bare.columns if name.startswith("pass@1 ")]
