"""Does any rule of the gate pass silently on a nightly run in which something went wrong?

Run: python benchmarks/nights.py [--histories]
Makes a run, a baseline and what can become of the run, asks `passk gate` rule by rule, and writes
the table into benchmarks/nights.md.  Exits with 1 where a gate passes and its verdict does not say
what is missing.  With --histories: twelve nights against a history, and 200 without a change.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import keep, table

import passk_cli
from passk_cli.__main__ import main as passk

Record = dict[str, Any]
Night = list[Record]
TASKS, ATTEMPTS = 40, 5
PASSING = "t00,t01,t02"  # tasks that always pass
BASED = ["--baseline", "old.jsonl"]
DECLARED = ["--attempts", str(ATTEMPTS)]
# The options for each rule. Rules that concern only the run are also tried without a baseline.
RULES: dict[str, list[str]] = {
    "--max-drop": [*BASED, "--max-drop", "pass@1=0.1"],
    "--no-regression": [*BASED, "--no-regression"],
    "--min": [*BASED, "--min", "pass@1=0.2"],
    "--min-by estimate": [*BASED, "--min", "pass@1=0.2", "--min-by", "estimate"],
    "--must-pass": [*BASED, "--must-pass", PASSING],
    "--min-each": [*BASED, "--min-each", "0"],
    "--attempts": DECLARED,
    "--min, --attempts": [*DECLARED, "--min", "pass@1=0.2"],
    "--max-drop, --unpaired drop": [*BASED, "--max-drop", "pass@1=0.1", "--unpaired", "drop"],
}
# Words that a passing verdict must contain.
SAID = re.compile(
    r"(fewer|more) attempts than|baseline tasks?( in|;|:|$| ha(s|ve) no)|without an outcome"
    r"|attempts per task"
    r"|\b(?!40 )\d+ tasks with \d|without results|skipped|failures seem retried|replace failures"
)


def rates(rng: np.random.Generator) -> list[float]:
    """Success rates of the tasks; some always pass."""
    task_rates: list[float] = rng.beta(0.8, 0.8, TASKS).tolist()
    return [1.0] * 3 + task_rates[3:]


def sampled(rng: np.random.Generator, p: list[float], n: int = ATTEMPTS) -> Night:
    """A run without problems. Its attempts are not numbered."""
    return [
        {"model": "m", "task": f"t{t:02d}", "passed": bool(rng.random() < rate)}
        for t, rate in enumerate(p)
        for _ in range(n)
    ]


def write_records(records: Night, path: Path) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def as_files(records: Night, folder: Path, broken: str | None) -> None:
    """One file of records per task. One of the files is broken."""
    for task in sorted({record["task"] for record in records}):
        task_records = [record for record in records if record["task"] == task]
        path = folder / task / "result.json"
        path.parent.mkdir(parents=True)
        path.write_text(
            broken if task == "t07" and broken is not None else json.dumps(task_records)
        )


def nights(rng: np.random.Generator, p: list[float]) -> dict[str, tuple[Night, list[str]]]:
    """What became of the run, and further options that it was read with."""
    complete = sampled(rng, p)
    failed = [not record["passed"] for record in complete]
    lost = [f and rng.random() < 0.7 for f in failed]

    def records_if(condition: Callable[[int, Record], bool]) -> Night:
        return [record for i, record in enumerate(complete) if condition(i, record)]

    def outcome(text: Any) -> Night:
        return [{**record, "passed": text if lost[i] else record["passed"]}
                for i, record in enumerate(complete)]  # fmt: skip

    def retried(until_pass: int) -> Night:
        records = []
        for record in complete:
            records.append(record)
            for _ in range(until_pass):
                if records[-1]["passed"]:
                    break
                again = bool(rng.random() < p[int(record["task"][1:])])
                records.append({**record, "passed": again})
        return records

    def numbered(records: Night) -> Night:
        counts: dict[str, int] = {}
        numbers = []
        for record in records:
            counts[record["task"]] = counts.get(record["task"], -1) + 1
            numbers.append({**record, "attempt": counts[record["task"]]})
        return numbers

    return {
        "nothing": (complete, []),
        "the last attempt of each task is lost": (records_if(lambda i, _: i % ATTEMPTS < 4), []),
        "7 of 10 failed attempts are lost": (records_if(lambda i, _: not lost[i]), []),
        "the first attempt of one task is lost": (records_if(lambda i, _: i != 5 * ATTEMPTS), []),
        "all attempts of 6 tasks are lost": (records_if(lambda i, _: i < 34 * ATTEMPTS), []),
        "each failure is tried once more": (retried(1), []),
        "each failure is tried until it passes": (retried(6), []),
        "so, with attempt numbers": (numbered(retried(6)), []),
        "outcome null": (outcome(None), []),
        "outcome null, --missing drop": (outcome(None), ["--missing", "drop"]),
        "outcome null, --missing fail": (outcome(None), ["--missing", "fail"]),
        'outcome "timeout"': (outcome("timeout"), []),
        'outcome "error", --missing drop': (outcome("error"), ["--missing", "drop"]),
        'outcome "crashed"': (outcome("crashed"), []),
    }


def ask(*arguments: str) -> tuple[int, str]:
    """The exit code and the verdict's line of the command in this folder."""
    sys.argv, code = ["passk", "gate", *arguments, "-q"], 0
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            passk()
        except SystemExit as stop:
            code = int(stop.code or 0)
    # The verdict is the first line of the answer. An error is the last message.
    lines = out.getvalue().splitlines()[:1] or err.getvalue().strip().splitlines()[-1:]
    return code, "".join(lines)


