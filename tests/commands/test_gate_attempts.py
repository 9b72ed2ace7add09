"""Attempts that were not run, or run again: the gate fails, or says so in its verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import passk_cli
from tests.conftest import Passk, jsonl

Write = Callable[..., Path]
RULE, DROP = "every baseline attempt", ["--max-drop", "pass@1=0.9"]
TASKS = 24


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, outcomes of each task, groups) → a file of attempts without numbers."""

    def make(
        name: str, outcomes: Sequence[Sequence[int | None]], kinds: Sequence[str] = ()
    ) -> Path:
        path = tmp_path / f"{name}.jsonl"
        records = (
            {"model": "m", "task": f"t{t:02d}", "passed": passed}
            | ({"kind": kinds[t]} if kinds else {})
            for t, attempts in enumerate(outcomes)
            for passed in attempts
        )
        path.write_text(jsonl(records))
        return path

    return make


def outcomes(n: int | Sequence[int]) -> list[list[int]]:
    """n attempts of each task, of which every third passes."""
    sizes = [n] * TASKS if isinstance(n, int) else n
    return [[int((t + a) % 3 == 0) for a in range(size)] for t, size in enumerate(sizes)]


def verdict(passk: Passk, *arguments: object, rule: str = RULE) -> tuple[int, str, str, str]:
    """The exit code, the verdict and note of the rule ("" without it), and the verdict's line."""
    result = passk("gate", *arguments, "-f", "json", "-q")
    document = json.loads(result.out)
    rows = [row for row in document["rows"] if row["rule"] == rule]
    row_verdict = (rows[0]["verdict"], rows[0]["note"]) if rows else ("", "")
    return (result.code, *row_verdict, document["answer"])


def test_attempts_of_fewer_tasks_are_those_of_the_shared_ones(passk: Passk, write: Write) -> None:
    new, old = write("new", outcomes(5)[2:]), write("old", outcomes(5))
    result = passk("gate", new, "--baseline", old, *DROP, "-f", "json", "-q")
    counts = {row["rule"]: row["counted"] for row in json.loads(result.out)["rows"]}
    assert counts["every baseline task"] == "22 of 24"
    assert counts[RULE] == "110 of 110 on the shared tasks"


UNEVEN = [5, 3] + [5] * (TASKS - 2)


@pytest.mark.parametrize(
    ("new", "old", "passes", "said"),
    [
        (5, 5, True, ""),
        (UNEVEN, 5, False, "fewer attempts than in the baseline at 1 task (3 of 5)"),
        (2, 5, True, "fewer attempts than in the baseline at 24 tasks (48 of 120)"),
        (5, 2, True, "more attempts than in the baseline at 24 tasks (120 for 48)"),
        ([n - 3 for n in UNEVEN[:1]] + [1] * (TASKS - 1), 5, False, "fewer attempts"),
        # Uneven in both: as it was, the same share, another one, even, and lost elsewhere.
        (UNEVEN, UNEVEN, True, ""),
        ([2 * n for n in UNEVEN], UNEVEN, True, "more attempts than in the baseline at 24 tasks"),
        (5, UNEVEN, True, "more attempts than in the baseline at 1 task (5 for 3)"),
        (UNEVEN[::-1], UNEVEN, False, "fewer attempts than in the baseline at 1 task (3 of 5)"),
        ([7] + [5] * (TASKS - 1), 5, False, "more attempts than in the baseline at 1 task (7 for"),
        ([7, 3] + [5] * (TASKS - 2), 5, False, "(3 of 5), more at 1 task (7 for 5)"),
    ],
)
def test_attempts_of_the_baseline(
    passk: Passk, write: Write, new: Any, old: Any, passes: bool, said: str
) -> None:
    files = write("new", outcomes(new)), "--baseline", write("old", outcomes(old))
    code, row_verdict, note, answer = verdict(passk, *files, *DROP)
    assert (code, row_verdict) == ((0, "pass") if passes else (1, "fail"))
    assert said in note
    assert said in answer


def test_a_row_that_passes_with_other_numbers_says_which(passk: Passk, write: Write) -> None:
    files = write("new", outcomes(2)), "--baseline", write("old", outcomes(5))
    (row,) = (r for r in passk("gate", *files, *DROP).out.splitlines() if r.startswith(RULE))
    assert row.endswith(" pass (2 attempts per task, the baseline 5)")
    assert " 48 of 120 " in row


@pytest.mark.parametrize(
    "rule", [DROP, ["--min", "pass@1=0.01"], ["--no-regression"]], ids=" ".join
)
def test_attempts_shut_the_gate_under_any_rule(passk: Passk, write: Write, rule: list[str]) -> None:
    files = write("new", outcomes(UNEVEN)), "--baseline", write("old", outcomes(5))
    expected_words = "fewer attempts than in the baseline at 1 task (3 of 5)"
    code, row_verdict, note, answer = verdict(passk, *files, *rule, "-m", "pass@1")
    assert (code, row_verdict, expected_words in note, expected_words in answer) == (
        1,
        "fail",
        True,
        True,
    )
    code, row_verdict, _, answer = verdict(
        passk, *files, *rule, "-m", "pass@1", "--unpaired", "drop"
    )
    assert (code, row_verdict, expected_words in answer) == (0, "", True)


