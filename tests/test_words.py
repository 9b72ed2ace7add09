"""No forbidden word in what people read: help, what commands print, messages, README, changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from passk_cli.cli.help_text import command_help
from passk_cli.cli.overview import overview
from passk_cli.cli.topics import GLOSSARY_PATH
from passk_cli.commands import COMMANDS
from tests.conftest import Write
from tests.words import faults, prose

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "passk_cli"
# What stands between two parts of one text.
_BETWEEN = re.compile(r'"\s*\n\s*f?"')


def find_faults(text: str) -> list[str]:
    return list(faults(text))


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str) -> None:
    assert find_faults(command_help(name, full=True)) == []


def test_glossary() -> None:
    assert find_faults(prose(GLOSSARY_PATH.read_text())) == []


def test_list_of_commands() -> None:
    assert find_faults(overview()) == []


def test_what_commands_print() -> None:
    printed = {path.name: path.read_text() for path in (ROOT / "tests" / "golden").glob("*.txt")}
    assert len(printed) > 50
    assert {name: words for name, text in printed.items() if (words := find_faults(text))} == {}


@pytest.mark.parametrize("sign", ["~", "=", "–"])
def test_signs_in_tables_are_explained_below_them(sign: str) -> None:
    """In the caption of everything that a golden or a session shows whole."""
    texts = {path.name: path.read_text() for path in (ROOT / "tests" / "golden").glob("*.txt")}
    for page in (ROOT / "docs").rglob("*.md"):
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.M):
            sessions = re.split(r"^\$ ", block, flags=re.M)[1:]
            texts |= {f"{page.name}: {text[:60]}": text for text in sessions}
    cell = re.compile(r"  –(?:\s|$)" if sign == "–" else rf"  {sign} [-+\d]")
    pages_with_sign = {
        name: text for name, text in texts.items() if any(map(cell.search, rows_of(text)))
    }
    explained = re.compile(rf"(?:^|[ ,]){sign}[: ]", re.M)
    assert sign == "=" or len(pages_with_sign) >= 3
    assert [
        name for name, text in pages_with_sign.items() if not explained.search(below(text))
    ] == []


def rows_of(text: str) -> list[str]:
    """Lines in columns."""
    return [line for line in text.splitlines() if re.search(r"\S {2,}\S", line)]


def below(text: str) -> str:
    """All that is not in columns: the answer and the caption."""
    return "\n".join(line for line in text.splitlines() if line not in rows_of(text))


def test_sessions_of_readme_and_pages() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert {page.name: words for page in pages if (words := find_faults(page.read_text()))} == {}


def test_changes_of_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert "## [0.1.0]" in changes
    assert find_faults(prose(changes)) == []


@pytest.mark.long
def test_messages() -> None:
    """Every text of the package that is no docstring: notes and errors that no golden shows."""
    sources = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    # Reading the syntax takes seconds; only files with such a word anywhere need it.
    suspects = [path for path, text in sources.items() if find_faults(_BETWEEN.sub("", text))]
    texts = {str(path): "\n".join(messages(path)) for path in suspects}
    assert {path: words for path, text in texts.items() if (words := find_faults(text))} == {}


def test_a_message_in_parts_is_seen(write: Write) -> None:
    path = write("a.py", '"""How sure."""\nx = (\n    f"models {1} not told"\n    f" apart"\n)\n')
    assert find_faults(_BETWEEN.sub("", path.read_text())) != []
    assert find_faults("\n".join(messages(path))) == find_faults("not told apart")


def messages(path: Path) -> Iterator[str]:
    """The texts of a file with a blank in them, without docstrings; parts of one text as one."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body
        and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and " " in text and id(node) not in docstrings:
            yield text
