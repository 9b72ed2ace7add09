"""Correction of pass@k and pass^k for the errors of a judge, based on labels of some attempts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.intervals import IntervalData
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.rounding import ROUNDING_TOLERANCE
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.attempts import AttemptValuesByCell

# If labels are scattered over attempts, intervals have enough coverage only up to k =
# MAX_K_WITH_SCATTERED_LABELS.
MAX_K_WITH_SCATTERED_LABELS = 2
# Corrections need at least FEWEST_LABELS labels, FEWEST_TASKS labelled tasks, and FEWEST_PAIRS
# pairs of labels at the same task. With fewer labels, the errors of a judge are not known well
# enough (benchmarks/judge.md).
FEWEST_LABELS, FEWEST_TASKS, FEWEST_PAIRS = 30, 15, 60
# A comparison of two models needs at least MODEL_COMPARISON_MIN_TASKS labelled tasks. With 20
# labelled tasks, equal models differ significantly in 7.3 % of simulations.
MODEL_COMPARISON_MIN_TASKS = 30
# At least MIN_TASKS_OFF_BOUND labelled tasks need a value above 0, and at least MIN_TASKS_OFF_BOUND
# need a value below 1. With fewer labelled tasks, intervals that rely on the judge have a coverage
# of only 90 %.
MIN_TASKS_OFF_BOUND = 5
# Two attempts at a task must both pass (or both fail, depending on the metric) with a probability
# of at least MIN_BOTH_PASS_OR_FAIL_PROBABILITY.
MIN_BOTH_PASS_OR_FAIL_PROBABILITY = 0.07
# The judge's pass rate of correct attempts and its pass rate of wrong attempts must differ by at
# least _MIN_DISCRIMINATION.
_MIN_DISCRIMINATION = 0.1


class CorrectedValues(NamedTuple):
    """Task values that are corrected for the judge's errors, and the uncertainty of their mean.

    values : corrected value of each task. A value may be outside the bounds of the metric, but the
        mean of the values is unbiased.
    hidden_variance : a variance that is added to the variance of the mean. It allows for errors of
        the judge that are too rare to appear in many labels.
    label_degrees_of_freedom : degrees of freedom for Student's t.
    labelled_values_near_bound : values of the labelled tasks according to the labels, if nearly all
        values are 0 or nearly all values are 1; otherwise None.
    """

    values: Floats
    hidden_variance: float
    label_degrees_of_freedom: int
    labelled_values_near_bound: Floats | None = None


class JudgeLabels(NamedTuple):
    """Numbers of attempts and labels per task, by the judge's verdict and by the true outcome.

    n, c : number of attempts per task, and number of attempts that the judge passes.
    label_tables_by_task : an array (tasks × 2 × 2) with the number of labelled attempts by verdict
        (fail, pass) and by true outcome (fail, pass).

    >>> bag = AttemptValuesByCell.from_rows([0, 0], [0.0, np.nan], [1, 3], [1, 1], cells=1)
    >>> JudgeLabels.from_truth(np.array([4]), np.array([2]), bag).label_tables_by_task.tolist()
    [[[0, 0], [1, 0]]]
    """

    n: Ints
    c: Ints
    label_tables_by_task: Ints

    @classmethod
    def from_truth(cls, n: Ints, c: Ints, truth: AttemptValuesByCell) -> JudgeLabels:
        """Labels from the true outcome of each attempt: 1, 0, or NaN for an unknown outcome."""
        table = np.zeros((len(n), 2, 2), dtype=np.int64)
        labelled = ~np.isnan(truth.value)
        cell, label = truth.row_cell_indices[labelled], truth.value[labelled].astype(np.int64)
        for verdict, times in enumerate((truth.count - truth.pass_count, truth.pass_count)):
            np.add.at(table, (cell, verdict, label), times[labelled])
        return cls(n, c, table)

    @property
    def label_counts(self) -> Ints:
        """The number of labelled attempts at each task."""
        label_counts: Ints = self.label_tables_by_task.sum(axis=(1, 2))
        return label_counts

    @property
    def pass_label_counts_by_task(self) -> Ints:
        """The number of attempts at each task with the label "pass"."""
        true: Ints = self.label_tables_by_task[:, :, 1].sum(axis=1)
        return true

    @property
    def is_complete(self) -> bool:
        """Whether all attempts at all tasks have a label."""
        return bool(np.all(self.label_counts == self.n))

    def for_tasks(self, tasks: Ints) -> JudgeLabels:
        """The labels of the selected tasks only."""
        return JudgeLabels(self.n[tasks], self.c[tasks], self.label_tables_by_task[tasks])

    @property
    def min_labels_per_labelled_task(self) -> int:
        """The largest k for which every labelled task has at least k labels, or labels for all
        attempts.

        The result is 0 if the labels are scattered, that is, if a task has several attempts but
        only one label.

        >>> table = np.array([[[0, 0], [1, 2]], [[0, 0], [0, 0]]])
        >>> JudgeLabels(np.array([5, 5]), np.array([4, 2]), table).min_labels_per_labelled_task
        3
        """
        labelled = self.label_counts > 0
        label_counts, complete = (
            self.label_counts[labelled],
            self.label_counts[labelled] == self.n[labelled],
        )
        if not labelled.any() or np.all(self.n[labelled] == 1):
            return 0
        least = int(label_counts.max() if complete.all() else label_counts[~complete].min())
        return least if least > 1 else 0

    @property
    def weights(self) -> Floats:
        """The number of attempts that one label represents, for each task and verdict.

        Every label represents one attempt if whole tasks were labelled. Otherwise, the number
        differs between strata, because `passk judge --list` chooses a different share of the
        attempts in each stratum for labelling.
        """
        if self.min_labels_per_labelled_task:
            return np.ones((len(self.n), 2))
        strata = JudgeStrata.from_labels(self)
        size = np.bincount(
            strata.stratum_by_task_and_verdict.ravel(), strata.attempt_counts.ravel(), 4
        )
        code, label_counts = strata.stratum_by_task_and_verdict, strata.label_counts
        if np.any((label_counts == 0) & (size > 0)):
            code = np.broadcast_to(np.arange(2), code.shape)
            label_counts, size = (
                self.label_tables_by_task.sum(axis=(0, 2)),
                strata.attempt_counts.sum(axis=0),
            )
        return (size / np.maximum(label_counts, 1))[code]

    @property
    def unlabelled_verdict(self) -> str:
        """The verdict ("passes" or "fails") without labels, if the other verdict has labels;
        otherwise ""."""
        label_counts, size = (
            self.label_tables_by_task.sum(axis=(0, 2)),
            (int((self.n - self.c).sum()), int(self.c.sum())),
        )
        lacking = [v for v in (0, 1) if label_counts.any() and size[v] and not label_counts[v]]
        return ("fails", "passes")[lacking[0]] if lacking else ""

    @property
    def covers_unusually_few_tasks(self) -> bool:
        """Whether scattered labels cover fewer than half as many tasks as random labels would."""
        label_count, attempts = int(self.label_counts.sum()), int(self.n.sum())
        if self.min_labels_per_labelled_task or self.is_complete or label_count < FEWEST_LABELS:
            return False
        expected = float((1 - (1 - label_count / attempts) ** self.n).sum())
        return bool(np.count_nonzero(self.label_counts) < expected / 2)

    @property
    def selection_p(self) -> float:
        """The p-value of the hypothesis that the choice of labelled attempts does not depend on the
        judge's verdicts.

        In each stratum, the statistic is the covariance between the number of labels at a task and
        the judge's pass rate c/n at the task. The variance of the statistic is hypergeometric, as
        for the same number of labels at random attempts. The covariances and the variances are
        summed over all strata.
        """
        strata, score = JudgeStrata.from_labels(self), (self.c / self.n)[:, None] * np.ones((1, 2))
        label_counts, off, variance = self.label_tables_by_task.sum(axis=2), 0.0, 0.0
        for code in range(4):
            in_stratum = strata.stratum_by_task_and_verdict == code
            size, drawn_labels, scores = (
                strata.attempt_counts[in_stratum],
                label_counts[in_stratum],
                score[in_stratum],
            )
            attempts, labels = int(size.sum()), int(drawn_labels.sum())
            if attempts < 2 or labels in (0, attempts):
                continue
            mean = float(size @ scores) / attempts
            off += float(drawn_labels @ (scores - mean))
            spread = float(size @ (scores - mean) ** 2) / attempts
            variance += labels * spread * (attempts - labels) / (attempts - 1)
        return math.erfc(abs(off) / math.sqrt(2 * variance)) if variance > 0 else 1.0

    @property
    def same_task_label_pair_count(self) -> int:
        """The number of pairs of labels that are at the same task."""
        label_counts = self.label_counts
        return int((label_counts * (label_counts - 1) // 2).sum())

    @property
    def largest_correctable_k(self) -> int:
        """The largest k for which the labels can correct pass@k and pass^k."""
        if self.is_complete:
            return int(self.n.max())
        return self.min_labels_per_labelled_task or (
            MAX_K_WITH_SCATTERED_LABELS if self.same_task_label_pair_count >= FEWEST_PAIRS else 1
        )

    def refusal_reason(self, metric: Metric) -> str:
        """The reason why there are too few labels for a metric, and the labels that are needed. The
        result is "" if there are enough labels.

        >>> table = np.tile(np.array([[[1, 0], [0, 0]], [[0, 0], [0, 1]]]), (20, 1, 1))
        >>> JudgeLabels(np.full(40, 8), np.full(40, 4), table).refusal_reason(Metric("pass^", 8))
        'labels are scattered over attempts; k = 8 needs 8 labels in each of 15 tasks or more'
        """
        k, label_count = metric.k, int(self.label_counts.sum())
        if verdict := self.unlabelled_verdict:
            return f"no attempt that the judge {verdict} has a label"
        if label_count < FEWEST_LABELS and not self.is_complete:
            return f"{label_count} labels are too few; at least {FEWEST_LABELS} are needed"
        several = f"k = {k} needs {k} labels in each of {FEWEST_TASKS} tasks or more"
        if self.min_labels_per_labelled_task:
            tasks = int(np.count_nonzero(self.label_counts))
            if tasks < FEWEST_TASKS:
                return f"labels of {tasks} tasks are too few; at least {FEWEST_TASKS} are needed"
            least = self.min_labels_per_labelled_task
            return f"labelled tasks have {least} labels; {several}" if k > least else ""
        if k > MAX_K_WITH_SCATTERED_LABELS or metric.family not in ("pass@", "pass^"):
            return f"labels are scattered over attempts; {several}"
        if k == 1:
            return ""
        if self.same_task_label_pair_count < FEWEST_PAIRS:
            pairs = self.same_task_label_pair_count
            return f"only {pairs} pairs of labels are at the same task; {several}"
        complement = metric.family == "pass@"
        share = correct_by_scattered_labels(metric, self).values.mean()
        if (1 - share if complement else share) < MIN_BOTH_PASS_OR_FAIL_PROBABILITY:
            outcome = "fail" if complement else "pass"
            return f"two attempts both {outcome} too rarely for scattered labels; {several}"
        return ""

    def corrected(self, metric: Metric) -> CorrectedValues:
        """The values of a metric, corrected with labels of whole tasks or with scattered labels."""
        return (
            correct_by_labelled_tasks(metric, self)
            if self.min_labels_per_labelled_task
            else correct_by_scattered_labels(metric, self)
        )


class JudgeStrata(NamedTuple):
    """Strata of attempts by the judge's verdict and by the most frequent verdict at the task.

    Both verdicts are needed because a verdict that differs from most verdicts at the task is wrong
    more often.

    stratum_by_task_and_verdict : an array (tasks × 2). At each task, it contains the stratum of the
        attempts that the judge fails, and the stratum of the attempts that the judge passes.
    attempt_counts : number of attempts for each element of `stratum_by_task_and_verdict`.
    label_means, labelled_share, label_counts : for each stratum, the mean of the labels (½ without
        labels), the share of attempts with a label, and the number of labels.
    """

    stratum_by_task_and_verdict: Ints
    attempt_counts: Ints
    label_means: Floats
    labelled_share: Floats
    label_counts: Ints

    @classmethod
    def from_labels(cls, labels: JudgeLabels) -> JudgeStrata:
        """The strata of attempts from which the labels were drawn at random."""
        size = np.stack([labels.n - labels.c, labels.c], axis=1)
        code = 2 * (2 * labels.c > labels.n)[:, None] + np.arange(2)
        attempts, label_counts, true = (
            np.bincount(code.ravel(), cells.ravel(), 4)
            for cells in (
                size,
                labels.label_tables_by_task.sum(axis=2),
                labels.label_tables_by_task[:, :, 1],
            )
        )
        mean = np.where(label_counts > 0, true / np.maximum(label_counts, 1), 0.5)
        share = np.where(attempts > 0, label_counts / np.maximum(attempts, 1), 1.0)
        return cls(code, size, mean, share, label_counts)

    def variance_due_to_unlabelled(self, slope: Floats, variance: Floats) -> float:
        """The variance of a mean over tasks due to unlabelled attempts: Σ (1 − π) W² variance / r.

        The sum is over strata. In a stratum, r is the number of labels, and π is the share of
        attempts that have a label. W is the sum of the slopes over the attempts in the stratum,
        divided by the number of tasks. In a stratum without labels, the variance is not divided by
        r.

        slope : derivative of a task's value with respect to one of its attempts, (tasks × 2).
        variance : variance of a label in each stratum.
        """
        weight = np.bincount(
            self.stratum_by_task_and_verdict.ravel(), (self.attempt_counts * slope).ravel(), 4
        ) / len(self.attempt_counts)
        return float(
            (
                (1 - self.labelled_share) * weight**2 * variance / np.maximum(self.label_counts, 1)
            ).sum()
        )


def correct_by_scattered_labels(metric: Metric, labels: JudgeLabels) -> CorrectedValues:
    """Values of pass@k or pass^k for k ≤ 2, corrected with labels of randomly drawn attempts.

    An attempt has the corrected outcome ỹ = μ + (Y − μ)/π if it has a label Y, and ỹ = μ if not. In
    these formulas, μ is the mean of the labels in the attempt's stratum, and π is the share of
    labelled attempts in this stratum. The expectations of ỹ and Y are equal. The value of a task
    comes from the usual formula with ỹ instead of the outcome: pass^2 = ((Σ ỹ)² − Σ ỹ²) / (n (n −
    1)). The value of pass@k is 1 − pass^k for the outcomes 1 − ỹ.

    The hidden variance is Σ (1 − π) W² [μ′(1 − μ′) − μ(1 − μ)]₊ / r over strata. In a stratum with
    r labels, of which x are "pass", μ = x/r and μ′ = (x + ½)/(r + 1). W is a sum over the attempts
    in the stratum, divided by the number of tasks. The summands are the derivatives of the task
    values with respect to ỹ. In a stratum without labels, ¼ replaces the bracket, and there is no
    division by r.
    Source: Robins, Rotnitzky & Zhao 1994; Särndal, Swensson & Wretman 1992, chapter 7.

    >>> table = np.array([[[1, 0], [0, 1]], [[0, 0], [1, 0]]])
    >>> everything = JudgeLabels(np.array([2, 1]), np.array([1, 1]), table)
    >>> correct_by_scattered_labels(Metric("pass@", 1), everything).values.tolist()
    [0.5, 0.0]
    """
    strata, n = JudgeStrata.from_labels(labels), labels.n[:, None]
    complement = metric.family == "pass@"
    mean, share = (
        strata.label_means[strata.stratum_by_task_and_verdict],
        np.maximum(strata.labelled_share[strata.stratum_by_task_and_verdict], 1e-300),
    )
    credits = np.stack([mean, mean - mean / share, mean + (1 - mean) / share], axis=2)
    unlabelled = strata.attempt_counts - labels.label_tables_by_task.sum(axis=2)
    times = np.concatenate([unlabelled[:, :, None], labels.label_tables_by_task], axis=2)
    credits = np.where(times > 0, 1 - credits if complement else credits, 0.0)
    total, square = (times * credits).sum(axis=(1, 2)), (times * credits**2).sum(axis=(1, 2))
    if metric.k == 1:
        values, slope = total / labels.n, np.broadcast_to(1 / n, mean.shape)
    else:
        pairs, level = n * (n - 1), 1 - mean if complement else mean
        values = (total**2 - square) / pairs[:, 0]
        slope = 2 * ((strata.attempt_counts * level).sum(axis=1, keepdims=True) - level) / pairs
    rare = np.where(
        strata.label_counts > 0,
        _excess_of_smoothed_variance(strata.label_means * strata.label_counts, strata.label_counts),
        0.25,
    )
    tasks = int(np.count_nonzero(labels.label_counts))
    return CorrectedValues(
        1 - values if complement else values, strata.variance_due_to_unlabelled(slope, rare),
        tasks - 1,
        _values_near_bound_or_none(_labelled_task_values(metric, labels), 1),
    )  # fmt: skip


def correct_by_labelled_tasks(metric: Metric, labels: JudgeLabels) -> CorrectedValues:
    """The values of a metric of counts, corrected with at least k labels at each of m randomly
    drawn tasks.

    The estimate is λ times the mean of g over all tasks, plus the mean of u − λ g over the m tasks.
    In this formula, g is the value of a task according to the judge's verdicts, and u is the value
    according to the labels. The factor λ is the slope of the regression of u on g over the m tasks,
    limited to [0, 1]. In the corrected values, the residuals of the m tasks are multiplied by T/√(m
    (m − 2)), so that the variance of the mean is the variance of the estimate.

    The hidden variance is [p′(1 − p′) − p(1 − p)]₊ (1/m − λ²/T) for p′ = (m p + ½)/(m + 1). In this
    formula, p is the smallest of the means of |u − g|, u and 1 − u.
    Source: Angelopoulos, Duchi & Zrnic 2023.

    >>> table = np.array([[[0, 0], [1, 1]], [[2, 0], [0, 0]], [[0, 0], [0, 2]], [[0, 0], [0, 0]]])
    >>> labels = JudgeLabels(np.full(4, 2), np.array([2, 0, 2, 2]), table)
    >>> float(correct_by_labelled_tasks(Metric("pass^", 2), labels).values.mean())
    0.375
    """
    judged = metric.values(labels.n, labels.c)
    labelled = labels.label_counts >= metric.k
    tasks, m = len(judged), int(np.count_nonzero(labelled))
    g, u = judged[labelled], _labelled_task_values(metric, labels)
    spread = float(((g - g.mean()) ** 2).sum())
    slope = float(((g - g.mean()) * (u - u.mean())).sum()) / spread if spread > 0 else 0.0
    slope = min(max(slope, 0.0), 1.0)
    residuals = u - slope * g
    values = slope * judged + residuals.mean()
    values[labelled] += (residuals - residuals.mean()) * tasks / np.sqrt(m * max(m - 2, 1))
    off = min(float(errors.sum()) for errors in (np.abs(u - g), u, 1 - u))
    hidden = float(_excess_of_smoothed_variance(off, m)) * (1 / m - slope**2 / tasks)
    return CorrectedValues(
        values, hidden, m - 1, _values_near_bound_or_none(u, MIN_TASKS_OFF_BOUND)
    )


def correct_pass_at_1_by_error_rates(
    n: Ints, c: Ints, errors: Sequence[tuple[int, int]]
) -> CorrectedValues | None:
    """The values of pass@1, corrected with the error rates of the judge on other models or tasks.

    The corrected value is p = (c/n − f) / (s − f). In this formula, f is the judge's pass rate of
    wrong attempts, and s is the judge's pass rate of correct attempts. The estimate of an error
    rate with x errors in r attempts is (x + ½)/(r + 1). The hidden variance is (p² s(1 − s)/(r_s +
    1) + (1 − p)² f(1 − f)/(r_f + 1)) / (s − f)² at the mean p. There are r_s attempts that truly
    pass, and r_f attempts that truly fail.

    Returns None if s − f is below 0.1, because the judge then hardly distinguishes passes from
    failures.
    errors : two pairs (number of wrong verdicts, number of all verdicts). The first pair is for
        truly failing attempts, and the second pair is for truly passing attempts.
    Source: Rogan & Gladen 1978; Lang & Reiczigel 2014.

    >>> n, c = np.array([10, 10]), np.array([5, 7])
    >>> correct_pass_at_1_by_error_rates(n, c, ((10, 100), (5, 100))).values.round(2)
    array([0.47, 0.71])
    """
    (passed, false), (failed, true) = errors
    f, s = (passed + 0.5) / (false + 1), 1 - (failed + 0.5) / (true + 1)
    if s - f < _MIN_DISCRIMINATION:
        return None
    values = (c / n - f) / (s - f)
    p = float(values.mean())
    spread = p**2 * s * (1 - s) / (true + 1) + (1 - p) ** 2 * f * (1 - f) / (false + 1)
    return CorrectedValues(values, spread / (s - f) ** 2, min(len(n), true, false) - 1)


def _labelled_task_values(metric: Metric, labels: JudgeLabels) -> Floats:
    full = labels.label_counts >= metric.k
    return metric.values(labels.label_counts[full], labels.pass_label_counts_by_task[full])


def _values_near_bound_or_none(values: Floats, fewest: int) -> Floats | None:
    off = min(
        np.count_nonzero(values > ROUNDING_TOLERANCE),
        np.count_nonzero(values < 1 - ROUNDING_TOLERANCE),
    )
    return values if off < fewest else None


def _excess_of_smoothed_variance(errors: Floats | float, labels: Ints | int) -> Floats:
    rate, more = errors / np.maximum(labels, 1), (errors + 0.5) / (labels + 1)
    return np.maximum(more * (1 - more) - rate * (1 - rate), 0.0)


def error_rate(several: Sequence[JudgeLabels], truth: int) -> IntervalData | None:
    """The share of wrong verdicts among attempts with a given true outcome; None without labels.

    several : labels of one or more models.
    truth : 0 for truly failing attempts, 1 for truly passing attempts.

    >>> table = np.array([[[3, 0], [1, 0]], [[2, 1], [0, 1]]])
    >>> round(error_rate([JudgeLabels(np.full(2, 4), np.array([1, 1]), table)], 0).mean, 3)
    0.167
    """
    part, base = np.zeros((2, 2)), np.zeros((2, 2))
    part[1 - truth, truth] = 1
    base[:, truth] = 1
    return _weighted_share_of_labels(several, part, base)


def verdict_and_truth_share(labels: JudgeLabels, verdict: int, truth: int) -> IntervalData | None:
    """The share of attempts with a given verdict and a given true outcome; None without labels."""
    part = np.zeros((2, 2))
    part[verdict, truth] = 1
    return _weighted_share_of_labels([labels], part, np.ones((2, 2)))


def cohens_kappa_scaled_to_0_1(labels: JudgeLabels) -> IntervalData | None:
    """Cohen's κ = (p_o − p_e) / (1 − p_e) between judge and labels, rescaled to (κ + 1) / 2 in [0,
    1].

    In this formula, p_o is the share of attempts for which the judge and the label agree. The share
    p_e is the agreement by chance of two independent raters with the same pass rates. The values of
    the tasks are linear approximations (delta method). The result is None if there are no labels,
    or if all verdicts and labels are equal.
    Source: Cohen 1960; Fleiss, Cohen & Everitt 1969.

    >>> agree = JudgeLabels(np.array([2, 2]), np.array([1, 1]), np.array([[[1, 0], [0, 1]]] * 2))
    >>> cohens_kappa_scaled_to_0_1(agree).mean
    1.0
    """
    table = labels.weights[:, :, None] * labels.label_tables_by_task
    total = table.sum()
    if total == 0:
        return None
    shares = table.sum(axis=0) / total
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    agreement, chance = float(np.trace(shares)), float(rows @ columns)
    if chance >= 1 - ROUNDING_TOLERANCE:
        return None
    value = (agreement - chance) / (1 - chance)
    slope = np.eye(2) / (1 - chance)
    slope = slope - (columns[:, None] + rows) * (1 - agreement) / (1 - chance) ** 2
    labelled = table.sum(axis=(1, 2)) > 0
    size = table[labelled].sum(axis=(1, 2))
    off = (table[labelled] * slope).sum(axis=(1, 2)) - size * float((slope * shares).sum())
    hidden = _rare_error_variance_of_share([labels], slope, float(total))
    return IntervalData(
        (value + 1 + off / size.mean()) / 2,
        hidden_variance=hidden / 4,
        label_degrees_of_freedom=max(len(size) - 1, 1),
    )


def _weighted_share_of_labels(
    several: Sequence[JudgeLabels], part: Floats, base: Floats
) -> IntervalData | None:
    """The weighted share of labels in the cells of `part`, among the labels in the cells of `base`.

    The share R is a ratio of totals over tasks, and each task with labels in the base has the value
    R + (part − R · base) / mean base. The interval of R therefore accounts for errors that occur
    together at a task.

    part, base : tables of verdict and true outcome, with 1 for the selected cells and 0 for the
        other cells.
    """
    tables = np.concatenate(
        [labels.weights[:, :, None] * labels.label_tables_by_task for labels in several]
    )
    top, bottom = ((tables * cells).sum(axis=(1, 2)) for cells in (part, base))
    counted = bottom > 0
    if not counted.any():
        return None
    total = float(bottom.sum())
    rate = float(top.sum()) / total
    values = rate + (top - rate * bottom)[counted] / bottom[counted].mean()
    hidden = _rare_error_variance_of_share(several, part - rate * base, total)
    return IntervalData(
        values, hidden_variance=hidden, label_degrees_of_freedom=max(len(values) - 1, 1)
    )


def _rare_error_variance_of_share(
    several: Sequence[JudgeLabels], slope: Floats, total: float
) -> float:
    hidden = 0.0
    for labels in several:
        label_counts = labels.label_tables_by_task.sum(axis=(0, 2))
        weight = (labels.weights[:, :, None] * labels.label_tables_by_task).sum(axis=(0, 2))
        change = weight * (slope[:, 1] - slope[:, 0]) / total
        unseen = _excess_of_smoothed_variance(
            labels.label_tables_by_task[:, :, 1].sum(axis=0).astype(float), label_counts
        )
        hidden += float((change**2 * unseen / np.maximum(label_counts, 1)).sum())
    return hidden


class ErrorClustering(NamedTuple):
    """The observed and the expected number of pairs of errors at the same task, and a p-value. Both
    errors of a pair have the same true outcome."""

    error_pairs: int
    expected_error_pair_count: float
    p: float


def error_clustering(labels: JudgeLabels, resamples: int, seed: int) -> ErrorClustering:
    """A permutation test of whether several errors of a judge occur at the same task."""
    rng, pairs, pair_draws = named_generator(seed, "errors"), 0, np.zeros(resamples)
    for truth in (0, 1):
        size, wrong = (
            labels.label_tables_by_task[:, :, truth].sum(axis=1),
            labels.label_tables_by_task[:, 1 - truth, truth],
        )
        pairs += int((wrong * (wrong - 1) // 2).sum())
        dealt = rng.multivariate_hypergeometric(size, int(wrong.sum()), resamples)
        pair_draws += (dealt * (dealt - 1) // 2).sum(axis=1)
    p = (1 + int(np.count_nonzero(pair_draws >= pairs))) / (resamples + 1)
    return ErrorClustering(pairs, float(pair_draws.mean()), p)


class VarianceByLabelCount(NamedTuple):
    """The variance of a corrected mean as a function of the number r of labels.

    The variance is variance_with_all_labels + variance_slope · (1/r − 1/possible_label_count). If
    whole tasks are labelled, r is the number of labelled tasks.

    variance_with_all_labels : variance if all `possible_label_count` attempts (or tasks) have
        labels.
    current_label_count : current number of labels (or of labelled tasks).  labels_per_task : number
        of labels at each labelled task; 0 for scattered labels.
    """

    variance_with_all_labels: float
    variance_slope: float
    current_label_count: int
    possible_label_count: int
    labels_per_task: int

    def labels_for_variance(self, variance: float) -> int | None:
        """The number of labels that reduces the variance to a given value; None if all available
        labels are too few."""
        if variance <= self.variance_with_all_labels:
            return None
        return math.ceil(
            1
            / (
                (variance - self.variance_with_all_labels) / max(self.variance_slope, 1e-300)
                + 1 / self.possible_label_count
            )
        )


def variance_by_label_count(metric: Metric, labels: JudgeLabels) -> VarianceByLabelCount:
    """How the variance of a corrected metric decreases with more labels of the same kind."""
    per_task = labels.min_labels_per_labelled_task or (metric.k if metric.k > 1 else 0)
    values, hidden, *_ = (
        correct_by_labelled_tasks(metric, labels)
        if per_task
        else correct_by_scattered_labels(metric, labels)
    )
    tasks = len(values)
    total = float(values.var(ddof=1)) / tasks + hidden
    if per_task:
        full = labels.label_counts >= metric.k
        labelled, most = int(np.count_nonzero(full)), tasks
        residuals = _labelled_task_values(metric, labels) - metric.values(labels.n, labels.c)[full]
        part = float(residuals.var(ddof=1)) * (1 / labelled - 1 / most) + hidden
    else:
        labelled, most = int(labels.label_counts.sum()), int(labels.n.sum())
        strata = JudgeStrata.from_labels(labels)
        spread = np.where(
            strata.label_counts > 0, strata.label_means * (1 - strata.label_means), 0.0
        )
        part = hidden + strata.variance_due_to_unlabelled(1 / labels.n[:, None], spread)
    visible = float(metric.values(labels.n, labels.c).var(ddof=1)) / tasks
    return VarianceByLabelCount(max(total - part, visible / 2), part / max(1 / labelled - 1 / most,
        1e-12),
    labelled,
    most,
                per_task)  # fmt: skip
