"""From which model's value to which a number ranges, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from passk_cli.report.model import Estimate, Sentence
from passk_cli.study.fact import Fact
from passk_cli.study.values import Series

# Values closer than this are equal; models that share a value and are named, not counted.
_EQUAL, _NAMED = 1e-12, 3
# An empty name of a group.
QUOTES = '""'


class _End(NamedTuple):
    """The models that have, or may have, an extreme value; certain where no fill-in changes it."""

    names: tuple[str, ...]
    estimate: Estimate
    certain: bool


def range_of(facts: Sequence[Fact], group_names: Sequence[str] = ()) -> Sentence:
    """From which lowest to which highest value a number ranges; models that share one are counted.

    facts : one number of several series, or of one.  Where missing outcomes may pass or fail and
    that decides which model is at an end, all models that may be are named, and the end is a range.
    Series without a value are counted; where none has one, the reason is given.

    >>> numbers = {"a": 0.7, "b": 0.4, "c": 0.4}
    >>> facts = [Fact((model,), "pass@1", 1, Estimate(v)) for model, v in numbers.items()]
    >>> first, low, models, high, last = range_of(facts)
    >>> first, low.value, models, high.value, last
    ('pass@1 ranges from ', 0.4, ' (b, c) to ', 0.7, ' (a).')
    """
    valued = [fact for fact in facts if fact.estimate.value is not None]
    name, noun = facts[0].name, _noun(group_names)
    if not valued:
        reason = next((fact.estimate.reason for fact in facts if fact.estimate.reason), "")
        return (f"{name} cannot be computed{f': {reason}' if reason else ''}.",)
    lacking = len(facts) - len(valued)
    without = f" {_several(lacking, noun)} without {name}." if lacking else ""
    if len(valued) == 1:
        model = named(valued[0].series, group_names)
        return (f"{name} of {model} is ", bare(valued[0].estimate), f".{without}")
    top, bottom = (_end(valued, group_names, sign) for sign in (1, -1))
    if len(top.names) == len(valued) and top.certain:
        return (f"{name} is ", top.estimate, f" for all {_several(len(valued), noun)}.{without}")
    decide = "" if top.certain and bottom.certain else "; missing outcomes decide which"
    return (
        f"{name} ranges from ", bottom.estimate, f" ({_listed(bottom, noun)}) to ", top.estimate,
        f" ({_listed(top, noun)}){decide}.{without}",
    )  # fmt: skip


def highest(
    facts: Sequence[Fact], others: Sequence[Fact] = (), group_names: Sequence[str] = ()
) -> Sentence:
    """Which model is highest, with its number and the last one of its others.

    facts : one number of several series, as in `range_of`.  others : further numbers.

    >>> numbers = {"a": 0.7, "b": 0.4}
    >>> facts = [Fact((model,), "pass@1", 1, Estimate(v)) for model, v in numbers.items()]
    >>> first, number, last = highest(facts)
    >>> first, number.value, last
    ('a is highest: pass@1 ', 0.7, '.')
    """
    valued = [fact for fact in facts if fact.estimate.value is not None]
    noun = _noun(group_names)
    if len(valued) < 2:
        return range_of(facts, group_names)
    top = _end(valued, group_names, 1)
    lacking = len(facts) - len(valued)
    without = f"; {_several(lacking, noun)} without {facts[0].name}" if lacking else ""
    if len(top.names) == len(valued) and top.certain:
        begin = f"All {_several(len(valued), noun)} are equal"
    else:
        verb = "are" if len(top.names) > 1 and top.certain else "is"
        begin = f"{_listed(top, noun)} {verb} highest"
    decide = "" if top.certain else "; missing outcomes decide which"
    further: Sentence = ()
    if len(top.names) == 1:
        series = next(f.series for f in valued if named(f.series, group_names) == top.names[0])
        own = [f for f in others if f.series == series and f.name != facts[0].name]
        if own:
            further = (f", {own[-1].name} ", bare(own[-1].estimate))
    return (f"{begin}: {facts[0].name} ", top.estimate, *further, f"{decide}{without}.")


def named(series: Series, group_names: Sequence[str]) -> str:
    """A model with its groups: "gpt-4, temperature 0.2".

    >>> named(("gpt-4", "0.2"), ["temperature"]), named(("gpt-4", ""), ["suite"])
    ('gpt-4, temperature 0.2', 'gpt-4, suite ""')
    """
    return ", ".join(filter(None, (series[0], groups_named(series[1:], group_names))))


def groups_named(values: Sequence[str], group_names: Sequence[str]) -> str:
    """Values with the columns that they are of: "temperature 0.2"; nothing without groups."""
    pairs = zip(group_names, values, strict=True)
    return ", ".join(f"{name} {value or QUOTES}" for name, value in pairs)


def bare(estimate: Estimate) -> Estimate:
    """A number as a sentence has it: without signs of tests."""
    return replace(estimate, marked=False, verdict="")


def _end(facts: Sequence[Fact], group_names: Sequence[str], sign: int) -> _End:
    """The highest (sign 1) or the lowest (−1)."""
    spans = [sorted(sign * float(end or 0.0) for end in fact.estimate.ends) for fact in facts]
    least, most = max(low for low, _ in spans), max(high for _, high in spans)
    places = [i for i, (_, high) in enumerate(spans) if high >= least - _EQUAL]
    names = tuple(named(facts[i].series, group_names) for i in places)
    # All of them are one number, or one of them reaches all others.
    ends = [end for i in places for end in spans[i]]
    certain = len(places) == 1 or max(*ends, most) - min(*ends, least) <= _EQUAL
    if not certain:
        low, high = sorted((sign * least, sign * most))
        limits = facts[places[0]].estimate
        return _End(names, Estimate(low, upper=high, share=limits.share), certain)
    estimates = [bare(facts[i].estimate) for i in places]
    same = all(
        _same(e.low, estimates[0].low) and _same(e.high, estimates[0].high) for e in estimates
    )
    first = estimates[0] if same else replace(estimates[0], low=None, high=None, se=None)
    return _End(names, first, certain)


def _same(one: float | None, other: float | None) -> bool:
    return one is other or (
        one is not None and other is not None and math.isclose(one, other, abs_tol=_EQUAL)
    )


def _noun(group_names: Sequence[str]) -> tuple[str, str]:
    """One and several of what a row is."""
    groups = " and ".join(("model", *group_names))
    if not group_names:
        return "model", "models"
    return f"combination of {groups}", f"combinations of {groups}"


def _several(count: int, noun: tuple[str, str]) -> str:
    return f"{count:,} {noun[count != 1]}"


def _listed(end: _End, noun: tuple[str, str]) -> str:
    """ "a", "a, b", "a or b", "7 models", "one of 7 models"."""
    if len(end.names) > _NAMED:
        return ("" if end.certain else "one of ") + _several(len(end.names), noun)
    return ("; " if noun[0] != "model" else ", " if end.certain else " or ").join(end.names)
