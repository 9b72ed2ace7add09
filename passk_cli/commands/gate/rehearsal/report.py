"""The report of a rehearsal: a line per rule, and one for the gate as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from passk_cli.commands.gate.judgement import Judgement, at_both_ends
from passk_cli.commands.gate.rehearsal.stage import (
    POWER,
    Catch,
    Odds,
    Stage,
    extreme,
    false_alarm,
    rehearsable,
    stage,
)
from passk_cli.commands.gate.report import gate_report
from passk_cli.commands.gate.trial import Trial
from passk_cli.commands.gate.verdicts import ERROR, FAIL, PASS, UNDECIDED
from passk_cli.message import Said
from passk_cli.report.model import (
    Cell,
    Check,
    Column,
    Estimate,
    Note,
    Phrase,
    Report,
    Sentence,
    Table,
)
from passk_cli.report.words import plural
from passk_cli.study.fact import Fact

WHOLE = "the whole gate"
# The name of a baseline that is the run itself.
ITSELF = "itself"


@dataclass(frozen=True)
class Rehearsed:
    """A line of the gate and what its rehearsal showed; Nones where outcomes do not decide it.

    odds : at the estimated rates.  predicted : at rates as uncertain as the data leave them.
    catch : the smallest drop that fails with power 0.8.
    best, worst : verdicts on a run that passes everything, and one that passes nothing.
    """

    line: Judgement
    odds: Odds | None = None
    predicted: Odds | None = None
    catch: Catch | None = None
    best: str | None = None
    worst: str | None = None

    @property
    def alarm(self) -> Estimate:
        """The share of false alarms; without a value where it was not rehearsed."""
        if self.odds is None or self.predicted is None:
            return Estimate(None)
        return false_alarm(self.odds, self.predicted)

    @property
    def row(self) -> Fact:
        """The gate's tidy row with what the rehearsal showed."""
        alarm = self.alarm
        drop = self.catch.drop if self.catch else Estimate(None)
        row = self.line.row
        more: dict[str, Cell] = {
            "false_alarm": alarm.value, "false_alarm_low": alarm.low,
            "false_alarm_high": alarm.high,
            "predicted_failure": self.predicted.share if self.predicted else None,
            "undecided": self.odds.open if self.odds else None,
            "drop": drop.value, "drop_se": drop.se,
            "passes_lost": self.catch.lost if self.catch else None,
            "power": self.catch.reached if self.catch else None,
            "if_all_pass": self.best, "if_all_fail": self.worst,
        }  # fmt: skip
        return replace(row, more={**row.more, **more})

    @property
    def words(self) -> str:
        """The same in words, for pipelines' logs."""
        if self.odds is None or self.predicted is None or self.catch is None:
            return "not rehearsed: " + (
                "it asks what was run, not how it went"
                if self.line.verdict != ERROR
                else "it cannot be checked"
            )
        words = [f"fails {_percent(self.odds.share)} of rehearsals with nothing changed"]
        words.append(f"predicted failures {_percent(self.predicted.share)}")
        words += [f"undecided in {_percent(self.odds.open)}"] * bool(self.odds.undecided)
        if self.catch.lost is None:
            words.append(f"no drop is caught with power {POWER:g}")
        elif self.catch.lost == 0.0:
            words.append("no drop is needed for that")
        else:
            words.append(f"a drop of {self.catch.drop.value:.3f} is caught with power {POWER:g}")
        return "; ".join([*words, f"all pass: {self.best}", f"all fail: {self.worst}"])


@dataclass(frozen=True)
class Whole:
    """How often the gate as a whole fails: at the estimated rates, and as predicted."""

    odds: Odds
    predicted: Odds

    @property
    def alarm(self) -> Estimate:
        """The share of false alarms, with limits."""
        return false_alarm(self.odds, self.predicted)


