"""Messages by their names: made errors, ignored, in data and in Python."""

from __future__ import annotations

import json
import re
import shlex
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

import passk_cli
from passk_cli.cli.error_printing import print_error_and_return_exit_code
from passk_cli.cli.output import print_message
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.diagnostic import ERROR, readable_template
from passk_cli.errors import ParameterError
from tests.conftest import ROOT, SAMPLES, Passk, Write, long_cases, mark_long_except

CRUX = SAMPLES / "cruxeval.jsonl.gz"
POOLED = (
    "attempts at one task differ in mode (a, b); --field model=mode as models; --by mode keeps them"
    " apart; --pool mode pools them on purpose"
)
# The modes are likely a setting, but only their name suggests it.
MIXED = "task,mode,passed\n" + "".join(
    f"t{t},{'ab'[(t * 7 + a * a * 5 + t * a) % 11 % 2]},{(t + a) % 3 % 2}\n"
    for t in range(40)
    for a in range(4)
)


@pytest.fixture
def mixed(write: Write) -> Path:
    """A file with attempts that differ in a column with the name of a setting."""
    return write("mixed.csv", MIXED)


@pytest.mark.parametrize("name", ["pooled-settings", "all", "short-tasks,pooled-settings"])
@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_message_is_made_an_error(passk: Passk, mixed: Path, name: str, quiet: list[str]) -> None:
    result = passk("estimate", mixed, "--error", name, *quiet)
    command = shlex.join(["passk", "estimate", str(mixed), "--error", name, *quiet])
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines() == [
        "error[pooled-settings]: attempts at one task differ in mode (a, b)",
        f"  {command} --field model=mode  # as models",
        f"  {command} --by mode  # keeps them apart",
        f"  {command} --pool mode  # pools them on purpose",
    ]


def test_a_message_made_an_error_is_data_in_json(passk: Passk, mixed: Path) -> None:
    result = passk("estimate", mixed, "--error", "all", "-f", "json")
    error = json.loads(result.out)["error"]
    assert (result.code, error["name"], error["exit"]) == (3, "pooled-settings", 3)
    assert f"{error['problem']}; {error['remedy']}" == POOLED
    command = f"passk estimate {mixed} --error all -f json"
    options = ["--field model=mode", "--by mode", "--pool mode"]
    assert error["remedies"] == [f"{command} {option}" for option in options]


@pytest.mark.parametrize(
    "words",
    [
        ["estimate", "-o", "out.csv"],
        *long_cases(["bootstrap", "-k", "1", "--resamples", "100", "--draws", "out.csv"]),
        *long_cases(["convert", "--counts", "-o", "out.csv"]),
    ],
    ids=lambda words: words[0],
)
def test_a_message_made_an_error_prevents_output(
    passk: Passk, workdir: Path, words: list[str]
) -> None:
    result = passk(words[0], CRUX, *words[1:], "--error", "pooled-settings")
    assert (result.code, result.error) == (3, "pooled-settings")
    assert list(workdir.iterdir()) == []


def test_convert_does_not_report_pooled_settings(passk: Passk, tmp_path: Path) -> None:
    result = passk("convert", CRUX, "-o", tmp_path / "a.csv", "--error", "all")
    assert (result.code, (tmp_path / "a.csv").exists()) == (0, True)


def test_a_gate_reports_a_message_made_an_error_in_junit(passk: Passk, tmp_path: Path) -> None:
    target = tmp_path / "gate.xml"
    result = passk("gate", CRUX, "--min", "pass@1=0", "--error", "all", "-f", "junit", "-o", target)
    assert (result.code, result.error) == (3, "pooled-settings")
    assert ElementTree.fromstring(target.read_text()).get("errors") == "1"


