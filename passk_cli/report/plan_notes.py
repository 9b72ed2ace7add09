"""What a plan assumes, where its pilot ends, and where its approximations are off, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.inference.design import relative_error
from passk_cli.report.model import Note
from passk_cli.report.notes import plural
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from passk_cli.inference.design import Piloted
    from passk_cli.report.basis import Basis
    from passk_cli.report.designs import Aims, Line

# Predicted powers are rough nearer to 0 or 1 than this, and with fewer tasks: benchmarks/plan.md.
_ROUGH, _FEW_TASKS = 0.1, 50
# A pilot that knows its standard errors no better than this is worth a warning.
_UNSURE = 0.2


def plan_notes(
    bases: Sequence[Basis], aims: Aims, designs: Sequence[Line], split: Sequence[Line]
) -> list[Note]:
    """What is assumed, where the pilot ends, and where approximations are off."""
    notes = _difference_notes(bases) + _pilot_notes(bases, aims)
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
    return [*notes, *_rough_notes(bases, aims, designs)]


def _difference_notes(bases: Sequence[Basis]) -> list[Note]:
    """Which two models a difference is of."""
    alike = [basis for basis in bases if basis.pair is None]
    notes = []
    if alike:
        notes.append(
            Note(
                "differences: of two models alike, one half the difference above and one half below"
                f" the expected value, whose true values correlate by {alike[0].correlation:g} over"
                " tasks at every k (assumed; --correlation, or a pilot of two models)"
            )
        )
    if len(alike) < len(bases):
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
    lucky = [b for b, pilot in piloted if pilot.raw_between < 0 or b.difference.raw_between < 0]
    if lucky:
        notes.append(
            Note(
                f"{_names(lucky)}: the pilot's tasks differ no more than luck explains; their true"
                " values are taken to be equal",
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
            Note(f"{told}: these intervals reach 0 or 1, where guard intervals differ", "warning")
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
