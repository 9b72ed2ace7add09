"""What must be undone even when the process is ended from outside: temporary files, a spinner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_open: list[Callable[[], object]] = []


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` at the end of the block, or at the end of the process when that comes first."""
    _open.append(undo)
    try:
        yield
    finally:
        undo()
        _open.remove(undo)


@contextmanager
def temporary_folder(prefix: str, beside: Path | None = None) -> Iterator[Path]:
    """An empty folder that is gone after the block, next to a file or where the system has them.

    >>> with temporary_folder("passk-") as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix=prefix, dir=None if beside is None else beside.parent)
    with undone(lambda: shutil.rmtree(folder, ignore_errors=True)):
        yield Path(folder)


def undo_all() -> None:
    """Undo whatever is open, the latest first, from any thread."""
    for undo in reversed(_open):
        with suppress(Exception):
            undo()
