"""The names of metrics, for example "gpass@16:0.75", and the registry of metric families."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.errors import ParameterError
from passk_cli.limits import parse_whole_number
from passk_cli.metrics.attempt_order import first_at_k
from passk_cli.metrics.diversity import (
    distinct_at_k,
    distinct_passing_at_k,
    pass_at_k_of_distinct_solutions,
)
from passk_cli.metrics.gpass import gpass_per_pair, mgpass_per_pair
from passk_cli.metrics.graded import (
    best_at_k,
    mean_score,
    median_over_all_attempts,
    ratio_to_pass_rate_contributions,
    worst_at_k,
)
from passk_cli.metrics.majority import majority_at_k
from passk_cli.metrics.pass_k import (
    cached_values_of_few_pairs,
    gain_at_k_per_pair,
    pass_at_k_per_pair,
    pass_hat_k_per_pair,
    pass_rate_ignoring_k_and_share,
    unique_pairs,
)
from passk_cli.metrics.polynomials import (
    PolynomialOrComplement,
    all_fail_polynomial,
    expectation_polynomial,
    pass_hat_k_polynomial,
)
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.suggestions import did_you_mean_or_list, probable_share, respell_metric


@dataclass(frozen=True, eq=False, repr=False)
class MetricDefinition:
    """A family of metrics, with one metric per k.

    value_function : the function that computes the values. The arguments are (n, c, k) for metrics
        of counts, with the share if a metric has one, and (start, value, count, passed, k) for
        other metrics, as in `metrics/graded.py`. For a ratio of two
        means, the values are the contributions of tasks to the ratio. If `is_known_only_as_range`
        is true, the values are pass rates.
    meaning : one sentence that may contain {k}, and {share} for the share τ.
    required_attempt_data : data that the metric needs in addition to counts: "score", "answer",
        "solution", "attempt" (order of the attempts), or an amount, for example "cost".
    bounds : function of k that returns the lowest and highest possible value; None if these values
        depend on the scores.
    has_k : whether the name contains k. If false, k is 1.
    is_monotone_in_passes : whether one more pass never decreases the value.
    amount_unit : unit of a metric for which less is better: a cost, a time or a number of tokens.
    is_known_only_as_range : whether counts determine only a range, for example for cover@0.8.
    citation_keys : keys of the references in study/references.bib.
    """

    value_function: Callable[..., Floats]
    meaning: str
    required_attempt_data: str = ""
    bounds: Callable[[int], tuple[float, float]] | None = lambda k: (0.0, 1.0)
    has_k: bool = True
    has_share: bool = False
    exchangeable: bool = True
    is_monotone_in_passes: bool = True
    amount_unit: str = ""
    is_ratio_of_means: bool = False
    is_known_only_as_range: bool = False
    citation_keys: str = ""


# A new metric needs one function and one entry in FAMILIES.
# fmt: off
FAMILIES: dict[str, MetricDefinition] = {
    "pass@": MetricDefinition(
        pass_at_k_per_pair, "Probability that at least one of {k} attempts passes.",
        citation_keys="chen2021"),
    "pass^": MetricDefinition(
        pass_hat_k_per_pair, "Probability that all of {k} attempts pass.", citation_keys="yao2024"),
    "gpass@": MetricDefinition(
        gpass_per_pair, "Probability that at least {share} of {k} attempts pass.", has_share=True,
        citation_keys="liu2024"),
    "mgpass@": MetricDefinition(
        mgpass_per_pair, "Mean of gpass@{k} over shares from 0.5 to 1.", citation_keys="liu2024",
        bounds=lambda k: (0.0, (k - k % 2) / k)),
    "gain@": MetricDefinition(
        gain_at_k_per_pair, "Gain from {k} attempts instead of one: pass@{k} minus pass@1.",
        is_monotone_in_passes=False, citation_keys="chen2021"),
    "cover@": MetricDefinition(
        pass_rate_ignoring_k_and_share,
        "Share of tasks with a true success rate of at least {share}.",
        has_k=False,
        has_share=True, is_known_only_as_range=True, citation_keys="kiefer1956"),
    "first@": MetricDefinition(
        first_at_k,
        "Probability that one of the first {k} attempts passes, in the order they were made.",
        required_attempt_data="attempt", exchangeable=False),
    "maj@": MetricDefinition(
        majority_at_k, "Probability that the most frequent answer of {k} attempts passes.",
        required_attempt_data="answer", citation_keys="wang2022"),
    "best@": MetricDefinition(
        best_at_k, "Expected highest score of {k} attempts.", required_attempt_data="score",
        bounds=None),
    "worst@": MetricDefinition(
        worst_at_k, "Expected lowest score of {k} attempts.", required_attempt_data="score",
        bounds=None),
    "mean": MetricDefinition(
        mean_score, "Mean score of an attempt.", required_attempt_data="score", bounds=None,
        has_k=False),
    "distinct@": MetricDefinition(
        distinct_at_k, "Expected number of different solutions among {k} attempts.",
        required_attempt_data="solution", bounds=lambda k: (1.0, float(k)),
        citation_keys="hurlbert1971"),
    "distinct-correct@": MetricDefinition(
        distinct_passing_at_k, "Expected number of different passing solutions among {k} attempts.",
        required_attempt_data="solution", bounds=lambda k: (0.0, float(k)),
        citation_keys="hurlbert1971"),
    "distinct-pass@": MetricDefinition(
        pass_at_k_of_distinct_solutions, "Probability that one of {k} different solutions passes.",
        required_attempt_data="solution", citation_keys="hurlbert1971"),
}
# fmt: on
# AMOUNT_UNITS_AND_NOUNS maps each amount to its unit and its noun.
AMOUNT_UNITS_AND_NOUNS = {
    "cost": ("$", "cost"),
    "tokens": ("tokens", "tokens"),
    "tokens_in": ("tokens", "input tokens"),
    "tokens_out": ("tokens", "output tokens"),
    "duration": ("s", "duration"),
    "turns": ("turns", "turns"),
}
for _amount, (_unit, _noun) in AMOUNT_UNITS_AND_NOUNS.items():
    _mean = MetricDefinition(
        mean_score, f"Mean {_noun} of an attempt.", required_attempt_data=_amount,
        bounds=lambda k: (0.0, math.inf), has_k=False, amount_unit=_unit,
    )  # fmt: skip
    _middle = f"Median {_noun} of the attempts at a task, averaged over tasks."
    FAMILIES[_amount] = _mean
    FAMILIES[f"median-{_amount}"] = replace(
        _mean, value_function=median_over_all_attempts, meaning=_middle
    )
    _spent = f"{_noun.capitalize()} of a solved task: mean {_noun} of an attempt divided by pass@1."
    FAMILIES[f"{_amount}-per-success"] = replace(
        _mean,
        value_function=ratio_to_pass_rate_contributions,
        meaning=_spent,
        is_ratio_of_means=True,
    )
USUAL_K = (1, 10, 100)
# A range such as "1-100" contains at most _MOST_KS values of k.
_MOST_KS = 1000
# passk converts a metric to a polynomial only up to k = _MAX_POLYNOMIAL_K.
_MAX_POLYNOMIAL_K = 10_000


@dataclass(frozen=True)
class Metric:
    """A metric at one k, for example pass@10.

    share : the share τ as an exact fraction, or None if the family has no share.

    >>> parse_metric("pass@10")
    Metric(family='pass@', k=10, share=None)
    >>> parse_metric("gpass@16:0.75").name
    'gpass@16:0.75'
    """

    family: str
    k: int
    share: Fraction | None = None

    @cached_property
    def definition(self) -> MetricDefinition:
        return FAMILIES[self.family]

    @cached_property
    def unit(self) -> str:
        """The metric's unit: the unit of an amount, "share" for values in [0, 1], or "score"."""
        return self.definition.amount_unit or (
            "share" if self.bounds is not None and self.bounds[0] == 0 and self.bounds[1] <= 1
            else "score"
        )  # fmt: skip

    @property
    def better_sign(self) -> int:
        """The sign 1 if a higher value is better, or −1 if a lower value is better."""
        return -1 if self.definition.amount_unit else 1

    @property
    def meaning(self) -> str:
        if self.k == 1 and self.family in ("pass@", "pass^"):
            return "Probability that an attempt passes."
        share = (
            self.k_and_share_name_suffix
            if self.definition.is_known_only_as_range
            else self.share or ""
        )
        return self.definition.meaning.format(k=self.k, share=share)

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value; None if these bounds depend on the scores."""
        return None if self.definition.bounds is None else self.definition.bounds(self.k)

    def bounds_given_scores(self, scores: tuple[float, float] | None) -> tuple[float, float]:
        """The lowest and highest value of the metric for given bounds of the scores."""
        return self.bounds or scores or (-math.inf, math.inf)

    @property
    def name(self) -> str:
        return self.family + self.k_and_share_name_suffix

    @property
    def k_and_share_name_suffix(self) -> str:
        """The part of the name after the family, for example "10", "16:0.75", "0.8" or ""."""
        share = "" if self.share is None else f"{float(self.share):.15g}"
        if not self.definition.has_k:
            return share
        return str(self.k) + (share and f":{share}")

    def values(self, n: Ints, c: Ints) -> Floats:
        """The value of each pair (n, c), for a metric of counts; NaN if n < k."""
        share = () if self.share is None else (self.share,)
        return self.definition.value_function(n, c, self.k, *share)

    @property
    def expectation_polynomial(self) -> PolynomialOrComplement | None:
        """The expectation as a polynomial in the success rate; None if it is unknown or too
        long."""
        if self.family in ("pass@", "pass^"):
            complement = self.family == "pass@"
            return (all_fail_polynomial if complement else pass_hat_k_polynomial)(
                self.k
            ), complement
        if (
            self.definition.required_attempt_data
            or self.definition.is_known_only_as_range
            or self.k > _MAX_POLYNOMIAL_K
        ):
            return None
        return expectation_polynomial(
            self.values(np.full(self.k + 1, self.k), np.arange(self.k + 1))
        )

    def value_at_rates(self, rates: Floats) -> Floats:
        """The value of the metric at each exact success rate, for an array of any shape.

        For a metric without a polynomial, each rate is replaced by 1,000 attempts with the nearest
        number of passes.
        Errors: the same errors as in `values` for a metric that needs more than counts.

        >>> parse_metric("pass^2").value_at_rates(np.array([0.5, 1.0])).tolist()
        [0.25, 1.0]
        """
        if self.expectation_polynomial is None:
            many = 1_000
            values = self.values(np.full(many + 1, many), np.arange(many + 1))
            at_nearest: Floats = values[np.rint(rates * many).astype(np.int64)]
            return at_nearest
        polynomial, complement = self.expectation_polynomial
        value = polynomial.value_at(rates)
        return 1.0 - value if complement else value

    def values_from_attempts(self, attempts: AttemptValuesByCell) -> Floats:
        """The value of each cell, for a metric that needs more than counts; NaN if n < k."""
        a = attempts
        return self.definition.value_function(
            a.cell_offsets, a.value, a.count, a.pass_count, self.k
        )


@dataclass(frozen=True)
class MetricChange(Metric):
    """The change between two metrics of a model: the value of `end_metric` minus the value of
    `start_metric`.

    The k of the change is the larger k of the two metrics.

    >>> parse_change("pass@1:pass@10").name
    'pass@10 − pass@1'
    """

    start_metric: Metric = Metric("pass@", 1)
    end_metric: Metric = Metric("pass@", 1)

    @classmethod
    def from_metrics(cls, start: Metric, end: Metric) -> MetricChange:
        """The change from `start_metric` to `end_metric`; ParameterError if the two metrics are
        incompatible.
        """
        if start == end:
            raise ParameterError(
                "the two metrics of a change must be different; name a second metric",
                name="contradicting-options",
            )
        if ratio := next((m.name for m in (start, end) if m.definition.is_ratio_of_means), ""):
            raise ParameterError(
                f"{ratio} is a ratio of means, which has no change per task; name its two means",
                name="contradicting-options",
            )
        if ranged := next(
            (m.name for m in (start, end) if m.definition.is_known_only_as_range), ""
        ):
            raise ParameterError(
                f"{ranged} is a range, which has no change per task; use pass@k or pass^k",
                name="contradicting-options",
            )
        units = [
            m.unit if m.unit == "share" else m.definition.required_attempt_data
            for m in (start, end)
        ]
        if units[0] != units[1]:
            raise ParameterError(
                "the two metrics of a change must have the same unit; choose a different pair",
                name="contradicting-options",
            )
        return cls("", max(start.k, end.k), start_metric=start, end_metric=end)

    @cached_property
    def definition(self) -> MetricDefinition:
        """A definition of the change, with all data that the two metrics require."""
        kinds = self.start_metric.definition, self.end_metric.definition
        return MetricDefinition(
            self.values, "Difference of two metrics.",
            required_attempt_data=" and ".join(required_attempt_data((self.start_metric,
                self.end_metric))),
            bounds=None, exchangeable=all(kind.exchangeable for kind in kinds),
            is_monotone_in_passes=False,
        )  # fmt: skip

    @cached_property
    def unit(self) -> str:
        return self.start_metric.unit

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        if self.definition.required_attempt_data or self.k > _MAX_POLYNOMIAL_K:
            sides = self.start_metric.bounds, self.end_metric.bounds
            return None if None in sides else self.bounds_given_scores((0.0, 1.0))
        values = self.values(np.full(self.k + 1, self.k), np.arange(self.k + 1))
        return float(values.min()), float(values.max())

    def bounds_given_scores(self, scores: tuple[float, float] | None) -> tuple[float, float]:
        (low, high), (end_low, end_high) = (
            side.bounds_given_scores(scores) for side in (self.start_metric, self.end_metric)
        )
        return end_low - high, end_high - low

    @property
    def name(self) -> str:
        return f"{self.end_metric.name} − {self.start_metric.name}"

    def values(self, n: Ints, c: Ints) -> Floats:
        return self.end_metric.values(n, c) - self.start_metric.values(n, c)

    def values_from_attempts(self, attempts: AttemptValuesByCell) -> Floats:
        n, c = (
            np.add.reduceat(totals, attempts.cell_offsets[:-1])
            for totals in (attempts.count, attempts.pass_count)
        )
        start, end = (
            side.values_from_attempts(attempts)
            if side.definition.required_attempt_data
            else side.values(n, c)
            for side in (self.start_metric, self.end_metric)
        )
        return end - start


def parse_change(text: str) -> MetricChange:
    """Parse a change such as "pass@1:pass@100". Raise ValueError for text that is not a change."""
    # The name of a metric may itself contain a colon: "gpass@8:0.5:pass@8".
    names = re.fullmatch(r"([^:]+(?::[\d.]+)?):([^:]+(?::[\d.]+)?)", text.strip())
    if names is None:
        raise ValueError(text)
    return MetricChange.from_metrics(*map(parse_metric, names.groups()))


def parse_metric(text: str) -> Metric:
    """Parse the name of a metric in upper or lower case, or in the style of code (pass_at_1).

    Errors: ParameterError for an unknown name, with similar names in the message.

    >>> [parse_metric(text).name for text in ("maj@8", "mean", "passhat3", "cover@.80")]
    ['maj@8', 'mean', 'pass^3', 'cover@0.8']
    """
    name = text.strip()
    start, _, rate = respell_metric(name).partition("@")
    if (kind := FAMILIES.get(f"{start}@")) and kind.is_known_only_as_range:
        return Metric(f"{start}@", 1, _parse_cover_threshold(name, rate))
    match = re.fullmatch(r"([a-z_-]+[@^]?)(\d+)?(?::(\d*\.?\d+))?", respell_metric(name), re.ASCII)
    family = FAMILIES.get(match[1]) if match else None
    if match is None or family is None or (match[2] is not None) != family.has_k:
        number = re.search(r"[1-9][0-9]*", name)
        names = [
            pattern.replace("K", number[0] if number else "1")
            for pattern in meaning_by_family_pattern()
        ]
        question = did_you_mean_or_list(
            respell_metric(name), names, "`passk help metrics` lists them"
        )
        if re.fullmatch(r"[a-z-]+[@^]k(:.*)?", respell_metric(name)):
            question = f"write k as a number, for example {name[:-1]}10"
        raise ParameterError(
            f"there is no metric named {name!r}; {question}", name="unknown-metric"
        )
    if (match[3] is not None) != family.has_share:
        problem = "this metric has no share of attempts; remove the share"
        if family.has_share:
            problem = "add the share of attempts that must pass, for example gpass@16:0.75"
        raise ParameterError(f"{name}: {problem}", name="unknown-metric")
    k = parse_whole_number(name, match[2] or "1")
    metric = Metric(match[1], k, Fraction(match[3]) if match[3] else None)
    if metric.share is not None and not 0 < metric.share <= 1:
        raise ParameterError(
            f"{name}: the share must be above 0 and at most 1, for example gpass@16:0.75",
            name="unknown-metric",
        )
    return metric


def _parse_cover_threshold(name: str, text: str) -> Fraction:
    if re.fullmatch(r"\d*\.?\d+", text, re.ASCII) and 0 < (rate := Fraction(text)) <= 1:
        return rate
    meant_rate = probable_share(text) or 0.8
    raise ParameterError(
        f"{name}: write a success rate above 0 and up to 1, for example cover@{meant_rate:g}",
        name="unknown-metric",
    )


def parse_metric_list(text: str) -> tuple[Metric, ...]:
    """Parse metrics from a comma-separated list, without repetitions, in the given order."""
    return tuple(dict.fromkeys(parse_metric(part) for part in text.split(",") if part.strip()))


def parse_ks(text: str) -> tuple[int, ...]:
    """Parse a list of k's such as "1,10,100", which may contain ranges such as "1-4" or "1..4".

    Errors: ParameterError for values that are not whole numbers from 1 to 10⁹.

    >>> parse_ks("1-3,10"), parse_ks("2..4")
    ((1, 2, 3, 10), (2, 3, 4))
    """
    ks: dict[int, None] = {}
    for part in text.split(","):
        ends = [
            parse_whole_number(OptionWithValue("-k", text), end)
            for end in re.split(r"-|\.\.", part, maxsplit=1)
        ]
        if ends[-1] - ends[0] > _MOST_KS:
            raise ParameterError(
                OptionWithValue("-k", text),
                f"at most {_MOST_KS:,} values of k are possible; name only the k's that you need",
            )
        ks |= dict.fromkeys(range(ends[0], ends[-1] + 1))
    return tuple(ks)


def default_ks(n_min: int) -> tuple[int, ...]:
    """The k's 1, 10 and 100 up to `n_min`, or 1, 2, 4, … and `n_min` if `n_min` is below 10.

    >>> default_ks(200), default_ks(10), default_ks(5), default_ks(1)
    ((1, 10, 100), (1, 10), (1, 2, 4, 5), (1,))
    """
    usual = tuple(k for k in USUAL_K if k <= n_min)
    if len(usual) >= 2:
        return usual
    doubling = [1 << i for i in range(n_min.bit_length()) if 1 << i <= n_min]
    return tuple(dict.fromkeys([*doubling, n_min]))


def standard_metrics(ks: Iterable[int]) -> tuple[Metric, ...]:
    """The metrics pass@k and pass^k for these k's, without pass^1, which equals pass@1."""
    ks = tuple(ks)
    hats = tuple(Metric("pass^", k) for k in ks if k != 1)
    return (*(Metric("pass@", k) for k in ks), *hats)


