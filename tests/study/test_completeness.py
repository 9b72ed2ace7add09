"""Attempts that are lost, tasks of several benchmarks, totals in one row: who is warned of what."""

from __future__ import annotations

import random
from typing import Any

import pytest

import passk_cli
from tests.conftest import Passk, Write, long_cases

Row = dict[str, Any]


def rows_of(models: int, lossy: int | None, seed: int = 5) -> list[Row]:
    """150 tasks × 4 attempts per model; one model lost half of its failing attempts."""
    draw = random.Random(seed)
    rates = [draw.betavariate(1.2, 1.1) for _ in range(150)]
    rows = []
    for model in range(models):
        for task, rate in enumerate(rates):
            c = sum(draw.random() < rate for _ in range(4))
            lost = sum(draw.random() < 0.5 for _ in range(4 - c)) if model == lossy else 0
            row = {"model": f"team{model}", "task": f"t{task}", "n": 4 - lost, "c": c}
            rows += [row] * (lost < 4)
    return rows


def warnings_of(findings: Any) -> dict[str, Any]:
    return {
        message.name: message
        for message in findings.report.messages
        if message.severity == "warning"
    }


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("command", ["estimate", *long_cases("compare", "curve")])
def test_a_model_without_half_of_its_failures_is_named(command: str) -> None:
    rows = rows_of(6, lossy=3)
    warning = warnings_of(getattr(passk_cli, command)(rows))["uneven-attempts"]
    attempts = sum(row["n"] for row in rows if row["model"] == "team3")
    assert warning.fields["models"] == [f"team3 ({600 - attempts:,} of 600)"]
    assert warning.fields["hard"] / warning.fields["short"] > 2 * (
        warning.fields["rest_hard"] / warning.fields["rest"]
    )
    assert warning.fields["p"] == "< 0.0001"
    assert "uneven-attempts" not in warnings_of(getattr(passk_cli, command)(rows_of(3, None)))


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_attempts_lost_by_chance_are_not_reported_as_hard_tasks() -> None:
    draw = random.Random(7)
    rows = rows_of(4, None)
    for row in rows[:150]:
        row["n"] -= (lost := int(draw.random() < 0.3))
        row["c"] -= lost * (draw.random() * (row["n"] + lost) < row["c"])
    warning = warnings_of(passk_cli.estimate(rows))["uneven-attempts"]
    assert float(warning.fields["p"].removeprefix("= ")) > 0.05


def test_other_numbers_of_attempts_are_an_error_or_are_dropped(passk: Passk, write: Write) -> None:
    data = "model,task,n,c\na,x,4,2\na,y,4,1\nb,x,4,4\nb,y,3,3\n"
    path = write("x.csv", data)
    for command in ("estimate", "compare", "tasks", "curve"):
        result = passk(command, path, "--attempts", "4")
        assert (result.code, result.error) == (3, "unplanned-attempts"), command
        assert "b has 3 at 1 task (y)" in result.err
    result = passk(
        "estimate", path, "--attempts", "4", "--short-tasks", "drop", "-k", "1", "-f", "csv"
    )
    assert [line.split(",")[:4] for line in result.out.splitlines()[1:]] == [
        ["b", "pass@1", "1", "1.0"], ["a", "pass@1", "1", "0.375"],
    ]  # fmt: skip
    assert (
        "warning[dropped-tasks]: passk left out all tasks that do not have exactly 4" in result.err
    )
    assert passk("estimate", path, "--attempts", "5").error == "unplanned-attempts"


def benchmarks(column: str, nested: bool = True) -> str:
    """Two benchmarks: m1 is ahead on the large one, behind on the small one."""
    lines = [f"model,task,passed,{column}"]
    for model in ("m1", "m2"):
        for task in range(40):
            suite = "large" if task < 30 else "small"
            passed = (task % 3 > 0) if (model == "m1") == (suite == "large") else task % 3 > 1
            lines.append(f"{model},{task},{int(passed)},{suite if nested else model}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("column", ["suite", "benchmark", "Dataset", "subset", "split"])
def test_pooled_benchmarks_are_named_with_their_sizes(
    passk: Passk, write: Write, column: str
) -> None:
    path = write("x.csv", benchmarks(column))
    for command in ("estimate", "compare", "curve"):
        err = passk(command, path).err
        assert "2 benchmarks are pooled: large (30 tasks), small (10 tasks); --by" in err
        assert ("warning[benchmarks-disagree]" in err) == (command == "compare")
    for option in ("--by", "--pool"):
        assert "pooled-benchmarks" not in passk("compare", path, option, column).err
    assert f"pooled over {column}" in passk("compare", path, "--pool", column).out


def test_a_column_with_several_values_per_task_is_not_a_benchmark() -> None:
    rows = [
        {"model": m, "task": str(t), "n": 4, "c": 2, "split": m} for m in "ab" for t in range(9)
    ]
    assert not passk_cli.read(rows, pool=["split"]).read_facts.benchmark_by_task
    rows = [{**row, "split": f"s{row['task']}"} for row in rows]
    assert not passk_cli.read(rows).read_facts.benchmark_by_task


def test_totals_in_one_row_point_to_these_tasks(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,n,c\nA,gpqa,198,158\nB,gpqa,198,171\n")
    remedy = "--population these-tasks treats the attempts as separate questions"
    for command in ("estimate", "compare", "curve"):
        assert remedy in passk(command, path, "-k", "1").err
    fixed = ("--population", "these-tasks", "-k", "1")
    result = passk("estimate", path, *fixed)
    assert "one-task" not in result.err
    assert "0.798 [0.735, 0.852]" in result.out
    assert "p = 0.11" in passk("compare", path, *fixed).out
