"""Suggests known names for a word that passk does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from glob import escape

from passk_cli.text import names_that_fit

# passk suggests a name if its similarity to the unknown word is at least _ALIKE, and at most _CLOSE
# below the best similarity.
_ALIKE, _CLOSE = 0.65, 0.12
_PUNCTUATION_PATTERN = r"[\s_.:/\-]"
# An error suggests the full name of a model if the name has at most _MAX_LENGTH_OF_NAME_NOT_PATTERN
# characters. For a longer name, the error suggests a pattern.
_MAX_LENGTH_OF_NAME_NOT_PATTERN = 40
# SYNONYMS maps words that users may type, without punctuation, to the names that passk uses.
SYNONYMS = {
    "confidence confidencelevel conf ci cl alpha coverage": "level",
    "metrics score scores measure measures": "metric",
    "k ks atk passk": "k",
    "filter query select only": "where",
    "groupby group groups split splitby stratify": "by",
    "out outfile outputfile save junitxml": "output",
    "fmt outputformat type as json csv markdown md latex tex": "format",
    "bootstraps nboot nbootstrap bootstrapsamples iterations nresamples": "resamples",
    "randomseed randomstate rng": "seed",
    "column columns col role map mapping rename": "field",
    "models modelname include": "model",
    "exclude without skipmodel": "exclude-model",
    "reference control base ref old": "baseline",
    "plot plotfile graph figure fig picture png svg": "chart",
    "theme dark": "chart-theme",
    "figsize width size": "chart-size",
    "silent": "quiet",
    "debug": "verbose",
    "all details long": "full",
    "method intervals citype": "interval methods",
    "dedupe dedup duplicate": "duplicates",
    "cutoff passmark minscore": "threshold",
    "informat inputformat harness reader": "from",
    "correction multiplicity bonferroni holm fdr": "adjust",
    "equivalence rope sesoi tolerance": "margin",
    "sortby orderby": "sort",
    "strict failon": "error",
    "ttest pairedt student welch": "t guarded-t",
    "mcnemar": "mid-p",
    "permutation randomization": "within-tasks sign-flip",
    "fdr benjaminihochberg": "bh",
    "bootstrap boot": "percentile bca interval",
    "precision decimals round": "digits",
    "nan na null missingvalues": "missing",
    "minimum atleast floor failunder": "min",
    "diff difference vs versus": "compare",
    "eval evaluate score summary summarize summarise stats passatk": "estimate",
    "inspect info show schema head columns": "describe",
    "power samplesize": "plan",
    "ci check assert guardrail": "gate",
    "boot resample": "bootstrap",
    "html dashboard page leaderboard board": "report",
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
    "scorer grader judge": "outcome",
    "xml": "junit",
}
_NAMES_BY_SYNONYM: dict[str, list[str]] = {}
for _words, _names in SYNONYMS.items():
    for _word in _words.split():
        _NAMES_BY_SYNONYM.setdefault(_word, []).extend(_names.split())


def nearest_names(word: str, names: Iterable[str], most: int = 2) -> list[str]:
    """Up to `most` known names that are similar to a word, with the most similar name first.

    If the word is a pattern, the function returns the names that match the pattern.  Otherwise, the
    function returns names that differ from the word only in case and punctuation.  If there are no
    such names, the function returns synonyms of the word, or else names with many letters in
    common.

    >>> nearest_names("gpt5.5", ["gpt-5.5", "gpt-5"]), nearest_names("--ci", ["--level", "--fit"])
    (['gpt-5.5'], ['--level'])
    >>> nearest_names("maxdorp", ["max-drop", "max-k"]), nearest_names("qqq", ["max-k"])
    (['max-drop'], [])
    >>> nearest_names("open*", ["aider", "openhands", "opencode"])
    ['openhands', 'opencode']
    """
    names = [*names]
    if fitting := [name for name in names if "*" in word and fnmatchcase(name, word)]:
        return fitting[:most]
    spelled = {name: _without_punctuation(name) for name in names}
    spelling = _without_punctuation(word)
    same = [name for name, text in spelled.items() if text == spelling]
    if same or not spelling:
        return same[:most]
    synonyms = {
        _without_k(name) for name in _NAMES_BY_SYNONYM.get(_without_k(spelling).rstrip("@^"), ())
    }
    if matches := [name for name, text in spelled.items() if _without_k(text) in synonyms]:
        return matches[:most]
    likeness = {name: _likeness(spelling, text) for name, text in spelled.items()}
    best = max(likeness.values(), default=0.0)
    close = [n for n, like in likeness.items() if like >= max(_ALIKE, best - _CLOSE)]
    return sorted(close, key=lambda name: -likeness[name])[:most]


def did_you_mean_or_list(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """The question "did you mean …?" if a known name is similar to the word, and otherwise a list
    of all known names.

    >>> [did_you_mean_or_list(word, ["task", "model"]) for word in ("tsk", "zzz")]
    ['did you mean task?', 'there are task, model']
    """
    names = [*names]
    similar = nearest_names(word, names)
    return did_you_mean(similar) if similar else otherwise or list_known_names(names)


def did_you_mean(names: Sequence[str]) -> str:
    """The question "did you mean …?" with the given names."""
    return f"did you mean {' or '.join(names)}?"


def respell_metric(metric: str) -> str:
    """The name of a metric as passk writes it, for example "pass@10" for "pass_at_10".

    >>> [respell_metric(name) for name in ("pass_at_10", "passhat3", "Pass 1", "gpass@8:0.5")]
    ['pass@10', 'pass^3', 'pass@1', 'gpass@8:0.5']
    """
    name = re.sub(r"\s+", "", metric.lower())
    name = re.sub(r"[_-]?(hat|pow|power|\*\*)[_-]?(?=\d|k$)", "^", name)
    return re.sub(r"^([a-z-]+?)[_-]?(at[_-]?)?(?=\d)", r"\1@", name)


def probable_share(text: str) -> float | None:
    """The share between 0 and 1 that a number or percentage such as "95" probably means, or None.

    >>> probable_share("95"), probable_share("97.5%"), probable_share("0.95"), probable_share("x")
    (0.95, 0.975, 0.95, None)
    """
    number = re.fullmatch(r"(\d{1,2}(?:\.\d+)?|\.\d+)%?", text.strip())
    value = float(number[1]) if number else 0.0
    return (value / 100 if value >= 1 else value) or None


def pattern_for_names_with_word(part: str, names: Iterable[str]) -> tuple[str, list[str]]:
    """A pattern that matches all names that contain a word, and a list of these names.

    If only one name contains the word, and this name is short, the pattern is the name.  If no name
    or every name contains the word, the pattern is "".

    >>> pattern_for_names_with_word("gemma 4", ["org/Gemma-4n", "org/GEMMA-4b", "gpt-4"])
    ('*G[Ee][Mm][Mm][Aa]-4*', ['org/GEMMA-4b', 'org/Gemma-4n'])
    >>> [pattern_for_names_with_word(word, ["claude-opus", "o3"]) for word in ("opus", "o")]
    [('claude-opus', ['claude-opus']), ('', [])]
    """
    names = sorted({*names})
    core = part.strip("*")
    sought = re.compile(
        _PUNCTUATION_PATTERN.join(map(re.escape, re.split(_PUNCTUATION_PATTERN, core))),
        re.IGNORECASE,
    )
    matches = {name: place for name in names if core and (place := sought.search(name))}
    matches = {name: at for name, at in matches.items() if len(name) == len(core)} or matches
    if not matches or (len(matches) == len(names) > 1):
        return "", []
    if len(matches) == 1 and len(*matches) <= _MAX_LENGTH_OF_NAME_NOT_PATTERN:
        return next(iter(matches)), [*matches]
    texts = {place[0] for place in matches.values()}
    letters = [sorted({*column}) for column in zip(*texts, strict=False)]
    pattern = "".join(
        escape(choices[0]) if not choices[1:] else f"[{''.join(choices)}]" for choices in letters
    )
    before = "*" * any(place.start() for place in matches.values())
    after = "*" * any(place.end() < len(name) for name, place in matches.items())
    pattern = before + pattern + after
    return pattern, [name for name in names if fnmatchcase(name, pattern)]


def list_known_names(names: Iterable[str]) -> str:
    """A phrase with all known names, or with the first known names and the number of further names.

    >>> list_known_names("abc"), list_known_names([]), list_known_names(["a" * 60, "b" * 60])[-10:]
    ('there are a, b, c', 'there are none', 'and 1 more')
    """
    return f"there are {names_that_fit([*names], 98, ', ') or 'none'}"


def _without_punctuation(name: str) -> str:
    return re.sub(r"[\s_.:\-]+", "", name.lower())


def _without_k(name: str) -> str:
    return re.sub(r"(?<=[@^])(\d+|k)$", "", _without_punctuation(name))


def _likeness(word: str, name: str) -> float:
    """The likeness of two words: the share of common letters in the same order, from 0 to 1."""
    shorter, longer = sorted((word, name), key=len)
    begins = len(shorter) > 2 and longer.startswith(shorter)
    matcher = SequenceMatcher(None, name, word)
    if not name or (matcher.quick_ratio() < _ALIKE - 0.2 and not begins):
        return 0.0
    # Two swapped letters are one typing mistake, so swapped letters reduce the similarity of two
    # words only a little.
    swapped = len(word) == len(name) and sorted(word) == sorted(name)
    return max(matcher.ratio() + 0.1 * swapped, _ALIKE * begins)
