"""Selects models by name or pattern, and converts strings to numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from passk_cli.errors import ParameterError, no_such_model_error
from passk_cli.suggestions import list_known_names

_LEADING_ZERO_PATTERN = re.compile("[+-]?0[0-9]")


def select_models(
    models: Sequence[str], keep: Sequence[str], leave_out: Sequence[str],
    options: Sequence[str] = ("models", "exclude_models"),
) -> list[str]:  # fmt: skip
    """The models that names and patterns select, in their original order.

    keep : names and patterns of models to keep, for example "gpt-*".  If `keep` is empty, all
        models are kept.
    leave_out : names and patterns of models to leave out.  passk does not treat the exact name of a
        model as a pattern, even if the name contains brackets.
    Errors: ParameterError if a name or pattern matches no model, or no model is left.

    >>> select_models(["gpt-4[1]", "gpt-41", "o"], ["gpt-*"], ["gpt-4[1]"])
    ['gpt-41']
    """
    matching = {
        pattern: {pattern} if pattern in models else {m for m in models if fnmatchcase(m, pattern)}
        for pattern in (*keep, *leave_out)
    }
    for pattern, names in matching.items():
        if not names:
            option, patterns = (options[0], keep) if pattern in keep else (options[1], leave_out)
            further_patterns = [name for name in patterns if name != pattern]
            raise no_such_model_error(
                "", f"no model {pattern!r}", pattern, models, option, further_patterns
            )
    selection = set().union(*(matching[pattern] for pattern in keep)) if keep else {*models}
    selection = selection.difference(*(matching[pattern] for pattern in leave_out))
    if models and not selection:
        without = ", ".join(leave_out)
        hint = list_known_names(models) if models[1:] else f"{models[0]} is the only one"
        problem = f"no model is left if {without} is left out; {hint}"
        raise ParameterError(problem, name="no-such-model")
    return [model for model in models if model in selection]


def parse_numbers(texts: Iterable[str]) -> list[int] | list[float] | None:
    """The strings as numbers (NaN for an empty string), or None if a string is not a number.

    If all strings are integers, the result contains integers instead of floats.  A string with a
    leading zero, such as "007", counts as a name and not as a number.

    >>> parse_numbers(["0.2", "1"]), parse_numbers(["8", "16"]), parse_numbers(["007", "8"])
    ([0.2, 1.0], [8, 16], None)
    """
    texts = list(texts)
    try:
        numbers = [float(text or "nan") for text in texts]
    except ValueError:
        return None
    if any(map(_LEADING_ZERO_PATTERN.match, texts)):
        return None
    are_integers = all(text.lstrip("-").isdecimal() for text in texts)
    return [int(text) for text in texts] if are_integers else numbers
