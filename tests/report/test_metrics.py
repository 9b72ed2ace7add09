"""Metrics that need more than counts, through every command without special cases."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from passk_cli.inference.sampling_variance import within_variance, within_variance_from_attempts
from passk_cli.metrics.registry import parse_metric, task_values
from passk_cli.outcomes.attempts import AttemptValuesByCell
from tests.conftest import Passk, mark_long_except, records

NAMES = ("gpass@4:0.5", "mgpass@4", "first@2", "maj@3", "best@2", "worst@2", "mean", "distinct@2")

# The file has a verdict and a score, and passk does not guess which one is the outcome.
PASSED = ["--field", "outcome=passed"]


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Two models, 12 tasks, 5 attempts with a score, an answer, a text and an order."""
    rng = np.random.default_rng(4)
    path = tmp_path / "graded.jsonl"
    with path.open("w") as file:
        for model, shift in (("low", 0.0), ("high", 0.3)):
            for task in range(12):
                for trial in range(5):
                    score = round(float(np.clip(rng.random() + shift, 0, 1)), 2)
                    answer = str(int(rng.integers(0, 3)))
                    record = {
                        "model": model, "task": f"t{task}", "trial": trial, "score": score,
                        "passed": answer == "0", "answer": answer, "code": f"x = {answer}",
                        "kind": "even" if task % 2 else "odd",
                    }  # fmt: skip
                    file.write(json.dumps(record) + "\n")
    return path


@pytest.mark.parametrize("name", mark_long_except(NAMES, *[*NAMES][:3]))
def test_a_curve_of_every_metric_equals_estimate(passk: Passk, graded: Path, name: str) -> None:
    if name == "mean":
        result = passk("curve", graded, *PASSED, "-m", name)
        assert result.code == 2
        assert "-m mean: write a curve like pass@k, best@k or gpass@k:0.5" in result.err
        return
    curve = re.sub(r"@\d", "@k", name)
    rows = records(passk("curve", graded, *PASSED, "--bounds", "0,1", "-m", curve, "-f", "csv").out)
    for row in records(
        passk("estimate", graded, *PASSED, "--bounds", "0,1", "-m", name, "-f", "csv").out
    ):
        (same,) = [r for r in rows if (r["model"], r["metric"]) == (row["model"], name)]
        for column in ("estimate", "low", "high"):
            # Intervals that are computed together may differ by rounding, in the 12th digit.
            assert float(same[column]) == pytest.approx(float(row[column]), rel=1e-11)
    assert passk("curve", graded, *PASSED, "-m", curve, "--band", "simultaneous").code == 2


@pytest.mark.parametrize(
    "command",
    [
        ["estimate"], ["bootstrap"], ["compare", "--crossings"],
        ["compare", "--sensitivity", "kind"],
        ["gate", *(f"--min={name}=0.01" for name in NAMES)],
        ["gate", "--no-regression", "--baseline", "low"],
        ["estimate", "--population", "these-tasks"],
    ],
)  # fmt: skip
def test_every_command_takes_every_metric(passk: Passk, graded: Path, command: list[str]) -> None:
    few = [*PASSED, "--resamples", "200", "--bounds", "0,1"]
    metrics = [] if command[-1].startswith("--min") else ["-m", ",".join(NAMES)]
    result = passk(command[0], graded, *command[1:], *metrics, *few, "--full")
    assert result.code == 0, result.err
    assert all(name in result.out for name in NAMES)


def test_estimate_and_gate_print_the_same_number(passk: Passk, graded: Path) -> None:
    rows = records(passk("estimate", graded, *PASSED, "-m", ",".join(NAMES), "-f", "csv").out)
    rules = (f"--min={name}=0" for name in NAMES)
    checks = records(passk("gate", graded, *PASSED, *rules, "-f", "csv").out)
    numbers = [
        {(r["model"], r["metric"]): r["estimate"] for r in checks_of}
        for checks_of in (rows, checks)
    ]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) == 2 * len(NAMES)


def test_best_and_worst_of_passes_are_pass_at_and_pass_hat(passk: Passk, graded: Path) -> None:
    names = "pass@1,pass@3,pass^3"
    counted_rows = records(passk("estimate", graded, *PASSED, "-m", names, "-f", "csv").out)
    scored = records(
        passk(
            "estimate", graded, "-m", "mean,best@3,worst@3", "--field", "score=passed",
            "--bounds", "0,1", "-f", "csv",
        ).out
    )  # fmt: skip
    for first, second in zip(counted_rows, scored, strict=True):
        for column in ("estimate", "low", "high", "se"):
            assert float(first[column]) == pytest.approx(float(second[column]), abs=1e-12)


