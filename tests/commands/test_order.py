"""What passk order says of data whose answer is known, and of real data."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from passk_cli import DataError, ParameterError, read
from passk_cli.commands.command import SharedOptions
from passk_cli.commands.order import Order
from passk_cli.commands.order.evidence import examine, in_order
from passk_cli.commands.order.tables import order_report
from passk_cli.files.request import Request
from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.outcomes.attempts import Attempts
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Report
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules
from passk_cli.study.study import Study
from tests.conftest import SAMPLES


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
) -> Study:
    asked = SharedOptions(
        Request(),
        Metrics(short_tasks=short_tasks),
        confidence or Confidence(),
        Rules(adjust=adjust),
    )
    return Order(k=ks).study(asked, lambda request: counts)


def told(counts: Counts, ks: tuple[int, ...] = (), **options: Any) -> Report:
    return order_report(study_of(counts, ks, **options), by_lines=False)


def facts(report: Report, model: str = "m") -> dict[str, dict[str, Any]]:
    """fact (and k) → its row."""
    names = [column.header for column in report.data.columns]
    rows = [dict(zip(names, row, strict=True)) for row in report.data.rows]
    return {
        " ".join(str(r[c]) for c in ("metric", "k", "k_to") if r.get(c) is not None): r
        for r in rows
        if r["model"] == model
    }


def words(report: Report, model: str = "m") -> tuple[str, str, str]:
    found = facts(report, model)
    return tuple(found[fact]["verdict"] for fact in ("trend", "lag-1", "copies"))  # type: ignore[return-value]


def warnings(report: Report) -> str:
    return "\n".join(note.text for note in report.messages if note.severity == "warning")


def drawn(p: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((len(p), n)) < p).astype(int)


HARDNESS = np.random.default_rng(5).beta(0.5, 0.5, 164)[:, None]


def test_exchangeable_attempts_are_left_in_peace() -> None:
    report = told(counted(m=drawn(HARDNESS, 10)))
    assert words(report) == ("not significant", "not significant", "none found")
    assert warnings(report) == ""
    found = facts(report)
    assert found["first@10 − pass@10 10"]["estimate"] == 0.0
    assert found["first@10 − pass@10 10"]["note"] == "k = n: they are the same"
    assert found["first@2 2"]["estimate"] == pytest.approx(
        found["pass@2 2"]["estimate"] + found["first@2 − pass@2 2"]["estimate"], abs=1e-12
    )


@pytest.mark.parametrize(("drift", "word"), [(-0.02, "declining"), (0.02, "improving")])
def test_drift_is_seen_and_what_it_does_to_first_at_k(drift: float, word: str) -> None:
    p = np.clip(HARDNESS + drift * (np.arange(10) - 4.5), 0, 1)
    report = told(counted(m=drawn(p, 10), still=drawn(HARDNESS, 10, 1)))
    assert words(report)[0] == word
    assert words(report, "still")[0] == "not significant"
    row = facts(report)["trend"]
    assert row["low"] <= (p @ (np.arange(10) - 4.5) / 82.5).mean() <= row["high"]
    assert row["p"] <= row["p_adjusted"] <= 0.05
    assert ("rates fall" if drift < 0 else "rates rise") in warnings(report)
    difference = facts(report)["first@1 − pass@1 1"]
    # What comes first is what a user sees: 9 points off at either end.
    assert math.copysign(1, difference["estimate"]) == -math.copysign(1, drift)
    assert difference["low"] * difference["high"] > 0


def test_every_p_is_adjusted_over_all_models() -> None:
    counts = counted(a=drawn(HARDNESS, 5), b=drawn(HARDNESS, 5, 1), c=[[1, 1]] * 164)
    raw, holm = examine(study_of(counts, adjust="none")), examine(study_of(counts))
    smallest = min(p for one in raw for p in one.p if not math.isnan(p))
    assert min(p for one in holm for p in one.p if not math.isnan(p)) == min(6 * smallest, 1.0)
    assert holm[0].order.name == "c"
    assert [math.isnan(p) for p in holm[0].p] == [True] * 3
    assert words(told(counts), "c") == ("cannot be tested",) * 3


def test_attempts_that_stick_are_alike_without_a_trend() -> None:
    x = drawn(np.full((80, 1), 0.5), 8)
    fresh = np.random.default_rng(1).random(x.shape) < 0.6
    for i in range(1, 8):
        x[:, i] = np.where(fresh[:, i], x[:, i], x[:, i - 1])
    report = told(counted(m=x))
    assert words(report)[1] == "correlated"
    assert words(report)[0] in ("not significant", "unclear")
    assert "neighbouring attempts are correlated (lag-1 correlation: m: +0." in warnings(report)
    # Of the correlation of 0.4 a part goes with the tasks' own pass rates in so few attempts.
    assert 0.15 < facts(report)["lag-1"]["estimate"] < 0.4


def test_likeness_that_follows_from_a_trend_is_said_to() -> None:
    p = np.where(np.arange(10) < 5, 0.95, 0.05)[None, :].repeat(60, axis=0)
    report = told(counted(m=drawn(p, 10)))
    assert words(report)[:2] == ("declining", "correlated")
    assert "the trend alone would cause a lag-1 correlation" in warnings(report)


def test_a_trend_among_alike_neighbours_needs_its_interval() -> None:
    """Twelve tasks that switch once are very unlike random orders; eight of them switch up."""
    up, down = [0] * 6 + [1] * 6, [1] * 6 + [0] * 6
    tasks = [up] * 8 + [down] * 4
    report = told(counted(m=tasks))
    assert facts(report)["trend"]["p_adjusted"] <= 0.05
    assert words(report)[:2] == ("unclear", "correlated")
    assert "may be an effect of the lag-1 correlation" in warnings(report)
    assert words(told(counted(m=[up] * 12)))[0] == "improving"


def test_outcomes_that_alternate() -> None:
    tasks = [[t % 2, 1 - t % 2] * 4 for t in range(20)]
    report = told(counted(m=tasks))
    assert words(report)[1] == "alternating"
    assert "differ more often than chance allows" in warnings(report)


def test_copies_of_an_attempt() -> None:
    x = drawn(np.random.default_rng(2).beta(0.5, 0.5, 60)[:, None], 5)
    x[:, 3] = x[:, 1]
    report = told(counted(m=x))
    assert words(report)[2] == "copies?"
    assert "attempts 2 and 4 of m differ on 0 tasks, " in warnings(report)
    assert "as copies do" in warnings(report)
    pairs = report.tables[1]
    assert pairs.title.startswith("Pairs of attempts that agree more often than independent")
    assert [row[1] for row in pairs.rows] == ["2 and 4"]
    row = facts(report)["differences of a pair / expected 2 4"]
    assert (row["estimate"], row["p"] <= row["p_adjusted"]) == (0.0, True)


def test_outcomes_that_never_vary() -> None:
    always = [[1] * 5] * 21 + [[0] * 5] * 29
    report = told(counted(m=always, sure=[[1] * 5] * 50, nearly=[[1] * 5] * 48 + [[0] * 5] * 2))
    assert words(report) == ("cannot be tested", "cannot be tested", "copies?")
    assert "m: no task has both passes and failures" in (warnings(report))
    # Sure of nearly everything is no sign of copies.
    assert words(report, "sure")[2] == words(report, "nearly")[2] == "cannot be tested"
    assert "sure" not in warnings(report)


def test_attempts_until_the_first_pass() -> None:
    made = np.minimum(np.random.default_rng(0).geometric(0.4, 60), 6).tolist()
    report = told(counted(m=[*([0] * (m - 1) + [int(m < 6)] for m in made), [0] * 6]))
    assert words(report) == ("cannot be tested",) * 3
    assert "attempts were made until the first pass" in facts(report)["trend"]["note"]
    assert facts(report)["trend"]["p"] is facts(report)["trend"]["estimate"] is None
    assert facts(report)["lag-1"]["estimate"] is None
    assert "pass@k is biased" in warnings(report)
    # Stopping is just what the product limit is for: 1 − 0.6² are solved by two attempts.
    assert facts(report)["unsolved after 2"]["estimate"] == pytest.approx(0.36, abs=0.15)


def test_unequal_attempts() -> None:
    x = drawn(HARDNESS[:40], 9)
    tasks = [task[: 3 + 3 * (t % 3)].tolist() for t, task in enumerate(x)]
    counts = counted(m=tasks)
    report = told(counts)
    assert any("tasks have different numbers of attempts" in n.text for n in report.messages)
    assert [facts(report)[f"rate {i} {i}"]["tasks"] for i in (3, 4, 7)] == [40, 26, 13]
    # Every task has 3 attempts: k up to 3 by default, more where asked, with its tasks.
    assert [m.k for m in study_of(counts).metrics] == [1, 2, 3] * 2
    empty = told(counts, (5,))
    assert facts(empty)["first@5 5"]["estimate"] is None
    assert "n=3 < k=5 on 14 of 40 tasks" in warnings(empty)
    dropped = told(counts, (5,), short_tasks="drop")
    assert facts(dropped)["first@5 5"]["tasks"] == 26
    with pytest.raises(ParameterError, match="first@12 needs 12 attempts; the most any task has"):
        study_of(counts, (12,))


def test_many_positions_are_put_together() -> None:
    report = told(counted(m=drawn(HARDNESS[:20], 103)))
    rates = [row for fact, row in facts(report).items() if fact.startswith("rate ")]
    assert [(r["k"], r["k_to"]) for r in (rates[0], rates[-1])] == [(1, 6), (103, 103)]
    sizes = [r["k_to"] - r["k"] + 1 for r in rates]
    mean = np.average([r["estimate"] for r in rates], weights=sizes)
    assert mean == pytest.approx(facts(report)["pass@1 1"]["estimate"], rel=1e-12)


def test_intervals_use_clusters_and_p_does_not() -> None:
    rng = np.random.default_rng(0)
    counts = counted("repo", m=drawn(rng.beta(0.5, 0.5, 7)[np.arange(70) % 7][:, None], 6))
    one = facts(told(counts, confidence=Confidence(cluster="repo")))
    alone = Counts(**{**counts.__dict__, "clusters": None})
    two = facts(told(alone))
    for fact in ("rate 1 1", "first@2 2", "pass@2 2"):
        widths = [row[fact]["high"] - row[fact]["low"] for row in (one, two)]
        assert widths[0] > 1.3 * widths[1]
    assert one["trend"]["p"] == two["trend"]["p"]


def test_these_tasks_and_other_methods() -> None:
    counts = counted(m=drawn(HARDNESS, 6))
    fixed = facts(told(counts, confidence=Confidence(population="these-tasks")))
    new = facts(told(counts))
    for fact in ("trend", "rate 1 1", "first@2 − pass@2 2"):
        assert fixed[fact]["interval"] == "jackknife"
        assert fixed[fact]["high"] - fixed[fact]["low"] < new[fact]["high"] - new[fact]["low"]
    assert fixed["first@2 2"]["low"] is None
    assert "or order matters" in fixed["first@2 2"]["note"]
    plain = facts(told(counts, confidence=Confidence("none")))
    assert plain["trend"]["se"] > 0
    assert plain["trend"]["low"] is plain["trend"]["level"] is None
    with pytest.raises(ParameterError, match="percentile draws new attempts"):
        told(counts, confidence=Confidence("percentile", population="these-tasks"))


def test_variance_of_first_minus_pass_is_that_of_a_random_order() -> None:
    """Over all outcomes of independent attempts: its estimate v(1 − v), v = pass@k, is unbiased."""
    n, k, p = 5, 2, 0.3
    tasks = [list(task) for task in product((0, 1), repeat=n)]
    weight = np.array([np.prod([p if x else 1 - p for x in task]) for task in tasks])
    value = pass_at_k(n, [sum(task) for task in tasks], k)
    apart = np.array([max(task[:k]) for task in tasks]) - value
    assert weight @ apart == pytest.approx(0, abs=1e-15)
    assert weight @ apart**2 == pytest.approx(weight @ (value * (1 - value)), rel=1e-12)
    # All 32 as tasks: the mean difference is 0, and the limits are normal ones from that estimate.
    fixed = Confidence(population="these-tasks")
    row = facts(told(counted(m=tasks), (k,), confidence=fixed))[f"first@{k} − pass@{k} {k}"]
    reach = 1.959963984540054 * np.sqrt((value * (1 - value)).sum()) / 32
    assert (row["low"], row["high"]) == pytest.approx((-reach, reach), rel=1e-9)


def test_attempts_at_one_time() -> None:
    counts = counted(m=[[1, 0, 0], [1, 1, 0]])
    # The last two of the first task fail, the first two of the second pass, each at one time.
    merged = Attempts(
        np.array([0, 2, 4]),
        np.array([0.0, 1.0, 0.0, 2.0]),
        np.array([1, 2, 2, 1]),
        np.array([1, 0, 2, 0]),
    )
    tied = Counts(**{**counts.__dict__, "attempts": {"attempt": merged}})
    assert in_order(tied, [0])[0].passed.tolist() == [1, 0, 0, 1, 1, 0]
    merged.passed[2] = 1
    with pytest.raises(DataError, match="m: attempts at task t001 came at the same time, some"):
        in_order(tied, [0])


def test_counts_without_order_are_refused() -> None:
    with pytest.raises(ParameterError, match="read without the attempt of each attempt"):
        told(Counts.from_cells([("m", "a", 2, 1)]))


def test_tau_bench_by_hand() -> None:
    """Rates by trial, and the tasks solved by then, from the rows themselves."""
    frame = pd.read_csv(SAMPLES / "tau_airline.csv")
    counts = read(SAMPLES / "tau_airline.csv", attempts=["attempt"])
    found = facts(told(counts), "gpt-4o")
    for trial, rows in frame.groupby("trial"):
        assert found[f"rate {trial + 1} {trial + 1}"]["estimate"] == rows.reward.mean()
    by_task = frame.sort_values(["task_id", "trial"]).groupby("task_id").reward.apply(list)
    for k in (1, 2, 4):
        solved = np.mean([any(task[:k]) for task in by_task])
        assert found[f"first@{k} {k}"]["estimate"] == pytest.approx(solved, rel=1e-12)
        used = np.mean([min([*task, 1].index(1) + 1, k) for task in by_task])
        assert found[f"attempts used {k}"]["estimate"] == pytest.approx(used, rel=1e-12)
    assert found["never solved"]["estimate"] == 0.28
    assert found["attempts to solve 0.5"]["estimate"] == 2
    assert found["attempts to solve 0.75"]["note"] == "more than 4"


def test_chart_shows_every_rate_with_its_interval() -> None:
    counts = counted(a=drawn(HARDNESS, 4), b=drawn(HARDNESS, 4, 1) | drawn(HARDNESS, 4))
    report = told(counts)
    (plot,) = report.plots
    assert plot.subtitle.startswith("164 tasks, 4 attempts each · 95 %")
    assert plot.x_title == "attempt, by trial"
    assert report.signature["order"] == "trial"
    rows = plot.rows
    assert [(row["x"], row["series"]) for row in rows] == [
        (i, m) for m in "ba" for i in (1, 2, 3, 4)
    ]
    first = facts(report, "b")["rate 1 1"]
    assert (rows[0]["y"], rows[0]["low"]) == (first["estimate"], first["low"])


def test_attempts_used_are_empty_where_unsolved_tasks_have_fewer() -> None:
    counts = counted(m=[[0, 1, 1], [0], [1, 0, 0]], stops=[[0, 1, 1], [1], [1, 0, 0]])
    report = told(counts, (1, 2))
    used = facts(report)["attempts used 2"]
    assert (used["estimate"], used["note"]) == (None, "n=1 < k=2 on 1 of 3 tasks")
    assert facts(report)["attempts used 1"]["estimate"] == 1
    # The short task is solved: how many attempts it takes is known.
    stops = facts(report, "stops")
    assert stops["first@2 2"]["estimate"] is None
    assert stops["attempts used 2"]["estimate"] == pytest.approx(4 / 3)
    dropped = facts(told(counts, (1, 2), short_tasks="drop"))["attempts used 2"]
    # Kaplan–Meier: two of three tasks remain after the first attempt.
    assert dropped["estimate"] == pytest.approx(1 + 2 / 3)
    assert "no interval" in dropped["note"]


def test_flawed_intervals_are_named() -> None:
    said = [note.text for note in told(counted(m=[[1, 1]] * 30)).notes]
    flaw = "every task has the value 1: the interval is one-sided"
    assert f"attempt 1 of m, attempt 2 of m, first@1 of m and 3 more: {flaw}" in said


def test_attempts_that_move_up_a_place_are_told() -> None:
    rows = [("t1", 1, None), ("t1", 2, 1), ("t1", 3, 0), ("t2", 1, 0), ("t2", 2, 1), ("t2", 3, 0)]
    frame = pd.DataFrame(rows, columns=["task", "attempt", "passed"], dtype=object)
    moved = "1 attempt without an outcome left out: later attempts at the same task move up"
    for missing, there in (("drop", True), ("fail", False)):
        counts = read(frame, attempts=["attempt"], missing=missing)
        assert (moved in warnings(told(counts))) == there
