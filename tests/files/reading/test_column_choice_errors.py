"""Tests of the screen of a refusal: its contents, and the effect of each option."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

import passk_cli
from passk_cli import DataError, read
from tests.conftest import Passk, Write, jsonl, mark_long_except
from tests.files.reading.shapes import ATTEMPTS, NEAR, SHAPES, TASKS, USUAL, passes

Document = Any


def options_of_screen(stderr: str) -> list[str]:
    """Each option of the screen, as it is typed."""
    line = r"(?m)^  (?:records|task|outcome|counts|model|setting|) +(--.*)$"
    texts = (re.split(r"  +", text)[0] for text in re.findall(line, stderr))
    ways = re.findall(r"(?:; | or )(--(?:passes|threshold) \S+)", stderr)
    return [" ".join(shlex.split(text)) for text in (*texts, *ways)]


def commands(stderr: str) -> list[list[str]]:
    """The complete commands of a refusal, except for the one that writes a map."""
    printed = re.findall(r"(?m)^  passk (.*)$", stderr)
    split = (shlex.split(line, comments=True) for line in printed)
    return [words for words in split if "--init" not in words]


def rate(output: str) -> list[Fraction]:
    """The pass@1 of each model, as JSON has it."""
    return sorted(Fraction(row["estimate"]).limit_denominator(1000)
                  for row in json.loads(output)["rows"])  # fmt: skip


# Name → document, the options that read it, and the pass rate of the first model.
CASES: dict[str, tuple[Document, str, Fraction]] = {
    "keys that part the tasks are no models": (
        {part: [{"id": f"{part}_{i}", "valid": i < k} for i in range(6)]
         for k, part in enumerate(("simple", "several", "parallel"), 1)},
        "--records {part} --field outcome=valid",
        Fraction(1, 3),
    ),
    "keys that are called as models are models": (
        {m: {"marks": {f"t{i}": {"passed": i > 0} for i in range(4)}}
         for m in ("gpt-4o", "claude-3-opus")},
        "--records {model}.marks.{task}",
        Fraction(3, 4),
    ),
    "columns below a key": (
        {"about": {"acc": 0.5}, "all": {"questions": [*"abcd"], "correct": [True, False] * 2}},
        "--records all",
        Fraction(1, 2),
    ),
    "deep flags are properties, and failures alone no attempts": (
        {"canon": {"profile": {"pure": True, "typed": True, "fast": False}},
         "failed_cases": [{"test_id": f"t{i}", "passed": False} for i in range(3)],
         "runs": {"cases": [{"test_id": f"t{i}", "passed": i > 2} for i in range(12)]}},
        "--records runs.cases",
        Fraction(3, 4),
    ),
    "runs by name, beside other keys": (
        {"at": "May", "tests": {"p": 1}} | {
            m: {"rate": k, "rows": [{"pid": f"p{i}", "ok": i > k} for i in range(6)]}
            for k, m in enumerate("ab")
        },
        "--records {model}.rows --field task=pid --field outcome=ok",
        Fraction(5, 6),
    ),
    "each model once at each": (
        jsonl([{"llm": m, "stack": s, "directory": m + s, "success": (ord(m) + ord(s)) % 2 == 0}
               for m in "pqr" for s in ("ab" if m == "r" else "abcd")]),
        "--field task=stack",
        Fraction(1, 2),
    ),
    "counts of tasks of any name": (
        jsonl([{"concept": c, "model_id": m, "n_success": len(c) % 5, "n_trials": 8}
               for m in "ab" for c in ("Dust", "Avalanche", "Trees", "Origami", "Sea", "Bread")]),
        "--field task=concept",
        Fraction(13, 48),
    ),
    "grades that pass or fail more or less": (
        jsonl([{"test_id": i, "grade": ("PASS", "SOFT_FAIL", "HARD_FAIL")[i % 3]}
               for i in range(12)]),
        "--field outcome=grade --passes PASS",
        Fraction(1, 3),
    ),
    "a score of the highest": (
        jsonl([{"task": {"id": f"t{i}"}, "score": {"score": float(i % 4), "max_score": 3.0,
               "results": [{"check": "x", "passed": i % 4 > 1}, {"check": "y", "passed": True}]}}
               for i in range(12)]),
        "--field task=task.id --field outcome=score.score --threshold 3.0",
        Fraction(1, 4),
    ),
    "points of what they are at most": (
        jsonl([{"task": f"t{i}", "points": i % 6, "max": 5} for i in range(12)]),
        "--field outcome=points --threshold 5.0",
        Fraction(1, 6),
    ),
    "names and words of Chinese": (
        jsonl([{"编号": f"q{i}", "模型": "m", "是否正确": ("正确", "错误")[i % 3 > 0]}
               for i in range(12)]),
        "--field task=编号 --field outcome=是否正确 --field model=模型",
        Fraction(1, 3),
    ),
    "games": (
        jsonl([{"game_id": f"g{i}", "player": "x", "result": ("win", "loss", "draw")[i % 3]}
               for i in range(12)]),
        "--field task=game_id --passes win",
        Fraction(1, 3),
    ),
    "a record in a list": (
        jsonl([{"example_id": i, "infos": [{"r": int(i < 2), "steps": 5}]} for i in range(50)]),
        "--field outcome=infos.r --passes 1",
        Fraction(1, 25),
    ),
    "attempts in a list": (
        jsonl([{"task": i, "tries": [{"ok": i % 4 == j} for j in range(4)]} for i in range(8)]),
        "--field outcome=tries.ok",
        Fraction(1, 4),
    ),
    "a list inside a record": (
        jsonl([{"task": i, "e": {"s": [{"ok": True}, {"ok": i > 2}]}} for i in range(4)]),
        "--field outcome=e.s[].ok",
        Fraction(5, 8),
    ),
    "flags inside a record": (
        jsonl([{"task": i, "e": {"flags": [True, i > 2]}} for i in range(4)]),
        "--field outcome=e.flags[] --passes true",
        Fraction(5, 8),
    ),
    "a record in a record": (
        jsonl([{"task": i, "eval": {"grade": {"correct": i == 1}}} for i in range(4)]),
        "--field outcome=eval.grade.correct",
        Fraction(1, 4),
    ),
    "an outcome that is a record": (
        jsonl([{"task": i, "result": {"passed": i == 1, "log": "x"}} for i in range(4)]),
        "--field outcome=result.passed",
        Fraction(1, 4),
    ),
    "an empty outcome beside the real one": (
        jsonl([{"task": i, "score": None, "eval": {"passed": i == 1}} for i in range(4)]),
        "--field outcome=eval.passed",
        Fraction(1, 4),
    ),
    "an outcome that is missing where another is not": (
        jsonl([{"task": i, "passed": True if i else None, "eval": {"passed": i > 0}}
               for i in range(4)]),
        "--field outcome=eval.passed",
        Fraction(3, 4),
    ),
    "task and outcome in records": (
        jsonl([{"doc": {"id": f"q{i}"}, "res": {"ok": i == 1}} for i in range(4)]),
        "--field task=doc.id --field outcome=res.ok",
        Fraction(1, 4),
    ),
    "a list in each line": (
        jsonl([{"model": m, "results": [{"task": i, "passed": i == 1} for i in range(4)]}
               for m in "ab"]),
        "--records results",
        Fraction(1, 4),
    ),
    "an average and a list per model": (
        [{"model": m, "accuracy": 0.25, "details": [{"puzzle": f"t{i}", "solved": i == 1}
                                                    for i in range(4)]} for m in "ab"],
        "--records details --field task=puzzle",
        Fraction(1, 4),
    ),
    "a list of records in one line": (
        jsonl([{"config": {"of": "x"}, "results": [{"case": i, "ok": i == 1} for i in range(4)]}]),
        "--records results --field outcome=ok",
        Fraction(1, 4),
    ),
    "a mapping in each line": (
        jsonl([{"model": m, "tasks": {f"t{i}": {"ok": i == 1} for i in range(4)}} for m in "ab"]),
        "--records tasks.{task} --field outcome=ok",
        Fraction(1, 4),
    ),
    "a list below keys": (
        {"config": {"model": "m"}, "data": {"runs": [{"id": i, "ok": i == 1} for i in range(4)]}},
        "--records data.runs --field outcome=ok",
        Fraction(1, 4),
    ),
    "tasks to lists": (
        {"meta": {"of": "m"}, "by_task": {f"t{i}": [{"passed": i == j} for j in range(3)]
                                          for i in range(4)}},
        "--records by_task.{task}",
        Fraction(1, 4),
    ),
    "tasks to records": (
        {f"t{i}": {"ok": i == 1, "seconds": 2} for i in range(4)},
        "--records {task} --field outcome=ok",
        Fraction(1, 4),
    ),
    "tasks to records in records": (
        {f"t{i}": {"report": {"resolved": i == 1}, "seconds": 2} for i in range(4)},
        "--records {task} --field outcome=report.resolved",
        Fraction(1, 4),
    ),
    "tasks to numbers": (
        {"scores": {f"t{i}": int(i == 1) for i in range(4)}, "tasks": 4},
        "--records scores.{task}",
        Fraction(1, 4),
    ),
    "tasks to attempts": (
        {f"t{i}": {"0": True, "1": i == 1} for i in range(4)},
        "--records {task}.{attempt}",
        Fraction(5, 8),
    ),
    "models to runs to tasks": (
        {m: {f"seed{s}": {f"t{i}": {"passed": (i + s) % 4 == 1} for i in range(4)}
             for s in range(2)} for m in ("x", "y")},
        "--records {model}.{attempt}.{task}",
        Fraction(1, 4),
    ),
    "models to tasks": (
        {"results": {m: {f"t{i}": {"passed": i == 1} for i in range(4)} for m in ("x", "y")}},
        "--records results.{model}.{task}",
        Fraction(1, 4),
    ),
    "a model with a dot in its name": (
        {"results": {"x-4.1": {f"t{i}": {"passed": i == 1} for i in range(4)}}},
        "--records results.{model}.{task}",
        Fraction(1, 4),
    ),
    "models to lists": (
        {"runs": {m: [{"task_id": i, "correct": i == 1} for i in range(4)] for m in ("x", "y")}},
        "--records runs.{model}",
        Fraction(1, 4),
    ),
    "models to lists of cases": (
        {"runs": {m: [{"test_case": f"c{i}", "ok": i == 1} for i in range(4)] for m in ("x", "y")}},
        "--records runs.{model} --field task=test_case --field outcome=ok",
        Fraction(1, 4),
    ),
    "records with attempts in a list": (
        {"all": {"tasks": [{"name": f"t{i}", "trials": [{"reward": 1}, {"reward": int(i == 1)}]}
                           for i in range(4)]}},
        "--records all.tasks --field outcome=trials.reward",
        Fraction(5, 8),
    ),
    "a column of ids under a name of its own": (
        {"summary": {"accuracy": 0.25}, "details": [
            {"qid": f"q{i}", "verdict": {"is_correct": i == 1}} for i in range(4)]},
        "--field task=qid --field outcome=verdict.is_correct",
        Fraction(1, 4),
    ),
    "turns below an outcome": (
        jsonl([{"test_case": f"c{i}", "oracle_pass": i == 1, "turns": [{"status": "success"}] * 3}
               for i in range(4)]),
        "--field task=test_case --field outcome=oracle_pass",
        Fraction(1, 4),
    ),
    "a model that is a record": (
        jsonl([{"task": i, "passed": i == 1, "model": {"name": m, "size": 7}}
               for m in "xy" for i in range(4)]),
        "--field model=model.name",
        Fraction(1, 4),
    ),
    "two outcomes": (
        jsonl([{"task": i, "status": "success", "passed": i == 1} for i in range(4)]),
        "--field outcome=passed",
        Fraction(1, 4),
    ),
    "a task beside its attempts": (
        jsonl([{"scenario": f"s{i}", "reps": [{"rep": j, "won": i == j} for j in range(4)]}
               for i in range(4)]),
        "--field task=scenario --field outcome=reps.won",
        Fraction(1, 4),
    ),
    "answers beside what was expected": (
        jsonl([{"id": f"q{i}", "label": "ABCD"[i % 4], "prediction": "abc "[i % 3].upper()}
               for i in range(24)]),
        "--field outcome=prediction==label",
        Fraction(1, 4),
    ),
    "answers and what was expected in records": (
        jsonl([{"doc": {"id": i, "gold": i % 3}, "response": {"answer": i % 2}}
               for i in range(12)]),
        "--field task=doc.id --field outcome=response.answer==doc.gold",
        Fraction(1, 3),
    ),
    "a verdict that was expected": (
        jsonl([{"task": i, "expected": ("comply", "refuse")[i % 2], "result": "refuse"}
               if i % 4 else {"task": i, "expected": "comply", "result": "comply"}
               for i in range(12)]),
        "--field outcome=result==expected",
        Fraction(3, 4),
    ),
    "counts of passing attempts beside rates": (
        jsonl([{"test_case": f"c{i}", "n_attempted": 4, "n_passing": i % 3,
                "pass_at_1": float(i % 3 > 0)} for i in range(6)]),
        "--field task=test_case",
        Fraction(1, 4),
    ),
    "runs of models, each with its tasks": (
        {"runs": [{"provider_id": f"at/{m}", "model": m, "samples": [
            {"id": f"test-{i}", "said": "x", "passed": i == 1} for i in range(4)]} for m in "ab"]},
        "--records runs.samples --field task=id",
        Fraction(1, 4),
    ),
    "attempts of agents beside their sums": (
        {"episodes": 2, "agents": {a: {"agent": a, "overall": {"n": 8, "rate": 0.25},
                                       "_raw": [{"task_id": f"t{i % 4}", "solved": i % 4 == 1}
                                                for i in range(8)]} for a in "xyz"}},
        "--records agents.{model}._raw --field model=agent",
        Fraction(1, 4),
    ),
    "an expected result and the actual one": (
        jsonl([{"test_case": f"c{i}", "expected": "xyz"[i % 3], "actual": "xyz"[i % 2]}
               for i in range(12)]),
        "--field task=test_case --field outcome=actual==expected",
        Fraction(1, 3),
    ),
    "counts without a task's name": (
        jsonl([{"test_case": f"c{i}", "n": 4, "c": i % 3} for i in range(6)]),
        "--field task=test_case",
        Fraction(1, 4),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("case", mark_long_except(CASES, *[*CASES][::3]))
def test_the_options_of_the_screen_read_the_file(passk: Passk, write: Any, case: str) -> None:
    document, options, expected = CASES[case]
    delimited = isinstance(document, str) and document[0] not in "[{"
    text = document if isinstance(document, str) else json.dumps(document)
    path = write("m.csv" if delimited else "m.json", text)
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    selection = [" ".join(pair) for pair in zip(*[iter(options.split())] * 2, strict=True)]
    assert {*selection} <= {*options_of_screen(result.err)}, result.err
    typed = passk("estimate", path, "-k", "1", "-f", "json", "-q", *options.split())
    assert (typed.code, expected in rate(typed.out)) == (0, True), typed.err
    for words in commands(result.err):
        complete = passk(*words, "-k", "1", "-f", "json", "-q")
        assert (complete.code, expected in rate(complete.out)) == (0, True), words


@pytest.mark.parametrize("names", [USUAL, NEAR], ids=["usual", "near"])
@pytest.mark.parametrize("shape", mark_long_except(SHAPES, *[*SHAPES][:2]))
def test_a_complete_command_counts_right(
    passk: Passk, write: Write, shape: str, names: Mapping[str, str]
) -> None:
    models, attempts = SHAPES[shape]
    name, text = attempts(names)
    path = write(name, text)
    result = passk("estimate", path, "-k", "1", "-f", "json", "-q")
    expected = sorted(
        Fraction(sum(passes(t, a, m) for t in range(len(TASKS)) for a in ATTEMPTS), 24)
        for m in range(models)
    )
    printed = [result] if result.code == 0 else [passk(*words) for words in commands(result.err)]
    if names is not NEAR and "  --records entries " in result.err:
        # Only the place of the records is missing, and the screen names it.
        printed.append(passk("estimate", path, "--records", "entries", *"-k 1 -f json -q".split()))
    assert names is NEAR or printed, result.err
    for rates in printed:
        assert rate(rates.out) == expected


# Short examples of documents that tools write and that are not results.
POINT = {"type": "Point", "coordinates": [1.0, 2.0]}
LOCATION = {"start": {"line": 1, "column": 0}, "end": {"line": 1, "column": 9}}
SHARE = {"total": 10, "covered": 5, "skipped": 0, "pct": 50}
NO_RESULTS: dict[str, Document] = {
    "package": {"name": "app", "private": True, "scripts": {"test": "jest"},
                "dependencies": {"react": "^18", "next": "14"}},
    "lock file": {"name": "app", "lockfileVersion": 3, "requires": True, "packages": {
        "": {"name": "app", "version": "1"},
        "node_modules/a": {"version": "1", "license": "MIT", "dev": True},
        "node_modules/b": {"version": "2", "license": "MIT", "dev": True, "optional": True}}},
    "coverage of istanbul": {f"/src/{n}.js": {
        "path": n, "statementMap": {"0": LOCATION, "1": LOCATION}, "s": {"0": 1, "1": 7},
        "fnMap": {"0": {"name": "f", "line": 1}}, "f": {"0": 1}, "branchMap": {}, "b": {}}
        for n in "abc"},
    "coverage summary": {k: {"lines": SHARE, "branches": SHARE} for k in ("total", "a.js", "b.js")},
    "coverage of Python": {"meta": {"version": "7.4", "branch_coverage": False}, "files": {
        f"a{i}.py": {"executed_lines": [1, 2], "missing_lines": [], "summary": {
            "covered_lines": 2, "percent_covered": 100.0, "missing_lines": 0}}
        for i in range(3)}, "totals": {"covered_lines": 6, "num_statements": 6}},
    "coverageSummary": {"success": True, "numTotalTests": 3, "numPassedTests": 2,
                        "coverageSummary": {"lines": {"total": 10, "covered": 5},
                                            "branches": {"total": 1, "covered": 1}}},
    "tsconfig": {"compilerOptions": {"target": "ES2020", "strict": True, "noEmit": False,
                                     "paths": {"@/*": ["./src/*"]}}, "include": ["src"]},
    "notebook": {"cells": [{"cell_type": "code", "id": f"c{i}", "execution_count": i,
                            "metadata": {"scrolled": bool(i)}, "source": ["x"], "outputs": []}
                           for i in range(3)], "metadata": {}, "nbformat": 4},
    "OpenAPI": {"openapi": "3.0.0", "info": {"title": "T"}, "paths": {
        f"/p{i}": {"get": {"operationId": f"o{i}", "deprecated": bool(i), "parameters": [
            {"name": "limit", "in": "query", "required": True},
            {"name": "tag", "in": "query", "required": False}]}} for i in range(2)}},
    "GeoJSON": {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": f"f{i}", "geometry": POINT,
         "properties": {"name": f"n{i}", "capital": bool(i % 2)}} for i in range(4)]},
    "model": {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "hidden_size": 4096,
              "model_type": "llama", "rope_scaling": {"factor": 8.0, "type": "linear"}},
    "tokenizer": {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}},
                  "added_tokens": [{"id": i, "content": f"<{i}>", "normalized": bool(i % 2),
                                    "special": True} for i in range(4)]},
    "training": {"best_metric": None, "epoch": 3.0, "is_local_process_zero": True,
                 "log_history": [{"epoch": i, "loss": 1.0 / i, "step": i} for i in range(1, 5)]},
    "data set": {"default": {"features": {"question": {"dtype": "string"}},
                             "splits": {"test": {"num_examples": 10}}, "download_size": 1}},
    "linter": [{"filePath": f"/a{i}.js", "errorCount": i, "warningCount": 0, "messages": [
        {"ruleId": "no-x", "severity": 2, "line": 1}]} for i in range(3)],
    "continuous integration": {"id": 1, "name": "CI", "status": "completed", "jobs": [
        {"id": 1, "name": "build", "status": "completed", "conclusion": "success", "steps": [
            {"name": "s", "status": "completed", "conclusion": "success", "number": 1}]}]},
    "users": [{"id": i, "name": f"u{i}", "active": bool(i % 2), "age": 20 + i} for i in range(5)],
    "vocabulary": {"a": 0, "b": 1, "c": 2},
}  # fmt: skip
LOGS = {
    "log": [{"ts": f"00:0{i}", "level": "info", "status": 200 + i, "ok": bool(i % 2)}
            for i in range(6)],
    "chats": [{"messages": [{"role": "user", "content": "x"},
                            {"role": "assistant", "content": "y", "weight": i % 2}]}
              for i in range(6)],
}  # fmt: skip


@pytest.mark.parametrize("name", [*NO_RESULTS, *LOGS])
def test_a_file_without_results_gets_no_command(passk: Passk, write: Any, name: str) -> None:
    text = jsonl(LOGS[name]) if name in LOGS else json.dumps(NO_RESULTS[name])
    result = passk("estimate", write("m.json", text))
    assert (result.code, result.out, commands(result.err)) == (3, "", [])


# Name → records, options that are listed, and options that are not.
LISTED: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "an outcome that is equal in every repeat": (
        [{"id": f"q{i}", "citation_ok": i % 4 > 0, "grounded_ok": i > 0}
         for i in range(12) for _ in range(3)],
        ["--field outcome=citation_ok", "--field outcome=grounded_ok"], [],
    ),
    "uneven repeats next to an inner list": (
        [{"id": f"q{i % 5}", "citation_ok": i % 3 > 0,
          "citations": [{"doc_id": f"d{k}", "title": f"t{k}"} for k in range(i % 4)]}
         for i in range(22)],
        ["--field outcome=citation_ok"], ["--records citations"],
    ),
    "a repetition's number is not a task": (
        [{"url": f"https://s{i}", "runs": [{"index": k, "status": ("failed", "success")[k > i]}
                                           for k in range(3)]} for i in range(2)],
        ["--field task=url"], ["--field task=index"],
    ),
    "a consequence is not a setting": (
        [{"kernel_id": f"k{i % 8}", "correct": i % 3 > 0, "severity": ("low", "high")[i % 3 > 0]}
         for i in range(16)],
        [], ["--by severity"],
    ),
    "predictions and a mock are not verdicts": (
        [{"task": f"t{i}", "pred_label": "ab"[i % 2], "mock": i % 2 > 0, "is_right": i % 3 > 0}
         for i in range(12)],
        ["--field outcome=is_right"], ["--field outcome=pred_label", "--field outcome=mock"],
    ),
    "one entry of a list of scorers": (
        [{"id": f"q{i}", "scores": [{"name": "correct", "value": i % 2},
                                    {"name": "short", "value": int(i % 3 > 0)}]}
         for i in range(12)],
        ["--field outcome=scores[name=correct].value"], ["--field outcome=scores.value"],
    ),
    "how a run ended, which never varies": (
        [{"task": f"t{i}", "state": "done", "went_right": i % 3 > 0} for i in range(9)],
        ["--field outcome=went_right"], ["--field outcome=state"],
    ),
    "counts by value": (
        [{"suite_task": f"t{i}", "episodes": 10, "successes": i} for i in range(6)],
        ["--field n=episodes --field c=successes"], ["--field outcome=successes"],
    ),
    **{
        f"columns of attempts named {name}": (
            [{"task": f"t{i}", **{name.format(a): i * a % 3 % 2 for a in range(4)}}
             for i in range(12)],
            [f"--field outcome={','.join(name.format(a) for a in range(4))}"],
            ["--field model=@column", f"--field outcome={name.format(1)}"],
        )
        for name in ("{}", "attempt_{}", "run{}", "trial-{}", "sample_{}_passed")
    },
    "a list in each record next to an average": (
        [{"name": m, "accuracy": 0.25, "details": [{"puzzle": f"t{i}", "solved": i == 1}
                                                   for i in range(4)]} for m in "ab"],
        ["--records details", "--field task=name"], [],
    ),
    "columns of models": (
        [{"task": f"t{i}", "alpha": i % 2, "beta": int(i % 3 > 0)} for i in range(12)],
        ["--field outcome=alpha,beta --field model=@column"], [],
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("case", mark_long_except(LISTED, *[*LISTED][::3]))
def test_the_screen_lists_the_possible_roles(passk: Passk, write: Any, case: str) -> None:
    records, options, rivals = LISTED[case]
    path = write("m.jsonl", jsonl(records))
    result = passk("estimate", path)
    assert result.code == 3, result.out
    printed = options_of_screen(result.err)
    assert {*options} <= {*printed}, result.err
    assert not {*rivals} & {*printed}, result.err
    for option in options:
        typed = passk("estimate", path, *option.split(), "-q")
        assert typed.error not in ("no-such-column", "internal")


REFUSED = [
    ("preferences", [{"prompt": f"p{i}", "winner": "ab"[i % 2]} for i in range(9)]),
    ("preferences", [{"id": i, "model_x": "m", "model_y": "n", "preferred": "mn"[i % 2]}
                     for i in range(9)]),
    ("summary", [{"controller": c, "success_rate": 62.5 + i} for i, c in enumerate("abc")]),
    ("summary", [{"model": c, "pass@5": 0.5 + i / 9} for i, c in enumerate("abc")]),
    ("no-outcome-column", [{"prompt": f"p{i}", "reply": f"r{i}"} for i in range(9)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "records"), REFUSED)
def test_files_without_outcomes_are_refused_by_name(
    passk: Passk, write: Any, name: str, records: list[dict[str, Any]]
) -> None:
    result = passk("estimate", write("m.jsonl", jsonl(records)))
    assert (result.code, result.error, commands(result.err), options_of_screen(result.err)) == (
        3,
        name,
        [],
        [],
    )


def test_counts_per_model_are_not_read_with_models_as_tasks(passk: Passk, write: Any) -> None:
    rows = [
        {"model": m, "tot_completions": 1000, "tot_correct": c} for m, c in (("a", 48), ("b", 210))
    ]
    result = passk("estimate", write("m.jsonl", jsonl(rows)))
    assert (result.error, commands(result.err)) == ("no-task-column", [])
    assert "--field n=tot_completions --field c=tot_correct" in options_of_screen(result.err)


def test_an_error_in_python_carries_its_candidates() -> None:
    records = [{"test_case": f"c{i}", "verdict": i % 3 > 0} for i in range(9)]
    with pytest.raises(DataError) as error:
        passk_cli.estimate(records)
    (outcome,) = error.value.candidates["outcome"]
    assert (outcome.column, outcome.values_summary) == ("verdict", "6 true, 3 false")
    assert any("outcome" in note for note in error.value.__notes__)
    (task,) = error.value.candidates["task"]
    counts = read(records, fields={"task": task.column, "outcome": outcome.column})
    assert (counts.n.sum(), counts.c.sum()) == (9, 6)


def test_describe_lists_every_column_of_a_file_that_cannot_be_read(
    passk: Passk, write: Any
) -> None:
    rows = [{"test_case": f"c{i}", "went_right": i % 3 > 0, "note": f"n{i}",
             **{f"flag_{k}_ok": i % (k + 2) > 0 for k in range(9)}} for i in range(12)]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    short, screen = passk("estimate", path).err, passk("describe", path).err
    full = passk("describe", path, "--full").err
    assert "and 2 more" in short
    assert "and 2 more: --full" in screen
    assert " more: --full" not in full
    assert "flag_8_ok" in full
    for text in (screen, full):
        assert re.search(r"(?m)^  column +note +1 n0, 1 n1, 1 n2, 9 more$", text)


@pytest.mark.long
def test_describe_of_many_columns_is_one_screen(
    passk: Passk, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [{"case": f"c{i}", **{f"word_{k}": f"{'long ' * 9}{i * k % 5}" for k in range(40)},
             **{f"flag_{k}_ok": i % (k + 2) > 0 for k in range(9)}} for i in range(30)]  # fmt: skip
    unread = passk("describe", write("a.jsonl", jsonl(rows))).err
    path = write("b.jsonl", jsonl(rows))
    monkeypatch.chdir(path.parent)
    short = passk("describe", path.name, "--outcome", "flag_1_ok").out
    for text in (unread, short):
        # The sentence on the first line, and commands on the last one, are wrapped by terminals.
        screen = [line for line in text.splitlines()[1:] if not line.startswith("  passk")]
        assert len(screen) <= 25
        assert max(map(len, screen)) <= 80
        assert "--full" in text
    full = passk("describe", path, "--outcome", "flag_1_ok", "--full").out
    assert all(f"word_{k}" in full for k in range(40))


def test_describe_shows_the_candidates_of_a_file_that_is_read(passk: Passk, write: Any) -> None:
    rows = [{"task": f"t{i // 2}", "passed": i % 2 > 0, "compiles": i % 3 > 0,
             "prompt": f"p{i // 3}", "effort": ("low", "high")[i % 2], "seconds": i}
            for i in range(12)]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    result = passk("describe", path, "--by", "effort")
    table = result.out.partition("Columns by role\n")[2].splitlines()[1:7]
    assert [line[:10].strip() for line in table] == [
        "task", "outcome", "setting", "or outcome", "or task", ""
    ]  # fmt: skip
    options = [re.search(r"--\S+ \S+", line) for line in table[3:5]]
    selection = " ".join(option[0] for option in options if option)
    assert selection == "--field outcome=compiles --field task=prompt"
    choices = json.loads(passk("describe", path, "--by", "effort", "-f", "json").out)["columns"]
    assert [choice["column"] for choice in choices if choice["used"]] == [
        "task",
        "passed",
        "effort",
    ]
    again = passk("estimate", path, "--by", "effort", *selection.split()[:2], "-f", "json")
    assert rate(again.out) == [Fraction(2, 3), Fraction(2, 3)]
    with pytest.warns(passk_cli.PasskWarning):
        assert 'fields={"outcome": "compiles"}' in str(passk_cli.describe(path))
