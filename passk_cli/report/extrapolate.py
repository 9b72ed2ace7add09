"""Counts → pass@k and pass^k beyond the attempts there are, as a report."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.estimators.metric import Metric
from passk_cli.inference.extrapolation import (
    FARTHEST,
    Extrapolation,
    Reach,
    extrapolate,
    largest_known,
    refusal,
)
from passk_cli.inference.futures import MODELS
from passk_cli.inference.intervals import NEW_TASKS, Sample, interval
from passk_cli.limits import MOST_REFITS, refuse_many_steps, whole_number
from passk_cli.report.extrapolate_chart import ahead_chart
from passk_cli.report.extrapolate_tables import ahead_table, models_table, tidy
from passk_cli.report.extrapolate_words import (
    ahead_notes,
    caption,
    families_named,
)
from passk_cli.report.model import Estimate, Report
from passk_cli.report.notes import reading_notes
from passk_cli.report.samples import Uncertainty, cluster_codes
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

FAMILIES = ("pass@", "pass^")
# By how much a prediction goes beyond the attempts when no k is named.
_FACTORS = (10, 100)
# Points of a curve: up to the largest k drawn, and from there to the farthest a target is sought.
_DRAWN, _SOUGHT = 48, 64
# Single models are told beside the weighed ones when there are no more series than this.
_FEW_SERIES = 2


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    to : k's to predict at, increasing; empty for 10 and 100 times the attempts.
    target : a value in (0, 1) whose k is sought, or None.
    families : of "pass@" and "pass^".  fit : a model's name; None to weigh them all.
    """

    to: tuple[int, ...] = ()
    target: float | None = None
    families: tuple[str, ...] = FAMILIES[:1]
    fit: str | None = None

    def checked(self) -> Wanted:
        """Itself; ParameterError for what makes no sense."""
        if self.fit is not None and self.fit not in MODELS:
            raise ParameterError(f"--fit {self.fit}: no such model; there are {', '.join(MODELS)}")
        if self.target is not None and not 0 < self.target < 1:
            raise ParameterError(f"--target {self.target:g} must lie between 0 and 1, as 0.9 does")
        if any(k > FARTHEST for k in self.to):
            raise ParameterError(f"--to {max(self.to)}: the farthest is {FARTHEST:,}")
        return self


def parse_to(text: str) -> tuple[int, ...]:
    """k's from "100,1000"; ParameterError for anything but whole numbers from 1 up."""
    return tuple(sorted({whole_number(f"--to {text}: k", part) for part in text.split(",")}))


@dataclass(frozen=True)
class Ahead:
    """One series and family: what was found, or why nothing was.

    n, c : its attempts and passes.  to : the k's asked for.
    seen : k → the estimate, where every task has n ≥ k, as `passk estimate` has it.
    """

    series: tuple[str, ...]
    family: str
    n: NDArray[np.int64]
    c: NDArray[np.int64]
    to: tuple[int, ...]
    found: Extrapolation | None
    reason: str = ""
    target: float | None = None
    seen: dict[int, Estimate] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return " ".join(part or '""' for part in self.series)

    @property
    def open(self) -> int:
        """Tasks that never passed; for pass^k, that never failed."""
        return int(((self.c == 0) if self.family == "pass@" else (self.c == self.n)).sum())

    @property
    def reach(self) -> Reach | None:
        """Where the target is reached."""
        if self.found is None or self.target is None:
            return None
        return self.found.reach(self.target, falling=self.family == "pass^")

    def estimate(self, k: int) -> Estimate:
        """The prediction at one of the k's."""
        if self.found is None:
            return Estimate(None, reason=self.reason)
        if k in self.seen:
            return self.seen[k]
        value, low, high = self.found.at(k)
        known = self.seen.get(self.found.known)
        if known is not None and k > self.found.known:
            # pass@k never falls with k, nor does pass^k rise: nor may their limits.
            if self.family == "pass@" and known.low is not None:
                low = max(low, known.low)
            if self.family == "pass^" and known.high is not None:
                high = min(high, known.high)
        return Estimate(value, low=low, high=high)


