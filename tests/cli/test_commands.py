"""The commands as a user runs them: goldens of stdout and stderr, formats, exit codes, pipes."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest

from passk_cli.cli import app
from tests.conftest import CRUXEVAL, SAMPLES, Golden, Passk, Write, records

TAU, CRUX, AGENTS = (SAMPLES / f for f in ("tau_airline.csv", "cruxeval.jsonl.gz", "agents.jsonl"))
COLD = [CRUX, "--where", "temperature < 0.5"]
COMMANDS: dict[str, list[object]] = {
    "estimate-by": ["estimate", CRUX, "--by", "temperature", "-m", "pass@5", "--sort", "model"],
    "estimate-percent": ["estimate", TAU, "--percent", "--interval", "none"],
    "estimate-these-tasks": ["estimate", TAU, "--population", "these-tasks", "-k", "1,2,4"],
    "estimate-csv": ["estimate", TAU, "-k", "1,4", "-f", "csv"],
    "estimate-json": ["estimate", TAU, "-k", "1", "-f", "json"],
    "estimate-jsonl": ["estimate", TAU, "-k", "1", "-f", "jsonl"],
    "estimate-markdown": ["estimate", TAU, "-k", "1", "-f", "markdown"],
    "estimate-latex": ["estimate", TAU, "-k", "1,2", "-f", "latex"],
    "estimate-pooled": ["estimate", CRUX, "--model", "gpt-4-0613", "--pool", "temperature"],
    "estimate-agents": ["estimate", AGENTS, "-k", "1"],
    "bootstrap": ["bootstrap", TAU, "-k", "1,2", "--interval", "all", "--resamples", "2000"],
    "compare-baseline": ["compare", *COLD, "--baseline", "deepseek-base-6.7b", "--margin", "0.05"],
    "gate": ["gate", *COLD, "--baseline", "gpt-3.5-turbo-0613", "--model", "gpt-3.5-turbo-0613",
             "--model", "gpt-4-0613", "--max-drop", "pass@1=0.02", "--min", "pass@10=0.80"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_junit_and_github_are_for_gates(passk: Passk) -> None:
    result = passk("estimate", TAU, "-f", "junit")
    assert (
        result.code,
        "but this report has no verdict" in result.err,
    ) == (
        2,
        True,
    )


def test_the_suffix_decides_the_output_format(passk: Passk, tmp_path: Path) -> None:
    for suffix, start in (
        (".csv", "model,"),
        (".json", "{"),
        (".md", "gpt-4o: pass@1 0.420"),
        (".txt", "gpt-4o: pass@1 0.420"),
    ):
        target = tmp_path / f"out{suffix}"
        assert passk("estimate", TAU, "-o", target).out == ""
        assert target.read_text().startswith(start)
        assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_several_outputs_have_the_formats_of_their_suffixes(passk: Passk, tmp_path: Path) -> None:
    names = ("out.json", "out.xml", "out.md")
    targets = [word for name in names for word in ("-o", tmp_path / name)]
    result = passk("gate", TAU, "--min", "pass@1=0.3", *targets, "-f", "github", "--output", "-")
    assert (result.code, result.out.startswith("::notice title=passk%3A pass@1")) == (0, True)
    starts = [(tmp_path / name).read_text()[:5] for name in names]
    assert starts == ['{\n  "', "<?xml", "**PAS"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "{}.csv", "-f", "json", "-o", "/dev/full"], "/dev/full: cannot be written (No sp"),
        (
            ["-o", "{}.csv", "-o", "{}"],
            "x: passk has no output format with this suffix; use .csv, .tsv, .json",
        ),
        (
            ["-o", "{}.csv", "-o", "{}.xml"],
            "x.xml: passk has no output format with this suffix; use .csv",
        ),
        (["-o", "{}.csv", "-o", "{}.csv"], "x.csv is the file of two outputs"),
        (["-o", "-", "-o", "-"], "-o -: stdout is given as the output twice, but only one result"),
        (
            ["-f", "csv", "-o", "{}.md", "-o", "{}.tex"],
            "-f csv: with several output files, the suffix",
        ),
    ],
)
def test_several_outputs_are_all_written_or_none(
    passk: Passk, tmp_path: Path, options: list[str], message: str
) -> None:
    result = passk("estimate", TAU, *(word.format(tmp_path / "x") for word in options))
    assert (result.code, message in result.err) == (2, True), result.err
    assert list(tmp_path.iterdir()) == []


def test_pages_and_tables_are_written_together(passk: Passk, tmp_path: Path) -> None:
    targets = [
        word for suffix in ("html", "md", "csv") for word in ("-o", tmp_path / f"p.{suffix}")
    ]
    assert passk("report", TAU, *targets, "-q").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "p.csv",
        "p.html",
        "p.md",
        "p_images",
    ]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "estimate",
            ["--level", "0.9", "--level", "0.8"],
            "--level 0.9, 0.8: this option accepts only one",
        ),
        (
            "estimate",
            ["-f", "csv", "--format", "csv"],
            "--format csv, csv: this option accepts only one",
        ),
        (
            "estimate",
            ["--missing=fail", "--missing", "drop"],
            "--missing fail, drop: this option accepts",
        ),
        (
            "convert",
            ["-o", "a.csv", "--output", "b.csv"],
            "--output a.csv, b.csv: this option accepts only one",
        ),
        (
            "report",
            ["--baseline", "a", "--baseline", "b"],
            "--baseline a, b: this option accepts only one",
        ),
        (
            "gate",
            ["--min-each", ".2", "--min-each", ".1"],
            "--min-each .2, .1: this option accepts only one",
        ),
        (
            "gate",
            ["--min", "pass@1=.2", "--min", "pass@1=.1"],
            "--min pass@1: this metric is given twice",
        ),
    ],
)
def test_an_option_with_one_value_is_given_once(
    passk: Passk, name: str, options: list[str], message: str
) -> None:
    result = passk(name, TAU, *options)
    assert (result.code, result.out, result.message.startswith(message)) == (2, "", True), (
        result.err
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_quiet_hides_messages_on_stderr(passk: Passk) -> None:
    command = ["estimate", CRUX, "--model", "gpt-4-0613", "-m", "pass@1,gain@2"]
    command += ["--where", "task_id in ('sample_1', 'sample_3')"]
    command += ["--short-tasks", "drop", "-v"]
    loud, quiet = passk(*command), passk(*command, "-q")
    assert "note[" in loud.err
    assert "note[" not in quiet.err
    assert "warning[pooled-settings]: attempts at one task differ in temperature" in quiet.err
    assert quiet.out == loud.out


def test_the_same_seed_gives_the_same_bytes(passk: Passk) -> None:
    base = ["bootstrap", TAU, "-k", "1", "--resamples", "500", "-f", "csv"]
    first = passk(*base, "--seed", "0").out
    assert passk(*base).out == first
    assert passk(*base, "--seed", "7").out != first


@pytest.mark.long
def test_another_model_or_metric_changes_no_other_number(passk: Passk) -> None:
    def rows_by_metric(
        rows: list[dict[str, str]], drop: tuple[str, ...]
    ) -> dict[str, dict[str, str]]:
        return {
            r["metric"] + r["interval"]: {k: v for k, v in r.items() if k not in drop}
            for r in rows
            if r["model"] == "codellama-7b"
        }

    base = ["bootstrap", *COLD, "--resamples", "500", "-f", "csv"]
    expected = rows_by_metric(
        records(passk(*base, "--model", "codellama-7b", "-m", "pass@1").out), ("leads",)
    )
    together = rows_by_metric(records(passk(*base, "-k", "1,5,10").out), ("leads",))
    for key, row in expected.items():
        for name, value in row.items():
            if value.replace(".", "").replace("-", "").replace("e", "").isdigit():
                assert float(together[key][name]) == pytest.approx(float(value), rel=1e-10)
            else:
                assert together[key][name] == value
    pair = ["compare", *COLD, "-f", "csv", "--adjust", "none", "-m"]
    two = ["--model", "codellama-7b", "--model", "deepseek-base-6.7b"]
    few = {r["metric"]: r["p"] for r in records(passk(*pair, "pass@1", *two).out)}
    many = records(passk(*pair, "pass@1,pass@10").out)
    same = [r for r in many if (r["model"], r["against"]) == ("deepseek-base-6.7b", "codellama-7b")]
    assert few["pass@1"] == next(r["p"] for r in same if r["metric"] == "pass@1")


def test_draws_are_written_to_a_file(passk: Passk, tmp_path: Path) -> None:
    for name, load in (("d.csv", pd.read_csv), ("d.parquet", pd.read_parquet)):
        target = tmp_path / name
        result = passk("bootstrap", TAU, "-k", "1,2", "--resamples", "300", "--draws", target)
        assert result.code == 0
        frame = load(target)
        assert list(frame.columns) == ["resample", "model", "metric", "value"]
        assert frame.groupby("metric").size().to_dict() == {
            "pass@1": 300, "pass@2": 300, "pass^2": 300,
        }  # fmt: skip
        assert frame.value.mean() == pytest.approx((0.42 + 0.5667 + 0.2733) / 3, abs=0.02)
    result = passk("bootstrap", TAU, "--draws", tmp_path / "d.xlsx")
    assert (
        result.code,
        "choose a file name with one of the suffixes .csv, .jsonl, .parquet" in result.err,
    ) == (
        2,
        True,
    )
    assert passk("bootstrap", TAU, "--draws", tmp_path / "no" / "d.csv").code == 2


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_every_command(passk: Passk, flag: str) -> None:
    result = passk(flag)
    assert result.code == 0
    assert [command for command in app.COMMANDS if command not in result.out] == []


@pytest.mark.long
def test_gate_exits_by_its_rules(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turbo = f"new={CRUXEVAL}/gpt-3.5-turbo-0613_temp0.2.json.gz"
    llama = CRUXEVAL / "codellama-13b_temp0.2.json.gz"
    base = ["gate", turbo, "--baseline", llama]
    assert passk(*base, "--max-drop", "pass@1=0.02", "--min", "pass@10=0.50").code == 0
    assert passk(*base, "--min", "pass@10=0.58", "--min-by", "estimate").code == 1
    assert passk(*base, "--min", "pass@10=56%", "--min-by", "estimate").code == 0
    assert passk(*base, "--min", "pass@10=0.56", "--min-by", "lower").code == 1
    # The interval contains both.
    for least in ("0.58", "56%"):
        assert passk(*base, "--min", f"pass@10={least}").code == 0
        assert passk(*base, "--min", f"pass@10={least}", "--on-undecided", "fail").code == 1
    assert passk(*base, "--min", "pass@10=0.65").code == 1
    assert passk(*base, "--no-regression").code == 0
    back = ["gate", llama, "--baseline", turbo]
    assert passk(*back, "--no-regression").code == 1
    result = passk(*back, "--max-drop", "pass@1=0.02", "-f", "csv")
    assert (result.code, records(result.out)[2]["verdict"]) == (1, "fail")
    open_ = [*back, "--max-drop", "pass@1=0.05", "-f", "json"]
    result = passk(*open_)
    row = json.loads(result.out)["rows"][2]
    assert (result.code, row["verdict"]) == (0, "undecided")
    assert row["note"] == "near the limit"
    assert (row["fails"], row["test"]) == (False, None)
    assert "1 undecided, counted as pass: " in result.err
    shut = passk(*open_, "--on-undecided", "fail")
    assert (shut.code, json.loads(shut.out)["rows"][2]["fails"]) == (1, True)
    assert "FAIL: undecided, counted as fail: pass@1 of codellama-13b" in shut.err
    suite = ElementTree.fromstring(passk(*back, "--no-regression", "-f", "junit").out)
    assert suite.get("failures") == "2"
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = passk(*back, "--no-regression", "-f", "github")
    assert result.out.startswith("::notice title=passk%3A every baseline task::")
    assert "::error title=passk%3A pass@1 no regression::" in result.out
    assert summary.read_text().startswith(r"**FAIL:** pass@1 of codellama-13b\_temp0.2 fell by ")
    assert "\n\n| rule | evidence | verdict |" in summary.read_text()


def test_what_cannot_be_checked_does_not_open_the_gate(passk: Passk, tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    first.write_text("model,task,passed\na,1,1\n")
    second.write_text("model,task,passed\nb,2,1\n")
    for options in (["--no-regression"], ["--max-drop", "pass@1=0.1"]):
        result = passk("gate", first, "--baseline", second, *options, "--unpaired", "drop")
        assert (result.code, "cannot be checked: the models share no task" in result.out) == (
            3,
            True,
        )
    result = passk("gate", TAU, "--min", "pass@1=0.1", "--interval", "wilson")
    assert (result.code, "cannot be checked: the method needs k = 1" in result.out) == (3, True)
    assert passk("gate", TAU, "--min", "pass@50=0.1").code == 3
    back = ["gate", CRUXEVAL / "codellama-13b_temp0.2.json.gz", "--baseline",
            CRUXEVAL / "gpt-3.5-turbo-0613_temp0.2.json.gz",
            "--max-drop", "pass@1=0.05"]  # fmt: skip
    shut = passk(*back, "--on-undecided", "fail", "-f", "junit")
    assert (shut.code, 'failures="1" skipped="0"' in shut.out) == (1, True)
    assert "::error" in passk(*back, "--on-undecided", "fail", "-f", "github").out
    assert "::warning" in passk(*back, "-f", "github").out


def test_groups_without_the_baseline_are_not_skipped(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,kind,passed\na,1,x,1\nb,1,x,1\na,2,y,0\n")
    base = [path, "--by", "kind", "--baseline", "b"]
    result = passk("gate", *base, "--max-drop", "pass@1=0.1")
    assert (result.code, "cannot be checked: b has no attempts in this group" in result.out) == (
        3,
        True,
    )
    assert (
        "passk compares no models in the groups y, because they contain no attempts of b"
        in passk("compare", *base).err
    )


def test_a_gate_that_draws_prints_its_settings(passk: Passk) -> None:
    base = ["gate", *COLD, "--baseline", "codellama-7b", "-m", "pass@1"]
    line = passk(*base, "--no-regression", "-v").out.splitlines()[-1]
    assert "differences=guarded-t test=guarded-t resamples=10000 seed=0" in line
    assert "seed" not in passk(*base, "--max-drop", "pass@1=0.1", "-v").out


def test_a_standard_error_names_its_source(passk: Passk) -> None:
    base = ["estimate", TAU, "-k", "1", "--interval", "none"]
    assert "± one standard error over tasks" in passk(*base).out
    fixed = passk(*base, "--population", "these-tasks").out
    assert "0.420 ±0.027" in fixed
    assert "± one standard error over repeated attempts" in fixed


def test_the_baseline_is_kept_with_the_requested_models(passk: Passk) -> None:
    base = [*COLD, "--model", "gpt-4-0613", "--baseline", "codellama-7b"]
    assert passk("gate", *base, "--max-drop", "pass@1=0.1").code == 0
    assert passk("compare", *base).code == 0


def test_a_bayesian_bootstrap_of_perfect_models_has_no_error(passk: Passk, write: Write) -> None:
    path = write("x.csv", "model,task,n,c\n" + "".join(f"m,{t},3,3\n" for t in range(18)))
    result = passk("bootstrap", path, "--weights", "dirichlet", "-k", "1", "-f", "json")
    (row, *_) = json.loads(result.out)["rows"]
    assert (result.code, row["estimate"], row["bias"], row["se"]) == (0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "estimate --population these-tasks --interval percentile",
            "--interval jackknife  # gives an interval\n",
        ),
        ("bootstrap --population these-tasks", "a task has 2,000,000 attempts"),
        ("compare --population these-tasks -k 1", "--population new-tasks"),
        ("compare -k 1 --crossings", "--crossings: a task has 2,000,000 attempts"),
        ("curve", "k = 2,000,000 is too large for a curve of counts\n"),
        ("extrapolate", "at most 100,000 one by one; thin out the attempts"),
        ("plan", "the pilot: a task has 2,000,000 attempts"),
    ],
)
def test_too_many_attempts_for_a_command_are_refused(
    passk: Passk, tmp_path: Path, command: str, message: str
) -> None:
    result = passk(*command.split(), of_two_models(tmp_path, 2_000_000))
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_estimate_accepts_a_billion_attempts(passk: Passk, tmp_path: Path) -> None:
    assert passk("estimate", of_two_models(tmp_path, 1_000_000_000), "-k", "1,1000").code == 0


def of_two_models(place: Path, attempts: int) -> Path:
    """Counts of twelve tasks with as many attempts at each."""
    cells = [f"{m},{t},{attempts},{t * 9**5 + (m == 'b')}\n" for m in "ab" for t in range(12)]
    path = place / "x.csv"
    path.write_text("model,task,n,c\n" + "".join(cells))
    return path


@pytest.mark.parametrize("command", ["estimate", "curve", "compare"])
def test_a_missing_interval_is_a_warning(passk: Passk, command: str) -> None:
    """Its caption names a method that makes no interval of several attempts."""
    result = passk(command, SAMPLES / "agents.jsonl", "-k", "1,2", "--interval", "wilson", "-q")
    assert "warning[no-interval]: passk cannot compute an interval for pass@1" in result.err
