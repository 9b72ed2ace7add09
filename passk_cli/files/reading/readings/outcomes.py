"""Evidence of an outcome: what names and values say for a column, or for two that agree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import eq
from typing import NamedTuple

from passk_cli.files.reading.doubts.settings import SUITES, is_setting
from passk_cli.files.reading.doubts.tasks import LANGUAGES
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.structures import ROWS, FieldColumn
from passk_cli.files.roles import (
    EACH,
    EITHER,
    ENDED_WORDS,
    EQUAL,
    FAIL_WORDS,
    PASS_WORDS,
    ROLE_WORDS,
    above,
    agree,
    judge,
    leaf,
    parts,
    strength,
    words,
)

# Words that pass or fail wherever they stand: ja and no are languages as well.
_JUDGING = {*PASS_WORDS, *FAIL_WORDS} - {"true", "false", "t", "f", "yes", "no", "ja", "ok"}
# Fields that are many.
_WIDE = 100
# A name that ends in a number.
_NUMBERED = re.compile(r"(.*[a-z])[_\- ]?\d{1,3}", re.I)


class Likely(NamedTuple):
    """How likely a column is the outcome, and what nobody can know of it, "" for nothing.

    question : "polarity", "threshold" or "words"; "fewer" of numbers of what is bad, and "code" of
        numbers that stand for verdicts; "name" where nothing but its two values speaks for it.
    """

    score: float
    question: str = ""


@dataclass(frozen=True, eq=False)
class _OutcomeColumn:
    """A column that may be the outcome."""

    column: FieldColumn

    @cached_property
    def last(self) -> str:
        return self.column.path.replace(EACH, "").rpartition(".")[2]

    @cached_property
    def words(self) -> set[str]:
        return words(self.last)

    @cached_property
    def said(self) -> set[str]:
        """The values that are words of passing or failing."""
        texts = {str(value).strip().lower() for value in self.column.flat}
        return texts & {*PASS_WORDS, *FAIL_WORDS}

    @cached_property
    def unclear(self) -> bool:
        """Whether nobody can know if true passes.

        A refusal that is correct passes, and a word that passes or fails says which it is.
        """
        named = self.words & vocabulary.UNCLEAR or {"over", "confidence"} <= self.words
        unclear = bool(named) and "correct" not in self.words
        return unclear and not self.said - {"true", "false"}

    @cached_property
    def named(self) -> float:
        """How surely the name means an outcome, or one of its few words, as in hedged_wrong."""
        named = strength("outcome", self.column.path)
        texts = {value for value in self.column.flat if isinstance(value, str)}
        judging = len(texts) in range(2, 6) and any(
            {*re.split(r"[\W_]+", text.lower())} & _JUDGING for text in texts
        )
        return 1.2 if (self.unclear and named < 3) or (named == 0 and judging) else named

    @cached_property
    def both(self) -> bool:
        """Whether some pass and some fail."""
        return len({*self.column.judged}) == 2

    @cached_property
    def plain(self) -> bool:
        """Whether all values are true or false."""
        return bool(self.said) and self.said <= {"true", "false"}

    @cached_property
    def excluded(self) -> bool:
        """Whether a column is something else."""
        several = vocabulary.OF_SEVERAL.fullmatch(leaf(self.last))
        if not self.column.judged or several or self.words & vocabulary.AMOUNTS:
            return True
        # Of what is true or expected an answer makes an outcome.
        truths = (vocabulary.TRUTHS | vocabulary.EXPECTED) - {"label"}
        return self.named < 1.7 and bool(self.words & truths)


def likely_outcome(column: FieldColumn) -> Likely | None:
    """How likely a column is the outcome; None for no outcome."""
    own = _OutcomeColumn(column)
    if own.excluded:
        return None
    score = own.named - 1.5 * len(own.words & vocabulary.NO_OUTCOME)
    score -= 1.0 * (len(column.judged) < 0.5 * len(column.flat))
    score -= 2.0 * bool(own.words & vocabulary.NOTED)
    if own.words & vocabulary.CODES and _are_codes(column):
        return Likely(1.2, "code")
    if own.named == 0 and _is_score(own):
        usual = bool(own.words & vocabulary.QUALITIES) + ("overall" in own.words)
        return Likely(0.2 + 0.6 * usual, "threshold")
    if not any(isinstance(verdict, str) for verdict in column.judged):
        return _of_flags(own, score)
    if own.named == 0:
        return None
    return _of_scores(own, score) if column.numbers else _of_words(column, score)


def spoken(column: FieldColumn) -> Likely | None:
    """How likely a few words under any name are the outcome; None where the name means another
    thing."""
    own = _OutcomeColumn(column)
    others = vocabulary.NO_OUTCOME | (vocabulary.NO_TASK - vocabulary.JUDGING) | vocabulary.SUMMED
    others |= vocabulary.ANSWERED | vocabulary.STATEMENTS
    others |= ROLE_WORDS["model"] | ROLE_WORDS["task"] | ROLE_WORDS["attempt"] | SUITES | LANGUAGES
    few = len(column.judged) < 0.8 * len(column.flat)
    if few or own.excluded or column.numbers or own.words & others or is_setting(column.path):
        return None
    return _of_words(column, 0.9)


def _of_flags(own: _OutcomeColumn, score: float) -> Likely | None:
    """Values that each pass or fail."""
    whole = own.both and len(own.column.judged) == len(own.column.flat)
    foreign = is_setting(own.column.path) or strength("attempt", own.column.path) > 1.2
    if own.named == 0 and (foreign or not whole):
        return None
    several = (word for word in own.words if word.endswith("s"))
    if own.named < 3 and not own.plain and any(map(vocabulary.PARTS.fullmatch, several)):
        # How many parts of an attempt passed, at most 1.
        return None
    score -= 0.3 * own.unclear + 0.8 * (own.named == 0)
    if own.both:
        score += 3.5 if own.said - {"true", "false"} else 2.0
    elif own.unclear:
        score -= 0.5
    else:
        # A constant says little, and less where it says it of the agent: that it ran.
        score += 0.5 if own.plain else -0.5
        score -= (1.0 + bool(own.words & ROLE_WORDS["model"])) * (own.named < 1.6)
    return Likely(score, "polarity" if own.unclear else "" if own.named else "name")


def _of_scores(own: _OutcomeColumn, score: float) -> Likely | None:
    """Numbers of which nobody knows from what value they pass."""
    low, high = min(own.column.numbers), max(own.column.numbers)
    if math.isinf(high - low):
        return None
    if own.unclear:
        # Of what is bad less is better: of its number the total says most; a rate is of several.
        summed = low == high or "rate" in own.words
        return None if summed else Likely(0.8 + 0.2 * ("total" in own.words), "fewer")
    counts = high > 1 and all(number % 1 == 0 for number in own.column.numbers)
    passing = own.words & {*PASS_WORDS, "verified"}
    share = low >= 0 and high <= 1
    # How sure a model was says nothing of whether it was right.
    score -= 2.0 * bool(own.words & vocabulary.SHARES)
    score += 0.2 * ("overall" in own.words)
    score += 0.5 * share + 0.5 * bool(share and passing) - 3.0 * bool(counts and passing)
    score -= 0.5 + 1.0 * (low == high) + 1.0 * bool(own.words & vocabulary.NUMBERS)
    return Likely(score - 1.0 * (counts and own.named < 1.6), "threshold")


def _of_words(column: FieldColumn, score: float) -> Likely | None:
    """A few words that come again, of which nobody knows which pass."""
    texts = [verdict for verdict in column.judged if isinstance(verdict, str)]
    few = len({*map(str, column.judged)})
    if not 2 <= few <= 5 or max(map(len, texts)) > 40 or len(column.judged) == len({*texts}):
        return None
    # Words of passing among them say that they judge; without them, those of errors say how it
    # ended.
    said = any(judge(text, None) is True for text in map(str, column.flat))
    ended = not said and any(
        {*re.split(r"[\W_]+", text.lower())} & {*ENDED_WORDS} for text in map(str, column.flat)
    )
    return Likely(score + 1.5 * said - 2.5 * ended, "words")


def _are_codes(column: FieldColumn) -> bool:
    """Whether a few whole numbers from 0 on stand for verdicts."""
    values = {*column.numbers}
    return {0, 2} < values <= {0, 1, 2, 3, 4}


def _is_score(own: _OutcomeColumn) -> bool:
    """Whether values say how good an attempt is: under a name for that, or as grades from 1 to 5 or
    shares of 1 under a name that is nothing else's."""
    numbers = {*own.column.numbers}
    known = vocabulary.NO_TASK | vocabulary.NO_OUTCOME | ROLE_WORDS["task"]
    if own.words & vocabulary.QUALITIES:
        known = vocabulary.NO_OUTCOME
    if len(numbers) < 2 or min(numbers) < 0 or own.words & known or is_setting(own.column.path):
        return False
    grades = {1, 5} < numbers <= {1, 2, 3, 4, 5}
    shares = len(numbers) > 2 and max(numbers) <= 1 and not own.words & vocabulary.SHARES
    return bool(own.words & vocabulary.QUALITIES) or grades or shares


