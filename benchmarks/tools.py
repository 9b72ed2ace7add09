"""Compute the same numbers from the same data with passk and with other tools.

Run: python benchmarks/tools.py [FOLDER]
Installs each tool in its own environment below FOLDER (default: /tmp/tools), at a fixed version,
and writes the table of docs/other-tools.md.

The data are CRUXEval at temperature 0.2: two models, the first 100 tasks, 10 attempts per task.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable, Mapping
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "other-tools.md"
BEGIN, END = "<!-- tools -->", "<!-- /tools -->"
MODELS = ("deepseek-base-6.7b", "codellama-7b")
TASKS, ATTEMPTS, DETECT = 100, 10, 0.05

Numbers = dict[str, Any]
Matrix = list[list[int]]
POINTS = ("pass@1", f"pass@{ATTEMPTS}", f"pass^{ATTEMPTS}")
COLUMNS = {
    "se": "standard error",
    "interval": "interval",
    "difference": "difference",
    "p": "p",
    "tasks": "tasks × 10",
    "single": "tasks × 1",
}


def means(matrix: Matrix) -> list[float]:
    """The success rate of each task."""
    return [sum(row) / len(row) for row in matrix]


def flat(matrix: Matrix) -> tuple[list[float], list[str]]:
    """All attempts, and the task of each."""
    return (
        [float(passed) for row in matrix for passed in row],
        [f"task {task}" for task, row in enumerate(matrix) for _ in row],
    )


def spread(values: list[float]) -> float:
    """The standard deviation of a sample."""
    mean = sum(values) / len(values)
    return float((sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def paired(first: list[float], second: list[float]) -> SimpleNamespace:
    """The inputs of power formulas for two models: standard deviations and correlation."""
    differences = spread([a - b for a, b in zip(first, second, strict=True)])
    a, b = spread(first), spread(second)
    correlation = (a**2 + b**2 - differences**2) / (2 * a * b)
    return SimpleNamespace(difference=differences, a=a, b=b, correlation=correlation)


def table_of(model: str, matrix: Matrix, names: tuple[str, str, str]) -> list[dict[str, Any]]:
    """A row per attempt, with the names of the columns of task, attempt and outcome."""
    return [
        {"model": model, names[0]: f"task {task}", names[1]: attempt, names[2]: passed}
        for task, row in enumerate(matrix)
        for attempt, passed in enumerate(row)
    ]


def write(path: str, rows: list[dict[str, Any]]) -> str:
    """A CSV file of these rows."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows_of(first: Matrix, second: Matrix, names: tuple[str, str, str]) -> list[dict[str, Any]]:
    """A row per attempt of both models."""
    models = zip(MODELS, (first, second), strict=True)
    return [row for model, matrix in models for row in table_of(model, matrix, names)]


def passk_rows(first: Matrix, second: Matrix, command: str, *options: str) -> list[dict[str, str]]:
    """What a command of passk writes as CSV."""
    path = write("passk.csv", rows_of(first, second, ("task", "attempt", "passed")))
    words = [Path(sys.executable).with_name("passk"), command, path, "--format", "csv", *options]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    return list(csv.DictReader(result.stdout.splitlines()))


def passk_estimates(first: Matrix, second: Matrix, *options: str) -> Numbers:
    """Point estimates of the first model, with the standard error and interval of pass@1."""
    rows = passk_rows(first, second, "estimate", "-k", f"1,{ATTEMPTS}", *options)
    of_model = {row["metric"]: row for row in rows if row["model"] == MODELS[0]}
    pass_1 = of_model["pass@1"]
    return {
        **{metric: float(row["estimate"]) for metric, row in of_model.items()},
        "se": float(pass_1["se"]),
        "interval": (float(pass_1["low"]), float(pass_1["high"])),
    }


def passk_difference(first: Matrix, second: Matrix, *options: str) -> Numbers:
    """The interval of the difference at pass@1, and its p."""
    (pair,) = passk_rows(first, second, "compare", "-k", "1", *options)
    return {"difference": (float(pair["low"]), float(pair["high"])), "p": float(pair["p"])}


