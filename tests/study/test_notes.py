"""What reading did with repeated attempts, in a sentence."""

from __future__ import annotations

import pandas as pd
import pytest

from passk_cli import read
from passk_cli.study.notes import reading_notes


@pytest.mark.parametrize("policy", ["first", "last", "keep"])
def test_repeats_that_were_left_out_are_told(policy: str) -> None:
    rows = [("m", "t", 1, True), ("m", "t", 1, False), ("m", "t", 2, True)]
    data = pd.DataFrame(rows, columns=["model", "task", "attempt", "passed"])
    messages = reading_notes(read(data, duplicates=policy))
    kept = [m.fields["kept"] for m in messages if m.name == "dropped-duplicates"]
    assert kept == [policy] * (policy != "keep")
