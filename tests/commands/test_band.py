"""Which model leads at which k: ranges, sentences, sets of crossings, and whether bands hold."""

from __future__ import annotations

from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passk_cli
from benchmarks.guards import GUARD
from passk_cli.inference.bands import pointwise_level
from passk_cli.inference.intervals import Sample
from passk_cli.inference.ranking import possible_crossings, runs
from passk_cli.inference.weights import bootstrap_means
from passk_cli.metrics.pass_k import curve
from tests.conftest import Passk, Write, records

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long


def crossing_counts(tasks: int = 80, n: int = 40) -> dict[str, list[object]]:
    """`narrow` solves half the tasks always, `wide` every task sometimes: they cross at pass@k."""
    rng = np.random.default_rng(0)
    rates = {
        "narrow": np.where(np.arange(tasks) % 2, 0.95, 0.0),
        "wide": np.full(tasks, 0.2),
        "weak": np.full(tasks, 0.02),
    }
    cells = [
        (model, f"t{t}", n, int(rng.binomial(n, p)))
        for model, own in rates.items()
        for t, p in enumerate(own)
    ]
    return {
        name: list(column)
        for name, column in zip(("model", "task", "n", "c"), zip(*cells, strict=True), strict=True)
    }


def test_ranges_and_the_set_of_crossings() -> None:
    findings = passk_cli.compare(
        crossing_counts(), ["pass@1", "pass^2"], baseline="wide", band=True, resamples=1000
    )
    table = next(t for t in findings.tables if "may cross at" in t.columns)
    said = {(row[0], row[2]): (row[3], row[4]) for row in table.to_numpy()}
    sentence, crossings = said["narrow", "pass@k"]
    assert sentence.startswith("better for k = 1")
    assert ", tied for " in sentence
    assert ", worse from " in sentence
    assert said["weak", "pass@k"] == ("worse at every k", "none")
    assert said["narrow", "pass^k"][0].startswith("better")
    band = findings.frame.query("band == 'simultaneous' and model == 'narrow'")
    band = band[band["metric"].str.startswith("pass@")]
    assert band["k"].tolist() == list(range(1, 41))
    assert set(band["interval"]) == {"guard"}
    assert set(band["level"]) == {0.95}
    assert (band["pointwise_level"] > 0.95).all()
    for row in band.itertuples():
        word = "better" if row.low > 0 else "worse" if row.high < 0 else "tied"
        assert row.verdict == word
        assert row.range_first <= row.k <= row.range_last
    # The true difference ½(1 − 0.05^k) − (1 − 0.8^k) changes its sign between k = 3 and k = 4.
    first, last = (int(end) for end in crossings.removeprefix("k = ").split("–"))
    assert first <= 4 <= last
    certain = band[band["crossing"] == "certain"]["k"].tolist()
    assert certain == list(range(first, last + 1))
    truth = 0.5 * (1 - 0.05 ** band["k"]) - (1 - 0.8 ** band["k"])
    assert ((band["low"] <= truth) & (truth <= band["high"])).all()


