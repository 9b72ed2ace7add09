"""A gate rehearsed: its verdicts on drawn runs in which nothing changed, or a drop was planted."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from passk_cli.activity import steps
from passk_cli.arrays import Floats, Ints
from passk_cli.commands.gate.judgement import POWER, Catch, Judgement, Rehearsed
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rulebook import Rulebook
from passk_cli.commands.gate.rules import GateRule
from passk_cli.commands.gate.trial import Trial
from passk_cli.inference.alarms import Odds
from passk_cli.inference.hierarchy import drawn_rates
from passk_cli.inference.intervals import GUARDED, GUARDED_T
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.streams import stream
from passk_cli.metrics.registry import Metric, task_values
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Column, Estimate, Sentence
from passk_cli.study.answer import Answer
from passk_cli.study.fact import Fact
from passk_cli.study.history import Past, moved
from passk_cli.study.metrics import is_corrected
from passk_cli.study.rules import ERROR, FAIL, PASS, UNDECIDED
from passk_cli.study.values import Series

# A rule about a metric of a candidate's series: the place of the rule, and what it is about.
Line = tuple[int, Series, Metric]

# Rehearsals with nothing changed, and with each planted drop; fewer where an interval costs more.
_UNCHANGED, _PLANTED, _FEWER = 500, 200, 5
# So many rehearsals share a set of estimated rates; so many sets are drawn from the posterior.
_OF_ESTIMATED, _DRAWN = 10, 50
# Resamples of a rehearsed test.  They are as valid as more, and nearly as powerful.
_RESAMPLES = 1_000
# A share of the planted runs is known to lie on one side of the power after so many of them, at so
# many standard errors.
_LEAST, _CLEAR = 20, 3.0
# Runs that are judged at once.
_TOGETHER = 100
# Verdicts, the worse the later.
_WORSE = (PASS, UNDECIDED, FAIL, ERROR)
# The normal deviate of the power.
_DEVIATE = 0.8416
# The planted drop is sought to this share of itself, and to this share of all passes.
_NEAR, _NEAREST = 0.03, 1e-3
# The largest variance of what lies between 0 and 1.
_LARGEST = 0.25
WHOLE = "the whole gate"


def rehearsable(metric: Metric) -> bool:
    """Whether passes and failures decide it, and it falls when passes are lost."""
    return not metric.kind.needs and metric.kind.monotone


@dataclass(frozen=True)
class Stage:
    """Pairs of runs of a trial's shape, drawn from success rates that both have.

    trial : what is rehearsed, with the metrics that passes and failures decide.  rules : its rules.
    new, old : (sets × cells) rates of the cells of the new run's counts, and of the baseline's.
    on_undecided : "fail" where undecided lines fail.
    runs : rehearsals with nothing changed, which take the sets of rates in turn.
    purpose : of its random numbers; suites of the same data draw the same runs.
    scales : of a history, series of the baseline → (sets,) standard deviation of the effect of a
        run, in logits.
    """

    trial: Trial
    rules: Sequence[GateRule]
    new: Floats
    old: Floats | None
    on_undecided: str
    runs: int
    purpose: str = ""
    scales: Mapping[Series, Floats] = field(default_factory=dict)
    _cache: dict[tuple[int, float], list[dict[Line, str]]] = field(default_factory=dict)

    @cached_property
    def judged(self) -> tuple[dict[Line, Odds], list[bool]]:
        """The odds of each line with nothing changed, and whether each of these runs fails."""
        verdicts: dict[Line, list[str]] = {}
        shut: list[bool] = []
        for first in steps(range(0, self.runs, _TOGETHER), "rehearsing", "parts"):
            places = range(first, min(first + _TOGETHER, self.runs))
            trials = [self.run(0.0, run) for run in places]
            for lines in self.verdicts(trials):
                for line, verdict in lines.items():
                    verdicts.setdefault(line, []).append(verdict)
                shut.append(any(map(self._fails, lines.values())))
        sets = len(self.new)
        odds = {
            line: Odds.of(list(map(self._fails, every)), every.count(UNDECIDED), sets)
            for line, every in verdicts.items()
        }
        return odds, shut

    @property
    def effects(self) -> list[float]:
        """Standard deviations of the effect of a run on pass@1, where the baseline is a history."""
        past, sides = self.trial.study.past, self.trial.sides
        if past is None or sides.baseline is None:
            return []
        every = [past.variances(sides.baseline.series[s]) for s in sides.bases]
        return [math.sqrt(max(of_means - by_chance, 0.0)) for of_means, by_chance, _ in every]

    @property
    def alike(self) -> Stage:
        """The stage where every task of a series has its pass rate, the other extreme where one
        attempt at each task cannot tell how tasks differ."""
        return stage(self.trial, self.rules, self.on_undecided, alike=True, purpose=self.purpose)

    def extreme(self, *, passing: bool) -> Trial:
        """The trial of a new run that passes everything, or nothing, against the same baseline."""
        counts = self.trial.sides.counts
        c = counts.n if passing else np.zeros_like(counts.n)
        drawn = replace(_drawn(counts, c), missing=None)
        return _with_counts(self.trial, drawn, self.trial.sides.baseline)

    def catch(self, line: Line) -> Catch:
        """The smallest planted drop at which the line fails with power 0.8, by bisection.

        A drop is planted by losing the same share of the passes of every task, so that a rate p
        becomes (1 − share) p.  All shares are tried on the same random numbers, so that a larger
        one fails nearly always where a smaller one does.  A share is tried on more runs until the
        power lies clearly on one side of 0.8.
        """
        low, high = 0.0, 1.0
        reached = self._power(line, high)
        if reached < POWER:
            return Catch(None, Estimate(None), reached)
        if self._power(line, low) >= POWER:
            return Catch(0.0, Estimate(None), self._power(line, low, whole=True))
        while high - low > max(_NEAR * high, _NEAREST):
            middle = (low + high) / 2
            enough = self._power(line, middle) >= POWER
            low, high = (low, middle) if enough else (middle, high)
        return Catch(high, self._drop(line, high), self._power(line, high, whole=True))

    def _power(self, line: Line, lost: float, *, whole: bool = False) -> float:
        """Share of the planted runs in which the line fails; of as few as tell, unless whole."""
        place, runs = line[0], self.planted if whole else _LEAST
        while True:
            # Kept per rule and share, as other lines of the rule are judged on the same runs.
            judged = self._cache.setdefault((place, lost), [])
            if len(judged) < runs:
                wanted = self.rules[place].asked_of(self.trial)
                metrics = tuple(metric for metric in self.trial.study.metrics if metric in wanted)
                study = replace(self.trial.study, metrics=metrics)
                trials = [
                    replace(each, study=replace(study, past=each.study.past))
                    for each in (self.run(lost, run) for run in range(len(judged), runs))
                ]
                judged += self.verdicts(trials, [place])
            share = sum(self._fails(lines[line]) for lines in judged[:runs]) / runs
            unsure = _CLEAR * math.sqrt(POWER * (1 - POWER) / runs)
            if runs == self.planted or abs(share - POWER) > unsure:
                return share
            runs = min(2 * runs, self.planted)

    @property
    def fewer(self) -> bool:
        """Whether there are fewer rehearsals than usual, since intervals take long."""
        return self.runs < _UNCHANGED

    @property
    def planted(self) -> int:
        """Rehearsals with each planted drop."""
        return min(self.runs, max(_LEAST, self.runs * _PLANTED // _UNCHANGED))

    def _fails(self, verdict: str) -> bool:
        undecided_fails = self.on_undecided == FAIL
        return verdict in (FAIL, ERROR) or (undecided_fails and verdict == UNDECIDED)

    def verdicts(
        self, trials: Sequence[Trial], places: Iterable[int] | None = None
    ) -> list[dict[Line, str]]:
        """The verdicts of the rules at some places, of all without any, on each trial; none of a
        rule that drawn runs do not decide.  Of both ends, where outcomes are missing, the worse."""
        lines: list[dict[Line, str]] = [{} for _ in trials]
        ends = list(zip(*(trial.cases for trial in trials), strict=True))
        for place in range(len(self.rules)) if places is None else places:
            for end in ends if self.rules[place].drawn else ():
                for verdicts, outcomes in zip(lines, self.rules[place].outcomes(end), strict=True):
                    for outcome in filter(lambda each: each.judged, outcomes):
                        line = place, outcome.series, outcome.metric
                        both = verdicts.get(line, PASS), outcome.verdict
                        verdicts[line] = max(both, key=_WORSE.index)
        return lines

    def run(self, lost: float, run: int) -> Trial:
        """A drawn new run that lost a share of its passes, with a drawn baseline.

        Of a history every run is drawn, each with an effect of its own, and so is the new run.
        """
        sides, study, at = self.trial.sides, self.trial.study, run % len(self.new)
        generator = stream(study.confidence.seed, f"rehearsed run{self.purpose}", run)
        base, new, past = None, self.new[at], study.past
        if self.old is not None and sides.baseline is not None:
            base, old = sides.baseline, self.old[at]
            if past is None:
                passes = generator.binomial(judged_attempts(base), old)
            else:
                scales = {series: float(scale[at]) for series, scale in self.scales.items()}
                past, passes = past.drawn(base, old, scales, generator)
                new = new.copy()
                for s, series in zip(sides.candidates, sides.series, strict=True):
                    if scale := scales.get(sides.base(series) or (), 0.0):
                        rows = sides.counts.rows_of(s)
                        new[rows] = moved(new[rows], scale * generator.standard_normal())
            base = _drawn(base, passes)
        passes = generator.binomial(judged_attempts(sides.counts), new * (1.0 - lost))
        trial = replace(self.trial, study=replace(study, past=past))
        return _with_counts(trial, _drawn(sides.counts, passes), base)

    def _drop(self, line: Line, lost: float) -> Estimate:
        """The fall of the metric when so many passes are lost, with its Monte-Carlo error.

        The error of the share of runs that fail, √(power (1 − power) / runs), over the slope of the
        power there, which is normal around the drop with the spread of the evidence.
        """
        place, series, metric = line
        counts, runs = self.trial.sides.counts, self.planted
        rows = counts.rows_of(counts.series.index(series))
        rates, n = self.new[np.arange(runs) % len(self.new), rows], counts.n[rows]
        enough = n >= metric.k
        rates, n = rates[:, enough], n[enough]
        drop = float((metric.at(rates) - metric.at(rates * (1.0 - lost))).mean())
        drawn = stream(0, "rehearsed spread").binomial(n, rates * (1.0 - lost))
        values = task_values([metric], np.broadcast_to(n, drawn.shape).ravel(), drawn.ravel())[0]
        spread = float(values.reshape(drawn.shape).mean(axis=1).std())
        spread *= math.sqrt(1.0 + self.rules[place].compares)
        slope = math.exp(-0.5 * _DEVIATE**2) / math.sqrt(2 * math.pi) / max(spread, 1e-12)
        return Estimate(drop, se=math.sqrt(POWER * (1 - POWER) / runs) / slope)


def quick(trial: Trial) -> bool:
    """Whether its intervals cost little, and leave time for many rehearsals."""
    confidence = trial.study.confidence
    methods = {confidence.method, confidence.for_differences().method}
    return confidence.population == NEW_TASKS and methods <= {*GUARDED, GUARDED_T, "t"}


def stage(
    trial: Trial, rules: Sequence[GateRule], on_undecided: str, *, alike: bool = False,
    predictive: bool = False, fewer: bool = False, purpose: str = "",
) -> Stage:  # fmt: skip
    """Rates of both runs, as the baseline shows them; without one, as the run does.

    Of the posterior's draws those are taken at which the metrics are as they were observed: the
    estimated rates, which differ between tasks by as much as the posterior says.

    alike : every task of a series has its pass rate.
    predictive : any draws, as uncertain as the data leave the rates, and twice as many rehearsals.
    fewer : whether there are fewer in any case.  purpose : of the stage.
    """
    confidence = replace(
        trial.study.confidence, resamples=min(trial.study.confidence.resamples, _RESAMPLES)
    )
    metrics = tuple(filter(rehearsable, trial.study.metrics))
    study = replace(trial.study, confidence=confidence, metrics=metrics)
    trial = replace(trial, study=study, general=tuple(filter(rehearsable, trial.general)))
    runs = _UNCHANGED // _FEWER if fewer or not quick(trial) else _UNCHANGED
    runs, sets = (2 * runs, _DRAWN) if predictive else (runs, runs // _OF_ESTIMATED)
    sides, base = trial.sides, trial.sides.baseline

    def rates_of(counts: Counts, s: int) -> Floats:
        if alike or predictive:
            return _posterior_rates(counts, s, sets, (confidence.seed, purpose), alike=alike)
        drawn = _posterior_rates(counts, s, _UNCHANGED, (confidence.seed, purpose), alike=False)
        rows = counts.rows_of(s)
        n, c = judged_attempts(counts)[rows], counts.c[rows]
        # In standard deviations of the draws.
        distance = np.zeros(len(drawn))
        for metric in metrics:
            enough = n >= max(metric.k, 1)
            if enough.any():
                expected = metric.at(drawn[:, enough]).mean(axis=1)
                observed = task_values([metric], n[enough], c[enough])[0].mean()
                distance += ((expected - observed) / max(float(expected.std()), 1e-12)) ** 2
        return drawn[np.argsort(distance, kind="stable")[:sets]]

    old, scales = None, dict[Series, Floats]()
    if base is not None:
        old = np.zeros((sets, len(base.n)))
        for s in sides.bases:
            rates = rates_of(base, s)
            if study.past is not None:
                seed = confidence.seed, purpose
                rates, scales[base.series[s]] = _with_effects(
                    study.past, base.series[s], rates, seed, uncertain=predictive
                )
            old[:, base.rows_of(s)] = rates
    new = np.zeros((sets, len(sides.counts.n)))
    for s in sides.candidates:
        rows, series = sides.counts.rows_of(s), sides.counts.series[s]
        new[:, rows] = rates_of(sides.counts, s)
        partner = sides.base(series)
        if base is not None and old is not None and partner is not None:
            theirs = base.rows_of(base.series.index(partner))
            _, at, place = np.intersect1d(
                sides.counts.task_codes[rows], base.task_codes[theirs], return_indices=True
            )
            new[:, rows.start + at] = old[:, theirs.start + place]
    return Stage(trial, rules, new, old, on_undecided, runs, purpose, scales)


def _with_effects(
    past: Past, series: Series, rates: Floats, seed: tuple[int, str], *, uncertain: bool
) -> tuple[Floats, Floats]:
    """Rates of a history's last runs, and the standard deviation of the effect of a run in logits,
    of each set.

    uncertain : whether both are as uncertain as the history leaves them: its R last runs have an
    effect of their own, σ/√R, and the variance of the means of its H runs, of which chance explains
    v, is s² (H − 1) / χ² with H − 1 degrees; σ² is what is left of it above v.
    """
    of_means, by_chance, runs = past.variances(series)
    slopes = (rates * (1 - rates)).mean(axis=1)
    if runs < 2 or not slopes.all():
        return rates, np.zeros(len(rates))
    variances = np.full(len(rates), of_means)
    generator = stream(seed[0], f"rehearsed effect{seed[1]} {' '.join(series)}")
    if uncertain:
        variances *= (runs - 1) / generator.chisquare(runs - 1, len(rates))
    scales = np.sqrt(np.clip(variances - by_chance, 0.0, _LARGEST)) / slopes
    if not uncertain:
        return rates, scales
    level = generator.standard_normal(len(rates)) / math.sqrt(past.stretches[""].runs[series])
    return moved(rates, (scales * level)[:, None]), scales


def rehearsed(
    parts: Sequence[GatePart], book: Rulebook | None, most: float | None
) -> tuple[list[GatePart], Judgement, list[Stage]]:
    """Every part with what its rehearsal showed of each line, the gate as a whole, and the stage of
    each part that could be read.

    most : the largest share of false alarms that is allowed, if any.
    """
    fewer = not all(quick(part.trial) for part in parts if part.trial is not None)
    stages = list[tuple[Stage, Stage]]()
    every = list[GatePart]()
    for part in parts:
        if part.trial is not None:
            purpose = "" if book is None else f" {_digest(part.trial)}"
            both = [
                stage(part.trial, part.rules, part.on_undecided, predictive=predictive,
                      fewer=fewer, purpose=purpose)
                for predictive in (False, True)
            ]  # fmt: skip
            stages.append((both[0], both[1]))
            part = replace(part, lines=_rehearsed_lines(part, *both))
        every.append(part)
    odds, predicted = (
        Odds.of([any(run) for run in zip(*(s.judged[1] for s in kind), strict=True)], 0,
                len(kind[0].new))
        for kind in zip(*stages, strict=True)
    )  # fmt: skip
    rows = [row for part in every for row in part.rows]
    if any(line.failing and line.rehearsed is None for line in rows):
        # Lines that rehearsals leave as they are keep the gate shut in every one of them.
        odds, predicted = odds.always, predicted.always
    names = [""] * (1 if book else len(parts[0].trial.study.counts.group_names))  # type: ignore[union-attr]
    return every, _whole(Rehearsed(odds, predicted), names, most), [own for own, _ in stages]


def extremes(part: GatePart, trial: Trial) -> list[tuple[str, str, str]]:
    """Each rule with its verdicts on a run that passes everything, and on one that passes nothing,
    where passes and failures decide it.  trial : of the part."""
    metrics = tuple(filter(rehearsable, trial.study.metrics))
    if not metrics or is_corrected(trial.sides.counts):
        return []
    confidence = trial.study.confidence
    confidence = replace(confidence, resamples=min(confidence.resamples, _RESAMPLES))
    study = replace(trial.study, confidence=confidence, metrics=metrics)
    trial = replace(trial, study=study, general=tuple(filter(rehearsable, trial.general)))
    own = Stage(trial, part.rules, np.zeros(0), None, part.on_undecided, 0)
    best, worst = (
        {(place, series, metric.name): verdict for (place, series, metric), verdict in each.items()}
        for each in own.verdicts([own.extreme(passing=True), own.extreme(passing=False)])
    )
    every = [(line.rule, (place, line.fact.series, line.fact.name)) for place, line in part.lines]
    return [(rule, best[at], worst[at]) for rule, at in every if at in best and at in worst]


def _rehearsed_lines(
    part: GatePart, own: Stage, predictive: Stage
) -> tuple[tuple[int, Judgement], ...]:
    """The judgements of a part with their rehearsals, where passes and failures decide them."""
    odds, predicted = own.judged[0], predictive.judged[0]
    lines_of = {(place, series, metric.name): (place, series, metric)
                for place, series, metric in odds}  # fmt: skip
    best, worst = own.verdicts([own.extreme(passing=passing) for passing in (True, False)])
    every = []
    for place, judgement in steps(part.lines, "rehearsing with planted drops", "lines"):
        line = lines_of.get((place, judgement.fact.series, judgement.fact.name))
        rehearsal = None if line is None else Rehearsed(
            odds[line], predicted[line], own.catch(line), best[line], worst[line]
        )  # fmt: skip
        every.append((place, replace(judgement, rehearsed=rehearsal)))
    return tuple(every)


ALARMS = (
    f"with nothing changed, {WHOLE} fails in {{failing}} of {{runs}} rehearsals ({{alarm}})"
    "{?judged|, {fails:|not }more than {limit:=given}}"
)
FALSE_ALARMS = Answer("false-alarms", lambda _: True, ALARMS)


def _whole(both: Rehearsed, groups: Sequence[str], most: float | None) -> Judgement:
    """The gate as a whole, with a verdict where the rehearsal is judged."""
    words: Sentence = (WHOLE,)
    verdict = ""
    fields = {"failing": both.odds.failing, "runs": both.odds.runs, "alarm": both.alarm}
    if most is not None:
        given = (most, Column("", "given"))
        words = (f"{WHOLE}: ", "false alarms ≤ ", given)
        verdict = FAIL if both.odds.share > most + 1e-12 else PASS
        fields |= {"judged": True, "limit": most, "fails": int(verdict == FAIL)}
    blank = Fact(("", *groups), "", None, Estimate(None))
    return Judgement(
        words,
        blank,
        verdict,
        FALSE_ALARMS.about(fields),
        limit=most,
        failing=verdict == FAIL,
        rehearsed=both,
    )


def _digest(trial: Trial) -> str:
    """The data of a suite in a few letters."""
    digest = hashlib.sha256()
    for counts in filter(None, (trial.sides.counts, trial.sides.baseline)):
        for part in ("\n".join(counts.tasks).encode(), counts.n.tobytes(), counts.c.tobytes()):
            digest.update(part)
    return digest.hexdigest()[:12]


def _drawn(counts: Counts, c: Any) -> Counts:
    """The cells with other passes; what is known of single attempts is left out."""
    return replace(counts, c=c, attempts={}, numbering=None)


def _with_counts(trial: Trial, counts: Counts, baseline: Counts | None) -> Trial:
    return replace(trial, sides=replace(trial.sides, counts=counts, baseline=baseline))


def judged_attempts(counts: Counts) -> Ints:
    """Attempts of each cell that have an outcome."""
    return counts.n if counts.missing is None else counts.n - counts.missing


def _posterior_rates(
    counts: Counts, s: int, runs: int, seed: tuple[int, str], *, alike: bool
) -> Floats:
    """Draws of the success rates of a series, (runs × tasks); alike : all its pass rate.

    seed : with the purpose of the stage.
    """
    rows = counts.rows_of(s)
    n, c = judged_attempts(counts)[rows], counts.c[rows]
    known = n > 0
    if not known.any():
        return np.full((runs, len(n)), 0.5)
    n, c = n[known], c[known]
    generator = stream(seed[0], f"rehearsed rates{seed[1]} {' '.join(counts.series[s])}")
    rates = drawn_rates(n, c, runs, generator)
    if alike:
        rates[:] = float((c / n).mean())
    # A task without any outcome is like some other one.
    places = np.tile(np.flatnonzero(known).searchsorted(np.arange(len(known))), (runs, 1))
    places[:, ~known] = generator.integers(0, len(n), (runs, int((~known).sum())))
    return np.take_along_axis(rates, np.minimum(places, len(n) - 1), axis=1)
