"""Rules for a pipeline: each with its evidence and a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.metrics.registry import Metric, parse
from passk_cli.report.baseline import (
    Coverage,
    Series,
    Sides,
    coverage,
    coverage_of_rivals,
    left_out,
)
from passk_cli.report.estimate import evaluate
from passk_cli.report.model import Cell, Check, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.pair_tests import INTERVAL, MCNEMAR, SIGN_FLIP
from passk_cli.report.pair_words import tests_shown
from passk_cli.report.pairs import (
    WORSE,
    Comparison,
    Rules,
    compare_pairs,
    difference_interval,
    match,
)
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes, measure
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts

PASS, FAIL, UNDECIDED, ERROR = "pass", "fail", "undecided", "error"
ON_UNDECIDED = (PASS, FAIL)
UNPAIRED = ("fail", "drop")


@dataclass(frozen=True)
class GateRules:
    """What is asked of a candidate.

    max_drop : metric → how far it may fall below the baseline.
    minimum : metric → what it must reach (its lower limit, when strict).
    no_regression : no significant drop in any of the metrics after adjustment.
    on_undecided : what a rule without enough evidence counts as, "pass" or "fail".
    unpaired : what becomes of tasks of the baseline without attempts in the new run: "fail", a
        rule of its own, or "drop", the others are compared and every line says how many those are.
    """

    max_drop: dict[Metric, float]
    minimum: dict[Metric, float]
    no_regression: bool = False
    strict: bool = False
    on_undecided: str = PASS
    unpaired: str = "fail"

    def checked(self) -> GateRules:
        """The same; ParameterError when there is no rule, or one that makes no sense."""
        if not (self.max_drop or self.minimum or self.no_regression):
            raise ParameterError(
                "no rule to check; give --max-drop pass@1=0.02, --min pass@10=0.80"
                " or --no-regression"
            )
        if self.on_undecided not in ON_UNDECIDED:
            raise ParameterError(f"--on-undecided {self.on_undecided}: it is one of pass, fail")
        if self.unpaired not in UNPAIRED:
            raise ParameterError(f"--unpaired {self.unpaired}: it is one of fail, drop")
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


@dataclass(frozen=True)
class Gate:
    """Everything the rules are judged with: the two sides, what is asked, and how.

    tested : the metrics --no-regression asks about.
    """

    sides: Sides
    rules: GateRules
    how: Uncertainty
    judging: Rules
    tested: tuple[Metric, ...]
    short_tasks: str = "empty"

    @property
    def compares(self) -> bool:
        """Whether a rule asks about differences."""
        return bool(self.rules.max_drop) or self.rules.no_regression

    @cached_property
    def needed(self) -> tuple[Metric, ...]:
        """Every metric a rule needs."""
        return self.rules.metrics(self.tested)

    @cached_property
    def candidates(self) -> list[Measured]:
        """The candidates' series × metrics."""
        return measure(self.sides.counts, self.needed, self.short_tasks, self.sides.candidates)

    @cached_property
    def bases(self) -> dict[tuple[Metric, Series], Measured]:
        """The baseline's."""
        if self.sides.baseline is None:
            return {}
        measured = measure(self.sides.baseline, self.needed, self.short_tasks, self.sides.bases)
        return {(one.metric, one.series): one for one in measured}

    @cached_property
    def covered(self) -> dict[Series, Coverage | None]:
        """What each candidate's series has of its baseline's tasks."""
        return {series: coverage(self.sides, series) for series in self.sides.series}

    def base(self, one: Measured) -> Measured | None:
        """What a candidate's values are compared with, if there is something."""
        series = self.sides.base(one.series)
        return None if series is None else self.bases[one.metric, series]


def gate_report(counts: Counts, gate: Gate) -> Report:
    """Every rule for every candidate, in each group.

    counts : the new run as it was read, for the signature and the notes.
    A rule that cannot be checked is a row with the verdict "error", and shuts the gate.
    Errors: ParameterError when a drop is asked for without baseline.
    """
    sides, rules = gate.sides, gate.rules
    if gate.compares and sides.baseline is None:
        raise ParameterError("--max-drop and --no-regression need a --baseline FILE or NAME")
    gate = replace(gate, how=gate.how.knowing(gate.needed))
    checks = _coverage_checks(gate)
    checks += [_minimum(gate, one) for one in gate.candidates if one.metric in rules.minimum]
    if gate.compares:
        checks += _against(gate)
    if not checks:
        raise ParameterError(
            "no rule was checked: the new run and the baseline share no group; see --by"
        )
    checks = [replace(c, failing=_shuts(c, rules.on_undecided)) for c in checks]
    several = len({c.model for c in checks}) > 1
    return Report(
        tables=(_table(checks, several),),
        data=_tidy(checks),
        caption=_caption(checks, gate),
        notes=(*_notes_of_reading(counts, sides), *_notes(checks, gate)),
        signature=_signature(counts, gate, checks),
        checks=tuple(checks),
    )


