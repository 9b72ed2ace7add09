"""Whether models change differently from one metric to another, and equivalence."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import passk_cli
from passk_cli.errors import ParameterError
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.registry import Metric, MetricChange, parse_change
from passk_cli.outcomes.attempts import AttemptValuesByCell
from tests.conftest import SAMPLES, Passk, Write, records

WARM = [SAMPLES / "cruxeval.jsonl.gz", "--where", "temperature > 0.5"]
FLIPPED = [SAMPLES / "cruxeval.jsonl.gz", "--where", "model = 'codellama-7b'", "--field",
           "model=temperature"]  # fmt: skip
TWO = [*WARM, "--model", "gpt-3.5-turbo-0613", "--model", "deepseek-base-6.7b"]


def drawn(tasks: int = 60, n: tuple[int, int] = (10, 10)) -> pd.DataFrame:
    """Two models; a passes some tasks nearly always, b passes all of them now and then."""
    rng = np.random.default_rng(3)
    rates = {"a": rng.choice([0.02, 0.9], tasks), "b": rng.beta(3, 3, tasks)}
    cells = [
        (model, f"t{at}", size, int(rng.binomial(size, rate)))
        for (model, row), size in zip(rates.items(), n, strict=True)
        for at, rate in enumerate(row)
    ]
    return pd.DataFrame(cells, columns=["model", "task", "n", "c"])


def test_a_change_by_hand() -> None:
    """(pass@4 − pass@1 of a) − (the same of b), and Student's test of it."""
    frame = drawn()
    exact = [
        1 - Fraction(comb(n - c, 4), comb(n, 4)) - Fraction(c, n)
        for n, c in zip(frame.n.tolist(), frame.c.tolist(), strict=True)
    ]
    a, b = (np.array([float(x) for x in side]) for side in (exact[:60], exact[60:]))
    findings = passk_cli.compare(frame, change="pass@1:pass@4", margin=0.3)
    row = findings.frame[findings.frame.metric == "pass@4 − pass@1"].iloc[0]
    sign = 1 if row.model == "a" else -1
    assert row.estimate == pytest.approx(sign * (a - b).mean(), rel=1e-12)
    assert row.p == pytest.approx(stats.ttest_1samp(a - b, 0).pvalue, rel=1e-9)
    expected = stats.ttest_1samp(sign * (a - b), 0).confidence_interval(0.95)
    assert (row.low, row.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    one_sided = [
        stats.ttest_1samp(a - b, -0.3, alternative="greater").pvalue,
        stats.ttest_1samp(a - b, 0.3, alternative="less").pvalue,
    ]
    assert row.p_equivalence == pytest.approx(max(one_sided), rel=1e-9)
    sides = [float(np.mean(side)) for side in (a, b)][::sign]
    assert (row.estimate_model, row.estimate_against) == pytest.approx(tuple(sides), rel=1e-12)
    assert (row.test, row.family, np.isnan(row.k)) == ("guarded-t", "secondary", True)
    assert findings.signature["change"] == "pass@1:pass@4"


def test_better_at_10_but_not_at_1(passk: Passk) -> None:
    result = passk("compare", *TWO, "--change", "pass@1:pass@10")
    assert (
        "The change from pass@1 to pass@10 is significantly lower for gpt-3.5-turbo-0613: -0.099 ["
        in result.out
    )
    assert "Change from pass@1 to pass@10" in result.out
    actual = records(passk("compare", *TWO, "--change", "pass@1:pass@10", "-f", "csv").out)
    assert [(row["metric"], row["k"], row["verdict"]) for row in actual] == [
        ("pass@1", "1", "better"),
        ("pass@10", "10", "tied"),
        ("pass@10 − pass@1", "", "lower"),
    ]
    first, last, change = (float(row["estimate"]) for row in actual)
    assert change == pytest.approx(last - first, abs=1e-12)
    back = passk("compare", *TWO, "--change", "pass@10:pass@1", "-m", "pass@1", "-f", "csv")
    turned = records(back.out)[-1]
    assert (turned["metric"], turned["verdict"]) == ("pass@1 − pass@10", "higher")
    assert float(turned["low"]) == pytest.approx(-float(actual[-1]["high"]), rel=1e-9)


def test_without_metrics_those_of_the_change_are_compared(passk: Passk) -> None:
    def metrics(*more: str) -> list[str]:
        result = passk("compare", *TWO, "--change", "pass^2:pass^4", "-f", "csv", *more)
        return [row["metric"] for row in records(result.out)]

    change = "pass^4 − pass^2"
    assert metrics() == ["pass^2", "pass^4", change]
    assert metrics("-m", "pass@3") == ["pass@3", change]
    assert metrics("-k", "1") == ["pass@1", change]


def test_a_change_has_a_family_of_its_own(passk: Passk) -> None:
    def changes(*more: str) -> dict[tuple[str, str], tuple[float, ...]]:
        words = ["--change", "pass@1:pass@4", "-f", "csv", "--resamples", "2000", *more]
        result = passk("compare", *WARM, *words)
        return {
            (row["model"], row["against"]): tuple(
                float(row[name]) for name in ("p", "p_adjusted", "low", "high")
            )
            for row in records(result.out)
            if "−" in row["metric"]
        }

    single, beside, together = changes("-m", "pass@1"), changes("-m", "pass@2,pass@3"), changes(
        "-m", "pass@1", "--family", "all"
    )  # fmt: skip
    assert len(single) == 6
    assert single == beside
    for pair, (p, adjusted, low, high) in single.items():
        assert p <= adjusted
        assert (adjusted <= 0.05) == (low > 0 or high < 0)
        assert together[pair][3] - together[pair][2] > high - low


def test_a_margin_hides_no_significant_difference(passk: Passk) -> None:
    """Also one that is within the margin is significant, and the order still reverses."""
    words = ["compare", *FLIPPED, "--change", "pass@1:pass@10", "-m", "pass@1,pass@10"]
    plain, within = (passk(*words, *more).out for more in ((), ("--margin", "0.25")))
    first, *rivals = plain.splitlines()[0].split(". ")
    sentence = within.splitlines()[0]
    assert sentence.startswith(f"{first}; within the margin, p < 0.0001. ")
    assert (
        "The order of the two models reverses: at pass@10, 0.8 is significantly better." in sentence
    )
    assert all(second in sentence for second in rivals)
    rows = records(passk(*words, "--margin", "0.25", "-f", "csv").out)
    assert [row["verdict"] for row in rows] == ["better", "worse", "lower"]
    assert [float(row["p_equivalence"]) <= 0.05 for row in rows] == [True, True, False]


def test_of_many_pairs_the_answer_counts(passk: Passk) -> None:
    result = passk("compare", *WARM, "--change", "pass@1:pass@10", "--margin", "0.05")
    counted = (
        "In their change from pass@1 to pass@10, 5 of 6 pairs differ significantly; 1 equivalent."
    )
    assert counted in result.out
    based = passk(
        "compare", *WARM, "--change", "pass@1:pass@10", "--baseline", "codellama-7b", "-m", "pass@1"
    )
    assert "from pass@1 to pass@10, 2 of 3 pairs differ significantly." in based.out


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("pass@1", "write FROM:TO"),
        ("pass@1:pass@2:pass@3", "write FROM:TO"),
        ("pass@1:", "write FROM:TO"),
        ("pass@1:x", "there is no metric named 'x'"),
        ("pass@1:pass@1", "the two metrics of a change must be different"),
        ("pass@1:mean", "the two metrics of a change must have the same unit"),
    ],
)
def test_a_change_that_is_none(passk: Passk, value: str, problem: str) -> None:
    result = passk("compare", *TWO, "--change", value)
    assert (result.code, result.out, result.sentences) == (2, "", 1)
    assert f"--change {value}: {problem}" in result.err
    with pytest.raises(ParameterError, match=f'change="{value}": {problem}'):
        passk_cli.compare(drawn(), change=value)


