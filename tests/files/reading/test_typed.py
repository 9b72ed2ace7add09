"""Tests of the options of a screen and its complete commands: each one has the described effect."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Passk, mark_long_except
from tests.files.reading.test_column_choice_errors import CASES, LISTED, commands
from tests.files.reading.test_drafts import DATA, INPUTS
from tests.files.reading.traps import TRAPS

PASSING = {"true", "1", "1.0", "yes", "pass", "passed", "success", "正确"}


class Line(NamedTuple):
    """A line of a screen: the role, the words that choose the column, its tally, what passes."""

    role: str
    words: list[str]
    tally: str
    ways: list[list[str]]


def screen(stderr: str) -> Iterator[Line]:
    """The lines with options."""
    role = ""
    for line in stderr.splitlines():
        match = re.match(r"  (records|task|outcome|counts|model|setting|column|)\s+(--.*)$", line)
        if match is None:
            continue
        role = match[1] or role
        option, _, tally = match[2].partition("  ")
        tally, _, ways = tally.strip().partition("; ")
        parted = [shlex.split(way) for way in ways.split(" or ") if way]
        yield Line(role, shlex.split(option), tally, parted)


def numbers(tally: str) -> dict[str, int]:
    """Value → how often, of a tally that is complete; else nothing."""
    clause = tally.partition(": ")[2] if " to " in tally else tally
    if re.search(r"\bmore\b|…|missing", tally):
        return {}
    pairs = [re.fullmatch(r"([\d,]+)(?: ×)? (.+)", part) for part in clause.split(", ")]
    return {pair[2]: int(pair[1].replace(",", "")) for pair in pairs if pair} if all(pairs) else {}


def description(passk: Passk, path: Path, words: Sequence[str]) -> Any:
    """The reading of describe with these words. describe counts doubtful columns too."""
    result = passk("describe", path, *words, "-f", "json", "-q")
    return json.loads(result.out) if result.code == 0 else result


def assert_role(document: Any, words: Sequence[str]) -> None:
    """The columns that words name are in use in the roles that they name."""
    used_columns = {
        (column["role"], column["column"]) for column in document["columns"] if column["used"]
    }
    pairs = [*itertools.pairwise(words)]
    named_columns = {tuple(text.split("=", 1)) for flag, text in pairs if flag == "--field"}
    named_columns |= {("outcome", text) for flag, text in pairs if flag == "--outcome"}
    named_columns |= {("setting", text) for flag, text in pairs if flag == "--by"}
    missed = {(role, c) for role, c in named_columns - used_columns if c != "@column"}
    # An entry has the column that contains it, and so has a column with one value per row.
    plain = {(role, c.split("==")[0]) for role, c in used_columns}
    assert not missed - plain, (words, used_columns)


def assert_counted(document: Any, line: Line, way: Sequence[str]) -> None:
    """The numbers of a line equal the counts."""
    rows = document["rows"]
    if "no outcome" in document["answer"]:
        # Attempts without one are left out.
        return
    attempts = sum(row["attempts"] for row in rows)
    if line.role == "task" and (match := re.match(r"([\d,]+) values", line.tally)):
        tasks = re.search(r"([\d,]+) tasks?", document["answer"])
        assert tasks
        assert tasks[1] == match[1]
    if line.role == "counts" and (match := re.fullmatch(r"([\d,]+) of ([\d,]+)", line.tally)):
        passed = sum(row["attempts"] * row["pass_rate"] for row in rows)
        assert (round(passed), attempts) == (int(match[1]), int(match[2]))
    tally = numbers(line.tally)
    if line.role == "model" and tally:
        assert len(rows) == len(tally)
    if line.role == "setting" and tally:
        assert {row["groups"] if "groups" in row else row.get(line.words[1]) for row in rows}
        assert len({str(row.get(line.words[1])) for row in rows}) == len(tally)
    if line.role != "outcome" or any(row["pass_rate"] is None for row in rows):
        return
    passed = round(sum(row["attempts"] * row["pass_rate"] for row in rows))
    if match := re.fullmatch(r"([\d,]+) of [\d,]+ agree", line.tally):
        assert passed == int(match[1]), line
        return
    if way[:1] == ["--threshold"]:
        expected = sum(n for value, n in tally.items() if float(value) >= float(way[1]))
    elif way[:1] == ["--fails"]:
        expected = sum(n for value, n in tally.items() if value in PASSING | {"win"})
    else:
        words = {word.lower() for word in way[1::2]} or PASSING
        expected = sum(n for value, n in tally.items() if value.lower() in words)
    assert passed == expected or not tally, (line, way)


def check(passk: Passk, path: Path, command: str = "estimate") -> int:
    """How many options and commands of a refused file were typed, each checked."""
    result = passk(command, path)
    if result.code != 3:
        return 0
    lines, typed = [*screen(result.err)], 0
    records = next((line.words for line in lines if line.role == "records"), [])
    first = {role: next((line for line in lines if line.role == role), None)
             for role in ("task", "outcome", "counts")}  # fmt: skip
    for line in lines:
        if line.role == "records":
            continue
        alternatives = [] if line.role == "task" or first["task"] is None else first["task"].words
        verdict = first["counts"] or first["outcome"]
        if line.role not in ("outcome", "counts") and verdict:
            alternatives = [
                *alternatives,
                *verdict.words,
                *(verdict.ways[0] if verdict.ways else []),
            ]
        if line.role == "model" and alternatives[:2] == ["--field", f"task={line.words[1][6:]}"]:
            # The only column that can be a task may name models.
            continue
        for way in line.ways or [[]]:
            words = [*records, *line.words, *alternatives, *way]
            document = description(passk, path, words)
            typed += 1
            if not isinstance(document, dict):
                # It leads to another question, never to the same one.
                assert document.code == 3, (words, document.err)
                assert document.error not in ("no-such-column", f"no-{line.role}-column"), words
                continue
            assert_role(document, words)
            assert_counted(document, line, way)
    for words in commands(result.err):
        typed += 1
        again = passk(*words, "-q")
        assert again.code == 0 or again.error != result.error, (words, again.err)
        document = description(passk, path, words[2:])
        if isinstance(document, dict):
            assert_role(document, words)
    return typed


NAMES = [*TRAPS, *CASES, *LISTED]


@pytest.mark.parametrize("name", mark_long_except(NAMES, *[*TRAPS][::8]))
def test_an_option_of_the_screen_gives_the_column_its_role(
    passk: Passk, tmp_path: Path, name: str
) -> None:
    file, text, _ = INPUTS[name]
    path = tmp_path / str(file)
    path.write_text(str(text))
    check(passk, path)


SCREENS = ["cost/harbor.jsonl.gz", "cost/numbers.json", "cost/tau2.jsonl.gz", "phoenix/stub-a.csv",
           "ragas/metrics.csv", "ragas/metrics.jsonl"]  # fmt: skip


@pytest.mark.parametrize("name", mark_long_except(SCREENS, "ragas/metrics.csv"))
def test_an_option_of_a_refused_file_gives_the_column_its_role(passk: Passk, name: str) -> None:
    assert check(passk, DATA / name) > 0
