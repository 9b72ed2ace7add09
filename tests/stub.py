"""The stub of the package, for type checkers and editors: every command as the function that its
declaration makes of it."""

from __future__ import annotations

import inspect
import re

import passk_cli
from passk_cli.commands import COMMANDS
from tests.conftest import ROOT

STUB = ROOT / "passk_cli" / "__init__.pyi"
_HEAD = '''"""Made by tests/stub.py: the functions are those of passk_cli.api."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal
'''


def text() -> str:
    """The stub as it should be."""
    names = {
        name: module
        for name, module in passk_cli._MODULE_BY_PUBLIC_NAME.items()
        if name not in COMMANDS
    }
    imports = [f"from passk_cli.{module} import {name} as {name}" for name, module in names.items()]
    listed = ["__all__ = [", *(f'    "{name}",' for name in passk_cli.__all__), "]"]
    return "\n".join(
        [_HEAD, *sorted(imports), "", "__version__: str", *listed, *map(_function, COMMANDS), ""]
    )


def _function(name: str) -> str:
    """One function: a line for each parameter, and what it answers."""
    function = getattr(passk_cli, name)
    lines = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {parameter.name}: {_type(parameter.annotation)}{default},")
    meaning = (inspect.getdoc(function) or "").split("\n\n")[0]
    answer = inspect.signature(function).return_annotation.__name__
    return "\n".join(["", f"def {name}(", *lines, f") -> {answer}:", f'    """{meaning}"""'])


def _type(annotation: object) -> str:
    """A type as one writes it, whatever version of Python shows it."""
    shown = re.sub(r"\b(collections\.abc|typing)\.", "", inspect.formatannotation(annotation))
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", shown)
