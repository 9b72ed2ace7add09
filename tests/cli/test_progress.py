"""Signs of life on a terminal."""

from __future__ import annotations

import io
import sys
import time

import pytest
import rich.progress  # noqa: F401  (takes its time when first imported)

from passk_cli.activity import current_activity, items_with_progress
from passk_cli.cli import progress
from passk_cli.cli.progress import show_activity


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    stderr = stream()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_PROGRESS", 0.0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_UPDATES", 0.01)

    def wait(words: str) -> None:
        """Wait until the lines are shown, which can take long on a busy machine."""
        until = time.monotonic() + (5 if stream is Terminal else 0.1)
        while words not in stderr.getvalue() and time.monotonic() < until:
            time.sleep(0.01)

    with show_activity("computing"):
        with show_activity("reading"):
            wait("reading")
        for place, _ in enumerate(items_with_progress(["a", "b"], "computing", "models"), 1):
            wait(f"computing: {place} of 2 models")
    text = stderr.getvalue()
    words = ["reading", "computing: 1 of 2 models", "computing: 2 of 2 models"]
    assert [word for word in words if word in text] == (words if stream is Terminal else [])
    assert current_activity() == ""
