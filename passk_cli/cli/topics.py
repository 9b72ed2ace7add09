"""Explains a word for `passk help WORD`: a term, metric, method, option or column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from passk_cli.cli.help_text import FILE_ARGUMENT_HELP, option_row, options_with_titles
from passk_cli.cli.overview import ABOUT, wrap_lines
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.errors import ParameterError
from passk_cli.suggestions import did_you_mean_or_list, respell_metric
from passk_cli.text import join_names

_TERM_PATTERN = re.compile(r"\*\*(.+?)\*\* —")
# GLOSSARY_PATH is the path of the glossary, which is also a page of the documentation.
GLOSSARY_PATH = Path(__file__).with_name("glossary.md")
# TOPICS maps topics of `passk help` to their texts. Glossary terms and names of messages are also
# topics of `passk help`, but they need no entry in TOPICS.
TOPICS = {
    "exit": "Exit codes: 0 done · 1 a check of passk gate, passk watch, --max-false-alarms or trend"
    " --fail failed · 2 wrong usage, for example an unknown option, column or model · 3 data that"
    " cannot be used, or a message that --error turns into an error · 4 an internal error · 5 not"
    " yet decided, because passk watch needs more attempts of the run. A script can distinguish"
    " a gate that failed (1) from a gate that could not be checked (2 or 3).",
    "files": f"FILE...: {FILE_ARGUMENT_HELP} A folder is read completely, except for hidden"
    f" folders in it. You"
    " need not unpack compressed files (.gz, .bz2, .xz, .zst, .zip, .tar). `passk describe FILE`"
    " shows how a file is read, and `passk formats` lists the formats of harnesses.",
    "ci": "In CI: `passk gate FILE --baseline OLD --no-regression` ends with exit code 1 if the"
    " new run is worse. -f github writes annotations, and -f junit and -f gitlab write reports that"
    " CI shows. `passk record` stores runs for --baseline HISTORY:last5. `passk help gate` explains"
    " more.",
    "completion": "`passk --install-completion` adds completion of commands, options, models and"
    " help topics to your shell. `passk --show-completion` prints the completion script.",
    "passk": f"{ABOUT} `passk --help` lists the commands.",
    "tie": "A table marks a tie with ~, or with a letter that both models share. The adjusted"
    " p-value is compared with the significance level, which is 1 minus the value of --level.",
    "unit": "Units come from the names of columns: cost_cents is converted to dollars, and"
    " latency_ms to seconds. If a name contains no unit, use --field cost=price:cents.",
    "metrics": "Metrics that you can choose with -m NAME[,NAME…], for example -m pass@1,pass^4:",
}
_DESCRIPTION_BY_ROLE = {
    "task": "one item of a benchmark, for example a problem, a question or an instance",
    "outcome": "whether an attempt passed: true or false, 1 or 0, pass or fail",
    "attempt": "one try of one model at one task. The column contains a number or a time",
    "model": "the model that made the attempt. Without a column of models, the file name is the"
    " model",
    "score": "a number for the quality of an attempt, for -m mean and best@k. With --threshold X,"
    " scores of X or more pass",
    "answer": "the final answer of an attempt, for maj@k",
    "solution": "the text or code that an attempt wrote, for diversity",
}
_SYNONYMS_BY_TOPIC = {
    "exit": "exitcode exitcodes exit-code exit-codes status 0 1 2 3 4 5", "metrics": "metric",
    "files": "file input stdin pipe glob folder -", "ci": "github gitlab junit actions pipeline",
    "completion": "completions shell autocomplete bash zsh fish", "unit": "units currency",
    "tie": "tied ~ letters", "passk": "pass-k",
}  # fmt: skip


def explain_word(word: str, commands_and_messages: Sequence[str]) -> str:
    """All explanations of a word, which can be a term, a topic, or the name of a metric, method,
    role, format, option or column.

    commands_and_messages : names of commands and messages, which the error may suggest.
    Errors: ParameterError with the most similar names if the word is not known.
    """
    texts: dict[str, dict[str, list[str]]] = {}
    for name, text, user in _names_with_explanations():
        texts.setdefault(name, {}).setdefault(text, []).append(user)
    topics = {same: name for name, words in _SYNONYMS_BY_TOPIC.items() for same in words.split()}
    metric = re.sub(r"(?<=[@^])(\d+|k?)(:.*)?$", "k", respell_metric(word))
    bare = word.lower().strip("-") or word
    spellings = [word.lower(), bare, metric, bare.replace("-", " "), re.sub("[ _]", "-", bare)]
    spellings.append(metric.partition("@")[0] + "@τ")
    spellings += [spelling.removesuffix("s") for spelling in spellings]
    terms = glossary()
    topic_names = {*terms, *texts, *TOPICS, *topics}
    spelling = next((spelling for spelling in spellings if spelling in topic_names), spellings[1])
    topic = topics.get(spelling, spelling)
    paragraphs = [terms[topic]] if topic in terms else []
    paragraphs += [TOPICS[topic]] if topic in TOPICS else []
    if topic == "metrics":
        paragraphs += [
            text for entries in texts.values() for text in entries if text.startswith("metric ")
        ]
    for text, users in sorted(
        texts.get(spelling, {}).items(), key=lambda entry: entry[0][:6] != "option"
    ):
        paragraphs.append(
            f"{text} In {_command_names_or_exceptions_text(users)}." if users[0] else text
        )
    if not paragraphs:
        names = dict.fromkeys([*commands_and_messages, *TOPICS, *texts, *terms])
        question = did_you_mean_or_list(spelling, names, "`passk --help` lists commands")
        raise ParameterError(
            f"passk has no command or topic named {word!r}; {question}", name="unknown-name"
        )
    return "\n\n".join(map(wrap_lines, paragraphs))


def glossary() -> dict[str, str]:
    """Maps each term of the glossary, in lower case, to the paragraph that explains the term."""
    terms = {}
    for paragraph in GLOSSARY_PATH.read_text(encoding="utf-8").split("\n\n"):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph)
        plain = re.sub(r"\*(\w+)\*", r"\1", _TERM_PATTERN.sub(r"\1:", text)).replace("\\", "")
        for names in _TERM_PATTERN.findall(text):
            for term in names.replace("\\", "").partition(" (")[0].lower().split(", "):
                terms[term] = " ".join(plain.split())
    return terms


def _command_names_or_exceptions_text(commands: Sequence[str]) -> str:
    lacking = [name for name in COMMANDS if name not in commands]
    most = "every command" + f" but {join_names(lacking)}" * bool(lacking)
    return most if len(lacking) < len(COMMANDS) // 3 else ", ".join(dict.fromkeys(commands))


def _names_with_explanations() -> Iterator[tuple[str, str, str]]:
    """The names of metrics, methods, roles, formats, options, option values and columns.

    Each entry contains a name in lower case, the explanation, and the name of the command to which
    the name belongs, or "" if the name does not belong to a command.
    """
    from passk_cli.files.formats import FORMAT_NAMES
    from passk_cli.files.roles import ROLES
    from passk_cli.metrics.registry import FAMILIES, meaning_by_family_pattern
    from passk_cli.study.methods_text import (
        ADJUSTMENT_DESCRIPTIONS,
        descriptions_of_intervals,
        descriptions_of_tests,
        references,
    )

    for (pattern, meaning), family in zip(
        meaning_by_family_pattern().items(), FAMILIES.values(), strict=True
    ):
        cited = f" ({references()[family.citation_keys].label})" if family.citation_keys else ""
        name = pattern.lower().partition(":")[0]
        yield name, f"metric {pattern}: {meaning.rstrip('.')}{cited}.", ""
    methods_of_kind = {
        "interval": descriptions_of_intervals(),
        "test": descriptions_of_tests(),
        "adjustment": ADJUSTMENT_DESCRIPTIONS,
    }
    for kind, methods in methods_of_kind.items():
        for name, (text, _) in methods.items():
            yield name.lower(), f"{kind} {name}: {text or 'none'}.", ""
    for name, meaning in _DESCRIPTION_BY_ROLE.items():
        usual = ", ".join(ROLES[name].names_by_likelihood[0][:4])
        yield name, f"role {name}: {meaning}. Usual names: {usual}; --field {name}=COLUMN.", ""
    for name in FORMAT_NAMES:
        yield name, f"format {name}: `passk formats {name}` shows how it is read.", ""
    for name in COMMANDS:
        declaration = load_command(name)
        for _, option in options_with_titles(declaration):
            label, text = option_row(option, full=True)
            for flag in option.option.flags.split():
                yield flag.lstrip("-").lower(), f"option {label}: {text}", name
            for value in option.option.allowed_values:
                yield value.lower(), f"value of {option.option.name}: {text}", name
        question = declaration.runner_class
        tables = [
            column for _, columns in question.column_meanings_by_table() for column in columns
        ]
        for header, meaning in (*tables, *question.data_field_meanings().items()):
            yield header.lower(), f"column {header}: {meaning}", name
