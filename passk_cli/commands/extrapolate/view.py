"""pass@k and pass^k beyond the attempts: the table, each fit alone, the answer and the chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from passk_cli.activity import steps
from passk_cli.arrays import Ints
from passk_cli.commands.extrapolate import ExtrapolateOptions
from passk_cli.commands.extrapolate.prediction import (
    SOUGHT_WORDS,
    Aim,
    Prediction,
    Refusal,
    predict,
)
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.errors import DataError
from passk_cli.inference.extrapolation import (
    FARTHEST,
    FEWEST_ATTEMPTS,
    TOO_FEW_AT_SOME,
    largest_known,
    refusal,
)
from passk_cli.inference.futures import DOUBT as LAW_DOUBT
from passk_cli.inference.futures import EX_GAUSSIAN, HARD, WEIGHED
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.laws.smooth_tail import DOUBT
from passk_cli.limits import refuse_many_steps
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import (
    FULL,
    Cell,
    Column,
    Estimate,
    Hint,
    Limits,
    Phrase,
    Report,
    Sentence,
    Table,
)
from passk_cli.report.plot import Plot, Rule, curves
from passk_cli.report.words import SeriesName, first_few, plural, span
from passk_cli.settle import Settle
from passk_cli.study.extremes import all_of
from passk_cli.study.fact import Fact
from passk_cli.study.notes import lacking_tasks
from passk_cli.study.section import GROUPS, MODEL, Section, data_field, view
from passk_cli.study.study import Study

_FREE = "assumption-free bound"
# So few tasks with a pass say little of the law; beyond so many times the attempts, predictions
# follow its shape.
_FEW_PASSED, _FAR = 10, 1000
# `benchmarks/extrapolation.md`, part "domains"; failures were not tried.
_HELD = "its 95 % intervals held 112 of 114 values in domains left out of the ex-Gaussian priors"
# In a chart, laws of a lone series from this weight on; a line goes on so many times beyond the k
# that reaches its target.
_DRAWN_WEIGHT, _PAST = 0.05, 3

NO_PREDICTION = Message(
    "no-prediction", WARNING, "no prediction for {models}: {reason}",
    meaning="A law needs passes at some tasks, enough tasks and attempts, and a number of attempts"
    " that does not depend on their outcomes. Models that lack this have an empty row.",
)  # fmt: skip
CONTRADICTED_LAW = Message(
    "contradicted-law", WARNING,
    "counts of {models} do not fit the ex-Gaussian model (misfit {misfit:=amount} >"
    " {limit:=amount}){?weighed|; weighted fits are used}",
    meaning="The misfit says how much better another spread of success rates explains the counts"
    " than this model does. Above the limit, the estimate is that of the weighed fits and the"
    " interval holds both. Of several models, the message has the largest misfit.")  # fmt: skip
UNTESTED_LAW = Message(
    "untested-law", WARNING,
    "an ex-gaussian fit of pass^k: its intervals hold too seldom",
    Settle({"--fit": "weighed"}, "is better"),
    "The priors of the ex-Gaussian model are from published data sets. These show how rare passes"
    " are, not how rare failures are, so they do not fit pass^k.")  # fmt: skip
SINGLE_LAW = Message(
    "single-law", WARNING, "one fit, {fit}: intervals hold only if success rates follow this law",
    meaning="An interval of one law allows for the choice of tasks and the error of the fit, not"
    " for another law. ex-gaussian and weighed allow for that too.")  # fmt: skip
FAR_AHEAD = Message(
    "far-ahead", WARNING,
    "beyond {times} times the attempts of {models}, predictions follow the law more than the data",
    meaning="Tasks that pass once in many thousand attempts leave no trace in the counts. How many"
    " there are is then up to the shape of the law. The assumption-free bound holds at every k.",
)  # fmt: skip
FEW_PASSED = Message(
    "few-passed", NOTE,
    "fewer than {most} tasks of {models} passed, so published data sets outweigh these counts",
    meaning="The ex-Gaussian model starts from priors that were made from published data sets. With"
    " few tasks that have passed, the counts change these priors little.")  # fmt: skip
NOTHING_OPEN = Message(
    "nothing-open", NOTE, "every task of {models} has {outcome}; {curve} stays beyond the attempts",
    meaning="Only tasks that never passed (of pass^k: never failed) can change the curve beyond the"
    " attempts. Where there are none, the estimate is at its bound, and the interval shows what so"
    " many tasks allow.")  # fmt: skip
MISSING_FITS = Message(
    "missing-fits", NOTE, "{models}: no fit of {fits}; {curve} is 0 or 1 at all but one k",
    meaning="Some laws need two points of the curve between 0 and 1. They are left out of the"
    " weighed fits where there are fewer.")  # fmt: skip
FEWER_ATTEMPTS = Message(
    "fewer-attempts", NOTE,
    "{tasks:task} of {models} {tasks:has|have} fewer attempts than the others; the backtest leaves"
    " {tasks:it|them} out",
    meaning="The backtest and the measured value are at a k that nine tasks in ten have attempts"
    " for. The other tasks are extrapolated from their own attempts.")  # fmt: skip


@dataclass(frozen=True)
class Predictions(Section[Prediction]):
    """A row per model: one curve at the attempts made and beyond, the highest at the last k first.

    family : "pass@" or "pass^".  aim : what is asked for.  every : the results of all families.
    """

    family: str
    aim: Aim
    every: Sequence[Prediction | Refusal]
    columns = (
        MODEL,
        GROUPS,
        Column("n", "count", meaning="Attempts that nearly all tasks have.",
               cell=lambda each: each.ahead.known, where=lambda section: section.several),
        Column("{}", "share", meaning="{} as measured: no law is needed for it.",
               across=lambda section: [section.measured], example="pass@n",
               cell=lambda each, name: Estimate(each.measured.estimate.value)),
        Column("its interval", "share", True, "Confidence interval of the measured value.",
               shown=FULL, cell=lambda each: Limits(each.measured.estimate.low,
                                                          each.measured.estimate.high)),
        Column("{}", "share", meaning="Prediction of {}, with its interval under the law.",
               across=lambda section: [f"{section.family}{k}" for k in section.aim.ks],
               example="pass@K",
               cell=lambda each, name: each.numbers[int(name[5:])].estimate),
        Column("{} bound", meaning="Assumption-free {} bound: confidence limit that holds at every"
               " k beyond the attempts, however rarely tasks pass or fail.", example="lower",
               across=lambda section: ["lower" if section.family == "pass@" else "upper"],
               where=lambda section: any(k > each.ahead.known for each in section.records
                                         for k in section.aim.ks),
               cell=lambda each, side: Phrase((each.sign, each.limit))),
        Column("k for {:g}", meaning="The k that reaches {:g} and its confidence interval; beyond"
               " the attempts made, two digits.",
               across=lambda section: (section.aim.target and [section.aim.target]) or (),
               example=0.9,
               cell=lambda each, target: Phrase(tuple(_k(each)))),
        Column("fit", name="fit", meaning="The law of the prediction; weighed where counts"
               " contradict the ex-Gaussian model.",
               cell=lambda each: each.measured.more["fit"]),
        Column("never {}", "count", meaning="Tasks that never {}: only they can change the curve.",
               shown=FULL, across=lambda section: [section.outcome], example="passed",
               cell=lambda each, _: each.open),
        Column("backtest", "share", name="backtest",
               meaning="The measured value as predicted from fewer attempts, minus that value.",
               shown=FULL, cell=lambda each: Estimate(each.ahead.error, signed=True)),
        Column("misfit", "amount", False, "How much better another spread of success rates"
               " explains the counts than the ex-Gaussian model does.", "misfit", FULL,
               cell=lambda p: p.ahead.misfit and p.ahead.misfit.excess,
               where=lambda section: section.fit == EX_GAUSSIAN),
        Column("limit", "amount", True, "The misfit above which counts contradict that model.",
               "misfit_limit", FULL,
               cell=lambda p: p.ahead.misfit and p.ahead.misfit.limit,
               where=lambda section: section.fit == EX_GAUSSIAN),
        data_field("weight", "Weight of a law among the weighed fits."),
        data_field("backtest_k", "The k of the backtest."),
        data_field("backtest_from", "Attempts that the backtest predicts from."),
        data_field("rare_low", f"Lower limit of the {_FREE}."),
        data_field("rare_high", f"Upper limit of the {_FREE}."),
        data_field("beyond", "Whether k lies beyond the attempts: yes or no."),
        data_field("fit_k", "The k of a row about one fit alone, whose k is empty."),
    )  # fmt: skip

    @property
    def fit(self) -> str:
        """The fit, by name."""
        return self.aim.fit_of(self.family)

    @property
    def leads(self) -> bool:
        """Whether it is the first of the curves, which speaks for all."""
        return self.family == self.aim.curves[0].removesuffix("k")

    @property
    def outcome(self) -> str:
        """The outcome that open tasks never had."""
        return "passed" if self.family == "pass@" else "failed"

    @property
    def several(self) -> bool:
        """Whether models differ in their attempts."""
        return len({each.ahead.known for each in self.records}) > 1

    @property
    def measured(self) -> str:
        """The measured number, by name."""
        names = [each.measured.name for each in self.records]
        return f"{self.family}n" if self.several or not names else names[0]

    @property
    def refused(self) -> list[Refusal]:
        """The models without a prediction."""
        return [r for r in self.every if isinstance(r, Refusal) and r.family == self.family]

    def facts(self) -> list[Fact]:
        return [fact for each in self.every if each.family == self.family for fact in each.facts]

    def tables(self) -> Iterator[Table]:
        table = self.table(self.records)
        blank = (None,) * (len(table.columns) - 1 - len(self.study.counts.group_names))
        refused = [(*series, *blank) for series in sorted(each.series for each in self.refused)]
        yield replace(table, rows=(*table.rows, *refused))

    def answer(self) -> Iterator[Sentence]:
        """The k of the target, else the value at the largest k: of the first model, and its fit;
        where models have different tasks, of a fit to those that all have."""
        models, rising, k = list(self.records), self.family == "pass@", self.aim.ks[-1]
        facts = self.study.facts([each.rates for each in models])
        shared, where = self.study.on_shared_tasks(facts)
        if where:
            fits = [predict(self.study, fact.values, self.aim) for fact in shared if fact.values]
            models = [each for each in fits if isinstance(each, Prediction)]
            models.sort(key=lambda each: -(each.numbers[k].estimate.value or 0.0))
        if not models:
            if where:
                yield (f"Too few tasks are shared by all models to predict {self.family}{k}.",)
            return
        if self.aim.target is None:
            top, *others = (each.numbers[k].estimate for each in models)
            low = math.inf if top.low is None else top.low
            rivals = [
                each.rates.name for each, other in zip(models[1:], others, strict=True)
                if other.high is None or other.high >= low
            ]  # fmt: skip
            if rivals:
                bases = {_basis(each, k) for each in models}
                start = f"{self.family}{k}{bases.pop() if len(bases) == 1 else ''}{where}"
                if (top.value or 0.0) - (others[-1].value or 0.0) < _ALIKE:
                    yield (f"{start} is about ", top.bare, f" for {all_of(len(models))}.")
                    return
                yield (
                    f"{start} ranges from ",
                    others[-1].bare,
                    f" ({models[-1].rates.name}) to ",
                    top.bare,
                    f" ({models[0].rates.name}); the interval of {models[0].rates.name}"
                    f" overlaps with {_intervals(rivals)}.",
                )
                return
            best = models[0]
            whom = "is highest for" if len(models) > 1 else "of"
            words = f"{self.family}{k} {whom} {best.rates.name}{where}: "
            estimate = best.numbers[k].estimate
            estimate = estimate.bare if len(models) > 1 else estimate
            yield (words, estimate, _basis(best, k), ".")
            return
        models.sort(key=lambda each: each.reaches[0].estimate.value or math.inf, reverse=not rising)
        best, ks = models[0], {each.target[0] for each in models}
        whom, number, also = f" of {best.rates.name}", tuple(_k(best)), ""
        if len(models) > 1 and len(ks) == 1:
            whom, number = "", (*ks, f" for {all_of(len(models))}")
        elif len(models) > 1:
            tied = [each.rates.name for each in models if each.target == best.target]
            whom = f" is {'lowest' if rising else 'highest'} for {first_few(tied)}"
            own, rest = best.reaches[0].estimate, list[str]()
            for each in models:
                other = each.reaches[0].estimate
                most, least = (own.high, other.low) if rising else (other.high, own.low)
                overlaps = (math.inf if most is None else most) >= (least or math.inf)
                rest += [each.rates.name] * (overlaps and each.target != best.target)
            if rest:
                also = f"; its interval overlaps with {_intervals(rest)}"
        basis = _basis(best, best.reaches[0].estimate.value)
        if best.target[0] == 0:
            basis = "; at k = 1 it is less already"
        curve = "k for pass@k = " if rising else "k up to which pass^k ≥ "
        yield (curve, self.aim.target, f"{whom}{where}: ", *number, basis, f"{also}.")

    def context(self) -> Iterator[str | Hint]:
        if not self.leads:
            return
        confidence = self.study.confidence
        if self.records:
            yield self.study.sizes(each.measured for each in self.records)
            if self.refused:
                every = plural(len(self.refused) + len(self.records), "model")
                yield f"{len(self.records)} of {every}: no prediction of the others"
        sampled = confidence.population == NEW_TASKS
        about = "tasks as a sample" if sampled else "for these tasks"
        clusters = f", clustered by {confidence.cluster}" if confidence.cluster else ""
        yield f"{100 * confidence.level:g} % intervals, {about}{clusters}"
        yield Hint("each fit")

    def details(self) -> Iterator[str]:
        if self.fit == EX_GAUSSIAN and self.family == "pass@":
            yield _HELD
        doubt = {EX_GAUSSIAN: LAW_DOUBT, WEIGHED: DOUBT, "smooth": DOUBT}.get(self.fit, 0.0)
        if self.fit == EX_GAUSSIAN:
            yield f"law fitted to tasks that {self.outcome} at most {HARD} times"
        if doubt:
            never = f"tasks that will never have {self.outcome}"
            yield f"{self.family}k: {100 * doubt:.0f} % of draws assume {never}"
        if self.records:
            to, few = zip(*((p.ahead.known, p.ahead.few) for p in self.records), strict=True)
            ks, attempts = span(min(to), max(to)), span(min(few), max(few))
            yield f"backtest: k = {ks} predicted from {attempts} attempts"

    def messages(self) -> Iterator[Said]:
        every, curve = self.records, f"{self.family}k"
        for reason in dict.fromkeys(each.reason for each in self.refused):
            names = _names(each for each in self.refused if each.reason == reason)
            yield NO_PREDICTION(models=names, reason=reason)
        contradicted = [p for p in every if p.contradicted]
        misfits = [p.ahead.misfit for p in contradicted if p.ahead.misfit]
        if worst := max(misfits, key=lambda misfit: misfit.excess, default=None):
            yield CONTRADICTED_LAW(
                models=_names(contradicted), misfit=worst.excess, limit=worst.limit,
                weighed=self.family == "pass@",
            )  # fmt: skip
        if self.fit == EX_GAUSSIAN and self.family == "pass^":
            yield UNTESTED_LAW()
        elif self.fit not in (EX_GAUSSIAN, WEIGHED, "smooth"):
            yield SINGLE_LAW(fit=self.fit)
        if far := _names(p for p in every if max(self.aim.ks) > _FAR * p.ahead.known):
            yield FAR_AHEAD(times=_FAR, models=far)
        few = _names(p for p in every if 0 < len(p.rates.n) - p.open < _FEW_PASSED)
        if few and self.fit == EX_GAUSSIAN and self.family == "pass@":
            yield FEW_PASSED(most=_FEW_PASSED, models=few)
        if settled := _names(p for p in every if not p.open):
            yield NOTHING_OPEN(models=settled, outcome=self.outcome, curve=curve)
        for fits in dict.fromkeys(p.ahead.left_out for p in every if p.ahead.left_out):
            names = _names(p for p in every if p.ahead.left_out == fits)
            yield MISSING_FITS(models=names, fits=fits, curve=curve)
        short = {p.rates.name: int((p.rates.n < p.ahead.known).sum()) for p in every}
        if any(short.values()):
            names = [name for name, count in short.items() if count]
            yield FEWER_ATTEMPTS(models=names, tasks=sum(short.values()))

    def plots(self) -> tuple[Plot, ...]:
        if not self.leads:
            return ()
        every, aim = [p for p in self.every if isinstance(p, Prediction)], self.aim
        lone = len({each.series for each in every}) == 1
        attempts = {each.ahead.known for each in every}
        rules = [Rule(x=float(max(attempts)), text="attempts made")] if len(attempts) == 1 else []
        if aim.target is not None:
            rules.append(Rule(y=aim.target, text=f"target {aim.target:g}"))
        # Lines go to the last k asked for, and past the k of a target.
        ends = []
        for each in every:
            k = aim.target and each.ahead.reach(aim.target, falling=each.family == "pass^").k
            last = max(*aim.ks, each.ahead.known, _PAST * (k or 0.0))
            ends.append(min(last, float(each.ahead.ks[-1])))
        end = max(ends)
        points = [
            {key: row[key] for key in ("model", "fit", "metric", "k", "value")}
            for each in every
            for row in _lines(each, each.ahead.known, lone=False)
            if row["k"] in (each.ahead.known, *(f * 10**d for d in range(7) for f in (1, 2, 5)))
        ]
        names = ", ".join(aim.curves)
        chart = curves(
            [row for each in every for row in _lines(each, end, lone)], x="k", y="value",
            low="low", high="high", colour="model",
            dash="fit" if lone else "",
            facet="metric" if len(aim.curves) > 1 else "", points=points, rules=rules,
            keys={"points": "measured", "line": "prediction", "band": "its interval"},
            title=f"{names} beyond the attempts made",
            subtitle=" · ".join(part for part in self.context() if isinstance(part, str)),
            x_title="k (attempts)",
            y_title=names, log_x=True,
        )  # fmt: skip
        return (chart,)


class Fits(Section[Fact]):
    """A row per prediction and fit: the law, the weighed fits, and each of these alone."""

    title = "Each fit alone"
    shown = FULL
    columns = (
        MODEL,
        GROUPS,
        Column("prediction", meaning="The number, and the fit it is by.",
               cell=lambda fact: fact.name),
        Column("value", "share", meaning="What that fit says by itself.",
               cell=lambda fact: fact.estimate),
        Column("weight", "share", meaning="Its weight among the weighed fits.",
               cell=lambda fact: fact.more["weight"]),
        Column("its backtest", "share", meaning="Its own error in the backtest.",
               cell=lambda fact: Estimate(fact.more["backtest"], signed=True)),
    )  # fmt: skip


def _names(series: Iterable[Prediction | Refusal]) -> list[str]:
    """Whose they are, each once."""
    return list(dict.fromkeys(each.rates.name for each in series))


def _basis(prediction: Prediction, k: float | None) -> str:
    """The fit that the prediction at a k is by."""
    if k is not None and k <= prediction.ahead.known:
        return ", within the attempts made"
    # The number of a contradicted law is that of another fit, where there is one.
    doubt = prediction.contradicted and not prediction.ahead.law
    contradicted = " (the counts contradict it)" if doubt else ""
    return f" by the {prediction.measured.more['fit']} fit{contradicted}"


def _k(prediction: Prediction) -> Iterator[Cell]:
    """A target's k with its interval, where that says more."""
    k, low, high = prediction.target
    yield k
    if low != SOUGHT_WORDS:
        yield from (" [", low, ", ", high, "]")


