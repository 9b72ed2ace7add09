"""One screen: the default output of each command on the sample files, with its messages."""

from __future__ import annotations

import shlex

import pytest

from tests.conftest import ROOT, Passk, long

CRUX = "sample_data/cruxeval.jsonl.gz"
COLD = f'{CRUX} --where "temperature < 0.5"'
AGENTS = "sample_data/agents.jsonl"
RULES = "--max-drop pass@1=0.6 --min pass@1=0.2"
# Name, command line.
CASES = [
    ("order", f"order {COLD}"),
    ("order of a trial column", "order sample_data/tau_airline.csv"),
    ("curve", f"curve {COLD}"),
    ("curve of 8 series", f"curve {CRUX} --by temperature"),
    ("curve of exact rates", "curve sample_data/toy_families.csv"),
    ("gate", "gate sample_data/tau_airline.csv --min pass@1=0.4 --min-each 0.2"),
    ("gate of 8 models", f"gate {AGENTS} --baseline gpt-5.6-sol {RULES}"),
    (
        "gate that is all undecided",
        f"gate {AGENTS} --baseline gpt-5.6-sol --no-regression --exclude-model claude-fable-5",
    ),
    ("compare", f"compare {COLD}"),
    ("compare 8 models", "compare sample_data/agents.jsonl"),
    ("compare with a baseline", f"compare {COLD} --baseline deepseek-base-6.7b"),
    ("compare 7 with a baseline", "compare sample_data/agents.jsonl --baseline claude-fable-5"),
    ("compare two", f"compare {COLD} --model gpt-4-0613 --model codellama-7b"),
    ("temperature", f"temperature {CRUX}"),
    ("temperature of the toy model", "temperature --toy gaussian,exponential,power-law"),
    ("diversity", f"diversity {COLD}"),
    ("plan", f"plan {COLD}"),
    ("plan of a budget", "plan sample_data/tau_airline.csv --budget 5000"),
    ("plan without a pilot", "plan --mean 0.6 --spread 0.3"),
    ("bootstrap", f"bootstrap {COLD}"),
    ("describe", "describe sample_data/tau_airline.csv"),
    ("describe 8 models", "describe sample_data/agents.jsonl"),
    ("describe further columns", f"describe {CRUX}"),
    ("formats", "formats"),
    ("tasks", "tasks sample_data/tau_airline.csv"),
    ("tasks of 8 models", "tasks sample_data/agents.jsonl"),
    ("tasks of 20 attempts", f"tasks {CRUX} --model gpt-4-0613 --pool temperature"),
    ("flips", "tasks sample_data/agents.jsonl --model claude-fable-5 --against gpt-5.5"),
    ("flips of 7 models", "tasks sample_data/agents.jsonl --against gpt-5.5"),
    ("suspects", "tasks sample_data/agents.jsonl --suspects"),
    ("tasks above a rate", "tasks sample_data/agents.jsonl --always 0.9"),
    ("extrapolate", f"extrapolate {COLD}"),
    ("extrapolate of 8 series", f"extrapolate {CRUX} --by temperature"),
    ("gate rehearsed", f"gate {AGENTS} --baseline gpt-5.6-sol {RULES} --rehearse"),
    ("compare by group", f"compare {CRUX} --by temperature"),
    ("temperature of the fit", "temperature --toy gaussian,exponential --fit"),
    ("diversity of 8 series", f"diversity {CRUX} --by temperature"),
]
LINES, COLUMNS = 24, 100


@pytest.mark.parametrize(("name", "command"), [*CASES[:4], *long(*CASES[4:])])
def test_the_answer_fits_a_screen(passk: Passk, name: str, command: str) -> None:
    words = (str(ROOT / word) if word.startswith("sample_data") else word
             for word in shlex.split(command))  # fmt: skip
    done = passk(*words)
    assert done.code == 0, done.err
    answer, _, rest = done.out.partition("\n\n")
    lines = [answer, *rest.splitlines(), *done.err.splitlines()]
    # The answer and messages are folded by the terminal; a table cannot be.
    assert sum(-(-len(line) // COLUMNS) or 1 for line in lines) < LINES, name
    assert max(map(len, rest.splitlines())) <= COLUMNS, name
    assert len(answer) <= 200, name
