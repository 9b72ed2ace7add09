"""passk curve as a user runs it: goldens, exact rates, refusals, pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import passk_cli
from tests.conftest import SAMPLES, Golden, Passk, mark_long, records

TAU, CRUX, COUNTS, TOYS, COINS = (
    SAMPLES / name
    for name in (
        "tau_airline.csv", "cruxeval.jsonl.gz", "counts.csv", "toy_families.csv", "coin_game.csv",
    )
)  # fmt: skip
COMMANDS: dict[str, list[object]] = {
    "curve": ["curve", COUNTS],
    "curve-delta": ["curve", CRUX, "--where", "temperature > 0.5", "--delta", "--percent"],
    "curve-simultaneous": ["curve", TAU, "--band", "simultaneous", "--delta"],
    "curve-these-tasks": ["curve", TAU, "--population", "these-tasks", "--delta"],
    "curve-by": ["curve", CRUX, "--by", "temperature", "--model", "gpt-4-0613", "-f", "table"],
    "curve-csv": ["curve", TAU, "--delta", "--interval", "none", "-f", "csv"],
    "curve-families": ["curve", TOYS, "--max-k", "8", "--delta"],
    "curve-coins": ["curve", COINS, "-f", "markdown"],
    "curve-rates": [
        "curve", "--rates", "0.2,0.8", "--rates", "even=0.5", "--max-k", "3", "-f", "csv",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", mark_long(COMMANDS, "curve-delta"))
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def by_metric(passk: Passk, *arguments: object) -> dict[tuple[str, str], dict[str, str]]:
    result = passk("curve", *arguments, "-f", "csv")
    assert result.code == 0, result.err
    return {(r["model"], r["metric"]): r for r in records(result.out)}


def test_pass_hat_k_of_coins_is_exact(passk: Passk) -> None:
    curves = by_metric(passk, COINS)
    assert float(curves["fair coin", "pass^10"]["estimate"]) == 1 / 1024
    assert float(curves["mixed coins", "pass^10"]["estimate"]) == 1 / 2


def test_curves_match_the_figures_of_the_article() -> None:
    """Every point of both figures, from the formulas of the article in exact fractions."""
    families: dict[str, list[Fraction]] = {}
    for row in csv.DictReader(TOYS.read_text().splitlines()):
        families.setdefault(row["model"], []).append(Fraction(row["rate"]))
    figures = passk_cli.curve(TOYS, max_k=8, delta=True).report.plots
    assert len(figures) == 2
    expected = {}
    for name, p in families.items():
        mean = sum(p) / len(p)
        assert mean == Fraction(1, 2)
        for k in range(1, 9):
            hat = sum(x**k for x in p) / len(p)
            expected[name, "pass^k", k] = hat
            expected[name, "pass@k", k] = 1 - sum((1 - x) ** k for x in p) / len(p)
            expected[name, None, k] = hat - mean**k
    actual = {
        (row["series"], row.get("kind"), row["x"]): row["y"]
        for figure in figures
        for row in figure.rows
    }
    assert actual.keys() == expected.keys()
    for key, value in expected.items():
        assert actual[key] == pytest.approx(float(value), abs=1e-15), key


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_pictures_are_written(passk: Passk, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"curve{suffix}"
    result = passk("curve", TAU, "--band", "simultaneous", "--delta", "--chart", target)
    assert result.code == 0, result.err
    assert target.stat().st_size > 3000


def test_rates_are_read_from_every_file_format(
    passk: Passk, write: Callable[[str, str | bytes], Path], tmp_path: Path
) -> None:
    frame = pd.DataFrame({"model": "f", "task": ["1", "2"], "rate": [0.25, 0.75]})
    frame.to_parquet(tmp_path / "rates.parquet")
    files = [
        write("rates.csv", frame.to_csv(index=False)),
        write("rates.tsv", frame.to_csv(index=False, sep="\t")),
        write("rates.jsonl", frame.to_json(orient="records", lines=True)),
        write("rates.json", frame.to_json(orient="records")),
        tmp_path / "rates.parquet",
        write("f.csv", "rate,task\n0.25,x\n0.75,y\n"),
        f"f={write('other.csv', frame.to_csv(index=False))}",
    ]
    expected = by_metric(passk, "--rates", "f=0.25,0.75", "--delta")
    for file in files:
        assert by_metric(passk, file, "--delta") == expected, file
    two = by_metric(passk, files[0], f"g={files[2]}")
    assert {model for model, _ in two} == {"f", "g"}


def test_outcomes_next_to_a_rate_are_read_as_outcomes(
    passk: Passk, write: Callable[[str, str | bytes], Path]
) -> None:
    for name, text in (
        ("a.csv", "model,task,passed,rate\nm,1,1,0.5\nm,2,0,0.3\n"),
        ("b.csv", "model,task,n,c,rate\nm,1,1,1,0.5\nm,2,1,0,0.3\n"),
    ):
        curves = by_metric(passk, write(name, text))
        assert (curves["m", "pass@1"]["estimate"], curves["m", "pass@1"]["tasks"]) == ("0.5", "2")


BAD_RATES = {
    "too-large": ("task,rate\n1,0.5\n2,1.2\n", ":3: \"rate\" is '1.2'; expected a probability"),
    "empty": ("task,rate\n1,\n", ':2: "rate" is empty'),
    "nan": ("task,rate\n1,nan\n", ":2: \"rate\" is 'nan'"),
    "word": ("task,rate\n1,high\n", ":2: \"rate\" is 'high'"),
    "twice": ("task,rate\n1,0.5\n1,0.5\n", ":3: task '1' of"),
    "short": ("task,model,rate\n1,m,0.5\n2,m\n", ":3: 2 fields; the header has 3"),
    "no-model": ("task,model,rate\n1,,0.5\n", ':2: "model" is empty'),
    "no-rows": ("task,rate\n", "the file contains no rates"),
}


@pytest.mark.parametrize("name", BAD_RATES)
def test_errors_of_bad_rates_name_the_place(
    passk: Passk, write: Callable[[str, str | bytes], Path], name: str
) -> None:
    text, message = BAD_RATES[name]
    result = passk("curve", write("bad.csv", text))
    assert (result.code, result.out, result.sentences) == (3, "", 1)
    assert message in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rates", "0.5,x"], "'x' is not a probability"),
        ([TOYS, "--where", "rate > 0.1"], "--where: this option applies to outcomes"),
        ([TOYS, "--cluster", "task"], "--cluster: this option applies to outcomes"),
        ([TOYS, "--band", "simultaneous"], "--band: this option needs outcomes"),
        ([TAU, "--max-k", "5"], "no task has more than 4"),
        (
            [TAU, "--interval", "none", "--chart", "curve.xyz"],
            "passk draws no pictures with this suffix",
        ),
    ],
)
def test_wrong_options_are_refused(passk: Passk, arguments: list[object], message: str) -> None:
    result = passk("curve", *arguments)
    assert (result.code, result.out, result.sentences) == (2, "", 1)
    assert message in result.err


def test_rates_and_outcomes_are_not_mixed(passk: Passk) -> None:
    result = passk("curve", TOYS, TAU)
    assert (result.code, "contains exact rates" in result.err) == (3, True)


def test_outcomes_from_a_pipe_are_read(passk: Passk) -> None:
    expected = passk("curve", TAU, "-f", "csv").out
    assert passk("curve", "-", "-f", "csv", stdin=TAU.read_bytes()).out == expected