def test_notes_become_errors_only_if_named(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,attempt,passed\na,1,1\na,2,\nb,1,0\nb,2,1\n")
    words = ("estimate", path, "--missing", "fail", "-k", "1")
    assert passk(*words, "--error", "all").code == 0
    result = passk(*words, "--error", "missing-counted")
    assert (result.code, result.error) == (3, "missing-counted")


def test_a_message_is_ignored(passk: Passk, mixed: Path) -> None:
    plain, result = (
        passk("estimate", mixed, "-v", *words) for words in ((), ("--ignore", "pooled-settings"))
    )
    assert "warning[pooled-settings]: " in plain.err
    assert (result.code, "pooled-settings" in result.err) == (0, False)
    # The excluded rows stay visible in the command that reproduces the numbers.
    assert "ignore=pooled-settings" in result.out
    result = passk("estimate", mixed, "--error", "all", "--ignore", "pooled-settings")
    assert result.code == 0
    document = json.loads(passk("estimate", mixed, "--ignore=pooled-settings", "-f", "json").out)
    assert "pooled-settings" not in {message["name"] for message in document["messages"]}


@pytest.mark.parametrize(
    ("words", "name", "problem"),
    [
        (["--error", "pooled-setting"], "unknown-name", "did you mean pooled-settings?"),
        (["--ignore", "xyz"], "unknown-name", "no message is named 'xyz'"),
        (["--ignore", "all"], "unknown-name", "no message is named 'all'"),
        (["--ignore", "no-such-file"], "bad-option-value", "no-such-file is already an error"),
    ],
)
def test_unknown_message_names_are_refused(
    passk: Passk, words: list[str], name: str, problem: str
) -> None:
    result = passk("estimate", CRUX, *words)
    assert (result.code, result.error, problem in result.err) == (2, name, True), result.err


def test_warnings_and_errors_have_names_in_python(mixed: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        findings = passk_cli.estimate(mixed, "pass@1")
    (warning,) = (entry.message for entry in caught)
    assert isinstance(warning, passk_cli.PasskWarning)
    assert (warning.name, str(warning)) == (
        "pooled-settings",
        POOLED.replace("--field model=mode", 'fields={"model": "mode"}')
        .replace("--by mode", 'by="mode"')
        .replace("--pool mode", 'pool="mode"'),
    )  # fmt: skip
    assert findings.messages[0]["name"] == "pooled-settings"
    with pytest.raises(passk_cli.DataError) as refusal:
        passk_cli.estimate("none.csv")
    assert refusal.value.name == "no-such-file"


def test_messages_are_made_errors_and_ignored_in_python(mixed: Path) -> None:
    with pytest.raises(passk_cli.DataError, match="differ in mode") as caught:
        passk_cli.estimate(mixed, "pass@1", error="all")
    assert caught.value.name == "pooled-settings"
    call = f'passk_cli.estimate("{mixed}", metrics="pass@1", error="all", by="mode")'
    assert call in caught.value.remedies
    quiet = passk_cli.estimate(mixed, "pass@1", ignore=["pooled-settings"])
    assert "pooled-settings" not in {message.name for message in quiet.messages}
    assert quiet.signature["ignore"] == "pooled-settings"
    with pytest.raises(passk_cli.ParameterError, match="did you mean pooled-settings"):
        passk_cli.estimate(mixed, ignore="pooled-setting")


def test_a_description_has_the_remedies_of_its_errors(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "laid_out.csv"
    rows = [f"t{t},{mode},{(t + a) % 2}" for t in range(40) for mode in "ab" for a in range(2)]
    path.write_text("task,mode,passed\n" + "\n".join(rows) + "\n")
    with pytest.raises(passk_cli.DataError) as stopped:
        passk_cli.estimate(path)
    with pytest.warns(passk_cli.PasskWarning, match='by="mode" keeps them apart'):
        (message,) = passk_cli.describe(path).messages
    calls = [call.replace(".estimate(", ".describe(") for call in stopped.value.remedies]
    assert message.remedies == calls[: len(message.remedies)]
    assert f'passk_cli.describe("{path}", by="mode")' in message.remedies
    (printed,) = json.loads(passk("describe", path, "-f", "json").out)["messages"]
    assert f"passk describe {path} -f json --by mode" in printed["remedies"]


def test_help_explains_every_message(passk: Passk) -> None:
    index = passk("help", "messages").out
    for name, message in all_messages().items():
        assert name in index
        text = passk("help", name).out
        assert text.startswith(f"{message.severity}[{name}]\n\n")
        assert " ".join(message.meaning.split()) in " ".join(text.split())
        assert ("--ignore" in text) >= (message.severity != "error")


def test_a_message_without_advice_shows_its_remedy(passk: Passk) -> None:
    def advice_of(name: str) -> str:
        advice = passk("help", name).out.partition("What to do:")[2].partition("Example:")[0]
        return " ".join(advice.split())

    assert advice_of("assumed-threshold") == (
        "--threshold X sets another threshold. To hide this warning, use --ignore"
        " assumed-threshold. To stop with exit code 3 if this warning appears, use --error"
        " assumed-threshold."
    )
    ways = all_messages()["gains-without-range"].fixes
    assert len(ways) == 2
    for way in ways:
        advice = advice_of("gains-without-range")
        assert f"{way}. ".replace("{", "<").replace("}", ">") in advice


EXAMPLES = {name: message for name, message in all_messages().items() if message.example}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_message_has_its_words(name: str) -> None:
    message = EXAMPLES[name]
    words = re.sub(r"<\w+>", ".+", re.escape(readable_template(message.template).replace("'", "")))
    words = re.sub(r"\\\[(.*?)\\\]", r"(?:\1)?", words)
    # An example may be about one thing, and a pattern is about several.
    for several, first in {"are": "is", "have": "has", "do": "does", "were": "was"}.items():
        words = re.sub(rf"\b{several}\b", f"(?:{several}|{first})", words)
    words = re.sub(r"(?<=[a-z]{3})s\b", "s?", words)
    line = message.example.splitlines()[-1].replace("'", "")
    # Fixes that a call cannot use are left out.
    assert re.fullmatch(rf"{message.severity}\[{name}\]: {words}(?:; .+)?", line)


RUN = [name for name, message in EXAMPLES.items() if message.example.startswith("passk ")]


@pytest.mark.parametrize("name", mark_long_except(RUN, "powerless-tests"))
def test_a_command_in_the_example_of_a_message_prints_it(
    passk: Passk, workdir: Path, name: str
) -> None:
    # A command may write a file, for example its looks.
    (workdir / "sample_data").symlink_to(ROOT / "sample_data")
    command, line = EXAMPLES[name].example.splitlines()
    assert line in passk(*shlex.split(command)[1:]).err.splitlines()


def test_messages_wrap_between_words_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    command = f"  passk estimate {'x' * 60}.csv --by temperature"
    print_message(f"error[x]: {'word ' * 20}\n{command}", ERROR)
    *sentence, last = capsys.readouterr().err.splitlines()
    assert last == command
    assert len(sentence) == 3
    assert all(len(line) <= 40 and line.endswith("word") for line in sentence)


def test_the_label_of_an_error_is_bold_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_error_and_return_exit_code(ParameterError("x: no"), ["estimate"])
    monkeypatch.setenv("NO_COLOR", "1")
    print_error_and_return_exit_code(ParameterError("x: no"), ["estimate"])
    name = ParameterError.name
    assert capsys.readouterr().err.splitlines() == [
        f"\x1b[1;31merror[{name}]:\x1b[0m x: no", f"error[{name}]: x: no",
    ]  # fmt: skip
