"""The house rules: layers, types, lint, and what a start-up may import."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from itertools import combinations, takewhile

import pytest

from tests.conftest import PACKAGE, ROOT, SAMPLES, package_nodes
from tests.lowest_versions import lowest_versions


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(["mypy"], marks=pytest.mark.long),
        ["importlinter.cli"],
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
    ],
    ids=" ".join,
)
def test_tool_is_content(tool: list[str]) -> None:
    if tool[0] == "importlinter.cli":
        command = [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as l; l()",
        ]
    else:
        command = [sys.executable, "-m", *tool]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.long
def test_no_name_of_a_class_means_two_things() -> None:
    places: dict[str, list[str]] = {}
    for path, node in package_nodes():
        if isinstance(node, ast.ClassDef):
            place = f"{path.relative_to(PACKAGE).as_posix()}:{node.lineno}"
            places.setdefault(node.name.lstrip("_"), []).append(place)
    assert len(places) > 100
    assert not {name: files for name, files in places.items() if len(files) > 1}


@pytest.mark.long
def test_every_sort_by_places_names_its_kind() -> None:
    """numpy's default leaves equals in an order that differs from processor to processor."""
    calls = [
        (path.name, node)
        for path, node in package_nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    sorts = [(name, call) for name, call in calls if call.func.attr == "argsort"]  # type: ignore[attr-defined]
    assert len(sorts) > 10
    bare = [f"{name}:{c.lineno}" for name, c in sorts if "kind" not in {k.arg for k in c.keywords}]
    assert not bare
    assert not [name for name, c in calls if c.func.attr == "argpartition"]  # type: ignore[attr-defined]


def test_no_family_of_files_by_prefix_or_suffix() -> None:
    """No x.py beside x_notes.py, no a_words.py beside b_words.py: that is a folder, or a noun.

    Formats are named as harnesses name themselves.
    """
    relatives = []
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    for folder in folders - {PACKAGE / "files" / "formats"}:
        names = sorted(path.stem for path in folder.glob("[!_]*.py"))
        for first, second in combinations(names, 2):
            parts, second_parts = first.split("_"), second.split("_")
            if parts[0] == second_parts[0] or parts[-1] == second_parts[-1]:
                relatives.append(f"{folder.name}: {first}, {second}")
    assert not relatives


def test_drawing_of_the_house_is_what_is_checked() -> None:
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [set(layer.split(" | ")) for layer in checked["contracts"][0]["layers"]]
    modules = {path.stem for path in PACKAGE.iterdir()}
    drawing = (ROOT / "CONTRIBUTING.md").read_text().split("\n```\n")[2]
    floors = [set(takewhile(modules.__contains__, row.split())) for row in drawing.splitlines()]
    assert [{"__main__"}, *floors] == layers


@pytest.mark.parametrize(
    ("arguments", "banned"),
    [
        (["--version"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["--help"], ["numpy", "duckdb", "pandas", "scipy", "rich", "typer"]),
        (["gate", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["watch", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["estimate", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["compare", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich", "vl_convert"]),
        (["temperature", "--toy", "gaussian", "-k", "2"], ["duckdb", "pandas", "rich"]),
        (
            ["estimate", str(SAMPLES / "tau_airline.csv")],
            ["pandas", "scipy", "rich", "numpy.ma", "passk_cli.files.formats"],
        ),
        (["compare", str(SAMPLES / "agents.jsonl")], ["pandas", "numpy.testing", "rich"]),
        (["describe", str(SAMPLES / "tau_airline.csv")], ["pandas", "scipy", "rich"]),
    ],
    ids=lambda value: value[0].lstrip("-") if isinstance(value, list) else None,
)
def test_start_up_imports_only_what_it_needs(arguments: list[str], banned: list[str]) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['passk', *{arguments!r}]\n"
        "from passk_cli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        f"found = [m for m in {banned!r} if m in sys.modules]\n"
        "sys.exit(f'imported {found}' if found else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import passk_cli, sys; sys.exit(' '.join({'numpy', 'duckdb'} & set(sys.modules)) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_every_requirement_names_its_lowest_version() -> None:
    lines = list(lowest_versions((ROOT / "pyproject.toml").read_text()))
    assert {"duckdb", "numpy", "rich"} <= {line.split("==")[0] for line in lines}
