"""The errors that users can cause, with their exit codes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import (
    did_you_mean,
    did_you_mean_or_list,
    nearest_names,
    pattern_for_names_with_word,
)
from passk_cli.text import (
    clauses_joined_by_semicolons,
    cut_long_words,
    plural,
    printable,
    without_url_secrets,
)

ErrorClass = TypeVar("ErrorClass", bound="PasskError")

# An error about a name that the data does not contain is a usage error with exit code 2, although
# passk can detect the error only after it has read the data.
_NO_SUCH_NAME_ERROR_NAMES = ("no-such-column", "no-such-model", "no-such-suite")


class PasskError(Exception):
    """Base class of all errors that this package raises on purpose.

    The text of an error is one line, from which secrets in URLs are removed.  `str(error)` is safe
    to print, because control characters are replaced and long words are cut.
    parts : the place, the problem and the remedy, or only the problem.  The place is a file, a line
        of a file (file:line), or an option with the value that was given.
    kind : "usage", "data" or "internal".
    name : the name of the error, for example "duplicate-attempts"; see `passk_cli.error_names`.
    candidates : maps each role to the columns that may have the role, with counts of the values in
        each column.
    """

    exit_code = 4
    kind = "internal"
    name = "internal"
    remedies: Sequence[str] = ()
    candidates: Mapping[str, Sequence[Any]] = MappingProxyType({})

    def __init__(
        self, *parts: str | OptionWithValue, name: str = "", settles: Sequence[SuggestedFix] = ()
    ) -> None:
        place, problem, remedy = (*(parts if parts[1:] else ("", *parts)), "")[:3]
        if isinstance(place, OptionWithValue):
            place = replace(place, value=place.value and without_url_secrets(place.value))
        self.place = place if isinstance(place, OptionWithValue) else without_url_secrets(place)
        self.problem, self.words = (
            without_url_secrets(str(problem)),
            without_url_secrets(str(remedy)),
        )
        self.name, self.fixes = name or type(self).name, tuple(settles)
        if self.name in _NO_SUCH_NAME_ERROR_NAMES:
            self.exit_code, self.kind = 2, "usage"
        start = f"{self.place}: " if self.place else ""
        super().__init__(start + clauses_joined_by_semicolons(self.problem, self.words))

    def with_changes(self, kind: type[ErrorClass], **changes: Any) -> ErrorClass:
        """A copy of the error as an instance of another class, with some changed parts."""
        values = {"place": self.place, "problem": self.problem, "remedy": self.words, **changes}
        parts = [values.pop(part) for part in ("place", "problem", "remedy")]
        values = {"name": self.name, "settles": self.fixes, **values}
        error = kind(*(parts if parts[0] else parts[1:2]), **values)
        error.candidates = self.candidates
        return error

    def __str__(self) -> str:
        return cut_long_words(
            printable(clauses_joined_by_semicolons(str(self.args[0]), *map(str, self.fixes)))
        )

    @property
    def parts(self) -> tuple[str, str, str]:
        """The place, the problem and the remedy of the error, with "" for each missing part.

        >>> ParameterError("bounds=1", "write two numbers; or leave it out").parts
        ('bounds=1', 'write two numbers', 'or leave it out')
        >>> ParameterError("no files are given").parts
        ('', 'no files are given', '')
        """
        problem, _, words = self.problem.partition("; ")
        return str(self.place), problem, clauses_joined_by_semicolons(words, self.remedy)

    @property
    def remedy(self) -> str:
        """What to do about the error, in words and options."""
        return clauses_joined_by_semicolons(self.words, *map(str, self.fixes))


class ParameterError(PasskError):
    """An error about an option, for example an unknown metric, k = 0, or a contradiction."""

    exit_code = 2
    kind = "usage"
    name = "bad-option-value"


class DataError(PasskError):
    """An error about a file that passk cannot use, with the text `place: problem; remedy`.

    place : a file, a line of a file (file:line), or an option with the value that was given.
    problem : what passk found, and what passk expected.
    remedy : further advice in addition to the suggested options, or "" if there is none.
    """

    exit_code = 3
    kind = "data"
    name = "unusable-data"

    @property
    def parts(self) -> tuple[str, str, str]:
        """The place, the problem and the remedy of the error."""
        return str(self.place), self.problem, self.remedy


def raise_parameter_error_if_any(
    name: str, *reasons: tuple[object, str | OptionWithValue, str, tuple[SuggestedFix, ...]]
) -> None:
    """Raise ParameterError for the first reason with a true condition. Otherwise, do nothing.

    reasons : tuples of a condition, a place or "", a problem, and suggested fixes.
    """
    for holds, place, problem, settles in reasons:
        if holds:
            raise ParameterError(place, problem, name=name, settles=settles)


def missing_file_error(argument: str) -> DataError:
    """The error for a file that does not exist, with suggestions of similar names."""
    if not argument:
        problem, remedy = "the name of a file is empty", "is a shell variable not set?"
        return DataError("", problem, remedy, name="no-such-file")
    similar = similar_files(argument)
    remedy = did_you_mean(similar) if similar else "check the path"
    if not similar and Path(argument).parts[:1] == ("sample_data",):
        # The examples in --help use sample data, which an installed package does not contain.
        remedy = "the sample data is in a clone of the passk repository; run this command there"
    return DataError(argument, "no such file", remedy, name="no-such-file")


def similar_files(argument: str) -> list[str]:
    """The existing files that have a path similar to the path of a missing file."""
    path = Path(argument)
    try:
        missing = next(part for part in (*reversed(path.parents), path) if not part.exists())
        siblings = (name for name in os.listdir(missing.parent) if not name.startswith("."))
        # Two file names are similar only if their stems are also similar, because a common suffix
        # is not enough.
        stem = missing.name.partition(".")[0]
        candidates = [missing.with_name(name) / path.relative_to(missing)
                 for name in nearest_names(missing.name, siblings)
                 if nearest_names(stem, [name.partition(".")[0]])]  # fmt: skip
        return [str(candidate) for candidate in candidates if candidate.exists()]
    except (OSError, ValueError):
        return []


def no_such_model_error(
    place: str | OptionWithValue, problem: str, word: str, models: Iterable[str], option: str,
    other_values: Sequence[str] | None = None,
) -> ParameterError:  # fmt: skip
    """The error for a name or pattern that matches no model, with a suggestion.

    other_values : the other values of the option, or None if the option accepts only one model.
    """
    models = [*models]
    pattern, matches = pattern_for_names_with_word(word, models)
    if not matches:
        length = len(word.strip("*"))
        beginnings = [model[:length] for model in models] if "*" in word else []
        if similar := nearest_names(word.strip("*"), beginnings, most=1):
            settles = [SuggestedFix({option: [*(other_values or ()), f"{similar[0]}*"]})]
            return ParameterError(place, problem, name="no-such-model", settles=settles)
        problem += f"; {did_you_mean_or_list(word, models)}"
        return ParameterError(place, problem, name="no-such-model")
    if other_values is None:
        settles = [SuggestedFix({option: model}) for model in matches[:3]]
    else:
        why = plural(len(matches), "model") if matches[1:] else ""
        settles = [SuggestedFix({option: [*other_values, pattern]}, why)]
    several = f"{len(matches)} names contain it"
    problem += f"; {several if matches[1:] else did_you_mean([pattern])}"
    return ParameterError(place, problem, name="no-such-model", settles=settles)


def unknown_model_or_task_error(option: str, name: str, suggestion: str) -> ParameterError:
    """The error for an option that names a model or a task that is missing from the data."""
    noun = "model" if option == "--alias" else "task"
    return ParameterError(
        OptionWithValue(option, name), f"no such {noun}; {suggestion}", name=f"no-such-{noun}"
    )


class FileWithoutResultsError(DataError):
    """An error about a file without results.  passk skips such a file if it is in a folder."""

    name = "no-results"


class BadRecordError(DataError):
    """An error about a line of a file that is not a valid record."""

    name = "bad-record"


class PasskWarning(UserWarning):
    """A warning that results may be less reliable than they seem.

    To silence these warnings, use `warnings.filterwarnings("ignore",
    category=passk_cli.PasskWarning)`.
    name : the name of the message, for example "pooled-settings".
    """

    def __init__(self, text: str = "", name: str = "") -> None:
        super().__init__(text)
        self.name = name