def as_suite(name: str, arguments: list[str]) -> str:
    """A command line as a suite of a file of rules."""
    file, *options = arguments
    keys: dict[str, list[str]] = {"name": [name], "runs": [file]}
    for option, value in zip(options, [*options[1:], "--"], strict=True):
        if option.startswith("--"):
            values = keys.setdefault(option.removeprefix("--"), [])
            values += [] if value.startswith("--") else [value]
    typed = {
        key: "true" if not values else json.dumps(values if len(values) > 1 else values[0])
        for key, values in keys.items()
    }
    typed |= {key: typed[key].strip('"') for key in ("attempts", "min-each") if key in typed}
    return "\n".join(["[[suite]]", *(f"{key} = {value}" for key, value in typed.items()), "\n"])


def ask_file(suites: dict[str, list[str]]) -> dict[str, str]:
    """Like `judged`, for each suite of one file. A failure that some format lacks is silent."""
    Path("passk.toml").write_text("".join(as_suite(*suite) for suite in suites.items()))
    outputs = ["gate.json", "gate.xml", "gate.md", "gl-code-quality.json"]
    code, _ = ask("--rules", "passk.toml", "--full", *(w for o in outputs for w in ("-o", o)))
    document = json.loads(Path("gate.json").read_text())
    if "error" in document:
        # Without a readable suite, every file contains the error.
        silent = [name for name in outputs if "no other suite" not in Path(name).read_text()]
        return dict.fromkeys(suites, "PASS" if silent else str(code))
    texts = [Path(name).read_text() for name in outputs]
    cells = {}
    for name in suites:
        rows = [row for row in document["rows"] if row["suite"] == name]
        messages = [
            message["text"]
            for message in document["messages"]
            if re.search(rf"(^|, ){re.escape(name)}(, |: )", message["text"])
        ]
        refused = any(row["rule"] == "its data can be read" for row in rows)
        fails = 3 if refused else int(any(row["fails"] for row in rows))
        line = "; ".join([*messages, *(row["note"] for row in rows)])
        cells[name] = judged(fails, line)
        if fails and not (code and all(name in text for text in texts)):
            cells[name] = "PASS"
    return cells


def judged(code: int, line: str) -> str:
    """Like the table: the exit code, or whether a passing verdict names what is missing."""
    return str(code) if code else "said" if SAID.search(line) else "PASS"


BOOK = """
first = "pass"
max-increase = {cost = "10%"}
max-drop = {"pass@1" = 0.05}
"""
# What becomes of suite "a" in each of twelve nights.
TWELVE = (
    "the first night", "nothing", "nothing", "a copy of the last night, in another order",
    "nothing", "the model has another name", "so, with aliases", "half of the attempts",
    "failures are tried until they pass", "costs 10 % more", "costs 25 % more",
    "its file cannot be read",
)  # fmt: skip


def priced(rng: np.random.Generator, p: list[float], n: int = ATTEMPTS) -> Night:
    """A run with costs of attempts that differ between tasks."""
    return [
        {**record, "cost": float((1 + t % 7) * np.exp(0.4 * rng.normal()))}
        for record in sampled(rng, p, n)
        for t in [int(record["task"][1:])]
    ]


