"""Readings of files whose columns have other names or lie deeper: what is proposed is run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli import DataError, read
from passk_cli.files.database import ours
from passk_cli.files.reading.spool import _Sheets
from passk_cli.files.request import Request
from passk_cli.settle import Settle
from tests.conftest import Passk, long, only
from tests.files.reading.shapes import (
    ATTEMPTS,
    NEAR,
    OWN,
    SHAPES,
    TASKS,
    USUAL,
    lines,
    passes,
    rows,
)
from tests.proposals import commands, run_calls, run_printed

Document = Any


def rate(path: Path, **options: Any) -> Fraction:
    """Passes of the first model among its attempts."""
    counts = read(path, **options)
    own = counts.rows_of(0)
    return Fraction(int(counts.c[own].sum()), int(counts.n[own].sum()))


def counted(counts: passk_cli.Counts) -> tuple[int, list[int]]:
    """How many tasks there are, and the passes of each model, sorted."""
    passed = (int(counts.c[counts.rows_of(i)].sum()) for i in range(len(counts.series)))
    return len(counts.tasks), sorted(passed)


@pytest.mark.parametrize("names", [USUAL, NEAR, OWN], ids=["usual", "near", "own"])
@pytest.mark.parametrize("shape", only(SHAPES, *[*SHAPES][:2]))
def test_a_shape_is_read_at_once_or_by_the_first_proposal(
    passk: Passk, tmp_path: Path, shape: str, names: Mapping[str, str]
) -> None:
    models, made = SHAPES[shape]
    name, text = made(names)
    path = tmp_path / name
    path.write_text(text)
    expected = [sum(passes(t, a, m) for t in range(len(TASKS)) for a in ATTEMPTS)
                for m in range(models)]  # fmt: skip
    try:
        counts = read(path)
    except DataError as error:
        done = passk("estimate", path)
        assert (done.code, done.out) == (3, "")
        first, *_ = run_printed(passk, done.err, "-k", "1", "-f", "json", "-q")
        printed = sorted(row["estimate"] for row in json.loads(first.out)["rows"])
        assert printed == pytest.approx(sorted(passed / 24 for passed in expected))
        counts, *_ = run_calls(error)
    assert counted(counts) == (len(TASKS), sorted(expected))


# Name → document, what is proposed first, and the pass rate of the first model in all.
CASES: dict[str, tuple[Document, str, Fraction]] = {
    "keys that part the tasks are no models": (
        {part: [{"id": f"{part}_{i}", "valid": i < k} for i in range(6)]
         for k, part in enumerate(("simple", "several", "parallel"), 1)},
        "--records {category} --field outcome=valid",
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
    # As verifiers writes them: a published 0.040 read as 0.000 with --missing fail.
    "runs by name, beside other keys": (
        {"at": "May", "tests": {"p": 1}} | {
            m: {"rate": k, "rows": [{"pid": f"p{i}", "ok": i > k} for i in range(6)]}
            for k, m in enumerate("ab")
        },
        "--records {model}.rows --field task=pid --field outcome=ok",
        Fraction(5, 6),
    ),
    "two ids in all combinations": (
        lines([{"prompt_id": f"p{p}", "attack_id": f"a{a}", "repeat": r, "exact": (p + a) % 3 > r}
               for p in range(6) for a in range(4) for r in range(2)]),
        "--field task=prompt_id,attack_id --field outcome=exact",
        Fraction(1, 2),
    ),
    "each model once at each": (
        lines([{"llm": m, "stack": s, "directory": m + s, "success": (ord(m) + ord(s)) % 2 == 0}
               for m in "pqr" for s in ("ab" if m == "r" else "abcd")]),
        "--field task=stack",
        Fraction(1, 2),
    ),
    "counts of tasks of any name": (
        lines([{"concept": c, "model_id": m, "n_success": len(c) % 5, "n_trials": 8}
               for m in "ab" for c in ("Dust", "Avalanche", "Trees", "Origami", "Sea", "Bread")]),
        "--field task=concept",
        Fraction(13, 48),
    ),
    "grades that pass or fail more or less": (
        lines([{"test_id": i, "grade": ("PASS", "SOFT_FAIL", "HARD_FAIL")[i % 3]}
               for i in range(12)]),
        "--field outcome=grade --fails soft_fail --fails hard_fail",
        Fraction(1, 3),
    ),
    "a score of the highest": (
        lines([{"task": {"id": f"t{i}"}, "score": {"score": float(i % 4), "max_score": 3.0,
               "results": [{"check": "x", "passed": i % 4 > 1}, {"check": "y", "passed": True}]}}
               for i in range(12)]),
        "--field task=task.id --field outcome=score.score==score.max_score",
        Fraction(1, 4),
    ),
    "points of what they are at most": (
        lines([{"task": f"t{i}", "points": i % 6, "max": 5} for i in range(12)]),
        "--field outcome=points==max",
        Fraction(1, 6),
    ),
    "names and words of Chinese": (
        lines([{"编号": f"q{i}", "模型": "m", "是否正确": ("正确", "错误")[i % 3 > 0]}
               for i in range(12)]),
        "--field task=编号 --field outcome=是否正确 --field model=模型",
        Fraction(1, 3),
    ),
    "games": (
        lines([{"game_id": f"g{i}", "player": "x", "result": ("win", "loss", "draw")[i % 3]}
               for i in range(12)]),
        "--field task=game_id --fails draw",
        Fraction(1, 3),
    ),
    "attempts under conditions alone": (
        "condition,seed,success\n" + "".join(
            f"{c},{i},{i % 3 == k}\n" for k, c in enumerate(("mild", "hard")) for i in range(12)
        ),
        "--path {task}.jsonl --field model=condition",
        Fraction(1, 3),
    ),
    "a record in a list": (
        lines([{"example_id": i, "infos": [{"r": int(i < 2), "steps": 5}]} for i in range(50)]),
        "--field outcome=infos.r",
        Fraction(1, 25),
    ),
    "attempts in a list": (
        lines([{"task": i, "tries": [{"ok": i % 4 == j} for j in range(4)]} for i in range(8)]),
        "--field outcome=tries.ok",
        Fraction(1, 4),
    ),
    "a list inside a record": (
        lines([{"task": i, "e": {"s": [{"ok": True}, {"ok": i > 2}]}} for i in range(4)]),
        "--field outcome=e.s[].ok",
        Fraction(5, 8),
    ),
    "flags inside a record": (
        lines([{"task": i, "e": {"flags": [True, i > 2]}} for i in range(4)]),
        "--field outcome=e.flags[]",
        Fraction(5, 8),
    ),
    "a record in a record": (
        lines([{"task": i, "eval": {"grade": {"correct": i == 1}}} for i in range(4)]),
        "--field outcome=eval.grade.correct",
        Fraction(1, 4),
    ),
    "an outcome that is a record": (
        lines([{"task": i, "result": {"passed": i == 1, "log": "x"}} for i in range(4)]),
        "--field outcome=result.passed",
        Fraction(1, 4),
    ),
    "an empty outcome beside the real one": (
        lines([{"task": i, "score": None, "eval": {"passed": i == 1}} for i in range(4)]),
        "--field outcome=eval.passed",
        Fraction(1, 4),
    ),
    "an outcome that is missing where another is not": (
        lines([{"task": i, "passed": True if i else None, "eval": {"passed": i > 0}}
               for i in range(4)]),
        "--field outcome=eval.passed",
        Fraction(3, 4),
    ),
    "task and outcome in records": (
        lines([{"doc": {"id": f"q{i}"}, "res": {"ok": i == 1}} for i in range(4)]),
        "--field task=doc.id --field outcome=res.ok",
        Fraction(1, 4),
    ),
    "a list in each line": (
        lines([{"model": m, "results": [{"task": i, "passed": i == 1} for i in range(4)]}
               for m in "ab"]),
        "--records results",
        Fraction(1, 4),
    ),
    "a mapping in each line": (
        lines([{"model": m, "tasks": {f"t{i}": {"ok": i == 1} for i in range(4)}} for m in "ab"]),
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
        lines([{"test_case": f"c{i}", "oracle_pass": i == 1, "turns": [{"status": "success"}] * 3}
               for i in range(4)]),
        "--field task=test_case --field outcome=oracle_pass",
        Fraction(1, 4),
    ),
    "a model that is a record": (
        lines([{"task": i, "passed": i == 1, "model": {"name": m, "size": 7}}
               for m in "xy" for i in range(4)]),
        "--field model=model.name",
        Fraction(1, 4),
    ),
    "two outcomes": (
        lines([{"task": i, "status": "success", "passed": i == 1} for i in range(4)]),
        "--field outcome=passed",
        Fraction(1, 4),
    ),
    "a task beside its attempts": (
        lines([{"scenario": f"s{i}", "reps": [{"rep": j, "won": i == j} for j in range(4)]}
               for i in range(4)]),
        "--records reps --field task=scenario --field outcome=won",
        Fraction(1, 4),
    ),
    "subjects that number their questions anew": (
        lines([{"subject": s, "idx": i, "right": i % 4 == 1}
               for s, n in (("law", 8), ("art", 12), ("war", 20)) for i in range(n)]),
        "--field task=subject,idx --field outcome=right",
        Fraction(1, 4),
    ),
    "answers beside what was expected": (
        lines([{"id": f"q{i}", "label": "ABCD"[i % 4], "prediction": "abc "[i % 3].upper()}
               for i in range(24)]),
        "--field outcome=prediction==label",
        Fraction(1, 4),
    ),
    "answers and what was expected in records": (
        lines([{"doc": {"id": i, "gold": i % 3}, "response": {"answer": i % 2}}
               for i in range(12)]),
        "--field task=doc.id --field outcome=response.answer==doc.gold",
        Fraction(1, 3),
    ),
    "a verdict that was expected": (
        lines([{"task": i, "expected": ("comply", "refuse")[i % 2], "result": "refuse"}
               if i % 4 else {"task": i, "expected": "comply", "result": "comply"}
               for i in range(12)]),
        "--field outcome=result==expected",
        Fraction(3, 4),
    ),
    "passed of total tests": (
        lines([{"task": i, "tests_passed": i % 4 + 1, "tests_total": 4} for i in range(12)]),
        "--field outcome=tests_passed==tests_total",
        Fraction(1, 4),
    ),
    "counts of passing attempts beside rates": (
        lines([{"test_case": f"c{i}", "n_attempted": 4, "n_passing": i % 3,
                "pass_at_1": float(i % 3 > 0)} for i in range(6)]),
        "--field task=test_case",
        Fraction(1, 4),
    ),
    "what was classified rightly": (
        lines([{"task": f"c{i}", "outcome": ("FN", "TP", "TN", "FP")[i % 4]} for i in range(12)]),
        "--passes tp --passes tn",
        Fraction(1, 2),
    ),
    "runs of models, each with its tasks": (
        {"runs": [{"provider_id": f"at/{m}", "model": m, "samples": [
            {"id": f"test-{i}", "said": "x", "passed": i == 1} for i in range(4)]} for m in "ab"]},
        "--records runs.samples",
        Fraction(1, 4),
    ),
    "runs of models under names that nobody lists": (
        {"heats": [{"lane": m, "llm_used": m, "laps": [
            {"parcel": f"p{i}", "thumbs": i == 1} for i in range(8)]} for m in "ab"]},
        "--records heats.laps --field task=parcel --field outcome=thumbs --field model=llm_used",
        Fraction(1, 8),
    ),
    "attempts of agents beside their sums": (
        {"episodes": 2, "agents": {a: {"agent": a, "overall": {"n": 8, "rate": 0.25},
                                       "_raw": [{"task_id": f"t{i % 4}", "solved": i % 4 == 1}
                                                for i in range(8)]} for a in "xyz"}},
        "--records agents.{model}._raw",
        Fraction(1, 4),
    ),
    "an expected result and the actual one": (
        lines([{"test_case": f"c{i}", "expected": "xyz"[i % 3], "actual": "xyz"[i % 2]}
               for i in range(12)]),
        "--field task=test_case --field outcome=actual==expected",
        Fraction(1, 3),
    ),
    "counts without a task's name": (
        lines([{"test_case": f"c{i}", "n": 4, "c": i % 3} for i in range(6)]),
        "--field task=test_case",
        Fraction(1, 4),
    ),
}  # fmt: skip


# One of two outcomes may never change, of which it warns.
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("case", only(CASES, *[*CASES][:6]))
def test_the_options_that_are_proposed_read_it(passk: Passk, tmp_path: Path, case: str) -> None:
    document, expected, passed = CASES[case]
    path = tmp_path / ("m.jsonl" if isinstance(document, str) else "m.json")
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    done = passk("estimate", path)
    assert (done.code, done.out) == (3, "")
    first, *_ = commands(done.err)
    assert " ".join(first[2:]) == expected
    read, *_ = run_printed(passk, done.err, "-k", "1", "-f", "json", "-q")
    assert json.loads(read.out)["rows"][0]["estimate"] == pytest.approx(float(passed))
    with pytest.raises(DataError) as error:
        passk_cli.read(path)
    counts, *_ = run_calls(error.value)
    own = counts.rows_of(0)
    assert Fraction(int(counts.c[own].sum()), int(counts.n[own].sum())) == passed


def test_the_callers_own_options_are_kept_and_completed(passk: Passk, write: Any) -> None:
    path = write("a b.jsonl", lines(rows(NEAR)))
    given = ("--field", "task=test_cas", "--field=attempt=lap_of_run", "-k", "1", "-q")
    done = passk("estimate", path, *given)
    assert done.err.startswith(
        f"error[no-such-column]: {path}: no column 'test_cas'; did you mean test_case?\n"
    )
    (words,) = commands(done.err)
    options = (
        "--field=attempt=lap_of_run -k 1 -q --field task=test_case --field outcome=test_passed"
    )
    assert words == ["estimate", str(path), *options.split()]
    assert f"passk estimate '{path}'" in done.err
    assert done.err.endswith("  # reads 8 tasks × 3 attempts\n")
    run_printed(passk, done.err)


def test_frames_rows_and_columns_are_proposed_as_calls() -> None:
    import pandas as pd

    own = rows(NEAR)
    frame = pd.DataFrame(own)
    columns = {name: [row[name] for row in own] for name in own[0]}
    for data, name in ((frame, "df"), (own, "rows"), (columns, "columns")):
        with pytest.raises(DataError) as error:
            passk_cli.estimate(data, k=1, fields={"task": "test_case"})
        notes = getattr(error.value, "__notes__", [])
        fields = '{"task": "test_case", "outcome": "test_passed", "attempt": "lap_of_run"}'
        assert notes[0].startswith(f"  passk_cli.estimate({name}, k=1, fields={fields})  # reads ")
        assert "\n" not in str(error.value)
        assert "fields={" in error.value.remedy
        (findings,) = run_calls(error.value, **{name: data})
        assert findings.frame["tasks"].tolist() == [8]


def test_a_table_of_parquet_and_nested_columns_of_frames(tmp_path: Path, write: Any) -> None:
    import duckdb

    path, table = write("m.jsonl", CASES["attempts in a list"][0]), tmp_path / "m.parquet"
    duckdb.sql(f"COPY (FROM read_json('{path}')) TO '{table}'")
    for column in ("tries.ok", "tries[].ok"):
        assert rate(table, fields={"outcome": column}) == Fraction(1, 4)
    with pytest.raises(DataError) as error:
        read(table)
    assert error.value.settles[0].options == {"fields": {"outcome": "tries.ok"}}
    run_calls(error.value)


def test_what_stands_beside_a_list_can_be_named(write: Any) -> None:
    records = [{"arm": a, "id": f"r{a}", "results": [{"task": i, "passed": i == 1}
                for i in range(4)]} for a in "xy"]  # fmt: skip
    for document in (lines(records), json.dumps(records)):
        path = write("m.json", document)
        counts = read(path, records="results", by="arm")
        assert [group for _, group in counts.series] == ["x", "y"]
        assert len(read(path, records="results", fields={"task": "id,task"}).tasks) == 8


SETTLED = DataError("f", "arms would be pooled", "", name="pooled-settings",
                    settles=(Settle({"--by": ("arm",)}, "keeps them apart"),))  # fmt: skip


def test_what_a_doubt_asks_is_part_of_the_proposal(passk: Passk, write: Any) -> None:
    """Settings that were pooled are asked for before the first number is printed."""
    own = [{"test_case": f"c{i}", "lap_of_run": j, "condition": c,
            "passed": (3 * i + j + (c == "b")) % 4 < 2}
           for i in range(12) for j in range(3) for c in ("a", "b")]  # fmt: skip
    done = passk("estimate", write("runs.jsonl", lines(own)))
    assert done.error == "no-task-column"
    for words in commands(done.err):
        assert "--field task=test_case" in " ".join(words)
        assert "condition" in " ".join(words)
    assert "reads 12 tasks × 3 attempts" in done.err
    run_printed(passk, done.err)


def test_what_a_trial_asks_again_and_again_is_not_proposed(write: Any) -> None:
    from passk_cli.files.reading.readings.trials import Trials

    asked = []

    def never(request: Request) -> Any:
        asked.append(request)
        raise SETTLED

    settle, counts = Trials(Request(), never).of(Settle({"--field": {"task": "test_case"}}))
    # The same request is read once.
    assert (counts, len(asked)) == (None, 2)
    assert settle.options == {"--field": {"task": "test_case"}, "--by": ("arm",)}


def test_remedies_add_up() -> None:
    first, second = ({"--by": (name,), "--where": name} for name in "xy")
    both = Settle(first).merged(Settle(second))
    assert both.options == {"--by": ("x", "y"), "--where": "(x) AND (y)"}


# Documents of which nobody but their author knows what they mean, what is asked, and the whole
# answers that are printed.
ASKED: dict[str, tuple[list[dict[str, Any]], str, list[str]]] = {
    "a score": (
        [{"task": i, "judge": {"score": i % 5 / 4}} for i in range(10)],
        "from what value does judge.score pass (0 to 1)? --field outcome=judge.score"
        " --threshold X reads it",
        ["--field outcome=judge.score --threshold 1.0",
         "--field outcome=judge.score -m mean --bounds 0,1"],
    ),
    "several scores": (
        [{"task": i, "quality": i / 8, "f1": i / 9} for i in range(9)],
        "from what value does quality pass (0 to 1), or f1 pass (0 to 0.888889)?"
        " --field outcome=COLUMN --threshold X reads it",
        ["--field outcome=quality -m mean --bounds 0,1", "--field outcome=f1 -m mean --bounds 0,1"],
    ),
    "a score beside a flag": (
        [{"task": i, "judge_score": i % 5 / 4, "suppressed": i % 3 > 0} for i in range(10)],
        "from what value does judge_score pass (0 to 1)? --field outcome=judge_score"
        " --threshold X reads it",
        [
            "--field outcome=judge_score --threshold 1.0",
            "--field outcome=judge_score -m mean --bounds 0,1",
            "--field outcome=suppressed",
        ],
    ),
    "grades of a run that always ended": (
        [{"task": i, "status": "completed", "rating": i % 5 + 1} for i in range(10)],
        "from what value does rating pass (1 to 5)? --field outcome=rating --threshold X reads it",
        ["--field outcome=rating --threshold 5.0", "--field outcome=rating -m mean"],
    ),
    "words": (
        [
            {"test_case": f"c{i % 5}", "verdict": ("held", "gave_in", "left")[i % 3]}
            for i in range(10)
        ],
        "no column has a task's usual name\n",
        [
            f"--field task=test_case --field outcome=verdict --passes {word}"
            for word in ("held", "gave_in", "left")
        ],
    ),
    "many words": (
        [{"test_case": f"c{i % 5}", "verdict": "abcd"[i % 4]} for i in range(12)],
        "verdict: which words pass? 3 a, 3 b, 3 c, 3 d; --field task=test_case"
        " --field outcome=verdict --passes WORD reads it",
        [],
    ),
    "a flag that never changes": (
        [{"model": m, "attack": f"a{i}", "obeyed": False, "error": False}
         for m in "xy" for i in range(7)],
        "no column has a task's usual name\n",
        [
            "--field task=attack --field outcome=obeyed",
            "--field task=attack --field outcome=obeyed --passes false --fails true",
        ],
    ),
    "what a task is like beside what happened": (
        [{"model": m, "scenario": f"s{i}", "is_attack": i > 2, "compromised": (i + ord(m)) % 5 > 2}
         for m in "uvxyz" for i in range(6)],
        "no column has a task's usual name\n",
        [
            "--field task=scenario --field outcome=compromised",
            "--field task=scenario --field outcome=compromised --passes false --fails true",
        ],
    ),
    "attacks under prompts": (
        [{"model": m, "attack": a, "prompt": p, "breach": (i + j) % 3 > 1}
         for m in "xyz" for i, a in enumerate(("note", "mail", "page"))
         for j, p in enumerate(("plain", "hard", "soft"))],
        "no column has a task's usual name\n",
        [
            "--field task=attack --field outcome=breach --by prompt",
            "--field task=attack --field outcome=breach --passes false --fails true --by prompt",
        ],
    ),
    "scores of rows that have a number": (
        [{"index": i, "issue_title": f"the {i}. thing that does not work as it should",
          "f1": i / 80} for i in range(80)],
        "from what value does f1 pass (0 to 0.9875)? --field task=index --field outcome=f1",
        ["--field task=index --field outcome=f1 -m mean --bounds 0,1"],
    ),
    "parts of an attempt": (
        [
            {"eval_id": f"e{i}", "with_skill": {"assertion_results": 3 * [{"passed": i > 2}]}}
            for i in range(6)
        ],
        "which passed of with_skill.assertion_results[] make an attempt pass: all, a share, one?",
        [],
    ),
    "flags that are called alike": (
        [{"scenario": f"s{i}", "alert_ok": i % 4 > 0, "order_ok": i % 3 > 0} for i in range(12)],
        "which says that an attempt passed?\n",
        [
            "--field task=scenario --field outcome=alert_ok",
            "--field task=scenario --field outcome=order_ok",
            "--field task=scenario --field outcome=alert_ok,order_ok --field model=@column",
        ],
    ),
    "many flags that are called alike": (
        [{"task": f"s{i}", **{f"{name}_ok": i % n > 0 for n, name in enumerate("abcdefg", 2)}}
         for i in range(12)],
        "which says that an attempt passed?\n",
        [
            *(f"--field outcome={name}_ok" for name in "cdefgab"),
            "--field outcome=c_ok,d_ok,e_ok,f_ok,g_ok,a_ok,b_ok --field model=@column",
        ],
    ),
    "words under any name": (
        [{"widget": f"w{i}", "engine": m, "round": a, "verdictum": ("bad", "good")[(i * a) % 3 > 0]}
         for i in range(12) for m in ("zeta", "eta") for a in range(3)],
        "no column has a task's usual name",
        [
            f"--field task=widget --field outcome=verdictum --field attempt=round --passes {word}"
            for word in ("bad", "good")
        ],
    ),
    "words of which some pass and many are missing": (
        [{"question_id": i, "correctness": ("yes", "no", "partial", "error")[i % 4]}
         for i in range(24)],
        "no column has an outcome's usual name",
        [
            "--field outcome=correctness --fails partial --missing fail",
            "--field outcome=correctness --passes yes --passes partial --missing fail",
        ],
    ),
    "one flag of several scores": (
        [{"case": f"c{i}", "recall_score": 1 + i % 5, "tone_score": 1 + i % 4,
          "citation_score": i % 2} for i in range(20)],
        "recall_score pass (1 to 5), or tone_score pass (1 to 4), or citation_score pass (0 to 1)?",
        ["--field outcome=recall_score -m mean", "--field outcome=tone_score -m mean",
         "--field outcome=citation_score -m mean --bounds 0,1"],
    ),
    "answers of several systems": (
        [
            {
                "claim_id": f"c{i}",
                "gold_label": "xyz"[i % 3],
                "full": "xyz"[i % 2],
                "plain": "xy"[i % 2],
            }
            for i in range(12)
        ],
        "which says that an attempt passed?\n",
        [
            "--field task=claim_id --field outcome=full==gold_label",
            "--field task=claim_id --field outcome=plain==gold_label",
        ],
    ),
    "an answer in words and what was expected": (
        [
            {"id": f"e{i}", "gold": "xyz"[i % 3], "pred": "xyz"[i % 2] if i < 4 else f"rather {i}"}
            for i in range(12)
        ],
        "an attempt passes where pred agrees with gold?",
        ["--field outcome=pred==gold"],
    ),
    "missing outcomes": (
        [
            {"test_case": f"c{i}", "eval": {"passed": None if i < 4 else i % 2 == 0}}
            for i in range(12)
        ],
        "4 values of eval.passed are missing: what does that mean?",
        [
            f"--field task=test_case --field outcome=eval.passed --missing {way}"
            for way in ("fail", "drop", "bounds")
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_what_nobody_can_know_is_asked(passk: Passk, write: Any, case: str) -> None:
    records, question, answers = ASKED[case]
    done = passk("estimate", write("m.jsonl", lines(records)))
    assert (done.code, done.out) == (3, "")
    assert question in done.err
    assert [" ".join(words[2:]) for words in commands(done.err)] == answers
    run_printed(passk, done.err)


JUDGES = [
    ("judge_verdict", "human_verdict"),
    ("judge_label", "human_label"),
    ("llm_label", "human"),
    ("auto_label", "annotator_label"),
    ("judge", "human"),
    ("judge", "gold"),
    ("judge_label", "reference_label"),
    ("verdict", "human_label"),
    ("label", "human"),
]


def verdicts(judge: str, label: str, words: tuple[str, str] = ("no", "yes")) -> str:
    """Verdicts of a judge on two systems, with labels of a third of them."""
    return f"id,system,{judge},{label}\n" + "".join(
        f"{i},{system},{words[i % (3 + k) > 0]},{words[i % 4 > 0] if i % 3 == 0 else ''}\n"
        for k, system in enumerate("ab") for i in range(30)
    )  # fmt: skip


@pytest.mark.parametrize(("judge", "label"), JUDGES)
def test_verdicts_of_a_judge_are_the_outcome_and_labels_the_truth(
    passk: Passk, write: Any, judge: str, label: str
) -> None:
    """Whether the two agree is no outcome: a judge that agrees with a person is right both ways."""
    path = write("p.csv", verdicts(judge, label))
    done = passk("estimate", path)
    own = [f"--field outcome={judge}", f"--field outcome={judge} --field truth={label}"]
    assert [" ".join(words[2:]) for words in commands(done.err)] == own
    assert [words[0] for words in commands(done.err)] == ["estimate", "judge"]
    run_printed(passk, done.err)
    asked = passk("judge", path, "--field", f"truth={label}")
    assert [" ".join(words[2:]) for words in commands(asked.err)] == [
        f"--field truth={label} {own[0]}"
    ]
    assert passk(*commands(asked.err)[0]).out == passk(*commands(done.err)[1]).out


def test_a_judge_in_other_words_is_asked_what_passes(passk: Passk, write: Any) -> None:
    done = passk("estimate", write("p.csv", verdicts("judge_label", "human_label", ("off", "on"))))
    assert {words[3] for words in commands(done.err)} == {"outcome=judge_label"}
    assert "==" not in done.err
    run_printed(passk, done.err)


@pytest.mark.parametrize("names", ["prediction,gold", "llm_label,gold_label", "answer,label"])
def test_answers_agree_with_what_was_expected(passk: Passk, write: Any, names: str) -> None:
    text = "".join(f"{i},{s},{'ab'[(i + k) % 3 > 0]},{'ab'[i % 3 > 0]}\n"
                   for k, s in enumerate("xy") for i in range(30))  # fmt: skip
    done = passk("estimate", write("p.csv", f"id,system,{names}\n{text}"))
    assert [words[3] for words in commands(done.err)] == [f"outcome={names.replace(',', '==')}"]


def test_a_score_is_averaged_where_a_command_has_means() -> None:
    rows = [{"task": i, "judge": {"score": i % 5 / 4}} for i in range(40)]
    with pytest.raises(DataError) as error:
        passk_cli.estimate(rows, k=1)
    calls = getattr(error.value, "__notes__", [])
    assert [call.split("}, ")[-1].split(")")[0] for call in calls] == [
        "threshold=1.0", 'metrics="mean", bounds="0,1"', "threshold=1.0"
    ]  # fmt: skip
    means = passk_cli.estimate(rows, fields={"outcome": "judge.score"}, metrics="mean")
    assert means.frame["estimate"].tolist() == [0.5]
    for command in (passk_cli.plan, passk_cli.read):
        with pytest.raises(DataError) as error:
            command(rows)
        assert "mean" not in error.value.remedy


@pytest.mark.parametrize(("records", "passed"), [
    ([{"task": i, "meta": {"jailbroken": int(i < 3)}} for i in range(10)], [3, 7]),
    *long(
        ([{"task": i, "is_refusal": i < 3} for i in range(10)], [3, 7]),
        ([{"test_case": f"c{i}", "verdict": ("held", "gave_in")[i % 3 == 0]} for i in range(10)],
         [6, 4]),
    ),
])  # fmt: skip
def test_of_two_values_either_may_pass(
    passk: Passk, write: Any, records: list[dict[str, Any]], passed: list[int]
) -> None:
    path = write("m.jsonl", lines(records))
    done = passk("estimate", path)
    assert (done.code, done.out) == (3, "")
    with pytest.raises(DataError) as error:
        read(path)
    found = sorted(int(counts.c.sum()) for counts in run_calls(error.value))
    assert found == sorted(passed)
    assert len(run_printed(passk, done.err)) == 2
    assert "passes, 3 of 10: reads 10 tasks × 1 attempt" in done.err or "4 of 10" in done.err


# Files of which a wrong reading is near: the options that are proposed first; "" where none is.
NEAR_MISSES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a verdict is no model": (
        [{"question": f"q{i}", "agent_correct": i % 4 > 0, "plain_model_correct": i % 3 > 0}
         for i in range(12)],
        "--field outcome=agent_correct",
    ),
    "the head of a list is no outcome of its entries": (
        [{"passed": False, "runs": [{"eval_id": f"e{i}", "seconds": i} for i in range(9)]}],
        "",
    ),
    "flags of a judgment are no tasks, and which one judges is asked": (
        [{"model": "m", "prompt": f"p{i}", "judgment": {"sees_a": i % 2 > 0, "sees_b": i > 3,
                                                        "sees_c": i > 4}} for i in range(9)],
        "--field task=prompt --field outcome=judgment.sees_c",
    ),
    "a hash of what a system wrote is no model": (
        [{"item_id": f"q{i}", "system_output_hash": f"{i:08x}", "judgment_ok": i % 3 > 0}
         for i in range(12)],
        "--field outcome=judgment_ok",
    ),
    "an improvement is no score": (
        [{"entry_id": i, "overall_improvement": i % 5, "quality": i % 7} for i in range(24)],
        "--field task=entry_id --field outcome=quality --threshold 6.0",
    ),
    "a task has a statement in each language": (
        [{"item_id": f"q{i}", "language": w, "question": f"{w}: what is {i} + {i}?",
          "went_well": i % 3 > 0} for i in range(9) for w in ("en", "ru")],
        "--field outcome=went_well --field task=language,item_id",
    ),
    "sums by evaluator are no tasks": (
        [{"overall": 0.5, "by_evaluator": {m: {"correct": 8 + i, "total": 20}
                                           for i, m in enumerate("wxyz")}}],
        "",
    ),
    "a property of the model is no outcome": (
        [{"model": "mn"[m], "prompt_id": f"p{i}", "thinks": m > 0}
         for m in range(2) for i in range(9)],
        "",
    ),
    "an answer's id is no task": (
        [{"scenario_id": f"s{i % 6}", "raw_response": {"id": f"r{i}"}, "went_well": i % 3 > 0}
         for i in range(18)],
        "--field outcome=went_well",
    ),
    "how it is set is no outcome, and what is said no task": (
        [{"model": m, "thinking": t, "attack_success": False, "reply": f"a text of {i} in words"}
         for i in range(4) for m in "xyz" for t in (True, False)],
        "--field task=@line --field outcome=attack_success",
    ),
    "messages are no attempts, and fractions no tasks": (
        [{"run_id": f"r{i % 2}", "gain": i / 7,
          "said": [{"role": r, "content": f"{i}"} for r in ("user", "assistant")] * 2}
         for i in range(12)],
        "",
    ),
    "neither is a note, nor a measure": (
        [{"note": ("none", "issued $5", "none", f"issued ${i}")[i % 4], "triangles": 37 * i % 91,
          "valid": i % 5 > 0} for i in range(16)],
        "",
    ),
    "of what was expected and what was answered neither is an outcome": (
        [{"id": i, "label": i % 3 > 0, "prediction": i % 2 > 0, "raw": ("no", "yes")[i % 2]}
         for i in range(12)],
        "--field outcome=prediction==label",
    ),
    "steps of an attempt are no attempts": (
        [{"trace_id": f"t{i}", "step_results": [{"n": j, "kind": "abc"[j], "grade": {"ok": i > j}}
                                                for j in range(3)]} for i in range(9)],
        "",
    ),
    "systems that answer a query are no attempts of one": (
        [{"families": {f: {"queries": [
            {"query_id": f"{f}{i}",
             "systems": [{"system": s, "correct": (i, s) != (2, "y")} for s in "xyz"]}
            for i in range(4)]} for f in "ab"}}],
        "--records families.{setting}.queries.systems --field task=query_id",
    ),
    "what only one of the methods has is no outcome": (
        [{"id": f"q{i}", "by": {"sure": {"verdict": "incorrect", "hint": i},
                                "calm": {"hint": 2 * i}}} for i in range(6)],
        "",
    ),
    "tests that fail before and pass after are one part": (
        [{"task": i, "oracle_pass": i % 3 > 0, "fail_to_pass": ("FAIL", "PASS")[i % 3 > 0]}
         for i in range(9)],
        "--field outcome=oracle_pass",
    ),
    "a verdict that one expects is compared": (
        [{"scenario_id": i, "final_verdict": ("HOLD", "PASS")[i % 4 > 2],
          "expected_verdict": ("HOLD", "PASS")[i % 4 > 1]} for i in range(12)],
        "--field outcome=final_verdict==expected_verdict",
    ),
    "words of which half are missing": (
        [{"id": i, "label_x": ("none", "safety", "none", "sense")[i % 4]} for i in range(12)],
        "",
    ),
    "what lies in a configuration is no task": (
        [{"config": {"name": "abc"[i % 3], "prompt_style": "abc"[i % 3]}, "problem_id": f"p{i % 4}",
          "tree_correct": i % 5 > 1} for i in range(24)],
        "--field outcome=tree_correct --field model=config.prompt_style",
    ),
    "lists of several systems are one, whatever these are called": (
        [{name: [{"case_id": f"c{i}", "agent_name": name, "went_correct": i % 3 > 0}
                 for i in range(6)] for name in ("static", "verified")}],
        "--records {setting} --field outcome=went_correct",
    ),
    "an answer told twice": (
        [{"id": f"q{i}", "ground_truth": i % 3 > 0, "by": {
            name: {"prediction": i % 2 > k, "verdict": ("INCORRECT", "CORRECT")[i % 2 > k]}
            for k, name in enumerate(("sure", "calm"))}} for i in range(12)],
        "",
    ),
    "a verdict beside a grade, in a table's words": (
        [{"task_id": i, "pass": "True", "accuracy": 4 + i % 2} for i in range(4)],
        "--field outcome=pass",
    ),
    "a working folder is no task": (
        [{"workspace": f"/tmp/w{i}", "trial": i, "pass": i % 3 > 0} for i in range(9)],
        "",
    ),
    "a status that never varies": (
        [{"id": f"x{i}", "inputs": "{}", "outputs": "{}", "reference_outputs": "{}",
          "status": "success", "tool_choice_correct": i % 3 > 0} for i in range(9)],
        "--field outcome=tool_choice_correct",
    ),
    "numbers below a verdict are no verdicts": (
        [{"trial_id": "t", "oracle_verdict": {"ok": False, "patterns": dict.fromkeys("abcd", 0)}}],
        "",
    ),
    "a class of attacks is no outcome, nor what is true of some of them": (
        [{"attack_id": f"a{i}", "attack_class": "xyz"[i % 3], "objective": i % 2 > 0, "arm": arm,
          "succeeded": False} for i in range(12) for arm in ("plain", "defended")],
        "--field task=attack_id --field outcome=succeeded --field model=arm",
    ),
    "a refusal may be correct": (
        [{"question_id": i, "refused": i % 4 > 2, "refusal_correct": i % 5 > 0,
          "has_citation": i % 3 > 0} for i in range(20)],
        "--field outcome=refusal_correct",
    ),
    "a length tells no task, and is no answer": (
        [{"model": "m", "task_id": f"t{i}", "condition": c, "full_prompt_length": 9 + i * k,
          "task_score": i, "response_length": 9 + 2 * i}
         for i in range(2) for k, c in enumerate("xy")],
        "--field outcome=task_score --by condition",
    ),
    "a rate of several attempts is no outcome, whosever it is": (
        [{"task_id": i, "tuned_pass@5": i % 2, "tuned_correct": 3 * (i % 2)} for i in range(12)],
        "",
    ),
    "names of models agree with nothing": (
        [{"question_id": i, "target_model": "xy"[i % 2], "judge_model": "xy"[i % 2],
          "concedes": i % 3 > 0} for i in range(12)],
        "--field outcome=concedes --field model=target_model",
    ),
    "runs of one task, which the file's name names": (
        [{"ts": f"2026-07-{i + 10}T07:49:33Z", "model": "m", "pass": i % 3 > 0,
          "extraction": {"met": (1, 2, 2, 2)[i % 4]}} for i in range(12)],
        "--path {task}.jsonl",
    ),
    "scores of one task, of which nobody said from where on they pass": (
        [{"run": i, "timestamp": f"2026-07-{i + 10}T07:49:33Z", "score": 30 + i, "max": 40}
         for i in range(1, 9)],
        "",
    ),
    "where one flag is unclear all are asked about": (
        [{"request_id": f"r{i}", "wrong_part": i % 5 > 3, "replied_ok": True,
          "late_order": i % 7 > 5} for i in range(20)],
        "--field task=request_id --field outcome=wrong_part --passes false --fails true",
    ),
    "texts that differ may be tasks of which no name is known": (
        [{"said": f"the {i}. of several sentences that nobody has named", "pass": i % 3 > 0}
         for i in range(12)],
        "--field task=@line",
    ),
    "what is true is no outcome, nor is a rate of what is bad": (
        [{"case_idx": i, "true_label": i % 2, "hallucination_rate": i / 12, "age": 40 + 3 * i}
         for i in range(12)],
        "",
    ),
    "of flags that are called alike one sums up the others": (
        [{"test_id": f"t{i}", "json_pass": i % 5 > 0, "tone_pass": i % 3 > 0,
          "whole_pass": i % 5 > 0 and i % 3 > 0} for i in range(15)],
        "--field outcome=whole_pass",
    ),
    "what is asked is no answer that is expected": (
        [{"user_message": f"m{i % 4}", "user_prompt": f"m{i % 4}", "size": i} for i in range(12)],
        "",
    ),
    "how many parts passed is no outcome, nor that the agent ran": (
        [{"task": f"t{i}", "agent_ok": True, "checks_passed": 0, "claims_verified": 1 + i % 3}
         for i in range(9)],
        "",
    ),
    "what an attempt's number counts within is a task": (
        [{"model": m, "framework": f, "trial": t, "build_success": (k + t) % 4 > 0}
         for m, most in (("m", 5), ("n", 2))
         for k, f in enumerate("spring flask rails gin rocket phoenix".split())
         for t in range(1, most + k)],
        "--field task=framework --field outcome=build_success",
    ),
    "an input names a task, though few come twice": (
        [{"input": f"say {i % 13}", "output": f"o{i}", "correctness": i % 4 > 0}
         for i in range(15)],
        "--field task=input --field outcome=correctness",
    ),
    "a task that half of the records lack": (
        [{"prompt": f"p{i % 4}", "pass": i % 3 > 0} | ({"task_id": f"t{i % 4}"} if i < 8 else {})
         for i in range(16)],
        "--field task=prompt",
    ),
    "switches are no verdicts": (
        [{"query_id": i, "cot": on} for i in range(9) for on in (True, False)],
        "",
    ),
    "languages are no verdicts": (
        [{"query_id": i, "lang": ("en", "ja", "zh")[i % 3]} for i in range(18)],
        "",
    ),
    "sentences that agree are a copy": (
        [{"query": f"q{i}", "response": f"It depends, in case {i}, on what was said before.",
          "ground_truth": f"It depends, in case {i}, on what was said before."}
         for i in range(6)],
        "",
    ),
    "keys under which the same questions stand are no tasks": (
        [{way: [{"question": f"q{i}", "correct": i % k > 0} for i in range(9)]
          for k, way in enumerate(("direct", "in_steps", "by_sentence"), 2)}],
        "--field model=task --field task=question",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEAR_MISSES)
def test_what_is_near_and_wrong_is_not_proposed(passk: Passk, write: Any, case: str) -> None:
    records, options = NEAR_MISSES[case]
    one = len(records) == 1
    path = write("m.json", json.dumps(records[0])) if one else write("m.jsonl", lines(records))
    done = passk("estimate", path)
    assert (done.code, done.out) == (3, "")
    assert [" ".join(words[2:]) for words in commands(done.err)[:1]] == [options] * bool(options)


def test_a_column_without_outcomes_has_none_that_failed(passk: Passk, write: Any) -> None:
    path = write("m.jsonl", lines([{"doc_id": i, "score": None} for i in range(9)]))
    done = passk("estimate", path)
    assert (done.code, commands(done.err)) == (3, [])
    assert '"score" has no value in any of 9 attempts; --field outcome=COLUMN' in done.err


def test_attempts_in_several_series_may_be_kept_where_settings_are_apart(
    passk: Passk, write: Any
) -> None:
    rows = [{"task": f"t{i}", "arm": arm, "trial": j % 2, "passed": (i + j) % 3 > 0}
            for i in range(9) for arm in ("plain", "tools") for j in range(4)]  # fmt: skip
    done = passk("estimate", write("m.jsonl", lines(rows)), "-k", "1")
    assert done.code == 3
    ways = [" ".join(words[4:]) for words in commands(done.err)]
    assert ways[0] == "--field model=arm" or "--by arm --duplicates keep" in ways
    run_printed(passk, done.err)


def test_the_first_file_of_a_folder_may_sum_up_the_others(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "a_summary.json").write_text(json.dumps({"m": {"rate": 0.5, "n": 4}}))
    for name in "xy":
        rows = [{"task_id": f"t{i}", "model": name, "final_passed": i > 1} for i in range(4)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    done = passk("estimate", tmp_path)
    assert commands(done.err) == [["estimate", str(tmp_path), "--field", "outcome=final_passed"]]
    run_printed(passk, done.err)


def test_few_missing_outcomes_fail_or_are_dropped(passk: Passk, write: Any) -> None:
    records = [{"test_case": f"c{i}", "ok": None if i == 1 else i % 2 == 0} for i in range(12)]
    done = passk("estimate", write("m.jsonl", lines(records)))
    fails, drops = commands(done.err)
    assert (fails[-2:], drops[-2:]) == (["--missing", "fail"], ["--missing", "drop"])
    assert "1 missing outcome fail" in done.err
    run_printed(passk, done.err)


def test_a_score_needs_no_threshold_where_scores_are_asked_for(passk: Passk, write: Any) -> None:
    path = write("m.jsonl", lines([{"task": i, "e": {"score": i / 4}} for i in range(5)]))
    assert rate(path, fields={"outcome": "e.score"}, threshold=0.5) == Fraction(3, 5)
    (words,) = commands(passk("estimate", path, "--threshold", "0.5").err)
    assert words[-2:] == ["--field", "outcome=e.score"]


def test_a_proposal_is_a_remedy_of_one_line_in_json(passk: Passk, write: Any) -> None:
    path = write("m.jsonl", lines(rows(NEAR)))
    done = passk("estimate", path, "-f", "json")
    error = json.loads(done.out)["error"]
    assert error["problem"] == "no column has a task's usual name"
    assert error["remedy"].startswith("--field task=test_case --field outcome=test_passed")


def test_nothing_is_imported_for_it_where_reading_succeeds(write: Any) -> None:
    import subprocess
    import sys

    path = write("m.csv", "task,passed\na,1\nb,0\n")
    code = (
        "import sys, passk_cli; passk_cli.read(sys.argv[1]);"
        " sys.exit('passk_cli.files.reading.readings.proposal' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_path_that_leads_nowhere_is_no_missing_outcome(passk: Passk, write: Any) -> None:
    """With --missing fail it would be a pass rate of 0."""
    path = write("m.jsonl", CASES["a record in a list"][0])
    for wrong in ("infos.x", "infos.0.r", "infos[].x"):
        done = passk("estimate", path, "--field", f"outcome={wrong}", "--missing", "fail")
        assert (done.code, done.out) == (2, "")
        assert f"no column '{wrong}'; did you mean infos.r?" in done.err
        assert [words[-1] for words in commands(done.err)[:1]] == ["outcome=infos.r"]
    log = write("n.jsonl", '{"task": 1, "e": {"log": "x", "n": "y"}}\n')
    with pytest.raises(DataError, match=r"no column 'e\.ok'; e holds log, n"):
        read(log, fields={"outcome": "e.ok"}, missing="fail")


def test_an_entry_without_the_field_has_no_outcome(write: Any) -> None:
    entries = [{"ok": True}, {"log": "x"}, {"ok": None}]
    path = write("m.jsonl", lines([{"task": 1, "a": entries}, {"task": 2}]))
    assert rate(path, fields={"outcome": "a.ok"}, missing="fail") == Fraction(1, 4)
    assert rate(path, fields={"outcome": "a.ok"}, missing="drop") == 1
    with pytest.raises(DataError, match=r'm.jsonl:1: "a.ok" has no value \(3 attempts'):
        read(path, fields={"outcome": "a.ok"})


def test_a_model_without_outcomes_is_warned_of_though_failures_are_asked_for(
    passk: Passk, write: Any
) -> None:
    path = write("m.jsonl", CASES["an empty outcome beside the real one"][0])
    done = passk("estimate", path, "--missing", "fail")
    assert done.code == 0
    assert "warning[missing-outcome]: " in done.err
    assert "; --field outcome=eval.passed reads 4 tasks × 1 attempt" in done.err


def test_describe_names_the_nested_outcome_and_no_policy(passk: Passk, write: Any) -> None:
    path = write("m.jsonl", CASES["an outcome that is missing where another is not"][0])
    done = passk("describe", path)
    assert "--missing" not in done.out
    assert "; --field outcome=eval.passed reads 4 tasks × 1 attempt" in done.err


def test_a_status_of_something_else_is_no_outcome(passk: Passk, write: Any) -> None:
    """It contradicts the outcomes that are there, so that the missing ones are missing."""
    rows = ({"task": i, "passed": None if i < 3 else i % 2 == 0, "http": {"status": "success"}}
            for i in range(20))  # fmt: skip
    assert "--missing fail" in passk("estimate", write("m.jsonl", lines([*rows]))).err


def test_an_outcome_that_lacks_the_same_values_is_not_proposed(passk: Passk, write: Any) -> None:
    rows = ({"task": i, "passed": None if i < 3 else i % 2 == 0, "reward": None if i < 3 else
             1.0 - i % 2} for i in range(20))  # fmt: skip
    path = write("m.jsonl", lines([*rows]))
    assert "reward" not in passk("describe", path, "--field", "outcome=passed").err
    assert "passed" not in passk("describe", path, "--field", "outcome=reward").err


@pytest.mark.long
def test_a_document_longer_than_what_is_surveyed(passk: Passk, write: Any) -> None:
    tasks = {f"t{i}": {"verdict": {"ok": i % 4 == 1}, "log": "x" * 1000} for i in range(6000)}
    path = write("m.json", json.dumps({"tasks": tasks}))
    done = passk("estimate", path)
    (words,) = commands(done.err)
    assert words[2:] == ["--records", "tasks.{task}", "--field", "outcome=verdict.ok"]
    assert rate(path, records="tasks", fields={"outcome": "verdict.ok"}) == Fraction(1, 4)


def test_keys_in_braces_are_columns(write: Any) -> None:
    document = {"runs": {m: {s: [{"task_id": i, "ok": s == "b"} for i in range(3)] for s in "ab"}
                         for m in ("x", "y")}}  # fmt: skip
    path = write("m.json", json.dumps(document))
    counts = read(path, records="runs.{model}.{split}", fields={"outcome": "ok"}, by=["split"])
    assert counts.series == (("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"))
    assert counts.c.reshape(4, 3).sum(axis=1).tolist() == [0, 3, 0, 3]


@pytest.mark.parametrize(("document", "records", "problem"), [
    ({"a": {"x": {"t": {"ok": 1}}, "date": "May"}}, "a.{model}.{task}", r'm.json: date: not a rec'),
    ({"a": {"x": {"c": 1}, "y": {}}}, "a.{model}.b", r"x: no 'b' in it"),
    ([{"a": [{"task": 1, "passed": 1}]}, {}], "a", r"m.json: record 2: no 'a' in it"),
])  # fmt: skip
def test_what_is_no_record_on_the_way_is_refused(
    write: Any, document: Document, records: str, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        read(write("m.json", json.dumps(document)), records=records)


def test_keys_that_hold_no_records_are_passed_over_and_named(passk: Passk, write: Any) -> None:
    runs = {m: {"rate": k, "rows": [{"pid": f"p{i}", "ok": i > k} for i in range(6)]}
            for k, m in enumerate("ab")}  # fmt: skip
    document = {"date": "May", **runs, "tests": {"p": 0.5}}
    done = passk("estimate", write("m.json", json.dumps(document)))
    assert commands(done.err)[0][2:4] == ["--records", "{model}.rows"]
    first, *_ = run_printed(passk, done.err)
    assert "[keys-without-records]" in first.err
    assert "2 keys are passed over: no rows in date, tests" in first.err


def test_a_file_of_a_harness_is_not_surveyed() -> None:
    """Its format knows where outcomes are; what they lack is asked for."""
    from passk_cli.files.reading.readings.proposal import proposed
    from passk_cli.files.request import Request
    from passk_cli.files.sources.source import Source

    path = next(Path("tests/data/promptfoo").glob("*.json"))
    error = DataError(str(path), "no outcome", name="missing-outcome")
    source = Source(str(path.absolute()), str(path), None, "none")

    def never(request: Request) -> Any:
        raise AssertionError(request)

    assert str(proposed(error, ours(), [source], Request(), never)) == str(error)


EVALUATED = [
    ("e.csv", "task,success,evaluation_success_rate\na,true,0.5\nb,true,0.75\n", "--threshold X"),
    ("e.jsonl", lines([{"task": i, "success": True, "eval": {"rate": i / 8}} for i in (4, 6)]),
     "--threshold X"),
    ("e.json", json.dumps({"model": "m", "results": [
        {"task": i, "success": True, "evaluation": {"passed": i > 3}} for i in range(8)]}), "."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), EVALUATED)
def test_a_success_that_only_says_that_runs_ended(
    passk: Passk, write: Any, name: str, content: str, words: str
) -> None:
    """Seen in a public benchmark: success is true everywhere, the evaluation's rate is .625."""
    said = passk("estimate", write(name, content), "-v").err
    mean = "0.500" if words == "." else "0.625"
    assert re.search(rf"warning\[always-success\]: success is true in all \d attempts, .*{mean}",
                     said)  # fmt: skip
    assert ("--threshold X reads it, of 0.5 to 0.75" in said) == (words != ".")


