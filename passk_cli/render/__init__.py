"""Report → text: one function per format, and one line each in the registry below.

The only place that rounds (`style.py`) and that writes names for people.  It sees reports, and
nothing of how they were computed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_cli.render.style import Style
    from passk_cli.report.model import Report

# Format → module and function; imported when used, so that rich is not paid for by a pipe.
FORMATS: dict[str, str] = {
    "table": "terminal:table",
    "plain": "plain:plain",
    "markdown": "markup:markdown",
    "latex": "markup:latex",
    "csv": "data:csv_text",
    "tsv": "data:tsv_text",
    "json": "data:json_text",
    "jsonl": "data:jsonl_text",
    "junit": "checks:junit",
    "github": "checks:github",
}
# Those that only say which rules hold.
OF_VERDICTS = ("junit", "github")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
    ".txt": "plain",
}


def renderer(name: str) -> Callable[[Report, Style], str]:
    """The function behind a format's name: (report, style) → text."""
    module, function = FORMATS[name].split(":")
    writer: Callable[[Report, Style], str] = getattr(
        import_module(f"passk_cli.render.{module}"), function
    )
    return writer
