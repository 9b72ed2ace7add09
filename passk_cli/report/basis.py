"""What a plan rests on: for each metric, how its values will vary, assumed or told by a pilot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.metric import Metric, parse_ks, standard_metrics
from passk_cli.inference.design import Assumed, BetaRates, Difference, Piloted
from passk_cli.inference.power import PairedTest, lattice_step
from passk_cli.limits import MOST_PLANNED_K
from passk_cli.report.model import Note
from passk_cli.report.samples import Measured, measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

USUAL_CORRELATION = 0.5
# Families whose values are numbers of subsets over C(n, k).
_COUNTS_SUBSETS = ("pass@", "pass^", "gpass@")
_ONE_ATTEMPT = "one attempt per task in the pilot cannot tell luck from how tasks differ"


@dataclass(frozen=True, eq=False)
class Basis:
    """One metric: how a task's value varies, and how the difference of two models does.

    model : whose values they are; of several, the one whose values vary most; "" when assumed.
    pair : the two models whose difference varies most; None when a second model like the first,
        with the assumed correlation, stands for all.
    correlation : of the two models' true values over tasks; None where the pilot cannot tell.
    """

    metric: Metric
    values: Assumed | Piloted
    difference: Difference
    correlation: float | None
    model: str = ""
    pair: tuple[str, str] | None = None

    @property
    def pilot(self) -> Piloted | None:
        """The pilot's values, when there is one."""
        return self.values if isinstance(self.values, Piloted) else None

    def source(self, n: int) -> str:
        """Where the standard error at n attempts comes from."""
        if self.pilot is None:
            return "assumed"
        return "pilot" if self.pilot.measured(n) else "pilot and model"

    def unknown(self, n: int) -> str:
        """Why there is no standard error at n attempts; empty when there is one."""
        if n < self.metric.k:
            return f"n={n} < k={self.metric.k}"
        return _ONE_ATTEMPT if math.isnan(self.variances(n)[0]) else ""

    def unknown_difference(self, n: int) -> str:
        """Why nothing can be said of differences at n attempts; empty when it can."""
        return self.unknown(n) or (_ONE_ATTEMPT if math.isnan(self.variances(n)[1]) else "")

    @property
    def largest_difference(self) -> float:
        """That two models can have: around the expected value, or at all."""
        expected = self.values.expected
        return 1.0 if self.pair else 2.0 * min(expected, 1.0 - expected)

    def test(self, n: int, level: float) -> PairedTest:
        """The paired test at n attempts of either model."""
        odds = self.values.expected * (1.0 - self.values.expected)
        bend = 0.0 if self.pair or odds <= 0.0 else 1.0 / (4.0 * odds)
        step = lattice_step(n, self.metric.k) if self.metric.family in _COUNTS_SUBSETS else 0.0
        return PairedTest(self.variances(n)[1], level, step, bend)

    def variances(self, n: int) -> tuple[float, float]:
        """Of a task's value and of its difference, at n attempts; computed once."""
        if n not in self._variances:
            self._variances[n] = self.values.variance(n), self.difference.variance(n)
        return self._variances[n]

    @cached_property
    def _variances(self) -> dict[int, tuple[float, float]]:
        return {}


def assumed_rates(mean: float | None, spread: float | None, piloted: bool) -> BetaRates | None:
    """The rates assumed without a pilot; None with one.  ParameterError for both."""
    if piloted and (mean is not None or spread is not None):
        raise ParameterError("--mean and --spread are for planning without a pilot")
    if piloted:
        return None
    if mean is None or spread is None:
        raise ParameterError(
            "nothing to plan from; give the FILE of a pilot, or --mean and --spread, as"
            " --mean 0.6 --spread 0.3"
        )
    return BetaRates(mean, spread)


def check_reach(metrics: Sequence[Metric]) -> None:
    """ParameterError for k's whose designs would take more than seconds: the cost grows by k²."""
    for metric in metrics:
        if metric.k > MOST_PLANNED_K:
            raise ParameterError(
                f"{metric.name}: plans are for k up to {MOST_PLANNED_K:,}; choose a smaller k"
            )


def check_metrics(metrics: Sequence[Metric]) -> None:
    """ParameterError for metrics that need more than passes and failures."""
    for metric in metrics:
        if metric.kind.needs:
            raise ParameterError(
                f"{metric.name}: designs are known for metrics of passes and failures,"
                " as pass@10, pass^4 and gpass@8:0.5"
            )


