"""Messages: named notes, warnings and errors with fields, like the warnings of a compiler.

Each type of message is a constant in the module that uses the type. To make a message, call the
type with values for the fields. `passk_cli.commands.diagnostic_lookup` lists all types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any

from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import clauses_joined_by_semicolons, first_few, join_names, plural

NOTE, WARNING, ERROR = "note", "warning", "error"
# DIAGNOSTIC_TYPE_BY_NAME maps names to the types of messages in all modules imported so far.
DIAGNOSTIC_TYPE_BY_NAME: dict[str, DiagnosticType] = {}

TextOrUnroundedNumber = Any


_OPTIONAL_PART_PATTERN = re.compile(r"\{\?(?P<name>\w+)\|(?P<text>(?:[^{}]|\{[^{}]*\})*)\}")
_FIELD_PATTERN = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


def fill_template(template: str, fields: Mapping[str, Any]) -> tuple[TextOrUnroundedNumber, ...]:
    """The parts of a filled template: strings, and numbers that a renderer rounds later.

    {models} : a string, a number, or a list of names, which is written like "a, b, c and 2 more".
    {models:and} : a list of names, which is written like "a, b and c".
    {notes:;} : a list of clauses, which is written like "a; b".
    {tasks:task} : a count with its noun, for example "2 tasks".
    {tasks:is|are} : the first word if the count is 1, and otherwise the second word.
    {change:falls|stays|rises} : the word for a negative number, for 0 or for a positive number.
    {p:=p} : a number in the format of a column of the kind "p".  {lead:=share points} : a share,
        with the unit "points" under --percent.  {low:=@unit} : a number in the format that is named
        in the field `unit`.  {?file| in {file}} : a part that is left out if the field `file` is
        empty or missing.

    >>> fill_template("{who:and}{?k| at {k}}: {tasks:task}", {"who": [*"ab"], "k": 0, "tasks": 2})
    ('', 'a and b', ': ', '2 tasks')
    """
    text = _OPTIONAL_PART_PATTERN.sub(
        lambda part: part["text"] if fields.get(part["name"]) else "", template
    )
    pieces: list[TextOrUnroundedNumber] = []
    for words, name, form, _ in Formatter().parse(text):
        pieces.append(words)
        if name is None:
            continue
        value, form = fields[name], form or ""
        if form.startswith("="):
            kind = form[1:]
            value = (value, fields[kind[1:]] if kind.startswith("@") else kind)
        elif form.count("|") == 2:
            value = form.split("|")[value + 1]
        elif "|" in form:
            value = form.split("|")[value != 1]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            lists = {"and": join_names, ";": "; ".join}
            value = lists.get(form, first_few)(value)
        elif isinstance(value, int):
            value = plural(value, form) if form else f"{value:,}"
        pieces.append(value)
    return tuple(pieces)


def readable_template(template: str, *, forms: bool = False) -> str:
    """A template as readable text, with fields as <field> and optional parts as [part].

    forms : whether to write all alternatives of a field, for example "falls/rises".

    >>> readable_template("{lines:line} {lines:was|were} skipped{?file| in {file}}")
    '<lines> lines were skipped[ in <file>]'
    """

    def name_of(field: re.Match[str]) -> str:
        name, form = field[1], field[2] or ""
        if "|" in form:
            return form.replace("|", "/").strip("/") if forms else form.split("|")[1]
        noun = f" {form}s" if form not in ("", "and", ";") and not form.startswith("=") else ""
        return f"<{name}>{noun}"

    return _FIELD_PATTERN.sub(name_of, _OPTIONAL_PART_PATTERN.sub(r"[\2]", template))


@dataclass(frozen=True, eq=False)
class DiagnosticType:
    """A type of message: its name, severity, text and explanation.

    name : unique lower-case words joined by hyphens, for example "pooled-settings".
    severity : "note", "warning" (if numbers are less reliable than they seem), or "error".
    template : the text with named fields; see `fill_template`.
    remedy : options that resolve the message, or advice in words.  Options and advice may contain
        fields.
    meaning, why, advice : paragraphs for `passk help NAME` and the documentation: what the message
        means, why it matters, and what to do.  If there is no advice, the help page shows the
        remedy.
    example : the message as passk prints it. If a command with the sample data prints the message,
        the example begins with this command.
    only_with_full : whether passk prints the message only with --full or -v, because no decision
        depends on the message.
    Errors: ValueError if two types of messages have the same name.

    >>> lost = DiagnosticType(
    ...     "lost-lines", NOTE, "{lines:line} {lines:was|were} skipped{?file| in {file}}"
    ... )
    >>> lost(lines=2, file="").text, lost(lines=1, file="a.csv").text
    ('2 lines were skipped', '1 line was skipped in a.csv')
    >>> lost.readable_template
    '<lines> lines were skipped[ in <file>]'
    >>> del DIAGNOSTIC_TYPE_BY_NAME["lost-lines"]
    """

    name: str
    severity: str
    template: str
    remedy: str | SuggestedFix | tuple[SuggestedFix, ...] = ""
    meaning: str = ""
    only_with_full: bool = False
    why: str = ""
    advice: str = ""
    example: str = ""

    def __post_init__(self) -> None:
        earlier = DIAGNOSTIC_TYPE_BY_NAME.setdefault(self.name, self)
        if earlier is not self and earlier.template != self.template:
            raise ValueError(f"two messages are named {self.name}")

    @property
    def fixes(self) -> tuple[SuggestedFix, ...]:
        """The suggested fixes of this type of message, with placeholders instead of values."""
        remedy = () if isinstance(self.remedy, str) else self.remedy
        return (remedy,) if isinstance(remedy, SuggestedFix) else remedy

    @property
    def readable_template(self) -> str:
        """The template as readable text, for example "<lines> lines were skipped[ in <file>]"."""
        words = self.remedy if isinstance(self.remedy, str) else ""
        text = "; ".join(filter(None, (self.template, words, *map(str, self.fixes))))
        return readable_template(text)

    def __call__(self, **fields: Any) -> Diagnostic:
        """Make a message of this type, without suggested fixes that would need an empty field."""
        words = self.remedy if isinstance(self.remedy, str) else ""
        settles = tuple(filter(None, (fix.with_fields(fields) for fix in self.fixes)))
        return Diagnostic(self.name, self.severity, self.template, words, fields, settles)


@dataclass(frozen=True)
class Diagnostic:
    """A message: a note, warning or error with the values of its fields.

    fields : maps the name of each field to a string, a count, a number, a list of names, or a
        number with an interval.
    fixes : suggested fixes.  If there are several fixes, any one of them resolves the message.
    remedies : the suggested fixes as complete commands or Python calls.
    """

    name: str
    severity: str
    template: str
    remedy: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    fixes: tuple[SuggestedFix, ...] = ()
    remedies: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.name, self.template))

    def pieces(self) -> tuple[TextOrUnroundedNumber, ...]:
        """The strings and the unrounded numbers of the message.  See `fill_template`."""
        text = "; ".join(filter(None, (self.template, self.remedy)))
        pieces = fill_template(text, self.fields)
        return (*pieces, *(f"; {settle}" for settle in self.fixes))

    @property
    def text(self) -> str:
        """The text of the message, with numbers as Python's `str` writes them."""
        return "".join(part if isinstance(part, str) else str(part) for part in self.pieces())

    def with_prefix(self, prefix: str) -> Diagnostic:
        """The message with a prefix that names its subject, for example "baseline main: ".

        >>> said = DiagnosticType("lost-lines", NOTE, "{lines:line} lost")(lines=2)
        >>> said.with_prefix("baseline main").with_prefix("nightly").text
        'nightly: baseline main: 2 lines lost'
        >>> del DIAGNOSTIC_TYPE_BY_NAME["lost-lines"]
        """
        if "whose" in self.fields:
            prefix = f"{prefix}: {self.fields['whose']}"
            return replace(self, fields={**self.fields, "whose": prefix})
        return replace(
            self, template="{whose}: " + self.template, fields={"whose": prefix, **self.fields}
        )


def error_as_warning(error: Any) -> Diagnostic:
    """A warning with the name and text of an error, for commands that only describe data."""
    text = clauses_joined_by_semicolons(str(error.args[0]))
    return Diagnostic(error.name, WARNING, "{text}", fields={"text": text}, fixes=error.fixes)
