"""In which share of the resamples of the tasks each of several rivals is in the lead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.ranking import lead_shares
from passk_cli.inference.weights import bootstrap_means
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts


def attempts_agree(rivals: Sequence[Measured]) -> bool:
    """Whether all rivals made equally many attempts at each task that all of them have.

    Where they did not, the one with fewer has coarser values, and is in the lead in more (or fewer)
    resamples than its success rates give it: pass@10 of 1.0 from 10 attempts leads in all of them
    against 0.9999 from 100.
    """
    shared = shared_tasks(rivals)
    attempts = [one.n[np.searchsorted(one.tasks, shared)] for one in rivals]
    return all(np.array_equal(n, attempts[0]) for n in attempts)


def shared_tasks(rivals: Sequence[Measured]) -> NDArray[np.int64]:
    """The tasks that all have, increasing."""
    shared = rivals[0].tasks
    for one in rivals[1:]:
        shared = np.intersect1d(shared, one.tasks)
    return shared


def shares_of_lead(
    counts: Counts, rivals: Sequence[Measured], how: Uncertainty
) -> list[float | None]:
    """Share of the resamples of the tasks that all have in which each rival is in the lead.

    None for each where no task is shared, or attempts differ (`attempts_agree`).
    """
    shared = shared_tasks(rivals)
    if not len(shared) or not attempts_agree(rivals):
        return [None] * len(rivals)
    columns = [np.asarray(one.values)[np.searchsorted(one.tasks, shared)] for one in rivals]
    draws = bootstrap_means(
        np.stack(columns, axis=1), how.resamples, how.seed, clusters=cluster_codes(counts, shared)
    )
    return list(lead_shares(draws).tolist())
