"""The first sentence of a comparison: true for ties, winners, groups, and data that say nothing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk, Write, long_cases
from tests.words import faults

CRUXEVAL = SAMPLES / "cruxeval.jsonl.gz"


def table(passes: Mapping[str, Sequence[int]], n: int = 4) -> str:
    lines = [f"{m},t{t},{n},{c}" for m, counts in passes.items() for t, c in enumerate(counts)]
    return "\n".join(["model,task,n,c", *lines])


def answer(passk: Passk, *arguments: object) -> str:
    return passk("compare", *arguments, "-m", "pass@1").out.split("\n")[0]


@pytest.mark.parametrize(
    ("passes", "n", "sentence"),
    [
        ({"a": [4] * 30, "b": [4] * 30, "c": [0] * 30}, 4,
         "a and b tie for first at pass@1 (1.000); c (0.000) is significantly worse."),
        ({"a": [4] * 30, "b": [4] * 30, "c": [4] * 30, "d": [0] * 30, "e": [0] * 30}, 4,
         "a, b and c tie for first at pass@1 (1.000); the other 2 (at most 0.000) are"
         " significantly worse."),
        ({"a": [0] * 9, "b": [0] * 9, "c": [0] * 9}, 4, "All 3 models tie at pass@1 (0.000)."),
        ({"a": [4] * 30, "b": [2] * 30, "c": [0] * 30}, 4,
         "a leads at pass@1 by 0.500 [0.423, 0.577], p < 0.0001; every other pair also differs"
         " significantly."),
        ({"a": [4] * 3, "b": [2] * 3, "c": [0] * 3}, 4,
         "All 3 models tie at pass@1 (0.000–1.000)."),
        ({"a": [1], "b": [0]}, 1, "a and b tie at pass@1: +1.000 [-0.967, +1.000], p = 1.00."),
        ({"a": [4] * 30, "b": [0] * 30}, 4,
         "a is significantly better than b at pass@1: +1.000 [+0.911, +1.000], p < 0.0001."),
        # b ties with both: c is worse than a alone.
        ({"a": [3] * 20, "b": [4, 1] * 10, "c": [2] * 20}, 4,
         "a and b tie for first at pass@1 (0.625–0.750); c (0.500) is significantly worse than at"
         " least one model."),
    ],
)  # fmt: skip
def test_sentences(
    passk: Passk, write: Write, passes: dict[str, list[int]], n: int, sentence: str
) -> None:
    assert answer(passk, write("x.csv", table(passes, n))) == sentence


def test_models_that_cannot_be_compared_are_counted(passk: Passk, write: Write) -> None:
    pair = table({"a": [4] * 30, "b": [0] * 30})
    path = write("x.csv", f"{pair}\nc,other,4,2\n")
    result = passk("compare", path, "-m", "pass@1")
    assert result.out.startswith("a leads at pass@1 by 1.000 [0.911, 1.000], p < 0.0001.")
    words = (
        "warning[pairs-not-compared]: 2 pairs cannot be compared at pass@1: the models share no"
        " task"
    )
    assert words in result.err


def test_a_baseline_with_better_tied_and_worse(passk: Passk) -> None:
    cool = (CRUXEVAL, "--where", "temperature < 0.5", "--baseline", "deepseek-base-6.7b")
    text = passk("compare", *cool, "-m", "pass@10", "--percent").out.split("\n")[0]
    assert text == (
        "Against deepseek-base-6.7b at pass@10: 1 significantly better, 1 significantly worse, 1"
        " tied; highest: gpt-4-0613 +19.9 points."
    )


@pytest.mark.long
def test_groups_have_a_first_model_each(passk: Passk) -> None:
    assert answer(passk, CRUXEVAL, "--by", "temperature") == (
        "First at pass@1 in 2 groups: gpt-4-0613 (temperature 0.2, temperature 0.8); 12 of 12 pairs"
        " differ significantly."
    )


def test_tests_that_cannot_reject_are_said(passk: Passk, write: Write) -> None:
    path = write("x.csv", table({"a": [4] * 3, "b": [2] * 3, "c": [0] * 3}))
    words = "note[powerless-tests]: none of 3 tests at pass@1 can be significant"
    assert words in passk("compare", path, "-m", "pass@1").err
    long = write("y.csv", table({"a": [4] * 30, "b": [2] * 30, "c": [0] * 30}))
    assert "powerless" not in passk("compare", long, "-m", "pass@1").err


def test_missing_outcomes_leave_ranges(passk: Passk, write: Write) -> None:
    lines = [f"{m},t{t},{m == 'a'}" for m in "abc" for t in range(30)]
    path = write("x.csv", "\n".join(["model,task,passed", *lines, "a,t0,", "b,t1,"]))
    text = answer(passk, path, "--missing", "bounds")
    assert text.startswith("a leads at pass@1 by 0.967–1.000 [")
    ranking = passk("compare", path, "-m", "pass@1", "--missing", "bounds").out.splitlines()[3:]
    assert ranking[0].split()[:4] == ["1", "a", "0.983–1.000", "a"]


def test_an_order_that_reverses_is_said(passk: Passk, tmp_path: Path) -> None:
    """wide solves many tasks half of the time, sure few tasks always."""
    path = tmp_path / "x.csv"
    rows = [("wide", t, 5 if t < 90 else 0) for t in range(100)]
    rows += [("sure", t, 10 if t < 60 else 0) for t in range(100)]
    path.write_text("model,task,n,c\n" + "".join(f"{m},t{t},10,{c}\n" for m, t, c in rows))
    answer = passk("compare", path, "-m", "pass@1,pass@10").out.splitlines()[0]
    assert (
        "The order of the two models reverses: at pass@10, wide is significantly better." in answer
    )
    assert "reverses" not in passk("compare", path, "-m", "pass@1").out


@pytest.mark.parametrize(
    "more",
    [["--margin", "0.05"], ["--baseline", "gpt-4-0613"],
     *long_cases([], ["--crossings"], ["--by", "temperature", "-v"], ["--sensitivity",
     "temperature"])],
)  # fmt: skip
def test_no_forbidden_words(passk: Passk, more: list[str]) -> None:
    few = ["--where", "task_id LIKE '%7'"]
    if "temperature" not in more:
        few += ["--pool", "temperature"]
    result = passk("compare", CRUXEVAL, "-m", "pass@1", *few, *more)
    assert result.code == 0
    assert list(faults(result.out + result.err)) == []


def test_a_name_that_ends_in_a_blank_shows_it(passk: Passk, write: Write) -> None:
    data = write("a.csv", "model,task,passed\nx,a,1\nx,b,0\nx ,a,1\nx ,b,1\n")
    result = passk("estimate", data)
    assert '"x "' in result.out


def test_a_picture_of_some_pairs_says_whose(passk: Passk, write: Write, tmp_path: Path) -> None:
    data = write("a.csv", table({f"m{i:02}": [min(i, 4)] * 6 + [2] * 3 for i in range(12)}))
    passk("compare", data, "--full", "--chart", tmp_path / "a.svg")
    (words,) = re.findall("<desc>.*</desc>", (tmp_path / "a.svg").read_text(), re.DOTALL)
    assert words.endswith(" · the 11 pairs of m04, of 66</desc>")


def test_of_two_labelled_runs_the_second_is_compared_with_the_first(
    passk: Passk, write: Write
) -> None:
    """In the order typed, whichever is better; models of one file are compared best first."""
    passes = {"a": [4] * 25 + [0] * 5, "b": [4] * 5 + [0] * 25}
    files = {
        run: write(f"{run}.csv", table({run: own_values})) for run, own_values in passes.items()
    }
    worse = passk("compare", f"one={files['a']}", f"two={files['b']}", "--flips").out
    assert worse.startswith("two is significantly worse than one at pass@1: -0.667")
    assert "20 of 30 tasks flipped from one to two, 0 to passing and 20 to failing" in worse
    page = passk("report", f"one={files['a']}", f"two={files['b']}").out
    assert page.startswith("two is significantly worse than one at pass@1")
    assert "flipped from one to two" in page.split("\n")[0]
    better = answer(passk, f"two={files['b']}", f"one={files['a']}")
    assert better.startswith("one is significantly better than two at pass@1: +0.667")
    pair = write("both.csv", table(passes))
    assert answer(passk, pair).startswith("a is significantly better than b")


def test_a_picture_shows_the_ranking_and_with_full_the_pairs_too(
    passk: Passk, write: Write, tmp_path: Path
) -> None:
    rates = {f"m{i}": [max(0, 4 - i)] * 9 + [i % 3] * 5 for i in range(4)}
    data = write("a.csv", table(rates))
    passk("compare", data, "--chart", tmp_path / "short.svg")
    passk("compare", data, "--full", "--chart", tmp_path / "full.svg")
    short, full = ((tmp_path / f"{name}.svg").read_text() for name in ("short", "full"))
    means = {f"{sum(counts) / 4 / 14:.3f}" for counts in rates.values()}
    assert all(f">{mean}<" in short for mean in means)
    assert "m0 −" not in short
    assert "m0 −" in full
    assert f">{min(means)}<" in full


def test_a_ranking_with_ranges_is_not_drawn_as_points() -> None:
    rows = [
        {"model": m, "task": t, "attempt": i, "passed": (t * 3 + i * 5 + ord(m)) % 7 < 4}
        for m in "abc" for t in range(9) for i in range(2)
    ]  # fmt: skip
    lost = [{**row, "passed": None} if row == rows[0] else row for row in rows]
    with warnings.catch_warnings(action="ignore"):
        whole, ranges = passk_cli.compare(rows), passk_cli.compare(lost, missing="bounds")
    assert [plot.kind for plot in whole.report.plots_in_picture(full=False)] == ["ranking"]
    assert [plot.kind for plot in ranges.report.plots_in_picture(full=False)] == ["forest"]
    (ranking,) = whole.report.plots_in_picture(full=False)
    assert ranking.subtitle.startswith("9 tasks × 2 attempts · ")
