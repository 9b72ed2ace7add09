"""Writes files completely or not at all, and removes temporary files if the process is killed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from passk_cli.errors import ParameterError

# The operating system raises the errors in _DISK_FULL_ERROR_NUMBERS if the disk is full, the file
# is too large, or the quota is used up.
_DISK_FULL_ERROR_NUMBERS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_undo_functions: list[Callable[[], object]] = []


@contextmanager
def undo_after_block_or_signal(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` at the end of the block, or if a signal ends the process during the block."""
    _undo_functions.append(undo)
    try:
        yield
    finally:
        undo()
        _undo_functions.remove(undo)


@contextmanager
def temporary_folder(prefix: str, beside: Path | None = None) -> Iterator[Path]:
    """A temporary folder that is deleted after the block.

    If a file is given, the new folder is next to this file.  Otherwise, the new folder is in the
    system's temporary folder.
    Errors: ParameterError if the system has no writable temporary folder.  OSError if passk cannot
        create a folder next to the file.

    >>> with temporary_folder("passk-") as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix=prefix, dir=None if beside is None else beside.parent)
    except OSError as error:
        if beside is not None:
            raise
        remedy = "set TMPDIR to a writable folder"
        problem = f"no folder for temporary files ({error.strerror})"
        raise ParameterError(f"{problem}; {remedy}", name="unwritable-output") from None
    with undo_after_block_or_signal(lambda: shutil.rmtree(folder, ignore_errors=True)):
        yield Path(folder)


def undo_all() -> None:
    """Call the `undo` functions of all blocks that have not ended, beginning with the latest block.

    Any thread may call this function.
    """
    for undo in reversed(_undo_functions):
        with suppress(Exception):
            undo()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a temporary file and then rename it, so that nobody sees an incomplete file."""
    with write_all_or_none({path: content}):
        pass


@contextmanager
def write_all_or_none(contents: dict[Path, str | bytes]) -> Iterator[None]:
    """Write several files completely, or write none of them if an error occurs.

    passk writes to pipes and devices before it moves files, because writing fails more often than
    moving a file.
    """
    plain = list(filter(_is_regular_file, contents))
    with ExitStack() as files:
        for path in (*reversed(plain), *(path for path in contents if path not in plain)):
            file, content = files.enter_context(file_moved_at_end(path)), contents[path]
            if isinstance(content, str):
                content = content.encode(errors="backslashreplace")
            with _convert_write_errors(path):
                file.write_bytes(content)
        yield


@contextmanager
def file_moved_at_end(path: Path, *, new: bool = False) -> Iterator[Path]:
    """Provide a temporary file for the block to write, and move it to `path` after the block.

    If `path` is a link, passk writes the target of the link.  If the file exists, the new file has
    the same file mode.  If `path` is a pipe or a device, the content of the temporary file is
    copied.  If the block raises an error, an existing file at `path` does not change.

    new : whether to raise FileExistsError if `path` exists at the end of the block.
    """
    import shutil

    plain, place = _is_regular_file(path), Path(os.path.realpath(path))
    with ExitStack() as opened:
        with _convert_write_errors(path):
            beside = temporary_folder(".passk-", beside=place if plain else None)
            file = opened.enter_context(beside) / "output"
            mode = place.stat().st_mode & 0o777 if place.exists() else None
        try:
            yield file
        except OSError as error:
            if error.filename != str(file):
                raise
            raise unwritable_error(path, error) from None
        with _convert_write_errors(path):
            if plain:
                if mode is not None:
                    os.chmod(file, mode)
                (_move_without_replacing if new else os.replace)(file, place)
                return
            with open(file, "rb") as content, open(path, "wb") as target:
                shutil.copyfileobj(content, target, 1 << 20)


@contextmanager
def _convert_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except BrokenPipeError:
        return
    except OSError as error:
        raise unwritable_error(path, error) from None


def _move_without_replacing(file: Path, place: Path) -> None:
    """Move a file, and raise FileExistsError if the new path exists.

    The function calls `os.link`, because `os.replace` overwrites existing files.
    """
    try:
        os.link(file, place)
    except FileExistsError:
        raise
    except OSError:
        if place.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from None
        os.replace(file, place)


def unwritable_error(path: str | Path, error: OSError) -> ParameterError:
    """The error for a file or folder that passk cannot write."""
    return ParameterError(f"{path}: cannot be written ({error.strerror})", name="unwritable-output")


def disk_full_error(error: OSError, content: str) -> ParameterError | None:
    """The error for a full disk or a file that is too large, or None for any other error.

    content : what passk was writing, for example "temporary files".
    """
    if error.errno not in _DISK_FULL_ERROR_NUMBERS:
        return None
    remedy = "set TMPDIR to a folder with more room"
    return ParameterError(
        f"{content}: cannot be written ({error.strerror}); {remedy}", name="unwritable-output"
    )


def st_mode_or_regular_if_missing(path: str) -> int:
    """The file mode of a path.  A path that does not exist has the mode of a regular file."""
    return os.stat(path).st_mode if os.path.exists(path) else stat.S_IFREG


def _is_regular_file(path: Path) -> bool:
    return stat.S_ISREG(st_mode_or_regular_if_missing(str(path)))
