"""What can happen to a command from outside: full disks, killed writers, files that change."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from passk_cli.cli import run
from passk_cli.files import load as reading
from tests.conftest import SAMPLES, CommandResult, Passk, long_cases
from tests.files.formats.cells import DATA

MANY_ROWS = "task,passed\n" + "".join(f"task {i},{i % 2}\n" for i in range(5000))


@pytest.fixture
def tau(tmp_path: Path) -> Path:
    """A copy, since the samples themselves are read once in all tests."""
    return Path(shutil.copy(SAMPLES / "tau_airline.csv", tmp_path / "tau.csv"))


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """A limit on the size of files of this process, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def assert_said(result: CommandResult, code: int, message: str) -> None:
    assert (result.code, result.out) == (code, ""), result.err
    assert message in result.err
    assert (result.sentences, "internal" in result.err) == (1, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "-f", "csv", "-o", "{}"],
        ["convert", "-o", "{}.csv"],
        ["convert", "--counts", "-o", "{}.parquet"],
        ["bootstrap", "--resamples", "100", "-f", "csv", "-o", "/dev/null", "--draws", "{}.csv"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_full_disk_leaves_the_old_output(
    passk: Passk, tau: Path, tmp_path: Path, arguments: list[str]
) -> None:
    (name,) = (word for word in arguments if "{}" in word)
    target = tmp_path / name.format("x")
    target.write_text("old")
    words = [word.format(tmp_path / "x") for word in arguments]
    with limited_file_size(20):
        result = passk(words[0], tau, *words[1:], "-q")
    assert_said(
        result, 2, f"error[unwritable-output]: {target}: cannot be written (File too large)\n"
    )
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tau.csv", target.name]


def test_a_full_disk_for_temporary_files_is_reported(
    passk: Passk, tau: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = (
        "error[unwritable-output]: temporary files: cannot be"
        " written (File too large); set TMPDIR to a folder with"
    )
    with limited_file_size(20):
        assert_said(passk("estimate", DATA / "tau_bench", "-q"), 2, message)
        assert_said(passk("estimate", "-", "-q", stdin=MANY_ROWS.encode()), 2, message)
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    message = (
        "error[unwritable-output]: no folder for temporary files (No"
        " such file or directory); set TMPDIR to a"
    )
    assert_said(passk("estimate", tau), 2, message)


def test_an_endless_stream_is_refused(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return b'{"task": "a", "passed": true}\n' * ((size or 0) // 30)

    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=20 << 20))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    message = (
        "error[no-room]: <stdin>: the stream contains more than 10,485,760 bytes, half of the free"
        " space for temporary files"
    )
    assert_said(passk("estimate", "-"), 3, message)


def test_a_device_is_refused(passk: Passk) -> None:
    """A device is refused by its type, before a byte is read."""
    message = (
        "error[unreadable-file]: /dev/zero: this is a device, not a file; give a file, a pipe or -"
    )
    assert_said(passk("estimate", "/dev/zero"), 3, message)


@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="Linux has such files")
def test_a_file_without_a_size_is_refused(passk: Passk) -> None:
    """For example, /proc/kmsg would wait for the next message of the kernel."""
    message = "error[unreadable-file]: /proc/cpuinfo: this is a system file without a size"
    assert_said(passk("estimate", "/proc/cpuinfo"), 3, message)


@pytest.mark.parametrize("command", ["estimate", "convert"])
def test_a_file_that_changes_during_reading_is_refused(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    path, target = tmp_path / "x.csv", tmp_path / "out.csv"
    path.write_text(MANY_ROWS)
    target.write_text("old")
    tallied = reading._CountsReader.detect_layouts_and_count

    def change_after_reading(*arguments: object) -> object:
        result = tallied(*arguments)  # type: ignore[arg-type]
        with open(path, "a") as file:
            file.write("more,1\n")
        return result

    monkeypatch.setattr(reading._CountsReader, "detect_layouts_and_count", change_after_reading)
    result = passk(command, path, "-o", target)
    assert_said(
        result,
        3,
        "x.csv: the file changed while passk read it; read the file again when it is complete\n",
    )
    assert target.read_text() == "old"


def test_a_file_that_disappears_during_reading_is_refused(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copy(next((DATA / "tau_bench").glob("*.json")), tmp_path / "x.json")
    monkeypatch.setattr(
        reading._CountsReader, "recognise_inputs", lambda *_, **more: path.unlink() or path.stat()
    )
    assert_said(
        passk("estimate", path), 3, "x.json: this path cannot be read (No such file or directory)"
    )


def test_too_little_memory_is_reported(
    passk: Passk, tau: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def allocate(error: Exception) -> Callable[..., None]:
        def fail(*arguments: object) -> None:
            raise error

        return fail

    full = duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block")
    monkeypatch.setattr(reading, "run_statement", allocate(full))
    message = "tau.csv: there is not enough memory to read the file; read fewer models, columns"
    assert_said(passk("estimate", tau), 3, message)
    monkeypatch.setattr(run, "command_report", allocate(MemoryError("Unable to allocate 8.00 TiB")))
    assert_said(
        passk("estimate", tau),
        3,
        "error[out-of-memory]: memory: there is not enough memory for this command; read",
    )
    failure = json.loads(passk("estimate", tau, "-f", "json").out)
    assert failure["error"]["kind"] == "data"


WRITING = """
import sys
from pathlib import Path
from passk_cli.cleanup import write_atomically
while True:
    for sign in "ab":
        write_atomically(Path(sys.argv[1]), sign * 3_000_000)
        print(sign, flush=True)
"""


@pytest.mark.parametrize("moment", range(int(os.environ.get("PASSK_KILLS", "6"))))
def test_killing_a_write_leaves_a_complete_file(tmp_path: Path, moment: int) -> None:
    """At any moment there is the complete old file or the complete new one. PASSK_KILLS sets the
    number of moments."""
    target = tmp_path / "out.csv"
    command = [sys.executable, "-c", WRITING, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(moment).random() / 50)
        process.send_signal(signal.SIGKILL)
    text = target.read_text()
    assert text in ("a" * 3_000_000, "b" * 3_000_000)


@pytest.mark.parametrize(
    "words", [["describe"], *long_cases(["convert", "-o", "out.csv"])], ids=" ".join
)
def test_commands_run_in_an_empty_environment(
    passk: Passk, tau: Path, workdir: Path, words: list[str]
) -> None:
    command = [words[0], "tau.csv", *words[1:]]
    usual = passk(*command)
    files = {path.name: path.read_bytes() for path in workdir.glob("out.*")}
    environment = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0",
                   "PYTHONPATH": str(Path(__file__).parents[2])}  # fmt: skip
    result = subprocess.run([sys.executable, "-m", "passk_cli", *command], check=False,
                          env=environment, capture_output=True, text=True)  # fmt: skip
    expected = (
        text.encode("ascii", "backslashreplace").decode() for text in (usual.out, usual.err)
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, *expected)
    assert {path.name: path.read_bytes() for path in workdir.glob("out.*")} == files
