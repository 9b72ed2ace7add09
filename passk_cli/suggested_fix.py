"""Suggested fixes, which contain the options that resolve a message or an error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any


class Placeholder(str):
    """A placeholder such as "COLUMN" for a value that passk does not know."""


@dataclass(frozen=True)
class OptionWithValue:
    """An option and its value, as part of a message.  Messages in Python show a keyword argument
    instead of an option.

    >>> str(OptionWithValue("--bounds", "1,x")), str(OptionWithValue("--percent"))
    ('--bounds 1,x', '--percent')
    """

    option: str
    value: str | None = None

    def __str__(self) -> str:
        return self.option if self.value is None else f"{self.option} {self.value}"


# passk splits the values of the options in _COMMA_SEPARATED_OPTIONS at commas, on the command line
# and in Python.
_COMMA_SEPARATED_OPTIONS = (
    "by", "pool", "passes", "fails", "with", "columns", "must-pass",
    "exclude-task", "exclude-tasks", "only-task", "only-tasks",
)  # fmt: skip
FULL_DETAILS_OPTION = OptionWithValue("--full")


@dataclass(frozen=True)
class SuggestedFix:
    """Options that resolve a message or an error if you add the options to the command.

    options : maps each option to a value, for example {"--field": {"task": "case"}, "--by":
        ("effort",)}.  The fix adds the entries of a mapping or a tuple to the option, sets a flag
        if the value is True, and removes the option if the value is None.  Any other value, for
        example a list, replaces the option's value.  Options are flags ("--by") or Python keywords
        ("by").
    effect : what the fix does, for example "keeps the models apart".
    command : another command to run, or "" to keep the command.
    label_by_file : maps each file to a new label, or to "" to leave the file out.
    files_as_list : whether to write the files as a Python list.

    >>> str(SuggestedFix({"--field": {"task": "case", "model": "llm"}, "--skip-bad": True},
    ...     "reads all"))
    '--field task=case --field model=llm --skip-bad reads all'
    >>> str(SuggestedFix({"by": ("x", "y"), "test": None, "bounds": Placeholder("LOW,HIGH")}))
    'by=("x", "y"), bounds=(LOW, HIGH), without test='
    >>> str(SuggestedFix({"--order-from-lines": True}, "takes the order of lines", "order"))
    'passk order --order-from-lines takes the order of lines'
    >>> str(SuggestedFix({}, "labels it", label_by_file={"a.csv": "a"}, files_as_list=True))
    '["a=a.csv"] labels it'
    """

    options: Mapping[str, Any]
    effect: str = ""
    command: str = ""
    label_by_file: Mapping[str, str] = field(default_factory=dict)
    files_as_list: bool = field(default=False, repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether the fix is complete, so that you do not have to replace a placeholder."""
        values = (value for values in self.options.values() for value in _values_as_list(values))
        return not any(isinstance(value, Placeholder) for value in values)

    def command_line_words(self) -> Iterator[tuple[str, ...]]:
        """The options of the fix as words of a command line, with one tuple of words per option."""
        for flag, value in self.options.items():
            if isinstance(value, Mapping):
                yield from ((flag, _keep_placeholder(v, f"{k}={v}")) for k, v in value.items())
            elif isinstance(value, tuple | list):
                yield from ((flag, _keep_placeholder(v, str(quote_commas(flag, v)))) for v in value)
            elif value is True:
                yield (flag,)
            elif value is not None:
                yield flag, _keep_placeholder(value, str(value))

    def __str__(self) -> str:
        """The options of the fix, and what the fix does, on one line."""
        gone = [name for name, value in self.options.items() if value is None]
        if all(name.startswith("-") for name in self.options):
            parts = [
                " ".join(map(_quoted_word, option_words))
                for option_words in self.command_line_words()
            ]
            parts += [f"without {name}" for name in gone]
            text = " ".join([*["passk " + self.command] * bool(self.command), *parts])
        else:
            parts = [*python_keywords(self.options), *(f"without {name}=" for name in gone)]
            text = ", ".join(parts)
            if self.command:
                text = f"passk_cli.{self.command}({', '.join(filter(None, ['…', text]))})"
        files = self.labelled_file_arguments(self.label_by_file)
        files = [python_literal(files, "data")] if files and self.files_as_list else files
        return " ".join(filter(None, (*files, text, self.effect)))

    def labelled_file_arguments(self, files: Iterable[str]) -> list[str]:
        """The given files with their labels, without files that the fix leaves out or that the
        command will write."""
        outputs = self.options.get("--to"), self.options.get("to")
        labels = [(self.label_by_file.get(file), file) for file in files if file not in outputs]
        return [f"{label}={file}" if label else file for label, file in labels if label != ""]

    def merged_with(self, fix: SuggestedFix) -> SuggestedFix:
        """One fix that combines this fix and `fix`.  If two values of an option cannot be combined,
        the value in `fix` is used.

        >>> first = SuggestedFix({"--by": ("x",)})
        >>> first.merged_with(SuggestedFix({"--by": ("y",), "--field": {"task": "case"}})).options
        {'--by': ('x', 'y'), '--field': {'task': 'case'}}
        """
        options = dict(self.options)
        for name, value in fix.options.items():
            options[name] = combine_option_values(name, options.get(name), value)
        return replace(fix, options=options)

    def with_fields(self, fields: Mapping[str, Any]) -> SuggestedFix | None:
        """The fix after the values of a message replace the names of fields, or None if a needed
        field is empty.

        >>> apart = SuggestedFix({"--by": ("{setting}",)}, "splits {n}")
        >>> apart.with_fields({"setting": "arm", "n": 2})
        SuggestedFix(options={'--by': ('arm',)}, effect='splits 2', command='', label_by_file={})
        """
        options = {name: _with_fields(value, fields) for name, value in self.options.items()}
        if (
            "" in [v for value in options.values() for v in _values_as_list(value)]
            or () in options.values()
        ):
            return None
        return replace(self, options=options, effect=self.effect.format_map(fields))


