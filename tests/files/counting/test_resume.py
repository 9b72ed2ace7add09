"""Counts that are kept of each file give what reading all files gives, whatever happens between."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import passk_cli
from passk_cli.files.load import load
from passk_cli.files.request import Request
from passk_cli.files.sources import ledger
from passk_cli.files.sources.source import Source
from tests.conftest import Passk
from tests.files.formats.cells import DATA

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

FILES = 8


def rows(model: str, tasks: range, attempts: range, **more: Any) -> list[dict[str, Any]]:
    return [
        {"model": model, "task": f"t{t}", "attempt": a, "passed": (t * 7 + a * 3) % 5 > 2, **more}
        for t in tasks
        for a in attempts
    ]


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def old(path: Path) -> Path:
    """The file as one that has not changed for long."""
    os.utime(path, (1e9, 1e9))
    return path


def counted(data: Any, kept: Path | None = None, **options: Any) -> tuple[str, int]:
    """All that is known of the data, or why it is refused; how many files were not read."""
    request = Request(resume=None if kept is None else str(kept), **options)
    try:
        counts = load(data, request)
    except passk_cli.PasskError as error:
        return str(error), 0
    said = [each for each in counts.facts.messages if each.name == "unchanged-files"]
    rest = tuple(each for each in counts.facts.messages if each not in said)
    facts = replace(counts.facts, messages=rest)
    columns = {name: column.tolist() for name, column in counts.columns.items()}
    unread = said[0].fields["unread"] if said else 0
    return repr((columns, facts, counts.numbering, counts.attempts)), unread


def tables(kept: Path) -> list[Path]:
    """The entries with the counts of a file; others say how a file is laid out."""
    return sorted(path for path in kept.glob("*.counts") if b"PAR1" in path.read_bytes())


def assert_resumes(data: Any, kept: Path, files: int, **options: Any) -> str:
    """A run that keeps counts, and one that finds them, give what a run without gives.

    files : how many the second does not read.
    """
    plain, _ = counted(data, **options)
    assert counted(data, kept, **options) == (plain, 0)
    assert counted(data, kept, **options) == (plain, files)
    return plain


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Models and tasks over several files: attempts that go on, and one model alone."""
    folder = tmp_path / "runs"
    folder.mkdir()
    parts = {
        "one.jsonl": rows("a", range(5), range(3)),
        "two.jsonl": rows("a", range(5), range(3, 6), temperature=0.2),
        "more.jsonl": rows("b", range(4), range(4)),
    }
    for name, records in parts.items():
        old_text(folder / name, lines(records))
    return folder


