"""Words that no text for people has: one list for README, docs, help, notes and captions."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What is not written → what is written instead.  Patterns ignore case and match whole words.
FORBIDDEN: dict[str, str] = {
    # One term per idea, the field's.
    r"(?:cannot be |not )?told apart|tells? (?:\w+ )?apart": "significantly different; tied",
    r"not distinguishable|distinguishable": "significantly different; tied",
    r"how sure|said of": "confidence intervals; how certain",
    r"credibly": "significantly",
    r"enough evidence either way": "undecided",
    r"what scores cannot pass": "lowest and highest possible score",
    r"what an empty outcome is": "how to treat a missing outcome",
    r"agree too (?:often|rarely)": "agree more (less) often than independent attempts would",
    r"only a pass rate": "attempts 1 and 2 differ on 14 tasks, 67 expected",
    r"share more than the task": "agree more often than independent attempts would",
    r"share a (?:bad hour|session, a cache)|bad hour": "name the cause",
    r"models alike|one half (?:the difference )?(?:above|below)": "two models that differ by",
    r"knows? standard errors to": "these standard errors are uncertain by",
    r"tells? more than": "narrows the interval more than",
    r"no data can refute|refute[sd]?": "data cannot rule out",
    r"as (?:good|bad) (?:\w+ \w+ \w+ )?as can be": "if all pass; if all fail",
    r"(?:by|at) any k": "at every k",
    r"in the lead": "comes first; P(best)",
    # Two words where one does.
    r"in order to": "to",
    r"prior to": "before",
    r"in the event that": "if",
    r"has the ability to|is able to|are able to": "can",
    r"due to the fact that": "because",
    r"a (?:large|small) number of": "many; few",
    r"at this point in time": "now",
    r"utili[sz]e[sd]?": "use",
    r"leverag(?:e|es|ed|ing)": "use",
    r"facilitat(?:e|es|ed|ing)": "help",
    r"functionality": "what it does",
    # Praise and filler.
    r"simply|obviously|of course|needless to say|please note": "leave it out",
    r"basically|actually|quite|very": "leave it out",
    r"seamless(?:ly)?|blazing(?:ly)?|cutting-edge|state-of-the-art": "a number",
    r"easy to use|powerful|robust(?:ly)? and": "a fact",
}
_ANY = [(re.compile(rf"\b(?:{pattern})\b"), instead) for pattern, instead in FORBIDDEN.items()]


def faults(text: str) -> Iterator[str]:
    """Each forbidden word of a text, with what to write instead.

    >>> list(faults("Models that cannot be told apart"))
    ['"cannot be told apart": write "significantly different; tied"']
    """
    # A hundred times as fast as patterns that ignore case.
    text = " ".join(text.lower().split())
    for pattern, instead in _ANY:
        for match in pattern.finditer(text):
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
