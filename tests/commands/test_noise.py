"""The noise of one model and of a difference, and the correlation of attempts at one task."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli.report.data_types import AnswerSentence
from tests.conftest import Passk, Write
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
CASES = {"a": (4, 4, 3, 0, 1, 2), "b": (4, 2, 1, 0, 0, 1)}


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    rows = [f"{m},t{t},4,{c}\n" for m, of in CASES.items() for t, c in enumerate(of)]
    path.write_text("model,task,n,c\n" + "".join(rows))
    return path


def test_compare_says_what_more_attempts_and_more_tasks_would_buy(
    passk: Passk, counts: Path
) -> None:
    out = passk("compare", counts, "-k", "1,4", "--full").out
    # d = 0, .5, .5, 0, .25, .25; s²/T = .05/6 is less than Σ c(n − c)/48/36 = 20/48/36.
    assert re.search(r"a +b +1\.000 +0\.108 +0\.076 +0\.076\n", out)
    assert "twice the attempts would shorten intervals of differences by 29 %" in out
    assert "Noise of the differences" not in passk("compare", counts).out


@pytest.mark.parametrize("options", [("-k", "4"), ("-k", "1", "--population", "these-tasks")])
def test_compare_leaves_the_split_out_if_it_has_none(
    passk: Passk, counts: Path, options: tuple[str, ...]
) -> None:
    result = passk("compare", counts, *options, "--full")
    assert result.code == 0
    assert "Noise of the differences" not in result.out


def test_estimate_has_the_intraclass_correlation(passk: Passk, counts: Path) -> None:
    assert "intraclass correlation" not in passk("estimate", counts).out
    out = passk("estimate", counts, "-k", "1", "--full").out
    # Of b: B = 4 Σ (p − 1/3)²/5 = .566667, W = Σ 4 p (1 − p)/18 = .138889.
    assert re.search(r"b .* 0\.435 \[", out)


def noise_said(command: str, rows: list[dict[str, Any]], **options: Any) -> AnswerSentence | None:
    """What a command says of the noise; None for nothing."""
    sentence = getattr(passk_cli, command)(rows, **options).report.answer
    return next((entry for entry in sentence if entry.name.startswith("noise-floor")), None)


def expected_floor(cells: list[tuple[int, int]]) -> float:
    """1.96 √(2 Σ v) / T, of the tasks with two attempts or more."""
    several = [(n, c) for n, c in cells if n > 1]
    variance = 2 * sum(c * (n - c) / (n * (n - 1)) for n, c in several) / len(several) ** 2
    return min(1.959963984540054 * variance**0.5, 1.0)


@proves("noise-floor", "noise-floor-of-tasks", "noise-floor-of-models")
def test_what_is_said_of_the_noise_is_true() -> Iterator[str]:
    draw = random.Random(90)
    for number in range(20):
        counts = {
            f"m{m}": [(n, draw.randint(0, n)) for n in draw.choices(range(1, 6), k=12)]
            for m in range(number % 3 + 1)
        }
        rows = [{"model": m, "task": f"t{t}", "n": n, "c": c}
                for m, cells in counts.items() for t, (n, c) in enumerate(cells)]  # fmt: skip
        floors = {m: expected_floor(cells) for m, cells in counts.items()}
        noisiest, steadiest = max(floors, key=floors.__getitem__), min(floors, key=floors.get)
        cells = counts[noisiest]
        for command in ("estimate", "tasks"):
            sentence = noise_said(command, rows)
            assert sentence is not None
            fields = sentence.fields
            assert fields["floor"] == pytest.approx(floors[noisiest])
            single = any(n == 1 for n, _ in cells)
            assert fields["several"] == (sum(n > 1 for n, _ in cells) if single else 0)
            assert (sentence.name == "noise-floor-of-models") == (len(counts) > 1)
            if len(counts) > 1:
                assert (fields["model"], fields["steadiest"]) == (noisiest, steadiest)
                assert fields["least"] == pytest.approx(floors[steadiest])
            else:
                assert fields["flaky"] == sum(0 < c < n for n, c in cells)
                assert fields["tasks"] == len(cells)
            yield sentence.name


@pytest.mark.parametrize(
    ("cells", "metrics"),
    [
        ([(1, 1), (1, 0), (1, 1)], "pass@1"),  # one attempt per task
        ([(4, 4), (4, 0)], "pass@1"),  # no attempts at one task differ
        ([(2, 1), (2, 1)], "pass@1"),  # two runs may differ by all there is
        ([(4, 2), (4, 1)] * 9, "pass@2"),  # not about single attempts
    ],
)
def test_nothing_is_said_of_noise_that_no_attempts_show(
    cells: list[tuple[int, int]], metrics: str
) -> None:
    rows = [{"task": f"t{t}", "n": n, "c": c} for t, (n, c) in enumerate(cells)]
    assert noise_said("estimate", rows, metrics=metrics) is None


@proves("attempts-of-suite")
def test_a_plan_for_a_fixed_suite_says_how_many_attempts_it_needs(
    passk: Passk, counts: Path
) -> Iterator[str]:
    plan = ("plan", counts, "--population", "these-tasks", "--detect", "0.1")
    report = json.loads(passk(*plan, "-f", "json").out)
    sentence = report["answers"][0]["fields"]
    # Of a: Σ v = 3/12 + 3/12 + 4/12 = 5/6; of b: 4/12 + 3/12 + 3/12.
    required_values = 2 * 5 / 6 * (1.959963984540054 / 0.1 / 6) ** 2
    assert (sentence["needed"], sentence["several"]) == (int(required_values) + 1, 6)
    floors = {row["n_min"]: row["estimate"] for row in report["rows"] if row["model"] == "a"}
    assert floors[1] == pytest.approx(1.959963984540054 * (5 / 3) ** 0.5 / 6)
    assert max(floors) == sentence["needed"]
    assert (
        floors[sentence["needed"]] <= 0.1 < floors[max(k for k in floors if k < sentence["needed"])]
    )
    yield report["answers"][0]["name"]
    frame = passk_cli.plan(counts, population="these-tasks", attempts=[3]).frame
    assert list(frame["n_min"]) == [3, 3]


def test_a_plan_for_a_fixed_suite_has_no_use_for_other_tasks(
    passk: Passk, counts: Path, tmp_path: Path
) -> None:
    plan = ("plan", "--population", "these-tasks")
    result = passk(*plan, counts, "--budget", "100", "--next")
    assert result.code == 2
    assert "a plan for a fixed suite does not use --budget, --next" in result.err
    assert passk(*plan).code == 2
    steady = tmp_path / "steady.csv"
    steady.write_text("task,n,c\nt1,4,4\nt2,4,0\n")
    result = passk(*plan, steady)
    assert (result.code, "no-pilot" in result.err) == (2, True)
    for more in (("-k", "4"), ("-m", "pass@2")):
        assert f"a plan for a fixed suite does not use {more[0]}" in passk(*plan, counts, *more).err


def test_a_plan_for_a_fixed_suite_names_the_model_that_needs_most(
    passk: Passk, write: Write
) -> None:
    # Two runs of a or b may differ by 100 points. Two tasks of a show noise, and one of b. No task
    # of c has a second attempt, and every attempt of d passes.
    cells = {"a": [(4, 2), (4, 2), (1, 1)], "b": [(4, 2), (1, 0), (1, 1)],
             "c": [(1, 1), (1, 0), (1, 1)], "d": [(4, 4), (4, 4), (4, 4)]}  # fmt: skip
    rows = [
        f"{m},t{t},{n},{c}\n"
        for m, own_values in cells.items()
        for t, (n, c) in enumerate(own_values)
    ]
    path = write("pilot.csv", "model,task,n,c\n" + "".join(rows))
    result = passk("plan", path, "--population", "these-tasks", "-f", "json")
    sentence = json.loads(result.out)["answers"][0]["fields"]
    assert (sentence["model"], sentence["several"], sentence["single_attempts"]) == ("b", 1, 2)
    assert sentence["silent"] == ["c", "d"]
    # Σ v = 1/3 of one task: 2 · 1/3 · (1.96 / 0.05)².
    assert sentence["needed"] == 1025


def test_what_is_said_of_noise_names_the_groups() -> None:
    rows = [{"task": f"t{t}", "attempt": a, "passed": (t + a + (arm == "x")) % 3 > 0, "arm": arm}
            for t in range(20) for a in range(3) for arm in "xy"]  # fmt: skip
    sentence = noise_said("estimate", rows, by="arm")
    assert sentence is not None
    assert (sentence.name, sentence.fields["by"]) == ("noise-floor-of-models", ("arm",))


def test_nothing_is_said_of_noise_if_sampling_stopped_at_a_pass() -> None:
    cells = [(10, 0)] * 20 + [(1, 1), (2, 1), (2, 1), (3, 1), (7, 1)]
    rows = [{"task": f"t{t}", "n": n, "c": c} for t, (n, c) in enumerate(cells)]
    assert noise_said("estimate", rows, metrics="pass@1") is None
