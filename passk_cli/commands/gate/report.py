"""The report of a gate: a line per judgement, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.commands.gate.judgement import Judgement, at_both_ends
from passk_cli.commands.gate.sentences import over_tests
from passk_cli.commands.gate.sides import coverage_of_rivals
from passk_cli.commands.gate.trial import Trial
from passk_cli.commands.gate.verdicts import ERROR, FAIL, PASS, UNDECIDED, VERDICTS
from passk_cli.commands.tasks.flips import Side, changes_listed, find_flips
from passk_cli.errors import ParameterError
from passk_cli.message import Said
from passk_cli.report.model import Cell, Check, Column, Note, Phrase, Report, Table
from passk_cli.report.words import first_few, plural, series_name
from passk_cli.study.adjustment import tests_shown
from passk_cli.study.confidence import Confidence
from passk_cli.study.losses import uneven_notes
from passk_cli.study.notes import reading_notes
from passk_cli.study.rules import BONFERRONI, HOLM, MAX_T
from passk_cli.study.values import require_monotone

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.study.fact import Fact

# What a table shows first.
_ORDER = (FAIL, UNDECIDED, ERROR, PASS)


def gate_report(trial: Trial, on_undecided: str) -> Report:
    """Every rule for every candidate, in each group.

    A rule that cannot be checked is a row with the verdict "error", and shuts the gate.
    Errors: ParameterError when nothing can be judged.
    """
    if trial.study.bounded:
        trial.study.confidence.required_steady()
        require_monotone(trial.study.metrics)
    cases = [_judged(case) for case in trial.cases]
    lines = [at_both_ends(*case) if case[1:] else case[0] for case in zip(*cases, strict=True)]
    if not lines:
        raise ParameterError(
            "no rule was checked: the new run and the baseline share no group; see --by"
        )
    checks = tuple(line.check(on_undecided) for line in lines)
    study = replace(trial.study, decided=_decided(trial, lines, on_undecided))
    report = study.report(
        [_row(line, check) for line, check in zip(lines, checks, strict=True)],
        [_table(checks)],
        context=_caption(trial, lines, on_undecided),
        messages=(*_reading_notes(trial), *_notes(trial, lines, on_undecided)),
    )
    return replace(report, checks=checks, listed=_flips(trial), omitted=_omitted(trial))


def _omitted(trial: Trial) -> tuple[str, ...]:
    """What the numbers lack or have too much, with the series where it is not all of them.

    Of declared attempts without a baseline also at how many tasks: no rule asks for more of these.
    """
    series_of: dict[str, list[str]] = {}
    declared = trial.made[0] if trial.attempts and trial.sides.baseline is None else {}
    for series in trial.sides.series:
        words_of = trial.lesser(series)
        if series in declared and declared[series].whole:
            tasks = plural(len(declared[series].made), "task")
            words_of.insert(0, f"{tasks} with {plural(trial.attempts or 0, 'attempt')} each")
        for words in words_of:
            series_of.setdefault(words, []).append(series_name(series))
    every = len(trial.sides.series)
    return tuple(
        words if len(names) == every else f"{first_few(names)}: {words}"
        for words, names in series_of.items()
    )


def _row(line: Judgement, check: Check) -> Fact:
    """The line's tidy row, and whether it fails the gate."""
    row = line.row
    return replace(row, more={**row.more, "fails": check.failing})


def _flips(trial: Trial) -> tuple[str, ...]:
    """The tasks that flipped against the baseline, where outcomes are known."""
    sides = trial.sides
    if sides.baseline is None or trial.study.bounded:
        return ()
    bases = {sides.baseline.series[s]: s for s in sides.bases}
    pairs = []
    for s in sides.candidates:
        series = sides.counts.series[s]
        base = sides.base(series)
        if base is not None:
            name = sides.label if sides.apart else base[0]
            first = Side(sides.counts, s, series_name(series))
            pairs.append((first, Side(sides.baseline, bases[base], name)))
    every = find_flips(pairs, trial.study.confidence.level)
    return changes_listed([flips for flips in every if flips.tasks])


