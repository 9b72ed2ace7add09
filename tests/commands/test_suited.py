"""Remedies suit the command they are printed for: it goes on, or its own error comes first."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Passk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two nights of one agent, and a file whose columns have other names."""
    nights = [
        {"agent": "a", "task": f"t{t}", "attempt": j, "passed": (t + j * night) % 3 > 0,
         "date": f"2026-11-2{night}"}
        for night in (4, 5) for t in range(12) for j in range(4)
    ]  # fmt: skip
    odd = [{"case_id": f"t{t}", "ok": t % 2 == 0} for t in range(12)]
    missing = [{"model": "a", "task": f"t{t}", "passed": (True, False, None)[t % 3]}
               for t in range(12)]  # fmt: skip
    for name, records in (("nights", nights), ("odd", odd), ("missing", missing)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def remedies(said: str) -> Iterator[list[str]]:
    for line in said.splitlines()[1:]:
        if line.startswith("  passk "):
            yield shlex.split(line.partition("  # ")[0])[1:]


@pytest.mark.parametrize(
    ("command", "count"), [("compare", 2), ("extrapolate", 1), ("order", 3), ("estimate", 4)]
)
def test_every_remedy_of_pooled_settings_goes_on(
    passk: Passk, folder: Path, command: str, count: int
) -> None:
    done = passk(command, "nights.jsonl")
    assert done.error == "pooled-settings"
    offered = [*remedies(done.err)]
    assert len(offered) == count
    for words in offered:
        assert passk(*words).out


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("judge nights.jsonl", "no-labels"),
        ("judge odd.jsonl", "no-labels"),
        ("judge missing.jsonl", "no-labels"),
        ("watch nights.jsonl --min pass@1=0.5 --attempts 4", "no-order"),
        ("watch missing.jsonl --min pass@1=0.5 --attempts 1", "no-order"),
        ("compare odd.jsonl", "bad-option-value"),
        ("compare missing.jsonl", "bad-option-value"),
        ("extrapolate missing.jsonl", "unusable-data"),
    ],
)
def test_what_the_command_lacks_comes_before_what_the_file_lacks(
    passk: Passk, folder: Path, words: str, name: str
) -> None:
    done = passk(*words.split())
    assert done.error == name
    assert not [*remedies(done.err)]


def test_a_file_of_one_model_asks_for_the_column_of_models(passk: Passk, folder: Path) -> None:
    assert "--field model=COLUMN names a column of models" in passk("compare", "odd.jsonl").err


def test_two_copies_leave_nothing_to_compare(passk: Passk, folder: Path) -> None:
    records = [{"task": f"t{t}", "passed": t * j % 3 == 1} for t in range(40) for j in range(5)]
    for name in ("x", "y", "z"):
        text = "".join(
            json.dumps(record) + "\n" for record in records[: -5 * (name == "z") or None]
        )
        Path(f"{name}.jsonl").write_text(text)
    said = passk("compare", "x.jsonl", "y.jsonl").err
    assert "if one is a copy, name another run: one model is left" in said
    [words] = remedies(said)
    assert passk(*words).out
    said = passk("compare", "x.jsonl", "y.jsonl", "z.jsonl").err
    assert [word for words in remedies(said) for word in words].count("--exclude-model") == 2


def test_a_prediction_keeps_the_groups_that_temperature_makes(passk: Passk) -> None:
    data = "sample_data/cruxeval.jsonl.gz"
    [words] = remedies(passk("temperature", data, "-k", "1,20").err)
    assert words[-2:] == ["--by", "temperature"]


def test_a_gate_of_passes_is_not_offered_the_mean(passk: Passk, folder: Path) -> None:
    text = "".join(json.dumps({"task": f"t{t}", "score": t / 12}) + "\n" for t in range(12))
    Path("scores.jsonl").write_text(text)
    assert "-m mean" in passk("estimate", "scores.jsonl").err
    assert "-m mean" not in passk("gate", "scores.jsonl", "--min", "pass@1=0.5").err


def test_words_that_are_not_named_are_offered_as_either(passk: Passk, folder: Path) -> None:
    text = "".join(
        json.dumps({"task": f"t{t}", "passed": ("yes", "no", "maybe")[t % 3]}) + "\n"
        for t in range(12)
    )
    Path("words.jsonl").write_text(text)
    said = passk("estimate", "words.jsonl", "--passes", "yes", "--fails", "no").err
    assert "named as neither passing nor failing: maybe (4)" in said
    assert [words[-2:] for words in remedies(said)] == [["--passes", "maybe"], ["--fails", "maybe"]]
    for words in remedies(said):
        assert passk(*words).out
