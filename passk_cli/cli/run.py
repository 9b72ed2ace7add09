"""Runs a command: checks its options, reads the data, computes the report and writes it."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passk_cli.cleanup import temporary_folder
from passk_cli.cli.output import ChartOptions, OutputOptions, output_option_groups
from passk_cli.cli.process import exit_if_signalled
from passk_cli.cli.progress import show_activity
from passk_cli.commands.command import Command, load_command
from passk_cli.commands.message_filter import MessageOptions
from passk_cli.commands.runner import command_report
from passk_cli.errors import ParameterError, PasskError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import is_existing_data_argument
from passk_cli.files.sources.remote import share_downloads
from passk_cli.option import fill_options, options_by_field, parse_option_value
from passk_cli.outcomes.counts import Counts
from passk_cli.render import WRITER_BY_FORMAT
from passk_cli.study.data_notes import reading_notes
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import (
    cut_long_words,
    is_github_runner,
    printable,
    shield_from_runner,
    without_url_secrets,
)


def run_command(declaration: Command, files: Sequence[str], values: Mapping[str, Any]) -> int:
    """Run a command on files, write its report, and return the exit code.

    values : maps the field name of each option to the option's text or list of texts, or to True
        for a flag that is set.
    """
    with share_downloads():
        if values.get("init"):
            from passk_cli.cli.interview import (
                ask_and_write_map,
                can_ask,
                switch_argv_to_estimate,
            )

            if can_ask(values):
                path = ask_and_write_map(files, values)
                estimate_command = load_command("estimate")
                return (
                    run_command(estimate_command, files, switch_argv_to_estimate(files, path))
                    if path
                    else 130
                )
        if not declaration.writes_table_to_output or values["output"] not in (None, "-"):
            return _run_and_write_report(declaration, files, values)
        # passk first writes a streamed table to a temporary file, so that it prints no part of the
        # table if an error occurs.
        with temporary_folder("passk-") as folder:
            table = {"output": str(folder / "table"), "form": values["form"] or "csv"}
            code = _run_and_write_report(
                declaration, files, {**values, **table}, messages_only=True
            )
            sys.stdout.flush()
            _print_table_file(table["output"], table["form"])
        return code


def _print_table_file(path: str, form: str) -> None:
    if form == "parquet" or not is_github_runner():
        with open(path, "rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer, 1 << 20)
    else:
        with open(path, encoding="utf-8", newline="") as lines:
            for line in lines:
                shield = shield_from_runner(line, "csv" if form == "csv" else "jsonl")
                sys.stdout.buffer.write(shield.encode())
    sys.stdout.buffer.flush()


def _run_and_write_report(
    declaration: Command, files: Sequence[str], values: Mapping[str, Any], *,
    messages_only: bool = False,
) -> int:  # fmt: skip
    """Run a command, write its report, and return the exit code.

    messages_only : whether passk prints only messages and no report.
    """
    own_options, writable = options_by_field(declaration.options_type), False
    edge = {name: value for name, value in values.items() if name not in own_options}
    if declaration.writes_page and edge["form"] == "html":
        has_page = any(Path(file).suffix == ".html" for file in edge["output"] or ())
        raise ParameterError(
            OptionWithValue("--format", "html"), "an HTML page must be written to a file",
            name="bad-option-value",
            settles=[SuggestedFix({"--format": None} | ({} if has_page else {"-o": "report.html"}),
                            "writes it")],
        )  # fmt: skip
    for option in (
        option for _, options in output_option_groups(declaration) for option in options
    ):
        if option.field == "form" and edge["form"] not in (None, *WRITER_BY_FORMAT):
            parse_option_value(option, edge["form"])
    output, charting = fill_options(OutputOptions, edge), fill_options(ChartOptions, edge)
    message_filter = fill_options(MessageOptions, values)
    named_files: dict[str, list[str]] = {"read": [], "written": []}
    for name, option in own_options.items():
        if option.option.file_use and values[name]:
            value = values[name]
            named_files[option.option.file_use] += value if isinstance(value, list) else [value]

    def read(request: Request, source: Any = None) -> Counts:
        from passk_cli.files.load import load

        with show_activity("reading"):
            data = files if source is None else source
            counts = load(data, request, tolerant=declaration.runner_class.tolerates_invalid_data)
        if declaration.writes_table_to_output and message_filter.error:
            # A streaming command writes rows while it computes, so passk checks --error before the
            # first row.
            message_filter.raise_errors(reading_notes(counts), output.message_text)
        return counts

    try:
        inputs = [*files, *filter(is_existing_data_argument, named_files["read"])]
        output.check(inputs, named_files["written"], charting, declaration)
        writable = True
        question, options = declaration.runner_class.parse_options(
            values, files or None, requires_data=declaration.file_requirement == "needed"
        )
        if question.additional_input_files:
            writable = False
            output.check(
                [*inputs, *question.additional_input_files],
                named_files["written"],
                charting,
                declaration,
            )
            writable = True
        with show_activity("computing"):
            report = command_report(
                question,
                options,
                read,
                lambda message: message_filter.filter_report(message, output.message_text),
            )
    except PasskError as error:
        # A CI pipeline expects a verdict in the output files, so an error is also written to the
        # output files.
        if declaration.gives_verdict:
            from passk_cli.cli.fix_commands import add_commands_to_error

            exit_if_signalled()
            add_commands_to_error(error, sys.argv[1:])
            output.write_gate_error(error, file=writable)
        raise
    if any(message.fixes for message in report.messages):
        from passk_cli.cli.fix_commands import message_with_fix_commands

        messages = tuple(
            message_with_fix_commands(message, sys.argv[1:]) for message in report.messages
        )
        report = replace(report, messages=messages)
    if report.page is not None:
        command = shlex.join(["passk", *map(without_url_secrets, sys.argv[1:])])
        report = replace(report, page=replace(report.page, command=command))
    if messages_only:
        output.write_messages(report)
    else:
        output.write(report, charting)
    has_output = output.output or output.quiet or output.form not in (None, "table", "plain")
    if report.page is not None and not has_output:
        from passk_cli.cli.fix_commands import commands_for_fixes

        # Without -o, passk does not print the page. Instead of the page, passk prints a command
        # that writes the page to a file.
        paged = SuggestedFix({"-o": "report.html", "--format": None})
        (line,) = commands_for_fixes([paged], sys.argv[1:])
        print(
            f"passk: no page is written\n  {cut_long_words(printable(line))}  # writes it",
            file=sys.stderr,
        )
    return report.exit_code
