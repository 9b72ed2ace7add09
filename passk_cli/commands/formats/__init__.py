"""passk formats: which files are read, what passes in them, and where that was learnt."""

from __future__ import annotations

from dataclasses import dataclass

from passk_cli.commands.command import Command


@dataclass(frozen=True)
class FormatsOptions:
    """The formats and harnesses that are recognised.

    For each format: what passes in it, and the source of its layout. A file is recognised by its
    content, whatever its name.

    Example: passk formats

    Example: passk formats -f csv
    """


COMMAND = Command(
    FormatsOptions, (), without=("digits", "percent", "no_signature"), files="none",
    view="passk_cli.commands.formats.view:Formats",
)  # fmt: skip
