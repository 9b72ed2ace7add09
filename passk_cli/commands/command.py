"""The declaration of a command: options, shared groups of options, and the class that answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.commands import COMMANDS
from passk_cli.commands.message_filter import MessageOptions
from passk_cli.option import DeclaredOption, load_object, options_by_field, options_by_group
from passk_cli.suggestions import did_you_mean, nearest_names, probable_share
from passk_cli.text import first_few

if TYPE_CHECKING:
    from passk_cli.commands.question import Question

DEFAULT_TITLE = "Options"
# A paragraph of a docstring that starts with "# " is an example, which consists of a comment and a
# command line.
_EXAMPLE = "# "
# Earlier versions had the options in _REMOVED in every command. If you use a removed option, an
# error explains what to use instead.
_FIRST = "count on the cluster first: "
_SHELL = "passk convert ADDRESS --counts --engine spark --map passk.toml -o counts.parquet"
_PYTHON = 'convert(ADDRESS, counts=True, engine="spark", map="passk.toml", output="counts.parquet")'
_REMOVED = {
    **dict.fromkeys(("--engine", "--spark-master"), _FIRST + _SHELL),
    **dict.fromkeys(("engine", "spark_master"), f"{_FIRST}passk_cli.{_PYTHON}"),
}


class HelpExample(NamedTuple):
    """An example in the help: a comment that begins with "# ", and the command line."""

    comment: str
    line: str


@dataclass(frozen=True, eq=False, repr=False)
class Command:
    """The declaration of a command: its options, and the class that computes its report.

    options_type : dataclass of the options that only this command has; the docstring of the class
        is the help.
    groups : which of Request, Metrics, Confidence and Rules the command has in addition to
        MessageOptions. A field of options_type replaces a field of the same name.
    files : whether you must, can or cannot give files: "needed", "optional" or "none".
    streams : whether the command writes its table to the file of the option `output`, so that the
        report only describes the table.
    judges : whether the report is a verdict. Errors are then also written as a verdict, for example
        to the JUnit file that a pipeline reads.
    lacking : option of another command, as written on the command line or in Python → why this
        command does not have the option, and what to use instead.
    view : "module:class" of the class that computes the report.
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
        """The class that computes the report, imported when this property is read."""
        question: type[Question] = load_object(self.view)
        return question

    @property
    def meaning(self) -> list[str]:
        """The paragraphs of the help that describe the command, without the examples."""
        return [text for text in self._paragraphs if not text.startswith(_EXAMPLE)]

    @property
    def examples(self) -> list[HelpExample]:
        """The examples of the help. You can run them in a folder that contains `sample_data`."""
        texts = (text.split("\n", 1) for text in self._paragraphs if text.startswith(_EXAMPLE))
        return [HelpExample(comment, " ".join(line.split())) for comment, line in texts]

    @property
    def _paragraphs(self) -> list[str]:
        return (inspect.getdoc(self.options_type) or "").split("\n\n")

    def options(self) -> list[DeclaredOption]:
        groups = options_by_group((self.options_type, *self.groups, MessageOptions), self.without)
        return [option for _, options in groups for option in options]

    def sections(self) -> Iterator[tuple[str, list[DeclaredOption]]]:
        """Title and options of each group. Groups that only this command has come first."""
        own_section, *shared = options_by_group(
            (self.options_type, *self.groups, MessageOptions), self.without
        )
        for title, fields in self.titles.items():
            yield title, [option for option in own_section[1] if option.field in fields]
        for group, options in shared:
            yield getattr(group, "title", ""), options

    @property
    def titles(self) -> dict[str, list[str]]:
        titles: dict[str, list[str]] = {}
        for name in options_by_field(self.options_type):
            owner = next(c for c in self.options_type.__mro__ if name in inspect.get_annotations(c))
            is_own = owner is self.options_type
            title = DEFAULT_TITLE if is_own else getattr(owner, "title", DEFAULT_TITLE)
            titles.setdefault(title, []).append(name)
        if DEFAULT_TITLE in titles:
            titles[DEFAULT_TITLE] = titles.pop(DEFAULT_TITLE)
        return titles


def load_command(name: str) -> Command:
    """The declaration of the named command, imported without the other commands."""
    declaration: Command = load_object(f"passk_cli.commands.{name}:COMMAND")
    return declaration


def option_suggestion(
    command: str, word: str, value: Any, spelled: Callable[[str], Mapping[str, DeclaredOption]]
) -> str:
    """What to write instead of an option that a command lacks; "" if nothing is similar.

    spelled : returns the options of a command by their spelling on the command line or in Python.
    """
    if reason := {**_REMOVED, **load_command(command).lacking}.get(word):
        return reason
    if have := [name for name in COMMANDS if word in spelled(name)]:
        return f"{first_few(have)} {'have' if have[1:] else 'has'} it"
    options = spelled(command)
    suggestions = nearest_names(word, options)
    share = probable_share(str(value))
    if share is not None and len(suggestions) == 1 and options[suggestions[0]].option.high == 1:
        # A significance level of 0.05 corresponds to the confidence level 0.95.
        share = 1 - share if word.strip("-") in ("alpha", "significance") else share
        suggestions = [f"{suggestions[0]} {share:g}"] if share >= 0.5 else suggestions
    elif suggestions and word.strip("-") in options[suggestions[0]].option.values:
        suggestions = [f"{suggestions[0]} {word.strip('-')}"]
    if not word.startswith("-"):
        suggestions = [text.replace(" ", "=") for text in suggestions]
    return did_you_mean(suggestions) if suggestions else ""
