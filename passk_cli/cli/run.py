"""The one runner of all commands: check, read, answer, write, exit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from passk_cli.cli.output import Charting, Output
from passk_cli.cli.progress import working
from passk_cli.commands.command import Command, answer

if TYPE_CHECKING:
    from passk_cli.files.request import Request
    from passk_cli.outcomes.counts import Counts


def run_command(
    declaration: Command,
    files: Sequence[str],
    given: Mapping[str, Any],
    output: Output,
    charting: Charting,
) -> None:
    """Ask a command's question of these files, and write the report where it was wanted.

    given : field → text, for the options that were set.
    """
    output.check(files, charting=charting)
    once = any(file == "-" or file.endswith("=-") for file in files)
    question, asked = declaration.ask(given, data=bool(files), once=once)

    def read(request: Request) -> Counts:
        from passk_cli.files.reading import load

        with working("reading"):
            return load(list(files), request, tolerant=question.tolerant)

    report = answer(question, asked, read)
    output.write(report, charting)
    if any(check.failing for check in report.checks):
        raise typer.Exit(1)
