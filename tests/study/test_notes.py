"""What reading did with repeated attempts, in a sentence."""

from __future__ import annotations

import pandas as pd
import pytest

from passk_cli import read
from passk_cli.study.data_notes import reading_notes


@pytest.mark.parametrize("policy", ["first", "last", "keep"])
def test_duplicates_that_were_left_out_are_reported(policy: str) -> None:
    rows = [("m", "t", 1, True), ("m", "t", 1, False), ("m", "t", 2, True)]
    data = pd.DataFrame(rows, columns=["model", "task", "attempt", "passed"])
    messages = reading_notes(read(data, duplicates=policy))
    policies = [m.fields["kept"] for m in messages if m.name == "dropped-duplicates"]
    assert policies == [policy] * (policy != "keep")


def test_a_file_with_only_passes_and_unequal_numbers_gets_a_warning() -> None:
    rows = [{"task": f"t{t}", "passed": True} for t in range(12) for _ in range(1 + t % 3)]
    (note,) = reading_notes(read(rows))
    assert note.name == "only-passes"
    assert note.text.startswith("all 24 attempts of model passed, with 1 to 3 attempts per task")
    equal = [{"task": f"t{t}", "passed": True} for t in range(12) for _ in range(3)]
    counts = [{"task": f"t{t}", "n": 1 + t % 3, "c": 1 + t % 3} for t in range(12)]
    failed = [*rows, {"task": "t0", "passed": False}]
    for honest in (equal, counts, failed):
        assert "only-passes" not in [item.name for item in reading_notes(read(honest))]
