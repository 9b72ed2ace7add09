"""Tests whether verdicts change if a group of tasks or half of the attempts is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from passk_cli.arrays import Ints
from passk_cli.commands.compare.pairs import OPPOSITE_VERDICTS
from passk_cli.errors import ParameterError
from passk_cli.inference.random_streams import named_generator
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Column, Table
from passk_cli.study.analysis import Analysis
from passk_cli.study.pairwise_tests import choose_pairs, compare_pairs
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
)
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue

_EMPTY, _LONE = "not computed", "n = 1"


@dataclass(frozen=True)
class VerdictWithLessData:
    """The verdict on a pair of models, and whether the verdict changes with less data.

    stable_group_count_text : number of groups that can be left out without a change of the verdict,
        for example "4 of 5".
    changing_groups_text : the groups that change the verdict if they are left out, with the new
        verdicts.
    half_attempts_verdict : verdict with half of the attempts.
    """

    series: SeriesKey
    against: str
    metric: str
    verdict: str
    stable_group_count_text: str
    changing_groups_text: str
    half_attempts_verdict: str


@dataclass(frozen=True)
class SensitivityTable(ReportSection[VerdictWithLessData]):
    """One row per pair of models, which shows whether the verdict changes with less data."""

    shown_when = "with --sensitivity"
    columns = (
        MODEL_COLUMN, AGAINST_MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("metric", meaning="Name of the metric, as in `-m`.",
            cell_of_record=lambda row: row.metric),
        Column("verdict", meaning="Verdict on all tasks.", cell_of_record=lambda row: row.verdict),
        Column("verdict kept", meaning="Number of groups that can be left out without a change of"
               " the verdict.",
               cell_of_record=lambda row: row.stable_group_count_text),
        Column("changes without", meaning="Groups that change the verdict if they are left out,"
               " with the new verdicts.",
               cell_of_record=lambda row: row.changing_groups_text),
        Column("half the attempts", meaning="Verdict with half of the attempts, which are drawn at"
               " random.",
               cell_of_record=lambda row: row.half_attempts_verdict),
    )  # fmt: skip

    left_out_group_column: str

    def tables(self) -> Iterator[Table]:
        title = f"Verdicts without each {self.left_out_group_column}, and with half of the attempts"
        yield self.table(self.records, title)


def verdict_stabilities(
    study: Analysis, group: str, baseline: str | None
) -> Iterator[VerdictWithLessData]:
    """Repeat the test of each pair of models with less data.

    Each repetition leaves out one group of tasks, or half of the attempts.
    """
    counts = study.counts
    place = 1 + counts.group_names.index(group)
    values = sorted({series[place] for series in counts.series})
    if len(values) < 2:
        raise ParameterError(
            OptionWithValue("--sensitivity", group),
            f"all tasks have the value {values[0]!r} in this column",
        )
    all_groups = replace(study, counts=counts.merged_over_group_column(group))
    full = _verdicts_by_pair(all_groups, baseline)
    without = {
        value: _verdicts_by_pair(
            replace(study, counts=counts.merged_over_group_column(group, value)), baseline
        )
        for value in values
    }
    half = {}
    if int(all_groups.counts.n.min()) >= 2:
        fewer = halve_attempts(all_groups.counts, study.confidence.seed)
        half = _verdicts_by_pair(replace(study, counts=fewer), baseline)
    for first, second in choose_pairs(all_groups, baseline):
        key = (first.series, second.series, first.metric.name)
        now = {value: verdicts.get(key, _EMPTY) for value, verdicts in without.items()}
        changed = [f"{value} ({verdict})" for value, verdict in now.items() if verdict != full[key]]
        yield VerdictWithLessData(
            first.series, second.series[0], first.metric.name, full[key],
            f"{len(without) - len(changed)} of {len(without)}", ", ".join(changed) or "none",
            half.get(key, _LONE),
        )  # fmt: skip


def _verdicts_by_pair(
    study: Analysis, baseline: str | None
) -> dict[tuple[SeriesKey, SeriesKey, str], str]:
    verdicts = {}
    for c in compare_pairs(
        choose_pairs(study, baseline), study.confidence, study.comparison_options
    ):
        first, second, metric = c.first.series, c.second.series, c.first.metric.name
        verdict = c.verdict or _EMPTY
        verdicts[first, second, metric] = verdict
        verdicts[second, first, metric] = OPPOSITE_VERDICTS.get(verdict, verdict)
    return verdicts


def halve_attempts(counts: Counts, seed: int) -> Counts:
    """Draw half of the attempts of each model at each task, without replacement.

    If the number of attempts is odd, half of it is rounded down.
    """
    n = counts.n // 2
    rng = named_generator(seed, "half the attempts")
    fewer = rng.hypergeometric(counts.c, counts.n - counts.c, n)
    missing = counts.missing
    if missing is not None:
        missing = rng.hypergeometric(missing, counts.n - counts.c - missing, n - fewer)
    attempts = {role: _sample_attempts(bag, n, rng) for role, bag in counts.attempts.items()}
    return replace(counts, n=n, c=fewer, attempts=attempts, missing=missing)


def _sample_attempts(bag: AttemptValuesByCell, n: Ints, rng: Generator) -> AttemptValuesByCell:
    row = np.repeat(np.arange(len(bag.row_cell_indices)), bag.count)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(bag.count) - bag.count, bag.count)
    passed = copy < bag.pass_count[row]
    cell_of = bag.row_cell_indices
    cell = cell_of[row]
    order = np.lexsort((rng.random(len(row)), cell))
    sizes = np.bincount(cell, minlength=len(n))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sample = order[rank < n[cell]]
    count = np.bincount(row[sample], minlength=len(bag.row_cell_indices))
    passes = np.bincount(row[sample], passed[sample], len(bag.row_cell_indices)).astype(np.int64)
    present = count > 0
    return AttemptValuesByCell.from_rows(
        cell_of[present], bag.value[present], count[present], passes[present], len(n)
    )
