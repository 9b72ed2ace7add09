"""passk describe: how the files were read, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option


@dataclass(frozen=True)
class DescribeOptions:
    """Show how files are read, before anything is computed.

    The format of each file, the column behind each role, models, tasks, attempts, missing outcomes,
    duplicate attempts, and the largest k that the data supports.

    # check which columns passk uses, and how it counts
    passk describe sample_data/agents.jsonl

    # check the number of attempts at each temperature
    passk describe sample_data/cruxeval.jsonl.gz --by temperature

    # write a map of the columns that you can correct
    passk describe sample_data/tau_airline.csv --init passk.toml
    """

    # fmt: off
    init: Annotated[str | None, Option(
        "--init", "FILE", "Write a map of these files, and ask what is not certain.",
        file="written",
        detail="A map defines what columns mean: passk reads passk.toml next to the data, or --map."
        " In a pipe it is a draft: what is certain is written, and candidates are comments. A file"
        " is never overwritten.")] = None
    no_input: Annotated[bool, Option(
        "--no-input", help="With --init: write the draft and ask nothing.")] = False
    # fmt: on


COMMAND = Command(
    DescribeOptions, (Request,), view="passk_cli.commands.describe.view:DescribeQuestion"
)
