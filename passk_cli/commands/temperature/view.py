"""The report of `passk temperature`, with its answer, tables, messages and chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

from passk_cli.arrays import group_pairs
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.temperature import TemperatureOptions, toy
from passk_cli.commands.temperature.best_temperatures import (
    TEMPERATURE_COLUMN_NAME,
    BestTemperaturePowerLaw,
    BestTemperatureVerdict,
    ModelPairAcrossTemperatures,
    analyze_temperatures,
    regrouped_by_temperature,
    series_temperature_text,
    without_temperature,
)
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.sources.path_templates import TEMPERATURE_COLUMN_NAMES
from passk_cli.metrics.registry import Metric
from passk_cli.option import changed_option_names, split_at_commas
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Cell, Column, Estimate, PhraseCell, Report
from passk_cli.report.phrases import SeriesName, all_in_words, plural
from passk_cli.report.plot import Plot, curves
from passk_cli.study.adjustment_captions import INTERVALS_DISAGREE_WITH_VERDICTS, Adjustment
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.comparison import Comparison
from passk_cli.study.data_notes import lacking_tasks_message
from passk_cli.study.pairwise_tests import BETTER, TIED, WORSE
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    METRIC_VALUES_COLUMN,
    MODEL_COLUMN,
    MetricColumnItem,
    ReportSection,
    SeriesMetricTable,
    build_report,
    data_field,
    rows_by_series,
)
from passk_cli.study.significance_options import ALL, SECONDARY_TEST_FAMILY
from passk_cli.study.values import SeriesKey, on_shared_tasks
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.temperature_models.toy_model import TASK_FAMILIES

INCOMPARABLE_TEMPERATURES_NOTE = DiagnosticType(
    "no-best-temperature", NOTE,
    "there is no best temperature for {models}, because no two temperatures share tasks",
    meaning="To choose the best temperature of a model, passk uses only the tasks that all"
    " temperatures share. There is no best temperature if a model has only one temperature, or if"
    " its temperatures share no task.",
    why="The table of best temperatures has no row for a model without a best temperature.",
    advice="Run the model at a second temperature on the same tasks.",
    example="note[no-best-temperature]: there is no best temperature for beta, because no two"
    " temperatures share tasks",
)  # fmt: skip
SHARED_TASKS_ONLY_WARNING = DiagnosticType(
    "best-on-part-of-tasks", WARNING,
    "best temperatures use only the tasks that all temperatures share: {parts}",
    meaning="passk chooses the best temperature only from tasks with attempts at every temperature."
    " With `--full`, the estimates use all tasks of each temperature.",
    why="If every temperature had attempts at all tasks, another temperature might be best.",
    advice="Run all tasks at all temperatures.",
    example="warning[best-on-part-of-tasks]: best temperatures use only the tasks that all"
    " temperatures share: alpha 90 of 120",
)  # fmt: skip
UNEQUAL_ATTEMPTS_NOTE = DiagnosticType(
    "unequal-temperatures", NOTE,
    'the column "first in resamples" is empty for {models}, because the number of attempts differs'
    " between temperatures",
    meaning="With more attempts, pass@k has more possible values, so ties are rarer. A temperature"
    " with more attempts may be first in too many or too few resamples.",
    why="The share of resamples in which a temperature is first would depend on the number of"
    " attempts. Differences and their tests remain valid if the numbers of attempts differ.",
    advice="Use the differences and their tests, or make the same number of attempts at each"
    " temperature.",
    example='note[unequal-temperatures]: the column "first in resamples" is empty for alpha,'
    " because the number of attempts differs between temperatures",
)  # fmt: skip
RANK_FLIP_NOTE = DiagnosticType(
    "rank-flip", NOTE,
    "{first} is significantly better than {second} at {where}, and significantly worse at"
    " {elsewhere}{?more|; the order of {more:more pair} of models also changes}",
    meaning="Each of the two models is significantly better than the other model at some"
    " combination of temperature and k.",
    why="Which model is better depends on k and on the temperature.",
    advice="Compare the models at the k and the temperature that you will use. `--full` shows all"
    " pairs of models.",
    example="note[rank-flip]: alpha is significantly better than beta at T 0.2 (k = 1), and"
    " significantly worse at T 0.8 (k = 10)",
)  # fmt: skip

_FIRST_IN_RESAMPLES_MEANING = (
    "Share of the resamples of the tasks in which this temperature is first. Ties are split. This"
    " share is neither a test nor the probability of being the best temperature."
)
_NON_TEMPERATURE_GROUPS_COLUMN = replace(
    GROUP_VALUES_COLUMN,
    repeated_items=lambda section: enumerate(section.study.counts.group_names[1:]),
)
_TOY_MODEL_FIX = SuggestedFix({"--toy": "gaussian"}, "shows the toy model")


class BestTemperatureRow(NamedTuple):
    """The best temperatures of one model, with one verdict per metric name."""

    series: SeriesKey
    verdict_by_metric: dict[str, BestTemperatureVerdict]


class BestOrLeadColumn(NamedTuple):
    """A table column for one metric: the best temperature, or its lead over the second-best."""

    header: str
    meaning: str
    metric: Metric
    cell_kind: str

    def cell(self, choice: BestTemperatureRow) -> Cell:
        v = choice.verdict_by_metric.get(self.metric.name)
        if v is None:
            return Estimate(None, reason="no two temperatures have this metric")
        if self.cell_kind == "share":
            return replace(
                v.lead_over_second.estimate,
                tie_or_equivalence_sign="" if v.has_significant_lead else "~",
            )
        value = Estimate(v.task_values_of_ranked_temperatures[0].mean, unit=self.metric.unit)
        return PhraseCell((value, f" at {', '.join(v.best_temperatures)}"))


class BestTemperatureOfMostModels(NamedTuple):
    """The temperatures that are best for most models, and the number of these models."""

    temperatures: tuple[str, ...]
    model_count: int
    total_model_count: int

    @property
    def models_text(self) -> str:
        """The number of models in words, for example "all 4 models" or "3 of 4 models"."""
        return _count_of_total_text(self.model_count, self.total_model_count, "model")


_SIGNIFICANT_LEAD_COUNT_CLAUSE = "; {which} {verb:is|are} significant."


@dataclass(frozen=True)
class BestTemperatureTable(ReportSection[BestTemperatureRow]):
    """One row per model: the best temperature at the smallest and at the largest k."""

    columns = (
        MODEL_COLUMN, _NON_TEMPERATURE_GROUPS_COLUMN,
        Column("{0.header}", meaning="{0.meaning}", cell_of_record=lambda choice, part:
        part.cell(choice),
               repeated_items=lambda section: section.metric_columns,
               kind_of_item=lambda section, part: part.cell_kind,
               example=BestOrLeadColumn(
                   "METRIC: best", 'The highest estimate and its temperature. The column "ahead by"'
                   " contains the difference to the second-best temperature.", Metric("pass@", 1),
                   "text")),
        data_field("fact", "Kind of row: estimate, temperatures (two temperatures of one model),"
                   " models (two models), power law, or, with --fit, regression or point."),
        data_field("leads", _FIRST_IN_RESAMPLES_MEANING),
        data_field("test", "Test of the difference."),
        data_field("adjustment", "Adjustment of p for the number of tests."),
        data_field("temperature_against", "Second temperature of the comparison."),
        data_field("factor", "T* at k = 1, if the row is a power law."),
    )  # fmt: skip
    estimates: Sequence[Result]
    lead_adjustment: Adjustment
    other_tests_adjustment: Adjustment
    metrics: Sequence[Metric]

    @property
    def metric_columns(self) -> Iterator[BestOrLeadColumn]:
        """Two columns per metric: the best temperature, and its lead."""
        ahead = (
            "Difference between T* and the second-best temperature. The intervals are simultaneous"
            " for all leads of the table. A ~ marks a difference that is not significant."
        )
        for metric in self.metrics:
            best = "The highest estimate and the temperature T* that has it."
            yield BestOrLeadColumn(f"{metric.name}: best", best, metric, "text")
            yield BestOrLeadColumn("ahead by", ahead, metric, "share")

    @property
    def verdicts_of_shown_metrics(self) -> list[BestTemperatureVerdict]:
        names = [metric.name for metric in self.metrics]
        return [
            choice.verdict_by_metric[n]
            for n in names
            for choice in self.records
            if n in choice.verdict_by_metric
        ]

    answers = (
        Answer("best-temperature", lambda section: len(section.metrics_by_best_temperature) == 1,
               "T {best:and} {count:is|are} best at {?plain|k = }{metrics:and}"
               "{?models| for {models}}" + _SIGNIFICANT_LEAD_COUNT_CLAUSE),
        Answer("two-best-temperatures", lambda section: section.has_two_bests_across_metrics,
               "T {best:and} {count:is|are} best at {?plain|k = }{metrics:and} and T {second} at"
               " {?plain|k = }{second_metrics:and}{?models| for"
               " {models}}" + _SIGNIFICANT_LEAD_COUNT_CLAUSE),
        Answer("best-temperatures", lambda _: True,
               "Best temperatures: {places}" + _SIGNIFICANT_LEAD_COUNT_CLAUSE),
    )  # fmt: skip

    @cached_property
    def metrics_by_best_temperature(self) -> dict[BestTemperatureOfMostModels, list[str]]:
        """Map temperatures to the metrics at which these temperatures are best for most models."""
        places: dict[BestTemperatureOfMostModels, list[str]] = {}
        for metric in self.metrics:
            verdicts = [
                v for v in self.verdicts_of_shown_metrics if v.lead_over_second.name == metric.name
            ]
            if best := [tuple(v.best_temperatures) for v in verdicts]:
                most = max(best, key=best.count)
                place = BestTemperatureOfMostModels(most, best.count(most), len(best))
                places.setdefault(place, []).append(
                    _short_metric_name(metric, _are_all_pass_at_k(self.metrics))
                )
        return places

    @property
    def has_two_bests_across_metrics(self) -> bool:
        """Whether two temperatures are best at different metrics, each for equally many models."""
        return (
            len(self.metrics_by_best_temperature) == 2
            and len({place[1:] for place in self.metrics_by_best_temperature}) == 1
        )

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The values of the sentences about best temperatures and their significant leads."""
        first, *other_places = self.metrics_by_best_temperature
        verdicts, plain = self.verdicts_of_shown_metrics, _are_all_pass_at_k(self.metrics)
        significant = sum(v.has_significant_lead for v in verdicts)
        several = len(self.records) > 1
        return {
            "best": list(first.temperatures), "count": len(first.temperatures), "plain": plain,
            "metrics": self.metrics_by_best_temperature[first], "models": first.models_text
            if several else "",
            "second": " or ".join(other_places[0].temperatures) if other_places else "",
            "second_metrics": self.metrics_by_best_temperature[other_places[0]]
            if other_places else [],
            "places": [
                f"{' or '.join(place.temperatures)} at {'k = ' * plain}{', '.join(metrics)}"
                + f" ({place.models_text})" * several for place,
                metrics in self.metrics_by_best_temperature.items()
            ],
            "significant": significant, "leads": len(verdicts),
            "which": _count_of_total_text(significant, len(verdicts), "lead"),
            "verb": 1 if len(verdicts) == 1 else max(significant, 1),
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        yield self.study.sizes_text(self.estimates)
        level = f"{100 * self.study.confidence.level:g}"
        yield (
            f"{level} % intervals,"
            f" {self.lead_adjustment.words.removesuffix(' and their intervals')}"
        )
        if not all(v.has_significant_lead for v in self.verdicts_of_shown_metrics):
            yield "~: not significant"

    def full_footer_parts(self) -> Iterator[str]:
        confidence = self.study.confidence
        yield confidence.words(
            confidence.for_differences().with_methods_used(self.lead_adjustment.interval_methods)
        )
        yield f"leads of the table: {self.lead_adjustment.words}, paired by task"
        if self.other_tests_adjustment.comparisons:
            yield f"all other tests: {self.other_tests_adjustment.words}"
        yield self.lead_adjustment.test_words

    def messages(self) -> Iterator[Diagnostic]:
        yield from self.study.messages(self.estimates)
        tasks: dict[SeriesKey, set[int]] = {}
        for fact in self.estimates:
            fact_tasks = fact.values.tasks.tolist() if fact.values else ()
            tasks.setdefault(without_temperature(fact.series), set()).update(fact_tasks)
        parts = []
        for series, verdicts in self.records:
            shared = min(
                len(on_shared_tasks(v.task_values_of_ranked_temperatures)[0].tasks)
                for v in verdicts.values()
            )
            if shared < len(tasks[series]):
                parts.append(f"{SeriesName(series)} {shared:,} of {len(tasks[series]):,}")
        if parts:
            yield SHARED_TASKS_ONLY_WARNING(parts=parts)
        unequal = [
            SeriesName(series)
            for series, verdicts in self.records
            if any(None in v.first_place_shares.values() for v in verdicts.values())
        ]
        if unequal:
            yield UNEQUAL_ATTEMPTS_NOTE(models=unequal)
        if lone := tasks.keys() - {series for series, _ in self.records}:
            yield INCOMPARABLE_TEMPERATURES_NOTE(models=[SeriesName(m) for m in tasks if m in lone])
        if (
            fields := self.lead_adjustment.interval_disagreement_fields
            or self.other_tests_adjustment.interval_disagreement_fields
        ):
            yield INTERVALS_DISAGREE_WITH_VERDICTS(**fields)

    def plots(self) -> tuple[Plot, ...]:
        facts, metrics = self.estimates, self.study.metrics
        several = len({without_temperature(fact.series) for fact in facts}) > 1
        rows = [
            fact.chart_point(
                "estimate", temperature=float(fact.series[1]), metric=fact.name,
                model=SeriesName(without_temperature(fact.series)),
                panel=SeriesName(without_temperature(fact.series)),
            )
            for fact in facts
        ]  # fmt: skip
        names = ", ".join(dict.fromkeys(f"{metric.family}k" for metric in metrics))
        chart = curves(
            rows, x="temperature", y="estimate", low="low", high="high", colour="model",
            dash="metric", facet="panel" if several else "",
            marked={row["temperature"] for row in rows}, title=f"{names} by temperature",
            subtitle=" · ".join(self.study.sizes_and_intervals_text(facts)),
            x_title="temperature", y_title=names,
            y_domain=(0.0, 1.0) if all(m.unit == "share" for m in metrics) else None,
        )  # fmt: skip
        return (chart,)


def _count_of_total_text(count: int, total: int, noun: str) -> str:
    """A count in words, for example "all 4 models", "3 of 4 models" or "no lead"."""
    if count == 0:
        return f"no {noun}"
    if count < total:
        return f"{count} of {total} {noun}s"
    return f"the {noun}" if total == 1 else all_in_words(plural(total, noun))


class ByTemperatureTable(SeriesMetricTable):
    """The estimates of each model at each temperature, and how often the temperature is first."""

    title = "Estimates by temperature"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN, METRIC_VALUES_COLUMN,
        Column("first in resamples: {0.name}", "share", meaning=_FIRST_IN_RESAMPLES_MEANING,
               cell_of_record=lambda row, number:
               row.result_by_name[number.name].extra_fields["leads"],
               repeated_items=lambda section: section.metric_columns,
               example=MetricColumnItem("METRIC", "", "share")),
    )  # fmt: skip


