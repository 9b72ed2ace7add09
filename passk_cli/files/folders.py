"""Contents of a folder besides results: strays, and results that are there twice."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from passk_cli.errors import DataError, NoResults
from passk_cli.files.roles import ROLES
from passk_cli.files.source import Source, open_bytes, without_suffixes
from passk_cli.files.statement import Batch
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.text import plural

IDENTICAL_MODELS = Message(
    "identical-models", WARNING,
    "{copy} is byte for byte the same as {file}{?more| (and {more:more file} like that)}; each"
    " counts as a model",
    "",
    "Two files that are models by their names hold the same bytes: one is probably a copy. Their"
    " difference is exactly 0, which says nothing about two models. Leave the copy out.",
)  # fmt: skip
MIXED_TASKS = Message(
    "mixed-tasks", NOTE,
    'tasks are numbers in {numbers} and texts in {texts}: {task} and "{task}" are one task',
    "",
    "Names of tasks are texts. One file writes them as numbers, another one in quotes; passk takes"
    " equal ones as the same task. Rename them where they are different tasks.",
)  # fmt: skip

# A record by itself: as one object in a file.
RECORD = "record"


# An empty file is no larger, packed or not.
_MOST_EMPTY = 64


def is_empty(source: Source) -> bool:
    """Whether a file holds nothing: no byte but blanks, or a JSON object or array of nothing."""
    if source.shared is not None or os.path.getsize(source.path) > _MOST_EMPTY:
        return False
    with open_bytes(source) as stream:
        return b"".join(stream.read(_MOST_EMPTY).split()) in (b"", b"{}", b"[]")


def require_results(empty: Sequence[Source]) -> None:
    """DataError for empty files beside others: a run that ended early lost its results."""
    if empty:
        more = f", as {plural(len(empty) - 1, 'more file')}" if len(empty) > 1 else ""
        remedy = "run it again, or leave empty files out with --skip-bad"
        raise DataError(empty[0].name, f"the file is empty{more}", remedy, name="no-results")


def strays(batches: Sequence[Batch]) -> list[Batch]:
    """Lone records of a folder that may be anything's: {"name": …, "status": "success"}.

    Their task is but an id or a name, and the other files hold results of another kind.
    """
    lone = [
        batch
        for batch in batches
        if batch.layout.kind == RECORD
        and batch.roles.task.lower() in ROLES["task"].names[1]
        and not any(source.named for source in batch.sources)
    ]
    return lone if len(lone) < len(batches) else []


def strayed(batches: Iterable[Batch]) -> list[NoResults]:
    """Why files of strays are passed over."""
    return [
        NoResults(
            source.name,
            f"a lone record whose task would be its {batch.roles.task!r}",
            "name the file if it is a result",
        )
        for batch in batches
        for source in batch.sources
    ]


def require_no_copies(batches: Sequence[Batch]) -> None:
    """DataError for results.json beside results.jsonl, whose attempts have no numbers to compare.

    Where attempts have numbers a repeat is found by them.
    """
    before: dict[str, Source] = {}
    for batch in batches:
        for source in batch.sources if batch.roles.attempt is None else ():
            if source.named:
                continue
            path = os.path.abspath(source.name)
            stem = os.path.join(os.path.dirname(path), without_suffixes(os.path.basename(path)))
            other = before.setdefault(stem, source)
            if other is not source:
                raise DataError(
                    source.name,
                    f"the same results as {os.path.basename(other.name)}? attempts have no number"
                    " that would tell",
                    "name the files to read one by one",
                    name="duplicate-files",
                )


def _equal(sources: Iterable[tuple[object, Source]]) -> list[tuple[Source, Source]]:
    """Files that are byte for byte the same as one before them, each with that one.

    sources : each with what must be equal besides.
    """
    alike: dict[object, list[Source]] = {}
    for key, source in sources:
        size = source.shared.size if source.shared else os.path.getsize(source.path)
        alike.setdefault((key, size), []).append(source)
    pairs = []
    for group in alike.values():
        first: dict[bytes, Source] = {}
        for source in group if len(group) > 1 else ():
            with open(source.path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            if first.setdefault(digest, source) is not source:
                pairs.append((source, first[digest]))
    return pairs


def copy_of_a_file(batches: Iterable[Batch]) -> DataError | None:
    """Error of a copy of a file whose attempts have no numbers: they would count twice."""
    unnumbered = (
        ((source.label, tuple(batch.layout.constants_of(source.path).items())), source)
        for batch in batches
        for source in batch.sources
        if batch.roles.attempt is None and not _names_model(batch, source)
    )
    for copy, source in _equal(unnumbered):
        return DataError(
            copy.name,
            f"byte for byte the same as {source.name}, and attempts have no number that would tell"
            " repeats",
            "leave one out; if both are runs, count both with --duplicates keep",
            name="duplicate-files",
        )
    return None


def equal_models(batches: Sequence[Batch]) -> list[Said]:
    """A warning where files that are models by their names are byte for byte the same."""
    named = [("", s) for batch in batches for s in batch.sources if _names_model(batch, s)]
    pairs = _equal(named) if len(named) > 1 else []
    if not pairs:
        return []
    (copy, source), more = pairs[0], len(pairs) - 1
    return [IDENTICAL_MODELS(copy=copy.name, file=source.name, more=more)]


def _names_model(batch: Batch, source: Source) -> bool:
    """Whether a file's own name is its model's."""
    return source.label is None and batch.roles.model is None


def mixed_tasks(
    kinds: Mapping[str, str], tasks: Sequence[str], example: str | None
) -> Iterator[Said]:
    """The message that a number is the same task as its text in another file.

    kinds : kind of value, "number" or "text" → the first file whose tasks are that.
    example : one of the tasks.
    """
    files = {kinds.get("number"), kinds.get("text")}
    if None not in files and len(files) == 2 and all(task.isdecimal() for task in tasks):
        yield MIXED_TASKS(numbers=kinds["number"], texts=kinds["text"], task=example)
