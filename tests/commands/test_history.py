"""A history: whole or not at all, whoever writes; what trend says of real and of simulated runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import passk_cli
from passk_cli.errors import DataError, ParameterError
from passk_cli.files import history
from passk_cli.files.history import append_run_rows
from tests.conftest import Passk, long_cases

SAMPLES = Path(__file__).parents[2] / "sample_data"
TAU, NIGHTS = SAMPLES / "tau_airline.csv", SAMPLES / "nights.parquet"


def columns(run: str, c: Any, n: int = 2, day: int = 1, **more: str) -> dict[str, Any]:
    """A run as `append_run_rows` takes it: passes of each task."""
    texts = {
        "run": run, "at": f"2026-{1 + day // 28:02}-{1 + day % 28:02}T00:00:00.000Z",
        "revision": f"rev-{run}", "suite": "s", "settings": "{}", "model": "m", **more,
    }  # fmt: skip
    return {
        **{name: np.full(len(c), text, dtype=object) for name, text in texts.items()},
        "task": np.array([f"t{i}" for i in range(len(c))], dtype=object),
        "n": np.full(len(c), n), "c": np.asarray(c, dtype=np.int64),
    }  # fmt: skip


def runs_of(path: Path) -> list[tuple[str, int]]:
    """Runs and their rows."""
    rows = f"SELECT run, count(*) FROM read_parquet('{path}') GROUP BY run ORDER BY run"
    return duckdb.sql(rows).fetchall()


@pytest.mark.parametrize("place", ["h/", *long_cases("h.parquet")])
def test_recorded_runs_are_those_of_the_data(tmp_path: Path, place: str) -> None:
    to = f"{tmp_path}/{place}"
    for trial in range(4):
        passk_cli.record(
            TAU, to=to, at=f"r{trial}", where=f"trial = {trial}", date=f"2026-01-0{trial + 1}"
        )
    findings = passk_cli.trend(to)
    rows = findings.frame.query("metric == 'pass@1'")
    assert rows["estimate"].round(2).tolist() == [0.42, 0.44, 0.40, 0.42]
    assert rows["run"].tolist() == ["r0", "r1", "r2", "r3"]
    (effect,) = findings.frame.query("metric == 'run effect'").itertuples()
    assert (effect.estimate, effect.low) == (0.0, 0.0)
    assert effect.p > 0.9
    again = passk_cli.estimate(to, by="run", k=1).frame.sort_values("run")
    assert again["estimate"].round(2).tolist() == [0.42, 0.44, 0.40, 0.42]
    with pytest.raises(DataError, match=r"run r2 of gpt-4o is already recorded .*run=NAME"):
        passk_cli.record(TAU, to=to, at="r2")


def test_a_run_that_was_killed_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    """Killed while it writes; the lock goes with the process, and the next run is added."""
    path = tmp_path / "h.parquet"
    append_run_rows(str(path), columns("a", [1, 2]))
    before = path.read_bytes()
    code = (
        "import passk_cli.files.history as h, time, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from tests.commands.test_history import columns\n"
        "copy = h.write_query_rows\n"
        "def slow(*args):\n    copy(*args); print('there', flush=True); time.sleep(60)\n"
        "h.write_query_rows = slow\n"
        "h.append_run_rows(sys.argv[1], columns('b', [0, 0]))\n"
    )
    root = str(Path(__file__).parents[2])
    writer = subprocess.Popen([sys.executable, "-c", code, str(path), root], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"there\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert path.read_bytes() == before
    started = time.monotonic()
    append_run_rows(str(path), columns("c", [2, 2]))
    assert time.monotonic() - started < 30
    assert runs_of(path) == [("a", 2), ("c", 2)]


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "h.parquet"
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from passk_cli.files.history import append_run_rows\n"
        "from tests.commands.test_history import columns\n"
        "for i in range(8): append_run_rows(sys.argv[1], columns(sys.argv[3] + str(i), [1, 0]))\n"
    )
    root = str(Path(__file__).parents[2])
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), root, name]) for name in "xy"
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert runs_of(path) == [(f"{name}{i}", 2) for name in "xy" for i in range(8)]


def test_of_two_writers_of_one_run_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the other one comes in between the look and the end, and without links."""
    copy = history.write_query_rows
    for place, links in (("linked", True), ("moved", False)):
        folder = tmp_path / place
        monkeypatch.setattr(history, "write_query_rows", copy)
        append_run_rows(f"{folder}/", columns("a", [1, 1]))
        (first,) = folder.iterdir()
        content = first.read_bytes()
        first.unlink()

        def slow(*arguments: Any, first: Path = first, content: bytes = content) -> None:
            copy(*arguments)
            first.write_bytes(content)

        monkeypatch.setattr(history, "write_query_rows", slow)
        if not links:
            monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("none")))
        with pytest.raises(DataError, match="run a of m is already recorded"):
            append_run_rows(f"{folder}/", columns("a", [0, 0]))
        assert first.read_bytes() == content
        assert list(folder.iterdir()) == [first]


