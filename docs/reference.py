"""The parts of pages that declarations make: a comment opens such a part, another one closes it.

<!-- options estimate -->      the options that only this command has
<!-- commands -->              every command with its question
<!-- formats -->               the names of the file formats
<!-- schemas -->               the versions of JSON documents
<!-- glossary -->              the words of the field, which `passk help WORD` explains as well
<!-- messages -->              the names of all messages and errors, by family
<!-- checks -->                every check of a reading, with the options that settle it

Only the site has long lists: `docs/site_pages.py` writes these parts when the site is built, and
the repository has a sentence in their place.  It also ends the page of a command with its columns.

<!-- built shared options -->  the options that several commands share
<!-- built formats -->         what passes in every file format
<!-- built answers -->         every sentence above the tables of a command
<!-- built fields -->          the fields of the rows of csv and JSON
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from passk_cli.cli.help_text import (
    FILE_ARGUMENT_HELP,
    help_page_parts_of_message,
    option_row,
    usage,
)
from passk_cli.cli.output import output_option_groups
from passk_cli.cli.topics import GLOSSARY_PATH
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.commands.diagnostic_lookup import all_answers_by_name, all_messages
from passk_cli.diagnostic import ERROR
from passk_cli.option import DeclaredOption
from passk_cli.render import csv_json
from passk_cli.study.result import SHARED_FIELDS

_PART = re.compile(
    r"<!-- (options \w+|commands|formats|schemas|messages|checks|glossary)"
    r" -->\n(.*?)<!-- /\1 -->",
    re.DOTALL,
)
_BUILT = re.compile(
    r"<!-- (built (?:shared options|answers|fields|formats)) -->\n(.*?)<!-- /\1 -->",
    re.DOTALL,
)
# The options of a command, or the shared options.
_OPTIONS_PART = re.compile(r"<!-- (?:options (\w+)|built shared options) -->.*<!-- /", re.DOTALL)
_OPTION_LINE = re.compile(r"^- (`(?:-|FILE|NAME)[^`]*`(?:, `[^`]*`)*): (.*)$", re.MULTILINE)
# Options that the page of another command explains.
_REFERENCE = re.compile(r"^- (`[^:]+`): see \[(\w+)\]\(\w+\.md#options\)\.$", re.MULTILINE)
# A picture with a light and a dark theme: pages name the light one, and the site shows one of both.
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w./-]+-)light(\.(?:svg|png))\)")
_MESSAGE_LINK = re.compile(r"\((?:\.\./)*messages\.md#([a-z-]+)\)")
# A declaration of a message: its name, then its severity.
_MESSAGE = re.compile(r'"([a-z-]+)",\s*(?:NOTE|WARNING)\b')
_PACKAGE = Path(__file__).parent.parent / "passk_cli"
# Start of the path of declarations → the family of their messages, and its title.
_FAMILIES = {
    **{f"commands/{name}": (name, f"passk {name}") for name in COMMANDS},
    "files/attempts/spending": ("cost", "passk cost"),
    "files/attempts/labels": ("judge", "passk judge"),
    "files/checks": ("checks", "Checks of the data"),
    "files": ("files", "Files"),
    "": ("results", "Results of several commands"),
}
_TITLES = {**dict(_FAMILIES.values()), "errors": "Errors"}


def renewed(text: str) -> str:
    """A page with its generated parts as the declarations have them now."""
    return _PART.sub(_part, text)


def built(text: str) -> str:
    """A page as the site has it: with long lists, links to pages of messages, and dark pictures."""
    families = {name: family for family, names in message_families().items() for name in names}

    def link(match: re.Match[str]) -> str:
        family = families.get(match[1])
        return match[0].replace("messages.md", f"messages/{family}.md") if family else match[0]

    def names(match: re.Match[str]) -> str:
        return re.sub(r"`([a-z-]+)`", r"[`\1`](messages.md#\1)", match[0])

    text = re.sub(r"<!-- messages -->.*<!-- /messages -->", names, text, flags=re.DOTALL)
    text = _MESSAGE_LINK.sub(link, _BUILT.sub(_part, text))
    text = _OPTIONS_PART.sub(lambda match: _with_anchors(match[0], match[1]), text)
    return _PICTURE.sub(r"![\1](\2light\3#only-light) ![\1](\2dark\3#only-dark)", text)


def _part(match: re.Match[str]) -> str:
    what, _, name = (
        match[1].replace("built formats", "passes").removeprefix("built ").partition(" ")
    )
    makers: dict[str, Callable[[str], str]] = {
        "options": _options,
        "shared": _shared,
        "commands": _commands,
        "formats": _formats,
        "passes": _passes,
        "schemas": _schemas,
        "messages": _messages,
        "checks": _checks,
        "answers": _answers,
        "fields": _fields,
        "glossary": lambda _: GLOSSARY_PATH.read_text(),
    }
    return f"<!-- {match[1]} -->\n\n{makers[what](name).strip()}\n\n<!-- /{match[1]} -->"


def sections(name: str) -> Iterator[tuple[str, list[DeclaredOption]]]:
    """Title and options of each group that a command takes, those that it has itself first."""
    declaration = load_command(name)
    for title, options in (*declaration.option_sections(), *output_option_groups(declaration)):
        if options:
            yield title, options


def _options(name: str) -> str:
    """The command's own options in full, and links to those that other pages explain."""
    lines = [f"`{usage(name, load_command(name))}`", ""]
    linked: dict[str, list[str]] = {}
    shared = []
    for title, options in sections(name):
        if title not in load_command(name).option_names_by_title:
            shared.append(f"[{title}](../options.md#{title.lower()})")
            continue
        for option in options:
            if (first := next(n for n in COMMANDS if line(option) in own_lines(n))) == name:
                lines.append(line(option))
            else:
                linked.setdefault(first, []).append(f"`{option.option.flags}`")
    lines += [
        f"- {', '.join(flags)}: see [{first}]({first}.md#options)."
        for first, flags in linked.items()
    ]
    return "\n".join([*lines, "", f"Shared options: {', '.join(shared)}."])


