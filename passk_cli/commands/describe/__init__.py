"""The command `passk describe`, which shows how passk reads your files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option


@dataclass(frozen=True)
class DescribeOptions:
    """Show how files are read, before anything is computed.

    passk shows the format of each file, the column of each role, the number of models, tasks,
    attempts, missing outcomes and duplicate attempts, and the largest k that the data supports.

    # check which columns passk uses, and how it counts
    passk describe sample_data/agents.jsonl

    # check the number of attempts at each temperature
    passk describe sample_data/cruxeval.jsonl.gz --by temperature

    # write a map of the columns that you can correct
    passk describe sample_data/tau_airline.csv --init passk.toml
    """

    # fmt: off
    init: Annotated[str | None, Option(
        "--init", "FILE", "Write a map of the columns and ask about uncertain columns.",
        file_use="written",
        detail="A map defines the meaning of columns. passk reads passk.toml next to the data, or"
        " the file that you name with --map. If passk cannot ask you, it writes a draft in which"
        " the uncertain columns are commented out. passk never overwrites a file.")] = None
    no_input: Annotated[bool, Option(
        "--no-input", help="Let --init write a draft without asking questions.")] = False
    # fmt: on


COMMAND = Command(
    DescribeOptions, (Request,), runner_path="passk_cli.commands.describe.view:DescribeRunner"
)
