"""Macro averages over groups of tasks, such as benchmarks, and ranks of models by average."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.arrays import Bools, group_by
from passk_cli.commands.report.leaderboard import RanksAndTieLetters, leaderboard
from passk_cli.commands.report.page import PageAnalysis
from passk_cli.inference.intervals import Interval
from passk_cli.inference.macro_average import macro_average
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.ranking import abbreviate_tie_letters, compact_letters, rank_limits
from passk_cli.limits import MOST_MODEL_DIFFERENCES
from passk_cli.report.data_types import Column, Estimate, Report, ReportPagePanel, Table
from passk_cli.report.phrases import number_range, plural
from passk_cli.study.answer import Answer
from passk_cli.study.comparison import Comparison, comparison_on_shared_tasks, difference_intervals
from passk_cli.study.result import Result, SampleSize, tidy_rows
from passk_cli.study.section import ReportSection, SeriesRow, rows_by_series
from passk_cli.study.values import AVERAGE_GROUP, TaskValues


class RankingByMacroAverage(NamedTuple):
    """The ranking of models by the macro average of one metric.

    is_better_matrix : matrix that is True if the model of the row is significantly better than the
        model of the column.
    """

    models: Sequence[str]
    is_better_matrix: Bools
    lead_over_second: Estimate

    @property
    def ranks_and_tie_letters(self) -> RanksAndTieLetters:
        limits = rank_limits(self.is_better_matrix).tolist()
        ranks = {
            model: number_range(*rank_range)
            for model, rank_range in zip(self.models, limits, strict=True)
        }
        names = map(
            abbreviate_tie_letters, compact_letters(self.is_better_matrix | self.is_better_matrix.T)
        )
        return RanksAndTieLetters(ranks, dict(zip(self.models, names, strict=True)))


# An answer about averages names at most _MAX_NAMES models.
_MAX_NAMES = 3
_OVER_GROUPS_CLAUSE = " over {groups:group} of {by:and}, with equal weights"


@dataclass(frozen=True)
class MacroAverageTable(ReportSection[SeriesRow]):
    """One row per model, with the model's macro average of every metric."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("model", cell_of_record=lambda row: row.series[0]),
        Column("{}", cell_of_record=lambda row, metric: row.result_by_name[metric].estimate,
               repeated_items=lambda section: section.records[0].result_by_name,
               kind_of_item=lambda section, metric:
               section.records[0].result_by_name[metric].estimate.unit),
    )  # fmt: skip

    has_independent_groups: bool
    ranking_by_metric: Mapping[str, RankingByMacroAverage] = field(default_factory=dict)

    answers = (
        Answer("average-ties", lambda section: len(section.leaders) > 1,
               "{first:and}{?more| and {more} more} tie for first in the average of {metric}"
               + _OVER_GROUPS_CLAUSE + ".", lambda section: section.sentence_fields),
        Answer("average-leads", lambda section: len(section.leaders) == 1,
               "{model} leads the average of {metric}" + _OVER_GROUPS_CLAUSE
               + ", by {lead:=share points}.",
               lambda section: section.sentence_fields),
    )  # fmt: skip

    @property
    def leaders(self) -> list[str]:
        for standings in list(self.ranking_by_metric.values())[:1]:
            beaten = standings.is_better_matrix.sum(axis=0).tolist()
            return [m for m, count in zip(standings.models, beaten, strict=True) if not count]
        return []

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        metric, standings = next(iter(self.ranking_by_metric.items()))
        first = self.leaders
        return {
            "metric": metric, "model": first[0], "lead": standings.lead_over_second,
            "first": first if len(first) <= _MAX_NAMES else first[:1],
            "more": len(first) - 1 if len(first) > _MAX_NAMES else 0,
            "groups": len({series[1:] for series in self.study.counts.series}),
            "by": self.study.counts.group_names,
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        groups = len({series[1:] for series in self.study.counts.series})
        yield f"mean of {plural(groups, 'group')} of {', '.join(self.study.counts.group_names)}"
        yield self.study.confidence.words()
        if self.has_independent_groups:
            yield "intervals assume independent groups"
        else:
            yield "groups share tasks, so intervals allow for any correlation"
        if self.ranking_by_metric:
            models = max(len(ranking.models) for ranking in self.ranking_by_metric.values())
            pairs = plural(models * (models - 1) // 2, "pair")
            level = f"{100 * (1 - self.study.confidence.level):g} %"
            yield "rank: possible ranks"
            yield f"same letter: tied at {level}, Bonferroni over {pairs}"
        yield "–: no value in some group"


def macro_panel(page: PageAnalysis, estimates: Report) -> ReportPagePanel:
    """The panel with one macro average per model and metric."""
    counts = page.counts
    groups = len({series[1:] for series in counts.series})
    names = counts.tasks if counts.clusters is None else counts.clusters
    cells = zip(counts.series_codes.tolist(), counts.task_codes.tolist(), strict=True)
    units = {(names[task], counts.series[s][1:]) for s, task in cells}
    disjoint = len(units) == len({unit for unit, _ in units})
    independent = page.confidence.population == THESE_TASKS or disjoint
    facts_by_model = group_by(page.results(), lambda fact: (fact.series[0], fact.name))
    facts = [
        _macro_result(page, facts_by_model[model, metric.name], groups, independent=independent)
        for model in page.models
        for metric in page.metrics
    ]
    rows = rows_by_series(facts)
    standings = {} if page.baseline_name else _rankings_by_metric(page, rows, independent)
    section = MacroAverageTable(page, rows, independent, standings)
    (table,) = section.tables()
    report = Report((table,), lambda: table, tuple(section.footer_parts()))
    places = {metric: ranking.ranks_and_tie_letters for metric, ranking in standings.items()}
    board, ranked = leaderboard(report, places)

    def rows_as_groups() -> Table:
        """A table with the columns of `estimates` and one row per model and metric.

        The name of the group in these rows is `AVERAGE_GROUP`.
        """
        table = tidy_rows(facts, counts.group_names, page.confidence.population)
        heads, fields = ([c.header for c in data.columns] for data in (table, estimates.data_table))
        cells = (dict(zip(heads, row, strict=True)) for row in table.rows)
        return Table(estimates.data_table.columns, [tuple(map(row.get, fields)) for row in cells])

    return ReportPagePanel(
        "macro",
        "Macro average",
        "The macro average of a model is the mean over all groups. Each group has the same weight,"
        " whatever its number of tasks. Models without a value in some group have no average.",
        Report(ranked.tables, rows_as_groups, report.context, answer=tuple(section.answer())),
        is_in_page_answer=True,
        board=board,
    )  # fmt: skip


def _macro_result(
    page: PageAnalysis, facts: Sequence[Result], groups: int, *, independent: bool
) -> Result:
    def all_finite(numbers: Iterable[float | None]) -> bool:
        return all(number is not None and math.isfinite(number) for number in numbers)

    unit, limits = facts[0].estimate.unit, [(f.se, f.estimate.low, f.estimate.high) for f in facts]
    ends = list(zip(*(fact.estimate.range_ends for fact in facts), strict=True))
    if len(facts) < groups or not all(map(all_finite, ends)):
        number = Estimate(None, reason="no value in some group", unit=unit)
    elif not all(map(all_finite, limits)):
        low, high = (math.fsum(means) / groups for means in ends)
        reason = "no standard error or interval in some group"
        number = Estimate(
            low, reason=reason, unit=unit, range_upper_end=high if high > low else None
        )
    else:
        lowest, highest = (
            macro_average(means, *zip(*limits, strict=True), level=page.confidence.level,
                          independent=independent)
            for means in ends
        )  # fmt: skip
        upper = highest.mean if highest.mean > lowest.mean else None
        number = Estimate(
            lowest.mean, lowest.se, lowest.low, highest.high, unit=unit, range_upper_end=upper
        )
    tasks, fewest, most = zip(*(fact.size for fact in facts), strict=True)
    return replace(
        facts[0], series=(facts[0].series[0], *[AVERAGE_GROUP] * len(page.counts.group_names)),
        estimate=number, se=number.se, size=SampleSize(sum(tasks), min(fewest), max(most)),
        interval_flaw="",
        extra_fields={}, values=None,
    )  # fmt: skip


def _rankings_by_metric(
    page: PageAnalysis, rows: Sequence[SeriesRow], independent: bool
) -> dict[str, RankingByMacroAverage]:
    """Map each metric to the ranking of the models by their macro averages.

    Models are not ranked by metrics that are ratios of means.

    Two models differ significantly if the interval of the mean difference over groups excludes 0.
    The confidence level is adjusted for the number of pairs of models (Bonferroni).
    """
    standings: dict[str, RankingByMacroAverage] = {}
    for metric, values in group_by(page.task_values(), lambda rates: rates.metric).items():
        numbers = {row.series[0]: row.result_by_name[metric.name].estimate.value for row in rows}
        merits = {
            m: metric.better_sign * value for m, value in numbers.items() if value is not None
        }
        models = sorted(merits, key=lambda model: -merits[model])
        pairs = list(combinations(range(len(models)), 2))
        if len(pairs) > MOST_MODEL_DIFFERENCES:
            reason = f"{len(models):,} models make {len(pairs):,} differences"
            page.absent_parts.setdefault(("Ranks of macro averages", reason), []).append("")
        elif pairs and not metric.definition.is_ratio_of_means:
            standings[metric.name] = _rank_models(page, values, models, pairs, independent)
    return standings


def _rank_models(
    page: PageAnalysis, values: Sequence[TaskValues], models: Sequence[str],
    pairs: Sequence[tuple[int, int]], independent: bool,
) -> RankingByMacroAverage:  # fmt: skip
    level = 1 - (1 - page.confidence.level) / len(pairs)
    by_series = {rates.series: rates for rates in values}
    groups = list(dict.fromkeys(series[1:] for series in by_series))
    group_comparisons = [
        [
            comparison_on_shared_tasks(
                by_series[(models[i], *group)], by_series[(models[j], *group)]
            )
            for group in groups
        ]
        for i, j in pairs
    ]
    plain = [
        c.with_changes(alpha=1 - level)
        for comparisons in group_comparisons
        for c in comparisons
        if not c.reason
    ]
    limits = iter(difference_intervals(plain, page.confidence))
    better, lead = np.zeros((len(models), len(models)), dtype=bool), Estimate(None)
    for (i, j), comparisons in zip(pairs, group_comparisons, strict=True):
        intervals = [None if c.reason else next(limits) for c in comparisons]
        difference = _mean_difference(comparisons, intervals, level, independent)
        if difference is None or difference.low is None or difference.high is None:
            continue
        ends = sorted(
            values[0].metric.better_sign * end for end in (difference.low, difference.high)
        )
        better[i, j], better[j, i] = ends[0] > 0, ends[1] < 0
        if (i, j) == (0, 1):
            lead = replace(difference, value=abs(difference.value or 0.0), low=ends[0],
                           high=ends[1])  # fmt: skip
    return RankingByMacroAverage(models, better, lead)


def _mean_difference(
    compared: Sequence[Comparison], limits: Sequence[Interval | None], level: float,
    independent: bool,
) -> Estimate | None:  # fmt: skip
    """Average the difference of two models over groups, or return None if an interval is missing.

    If outcomes are missing, the interval contains the lowest and the highest possible difference.
    """
    ends = [(interval.low, interval.high) for interval in limits if interval is not None]
    limit_pairs = [(low, high) for low, high in ends if low is not None and high is not None]
    if len(limit_pairs) < len(compared):
        return None
    lows, highs = (list(side) for side in zip(*limit_pairs, strict=True))
    lowest, highest = (
        macro_average(
            [(c.missing_bounds or (c, c))[end].difference or 0.0 for c in compared],
            [math.nan] * len(limit_pairs),
            lows, highs, level=level, independent=independent,
        )
        for end in (0, 1)
    )  # fmt: skip
    return Estimate(lowest.mean, low=lowest.low, high=highest.high)
