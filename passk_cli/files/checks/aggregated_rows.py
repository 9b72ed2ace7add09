"""Find rows that contain a number of attempts, points or tests instead of a single attempt."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np

from passk_cli.arrays import Floats
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import CERTAIN, LIKELY, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.reading.profile import count_distinct, joined_codes
from passk_cli.files.roles import (
    EQUAL_COLUMNS_OPERATOR,
    column_name_words,
    normalized_last_key,
    parent_path,
)
from passk_cli.files.vocabulary import ATTEMPT_COUNT_WORDS, AVERAGE_WORDS
from passk_cli.suggested_fix import SuggestedFix

_WEIGHT_WORDS = frozenset("count times weight weights".split())
_SAMPLE_SIZE_WORDS = (ATTEMPT_COUNT_WORDS - {"count", "size"}) | {"num"}
_RATE_WORDS = AVERAGE_WORDS | {"accuracy", "acc", "score"}
_MAX_POSSIBLE_SCORE_WORDS = frozenset("max score points possible out of total".split())
_PASS_COUNT_WORDS = frozenset("passed passes correct successes tests num n".split())
_TEST_TOTAL_WORDS = frozenset("total tests count num n".split())

WEIGHTED_ROWS_WARNING = DiagnosticType(
    "weighted-rows", WARNING,
    "passk does not read {column}, which may be the number of attempts in each row ({values})",
    meaning="Each row seems to contain a task, an outcome, and the number of attempts with this"
    " outcome.",
    why="passk would count each row as one attempt, so the number of attempts would be too small.",
    advice="Write one row per attempt, or one row per task with n attempts and c passes.",
    example="warning[weighted-rows]: passk does not read count, which may be the number of"
    " attempts in each row (3, 12, 7)",
)  # fmt: skip
RATES_AS_OUTCOMES_WARNING = DiagnosticType(
    "rates-of-several", WARNING,
    "{outcome} looks like a pass rate over several attempts ({column}: {values}), but each row"
    " would count as one attempt",
    "write the number of passes as a column c",
    meaning="Each row seems to contain the number of attempts at a task, and the pass rate of the"
    " attempts.",
    why="passk would count each row as a single attempt that passes or fails.",
    advice="Add a column c with the number of passes (rate × n) next to the column n, or write one"
    " row per attempt.",
    example="warning[rates-of-several]: accuracy looks like a pass rate over several attempts (n:"
    " 5, 10), but each row would count as one attempt; write the number of passes as a column c",
)  # fmt: skip
MAX_SCORE_ABOVE_ONE_WARNING = DiagnosticType(
    "partial-scores", WARNING,
    "the highest possible {outcome} is {column} ({values}), so 1 is not a pass",
    meaning="Each row contains a score and the highest possible score.",
    why="Without a threshold, a score of 1 is a pass. A threshold of 1 is right only if 1 is the"
    " highest possible score.",
    advice="Set the minimum score that counts as a pass, for example with --threshold 3.",
    example="warning[partial-scores]: the highest possible score is max_score (5), so 1 is not a"
    " pass",
)  # fmt: skip
TEST_COUNTS_AS_OUTCOMES_WARNING = DiagnosticType(
    "counted-tests", WARNING,
    "{outcome} and {column} ({values}) are numbers of tests, and an attempt passes only if all"
    " tests pass",
    meaning="One column contains the number of tests that passed. A second column contains the"
    " total number of tests, or the number of tests that failed.",
    why="passk would count an attempt with 1 passed test as a pass, even if the attempt failed 4"
    " other tests.",
    advice="Compare the two columns, for example with --field outcome=passed==total.",
    example="warning[counted-tests]: passed and total (5, 8) are numbers of tests, and an"
    " attempt passes only if all tests pass",
)  # fmt: skip
RUNNING_TOTAL_COSTS_WARNING = DiagnosticType(
    "summed-costs", WARNING,
    "{column} only grows from row to row ({first} to {last}) and may be a running total",
    meaning="The cost in each row seems to include the costs of all earlier rows.",
    why="The sum of running totals is far higher than the real cost.",
    advice="Write the cost of each attempt, which is the difference between a row and the previous"
    " row.",
    example="warning[summed-costs]: cost only grows from row to row (0.02 to 1.9) and may be a"
    " running total",
)  # fmt: skip


def several_results_per_row_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find columns that contain a number of attempts, points or tests per row."""
    profile, outcome = context.profile, context.role_column("outcome")
    if outcome not in profile.columns or context.is_known_format:
        return
    scored = profile.column_kind(outcome).name == "number"
    names = [name for name in context.unread_columns if profile.column_kind(name).name == "number"
             and (scored or column_name_words(name) <= _WEIGHT_WORDS)]  # fmt: skip
    if not names:
        return
    scores = profile.column_numbers(outcome)
    for name in names:
        numbers, is_integer = profile.column_numbers(name), profile.column_kind(name).is_integer
        highest = float(np.nanmax(numbers, initial=0))
        fields = {"column": quote(name), "values": profile.distinct_texts(name, 20)}
        fields["outcome"] = quote(outcome)
        if scored and is_integer and _is_pass_count_name(outcome) and not context.has_named_outcome:
            below_total = (
                _is_test_total_name(name) and highest > 1 and bool(np.all(scores <= numbers))
            )
            # Two flags with opposite values, such as passed and failed, are not counts.
            failed = normalized_last_key(name) == "failed" and np.any(scores + numbers != 1)
            if below_total or (failed and not _has_test_total_column(context)):
                compared = {"--field": {"outcome": f"{outcome}{EQUAL_COLUMNS_OPERATOR}{name}"}}
                all_tests = SuggestedFix(compared, "passes if all tests do")
                yield CheckFinding(
                    TEST_COUNTS_AS_OUTCOMES_WARNING, True, fields, (all_tests,) * below_total
                )
                return
        if highest <= 1:
            continue
        if column_name_words(name) <= _WEIGHT_WORDS and is_integer:
            yield from _weight_findings(context, name)
        elif (
            column_name_words(name) <= _SAMPLE_SIZE_WORDS
            and is_integer
            and _are_rates(outcome, scores, numbers)
        ):
            yield CheckFinding(RATES_AS_OUTCOMES_WARNING, True, fields)
        elif _is_max_score_column_of_outcome(context, name, outcome):
            full = SuggestedFix({"--threshold": (highest,)}, "counts full scores as passes")
            only = bool(np.nanmin(numbers) == highest)
            yield CheckFinding(MAX_SCORE_ABOVE_ONE_WARNING, True, fields, (full,) * only)