def _with_anchors(text: str, command: str | None) -> str:
    """A list of options as the site has it: each option is a heading, or a link to one.

    The id of an option is its name, for example commands/compare/#--baseline.
    """
    ids: set[str] = set()

    def heading(match: re.Match[str]) -> str:
        name = _option_name(match[1])
        # The page of shared options lists an option of two groups twice.
        anchor = f"{name}-{len(ids)}" if name in ids else name
        ids.add(anchor)
        return f'### {match[1]} {{ #{anchor} data-toc-label="{name}" }}\n\n{match[2]}\n'

    def links(match: re.Match[str]) -> str:
        names = [_link(flags, f"{match[2]}.md") for flags in re.findall(r"`([^`]+)`", match[1])]
        return f"- {', '.join(names)}: see [{match[2]}]({match[2]}.md#options)."

    text = _REFERENCE.sub(links, text)
    text = _OPTION_LINE.sub(heading, text)
    if command is None:
        return text
    shared = [
        f"- [{title}](../options.md#{title.lower()}): "
        + ", ".join(_link(declared.option.flags, "../options.md") for declared in options)
        for title, options in sections(command)
        if title not in load_command(command).option_names_by_title
    ]
    section = "\n".join(["### Shared options", "", *shared])
    return re.sub(r"^Shared options: .*$", section, text, flags=re.MULTILINE)


def _link(flags: str, page: str) -> str:
    """A link from the page of a command to an option on another page, with an id of its own."""
    return f"[`{_option_name(flags)}`]({page}#{_option_name(flags)}){{ #{_option_name(flags)} }}"


def _option_name(flags: str) -> str:
    """The last name in flags such as "`-m NAMES`, `--metric NAMES`", or the name of an argument."""
    return re.findall(r"(?<![\w-])--?[\w-]+|^`?[A-Z]+", flags)[-1].strip("`")