def assumed_metrics(ks: str, named: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics asked for by k's as "1,5" and by name, without a pilot; k = 1 and 10 for none.

    >>> [metric.name for metric in assumed_metrics("", ())]
    ['pass@1', 'pass@10', 'pass^10']
    """
    standard = parse_ks(ks) if ks else () if named else (1, 10)
    return tuple(dict.fromkeys((*standard_metrics(standard), *named)))


def assumed_basis(
    metrics: Sequence[Metric], rates: BetaRates, correlation: float | None
) -> list[Basis]:
    """Every metric under a model of the success rates; a second model is like the first."""
    return [_alike(metric, Assumed(metric, rates), correlation) for metric in metrics]


def pilot_basis(
    counts: Counts, metrics: Sequence[Metric], correlation: float | None, short_tasks: str
) -> tuple[list[Basis], list[Note]]:
    """Every metric that the pilot says something about, and notes on the others.

    correlation : for a pilot of one model.
    Errors: ParameterError when no metric is left, or when several models make an assumed
    correlation superfluous.
    """
    measured = measure(counts, metrics, short_tasks)
    usable = [m for m in measured if not _silent(m)]
    silent: dict[str, list[Measured]] = {}
    for one in measured:
        if why := _silent(one):
            silent.setdefault(why, []).append(one)
    notes = [
        Note(f"{_each(m.metric.name for m in them)} of {_each(m.name for m in them)}: {why}",
             "warning")
        for why, them in silent.items()
    ]  # fmt: skip
    if not usable:
        raise ParameterError(f"nothing to plan from; {'; '.join(note.text for note in notes)}")
    by_metric = {metric: [m for m in usable if m.metric == metric] for metric in metrics}
    return [_of_pilot(m, mine, correlation) for m, mine in by_metric.items() if mine], notes


def _each(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _alike(
    metric: Metric, values: Assumed | Piloted, correlation: float | None, model: str = ""
) -> Basis:
    shared = USUAL_CORRELATION if correlation is None else correlation
    return Basis(metric, values, Difference(values, values, shared * values.between), shared, model)


def _of_pilot(metric: Metric, usable: Sequence[Measured], correlation: float | None) -> Basis:
    widest = max(usable, key=lambda m: float(_values(m).var()))
    values, name = Piloted(metric, widest.n, widest.c), widest.name
    pairs = [
        (a, b, shared)
        for a, b in combinations(usable, 2)
        if a.series[1:] == b.series[1:] and len(shared := np.intersect1d(a.tasks, b.tasks)) >= 2
    ]
    # Two models that never differ say nothing about how others do.
    pairs = [pair for pair in pairs if _spread(pair) > 0]
    if not pairs:
        return _alike(metric, values, correlation, name)
    if correlation is not None:
        raise ParameterError(
            "--correlation is for a pilot of one model; here it is measured:"
            " leave it out, or choose one with --model"
        )
    first, second, shared = max(pairs, key=_spread)
    one, other = _on(first, shared), _on(second, shared)
    difference = Difference(one, other, float(np.cov(one.values, other.values)[0, 1]))
    scale = math.sqrt(one.between * other.between)
    told = difference.covariance / scale if scale > 0 else None
    return Basis(metric, values, difference, told, name, (first.name, second.name))


def _silent(one: Measured) -> str:
    """Why these values say nothing about others; empty when they do."""
    if one.values is None:
        return f"{one.reason}; --short-tasks drop uses the tasks with n ≥ k"
    if len(one.values) < 2:
        return "one task cannot tell how tasks differ"
    if np.ptp(one.values) == 0:
        return f"every task has the value {one.values[0]:g}, so how new tasks differ cannot be told"
    return ""


def _values(one: Measured) -> NDArray[np.float64]:
    assert one.values is not None
    return one.values


def _spread(pair: tuple[Measured, Measured, NDArray[np.int64]]) -> float:
    """Variance of the pair's differences as the pilot shows them."""
    first, second, shared = pair
    mine, other = (_values(m)[np.isin(m.tasks, shared)] for m in (first, second))
    return float((mine - other).var())


def _on(one: Measured, shared: NDArray[np.int64]) -> Piloted:
    here = np.isin(one.tasks, shared)
    return Piloted(one.metric, one.n[here], one.c[here])
