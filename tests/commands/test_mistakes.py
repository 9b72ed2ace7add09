"""A wrong name: one exit code wherever it stands, and what is near, in two lines at most."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import passk_cli
from passk_cli import errors
from passk_cli.cli.help_text import options_with_titles
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from tests.conftest import Passk, jsonl, package_nodes

# What a command cannot do without, or what makes it quick.
NEEDED = {
    "convert": ["-o", "table.csv"],
    "extrapolate": [],
    "gate": ["--min", "pass@1=0.1"],
    "horizon": ["--field", "minutes=cost"],
    "judge": ["--field", "truth=difficulty"],
    "record": ["--to", "history.parquet", "--at", "r1"],
    "report": ["-o", "page.html"],
    "temperature": ["--temperature", "difficulty"],
    "watch": [
        *("--min", "pass@1=0.1", "--planned", "12", "--order", "completion", "--attempts"),
        *("4", "--looks", "/dev/null"),
    ],
}
COLUMN, MODEL, FILE = ("no-such-column", 2), ("no-such-model", 2), ("no-such-file", 3)
VALUE, METRIC = ("bad-option-value", 2), ("unknown-metric", 2)
# Field of an option → its name here with a letter wrong, the error and its exit code, what is near.
WRONG: dict[str, tuple[list[str], tuple[str, int], str]] = {
    "by": (["--by", "dificulty"], COLUMN, "difficulty"),
    "pool": (["--pool", "dificulty"], COLUMN, "difficulty"),
    "where": (["--where", "dificulty = 'hard'"], COLUMN, "difficulty"),
    "cluster": (["--cluster", "dificulty"], COLUMN, "difficulty"),
    "columns": (["--with", "dificulty"], COLUMN, "difficulty"),
    "sensitivity": (["--sensitivity", "dificulty"], COLUMN, "difficulty"),
    "sort": (["--sort", "pas@4"], COLUMN, "pass@4"),
    "temperature": (["--temperature", "dificulty"], COLUMN, "difficulty"),
    "models": (["--model", "alpha-larg"], MODEL, "alpha-large"),
    "exclude_models": (["--exclude-model", "bta-small"], MODEL, "beta-small"),
    "baseline": (["--baseline", "bta-small"], MODEL, "beta-small"),
    "against": (["--against", "bta-small"], MODEL, "beta-small"),
    "price": (["--price", "price.toml"], FILE, "prices.toml"),
    "rules": (["--rules", "rule.toml"], FILE, "rules.toml"),
    "metrics": (["-m", "pas@2"], METRIC, "pass@2"),
    "format": (["--from", "inspct"], VALUE, "inspect"),
    "interval": (["--interval", "percentil"], VALUE, "percentile"),
    "missing": (["--missing", "fial"], VALUE, "fail"),
    "level": (["--level", "95"], VALUE, "0.95"),
    "power": (["--power", "80"], VALUE, "0.8"),
    "form": (["-f", "jsn"], VALUE, "json"),
}
# Names of metrics that are written in another way there.
OTHERS = {("record", "columns"), ("curve", "metrics"), ("extrapolate", "metrics")}


def cases() -> Iterator[object]:
    """(command, field) of every option in WRONG; those after the first are long."""
    seen = set()
    for name in COMMANDS:
        declaration = load_command(name)
        for field in [
            entry.field for _, entry in options_with_titles(declaration) if entry.field in WRONG
        ]:
            if (
                declaration.file_requirement != "none"
                and name != "trend"
                and (name, field) not in OTHERS
            ):
                yield pytest.param(name, field, marks=[pytest.mark.long] * (field in seen))
                seen.add(field)
    assert seen == set(WRONG)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of two models at eight tasks, with costs, and files of options."""
    made = tmp_path_factory.mktemp("mistakes")
    rows = (
        {
            "model": model, "task": f"task {task}", "attempt": attempt, "cost": 0.1 * (1 + attempt),
            "passed": (task + attempt * (2 + which)) % 5 > 1, "solution": f"x = {attempt % 3}",
            "difficulty": ("easy", "hard")[task % 2],
        }
        for which, model in enumerate(("alpha-large", "beta-small"))
        for task in range(8)
        for attempt in range(4)
    )  # fmt: skip
    (made / "results.jsonl").write_text(jsonl(rows))
    (made / "prices.toml").write_text("[alpha-large]\ninput = 1\noutput = 2\n")
    (made / "rules.toml").write_text("[[suite]]\nname = 'all'\nruns = 'results.jsonl'\n")
    return made


