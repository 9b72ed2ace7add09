"""The options that hide messages or turn messages into errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from passk_cli.diagnostic import NOTE, Diagnostic
from passk_cli.errors import DataError
from passk_cli.option import Option
from passk_cli.report.data_types import Report


@dataclass(frozen=True, eq=False, repr=False)
class MessageOptions:
    """The options --error and --ignore, which every command has."""

    title: ClassVar[str] = "Messages"

    # fmt: off
    error: Annotated[tuple[str, ...], Option(
        "--error", "NAME|all", "Make a message an error (exit code 3).",
        detail="NAME is the name of a message, or the word 'all' for all warnings. You can repeat"
        " --error. `passk help NAME` explains a message.",
        parse="passk_cli.commands.diagnostic_lookup:parse_names_or_all_warnings")] = ()
    ignore: Annotated[tuple[str, ...], Option(
        "--ignore", "NAME", "Do not print this message.",
        detail="NAME is the name of a message. You can repeat --ignore. The last line of the report"
               " lists the ignored messages.",
        parse="passk_cli.commands.diagnostic_lookup:parse_note_and_warning_names")] = ()
    # fmt: on

    def raise_errors(
        self, messages: Iterable[Diagnostic], words: Callable[[Diagnostic], str]
    ) -> None:
        """Raise a DataError for the first message that --error turns into an error."""
        for message in messages:
            applies_to_all = self.error == ("all",) and message.severity != NOTE
            if message.name not in self.ignore and (message.name in self.error or applies_to_all):
                text = words(replace(message, fixes=()))
                raise DataError("", text, name=message.name, settles=message.fixes)

    def filter_report(self, report: Report, words: Callable[[Diagnostic], str]) -> Report:
        """Return the report without the messages that --ignore names.

        Errors: DataError if --error turns a message of the report into an error.
        """
        if not self.error and not self.ignore:
            return report
        self.raise_errors(report.messages, words)
        messages = tuple(message for message in report.messages if message.name not in self.ignore)
        ignored = {"ignore": ",".join(self.ignore)} if self.ignore else {}
        return replace(
            report, messages=messages, make_signature=lambda: {**report.signature, **ignored}
        )
