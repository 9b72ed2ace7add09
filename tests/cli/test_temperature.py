"""passk temperature as a user runs it: goldens, options that do not go together, charts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import CRUXEVAL, SAMPLES, Golden, Passk, Write, mark_long, records
from tests.proposals import commands, run_printed

CRUX = SAMPLES / "cruxeval.jsonl.gz"
CODELLAMA = [CRUXEVAL / f"codellama-7b_temp{t}.json.gz" for t in (0.2, 0.8)]
COMMANDS: dict[str, list[object]] = {
    "temperature": ["temperature", CRUX, "-k", "1,5,10"],
    "temperature-files": ["temperature", *CODELLAMA,
                          "--path",
                          "{model}_temp{temperature}.json.gz", "-k", "1,2,3,5", "-m", "pass^5"],
    "temperature-families": ["temperature", "--toy", "gaussian,exponential,power-law", "--spread",
                             "4,64", "--gamma", "1.5", "-k", "4,1024"],
    "temperature-fit": ["temperature", "--toy", "gaussian,exponential", "--fit"],
}  # fmt: skip


@pytest.mark.parametrize("name", mark_long(COMMANDS, "temperature-fit"))
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_charts_are_written(passk: Passk, tmp_path: Path) -> None:
    for name, command in (
        ("a.svg", [CRUX, "-k", "1,5", "--resamples", "200"]),
        ("b.svg", ["--toy", "gaussian,power-law", "--spread", "4,16"]),
    ):
        result = passk("temperature", *command, "--chart", tmp_path / name)
        assert result.code == 0, result.err
    assert "pass@k by temperature" in (tmp_path / "a.svg").read_text()
    assert "gpt-4-0613" in (tmp_path / "a.svg").read_text()
    assert "power-law, s = 16.01" in (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gamma", "2", "x.jsonl"], "--gamma: this option is only for the toy model"),
        (
            ["--toy", "normal"],
            "the toy model has no family named 'normal'; there are gaussian, exponential,"
            " power-law",
        ),
        (["--toy", "gaussian", "--temperature", "t"], "without data and without resampling"),
        (["--toy", "gaussian", "--seed", "3"], "without data and without resampling"),
        (["--toy", "gaussian", "--fit", "--spread", "2"], "the fit uses the k's and spreads"),
        (["--toy", "gaussian", "--spread", "wide"], "write numbers, for example 4,16"),
        (["--toy", "gaussian", "--spread", "0"], "must be above 0 and at most 16384; got 0"),
        (["--toy", "gaussian", "-k", "0"], "write a whole number, at least 1"),
        (
            ["--toy", "gaussian", "-k", "1000000000000"],
            "write a whole number, at least 1 and at most",
        ),
        (["--toy", "power-law", "--gamma", "3"], "allows a spread from 1 to 3.4"),
        (["--toy", "power-law", "--fit", "--gamma", "19"], "too few for a fit"),
        ([CRUX, "--interval", "none"], "the verdicts of this command need intervals"),
        ([CRUX, "--temperature", "sample", "--by", "temperature"], "--temperature temperature"),
    ],
)
def test_wrong_options_are_refused(passk: Passk, options: list[object], message: str) -> None:
    result = passk("temperature", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.sentences == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [SAMPLES / "tau_airline.csv"],
            "tau_airline.csv: no column 'temperature'; there are model, task_id",
        ),
        ([CRUX, "--temperature", "heat"], "no column 'heat'; there are model"),
        (
            [CRUX, "--temperature", "task_id", "--pool", "temperature"],
            "a temperature must be a number of at least 0; got 'sample_0'",
        ),
    ],
)
def test_data_without_temperatures_are_refused(
    passk: Passk, options: list[object], message: str
) -> None:
    result = passk("temperature", *options)
    assert (result.code, result.out) == (2 if "no column" in message else 3, "")
    assert message in result.err


def test_nested_temperatures_are_proposed(passk: Passk, write: Write) -> None:
    rows = [{"task": f"t{t}", "passed": t < 30 * heat, "config": {"temperature": heat}}
            for heat in (0.2, 0.7) for t in range(30)]  # fmt: skip
    path = write("x.jsonl", "\n".join(map(json.dumps, rows)))
    result = passk("temperature", path)
    assert (result.code, "no column 'temperature'" in result.err) == (2, True)
    [run] = run_printed(passk, result.err)
    assert "0.7 is best at k = 1" in run.out
    estimates = passk("estimate", path, "--by", "temperature")
    assert [words[-2:] for words in commands(estimates.err)] == [["--by", "config.temperature"]]


def test_the_temperature_column_is_found_or_named(passk: Passk, write: Write) -> None:
    rows = "".join(
        f"{heat},t{t},{kind},{int(t % 10 < 10 * heat)}\n"
        for heat in (0.2, 0.7)
        for t, kind in ((t, "easy" if t < 15 else "hard") for t in range(30))
    )
    path = write("x.csv", "temp,task,kind,passed\n" + rows)
    detected = passk("temperature", path, "-f", "json")
    explicit = passk("temperature", path, "--temperature", "temp", "-f", "json")
    assert detected.out == explicit.out
    assert json.loads(detected.out)["signature"]["temperature"] == "temp"
    by = passk("temperature", path, "--by", "kind,temperature", "-f", "csv")
    kinds = {r["kind"] for r in records(by.out)}
    assert kinds == {"easy", "hard"}
    piped = passk("temperature", "-", "--temperature", "temp", stdin=path.read_bytes())
    assert piped.code == 0
    once = passk("temperature", "-", stdin=path.read_bytes())
    assert (once.code, "no column 'temperature'; did you mean temp?" in once.err) == (2, True)


def test_clusters_widen_intervals_and_the_seed_fixes_them(passk: Passk, write: Write) -> None:
    lines = ["temperature,task,repo,n,c"]
    for t in range(40):
        lines += [f"0.2,t{t},r{t % 4},4,{2 + t % 2}", f"0.8,t{t},r{t % 4},4,{1 + t % 4 // 2}"]
    path = write("x.csv", "\n".join(lines))
    base = ["temperature", path, "-k", "1", "-f", "csv"]

    def p(*more: str) -> float:
        rows = records(passk(*base, *more).out)
        return next(float(r["p"]) for r in rows if r["fact"] == "temperatures")

    assert p("--cluster", "repo") > 10 * p()
    assert passk(*base, "--seed", "0").out == passk(*base).out
