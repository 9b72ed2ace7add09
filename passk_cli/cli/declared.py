"""Declarations → typer: the functions behind the commands, made from what each command declares."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from passk_cli.cli.output import Charting, Output
from passk_cli.commands import command_of
from passk_cli.commands.command import Command
from passk_cli.option import Option

_FILES = "Paths, globs, directories, label=path, or - for stdin."
_PLAIN = (bool, int, float, str)


def function(name: str) -> Callable[..., None]:
    """The typer function of a command: its options, the shared ones, files, charts and output."""
    declaration = command_of(name)
    parameters = [_files(declaration), *map(_parameter, *zip(*declaration.options(), strict=True))]
    parts = [Output, Charting] if declaration.charts else [Output]
    parameters += [one for part in parts for one in _of_group(part)]

    def run(**given: Any) -> None:
        from passk_cli.cli.run import run_command

        output, charting = (_taken(part, given) for part in (Output, Charting))
        files = given.pop("files")
        known = {field: value for field, value in given.items() if value not in (None, [])}
        run_command(declaration, files, known, output, charting)

    run.__name__, run.__doc__ = name, inspect.getdoc(declaration.question)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _files(declaration: Command) -> inspect.Parameter:
    needed = declaration.files == "needed"
    metavar = "FILE..." if needed else "[FILE...]"
    argument = typer.Argument(metavar=metavar, help=_FILES, show_default=False)
    default: Any = inspect.Parameter.empty if needed else []
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(
        "files", kind, default=default, annotation=Annotated[list[str], argument]
    )


def _parameter(field: str, option: Option, kind: Any, default: Any) -> inspect.Parameter:
    """One option as typer has it: text where we parse, a list where it may come several times."""
    plain = default if type(default) in _PLAIN and option.parse is None else None
    shown = plain is not None and plain is not False and plain != ""
    taken: Any = _typer_type(kind)
    if taken == list[str]:
        plain = []
    metavar = option.metavar or "|".join(option.choices) or None
    info = typer.Option(
        *option.flags.split(), metavar=metavar, help=option.help, show_default=shown
    )
    return inspect.Parameter(
        field, inspect.Parameter.KEYWORD_ONLY, default=plain, annotation=Annotated[taken, info]
    )


def _typer_type(kind: Any) -> Any:
    """bool, int, float; a list for what holds several; text for the rest."""
    options = [one for one in typing.get_args(kind) if one is not type(None)] or [kind]
    one = options[0] if typing.get_origin(kind) is not tuple else kind
    if one in (bool, int, float):
        return one if one is kind else one | None
    if typing.get_origin(one) in (tuple, list) or "Mapping" in str(typing.get_origin(one)):
        pair = typing.get_args(one)[-1:] != (Ellipsis,) and typing.get_origin(one) is tuple
        return (str | None) if pair else list[str]
    return str | None


def _taken(group: Any, given: dict[str, Any]) -> Any:
    """A group that belongs to the command line alone, its values taken out of what was given."""
    mark = group.__name__.lower() + "_"
    values = {name: given.pop(name) for name in list(given) if name.startswith(mark)}
    return group(**{name.removeprefix(mark): value for name, value in values.items()})


def _of_group(group: type) -> list[inspect.Parameter]:
    """The parameters of a group that belongs to the command line alone, marked with its name."""
    import dataclasses

    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f"{group.__name__.lower()}_{field.name}",
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
