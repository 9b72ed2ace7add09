"""passk describe: how the files were read, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass

from passk_cli.commands.command import Command
from passk_cli.files.request import Request


@dataclass(frozen=True)
class DescribeOptions:
    """How the files are read, before anything is computed.

    The format of each file, the column behind each role, models, tasks, attempts, missing outcomes,
    duplicate attempts, and the largest k that the data supports.

    Example: passk describe sample_data/agents.jsonl

    Example: passk describe sample_data/cruxeval.jsonl.gz --by temperature
    """


COMMAND = Command(DescribeOptions, (Request,), view="passk_cli.commands.describe.view:Describe")
