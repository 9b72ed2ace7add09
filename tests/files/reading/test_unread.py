"""Tests of columns with unknown names: they lead to a question and never to a number."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pandas as pd
import pytest

from passk_cli import DataError, read
from passk_cli.files.roles import ROLES, normalized_column_name, usual_columns
from tests.conftest import Passk, Write, jsonl, long_cases, mark_long_except
from tests.proposals import commands

ROOT = Path(__file__).parents[3]
Rows = list[dict[str, Any]]
LISTED = {name for role in ROLES.values() for names in role.names_by_likelihood for name in names}
LISTED |= {name for role in ROLES.values() for name in role.doubtful_names.split()}


def attempts(tasks: int = 6, per_task: int = 4, **more: Callable[[int, int], object]) -> Rows:
    """Attempts 0 … each − 1 of each task; `more` are columns by task and attempt."""
    draw = random.Random(3)
    return [
        {"task": f"q{task}", **{c: of(task, a) for c, of in more.items()},
         "passed": draw.random() < 0.5}
        for task, a in product(range(tasks), range(per_task))
    ]  # fmt: skip


def lines(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text(jsonl(rows))
    return path


def table(path: Path) -> Rows:
    """Records of a file, with numbers as numbers."""
    text = path.read_text()
    if path.suffix == ".csv":
        return [{k: int(v) if v.isdecimal() else v for k, v in row.items()}
                for row in csv.DictReader(io.StringIO(text))]  # fmt: skip
    return json.loads(text) if path.suffix == ".json" else [*map(json.loads, text.splitlines())]


MUTATED = {
    "agents": lambda: table(ROOT / "sample_data/agents.jsonl"),
    "answers": lambda: table(ROOT / "sample_data/answers.csv"),
    "airline": lambda: table(ROOT / "sample_data/tau_airline.csv"),
    "counts": lambda: table(ROOT / "sample_data/counts.csv"),
    "tau": lambda: table(ROOT / "tests/data/tau_bench/gpt-4o-airline.json"),
    "two models": lambda: [
        {"model": model, **row}
        for model in ("alpha", "beta")
        for row in attempts(attempt=lambda _, a: a + 1, tokens=lambda t, a: 100 + 37 * t + 11 * a)
    ],
    "runs in turn": lambda: sorted(
        attempts(400, 3, run=lambda _, a: a), key=lambda row: row["run"]
    ),
    "reruns": lambda: [
        row
        for row in attempts(20, 5, attempt=lambda _, a: a)
        for _ in range(1 + (row["task"] in ("q3", "q7") and row["attempt"] == 2))
    ],
}


@pytest.mark.parametrize("name", mark_long_except(MUTATED, *[*MUTATED][:2]))
def test_a_role_with_an_unknown_column_name_leads_to_a_question(name: str, tmp_path: Path) -> None:
    rows = MUTATED[name]()
    policy = "first" if name == "reruns" else "error"
    counts = read(lines(tmp_path / "model.jsonl", rows), duplicates=policy)
    draw = random.Random(name)
    for role, column in (
        (r, c) for file in counts.read_facts.file_readings for r, c in file.roles.items()
    ):
        word = ""
        while not word or normalized_column_name(word) in LISTED or word in rows[0]:
            word = "".join(draw.choices("bdfgklmprstvz", k=1) + draw.choices("aeiou", k=1)) * 2
        renamed = [{word if c == column else c: v for c, v in row.items()} for row in rows]
        path = lines(tmp_path / "model.jsonl", renamed)
        if role == "model" and len(counts.series) == 1:
            # The file is named after its only model.
            assert read(path).c.tolist() == counts.c.tolist()
            continue
        with pytest.raises(DataError) as error:
            read(path, duplicates=policy)
        assert (
            error.value.name
            in {
                "task": {"no-task-column"},
                "outcome": {"no-outcome-column"},
                "n": {"no-outcome-column"},
                "c": {"no-outcome-column"},
                "attempt": {"unread-column"},
                "model": {"pooled-settings", "duplicate-attempts", "restarting-tasks"},
            }[role]
        )


def nested(row: Mapping[str, object]) -> dict[str, object]:
    """A record with all its columns below a key."""
    return {"zubu": dict(row)}


def mapping(rows: Rows) -> dict[str, Rows]:
    """Records by their tasks."""
    task = next(iter(usual_columns("task", {column: set() for column in rows[0]})))
    by_task: dict[str, Rows] = {}
    for row in rows:
        fields = {column: value for column, value in row.items() if column != task}
        by_task.setdefault(str(row[task]), []).append(fields)
    return by_task


# Form of a file → how rows are written in it.
FORMS: dict[str, Callable[[Path, Rows], object]] = {
    "array.json": lambda path, rows: path.write_text(json.dumps(rows)),
    "list.json": lambda path, rows: path.write_text(json.dumps({"day": "x", "results": rows})),
    "other.json": lambda path, rows: path.write_text(json.dumps({"day": "x", "zubu": rows})),
    "nested.jsonl": lambda path, rows: lines(path, [nested(row) for row in rows]),
    "table.csv": lambda path, rows: pd.DataFrame(rows).to_csv(path, index=False),
    "table.tsv": lambda path, rows: pd.DataFrame(rows).to_csv(path, index=False, sep="\t"),
    "table.parquet": lambda path, rows: pd.DataFrame(rows).astype(str).to_parquet(path),
    "tasks.json": lambda path, rows: path.write_text(json.dumps(mapping(rows))),
}


def mutated(
    form: str, name: str, seed: int, folder: Path
) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(role, file, options), with the column of each role renamed to an unknown word."""
    rows = MUTATED[name]()
    options = {"duplicates": "first"} if name == "reruns" else {}
    (facts,) = read(lines(folder / "model.jsonl", rows), **options).read_facts.file_readings
    fields = dict(facts.roles)
    if form.startswith("table.") and isinstance(rows[0].get(fields.get("outcome")), list):
        return
    if form == "array.json" and name == "tau":
        # A harness wrote this file, and its format knows the columns.
        return
    if form == "tasks.json":
        # The task is a key, and the records of a list are numbered.
        fields.pop("task", None)
        fields.pop("attempt", None)
        if "n" in fields:
            return
    draw = random.Random(f"{seed} {form} {name}")
    for role, column in fields.items():
        word = ""
        while not word or normalized_column_name(word) in LISTED or word in rows[0]:
            word = "".join(draw.choices(ascii_lowercase, k=draw.randrange(3, 9)))
        renamed = [{word if c == column else c: v for c, v in row.items()} for row in rows]
        path = folder / f"{role}-{form}"
        FORMS[form](path, renamed)
        yield role, path, options


