"""Plans: tables, tidy rows and notes against numbers computed here, and what is refused."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli import limits
from passk_cli.api import read
from passk_cli.commands.plan.interval_widths import guard_interval_widths
from passk_cli.commands.plan.parameters import parse_attempt_counts, parse_tasks
from passk_cli.commands.plan.view import PlanRunner
from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.design import AssumedMetricMoments, BetaRates, PilotEstimate
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.power import PairedTest, half_lattice_distance
from passk_cli.metrics.registry import parse_metric, parse_metric_list
from passk_cli.option import load_object
from passk_cli.outcomes.counts import Counts
from passk_cli.render import WRITER_BY_FORMAT
from passk_cli.render.style import Style
from passk_cli.render.style import answer_text as said_in_words
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis
from tests.conftest import SAMPLES, Golden, Passk, long_cases, records

Row = dict[str, object]
RATES = BetaRates(0.6, 0.3)
TAU, CRUX = SAMPLES / "tau_airline.csv", SAMPLES / "cruxeval.jsonl.gz"
ASSUMED = ["plan", "--mean", "0.6", "--spread", "0.3"]


def rows(report: Report, **expected: object) -> list[Row]:
    names = [column.header for column in report.data_table.columns]
    all_values = [dict(zip(names, row, strict=True)) for row in report.data_table.rows]
    return [row for row in all_values if all(row[k] == v for k, v in expected.items())]


def said(report: Report) -> dict[str, str]:
    """The names of the messages and their words."""
    return {message.name: message.text for message in report.messages}


def table(report: Report, title: str) -> list[Row]:
    """The rows of a table."""
    selected = next(table for table in report.tables if table.title == title)
    names = [column.header for column in selected.columns]
    return [dict(zip(names, row, strict=True)) for row in selected.rows]


def remarks(report: Report, title: str = "") -> dict[str, str]:
    """The designs of a table and what is remarked of them."""
    return {str(row["design"]): str(row["remark"]) for row in table(report, title)}


def assumed(metrics: str = "pass@1", rates: BetaRates = RATES, **aims: Any) -> Report:
    plan = PlanRunner(mean=rates.mean, spread=rates.spread, **aims)
    return plan.report_from_assumptions(parse_metric_list(metrics))


def piloted(counts: Counts, metrics: str, short_tasks: str = "empty", **aims: Any) -> Report:
    study = Analysis(counts, parse_metric_list(metrics), short_tasks=short_tasks)
    return PlanRunner(**aims).report(study)


def test_one_attempt_per_task_by_hand() -> None:
    """√(0.6 · 0.4 / 200); detected with 80 %: about 2.8 standard errors of the difference."""
    (row,) = rows(assumed(tasks=(200,), attempts=(1,), cost_per_attempt=0.5), fact="design")
    se = math.sqrt(0.24 / 200)
    assert row["se"] == pytest.approx(se)
    # The guard interval is a little wider than the normal one, 3.92 standard errors.
    assert row["width"] == pytest.approx(2 * NormalDist().inv_cdf(0.975) * se, rel=0.03)
    width = guard_interval_widths(np.array([0.0, 1.0]), np.array([0.4, 0.6]), 200)
    assert row["width"] == pytest.approx(width, rel=1e-14)
    assert (row["attempts_in_all"], row["cost"], row["source"]) == (200, 100.0, "assumed")
    # Var of a difference: 2 (0.24 − 0.5 · 0.3²), less where the models are apart; McNemar's
    # continuity correction is 1/200.
    least = row["difference"]
    assert isinstance(least, float)
    variance = 2 * (0.24 - 0.045) * (1 - least**2 / (4 * 0.24))
    assert PairedTest(variance, continuity_correction=1.0).power(least, 200) == pytest.approx(0.8)
    assert least == pytest.approx(2.8016 * math.sqrt(variance / 200) + 1 / 200, rel=0.01)


def test_width_is_that_of_the_interval_of_the_expected_sample() -> None:
    """10 of 20 tasks pass: the guard interval of that very sample."""
    limits = interval(IntervalData(np.repeat([0.0, 1.0], 10)), "guard")
    expected = float(limits.high or 0) - float(limits.low or 0)
    halves = np.array([0.5, 0.5])
    assert guard_interval_widths(np.array([0.0, 1.0]), halves, 20) == pytest.approx(expected)
    # Fewer independent tasks; values closer together; a rare pass; nothing that varies.
    assert guard_interval_widths(np.array([0.0, 1.0]), halves, 20, variance=0.5) > expected
    assert guard_interval_widths(np.array([0.0, 1.0]), halves, 20, variance=0.1) < expected
    rare = guard_interval_widths(np.array([0.0, 1.0]), np.array([0.999, 0.001]), 3)
    assert 0.6 < rare < 1
    assert 0 < guard_interval_widths(np.array([1.0]), np.array([1.0]), 50) < 0.08


@pytest.mark.parametrize("mean", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("tasks", [10, *long_cases(50)])
def test_width_against_random_samples(mean: float, tasks: int) -> None:
    """The mean width of samples drawn from the law, within 15 % (40 draws: noise of about 4 %)."""
    rates, metric = (
        BetaRates(mean, 0.7 * math.sqrt(mean * (1 - mean))),
        parse_metric("pass@1"),
    )
    values, shares = AssumedMetricMoments(metric, rates).distribution(4)
    draws = np.random.default_rng(tasks).choice(values, (40, tasks), p=shares / shares.sum())
    limits = [interval(IntervalData(entry), "guard") for entry in draws]
    simulated = float(np.mean([(each.high or 0) - (each.low or 0) for each in limits]))
    (row,) = rows(assumed(rates=rates, tasks=(tasks,), attempts=(4,)), fact="design")
    assert row["width"] == pytest.approx(simulated, rel=0.15)
    assert float(str(row["width"])) <= 1


def test_tasks_that_detect() -> None:
    report = assumed("pass@1,pass@5", detect=0.04, power=0.9, attempts=(1, 10))
    actual = rows(report, fact="detect", metric="pass@1", n_max=10)[0]
    normal = NormalDist()
    z = normal.inv_cdf(0.975) + normal.inv_cdf(0.9)
    variance = 2 * (0.09 * 0.5 + 0.15 / 10)
    assert actual["tasks"] == pytest.approx(variance * (z / 0.04) ** 2, rel=0.01)
    assert isinstance(actual["tasks"], int)
    assert actual["attempts_in_all"] == 10 * actual["tasks"]
    (short,) = rows(report, fact="detect", metric="pass@5", n_max=1)
    assert (short["tasks"], short["note"]) == (None, "n=1 < k=5")


def test_what_is_not_there_says_why() -> None:
    report = assumed("pass@1,pass@10", tasks=(3,), attempts=(1, 10), power=0.99)
    (short,) = rows(report, fact="design", metric="pass@10", n_max=1)
    assert (short["se"], short["width"], short["difference"]) == (None, None, None)
    assert short["note"] == "n=1 < k=10"
    (few,) = rows(report, fact="design", metric="pass@1", n_max=1)
    assert (few["difference"], few["note"]) == (None, "too few tasks to detect any difference")
    assert few["se"] is not None
    wide = rows(assumed("pass@10", detect=0.3, attempts=(10,)), fact="detect")[0]
    note = "two models with means of 0.9375 cannot differ that much"
    assert (wide["tasks"], wide["note"]) == (None, note)


def test_one_attempt_at_as_many_tasks_as_there_are_is_best() -> None:
    report = assumed("pass@1,pass@10", budget=3000)
    best = {str(r["best_for"]): (r["tasks"], r["n_min"]) for r in rows(report, fact="split")}
    assert best == {"pass@1": (3000, 1), "pass@10, all": (300, 10)}
    assert "more-tasks-first" in said(report)
    assert "more-tasks-first" not in said(assumed("pass@10,pass@1", budget=3000))
    limited = rows(assumed(budget=3000, max_tasks="100"), fact="split")
    assert limited[0]["tasks"] == 100
    assert limited[0]["se"] == pytest.approx(math.sqrt((0.09 + 0.15 / 30) / 100), rel=0.01)


@pytest.mark.parametrize("rates", [RATES, BetaRates(0.5, 0.02), BetaRates(0.1, 0.2)])
def test_best_split_against_every_split(rates: BetaRates) -> None:
    names = "pass@1,pass@5,pass^3"
    report = assumed(names, rates, budget=600, max_tasks="90")
    for metric in parse_metric_list(names):
        values = AssumedMetricMoments(metric, rates)
        all_values = [
            math.sqrt(values.variance(n) / min(600 // n, 90)) for n in range(metric.k, 301)
        ]
        actual = next(
            r for r in rows(report, fact="split", metric=metric.name)
            if metric.name in str(r["best_for"]).split(", ")
        )  # fmt: skip
        assert actual["se"] <= min(all_values) * 1.011  # type: ignore[operator]
    everything = [r for r in rows(report, fact="split") if str(r["best_for"]).endswith("all")]
    assert len(everything) == 3
    assert all(r["n_min"] >= 5 for r in everything)  # type: ignore[operator]


def test_a_budget_in_money() -> None:
    money = rows(assumed("pass@5", budget=12.5, cost_per_attempt=0.05), fact="split")
    attempts = rows(assumed("pass@5", budget=250), fact="split")
    assert [(r["tasks"], r["n_min"]) for r in money] == [(50, 5)]
    assert [(r["tasks"], r["n_min"]) for r in attempts] == [(50, 5)]
    assert money[0]["cost"] == pytest.approx(12.5)
    design_table = table(assumed("pass@5", budget=12.5, cost_per_attempt=0.05), "")
    best = next(row for row in design_table if row["remark"] == "best split")
    assert (best["design"], best["attempts"], best["cost"]) == ("50 × 5", 250, 12.5)
    assert "cost" not in table(assumed("pass@5", budget=250), "")[0]


def test_a_budget_that_reaches_for_nothing() -> None:
    report = assumed("pass@1,pass@5", budget=9)
    assert {r["metric"] for r in rows(report, fact="split")} == {"pass@1", "pass@5"}
    assert {r["best_for"] for r in rows(report, fact="split")} == {"pass@1"}
    assert said(report)["small-budget"] == "pass@5: 9 attempts are too few for 2 tasks × k attempts"
    assert not rows(assumed("pass@5", budget=9), fact="split")


def test_what_k_costs() -> None:
    planned = table(assumed("pass@1,pass@10"), "Assumptions of the plan")
    ratio = planned[1]["tasks needed, relative to pass@1"]
    first, ten = (
        AssumedMetricMoments(parse_metric(name), RATES).variance(10)
        for name in ("pass@1", "pass@10")
    )
    assert ratio == pytest.approx(ten / first)


def test_other_metrics_of_counts() -> None:
    """gpass counts subsets as pass@k does, a mean of such does not: no lattice to correct for."""
    report = assumed("gpass@4:0.5,mgpass@4", tasks=(100,), attempts=(4, 9))
    for row in rows(report, fact="design"):
        metric = parse_metric(str(row["metric"]))
        values = AssumedMetricMoments(metric, RATES)
        n = int(str(row["n_min"]))
        assert row["se"] == pytest.approx(math.sqrt(values.variance(n) / 100))
        least = float(str(row["difference"]))
        odds = values.expected * (1 - values.expected)
        step = half_lattice_distance(n, 4) if metric.family == "gpass@" else 0.0
        variance = 2 * (values.variance(n) - 0.5 * values.between_variance)
        test = PairedTest(
            variance, continuity_correction=step, variance_drop_per_squared_effect=1 / (4 * odds)
        )
        assert test.power(least, 100) == pytest.approx(0.8)


def test_nothing_varies() -> None:
    """Where every task is sure to pass, rounding decides nothing."""
    report = assumed("pass@100,gain@1", BetaRates(0.99, 0.001))
    errors = {row["se"] for kind in ("design", "split") for row in rows(report, fact=kind)}
    assert errors == {None, 0.0}
    assert {row["difference"] for row in rows(report, fact="design")} == {None}
    # All splits are as good: of these, the one with the most tasks.
    splits = rows(report, fact="split", metric="pass@100")
    assert [r["tasks"] for r in splits if "pass@100" in str(r["best_for"])] == [200]
    assert remarks(report)["50 × 100"].endswith("two models with means of 1 cannot differ")


def test_pilot_of_one_model() -> None:
    """Up to its own attempts the pilot's numbers, beyond them a model, and it is said."""
    counts = read(TAU)
    report = piloted(counts, "pass@1,pass@4")
    n, c = counts.n, counts.c
    (own_values,) = rows(report, fact="design", metric="pass@4", tasks=50, n_max=4)
    passed = (c > 0).astype(float)
    assert own_values["se"] == pytest.approx(passed.std(ddof=1) / math.sqrt(50))
    assert (own_values["source"], own_values["estimate"]) == ("pilot", pytest.approx(0.72))
    (more,) = rows(report, fact="design", metric="pass@4", tasks=50, n_max=8)
    assert more["source"] == "pilot and model"
    (single,) = rows(report, fact="design", metric="pass@1", tasks=50, n_max=8)
    assert single["source"] == "pilot"
    assert single["se"] == pytest.approx(
        math.sqrt(PilotEstimate(parse_metric("pass@1"), n, c).variance(8) / 50)
    )
    assert {r["tasks"] for r in rows(report, fact="design")} == {12, 50, 200}
    text = said(report)
    assert "modelled-pilot" not in text
    assert "modelled-pilot" in said(piloted(counts, "pass@4,pass@1"))
    assert "correlation of models 0.5 (assumed)" in report.context
    assert "standard errors uncertain by ±6.6 % (50 tasks)" in " · ".join(
        report.make_full_context()
    )
    assert "planned partly from Beta rates: pass@4" in " · ".join(report.make_full_context())
    assert "gpt-4o: mean 0.42, standard deviation 0.32" in " · ".join(report.make_full_context())
    assert rows(report, fact="split", metric="pass@4")[-1]["tasks"] == 50


