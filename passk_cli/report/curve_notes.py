"""What a report of curves says in words: captions, notes, signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.report.curve import DEFICIT, DELTA, Found, Plan
from passk_cli.report.model import Note
from passk_cli.report.notes import plural
from passk_cli.report.samples import Uncertainty
from passk_cli.report.signature import signature, span

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.curve_counts import Stretch

UNEVEN = {NEW_TASKS: "guarded bootstrap", THESE_TASKS: "jackknife"}
_EVEN = {NEW_TASKS: "k different tasks", THESE_TASKS: "tasks with repetition"}


def captions(
    by_series: Sequence[Sequence[Stretch]], how: Uncertainty, plan: Plan
) -> tuple[str, str]:
    """What was counted and how sure the curves are, and how sure Δ_k is."""
    tasks, fewest, most = zip(*(one.size for each in by_series for one in each), strict=True)
    shown = span(min(tasks), max(tasks))
    n = span(min(fewest), max(most))
    counted = f"{shown} task{'s' * (shown != '1')}, {n} attempt{'s' * (n != '1')} each"
    even = "μ^k from " + _EVEN[how.population]
    if how.method == "none":
        return f"{counted} · {how.words()}", even
    uneven = f"{100 * how.level:g} % {UNEVEN[how.population]} intervals at each k by itself, {even}"
    if plan.band == "pointwise":
        return f"{counted} · {how.words()}, at each k by itself", uneven
    levels = sorted({100 * each[0].pointwise for each in by_series})
    each_k = f"{levels[0]:.3g}" if len(levels) == 1 else f"{levels[0]:.3g}–{levels[-1]:.3g}"
    held = f"holding both curves of a model at all k together (each k at {each_k} %)"
    return f"{counted} · {how.words()}, {held}", uneven


def length_notes(
    counts: Counts, by_series: Sequence[Sequence[Stretch]], plan: Plan
) -> Iterator[Note]:
    """Where attempts differ: how far a curve goes and what that leaves unused."""
    for each in by_series:
        s = counts.series.index(each[0].series)
        n = counts.n[counts.rows_of(s)]
        low, high = int(n.min()), int(n.max())
        end = int(each[-1].ks[-1])
        name = " ".join(part or '""' for part in each[0].series)
        if plan.max_k is not None and end < plan.max_k:
            yield Note(f"{name}: the curve ends at k = {end}, before --max-k {plan.max_k}")
        if low == high or (plan.max_k is not None and plan.max_k <= low):
            continue
        if plan.short_tasks == "drop":
            yield Note(
                f"{name}: beyond k = {low} without the tasks that have fewer attempts;"
                " curves on different tasks need not be monotone",
                "warning",
            )
        else:
            more = int((n > low).sum())
            yield Note(
                f"{name}: k runs to {low}, its smallest n; {more} of {plural(len(n), 'task')}"
                " have more; --short-tasks drop goes on without the others"
            )


def delta_notes(found: Found) -> Iterator[Note]:
    """Why some Δ_k, deficits or moments are missing, each reason once."""
    said: dict[str, list[str]] = {}
    for p in found.points:
        if p.metric in (DELTA, DEFICIT) and p.note:
            said.setdefault(p.note, []).append(f"k = {p.k}")
    for reason, ks in said.items():
        where = f"at {ks[0]}" if len(set(ks)) == 1 else f"from {ks[0]} on"
        yield Note(f"Δ_k and deficit {where}: {reason}")
    for one in found.rates:
        for moment in one.moments:
            if moment.note:
                yield Note(f"{moment.name} of {' '.join(one.series)}: {moment.note}")


def curve_signature(
    counts: Counts, by_series: Sequence[Sequence[Stretch]], how: Uncertainty, plan: Plan
) -> dict[str, object]:
    """Everything the numbers depend on besides the files themselves."""
    ends = [int(each[-1].ks[-1]) for each in by_series]
    curves = ["pass@k", "pass^k", *(m.name.replace("1", "k", 1) for m in plan.more)]
    drawn = how.resampled or plan.band == "simultaneous"
    drawn = drawn or (plan.delta and how.method != "none" and how.population == NEW_TASKS)
    more: dict[str, object] = {
        "curves": f"{' '.join(curves)} up to k={span(min(ends), max(ends))}",
        "points": "all" if plan.points is None else plan.points,
        **how.signature(),
        "band": plan.band if how.method != "none" else None,
    }
    if drawn:
        more |= {"resamples": how.resamples, "seed": how.seed}
    if plan.delta:
        more["μ^k from"] = _EVEN[how.population]
    more["short tasks"] = plan.short_tasks if plan.short_tasks != "empty" else None
    return signature(counts, (), **more)