def test_pairs_are_adjusted_together_or_not_and_margins_are_kept() -> None:
    counts = crossing_counts(30, 6)
    levels, limits = {}, {}
    for adjust in ("min-p", "holm", "none"):
        found = passk_cli.compare(
            counts, "pass@1", adjust=adjust, band=True, margin=0.9, resamples=1000
        )
        frame = found.frame.query("band == 'simultaneous'")
        levels[adjust] = frame.groupby(["model", "against"])["pointwise_level"].first()
        limits[adjust] = frame[["low", "high"]].to_numpy().tolist()
    # The level of a band is its own, however the tests beside it are adjusted.
    assert limits["min-p"] == limits["holm"] != limits["none"]
    # Three pairs: a third of the error each.
    assert (1 - levels["holm"] < (1 - levels["none"]) / 2).all()
    inside = (frame["low"] >= -0.9) & (frame["high"] <= 0.9)
    assert inside.any()
    apart = (frame["low"] > 0) | (frame["high"] < 0)
    assert (inside & apart).any()
    assert ((frame["verdict"] == "equivalent") == inside & ~apart).all()
    assert "band: 95 % simultaneous" in found.report.context
    details = " · ".join(found.report.explain())
    assert "band: 95 % for all k together, each pair and curve by itself (guard" in details
    assert details.endswith("equivalent at a k: the band lies within ±0.9 and holds 0")


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_band_has_the_interval_of_its_level_at_each_k() -> None:
    """Neither the level of the pair's family nor anything else of another k."""
    rng = np.random.default_rng(3)
    rates, made = rng.beta(9, 1, 9), (("a", 20), ("b", 5))
    cells = [(m, f"t{t}", n, int(rng.binomial(n, p))) for m, n in made for t, p in enumerate(rates)]
    data = pd.DataFrame(cells, columns=["model", "task", "n", "c"])
    band = passk_cli.compare(data, "pass@1", baseline="a", band=True).frame.query(
        "band == 'simultaneous'"
    )
    assert band["k"].tolist() == [1, 2, 3, 4, 5]
    for row in band.itertuples():
        alone = passk_cli.compare(
            data, f"pass@{row.k}", baseline="a", level=row.pointwise_level, interval="guard"
        ).frame
        expected = (alone.estimate[0], alone.low[0], alone.high[0])
        assert (row.estimate, row.low, row.high) == pytest.approx(expected, abs=1e-9)


def test_these_tasks_and_every_attempt_passes() -> None:
    counts = crossing_counts(20, 5)
    fixed = passk_cli.compare(counts, "pass@1", baseline="wide", band=True, resamples=1000,
                              population="these-tasks").frame  # fmt: skip
    assert set(fixed.query("band == 'simultaneous'")["interval"]) == {"hull"}
    counts["c"] = counts["n"]
    for population in ("new-tasks", "these-tasks"):
        found = passk_cli.compare(counts, "pass@1", baseline="wide", band=True, resamples=1000,
                                  population=population)  # fmt: skip
        band = found.frame.query("band == 'simultaneous'")
        assert set(band["verdict"]) == {"tied"}
        assert (band["estimate"] == 0).all()
        assert (band["low"] < 0).all()
        assert (band["high"] > 0).all()


