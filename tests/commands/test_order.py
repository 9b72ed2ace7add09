"""Verdicts of passk order on data whose answer is known, and on real data."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from passk_cli import DataError, ParameterError, read
from passk_cli.commands.order.evidence import order_evidence, ordered_attempts
from passk_cli.commands.order.view import OrderRunner
from passk_cli.commands.runner import SharedOptions
from passk_cli.files.request import Request
from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions
from tests.conftest import SAMPLES, Passk, Write, jsonl


def counted(cluster: str | None = None, **models: np.ndarray | list[list[int]]) -> Counts:
    """Counts in order: for each model its tasks' outcomes; "repo" is a cluster of every 7th."""
    rows = [
        {"model": model, "task": f"t{t:03d}", "trial": i, "passed": int(x), "repo": f"r{t % 7}"}
        for model, tasks in models.items()
        for t, task in enumerate(tasks)
        for i, x in enumerate(task)
    ]
    return read(pd.DataFrame(rows), attempts=["attempt"], cluster=cluster)


def study_of(
    counts: Counts,
    ks: tuple[int, ...] = (),
    confidence: Confidence | None = None,
    short_tasks: str = "empty",
    adjust: str = "holm",
) -> Analysis:
    result = SharedOptions(
        Request(),
        MetricOptions(short_tasks=short_tasks),
        confidence or Confidence(),
        ComparisonOptions(adjust=adjust),
    )
    return OrderRunner(k=ks).read_analysis(result, lambda request: counts)


def report_on(counts: Counts, ks: tuple[int, ...] = (), **options: Any) -> Report:
    return OrderRunner().report(study_of(counts, ks, **options))


def facts(report: Report, model: str = "m") -> dict[str, dict[str, Any]]:
    """fact (and k) → its row."""
    names = [column.header for column in report.data_table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in report.data_table.rows]
    return {
        " ".join(str(r[c]) for c in ("metric", "k", "k_to") if r.get(c) is not None): r
        for r in rows
        if r["model"] == model
    }


def words(report: Report, model: str = "m") -> tuple[str, str, str]:
    output = facts(report, model)
    return tuple(output[fact]["verdict"] for fact in ("trend", "lag-1", "copies"))  # type: ignore[return-value]


def said(report: Report) -> dict[str, Any]:
    """Name of a message → its fields."""
    return {message.name: message.fields for message in report.messages if message.name}


def verdicts(report: Report) -> dict[str, str]:
    """Model → the verdict of its row."""
    return {str(row[0]): str(row[-1]) for row in report.tables[0].rows}


def drawn(p: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((len(p), n)) < p).astype(int)


HARDNESS = np.random.default_rng(5).beta(0.5, 0.5, 164)[:, None]


def test_exchangeable_attempts_are_left_in_peace() -> None:
    report = report_on(counted(m=drawn(HARDNESS, 10)))
    assert words(report) == ("not significant", "not significant", "none found")
    assert said(report) == {"order-power": {"lag": "0.11", "points": "0.9"}}
    assert verdicts(report) == {"m": "none found"}
    output = facts(report)
    assert output["first@10 − pass@10 10"]["estimate"] == 0.0
    assert output["first@10 − pass@10 10"]["note"] == "k = n: first@k and pass@k are equal"
    assert output["first@2 2"]["estimate"] == pytest.approx(
        output["pass@2 2"]["estimate"] + output["first@2 − pass@2 2"]["estimate"], abs=1e-12
    )


@pytest.mark.parametrize(("drift", "word"), [(-0.02, "declining"), (0.02, "improving")])
def test_drift_is_seen_and_what_it_does_to_first_at_k(drift: float, word: str) -> None:
    p = np.clip(HARDNESS + drift * (np.arange(10) - 4.5), 0, 1)
    report = report_on(counted(m=drawn(p, 10), still=drawn(HARDNESS, 10, 1)))
    assert words(report)[0] == word
    assert words(report, "still")[0] == "not significant"
    row = facts(report)["trend"]
    assert row["low"] <= (p @ (np.arange(10) - 4.5) / 82.5).mean() <= row["high"]
    assert row["p"] <= row["p_adjusted"] <= 0.05
    assert verdicts(report) == {"m": "not independent", "still": "none found"}
    assert f"pass rates {'fall' if drift < 0 else 'rise'}" in str(report.answer)
    difference = facts(report)["first@1 − pass@1 1"]
    # What comes first is what a user sees: 9 points off at either end.
    assert math.copysign(1, difference["estimate"]) == -math.copysign(1, drift)
    assert difference["low"] * difference["high"] > 0


