"""Remedies suit the command they are printed for: it goes on, or its own error comes first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Passk, jsonl, long_cases


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
        text = jsonl(records)
        (tmp_path / f"{name}.jsonl").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def remedies(said: str) -> Iterator[list[str]]:
    for line in said.splitlines()[1:]:
        if line.startswith("  passk ") and "--init" not in line:
            yield shlex.split(line.partition("  # ")[0])[1:]


@pytest.mark.parametrize(
    ("command", "count"),
    [("compare", 1), *long_cases(("extrapolate", 3), ("order", 2), ("estimate", 3))],
)
def test_every_remedy_of_pooled_settings_goes_on(
    passk: Passk, folder: Path, command: str, count: int
) -> None:
    result = passk(command, "nights.jsonl")
    assert result.error == "pooled-settings"
    offered = [*remedies(result.err)]
    assert len(offered) == count
    for words in offered:
        assert passk(*words).out


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("judge nights.jsonl", "no-labels"),
        ("judge odd.jsonl", "no-outcome-column"),
        ("judge missing.jsonl", "no-labels"),
        ("watch nights.jsonl --min pass@1=0.5 --attempts 4", "no-order"),
        ("watch missing.jsonl --min pass@1=0.5 --attempts 1", "no-order"),
        ("compare odd.jsonl", "no-outcome-column"),
        ("compare missing.jsonl", "nothing-to-compare"),
    ],
)
def test_what_the_command_lacks_comes_before_what_the_file_lacks(
    passk: Passk, folder: Path, words: str, name: str
) -> None:
    result = passk(*words.split())
    assert result.error == name
    assert not [*remedies(result.err)]


def test_two_copies_leave_nothing_to_compare(passk: Passk, folder: Path) -> None:
    records = [{"task": f"t{t}", "passed": t * j % 3 == 1} for t in range(40) for j in range(5)]
    for name in ("x", "y", "z"):
        text = jsonl(records[: -5 * (name == "z") or None])
        Path(f"{name}.jsonl").write_text(text)
    sentence = passk("compare", "x.jsonl", "y.jsonl").err
    assert (
        "if one model is a copy of the other model, use the results of a different model"
        in sentence
    )
    [words] = remedies(sentence)
    assert passk(*words).out
    sentence = passk("compare", "x.jsonl", "y.jsonl", "z.jsonl").err
    assert [word for words in remedies(sentence) for word in words].count("--exclude-model") == 2


def test_a_prediction_keeps_the_groups_that_temperature_makes(passk: Passk) -> None:
    data = "sample_data/cruxeval.jsonl.gz"
    [words] = remedies(passk("temperature", data, "-k", "1,20").err)
    assert words[-2:] == ["--by", "temperature"]


def test_words_that_are_not_named_are_offered_as_either(passk: Passk, folder: Path) -> None:
    text = jsonl({"task": f"t{t}", "passed": ("yes", "no", "maybe")[t % 3]} for t in range(12))
    Path("words.jsonl").write_text(text)
    sentence = passk("estimate", "words.jsonl", "--passes", "yes", "--fails", "no").err
    assert "no option names these outcomes as passes or failures: maybe" in sentence
    assert [words[-2:] for words in remedies(sentence)] == [
        ["--passes", "maybe"],
        ["--fails", "maybe"],
    ]
    for words in remedies(sentence):
        assert passk(*words).out


def test_runs_whose_number_is_none_are_compared(passk: Passk, folder: Path) -> None:
    for night in (1, 2):
        own_values = {"model": "agent", "run": f"v{night}"}
        records = [own_values | {"task": f"t{t}", "passed": (t + j * night) % 3 > 0}
                   for t in range(12) for j in range(4)]  # fmt: skip
        text = jsonl(records)
        Path(f"run_n{night}.jsonl").write_text(text)
    first, *_ = remedies(passk("compare", "run_n1.jsonl", "run_n2.jsonl").err)
    assert first[-2:] == ["--field", "model=run"]
    assert "v1" in passk(*first).out


@pytest.mark.parametrize(
    ("column", "remedy", "said"),
    [
        ("", "run_n1=run_n1.jsonl run_n2=run_n2.jsonl", "compares run_n1 with run_n2"),
        ("host", "run_n2.jsonl --field model=host", "compares v1 with v2"),
    ],
)
def test_files_of_one_model_are_compared_by_what_they_differ_in(
    passk: Passk, folder: Path, column: str, remedy: str, said: str
) -> None:
    for night in (1, 2):
        records = [
            {"model": "agent", "task": f"t{t}", "passed": (t + j * night) % 3 > 0, "cost": t + j,
             **({column: f"v{night}"} if column else {})}
            for t in range(12) for j in range(4)
        ]  # fmt: skip
        text = jsonl(records)
        Path(f"run_n{night}.jsonl").write_text(text)
    result = passk("compare", "run_n1.jsonl", "run_n2.jsonl")
    assert result.error == "nothing-to-compare"
    assert "both files contain only the model 'agent'" in result.err
    assert f"{remedy}  # {said}: 12 shared tasks\n" in result.err
    [words] = remedies(result.err)
    assert passk(*words).out


def test_files_of_one_label_are_labelled_apart(passk: Passk, folder: Path) -> None:
    for night in (1, 2):
        rows = [f"t{t},{int((t + j * night) % 3 > 0)}" for t in range(12) for j in range(4)]
        Path(f"n{night}.csv").write_text("\n".join(["task,passed", *rows]))
    sentence = passk("compare", "a=n1.csv", "a=n2.csv").err
    assert sentence.endswith("both files have the label 'a'; write n1=n1.csv n2=n2.csv\n")
    assert passk("compare", "n1=n1.csv", "n2=n2.csv").code == 0
    assert "--field" in passk("compare", "a=n1.csv").err


@pytest.mark.parametrize("given", ["", "--field outcome=model_a,model_b"])
def test_columns_of_models_are_compared(passk: Passk, folder: Path, given: str) -> None:
    Path("wide.csv").write_text("id,model_a,model_b\n1,1,0\n2,1,1\n3,0,0\n")
    sentence = passk("compare", "wide.csv", *given.split()).err
    words = ["--field", "outcome=model_a,model_b", "--field", "model=@column"]
    assert " ".join(words) in sentence
    assert passk("compare", "wide.csv", *words).out.startswith("model_a and model_b tie")


def test_models_with_too_few_attempts_are_told_of_at_once(passk: Passk, folder: Path) -> None:
    records = [
        {"model": f"m{m}", "task": f"t{t}", "passed": (t * m + j) % 3 > 0}
        for m in range(4) for t in range(12) for j in range(6 - (t <= m) - (t < m))
    ]  # fmt: skip
    Path("few.jsonl").write_text(jsonl(records))
    reason = "n=4–5 < k=6 on 1 to 4 of 12 tasks, by model"
    ways = "--short-tasks drop uses the tasks with n ≥ k; -k 4 uses all tasks"
    result = passk("estimate", "few.jsonl", "-k", "6")
    assert (result.code, result.error, result.out) == (2, "too-few-attempts", "")
    assert f"cannot compute pass@6, pass^6: {reason}\n" in result.err
    assert [words[-2:] for words in remedies(result.err)] == [
        ["--short-tasks", "drop"],
        ["-k", "4"],
    ]
    assert all(passk(*words).out for words in remedies(result.err))
    numbers = "passk cannot compute pass@6, pass^6 of m0, m1, m2, m3"
    some = passk("estimate", "few.jsonl", "-k", "4,6")
    assert f"warning[short-tasks]: {numbers}: {reason}; {ways}\n" in some.err
    assert some.err.count("warning") == 1
    assert "–: fewer than k attempts" in some.out
    result = passk("compare", "few.jsonl", "-k", "6")
    assert result.out.startswith(f"No test is possible: {reason}.\n")
    assert f"6 pairs cannot be compared at pass@6, pass^6: {reason}; {ways}\n" in result.err
    assert result.err.count("warning") == 1
    assert "not compared" not in passk("compare", "few.jsonl", "-k", "4").err
    assert "not compared" not in passk("compare", "few.jsonl", "-k6", "--short-tasks=drop").err


def test_a_number_without_short_tasks_says_of_how_many_tasks_it_is(
    passk: Passk, folder: Path
) -> None:
    Path("one.csv").write_text("task,n,c\n" + "".join(f"t{t},{3 + t % 2},2\n" for t in range(20)))
    result = passk("estimate", "one.csv", "-k", "1,4")
    assert "cannot compute pass@4, pass^4 of one: n=3 < k=4 on 10 of 20 tasks; " in result.err
    sentence = passk("estimate", "one.csv", "-k", "1,4", "--short-tasks", "drop").out
    assert (
        "passes with probability 1.000, and all 4 pass with probability 0.000 on 10 of 20 tasks."
        in sentence
    )
    assert "on 20 of" not in sentence
