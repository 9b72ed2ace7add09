"""Writes the texts of `--help` and `passk help` from the declarations of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from passk_cli.cli.overview import GAP, LEFT, Row, terminal_width, two_columns, wrap_lines
from passk_cli.commands.command import Command, load_command
from passk_cli.diagnostic import ERROR, DiagnosticType, readable_template
from passk_cli.option import DeclaredOption

FILE_ARGUMENT_HELP = "Paths, globs, folders, URLs, label=path, - (stdin)."
_LINES, _FEWEST, _SHARED = 60, 5, (
    "k", "by", "where", "fields", "form", "metrics", "output", "chart", "models", "threshold",
    "cluster", "level", "full", "verbose", "quiet",
)  # fmt: skip


def command_help(name: str, *, full: bool = False) -> str:
    """The help text of a command, with its purpose, examples and options.

    The short text contains only frequently used options.  If `full` is true, the text contains all
    options, and explains columns and messages.
    """
    declaration = load_command(name)
    if full:
        return _help_with_sections(
            name, [*_option_sections(declaration), *_sections_besides_options(declaration)]
        )
    # If a command can write a page or gives a verdict, the help of the command lists --output
    # first, because users usually write files with such commands.
    first = ("output",) if declaration.writes_page or declaration.gives_verdict else ()
    shared = list(dict.fromkeys((*first, *_SHARED)))
    count = len(list(options_with_titles(declaration)))
    last = wrap_lines(f"passk help {name}: all {count} options, columns and messages")
    while True:
        text = f"{_help_with_sections(name, _option_sections(declaration, shared))}\n\n{last}"
        if text.count("\n") < _LINES or len(shared) == _FEWEST:
            return text
        shared.pop()


def _help_with_sections(name: str, sections: list[tuple[str, list[Row]]]) -> str:
    declaration, width = load_command(name), terminal_width()
    paragraphs = "\n\n".join(wrap_lines(part, width) for part in declaration.help_paragraphs)
    examples = [f"  {note}\n{_wrapped_example(line, width)}" for note, line in declaration.examples]
    blocks = [f"Usage: {usage(name, declaration)}", paragraphs, "\n".join(["Examples:", *examples])]
    labels = [len(label) for _, rows in sections for label, _ in rows]
    room = max(length for length in labels if length <= LEFT) + GAP
    for title, rows in sections:
        blocks.append("\n".join([f"{title}:", *two_columns(rows, room, width, indent=2)]))
    return "\n\n".join(blocks)


def _wrapped_example(line: str, width: int) -> str:
    first, *options = re.split(" (?=-)", line)
    lines = [f"  {first}"]
    for option in options:
        if len(f"{lines[-1]} {option} \\") > width:
            lines.append(f"    {option}")
        else:
            lines[-1] += f" {option}"
    return " \\\n".join(lines)


def message_page(message: DiagnosticType) -> str:
    """The help page of a message: its text, its meaning, why it matters, and what to do."""
    blocks = [f"{message.severity}[{message.name}]", wrap_lines(message.readable_template)]
    for title, text in help_page_parts_of_message(message):
        lines = wrap_lines(text, terminal_width() - 2)
        blocks.append(f"{title}:\n{indent(lines, '  ')}")
    if message.example:
        blocks.append(f"Example:\n{indent(message.example, '  ')}")
    return "\n\n".join(blocks)


def help_page_parts_of_message(message: DiagnosticType) -> list[tuple[str, str]]:
    """The titles and texts of the parts of a message's help page."""
    # The import is local, so that `--help` does not load the code that reads files.
    from passk_cli.files.checks import CHECKS

    remedies = [message.remedy] if isinstance(message.remedy, str) else message.fixes
    texts = [readable_template(str(remedy)) for remedy in remedies]
    do = [message.advice or " ".join(f"{text[:1].upper()}{text[1:]}." for text in texts if text)]
    if any(check.message_type.name == message.name for check in CHECKS):
        do.append(
            "If the data contains a clear error, passk stops and prints options that correct"
            " the error."
        )
    if message.severity != ERROR:
        do.append(
            f"To hide this {message.severity}, use --ignore {message.name}. To stop with exit code"
            f" 3 if this {message.severity} appears, use --error {message.name}."
        )
    parts = {
        "What it means": message.meaning, "Why it matters": message.why,
        "What to do": " ".join(filter(None, do)),
    }  # fmt: skip
    return [(title, text) for title, text in parts.items() if text]