def passk(first: Matrix, second: Matrix) -> Numbers:
    """`passk estimate`, `compare` and `plan` with their defaults."""
    options = ("-k", "1", "--detect", str(DETECT), "--attempts", f"1,{ATTEMPTS}")
    designs = passk_rows(first, second, "plan", *options)
    tasks_by_attempts = {
        row["n_max"]: int(row["tasks"]) for row in designs if row["fact"] == "detect"
    }
    return {
        **passk_estimates(first, second),
        **passk_difference(first, second),
        "tasks": tasks_by_attempts[str(ATTEMPTS)],
        "single": tasks_by_attempts["1"],
    }


def passk_t(first: Matrix, second: Matrix) -> Numbers:
    """Student's t instead of the defaults of passk."""
    estimates = passk_estimates(first, second, "--interval", "t")
    difference = passk_difference(first, second, "--interval", "t", "--test", "t")
    return {"se": estimates["se"], "interval": estimates["interval"], **difference}


def passk_these(first: Matrix, second: Matrix) -> Numbers:
    """How far new attempts at the same tasks would differ."""
    estimates = passk_estimates(first, second, "--population", "these-tasks")
    return {"se": estimates["se"], "interval": estimates["interval"]}


def passk_all(first: Matrix, second: Matrix) -> Numbers:
    """McNemar's exact test of the tasks at which all attempts pass."""
    options = ("-k", f"{ATTEMPTS}", "--test", "sign-flip")
    rows = passk_rows(first, second, "compare", *options)
    return {"p": next(float(row["p"]) for row in rows if row["metric"] == f"pass^{ATTEMPTS}")}


# Each function below runs in the environment of its tool. It returns what the tool computes of the
# columns, with the tool's defaults and with attempts grouped by task.
def scorio(first: Matrix, second: Matrix) -> Numbers:
    """A matrix in Python, for one model."""
    tool, numpy = import_module("scorio.eval"), import_module("numpy")
    results = numpy.array(first)
    _, deviation, low, high = tool.pass_at_k_ci(results, 1)
    return {
        "pass@1": tool.pass_at_k(results, 1),
        "pass@10": tool.pass_at_k(results, ATTEMPTS),
        "pass^10": tool.pass_hat_k(results, ATTEMPTS),
        "se": deviation,
        "interval": (low, high),
    }


def errorbars(first: Matrix, second: Matrix) -> Numbers:
    """`errorbars summarize`, `compare` and `power`."""
    names = ("question_id", "sample", "score")
    rows = rows_of(first, second, names)

    def run(*words: str) -> Any:
        program = Path(sys.executable).with_name("errorbars")
        result = subprocess.run(
            [program, *words, "--json"], capture_output=True, text=True, check=True
        )
        return json.loads(result.stdout)

    def power(pair: SimpleNamespace) -> Any:
        variance = (pair.a**2 + pair.b**2) / 2
        words = ("power", "--delta", str(DETECT), "--variance", str(variance), "--rho")
        return run(*words, str(1 - pair.difference**2 / (2 * variance)))["n_questions"]

    plain = write("errorbars.csv", rows)
    # A group with the name of its question would not count as one.
    grouped = [{**row, "cluster_id": f"attempts of {row['question_id']}"} for row in rows]
    summary = run("summarize", write("groups.csv", grouped), "--model", MODELS[0])
    pair = run("compare", plain, "--model-a", MODELS[0], "--model-b", MODELS[1])
    averaged = paired(means(first), means(second))
    repeated = ("--baseline", str(summary["mean"]), "--rho", str(averaged.correlation))
    tenth = run("power", "--delta", str(DETECT), *repeated, "--samples-per-question", str(ATTEMPTS))
    return {
        "pass@1": summary["mean"],
        "se": summary["clustered"]["clustered_se"],
        "interval": (
            summary["clustered"]["clustered_ci_low"], summary["clustered"]["clustered_ci_high"]
        ),
        "difference": (pair["ci_low"], pair["ci_high"]),
        "p": pair["p_value"],
        "tasks": power(averaged),
        "single": power(paired(flat(first)[0], flat(second)[0])),
        "ungrouped": run("summarize", plain, "--model", MODELS[0])["se"],
        "a tenth": tenth["n_questions"],
    }  # fmt: skip