def night_after(
    event: str, night: Night, last: Night, rng: np.random.Generator, p: list[float]
) -> Night:
    """What became of a night."""
    if event.startswith("a copy"):
        return last[::-1]
    if event.startswith(("the model has", "so, with")):
        return [{**record, "model": "m-v2"} for record in night]
    if event.startswith("half"):
        return [record for place, record in enumerate(night) if place % ATTEMPTS < ATTEMPTS // 2]
    if event.startswith("failures"):
        attempts: Night = []
        for record in night:
            attempts.append(record)
            for _ in range(4):
                if attempts[-1]["passed"]:
                    break
                again = bool(rng.random() < p[int(record["task"][1:])])
                attempts.append({**record, "passed": again})
        return attempts
    share = next((x for x in (10, 25) if f" {x} %" in event), 0)
    return [{**record, "cost": record["cost"] * (1 + share / 100)} for record in night]


def twelve() -> list[list[object]]:
    """Twelve nights of three suites against the last five nights of their history: exit code,
    verdict, and whether a comment contains it."""
    rng = np.random.default_rng(43)
    p = {name: rates(rng) for name in "abc"}
    last: dict[str, Night] = {}
    rows: list[list[object]] = []
    for number, event in enumerate(TWELVE, 1):
        night_of_suite = {name: priced(rng, task_rates) for name, task_rates in p.items()}
        second_model = [{**record, "model": "o"} for record in priced(rng, p["a"])]
        night_of_suite["a"] = night_after(
            event, night_of_suite["a"], last.get("a", []), rng, p["a"]
        )
        night_of_suite["a"] += [] if event.startswith("a copy") else second_model
        for name, night in night_of_suite.items():
            write_records(night, Path(f"{name}.jsonl"))
        if event.endswith("read"):
            Path("a.jsonl").write_text('{"task": ')
        aliases = 'aliases = {m = "m-v2"}\n' if event.startswith("so, with") else ""
        suites = (f'[[suite]]\nname = "{name}"\nruns = "{name}.jsonl"\n'
                  f'baseline = "h.parquet:{name}:last5"\n' for name in p)  # fmt: skip
        Path("passk.toml").write_text("\n".join([BOOK, aliases,
                                                *suites]))  # fmt: skip
        code, line = ask("--rules", "passk.toml", "-o", "comment.md", "-o", "gate.json")
        line = line.removeprefix("passk: ")
        document = json.loads(Path("gate.json").read_text())
        warned = [m["name"] for m in document["messages"] if m["severity"] == "warning"]
        comment = Path("comment.md").read_text()
        reported = re.sub(r"\W+", "", line)[:45] in re.sub(r"\W+", "", comment)
        rows.append([number, event, code, line.replace("|", "/"), ", ".join(dict.fromkeys(warned)),
                     "yes" if reported else "no"])  # fmt: skip
        if event in ("the first night", "nothing"):
            for name, night in night_of_suite.items():
                passk_cli.record(night, to="h.parquet", at=f"r{number}", suite=name,
                                 date=f"2026-01-{number:02}", columns=["cost"])  # fmt: skip
                last[name] = night
    return rows


# Kinds of rules, each with a limit at the true value if the rule has a limit.
KINDS: dict[str, dict[str, Any]] = {
    "max-drop pass@1=0": {"max_drop": {"pass@1": 0}},
    "max-drop pass@1=0.05": {"max_drop": {"pass@1": 0.05}},
    "max-drop pass@1=5%": {"max_drop": {"pass@1": "5%"}},
    "no-regression of 2 metrics": {"no_regression": True, "metrics": "pass@1,pass^5"},
    "max-increase cost=10%": {"max_increase": {"cost": "10%"}},
    "min, the true rate": {"minimum": True},
    "min-by estimate, the true rate": {"minimum": True, "min_by": "estimate"},
    "min-each 0.05": {"min_each": 0.05},
    "must-pass of 3 tasks": {"must_pass": PASSING},
    "every baseline task and attempt": {"attempts": ATTEMPTS},
}


def unchanged(number: int) -> list[list[object]]:
    """Verdicts of each kind of rule for nights without a change. All but two should not fail."""
    rng, alarms = np.random.default_rng(44), {name: list[str]() for name in KINDS}
    for _ in range(number):
        p = rates(rng)
        new, old = (priced(rng, p) for _ in range(2))
        for name, options in KINDS.items():
            least = {"minimum": {"pass@1": float(np.mean(p))}} if "minimum" in options else {}
            with warnings.catch_warnings(action="ignore"):
                frame = passk_cli.gate(new, baseline=old, **{**options, **least}).frame
            rules = frame if "attempts" in options else frame[~frame.rule.str.startswith("every ")]
            verdicts = set(rules.verdict)
            alarms[name].append(
                next(v for v in ("fail", "error", "undecided", "pass") if v in verdicts)
            )
    return [
        [name, *(f"{100 * verdicts.count(v) / number:.1f}" for v in ("fail", "undecided", "pass"))]
        for name, verdicts in alarms.items()
    ]


def histories(number: int) -> None:
    """The tables of twelve nights and of unchanged ones."""
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        head = ["night", "suite a", "exit", "verdict", "warnings", "in the comment"]
        keep("twelve", table(head, twelve()), "nights.md")
    head = ["rule", "fails %", "undecided %", "passes %"]
    keep("unchanged", table(head, unchanged(number)), "nights.md")


def main() -> None:
    if "--histories" in sys.argv:
        histories(200)
        return
    rng = np.random.default_rng(25)
    p = rates(rng)
    rows: list[list[object]] = []
    in_file: list[list[object]] = []
    silent = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        write_records(sampled(rng, p), folder / "old.jsonl")
        variants = nights(rng, p)
        runs = {}
        for place, (night, (records, options)) in enumerate(variants.items()):
            write_records(records, folder / f"night{place}.jsonl")
            runs[night] = [f"m=night{place}.jsonl", *options]
        complete = variants["nothing"][0]
        for place, broken in enumerate((None, "", "{}", "[]")):
            as_files(complete, folder / f"files{place}", broken)
        runs["a file per task"] = ["m=files0"]
        write_records([], folder / "empty.jsonl")
        runs["the only file is empty"] = ["m=empty.jsonl"]
        runs["so, --skip-bad"] = ["m=empty.jsonl", "--skip-bad"]
        for place, description in enumerate(("is empty", "is {}", "is []"), 1):
            runs[f"one of these files {description}"] = [f"m=files{place}"]
            runs[f"so, --skip-bad ({description})"] = [f"m=files{place}", "--skip-bad"]
        # Each of two baselines contains half of the tasks, and the new run lost the first half.
        half = [record for record in complete if record["task"] >= "t20"]
        write_records(half, folder / "half.jsonl")
        old = [json.loads(line) for line in (folder / "old.jsonl").read_text().splitlines()]
        for part, low in (("low.jsonl", True), ("high.jsonl", False)):
            write_records([r for r in old if (r["task"] < "t20") == low], folder / part)
        for night, run in runs.items():
            row: list[object] = [night]
            for rule in RULES.values():
                code, line = ask(*run, *rule)
                row.append(judged(code, line))
                if row[-1] == "PASS" and night not in ("nothing", "a file per task"):
                    silent.append(f"{night}: {rule}: {line}")
            rows.append(row)
            print(row, file=sys.stderr)
            cells = ask_file({name: [*run, *rule] for name, rule in RULES.items()})
            in_file.append([night, *cells.values()])
            if "PASS" in cells.values() and night not in ("nothing", "a file per task"):
                silent.append(f"{night}: --rules: {cells}")
        two = ["--baseline", "low.jsonl", "--baseline", "high.jsonl"]
        row = ["half of the tasks lost, two baselines"]
        for rule in RULES.values():
            parts = [*two, *rule[2:]] if rule[0] == "--baseline" else rule
            code, line = ask("m=half.jsonl", *parts)
            row.append(judged(code, line))
            if row[-1] == "PASS" and rule[0] == "--baseline":
                silent.append(f"two baselines: {rule}: {line}")
        rows.append(row)
    parts = {"attempts": rows[:8], "outcomes": rows[8:14], "files": rows[14:]}
    parts |= {"rules": in_file[:8], "rules-outcomes": in_file[8:14], "rules-files": in_file[14:]}
    for section, text in parts.items():
        keep(section, table(["night", *RULES], text), "nights.md")
    print(*silent, sep="\n")
    sys.exit(bool(silent))


if __name__ == "__main__":
    main()