def exit_code(checks: Sequence[Check]) -> int:
    """0 when all hold; 1 when a rule fails; 3 when one only cannot be checked."""
    shutting = {check.verdict for check in checks if check.failing}
    return 0 if not shutting else 3 if shutting == {ERROR} else 1


def _shuts(check: Check, on_undecided: str) -> bool:
    """A rule that cannot be checked must not open the gate, whatever --on-undecided says."""
    return check.verdict in (FAIL, ERROR) or (check.verdict == UNDECIDED and on_undecided == FAIL)


def _unchecked(check: Check, reason: str) -> Check:
    detail = "; ".join(filter(None, (f"cannot be checked: {reason}", check.detail)))
    return replace(check, evidence=Estimate(None), verdict=ERROR, detail=detail)


def _coverage_checks(gate: Gate) -> list[Check]:
    """Whether the new run has every task of the baseline, unless it may lack some."""
    if gate.sides.baseline is None or gate.rules.unpaired == "drop":
        return []
    checks = []
    for series, covered in gate.covered.items():
        if covered is not None:
            lost = covered.expected - covered.shared
            told = [_lost(lost, covered.expected, series)] if lost else []
            checks.append(_coverage_check(series, covered, [*told, *_lesser(gate, series)]))
        elif gate.sides.partner(series[0]) is None:
            check = Check(_name(series), _COVERAGE, "", ERROR)
            checks.append(_unchecked(check, gate.sides.lacking(series)))
    for series, count in gate.sides.missing.items():
        checks.append(_coverage_check(series, Coverage(0, count), [_lost(count, count, series)]))
    return checks


_COVERAGE = "every baseline task run"


def _coverage_check(series: Series, covered: Coverage, details: Sequence[str]) -> Check:
    return Check(
        _name(series),
        _COVERAGE,
        f"{covered.shared:,} of {covered.expected:,}",
        PASS if covered.shared == covered.expected else FAIL,
        "; ".join(details),
        tasks=covered.shared + covered.more,
        shared=covered.shared,
        baseline_tasks=covered.expected,
    )


def _lost(count: int, of: int, series: Series) -> str:
    have = "has" if count == 1 else "have"
    return f"{count:,} of {plural(of, 'baseline task')} {have} no attempts in {_name(series)}"


def _lesser(gate: Gate, series: Series) -> list[str]:
    """What a candidate's numbers rest on besides lost tasks, as far as it is not all there is."""
    words = []
    covered = gate.covered[series]
    if covered is not None and covered.fewer:
        words.append(
            f"fewer attempts than in the baseline at {plural(covered.fewer, 'task')}"
            f" ({covered.attempts:,} of {covered.base_attempts:,})"
        )
    if covered is not None and covered.more:
        words.append(f"{plural(covered.more, 'task')} more than in the baseline")
    if gate.rules.unpaired == "drop":
        # Without a line of their own: nothing of these was run.
        missing = gate.sides.missing.items()
        words += [f"0 of {plural(n, 'baseline task')} in {_name(series)}" for series, n in missing]
    words += left_out(gate.sides.counts.facts)
    if gate.sides.apart and gate.sides.baseline is not None:
        words += [f"baseline: {told}" for told in left_out(gate.sides.baseline.facts)]
    return words


def _details(gate: Gate, one: Measured, noun: str) -> list[str]:
    """What a line's numbers leave out, in its own words.

    noun : what the tasks are counted among when some are lost.
    """
    covered = gate.covered[one.series]
    words = []
    if covered is not None and covered.shared < covered.expected:
        words.append(f"{covered.shared:,} of {covered.expected:,} {noun} tasks")
    if gate.sides.baseline is None:
        covered = coverage_of_rivals(gate.sides, one.series)
        if covered.shared < covered.expected:
            words.append(f"{covered.shared:,} of {covered.expected:,} tasks in the data")
    return [*words, *_lesser(gate, one.series)]


def _check(gate: Gate, one: Measured, rule: str, limit: float | None, details: list[str]) -> Check:
    """A rule about a candidate's metric, yet without evidence and verdict."""
    covered = gate.covered[one.series]
    return Check(
        one.name,
        f"{one.metric.name} {rule}",
        "",
        PASS,
        "; ".join(details),
        metric=one.metric.name,
        limit=limit,
        shared=None if covered is None else covered.shared,
        baseline_tasks=None if covered is None else covered.expected,
    )