def test_unequal_attempts_end_at_the_fewest_of_both(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,n,c\na,1,9,5\nb,1,4,1\na,2,7,7\nb,2,6,0\na,3,8,2\nb,3,5,1\n")
    rows = records(passk("compare", path, "-m", "pass^1", "--band", "-f", "csv").out)
    assert [r["k"] for r in rows if r["band"]] == ["1", "2", "3", "4"]
    # Resampling needs nothing of the pointwise tests: those of one k are as without the band.
    plain = records(passk("compare", path, "-m", "pass^1", "-f", "csv").out)
    assert [r["p"] for r in plain] == [r["p"] for r in rows if not r["band"]]


@pytest.mark.long
def test_long_curves_are_computed_at_some_ks(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,n,c\na,1,120,80\nb,1,120,9\na,2,120,9\nb,2,120,8\n")
    done = passk("compare", path, "-m", "pass@1", "--band")
    assert "note[band-at-some-k]: the band is computed at 57 k's up to 120; ranges" in done.err


def test_what_has_no_band_is_said(passk: Passk, write: Write) -> None:
    path = write(
        "x.csv", "model,task,score\na,1,3\nb,1,2\na,1,1\nb,1,0\na,2,2\na,2,1\nb,2,5\nb,2,3\n"
    )
    done = passk("compare", path, "-m", "best@2,mean", "--band")
    assert "no band of mean: it is no curve over k" in done.err
    done = passk("compare", path, "-m", "mean", "--band")
    assert (done.code, "--band: it needs two models with shared tasks" in done.err) == (2, True)
    done = passk("compare", path, "-m", "best@2", "--band", "--population", "these-tasks")
    assert (done.code, "and pass@k or pass^k" in done.err) == (2, True)
    path = write("y.csv", "model,task,n,c\na,1,3,2\nb,1,3,1\na,2,3,1\nb,2,3,0\n")
    these = ["compare", path, "-m", "pass@1", "--band", "--population", "these-tasks"]
    done = passk(*these, "--interval", "jackknife")
    assert "no band at pass@3: no attempt can be left out" in done.err
    assert "no interval at 3" in done.out


signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=7)


@given(signs)
def test_crossings_are_all_that_some_curve_inside_has(open_signs: list[int]) -> None:
    ks = np.arange(1, len(open_signs) + 1)
    sets = possible_crossings(ks, np.array(open_signs))
    choices = [[sign] if sign else [-1, 1] for sign in open_signs]
    seen: set[int] = set()
    for inside in product(*choices):
        turns = {k for k in range(2, len(inside) + 1) if inside[k - 1] != inside[k - 2]}
        seen |= turns
        for one in sets:
            assert not one.certain or turns & set(range(one.first, one.last + 1))
    assert seen == {k for one in sets for k in range(one.first, one.last + 1)}
    always = [set(range(one.first, one.last + 1)) for one in sets if one.certain]
    assert all(a.isdisjoint(b) for i, a in enumerate(always) for b in always[:i])


@given(st.lists(st.integers(0, 2)))
def test_runs_are_the_codes_again(codes: list[int]) -> None:
    again = [code for first, last, code in runs(np.array(codes)) for _ in range(first, last + 1)]
    assert again == codes


def test_bands_hold_near_the_ceiling() -> None:
    """Beta(5, ½) against Beta(2, 0.15): a Gaussian multiplier band holds in 5 % of the runs."""
    rng = np.random.default_rng(1)
    laws, ks, n, tasks, count = ((5.0, 0.5), (2.0, 0.15)), np.arange(1, 11), 10, 30, 80
    falls = [np.cumprod((b + np.arange(n)) / (a + b + np.arange(n))) for a, b in laws]
    held = gaussian = 0
    for run in range(count):
        first, second = (
            curve(np.full(tasks, n), rng.binomial(n, rng.beta(*law, tasks)), n)[0] for law in laws
        )
        gap, truth = first - second, falls[1] - falls[0]
        draws = bootstrap_means(gap, 500, run, kind="dirichlet")
        level = pointwise_level(draws, 0.95)
        p = min(GUARD.p(Sample(gap[:, k - 1], -1.0, 1.0), truth[k - 1]) for k in ks.tolist())
        held += p > 1 - level
        se = gap.std(axis=0, ddof=1) / sqrt(tasks)
        gaussian += bool(np.all(np.abs(gap.mean(axis=0) - truth) <= 3 * se + 1e-12))
    assert held / count >= 0.95 - 3 * sqrt(0.95 * 0.05 / count)
    assert gaussian / count < 0.5


def test_the_chart_has_a_band_and_a_line_at_zero(tmp_path: Path) -> None:
    found = passk_cli.compare(
        crossing_counts(20, 8), "pass@1", baseline="wide", band=True, resamples=1000
    )
    [plot] = found.report.plots
    assert plot.kind == "curves"
    assert plot.has("low", "high", "panel", "kind")
    assert [(rule.y, rule.dashed) for rule in plot.rules] == [(0.0, False)]
    assert {row["panel"] for row in plot.rows} == {"narrow − wide", "weak − wide"}
    found.save(str(tmp_path / "x.svg"))
    assert "narrow − wide" in (tmp_path / "x.svg").read_text()


def test_a_band_has_the_floor_of_each_k() -> None:
    """With other numbers of attempts a difference has a least variance, which depends on k."""
    rng = np.random.default_rng(1)
    rates = rng.beta(5, 0.5, 15)
    n = {"a": 40, "b": 8}
    rows = {
        "model": [model for model in n for _ in rates],
        "task": [f"t{t}" for _ in n for t in range(len(rates))],
        "n": [each for each in n.values() for _ in rates],
        "c": [int(x) for each in n.values() for x in rng.binomial(each, rates)],
    }
    bands = [
        passk_cli.compare(rows, metrics=[metric], band=True, resamples=500).frame
        for metric in ("pass@1", "pass@8")
    ]
    first, other = (
        band.query("band == 'simultaneous'")[["k", "low", "high"]].to_numpy() for band in bands
    )
    np.testing.assert_allclose(first, other, rtol=1e-12)