@dataclass(frozen=True)
class BestTemperatureLeadTable(ReportSection[BestTemperatureVerdict]):
    """One row per model and metric: the best temperature T*, and the lead over the second-best."""

    title = "Best temperature T*, and its difference to the next best"
    visibility = FULL
    columns = (
        MODEL_COLUMN, _NON_TEMPERATURE_GROUPS_COLUMN,
        Column("metric", meaning="The metric.", cell_of_record=lambda v: v.lead_over_second.name),
        Column("T*", meaning="Temperature with the highest estimate on the tasks that all"
               " temperatures share. If estimates are equal, the lowest temperature is shown.",
               cell_of_record=lambda v: series_temperature_text(
                   v.task_values_of_ranked_temperatures[0])),
        Column("first in resamples", "share", meaning=_FIRST_IN_RESAMPLES_MEANING,
               cell_of_record=lambda v: v.first_place_shares[
                   v.task_values_of_ranked_temperatures[0].series]),
        Column("next", meaning="The second-best temperature.",
               cell_of_record=lambda v: series_temperature_text(
                   v.task_values_of_ranked_temperatures[1])),
        Column("difference", "share", True, meaning="T* minus the next best temperature.",
               cell_of_record=lambda v: v.lead_over_second.estimate),
        Column("p", "p", True, meaning="p-value, adjusted for the number of leads in the first"
               " table. At other k's, it is adjusted for the number of all other tests.",
               cell_of_record=lambda v: v.lead_over_second.p_adjusted),
        Column("tied with T*", meaning="Temperatures that are not significantly worse than T*.",
               cell_of_record=lambda v: ", ".join(v.tied_temperatures)),
    )  # fmt: skip
    comparisons: Sequence[Comparison]

    def results(self) -> list[Result]:
        facts = []
        for c in self.comparisons:
            same = without_temperature(c.first.series) == without_temperature(c.second.series)
            kind, temperature = (
                "temperatures" if same else "models",
                series_temperature_text(c.second),
            )
            facts.append(
                c.result(self.study.confidence, fact=kind, temperature_against=temperature)
            )
        return facts


