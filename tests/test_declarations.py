"""What is declared once is known wherever it is shown."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import passk_cli
from passk_cli.commands.command import load_command
from passk_cli.commands.formats.view import recognised_formats
from passk_cli.files.formats import FORMATS
from passk_cli.inference.intervals import METHODS
from passk_cli.metrics.registry import FAMILIES
from passk_cli.option import options_by_field
from passk_cli.study.significance_options import TESTS, ComparisonOptions
from tests.conftest import SAMPLES, Passk

TAU = SAMPLES / "tau_airline.csv"


def test_a_metric_is_one_line(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(
        FAMILIES["pass@"], meaning="Probability of {k} wonders.", citation_keys="miller2024"
    )
    monkeypatch.setitem(FAMILIES, "wonder@", new)
    result = passk("estimate", TAU, "-m", "wonder@2", "-f", "csv")
    assert ",wonder@2,2," in result.out, result.err
    assert "(Miller 2024)" in passk("help", "wonder@k").out
    assert "metric wonder@K: Probability" in passk("help", "metrics").out
    assert "attempts per task (Miller 2024)" in passk_cli.estimate(TAU, metrics="wonder@2").methods
    assert "wonder@4" in passk("estimate", TAU, "-m", "wonder@4", "-f", "json").out


def test_an_interval_is_one_line(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(METHODS["t"], description="a wonder", citation_keys="miller2024")
    monkeypatch.setitem(METHODS, "wonder", new)
    monkeypatch.setattr("passk_cli.inference.intervals.METHOD_CHOICES", (*METHODS, "none"))
    findings = passk_cli.estimate(TAU, metrics="pass@1", interval="wonder")
    assert "by a wonder (Miller 2024)" in findings.methods
    assert set(findings.frame["interval"]) == {"wonder"}
    assert "interval wonder: a wonder." in passk("help", "wonder").out
    assert "jackknife, wonder, none. The default" in " ".join(
        passk("help", "--interval").out.split()
    )
    assert "did you mean wonder?" in passk("estimate", TAU, "--interval", "wnder").err


def test_a_test_is_one_line(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TESTS, "wonder", TESTS["t"]._replace(words="a wonder", cites="miller2024"))
    option = options_by_field(ComparisonOptions)["test"]
    widened = option._replace(option=replace(option.option, choices=tuple(TESTS)))
    monkeypatch.setitem(options_by_field(ComparisonOptions), "test", widened)
    result = passk_cli.compare(SAMPLES / "agents.jsonl", metrics="pass@1", test="wonder")
    assert set(result.frame["test"]) == {"wonder"}
    assert "by a wonder (Miller 2024)" in result.methods
    assert "test wonder: a wonder." in passk("help", "wonder").out


def test_a_format_is_one_file(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(FORMATS["aider"], name="wonder")
    monkeypatch.setitem(FORMATS, "wonder", new)
    assert "wonder" in {item.name for item in recognised_formats()}
    assert "wonder" in passk("formats").out
    with pytest.raises(TypeError, match="example"):
        type(new)(
            "wonder", new.pass_rule, new.layout_documentation, new.recognises, new.read_contents
        )  # type: ignore[call-arg]


# Calls that together fill every field that a command declares; MODEL stands for models' names.
CALLS: dict[str, list[str]] = {
    "estimate": [""],
    "compare": ["--margin 0.1 --crossings", "--flips --full", "-m cover@0.8"],
    "gate": ["--baseline a --no-regression --min pass@1=0.1",
             "--baseline a --max-drop pass@1=0.1 --rehearse"],
    "bootstrap": ["--resamples 200"],
    "curve": ["--delta"],
    "tasks": ["--always 0.5", "--against a --model b", "--suspects"],
    "cost": ["--at 3"],
    "trend": [""],
    "order": [""],
    "horizon": ["--field date=released"],
    "temperature": ["", "--toy gaussian", "--toy power-law --fit"],
    "extrapolate": ["--fit log-logit", ""],
    "plan": ["", "--next --budget 90attempts"],
    "describe": ["--missing bounds"],
    "record": ["--to H.parquet --at r9"],
    "formats": [""],
}  # fmt: skip


SLOW = ("extrapolate", "temperature")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n in SLOW)) for n in CALLS]
)
def test_every_declared_field_is_written(passk: Passk, tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows.csv"
    text = "model,task,attempt,temperature,passed,cost,solution,human_minutes,released\n"
    for at, (model, task, attempt) in enumerate(product("abcd", range(12), range(6))):
        passed = (at * 7 + task) % 13 < task + 3 * "bcda".index(model)
        outcome = int(passed) if at != 40 else ""
        text += f"{model},t{task},{attempt},{0.2 + attempt % 2},{outcome},{at % 5},s{at % 4},"
        text += f"{2**task},2024-0{'abcd'.index(model) + 1}-01\n"
    path.write_text(text)
    written_fields: set[str] = set()
    for call in CALLS[name]:
        words = [str(tmp_path / word) if word[:1].isupper() else word for word in call.split()]
        data = {"formats": [], "trend": [SAMPLES / "nights.parquet"]}.get(name, [path])
        data = [] if "--toy" in words else data
        if data == [path]:
            words += ["--pool", "temperature"] * (name != "temperature")
            words += ["--missing", "fail"] * ("--missing" not in words)
        result = passk(name, *data, *words, "-f", "csv")
        assert result.code in (0, 1), result.err
        written_fields |= {*result.out.partition("\n")[0].split(",")}
    fields = {
        column.field_name
        for section in load_command(name).runner_class.sections
        for column in section.columns
        # Labels are of a judge's data, which these are not.
        if column.field_name not in ("", "labels") and not column.repeated_items
    }
    assert fields - written_fields == set()