def message_list(messages: Iterable[DiagnosticType]) -> str:
    """A list of the names and texts of all messages."""
    rows = [
        (message.name, f"{message.severity}: {message.readable_template}") for message in messages
    ]
    return "\n".join(two_columns(rows, LEFT + GAP, terminal_width()))


def usage(name: str, declaration: Command) -> str:
    """The usage line of a command, for example "passk gate FILE... [OPTIONS]"."""
    files = {"needed": " FILE...", "optional": " [FILE...]", "none": ""}[
        declaration.file_requirement
    ]
    flags = "".join(f" [{o.flags}]" for _, o, *_ in declaration.options() if o.is_positional)
    return f"passk {name}{files}{flags} [OPTIONS]"


def options_with_titles(declaration: Command) -> Iterator[tuple[str, DeclaredOption]]:
    """All options of a command, with the titles of their groups."""
    from passk_cli.cli.output import output_option_groups

    for title, options in (*declaration.option_sections(), *output_option_groups(declaration)):
        yield from ((title, option) for option in options)


def _option_sections(
    declaration: Command, shared: Sequence[str] | None = None
) -> list[tuple[str, list[Row]]]:
    """The groups of options in a help text, as pairs of a title and the rows of the group.

    shared : names of the shared options that a short help text lists.  If `shared` is None, the
        text explains all options in full.
    """
    own_titles = declaration.option_names_by_title
    rows: dict[str, list[Row]] = {title: [] for title in own_titles}
    if declaration.file_requirement != "none":
        rows["Input"] = [("FILE...", FILE_ARGUMENT_HELP)]
    for title, option in options_with_titles(declaration):
        if shared is None:
            included = True
        elif title in own_titles:
            included = not option.option.only_in_full_help
        else:
            included = option.field in shared
        if included:
            rows.setdefault(title, []).append(option_row(option, full=shared is None))
    return [(title, group) for title, group in rows.items() if group]


def _sections_besides_options(declaration: Command) -> Iterator[tuple[str, list[Row]]]:
    from passk_cli.metrics.registry import meaning_by_family_pattern

    if any(
        option.field == "metrics" and option.option.completion_function_name
        for _, option in options_with_titles(declaration)
    ):
        yield "Metrics by name", list(meaning_by_family_pattern().items())
    for part, columns in declaration.runner_class.column_meanings_by_table():
        yield f"Columns {part}".rstrip(), columns
    if fields := declaration.runner_class.data_field_meanings():
        yield "Fields of csv, json and Python", list(fields.items())
    if messages := declaration.runner_class.declared_messages():
        names = [(name, message.readable_template) for name, message in messages.items()]
        yield "Messages (`passk help messages` lists all messages)", names


def option_row(declared: DeclaredOption, full: bool) -> Row:
    """The flags of an option, and a help text that contains the choices and the default value."""
    option, default = declared.option, declared.default
    choices = option.choices if isinstance(option.choices, tuple) else ()
    metavar = option.metavar or ("CHOICE" if choices else "")
    label = ", ".join(option.flags.split()) + (f" {metavar}" if metavar else "")
    text = option.help
    if choices:
        words = (f"{choice} (default)" if choice == default else choice for choice in choices)
        text = f"{text.removesuffix('.')}: {', '.join(words)}."
    elif declared.base_type is not bool and not declared.repeatable and default not in (None, ""):
        number = f"{default:,g}" if isinstance(default, int | float) else default
        text = f"{text.removesuffix('.')} (default {number})."
    return label, f"{text} {option.detail_with_choices}".rstrip() if full else text
