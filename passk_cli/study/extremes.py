"""From which model's value to which a number ranges, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from passk_cli.report.model import Estimate, Sentence
from passk_cli.report.words import every_one, plural
from passk_cli.study.fact import Fact
from passk_cli.study.values import Series, of_all
from passk_cli.text import listed

# Values closer than this are equal; models that share a value and are named, not counted.
_EQUAL, _NAMED = 1e-12, 3


class _End(NamedTuple):
    """The models that have, or may have, an extreme value; certain where no fill-in changes it."""

    names: Sequence[str]
    words: str
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
    valued, name = [fact for fact in facts if fact.estimate.value is not None], facts[0].name
    if not valued:
        reason = of_all([*filter(None, (fact.estimate.reason for fact in facts)), ""])
        return (f"{name} cannot be computed{f': {reason}' if reason else ''}.",)
    lacking = len(facts) - len(valued)
    without = f" {several(lacking, group_names)} without {name}." if lacking else ""
    if len(valued) == 1:
        model = named(valued[0].series, group_names)
        return (f"{name} of {model} is ", valued[0].estimate, f".{without}")
    top, bottom = (_end(valued, group_names, sign) for sign in (1, -1))
    if len(top.names) == len(valued) and top.certain:
        models = all_of(len(valued), group_names)
        return (f"{name} is ", top.estimate, f" for {models}.{without}")
    decide = "" if top.certain and bottom.certain else "; missing outcomes decide which"
    return (
        f"{name} ranges from ", bottom.estimate, f" ({bottom.words}) to ", top.estimate,
        f" ({top.words}){decide}.{without}",
    )  # fmt: skip


def highest(
    facts: Sequence[Fact],
    others: Sequence[Fact] = (),
    group_names: Sequence[str] = (),
    where: str = "",
) -> Sentence:
    """Which model scores highest, with its number and the last one of its others; which one is
    lowest where less is better.

    facts : one number of several series, as in `range_of`.  others : further numbers.
    where : words on where that is so, with a blank before them.

    >>> numbers = {"a": 0.7, "b": 0.4}
    >>> facts = [Fact((model,), "pass@1", 1, Estimate(v)) for model, v in numbers.items()]
    >>> first, number, last = highest(facts)
    >>> first, number.value, last
    ('a scores highest: pass@1 ', 0.7, '.')
    """
    valued, name = [fact for fact in facts if fact.estimate.value is not None], facts[0].name
    if len(valued) < 2:
        return range_of(facts, group_names)
    sign = 1 if valued[0].values is None else valued[0].values.metric.sign
    top = _end(valued, group_names, sign, " at ")
    lacking = len(facts) - len(valued)
    without = f"; {several(lacking, group_names)} without {name}" if lacking else ""
    ends = ("score highest", "are lowest", "scores highest", "is lowest")
    single = 2 * (len(top.names) == 1 or not top.certain)
    few = top.certain and len(top.names) <= _NAMED
    begin = f"{listed(top.names) if few else top.words} {ends[single + (sign < 0)]}"
    if len(top.names) == len(valued) and top.certain:
        models = all_of(len(valued), group_names)
        begin = f"{models[0].upper()}{models[1:]} are equal"
    decide = "" if top.certain else "; missing outcomes decide which"
    further: Sentence = ()
    if len(top.names) == 1:
        first = next(f.series for f in valued if named(f.series, group_names, " at ") in top.names)
        own = [fact for fact in others if fact.series == first and fact.name != name]
        if own:
            # Some tasks may have fewer than k attempts.
            fewer = bool(where) and own[-1].size.tasks != valued[0].size.tasks
            there = f" on {plural(own[-1].size.tasks or 0, 'task')}" if fewer else ""
            further = (f", {own[-1].name} ", own[-1].estimate, there)
    return (f"{begin}{where}: {name} ", top.estimate, *further, f"{decide}{without}.")


def named(series: Series, group_names: Sequence[str], joint: str = ", ") -> str:
    """A model with its groups: "gpt-4, temperature 0.2".

    >>> named(("gpt-4", "0.2"), ["temperature"]), named(("gpt-4", ""), ["suite"])
    ('gpt-4, temperature 0.2', 'gpt-4, suite ""')
    """
    groups = f"{joint}{groups_named(series[1:], group_names)}" if group_names else ""
    return series[0] + groups


def of_named_groups(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts of groups with a name; all where there are none."""
    return [fact for fact in facts if all(fact.series[1:])] or facts


def groups_named(values: Sequence[str], group_names: Sequence[str]) -> str:
    """Values with the columns that they are of: "temperature 0.2"; nothing without groups."""
    pairs = zip(group_names, values, strict=True)
    return ", ".join(f"""{name} {value or '""'}""" for name, value in pairs)


def several(count: int, group_names: Sequence[str]) -> str:
    """As "3 models", or "3 combinations of model and temperature"."""
    if not group_names:
        return plural(count, "model")
    return f"{plural(count, 'combination')} of {' and '.join(('model', *group_names))}"


def all_of(count: int, group_names: Sequence[str] = ()) -> str:
    """As "both models", or "all 3 combinations of model and temperature"."""
    return every_one(several(count, group_names))


def _end(facts: Sequence[Fact], group_names: Sequence[str], sign: int, joint: str = ", ") -> _End:
    """The highest (sign 1) or the lowest (−1), of groups with a name where there are any."""
    facts = of_named_groups(facts)
    spans = np.sort([[sign * float(end or 0.0) for end in f.estimate.ends] for f in facts], axis=1)
    least, most = spans.max(axis=0).tolist()
    places = np.flatnonzero(spans[:, 1] >= least - _EQUAL).tolist()
    names = [named(facts[i].series, group_names, joint) for i in places]
    # All of them are one number, or one of them reaches all others.
    ends = spans[places]
    certain = len(places) == 1 or max(ends.max(), most) - min(ends.min(), least) <= _EQUAL
    words = ("; " if group_names else ", " if certain else " or ").join(names)
    if len(names) > _NAMED:
        words = ("" if certain else "one of ") + several(len(names), group_names)
    first = facts[places[0]].estimate
    if not certain:
        low, high = sorted((sign * least, sign * most))
        return _End(names, words, Estimate(low, upper=high, unit=first.unit), certain)
    limits = np.array(
        [[facts[i].estimate.low, facts[i].estimate.high] for i in places], dtype=np.float64
    )
    if not np.allclose(limits, limits[0], atol=_EQUAL, equal_nan=True):
        first = first.bare
    return _End(names, words, first, certain)
