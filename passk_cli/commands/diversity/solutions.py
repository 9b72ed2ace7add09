"""Different solutions among k attempts, duplicates, and gains without variety."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from passk_cli.message import Said
from passk_cli.metrics.diversity import agreement, distinct, duplicates
from passk_cli.metrics.pass_k import pass_at_k, pass_hat_k
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Sentence, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import numbers_of_models, plural, series_name
from passk_cli.study.extremes import bare, named, range_of
from passk_cli.study.fact import Fact
from passk_cli.study.metrics import supported_k
from passk_cli.study.pivot import head
from passk_cli.study.study import Study
from passk_cli.study.values import Series, attempts_of

DISTINCT, CORRECT = "distinct@", "distinct-correct@"
# Variety within a tenth of the least that a gain can come with is little, unless little more than
# that least is possible: then within a tenth of what is possible beyond it.
_LITTLE = 0.1
FLAG = "little variety"
_CURVE_POINTS = 16
# Models that gain with little variety whose numbers are said.
_GAINS_SAID = 3
_TITLES = (
    "Different solutions",
    "Different correct solutions",
    "What k attempts gain over one, and the variety of solutions that comes with the gain",
)

# Name → fact, of one series.
Numbers = Mapping[str, Fact]


@dataclass(frozen=True)
class Gain:
    """What k attempts gain, and how many different solutions come with it.

    variety : distinct@k, each task weighted by its gain; None where nothing is gained.
    least : the same of different verdicts, pass@k + 1 − pass^k: one solution that passes and one
        that does not are the least that a gain can come with.
    flag : FLAG, or nothing.
    """

    k: int
    variety: float | None
    least: float | None
    flag: str = ""


@dataclass(frozen=True)
class Variety:
    """One series: its metrics, facts about its solutions as they are, and what k attempts gain."""

    series: Series
    numbers: Numbers
    solutions: tuple[Fact, ...]
    gains: tuple[Gain, ...]

    @property
    def facts(self) -> Iterator[Fact]:
        """Its tidy rows."""
        yield from self.numbers.values()
        for gain in self.gains:
            size = self.numbers[f"gain@{gain.k}"].size
            for name, value in (("variety", gain.variety), ("least variety", gain.least)):
                estimate = Estimate(value, reason=gain.flag)
                yield Fact(self.series, f"{name}@{gain.k}", gain.k, estimate, size=size)
        yield from self.solutions


def metrics_at(ks: Sequence[int]) -> list[Metric]:
    """distinct@k and distinct-correct@k; for k > 1 what is gained."""
    beyond = [k for k in ks if k > 1]
    return [
        *(Metric(DISTINCT, k) for k in ks),
        *(Metric(CORRECT, k) for k in ks),
        *([Metric("pass@", 1)] if beyond else []),
        *(Metric(f, k) for f in ("pass@", "gain@", "distinct-pass@") for k in beyond),
    ]


def diversity_report(study: Study, ks: Sequence[int], same: str) -> Report:
    """How many different (correct) solutions k attempts hold, and whether pass@k's gain needs them.

    same : when two solutions are the same, in words.
    Errors: ParameterError for a k that no task supports, or counts read without solutions.
    """
    varieties = [_variety(study, s, ks) for s in study.best_first]
    every = [fact for variety in varieties for fact in variety.numbers.values()]
    names = {f"{family}{k}" for family in (DISTINCT, CORRECT) for k in ks}
    diversity_facts = [fact for fact in every if fact.name in names]
    caption = (
        study.sizes(every),
        study.confidence.words(),
        f"solutions compared {same}",
        "effective: 1 / probability that two attempts agree (correct: of tasks with two passes)",
        "duplicates: share of attempts that repeat another (correct: of tasks with a pass)",
        *_meaning(varieties),
    )
    return study.report(
        [fact for variety in varieties for fact in variety.facts],
        _tables(study, ks, varieties),
        answer=(diversity_answer(study, varieties, ks),),
        context=caption,
        messages=(*study.messages(every, short=diversity_facts), *_notes(study, varieties)),
        plots=partial(_charts, study),
    )


def _variety(study: Study, s: int, ks: Sequence[int]) -> Variety:
    numbers = {fact.name: fact for fact in study.facts(only=[s])}
    gains = tuple(_gain(numbers, k) for k in ks if k > 1)
    return Variety(study.counts.series[s], numbers, tuple(_solutions(study, s)), gains)


def _solutions(study: Study, s: int) -> Iterator[Fact]:
    """Solutions per task, their effective number and the share of repeats; of passes as well."""
    counts = study.counts
    rows = counts.rows_of(s)
    series, tasks, n = counts.series[s], counts.task_codes[rows], counts.n[rows]
    bag, most = attempts_of(counts, "solution", rows), float(n.max())
    for kind, times, least in (("", bag.count, 1.0), (" correct", bag.passed, 0.0)):
        kinds = distinct(bag.start, times).astype(np.float64)
        # Two attempts agree, or one repeats another: nothing to say of tasks with too few passes.
        pairs, repeats = agreement(bag.start, times), duplicates(bag.start, times)
        yield study.mean(series, f"distinct{kind}", kinds, tasks, n, bounds=(least, most))
        yield _inverse(study.mean(series, f"effective{kind}", pairs, tasks, n))
        yield study.mean(series, f"duplicates{kind}", repeats, tasks, n)


def _inverse(fact: Fact) -> Fact:
    """The effective number of solutions, from the chance that two attempts agree."""
    chance, number = fact.estimate, replace(fact, se=None)
    if chance.value is None:
        return replace(number, estimate=Estimate(None, reason=chance.reason, share=False))
    if chance.value == 0:
        alike = "all solutions differ: no two attempts agree"
        return replace(number, estimate=Estimate(None, reason=alike, share=False), flaw="")
    low, high = (1 / limit if limit else None for limit in (chance.high, chance.low))
    open_ = "no upper limit: two attempts may never agree" if chance.low == 0 else ""
    flaw = "; ".join(filter(None, (fact.flaw, open_)))
    estimate = Estimate(1 / chance.value, None, low, high, chance.reason, share=False)
    return replace(number, estimate=estimate, flaw=flaw)


def _gain(numbers: Numbers, k: int) -> Gain:
    """The variety that comes with a model's gain from k attempts."""
    gain, kinds = numbers[f"gain@{k}"], numbers[f"{DISTINCT}{k}"].values
    if gain.values is None or kinds is None or not kinds.there or gain.values.values.sum() <= 0:
        return Gain(k, None, None)
    weight, n, c = gain.values.values, gain.values.n, gain.values.c
    verdicts = pass_at_k(n, c, k) + 1 - pass_hat_k(n, c, k)
    variety, least = (float((weight * v).sum() / weight.sum()) for v in (kinds.values, verdicts))
    certain = gain.estimate.low is not None and gain.estimate.low > 0
    little = variety < least + _LITTLE * min(least, k - least) - 1e-12
    return Gain(k, variety, least, FLAG if certain and little else "")


