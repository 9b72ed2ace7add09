"""Commands: one file per question, or a folder of a question and its view.

A command is a frozen dataclass: its fields are its options, its docstring is its help, `report` is
its answer.  Here lives what only one command knows; no files, no rendering, no drawing, no typer.
A command's module is imported for its help, which must cost nothing: what needs numpy is imported
inside functions, or lives in the command's folder.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_cli.commands.command import Command

# Name → the section of the help it stands in; its module here has the declaration.
COMMANDS = {
    "estimate": "Measure",
    "compare": "Measure",
    "gate": "Measure",
    "bootstrap": "Measure",
    "curve": "Understand",
    "tasks": "Understand",
    "order": "Understand",
    "diversity": "Understand",
    "temperature": "Understand",
    "extrapolate": "Understand",
    "plan": "Understand",
    "describe": "Files",
    "convert": "Files",
    "formats": "Files",
    "report": "Files",
}


def command_of(name: str) -> Command:
    """The declaration of a command; only its own module is imported."""
    declaration: Command = import_module(f"passk_cli.commands.{name}").COMMAND
    return declaration