def test_pilot_of_two_models() -> None:
    """The correlation is the pilot's; at its own size the difference has its standard error."""
    counts = read(
        SAMPLES / "cruxeval.jsonl.gz",
        where="temperature < 0.5",
        models=("codellama-7b", "gpt-4-0613"),
    )
    report = piloted(counts, "pass@5", tasks=(800,), attempts=(10,))
    (row,) = rows(report, fact="design")
    values = [PilotEstimate(parse_metric("pass@5"), counts.n[counts.slice_of_series(s)], counts.c[
    counts.slice_of_series(
    s)])
              for s in (0, 1)]  # fmt: skip
    d = values[0].task_values - values[1].task_values
    detects = row["difference"]
    assert isinstance(detects, float)
    test = PairedTest(float(d.var(ddof=1)))
    assert test.power(detects, 800) == pytest.approx(0.8, abs=2e-3)
    assert row["correlation"] == pytest.approx(0.25, abs=0.01)
    assert said(report)["pilot-models"].startswith(
        "interval widths are planned for codellama-7b, the most variable model"
    )
    assert "correlation of models 0.25 [0.18, 0.32]" in report.context
    assert "in pass@5 between codellama-7b and gpt-4-0613" in answer(report)
    assert report.signature["correlation"] == "measured"
    with pytest.raises(ParameterError, match="this pilot has several models"):
        piloted(counts, "pass@5", correlation=0.3)


