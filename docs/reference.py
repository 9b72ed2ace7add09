"""The parts of pages that declarations make: a comment opens such a part, another one closes it.

<!-- options estimate -->    the options of a command
<!-- columns estimate -->    the columns of its first table, with what they mean
<!-- shared options -->      the options that several commands share
<!-- commands -->            every command with its question
<!-- formats -->             the file formats
<!-- json estimate -->       the fields of a command's JSON
<!-- schemas -->             the versions of JSON documents
<!-- messages -->            every message and error, with what it means
<!-- answers -->             every sentence above the tables of a command
<!-- checks -->              every check of a reading, with the options that settle it
<!-- fields -->             the fields that rows of several commands have
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from docs.sessions import answer
from passk_cli.cli.manual import FILES, row, usage
from passk_cli.cli.output import edge_sections
from passk_cli.commands import COMMANDS
from passk_cli.commands.catalogue import answers, messages
from passk_cli.commands.command import OWN, command_of
from passk_cli.option import Declared
from passk_cli.render import data
from passk_cli.report.model import ALWAYS
from passk_cli.study.fact import FIELDS

_PART = re.compile(
    r"<!-- ((?:options|columns|json) \w+|shared options|commands|formats|schemas|fields|messages"
    r"|checks|answers)"
    r" -->\n(.*?)<!-- /\1 -->",
    re.DOTALL,
)


def renewed(text: str) -> str:
    """A page with its generated parts as the declarations have them now."""
    return _PART.sub(_part, text)


def _part(match: re.Match[str]) -> str:
    what, _, name = match[1].partition(" ")
    makers: dict[str, Callable[[str], str]] = {
        "options": _options,
        "columns": _columns,
        "shared": _shared,
        "commands": _commands,
        "formats": _formats,
        "json": _json,
        "schemas": _schemas,
        "messages": _messages,
        "checks": _checks,
        "answers": _answers,
        "fields": _fields,
    }
    return f"<!-- {match[1]} -->\n\n{makers[what](name).strip()}\n\n<!-- /{match[1]} -->"


def sections(name: str) -> Iterator[tuple[str, list[Declared]]]:
    """Title and options of each group that a command takes, those that it has itself first."""
    declaration = command_of(name)
    for title, options in (*declaration.sections(), *edge_sections(declaration)):
        if options:
            yield title, options


def _options(name: str) -> str:
    """The command's own options in full, and links to the options that it shares."""
    lines = [f"`{usage(name, command_of(name))}`", ""]
    shared = []
    for title, options in sections(name):
        owner = next((n for n in COMMANDS if title in command_of(n).own_titles), "")
        if title not in command_of(name).own_titles:
            shared.append(f"[{title}](../options.md#{title.lower()})")
        elif title != OWN and owner != name:
            flags = ", ".join(f"`{option.flags}`" for _, option, *_ in options)
            lines += [f"- {flags}: see [{owner}]({owner}.md#options).", ""]
        else:
            lines += [*map(line, options), ""]
    return "\n".join([*lines, f"Shared options: {', '.join(shared)}."])


def line(declared: Declared) -> str:
    """One option: how it is written, what it means, its choices and its default."""
    field, option = declared.field, declared.option
    left, text = row(declared, full=True)
    _, _, metavar = left.partition(option.name)
    flags = ", ".join(f"`{flag}{metavar}`" for flag in option.flags.split())
    spelt_otherwise = field.replace("_", "-") != option.name.lstrip("-")
    return f"- {flags}: {text}" + (f" In Python: `{field}=`." if spelt_otherwise else "")


def _columns(name: str) -> str:
    """The columns that the first table of a command always has, apart from the model."""
    columns = [c.stated for c in command_of(name).question.sections[0].columns]
    lines = [
        f"| {_cell(column.header)} | {_cell(column.meaning)} |"
        for column in columns
        if column.shown == ALWAYS and column.meaning and column.header not in ("model", "COLUMN")
    ]
    more = f"`passk help {name}` explains all columns, and the fields of csv and JSON."
    return "\n".join(["| column | meaning |", "| --- | --- |", *lines, "", more])


def _cell(text: str) -> str:
    """Text in a cell of a table, in which nothing is Markdown."""
    return re.sub(r"([\\*_|<>\[\]~^])", r"\\\1", text)


def shared_options() -> dict[str, list[Declared]]:
    """Title → the options of each group that several commands take."""
    options: dict[str, dict[str, Declared]] = {}
    for name in COMMANDS:
        for title, group in sections(name):
            if title not in command_of(name).own_titles:
                for each in group:
                    known = options.setdefault(title, {}).setdefault(each[0], each)
                    # Of an option that commands have with fewer choices, the one with all.
                    if len(each[1].values) > len(known[1].values):
                        options[title][each[0]] = each
    return {title: list(group.values()) for title, group in options.items()}


def _shared(_: str) -> str:
    """Every shared option in full, by group, and who takes the group."""
    users: dict[str, list[str]] = {}
    for name in COMMANDS:
        for title, _ in sections(name):
            if title not in command_of(name).own_titles:
                users.setdefault(title, []).append(name)
    lines = []
    for title, group in shared_options().items():
        names = ", ".join(f"[{name}](commands/{name}.md)" for name in users[title])
        who = "every command" if users[title] == list(COMMANDS) else names
        lines += ["", f"## {title}", "", f"Taken by {who}.", ""]
        lines += [f"- `FILE...`: {FILES}"] if title == "Input" else []
        lines += map(line, group)
    return "\n".join(lines)