def test_every_p_is_adjusted_over_all_models() -> None:
    counts = counted(a=drawn(HARDNESS, 5), b=drawn(HARDNESS, 5, 1), c=[[1, 1]] * 164)
    raw, holm = order_evidence(study_of(counts, adjust="none")), order_evidence(study_of(counts))
    smallest = min(p for model in raw for p in model.adjusted_p if p is not None)
    assert min(p for model in holm for p in model.adjusted_p if p is not None) == min(
        6 * smallest, 1.0
    )
    assert holm[0].attempts_in_order.name == "c"
    assert holm[0].adjusted_p == (None,) * 3
    assert words(report_on(counts), "c") == ("cannot be tested",) * 3


def test_attempts_that_stick_are_alike_without_a_trend() -> None:
    x = drawn(np.full((80, 1), 0.5), 8)
    fresh = np.random.default_rng(1).random(x.shape) < 0.6
    for i in range(1, 8):
        x[:, i] = np.where(fresh[:, i], x[:, i], x[:, i - 1])
    report = report_on(counted(m=x))
    assert words(report)[1] == "correlated"
    assert words(report)[0] in ("not significant", "unclear")
    assert said(report)["dependent-attempts"] == {"models": 1, "error": "uncertain"}
    assert report.answer[0].fields["reasons"] == "neighbouring attempts are correlated"
    # Rates by attempt do not show that.
    assert re.search(r" · neighbours correlated by 0\.\d\d, not drawn · ", report.plots[0].subtitle)
    # Of the correlation of 0.4 a part goes with the tasks' own pass rates in so few attempts.
    assert 0.15 < facts(report)["lag-1"]["estimate"] < 0.4


def test_the_correlation_that_follows_from_a_trend() -> None:
    p = np.where(np.arange(10) < 5, 0.95, 0.05)[None, :].repeat(60, axis=0)
    report = report_on(counted(m=drawn(p, 10)))
    assert words(report)[:2] == ("declining", "correlated")
    output = facts(report)
    single = output["lag-1 of the trend alone"]["estimate"]
    assert output["lag-1"]["estimate"] / 4 < single <= output["lag-1"]["estimate"]


def test_a_trend_among_alike_neighbours_needs_its_interval() -> None:
    """Twelve tasks that switch once are very unlike random orders; eight of them switch up."""
    up, down = [0] * 6 + [1] * 6, [1] * 6 + [0] * 6
    tasks = [up] * 8 + [down] * 4
    report = report_on(counted(m=tasks))
    assert facts(report)["trend"]["p_adjusted"] <= 0.05
    assert words(report)[:2] == ("unclear", "correlated")
    assert verdicts(report) == {"m": "not independent"}
    assert words(report_on(counted(m=[up] * 12)))[0] == "improving"


def test_outcomes_that_alternate() -> None:
    tasks = [[t % 2, 1 - t % 2] * 4 for t in range(20)]
    report = report_on(counted(m=tasks))
    assert words(report)[1] == "alternating"
    assert "neighbours alternate" in str(report.answer)


def test_copies_of_an_attempt() -> None:
    x = drawn(np.random.default_rng(2).beta(0.5, 0.5, 60)[:, None], 5)
    x[:, 3] = x[:, 1]
    report = report_on(counted(m=x))
    assert words(report)[2] == "copies?"
    fields = said(report)["copied-attempts"]
    assert (fields["pair"], fields["model"], fields["tasks"], fields["more"]) == (
        "2 and 4", "m", 0, 0,
    )  # fmt: skip
    pairs = report.tables[1]
    assert pairs.title.startswith("Pairs of attempts that agree more often than independent")
    assert [row[1] for row in pairs.rows] == ["2 and 4"]
    row = facts(report)["differences of a pair / expected 2 4"]
    assert (row["estimate"], row["p"] <= row["p_adjusted"]) == (0.0, True)


def test_outcomes_that_never_vary() -> None:
    always = [[1] * 5] * 21 + [[0] * 5] * 29
    report = report_on(
        counted(m=always, sure=[[1] * 5] * 50, nearly=[[1] * 5] * 48 + [[0] * 5] * 2)
    )
    assert words(report) == ("cannot be tested", "cannot be tested", "copies?")
    assert said(report)["constant-outcomes"]["models"] == ["m"]
    assert verdicts(report) == {
        "nearly": "cannot be tested", "sure": "cannot be tested", "m": "not independent",
    }  # fmt: skip
    # Sure of nearly everything is no sign of copies.
    assert words(report, "sure")[2] == words(report, "nearly")[2] == "cannot be tested"


