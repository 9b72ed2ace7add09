"""What is declared once is known wherever it is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

import passk_cli
from passk_cli.commands.formats.view import known_formats
from passk_cli.files.formats import FORMATS
from passk_cli.inference.intervals import METHODS
from passk_cli.metrics.registry import FAMILIES
from tests.conftest import SAMPLES, Passk

TAU = SAMPLES / "tau_airline.csv"


def test_a_metric_is_one_line(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(FAMILIES["pass@"], meaning="Probability of {k} wonders.", cites="miller2024")
    monkeypatch.setitem(FAMILIES, "wonder@", new)
    done = passk("estimate", TAU, "-m", "wonder@2", "-f", "csv")
    assert ",wonder@2,2," in done.out, done.err
    assert "(Miller 2024)" in passk("help", "wonder@k").out
    assert "metric wonder@K: Probability" in passk("help", "metrics").out
    assert "attempts per task (Miller 2024)" in passk_cli.estimate(TAU, metrics="wonder@2").methods
    assert "wonder@4" in passk("estimate", TAU, "-m", "wonder@4", "-f", "json").out


def test_an_interval_is_one_line(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(METHODS["t"], words="a wonder", cites="miller2024")
    monkeypatch.setitem(METHODS, "wonder", new)
    monkeypatch.setattr("passk_cli.inference.intervals.NAMES", (*METHODS, "none"))
    found = passk_cli.estimate(TAU, metrics="pass@1", interval="wonder")
    assert "by a wonder (Miller 2024)" in found.methods
    assert set(found.frame["interval"]) == {"wonder"}
    assert "interval wonder: a wonder." in passk("help", "wonder").out
    assert "jackknife, wonder, none. Default" in " ".join(passk("help", "--interval").out.split())
    assert "did you mean wonder?" in passk("estimate", TAU, "--interval", "wnder").err


def test_a_format_is_one_file(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(FORMATS["aider"], name="wonder")
    monkeypatch.setitem(FORMATS, "wonder", new)
    assert "wonder" in {each.name for each in known_formats()}
    assert "wonder" in passk("formats").out
    with pytest.raises(TypeError, match="example"):
        type(new)("wonder", new.rule, new.source, new.recognises, new.table)  # type: ignore[call-arg]