def test_plan_is_for_the_model_and_pair_that_vary_most() -> None:
    rng = np.random.default_rng(2)
    cells = []
    for model, spread in (("calm", 0.05), ("wild", 0.45), ("mild", 0.2)):
        for t in range(60):
            p = min(max(0.5 + spread * rng.choice([-1, 1]), 0), 1)
            cells.append((model, f"t{t:02d}", 6, int(rng.binomial(6, p))))
    report = piloted(Counts.from_cells(cells), "pass@1")
    (row,) = table(report, "Assumptions of the plan")
    assert row["model"] == "wild"
    names = sorted({cell[0] for cell in cells})
    c = np.array([[cell[3] / 6 for cell in cells if cell[0] == name] for name in names])
    spreads = {f"{a} − {b}": (c[names.index(a)] - c[names.index(b)]).var()
               for a, b in itertools.combinations(names, 2)}  # fmt: skip
    assert max(spreads, key=lambda pair: spreads[pair]) == "calm − wild"
    assert row["pair"] == "calm − wild"
    assert "unmeasured-correlation" not in said(report)


def test_a_pilot_that_cannot_tell() -> None:
    constant = Counts.from_cells([("m", "a", 3, 3), ("m", "b", 3, 3)])
    with pytest.raises(ParameterError, match="every task has the value 1"):
        piloted(constant, "pass@1")
    with pytest.raises(ParameterError, match="one task does not show"):
        piloted(Counts.from_cells([("m", "a", 3, 1)]), "pass@1")
    single = piloted(Counts.from_cells([("m", t, 1, t > "b") for t in "abcd"]), "pass@1")
    (first, two) = rows(single, fact="design", tasks=4)
    assert first["se"] == pytest.approx(math.sqrt(1 / 3 / 4))
    assert first["difference"] is None
    assert two["se"] is None
    for row in (first, two, *rows(single, fact="detect")):
        assert str(row["note"]).startswith("the pilot has one attempt per task")
    assert "one-attempt-pilot" in said(single)
    assert "modelled-pilot" not in said(single)


