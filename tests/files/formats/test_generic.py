"""Documents that no particular harness writes: where passk finds records, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from passk_cli import DataError, ParameterError, estimate, read
from tests.conftest import mark_long_except

Cells = dict[tuple[str, ...], tuple[int, int]]


def cells(data: object, **options: Any) -> Cells:
    counts = read(data, **options)
    return {
        (*counts.series[s], counts.tasks[t]): (int(n), int(c))
        for s, t, n, c in zip(
            counts.series_codes, counts.task_codes, counts.n, counts.c, strict=True
        )
    }


def write_document(folder: Path, name: str, document: object, **layout: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document, **layout))
    return path


def form(path: Path, **options: Any) -> str:
    return read(path, **options).read_facts.file_readings[0].format.split()[0]


EXPECTED = {("m", "a"): (1, 1), ("m", "b"): (1, 0), ("m", "7"): (1, 1)}
SHAPES: dict[str, dict[str, object]] = {
    "task-outcomes": {"a": True, "b": False, "7": True},
    "task-records": {
        "a": {"passed": True, "seconds": 3},
        "b": {"passed": False, "log": "x" * 40},
        "7": {"passed": True},
    },
    "list-of-records": {
        "model": "m",
        "accuracy": 2 / 3,
        "results": [
            {"task_id": "a", "passed": True},
            {"task_id": "b", "passed": False},
            {"task_id": 7, "passed": True},
        ],
        "configuration": [{"name": "temperature", "value": 0.2}],
    },
    "columns": {
        "model": "m",
        "tasks": ["a", "b", 7],
        "passed": {"0": True, "1": False, "2": True},
    },
    "id-lists": {"resolved_ids": ["a", 7], "unresolved_ids": ["b"], "total": 3},
}


@pytest.mark.parametrize("layout", [{}, {"indent": 1}], ids=["one line", "indented"])
@pytest.mark.parametrize("name", mark_long_except(SHAPES, *[*SHAPES][::2]))
def test_all_shapes_of_documents_are_read(
    tmp_path: Path, name: str, layout: Mapping[str, Any]
) -> None:
    path = write_document(tmp_path, "m.json", SHAPES[name], **layout)
    assert cells(path) == EXPECTED
    assert form(path) == name


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_a_long_document_reads_as_a_short_one(tmp_path: Path, name: str) -> None:
    """The document is streamed, and the decisive keys come after 300 kB of text."""
    document = {"text": "x" * 300_000, **SHAPES[name]}
    if name in ("task-outcomes", "task-records"):
        # Nothing but tasks may be in these, so it is the tasks that are many.
        tasks = SHAPES[name].items()
        document = {f"{task} {i}": value for i in range(3000) for task, value in tasks}
    path = write_document(tmp_path, "m.json", document, indent=1)
    assert form(path) == name
    long = cells(path)
    assert sum(n for n, _ in long.values()) * 2 == sum(c for _, c in long.values()) * 3


def test_a_list_of_attempts_per_task_is_read(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "m.json",
        {"a": [{"passed": True}, {"passed": False}], "b": [{"passed": False}, {"passed": True}]},
    )  # fmt: skip
    assert cells(path) == {("m", "a"): (2, 1), ("m", "b"): (2, 1)}
    assert read(path).read_facts.file_readings[0].roles["attempt"] == "attempt"
    lists = write_document(tmp_path, "lists.json", {"a": [True, False, None], "b": [False]})
    assert cells(lists, missing="drop") == {("lists", "a"): (2, 1), ("lists", "b"): (1, 0)}


def test_records_that_name_their_task_keep_it(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "m.json",
        {"0": {"task_id": "a", "passed": True}, "1": {"task_id": "a", "passed": False}},
    )  # fmt: skip
    assert cells(path) == {("m", "a"): (2, 1)}


def test_the_model_may_come_before_or_after_the_records(tmp_path: Path) -> None:
    results = [{"task_id": str(i), "passed": i % 2 == 0, "log": "x" * 3000} for i in range(100)]
    first = write_document(
        tmp_path, "a.json", {"model": "org/m", "temperature": 0.5, "results": results}
    )
    last = write_document(
        tmp_path, "b.json", {"results": results, "model": "org/m", "temperature": 0.5}
    )
    assert cells(first) == cells(last)
    assert cells(last, by="temperature")[("org/m", "0.5", "3")] == (1, 0)


def test_a_value_in_a_record_takes_precedence_over_one_next_to_it(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "a.json",
        {"model": "x", "results": [{"task_id": "a", "passed": True, "model": "y"}]},
    )  # fmt: skip
    assert cells(path) == {("y", "a"): (1, 1)}


def test_one_record_per_file_is_read(tmp_path: Path) -> None:
    for i in range(3):
        write_document(tmp_path, f"{i}/trial.json",
                {"task": "a", "attempt": i, "passed": i == 1, "model": "m",
                 "steps": [{"name": "x", "status": "ok"}]}, indent=1)  # fmt: skip
    assert cells(tmp_path) == {("m", "a"): (3, 1)}


@pytest.mark.long
def test_two_lists_of_records_are_refused(tmp_path: Path) -> None:
    record = {"task_id": "a", "passed": True}
    path = write_document(
        tmp_path, "m.json", {"train": [record], "test": [{**record, "passed": False}]}
    )
    with pytest.raises(DataError, match=r"several places: train and test; "):
        read(path)
    assert cells(path, records="test") == {("m", "a"): (1, 0)}
    padded = [{**record, "log": "x" * 3000, "task_id": str(i)} for i in range(4000)]
    distant = write_document(tmp_path, "far.json", {"train": padded, "test": [record]})
    with pytest.raises(DataError, match=r"several places: train and test"):
        read(distant)


@pytest.mark.parametrize("padding", [0, 5000])
def test_a_document_with_one_record_per_line_is_a_document(tmp_path: Path, padding: int) -> None:
    """It is one document, even if only its beginning has been read."""
    path = tmp_path / "m.json"
    records = [json.dumps({"id": str(i), "verdict": {"ok": i == 0}, "log": "x" * padding})
               for i in range(400)]  # fmt: skip
    path.write_text('{\n  "eval": {"items": [\n    ' + ",\n    ".join(records) + "\n  ]}\n}\n")
    fields = {"task": "id", "outcome": "verdict.ok"}
    assert cells(path, records="eval.items", fields=fields)[("m", "0")] == (1, 1)


def test_a_record_with_a_list_of_records_is_refused(tmp_path: Path) -> None:
    inner = [{"task_id": "b", "passed": False}]
    path = write_document(tmp_path, "m.json", {"task_id": "a", "passed": True, "parts": inner})
    with pytest.raises(DataError, match=r"the document itself and parts; records="):
        read(path)
    assert cells(path, records="parts") == {("m", "b"): (1, 0)}
    assert cells(path, records=".") == {("m", "a"): (1, 1)}


def test_steps_of_a_trial_are_not_tasks(tmp_path: Path) -> None:
    path = write_document(tmp_path, "m.json", {"reward": 1.0, "steps": [{"id": 1, "status": "ok"}]})
    with pytest.raises(DataError, match="no column has a usual name for the task"):
        read(path)


def test_averages_are_not_outcomes(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "m.json", {"train": {"accuracy": 1.0}, "test": {"accuracy": 0.0}}
    )
    with pytest.raises(DataError, match="no column has a usual name for the task"):
        read(path)


def test_records_below_a_key_are_read(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "m.json",
        {"data": {"eval": [{"name": "a", "ok": True}]}, "by.task": {"a": True, "b": False},
         "one": {"task": "c", "passed": True}, "seed": 3},
    )  # fmt: skip
    assert cells(path, records="data.eval", fields={"outcome": "ok"}) == {("m", "a"): (1, 1)}
    assert cells(path, records="by.task") == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}
    assert cells(path, records="one") == {("m", "c"): (1, 1)}
    with pytest.raises(
        DataError, match=r"no records below 'nothing'; there are data, by\.task, one"
    ):
        read(path, records="nothing")


def test_ids_in_a_third_list_have_no_outcome(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "m.json",
        {"passed": ["a"], "failed": ["b"], "error_ids": ["c", "a"], "ids": ["a", "b", "c", "d"]},
    )  # fmt: skip
    facts = read(path, missing="drop").read_facts
    assert facts.missing_outcome_count == 2
    assert facts.messages[0].name == "unjudged-ids"
    assert "1 id in error_ids is missing from both passed and failed" in facts.messages[0].text


CORRUPT: tuple[tuple[str, object, str], ...] = (
    ("both", {"passed": ["a"], "failed": ["a"]}, "the id a is listed as passed and as failed"),
    ("twice", {"passed": ["a", "a"], "failed": []}, "the id a is listed twice"),
    ("a task twice", '{"a": true, "b": false, "a": false}', 'the key "a" occurs twice'),
    ("no record", {"results": [{"task_id": "a", "passed": True}, 7]},
     "no column has"),
    ("no record in a map", {"a": {"passed": True}, "b": {"passed": True}, "c": {"passed": "?"}},
     '"passed" is "\\?"'),
    ("a broken number", {"results": [{"task_id": 1.5, "passed": True}]}, '"task_id" is the number'),
    ("cut off", '{"results": [{"task_id": "a", "passed": true}, {"task' , "JSON|not closed|ends"),
)  # fmt: skip


@pytest.mark.parametrize(("document", "message"), [c[1:] for c in CORRUPT],
                         ids=[c[0] for c in CORRUPT])  # fmt: skip
def test_unknown_shapes_are_refused(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write_document(tmp_path, "m.json", document))


def test_an_error_names_the_place(tmp_path: Path) -> None:
    records = [{"task_id": str(i), "passed": i != 2 or "?"} for i in range(4)]
    path = write_document(tmp_path, "m.json", {"results": records})
    with pytest.raises(DataError, match=r'm\.json: record 3: "passed" is "\?"'):
        read(path)


def test_half_a_surrogate_pair_is_read(tmp_path: Path) -> None:
    path = write_document(tmp_path, "m.json", '{"\\ud83d x": true, "b": false}')
    assert set(cells(path)) == {("m", "? x"), ("m", "b")}


def test_lines_with_the_same_number_are_one_task(tmp_path: Path) -> None:
    for run, outcomes in enumerate(((True, False), (True, True))):
        lines = [json.dumps({"correct": outcome, "problem": "?"}) for outcome in outcomes]
        write_document(tmp_path, f"m/output-rs{run}.jsonl", "\n".join(lines))
    counts = cells(tmp_path, fields={"task": "@line"}, path="{model}/output-rs{attempt}.jsonl")
    assert counts == {("m", "1"): (2, 2), ("m", "2"): (2, 1)}


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "doc.json"])
def test_rows_of_any_file_can_be_tasks_by_their_number(tmp_path: Path, name: str) -> None:
    rows = [{"model": f"m{i % 2}", "correct": i != 1} for i in range(4)]
    for folder in "xy":
        path = tmp_path / folder / name
        path.parent.mkdir()
        frame = pd.DataFrame(rows)
        if name.endswith((".csv", ".tsv")):
            frame.to_csv(path, index=False, sep="," if name == "a.csv" else "\t")
        elif name == "a.parquet":
            frame.to_parquet(path)
        else:
            document = {"all": {"results": rows}} if name == "doc.json" else rows
            text = json.dumps(document) if name != "a.jsonl" else "\n".join(map(json.dumps, rows))
            path.write_text(text)
    records = "all.results" if name == "doc.json" else None
    options = {"fields": {"task": "@line"}, "duplicates": "keep", "records": records}
    counts = cells(tmp_path, **options)
    assert counts == {
        ("m0", "1"): (2, 2),
        ("m1", "2"): (2, 0),
        ("m0", "3"): (2, 2),
        ("m1", "4"): (2, 2),
    }


def test_excluded_rows_are_not_numbered(tmp_path: Path) -> None:
    path = write_document(tmp_path, "a.csv", "correct,said\n1,a\n0,b,c\n1,d\n")
    with pytest.raises(ParameterError, match="@line cannot number rows if some rows are left out"):
        read(path, fields={"task": "@line"}, skip_bad=True)


def test_rows_of_a_frame_can_be_tasks_by_their_number() -> None:
    frame = pd.DataFrame({"correct": [True, False, True]})
    result = estimate(frame, fields={"task": "@line"}).frame
    assert result["estimate"].tolist() == [pytest.approx(2 / 3)]
