"""Words that no text for people has: one list for README, docs, help, notes and captions."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What is not written → what is written instead.  Patterns ignore case and match whole words.
FORBIDDEN: dict[str, str] = {
    # One term per idea, the field's.
    r"(?:cannot be |not )?told apart": "significantly different; tied",
    r"not distinguishable|distinguishable": "significantly different; tied",
    r"how sure|said of": "confidence intervals; how certain",
    r"credibly": "significantly",
    r"what scores cannot pass": "lowest and highest possible score",
    r"what an empty outcome is": "how to treat a missing outcome",
    r"agree too often": "agree more often than independent attempts would",
    r"share more than the task": "agree more often than independent attempts would",
    r"share a (?:bad hour|session, a cache)|bad hour": "name the cause",
    r"of two models alike|one half (?:above|below)": "two models that differ by",
    r"knows? standard errors to": "these standard errors are uncertain by",
    r"tells? more than": "narrows the interval more than",
    r"no data can refute": "data cannot rule out",
    r"in the lead": "comes first; P(best)",
    # Two words where one does.
    r"in order to": "to",
    r"due to the fact that": "because",
    r"a (?:large|small) number of": "many; few",
    r"at this point in time": "now",
    r"utili[sz]e[sd]?": "use",
    r"leverag(?:e|es|ed|ing)": "use",
    r"facilitat(?:e|es|ed|ing)": "help",
    r"functionality": "what it does",
    # Praise and filler.
    r"simply|obviously|of course|needless to say|please note": "leave it out",
    r"seamless(?:ly)?|blazing(?:ly)?|cutting-edge|state-of-the-art": "a number",
    r"easy to use|powerful|robust(?:ly)? and": "a fact",
}
_ANY = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead)
        for pattern, instead in FORBIDDEN.items()]  # fmt: skip


def faults(text: str) -> Iterator[str]:
    """Each forbidden word of a text, with what to write instead.

    >>> list(faults("Models that cannot be told apart"))
    ['"cannot be told apart": write "significantly different; tied"']
    """
    for pattern, instead in _ANY:
        for match in pattern.finditer(" ".join(text.split())):
            yield f'"{match[0]}": write "{instead}"'


def prose(page: str) -> str:
    """A page of Markdown without code blocks, code spans, generated parts, and addresses of links.

    What commands print and declare stands there as it is; the lists apply to it at its source.
    """
    for pattern in (
        r"^```.*?^```$",
        r"<!-- (\w[\w -]*) -->.*?<!-- /\1 -->",
        r"`[^`\n]+`",
        r"\]\([^)]*\)",
    ):
        page = re.sub(pattern, " ", page, flags=re.DOTALL | re.MULTILINE)
    return page