def _are_rates(outcome: str, scores: Floats, attempts: Floats) -> bool:
    """Whether each score is a number of passes divided by the number of attempts.

    The scores may be rounded. In addition, the score column must be named like a rate, or at least
    one score must be between 0 and 1.
    """
    is_known = np.isfinite(scores * attempts) & (attempts > 0)
    rates, n = scores[is_known], attempts[is_known]
    is_rate_name = column_name_words(outcome) & _RATE_WORDS or np.any((rates > 0) & (rates < 1))
    if not (is_rate_name and len(n)) or rates.min() < 0 or rates.max() > 1:
        return False
    shares = np.round(rates * n) / n
    return any(np.allclose(np.round(shares, d), rates, rtol=0, atol=1e-5) for d in (2, 3, 4, 5))


def _is_max_score_column_of_outcome(context: CheckContext, name: str, outcome: str) -> bool:
    is_maximum_name = column_name_words(name) <= _MAX_POSSIBLE_SCORE_WORDS and column_name_words(
        name
    ) & {
        "max",
        "possible",
        "out",
    }
    return (
        bool(is_maximum_name)
        and parent_path(name) == parent_path(outcome)
        and context.request.passing_score is None
    )


def _is_pass_count_name(name: str) -> bool:
    return column_name_words(name) <= _PASS_COUNT_WORDS and column_name_words(name) != {"n"}


def _is_test_total_name(name: str) -> bool:
    return column_name_words(name) <= _TEST_TOTAL_WORDS and bool(
        column_name_words(name) & {"total", "tests"}
    )


def _has_test_total_column(context: CheckContext) -> bool:
    return any(map(_is_test_total_name, context.unread_columns))


def _weight_findings(context: CheckContext, name: str) -> Iterator[CheckFinding]:
    profile = context.profile
    pairs = joined_codes(profile.cell_codes, profile.columns[context.role_column("outcome")].codes)
    rows = np.sum(pairs >= 0)
    if profile.columns[name].present_share < 1 or count_distinct(pairs) < 0.95 * rows:
        return
    # If all rows of a task have the same weight, the weight may be the importance of the task.
    once = SuggestedFix({"--pool": (name,)}, "counts each row once, whatever its weight")
    weighs = "weight" in column_name_words(name) and count_distinct(profile.cell_codes) == rows
    fields = {"column": quote(name), "values": profile.distinct_texts(name, 20)}
    yield CheckFinding(WEIGHTED_ROWS_WARNING, True, fields, (once,) if weighs else ())


def running_total_cost_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find cost columns that contain running totals."""
    profile, name = context.profile, context.role_column("cost")
    if name not in profile.columns or len(profile.file_names) > 1 or not profile.is_complete:
        return
    costs = profile.column_numbers(name)
    steps = np.diff(costs)
    if len(costs) < 10 or not np.all(steps > 0):
        return
    # Costs that are sorted but not cumulative usually grow by less per row than the first cost.
    if costs[-1] > 0.5 * len(costs) * costs[0] and np.median(steps) > 0.5 * costs[0]:
        fields = {"column": quote(name), "first": f"{costs[0]:g}", "last": f"{costs[-1]:g}"}
        yield CheckFinding(RUNNING_TOTAL_COSTS_WARNING, False, fields)


CHECKS = (
    ReadingCheck(
        TEST_COUNTS_AS_OUTCOMES_WARNING, CERTAIN,
        "You did not name the outcome column. The outcome is a whole number named passed or"
        " correct, and there is a column named total or failed.",
        ("--field outcome=passed==total",), several_results_per_row_findings,
    ),
    ReadingCheck(
        WEIGHTED_ROWS_WARNING, CERTAIN,
        "A column such as count or weight contains whole numbers above 1, and there is one row"
        " per task and outcome.",
        ("--pool X",), several_results_per_row_findings,
    ),
    ReadingCheck(
        RATES_AS_OUTCOMES_WARNING, CERTAIN,
        "The outcome is a rate, a column such as n or episodes is a number of attempts, and the"
        " product of both is a whole number.",
        (), several_results_per_row_findings,
    ),
    ReadingCheck(
        MAX_SCORE_ABOVE_ONE_WARNING, CERTAIN,
        "A column such as max_score contains a highest score above 1, and there is no threshold.",
        ("--threshold X",), several_results_per_row_findings,
    ),
    ReadingCheck(
        RUNNING_TOTAL_COSTS_WARNING, LIKELY,
        "Costs grow in at least ten rows, with steps at least half as large as the first cost.",
        (), running_total_cost_findings,
    ),
)  # fmt: skip