def test_a_success_beside_nothing_else_is_one(passk: Passk, write: Any) -> None:
    other = {"success": True, "max_score": 10, "seconds": 0.5}
    for own in (
        [{"task": i, "success": True, "rate": 1.0} for i in "ab"],
        [{"task": i, "success": i > 1, "rate": 0.5} for i in range(4)],
        [{"task": i, **other} for i in "ab"],
    ):
        assert "always-success" not in passk("estimate", write("m.jsonl", lines(own)), "-v").err


def test_reports_in_folders_are_named_by_these(tmp_path: Path) -> None:
    for model in "ab":
        (tmp_path / model).mkdir()
        for name in ("report.json", "x.json"):
            (tmp_path / model / name).write_text('{"resolved_ids": ["t"], "unresolved_ids": []}')
    reports = [str(tmp_path / model / "report.json") for model in "ab"]
    assert [model for model, *_ in read(reports).series] == ["a", "b"]
    others = [str(tmp_path / model / "x.json") for model in "ab"]
    assert [model for model, *_ in read(others).series] == ["a/x", "b/x"]


def test_describe_says_why_a_column_was_taken_and_what_else_it_may_be(
    passk: Passk, write: Any
) -> None:
    rows = ({"id": i, "task_id": f"t{i}", "passed": i > 1, "cached": False} for i in range(4))
    path = write("m.jsonl", lines([*rows]))
    full = passk("describe", path, "--full").out
    assert re.search(r"task_id +task +by its name; it could also be id", full)
    assert re.search(r"passed +outcome +by its name", full)
    asked = passk("describe", path, "--full", "--field", "task=id", "--outcome", "cached").out
    assert re.search(r"id +task +as asked", asked)
    assert re.search(r"cached +outcome +as asked", asked)


