"""Rules that count: passes of each task, patterns of tasks, missing outcomes and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Passk, Write, jsonl


def run(write: Write, passes: list[int], n: int = 10, name: str = "new", cost: float = 1.0) -> Path:
    rows = (
        f"m,t{t},{int(a < c)},{cost},{'Timeout' if a == n - 1 and c < n else ''}"
        for t, c in enumerate(passes)
        for a in range(n)
    )
    return write(f"{name}.csv", "\n".join(["model,task,passed,cost,error", *rows, ""]))


@pytest.mark.parametrize(
    ("passes", "n", "rate", "code", "counted"),
    [
        ([8, 9, 10], 10, "8/10", 0, "3 of 3"), ([7, 9, 10], 10, "8/10", 1, "2 of 3"),
        # More attempts: the same share. Fewer: as many passes, since lost attempts are no passes.
        ([16, 15], 20, "8/10", 1, "1 of 2"), ([8, 9], 9, "8/10", 0, "2 of 2"),
        ([7, 7], 7, "8/10", 1, "0 of 2"),
    ],
)  # fmt: skip
def test_min_each_with_numbers_counts(
    passk: Passk, write: Write, passes: list[int], n: int, rate: str, code: int, counted: str
) -> None:
    new = run(write, passes, n)
    result = passk("gate", new, "--min-each", rate)
    assert (result.code, "undecided" in result.out) == (code, False)
    assert re.search(rf"each task passes ≥ 8 of 10 attempts +{counted} ", result.out)
    output = json.loads(passk("gate", new, "--min-each", rate, "-f", "json").out)
    assert output["signature"]["min-each"] == rate


def test_min_each_with_a_rate_tests_significance(passk: Passk, write: Write) -> None:
    assert "undecided" in passk("gate", run(write, [7, 9, 10]), "--min-each", "0.8").out
    for wrong in ("8/0", "9/8", "x/2", "1.5"):
        assert passk("gate", "new.csv", "--min-each", wrong).code == 2


def test_must_pass_takes_patterns(passk: Passk, write: Write) -> None:
    new = run(write, [10, 9, *[10] * 9, 8])
    result = passk("gate", new, "--must-pass", "t1*", "-f", "csv")
    assert (result.code, "3 named tasks pass all attempts" in result.out) == (1, True)
    assert "1 of 3" in result.out
    all_values = passk("gate", new, "--must-pass", "*")
    assert "2 of 12 named tasks do not pass all attempts in m" in all_values.out
    no_values = passk("gate", new, "--must-pass", "x*")
    assert (no_values.code, "no task x*" in no_values.out) == (3, True)


def test_a_baseline_task_that_was_lost_is_one_of_all(passk: Passk, write: Write) -> None:
    old, new = run(write, [10] * 4, name="old"), run(write, [10] * 3)
    result = passk("gate", new, "--baseline", old, "--must-pass", "*", "-q")
    assert "3 of 4" in result.out
    assert "no attempts at t3" in result.out


def test_missing_outcomes_and_errors_have_a_share(passk: Passk, write: Write) -> None:
    rows = [
        {"model": "m", "task": f"t{t}", "passed": None if (t, a) < (0, 3) else a > 0,
         "error": "429" if a == 0 else ""}
        for t in range(10) for a in range(10)
    ]  # fmt: skip
    new = write("new.jsonl", jsonl(rows))
    words = ["gate", new, "--missing", "fail", "-q", "--full"]
    # Three have no outcome, one of which has an error as well; nine further ones have one.
    for option, share, code in (
        ("--max-missing", "3%", 0), ("--max-missing", "0.02", 1),
        ("--max-errors", "12%", 0), ("--max-errors", "11%", 1), ("--max-errors", "0", 1),
    ):  # fmt: skip
        result = passk(*words, option, share)
        assert result.code == code, (option, share)
        assert ("3 of 100" if option == "--max-missing" else "12 of 100") in result.out
    full = write("whole.csv", "task,passed\na,1\nb,0\n")
    assert passk("gate", full, "--max-errors", "0", "--max-missing", "0").code == 0


def test_a_cost_that_may_rise_by_dollars_can_hardly_fail(passk: Passk, write: Write) -> None:
    old, new = run(write, [9] * 5, name="old", cost=0.05), run(write, [9] * 5, cost=0.06)
    for limit, expected_words in (("cost=20", True), ("cost=20%", False), ("cost=0.02", False)):
        result = passk("gate", new, "--baseline", old, "--max-increase", limit)
        assert (
            "warning[rule-cannot-fail]: cost increase ≤ $20 can hardly" in result.err
        ) == expected_words
    assert passk("gate", new, "--baseline", old, "--max-increase", "cost=10%").code == 1
