"""Commands: the options a command has, alone and with others, and where its question is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.commands import COMMANDS
from passk_cli.commands.message_filter import WantedMessages
from passk_cli.option import DeclaredOption, declared, loaded, sections_of
from passk_cli.suggestions import did_you_mean, nearest, share_meant
from passk_cli.text import first_few

if TYPE_CHECKING:
    from passk_cli.commands.question import Question

# The title of the options that only one command has.
DEFAULT_TITLE = "Options"
# Opens a paragraph of a docstring that is an example: a comment, then a command line.
_EXAMPLE = "# "
# Options that all commands had, as of `Command.lacking`.
_FIRST = "count on the cluster first: "
_SHELL = "passk convert ADDRESS --counts --engine spark --map passk.toml -o counts.parquet"
_PYTHON = 'convert(ADDRESS, counts=True, engine="spark", map="passk.toml", output="counts.parquet")'
_REMOVED = {
    **dict.fromkeys(("--engine", "--spark-master"), _FIRST + _SHELL),
    **dict.fromkeys(("engine", "spark_master"), f"{_FIRST}passk_cli.{_PYTHON}"),
}


class Example(NamedTuple):
    """A use of a command: a comment that begins with "# ", and the command line."""

    comment: str
    line: str


@dataclass(frozen=True, eq=False, repr=False)
class Command:
    """The declaration of a command: its options, what they share with others, and its answer.

    own : the options that it alone has, as fields of a dataclass, whose docstring is the help.
    groups : of Request, Metrics, Confidence, Rules, those whose options it takes; those of
        WantedMessages every command takes.  A field of its own stands instead of the group's field
        of the same name.
    without : fields of the groups that mean nothing to it.
    files : whether it takes files: "needed", "optional" or "none".
    streams : whether its answer is a table of any length, in the file that its option `output`
        names, and the report only about it.
    charts : whether its report can be drawn.  paged : whether it is a page.
    judges : whether its report is a verdict, so that an error, which keeps it from one, has to show
        where pipelines look.
    methods : whether it says how its numbers were computed, as a paper does.
    lacking : an option that other commands have, as it is written on the command line or in Python
        → why this one has none, and what to use.
    view : "module:class" of its question; the module has the sections and messages of its answer.
    """

    options_type: type
    groups: tuple[type, ...]
    without: tuple[str, ...] = ()
    files: str = "needed"
    streams: bool = False
    charts: bool = False
    paged: bool = False
    judges: bool = False
    methods: bool = False
    lacking: Mapping[str, str] = field(default_factory=dict)
    view: str = ""

    @property
    def question(self) -> type[Question]:
        """The question that the options make; only now is what it computes with imported."""
        question: type[Question] = loaded(self.view)
        return question

    @property
    def meaning(self) -> list[str]:
        """Its purpose, in paragraphs; the first is one line, for lists of commands."""
        return [text for text in self._paragraphs if not text.startswith(_EXAMPLE)]

    @property
    def examples(self) -> list[Example]:
        """Its most common uses, which run as they are next to `sample_data`."""
        texts = (text.split("\n", 1) for text in self._paragraphs if text.startswith(_EXAMPLE))
        return [Example(comment, " ".join(line.split())) for comment, line in texts]

    @property
    def _paragraphs(self) -> list[str]:
        return (inspect.getdoc(self.options_type) or "").split("\n\n")

    def options(self) -> list[DeclaredOption]:
        """Every option, its own first."""
        groups = sections_of((self.options_type, *self.groups, WantedMessages), self.without)
        return [option for _, options in groups for option in options]

    def sections(self) -> Iterator[tuple[str, list[DeclaredOption]]]:
        """Title and options of each group, its own first."""
        own_section, *shared = sections_of(
            (self.options_type, *self.groups, WantedMessages), self.without
        )
        for title, fields in self.titles.items():
            yield title, [option for option in own_section[1] if option.field in fields]
        for group, options in shared:
            yield getattr(group, "title", ""), options

    @property
    def titles(self) -> dict[str, list[str]]:
        """Title → its own options: those of the classes that declare them, then OWN."""
        titles: dict[str, list[str]] = {}
        for name in declared(self.options_type):
            owner = next(c for c in self.options_type.__mro__ if name in inspect.get_annotations(c))
            title = (
                DEFAULT_TITLE
                if owner is self.options_type
                else getattr(owner, "title", DEFAULT_TITLE)
            )
            titles.setdefault(title, []).append(name)
        if DEFAULT_TITLE in titles:
            titles[DEFAULT_TITLE] = titles.pop(DEFAULT_TITLE)
        return titles


def command_of(name: str) -> Command:
    """The declaration of a command; only its own module is imported."""
    declaration: Command = loaded(f"passk_cli.commands.{name}:COMMAND")
    return declaration


def option_suggestion(
    command: str, word: str, value: Any, spelled: Callable[[str], Mapping[str, DeclaredOption]]
) -> str:
    """The words in place of an option that a command does not have; "" where nothing is near.

    value : what it was given.  spelled : the options of a command by how their caller writes them.
    """
    if reason := {**_REMOVED, **command_of(command).lacking}.get(word):
        return reason
    if have := [name for name in COMMANDS if word in spelled(name)]:
        return f"{first_few(have)} {'have' if have[1:] else 'has'} it"
    options = spelled(command)
    suggestions = nearest(word, options)
    share = share_meant(str(value))
    if share is not None and len(suggestions) == 1 and options[suggestions[0]].option.high == 1:
        # Who names an error rate means what is left.
        share = 1 - share if word.strip("-") in ("alpha", "significance") else share
        suggestions = [f"{suggestions[0]} {share:g}"] if share >= 0.5 else suggestions
    elif suggestions and word.strip("-") in options[suggestions[0]].option.values:
        suggestions = [f"{suggestions[0]} {word.strip('-')}"]
    if not word.startswith("-"):
        suggestions = [text.replace(" ", "=") for text in suggestions]
    return did_you_mean(suggestions) if suggestions else ""
