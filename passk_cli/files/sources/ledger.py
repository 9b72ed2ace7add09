"""Counts of files that stay from run to run: a folder of entries."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from passk_cli.cleanup import temporary_folder
from passk_cli.files.export import locked, writing
from passk_cli.files.sources.source import Source
from passk_cli.version import __version__

SUFFIX = ".counts"
_LOCK = "lock"
# What a kill leaves behind of an entry that was being written.
_HALVES = ".passk-"
# Another number when entries hold something else than before.
_FORM = 2
# A file may change once more within the time that its system tells apart, two seconds at most.
_SETTLED = 2_000_000_000
# Bytes of a file's beginning and of its end that are looked at again each time.
_LOOKED_AT = 1 << 16
_State = tuple[int, int, int, int, str] | None


class Ledger:
    """The entries of a folder: a line of JSON, with the hash of what follows it, then a table.

    What an entry is of stands in its name, a hash of the file's path and state, of what is asked of
    it, and of the versions that count.  An entry that is damaged, cut off or cannot be read is
    none.

    tables : the folder where the tables that are used lie for the time of the run.
    """

    def __init__(self, folder: Path, tables: Path) -> None:
        self._folder, self.tables = folder, tables
        self._states: dict[str, tuple[Source, _State]] = {}

    def key(self, source: Source, *asked: object) -> str:
        """The name of the entry of a file as it is now.  asked : of it, as JSON has it."""
        state = _state(source)
        parts = [_FORM, __version__, str(duckdb.__version__), source.origin, state, *asked]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        self._states[key] = source, state
        return key

    def table(self, key: str) -> Path:
        """Where the table of an entry lies, or is to be written."""
        return self.tables / key

    def summary(self, key: str) -> Any:
        """Summary of an entry, its table laid where it can be read; None where there is none."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(self._folder / (key + SUFFIX), "rb") as entry:
                head = json.loads(entry.readline())
                summary, digest = head["summary"], _digest(head["summary"])
                with open(self.table(key), "wb") as table:
                    while block := entry.read(1 << 20):
                        digest.update(block)
                        table.write(block)
            if digest.hexdigest() == head["sha256"]:
                return summary
        return None

    def keep(self, key: str, summary: object) -> None:
        """Make an entry, whole or not at all, of what is to be said and the table, if it has one.

        Nothing is kept of a file that changed since its key was made, or a moment before.
        Errors: ParameterError where it cannot be written.
        """
        source, state = self._states[key]
        if state is None or state != _state(source) or time.time_ns() - state[0] < _SETTLED:
            return
        digest, table = _digest(summary), self.table(key)
        place = self._folder / (key + SUFFIX)
        with writing(self._folder), temporary_folder(_HALVES, beside=place) as folder:
            with open(table if table.exists() else os.devnull, "rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
                content.seek(0)
                with open(folder / "entry", "wb") as entry:
                    head = {"sha256": digest.hexdigest(), "summary": summary}
                    entry.write(json.dumps(head).encode() + b"\n")
                    shutil.copyfileobj(content, entry, 1 << 20)
            os.replace(folder / "entry", place)

    def tidy(self) -> None:
        """Remove the entries that this run did not use, as those of files that changed or went."""
        with suppress(OSError):
            for path in list(self._folder.iterdir()):
                if path.name.startswith(_HALVES):
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name.endswith(SUFFIX) and path.stem not in self._states:
                    path.unlink()


@contextmanager
def ledger_of(folder: str, spool: Path) -> Iterator[Ledger]:
    """The ledger of a folder, which is made if it is not there; one run at a time uses it.

    spool : a folder for temporary files.
    Errors: ParameterError for a folder that cannot be written, or that another run uses.
    """
    path, tables = Path(folder), spool / "counts"
    tables.mkdir()
    with writing(path):
        path.mkdir(exist_ok=True)
    with locked(path, path / _LOCK, wait=False):
        yield Ledger(path, tables)


def _digest(summary: object) -> Any:
    return hashlib.sha256(json.dumps(summary).encode())


def _state(source: Source) -> _State:
    """Size and time of a file, by which a change is seen; None where it is gone.

    The times of its last change and of its inode's, the inode, the size, and a hash of its first
    and last bytes: a time can be set back, as `cp -p` and `rsync -t` do, the inode's cannot.
    """
    try:
        with open(source.origin, "rb") as file:
            status = os.fstat(file.fileno())
            digest = hashlib.sha256(file.read(_LOOKED_AT))
            file.seek(max(status.st_size - _LOOKED_AT, 0))
            digest.update(file.read(_LOOKED_AT))
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return *times, status.st_ino, status.st_size, digest.hexdigest()
