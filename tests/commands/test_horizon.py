"""Horizons of data whose answer is known, and of data that have none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk, Write

Minutes = Callable[[int], float | str | None]


def rows_of(
    passed: Callable[[int, int], object], tasks: int = 8, minutes: Minutes = lambda t: 2.0**t,
    **more: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Three attempts of a model at tasks of 1, 2, 4, … minutes in three families."""
    return [
        {"model": "m", "task": f"t{t}", "family": f"f{t % 3}", "human_minutes": minutes(t),
         "passed": bool(passed(t, attempt)), **more}
        for t in range(tasks) for attempt in range(3)
    ]  # fmt: skip


def answer(rows: Any, **options: Any) -> tuple[Any, Mapping[str, Mapping[str, Any]]]:
    """The rows of the first horizon by shape, and the fields of the messages by name."""
    with pytest.warns(passk_cli.PasskWarning):
        result = passk_cli.horizon(rows, cluster="family", resamples=300, **options)
    messages = {message.name: message.fields for message in result.report.messages}
    frame = result.frame[result.frame.metric == "horizon@0.5"]
    return frame.set_index("shape"), messages


@pytest.mark.parametrize(
    ("passed", "minutes", "reason"),
    [
        (lambda t, i: True, lambda t: 2.0**t, "every attempt passed"),
        (lambda t, i: False, lambda t: 2.0**t, "no attempt passed"),
        (lambda t, i: i == 0, lambda t: 30.0, "all tasks have the same length"),
        (
            lambda t, i: t > 3 or (t == 1 and i == 0),
            lambda t: 2.0**t,
            "success does not fall with the length of the tasks",
        ),
    ],
)
def test_a_horizon_that_is_not_there_has_a_reason(
    passed: Callable[[int, int], object], minutes: Minutes, reason: str
) -> None:
    frame, messages = answer(rows_of(passed, minutes=minutes))
    assert pd.isna(frame.estimate["logistic"])
    assert frame.note["logistic"] == reason
    assert messages["no-horizon"] == {"models": ["m"], "rate": "50 %", "reason": reason}


def test_separated_tasks_have_a_horizon_between_the_two() -> None:
    frame, _ = answer(rows_of(lambda t, i: t < 4))
    assert 8 < frame.estimate["logistic"] < 16
    assert frame.estimate["isotonic"] == pytest.approx(2**3.5)


def test_three_tasks_have_an_interval_that_may_be_open() -> None:
    frame, messages = answer(rows_of(lambda t, i: t == 0 or (t == 1 and i == 0), tasks=3))
    assert 1 < frame.estimate["logistic"] < 4
    assert frame.low["logistic"] == 0
    assert pd.isna(frame.high["logistic"])
    assert frame.note["logistic"] == "resamples give no lower and upper limit"
    assert messages["few-families"]["families"] == "3"


def test_tasks_of_one_family_are_resampled_as_if_each_was_its_own() -> None:
    rows = rows_of(lambda t, i: t + i < 6, tasks=12)
    single = [{**row, "family": "f"} for row in rows]
    frame, messages = answer(single)
    alone = passk_cli.horizon(rows, resamples=300).frame.iloc[0]
    assert frame.low["logistic"] == alone.low
    assert messages["few-families"]["families"] == "1"


@pytest.mark.parametrize("wrong", [None, "", 0, -5.0, math.nan, math.inf, "long"])
def test_tasks_without_a_length_above_0_are_left_out_and_counted(wrong: Any) -> None:
    rows = rows_of(lambda t, i: t + i < 6)
    frame, messages = answer(
        rows_of(lambda t, i: t + i < 6, minutes=lambda t: wrong if t in (2, 5) else 2.0**t)
    )
    assert messages["no-length"] == {"tasks": 2, "names": ["t2", "t5"]}
    remaining, _ = answer([row for row in rows if row["task"] not in ("t2", "t5")])
    assert frame.estimate["logistic"] == remaining.estimate["logistic"]
    assert frame.tasks["logistic"] == 6


def test_a_horizon_beyond_the_tasks_is_extrapolated() -> None:
    frame, messages = answer(rows_of(lambda t, i: t < 6 or i > 0))
    assert frame.estimate["logistic"] > 128
    assert pd.isna(frame.estimate["isotonic"])
    assert frame.note["isotonic"] == "more than 2.13 h"
    assert messages["extrapolated-horizons"] == {"models": ["m"], "rate": "50 %"}


def test_the_order_of_rows_and_other_models_change_no_number() -> None:
    rows = rows_of(lambda t, i: t + i < 6)
    rivals = [{**row, "model": "other", "passed": not row["passed"]} for row in rows]
    first, _ = answer(rows)
    second, _ = answer([*rivals, *reversed(rows)])
    own_values = second[second.model == "m"]
    assert own_values.estimate.tolist() == pytest.approx(first.estimate.tolist())
    assert own_values.low["logistic"] == pytest.approx(first.low["logistic"])


