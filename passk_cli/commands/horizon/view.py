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
    finite_minutes,
    horizon_growth,
    sorted_model_horizons,
    success_curve,
    task_minutes,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
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
from passk_cli.study.answer import Answer, first_true_sentence, true_sentences
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.suggested_fix import Placeholder, SuggestedFix

# passk draws a curve through _DRAWN points, and draws bands only if there are at most _OBSERVED
# models. Intervals are reliable only with at least _FEW_FAMILIES families. The bins of observed
# rates have a width of _BIN log₂ minutes.
_DRAWN, _OBSERVED, _FEW_FAMILIES, _BIN = 60, 3, 15, 2.0

EXTRAPOLATED_HORIZONS_WARNING = DiagnosticType(
    "extrapolated-horizons", WARNING,
    "the {rate} horizon of {models} is outside the range of task lengths, so it depends on the"
    " shape of the success curve", "add tasks that are as long as the horizon",
    meaning="The horizon is longer than the longest task or shorter than the shortest task. A"
    " horizon outside the range of task lengths comes from a part of the fitted curve that no"
    " attempt supports.",
    why="Curves of different shapes fit the attempts equally well, but they give different"
    " horizons.",
    advice="Add tasks that are as long as the horizon. `--full` shows the horizon for each shape of"
    " the success curve.",
)  # fmt: skip
NO_HORIZON_WARNING = DiagnosticType(
    "no-horizon", WARNING, "there is no {rate} horizon for {models}: {reason}", "",
    meaning="passk can compute a horizon only if some attempts pass, some attempts fail, and longer"
    " tasks have lower success rates.",
    why="The table and the charts contain no horizon for the models that the message names.",
    advice="Add shorter tasks if no attempt passes, and longer tasks if every attempt passes.",
)  # fmt: skip
NO_TASK_LENGTH_WARNING = DiagnosticType(
    "no-length", WARNING,
    "{tasks:task} without a length above 0 {tasks:is|are} left out: {names}", "",
    meaning="passk leaves out tasks that have no length in minutes, or a length that is not above"
    " 0. passk computes horizons without the attempts at tasks that have no length.",
    why="If the tasks without a length are unusually hard or easy, leaving out these tasks changes"
    " the horizons.",
    advice="Add the missing lengths, or use `--field minutes=COLUMN` to name the column with the"
    " lengths.",
)  # fmt: skip
FEW_FAMILIES_WARNING = DiagnosticType(
    "few-families", WARNING,
    "the intervals of {models} may be too narrow because tasks are in fewer than {least} families"
    " ({families})", "",
    meaning="The bootstrap draws families of tasks with replacement. If there are few families, the"
    " bootstrap underestimates the variation between families.",
    why="In simulations with 2 to 10 families of 40 similar tasks, 95 % intervals contained the"
    " true 50 % horizon in 76 to 92 % of the cases. The intervals contained the true 80 % horizon"
    " in 77 to 87 % of the cases (benchmarks/horizon.md).",
    advice="Add tasks of other families. If you cannot add families, report that the intervals may"
    " be too narrow.",
)  # fmt: skip
UNDATED_MODELS_WARNING = DiagnosticType(
    "undated-models", WARNING, "the doubling time leaves out {models} without a release date",
    "write dates like 2025-02-24",
    meaning="To compute the doubling time, passk fits a line to the horizons and release dates of"
    " the models. Some models have no release date, or an invalid release date.",
    why="If a model without a date had the longest horizon at its release, its date would change"
    " the fitted line and the doubling time.",
    advice="Write the release date of each model in the form 2025-02-24.",
)  # fmt: skip

LONGEST_HORIZON_ANSWER_TEMPLATES = (
    Answer("no-horizon", lambda found: found.top_model.first_horizon.value is None,
           "There is no {rate} horizon{?reason|: {reason}}."),
    Answer("horizon-of-one", lambda found: len(found.models) == 1,
           "The {rate} horizon of {model} is {horizon}: {rate} of its attempts succeed at tasks"
           " that take a human expert this long."),
    Answer("longest-horizon", lambda _: True,
           "The {rate} horizon is longest for {model}{?own| (each model on its own tasks)}:"
           " {horizon}{?rivals|; the {count:interval|intervals} of {rivals}"
           " {count:overlaps|overlap} with the interval of {model}}."),
)  # fmt: skip
FURTHER_HORIZON_ANSWER_TEMPLATES = (
    Answer("horizon-extrapolated", lambda found: found.top_model.is_extrapolated,
           "The horizon is extrapolated because it is outside the range of task lengths ({shortest}"
           " to {longest})."),
    Answer("horizon-by-shape",
           lambda found: found.top_model.first_horizon.value is not None
           and len({*_horizon_range_over_shapes_texts(found.top_model)}) == 2,
           "Depending on the shape of the success curve, the horizon is {low} to {high}."),
    Answer("horizon-of-every-shape",
           lambda found: found.top_model.first_horizon.value is not None
           and len({*_horizon_range_over_shapes_texts(found.top_model)}) == 1,
           "The horizon is {low} for every shape of the success curve."),
    Answer("horizon-doubles", lambda found: found.doubling_days and found.doubling_days.value,
           "The longest horizon{?group| with {group}} doubles every {days}."),
)  # fmt: skip


