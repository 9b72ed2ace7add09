"""README and docs: sessions as printed, generated parts as declared, a site that builds."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TypeGuard

import pytest
from typer.main import get_command

import passk_cli
from docs import man, reference, rulebook, schema, sessions
from passk_cli.cli.app import build_app
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.python.python_calls import call_from_command
from tests.conftest import ROOT, assert_same_text, mark_long_except
from tests.words import faults, prose

DOCS = ROOT / "docs"
RENEW = "renew with: python -m docs.renew"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Of the commands that are asked most; .ci/run tries the others after them.
SPOKEN = [ROOT / "README.md", *(DOCS / "commands" / f"{name}.md" for name in ("estimate", "gate"))]


@pytest.mark.parametrize("page", mark_long_except(sessions.pages(), *SPOKEN), ids=name_of)
def test_sessions_are_as_printed(page: Path) -> None:
    for session, output in sessions.renewed(page.read_text())[1]:
        try:
            assert_same_text(output, session.output)
        except AssertionError as error:
            raise AssertionError(f"{name_of(page)}: {session.shown}; {RENEW}\n{error}") from None


@pytest.mark.parametrize("page", sessions.pages(), ids=name_of)
def test_generated_parts_are_as_declared(page: Path) -> None:
    text = page.read_text()
    assert reference.renewed(text) == text, RENEW


def test_the_manual_page_and_the_schema_are_as_declared() -> None:
    assert man.PAGE.read_text() == man.page(), RENEW
    assert schema.PAGE.read_text() == schema.page(), RENEW
    assert rulebook.PAGE.read_text() == rulebook.page(), RENEW
    assert r".SS gate" in man.page()
    shared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    installed = shared["targets"]["wheel"]["shared-data"]
    assert installed == {"docs/passk.1": "share/man/man1/passk.1"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_roff() -> None:
    result = subprocess.run(
        ["groff", "-man", "-ww", "-Kutf8", "-Tutf8", str(man.PAGE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented_and_has_help(name: str) -> None:
    page = (DOCS / "commands" / f"{name}.md").read_text()
    shared = reference.built((DOCS / "options.md").read_text())
    for parameter in get_command(build_app([name, "formats"])).commands[name].params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            assert parameter.help, parameter.name
            for flag in parameter.opts:
                assert re.search(rf"^(?:-|###) .*`{re.escape(flag)}[ `]", page + shared, re.M), flag


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page(name: str) -> None:
    page = (DOCS / "commands" / f"{name}.md").read_text()
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    assert titles[0] == f"passk {name}"
    assert titles[-2:] == ["Method and source", "Options"]
    assert f"`passk {name}`" in page.splitlines()[2], "the first sentence says when to use it"
    assert f"commands/{name}.md" in (ROOT / "mkdocs.yml").read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_python_call_with_options_that_exist(name: str) -> None:
    page = (DOCS / "commands" / f"{name}.md").read_text()
    source = re.search(rf"^In Python, use\s`(passk_cli\.{name}\(.*)`", page, re.MULTILINE)
    assert source is not None
    call = next(node for node in ast.walk(ast.parse(source[1])) if is_call_of(node, name))
    inspect.signature(getattr(passk_cli, name)).bind(
        *call.args, **{str(keyword.arg): keyword.value for keyword in call.keywords}
    )


def is_call_of(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_site_explains_every_column_of_a_command(name: str) -> None:
    text = reference.columns(name)
    for _, columns in load_command(name).runner_class.column_meanings_by_table():
        for _, meaning in columns:
            assert meaning in re.sub(r"\\(.)", r"\1", text)


@pytest.mark.parametrize("page", [*sessions.pages(), ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_words(page: Path) -> None:
    assert list(faults(prose(page.read_text()))) == []


def test_the_page_on_data_is_short() -> None:
    assert len((DOCS / "data.md").read_text().split()) <= 2100


def test_reference_pages_are_short() -> None:
    for name, most in {"messages": 1200, "json": 600, "answers": 300, "options": 300}.items():
        assert len((DOCS / f"{name}.md").read_text().split()) <= most, name


def test_every_message_is_on_the_page_of_one_family() -> None:
    families = reference.message_families()
    assert sorted(name for names in families.values() for name in names) == [*all_messages()]
    for family, page in reference.message_pages().items():
        assert re.findall(r"^## (.*)$", page, re.MULTILINE) == families[family]


def test_the_site_links_a_message_to_the_page_of_its_family() -> None:
    assert reference.built("[x](../messages.md#two-verdicts)") == (
        "[x](../messages/checks.md#two-verdicts)"
    )
    assert reference.built("[x](messages.md#errors)") == "[x](messages.md#errors)"
    index = reference.built((DOCS / "messages.md").read_text())
    assert "[`powerless-tests`](messages/compare.md#powerless-tests)" in index


def test_the_site_has_the_long_lists() -> None:
    for name, part in {
        "options": "### `--cluster COLUMN` { #--cluster",
        "answers": "| `highest-at-both` | `<model> scores ",
        "json": "| `p_equivalence` | ",
    }.items():  # fmt: skip
        page = (DOCS / f"{name}.md").read_text()
        assert part not in page
        assert part in reference.built(page)


def test_a_forbidden_word_is_seen() -> None:
    assert list(faults(prose("Models\ncannot be told\napart."))) != []
    assert list(faults(prose("`told apart`\n```\ntold apart\n```\n"))) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `mkdocs build --strict` writes it."""
    folder = tmp_path_factory.mktemp("site")
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.long
def test_the_site_builds(site: Path) -> None:
    for page in ("commands/gate", "messages/gate"):
        assert (site / page / "index.html").exists()