def old_text(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return old(path)


LISTS = '{"task": "x", "results": [true, false]}\n{"task": "y", "results": [true, null, 1]}\n'
SCORES = "task,attempt,score,kind\na,1,0.2,x\na,2,0.9,x\nb,1,1,y\nb,2,0,y\n"
CASES: dict[str, tuple[dict[str, str | bytes], dict[str, Any]]] = {
    "lists, counts and rows": (
        {
            "l.jsonl": LISTS,
            "c.csv": "task,n,c\nx,4,1\n",
            "r.jsonl": lines(rows("m", range(2), range(2))),
        },
        {"missing": "fail"},
    ),
    "scores at several thresholds": (
        {"a.csv": SCORES, "b.csv": SCORES.replace("0.2", "0.4")},
        {"threshold": (0.3, 0.5)},
    ),
    "a threshold, groups": ({"a.csv": SCORES, "b.tsv": SCORES.replace(",", "\t")},
                            {"threshold": (0.5,), "by": ("kind",), "where": "score < 0.95"}),
    "attempts with holes": (
        {"a.jsonl": lines(rows("m", range(3), range(0, 9, 3))), "b.csv": "task,attempt,passed\n"
         "t0,x-1,1\nt0,x-2,0\nt1,2026-01-31T12:00:00,1\n"},
        {},
    ),
    "no numbers": (
        {"a.jsonl": '{"task": "a", "passed": true}\n' * 3, "b.csv": "task,passed\na,1\n"},
        {},
    ),
    "repeats kept": ({"a.jsonl": lines(rows("m", range(3), range(3)) * 2)}, {"duplicates": "keep"}),
    "bad lines": (
        {"a.jsonl": '{"task": "a", "passed": true}\nx\n', "b.csv": "task,passed\na,1\nb\nc,1,2\n"},
        {"skip_bad": True},
    ),
    "names of all sorts": (
        {"a[1]*.jsonl": LISTS, "gpt-4_results.jsonl": b"\xef\xbb\xbf" + LISTS.encode(),
         "z.jsonl.gz": gzip.compress(LISTS.encode(), mtime=0)},
        {"missing": "drop"},
    ),
    "models kept": (
        {"a.jsonl": LISTS, "b.jsonl": LISTS.replace("null", "true"),
         "c.jsonl": lines(rows("m", range(2), range(2)))},
        {"missing": "drop", "models": ("[am]",)},
    ),
    "columns in paths": (
        {"t=0.5/m.csv": SCORES, "t=0.7/m.csv": SCORES},
        {"threshold": (0.5,), "path": "t={temperature}/{model}.csv", "by": ("temperature",)},
    ),
    "a column further down": (
        {
            "a.jsonl": lines(rows("m", range(3000), range(2))),
            "b.jsonl": lines(
                [*rows("m", range(3000), range(2, 4)), *rows("m", range(1), range(4, 6), top_p=1)]
            ),
        },
        {},
    ),
    "an array": ({"a.json": json.dumps(rows("m", range(2), range(2)))}, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_kept_counts_give_what_reading_gives(tmp_path: Path, kept: Path, case: str) -> None:
    contents, options = CASES[case]
    data = tmp_path / "data"
    for name, content in contents.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        old_text(data / name, content)
    assert "series" not in assert_resumes(data, kept, len(contents), **options)


@pytest.mark.parametrize("policy", ["error", "first", "last"])
def test_the_same_attempt_in_two_files(folder: Path, kept: Path, policy: str) -> None:
    other = [record | {"passed": True} for record in rows("a", range(2, 4), range(2))]
    old_text(folder / "z.jsonl", lines(other))
    files = 0 if policy == "error" else 4
    refused = "attempt 0" in assert_resumes(
        folder, kept, files, duplicates=policy, pool=("temperature",)
    )
    assert refused == (policy == "error")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("z.jsonl", '{"model": "a", "task": "t0", "attempt": 9, "passed": null}\n'),
        ("z.jsonl", '{"model": "a", "task": "t0", "attempt": 9, "passed": "perhaps"}\n'),
        ("z.jsonl", '{"model": "a", "task": "t0", "passed": true}\n{\n'),
        ("z.csv", "task,passed\na,1,\n"),
        ("z.json", '[{"task": "a", "passed": true},'),
    ],
)
def test_what_is_refused_is_refused(folder: Path, kept: Path, name: str, text: str) -> None:
    old_text(folder / name, text)
    assert name in assert_resumes(folder, kept, 0)
    (folder / name).unlink()
    # What was counted before the refusal is there.
    assert counted(folder, kept) == (counted(folder)[0], 3)


def test_only_what_changed_is_read(folder: Path, kept: Path) -> None:
    def run(unread: int, **options: Any) -> None:
        assert counted(folder, kept, **options) == (counted(folder, **options)[0], unread)

    run(0)
    old_text(folder / "more.jsonl", lines(rows("b", range(4), range(5))))
    run(2)
    os.utime(folder / "more.jsonl", (1e9, 1e9 + 1))
    (folder / "one.jsonl").rename(folder / "first.jsonl")
    run(1)
    (folder / "more.jsonl").unlink()
    run(2)
    assert len(tables(kept)) == 2
    run(0, where="task <> 't3'")
    # What is decided when all is counted needs no reading.
    run(2, where="task <> 't3'", missing="drop", duplicates="keep", models=("a",))
    run(0, fields={"outcome": "attempt"}, threshold=(2.0,))
    # A file that changed a moment ago may do so again within the same tick of the clock.
    (folder / "first.jsonl").touch()
    run(0)
    run(1)


def test_a_change_that_hides_its_time(folder: Path, kept: Path) -> None:
    """As `rsync -t` or `cp -p` of an equally long file leave it."""
    assert_resumes(folder, kept, 3)
    path = folder / "one.jsonl"
    text = path.read_text()
    before = path.stat()
    old_text(path, text.replace("true ", "false").replace("false", "true ", 1))
    after = path.stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    assert path.read_text() != text
    assert counted(folder, kept) == (counted(folder)[0], 2)


def test_a_clock_that_stands_still(folder: Path, kept: Path, monkeypatch: Any) -> None:
    """The first and last bytes of a file tell where no time and no number does."""
    path = folder / "one.jsonl"
    path.write_text(path.read_text() + " " * 200_000 + "\n")
    state = path.stat()
    fixed = (state.st_mode, state.st_ino, 0, 1, 0, 0, state.st_size, 1, 1, 1)
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result(fixed))
    states = set()
    for place in (0, 300, -2):
        bytes_ = bytearray(path.read_bytes())
        bytes_[place] ^= 1
        path.write_bytes(bytes_)
        states.add(ledger._state(Source(str(path), "one", None, "none", origin=str(path))))
    assert len(states) == 3


def damages() -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    yield "cut off", lambda entry: entry[:-9]
    yield "empty", lambda entry: b""
    yield "a bit", lambda entry: entry[:-20] + bytes([entry[-20] ^ 1]) + entry[-19:]
    yield "its head", lambda entry: b"[]\n" + entry
    yield "another's", lambda entry: b"\xff\xfe" * 100


