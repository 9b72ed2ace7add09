"""What a solved task costs and what budgets solve: real numbers, hand-made cases, the words."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import passk_cli
from passk_cli.commands.cost import OF
from passk_cli.errors import DataError, ParameterError
from passk_cli.files import roles
from passk_cli.metrics.registry import AMOUNTS
from passk_cli.report.model import QUANTITIES
from tests.conftest import ROOT, SAMPLES, Passk

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
COSTS = SAMPLES / "costs.csv"
DATA = ROOT / "tests" / "data" / "cost"
NUMBERS: dict[str, dict[str, Any]] = json.loads((DATA / "numbers.json").read_text())
# Sets that the suite tries; the others come after it.
QUICK = {"results-v1-2026-04.jsonl usd", "tau2 agent_cost+user_cost"}
# What becomes of missing costs → the number of `numbers.json` that is then the cost of a success.
POLICIES = {
    "error": "cost_per_success",
    "drop": "cost_per_success_on_attempts_with_cost",
    "mean": "cost_per_success_all_outcomes_known_costs",
}


@cache
def attempts() -> list[dict[str, str]]:
    with gzip.open(DATA / "attempts.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def rows_of(name: str, model: str) -> list[dict[str, Any]]:
    """The attempts of a model, as rows."""
    return [
        {"model": model, "task": row["task"], "passed": row["passed"] == "1",
         "cost": float(row["cost"]) if row["cost"] else None}
        for row in attempts() if (row["set"], row["model"]) == (name, model)
    ]  # fmt: skip


def made(*models: tuple[str, list[list[tuple[bool, float | None]]]]) -> list[dict[str, Any]]:
    """Rows of models: per task its attempts as (passed, cost)."""
    return [
        {"model": model, "task": f"t{task}", "passed": passed, "cost": cost}
        for model, tasks in models for task, own in enumerate(tasks) for passed, cost in own
    ]  # fmt: skip


def numbers(data: Any, **options: Any) -> dict[tuple[str, str], Any]:
    """(model, metric) → row of what is said of each model alone."""
    frame = passk_cli.cost(data, **options).frame
    if "against" in frame:
        frame = frame[frame["against"].isna()]
    return {(row.model, row.metric): row for row in frame.itertuples()}


def ends(row: Any) -> tuple[float, float]:
    """The number, or both ends of a range."""
    if math.isnan(row.estimate):
        return row.estimate_low, row.estimate_high
    return row.estimate, row.estimate


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.long) for n in NUMBERS]
)
def test_every_published_number(name: str) -> None:
    checked = 0
    for model, expected in NUMBERS[name].items():
        solved = expected.get("pass@$", {})
        data, at = rows_of(name, model), [float(budget) for budget in solved] or 1.0
        for policy, key in POLICIES.items():
            if key not in expected:
                continue
            found = numbers(data, missing_cost=policy, at=at)
            cost = found[model, "cost-per-success"].estimate
            if expected[key] is None:
                assert cost is None or math.isnan(cost)
            else:
                assert cost == pytest.approx(expected[key], rel=1e-9)
            if policy == "error":
                assert found[model, "pass@1"].estimate == pytest.approx(expected["pass@1"])
                mean = found[model, "cost"].estimate
                assert mean == pytest.approx(expected["mean_cost_task_mean"], rel=1e-9)
                within = {row.budget: ends(row) for row in found.values() if row.budget > 0}
                for budget, limits in solved.items():
                    both = limits["lower"], limits["upper"]
                    assert within[float(budget)] == pytest.approx(both, abs=1e-9)
            checked += 1
    assert checked >= len(NUMBERS[name])


def test_a_budget_solves_what_every_order_of_the_attempts_says() -> None:
    task = [(False, 0.3), (True, 0.5), (False, 0.2), (True, 0.9), (False, 0.4)]
    budget, solved = Fraction("1.1"), 0
    orders = list(itertools.permutations(task))
    for order in orders:
        spent = Fraction(0)
        for passed, cost in order:
            spent += Fraction(str(cost))
            if spent > budget or passed:
                solved += passed and spent <= budget
                break
    row = numbers(made(("m", [task])), at=1.1)["m", "pass@$1.10"]
    assert row.estimate == pytest.approx(solved / len(orders), abs=1e-12)


def test_no_success_leaves_a_lower_limit() -> None:
    data = made(("m", [[(False, 0.1)] * 3, [(False, 0.3)] * 3, [(False, 0.2)] * 3]))
    findings = passk_cli.cost(data, at=1)
    row = numbers(data)["m", "cost-per-success"]
    assert math.isnan(row.estimate)
    assert 0 < row.low < 0.2
    assert math.isnan(row.high)
    assert "No attempt passed: the cost of a solved task has only a lower limit." in str(findings)
    assert "at least $" in str(findings)
    assert "pass@$1" in str(findings)


def test_a_model_without_a_price_is_never_the_cheapest() -> None:
    free = [[(True, 0.0)] * 2] * 4
    priced = [[(True, 0.5), (False, 0.5 + t / 10)] for t in range(4)]
    text = str(passk_cli.cost(made(("free", free), ("priced", priced)), at=1))
    assert text.startswith("priced is cheapest per solved task: $")
    assert "free takes" not in text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("free")]
    assert row[1:] == ["1.000", "$0", "–", "–"]
    assert "Every attempt costs 0" in str(passk_cli.cost(made(("free", free))))


def test_a_missing_price_is_no_low_one() -> None:
    cheap = [[(True, 0.1), (False, None)]] * 5
    dear = [[(True, 1.0), (True, 1.0 + t / 10)] for t in range(5)]
    data = made(("cheap", cheap), ("dear", dear))
    with pytest.raises(DataError, match="missing_cost"):
        passk_cli.cost(data)
    text = str(passk_cli.cost(data, missing_cost="bounds", at=1))
    assert text.startswith("dear is cheapest per solved task: $1.10 [")
    assert "cheap may need less: attempts lack their cost." in text
    assert "at least $0.100" in text


def test_a_negative_cost_is_refused() -> None:
    with pytest.raises(DataError, match="below 0"):
        passk_cli.cost(made(("m", [[(True, -0.1)]])))


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("n", [1, 2])
def test_little_data_has_numbers_and_says_what_is_lacking(tasks: int, n: int) -> None:
    data = made(("a", [[(True, 0.5)] * n] * tasks), ("b", [[(True, 0.7)] * n] * tasks))
    found = numbers(data, at=0.6)
    assert found["a", "cost-per-success"].estimate == pytest.approx(0.5)
    assert found["a", "pass@$0.60"].estimate == 1
    assert ends(found["b", "pass@$0.60"]) == (0, 0)
    text = str(passk_cli.cost(data, at=0.6))
    assert text.startswith("a is cheapest per solved task: $0.500")


def test_groups_clusters_and_unequal_attempts() -> None:
    data = [
        {**row, "suite": "xy"[place % 2], "repo": f"r{place % 3}"}
        for place, row in enumerate(made(
            ("a", [[(t % 2 == 0, 0.1 + t / 50)] * (1 + t % 3) for t in range(12)]),
            ("b", [[(t % 3 != 0, 0.5 + t / 20)] * (1 + t % 2) for t in range(12)]),
        ))
    ]  # fmt: skip
    for row in data:
        row["suite"], row["repo"] = "xy"[int(row["task"][1:]) % 2], f"r{int(row['task'][1:]) % 5}"
    frame = passk_cli.cost(data, by="suite", at=1).frame
    assert set(zip(frame["model"], frame["suite"], strict=True)) == set(
        itertools.product("ab", "xy")
    )
    plain, clustered = numbers(data), numbers(data, cluster="repo")
    for key in plain:
        if key[1] in ("cost", "cost-per-success"):
            assert plain[key].estimate == clustered[key].estimate
            assert plain[key].high != clustered[key].high


def test_many_models_are_a_row_each() -> None:
    models = [(f"m{i:02}", [[(t % 3 > 0, (1 + i) / 10)] for t in range(6)]) for i in range(25)]
    lines = str(passk_cli.cost(made(*models))).splitlines()
    assert len(lines) <= 32
    assert [line.split()[0] for line in lines if line.startswith("m")][2:4] == ["m00", "m01"]


def test_what_the_file_has_is_said_where_it_lacks_the_amount() -> None:
    with pytest.raises(DataError, match='it has cost, tokens_out and duration; use of="cost"'):
        passk_cli.cost(COSTS, of="tokens")


def test_amounts_of_reading_metrics_and_renderers_are_the_same() -> None:
    assert tuple(AMOUNTS) == OF
    assert set(AMOUNTS) == set(roles.UNITS) - {"tokens_cached"}
    words = {"$": "dollars", "s": "seconds"}
    for amount, (unit, _) in AMOUNTS.items():
        assert unit in QUANTITIES
        assert words.get(unit, unit) == roles.UNITS[amount][0]


def test_every_amount_has_its_words(passk: Passk) -> None:
    done = passk("cost", COSTS, "--of", "duration", "--at", "300")
    assert done.out.startswith("claude-haiku-4-5-20251001 is quickest per solved task: 203 s [")
    assert "pass@300 s" in done.out
    assert "seconds · 8 tasks × 3 attempts" in done.out
    done = passk("cost", COSTS, "--of", "tokens_out", "--at", "20000")
    assert "needs fewest output tokens per solved task: 11,588 [" in done.out
    assert "pass@20,000 tokens" in done.out


def test_less_is_better_where_amounts_are_metrics(passk: Passk) -> None:
    done = passk("estimate", COSTS, "-m", "cost")
    assert done.out.startswith("claude-haiku-4-5-20251001 is lowest: cost $0.274 [")
    done = passk("compare", COSTS, "-m", "cost")
    assert done.out.startswith("claude-haiku-4-5-20251001 leads at cost by $0.345 [")
    models = [line.split()[1] for line in done.out.splitlines() if line[:2] in ("1 ", "2 ", "3 ")]
    assert [model.split("-")[1] for model in models] == ["haiku", "sonnet", "opus"]
    frame = passk_cli.compare(COSTS, "cost").frame
    assert set(frame["verdict"]) == {"better"}
    assert (frame["estimate"] < 0).all()
    assert passk_cli.estimate(COSTS, "median-cost").frame["estimate"].is_monotonic_increasing


def test_a_ratio_is_no_metric() -> None:
    with pytest.raises(ParameterError, match=r"`passk_cli\.cost\(…\)` has it"):
        passk_cli.estimate(COSTS, "cost-per-success")
