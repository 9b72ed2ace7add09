"""The variety of a model's solutions: different solutions, duplicates and gains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from passk_cli.metrics.diversity import distinct_solution_count, duplicate_share, solution_agreement
from passk_cli.metrics.pass_k import pass_at_k, pass_hat_k
from passk_cli.metrics.registry import Metric
from passk_cli.report.data_types import Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result
from passk_cli.study.section import SeriesRow
from passk_cli.study.values import attempts_of

DISTINCT, CORRECT = "distinct@", "distinct-correct@"
# passk reports little variety of solutions if the variety exceeds the smallest possible variety by
# at most the share _LITTLE_VARIETY_MAX_EXCESS_SHARE.
_LITTLE_VARIETY_MAX_EXCESS_SHARE = 0.1
GAIN_WITH_LITTLE_VARIETY_FLAG = "little variety"


def diversity_metrics(ks: Sequence[int]) -> list[Metric]:
    """The metrics distinct@k and distinct-correct@k.

    For k > 1, the list also contains pass@1, pass@k, gain@k and distinct-pass@k.
    """
    beyond = [k for k in ks if k > 1]
    return [
        *(Metric(family, k) for family in (DISTINCT, CORRECT) for k in ks),
        *([Metric("pass@", 1)] if beyond else []),
        *(Metric(f, k) for f in ("pass@", "gain@", "distinct-pass@") for k in beyond),
    ]


def solution_results(study: Analysis, place: int) -> SeriesRow:
    """All results about the solutions of one model.

    The results contain the metrics of the study and, for each gain@k, the variety and the smallest
    possible variety. The results also contain the number of different solutions per task, the
    effective number of solutions, and the share of duplicates, for all and for correct solutions.

    place : index of the model in the counts.
    """
    metrics = study.results(study.task_values(only=[place]))
    kinds = {fact.k: fact for fact in metrics if fact.name.startswith(DISTINCT)}
    gains = [fact for fact in metrics if fact.name.startswith("gain@")]
    facts = [*metrics]
    for gain in gains:
        facts += _gain_weighted_variety_results(gain, kinds[gain.k])
    facts += _all_attempts_variety_results(study, place)
    return SeriesRow(study.counts.series[place], {fact.name: fact for fact in facts})


def _gain_weighted_variety_results(gain: Result, kinds: Result) -> Iterator[Result]:
    """The variety of the solutions at tasks with a gain, and the smallest possible variety.

    The variety is the mean of distinct@k over tasks, weighted by the gain of each task. The
    smallest possible variety is the mean of pass@k + 1 − pass^k with the same weights. It counts
    one solution if any attempt passes, and one more solution if any attempt fails.
    """
    value = least = None
    flag, k = "", int(gain.k or 0)
    if gain.values and kinds.values and kinds.values.has_values and gain.values.values.sum() > 0:
        weight, n, c = gain.values.values, gain.values.n, gain.values.c
        verdicts = pass_at_k(n, c, k) + 1 - pass_hat_k(n, c, k)
        value, least = (
            float((weight * values).sum() / weight.sum())
            for values in (kinds.values.values, verdicts)
        )
        certain = gain.estimate.low is not None and gain.estimate.low > 0
        little = value < least + _LITTLE_VARIETY_MAX_EXCESS_SHARE * min(least, k - least) - 1e-12
        flag = GAIN_WITH_LITTLE_VARIETY_FLAG if certain and little else ""
    for name, number in (("variety", value), ("least variety", least)):
        estimate = Estimate(number, reason=flag, unit="score")
        yield Result(gain.series, f"{name}@{k}", k, estimate, size=gain.size)


def _all_attempts_variety_results(study: Analysis, place: int) -> Iterator[Result]:
    counts = study.counts
    rows = counts.slice_of_series(place)
    series, tasks, n = counts.series[place], counts.task_codes[rows], counts.n[rows]
    bag, most = attempts_of(counts, "solution", rows), float(n.max())
    for kind, times, least in (("", bag.count, 1.0), (" correct", bag.pass_count, 0.0)):
        kinds = distinct_solution_count(bag.cell_offsets, times).astype(np.float64)
        # A task with fewer than two passes is left out, because it has no pair of passing attempts.
        pairs, repeats = (
            solution_agreement(bag.cell_offsets, times),
            duplicate_share(bag.cell_offsets, times),
        )
        yield study.mean_result(series, f"distinct{kind}", kinds, tasks, n, bounds=(least, most))
        yield _effective_solution_number(
            study.mean_result(series, f"effective{kind}", pairs, tasks, n)
        )
        yield study.mean_result(series, f"duplicates{kind}", repeats, tasks, n)


def _effective_solution_number(fact: Result) -> Result:
    chance, number = fact.estimate, replace(fact, se=None)
    if chance.value is None:
        return replace(number, estimate=Estimate(None, reason=chance.reason, unit="score"))
    if chance.value == 0:
        reason = "all solutions differ: no two attempts agree"
        return replace(
            number, estimate=Estimate(None, reason=reason, unit="score"), interval_flaw=""
        )
    low, high = (1 / limit if limit else None for limit in (chance.high, chance.low))
    open_ = "no upper limit: two attempts may never agree" if chance.low == 0 else ""
    flaw = "; ".join(filter(None, (fact.interval_flaw, open_)))
    estimate = Estimate(1 / chance.value, None, low, high, chance.reason, unit="score")
    return replace(number, estimate=estimate, interval_flaw=flaw)
