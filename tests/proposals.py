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
    # As a shell reads the line, with what it does behind a #.
    return [shlex.split(line, comments=True) for line in lines]


def run_printed(passk: Passk, stderr: str, *more: str) -> list[CommandResult]:
    """The outcome of each command that stderr proposes; every one has to be read.

    more : words after those that are printed.
    """
    runs = [passk(*words, *more) for words in commands(stderr)]
    assert all(result.code == 0 for result in runs), [result.err for result in runs]
    return runs


def run_calls(error: DataError, **names: Any) -> list[Any]:
    """The results of the calls that an error proposes in its notes.

    names : what stands in them.
    """
    lines = [line.strip() for line in getattr(error, "__notes__", [])]
    calls = [line for line in lines if ", init=" not in line]
    return [eval(call, {"passk_cli": passk_cli, **names}) for call in calls]
