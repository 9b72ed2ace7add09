"""Warnings that attempts or tasks depend on each other, although intervals assume independence."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.row_sample import ClusterCandidates, OrderedAttempts
from passk_cli.report.phrases import SeriesName, p_sign_and_number_text
from passk_cli.study.confidence import Confidence
from passk_cli.suggested_fix import SuggestedFix

# passk reports only p-values up to LARGEST_REPORTED_P, after Bonferroni's adjustment for all tests
# of one kind.
LARGEST_REPORTED_P = 0.001
_MIN_Z_FOR_FULL_TEST = 2.5

DEPENDENT_ATTEMPTS = DiagnosticType(
    "dependent-attempts", WARNING,
    "{?model|attempts of {model} depend on each other: {what} (p {p})}{?more|; likewise {more}}"
    "{?error|pass@k of {models:model} is {error} for the first k attempts; report first@k}",
    SuggestedFix({}, "tests their order", "order"),
    meaning="Outcomes of attempts at the same task follow a trend, or neighbouring attempts have"
    " equal outcomes more or less often than in a random order.",
    why="pass@k averages over all choices of k attempts, as if attempts were independent. A user"
    " who makes k attempts in a row gets first@k and not pass@k. first@k is the share of tasks"
    " that at least one of the first k attempts solves. If attempts depend on each other, first@k"
    " differs from pass@k. A shared session, a cache, a rate limit, the time of day or sorted"
    " files can make attempts depend on each other. The commands `estimate`, `compare`, `curve`"
    " and `extrapolate` test numbered attempts, or a sample of the attempts in a large file. The"
    " commands report a dependence if p ≤ 0.001 after an adjustment for all models. `passk order`"
    " reports that pass@k is too high or too low if the interval of first@k − pass@k excludes 0.",
    advice="Run `passk order FILE` to test the order of the attempts. If the order matters, report"
    " first@k and repair the harness.",
    example="warning[dependent-attempts]: attempts of alpha depend on each other: later"
    " attempts pass less often (p < 0.0001); passk order tests their order",
)  # fmt: skip
POSSIBLE_CLUSTER_COLUMN = DiagnosticType(
    "possible-clusters", NOTE,
    "tasks with the same {column} have similar pass rates ({groups:value} for {tasks:task}, p {p})",
    SuggestedFix({"--cluster": "{column}"}, "treats these groups as clusters"),
    meaning="An unused column has several tasks per value, and tasks with the same value have more"
    " similar pass rates than expected by chance.",
    why="Related tasks, such as questions about one document or issues of one repository, contain"
    " less information about new tasks than unrelated tasks do. An interval that treats related"
    " tasks as unrelated is too narrow. passk tests columns with at least 10 values, and prints"
    " the message if p ≤ 0.001 after an adjustment for the number of columns.",
    advice="If the values of the column are a sample, for example a sample of repositories, use"
    " `--cluster COLUMN`. If the values of the column are fixed categories, such as subjects,"
    " ignore this note.",
    example="note[possible-clusters]: tasks with the same repository have similar pass rates (24"
    " values for 500 tasks, p = 0.0002); --cluster repository treats these groups as clusters",
)  # fmt: skip


def attempt_and_cluster_messages(counts: Counts, confidence: Confidence) -> Iterator[Diagnostic]:
    """The warning about attempts that depend on each other, and the note about possible clusters of
    tasks."""
    sampled = counts.read_facts.sampled_rows
    if sampled is None:
        return
    if sampled.ordered_attempts is not None:
        yield from _warn_of_dependent_attempts(sampled.ordered_attempts)
    about_new = confidence.population != THESE_TASKS and confidence.method != "none"
    if sampled.cluster_candidates is not None and about_new and not confidence.cluster:
        yield from _note_possible_cluster_column(sampled.cluster_candidates)


def _warn_of_dependent_attempts(order: OrderedAttempts) -> Iterator[Diagnostic]:
    significant, tests = list[tuple[float, str, str]](), 2 * len(order.series_names)
    edges = np.searchsorted(order.series_codes, np.arange(len(order.series_names) + 1))
    for place, series in enumerate(order.series_names):
        start = order.offsets[edges[place] : edges[place + 1] + 1]
        p, pattern = _p_and_order_pattern(start - start[0], order.outcomes[start[0] : start[-1]])
        if p * tests <= LARGEST_REPORTED_P:
            significant.append((p * tests, SeriesName(series), pattern))
    if significant:
        (p, model, pattern), *more = sorted(significant)
        names = [name for _, name, _ in more]
        yield DEPENDENT_ATTEMPTS(model=model, what=pattern, p=p_sign_and_number_text(p), more=names)


def _p_and_order_pattern(start: Ints, passed: Ints) -> tuple[float, str]:
    from passk_cli.inference.stopping import has_optional_stopping
    from passk_cli.metrics.attempt_order import (
        attempts_and_passes_per_task,
        neighbour_changes,
        trend_scores_and_weights,
    )

    n, c = attempts_and_passes_per_task(start, passed)
    pairs = c * (n - c)
    if not pairs.any():
        return 1.0, ""
    # The module `inference.exchangeability` also contains these formulas. passk imports that slow
    # module only if the values computed here suggest a dependence.
    score = float(trend_scores_and_weights(start, passed)[0].sum())
    differ, twice = float(neighbour_changes(start, passed).sum()), 2.0 * pairs
    spread = np.maximum(twice * (twice - n), 0) / (n**2.0 * np.maximum(n - 1, 1))
    trend = abs(score) / math.sqrt(float((pairs * (n + 1.0)).sum()) / 12)
    lag = abs(differ - float((twice / n).sum())) / math.sqrt(max(float(spread.sum()), 1e-12))
    if max(trend, lag) < _MIN_Z_FOR_FULL_TEST or has_optional_stopping(
        n, c, last=passed[start[1:] - 1]
    ):
        return 1.0, ""
    from passk_cli.inference.exchangeability import neighbour_test, trend_test

    tests = trend_test(start, passed), neighbour_test(start, passed)
    direction = "less" if tests[0].statistic < 0 else "more"
    likeness = "alike" if tests[1].statistic < tests[1].null_mean else "unlike"
    patterns = (
        (tests[0].p, f"later attempts pass {direction} often"),
        (tests[1].p, f"neighbouring attempts are {likeness}"),
    )
    return min((p, pattern) for p, pattern in patterns if not math.isnan(p))


def _note_possible_cluster_column(groups: ClusterCandidates) -> Iterator[Diagnostic]:
    from passk_cli.inference.task_groups import group_effect_p

    tests = len(groups.cluster_codes_by_column)
    candidates = [
        (
            group_effect_p(
                groups.task_deviations_from_model_rates, codes, LARGEST_REPORTED_P / tests
            )
            * tests,
            int(codes.max()) + 1,
            name,
        )
        for name, codes in groups.cluster_codes_by_column.items()
    ]
    p, number, name = min(candidates, key=lambda candidate: (candidate[0], candidate[1]))
    if p <= LARGEST_REPORTED_P + 1e-12:
        yield POSSIBLE_CLUSTER_COLUMN(
            column=name,
            p=p_sign_and_number_text(p),
            groups=number,
            tasks=len(groups.task_deviations_from_model_rates),
        )