def _commands(_: str) -> str:
    """Every command by section, with its question."""
    lines: list[str] = []
    for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
        lines += ["", f"**{section}**", ""]
        for name in (name for name, entry in COMMANDS.items() if entry.section == section):
            lines.append(f"- [`{name}`]({name}.md): {command_of(name).meaning[0]}")
    return "\n".join(lines)


def _schemas(_: str) -> str:
    return f"- `{data.SCHEMA}`: what a command found\n- `{data.ERROR_SCHEMA}`: an error"


def _fields(_: str) -> str:
    """The fields that rows of several commands have."""
    lines = ["| field | meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{c.name}` | {_cell(c.meaning)} |" for c in FIELDS)])


def _messages(_: str) -> str:
    """Every message and error: its name, which opens its words and what they mean."""
    lines: list[str] = []
    for severity, title in (("warning", "Warnings"), ("note", "Notes"), ("error", "Errors")):
        lines += ["", f"## {title}"]
        for name, message in messages().items():
            if message.severity == severity:
                lines += ["", "<details markdown>", f"<summary>{name}</summary>", ""]
                lines += [f"### {name}", "", f"`{message.pattern}`", "", message.meaning]
                lines += ["", "</details>"]
    return "\n".join(lines)


def _answers(_: str) -> str:
    """Every sentence above the tables, by the command that says it, in the order of their tests."""
    lines: list[str] = []
    # passk_cli.commands.cost.headline, or a module of several commands: the same order whoever
    # imported them first.
    said = sorted(answers().values(), key=lambda each: each.when.__module__)
    for title in ("Several commands", *(f"passk {name}" for name in COMMANDS)):
        place = f"passk_cli.commands.{title.removeprefix('passk ')}."
        if title == "Several commands":
            place = "passk_cli.study."
        own = [each for each in said if each.when.__module__.startswith(place)]
        if own:
            lines += ["", f"## {title}", "", "| name | sentence |", "| --- | --- |"]
            lines += [f"| `{each.name}` | `{each.pattern}` |" for each in own]
    return "\n".join(lines)


def _checks(_: str) -> str:
    """Every check of a reading: what is printed, when, whether it stops, and what settles it."""
    from passk_cli.files.checks import CHECKS

    lines = ["| check | severity | when | settled by |", "| --- | --- | --- | --- |"]
    for check in CHECKS:
        settled = ", ".join(f"`{option}`" for option in check.settled_by) or "other data"
        name = f"[`{check.message.name}`](messages.md#{check.message.name})"
        lines.append(f"| {name} | {check.severity} | {_cell(check.when)} | {settled} |")
    return "\n".join(lines)


def _formats(_: str) -> str:
    """Every file format and what passes in it, one line per format."""
    import passk_cli

    rows = passk_cli.formats().frame[["format", "passes"]].itertuples(index=False)
    return "\n".join(f"- `{name}`: {passes}" for name, passes in rows)


# What each command is asked for its JSON, beside `sample_data`.
ASKED = {
    "estimate": "sample_data/tau_airline.csv -k 1,4",
    "compare": "sample_data/agents.jsonl -k 1 --baseline claude-fable-5",
    "gate": "sample_data/agents.jsonl --model claude-fable-5 --model gpt-5.5 -k 1"
    " --baseline claude-fable-5 --min pass@1=0.3 --no-regression --max-drop pass@1=0.9",
    "watch": "sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks /dev/null",
    "judge": "sample_data/evalplus.csv.gz --field truth=label",
    "bootstrap": "sample_data/tau_airline.csv -k 1 --resamples 200",
    "curve": "sample_data/tau_airline.csv",
    "cost": "sample_data/costs.csv --at 1",
    "order": "sample_data/tau_airline.csv -k 1,2",
    "trend": "sample_data/nights.parquet",
    "tasks": "sample_data/tau_airline.csv",
    "diversity": "sample_data/cruxeval.jsonl.gz --by temperature --model codellama-7b -k 2",
    "temperature": "sample_data/cruxeval.jsonl.gz --model codellama-7b -k 1",
    "extrapolate": "sample_data/counts.csv --to 40",
    "plan": "--mean 0.6 --spread 0.3 --tasks 200 --attempts 10",
    "describe": "sample_data/tau_airline.csv",
    "formats": "",
    "report": "sample_data/tau_airline.csv -k 1",
}


def _json(name: str) -> str:
    """The keys of a command's JSON and of its rows, with types as printed, and meanings."""
    document = json.loads(answer(f"passk {name} {ASKED[name]} -f json -q"))
    rows = document.get("rows", [])
    types: dict[str, set[str]] = {}
    for record in rows:
        for key, value in record.items():
            types.setdefault(key, set()).add(_type(value))
    keys = ", ".join(f"`{key}`" for key in document)
    meanings = command_of(name).question.answer_fields()
    lines = [f"Keys of the document: {keys}.", "", "| field of a row | type | meaning |"]
    lines += ["| --- | --- | --- |"]
    lines += [
        f"| `{key}` | {' or '.join(sorted(kinds))} | {_cell(meanings.get(key, ''))} |"
        for key, kinds in types.items()
    ]
    return "\n".join(lines)


def _type(value: object) -> str:
    names = {bool: "true or false", int: "number", float: "number", str: "text", list: "list"}
    return "null" if value is None else names.get(type(value), "object")