def test_mappings_in_mappings_in_mappings_end_in_a_question(passk: Passk, write: Any) -> None:
    """As the coverage of a JavaScript test, also a `.report.json`: lines by branch by file."""
    branches = {str(i): {str(j): {"start": {"line": i}, "end": {"line": j}} for j in range(3)}
                for i in range(3)}  # fmt: skip
    document = {"coverage": {f"app{i}.js": branches for i in range(3)}, "lints": []}
    done = passk("estimate", write(".report.json", json.dumps(document)))
    assert (done.code, done.out) == (3, "")
    assert done.error == "no-task-column"


def test_how_much_of_a_long_file_was_looked_at_is_said(passk: Passk, write: Any) -> None:
    """What stands only further down is not found, which the error says."""
    rows = [{"task": i, "log": {"step": "x"}} for i in range(1000)]
    more = [{"task": i, "log": {"step": "x", "ok": i % 2 == 0}} for i in range(1000, 1100)]
    path = write("m.jsonl", lines([*rows, *more]))
    looked = "; nested fields were looked for in the first 1,000 records; "
    assert looked in passk("estimate", path).err
    assert "looked for" not in passk("estimate", write("m.jsonl", lines(rows[:9]))).err


@pytest.mark.parametrize(
    ("document", "options"),
    [
        ({"results": {"task-1": {"passed": True}}}, "results.{task}"),
        ({"model": "m", "results": {"t/1": [{"passed": True}]}}, "results.{task}"),
        ({"task-1": {"passed": True, "seconds": 3}}, "{task}"),
        ({"results": {"t1": True}}, "results.{task}"),
        ({"result": {"passed": True}}, ""),
    ],
)
def test_a_mapping_of_one_task(passk: Passk, write: Any, document: Any, options: str) -> None:
    """Its key is a name where it is no plain word; no other value stands for a task."""
    path = write("m.json", json.dumps(document))
    done = passk("estimate", path)
    assert (done.code, done.out) == (3, "")
    assert [words[-1] for words in commands(done.err)] == [options] * bool(options)
    run_printed(passk, done.err)


