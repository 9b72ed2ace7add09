"""Numbers that labels correct: against counting, and against every sample of labels."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.intervals import Interval, IntervalData, interval
from passk_cli.inference.judge_correction import (
    FEWEST_LABELS,
    FEWEST_TASKS,
    MIN_TASKS_OFF_BOUND,
    CorrectedValues,
    JudgeLabels,
    cohens_kappa_scaled_to_0_1,
    correct_by_labelled_tasks,
    correct_by_scattered_labels,
    error_clustering,
    error_rate,
    variance_by_label_count,
    verdict_and_truth_share,
)
from passk_cli.metrics.registry import parse_metric

METRICS = [parse_metric(name) for name in ("pass@1", "pass@2", "pass^2")]


def labels_of(verdict: np.ndarray, truth: np.ndarray, observed: np.ndarray) -> JudgeLabels:
    """Of (tasks × n) arrays of truth values."""
    table = np.array([
        [[(row[2] & (row[0] == v) & (row[1] == y)).sum() for y in (0, 1)] for v in (0, 1)]
        for row in zip(verdict, truth, observed, strict=True)
    ])  # fmt: skip
    n = np.full(len(verdict), verdict.shape[1])
    return JudgeLabels(n, verdict.sum(axis=1).astype(np.int64), table)


def limits_of(result: CorrectedValues) -> Interval:
    return interval(
        IntervalData(
            result.values,
            hidden_variance=result.hidden_variance,
            label_degrees_of_freedom=result.label_degrees_of_freedom,
            labelled_values_near_bound=result.labelled_values_near_bound,
        )
    )


def draws(seed: int, tasks: int, n: int, share: float) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    truth = rng.random((tasks, n)) < rng.random((tasks, 1))
    verdict = np.where(rng.random((tasks, n)) < 0.2, ~truth, truth)
    return verdict, truth, rng.random((tasks, n)) < share


@pytest.mark.parametrize("metric", [*METRICS, parse_metric("pass@4"), parse_metric("gpass@4:0.5")])
def test_with_a_label_for_everything_values_are_those_of_the_truth(metric) -> None:
    verdict, truth, _ = draws(1, 30, 4, 1.0)
    labels = labels_of(verdict, truth, np.ones_like(truth))
    plain = metric.values(labels.n, truth.sum(axis=1).astype(np.int64))
    assert labels.is_complete
    assert labels.refusal_reason(metric) == ""
    for result in [correct_by_labelled_tasks(metric, labels)] + [
        correct_by_scattered_labels(metric, labels)
    ] * (metric in METRICS):
        assert result.values.mean() == pytest.approx(plain.mean(), abs=1e-12)
    if metric in METRICS:
        result = correct_by_scattered_labels(metric, labels)
        assert result.hidden_variance == 0.0
        assert result.values == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_labels_that_agree_with_every_verdict_change_no_value(metric) -> None:
    """The error is larger by what labels may hide, and by nothing else."""
    verdict, _, observed = draws(2, 40, 5, 0.4)
    labels = labels_of(verdict, verdict, observed)
    plain = metric.values(labels.n, labels.c)
    result = correct_by_scattered_labels(metric, labels)
    assert result.values == pytest.approx(plain, abs=1e-12)
    assert result.hidden_variance > 0
    error = IntervalData(result.values, hidden_variance=result.hidden_variance).se
    assert error == pytest.approx(
        (IntervalData(plain).se ** 2 + result.hidden_variance) ** 0.5, abs=1e-15
    )


def test_the_mean_over_all_samples_of_labels_is_the_truth() -> None:
    """Of each stratum two of its attempts are labelled, in every way there is."""
    verdict = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    truth = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]], dtype=bool)
    most = 2 * verdict.sum(axis=1, keepdims=True) > 3
    code = 2 * most + verdict
    strata = [np.flatnonzero(code.ravel() == s) for s in np.unique(code)]
    means = []
    for subset in product(*(combinations(places, min(2, len(places))) for places in strata)):
        observed = np.zeros(verdict.size, dtype=bool)
        observed[[place for part in subset for place in part]] = True
        labels = labels_of(verdict, truth, observed.reshape(verdict.shape))
        means.append(correct_by_scattered_labels(parse_metric("pass@1"), labels).values.mean())
    assert len(means) == np.prod([comb(len(places), min(2, len(places))) for places in strata])
    assert np.mean(means) == pytest.approx(truth.mean(), abs=1e-12)


def test_the_mean_over_all_samples_of_tasks_is_near_the_truth() -> None:
    verdict, truth, _ = draws(3, 8, 3, 1.0)
    metric, means = parse_metric("pass^3"), []
    for subset in combinations(range(8), 5):
        observed = np.zeros_like(truth)
        observed[list(subset)] = True
        means.append(
            correct_by_labelled_tasks(metric, labels_of(verdict, truth, observed)).values.mean()
        )
    # The slope is estimated from the same tasks, which moves the mean by a little.
    assert np.mean(means) == pytest.approx(truth.all(axis=1).mean(), abs=0.02)


def test_labels_know_how_they_were_drawn() -> None:
    verdict, truth, observed = draws(4, 60, 5, 0.4)
    assert labels_of(verdict, truth, observed).min_labels_per_labelled_task == 0
    sample_of_tasks = np.arange(60) % 3 == 0
    three = (np.arange(5) < 3) & sample_of_tasks[:, None]
    assert labels_of(verdict, truth, three).min_labels_per_labelled_task == 3
    # A task that has no more attempts is whole.
    total = np.ones_like(three) & sample_of_tasks[:, None]
    assert labels_of(verdict, truth, total).min_labels_per_labelled_task == 5
    single = verdict[:, :1]
    assert (
        labels_of(single, truth[:, :1], sample_of_tasks[:, None]).min_labels_per_labelled_task == 0
    )


@pytest.mark.parametrize(
    ("metric", "observed", "reason"),
    [
        ("pass@1", lambda rows: rows < FEWEST_LABELS - 1, "labels are too few"),
        ("pass@3", lambda rows: rows % 3 == 0, "k = 3 needs 3 labels in each of 15 tasks"),
        ("pass@2", lambda rows: rows % 10 == 0, "pairs of labels"),
        ("gpass@2:0.5", lambda rows: rows % 3 == 0, "scattered over attempts"),
    ],
)
def test_too_few_labels_are_refused_with_the_number_needed(metric, observed, reason) -> None:
    verdict, truth, _ = draws(5, 80, 5, 0.4)
    rows = np.arange(400)
    # In an order that no task knows.
    rows = np.random.default_rng(0).permutation(rows).reshape(80, 5)
    labels = labels_of(verdict, truth, observed(rows))
    assert reason in labels.refusal_reason(parse_metric(metric))


def test_few_labelled_tasks_are_refused() -> None:
    verdict, truth, _ = draws(6, 80, 5, 0.4)
    for tasks in (FEWEST_TASKS - 1, FEWEST_TASKS):
        observed = (np.arange(80) < tasks)[:, None] & np.ones(5, dtype=bool)
        refusal = labels_of(verdict, truth, observed).refusal_reason(parse_metric("pass@5"))
        assert bool(refusal) == (tasks < FEWEST_TASKS)


def test_two_passes_that_are_rare_are_refused_of_scattered_labels() -> None:
    rng = np.random.default_rng(7)
    truth = rng.random((300, 5)) < 0.05
    labels = labels_of(truth, truth, rng.random((300, 5)) < 0.4)
    assert "too rarely" in labels.refusal_reason(parse_metric("pass^2"))
    assert labels.refusal_reason(parse_metric("pass@2")) == ""


def test_a_limit_is_the_bound_if_no_label_contradicts_it() -> None:
    verdict = np.random.default_rng(8).random((50, 3)) < 0.1
    observed = np.random.default_rng(9).random((50, 3)) < 0.5
    labels = labels_of(verdict, np.zeros_like(verdict), observed)
    limits = limits_of(correct_by_scattered_labels(parse_metric("pass@1"), labels))
    assert limits.low == 0.0
    assert limits.method == "logit-t"


@pytest.mark.parametrize("tasks", [20, 60])
@pytest.mark.parametrize("off", [0, 1, MIN_TASKS_OFF_BOUND - 1, MIN_TASKS_OFF_BOUND])
def test_rare_values_are_no_surer_than_the_labels_of_their_tasks(tasks: int, off: int) -> None:
    """20 labelled tasks, whose attempts all pass but for a few, and a judge that fails a third."""
    rng = np.random.default_rng(16)
    truth = np.ones((tasks, 4), dtype=bool)
    truth[:off] = False
    observed = (np.arange(tasks) < 20)[:, None] & (np.arange(4) < 2)
    labels = labels_of(truth & (rng.random(truth.shape) < 0.67), truth, observed)
    metric = parse_metric("pass^2")
    values = correct_by_labelled_tasks(metric, labels)
    assert (values.labelled_values_near_bound is None) == (off == MIN_TASKS_OFF_BOUND)
    result = limits_of(values)
    if off < MIN_TASKS_OFF_BOUND:
        guard = interval(
            IntervalData(
                metric.values(labels.label_counts[:20], labels.pass_label_counts_by_task[:20])
            ),
            "guard",
        )
        assert result.low <= guard.low
        assert result.high >= guard.high
    assert result.low < 0.9


def test_an_error_rate_is_a_ratio_with_the_error_of_clusters() -> None:
    verdict, truth, observed = draws(10, 60, 5, 0.5)
    labels = labels_of(verdict, truth, observed)
    majority = verdict.mean(axis=1, keepdims=True) > 0.5
    weight = np.zeros(verdict.shape)
    for block in ((verdict == v) & (majority == m) for v in (0, 1) for m in (0, 1)):
        weight[block & observed] = block.sum() / (block & observed).sum()
    fails = weight * (observed & ~truth)
    rate = error_rate([labels], 0)
    assert rate is not None
    assert rate.mean == pytest.approx(fails[verdict == 1].sum() / fails.sum())
    # As many errors, all in few tasks, are less certain.
    together = labels.label_tables_by_task.copy()
    together[:, :, 0] = 0
    together[:20, 1, 0], together[20:, 0, 0] = 3, 1
    together[:10, 1, 0], together[10:20, 0, 0] = 3, 3
    together[10:20, 1, 0] = 0
    deviation = labels.label_tables_by_task.copy()
    deviation[:, :, 0] = 0
    deviation[:30, 1, 0], deviation[30:, 0, 0], deviation[:30, 0, 0] = 1, 1, 1
    first, second = (
        error_rate([labels._replace(label_tables_by_task=t)], 0) for t in (together, deviation)
    )
    assert first is not None
    assert second is not None
    assert first.se > 1.5 * second.se
    assert (
        error_rate(
            [labels._replace(label_tables_by_task=np.zeros_like(labels.label_tables_by_task))], 1
        )
        is None
    )


def test_clustered_errors_are_detected_and_independent_ones_are_not() -> None:
    verdict, truth, observed = draws(11, 100, 6, 0.6)
    by_chance = error_clustering(labels_of(verdict, truth, observed), 2000, 0)
    assert by_chance.p > 0.05
    assert by_chance.error_pairs == pytest.approx(by_chance.expected_error_pair_count, rel=0.5)
    wrong = (np.random.default_rng(12).random((100, 1)) < 0.2) & np.ones(6, dtype=bool)
    together = error_clustering(labels_of(truth ^ wrong, truth, observed), 2000, 0)
    assert together.p == pytest.approx(1 / 2001)
    assert together.error_pairs > 2 * together.expected_error_pair_count


def test_more_labels_are_needed_for_less_variance() -> None:
    verdict, truth, observed = draws(13, 200, 5, 0.2)
    requirement = variance_by_label_count(
        parse_metric("pass@1"), labels_of(verdict, truth, observed)
    )
    assert requirement.labels_per_task == 0
    assert requirement.labels_for_variance(requirement.variance_with_all_labels) is None
    several = [
        requirement.labels_for_variance(requirement.variance_with_all_labels * share)
        for share in (1.2, 1.1, 1.01)
    ]
    assert None not in several
    assert several == sorted(several)
    # What it says of the labels there are.
    result = correct_by_scattered_labels(
        parse_metric("pass@1"), labels_of(verdict, truth, observed)
    )
    variance = IntervalData(result.values, hidden_variance=result.hidden_variance).se ** 2
    assert requirement.labels_for_variance(variance) == pytest.approx(
        requirement.current_label_count, abs=1
    )


def test_hidden_variance_widens_a_difference() -> None:
    d = np.random.default_rng(14).normal(0.1, 0.3, (2, 50))
    plain, wider = (
        difference_distribution(d, 1.0),
        difference_distribution(d, 1.0, hidden=[0.0, 0.002]),
    )
    assert wider.standard_error_without_allowance[0] == plain.standard_error_without_allowance[0]
    assert wider.standard_error_without_allowance[1] == pytest.approx(
        (plain.standard_error_without_allowance[1] ** 2 + 0.002) ** 0.5
    )
    assert wider.p()[1] > plain.p()[1]
    fewer = difference_distribution(d, 1.0, degrees=10)
    assert (fewer.p() > plain.p()).all()


@pytest.mark.parametrize("k", [0, 4])
def test_intervals_cover_the_truth_with_clustered_errors(k: int) -> None:
    """One of the situations of benchmarks/judge.md."""
    rng, inside, naive = np.random.default_rng(15), 0, 0
    metric, runs = parse_metric("pass@4" if k else "pass@1"), 300
    value = 1 - 1 / 5 if k else 0.5
    for _ in range(runs):
        truth = rng.random((80, 4)) < rng.random((80, 1))
        wrong = rng.random((80, 4)) < rng.beta(0.2 * 0.5, 0.8 * 0.5, (80, 1))
        if k:
            observed = np.isin(np.arange(80), rng.permutation(80)[:25])[:, None] & np.ones(
                4, dtype=bool
            )
        else:
            observed = rng.random((80, 4)) < 0.3
        labels = labels_of(truth | wrong, truth, observed)
        result = labels.corrected(metric)
        limits = limits_of(result)
        inside += limits.low <= value <= limits.high
        judged = metric.values(labels.n, labels.c)
        naive += abs(judged.mean() - value) < 2 * judged.std() / 80**0.5
    assert inside / runs > 0.92
    assert naive / runs < 0.7


def test_labels_of_one_verdict_are_not_enough() -> None:
    table = np.zeros((40, 2, 2), dtype=np.int64)
    table[:, 0, 0] = 1
    labels = JudgeLabels(np.full(40, 4), np.full(40, 2), table)
    assert labels.unlabelled_verdict == "passes"
    assert "no attempt that the judge passes has a label" in labels.refusal_reason(
        parse_metric("pass@1")
    )
    # A judge that never passes anything leaves nothing open.
    assert JudgeLabels(np.full(40, 4), np.zeros(40, int), table).unlabelled_verdict == ""


def test_kappa_and_confusion_by_hand() -> None:
    """20 agreed failures, 5 false passes, 10 false failures, 15 agreed passes, all labelled."""
    table = np.zeros((50, 2, 2), dtype=np.int64)
    for task, (verdict, truth) in enumerate(
        [(0, 0)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(1, 1)] * 15
    ):
        table[task, verdict, truth] = 1
    labels = JudgeLabels(np.ones(50, int), table[:, 1].sum(axis=1), table)
    agreement = cohens_kappa_scaled_to_0_1(labels)
    assert agreement is not None
    # p_o = 0.7, p_e = 0.6 · 0.5 + 0.4 · 0.5.
    assert 2 * agreement.mean - 1 == pytest.approx((0.7 - 0.5) / 0.5)
    assert [[verdict_and_truth_share(labels, v, t).mean for t in (0, 1)] for v in (0, 1)] == [  # type: ignore[union-attr]
        [pytest.approx(0.4), pytest.approx(0.2)], [pytest.approx(0.1), pytest.approx(0.3)],
    ]  # fmt: skip
    # Fleiss, Cohen & Everitt (1969), eq. 13, of independent attempts.
    rows, columns, shares = (0.6, 0.4), (0.5, 0.5), ((0.4, 0.2), (0.1, 0.3))
    k, chance = 0.4, 0.5
    variance = sum(shares[i][i] * (1 - (rows[i] + columns[i]) * (1 - k)) ** 2 for i in (0, 1))
    variance += (1 - k) ** 2 * sum(
        shares[i][1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1)
    )
    variance = (variance - (k - chance * (1 - k)) ** 2) / (50 * (1 - chance) ** 2)
    assert 4 * agreement.values.var(ddof=0) / 50 == pytest.approx(variance)


def test_labels_that_were_not_drawn_at_random_show_it() -> None:
    rng = np.random.default_rng(0)
    verdict = rng.random((200, 4)) < rng.random((200, 1))
    scattered = rng.random(verdict.shape) < 0.25
    easy = scattered & (verdict.mean(axis=1, keepdims=True) >= 0.5)
    # 18 tasks, of which the first has one label.
    few = (np.arange(200)[:, None] < 18) & (rng.random(verdict.shape) < 0.65)
    few[0] = [True, False, False, False]
    at_random, subset, picked = (
        labels_of(verdict, verdict, observed) for observed in (scattered, easy, few)
    )
    assert at_random.selection_p > 0.01 > subset.selection_p
    assert (at_random.covers_unusually_few_tasks, picked.covers_unusually_few_tasks) == (
        False,
        True,
    )