def test_a_run_that_is_being_written_into_a_folder_is_not_recorded_again(tmp_path: Path) -> None:
    """Runs of other models have other files, so only the lock keeps the second one out."""
    pair = columns("a", [1, 1, 1])
    pair["model"] = np.array(["m", "m", "z"], dtype=object)
    pair["task"] = np.array(["t0", "t1", "t0"], dtype=object)
    code = (
        "import passk_cli.files.history as h, time, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from tests.commands.test_history import columns\n"
        "copy = h.write_query_rows\n"
        "def slow(*args):\n    print('there', flush=True); time.sleep(1); copy(*args)\n"
        "h.write_query_rows = slow\n"
        "h.append_run_rows(sys.argv[1], columns('a', [0, 0]))\n"
    )
    root, folder = str(Path(__file__).parents[2]), tmp_path / "h"
    writer = subprocess.Popen(
        [sys.executable, "-c", code, f"{folder}/", root], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"there\n"
    with pytest.raises(DataError, match="run a of m is already recorded"):
        append_run_rows(f"{folder}/", pair)
    assert writer.wait() == 0
    writer.stdout.close()
    assert [runs_of(file) for file in folder.iterdir()] == [[("a", 2)]]


@pytest.mark.parametrize("day", [2, 5], ids=["a copy", "another day"])
def test_trend_names_the_files_of_a_run_that_was_recorded_twice(
    passk: Passk, tmp_path: Path, day: int
) -> None:
    for number, run in enumerate("abc", 1):
        append_run_rows(f"{tmp_path}/h/", columns(run, [1, 2], day=number))
    (first,) = (tmp_path / "h").glob("b-*.parquet")
    append_run_rows(f"{tmp_path}/other/", columns("b", [1, 2], day=day))
    (copy,) = (tmp_path / "other").iterdir()
    copy.rename(first.with_name("b-copy.parquet"))
    result = passk("trend", tmp_path / "h")
    assert result.code == 3
    assert str(first) in result.err
    (command,) = re.findall("with: (rm .*)", result.err)
    subprocess.run(command, shell=True, check=True)
    assert passk("trend", tmp_path / "h").code == 0


@pytest.mark.filterwarnings("ignore:the history has only 2 runs", "ignore:pass@1 drop .* nothing")
def test_brackets_in_the_name_of_a_history_are_its_name(tmp_path: Path) -> None:
    for place in ("h[1].parquet", "h[2]/"):
        append_run_rows(f"{tmp_path}/{place}", columns("a", [1, 1]))
        append_run_rows(f"{tmp_path}/{place}", columns("b", [1, 2]))
        with pytest.raises(DataError, match="run b of m is already recorded"):
            append_run_rows(f"{tmp_path}/{place}", columns("b", [1, 1]))
        new = {"model": ["m", "m"], "task": ["t0", "t1"], "n": [2, 2], "c": [1, 1]}
        for source in (f"{tmp_path}/{place}", f"{tmp_path}/{place}:s"):
            gate = passk_cli.gate(new, baseline=f"{source}:last2", max_drop={"pass@1": 0.9})
            assert gate.passed


def test_what_is_no_history_is_refused_and_kept(tmp_path: Path) -> None:
    damaged, foreign = tmp_path / "damaged.parquet", tmp_path / "foreign.parquet"
    damaged.write_bytes(NIGHTS.read_bytes()[:900])
    duckdb.sql("SELECT 1 AS x").write_parquet(str(foreign))
    for path, problem in ((damaged, "not readable as Parquet"), (foreign, "no column 'run'")):
        before = path.read_bytes()
        with pytest.raises(DataError, match=problem):
            passk_cli.record(TAU, to=path, at="a")
        assert path.read_bytes() == before
    with pytest.raises(DataError, match="not readable as Parquet"):
        passk_cli.trend(damaged)
    with pytest.raises(
        DataError, match="this file is not a history of runs, because it has no column 'run'"
    ):
        passk_cli.trend(TAU)
    days = [{"task": t, "date": f"2026-11-0{day}", "passed": t > day}
            for t in range(4) for day in (1, 2)]  # fmt: skip
    with pytest.raises(DataError) as refused:
        passk_cli.trend(days)
    (first,) = refused.value.fixes
    assert (first.command, first.options.pop("to")) == ("record", "history.parquet")
    passk_cli.record(days, to=tmp_path / "history.parquet", **first.options)
    assert "1 run" in str(passk_cli.trend(tmp_path / "history.parquet"))
    split = tmp_path / "split.parquet"
    append_run_rows(str(split), columns("a", [1], temperature="0.2"))
    with pytest.raises(
        ParameterError, match="grouped by temperature, but the new run is grouped by nothing"
    ):
        passk_cli.record(TAU, to=split, at="b")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"to": "h.csv", "at": "a"}, "a history must be a .parquet file"),
        ({"to": "nowhere/h.parquet", "at": "a"}, "the folder of the output does not exist"),
        ({"to": "h.parquet"}, "at=|--at"),
        ({"to": "h.parquet", "at": "a", "date": "yesterday"}, "yesterday"),
        ({"to": "h.parquet", "at": "a", "by": "run"}, "already has a column with this name"),
    ],
)
def test_requests_that_make_no_sense_write_nothing(
    workdir: Path, given: dict[str, str], problem: str
) -> None:
    with pytest.raises(ParameterError, match=problem):
        passk_cli.record(TAU, **given)
    assert list(workdir.iterdir()) == []


