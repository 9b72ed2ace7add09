"""A sign of life on stderr while something takes more than a second on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from passk_cli.activity import activity, doing
from passk_cli.cleanup import undo_at_end

PATIENCE = 1.0
# The last picture is wiped within this time, or never.
_SECONDS_TO_STOP = 0.5
# Between looks at what is being done.
_SECONDS_BETWEEN = 0.2


@contextmanager
def show_activity(text: str) -> Iterator[None]:
    """Show `what` with the seconds spent, once a second has gone by; nothing in a pipe.

    What is done within it (`doing`, or another of these) is shown in its place.
    """
    if not sys.stderr.isatty():
        yield
        return
    outermost = not activity()
    with doing(lambda: text):
        if not outermost:
            yield
            return
        stopped = threading.Event()
        watcher = threading.Thread(target=_watch, args=(stopped,), daemon=True)
        watcher.start()

        def stop() -> None:
            stopped.set()
            watcher.join(_SECONDS_TO_STOP)

        with undo_at_end(stop):
            yield


def _watch(stopped: threading.Event) -> None:
    if stopped.wait(PATIENCE):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(activity())
        while not stopped.wait(_SECONDS_BETWEEN):
            progress.update(task, description=activity())