# Documents that are no results, as their tools write them, with little in each.
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
def test_what_is_no_result_ends_in_a_question(passk: Passk, write: Any, name: str) -> None:
    """No number; and no outcome is claimed: at most either truth value may pass."""
    text = lines(LOGS[name]) if name in LOGS else json.dumps(NO_RESULTS[name])
    done = passk("estimate", write("m.json", text))
    assert (done.code, done.out) == (3, "")
    if commands(done.err):
        assert re.search("# if (true|1|each row is a task)", done.err)


def test_a_document_that_sums_up_its_records_is_no_attempt(passk: Passk, write: Any) -> None:
    """As skill evaluations write it: success of all beside each iteration's own."""
    trials = [{"prompt": f"p{i % 5}", "success": i != 7, "scores": {"build": 1}} for i in range(20)]
    document = {"name": "e", "success": False, "iterations": trials}
    path = write("m.json", json.dumps(document))
    done = passk("estimate", path)
    assert (done.code, done.out) == (3, "")
    assert "are 20 records with success" in done.err
    first, *_ = commands(done.err)
    assert first[2:6] == ["--records", "iterations", "--field", "task=prompt"]
    run_printed(passk, done.err)
    assert rate(path, records="iterations", fields={"task": "prompt"}) == Fraction(19, 20)
    assert rate(path, records=".") == 0
    assert "ambiguous-records" in passk("describe", path).err
    # Of many documents each is an attempt, whatever its steps say.
    other = write("n.json", json.dumps(document | {"name": "f", "success": True}))
    assert passk("estimate", path.parent).code == 0
    assert read([path, other]).n.sum() == 2


