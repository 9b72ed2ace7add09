"""Near names: what a word that is not known was probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

# The least likeness of a word and a name; how far below the best the second one may lie.
_ALIKE, _CLOSE = 0.6, 0.12
# How many names a sentence lists where none is near.
_LISTED = 12
# Words that people use for a name of another spelling, without marks; of several names those count
# that there are.
SYNONYMS = {
    "confidence confidencelevel conf ci cl alpha coverage": "level",
    "metrics score scores measure measures": "metric",
    "k ks atk passk": "k",
    "filter query select only": "where",
    "groupby group groups split splitby stratify": "by",
    "out outfile outputfile save file": "output",
    "fmt outputformat type as json csv markdown md latex tex": "format",
    "bootstraps nboot nbootstrap bootstrapsamples iterations nresamples": "resamples",
    "randomseed randomstate rng": "seed",
    "column columns col role map mapping rename": "field",
    "models modelname include": "model",
    "exclude without skipmodel": "exclude-model",
    "reference control base ref old": "baseline",
    "plot graph figure fig picture png svg": "chart",
    "theme dark": "chart-theme",
    "figsize width size": "chart-size",
    "silent": "quiet",
    "debug": "verbose",
    "all details long": "full",
    "method intervals citype": "interval methods",
    "dedupe dedup duplicate": "duplicates",
    "cutoff passmark minscore": "threshold",
    "informat inputformat harness reader": "from",
    "correction multiplicity bonferroni holm": "adjust",
    "precision decimals round": "digits",
    "nan na null missingvalues": "missing",
    "minimum atleast floor": "min",
    "diff difference vs versus": "compare",
    "eval evaluate score summary summarize summarise stats passatk": "estimate",
    "inspect info show schema head columns": "describe",
    "power samplesize": "plan",
    "ci check assert guardrail": "gate",
    "boot resample": "bootstrap",
    "html dashboard page": "report",
    "history drift monitor nights": "trend",
    "export transform": "convert",
    "scaling predict forecast": "extrapolate",
    "harnesses readers": "formats",
    "save store log append": "record",
    "accuracy acc passrate successrate solverate resolverate": "pass@K pass@1",
    "average avg meanscore": "mean",
    "majority majorityvote vote consensus cons sc selfconsistency": "maj@K",
    "usd dollars price spend": "cost",
    "latency time seconds wallclock runtime": "duration",
    "steps messages": "turns",
    "jsonlines ndjson": "jsonl",
    "text txt console": "plain table",
    "md": "markdown",
    "tex": "latex",
    "json": "json",
    "xml": "junit",
}
_NAMES_OF: dict[str, list[str]] = {}
for _words, _names in SYNONYMS.items():
    for _word in _words.split():
        _NAMES_OF.setdefault(_word, []).extend(_names.split())


def nearest(word: str, names: Iterable[str], most: int = 2) -> list[str]:
    """The names that a word was probably meant to be, the likeliest first; at most `most`.

    First those that differ in case and marks alone; of words with a name of their own in SYNONYMS,
    that; else those with the most letters in common.

    >>> nearest("gpt5.5", ["gpt-5.5", "gpt-5"]), nearest("--ci", ["--level", "--fit"])
    (['gpt-5.5'], ['--level'])
    >>> nearest("maxdorp", ["max-drop", "max-k"]), nearest("qqq", ["max-k"])
    (['max-drop'], [])
    """
    spelled = {name: _spelled(name) for name in names}
    own = _spelled(word)
    same = [name for name, text in spelled.items() if text == own]
    if same or not own:
        return same[:most]
    meant = {_spelled(name) for name in _NAMES_OF.get(own, ())}
    if known := [name for name, text in spelled.items() if text in meant]:
        return known[:most]
    likeness = {name: _likeness(own, text) for name, text in spelled.items()}
    best = max(likeness.values(), default=0.0)
    close = [n for n, like in likeness.items() if like >= max(_ALIKE, best - _CLOSE)]
    return sorted(close, key=lambda name: -likeness[name])[:most]


def meant(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """The question "did you mean …?" where a name is near; else the names there are.

    otherwise : a sentence in place of the names.

    >>> meant("tsk", ["task", "model"]), meant("zzz", ["task", "model"])
    ('did you mean task?', 'there are task, model')
    """
    names = [*names]
    if near := nearest(word, names):
        return f"did you mean {' or '.join(near)}?"
    return otherwise or there_are(names)


def respelled(metric: str) -> str:
    """A metric's name as code spells it, with the marks of names.

    >>> respelled("pass_at_10"), respelled("passhat3"), respelled("pass@k")
    ('pass@10', 'pass^3', 'pass@k')
    """
    name = re.sub(r"_?at_?(?=\d|k$)", "@", metric)
    return re.sub(r"_?(hat|pow|power|\*\*)_?(?=\d|k$)", "^", name)


def there_are(names: Iterable[str], noun: str = "there are") -> str:
    """The names there are, the first of many.

    >>> there_are("abc"), there_are([])
    ('there are a, b, c', 'there are none')
    """
    names = [*names]
    more = len(names) - _LISTED
    shown = ", ".join(names if more <= 1 else names[:_LISTED])
    return f"{noun} {shown or 'none'}" + (f" and {more} more" if more > 1 else "")


def _spelled(name: str) -> str:
    """A name without case and marks; what tells metrics from each other stays."""
    return re.sub(r"[\s_.:\-]+", "", name.lower())


def _likeness(word: str, name: str) -> float:
    """How alike two words are, from 0 to 1: letters in common, in order; a beginning counts."""
    if not name:
        return 0.0
    # Two letters that changed places are one mistake.
    swapped = len(word) == len(name) and sorted(word) == sorted(name)
    begins = len(word) > 2 and (name.startswith(word) or word.startswith(name))
    return SequenceMatcher(None, word, name).ratio() + 0.1 * (swapped + begins)
