"""Makes captions and signature entries about tests of comparisons and the adjustment of
p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from passk_cli.diagnostic import NOTE, DiagnosticType
from passk_cli.report.phrases import plural
from passk_cli.study.comparison import Comparison
from passk_cli.study.paired_significance import MCNEMAR_TEST_NAME
from passk_cli.study.significance_options import (
    ADJUSTMENT_NAMES,
    BONFERRONI,
    HOLM,
    MIN_P,
    PRIMARY,
    SECONDARY_TEST_FAMILY,
    SIGN_FLIP,
    SUISSA_SHUSTER,
    UNADJUSTED,
    WITHIN,
    ComparisonOptions,
)

INTERVALS_DISAGREE_WITH_VERDICTS = DiagnosticType(
    "verdicts-by-p", NOTE,
    "{differences:interval} {differences:disagrees|disagree} with the verdict, which follows p"
    "{?pair| ({pair})}",
    meaning="For at least one pair of models, the interval of the difference excludes 0 although"
    " p is not significant, or it contains 0 although p is significant.",
    why="By default, p and the interval come from the same distribution and agree. p and the"
    " interval can disagree if you choose a test, an adjustment, an interval method or --population"
    " these-tasks. The adjustments holm, bh and none change p but not the interval.",
    advice="Use the verdict, which follows p. If you want p-values and intervals that agree, leave"
    " out --test, --adjust and --interval.",
    example="note[verdicts-by-p]: 2 intervals disagree with the verdict, which follows p",
)  # fmt: skip


@dataclass(frozen=True)
class Adjustment:
    """Captions and signature entries about the adjustment of p-values of several comparisons."""

    comparisons: Sequence[Comparison]
    level: float
    comparison_options: ComparisonOptions

    @property
    def rejectable_and_test_counts(self) -> tuple[int, int]:
        """The number of tests that can be significant, and the number of all tests.

        Neither of the two numbers includes tests of secondary metrics.
        """
        tests = [c for c in self.comparisons if c.has_p_value and c.family != SECONDARY_TEST_FAMILY]
        return sum(c.smallest_p <= 1 - self.level + 1e-12 for c in tests), len(tests)

    @property
    def name(self) -> str:
        """The name of the adjustment of p-values, for example "holm"."""
        adjustments = (c.adjustment for c in self.comparisons if c.adjustment)
        return next(adjustments, self.comparison_options.adjust or HOLM)

    @property
    def signature(self) -> dict[str, str]:
        """The signature's entries about tests, for example test=sign-flip adjust=holm tests=28.

        If only 7 of 28 tests can be significant, the signature contains tests=7/28.
        """
        (could, tests), adjust = self.rejectable_and_test_counts, self.name
        part = f"{could}/" if adjust == HOLM and could < tests else ""
        return {
            "test": names_of_tests(c.test for c in self.comparisons),
            "adjust": MIN_P if adjust == BONFERRONI else adjust,
            "tests": f"{part}{tests}",
        }

    @property
    def short_text(self) -> str:
        """The adjustment as the line below a table writes it, for example "min-P over 28 tests", or
        "" for one test.

        If two groups have 28 tests each, the text is "min-P over 2×28 tests".
        """
        (could, tests), adjust = self.rejectable_and_test_counts, self.name
        if adjust == UNADJUSTED:
            return "unadjusted"
        part = f"{could} of " if adjust == HOLM and could < tests else ""
        groups = len({c.first.series[1:] for c in self.comparisons if c.has_p_value})
        if 1 < groups < tests and tests % groups == 0:
            part += f"{groups}×"
            tests //= groups
        return (
            f"{ADJUSTMENT_NAMES[adjust]} over {part}{plural(tests, 'test')}"
            if part or tests > 1
            else ""
        )

    @property
    def words(self) -> str:
        """The caption about the adjustment, for example "min-P over 28 tests and their
        intervals"."""
        (could, tests), adjust = self.rejectable_and_test_counts, self.name
        secondary = {c.adjustment for c in self.comparisons if c.family == SECONDARY_TEST_FAMILY}
        primary = next((c.first.metric.name for c in self.comparisons if c.family == PRIMARY), "")
        if adjust == UNADJUSTED:
            order = f"; {primary} is primary, other metrics secondary" if secondary else ""
            return f"unadjusted{order}"
        of = f" of {primary}" if secondary else ""
        words = f"{ADJUSTMENT_NAMES[adjust]} over {plural(tests, 'test')}{of}"
        if adjust in (MIN_P, BONFERRONI) and tests < 2:
            words = f"one test{of}" if tests else "no test"
        elif adjust in (MIN_P, BONFERRONI):
            words += " and their intervals"
        elif adjust == HOLM and could < tests:
            words = f"Holm over the {could} of {plural(tests, 'test')}{of} that could reject"
        if secondary:
            ways = " or ".join(ADJUSTMENT_NAMES[way] for way in (MIN_P, HOLM) if way in secondary)
            by = "" if secondary == {adjust} else f" ({ways})"
            words += f"; other metrics are secondary, each adjusted separately{by}"
        return words

    @property
    def test_words(self) -> str:
        """The caption that names the tests other than the guarded t test, or "" if there are no
        other tests."""
        tested, words = [c for c in self.comparisons if c.test], []
        if any(c.test == WITHIN for c in tested):
            words.append("test: attempts permuted within tasks")
            more = [
                c.first.metric for c in tested if c.first.metric.definition.required_attempt_data
            ]
            names = ", ".join(dict.fromkeys(metric.name for metric in more))
            needs = ", ".join(
                dict.fromkeys(metric.definition.required_attempt_data for metric in more)
            )
            if more:
                words[0] += f" ({names}: equal models give every {needs} equally often)"
        tests = {c.first.metric.name: c.test for c in tested}
        binary = [name for name, test in tests.items() if test == SUISSA_SHUSTER]
        if len(binary) == len(tests) > 0:
            words.append("values of 0 and 1: Suissa–Shuster test")
        elif binary:
            words.append(f"Suissa–Shuster test of {', '.join(binary)}")
        return "; ".join(words)

    @property
    def interval_disagreement_fields(self) -> dict[str, object]:
        """The fields of the message "verdicts-by-p", or {} if all intervals agree with the
        tests."""
        judged = (c for c in self.comparisons if c.has_p_value and c.excludes_zero is not None)
        alpha = 1 - self.level + 1e-12
        disagreeing = [c for c in judged if c.excludes_zero != (c.adjusted <= alpha)]
        names = [f"{c.first.name} − {c.second.name} at {c.first.metric.name}" for c in disagreeing]
        return (
            {"differences": len(disagreeing), "pair": names[0] * (len(disagreeing) == 1)}
            if disagreeing
            else {}
        )

    @property
    def interval_methods(self) -> list[tuple[str, str]]:
        """The names of the metric and of the interval method, for each comparison that has an
        interval."""
        intervals = ((c.first.metric.name, c.interval) for c in self.comparisons)
        return [(name, limits.method) for name, limits in intervals if limits is not None]


def names_of_tests(tests: Iterable[str]) -> str:
    """The names of tests as the signature writes them, for example "guarded-t, suissa-shuster".

    tests : for each comparison, the name of its test, or "" if there is no test.
    """
    return ", ".join(dict.fromkeys(SIGN_FLIP if t == MCNEMAR_TEST_NAME else t for t in tests if t))