class PowerLawTable(ReportSection[BestTemperaturePowerLaw]):
    """The power law T* = factor · k^exponent of each model, or the reason why there is none."""

    title = "T* = factor · k^exponent"
    visibility = FULL
    columns = (
        MODEL_COLUMN, _NON_TEMPERATURE_GROUPS_COLUMN,
        Column("exponent", "number", meaning="Exponent of k: the slope of log T* over log k.",
               cell_of_record=lambda law: law.exponent.estimate.value),
        Column("low", "number", True, meaning="Lower limit of the exponent, from resampled tasks.",
               cell_of_record=lambda law: law.exponent.estimate.low),
        Column("high", "number", True, meaning="Upper limit of the exponent, from resampled tasks.",
               cell_of_record=lambda law: law.exponent.estimate.high),
        Column("factor", "number", meaning="T* at k = 1.",
               cell_of_record=lambda law: law.exponent.extra_fields["factor"]),
        Column("T* takes", meaning="The temperatures that are best at some k.",
               cell_of_record=lambda law: ", ".join(law.temperatures_best_at_some_k)),
        Column("k up to", "count", meaning="Largest k.", cell_of_record=lambda law: law.k_max),
        Column("reason", meaning="Why there is no power law, or no interval.",
               cell_of_record=lambda law: law.exponent.estimate.reason),
    )  # fmt: skip

    def results_of(self, record: BestTemperaturePowerLaw) -> tuple[Result]:
        return (record.exponent,)


