"""A mistake is answered by a line to copy, which runs and gives the number that was meant."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import passk_cli
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.errors import PasskError
from tests.conftest import Passk

MODELS = [
    f"org-{place}/Some-Very-Long-Name-{family}-{size}B-Instruct-2026"
    for place, (family, size) in enumerate(
        [("Gemma", 4), ("Gemma", 9), ("Llama", 8), ("Qwen", 7), ("Qwen", 32)]
    )
]
GEMMA = [name for name in MODELS if "Gemma" in name]


def _rows(models: list[str], shift: int = 0, tasks: int = 40, **more: object) -> str:
    rows = [
        {"model": model, "task": f"t{i}", "passed": (i + 2 * j + m + shift * (i % 3)) % 4 > m % 3,
         "cost": 0.01, **more}
        for m, model in enumerate(models) for i in range(tasks) for j in range(4)
    ]  # fmt: skip
    return "\n".join(map(json.dumps, rows))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = {
        "many": _rows(MODELS, tasks=12), "few": _rows(GEMMA[:1], tasks=12), "n1": _rows(["agent"]),
        "n2": _rows(["agent"], 1), "other/n1": _rows(["agent"]), "other/zz": _rows(["agent"], 1),
        "night1": _rows(["agent"], run="2026-11-21"),
        "night2": _rows(["agent"], 1, run="2026-11-22"),
    }  # fmt: skip
    (tmp_path / "other").mkdir()
    for name, text in texts.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    (tmp_path / "counts.csv").write_text("task,n,c\na,8,5\nb,8,2\nc,8,8\n")
    return tmp_path


def _lines(err: str) -> list[list[str]]:
    """The words of every command that is printed to be copied."""
    lines = [line for line in err.splitlines() if line.startswith("  passk ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.mark.parametrize(
    ("line", "models"),
    [
        ("estimate many.jsonl --model gemma", GEMMA),
        ("estimate many.jsonl --model gemma --model *Llama*", [*GEMMA, MODELS[2]]),
        ("estimate many.jsonl --exclude-model gemma", MODELS[2:]),
        ("estimate many.jsonl --model gemma-9b", GEMMA[1:]),
        ("compare many.jsonl --baseline gemma_9B", MODELS),
        ("tasks many.jsonl --against llama", MODELS),
    ],
)
def test_part_of_a_name_is_answered_by_what_it_means(
    passk: Passk, folder: Path, line: str, models: list[str]
) -> None:
    result = passk(*line.split())
    assert (result.code, result.error) == (2, "no-such-model")
    for words in (lines := _lines(result.err)):
        again = passk(*words, "-f", "json")
        assert again.code == 0, again.err
        rows = json.loads(again.out)["rows"]
        named = {row[key] for row in rows for key in ("model", "against") if row.get(key)}
        assert {name for entry in named for name in entry.split(" → ")} <= {*models}
        if line.startswith("estimate"):
            assert named == {*models}
    assert lines


def test_a_model_of_a_chart_is_refused_before_anything_is_printed(
    passk: Passk, folder: Path
) -> None:
    result = passk("estimate", "many.jsonl", "--chart", "x.svg", "--highlight", "gemma")
    assert (result.code, result.out) == (2, "")
    (words,) = _lines(result.err)
    assert passk(*words).code == 0
    assert (folder / "x.svg").exists()
    result = passk("estimate", "many.jsonl", "--chart", "x.svg", "--panel", "gemma")
    assert (result.code, result.out) == (2, "")
    # In Python one name is no list of letters.
    findings = passk_cli.estimate("many.jsonl")
    with pytest.raises(PasskError, match=r'highlight="gemma": .*highlight=\["\*Gemma\*"\]'):
        findings.save("x.svg", highlight="gemma")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("estimate few.jsonl --truth next.csv", "next.csv: no such file"),
        ("estimate few.jsonl --truth nxt", "--truth nxt: no such file, and no column 'nxt'"),
        ("estimate counts.csv --where \"model = 'x'\"", "--model NAME keeps a model"),
        ("judge few.jsonl --list x.csv", "number the attempts in a column named attempt"),
        ("compare n1.jsonl other/n1.jsonl", "with the same outcomes; name a different run"),
        ("estimate counts.csv --exclude-model *", "counts is the only one"),
    ],
)
def test_nothing_that_fails_again_is_proposed(
    passk: Passk, folder: Path, line: str, said: str
) -> None:
    result = passk(*shlex.split(line))
    assert result.code in (2, 3)
    assert said in result.err
    assert not _lines(result.err)


def test_attempts_to_label_are_listed_where_they_have_numbers(passk: Passk, folder: Path) -> None:
    assert "--list" not in passk("judge", "few.jsonl").err
    assert "--list FILE writes" in passk("judge", "counts.csv").err


def test_a_threshold_beside_counts_is_said_to_judge_none(passk: Passk, folder: Path) -> None:
    assert "note[idle-threshold]" in passk("estimate", "counts.csv", "--threshold", "0.5").err


def test_runs_of_one_model_are_answered_in_one_way(passk: Passk, folder: Path) -> None:
    for command in ("estimate", "compare"):
        for files in (("n1.jsonl", "n2.jsonl"), ("n1.jsonl", "other/zz.jsonl")):
            labelled = " ".join(f"{Path(file).stem}={file}" for file in files)
            err = passk(command, *files).err
            assert labelled in err
            result = passk(command, *labelled.split(), "-m", "pass@1", "-f", "json")
            assert result.code == 0, result.err
    assert passk("estimate", "other").err.count("=zz.jsonl") == 0
    with pytest.raises(PasskError) as caught:
        passk_cli.compare(["n1.jsonl", "n2.jsonl"])
    assert caught.value.remedies == ['passk_cli.compare(["n1=n1.jsonl", "n2=n2.jsonl"])']
    eval(caught.value.remedies[0])


def test_a_table_of_nights_is_recorded_by_the_line_that_trend_prints(
    passk: Passk, folder: Path
) -> None:
    for files in (["night1.jsonl"], ["night1.jsonl", "night2.jsonl"]):
        result = passk("trend", *files)
        assert result.error == "no-history"
        (words,) = _lines(result.err)
        words = [word.replace("history", f"of{len(files)}") for word in words]
        recorded = passk(*words)
        assert recorded.code == 0, recorded.err
        assert "Recorded run 2026-11-21" in recorded.out
        assert " 160 " in recorded.out


def test_a_baseline_with_more_models_is_answered(passk: Passk, folder: Path) -> None:
    line = "gate few.jsonl --baseline many.jsonl --max-drop pass@1=0.5"
    result = passk(*line.split())
    assert result.code == 1
    assert "every baseline task fails for 4 of 5 models" in result.out
    assert "4 of 5 models of the baseline have no attempts" in result.err
    for more in (["--model", GEMMA[0]], ["--unpaired", "drop"]):
        assert " ".join(more) in result.err
        assert passk(*line.split(), *more).code == 0
    assert passk(*line.split(), "--unpaired", "drop").err.count("have no attempts") == 1


def test_a_limit_in_points_is_answered_by_the_share(passk: Passk, folder: Path) -> None:
    result = passk("gate", "few.jsonl", "--baseline", "few.jsonl", "--max-drop", "pass@1=2")
    (words,) = _lines(result.err)
    assert words[-1] == "pass@1=0.02"
    assert passk(*words).code == 0


def test_a_setting_called_as_a_column_of_the_output_is_answered(passk: Passk, folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "n1.jsonl").read_text().splitlines()]
    noted = [{**row, "note": "xy"[place % 2]} for place, row in enumerate(rows)]
    (folder / "noted.jsonl").write_text("\n".join(map(json.dumps, noted)))
    result = passk("estimate", "noted.jsonl")
    assert result.error == "pooled-settings"
    assert "--by" not in result.err
    assert all(passk(*words).code == 0 for words in _lines(result.err))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_whose_columns_a_table_has(name: str) -> None:
    titles = [title for title, _ in load_command(name).runner_class.column_meanings_by_table()]
    assert len({*titles}) == len(titles)


@pytest.mark.parametrize("name", ["estimate", "compare", "bootstrap", "plan"])
def test_help_names_further_options(passk: Passk, name: str) -> None:
    shown = passk(name, "--help").out
    assert all(flag in shown for flag in ("--chart", "-o", "-m", "--threshold", "--level"))


@pytest.mark.parametrize("beside", [["h.parquet"], ["-o", "h.csv"]])
def test_a_history_named_as_by_cp_is_recorded(
    passk: Passk, folder: Path, beside: list[str]
) -> None:
    result = passk("record", "n1.jsonl", *beside)
    (line,) = _lines(result.err)
    assert (result.code, line[:3]) == (2, ["record", "n1.jsonl", "--to"])
    assert line[3] == ("h.parquet" if beside[0] == "h.parquet" else "history.parquet")
    assert passk(*line).code == 0
    assert (folder / line[3]).exists()
    if beside[0] == "h.parquet":
        # On the next night as well.
        (line,) = _lines(passk("record", "n2.jsonl", *beside).err)
        assert passk(*line[:-1], "tomorrow").code == 0


def test_a_history_offers_as_many_runs_as_it_has(passk: Passk, folder: Path) -> None:
    for night in (1, 2):
        assert (
            passk("record", f"n{night}.jsonl", "--to", "h.parquet", "--at", f"a{night}").code == 0
        )
    result = passk("gate", "n2.jsonl", "--no-regression", "--baseline", "h.parquet")
    assert "--baseline h.parquet:all:last2  # the last 2 runs\n" in result.err
    (line,) = _lines(result.err)
    assert passk(*line).code == 0
    named = passk("gate", "n2.jsonl", "--no-regression", "--baseline", "h.parquet:all:a1")
    assert "reads the last runs of a history (h.parquet:last1), not a run by its name" in named.err


def test_runs_of_one_model_are_a_list_in_python(folder: Path) -> None:
    with pytest.raises(PasskError) as raised:
        passk_cli.compare(["n1.jsonl", "n2.jsonl"])
    assert '; ["n1=n1.jsonl", "n2=n2.jsonl"] compares n1 with n2' in str(raised.value)
    (call, *_) = raised.value.remedies
    assert call == 'passk_cli.compare(["n1=n1.jsonl", "n2=n2.jsonl"])'
    with pytest.raises(PasskError, match=r'use a list: \["a=n1.jsonl", "b=n2.jsonl"\]'):
        passk_cli.compare({"a": "n1.jsonl", "b": "n2.jsonl"})
    with pytest.raises(PasskError) as raised:
        passk_cli.record(["n1.jsonl", "h.parquet"])
    (call,) = raised.value.remedies
    assert call.startswith('passk_cli.record(["n1.jsonl"], to="h.parquet", at=')


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("estimate few.jsonl -f xml", "--format xml: choose one of table, plain, markdown, latex,"),
        ("gate few.jsonl --min pass@1=0.1 -f xml", "--format xml: did you mean junit?"),
        ("gate few.jsonl --min pass@1", "write METRIC=X, for example pass@1=0.8"),
        ("plan few.jsonl --detect 5", "  passk plan few.jsonl --detect 0.05\n"),
        (
            "estimate few.jsonl --level 1",
            "--level 1: the value must be above 0 and below 1, for example 0.95\n",
        ),
        ("compare many.jsonl --where \"model like '%Llama%'\"", "leaves only one model"),
    ],
)
def test_a_mistake_is_answered_with_what_its_command_takes(
    passk: Passk, folder: Path, line: str, answer: str
) -> None:
    result = passk(*shlex.split(line))
    assert (result.code, answer in result.err) == (2, True), result.err
    assert all(passk(*entry).code == 0 for entry in _lines(result.err))
