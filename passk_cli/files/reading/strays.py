"""Files that hold nothing, are there twice, or lie in a folder by chance."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from passk_cli.errors import DataError, NoResults
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import LOOSE
from passk_cli.files.sources.source import Source, open_bytes, without_suffixes
from passk_cli.settle import Settle
from passk_cli.text import first_few

# Names of files that sum up the others.
_SUMMARY = re.compile(
    r"((results?|eval|runs?|models?|benchmark|all)[_-])?"
    r"(summary|leaderboard|aggregated?|aggregates|overall|totals?)([_-]results)?",
    re.I,
)
# An empty file is no larger, packed or not.
_MOST_EMPTY = 64


def is_empty(source: Source) -> bool:
    """Whether a file holds nothing: no byte but blanks, or a JSON object or array of nothing."""
    if source.partial or os.path.getsize(source.path) > _MOST_EMPTY:
        return False
    with open_bytes(source) as stream:
        return b"".join(stream.read(_MOST_EMPTY).split()) in (b"", b"{}", b"[]")


def without_strays(batches: Sequence[Batch]) -> tuple[list[Batch], list[NoResults]]:
    """The batches without lone records of a folder that may be anything's, and why these are none.

    As {"name": …, "status": "success"}: their task is but an id or a name, and the other files hold
    results of another kind.
    """
    lone = [
        batch
        for batch in batches
        if batch.layout.kind == "record"
        and batch.roles.task.lower() in LOOSE.split()
        and not any(source.named for source in batch.sources)
    ]
    if len(lone) == len(batches):
        return [*batches], []
    problem, remedy = "a lone record whose task would be its", "name the file if it is a result"
    errors = [
        NoResults(source.name, f"{problem} {batch.roles.task!r}", remedy)
        for batch in lone
        for source in batch.sources
    ]
    return [batch for batch in batches if batch not in lone], errors


def summary_file(batches: Sequence[Batch], cells: Mapping[str, Any]) -> DataError | None:
    """Error for a file that would be a model by its name and is a summary of the others: its tasks
    are their models, or it lies in a folder and its name says so.

    cells : name and task, as of a tally.
    """
    names, tasks = cells["name"], cells["task"]
    models = {*names.names}
    for batch in batches if len(models) > 1 else ():
        for source in batch.sources if batch.roles.model is None and not batch.layout.table else ():
            if source.stem not in models or source.label is not None:
                continue
            others = models - {source.stem}
            own = tasks[names.codes == names.names.index(source.stem)].present
            if len(own) > 1 and others.issuperset(own):
                problem = f"its tasks are models of the other files ({first_few(own)})"
            elif not source.named and _SUMMARY.fullmatch(source.stem):
                problem = f"by its name a summary of the other files ({first_few(sorted(others))})"
            else:
                continue
            remedy = ""
            if not source.named:
                pattern = os.path.join(os.path.dirname(source.name), "*")
                remedy = f"if it is a model, name the files by a pattern: {shlex.quote(pattern)}"
            without = Settle({"--exclude-model": (source.stem,)}, "leaves it out")
            return DataError(source.name, problem, remedy, name="summary-file", settles=[without])
    return None


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