@pytest.mark.parametrize(("name", "field"), list(cases()))
def test_a_wrong_name_is_one_mistake_wherever_it_stands(
    passk: Passk, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, field: str
) -> None:
    monkeypatch.chdir(folder)
    words, (error, code), near = WRONG[field]
    files = [] if field == "rules" else ["results.jsonl"]
    required_values = [] if field in ("rules", "temperature") else NEEDED.get(name, [])
    result = passk(name, *files, *required_values, *words)
    assert (result.error, result.code) == (error, code), result.err
    assert f"did you mean {near}" in result.err
    assert len(result.err) < 200
    assert result.sentences == 1
    assert {path.suffix for path in folder.iterdir()} == {".jsonl", ".toml"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "estimate FILE --confidence 95",
            "no such option: --confidence; did you mean --level 0.95?",
        ),
        ("estimate FILE --ci=0.9", "did you mean --level 0.9?"),
        ("estimate FILE --confidence 1.5", "did you mean --level? see"),
        ("estimate FILE --ci 0.05", "did you mean --level? see"),
        ("estimate FILE --alpha 0.05", "did you mean --level 0.95?"),
        ("estimate FILE --k 5", "no such option: --k; did you mean -k?"),
        ("estimate FILE --json", "did you mean --format json?"),
        ("gate FILE --chart x.svg", "--chart; estimate, compare, bootstrap and 10 more have it"),
        ("estimate FILE --baseline x", "--baseline; compare, gate, watch, report have it"),
        ("extrapolate FILE -k 5", "no such option: -k; set the k's with --to"),
        ("estimate FILE --zzz", "no such option: --zzz; see passk estimate --help"),
        ("estimate FILE -qz", "no such option: -z; see passk estimate --help"),
        ("estimate --file FILE", "no such option: --file; name the files without an option"),
        ("-k 5 estimate FILE", "the command comes first: passk estimate -k"),
        ("estimat FILE", "no such command: estimat; did you mean estimate? see passk --help"),
        ("estimate", "no files are given; name result files or a folder, or - for standard input"),
        ("estimate FILE -k 1-x", "-k 1-x: write a whole number"),
        (
            "estimate FILE -k 1..2000",
            "at most 1,000 values of k are possible; name only the k's that you need",
        ),
        (
            "estimate FILE -m pass@k",
            "there is no metric named 'pass@k'; write k as a number, for example pass@10",
        ),
        ("curve FILE -m pass@2", "-m pass@2: did you mean pass@k?"),
        (
            "estimate FILE --field tsk=task",
            "--field tsk=task: there is no role 'tsk'; did you mean task?",
        ),
        ("estimate FILE --error al --error all", "no message is named 'al'"),
        ("estimate result.jsonl", "result.jsonl: no such file; did you mean results.jsonl?"),
        ("compare FILE --baseline result.jsonl", "no such file; did you mean results.jsonl?"),
        ("gate FILE --must-pass task1", "the data has no task task1; did you mean task 1?"),
    ],
)
def test_what_is_meant_is_asked(
    passk: Passk, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    result = passk(*["results.jsonl" if word == "FILE" else word for word in line.split()])
    assert said in result.err + result.out
    assert result.code in (2, 3)


def test_a_pipe_is_read_where_it_is_named(folder: Path) -> None:
    """The command that is printed is the caller's, and works."""
    command = [
        sys.executable,
        "-m",
        "passk_cli",
        "estimate",
        "-m",
        "pass_at_1,passhat2",
        "-f",
        "csv",
    ]
    text = (folder / "results.jsonl").read_text()
    refused = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    asked = "error[no-files]: no files are given; to read the pipe: | passk estimate - -m"
    assert refused.stderr.startswith(asked)
    words = refused.stderr.strip().rpartition("passk ")[2].split()
    command = [sys.executable, "-m", "passk_cli", *words]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert [row.split(",")[1] for row in result.stdout.splitlines()[1:]] == ["pass@1", "pass^2"] * 2


def test_names_of_the_command_line_and_of_others_lead_to_those_of_python(folder: Path) -> None:
    for values, sentence in (
        ({"confidence": 95}, "did you mean level=0.95?"),
        ({"metric": "pass@1"}, "did you mean metrics?"),
        ({"groupby": "difficulty"}, "did you mean by?"),
        ({"plot": "x.svg"}, "its result has .chart(…)"),
        ({"methods": True}, "its result has .methods"),
        ({"baseline": "a"}, "compare, gate, watch, report have it"),
    ):
        with pytest.raises(TypeError, match=re.escape(sentence)):
            passk_cli.estimate(folder / "results.jsonl", **values)
    with pytest.raises(TypeError, match=re.escape("did you mean minimum?")):
        passk_cli.gate(folder / "results.jsonl", min={"pass@1": 0.5})
    with pytest.raises(AttributeError, match=re.escape("did you mean estimate?")):
        _ = passk_cli.estimat
    result = passk_cli.estimate(folder / "results.jsonl", "pass1", k="1-2")
    assert result.frame["metric"].unique().tolist() == ["pass@1", "pass@2", "pass^2"]
    assert "estimates from 4 attempts per task (Chen et al. 2021" in result.methods
    assert result.methods.endswith("}")
    assert passk_cli.describe(folder / "results.jsonl").methods == ""


def test_a_wrong_column_of_a_role_in_python_is_a_mistake_of_usage(folder: Path) -> None:
    for values in ({"fields": {"task": "taks"}}, {"by": "dificulty"}, {"pool": "taks"}):
        with pytest.raises(passk_cli.PasskError) as caught:
            passk_cli.estimate(folder / "results.jsonl", **values)
        assert (caught.value.name, caught.value.kind) == ("no-such-column", "usage"), values


@pytest.mark.long
def test_every_family_of_errors_has_one_exit_code() -> None:
    """Wherever an error is raised: its name, or that of its class, and its exit code."""
    classes = {name: entry for name, entry in vars(errors).items() if isinstance(entry, type)}
    codes: dict[str, dict[int, str]] = defaultdict(dict)
    for path, node in package_nodes():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        raised, named = classes.get(node.func.id, object), ast.Constant("")
        if issubclass(raised, errors.ParameterError | errors.DataError):
            words = ("x",) * (1 + issubclass(raised, errors.DataError))
            named = next((k.value for k in node.keywords if k.arg == "name"), named)
            if isinstance(named, ast.Constant):
                error = raised(*words, name=named.value)
                codes[error.name][error.exit_code] = f"{path.name}:{node.lineno}"
    assert len(codes) > 50
    assert not {name: places for name, places in codes.items() if len(places) > 1}