def test_models_that_never_differ_say_nothing_of_differences() -> None:
    cells = [(m, f"t{t}", 2, t % 3) for m in ("one", "copy") for t in range(6)]
    report = piloted(Counts.from_cells(cells), "pass@1")
    assert "correlation of models 0.5 (assumed)" in report.context
    assert all(row["difference"] for row in rows(report, fact="design", tasks=24))


def test_a_best_split_for_each_goal_shows_its_own_metric() -> None:
    report = assumed("pass@1,pass@10,pass^10", budget=2000)
    for metric in ("pass@1", "pass@10", "pass^10"):
        best = next(row for row in table(report, f"Designs for {metric}")
                    if row["remark"] == "best split")  # fmt: skip
        (line,) = [r for r in rows(report, fact="split", metric=metric)
                   if metric in str(r["best_for"]).split(", ")]  # fmt: skip
        assert best["design"] == f"{line['tasks']:,} × {line['n_min']}"
        assert (best["standard error"], best["interval width"]) == (line["se"], line["width"])
    assert "best split for all metrics" in remarks(report).values()


def test_what_is_left_out_is_said() -> None:
    cells = [("m", f"t{t}", 4, 1 + t % 3) for t in range(12)]
    report = piloted(Counts.from_cells(cells), "pass@1,pass@4")
    assert said(report)["unplanned-metrics"].startswith(
        "the plan leaves out pass@4 of m: every task"
    )
    counts = Counts.from_cells([("m", f"t{t}", 3, t % 4) for t in range(60)])
    few = passk_cli.plan(counts).report
    assert {r["metric"] for r in rows(few)} == {"pass@1", "pass@3", "pass^3"}
    assert "planned only for k = 1 and 3 of 1, 2, 3" in " · ".join(few.make_full_context())
    assert remarks(few, "Designs for pass@3")["60 × 1"] == "n=1 < k=3"


def test_pictures_say_what_they_rest_on_and_show_nothing_impossible() -> None:
    report = assumed(tasks=(3, 100), attempts=(1,))
    (plot,) = report.plots
    assert "Beta success rates: mean 0.6, standard deviation 0.3" in plot.subtitle
    assert "correlation assumed 0.5" in plot.subtitle
    assert [point["x"] for point in plot.points] == [3, 100, 1263]
    assert all(row["y"] is None or row["y"] <= 1 for row in (*plot.rows, *plot.points))


def test_short_tasks() -> None:
    counts = Counts.from_cells(
        [("m", "a", 4, 1), ("m", "b", 4, 4), ("m", "c", 2, 1), ("m", "d", 4, 0)]
    )
    empty = piloted(counts, "pass@1,pass@4")
    assert {r["metric"] for r in rows(empty)} == {"pass@1"}
    assert "n=2 < k=4 on 1 of 4 tasks" in said(empty)["unplanned-metrics"]
    dropped = piloted(counts, "pass@1,pass@4", "drop", tasks=(10,), attempts=(4,))
    assert (dropped.signature["short-tasks"], "short-tasks" in empty.signature) == ("drop", False)
    actual = {str(r["metric"]): r["se"] for r in rows(dropped, fact="design")}
    assert actual["pass@4"] == pytest.approx(math.sqrt(1 / 3 / 10))


def test_tasks_that_differ_no_more_than_luck() -> None:
    counts = Counts.from_cells([("m", t, 4, 2 if t < "d" else 1) for t in "abcd"])
    report = piloted(counts, "pass@1")
    assert said(report)["no-spread"].startswith("pass@1: tasks of the pilot differ only by chance")


def test_rough_predictions_are_called_so() -> None:
    report = assumed("pass@1,pass@10", tasks=(20, 400), attempts=(10,))
    assert said(report)["rough-power"].endswith("approximate below 50 tasks")
    assert "power is rough: pass@10 near 0 or 1" in " · ".join(report.make_full_context())
    near = said(assumed("pass@10,pass@1", tasks=(400,), attempts=(10,)))
    assert near["rough-power"].endswith("approximate if pass@10 is near 0 or 1")
    assert "rough-power" not in said(assumed(tasks=(400,), attempts=(10,)))


def test_the_chart_holds_the_design_that_the_answer_names() -> None:
    report = assumed("pass@10,pass@1")
    (plot,) = report.plots
    assert plot.title == "pass@10: smallest difference detected with power 0.8"
    assert not plot.has_roles("panel")
    (row,) = rows(report, fact="design", metric="pass@10", tasks=50, n_max=20)
    points = {(point["x"], point["series"]): point["y"] for point in plot.points}
    assert points[50, "20 attempts"] == row["difference"]
    across, down = plot.reference_lines
    assert down.text.removeprefix("5 points: ") in answer(report)
    # The rules cross on the line of its attempts.
    required_values = rows(report, fact="detect", metric="pass@10")
    assert down.x in {row["tasks"] for row in required_values}
    attempts = down.text.split(" × ")[1]
    assert points[down.x, attempts] == pytest.approx(across.y, abs=0.001)
    assert not assumed("pass@10", tasks=(50,), attempts=(1,)).plots


