"""MCPMark: the path contains the attempt, and the file contains everything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.files.formats.cells import DATA, cells

ROOT = DATA / "mcpmark"


def test_a_tree_of_runs_is_read() -> None:
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in ROOT.glob("results/**/meta.json"):
        meta = json.loads(path.read_text())
        key = (meta["model_name"], f"postgres/{meta['task_name']}")
        n, c = expected.get(key, (0, 0))
        expected[key] = (n + 1, c + meta["execution_result"]["success"])
    assert cells(ROOT / "results") == expected
    assert {n for n, _ in expected.values()} == {4}
    facts = read(ROOT / "results").read_facts
    # messages.json and summary.json belong to a run and are not results.
    assert facts.non_result_files == ()
    assert facts.duplicates_checked


def test_both_spellings_of_merged_runs_are_read(tmp_path: Path) -> None:
    assert cells(ROOT / "merged") == {("alpha-1", "postgres/papers__find_math"): (4, 3)}
    runs = {f"run-{i}": {"execution_result": {"success": i > 1}} for i in (1, 2, 3)}
    (tmp_path / "x.json").write_text(
        json.dumps({"task_name": "a__b", "service": "github", "model": "m", "runs": runs})
    )
    assert cells(tmp_path) == {("m", "github/a__b"): (3, 2)}


def test_a_run_and_its_merged_form_are_repeats(tmp_path: Path) -> None:
    meta = {
        "task_name": "papers__find_math", "model_name": "alpha-1", "mcp": "postgres",
        "execution_result": {"success": True},
    }  # fmt: skip
    path = tmp_path / "run-1" / "papers__find_math" / "meta.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(meta))
    with pytest.raises(DataError, match=r"attempt 1 of model 'alpha-1' .* is duplicated"):
        read([str(tmp_path), str(ROOT / "merged")])


def test_both_playwright_services_are_one_suite(tmp_path: Path) -> None:
    for number, service in enumerate(("playwright", "playwright_webarena"), 1):
        path = tmp_path / f"run-{number}" / "meta.json"
        path.parent.mkdir()
        result = {"success": False, "error_message": "MCP Network Error"}
        meta = {"task_name": "a__b", "model_name": "m", "mcp": service, "execution_result": result}
        path.write_text(json.dumps(meta))
    assert cells(tmp_path) == {("m", "playwright/a__b"): (2, 0)}
