"""passk plan as a user runs it: goldens, formats, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from passk_cli.render import FORMATS
from tests.conftest import SAMPLES, Golden, Passk

TAU, CRUX = SAMPLES / "tau_airline.csv", SAMPLES / "cruxeval.jsonl.gz"
ASSUMED = ["plan", "--mean", "0.6", "--spread", "0.3"]
COMMANDS: dict[str, list[object]] = {
    "plan": ASSUMED,
    "plan-pilot": ["plan", TAU],
    "plan-pair": ["plan", CRUX, "--where", "temperature < 0.5", "-k", "1,5", "--percent"],
    "plan-money": ["plan", TAU, "-k", "1", "--budget", "100", "--cost-per-attempt", "0.25",
                   "--max-tasks", "115", "--detect", "0.1", "--power", "0.9",
                   "--correlation", "0.7"],
    "plan-csv": [*ASSUMED, "-m", "pass@1,pass^5", "--tasks", "100", "--attempts", "1,5",
                 "-f", "csv"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("junit", "github")])
def test_every_format(passk: Passk, name: str) -> None:
    done = passk(*ASSUMED, "-k", "1", "-f", name)
    assert (done.code, len(done.out) > 100) == (0, True)


def test_tables_show_the_rows(passk: Passk) -> None:
    rows = list(csv.DictReader(io.StringIO(passk(*ASSUMED, "-f", "csv").out)))
    assert rows == [
        {k: "" if v is None else str(v) for k, v in row.items()}
        for row in json.loads(passk(*ASSUMED, "-f", "json").out)["rows"]
    ]
    human = passk(*ASSUMED).out
    for row in rows:
        if row["plan"] == "design" and row["difference"]:
            shown = " +".join(f"{float(row[n]):.3f}" for n in ("se", "width", "difference"))
            assert re.search(shown, human)


def test_fits_a_terminal(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        done = passk("plan", CRUX, "--where", "temperature < 0.5", "-f", "table")
        assert max(map(len, done.out.splitlines())) <= width
        assert "…" not in done.out
        assert len(re.findall(r"^$", done.out, flags=re.M)) <= 7
        assert "deepseek-base-6.7b − gpt-4-0613" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to plan from; give the FILE of a pilot, or --mean and --spread"),
        (["--mean", "0.6"], "nothing to plan from"),
        ([TAU, "--mean", "0.6"], "--mean and --spread are for planning without a pilot"),
        (["--mean", "0.6", "--spread", "0.5"], "from 0 to 0.4899, where all are 0 or 1"),
        (["--mean", "0", "--spread", "0"], "it must lie in (0, 1)"),
        ([*ASSUMED[1:], "--correlation", "2"], "it must lie between −1 and 1"),
        ([CRUX, "--correlation", "0.5"], "leave it out, or choose one with --model"),
        ([*ASSUMED[1:], "--tasks", "1"], "whole numbers from 2"),
        ([*ASSUMED[1:], "--attempts", "1,x"], "whole numbers from 1"),
        ([*ASSUMED[1:], "-k", "0"], "k must be a whole number"),
        ([*ASSUMED[1:], "-m", " "], "-m is empty"),
        ([*ASSUMED[1:], "--where", "x = 1"], "without a pilot there is nothing to read"),
        ([*ASSUMED[1:], "--short-tasks", "drop"], "without a pilot"),
        ([*ASSUMED[1:], "-m", "maj@3"], "designs are known for metrics of passes and failures"),
        ([TAU, "-m", "mean"], "designs are known for metrics of passes and failures"),
        ([*ASSUMED[1:], "--chart", "x.gif"], "no picture has this suffix"),
        ([TAU, "-k", "10"], "pass@10 needs 10 attempts per task"),
        (["missing.csv"], "missing.csv"),
    ],
)
def test_refused_in_one_line(passk: Passk, arguments: list[object], message: str) -> None:
    done = passk("plan", *arguments)
    assert done.out == ""
    assert done.code in (2, 3)
    assert message in done.err
    assert done.err.count("\n") == 1