def test_tasks_that_some_run_lacks_are_left_out_and_counted(tmp_path: Path) -> None:
    to = f"{tmp_path}/h.parquet"
    append_run_rows(to, columns("a", [0, 2, 1, 0]))
    append_run_rows(to, columns("b", [2, 2], day=2))
    findings = passk_cli.trend(to)
    assert findings.frame.query("metric == 'pass@1'")["estimate"].tolist() == [0.5, 1.0]
    messages = {message.name: message.text for message in findings.report.messages}
    assert messages["left-out-tasks"].startswith(
        "passk left out 2 tasks of m that are not in every run"
    )


def test_flips_beyond_sampling_are_said(tmp_path: Path) -> None:
    """Each run solves other tasks, always: no two attempts of one run differ."""
    to = f"{tmp_path}/h.parquet"
    for run in range(4):
        append_run_rows(
            to, columns(f"r{run}", [2 * ((i + run) % 8 < 4) for i in range(40)], day=run)
        )
    with pytest.warns(passk_cli.PasskWarning, match="compare the machines"):
        findings = passk_cli.trend(to)
    (effect,) = findings.frame.query("metric == 'run effect'").itertuples()
    assert effect.p > 0.9


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_runs_that_differ_in_the_mean_alone_are_not_said_to_flip(tmp_path: Path) -> None:
    """Each run moves all tasks a little: the means show it, two attempts at a task do not."""
    random, to = np.random.default_rng(3), f"{tmp_path}/h.parquet"
    for run, moved in enumerate((-0.05, 0.05, 0.0, 0.06, -0.06, 0.01)):
        rates = np.linspace(0.2, 0.8, 120) + moved
        append_run_rows(to, columns(f"r{run}", random.binomial(4, rates).tolist(), n=4, day=run))
    findings = passk_cli.trend(to)
    (effect,) = findings.frame.query("metric == 'run effect'").itertuples()
    assert effect.p < 0.01
    assert [m.name for m in findings.messages] == ["two-runs"]


def test_the_p_of_a_run_effect_is_adjusted_and_one_number(passk: Passk, tmp_path: Path) -> None:
    random, to = np.random.default_rng(5), f"{tmp_path}/h.parquet"
    for run, moved in enumerate((-0.06, 0.06, 0.02)):
        for model in "abcd":
            rates = np.linspace(0.2, 0.8, 60) + moved * (model == "a")
            passes = random.binomial(4, rates).tolist()
            append_run_rows(to, columns(f"r{run}", passes, n=4, day=run, model=model))
    rows = passk_cli.trend(to).frame.query("metric == 'run effect'").set_index("model")
    smallest = rows.p_adjusted.min()
    assert smallest == pytest.approx(4 * rows.p.min())
    out = passk("trend", to, "-q").out
    messages = re.search(r"p = ([\d.]+)\.\n", out)
    assert messages is not None
    assert float(messages[1]) == pytest.approx(smallest, abs=0.01)
    assert re.search(rf"\] +{messages[1]} ", out)
    assert "p: Holm over 4 models, intervals unadjusted" in out


def test_copies_of_runs_are_one_message_and_no_headline(passk: Passk, tmp_path: Path) -> None:
    to = f"{tmp_path}/h.parquet"
    for run in range(3):
        for at, model in enumerate("abc"):
            append_run_rows(to, columns(f"r{run}", np.arange(90 + at) % 3, day=run, model=model))
    result = passk("trend", to)
    assert result.out.startswith("3 runs are too few to show a change of pass@1 of 3 models.\n\n")
    assert result.err.count("copied-run") == 1
    assert "(and 5 more pairs)" in result.err