def test_a_document_that_counts_its_records_is_no_attempt(passk: Passk, write: Any) -> None:
    """How many passed is no verdict on one attempt, and the slowest took no highest score."""
    cases = [{"id": f"c{i}", "pass": i == 1} for i in range(6)]
    document = {"fixture": "cases.json", "passed": 1, "latency": {"max": 6285}, "rows": cases}
    done = passk("estimate", write("m.json", json.dumps(document)))
    assert (done.code, done.out) == (3, "")
    assert "one attempt by its own passed, and its rows are 6 records with pass" in done.err
    assert commands(done.err)[0][2:] == ["--records", "rows"]
    run_printed(passk, done.err)


def test_missing_outcomes_are_asked_about_where_attempts_repeat_too(
    passk: Passk, write: Any
) -> None:
    attempts = [{"task": i % 3, "attempt": 0, "passed": (None, True)[i > 2]} for i in range(6)]
    done = passk("estimate", write("m.jsonl", lines(attempts)))
    ways = [words[-1] for words in commands(done.err)]
    assert ("error[missing-outcome]" in done.err, ways) == (True, ["fail", "drop", "bounds"])


def test_records_that_lack_nothing_but_a_task_are_not_looked_into(passk: Passk, write: Any) -> None:
    """Their own outcome counts, and not that of the tries it came from."""
    tries = [{"is_correct": False}, {"is_correct": True}]
    text = lines([{"asked": f"q{i}", "solved": i > 3, "tries": tries} for i in range(9)])
    path = write("m.jsonl", text)
    assert "error[no-task-column]" in passk("estimate", path).err
    assert rate(path, fields={"task": "asked"}) == Fraction(5, 9)