def _judged(trial: Trial) -> list[Judgement]:
    lines = [line for rule in trial.rules for line in rule.judge(trial)]
    return lines + (trial.unmatched() if trial.compares else [])


def _table(checks: Sequence[Check]) -> Table:
    """A row per rule and model; what shuts the gate first, then what is undecided."""
    checks = sorted(checks, key=lambda check: (not check.failing, _ORDER.index(check.verdict)))
    columns = [Column("rule"), Column("evidence", "share"), Column("verdict")]
    cells: list[list[Cell]] = [[rule(check), check.evidence, check.verdict] for check in checks]
    if len({check.model for check in checks}) > 1:
        columns.insert(0, Column("model"))
        cells = [[check.model, *row] for check, row in zip(checks, cells, strict=True)]
    if any(check.detail for check in checks):
        columns.append(Column("detail"))
        cells = [[*row, check.detail] for check, row in zip(checks, cells, strict=True)]
    return Table(tuple(columns), tuple(map(tuple, cells)))


def rule(check: Check) -> Cell:
    """The rule in a table."""
    return Phrase(check.words) if check.words else check.rule


def _caption(trial: Trial, lines: Sequence[Judgement], on_undecided: str) -> tuple[str, ...]:
    """How many rules have which verdict; what evidence and verdicts mean; with which intervals."""
    numbers = {verdict: sum(line.verdict == verdict for line in lines) for verdict in VERDICTS}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in numbers.items() if count)
    compared = any(line.fact.against for line in lines)
    return (
        f"{plural(len(lines), 'rule')}: {verdicts}",
        f"differences (+, −): model − baseline ({trial.sides.label})" * compared,
        _decision(lines),
        _undecided(lines, on_undecided),
        "error, –: the rule cannot be checked, which fails the gate" * bool(numbers[ERROR]),
        _intervals(trial, lines),
        _cases_words(trial),
    )


def _undecided(lines: Sequence[Judgement], on_undecided: str) -> str:
    """What undecided means and counts as; those that missing outcomes can fail count as fail."""
    shut = {line.shut for line in lines if line.verdict == UNDECIDED}
    if not shut:
        return ""
    counted = FAIL if shut == {True} else on_undecided
    others = "; as fail where it fails in the worst or the best case"
    words = f"undecided: the data do not settle the rule; counts as {counted}"
    return words + others * (len(shut) == 2 and on_undecided == PASS)


def _intervals(trial: Trial, lines: Sequence[Judgement]) -> str:
    """The intervals of the evidence: of metrics, of differences, or of both."""
    confidence, differences = trial.study.confidence, _differences(trial, lines)
    shown = {bool(line.fact.against) for line in lines if line.fact.estimate.value is not None}
    if not shown:
        return ""
    if shown == {True}:
        return differences.words()
    return confidence.words(differences if True in shown else None)


def _decision(lines: Sequence[Judgement]) -> str:
    """How regressions are decided, where several were tested."""
    tested = [line.fact for line in lines if line.fact.p_adjusted is not None]
    if len(tested) < 2:
        return ""
    adjustment = str(tested[0].more.get("adjustment", ""))
    many = over_tests(adjustment, len(tested))
    if not many:
        return "no regression: decided by p"
    if adjustment in (MAX_T, BONFERRONI):
        # Rules about one metric keep the interval of that metric alone.
        many += " and their intervals; those of other rules are not adjusted"
    return f"no regression: decided by p, {many}"


def _differences(trial: Trial, lines: Sequence[Judgement]) -> Confidence:
    """The confidence of differences, with the methods that they got."""
    facts = [line.fact for line in lines if line.fact.against and line.fact.method]
    methods = [(fact.name, fact.method) for fact in facts if fact.estimate.low is not None]
    return trial.study.confidence.for_differences().as_used(methods)