def test_of_two_runs_the_command_that_compares_them_is_said(passk: Passk, workdir: Path) -> None:
    for run in range(2):
        append_run_rows("h.parquet", columns(f"r{run}", (np.arange(40) + run) % 3, day=run))
    messages = passk("trend", "h.parquet").err
    assert "passk needs at least 5 runs of m to find a change; passk compare --field" in messages
    assert passk("compare", "h.parquet", "--field", "model=run").code == 0
    single = passk("trend", "h.parquet", "--where", "run = 'r0'")
    assert single.err.count("few-runs") == 1


def test_files_of_nights_are_recorded_as_runs_of_one_agent(passk: Passk, workdir: Path) -> None:
    for run, name in enumerate(("tue", "mon", "n-20261125")):
        rows = [f"t{i},{int((i + run + j) % 3 > 0)}" for i in range(30) for j in range(4)]
        (workdir / f"{name}.csv").write_text("\n".join(["task,passed", *rows]))
    refused = passk("trend", "tue.csv", "mon.csv").err
    assert "; passk record --date DAY sets the date of a run\n" in refused
    *nights, full = re.findall(r"^  passk (.*)  # (.*)$", refused, re.M)
    to = "--to history.parquet --at"
    assert nights == [
        (f"record agent={name}.csv {to} {name}", "records a run of one agent, dated now")
        for name in ("tue", "mon")
    ]
    assert full[1] == "records both files as today's run"
    assert [passk(*line.split()).code for line, _ in nights] == [0, 0]
    assert passk("trend", "history.parquet").out.startswith("2 runs are too few")
    dated = passk("trend", "n-20261125.csv", "mon.csv").err
    assert f"agent=n-20261125.csv {to} n-20261125 --date 2026-11-25  # records a" in dated
    with pytest.raises(DataError) as python:
        passk_cli.trend(["tue.csv", "mon.csv"])
    line = 'passk_cli.record(["agent=tue.csv"], to="history.parquet", at="tue")'
    assert python.value.remedies[0] == line
    for name in ("tue", "mon"):
        rows = (workdir / f"{name}.csv").read_text().splitlines()
        names = [f"{row},{'m' if place else 'model'}" for place, row in enumerate(rows)]
        (workdir / f"{name}.csv").write_text("\n".join(names))
    assert (
        f"  passk record mon.csv {to} mon  # records a" in passk("trend", "tue.csv", "mon.csv").err
    )


def test_models_of_one_run_each_may_be_one_agent(passk: Passk, workdir: Path) -> None:
    for run, model in enumerate(("wed", "tue", "mon")):
        append_run_rows(
            "h.parquet", columns(model, (np.arange(40) + run) % 3, day=3 - run, model=model)
        )
        append_run_rows("same.parquet", columns("r", (np.arange(40) + run) % 3, day=3, model=model))
    messages = passk("trend", "h.parquet").err
    assert "; --alias mon=wed --alias tue=wed counts these names as one model\n" in messages
    aliased = passk("trend", "h.parquet", "--alias", "mon=wed", "--alias", "tue=wed")
    assert aliased.out.startswith("3 runs are too few to show a change of pass@1 of wed.")
    assert "--alias" not in passk("trend", "same.parquet").err


def test_a_day_as_the_revision_is_asked_about(passk: Passk, tmp_path: Path) -> None:
    """It would be the last run, whatever day it names."""
    run, to = tmp_path / "run.csv", tmp_path / "h.parquet"
    run.write_text("task,passed\na,1\na,0\nb,1\nb,1\n")
    result = passk("record", run, "--to", to, "--at", "2026-01-02")
    assert (result.code, to.exists()) == (2, False)
    problem = (
        "--at 2026-01-02: this revision looks like a date, but does not set the date of the run\n"
    )
    assert problem in result.err
    dated, today = re.findall(r"^  passk (.*)  # sets ", result.err, re.M)
    assert dated.endswith(" --at 2026-01-02 --date 2026-01-02")
    assert passk(*dated.split()).out.endswith("\n2026-01-02T00:00:00.000Z · passk 0.1\n")
    assert passk(*today.split(), "--run", "again").code == 0
    now = today.rpartition(" ")[2]
    assert passk("record", run, "--to", to, "--at", now).code == 0


def test_two_numbers_that_differ_are_said_so(tmp_path: Path) -> None:
    """As many digits as tell "differ on" from "by chance"."""
    to = f"{tmp_path}/h.parquet"
    for run in range(3):
        append_run_rows(to, columns(f"r{run}", [1000] * 30, n=2000, day=run))
    with warnings.catch_warnings(action="ignore"):
        messages = {m.name: m.text for m in passk_cli.trend(to).report.messages}
    text = messages.get("run-flips") or messages["sampling-flips"]
    # 30 · 2 · 1000 · 1000 / (2000 · 1999) of one run; of two 30 / 2.
    assert re.findall(r" (?:on|with) ([\d.]+\d)", text) == ["15.00", "15.01"]


