"""The tool and the naive reference agree to 1e-12 on data sets of every shape."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from passk_cli.metrics.registry import FAMILIES
from tests.conftest import Passk, jsonl, records
from tests.reference import read, values

Row = dict[str, object]
OF_COUNTS = ["pass@1", "pass@2", "pass@4", "pass^2", "pass^4", "gpass@3:0.5", "gpass@4:0.3",
             "mgpass@3", "mgpass@4", "gain@3"]  # fmt: skip
OF_ATTEMPTS = [*OF_COUNTS, "first@1", "first@3", "maj@1", "maj@3", "maj@4", "best@2", "worst@3",
               "mean", "distinct@1", "distinct@3", "distinct-correct@2", "distinct-correct@4",
               "distinct-pass@1", "distinct-pass@2"]  # fmt: skip
METRICS = {"jsonl": OF_ATTEMPTS, "csv": OF_ATTEMPTS, "lists": OF_COUNTS, "counts": OF_COUNTS}


def test_every_metric_is_compared() -> None:
    """Except for means and medians of amounts, which estimate nothing, and for ranges, which
    tests/inference/test_cover_range.py compares."""
    compared = {re.match("[a-z-]+[@^]?", name)[0] for name in OF_ATTEMPTS}  # type: ignore[index]
    assert compared == {
        name
        for name, kind in FAMILIES.items()
        if not (kind.amount_unit or kind.is_known_only_as_range)
    }


def k_of(metric: str) -> int:
    return int((re.findall(r"[@^](\d+)", metric) or ["1"])[0])


def drawn_rows(chance: random.Random) -> list[Row]:
    """Attempts of several models in one language or two, each model at one task or three.

    A cell has as many attempts as all, or as the model's others, or as it likes; they all pass, all
    fail, or some do; few or many of its outcomes, answers and solutions are missing or the same.
    """
    languages, size = chance.choice([["py"], ["py", "c"]]), chance.choice([None, 1, 4, 6])
    missing = chance.choice([0, 0.2])
    rows: list[Row] = []
    for model in "abcdefgh"[: chance.choice([1, 8, 8])]:
        task_size, kinds = chance.choice([size, 1, 5, None]), chance.choice([1, 2, 9])
        for task in ("t1", "t2", "t3")[: chance.choice([1, 3, 3])]:
            for language in languages:
                rate = chance.choice([0, 1, 0.3, 0.7])
                rows += [
                    {"model": model, "task": task, "language": language, "attempt": attempt + 1,
                     "passed": None if chance.random() < missing else chance.random() < rate,
                     "score": chance.choice([0, 0.25, 1, -3.5, 1e-3]),
                     "answer": chance.choice(["", "7", "x"][: kinds + 1]),
                     "solution": chance.choice("uvwxyz"[:kinds]) + "."}
                    for attempt in range(size or task_size or chance.randint(1, 6))
                ]  # fmt: skip
    chance.shuffle(rows)
    return rows


def write_rows(rows: list[Row], shape: str, place: Path) -> Path:
    """The rows as a file of this shape."""
    path = place / f"results.{'jsonl' if shape in ('jsonl', 'lists') else 'csv'}"
    cells: dict[tuple[object, ...], list[object]] = {}
    for row in rows:
        key = row["model"], row["task"], row["language"]
        cells.setdefault(key, []).append(row["passed"])
    heads = [dict(zip(("model", "task", "language"), key, strict=True)) for key in cells]
    if shape == "lists":
        rows = [
            head | {"results": entry} for head, entry in zip(heads, cells.values(), strict=True)
        ]
    if shape == "counts":
        rows = [head | {"n": len(each), "c": sum(map(bool, each))}
                for head, each in zip(heads, cells.values(), strict=True)]  # fmt: skip
    if path.suffix == ".jsonl":
        path.write_text(jsonl(rows))
        return path
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.mark.parametrize("shape", METRICS)
# Shrinking a table of random rows takes minutes and makes it no clearer.
@settings(
    max_examples=3,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.randoms(use_true_random=False))
def test_tool_and_reference_agree(
    passk: Passk, tmp_path: Path, shape: str, chance: random.Random
) -> None:
    path = write_rows(drawn_rows(chance), shape, tmp_path)
    missing, short = chance.choice(["fail", "drop"]), chance.choice(["empty", "drop"])
    by = chance.choice([[], ["language"]])
    most = max(
        (len(a) for cell in read(path, by, missing).values() for a in cell.values()), default=0
    )
    metrics = [name for name in METRICS[shape] if k_of(name) <= most]
    options = ["-m", ",".join(metrics or ["pass@1"]), "--missing", missing, "--short-tasks", short]
    options += ["--field", "outcome=passed"] if shape in ("jsonl", "csv") else []
    more = ["--by", "language"] if by else ["--pool", "language", "--duplicates", "keep"]
    result = passk("estimate", path, *options, *more, "--interval", "none", "-qf", "csv")
    if most == 0:
        assert (result.code, "no attempt" in result.err) == (3, True), result.err
        return
    assert result.code == 0, result.err
    expected = values(path, metrics, by, missing, short)
    rows = records(result.out)
    assert len(rows) == len(expected)
    for row in rows:
        value = expected[(row["model"], *(row[name] for name in by)), row["metric"]]
        exact = None if value is None else pytest.approx(float(value), rel=1e-12, abs=1e-12)
        assert (float(row["estimate"]) if row["estimate"] else None) == exact, row
