"""The one runner of all commands: check, read, answer, write, exit."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passk_cli.cleanup import temporary_folder
from passk_cli.cli.output import Charting, Output, edge_sections
from passk_cli.cli.process import leave_if_signalled
from passk_cli.cli.progress import working
from passk_cli.commands.command import Command, command_of
from passk_cli.commands.message_filter import WantedMessages
from passk_cli.commands.question import answer
from passk_cli.errors import ParameterError, PasskError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import is_file_argument
from passk_cli.files.sources.remote import fetched_once
from passk_cli.option import checked, declared, filled
from passk_cli.outcomes.counts import Counts
from passk_cli.render import FORMATS
from passk_cli.study.notes import reading_notes
from passk_cli.suggested_fix import OptionValue, SuggestedFix
from passk_cli.text import cut, is_runner, printable, shield_from_runner, without_secrets


def run_command(declaration: Command, files: Sequence[str], given: Mapping[str, Any]) -> int:
    """Ask a command's question of these files, write the report where it was wanted; exit code.

    given : field → text, a list of texts or True, of the options of the command and of output.
    """
    with fetched_once():
        if given.get("init"):
            from passk_cli.cli.interview import asks, estimate, interview

            if asks(given):
                path = interview(files, given)
                again = command_of("estimate")
                return run_command(again, files, estimate(files, path)) if path else 130
        if not declaration.streams or given["output"] not in (None, "-"):
            return _run(declaration, files, given)
        # What streams is made in a file, and printed when it is complete.
        with temporary_folder("passk-") as folder:
            table = {"output": str(folder / "table"), "form": given["form"] or "csv"}
            code = _run(declaration, files, {**given, **table}, messages_only=True)
            sys.stdout.flush()
            _print_file(table["output"], table["form"])
        return code


def _print_file(path: str, form: str) -> None:
    """Print a table that was written into a file."""
    if form == "parquet" or not is_runner():
        with open(path, "rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer, 1 << 20)
    else:
        with open(path, encoding="utf-8", newline="") as lines:
            for line in lines:
                shield = shield_from_runner(line, "csv" if form == "csv" else "jsonl")
                sys.stdout.buffer.write(shield.encode())
    sys.stdout.buffer.flush()


def _run(
    declaration: Command, files: Sequence[str], given: Mapping[str, Any], *,
    messages_only: bool = False,
) -> int:  # fmt: skip
    """Run a command; messages_only : the report itself is not printed."""
    own, writable = declared(declaration.options_type), False
    edge = {name: value for name, value in given.items() if name not in own}
    if declaration.paged and edge["form"] == "html":
        there = any(Path(file).suffix == ".html" for file in edge["output"] or ())
        raise ParameterError(
            OptionValue("--format", "html"), "a page is written in a file", name="bad-option-value",
            settles=[SuggestedFix({"--format": None} | ({} if there else {"-o": "report.html"}),
                            "writes it")],
        )  # fmt: skip
    for each in (each for _, options in edge_sections(declaration) for each in options):
        if each.field == "form" and edge["form"] not in (None, *FORMATS):
            # Of the formats that this command has one may be meant.
            checked(each, edge["form"])
    output, charting = filled(Output, edge), filled(Charting, edge)
    wanted = filled(WantedMessages, given)
    named: dict[str, list[str]] = {"read": [], "written": []}
    for name, each in own.items():
        if each.option.file and given[name]:
            values = given[name] if isinstance(given[name], list) else [given[name]]
            named[each.option.file] += values

    def read(request: Request, source: Any = None) -> Counts:
        from passk_cli.files.load import load

        with working("reading"):
            chosen = files if source is None else source
            counts = load(chosen, request, tolerant=declaration.question.tolerant)
        if declaration.streams and wanted.error:
            # Its answer is written while it is made.
            wanted.require_none(reading_notes(counts), output.words)
        return counts

    try:
        inputs = [*files, *filter(is_file_argument, named["read"])]
        output.check(inputs, named["written"], charting, declaration)
        writable = True
        question, options = declaration.question.ask(
            given, files or None, requires_data=declaration.files == "needed"
        )
        if question.inputs:
            writable = False
            output.check([*inputs, *question.inputs], named["written"], charting, declaration)
            writable = True
        with working("computing"):
            report = answer(question, options, read, lambda each: wanted.judged(each, output.words))
    except PasskError as error:
        # It shows as well where a pipeline looks for a verdict: GitHub's log, JUnit's file.
        if declaration.judges:
            from passk_cli.cli.remedies import complete

            leave_if_signalled()
            complete(error, sys.argv[1:])
            output.write_failure(error, file=writable)
        raise
    if any(said.settles for said in report.messages):
        from passk_cli.cli.remedies import with_remedies

        messages = tuple(with_remedies(said, sys.argv[1:]) for said in report.messages)
        report = replace(report, messages=messages)
    if report.page is not None:
        command = shlex.join(["passk", *map(without_secrets, sys.argv[1:])])
        report = replace(report, page=replace(report.page, command=command))
    if messages_only:
        output.write_messages(report)
    else:
        output.write(report, charting)
    asked = output.output or output.quiet or output.form not in (None, "table", "plain")
    if report.page is not None and not asked:
        from passk_cli.cli.remedies import commands

        # The page is what the command is for.
        paged = SuggestedFix({"-o": "report.html", "--format": None})
        (line,) = commands([paged], sys.argv[1:])
        print(f"passk: no page is written\n  {cut(printable(line))}  # writes it", file=sys.stderr)
    return report.exit_code
