"""What a plan assumes, where its pilot ends, and where its approximations are off, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from passk_cli.commands.plan.designs import Designs, goals
from passk_cli.commands.plan.outlook import Outlook
from passk_cli.inference.design import Piloted, relative_error
from passk_cli.inference.weights import unit_values
from passk_cli.message import Said
from passk_cli.report.model import Note
from passk_cli.report.words import plural, span

# Predicted powers are rough nearer to 0 or 1 than this, and with fewer tasks: benchmarks/plan.md.
_ROUGH, _FEW_TASKS = 0.1, 50
# Standard errors more uncertain than this are worth a warning.
_UNSURE = 0.2


def caveats(designs: Designs) -> Iterator[Said]:
    """What is assumed, where the pilot ends, what is missing, and what is rough."""
    yield from _pilot(designs)
    yield from _rough(designs)
    yield from _differences(designs)
    yield from _empty(designs)
    yield from _splits(designs)


def _differences(designs: Designs) -> Iterator[Said]:
    """Which two models a difference is of."""
    even = [outlook for outlook in designs.outlooks if outlook.pair is None]
    if even:
        remedy = "" if designs.several else "; --correlation or a pilot of two models sets it"
        where = "" if len(even) == len(designs.outlooks) else f" in {_names(even)}"
        yield Note(
            f"differences{where}: for two models that differ by the given amount, equal otherwise;"
            f" the correlation of their true values is assumed to be {even[0].correlation:g}"
            f" at every k{remedy}"
        )
    if designs.several:
        yield Note(
            "the plan is for the model whose values vary most, and for the pair whose differences"
            " vary most; --model chooses others"
        )


def _pilot(designs: Designs) -> Iterator[Said]:
    """What the pilot itself does not tell."""
    pilots = [(outlook, pilot) for outlook in designs.outlooks if (pilot := outlook.pilot)]
    modelled = [(outlook, pilot) for outlook, pilot in pilots if pilot.rates is not None]
    if single := [outlook for outlook, pilot in pilots if pilot.rates is None]:
        yield Note(
            f"{_names(single)}: the pilot has one attempt per task, so designs with more attempts"
            " stay empty; make two attempts per task",
            "warning",
        )
    if ends := [
        o for o, _ in modelled if "model" in " ".join(map(o.source, designs.aims.attempts))
    ]:
        n = min(pilot.fewest for _, pilot in modelled)
        yield Note(
            f"{_names(ends)}: the pilot has {plural(n, 'attempt')} per task; for more, Beta rates"
            " with its mean and spread extrapolate"
        )
    if short := [o for o, pilot in modelled if o.pair is None and not pilot.measures_between]:
        yield Note(
            f"differences in {_names(short)}: the pilot has fewer than 2k attempts per task, so"
            " Beta rates give the variance within tasks"
        )
    if even := [outlook for outlook, pilot in pilots if pilot.raw_between < 0]:
        yield Note(
            f"{_names(even)}: the pilot's tasks differ no more than chance explains; the plan"
            " takes their true values as equal",
            "warning",
        )
    if uneven := [outlook for outlook, pilot in pilots if pilot.raw_between > pilot.largest]:
        yield Note(
            f"{_names(uneven)}: the pilot's tasks differ as much as this mean allows; the plan"
            " takes the largest possible spread",
            "warning",
        )
    if pilots:
        yield _precision(pilots)


def _precision(pilots: Sequence[tuple[Outlook, Piloted]]) -> Said:
    """How uncertain the predicted standard errors are."""
    independent = [(o.metric.name, _independent(o, pilot)) for o, pilot in pilots]
    errors = {name: relative_error(values) for name, values in independent}
    sizes = [len(values) for _, values in independent]
    units = "clusters" if pilots[0][0].clusters else "tasks"
    shares = ", ".join(
        f"±{100 * error:.2g} %" + f" ({name})" * (len(errors) > 1) for name, error in errors.items()
    )
    return Note(
        f"with {span(min(sizes), max(sizes))} pilot {units}, these standard errors are uncertain by"
        f" {shares}",
        "warning" if max(errors.values()) > _UNSURE else "note",
    )


def _independent(outlook: Outlook, pilot: Piloted) -> NDArray[np.float64]:
    """What the pilot drew independently: the values of its tasks, or what each cluster adds."""
    clusters = np.array(outlook.clusters) if outlook.clusters else None
    return unit_values(pilot.values[:, None], clusters)[:, 0]


def _splits(designs: Designs) -> Iterator[Said]:
    """Which metrics no split of the budget serves, and what a split for k = 1 means."""
    served = {goal for split in designs.splits for goal in goals(split)}
    if unserved := [o for o in designs.outlooks if o.metric.name not in served]:
        spend = plural(designs.aims.spend, "attempt")
        yield Note(f"{_names(unserved)}: {spend} are too few for 2 tasks × k", "warning")
    if any(split.size.n_min == 1 for split in designs.splits):
        yield Note(
            "k = 1: an attempt at a new task narrows the interval more than another at the same"
            " task; --max-tasks limits the tasks"
        )


def _rough(designs: Designs) -> Iterator[Said]:
    """Where predicted powers are off."""
    outlooks, aims = designs.outlooks, designs.aims
    near = [
        outlook
        for outlook in outlooks
        for values in (outlook.difference.first, outlook.difference.second)
        if not _ROUGH <= values.expected <= 1.0 - _ROUGH
    ]
    places = [f"below {_FEW_TASKS} tasks"] if min(aims.tasks) < _FEW_TASKS else []
    places += [f"for {_names(near)}, expected near 0 or 1"] if near else []
    if places:
        yield Note(f"powers and detected differences are rough {' and '.join(places)}")


def _empty(designs: Designs) -> Iterator[Said]:
    """Why cells of the tables are empty; of splits they show the best of each metric only."""
    best = [split for split in designs.splits if split.name in goals(split)]
    names: dict[str, list[str]] = {}
    for fact in (*designs.asked, *best, *designs.detecting):
        if fact.note:
            names.setdefault(fact.note, []).append(fact.name)
    if names:
        reasons = (f"{reason} ({', '.join(dict.fromkeys(n))})" for reason, n in names.items())
        yield Note(f"empty cells: {'; '.join(reasons)}")


def _names(outlooks: Sequence[Outlook]) -> str:
    return ", ".join(dict.fromkeys(outlook.metric.name for outlook in outlooks))
