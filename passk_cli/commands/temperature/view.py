"""The best temperature at each k: the table, the answer, messages and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

from passk_cli.arrays import group_pairs
from passk_cli.commands.question import Question, ReadCounts, SharedOptions
from passk_cli.commands.temperature import TemperatureOptions, toy
from passk_cli.commands.temperature.temperatures import (
    TEMPERATURE,
    BestTemperaturePowerLaw,
    ModelComparison,
    TemperatureVerdict,
    analyze_temperatures,
    regrouped_by_temperature,
    temperature_text,
    without_temperature,
)
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.distributions.toy_model import FAMILIES
from passk_cli.errors import DataError, ParameterError, refuse_if_any
from passk_cli.files.sources.paths import TEMPERATURE_NAMES
from passk_cli.metrics.registry import Metric
from passk_cli.option import changed_options, split_at_commas
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Cell, Column, Estimate, Phrase, Report
from passk_cli.report.phrases import SeriesName, all_in_words, plural
from passk_cli.report.plot import Plot, curves
from passk_cli.study.adjustment import VERDICT_DISAGREEMENT, Adjustment
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.comparison import Comparison
from passk_cli.study.data_notes import lacking_tasks_message
from passk_cli.study.pairwise_tests import BETTER, TIED, WORSE
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUPS,
    MODEL,
    NUMBER,
    NumberColumn,
    NumberTable,
    Section,
    build_report,
    data_field,
    rows_by_series,
)
from passk_cli.study.significance_options import ALL, SECONDARY
from passk_cli.study.values import Series, on_shared_tasks
from passk_cli.suggested_fix import OptionValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

NO_BEST_TEMPERATURE = DiagnosticType(
    "no-best-temperature", NOTE,
    "there is no best temperature for {models}, because no two temperatures share tasks",
    meaning="passk chooses the best temperature of a model on the tasks that all its temperatures"
    " share. A model without a best temperature has only one temperature, or its temperatures share"
    " no task.",
    why="The table of best temperatures has no row for a model without a best temperature.",
    advice="Run the model at a second temperature on the same tasks.",
    example="note[no-best-temperature]: there is no best temperature for beta, because no two"
    " temperatures share tasks",
)  # fmt: skip
PART_OF_TASKS = DiagnosticType(
    "best-on-part-of-tasks", WARNING,
    "best temperatures use only the tasks that all temperatures share: {parts}",
    meaning="A task without attempts at some temperature cannot show which temperature is best."
    " passk ignores such a task when it chooses the best temperature. The estimates of `--full` use"
    " all tasks of each temperature.",
    why="Another temperature may be best for all tasks together.",
    advice="Run all tasks at all temperatures.",
    example="warning[best-on-part-of-tasks]: best temperatures use only the tasks that all"
    " temperatures share: alpha 90 of 120",
)  # fmt: skip
UNEQUAL_TEMPERATURES = DiagnosticType(
    "unequal-temperatures", NOTE,
    'the column "first in resamples" is empty for {models}, because the number of attempts differs'
    " between temperatures",
    meaning="With more attempts, pass@k has more possible values and fewer ties. A temperature"
    " with more attempts may therefore be first in too many or too few resamples.",
    why="The share of resamples would compare numbers of attempts, not temperatures. Differences"
    " and their tests are valid for unequal numbers of attempts.",
    advice="Use the differences and their tests, or make the same number of attempts at each"
    " temperature.",
    example='note[unequal-temperatures]: the column "first in resamples" is empty for alpha,'
    " because the number of attempts differs between temperatures",
)  # fmt: skip
RANK_FLIP = DiagnosticType(
    "rank-flip", NOTE,
    "{first} is significantly better than {second} at {where}, and significantly worse at"
    " {elsewhere}{?more|; the order of {more:more pair} of models also changes}",
    meaning="Each of the two models is significantly better at some temperature and k.",
    why="Which model is better depends on k and on the temperature.",
    advice="Compare the models at the k and the temperature that you will use. `--full` shows all"
    " pairs.",
    example="note[rank-flip]: alpha is significantly better than beta at T 0.2 (k = 1), and"
    " significantly worse at T 0.8 (k = 10)",
)  # fmt: skip

_FIRST = (
    "Share of the resamples of the tasks in which this temperature is first. Ties are split. This"
    " share is neither a test nor the probability of being the best temperature."
)
_GROUPS = replace(GROUPS, across=lambda section: enumerate(section.study.counts.group_names[1:]))
_TOY = SuggestedFix({"--toy": "gaussian"}, "shows the toy model")


class BestTemperatureRow(NamedTuple):
    """The best temperatures of one model, with one verdict per metric name."""

    series: Series
    verdicts: dict[str, TemperatureVerdict]


class BestColumn(NamedTuple):
    """A table column for one metric: the best temperature, or its lead over the second-best."""

    header: str
    meaning: str
    metric: Metric
    kind: str

    def cell(self, choice: BestTemperatureRow) -> Cell:
        v = choice.verdicts.get(self.metric.name)
        if v is None:
            return Estimate(None, reason="no two temperatures have this metric")
        if self.kind == "share":
            return replace(v.lead.estimate, verdict="" if v.leads else "~")
        value = Estimate(v.ranked[0].mean, unit=self.metric.unit)
        return Phrase((value, f" at {', '.join(v.best)}"))


class MostFrequentBest(NamedTuple):
    """The temperatures that are best for most models, and the number of these models."""

    temperatures: tuple[str, ...]
    number: int
    total: int

    @property
    def models(self) -> str:
        """The number of models in words, for example "all 4 models" or "3 of 4 models"."""
        return _count_of_total_text(self.number, self.total, "model")


_SIGNIFICANT = "; {which} {verb:is|are} significant."


@dataclass(frozen=True)
class BestTemperatureTable(Section[BestTemperatureRow]):
    """One row per model: the best temperature at the smallest and at the largest k."""

    columns = (
        MODEL, _GROUPS,
        Column("{0.header}", meaning="{0.meaning}", cell=lambda choice, part: part.cell(choice),
               across=lambda section: section.parts, units=lambda section, part: part.kind,
               example=BestColumn(
                   "METRIC: best", 'The highest estimate and its temperature. The column "ahead by"'
                   " contains the difference to the second-best temperature.", Metric("pass@", 1),
                   "text")),
        data_field("fact", "Kind of row: estimate, temperatures (two temperatures of one model),"
                   " models (two models), power law, or, with --fit, regression or point."),
        data_field("leads", _FIRST),
        data_field("test", "Test of the difference."),
        data_field("adjustment", "Adjustment of p for the number of tests."),
        data_field("temperature_against", "Second temperature of the comparison."),
        data_field("factor", "T* at k = 1, if the row is a power law."),
    )  # fmt: skip
    estimates: Sequence[Result]
    adjustment: Adjustment
    other_tests: Adjustment
    metrics: Sequence[Metric]

    @property
    def parts(self) -> Iterator[BestColumn]:
        """Two columns per metric: the best temperature, and its lead."""
        ahead = (
            "Difference between T* and the second-best temperature. The intervals are simultaneous"
            " for all leads of the table. A ~ marks a difference that is not significant."
        )
        for metric in self.metrics:
            best = "The highest estimate and the temperature T* that has it."
            yield BestColumn(f"{metric.name}: best", best, metric, "text")
            yield BestColumn("ahead by", ahead, metric, "share")

    @property
    def table_verdicts(self) -> list[TemperatureVerdict]:
        names = [metric.name for metric in self.metrics]
        return [
            choice.verdicts[n] for n in names for choice in self.records if n in choice.verdicts
        ]

    answers = (
        Answer("best-temperature", lambda section: len(section.places) == 1,
               "T {best:and} {count:is|are} best at {?plain|k = }{metrics:and}"
               "{?models| for {models}}" + _SIGNIFICANT),
        Answer("two-best-temperatures", lambda section: section.two_are_best,
               "T {best:and} {count:is|are} best at {?plain|k = }{metrics:and} and T {second} at"
               " {?plain|k = }{second_metrics:and}{?models| for {models}}" + _SIGNIFICANT),
        Answer("best-temperatures", lambda _: True,
               "Best temperatures: {places}" + _SIGNIFICANT),
    )  # fmt: skip

    @cached_property
    def places(self) -> dict[MostFrequentBest, list[str]]:
        """For each metric, the temperatures that are best for most models."""
        places: dict[MostFrequentBest, list[str]] = {}
        for metric in self.metrics:
            verdicts = [v for v in self.table_verdicts if v.lead.name == metric.name]
            if best := [tuple(v.best) for v in verdicts]:
                most = max(best, key=best.count)
                place = MostFrequentBest(most, best.count(most), len(best))
                places.setdefault(place, []).append(_short_name(metric, _all_pass(self.metrics)))
        return places

    @property
    def two_are_best(self) -> bool:
        """Whether two temperatures are best, for the same number of models."""
        return len(self.places) == 2 and len({place[1:] for place in self.places}) == 1

    @property
    def fields(self) -> Mapping[str, Any]:
        """The best temperatures with their metrics and models, and the significant leads."""
        first, *other_places = self.places
        verdicts, plain = self.table_verdicts, _all_pass(self.metrics)
        significant = sum(v.leads for v in verdicts)
        several = len(self.records) > 1
        return {
            "best": list(first.temperatures), "count": len(first.temperatures), "plain": plain,
            "metrics": self.places[first], "models": first.models if several else "",
            "second": " or ".join(other_places[0].temperatures) if other_places else "",
            "second_metrics": self.places[other_places[0]] if other_places else [],
            "places": [
                f"{' or '.join(place.temperatures)} at {'k = ' * plain}{', '.join(metrics)}"
                + f" ({place.models})" * several for place, metrics in self.places.items()
            ],
            "significant": significant, "leads": len(verdicts),
            "which": _count_of_total_text(significant, len(verdicts), "lead"),
            "verb": 1 if len(verdicts) == 1 else max(significant, 1),
        }  # fmt: skip

    def context(self) -> Iterator[str]:
        yield self.study.sizes(self.estimates)
        level = f"{100 * self.study.confidence.level:g}"
        yield f"{level} % intervals, {self.adjustment.words.removesuffix(' and their intervals')}"
        if not all(v.leads for v in self.table_verdicts):
            yield "~: not significant"

    def details(self) -> Iterator[str]:
        confidence = self.study.confidence
        yield confidence.words(
            confidence.for_differences().with_methods_used(self.adjustment.methods)
        )
        yield f"leads of the table: {self.adjustment.words}, paired by task"
        if self.other_tests.comparisons:
            yield f"all other tests: {self.other_tests.words}"
        yield self.adjustment.test_words

    def messages(self) -> Iterator[Diagnostic]:
        yield from self.study.messages(self.estimates)
        tasks: dict[Series, set[int]] = {}
        for fact in self.estimates:
            fact_tasks = fact.values.tasks.tolist() if fact.values else ()
            tasks.setdefault(without_temperature(fact.series), set()).update(fact_tasks)
        parts = []
        for series, verdicts in self.records:
            shared = min(len(on_shared_tasks(v.ranked)[0].tasks) for v in verdicts.values())
            if shared < len(tasks[series]):
                parts.append(f"{SeriesName(series)} {shared:,} of {len(tasks[series]):,}")
        if parts:
            yield PART_OF_TASKS(parts=parts)
        unequal = [
            SeriesName(series)
            for series, verdicts in self.records
            if any(None in v.shares.values() for v in verdicts.values())
        ]
        if unequal:
            yield UNEQUAL_TEMPERATURES(models=unequal)
        if lone := tasks.keys() - {series for series, _ in self.records}:
            yield NO_BEST_TEMPERATURE(models=[SeriesName(m) for m in tasks if m in lone])
        if fields := self.adjustment.disagreement_fields or self.other_tests.disagreement_fields:
            yield VERDICT_DISAGREEMENT(**fields)

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


class ByTemperatureTable(NumberTable):
    """The estimates of each model at each temperature, and how often the temperature is first."""

    title = "Estimates by temperature"
    shown = FULL
    columns = (
        MODEL, GROUPS, NUMBER,
        Column("first in resamples: {0.name}", "share", meaning=_FIRST,
               cell=lambda row, number: row.numbers[number.name].more["leads"],
               across=lambda section: section.numbers,
               example=NumberColumn("METRIC", "", "share")),
    )  # fmt: skip


@dataclass(frozen=True)
class TemperatureLeadTable(Section[TemperatureVerdict]):
    """The best temperature T* per model and metric, and the lead over the second-best."""

    title = "Best temperature T*, and its difference to the next best"
    shown = FULL
    columns = (
        MODEL, _GROUPS,
        Column("metric", meaning="The metric.", cell=lambda v: v.lead.name),
        Column("T*", meaning="Temperature with the highest estimate on the tasks that all"
               " temperatures share. If estimates are equal, the lowest temperature is shown.",
               cell=lambda v: temperature_text(v.ranked[0])),
        Column("first in resamples", "share", meaning=_FIRST,
               cell=lambda v: v.shares[v.ranked[0].series]),
        Column("next", meaning="The second-best temperature.",
               cell=lambda v: temperature_text(v.ranked[1])),
        Column("difference", "share", True, meaning="T* minus the next best temperature.",
               cell=lambda v: v.lead.estimate),
        Column("p", "p", True, meaning="p-value, adjusted for the number of leads in the first"
               " table. At other k's, it is adjusted for the number of all other tests.",
               cell=lambda v: v.lead.p_adjusted),
        Column("tied with T*", meaning="Temperatures that are not significantly worse than T*.",
               cell=lambda v: ", ".join(v.ties)),
    )  # fmt: skip
    compared: Sequence[Comparison]

    def facts(self) -> list[Result]:
        facts = []
        for c in self.compared:
            same = without_temperature(c.first.series) == without_temperature(c.second.series)
            kind, temperature = "temperatures" if same else "models", temperature_text(c.second)
            facts.append(
                c.result(self.study.confidence, fact=kind, temperature_against=temperature)
            )
        return facts


class PowerLawTable(Section[BestTemperaturePowerLaw]):
    """The power law T* = factor · k^exponent of each model, or the reason why there is none."""

    title = "T* = factor · k^exponent"
    shown = FULL
    columns = (
        MODEL, _GROUPS,
        Column("exponent", "number", meaning="Exponent of k: the slope of log T* over log k.",
               cell=lambda law: law.exponent.estimate.value),
        Column("low", "number", True, meaning="Lower limit of the exponent, from resampled tasks.",
               cell=lambda law: law.exponent.estimate.low),
        Column("high", "number", True, meaning="Upper limit of the exponent, from resampled tasks.",
               cell=lambda law: law.exponent.estimate.high),
        Column("factor", "number", meaning="T* at k = 1.",
               cell=lambda law: law.exponent.more["factor"]),
        Column("T* takes", meaning="The temperatures that are best at some k.",
               cell=lambda law: ", ".join(law.best)),
        Column("k up to", "count", meaning="Largest k.", cell=lambda law: law.k_max),
        Column("reason", meaning="Why there is no power law, or no interval.",
               cell=lambda law: law.exponent.estimate.reason),
    )  # fmt: skip

    def facts_of(self, record: BestTemperaturePowerLaw) -> tuple[Result]:
        return (record.exponent,)


class ModelVerdictRow(NamedTuple):
    """The temperatures and metrics at which a model is better than, or tied with, a rival."""

    series: Series
    verdict: str
    rival: str
    where: str


@dataclass(frozen=True)
class ModelPairTable(Section[ModelVerdictRow]):
    """Comparisons of two models at each temperature, and at the best temperature of each model."""

    title = "Models against each other (own T*: each at its best temperature)"
    shown = FULL
    columns = (
        MODEL,
        Column("verdict", meaning="Better means significantly better. The p-values are adjusted for"
               " the number of all tests except the leads.",
               cell=lambda row: row.verdict),
        Column("other model", meaning="The second model of the comparison.",
               cell=lambda row: row.rival),
        _GROUPS,
        Column("at", meaning="Temperatures and metrics with this verdict.",
               cell=lambda row: row.where),
    )  # fmt: skip
    leads: Sequence[ModelComparison]

    def messages(self) -> Iterator[Diagnostic]:
        if flips := [lead for lead in self.leads if lead.flips]:
            places = partial(
                _places_text, flips[0], plain=_all_pass(self.study.metrics), with_best=False
            )
            yield RANK_FLIP(
                first=SeriesName(flips[0].first), second=SeriesName(flips[0].second),
                where=places(BETTER), elsewhere=places(WORSE), more=len(flips) - 1,
            )  # fmt: skip
        yield from lacking_tasks_message(self.study.counts)


def _places_text(
    lead: ModelComparison, verdict: str, *, plain: bool, with_best: bool = True
) -> str:
    """The temperatures and k's of a verdict, for example "T 0.2, 0.8 (k = 1, 10)"."""
    ks_of = group_pairs((temperature_text(c.first), _short_name(c.first.metric, plain))
                     for c in lead.at_equal if c.verdict == verdict)  # fmt: skip
    same = group_pairs((", ".join(ks), temperature) for temperature, ks in ks_of.items())
    where = {ks: f"T {', '.join(temperatures)}" for ks, temperatures in same.items()}
    own_ks = ", ".join(
        _short_name(m, plain) for m, c in lead.at_best.items() if c.verdict == verdict
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


def _all_pass(metrics: Sequence[Metric]) -> bool:
    return all(metric.family == "pass@" for metric in metrics)


def _short_name(metric: Metric, plain: bool) -> str:
    return str(metric.k) if plain else metric.name


def parse_families(value: Any) -> tuple[str, ...]:
    """Parse families of toy tasks such as "gaussian,power-law"."""
    families = split_at_commas(value)
    for family in families:
        if family not in FAMILIES:
            problem = f"the toy model has no family named {family!r};"
            problem += f" {did_you_mean_or_list(family, FAMILIES)}"
            raise ParameterError(OptionValue("--toy", ",".join(families)), problem)
    return families


class TemperatureQuestion(Question, TemperatureOptions):
    sections = (BestTemperatureTable, ByTemperatureTable, TemperatureLeadTable, PowerLawTable,
                ModelPairTable, *toy.SECTIONS)  # fmt: skip

    unbounded: ClassVar[str] = (
        "the true best temperature may differ from the best temperatures in the two extreme cases,"
        " in which all missing outcomes fail or all pass"
    )

    def report_without_data(self, options: SharedOptions) -> Report | None:
        """The report of the toy model; a ParameterError if options contradict the toy model."""
        options_set = changed_options(self)
        needless = ["[FILE...]"] * options.has_data + ["--temperature"] * (
            "--temperature" in options_set
        )
        for group in (options.request, options.rules, options.confidence, options.metrics):
            needless += changed_options(group)
        toy_options = [name for name in options_set if name not in ("-k", "--temperature")]
        away = SuggestedFix({name: None for name in needless if name.startswith("-")})
        refuse_if_any(
            "contradicting-options",
            (not self.toy and toy_options, OptionValue(next(iter(toy_options), "")),
             "this option is only for the toy model",
             (SuggestedFix(dict.fromkeys(toy_options)) if options.has_data else _TOY,)),
            (self.toy and needless, "",
             "the toy model computes only pass@k, without data and without resampling", (away,)),
            (self.toy and self.gamma is not None and "power-law" not in self.toy,
             OptionValue("--gamma"), "this option is only for the family power-law",
             (SuggestedFix({"--gamma": None}),)),
            (self.toy and self.fit and (self.spread or self.k), "",
             "the fit uses the k's and spreads of the article",
             (SuggestedFix({"-k": None, "--spread": None}),)),
        )  # fmt: skip
        if not self.toy:
            refuse_if_any(
                "no-files", (not options.has_data, "", "no FILE; give result files", (_TOY,))
            )
            return None
        gamma = toy.DEFAULT_GAMMA if self.gamma is None else self.gamma
        if self.fit:
            return toy.fit_report(self.toy, gamma)
        spreads, ks = self.spread or toy.DEFAULT_SPREADS, self.k or toy.DEFAULT_KS
        return toy.toy_report(self.toy, spreads, gamma, ks)

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        metrics = options.metrics.choose(counts)
        return tuple(m for m in metrics if m.family == "pass@" or m in options.metrics.metrics)

    def study(self, options: SharedOptions, read: ReadCounts) -> Analysis:
        confidence = options.confidence.require_intervals()
        options = replace(options, metrics=replace(options.metrics, k=self.k))
        request = self.request(options)
        first, *further = TEMPERATURE_NAMES if self.temperature is None else (self.temperature,)
        other_groups = tuple(name for name in request.by if name not in (first, *further))
        column = first
        try:
            counts = read(replace(request, by=(*other_groups, column)))
        except DataError as error:
            # A pipe cannot be read a second time, so passk tries only one column as the
            # temperature.
            if not further or options.read_once or error.problem != f"no column {first!r}":
                raise
            [column] = further
            try:
                counts = read(replace(request, by=(*other_groups, column)))
            except DataError as again:
                if again.problem != f"no column {column!r}":
                    raise
                settles = [
                    SuggestedFix({"--temperature": s.options["--by"]}) if "--by" in s.options else s
                    for s in error.settles or again.settles
                ]
                raise error.with_changes(type(error), settles=settles) from None
        counts = regrouped_by_temperature(counts, column)
        return Analysis(
            counts, self.metrics_of(options, counts), confidence,
            replace(options.rules, family=ALL), options.metrics.short_tasks,
            decided={} if column == TEMPERATURE else {"temperature": column},
        )  # fmt: skip

    def report(self, study: Analysis) -> Report:
        metrics = _metrics_at_extreme_k(study.metrics)
        facts, compared, verdicts, leads, power_law_fits = analyze_temperatures(study, metrics)
        confidence, plain = study.confidence, _all_pass(study.metrics)
        adjustment, other_tests = (
            Adjustment(family, confidence.level, study.rules)
            for family in ([c for c in compared if c.family != SECONDARY],
                           [c for c in compared if c.family == SECONDARY])
        )  # fmt: skip
        method = (
            confidence.for_differences()
            .with_methods_used([*adjustment.methods, *other_tests.methods])
            .method_name
        )
        superiorities = [
            ModelVerdictRow((model[0], *lead.first[1:]), sign, rival[0], where)
            for lead in leads
            for model, sign, rival, verdict in (
                (lead.first, "better than", lead.second, BETTER),
                (lead.second, "better than", lead.first, WORSE),
                (lead.first, "tied with", lead.second, TIED),
            )
            if (where := _places_text(lead, verdict, plain=plain))
        ]
        choices: dict[Series, dict[str, TemperatureVerdict]] = {}
        for v in verdicts:
            choices.setdefault(v.series, {})[v.lead.name] = v
        best = [BestTemperatureRow(*model_choices) for model_choices in choices.items()]
        sections: list[Section[Any]] = [
            BestTemperatureTable(study, best, facts, adjustment, other_tests, metrics),
            ByTemperatureTable(study, rows_by_series(facts)),
            TemperatureLeadTable(study, verdicts, compared), PowerLawTable(study, power_law_fits),
            ModelPairTable(study, superiorities, leads),
        ]  # fmt: skip
        return build_report(
            study, sections, differences=None if method == confidence.method else method,
            messages=(), resamples=confidence.resamples, seed=confidence.seed,
            **adjustment.signature,
        )  # fmt: skip