def laid_out(columns: Mapping[str, FieldColumn], asked: str) -> Iterator[FieldColumn]:
    """Columns of an attempt each, which differ by a number after a word for attempts or outcomes,
    as the list that they are: run1, run2, run3; those that were asked for so; and outcomes of which
    each record has one, as one.

    asked : the columns of the outcome with commas between them, "" where it is not asked for.
    """
    alike: dict[str, list[str]] = {asked: asked.split(",")} if "," in asked else {}
    if (paths := _by_rows(columns)) and not asked:
        rows = zip(*(columns[path].values for path in paths), strict=True)
        one = [next((value for value in row if value not in (None, "")), None) for row in rows]
        yield FieldColumn(EITHER.join(paths), one)
    for path in columns:
        name = _NUMBERED.fullmatch(path)
        if name and (strength("attempt", name[1]) or strength("outcome", name[1])
                     or words(name[1]) & (vocabulary.ANSWERED | vocabulary.JUDGING)):  # fmt: skip
            alike.setdefault(name[1], []).append(path)
    for paths in alike.values():
        if len(paths) > 1 and all(path in columns for path in paths):
            rows = zip(*(columns[path].values for path in paths), strict=True)
            yield FieldColumn(",".join(paths), [*map(list, rows)])


def _by_rows(columns: Mapping[str, FieldColumn]) -> list[str]:
    """Outcomes that pass or fail, of which most records have one and none has two, as where each
    suite has its own."""
    size = max((len(column.values) for column in columns.values()), default=0)
    taken, found, later = set[int](), list[str](), list[str]()
    for path, column in columns.items():
        own = _OutcomeColumn(column)
        rows = {i for i, value in enumerate(column.values) if value not in (None, "")}
        plain = all(isinstance(verdict, bool) for verdict in column.judged)
        others = vocabulary.NO_OUTCOME | vocabulary.AMOUNTS | vocabulary.TRUTHS
        named = strength("outcome", path) and not (own.unclear or column.listed)
        if plain and named and not own.words & others and not taken & rows:
            taken |= rows
            (found if rows else later).append(path)
    if len(found) < 2 or len(taken) <= 0.5 * size:
        return []
    # What is not in the first records may be in others.
    return found + later * (size == ROWS)


