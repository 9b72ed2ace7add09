"""Tests of tables of several models without a column that is read as the model."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write, long_cases
from tests.proposals import commands, run_printed

MODELS = ("gpt-x", "claude-y", "llama-z")
FIELDS = ("--field", "task=question_id", "--field", "outcome=is_ok", "-k", "1")


def table(folder: Path, seeds: int = 4, more: str = "seed_no") -> Path:
    """Each model at five questions. claude-y passes all of them, and the other models none."""
    rows = (
        f"{model},{model[0]},q{task},{seed},{int(model == 'claude-y')},text {model}{task}{seed}"
        for model, task, seed in product(MODELS, range(5), range(seeds))
    )
    path = folder / "board.csv"
    head = f"bot,maker,question_id,{more},is_ok,reply"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


# A number of the attempt that has a usual name repeats in each model.
@pytest.mark.parametrize("number", ["seed", *long_cases("seed_no")])
def test_a_column_that_splits_repeats_evenly_is_named(
    passk: Passk, tmp_path: Path, number: str
) -> None:
    path = table(tmp_path, more=number)
    result = passk("estimate", path, *FIELDS)
    assert (result.code, result.out) == (3, "")
    assert "attempts at one task differ in bot (claude-y, gpt-x, llama-z)" in result.err
    models, groups, *_ = commands(result.err)
    assert (models[-2:], groups[-2:]) == (["--field", "model=bot"], ["--by", "bot"])
    assert "--pool bot" in result.err
    run_printed(passk, result.err)


@pytest.mark.parametrize("remedy", [("--field", "model=bot"), ("--by", "bot")])
def test_the_remedies_keep_models_apart(
    passk: Passk, tmp_path: Path, remedy: tuple[str, str]
) -> None:
    result = passk("estimate", table(tmp_path, more="seed"), *FIELDS, *remedy)
    assert result.code == 0
    assert re.search("gpt-x +0.000", result.out)
    assert re.search("claude-y +1.000", result.out)


def test_pooled_columns_and_conditions_make_one_model(passk: Passk, tmp_path: Path) -> None:
    path = table(tmp_path, more="seed")
    pool = ("--pool", "bot,maker,seed", "--duplicates", "keep")
    assert passk("estimate", path, *FIELDS, *pool).code == 0
    # A label names the model, and no setting.
    assert passk("estimate", f"one={path}", *FIELDS, "--duplicates", "keep").code == 3
    where = ("--where", "bot = 'gpt-x'")
    assert passk("estimate", path, *FIELDS, *where).code == 0


def test_the_headline_of_describe_begins_with_the_setting(passk: Passk, write: Write) -> None:
    """Repeats are repeats of another temperature."""
    rows = [f"t{t},{heat},{seed},{(t + seed) % 2}" for t in range(30) for heat in (0, 0.5)
            for seed in range(3)]  # fmt: skip
    path = write("a.csv", "task,temperature,seed,passed\n" + "\n".join(rows) + "\n")
    assert passk("describe", path).out.startswith(
        "passk read 1 model and 30 tasks with 6 attempts per task, which is enough for k ≤ 6."
        " Attempts at one task differ in temperature (choose: --by). 90 rows have the attempt"
        " number of another row.\n"
    )


def test_describe_warns_about_pooled_settings_and_continues(passk: Passk, tmp_path: Path) -> None:
    result = passk("describe", table(tmp_path), *FIELDS[:-2], "-q")
    assert result.code == 0
    assert result.err.startswith("warning[pooled-settings]: ")
    assert "attempts at one task differ in bot" in result.err


def test_names_of_models_are_neither_attempt_numbers_nor_parts_of_tasks(
    passk: Passk, tmp_path: Path
) -> None:
    result = passk("estimate", table(tmp_path, seeds=1), *FIELDS)
    assert "attempt=" not in result.err
    assert "--field model=bot as models" in result.err
    assert "as parts of the tasks" not in result.err


@pytest.mark.parametrize(
    ("column", "values", "asks", "part"),
    [
        ("memory", ["on", "off"], "pooled-settings", False),
        ("use_tools", [True, False], "pooled-settings", False),
        ("temperature", [0.2, 0.8], "pooled-settings", False),
        ("topic", ["algebra", "geometry"], "restarting-tasks", True),
    ],
)
def test_tasks_restart_only_under_columns_that_describe_tasks(
    passk: Passk, write: Write, column: str, values: list[Any], asks: str, part: bool
) -> None:
    rows = [{"task_id": i % 15, "trial": i // 15 % 2, column: values[i // 30],
             "passed": i * 5 % 7 < 3} for i in range(60)]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", "".join(json.dumps(r) + "\n" for r in rows)))
    assert result.error == asks
    assert ("as parts of the tasks" in result.err) == part


def test_an_equal_statement_makes_tasks_equal(passk: Passk, write: Write) -> None:
    rows = [{"task_id": i % 15, "topic": ["a", "b"][i // 15], "passed": i % 7 < 3,
             "question": f"How many are {i % 15} apples?"} for i in range(30)]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", "".join(json.dumps(r) + "\n" for r in rows)))
    assert result.error == "pooled-settings"
    assert "as parts of the tasks" not in result.err


@pytest.mark.long
def test_a_frame_and_rows_are_refused_too(tmp_path: Path) -> None:
    frame = pd.read_csv(table(tmp_path)).astype({"is_ok": bool})
    fields = {"task": "question_id", "outcome": "is_ok"}
    for data in (frame, frame.to_dict("records")):
        with pytest.raises(
            DataError, match=r"differ in bot \(claude-y, .*by=\"bot\" keeps them apart"
        ):
            read(data, fields=fields)


@pytest.mark.parametrize("column", [
    lambda row: row["task"],                                # constant at each task
    lambda row: "stop" if row["passed"] else "length",      # goes with the outcome
    lambda row: f"answer {row['number']}",                  # another text each time
    lambda row: "xyz"[row["number"] * 7 % 11 % 3],          # at random
])  # fmt: skip
def test_other_texts_are_not_models(column: object) -> None:
    rows = [
        {"task": f"t{number // 4}", "passed": number % 3 == 0, "number": number}
        for number in range(40)
    ]
    for row in rows:
        row["text"] = column(row)  # type: ignore[operator]
    assert read(rows).series == (("model",),)


def write_three_models(folder: Path, column: str, number: str = "{}") -> Path:
    """Three models at five questions with four attempts that are numbered per model."""
    rows = (
        f"{model},q{task},{number.format(attempt)},{int(model == 'claude-y')}"
        for model, task, attempt in product(MODELS, range(5), range(4))
    )
    path = folder / "board.csv"
    path.write_text("\n".join([f"{column},task,attempt,passed", *rows]) + "\n")
    return path


# Numbers with holes may repeat, and so are looked at one by one.
@pytest.mark.parametrize("number", ["{}", *long_cases("1{}7")])
@pytest.mark.parametrize("policy", ["error", *long_cases("first", "last", "keep")])
def test_policies_for_repeats_never_pool_models(
    passk: Passk, tmp_path: Path, policy: str, number: str
) -> None:
    path = write_three_models(tmp_path, "bot", number)
    result = passk("estimate", path, "--duplicates", policy, "-q")
    assert (result.code, result.out) == (3, "")
    assert "attempts at one task differ in bot (claude-y, gpt-x, llama-z)" in result.err
    with pytest.raises(DataError, match="differ in bot"):
        read(path, duplicates=policy)


def test_duplicates_keep_is_allowed_without_repeats(passk: Passk, write: Write) -> None:
    rows = [f"{'abc'[i % 3]},q{i // 12},{i % 12 * 10},{i % 2}" for i in range(60)]
    path = write("board.csv", "\n".join(["machine,task,attempt,passed", *rows]) + "\n")
    assert passk("estimate", path, "--duplicates", "keep").code == 0


def test_a_name_with_a_space_is_quoted(passk: Passk, tmp_path: Path) -> None:
    error = passk("estimate", write_three_models(tmp_path, "the model")).err
    assert "--field 'model=the model'  # as models\n" in error
    assert "--by 'the model'  # keeps them apart\n" in error


def test_attempts_that_are_pooled_on_purpose_may_still_repeat(passk: Passk, tmp_path: Path) -> None:
    path = write_three_models(tmp_path, "bot")
    result = passk("estimate", path, "--pool", "bot")
    assert result.err.startswith("error[duplicate-attempts]: ")
    result = passk("estimate", path, "--pool", "bot", "--duplicates", "keep")
    assert result.code == 0
    assert "5 tasks × 12 attempts" in result.out


@pytest.mark.parametrize("policy", ["error", *long_cases("first", "keep")])
def test_models_named_as_the_attempt_are_refused(passk: Passk, tmp_path: Path, policy: str) -> None:
    path = write_three_models(tmp_path, "run")
    result = passk("estimate", path, "--field", "attempt=run", "--duplicates", policy)
    assert (result.code, result.out) == (3, "")
    assert "is duplicated" in result.err or "differ in attempt" in result.err


@pytest.mark.parametrize("remedy", [("--field", "model=run"), ("--by", "run")])
def test_a_used_column_is_not_offered_as_the_attempt(
    passk: Passk, tmp_path: Path, remedy: tuple[str, str]
) -> None:
    result = passk("estimate", write_three_models(tmp_path, "run"), *remedy)
    assert result.code == 0
    assert "5 tasks × 4 attempts" in result.out
    assert re.search("gpt-x +0.000", result.out)


def test_numbers_are_offered_as_the_attempt_before_texts(passk: Passk, tmp_path: Path) -> None:
    path = write_three_models(tmp_path, "run")
    result = passk("estimate", path)
    assert "2 columns could be the attempt: attempt, run\n" in result.err
    assert "--field attempt=attempt" in " ".join(commands(result.err)[0])
    run_printed(passk, result.err)
    result = passk("estimate", path, "--field", "attempt=attempt")
    assert "differ in run (claude-y, gpt-x, llama-z)\n" in result.err


def test_a_copy_of_texts_that_number_attempts_is_a_copy(passk: Passk, write: Write) -> None:
    rows = [f"q{task},{attempt},1" for task, attempt in product(range(5), "ab")]
    path = write("copied.csv", "\n".join(["task,attempt,passed", *rows, *rows]) + "\n")
    assert "is duplicated" in passk("estimate", path).err


def test_one_column_may_be_outcome_and_score(passk: Passk, write: Write) -> None:
    path = write("scored.jsonl", '{"task": "q", "reward": 0.5}\n{"task": "q", "reward": 1}\n')
    assert passk("estimate", path, "--field", "outcome=reward", "-m", "mean").code == 0
