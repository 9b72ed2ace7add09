"""A computed number with limits, for a row of csv, a cell of a table or a point of a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from passk_cli.report.data_types import DATA, Cell, Column, Estimate, Table
from passk_cli.report.phrases import SeriesName

if TYPE_CHECKING:
    from passk_cli.inference.cost_per_success import RatioInterval
    from passk_cli.study.values import SeriesKey, TaskValues


class SampleSize(NamedTuple):
    """The size of the data: the number of tasks, and the smallest and the largest number of
    attempts per task.

    A number is None if it is unknown, for example if a plan needs more tasks than the maximum.
    """

    tasks: int | None
    n_min: int | None = None
    n_max: int | None = None


NO_SIZE = SampleSize(0)


@dataclass(frozen=True)
class Result:
    """One computed number about one series, or about the difference between two series.

    against : the model with which the series is compared, or "" if there is no such model.
    name : the name of the number in tables and in csv, for example "pass@10".
    k : the k of the metric, or None if the metric has no k.
    estimate : the value with its limits and standard error, or the reason why the value is missing.
    method, level : the method and the confidence level of the interval.  The level is None without
        an interval.
    interval_flaw : the reason why the interval is missing or is of limited use, or "".
    extra_fields : the values of the command's further columns.
    values : the task values, if the result is the mean of task values.
    """

    series: SeriesKey
    name: str
    k: int | None
    estimate: Estimate
    se: float | None = None
    size: SampleSize = NO_SIZE
    method: str = "none"
    level: float | None = None
    interval_flaw: str = ""
    against: str = ""
    p: float | None = None
    p_adjusted: float | None = None
    verdict: str = ""
    extra_fields: Mapping[str, Cell] = field(default_factory=dict)
    values: TaskValues | None = None

    @property
    def note(self) -> str:
        """The reasons why the value or the interval is missing or of limited use, in one line."""
        return "; ".join(filter(None, (self.estimate.reason, self.interval_flaw)))

    @property
    def is_range(self) -> bool:
        """Whether the result is a range, because the counts determine only a range of the
        metric."""
        ranged = self.values is not None and self.values.metric.definition.is_known_only_as_range
        return ranged and self.estimate.low is not None

    def chart_point(self, estimate_key: str, **more: Cell) -> dict[str, Cell]:
        """The result as a point of a chart.

        y : the name of the estimate in the point.
        more : further values of the point.
        """
        limits = {"low": self.estimate.low, "high": self.estimate.high}
        return {
            "model": SeriesName(self.series),
            estimate_key: self.estimate.value,
            **limits,
            **more,
        }


def ratio_estimate(ratio: RatioInterval, unit: str, *, signed: bool = False) -> Estimate:
    """A ratio of means, or a difference of two ratios, with its limits."""
    # Unknown costs may be arbitrarily large, so the ratio of costs has no upper limit.
    endless = any(
        end is not None and math.isinf(end) for end in (ratio.value, ratio.missing_cost_upper_bound)
    )
    reason = ratio.reason or (
        "amounts are missing, so one end of the range is not known" if endless else ""
    )
    return Estimate(
        ratio.value,
        None,
        ratio.low,
        ratio.high,
        reason,
        signed,
        unit=unit,
        range_upper_end=ratio.missing_cost_upper_bound,
    )


def range_result_between(first: Result, second: Result) -> Result:
    """The range between the result if all missing outcomes fail and the result if all missing
    outcomes pass.

    The limits of the range contain the limits of both results.  The p-value of the range is the
    larger p-value of the two results, or 1 if the two differences have different signs.  If the two
    verdicts differ, the verdict is "undecided".
    """
    first_estimate, second_estimate = first.estimate, second.estimate
    if first_estimate.value is None or second_estimate.value is None:
        return first if first_estimate.value is None else second
    low, high = sorted((first_estimate.value, second_estimate.value))
    estimate = replace(
        first_estimate, value=low, range_upper_end=high if high > low else None,
        se=_outer_limit(first_estimate.se,
        second_estimate.se, max),
        low=_outer_limit(first_estimate.low, second_estimate.low, min),
        high=_outer_limit(first_estimate.high, second_estimate.high, max),
        is_significantly_best=first_estimate.is_significantly_best
        and second_estimate.is_significantly_best, reason=first_estimate.reason
        or second_estimate.reason,
    )  # fmt: skip
    flaw = (
        first.interval_flaw
        if first.interval_flaw == second.interval_flaw
        else f"at one end: {first.interval_flaw or second.interval_flaw}"
    )
    return replace(
        first, estimate=estimate, se=_outer_limit(first.se, second.se, max), interval_flaw=flaw,
        p=_larger_p(first.p, second.p, first_estimate.value * second_estimate.value > 0),
        p_adjusted=_larger_p(first.p_adjusted, second.p_adjusted, first_estimate.value
        * second_estimate.value > 0),
        verdict=first.verdict if first.verdict == second.verdict else "undecided",
    )  # fmt: skip


def _outer_limit(
    first: float | None, second: float | None, outermost: Callable[[float, float], float]
) -> float | None:
    return None if first is None or second is None else outermost(first, second)


def _larger_p(first: float | None, second: float | None, agree: bool) -> float | None:
    return _outer_limit(first, second, max) if agree or first is None or second is None else 1.0


def _finite(end: float | None) -> float | None:
    return None if end is None or math.isinf(end) else end


# _FIELD_DECLARATIONS contains the fields of csv and json that all commands share, in their order.
# The fields p, p_adjusted, verdict and against appear only if at least one row has a value for the
# field.
_FIELD_DECLARATIONS: tuple[tuple[str, str, Callable[[Result], Cell]], ...] = (
    ("model", "The model or agent, named like in the files.", lambda fact: fact.series[0]),
    ("against", "The model with which `model` is compared. Differences are model minus against.",
     lambda fact: fact.against or None),
    ("metric", "The metric, written like in `-m`.", lambda fact: fact.name or None),
    ("k", "The k of the metric.", lambda fact: fact.k),
    ("estimate", "The estimate. Empty if the estimate is a range (estimate_low, estimate_high).",
     lambda fact: fact.estimate.value if fact.estimate.range_upper_end is None else None),
    ("se", "Standard error of the estimate.", lambda fact: fact.se),
    ("low", "Lower limit of the interval.", lambda fact: _finite(fact.estimate.low)),
    ("high", "Upper limit of the interval.", lambda fact: _finite(fact.estimate.high)),
    ("level", "Confidence level of the interval.", lambda fact: fact.level),
    ("interval", "Method of the interval.", lambda fact: fact.method),
    ("population", "The population of the interval: new-tasks or these-tasks.", str),
    ("p", "p-value of the test, without adjustment.", lambda fact: fact.p),
    ("p_adjusted", "p-value, adjusted for the number of tests.",
     lambda fact: fact.p_adjusted),
    ("verdict", "Verdict on a comparison (better, worse, equivalent or tied), on a change (higher"
    " or lower), or on a rule (pass, fail, undecided or error).", lambda fact: fact.verdict),
    ("tasks", "Number of tasks.", lambda fact: fact.size.tasks),
    ("n_min", "Minimum number of attempts per task.", lambda fact: fact.size.n_min),
    ("n_max", "Maximum number of attempts per task.", lambda fact: fact.size.n_max),
    ("note", "Reason why the estimate or its interval is missing or of limited use.",
     lambda fact: fact.note),
)  # fmt: skip
SHARED_FIELDS = tuple(
    Column(name, field_name=name, meaning=meaning, visibility=DATA, cell_of_record=cell)
    for name, meaning, cell in _FIELD_DECLARATIONS
)
SHARED_FIELD_NAMES = frozenset(field.field_name for field in SHARED_FIELDS)


def tidy_rows(facts: Sequence[Result], group_names: Sequence[str], population: str) -> Table:
    """The results as rows of the schema that all commands share.

    The columns are model, against?, <groups>, metric, k, estimate, se, low, high, level, interval,
    population, p?, p_adjusted?, verdict?, tasks, n_min, n_max, <more>, note.  A column marked with
    "?" appears only if at least one result has a value for this column.  If an estimate is a range,
    the column estimate is empty, and the ends of the range are in the columns estimate_low and
    estimate_high.
    """
    mores = []
    for fact in facts:
        ends = {
            f"{name}_{end}": _finite(value)
            for name, cell in {"estimate": fact.estimate, **fact.extra_fields}.items()
            if isinstance(cell, Estimate) and cell.range_upper_end is not None
            for end, value in zip(("low", "high"), cell.range_ends, strict=True)
        }
        mores.append({**fact.extra_fields, **ends} if ends else fact.extra_fields)
    absent = set() if any(fact.against for fact in facts) else {"against"}
    if not any(fact.p is not None or fact.verdict for fact in facts):
        absent |= {"p", "p_adjusted", "verdict"}
    fields = {
        f.field_name: f.cell_of_record
        for f in SHARED_FIELDS
        if f.field_name not in absent and f.cell_of_record is not None
    }
    fields |= {"population": lambda fact: population}
    more = list(dict.fromkeys(name for extra in mores for name in extra))
    first = ("model", *["against"] * ("against" in fields))
    last = [name for name in fields if name not in (*first, "note")]
    names = [*first, *group_names, *last, *more, "note"]
    rows = tuple(
        (
            *(fields[name](fact) for name in first), *fact.series[1:],
            *(fields[name](fact) for name in last), *(extra.get(name) for name in more),
            fact.note,
        )
        for fact, extra in zip(facts, mores, strict=True)
    )  # fmt: skip
    return Table(tuple(Column(name) for name in names), rows)
