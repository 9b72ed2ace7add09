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
    # Phrases translated word by word, pronouns without a noun, verbs that are not the field's.
    r"always pass(?:es)? so far|never so far|always so far": "passed (failed) every attempt",
    r"leads \(share of resamples\)|leads \(resamples\)": "first in resamples",
    r"if equally hard|equally hard tasks": "if all tasks were equally hard",
    r"what was understood": "how the file was read",
    r"is like --mean": "mean 0.42, standard deviation 0.32",
    r"how many times as many": "tasks needed, relative to pass@1",
    r"\d+ such, |rows too many|comes again, first at": "8 duplicate rows; first seen at",
    r"is not ruled out": "is not excluded",
    r"if this difference stays": "undecided; about 5,000 tasks would decide",
    r"the places that (?:the|these) tests leave open": "possible places",
    r"for each k by itself|one band over all k": "pointwise; simultaneous",
    r"p decides": "intervals and tests agree",
    r"of which \d+ \w+;|so in \d+ attempts": "10 timeouts; 6 attempts ended in an error",
    r"tasks more than in the baseline": "40 tasks are not in the baseline",
    r"counted both ways|passes in the best": "tried as pass and as fail",
    r"of 1, 10, 100 what fits|what fits": "those of 1, 10, 100 that the data allow",
    r"model [−-] against": "difference (model minus other)",
    r"drop caught|caught drop": "smallest drop detected",
    r"two like \w+": "two models similar to X",
    r"the order turns": "the order reverses",
    r"relatives make": "related models make intervals too narrow",
    r"those that fit, as": "matching models, such as 'gpt-*'",
    r"(?:only )?counts come home|comes? home": "only counts are returned",
    r"may it go out": "can we ship it",
    r"all of this as one page|one page of all that": "a full report on one page",
    r"ends a pipeline with": "passes or fails CI",
    r"made anew|mended": "made again; fixed",
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
