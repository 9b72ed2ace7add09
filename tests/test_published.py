"""Numbers that others published, from the files they published them with."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import pytest

import passk_cli
from tests.conftest import CRUXEVAL, SAMPLES, Passk, records

# model, published pass@1 (temperature 0.2) and pass@5 (0.8) in percent, and the exact values.
# Source: crux-eval.github.io, leaderboard, CRUXEval-I.
TABLE = [
    ("phi-2", 31.6, 31.6125, 51.1, 51.140873015873014),
    ("codellama-7b", 35.9, 35.95, 52.9, 52.922619047619044),
    ("deepseek-base-6.7b", 41.9, 41.8625, 62.7, 62.691964285714286),
    ("codellama-13b", 42.5, 42.4875, 62.0, 61.998511904761905),
    ("deepseek-base-33b", 46.5, 46.5125, 64.9, 64.87152777777777),
    ("gpt-3.5-turbo-0613", 49.0, 49.0375, 63.2, 63.15625),
    ("gpt-4-0613", 69.8, 69.8125, 76.8, 76.81349206349206),
]


def rows(text: str) -> dict[tuple[str, str], dict[str, str]]:
    return {(r["model"], r["metric"]): r for r in records(text)}


@pytest.mark.parametrize(
    ("temperature", "k", "published", "exact"), [(0.2, 1, 1, 2), (0.8, 5, 3, 4)]
)
def test_cruxeval_leaderboard(
    passk: Passk, temperature: float, k: int, published: int, exact: int
) -> None:
    files = [f"{row[0]}={CRUXEVAL / f'{row[0]}_temp{temperature}.json.gz'}" for row in TABLE]
    estimates = rows(passk("estimate", *files, "-m", f"pass@{k}", "-f", "csv").out)
    for row in TABLE:
        value = 100 * float(estimates[row[0], f"pass@{k}"]["estimate"])
        assert value == pytest.approx(row[exact], abs=1e-9)
        # 35.95 was printed as 35.9: half a unit of the last digit, either way.
        assert abs(value - float(row[published])) <= 0.05 + 1e-9


def test_the_best_temperature_flips_with_k() -> None:
    for k, cold, warm in ((1, 0.3595, 0.2835), (5, 0.4499107142857, 0.5292261904762)):
        for temperature, value in ((0.2, cold), (0.8, warm)):
            path = CRUXEVAL / f"codellama-7b_temp{temperature}.json.gz"
            frame = passk_cli.estimate(passk_cli.read(path), f"pass@{k}").frame
            assert frame.estimate[0] == pytest.approx(value, abs=1e-9)


def test_cruxeval_reliability() -> None:
    for model, value in (("codellama-7b", 0.280689), ("gpt-4-0613", 0.664554)):
        counts = passk_cli.read(CRUXEVAL / f"{model}_temp0.2.json.gz")
        assert passk_cli.estimate(counts, "pass^5").frame.estimate[0] == pytest.approx(
            value, abs=5e-7
        )


def test_ragged_file_has_pass_at_1_and_an_empty_pass_at_5_with_its_reason(passk: Passk) -> None:
    ragged = f"cot={CRUXEVAL}/gpt-4-turbo-2024-04-09+cot_temp0.2.json.gz"
    second = f"other={CRUXEVAL}/gpt-4-0613_temp0.2.json.gz"
    result = passk("estimate", ragged, second, "-k", "1,5", "-f", "csv")
    estimates = rows(result.out)
    assert 100 * float(estimates["cot", "pass@1"]["estimate"]) == pytest.approx(75.6875, abs=1e-9)
    assert estimates["cot", "pass@5"]["estimate"] == ""
    assert estimates["cot", "pass@5"]["note"] == "n=1–3 < k=5 on 800 of 800 tasks"
    assert "cannot compute pass@5, pass^5 of cot: n=1–3 < k=5 on 800 of 800 tasks" in result.err
    single = passk("estimate", ragged, "-k", "5")
    assert single.code == 2
    assert "pass@5 needs 5 attempts per task, but no task has more than 3 attempts" in single.err


def test_tau_bench_airline(passk: Passk) -> None:
    """Source: Yao et al. 2024, tau-bench, and sierra-research/tau-bench, gpt-4o airline."""
    estimates = rows(
        passk("estimate", SAMPLES / "tau_airline.csv", "-k", "1,2,3,4", "-f", "csv").out
    )
    hats = [
        estimates["gpt-4o", f"pass^{k}" if k > 1 else "pass@1"]["estimate"] for k in (1, 2, 3, 4)
    ]
    assert [round(float(v), 6) for v in hats] == [0.42, 0.273333, 0.22, 0.2]
    ats = [round(float(estimates["gpt-4o", f"pass@{k}"]["estimate"]), 6) for k in (1, 2, 3, 4)]
    assert ats == [0.42, 0.566667, 0.66, 0.72]


def test_human_eval_example() -> None:
    """6 samples of one task, 3 correct: 0.5.  Source: openai/human-eval README."""
    import pandas as pd

    frame = pd.DataFrame({"task_id": ["test/0"] * 6, "passed": [False] * 3 + [True] * 3})
    assert passk_cli.estimate(frame, "pass@1").frame.estimate[0] == 0.5


def test_every_cruxeval_value_against_fractions() -> None:
    counts = passk_cli.read(CRUXEVAL / "gpt-4-0613_temp0.8.json.gz")
    for k in (2, 5, 10):
        exact = sum(
            1 - Fraction(comb(n - c, k), comb(n, k))
            for n, c in zip(counts.n.tolist(), counts.c.tolist(), strict=True)
        ) / len(counts.tasks)
        findings = passk_cli.estimate(counts, f"pass@{k}").frame.estimate[0]
        assert findings == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize(
    ("suite", "metric", "published"),
    [
        ("gpqa", "pass@1", 50.0), ("gpqa", "pass@2", 62.5), ("gpqa", "pass@3", 68.75),
        ("gpqa", "pass@4", 75.0), ("gpqa", "maj@4", 50.0),
        ("hendrycks_math", "pass@1", 71.42857142857143),
        ("hendrycks_math", "pass@3", 85.71428571428571),
        ("hendrycks_math", "maj@3", 76.19047619047618),
    ],
)  # fmt: skip
def test_majority_of_the_harness(passk: Passk, suite: str, metric: str, published: float) -> None:
    """NeMo-Skills' own metrics.json beside these attempts (its majority@k is over the first k)."""
    where = f"benchmark = '{suite}'"
    result = passk(
        "estimate", SAMPLES / "answers.csv", "--where", where, "-m", metric, "-f", "json"
    )
    (row,) = json.loads(result.out)["rows"]
    assert 100 * row["estimate"] == pytest.approx(published, abs=1e-10)
