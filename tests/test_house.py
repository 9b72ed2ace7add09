"""The house rules: layers, types, lint, and what a start-up may import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT, SAMPLES
from tests.lowest_versions import lowest_versions


@pytest.mark.parametrize(
    "tool",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["importlinter.cli"],
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
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "banned"),
    [
        (["--version"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["estimate", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich"]),
        (["compare", "--help"], ["numpy", "duckdb", "pandas", "scipy", "rich", "vl_convert"]),
        (["estimate", str(SAMPLES / "tau_airline.csv")], ["pandas", "scipy", "rich"]),
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
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import passk_cli, sys; sys.exit(' '.join({'numpy', 'duckdb'} & set(sys.modules)) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_every_requirement_names_its_lowest_version() -> None:
    lines = list(lowest_versions((ROOT / "pyproject.toml").read_text()))
    assert {"duckdb", "numpy", "plotext"} <= {line.split("==")[0] for line in lines}