def test_the_drop_of_the_sample_is_dated() -> None:
    findings = passk_cli.trend(NIGHTS)
    (change,) = findings.frame.query("metric == 'change'").itertuples()
    assert change.at == "2026-10-30T02:00:00.000Z"
    assert -0.13 < change.estimate < -0.05
    names = [message.name for message in findings.report.messages]
    assert names == ["sampling-flips", "two-runs"]
    (plot,) = findings.report.plots
    (rule,) = plot.reference_lines
    assert (rule.x, rule.text) == (30, "−9.7 points at 17bd287 · agent")
    # Runs are called by their days, as the answer has them.
    assert plot.x_tick_labels[30] == "10-30"


def test_an_answer_without_a_change_says_what_it_could_not_show(
    passk: Passk, tmp_path: Path
) -> None:
    """A fall from .41 to .22 in the last four of twelve runs, which few runs cannot tell from a
    correlation of runs."""
    to = f"{tmp_path}/h.parquet"
    passes = [40, 52, 47, 40, 42, 47, 43, 48, 26, 17, 27, 23]
    for run, number in enumerate(passes):
        c = np.full(27, number // 27) + (np.arange(27) < number % 27)
        append_run_rows(to, columns(f"r{run}", c, n=4, day=run))
    answer = passk("trend", to, "-q").out.partition(". ")[0]
    assert answer == (
        "12 runs show no change of pass@1 of m, but would show a change of 0.211 or more"
    )
    few = passk("trend", to, "-q", "--where", "run IN ('r0', 'r1', 'r2', 'r3')").out
    assert few.startswith("4 runs are too few to show a change of pass@1 of m. ")
    five = passk("trend", to, "-q", "--where", "run < 'r5' AND length(run) = 2").out
    assert five.startswith("5 runs are too few to show a change of pass@1 of m. ")


def test_a_metric_that_no_history_holds_is_refused_with_what_it_has(passk: Passk) -> None:
    for metric, code, problem in (
        ("pass@10", 2, "--metric pass@10: a history contains only the metrics pass@1 and cost"),
        ("cost,turns", 2, "--metric cost,turns: name only one metric"),
        (
            "cost",
            3,
            f"no run in this history contains the cost of attempts; passk record --to {NIGHTS}"
            " --at REV --with cost records",
        ),
    ):
        result = passk("trend", NIGHTS, "-m", metric)
        assert (result.code, result.out) == (code, "")
        assert problem in result.err
    with pytest.raises(TypeError, match=r"'price'; set prices when you record runs"):
        passk_cli.trend(NIGHTS, price={})


def spending(run: str, costs: Any, day: int = 1, **more: str) -> dict[str, Any]:
    """A run as `append` takes it, with what its attempts cost: (tasks, attempts), all failed."""
    rows_made = columns(run, np.zeros(len(costs)), n=len(costs[0]), day=day, **more)
    lists = {"each_passed": [[False] * len(costs[0])] * len(costs), "each_cost_usd": costs}
    for name, values in lists.items():
        rows_made[name] = np.empty(len(costs), dtype=object)
        rows_made[name][:] = [list(item) for item in values]
    return rows_made


@pytest.mark.parametrize("place", ["h.parquet", pytest.param("h/", marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_recorded_costs_are_those_of_the_data(tmp_path: Path, place: str) -> None:
    """In a course, per solved task and as a median, beside a run without any."""
    to, costs = f"{tmp_path}/{place}", SAMPLES / "costs.csv"
    passk_cli.record(costs, to=to, at="none", date="2026-01-01")
    for day in (2, 3):
        passk_cli.record(
            costs, to=to, at=f"r{day}", date=f"2026-01-0{day}", columns="cost,duration"
        )
    for metric in ("cost", "duration") if place == "h.parquet" else ("median-cost",):
        findings = passk_cli.trend(to, metrics=metric)
        rows = findings.frame.set_index(["model", "run"]).query("metric == @metric")
        suite_rows = passk_cli.estimate(costs, metrics=metric).frame.set_index("model")
        for run in ("r2", "r3"):
            output = rows.xs(run, level="run")
            assert output["estimate"].to_dict() == pytest.approx(suite_rows["estimate"].to_dict())
            assert output["high"].to_dict() == pytest.approx(suite_rows["high"].to_dict())
        assert len(rows) == 6
        messages = [m.text for m in findings.report.messages if m.name == "runs-without"]
        assert messages[0].startswith("3 runs without ")
        assert ": claude-haiku-4-5-20251001 1 of 3, " in messages[0]
    lists = {"outcome": "each_passed", "cost": "each_cost_usd"}
    solved = passk_cli.cost(to, fields=lists, by="run", where="each_passed IS NOT NULL").frame
    plain = passk_cli.cost(costs).frame
    of_run = solved.query("metric == 'cost-per-success' and run == 'r3' and against.isna()")
    assert of_run.set_index("model")["estimate"].to_dict() == pytest.approx(
        plain.query("metric == 'cost-per-success' and against.isna()")
        .set_index("model")["estimate"].to_dict()
    )  # fmt: skip
    assert passk_cli.trend(to).frame["run"].nunique() == 3


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_price_that_doubles_is_dated_whatever_the_numbers_of_attempts(tmp_path: Path) -> None:
    """An attempt took nothing, which has no logarithm; later runs have one attempt a task."""
    random, to = np.random.default_rng(5), f"{tmp_path}/h.parquet"
    for day in range(16):
        attempts = 3 if day < 9 else 1
        costs = np.exp(np.arange(20)[:, None] / 8 + random.normal(0, 0.5, (20, attempts)))
        costs[0, 0] *= day != 2
        append_run_rows(to, spending(f"r{day}", costs * (2 if day >= 7 else 1), day=day))
    findings = passk_cli.trend(to, metrics="cost")
    (change,) = findings.frame.query("metric == 'change-ratio'").itertuples()
    assert change.run == "r7"
    assert 1.6 < change.estimate < 2.4
    assert "cost of m rose by a factor of " in str(findings)
    assert " before, $" in str(findings)
    (plot,) = findings.report.plots
    assert ([rule.x for rule in plot.reference_lines], plot.y_title, plot.unit) == (
        [8],
        "cost ($)",
        "",
    )
    ratio = passk_cli.trend(to, metrics="cost-per-success")
    assert set(ratio.frame["metric"]) == {"cost-per-success"}, "changes are those of the parts"
    assert [m.name for m in ratio.report.messages][-1:] == ["changes-of-parts"]


@pytest.mark.long
def test_costs_that_a_run_lacks_are_recorded_as_missing_and_decided_by_trend(
    tmp_path: Path,
) -> None:
    costs = [None, 2.0, 2.0, 4.0, 2.0, 2.0]
    rows = [{"task": f"t{i % 3}", "passed": 1, "cost": x} for i, x in enumerate(costs)]
    to = f"{tmp_path}/h.parquet"
    for day in (1, 2):
        recorded = passk_cli.record(
            rows, to=to, at=f"r{day}", date=f"2026-01-0{day}", columns=["cost"]
        )
        messages = {message.name: message.text for message in recorded.report.messages}
        assert messages["missing-costs-kept"].startswith(
            "the history records no cost for 1 attempt"
        )
    with pytest.raises(DataError, match=r"record 1: no cost \(2 attempts in all"):
        passk_cli.trend(to, metrics="cost")
    for policy, n in (("drop", 10), ("mean", 12)):
        with pytest.warns(passk_cli.PasskWarning, match="2 attempts (have no|without a) cost"):
            output = passk_cli.trend(to, metrics="cost", missing_cost=policy)
        assert output.frame["estimate"].tolist() == pytest.approx([8 / 3] * 2)
        (table, *_) = output.report.tables
        assert table.rows[0][-1] == n
    assert passk_cli.trend(to).frame.query("metric == 'pass@1'")["n_max"].tolist() == [2, 2]
    with pytest.raises(ParameterError, match="the mean has no upper limit"):
        passk_cli.trend(to, metrics="cost", missing_cost="bounds")


def test_runs_without_a_price_and_runs_at_other_prices_are_said(tmp_path: Path) -> None:
    to = f"{tmp_path}/h.parquet"
    for day, (price, settings) in enumerate([(1, "{}"), (0, "{}"), (3, '{"price":"m: 3, 3"}')], 1):
        append_run_rows(
            to, spending(f"r{day}", np.full((4, 2), float(price)), day, settings=settings)
        )
    with pytest.warns(passk_cli.PasskWarning):
        findings = passk_cli.trend(to, metrics="cost")
    messages = {message.name: message.text for message in findings.report.messages}
    assert messages["unpriced-runs"].endswith("is 0 in 1 run, which is left out: r2")
    assert messages["mixed-settings"] == "runs of m were recorded with different options: price"
    assert findings.frame["run"].tolist() == ["r1", "r3"]
    assert "mixed-settings" not in {message.name for message in passk_cli.trend(to).report.messages}
    free = f"{tmp_path}/free.parquet"
    append_run_rows(free, spending("r1", np.zeros((4, 2))))
    with pytest.raises(DataError, match="the cost of every attempt is 0"):
        passk_cli.trend(free, metrics="cost")


def test_prices_are_recorded_with_the_costs_that_they_make(tmp_path: Path) -> None:
    to = f"{tmp_path}/h.parquet"
    rows = [{"model": "m", "task": f"t{i}", "passed": 1, "tokens_in": 1e6, "tokens_out": 5e5}
            for i in range(3)]  # fmt: skip
    price = {"m*": {"input": 1.0, "output": 4.0}}
    with pytest.raises(
        ParameterError, match=r"no costs are recorded; columns=.cost. records costs"
    ):
        passk_cli.record(rows, to=to, at="a", price=price)
    with pytest.raises(ParameterError, match="a history can record only cost"):
        passk_cli.record(rows, to=to, at="a", columns="answer")
    passk_cli.record(rows, to=to, at="a", price=price, columns="cost")
    ((settings, costs),) = duckdb.sql(
        f"SELECT DISTINCT settings, each_cost_usd FROM read_parquet('{to}')"
    ).fetchall()
    assert '"price":"m*: 1, 4"' in settings.replace('": "', '":"')
    assert costs == [3.0]


def test_a_gate_on_the_costs_of_a_history_allows_for_the_effect_of_runs(tmp_path: Path) -> None:
    """Five runs pooled: the mean of all their attempts, and an interval that knows of runs."""
    random, history = np.random.default_rng(3), f"{tmp_path}/h.parquet"
    all_values = np.exp(random.normal(0, 0.5, (1, 30, 1)) + random.normal(0, 0.3, (6, 30, 2)))
    all_values *= np.array([1, 1.5, 0.7, 1.4, 0.8, 1])[:, None, None]
    for run in range(5):
        append_run_rows(history, spending(f"r{run}", all_values[run], day=run))
    rows, pooled = (
        [{"model": "m", "task": f"t{t}", "passed": 0, "cost": x}
         for t, row in enumerate(costs) for x in row]
        for costs in (all_values[5], np.concatenate(all_values[:5], axis=1))
    )  # fmt: skip
    rule: dict[str, Any] = {"no_regression": True, "metrics": "cost"}
    wide = passk_cli.gate(rows, baseline=f"{history}:last5", **rule).frame.iloc[-1]
    narrow = passk_cli.gate(rows, baseline=pooled, **rule).frame.iloc[-1]
    assert wide["estimate"] == pytest.approx(narrow["estimate"])
    assert wide["high"] > narrow["high"] + 0.2
    with pytest.raises(
        DataError, match="no run in this history contains the score of attempts; a history"
    ):
        passk_cli.gate(
            [{**row, "score": 0.5} for row in rows], baseline=f"{history}:last5",
            no_regression=True, metrics="mean",
        )  # fmt: skip


def test_suites_of_one_history_are_rows_of_their_own(tmp_path: Path) -> None:
    to = f"{tmp_path}/h.parquet"
    for run in range(2):
        append_run_rows(to, columns(f"r{run}", [1, 2, 0], day=run))
        append_run_rows(to, columns(f"r{run}", [0, 0, 0], day=run, suite="other"))
    rows = passk_cli.trend(to).frame.query("metric == 'pass@1'")
    assert rows["suite"].tolist() == ["other", "other", "s", "s"]
    assert rows["estimate"].tolist() == [0, 0, 0.5, 0.5]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:pass.2 no regression cannot ")
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_gate_on_a_history_allows_for_the_effect_of_runs(tmp_path: Path) -> None:
    """Five runs pooled; the interval is wider than the plain one by σ² (1 + 1/5) exactly."""
    random = np.random.default_rng(8)
    rates = random.beta(1, 1, 60)
    history, plain = f"{tmp_path}/h.parquet", f"{tmp_path}/plain.parquet"
    shifts = [0.1, -0.1, 0.08, -0.08, 0.1, -0.1, 0.0]
    for run, shift in enumerate(shifts):
        rows_made = columns(
            f"r{run}", random.binomial(4, np.clip(rates + shift, 0, 1)), n=4, day=run
        )
        append_run_rows(history, rows_made)
        if run >= 2:
            append_run_rows(plain, {**rows_made, "model": np.full(60, "old", dtype=object)})
    new = columns("new", random.binomial(4, np.clip(rates - 0.15, 0, 1)), n=4)
    table = [dict(zip(new, row, strict=True)) for row in zip(*new.values(), strict=True)]
    rows = [{name: row[name] for name in ("model", "task", "n", "c")} for row in table]
    rule = {"max_drop": {"pass@1": 0.0}}
    gate = passk_cli.gate(rows, baseline=f"{history}:last5", **rule)
    single = passk_cli.gate(rows, baseline=plain, duplicates="keep", **rule)
    wide, narrow = (next(f.frame.query("metric == 'pass@1'").itertuples()) for f in (gate, single))
    assert wide.estimate == pytest.approx(narrow.estimate)
    assert wide.high > narrow.high + 0.02
    assert (narrow.verdict, wide.verdict) == ("fail", "undecided")
    assert "runs-pooled" in [message.name for message in gate.report.messages]
    several = passk_cli.gate(rows, baseline=f"{history}:last5", no_regression=True, k=[1, 2])
    assert set(several.frame.query("metric == 'pass@1'")["verdict"]) == {"undecided"}
    with pytest.raises(DataError, match="no such history; first_run=True accepts"):
        passk_cli.gate(rows, baseline="nowhere.parquet:last5", **rule)
    with pytest.raises(DataError, match="this history has the suites s; "):
        passk_cli.gate(rows, baseline=f"{history}:x:last5", **rule)


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_run_that_is_there_twice_is_said_by_trend_and_gate(tmp_path: Path) -> None:
    """The same file under two names; few tasks may well come out alike by chance."""
    for tasks, copied in ((90, True), (6, False)):
        history = tmp_path / f"{tasks}.parquet"
        once = np.arange(tasks) % 3
        for day, (run, c) in enumerate([("a", once), ("b", once), ("c", np.roll(once, 1))], 1):
            append_run_rows(str(history), columns(run, c, day=day))
        messages = {
            message.name: message.text for message in passk_cli.trend(history).report.messages
        }
        assert ("copied-run" in messages) == copied
        if copied:
            assert "a of m and b of m have the same outcomes at 90 tasks;" in messages["copied-run"]
    lines = [f"m,t{t},{int(t % 3 == 0)}" for t in range(90)] * 2
    (tmp_path / "new.csv").write_text("\n".join(["model,task,passed", *lines]))
    output = passk_cli.gate(
        tmp_path / "new.csv", baseline=f"{tmp_path}/90.parquet:last3", max_drop={"pass@1": 0.5}
    )
    assert "copied-run" in {message.name for message in output.report.messages}
    first = passk_cli.gate(
        tmp_path / "new.csv", baseline=f"{tmp_path}/90.parquet:last2", max_drop={"pass@1": 0.5}
    )
    assert "copied-run" not in {message.name for message in first.report.messages}


def test_a_column_of_the_history_named_as_a_word_of_sql_is_asked_for_in_quotes() -> None:
    with pytest.raises(ParameterError, match="in double quotes"):
        passk_cli.trend(NIGHTS, where="at < '2026-10-29'")
    assert passk_cli.trend(NIGHTS, where="\"at\" < '2026-10-29'").frame["run"].nunique() == 28


def test_the_runs_that_the_effect_is_of_are_counted() -> None:
    details = str(passk_cli.trend(NIGHTS))
    assert "run effect since the last change, from 11 runs · 5 % chance" in details


def test_a_history_is_no_results_of_one_run(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES.parent)
    nights = "sample_data/nights.parquet"
    result = passk("estimate", nights, "-k", "1")
    assert (result.code, "this is a history of runs, and task 'task-1'" in result.err) == (3, True)
    last, course = (line.partition("  # ") for line in result.err.splitlines()[1:])
    assert last[0] == f"""  passk estimate {nights} -k 1 --where "run = '0f6c430'\""""
    assert passk("estimate", nights, "-k", "1", "--where", "run = '0f6c430'").code == 0
    assert (course[0], course[2]) == (f"  passk trend {nights}", "shows how its runs develop")
    with pytest.raises(DataError, match="a history of runs"):
        passk_cli.estimate(duckdb.sql(f"FROM '{nights}'").df())
    result = passk("gate", nights, "--baseline", f"{nights}:last3", "--no-regression")
    assert (result.code, result.out) == (2, "")
    assert f"{nights}: this file is the history of the baseline, not a new run; give" in result.err


def test_what_is_recorded_next_is_a_line_to_copy(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.csv").write_text("task,passed,cost\na,1,2\na,0,3\nb,1,1\nb,1,1\n")
    monkeypatch.chdir(tmp_path)
    refused = passk("trend", "run.csv", "-m", "cost")
    (line,) = re.findall(r"^  passk (.*)  # records it as today's run$", refused.err, re.M)
    assert (refused.error, line.partition(" --at ")[0]) == (
        "no-history", "record run.csv --to history.parquet")  # fmt: skip
    assert line.endswith(" --with cost")
    assert passk(*line.split()).code == 0
    result = passk("record", "run.csv", "--to", "other/")
    assert "; --at REV sets it\n" in result.err
    (line,) = re.findall(r"^  passk (.*)  # records the run with today's date$", result.err, re.M)
    assert passk(*line.split()).code == 0
