"""SWE-bench: the meaning of each list, files that repeat a report, boards without failures."""

from __future__ import annotations

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, cells, pass_at, pass_hat

ROOT, PRO = DATA / "swe_bench", DATA / "swe_bench_pro"
MODEL = "org__stub-1"


def test_three_runs_and_the_reports_below_them_count_once() -> None:
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in ROOT.glob("*.json"):
        report = json.loads(path.read_text())
        lists = ("resolved", "unresolved", "empty_patch", "error", "incomplete")
        for instance in {instance for name in lists for instance in report[f"{name}_ids"]}:
            n, c = expected.get((MODEL, instance), (0, 0))
            expected[MODEL, instance] = (n + 1, c + (instance in report["resolved_ids"]))
    counts = cells(ROOT, missing="fail")
    assert counts == expected
    assert pass_at(1, counts, MODEL) == Fraction(26, 60)
    assert (pass_at(3, counts, MODEL), pass_hat(3, counts, MODEL)) == (
        Fraction(4, 5),
        Fraction(3, 20),
    )
    facts = read(ROOT, missing="drop").read_facts
    assert facts.missing_reasons_by_model == {
        MODEL: {"error": 3, "infrastructure": 3, "not attempted": 1}
    }


def test_a_run_without_its_report_is_read_from_its_instances(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "x")
    (tmp_path / "x" / "org__stub-1.run2.json").unlink()
    names = {run for (_, run, _) in cells(tmp_path / "x", missing="fail", by=["run"])}
    assert names == {"run1", "run2", "run3"}


def test_reports_of_instances_warn_about_missing_ones() -> None:
    reports = [json.loads(p.read_text()) for p in ROOT.glob("logs/**/report.json")]
    resolved = sum(instance["resolved"] for report in reports for instance in report.values())
    counts = cells(ROOT / "logs")
    assert (sum(n for n, _ in counts.values()), sum(c for _, c in counts.values())) == (
        len(reports),
        resolved,
    )
    assert {model for model, _ in counts} == {MODEL}
    (warning,) = read(ROOT / "logs").read_facts.messages
    assert warning.name == "completed-only"
    assert re.search(r" and \d+ more: instances with an error", warning.text)


def report(path: Path, **lists: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(lists))
    return path


def test_the_first_schema_needs_no_lists_of_failures(tmp_path: Path) -> None:
    path = report(
        tmp_path / "m.r.json", completed_ids=["a", "b"], resolved_ids=["a"], error_ids=["c"],
        total_instances=3,
    )  # fmt: skip
    assert cells(path, missing="drop") == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


def test_reports_of_swe_bench_live_are_read(tmp_path: Path) -> None:
    report(
        tmp_path / "m" / "results.json", submitted=4, submitted_ids=["a", "b", "c", "d"],
        empty_patch_ids=["c"], success_ids=["a"], failure_ids=["b"], error_ids=["d"],
    )  # fmt: skip
    record = {"instance_id": "a", "resolved": True, "PASS_TO_PASS": {}, "FAIL_TO_PASS": {}}
    instance = report(tmp_path / "m" / "a" / "report.json", **record)
    assert [c for _, c in cells(tmp_path, missing="fail").values()] == [1, 0, 0, 0]
    assert cells(instance) == {("m", "a"): (1, 1)}


def test_a_board_counts_unresolved_generated_instances_as_failed(tmp_path: Path) -> None:
    path = report(
        tmp_path / "results.json", resolved=["a"], generated=["a", "b"], no_generation=["c"],
        test_timeout=["d"],
    )  # fmt: skip
    counts = cells(path, missing="drop")
    assert {task: c for (_, task), (_, c) in counts.items()} == {"a": 1, "b": 0, "c": 0}


def test_a_board_without_failures_is_refused_or_skipped_in_a_folder(
    tmp_path: Path,
) -> None:
    board = report(tmp_path / "results" / "results.json", resolved=["a"], no_generation=[])
    with pytest.raises(
        DataError, match=("the report lists the resolved instances but not the failed instances")
    ):
        read(board)
    report(tmp_path / "logs" / "a" / "report.json", a={
        "patch_successfully_applied": True, "resolved": True})  # fmt: skip
    assert cells(tmp_path) == {(tmp_path.name, "a"): (1, 1)}


def test_a_report_without_submitted_ids_counts_the_listed_instances(tmp_path: Path) -> None:
    """The report has only the number of submitted instances; a warning counts those in none of the
    lists."""
    numbers = {"total_instances": 300, "resolved_instances": 1, "unresolved_instances": 2}
    path = report(
        tmp_path / "m.r.json", submitted_instances=4, resolved_ids=["a"],
        unresolved_ids=["b", "c"], **numbers,
    )  # fmt: skip
    assert cells(path) == {("m", "a"): (1, 1), ("m", "b"): (1, 0), ("m", "c"): (1, 0)}
    (warning,) = read(path).read_facts.messages
    assert warning.text.endswith(
        "1 submitted instance is left out, because no list of the report contains it"
    )
    report(path, submitted_instances=3, resolved_ids=["a"], unresolved_ids=["b", "c"], **numbers)
    assert read(path).read_facts.messages == ()
    report(path, submitted_instances=3, resolved_ids=["a"], **numbers)
    with pytest.raises(
        DataError, match=("the report lists the resolved instances but not the failed instances")
    ):
        read(path)


def test_the_final_report_of_2024_counts_failures_without_their_names(
    tmp_path: Path, passk: Passk
) -> None:
    stats = {"generated": 3, "with_logs": 3, "applied": 2, "resolved": 1}
    path = tmp_path / "final_report.json"
    report(path, stats=stats, resolved=["a__a-1"], resolved_per_project={"a/a": ["a__a-1"]})
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert (
        "the report lists the resolved instances but not the failed instances; give the report"
        in result.err
    )
    # Another report of that name ends in a question.
    report(path, stats={"resolved": 1}, resolved=["a__a-1"], title="final report")
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert result.error == "no-task-column"


def test_submitted_instances_in_no_list_give_a_warning(tmp_path: Path) -> None:
    path = report(
        tmp_path / "m.r.json", submitted_ids=["a", "z"], resolved_ids=["a"], unresolved_ids=[]
    )
    (warning,) = read(path).read_facts.messages
    assert warning.text.endswith(
        "1 submitted instance is left out, because no list of the report contains it"
    )


def test_pro_is_named_by_its_folder(passk: Passk) -> None:
    counts = cells(PRO)
    for folder in PRO.glob("*/"):
        outcomes = json.loads((folder / "eval_results.json").read_text())
        cells_of_model = {
            task: cell for (model, task), cell in counts.items() if model == folder.name
        }
        assert cells_of_model == {task: (1, int(passed)) for task, passed in outcomes.items()}
    result = passk("describe", PRO)
    assert "swe-bench-pro" in result.out