def agreements(columns: Mapping[str, FieldColumn], asked: str) -> Iterator[FieldColumn]:
    """Whether columns agree, as outcomes: an answer with what was expected, of which most answers
    are values; what passed with how many there are; and those that are asked for."""
    pairs = [
        (answer, gold)
        for answer, gold in answers_and_golds(columns)
        if not columns[gold].is_prose  # Sentences that agree are a copy.
        and 2 * sum(n for v, n in columns[answer].counts.items() if v in columns[gold].counts)
        >= columns[answer].counts.total()
    ]
    pairs += tests_and_totals(columns)
    if EQUAL in asked and {*parts(asked)} <= columns.keys():
        pairs.append((parts(asked)[0], parts(asked)[1]))
    pairs += _keyed(columns)
    for one, other in dict.fromkeys(pairs):
        verdicts = [*map(agree, columns[one].values, columns[other].values)]
        yield FieldColumn(f"{one}{EQUAL}{other}", verdicts)
    for one, other in _lists(columns):
        ends = sorted({p.removeprefix(top) for top in (one, other) for p in columns
                       if p.startswith(top)})  # fmt: skip
        empty = [None] * max(len(column.values) for column in columns.values())
        sides = [
            [columns[top + end].values if top + end in columns else empty for end in ends]
            for top in (one, other)
        ]
        given, gold = (zip(*side, strict=True) for side in sides)
        yield FieldColumn(f"{one}{EQUAL}{other}", [*map(eq, given, gold)])


