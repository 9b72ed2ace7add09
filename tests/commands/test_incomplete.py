"""Histories with runs that lack tasks: what is recorded, what a baseline is, what is skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from passk_cli.files.history import append_run_rows
from tests.commands.test_history import columns
from tests.conftest import Passk

Night = Callable[..., Path]
STEADY = [i % 5 for i in range(20)]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    """Writes a run of passes of n attempts at each task; the history is in this folder."""
    monkeypatch.chdir(tmp_path)

    def write(passes: list[int], n: int = 4, model: str = "m") -> Path:
        rows = (f"{model},t{i},{n},{min(c, n)}" for i, c in enumerate(passes))
        path = tmp_path / "night.csv"
        path.write_text("\n".join(["model,task,n,c", *rows, ""]))
        return path

    return write


def test_a_run_that_lacks_tasks_or_attempts_is_refused_or_marked(
    passk: Passk, night: Night
) -> None:
    to = ["--to", "h.parquet", "--at"]
    assert passk("record", night(STEADY), *to, "r1", "--date", "2026-01-01").code == 0
    for n, passes, problem in (
        (4, STEADY[:15], "the run lacks 5 of 20 tasks that run r1 of m has (t15, t16, t17"),
        (3, STEADY, "the run lacks 20 of 80 attempts that run r1 of m has (t0, t1, t10"),
    ):
        refused = passk("record", night(passes, n), *to, "r2", "--date", "2026-01-02")
        assert (refused.code, refused.error, refused.out) == (3, "run-lacks-attempts", "")
        assert problem in refused.err
    night(STEADY[:15])
    refused = passk("record", "night.csv", *to, "r2", "--date", "2026-01-02")
    (line,) = re.findall(
        r"^  passk (.*)  # records the run, but not for baselines", refused.err, re.M
    )
    marked = passk(*line.split())
    assert marked.code == 0
    assert "marked as incomplete" in marked.out
    # It is compared with the last complete run, so that a second loss is seen as well.
    assert passk("record", "night.csv", *to, "r3", "--date", "2026-01-03").code == 3
    assert passk("record", night(STEADY), *to, "r3", "--date", "2026-01-03").code == 0
    result = passk("trend", "h.parquet")
    assert "2 runs are too few" in result.out
    assert "note[incomplete-runs]: 1 run recorded as incomplete is left out: r2" in result.err
    gate = passk("gate", "night.csv", "--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.5")
    assert gate.code == 0
    assert re.search("every baseline task +20 of 20", gate.out)


def test_one_short_run_does_not_hide_the_next(passk: Passk, night: Night) -> None:
    """Unmarked, as of an earlier version: the baseline has the tasks of most runs."""
    for day in range(1, 5):
        append_run_rows("h.parquet", columns(f"r{day}", STEADY, n=4, day=day))
    append_run_rows("h.parquet", columns("r5", STEADY[:15], n=4, day=5))
    rule = ["--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.5"]
    short = passk("gate", night(STEADY[:15]), *rule)
    assert short.code == 1
    assert short.out.startswith("FAIL: m has no attempts at 5 of the 20 baseline tasks")
    sentence = "last5: 1 run of the baseline lacks tasks: r5 has 15 of 20; --skip-run r5 leaves"
    assert sentence in short.err
    whole = passk("gate", night(STEADY), *rule)
    assert whole.code == 0
    assert re.search("every baseline attempt +80 of 80", whole.out)
    skipped = passk("gate", "night.csv", *rule, "--skip-run", "rev-r5")
    assert (skipped.code, "short-runs" in skipped.err) == (0, False)
    trend = passk("trend", "h.parquet", "-v")
    assert "left out 5 tasks of m that are not in every run; --skip-run r5 leaves" in trend.err
    assert "left-out-tasks" not in passk("trend", "h.parquet", "-v", "--skip-run", "r5").err
    for wrong in (passk("trend", "h.parquet", "--skip-run", "r55"),
                  passk("gate", "night.csv", *rule, "--skip-run", "r55")):  # fmt: skip
        assert (wrong.code, "--skip-run r55: the history has no such run" in wrong.err) == (2, True)


def test_tasks_of_fewer_than_half_of_the_runs_are_not_asked_for(passk: Passk, night: Night) -> None:
    for day in range(1, 6):
        append_run_rows(
            "h.parquet", columns(f"r{day}", [*STEADY, *[4] * 3 * (day == 2)], n=4, day=day)
        )
    rule = ["--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.5"]
    result = passk("gate", night(STEADY), *rule)
    assert result.code == 0
    assert re.search("every baseline task +20 of 20", result.out)


def test_attempts_are_those_of_the_latest_complete_run(passk: Passk, night: Night) -> None:
    """Two attempts a task from the fourth night on; the fifth lost a shard."""
    for day, n in enumerate((4, 4, 4, 2), 1):
        append_run_rows("h.parquet", columns(f"r{day}", [min(c, n) for c in STEADY], n=n, day=day))
    append_run_rows("h.parquet", columns("r5", [0] * 15, n=1, day=5))
    rule = ["--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.9"]
    assert re.search("every baseline attempt +40 of 40", passk("gate", night(STEADY, 2), *rule).out)


def test_a_model_of_another_name_is_said_when_it_is_recorded(passk: Passk, night: Night) -> None:
    to = ["--to", "h.parquet", "--at"]
    assert passk("record", night(STEADY), *to, "r1").code == 0
    second = passk("record", night(STEADY, model="m2"), *to, "r2")
    assert second.code == 0
    sentence = "warning[new-model]: suite all has no earlier run of m2, but it has runs of m;"
    " --alias m2=m"
    assert sentence in second.err
    assert passk("record", "night.csv", *to, "r3", "--alias", "m2=m").code == 0


def test_a_renamed_model_is_said_on_its_first_night(passk: Passk, night: Night) -> None:
    """One model against one of another name; the printed option makes one of them."""
    append_run_rows("h.parquet", columns("r1", STEADY, n=4))
    rule = ["--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.9"]
    result = passk("gate", night(STEADY[::-1], model="m2"), *rule)
    sentence = "warning[other-model-name]: m2 is compared with m, the only model of h.parquet:last5"
    assert (result.code, sentence in result.err) == (0, True)
    assert "; --alias m=m2 counts both as one" in result.err
    aliased = passk("gate", "night.csv", *rule, "--alias", "m=m2")
    assert (aliased.code, "other-model-name" in aliased.err) == (0, False)
    assert "other-model-name" not in passk("gate", night(STEADY[::-1]), *rule).err


def test_models_of_two_files_may_have_any_names(passk: Passk, night: Night) -> None:
    """Unless both files name them and the tasks pass alike."""
    old = night(STEADY).rename("old.csv")
    rule = ["--baseline", old, "--max-drop", "pass@1=0.9"]
    for passes, sentence in ((STEADY, True), ([0] * 20, False)):
        err = passk("gate", night(passes, model="m2"), *rule).err
        assert ("m2 is compared with m, the only model of old.csv" in err) == sentence
    for name in ("old.csv", "night.csv"):
        rows = Path(name).read_text().replace("model,", "").replace("m,", "").replace("m2,", "")
        Path(name).write_text(rows)
    assert "other-model-name" not in passk("gate", "night.csv", *rule).err
