"""What a solved task costs and what budgets solve: real numbers, hand-made cases, the words."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import passk_cli
from passk_cli.charts.layout import CurveLayout
from passk_cli.commands.cost import AMOUNT_NAMES
from passk_cli.errors import DataError, ParameterError
from passk_cli.files import roles
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS
from passk_cli.report.data_types import AMOUNT_UNITS
from tests.conftest import SAMPLES, Passk, Write, long_cases
from tests.files.attempts.test_cost_checks import COST as DATA
from tests.files.attempts.test_cost_checks import HARBOR, NUMBERS, write_harness_files

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
COSTS = SAMPLES / "costs.csv"
# Set of numbers.json → what reads it: file, amount, further options.  Of promptfoo the sets whose
# tasks are numbers are left out, since tests that ask the same are one task here.
V1, V2 = ("results-v1-2026-04.jsonl", "v1"), ("results-v2.0-harness-confound-2026-07.jsonl", "v2")
DISPATCHED = {"model": "model_id", "cost": "iterations[].cost_usd"}
DISPATCHED |= {"tokens_out": "tokens_subagent_out", "duration": "wall_clock_subagent_s"}
SETS: dict[tuple[str, ...], tuple[str, str, dict[str, Any]]] = {
    **{
        ("harbor", unit): ("harbor.jsonl.gz", amount, {"missing": "fail"})
        for unit, amount in (("usd", "cost"), ("tokens", "tokens"), ("seconds", "duration"))
    },
    **{
        ("claude-dispatch", name, unit): (
            f"claude-dispatch-{short}.jsonl.gz", amount,
            {"fields": DISPATCHED, "duplicates": "keep"},
        )
        for name, short in (V1, V2)
        for unit, amount in (("usd", "cost"), ("tokens_out", "tokens_out"), ("seconds", "duration"))
    },
    **{
        ("promptfoo", name, "task=vars.input", way): (
            f"promptfoo-{name.split('_')[0].lower()}.json.gz", amount, {"fields": fields}
        )
        for name in NUMBERS["promptfoo"]
        for way, amount, fields in (
            ("usd as stored", "cost", {}), ("tokens", "tokens", {}),
            ("usd, cached counted 0", "cost", {"cost": "billed_cost"}),
        )
    },
    **{
        ("tau2", unit): ("tau2.jsonl.gz", amount, {"by": "suite", "fields": fields})
        for unit, amount, fields in (
            ("agent_cost", "cost", {}), ("duration", "duration", {}),
            ("agent_cost+user_cost", "cost", {"cost": "agent_cost+user_cost"}),
        )
    },
    ("../latitude", "costUsd"): ("latitude.jsonl.gz", "cost", {}),
    ("../inspect docent",): ("docent_intercode_ctf.eval", "tokens", {}),
}  # fmt: skip
# The set that the suite tries; the others come after it.
QUICK = ("claude-dispatch", V1[0], "usd")
# What becomes of missing costs → the number of a success that there is then.
POLICIES = {
    "error": "cost_per_success",
    "drop": "cost_per_success_on_attempts_with_cost",
    "mean": "cost_per_success_all_outcomes_known_costs",
}


@pytest.mark.parametrize(
    "key", [pytest.param(k, marks=[] if k == QUICK else pytest.mark.long) for k in SETS], ids=str
)
def test_every_published_number(key: tuple[str, ...], tmp_path: Path) -> None:
    wanted: dict[str, Any] = NUMBERS
    for part in key:
        wanted = wanted[part]
    name, amount, options = SETS[key]
    source = write_harness_files(name, tmp_path) if key[0] in ("harbor", "tau2") else DATA / name
    if key[0] == "../inspect docent":
        wanted = {"openai/gpt-4o": wanted}
    if key[0] == "harbor":
        wanted = {HARBOR[folder]: numbers for folder, numbers in wanted.items()}
    checked = 0
    for model, expected in wanted.items():
        solved = expected.get("pass@$", {})
        at = [float(budget) for budget in solved] or 1.0
        first = {"models": model.split()[0], "at": at, "resamples": 100}
        for policy in (p for p, number in POLICIES.items() if number in expected):
            # Of τ² one suite lacks costs, and all are read.
            remaining = "drop" if key[0] == "tau2" else policy
            actual = passk_cli.cost(
                source, of=amount, missing_cost=remaining, **options, **first
            ).frame
            if " " in model:
                actual = actual[actual["suite"] == model.split()[1]]
            row = actual.set_index("metric").loc
            per_success = expected[POLICIES[policy]]
            assert row[f"{amount}-per-success"].estimate == pytest.approx(
                math.nan if per_success is None else per_success, rel=1e-9, nan_ok=True
            )
            if policy == "error":
                assert row["pass@1"].estimate == pytest.approx(expected["pass@1"])
                mean = expected["mean_cost_task_mean"]
                assert row[amount].estimate == pytest.approx(mean, rel=1e-9)
                for budget, limits in solved.items():
                    (within,) = actual[actual["budget"] == float(budget)].itertuples()
                    pair = limits["lower"], limits["upper"]
                    assert ends(within) == pytest.approx(pair, abs=1e-9)
            checked += 1
    assert checked >= len(wanted)


def made(*models: tuple[str, list[list[tuple[bool, float | None]]]]) -> list[dict[str, Any]]:
    """Rows of models: per task its attempts as (passed, cost)."""
    return [
        {"model": model, "task": f"t{task}", "passed": passed, "cost": cost}
        for model, tasks in models for task, own_values in enumerate(tasks) for passed, cost
        in own_values
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
    assert "No attempt passed, so only a lower limit of the cost of a solved task is known." in str(
        findings
    )
    assert "at least $" in str(findings)
    assert "pass@$1" in str(findings)


def test_a_model_without_a_price_is_never_the_cheapest() -> None:
    free = [[(True, 0.0)] * 2] * 4
    priced = [[(True, 0.5), (False, 0.5 + t / 10)] for t in range(4)]
    text = str(passk_cli.cost(made(("free", free), ("priced", priced)), at=1))
    assert text.startswith("priced solves a task for $")
    assert "There is no cost per solved task for free (every attempt costs 0)." in text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("free")]
    assert row[1:] == ["–", "1.000", "[0.410,", "1.000]", "$0", "–"]
    assert "Every attempt costs 0" in str(passk_cli.cost(made(("free", free))))


def test_a_missing_price_is_no_low_one() -> None:
    cheap = [[(True, 0.1), (False, None)]] * 5
    dear = [[(True, 1.0), (True, 1.0 + t / 10)] for t in range(5)]
    data = made(("cheap", cheap), ("dear", dear))
    with pytest.raises(DataError, match="missing_cost"):
        passk_cli.cost(data)
    text = str(passk_cli.cost(data, missing_cost="bounds", at=1))
    assert text.startswith("dear solves a task for $1.10 [")
    assert "cheap may need less per solved task, because some attempts have no cost." in text
    assert "at least $0.100" in text
    row = numbers(data, missing_cost="bounds", at=1)["cheap", "cost"]
    assert (row.estimate_low, row.note) == (
        pytest.approx(0.05), "amounts are missing, so one end of the range is not known"
    )  # fmt: skip


def test_a_negative_cost_is_refused() -> None:
    with pytest.raises(DataError, match="below 0"):
        passk_cli.cost(made(("m", [[(True, -0.1)]])))


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("n", [1, 2])
def test_little_data_has_numbers_and_says_what_is_lacking(tasks: int, n: int) -> None:
    data = made(("a", [[(True, 0.5)] * n] * tasks), ("b", [[(True, 0.7)] * n] * tasks))
    actual = numbers(data, at=0.6)
    assert actual["a", "cost-per-success"].estimate == pytest.approx(0.5)
    assert actual["a", "pass@$0.60"].estimate == 1
    assert ends(actual["b", "pass@$0.60"]) == (0, 0)
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
    frame = passk_cli.cost(data, by="suite", at=1, resamples=100).frame
    assert set(zip(frame["model"], frame["suite"], strict=True)) == set(
        itertools.product("ab", "xy")
    )
    plain, clustered = (numbers(data, resamples=100, cluster=by) for by in (None, "repo"))
    for key in plain:
        if key[1] in ("cost", "cost-per-success"):
            assert plain[key].estimate == clustered[key].estimate
            assert plain[key].high != clustered[key].high


@pytest.mark.long
def test_many_models_are_a_row_each() -> None:
    models = [(f"m{i:02}", [[(t % 3 > 0, (1 + i) / 10)] for t in range(6)]) for i in range(25)]
    lines = str(passk_cli.cost(made(*models), resamples=100)).splitlines()
    assert len(lines) <= 32
    assert [line.split()[0] for line in lines if line.startswith("m")][2:4] == ["m00", "m01"]


def test_what_the_file_has_is_said_where_it_lacks_the_amount() -> None:
    with pytest.raises(DataError, match='it has cost, tokens_out and duration; of="cost"'):
        passk_cli.cost(COSTS, of="tokens")


def test_amounts_of_reading_metrics_and_renderers_are_the_same() -> None:
    assert tuple(AMOUNT_UNITS_AND_NOUNS) == AMOUNT_NAMES
    assert set(AMOUNT_UNITS_AND_NOUNS) == set(roles.AMOUNT_UNITS) - {"tokens_cached"}
    words = {"$": "dollars", "s": "seconds"}
    for amount, (unit, _) in AMOUNT_UNITS_AND_NOUNS.items():
        assert unit in AMOUNT_UNITS
        assert words.get(unit, unit) == roles.AMOUNT_UNITS[amount][0]


def test_every_amount_has_its_words(passk: Passk) -> None:
    result = passk("cost", COSTS, "--of", "duration", "--at", "300", "--resamples", "100")
    assert result.out.startswith("claude-haiku-4-5-20251001 is quickest per solved task: 203 s;")
    assert "pass@300 s" in result.out
    assert "\n~ tied with the first · 8 tasks × 3 attempts" in result.out
    result = passk("cost", COSTS, "--of", "tokens_out", "--at", "20000", "--resamples", "100")
    assert "needs fewest output tokens per solved task: 11,588;" in result.out
    assert "pass@20,000 tokens" in result.out
    assert "tokens · ~ tied with the first · 8 tasks × 3 attempts" in result.out


def test_less_is_better_where_amounts_are_metrics(passk: Passk) -> None:
    result = passk("estimate", COSTS, "-m", "cost")
    assert result.out.startswith("claude-haiku-4-5-20251001 is lowest: cost $0.274.")
    result = passk("compare", COSTS, "-m", "cost")
    assert result.out.startswith("claude-haiku-4-5-20251001 leads at cost by $0.345 [")
    models = [line.split()[1] for line in result.out.splitlines() if line[:2] in ("1 ", "2 ", "3 ")]
    assert [model.split("-")[1] for model in models] == ["haiku", "sonnet", "opus"]
    frame = passk_cli.compare(COSTS, "cost").frame
    assert set(frame["verdict"]) == {"better"}
    assert (frame["estimate"] < 0).all()
    assert passk_cli.estimate(COSTS, "median-cost").frame["estimate"].is_monotonic_increasing


@pytest.mark.parametrize("population", ["new-tasks", "these-tasks"])
@pytest.mark.parametrize("amount", ["cost", *long_cases("duration")])
def test_a_ratio_as_a_metric_is_that_of_passk_cost(amount: str, population: str) -> None:
    name, options = f"{amount}-per-success", {"population": population}
    columns = ["model", "estimate", "low", "high", "interval"]
    costs = passk_cli.cost(COSTS, of=amount, **options).frame
    # What an attempt takes has one interval, too.
    for metric in (name, amount):
        expected = costs[(costs["metric"] == metric) & costs["against"].isna()][columns]
        actual = passk_cli.estimate(COSTS, metric, **options).frame[columns]
        pd.testing.assert_frame_equal(
            actual.set_index("model"), expected.set_index("model"), check_like=True, rtol=1e-12
        )
    keys = ["metric", "model", "against"]
    compared = passk_cli.compare(COSTS, name, **options).frame.set_index(keys)
    pairs = costs[costs["metric"].isin([name, f"{name}-ratio"]) & costs["against"].notna()]
    columns = ["estimate", "low", "high", "p", "p_adjusted", "verdict"]
    expected = pairs.set_index(keys)[columns]
    assert len(compared) == len(expected) == 6
    pd.testing.assert_frame_equal(compared[columns], expected, check_like=True, rtol=1e-12)


def test_a_ratio_of_some_tasks_is_that_of_their_sums() -> None:
    costs = [[(t % 3 > 0, 0.1 + t / 9)] * 2 for t in range(9)]
    data = made(("a", costs), ("b", costs[:6]), ("c", [[(a, 3 * x) for a, x in t] for t in costs]))
    frame = passk_cli.compare(data, "cost-per-success").frame.set_index(["metric", "model"])
    pair = frame.loc["cost-per-success"].query("against == 'b' or model == 'b'")
    assert set(pair["adjustment"]) == {"bonferroni"}
    own_values = sum(x[0][1] for x in costs[:6]) / 4
    same = pair[(pair["estimate_model"] - pair["estimate_against"]).abs() < 1e-12]
    assert same["estimate_model"].tolist() == pytest.approx([own_values])
    assert same["p"].tolist() == [1.0]


def test_a_ratio_without_a_pass_or_a_second_task_says_so() -> None:
    failing = made(("a", [[(False, 0.1)]] * 9), ("b", [[(t < 6, 0.2)] for t in range(9)]))
    findings = passk_cli.estimate(failing, "cost-per-success")
    row = findings.frame.set_index("model").loc["a"]
    assert (math.isnan(row["estimate"]), row["low"] > 0.1, row["note"]) == (
        True, True, "no attempt passed",
    )  # fmt: skip
    assert "at least $" in str(findings)
    assert "no attempt passed, so there is only a lower limit" in str(findings.messages)
    assert "a: no attempt passed" in str(passk_cli.compare(failing, "cost-per-success"))
    single = made(("a", [[(True, 0.1)]]), ("b", [[(True, 0.2)]]))
    messages = str(passk_cli.estimate(single, "cost-per-success").messages)
    assert (
        "cannot compute an interval for cost-per-success of a, b: the method needs at least 2 tasks"
        in messages
    )
    assert "No test is possible: the method needs at least 2 tasks." in str(
        passk_cli.compare(single, "cost-per-success")
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: passk_cli.compare(COSTS, "cost-per-success", test="sign-flip"),
        lambda: passk_cli.compare(COSTS, "cost-per-success", margin=0.1),
        lambda: passk_cli.compare(COSTS, ["pass@1", "cost-per-success"], family="all"),
        lambda: passk_cli.compare(COSTS, change="cost:cost-per-success"),
        lambda: passk_cli.bootstrap(COSTS, "cost-per-success"),
    ],
)  # fmt: skip
def test_what_needs_values_of_tasks_refuses_a_ratio(call: Callable[[], object]) -> None:
    with pytest.raises(ParameterError, match="ratio of means"):
        call()


@pytest.mark.long
def test_the_chart_has_both_intervals_and_the_frontier(tmp_path: Path) -> None:
    many = [(f"m{i}", [[(t % 10 < i, 0.1 * (i % 4 + 1))] for t in range(10)]) for i in range(1, 10)]
    (plot,) = passk_cli.cost(made(*many), resamples=100).report.plots
    assert CurveLayout.from_plot(plot).dashes == {"frontier": (2, 3)}
    assert (plot.kind, plot.log_x, plot.leading_models) == ("curves", True, ("m8", "m9"))
    corners = [(round(r["x"], 9), r["y"]) for r in plot.rows if r["kind"] == "frontier"]
    assert corners == [(0.1, 0.8), (0.2, 0.9)]
    assert plot.x_unit == "$"
    assert all(point["low"] < point["y"] < point["high"] for point in plot.points)
    ends = [row["x"] for row in plot.rows if row["series"] == "m8"]
    assert ends[0] < ends[1]
    passk_cli.cost(COSTS, resamples=100).save(tmp_path / "cost.svg")
    assert (tmp_path / "cost.svg").read_text().count("<svg") == 1


def test_who_leads_where_is_said_where_attempts_cover_the_money() -> None:
    cheap = [[(t % 2 == 0 and a % 3 > 0, 0.1) for a in range(20)] for t in range(30)]
    big = [[(True, 1.0 + t / 100), (True, 1.0)] for t in range(30)]
    findings = passk_cli.cost(made(("cheap", cheap), ("big", big)), at=0.5, resamples=500)
    sentence = str(findings).splitlines()[0]
    words = (
        r"With a budget of up to \$(\S+) per task, cheap solves more tasks than big\."
        r" With a budget of \$(\S+) or more, big solves more tasks than cheap\.$"
    )
    actual = re.search(words, sentence)
    assert actual is not None
    assert 0.5 < float(actual[1]) < 1 < float(actual[2]) < 1.4
    (crossing,) = findings.frame.query("metric == 'crossing-budget'").itertuples()
    assert float(actual[1]) < crossing.estimate <= float(actual[2])
    # Where the attempts end before the money, a further attempt may pass: nobody leads.
    few = passk_cli.cost(made(("cheap", [task[:3] for task in cheap]), ("big", big)), at=0.5)
    assert "budget of up to" not in str(few).splitlines()[0]


def test_the_frontier_holds_who_is_cheaper_or_better() -> None:
    models = [("good", 1.0, 0.9), ("cheap", 0.1, 0.4), ("behind", 2.0, 0.2)]
    data = made(*(
        (name, [[(a < 10 * rate, cost + t / 100) for a in range(10)] for t in range(20)])
        for name, cost, rate in models
    ))  # fmt: skip
    rows = (
        passk_cli.cost(data, resamples=500).frame.query("metric == 'frontier'").set_index("model")
    )
    assert rows["verdict"].to_dict() == {"cheap": "on", "good": "on", "behind": "behind"}
    assert rows["estimate"].to_dict() == {"cheap": 1, "good": 1, "behind": 0}


def test_models_of_other_tasks_take_no_test_from_those_that_share_tasks() -> None:
    def model(name: str, cost: float) -> tuple[str, list[list[tuple[bool, float | None]]]]:
        return name, [[(t % 3 > 0, cost + t / 100)] * 2 for t in range(12)]

    two = made(model("cheap", 0.1), model("dear", 1.0))
    away = [{**row, "task": f"x{row['task']}"} for row in made(model("c", 0.2), model("d", 2.0))]
    single, beside = passk_cli.cost(two, at=1), passk_cli.cost([*two, *away], at=1)
    of_alone, of_beside = (
        actual.frame.query("metric == 'cost-per-success' and p.notna()").set_index("model")
        for actual in (single, beside)
    )
    assert list(of_beside.index) == ["cheap", "c"]
    assert of_beside["p"]["cheap"] == of_alone["p"]["cheap"]
    assert of_beside["p_adjusted"]["cheap"] == pytest.approx(2 * of_beside["p"]["cheap"])
    assert "; dear needs" in str(beside)
    assert "uncommon-tasks" in str(beside.messages)
    assert not single.messages


def test_models_are_not_ranked_across_groups() -> None:
    rows = [{"model": m, "arm": arm, "task": f"t{t}", "passed": (t + i) % 2, "cost": price + i}
            for m, arm, price in (("a", "x", 1), ("b", "y", 2)) for t in range(9)
            for i in range(3)]  # fmt: skip
    answer = str(passk_cli.cost(rows, by="arm")).splitlines()[0]
    assert answer.endswith("Cheapest per solved task: a (arm x), b (arm y).")


def test_what_becomes_of_missing_costs_is_about_costs_alone() -> None:
    """Failures without a cost stay failures: a passes .75 and is behind, whatever the policy."""
    rows = [
        {"model": m, "task": f"t{t}", "passed": passed,
         "cost": None if m == "a" and not passed else 1.0}
        for t in range(20) for i in range(4)
        for m, passed in (("a", (t + i) % 4 != 0), ("b", (t + i) % 10 < 9))
    ]  # fmt: skip
    actual = passk_cli.compare(rows, "pass@1,cost-per-success", missing_cost="drop").frame
    row = actual[actual.metric == "pass@1"].iloc[0]
    assert (row.model, row.verdict) == ("b", "better")
    assert (row.estimate_model, row.estimate_against) == pytest.approx((0.9, 0.75))


def test_a_gate_fails_when_the_cost_rises() -> None:
    def gate(model: str, baseline: str) -> passk_cli.Findings:
        return passk_cli.gate(
            COSTS, metrics="cost", models=[model, baseline], baseline=baseline, no_regression=True
        )

    opus, haiku = "claude-opus-4-7", "claude-haiku-4-5-20251001"
    dearer, cheaper = gate(opus, haiku), gate(haiku, opus)
    assert (dearer.passed, cheaper.passed) == (False, True)
    assert "cost of claude-opus-4-7 rose by $1.80 [0.877, 3.05], significantly" in str(dearer)
    for rule in ("minimum", "max_drop"):
        with pytest.raises(ParameterError, match="a lower value of this metric is better"):
            passk_cli.gate(COSTS, baseline=opus, **{rule: {"cost": 0.5}})


def test_a_model_without_a_price_is_no_cheapest_in_any_command() -> None:
    data = [{"model": m, "task": t, "passed": t > 0, "cost": price} for m, price in
            (("free", 0.0), ("paid", 0.5)) for t in range(4)]  # fmt: skip
    frame = pd.DataFrame(data)
    with pytest.warns(passk_cli.PasskWarning, match="every attempt by free costs 0"):
        estimated = passk_cli.estimate(frame, "cost")
    rows = estimated.frame.set_index("model")["estimate"]
    assert math.isnan(rows["free"])
    assert rows["paid"] == 0.5
    assert str(estimated).startswith(
        "cost of paid is $0.500 [0.0716, 1.06]. cost cannot be computed for free."
    )
    compared = passk_cli.compare(frame, "cost")
    assert ": free: every attempt costs 0" in " ".join(map(str, compared.messages))
    assert "No test is possible: free: every attempt costs 0." in str(compared)


def test_the_cheapest_is_that_on_shared_tasks(passk: Passk, write: Write) -> None:
    """The one that ran the cheap tasks alone is not the cheapest."""
    lines = [f"whole,{hard}{t},{(t + hard) % 2},{0.1 + 2 * hard + t / 1e3}" for hard in (0, 1)
             for t in range(20)]  # fmt: skip
    lines += [f"part,0{t},{t % 2},{0.2 + t / 1e3}" for t in range(20)]
    result = passk("cost", write("x.csv", "\n".join(["model,task,passed,cost", *lines])))
    assert result.out.startswith("whole is cheapest per solved task on shared tasks; part needs ")
    assert result.out.splitlines()[3].startswith("whole")
    assert "warning[unshared-tasks]: some models lack 20 of 40 tasks" in result.err


def test_every_model_that_ties_with_the_cheapest_is_counted_and_marked() -> None:
    rows = [
        {"model": m, "task": f"t{t}", "passed": (t + i) % 3 > 0, "cost": price * (1 + (t * j) % 5)}
        for j, (m, price) in enumerate((("a", 1.0), ("b", 1.02), ("c", 1.04), ("far", 9.0)), 1)
        for t in range(15) for i in range(3)
    ]  # fmt: skip
    actual = passk_cli.cost(rows)
    pairs = actual.frame.query("metric == 'cost-per-success' and model == 'a' and verdict != ''")
    tied = list(pairs[pairs.verdict == "tied"]["against"])
    assert tied == ["b", "c"]
    answer, *lines = str(actual).splitlines()
    assert re.search(r"; [bc], [bc] are tied with it \(up to \$[\d.]+\)\.$", answer)
    assert [line.split()[0] for line in lines if "  ~ $" in line] == tied
    assert any("~ tied with the first" in line for line in lines)
