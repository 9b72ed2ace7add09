"""Rules and maps in one passk.toml."""

from pathlib import Path

import pytest

from tests.conftest import Passk, jsonl

MAP = """\
[[data]]
files = "*.jsonl"
task = "case"
outcome = "verdict"
passes = "met"
"""
RULES = """
[[suite]]
name = "nightly"
runs = ["runs"]
baseline = "base"
max_drop = {"pass@1" = 0.2}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place, passes in (("runs", 20), ("base", 27)):
        rows = [{"case": f"{i}", "verdict": "met" if i < passes else "unmet"} for i in range(30)]
        Path(place).mkdir()
        Path(place, "m.jsonl").write_text(jsonl(rows))


def test_a_gate_reads_runs_and_baseline_with_the_map_of_its_rules(passk: Passk) -> None:
    Path("passk.toml").write_text(MAP + RULES)
    result = passk("gate", "-q")
    assert result.code == 0, result.err
    assert "pass@1 of m fell by 0.233" in result.out
    assert passk("gate", "--check").code == 0
    # A suite of a format that passk knows needs no table.
    Path("runs/m.jsonl").write_text(
        '{"task": "0", "passed": true}\n{"task": "1", "passed": true}\n'
    )
    Path("base/m.jsonl").write_text(
        '{"task": "0", "passed": true}\n{"task": "1", "passed": true}\n'
    )
    Path("passk.toml").write_text(MAP.replace("task", 'has = "case"\ntask', 1) + RULES)
    assert passk("gate").code == 0


def test_a_file_of_maps_only_is_not_a_file_of_rules(passk: Passk) -> None:
    Path("passk.toml").write_text(MAP)
    result = passk("gate", "runs/m.jsonl", "--min", "pass@1=0.5", "--map", "passk.toml")
    assert result.code == 0, result.err


def test_a_wrong_map_is_an_error_of_the_gate(passk: Passk) -> None:
    Path("passk.toml").write_text(MAP.replace("outcome", "outcme") + RULES)
    result = passk("gate", "--check")
    assert result.code == 2
    assert "passk.toml:4: outcme" in result.err
    assert "did you mean outcome" in result.err


def test_a_history_records_and_gates_runs_that_a_map_reads(passk: Passk) -> None:
    Path("runs/passk.toml").write_text(MAP)
    assert passk("record", "runs/m.jsonl", "--to", "runs/history.parquet", "--at", "r1").code == 0
    # The history is next to the map, and passk wrote it itself.
    gated = passk(
        "gate", "runs/m.jsonl", "--baseline", "runs/history.parquet:last1", "--no-regression"
    )
    assert gated.code == 0, gated.err