def extrapolate_report(counts: Counts, how: Uncertainty, wanted: Wanted) -> Report:
    """Predictions of every model at larger k, with what they rest on.

    Errors: DataError when no model's counts allow a prediction; ParameterError for more refits
    than can be waited for.
    """
    wanted.checked()
    if how.resamples > MOST_REFITS:
        raise ParameterError(
            f"--resamples {how.resamples:,}: every model is refitted so often; at most"
            f" {MOST_REFITS:,}"
        )
    refuse_many_steps("extrapolation", int(counts.n.max()), "thin out the attempts")
    to = _ks(counts, wanted)
    asked = [(s, family) for family in wanted.families for s in range(len(counts.series))]
    # Each has streams of its own, so threads change no number.
    with ThreadPoolExecutor() as pool:
        lines = list(pool.map(lambda one: _look(counts, one[0], one[1], how, wanted, to), asked))
    if all(line.found is None for line in lines):
        raise DataError(lines[0].name, lines[0].reason)
    tables = [ahead_table(counts, [x for x in lines if x.family == f], f) for f in wanted.families]
    if wanted.fit is None and len(counts.series) <= _FEW_SERIES:
        tables += [models_table(x) for x in lines if x.found is not None]
    return Report(
        tables=tuple(tables),
        data=tidy(counts, lines, how, wanted.fit),
        caption=caption(lines, how),
        notes=(*reading_notes(counts), *dict.fromkeys(ahead_notes(lines, wanted.fit))),
        signature=_signature(counts, lines, how, wanted),
        charts=(ahead_chart(lines, wanted.families, wanted.target),),
    )


def _ks(counts: Counts, wanted: Wanted) -> tuple[int, ...]:
    """The k's to predict at: those asked for, or multiples of the attempts there are."""
    if wanted.to:
        return wanted.to
    known = max(largest_known(counts.n[counts.rows_of(s)]) for s in range(len(counts.series)))
    return tuple(min(factor * known, FARTHEST) for factor in _FACTORS)


def _look(
    counts: Counts, s: int, family: str, how: Uncertainty, wanted: Wanted, to: tuple[int, ...]
) -> Ahead:
    rows, series = counts.rows_of(s), counts.series[s]
    n, c = counts.n[rows], counts.c[rows]
    reason = refusal(n, c)
    if reason:
        return Ahead(series, family, n, c, to, None, reason)
    known = largest_known(n)
    ks = {*to, known, *_spaced(1, max(*to, known), _DRAWN)}
    if wanted.target is not None:
        ks |= set(_spaced(max(*to, known), FARTHEST, _SOUGHT))
    try:
        found = extrapolate(
            n,
            c,
            sorted(ks),
            mirrored=family == "pass^",
            fit=wanted.fit,
            level=how.level,
            population=how.population,
            clusters=cluster_codes(counts, counts.task_codes[rows]),
            resamples=how.resamples,
            seed=how.seed,
            purpose=" ".join((*series, family)),
        )
    except ValueError as error:
        return Ahead(series, family, n, c, to, None, str(error))
    seen = {
        k: _seen(counts, s, Metric(family, k), how)
        for k in {*to, known}
        if k <= n.min() and how.population == NEW_TASKS
    }
    return Ahead(series, family, n, c, to, found, "", wanted.target, seen)


def _seen(counts: Counts, s: int, metric: Metric, how: Uncertainty) -> Estimate:
    """A metric that the attempts support, without a model."""
    rows = counts.rows_of(s)
    sample = Sample(
        metric.values(counts.n[rows], counts.c[rows]),
        clusters=cluster_codes(counts, counts.task_codes[rows]),
        resamples=how.resamples,
        seed=how.seed,
    )
    found = interval(sample, None, how.level, how.population)
    return Estimate(sample.mean, low=found.low, high=found.high)


def _spaced(low: int, high: int, count: int) -> list[int]:
    found: list[int] = np.unique(np.geomspace(low, high, count).round().astype(np.int64)).tolist()
    return found


def _signature(
    counts: Counts, lines: Sequence[Ahead], how: Uncertainty, wanted: Wanted
) -> dict[str, object]:
    entries: dict[str, object] = {
        "extrapolate": families_named(wanted.families),
        "to": ",".join(map(str, lines[0].to)),
        "target": wanted.target,
        "fit": wanted.fit or "weighed",
        "interval": f"{how.level:g} {how.population}",
        "cluster": how.cluster,
        "refits": how.resamples,
        "seed": how.seed,
    }
    return signature(counts, (), **entries)
