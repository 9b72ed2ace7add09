"""Rules for a pipeline: each with its evidence and a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passk_cli.errors import DataError, ParameterError
from passk_cli.estimators.metric import Metric, parse
from passk_cli.report.estimate import evaluate
from passk_cli.report.model import Cell, Check, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.pairs import (
    WORSE,
    Comparison,
    Rules,
    compare_pairs,
    difference_interval,
    match,
)
from passk_cli.report.samples import Measured, Uncertainty, measure
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from passk_cli.outcomes.model import Counts

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
ON_UNDECIDED = (PASS, FAIL)


@dataclass(frozen=True)
class GateRules:
    """What is asked of a candidate.

    max_drop : metric → how far it may fall below the baseline.
    minimum : metric → what it must reach (its lower limit, when strict).
    no_regression : no significant drop in any of the metrics after adjustment.
    on_undecided : what a rule without enough evidence counts as, "pass" or "fail".
    """

    max_drop: dict[Metric, float]
    minimum: dict[Metric, float]
    no_regression: bool = False
    strict: bool = False
    on_undecided: str = PASS

    def checked(self) -> GateRules:
        """The same; ParameterError when there is no rule, or one that makes no sense."""
        if not (self.max_drop or self.minimum or self.no_regression):
            raise ParameterError(
                "no rule to check; give --max-drop pass@1=0.02, --min pass@10=0.80"
                " or --no-regression"
            )
        if self.on_undecided not in ON_UNDECIDED:
            raise ParameterError(f"--on-undecided {self.on_undecided}: it is one of pass, fail")
        if self.strict and not self.minimum:
            raise ParameterError("--strict says how --min is read; there is no --min")
        return self

    def metrics(self, more: Sequence[Metric]) -> tuple[Metric, ...]:
        """Every metric a rule needs."""
        asked = (*self.max_drop, *self.minimum, *(more if self.no_regression else ()))
        return tuple(dict.fromkeys(asked))


def parse_limits(option: str, texts: Sequence[str]) -> dict[Metric, float]:
    """`["pass@1=0.02"]` → {pass@1: 0.02}; percentages may be written 2%."""
    limits: dict[Metric, float] = {}
    for text in (part for whole in texts for part in whole.split(",")):
        name, equals, value = text.partition("=")
        try:
            number = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            number = math.nan
        if not equals or not math.isfinite(number):
            raise ParameterError(f"{option} {text}: write METRIC=X, as in pass@1=0.02")
        metric = parse(name)
        if metric.unit == "share" and not 0.0 <= number <= 1.0:
            raise ParameterError(f"{option} {text}: write METRIC=X with X from 0 to 1")
        if metric in limits:
            raise ParameterError(f"{option} {metric.name} is given twice")
        limits[metric] = number
    return limits


def gate_report(
    counts: Counts,
    baseline: str | None,
    rules: GateRules,
    how: Uncertainty,
    judging: Rules,
    metrics: Sequence[Metric],
    short_tasks: str = "empty",
) -> Report:
    """Every rule for every candidate (each model but the baseline, in each group).

    Errors: ParameterError when there is no candidate, or a drop is asked for without baseline.
    """
    names = sorted({series[0] for series in counts.series})
    if baseline is not None and baseline not in names:
        raise ParameterError(
            f"--baseline {baseline}: no such file, and no such model; there are {', '.join(names)}"
        )
    needed = rules.metrics(metrics)
    how = how.knowing(needed)
    most = int(counts.n.max())
    for metric in needed:
        if metric.k > most:
            raise ParameterError(f"{metric.name} needs {metric.k} attempts; the most is {most}")
    measured = measure(counts, needed, short_tasks)
    candidates = [m for m in measured if m.series[0] != baseline]
    if not candidates:
        raise ParameterError("no candidate: every model in the data is the baseline")
    checks: list[Check] = []
    for one in candidates:
        if one.metric in rules.minimum:
            checks.append(_minimum(counts, one, rules, how))
    compares = bool(rules.max_drop) or rules.no_regression
    draws = rules.no_regression or how.resampled
    if compares:
        checks += _against(counts, baseline, candidates, measured, rules, how, judging, metrics)
    several = len({c.series for c in candidates}) > 1
    return Report(
        tables=(_table(checks, several),),
        data=_tidy(checks),
        caption=_caption(checks, how, compares),
        notes=(*reading_notes(counts), *_notes(checks, rules)),
        signature=signature(
            counts,
            needed,
            **{
                **how.signature(),
                "differences": how.for_differences().shown if compares else None,
                "test": judging.test if rules.no_regression else None,
                "resamples": how.resamples if draws else None,
                "seed": how.seed if draws else None,
                "adjust": judging.adjust if rules.no_regression else None,
                "baseline": baseline,
                "on undecided": rules.on_undecided,
            },
        ),
        checks=tuple(replace(c, failing=failed([c], rules.on_undecided)) for c in checks),
    )


def failed(checks: Sequence[Check], on_undecided: str) -> bool:
    """Whether the gate stays shut."""
    return any(
        c.verdict == FAIL or (c.verdict == UNDECIDED and on_undecided == FAIL) for c in checks
    )


def _unchecked(who: str, rule: str, reason: str) -> DataError:
    """A rule that cannot be checked must not open the gate, whatever --on-undecided says."""
    return DataError(f"{who}: {rule}", f"cannot be checked: {reason}", "no verdict was reached")


def _minimum(counts: Counts, one: Measured, rules: GateRules, how: Uncertainty) -> Check:
    least = rules.minimum[one.metric]
    rule = f"{one.metric.name} ≥ {least:g}" + (" (lower limit)" if rules.strict else "")
    who = one.name
    line = evaluate(counts, one, how)
    estimate = line.estimate
    bar = estimate.low if rules.strict else estimate.value
    if estimate.value is None or bar is None:
        raise _unchecked(who, rule, estimate.reason or line.flaw)
    verdict = PASS if bar >= least - 1e-12 else FAIL
    return Check(who, rule, estimate, verdict, estimate.reason)


def _against(
    counts: Counts,
    baseline: str | None,
    candidates: Sequence[Measured],
    measured: Sequence[Measured],
    rules: GateRules,
    how: Uncertainty,
    judging: Rules,
    metrics: Sequence[Metric],
) -> list[Check]:
    """The rules that compare with the baseline."""
    if baseline is None:
        raise ParameterError("--max-drop and --no-regression need a --baseline FILE or NAME")
    bases = {(m.metric, m.series[1:]): m for m in measured if m.series[0] == baseline}
    tested, dropped = [], []
    for one in candidates:
        base = bases.get((one.metric, one.series[1:]))
        asked = rules.no_regression and one.metric in metrics
        if not asked and one.metric not in rules.max_drop:
            continue
        if base is None:
            raise _unchecked(one.name, one.metric.name, f"{baseline} is not in this group")
        if asked:
            tested.append((one, base))
        if one.metric in rules.max_drop:
            dropped.append(match(one, base, judging.unpaired))
    # Only what --no-regression tests counts as a test: the interval of --max-drop needs no p.
    compared = compare_pairs(counts, tested, how, judging)
    checks = [_regression(comparison, judging, len(tested)) for comparison in compared]
    for c in dropped:
        limits = None if c.reason else difference_interval(counts, c, how)
        checks.append(_drop(replace(c, interval=limits), rules.max_drop[c.first.metric]))
    return checks


def _evidence(c: Comparison) -> Estimate:
    low, high = (None, None) if c.interval is None else (c.interval.low, c.interval.high)
    share = c.first.metric.unit == "share"
    return Estimate(c.difference, None, low, high, reason=c.reason, signed=True, share=share)


def _drop(c: Comparison, most: float) -> Check:
    """Fails when even the upper limit of the difference lies below −most."""
    who, rule = c.first.name, f"{c.first.metric.name} drop ≤ {most:g}"
    evidence = _evidence(c)
    if evidence.value is None or evidence.low is None or evidence.high is None:
        raise _unchecked(who, rule, c.reason or (c.interval.reason if c.interval else ""))
    if evidence.low >= -most:
        return Check(who, rule, evidence, PASS, "")
    if evidence.high < -most:
        return Check(who, rule, evidence, FAIL, "")
    return Check(who, rule, evidence, UNDECIDED, _needed(c, most))


def _needed(c: Comparison, most: float) -> str:
    """About how many tasks would settle it: the interval's reach shrinks with their root."""
    assert c.interval is not None
    assert c.difference is not None
    assert c.interval.low is not None
    assert c.interval.high is not None
    away = c.difference + most
    reach = c.difference - c.interval.low if away > 0 else c.interval.high - c.difference
    if abs(away) < 1e-3:
        return "no number of tasks would decide it: the drop lies on the limit"
    count = math.ceil(len(c.tasks) * (reach / abs(away)) ** 2)
    if count > 10_000_000:
        return "no feasible number of tasks would decide it: the drop lies on the limit"
    return f"about {plural(count, 'task')} would decide it, if the difference stays"