def evalstats(first: Matrix, second: Matrix) -> Numbers:
    """`compare` with its defaults."""
    tool, pandas = import_module("evalstats"), import_module("pandas")
    names = ("item", "run", "score")
    rows = rows_of(first, second, names)
    compared = tool.compare(tool.load_from(pandas.DataFrame(rows)), factors="model").to_dict()
    entity, (pair,) = compared["entities"][MODELS[0]], compared["pairwise"]
    ends = (pair["ci_low"], pair["ci_high"])
    return {
        "pass@1": entity["mean"],
        "interval": (entity["ci_low"], entity["ci_high"]),
        "difference": ends if pair["a"] == MODELS[0] else (-ends[1], -ends[0]),
        "p": pair["p_value"],
    }


def truescore(first: Matrix, second: Matrix) -> Numbers:
    """Outcomes as labels that are true, with the tasks as clusters."""
    tool = import_module("truescore")
    values, tasks = flat(first)
    estimate = tool.gold_only_estimate(values, clusters=tasks)
    pair = tool.paired_permutation(means(first), means(second))
    differ = sum(a != b for a, b in zip(values, flat(second)[0], strict=True)) / len(values)
    half = (estimate.high - estimate.low) / 2
    quantile = import_module("scipy.stats").t.ppf(0.975, TASKS - 1)
    return {
        "pass@1": estimate.point,
        "se": half / quantile,
        "interval": (estimate.low, estimate.high),
        "difference": (pair.low, pair.high),
        "p": pair.p_value,
        "single": tool.required_pairs(DETECT, discordance_rate=differ),
    }


def holdline(first: Matrix, second: Matrix) -> Numbers:
    """The numbers of `holdline compare`."""
    load = import_module("holdline.importers").load_results
    candidate, baseline = (
        load(write(f"{model}.csv", table_of(model, matrix, ("id", "repeat", "passed"))))
        for model, matrix in zip(MODELS, (first, second), strict=True)
    )
    gate = import_module("holdline.gate").gate(candidate, baseline)
    return {
        "pass@1": candidate.summary["pass_rate"],
        "pass^10": candidate.summary[f"pass^{ATTEMPTS}"],
        "interval": tuple(candidate.summary["pass_rate_ci"]),
        "difference": tuple(gate.delta["ci"]),
        "p": gate.mcnemar_p,
    }


def inspect_ai(first: Matrix, second: Matrix) -> Numbers:
    """The reducers and metrics that a task names."""
    tool = import_module("inspect_ai.scorer")

    def reduced(reducer: Any) -> list[Any]:
        return [
            tool.SampleScore(score=reducer([tool.Score(value=float(v)) for v in row]), sample_id=at)
            for at, row in enumerate(first)
        ]

    scores = reduced(tool.mean_score())
    ends = tool.ci()(scores)
    return {
        "pass@1": tool.mean()(scores),
        "pass@10": tool.mean()(reduced(tool.pass_at(ATTEMPTS))),
        "pass^10": tool.mean()(reduced(tool.pass_k(ATTEMPTS))),
        "se": tool.stderr()(scores),
        "interval": (ends["lower"], ends["upper"]),
    }


def siggate(first: Matrix, second: Matrix) -> Numbers:
    """The verdict of `siggate compare` on the means of the tasks, and its formula for power."""
    tool, minimum = import_module("siggate"), import_module("deltagate").min_samples_for_delta
    verdict = tool.compare(means(second), means(first))
    return {
        "pass@1": verdict.candidate_mean,
        "difference": (verdict.ci_lower, verdict.ci_upper),
        "p": verdict.p_value,
        "tasks": minimum(DETECT, paired(means(first), means(second)).difference),
        "single": minimum(DETECT, paired(flat(first)[0], flat(second)[0]).difference),
    }


def evalpower(first: Matrix, second: Matrix) -> Numbers:
    """Counts of failures per task."""
    tool = import_module("evalpower")
    cells = {
        task: tool.CellStats(n=len(row), x=len(row) - sum(row)) for task, row in enumerate(first)
    }
    return {
        "pass@1": tool.pass_pow_k(cells, 1).value,
        "pass^10": tool.pass_pow_k(cells, ATTEMPTS).value,
        "interval": tool.cluster_bootstrap(
            lambda resampled: tool.pass_pow_k(resampled, 1).value, cells
        ),
    }