def rehearsal_report(trial: Trial, on_undecided: str, most: float | None) -> Report:
    """The gate's verdicts with what each rule does where nothing changed, and what it catches.

    most : the largest share of false alarms that is allowed, where there is one.
    """
    report = gate_report(trial, on_undecided)
    setting = stage(trial, on_undecided)
    predictive = stage(trial, on_undecided, predictive=True)
    every = list(_rehearse(trial, setting, predictive))
    whole = Whole(setting.unchanged[1], predictive.unchanged[1])
    fixed = [c for c, one in zip(report.checks, every, strict=False) if one.odds is None]
    if any(check.failing for check in (*fixed, *report.checks[len(every) :])):
        # Lines that rehearsals leave as they are keep the gate shut in every one of them.
        whole = Whole(whole.odds.always, whole.predicted.always)
    asked = [] if most is None else [_asked(whole, most)]
    verdict = asked[0].verdict if asked else ""
    rows = [*(one.row for one in every), _whole_row(trial, whole, most, verdict)]
    checks = tuple(
        replace(check, rehearsed=one.words)
        for check, one in zip(report.checks, every, strict=False)
    )
    tables = [_table(every, checks, whole, most, verdict)]
    rehearsal = trial.study.report(
        rows, tables, context=_caption(trial, setting, most is not None),
        messages=(*report.messages, *_notes(trial, setting, every, on_undecided)),
    )  # fmt: skip
    resamples = {"resamples": setting.resamples} if "resamples" in report.signature else {}
    limit = {} if most is None else {"max-false-alarms": most}
    signature = {
        **report.signature,
        **resamples,
        **limit,
        "rehearsals": setting.runs,
        "seed": setting.seed,
    }
    checks = (*checks, *report.checks[len(checks) :], *asked)
    return replace(
        rehearsal, checks=checks, rehearsal=True, signature=signature,
        answer=_answer(trial, every, whole), omitted=report.omitted,
    )  # fmt: skip


def _answer(trial: Trial, every: Sequence[Rehearsed], whole: Whole) -> tuple[Sentence, ...]:
    """How often the gate fails by chance, and the smallest drops that its rules catch."""
    alarms: Sentence = (
        f"With nothing changed, this gate fails in {whole.odds.failing:,} of {whole.odds.runs:,}"
        " rehearsals (", whole.alarm, "); predicted failures ",
        (whole.predicted.share, Column("", "share")), ".",
    )  # fmt: skip
    drops: list[Sentence] = [
        ((one.catch.drop.value, Column("points", "share")), " (", *one.line.words, ")")
        for one in every
        if one.catch is not None and one.catch.drop.value is not None
    ]
    if len(trial.sides.candidates) > 1 or not drops:
        return (alarms,)
    first, *others = drops
    rest = [piece for drop in others for piece in (", ", *drop)]
    return alarms, (f"Drops caught with power {POWER:g}: ", *first, *rest, ".")


def _rehearse(trial: Trial, setting: Stage, predictive: Stage) -> Iterator[Rehearsed]:
    """Every line of the gate; those about tasks run, or about other metrics, as they are."""
    odds, predicted = setting.unchanged[0], predictive.unchanged[0]
    names = {
        (place, series, metric.name): (place, series, metric) for place, series, metric in odds
    }
    best, worst = (extreme(setting.trial, passing) for passing in (True, False))
    for place, rule in enumerate(trial.rules):
        (at_best,), (at_worst,) = (setting.outcomes(place, [one]) for one in (best, worst))
        for ends in zip(*(rule.judge(case) for case in trial.cases), strict=True):
            judgement = at_both_ends(*ends) if ends[1:] else ends[0]
            fact = judgement.fact
            line = names.get((place, fact.series, fact.name))
            if line is None:
                yield Rehearsed(judgement)
                continue
            yield Rehearsed(
                judgement, odds[line], predicted[line], setting.catch(line), at_best[line[1:]],
                at_worst[line[1:]],
            )  # fmt: skip


def _asked(whole: Whole, most: float) -> Check:
    """Whether the whole gate has no more false alarms than are allowed."""
    odds = whole.odds
    verdict = FAIL if odds.share > most + 1e-12 else PASS
    share: Sentence = ((most, Column("", "given")),)
    return Check(
        "", f"false alarms ≤ {most:g}", whole.alarm, verdict, failing=verdict == FAIL,
        words=("false alarms ≤ ", *share), of_rehearsal=True,
        finding=(
            f"{WHOLE} fails in {odds.failing:,} of {odds.runs:,} rehearsals with nothing changed (",
            whole.alarm, f"), {'more' if verdict == FAIL else 'not more'} than a share of ", *share,
        ),
    )  # fmt: skip


def _asked_words(most: float) -> Sentence:
    """What the verdict of the whole gate is about: not whether this run passes it."""
    return (f"{WHOLE}: false alarms ≤ ", (most, Column("", "given")))


def _whole_row(trial: Trial, whole: Whole, most: float | None, verdict: str) -> Fact:
    """The gate as a whole: it fails where any line does."""
    alarm = whole.alarm
    more: dict[str, Cell] = {
        "rule": WHOLE if most is None else f"{WHOLE}: false alarms ≤ {most:g}",
        "false_alarm": alarm.value, "false_alarm_low": alarm.low,
        "false_alarm_high": alarm.high, "predicted_failure": whole.predicted.share,
    }  # fmt: skip
    if most is not None:
        more["limit"] = most
    series = ("", *[""] * len(trial.study.counts.group_names))
    return Fact(series, "", None, Estimate(None), verdict=verdict, more=more)