def _tables(study: Study, ks: Sequence[int], varieties: Sequence[Variety]) -> Iterator[Table]:
    """Different solutions, different correct ones, and what is gained with them."""
    names = head(study.counts.group_names)
    for place, family in enumerate((DISTINCT, CORRECT)):
        columns = (
            *names, *(Column(f"{family}{k}", "score") for k in ks),
            Column("per task", "score"), Column("effective", "score"),
            Column("duplicates", "share"),
        )  # fmt: skip
        rows = tuple(
            (
                *variety.series,
                *(variety.numbers[f"{family}{k}"].estimate for k in ks),
                *(fact.estimate.value for fact in variety.solutions[3 * place :][:3]),
            )
            for variety in varieties
        )
        yield Table(columns, rows, _TITLES[place])
    columns = (
        *names, Column("k"), Column("pass@1", "share"), Column("pass@k", "share"),
        Column("gain", "share"), Column("variety", "score"), Column("least", "score"),
        Column("distinct-pass@k", "share"),
    )  # fmt: skip
    flags = [Column("flag")] * _flagged(varieties)
    gained = tuple(
        _gain_row(variety, gain, bool(flags)) for variety in varieties for gain in variety.gains
    )
    if gained:
        yield Table((*columns, *flags), gained, _TITLES[2])


def _gain_row(variety: Variety, gain: Gain, flagged: bool) -> tuple[Cell, ...]:
    at = {f: variety.numbers[f"{f}{gain.k}"].estimate for f in ("pass@", "gain@", "distinct-pass@")}
    return (
        *variety.series, str(gain.k), variety.numbers["pass@1"].estimate.value, at["pass@"].value,
        at["gain@"], gain.variety, gain.least, at["distinct-pass@"].value, *[gain.flag] * flagged,
    )  # fmt: skip


def _flagged(varieties: Sequence[Variety]) -> bool:
    return any(gain.flag for variety in varieties for gain in variety.gains)


