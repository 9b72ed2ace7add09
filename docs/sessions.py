"""The sessions that README and docs show: found in a page, run, and written back as they ran.

A page is a story: its blocks run from top to bottom in one working folder, in which `sample_data`
and `docs/gallery` are and to which a block with a title is written.

    ```json title="nested.json"      a file of that name
    ```console                       `$ command`, continued after a backslash, and its output
    ```pycon                         `>>> expression` and its output

`passk` runs inside this process, for speed; what else is on the line goes through a shell.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from passk_cli.__main__ import main

ROOT = Path(__file__).parent.parent
_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FULL_PRECISION = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?")
_EXIT = '; echo "exit $?"'


@dataclass(frozen=True)
class Session:
    """One command or Python expression of a page, and what stands below it.

    kind : "console" or "pycon".
    shown : the lines with the prompt, as they stand.  output : the lines below, without the last
        line's end.
    """

    kind: str
    shown: str
    output: str


def pages() -> list[Path]:
    """README and every page of the docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def with_numbers(text: str, number: str) -> str:
    """A text with all numbers at full precision replaced."""
    return _FULL_PRECISION.sub(number, text)


def alike(one: str, other: str) -> bool:
    """Whether two texts are equal, but for the last digits of numbers at full precision: processors
    add up in different orders."""
    if with_numbers(one, "#") != with_numbers(other, "#"):
        return False
    pairs = zip(*(map(float, _FULL_PRECISION.findall(text)) for text in (one, other)), strict=True)
    return all(math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12) for first, second in pairs)


def renewed(text: str) -> tuple[str, list[tuple[Session, str]]]:
    """A page with the output of its sessions as it is now, and every session with its output."""
    done: list[tuple[Session, str]] = []
    names: dict[str, object] = {}

    def block(match: re.Match[str]) -> str:
        kind, title, body = match.groups()
        if title and kind not in ("console", "pycon"):
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(body)
            return match[0]
        if kind not in ("console", "pycon") or body[:2] not in ("$ ", ">>"):
            return match[0]
        shown = []
        for session in sessions(kind, body):
            run = _console if kind == "console" else _python
            output = run(session, names)
            done.append((session, output))
            shown.append("\n".join(filter(None, (session.shown, output))))
        return match[0].replace(body, "\n".join(shown) + "\n")

    with _working_folder():
        return _FENCE.sub(block, text), done


def sessions(kind: str, body: str) -> Iterator[Session]:
    """The sessions of a block."""
    prompt = r"^\$ (?:.*\\\n)*.*$" if kind == "console" else r"^>>> .*$(?:\n\.\.\. ?.*$)*"
    starts = list(re.finditer(prompt, body, re.MULTILINE))
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        end = following.start() if following else len(body)
        yield Session(kind, start[0], body[start.end() : end].strip("\n"))


def answer(command: str) -> str:
    """What a `passk` command prints on stdout, run beside the sample data; it has to succeed."""
    screen = io.BytesIO()
    with _working_folder():
        out, code = _passk(shlex.split(command)[1:], b"", screen, last=False)
    if code:
        raise ValueError(f"{command}: exit {code}: {screen.getvalue().decode()}")
    return out.decode()


@contextlib.contextmanager
def _working_folder() -> Iterator[None]:
    """A folder of its own for a page's files, with the sample data and the gallery's in it."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "sample_data", Path(folder, "sample_data"))
        Path(folder, "docs").mkdir()
        os.symlink(ROOT / "docs" / "gallery", Path(folder, "docs", "gallery"))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _console(session: Session, names: dict[str, object]) -> str:
    command = session.shown.removeprefix("$ ").replace("\\\n", " ")
    command, exit_shown, _ = command.partition(_EXIT)
    screen, piped, code = io.BytesIO(), b"", 0
    parts = _pipeline(command)
    for part in parts:
        words = shlex.split(part)
        if words[0] == "passk":
            piped, code = _passk(words[1:], piped, screen, last=part is parts[-1])
            if code and not exit_shown:
                seen = screen.getvalue().decode()
                raise ValueError(f"{session.shown}: exit {code}, which is not shown: {seen}")
        else:
            done = subprocess.run(part, shell=True, input=piped, capture_output=True, check=False)
            screen.write(done.stderr)
            piped, code = done.stdout, done.returncode
    screen.write(piped)
    if exit_shown:
        screen.write(f"exit {code}\n".encode())
    return screen.getvalue().decode().rstrip("\n")


def _pipeline(command: str) -> list[str]:
    """The parts of a command line between its pipes, outside of quotes."""
    parts, quote = [""], ""
    for sign in command:
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        if sign == "|" and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _passk(
    arguments: list[str], piped: bytes, screen: io.BytesIO, *, last: bool
) -> tuple[bytes, int]:
    """Run the command line; what goes on through the pipe, and the exit code.

    screen : what is seen: stderr, and stdout after it where it is the last of its pipe, so that
        both stand in the order in which they were written.
    """
    out = screen if last else io.BytesIO()
    streams = [io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in (out, screen)]
    console = {"stdout": streams[0], "stderr": streams[1]}
    stdin = io.TextIOWrapper(io.BytesIO(piped))
    with mock.patch.multiple(sys, argv=["passk", *arguments], stdin=stdin, **console):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    for stream in streams:
        stream.detach()
    return (b"" if last else out.getvalue()), code


def _python(session: Session, names: dict[str, object]) -> str:
    """What an interpreter prints for an expression; of an error, its last line."""
    (example,) = doctest.DocTestParser().get_examples(session.shown + "\n")
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        try:
            exec(compile(example.source, "<page>", "single"), names)
        except Exception:
            screen.write(traceback.format_exc().splitlines()[-1])
    return screen.getvalue().rstrip("\n")
