"""What a word was meant to be: mistakes of one letter, and what people call things elsewhere."""

from __future__ import annotations

import random

import pytest

from passk_cli.cli.help_text import options_with_titles
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.files.roles import ROLES
from passk_cli.metrics.registry import meaning_by_family_pattern
from passk_cli.suggestions import nearest_names

OPTIONS = [item.option for _, item in options_with_titles(load_command("compare"))]
# Kind of name → the names that there are.
NAMES = {
    "option": [flag for option in OPTIONS for flag in option.flags.split()],
    "command": list(COMMANDS),
    "metric": [name.replace("K", "8") for name in meaning_by_family_pattern()],
    "column": list(ROLES),
    "choice": list(dict.fromkeys(value for option in OPTIONS for value in option.allowed_values)),
    "model": [
        "gpt-5.5", "gpt-5", "claude-opus-4.5", "claude-sonnet-4.5", "deepseek-v3.1", "qwen3-coder",
        "llama-4-maverick", "gemini-2.5-pro", "gemini-2.5-flash", "kimi-k2",
    ],
}  # fmt: skip
# Kind → what other tools and people call a thing → its name.
CALLED = {
    "option": "confidence=level ci=level alpha=level conf=level confidence-level=level"
    " metrics=metric filter=where query=where group-by=by groupby=by out=output outfile=output"
    " fmt=format json=format n-boot=resamples bootstraps=resamples iterations=resamples"
    " random-seed=seed column=field models=model exclude=exclude-model plot=chart figure=chart"
    " silent=quiet debug=verbose details=full dedup=duplicates cutoff=threshold decimals=digits"
    " nan=missing scorer=outcome rename=field clusters=cluster method=interval"
    " reference=baseline correction=adjust harness=from equivalence=margin tolerance=margin"
    " fdr=adjust bootstrap=interval plot-file=chart strict=error",
    "command": "diff=compare eval=estimate score=estimate inspect=describe info=describe power=plan"
    " check=gate ci=gate html=report history=trend export=convert harnesses=formats save=record"
    " forecast=extrapolate boot=bootstrap stats=estimate",
    "metric": "accuracy=pass@8 average=mean majority@8=maj@8 cons@8=maj@8"
    " bestof@8=best@8 latency=duration price=cost",
    "choice": "json-lines=jsonl ndjson=jsonl md=markdown tex=latex",
}
# Rows of a keyboard, where neighbours are typed for each other.
KEYS = ("1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm")


def mistaken(name: str, draw: random.Random) -> str:
    """A name with a letter left out, doubled, before the one before it, or a neighbour's."""
    letters = [place for place, letter in enumerate(name) if letter.isascii() and letter.isalnum()]
    at = draw.choice(letters)
    row = next(row for row in KEYS if name[at] in row)
    beside = draw.choice([key for key in row if abs(row.index(key) - row.index(name[at])) == 1])
    swapped = name[at + 1 : at + 2] + name[at]
    letter = draw.choice(("", 2 * name[at], swapped, beside))
    return name[:at] + letter + name[at + (2 if letter == swapped else 1) :]


def test_the_nearest_name_is_the_one_that_was_meant() -> None:
    """Of names of two letters and more: with one letter wrong in six kinds of names."""
    wrong, typos = [], 0
    for kind, names in NAMES.items():
        draw, names = random.Random(kind), [name for name in names if len(name.strip("-")) > 1]
        for _ in range(100):
            name = draw.choice(names)
            word = mistaken(name, draw)
            if word not in names:
                typos += 1
                wrong += [(kind, name, word)] * (nearest_names(word, names)[:1] != [name])
    assert typos > 550
    assert len(wrong) <= 0.03 * typos, wrong


@pytest.mark.parametrize(
    ("kind", "word", "name"),
    [(kind, *pair.split("=")) for kind, pairs in CALLED.items() for pair in pairs.split()],
)
def test_a_name_of_another_tool_leads_to_the_name_here(kind: str, word: str, name: str) -> None:
    hyphens = "--" * (kind == "option")
    assert nearest_names(hyphens + word, NAMES[kind])[0] == hyphens + name


@pytest.mark.parametrize("word", ["", "?", "qqqqq", "zzzz-9", "--", "é中"])
def test_an_unknown_word_gets_no_suggestion(word: str) -> None:
    assert not any(nearest_names(word, names) for names in NAMES.values())
