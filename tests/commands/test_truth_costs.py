"""What cost, plan and temperature say is true of random data.

Numbers are computed here from the rows, without code of passk.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import passk_cli
from tests.commands.test_headlines import mean
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
NUMBER = 60
Row = dict[str, Any]


def spent(draw: random.Random, models: int, kind: str) -> list[Row]:
    """Attempts with costs."""
    rows = []
    for m in range(models):
        skill = draw.choice([0.3, 0.35, 0.9])
        price = {"free": 0.0, "far": 10.0**m}.get(kind, draw.choice([1.0, 1.1, 4.0]))
        for t in range(1 if kind == "one task" else 30):
            for _ in range(3):
                passed = draw.random() < (0 if kind == "failed" or (kind == "one" and m) else skill)
                cost = price * draw.uniform(0.5, 1.5)
                if kind == "gaps" and draw.random() < 0.05 and (m or not passed):
                    cost = None
                rows.append({"model": f"m{m}", "task": f"t{t}", "passed": passed, "cost": cost})
    return rows


def per_success(rows: list[Row]) -> float:
    """Mean over tasks of the cost of an attempt, divided by pass@1; infinite without a pass."""
    tasks = {row["task"] for row in rows}
    means = []
    for name in ("cost", "passed"):
        of_tasks = [[row[name] for row in rows if row["task"] == task] for task in tasks]
        means.append(sum(sum(own_values) / len(own_values) for own_values in of_tasks) / len(tasks))
    return means[0] / means[1] if means[1] else math.inf


@proves(
    "no-price", "no-attempt-passed", "cost-of-one", "cheapest", "cheapest-tie", "cheapest-ties",
    "cheapest-untested", "cheapest-by-group", "no-number",
)  # fmt: skip
def test_what_cost_says_is_true() -> Iterator[str]:
    draw = random.Random(91)
    for number in range(2 * NUMBER):
        kind = ["free", "failed", "one", "even", "far", "one task", "even"][number % 7]
        rows, groups = spent(draw, draw.choice([1, 2, 3]) if kind == "one" else 3, kind), {}
        if number % 10 == 3:
            rows, groups = [{**row, "suite": s} for s in "xy" for row in rows], {"by": "suite"}
        models = sorted({row["model"] for row in rows})
        entry = {m: per_success([r for r in rows if r["model"] == m]) for m in models}
        finite_costs = {m: value for m, value in entry.items() if 0 < value < math.inf}
        try:
            actual = passk_cli.cost(rows, resamples=100, **groups)
        except passk_cli.PasskError:
            continue
        frame = actual.frame
        pairs = frame[frame.against.notna()] if "verdict" in frame else None
        for sentence in actual.report.answer:
            fields = sentence.fields
            if sentence.name == "no-price":
                assert not any(row["cost"] for row in rows)
            elif sentence.name == "no-attempt-passed":
                assert not any(row["passed"] for row in rows)
            elif sentence.name == "no-number":
                without = {re.split(r", | [(]", text)[0] for text in fields["without"]}
                assert without == {*models} - {*finite_costs}
            elif sentence.name == "cheapest-by-group":
                best = min(finite_costs, key=finite_costs.__getitem__)
                assert {*fields["leaders"]} == {f"{best} (suite {s})" for s in "xy"}
            elif sentence.name in ("cost-of-one", "cheapest", "cheapest-tie", "cheapest-ties",
                               "cheapest-untested"):  # fmt: skip
                assert finite_costs[fields["model"]] == min(finite_costs.values())
                assert fields["estimate"].value == pytest.approx(min(finite_costs.values()))
                if pairs is None:
                    yield sentence.name
                    continue
                own_values = pairs[((pairs.model == fields["model"]) | (pairs.against == fields[
                "model"]))
                            & pairs.metric.str.endswith("-per-success")]  # fmt: skip
                verdict = {
                    (r.against if r.model == fields["model"] else r.model): r.verdict
                    for r in own_values.itertuples()
                }
                if sentence.name == "cheapest":
                    assert "tied" not in verdict.values()
                    times = finite_costs[fields["other"]] / finite_costs[fields["model"]]
                    assert fields["times"].value == pytest.approx(times)
                elif sentence.name in ("cheapest-tie", "cheapest-ties"):
                    ties = [model for model in finite_costs if verdict.get(model) == "tied"]
                    assert {*fields["ties"]} == {*ties}
                    assert fields["highest"].value == pytest.approx(
                        max(finite_costs[m] for m in ties)
                    )
                elif sentence.name == "cost-of-one":
                    assert len(finite_costs) == 1
            yield sentence.name


@proves("costs-not-known", "may-need-less")
def test_what_is_said_of_missing_costs_is_true() -> Iterator[str]:
    draw = random.Random(92)
    for number in range(NUMBER):
        rows = spent(draw, 2, "even")
        for row in rows:
            lacking = number % 3 == 0 or row["model"] == "m1"
            if lacking and draw.random() < 0.3:
                row["cost"] = None
        free = [{**row, "cost": row["cost"] or 0.0} for row in rows]
        least = {m: per_success([r for r in free if r["model"] == m]) for m in ("m0", "m1")}
        gaps = {row["model"] for row in rows if row["cost"] is None}
        for sentence in passk_cli.cost(rows, missing_cost="bounds", resamples=100).report.answer:
            if sentence.name == "costs-not-known":
                assert gaps == {"m0", "m1"}
            elif sentence.name == "may-need-less":
                assert sentence.fields["unsure"] == ["m1"]
                assert least["m1"] < least["m0"]
            yield sentence.name


@proves("budgets-decide")
def test_budgets_that_change_the_lead_are_true() -> Iterator[str]:
    """A cheap model solves half of the tasks, and an expensive one nearly all."""
    draw = random.Random(93)
    for _ in range(4):
        rows = [{"model": m, "task": f"t{t}", "passed": draw.random() < p,
                 "cost": price * draw.uniform(0.9, 1.1)}
                for m, price in (("cheap", 1.0), ("big", 4.0))
                for t in range(60) for p in [0.98 if m == "big" else 0.9 * (t < 35)]
                for _ in range(8)]  # fmt: skip
        for sentence in passk_cli.cost(rows, resamples=200).report.answer:
            if sentence.name == "budgets-decide":
                fields = sentence.fields
                assert (fields["cheap"], fields["big"]) == ("cheap", "big")
                assert fields["low"] < fields["high"]
                assert 3 < fields["high"] < 8
            yield sentence.name


def size(text: str) -> tuple[int, int]:
    """Tasks and attempts of a design: "20 tasks × 3 attempts"."""
    tasks, attempts = re.findall(r"[\d,]+", text)
    return int(tasks.replace(",", "")), int(attempts)


@proves(
    "budget-too-small", "no-standard-error", "detects-nothing", "detects", "nothing-detects",
    "needed-as-well", "needed",
)  # fmt: skip
def test_what_plan_says_without_a_pilot_is_true() -> Iterator[str]:
    draw = random.Random(94)
    for _ in range(3 * NUMBER):
        rates = {"mean": 0.5, "spread": draw.choice([0.1, 0.3]), "correlation": 0.5}
        options = rates | {"detect": draw.choice([0.01, 0.1, 0.3]), "metrics": "pass@1"}
        budget = draw.choice([None, None, 1, 30, 500])
        if draw.random() < 0.4:
            options |= {"tasks": draw.choice([2, 20, 100]), "attempts": 3}
        if draw.random() < 0.3:
            options |= {"metrics": "pass@4"}
        if budget is not None:
            options |= {"budget": budget}
        for sentence in passk_cli.plan(**options).report.answer:
            fields, k = sentence.fields, sentence.fields["k"]
            if sentence.name == "budget-too-small":
                assert budget is not None
                assert budget < 2 * k
            elif sentence.name == "no-standard-error":
                assert options["attempts"] < k
            elif sentence.name in ("detects", "detects-nothing"):
                tasks, n = size(fields["own"])
                assert tasks * n <= (budget or math.inf)
                again = passk_cli.plan(**rates, metrics=options["metrics"], tasks=tasks, attempts=n)
                row = next(again.frame[again.frame.fact == "design"].itertuples())
                printed = math.nan if fields["difference"] is None else fields["difference"]
                assert printed == pytest.approx(row.difference, nan_ok=True)
                if sentence.name == "detects" and k == 1 and tasks > 50:
                    # z · √(2 (1 − ρ) σ_b² / T + 2 σ_w² / nT), at 5 % and power .8.
                    between, within = rates["spread"] ** 2, 0.25 - rates["spread"] ** 2
                    se = math.sqrt((between + 2 * within / n) / tasks)
                    assert fields["difference"] == pytest.approx(2.802 * se, rel=0.05)
            elif sentence.name == "nothing-detects":
                assert fields["why"]
            else:
                tasks, n = size(fields["needed"])
                sizes = [tasks - 1, tasks] if tasks > 2 else [tasks, tasks]
                pair = [
                    passk_cli.plan(**rates, metrics=options["metrics"], tasks=t, attempts=n).frame
                    for t in sizes
                ]
                actual = [
                    own_values[own_values.fact == "design"].difference.iloc[0]
                    for own_values in pair
                ]
                assert actual[1] <= options["detect"] + 1e-9
                assert tasks <= 2 or math.isnan(actual[0]) or actual[0] > options["detect"]
            yield sentence.name


def pilot(draw: random.Random, models: int, n: int) -> list[Row]:
    """Counts of a pilot."""
    return [
        {"model": f"m{m}", "task": f"t{t}", "n": n, "c": draw.choice([n, 0, draw.randint(0, n)])}
        for m in range(models) for t in range(12)
    ]  # fmt: skip


@proves("planned-error", "differences-not-planned")
def test_what_plan_says_of_a_pilot_of_one_attempt_is_true() -> Iterator[str]:
    draw = random.Random(95)
    for _ in range(4):
        rows = pilot(draw, 1, 1)
        rate = float(mean(rows, "pass@1") or 0)
        for sentence in passk_cli.plan(rows, tasks=100).report.answer:
            if sentence.name == "planned-error":
                tasks, n = size(sentence.fields["own"])
                # One attempt: the variance over tasks is that of the outcomes, of 12.
                variance = rate * (1 - rate) * 12 / 11
                assert n == 1
                assert sentence.fields["error"] == pytest.approx(
                    math.sqrt(variance / tasks), rel=0.05
                )
            yield sentence.name


@proves("nothing-next", "new-tasks-next", "attempts-next")
def test_what_is_next_narrows_most() -> Iterator[str]:
    draw = random.Random(96)
    for number in range(NUMBER):
        models = draw.choice([1, 2])
        rows = pilot(draw, models, 2)
        budget = draw.choice([1, 12, 24, 100])
        if number % 3 == 0:
            # New tasks of two attempts cannot be paid for, and more attempts of one model can.
            rows, budget = pilot(draw, 2, draw.choice([4, 12])), 12
        try:
            actual = passk_cli.plan(rows, next=True, budget=budget, metrics="pass@1")
        except passk_cli.PasskError:
            continue
        frame = actual.frame
        for sentence in actual.report.answer:
            fields = sentence.fields
            if sentence.name == "nothing-next":
                assert frame.next.tolist() == ["nothing more"]
            else:
                ways = frame[frame.next != "nothing more"]
                assert fields["after"] == ways.se.min()
                assert fields["before"] == frame[frame.next == "nothing more"].se.iloc[0]
                best = ways[ways.next == fields["way"]].iloc[0]
                assert fields["more"] == best.attempts_in_all <= budget
                assert (sentence.name == "new-tasks-next") == (best.next == "new tasks")
                if models == 1 and number % 3:
                    assert fields["new"] in (0, best.tasks - 12)
            yield sentence.name


@proves("best-temperature", "two-best-temperatures", "best-temperatures")
def test_what_temperature_says_is_true() -> Iterator[str]:
    draw = random.Random(97)
    for _ in range(20):
        models = "abc"[: draw.choice([1, 2, 3])]
        rows = []
        for m in models:
            kind = draw.choice(["cold", "hot", "turn"])
            for t in range(20):
                for heat in (0.2, 0.8):
                    steady = 4 * ((t * 7 + ord(m)) % 20 < 11)
                    c = steady if heat == 0.2 else draw.choice([1, 2])
                    if kind != "turn":
                        c = draw.choice([0, 1, 2] if (heat == 0.2) == (kind == "hot") else [3, 4])
                    rows.append({"model": m, "task": f"t{t}", "temperature": heat, "n": 4, "c": c})
        actual = passk_cli.temperature(rows, k="1,4", resamples=200)
        (sentence,) = actual.report.answer
        fields, places = sentence.fields, {}
        for k in (1, 4):
            best = []
            for m in models:
                own_values = {h: mean([r for r in rows if (r["model"], r["temperature"]) == (m, h)],
                               f"pass@{k}") for h in (0.2, 0.8)}  # fmt: skip
                best.append(
                    tuple(str(h) for h in own_values if own_values[h] == max(own_values.values()))
                )
            most = max(best, key=best.count)
            places.setdefault((most, best.count(most)), []).append(str(k))
        assert [*fields["best"]] == [*next(iter(places))[0]]
        assert fields["metrics"] == next(iter(places.values()))
        assert (sentence.name == "best-temperature") == (len(places) == 1)
        if sentence.name == "two-best-temperatures":
            (_, number_first), (second, number_second) = places
            assert number_first == number_second
            assert fields["second"] == " or ".join(second)
        assert fields["leads"] == 2 * len(models)
        frame = actual.frame
        assert fields["significant"] <= (frame.verdict == "better").sum()
        yield sentence.name


@proves("all-tasks-pass", "range-of-t-star", "t-star-over-k", "fitted-t-star")
def test_what_the_toy_model_says_is_true() -> Iterator[str]:
    draw = random.Random(98)
    for number in range(8):
        options = {"toy": "gaussian", "k": "2,8", "spread": draw.choice(["4", "16", "4,16"])}
        if number % 4 == 0:
            options |= {"k": "100000000", "spread": "0.5"}
        actual = passk_cli.temperature(None, **options)
        frame = actual.frame
        (sentence,) = actual.report.answer
        if sentence.name == "all-tasks-pass":
            assert frame.temperature.isna().all()
        elif sentence.name == "range-of-t-star":
            own_values = frame[frame.k == sentence.fields["k"]].temperature
            assert (sentence.fields["low"], sentence.fields["high"]) == (
                own_values.min(),
                own_values.max(),
            )
        else:
            first, last = (frame[frame.k == k].temperature.iloc[0] for k in (2, 8))
            assert (sentence.fields["low"], sentence.fields["high"]) == (first, last)
        yield sentence.name
    for _ in range(2):
        actual = passk_cli.temperature(None, toy="gaussian", fit=True)
        (sentence,) = actual.report.answer
        row = actual.frame[actual.frame.source == "exact sums"].iloc[0]
        assert sentence.fields["factor"] == row.factor
        # The article has 0.264 · k^0.728 · s^1.283.
        assert sentence.fields["factor"] == pytest.approx(0.264, abs=0.01)
        yield sentence.name