def test_attempts_until_the_first_pass() -> None:
    rows_made = np.minimum(np.random.default_rng(0).geometric(0.4, 60), 6).tolist()
    report = report_on(counted(m=[*([0] * (m - 1) + [int(m < 6)] for m in rows_made), [0] * 6]))
    assert words(report) == ("cannot be tested",) * 3
    assert "attempts were made until the first pass" in facts(report)["trend"]["note"]
    assert facts(report)["trend"]["p"] is facts(report)["trend"]["estimate"] is None
    assert facts(report)["lag-1"]["estimate"] is None
    assert said(report)["attempts-until-pass"]["models"] == ["m"]
    assert report.answer[0].name == "independence-not-tested"
    assert report.answer[0].fields["flaws"] == "attempts were made until the first pass"
    assert not any("over 0 tests" in str(part) for part in report.context)
    # Stopping is just what the product limit is for: 1 − 0.6² are solved by two attempts.
    assert facts(report)["unsolved after 2"]["estimate"] == pytest.approx(0.36, abs=0.15)


def test_unequal_attempts() -> None:
    x = drawn(HARDNESS[:40], 9)
    tasks = [task[: 3 + 3 * (t % 3)].tolist() for t, task in enumerate(x)]
    counts = counted(m=tasks)
    report = report_on(counts)
    assert "unequal-attempts" in said(report)
    assert [facts(report)[f"rate {i} {i}"]["tasks"] for i in (3, 4, 7)] == [40, 26, 13]
    (rule,) = report.plots[0].reference_lines
    assert (rule.x, rule.text) == (3, "beyond: fewer tasks")
    # Every task has 3 attempts: k up to 3 by default, more where asked, with its tasks.
    assert [m.k for m in study_of(counts).metrics] == [1, 2, 3] * 2
    empty = report_on(counts, (5,))
    assert facts(empty)["first@5 5"]["estimate"] is None
    assert any("n=3 < k=5 on 14 of 40 tasks" in message.text for message in empty.warnings)
    dropped = report_on(counts, (5,), short_tasks="drop")
    assert facts(dropped)["first@5 5"]["tasks"] == 26
    with pytest.raises(
        ParameterError, match="first@12 needs 12 attempts, but no task has more than"
    ):
        study_of(counts, (12,))


def test_many_positions_are_put_together() -> None:
    report = report_on(counted(m=drawn(HARDNESS[:20], 103)))
    rates = [row for fact, row in facts(report).items() if fact.startswith("rate ")]
    assert [(r["k"], r["k_to"]) for r in (rates[0], rates[-1])] == [(1, 6), (103, 103)]
    sizes = [r["k_to"] - r["k"] + 1 for r in rates]
    mean = np.average([r["estimate"] for r in rates], weights=sizes)
    assert mean == pytest.approx(facts(report)["pass@1 1"]["estimate"], rel=1e-12)


def test_intervals_use_clusters_and_p_does_not() -> None:
    rng = np.random.default_rng(0)
    counts = counted("repo", m=drawn(rng.beta(0.5, 0.5, 7)[np.arange(70) % 7][:, None], 6))
    first = facts(report_on(counts, confidence=Confidence(cluster="repo")))
    single = Counts(**{**counts.__dict__, "clusters": None})
    two = facts(report_on(single))
    for fact in ("rate 1 1", "first@2 2", "pass@2 2"):
        widths = [row[fact]["high"] - row[fact]["low"] for row in (first, two)]
        assert widths[0] > 1.3 * widths[1]
    assert first["trend"]["p"] == two["trend"]["p"]


def test_these_tasks_and_other_methods() -> None:
    counts = counted(m=drawn(HARDNESS, 6))
    fixed = facts(report_on(counts, confidence=Confidence(population="these-tasks")))
    new = facts(report_on(counts))
    for fact in ("trend", "rate 1 1", "first@2 − pass@2 2"):
        assert fixed[fact]["interval"] == "jackknife"
        assert fixed[fact]["high"] - fixed[fact]["low"] < new[fact]["high"] - new[fact]["low"]
    assert fixed["first@2 2"]["low"] is None
    assert "does not depend on the order of attempts" in fixed["first@2 2"]["note"]
    plain = facts(report_on(counts, confidence=Confidence("none")))
    assert plain["trend"]["se"] > 0
    assert plain["trend"]["low"] is plain["trend"]["level"] is None
    with pytest.raises(ParameterError, match="percentile intervals come from newly drawn attempts"):
        report_on(counts, confidence=Confidence("percentile", population="these-tasks"))