def _decided(trial: Trial, lines: Sequence[Judgement], on_undecided: str) -> dict[str, object]:
    """Entries of the signature."""
    study, label = trial.study, trial.sides.label
    tests = any(rule.general for rule in trial.rules)
    adjustments = filter(None, (str(line.fact.more.get("adjustment", "")) for line in lines))
    draws = tests or study.confidence.needs_draws
    return {
        "differences": _differences(trial, lines).method_name if trial.compares else None,
        "test": tests_shown(str(line.fact.more.get("test", "")) for line in lines) or None,
        "resamples": study.confidence.resamples if draws else None,
        "seed": study.confidence.seed if draws else None,
        "adjust": next(adjustments, study.rules.adjust or HOLM) if tests else None,
        "baseline": label or None,
        "unpaired": trial.unpaired if label else None,
        "short_tasks": study.short_tasks if study.short_tasks != "empty" else None,
        "on_undecided": on_undecided,
        **{name: value for rule in trial.rules for name, value in rule.signature.items()},
    }


def _reading_notes(trial: Trial) -> list[Said]:
    """What reading did to the new run, and to the baseline where that is another file."""
    notes = [*trial.study.reading, *reading_notes(trial.study.counts)]
    sides = trial.sides
    if sides.apart and sides.baseline is not None:
        notes += [note.about(f"baseline {sides.label}") for note in reading_notes(sides.baseline)]
        notes += _uneven_notes(sides.counts, sides.baseline)
    return notes


def _uneven_notes(counts: Counts, baseline: Counts) -> Iterator[Said]:
    """A warning where the new run loses attempts more, or less often than its baseline."""
    both = counts.facts, baseline.facts
    if all(facts.losses is None for facts in both):
        return
    policy = both[0].missing_policy
    yield from uneven_notes(counts.losses.beside(baseline.losses, "baseline"), policy, "baseline ")


def _notes(trial: Trial, lines: Sequence[Judgement], on_undecided: str) -> Iterator[Said]:
    if trial.unpaired == "drop":
        yield from _dropped_notes(trial)
    if trial.sides.baseline is None:
        yield from _rival_notes(trial)
    shut = sum(line.shut for line in lines)
    if shut:
        yield Note(
            f"{plural(shut, 'rule')} would fail for some values of the missing outcomes, which"
            " fails the gate",
            "warning",
        )
    undecided = sum(line.verdict == UNDECIDED and not line.shut for line in lines)
    if undecided:
        other = FAIL if on_undecided == PASS else PASS
        counts = "is undecided and counts" if undecided == 1 else "are undecided and count"
        yield Note(
            f"{plural(undecided, 'rule')} {counts} as {on_undecided}"
            f" (--on-undecided {other}: as {other})",
            "warning",
        )


def _cases_words(trial: Trial) -> str:
    """What the worst and the best case are, where outcomes are missing that may pass or fail."""
    if not trial.study.bounded:
        return ""
    worst, best = "missing outcomes fail", "they pass"
    if trial.sides.baseline is not None:
        worst = "missing outcomes of the new run fail and those of the baseline pass"
        best = "the reverse"
    return f"worst case: {worst}; best case: {best}; a rule that fails in either fails the gate"


def _dropped_notes(trial: Trial) -> Iterator[Said]:
    """What --unpaired drop leaves out of all rules: tasks, and whole groups."""
    sides = trial.sides
    for series, coverage in {**trial.coverages, **sides.missing}.items():
        if coverage is not None and coverage.lost:
            yield Note(coverage.lost_words(series), "warning")
        elif coverage is None and trial.compares and sides.partner(series[0]) is not None:
            lacking = f"{series_name(series)} is not compared: {sides.lacking(series)}"
            yield Note(lacking, "warning")


def _rival_notes(trial: Trial) -> Iterator[Said]:
    """Without a baseline, what one candidate lacks of what the others have."""
    series = trial.sides.series
    for key in series:
        coverage = coverage_of_rivals(trial.sides, key)
        if coverage.lost:
            of = f"{coverage.lost:,} of {plural(coverage.expected, 'task')}"
            name = series_name(key)
            yield Note(f"{name} has no attempts at {of} of the data", "warning")
    for group in dict.fromkeys(key[1:] for key in series):
        for model in dict.fromkeys(key[0] for key in series):
            if (model, *group) not in series:
                yield Note(f"{model} has no attempts in {series_name(group)}", "warning")
