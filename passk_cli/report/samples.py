"""Counts → the sample behind each number: one per model (and group) × metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.metric import Metric, Multisets, needs, task_values
from passk_cli.inference.attempts import share_within, within_variance, within_variance_of
from passk_cli.inference.intervals import (
    DEFAULT_OF_DIFFERENCES,
    GUARDED,
    METHODS,
    NEW_TASKS,
    THESE_TASKS,
    Sample,
    check,
)
from passk_cli.inference.weights import attempt_means
from passk_cli.limits import MOST_RESAMPLES, refuse_many_steps
from passk_cli.report.notes import plural
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

_SHORT_TASKS = ("empty", "drop")


@dataclass(frozen=True)
class Uncertainty:
    """How sure the numbers are asked to be: the options of every command under the same names.

    interval : a method's name, "none", or None for the population's default.
    population : "new-tasks" or "these-tasks".  cluster : the column of clusters, for the record.
    bounds : what scores cannot pass, where that is known.
    unbounded : metrics whose bounds are not known though the method needs them; see `knowing`.
    """

    interval: str | None = None
    level: float = 0.95
    population: str = NEW_TASKS
    cluster: str | None = None
    resamples: int = 10_000
    seed: int = 0
    bounds: tuple[float, float] | None = None
    unbounded: tuple[str, ...] = ()

    @cached_property
    def method(self) -> str:
        """The method's name, "none" included; ParameterError for what makes no sense."""
        if self.interval == "none":
            check(None, self.level, self.population)
            return "none"
        return check(self.interval, self.level, self.population)

    def checked(self, *, required: bool = False) -> Uncertainty:
        """The same; ParameterError for a value that does not exist.

        required : verdicts rest on the interval, so that it cannot be "none".
        """
        if required and self.interval == "none":
            raise ParameterError(
                "--interval none: the verdicts here rest on intervals; name another"
            )
        _ = self.method
        if not 100 <= self.resamples <= MOST_RESAMPLES:
            raise ParameterError(
                f"--resamples {self.resamples}: it must be at least 100"
                f" and at most {MOST_RESAMPLES:,}"
            )
        if self.seed < 0:
            raise ParameterError(f"--seed {self.seed}: it must be at least 0")
        return self

    def knowing(self, metrics: Sequence[Metric]) -> Uncertainty:
        """The same, saying which of these metrics get BCa because nobody knows their bounds."""
        if self.bounds is not None or self.method not in GUARDED:
            return self
        lacking = [metric for metric in metrics if metric.bounds is None]
        named = tuple(metric.name for metric in lacking)
        return replace(self, unbounded=("all",) if len(lacking) == len(metrics) else named)

    @property
    def bounds_shown(self) -> str | None:
        """The bounds as one writes them; None where there are none."""
        return None if self.bounds is None else f"{self.bounds[0]:g},{self.bounds[1]:g}"

    @property
    def shown(self) -> str:
        """The method's name for people: "guard", or "guard (bca for mean)"."""
        if self.unbounded == ("all",):
            return "bca"
        others = f" (bca for {', '.join(self.unbounded)})" if self.unbounded else ""
        return self.method + others

    def for_differences(self) -> Uncertainty:
        """The same for differences of two models, whose default method is another."""
        if self.interval is not None:
            return self
        return replace(self, interval=DEFAULT_OF_DIFFERENCES[self.population])

    @property
    def resampled(self) -> bool:
        """Whether the method needs draws, so that resamples and seed matter."""
        known = METHODS.get(self.method)
        fixed = self.cluster is None and self.population == NEW_TASKS
        return known is not None and known.resampled and not fixed

    def signature(self) -> dict[str, object]:
        """Its entries in a signature."""
        if self.method == "none":
            return {"interval": "none"}
        entries: dict[str, object] = {
            "interval": f"{self.shown} {self.level:g} {self.population}",
            "cluster": self.cluster,
            "bounds": self.bounds_shown,
        }
        if self.resampled:
            entries |= {"resamples": self.resamples, "seed": self.seed}
        return entries

    def words(self) -> str:
        """For a caption: "95 % guard intervals for new tasks"."""
        if self.method == "none":
            over = "tasks" if self.population == NEW_TASKS else "repeated attempts"
            return f"± one standard error over {over}"
        clustered = f", clustered by {self.cluster}" if self.cluster else ""
        population = self.population.replace("-", " ")
        return f"{100 * self.level:g} % {self.shown} intervals for {population}{clustered}"