def spread(names: str, cell: Any, **more: Any) -> str:
    """A table with a row per task and an outcome in each of these columns."""
    head = ",".join([*more, "task", names])
    rows = (
        ",".join(
            [*map(str, more.values()), f"t{t}", *(cell(t, c) for c in range(names.count(",") + 1))]
        )
        for t in range(12)
    )
    return "\n".join([head, *rows]) + "\n"


def verdict(task: int, column: int) -> str:
    return "PASS" if task % (column + 2) else "FAIL"


@pytest.mark.parametrize(
    "names", ["Trial 1,Trial 2,Trial 3", *long("run1,run2,run3", "passed_1,passed_2")]
)
def test_attempts_in_columns_are_one_list(passk: Passk, write: Any, names: str) -> None:
    path = write("m.csv", spread(names, verdict))
    [first, *_] = commands(passk("estimate", path).err)
    assert f"outcome={names}" in first
    run_printed(passk, passk("estimate", path).err)
    fields = {"outcome": names}
    every = [verdict(t, c) == "PASS" for t in range(12) for c in range(names.count(",") + 1)]
    assert rate(path, fields=fields) == Fraction(sum(every), len(every))
    # One that is empty is a missing attempt, and a word that is none is found by its line.
    gap = write("gap.csv", spread(names, verdict).replace("t3,PASS", "t3,"))
    refused = passk("estimate", gap, "--field", f"outcome={names}")
    assert "gap.csv:5" in refused.err
    run_printed(passk, refused.err)