@pytest.mark.parametrize("form", mark_long_except(FORMS, *[*FORMS][:1]))
@pytest.mark.parametrize("seeds", [1, pytest.param(2, marks=pytest.mark.long)])
def test_any_form_of_a_file_ends_in_a_question(form: str, seeds: int, tmp_path: Path) -> None:
    """A number appears only for a file of one model, which then has the name of the file."""
    names = [*MUTATED] if seeds > 1 else ["two models"]
    for name, seed in product(names, range(seeds)):
        for role, path, options in mutated(form, name, seed, tmp_path):
            try:
                counts = read(path, **options)
            except DataError:
                continue
            assert role == "model", (name, role, seed)
            assert len({row["model"] for row in MUTATED[name]()}) == 1, (name, seed)
            assert len(counts.series) == 1


@pytest.mark.parametrize("name", ["try", *long_cases("n", "sampleIndex", "rep")])
def test_attempt_numbers_reveal_repeated_attempts(name: str, tmp_path: Path) -> None:
    rows = attempts(**{name: lambda _, a: a + 1})
    again = [*rows, {**rows[5], "passed": not rows[5]["passed"]}]
    with pytest.raises(DataError, match=r"attempt 2 of model .* at task 'q1' is duplicated") as e:
        read(lines(tmp_path / "m.jsonl", again))
    assert e.value.place.endswith(":25")


def test_many_column_names_mean_the_attempt() -> None:
    usual = "rep repetition replicate sample_idx sample_index trial_index attempt_index rollout_idx"
    for name in (*usual.split(), "generation_index"):
        assert usual_columns("attempt", {name: set()}) == [name]
    for name in "n iteration try rollout idx round".split():
        assert name in ROLES["attempt"].doubtful_names.split()
        assert not usual_columns("attempt", {name: set()})


