"""Signs of life on a terminal."""

from __future__ import annotations

import io
import sys
import time

import pytest
import rich.progress  # noqa: F401  (takes its time when first imported)

from passk_cli.activity import activity, steps
from passk_cli.cli import progress
from passk_cli.cli.progress import working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_what_goes_on_is_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN", 0.01)
    with working("computing"):
        with working("reading"):
            time.sleep(0.15)
        for _ in steps(["a", "b"], "computing", "models"):
            time.sleep(0.15)
    shown = sys.stderr.getvalue()
    words = ["reading", "computing: 1 of 2 models", "computing: 2 of 2 models"]
    assert [word for word in words if word in shown] == (words if stream is Terminal else [])
    assert activity() == ""
