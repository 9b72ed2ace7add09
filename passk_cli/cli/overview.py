"""The list of commands that `passk --help` prints, and the layout of help texts.

This module does not import typer or the declarations of commands, so that `passk --help` is fast.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable

from passk_cli.commands import COMMANDS

ABOUT = (
    "pass@k and pass^k from evaluation results: estimates with confidence intervals, comparisons,"
    " gates."
)
_FOOTER_LINES = (
    "passk demo: an example, on sample data that passk contains",
    "passk COMMAND --help: options of a command · passk help WORD: full explanation",
    "-V, --version · -h, --help · --install-completion · --show-completion",
    "Exit codes: 0 done, 1 check failed, 2 usage, 3 data, 4 internal error, 5 not yet",
)
_MIN_TERMINAL_WIDTH = 40
# Names in the left column of a help text are at most LEFT characters wide, and the gap between the
# columns is GAP. A name that is wider than LEFT gets a separate line.
LEFT, GAP = 24, 2

Row = tuple[str, str]


def overview() -> str:
    """The text of `passk --help`, which lists all commands by section with one line per command."""
    section_width = max(len(entry.section) for entry in COMMANDS.values()) + GAP
    name_width = max(map(len, COMMANDS)) + GAP
    rows: list[Row] = []
    section = ""
    for name, entry in COMMANDS.items():
        heading = "" if entry.section == section else entry.section
        section = entry.section
        rows.append((f"{heading:{section_width}}{name}", entry.purpose.removesuffix(".")))
    width = terminal_width()
    lines = two_columns(rows, section_width + name_width, width)
    below = [wrap_lines(line, width) for line in _FOOTER_LINES]
    usage = "Usage: passk COMMAND FILE... [OPTIONS]"
    return "\n".join([usage, "", wrap_lines(ABOUT, width), "", *lines, "", *below])


def two_columns(rows: Iterable[Row], room: int, width: int, *, indent: int = 0) -> list[str]:
    """The lines of a list with names in the left column and wrapped texts in the right column.

    room : width of the left column, including the gap between the columns.
    width : width of the whole list.
    indent : number of blanks at the beginning of each line.
    """
    lines = []
    margin = " " * (indent + room)
    for name, text in rows:
        words = wrap_lines(text, max(width - len(margin), LEFT)).split("\n")
        if len(name) > room - GAP:
            lines.append(" " * indent + name)
        else:
            words = [" " * indent + name.ljust(room) + words[0], *words[1:]]
            lines.append(words.pop(0))
        lines += [margin + line for line in words]
    return lines


def wrap_lines(text: str, width: int = 0) -> str:
    """The text, wrapped between words.

    width : maximum number of characters per line, or 0 for the width of the terminal.
    """
    lines = textwrap.wrap(
        text, width or terminal_width(), break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(lines)


def terminal_width() -> int:
    """The width of the terminal in characters, but at least 40.  Without a terminal, it is 80."""
    return max(shutil.get_terminal_size((80, 24)).columns, _MIN_TERMINAL_WIDTH)