@pytest.mark.parametrize(
    ("aims", "message"),
    [
        ({"power": 0.05}, "--power 0.05: the power must be above 0.05"),
        ({"cost_per_attempt": 0.0}, "--cost-per-attempt 0"),
        ({"budget": math.inf}, "--budget inf"),
    ],
)
def test_aims_that_make_no_sense(aims: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        PlanRunner(**aims).check()


@pytest.mark.parametrize("text", ["1", "50,", "x", "2.5", "²", "-3", "10000000000"])
def test_sizes(text: str) -> None:
    with pytest.raises(ParameterError, match="--tasks"):
        parse_tasks([text])
    assert (parse_tasks([800, 50]), parse_attempt_counts(["1,10", "1"])) == ((50, 800), (1, 10))


def small_pilot(seed: int) -> Counts:
    """Two models, 15 tasks of three difficulties, 5 attempts: hardly enough for a correlation."""
    rng = np.random.default_rng(seed)
    return Counts.from_cells(
        [(m, f"t{t:02d}", 5, int(rng.binomial(5, 0.5 + 0.1 * (t % 3)))) for m in "ab"
         for t in range(15)]
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, *long_cases(1, 2)])
def test_no_impossible_correlation_or_spread(seed: int) -> None:
    report = piloted(small_pilot(seed), "pass@1,pass@2,pass@4,pass^2,pass^4")
    used = {str(r["metric"]): (r["correlation"], r["correlation_source"]) for r in rows(report)}
    for correlation, source in used.values():
        assert (source == "unknown") == (correlation is None)
        assert correlation is None or -1.0 <= float(str(correlation)) <= 1.0
    for row in table(report, "Assumptions of the plan"):
        m, spread = float(str(row["mean"])), float(str(row["standard deviation"]))
        assert spread <= math.sqrt(m * (1 - m)) + 1e-12