def test_declared_attempts(passk: Passk, write: Write) -> None:
    numbers: list[Any] = [5, UNEVEN, 6]
    full, lost, more = (write(str(i), outcomes(n)) for i, n in enumerate(numbers))
    rule: dict[str, Any] = {"rule": "5 attempts at every task"}
    ask: list[Any] = ["--min", "pass@1=0.01", "--attempts", 5]
    assert verdict(passk, full, *ask, **rule)[:3] == (0, "pass", "")
    assert verdict(passk, full, "--attempts", 5, **rule)[:2] == (0, "pass")
    # No rule says how many tasks there are to be, so the verdict does.
    for single in (ask, ["--attempts", 5]):
        assert verdict(passk, full, *single)[3].endswith("; 24 tasks with 5 attempts each")
    code, row_verdict, note, answer = verdict(passk, lost, *ask, **rule)
    assert (code, row_verdict) == (1, "fail")
    assert note == "fewer at t01; fewer attempts than the 5 declared at 1 task (3 of 5)"
    assert answer.startswith("FAIL: m has 3 to 5 attempts per task; fewer at t01; fewer att")
    assert verdict(passk, more, *ask, **rule)[:2] == (1, "fail")
    # A declared number stands above the baseline's, which is said.
    code, row_verdict, _, answer = verdict(passk, full, "--baseline", more, *ask, **rule)
    assert (code, row_verdict) == (0, "pass")
    assert "fewer attempts than in the baseline at 24 tasks (120 of 144)" in answer
    code, row_verdict, _, answer = verdict(passk, lost, *ask, "--unpaired", "drop", **rule)
    assert (code, row_verdict, note.partition("; ")[2] in answer) == (0, "", True)
    # Without anything to be made, what is uneven is said.
    assert "; 3 to 5 attempts per task" in verdict(passk, lost, *ask[:2])[3]
    for refused in (["--attempts", 0], ["--attempts", 5, "--unpaired", "drop"]):
        assert passk("gate", full, *refused).code == 2