def combine_option_values(name: str, before: Any, value: Any) -> Any:
    """The value of an option after a further value is added."""
    if isinstance(value, Mapping):
        return {**(before or {}), **value}
    if isinstance(value, tuple) and name.lstrip("-") != "threshold":
        return tuple(dict.fromkeys((*(before or ()), *value)))
    combine = before and name.lstrip("-") == "where"
    return f"({before}) AND ({value})" if combine else value


def python_keywords(options: Mapping[str, Any]) -> list[str]:
    """The options as Python keyword arguments, without options that have the value None."""
    return [f"{n}={python_literal(value, n)}" for n, value in options.items() if value is not None]


def python_literal(value: Any, name: str) -> str:
    """A value as a Python literal, or the string `name` if the data has no short literal.

    >>> python_literal(["a", 1], "x"), python_literal([{"task": "a", "passed": 1}], "baseline")
    ('["a", 1]', 'baseline')
    """
    if isinstance(value, Placeholder) and value.isupper():
        return f"({value.replace(',', ', ')})" if "," in value else str(value)
    if isinstance(value, str | os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = (f"{python_literal(k, name)}: {python_literal(v, name)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):
        value = tuple(quote_commas(name, item) for item in value)
    if isinstance(value, tuple) and len(value) == 1:
        return python_literal(value[0], name)
    if isinstance(value, list | tuple) and not any(isinstance(item, Mapping) for item in value):
        opening, closing = "[]" if isinstance(value, list) else "()"
        return f"{opening}{', '.join(python_literal(item, name) for item in value)}{closing}"
    return repr(value) if isinstance(value, bool | int | float | range) else name


def _values_as_list(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, Mapping) else value
    return list(values) if isinstance(value, Mapping | tuple) else [value]


def quote_commas(name: str, value: Any) -> Any:
    """The value of an option, in double quotes if passk would otherwise split the value at a comma.

    >>> quote_commas("--by", "temp, C"), quote_commas("--where", "a in (1, 2)")
    ('"temp, C"', 'a in (1, 2)')
    """
    parted = name.lstrip("-").replace("_", "-") in _COMMA_SEPARATED_OPTIONS
    needs_quotes = parted and type(value) is str and "," in value and '"' not in value
    return f'"{value}"' if needs_quotes else value


def _keep_placeholder(value: Any, text: str) -> str:
    return Placeholder(text) if isinstance(value, Placeholder) else text


def _quoted_word(word: str) -> str:
    return word if isinstance(word, Placeholder) else shell_quoted(word)


def shell_quoted(word: str) -> str:
    """The word, quoted for a shell if necessary.  A word that contains single quotes gets double
    quotes.

    >>> print(shell_quoted("retry = 'false'"), shell_quoted("a b"), shell_quoted("a"))
    "retry = 'false'" 'a b' a
    """
    return f'"{word}"' if "'" in word and not {*word} & {*'"$`\\!'} else quote(word)


def _with_fields(value: Any, fields: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key.format_map(fields): _with_fields(v, fields) for key, v in value.items()}
    if isinstance(value, tuple):
        texts = [_with_fields(inner, fields) for inner in value]
        return tuple(t for text in texts for t in (text if isinstance(text, tuple) else [text]))
    if not isinstance(value, str) or isinstance(value, Placeholder):
        return value
    names = fields.get(value[1:-1]) if value[:1] + value[-1:] == "{}" else None
    return tuple(names) if isinstance(names, list | tuple) else value.format_map(fields)
