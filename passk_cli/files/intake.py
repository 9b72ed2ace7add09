"""Yield of formats: batches to read, and messages about their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from passk_cli.errors import NoResults
from passk_cli.files.source import Source
from passk_cli.files.statement import Batch
from passk_cli.message import WARNING, Message, Said
from passk_cli.text import first_few

EMPTY_FILES = Message(
    "empty-files", WARNING, "skipped {count:empty file}: {files}", "",
    "Files without any content were passed over, as --skip-bad asks. An empty file is often that of"
    " a run that crashed before it wrote its first result, so that its attempts are missing here.",
)  # fmt: skip


@dataclass
class Spooled:
    """Yield of formats: batches to read, and messages about their files.

    nameless : paths of files that name no model.  said : message → the files it is about.
    reasons : model → why attempts have no outcome → how many.  skipped : lines left out.
    task_kinds : "number" or "text" → the first file whose tasks are that.
    outcomes : format → what --outcome chooses from.
    runs : model → its runs that go on as one, where several.
    empty : files that hold nothing and were left out.
    over : files of a folder without the outcome asked for.
    foreign : what is no result file in a folder, and why; refused : the same, of known formats.
    """

    batches: list[Batch] = field(default_factory=list)
    nameless: set[str] = field(default_factory=set)
    said: dict[Said, list[str]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: int = 0
    task_kinds: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, dict[str, None]] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    foreign: list[NoResults] = field(default_factory=list)
    refused: list[NoResults] = field(default_factory=list)

    @property
    def messages(self) -> tuple[Said, ...]:
        """Messages of files about themselves, each once."""
        said = (message.about(first_few(names)) for message, names in self.said.items())
        empty = [EMPTY_FILES(count=len(self.empty), files=self.empty)] if self.empty else []
        return (*said, *empty)

    def saw_tasks(self, source: Source, kinds: Iterable[str]) -> None:
        """Which kinds of values a file's tasks are."""
        for kind in kinds:
            self.task_kinds.setdefault(kind, source.name)

    def pass_over(self, source: Source, error: NoResults) -> None:
        """A file of a folder that holds no results; one that the user named is an error."""
        if source.named:
            raise error
        self.refused.append(error)
