"""Copies of runs: whatever their order and name, also nearly; never two runs of the same rates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.inference.random_streams import named_generator
from passk_cli.study.duplicate_runs import detect_copy


def run(seed: int, tasks: int = 60, n: int = 4) -> pd.DataFrame:
    """A run of an agent whose tasks have rates of their own."""
    easy = named_generator(1, "copied tasks").beta(0.8, 0.8, tasks)
    passed = named_generator(seed, "copied run").random((tasks, n)) < easy[:, None]
    task, attempt = np.indices((tasks, n))
    return pd.DataFrame({
        "model": "agent", "task": task.ravel(), "attempt": attempt.ravel(), "passed": passed.ravel()
    })  # fmt: skip


def said(findings: passk_cli.Findings) -> str:
    return " ".join(m.text for m in findings.report.messages if m.name == "copied-run")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_gate_and_record_report_a_copy_even_with_one_changed_outcome(
    tmp_path: Path,
) -> None:
    base, history, rule = run(1), tmp_path / "h.parquet", {"max_drop": "pass@1=0.5"}
    for night in (1, 2, 3):
        result = passk_cli.record(run(night), to=history, at=f"r{night}", date=f"2026-01-0{night}")
        assert not said(result)
    changed = base.assign(passed=base.passed ^ (base.index == 7))
    for copy, words in (
        (base.sample(frac=1, random_state=3), "60 tasks"),
        (changed, "59 tasks of 60"),
    ):
        beside = passk_cli.gate(copy, baseline=base, **rule)
        assert f"have the same outcomes at {words}" in said(beside)
        assert "same outcomes as" in str(beside.report.answer)
        assert f"r1 and agent have the same outcomes at {words}" in said(
            passk_cli.gate(copy, baseline=f"{history}:last2", **rule)
        )
        again = passk_cli.record(copy, to=history, at=words, date="2026-02-01")
        assert f"r1 and {words} of agent have the same" in said(again)
    assert not said(passk_cli.gate(run(4), baseline=base, **rule))
    boards = pd.concat([base, changed.assign(model="other")])
    with pytest.raises(passk_cli.DataError, match=r"as agent at 59 tasks of 60 \(1 attempt"):
        passk_cli.report(boards, board=True)
    with pytest.raises(passk_cli.DataError, match="if they are two models"):
        passk_cli.compare(boards)
    assert len(passk_cli.report(boards, board=True, models=["agent", "other"]).frame)


def test_two_runs_with_the_same_rates_are_not_copies() -> None:
    """Also where most tasks never fail; a million such pairs would hold about one."""
    rng = named_generator(2, "no copies")
    for tasks, n, shape in ((20, 2, (0.2, 0.2)), (60, 4, (0.1, 0.1)), (200, 1, (0.05, 0.05))):
        for _ in range(100):
            easy = rng.beta(*shape, tasks)
            c, c_other = rng.binomial(n, easy, (2, tasks))
            copy = detect_copy("a", "b", np.full(tasks, n), (c, c_other), 1)
            assert copy is None or (n == 1 and not copy.changed_attempt_count)
