"""The table "Integrity" of compare --full and of a leaderboard."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.commands.compare.integrity import LazySubmissions
from passk_cli.report.data_types import ReportPagePanel
from tests.conftest import Passk

TASKS, MODELS = 60, 8


def rows(rng: np.random.Generator) -> pd.DataFrame:
    """Eight models with solutions; m7 has the solutions of m2, and 5 % of its outcomes changed."""
    rate = rng.random(TASKS)
    passed = rng.random((MODELS, TASKS, 3)) < rate[:, None]
    passed[7] = passed[2] ^ (rng.random((TASKS, 3)) < 0.05)
    text = np.arange(MODELS * TASKS * 3).reshape(MODELS, TASKS, 3)
    text[7] = text[2]
    model, task, attempt = np.indices(passed.shape)
    return pd.DataFrame({
        "model": [f"m{m}" for m in model.ravel()], "task": task.ravel(),
        "attempt": attempt.ravel(), "passed": passed.ravel(),
        "solution": [f"return {number}" for number in text.ravel()],
    })  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("board") / "board.csv"
    rows(np.random.default_rng(5)).to_csv(path, index=False)
    return path


def quiet(call: Any, *data: Any, **options: Any) -> passk_cli.Findings:
    with warnings.catch_warnings(action="ignore"):
        return call(*data, resamples=100, **options)


def integrity(findings: passk_cli.Findings) -> list[dict[str, Any]]:
    """The rows of the table, by their headers."""
    (table,) = (table for table in findings.report.tables if table.title == "Integrity")
    heads = [column.header for column in table.columns]
    return [dict(zip(heads, row, strict=True)) for row in table.rows]


def panel_of(findings: passk_cli.Findings) -> ReportPagePanel:
    page = findings.report.page
    assert page is not None
    (panel,) = (p for section in page.chapters for p in section.panels if p.name == "integrity")
    return panel


def test_compare_says_who_agrees_and_shares_texts(data: Path) -> None:
    first, second, *rivals = integrity(quiet(passk_cli.compare, data, k=1))
    assert {first["model"], second["model"]} == {"m2", "m7"}
    agreement, texts = first["remarks"].split("; shares ")
    assert agreement.startswith(f"agrees with {second['model']} on ")
    assert agreement.endswith(" expected")
    assert texts == f"180 of 180 texts with {second['model']}"
    number, _, shared, *_ = first["outcomes that agree"].replace(";", "").split()
    assert 165 < int(number) < int(shared) == 180
    assert [row["remarks"] for row in rivals] == [""] * (MODELS - 2)
    assert {row["equal texts"] for row in rivals} == {"0 of 180"}


def test_only_full_shows_it(data: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\nIntegrity\n" in passk("compare", data, "-k", "1", "--full").out

    def looked_at(submissions: LazySubmissions) -> None:
        raise AssertionError

    monkeypatch.setattr(LazySubmissions, "_submissions", property(looked_at))
    assert "Integrity" not in passk("compare", data, "-k", "1").out


def test_a_leaderboard_has_the_table_and_its_numbers(data: Path) -> None:
    panel = panel_of(quiet(passk_cli.report, data, board=True, metrics="pass@1"))
    (table,) = panel.report.tables
    assert [row[0] for row in table.rows[:2]] in (["m2", "m7"], ["m7", "m2"])
    frame = pd.DataFrame(
        panel.report.data_table.rows, columns=[c.header for c in panel.report.data_table.columns]
    )
    remarked = frame[frame["remark"] != ""]
    assert {*zip(remarked["model"], remarked["metric"], strict=True)} == {
        (model, name) for model in ("m2", "m7") for name in ("agreement", "equal texts")
    }
    assert (remarked["estimate"] == remarked["number"] / remarked["of"]).all()


def test_groups_are_boards_of_their_own(data: Path) -> None:
    frame = pd.read_csv(data, dtype=str)
    frame["suite"] = np.where(frame["task"].astype(int) < 20, "small", "large")
    result = integrity(quiet(passk_cli.compare, frame, k=1, by="suite"))
    assert len(result) == 2 * MODELS
    assert {(row["suite"], row["outcomes that agree"].split()[2]) for row in result} == {
        ("large", "120;"), ("small", "60;"),
    }  # fmt: skip


def test_attempts_that_stop_or_are_missing_are_said() -> None:
    frame = rows(np.random.default_rng(6)).query("model != 'm7'")
    remaining = frame.groupby(["model", "task"])["passed"].transform(lambda p: p.cumsum() - p) == 0
    lost = (frame["model"] == "m3") & ~frame["passed"] & (frame["attempt"] != 0)
    frame = frame[(remaining | (frame["model"] != "m1")) & ~lost]
    result = {row["model"]: row for row in integrity(quiet(passk_cli.compare, frame, k=1))}
    assert (
        result["m1"]["remarks"].startswith("lacks ")
        or "stops at the first pass" in (result["m1"]["remarks"])
    )
    number = int(lost.sum())
    assert result["m3"]["missing attempts"] == f"{number} of 180"
    assert f"lacks {number} of 180 attempts, mostly at tasks" in result["m3"]["remarks"]
    assert result["m0"]["missing attempts"] == ""


@pytest.mark.parametrize("models", [2, 3])
def test_agreement_needs_a_third_model(models: int, data: Path) -> None:
    names = [f"m{m}" for m in range(models)]
    findings = quiet(passk_cli.compare, data, k=1, models=names)
    titles = [table.title for table in findings.report.tables]
    assert titles.count("Integrity") == (models > 2)


def test_scores_that_nothing_judges_have_no_integrity(data: Path) -> None:
    frame = pd.read_csv(data, dtype={"task": str}).assign(passed=lambda f: f["attempt"] / 3 + 0.1)
    findings = quiet(passk_cli.compare, frame, metrics="mean", bounds=(0, 1))
    assert "Integrity" not in [table.title for table in findings.report.tables]