@pytest.mark.filterwarnings("ignore:pass@1 drop .* decides nothing")
def test_groups_of_tasks_are_one_plan(passk: Passk, write: Write) -> None:
    kinds = ["easy", "hard"] * (TASKS // 2)
    old = write("old", outcomes(4), kinds)
    hard = write("hard", outcomes([4, 2] * (TASKS // 2)), kinds)
    for by in ([], ["--by", "kind"]):
        result = passk("gate", hard, "--baseline", old, *DROP, *by, "-f", "json")
        assert result.code == 1
        failing = [row for row in json.loads(result.out)["rows"] if row["verdict"] == "fail"]
        assert {row["rule"] for row in failing} == {RULE}
        assert [row.get("kind", "hard") for row in failing] == ["hard"]
    # Groups that share tasks, as temperatures do, may have a number of attempts each.
    rows = [
        {"task": t, "temperature": heat, "passed": (t + a) % 2}
        for t in range(9) for heat, n in ((0.0, 1), (1.0, 4)) for a in range(n)
    ]  # fmt: skip
    fewer = [row for i, row in enumerate(rows) if row["temperature"] == 0 or i % 2]
    output = passk_cli.gate(
        fewer, baseline=rows, max_drop={"pass@1": 0.9}, by=["temperature"]
    )  # fmt: skip
    assert set(output.frame.verdict) <= {"pass", "undecided"}
    assert "temperature" in output.frame


def test_dropped_attempts_were_run_and_are_said(passk: Passk, write: Write) -> None:
    gaps: list[Any] = outcomes(5)
    gaps[3] = [None, 1, 0, None, 1]
    files = write("gaps", gaps), "--baseline", write("old", outcomes(5)), *DROP
    code, row_verdict, note, answer = verdict(passk, *files, "--missing", "drop")
    assert (code, row_verdict, note) == (0, "pass", "2 attempts without an outcome left out")
    assert answer.endswith("; 2 attempts without an outcome left out")
    assert verdict(passk, *files, "--missing", "bounds")[:2] == (0, "pass")
    gaps[3] = [None, 1]
    code, row_verdict, note, _ = verdict(
        passk, write("gaps", gaps), "--baseline", write("old", outcomes(5)), *DROP, "--missing",
        "drop",
    )  # fmt: skip
    assert (code, row_verdict) == (1, "fail")
    assert note.startswith("fewer at t03; fewer attempts than in the baseline at 1 task (2 of 5);")


@pytest.mark.filterwarnings("ignore:pass@1 drop .* decides nothing")
def test_pipelines_see_the_rule(passk: Passk, write: Write) -> None:
    ask = [write("lost", outcomes(UNEVEN)), "--baseline", write("old", outcomes(5)), *DROP]
    expected_words = "fewer attempts than in the baseline at 1 task (3 of 5)"
    suite = ElementTree.fromstring(passk("gate", *ask, "-f", "junit").out)
    case = next(case for case in suite if case.get("name") == RULE)
    assert expected_words in (case[0].get("message") or "")
    assert case[0].tag == "failure"
    github = passk("gate", *ask, "-f", "github").out
    assert f"::error title=passk%3A {RULE}::fail: m has 3 to 5 attempts per task, the" in github
    markdown = passk("gate", *ask, "-f", "markdown").out
    assert markdown.startswith("**FAIL:** m has 3 to 5 attempts per task, the baseline 5; ")
    assert f"| {RULE} " in markdown
    output = passk_cli.gate(ask[0], baseline=ask[2], max_drop={"pass@1": 0.9})
    assert (bool(output), "118 of 120" in output.frame.counted.tolist()) == (False, True)


def test_models_of_one_file_with_other_numbers_of_attempts_have_a_way_out(
    passk: Passk, tmp_path: Path
) -> None:
    data, sizes = tmp_path / "both.csv", {"old": (5, 4), "new": (4, 6)}
    rows = [f"{m},t{t},{n[t % 2]},2" for m, n in sizes.items() for t in range(TASKS)]
    data.write_text("\n".join(["model,task,n,c", *rows]))
    ask = ["gate", data, "--baseline", "old", "--max-drop", "pass@1=0.3"]
    result, expected_words = (
        passk(*ask),
        "the tasks or numbers of attempts of 1 model differ from old; --unpaired drop",
    )
    assert (result.code, expected_words in result.err) == (1, True)
    result = passk(*ask, "--unpaired", "drop")
    assert (result.code, expected_words in result.err) == (0, False)
    assert expected_words not in passk(*ask, "--attempts", "5").err
    files = [tmp_path / f"{model}.csv" for model in sizes]
    for path, rows_of in zip(files, (rows[:TASKS], rows[TASKS:]), strict=True):
        path.write_text("\n".join(["model,task,n,c", *rows_of]))
    result = passk("gate", files[1], "--baseline", files[0], "--max-drop", "pass@1=0.3")
    assert (result.code, "--unpaired" in result.err) == (1, False)


def test_retries_that_replace_failures_are_recognised(passk: Passk, tmp_path: Path) -> None:
    """Numbers 0, 1, 2 of which the first pass alone is kept: as many attempts as the baseline."""
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    head = "task,attempt,passed\n"
    old.write_text(head + "".join(f"t{t},0,{int(t % 3 == 0)}\n" for t in range(TASKS)))
    new.write_text(head + "".join(f"t{t},{t % 3},{int(t % 5 > 0)}\n" if t % 3 < 2 else
                   f"t{t},2,0\n" for t in range(TASKS)))  # fmt: skip
    ask = [new, "--baseline", old, *DROP]
    assert verdict(passk, *ask)[:3] == (0, "pass", "")
    new.write_text(head + "".join(f"t{t},{t % 3},{int(t % 3 < 2)}\n" for t in range(TASKS)))
    code, row_verdict, note, _ = verdict(passk, *ask)
    assert (code, row_verdict) == (1, "fail")
    assert note == "attempt numbers have gaps: retries seem to replace failures"


def test_an_empty_file_is_said_where_the_gate_passes(passk: Passk, tmp_path: Path) -> None:
    for task in range(6):
        path = tmp_path / "run" / f"t{task}.json"
        path.parent.mkdir(exist_ok=True)
        records = [{"model": "m", "task": f"t{task}", "passed": True}] * 5
        path.write_text("" if task == 3 else json.dumps(records))
    for ask in (["--attempts", 5], ["--min", "pass@1=0.1"]):
        assert passk("gate", path.parent, *ask).code == 3
        result = passk("gate", path.parent, *ask, "--skip-bad", "-q")
        assert (result.code, result.out.splitlines()[0][-22:]) == (0, "; 1 empty file skipped")
        assert "skip-bad=yes" in passk("gate", path.parent, *ask, "--skip-bad", "-v").out


@pytest.mark.parametrize(
    ("new", "evidence"),
    [
        (UNEVEN, "118 of 120"),
        ([7] + [5] * (TASKS - 1), "122 for 120"),
        ([7, 3] + [5] * (TASKS - 2), "118 of 120, 2 more"),
    ],
)
def test_the_evidence_shows_what_fails(passk: Passk, write: Write, new: Any, evidence: str) -> None:
    files = write("new", outcomes(new)), "--baseline", write("old", outcomes(5))
    rows = json.loads(passk("gate", *files, *DROP, "-f", "json").out)["rows"]
    assert [row["counted"] for row in rows if row["rule"] == RULE] == [evidence]


@pytest.mark.parametrize(("adjust", "said"), [("min-p", True), ("holm", False), ("none", False)])
def test_the_caption_says_whose_intervals_are_adjusted(
    passk: Passk, write: Write, adjust: str, said: bool
) -> None:
    files = write("new", outcomes(5)), "--baseline", write("old", outcomes(5))
    result = passk("gate", *files, *DROP, "--no-regression", "--adjust", adjust, "--full")
    words = "adjusted: only tests and intervals of rules about several metrics"
    assert (words in " ".join(result.out.split())) == said
