"""A progress line on stderr for activities of more than a second, on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from passk_cli.activity import activity, report_activity
from passk_cli.cleanup import undo_at_end

PATIENCE = 1.0
# The maximum number of seconds to wait until the progress line is removed.
_SECONDS_TO_STOP = 0.5
# Seconds between updates of the progress line.
_SECONDS_BETWEEN = 0.2


@contextmanager
def show_activity(text: str) -> Iterator[None]:
    """Show a text with the elapsed seconds, after one second and only on a terminal.

    Inner activities (of `report_activity` or `show_activity`) replace the text.
    """
    if not sys.stderr.isatty():
        yield
        return
    outermost = not activity()
    with report_activity(lambda: text):
        if not outermost:
            yield
            return
        stopped = threading.Event()
        watcher = threading.Thread(target=_show_elapsed_seconds, args=(stopped,), daemon=True)
        watcher.start()

        def stop() -> None:
            stopped.set()
            watcher.join(_SECONDS_TO_STOP)

        with undo_at_end(stop):
            yield


def _show_elapsed_seconds(stopped: threading.Event) -> None:
    if stopped.wait(PATIENCE):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(activity())
        while not stopped.wait(_SECONDS_BETWEEN):
            progress.update(task, description=activity())
