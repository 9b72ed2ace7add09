"""Tests of tables from spreadsheets, notebooks and folders: the proposed commands read them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import passk_cli
from tests.conftest import Passk, Write

MODELS, TASKS = ("alpha", "beta"), range(12)


def passed(model: str, task: int, attempt: int) -> bool:
    return (task + attempt * (3 + len(model))) % 4 > 1


def table(names: str, true: str, false: str, sign: str = ",") -> str:
    """A table of attempts with columns of these names and words of outcomes."""
    rows = [
        sign.join((m, f"t{t:02}", true if passed(m, t, j) else false))
        for m in MODELS for t in TASKS for j in range(3)
    ]  # fmt: skip
    return "\n".join([names, *rows]) + "\n"


def run_first_command(passk: Passk, command: str) -> str:
    """Run the first command below an error, without its comment."""
    result = passk(*shlex.split(command))
    line = next(row for row in result.err.splitlines() if row.startswith("  passk "))
    assert passk(*shlex.split(line, comments=True)[1:]).code == 0
    return line.partition("  # ")[0].removeprefix("  passk ")


@pytest.mark.parametrize(
    ("names", "true", "false", "sign"),
    [
        ("Modell;Aufgabe;Bestanden", "WAHR", "FALSCH", ";"),
        ("Modell;Aufgabe;Richtig", "ja", "nein", ";"),
        ("Modelo,Tarea,Aprobado", "VERDADERO", "FALSO", ","),
        ("Modèle,Tâche,Réussi", "oui", "non", ","),
        ("Modelo,Tarefa,Haken", "✓", "✗", ","),
    ],
)
def test_the_columns_of_tables_in_other_languages_are_listed(
    passk: Passk, write: Write, names: str, true: str, false: str, sign: str
) -> None:
    path = write("tabelle.csv", table(names, true, false, sign))
    model, task, outcome = names.split(sign)
    fields = {"task": task, "outcome": outcome, "model": model}
    options = [word for field in fields.items() for word in ("--field", "=".join(field))]
    error = passk("estimate", path).err
    assert all(shlex.quote(word) in error for word in options)
    assert passk("estimate", path, *options).code == 0


@pytest.mark.parametrize(("n", "c"), [("trials", "successes"), ("n_runs", "num_successes")])
def test_counts_of_attempts_and_passes_are_read(n: str, c: str) -> None:
    counts = passk_cli.read([{"task": "a", n: 5, c: 3}, {"task": "b", n: 4, c: 0}])
    assert (counts.n.tolist(), counts.c.tolist()) == ([5, 4], [3, 0])


def test_counts_and_sums_of_a_groupby_are_attempts_and_passes() -> None:
    rows = [{"model": m, "task": t, "passed": passed(m, t, j)}
            for m in MODELS for t in TASKS for j in range(3)]  # fmt: skip
    expected = passk_cli.estimate(rows, "pass@1").frame
    for how in (["count", "sum"], ["size", "sum"]):
        sums = pd.DataFrame(rows).groupby(["model", "task"]).agg({"passed": how})
        with pytest.raises(passk_cli.DataError) as caught:
            passk_cli.estimate(sums)
        n, c = (f"passed_{word}" for word in how)
        (counts,) = caught.value.candidates["counts"]
        assert counts.option.options == {"--field": {"n": n, "c": c}}
        result = passk_cli.estimate(sums, "pass@1", fields={"n": n, "c": c}).frame
        assert result["estimate"].tolist() == expected["estimate"].tolist()


def test_folders_of_models_tasks_and_runs_get_their_template(passk: Passk, tmp_path: Path) -> None:
    for model in MODELS:
        for task in TASKS:
            for attempt in (1, 2):
                path = tmp_path / "out" / model / f"task_{task}" / f"run-{attempt}" / "result.json"
                path.parent.mkdir(parents=True)
                path.write_text(json.dumps({"success": passed(model, task, attempt), "steps": 7}))
        (tmp_path / "out" / model / "config.json").write_text('{"max_steps": 30}')
    out = tmp_path / "out"
    line = run_first_command(passk, f"estimate {out}")
    assert line == f"estimate {out} --path '{{model}}/{{task}}/run-{{attempt}}/result.json'"


@pytest.mark.parametrize(
    ("text", "command", "problem"),
    [
        (f"Results of November,,\n{table('Model,Task,Pass', 'yes', 'no')}", "estimate FILE",
         "FILE:1: this line is a title and does not contain the column names;"
         " remove the lines above line 2"),
        (table("model,task,passed", "1", "0"), "estimate FILE --by modle",
         "FILE: no column 'modle'; did you mean model?"),
    ],
)  # fmt: skip
def test_an_error_of_a_table_has_at_most_two_lines(
    passk: Passk, write: Write, text: str, command: str, problem: str
) -> None:
    path = write("x.csv", text)
    result = passk(*command.replace("FILE", str(path)).split())
    assert result.code in (2, 3)
    assert problem.replace("FILE", str(path)) in result.err
    assert len(result.err.splitlines()) <= 2


@pytest.mark.parametrize("option", ["--field task=zzzz", "--field outcome=zzzz", "--by zzzz"])
def test_an_error_of_a_wrong_column_has_two_lines(
    passk: Passk, write: Callable[[str, str], Path], option: str
) -> None:
    path = write("plain.csv", table("model,task,passed", "1", "0"))
    result = passk("estimate", path, *option.split())
    assert (result.code, result.error) == (2, "no-such-column")
    assert len(result.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("first", "kind"),
    [("sep=;", "begins with 'sep=;'"), ("# run 12", "begins with '#'")],
)
def test_lines_before_the_header_are_reported(
    passk: Passk, write: Write, first: str, kind: str
) -> None:
    path = write("a.csv", f"{first}\ntask;passed\na;1\nb;0\n")
    result = passk("estimate", path)
    assert result.code == 3
    problem = f"{path}: the first line {kind} and does not name the columns"
    assert result.err.startswith(f"error[unknown-format]: {problem}; delete the lines before the")
