"""The one runner of all commands: check, read, answer, write, exit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passk_cli.cli.output import Charting, Output
from passk_cli.cli.progress import working
from passk_cli.commands.command import Command, answer
from passk_cli.option import filled

if TYPE_CHECKING:
    from passk_cli.files.request import Request
    from passk_cli.outcomes.counts import Counts


def run_command(declaration: Command, files: Sequence[str], given: Mapping[str, Any]) -> int:
    """Ask a command's question of these files, write the report where it was wanted; exit code.

    given : field → text, a list of texts or True, of the options of the command and of output.
    """
    output, charting = filled(Output, given), filled(Charting, given)
    once = any(file == "-" or file.endswith("=-") for file in files)
    question, asked = declaration.ask(given, data=bool(files), once=once, files=files)
    output.check(files, question.exports, charting)

    def read(request: Request) -> Counts:
        from passk_cli.files.reading import load

        with working("reading"):
            return load(list(files), request, tolerant=question.tolerant)

    report = answer(question, asked, read)
    output.write(report, charting)
    return int(any(check.failing for check in report.checks))