@pytest.mark.long
def test_every_option_has_an_anchor_on_the_page_of_its_command(site: Path) -> None:
    for name in COMMANDS:
        page = (site / "commands" / name / "index.html").read_text()
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids)), name
        for _, options in reference.sections(name):
            for declared in options:
                assert declared.option.flags.split()[-1] in ids, (name, declared.option.flags)


# A query → the place that is found first.
SEARCHES = {
    "--model": "options/#--model",
    "--chart-size": "options/#--chart-size",
    "chart size": "options/#--chart-size",
    "--max-drop": "commands/gate/#--max-drop",
    "-k": "options/#-k",
    "powerless-tests": "messages/compare/#powerless-tests",
    "guard interval": "guard/",
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_search_of_the_site_finds_options_metrics_and_messages(site: Path) -> None:
    result = subprocess.run(
        ["node", str(ROOT / "tests" / "search_site.js"), str(site), *SEARCHES, "pass^k"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert {query: found[query][0]["location"] for query in SEARCHES} == SEARCHES
    assert "<mark>--model</mark>" in found["--model"][0]["title"]
    assert found["pass^k"][0]["location"].startswith("glossary/#")
    assert {"glossary/", "choose/metric/"} <= {page["location"] for page in found["pass^k"]}


def test_texts_of_the_site_have_a_contrast_of_at_least_4_5() -> None:
    css = (DOCS / "site.css").read_text()
    theme = {"default": {"default-bg-color": "#ffffff"}, "slate": {}}
    pairs = [
        ("typeset-a-color", "default-bg-color"), ("accent-fg-color", "default-bg-color"),
        ("primary-bg-color", "primary-fg-color"), ("default-fg-color", "default-bg-color"),
        ("default-fg-color--light", "default-bg-color"), ("code-fg-color", "code-bg-color"),
    ]  # fmt: skip
    for scheme, colours in theme.items():
        for block in re.findall(
            rf'^\[data-md-color-scheme="{scheme}"\] \{{(.*?)\}}', css, re.M | re.S
        ):
            colours |= dict(re.findall(r"--md-([\w-]+): (#\w{3,6})\b", block))
        measured = [pair for pair in pairs if colours.keys() >= set(pair)]
        assert len(measured) >= 3
        for text, paper in measured:
            assert contrast(colours[text], colours[paper]) >= 4.5, (scheme, text)


def contrast(colour: str, other: str) -> float:
    """The contrast of WCAG 2 between two colours written as #rgb or #rrggbb."""

    def luminance(paint: str) -> float:
        digits = paint[1:] if len(paint) == 7 else "".join(2 * digit for digit in paint[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted(map(luminance, (colour, other)))
    return (light + 0.05) / (dark + 0.05)


def test_pictures_are_there_in_both_themes() -> None:
    for page in sessions.pages():
        for place in re.findall(r"[\w./-]+-(?:light|dark)\.svg", page.read_text()):
            path = (page.parent / place).resolve()
            assert path.is_file(), f"{name_of(page)}: {place}"
            assert path.with_name(re.sub("light|dark", "dark", path.name)).is_file()


# Tables with minus signs, marks, ranks, numbers of any size, and texts.
LATEX = (
    "estimate sample_data/cruxeval.jsonl.gz --by temperature -m pass@1,pass@10 --stacked",
    "estimate sample_data/tau_airline.csv -m pass@1,pass^4",
    "compare sample_data/agents.jsonl -m pass@1 --baseline claude-fable-5",
    "compare sample_data/agents.jsonl -m pass@1",
    "curve sample_data/tau_airline.csv",
    "tasks sample_data/tau_airline.csv",
    "order sample_data/tau_airline.csv -k 1,2",
    "temperature --toy gaussian --spread 16 -k 2,8",
    "plan --mean 0.6 --spread 0.3 -m pass@1 --tasks 200 --attempts 10",
    "describe sample_data/agents.jsonl",
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed (pdflatex)")
def test_latex_compiles(tmp_path: Path) -> None:
    """The document of the recipe, with tables of several commands."""
    page = (DOCS / "recipes" / "paper.md").read_text()
    document = re.search(r'```latex title="paper.tex"\n(.*?)```', page, re.DOTALL)
    assert document is not None
    for number, command in enumerate(LATEX):
        table = sessions.answer(f"passk {command} -f latex")
        (tmp_path / f"table{number}.tex").write_text(table)
    inputs = "\n\n".join(rf"\input{{table{number}}}" for number in range(len(LATEX)))
    (tmp_path / "paper.tex").write_text(document[1].replace(r"\input{table}", inputs))
    result = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-2000:]


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("*.md")), ids=name_of)
def test_benchmarks_begin_with_their_result(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert lines[0].startswith("# ")
    assert lines[2].startswith("- ")
    assert [line[:2] for line in lines[2:10]].count("- ") == 3
    tables = re.findall(r"(?:^\|.*\n)+", file.read_text(), re.MULTILINE)
    # The list of scripts is as long as there are scripts.
    results = [table for table in tables if not table.startswith("| script |")]
    rows = max((table.count("\n") - 2 for table in results), default=0)
    assert rows <= 14, "python benchmarks/measure.py moves the rows of long tables to rows/*.csv"


def test_what_to_type_instead_is_what_passk_takes() -> None:
    """Commands of the table for people who come from other tools; none of them is run."""
    page = (DOCS / "other-tools.md").read_text()
    page = page.partition("## Replace commands")[2].partition("## ")[0]
    lines = re.findall(r"`(passk [^`]+)`", page)
    assert len(lines) >= 10
    for line in lines:
        options = {option.field: option for option in load_command(line.split()[1]).options()}
        assert call_from_command(line, options).startswith("passk_cli."), line


def test_reading_guides_explain_words_that_are_printed() -> None:
    """A phrase with … for its numbers or names stands in a session of its page."""
    phrases = 0
    for page in sorted((ROOT / "docs" / "commands").glob("*.md")):
        text = page.read_text()
        printed = "\n".join(re.findall(r"^```.*?^```", text, re.M | re.S))
        for phrase in re.findall(r"^- \*\*([^*,]*…[^*]*)\*\*", text, re.M):
            phrases += 1
            assert re.search(re.escape(phrase).replace("…", ".*"), printed), (page.name, phrase)
    assert phrases
