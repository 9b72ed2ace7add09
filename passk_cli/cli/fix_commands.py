"""Writes suggested fixes as commands: the user's command line with options that fix the error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from passk_cli.cli.help_text import options_with_titles
from passk_cli.cli.output import writable_suffixes_of_command
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import PasskError
from passk_cli.option import DeclaredOption, accepts_value, declared_options_by_flag
from passk_cli.suggested_fix import SuggestedFix, shell_quoted
from passk_cli.text import (
    clauses_joined_by_semicolons,
    cut_long_words,
    printable,
    without_url_secrets,
)


def add_commands_to_error(error: PasskError, words: Sequence[str]) -> None:
    """Add the commands that fix an error, and remove fixes that the command cannot apply."""
    error.fixes = applicable_fixes(error.fixes, words)
    error.remedies = commands_for_fixes(error.fixes, words)


def error_text_with_commands(error: PasskError, words: Sequence[str]) -> str:
    """The text of an error in the style of a compiler, followed by one command per fix.

    A fix with a placeholder is not a complete command, so it is added to the sentence of the error.
    """
    open_fixes = [str(settle) for settle in error.fixes if not settle.is_complete]
    lines = [clauses_joined_by_semicolons(str(error.args[0]), *open_fixes)]
    if error.candidates:
        from passk_cli.files.reading.column_choice_errors import candidate_lines

        describe = words[:1] == ["describe"]
        lines += candidate_lines(error.candidates, str, columns=describe, full="--full" in words)
    settles = [settle for settle in error.fixes if settle.is_complete]
    for settle, command in zip(settles, error.remedies, strict=True):
        lines.append(f"{command}  # {settle.effect}" if settle.effect else command)
    return f"error[{error.name}]: " + "\n  ".join(cut_long_words(printable(line)) for line in lines)


def message_with_fix_commands(message: Diagnostic, words: Sequence[str]) -> Diagnostic:
    """The message, with complete commands for its suggested fixes."""
    settles = applicable_fixes(message.fixes, words)
    return replace(message, fixes=settles, remedies=commands_for_fixes(settles, words))


def applicable_fixes(
    settles: Sequence[SuggestedFix], words: Sequence[str]
) -> tuple[SuggestedFix, ...]:
    """The fixes that use only options of this command and files that the command line contains."""
    return tuple(
        settle
        for settle in settles
        if settle.options.keys() <= options_by_flag(settle.command or "".join(words[:1])).keys()
        and settle.label_by_file.keys() <= {*words}
    )


def commands_for_fixes(settles: Sequence[SuggestedFix], words: Sequence[str]) -> tuple[str, ...]:
    """One complete command for each fix that has no placeholders.

    If passk read the data from a pipe, the commands begin with |, because every command needs the
    same input.
    """
    start = "| passk" if _reads_stdin(words) else "passk"
    return tuple(
        " ".join([start, *map(shell_quoted, map(without_url_secrets, apply_fix(words, settle)))])
        for settle in settles
        if settle.is_complete
    )


def _reads_stdin(words: Sequence[str]) -> bool:
    """Whether a command line reads standard input, for example with -, label=- or --baseline -."""
    return any(
        parts[-1].rpartition("=")[2] == "-"
        for option, _, parts in _parse_options(words[1:], options_by_flag(words[0]))
        if option is None or option.option.file_use == "read"
    )


def apply_fix(words: Sequence[str], settle: SuggestedFix) -> list[str]:
    """The command line after a fix is applied.

    The fix adds values to repeatable options, and replaces the values of other options.  For
    --field, the fix replaces only the columns of the roles that it sets.  A fix may name a new
    command.  The result then lacks all options and output formats that the new command does not
    have.  If the new command writes a file that the fix names, the result has no other output.

    >>> settle = SuggestedFix({"--field": {"task": "case"}, "--records": "runs", "--by": ("arm",)})
    >>> given = "estimate a.json --field task=x --records=all --by y -k1"
    >>> " ".join(apply_fix(given.split(), settle))
    'estimate a.json --by y -k1 --field task=case --records runs --by arm'
    >>> " ".join(apply_fix(given.split(), SuggestedFix({"--order-from-lines": True}, "", "order")))
    'order a.json --field task=x --records=all --by y -k1 --order-from-lines'
    >>> " ".join(apply_fix("report h.json -o h.html".split(), SuggestedFix({}, "", "trend")))
    'trend h.json'
    >>> draft = SuggestedFix({"--init": "passk.toml"}, "", "describe")
    >>> " ".join(apply_fix("convert a.csv -o b.csv".split(), draft))
    'describe a.csv --init passk.toml'
    >>> " ".join(apply_fix("compare a.csv b.csv".split(), SuggestedFix({},
    ...     label_by_file={"a.csv": "old"})))
    'compare old=a.csv b.csv'
    >>> " ".join(apply_fix("record a.csv h.parquet".split(), SuggestedFix({"--to": "h.parquet"})))
    'record a.csv --to h.parquet'
    """
    name = settle.command or words[0]
    flags, other_flags = options_by_flag(words[0]), options_by_flag(name)
    arguments = list(words[1 : words.index("--")] if "--" in words else words[1:])
    trailing = list(words[len(arguments) + 1 :])
    values = {other_flags[flag].field: value for flag, value in settle.options.items()}
    result = [name]
    before, after = (
        writable_suffixes_of_command(load_command(command)) for command in (words[0], name)
    )
    writes = name != words[0] and any(
        other_flags[flag].option.file_use == "written" for flag in settle.options
    )
    for option, text, parts in _parse_options(arguments, flags):
        counterpart = option and other_flags.get(option.option.name)
        applies = counterpart and (
            counterpart is option
            or counterpart.base_type is bool
            or accepts_value(counterpart, text)
        )
        if option is not None and option.field == "output":
            suffix = Path(text).suffix.lower()
            applies = not writes and (suffix in after or suffix not in before)
        if option is None:
            result += settle.labelled_file_arguments(parts)
        elif applies and not _is_replaced(option, text, values):
            result += parts
    return [
        *result,
        *(str(word) for option_words in settle.command_line_words() for word in option_words),
        *trailing,
    ]


def _is_replaced(option: DeclaredOption, text: str, values: Mapping[str, object]) -> bool:
    value = values.get(option.field, ())
    if isinstance(value, Mapping):
        return text.partition("=")[0] in value
    if isinstance(value, tuple) and option.field != "threshold":
        return {*text.split(",")} <= {*value}
    return option.field in values and option.field != "where"


def _parse_options(
    words: Sequence[str], flags: Mapping[str, DeclaredOption]
) -> Iterator[tuple[DeclaredOption | None, str, Sequence[str]]]:
    """The declaration, the value and the words of each option in a command line.

    The declaration is None for a word that does not belong to an option.
    """
    place = 0
    while place < len(words):
        word = words[place]
        flag, equals, text = word.partition("=")
        if not word.startswith("--"):
            flag, text = word[:2], word[2:]
            equals = text
        option = flags.get(flag)
        width = 1 if option is None or equals or option.base_type is bool else 2
        text = text if width == 1 else "".join(words[place + 1 : place + 2])
        yield option, text, words[place : place + width]
        place += width


def options_by_flag(command: str) -> Mapping[str, DeclaredOption]:
    """Maps each flag to its option, for all options of a command."""
    options = options_with_titles(load_command(command)) if command in COMMANDS else ()
    return declared_options_by_flag(option for _, option in options)