def lmms_eval(first: Matrix, second: Matrix) -> Numbers:
    """Three functions of its module of metrics, which imports a whole harness otherwise."""
    (folder,) = Path(sys.prefix).glob("lib/*/site-packages/lmms_eval")
    functions = {"clustered_stderr", "paired_ttest", "power_analysis"}
    module = ast.parse((folder / "api" / "metrics.py").read_text())
    module.body = [node for node in module.body if getattr(node, "name", "") in functions]
    names = {name: import_module(name) for name in ("math", "collections")}
    names |= {name: getattr(import_module("typing"), name) for name in ("Any", "List")}
    exec(compile(module, "lmms_eval/api/metrics.py", "exec"), names)
    tool = SimpleNamespace(**{name: names[name] for name in functions})

    def power(pair: SimpleNamespace) -> int:
        return int(
            tool.power_analysis(DETECT, pair.a, pair.b, correlation=pair.correlation)["min_n"]
        )

    values, tasks = flat(first)
    pair = tool.paired_ttest(means(first), means(second))
    return {
        "pass@1": sum(values) / len(values),
        "se": tool.clustered_stderr(values, tasks),
        "difference": (pair["ci_lower"], pair["ci_upper"]),
        "p": pair["p_value"],
        "tasks": power(paired(means(first), means(second))),
        "single": power(paired(values, flat(second)[0])),
    }


def agentrel(first: Matrix, second: Matrix) -> Numbers:
    """Estimates with its bootstrap over tasks and runs."""
    tool = import_module("agentrel")
    runs, second_runs = (
        tool.from_records(table_of(model, matrix, ("task_id", "run_id", "score")))
        for model, matrix in zip(MODELS, (first, second), strict=True)
    )
    mean = tool.mean_score_ci(runs, seed=0)
    pair = tool.paired_delta(runs, second_runs, seed=0)
    return {
        "pass@1": mean.value,
        "pass@10": tool.pass_at_k(runs, ATTEMPTS, seed=0).value,
        "pass^10": tool.pass_hat_k(runs, ATTEMPTS, seed=0).value,
        "interval": (mean.ci_low, mean.ci_high),
        "difference": (pair.delta.ci_low, pair.delta.ci_high),
        "p": pair.t_pvalue,
    }


# Function, name, and what pip installs.
Tool = tuple[Callable[[Matrix, Matrix], Numbers], str, tuple[str, ...]]
TOOLS: tuple[Tool, ...] = (
    (passk, "passk", ()),
    (passk_t, "passk `--interval t --test t`", ()),
    (passk_these, "passk `--population these-tasks`", ()),
    (passk_all, "passk `-k 10 --test sign-flip`", ()),
    (inspect_ai, "Inspect AI", ("inspect-ai==0.3.285",)),
    (scorio, "scorio", ("scorio==0.2.3",)),
    (errorbars, "errorbars", ("errorbars==0.2.4",)),
    (evalstats, "evalstats", ("evalstats==0.3.3",)),
    (truescore, "truescore", ("truescore==0.7.4",)),
    (holdline, "holdline", ("holdline==0.2.1",)),
    (agentrel, "agentrel", ("agentrel==0.1.0",)),
    (siggate, "siggate", ("siggate==0.1.1", "deltagate==0.1.1")),
    (evalpower, "evalpower", ("evalpower==0.1.0",)),
    (lmms_eval, "lmms-eval", ("--no-deps", "lmms-eval==0.7.3", "numpy", "scipy")),
)