def test_models_in_columns_are_asked_about(passk: Passk, write: Any) -> None:
    names = "gpt-4o,claude-4.5,llama-3"
    path = write("m.csv", spread(names, lambda t, c: str(int(verdict(t, c) == "PASS")), seed=1))
    refused = passk("estimate", path)
    assert "which says that an attempt passed" in refused.err
    assert "# if each column is a model: reads 12 tasks × 1 attempt by 3 models" in refused.err
    run_printed(passk, refused.err)
    fields = {"outcome": names, "model": "@column"}
    counts = read(path, fields=fields)
    assert sorted(name for name, *_ in counts.series) == sorted(names.split(","))
    for column, name in enumerate(names.split(",")):
        want = [verdict(t, column) == "PASS" for t in range(12)]
        own = passk_cli.read(path, fields=fields, models=[name])
        assert (own.n.sum(), own.c.sum()) == (12, sum(want))
    rows = [{"task": f"t{t}", "a": [True, t > 3], "b": [False, False]} for t in range(5)]
    both = read(rows, fields={"outcome": "a,b", "model": "@column"})
    assert (both.n.tolist(), both.c.sum()) == ([2] * 10, 6)
    # Truth values that carry their type.
    import pandas as pd

    truths = pd.DataFrame({"task": ["s", "t"], "a": [True, False], "b": [False, False]})
    typed = read(truths, fields={"outcome": "a,b", "model": "@column"})
    assert (typed.n.tolist(), typed.c.tolist()) == ([1] * 4, [1, 0, 0, 0])
    wrong = write("w.csv", spread(names, lambda t, c: "what" if t == c == 2 else "1"))
    refused = passk("estimate", wrong, "--field", f"outcome={names}", "--field", "model=@column")
    assert (refused.code, "w.csv:4" in refused.err) == (3, True)
    run_printed(passk, refused.err)


