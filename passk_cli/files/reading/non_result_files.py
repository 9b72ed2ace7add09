"""Find files that are empty, are copies of other files, or do not contain results."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence

from passk_cli.errors import DataError, FileWithoutResultsError
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import HISTORY_COLUMNS, LOOSE_TASK_NAMES
from passk_cli.files.sources.source import Source, open_bytes, without_suffixes
from passk_cli.suggested_fix import SuggestedFix

# Only a file of at most _MAX_BYTES_TO_CHECK_IF_EMPTY bytes can be empty. A compressed empty file
# has a few bytes.
_MAX_BYTES_TO_CHECK_IF_EMPTY = 64


class PossibleResultsExcludedError(FileWithoutResultsError):
    """The error for a history, or for a file that an option excludes although the file may contain
    results.

    For example, --path excludes files with other paths, and --field excludes files without the
    named column.

    outcome : the outcome column of the file. None means that the file definitely contains
        results, and "" means that the file is a history.
    """

    def __init__(self, error: FileWithoutResultsError, outcome: str | None) -> None:
        self.outcome = outcome
        super().__init__(
            error.place, error.problem, error.words, name=error.name, settles=error.fixes
        )


def is_empty(source: Source) -> bool:
    """Whether a file contains only white space, or an empty JSON object or array."""
    if os.path.getsize(source.path) > _MAX_BYTES_TO_CHECK_IF_EMPTY:
        return False
    with open_bytes(source) as stream:
        return b"".join(stream.read(_MAX_BYTES_TO_CHECK_IF_EMPTY).split()) in (b"", b"{}", b"[]")


def without_non_results(
    batches: Sequence[Batch],
) -> tuple[list[Batch], list[FileWithoutResultsError]]:
    """Return the batches with results, and one error per file without results. Only files in
    folders are left out.

    A file with a single record such as {"name": …, "status": "success"} may not be a result. A
    history repeats the results of recorded runs, which would therefore count twice.
    """
    results: list[Batch] = []
    strays: list[FileWithoutResultsError] = []
    for batch in batches:
        lone = (
            batch.layout.kind == "record" and batch.roles.task.lower() in LOOSE_TASK_NAMES.split()
        )
        past = {*HISTORY_COLUMNS} <= batch.layout.kinds_by_column.keys()
        if not (lone or past) or any(source.is_explicit for source in batch.sources):
            results.append(batch)
        for source in batch.sources if batch not in results else ():
            problem = "a history of runs" if past else "a single record without the name of a task"
            error = FileWithoutResultsError(
                source.name, problem, "if the file contains results, pass the path of the file"
            )
            strays.append(PossibleResultsExcludedError(error, "") if past else error)
    return (results, strays) if results else ([*batches], [])


def find_duplicate_file(sources: Iterable[tuple[object, Source]]) -> tuple[Source, Source] | None:
    """Find the first file that is a byte-for-byte copy. Return the copy and the original file, or
    None.

    sources : pairs of a key and a source. Files are compared only if their keys are equal.
    """
    same_size: dict[object, list[Source]] = {}
    for key, source in sources:
        if source.frame is None:
            same_size.setdefault((key, os.path.getsize(source.path)), []).append(source)
    for group in same_size.values():
        first: dict[bytes, Source] = {}
        for source in group if len(group) > 1 else ():
            with open(source.path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            if first.setdefault(digest, source) is not source:
                return source, first[digest]
    return None


def repeated_file_error(batches: Iterable[Batch]) -> DataError | None:
    """The error for two files with the same content, or with names that differ only in the suffix.

    Only files without attempt numbers are compared. The result is None if there are no such files.
    """
    stems: dict[str, Source] = {}
    files, named_alike = [], None
    for batch in batches:
        for source in batch.sources if batch.roles.attempt is None else ():
            folder, name = os.path.split(os.path.abspath(source.name))
            stem = os.path.join(folder, without_suffixes(name))
            # If the data has neither labels nor a model column, each file is one model.
            model = "" if source.label or batch.roles.model else stem
            constants = tuple(batch.layout.file_constants(source.path).items())
            files.append(((source.label, model, constants), source))
            first = stems.setdefault(stem, source)
            if first is not source and not source.is_explicit:
                named_alike = source, first
    copy = find_duplicate_file(files)
    copy_and_original = copy or named_alike
    how = "byte for byte the same as" if copy else "named like"
    if copy_and_original is None:
        return None
    source, original = copy_and_original
    problem = f"{how} {original.name}, and no attempt numbers show whether attempts are repeated"
    keep = SuggestedFix({"--duplicates": "keep"}, "counts both files, if each is a separate run")
    remedy = "leave one of the files out"
    return DataError(source.name, problem, remedy, name="duplicate-files", settles=[keep])
