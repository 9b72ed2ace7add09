"""`passk help WORD` for what is no command and no message: metrics, methods, options, columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from passk_cli.cli.manual import FILES, declared, filled, row, table
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import command_of
from passk_cli.errors import ParameterError
from passk_cli.near import meant, respelled

# Topics that no declaration has.
TOPICS = {
    "exit": "Exit codes: 0 done · 1 a check failed: a gate, --check, --error · 2 usage: an option,"
    " a column or a model that is not there · 3 data that cannot be used · 4 an internal error. A"
    " script tells a failed gate (1) from a broken one (2, 3) by them.",
    "files": f"FILE...: {FILES} A folder is read whole, but for hidden folders. Packed files"
    " (.gz, .bz2, .xz, .zst, .zip, .tar) are read as they are. `passk describe FILE` shows how a"
    " file is read, `passk formats` which there are.",
    "ci": "In CI: `passk gate FILE --baseline OLD` ends with exit code 1 where the new run is"
    " worse; --format github writes annotations, junit and gitlab reports; `passk record` keeps"
    " runs for `--baseline HISTORY:last5`. See passk help gate.",
    "completion": "passk --install-completion adds completion of commands, options, models and"
    " columns to your shell; --show-completion prints it.",
    "population": "The tasks are a sample of those there could be (new-tasks), or all there are"
    " (these-tasks): then only attempts are random, and intervals are shorter. See --population.",
}
_ALSO = {
    "exitcode": "exit", "exitcodes": "exit", "status": "exit", "file": "files", "input": "files",
    "stdin": "files", "glob": "files", "github": "ci", "actions": "ci", "pipeline": "ci",
    "shell": "completion", "autocomplete": "completion", "new-tasks": "population",
    "these-tasks": "population",
}  # fmt: skip


def about(word: str, others: Sequence[str]) -> str:
    """Everything that is declared under a word.

    others : names of commands and messages, for a word that is none of all.
    Errors: ParameterError with the nearest names.
    """
    own = word.lower().lstrip("-") if word.strip("-") else word
    found = [*_metrics(own), *_methods(own), *_options(own), *_columns(own)]
    if topic := TOPICS.get(_ALSO.get(re.sub(r"[\s_]", "", own), own)):
        found.insert(0, topic)
    if found:
        return "\n\n".join(text if "\n" in text else filled(text) for text in found)
    names = [*others, *TOPICS, *_known_methods(), *_known_options(), *_metric_names(own)]
    names += [header for _, header, _ in _headers()]
    question = meant(respelled(own), dict.fromkeys(names), "`passk help` lists commands")
    raise ParameterError(f"nothing is named {word!r}; {question}", name="unknown-name")


def _metric_names(word: str) -> list[str]:
    from passk_cli.metrics.registry import names_like

    return names_like(word)


def _metrics(word: str) -> Iterator[str]:
    """The metrics, all or the one of a name: pass@, pass@10, pass@K."""
    from passk_cli.metrics.registry import FAMILIES, patterns
    from passk_cli.study.methods import ESTIMATORS, references

    if word in ("metrics", "metric"):
        yield "Metrics, asked for with -m NAME[,NAME…], as in -m pass@1,pass^4:\n" + "\n".join(
            table(patterns().items(), 26, 80)
        )
        return
    family = re.sub(r"(?<=[@^])(k|\d+).*$", "", word)
    for pattern, (name, kind) in zip(patterns().items(), FAMILIES.items(), strict=True):
        if name == family and (word == family or kind.counted):
            source = references()[ESTIMATORS[name]].label if name in ESTIMATORS else ""
            yield f"metric {pattern[0]}: {pattern[1]}." + (f" Source: {source}." if source else "")


def _known_methods() -> dict[str, list[tuple[str, str, str]]]:
    """Name → what kind of method it is, its words, the options that ask for it."""
    from passk_cli.study.methods import ADJUSTMENTS, INTERVALS, LAWS, TESTS

    known: dict[str, list[tuple[str, str, str]]] = {}
    for kind, option, methods in (
        ("interval", "--interval", INTERVALS), ("test", "--test", TESTS),
        ("adjustment", "--adjust", ADJUSTMENTS), ("law of tasks", "--fit", LAWS),
    ):  # fmt: skip
        for name, (text, _) in methods.items():
            known.setdefault(name, []).append((kind, text, option))
    return known


def _methods(word: str) -> Iterator[str]:
    for kind, text, option in _known_methods().get(word, ()):
        asked = f"Asked for with {option} {word}; --methods cites it."
        yield f"{kind} {word}: {text or 'none'}. {asked}"


def _known_options() -> dict[str, list[str]]:
    """Option without its hyphens → the commands that take it."""
    users: dict[str, list[str]] = {}
    for name in COMMANDS:
        for _, each in declared(command_of(name)):
            for flag in each.option.flags.split():
                users.setdefault(flag.lstrip("-"), []).append(name)
    return users


def _options(word: str) -> Iterator[str]:
    """The option of a name in each of its wordings, with the commands that take it."""
    users: dict[tuple[str, str], list[str]] = {}
    for name in _known_options().get(word, ()):
        for _, each in declared(command_of(name)):
            if word in [flag.lstrip("-") for flag in each.option.flags.split()]:
                users.setdefault(row(each, full=True), []).append(name)
    for (left, text), names in users.items():
        whose = "every command" if len(names) == len(COMMANDS) else ", ".join(names)
        yield f"option {left}: {text} Taken by {whose}."


def _headers() -> Iterator[tuple[str, str, str]]:
    """Command, column and meaning, of every table and of the fields of every answer."""
    for name in COMMANDS:
        question = command_of(name).question
        for _, columns in question.answer_columns():
            yield from ((name, header, meaning) for header, meaning in columns)
        yield from ((name, field, text) for field, text in question.answer_fields().items())


def _columns(word: str) -> Iterator[str]:
    users: dict[str, list[str]] = {}
    for name, header, meaning in _headers():
        if header.lower() == word:
            users.setdefault(meaning, []).append(name)
    for meaning, names in users.items():
        yield f"column {word}: {meaning} In {', '.join(dict.fromkeys(names))}."