@dataclass(frozen=True)
class ModelsByHorizon:
    """The models that the answer compares. The model with the longest horizon comes first."""

    models: Sequence[ModelHorizon]
    success_rate_text: str
    doubling_days: Estimate | None

    @property
    def top_model(self) -> ModelHorizon:
        return self.models[0]

    @property
    def sentence_fields(self) -> dict[str, Any]:
        top, reasons = self.top_model, {model.first_horizon.reason for model in self.models}
        rivals = [
            m.name
            for m in self.models[1:]
            if (m.first_horizon.high or 0) >= (top.first_horizon.low or 0)
        ]
        low, high = _horizon_range_over_shapes_texts(top)
        return {
            "model": top.name, "rate": self.success_rate_text, "horizon": top.first_horizon,
            "rivals": rivals,
            "reason": reasons.pop() if len(reasons) == 1 else "", "count": len(rivals),
            "shortest": duration_text(top.task_length_range[0]),
            "longest": duration_text(top.task_length_range[1]),
            "own": len({model.log2_task_lengths.tobytes() for model in self.models}) > 1,
            "low": low, "high": high, "days": self.doubling_days, "group": " ".join(top.series[1:]),
        }  # fmt: skip


def _percent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _horizon_or_bound_text(log2: float, model: ModelHorizon) -> str | None:
    if (value := finite_minutes(log2)) is not None:
        return duration_text(value)
    end = model.task_length_range[log2 > 0]
    return (
        None if math.isnan(log2) else f"{'more' if log2 > 0 else 'less'} than {duration_text(end)}"
    )


def _horizon_range_over_shapes_texts(model: ModelHorizon) -> tuple[str | None, str | None]:
    """The shortest and longest horizon at the first success rate, over all shapes of the curve.

    For an isotonic curve, passk may know only that the horizon is longer (or shorter) than
    all tasks.
    """
    values = sorted(
        log2s[0] for log2s in model.log2_horizons_by_shape.values() if not math.isnan(log2s[0])
    )
    if not values:
        return None, None
    low, high = values[0], values[-1]
    if high == math.inf and low > model.log2_task_lengths.max():
        low = high
    elif low == -math.inf and high < model.log2_task_lengths.min():
        high = low
    return _horizon_or_bound_text(low, model), _horizon_or_bound_text(high, model)


