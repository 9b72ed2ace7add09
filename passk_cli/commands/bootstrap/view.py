"""Bootstrap distributions side by side: limits of every method, the answer, and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from passk_cli.commands.bootstrap import BootstrapOptions
from passk_cli.commands.question import Question
from passk_cli.inference.intervals import GUARDED
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.rounding import ROUNDING
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import FULL, Cell, Column, Estimate, Limits, Report, Sentence, Table
from passk_cli.report.plot import Plot, densities
from passk_cli.report.words import numbers_of_models, plural, series_name
from passk_cli.study.distribution import (
    Distribution,
    applicable,
    choose_methods,
    distributions,
    draw_columns,
    rivals_of,
)
from passk_cli.study.extremes import bare, range_of
from passk_cli.study.fact import Fact
from passk_cli.study.section import GROUPS, MODEL, Section, view
from passk_cli.study.study import Study

WITHOUT_BOUNDS = Message(
    "methods-without-bounds", NOTE, "{metrics} without {methods}, which need the range of scores",
    "add --bounds LOW,HIGH",
    "Guard intervals need the lowest and highest possible value. Of a score without a known range"
    " only the other methods give limits; BCa stands in for the guards.",
)  # fmt: skip
PARTICULAR = Message(
    "particular-intervals", NOTE, "{methods} at {numbers}: {flaw}",
    meaning="These intervals are made in another way than usual, or there is none, for the reason"
    " given.",
)  # fmt: skip
FEWER_SHARED = Message(
    "first-on-shared-tasks", WARNING,
    "first in resamples at {metrics} rests on the {shared:task} that all models have"
    "{?group| in {group}}, of {every}",
    meaning="Which model comes first can only be asked on tasks that all of them attempted. Their"
    " estimates and intervals rest on all tasks of each.",
)  # fmt: skip
UNEQUAL_ATTEMPTS = Message(
    "first-with-unequal-attempts", NOTE,
    "first in resamples is empty where attempts differ between models",
    meaning="A model with fewer attempts has coarser values, and would come first in more or fewer"
    " resamples than its success rates give it.",
)  # fmt: skip


@dataclass(frozen=True)
class Distributions(Section[Distribution]):
    """Estimates with the limits of every method, a table per metric.

    lines : the numbers without limits, also those that have no value.  methods : of intervals.
    kind : of the weights of resamples.  metric : of the one table that is made.
    """

    lines: Sequence[Fact]
    methods: tuple[str, ...]
    kind: str
    metric: Metric | None = None

    columns = (
        MODEL,
        GROUPS,
        Column(
            "estimate", "share", meaning="Mean over tasks.",
            cell=lambda d: Estimate(d.values.mean, share=d.values.metric.unit == "share"),
        ),
        Column(
            "bias", "fine", name="bias", shown=FULL,
            meaning="Mean of the resamples minus the estimate.",
            cell=lambda d, unit: d.bias, across=lambda section: section.units("fine"),
            units=lambda section, unit: unit,
        ),
        Column(
            "se", "fine", shown=FULL, meaning="Standard deviation of the resamples.",
            cell=lambda d, unit: d.se, across=lambda section: section.units("fine"),
            units=lambda section, unit: unit,
        ),
        Column(
            "{0}", "share", meaning="Limits of the {0} interval.", example="METHOD",
            cell=lambda d, method: d.limits(method), across=lambda section: section.applicable,
            units=lambda section, method: section.units("share")[0],
        ),
        Column(
            "first in resamples", "share", name="leads", shown=FULL,
            meaning="Share of the resamples in which the model comes first (ties split); no test,"
            " and not the probability of being best.",
            cell=lambda d: d.leads,
            where=lambda section: any(d.leads is not None for d in section.records),
        ),
        Column(
            "from tasks", "share", name="share_tasks", shown=FULL,
            meaning="Share of the variance between tasks.", cell=lambda d: d.shares[0],
        ),
        Column(
            "from attempts", "share", name="share_attempts", shown=FULL,
            meaning="Share of the variance between attempts at one task.",
            cell=lambda d: d.shares[1],
        ),
    )  # fmt: skip

    @property
    def applicable(self) -> tuple[str, ...]:
        """The methods that the metric of the table allows."""
        metric = self.metric or self.study.metrics[0]
        return applicable(metric, self.methods, self.study.confidence)

    def units(self, share: str) -> tuple[str]:
        """The kind of the table's numbers.

        share : where they are shares.
        """
        unit = (self.metric or self.study.metrics[0]).unit
        return (share if unit == "share" else unit,)

    def facts(self) -> list[Fact]:
        """A row per number and method."""
        return [fact for d in self.records for fact in d.facts]

    def tables(self) -> Iterator[Table]:
        """A table per metric that some model has a value of, the best model first."""
        metrics = dict.fromkeys(d.values.metric for d in self.records)
        for at, metric in enumerate(m for m in self.study.metrics if m in metrics):
            models = [d for d in self.records if d.values.metric == metric]
            models.sort(key=lambda d: (-d.values.mean, d.series))
            part = replace(self, records=models, metric=metric)
            table = part.table(models, metric.name if len(metrics) > 1 else "")
            yield replace(table, shown=FULL) if at else table

    def answer(self) -> Iterator[Sentence]:
        """The largest change of a limit from method to method; of one method, the first interval.

        Without any value, why there is none.
        """
        if not self.records:
            yield range_of(self.lines[:1], self.study.counts.group_names)
            return
        gaps = [gap for d in self.records for gap in _gaps(d)]
        first = self.records[0]
        share = first.values.metric.unit == "share"
        if not gaps:
            number = first.estimates[0]
            yield (
                f"{first.values.metric.name} of {first.values.name} is ", bare(number.estimate),
                f" ({number.method}), with standard error ", Estimate(first.se, share=share), ".",
            )  # fmt: skip
            return
        # Of gaps equal but for rounding, the first.
        gap, widest, low, high = max(gaps, key=lambda each: round(each[0], 12))
        if gap <= ROUNDING:
            yield ("The method does not matter: all intervals are equal.",)
            return
        yield (
            "The method changes a limit by at most ",
            Estimate(gap, share=widest.values.metric.unit == "share"),
            f" ({widest.values.metric.name} of {widest.values.name}: {low.method} ",
            _limits(low), f", {high.method} ", _limits(high), ").",
        )  # fmt: skip

    def context(self) -> Iterator[str]:
        """Tasks, attempts, resamples and level."""
        confidence = self.study.confidence
        yield self.study.sizes(self.lines)
        yield f"{confidence.resamples:,} resamples of {_drawn(confidence.population)}"
        yield f"{100 * confidence.level:g} %"
        if len({d.values.metric for d in self.records}) > 1:
            yield "all metrics: --full"

    def details(self) -> Iterator[str]:
        """Weights, seed and clusters of the resamples."""
        confidence = self.study.confidence
        yield f"{self.kind} weights, seed {confidence.seed}"
        yield f"clustered by {confidence.cluster}" if confidence.cluster else ""

    def messages(self) -> Iterator[Said]:
        """Intervals that are left out or particular, and what first in resamples rests on."""
        confidence, records = self.study.confidence, self.records
        metrics = [
            metric.name
            for metric in self.study.metrics
            if applicable(metric, self.methods, confidence) != self.methods
        ]
        if metrics:
            yield WITHOUT_BOUNDS(metrics=metrics, methods=[m for m in self.methods if m in GUARDED])
        flawed: dict[str, list[Fact]] = {}
        for fact in (fact for d in records for fact in d.estimates if fact.flaw):
            flawed.setdefault(fact.flaw, []).append(fact)
        for flaw, facts in flawed.items():
            pairs = dict.fromkeys((fact.name, series_name(fact.series)) for fact in facts)
            methods = list(dict.fromkeys(fact.method for fact in facts))
            numbers = numbers_of_models(list(pairs))
            yield PARTICULAR(methods=methods, numbers=numbers, flaw=flaw)
        rivals = [[records[place] for place in places] for places in rivals_of(records).values()]
        lost: dict[tuple[str, int, int], list[str]] = {}
        for models in rivals:
            tasks = [set(d.values.tasks.tolist()) for d in models if d.leads is not None]
            if confidence.population == NEW_TASKS and tasks:
                every, shared = len(set.union(*tasks)), len(set.intersection(*tasks))
                cause = " ".join(models[0].series[1:]), shared, every
                if shared < every:
                    lost.setdefault(cause, []).append(models[0].values.metric.name)
        for (group, shared, every), names in lost.items():
            yield FEWER_SHARED(metrics=names, shared=shared, group=group, every=every)
        if any(d.leads is None for models in rivals if len(models) > 1 for d in models):
            yield UNEQUAL_ATTEMPTS()

    def plots(self) -> tuple[Plot, ...]:
        """The densities of the draws, a panel per metric, with estimate and first interval."""
        if not self.records:
            return ()
        first = {d.series: d for d in reversed(self.records)}
        series = sorted(first, key=lambda each: (-first[each].values.mean, each))
        place = {(d.series, d.values.metric): d for d in self.records}
        rows = [
            {
                "model": d.values.name, "metric": metric.name, "draws": d.draws,
                "estimate": d.estimates[0].estimate.value, "low": d.estimates[0].estimate.low,
                "high": d.estimates[0].estimate.high,
            }
            for metric in self.study.metrics
            for each in series
            for d in [place.get((each, metric))]
            if d is not None
        ]  # fmt: skip
        confidence = self.study.confidence
        subtitle = (
            f"{self.study.sizes(self.lines)} · {plural(confidence.resamples, 'resample')} of"
            f" {_drawn(confidence.population)} · {100 * confidence.level:g} % {self.methods[0]}"
            " intervals"
        )
        chart = densities(
            rows, label="model", draws="draws", value="estimate", low="low", high="high",
            facet="metric", title="Bootstrap distributions", subtitle=subtitle,
        )  # fmt: skip
        return (chart,)


def _drawn(population: str) -> str:
    return "tasks" if population == NEW_TASKS else "attempts"


def _gaps(d: Distribution) -> Iterator[tuple[float, Distribution, Fact, Fact]]:
    """The largest difference of a lower, and of an upper, limit between methods, and the two."""
    bounded = [fact for fact in d.estimates if fact.estimate.low is not None]
    for end in ("low", "high"):
        limits = [float(getattr(fact.estimate, end)) for fact in bounded]
        if len(bounded) > 1:
            least, most = limits.index(min(limits)), limits.index(max(limits))
            yield limits[most] - limits[least], d, bounded[least], bounded[most]


def _limits(fact: Fact) -> tuple[Cell, Column]:
    unit = "share" if fact.estimate.share else "score"
    return Limits(fact.estimate.low, fact.estimate.high), Column("", unit)


class Bootstrap(Question, BootstrapOptions):
    """The question of `passk bootstrap`."""

    sections = (Distributions,)

    unbounded: ClassVar[str] = (
        "it resamples one number, and here are two, with all missing outcomes failing and"
        " with all passing; passk estimate has the interval of both, --interval names its"
        " method"
    )

    def report(self, study: Study) -> Report:
        """Estimates with intervals side by side, bias, standard error, and first in resamples."""
        confidence = study.confidence
        methods = choose_methods(study.counts, self.interval, confidence)
        # The signature names all methods; a number by itself has none yet.
        plain = replace(study, confidence=replace(confidence, interval="none"))
        values = plain.values()
        lines = [plain.fact(each) for each in values]
        records = distributions(study, values, methods, self.weights)
        used = dict.fromkeys(fact.method for d in records for fact in d.estimates)
        report = view(
            plain, [Distributions(study, records, lines, methods, self.weights)],
            messages=plain.messages(lines), interval=None, intervals=",".join(used),
            level=confidence.level, population=confidence.population, weights=self.weights,
            cluster=confidence.cluster, bounds=confidence.bounds_text,
            resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip
        columns = {} if self.draws is None else {self.draws: draw_columns(study.counts, records)}
        return replace(report, exports=columns)
