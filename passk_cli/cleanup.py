"""Files written whole or not at all; what is undone even when a process is ended from outside."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from passk_cli.errors import ParameterError

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


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside the file and move it into place, so that no half-written file is ever seen.

    A link is followed, an existing file keeps its mode, and what is no plain file (a pipe, a
    device) is written to directly.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        if not stat.S_ISREG(mode_of(str(path))):
            path.write_bytes(data)
            return
        path = Path(os.path.realpath(path))
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        with temporary_folder(".passk-", beside=path) as folder:
            (folder / "output").write_bytes(data)
            os.chmod(folder / "output", mode)
            os.replace(folder / "output", path)
    except BrokenPipeError:
        # A pipe by its name, as /dev/stdout: its reader has gone.
        return
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def mode_of(path: str) -> int:
    """The mode of what is there, that of a plain file when nothing is."""
    return os.stat(path).st_mode if os.path.exists(path) else stat.S_IFREG


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