def _horizon_over_shapes_text(model: ModelHorizon) -> Cell:
    low, high = _horizon_range_over_shapes_texts(model)
    return None if model.first_horizon.value is None else low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class HorizonTable(ReportSection[ModelHorizon]):
    """A row per model with its horizons. The model with the longest horizon comes first."""

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("{[1]} horizon", "min", meaning="Length of a task at which {[1]} of the attempts"
               " succeed. The length is the time that a human expert needs.", example=(0, "50 %"),
               repeated_items=lambda section: enumerate(map(_percent, section.rates)),
               cell_of_record=lambda model, rate: model.results[rate[0]].estimate),
        Column("by shape", meaning="Range of the first horizon over all shapes of the curve"
               " (logistic, Weibull and isotonic).", cell_of_record=_horizon_over_shapes_text),
        Column("families", "count", meaning="Number of families of tasks (--cluster), or number of"
               " tasks without --cluster.",
               cell_of_record=lambda model: model.family_count, visibility=FULL),
        Column("shortest", "min", meaning="Length of the shortest task.",
               cell_of_record=lambda model: model.task_length_range[0], visibility=FULL),
        Column("longest", "min", meaning="Length of the longest task.",
               cell_of_record=lambda model: model.task_length_range[1], visibility=FULL),
        Column("slope", "number", meaning="Change of the log odds of success if a task is twice as"
               " long.", cell_of_record=lambda model: model.curve_parameters[1], visibility=FULL),
        data_field("shape", "Shape of the curve: logistic, Weibull or isotonic."),
        data_field("shortest", "Length of the shortest task in minutes."),
        data_field("longest", "Length of the longest task in minutes."),
        data_field("models", "Number of models from which the doubling time is computed."),
    )  # fmt: skip

    rates: Sequence[float] = (0.5,)
    group_horizon_growths: Sequence[HorizonGrowth] = ()
    task_names_without_length: Sequence[str] = ()

    def results(self) -> list[Result]:
        facts: list[Result] = []
        for model in self.records:
            facts += model.results
            facts += [
                replace(fact, method="none", level=None, extra_fields={**fact.extra_fields,
                    "shape": shape},
                        estimate=Estimate(finite_minutes(log2), unit="min", reason="" if
                                          finite_minutes(log2) else _horizon_or_bound_text(log2,
                                          model) or ""))
                for shape, log2s in model.log2_horizons_by_shape.items() if shape != "logistic"
                for fact, log2 in zip(model.results, log2s, strict=True)
            ]  # fmt: skip
        return [*facts, *(growth.doubling_time for growth in self.group_horizon_growths)]

    @cached_property
    def first_rate_text(self) -> str:
        return _percent(self.rates[0])

    def answer(self) -> Iterator[AnswerSentence]:
        group = self.records[0].series[1:]
        days = [
            g.doubling_time.estimate
            for g in self.group_horizon_growths
            if g.doubling_time.series[1:] == group
        ]
        longest = ModelsByHorizon(self.records, self.first_rate_text, days[0] if days else None)
        yield from first_true_sentence(LONGEST_HORIZON_ANSWER_TEMPLATES, longest)
        yield from true_sentences(FURTHER_HORIZON_ANSWER_TEMPLATES, longest)

    def footer_parts(self) -> Iterator[str | OptionHint]:
        confidence = self.study.confidence
        yield self.study.sizes_text(model.results[0] for model in self.records)
        units = "families, tasks and attempts" if confidence.cluster else "tasks and attempts"
        yield f"{100 * confidence.level:g} % intervals from resampled {units}"
        if confidence.cluster:
            yield "weight of a task: 1/√(tasks of its family)"
        yield OptionHint("each shape")

    def messages(self) -> Iterator[Diagnostic]:
        if self.task_names_without_length:
            yield NO_TASK_LENGTH_WARNING(
                tasks=len(self.task_names_without_length),
                names=list(self.task_names_without_length),
            )
        known = [model for model in self.records if model.first_horizon.value is not None]
        lacking = group_by(
            [m for m in self.records if m not in known], lambda m: m.first_horizon.reason
        )
        for reason, models in lacking.items():
            yield NO_HORIZON_WARNING(
                models=[m.name for m in models], rate=self.first_rate_text, reason=reason
            )
        if far := [model.name for model in known if model.is_extrapolated]:
            yield EXTRAPOLATED_HORIZONS_WARNING(models=far, rate=self.first_rate_text)
        few = [model for model in known if model.family_count < _FEW_FAMILIES]
        if few and self.study.confidence.cluster:
            sizes = [model.family_count for model in few]
            yield FEW_FAMILIES_WARNING(
                models=[model.name for model in few], families=number_range(min(sizes), max(sizes)),
                least=_FEW_FAMILIES,
            )  # fmt: skip
        undated = [model.name for model in self.records if model.release_day is None]
        if undated and "date" in self.study.counts.attempts:
            yield UNDATED_MODELS_WARNING(models=undated)

    def plots(self) -> tuple[Plot, ...]:
        drawn = [model for model in self.records if math.isfinite(model.curve_parameters[0])]
        over_dates = [
            self._growth_plot(each)
            for each in self.group_horizon_growths
            if each.doubling_time.estimate.value
        ]
        return (self._success_plot(drawn), *over_dates) if drawn else ()

    def _success_plot(self, drawn: Sequence[ModelHorizon]) -> Plot:
        few, nothing = len(drawn) <= _OBSERVED, {"low": None, "high": None}
        ends = [
            end
            for model in drawn
            for end in (*model.task_length_range, model.first_horizon.value)
            if end
        ]
        grid = np.linspace(math.log2(min(ends)), math.log2(max(ends)), _DRAWN)
        rows, points = list[dict[str, Any]](), list[dict[str, Any]]()
        for model in drawn:
            curve = zip(grid, *success_curve(model, grid, self.study.confidence.level), strict=True)
            for x, rate, low, high in curve:
                limits = {"low": low, "high": high} if few else nothing
                rows.append({"model": model.name, "minutes": 2.0**x, "success": rate, **limits})
            if few:
                points += _observed_bins(model)
        marks = [{"model": model.name, "minutes": model.first_horizon.value,
            "success": self.rates[0]}
                 for model in drawn if model.first_horizon.value is not None]  # fmt: skip
        rules = [ReferenceLine(y=self.rates[0], text=f"{self.first_rate_text} horizon")]
        if len(drawn) == len(marks) == 1:
            rules = [
                ReferenceLine(y=self.rates[0]),
                ReferenceLine(
                    x=drawn[0].first_horizon.value, text=f"{self.first_rate_text} horizon"
                ),
            ]
            marks = []
        chart = curves(
            rows, x="minutes", y="success", low="low", high="high", colour="model",
            points=points, hollow=marks, rules=rules, title="success rate by length of task",
            keys={"points": "observed", "line": "logistic curve"} if points else {},
            subtitle=" · ".join(part for part in self.footer_parts() if isinstance(part, str)),
            x_title="time of a human expert (log scale)", y_title="success rate", log_x=True,
        )  # fmt: skip
        return replace(chart, x_unit="min")

    def _growth_plot(self, growth: HorizonGrowth) -> Plot:
        days = np.array([model.release_day for model in growth.frontier_models])
        middle, mean = (
            days.mean(),
            np.mean([model.log2_first_horizon for model in growth.frontier_models]),
        )
        slope, nothing = (
            1 / (growth.doubling_time.estimate.value or math.inf),
            {"low": None, "high": None},
        )
        rows = [{"model": None, "line": "longest horizons", "year": _fractional_year(day),
            **nothing,
                 "minutes": 2.0 ** (mean + slope * (day - middle))}
                for day in (days.min(), days.max())]  # fmt: skip
        points = [m.results[0].chart_point("minutes", year=_fractional_year(m.release_day))
            for m in self.records
                  if m.release_day is not None
                  and m.series[1:] == growth.doubling_time.series[1:]]  # fmt: skip
        chart = curves(
            rows, x="year", y="minutes", low="low", high="high", colour="model", dash="line",
            points=points, title=f"{self.first_rate_text} horizon by release date",
            x_title="release date",
            y_title="horizon (log scale)", log_x=False, log_y=True, y_domain=None,
        )  # fmt: skip
        return replace(chart, is_scatter_plot=True, x_unit="year", y_unit="min")