def _lines(prediction: Prediction, end: float, lone: bool) -> list[dict[str, Any]]:
    """Rows of one series: the prediction with its band; of a lone one, beyond the data, each law
    and the bound."""
    ahead, ks = prediction.ahead, prediction.ahead.ks.tolist()
    models = ahead.models if lone and len(ahead.models) > 1 else ()
    name = ahead.models[0].name if len(ahead.models) == 1 else WEIGHED
    empty = [None] * len(ks)
    bands = [(name, 0, ahead.values.tolist(), ahead.low.tolist(), ahead.high.tolist())]
    bands += [
        (law.name, ahead.known, law.values.tolist(), empty, empty)
        for law in models
        if law.weight >= _DRAWN_WEIGHT
    ]
    if lone:
        # The bound is of all attempts up to the first k that is asked for beyond those of all.
        first = next((k for k in sorted(prediction.numbers) if k > ahead.known), ahead.known)
        start = min(first, int(prediction.rates.n.max()))
        bands.append((_FREE, start, [prediction.limit] * len(ks), empty, empty))
    return [
        {
            "model": prediction.rates.name, "metric": f"{prediction.family}k", "fit": fit, "k": k,
            "value": value, "low": low, "high": high,
        }
        for fit, start, *columns in bands
        for k, value, low, high in zip(ks, *columns, strict=True)
        if start <= k <= end
    ]  # fmt: skip