def test_bca_is_used_with_a_warning_if_bounds_are_unknown(passk: Passk, graded: Path) -> None:
    result = passk("estimate", graded, "-m", "best@2", "-f", "csv")
    assert {row["interval"] for row in records(result.out)} == {"bca"}
    assert "guard needs the lowest and highest possible score" in result.err
    assert "; --bounds 0,1 sets these scores if scores range from 0 to 1" in result.err
    assert "warning[unknown-bounds]" in result.err
    assert "bca covers 18 to 92 %" in result.err
    result = passk("estimate", graded, "-m", "best@2", "--bounds", "0,0.5")
    assert result.code == 2
    assert "--bounds 0,0.5: scores of high range from" in result.err
    assert passk("estimate", graded, "-m", "best@2", "--bounds", "1").code == 2


def test_several_thresholds_are_rows_of_one_table(passk: Passk, graded: Path) -> None:
    result = passk("estimate", graded, "--field", "outcome=score", "--threshold", "0.2,0.8,0.5",
                 "-k", "1,2", "-f", "csv")  # fmt: skip
    rows = records(result.out)
    assert len(rows) == 2 * 3 * 3
    for threshold in ("0.2", "0.5", "0.8"):
        single = records(
            passk("estimate", graded, "--field", "outcome=score", "--threshold", threshold,
                  "-k", "1,2", "-f", "csv").out
        )  # fmt: skip
        for record in single:
            (same,) = [
                row for row in rows
                if all(row[c] == record[c] for c in ("model", "metric"))
                and row["threshold"] == threshold
            ]  # fmt: skip
            assert float(same["estimate"]) == pytest.approx(float(record["estimate"]), abs=1e-12)
    result = passk("estimate", graded, *PASSED, "-m", "maj@2", "--threshold", "0.2,0.5")
    assert result.code == 2
    assert "several thresholds are possible only for metrics of passes or scores" in result.err


def test_metrics_of_attempts_cannot_be_resampled_for_these_tasks(
    passk: Passk, graded: Path
) -> None:
    options = [*PASSED, "--population", "these-tasks"]
    result = passk("estimate", graded, "-m", "maj@2", *options, "--interval", "percentile")
    assert result.code == 2
    assert re.search(
        r"maj@2 for the population these-tasks\n  passk .* --interval jackknife( |\n)",
        result.err,
    )
    result = passk("estimate", graded, "-m", "first@2", *options)
    assert result.code == 0
    assert "does not depend on the order of attempts" in result.err


def test_leaving_attempts_out_is_the_same_for_counts_and_multisets() -> None:
    n, c = np.array([5, 5, 4]), np.array([0, 2, 4])
    start = np.array([0, 1, 3, 4])
    bag = AttemptValuesByCell(
        start, np.array([0.0, 0, 1, 1]), np.array([5, 3, 2, 4]), np.array([0, 0, 2, 4])
    )
    metric, graded = parse_metric("pass@2"), parse_metric("best@2")
    values = task_values([graded], n, c, {"score": bag})[0]
    expected = within_variance(metric, n, c)
    assert within_variance_from_attempts(graded, bag, values) == pytest.approx(expected, abs=1e-14)


def test_the_jackknife_of_a_majority_equals_the_sum_by_hand() -> None:
    answers = [7, 7, 8, 9, 8]  # 7 is right
    bag = AttemptValuesByCell(
        np.array([0, 3]), np.array([7, 8, 9]), np.array([2, 2, 1]), np.array([2, 0, 0])
    )
    metric = parse_metric("maj@3")

    def majority(places: list[int]) -> float:
        won = []
        for three in combinations(places, 3):
            votes = [answers[i] for i in three]
            most = max(votes.count(a) for a in votes)
            leaders = {a for a in votes if votes.count(a) == most}
            won.append((7 in leaders) / len(leaders))
        return float(np.mean(won))

    full = majority(list(range(5)))
    leave_one_out = [majority([i for i in range(5) if i != j]) for j in range(5)]
    expected = 4 / 5 * sum((value - full) ** 2 for value in leave_one_out)
    values = metric.values_from_attempts(bag)
    assert values[0] == pytest.approx(full, abs=1e-12)
    assert within_variance_from_attempts(metric, bag, values)[0] == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pass@", "there is no metric named 'pass@'; did you mean pass@1?"),
        ("zzz", "there is no metric named 'zzz'; `passk help metrics` lists them"),
        ("mean3", "there is no metric named 'mean3'"),
        ("pass@2:0.5", "pass@2:0.5: this metric has no share"),
        ("gpass@2", "gpass@2: add the share of attempts that must pass, for example gpass@16:0.75"),
        ("gpass@2:1.5", "gpass@2:1.5: the share must be above 0 and at most 1"),
    ],
)
def test_unknown_metric_names_are_refused(
    passk: Passk, graded: Path, name: str, message: str
) -> None:
    result = passk("estimate", graded, "-m", name)
    assert result.code == 2
    assert message in result.err
