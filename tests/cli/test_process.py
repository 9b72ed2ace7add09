"""The process around a command: signals, streams that are closed, readers that have gone."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from passk_cli.cli.process import SECONDS_TO_END
from tests.conftest import SAMPLES, Passk, long_cases, mark_long_except

TAU, COUNTS = (SAMPLES / f for f in ("tau_airline.csv", "counts.csv"))
PASSK = f"{shlex.quote(sys.executable)} -m passk_cli"
# One expression per row that takes minutes, and that DuckDB does not interrupt within a row. Only
# this test may use such a function in a condition.
LENIENT = (
    "from passk_cli.files.reading import condition\n"
    "condition.ALLOWED_FUNCTIONS |= {'levenshtein', 'repeat'}\n"
    "from passk_cli.__main__ import main\n"
    "main()\n"
)
SLOW = "levenshtein(repeat(task_id::VARCHAR, 20000), repeat('ab', 20000)) >= 0"
# A command of each kind: reports, judges, streams, makes a page.  All read in the same lines.
READING: dict[str, list[object]] = {
    "estimate": [],
    "gate": ["--min", "pass@1=0.1"],
    "convert": [],
    "report": [],
}
CRUX = SAMPLES / "cruxeval.jsonl.gz"
MANY = ["--resamples", "1000000"]
COMPUTING: dict[str, list[object]] = {
    "compare": [CRUX, "--pool", "temperature", *MANY],
    "bootstrap": [CRUX, "--pool", "temperature", *MANY],
    "curve": [CRUX, "--pool", "temperature", "--band", "simultaneous", *MANY],
    "extrapolate": [COUNTS, "--target", "0.5"],
    "temperature": [CRUX, *MANY],
}


class Running:
    """A command in a separate process, with separate folders for temporary files and results."""

    def __init__(self, place: Path, command: str, arguments: list[object], start: str = "") -> None:
        self.spool, self.here = place / "spool", place / "here"
        self.spool.mkdir()
        self.here.mkdir()
        words = [command, *map(str, arguments), "-o", "out.csv"]
        source = str(Path(__file__).parents[2])
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'{start} exec "$0" "$@"', sys.executable, "-c", LENIENT, *words],
            env=os.environ | {"TMPDIR": str(self.spool), "PYTHONPATH": source},
            cwd=self.here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            # Tests in the background of a shell inherit that Ctrl-C is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def wait_for(self, state: Callable[[], bool]) -> None:
        """Until it is so, and a little longer."""
        until = time.monotonic() + 30
        while not state() and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)
        if self.process.poll() is not None:
            pytest.fail(f"ended by itself with {self.process.communicate()[1].decode()}")

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def reading(self) -> bool:
        return any(self.spool.iterdir())

    def end(self, number: signal.Signals) -> None:
        """The process ends soon after the signal, with its exit code and without remaining files.

        The work of the process takes minutes, so the bound leaves room for a busy machine.
        """
        began = time.monotonic()
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        assert time.monotonic() - began < 10
        assert (self.process.returncode, err) == (128 + number, b"")
        assert list(self.spool.iterdir()) == []
        assert list(self.here.iterdir()) == []


@pytest.mark.parametrize("command", mark_long_except(READING, "estimate"))
def test_ctrl_c_stops_reading(tmp_path: Path, command: str) -> None:
    with Running(tmp_path, command, [TAU, "--where", SLOW, *READING[command]]) as running:
        running.wait_for(running.reading)
        running.end(signal.SIGINT)


@pytest.mark.parametrize("command", mark_long_except(COMPUTING, "compare"))
def test_ctrl_c_stops_computing(tmp_path: Path, command: str) -> None:
    with Running(tmp_path, command, COMPUTING[command]) as running:
        running.wait_for(running.reading)
        running.wait_for(lambda: not running.reading())
        running.end(signal.SIGINT)


def test_a_terminal_that_goes_away_ends_a_process(tmp_path: Path) -> None:
    with Running(tmp_path, "estimate", [TAU, "--where", SLOW]) as running:
        running.wait_for(running.reading)
        running.end(signal.SIGHUP)


def test_ctrl_c_stops_importing(tmp_path: Path) -> None:
    """A library in C aborts when a module that it imports does not arrive: no interrupt there."""
    (tmp_path / "library.py").write_text(
        "import os, signal\n"
        "try: signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt: os.abort()\n"
    )
    script = (
        "import time\n"
        "from passk_cli.cli.process import end_on_signals\n"
        "with end_on_signals():\n"
        "    import library\n"
        "    time.sleep(60)\n"
    )
    source = f"{tmp_path}:{Path(__file__).parents[2]}"
    result = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": source},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (result.returncode, result.stderr) == (130, "")


def test_ctrl_c_during_the_first_imports_ends_quietly(tmp_path: Path) -> None:
    script = (
        "import signal, sys, passk_cli.__main__\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'passk_cli.cli.process': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "passk_cli.__main__.main()\n"
    )
    source = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run([sys.executable, "-c", script, "formats"], env=source,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """SIGTERM is not ignored and ends the process."""
    with Running(tmp_path, "estimate", [TAU, "--where", SLOW], "trap '' HUP;") as running:
        running.wait_for(running.reading)
        running.process.send_signal(signal.SIGHUP)
        time.sleep(2 * SECONDS_TO_END)
        assert running.process.poll() is None
        running.end(signal.SIGTERM)


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-c", line], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (f"gate {TAU} --min pass@1=0.9", 1),
        ("describe nothing.csv 2>&1", 3),
        *long_cases(
            ("--version", 0),
            (f"gate {TAU} --min pass@1=0.9 -f csv -o /dev/stdout", 1),
            (f"describe {TAU} --pooled 2>&1", 2),
            (f"estimate {TAU}", 0),
            ("gate --help", 0),
        ),
    ],
)
def test_a_reader_that_has_gone_changes_no_exit_code(arguments: str, code: int) -> None:
    # The reader leaves before the first word.
    result = shell(f"(sleep 0.1; {PASSK} {arguments}) | true; echo ${{PIPESTATUS[0]}}")
    assert result.stdout == f"{code}\n"
    assert "rror" not in result.stderr


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", *long_cases(">&-", "2>&-", "<&-")])
def test_closed_streams_change_no_exit_code(closed: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert shell(f"{PASSK} gate {TAU} --min pass@1=0.9 -o {out} {closed}").returncode == 1
    assert shell(f"{PASSK} describe nothing.csv {closed}").returncode == 3
    assert out.read_text().startswith("model,")


def test_a_closed_stdin_is_empty() -> None:
    result = shell(f"{PASSK} describe - <&-")
    assert (result.returncode, "<stdin>: the file is empty" in result.stderr) == (3, True)


@pytest.mark.parametrize("arguments", ["--help", f"gate {TAU} --min pass@1=0.1"])
def test_a_full_disk_is_reported_once(arguments: str) -> None:
    result = shell(f"{PASSK} {arguments} > /dev/full")
    message = "error[unwritable-output]: <stdout>: cannot be written (No space left on device)\n"
    assert (result.returncode, result.stderr.count(message)) == (2, 1)
    assert "Exception" not in result.stderr


@pytest.mark.long
def test_file_names_that_are_not_utf_8_are_accepted(passk: Passk, tmp_path: Path) -> None:
    place = os.fsencode(tmp_path)
    first, second = os.fsdecode(place + b"/a\xff.csv"), os.fsdecode(place + b"/b\xfe.csv")
    for path, last in ((first, 0), (second, 1)):
        Path(path).write_text(f"task,passed\n1,1\n1,0\n2,{last}\n")
    out = os.fsdecode(place + b"/out\xff.json")
    line = [sys.executable, "-m", "passk_cli"]
    result = subprocess.run([*line, "estimate", first, second, "-k", "1", "-q", "-o", out],
    check=False,
                          capture_output=True)  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    assert '"model": "a\\\\xff"' in Path(out).read_text()
    result = subprocess.run([*line, "estimate", first, "--where", "x\udcff"], check=False,
                          capture_output=True)  # fmt: skip
    message = (
        b"error[bad-option-value]: x\\xff: this name is not valid UTF-8; all names in"
        b" the data must be UTF-8\n"
    )
    assert (result.returncode, result.stderr) == (2, message)
    for option in ("--model", "--by"):
        refused = passk("estimate", first, option, "x\udcff")
        assert (refused.code, refused.err.encode()) == (2, message)
    result = subprocess.run([*line, "bootstrap", first, "--draws", second], check=False,
                          capture_output=True)  # fmt: skip
    assert result.returncode == 2
    assert b"b\\xfe.csv: this file name is not valid UTF-8; choose another name" in result.stderr
