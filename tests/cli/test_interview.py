"""Tests of maps at a terminal, in a pipe and from Python: questions, and roles that stay open."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import passk_cli
from passk_cli.errors import DataError, ParameterError
from tests.conftest import Passk, jsonl

ROWS = [
    {"question": f"q{q}", "compiles": True, "answer_ok": q % 3 > 0, "effort": effort, "verdict": v}
    for q in range(12)
    for effort, v in (("low", "met" if q % 2 else "unmet"), ("high", "met"))
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.jsonl").write_text(jsonl(ROWS))
    return tmp_path


def at_a_terminal(folder: Path, answers: list[str]) -> tuple[int, str]:
    """The exit code and screen of `passk describe --init` after these answers."""
    master, terminal = pty.openpty()
    words = [sys.executable, "-m", "passk_cli", "describe", "runs.jsonl", "--init", "passk.toml"]
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "120", "NO_COLOR": "1"}
    process = subprocess.Popen(
        words, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal, env=environment,
        start_new_session=True, preexec_fn=_take_terminal,
    )  # fmt: skip
    os.close(terminal)
    screen, remaining, end = "", [*answers], time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            part = os.read(master, 1 << 16).decode()
        except OSError:
            break
        screen += part
        if remaining and screen.rstrip(" ").endswith(":"):
            answer = remaining.pop(0)
            screen += "\n"
            # Nobody presses a key before input() waits for it.
            time.sleep(0.2)
            os.write(master, answer.encode() if answer in "\x03\x04" else f"{answer}\n".encode())
    os.close(master)
    return process.wait(30), screen


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Tests in the background ignore it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_terminal_asks_writes_the_map_and_shows_the_first_estimate(folder: Path) -> None:
    code, screen = at_a_terminal(folder, ["verdikt", "verdict", "mett", "met", "1"])
    assert "Which column contains the outcome of an attempt (pass or fail)?" in screen
    assert "did you mean verdict" in screen
    assert "the data has no outcome mett" in screen
    assert code == 0, screen
    draft = (folder / "passk.toml").read_text()
    assert 'outcome = "verdict"' in draft
    assert "pass@1" in screen.split("is written")[1]
    again = passk_cli.read("runs.jsonl")
    assert again.group_names == ("effort",)
    assert (again.n.sum(), again.c.sum()) == (24, 18)


@pytest.mark.parametrize("answers", [["\x03"], ["1", "\x03"], ["\x04"]])
def test_a_person_who_stops_writes_nothing(folder: Path, answers: list[str]) -> None:
    code, screen = at_a_terminal(folder, answers)
    assert code == 130, screen
    assert "no map is written" in screen
    assert not (folder / "passk.toml").exists()


def test_a_pipe_gets_a_draft_that_does_not_count(folder: Path, passk: Passk) -> None:
    result = passk("describe", "runs.jsonl", "--init", "passk.toml")
    draft = (folder / "passk.toml").read_text()
    assert all(line in result.out for line in draft.splitlines())
    assert 'outcome = ""' in draft
    refused = passk("estimate", "runs.jsonl", "-k", "1")
    assert refused.code != 0
    assert "open-role" in refused.err
    assert "answer_ok" in refused.err
    again = passk("describe", "runs.jsonl", "--init", "passk.toml")
    assert again.code == 2
    assert (folder / "passk.toml").read_text() == draft


@pytest.mark.parametrize("column", ["compiles", "answer_ok"])
def test_a_draft_with_one_line_edited_reads_right(folder: Path, column: str) -> None:
    passk_cli.describe("runs.jsonl", init="passk.toml")
    path = folder / "passk.toml"
    path.write_text(path.read_text().replace('outcome = ""', f'outcome = "{column}"'))
    counts = passk_cli.read("runs.jsonl", pool="effort")
    assert counts.c.sum() == sum(bool(row[column]) for row in ROWS)
    assert len(counts.tasks) == 12


def test_a_file_without_outcomes_or_of_a_harness_gets_no_draft(folder: Path) -> None:
    (folder / "prices.csv").write_text("name,price\na,1.5\nb,2.5\nc,7.5\n")
    with pytest.raises(DataError):
        passk_cli.describe("prices.csv", init="map.toml")
    with pytest.raises(ParameterError):
        passk_cli.describe("runs.jsonl", init="runs.jsonl")
    assert not (folder / "map.toml").exists()


def test_a_draft_leaves_open_what_another_column_contradicts(folder: Path) -> None:
    rows = [{"task": f"{t}", "reward": 1, "verified": t % 2 > 0} for t in range(8)]
    (folder / "runs.jsonl").write_text(jsonl(rows))
    passk_cli.describe("runs.jsonl", init="passk.toml")
    with pytest.raises(ParameterError, match=r"verified. \(4") as caught:
        passk_cli.read("runs.jsonl")
    assert caught.value.name == "open-role"


def test_a_frame_has_a_draft(folder: Path) -> None:
    passk_cli.describe(pd.DataFrame(ROWS), init="frame.toml")
    text = (folder / "frame.toml").read_text().replace('outcome = ""', 'outcome = "answer_ok"')
    assert "files" not in text
    (folder / "frame.toml").write_text(text)
    counts = passk_cli.read(pd.DataFrame(ROWS), map="frame.toml", by="effort")
    assert (counts.n.sum(), counts.c.sum()) == (24, 16)


@pytest.mark.parametrize("command", ["estimate", "gate --min pass@1=0.5", "convert -o rows.csv"])
def test_the_last_line_of_a_screen_writes_a_draft(folder: Path, passk: Passk, command: str) -> None:
    name, *options = command.split()
    screen = passk(name, "runs.jsonl", *options).err.splitlines()
    line = screen[-1].partition("  # ")[0].strip()
    assert line == "passk describe runs.jsonl --init passk.toml"
    result = passk(*line.split()[1:])
    assert result.code == 0, result.err
    assert "# outcome = " in (folder / "passk.toml").read_text()
    assert not (folder / "rows.csv").exists()


def test_a_map_that_exists_is_not_offered_as_a_new_one(
    folder: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "../runs.jsonl --init ../passk.toml  #" in passk("estimate", "../runs.jsonl").err
    (folder / "passk.toml").touch()
    assert "../runs.jsonl --init ../map.toml  #" in passk("estimate", "../runs.jsonl").err
    (folder / "map.toml").touch()
    assert "--init" not in passk("estimate", "../runs.jsonl").err
    with pytest.raises(DataError) as caught:
        passk_cli.estimate("../runs.jsonl")
    assert caught.value.remedies == []
