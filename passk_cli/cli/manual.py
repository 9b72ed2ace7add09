"""`--help`, made from the declarations: the list of commands, and what one command takes.

Groups of options have names in typer too, but only rich draws them, whose import would double the
time that `--help` takes.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from passk_cli.commands import COMMANDS, command_of
from passk_cli.commands.command import Command
from passk_cli.option import Option, base_type, repeatable

ABOUT = (
    "pass@k and pass^k from evaluation results: estimates with confidence intervals, comparisons,"
    " gates."
)
FILES = "Paths, globs, directories, URLs, label=path, or - for stdin."
_BELOW = (
    "passk COMMAND --help: its options · passk help COMMAND: the same in full",
    "-V, --version · -h, --help · --install-completion · --show-completion",
    "Exit codes: 0 done, 1 a check failed, 2 usage, 3 data, 4 internal error",
)
_NARROWEST = 40
# What stands left of an explanation may take so many columns; longer ones get a line of their own.
_LEFT, _GAP = 24, 2

Row = tuple[str, str]


def overview() -> str:
    """The commands by section, each with what it is for."""
    section_width = max(map(len, COMMANDS.values())) + _GAP
    name_width = max(map(len, COMMANDS)) + _GAP
    rows: list[Row] = []
    section = ""
    for name, its_section in COMMANDS.items():
        heading = "" if its_section == section else its_section
        section = its_section
        meaning = command_of(name).meaning[0].removesuffix(".")
        rows.append((f"{heading:{section_width}}{name}", meaning))
    width = _width()
    listed = _table(rows, section_width + name_width, width)
    below = [_filled(line, width) for line in _BELOW]
    usage = "Usage: passk COMMAND FILE... [OPTIONS]"
    return "\n".join([usage, "", _filled(ABOUT, width), "", *listed, "", *below])


def manual(name: str, *, full: bool = False) -> str:
    """What a command is for, two examples, and its options, its own first.

    full : with what else there is to know of each option; without, rare ones are only named, so
        that it fits on a screen.
    """
    declaration, width = command_of(name), _width()
    paragraphs = "\n\n".join(_filled(part, width) for part in declaration.meaning)
    blocks = [f"Usage: {usage(name, declaration)}", paragraphs]
    blocks.append("\n".join(["Examples:", *(f"  {line}" for line in declaration.examples)]))
    sections = list(_sections(declaration, full))
    lefts = [len(left) for _, rows in sections for left, _ in rows]
    room = max(each for each in lefts if each <= _LEFT) + _GAP
    for title, rows in sections:
        blocks.append("\n".join([f"{title}:", *_table(rows, room, width, indent=2)]))
    if not full:
        others = ", ".join(_rare_names(declaration))
        blocks.append(_filled(f"passk help {name}: every option in full; also {others}.", width))
    return "\n\n".join(blocks)


def usage(name: str, declaration: Command) -> str:
    """How it is called."""
    files = {"needed": " FILE...", "optional": " [FILE...]", "none": ""}[declaration.files]
    return f"passk {name}{files} [OPTIONS]"


def _sections(declaration: Command, full: bool) -> Iterator[tuple[str, list[Row]]]:
    """Title and rows of each group of options that is not empty."""
    # The list of commands does without it.
    from passk_cli.cli.output import edge_sections

    files = [] if declaration.files == "none" else [("FILE...", FILES)]
    for title, options in (*declaration.sections(), *edge_sections(declaration)):
        rows = [
            row(option, kind, default, full)
            for _, option, kind, default in options
            if full or not option.rare
        ]
        if title == "Input":
            rows = files + rows
        if rows:
            yield title, rows


def _rare_names(declaration: Command) -> list[str]:
    """The options that the short help only names."""
    from passk_cli.cli.output import edge_sections

    sections = (*declaration.sections(), *edge_sections(declaration))
    return [option.name for _, options in sections for _, option, *_ in options if option.rare]


def row(option: Option, kind: Any, default: Any, full: bool) -> Row:
    """An option as it is written, and what it means, with its choices and its default."""
    flag = base_type(kind) is bool
    # Choices that a function lists would have to be imported, and stand in the help itself.
    choices = option.choices if isinstance(option.choices, tuple) else ()
    metavar = option.metavar or ("CHOICE" if choices else "")
    left = ", ".join(option.flags.split()) + (f" {metavar}" if metavar else "")
    text = option.help
    if choices:
        words = (f"{choice} (default)" if choice == default else choice for choice in choices)
        text = f"{text.removesuffix('.')}: {', '.join(words)}."
    elif not flag and not repeatable(option, kind) and _plain(default):
        number = f"{default:,g}" if isinstance(default, int | float) else default
        text = f"{text.removesuffix('.')} (default {number})."
    return left, f"{text} {option.detail}".rstrip() if full else text


def _plain(default: Any) -> bool:
    """Whether a default says something by itself."""
    return isinstance(default, str | int | float) and default != ""


def _table(rows: Iterable[Row], room: int, width: int, *, indent: int = 0) -> list[str]:
    """Rows in two columns, the left one `room` wide, the right one broken into lines."""
    lines = []
    margin = " " * (indent + room)
    for left, right in rows:
        words = _lines(right, max(width - len(margin), _LEFT))
        if len(left) > room - _GAP:
            lines.append(" " * indent + left)
        else:
            words = [" " * indent + left.ljust(room) + words[0], *words[1:]]
            lines.append(words.pop(0))
        lines += [margin + line for line in words]
    return lines


def _filled(text: str, width: int) -> str:
    return "\n".join(_lines(text, width))


def _lines(text: str, width: int) -> list[str]:
    """Text in lines, broken at blanks alone."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _width() -> int:
    return max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)