class ModelPairVerdictRow(NamedTuple):
    """The temperatures and metrics at which a model is better than, or tied with, a rival."""

    series: SeriesKey
    verdict: str
    rival: str
    temperatures_of_verdict_text: str


@dataclass(frozen=True)
class ModelPairTable(ReportSection[ModelPairVerdictRow]):
    """Comparisons of two models at each temperature, and at the best temperature of each model."""

    title = "Models against each other (own T*: each at its best temperature)"
    visibility = FULL
    columns = (
        MODEL_COLUMN,
        Column("verdict", meaning="Better means significantly better. The p-values are adjusted for"
               " the number of all tests except the leads.",
               cell_of_record=lambda row: row.verdict),
        Column("other model", meaning="The second model of the comparison.",
               cell_of_record=lambda row: row.rival),
        _NON_TEMPERATURE_GROUPS_COLUMN,
        Column("at", meaning="Temperatures and metrics with this verdict.",
               cell_of_record=lambda row: row.temperatures_of_verdict_text),
    )  # fmt: skip
    model_comparisons: Sequence[ModelPairAcrossTemperatures]

    def messages(self) -> Iterator[Diagnostic]:
        if flips := [lead for lead in self.model_comparisons if lead.has_rank_flip]:
            places = partial(
                _where_verdict_holds_text,
                flips[0],
                plain=_are_all_pass_at_k(self.study.metrics),
                with_best=False,
            )
            yield RANK_FLIP_NOTE(
                first=SeriesName(flips[0].first), second=SeriesName(flips[0].second),
                where=places(BETTER), elsewhere=places(WORSE), more=len(flips) - 1,
            )  # fmt: skip
        yield from lacking_tasks_message(self.study.counts)


