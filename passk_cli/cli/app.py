"""The typer app, --version, passk help, the one place that prints errors, and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from passk_cli.cli.failure import write_failure
from passk_cli.cli.process import leave_if_signalled
from passk_cli.commands import COMMANDS, command_of
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.limits import MORE_MEMORY
from passk_cli.version import __version__

HELP, MESSAGES = "help", "messages"
# Set while a shell asks for completions, of the scripts `passk` and `passk-cli`.
COMPLETING = ("_PASSK_COMPLETE", "_PASSK_CLI_COMPLETE")
# What typer raises for a command line that it does not understand, under its public name's base.
USAGE_ERROR: Any = typer.BadParameter.__base__
# An option that other commands have → what this one has for it.
_INSTEAD: dict[Any, str] = {("extrapolate", "-k"): "--to"}


class DeclaredCommand(TyperCommand):
    """A command whose help is made from its declaration."""

    def get_help(self, ctx: Any) -> str:
        """The text of --help."""
        from passk_cli.cli.manual import manual

        return manual(str(self.name))


class DeclaredGroup(TyperGroup):
    """All commands, listed by section."""

    def get_help(self, ctx: Any) -> str:
        """The text of --help."""
        from passk_cli.cli.manual import overview

        return overview()


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


def _topics(incomplete: str) -> list[str]:
    """Topics of `passk help` that begin with a text."""
    from passk_cli.commands.catalogue import messages

    return [topic for topic in (*COMMANDS, MESSAGES, *messages()) if topic.startswith(incomplete)]


def _help(
    topic: Annotated[
        str, typer.Argument(metavar="[COMMAND|MESSAGE|messages]", autocompletion=_topics)
    ] = "",
) -> None:
    """Everything about a command or a message."""
    from passk_cli.cli.manual import explained, listed, manual, overview

    if not topic:
        typer.echo(overview())
    elif topic in COMMANDS:
        typer.echo(manual(topic, full=True))
    else:
        from passk_cli.commands.catalogue import messages

        catalogue = messages()
        if topic == MESSAGES:
            typer.echo(listed(catalogue.values()))
        elif topic in catalogue:
            typer.echo(explained(catalogue[topic]))
        else:
            near = get_close_matches(topic, (*COMMANDS, *catalogue), 1)
            meant = f"did you mean {near[0]}?" if near else "`passk help` lists commands"
            raise ParameterError(
                f"no command or message is named {topic!r}; {meant}", name="unknown-name"
            )


def build(
    names: Iterable[str] = COMMANDS, *, listed: bool = False, completing: bool = False
) -> typer.Typer:
    """The app with these commands; importing and describing the others would only cost time.

    listed : commands are named with what they are for, and cannot be run.
    completing : whether a shell asks for completions.
    """
    app = typer.Typer(
        name="passk",
        cls=DeclaredGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names:
        if name == HELP:
            app.command(name)(_help)
        elif listed:
            app.command(name, cls=DeclaredCommand)(_named(name, completing=completing))
        else:
            from passk_cli.cli.declared import function

            app.command(name, cls=DeclaredCommand)(function(name, completing=completing))
    return app


def _named(name: str, *, completing: bool = False) -> Callable[[], None]:
    """A stand-in for a command in the list of all."""

    def stand() -> None:
        raise NotImplementedError(name)

    stand.__name__ = name
    # Shells show it beside the name; the help itself is made without it.
    stand.__doc__ = command_of(name).meaning[0] if completing else None
    return stand


def _needed(words: list[str]) -> typer.Typer:
    """The app as far as a command line that begins like this can need it."""
    completing = any(name in os.environ for name in COMPLETING)
    if completing:
        from passk_cli.cli.completion import words_so_far

        words = words_so_far()
    first = words[:1]
    if first in (["--version"], ["-V"]):
        return build(())
    if words[1:] in (["--help"], ["-h"]) and first[0] in COMMANDS:
        return build(first, listed=True, completing=completing)
    if first and (first[0] in COMMANDS or first[0] == HELP):
        return build(first, completing=completing)
    return build((*COMMANDS, HELP), listed=True, completing=completing)


def main() -> None:
    """Run the command line; every error the user can cause ends as one line and an exit code."""
    # Starting the threads of a linear algebra library costs more than its products here gain.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:]
    code: Any
    try:
        asked = words or ["--help"]
        code = _needed(asked)(asked, standalone_mode=False)
        # Help is no result: a script whose words are empty must not pass.
        code = code if words else 2
    except PasskError as error:
        leave_if_signalled()
        code = write_failure(error, words)
    except USAGE_ERROR as error:
        code = write_failure(_usage_error(error, words), words)
    except MemoryError:
        leave_if_signalled()
        code = write_failure(
            DataError("memory", "there is not enough", MORE_MEMORY, name="out-of-memory"), words
        )
    except Exception as error:
        leave_if_signalled()
        if os.environ.get("PASSK_DEBUG"):
            raise
        remedy = "please report it with the traceback that PASSK_DEBUG=1 shows"
        code = write_failure(
            PasskError(f"internal error: {type(error).__name__}: {error}; {remedy}"), words
        )
    sys.exit(code)


def _usage_error(error: Any, words: list[str]) -> ParameterError:
    """A command line that typer does not understand, as an error of ours."""
    instead = _INSTEAD.get((*words[:1], getattr(error, "option_name", None)))
    if instead:
        error.possibilities = [instead]
    problem = error.format_message().removesuffix(".")
    path = f"passk {words[0]}" if words[:1] and words[0] in COMMANDS else "passk"
    stop = "" if problem.endswith("?") else ";"
    problem = f"{problem[:1].lower()}{problem[1:]}{stop} see {path} --help"
    return ParameterError(problem, name="usage")
