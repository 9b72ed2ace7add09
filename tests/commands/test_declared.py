"""What commands give programs is declared: every column of csv, every key of JSON."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from docs import schema
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from tests.conftest import ROOT, Passk, mark_long_except
from tests.schema import errors

# What each command is asked for its JSON.
ASKED = {
    "estimate": "sample_data/tau_airline.csv -k 1,4",
    "compare": "sample_data/agents.jsonl -k 1 --baseline claude-fable-5",
    "gate": "sample_data/agents.jsonl --model claude-fable-5 --model gpt-5.5 -k 1"
    " --baseline claude-fable-5 --min pass@1=0.3 --no-regression --max-drop pass@1=0.9",
    "watch": "sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks /dev/null",
    "judge": "sample_data/evalplus.csv.gz --field truth=label",
    "bootstrap": "sample_data/tau_airline.csv -k 1 --resamples 200",
    "curve": "sample_data/tau_airline.csv",
    "cost": "sample_data/costs.csv --at 1",
    "order": "sample_data/tau_airline.csv -k 1,2",
    "trend": "sample_data/nights.parquet",
    "tasks": "sample_data/tau_airline.csv",
    "diversity": "sample_data/cruxeval.jsonl.gz --by temperature --model codellama-7b -k 2",
    "temperature": "sample_data/cruxeval.jsonl.gz --model codellama-7b -k 1",
    "horizon": "sample_data/cyber.csv.gz --cluster family"
    " --field date=release_date --resamples 100",
    "extrapolate": "sample_data/counts.csv --to 40",
    "plan": "--mean 0.6 --spread 0.3 --tasks 200 --attempts 10",
    "describe": "sample_data/tau_airline.csv",
    "formats": "",
    "report": "sample_data/tau_airline.csv -k 1",
}
COLD = "--where 'temperature < 0.5'"
FEW = "--model 'gpt*' --where \"temperature < 0.5 AND task_id LIKE '%7'\""
MORE = (
    "estimate sample_data/cruxeval.jsonl.gz --by temperature -k 1,5",
    "estimate sample_data/agents.jsonl -k 1 --methods",
    f"compare sample_data/cruxeval.jsonl.gz {FEW} --crossings --flips",
    "compare sample_data/agents.jsonl -k 1 --margin 0.05 --sensitivity task",
    f"compare sample_data/cruxeval.jsonl.gz {COLD} --change pass@1:pass@10 -m pass@1,pass@10",
    "gate sample_data/tau_airline.csv --min pass@1=0.3 --min-each 0.1 --must-pass 1",
    "gate sample_data/agents.jsonl --model gpt-5.5 --model gpt-5.6-sol --baseline gpt-5.6-sol"
    " --max-drop pass@1=0.6 --rehearse",
    f"tasks sample_data/cruxeval.jsonl.gz --suspects {COLD}",
    "tasks sample_data/tau_airline.csv --always 0.95",
    "tasks sample_data/agents.jsonl --against gpt-5.5",
    "curve sample_data/tau_airline.csv --delta --band simultaneous",
    "plan sample_data/tau_airline.csv --detect 0.05 --budget 5000",
    "plan sample_data/tau_airline.csv --budget 500 --cost-per-attempt 0.1",
    "temperature --toy gaussian --spread 16 -k 2,8",
    "extrapolate sample_data/counts.csv --target 0.5",
    "describe sample_data/cruxeval.jsonl.gz --by temperature",
)
LINES = (*(f"{name} {words}" for name, words in ASKED.items()), *MORE)
# Columns that --by adds, or temperatures.
GROUPS = {"temperature"}
GOLDEN = re.compile(r"^--- stdout\n(model,.*)$", re.M)


@pytest.mark.parametrize("line", mark_long_except(LINES, *LINES[:3]))
def test_every_column_and_key_is_declared(
    passk: Passk, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(line)
    document, root = json.loads(passk(*words, "-q", "-f", "json").out), schema.schema()
    assert list(errors(document, root, root)) == []
    for row in document["rows"]:
        assert list(errors(row, root["$defs"][words[0]], root)) == []
    assert document["rows"]
    # Those of csv: each row of JSON has all of them.
    assert set(document["rows"][0]) <= {
        *load_command(words[0]).runner_class.data_field_meanings(),
        *GROUPS,
    }


def test_every_column_of_a_golden_is_declared() -> None:
    headers = {
        path.name: match[1].split(",")
        for path in (ROOT / "tests" / "golden").glob("*.txt")
        if (match := GOLDEN.search(path.read_text()))
    }
    assert len(headers) >= 4
    for name, header in headers.items():
        command = load_command(name.split("-")[0].removesuffix(".txt"))
        assert set(header) <= {*command.runner_class.data_field_meanings(), *GROUPS}, name


def test_a_wrong_document_is_seen() -> None:
    root = schema.schema()
    document = {
        "schema": "passk-report/2", "rows": [{"model": "m", "estimate": "much"}],
        "messages": [{"name": "a"}], "context": "", "signature": {}, "caption": "",
    }  # fmt: skip
    assert set(errors(document, root, root)) == {
        "messages: severity is absent", "messages: text is absent", "messages: fields is absent",
        "messages: remedies is absent", "caption is not declared",
    }  # fmt: skip


def test_a_wrong_row_is_seen() -> None:
    root = schema.schema()
    row = {"model": "m", "estimate": "much", "k": 1.5, "language": "de"}
    assert set(errors(row, root["$defs"]["estimate"], root)) == {
        "estimate: 'much' is no ['number', 'null']", "k: 1.5 is no ['integer', 'null']"
    }  # fmt: skip


def test_every_command_is_asked_for_json() -> None:
    assert set(ASKED) == set(COMMANDS) - {"convert", "record"}
