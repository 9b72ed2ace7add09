"""Declarations → typer: the functions behind the commands, made from what each command declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from passk_cli.cli.output import edge_options
from passk_cli.commands import command_of
from passk_cli.errors import ParameterError
from passk_cli.option import DATA, Option, base_type, repeatable


def function(name: str, *, completing: bool = False) -> Callable[..., None]:
    """The typer function of a command: its options, the shared ones, files, charts and output.

    completing : whether a shell asks what a value can be, of which typer is told only then.
    """
    declaration = command_of(name)
    options = [*declaration.options(), *edge_options(declaration)]
    parameters = [parameter(*option, completing=completing) for option in options]
    if declaration.files != "none":
        needed = declaration.files == "needed"
        argument = typer.Argument(metavar="FILE..." if needed else "[FILE...]", show_default=False)
        annotation = Annotated[list[str], argument]
        files = inspect.Parameter("files", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
        parameters.insert(0, files if needed else files.replace(default=[]))

    def run(files: list[str] | None = None, **given: Any) -> None:
        from passk_cli.cli.run import run_command

        once = {field: _once(option, kind, given[field]) for field, option, kind, _ in options}
        if code := run_command(declaration, files or [], once):
            raise typer.Exit(code)

    run.__name__, run.__doc__ = name, declaration.meaning[0]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def parameter(
    field: str, option: Option, kind: Any, default: Any, *, completing: bool = False
) -> inspect.Parameter:
    """One option as typer has it: a flag, or a text for each time it is given."""
    flag = base_type(kind) is bool
    taken: Any = bool if flag else list[str]
    given: Any = default if flag else []
    completion = None
    if completing:
        from passk_cli.cli.completion import completion_of

        completion = completion_of(option)
    info = typer.Option(
        *option.flags.split(),
        metavar=option.takes if isinstance(option.choices, tuple) else option.metavar or None,
        help=option.help,
        autocompletion=completion,
    )
    return inspect.Parameter(
        field, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=Annotated[taken, info]
    )


def _once(option: Option, kind: Any, given: Any) -> Any:
    """The one text of an option that takes one, None where it was not given; others as they are.

    Errors: ParameterError for such an option that was given again.
    """
    if isinstance(given, bool) or repeatable(option, kind) or (kind is DATA and len(given) > 1):
        return given
    if len(given) > 1:
        values = ", ".join(given)
        raise ParameterError(f"{option.name} {values}: it takes one value; give it once")
    return next(iter(given), None)
