"""Questions: what a reading leaves open, and whole answers to it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from passk_cli.files.reading.doubts.settings import is_setting
from passk_cli.files.reading.doubts.tasks import FAMILIES
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.readings.reading import RankedReading
from passk_cli.files.reading.structures import ROWS, Structure
from passk_cli.files.request import AVERAGED, Request
from passk_cli.files.roles import COLUMN, EQUAL, ROLE_WORDS, judge, strength, words
from passk_cli.settle import Blank, Settle
from passk_cli.text import first_few, listed

# How many answers of several words are printed; how close scores are that may be meant as well; the
# share that reaches the highest score, from which on it may be what passes.
OFFERED, _NEAR, _OFTEN = 3, 1.0, 0.1
# How many scores a question tells the values of.
_TOLD = 4
# Share of the outcomes that may be missing where a reading is proposed.
MISSING = 0.2
_PERCENT = re.compile(r"\d+(\.\d+)? ?%")
# Questions about truth values, and about numbers.
_FLAGS = ("name", "polarity", "which")
_NUMBERS = ("threshold", "fewer", "code")
# What columns of a model each are called.
_MODELS = re.compile(rf"agent|baseline|command|model|nova|yi\b|{FAMILIES}", re.I)
# The values of a column that holds passes and failures alone.
_VERDICTS = ({"0", "1"}, {"true", "false"})


def rivals(reading: RankedReading, ranked: Sequence[RankedReading]) -> list[RankedReading]:
    """The readings whose outcomes may be meant as well as that of one, which is the first of them:
    flags of the same records; numbers that are as likely, and a flag that stands alone with them.
    """
    flags, others = dict[str, RankedReading](), {reading.outcome.path: reading}
    kinds = _NUMBERS if reading.question in _NUMBERS else (reading.question,)
    for each in (each for each in ranked if each.structure is reading.structure):
        if each.question in _FLAGS:
            flags.setdefault(each.outcome.path, each)
        elif each.question in kinds and each.score >= reading.score - _NEAR:
            others.setdefault(each.outcome.path, each)
    if reading.question in _FLAGS:
        # Beside another flag that of an error says how the attempt ended.
        kept = [each for each in flags.values() if "error" not in words(each.outcome.path)]
        return kept or [*flags.values()]
    alone = [*flags.values()] if len(flags) == 1 and reading.question in _NUMBERS else []
    # What is bad comes after what says how good an attempt is.
    return [*sorted(others.values(), key=lambda each: each.question == "fewer"), *alone]


def answers(readings: Sequence[RankedReading], request: Request) -> list[Settle]:
    """Whole answers to what rivals leave open.

    Of several flags or scores each is the verdict, or all are those of a model each.
    """
    first, *others = readings
    if unnamed := tuple(_unnamed(first, request)):
        own, some = first.options(request), listed(unnamed)
        verbs = ("passes", "fails") if len(unnamed) == 1 else ("pass", "fail")
        return [Settle({**own, option: unnamed}, f"if {some} {verb}")
                for option, verb in zip(("--passes", "--fails"), verbs, strict=True)]  # fmt: skip
    ways = list[Settle]()
    for each in readings:
        own = each.options(request)
        if each.question in _NUMBERS:
            alone = sum(one.question in _NUMBERS for one in readings) == 1
            either = [*_of_numbers(each, own, averages=request.averages, alone=alone)]
            if _few(each):
                # What a missing one means is asked as well.
                lost = f"{len(each.outcome.flat) - len(each.outcome.judged):,} missing"
                either = [
                    Settle({**way.options, "--missing": kind}, f"{way.why}; {lost} {become}")
                    for kind, become in (("fail", "fail"), ("drop", "are left out"))
                    for way in either
                ]
            ways += either
        elif each.question in _FLAGS and others:
            own |= {"--missing": "drop"} if _few(each) else {}
            either = _of_words(each, own) if each.question == "polarity" else []
            either = either or [Settle(own, f"{_share(each, True)} pass")]
            without = len(each.outcome.flat) - len(each.outcome.judged)
            lost = f", {without:,} without one left out" * _few(each)
            ways += [replace(way, why=f"by {each.outcome.path}, {way.why}{lost}") for way in either]
        else:
            judged, size = each.outcome.judged, len(each.outcome.flat)
            gone = _few(each) and each.question == "words" and size < 2 * len(judged)
            gone = gone and True not in judged
            own |= {"--missing": "drop"} if gone else {}
            left_out = f"; {size - len(judged):,} missing left out"
            ways += [replace(way, why=way.why + left_out * gone) for way in _of_words(each, own)]
    model = first.structure.columns.get(first.roles.get("model", ""))
    scales = {each.outcome.path: _scale(each) for each in readings if not each.outcome.listed}
    if len(scales) < 2 or (model and len(model.counts) > 1):
        return ways
    paths = [*scales]
    own, arms = first.options(request), [*_arms(paths, first.structure.columns)]
    # Unlike columns are none of models.
    arms = [(shared, group) for shared, group in arms if len({scales[p] for p in group}) == 1]
    models = [
        Settle(
            {
                **own,
                "--field": {**own.get("--field", {}), "outcome": ",".join(group), "model": COLUMN},
                **(AVERAGED if first.question == "threshold" else {}),
            },
            "if each column is a model" + f", by {shared}" * (len(arms) > 1),
        )
        for shared, group in arms or [("", paths)]
    ]
    if arms:
        # Where either value may pass, each column by itself comes first.
        return ways + models if first.question == "polarity" else models + ways
    if {each.question for each in readings} - {*_FLAGS} or any(EQUAL in path for path in paths):
        return ways
    return models if all(map(_MODELS.match, paths)) else [*ways, *models]


def _scale(reading: RankedReading) -> object:
    """Kind of an outcome that may be one of a model among others: flags, or scores up to 1, to
    5, 10 or 100."""
    if reading.question not in _NUMBERS:
        return EQUAL in reading.outcome.path
    return next((top for top in (1, 5, 10, 100) if max(reading.outcome.numbers) <= top), 0)


def _arms(paths: Sequence[str], columns: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Columns of an arm each, which differ in the word that they begin or end with, as others do:
    base_score, base_bleu, tuned_score and tuned_bleu; or are compared with one.  With what they
    share."""
    for pattern in (r"([^\W_]+)([\W_].*)", r"(?P<b>.*[\W_])(?P<a>[^\W_]+)"):
        split = {path: re.fullmatch(pattern, path.partition(EQUAL)[0]) for path in columns}
        split |= {path: re.fullmatch(pattern, path.partition(EQUAL)[0]) for path in paths}
        place = 2 if "a" in pattern else 1
        under, own = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list)
        for path, name in split.items():
            if name and EQUAL not in path:
                under[name[3 - place]].add(name[place])
        for path in paths:
            if name := split[path]:
                own[name[3 - place]].append(path)
        for shared, group in own.items():
            arms = {name[place] for path in group if (name := split[path])}
            golds = {path.partition(EQUAL)[2] for path in group}
            others = [end for end, there in under.items() if end != shared and arms <= there]
            if len(group) == len(arms) > 1 and (others or (golds != {""} and len(golds) == 1)):
                yield shared.strip("_-. "), group


