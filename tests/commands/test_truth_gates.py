"""What gate, watch, trend and averages of a report say is true of random data.

Verdicts are those of the rows of the same answer; numbers are computed here, without code of passk.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.compare.view import NO_TEST_ANSWER
from passk_cli.files.history import append_run_rows
from passk_cli.report.data_types import AnswerSentence
from tests.commands.test_headlines import mean
from tests.commands.test_history import columns, spending
from tests.commands.test_watch import TASKS, WatchedRun, passes
from tests.conftest import Passk
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
NUMBER = 120
Row = dict[str, Any]


def counted(draw: random.Random, models: str, tasks: int = 20) -> list[Row]:
    """Models of different rates at the same tasks."""
    return [
        {"model": m, "task": f"t{t}", "n": 4, "c": sum(draw.random() < rate for _ in range(4))}
        for m in models for rate in [draw.choice([0.3, 0.5, 0.9])] for t in range(tasks)
    ]  # fmt: skip


@proves(
    "gate-fails", "gate-fails-several", "gate-fails-undecided", "gate-fails-several-undecided",
    "gate-cannot-check", "gate-cannot-check-several", "gate-undecided", "gate-all-undecided",
    "gate-passes-by", "gate-passes",
)  # fmt: skip
def test_what_gate_says_is_true() -> Iterator[str]:
    draw = random.Random(101)
    for number in range(2 * NUMBER):
        values: dict[str, Any] = {
            "minimum": {"pass@1": draw.choice([0.2, 0.5, 0.8])},
            "on_undecided": draw.choice(["fail", "pass"]),
        }
        if draw.random() < 0.5:
            values["minimum"]["pass@4"] = draw.choice([0.5, 0.95])
        if draw.random() < 0.1:
            values["minimum"] = {"pass@8": 0.5}
        rows = counted(draw, "abc"[: draw.choice([1, 2, 3])])
        if number % 4 == 0:
            base = counted(draw, "a")
            rows = [row for row in rows if row["model"] == "a"]
            values |= {"max_drop": {"pass@1": 0.05}, "baseline": base}
        result = passk_cli.gate(rows, **values)
        frame, (sentence,) = result.frame, result.report.answer
        fields, failing = sentence.fields, result.frame[result.frame.fails]
        for row in frame.itertuples():
            if row.metric == "pass@1" and row.rule.startswith("pass@1 ≥"):
                value = mean([r for r in rows if r["model"] == row.model], "pass@1")
                assert row.estimate == pytest.approx(float(value or 0))
                outside = row.low > row.limit or row.high < row.limit
                assert (row.verdict == "undecided") == (not outside)
                assert (row.verdict == "pass") == (row.low >= row.limit)
        assert fields["total"] == len(frame)
        assert fields["holds"] == (frame.verdict == "pass").sum()
        assert (len(failing) > 0) == (sentence.name.startswith(("gate-fails", "gate-cannot")))
        assert result.passed == (not len(failing))
        if len(failing):
            worst = next(v for v in ("fail", "undecided", "error") if v in {*failing.verdict})
            assert fields["failing"] == len(failing)
            words = {"fail": "gate-fails", "error": "gate-cannot-check"}
            several = "-several" if len(fields["models"]) > 1 else ""
            undecided = "-undecided" if worst == "undecided" else ""
            assert sentence.name == words.get(worst, "gate-fails") + several + undecided
            own_values = failing[failing.verdict == worst]
            assert {*fields["models"]} <= {*own_values.model}
            if not several:
                row = own_values[own_values.rule == fields["rule"]]
                row = row[row.model == fields["models"][0]].iloc[0]
                value = fields["estimate"].value
                assert (value is None) == (row.verdict == "error")
                assert value is None or value == pytest.approx(row.estimate)
        elif sentence.name in ("gate-undecided", "gate-all-undecided"):
            assert fields["undecided"] == (frame.verdict == "undecided").sum() > 0
            assert (fields["holds"] == 0) == (sentence.name == "gate-all-undecided")
        else:
            assert (frame.verdict == "pass").all()
        yield sentence.name


@proves("gate-judges-nothing", "valid-rules")
def test_what_gate_says_of_files_of_rules_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(102)
    for number in range(2):
        suites = draw.randint(1, 3)
        text = "".join(
            f'[[suite]]\nname = "s{s}"\nruns = ["r.jsonl"]\nmin = {{"pass@1" = 0.5}}\n'
            for s in range(suites)
        )
        (tmp_path / "rules.toml").write_text(text)
        result = passk_cli.gate(rules=str(tmp_path / "rules.toml"), check=True)
        (sentence,) = result.report.answer
        assert (sentence.fields["suites"], sentence.fields["others"]) == (suites, 0)
        yield sentence.name
        rows = counted(draw, "a")
        to = str(tmp_path / f"none{number}.parquet")
        result = passk_cli.gate(
            rows, baseline=f"{to}:last5", max_drop={"pass@1": 0.1}, first_run=True
        )
        assert not (result.frame.verdict != "not judged").any()
        yield result.report.answer[0].name


@proves("rehearsal", "rehearsal-passes", "rehearsal-fails")
def test_what_a_rehearsal_says_is_true(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("passk_cli.commands.gate.simulation._UNCHANGED", 100)
    monkeypatch.setattr("passk_cli.commands.gate.simulation._PLANTED", 60)
    draw = random.Random(103)
    for number in range(12):
        rows = counted(draw, "a")
        values = [{}, {"max_false_alarms": 0.0}, {"max_false_alarms": 1.0}][number % 3]
        limit = {"pass@1": draw.choice([0.2, 0.5])}
        result = passk_cli.gate(rows, minimum=limit, rehearse=True, **values)
        (sentence,) = result.report.answer
        fields = sentence.fields
        share = fields["failing"] / fields["runs"]
        assert fields["runs"] == 100
        assert fields["alarm"].low <= share <= fields["alarm"].high
        if values:
            assert (sentence.name == "rehearsal-fails") == (share > values["max_false_alarms"])
        plain = passk_cli.gate(rows, minimum=limit)
        assert fields["would"] == ("PASS" if plain.passed else "FAIL")
        yield sentence.name


@proves("not-yet")
def test_how_far_a_watched_run_is_is_true(passk: Passk, tmp_path: Path) -> Iterator[str]:
    draw = random.Random(104)
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        run, result = WatchedRun(folder, passk, passes(0.6, number)), draw.randint(1, 20)
        run.has(*TASKS[:result])
        document = json.loads(run.watch("-f", "json").out)
        (sentence,) = document["answers"]
        if sentence["name"] == "not-yet":
            remaining = run.kept["looks"] if run.looks.exists() else []
            fields, looks = sentence["fields"], [look["tasks"] for look in remaining]
            assert (fields["done"], fields["planned"]) == (result, len(TASKS))
            assert fields["next"] > result
            assert fields["look"] == ("next" if looks else "first")
            assert fields["looked"] == max(looks, default=0) <= result
        yield sentence["name"]


@proves("no-test")
def test_why_no_test_is_possible_is_true() -> Iterator[str]:
    for _ in range(2):
        free = [{"model": m, "task": f"t{t}", "passed": True, "cost": 0.0}
                for m in "ab" for t in range(4)]  # fmt: skip
        result = passk_cli.compare(free, metrics="cost-per-success")
        assert "p" not in result.frame or result.frame.p.isna().all()
        (sentence,) = result.report.answer
        assert sentence.name == NO_TEST_ANSWER.name
        assert "every attempt costs 0" in sentence.fields["reason"]
        yield sentence.name


def nights(to: Path, draw: random.Random, levels: list[float], model: str = "m") -> None:
    """Runs of 100 tasks × 4 attempts at these pass rates; tasks pass with one rate."""
    for day, level in enumerate(levels, 1):
        passes = [sum(draw.random() < level for _ in range(4)) for _ in range(100)]
        append_run_rows(str(to), columns(f"r{day}", passes, n=4, day=day, model=model))


TREND = (
    "became-worse", "not-worse", "too-few-runs", "trend-fails", "trend-undecided", "trend-passes",
    "changed-by-points", "too-few-for-a-change", "no-change", "runs-alike", "runs-differ",
)  # fmt: skip


@proves(*TREND)
def test_what_trend_says_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(106)
    levels = [
        [0.8] * 8 + [0.5] * 8, [0.5] * 8 + [0.8] * 8, [0.7] * 3, [0.7] * 12,
        [0.7] * 5 + [0.7, 0.75, 0.65, 0.72, 0.78, 0.62, 0.7, 0.74],
    ]  # fmt: skip
    for number in range(3 * len(levels)):
        own_values = levels[number % len(levels)]
        to = tmp_path / f"h{number}.parquet"
        nights(to, draw, own_values)
        result = passk_cli.trend(str(to), fail=number % 2 == 0)
        frame = result.frame
        rates = frame[frame.metric == "pass@1"].set_index("run").estimate
        changes = frame[frame.metric == "change"].estimate.tolist()
        for sentence in (*result.report.answer, *(check.finding for check in result.report.checks)):
            if isinstance(sentence, AnswerSentence):
                check_trend(sentence, own_values, rates, changes, frame)
                yield sentence.name


def check_trend(
    said: AnswerSentence, own: list[float], rates: Any, changes: list[float], frame: Any
) -> None:
    """Assert that a sentence of trend is true of runs at these levels."""
    fields, name = said.fields, said.name
    planted = own[-1] - own[0] if len({*own}) == 2 else 0.0
    if name in ("became-worse", "trend-fails", "changed-by-points"):
        at = [*rates.index].index(fields["run"])
        before, after = rates.iloc[:at].mean(), rates.iloc[at:].mean()
        assert abs(fields["points"] - abs(after - before)) < 0.05
        assert abs(fields["points"]) == pytest.approx(abs(changes[-1]))
        fell = fields.get("fell", fields.get("less"))
        assert fell == (after < before)
        assert abs(planted) > 0.2
    elif name in ("not-worse", "trend-passes"):
        assert planted >= 0
        assert not [change for change in changes if change < -0.1]
    elif name in ("too-few-runs", "trend-undecided", "too-few-for-a-change"):
        assert fields["runs"] == len(own) < 5
    elif name == "no-change":
        assert not changes
        assert fields["runs"] == len(own)
        assert fields["points"] is None or 0 < fields["points"] < 1
    else:
        effect = frame[frame.metric == "run effect"].iloc[0]
        assert fields["p"] == pytest.approx(effect.p_adjusted)
        assert (name == "runs-differ") == (effect.p_adjusted <= 0.05)


@proves("changed-by-factor", "last-ratio", "no-last-ratio")
def test_what_trend_says_of_costs_is_true(tmp_path: Path) -> Iterator[str]:
    draw = np.random.default_rng(107)
    for number in range(4):
        to = tmp_path / f"{number}.parquet"
        factor = 2.0 if number % 2 else 0.5
        for day in range(1, 17):
            costs = np.exp(draw.normal(0, 0.3, (40, 2))) * (factor if day > 8 else 1.0)
            append_run_rows(str(to), spending(f"r{day}", costs.tolist(), day=day))
        for sentence in passk_cli.trend(str(to), metrics="cost").report.answer:
            fields = sentence.fields
            if sentence.name == "changed-by-factor":
                assert fields["run"] == "r9"
                assert fields["factor"].value == pytest.approx(2.0, rel=0.2)
                assert fields["fell"] == (factor < 1)
                assert fields["after"].value / fields["before"].value == pytest.approx(
                    factor, rel=0.2
                )
            yield sentence.name
        # No attempt of these runs passes.
        for sentence in passk_cli.trend(str(to), metrics="cost-per-success").report.answer:
            assert sentence.name == "no-last-ratio"
            yield sentence.name
        rows = [{"model": "m", "task": f"t{t}", "passed": draw.random() < 0.8, "cost": cost}
                for t in range(10) for cost in [1.0 + t]]  # fmt: skip
        place = str(tmp_path / f"ratio{number}.parquet")
        passk_cli.record(rows, to=place, at="one", date="2026-01-01", columns="cost")
        passes = sum(bool(row["passed"]) for row in rows)
        for sentence in passk_cli.trend(place, metrics="cost-per-success").report.answer:
            assert sentence.fields["latest"].value == pytest.approx(55.0 / passes)
            assert sentence.fields["runs"] == 1
            yield sentence.name


@proves("average-ties", "average-leads")
def test_what_an_average_says_is_true() -> Iterator[str]:
    draw = random.Random(108)
    for number in range(10):
        rates = {"a": 0.9, "b": 0.4 if number % 2 else 0.9, "c": 0.3}
        rows = [{"model": m, "suite": s, "task": f"{s}{t}", "n": 4,
                 "c": sum(draw.random() < rate for _ in range(4))}
                for m, rate in rates.items() for s in "xy" for t in range(20)]  # fmt: skip
        result = passk_cli.report(rows, average="suite", metrics="pass@1")
        (sentence,) = result.report.answer
        parts = {
            (m, s): mean([r for r in rows if (r["model"], r["suite"]) == (m, s)], "pass@1") or 0
            for m in rates for s in "xy"
        }  # fmt: skip
        values = {m: float(parts[m, "x"] + parts[m, "y"]) / 2 for m in rates}
        best = sorted(values, key=values.__getitem__, reverse=True)
        assert (sentence.fields["groups"], [*sentence.fields["by"]]) == (2, ["suite"])
        if sentence.name == "average-leads":
            assert sentence.fields["model"] == best[0]
            lead = sentence.fields["lead"]
            lead = lead if isinstance(lead, float) else lead.value
            assert lead == pytest.approx(values[best[0]] - values[best[1]])
            assert number % 2
        else:
            assert {*sentence.fields["first"]} == {"a", "b"}
        yield sentence.name
