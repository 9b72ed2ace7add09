"""The toy model of pass@k and temperature, with the best temperature T*(k) and a regression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from passk_cli.diagnostic import NOTE, Diagnostic, DiagnosticType
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, AnswerSentence, Column, Report, Table
from passk_cli.report.phrases import plural
from passk_cli.report.plot import Plot, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.section import ReportSection, build_report, data_field
from passk_cli.temperature_models.toy_model import (
    GRID_KS,
    GRID_TASK_SCALES,
    POWER_LAW_FIT_ABOVE_K,
    BestTemperaturePoint,
    PowerLawFit,
    best_temperature_points,
    fit_best_temperature_power_law,
    task_sets_at_grid_scales,
    tasks_of_spread,
)
from passk_cli.version import VERSION_AND_COMMIT_SIGNATURE

DEFAULT_KS = tuple(1 << i for i in range(15))
DEFAULT_SPREADS = (16.0,)
DEFAULT_GAMMA = 2.0
# Without --full, the table has at most _MAX_K_COLUMNS columns for k.
_MAX_K_COLUMNS = 5
# _ARTICLE_POWER_LAW_BY_FAMILY contains the power law of the best temperature T* from the article
# "Scaling Laws for pass@k and temperature" (2025): the factor, the exponents of k and s, and R².
_ARTICLE_POWER_LAW_BY_FAMILY = {
    "gaussian": PowerLawFit(0.264, 0.728, 1.283, 0.9996, None),
    "exponential": PowerLawFit(0.117, 1.054, 0.957, 0.9989, None),
}
_TOY_MODEL_FOOTNOTE = "toy model: an attempt g ∝ exp(−g²/2T) passes task c if g = c"
_FAMILY_MEANING = (
    "Family of tasks: gaussian ∝ exp(−c²/2b²), exponential ∝ exp(−|c|/b), power-law ∝ |c|^−γ."
)
_SPREAD_MEANING = "Standard deviation of the tasks."

TASK_DISTRIBUTION_CUT_NOTE = DiagnosticType(
    "cut-power-law", NOTE,
    "the power law of tasks with gamma {gamma} is cut off at |c| = {largest} (spread {spreads})",
    meaning="A power law with a gamma of 3 or less has no finite standard deviation. passk cuts the"
    " power law off at the |c| that gives the requested spread.",
    why="The best temperature depends on the largest |c| as well as on gamma.",
    advice="If you want tasks without a cutoff, use a gamma above 3, for example `--gamma 4`.",
    example="passk temperature --toy power-law\n"
    "note[cut-power-law]: the power law of tasks with gamma 2 is cut off at |c| = 421 (spread"
    " 16.01)",
)  # fmt: skip
EQUALLY_GOOD_TEMPERATURES_NOTE = DiagnosticType(
    "nothing-to-choose", NOTE,
    "there is no best temperature T* for {lost} of {points} combinations of k and spread, for"
    " example k = {k} and spread {spread} ({family})",
    meaning="For some combinations of k and spread, pass@k is 1 (to 12 decimal places) at many"
    " temperatures.",
    why="If many temperatures are equally good, there is no best temperature.",
    advice="Use a smaller k or a larger spread.",
    example="passk temperature --toy gaussian --spread 1 -k 1,16384\n"
    "note[nothing-to-choose]: there is no best temperature T* for 1 of 2 combinations of"
    " k and spread, for example k = 16,384 and spread 1 (gaussian)",
)  # fmt: skip
GRID_SCALES_VERSUS_SPREADS_NOTE = DiagnosticType(
    "scales-of-grid", NOTE,
    "for exponential tasks, the grid has scales b, and the regression uses standard deviations"
    " s ≈ √2·b",
    meaning="For exponential tasks, the article about the toy model uses the scales b = 2⁰ … 2⁹ of"
    " the distribution exp(−|c|/b). The regression uses the standard deviation s of the tasks"
    " instead of the scale b.",
    why="The spread of each point is √2 times the scale b in the article.",
    advice="Before you compare a spread with a scale in the article, divide the spread by √2.",
    example="passk temperature --toy exponential --fit\n"
    "note[scales-of-grid]: for exponential tasks, the grid has scales b, and the regression uses"
    " standard deviations s ≈ √2·b",
)  # fmt: skip
FEWER_REGRESSION_POINTS_NOTE = DiagnosticType(
    "power-law-grid", NOTE,
    "for power-law tasks, the regression uses only k > {k} and {spreads} of {all} spreads of the"
    " grid",
    meaning="In the article about the toy model, T* does not follow a power law for small k."
    " Tasks with a cutoff can have only some standard deviations.",
    why="For tasks with a cutoff, the regression uses fewer points than for gaussian and"
    " exponential tasks. You cannot compare the result with the article, because the article"
    " contains no regression for this family of tasks.",
    advice="You do not need to do anything. The rows of csv and json list all points, and the"
    " column `kept` marks the points of the regression.",
    example="passk temperature --toy power-law --fit\n"
    "note[power-law-grid]: for power-law tasks, the regression uses only k > 20 and 10 of 10"
    " spreads of the grid",
)  # fmt: skip


class BestByKTable(ReportSection[Sequence[BestTemperaturePoint]]):
    """One row per set of toy tasks, with the best temperature T* at up to five values of k."""

    shown_when = "with --toy"
    columns = (
        Column("tasks", meaning=_FAMILY_MEANING, cell_of_record=lambda points: points[0].family),
        Column("spread", "count", meaning=_SPREAD_MEANING,
            cell_of_record=lambda points: points[0].spread),
        Column("T* at k = {0:,}", "number", meaning="Best temperature for {0:,} attempts.",
               repeated_items=lambda section: section.column_ks, example=1,
               cell_of_record=lambda points, k: next(p.temperature for p in points if p.k == k)),
    )  # fmt: skip

    @property
    def column_ks(self) -> list[int]:
        """The values of k in the table, which include the smallest and the largest k."""
        ks = list(dict.fromkeys(p.k for p in self.records[0]))
        last, columns = len(ks) - 1, min(len(ks), _MAX_K_COLUMNS)
        return [ks[round(i * last / max(columns - 1, 1))] for i in range(columns)]

    answers = (
        Answer("all-tasks-pass", lambda section: not section.points_with_best,
               "There is no best temperature T*, because pass@k is 1 (to 12 decimal places) at"
               " many temperatures.", lambda _: {}),
        Answer("range-of-t-star", lambda section: len(section.records) > 1,
               "At k = {k}, T* is {low:=number} ({low_tasks}, spread {low_spread}) to"
               " {high:=number} ({high_tasks}, spread {high_spread}).",
               lambda section: _extreme_point_fields(section.points_at_most_frequent_k)
               | {"k": section.points_at_most_frequent_k[0].k}),
        Answer("t-star-over-k", lambda _: True,
               "T* is {low:=number} at k = {low_k} and {high:=number} at k = {high_k} for"
               " {high_tasks} tasks with spread {high_spread}.",
               lambda section: _extreme_point_fields(sorted(section.points_with_best,
                   key=lambda p: p.k))),
    )  # fmt: skip

    @property
    def points_with_best(self) -> list[BestTemperaturePoint]:
        return [p for points in self.records for p in points if p.temperature is not None]

    @property
    def points_at_most_frequent_k(self) -> list[BestTemperaturePoint]:
        """The points at the value of k that most sets of tasks have, sorted by T*."""
        ks = Counter(p.k for p in self.points_with_best)
        k = max(ks, key=lambda k: (ks[k], k))
        points_at_k = (p for p in self.points_with_best if p.k == k)
        return sorted(points_at_k, key=lambda p: p.temperature or 0.0)


def _extreme_point_fields(points: Sequence[BestTemperaturePoint]) -> dict[str, Any]:
    return {
        f"{end}{name}": value
        for end, p in (("low", points[0]), ("high", points[-1]))
        for name, value in (
            ("", p.temperature), ("_k", p.k), ("_tasks", p.family), ("_spread", f"{p.spread:.4g}"),
        )
    }  # fmt: skip


class BestTemperaturePointTable(ReportSection[BestTemperaturePoint]):
    """The best temperature T* and pass@k at T*, for every k."""

    title = "T* at each k"
    visibility = FULL
    columns = (
        Column("tasks", meaning=_FAMILY_MEANING, cell_of_record=lambda p: p.family),
        Column("spread", "count", meaning=_SPREAD_MEANING, cell_of_record=lambda p: p.spread),
        Column("k", "count", meaning="Number of attempts.", cell_of_record=lambda p: p.k),
        Column("T*", "number", meaning="Best temperature.", cell_of_record=lambda p: p.temperature),
        Column("pass@k at T*", "fine", meaning="pass@k at the best temperature.",
               cell_of_record=lambda p: p.pass_at_k),
    )  # fmt: skip

    def full_footer_parts(self) -> Iterator[str]:
        yield "exact sums"

    def plots(self) -> tuple[Plot, ...]:
        """Charts of T* and of pass@k at T*, over k."""
        several = len({p.family for p in self.records}) > 1
        rows = [
            {"k": p.k, "T*": p.temperature or None, "pass@k at T*": p.pass_at_k,
             "tasks": f"{p.family}, s = {p.spread:.4g}" if several else f"s = {p.spread:.4g}"}
            for p in self.records
        ]  # fmt: skip
        ks = {p.k for p in self.records}
        frozen = sum(p.temperature == 0 for p in self.records)
        absent = f"T* = 0 at {plural(frozen, 'point')}, which a logarithmic axis cannot show"
        title = "toy model" if several else f"toy model, {self.records[0].family} tasks"
        star = curves(
            rows, x="k", y="T*", colour="tasks", marked=ks, title=f"Best temperature: {title}",
            subtitle=absent if frozen else "", x_title="k (attempts)", y_title="T*",
            log_x=True, log_y=True, y_domain=None,
        )  # fmt: skip
        value = curves(
            rows, x="k", y="pass@k at T*", colour="tasks", marked=ks, log_x=True,
            title=f"pass@k at T*: {title}", x_title="k (attempts)", y_title="pass@k at T*",
        )  # fmt: skip
        return star, value


class RegressionPointTable(BestTemperaturePointTable):
    """The points that the regression of T* uses."""

    def plots(self) -> tuple[Plot, ...]:
        """Charts of T* over k by spread, and of T* over spread by k, as in the article."""
        charts = []
        fourfold = {1 << i for i in range(0, 15, 2)}
        for family in dict.fromkeys(p.family for p in self.records):
            rows = [
                {"k": p.k, "spread": float(f"{p.spread:.4g}"), "T*": p.temperature,
                 "s": f"s = {p.spread:.4g}", "of k": f"k = {p.k}"}
                for p in self.records
                if p.family == family
            ]  # fmt: skip
            by_k = [row for row in rows if row["k"] in fourfold]
            for chart_rows, x, colour in ((rows, "k", "s"), (by_k, "spread", "of k")):
                charts.append(
                    curves(
                        chart_rows, x=x, y="T*", colour=colour, x_title=x, y_title="T*",
                        marked={row[x] for row in chart_rows}, log_x=True, log_y=True,
                        title=f"Best temperature: toy model, {family} tasks, 0.03 < pass@k < 0.98",
                        y_domain=None,
                    )
                )  # fmt: skip
        return tuple(charts)


class BestTemperatureRegression(NamedTuple):
    """The regression of T* for one family of tasks, computed by passk or printed in the article."""

    family: str
    gamma: float | None
    source: str
    fit: PowerLawFit


class BestTemperatureRegressionTable(ReportSection[BestTemperatureRegression]):
    """The power laws of T* in k and the spread s, fitted by passk and given in the article."""

    title = "T* = factor · k^power · s^power"
    columns = (
        data_field("fact", "With --fit: regression or point."),
        Column("tasks", field_name="family", meaning=_FAMILY_MEANING,
            cell_of_record=lambda line: line.family),
        data_field("gamma", "Exponent γ of the power law of tasks."),
        data_field("largest", "Largest |c| of the power law of tasks."),
        data_field("spread", _SPREAD_MEANING),
        data_field("k", "Number of attempts."),
        data_field("temperature", "Best temperature T*; empty if every task passes."),
        data_field("pass_at_k", "pass@k at T*."),
        data_field("kept", "Whether the regression uses the point."),
        Column("source", field_name="source", meaning="exact sums (computed by passk) or article.",
               cell_of_record=lambda line: line.source),
        Column("factor", "number", field_name="factor", meaning="Factor of the power law.",
               cell_of_record=lambda line: line.fit.factor),
        Column("power of k", "number", field_name="k_exponent", meaning="Exponent of k.",
               cell_of_record=lambda line: line.fit.k_exponent),
        Column("power of s", "number", field_name="s_exponent",
               meaning="Exponent of the standard deviation s.",
               cell_of_record=lambda line: line.fit.spread_exponent),
        Column("R²", "number", field_name="r2", cell_of_record=lambda line: line.fit.r2,
               meaning="Share of the variance of log T* that the power law explains."),
        Column("points", "count", field_name="points",
            meaning="Number of points in the regression.",
               cell_of_record=lambda line: line.fit.point_count),
        data_field("note", "Reason why a value is missing."),
    )  # fmt: skip

    def answer(self) -> Iterator[AnswerSentence]:
        yield from (
            FITTED_POWER_LAW_ANSWER.sentence_about(line)
            for line in self.records
            if line.source != "article"
        )


FITTED_POWER_LAW_ANSWER = Answer(
    "fitted-t-star", lambda _: True,
    "{family} tasks: T* = {factor:=number} · k^{k_exponent:=number} · s^{s_exponent:=number}.",
    lambda line: {"family": line.family, "factor": line.fit.factor,
                  "k_exponent": line.fit.k_exponent, "s_exponent": line.fit.spread_exponent},
)  # fmt: skip
SECTIONS = (BestByKTable, BestTemperaturePointTable, BestTemperatureRegressionTable)
EMPTY_ANALYSIS = Analysis(Counts.from_cells([("", "", 1, 0)]))


def _point_row(p: BestTemperaturePoint) -> dict[str, Any]:
    lost = "" if p.temperature is not None else "every task passes at the best temperatures"
    return {
        "family": p.family, "gamma": p.gamma, "largest": p.largest_task_integer, "spread": p.spread,
        "k": p.k, "temperature": p.temperature, "pass_at_k": p.pass_at_k, "note": lost,
    }  # fmt: skip


def _task_distribution_cut_messages(
    all_points: Sequence[BestTemperaturePoint],
) -> Iterator[Diagnostic]:
    cut = sorted(
        {
            (p.largest_task_integer, p.spread, p.gamma)
            for p in all_points
            if p.largest_task_integer is not None
        }
    )
    if cut:
        ends, between = (cut, ", ") if len(cut) < 4 else ((cut[0], cut[-1]), " to ")
        yield TASK_DISTRIBUTION_CUT_NOTE(
            gamma=f"{cut[0][2]:g}", largest=between.join(f"{c:,}" for c, _, _ in ends),
            spreads=between.join(f"{spread:.4g}" for _, spread, _ in ends),
        )  # fmt: skip


def _toy_model_report(
    sections: Sequence[ReportSection[Any]], points: Sequence[BestTemperaturePoint],
    rows: Sequence[Mapping[str, Any]], messages: Sequence[Diagnostic], options: Mapping[str, str],
) -> Report:  # fmt: skip
    gamma = next((f"{p.gamma:g}" for p in points if p.gamma is not None), None)
    fields = [
        c.field_name
        for c in BestTemperatureRegressionTable.columns
        if any(c.field_name in row for row in rows)
    ]
    table = Table(tuple(map(Column, fields)), [tuple(map(row.get, fields)) for row in rows])
    report = build_report(
        EMPTY_ANALYSIS, sections, context=(_TOY_MODEL_FOOTNOTE,), messages=messages
    )
    signature = {**VERSION_AND_COMMIT_SIGNATURE, **options, **({"gamma": gamma} if gamma else {})}
    return replace(
        report,
        make_data_rows=lambda: table,
        make_signature=lambda: signature,
        make_methods_text=None,
    )


def toy_report(
    families: Sequence[str], spreads: Sequence[float], gamma: float, ks: Sequence[int]
) -> Report:
    """The report of T*(k) and pass@k at T*, for each combination of family, spread and k."""
    sets = [
        best_temperature_points(f, tasks_of_spread(f, s, gamma), ks, gamma)
        for f in families
        for s in spreads
    ]
    all_points = [p for set_points in sets for p in set_points]
    messages = [*_task_distribution_cut_messages(all_points)]
    if lost := [p for p in all_points if p.temperature is None]:
        first = min(lost, key=lambda p: p.k)
        messages.append(
            EQUALLY_GOOD_TEMPERATURES_NOTE(lost=len(lost), points=len(all_points), k=first.k,
                              family=first.family, spread=f"{first.spread:.4g}")
        )  # fmt: skip
    options = {"toy": ",".join(families), "spread": ",".join(f"{s:g}" for s in spreads),
             "k": ",".join(map(str, ks))}  # fmt: skip
    sections = (
        BestByKTable(EMPTY_ANALYSIS, sets),
        BestTemperaturePointTable(EMPTY_ANALYSIS, all_points),
    )
    return _toy_model_report(
        sections, all_points, [_point_row(p) for p in all_points], messages, options
    )


def fit_report(families: Sequence[str], gamma: float) -> Report:
    """The report of a regression of log T* on log k and on the log of the spread s.

    Like the article, passk uses a grid with the scales 2⁰ … 2⁹ and k = 2 … 16, 32, 64, … 16384. The
    regression uses the points with 0.03 < pass@k < 0.98. If the tasks follow a power law, k must
    also be above 20.
    """
    all_points: list[BestTemperaturePoint] = []
    lines = []
    for family in families:
        family_points = [
            p
            for tasks in task_sets_at_grid_scales(family, gamma)
            for p in best_temperature_points(family, tasks, GRID_KS, gamma)
        ]
        all_points += family_points
        law = np.array(
            [(p.k, p.spread, p.temperature) for p in family_points if p.is_in_fit], dtype=np.float64
        )
        fit = fit_best_temperature_power_law(*law.reshape(-1, 3).T)
        lines.append(BestTemperatureRegression(family, family_points[0].gamma, "exact sums", fit))
        if family in _ARTICLE_POWER_LAW_BY_FAMILY:
            lines.append(
                BestTemperatureRegression(
                    family, family_points[0].gamma, "article", _ARTICLE_POWER_LAW_BY_FAMILY[family]
                )
            )
    rows: list[dict[str, Any]] = [
        {
            "fact": "regression", "note": "", "family": line.family, "gamma": line.gamma,
            "source": line.source, "factor": line.fit.factor, "k_exponent": line.fit.k_exponent,
            "s_exponent": line.fit.spread_exponent, "r2": line.fit.r2,
            "points": line.fit.point_count,
        }
        for line in lines
    ]  # fmt: skip
    rows += [
        {**_point_row(p), "fact": "point", "kept": p.is_in_fit, "source": ""} for p in all_points
    ]
    messages = [GRID_SCALES_VERSUS_SPREADS_NOTE()] if "exponential" in families else []
    if spreads := {p.spread for p in all_points if p.family == "power-law"}:
        messages += _task_distribution_cut_messages(all_points)
        messages.append(
            FEWER_REGRESSION_POINTS_NOTE(
                k=POWER_LAW_FIT_ABOVE_K, spreads=len(spreads), all=len(GRID_TASK_SCALES)
            )
        )
    fitted = [p for p in all_points if p.is_in_fit]
    sections = (
        BestTemperatureRegressionTable(EMPTY_ANALYSIS, lines),
        RegressionPointTable(EMPTY_ANALYSIS, fitted),
    )
    options = {"toy": ",".join(families), "fit": "the article's grid"}
    return _toy_model_report(sections, fitted, rows, messages, options)