def test_variance_of_first_minus_pass_is_that_of_a_random_order() -> None:
    """Over all outcomes of independent attempts: its estimate v(1 − v), v = pass@k, is unbiased."""
    n, k, p = 5, 2, 0.3
    tasks = [list(task) for task in product((0, 1), repeat=n)]
    weight = np.array([np.prod([p if x else 1 - p for x in task]) for task in tasks])
    value = pass_at_k(n, [sum(task) for task in tasks], k)
    files = np.array([max(task[:k]) for task in tasks]) - value
    assert weight @ files == pytest.approx(0, abs=1e-15)
    assert weight @ files**2 == pytest.approx(weight @ (value * (1 - value)), rel=1e-12)
    # All 32 as tasks: the mean difference is 0, and the limits are normal ones from that estimate.
    fixed = Confidence(population="these-tasks")
    row = facts(report_on(counted(m=tasks), (k,), confidence=fixed))[f"first@{k} − pass@{k} {k}"]
    reach = 1.959963984540054 * np.sqrt((value * (1 - value)).sum()) / 32
    assert (row["low"], row["high"]) == pytest.approx((-reach, reach), rel=1e-9)


def test_attempts_at_one_time() -> None:
    counts = counted(m=[[1, 0, 0], [1, 1, 0]])
    # The last two of the first task fail, the first two of the second pass, each at one time.
    merged = AttemptValuesByCell(
        np.array([0, 2, 4]),
        np.array([0.0, 1.0, 0.0, 2.0]),
        np.array([1, 2, 2, 1]),
        np.array([1, 0, 2, 0]),
    )
    tied = Counts(**{**counts.__dict__, "attempts": {"attempt": merged}})
    assert ordered_attempts(tied, [0])[0].passed.tolist() == [1, 0, 0, 1, 1, 0]
    merged.pass_count[2] = 1
    with pytest.raises(DataError, match="m: attempts at task t001 have the same time or number"):
        ordered_attempts(tied, [0])


def test_counts_without_order_are_refused() -> None:
    with pytest.raises(DataError, match="read without the attempt of each attempt"):
        report_on(Counts.from_cells([("m", "a", 2, 1)]))


def test_tau_bench_by_hand() -> None:
    """Rates by trial, and the tasks solved by then, from the rows themselves."""
    frame = pd.read_csv(SAMPLES / "tau_airline.csv")
    counts = read(SAMPLES / "tau_airline.csv", attempts=["attempt"])
    output = facts(report_on(counts), "gpt-4o")
    for trial, rows in frame.groupby("trial"):
        assert output[f"rate {trial + 1} {trial + 1}"]["estimate"] == rows.reward.mean()
    by_task = frame.sort_values(["task_id", "trial"]).groupby("task_id").reward.apply(list)
    for k in (1, 2, 4):
        solved = np.mean([any(task[:k]) for task in by_task])
        assert output[f"first@{k} {k}"]["estimate"] == pytest.approx(solved, rel=1e-12)
        used_count = np.mean([min([*task, 1].index(1) + 1, k) for task in by_task])
        assert output[f"attempts used {k}"]["estimate"] == pytest.approx(used_count, rel=1e-12)
    assert output["never solved"]["estimate"] == 0.28
    assert output["attempts to solve 0.5"]["estimate"] == 2
    assert output["attempts to solve 0.75"]["note"] == "more than 4"


def test_chart_shows_every_rate_with_its_interval() -> None:
    counts = counted(a=drawn(HARDNESS, 4), b=drawn(HARDNESS, 4, 1) | drawn(HARDNESS, 4))
    report = report_on(counts)
    (plot,) = report.plots
    assert plot.subtitle.startswith("164 tasks × 4 attempts by trial · 95 %")
    assert plot.x_title == "attempt, by trial"
    assert not plot.reference_lines
    assert report.signature["order"] == "trial"
    rows = plot.rows
    assert [(row["x"], row["series"]) for row in rows] == [
        (i, m) for m in "ba" for i in (1, 2, 3, 4)
    ]
    first = facts(report, "b")["rate 1 1"]
    assert (rows[0]["y"], rows[0]["low"]) == (first["estimate"], first["low"])


