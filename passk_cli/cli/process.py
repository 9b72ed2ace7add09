"""The process of a command: signals that end it, and standard streams without a reader."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, TextIO

from passk_cli.cleanup import undo_all
from passk_cli.errors import ParameterError

# Seconds in which a command may end by itself after a signal.
PATIENCE = 0.3
_ENDING = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
_received: list[int] = []


@contextmanager
def end_on_signals() -> Iterator[None]:
    """End the process within a second of Ctrl-C, SIGTERM or SIGHUP, with exit code 128 + signal.

    Python runs its signal handlers only between two lines of Python, and a product of matrices or a
    thread pool can take a minute until the next line.  Therefore a thread also receives the signal.
    If the command does not end by itself soon after it, the thread removes unfinished files and
    ends the process.  Signals that were ignored, for example under nohup, stay ignored.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    default_handlers = (signal.SIG_DFL, signal.default_int_handler)
    before = {
        s: signal.getsignal(s) for s in _ENDING if s and signal.getsignal(s) in default_handlers
    }
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    unheard = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(
        target=_wait_for_signal, args=(reading, frozenset(before)), daemon=True
    ).start()
    for number in before:
        signal.signal(number, _interrupt_main_thread)
    try:
        yield
    finally:
        leave_if_signalled()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(unheard)
        os.close(writing)


def leave_if_signalled() -> None:
    """End the process if a signal was received, because an error may be a consequence of it."""
    if _received:
        _exit_by_signal(_received[0])


def _interrupt_main_thread(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread at the first signal, unless it is importing a module.

    If the import of a module is interrupted, a C library may end the process with its own message.
    Imports are short, and the listening thread ends the process soon after.
    """
    if _received:
        return
    _received.append(number)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib."):
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _wait_for_signal(heard: int, numbers: frozenset[int]) -> None:
    """Wait for a signal, then for the main thread to end, and then end the process."""
    while number := os.read(heard, 1):
        if number[0] in numbers:
            time.sleep(PATIENCE)
            _exit_by_signal(number[0])
    os.close(heard)


def _exit_by_signal(number: int) -> None:
    undo_all()
    os._exit(128 + number)


@contextmanager
def open_streams() -> Iterator[None]:
    """Standard streams that stay usable if they are closed or if their reader ends.

    Text without a reader is dropped, so that the exit code of a command does not change.  A closed
    stdin is empty.  Characters that an encoding lacks are written as codes.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as opened:
        if sys.stdin is None:
            sys.stdin = opened.enter_context(open(os.devnull))
        sys.stdout = _reopened(before[1], opened)
        sys.stderr = _reopened(before[2], opened, last=True)
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _reopened(stream: TextIO | None, opened: ExitStack, last: bool = False) -> TextIO:
    if stream is None:
        return opened.enter_context(open(os.devnull, "w"))
    try:
        number = stream.fileno()
    except io.UnsupportedOperation:
        return stream
    stream.flush()
    lasting = io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(number, stream.name, last)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=last or stream.isatty(),
    )
    return opened.enter_context(lasting)


class _Descriptor(io.FileIO):
    """A file descriptor that raises at most one error if writing fails, and none if `last`."""

    def __init__(self, number: int, name: str, last: bool) -> None:
        super().__init__(number, "wb", closefd=False)
        self._shown, self._lost, self._last = name, False, last

    def write(self, data: Any) -> int:
        """Write like the base class; after an error, pretend that the data were written."""
        if not self._lost:
            try:
                return super().write(data)
            except OSError as error:
                self._lost = True
                if not (self._last or isinstance(error, BrokenPipeError)):
                    problem = f"cannot be written ({error.strerror})"
                    raise ParameterError(
                        f"{self._shown}: {problem}", name="unwritable-output"
                    ) from None
        return memoryview(data).nbytes
