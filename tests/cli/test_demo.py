"""passk demo: three commands on sample data of the package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from passk_cli.cli.demo import HELP_TEXT, SAMPLE_FILE_PATH
from tests.conftest import ROOT, SAMPLES, Passk


def test_it_prints_what_its_page_shows(passk: Passk, tmp_path: Path) -> None:
    before = os.getcwd()
    result = passk("demo")
    assert (result.code, result.err, os.getcwd()) == (0, "", before)
    page = (ROOT / "docs" / "commands" / "demo.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0]
    assert result.out.replace(str(SAMPLE_FILE_PATH.parent), "…/passk_cli/cli/sample_data") == shown


def test_its_data_are_those_of_the_readme_and_small(passk: Passk) -> None:
    words = ["--where", "temperature > 0.5", "--model", "deepseek*", "--model", "gpt-3.5*"]
    result = passk("convert", SAMPLES / "cruxeval.jsonl.gz", *words, "--counts", "-f", "csv")
    assert result.out == SAMPLE_FILE_PATH.read_text()
    assert SAMPLE_FILE_PATH.stat().st_size <= 60_000


def test_it_has_help_and_no_options(passk: Passk) -> None:
    assert passk("demo", "--help").out == passk("help", "demo").out == HELP_TEXT + "\n"
    assert "passk demo: " in passk("--help").out
    assert passk("demo", "results.csv").code == 2
    assert "did you mean demo?" in passk("dmo").err


@pytest.mark.parametrize("code", [0, 3])
def test_it_ends_with_the_exit_code_of_its_commands(code: int) -> None:
    from passk_cli.cli.demo import run_demo

    calls: list[list[str]] = []

    def run(words: list[str]) -> int:
        calls.append(words)
        return code

    assert run_demo(run) == code
    assert len(calls) == (1 if code else 3)