def test_a_damaged_entry_is_none(folder: Path, kept: Path) -> None:
    plain = assert_resumes(folder, kept, 3)
    for name, damage in damages():
        entry = tables(kept)[0]
        entry.write_bytes(damage(entry.read_bytes()))
        assert counted(folder, kept) == (plain, 2), name
        assert len(tables(kept)) == 3
    assert counted(folder, kept) == (plain, 3)


def test_files_of_harnesses_are_read_each_time(kept: Path) -> None:
    request = Request(resume=str(kept))
    for _ in range(2):
        counts = load(DATA / "tau_bench", request)
        assert (
            counts.columns["c"].tolist()
            == load(DATA / "tau_bench", Request()).columns["c"].tolist()
        )
        assert (
            "1 file read again on every run; counts of tables only are kept"
            in counts.facts.messages[0].text
        )


def test_what_cannot_be_resumed_is_refused(passk: Passk, tmp_path: Path, folder: Path) -> None:
    target = tmp_path / "x.csv"

    def refused(message: str, *words: object, stdin: bytes | None = None) -> None:
        done = passk("convert", *words, "--resume", stdin=stdin)
        assert (done.code, done.out, done.said) == (2, "", f"{message}\n")

    done = passk("convert", folder, "-o", target, "--resume")
    assert (done.code, done.out, done.sentences) == (2, "", 1)
    assert done.said.startswith("--resume: it is for counts")
    refused("--resume: it goes with a file; --output FILE names it", folder, "--counts")
    done = passk("convert", "-", "--counts", "-o", target, "--resume", stdin=LISTS.encode())
    assert (done.code, done.out, done.sentences) == (2, "", 1)
    assert done.said.startswith("--resume: <stdin> cannot be read again by a later run; write it")
    spark = passk("convert", folder, "--counts", "-o", target, "--engine", "spark", "--resume")
    assert (spark.code, spark.out, spark.sentences) == (2, "", 1)
    assert spark.said.startswith("--resume: spark keeps no counts")
    place = tmp_path / "x.csv.resume"
    place.write_text("")
    refused(f"{place}: cannot be written (File exists)", folder, "--counts", "-o", target)
    place.unlink()
    place.mkdir()
    with open(place / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        message = f"{place}: another run uses it; wait for its end"
        refused(message, folder, "--counts", "-o", target)
    with pytest.raises(passk_cli.ParameterError, match="DataFrame cannot be read again"):
        passk_cli.convert(pd.DataFrame(rows("m", range(2), range(2))), output=target, counts=True,
                          resume=True)  # fmt: skip
    assert not target.exists()


def test_a_pipe_by_its_name_is_refused(passk: Passk, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, LISTS.encode())
    os.close(writing)
    done = passk("convert", f"/dev/fd/{reading}", "--counts", "--resume", "-o", tmp_path / "x.csv")
    os.close(reading)
    assert done.code == 2
    assert "cannot be read again by a later run" in done.err


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A folder of files whose attempts go on from file to file, and what they are converted to."""
    folder = tmp_path_factory.mktemp("many")
    for i in range(FILES):
        old_text(folder / f"{i}.jsonl", lines(rows("m", range(300), range(i * 5, i * 5 + 5))))
    output = folder.parent / "plain.csv"
    passk_cli.convert(folder, output=output, counts=True)
    return folder, output.read_bytes()


RUN = """
import sys
import passk_cli, passk_cli.files.counting.resume, pandas
print(flush=True)
passk_cli.convert(sys.argv[1], output=sys.argv[2], counts=True, resume=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("moment", range(int(os.environ.get("PASSK_KILLS", "2"))))
def test_a_run_that_is_killed_goes_on(
    tmp_path: Path, many: tuple[Path, bytes], moment: int
) -> None:
    """Killed at any moment, it loses no file that was counted; PASSK_KILLS: at how many moments."""
    data, expected = many
    output, kept = tmp_path / "out.csv", tmp_path / "out.csv.resume"
    command = [sys.executable, "-c", RUN, str(data), str(output)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        # A moment after so many files, which no machine is too fast or too slow for.
        chance = random.Random(moment)
        files = chance.randrange(FILES + 1)
        while process.poll() is None and len(tables(kept)) < files:
            time.sleep(0.001)
        time.sleep(chance.random() / 50)
        process.send_signal(signal.SIGKILL)
    assert not output.exists() or output.read_bytes() == expected
    entries = len(tables(kept))
    print(f"killed after {entries} of {FILES} files")
    done = passk_cli.convert(data, output=output, counts=True, resume=True)
    assert output.read_bytes() == expected
    said = [
        each
        for each in done.messages
        if each["text"].startswith(f"{entries} of {FILES} files unchanged")
    ]
    assert bool(said) == (entries > 0)
    assert len(tables(kept)) == FILES
    assert {path.suffix for path in kept.iterdir()} == {".counts"}
