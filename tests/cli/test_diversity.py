"""passk diversity as a user runs it: goldens on real data, normal forms, refusals, charts."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from tests.conftest import SAMPLES, Golden, Passk, Write, mark_long, records

TAU, CRUX = SAMPLES / "tau_airline.csv", SAMPLES / "cruxeval.jsonl.gz"
TWO = [CRUX, "--model", "codellama-7b", "--model", "gpt-4-0613", "--by", "temperature"]
# The sample has one task in ten, because parsing all solutions takes seconds.
FEW = "task_id LIKE '%7'"
COMMANDS: dict[str, list[object]] = {
    "diversity-python": ["diversity", *TWO, "--where", FEW, "--normalise", "python", "-k", "5"],
    "diversity-similar": ["diversity", *TWO, "--where", "temperature < 0.5", "--similarity", "0.5",
                          "-k", "2,10"],
    "diversity-csv": ["diversity", *TWO, "--where", "temperature > 0.5", "-k", "10", "-f", "csv"],
    "diversity-none": ["diversity", TAU],
}  # fmt: skip


@pytest.mark.parametrize("name", mark_long(COMMANDS, "diversity-similar"))
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def facts(out: str) -> dict[str, dict[str, str]]:
    return {row["metric"]: row for row in records(out)}


PROGRAMS = [
    ("def f(a):\n    return a", 1),
    ("def f(a):\n  return a", 1),
    ('def f(a):\n    """Told."""\n    return a  # and why', 1),
    ("def f(b):\n    return b", 1),
    ("I would  return a", 0),
    ("I would return a", 0),
    ("x = '\\d'", 0),
    (None, 0),
]


@pytest.fixture
def programs(write: Write) -> Path:
    lines = [
        json.dumps({"task": "t", "passed": passed, "attempt": i, "completion": text})
        for i, (text, passed) in enumerate(PROGRAMS)
    ]
    return write("programs.jsonl", "\n".join(lines))


@pytest.mark.parametrize(
    ("how", "kinds", "correct"), [("none", 8, 4), ("space", 6, 3), ("python", 5, 2)]
)
def test_normal_forms_decide_which_solutions_are_equal(
    passk: Passk, programs: Path, how: str, kinds: int, correct: int
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = passk("diversity", programs, "--normalise", how, "-f", "csv", "-v")
    values = facts(result.out)
    assert float(values["distinct"]["estimate"]) == kinds
    assert float(values["distinct correct"]["estimate"]) == correct
    assert "note[missing-values]: 1 attempt without a solution" in result.err
    assert ("note[unparsed-solutions]: 2 attempts" in result.err) == (how == "python")


def test_solutions_are_read_from_lists_frames_and_named_columns(passk: Passk, write: Write) -> None:
    lists = write(
        "lists.jsonl", '{"task": "t", "passed": [1, 0, 0], "completions": ["a", "b", "b"]}'
    )
    values = facts(passk("diversity", lists, "-f", "csv").out)
    assert float(values["distinct"]["estimate"]) == 2
    path = write("named.csv", "task,passed,final,code\nt,1,x,1\nt,0,y,1\nt,0,x,1\n")
    for column, kinds in (("final", 2), ("code", 1)):
        out = passk("diversity", path, "--field", f"solution={column}", "-f", "csv").out
        assert float(facts(out)["distinct"]["estimate"]) == kinds


def test_repeated_attempts_follow_the_policy(passk: Passk, write: Write) -> None:
    path = write("twice.csv", "task,passed,attempt,code\nt,1,0,x\nt,0,1,y\nt,0,1,z\n")
    assert passk("diversity", path).code == 3
    for policy, kinds in (("first", 2), ("keep", 3)):
        for similarity in ([], ["--similarity", "1"]):
            out = passk("diversity", path, "--duplicates", policy, "-f", "csv", *similarity).out
            assert float(facts(out)["distinct"]["estimate"]) == kinds


def test_similar_solutions_of_different_tasks_stay_separate(passk: Passk, write: Write) -> None:
    lines = [
        json.dumps({"task": f"t{t}", "passed": i == 0, "attempt": i, "code": text})
        for t in range(3)
        for i, text in enumerate(["a b c d e", "a b c d f", "x y z", "x  y z"])
    ]
    path = write("near.jsonl", "\n".join(lines))
    plain, similar, equal = (
        facts(passk("diversity", path, "-f", "csv", *more).out)
        for more in ([], ["--similarity", "0.5"], ["--similarity", "1"])
    )
    assert [float(f["distinct"]["estimate"]) for f in (plain, similar, equal)] == [4, 2, 3]
    assert similar["pass@1"] == plain["pass@1"]
    assert float(similar["distinct correct"]["estimate"]) == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--similarity", "0"], 2, "--similarity 0: the similarity must be above 0 and at most 1"),
        (["-k", "50"], 2, "needs 50 attempts per task, but no task has more than 8 attempts"),
        (["--field", "solution=nothing"], 2, "no column 'nothing'"),
    ],
)
def test_wrong_options_are_refused(
    passk: Passk, programs: Path, options: list[str], code: int, message: str
) -> None:
    result = passk("diversity", programs, *options)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.sentences == 1


def test_text_that_is_not_utf8_is_read_with_a_warning(passk: Passk, write: Write) -> None:
    path = write("bad.csv", b"task,passed,code\nt,1,a\nt,0,\xff\xfe\n")
    result = passk("diversity", path)
    assert result.code == 0
    assert f"warning[other-encoding]: passk read {path} as cp1252, not as UTF-8" in result.err


def test_a_chart_is_written(
    passk: Passk, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "distinct.svg"
    result = passk("diversity", programs, "--chart", target, "-q")
    assert (result.code, result.err) == (0, "")
    assert "distinct-correct@k" in target.read_text()