def test_more_attempts_at_a_task_do_not_weigh_more() -> None:
    rows = rows_of(lambda t, i: t + i < 6)
    more = [row for row in rows if row["task"] == "t1"] * 5
    assert answer([*rows, *more])[0].estimate["logistic"] == pytest.approx(
        answer(rows)[0].estimate["logistic"]
    )


def test_rates_of_horizons_can_be_chosen() -> None:
    rows = rows_of(lambda t, i: t + i < 6)
    frame = passk_cli.horizon(rows, at=[0.9, 0.25], resamples=100).frame
    of_curve = frame[frame["shape"] == "logistic"]
    assert of_curve.metric.tolist() == ["horizon@0.9", "horizon@0.25"]
    assert of_curve.estimate.is_monotonic_increasing


def test_the_longest_horizon_doubles_every_year() -> None:
    rows = [
        {**row, "model": f"m{m}", "released": f"20{20 + m}-03-01",
         "human_minutes": row["human_minutes"] * 2.0**m}
        for m in range(4) for row in rows_of(lambda t, i: t + i < 6)
    ]  # fmt: skip
    rows = [{**row, "task": f"{row['model']} {row['task']}"} for row in rows]
    rows += [{**row, "model": "late", "released": "soon"} for row in rows if row["model"] == "m0"]
    with pytest.warns(passk_cli.PasskWarning):
        result = passk_cli.horizon(rows, fields={"date": "released"}, resamples=200)
    [growth] = result.frame[result.frame.metric == "doubling@0.5"].itertuples()
    assert growth.estimate == pytest.approx(365.25, rel=1e-3)
    assert growth.models == 4
    assert growth.low < 365 < growth.high
    undated = [m.fields["models"] for m in result.report.messages if m.name == "undated-models"]
    assert undated == [["late"]]


def test_two_models_have_no_doubling_time() -> None:
    rows = [{**row, "model": f"m{m}", "date": f"202{m}-01-01"}
            for m in range(2) for row in rows_of(lambda t, i, m=m: t + i < 6 + m)]  # fmt: skip
    frame = passk_cli.horizon(rows, fields={"date": "date"}, resamples=100).frame
    [growth] = frame[frame.metric == "doubling@0.5"].itertuples()
    assert pd.isna(growth.estimate)
    assert growth.note == "a doubling time needs 3 models on the frontier with different dates"


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"task": "a", "human_minutes": m, "passed": m < 2} for m in (1, 2)], "two-values"),
        ([{"task": "a", "human_minutes": None, "passed": p} for p in (0, 1)], "unusable-data"),
        ([{"task": "a", "passed": p} for p in (0, 1)], "no-role-column"),
        (rows_of(lambda t, i: t < i, date="2024-01-01")
         + rows_of(lambda t, i: t < i, date="2025-01-01"), "two-values"),
    ],
)  # fmt: skip
def test_data_that_have_no_horizons_are_refused(rows: list[dict[str, Any]], name: str) -> None:
    field = {"date": "date"} if "date" in rows[0] else {}
    with pytest.raises(passk_cli.PasskError) as raised:
        passk_cli.horizon(rows, fields=field)
    assert raised.value.name == name


def test_the_sample_is_answered_as_it_was_published(passk: Passk) -> None:
    result = passk(
        "horizon", str(SAMPLES / "cyber.csv.gz"), "--cluster", "family", "--field",
        "date=release_date", "--resamples", "1000", "--ignore", "few-families",
    )  # fmt: skip
    assert result.code == 0
    assert result.err == ""
    assert "longest for GPT-5.5 (each model on its own tasks): 5.07 h" in result.out
    assert "doubles every 282 days" in result.out


@pytest.mark.parametrize("models", [1, 3, 16])
def test_pictures_have_curves_and_horizons_over_dates(
    passk: Passk, write: Write, models: int
) -> None:
    rows = [
        f"m{m},t{t},{2**t},{int(t + i < 3 + m / 4)},20{10 + m}-01-01"
        for m in range(models) for t in range(12) for i in range(3)
    ]  # fmt: skip
    text = "\n".join(["model,task,human_minutes,passed,date", *rows])
    file, chart = write("runs.csv", text), write("chart.svg", "")
    result = passk("horizon", str(file), "--field", "date=date", "--chart", str(chart),
    "--resamples",
                 "100")  # fmt: skip
    assert result.code == 0, result.err
    drawn = chart.read_text()
    assert "time of a human expert" in drawn
    assert ("release date" in drawn) == (models > 2)
    assert ("1 min" if models > 1 else "1 h") in drawn
    assert "2,0" not in drawn
