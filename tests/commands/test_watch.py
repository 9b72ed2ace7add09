"""Looks at a run that goes on: when they are made, what they decide, and what is refused."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.watch.interim_looks import InterimLook, InterimLooksRecord
from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.alpha_spending import confidence_level_at_boundary, z_boundaries
from tests.conftest import ROOT, SAMPLES, CommandResult, Golden, Passk, Write, jsonl, long_cases

TASKS = [f"t{at:02}" for at in range(60)]


def passes(rate: float, seed: int = 1) -> list[bool]:
    """One outcome of each task."""
    return (np.random.default_rng(seed).random(len(TASKS)) < rate).tolist()


class WatchedRun:
    """A run in a folder, to which tasks are added, and an order of its tasks."""

    def __init__(self, folder: Path, passk: Passk, outcomes: list[bool]) -> None:
        self.path, self.order = folder / "run.jsonl", folder / "order.txt"
        self.passk, self.outcomes = passk, dict(zip(TASKS, outcomes, strict=True))
        self.order.write_text("\n".join(TASKS))
        self.looks = folder / "run.jsonl.looks"

    def has(self, *tasks: str) -> None:
        """The run holds these tasks and no others."""
        rows = ({"task": task, "passed": self.outcomes[task], "model": "m"} for task in tasks)
        self.path.write_text(jsonl(rows))

    def watch(self, *words: object, rule: str = "pass@1=0.5") -> CommandResult:
        return self.passk("watch", self.path, "--order", self.order, "--min", rule, *words)

    @property
    def kept(self) -> dict[str, Any]:
        """The looks file."""
        content: dict[str, Any] = json.loads(self.looks.read_text())
        return content


@pytest.fixture
def run(tmp_path: Path, passk: Passk) -> Callable[..., WatchedRun]:
    return lambda rate=0.95, seed=1: WatchedRun(tmp_path, passk, passes(rate, seed))


def test_a_run_is_looked_at_until_it_is_decided(run: Callable[..., WatchedRun]) -> None:
    """At sizes that the plan names, whoever looks when; the same look costs and changes nothing."""
    first = run()
    first.has(*TASKS[:7])
    result = first.watch()
    chance = "55 % chance of a decision by the end"
    answer = f"NOT YET: 7 of 60 tasks complete; {chance}; next look at 9 tasks"
    assert (result.code, result.out.splitlines()[0]) == (5, answer)
    before = first.looks.read_bytes()
    assert first.watch() == result
    assert first.looks.read_bytes() == before
    first.has(*TASKS[:59])
    result = first.watch()
    assert result.code == 0
    assert result.out.startswith("After 21 of 60 tasks, PASS: pass@1 of m is 0.952 [0.5")
    assert "an interim look gave the verdict 39 tasks before the end" in result.err
    assert f"looks in {first.looks}" in result.out
    folder = first.path.parent
    assert {path.name for path in folder.iterdir() if "looks" in path.name} == {first.looks.name}
    assert [look["tasks"] for look in first.kept["looks"]] == [3, 6, 9, 12, 15, 18, 21]


def test_the_interval_is_that_of_a_gate_at_the_level_of_the_look(
    run: Callable[..., WatchedRun],
) -> None:
    first = run()
    first.has(*TASKS[:30])
    row = json.loads(first.watch("--every", "10", "-f", "json", rule="pass@1=0.9").out)["rows"][0]
    limit = z_boundaries(tuple(size / 60 for size in range(10, 61, 10)), 0.05)[2]
    with pytest.warns(passk_cli.PasskWarning, match="cannot pass"):
        gate = passk_cli.gate(
            str(first.path), minimum="pass@1=0.9", level=confidence_level_at_boundary(limit)
        )
    assert row["boundary"] == limit
    assert [row["low"], row["high"]] == gate.frame.loc[0, ["low", "high"]].tolist()


@pytest.mark.parametrize("seed", [0, *long_cases(*range(1, 4))])
def test_the_verdict_does_not_depend_on_when_somebody_looks(
    run: Callable[..., WatchedRun], seed: int
) -> None:
    first, draw = run(0.7, seed), random.Random(seed)
    result, codes = 0, []
    while not codes or codes[-1] == 5:
        result = min(result + draw.randint(1, 25), len(TASKS))
        first.has(*draw.sample(TASKS[:result], result))
        looked = first.watch("--on-undecided", "fail")
        assert looked.code in (0, 1, 5), looked.err
        codes.append(looked.code)
    remaining = first.kept["looks"]
    first.looks.unlink()
    first.has(*TASKS)
    assert first.watch("--on-undecided", "fail").code == codes[-1]
    strip = [{**look, "chance": None} for look in remaining]
    assert [{**look, "chance": None} for look in first.kept["looks"]] == strip


def test_a_look_counts_the_first_tasks_that_are_all_complete(
    run: Callable[..., WatchedRun],
) -> None:
    first = run()
    first.has(*TASKS[:8], *TASKS[9:40])
    result = first.watch()
    assert result.out.startswith("NOT YET: 8 of 60 tasks")
    assert "note[waiting-for-task]: 31 complete tasks wait for task t08, which" in result.err


def test_a_task_is_complete_with_all_its_attempts(
    passk: Passk, tmp_path: Path, write: Write
) -> None:
    rows = [{"task": f"t{i}", "n": 4 - (i == 5), "c": 3, "model": "m"} for i in range(8)]
    path = write("run.jsonl", jsonl(rows))
    order = write("order", "\n".join(f"t{i}" for i in range(8)))
    words = ("watch", path, "--order", order, "--min", "pass@1=0.5")
    result = passk(*words, "--attempts", 4)
    assert result.out.startswith("NOT YET: 5 of 8 tasks")
    assert (
        "note[short-of-plan]: 1 task is not counted, with only 3 of 4 planned attempts\n"
        in result.err
    )
    path.write_text(jsonl(rows[:6]))
    assert "short-of-plan" not in passk(*words, "--attempts", 4, "--looks", tmp_path / "new").err
    path.write_text(jsonl(rows))
    result = passk("watch", path, "--min", "pass@1=0.5", "--planned", 8)
    assert "--attempts 4  # uses the order of completion" in result.err
    result = passk(*words, "--attempts", 3, "--looks", tmp_path / "other")
    assert (result.code, result.error) == (3, "other-plan")
    assert "this task has 4 attempts, but the plan has 3 per task" in result.err
    result = passk(*words, "-m", "pass@5", "--no-regression", "--baseline", path, "--attempts", 4)
    assert "pass@5 needs 5 attempts per task, but the plan has 4" in result.err


def test_lost_attempts_do_not_hold_up_a_task(passk: Passk, tmp_path: Path) -> None:
    rows = [{"task": t, "passed": None if t == "t03" else True, "model": "m"} for t in TASKS[:20]]
    path, order = tmp_path / "run.jsonl", tmp_path / "order.txt"
    path.write_text(jsonl(rows))
    order.write_text("\n".join(TASKS))
    words = ("watch", path, "--order", order, "--min", "pass@1=0.5", "--missing", "drop")
    result = passk(*words)
    assert result.out.startswith("After 18 of 60 tasks, PASS")


def test_what_would_break_the_level_is_refused(
    run: Callable[..., WatchedRun], tmp_path: Path
) -> None:
    first = run(0.6)
    first.has(*TASKS[:31])
    assert first.watch().code == 5
    before = first.looks.read_bytes()
    rival = [*TASKS]
    random.Random(1).shuffle(rival)
    for words, error, code, expected_words in (
        (
            ["--planned", "50"],
            "other-plan",
            3,
            "planned was 60 at the last interim look, but is 50 now",
        ),
        (["--every", "5"], "other-plan", 3, "every was 3 at the last interim look, but is 5 now"),
        (
            ["--level", "0.9"],
            "other-plan",
            3,
            "level was 0.95 at the last interim look, but is 0.9 now",
        ),
        (
            ["--max-drop", "pass@1=0.1", "--baseline", first.path],
            "other-plan",
            3,
            "at the last interim look, but is",
        ),
    ):
        result = first.watch(*words)
        assert (result.code, result.error) == (code, error), result.err
        assert expected_words in result.err
        assert ("; --looks FILE starts again" in result.err) == (error == "other-plan")
    first.has(*TASKS[:20])
    assert (
        "the last interim look included 30 tasks, but now only 20 tasks are complete"
        in first.watch().err
    )
    first.outcomes["t02"] = not first.outcomes["t02"]
    first.has(*TASKS[:31])
    assert "the outcomes or the order of the first" in first.watch().err
    first.outcomes["t02"] = not first.outcomes["t02"]
    first.order.write_text("\n".join(rival))
    first.has(*TASKS)
    assert first.watch().error == "other-run"
    first.order.write_text("\n".join(["new", *TASKS[1:]]))
    assert (
        "t00: the list with the order of the tasks does not contain this task" in first.watch().err
    )
    assert first.looks.read_bytes() == before
    first.looks.write_text("{}")
    assert first.watch().error == "bad-looks"


def test_without_an_order_it_asks(passk: Passk, run: Callable[..., WatchedRun]) -> None:
    first = run()
    first.has(*TASKS[10:30])
    words = ("watch", first.path, "--min", "pass@1=0.5", "--planned", 60)
    result = passk(*words)
    assert (result.code, result.error) == (2, "no-order")
    assert "--order completion  # uses the order of completion, if the time" in result.err
    first.order.unlink()
    bare = passk("watch", first.path, "--min", "pass@1=0.5").err
    assert " --order completion --planned N uses the order of completion" in bare
    result = passk(*words, "--order", "completion")
    assert result.code == 5
    assert "warning[order-of-completion]" in result.err
    assert first.kept["tasks"] == TASKS[10:28]
    # What was counted stays counted, wherever the files have it now.
    first.has(*TASKS[:30])
    assert passk(*words, "--order", "completion").code in (0, 5)
    assert first.kept["tasks"][:18] == TASKS[10:28]


def test_a_lines_verdict_is_that_of_its_first_decision(passk: Passk, tmp_path: Path) -> None:
    """Two models: one is decided early and stays so, the other later."""
    good, fair = passes(1.0), passes(0.72, 3)
    rows = [{"task": task, "passed": outcomes[at], "model": model}
            for model, outcomes in (("good", good), ("fair", fair))
            for at, task in enumerate(TASKS)]  # fmt: skip
    path, order = tmp_path / "run.jsonl", tmp_path / "order.txt"
    path.write_text(jsonl(rows))
    order.write_text("\n".join(TASKS))
    result = passk("watch", path, "--order", order, "--min", "pass@1=0.5", "-f", "json")
    document = json.loads(result.out)
    assert (document["result"], document["exit"], result.code) == ("pass", 0, 0)
    sizes = {row["model"]: row["tasks"] for row in document["rows"]}
    assert sizes["good"] < sizes["fair"] < 60


def test_a_baseline_is_compared_on_the_tasks_that_are_complete(
    passk: Passk, tmp_path: Path, write: Write
) -> None:
    old, new = passes(0.9, 2), passes(0.3, 3)
    paths = {}
    for name, outcomes, tasks in (("old", old, TASKS), ("new", new, TASKS[:45])):
        rows = (
            {"task": t, "passed": o, "model": "m"} for t, o in zip(tasks, outcomes, strict=False)
        )
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text(jsonl(rows))
    order = write("order.txt", "\n".join(TASKS))
    words = ("watch", paths["new"], "--baseline", paths["old"], "--order", order)
    result = passk(*words, "--max-drop", "pass@1=0.1")
    assert result.code == 1
    assert re.match(
        r"After \d\d of 60 tasks, FAIL: pass@1 of m fell by 0\.\d+ .* more than 0\.1", result.out
    )
    assert "baseline-tasks-not-run" not in result.err
    few = write(
        "few.jsonl", "".join(f"{line}\n" for line in paths["old"].read_text().splitlines()[1:])
    )
    words = ("watch", paths["new"], "--baseline", few, "--order", order, "--looks", tmp_path / "x")
    result = passk(*words, "--no-regression", "-k", 1)
    assert (result.code, result.error) == (3, "other-plan")


def test_the_end_of_the_plan_counts_undecided_rules(run: Callable[..., WatchedRun]) -> None:
    first = run(0.5, 7)
    first.has(*TASKS)
    result = first.watch()
    assert result.code == 0
    assert result.out.startswith(
        "After 60 of 60 tasks, PASS: no rule fails; 1 undecided, counted as"
    )
    first.looks.unlink()
    assert first.watch("--on-undecided", "fail").code == 1


def test_rules_of_a_file(passk: Passk, tmp_path: Path, run: Callable[..., WatchedRun]) -> None:
    first = run()
    first.has(*TASKS[:40])
    book = tmp_path / "passk.toml"
    suite = (
        '[[suite]]\nname = "a"\nruns = ["run.jsonl"]\nmin = { "pass@1" = 0.5 }\nmust-pass = "t01"\n'
    )
    book.write_text(
        suite + 'quarantine = [{task = "t05", until = "2999-01-01", reason = "flaky endpoint"}]\n'
    )
    words = ("watch", "--rules", book, "--order", first.order)
    result = passk(*words)
    assert result.out.startswith("After 21 of 59 tasks, PASS: pass@1 of m is")
    assert (
        "note[rules-not-watched]: passk watch does not judge these rules of the suite: must-pass"
        in result.err
    )
    assert "t05" not in json.loads((tmp_path / "run.jsonl.looks").read_text())["tasks"]
    book.write_text(suite + suite.replace('"a"', '"b"'))
    result = passk(*words, "--looks", tmp_path / "b.looks")
    assert result.error == "no-such-suite"
    assert passk(*words, "--looks", tmp_path / "b.looks", "--suite", "b").code == 0
    result = passk(*words, "--suite", "c")
    assert "--suite c" in result.err
    for key, value, expected_words in (
        ("min-by", "estimate", "passk watch always compares a minimum with the interval"),
        ("by", "arm", "watch each group separately"),
        ("cluster", "repository", "passk watch counts single tasks"),
        ("population", "these-tasks", "passk watch judges performance on new tasks"),
    ):
        book.write_text(f'{key} = "{value}"\n' + suite)
        assert f"{book}:1: suite a: {key}: {expected_words}" in passk(*words).err
        assert f"no such option: --{key}; {expected_words}" in first.watch(f"--{key}", value).err


def test_golden(golden: Golden) -> None:
    words = "--planned 90 --attempts 4 --min pass@1=0.5 --order completion --looks /dev/null -v"
    golden("watch", ["watch", SAMPLES / "tau_airline.csv", *words.split()])


def test_python_watches_data_in_memory() -> None:
    cells = [("m", task, 1, int(ok)) for task, ok in zip(TASKS, passes(0.95), strict=True)]
    counts = passk_cli.Counts.from_cells(cells)
    output = passk_cli.watch(counts, order=TASKS, minimum="pass@1=0.5")
    assert output.passed
    assert output.frame.tasks.tolist() == [21]
    with pytest.raises(ParameterError, match="contains task t01 twice"):
        passk_cli.watch(counts, order=[*TASKS, "t01"], minimum="pass@1=0.5")
    with pytest.raises(ParameterError, match="looks, but at most 500"):
        passk_cli.watch(counts, order=["completion"], planned=5000, every=1, minimum="pass@1=0.5")


def test_a_second_watcher_is_refused(run: Callable[..., WatchedRun]) -> None:
    first = run()
    first.has(*TASKS[:3])
    words = [sys.executable, "-m", "passk_cli", "watch", first.path, "--order", first.order,
    "--min",
             "pass@1=0.5", "--follow"]  # fmt: skip
    with subprocess.Popen(words, cwd=ROOT) as follower:
        try:
            _until(first.looks.exists)
            result = first.watch()
            assert (result.code, result.error) == (2, "unwritable-output")
            assert "another run of passk is using the file" in result.err
        finally:
            follower.send_signal(signal.SIGINT)
        assert follower.wait(10) == 130
    assert len(first.kept["looks"]) == 1
    assert first.watch().code == 5


def _until(there: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.long) for s in (2, 3, 4))])
def test_killed_and_started_again_it_says_the_same(
    run: Callable[..., WatchedRun], tmp_path: Path, write: Write, seed: int
) -> None:
    """A folder that is filled meanwhile, with lines that are half written at times."""
    draw, first = random.Random(seed), run(0.72, seed)
    folder = tmp_path / "live"
    folder.mkdir()
    options = ["--min", "pass@1=0.5", "-q", "--on-undecided", "fail", "--order", first.order]
    words = [sys.executable, "-m", "passk_cli", "watch", folder, *options, "--follow"]
    script = write("fill.py", _FILLS)
    rows = [{"task": t, "passed": first.outcomes[t], "model": "m"} for t in TASKS]
    # Neighbours are complete in any order.
    rows = [row for at in range(0, 60, 6) for row in draw.sample(rows[at : at + 6], 6)]
    first.path.write_text(jsonl(rows))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = 0
    with subprocess.Popen([sys.executable, script, first.path, folder]) as filler:
        while True:
            follower = subprocess.Popen(
                words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            try:
                out, err = follower.communicate(
                    # The first is stopped as it starts, however fast the machine is.
                    timeout=(0.1, draw.uniform(0.4, 2), draw.uniform(0.4, 2), 60)[min(killed, 3)]
                )
            except subprocess.TimeoutExpired:
                follower.kill()
                follower.communicate()
                killed += 1
                continue
            break
        filler.kill()
    assert killed
    (tmp_path / "live.looks").unlink()
    first.looks.unlink(missing_ok=True)
    full = first.watch("-q", "--on-undecided", "fail")
    assert follower.returncode == full.code in (0, 1), err
    assert out.decode().splitlines()[0] == full.out.splitlines()[0]


_FILLS = """
import sys, time
from pathlib import Path
lines, folder = Path(sys.argv[1]).read_text().splitlines(), Path(sys.argv[2])
for at, line in enumerate(lines):
    with open(folder / f"{at // 10}.jsonl", "a") as file:
        file.write(line[:20])
        file.flush()
        time.sleep(0.02)
        file.write(line[20:] + chr(10))
    time.sleep(0.03)
"""


def test_looks_are_written_whole(tmp_path: Path) -> None:
    looks = InterimLooksRecord({"planned": 5}, path=tmp_path / "a.looks")
    looks.looks.append(InterimLook(1, "digest", {"m: pass@1 ≥ 0.5": "undecided"}))
    looks.write(["x", "y"])
    assert InterimLooksRecord.from_file(looks.path, {"planned": 5}).counted_task_names == ("x",)
    with pytest.raises(DataError, match="planned was 5 at the last interim look, but is 6 now"):
        InterimLooksRecord.from_file(looks.path, {"planned": 6})
    looks.path.write_text('{"schema": "passk-looks/1"}')
    with pytest.raises(DataError, match="passk watch did not write this file"):
        InterimLooksRecord.from_file(looks.path, {"planned": 5})


@pytest.fixture(autouse=True)
def _no_looks_beside_samples() -> Iterator[None]:
    before = sorted((ROOT / "sample_data").iterdir())
    yield
    assert sorted((ROOT / "sample_data").iterdir()) == before
