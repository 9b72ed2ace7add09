"""What horizon says is true of random data; curves are fitted here by scipy."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy

import passk_cli
from passk_cli.report.phrases import duration_text
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
Row = dict[str, Any]


def attempts(draw: random.Random, kind: str) -> list[Row]:
    """Attempts of one to three models at tasks of random lengths."""
    rows = []
    lengths = [draw.uniform(0, 6) for _ in range(12)]
    for m in range(1 if kind == "one" else 3):
        horizon = {"far": 9.0, "short": -4.0}.get(kind, draw.uniform(1, 5) + 2 * m)
        for t, length in enumerate(lengths):
            for _ in range(4):
                rate = {"all": 1.0, "none": 0.0}.get(kind, float(expit(horizon - length)))
                rows.append({
                    "model": f"m{m}", "task": f"t{t}", "passed": draw.random() < rate,
                    "human_minutes": 2.0**length, "date": f"20{20 + m}-01-01",
                })  # fmt: skip
    return rows


def fitted(rows: list[Row]) -> float | None:
    """The 50 % horizon of attempts at tasks of equal weight; None if there is none."""
    x = np.log2([row["human_minutes"] for row in rows])
    y = np.array([row["passed"] for row in rows], dtype=float)
    if y.min() == y.max():
        return None

    def loss(ab: Any) -> float:
        rate = expit(ab[0] + ab[1] * x)
        return float(0.5e-5 * ab[1] ** 2 - (xlogy(y, rate) + xlogy(1 - y, 1 - rate)).mean())

    a, b = minimize(loss, [0.0, -0.5], method="Nelder-Mead", tol=1e-10).x
    return float(2 ** (-a / b)) if b < 0 else None


@proves(
    "no-horizon", "horizon-of-one", "longest-horizon", "horizon-extrapolated", "horizon-by-shape",
    "horizon-of-every-shape", "horizon-doubles",
)  # fmt: skip
def test_what_horizon_says_is_true() -> Iterator[str]:
    draw = random.Random(94)
    for number in range(60):
        rows = attempts(draw, ["one", "many", "far", "all", "none", "many", "short"][number % 7])
        if number % 2:
            rows = [row for row in rows if (row["model"], row["task"]) != ("m1", "t3")]
        models = sorted({row["model"] for row in rows})
        entry = {m: fitted([row for row in rows if row["model"] == m]) for m in models}
        known = {m: value for m, value in entry.items() if value is not None}
        result = passk_cli.horizon(rows, fields={"date": "date"}, resamples=200)
        frame, lengths = result.frame, [row["human_minutes"] for row in rows]
        for sentence in result.report.answer:
            fields = sentence.fields
            own_values = frame[(frame.model == fields["model"]) & (frame.metric == "horizon@0.5")]
            if sentence.name == "no-horizon":
                assert not known
                assert fields["reason"] in ("every attempt passed", "no attempt passed", "")
            elif sentence.name in ("horizon-of-one", "longest-horizon"):
                tasks = [{r["task"] for r in rows if r["model"] == m} for m in models]
                assert fields["own"] == any(names != tasks[0] for names in tasks)
                longest = max(known, key=known.__getitem__)
                assert fields["model"] == longest
                assert fields["horizon"].value == pytest.approx(known[longest], rel=1e-3)
                assert (len(models) == 1) == (sentence.name == "horizon-of-one")
                of_shape = frame[(frame.metric == "horizon@0.5") & (frame["shape"] == "logistic")]
                above = of_shape[of_shape.high.fillna(np.inf) >= fields["horizon"].low]
                assert {*fields["rivals"]} == {*above.model} & {*known} - {longest}
            elif sentence.name == "horizon-extrapolated":
                assert not min(lengths) <= max(known.values()) <= max(lengths)
            elif sentence.name in ("horizon-by-shape", "horizon-of-every-shape"):
                values = {shape: v for shape, v in zip(own_values["shape"], own_values.estimate,
                strict=True)
                          if not np.isnan(v)}  # fmt: skip
                assert values["logistic"] == pytest.approx(max(known.values()), rel=1e-3)
                words = {duration_text(value) for value in values.values()}
                low, high = fields["low"], fields["high"]
                assert (low == high) == (sentence.name == "horizon-of-every-shape")
                if low == high and " than " not in low:
                    assert words == {low}
                if high == f"more than {duration_text(max(lengths))}":
                    # The isotonic curve has no horizon up to the longest task.
                    assert np.isnan(own_values.estimate).any()
                    assert (low == high) == (min(values.values()) > max(lengths))
                elif low == f"less than {duration_text(min(lengths))}":
                    assert np.isnan(own_values.estimate).any()
                    assert (low == high) == (max(values.values()) < min(lengths))
                else:
                    ends = min(values.values()), max(values.values())
                    assert (low, high) == tuple(map(duration_text, ends))
            elif sentence.name == "horizon-doubles":
                leading = [
                    m for m in known if all(known[m] >= v for o, v in known.items() if o <= m)
                ]
                days = [np.datetime64(f"20{20 + int(m[1])}-01-01").astype(int) for m in leading]
                slope = np.polyfit(days, np.log2([known[m] for m in leading]), 1)[0]
                assert fields["days"].value == pytest.approx(1 / slope, rel=1e-2)
            yield sentence.name
