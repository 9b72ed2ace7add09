"""Functions that find messages, errors and answers by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.diagnostic import DIAGNOSTIC_TYPE_BY_NAME, ERROR, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.option import split_at_commas
from passk_cli.study.answer import ANSWERS, Answer
from passk_cli.suggestions import did_you_mean_or_list

# _MODULES_WITH_MESSAGES lists the modules that declare messages or errors outside of commands.
_MODULES_WITH_MESSAGES = (
    "passk_cli.error_names", "passk_cli.files.counting.raw_text_checks",
    "passk_cli.files.counting.outcome_word_messages", "passk_cli.files.formats",
    "passk_cli.files.reading.schema_detection", "passk_cli.files.reading.column_choice_errors",
    "passk_cli.files.load", "passk_cli.files.attempts.cost_checks",
    "passk_cli.files.attempts.labels",
    "passk_cli.study.baseline", "passk_cli.study.history", "passk_cli.study.missing_outcomes",
    "passk_cli.study.benchmarks", "passk_cli.study.completeness", "passk_cli.study.duplicate_runs",
    "passk_cli.study.dependence", "passk_cli.study.data_notes",
)  # fmt: skip


def all_messages() -> dict[str, DiagnosticType]:
    """All types of messages and errors by name, in alphabetical order."""
    for module in _MODULES_WITH_MESSAGES:
        import_module(module)
    for name in COMMANDS:
        _ = load_command(name).runner_class
    return dict(sorted(DIAGNOSTIC_TYPE_BY_NAME.items()))


def all_answers_by_name() -> dict[str, Answer]:
    """All types of answer sentences by name, in the order of the commands."""
    for name in COMMANDS:
        _ = load_command(name).runner_class
    return ANSWERS


def find_message(name: str) -> DiagnosticType:
    """Return the message with this name, or raise a ParameterError that suggests a similar name."""
    declared = all_messages()
    if name in declared:
        return declared[name]
    question = did_you_mean_or_list(name, declared, "`passk help messages` lists them")
    raise ParameterError(f"no message is named {name!r}; {question}", name="unknown-name")


def parse_note_and_warning_names(names: Any) -> tuple[str, ...]:
    """Parse comma-separated names of notes and warnings.

    Errors: ParameterError if a name does not exist or is the name of an error.
    """
    message_names = split_at_commas(names)
    for name in message_names:
        if find_message(name).severity == ERROR:
            raise ParameterError(
                f"{name} is already an error; choose the name of a note or a warning"
            )
    return message_names


def parse_names_or_all_warnings(names: Any) -> tuple[str, ...]:
    """Parse comma-separated names of messages. The word "all" stands for all warnings."""
    message_names = parse_note_and_warning_names(
        [name for name in split_at_commas(names) if name != "all"]
    )
    return ("all",) if "all" in split_at_commas(names) else message_names
