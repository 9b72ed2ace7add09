"""Questions: what a reading leaves open, and whole answers to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from passk_cli.files.reading.doubts.tasks import FAMILIES
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.readings.reading import RankedReading
from passk_cli.files.reading.structures import ROWS, Structure
from passk_cli.files.request import AVERAGED, Request
from passk_cli.files.roles import COLUMN, EQUAL, judge, words
from passk_cli.settle import Blank, Settle
from passk_cli.text import first_few, listed

# How many answers are printed; how close scores are that may be meant as well; the share that
# reaches the highest score, from which on it may be what passes.
OFFERED, _NEAR, _OFTEN = 3, 0.25, 0.1
# Share of the outcomes that may be missing where a reading is proposed.
MISSING = 0.2
_PERCENT = re.compile(r"\d+(\.\d+)? ?%")
# Questions about truth values.
_FLAGS = ("name", "polarity", "which")
# What columns of a model each are called.
_MODELS = re.compile(rf"agent|baseline|command|model|nova|yi\b|{FAMILIES}", re.I)


def rivals(reading: RankedReading, ranked: Sequence[RankedReading]) -> list[RankedReading]:
    """The readings whose outcomes may be meant as well as that of one, which is the first of them:
    flags of the same records; scores that are as likely, and a flag that stands alone with them."""
    flags, scores = dict[str, RankedReading](), {reading.outcome.path: reading}
    for each in (each for each in ranked if each.structure is reading.structure):
        if each.question in _FLAGS:
            flags.setdefault(each.outcome.path, each)
        elif each.question == reading.question and each.score >= reading.score - _NEAR:
            scores.setdefault(each.outcome.path, each)
    if reading.question in _FLAGS:
        # Beside another flag that of an error says how the attempt ended.
        kept = [each for each in flags.values() if "error" not in words(each.outcome.path)]
        return kept or [*flags.values()]
    if reading.question != "threshold":
        return [*scores.values()] if reading.question == "words" else [reading]
    alone = [*flags.values()] if len(flags) == 1 else []
    return [*[*scores.values()][: OFFERED - len(alone)], *alone]


def answers(readings: Sequence[RankedReading], request: Request) -> list[Settle]:
    """Whole answers to what rivals leave open.

    Of several flags each is the verdict, or all are those of a model each.
    """
    first, *others = readings
    if unnamed := tuple(_unnamed(first, request)):
        own, some = first.options(request), listed(unnamed)
        verbs = ("passes", "fails") if len(unnamed) == 1 else ("pass", "fail")
        return [Settle({**own, option: unnamed}, f"if {some} {verb}")
                for option, verb in zip(("--passes", "--fails"), verbs, strict=True)]  # fmt: skip
    ways, scores = list[Settle](), sum(each.question == "threshold" for each in readings)
    for each in readings:
        own = each.options(request)
        if each.question == "threshold":
            ways += _of_scores(each, own, averages=request.averages, alone=scores == 1)
        elif each.question in _FLAGS and others:
            own |= {"--missing": "drop"} if _few(each) else {}
            either = _of_words(each, own) if each.question == "polarity" else []
            either = either or [Settle(own, f"{_share(each, True)} pass")]
            without = len(each.outcome.flat) - len(each.outcome.judged)
            lost = f", {without:,} without one left out" * _few(each)
            ways += [replace(way, why=f"by {each.outcome.path}, {way.why}{lost}") for way in either]
        else:
            ways += _of_words(each, own)
    paths = [each.outcome.path for each in readings]
    several = first.question in _FLAGS and bool(others) and "model" not in first.roles
    if several and not any(EQUAL in path for path in paths):
        own = first.options(request)
        fields = {**own.get("--field", {}), "outcome": ",".join(paths), "model": COLUMN}
        models = Settle({**own, "--field": fields}, "if each column is a model")
        ways = [models] if all(map(_MODELS.match, paths)) else [*ways, models]
    return ways


def columns_of_models(structures: Sequence[Structure], request: Request) -> Iterator[Settle]:
    """Columns that are called as models are, and hold passes and failures alone, as models."""
    for columns in (structure.columns for structure in structures):
        names = [
            path
            for path, column in columns.items()
            if _MODELS.match(path) and column.counts.keys() <= {"0", "1", "True", "False"}
        ]
        if len(names) > 1 and not request.named.keys() & {"model", "outcome"}:
            fields = {"outcome": ",".join(names), "model": COLUMN}
            yield Settle({"--field": fields}, "if each column is a model")


def _unnamed(reading: RankedReading, request: Request) -> Counter[str]:
    """The words that neither --passes nor --fails names, where both are given."""
    if reading.question != "words" or not (request.passes and request.fails):
        return Counter()
    named = {word.lower() for word in (*request.passes, *request.fails)}
    values = Counter(str(v).lower() for v in reading.outcome.flat if v not in (None, ""))
    return Counter({v: count for v, count in values.items()
                    if v not in named and isinstance(judge(v, None), str)})  # fmt: skip


def _few(reading: RankedReading) -> bool:
    """Whether more outcomes are missing than a proposal passes over."""
    column = reading.outcome
    return len(column.judged) < (1 - MISSING) * len(column.flat)


def _seen(reading: RankedReading) -> str:
    """Words before the number of records, where there may be more."""
    return "the first " * (reading.structure.size == ROWS)


def _share(reading: RankedReading, verdict: object) -> str:
    """How many outcomes are the same, of how many."""
    column, seen = reading.outcome, _seen(reading)
    values: Sequence[object] = column.numbers if isinstance(verdict, float) else column.judged
    return f"{values.count(verdict):,} of {seen}{len(column.flat):,}"


def _of_scores(
    reading: RankedReading, own: Mapping[str, Any], *, averages: bool, alone: bool
) -> Iterator[Settle]:
    """The highest score passes, where many reach it and no other is meant; or the mean is taken."""
    numbers, top = reading.outcome.numbers, max(reading.outcome.numbers)
    often = numbers.count(top) >= max(2, _OFTEN * len(numbers))
    if alone and often and min(numbers) < top:
        why = f"if {top:g} passes, {_share(reading, top)}"
        yield Settle({**own, "--threshold": (top,)}, why)
    if averages:
        yield Settle({**own, **AVERAGED}, f"averages {reading.outcome.path}")


def _of_words(reading: RankedReading, own: Mapping[str, Any]) -> list[Settle]:
    """Of two words, or truth values, either passes; of more words each alone."""
    column, spoken = reading.outcome, reading.question == "words"
    seen = _seen(reading)
    settled = "--missing" in own or (spoken and True in column.judged)
    if reading.question == "parts" or (_few(reading) and not settled):
        return []
    values = Counter(str(v).lower() for v in column.flat if v not in (None, ""))
    if spoken and values.keys() <= {*vocabulary.CLASSIFIED}:
        right = [value for value in vocabulary.CLASSIFIED[:2] if value in values]
        return [Settle({**own, "--passes": (*right,)}, "counts what was classified rightly")]
    unknown = [value for value in values if isinstance(judge(value, None), str)]
    if spoken and all(map(_PERCENT.fullmatch, values)):
        top = max(values, key=lambda value: float(value.rstrip("% ")))
        return [Settle({**own, "--passes": (top,)}, f"if {top} passes, {_share(reading, top)}")]
    if spoken and 0 < len(unknown) < len(values):
        return _of_unknown(values, unknown, own, seen)
    if not spoken and values.keys() <= {"true", "false"}:
        # Of a flag that never changes either value may pass as well.
        values = Counter({"true": values["true"], "false": values["false"]})
    if len(values) < 2 or (len(values) > 2 and not spoken):
        return []
    first, *others = sorted(values, key=lambda value: judge(value, None) is not True)
    usual = {"--passes": (first,)} if spoken else {}
    more = [{"--passes": (other,), **({} if usual else {"--fails": (first,)})} for other in others]
    ways = [
        Settle({**own, **way}, f"if {value} passes, {values[value]:,} of {seen}{values.total():,}")
        for value, way in zip((first, *others), (usual, *more), strict=True)
    ]
    if spoken:
        # Of many words none is likelier than the others.
        return ways if len(ways) <= OFFERED else []
    return ways[::-1] if words(column.path) & vocabulary.FAILURES else ways


def _of_unknown(
    values: Counter[str], unknown: Sequence[str], own: Mapping[str, Any], seen: str
) -> list[Settle]:
    """Words that no list knows, beside others that it knows: they fail or pass."""
    passing = [value for value in values if judge(value, None) is True]
    count = sum(values[value] for value in unknown)
    subject, share = f"if {first_few(unknown)}", f"{count:,} of {seen}{values.total():,}"
    fails, passes = ("fails", "passes") if len(unknown) == 1 else ("fail", "pass")
    return [
        Settle({**own, "--fails": (*unknown,)}, f"{subject} {fails}, {share}"),
        Settle({**own, "--passes": (*passing, *unknown)}, f"{subject} {passes}, {share}"),
    ]


def question(readings: Sequence[RankedReading], request: Request, *, answered: bool) -> str:
    """Question that rivals leave open, with their outcomes' values; "" where the answers say it.

    answered : whether each answer is printed.
    """
    first, column = readings[0], readings[0].outcome
    if unnamed := _unnamed(first, request):
        tally = ", ".join(f"{word} ({count:,})" for word, count in unnamed.most_common(4))
        return f"named as neither passing nor failing: {tally}"
    if first.question == "parts":
        *way, last = (*first.structure.keys, *column.path.split("."))
        whole = f"which {last} of {'.'.join(way)} make an attempt pass: all, a share, one?"
        return f"{whole} write a column"
    if first.question == "threshold":
        scores = [each.outcome for each in readings if each.question == "threshold"]
        ranges = [
            f"{each.path} pass ({min(each.numbers):g} to {max(each.numbers):g})" for each in scores
        ]
        return f"from what value does {', or '.join(ranges)}?"
    if answered:
        return "which says that an attempt passed?" * (len(readings) > 1)
    if first.question == "words":
        return f"{column.path}: which words pass? {column.tally}"
    tallies = ", ".join(f"{each.outcome.path} ({each.outcome.tally})" for each in readings)
    return f"which says that an attempt passed: {tallies}?"


def blank(readings: Sequence[RankedReading], options: Mapping[str, Any]) -> list[Settle]:
    """The options with what is left to the reader, if an option says it."""
    kind, way = readings[0].question, dict[str, Any]()
    if kind in _FLAGS or sum(each.question == kind for each in readings) > 1:
        way["--field"] = {**options.get("--field", {}), "outcome": Blank("COLUMN")}
    if kind in ("threshold", "words"):
        way |= {"--threshold": Blank("X")} if kind == "threshold" else {"--passes": Blank("WORD")}
    return [Settle({**options, **way}, "reads it")] if way else []