def _regression(c: Comparison, judging: Rules, tests: int) -> Check:
    who, rule = c.first.name, f"{c.first.metric.name} no regression"
    evidence = _evidence(c)
    if c.reason:
        raise _unchecked(who, rule, c.reason)
    told = f"p = {c.adjusted:.4f}" if c.adjusted >= 1e-4 else "p < 0.0001"
    adjusted = f" ({judging.adjust} over {plural(tests, 'test')})" if tests > 1 else ""
    return Check(who, rule, evidence, FAIL if c.verdict == WORSE else PASS, told + adjusted)


def _table(checks: Sequence[Check], several: bool) -> Table:
    columns = [Column("model")] if several else []
    columns += [Column("rule"), Column("evidence", "share"), Column("verdict"), Column("detail")]
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        row: tuple[Cell, ...] = (check.rule, check.evidence, check.verdict, check.detail)
        rows.append((check.model, *row) if several else row)
    if not any(check.detail for check in checks):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(tuple(columns), tuple(rows))


def _tidy(checks: Sequence[Check]) -> Table:
    names = ("model", "rule", "value", "low", "high", "verdict", "detail")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (c.model, c.rule, c.evidence.value, c.evidence.low, c.evidence.high, c.verdict, c.detail)
        for c in checks
    )
    return Table(tuple(Column(name) for name in names), rows)


def _caption(checks: Sequence[Check], how: Uncertainty, compares: bool) -> str:
    counted = {v: sum(c.verdict == v for c in checks) for v in (PASS, FAIL, UNDECIDED)}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)
    other = how.for_differences().shown
    of_differences = f", {other} for differences" if compares and other != how.shown else ""
    if compares:
        of_differences += " (model − baseline)"
    return f"{plural(len(checks), 'rule')}: {told} · {how.words()}{of_differences}"


def _notes(checks: Sequence[Check], rules: GateRules) -> list[Note]:
    undecided = sum(c.verdict == UNDECIDED for c in checks)
    if not undecided:
        return []
    other = FAIL if rules.on_undecided == PASS else PASS
    return [
        Note(
            f"{plural(undecided, 'rule')} without enough evidence either way,"
            f" counted as {rules.on_undecided}; --on-undecided {other} counts them as {other}",
            "warning",
        )
    ]
