"""One screen: the default output of each command on the sample files, with its messages."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from tests.conftest import ROOT, Passk, jsonl, long_cases

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


@pytest.mark.parametrize(("name", "command"), [*CASES[:2], *long_cases(*CASES[2:])])
def test_the_answer_fits_a_screen(passk: Passk, name: str, command: str) -> None:
    words = (str(ROOT / word) if word.startswith("sample_data") else word
             for word in shlex.split(command))  # fmt: skip
    result = passk(*words)
    assert result.code == 0, result.err
    answer, _, rest = result.out.partition("\n\n")
    lines = [answer, *rest.splitlines(), *result.err.splitlines()]
    # The answer and messages are folded by the terminal; a table cannot be.
    assert sum(-(-len(line) // COLUMNS) or 1 for line in lines) < LINES, name
    assert max(map(len, rest.splitlines())) <= COLUMNS, name
    assert len(answer) <= 200, name


# Twenty-five models with names of forty characters; one model; the sample.
MODELS = [f"organisation-{i % 5}/agent-of-the-family-{'abcde'[i % 5]}-{i:06}" for i in range(25)]
BASELINE = MODELS[3]
# The command line of each command, without its data.
EACH = {
    "estimate": "", "compare": "", "compare to one": f"--baseline {BASELINE}", "tasks": "",
    "tasks matrix": "--matrix", "suspects": "--suspects", "cost": "", "curve": "", "order": "",
    "diversity": "", "temperature": "", "extrapolate": "", "plan": "",
    "bootstrap": "--resamples 200", "describe": "", "gate": "--min pass@1=0.4",
    "gate to one": f"--baseline {BASELINE} --max-drop pass@1=0.1",
    "flips": f"--against {BASELINE}",
}  # fmt: skip
COMMAND_OF = {"compare to one": "compare", "tasks matrix": "tasks", "suspects": "tasks",
              "gate to one": "gate", "flips": "tasks"}  # fmt: skip
# Rows of verdicts, of which none may be missing, and a table of tasks: more lines.
JUDGED = {"order": 36, "flips": 36, "compare to one": 36, "tasks matrix": 32, "gate to one": 36}
CELLS = [(name, models, width) for name in EACH for models in (25, 1) for width in (80, 100, 140)
         if models > 1 or (not {"--baseline", "--against", "--suspects"} & {*EACH[name].split()}
         and name != "compare")]  # fmt: skip
FEW = [("compare to one", 25, 80)]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Number of models → their results: 60 tasks with 5 to 7 attempts, or 12 with 6."""
    draw, folder = random.Random(11), tmp_path_factory.mktemp("many")
    paths = {}
    for models, tasks in ((25, 60), (1, 12)):
        rows = [
            {"model": model, "task": f"repository__with-a-long-name-{i:03}", "attempt": j + 1,
             "passed": draw.random() < min(0.98, 0.15 + 0.02 * m + 0.008 * i),
             "cost": round(0.01 * (1 + m) * (1 + draw.random()), 4), "solution": f"s{i % 3}",
             "temperature": (0.8, 0.2)[j % 2]}
            for m, model in enumerate(MODELS[:models]) for i in range(tasks)
            for j in range(6 if models == 1 else 5 + (m + i) % 3)
        ]  # fmt: skip
        paths[models] = folder / f"{models}.jsonl"
        paths[models].write_text(jsonl(rows))
    return paths


@pytest.mark.parametrize(
    ("name", "models", "width"), [*FEW, *long_cases(*(cell for cell in CELLS if cell not in FEW))]
)
def test_many_models_with_long_names_fit_a_terminal(
    passk: Passk, many: dict[int, Path], monkeypatch: pytest.MonkeyPatch, name: str, models: int,
    width: int,
) -> None:  # fmt: skip
    """At most thirty lines, none wider than the terminal, and no name in two lines."""
    monkeypatch.setenv("COLUMNS", str(width))
    pooled = [] if name == "temperature" else ["--pool", "temperature"]
    command = COMMAND_OF.get(name, name)
    result = passk(command, many[models], *EACH[name].split(), *pooled, "-f", "table")
    assert result.code in (0, 1), result.err
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= JUDGED.get(name, 30)
    last = [line.split()[-1] for line in lines if line.strip()]
    broken = [word for word in last if word[-1] in "-_/" and any(word in m for m in MODELS)]
    assert not broken
