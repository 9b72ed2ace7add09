"""The options about intervals and tests, which all commands share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.inference.populations import NEW_TASKS, POPULATIONS
from passk_cli.limits import MOST_RESAMPLES
from passk_cli.option import Option
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

if TYPE_CHECKING:
    from passk_cli.metrics.registry import Metric


def parse_bounds(value: Any) -> tuple[float, float]:
    """The lowest and highest possible score, parsed from a string such as "0,1" or from a pair.

    Errors: ParameterError unless the bounds are two finite numbers, and the first number is lower
        than the second.

    >>> parse_bounds("0,1"), parse_bounds((-1, 1))
    ((0.0, 1.0), (-1.0, 1.0))
    """
    text = value if isinstance(value, str) else ",".join(map(str, value))
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(OptionWithValue("--bounds", text), "write LOW,HIGH, for example 0,1")
    return low, high


@dataclass(frozen=True, eq=False)
class Confidence:
    """The method, the confidence level and the population of intervals and tests.

    interval : the name of the interval method, "none" for no intervals, or None for the default
        method of the population.
    metrics_by_method_override : maps a method to the names of the metrics that use this method
        instead of `interval`, or to ("all",) if all metrics use this method.
    uses_default_difference_method : whether differences use the default method.  For differences of
        values that are all 0 or 1, the default method is `paired-score`.
    """

    title: ClassVar[str] = "Uncertainty"
    # fmt: off
    interval: Annotated[str | None, Option(
        "--interval", "METHOD", "Interval method, such as guard or bca (none: standard errors).",
        choices="passk_cli.inference.intervals:METHOD_CHOICES", former_choices=(("tango",
            "paired-score"),),
        detail="One of {choices}. The default is guard for --population new-tasks, and hull for"
        " --population these-tasks. The default for differences is guarded-t, or paired-score if"
        " all values are 0 or 1.")] = None
    level: Annotated[float, Option(
        "--level", "P", "Confidence level.", low=0, high=1, excludes_limits=True)] = 0.95
    population: Annotated[str, Option(
        "--population", help="Population that intervals are about", choices=POPULATIONS,
        detail="With new-tasks, the tasks are a sample, and intervals are about all similar tasks."
        " With these-tasks, the attempts are the sample, and intervals are only about the tasks in"
        " the data.",
    )] = NEW_TASKS
    cluster: Annotated[str | None, Option(
        "--cluster", "COLUMN", "Column that groups related tasks.",
        detail="Intervals and tests treat each group, such as a repository, as one unit.")] = None
    resamples: Annotated[int, Option(
        "--resamples", "N", "Number of random draws.", low=100, high=MOST_RESAMPLES)] = 10_000
    seed: Annotated[int, Option("--seed", "N", "Seed of the random draws.", low=0)] = 0
    bounds: Annotated[tuple[float, float] | None, Option(
        "--bounds", "LOW,HIGH", "Lowest and highest possible score, such as 0,1.",
        parse=parse_bounds,
        detail="Guard intervals of best@k, worst@k and mean need these bounds.")] = None
    # fmt: on
    metrics_by_method_override: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uses_default_difference_method: bool = False

    @cached_property
    def method(self) -> str:
        """The name of the interval method, or "none" for no intervals.

        Errors: ParameterError for a method that does not fit the level or the population.
        """
        from passk_cli.inference.intervals import checked_method_name

        if self.interval == "none":
            checked_method_name(None, self.level, self.population)
            return "none"
        return checked_method_name(self.interval, self.level, self.population)

    def require_intervals(self) -> Confidence:
        """Return this object, or raise ParameterError if its interval method is "none"."""
        raise_parameter_error_if_any("invalid-method", (
            self.method == "none", OptionWithValue("--interval", "none"),
            "the verdicts of this command need intervals", (SuggestedFix({"--interval": None}),),
        ))  # fmt: skip
        return self

    def require_valid_for_missing_outcomes(self) -> Confidence:
        """Return this object, or raise ParameterError if its interval method does not allow missing
        outcomes.

        With some methods, the interval is widest if only some missing outcomes pass.  Such methods
        do not allow missing outcomes.
        """
        from passk_cli.inference.intervals import METHODS

        method = METHODS.get(self.method)
        if method is not None and not method.nearly_monotone_in_values:
            steady = (
                name for name, candidate in METHODS.items() if candidate.nearly_monotone_in_values
            )
            fitting = [name for name in steady if self.population in METHODS[name].populations]
            raise ParameterError(
                OptionWithValue("--interval", self.method),
                "this method gives no valid limits if missing outcomes may pass or fail, because"
                " its widest limits may belong to a mixture of passes and failures",
                name="no-bounds",
                settles=[SuggestedFix({"--interval": name}) for name in fitting[:2]],
            )  # fmt: skip
        return self

    def with_methods_for_metrics(self, metrics: Sequence[Metric]) -> Confidence:
        """A copy of this Confidence, with other interval methods for metrics that cannot use the
        main method.

        Metrics without known bounds use BCa instead of guard.  Metrics that need more data than
        counts use the jackknife instead of the hull.  Ratios of means use Fieller's limits.
        """
        from passk_cli.inference.intervals import FIELLER, METHODS, RANGE_METHOD

        method = METHODS.get(self.method)
        if method is None:
            raise_parameter_error_if_any("invalid-method", *(
                (metric.definition.is_known_only_as_range, OptionWithValue("--interval", "none"),
                 f"{metric.name} is a range, which has no standard error",
                 (SuggestedFix({"--interval": None}),))
                for metric in metrics
            ))  # fmt: skip
            return self
        overrides: dict[str, tuple[str, ...]] = {}
        for metric in metrics:
            unbounded = self.bounds is None and method.needs_bounds and metric.bounds is None
            amount = (
                method.needs_bounds and not method.for_amounts and metric.definition.amount_unit
            )
            if metric.definition.is_ratio_of_means:
                name = FIELLER
            elif metric.definition.is_known_only_as_range:
                name = RANGE_METHOD
            elif method.needs_counts and metric.expectation_polynomial is None:
                name = "jackknife"
            elif unbounded or amount:
                name = "bca"
            else:
                continue
            overrides[name] = (*overrides.get(name, ()), metric.name)
        if len(overrides) == 1 and len(metrics) == sum(map(len, overrides.values())):
            overrides = dict.fromkeys(overrides, ("all",))
        return replace(self, metrics_by_method_override=overrides)

    def for_corrected_values(self) -> Confidence:
        """A copy of this Confidence for values that are corrected by labels.  The method for such
        values is logit-t.

        Errors: ParameterError if the user chose another interval method, or the population
            these-tasks.
        """
        from passk_cli.inference.intervals import LOGIT_T

        raise_parameter_error_if_any(
            "invalid-method",
            (self.population != NEW_TASKS, OptionWithValue("--population", self.population),
             "estimates corrected by labels are only about new tasks",
             (SuggestedFix({"--population": None}),)),
            (self.interval not in (None, "none") and not self.uses_default_difference_method,
             OptionWithValue("--interval", self.interval),
             f"estimates corrected by labels always use the method {LOGIT_T}",
             (SuggestedFix({"--interval": None}),)),
        )  # fmt: skip
        if self.uses_default_difference_method:
            return self
        return replace(
            self, metrics_by_method_override={} if self.interval else {LOGIT_T: ("all",)}
        )

    @property
    def method_name(self) -> str:
        """The name of the interval method as reports print it, for example "guard" or "guard (bca
        for mean)"."""
        method, *exceptions = self._method_and_exception_texts
        return method + f" ({'; '.join(exceptions)})" * bool(exceptions)

    @property
    def _method_and_exception_texts(self) -> list[str]:
        if for_all := [
            method for method, names in self.metrics_by_method_override.items() if names == ("all",)
        ]:
            return for_all
        return [
            self.method,
            *(
                f"{method} for {', '.join(s)}"
                for method, s in self.metrics_by_method_override.items()
            ),
        ]

    @property
    def interval_level(self) -> float | None:
        """The confidence level of the intervals, or None if there are no intervals."""
        return None if self.method == "none" else self.level

    def for_differences(self) -> Confidence:
        """A copy of this Confidence for differences between two models, with another default
        method."""
        from passk_cli.inference.intervals import DIFFERENCE_METHOD_BY_POPULATION

        if self.interval is not None:
            return self
        return replace(
            self,
            interval=DIFFERENCE_METHOD_BY_POPULATION[self.population],
            uses_default_difference_method=True,
        )

    def without_difference_method(self) -> Confidence:
        """A copy of this Confidence for single models, without an interval method that is only for
        differences."""
        from passk_cli.inference.intervals import METHODS

        if self.interval is None or not METHODS[self.interval].for_differences:
            return self
        return replace(
            self, interval=None, metrics_by_method_override={}, uses_default_difference_method=False
        )

    def with_methods_used(self, methods: Sequence[tuple[str, str]]) -> Confidence:
        """A copy of this Confidence with the names of the metrics that used the method
        `paired-score`."""
        from passk_cli.inference.intervals import PAIRED_SCORE

        names = tuple(dict.fromkeys(metric for metric, method in methods if method == PAIRED_SCORE))
        if not names or self.method == PAIRED_SCORE:
            return self
        everywhere = all(method == PAIRED_SCORE for _, method in methods)
        overrides = (
            {PAIRED_SCORE: ("all",)}
            if everywhere
            else {**self.metrics_by_method_override, PAIRED_SCORE: names}
        )
        return replace(self, metrics_by_method_override=overrides)

    @property
    def resample_arguments(self) -> dict[str, int]:
        """The number of resamples and the seed, as a dict of keyword arguments."""
        return {"resamples": self.resamples, "seed": self.seed}

    def signature(self) -> dict[str, object]:
        """The signature's entries about intervals.  The entries contain a seed only for methods
        with random draws."""
        from passk_cli.inference.intervals import METHODS

        if self.method == "none":
            return {"interval": "none", "population": self.population}
        entries: dict[str, object] = {
            "interval": self.method_name,
            "level": self.level,
            "population": self.population,
            "cluster": self.cluster,
            "bounds": self.bounds and ",".join(f"{end:g}" for end in self.bounds),
        }
        fixed = self.cluster is None and self.population == NEW_TASKS
        if METHODS[self.method].needs_draws and not fixed:
            entries |= self.resample_arguments
        return entries

    def words(self, differences: Confidence | None = None) -> str:
        """A description of the intervals, for example "95 % guard intervals, tasks as a sample"."""
        sampled = self.population == NEW_TASKS
        if self.method == "none":
            return f"± one standard error over {'tasks' if sampled else 'repeated attempts'}"
        about = "tasks as a sample" if sampled else "for these tasks"
        if self.cluster:
            about += f", clustered by {self.cluster}" if sampled else ", clusters do not matter"
        methods = self.method_name
        if (
            differences is not None
            and differences._method_and_exception_texts != self._method_and_exception_texts
        ):
            methods += f" (differences: {', '.join(differences._method_and_exception_texts)})"
        return f"{100 * self.level:g} % {methods} intervals, {about}"
