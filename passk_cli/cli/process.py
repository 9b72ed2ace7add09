"""Ends the process promptly after a signal, and prevents errors from closed standard streams."""

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

# After a signal, a command has SECONDS_TO_END seconds to end by itself.
SECONDS_TO_END = 0.3
_ENDING_SIGNALS = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
_received_signals: list[int] = []


@contextmanager
def end_on_signals() -> Iterator[None]:
    """End the process within a second after Ctrl-C, SIGTERM or SIGHUP.

    The exit code is 128 plus the number of the signal.  Python runs a signal handler only between
    two Python instructions, and a matrix product or a thread pool can delay the next instruction
    for a minute.  Therefore, a second thread also receives the signal.  If the command does not end
    soon, this thread removes unfinished files and ends the process.  Signals that were ignored, for
    example under nohup, are still ignored.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    default_handlers = (signal.SIG_DFL, signal.default_int_handler)
    before = {
        s: signal.getsignal(s)
        for s in _ENDING_SIGNALS
        if s and signal.getsignal(s) in default_handlers
    }
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    unheard = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(
        target=_exit_after_signal, args=(reading, frozenset(before)), daemon=True
    ).start()
    for number in before:
        signal.signal(number, _interrupt_main_thread)
    try:
        yield
    finally:
        exit_if_signalled()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(unheard)
        os.close(writing)


def exit_if_signalled() -> None:
    """End the process if a signal has arrived, because the signal may have caused an error."""
    if _received_signals:
        _undo_all_and_exit(_received_signals[0])


def _interrupt_main_thread(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread at the first signal, unless the thread is importing a module.

    If the import of a C library is interrupted, the library may end the process with a message
    of its own.  During an import, the second thread ends the process after a short delay.
    """
    if _received_signals:
        return
    _received_signals.append(number)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib."):
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _exit_after_signal(heard: int, numbers: frozenset[int]) -> None:
    while number := os.read(heard, 1):
        if number[0] in numbers:
            time.sleep(SECONDS_TO_END)
            _undo_all_and_exit(number[0])
    os.close(heard)


def _undo_all_and_exit(number: int) -> None:
    undo_all()
    os._exit(128 + number)


@contextmanager
def robust_standard_streams() -> Iterator[None]:
    """Replace stdin, stdout and stderr with streams that work even if the originals are closed.

    If the process that reads the output ends, further text is dropped, so that the exit code of the
    command does not change.  A closed stdin is empty.  If the encoding of a stream does not contain
    a character, the stream gets an escape code instead of the character.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as opened:
        if sys.stdin is None:
            sys.stdin = opened.enter_context(open(os.devnull))
        sys.stdout = _robust_stream(before[1], opened)
        sys.stderr = _robust_stream(before[2], opened, last=True)
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _robust_stream(stream: TextIO | None, opened: ExitStack, last: bool = False) -> TextIO:
    if stream is None:
        return opened.enter_context(open(os.devnull, "w"))
    try:
        number = stream.fileno()
    except io.UnsupportedOperation:
        return stream
    stream.flush()
    lasting = io.TextIOWrapper(
        io.BufferedWriter(_RobustDescriptor(number, stream.name, last)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=last or stream.isatty(),
    )
    return opened.enter_context(lasting)


class _RobustDescriptor(io.FileIO):
    """A file descriptor that reports at most one write error.

    The descriptor reports no error if `last` is True, or if the reader has closed the pipe.
    """

    def __init__(self, number: int, name: str, last: bool) -> None:
        super().__init__(number, "wb", closefd=False)
        self._shown, self._lost, self._last = name, False, last

    def write(self, data: Any) -> int:
        """Write the data, or drop the data if an earlier write has failed."""
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
