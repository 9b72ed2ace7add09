"""What every command has in common: formats, widths, help, refusals, and the same from Python."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import pytest

import passk_cli
from passk_cli.cli.output import output_option_groups
from passk_cli.commands import COMMANDS as EVERY
from passk_cli.commands.command import load_command
from passk_cli.commands.runner import command_report
from passk_cli.files.attempts.prices import PricesPerMillionTokens
from passk_cli.files.request import RESERVED_OUTPUT_COLUMNS, Request
from passk_cli.option import DeclaredOption, Option, load_object, options_by_field
from passk_cli.render import VERDICT_FORMATS, WRITER_BY_FORMAT
from passk_cli.render.style import Style
from tests.conftest import COUNTS, CommandResult, Passk, Write, jsonl, mark_long_except, records

# Those of a history, which one writes and the other reads: see test_history.py.
HISTORY = ("record", "trend")
# Those that answer a question about results; passk formats needs none.
COMMANDS = [n for n in EVERY if load_command(n).file_requirement != "none" and n not in HISTORY]
# Those that split models by a column.
SPLIT = [name for name in COMMANDS if "by" not in load_command(name).excluded_options]
# Those whose report can go to a file: where a table does, the options for that are its own.
REPORTS = [name for name in COMMANDS if not load_command(name).writes_table_to_output]
# What a command cannot do without, and what makes it quick.
NEEDED: dict[str, list[str]] = {
    "bootstrap": ["--resamples", "200"],
    "convert": ["--output", "/dev/null", "--format", "csv"],
    "extrapolate": [],
    "gate": ["--min", "pass@1=0.1"],
    "watch": "--min pass@1=0.1 --planned 12 --attempts 12 --order completion"
    " --looks /dev/null".split(),
    "judge": ["--truth", "passed"],
}
# The attempts of two temperatures are pooled on purpose.
POOL = ["--pool", "temperature"]
NEEDED = {n: [*NEEDED.get(n, []), *POOL * (n != "temperature")] for n in COMMANDS}
# Reports without data, which are others than those of data.
ALONE: dict[str, list[str]] = {
    "curve": ["--rates", "mixed=0,1", "--rates", "even=0.5,0.5", "--delta"],
    "temperature": ["--toy", "power-law"],
    "plan": ["--mean", "0.6", "--spread", "0.3"],
}
# Values of options that are wrong in ways of their own; every option has some, or a rule of values.
WRONG: dict[str, list[str]] = {
    "against": ["nobody"],
    "alias": ["x", "x=", "nobody=x"],
    "all_of": ["nothing"],
    "average": ["nothing"],
    "fit": ["x"],
    "init": ["nowhere/x.toml"],
    "map": ["nowhere.toml"],
    "skip_run": ["nobody"],
    "always": ["0", "1"],
    "at": ["0", "x", "1,inf"],
    "attempts": ["0", "1,x"],
    "baseline": ["nobody"],
    "bounds": ["1,0", "x", "0"],
    "budget": ["0", "inf"],
    "by": ["model", "nothing"],
    "change": ["pass@1", "pass@1:x", "pass@2:pass@2", "pass@1:mean", "pass@1:pass@99"],
    "cluster": ["nothing", "attempt"],
    "columns": ["nothing", "answer"],
    "cost_per_attempt": ["0", "x", "nan"],
    "detect": ["1"],
    "draws": ["draws.xlsx"],
    "each": ["0"],
    "error": ["x", "no-such-file"],
    "exclude_models": ["nobody", "*"],
    "exclude_tasks": [",", "nothing"],
    "fails": [","],
    "fields": ["task", "nonsense=x", "task=nothing"],
    "format": ["x"],
    "ignore": ["x", "all"],
    "interval": ["x"],
    "k": ["0", "x", "²", "99", "1000000000"],
    "level": ["2", "0"],
    "link": ["https://a.org/{model}", "https://a.org/{x}/{task}"],
    "looks": ["nowhere/x.looks"],
    "margin": ["2", "x"],
    "max_drop": ["pass@1", "pass@1=x", "pass@1=7", "pass@1=0.1,pass@1=0.2", "x=0.1"],
    "max_increase": ["cost", "cost=x", "pass@1=0.1"],
    "max_tasks": ["0", "x"],
    "mean": ["0.5"],
    "metrics": ["pass@x", "x", "pass@99", "gpass@2"],
    "minimum": ["pass@1", "pass@1=7", "pass@²=0.5"],
    "models": ["nobody"],
    "must_pass": [","],
    "order": ["nowhere.txt"],
    "outcome": ["nothing"],
    "number": ["0"],
    "only_tasks": [",", "nothing"],
    "output": ["nowhere/x.csv"],
    "passes": [","],
    "path": ["x", "{a", "{model}/nothing.csv"],
    "pool": ["nothing"],
    "points": ["1", "x", "²"],
    "price": ["nowhere.toml"],
    "power": ["0.01", "1"],
    "rates": ["x", "2", "a=0.5,"],
    "records": ["nothing"],
    "rules": ["nowhere.toml"],
    "sensitivity": ["nothing", "model"],
    "similarity": ["0", "2"],
    "sort": ["nothing"],
    "spark_master": ["local[2]"],
    "spread": ["x"],
    "suite": ["nothing"],
    "target": ["0", "90"],
    "tasks": ["1", "x", "50,"],
    "temperature": ["nothing"],
    "tier": ["nothing"],
    "threshold": ["x", "0.5,x"],
    "to": ["0", "x", "1e4,3", "2000000000"],
    "to_label": ["labels.xlsx"],
    "toy": ["x"],
    "truth": ["nothing"],
    "truth_from": ["nowhere.csv"],
    "width": ["2"],
    "where": ["1 +", "nothing = 1", "SELECT 1"],
}
# Options that take any text.
ANY_TEXT = ("headline",)
# Options that each command compares with the data itself.
OF_DATA = ("k", "metrics")
# A value of each option of reading, and what a request has then.
READING: dict[str, tuple[Any, Any]] = {
    "fields": ({"task": "a"}, {"task": "a"}),
    "map": ({"task": "c"}, {"task": "c"}),
    # Another outcome than the one above.
    "all_of": ([], ()),
    "outcome": ("b", "b"),
    "truth": ("m.csv", "m.csv"),
    "truth_from": ("n.csv", "n.csv"),
    "threshold": (0.5, (0.5,)),
    "missing": ("drop", "drop"),
    "missing_cost": ("drop", "drop"),
    "price": ({"m": {"input": 1, "output": 2}}, {"m": PricesPerMillionTokens(1.0, 2.0)}),
    "passes": ("i", ("i",)),
    "fails": ("j", ("j",)),
    "duplicates": ("first", "first"),
    "skip_bad": (True, True),
    "by": ("c", ("c",)),
    "pool": ("l", ("l",)),
    "where": ("d = 1", "d = 1"),
    "models": ("e", ("e",)),
    "exclude_models": ("f", ("f",)),
    "alias": ({"q": "r"}, {"q": "r"}),
    "exclude_tasks": ("s", ("s",)),
    "only_tasks": ("t", ("t",)),
    "format": ("jsonl", "jsonl"),
    "records": ("g", "g"),
    "path": ("{model}/{task}.json", "{model}/{task}.json"),
    "cluster": ("h", "h"),
}
# Options that contradict each other or the data, and what is said of it.  FILE stands for results.
SENSELESS = {
    "bootstrap FILE --population these-tasks --interval"
    " guard": "the method guard is not valid for these-tasks",
    "compare FILE --interval none": "the verdicts of this command need intervals",
    "compare FILE --test within-tasks": "this test is only about these tasks",
    "compare FILE --population these-tasks --test sign-flip": "this test is about new tasks",
    "curve": "no files are given",
    "curve FILE --rates 0.5": "exact success rates replace result files",
    "curve --rates a=0.5 --rates a=0.2": "each list of rates needs a different name",
    "curve --rates 0.5 --threshold 0.5": "the data contains exact rates",
    "curve --rates 0.5 -m maj@k": "exact rates contain no attempts",
    "curve --rates 0.5 --band simultaneous": "exact rates have no sampling error",
    "curve FILE --band simultaneous --interval none": "needs an interval",
    "curve FILE --band simultaneous --short-tasks drop": "needs the same tasks at every k",
    "curve FILE --band simultaneous --population these-tasks --interval percentile": "a band needs"
    " hull or jackknife intervals, not percentile",
    "diversity FILE -k 50": "distinct@50 needs 50 attempts per task, but no task has more than 12",
    "estimate FILE -m maj@3": "no answer column; the columns are",
    "estimate FILE --interval jackknife": "jackknife is not valid for new-tasks; use one of",
    "gate FILE": "no rule to check",
    "gate FILE --max-drop pass@1=0.02": "this rule needs a baseline",
    "gate FILE --no-regression --baseline nobody": "no such file, and no such model; there are",
    "gate FILE --min-by lower --no-regression --baseline another-model": "works only with",
    "gate FILE --model another-model --no-regression --baseline another-model": "contains only this"
    " model, so no model can be compared with it",
    "gate FILE --min pass@1=0.5 --interval none": "the verdicts of this command need intervals",
    "gate FILE --must-pass-rate 0.5 --min pass@1=0.1": "works only with tasks that must pass",
    "plan": "nothing to plan from; give the FILE of a pilot",
    "plan FILE --mean 0.5 --spread 0.2": "are only for plans without a pilot",
    "plan --mean 0.5": "nothing to plan from",
    "plan --mean 0.5 --spread 0.2 -k 1000000000": "use a k up to 1,000",
    "tasks FILE --suspects --always 0.9": "this option cannot be combined with another view",
    "temperature": "no FILE; give result files",
    "temperature FILE --spread 4": "is only for the toy model",
    "temperature FILE --fit": "is only for the toy model",
    "temperature FILE --toy gaussian": "the toy model computes only pass@k",
    "temperature --toy gaussian --by x": "the toy model computes only pass@k",
    "temperature --toy gaussian -m pass^2": "the toy model computes only pass@k",
    "temperature --toy gaussian --gamma 2": "is only for the family power-law",
    "temperature --toy gaussian --fit -k 2": "uses the k's and spreads of the article",
    "temperature FILE --where 'temperature<0.5'": "the only temperature is 0.2",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, twelve tasks, two temperatures, six attempts at each, with their solutions."""
    rows = [
        {
            "model": model,
            "task": f"task {task}",
            "attempt": attempt + 1,
            "passed": (task * 7 + attempt * (3 + which)) % 5 > 1 + task % 2,
            "temperature": (0.2, 0.8)[attempt // 6],
            "solution": f"return {task * attempt % 4}",
            "cost": (1 + which) * (1 + (task + attempt) % 7) / 100,
            "human_minutes": 2**task,
        }
        for which, model in enumerate(("a-model-with-a-long-name", "another-model"))
        for task in range(12)
        for attempt in range(12)
    ]
    path = tmp_path_factory.mktemp("every").resolve() / "results.jsonl"
    path.write_text(jsonl(rows))
    return path


@dataclass(frozen=True)
class Called:
    """What a function of Python returned and warned of."""

    findings: passk_cli.Findings
    warned: list[warnings.WarningMessage]


Found = Callable[[str], passk_cli.Findings]
Rendered = Callable[..., str]


@pytest.fixture(scope="module")
def called(results: Path) -> Callable[[str], Called]:
    """called(name) → what the function of a command returns, computed once."""

    def of(name: str) -> Called:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            return Called(function(name)(results, **needed(name)), warned)

    return cache(of)


@pytest.fixture(scope="module")
def findings(called: Callable[[str], Called]) -> Found:
    """findings(name) → what a command finds."""
    return lambda name: called(name).findings


@pytest.fixture
def rendered(findings: Found) -> Rendered:
    """rendered(name, format, width=0) → the report of a command in a format."""
    return lambda name, format, width=0: load_object(WRITER_BY_FORMAT[format])(
        findings(name).report, Style(terminal_width=width)
    )


def asked(name: str, path: Path, *more: object) -> list[object]:
    """A command line that the command can answer; what more is asked comes instead of the same."""
    words = NEEDED.get(name, [])
    pairs = zip(words[::2], words[1::2], strict=True)
    return [name, path, *(word for pair in pairs if pair[0] not in more for word in pair), *more]


def function(name: str) -> Callable[..., passk_cli.Findings]:
    actual: Callable[..., passk_cli.Findings] = getattr(passk_cli, name)
    return actual


def needed(name: str) -> dict[str, Any]:
    """What the command needs, as Python spells it."""
    fields = flags(name)
    words = NEEDED.get(name, [])
    return {fields[flag]: value for flag, value in zip(words[::2], words[1::2], strict=True)}


def spelled_in_python(name: str, words: list[str]) -> dict[str, Any]:
    """Options of a command line as Python spells them."""
    of_flag = {
        flag: (row.field, row.base_type) for row in every(name) for flag in row.option.flags.split()
    }
    options: dict[str, Any] = {}
    for place, word in enumerate(words):
        field, base = of_flag.get(word, ("", None))
        if base is bool:
            options[field] = True
        elif field:
            options.setdefault(field, []).append(words[place + 1])
    return {f: v[0] if isinstance(v, list) and len(v) == 1 else v for f, v in options.items()}


def every(name: str) -> list[DeclaredOption]:
    return load_command(name).options()


FORMATS_OF_ALL = [name for name in WRITER_BY_FORMAT if name not in VERDICT_FORMATS]


@pytest.mark.parametrize("name", ALONE)
def test_every_format_without_data(
    passk: Passk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    result = passk(name, *ALONE[name], "-f", "table")
    assert result.code == 0, result.err
    assert max(map(len, folded(result.out))) <= 60
    report = function(name)(**spelled_in_python(name, ALONE[name])).report
    for format in FORMATS_OF_ALL:
        assert len(load_object(WRITER_BY_FORMAT[format])(report, Style(terminal_width=60))) > 50, (
            format
        )


@pytest.mark.parametrize("name", mark_long_except(COMMANDS, "estimate", "compare", "gate", "cost"))
def test_every_format(rendered: Rendered, name: str) -> None:
    for format in FORMATS_OF_ALL:
        assert len(rendered(name, format)) > 50, format


@pytest.mark.parametrize(
    "name", mark_long_except([*COMMANDS, "formats"], "estimate", "gate", "convert", "formats")
)
def test_a_machine_that_has_little(
    passk: Passk, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Neither home nor terminal, an ASCII locale, closed streams, no folder for temporary files."""
    # A page asks all commands; of two tasks it takes a second.
    few = ["--where", "task in ('task 1', 'task 2')"] if name == "report" else []
    words = [name] if name == "formats" else asked(name, results, *few)

    def anew() -> CommandResult:
        COUNTS.clear()
        return passk(*words)

    usual = anew()
    assert usual.code == 0, usual.err
    for variable in ("HOME", "TERM", "USER", "LANG", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    with open(tmp_path / "out", "w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert anew().code == 0
    assert (tmp_path / "out").read_bytes() == usual.out.encode("ascii", "backslashreplace")
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, stream, None)
    assert anew().code == 0
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    result = anew()
    if name == "formats":
        assert result == usual
    else:
        assert (result.code, result.out, result.sentences) == (2, "", 1)
        assert (
            "error[unwritable-output]: no folder for temporary files (No such file or directory); "
            in result.err
        )


@pytest.mark.parametrize(
    ("name", "tasks", "attempts"),
    mark_long_except(
        [(n, *size) for n in COMMANDS for size in ((1, 20), (1, 1), (2, 1), (3, 2))],
        ("estimate", 1, 20), ("judge", 1, 20), ("gate", 2, 1),
    ),
)  # fmt: skip
def test_the_smallest_files_are_answered_or_refused(
    passk: Passk, write: Write, name: str, tasks: int, attempts: int
) -> None:
    """Two models whose second passes at every third attempt; of few tasks little can be said."""
    rows = (
        {"model": model, "task": f"t{task}", "attempt": at, "passed": (at + task) % 3 < most}
        for model, most in (("a", 2), ("b", 1)) for task in range(tasks) for at in range(attempts)
    )  # fmt: skip
    path = write("x.jsonl", jsonl(rows))
    required_values = [word for word in NEEDED.get(name, []) if word not in POOL]
    result = passk(name, path, *required_values)
    assert result.code in (0, 1, 2, 3, 5), result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_rows_have_one_schema_in_all_formats_for_programs(rendered: Rendered, name: str) -> None:
    rows = records(rendered(name, "csv"))
    lines = rendered(name, "jsonl").splitlines()
    document = json.loads(rendered(name, "json"))
    assert list(csv.DictReader(io.StringIO(rendered(name, "tsv")), delimiter="\t")) == rows
    assert document["rows"] == [json.loads(line) for line in lines]
    for row, record in zip(rows, document["rows"], strict=True):
        assert {k: "" if v is None else str(v) for k, v in record.items()} == row


def folded(text: str) -> list[str]:
    """The lines without the signature, which the terminal folds."""
    return [line for line in text.splitlines() if not line.startswith("passk=")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_fits_its_terminal(rendered: Rendered, name: str) -> None:
    for width in (60, 80):
        table = rendered(name, "table", width)
        assert max(map(len, folded(table))) <= width
        # Values of a file's columns may be long, and files are described without models.
        if name == "describe":
            continue
        # Of a long name words go, by which models do not differ.
        models = ["a-model-with", "another-model"]
        # A plan is for the model whose values vary most.
        assert all(model in table for model in models[name == "plan" :]) or width == 60


@pytest.mark.parametrize("name", EVERY)
def test_help_says_what_is_declared(
    passk: Passk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    short, full = passk(name, "--help"), passk("help", name)
    assert (short.code, short.err, full.code, full.err) == (0, "", 0, "")
    few, every_word = ("".join(result.out.split()) for result in (short, full))
    edge = (row for _, options in output_option_groups(load_command(name)) for row in options)
    options = [*every(name), *edge]
    assert len({field for field, *_ in options}) == len(options)
    flags = [flag for _, option, *_ in options for flag in option.flags.split()]
    assert len(set(flags)) == len(flags)
    own_values = options_by_field(load_command(name).options_type)
    for field, option, _, default, *_ in options:
        assert not (option.only_in_full_help and option.name in few)
        for words in (every_word, *[few] * (field in own_values and not option.only_in_full_help)):
            assert "".join(option.help.removesuffix(".").split()) in words
            assert all(flag in words for flag in option.flags.split())
            if isinstance(default, str) and default:
                sentence = "".join(default.split())
                assert f"{sentence}(default)" in words or f"(default{sentence})" in words
    assert "Examples:#" in few


@pytest.mark.parametrize("name", EVERY)
def test_python_help_says_what_is_declared(name: str) -> None:
    sentence = " ".join((function(name).__doc__ or "").split())
    for field, option, *_ in every(name):
        assert f"{field} : " in sentence
        assert all(value in sentence for value in option.allowed_values)
    assert sentence.count(f" passk_cli.{name}(") >= 3
    assert not re.search(r"(?<![\w-])--?[a-z]", sentence)


def wrong_values() -> Iterator[tuple[str, str, str]]:
    """(command, field, what is wrong of it) for every option that takes a value.

    Commands that share a declaration check it in one place: the first of them stands for all.
    """
    checked = set()
    for name in COMMANDS:
        for field, option, _, _, base, _ in every(name):
            if base is bool or (option in checked and field not in OF_DATA):
                continue
            checked.add(option)
            yield name, field, ""
            if option.choices:
                yield name, field, "nonsense"
            if base in (int, float):
                yield from ((name, field, text) for text in ("x", "nan", "1.5.2"))
            for limit, step in ((option.low, -1), (option.high, 1)):
                if limit is not None:
                    yield name, field, str(limit + step)
            yield from ((name, field, text) for text in WRONG.get(field, []))


def test_every_option_has_a_wrong_value() -> None:
    declarations = {(name, field): option for name in COMMANDS for field, option, *_ in every(name)}
    tried = {declarations[name, field] for name, field, text in wrong_values() if text}
    taken = {
        option: field for name in COMMANDS for field, option, _, _, base, _ in every(name)
        if base is not bool and field not in ANY_TEXT
    }  # fmt: skip
    assert set(taken) == tried, "list what is wrong of an option in WRONG, and nothing else"
    assert set(WRONG) <= set(taken.values())


@pytest.mark.parametrize(
    ("name", "field", "text"), mark_long_except(wrong_values(), *[*wrong_values()][::4])
)
def test_a_wrong_value_is_refused_in_the_same_words(
    passk: Passk, results: Path, name: str, field: str, text: str
) -> None:
    flag = {f: option.name for f, option, *_ in every(name)}[field]
    result = passk(*asked(name, results, flag, text))
    options = needed(name) | {field: text}
    assert_refused_alike(result, name, text, lambda: function(name)(str(results), **options))


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_asked_of_reading_arrives_there(results: Path, name: str) -> None:
    """Wrong values are tried of one command; here that every command hands on what it is given."""
    taken = {field for field, *_ in every(name)}
    assert set(READING) - {"cluster"} == set(options_by_field(Request))
    assert taken >= set(READING) - {"cluster", *load_command(name).excluded_options}
    refused = {"truth", "truth_from"} if load_command(name).runner_class.label_refusal else set()
    refused |= {"truth_from"} if name == "judge" else set()
    expected = {field: READING[field] for field in READING if field in taken - refused}
    values = needed(name) | {field: value for field, (value, _) in expected.items()}
    question, options = load_command(name).runner_class.parse_options(
        values, results, requires_data=True
    )
    requests: list[Request] = []

    def read(request: Request, source: object = None) -> NoReturn:
        requests.append(request)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        command_report(question, options, read)
    # passk temperature is about one more column.
    request = replace(requests[0], by=requests[0].by[:1])
    for field, (_, value) in expected.items():
        assert getattr(request, field) == value, field


def assert_refused_alike(
    result: CommandResult, name: str, text: str, call: Callable[[], object]
) -> None:
    """The command line and Python refuse in one sentence, each in its spelling.

    text : what Python was given, which stays as it is.
    """
    assert result.code in (2, 3), result.err
    # Commands that would do stand below the sentence.
    below = result.err.splitlines()[1:]
    assert (result.out, [line for line in below if not line.startswith("  ")]) == ("", [])
    with pytest.raises(passk_cli.PasskError) as refusal:
        call()
    assert refusal.value.exit_code == result.code
    told, messages = str(refusal.value), result.message
    if below:
        # What only the caller knows stands in the sentence.
        asked_for = [str(settle) for settle in refusal.value.fixes if not settle.is_complete]
        told, messages = "; ".join([refusal.value.args[0], *asked_for]), messages.splitlines()[0]
    assert (refusal.value.name, unspelled(told, name)) == (result.error, unspelled(messages, name))
    assert not re.search(r"(?<![\w-])--?[a-z]", told.replace(text, "")), told


@pytest.mark.parametrize(("line", "problem"), SENSELESS.items())
def test_what_makes_no_sense_is_refused_in_the_same_words(
    passk: Passk, results: Path, line: str, problem: str
) -> None:
    name, *words = shlex.split(line)
    files = [results] * words.count("FILE")
    words = [*words[len(files) :], *POOL * (bool(files) and name != "temperature")]
    result = passk(name, *files, *words)
    options = spelled_in_python(name, words)
    assert problem in result.message
    assert_refused_alike(result, name, "", lambda: function(name)(*files, **options))


@pytest.mark.parametrize("name", mark_long_except(SPLIT, "estimate", "gate", "tasks"))
def test_no_group_shares_its_name_with_a_column(
    passk: Passk, results: Path, findings: Found, tmp_path: Path, name: str
) -> None:
    records = [json.loads(line) for line in results.read_text().splitlines()]
    columns = findings(name).frame.columns
    path = tmp_path / "results.jsonl"
    own_values = [
        column
        for column in columns
        if column not in RESERVED_OUTPUT_COLUMNS and column not in records[0]
    ]
    taken = [*own_values[:1], "note"]
    lines = (json.dumps(record | dict.fromkeys(taken, "x")) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines))
    for column in taken:
        result = passk(*asked(name, path, "--by", column))
        assert "the output already has a column with this name" in result.err
        call = partial(function(name), path, **needed(name) | {"by": column})
        assert_refused_alike(result, name, "", call)


def flags(name: str) -> dict[str, str]:
    """Flag → the field of a command, or of any other."""
    names = [*COMMANDS, name]
    return {
        flag: field for first in names for field, option, *_ in every(first)
        for flag in option.flags.split()
    }  # fmt: skip


def in_keywords(table: str, name: str) -> str:
    """Tables whose last line hints at options, with keywords and properties instead."""
    fields = {"--full": ".tables", "passk formats NAME": "passk_cli.formats(NAME)"}
    fields |= {flag: f"{field}=" for flag, field in flags(name).items()}
    hint = re.compile(r"(?<=: )(--?[a-z-]+|passk formats NAME)(?= ·|$)", re.MULTILINE)
    return hint.sub(lambda flag: fields[flag[0]], table)


def unspelled(text: str, name: str) -> str:
    """A message without what depends on the spelling of its options; Python has no --full."""
    fields = flags(name)
    text = re.sub(r"; (passk \w+ )?(--full|\.tables) has the numbers", "", text)
    named = re.sub(r"(?<![\w-])--?[a-z-]+", lambda flag: f"{fields.get(flag[0], flag[0])}=", text)
    # A role and its column, as --field has them and as a dict.
    named = re.sub(r'\{"(\w+)": "?([^"}]+)"?\}', r"\1=\2", named)
    return re.sub(
        r"[\s\"\\(),\[\]'-]|True", "", re.sub(r"passk_cli\.(\w+)\(…?", r"passk \1", named)
    )


def declarations() -> dict[str, list[str]]:
    """Command → its fields whose declaration no command before it has."""
    first: dict[Option, tuple[str, str]] = {}
    for name in COMMANDS:
        for field, option, *_ in every(name):
            first.setdefault(option, (name, field))
    fields: dict[str, list[str]] = {name: [] for name in COMMANDS}
    for name, field in first.values():
        fields[name].append(field)
    return fields


@pytest.mark.parametrize("name", COMMANDS)
def test_what_no_option_takes_is_refused(results: Path, name: str) -> None:
    for field in declarations()[name]:
        with pytest.raises(passk_cli.PasskError):
            function(name)(results, **needed(name) | {field: object()})
    with pytest.raises(TypeError, match=f"'nonsense'; help\\(passk_cli.{name}\\) lists them"):
        function(name)(results, nonsense=1)
    with pytest.raises(TypeError, match="pass all other options"):
        function(name)(results, "x", "y", "z")
    with pytest.raises(passk_cli.DataError, match="object cannot be read; give paths"):
        function(name)(object(), **needed(name))


@pytest.mark.parametrize("name", mark_long_except(REPORTS, "estimate", "compare", "gate", "tasks"))
def test_python_says_what_the_command_line_says(
    passk: Passk, results: Path, called: Callable[[str], Called], rendered: Rendered, name: str
) -> None:
    findings = called(name).findings
    table = in_keywords(passk(*asked(name, results)).out, name)
    assert f"{findings}" == f"{findings!r}"
    if name == "describe":
        # Its table of options has those of Python.
        assert unspelled(f"{findings}\n", name) == unspelled(table, name)
    else:
        assert f"{findings}\n" == table
    every_message = passk(*asked(name, results, "-v")).err
    printed = re.findall(r"^(note|warning)(?:\[([a-z-]+)\])?: (.*)$", every_message, re.MULTILINE)
    # On the command line warnings stand first.
    assert sorted((m["name"], unspelled(m["text"], name)) for m in findings.messages) == sorted(
        (label, unspelled(text, name)) for _, label, text in printed
    )
    warned = [(label, unspelled(text, name)) for level, label, text in printed if level[0] == "w"]
    caught = called(name).warned
    assert [(first.message.name, unspelled(str(first.message), name)) for first in caught] == warned
    assert {first.category for first in caught} <= {passk_cli.PasskWarning}
    assert {first.filename for first in caught} <= {__file__}
    expected = pd.read_csv(io.StringIO(rendered(name, "csv")), dtype=str, keep_default_na=False)
    cells = findings.frame.astype(object).where(findings.frame.notna(), "")
    assert list(findings.frame.columns) == list(expected.columns)
    for column in expected:
        for first, second in zip(cells[column], expected[column], strict=True):
            assert str(first) == second or float(first) == float(second)
    assert len(findings.tables) >= 1
    assert not load_command(name).gives_verdict or findings.passed


@pytest.mark.parametrize("name", mark_long_except(REPORTS, "estimate", "compare", "gate", "curve"))
def test_what_is_saved_is_what_is_written(
    passk: Passk, results: Path, findings: Found, tmp_path: Path, name: str
) -> None:
    saved = findings(name)
    # The pictures of a page are named after its file.
    ours, theirs = tmp_path / "ours" / "x.md", tmp_path / "theirs" / "x.md"
    ours.parent.mkdir()
    theirs.parent.mkdir()
    saved.save(ours, percent=True, digits=2)
    passk(*asked(name, results, "-o", theirs, "--percent", "--digits", "2"))
    # A page has the command line, where there is one.
    written = re.sub(r"\n`passk .*`\n", "", theirs.read_text())
    texts = (text.replace("\\_", "_") for text in (ours.read_text(), written))
    assert len({unspelled(in_keywords(text, name), name) for text in texts}) == 1
    assert "<table>" in saved._repr_mimebundle_()["text/html"]
    if load_command(name).has_charts:
        saved.save(tmp_path / "chart.svg", theme="dark")
        assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    else:
        with pytest.raises(passk_cli.ParameterError, match="there is nothing to draw"):
            saved.save(tmp_path / "chart.svg")
    for wrong, problem in (
        ({}, "passk has no output format with this suffix"),
        ({"theme": "x"}, 'theme="x": there are light, dark'),
    ):
        with pytest.raises(passk_cli.ParameterError, match=problem):
            saved.save(tmp_path / ("x.svg" if wrong else "x.nonsense"), **wrong)
