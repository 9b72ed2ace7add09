"""Option groups: a command's parameter annotated with one becomes the options declared in it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from passk_cli.cli.declared import parameter
from passk_cli.option import declared, filled


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """The annotations of an option group, evaluated once for all commands that share it."""
    return get_type_hints(kind, include_extras=True)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A typer command whose parameters are option groups, as one with all their options.

    Every parameter must be annotated with a dataclass whose fields are typer options; the
    command is called with one filled-in instance per parameter.
    """
    groups: dict[str, Any] = {
        name: hint
        for name, hint in get_type_hints(command).items()
        if dataclasses.is_dataclass(hint)
    }
    parameters: list[inspect.Parameter] = []
    owner: dict[str, str] = {}
    for group, kind in groups.items():
        hints = _hints(kind)
        for field in dataclasses.fields(kind):
            owner[field.name] = group
            default: Any = inspect.Parameter.empty
            if field.default is not dataclasses.MISSING:
                default = field.default
            elif field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            if field.name in declared(kind):
                parameters.append(parameter(field.name, *declared(kind)[field.name], default))
                continue
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=hints[field.name],
                )
            )

    @functools.wraps(command)
    def call(**options: Any) -> None:
        arguments = {
            group: (filled if declared(kind) else _made)(
                kind, {name: options[name] for name, of in owner.items() if of == group}
            )
            for group, kind in groups.items()
        }
        command(**arguments)

    def _made(kind: type, given: dict[str, Any]) -> Any:
        return kind(**given)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    del call.__wrapped__
    return call
