"""Completion of values of options: choices, and the models of small files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from passk_cli.errors import PasskError
from passk_cli.option import Option, load_object

# The maximum number of bytes of files that are read for the completion of models, while somebody
# waits.
MOST_BYTES = 4_000_000

Complete = Callable[[str], list[str]]


def words_so_far() -> list[str]:
    """The words of the command line that is being completed, without the script itself."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return line.split()[1:]


def completion_of(option: Option) -> Complete | None:
    """The function that completes the value of an option; None if its values are not known."""
    if option.complete:
        complete: Complete = load_object(option.complete)
        return complete
    if option.choices:
        return lambda incomplete: [v for v in option.values if v.startswith(incomplete)]
    if not option.of_models:
        return None

    def models(incomplete: str) -> list[str]:
        # typer cannot parse the files as long as the value of an option is missing.
        files = [word for word in words_so_far()[1:] if os.path.isfile(word)]
        return [name for name in models_of(files) if name.startswith(incomplete)]

    return models


def models_of(files: Sequence[str]) -> list[str]:
    """The models of small files; an empty list if the files are large or cannot be read."""
    from passk_cli.files.load import load
    from passk_cli.files.request import Request
    from passk_cli.files.sources.arguments import real_paths

    try:
        sizes = [os.path.getsize(path) for path in real_paths(files)]
        if not sizes or sum(sizes) > MOST_BYTES:
            return []
        counts = load(list(files), Request(), tolerant=True)
    except (PasskError, OSError):
        return []
    return sorted({series[0] for series in counts.series})