@cache
def own_lines(name: str) -> frozenset[str]:
    """The lines of the options that a command does not share."""
    own = load_command(name).option_names_by_title
    return frozenset(line(o) for title, options in sections(name) if title in own for o in options)


def line(declared: DeclaredOption) -> str:
    """One option: how it is written, what it means, its choices and its default."""
    field, option = declared.field, declared.option
    left, text = option_row(declared, full=True)
    _, _, metavar = left.partition(option.name)
    flags = ", ".join(f"`{flag}{metavar}`" for flag in option.flags.split())
    spelt_otherwise = field.replace("_", "-") != option.name.lstrip("-")
    return f"- {flags}: {text}" + (f" In Python: `{field}=`." if spelt_otherwise else "")


def columns(name: str) -> str:
    """The end of a command's page on the site: the columns of its tables, and what they mean."""
    lines: list[str] = []
    for table, rows in load_command(name).runner_class.column_meanings_by_table():
        lines += ["", f"**Columns {table}**", ""] if table else [""]
        lines += ["| column | meaning |", "| --- | --- |"]
        lines += [f"| {_cell(header)} | {_cell(meaning)} |" for header, meaning in rows]
    return "\n".join(["", "## Columns", *lines, ""]) if lines else ""


def _cell(text: str) -> str:
    """Text in a cell of a table, in which nothing is Markdown."""
    return re.sub(r"([\\*_|<>\[\]~^])", r"\\\1", text)


def shared_options() -> dict[str, list[DeclaredOption]]:
    """Title → the options of each group that several commands take."""
    options: dict[str, dict[str, DeclaredOption]] = {}
    for name in COMMANDS:
        for title, group in sections(name):
            if title not in load_command(name).option_names_by_title:
                for each in group:
                    known = options.setdefault(title, {}).setdefault(each[0], each)
                    # Of an option that commands have with fewer choices, the one with all.
                    if len(each[1].allowed_values) > len(known[1].allowed_values):
                        options[title][each[0]] = each
    return {title: list(group.values()) for title, group in options.items()}


def _shared(_: str) -> str:
    """Every shared option in full, by group, and who takes the group."""
    users: dict[str, list[str]] = {}
    for name in COMMANDS:
        for title, _ in sections(name):
            if title not in load_command(name).option_names_by_title:
                users.setdefault(title, []).append(name)
    lines = []
    for title, group in shared_options().items():
        names = ", ".join(f"[{name}](commands/{name}.md)" for name in users[title])
        who = "every command" if users[title] == list(COMMANDS) else names
        lines += ["", f"## {title}", "", f"Taken by {who}.", ""]
        lines += [f"- `FILE...`: {FILE_ARGUMENT_HELP}"] if title == "Input" else []
        lines += map(line, group)
    return "\n".join(lines)


def _commands(_: str) -> str:
    """Every command by section, with its question."""
    lines: list[str] = []
    for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
        lines += ["", f"**{section}**", ""]
        for name in (name for name, entry in COMMANDS.items() if entry.section == section):
            lines.append(f"- [`{name}`]({name}.md): {load_command(name).help_paragraphs[0]}")
    return "\n".join(lines)


def _schemas(_: str) -> str:
    return (
        f"- `{csv_json.REPORT_SCHEMA_VERSION}`: what a command found\n-"
        f" `{csv_json.ERROR_SCHEMA_VERSION}`: an error"
    )


def _fields(_: str) -> str:
    """The fields of rows: those of several commands, then those that one command adds."""
    lines = ["| field | meaning |", "| --- | --- |"]
    lines += [f"| `{column.field_name}` | {_cell(column.meaning)} |" for column in SHARED_FIELDS]
    common = {column.field_name: column.meaning for column in SHARED_FIELDS}
    for name in COMMANDS:
        fields = load_command(name).runner_class.data_field_meanings().items()
        if rows := [f"| `{f}` | {_cell(m)} |" for f, m in fields if common.get(f) != m]:
            lines += ["", f"### {name}", "", *lines[:2], *rows]
    return "\n".join(lines)