@dataclass(frozen=True)
class Measured:
    """One model (and group) × metric: its values over the tasks used, or why there are none.

    tasks : indices of the tasks used into Counts.tasks.  n, c : their attempts and passes.
    values : their values; None when the metric is left empty.  reason : which tasks are short.
    attempts : what the metric needs to know of their attempts besides counts.
    """

    series: tuple[str, ...]
    metric: Metric
    tasks: NDArray[np.int64]
    n: NDArray[np.int64]
    c: NDArray[np.int64]
    values: NDArray[np.float64] | None
    reason: str = ""
    attempts: Multisets | None = None

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return " ".join(part or '""' for part in self.series)

    @property
    def within(self) -> NDArray[np.float64]:
        """Variance of each value over repeated attempts; NaN where n ≤ k."""
        if not self.metric.kind.exchangeable or self.values is None:
            return np.full(len(self.n), np.nan)
        if self.attempts is None:
            return within_variance(self.metric, self.n, self.c)
        return within_variance_of(self.metric, self.attempts, self.values)

    @property
    def mixed(self) -> NDArray[np.bool_]:
        """Tasks whose attempts differ: in passing, or in what else the metric looks at."""
        passing: NDArray[np.bool_] = (self.c > 0) & (self.c < self.n)
        if self.attempts is None:
            return passing
        return np.diff(self.attempts.start) > 1

    @property
    def share_within(self) -> float | None:
        """Share of the variance that too few attempts are to blame for; None where unknown.

        It is not asked of metrics that need more than counts, where it would cost more than they.
        """
        if self.values is None or self.attempts is not None:
            return None
        if self.mixed.any() and not self.within.any():
            return None  # too few attempts differ to show what they change
        return share_within(self.values, self.within)

    def bounds(self, how: Uncertainty) -> tuple[float, float]:
        """What no value can pass; infinite where that is not known."""
        return self.metric.bounds or how.bounds or (-math.inf, math.inf)

    def sample(self, counts: Counts, how: Uncertainty) -> Sample:
        """What the interval methods take."""
        assert self.values is not None
        fixed = how.population == THESE_TASKS
        low, high = self.bounds(how)
        if self.metric.bounds is None and self.attempts is not None:
            scores = self.attempts.value
            if scores.min() < low or scores.max() > high:
                raise ParameterError(
                    f"--bounds {low:g},{high:g}: scores of {self.name} go from {scores.min():g} to"
                    f" {scores.max():g}; widen the bounds, or leave rows out with --where"
                )
        return Sample(
            self.values,
            low=low,
            high=high,
            attempts=self.n if self.metric.k == 1 and self.attempts is None else None,
            within=self.within if fixed else None,
            clusters=cluster_codes(counts, self.tasks),
            draws=self.attempt_draws(how) if fixed and how.method == "percentile" else None,
            mixed=int(self.mixed.sum()) if fixed else 0,
            resamples=how.resamples,
            seed=how.seed,
        )

    def attempt_draws(self, how: Uncertainty) -> NDArray[np.float64]:
        """Means of the metric when the same tasks are attempted again: (resamples,).

        Errors: ParameterError for a metric that needs more than counts.
        """
        if self.attempts is not None:
            raise ParameterError(
                f"{self.metric.name} for these tasks cannot be resampled; --interval jackknife can"
            )
        refuse_many_steps(
            "percentile for these tasks", int(self.n.max()), "--interval jackknife can"
        )
        sizes = np.unique(self.n)
        table = [self.metric.values(np.full(s + 1, s), np.arange(s + 1)) for s in sizes.tolist()]
        purpose = " ".join(self.series)
        return attempt_means(
            self.n, self.c, [np.concatenate(table)], how.resamples, how.seed, purpose
        )[:, 0]


def check_short_tasks(short_tasks: str) -> None:
    """ParameterError for what cannot become of tasks with too few attempts."""
    if short_tasks not in _SHORT_TASKS:
        raise ParameterError(f"--short-tasks {short_tasks}: it is one of {', '.join(_SHORT_TASKS)}")


def measure(
    counts: Counts,
    metrics: Sequence[Metric],
    short_tasks: str = "empty",
    only: Sequence[int] | None = None,
) -> list[Measured]:
    """Every series × metric, in that order.

    short_tasks : what becomes of a metric that some tasks have n < k for: "empty", or "drop" to
        compute it on the others.
    only : indices of the series to measure; None for all.
    """
    found = []
    for s in range(len(counts.series)) if only is None else only:
        series = counts.series[s]
        rows = counts.rows_of(s)
        n, c, tasks = counts.n[rows], counts.c[rows], counts.task_codes[rows]
        known = {role: multisets(counts, role, rows) for role in needs(metrics)}
        for metric, values in zip(metrics, task_values(metrics, n, c, known), strict=True):
            enough = n >= metric.k
            mine = known.get(metric.kind.needs)
            if enough.all():
                found.append(Measured(series, metric, tasks, n, c, values, "", mine))
                continue
            few = n[~enough]
            reason = (
                f"n={span(int(few.min()), int(few.max()))} < k={metric.k}"
                f" on {len(few)} of {plural(len(n), 'task')}"
            )
            if short_tasks == "empty" or not enough.any():
                found.append(Measured(series, metric, tasks, n, c, None, reason))
            else:
                kept = (tasks[enough], n[enough], c[enough], values[enough])
                mine = mine and mine.take(np.flatnonzero(enough))
                found.append(Measured(series, metric, *kept, reason, mine))
    return found


def multisets(counts: Counts, role: str, cells: slice) -> Multisets:
    """What the attempts of neighbouring cells were: their scores, answers, solutions or order.

    Errors: ParameterError when the counts were read without it.
    """
    if role not in counts.attempts:
        raise ParameterError(
            f"these counts were read without the {role} of each attempt;"
            f" read them with read(…, attempts=[{role!r}])"
        )
    known = counts.attempts[role]
    ends = np.searchsorted(known.cell, np.arange(cells.start, cells.stop + 1))
    rows = slice(int(ends[0]), int(ends[-1]))
    return Multisets(ends - ends[0], known.value[rows], known.count[rows], known.passed[rows])


def cluster_codes(counts: Counts, tasks: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The clusters of these tasks as codes 0 … G−1; None without clusters."""
    if counts.clusters is None:
        return None
    return np.unique(np.array(counts.clusters)[tasks], return_inverse=True)[1]