def _minimum(gate: Gate, one: Measured) -> Check:
    least, strict = gate.rules.minimum[one.metric], gate.rules.strict
    rule = f"≥ {least:g}" + (" (lower limit)" if strict else "")
    line = evaluate(gate.sides.counts, one, gate.how)
    estimate = line.estimate
    short = [one.reason] if one.values is not None and one.reason else []
    check = _check(gate, one, rule, least, [*short, *_details(gate, one, "baseline")])
    bar = estimate.low if strict else estimate.value
    if estimate.value is None or bar is None:
        return _unchecked(check, estimate.reason or line.flaw)
    verdict = PASS if bar >= least - 1e-12 else FAIL
    return replace(check, evidence=estimate, verdict=verdict, tasks=len(one.tasks))


def _against(gate: Gate) -> list[Check]:
    """The rules that compare with the baseline."""
    rules, counts = gate.rules, gate.sides.counts
    tested: list[tuple[Measured, Measured]] = []
    dropped: list[Comparison] = []
    unmatched: list[Check] = []
    for one in gate.candidates:
        asked = rules.no_regression and one.metric in gate.tested
        limit = rules.max_drop.get(one.metric)
        base = gate.base(one)
        if base is None:
            unmatched += _unmatched(gate, one, asked, limit)
            continue
        if asked:
            tested.append((one, base))
        if limit is not None:
            dropped.append(match(one, base))
    # Only what --no-regression tests counts as a test: the interval of --max-drop needs no p.
    compared = compare_pairs(counts, tested, gate.how, gate.judging)
    tests = sum(not c.reason for c in compared)
    checks = [_regression(gate, comparison, tests) for comparison in compared]
    for c in dropped:
        limits = None if c.reason else difference_interval(counts, c, gate.how)
        checks.append(_drop(gate, replace(c, interval=limits)))
    return checks + unmatched


def _unmatched(gate: Gate, one: Measured, asked: bool, limit: float | None) -> list[Check]:
    """The rules of a candidate with nothing to compare with; left out where that is allowed."""
    model_known = gate.sides.partner(one.series[0]) is not None
    if gate.rules.unpaired == "drop" and model_known:
        return []
    texts = [_NO_REGRESSION] if asked else []
    texts += [] if limit is None else [_drop_rule(limit)]
    reason = gate.sides.lacking(one.series)
    return [_unchecked(_check(gate, one, text, limit, []), reason) for text in texts]


def _evidence(c: Comparison) -> Estimate:
    low, high = (None, None) if c.interval is None else (c.interval.low, c.interval.high)
    share = c.first.metric.unit == "share"
    return Estimate(c.difference, None, low, high, reason=c.reason, signed=True, share=share)


_NO_REGRESSION = "no regression"


def _drop_rule(most: float) -> str:
    return f"drop ≤ {most:g}"


def _compared(gate: Gate, c: Comparison, rule: str, limit: float | None) -> Check:
    """A rule about a difference with its evidence, and what that leaves out."""
    short = [m.reason for m in (c.first, c.second) if m.values is not None and m.reason]
    details = [*short, *_details(gate, c.first, "shared")]
    check = _check(gate, c.first, rule, limit, details)
    return replace(check, evidence=_evidence(c), tasks=len(c.tasks))


def _drop(gate: Gate, c: Comparison) -> Check:
    """Fails when even the upper limit of the difference lies below −most."""
    most = gate.rules.max_drop[c.first.metric]
    check = _compared(gate, c, _drop_rule(most), most)
    limits = c.interval
    if c.difference is None or limits is None or limits.low is None or limits.high is None:
        return _unchecked(check, c.reason or (limits.reason if limits else ""))
    if limits.low >= -most:
        return check
    if limits.high < -most:
        return replace(check, verdict=FAIL)
    detail = "; ".join(filter(None, (_needed(c, most), check.detail)))
    return replace(check, verdict=UNDECIDED, detail=detail)


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


def _least_p(c: Comparison, units: int) -> float:
    """The smallest p of this test on so many tasks or clusters, whatever their outcomes."""
    if c.test in (SIGN_FLIP, MCNEMAR):
        return 2.0 ** (1 - units)
    return c.smallest if c.test == INTERVAL else 0.0


def _units(gate: Gate, c: Comparison) -> int:
    """What the test takes as independent: the tasks, or their clusters."""
    codes = cluster_codes(gate.sides.counts, c.tasks)
    return len(c.tasks) if codes is None else len(set(codes.tolist()))


def _regression(gate: Gate, c: Comparison, tests: int) -> Check:
    check = _compared(gate, c, _NO_REGRESSION, None)
    if not c.testable:
        return _unchecked(check, c.reason or c.untested or "its test has no p")
    told = f"p = {c.adjusted:.4f}" if c.adjusted >= 1e-4 else "p < 0.0001"
    told += f" ({gate.judging.adjust} over {plural(tests, 'test')})" if tests > 1 else ""
    verdict = FAIL if c.verdict == WORSE else PASS
    units = _units(gate, c)
    if _least_p(c, units) > 1 - gate.how.level + 1e-12:
        noun = "task" if gate.sides.counts.clusters is None else "cluster"
        verdict = UNDECIDED
        told += f"; with {plural(units, noun)} no drop can be significant"
    return replace(
        check,
        verdict=verdict,
        detail="; ".join(filter(None, (told, check.detail))),
        p=c.p,
        adjusted=c.adjusted,
        test=c.test,
    )


