"""passk order as a user runs it: goldens on real data, refusals, every format."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ROOT, SAMPLES, Golden, Passk, Write, records

TAU, CRUX, AGENTS = (SAMPLES / f for f in ("tau_airline.csv", "cruxeval.jsonl.gz", "agents.jsonl"))
LATITUDE = ROOT / "tests" / "data" / "latitude" / "results.jsonl.gz"
BY_TIME = [LATITUDE, "--field", "attempt=finishedAt", "--duplicates", "first"]
POOLED = [*BY_TIME, "--pool", "mode"]
COMMANDS: dict[str, list[object]] = {
    "order-copies": ["order", CRUX, "--where", "temperature < 0.5", "-k", "1,4",
                     "--model", "codellama-7b", "--model", "gpt-4-0613"],
    "order-by-time": ["order", *POOLED, "--model", "claude-fable-5", "--model", "gpt-5.5"],
    "order-csv": ["order", TAU, "-k", "2", "-f", "csv"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_order_is_never_guessed(passk: Passk) -> None:
    result = passk("order", AGENTS)
    assert (result.code, "whether lists are in the order of the attempts" in result.err) == (
        3,
        True,
    )
    for lines in ([], ["--order-from-lines"]):
        result = passk("order", SAMPLES / "counts.csv", *lines)
        assert (result.code, result.out) == (3, "")
        assert "counts.csv: the file contains counts; attempt" in result.err
    result = passk("order", AGENTS, "--order-from-lines")
    assert (result.code, "18 tasks × 3 attempts by lines" in result.out) == (0, True)
    assert "order=lines" in passk("order", AGENTS, "--order-from-lines", "-v").out
    # A column of numbers counts for nothing then.
    assert "by trial" not in passk("order", TAU, "--order-from-lines").out


def test_lines_and_numbers_give_the_same_order(passk: Passk, write: Write) -> None:
    lines = TAU.read_text().splitlines()
    bare = write(
        "tau.csv", "\n".join(",".join(line.split(",")[i] for i in (0, 1, 3)) for line in lines)
    )
    assert passk("order", bare).code == 3
    result = passk("order", bare, "--order-from-lines", "-f", "csv")
    assert records(result.out) == records(passk("order", TAU, "-f", "csv").out)
    # Reversed lines are reversed attempts.
    turned = write("turned.csv", "\n".join([lines[0], *reversed(lines[1:])]))
    by_line = records(passk("order", turned, "--order-from-lines", "-f", "csv", "-k", "1").out)
    by_number = records(passk("order", TAU, "-f", "csv", "-k", "1").out)
    assert float(by_line[0]["estimate"]) == pytest.approx(-float(by_number[0]["estimate"]))
    assert by_line[0]["p"] == by_number[0]["p"]
    assert records(passk("order", turned, "-f", "csv", "-k", "1").out) == by_number


@pytest.mark.long
def test_attempts_of_latitude_are_ordered_by_time(passk: Passk) -> None:
    """Eight models, 18 tasks with 3, 6 or 16 attempts each, and models that always pass."""
    result = passk("order", *POOLED, "-f", "json")
    document = json.loads(result.out)
    verdicts = {(r["model"], r["metric"]): r["verdict"] for r in document["rows"] if r["verdict"]}
    for model in ("gpt-5.5", "gpt-5.6-luna", "gpt-5.6-sol", "gpt-5.6-terra"):
        for fact in ("trend", "lag-1", "copies"):
            assert verdicts[model, fact] == "cannot be tested"
    # The trials of this model ran blind or as an oracle, and their results differ.
    assert verdicts["claude-fable-5", "lag-1"] == "correlated"
    assert document["signature"]["pool"] == "mode"
    assert document["signature"]["n"] == "2-16"
    separate = passk("order", *BY_TIME, "--by", "mode", "-f", "json")
    assert {r["verdict"] for r in json.loads(separate.out)["rows"] if r["metric"] == "copies"} <= {
        "none found", "cannot be tested",
    }  # fmt: skip
    undecided = passk("order", *BY_TIME[:3], "--pool", "mode")
    assert (undecided.code, "is duplicated" in undecided.err) == (3, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "5"], "first@5 needs 5 attempts, but no task has more than 4"),
    ],
)
def test_wrong_options_are_refused(passk: Passk, options: list[str], message: str) -> None:
    result = passk("order", TAU, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.sentences == 1