def columns_of_models(structures: Sequence[Structure], request: Request) -> Iterator[Settle]:
    """Columns that hold passes and failures alone as models; those that are called as models
    are, where there are several."""
    for columns in (structure.columns for structure in structures):
        values = {path: {v.lower() for v in column.counts} for path, column in columns.items()}
        judging = [p for p, seen in values.items() if seen and any(seen <= v for v in _VERDICTS)]
        names = [path for path in judging if _MODELS.match(path)]
        if len(names) < 2 and sum(len(values[path]) == 2 for path in judging) > 1:
            names = [path for path in judging if not (
                "." in path or is_setting(path)
                or any(strength(role, path) for role in ROLE_WORDS)
            )]  # fmt: skip
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


def _tally(reading: RankedReading) -> str:
    """The outcome's most frequent values, and of how many."""
    seen = f" of {_seen(reading)}{reading.structure.size:,}" * bool(_seen(reading))
    return reading.outcome.tally + seen


def _share(reading: RankedReading, verdict: object) -> str:
    """How many outcomes are the same, of how many."""
    column, seen = reading.outcome, _seen(reading)
    values: Sequence[object] = column.numbers if isinstance(verdict, float) else column.judged
    return f"{values.count(verdict):,} of {seen}{len(column.flat):,}"


