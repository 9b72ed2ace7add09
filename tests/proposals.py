"""What an error proposes, run as it is printed."""

from __future__ import annotations

import re
import shlex
from typing import Any

import passk_cli
from passk_cli import DataError
from tests.conftest import CommandResult, Passk


def commands(stderr: str) -> list[list[str]]:
    """The words of each command that stderr proposes, without `passk` and what writes a map."""
    lines = re.findall(r"(?m)^  (?:\| )?passk (?!.* --init )(.*)$", stderr)
    # The line is split as a shell splits it, including the comment behind a #.
    return [shlex.split(line, comments=True) for line in lines]


def run_printed(passk: Passk, stderr: str, *more: str) -> list[CommandResult]:
    """The results of the commands that stderr proposes. Each command must succeed.

    more : words that are added to the printed ones.
    """
    runs = [passk(*words, *more) for words in commands(stderr)]
    assert all(result.code == 0 for result in runs), [result.err for result in runs]
    return runs


def run_calls(error: DataError, **names: Any) -> list[Any]:
    """The results of the calls that an error proposes in its notes.

    names : values of the names in the calls.
    """
    lines = [line.strip() for line in getattr(error, "__notes__", [])]
    calls = [line for line in lines if ", init=" not in line]
    return [eval(call, {"passk_cli": passk_cli, **names}) for call in calls]
