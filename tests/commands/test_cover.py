"""cover@0.8: what is said of ranges, verdicts by them, and the commands that refuse it."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli.inference.extrapolation import MAX_RANGE_WIDTH
from passk_cli.report.data_types import Estimate
from tests.conftest import SAMPLES, Passk, Write
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
TAU, AGENTS = SAMPLES / "tau_airline.csv", SAMPLES / "agents.jsonl"
METRIC = "cover@0.7"
Row = dict[str, Any]


def cells(draw: random.Random, models: int, *, groups: bool = False) -> list[Row]:
    """Counts of models with few attempts or many, at tasks that pass seldom or nearly always."""
    rows = []
    for m in range(models):
        n, share = draw.choice([2, 12, 12]), draw.choice([0.1, 0.5, 0.9])
        for t in range(30):
            rate = 0.97 if draw.random() < share else 0.1
            c = sum(draw.random() < rate for _ in range(n))
            group = {"language": "py" if t % 2 else "c"} if groups else {}
            rows.append({"model": f"m{m}", "task": f"t{t}", "n": n, "c": c, **group})
    return rows


def limits_of(row: Row) -> tuple[float, float]:
    return row["low"], row["high"]


@proves(
    "cover", "cover-not-determined", "cover-of-groups", "cover-highest", "cover-overlaps",
    "cover-some-not-determined",
)  # fmt: skip
def test_what_estimate_says_of_ranges_is_true() -> Iterator[str]:
    draw = random.Random(91)
    for number in range(40):
        groups, models = number % 5 == 4, number % 3 + 1
        options = {"by": "language"} if groups else {}
        actual = passk_cli.estimate(
            cells(draw, models, groups=groups), metrics=METRIC, **options
        )  # fmt: skip
        rows = actual.frame.to_dict("records")
        sentence = [entry for entry in actual.report.answer if entry.name.startswith("cover")]
        ranges = {
            f"{r['model']}, language {r['language']}" if groups else r["model"]: limits_of(r)
            for r in rows
        }
        widths = {name: high - low for name, (low, high) in ranges.items()}
        for row in rows:
            has_value = row["estimate"] is not None and not math.isnan(row["estimate"])
            assert has_value == (row["high"] - row["low"] <= MAX_RANGE_WIDTH)
        wide = {name for name, width in widths.items() if width > MAX_RANGE_WIDTH}
        first = sentence[0]
        fields, model = first.fields, first.fields["model"]
        assert (fields["limits"].low, fields["limits"].high) == ranges[model]
        rivals = {m for m, (_, high) in ranges.items() if m != model and high >= ranges[model][0]}
        assert ({*fields["rivals"]}, fields["count"]) == (rivals, len(rivals))
        if len(ranges) == 1:
            assert first.name == ("cover-not-determined" if wide else "cover")
        elif groups:
            assert first.name == "cover-of-groups"
            assert (fields["lowest"].low, fields["lowest"].high) == ranges[fields["last"]]
        else:
            assert first.name == ("cover-overlaps" if rivals else "cover-highest")
        assert (len(sentence) == 2) == bool(wide and len(ranges) > 1)
        for each in sentence:
            assert each.fields["open"] == len(wide)
            if wide:
                assert widths[each.fields["widest"]] == max(widths.values())
                required_values = each.fields["ahead"], each.fields["tasks"], each.fields["both"]
                assert sum(map(bool, required_values)) == 1
            yield each.name


def said_by_compare(rows: list[Row], **options: Any) -> Any:
    actual = passk_cli.compare(rows, metrics=METRIC, **options)
    return actual.report.answer, actual.frame.to_dict("records")


@proves(
    "cover-not-compared", "cover-higher", "cover-tied", "cover-pairs",
)  # fmt: skip
def test_what_compare_says_of_ranges_is_true() -> Iterator[str]:
    # Sampling that stopped at a pass has no range.
    stopped = [(10, 0)] * 20 + [(1, 1), (2, 1), (2, 1), (3, 1), (7, 1)]
    data = [{"model": m, "task": f"t{t}", "n": n, "c": c}
            for m in "ab" for t, (n, c) in enumerate(stopped)]  # fmt: skip
    (sentence,), (row,) = said_by_compare(data)
    assert row["low"] is None
    assert "stopped" in sentence.fields["reason"]
    yield sentence.name
    draw = random.Random(92)
    for number in range(40):
        data = cells(draw, number % 2 + 2)
        # A model alone has the range that its pairs have.
        actual = passk_cli.estimate(data, metrics=METRIC).frame
        single = {row["model"]: limits_of(row) for row in actual.to_dict("records")}
        (sentence,), rows = said_by_compare(data)
        verdicts = {}
        for row in rows:
            (low, high), (other_low, other_high) = single[row["model"]], single[row["against"]]
            assert (row["low_model"], row["high_model"]) == (low, high)
            assert (row["low_against"], row["high_against"]) == (other_low, other_high)
            assert limits_of(row) == (low - other_high, high - other_low)
            verdict = "better" if low > other_high else "worse" if high < other_low else "tied"
            assert row["verdict"] == verdict
            verdicts[row["model"], row["against"]] = verdict
        assert len(rows) == len(list(combinations(single, 2)))
        fields = sentence.fields
        if sentence.name == "cover-pairs":
            assert fields["pairs"] == len(rows) > 1
            assert fields["differ"] == sum(v in ("better", "worse") for v in verdicts.values())
        else:
            ((pair, verdict),) = verdicts.items()
            assert sentence.name == ("cover-tied" if verdict == "tied" else "cover-higher")
            model, against = pair[::-1] if verdict == "worse" else pair
            assert (fields["model"], fields["against"]) == (model, against)
            assert (fields["limits"].low, fields["limits"].high) == single[model]
            assert (fields["others"].low, fields["others"].high) == single[against]
        yield sentence.name


def test_only_shared_tasks_are_compared() -> None:
    rows = [{"model": m, "task": f"{m if t > 20 else ''}{t}", "n": 20, "c": 20 * (t > 20)}
            for m in "ab" for t in range(40)]  # fmt: skip
    (sentence,), (row,) = said_by_compare(rows)
    assert (sentence.name, row["tasks"], row["low_model"]) == ("cover-tied", 21, 0)
    (sentence, *_) = passk_cli.estimate(rows, metrics=METRIC).report.answer
    assert "21 tasks" in sentence.fields["where"]


@pytest.mark.parametrize(
    ("passes", "least", "verdict"),
    [(20, 0.6, "pass"), (0, 0.6, "fail"), (20, 0.99, "undecided"), (0, 0.01, "undecided")],
)
def test_a_minimum_is_judged_by_both_ends(passes: int, least: float, verdict: str) -> None:
    rows = [{"task": f"t{t}", "n": 20, "c": passes} for t in range(30)]
    actual = passk_cli.gate(rows, minimum={METRIC: least}, check=False)
    (row,) = actual.frame.to_dict("records")
    assert row["verdict"] == verdict
    assert (row["low"] >= least, row["high"] < least) == (verdict == "pass", verdict == "fail")


def test_a_wide_range_has_no_estimate_to_judge_by(passk: Passk) -> None:
    result = passk("gate", TAU, "--min", "cover@0.8=0.2", "--min-by", "estimate")
    assert result.code == 3
    assert "the range is too wide for an estimate" in result.out


def test_no_share_of_tasks_is_given_as_an_estimate(passk: Passk) -> None:
    """The share with c / n ≥ 0.8 is 10 of 50, and 11 with 3 of 4."""
    out = passk("estimate", TAU, "-m", "cover@0.8", "--full").out
    assert "0.200" not in out
    (row,) = csv.DictReader(passk("estimate", TAU, "-m", "cover@0.8", "-f", "csv").out.split("\n"))
    assert (row["estimate"], row["k"], row["interval"]) == ("", "", "range")
    assert 0 < float(row["low"]) < 0.2 < float(row["high"]) < 1
    report = json.loads(passk("estimate", TAU, "-m", "cover@0.8", "-f", "json").out)
    assert report["rows"][0]["low"] == float(row["low"])
    assert report["rows"][0]["estimate"] is None


def test_a_range_stands_beside_other_metrics(passk: Passk) -> None:
    result = passk("estimate", AGENTS, "-m", "pass@1,cover@.80", "-v")
    assert "guard (range for cover@0.8)" in result.out
    assert 'metrics="pass@1 cover@0.8"' in result.out
    result = passk("compare", AGENTS, "-m", "pass@1,cover@0.8")
    assert "tie for first at pass@1" in result.out
    assert "At cover@0.8, 7 of 28 pairs differ significantly" in result.out
    methods = passk_cli.estimate(AGENTS, metrics="cover@0.8").methods
    assert "at most 1.92 below the maximum (Kiefer and Wolfowitz 1956)" in methods


def test_a_curve_of_ranges_falls_over_the_success_rate(passk: Passk, tmp_path: Path) -> None:
    picture = tmp_path / "cover.svg"
    result = passk("curve", TAU, "-m", "cover", "-f", "csv", "--chart", picture)
    rows = list(csv.DictReader(result.out.split("\n")))
    assert [row["metric"] for row in rows] == [f"cover@0.{tenth}" for tenth in range(1, 10)]
    for end in ("low", "high"):
        ends = [float(row[end]) for row in rows]
        assert all(after <= before + 1e-3 for before, after in pairwise(ends))
    assert "true success rate" in picture.read_text()
    (row,) = csv.DictReader(passk("estimate", TAU, "-m", "cover@0.8", "-f", "csv").out.split("\n"))
    assert row["low"] == rows[7]["low"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("estimate -m cover", "for example cover@0.8"),
        ("estimate -m cover@80", "for example cover@0.8"),
        ("estimate -m cover@95%", "for example cover@0.95"),
        ("estimate -m cover@0", "above 0 and up to 1"),
        ("estimate -m cover@1.5", "above 0 and up to 1"),
        ("estimate -m cover@0.8 --interval none", "no standard error"),
        ("plan -m cover@0.8", "only estimate, compare"),
        ("bootstrap -m cover@0.8", "only estimate, compare"),
        ("report -m cover@0.8", "only estimate, compare"),
        ("judge -m cover@0.8", "only estimate, compare"),
        ("temperature -m cover@0.8", "only estimate, compare"),
        ("extrapolate -m cover@0.8", "only pass@k and pass^k can be extrapolated"),
        ("trend -m cover@0.8", "cover@0.8"),
        (
            "watch --min cover@0.8=0.2 --planned 50 --attempts 4",
            "curve and `gate --min` support",
        ),
        ("gate --max-drop cover@0.8=0.2", "curve and `gate --min` support"),
        ("gate --no-regression -m cover@0.8", "curve and `gate --min` support"),
        ("compare --change cover@0.8:pass@1", "no change per task"),
        ("compare -m cover@0.8 --flips", "has no test"),
        ("compare -m cover@0.8 --test t", "has no test"),
        ("curve -m cover@0.8", "write cover"),
        ("curve -m cover,pass@k", "name only cover"),
        ("curve -m cover -k 1,2", "does not use this option"),
        ("curve -m cover --delta", "does not use this option"),
    ],
)
def test_a_range_is_refused_in_plain_words(passk: Passk, given: str, said: str) -> None:
    command, *options = given.split()
    result = passk(command, AGENTS, *options)
    assert result.code == 2
    assert said in " ".join(result.err.split())


@pytest.mark.parametrize(
    "rows",
    [
        ["t1,1,1"],
        ["t1,1,0", "t2,1,1"],
        ["t1,4,4", "t2,4,0", "t3,4,2"],
        ["t1,3,3", "t2,20,1", "t3,1,1"],
        [f"t{t},4,4" for t in range(30)],
        [f"t{t},4,0" for t in range(30)],
        ["t1,1000,800", "t2,1000,3"],
    ],
)
def test_unusual_counts_have_a_range(passk: Passk, write: Write, rows: list[str]) -> None:
    path = write("counts.csv", "\n".join(["task,n,c", *rows]))
    result = passk("estimate", path, "-m", "cover@0.8,cover@1", "-f", "json")
    assert result.code == 0
    for row in json.loads(result.out)["rows"]:
        assert 0 <= row["low"] <= row["high"] <= 1
    assert passk("gate", path, "--min", "cover@0.8=0.5").code in (0, 1)


def test_missing_outcomes_are_no_second_range(passk: Passk, write: Write) -> None:
    path = write("rows.csv", "task,passed\n" + "".join(f"t{t},{t % 2}\nt{t},\n" for t in range(9)))
    result = passk("estimate", path, "-m", "cover@0.8", "--missing", "bounds")
    assert result.code == 2
    assert "is already a range" in result.err


def test_an_estimate_without_a_value_gives_its_limits() -> None:
    limits = Estimate(None, low=0.2, high=0.9).value_or_limits
    assert (limits.low, limits.high) == (0.2, 0.9)
    for estimate in (Estimate(0.5, low=0.2, high=0.9), Estimate(None, low=0.2), Estimate(None)):
        assert estimate.value_or_limits is estimate
