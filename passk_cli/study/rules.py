"""How pairs are judged: options that mean the same wherever models are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from passk_cli.errors import ParameterError
from passk_cli.option import Option

TESTS = (SIGN_FLIP, SUISSA_SHUSTER, MID_P, T, INTERVAL, WITHIN) = (
    "sign-flip", "suissa-shuster", "mid-p", "t", "interval", "within-tasks"
)  # fmt: skip
ADJUSTMENTS = (MAX_T, HOLM, BH, UNADJUSTED) = ("max-t", "holm", "bh", "none")
ADJUSTED = {MAX_T: "max-T", HOLM: "Holm", BH: "Benjamini–Hochberg"}
UNPAIRED = ("drop", "error")
FAMILIES = (PRIMARY, ALL) = ("primary", "all")
SECONDARY = "secondary"


def parse_margin(value: Any) -> float:
    """A margin in [0, 1)."""
    try:
        margin = float(value)
    except (TypeError, ValueError):
        margin = math.nan
    if not 0.0 <= margin < 1.0:
        text = value if math.isnan(margin) else f"{margin:g}"
        raise ParameterError(f"--margin {text}: it must lie in [0, 1), as 0.02 does")
    return margin


@dataclass(frozen=True, eq=False)
class Rules:
    """How pairs are judged.

    test : None for the one that is valid: within tasks for these tasks; else Suissa and Shuster's
        where values are 0 or 1, the interval test where attempts differ in number, and sign flips.
    adjust : None for max-T where signs may be flipped, else Holm.
    """

    title: ClassVar[str] = "Comparison"
    test: Annotated[
        str | None,
        Option(
            "--test",
            help="Test",
            choices=TESTS,
            detail="Paired by task. Default: suissa-shuster where values are 0 or 1 (n = 1, k = n),"
            " interval where attempts differ, within-tasks for these tasks, else sign-flip."
            " sign-flip is McNemar's exact test where n = 1. mid-p counts ties by half: more power,"
            " but up to 6.5 % false rejections at 5 %.",
        ),
    ] = None
    adjust: Annotated[
        str | None,
        Option(
            "--adjust",
            help="Adjustment of p-values",
            choices=ADJUSTMENTS,
            detail="Default: max-t, by sign flips that all tests share, where signs may be flipped;"
            " else holm, which counts the tests that could reject.",
        ),
    ] = None
    family: Annotated[
        str,
        Option(
            "--family",
            help="Tests adjusted together",
            choices=FAMILIES,
            detail="primary: the pairs at the first metric, and other metrics each by itself;"
            " all: all metrics together.",
            rare=True,
        ),
    ] = PRIMARY
    margin: Annotated[
        float,
        Option("--margin", "X", "Differences inside ±X are equivalent.", parse=parse_margin),
    ] = 0.0
    unpaired: Annotated[
        str,
        Option("--unpaired", help="Tasks one model lacks", choices=UNPAIRED, rare=True),
    ] = "drop"

    def without_flips(self) -> str:
        """How tests that flip no signs are adjusted: by Holm unless asked for another way.

        Errors: ParameterError for max-T.
        """
        if self.adjust == MAX_T:
            raise ParameterError(
                f"--adjust {MAX_T}: it flips signs of differences, and these permute attempts;"
                " use --adjust holm"
            )
        return self.adjust or HOLM
