"""Computes the ranks of models: the range of ranks that tests allow, and how often each model leads
in resamples of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from passk_cli.arrays import Floats, group_by
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.ranking import compact_letters, lead_shares, rank_limits
from passk_cli.report.data_types import Cell, number_or_range_cell
from passk_cli.report.phrases import number_range
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.pairwise_tests import BETTER, WORSE, mean_ranking_score_by_series
from passk_cli.study.values import SeriesKey, TaskValues, on_shared_tasks


def have_equal_attempt_counts(rivals: Sequence[TaskValues]) -> bool:
    """Whether all models have the same number of attempts at each shared task.

    If a model has fewer attempts than another model, the values of this model are coarser.  The
    model may then lead in more resamples than its success rates justify.  For example, a pass@10 of
    1.0 from 10 attempts beats a pass@10 of 0.9999 from 100 attempts in all resamples.
    """
    first, *further = on_shared_tasks(rivals)
    return all(np.array_equal(rival.n, first.n) for rival in further)


def resampled_means(
    rivals: Sequence[TaskValues], confidence: Confidence, kind: str = "multinomial"
) -> Floats:
    """The mean (or ratio of means) of each model in each resample of the tasks.

    The result has the shape (resamples × models).

    kind : the kind of the resampling weights; see `bootstrap_means`.
    """
    columns = [rival.values for rival in rivals]
    if ratio := rivals[0].metric.definition.is_ratio_of_means:
        spendings = [rival.task_costs for rival in rivals]
        columns = [spending.mean_cost for spending in spendings] + [
            spending.pass_rate for spending in spendings
        ]
    means = bootstrap_means(
        np.stack(columns, axis=1), confidence.resamples, confidence.seed, kind=kind,
        clusters=rivals[0].clusters,
    )  # fmt: skip
    for at, rival in enumerate(rivals):
        if rival.hidden_variance:
            # The random errors of corrections by labels are independent between models.
            noise = named_generator(confidence.seed, f"labels of {rival.name}")
            means[:, at] += np.sqrt(rival.hidden_variance) * noise.standard_normal(len(means))
    if not ratio:
        return means
    spent, rate = np.split(means, 2, axis=1)
    return np.divide(spent, rate, out=np.full_like(spent, np.inf), where=rate > 0)


def shares_of_lead(rivals: Sequence[TaskValues], confidence: Confidence) -> dict[SeriesKey, Cell]:
    """The share of resamples of the shared tasks in which each model leads.

    The share is None if no task is shared, or if the models have different numbers of attempts at a
    shared task.  If missing outcomes may pass or fail, the share is a range.  At the lower end of
    the range, the missing outcomes of the model fail and the missing outcomes of all other models
    pass.  At the upper end of the range, the missing outcomes of the model pass and the missing
    outcomes of all other models fail.
    """
    names, shared = [rival.series for rival in rivals], on_shared_tasks(rivals)
    comparable = bool(shared) and all(len(rival.tasks) and rival.has_values for rival in shared)
    if not comparable or not have_equal_attempt_counts(shared):
        return dict.fromkeys(names)
    sign, shares = shared[0].metric.better_sign, list[Cell]()
    if all(rival.values_if_missing_pass is None for rival in rivals):
        shares += lead_shares(sign * resampled_means(shared, confidence)).tolist()
        return dict(zip(names, shares, strict=True))
    means = sign * resampled_means(
        [end for rival in shared for end in rival.missing_bounds], confidence
    )
    failing, passing = means[:, ::2], means[:, 1::2]
    for i in range(len(rivals)):
        ends = []
        for rival_means, other_means in ((failing, passing), (passing, failing)):
            columns = other_means.copy()
            columns[:, i] = rival_means[:, i]
            ends.append(float(lead_shares(columns)[i]))
        shares.append(number_or_range_cell(ends[0], ends[1]))
    return dict(zip(names, shares, strict=True))


@dataclass(frozen=True)
class RankAllowedByTests:
    """The rank of a model in its group, by one metric.

    tie_letters : the letters of the model, or None without a test.  Models with a common letter are
        tied.
    low, high : the best and the worst rank that the tests allow, or None without a test.
    compute_lead_shares : a slow function that returns the share of resamples in which each series
        leads.
    """

    values: TaskValues
    tie_letters: str | None
    low: int | None
    high: int | None
    compute_lead_shares: Callable[[], Mapping[SeriesKey, Cell]]

    @property
    def lead_share(self) -> Cell:
        """The share of resamples of the tasks in which this model leads; see `shares_of_lead`."""
        return self.compute_lead_shares().get(self.values.series)

    @property
    def rank_range_text(self) -> str | None:
        """The range of ranks that the tests allow, for example "2" or "1–3"."""
        return None if self.low is None or self.high is None else number_range(self.low, self.high)


def find_ranks_allowed_by_tests(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> Iterator[RankAllowedByTests]:
    """The ranks of the models by each metric in each group, sorted from the best to the worst
    model."""
    cells = group_by(comparisons, lambda c: (c.first.metric, c.first.series[1:]))
    for pairs in cells.values():
        by_series = {rival.series: rival for c in pairs for rival in (c.first, c.second)}
        valued = [rival for rival in by_series.values() if rival.has_values]
        place_of = mean_ranking_score_by_series(valued)
        rivals = sorted(valued, key=lambda rival: (-place_of[rival.series], rival.series))
        if len(rivals) < 2:
            continue
        tested = {rival.series for c in pairs if c.has_p_value for rival in (c.first, c.second)}
        compared = [rival for rival in rivals if rival.series in tested]
        place = {rival.series: at for at, rival in enumerate(compared)}
        better = np.zeros((len(place), len(place)), dtype=bool)
        for c in pairs:
            if c.verdict in (BETTER, WORSE):
                first, second = place[c.first.series], place[c.second.series]
                better[(first, second) if c.verdict == BETTER else (second, first)] = True
        shares = cache(partial(shares_of_lead, compared, confidence))
        places = zip(compact_letters(better | better.T), rank_limits(better).tolist(), strict=True)
        for rival in rivals:
            is_tested = rival.series in tested
            letter, (low, high) = next(places) if is_tested else (None, (None, None))
            yield RankAllowedByTests(rival, letter, low, high, shares)
