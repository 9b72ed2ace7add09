"""What a plan assumes, where its pilot ends, and where its approximations are off, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.inference.design import relative_error
from passk_cli.report.designs import DESIGN, SPLIT
from passk_cli.report.model import Note
from passk_cli.report.notes import plural
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from passk_cli.inference.design import Piloted
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.basis import Basis
    from passk_cli.report.designs import Aims, Line

# Predicted powers are rough nearer to 0 or 1 than this, and with fewer tasks: benchmarks/plan.md.
_ROUGH, _FEW_TASKS = 0.1, 50
# A pilot that knows its standard errors no better than this is worth a warning.
_UNSURE = 0.2


def plan_notes(
    bases: Sequence[Basis],
    aims: Aims,
    lines: Sequence[Line],
    several: bool,
) -> list[Note]:
    """What is assumed, where the pilot ends, and where approximations are off.

    several : whether the pilot has several models.
    """
    designs, split = ([x for x in lines if x.plan == plan] for plan in (DESIGN, SPLIT))
    notes = _difference_notes(bases, several) + _pilot_notes(bases, aims)
    served = {name for line in split for name in line.purpose.split(", ")}
    unserved = [basis for basis in bases if basis.metric.name not in served]
    if unserved:
        spend = plural(aims.spend, "attempt")
        notes.append(Note(f"{_names(unserved)}: {spend} do not reach for two tasks × k", "warning"))
    if any(line.attempts == 1 for line in split):
        notes.append(
            Note(
                "k = 1: an attempt at a new task tells more than another one at the same;"
                " attempts help only where tasks run out (--max-tasks)"
            )
        )
    return [*notes, *_rough_notes(bases, aims, designs), *_empty_notes(lines)]


def few_note(ks: Sequence[int]) -> list[Note]:
    """That only the first and the last of the usual k's are planned for; none when that is all."""
    if len(ks) < 3:
        return []
    return [
        Note(
            f"planned for k = {ks[0]} and {ks[-1]}; -k {','.join(map(str, ks))} plans for"
            " what lies between as well"
        )
    ]


def left_out_notes(metrics: Sequence[Metric], bases: Sequence[Basis]) -> list[Note]:
    """Which metrics are in no table, because the pilot says nothing about them."""
    planned = {basis.metric for basis in bases}
    names = [metric.name for metric in metrics if metric not in planned]
    if not names:
        return []
    return [Note(f"left out of every table: {', '.join(names)}, for the reason given", "warning")]


def _empty_notes(lines: Sequence[Line]) -> list[Note]:
    """Why cells of the tables are empty; of splits they show the best of each metric only."""
    why: dict[str, list[str]] = {}
    for line in lines:
        name = line.basis.metric.name
        if line.reason and (line.plan != SPLIT or name in line.purpose.split(", ")):
            why.setdefault(line.reason, []).append(name)
    if not why:
        return []
    told = (f"{reason} ({', '.join(dict.fromkeys(names))})" for reason, names in why.items())
    return [Note(f"empty cells: {'; '.join(told)}")]


def _difference_notes(bases: Sequence[Basis], several: bool) -> list[Note]:
    """Which two models a difference is of."""
    alike = [basis for basis in bases if basis.pair is None]
    notes = []
    if alike:
        how = "" if several else "; --correlation, or a pilot of two models"
        where = "" if len(alike) == len(bases) else f" in {_names(alike)}"
        notes.append(
            Note(
                f"differences{where}: of two models alike, one half the difference above and one"
                f" half below the expected value, whose true values correlate by"
                f" {alike[0].correlation:g} over tasks at every k (assumed{how})"
            )
        )
    if several:
        notes.append(
            Note(
                "of several models the plan is for the one whose values vary most, and the pair"
                " whose differences do; --model chooses others"
            )
        )
    return notes


