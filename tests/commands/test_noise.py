"""The noise of a difference in `compare --full`, and the correlation in `estimate --full`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Passk

CASES = {"a": (4, 4, 3, 0, 1, 2), "b": (4, 2, 1, 0, 0, 1)}


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    rows = [f"{m},t{t},4,{c}\n" for m, of in CASES.items() for t, c in enumerate(of)]
    path.write_text("model,task,n,c\n" + "".join(rows))
    return path


def test_compare_says_what_more_attempts_and_more_tasks_would_buy(
    passk: Passk, counts: Path
) -> None:
    out = passk("compare", counts, "-k", "1,4", "--full").out
    # d = 0, .5, .5, 0, .25, .25; s²/T = .05/6 is less than Σ c(n − c)/48/36 = 20/48/36.
    assert re.search(r"a +b +1\.000 +0\.108 +0\.076 +0\.076\n", out)
    assert "twice the attempts would shorten intervals of differences by 29 %" in out
    assert "Noise of the differences" not in passk("compare", counts).out


@pytest.mark.parametrize("options", [("-k", "4"), ("-k", "1", "--population", "these-tasks")])
def test_compare_leaves_the_split_out_if_it_has_none(
    passk: Passk, counts: Path, options: tuple[str, ...]
) -> None:
    done = passk("compare", counts, *options, "--full")
    assert done.code == 0
    assert "Noise of the differences" not in done.out


def test_estimate_has_the_intraclass_correlation(passk: Passk, counts: Path) -> None:
    assert "intraclass correlation" not in passk("estimate", counts).out
    out = passk("estimate", counts, "-k", "1", "--full").out
    # Of b: B = 4 Σ (p − 1/3)²/5 = .566667, W = Σ 4 p (1 − p)/18 = .138889.
    assert re.search(r"b .* 0\.435 \[", out)
