"""pass@k by temperature: which is best for which k, and which model is better where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from passk_cli.commands.temperature.answer import answer
from passk_cli.commands.temperature.law import find_laws, law_notes, law_tables
from passk_cli.commands.temperature.leads import find_leads, lead_notes, lead_tables, model_pairs
from passk_cli.commands.temperature.rivals import (
    Verdict,
    best_table,
    gather,
    heat,
    judge,
    model_of,
    temperature_pairs,
)
from passk_cli.errors import ParameterError
from passk_cli.message import Said
from passk_cli.report.model import Cell, Column, Note, Report, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import first_few, series_name
from passk_cli.study.adjustment import Adjustment
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact
from passk_cli.study.lead import lead_words
from passk_cli.study.pairs import compare_pairs
from passk_cli.study.pivot import head
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues


def temperature_report(study: Study) -> Report:
    """Estimates by temperature, T* with its tests, rank flips between models, the power law.

    study : of counts with the temperature as first group, as `by_temperature` makes them.
    All comparisons, of temperatures and of models, are adjusted together.
    Errors: ParameterError when no model has values at two temperatures.
    """
    confidence, metrics, names = study.confidence, study.metrics, study.counts.group_names
    values = study.values(only=_order(study))
    rivals = gather(values)
    if not rivals:
        raise ParameterError(_nothing(values))
    own = temperature_pairs(rivals)
    pairs = [*own, *model_pairs(values, rivals)]
    compared = compare_pairs(pairs, confidence, study.rules)
    verdicts = judge(rivals, compared[: len(own)], confidence)
    leads = find_leads(compared[len(own) :], rivals)
    laws = find_laws(values, confidence) if any(m.family == "pass@" for m in metrics) else []
    facts = _estimates(study.facts_of(values), verdicts)
    adjustment = Adjustment(compared, confidence.level, study.rules)
    differences = confidence.for_differences().as_used(adjustment.methods).method_name
    return study.report(
        [*facts, *(_difference(c, confidence) for c in compared), *(law.exponent for law in laws)],
        (
            _table(names, facts, len(metrics)),
            best_table(names[1:], verdicts, confidence),
            *law_tables(names[1:], laws),
            *lead_tables(names[1:], metrics, leads),
        ),
        context=_caption(study, facts, adjustment),
        messages=(
            *study.messages(facts),
            *_choice_notes(values, verdicts),
            *law_notes(laws),
            *lead_notes(leads, metrics),
        ),
        plots=partial(_charts, study, facts),
        differences=None if differences == confidence.method else differences,
        resamples=confidence.resamples,
        seed=confidence.seed,
        answer=answer(verdicts, metrics, _without(values, verdicts)),
        **adjustment.signature,
    )


def _nothing(values: Sequence[TaskValues]) -> str:
    """Why no two temperatures can be compared."""
    heats = {heat(rates) for rates in values}
    if len(heats) == 1:
        return f"nothing to compare: the only temperature is {heats.pop()}"
    reasons = [rates.reason for rates in values if not rates.there]
    why = reasons[0] if reasons else "no model has two, or no task is shared by them"
    return f"nothing to compare between temperatures: {why}; passk estimate shows what there is"


def _order(study: Study) -> list[int]:
    """Series by model, the one with the best pass rate at some temperature first, then by the
    number the temperature is."""
    series = study.counts.series
    best: dict[Series, float] = {}
    for name, rate in zip(series, study.pass_rates, strict=True):
        best[model_of(name)] = max(rate, best.get(model_of(name), 0.0))
    keys = [(-best[model_of(name)], model_of(name), float(name[1])) for name in series]
    return sorted(range(len(series)), key=keys.__getitem__)


def _estimates(facts: Sequence[Fact], verdicts: Sequence[Verdict]) -> list[Fact]:
    """The same with the shares of resamples in which they come first; best temperatures say so, and
    are marked when they are significantly better than every other."""
    shares = {
        (v.rivals.metric.name, series): share
        for v in verdicts
        for series, share in v.shares.items()
    }
    alone = {(v.rivals.metric.name, v.rivals.best.series): not v.alike for v in verdicts}
    words = {None: "", False: "best", True: "best, alone"}
    return [
        replace(
            fact,
            estimate=replace(fact.estimate, marked=alone.get((fact.name, fact.series), False)),
            verdict=words[alone.get((fact.name, fact.series))],
            more={"fact": "estimate", "leads": shares.get((fact.name, fact.series))},
        )
        for fact in facts
    ]


def _difference(c: Comparison, confidence: Confidence) -> Fact:
    """The tidy row of a comparison, of temperatures or of models."""
    own = model_of(c.first.series) == model_of(c.second.series)
    kind = "temperatures" if own else "models"
    return c.fact(confidence, fact=kind, temperature_against=heat(c.second))


def _table(names: Sequence[str], facts: Sequence[Fact], metrics: int) -> Table:
    """Each model at each temperature: the estimate, and its share of resamples as the first."""
    columns = [*head(names)]
    for fact in facts[:metrics]:
        columns += [Column(fact.name, "share"), Column("leads", "share", True)]
    rows: list[tuple[Cell, ...]] = []
    for start in range(0, len(facts), metrics):
        row: list[Cell] = [*facts[start].series]
        for fact in facts[start : start + metrics]:
            row += [fact.estimate, fact.more["leads"]]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def _caption(study: Study, facts: Sequence[Fact], adjustment: Adjustment) -> tuple[str, ...]:
    confidence = study.confidence
    differences = confidence.for_differences().as_used(adjustment.methods)
    return (
        study.sizes(facts),
        confidence.words(differences),
        f"tied: not significant at the {100 * (1 - confidence.level):g} % level,"
        f" {adjustment.words}, paired by task",
        adjustment.test_words,
        adjustment.decision,
        lead_words(confidence.resamples),
        "T*: the temperature with the highest estimate on the tasks that all temperatures share,"
        " the lowest of equals; bold: significantly better than every other",
    )


def _choice_notes(values: Sequence[TaskValues], verdicts: Sequence[Verdict]) -> list[Said]:
    """Which models have no T*, and where T* rests on a part of the tasks."""
    tasks: dict[Series, set[int]] = {}
    for rates in values:
        tasks.setdefault(model_of(rates.series), set()).update(rates.tasks.tolist())
    shared: dict[Series, int] = {}
    for v in verdicts:
        model, size = v.rivals.model, len(v.rivals.shared[0].tasks)
        shared[model] = min(size, shared.get(model, size))
    parts = [
        f"{series_name(model)} {size:,} of {len(tasks[model]):,}"
        for model, size in shared.items()
        if size < len(tasks[model])
    ]
    notes = []
    if parts:
        notes.append(
            Note(
                f"T* rests on the tasks that all temperatures share: {first_few(parts)}", "warning"
            )
        )
    unequal = [series_name(v.rivals.model) for v in verdicts if None in v.shares.values()]
    if unequal:
        few = first_few(list(dict.fromkeys(unequal)))
        notes.append(Note(f"leads is empty for {few}: attempts differ between temperatures"))
    lone = _without(values, verdicts)
    if lone:
        few = first_few(lone)
        notes.append(
            Note(f"no T* for {few}: it takes two temperatures with values on shared tasks")
        )
    return notes


def _without(values: Sequence[TaskValues], verdicts: Sequence[Verdict]) -> list[str]:
    """The models that have no best temperature at any metric."""
    judged = {v.rivals.model for v in verdicts}
    models = dict.fromkeys(model_of(rates.series) for rates in values)
    return [series_name(model) for model in models if model not in judged]


def _charts(study: Study, facts: Sequence[Fact]) -> tuple[Plot, ...]:
    """Every metric over the temperature, a panel per model."""
    several = len({model_of(fact.series) for fact in facts}) > 1
    rows = [
        {
            "temperature": float(fact.series[1]),
            "estimate": fact.estimate.value,
            "low": fact.estimate.low,
            "high": fact.estimate.high,
            "metric": fact.name,
            "model": series_name(model_of(fact.series)),
        }
        for fact in facts
    ]
    names = ", ".join(dict.fromkeys(f"{metric.family}k" for metric in study.metrics))
    chart = curves(
        rows, x="temperature", y="estimate", low="low", high="high", colour="metric",
        facet="model" if several else "", points=rows, title=f"{names} by temperature",
        subtitle=f"{study.sizes(facts)} · {study.confidence.words()}", x_title="temperature",
        y_title=names,
        y_domain=(0.0, 1.0) if all(m.unit == "share" for m in study.metrics) else None,
    )  # fmt: skip
    return (chart,)
