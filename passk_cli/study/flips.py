"""Finds flips, which are tasks with a different result in two runs or models, and computes how many
flips are expected by chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.files.sources.arguments import missing_baseline_error
from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.flips import (
    boschloo,
    central_range,
    flip_chances,
    flip_signs,
    poisson_binomial,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName, natural_key
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.values import SeriesKey

_PHRASE_BY_FLIP_SIGN = {1: "to passing", -1: "to failing", 0: ""}
_VERDICT_BY_SIGN = {1: "improved", -1: "regressed", 0: ""}


class NamedSeries(NamedTuple):
    """One series of a Counts object, with the name that reports print."""

    counts: Counts
    series_index: int
    name: str


@dataclass(frozen=True)
class Flips:
    """The outcomes of a series and of its baseline at the tasks that both have.

    series : the series that is compared with the baseline.
    name, baseline_name : printed names of the series and of its baseline.
    n, c : number of attempts and passes of the series at each task.
    n_base, c_base : number of attempts and passes of the baseline at each task.
    outcome_strips : for each task, the outcomes of the series and of the baseline in the order of
        the attempts, for example "++-+".
    p : for each task, the exact p-value of the hypothesis that both success rates are equal.
    adjusted : for each task, p after the adjustment of Benjamini and Hochberg over the tasks of all
        pairs.
    tasks_only_in_series_count, tasks_only_in_baseline_count : number of tasks that only the series
        has, and number of tasks that only the baseline has.
    """

    series: SeriesKey
    name: str
    baseline_name: str
    tasks: tuple[str, ...]
    n: Ints
    c: Ints
    n_base: Ints
    c_base: Ints
    outcome_strips: tuple[Sequence[str], Sequence[str]]
    p: Floats
    adjusted: Floats
    tasks_only_in_series_count: int
    tasks_only_in_baseline_count: int
    level: float

    @cached_property
    def signs(self) -> Ints:
        """For each task, 1 for a flip to passing, −1 for a flip to failing, 0 without a flip."""
        return flip_signs(self.n, self.c, self.n_base, self.c_base)

    @cached_property
    def verdicts(self) -> Ints:
        """For each task, 1 for a significant improvement, −1 for a significant regression, and 0
        otherwise."""
        change = np.sign(self.c / self.n - self.c_base / self.n_base)
        return np.where(self.adjusted <= 1 - self.level + 1e-12, change, 0).astype(np.int64)

    @property
    def flip_count(self) -> int:
        """The number of tasks that flipped."""
        return int((self.signs != 0).sum())

    @cached_property
    def chance_flip_probabilities(self) -> Floats:
        """For each task, the probability that the task flips by chance if the success rate is
        unchanged."""
        return flip_chances(self.n, self.n_base, self.c + self.c_base).flips

    @property
    def single_attempt_task_mask(self) -> Bools:
        """For each task, whether the series and the baseline each have only one attempt."""
        once: Bools = (self.n == 1) & (self.n_base == 1)
        return once

    @property
    def multi_attempt_flip_count(self) -> int:
        """The number of tasks with more than one attempt that flipped."""
        return int((self.signs[~self.single_attempt_task_mask] != 0).sum())

    @property
    def expected_multi_attempt_flips(self) -> float:
        """The number of flips that are expected by chance among the tasks with more than one
        attempt."""
        return float(self.chance_flip_probabilities[~self.single_attempt_task_mask].sum())

    @cached_property
    def multi_attempt_flip_distribution(self) -> Floats:
        """The probabilities that chance causes 0, 1, 2, … flips among the tasks with more than one
        attempt."""
        return poisson_binomial(self.chance_flip_probabilities[~self.single_attempt_task_mask])

    @property
    def chance_flip_range(self) -> tuple[int, int]:
        """The smallest and the largest number of flips that chance explains at the confidence
        level."""
        return central_range(self.multi_attempt_flip_distribution, self.level)

    @property
    def p_of_at_least_as_many_flips(self) -> float:
        """The probability that chance causes at least as many flips as observed, among the tasks
        with more than one attempt."""
        return min(
            1.0, float(self.multi_attempt_flip_distribution[self.multi_attempt_flip_count :].sum())
        )

    @property
    def max_expected_single_attempt_flips(self) -> float:
        """An upper limit of the number of flips that are expected by chance among the tasks with
        only one attempt.

        The limit is 2 T m (1 − m) for T tasks with the mean pass rate m.  The reason is that the
        sum of 2p(1 − p) over the tasks is largest if the success rates p of all tasks are equal.
        """
        passes = (self.c + self.c_base)[self.single_attempt_task_mask]
        mean = float(passes.mean()) / 2 if len(passes) else 0.0
        return 2 * len(passes) * mean * (1 - mean)


def pass_rate_changes_per_task(pairs: Iterable[Flips]) -> list[Result]:
    """The change of the pass rate at each shared task of each pair, as one result per task."""
    facts = []
    for flips in pairs:
        columns = (
            flips.n, flips.c, flips.n_base, flips.c_base, flips.p, flips.adjusted, flips.signs,
            flips.verdicts, flips.chance_flip_probabilities,
        )  # fmt: skip
        rows = zip(
            flips.tasks,
            *flips.outcome_strips,
            *(column.tolist() for column in columns),
            strict=True,
        )
        for (
            task, strip, strip_against, n, c, n_base, c_base, p, adjusted, sign, verdict, chance
        ) in rows:  # fmt: skip
            more = {
                "task": task, "n": n, "passes": c, "n_against": n_base, "passes_against": c_base,
                "flip": _PHRASE_BY_FLIP_SIGN[sign], "flip_by_chance": chance, "attempts": strip,
                "attempts_against": strip_against,
            }  # fmt: skip
            facts.append(
                Result(
                    flips.series, "pass rate", None, Estimate(c / n - c_base / n_base, signed=True),
                    size=SampleSize(1, *sorted((n, n_base))), level=flips.level,
                    against=flips.baseline_name,
                    p=p, p_adjusted=adjusted, verdict=_VERDICT_BY_SIGN[verdict], extra_fields=more,
                )
            )  # fmt: skip
    return facts


def compute_flips_of_pairs(
    pairs: Sequence[tuple[NamedSeries, NamedSeries]], level: float = 0.95
) -> list[Flips]:
    """The flips of each pair of series, with p-values that are adjusted over all pairs and tasks.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [("new", "a", 9, 9), ("new", "b", 9, 1), ("old", "a", 9, 0), ("old", "b", 9, 2)]
    >>> counts = Counts.from_cells(cells)
    >>> new, old = NamedSeries(counts, 0, "new"), NamedSeries(counts, 1, "old")
    >>> (flips,) = compute_flips_of_pairs([(new, old)])
    >>> flips.signs.tolist(), flips.verdicts.tolist(), round(flips.expected_multi_attempt_flips, 3)
    ([1, 0], [1, 0], 0.057)
    """
    strips = {id(side.counts): outcome_strips(side.counts) for pair in pairs for side in pair}
    all_flips = []
    for first, second in pairs:
        rows = []
        for counts, place, _ in (first, second):
            cells = counts.slice_of_series(place)
            names = [counts.tasks[task] for task in counts.task_codes[cells].tolist()]
            rows.append(dict(zip(names, range(cells.start, cells.stop), strict=True)))
        tasks = tuple(sorted(rows[0].keys() & rows[1].keys(), key=natural_key))
        at, base = (np.array([row[task] for task in tasks], dtype=np.int64) for row in rows)
        n, c = first.counts.n[at], first.counts.c[at]
        n_base, c_base = second.counts.n[base], second.counts.c[base]
        in_order = strips[id(first.counts)][at].tolist(), strips[id(second.counts)][base].tolist()
        p = boschloo(n, c, n_base, c_base)
        only, only_base = (len(row) - len(tasks) for row in rows)
        all_flips.append(
            Flips(
                first.counts.series[first.series_index], first.name, second.name, tasks, n, c,
                n_base,
                c_base, in_order, p, p, only, only_base, level,
            )
        )  # fmt: skip
    if not all_flips:
        return []
    adjusted = benjamini_hochberg(np.concatenate([flips.p for flips in all_flips]))
    parts = np.split(adjusted, np.cumsum([len(flips.p) for flips in all_flips])[:-1])
    return [replace(flips, adjusted=part) for flips, part in zip(all_flips, parts, strict=True)]


def pairs_to_compare(study: Analysis) -> list[tuple[NamedSeries, NamedSeries]]:
    """The pairs to compare: a model and the baseline model, or the same model in two runs.

    study : an analysis with the entry "against" in `signature_entries`, which names the model or
        run to compare with.
    Errors: ParameterError if the data has no model with the name in "against".
    """
    counts, base, against = study.counts, study.baseline, str(study.signature_entries["against"])
    rivals = counts if base is None else base
    models = sorted({series[0] for series in rivals.series})
    if base is None and against not in models:
        raise missing_baseline_error("--against", against, models)
    only = against if base is None else models[0] if len(models) == 1 else None
    places = {series: place for place, series in enumerate(rivals.series)}
    pairs = []
    for s in study.series_indices_by_pass_rate:
        series = counts.series[s]
        model = only or series[0]
        rival_series = (model, *series[1:])
        if rival_series in places and (base is not None or series[0] != against):
            name = f"{model} ({against})" if model == series[0] else model
            side = NamedSeries(counts, s, SeriesName(series))
            pairs.append((side, NamedSeries(rivals, places[rival_series], name)))
    return pairs


def outcome_strips(counts: Counts) -> NDArray[np.object_]:
    """The outcomes of each model at each task, in the order of the attempts, as strips such as
    "++-+".

    A strip is "" if the order of the attempts is not known, or if two attempts with the same number
    have different outcomes.
    """
    strips = np.full(len(counts.n), "", dtype=object)
    bag = counts.attempts.get("attempt")
    if bag is None:
        return strips
    tied = (bag.pass_count > 0) & (bag.pass_count < bag.count)
    signs = np.repeat(np.where(bag.pass_count > 0, "+", "-"), bag.count)
    text = "".join(signs.tolist())
    ends = np.concatenate([[0], np.cumsum(bag.count)])[bag.cell_offsets]
    fine = np.diff(ends) == counts.n
    fine[bag.row_cell_indices[tied]] = False
    for i in np.flatnonzero(fine).tolist():
        strips[i] = text[ends[i] : ends[i + 1]]
    return strips