@pytest.mark.parametrize("column", [
    lambda task, attempt: 4,                             # how many there are
    lambda task, attempt: task,                          # the task's place
    lambda task, attempt: 100 * task + attempt,          # the row's
    lambda task, attempt: (7 * task + attempt**2) % 5,   # steps taken
    lambda task, attempt: task % 2 * attempt % 2,        # a truth value, as 0 and 1
])  # fmt: skip
@pytest.mark.parametrize("name", ["n", "zork"])
def test_numbers_of_other_things_are_not_attempt_numbers(
    name: str, column: Callable[[int, int], object]
) -> None:
    counts = read(attempts(**{name: column}))
    assert counts.n.tolist() == [4] * 6
    assert "attempt" not in counts.read_facts.file_readings[0].roles


def test_the_column_n_of_counts_is_the_number_of_attempts() -> None:
    counts = read([{"task": f"q{i}", "n": 1 + i % 2, "c": i % 2} for i in range(6)])
    assert counts.n.tolist() == [1, 2] * 3
    assert counts.read_facts.file_readings[0].roles == {"task": "task", "n": "n", "c": "c"}


def test_every_remedy_of_a_question_reads_the_file(passk: Passk, tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", attempts(zork=lambda _, a: a))
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert result.err == (
        f"error[unread-column]: {path}: passk does not read zork, which distinguishes the attempts"
        " at each task (0, 1, 2, 3)\n"
        f"  passk estimate {path} --field attempt=zork  # numbers the attempts\n"
        f"  passk estimate {path} --by zork  # keeps them apart\n"
        f"  passk estimate {path} --field task=zork,task  # as parts of the tasks\n"
        f"  passk estimate {path} --pool zork  # pools them on purpose\n"
    )
    for remedy, size in (
        (("--field", "attempt=zork"), "6 tasks × 4 attempts"),
        (("--field", "task=zork,task"), "24 tasks × 1 attempt"),
        (("--pool", "zork"), "6 tasks × 4 attempts"),
    ):
        result = passk("estimate", path, *remedy)
        assert result.code == 0
        assert size in result.out
    assert passk("describe", path, "-q").err.startswith("warning[unread-column]: ")


def write_days_of_years(folder: Path, attempts: int = 1) -> Path:
    """Days of years, as tasks have them."""
    rows = [
        f"m,{year},{day},{(year + day * attempt) % 2}"
        for year, day, attempt in product(range(2015, 2025), range(1, 6), range(attempts))
    ]
    path = folder / "days.csv"
    path.write_text("\n".join(["model,year,day,passed", *rows]) + "\n")
    return path


@pytest.mark.parametrize("attempts", [1, 3])
def test_half_of_a_task_name_leads_to_the_other_half(
    passk: Passk, tmp_path: Path, attempts: int
) -> None:
    path = write_days_of_years(tmp_path, attempts)
    result = passk("estimate", path, "--field", "task=day")
    assert result.code == 3
    assert "(2015, 2016, 2017 and 7 more)" in result.err
    assert "--field task=year,day  # as parts of the tasks\n" in result.err
    result = passk("estimate", path, "--field", "task=year,day")
    assert f"50 tasks × {attempts} attempt" in result.out


def test_python_reads_a_task_of_two_columns(tmp_path: Path, write: Write) -> None:
    path = write_days_of_years(tmp_path)
    counts = read(path, fields={"task": ["year", "day"]})
    assert counts.tasks[:2] == ("2015/1", "2015/2")
    frame = pd.read_csv(path).astype({"passed": bool})
    for data in (frame, frame.to_dict("records")):
        assert read(data, fields={"task": ["year", "day"]}).tasks == counts.tasks
    nested = [{"of": {"year": 2015, "day": day}, "passed": True} for day in range(3)]
    for form in (lines(tmp_path / "n.jsonl", nested), nested):
        assert read(form, fields={"task": "of.year,of.day"}).tasks[0] == "2015/0"
    document = write("n.json", json.dumps({"results": nested}))
    assert read(document, fields={"task": "of.year,of.day"}).tasks[0] == "2015/0"


def test_joined_names_stay_different_and_have_places(tmp_path: Path) -> None:
    rows = [
        {"a": a, "b": b, "passed": True} for a, b in [("x/y", "z"), ("x", "y/z"), ("x%2Fy", "z")]
    ]
    fields = {"task": "a,b"}
    assert read(rows, fields=fields).tasks == ("x%252Fy/z", "x%2Fy/z", "x/y/z")
    path = lines(tmp_path / "m.jsonl", [*rows, {**rows[0], "passed": "maybe"}])
    with pytest.raises(DataError, match='"passed" is "maybe"') as error:
        read(path, fields=fields)
    assert error.value.place == f"{path}:4"
    lines(path, [*rows, {"a": "x", "passed": True}])
    with pytest.raises(DataError, match="no task in") as error:
        read(path, fields=fields)
    assert error.value.place == f"{path}:4"
    with pytest.raises(DataError, match="no column 'zz'"):
        read(rows, fields={"task": "a,zz"})
    # A column with this name is a column.
    assert read([{"a,b": "t", "a": 1, "b": 2, "passed": 1}], fields=fields).tasks == ("t",)


@pytest.mark.parametrize("name", ["instanceId", "puzzle_id", "case_id", "message_id", "nodeid",
                                  "Row Number"])  # fmt: skip
@pytest.mark.parametrize("outcome", ["verified", *long_cases("is_eval_success")])
def test_less_usual_names_of_columns_are_read(name: str, outcome: str) -> None:
    assert read([{name: "a", outcome: True}, {name: "b", outcome: False}]).c.tolist() == [1, 0]
    # Beside a usual name, "verified" is something else.
    assert read([{name: "a", "passed": True, "verified": False}]).c.tolist() == [1]


def test_an_object_is_not_a_model() -> None:
    rows = [{"task": "q", "passed": True, "system": {"os": "linux"}}]
    assert read(rows).series == (("model",),)
    rows = [{"task": "q", "passed": True, "model": {"id": "alpha"}}]
    with pytest.raises(DataError, match="'model' is an object and") as error:
        read(rows)
    assert error.value.fixes[0].options == {"fields": {"model": "model.id"}}
    assert read(rows, fields={"model": "model.id"}).series == (("alpha",),)
    assert read([{**rows[0], "model_name": "beta"}]).series == (("beta",),)


def write_model_twice(folder: Path) -> Path:
    """A model in a file of attempts, again in its summary, and another model."""
    rows = attempts(36, 3, attempt=lambda _, a: a)
    lines(folder / "x.jsonl", rows)
    lines(folder / "y.jsonl", [{**row, "passed": row["attempt"] == 1} for row in rows])
    sums = pd.DataFrame(rows).groupby("task").passed.agg(n="count", c="sum").reset_index()
    lines(folder / "x_summary.jsonl", sums.to_dict("records"))
    return folder


def test_a_model_with_two_copies_of_its_results_is_reported(passk: Passk, tmp_path: Path) -> None:
    folder = write_model_twice(tmp_path)
    result = passk("estimate", folder)
    assert result.code == 0
    warning = "warning[identical-outcomes]: x_summary has the same outcomes as x at 36 tasks"
    assert warning in result.err
    result = passk("compare", folder)
    assert (result.code, result.out) == (3, "")
    assert (
        "error[duplicate-models]: x_summary: this model has the same outcomes as x at all"
        in result.err
    )
    assert passk("compare", folder, "--exclude-model", "x_summary").code == 0
    # If you name both, you know that they are two models.
    comparison = passk(*commands(result.err)[-1])
    assert comparison.code == 0
    assert "warning[identical-outcomes]" in comparison.err
    # A run may well be as its baseline.
    baseline = ("--baseline", folder / "x_summary.jsonl")
    assert passk("compare", folder / "x.jsonl", *baseline).code == 0
    result = passk("gate", folder / "x.jsonl", *baseline, "--max-drop", "pass@1=0.5", "-q")
    assert result.code == 0
    assert "warning[copied-run]: x_summary.jsonl and x have the same outcomes" in result.err


def test_equal_outcomes_by_chance_are_not_a_copy(passk: Passk, tmp_path: Path) -> None:
    for model in "ab":
        rows = [{"by": model, "task": f"q{i}", "passed": i > 2} for i in range(18)]
        lines(tmp_path / f"{model}.jsonl", rows)
    # 3 of 18 tasks fail: in 816 ways.
    assert "identical" not in passk("estimate", tmp_path / "a.jsonl", tmp_path / "b.jsonl").err


def test_a_row_without_a_task_does_not_change_attempt_numbers(tmp_path: Path) -> None:
    rows = attempts(attempt=lambda _, a: a, part=lambda _, a: "xy"[a % 2])
    path = lines(tmp_path / "model.jsonl", [*rows, {"accuracy": 0.5}])
    with pytest.raises(DataError, match=r"no task in .*; is this record a summary"):
        read(path)
    assert read(path, skip_bad=True).n.tolist() == [4] * 6
