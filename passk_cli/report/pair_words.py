"""How pairs were tested and adjusted, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from passk_cli.report.notes import plural
from passk_cli.report.pair_tests import INTERVAL, MCNEMAR, SIGN_FLIP, WITHIN
from passk_cli.report.pairs import PRIMARY, SECONDARY, Comparison, Rules

if TYPE_CHECKING:
    from passk_cli.report.samples import Uncertainty

_ADJUSTED = {"holm": "Holm", "bh": "Benjamini–Hochberg"}


def tests_shown(tests: Iterable[str]) -> str:
    """For the signature: "sign-flip", or "sign-flip, interval where attempts differ".

    tests : names, one per comparison; empty ones are left out.
    """
    names = dict.fromkeys(SIGN_FLIP if test == MCNEMAR else test for test in tests if test)
    usual = [name for name in names if name != INTERVAL]
    # The interval test asked for is the only one: beside others it was chosen.
    rest = f"{INTERVAL} where attempts differ" if usual else INTERVAL
    return ", ".join([*usual, *([rest] if INTERVAL in names else [])])


def tests_words(found: Sequence[Comparison]) -> list[str]:
    """For the caption, where the test is not the usual one; else nothing."""
    tested = [c for c in found if c.test]
    differ = sum(c.attempts_differ and c.test == INTERVAL for c in tested)
    if any(c.test == WITHIN for c in tested):
        return ["test: attempts permuted within tasks"]
    if differ and differ < len(tested):
        return [f"attempts differ in {differ} of {plural(len(tested), 'test')}: interval test"]
    return ["attempts differ: interval test"] if differ else []


def counted(found: Sequence[Comparison], how: Uncertainty) -> tuple[int, int]:
    """Tests of the first family that could reject at this level, and all of them."""
    tested = [c for c in found if c.testable and c.family != SECONDARY]
    return sum(c.smallest <= 1 - how.level + 1e-12 for c in tested), len(tested)


def adjustment_words(found: Sequence[Comparison], how: Uncertainty, rules: Rules) -> str:
    """For the caption: "Holm over the 7 of 28 tests of pass@1 that could reject"."""
    could, tests = counted(found, how)
    secondary = any(c.family == SECONDARY for c in found)
    primary = next((c.first.metric.name for c in found if c.family == PRIMARY), "")
    if rules.adjust == "none":
        return "unadjusted" + f"; {primary} is primary, other metrics secondary" * secondary
    of = f" of {primary}" if secondary else ""
    part = rules.adjust == "holm" and could < tests
    words = (
        f"{_ADJUSTED[rules.adjust]} over {f'the {could} of ' * part}{plural(tests, 'test')}{of}"
        f"{' that could reject' * part}"
    )
    return words + "; other metrics are secondary, each adjusted by itself" * secondary


def adjustment_shown(found: Sequence[Comparison], how: Uncertainty, rules: Rules) -> str:
    """For the signature: "holm over 28", or "holm over 7 of 28" where the others cannot reject."""
    could, tests = counted(found, how)
    part = f"{could} of " if rules.adjust == "holm" and could < tests else ""
    return f"{rules.adjust} over {part}{tests}"
