"""The typer app of the `passk` command, which also prints errors and sets exit codes."""

from __future__ import annotations

import inspect
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import dropwhile
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from passk_cli.cli.completion import completion_function, words_being_completed
from passk_cli.cli.error_printing import print_error_and_return_exit_code
from passk_cli.cli.process import exit_if_signalled
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command, option_suggestion
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.limits import LOW_MEMORY_ADVICE
from passk_cli.option import ANY_DATA_OPTION_TYPE, Option
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.suggestions import did_you_mean, nearest_names
from passk_cli.version import __version__

HELP, MESSAGES, DEMO = "help", "messages", "demo"
# A shell sets an environment variable in COMPLETION_VARIABLES to request completions for `passk` or
# `passk-cli`.
COMPLETION_VARIABLES = ("_PASSK_COMPLETE", "_PASSK_CLI_COMPLETE")
_TYPER_SETTINGS: Any = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# typer raises TYPER_USAGE_ERROR for a wrong command line, but exports only its subclass
# BadParameter.
TYPER_USAGE_ERROR: Any = typer.BadParameter.__base__


class CommandWithPasskHelp(TyperCommand):
    """A typer command that prints the help text of passk."""

    def get_help(self, ctx: Any) -> str:
        """The help text of the command."""
        from passk_cli.cli.help_text import command_help
        from passk_cli.cli.overview import overview

        if self.name == DEMO:
            from passk_cli.cli.demo import HELP_TEXT

            return HELP_TEXT
        return overview() if self.name == HELP else command_help(str(self.name))


class GroupWithPasskHelp(TyperGroup):
    """The typer group of all passk commands, which prints the help text of passk."""

    def get_help(self, ctx: Any) -> str:
        """The text of `passk --help`."""
        from passk_cli.cli.overview import overview

        return overview()


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"passk {__version__}")
        raise typer.Exit


def _topics_with_prefix(incomplete: str) -> list[str]:
    from passk_cli.cli.topics import TOPICS
    from passk_cli.commands.diagnostic_lookup import all_messages

    topics = (*COMMANDS, DEMO, MESSAGES, *TOPICS, *all_messages())
    return [topic for topic in topics if topic.startswith(incomplete)]


def _print_help(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]", autocompletion=_topics_with_prefix)
    ] = None,
) -> None:
    """Explain a command, message, option, metric, method, column or term in full."""
    from passk_cli.cli.help_text import command_help, message_list, message_page
    from passk_cli.cli.overview import overview

    topic = " ".join(words or ())
    if not topic:
        typer.echo(overview())
    elif topic in COMMANDS:
        typer.echo(command_help(topic, full=True))
    elif topic == DEMO:
        from passk_cli.cli.demo import HELP_TEXT

        typer.echo(HELP_TEXT)
    else:
        from passk_cli.commands.diagnostic_lookup import all_messages

        catalogue = all_messages()
        if topic == MESSAGES:
            typer.echo(message_list(catalogue.values()))
        elif topic in catalogue:
            typer.echo(message_page(catalogue[topic]))
        else:
            from passk_cli.cli.topics import explain_word

            typer.echo(explain_word(topic, (*COMMANDS, MESSAGES, *catalogue)))


def _demo() -> None:
    """Show what passk does, on sample data that it contains."""
    from passk_cli.cli.demo import run_demo

    if code := run_demo(run_command_line):
        raise typer.Exit(code)


_FUNCTION_BY_UNDECLARED_COMMAND: dict[str, Callable[..., None]] = {HELP: _print_help, DEMO: _demo}


def build_app(names: Iterable[str] = (), *, completing: bool = False) -> typer.Typer:
    """The app that lists all commands.  Only the commands in `names` get options and can be run."""
    app = typer.Typer(name="passk", cls=GroupWithPasskHelp, no_args_is_help=True, **_TYPER_SETTINGS)

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "-V", "--version", callback=_print_version, is_eager=True, help="The version."
            ),
        ] = False,
    ) -> None:
        pass

    for name in (*COMMANDS, *_FUNCTION_BY_UNDECLARED_COMMAND):
        function = _FUNCTION_BY_UNDECLARED_COMMAND.get(name)
        if function is None:
            is_run = name in names
            function = (
                _typer_function(name, None, completing)
                if is_run
                else _make_placeholder_command(name, completing)
            )
        app.command(name, cls=CommandWithPasskHelp)(function)
    return app


