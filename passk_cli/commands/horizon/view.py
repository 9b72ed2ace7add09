"""The report of `passk horizon`: the answer, the tables of horizons and the charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.horizon import HorizonOptions
from passk_cli.commands.horizon.horizons import (
    HorizonGrowth,
    ModelHorizon,
    growth_of,
    horizons_of,
    known_minutes,
    success_curve,
    task_minutes,
)
from passk_cli.commands.question import Question, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.request import Request
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    Cell,
    Column,
    Estimate,
    OptionHint,
    Report,
)
from passk_cli.report.phrases import duration_text, number_range
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, all_true, first_true
from passk_cli.study.result import Result
from passk_cli.study.section import GROUPS, MODEL, Section, build_report, data_field
from passk_cli.suggested_fix import Placeholder, SuggestedFix

# A curve in the chart has _DRAWN points, and bands appear only with at most _OBSERVED models.
# Intervals are reliable only with at least _FEW_FAMILIES families. The bins of observed rates have
# a width of _BIN log₂ minutes.
_DRAWN, _OBSERVED, _FEW_FAMILIES, _BIN = 60, 3, 15, 2.0

EXTRAPOLATED_HORIZONS = DiagnosticType(
    "extrapolated-horizons", WARNING,
    "the {rate} horizon of {models} is outside the range of task lengths, so it depends on the"
    " shape of the success curve", "add tasks that are as long as the horizon",
    meaning="The horizon is longer than the longest task or shorter than the shortest task. A"
    " horizon outside the range of task lengths comes from a part of the fitted curve without"
    " attempts.",
    why="Curves of different shapes fit the attempts equally well, but they give different"
    " horizons.",
    advice="Add tasks that are as long as the horizon. `--full` shows the horizon for each shape of"
    " the success curve.",
)  # fmt: skip
NO_HORIZON = DiagnosticType(
    "no-horizon", WARNING, "there is no {rate} horizon for {models}: {reason}", "",
    meaning="passk can compute a horizon only if there are passes and failures, tasks of different"
    " lengths, and a success rate that decreases with the length.",
    why="The table and the charts contain no horizon of the models that the message names.",
    advice="Add shorter tasks if no attempt passes, and longer tasks if every attempt passes.",
)  # fmt: skip
NO_LENGTH = DiagnosticType(
    "no-length", WARNING,
    "{tasks:task} without a length above 0 {tasks:is|are} left out: {names}", "",
    meaning="passk leaves out tasks that have no length in minutes, or a length that is not above"
    " 0. Horizons do not use the attempts at tasks without a length.",
    why="If the tasks without a length are unusually hard or easy, they would change the horizons.",
    advice="Fill in the lengths, or name the column with the lengths with `--field"
    " minutes=COLUMN`.",
)  # fmt: skip
FEW_FAMILIES = DiagnosticType(
    "few-families", WARNING,
    "the intervals of {models} may be too narrow because tasks are in fewer than {least} families"
    " ({families})", "",
    meaning="The bootstrap draws families with replacement. If there are few families, the"
    " bootstrap underestimates the variation between families.",
    why="In simulations with 2 to 10 families of 40 similar tasks, 95 % intervals contained the"
    " true 50 % horizon in 76 to 92 % of the cases, and the true 80 % horizon in 77 to 87 %"
    " (benchmarks/horizon.md).",
    advice="Add tasks of other families. If you cannot add families, report that the intervals may"
    " be too narrow.",
)  # fmt: skip
UNDATED_MODELS = DiagnosticType(
    "undated-models", WARNING, "the doubling time leaves out {models} without a release date",
    "write dates like 2025-02-24",
    meaning="The doubling time comes from a line through the horizons of models over their release"
    " dates. Some models have no release date, or a release date that is not a valid date.",
    why="If a model without a date had the longest horizon at its release, its date would change"
    " the line and the doubling time.",
    advice="Write the release date of each model in the form 2025-02-24.",
)  # fmt: skip

LEAD = (
    Answer("no-horizon", lambda found: found.top.first.value is None,
           "There is no {rate} horizon{?reason|: {reason}}."),
    Answer("horizon-of-one", lambda found: len(found.models) == 1,
           "The {rate} horizon of {model} is {horizon}: {rate} of its attempts succeed at tasks"
           " that take a human expert this long."),
    Answer("longest-horizon", lambda _: True,
           "The {rate} horizon is longest for {model}{?own| (each model on its own tasks)}:"
           " {horizon}{?rivals|; the {count:interval|intervals} of {rivals}"
           " {count:overlaps|overlap} with the interval of {model}}."),
)  # fmt: skip
FURTHER = (
    Answer("horizon-extrapolated", lambda found: found.top.extrapolated,
           "The horizon is extrapolated because it is outside the range of task lengths ({shortest}"
           " to {longest})."),
    Answer("horizon-by-shape",
           lambda found: found.top.first.value is not None
           and len({*_horizon_range_over_shapes(found.top)}) == 2,
           "Depending on the shape of the success curve, the horizon is {low} to {high}."),
    Answer("horizon-of-every-shape",
           lambda found: found.top.first.value is not None
           and len({*_horizon_range_over_shapes(found.top)}) == 1,
           "The horizon is {low} for every shape of the success curve."),
    Answer("horizon-doubles", lambda found: found.days and found.days.value,
           "The longest horizon{?group| with {group}} doubles every {days}."),
)  # fmt: skip


@dataclass(frozen=True)
class LongestHorizon:
    """The answer about the longest horizon."""

    models: Sequence[ModelHorizon]
    rate: str
    days: Estimate | None

    @property
    def top(self) -> ModelHorizon:
        return self.models[0]

    @property
    def fields(self) -> dict[str, Any]:
        top, reasons = self.top, {model.first.reason for model in self.models}
        rivals = [m.name for m in self.models[1:] if (m.first.high or 0) >= (top.first.low or 0)]
        low, high = _horizon_range_over_shapes(top)
        return {
            "model": top.name, "rate": self.rate, "horizon": top.first, "rivals": rivals,
            "reason": reasons.pop() if len(reasons) == 1 else "", "count": len(rivals),
            "shortest": duration_text(top.ends[0]), "longest": duration_text(top.ends[1]),
            "own": len({model.x.tobytes() for model in self.models}) > 1,
            "low": low, "high": high, "days": self.days, "group": " ".join(top.series[1:]),
        }  # fmt: skip


def _percent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _horizon_text(log2: float, model: ModelHorizon) -> str | None:
    if (value := known_minutes(log2)) is not None:
        return duration_text(value)
    end = model.ends[log2 > 0]
    return (
        None if math.isnan(log2) else f"{'more' if log2 > 0 else 'less'} than {duration_text(end)}"
    )


def _horizon_range_over_shapes(model: ModelHorizon) -> tuple[str | None, str | None]:
    """The shortest and longest horizon at the first rate, over all shapes of the curve.

    For an isotonic curve, passk may know only that the horizon is beyond all tasks.
    """
    values = sorted(log2s[0] for log2s in model.shapes.values() if not math.isnan(log2s[0]))
    if not values:
        return None, None
    low, high = values[0], values[-1]
    if high == math.inf and low > model.x.max():
        low = high
    elif low == -math.inf and high < model.x.min():
        high = low
    return _horizon_text(low, model), _horizon_text(high, model)


def _shape_range_text(model: ModelHorizon) -> Cell:
    low, high = _horizon_range_over_shapes(model)
    return None if model.first.value is None else low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class HorizonTable(Section[ModelHorizon]):
    """A row per model with its horizons. The longest horizon comes first."""

    columns = (
        MODEL, GROUPS,
        Column("{[1]} horizon", "min", meaning="Length of a task at which {[1]} of the attempts"
               " succeed. The length is the time that a human expert needs.", example=(0, "50 %"),
               across=lambda section: enumerate(map(_percent, section.rates)),
               cell=lambda model, rate: model.facts[rate[0]].estimate),
        Column("by shape", meaning="Range of the first horizon over all shapes of the curve"
               " (logistic, Weibull and isotonic).", cell=_shape_range_text),
        Column("families", "count", meaning="Number of families of tasks (--cluster), or number of"
               " tasks without --cluster.",
               cell=lambda model: model.families, shown=FULL),
        Column("shortest", "min", meaning="Length of the shortest task.",
               cell=lambda model: model.ends[0], shown=FULL),
        Column("longest", "min", meaning="Length of the longest task.",
               cell=lambda model: model.ends[1], shown=FULL),
        Column("slope", "number", meaning="Change of the log odds of success if a task is twice as"
               " long.", cell=lambda model: model.curve[1], shown=FULL),
        data_field("shape", "Shape of the curve: logistic, Weibull or isotonic."),
        data_field("shortest", "Length of the shortest task in minutes."),
        data_field("longest", "Length of the longest task in minutes."),
        data_field("models", "Number of models from which the doubling time is computed."),
    )  # fmt: skip

    rates: Sequence[float] = (0.5,)
    grown: Sequence[HorizonGrowth] = ()
    without: Sequence[str] = ()

    def facts(self) -> list[Result]:
        facts: list[Result] = []
        for model in self.records:
            facts += model.facts
            facts += [
                replace(fact, method="none", level=None, more={**fact.more, "shape": shape},
                        estimate=Estimate(known_minutes(log2), unit="min", reason="" if
                                          known_minutes(log2) else _horizon_text(log2,
                                          model) or ""))
                for shape, log2s in model.shapes.items() if shape != "logistic"
                for fact, log2 in zip(model.facts, log2s, strict=True)
            ]  # fmt: skip
        return [*facts, *(growth.fact for growth in self.grown)]

    @cached_property
    def rate(self) -> str:
        return _percent(self.rates[0])

    def answer(self) -> Iterator[AnswerSentence]:
        group = self.records[0].series[1:]
        days = [g.fact.estimate for g in self.grown if g.fact.series[1:] == group]
        longest = LongestHorizon(self.records, self.rate, days[0] if days else None)
        yield from first_true(LEAD, longest)
        yield from all_true(FURTHER, longest)

    def context(self) -> Iterator[str | OptionHint]:
        confidence = self.study.confidence
        yield self.study.sizes(model.facts[0] for model in self.records)
        units = "families, tasks and attempts" if confidence.cluster else "tasks and attempts"
        yield f"{100 * confidence.level:g} % intervals from resampled {units}"
        if confidence.cluster:
            yield "weight of a task: 1/√(tasks of its family)"
        yield OptionHint("each shape")

    def messages(self) -> Iterator[Diagnostic]:
        if self.without:
            yield NO_LENGTH(tasks=len(self.without), names=list(self.without))
        known = [model for model in self.records if model.first.value is not None]
        lacking = group_by([m for m in self.records if m not in known], lambda m: m.first.reason)
        for reason, models in lacking.items():
            yield NO_HORIZON(models=[m.name for m in models], rate=self.rate, reason=reason)
        if far := [model.name for model in known if model.extrapolated]:
            yield EXTRAPOLATED_HORIZONS(models=far, rate=self.rate)
        few = [model for model in known if model.families < _FEW_FAMILIES]
        if few and self.study.confidence.cluster:
            sizes = [model.families for model in few]
            yield FEW_FAMILIES(
                models=[model.name for model in few], families=number_range(min(sizes), max(sizes)),
                least=_FEW_FAMILIES,
            )  # fmt: skip
        undated = [model.name for model in self.records if model.date is None]
        if undated and "date" in self.study.counts.attempts:
            yield UNDATED_MODELS(models=undated)

    def plots(self) -> tuple[Plot, ...]:
        drawn = [model for model in self.records if math.isfinite(model.curve[0])]
        over_dates = [self._growth_plot(each) for each in self.grown if each.fact.estimate.value]
        return (self._success_plot(drawn), *over_dates) if drawn else ()

    def _success_plot(self, drawn: Sequence[ModelHorizon]) -> Plot:
        few, nothing = len(drawn) <= _OBSERVED, {"low": None, "high": None}
        ends = [end for model in drawn for end in (*model.ends, model.first.value) if end]
        grid = np.linspace(math.log2(min(ends)), math.log2(max(ends)), _DRAWN)
        rows, points = list[dict[str, Any]](), list[dict[str, Any]]()
        for model in drawn:
            curve = zip(grid, *success_curve(model, grid, self.study.confidence.level), strict=True)
            for x, rate, low, high in curve:
                limits = {"low": low, "high": high} if few else nothing
                rows.append({"model": model.name, "minutes": 2.0**x, "success": rate, **limits})
            if few:
                points += _observed_bins(model)
        marks = [{"model": model.name, "minutes": model.first.value, "success": self.rates[0]}
                 for model in drawn if model.first.value is not None]  # fmt: skip
        rules = [ReferenceLine(y=self.rates[0], text=f"{self.rate} horizon")]
        if len(drawn) == len(marks) == 1:
            rules = [
                ReferenceLine(y=self.rates[0]),
                ReferenceLine(x=drawn[0].first.value, text=f"{self.rate} horizon"),
            ]
            marks = []
        chart = curves(
            rows, x="minutes", y="success", low="low", high="high", colour="model",
            points=points, hollow=marks, rules=rules, title="success rate by length of task",
            keys={"points": "observed", "line": "logistic curve"} if points else {},
            subtitle=" · ".join(part for part in self.context() if isinstance(part, str)),
            x_title="time of a human expert (log scale)", y_title="success rate", log_x=True,
        )  # fmt: skip
        return replace(chart, x_unit="min")

    def _growth_plot(self, growth: HorizonGrowth) -> Plot:
        days = np.array([model.date for model in growth.models])
        middle, mean = days.mean(), np.mean([model.log2 for model in growth.models])
        slope, nothing = 1 / (growth.fact.estimate.value or math.inf), {"low": None, "high": None}
        rows = [{"model": None, "line": "longest horizons", "year": _year(day), **nothing,
                 "minutes": 2.0 ** (mean + slope * (day - middle))}
                for day in (days.min(), days.max())]  # fmt: skip
        points = [m.facts[0].chart_point("minutes", year=_year(m.date)) for m in self.records
                  if m.date is not None and m.series[1:] == growth.fact.series[1:]]  # fmt: skip
        chart = curves(
            rows, x="year", y="minutes", low="low", high="high", colour="model", dash="line",
            points=points, title=f"{self.rate} horizon by release date", x_title="release date",
            y_title="horizon (log scale)", log_x=False, log_y=True, y_domain=None,
        )  # fmt: skip
        return replace(chart, scattered=True, x_unit="year", y_unit="min")


def _observed_bins(model: ModelHorizon) -> Iterator[dict[str, Any]]:
    bins = np.floor(model.x / _BIN)
    for place in np.unique(bins):
        inside = bins == place
        weight = model.weights[inside] / model.weights[inside].sum()
        minutes, rate = 2.0 ** (weight @ model.x[inside]), weight @ model.rates[inside]
        yield {"model": model.name, "minutes": float(minutes), "success": float(rate)}


def _year(days: float) -> float:
    day = date(1970, 1, 1) + timedelta(days=days)
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


class ShapeTable(Section[tuple[ModelHorizon, str]]):
    """A row per model and shape of the curve with the horizons."""

    title = "Horizons by the shape of the curve"
    shown = FULL
    columns = (
        replace(MODEL, cell=lambda row: row[0].name),
        Column("shape", meaning="Shape of the curve: logistic (log odds decrease linearly with the"
               " logarithm of the length), Weibull (survival function of a Weibull distribution) or"
               " isotonic (any curve that does not rise).",
               cell=lambda row: row[1]),
        Column("{[1]} horizon",
               across=lambda section: [(at, _percent(float(fact.name.partition("@")[2])))
                                       for at, fact in enumerate(section.records[0][0].facts)],
               example=(0, "50 %"), meaning="The horizon if the success curve has this shape.",
               cell=lambda row, rate: _horizon_text(row[0].shapes[row[1]][rate[0]], row[0])),
    )  # fmt: skip


class HorizonQuestion(Question, HorizonOptions):
    sections = (HorizonTable, ShapeTable)
    sampled = True

    of_metrics: ClassVar[bool] = False

    unbounded: ClassVar[str] = (
        "the horizon may be outside the range between all missing outcomes failing and all passing"
    )

    def request(self, options: SharedOptions) -> Request:
        roles = ("minutes", *["date"] * ("date" in options.request.fields))
        return replace(options.request, cluster=options.confidence.cluster, attempts=roles)

    def report(self, study: Analysis) -> Report:
        lengths, confidence = task_minutes(study.counts), study.confidence
        if np.isnan(lengths).all():
            fix = SuggestedFix({"--field": {"minutes": Placeholder("COLUMN")}}, "names the column")
            raise DataError("minutes", "no task has a length above 0", settles=[fix])
        models = horizons_of(study, self.at, lengths, self.penalty)
        dated = group_by([m for m in models if m.date is not None], lambda m: m.series[1:])
        grown = [growth_of(group, self.at[0], confidence.level) for group in dated.values()]
        without = [study.counts.tasks[task] for task in np.flatnonzero(np.isnan(lengths))]
        decided: dict[str, Any] = {
            "at": ",".join(f"{rate:g}" for rate in self.at), "interval": "percentile",
            "penalty": self.penalty, "level": confidence.level, "cluster": confidence.cluster,
            **confidence.resample_arguments,
        }  # fmt: skip
        return build_report(
            study,
            [HorizonTable(study, models, rates=self.at, grown=grown, without=without),
             ShapeTable(study, [(model, shape) for model in models for shape in model.shapes])],
            messages=study.messages(()), **decided,
        )  # fmt: skip
