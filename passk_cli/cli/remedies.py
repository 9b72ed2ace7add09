"""Remedies of an error as commands: the caller's own words with the options that settle it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from passk_cli.cli.help_text import declared
from passk_cli.cli.output import suffixes_of
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import command_of
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import PasskError
from passk_cli.option import DeclaredOption, accepts, by_flag
from passk_cli.suggested_fix import SuggestedFix, quoted
from passk_cli.text import clauses, cut, printable, without_secrets


def complete(error: PasskError, words: Sequence[str]) -> None:
    """Give an error the commands that settle it, and no remedy that its command has no options for.

    words : the command line.
    """
    error.settles = possible(error.settles, words)
    error.remedies = commands(error.settles, words)


def with_commands(error: PasskError, words: Sequence[str]) -> str:
    """An error as a compiler prints it, and below it a command for each way to settle it.

    words : the command line.  What the reader has to fill in stands in the sentence.
    """
    asked = [str(settle) for settle in error.settles if not settle.complete]
    lines = [clauses(str(error.args[0]), *asked)]
    if error.candidates:
        from passk_cli.files.reading.asking import screen

        describe = words[:1] == ["describe"]
        lines += screen(error.candidates, str, columns=describe, full="--full" in words)
    settles = [settle for settle in error.settles if settle.complete]
    for settle, command in zip(settles, error.remedies, strict=True):
        lines.append(f"{command}  # {settle.why}" if settle.why else command)
    return f"error[{error.name}]: " + "\n  ".join(cut(printable(line)) for line in lines)


def with_remedies(said: Diagnostic, words: Sequence[str]) -> Diagnostic:
    """A message with the commands that settle it."""
    settles = possible(said.settles, words)
    return replace(said, settles=settles, remedies=commands(settles, words))


def possible(settles: Sequence[SuggestedFix], words: Sequence[str]) -> tuple[SuggestedFix, ...]:
    """The remedies that the command of these words has options for."""
    return tuple(
        settle
        for settle in settles
        if settle.options.keys() <= flags_of(settle.command or "".join(words[:1])).keys()
        and settle.labels.keys() <= {*words}
    )


def commands(settles: Sequence[SuggestedFix], words: Sequence[str]) -> tuple[str, ...]:
    """Whole commands, one for each remedy that leaves nothing to the reader.

    Of data that came through a pipe each begins with its |, to stand behind the command whose
    output it reads: alone it would wait for an input that never comes.
    """
    start = "| passk" if _piped(words) else "passk"
    return tuple(
        " ".join([start, *map(quoted, map(without_secrets, completed(words, settle)))])
        for settle in settles
        if settle.complete
    )


def _piped(words: Sequence[str]) -> bool:
    """Whether a command line reads standard input: -, label=- or --baseline -."""
    return any(
        parts[-1].rpartition("=")[2] == "-"
        for given, _, parts in _parsed(words[1:], flags_of(words[0]))
        if given is None or given.option.file == "read"
    )


def completed(words: Sequence[str], settle: SuggestedFix) -> list[str]:
    """A command line with the options of a remedy.

    A role that was given a column gets the new one, values are added, any other option is replaced.
    Another command gets the options whose values it takes, and outputs in a format of its own
    unless it writes a file itself.

    >>> settle = SuggestedFix({"--field": {"task": "case"}, "--records": "runs", "--by": ("arm",)})
    >>> given = "estimate a.json --field task=x --records=all --by y -k1"
    >>> " ".join(completed(given.split(), settle))
    'estimate a.json --by y -k1 --field task=case --records runs --by arm'
    >>> " ".join(completed(given.split(), SuggestedFix({"--order-from-lines": True}, "", "order")))
    'order a.json --field task=x --records=all --by y -k1 --order-from-lines'
    >>> " ".join(completed("report h.json -o h.html".split(), SuggestedFix({}, "", "trend")))
    'trend h.json'
    >>> draft = SuggestedFix({"--init": "passk.toml"}, "", "describe")
    >>> " ".join(completed("convert a.csv -o b.csv".split(), draft))
    'describe a.csv --init passk.toml'
    >>> " ".join(completed("compare a.csv b.csv".split(), SuggestedFix({},
    ...     labels={"a.csv": "old"})))
    'compare old=a.csv b.csv'
    >>> " ".join(completed("record a.csv h.parquet".split(), SuggestedFix({"--to": "h.parquet"})))
    'record a.csv --to h.parquet'
    """
    name = settle.command or words[0]
    flags, there = flags_of(words[0]), flags_of(name)
    own = list(words[1 : words.index("--")] if "--" in words else words[1:])
    rest = list(words[len(own) + 1 :])
    values = {there[flag].field: value for flag, value in settle.options.items()}
    kept = [name]
    before, after = (suffixes_of(command_of(each)) for each in (words[0], name))
    writes = name != words[0] and any(
        there[flag].option.file == "written" for flag in settle.options
    )
    for given, text, parts in _parsed(own, flags):
        other = given and there.get(given.option.name)
        taken = other and (other is given or other.base is bool or accepts(other, text))
        if given is not None and given.field == "output":
            suffix = Path(text).suffix.lower()
            taken = not writes and (suffix in after or suffix not in before)
        if given is None:
            kept += settle.labelled_files(parts)
        elif taken and not _replaced(given, text, values):
            kept += parts
    return [*kept, *(str(word) for each in settle.words() for word in each), *rest]


def _replaced(given: DeclaredOption, text: str, values: Mapping[str, object]) -> bool:
    """Whether what was given for an option goes, for what a remedy gives."""
    value = values.get(given.field, ())
    if isinstance(value, Mapping):
        return text.partition("=")[0] in value
    if isinstance(value, tuple) and given.field != "threshold":
        return {*text.split(",")} <= {*value}
    return given.field in values and given.field != "where"


def _parsed(
    words: Sequence[str], flags: Mapping[str, DeclaredOption]
) -> Iterator[tuple[DeclaredOption | None, str, Sequence[str]]]:
    """Each option of a command line with its text and its words; None for what is no option."""
    place = 0
    while place < len(words):
        word = words[place]
        flag, equals, text = word.partition("=")
        if not word.startswith("--"):
            flag, text = word[:2], word[2:]
            equals = text
        given = flags.get(flag)
        width = 1 if given is None or equals or given.base is bool else 2
        text = text if width == 1 else "".join(words[place + 1 : place + 2])
        yield given, text, words[place : place + width]
        place += width


def flags_of(command: str) -> Mapping[str, DeclaredOption]:
    """Flag → the option of a command, those of its output included."""
    every = declared(command_of(command)) if command in COMMANDS else ()
    return by_flag(option for _, option in every)