def message_families() -> dict[str, list[str]]:
    """Family → the names of its messages, which are those that one part of the package declares."""
    families = defaultdict(list)
    for file in sorted(_PACKAGE.rglob("*.py")):
        place = file.relative_to(_PACKAGE).as_posix()
        prefix = next(start for start in _FAMILIES if place.startswith(start))
        names = _MESSAGE.findall(file.read_text())
        families[_FAMILIES[prefix][0]] += [name for name in names if name in all_messages()]
    families["errors"] = [name for name, m in all_messages().items() if m.severity == ERROR]
    return {family: sorted(families[family]) for family in _TITLES if families[family]}


def _messages(_: str) -> str:
    """The names of all messages by family."""
    lines: list[str] = []
    for family, names in message_families().items():
        lines += ["", f"## {_TITLES[family]}", "", ", ".join(f"`{name}`" for name in names)]
    return "\n".join(lines)


def message_pages() -> dict[str, str]:
    """Family → the page that explains its messages."""
    pages = {}
    for family, names in message_families().items():
        lines = [f"# Messages: {_TITLES[family]}"]
        for name in names:
            message = all_messages()[name]
            lines += [
                "",
                f"## {name}",
                "",
                f"`{message.severity}[{name}]: {message.readable_template}`",
            ]
            for title, part in help_page_parts_of_message(message):
                lines += ["", f"**{title}.** {part}"]
            if message.example:
                lines += ["", "```console", message.example.replace("passk ", "$ passk ", 1), "```"]
        pages[family] = "\n".join(lines) + "\n"
    return pages


def _answers(_: str) -> str:
    """Every sentence above the tables, by the command that says it, in the order of their tests."""
    lines: list[str] = []
    # passk_cli.commands.cost.headline, or a module of several commands: the same order whoever
    # imported them first.
    said = sorted(all_answers_by_name().values(), key=lambda each: each.when.__module__)
    for title in ("Several commands", *(f"passk {name}" for name in COMMANDS)):
        place = f"passk_cli.commands.{title.removeprefix('passk ')}."
        if title == "Several commands":
            place = "passk_cli.study."
        own = [each for each in said if each.when.__module__.startswith(place)]
        if own:
            lines += ["", f"## {title}", "", "| name | sentence |", "| --- | --- |"]
            lines += [f"| `{each.name}` | `{each.readable_template}` |" for each in own]
    return "\n".join(lines)


def _checks(_: str) -> str:
    """Every check of a reading by severity: when it applies, and the options that settle it."""
    from passk_cli.files.checks import CHECKS
    from passk_cli.files.checks.check import CERTAIN, EITHER, LIKELY

    lines: list[str] = []
    titles = {CERTAIN: "passk stops", EITHER: "passk stops or warns you", LIKELY: "passk warns you"}
    for severity, title in titles.items():
        lines += ["", f"**{title}:**", ""]
        for check in (check for check in CHECKS if check.severity == severity):
            options = " or ".join(f"`{option}`" for option in check.resolving_options)
            name = f"[`{check.message_type.name}`](messages.md#{check.message_type.name})"
            remedy = f" Use {options}." if options else ""
            lines.append(f"- {name}: {_cell(check.message_condition_sentence)}{remedy}")
    return "\n".join(lines)


def _formats(_: str) -> str:
    """The names of all file formats, by kind."""
    titles = {"harness": "Harnesses", "general": "General layouts", "refused": "Refused"}
    rows = _format_rows()
    names = {kind: ", ".join(rows["format"][rows["kind"] == kind]) for kind in titles}
    return "\n".join(f"- {titles[kind]}: {names[kind]}" for kind in titles)


def _passes(_: str) -> str:
    """What passes in each file format, one line per format."""
    rows = _format_rows()[["format", "passes"]].itertuples(index=False)
    return "\n".join(f"- `{name}`: {passes}" for name, passes in rows)


def _format_rows() -> Any:
    import passk_cli

    return passk_cli.formats().frame
