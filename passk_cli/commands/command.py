"""The declaration of a command, which names its options and the class that computes its report."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.commands import COMMANDS
from passk_cli.commands.message_filter import MessageOptions
from passk_cli.option import DeclaredOption, load_object, options_by_field, pair_groups_with_options
from passk_cli.suggestions import did_you_mean, nearest_names, probable_share
from passk_cli.text import first_few

if TYPE_CHECKING:
    from passk_cli.commands.runner import CommandRunner

DEFAULT_OPTIONS_TITLE = "Options"
# A paragraph of a docstring that starts with "# " is an example, which consists of a comment and a
# command line.
_EXAMPLE_PREFIX = "# "
_COUNT_ON_SPARK_ADVICE = "count on the cluster first: "
_SPARK_COUNT_SHELL_COMMAND = (
    "passk convert ADDRESS --counts --engine spark --map passk.toml -o counts.parquet"
)
_SPARK_COUNT_PYTHON_CALL = (
    'convert(ADDRESS, counts=True, engine="spark", map="passk.toml", output="counts.parquet")'
)
# _ABSENT_OPTION_ADVICE maps options of other tools and of earlier versions to what to use instead.
_ABSENT_FILE_OPTION_NAMES = ("file", "files", "input", "data", "path", "results")
_ABSENT_OPTION_ADVICE = {
    **dict.fromkeys(
        (f"--{name}" for name in _ABSENT_FILE_OPTION_NAMES), "name the files without an option"
    ),
    **dict.fromkeys(_ABSENT_FILE_OPTION_NAMES, "the data is the first argument"),
    **dict.fromkeys(
        ("--engine", "--spark-master"), _COUNT_ON_SPARK_ADVICE + _SPARK_COUNT_SHELL_COMMAND
    ),
    **dict.fromkeys(
        ("engine", "spark_master"), f"{_COUNT_ON_SPARK_ADVICE}passk_cli.{_SPARK_COUNT_PYTHON_CALL}"
    ),
}


class HelpExample(NamedTuple):
    """An example in the help: a comment that begins with "# ", and the command line."""

    comment: str
    command_line: str


@dataclass(frozen=True, eq=False, repr=False)
class Command:
    """The declaration of a command: its options, and the class that computes its report.

    options_type : dataclass of the options that only this command has.  The docstring of the class
        is the help of the command.
    shared_option_classes : classes of shared options, such as Request or Confidence, that the
        command has in addition to MessageOptions. If options_type has a field with the same name as
        a shared option, the field replaces the shared option.
    file_requirement : "needed" if you must give files, "optional" if you can give files, and "none"
        if you cannot give files.
    writes_table_to_output : whether the command writes its table to the file that the option
        --output names. The report then only describes the table.
    gives_verdict : whether the report is a verdict. Errors are then also written as a verdict, for
        example to the JUnit file that a pipeline reads.
    absent_option_reasons : maps an option that this command lacks to a text, which explains why or
        names an alternative. The option is written as on the command line or as in Python.
    runner_path : the class that computes the report, as a string of the form "module:class".
    """

    options_type: type
    shared_option_classes: tuple[type, ...]
    excluded_options: tuple[str, ...] = ()
    file_requirement: str = "needed"
    writes_table_to_output: bool = False
    has_charts: bool = False
    writes_page: bool = False
    gives_verdict: bool = False
    has_methods_text: bool = False
    absent_option_reasons: Mapping[str, str] = field(default_factory=dict)
    runner_path: str = ""

    @property
    def runner_class(self) -> type[CommandRunner]:
        """The class that computes the report, imported when this property is read."""
        question: type[CommandRunner] = load_object(self.runner_path)
        return question

    @property
    def help_paragraphs(self) -> list[str]:
        """The paragraphs of the help that describe the command, without the examples."""
        return [text for text in self._docstring_paragraphs if not text.startswith(_EXAMPLE_PREFIX)]

    @property
    def examples(self) -> list[HelpExample]:
        """The examples of the help.

        You can run the examples in a folder that contains `sample_data`.
        """
        texts = (
            text.split("\n", 1)
            for text in self._docstring_paragraphs
            if text.startswith(_EXAMPLE_PREFIX)
        )
        return [HelpExample(comment, " ".join(line.split())) for comment, line in texts]

    @property
    def _docstring_paragraphs(self) -> list[str]:
        return (inspect.getdoc(self.options_type) or "").split("\n\n")

    def options(self) -> list[DeclaredOption]:
        groups = pair_groups_with_options(
            (self.options_type, *self.shared_option_classes, MessageOptions), self.excluded_options
        )
        return [option for _, options in groups for option in options]

    def option_sections(self) -> Iterator[tuple[str, list[DeclaredOption]]]:
        """The groups of options, as pairs of a title and the options of the group.

        The groups of shared options come last.
        """
        own_section, *shared = pair_groups_with_options(
            (self.options_type, *self.shared_option_classes, MessageOptions), self.excluded_options
        )
        for title, fields in self.option_names_by_title.items():
            yield title, [option for option in own_section[1] if option.field in fields]
        for group, options in shared:
            yield getattr(group, "title", ""), options

    @property
    def option_names_by_title(self) -> dict[str, list[str]]:
        titles: dict[str, list[str]] = {}
        for name in options_by_field(self.options_type):
            owner = next(c for c in self.options_type.__mro__ if name in inspect.get_annotations(c))
            is_own = owner is self.options_type
            title = (
                DEFAULT_OPTIONS_TITLE if is_own else getattr(owner, "title", DEFAULT_OPTIONS_TITLE)
            )
            titles.setdefault(title, []).append(name)
        if DEFAULT_OPTIONS_TITLE in titles:
            titles[DEFAULT_OPTIONS_TITLE] = titles.pop(DEFAULT_OPTIONS_TITLE)
        return titles


def load_command(name: str) -> Command:
    """The declaration of the named command, imported without the other commands."""
    declaration: Command = load_object(f"passk_cli.commands.{name}:COMMAND")
    return declaration


def option_suggestion(
    command: str, word: str, value: Any, spelled: Callable[[str], Mapping[str, DeclaredOption]]
) -> str:
    """What to write instead of an option that a command lacks, or "" if there is no suggestion.

    spelled : function that maps each option name of a command to the option.  The names are written
        as on the command line or as in Python.
    """
    if reason := {**_ABSENT_OPTION_ADVICE, **load_command(command).absent_option_reasons}.get(word):
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
    elif suggestions and word.strip("-") in options[suggestions[0]].option.allowed_values:
        suggestions = [f"{suggestions[0]} {word.strip('-')}"]
    if not word.startswith("-"):
        suggestions = [text.replace(" ", "=") for text in suggestions]
    return did_you_mean(suggestions) if suggestions else ""