def outcomes() -> dict[str, Matrix]:
    """The outcomes of both models, tasks × attempts."""
    table: dict[str, dict[int, dict[int, int]]] = {model: {} for model in MODELS}
    with gzip.open(ROOT / "sample_data" / "cruxeval.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            task = int(row["task_id"].removeprefix("sample_"))
            if row["model"] in table and row["temperature"] == 0.2 and task < TASKS:
                table[row["model"]].setdefault(task, {})[row["sample"]] = int(row["passed"])
    return {
        model: [[row[sample] for sample in sorted(row)] for _, row in sorted(tasks.items())]
        for model, tasks in table.items()
    }


def environment(folder: Path, name: str, packages: tuple[str, ...]) -> Path:
    """The interpreter of a tool's environment. The environment is made if it does not exist."""
    if not packages:
        return Path(sys.executable)
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name, with_pip=True)
        plain = [package for package in packages if package != "--no-deps"]
        install = [str(python), "-m", "pip", "install", "--quiet"]
        if "--no-deps" in packages:
            subprocess.run([*install, "--no-deps", plain.pop(0)], check=True)
        subprocess.run([*install, *plain], check=True)
    return python


def cell_text(value: Any) -> str:
    """A cell of the table."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}"
    return "–".join(f"{end:.3f}" for end in value)


def filled(text: str) -> str:
    """A paragraph of the page."""
    return textwrap.fill(text, 120, break_on_hyphens=False)


def joined_names(names: list[str]) -> str:
    """Names as a sentence lists them."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


def part_of_page(results: Mapping[str, tuple[str, Numbers]]) -> str:
    """The table, and the numbers that its explanation needs."""
    head = ["tool", *COLUMNS.values()]
    lines = [head, ["---"] * len(head)]
    for name, (release, numbers) in results.items():
        lines.append([f"{name} {release}".strip(), *(cell_text(numbers.get(c)) for c in COLUMNS)])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    passk_numbers = results["passk"][1]
    distance = max(
        abs(numbers[point] - passk_numbers[point])
        for _, numbers in results.values() for point in POINTS if point in numbers
    )  # fmt: skip
    have = {point: [name for name in results if point in results[name][1]] for point in POINTS}
    few = have[POINTS[1]]
    more = [name for name in have[POINTS[2]] if name not in few]
    bars = results["errorbars"][1]
    intro = (
        f"Run on {date.today():%-d %B %Y} with {' and '.join(MODELS)} on {TASKS} tasks of CRUXEval,"
        f" {ATTEMPTS} attempts per task. {POINTS[0]} ({passk_numbers[POINTS[0]]:.3f} for the first"
        f" model), {POINTS[1]} ({passk_numbers[POINTS[1]]:.3f}) and {POINTS[2]}"
        f" ({passk_numbers[POINTS[2]]:.3f}) differ by at most {distance:.0e}. {joined_names(few)}"
        f" compute {POINTS[1]} and {POINTS[2]}, {joined_names(more)} only {POINTS[2]}."
        " The table is about pass@1, at level 0.95. The last columns are the tasks"
        f" that detect {100 * DETECT:g} points with power 0.8, at {ATTEMPTS} attempts"
        " and at one."
    )
    note = (
        "errorbars has two traps. Without a cluster column it treats attempts as independent"
        f" (standard error {bars['ungrouped']:.4f}). `--samples-per-question {ATTEMPTS}` divides"
        f" the variance between tasks as well ({bars['a tenth']} tasks)."
    )
    return "\n".join((BEGIN, filled(intro), "", table, "", filled(note), END))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="/tmp/tools", type=Path)
    parser.add_argument("--only", help="compute the numbers of one tool in this environment")
    arguments = parser.parse_args()
    data = outcomes()
    first, second = (data[model] for model in MODELS)
    if arguments.only:
        (function,) = (tool for tool, _, _ in TOOLS if tool.__name__ == arguments.only)
        os.chdir(arguments.folder)
        print("\n" + json.dumps(function(first, second), default=float))
        return
    arguments.folder.mkdir(exist_ok=True)
    results = {}
    for function, name, packages in TOOLS:
        python = environment(arguments.folder, function.__name__, packages)
        words = [python, __file__, arguments.folder, "--only", function.__name__]
        result = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
        releases = [package.partition("==")[2] for package in packages if "==" in package]
        release = releases[0] if releases else version("passk-cli") if name == "passk" else ""
        results[name] = release, json.loads(result.stdout.splitlines()[-1])
        print(name, release, results[name][1], flush=True)
    before = PAGE.read_text()
    new = re.sub(
        f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: part_of_page(results), before, flags=re.S
    )
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
