"""Python refuses what the command line refuses, and warns of what it warns of."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk

FRAME = pd.DataFrame(
    [(model, task, 4, (task + shift) % 5) for model, shift in (("a", 0), ("b", 1))
     for task in range(9)],
    columns=["model", "task", "n", "c"],
)  # fmt: skip


BAD = [
    ("population", "x"),
    ("short_tasks", "foo"),
    ("interval", "x"),
    ("level", 2),
    ("metrics", "pass@x"),
]
BAD_OF_PAIRS = [("test", "x"), ("adjust", "x"), ("margin", 2), ("baseline", "x")]


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [("estimate", *bad) for bad in BAD] + [("compare", *bad) for bad in (*BAD, *BAD_OF_PAIRS)],
)
def test_a_bad_value_is_refused_in_the_same_words(
    passk: Passk, tmp_path: Any, command: str, option: str, value: object
) -> None:
    path = tmp_path / "x.csv"
    FRAME.to_csv(path, index=False)
    name = "-m" if option == "metrics" else f"--{option.replace('_', '-')}"
    done = passk(command, path, name, value)
    assert done.code == 2
    call: Callable[..., pd.DataFrame] = getattr(passk_cli, command)
    with pytest.raises(passk_cli.ParameterError) as refusal:
        call(FRAME, **{option: value})
    assert done.err == f"passk: {refusal.value}\n"


def test_verdicts_need_an_interval() -> None:
    with pytest.raises(passk_cli.ParameterError, match="the verdicts here rest on intervals"):
        passk_cli.compare(FRAME, interval="none")


@pytest.mark.parametrize(("option", "value"), [("resamples", 99), ("seed", -1)])
def test_draws_are_refused_below_their_least(option: str, value: int) -> None:
    for call in (passk_cli.estimate, passk_cli.compare):
        with pytest.raises(passk_cli.ParameterError, match=f"--{option} {value}: it must be at"):
            call(FRAME, **{option: value})  # type: ignore[operator]


def test_a_group_named_like_a_column_of_the_output_is_refused() -> None:
    counts = passk_cli.read(FRAME.assign(letters="x"), by=["letters"])
    with pytest.raises(passk_cli.ParameterError, match="--by letters: the output has a column"):
        passk_cli.compare(counts)
    assert "letters" in passk_cli.estimate(counts).columns


def test_unknown_attempts_are_refused() -> None:
    with pytest.raises(passk_cli.ParameterError, match="attempts='x'; it is one of score"):
        passk_cli.read(FRAME, attempts=["x"])


@pytest.mark.parametrize("call", [passk_cli.estimate, passk_cli.compare])
def test_warnings_of_the_command_line_reach_python(
    passk: Passk, call: Callable[..., pd.DataFrame]
) -> None:
    path, models = SAMPLES / "cruxeval.jsonl.gz", ["codellama-7b", "gpt-4-0613"]
    kept = [part for model in models for part in ("--model", model)]
    done = passk(call.__name__, path, "-m", "pass@1", *kept)
    printed = re.findall(r"^passk: warning: (.*)$", done.err, re.MULTILINE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(passk_cli.read(path, models=models), "pass@1")
    assert [str(one.message) for one in caught] == printed != []
    assert {one.category for one in caught} == {passk_cli.PasskWarning}
    assert {one.filename for one in caught} == {__file__}
