"""Shows a progress line on the terminal during activities that take more than one second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from passk_cli.activity import current_activity, report_activity
from passk_cli.cleanup import undo_after_block_or_signal

SECONDS_BEFORE_PROGRESS = 1.0
# passk updates the progress line every _SECONDS_BETWEEN_UPDATES seconds.
_SECONDS_BETWEEN_UPDATES = 0.2


@contextmanager
def show_activity(text: str) -> Iterator[None]:
    """Show a text and the elapsed time on the terminal if the block takes more than one second.

    If the block starts another activity with `report_activity` or `show_activity`, the terminal
    shows the text of the new activity until this activity ends.
    """
    if not sys.stderr.isatty():
        yield
        return
    outermost = not current_activity()
    with report_activity(lambda: text):
        if not outermost:
            yield
            return
        stopped = threading.Event()
        watcher = threading.Thread(target=_show_elapsed_seconds, args=(stopped,), daemon=True)
        watcher.start()

        def stop() -> None:
            stopped.set()
            watcher.join(timeout=0.5)

        with undo_after_block_or_signal(stop):
            yield


def _show_elapsed_seconds(stopped: threading.Event) -> None:
    if stopped.wait(SECONDS_BEFORE_PROGRESS):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(current_activity())
        while not stopped.wait(_SECONDS_BETWEEN_UPDATES):
            progress.update(task, description=current_activity())
