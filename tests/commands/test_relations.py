"""Relations that hold whatever else is asked: the same question has the same numbers.

One table: what is asked beside, or said otherwise, by the commands that it concerns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.inference.random_streams import named_generator
from tests.conftest import Passk

# What makes each command quick, or is needed; the others come after these.
ASKED: dict[str, dict[str, Any]] = {
    "estimate": {}, "compare": {}, "cost": {"at": 1}, "curve": {"max_k": 4},
    "gate": {"baseline": "a", "max_drop": "pass@1=0.1", "minimum": "pass@1=0.2"},
    "temperature": {}, "order": {}, "diversity": {}, "tasks": {}, "report": {},
    "horizon": {"resamples": 200},
    "bootstrap": {"resamples": 100}, "extrapolate": {},
    "plan": {}, "describe": {}, "trend": {}, "convert": {}, "record": {},
    "watch": {"order": [f"t{t}" for t in range(10)], "attempts": 6, "minimum": "pass@1=0.2"},
}  # fmt: skip
# What has no data, or needs labels: see test_judge.py.
OTHERS = ("formats", "judge")
QUICK = ("estimate", "compare", "gate", "cost", "describe", "trend", "convert", "record")
NUMBERS = (
    "estimate", "low", "high", "p", "n_min", "n_max", "tasks", "se", "width", "difference",
    "attempts", "n_median", "pass_rate", "k_every_task", "k_some_task",
)  # fmt: skip
# What stands in rows beside the model, which says what the number is.
KEYS = (
    "fact", "model", "against", "temperature", "metric", "k", "k_to", "task", "rule", "against_",
    "run", "best_for", "attempts_in_all",
)  # fmt: skip


class Case(NamedTuple):
    """The data, the options, and names that are other ones."""

    data: pd.DataFrame
    options: dict[str, Any]
    names: dict[str, str] = {}  # noqa: RUF012


@cache
def results() -> pd.DataFrame:
    """Three models at ten tasks, six attempts at each; failures often lack their cost."""
    rng = named_generator(5, "relations")
    rows = [
        {
            "model": model, "task": f"t{task}", "attempt": attempt,
            "passed": bool(rng.random() < np.clip((task % 5) / 5 + shift, 0.1, 0.9)),
            "cost": round(0.1 + float(rng.random()), 3), "solution": f"s{rng.integers(3)}",
            "temperature": (0.2, 0.8)[attempt // 3], "human_minutes": 2.0 ** (6 - task % 5),
        }
        for model, shift in zip("abc", (0.0, 0.3, -0.2), strict=True)
        for task in range(10)
        for attempt in range(6)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame.loc[~frame.passed & (frame.attempt % 3 == 0) & (frame.model == "a"), "cost"] = np.nan
    return frame


def a_metric(case: Case) -> Case:
    metrics = {"metrics": "pass@1,cost", "missing_cost": "drop"}
    return case._replace(options={**case.options, **metrics})


def a_model(case: Case) -> Case:
    none = {"c": 0} if "c" in case.data else {"passed": False}
    fourth = case.data[case.data.model == "a"].assign(model="d", **none)
    return case._replace(data=pd.concat([case.data, fourth]))


def policies_that_meet_nothing(case: Case) -> Case:
    more = {"missing": "drop", "missing_cost": "mean", "duplicates": "first"}
    more = {} if "c" in case.data else more
    return case._replace(options={**more, **case.options})


def another_order(case: Case) -> Case:
    return case._replace(data=case.data.iloc[::-1])


def other_names(case: Case) -> Case:
    names = {"z": "a", "y": "b", "x": "c"}
    back = {old: new for new, old in names.items()}
    options = {k: back.get(v, v) if k == "baseline" else v for k, v in case.options.items()}
    return Case(case.data.replace({"model": back}), options, names)


# What is asked beside → commands whose numbers it leaves alone, and the numbers; others adjust them
# for what is asked.
ONE_METRIC = ("estimate", "compare", "gate", "report", "bootstrap")
OF_A_MODEL = (
    "estimate", "curve", "order", "diversity", "bootstrap", "compare", "gate", "describe", "trend",
    "convert", "record",
)  # fmt: skip
ADJUSTED = {"compare": ("estimate", "tasks", "n_min", "n_max")}
BESIDE: dict[Callable[[Case], Case], tuple[str, ...]] = {
    a_metric: ONE_METRIC,
    a_model: OF_A_MODEL,
    policies_that_meet_nothing: tuple(ASKED),
    another_order: tuple(ASKED),
    other_names: tuple(ASKED),
}


def answer(name: str, data: Any, options: dict[str, Any]) -> pd.DataFrame:
    """The rows of a command; of one that writes a file, what another one reads from it."""
    frame: pd.DataFrame
    if name not in ("convert", "record"):
        frame = getattr(passk_cli, name)(data, **options).frame
        return frame
    with TemporaryDirectory() as folder:
        if name == "convert":
            passk_cli.convert(data, output=f"{folder}/rows.csv", **options)
            return passk_cli.estimate(f"{folder}/rows.csv", **options).frame
        passk_cli.record(data, to=f"{folder}/h.parquet", at="r1", date="2026-01-01", **options)
        return passk_cli.trend(f"{folder}/h.parquet").frame


def numbers(name: str, data: Any, options: dict[str, Any], names: dict[str, str]) -> dict[Any, Any]:
    """What a number is → its value and limits; a difference the other way round has its sign."""
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        frame = answer(name, data, options)
    result: dict[Any, Any] = {}
    for row in frame.to_dict("records"):
        row |= {"model": names.get(row.get("model"), row.get("model"))}
        if "against" in row:
            row["against"] = names.get(row["against"], row["against"])
            if not pd.isna(row["against"]) and row["model"] > row["against"] and name != "gate":
                value, low, high = (row[number] for number in ("estimate", "low", "high"))
                if str(row["metric"]).endswith("ratio"):
                    turned = tuple(1 / entry if entry else np.inf for entry in (value, high, low))
                else:
                    turned = -value, -high, -low
                row |= dict(zip(("estimate", "low", "high"), turned, strict=True))
                row |= {"model": row["against"], "against": row["model"]}
        key = tuple(str(row.get(each)) for each in KEYS)
        result[key] = {number: row.get(number) for number in NUMBERS}
    return result


def history(data: pd.DataFrame) -> pd.DataFrame:
    """The attempts as a history of six runs, an attempt at each task in each."""
    return data.assign(
        run=data.attempt.map(lambda a: f"r{a}"), at=data.attempt.map(lambda a: f"2026-01-0{a + 1}"),
        revision="v", suite="s", settings="{}", n=1, c=data.passed.astype(int),
    )[["model", "task", "run", "at", "revision", "suite", "settings", "n", "c"]]  # fmt: skip


def usual_case(name: str) -> Case:
    """Every attempt has a cost where costs are what the command is about."""
    data = results()
    if name == "trend":
        return Case(history(data), {})
    pool = {} if name == "temperature" else {"pool": "temperature"}
    priced = data.assign(cost=data.cost.fillna(1)) if name == "cost" else data
    return Case(priced, {**pool, **ASKED[name]})


@cache
def usual(name: str) -> dict[Any, Any]:
    return numbers(name, *usual_case(name))


def require_same(name: str, found: dict[Any, Any], only: tuple[str, ...] = NUMBERS) -> None:
    assert usual(name).keys() & found.keys()
    for key, row in usual(name).items():
        if key in found:
            for number in only:
                value = row[number]
                wanted = value if isinstance(value, str) else pytest.approx(value, nan_ok=True)
                assert value is None or found[key][number] == wanted, (key, number)


def test_every_command_stands_in_the_table() -> None:
    assert {*ASKED, *OTHERS} == {*COMMANDS}


# Every second one of the quick commands, and the others of them beside what comes next.
PAIRS = [
    pytest.param(beside, name, marks=[] if name in QUICK[at % 4 :: 4] else pytest.mark.long)
    for at, (beside, names) in enumerate(BESIDE.items())
    for name in names
]


@pytest.mark.parametrize(("beside", "name"), PAIRS)
def test_what_is_asked_beside_changes_nothing(beside: Callable[[Case], Case], name: str) -> None:
    case = beside(usual_case(name))
    known = {entry.field for entry in load_command(name).options()}
    case = case._replace(options={k: v for k, v in case.options.items() if k in known})
    ends = ADJUSTED.get(name, NUMBERS) if beside in (a_metric, a_model) else NUMBERS
    require_same(name, numbers(name, *case), ends)


@pytest.mark.long
def test_runs_without_costs_are_in_every_number_but_costs(tmp_path: Path) -> None:
    """The last runs of a cost are the last that have one, those of passes the last of all."""
    history = str(tmp_path / "h.parquet")
    for night in range(1, 7):
        rate = 0.2 if night < 4 else 0.7
        rows = [
            {"task": f"t{task}", "passed": (task * night + attempt) % 10 < 10 * rate, "cost": night}
            for task in range(12)
            for attempt in range(4)
        ]
        remaining = {"columns": "cost"} if night < 4 else {}
        passk_cli.record(rows, to=history, at=f"r{night}", date=f"2026-01-0{night}", **remaining)
    rows = [{"task": f"t{task}", "passed": task % 2, "cost": 5} for task in range(12)]
    result = {
        metrics: numbers(
            "gate", rows, {"baseline": f"{history}:last2", "metrics": metrics}
            | {"no_regression": True, "attempts": 1}, {},
        )
        for metrics in ("pass@1", "cost", "pass@1,cost")
    }  # fmt: skip
    values = {
        metrics: {
            key[4]: row["estimate"]
            for key, row in all_values.items()
            if row["estimate"] == row["estimate"]
        }
        for metrics, all_values in result.items()
    }
    assert values["pass@1"]["pass@1"] == pytest.approx(0.5 - 0.7, abs=0.05)
    assert values["cost"]["cost"] == pytest.approx(5 - (2 + 3) / 2)
    assert values["pass@1,cost"] == values["pass@1"] | values["cost"]


OF_FILES = [pytest.param(n, marks=[] if n in QUICK[:2] else pytest.mark.long) for n in ASKED]


@pytest.mark.parametrize("name", OF_FILES)
def test_other_formats_more_files_full_and_charts(passk: Passk, tmp_path: Path, name: str) -> None:
    data, options, _ = usual_case(name)
    data.to_parquet(tmp_path / "all.parquet")
    data.to_csv(tmp_path / "all.csv", index=False)
    halves = data.task.isin(sorted(data.task.unique())[::2])
    for half, rows in (("odd", data[~halves]), ("even", data[halves])):
        rows.to_json(tmp_path / f"{half}.jsonl", orient="records", lines=True)
    for files in (["all.parquet"], ["all.csv"], ["odd.jsonl", "even.jsonl"]):
        require_same(name, numbers(name, [tmp_path / file for file in files], options, {}))
    if name in ("convert", "record"):
        # What they write is read above; they have no table, and no picture.
        return
    flags = {entry.field: entry.option.name for entry in load_command(name).options()}
    (tmp_path / "order.txt").write_text("\n".join(options.get("order", ())))
    options = {**options, **({"order": tmp_path / "order.txt"} if "order" in options else {})}
    values = (f"{flags[key]}={value}" for key, value in options.items())
    words = [name, tmp_path / "all.parquet", *values, "-f", "csv", "-q"]
    plain = passk(*words)
    assert plain.out
    assert plain.out == passk(*words, "--full").out
    if load_command(name).has_charts:
        assert plain.out == passk(*words, "--chart", tmp_path / "c.svg").out