def _observed_bins(model: ModelHorizon) -> Iterator[dict[str, Any]]:
    bins = np.floor(model.log2_task_lengths / _BIN)
    for place in np.unique(bins):
        inside = bins == place
        weight = model.weights[inside] / model.weights[inside].sum()
        minutes, rate = (
            2.0 ** (weight @ model.log2_task_lengths[inside]),
            weight @ model.task_success_rates[inside],
        )
        yield {"model": model.name, "minutes": float(minutes), "success": float(rate)}


def _fractional_year(days: float) -> float:
    day = date(1970, 1, 1) + timedelta(days=days)
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


class HorizonByCurveShapeTable(ReportSection[tuple[ModelHorizon, str]]):
    """One row per model and shape of the curve, with the horizons."""

    title = "Horizons by the shape of the curve"
    visibility = FULL
    columns = (
        replace(MODEL_COLUMN, cell_of_record=lambda row: row[0].name),
        Column("shape", meaning="Shape of the curve: logistic (log odds decrease linearly with the"
               " logarithm of the length), Weibull (survival function of a Weibull distribution) or"
               " isotonic (any curve that does not rise).",
               cell_of_record=lambda row: row[1]),
        Column("{[1]} horizon",
               repeated_items=lambda section: [(at, _percent(float(fact.name.partition("@")[2])))
                                       for at, fact in enumerate(section.records[0][0].results)],
               example=(0, "50 %"), meaning="The horizon if the success curve has this shape.",
               cell_of_record=lambda row, rate:
               _horizon_or_bound_text(row[0].log2_horizons_by_shape[row[1]][rate[0]],
                   row[0])),
    )  # fmt: skip


class HorizonRunner(CommandRunner, HorizonOptions):
    sections = (HorizonTable, HorizonByCurveShapeTable)
    checks_independence = True

    reports_metrics: ClassVar[bool] = False

    missing_bounds_refusal: ClassVar[str] = (
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
        models = sorted_model_horizons(study, self.at, lengths, self.penalty)
        dated = group_by([m for m in models if m.release_day is not None], lambda m: m.series[1:])
        grown = [horizon_growth(group, self.at[0], confidence.level) for group in dated.values()]
        without = [study.counts.tasks[task] for task in np.flatnonzero(np.isnan(lengths))]
        decided: dict[str, Any] = {
            "at": ",".join(f"{rate:g}" for rate in self.at), "interval": "percentile",
            "penalty": self.penalty, "level": confidence.level, "cluster": confidence.cluster,
            **confidence.resample_arguments,
        }  # fmt: skip
        return build_report(
            study,
            [HorizonTable(study, models, rates=self.at, group_horizon_growths=grown,
                task_names_without_length=without),
             HorizonByCurveShapeTable(study, [(model, shape) for model in models
                 for shape in model.log2_horizons_by_shape])],
            messages=study.messages(()), **decided,
        )  # fmt: skip