def test_models_that_are_alike_need_few_tasks_and_both_ends_are_said() -> None:
    """The same rates, which a correlation of 0.5 would plan several times too many tasks for."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 1, 60)
    cells = [(m, f"t{t:02d}", 6, int(rng.binomial(6, p[t]))) for m in "ab" for t in range(60)]
    report = piloted(Counts.from_cells(cells), "pass@1,pass@3")
    assert report.signature["correlation"] == "measured"
    (row,) = (r for r in rows(report, fact="detect", metric="pass@1") if r["n_min"] == 6)
    luck = 2 * float((p * (1 - p)).mean()) / 6
    assert 0.7 < float(str(row["tasks"])) / (luck * (2.8 / 0.05) ** 2) < 1.7
    assert "to detect 5 points, you need" in said(report)["uncertain-correlation"]


def test_tasks_that_are_all_or_nothing_have_the_largest_spread() -> None:
    """The unbiased estimate is T/(T − 1) · ¼, which no true values have."""
    counts = Counts.from_cells([("m", f"t{t:02d}", 4, 4 * (t % 2)) for t in range(20)])
    report = piloted(counts, "pass@1")
    (row,) = table(report, "Assumptions of the plan")
    assert (row["mean"], row["standard deviation"]) == (0.5, 0.5)
    assert "mean 0.5, standard deviation 0.5" in " · ".join(report.make_full_context())
    assert "largest-spread" in said(report)


def test_one_attempt_of_two_models_knows_differences_without_a_correlation() -> None:
    cells = [(m, f"t{t}", 1, int(t % 3 > i)) for i, m in enumerate("ab") for t in range(9)]
    report = piloted(Counts.from_cells(cells), "pass@1", tasks=(90,), attempts=(1,))
    (row,) = rows(report, fact="design")
    assert (row["correlation"], row["correlation_source"]) == (None, "unknown")
    assert row["difference"] is not None
    assert "one-attempt-pilot" in said(report)
    assert report.signature["correlation"] == "unknown"


def answer(report: Report) -> str:
    return said_in_words(report, Style())


def test_the_answer_is_a_design_and_what_the_difference_needs() -> None:
    counts = read(TAU)
    assert answer(piloted(counts, "pass@1,pass@4")) == (
        "To detect 5 points in pass@1 (power 0.8), you need 554 tasks × 4 attempts per model."
    )
    assert answer(piloted(counts, "pass@1", tasks=(200,))) == (
        "200 tasks × 4 attempts detect 8.4 points in pass@1 (power 0.8)."
        " To detect 5 points, you need 554 tasks × 4 attempts per model."
    )
    best = answer(assumed("pass@10,pass@1", budget=2000))
    assert best.startswith("Best split of 2,000 attempts per model: 200 tasks × 10 attempts detect")
    assert "too few for pass@5" in answer(assumed("pass@5", budget=9))
    assert "3 tasks × 1 attempt detect no difference in pass@1" in answer(
        assumed(tasks=(3,), attempts=(1,), power=0.99)
    )
    assert "No design detects 30 points in pass@10: two models with means of 0.9375" in answer(
        assumed("pass@10", detect=0.3, attempts=(10,))
    )
    assert answer(assumed("pass@10", attempts=(1,))) == (
        "passk cannot compute a standard error of pass@10 for any design: n=1 < k=10."
    )
    single = piloted(Counts.from_cells([("m", t, 1, t > "b") for t in "abcd"]), "pass@1")
    assert "give pass@1 a standard error of" in answer(single)
    assert "This pilot is not enough to plan a test of differences." in answer(single)


COMMANDS: dict[str, list[object]] = {
    "plan": ASSUMED,
    "plan-pair": ["plan", CRUX, "--where", "temperature < 0.5", "-k", "1,5", "--percent"],
    "plan-money": ["plan", TAU, "-k", "1", "--budget", "100", "--cost-per-attempt", "0.25",
                   "--max-tasks", "115", "--detect", "0.1", "--power", "0.9",
                   "--correlation", "0.7"],
    "plan-csv": [*ASSUMED, "-m", "pass@1,pass^5", "--tasks", "100", "--attempts", "1,5",
                 "-f", "csv"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_tables_show_the_rows(passk: Passk) -> None:
    printed = passk(*ASSUMED, "--full").out
    for row in records(passk(*ASSUMED, "-f", "csv").out):
        if row["fact"] == "design" and row["difference"]:
            se, width = (f"{float(row[name]):.3f}" for name in ("se", "width"))
            size = f"{int(row['tasks']):,} × {row['n_min']}"
            assert re.search(f"^{size} .* {se} .* points +{width}", printed, flags=re.M)


def test_a_pilot_of_several_models_fits_a_terminal() -> None:
    report = passk_cli.plan(CRUX, where="temperature < 0.5").report
    for width in (80, 200):
        printed = load_object(WRITER_BY_FORMAT["table"])(report, Style(terminal_width=width))
        assert max(len(line) for line in printed.splitlines()) <= width
        assert "…" not in printed
    assert "deepseek-base-6.7b − gpt-4-0613" in load_object(WRITER_BY_FORMAT["table"])(
        report, Style(full=True)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to plan from; give the FILE of a pilot"),
        (["--mean", "0.6"], "nothing to plan from"),
        ([TAU, "--mean", "0.6"], "a mean and a spread are only for plans without a pilot"),
        (["--mean", "0.6", "--spread", "0.5"], "and 0.4899 (all rates are 0 or 1); got 0.5"),
        (["--mean", "0", "--spread", "0"], "must be above 0 and below 1"),
        ([*ASSUMED[1:], "--correlation", "2"], "--correlation 2: the value must be at most 1"),
        (
            [*ASSUMED[1:], "--level", "1"],
            "--level 1: the value must be above 0 and below 1, for example 0.95",
        ),
        (
            [*ASSUMED[1:], "--detect", "1"],
            "--detect 1: the value must be above 0 and below 1, for example 0.05",
        ),
        (
            [CRUX, "--by", "temperature", "--correlation", "0.5"],
            "passk computes the correlation",
        ),
        ([*ASSUMED[1:], "--tasks", "1"], "whole numbers from 2"),
        ([*ASSUMED[1:], "--attempts", "1,x"], "whole numbers from 1"),
        ([*ASSUMED[1:], "-k", "0"], "write a whole number"),
        ([*ASSUMED[1:], "-m", " "], "--metric: the value is empty"),
        ([*ASSUMED[1:], "--where", "x = 1"], "without a pilot, there is nothing to read"),
        ([*ASSUMED[1:], "--short-tasks", "drop"], "without a pilot"),
        ([*ASSUMED[1:], "-m", "maj@3"], "use a metric of passes and failures"),
        ([TAU, "-m", "mean"], "use a metric of passes and failures"),
        ([*ASSUMED[1:], "--chart", "x.gif"], "passk draws no pictures with this suffix"),
        ([TAU, "-k", "10"], "pass@10 needs 10 attempts per task"),
        (["missing.csv"], "missing.csv"),
    ],
)
def test_refused_in_one_line(passk: Passk, arguments: list[object], message: str) -> None:
    result = passk("plan", *arguments)
    assert result.out == ""
    assert result.code in (2, 3)
    assert message in result.err
    assert result.sentences == 1


def test_errors_have_names(passk: Passk) -> None:
    assert "error[no-pilot]" in passk("plan").err
    assert "error[contradicting-options]" in passk("plan", TAU, "--mean", "0.6").err
    assert "error[unknown-metric]" in passk("plan", TAU, "-m", "maj@3").err


def test_a_pilot_from_python() -> None:
    findings = passk_cli.plan(TAU, "pass@1", budget=100)
    assert findings.signature["budget"] == 100
    assert findings.frame.query("fact == 'split'").tasks.tolist() == [100]
    assert "gpt-4o: mean 0.42, standard deviation 0.32" in " · ".join(
        findings.report.make_full_context()
    )


def test_without_a_pilot_from_python(passk: Passk) -> None:
    options = ["-m", "pass@1", "--tasks", "200,800", "--attempts", "1,10", "-f", "csv"]
    findings = passk_cli.plan(metrics="pass@1", mean=0.6, spread=0.3, tasks=[200, 800],
                              attempts=(1, 10))  # fmt: skip
    printed = records(passk(*ASSUMED, *options).out)
    assert findings.frame.se.tolist() == [float(row["se"]) for row in printed]
    assert set(findings.frame.model) == {""}
    assert (findings.signature["mean"], findings.signature["correlation"]) == (0.6, "assumed 0.5")
    for values, message in (
        ({}, "give the FILE of a pilot; mean=0.6, spread=0.3 assumes success rates"),
        ({"mean": 0.6, "spread": 0.3, "by": "x"}, "without a pilot, there is nothing to read"),
        ({"mean": 0.6, "spread": 0.3, "power": 0.01}, "power=0.01: the power must be above 0.05"),
    ):
        with pytest.raises(passk_cli.ParameterError, match=re.escape(message)):
            passk_cli.plan(**values)


def _clustered_rows(clusters: int) -> dict[str, list[object]]:
    """Clusters of 3 tasks that share most of their rate, four attempts each."""
    rng = np.random.default_rng(7)
    columns: dict[str, list[object]] = {"task": [], "repo": [], "n": [], "c": []}
    for repo in range(clusters):
        shared = rng.beta(0.7, 0.7)
        for task in range(3):
            rate = float(np.clip(shared + rng.normal(0, 0.1), 0, 1))
            row = (f"{repo}/{task}", f"r{repo}", 4, int(rng.binomial(4, rate)))
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    return columns


def test_the_pilots_own_design_has_its_clustered_standard_error() -> None:
    pilot = _clustered_rows(20)
    own_values = passk_cli.estimate(pilot, k=[1], cluster="repo", interval="t").frame
    plan = passk_cli.plan(pilot, k=[1], cluster="repo", tasks=[60], attempts=[4])
    frame = plan.frame
    planned = frame[(frame["tasks"] == 60) & (frame["n_min"] == 4)]["se"].iloc[0]
    assert planned == pytest.approx(own_values["se"].iloc[0], rel=1e-9)
    assert plan.signature["cluster"] == "repo"
    assert said(plan.report)["clustered-pilot"].startswith("because tasks with the same repo")
    assert re.search(
        r"uncertain by ±.* \(20 clusters\)", " · ".join(plan.report.make_full_context())
    )


def test_clusters_of_one_task_change_nothing_and_one_cluster_says_nothing(passk: Passk) -> None:
    names = list("abcdefghijklmnop")
    pilot = {"task": names, "n": [4] * 16, "c": [0, 1, 2, 4] * 4, "repo": names}
    single = passk_cli.plan(pilot, k=[1])
    separate = passk_cli.plan(pilot, k=[1], cluster="repo")
    assert separate.frame["se"].tolist() == pytest.approx(single.frame["se"].tolist(), rel=1e-12)
    with pytest.raises(passk_cli.ParameterError, match="one cluster does not show how clusters"):
        passk_cli.plan({**pilot, "repo": ["u"] * 16}, k=[1], cluster="repo")
    assert passk(*ASSUMED, "--cluster", "repo").code == 2


def test_the_most_tasks_are_a_number_or_those_of_the_pilot(passk: Passk) -> None:
    pilot = {"task": list("abcdefghijklmnop"), "n": [4] * 16, "c": [0, 1, 2, 4] * 4}
    limited = passk_cli.plan(pilot, k=[1], budget=640, max_tasks="pilot")
    assert limited.signature["max-tasks"] == 16
    best = [
        size for size, remark in remarks(limited.report).items() if remark.startswith("best split")
    ]
    assert [size.split(" × ")[0] for size in best] == ["16"]
    split = limited.frame[limited.frame["fact"] == "split"]
    assert split["tasks"].tolist() == [16]
    assert str(passk_cli.plan(pilot, k=[1], budget=640, max_tasks=16)) == str(limited)
    for values, problem in (("pilot", "there is no pilot; give the FILE"), ("1", "at least 2"),
                           ("x", "write a whole number")):  # fmt: skip
        refused = passk(*ASSUMED, "--max-tasks", values)
        assert (refused.code, f"--max-tasks {values}: " in refused.err) == (2, True)
        assert problem in refused.err


def test_too_many_models_for_pairs(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_MODEL_DIFFERENCES", 2)
    models = (f"m{i},t{t},4,{(i + t) % 3 + 1}" for i in range(3) for t in range(4))
    (tmp_path / "p.csv").write_text("model,task,n,c\n" + "\n".join(models))
    result = passk("plan", tmp_path / "p.csv", "-k", "1")
    words = "3 models have 3 pairwise differences, but passk compares at most 2"
    assert (result.code, words in result.err) == (2, True)


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_the_cost_of_the_pilot_s_attempts_makes_a_budget_money() -> None:
    costs = SAMPLES / "costs.csv"
    arguments = {"models": "claude-haiku-4-5-20251001", "k": 1, "budget": 20}
    findings = passk_cli.plan(costs, cost_per_attempt="pilot", **arguments)
    frame = findings.frame.query("fact == 'split'")
    spent = 6.5665476 / 24
    assert (frame["attempts_in_all"] <= 20 / spent).all()
    assert frame["cost"].to_numpy() == pytest.approx(frame["attempts_in_all"] * spent)
    limits = ["cost_low", "cost_high"]
    same = passk_cli.plan(costs, cost_per_attempt=spent, **arguments).frame
    assert same.drop(columns=limits).equals(findings.frame.drop(columns=limits))
    # Those of `cost`; a cost that is given has none.
    assert (same[limits].isna().all().all(), frame["cost_low"].lt(frame["cost"]).all()) == (1, 1)
    (sentence,) = [m["text"] for m in findings.messages if m["name"] == "pilot-cost"]
    assert sentence.startswith("an attempt of claude-haiku-4-5-20251001 cost $0.274 [")


def costing(*costs: float | None) -> list[dict[str, Any]]:
    """Nine tasks of three attempts, of which every second passes, with these costs in turn."""
    return [
        {"task": f"t{t}", "passed": (t + a) % 2 == 0, "cost": costs[t % len(costs)]}
        for t in range(9) for a in range(3)
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_budget_is_dollars_or_attempts_and_the_answer_says_which() -> None:
    priced = costing(0.1, 0.2, 0.6)
    bare = [{k: v for k, v in row.items() if k != "cost"} for row in priced]
    # By hand: every task counts once, (0.1 + 0.2 + 0.6) / 3.
    for budget in ("$20", "20 usd", 20, 20.0, "20"):
        plan = passk_cli.plan(priced, k=1, budget=budget)
        assert plan.signature["budget"] == "$20", budget
        assert str(plan).startswith("Best split of $20 per model at $0.300 an attempt (measured): ")
        assert plan.signature["cost"] == pytest.approx(0.3)
        assert ("money-budget" in said(plan.report)) == ("$" not in str(budget) != "20 usd")
    for data, budget in ((bare, 20), (bare, "20"), (priced, "20attempts"), (bare, "20 attempts")):
        plan = passk_cli.plan(data, k=1, budget=budget)
        assert plan.signature["budget"] == 20
        assert str(plan).startswith("Best split of 20 attempts per model: ")
    values = passk_cli.plan(bare, k=1, budget="$20", cost_per_attempt="$0.25")
    assert str(values).startswith("Best split of $20 per model at $0.25 an attempt: ")
    # 66 of 66.7 attempts; the mean of nine tasks is known to a range, which --full shows.
    split = passk_cli.plan(priced, k=1, budget=20).frame.query("fact == 'split'").iloc[0]
    assert split["left"] == pytest.approx(20 - 0.3 * split["attempts_in_all"])
    low, high = (split[f"cost_{end}"] / split["attempts_in_all"] for end in ("low", "high"))
    estimated = passk_cli.estimate(priced, metrics="cost").frame.iloc[0]
    assert (low, high) == pytest.approx((estimated["low"], estimated["high"]))
    details = " · ".join(passk_cli.plan(priced, k=1, budget=20).report.make_full_context())
    assert f"$20 pays for {int(20 / high)}–{int(20 / low)} attempts" in details


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_what_a_budget_leaves_is_said() -> None:
    left = [remark for remark in remarks(assumed("pass@5", budget="253 attempts")).values()
            if "left" in remark]  # fmt: skip
    assert left == ["best split, 3 attempts left"]
    money = remarks(assumed("pass@5", budget="$12.60", cost_per_attempt=0.05))
    assert money["50 × 5"] == "best split, $0.10 left"
    assert (
        remarks(assumed("pass@5", budget="$12.50", cost_per_attempt=0.05))["50 × 5"] == "best split"
    )
    short = answer(assumed("pass@5", budget="$0.40", cost_per_attempt=0.1))
    assert short.startswith("$0.40 pays for 4 attempts: too few for pass@5")


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (costing(0.0), {"budget": 20}, "cost 0, probably because the price"),
        (costing(0.0), {"budget": 20}, 'budget="20attempts" means attempts'),
        (costing(0.0), {"cost_per_attempt": "pilot"}, 'cost_per_attempt="pilot": attempts of'),
        (costing(0.1, None), {"budget": 20}, 'no cost .*missing_cost="drop".*"20attempts"'),
        (costing(0.1, None), {"budget": 20, "missing_cost": "bounds"}, "lack their cost"),
        (
            costing(0.1),
            {"budget": 0.05},
            "the budget must pay for 1 to 10¹² attempts; an attempt costs",
        ),
        (str(TAU), {"budget": "$20"}, "no cost column"),
        (None, {"budget": "$20", "mean": 0.6, "spread": 0.2}, "without a pilot, the cost of an"),
        (
            None,
            {"budget": 0.5, "mean": 0.6, "spread": 0.2},
            "the budget must pay for 1 to 10¹² attempts",
        ),
        (None, {"budget": "00"}, r"write dollars as '\$200' \(a shell needs"),
        (None, {"budget": "$5 attempts"}, "attempts as 200attempts"),
    ],
)
def test_budgets_that_are_refused(data: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message):
        passk_cli.plan(data, k=1, **given)


def test_a_pipe_with_costs_is_asked_for_the_unit(passk: Passk) -> None:
    piped = (SAMPLES / "costs.csv").read_bytes()
    result = passk("plan", "-", "-k", "1", "--budget", "20", stdin=piped)
    assert (
        "comes from a pipe\n  | passk plan - -k 1 --budget 20usd  # means dollars\n" in result.err
    )


def test_what_to_run_next_by_the_variance_of_what_is_there() -> None:
    """Against the formula, with variances computed here: (σ_b² + σ_w² / n) / T."""
    draw = np.random.default_rng(4)
    p = draw.beta(2, 2, 60)
    c = draw.binomial(6, p)
    counts = Counts.from_cells([("m", f"t{i}", 6, int(x)) for i, x in enumerate(c)])
    actual = passk_cli.plan(counts, next=True, k=1)
    within = float((c * (6 - c) / 6 / 5).mean())
    between = float((c / 6).var(ddof=1)) - within / 6
    expected = {
        "nothing more": (60, 6, 0, (between + within / 6) / 60),
        "new tasks": (120, 6, 360, (between + within / 6) / 120),
        "attempts": (60, 12, 360, (between + within / 12) / 60),
    }
    for row in actual.frame.to_dict("records"):
        tasks, n, more, variance = expected.pop(row["next"])
        assert (row["tasks"], row["n_min"], row["attempts_in_all"]) == (tasks, n, more)
        assert row["se"] == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert not expected
    assert str(actual).startswith(
        "The best next step is to add 60 new tasks (360 attempts). The standard error of pass@1"
    )
    assert [message.name for message in actual.messages if "never" in message.text] == [
        "tasks-by-outcomes"
    ]


def test_the_cheaper_model_is_run_on_where_it_narrows_more(passk: Passk) -> None:
    words = ("plan", SAMPLES / "costs.csv", "--next", "-k", 1, "-f", "csv")
    own_values = records(passk(*words, "--budget", "20usd").out)
    order = [row["next"] for row in own_values]
    assert order[:2] == ["nothing more", "new tasks"]
    assert order[2] == "attempts of claude-haiku-4-5-20251001"
    assert all(0 < float(row["cost"]) <= 20 for row in own_values[1:])
    assert [float(row["se"]) for row in own_values[1:]] == sorted(
        float(row["se"]) for row in own_values[1:]
    )
    result = passk(*words[:-2], "--budget", "1attempts")
    assert result.out.startswith("The budget is too small for a new task or for one more attempt")


def test_shares_may_be_percentages(passk: Passk) -> None:
    assumed = ["plan", "--mean", "0.5", "--spread", "0.3"]
    shares = passk(*assumed, "--detect", "0.04", "--power", "0.9")
    assert passk(*assumed, "--detect", "4%", "--power", "90%").out == shares.out
    assert "the value must be above 0 and below 1" in passk(*assumed, "--detect", "400%").err


def test_the_uncertainty_of_a_plan_is_that_of_the_metric_of_its_answer() -> None:
    """One task of sixty fails all: pass@4 rests on it alone, and pass@1 does not."""
    cells = [("m", f"t{i:02d}", 4, 0 if i == 0 else 1 + i % 4) for i in range(60)]
    counts = Counts.from_cells(cells)
    assert "uncertain-plan" not in said(piloted(counts, "pass@1,pass@4"))
    words = said(piloted(counts, "pass@4,pass@1"))["uncertain-plan"]
    assert "60 tasks in the pilot, planned standard errors of pass@4 are uncertain by ±" in words
    full = " · ".join(piloted(counts, "pass@1,pass@4").make_full_context())
    assert re.search(r"uncertain by ±\S+ % \(60 tasks\), of pass@4 by ±\S+ %", full)
