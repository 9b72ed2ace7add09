"""What people read keeps the rules of style, and names are nouns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import style

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def sentences() -> dict[str, set[str]]:
    return style.by_kind()


@pytest.mark.parametrize("rule", style.RULES)
@pytest.mark.parametrize("kind", ["pages", "messages and help", "errors", "docstrings", "comments"])
def test_no_new_sentence_breaks_a_rule(
    sentences: dict[str, set[str]], kind: str, rule: str
) -> None:
    """A sentence that the pattern meets by accident is worded differently, or raises the limit."""
    assert len(sentences[kind]) > 100
    breaking = style.broken(sentences[kind])[rule]
    assert len(breaking) <= style.ALLOWED.get((kind, rule), 0), breaking


def test_a_sentence_that_breaks_a_rule_is_seen() -> None:
    text = '"""Of many columns, the first one is shown."""\n# A summary is no model.\n'
    kinds = {kind: set(style.sentences(line)) for kind, line in style.texts(text)}
    assert style.broken(kinds["docstrings"])["opens with Of"] != []
    assert style.broken({"A summary is no model."})["is no"] != []


@pytest.mark.parametrize("folder", ["passk_cli", "tests"])
def test_names_are_nouns(folder: str) -> None:
    """At most one name in a hundred is a pronoun or a participle."""
    assert style.share_without_noun(style.names(ROOT / folder)) <= 0.01