def test_columns_that_agree_are_an_outcome_at_every_door(tmp_path: Path, write: Any) -> None:
    import pandas as pd

    given, gold = ["A", " b", "C", "2.0", None, "x"], ["a", "B", "D", "2", "q", None]
    own = [{"task": f"t{i}", "given": g, "gold": e}
           for i, (g, e) in enumerate(zip(given, gold, strict=True))]  # fmt: skip
    frame = pd.DataFrame(own)
    frame.to_csv(tmp_path / "m.csv", index=False)
    frame.to_parquet(tmp_path / "m.parquet")
    for data in (
        own,
        frame,
        tmp_path / "m.csv",
        tmp_path / "m.parquet",
        write("m.jsonl", lines(own)),
        write("m.json", json.dumps({"runs": own})),
    ):
        fields = {"outcome": "given==gold"}
        with pytest.raises(DataError, match="has no value"):
            read(data, fields=fields)
        counts = read(data, fields=fields, missing="drop")
        assert (counts.n.tolist(), counts.c.tolist()) == ([1, 1, 1, 1], [1, 1, 0, 1])
    with pytest.raises(DataError, match="no column 'gild'; did you mean gold"):
        read(own, fields={"outcome": "given==gild"})


def test_of_grades_the_range_is_asked(passk: Passk, write: Any) -> None:
    own = [{"case": f"c{i % 9}", "helpfulness": i % 5 + 1} for i in range(45)]
    said = passk("estimate", write("m.jsonl", lines(own))).err
    assert "from what value does helpfulness pass (1 to 5)?" in said
    assert "--field outcome=helpfulness --threshold X reads it" in said


def test_a_long_document_is_unpacked_once(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each way to records in it, however many readings of it are tried."""
    records = [{"case": f"c{i % 40}", "condition": "ab"[i // 40 % 2], "ok": i % 3 == 0,
                "said": "x" * 8000} for i in range(160)]  # fmt: skip
    path = write("m.json", json.dumps({"model": "m", "data": records}))
    assert path.stat().st_size > 1 << 20
    pages, page = [], _Sheets._page

    def counted(*arguments: Any) -> Any:
        pages.append(page(*arguments))
        return pages[-1]

    monkeypatch.setattr(_Sheets, "_page", counted)
    with pytest.raises(DataError) as error:
        read(path)
    monkeypatch.undo()
    assert "condition" in error.value.settles[0].options["by"]
    assert len(pages) == 2
    run_calls(error.value)


@pytest.mark.parametrize("role", ["cost", "answer", "score", "truth"])
def test_what_a_row_has_once_is_not_of_each_model(role: str) -> None:
    """A cost beside a column for each model is nobody's in particular."""
    rows = [{"task": t, "a": t > 3, "b": t > 5, "x": 1.0} for t in range(9)]
    fields = {"outcome": "a,b", "model": "@column", role: "x"}
    metric = {"cost": "cost", "answer": "maj@1", "score": "mean"}.get(role, "pass@1")
    with pytest.raises(DataError, match=f"'x' is one {role} beside outcomes of several models"):
        passk_cli.estimate(rows, metric, fields=fields)


def test_models_in_columns_need_several_of_them(passk: Passk, write: Any) -> None:
    path = write("m.csv", "task,a,b,gold\nx,u,v,u\ny,u,u,u\nz,v,v,u\n")
    for outcome in ((), ("--field", "outcome=a==gold")):
        done = passk("estimate", path, *outcome, "--field", "model=@column")
        assert (done.code, done.error) == (2, "no-such-column")
        assert "@column names the columns of outcomes, and there are not several" in done.err
    done = passk("estimate", path, "--field", "outcome=a==gold==b")
    assert (done.code, "one column is compared with one other" in done.err) == (2, True)


def test_the_option_of_outcomes_joins_columns_as_the_field_does(write: Any) -> None:
    path = write("m.csv", spread("run1,run2", verdict))
    assert rate(path, outcome="run1,run2") == rate(path, fields={"outcome": "run1,run2"})
    with pytest.raises(DataError) as refused:
        passk_cli.cost(path, fields={"outcome": "run1,run2"})
    assert "run1,run2" not in str(refused.value)
    assert [settle.options for settle in refused.value.settles] == [{"fields": {"cost": "COLUMN"}}]


def test_percentages_are_no_words_of_which_each_may_pass(passk: Passk, write: Any) -> None:
    rows = "".join(f"t{t},{a},{(t + a) % 5 * 25}%\n" for t in range(10) for a in range(2))
    done = passk("estimate", write("p.csv", "task,attempt,outcome\n" + rows))
    (command,) = done.err.splitlines()[1:]
    assert "--passes 100%  # if 100% passes, 4 of 20: reads 10 tasks × 2 attempts" in command
    assert "which words" not in done.err


def test_each_column_that_may_be_the_outcome_is_an_answer(passk: Passk, write: Any) -> None:
    rows = "".join(f"t{t},{a},true,{t * a / 20}\n" for t in range(10) for a in range(2))
    done = passk("estimate", write("s.csv", "task,attempt,success,score\n" + rows))
    assert done.error == "ambiguous-column"
    assert "--field outcome=success  # reads 10 tasks × 2 attempts\n" in done.err
    assert "--field outcome=score -m mean --bounds 0,1  # reads 10 tasks × 2 attempts\n" in done.err


def test_columns_of_passes_and_failures_alone_may_be_models(passk: Passk, write: Any) -> None:
    refused = passk("compare", write("w.csv", "id,m1,m2,retries\n1,1,0,3\n2,0,0,1\n3,1,1,2\n"))
    (_, _, *words), *_ = commands(refused.err)
    assert words == ["--field", "outcome=m1,m2", "--field", "model=@column"]
    run_printed(passk, refused.err)
    # Of one that varies nobody knows.
    one = passk("compare", write("v.csv", "id,m1,m2\n1,1,0\n2,0,0\n3,1,0\n"))
    assert "the columns are id, m1, m2; --field outcome=COLUMN names it" in one.err


def test_a_remedy_that_does_not_help_is_not_printed(passk: Passk, write: Any) -> None:
    cut = '[{"task": "a", "passed": true}, {"task": "b", "pas'
    done = passk("estimate", write("cut.json", cut))
    assert (done.error, "--skip-bad" in done.err) == ("bad-record", False)
    line = '{"task": "a", "passed": true}\n{"task": "b", "pas\n'
    assert "--skip-bad" in passk("estimate", write("cut.jsonl", line)).err
