"""A small file of each format, from examples.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Example:
    """A file of a format; examples.toml says what each field is."""

    paths: Sequence[str]
    text: str
    arguments: str = ""
    instead: str = ""

    @property
    def use(self) -> str:
        """The command that reads it, or what to do instead."""
        return self.instead or f"passk estimate {self.arguments or self.paths[0]}"


_TABLES = tomllib.loads(
    files("passk_cli.files.formats").joinpath("examples.toml").read_text(encoding="utf-8")
)
EXAMPLES = {name: Example(**table) for name, table in _TABLES.items()}
