"""The command `passk formats`, which lists the file formats that passk recognises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.option import Option


@dataclass(frozen=True)
class FormatsOptions:
    """List the formats that passk recognises.

    For each format, the output shows which outcomes pass, the documentation of the layout, the path
    of the files, a small example, and the command that reads the example. passk recognises a file
    by its content, not by its name.

    # list all formats
    passk formats

    # show an example of one format and how it is read
    passk formats swe-bench

    # show how results of the Inspect framework are read
    passk formats inspect
    """

    name: Annotated[str | None, Option(
        "NAME", help="Show one format with an example.",
        completion_function_name="passk_cli.commands.formats.view:complete_format_names",
    )] = None  # fmt: skip


COMMAND = Command(
    FormatsOptions, (), excluded_options=("digits", "percent", "no_signature"),
    file_requirement="none",
    runner_path="passk_cli.commands.formats.view:FormatsRunner")  # fmt: skip
