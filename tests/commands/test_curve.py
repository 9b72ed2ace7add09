"""Curves as reports: equal to estimate, monotone, every absence with its reason."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passk_cli
from passk_cli.commands.curve.curves import KGrid, round_numbers_up_to
from passk_cli.commands.curve.view import CurveRunner
from passk_cli.commands.estimate.view import EstimateRunner
from passk_cli.commands.runner import SharedOptions
from passk_cli.errors import ParameterError, PasskWarning
from passk_cli.files.exact_rates import TasksWithExactRates
from passk_cli.files.request import Request
from passk_cli.metrics.pass_k import pass_at_and_hat_curves
from passk_cli.metrics.registry import Metric
from passk_cli.option import fill_options
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions

NONE = Confidence("none")
Row = dict[str, Any]


def report_of(
    counts: Counts, confidence: Confidence, curve: CurveRunner, short_tasks: str = "empty"
) -> Report:
    return curve.report(Analysis(counts, (), confidence, short_tasks=short_tasks))


def rows(report: Report) -> list[Row]:
    names = [column.header for column in report.data_table.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data_table.rows]


def of(report: Report, model: str, start: str) -> list[Row]:
    return [
        r for r in rows(report)
        if r["model"] == model and r["metric"].startswith(start) and "-" not in r["metric"]
    ]  # fmt: skip


def simulated(tasks: int = 30, n: int = 12, models: int = 2, seed: int = 0) -> Counts:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 0.6, tasks)
    return Counts.from_cells(
        [
            (f"m{m}", f"t{t:03d}", n, int(rng.binomial(n, p[t] ** (1 + m))))
            for m in range(models)
            for t in range(tasks)
        ]
    )


def clustered(counts: Counts) -> Counts:
    return counts.with_clusters({t: str(int(t[1:]) // 4) for t in counts.tasks})


@pytest.mark.parametrize(
    ("how", "clusters"),
    [
        (Confidence(), False),
        (Confidence("bca", 0.9), False),
        (Confidence(cluster="yes"), True),
        (Confidence("none", cluster="yes"), True),
        (NONE, False),
        (Confidence(population="these-tasks"), False),
        (Confidence("none", population="these-tasks"), False),
    ],
    ids=str,
)
def test_equal_to_estimate_at_every_k(how: Confidence, clusters: bool) -> None:
    counts = clustered(simulated()) if clusters else simulated()
    metrics = [Metric(family, k) for family in ("pass@", "pass^") for k in range(1, 13)]
    estimates = EstimateRunner().report(Analysis(counts, tuple(metrics), how))
    expected = {(r["model"], r["metric"]): r for r in rows(estimates)}
    actual = rows(report_of(counts, how, CurveRunner()))
    for key, first in expected.items():
        [mine] = [r for r in actual if (r["model"], r["metric"]) == key]
        assert mine["tasks"] == first["tasks"]
        assert mine["note"] == first["note"]
        for name in ("estimate", "se", "low", "high"):
            wish = None if first[name] is None else pytest.approx(first[name], rel=1e-10, abs=1e-13)
            assert mine[name] == wish, (key, name)


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 10**6))
def test_monotone(n: int, tasks: int, seed: int) -> None:
    report = report_of(simulated(tasks, n, 1, seed), NONE, CurveRunner(points="all"))
    at, hat = ([r["estimate"] for r in of(report, "m0", f"pass{sign}")] for sign in "@^")
    assert len(at) == len(hat) == n
    assert np.all(np.diff(at) >= -1e-13)
    assert np.all(np.diff(hat) <= 1e-13)
    assert at[0] == pytest.approx(hat[0], rel=1e-15)


def test_which_k() -> None:
    assert round_numbers_up_to(1000) == [1, 2, 5, 10, 100, 1000]
    assert round_numbers_up_to(1) == [1]
    assert KGrid().ks_up_to(40).tolist() == list(range(1, 41))
    spread = KGrid().ks_up_to(10_000)
    assert set(round_numbers_up_to(10_000)) <= set(spread.tolist())
    assert 35 <= len(spread) <= 45
    assert len(KGrid(None).ks_up_to(10_000)) == 10_000
    with pytest.raises(ParameterError, match="at most 100,000 values of k; got"):
        KGrid(None).ks_up_to(10**7)


def test_curves_end_at_the_smallest_n_or_go_on_without_short_tasks() -> None:
    counts = Counts.from_cells([("m", "a", 3, 1), ("m", "b", 5, 5), ("m", "c", 5, 2)])
    report = report_of(counts, Confidence(), CurveRunner())
    assert [r["k"] for r in of(report, "m", "pass@")] == [1, 2, 3]
    [messages] = report.messages
    assert (messages.name, messages.fields["k"], messages.fields["most"]) == ("short-curve", 3, 5)
    report = report_of(counts, Confidence(), CurveRunner(delta=True), "drop")
    actual = of(report, "m", "pass@")
    assert [(r["k"], r["tasks"]) for r in actual] == [(1, 3), (2, 3), (3, 3), (4, 2), (5, 2)]
    at, _ = pass_at_and_hat_curves(np.array([5, 5]), np.array([5, 2]), 5)
    assert actual[-2]["estimate"] == pytest.approx(at[:, 3].mean())
    assert [messages.name for messages in report.warnings] == ["changing-tasks"]
    report = report_of(counts, Confidence(), CurveRunner(max_k=2))
    assert [r["k"] for r in of(report, "m", "pass@")] == [1, 2]
    assert not report.messages
    with pytest.raises(ParameterError, match="no task has more than 5"):
        report_of(counts, Confidence(), CurveRunner(max_k=6))


def test_the_answer_about_short_tasks_is_about_the_same_tasks() -> None:
    easy, hard = ([(m, f"{kind}{t}", n, 4 if kind == "easy" else 1 + t % 2) for t in range(10)]
                  for m, kind, n in (("m", "easy", 4), ("m", "hard", 10)))  # fmt: skip
    first = report_of(Counts.from_cells([*easy, *hard]), Confidence(), CurveRunner(), "drop")
    sentence = first.answer[0]
    assert (sentence.name, sentence.fields["tasks"], sentence.fields["change"]) == (
        "curve-of-fewer-tasks", 10, 1,
    )  # fmt: skip
    assert sentence.fields["first"].value == pytest.approx(0.15)
    [table, *_] = first.tables
    row = dict(zip([c.header for c in table.columns], table.rows[0], strict=True))
    assert row["tasks at k = 10"] == 10
    [plot, *_] = first.plots
    assert [(rule.x, rule.text) for rule in plot.reference_lines] == [(4, "beyond: 10 of 20 tasks")]
    assert [row["x"] for row in plot.rows if row["y"] is None] == [5, 5]
    # Of models none of whose long tasks is shared, it is about the k before; and so in estimate.
    moved = [("w", task, 14 - n, c) for _, task, n, c in (*easy, *hard) if n == 4]
    moved += [("w", task, 4, c) for _, task, n, c in hard]
    counts = Counts.from_cells([*easy, *hard, *moved])
    several = report_of(counts, Confidence(), CurveRunner(), "drop")
    assert (several.answer[0].name, several.answer[0].fields) == (
        "no-task-with-attempts", {"k": 10},
    )  # fmt: skip
    fields = several.answer[1].fields
    assert (fields["metric"], fields["start"], fields["k"]) == ("pass@k", 1, 4)
    # The gain in the table is of fewer tasks than pass@1 beside it.
    assert "gain 1 → 10: on the tasks with n ≥ 10" in several.context
    # What the headline is about is there as well.
    headers = [column.header for column in several.tables[0].columns]
    assert headers[1:9] == [
        "pass@1", "pass@2", "pass@4", "pass@5", "pass@10", "gain 1 → 4", "gain 1 → 10", "pass^10"
    ]  # fmt: skip
    full = report_of(counts, Confidence(), CurveRunner())
    assert "gain" not in " ".join(map(str, full.context))
    study = Analysis(counts, (Metric("pass@", 10),), Confidence(), short_tasks="drop")
    sentence = EstimateRunner().report(study).answer
    assert "no-task-with-attempts" in [sentence.name for sentence in sentence]


def test_what_is_missing_says_why() -> None:
    counts = simulated(tasks=4, n=8, models=1)
    for how in (Confidence(), Confidence(population="these-tasks")):
        report = report_of(counts, how, CurveRunner(delta=True))
        for r in rows(report):
            if r["estimate"] is None or (r["low"] is None and r["interval"] != "none"):
                assert r["note"], r["metric"]
    assert [r["k"] for r in of(report, "m0", "delta_") if r["low"] is None] == []
    new = report_of(counts, Confidence(), CurveRunner(delta=True))
    assert [r["k"] for r in of(new, "m0", "deficit_") if r["estimate"] is None] == [5, 6, 7, 8]
    [messages] = [messages for messages in new.messages if messages.name == "no-even-tasks"]
    assert messages.text == (
        "Δ_k and the deficit are empty from k = 5 on: μ^k needs k different tasks; there are 4"
    )


def test_simultaneous_bands_are_wider_and_say_how() -> None:
    counts = simulated()
    plain, band = (
        report_of(counts, Confidence(), CurveRunner(band=name))
        for name in ("pointwise", "simultaneous")
    )
    for first, second in zip(rows(plain), rows(band), strict=True):
        if first["metric"].startswith("pass") and "-" not in first["metric"]:
            assert (second["level"], first["pointwise_level"]) == (0.95, 0.95)
            assert 0.96 < second["pointwise_level"] < 0.998
            assert second["estimate"] == first["estimate"]
            assert second["low"] <= first["low"] <= first["high"] <= second["high"]
    assert any("each k: 9" in str(part) for part in band.context)
    assert not any("simultaneous" in str(part) for part in plain.context)
    assert " · ".join(plain.make_full_context()) == "pointwise intervals"
    assert band.signature["resamples"] == 10_000
    assert "resamples" not in plain.signature


def test_gains_and_where_they_come_from() -> None:
    c = [0, 10, 10, 10, 4, 10]
    counts = Counts.from_cells([("m", f"t{i}", 10, x) for i, x in enumerate(c)])
    report = report_of(counts, Confidence(), CurveRunner())
    [gain] = [r for r in rows(report) if r["metric"] == "pass@10-pass@1"]
    assert gain["estimate"] == pytest.approx((1 - 0.4) / 6)
    assert 0 <= gain["low"] < gain["estimate"] < gain["high"] <= 1
    # Fewer than ten tasks: what ten equally hard ones would gain has no unbiased estimator.
    [even] = [r for r in rows(report) if r["metric"].startswith("pass@10-pass@1 if all tasks")]
    assert (even["estimate"], bool(even["note"])) == (None, True)
    visibility = dict(
        zip((c.header for c in report.tables[0].columns), report.tables[0].rows[0], strict=True)
    )
    assert visibility["gain 1 → 10"].low == gain["low"]
    assert visibility["passed every attempt"].value == pytest.approx(4 / 6)
    assert visibility["failed every attempt"].value == pytest.approx(1 / 6)
    assert {r["metric"]: r["estimate"] for r in rows(report)}["always"] == pytest.approx(4 / 6)


def test_the_gain_of_equally_hard_tasks() -> None:
    rng = np.random.default_rng(3)
    c = rng.binomial(20, 0.3, 400)
    counts = Counts.from_cells([("m", f"t{i}", 20, int(x)) for i, x in enumerate(c)])
    actual = {r["metric"]: r["estimate"] for r in rows(report_of(counts, NONE, CurveRunner()))}
    expected = 1 - 0.7**10 - 0.3
    even = "pass@10-pass@1 if all tasks were equally hard"
    assert actual[even] == pytest.approx(expected, abs=0.02)
    assert actual["pass@10-pass@1"] == pytest.approx(expected, abs=0.02)


def test_a_gain_from_the_first_to_the_last_k_has_an_interval() -> None:
    report = report_of(simulated(n=20), Confidence(), CurveRunner())
    gains = [r for r in rows(report) if r["metric"] == "pass@20-pass@1"]
    at = {(r["model"], r["metric"]): r["estimate"] for r in rows(report)}
    for gain in gains:
        model = gain["model"]
        assert gain["estimate"] == pytest.approx(at[model, "pass@20"] - at[model, "pass@1"])
        assert gain["low"] < gain["estimate"] < gain["high"]
    [place] = [i for i, c in enumerate(report.tables[0].columns) if c.header == "gain 1 → 20"]
    assert [row[place].low for row in report.tables[0].rows] == [gain["low"] for gain in gains]


def test_no_gain_from_one_attempt() -> None:
    first = report_of(Counts.from_cells([("m", "a", 1, 1), ("m", "b", 1, 0)]), NONE, CurveRunner())
    assert not [r for r in rows(first) if "-" in r["metric"]]
    assert not [c for c in first.tables[0].columns if c.header.startswith("gain")]


def test_models_with_different_attempts_are_compared_at_the_k_they_share() -> None:
    cells = [("a", f"t{i}", 4, i % 5) for i in range(5)]
    cells += [("b", f"t{i}", 8, i) for i in range(5)]
    report = report_of(Counts.from_cells(cells), Confidence(), CurveRunner())
    headers = [column.header for column in report.tables[0].columns]
    assert headers[1:6] == ["pass@1", "pass@2", "pass@4", "gain 1 → 4", "pass^4"]
    assert {r["k"] for r in of(report, "b", "pass@")} == set(range(1, 9))
    assert all(row[4].low < row[4].value < row[4].high for row in report.tables[0].rows)


def test_exact_rates_and_data_are_told_alike() -> None:
    """With very many attempts the curves of data are those of the rates behind them."""
    p = np.array([0.07, 0.715, 0.715, 0.07, 0.715, 0.715])
    n = 1_000_000
    counts = Counts.from_cells([("m", f"t{i}", n, round(x * n)) for i, x in enumerate(p)])
    plan = CurveRunner(max_k=6, delta=True)
    these_tasks = Confidence("none", population="these-tasks")
    actual = {r["metric"]: r["estimate"] for r in rows(report_of(counts, these_tasks, plan))}
    report = plan.exact_report([TasksWithExactRates("m", p)])
    exact = {r["metric"]: r["estimate"] for r in rows(report)}
    assert actual.keys() == exact.keys()
    for name, value in exact.items():
        assert actual[name] == pytest.approx(value, abs=2e-5), name


def test_exact_rates_have_no_intervals() -> None:
    report = CurveRunner(delta=True).exact_report([TasksWithExactRates("f", np.array([0.2, 0.8]))])
    assert all(r["low"] is None and r["se"] is None for r in rows(report))
    assert "exact success rates, so no intervals" in report.context
    family = TasksWithExactRates("f", np.array([0.5]))
    for band, short in (("simultaneous", "empty"), ("pointwise", "drop")):
        with pytest.raises(ParameterError, match="this option needs outcomes"):
            CurveRunner((family,), band=band).report_without_data(asked(short))


def test_charts() -> None:
    counts = simulated(tasks=20, n=400, models=2)
    single = report_of(counts, NONE, CurveRunner(points="all"))
    (plot,) = single.plots
    values = plot.rows
    ks = {v["x"] for v in values}
    assert {1, 400} <= ks
    assert len(ks) <= 200
    assert {v["kind"] for v in values} == {"pass@k", "pass^k"}
    pair = report_of(counts, Confidence(), CurveRunner(points="8", delta=True))
    assert len(pair.plots) == 2
    assert all(plot.has_roles("low", "high") for plot in pair.plots)
    line = [row for row in pair.plots[1].rows if row["series"] == "m0"]
    assert line[0]["y"] == 0
    # Δ_k has no estimate beyond the number of tasks: the line ends there.
    assert all((v["y"] is None) == (v["x"] > 20) for v in line)


@pytest.mark.long
def test_another_model_changes_no_number_and_draws_depend_on_the_seed() -> None:
    plan = CurveRunner(band="simultaneous", delta=True)
    two, single = simulated(models=2), simulated(models=1)

    def numbers(counts: Counts, seed: int) -> list[Row]:
        report = report_of(counts, Confidence(seed=seed), plan)
        return [r for r in rows(report) if r["model"] == "m0"]

    first, second = numbers(single, 0), numbers(single, 1)
    assert first == numbers(single, 0)
    cells = [(two.series[s][0], two.tasks[t], int(n), int(c)) for s, t, n, c in zip(
        two.series_codes, two.task_codes, two.n, two.c, strict=True) if s == 0]  # fmt: skip
    assert numbers(two, 0) == numbers(Counts.from_cells(cells), 0)
    assert [a["metric"] for a, b in zip(first, second, strict=True) if a != b]
    assert not any(math.isnan(r["estimate"] or 0.0) for r in second)


def asked(short_tasks: str = "empty") -> SharedOptions:
    return SharedOptions(
        Request(), MetricOptions(short_tasks=short_tasks), Confidence(), ComparisonOptions()
    )


def test_bands_need_the_same_tasks_at_every_k() -> None:
    with pytest.raises(ParameterError, match="needs the same tasks"):
        CurveRunner(band="simultaneous").report_without_data(asked("drop"))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"band": "wide"}, "--band wide"), ({"points": "1"}, "--points 1"),
        ({"points": "²"}, "--points ²"), ({"max_k": "0"}, "--max-k 0"),
        ({"max_k": "9" * 23}, "--max-k 9"), ({"metrics": "best@2"}, "best@2: did you mean best@k"),
        ({"metrics": "mean"}, "write a curve like pass@k"),
    ],
)  # fmt: skip
def test_refusals(options: dict[str, str], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        fill_options(CurveRunner, options)


def test_python_gives_numbers_as_they_are() -> None:
    curve = fill_options(
        CurveRunner, {"points": 8, "rates": {"f": np.array([0.25, 1])}, "metrics": ["maj@k"]}
    )
    assert curve.grid == KGrid(8)
    assert [(first.name, first.success_rates.tolist()) for first in curve.rates] == [
        ("f", [0.25, 1])
    ]


@pytest.mark.parametrize(
    ("ks", "words"),
    [
        ([5], "pass@5 ranges from 0.500"),
        (
            [2, 4],
            "From 2 to 4 attempts, gains of pass@k range from +0.075 (b) to +0.100 (a); the",
        ),
        (
            [1, 5],
            "From 1 to 5 attempts, gains of pass@k range from +0.200 (b) to +0.250 (a); the",
        ),
    ],
)
def test_the_answer_is_about_the_k_that_are_asked(ks: list[int], words: str) -> None:
    data = {
        "model": ["a"] * 4 + ["b"] * 4,
        "task": ["t1", "t2", "t3", "t4"] * 2,
        "n": [5] * 8,
        "c": [0, 0, 2, 3, 0, 2, 4, 5],
    }
    assert str(passk_cli.curve(data, k=ks)).startswith(words)
    single = {name: values[4:] for name, values in data.items()}
    first, last = min(ks), max(ks)
    expected = f"pass@{first} of " if first == last else f"From {first} to {last} attempts of "
    assert str(passk_cli.curve(single, k=ks)).startswith(expected)


def test_gains_are_compared_on_tasks_that_all_models_have() -> None:
    passes = {"a": [2, 2, 2, 0, 0, 0], "b": [2, 0]}
    cells = [
        (m, f"t{t}", 4, c) for m, all_values in passes.items() for t, c in enumerate(all_values)
    ]
    table = dict(zip(("model", "task", "n", "c"), zip(*cells, strict=True), strict=True))
    with pytest.warns(PasskWarning, match="models lack tasks"):
        actual = str(
            passk_cli.curve({name: [*own_values] for name, own_values in table.items()}, k=[1, 4])
        )
    words = (
        "From 1 to 4 attempts on the 2 tasks that all models have, gains of pass@k range from"
        " +0.250 (b) to +0.500 (a); the intervals of a and b overlap."
    )
    assert actual.startswith(words)


def test_without_intervals_no_model_is_said_to_gain_most() -> None:
    counts = {
        "model": ["a", "a", "b", "b"],
        "task": ["t", "u"] * 2,
        "n": [4] * 4,
        "c": [1, 1, 2, 0],
    }
    actual = str(passk_cli.curve(counts, k=[1, 4], interval="none"))
    assert "range from +0.250 (b) to +0.750 (a); not tested." in actual.splitlines()[0]