def _pilot_notes(bases: Sequence[Basis], aims: Aims) -> list[Note]:
    """What the pilot itself does not tell."""
    piloted = [(basis, pilot) for basis in bases if (pilot := basis.pilot) is not None]
    if not piloted:
        return []
    notes = []
    single = [b for b, pilot in piloted if pilot.rates is None]
    if single:
        notes.append(
            Note(
                f"{_names(single)}: one attempt per task cannot tell luck from how tasks differ;"
                " nothing is said of more attempts",
                "warning",
            )
        )
    known = [(b, pilot) for b, pilot in piloted if pilot.rates is not None]
    ends = [b for b, _ in known if "model" in " ".join(map(b.source, aims.attempts))]
    if ends:
        n = min(pilot.fewest for _, pilot in known)
        notes.append(
            Note(
                f"{_names(ends)}: the pilot ends at {plural(n, 'attempt')}; beyond, Beta rates"
                " with its mean and spread carry on from there"
            )
        )
    guessed = [b for b, pilot in known if b.pair is None and not pilot.measures_between]
    if guessed:
        notes.append(
            Note(
                f"differences in {_names(guessed)}: the pilot has fewer than 2k attempts per task,"
                " so the share of the variance that is luck is taken from that model"
            )
        )
    lucky = [b for b, pilot in piloted if pilot.raw_between < 0]
    if lucky:
        notes.append(
            Note(
                f"{_names(lucky)}: the pilot's tasks differ no more than luck explains; their true"
                " values are taken to be equal",
                "warning",
            )
        )
    apart = [b for b, pilot in piloted if pilot.raw_between > pilot.largest]
    if apart:
        notes.append(
            Note(
                f"{_names(apart)}: the pilot's tasks differ as much as any can with this mean;"
                " the true spread is the largest there is",
                "warning",
            )
        )
    return [*notes, _unsure_note(piloted)]


def _unsure_note(piloted: Sequence[tuple[Basis, Piloted]]) -> Note:
    """How well the pilot knows the standard errors it predicts."""
    unsure = [(basis.metric.name, relative_error(pilot.values)) for basis, pilot in piloted]
    tasks = span(*(f(len(pilot.n) for _, pilot in piloted) for f in (min, max)))
    told = ", ".join(f"±{100 * share:.2g} % ({name})" for name, share in unsure)
    few = any(share > _UNSURE for _, share in unsure)
    return Note(
        f"a pilot of {tasks} tasks knows standard errors to {told}", "warning" if few else "note"
    )


def _rough_notes(bases: Sequence[Basis], aims: Aims, designs: Sequence[Line]) -> list[Note]:
    """Where the normal approximations are off."""
    reached: dict[str, int] = {}
    for line in designs:
        half = (line.width(aims) or 0.0) / 2.0
        if not half <= line.expected <= 1.0 - half:
            name = line.basis.metric.name
            reached[name] = max(reached.get(name, 0), line.tasks or 0)
    notes = []
    if reached:
        told = ", ".join(f"{name} (up to {plural(t, 'task')})" for name, t in reached.items())
        notes.append(
            Note(
                f"{told}: the width is that of a normal interval, which here passes 0 or 1; the"
                " guard interval that passk shows stays inside and may be narrower or, where few"
                " tasks differ, much wider: plan by standard errors, or with more tasks",
                "warning",
            )
        )
    near = [
        basis
        for basis in bases
        for values in (basis.difference.first, basis.difference.second)
        if not _ROUGH <= values.expected <= 1.0 - _ROUGH
    ]
    few = min(aims.tasks) < _FEW_TASKS
    where = [f"below {_FEW_TASKS} tasks"] if few else []
    where += [f"for {_names(near)}, expected near 0 or 1"] if near else []
    if where:
        notes.append(Note(f"powers and what is detected are rough {' and '.join(where)}"))
    return notes


def _names(bases: Sequence[Basis]) -> str:
    return ", ".join(dict.fromkeys(basis.metric.name for basis in bases))
