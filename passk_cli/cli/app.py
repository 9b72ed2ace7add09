"""The typer app, --version, passk help, the one place that prints errors, and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from passk_cli.cli.completion import completing, words_so_far
from passk_cli.cli.failure import EXIT_INTERNAL, USAGE, write_data, write_failure
from passk_cli.cli.process import leave_if_signalled
from passk_cli.commands import COMMANDS
from passk_cli.errors import ParameterError, PasskError
from passk_cli.text import printable
from passk_cli.version import __version__

HELP = "help"
# What typer raises for a command line that it does not understand, under its public name's base.
USAGE_ERROR: Any = typer.BadParameter.__base__


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"passk {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    pass


def _help(command: Annotated[str, typer.Argument(metavar="[COMMAND]")] = "") -> None:
    """Every option of a command in full."""
    from passk_cli.cli.manual import manual, overview

    if command and command not in COMMANDS:
        raise ParameterError(f"no command {command!r}; there are {', '.join(COMMANDS)}")
    typer.echo(manual(command, full=True) if command else overview())


def build(names: Iterable[str] = COMMANDS, *, listed: bool = False) -> typer.Typer:
    """The app with these commands; importing and describing the others would only cost time.

    listed : commands are named with what they are for, and cannot be run.
    """
    from passk_cli.cli.declared import DeclaredCommand, DeclaredGroup, function, named

    app = typer.Typer(
        name="passk",
        cls=DeclaredGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    asked = completing()
    for name in names:
        if name == HELP:
            app.command(name)(_help)
        else:
            command = (named if listed else function)(name, completing=asked)
            app.command(name, cls=DeclaredCommand)(command)
    return app


def _needed(words: list[str]) -> typer.Typer:
    """The app as far as a command line that begins like this can need it."""
    first = words[:1]
    if first in (["--version"], ["-V"]):
        return build(())
    if first and (first[0] in COMMANDS or first[0] == HELP):
        return build(first)
    return build((*COMMANDS, HELP), listed=True)


def main() -> None:
    """Run the command line; every error the user can cause ends as one line and an exit code."""
    # Starting the threads of a linear algebra library costs more than its products here gain.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:]
    code: Any
    try:
        app = _needed(words_so_far() if completing() else words)
        code = app(standalone_mode=False)
    except PasskError as error:
        leave_if_signalled()
        code = write_failure(error, words)
    except USAGE_ERROR as error:
        code = error.exit_code
        error.show()
        write_data(USAGE, ("", error.format_message(), ""), code, words)
    except Exception as error:
        leave_if_signalled()
        if os.environ.get("PASSK_DEBUG"):
            raise
        code = EXIT_INTERNAL
        problem = f"{type(error).__name__}: {printable(str(error))}"
        remedy = "please report it with the traceback that PASSK_DEBUG=1 shows"
        print(f"passk: internal error: {problem}; {remedy}", file=sys.stderr)
        write_data("internal", ("", problem, remedy), code, words)
    sys.exit(code)