def test_attempts_used_are_empty_where_unsolved_tasks_have_fewer() -> None:
    counts = counted(m=[[0, 1, 1], [0], [1, 0, 0]], stops=[[0, 1, 1], [1], [1, 0, 0]])
    report = report_on(counts, (1, 2))
    used_count = facts(report)["attempts used 2"]
    assert (used_count["estimate"], used_count["note"]) == (None, "n=1 < k=2 on 1 of 3 tasks")
    assert facts(report)["attempts used 1"]["estimate"] == 1
    # The short task is solved: how many attempts it takes is known.
    stops = facts(report, "stops")
    assert stops["first@2 2"]["estimate"] == 1
    assert stops["pass@2 2"]["estimate"] is None
    assert stops["attempts used 2"]["estimate"] == pytest.approx(4 / 3)
    dropped = facts(report_on(counts, (1, 2), short_tasks="drop"))["attempts used 2"]
    # Kaplan–Meier: two of three tasks remain after the first attempt.
    assert dropped["estimate"] == pytest.approx(1 + 2 / 3)
    assert "no interval" in dropped["note"]


def test_the_middle_k_is_one_at_which_they_can_differ() -> None:
    report = report_on(counted(m=drawn(HARDNESS, 10)))
    headers = [
        column.header for column in report.tables[0].columns if column.visibility == "always"
    ]
    assert headers == ["model", "points per attempt", "neighbours", "first@4 − pass@4", "verdict"]
    single = report_on(counted(m=drawn(HARDNESS, 4)), (4,))
    assert not any(column.header.startswith("first@") for column in single.tables[0].columns)


def test_pairs_that_agree_without_neighbours_are_named() -> None:
    """Half of the outcomes of attempt 4 are those of attempt 1."""
    x = drawn(HARDNESS, 6)
    x[:, 5] = np.where(np.random.default_rng(1).random(164) < 0.8, x[:, 0], x[:, 5])
    report = report_on(counted(m=x))
    assert words(report) == ("not significant", "not significant", "pairs agree")
    assert said(report)["agreeing-attempts"]["pair"] == "1 and 6"


def test_only_what_is_decisive_is_shown() -> None:
    report = report_on(counted(m=drawn(HARDNESS, 6)))
    assert [table.visibility for table in report.tables] == ["always", *["full"] * 3]
    assert all(column.meaning for table in report.tables for column in table.columns)


def test_attempts_that_move_up_a_place_are_report_on() -> None:
    rows = [("t1", 1, None), ("t1", 2, 1), ("t1", 3, 0), ("t2", 1, 0), ("t2", 2, 1), ("t2", 3, 0)]
    frame = pd.DataFrame(rows, columns=["task", "attempt", "passed"], dtype=object)
    for missing, present in (("drop", True), ("fail", False)):
        counts = read(frame, attempts=["attempt"], missing=missing)
        assert ("moved-attempts" in said(report_on(counts))) == present


def test_first_at_k_of_attempts_that_stop_at_a_pass(write: Write, passk: Passk) -> None:
    # 20 tasks that stop at their first pass, of which 16 pass within 4 attempts.
    rows = [
        {"task": f"t{t}", "attempt": a, "passed": a == t % 5}
        for t in range(20) if t % 5 < 4
        for a in range(t % 5 + 1)
    ] + [
        {"task": f"t{t}", "attempt": a, "passed": False} for t in range(4, 20, 5) for a in range(4)
    ]  # fmt: skip
    path = write("early.jsonl", jsonl(rows))
    for more in ([], ["--short-tasks", "drop"]):
        result = passk("estimate", path, "-m", "first@4", *more)
        assert result.out.startswith("early: first@4 0.800 ["), result.out
        # The number is the one that the warning about pass@k promises; it has none itself.
        assert "(first@4 is 0.800)" in passk("estimate", path, "-k", "1", *more).err
        assert not result.err
    path.write_text(jsonl(rows[:-1]))
    result = passk("estimate", path, "-m", "first@4")
    assert "n=3 < k=4 and no pass on 1 of 20 tasks" in result.err


def test_an_interval_beside_a_verdict_says_that_it_is_not_adjusted() -> None:
    """first@2 − pass@2 leaves out 0 by itself; Holm over its tests rejects nothing."""
    report = report_on(counted(m=drawn(HARDNESS[:30], 3), b=drawn(HARDNESS[30:60], 3)))
    assert verdicts(report) == {"m": "none found", "b": "none found"}
    assert "intervals unadjusted" in report.context
    assert "first@2 − pass@2 is not tested" in report.context
