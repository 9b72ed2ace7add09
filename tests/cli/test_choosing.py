"""Which models are kept, by name and pattern; the order of rows; metrics in any letters."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk, Write

AGENTS, TAU = SAMPLES / "agents.jsonl", SAMPLES / "tau_airline.csv"
GPT = ["gpt-5.3-codex", "gpt-5.5", "gpt-5.6-luna", "gpt-5.6-sol", "gpt-5.6-terra"]


def models(passk: Passk, *options: object) -> list[str]:
    result = passk("estimate", AGENTS, "-k", "1", "-f", "csv", "-q", "--sort", "model", *options)
    assert result.code == 0, result.err
    return [line.split(",")[0] for line in result.out.splitlines()[1:]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--model", "gpt-*"], GPT),
        (["--model", "gpt-5.?"], ["gpt-5.5"]),
        (["--model", "gpt-*", "--exclude-model", "gpt-5.6-*"], GPT[:2]),
        (["--exclude-model", "gpt-*", "--exclude-model", "claude-[os]*"], ["claude-fable-5"]),
        (["--model", "gpt-5.5", "--model", "claude-f*"], ["claude-fable-5", "gpt-5.5"]),
    ],
)
def test_patterns_choose_models(passk: Passk, options: list[str], expected: list[str]) -> None:
    assert models(passk, *options) == expected
    keyword = {"models": options[1::2]} if "--exclude-model" not in options else {}
    if keyword:
        assert [series[0] for series in passk_cli.read(AGENTS, **keyword).series] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "gtp-*"], "no model 'gtp-*'\n  passk estimate"),
        (["--exclude-model", "gtp-4"], "no model 'gtp-4'; there are claude-fable-5, "),
        (["--exclude-model", "*"], "no model is left if * is left out; there are claude-fable-5,"),
    ],
)
def test_a_pattern_that_fits_nothing_is_refused(
    passk: Passk, options: list[str], message: str
) -> None:
    result = passk("estimate", AGENTS, *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error[no-such-model]: {message}")


def test_names_with_pattern_characters_are_matched_literally(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,passed\nm[1],a,1\nm1,a,0\nm*,a,1\n,b,1\n")
    result = passk("estimate", path, "--exclude-model", "m1", "-f", "csv")
    assert (result.code, "x.csv:5: no model in" in result.err) == (3, True)
    path.write_text("model,task,passed\nm[1],a,1\nm1,a,0\nm*,a,1\n")
    text = passk("estimate", path, "--model", "m[1]", "--sort", "model", "-f", "csv").out
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["m[1]"]
    result = passk("compare", path, "--model", "m1", "--baseline", "m*", "-f", "csv")
    assert result.code == 0, result.err
    assert result.out.splitlines()[1].startswith("m1,m*,")


def test_convert_keeps_the_same_models(passk: Passk) -> None:
    result = passk("convert", AGENTS, "--model", "gpt-*", "--exclude-model", "gpt-5.6-*", "-q")
    assert {line.split(",")[0] for line in result.out.splitlines()[1:]} == set(GPT[:2])


def test_a_gate_keeps_its_baseline_with_patterns(passk: Passk) -> None:
    line = ["gate", AGENTS, "--model", "gpt-*", "--baseline", "claude-opus-4-8"]
    result = passk(*line, "--max-drop", "pass@1=0.9", "-f", "csv")
    assert result.code == 0, result.err
    assert "claude-fable" not in result.out


def test_rows_are_sorted_as_requested(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,n,c\na,1,2,1\nb,1,2,2\nc,1,1,0\nd,1,2,0\n")

    def order(sort: str) -> str:
        result = passk("estimate", path, "-m", "pass@1,pass@2", "--sort", sort, "-f", "csv", "-q")
        assert result.code == 0, result.err
        return "".join(dict.fromkeys(line[0] for line in result.out.splitlines()[1:]))

    # Model c has no pass@2, so it comes last in either order.
    assert order("pass@2") == "abdc"
    assert order("-pass@2") == "dabc"
    assert order("Pass@2") == order("pass@2")
    assert (order("model"), order("-model")) == ("abcd", "dcba")


def test_metric_names_ignore_case(passk: Passk) -> None:
    for name, canonical in (("Pass@1,PASS^2", "pass@1,pass^2"), ("gPass@2:0.5", "gpass@2:0.5")):
        assert passk("estimate", TAU, "-m", name).out == passk("estimate", TAU, "-m", canonical).out
    assert passk("gate", TAU, "--min", "Pass@1=0.3").code == 0


def test_a_baseline_can_be_a_separate_file(passk: Passk, tmp_path: Path) -> None:
    rows = {m: [f"{m},{t},4,{(t * s) % 5}\n" for t in range(20)] for m, s in (("a", 3), ("b", 2))}
    head = "model,task,n,c\n"
    for name, models in (("a", "a"), ("b", "b"), ("both", "ab")):
        lines = [line for model in models for line in rows[model]]
        (tmp_path / f"{name}.csv").write_text(head + "".join(lines))
    first, second, together = (tmp_path / f"{name}.csv" for name in ("a", "b", "both"))
    base = ["-k", "1,2", "-f", "csv", "--crossings"]
    within = passk("compare", together, "--baseline", "b", *base)
    separate = passk("compare", first, "--baseline", second, *base)
    assert (separate.code, separate.out) == (within.code, within.out) == (0, within.out)
    # A folder excludes its baseline. The file distinguishes two models with the same name.
    (tmp_path / "both.csv").unlink()
    folder = passk("compare", tmp_path, "--baseline", second, *base)
    assert folder.out == within.out
    assert "b.csv is the baseline, so it is left out of the new run" in folder.err
    (tmp_path / "c.csv").write_text((tmp_path / "b.csv").read_text().replace("b,", "a,"))
    same = passk("compare", first, "--baseline", tmp_path / "c.csv", *base)
    assert same.out == within.out.replace(",b,", ",a (c.csv),")
    several = passk("compare", first, "--baseline", SAMPLES / "agents.jsonl")
    assert (
        several.code,
        "agents.jsonl: a baseline must be one model, but this baseline contains" in several.err,
    ) == (
        3,
        True,
    )
    result = passk_cli.compare(first, baseline=pd.read_csv(second), k=1)
    assert result.signature["baseline"] == "b"