def test_a_change_that_the_data_have_not(passk: Passk) -> None:
    result = passk("compare", *TWO, "--change", "pass@1:pass@100", "-m", "pass@1")
    assert "pass@100 needs 100 attempts per task, but no task has more than 10" in result.err
    for value in (3, ["pass@1:pass@2", "x"]):
        with pytest.raises(ParameterError, match="write FROM:TO"):
            passk_cli.compare(drawn(), change=value)


def test_missing_outcomes_that_may_pass_are_refused(passk: Passk, write: Write) -> None:
    lines = [f"{m},t{t},{(t + i) % 2}" for m in "ab" for t in range(6) for i in range(4)]
    path = write("x.csv", "model,task,passed\n" + "\n".join(lines) + "\na,t0,\n")
    words = ["compare", path, "--change", "pass@1:pass@2", "-m", "pass@1"]
    result = passk(*words, "--missing", "bounds")
    assert (result.code, "a change may be largest if some missing outcomes" in result.err) == (
        2,
        True,
    )
    assert passk(*words, "--missing", "fail").code == 0


def test_of_many_pairs_the_first_are_listed(passk: Passk, write: Write) -> None:
    """Nine models make 36 pairs; m0 alone gains from a second attempt."""
    cells = [
        f"m{at},t{t},2,{2 * (t * (at + 2) % 41 % 2) if at else 1}"
        for at in range(9)
        for t in range(40)
    ]
    path = write("x.csv", "model,task,n,c\n" + "\n".join(cells) + "\n")
    command = ("compare", path, "--change", "pass@1:pass@2", "-m", "pass@1")
    for more, rows in (((), 28), (("--full",), 36)):
        table = passk(*command, *more).out.split("Change from pass@1 to pass@2")[1].split("\n\n")[0]
        assert len(table.splitlines()) == 2 + rows


