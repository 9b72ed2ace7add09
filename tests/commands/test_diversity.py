"""Numbers of solutions against counting by hand, and the flag of gains without variety."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import combinations
from statistics import mean

import numpy as np
import pandas as pd
import pytest

from passk_cli.api import read
from passk_cli.commands.diversity.variety import GAIN_WITH_LITTLE_VARIETY_FLAG
from passk_cli.commands.diversity.view import DiversityRunner, diversity_ks
from passk_cli.commands.estimate.view import EstimateRunner
from passk_cli.commands.runner import SharedOptions
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.metrics.diversity import distinct_at_k
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.study.values import compute_values
from tests.conftest import SAMPLES, Passk, Write

CRUX = SAMPLES / "cruxeval.jsonl.gz"


def diversity_report(
    counts: Counts,
    ks: tuple[int, ...],
    confidence: Confidence | None = None,
    short_tasks: str = "empty",
) -> Report:
    metrics, question = MetricOptions(short_tasks=short_tasks), DiversityRunner(k=ks)
    asked = SharedOptions(Request(), metrics, confidence or Confidence(), ComparisonOptions())
    return question.report(question.read_analysis(asked, lambda request: counts))


def solved(*attempts: tuple[str, str, str, int], **more: object) -> Counts:
    """Counts of (model, task, solution, passed) rows."""
    frame = pd.DataFrame(attempts, columns=["model", "task", "solution", "passed"])
    return read(frame, attempts=["solution"], **more)


def facts(report: Report) -> dict[tuple[str, ...], dict[str, object]]:
    """(model, groups …, metric) → the row of the tidy table."""
    names = [column.header for column in report.data_table.columns]
    keys = names.index("metric") + 1
    return {tuple(map(str, row[:keys])): dict(zip(names, row, strict=True))
            for row in report.data_table.rows}  # fmt: skip


@pytest.fixture(scope="module")
def crux() -> Counts:
    return read(CRUX, attempts=["solution"], by=["temperature"])


def test_cruxeval_is_less_diverse_at_the_lower_temperature(crux: Counts) -> None:
    actual = facts(diversity_report(crux, (2, 5, 10)))
    for model in sorted({series[0] for series in crux.series}):
        for metric in ("distinct@2", "distinct@5", "distinct@10", "distinct", "effective"):
            cold, hot = (actual[model, t, metric] for t in ("0.2", "0.8"))
            assert cold["low"] <= cold["estimate"] <= cold["high"] < hot["low"], (model, metric)
        assert (
            actual[model, "0.2", "duplicates"]["low"] > actual[model, "0.8", "duplicates"]["high"]
        )


def test_cruxeval_equals_the_mean_over_subsets_of_the_texts(crux: Counts) -> None:
    texts: dict[str, list[tuple[str, bool]]] = {}
    with gzip.open(CRUX, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if (row["model"], row["temperature"]) == ("gpt-4-0613", 0.8):
                texts.setdefault(row["task_id"], []).append((row["generation"], row["passed"]))
    metrics = [parse_metric("distinct@4"), parse_metric("distinct-correct@4")]
    here = [m for m in compute_values(crux, metrics) if m.series == ("gpt-4-0613", "0.8")]
    for task in list(texts)[::40]:
        place = here[0].tasks.tolist().index(crux.tasks.index(task))
        subsets = list(combinations(texts[task], 4))
        kinds = mean(len({text for text, _ in s}) for s in subsets)
        correct = mean(len({text for text, passed in s if passed}) for s in subsets)
        assert here[0].values[place] == pytest.approx(kinds, rel=1e-12)
        assert here[1].values[place] == pytest.approx(correct, rel=1e-12)
    all_values = facts(diversity_report(crux, (10,)))
    mine = {
        metric: row for (m, t, metric), row in all_values.items() if (m, t) == ("gpt-4-0613", "0.8")
    }
    counted = [Counter(text for text, _ in entry) for entry in texts.values()]
    assert mine["distinct"]["estimate"] == pytest.approx(mean(map(len, counted)))
    assert mine["duplicates"]["estimate"] == pytest.approx(mean(1 - len(c) / 10 for c in counted))
    agree = mean(sum(m * (m - 1) for m in c.values()) / 90 for c in counted)
    assert mine["effective"]["estimate"] == pytest.approx(1 / agree)
    good = [Counter(text for text, passed in each if passed) for each in texts.values()]
    assert mine["distinct correct"]["estimate"] == pytest.approx(mean(map(len, good)))
    passed = [c for c in good if c.total()]
    assert mine["duplicates correct"]["estimate"] == pytest.approx(
        mean(1 - len(c) / c.total() for c in passed)
    )
    assert mine["duplicates correct"]["tasks"] == len(passed)
    twice = [c for c in good if c.total() > 1]
    agree = mean(
        sum(m * (m - 1) for m in c.values()) / (c.total() * (c.total() - 1)) for c in twice
    )
    assert mine["effective correct"]["estimate"] == pytest.approx(1 / agree)
    assert mine["effective correct"]["tasks"] == len(twice)


def varied(model: str, answers: list[str], right: set[str]) -> list[tuple[str, str, str, int]]:
    """Forty tasks attempted with these answers each."""
    return [(model, f"t{t}", a, int(a in right)) for t in range(40) for a in answers]


def test_a_gain_from_two_answers_is_flagged_and_one_from_many_is_not() -> None:
    counts = solved(
        *varied("flips", ["a", "b"] * 6, {"a"}),
        *varied("explores", [*"abcdefghij", "a", "b"], {"a"}),
        *varied("knows", ["a"] * 12, {"a"}),
    )
    report = diversity_report(counts, (2, 6, 12))
    actual = facts(report)
    for k in (2, 6, 12):
        assert actual["flips", f"variety@{k}"]["note"] == GAIN_WITH_LITTLE_VARIETY_FLAG
        assert actual["explores", f"variety@{k}"]["note"] == ""
        assert actual["knows", f"variety@{k}"]["estimate"] is None
        # Two answers, one of them right: as many solutions as verdicts.
        variety, least = (actual["flips", f"{f}@{k}"] for f in ("variety", "least variety"))
        assert variety["estimate"] == pytest.approx(least["estimate"])
    (warned,) = [messages for messages in report.messages if messages.severity == "warning"]
    assert (warned.name, warned.fields["models"]) == ("little-variety", ["flips"])
    # Of its ten solutions one is right: tried one after the other, six find it in 6 of 10 cases.
    assert actual["explores", "distinct-pass@6"]["estimate"] == pytest.approx(0.6)
    assert actual["explores", "pass@6"]["estimate"] > 0.6
    gains = report.tables[1]
    assert gains.visibility == "full"
    assert {row[0]: row[-1] for row in gains.rows} == {
        "flips": GAIN_WITH_LITTLE_VARIETY_FLAG,
        "explores": "",
        "knows": "",
    }


def test_the_table_has_the_largest_k_and_duplicates() -> None:
    report = diversity_report(solved(*varied("m", ["a", "a", "b", "c"], {"a"})), (2, 3))
    headers = [(c.header, c.visibility) for c in report.tables[0].columns]
    assert headers[:4] == [
        ("model", "always"), ("distinct@3", "always"), ("distinct-correct@3", "always"),
        ("duplicates", "always"),
    ]  # fmt: skip
    assert {columns for _, columns in headers[4:]} == {"full"}
    assert all(column.meaning for table in report.tables for column in table.columns)
    (sentence,) = report.answer
    assert (sentence.name, sentence.fields["k"]) == ("different-solutions", 3)


def test_models_come_best_first() -> None:
    rows = [(m, f"t{i}", "x", i < good) for m, good in (("v1", 1), ("v10", 4)) for i in range(5)]
    report = diversity_report(solved(*rows, *reversed(rows)), (2,))
    assert [row[0] for row in report.tables[0].rows] == ["v10", "v1"]
    assert list(dict.fromkeys(row[0] for row in report.data_table.rows)) == ["v10", "v1"]


def test_where_no_more_variety_is_possible_there_is_no_flag() -> None:
    """Of two attempts one passes and one fails: they cannot be more than two solutions."""
    actual = facts(diversity_report(solved(*varied("m", ["a", "b"], {"a"})), (2,)))
    assert actual["m", "gain@2"]["low"] > 0
    assert actual["m", "variety@2"]["estimate"] == 2
    assert actual["m", "variety@2"]["note"] == ""


def test_variants_that_are_merged_are_flagged() -> None:
    """The gaming the check is for: one solution in minor variations, one of which passes."""
    body = "def solve(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total"
    variants = [f"{body} + {i}" for i in range(8)]
    rows = varied("variants", variants, set(variants[:2]))
    frame = pd.DataFrame(rows, columns=["model", "task", "solution", "passed"])
    separate = facts(diversity_report(read(frame, attempts=["solution"]), (4,)))
    assert separate["variants", "variety@4"]["note"] == ""
    near = read(frame, attempts=["solution"], similarity=0.8)
    merged = facts(diversity_report(near, (4,)))
    assert merged["variants", "distinct@4"]["estimate"] == 1
    assert merged["variants", "variety@4"]["note"] == GAIN_WITH_LITTLE_VARIETY_FLAG
    # One solution that passes in two of eight attempts.
    assert merged["variants", "distinct-pass@4"]["estimate"] == pytest.approx(0.25)
    assert merged["variants", "pass@4"]["estimate"] == pytest.approx(1 - 15 / 70)


def test_what_has_no_value_says_why() -> None:
    counts = solved(*[("m", f"t{t}", f"s{i}", 0) for t in range(5) for i in range(3)])
    report = diversity_report(counts, (2,))
    actual = facts(report)
    assert actual["m", "effective"]["estimate"] is None
    assert actual["m", "effective"]["note"] == "all solutions differ: no two attempts agree"
    assert actual["m", "effective correct"]["note"] == "no task has enough attempts"
    first = solved(("m", "t", "s", 1), ("m", "u", "s", 1))
    with pytest.raises(ParameterError, match="needs two attempts at every task, but no model has"):
        diversity_ks(first)
    assert facts(diversity_report(first, (1,)))["m", "distinct@1"]["estimate"] == 1


def test_default_ks() -> None:
    def ks(n: int) -> tuple[int, ...]:
        rows = [("m", "t", str(i % 3), i % 2) for i in range(n)]
        return diversity_ks(solved(*rows))

    assert [ks(n) for n in (2, 3, 4, 10, 50, 100, 250)] == [
        (2,), (2, 3), (2, 4), (2, 5, 10), (2, 10, 25, 50), (2, 10, 100), (2, 10, 100),
    ]  # fmt: skip


def test_missing_solutions_are_one_kind_and_said() -> None:
    rows = [("m", "t", None, 0), ("m", "t", None, 0), ("m", "t", "a", 1), ("m", "u", "a", 1)]
    report = diversity_report(solved(*rows), (1,))
    assert facts(report)["m", "distinct"]["estimate"] == 1.5
    fields = {messages.name: messages.fields for messages in report.messages}["missing-values"]
    assert fields["attempts"] == 2


def test_short_tasks_clusters_and_populations() -> None:
    rows = [*varied("m", ["a", "b", "c", "c"], {"a"}), ("m", "short", "a", 1)]
    counts = solved(*rows)
    empty = facts(diversity_report(counts, (3,)))
    assert empty["m", "distinct@3"]["note"] == "n=1 < k=3 on 1 of 41 tasks"
    drop = facts(diversity_report(counts, (3,), short_tasks="drop"))
    assert drop["m", "distinct@3"]["estimate"] == pytest.approx(2.5)
    assert drop["m", "variety@3"]["tasks"] == 40
    fixed = facts(diversity_report(counts, (2,), Confidence(population="these-tasks"),
                                   short_tasks="drop"))  # fmt: skip
    assert fixed["m", "distinct@2"]["low"] < 2 - 1 / 6 < fixed["m", "distinct@2"]["high"]
    assert fixed["m", "duplicates"]["note"] == "no interval for these tasks"
    halves = counts.with_clusters({t: t[-1] for t in counts.tasks})
    clustered = diversity_report(halves, (2,), Confidence(cluster="half"), short_tasks="drop")
    assert facts(clustered)["m", "duplicates"]["low"] is not None
    bare = facts(diversity_report(counts, (2,), Confidence("none"), short_tasks="drop"))
    assert bare["m", "distinct"]["se"] is not None
    assert bare["m", "distinct"]["low"] is None


def test_curves_are_drawn_when_asked_for(crux: Counts) -> None:
    (plot,) = diversity_report(crux, (2,)).plots
    lines = plot.rows
    assert len(lines) == 8 * 2 * 10
    first = [row for row in lines if row["panel"] == "distinct@k" and row["x"] == 1]
    assert {row["y"] for row in first} == {1.0}


def test_these_are_metrics_like_all_others(crux: Counts) -> None:
    metrics = [
        parse_metric(f"{f}@5") for f in ("distinct", "distinct-correct", "distinct-pass", "gain")
    ]
    single = EstimateRunner().report(Analysis(crux, tuple(metrics)))
    beside = facts(diversity_report(crux, (5,)))
    for row in single.data_table.rows:
        named = dict(zip((c.header for c in single.data_table.columns), row, strict=True))
        key = (named["model"], named["temperature"], named["metric"])
        # Intervals computed together are the same but for rounding.
        for name, value in named.items():
            near = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            assert beside[key][name] == near
    with pytest.raises(DataError, match="read without the solution"):
        diversity_report(read(SAMPLES / "tau_airline.csv"), (2,))


@pytest.mark.long
def test_intervals_of_distinct_solutions_cover() -> None:
    """Attempts have their task's favourite solution with a chance uniform on [0.4, 0.8], else one
    that nobody else has; 200 repetitions: Monte-Carlo error 1.5 points."""
    rng = np.random.default_rng(5)
    tasks, n, covered = 30, 6, 0
    truth = 2 - (0.8**3 - 0.4**3) / (3 * 0.4)
    for _ in range(200):
        favourite = rng.binomial(n, rng.uniform(0.4, 0.8, tasks))
        rows = [[m] * (m > 0) + [1] * (n - m) for m in favourite.tolist()]
        count = np.array([m for row in rows for m in row])
        start = np.cumsum([0, *map(len, rows)])
        values = distinct_at_k(start, count, count, count, 2)
        actual = interval(IntervalData(values, 1.0, 2.0))
        covered += actual.low <= truth <= actual.high
    assert covered / 200 >= 0.92


def test_an_answer_is_offered_as_the_solution(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,passed,predicted_answer\na,1,x\na,0,y\nb,1,z\nb,0,z\n")
    words = f"diversity {path} --field solution=predicted_answer"
    assert f"  passk {words}  # " in passk("diversity", path).err
    assert passk(*words.split()).code == 0
