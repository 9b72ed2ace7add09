"""What a report of curves says in words: what was found, its intervals, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passk_cli.commands.curve.curves import AT, CURVES, HAT, UNEVEN, Curves
from passk_cli.commands.curve.stretches import Stretch
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.message import Said
from passk_cli.report.model import Estimate, Note, Sentence
from passk_cli.report.words import plural, series_name
from passk_cli.study.confidence import Confidence
from passk_cli.study.extremes import bare, named, range_of
from passk_cli.study.fact import Fact
from passk_cli.study.study import Study

# How Δ_k, the deficit and the moments get their limits, and what μ^k is estimated from.
LIMITS = {NEW_TASKS: "guarded bootstrap", THESE_TASKS: "hull"}
# Except for the skewness, for these tasks.
SKEWNESS = "jackknife"
_EQUAL = 1e-12
EVEN = {NEW_TASKS: "k different tasks", THESE_TASKS: "tasks with repetition"}


def certainty(confidence: Confidence, bands: Sequence[float] = ()) -> str:
    """The intervals of the curves.  bands : the pointwise levels of simultaneous bands."""
    words = confidence.words()
    if confidence.method == "none":
        return words
    if not bands:
        return f"{words}, for each k by itself"
    levels = sorted({100 * level for level in bands})
    each_k = f"{levels[0]:.3g}" if len(levels) == 1 else f"{levels[0]:.3g}–{levels[-1]:.3g}"
    return f"{words}, for both curves of a model and all k together (each k: {each_k} %)"


def uneven_certainty(confidence: Confidence) -> str:
    """The intervals of Δ_k."""
    even = "μ^k from " + EVEN[confidence.population]
    if confidence.method == "none":
        return even
    limits = LIMITS[confidence.population]
    if confidence.population == THESE_TASKS:
        even = f"skewness by {SKEWNESS}, {even}"
    level = f"{100 * confidence.level:g} %"
    return f"{level} confidence intervals for each k by itself ({limits}), {even}"


def curve_answer(every: Sequence[Curves], group_names: Sequence[str]) -> Sentence:
    """What further attempts change: of one model, or from the least to the largest gain.

    Models are compared at the largest k that all have; where missing outcomes make numbers ranges,
    by their pass@k there.  Where pass^k alone is shown, it is about pass^k.
    """
    name = AT if AT in every[0].shown else HAT
    shared = set.intersection(*({point.k for point in model.points[name]} for model in every))
    ks = [at for at in shared if at is not None]
    least, k = min(ks), max(ks)
    numbers = [{point.k: point for point in model.points[name]} for model in every]
    if len(every) == 1:
        return _of_one(every[0], group_names)
    last = [points[k] for points in numbers]
    if k == least or any(point.estimate.upper is not None for point in last):
        return range_of(last, group_names)
    return range_of([_gain(name, points[least], points[k]) for points in numbers], group_names)


def _of_one(model: Curves, group_names: Sequence[str]) -> Sentence:
    name = AT if AT in model.shown else HAT
    first, last, hat = model.points[name][0], model.points[name][-1], model.points[HAT][-1]
    whom = named(model.series, group_names)
    if last.k == first.k:
        single = "attempt" if last.k == 1 else "k"
        return (
            f"{first.name} of {whom} is ",
            bare(first.estimate),
            f"; one {single} makes no curve.",
        )
    rises, falls = (_number(fact) - _number(first) for fact in (last, hat))
    both = len(model.shown) == len(CURVES)
    if max(abs(rises), abs(falls)) <= _EQUAL and last.estimate.upper is None:
        subject = f"pass@k and pass^k of {whom} are" if both else f"{name} of {whom} is"
        return (f"{subject} ", _plain(first), f" at every k from {first.k} to {last.k}:"
                " no task passes only sometimes.")  # fmt: skip
    begin = f"From {first.k} to {last.k} attempts of {whom}, {name} {_verb(rises)} from "
    further = (f", and pass^k {_verb(falls)} to ", _plain(hat)) if both else ()
    return (begin, _plain(first), " to ", _plain(last), *further, ".")


def _verb(change: float) -> str:
    """Without short tasks, pass@k may fall and pass^k rise: they are of other tasks."""
    return "rises" if change > _EQUAL else "falls" if change < -_EQUAL else "stays"


def _gain(name: str, first: Fact, last: Fact) -> Fact:
    """How much a curve changes from the first to the last, without an interval."""
    change = f"{'gain' if name == AT else 'change'} in {name}"
    whole = f"The {change} from {first.k} to {last.k} attempts"
    return Fact(first.series, whole, last.k, Estimate(_number(last) - _number(first), signed=True))


def _plain(fact: Fact) -> Estimate:
    return Estimate(fact.estimate.value, upper=fact.estimate.upper)


def _number(fact: Fact) -> float:
    return float(fact.estimate.value or 0.0)


def length_notes(
    study: Study, by_series: Sequence[Sequence[Stretch]], max_k: int | None
) -> Iterator[Said]:
    """Where attempts differ: how far a curve goes and what that leaves unused."""
    for s, stretches in zip(study.best_first, by_series, strict=True):
        n, end = study.counts.n[study.counts.rows_of(s)], stretches[-1].last
        low, high = int(n.min()), int(n.max())
        name = series_name(study.counts.series[s])
        if max_k is not None and end < max_k:
            yield Note(f"{name}: the curve ends at k = {end}, before --max-k {max_k}")
        if low == high or (max_k is not None and max_k <= low):
            continue
        if study.short_tasks == "drop":
            yield Note(
                f"{name}: beyond k = {low}, tasks with too few attempts are left out, so the curve"
                " may turn",
                "warning",
            )
        else:
            more = int((n > low).sum())
            yield Note(
                f"{name}: the curve ends at k = {low}, the fewest attempts at a task; {more} of"
                f" {plural(len(n), 'task')} have more: --short-tasks drop goes on with those"
            )


def missing_notes(every: Sequence[Curves]) -> Iterator[Said]:
    """Why some Δ_k, deficits or moments are missing, each reason once."""
    places: dict[str, list[int | None]] = {}
    for model in every:
        for point in (point for name in UNEVEN for point in model.points.get(name, ())):
            if point.note:
                places.setdefault(point.note, []).append(point.k)
    for reason, ks in places.items():
        where = f"at k = {ks[0]}" if len(set(ks)) == 1 else f"from k = {ks[0]} on"
        yield Note(f"Δ_k and deficit {where}: {reason}")
    for model in every:
        for moment in model.moments:
            if moment.note:
                yield Note(f"{moment.name} of {series_name(model.series)}: {moment.note}")