def _table(
    every: Sequence[Rehearsed],
    checks: Sequence[Check],
    whole: Whole,
    most: float | None,
    verdict: str,
) -> Table:
    columns = [
        Column("rule"), Column("verdict"), Column("false alarms", "share"),
        Column("predicted failures", "share"), Column("undecided", "share"),
        Column("drop caught", "share"), Column("if all pass"), Column("if all fail"),
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for one in every:
        alarm = one.alarm if one.odds else None
        predicted = one.predicted.share if one.predicted else None
        left = one.odds.open if one.odds else None
        drop = one.catch.drop if one.catch else None
        words = Phrase(one.line.words)
        rows.append([words, one.line.verdict, alarm, predicted, left, drop, one.best, one.worst])
    asked = Phrase(_asked_words(most)) if most is not None else WHOLE
    last = [asked, verdict or None, whole.alarm, whole.predicted.share]
    rows.append([*last, None, None, None, None])
    if len({check.model for check in checks}) > 1:
        columns.insert(0, Column("model"))
        models: list[Cell] = [*(check.model for check in checks), None]
        rows = [[model, *row] for model, row in zip(models, rows, strict=True)]
    return Table(tuple(columns), tuple(map(tuple, rows)), "Rehearsal")


def _caption(trial: Trial, setting: Stage, asked: bool) -> tuple[str, ...]:
    """Of what runs the rehearsals were, and what the columns are."""
    sides = trial.sides
    source = "this run" if sides.baseline is None or sides.label == ITSELF else "the baseline"
    return (
        f"{setting.runs:,} rehearsals draw both runs from the success rates of {source}, with the"
        " same tasks and attempts",
        "verdict: of this run" + f"; of {WHOLE}, of its false alarms alone" * asked,
        "false alarms, undecided: shares of rehearsals at the estimated rates [95 % limits for the"
        " error of the rates and of the simulation]",
        "predicted failures: the share where the rates are drawn from their posterior, as uncertain"
        " as the data leave them",
        f"drop caught: the smallest that fails with power {POWER:g}, every task losing the same"
        f" share of its passes ± Monte-Carlo standard error ({setting.planted} rehearsals)",
        "if all pass, if all fail: verdict if every attempt passes, fails",
        "–: not rehearsed, or no such drop",
    )


def _notes(
    trial: Trial, setting: Stage, every: Sequence[Rehearsed], on_undecided: str
) -> Iterator[Said]:
    for one in every:
        if doubt := _doubt(one, on_undecided):
            yield Note(f"{one.line.rule} {doubt}", "warning")
    others = [metric.name for metric in trial.study.metrics if not rehearsable(metric)]
    if others:
        yield Note(
            f"{', '.join(others)}: not rehearsed; runs are drawn as passes and failures, which do"
            " not decide it", "warning",
        )  # fmt: skip
    if setting.single:
        alike = stage(trial, on_undecided, alike=True).unchanged[1].share
        yield Note(
            "one attempt per task does not show its success rate; the rates are drawn from a prior"
            f" with this pass rate. If all tasks had the same rate, {WHOLE} would fail"
            f" {_percent(alike)} of rehearsals with nothing changed",
            "warning",
        )  # fmt: skip
    if len(trial.sides.candidates) > 1:
        yield Note("drops are made in all models at once")
    if setting.fewer:
        yield Note(
            f"only {plural(setting.runs, 'rehearsal')}, since intervals of this method are slow"
        )


def _doubt(one: Rehearsed, on_undecided: str) -> str:
    """Why a rule can tell nothing: no run of this shape passes it, or none fails it."""
    shut = (FAIL, ERROR, UNDECIDED) if on_undecided == FAIL else (FAIL, ERROR)
    best, worst = one.best, one.worst
    if best is None or (best == PASS and worst in shut):
        return ""
    if best == worst == UNDECIDED:
        return (
            "decides nothing: a run in which every attempt passes and one in which every attempt"
            " fails are both undecided; it needs more tasks"
        )
    if best == worst:
        return (
            f"decides nothing: it {'passes' if best == PASS else 'fails'} if every attempt passes"
            " and if every attempt fails"
        )
    what, run, verdict = ("pass", "passes", best) if best != PASS else ("fail", "fails", worst)
    words = {FAIL: "fails", UNDECIDED: "is undecided", PASS: "passes"}[str(verdict)]
    return f"cannot {what}: it {words} even if every attempt {run}"


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.1f} %"