def test_these_tasks_and_other_tests(passk: Passk) -> None:
    def last(*more: str) -> dict[str, str]:
        result = passk("compare", *TWO, "--change", "pass@1:pass@4", "-f", "csv", *more)
        return records(result.out)[-1]

    fixed = last("--population", "these-tasks", "--margin", "0.12")
    assert (fixed["test"], fixed["interval"], fixed["verdict"]) == (
        "within-tasks", "hull", "lower",
    )  # fmt: skip
    assert float(fixed["p_equivalence"]) < 0.05
    assert float(fixed["high"]) - float(fixed["low"]) < 0.03
    assert last("--test", "t")["test"] == "t"
    refused = passk("compare", *TWO, "--change", "pass@1:pass@10", "-m", "pass@10", "--test",
                    "suissa-shuster")  # fmt: skip
    assert "values of pass@10 − pass@1 can lie between −1 and 1" in refused.err


def test_scores_change_within_their_bounds() -> None:
    rng = np.random.default_rng(7)
    scores = [
        {"model": model, "task": task, "score": float(rng.integers(0, 5))}
        for model in "ab" for task in range(12) for _ in range(4)
    ]  # fmt: skip
    actual = passk_cli.compare(scores, change="best@1:best@4", bounds=(0, 4)).frame.iloc[-1]
    assert (actual.metric, actual.test) == ("best@4 − best@1", "guarded-t")
    change = parse_change("best@1:best@4")
    assert change.bounds_given_scores((0.0, 4.0)) == (-4.0, 4.0)
    assert change.bounds is None
    mixed = passk_cli.compare(
        [row | {"passed": row["score"] > 2, "answer": str(row["score"])} for row in scores],
        change="pass@2:maj@2",
        fields={"outcome": "passed"},
    ).frame
    assert mixed.metric.tolist() == ["pass@2", "maj@2", "maj@2 − pass@2"]
    assert mixed.estimate[2] == pytest.approx(mixed.estimate[1] - mixed.estimate[0], abs=1e-12)


def test_tasks_with_too_few_attempts(write: Write) -> None:
    frame = drawn()
    frame.loc[frame.task == "t5", ["n", "c"]] = [2, 1]
    short = "n=2 < k=4 on 1 of 60 tasks"
    with pytest.warns(passk_cli.PasskWarning, match=f"cannot be compared at .*: {short}"):
        empty = passk_cli.compare(frame, "pass@1", change="pass@1:pass@4").frame.iloc[-1]
    assert np.isnan(empty.estimate)
    assert short in empty.note
    with pytest.warns(passk_cli.PasskWarning, match=f"tasks are left out of .*: {short}"):
        drop = passk_cli.compare(frame, "pass@1", change="pass@1:pass@4", short_tasks="drop").frame
    assert drop.tasks.tolist() == [60, 59]


def test_a_change_is_a_metric() -> None:
    change = parse_change(" gpass@4:0.5:pass@10 ")
    assert (change.start_metric.name, change.end_metric.name, change.k) == (
        "gpass@4:0.5",
        "pass@10",
        10,
    )
    assert parse_change("pass@8:gpass@8:0.5").end_metric.name == "gpass@8:0.5"
    gain = MetricChange.from_metrics(Metric("pass@", 1), Metric("pass@", 10))
    n = np.arange(10, 60)
    for c in (np.zeros_like(n), np.ones_like(n), n // 3, n):
        values = gain.values(n, c)
        np.testing.assert_array_equal(
            values, Metric("pass@", 10).values(n, c) - Metric("pass@", 1).values(n, c)
        )
        low, high = gain.bounds
        assert (values >= low - 1e-12).all()
        assert (values <= high + 1e-12).all()
    assert gain.bounds == (0.0, pytest.approx(0.9))
    bag = AttemptValuesByCell(
        np.array([0, 2]), np.array([0.0, 1.0]), np.array([2, 2]), np.array([0, 2])
    )
    pair = parse_change("pass@2:distinct-pass@2")
    assert pair.values_from_attempts(bag) == pytest.approx(
        parse_change("pass@1:distinct-pass@2").end_metric.values_from_attempts(bag)
        - Metric("pass@", 2).values(np.array([4]), np.array([2]))
    )


@pytest.mark.parametrize("n", [(17, 7), (20, 20)])
def test_equal_changes_are_rarely_found_different(n: tuple[int, int]) -> None:
    """Models alike, 37 tasks of Beta(1, 2): the test rejects in 6 % at most (± 0.5)."""
    rng, runs, change = np.random.default_rng(8), 2000, parse_change("pass@1:pass@5")
    sizes = np.broadcast_to(np.array(n)[:, None, None], (2, runs, 37))
    c = rng.binomial(sizes, rng.beta(1, 2, (runs, 37)))
    a, b = (change.values(*pair) for pair in zip(sizes, c, strict=True))
    low, high = change.bounds
    law = difference_distribution(a - b, high - low, difference_variance_floor(change, sizes, c))
    assert 0.02 < (law.p() <= 0.05).mean() <= 0.06
    assert (law.equivalence_p(1e-3) <= 0.05).mean() <= 0.06