def _make_placeholder_command(name: str, completing: bool) -> Callable[[], None]:
    """A typer function without options, for a command that appears only in the list of commands."""

    def stand() -> None:
        raise NotImplementedError(name)

    # A shell shows the docstring of a command next to the name of the command.
    stand.__doc__ = COMMANDS[name].purpose if completing else None
    return stand


def _typer_function(
    name: str, words: Iterable[str] | None, completing: bool = False
) -> Callable[..., None]:
    """The typer function of a command, with parameters for files and options.

    words : the command line.  Only the options in the command line are declared, because declaring
        a hundred options is slow in typer.  If `words` is None, all options are declared.
    completing : whether a shell asks for completions, so that typer needs completion functions.
    """
    from passk_cli.cli.output import output_option_groups

    declaration = load_command(name)
    edge = (option for _, options in output_option_groups(declaration) for option in options)
    options = [*declaration.options(), *edge]
    parameters = []
    if declaration.file_requirement != "none":
        required = declaration.file_requirement == "needed"
        argument = typer.Argument(
            metavar="FILE..." if required else "[FILE...]", show_default=False
        )
        annotation = Annotated[list[str], argument]
        files = inspect.Parameter("files", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
        parameters.append(files if required else files.replace(default=[]))
    for option in options:
        if words is not None and not _is_option_among(words, option.option):
            continue
        flag = option.base_type is bool
        # typer collects the values of each option in a list, so that passk can report an option
        # that is given twice.
        value_type: Any = bool if flag else list[str]
        completion = completion_function(option.option) if completing else None
        info: Any = (
            typer.Argument(metavar=f"[{option.option.flags}]", autocompletion=completion)
            if option.option.is_positional
            else typer.Option(
                *option.option.flags.split(), help=option.option.help, autocompletion=completion
            )
        )
        parameters.append(
            inspect.Parameter(
                option.field,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default if flag else [],
                annotation=Annotated[value_type, info],
            )
        )

    def run(files: list[str] | None = None, **values: Any) -> None:
        from passk_cli.cli.run import run_command

        for field, option, kind, default, base, repeatable in options:
            texts = values.setdefault(field, default if base is bool else [])
            if base is bool or repeatable or (kind is ANY_DATA_OPTION_TYPE and len(texts) > 1):
                continue
            if len(texts) > 1:
                raise ParameterError(
                    OptionWithValue(option.name, ", ".join(texts)),
                    "this option accepts only one value, so use the option only once",
                )
            values[field] = next(iter(texts), None)
        if code := run_command(declaration, files or [], values):
            raise typer.Exit(code)

    run.__doc__ = declaration.help_paragraphs[0] if completing else None
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _is_option_among(words: Iterable[str], option: Option) -> bool:
    """Whether a command line may contain an option.

    For example, the words -k 5, -k5 and -qk may contain the option -k.
    """
    names = [flag.lstrip("-") for flag in option.flags.split()]
    options = [word for word in words if word.startswith("-")]
    return option.is_positional or any(name in word for name in names for word in options)


def run_command_line(words: Sequence[str]) -> int:
    """Run a command line that begins with the name of a command, and return its exit code."""
    name, *arguments = words
    app = typer.Typer(add_completion=False, **_TYPER_SETTINGS)
    function = _FUNCTION_BY_UNDECLARED_COMMAND.get(name)
    if function is None:
        helped = arguments in (["--help"], ["-h"])
        function = (
            _make_placeholder_command(name, False) if helped else _typer_function(name, words)
        )
    topic = {**_TYPER_SETTINGS["context_settings"], "ignore_unknown_options": True}
    settings = topic if name == HELP else None
    app.command(name, cls=CommandWithPasskHelp, context_settings=settings)(function)
    return int(app(arguments, standalone_mode=False) or 0)


def main() -> None:
    """Run the command line, print any error as a message, and exit with its exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "#" in sys.argv:
        # Commands in the output of passk may end with a # comment, which some shells pass on as
        # arguments.
        del sys.argv[sys.argv.index("#") :]
    words = sys.argv[1:]
    code: Any
    try:
        first, completing = words[:1], any(name in os.environ for name in COMPLETION_VARIABLES)
        if completing:
            code = build_app(words_being_completed()[:1], completing=True)(
                words, standalone_mode=False
            )
        elif first and (first[0] in COMMANDS or first[0] in _FUNCTION_BY_UNDECLARED_COMMAND):
            code = run_command_line(words)
        else:
            code = build_app()(words or ["--help"], standalone_mode=False)
        # Without arguments, `passk` prints the help. The exit code without arguments is 2, because
        # a script that passes no arguments has probably lost them.
        code = code if words else 2
    except PasskError as error:
        exit_if_signalled()
        code = print_error_and_return_exit_code(error, words)
    except TYPER_USAGE_ERROR as error:
        code = print_error_and_return_exit_code(_usage_error(error, words), words)
    except MemoryError:
        exit_if_signalled()
        code = print_error_and_return_exit_code(
            DataError(
                "memory",
                "there is not enough memory for this command",
                LOW_MEMORY_ADVICE,
                name="out-of-memory",
            ),
            words,
        )
    except Exception as error:
        exit_if_signalled()
        if os.environ.get("PASSK_DEBUG"):
            raise
        remedy = "please report this error with the traceback that PASSK_DEBUG=1 shows"
        code = print_error_and_return_exit_code(
            PasskError(f"internal error: {type(error).__name__}: {error}; {remedy}"), words
        )
    sys.exit(code)


def _usage_error(error: Any, words: list[str]) -> ParameterError:
    """The ParameterError for a command line that typer does not understand."""
    problem, (first, *arguments) = error.format_message().removesuffix("."), words
    path, option = "passk", getattr(error, "option_name", None)
    if first in COMMANDS:
        path = f"passk {first}"
        if problem.startswith("Missing argument"):
            return _no_file_arguments_error(path, arguments)
        if problem.startswith("No such option"):
            from passk_cli.cli.fix_commands import options_by_flag

            # In a group of short options such as -qz, no argument begins with the unknown option
            # -z.
            following = dropwhile(lambda word: not word.startswith(str(option)), arguments)
            _, equals, value = next(following, "").partition("=")
            value = value if equals else next(following, "")
            question = option_suggestion(first, str(option), value, options_by_flag)
            problem = "; ".join(filter(None, (f"no such option: {option}", question)))
    elif first.startswith("-") and (later := [word for word in arguments if word in COMMANDS]):
        problem = f"no such option: {first}; the command comes first: passk {later[0]} {first} …"
    elif not first.startswith("-") and first not in _FUNCTION_BY_UNDECLARED_COMMAND:
        similar = nearest_names(first, (*COMMANDS, *_FUNCTION_BY_UNDECLARED_COMMAND))
        problem = f"no such command: {first}" + (f"; {did_you_mean(similar)}" if similar else "")
    stop = "" if problem.endswith("?") else ";"
    problem = f"{problem[:1].lower()}{problem[1:]}{stop} see {path} --help"
    return ParameterError(problem, name="usage")


def _no_file_arguments_error(path: str, options: list[str]) -> ParameterError:
    """The error for a command line without data files.

    passk reads standard input only if a file argument is -.  Otherwise, a job with an empty list of
    files would wait for input forever.
    """
    try:
        piped = stat.S_ISFIFO(os.fstat(0).st_mode)
    except OSError:
        piped = False
    remedy = "name result files or a folder, or - for standard input"
    if piped:
        remedy = f"to read the pipe: | {path} {shlex.join(['-', *options])}"
    return ParameterError(f"no files are given; {remedy}", name="no-files")