# Numbers that differ by less look alike.
_ALIKE = 0.0005
# By how much a prediction goes beyond the attempts when no k is named.
_TIMES = 10


def _refused(name: str, n: Ints, reason: str) -> DataError:
    """The error of a series without a prediction.  n : attempts at each task."""
    short = int((n < FEWEST_ATTEMPTS).sum())
    remedy = f"{short:,} of {len(n):,} tasks have, at most {len(n) // 10:,} may: make more at these"
    return DataError(name, reason, remedy if reason == TOO_FEW_AT_SOME else "")


class Extrapolate(Question, ExtrapolateOptions):
    """The question of `passk extrapolate`."""

    sections = (Predictions, Fits)

    of_metrics: ClassVar[bool] = False

    unbounded: ClassVar[str] = (
        "pass@k beyond the attempts made need not lie between the fits with all missing"
        " outcomes failing and with all passing"
    )

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it, with as many resamples as every model has refits."""
        confidence = replace(options.confidence, resamples=self.resamples)
        return super().study(replace(options, confidence=confidence), read)

    def require(self, options: SharedOptions, counts: Counts) -> None:
        """DataError where the counts of no series allow a prediction."""
        rows = [counts.rows_of(place) for place in range(len(counts.series))]
        reasons = [refusal(counts.n[own], counts.c[own]) for own in rows]
        if all(reasons):
            raise _refused(SeriesName(counts.series[0]), counts.n[rows[0]], reasons[0])

    def report(self, study: Study) -> Report:
        """Predictions of every model at larger k, with what they rest on.

        Errors: DataError when no series' counts allow a prediction; ParameterError for attempts
        that are too many.
        """
        most, confidence = int(study.counts.n.max()), study.confidence
        refuse_many_steps("extrapolation", most, remedy="thin out the attempts")
        families = [curve.removesuffix("k") for curve in self.metrics]
        every = [rates for family in families for rates in study.values([Metric(family, 1)])]
        attempts = max(largest_known(rates.n) for rates in every)
        to = self.to or (min(_TIMES * attempts, FARTHEST),)
        aim = Aim(self.metrics, to, self.target, self.fit)
        # Each has streams of its own, so threads change no number.
        with ThreadPoolExecutor() as pool:
            computed = pool.map(lambda rates: predict(study, rates, aim), every)
            results = list(steps(computed, "computing", "models", len(every)))
        predictions = [each for each in results if isinstance(each, Prediction)]
        if not predictions:
            first = results[0]
            raise _refused(first.rates.name, first.rates.n, getattr(first, "reason", ""))
        parts = [fact for each in predictions for k in aim.ks for fact in each.parts(k)]
        k = aim.ks[-1]
        predictions.sort(key=lambda p: (-(p.numbers[k].estimate.value or 0.0), p.series))
        sections = [
            Predictions(study, [p for p in predictions if p.family == family], family, aim, results)
            for family in families
        ]
        return view(
            study, [*sections, Fits(study, parts)],
            messages=(*study.messages(()), *lacking_tasks(study.counts)),
            extrapolate=",".join(self.metrics), to=",".join(map(str, aim.ks)), target=self.target,
            fit=",".join(dict.fromkeys(map(aim.fit_of, families))), interval=None,
            level=confidence.level, population=confidence.population,
            cluster=confidence.cluster, resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip


def _intervals(names: Sequence[str]) -> str:
    """As "that of a", "those of a, b"."""
    return f"{'that' if len(names) == 1 else 'those'} of {first_few(names)}"