def _name(series: Series) -> str:
    """The model and its groups, for people."""
    return " ".join(part or '""' for part in series)


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
    names = (
        "model", "rule", "metric", "limit", "value", "low", "high", "p", "p_adjusted", "tasks",
        "shared_tasks", "baseline_tasks", "verdict", "detail",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for c in checks:
        shown = c.evidence if isinstance(c.evidence, Estimate) else Estimate(None)
        rows.append(
            (
                c.model, c.rule, c.metric, c.limit, shown.value, shown.low, shown.high, c.p,
                c.adjusted, c.tasks, c.shared, c.baseline_tasks, c.verdict, c.detail,
            )
        )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))


def _caption(checks: Sequence[Check], gate: Gate) -> str:
    how = gate.how
    counted = {v: sum(c.verdict == v for c in checks) for v in (PASS, FAIL, UNDECIDED, ERROR)}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)
    other = how.for_differences().shown
    of_differences = f", {other} for differences" if gate.compares and other != how.shown else ""
    if gate.compares:
        of_differences += " (model − baseline)"
    return f"{plural(len(checks), 'rule')}: {told} · {how.words()}{of_differences}"


def _signature(counts: Counts, gate: Gate, checks: Sequence[Check]) -> dict[str, object]:
    how, rules, judging = gate.how, gate.rules, gate.judging
    draws = rules.no_regression or how.resampled
    return signature(
        counts,
        gate.needed,
        **{
            **how.signature(),
            "differences": how.for_differences().shown if gate.compares else None,
            "test": tests_shown([check.test for check in checks]) or None,
            "resamples": how.resamples if draws else None,
            "seed": how.seed if draws else None,
            "adjust": judging.adjust if rules.no_regression else None,
            "baseline": gate.sides.label or None,
            "unpaired": rules.unpaired if gate.sides.label else None,
            "short tasks": gate.short_tasks if gate.short_tasks != "empty" else None,
            "on undecided": rules.on_undecided,
        },
    )


def _notes_of_reading(counts: Counts, sides: Sides) -> list[Note]:
    """What reading did to the new run, and to the baseline where that is another file."""
    notes = reading_notes(counts)
    if sides.apart and sides.baseline is not None:
        notes += [
            replace(note, text=f"baseline {sides.label}: {note.text}")
            for note in reading_notes(sides.baseline)
        ]
    return notes


def _notes(checks: Sequence[Check], gate: Gate) -> list[Note]:
    notes = _dropped_notes(gate) if gate.rules.unpaired == "drop" else []
    if gate.sides.baseline is None:
        notes += _rival_notes(gate)
    undecided = sum(c.verdict == UNDECIDED for c in checks)
    if undecided:
        on_undecided = gate.rules.on_undecided
        other = FAIL if on_undecided == PASS else PASS
        notes.append(
            Note(
                f"{plural(undecided, 'rule')} without enough evidence either way,"
                f" counted as {on_undecided}; --on-undecided {other} counts them as {other}",
                "warning",
            )
        )
    return notes


def _dropped_notes(gate: Gate) -> list[Note]:
    """What --unpaired drop leaves out of all rules: tasks, and whole groups."""
    told = []
    for series, covered in gate.covered.items():
        if covered is not None and covered.shared < covered.expected:
            lost = covered.expected - covered.shared
            told.append(_lost(lost, covered.expected, series))
        elif covered is None and gate.compares and gate.sides.partner(series[0]) is not None:
            told.append(f"{_name(series)} is not compared: {gate.sides.lacking(series)}")
    told += [_lost(count, count, series) for series, count in gate.sides.missing.items()]
    return [Note(text, "warning") for text in told]


def _rival_notes(gate: Gate) -> list[Note]:
    """Without a baseline, what one candidate lacks of what the others have."""
    notes = []
    series = gate.sides.series
    for one in series:
        covered = coverage_of_rivals(gate.sides, one)
        if covered.shared < covered.expected:
            lost = covered.expected - covered.shared
            of = f"{lost:,} of {plural(covered.expected, 'task')}"
            notes.append(Note(f"{_name(one)} has no attempts at {of} of the data", "warning"))
    for group in dict.fromkeys(one[1:] for one in series):
        for model in dict.fromkeys(one[0] for one in series):
            if (model, *group) not in series:
                notes.append(Note(f"{model} has no attempts in {_name(group)}", "warning"))
    return notes