def _of_numbers(
    reading: RankedReading, own: Mapping[str, Any], *, averages: bool, alone: bool
) -> Iterator[Settle]:
    """The highest score passes, where many reach it and no other is meant; none of what is bad; of
    codes each; or the mean is taken."""
    column, kind = reading.outcome, reading.question
    numbers, top = column.numbers, max(column.numbers)
    often = numbers.count(top) >= max(2, _OFTEN * len(numbers))
    if kind == "threshold" and alone and often and min(numbers) < top:
        why = f"if {top:g} passes, {_share(reading, top)}"
        yield Settle({**own, "--threshold": (top,)}, why)
    codes = {"code": sorted({*numbers}), "fewer": [0.0]}.get(kind, [])
    for code in codes:
        spelt = [text for text in column.counts if float(text) == code]
        if spelt:
            name = f"{column.path}, " * (not alone)
            why = f"{f'by {name}' * bool(name)}if {code:g} passes, {_share(reading, code)}"
            yield Settle({**own, "--passes": (*spelt,)}, why)
    if averages and (kind == "threshold" or (kind == "fewer" and (alone or 0.0 not in numbers))):
        yield Settle({**own, **AVERAGED}, f"averages {column.path}")


def _of_words(reading: RankedReading, own: Mapping[str, Any]) -> list[Settle]:
    """Of two words, or truth values, either passes; of more words each alone."""
    column, spoken = reading.outcome, reading.question == "words"
    seen = _seen(reading)
    settled = "--missing" in own or (spoken and True in column.judged)
    if reading.question == "parts" or (_few(reading) and not settled):
        return []
    values = Counter(str(v).lower() for v in column.flat if judge(v, None) is not None)
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
    if first.question in _NUMBERS:
        scores = [each.outcome for each in readings if each.question == "threshold"]
        asked = [f"{c.path} pass ({min(c.numbers):g} to {max(c.numbers):g})" for c in scores]
        told = [f"{each.outcome.path} ({_tally(each)})" for each in readings
                if each.question in ("fewer", "code")]  # fmt: skip
        more = f", or {len(asked) - _TOLD} more" * (len(asked) > _TOLD)
        scored = f"from what value does {', or '.join(asked[:_TOLD])}{more}?" * bool(asked)
        return scored or f"what passes of {', or '.join(told[:_TOLD])}?"
    if answered:
        return "which says that an attempt passed?" * (len(readings) > 1)
    if first.question == "words":
        return f"{column.path}: which words pass? {_tally(first)}"
    tallies = ", ".join(f"{each.outcome.path} ({_tally(each)})" for each in readings)
    return f"which says that an attempt passed: {tallies}?"


def blank(readings: Sequence[RankedReading], options: Mapping[str, Any]) -> list[Settle]:
    """The options with what is left to the reader, if an option says it."""
    kind, way = readings[0].question, dict[str, Any]()
    kinds = _NUMBERS if kind in _NUMBERS else (kind,)
    if kind in _FLAGS or sum(each.question in kinds for each in readings) > 1:
        way["--field"] = {**options.get("--field", {}), "outcome": Blank("COLUMN")}
    if kind in (*_NUMBERS, "words"):
        way |= {"--threshold": Blank("X")} if kind == "threshold" else {"--passes": Blank("WORD")}
    return [Settle({**options, **way}, "reads it")] if way else []
