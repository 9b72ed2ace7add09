"""Charts in the terminal: goldens, widths, colours."""

from __future__ import annotations

import os
import re

import pytest

from passk_cli.charts.terminal import drawing
from passk_cli.report.plot import curves, forest
from passk_cli.text import cells_of
from tests.charts.plots import PLOTS
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"


@pytest.mark.parametrize("name", PLOTS)
def test_terminal_golden(name: str) -> None:
    """Set PASSK_GOLDEN=1 to write what is drawn as the new expectation, and look at it."""
    text = drawing([PLOTS[name]])
    path = GOLDEN / f"chart-{name}.txt"
    if os.environ.get("PASSK_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
    assert "\x1b" not in text
    assert max(map(cells_of, text.split("\n"))) <= 80


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("width", [40, 100, 300])
def test_as_wide_as_the_terminal(name: str, width: int) -> None:
    plain = drawing([PLOTS[name]], width)
    widest = max(map(cells_of, plain.split("\n")))
    assert min(width, 120) - 3 <= widest <= min(width, 120)
    coloured = drawing([PLOTS[name]], width, colour=True)
    assert "\x1b[38;2;" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.split("\n")] == plain.split("\n")


def test_blank_names_are_quoted() -> None:
    rows = [{"pair": name, "difference": 0.1, "low": 0.0, "high": 0.2} for name in ("", "  ", "m")]
    text = drawing([forest(rows, label="pair", value="difference", low="low", high="high")])
    assert [line[:4] for line in text.split("\n")[:3]] == ['  ""', '"  "', "   m"]


def test_two_values_at_one_place_are_drawn() -> None:
    rows = [{"k": k, "value": 0.5, "low": 0.4, "high": 0.6} for k in (1, 1, 2)]
    assert "░" in drawing([curves(rows, x="k", y="value", low="low", high="high")])