def _where_verdict_holds_text(
    lead: ModelPairAcrossTemperatures, verdict: str, *, plain: bool, with_best: bool = True
) -> str:
    """The temperatures and k's of a verdict, for example "T 0.2, 0.8 (k = 1, 10)"."""
    ks_of = group_pairs((series_temperature_text(c.first),
        _short_metric_name(c.first.metric, plain))
                     for c in lead.at_equal_temperatures if c.verdict == verdict)  # fmt: skip
    same = group_pairs((", ".join(ks), temperature) for temperature, ks in ks_of.items())
    where = {ks: f"T {', '.join(temperatures)}" for ks, temperatures in same.items()}
    own_ks = ", ".join(
        _short_metric_name(m, plain)
        for m, c in lead.at_best_temperatures.items()
        if c.verdict == verdict
    )
    if with_best and own_ks:
        where[own_ks] = " and own T*".join((where[own_ks], "")) if own_ks in where else "own T*"
    k = "k = " if plain else ""
    return ", ".join(f"{temperatures} ({k}{ks})" for ks, temperatures in where.items())


def _metrics_at_extreme_k(metrics: Sequence[Metric]) -> list[Metric]:
    families = [
        [candidate for candidate in metrics if candidate.family == m.family] for m in metrics
    ]
    return list(dict.fromkeys(
        end(family, key=lambda metric: metric.k or 0) for family in families for end in (min, max)
    ))  # fmt: skip