def required_attempt_data(metrics: Iterable[Metric]) -> tuple[str, ...]:
    """The attempt data that the metrics need in addition to counts, without repetitions."""
    return tuple(
        dict.fromkeys(
            m.definition.required_attempt_data
            for m in metrics
            if m.definition.required_attempt_data
        )
    )


def uses_only_scores(metrics: Sequence[Metric]) -> bool:
    """Whether the metrics use only scores, so that it does not matter which attempts pass."""
    return bool(metrics) and all(
        metric.definition.required_attempt_data == "score" for metric in metrics
    )


def task_values(
    metrics: Iterable[Metric],
    n: Ints,
    c: Ints,
    attempts: Mapping[str, AttemptValuesByCell] | None = None,
) -> Floats:
    """The values of several metrics for the same cells, as an array (metrics × cells).

    n, c : number of attempts and of passes of each cell.
    attempts : for metrics that need more than counts, maps the required attempt data to the
        attempts of the cells.
    Returns NaN for cells with n < k.

    >>> metrics = [parse_metric("pass@1"), parse_metric("pass^2")]
    >>> task_values(metrics, np.array([2, 2]), np.array([1, 2]))
    array([[0.5, 1. ],
           [0. , 1. ]])
    """
    un, uc, index = unique_pairs(n, c)
    return np.array(
        [
            metric.values_from_attempts((attempts or {})[metric.definition.required_attempt_data])
            if metric.definition.required_attempt_data
            else cached_values_of_few_pairs(type(metric).values, metric, un, uc)[index]
            for metric in metrics
        ]
    )


def metric_completions(incomplete: str) -> list[str]:
    """Completions of the last name in a list of metrics, which a shell can offer.

    >>> metric_completions("pass@10,mean,dis")[0], metric_completions("gpass@1")
    ('pass@10,mean,distinct@1', ['gpass@10:0.5', 'gpass@100:0.5'])
    """
    complete_names, comma, part = incomplete.rpartition(",")
    names = (
        f"{family}{k}{':0.5' * kind.has_share}"
        if kind.has_k
        else f"{family}{'0.8' * kind.is_known_only_as_range}"
        for family, kind in FAMILIES.items()
        for k in (USUAL_K[kind.has_share :] if kind.has_k else USUAL_K[:1])
    )
    return [complete_names + comma + name for name in names if name.startswith(part)]


def meaning_by_family_pattern() -> dict[str, str]:
    """A dict that maps patterns such as "gpass@K:τ" to the meaning of the family of metrics."""
    return {
        family
        + "K" * kind.has_k
        + ("τ" if kind.is_known_only_as_range else ":τ" * kind.has_share): kind.meaning.format(
            k="K", share="τ"
        )
        for family, kind in FAMILIES.items()
    }
