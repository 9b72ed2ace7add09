"""One law of a difference: verdicts, p, intervals, letters and ranks of all commands agree."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.inference.random_streams import named_generator
from tests.conftest import long_cases

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

# One attempt, five, unequal numbers, clusters; the others are of the same kinds.
CASES = [0, 3, 4, 5, *long_cases(1, 2, *range(6, 12))]


def found(command: str, data: pd.DataFrame, **options: Any) -> passk_cli.Findings:
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        findings: passk_cli.Findings = getattr(passk_cli, command)(data, **options)
    return findings


def design(case: int) -> pd.DataFrame:
    """Four models with one attempt, a few, or other numbers of them; some are alike."""
    rng = named_generator(case, "agreement")
    tasks = int(rng.choice([2, 3, 5, 12, 30]))
    easy = rng.beta(*rng.choice([[2, 2], [9, 1], [0.4, 0.4]]), tasks)
    shifts = rng.choice([0.0, 0.0, 0.2, -0.3], 4)
    rows = []
    for model, shift in zip("abcd", shifts, strict=True):
        n = np.full(tasks, (1, 5, 3 + 4 * (model > "b"))[case % 3])
        if case % 4 == 3:
            n += rng.integers(0, 5, tasks)
        c = rng.binomial(n, np.clip(easy + shift, 0, 1))
        rows += [(model, f"t{t}", n[t], c[t], t // 2) for t in range(tasks)]
    return pd.DataFrame(rows, columns=["model", "task", "n", "c", "repo"])


def agrees(row: Any, level: float = 0.95) -> str:
    """The verdict that p and the interval both give."""
    low, high = row.low > 0, row.high < 0
    if not np.isnan(row.p_adjusted):
        assert (row.p_adjusted <= 1 - level + 1e-12) == (low or high), row
        assert row.p <= row.p_adjusted
    return "better" if low else "worse" if high else "tied"


def test_a_number_between_two_roundings_is_one_number_everywhere() -> None:
    """79 of 400 is 0.1975: 0.198 by whatever sum."""
    passes = np.random.default_rng(3).permutation([1, 2] * 26 + [1] + [0] * 47)
    data = pd.DataFrame({"model": "a", "task": [f"t{t}" for t in range(100)], "n": 4, "c": passes})
    assert passes.sum() == 79
    for name, options in (
        ("estimate", {}), ("gate", {"minimum": {"pass@1": 0.1}}),
        ("report", {}), ("bootstrap", {"resamples": 100}), ("compare", {}),
    ):  # fmt: skip
        both = pd.concat([data, data.assign(model="b", c=4)]) if name == "compare" else data
        text = str(found(name, both, metrics="pass@1", **options))
        assert "0.198" in text, name
        assert "0.197" not in text, name


@pytest.mark.parametrize("command", ["estimate", "compare", "report"])
def test_models_that_are_equal_but_for_rounding_are_in_the_order_of_their_names(
    command: str,
) -> None:
    """The mean of 0.6, 0 and 0.6 is less than that of 0.2, 0.4 and 0.6 in its last digit."""
    passes = {"aa": (3, 0, 3), "zz": (1, 2, 3)}
    assert np.mean(np.array(passes["aa"]) / 5) < np.mean(np.array(passes["zz"]) / 5)
    data = pd.DataFrame([
        {"model": model, "task": f"t{t}", "n": 5, "c": c}
        for model, entry in passes.items() for t, c in enumerate(entry)
    ])  # fmt: skip
    assert found(command, data, metrics="pass@1").frame.model[0] == "aa"


@pytest.mark.parametrize("case", CASES)
def test_compare_and_report(case: int) -> None:
    data, level = design(case), (0.95, 0.8)[case % 2]
    more = {"cluster": "repo"} if case % 5 == 4 and data.task.nunique() > 3 else {}
    metrics = "pass@1" if data.n.min() == 1 else "pass@1,pass@2"
    findings = found("compare", data, metrics=metrics, level=level, **more)
    for metric, frame in findings.frame.groupby("metric"):
        beaten: dict[str, list[str]] = {name: [] for name in "abcd"}
        for row in frame.itertuples():
            assert row.verdict == agrees(row, level)
            assert (row.verdict == "tied") == bool({*row.letters} & {*row.letters_against})
            if row.verdict != "tied":
                pair = (row.model, row.against)[:: 1 if row.verdict == "better" else -1]
                beaten[pair[0]].append(pair[1])
        for row in frame.itertuples():
            above = sum(row.model in rivals for rivals in beaten.values())
            below = len(beaten[row.model])
            assert (row.rank_low, row.rank_high) == (1 + above, 4 - below), metric
    page = found("report", data, metrics=metrics, level=level, **more)
    assert page.report.page is not None
    panels = {panel.title: panel for panel in page.report.page.chapters[0].panels}
    board = panels["Leaderboard"].board
    assert board is not None
    assert board.metrics[0].header == "pass@1"
    ranking = {entry.model: (entry.ranks[0], entry.estimates[0]) for entry in board.entries}
    for row in findings.frame.query("metric == 'pass@1'").itertuples():
        rank, number = ranking[row.model]
        assert number.tie_letters == row.letters
        first, last = row.rank_low, row.rank_high
        assert rank == (str(first) if first == last else f"{first}–{last}")


@pytest.mark.parametrize("case", CASES)
def test_gate_and_temperature(case: int) -> None:
    data = design(case)
    metrics = "pass@1" if data.n.min() == 1 else "pass@1,pass@2"
    words = {"better": "pass", "worse": "fail", "tied": "undecided"}
    base, new = data[data.model == "a"], data[data.model != "a"]
    gate = found("gate", new, baseline=base, no_regression=True, metrics=metrics, unpaired="drop")
    rows = gate.frame[gate.frame.rule.str.endswith("no regression")]
    assert len(rows) == 3 * len(metrics.split(","))
    for row in rows.itertuples():
        assert row.verdict == words[agrees(row)]
    beside = found(
        "temperature",
        data.assign(
            temperature=data.model.map(dict(zip("abcd", (0.1, 0.3, 0.5, 0.9), strict=True))),
            model="m",
        ),
        metrics=metrics,
    )
    frame = beside.frame[beside.frame.fact == "temperatures"]
    assert len(frame)
    for row in frame.itertuples():
        assert row.verdict == agrees(row)


@pytest.mark.parametrize("case", CASES)
def test_one_pair_is_the_same_everywhere(case: int) -> None:
    """And no regression is a drop of at most 0."""
    data = design(case)
    for first, second in combinations("abc", 2):
        base, new = data[data.model == second], data[data.model == first]
        gate = found(
            "gate", new, baseline=base, no_regression=True, max_drop="pass@1=0", metrics="pass@1",
            unpaired="drop",
        ).frame  # fmt: skip
        drop, regression = (
            gate[gate.rule.str.contains(text)].iloc[0] for text in ("drop ≤ 0", "regression")
        )
        pair = found("compare", pd.concat([new, base]), metrics="pass@1", baseline=second)
        row = pair.frame.iloc[0]
        assert drop.verdict == regression.verdict
        for name in ("low", "high"):
            assert drop[name] == regression[name] == row[name]
        assert regression.p == row.p == row.p_adjusted
