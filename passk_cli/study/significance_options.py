"""The options about comparisons, which all commands that compare models share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from passk_cli.errors import ParameterError
from passk_cli.option import Option
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix


class PairedTestDeclaration(NamedTuple):
    """A significance test of differences that are paired by task.

    function_path : the function that computes the test, as "module:function".  The function takes
        comparisons over the same tasks and a Confidence, and returns one result per comparison.
    cites : keys of references in study/references.bib.
    """

    function_path: str
    words: str
    cites: str


GUARDED_T, SUISSA_SHUSTER, SIGN_FLIP, MID_P, T, WITHIN = (
    "guarded-t", "suissa-shuster", "sign-flip", "mid-p", "t", "within-tasks"
)  # fmt: skip
TESTS = {
    GUARDED_T: PairedTestDeclaration("passk_cli.study.paired_significance:run_guarded_t_test",
                         "a paired t test with a guard for few tasks", "student1908"),
    SUISSA_SHUSTER: PairedTestDeclaration(
        "passk_cli.study.paired_significance:run_suissa_shuster_test",
                              "the exact unconditional test of Suissa and Shuster", "suissa1991"),
    SIGN_FLIP: PairedTestDeclaration("passk_cli.study.paired_significance:run_sign_flip_test",
        "a sign-flip test",
                         "phipson2010"),
    MID_P: PairedTestDeclaration("passk_cli.study.paired_significance:run_mid_p_test",
        "the mid-p sign-flip test",
                    "mcnemar1947"),
    T: PairedTestDeclaration("passk_cli.study.paired_significance:run_paired_t_test",
        "a paired t test",
        "student1908"),
    WITHIN: PairedTestDeclaration(
        "passk_cli.study.paired_significance:run_attempt_permutation_test",
                      "permutation of attempts within tasks", "phipson2010"),
}  # fmt: skip
ADJUSTMENTS = (MIN_P, HOLM, BH, UNADJUSTED) = ("min-p", "holm", "bh", "none")
# Bonferroni's method replaces min-P if the tests cannot use the same random sign flips.
BONFERRONI = "bonferroni"
ADJUSTMENT_NAMES = {
    MIN_P: "min-P",
    BONFERRONI: "Bonferroni",
    HOLM: "Holm",
    BH: "Benjamini–Hochberg",
}
UNPAIRED_TASK_CHOICES = ("drop", "error")
FAMILIES = (PRIMARY, ALL) = ("primary", "all")
SECONDARY_TEST_FAMILY = "secondary"
POSSIBLE_GATE_RULE_VERDICTS = (PASS, FAIL, UNDECIDED, ERROR) = (
    "pass",
    "fail",
    "undecided",
    "error",
)
# A rule without its baseline, or about a quarantined task, gets the verdict RULE_NOT_JUDGED.
RULE_NOT_JUDGED = "not judged"


def parse_margin(value: Any) -> float:
    """The margin of equivalence as a number, which must be at least 0 and below 1.

    Errors: ParameterError for a value that is not a valid margin.
    """
    try:
        margin = float(value)
    except (TypeError, ValueError):
        margin = math.nan
    if not 0.0 <= margin < 1.0:
        text = value if math.isnan(margin) else f"{margin:g}"
        raise ParameterError(
            OptionWithValue("--margin", text),
            "the margin must be at least 0 and below 1, for example 0.02",
        )
    return margin


@dataclass(frozen=True, eq=False)
class ComparisonOptions:
    """The test, the adjustment of p-values, the family of tests and the margin of a comparison.

    test : name of the test, or None for the default test.
    adjust : name of the adjustment, or None for the default (Holm's method for the population
        these-tasks, and otherwise min-P).
    """

    title: ClassVar[str] = "Comparison"
    # fmt: off
    test: Annotated[str | None, Option(
        "--test", help="Test", choices=tuple(TESTS),
        detail="All tests are paired by task. The default test for --population these-tasks is"
        " within-tasks. For new tasks, the default test is suissa-shuster if all values are 0 or 1"
        " (n = 1 or k = n), and guarded-t otherwise. The default test agrees with the interval of"
        " the difference. sign-flip and mid-p need equal numbers of attempts, and are forms of"
        " McNemar's test if n = 1. At a significance level of 5 %, mid-p has up to 6.5 % false"
        " rejections.")] = None
    adjust: Annotated[str | None, Option(
        "--adjust", help="Adjustment of p-values", choices=ADJUSTMENTS, former_choices=(("max-t",
            MIN_P),),
        detail="The default is min-p, or holm for --population these-tasks. min-p adjusts p-values"
        " and intervals for all tests together. holm and bh adjust only p-values.",
    )] = None
    family: Annotated[str, Option(
        "--family", help="Tests adjusted together", choices=FAMILIES,
        detail="With primary, passk adjusts the tests of each metric separately. With all, passk"
        " adjusts the tests of all metrics together.")] = PRIMARY
    margin: Annotated[float, Option(
        "--margin", "X", "Differences between −X and X count as equivalent.",
        parse=parse_margin)] = 0.0
    unpaired: Annotated[str, Option(
        "--unpaired", help="What to do with tasks that only one of two models"
        " has", choices=UNPAIRED_TASK_CHOICES)] = "drop"
    # fmt: on

    def adjustment_without_sign_flips(self) -> str:
        """The adjustment of tests that do not use sign flips, which is the requested adjustment or
        Holm's method.

        Errors: ParameterError if the user requested min-P.
        """
        if self.adjust == MIN_P:
            raise ParameterError(
                OptionWithValue("--adjust", MIN_P),
                "min-p needs tests that compare tasks, but these tests permute attempts",
                name="invalid-method",
                settles=[SuggestedFix({"--adjust": HOLM})],
            )  # fmt: skip
        return self.adjust or HOLM
