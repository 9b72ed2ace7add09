"""Plans use no correlation or spread that cannot exist, and say which they use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.outcomes.counts import Counts
from tests.report.test_plan import piloted, rows, said


def small_pilot(seed: int) -> Counts:
    """Two models, 15 tasks of three difficulties, 5 attempts: hardly enough for a correlation."""
    rng = np.random.default_rng(seed)
    return Counts.from_cells(
        [(m, f"t{t:02d}", 5, int(rng.binomial(5, 0.5 + 0.1 * (t % 3)))) for m in "ab"
         for t in range(15)]
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_no_impossible_correlation_or_spread(seed: int) -> None:
    report = piloted(small_pilot(seed), "pass@1,pass@2,pass@4,pass^2,pass^4")
    used = {str(r["metric"]): (r["correlation"], r["correlation_source"]) for r in rows(report)}
    for correlation, source in used.values():
        assert -1.0 <= float(str(correlation)) <= 1.0
        assert source in ("measured", "assumed")
        assert source == "measured" or correlation == 0.5
    assert (": the correlation of a and b cannot be measured: " in said(report)) == any(
        source == "assumed" for _, source in used.values()
    )
    assert ("measured" in str(report.signature["correlation"])) == any(
        source == "measured" for _, source in used.values()
    )
    names = [column.name for column in report.tables[0].columns]
    for cells in report.tables[0].rows:
        row = dict(zip(names, cells, strict=True))
        m, spread = float(str(row["expected"])), float(str(row["true spread"]))
        assert spread <= math.sqrt(m * (1 - m)) + 1e-12


def test_what_is_used_for_which_metric_is_in_the_signature() -> None:
    """b has 3 or 6 of 6: pass@1 differs, but a group of 3 that fails is what luck brings."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 1, 60)
    cells = [("a", f"t{t:02d}", 6, int(rng.binomial(6, p[t]))) for t in range(60)]
    cells += [("b", f"t{t:02d}", 6, 3 if t % 4 < 2 else 6) for t in range(60)]
    report = piloted(Counts.from_cells(cells), "pass@1,pass@3")
    assert report.signature["correlation"] == "measured; assumed 0.5 for pass@3"
    assert "differences in pass@3: of two models alike" in said(report)


def test_tasks_that_are_all_or_nothing_have_the_largest_spread() -> None:
    """The unbiased estimate is T/(T − 1) · ¼, which no true values have."""
    counts = Counts.from_cells([("m", f"t{t:02d}", 4, 4 * (t % 2)) for t in range(20)])
    report = piloted(counts, "pass@1")
    assert report.tables[0].rows[0][:3] == ("pass@1", 0.5, 0.5)
    assert "--mean 0.5 --spread 0.5" in report.caption
    assert "warning: pass@1: the pilot's tasks differ as much as any can" in said(report)


def test_one_attempt_of_two_models_knows_differences_without_a_correlation() -> None:
    cells = [(m, f"t{t}", 1, int(t % 3 > i)) for i, m in enumerate("ab") for t in range(9)]
    report = piloted(Counts.from_cells(cells), "pass@1", tasks=(90,), attempts=(1,))
    (row,) = rows(report, plan="design")
    assert (row["correlation"], row["correlation_source"]) == (None, "unknown")
    assert row["difference"] is not None
    assert "cannot be measured with one attempt per task" in said(report)
    assert report.signature["correlation"] == "unknown"