def diversity_answer(study: Study, varieties: Sequence[Variety], ks: Sequence[int]) -> Sentence:
    """How many solutions differ at the largest k, how many of these are correct; and who gains
    with little variety."""
    groups = study.counts.group_names
    valued = [k for k in ks if any(_has(v.numbers[f"{DISTINCT}{k}"]) for v in varieties)]
    k = max(valued, default=max(ks))
    different = [variety.numbers[f"{DISTINCT}{k}"] for variety in varieties]
    flagged = [named(v.series, groups) for v in varieties if any(gain.flag for gain in v.gains)]
    whom = f" for {'; '.join(flagged[:_GAINS_SAID])}" if len(varieties) > 1 else ""
    more = f" and {len(flagged) - _GAINS_SAID} more" * (len(flagged) > _GAINS_SAID)
    little = f" The gains of more attempts come with little variety{whom}{more}." if flagged else ""
    if len(varieties) > 1 or not valued:
        return (*range_of(different, groups), little)
    correct = varieties[0].numbers[f"{CORRECT}{k}"]
    return (
        f"{plural(k, 'attempt')} of {named(varieties[0].series, groups)} hold ",
        bare(different[0].estimate), " different solutions, ", bare(correct.estimate),
        f" of them correct.{little}",
    )  # fmt: skip


def _has(fact: Fact) -> bool:
    return fact.estimate.value is not None


def _meaning(varieties: Sequence[Variety]) -> Iterator[str]:
    """What the columns of the last table mean, for the caption; nothing without that table."""
    if any(variety.gains for variety in varieties):
        yield "variety: distinct@k, tasks weighted by their gain"
        yield "least: the same if one solution passes and one fails"
    if _flagged(varieties):
        yield f"{FLAG}: a gain whose interval lies above 0, with a tenth more than least at most"


def _notes(study: Study, varieties: Sequence[Variety]) -> Iterator[Said]:
    """What to know of these numbers, and who gains without variety."""
    solutions = study.counts.attempts["solution"]
    if solutions.unparsed:
        attempts = plural(solutions.unparsed, "attempt")
        yield Note(f"{attempts} with a solution that is no Python: compared with single spaces")
    mixed = int(((solutions.passed > 0) & (solutions.passed < solutions.count)).sum())
    if mixed:
        yield Note(
            f"{plural(mixed, 'solution')} passed in some attempts and failed in others: each counts"
            " in distinct-pass@k by its share of passes"
        )
    if len(set(study.counts.n.tolist())) > 1:
        yield Note(
            "tasks have different numbers of attempts: solutions per task and duplicates grow with"
            " them, distinct@k and the effective number do not"
        )
    missing: dict[str, list[tuple[str, str]]] = {}
    for fact in (fact for variety in varieties for fact in variety.solutions):
        if fact.estimate.value is None:
            pair = fact.name, series_name(fact.series)
            missing.setdefault(fact.estimate.reason, []).append(pair)
    for reason, pairs in missing.items():
        yield Note(f"{numbers_of_models(pairs)}: {reason}")
    flagged = [text for variety in varieties for text in _flagged_gains(variety)]
    if flagged:
        yield Note(
            "gains from more attempts come with little variety: different solutions"
            f" {'; '.join(flagged[:_GAINS_SAID])}"
            + f" and {len(flagged) - _GAINS_SAID} more"
            * (len(flagged) > _GAINS_SAID),
            "warning",
        )


def _flagged_gains(variety: Variety) -> Iterator[str]:
    """The numbers of a model that gains with little variety."""
    gains = [
        f"{gain.variety:.2f} of {gain.k} (least {gain.least:.2f})"
        for gain in variety.gains
        if gain.flag and gain.variety is not None
    ]
    if gains:
        yield f"{', '.join(gains)} for {series_name(variety.series)}"


def _charts(study: Study) -> tuple[Plot, ...]:
    """distinct@k and distinct-correct@k over k."""
    top, points = supported_k(study.counts), np.arange(1, _CURVE_POINTS + 1)
    if top > _CURVE_POINTS:
        points = np.unique(np.geomspace(1, top, _CURVE_POINTS).round().astype(int))
    ks = points[points <= top].tolist()
    metrics = [Metric(family, k) for family in (DISTINCT, CORRECT) for k in ks]
    rows = [
        {"k": fact.k, "solutions": fact.estimate.value, "low": fact.estimate.low,
         "high": fact.estimate.high, "model": series_name(fact.series),
         "kind": f"{fact.name.removesuffix(str(fact.k))}k"}
        for fact in study.facts(metrics, study.best_first)
    ]  # fmt: skip
    chart = curves(
        rows, x="k", y="solutions", low="low", high="high", colour="model", facet="kind",
        title="Different solutions among k attempts", subtitle=study.confidence.words(),
        x_title="k", y_title="solutions", y_domain=None,
    )  # fmt: skip
    return (chart,)