def _are_all_pass_at_k(metrics: Sequence[Metric]) -> bool:
    return all(metric.family == "pass@" for metric in metrics)


def _short_metric_name(metric: Metric, plain: bool) -> str:
    return str(metric.k) if plain else metric.name


def parse_toy_task_families(value: Any) -> tuple[str, ...]:
    """Parse families of toy tasks such as "gaussian,power-law"."""
    families = split_at_commas(value)
    for family in families:
        if family not in TASK_FAMILIES:
            problem = f"the toy model has no family named {family!r};"
            problem += f" {did_you_mean_or_list(family, TASK_FAMILIES)}"
            raise ParameterError(OptionWithValue("--toy", ",".join(families)), problem)
    return families


class TemperatureRunner(CommandRunner, TemperatureOptions):
    sections = (BestTemperatureTable, ByTemperatureTable, BestTemperatureLeadTable, PowerLawTable,
                ModelPairTable, *toy.SECTIONS)  # fmt: skip

    missing_bounds_refusal: ClassVar[str] = (
        "the true best temperature may differ from the best temperatures in the two extreme cases,"
        " in which all missing outcomes fail or all pass"
    )

    def report_without_data(self, options: SharedOptions) -> Report | None:
        """The report of the toy model, or a ParameterError if options contradict the model."""
        options_set = changed_option_names(self)
        needless = ["[FILE...]"] * options.has_data + ["--temperature"] * (
            "--temperature" in options_set
        )
        for group in (
            options.request,
            options.comparison_options,
            options.confidence,
            options.metric_options,
        ):
            needless += changed_option_names(group)
        toy_options = [name for name in options_set if name not in ("-k", "--temperature")]
        away = SuggestedFix({name: None for name in needless if name.startswith("-")})
        raise_parameter_error_if_any(
            "contradicting-options",
            (not self.toy and toy_options, OptionWithValue(next(iter(toy_options), "")),
             "this option is only for the toy model",
             (SuggestedFix(dict.fromkeys(toy_options)) if options.has_data else _TOY_MODEL_FIX,)),
            (self.toy and needless, "",
             "the toy model computes only pass@k, without data and without resampling", (away,)),
            (self.toy and self.gamma is not None and "power-law" not in self.toy,
             OptionWithValue("--gamma"), "this option is only for the family power-law",
             (SuggestedFix({"--gamma": None}),)),
            (self.toy and self.fit and (self.spread or self.k), "",
             "the fit uses the k's and spreads of the article",
             (SuggestedFix({"-k": None, "--spread": None}),)),
        )  # fmt: skip
        if not self.toy:
            raise_parameter_error_if_any(
                "no-files",
                (not options.has_data, "", "no FILE; give result files", (_TOY_MODEL_FIX,)),
            )
            return None
        gamma = toy.DEFAULT_GAMMA if self.gamma is None else self.gamma
        if self.fit:
            return toy.fit_report(self.toy, gamma)
        spreads, ks = self.spread or toy.DEFAULT_SPREADS, self.k or toy.DEFAULT_KS
        return toy.toy_report(self.toy, spreads, gamma, ks)

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        metrics = options.metric_options.choose(counts)
        return tuple(
            m for m in metrics if m.family == "pass@" or m in options.metric_options.metrics
        )

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        confidence = options.confidence.require_intervals()
        options = replace(options, metric_options=replace(options.metric_options, k=self.k))
        request = self.request(options)
        first, *further = (
            TEMPERATURE_COLUMN_NAMES if self.temperature is None else (self.temperature,)
        )
        other_groups = tuple(name for name in request.by if name not in (first, *further))
        column = first
        try:
            counts = read(replace(request, by=(*other_groups, column)))
        except DataError as error:
            # passk cannot read a pipe twice, so it tries only one temperature column for a pipe.
            if (
                not further
                or options.is_readable_only_once
                or error.problem != f"no column {first!r}"
            ):
                raise
            [column] = further
            try:
                counts = read(replace(request, by=(*other_groups, column)))
            except DataError as again:
                if again.problem != f"no column {column!r}":
                    raise
                settles = [
                    SuggestedFix({"--temperature": s.options["--by"]}) if "--by" in s.options else s
                    for s in error.fixes or again.fixes
                ]
                raise error.with_changes(type(error), settles=settles) from None
        counts = regrouped_by_temperature(counts, column)
        return Analysis(
            counts, self.selected_metrics(options, counts), confidence,
            replace(options.comparison_options, family=ALL), options.metric_options.short_tasks,
            signature_entries={} if column == TEMPERATURE_COLUMN_NAME else {"temperature": column},
        )  # fmt: skip

    def report(self, study: Analysis) -> Report:
        metrics = _metrics_at_extreme_k(study.metrics)
        facts, compared, verdicts, leads, power_law_fits = analyze_temperatures(study, metrics)
        confidence, plain = study.confidence, _are_all_pass_at_k(study.metrics)
        adjustment, other_tests = (
            Adjustment(family, confidence.level, study.comparison_options)
            for family in ([c for c in compared if c.family != SECONDARY_TEST_FAMILY],
                           [c for c in compared if c.family == SECONDARY_TEST_FAMILY])
        )  # fmt: skip
        method = (
            confidence.for_differences()
            .with_methods_used([*adjustment.interval_methods, *other_tests.interval_methods])
            .method_name
        )
        superiorities = [
            ModelPairVerdictRow((model[0], *lead.first[1:]), sign, rival[0], where)
            for lead in leads
            for model, sign, rival, verdict in (
                (lead.first, "better than", lead.second, BETTER),
                (lead.second, "better than", lead.first, WORSE),
                (lead.first, "tied with", lead.second, TIED),
            )
            if (where := _where_verdict_holds_text(lead, verdict, plain=plain))
        ]
        choices: dict[SeriesKey, dict[str, BestTemperatureVerdict]] = {}
        for v in verdicts:
            choices.setdefault(v.series, {})[v.lead_over_second.name] = v
        best = [BestTemperatureRow(*model_choices) for model_choices in choices.items()]
        sections: list[ReportSection[Any]] = [
            BestTemperatureTable(study, best, facts, adjustment, other_tests, metrics),
            ByTemperatureTable(study, rows_by_series(facts)),
            BestTemperatureLeadTable(study, verdicts, compared),
            PowerLawTable(study, power_law_fits),
            ModelPairTable(study, superiorities, leads),
        ]  # fmt: skip
        return build_report(
            study, sections, differences=None if method == confidence.method else method,
            messages=(), resamples=confidence.resamples, seed=confidence.seed,
            **adjustment.signature,
        )  # fmt: skip
