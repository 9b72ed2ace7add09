"""pass@k by temperature: which is best for which k, how sure that is, and who leads where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.metrics.registry import Metric
from passk_cli.report.estimate import (
    Line,
    evaluate,
    flaw_notes,
    short_notes,
    sizes_caption,
)
from passk_cli.report.model import Cell, Column, Note, Report, Table
from passk_cli.report.notes import first_few, plural, reading_notes
from passk_cli.report.pair_words import (
    adjustment_shown,
    adjustment_words,
    tests_shown,
    tests_words,
)
from passk_cli.report.pairs import Comparison, Rules, compare_pairs
from passk_cli.report.plot import Plot, curves
from passk_cli.report.ranked import pass_rates
from passk_cli.report.samples import Uncertainty, measure
from passk_cli.report.signature import signature
from passk_cli.report.temperature.best import (
    Verdict,
    best_table,
    gather,
    heat,
    judge,
    model_of,
    temperature_pairs,
)
from passk_cli.report.temperature.law import Law, find_laws, law_notes, law_tables
from passk_cli.report.temperature.leads import (
    find_leads,
    lead_notes,
    lead_tables,
    model_pairs,
    spoken,
)
from passk_cli.report.temperature.names import TEMPERATURE

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts


def temperature_report(
    counts: Counts,
    metrics: Sequence[Metric],
    how: Uncertainty,
    rules: Rules,
    *,
    short_tasks: str = "empty",
    source: str = TEMPERATURE,
    naming: Sequence[Note] = (),
) -> Report:
    """Estimates by temperature, T* and how sure it is, rank flips between models, the power law.

    counts : with the temperature as first group, as `by_temperature` makes them.
    source : the column the temperatures are from, or "names".  naming : a word on that.
    All comparisons, of temperatures and of models, are adjusted together.
    Errors: ParameterError when no model has values at two temperatures.
    """
    measured = measure(counts, metrics, short_tasks, only=_order(counts))
    lines = [evaluate(counts, one, how) for one in measured]
    found = gather(measured)
    if not found:
        raise ParameterError(_nothing(counts, lines))
    own = temperature_pairs(found)
    compared = compare_pairs(counts, [*own, *model_pairs(measured, found)], how, rules)
    verdicts = judge(counts, found, compared[: len(own)], how)
    leads = find_leads(compared[len(own) :], found)
    laws = find_laws(counts, measured, how) if any(m.family == "pass@" for m in metrics) else []
    lines = _marked(lines, verdicts)
    return Report(
        tables=(
            _estimates(counts, metrics, lines, verdicts),
            best_table(counts, verdicts),
            *law_tables(counts, laws),
            *lead_tables(counts, metrics, leads),
        ),
        data=_tidy(counts, lines, verdicts, compared, laws, how),
        caption=_caption(lines, how, rules, compared),
        notes=(
            *reading_notes(counts),
            *naming,
            *short_notes(lines, short_tasks),
            *flaw_notes(lines),
            *_choice_notes(lines, verdicts),
            *[Note(r, "warning") for r in dict.fromkeys(c.untested for c in compared) if r],
            *law_notes(laws),
            *lead_notes(leads, metrics),
        ),
        signature=signature(
            counts, metrics, **_decisions(how, rules, compared, short_tasks, source)
        ),
        plots=(_chart(metrics, lines, how),),
    )


def _decisions(
    how: Uncertainty, rules: Rules, compared: Sequence[Comparison], short_tasks: str, source: str
) -> dict[str, object]:
    """Entries of the signature."""
    differences = how.for_differences().method
    return {
        **how.signature(),
        "differences": None if differences == how.method else differences,
        "resamples": how.resamples,
        "seed": how.seed,
        "test": tests_shown(c.test for c in compared),
        "adjust": adjustment_shown(compared, how, rules),
        "temperature": source if source != TEMPERATURE else None,
        "short tasks": short_tasks if short_tasks != "empty" else None,
    }


def _nothing(counts: Counts, lines: Sequence[Line]) -> str:
    """Why no two temperatures can be compared."""
    heats = {heat(line.measured) for line in lines}
    if len(heats) == 1:
        return f"nothing to compare: the only temperature is {heats.pop()}"
    reasons = [line.measured.reason for line in lines if line.measured.values is None]
    why = reasons[0] if reasons else "no model has two, or no task is shared by them"
    return f"nothing to compare between temperatures: {why}; passk estimate shows what there is"


def _order(counts: Counts) -> list[int]:
    """Series by model, the one with the best pass rate at some temperature first, then by the
    number the temperature is."""
    models = [(series[0], *series[2:]) for series in counts.series]
    best: dict[tuple[str, ...], float] = {}
    for model, rate in zip(models, pass_rates(counts), strict=True):
        best[model] = max(rate, best.get(model, 0.0))
    heats = [float(series[1]) for series in counts.series]
    return sorted(range(len(models)), key=lambda s: (-best[models[s]], models[s], heats[s]))


def _marked(lines: Sequence[Line], verdicts: Sequence[Verdict]) -> list[Line]:
    """Mark a best temperature that is told apart from every other."""
    sure = {(v.rivals.metric, v.rivals.best.series) for v in verdicts if not v.alike}
    return [
        replace(line, estimate=replace(line.estimate, marked=True))
        if (line.measured.metric, line.series) in sure
        else line
        for line in lines
    ]


def _estimates(
    counts: Counts, metrics: Sequence[Metric], lines: Sequence[Line], verdicts: Sequence[Verdict]
) -> Table:
    """Each model at each temperature: the estimate, and its share of resamples in the lead."""
    columns = [Column("model"), *(Column(g) for g in counts.group_names)]
    for metric in metrics:
        columns += [Column(metric.name, "share"), Column("leads", "share", True)]
    shares = _shares(verdicts)
    rows: list[tuple[Cell, ...]] = []
    for start in range(0, len(lines), len(metrics)):
        mine = lines[start : start + len(metrics)]
        row: list[Cell] = list(mine[0].series)
        for line in mine:
            row += [line.estimate, shares.get((line.measured.metric, line.series))]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def _shares(verdicts: Sequence[Verdict]) -> dict[tuple[Metric, tuple[str, ...]], float | None]:
    return {
        (v.rivals.metric, series): share for v in verdicts for series, share in v.shares.items()
    }


def _tidy(
    counts: Counts,
    lines: Sequence[Line],
    verdicts: Sequence[Verdict],
    compared: Sequence[Comparison],
    laws: Sequence[Law],
    how: Uncertainty,
) -> Table:
    """One row per estimate, per difference (of temperatures, of models) and per power law."""
    groups = counts.group_names
    names = (
        "fact", "model", *groups, "against", "temperature_against", "metric", "k", "estimate",
        "low", "high", "level", "interval", "leads", "p", "p_adjusted", "test",
        "verdict", "factor", "tasks", "note",
    )  # fmt: skip
    shares, differences = _shares(verdicts), how.for_differences().method
    best = {(v.rivals.metric, v.rivals.best.series): v for v in verdicts}
    rows: list[tuple[Cell, ...]] = []
    for line in lines:
        one, value = line.measured, line.estimate
        key = (one.metric, one.series)
        star = "" if key not in best else "best, alone" if not best[key].alike else "best"
        rows.append(
            (
                "estimate", *line.series, None, None, one.metric.name, one.metric.k, value.value,
                value.low, value.high, how.level, how.method, shares.get(key), None, None,
                None, star, None, len(one.n), "; ".join(filter(None, (value.reason, line.flaw))),
            )
        )  # fmt: skip
    for c in compared:
        a, b, limits = c.first, c.second, c.interval
        low, high = (None, None) if limits is None else (limits.low, limits.high)
        fact = "temperatures" if model_of(a) == model_of(b) else "models"
        rows.append(
            (
                fact, *a.series, b.series[0], heat(b), a.metric.name, a.metric.k, c.difference,
                low, high, how.level, differences, None, _or_none(c.p), _or_none(c.adjusted),
                c.test, c.verdict, None, len(c.tasks),
                c.flaws,
            )
        )  # fmt: skip
    for law in laws:
        model, *others = law.model
        rows.append(
            (
                "power law", model, None, *others, None, None, "pass@k", None,
                _or_none(law.exponent), law.low, law.high, how.level, "percentile", None, None,
                None, None, "", _or_none(law.factor), None, law.reason,
            )
        )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _caption(
    lines: Sequence[Line], how: Uncertainty, rules: Rules, compared: Sequence[Comparison]
) -> str:
    differences = how.for_differences().method
    return " · ".join(
        (
            sizes_caption(lines),
            how.words() + ("" if differences == how.method else f", {differences} for differences"),
            f"told apart at {100 * how.level:g} %, {adjustment_words(compared, how, rules)}, paired"
            " by task",
            *tests_words(compared),
            f"leads: share of {how.resamples:,} resamples of the tasks in the lead",
        )
    )


def _choice_notes(lines: Sequence[Line], verdicts: Sequence[Verdict]) -> list[Note]:
    """Which models have no T*, and where T* rests on a part of the tasks."""
    tasks: dict[tuple[str, ...], set[int]] = {}
    for line in lines:
        tasks.setdefault(model_of(line.measured), set()).update(line.measured.tasks.tolist())
    shared: dict[tuple[str, ...], int] = {}
    for v in verdicts:
        model, size = v.rivals.model, len(v.rivals.tasks)
        shared[model] = min(size, shared.get(model, size))
    notes = [
        Note(
            f"T* of {spoken(model)} rests on the {plural(size, 'task')} that all its temperatures"
            f" have, of {len(tasks[model]):,}",
            "warning",
        )
        for model, size in shared.items()
        if size < len(tasks[model])
    ]
    unequal = dict.fromkeys(spoken(v.rivals.model) for v in verdicts if None in v.shares.values())
    if unequal:
        few = first_few(list(unequal))
        notes.append(Note(f"leads is empty for {few}: attempts differ between temperatures"))
    lone = [spoken(model) for model in tasks if model not in shared]
    if lone:
        few = first_few(lone)
        notes.append(Note(f"no T* for {few}: no two temperatures with values on shared tasks"))
    return notes


def _chart(metrics: Sequence[Metric], lines: Sequence[Line], how: Uncertainty) -> Plot:
    several = len({model_of(line.measured) for line in lines}) > 1
    rows = [
        {
            "temperature": float(heat(line.measured)),
            "estimate": line.estimate.value,
            "low": line.estimate.low,
            "high": line.estimate.high,
            "metric": line.measured.metric.name,
            "model": spoken(model_of(line.measured)),
        }
        for line in lines
    ]
    what = ", ".join(dict.fromkeys(f"{metric.family}k" for metric in metrics))
    return curves(
        rows, x="temperature", y="estimate", low="low", high="high", colour="metric",
        facet="model" if several else "", points=rows, title=f"{what} by temperature",
        subtitle=f"{sizes_caption(lines)} · {how.words()}", x_title="temperature", y_title=what,
        y_domain=(0.0, 1.0) if all(metric.unit == "share" for metric in metrics) else None,
    )  # fmt: skip
