"""passk extrapolate as a user runs it: goldens, formats, charts, refusals, warnings."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import passk_cli.cli.extrapolate as command
from passk_cli.inference.futures import MODELS
from passk_cli.render import FORMATS
from tests.conftest import SAMPLES, Golden, Passk

Write = Callable[[str, str | bytes], Path]
COUNTS, TAU, CRUX = (SAMPLES / f for f in ("counts.csv", "tau_airline.csv", "cruxeval.jsonl.gz"))
HOT = [CRUX, "--where", "temperature > 0.5"]
FEW = ["--resamples", "100"]
COMMANDS: dict[str, list[object]] = {
    "extrapolate": ["extrapolate", COUNTS, "--to", "100,1000", "--target", "0.3", *FEW],
    "extrapolate-models": ["extrapolate", *HOT, "--target", "0.75", *FEW],
    "extrapolate-fit": ["extrapolate", COUNTS, "--fit", "beta", "-m", "pass^k", *FEW],
    "extrapolate-these-tasks": ["extrapolate", COUNTS, "--population", "these-tasks", *FEW],
    "extrapolate-refused": ["extrapolate", TAU],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("junit", "github")])
def test_every_format(passk: Passk, name: str) -> None:
    done = passk("extrapolate", COUNTS, "--fit", "log-logit", *FEW, "-f", name)
    assert done.code == 0, done.err
    assert len(done.out) > 50


def test_tables_fit_a_terminal(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = passk("extrapolate", COUNTS, "--fit", "beta", "--target", "0.3", *FEW, "-f", "table")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "starcoder-15b-racket" in done.out


def test_tidy_rows_tell_every_model(passk: Passk) -> None:
    base = ["extrapolate", COUNTS, "--to", "20,100", "--target", "0.3", *FEW]
    rows = list(csv.DictReader(io.StringIO(passk(*base, "-f", "csv").out)))
    by_fit = {(r["metric"], r["fit"]): r for r in rows}
    assert {f for m, f in by_fit if m == "pass@100"} == {"weighed", *MODELS}
    weights = [float(by_fit["pass@100", name]["weight"]) for name in MODELS]
    assert sum(weights) == pytest.approx(1.0)
    mean = sum(
        w * float(by_fit["pass@100", name]["estimate"])
        for w, name in zip(weights, MODELS, strict=True)
    )
    whole = by_fit["pass@100", "weighed"]
    assert float(whole["estimate"]) == pytest.approx(mean)
    assert (whole["beyond"], by_fit["pass@20", "weighed"]["beyond"]) == ("yes", "no")
    assert (whole["backtest_k"], whole["backtest_from"]) == ("20", "5")
    target = by_fit["k for pass@k = 0.3", "weighed"]
    assert int(target["low"]) < int(target["estimate"])
    assert (target["high"], target["note"]) == ("", "high: not reached by k = 1,000,000,000")
    document = json.loads(passk(*base, "-f", "json").out)
    assert len(document["rows"]) == len(rows)
    assert document["signature"]["refits"] == 100


def test_within_the_attempts_it_says_what_estimate_says(passk: Passk) -> None:
    ahead = passk("extrapolate", COUNTS, "--to", "10,100", "--fit", "beta", *FEW).out
    now = passk("estimate", COUNTS, "-k", "10,20").out
    for shown in ("0.179 [0.081, 0.315]", "0.200 [0.091, 0.355]"):
        assert shown in now
        assert shown in ahead


def test_charts(passk: Passk, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    lone, both = tmp_path / "a.svg", tmp_path / "b.svg"
    base = ["extrapolate", COUNTS, "--target", "0.25", *FEW]
    assert passk(*base, "--chart", lone).code == 0
    for text in ("pass@k beyond the attempts made", "target 0.25", "attempts made", "weighed"):
        assert text in lone.read_text()
    assert passk(*base, "-m", "pass@k,pass^k", "--fit", "beta", "--chart", both).code == 0
    assert "pass^k" in both.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fit", "gamma"], "--fit gamma: no such model; there are smooth, beta, beta+0"),
        (["--to", "0"], "--to 0: k must be a whole number, at least 1"),
        (["--to", "1e4"], "--to 1e4: k must be a whole number"),
        (["--to", "2000000000"], "--to 2000000000: k must be a whole number, at least"),
        (["--to", ""], "--to is empty"),
        (["--target", "90"], "--target 90 must lie between 0 and 1"),
        (["--target", "nan"], "--target nan must lie between 0 and 1"),
        (["-m", "maj@3"], "-m maj@3: pass@k and pass^k can be extrapolated"),
        (["--bounds", "0,1"], "--bounds is for scores"),
        (["--level", "2"], "level 2 must lie between 0 and 1"),
    ],
)
def test_usage(passk: Passk, options: list[str], message: str) -> None:
    done = passk("extrapolate", COUNTS, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_the_help_names_every_model(passk: Passk) -> None:
    done = passk("extrapolate", "--help")
    shown = " ".join(done.out.split())
    assert ", ".join(MODELS) in shown
    assert command.__doc__


def rows_of(model: str, cells: list[tuple[int, int]]) -> str:
    return "".join(f"{model},{t},{n},{c}\n" for t, (n, c) in enumerate(cells))


def test_sampling_stopped_at_success_is_told(passk: Passk, write: Write) -> None:
    cells = [(10, 1 + t % 3) for t in range(12)] + [(30, t % 9 * (t % 2)) for t in range(24)]
    path = write("x.csv", "model,task,n,c\n" + rows_of("a", cells))
    done = passk("extrapolate", path, "--fit", "beta", *FEW)
    assert done.code == 0
    assert "warning: a: attempts seem to stop once a task has passed: the 12 of 36" in done.err
    assert done.err.count("12 of 36") == 1


def test_models_that_cannot_be_predicted_stand_aside(passk: Passk, write: Write) -> None:
    good = [(20, t % 7) for t in range(30)]
    text = (
        rows_of("good", good) + rows_of("never", [(20, 0)] * 30) + rows_of("brief", [(3, 1)] * 30)
    )
    path = write("x.csv", "model,task,n,c\n" + text)
    done = passk("extrapolate", path, "--fit", "beta", "--target", "0.9", *FEW)
    assert done.code == 0
    assert "never: no prediction: no attempt passed" in done.err
    assert "brief: no prediction: 3 attempts per task say too little" in done.err
    assert [line.split()[0] for line in done.out.splitlines()[1:4]] == ["good", "brief", "never"]
    alone = passk("extrapolate", path, "--model", "never")
    assert (alone.code, alone.out) == (3, "")
    assert alone.err.startswith("passk: never: no attempt passed")


def test_what_qualifies_the_numbers_is_said(passk: Passk, write: Write) -> None:
    cells = [(20, 1 + t % 19) for t in range(27)] + [(8, 3)] * 3
    path = write("x.csv", "model,task,n,c\n" + rows_of("a", cells))
    both = ["-m", "pass@k,pass^k", "--fit", "beta"]
    done = passk("extrapolate", path, "--to", "100000", *both, *FEW)
    assert "a: 3 tasks of 30 with fewer than 20 attempts" in done.err
    assert "a: no task is left whose outcome is open" in done.err
    assert done.err.count("a: k goes beyond 1,000 times the attempts") == 1
    assert "--fit beta: the intervals hold only as far as this model does" in done.err


def test_clusters_and_seeds(passk: Passk, write: Write) -> None:
    cells = "".join(f"a,{t},20,{t % 5},{t // 6}\n" for t in range(36))
    path = write("x.csv", "model,task,n,c,repo\n" + cells)
    base = ["extrapolate", path, "--fit", "beta", *FEW, "-f", "csv"]
    plain, clustered = passk(*base).out, passk(*base, "--cluster", "repo").out
    assert plain == passk(*base).out
    assert plain != passk(*base, "--seed", "5").out
    assert plain != clustered
