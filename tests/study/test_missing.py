"""Missing outcomes at both ends: nothing that they could be lies outside, by trying all of it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.inference.random_streams import named_generator
from passk_cli.metrics.registry import parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.missing_outcomes import uneven_missing_pairs
from passk_cli.study.pairwise_tests import compare_pairs
from passk_cli.study.result import Result
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.study.values import compute_values
from tests.conftest import Passk, Write

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

METRICS = parse_metric_list("pass@2,pass^2,gpass@2:0.75,mgpass@2")
PERCENTILE = Confidence(interval="percentile", resamples=200)


def design(case: int) -> Counts:
    """Two models at 3 tasks, 2 to 4 attempts each, of which some have no outcome."""
    rng = named_generator(case, "missing outcomes")
    n = np.tile(rng.integers(2, 5, 3), 2)
    missing = np.zeros(6, dtype=np.int64)
    for cell in rng.choice(6, 3, replace=False):
        missing[cell] = rng.integers(1, 3)
    rates = np.where(np.arange(6) < 3, (0.9, 0.5)[case % 2], 0.3)
    c = rng.binomial(n - missing, rates)
    series = [("a",)] * 3 + [("b",)] * 3
    return Counts.from_columns(series, [*"tuv"] * 2, n, c, missing=missing)


def fill_ins(counts: Counts) -> Iterator[Counts]:
    """The counts with every number of passes among the missing outcomes of each cell."""
    assert counts.missing is not None
    failing = counts.with_missing_as(passing=False)
    for more in itertools.product(*(range(m + 1) for m in counts.missing.tolist())):
        cells = zip(counts.cells, counts.n.tolist(), (failing.c + more).tolist(), strict=True)
        yield Counts.from_cells([(series[0], task, n, c) for (series, task), n, c in cells])


def compared(counts: Counts, rules: ComparisonOptions) -> list[Comparison]:
    values = compute_values(counts, METRICS)
    pairs = list(zip(values[: len(METRICS)], values[len(METRICS) :], strict=True))
    return compare_pairs(pairs, PERCENTILE, rules)


def facts(counts: Counts) -> list[Result]:
    return Analysis(counts, METRICS, PERCENTILE).results()


def limits(facts: list[Result], name: str) -> tuple[list[float], list[float]]:
    """The values and the low or high limits of one number over all fill-ins."""
    values, differences = (
        [v for v in column if v is not None]
        for column in zip(
            *((f.estimate.value, getattr(f.estimate, name)) for f in facts), strict=True
        )
    )
    return values, differences


@pytest.mark.parametrize("case", range(3))
def test_no_fill_in_is_outside_the_range(case: int) -> None:
    counts = design(case)
    filled = list(fill_ins(counts))
    columns = zip(facts(counts), zip(*map(facts, filled), strict=True), strict=True)
    for number, column in columns:
        values, lows = limits(list(column), "low")
        _, highs = limits(list(column), "high")
        ends = (min(values), max(values), min(lows), max(highs))
        e = number.estimate
        assert (*e.range_ends, e.low, e.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize("test", ["sign-flip", "mid-p"])
def test_no_fill_in_has_a_difference_outside_or_a_larger_p(case: int, test: str) -> None:
    counts, rules = design(case), ComparisonOptions(test=test, adjust="none")
    filled = list(fill_ins(counts))
    columns = zip(
        compared(counts, rules),
        zip(*(compared(counts, rules) for counts in filled), strict=True),
        strict=True,
    )
    for pair, column in columns:
        differences = [c.difference or 0.0 for c in column]
        fact = pair.result(PERCENTILE)
        assert fact.estimate.range_ends == pytest.approx((min(differences), max(differences)))
        lows, highs = zip(*((c.interval.low, c.interval.high) for c in column if c.interval),
                          strict=True)  # fmt: skip
        ends = (fact.estimate.low, fact.estimate.high)
        assert ends == pytest.approx((min(lows), max(highs)), abs=1e-9)
        largest = max(c.p for c in column)
        if min(differences) <= 0 <= max(differences):
            assert fact.p == 1.0
        else:
            assert fact.p == pytest.approx(largest)


@pytest.mark.parametrize("case", range(20))
def test_no_fill_in_has_a_wider_interval_or_a_larger_p(case: int) -> None:
    """By the law of differences: few tasks and many, lumps, ties, other numbers of attempts."""
    rng, confidence = named_generator(case, "filled"), Confidence().for_differences()
    tasks = int(rng.choice([2, 3, 5, 6, 9, 20]))
    n = rng.integers(2, 6, 2 * tasks)
    if case % 2:
        n[tasks:] = n[:tasks]
    missing = rng.binomial(rng.integers(0, 3, 2 * tasks) * (n > 2), (0.2, 0.8)[case % 3 == 0])
    missing = np.minimum(missing, n)
    rate = np.repeat(rng.choice([[0.9, 0.1], [0.5, 0.5], [1.0, 0.9]]), tasks)
    c = rng.binomial(n - missing, np.where(rng.random(2 * tasks) < 0.7, rate, rng.random()))
    series = [("a",)] * tasks + [("b",)] * tasks
    names = [f"t{t:02}" for t in range(tasks)] * 2
    metrics = parse_metric_list("pass@1,pass@2,gpass@2:0.75")

    def pairs(counts: Counts) -> list[Comparison]:
        values = compute_values(counts, metrics)
        value_pairs = list(zip(values[:3], values[3:], strict=True))
        return compare_pairs(value_pairs, confidence, ComparisonOptions(adjust="none"))

    bounded = pairs(Counts.from_columns(series, names, n, c, missing=missing))
    for share in (0.0, 1.0, *rng.random(25)):
        more = c + rng.binomial(missing, share)
        for comparison, pair in zip(
            pairs(Counts.from_columns(series, names, n, more)), bounded, strict=True
        ):
            assert comparison.p <= pair.p + 1e-9
            assert pair.interval is not None
            assert comparison.interval is not None
            assert (pair.interval.low or 0.0) <= (comparison.interval.low or 0.0) + 1e-9
            assert (pair.interval.high or 0.0) >= (comparison.interval.high or 0.0) - 1e-9


def test_adjusted_verdicts_hold_for_every_fill_in() -> None:
    """Three models: one that is better in the worst case is so in any, adjusted over the pairs."""
    n, missing = np.full(36, 1), np.zeros(36, dtype=np.int64)
    c = np.repeat([1, 0, 0], 12)
    c[18:23], c[30], missing[[12, 13, 27]] = 1, 1, 1
    series = [(name,) for name in "abc" for _ in range(12)]
    counts = Counts.from_columns(series, [*"abcdefghijkl"] * 3, n, c, missing=missing)
    metric, rules = parse_metric_list("pass@1"), ComparisonOptions(adjust="holm")

    def verdicts(item: Counts) -> list[tuple[float, str]]:
        a, b, third = compute_values(item, metric)
        pairs = compare_pairs([(a, b), (a, third), (b, third)], PERCENTILE, rules)
        return [(pair.adjusted, pair.verdict) for pair in pairs]

    bounded = verdicts(counts)
    assert [verdict for _, verdict in bounded] == ["tied", "better", "tied"]
    for item in fill_ins(counts):
        for (p, verdict), (most, verdict_between) in zip(verdicts(item), bounded, strict=True):
            assert p <= most + 1e-12
            assert verdict_between in (verdict, "tied")


def rows(model: str, task: str, outcomes: str) -> list[dict[str, Any]]:
    """A row per letter: + passes, - fails, ? has no outcome."""
    passed = {"+": True, "-": False, "?": None}
    return [{"model": model, "task": task, "passed": passed[o]} for o in outcomes]


def ask_in_python(command: str, data: Any, **options: Any) -> passk_cli.Findings:
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        findings: passk_cli.Findings = getattr(passk_cli, command)(data, **options)
    return findings


def test_bounds_work_for_a_task_and_a_model_without_outcomes() -> None:
    data = [*rows("m", "a", "+?"), *rows("m", "b", "???"), *rows("m", "c", "+-+-")]
    data += [*rows("none", "a", "??"), *rows("none", "b", "?"), *rows("whole", "a", "+-")]
    frame = ask_in_python("estimate", data, missing="bounds", metrics="pass@1").frame.set_index(
        "model"
    )
    thirds = [(1 / 2 + 0 + 1 / 2) / 3, (1 + 1 + 1 / 2) / 3]
    assert frame.loc["m", ["estimate_low", "estimate_high"]].tolist() == pytest.approx(thirds)
    assert frame.loc["none", ["estimate_low", "estimate_high"]].tolist() == [0.0, 1.0]
    assert frame.loc["none", ["low", "high"]].tolist() == [0.0, 1.0]
    assert np.isnan(frame.loc["m", "estimate"])
    assert frame.loc["whole", "estimate"] == 0.5
    assert np.isnan(frame.loc["whole", "estimate_low"])
    assert frame.loc[["m", "none", "whole"], "n_min"].tolist() == [2, 1, 2]


def test_nothing_missing_changes_nothing() -> None:
    data = [*rows("m", "a", "+-"), *rows("m", "b", "++")]
    usual, bounded = (ask_in_python("estimate", data, missing=m) for m in ("error", "bounds"))
    assert str(usual).replace("missing=error", "missing=bounds") == str(bounded)
    assert usual.frame.equals(bounded.frame)


PAIR = [
    row
    for task in range(12)
    for row in (
        *rows("a", f"t{task}", "?+" if task < 2 else "++"),
        *rows("b", f"t{task}", "??" if task < 3 else "+-" if task % 2 else "--"),
    )
]


def test_bounds_are_shown_as_ranges() -> None:
    text = str(ask_in_python("compare", PAIR, missing="bounds", metrics="pass@1"))
    assert "+0.458 to +0.792" in text
    assert "0.917–1.000" in text
    findings = ask_in_python("compare", PAIR, missing="bounds", metrics="pass@1")
    row = findings.frame.iloc[0]
    assert (row.verdict, row.estimate_low, row.estimate_high) == ("better", 11 / 24, 19 / 24)
    (message,) = (item for item in findings.messages if item["name"] == "missing-bounded")
    assert message["fields"] == {"missing": 8, "lost": ["b 6 of 24", "a 2 of 24"]}


@pytest.mark.parametrize(
    ("rule", "verdict", "passed"),
    [
        ({"max_drop": "pass@1=0.995"}, "pass", True),
        ({"max_drop": "pass@1=0.05"}, "fail", False),
        ({"max_drop": "pass@1=0.4"}, "undecided", False),
        ({"max_drop": "pass@1=0.7"}, "undecided", True),
        ({"max_drop": "pass@1=0.7", "on_undecided": "fail"}, "undecided", False),
        ({"minimum": "pass@1=0.2", "min_by": "estimate"}, "pass", True),
        ({"minimum": "pass@1=0.3", "min_by": "estimate"}, "undecided", False),
        ({"minimum": "pass@1=0.7", "min_by": "estimate"}, "fail", False),
        ({"minimum": "pass@1=0.15", "min_by": "lower"}, "undecided", False),
        ({"minimum": "pass@1=0.3"}, "undecided", True),
        ({"minimum": "pass@1=0.96"}, "fail", False),
        ({"no_regression": True, "k": 1}, "fail", False),
    ],
    ids=str,
)
def test_a_gate_passes_only_if_both_ends_pass(
    rule: dict[str, Any], verdict: str, passed: bool
) -> None:
    findings = ask_in_python("gate", PAIR, baseline="a", missing="bounds", **rule)
    check = findings.report.checks[-1]
    assert (check.verdict, findings.passed) == (verdict, passed)
    words = "2 attempts without an outcome tried as pass and as fail"
    assert f"baseline: {words}" in check.details
    assert words.replace("2", "6") in check.details
    assert "missing outcomes tried as fail and as pass" in findings.report.context


def test_a_rule_that_fails_at_one_end_shuts_the_gate(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,passed\na,1\nb,1\nc,\nd,0\n")
    ask = ["gate", str(path), "--min", "pass@1=0.6", "--min-by", "estimate", "--missing", "bounds"]
    result = passk(*ask)
    assert result.code == 1
    assert (
        "a, pass@1 ≥ 0.6 (estimate): 0.500–0.750 [0.069, 0.994]; worst case: fail, best"
        in result.out
    )
    assert "undecided (worst case: fail, best case: pass)" in result.out
    assert "missing outcomes tried as fail and as pass · undecided counts as fail" in result.out
    assert "1 rule would fail for some values of the missing outcomes" in result.err
    text = passk(*ask, "-f", "junit").out
    assert 'failures="1" skipped="0"' in text


REFUSED = [
    ("bootstrap", {}, "the bootstrap needs one number per model"),
    ("diversity", {"fields": {"solution": "task"}}, "the number of different solutions"),
    ("extrapolate", {"to": 10}, "may be outside the ranges"),
    ("order", {}, "a trend is largest if only early"),
    ("plan", {}, "a plan needs a single success rate per task"),
    ("temperature", {}, "the best temperature"),
    ("estimate", {"metrics": "gain@2"}, "gain@2 may be largest if only some"),
    ("estimate", {"metrics": "maj@1", "fields": {"answer": "task"}}, "its answer is unknown"),
    ("estimate", {"threshold": [0.5, 1]}, "give one threshold;"),
    ("estimate", {"interval": "t"}, "this method gives no valid limits"),
    ("compare", {"test": "t"}, "test=\"t\": with missing outcomes, this test has no valid p-value"),
    ("compare", {"crossings": True}, "with bounds of missing outcomes, curves are ranges"),
    ("curve", {"delta": True}, "delta=True: with bounds of missing outcomes, the unevenness"),
    ("curve", {"band": "simultaneous"}, "the level of a band need not lie between"),
    ("curve", {"metrics": "gain@k"}, "gain@1 may be largest"),
    ("gate", {"minimum": "gain@2=0.1"}, "gain@2 may be largest"),
    ("gate", {"minimum": "pass@1=0.1", "interval": "bca"}, "this method gives no valid limits"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "options", "message"), REFUSED, ids=str)
def test_commands_without_bounds_refuse_them(
    command: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(passk_cli.ParameterError) as refusal:
        ask_in_python(command, PAIR, missing="bounds", **options)
    assert message in str(refusal.value)
    if "threshold" in options or "fields" in options or command == "temperature":
        return
    # Counts that were read with both ends are refused as well.
    with pytest.raises(passk_cli.ParameterError):
        ask_in_python(command, passk_cli.read(PAIR, missing="bounds"), **options)


def test_the_command_line_refuses_in_the_same_words(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,passed\na,1\nb,\n")
    result = passk("plan", str(path), "--missing", "bounds")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error[no-bounds]: --missing bounds: a plan needs a single success rate per task\n"
        f"  passk plan {path} --missing fail  # counts missing outcomes as failures\n"
        f"  passk plan {path} --missing drop  # leaves them out\n"
    )


def test_a_curve_with_bounds_is_two_curves() -> None:
    findings = ask_in_python("curve", PAIR, missing="bounds", max_k=2)
    frame = findings.frame[findings.frame["model"] == "b"].set_index("metric")
    low, high = (
        ask_in_python("curve", item, max_k=2)
        .frame[lambda f: f.model == "b"]
        .set_index("metric")
        .estimate
        for item in map(filled, "-+")
    )
    for name in ("pass@1", "pass@2", "pass^2", "never", "always"):
        ends = sorted((low[name], high[name]))
        assert frame.loc[name, ["estimate_low", "estimate_high"]].tolist() == ends
    assert "gains-without-range" in [message.name for message in findings.report.messages]
    models = {row["series"] for row in findings.report.plots[0].rows}
    assert models == {f"{m} (missing {end})" for m in "ab" for end in ("fail", "pass")}


def filled(outcome: str) -> list[dict[str, Any]]:
    return [row if row["passed"] is not None else {**row, "passed": outcome == "+"} for row in PAIR]


def test_describe_shows_a_range_with_bounds() -> None:
    frame = ask_in_python("describe", PAIR, missing="bounds").frame.set_index("model")
    assert frame.loc["b", ["pass_rate_low", "pass_rate_high"]].tolist() == [5 / 24, 11 / 24]
    text = str(ask_in_python("describe", PAIR))
    assert "no outcome  b 6 of 24" in text


def test_counts_report_missing_outcomes() -> None:
    counts = passk_cli.read(PAIR, missing="bounds")
    assert "8 without an outcome" in repr(counts)
    assert counts.to_frame()["missing"].sum() == 8
    with pytest.raises(passk_cli.ParameterError, match="one number of passes"):
        ask_in_python("convert", counts, counts=True, output="/dev/null", form="csv")
    halves = ask_in_python("compare", [{**row, "half": row["task"] > "t5"} for row in PAIR],
                   missing="bounds", sensitivity="half", metrics="pass@1")  # fmt: skip
    assert halves.tables[-1]["verdict"].tolist() == ["better"]


@pytest.mark.parametrize("missing", ["fail", "drop", "bounds", "error"])
def test_uneven_losses_are_a_warning(missing: str) -> None:
    data = [
        row
        for task in range(20)
        for row in (
            *rows("a", f"t{task:02}", "?+++-" if task == 0 else "+++--"),
            *rows("b", f"t{task:02}", "??+--" if task % 5 else "+++--"),
        )
    ]
    command = "describe" if missing == "error" else "estimate"
    if missing == "bounds":
        # Ranges hold whatever comes from missing outcomes.
        names = {message["name"] for message in passk_cli.estimate(data, missing=missing).messages}
        assert "missing-bounded" in names
        assert "uneven-losses" not in names
        return
    with pytest.warns(passk_cli.PasskWarning) as warned:
        getattr(passk_cli, command)(data, missing=missing)
    texts = [item.message for item in warned if isinstance(item.message, passk_cli.PasskWarning)]
    (warning,) = [item for item in texts if item.name == "uneven-losses"]
    assert str(warning).startswith("models lack outcomes unevenly (a 1 of 100, b 32 of 100, p < 0")
    assert str(warning).endswith('missing="bounds" shows the possible effect of missing outcomes')


def losses(shares: np.ndarray[Any, Any], n: int) -> MissingOutcomeCounts:
    """(models × tasks) attempts missing of n each."""
    models = [f"m{i}" for i in range(len(shares)) for _ in shares[0]]
    units = [(f"t{t:04}",) for _ in shares for t in range(len(shares[0]))]
    return MissingOutcomeCounts.from_rows(models, units, np.full(len(units), n), shares.ravel())


def test_similar_losses_rarely_cause_a_warning() -> None:
    """Whole tasks lost at once, four models: at most 5 % of the time (300 times: ± 1.3 points)."""
    rng = named_generator(0, "losses")
    false = 0
    for _ in range(300):
        lost = rng.random((4, 30)) < 0.1
        false += bool(uneven_missing_pairs(losses(lost * 5, 5)))
    assert false / 300 <= 0.05 + 2 * 0.0126


def test_one_task_without_outcomes_is_not_significant() -> None:
    shares = np.zeros((2, 20), dtype=np.int64)
    shares[1, 0] = 10
    assert uneven_missing_pairs(losses(shares, 10)) == []
    assert uneven_missing_pairs(losses(shares[:1], 10)) == []


def test_the_signature_names_the_bound_that_replaces_draws() -> None:
    """With ranges no signs can be drawn: the caption and the data say whose bound it is."""
    rng = np.random.default_rng(3)
    data = [
        row
        for model, rate in (("a", 0.7), ("b", 0.5), ("c", 0.4))
        for task in range(20)
        for row in rows(
            model, f"t{task:02}",
            "".join("+" if x < rate else "?" if x > 0.97 else "-" for x in rng.random(4)),
        )
    ]  # fmt: skip
    ranges = passk_cli.compare(data, ["pass@1"], missing="bounds")
    assert "Bonferroni over 3 tests" in str(ranges)
    assert set(ranges.frame["adjustment"]) == {"bonferroni"}
    plain = passk_cli.compare(data, ["pass@1"], missing="fail")
    assert "min-P over 3 tests" in str(plain)
    assert set(plain.frame["adjustment"]) == {"min-p"}
