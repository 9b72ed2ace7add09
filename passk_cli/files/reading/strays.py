"""Files that hold nothing, are there twice, sum up others, or lie in a folder by chance."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence

from passk_cli.errors import DataError, NoResults
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import LOOSE, OF_HISTORIES
from passk_cli.files.sources.source import Source, open_bytes, without_suffixes
from passk_cli.message import WARNING, Message, Said
from passk_cli.settle import Settle

IDENTICAL_FILES = Message(
    "identical-files", WARNING,
    "{copy} is byte for byte the same as {file}{?more| (and {more:more file} like that)}; each"
    " counts as {what}",
    "",
    "Two files hold the same bytes: one is probably a copy. The difference of two models is then"
    " exactly 0, and of one model every attempt counts twice, so that intervals are too narrow."
    " Leave the copy out.",
)  # fmt: skip
# An empty file is no larger, packed or not.
_MOST_EMPTY = 64


def is_empty(source: Source) -> bool:
    """Whether a file holds nothing: no byte but blanks, or a JSON object or array of nothing."""
    if os.path.getsize(source.path) > _MOST_EMPTY:
        return False
    with open_bytes(source) as stream:
        return b"".join(stream.read(_MOST_EMPTY).split()) in (b"", b"{}", b"[]")


def without_strays(batches: Sequence[Batch]) -> tuple[list[Batch], list[NoResults]]:
    """The batches without lone records of a folder that may be anything's, and why these are none.

    As {"name": …, "status": "success"}: their task is but an id or a name, and the other files hold
    results of another kind.
    """
    loose = LOOSE.split()
    lone = [b for b in batches if b.layout.kind == "record" and b.roles.task.lower() in loose]
    problem, remedy = "a lone record without a task's name", "name the file if it is a result"
    return _without(batches, lone, problem, remedy)


def without_histories(batches: Sequence[Batch]) -> tuple[list[Batch], list[NoResults]]:
    """The batches of results without histories of runs in their folder, and why these are left out.

    A history holds the runs that were recorded of such results, and these would count again.
    """
    past = [batch for batch in batches if {*OF_HISTORIES} <= batch.layout.kinds.keys()]
    return _without(batches, past, "a history of runs", "")


def _without(
    batches: Sequence[Batch], others: Sequence[Batch], problem: str, remedy: str
) -> tuple[list[Batch], list[NoResults]]:
    """The batches without those of these that nobody named, and errors for their files."""
    left = [b for b in others if not any(source.named for source in b.sources)]
    if len(left) == len(batches):
        return [*batches], []
    errors = [NoResults(source.name, problem, remedy) for b in left for source in b.sources]
    return [batch for batch in batches if batch not in left], errors


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
                problem = f"the same results as {os.path.basename(other.name)}?"
                problem += " attempts have no number that would tell"
                remedy = "name the files to read one by one"
                raise DataError(source.name, problem, remedy, name="duplicate-files")


def equal_files(sources: Iterable[tuple[object, Source]]) -> list[tuple[Source, Source]]:
    """Files that are byte for byte the same as one before them, each with that one.

    sources : each with what must be equal besides.
    """
    alike: dict[object, list[Source]] = {}
    for key, source in sources:
        if source.frame is not None:
            continue
        alike.setdefault((key, os.path.getsize(source.path)), []).append(source)
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
        if batch.roles.attempt is None and (source.label or batch.roles.model)
    )
    for copy, source in equal_files(unnumbered):
        problem = f"byte for byte the same as {source.name}, and attempts have no number that would"
        keep = Settle({"--duplicates": "keep"}, "counts both, if both are runs")
        return DataError(
            copy.name, f"{problem} tell repeats", "leave one out", name="duplicate-files",
            settles=[keep],
        )  # fmt: skip
    return None


def identical_files(batches: Sequence[Batch], *, kept: bool) -> Iterator[Said]:
    """Warnings where files are byte for byte the same that are models by their names, or, where
    repeats are kept, hold the same attempts."""
    files = [batch for batch in batches if batch.layout.kind != "record"]
    named = [(s, b.roles.model or s.label) for b in files for s in b.sources]
    models = [("", source) for source, model in named if not model]
    others = [(source.label, source) for source, model in named if model and kept]
    for what, sources in (("a model", models), ("attempts of its own", others)):
        if pairs := equal_files(sources) if len(sources) > 1 else []:
            (copy, source), more = pairs[0], len(pairs) - 1
            yield IDENTICAL_FILES(copy=copy.name, file=source.name, more=more, what=what)
