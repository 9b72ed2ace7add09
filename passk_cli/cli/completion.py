"""Completes option values in the shell: fixed choices, and the models in small files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from passk_cli.errors import PasskError
from passk_cli.option import Option, load_object

# passk completes names of models only if the files have at most MAX_TOTAL_COMPLETION_FILE_BYTES
# bytes in total.
MAX_TOTAL_COMPLETION_FILE_BYTES = 4_000_000

CompletionFunction = Callable[[str], list[str]]


def words_being_completed() -> list[str]:
    """The words of the command line that the shell completes, without the program name."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return line.split()[1:]


def completion_function(option: Option) -> CompletionFunction | None:
    """The function that completes the value of an option, or None if any value is possible."""
    if option.completion_function_name:
        complete: CompletionFunction = load_object(option.completion_function_name)
        return complete
    if option.choices:
        return lambda incomplete: [v for v in option.allowed_values if v.startswith(incomplete)]
    if not option.is_model_name:
        return None

    def models(incomplete: str) -> list[str]:
        # typer cannot parse a command line that ends in an option without a value, so passk looks
        # for words that are paths of files.
        files = [word for word in words_being_completed()[1:] if os.path.isfile(word)]
        return [name for name in models_of_small_files(files) if name.startswith(incomplete)]

    return models


def models_of_small_files(files: Sequence[str]) -> list[str]:
    """The models in small files, or [] if the files are too large or cannot be read."""
    from passk_cli.files.load import load
    from passk_cli.files.request import Request
    from passk_cli.files.sources.arguments import resolved_file_paths

    try:
        sizes = [os.path.getsize(path) for path in resolved_file_paths(files)]
        if not sizes or sum(sizes) > MAX_TOTAL_COMPLETION_FILE_BYTES:
            return []
        counts = load(list(files), Request(), tolerant=True)
    except (PasskError, OSError):
        return []
    return sorted({series[0] for series in counts.series})