def _keyed(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Answers, each with that of the same name in the object that holds the question: both texts,
    or letters and places from 0 on."""
    asked = {above(path) for path in columns
             if leaf(path.replace(EACH, "")) in ("question", "choices", "options")}  # fmt: skip
    golds = [path for path in columns if above(path) in asked - {""}]
    for one, other in product([path for path in columns if above(path) not in asked], golds):
        answer, gold = columns[one], columns[other]
        if leaf(one) != leaf(other) or answer.listed or gold.listed:
            continue
        letters = all(re.fullmatch("[A-Za-z]", value) for value in answer.counts)
        places = letters and 0 in gold.numbers and {*gold.numbers} <= {*map(float, range(26))}
        if places or {*answer.counts} & {*gold.counts}:
            yield one, other


def _lists(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Lists of what was predicted, each with that of what was expected, which is called alike."""
    paths = (path for path, column in columns.items() if column.listed)
    tops = [*dict.fromkeys(path.partition(".")[0].removesuffix(EACH) for path in paths)]
    for one, other in product(tops, tops):
        rest = words(one) - vocabulary.PREDICTED, words(other) - vocabulary.SURE
        meant = words(one) & vocabulary.PREDICTED and words(other) & vocabulary.SURE
        if meant and rest[0] == rest[1]:
            yield one, other


def answers_and_golds(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Columns of answers, each with one of what was expected, which have values in common."""
    texts = {
        path: column
        for path, column in columns.items()
        if not column.listed and not leaf(path).endswith("model")
    }
    golds = [path for path in texts if words(path) & (vocabulary.GOLDS | vocabulary.TRUTHS)]
    # Where one is called true, or expected, a label is what was answered.
    golds = [path for path in golds if words(path) & vocabulary.SURE] or golds
    if any(words(path) & vocabulary.PREDICTED for path in texts):
        # Beside what was predicted, an answer is the right one.
        golds = golds or [path for path in texts if leaf(path) == "answer"]
    for gold in golds:
        # Of many fields those of one object are compared.
        near = texts if len(texts) <= _WIDE else [p for p in texts if above(p) == above(gold)]
        pairs = [answer for answer in near if _is_answer(texts[answer], texts[gold])]
        # What was taken from a response goes before the response.
        taken = [answer for answer in pairs if words(answer) & vocabulary.PREDICTED]
        yield from ((answer, gold) for answer in taken or pairs)


def _is_answer(answer: FieldColumn, gold: FieldColumn) -> bool:
    """Whether a column holds answers to what was expected: by its name, with values in common."""
    named, common = words(answer.path), {*answer.counts} & {*gold.counts}
    meant = _are_alike(answer, gold) or bool(named & vocabulary.ANSWERED)
    meant = meant or (words(gold.path) <= vocabulary.EXPECTED and "actual" in named)
    other = not named & vocabulary.EXPECTED and leaf(gold.path) != leaf(answer.path)
    return meant and other and bool(common)


def _are_alike(answer: FieldColumn, gold: FieldColumn) -> bool:
    """Whether a column is called as one of what was expected, or has its labels beside it."""
    rest = words(gold.path) - vocabulary.EXPECTED
    if not rest:
        return strength("outcome", answer.path) == 3
    if rest < words(gold.path) and rest <= words(answer.path):
        return True
    return _has_labels(answer, gold) and above(answer.path) == above(gold.path)


def _has_labels(column: FieldColumn, gold: FieldColumn) -> bool:
    """Whether values are labels of those that were expected, several of them."""
    few = len(gold.counts) in range(2, 20) and column.counts.total() > 2 * len(gold.counts)
    return few and len(column.counts) > 1 and column.counts.keys() <= gold.counts.keys()


def tests_and_totals(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Columns of how many tests passed, or of a score, each with that of how many there were, or of
    the highest score."""
    numbers = {
        path: column.numbers
        for path, column in columns.items()
        if not column.listed and len(column.numbers) == len(column.flat)
    }
    for one, other in product(
        numbers, [path for path in numbers if words(path) & vocabulary.TOTAL]
    ):
        rest = words(one) - vocabulary.PASSED, words(other) - vocabulary.TOTAL
        scored = rest[0] & vocabulary.SCORES
        alike = rest[0] == rest[1] and (rest[0] < words(one) or scored) and one != other
        # A score is of what is called its highest one alone too: points of max.
        alike = alike or (bool(scored) and words(other) == {"max"})
        if alike and all(0 <= p <= n for p, n in zip(numbers[one], numbers[other], strict=True)):
            yield one, other
