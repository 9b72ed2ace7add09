"""A judge's verdicts with labels: read in every way, corrected, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from tests.conftest import SAMPLES, Passk, Write, jsonl

DATA = Path(__file__).parents[1] / "data"
EVALPLUS = SAMPLES / "evalplus.csv.gz"
CORRECTING = [name for name in COMMANDS if not load_command(name).runner_class.label_refusal]


def rows(share: float = 0.4, seed: int = 0) -> list[dict[str, object]]:
    """Attempts of two models, with the judge's verdict and a label of some."""
    rng, rows_made = np.random.default_rng(seed), []
    for model, false_pass in (("a", 0.05), ("b", 0.3)):
        rate = rng.random(60)
        for task in range(60):
            for attempt in range(4):
                truth = rng.random() < rate[task]
                verdict = truth or rng.random() < false_pass
                label = bool(truth) if rng.random() < share else None
                rows_made.append({
                    "model": model, "task": f"t{task:02}", "attempt": attempt,
                    "passed": bool(verdict), "human": label, "text": f"{task}-{attempt}",
                })  # fmt: skip
    return rows_made


def as_csv(table: list[dict[str, object]], *columns: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


@pytest.fixture
def judged(write: Write) -> Path:
    return write("r.csv", as_csv(rows(), "model", "task", "attempt", "passed", "human"))


def numbers(found: passk_cli.Findings) -> dict[tuple[str, str], tuple[float, float, float]]:
    return {
        (row["model"], row["metric"]): (row["estimate"], row["low"], row["high"])
        for row in found.frame.to_dict("records")
    }


def test_labels_are_read_from_a_column_a_file_another_outcome_and_a_list(write: Write) -> None:
    table = rows(share=0.6)
    attempts = write("r.csv", as_csv(table, "model", "task", "attempt", "passed"))
    pair = write("both.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    labels = [{**row, "truth": row["human"], "attempt": f"{row['attempt']}.0"} for row in table]
    files = write("labels.csv", as_csv(labels, "task", "model", "attempt", "truth"))
    lists: dict[tuple[object, object], dict[str, object]] = {}
    for row in table:
        record = lists.setdefault(
            (row["model"], row["task"]),
            {"model": row["model"], "task": row["task"], "passed": [], "human": []},
        )
        for name in ("passed", "human"):
            record[name].append(row[name])  # type: ignore[attr-defined]
    nested = write("lists.jsonl", jsonl(lists.values()))
    column = numbers(passk_cli.estimate(pair, fields={"truth": "human"}))
    assert {name for _, name in column} == {"pass@1", "pass@2", "pass^2"}
    for rival in (
        passk_cli.estimate(attempts, truth=str(files)),
        passk_cli.estimate(attempts, truth=str(pair), fields={"truth": "human"}),
        passk_cli.estimate(pair, truth="human"),
        passk_cli.estimate(nested, fields={"truth": "human"}),
        passk_cli.estimate(pd.DataFrame(table)[["model", "task", "attempt", "passed", "human"]],
                           fields={"truth": "human"}),
    ):  # fmt: skip
        assert numbers(rival) == column


@pytest.mark.parametrize(
    ("labels", "passes"), [("1,0,1,0", ()), ("good,bad,good,bad", ("good",)), ("8,1,7,3", ())]
)
def test_labels_are_words_or_0_and_1_beside_scores_that_a_threshold_judges(
    labels: str, passes: tuple[str, ...], write: Write
) -> None:
    numbered = [*zip(range(4), (9, 2, 5, 7), labels.split(","), strict=True)]
    beside = "".join(f"a,{attempt},{score},{label}\n" for attempt, score, label in numbered)
    files = "".join(f"a,{attempt},{label}\n" for attempt, _, label in numbered)
    attempts = write("judged.csv", "task,attempt,score,truth\n" + beside)
    rivals = write("labels.csv", "task,attempt,truth\n" + files)
    for suite_rows in ({"fields": {"truth": "truth"}}, {"truth": str(rivals)}, {"truth": "truth"}):
        counts = passk_cli.read(attempts, threshold=7, passes=passes, **suite_rows)
        truth = counts.attempts["truth"]
        assert counts.c.tolist() == [2]
        assert truth.value.tolist() == [0, 1]
        assert (truth.count.tolist(), truth.pass_count.tolist()) == ([2, 2], [1, 1])


def test_labels_are_joined_by_an_id_or_a_text_where_there_is_no_number(write: Write) -> None:
    table = [{**row, "truth": row["human"]} for row in rows()]
    attempts = write("r.csv", as_csv(table, "model", "task", "text", "passed"))
    labels = write("labels.csv", as_csv(table, "model", "task", "text", "truth"))
    column = write("both.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    joined = passk_cli.estimate(attempts, truth=str(labels), fields={"attempt": "text"})
    assert numbers(joined) == numbers(passk_cli.estimate(column, fields={"truth": "human"}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attempt": "shifted"}, "480 labels of attempts that do not exist, first a at task t00"),
        ({"attempt": None}, "480 labels that fit several attempts"),
        ({"task": "x"}, "labels of attempts that do not exist"),
        ({"truth": None}, "no label"),
    ],
)
def test_labels_that_fit_no_attempt_or_several_are_refused_with_their_number(
    write: Write, change: dict[str, object], said: str
) -> None:
    table = [{**row, "truth": True, **change, "attempt": change.get("attempt", row["attempt"])}
             for row in rows()]  # fmt: skip
    for at, row in enumerate(table):
        if "task" in change or change.get("attempt"):
            row["attempt"] = 100 + at
    attempts = write("r.csv", as_csv(rows(), "model", "task", "attempt", "passed"))
    labels = write("labels.csv", as_csv(table, "model", "task", "attempt", "truth"))
    with pytest.raises(passk_cli.DataError, match=said):
        passk_cli.estimate(attempts, truth=str(labels))


def test_labels_of_models_that_are_not_read_are_left_out_and_said(write: Write) -> None:
    table = [{**row, "truth": row["human"]} for row in rows()]
    labels = write("labels.csv", as_csv(table, "model", "task", "attempt", "truth"))
    suite_rows = [row for row in table if row["model"] == "b"]
    attempts = write("r.csv", as_csv(suite_rows, "model", "task", "attempt", "passed"))
    output = passk_cli.estimate(attempts, truth=str(labels))
    assert [message.name for message in output.messages] == ["labels-of-others"]
    # Rows that are left out keep theirs.
    pair = write("both.csv", as_csv(table, "model", "task", "attempt", "passed"))
    assert numbers(passk_cli.estimate(pair, truth=str(labels), where="model = 'b'")) == numbers(
        output
    )


def test_a_label_for_everything_gives_the_plain_numbers(write: Write) -> None:
    table = [{**row, "human": row["human"]} for row in rows(share=1.0)]
    pair = write("r.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    plain = numbers(passk_cli.estimate(pair, fields={"outcome": "human"}))
    output = numbers(passk_cli.estimate(pair, fields={"truth": "human"}))
    assert output.keys() == plain.keys()
    for key, item in plain.items():
        assert output[key] == pytest.approx(item, abs=1e-12)
    # Of few tasks that differ little, the law of a difference leans on what attempts do.
    rows_made = {"a": [[1, 1, 0, 0]] * 5, "b": [[1, 0]] * 4 + [[0, 0]]}
    few = [{"model": model, "task": task, "passed": 1, "human": label}
           for model, tasks in rows_made.items()
           for task, labels in enumerate(tasks) for label in labels]  # fmt: skip
    differences = [
        [row for data in (pair, few)
         for row in passk_cli.compare(data, "pass@1", fields=fields).frame.to_dict("records")]
        for fields in ({"outcome": "human"}, {"truth": "human"})
    ]  # fmt: skip
    for first, rival in zip(*differences, strict=True):
        for name in ("estimate", "low", "high", "p", "p_adjusted"):
            assert first[name] == pytest.approx(rival[name], abs=1e-12), name


def test_nothing_labelled_is_refused(passk: Passk, write: Write) -> None:
    table = rows(share=0.0)
    path = write("r.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    result = passk("estimate", path, "--field", "truth=human")
    assert result.error == "missing-labels"
    assert "labels of a" in result.err
    # So is a model without any.
    some = [{**row, "human": row["passed"] if row["model"] == "a" else None} for row in table]
    path = write("s.csv", as_csv(some, "model", "task", "attempt", "passed", "human"))
    assert "labels of b" in passk("compare", path, "--field", "truth=human").err


@pytest.mark.parametrize("verdict", [False, True])
def test_labels_of_one_verdict_only_give_no_number(
    passk: Passk, write: Write, verdict: bool
) -> None:
    table = [{**row, "human": row["human"] if row["passed"] == verdict else None} for row in rows()]
    path = write("r.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    result = passk("judge", path, "--field", "truth=human")
    assert (result.code, result.error, result.out) == (3, "missing-labels", "")
    assert "--list FILE" in result.err
    result = passk("estimate", path, "--field", "truth=human", "-f", "json")
    assert [row["estimate"] for row in json.loads(result.out)["rows"]] == [None, None]
    assert "passk judge --list FILE" in result.err


def test_two_judges_without_truth_are_refused_with_why(passk: Passk, judged: Path) -> None:
    result = passk("judge", judged, "--where", "human IS NULL OR true")
    assert result.error == "no-labels"
    assert "even if two judges agree" in result.err
    # A column that is called as labels are is named.
    command = f"passk judge {judged} --where 'human IS NULL OR true' --field truth=human"
    assert f"\n  {command}  # reads the labels\n" in result.err
    assert passk(*shlex.split(command)[1:]).code == 0
    renamed = judged.with_name("renamed.csv")
    renamed.write_text(judged.read_text().replace("human", "second", 1))
    result = passk("judge", renamed)
    assert "; --field truth=COLUMN sets their column; --list FILE writes attempts" in result.err


@pytest.mark.parametrize("outcome", ["human", "passed==human"])
def test_an_outcome_that_names_the_truth_is_refused(
    passk: Passk, judged: Path, outcome: str
) -> None:
    """A judge that is compared with itself would never err."""
    result = passk("judge", judged, "--field", "truth=human", "--field", f"outcome={outcome}")
    assert (result.code, result.error) == (2, "contradicting-options")
    assert "human contains the labels, which correct outcomes" in result.err
    with pytest.raises(passk_cli.PasskError, match="human contains the labels"):
        passk_cli.judge(judged, outcome=outcome, truth="human")


def test_a_list_that_is_longer_than_asked_for_says_why(
    passk: Passk, judged: Path, tmp_path: Path
) -> None:
    ask = ["judge", judged, "--list", tmp_path / "l.csv", "--number"]
    assert "more than 1 attempt per model, because" in " ".join(passk(*ask, "1").out.split())
    assert "each verdict" not in passk(*ask[:-1]).out


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in CORRECTING])
def test_no_command_ignores_labels_in_silence(passk: Passk, judged: Path, name: str) -> None:
    taken = {option.field for option in load_command(name).options()}
    if "fields" not in taken:
        return
    result = passk(name, judged, "--field", "truth=human", *{
        "convert": ["--output", "x.csv"], "record": ["--to", "h.parquet", "--at", "1"],
        "watch": "--min pass@1=0.1 --planned 60 --order completion --looks /dev/null".split(),
        "tasks": ["--against", "a"], "extrapolate": ["--to", "8"],
    }.get(name, []))  # fmt: skip
    assert (result.error, result.out) == ("no-labels", "")
    assert "leave them out" in result.err


@pytest.mark.parametrize("option", ["--crossings", "--flips", "--sensitivity=task"])
def test_an_option_that_counts_verdicts_is_refused(passk: Passk, judged: Path, option: str) -> None:
    result = passk("compare", judged, "--field", "truth=human", option)
    assert result.error == "no-labels"
    assert option.partition("=")[0] in result.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--interval", "guard"], "always use the method"),
        (["--population", "these-tasks"], "only about new tasks"),
        (["--threshold", "0.2,0.5"], "several thresholds"),
        (["--missing", "bounds"], "its label is unknown"),
    ],
)
def test_what_has_no_corrected_number_is_refused(
    passk: Passk, judged: Path, given: list[str], said: str
) -> None:
    result = passk("estimate", judged, "--truth", "human", *given)
    assert result.code in (2, 3)
    assert said in result.err


def test_a_test_that_knows_nothing_of_labels_is_refused(passk: Passk, judged: Path) -> None:
    result = passk("compare", judged, "--field", "truth=human", "--test", "sign-flip")
    assert result.error == "invalid-method"


@pytest.mark.parametrize("command", ["estimate", "judge"])
def test_a_number_that_labels_do_not_reach_is_left_empty_with_what_to_label(
    passk: Passk, judged: Path, command: str
) -> None:
    result = passk(command, judged, "--field", "truth=human", "-k", "1,4")
    assert "warning[few-labels]: passk cannot compute pass@4" in result.err
    assert "k = 4 needs 4 labels in each of 15 tasks or more" in result.err
    assert "passk judge --list FILE writes attempts to label" in result.err
    assert "–" in result.out


def test_the_judge_is_shown_by_model(passk: Passk, judged: Path) -> None:
    output = passk_cli.judge(str(judged), fields={"truth": "human"}).frame.to_dict("records")
    rates = {(row["model"], row["metric"]): row for row in output}
    assert rates["b", "false passes"]["low"] < 0.3 < rates["b", "false passes"]["high"]
    assert rates["a", "false failures"]["estimate"] == 0.0
    # It is kinder to b.
    assert rates["b", "false passes"]["p_alike"] < 0.01
    number = rates["b", "pass@1"]
    assert number["judged"] > number["estimate"]
    assert number["times_as_wide"] > 1
    result = passk("judge", judged, "--field", "truth=human", "--width", "0.2")
    assert "for --width" in result.out


def labelled(path: Path) -> list[tuple[str, ...]]:
    with path.open() as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


def test_attempts_to_label_are_drawn_by_seed_and_have_no_label_yet(
    passk: Passk, judged: Path, tmp_path: Path
) -> None:
    lists = []
    for seed in (0, 0, 1):
        file = tmp_path / "next.csv"
        result = passk("judge", judged, "--field", "truth=human", "--list", file, "--number", "50",
                     "--seed", seed)  # fmt: skip
        assert result.code == 0
        lists.append(labelled(file))
    assert lists[0] == lists[1] != lists[2]
    have = {(str(r["model"]), str(r["task"]), str(r["attempt"]))
            for r in rows() if r["human"] is not None}  # fmt: skip
    chosen = {row[:3] for row in lists[0]}
    assert not chosen & have
    assert {row[3] for row in lists[0]} == {""}
    for model in "ab":
        assert 50 <= sum(row[0] == model for row in lists[0]) <= 70


def test_a_filled_list_is_read_as_labels(passk: Passk, write: Write, tmp_path: Path) -> None:
    table = rows(share=1.0)
    path = write("r.csv", as_csv(table, "model", "task", "attempt", "passed"))
    truth = {(str(r["model"]), str(r["task"]), str(r["attempt"])): r["human"] for r in table}
    file = tmp_path / "labels.csv"
    result = passk("judge", path, "--list", file, "--number", "100", "--each", "4")
    assert "Fill in the column 'truth' of the file" in result.out
    chosen = [row[:3] for row in labelled(file)]
    tasks = [{row[1] for row in chosen if row[0] == model} for model in "ab"]
    # All attempts of 25 tasks, the same of both.
    assert tasks[0] == tasks[1]
    assert len(tasks[0]) == 25
    assert len(chosen) == 200
    filled = [{"model": m, "task": t, "attempt": a, "truth": truth[m, t, a]} for m, t, a in chosen]
    write("labels.csv", as_csv(filled, "model", "task", "attempt", "truth"))
    output = numbers(passk_cli.estimate(path, truth=str(file)))
    assert ("a", "pass^4") in output
    # Names of columns are those of the attempts, which the list need not have.
    rival = write("other.csv", as_csv(table, "model", "task", "attempt", "passed").replace(
        "model,task,attempt,passed", "model,conversation,trial,verdict", 1))  # fmt: skip
    names = {"task": "conversation", "attempt": "trial", "outcome": "verdict"}
    assert numbers(passk_cli.estimate(rival, fields=names, truth=str(file))) == output
    frame = pd.DataFrame(table)[["model", "task", "attempt", "human"]]
    plain = numbers(passk_cli.estimate(frame, fields={"outcome": "human"}))
    for key, (_, low, high) in output.items():
        assert low < plain[key][0] < high, key


def test_labels_of_base_tests_find_the_truth_of_all_tests() -> None:
    """EvalPlus: base tests as the judge, all tests as the truth, 200 labels of each model."""
    corrected = numbers(passk_cli.estimate(EVALPLUS, fields={"truth": "label"}))
    true = numbers(passk_cli.estimate(EVALPLUS, fields={"truth": "plus"}))
    judged = numbers(passk_cli.estimate(EVALPLUS))
    for key, (value, *_) in true.items():
        assert corrected[key][1] < value < corrected[key][2]
        assert judged[key][1] > value


def test_two_scorers_of_a_harness_are_judge_and_truth(write: Write) -> None:
    """EvalPlus's base tests beside all; two scorers of an Inspect log, one of which has gaps."""
    plus = DATA / "evalplus" / "new_eval_results.json"
    got, plain = (
        numbers(passk_cli.estimate(plus, **values))
        for values in ({"outcome": "base", "truth": "plus"}, {"outcome": "plus"})
    )
    assert got == plain
    samples = [
        {"id": task, "epoch": epoch, "scores": {
            "model_graded": {"value": "C" if (task + epoch) % 3 else "I", "answer": "4"},
            **({"human": {"value": "C" if task % 3 else "I"}} if task % 2 else {})}}
        for task in range(60) for epoch in (1, 2)
    ]  # fmt: skip
    log = {"version": 2, "status": "success", "samples": samples,
           "eval": {"task": "t", "run_id": "r", "model": "m"}}  # fmt: skip
    path = write("logs/log.json", json.dumps(log))
    output = passk_cli.estimate(path, outcome="model_graded", truth="human")
    assert "corrected by 60 labels of 30 tasks" in str(output)


def of_pairs(layout: str) -> str:
    """Results of a harness, whose test cases have a judge's verdict, and half of them a person's,
    of 40 questions × 3 answers."""
    cases: list[dict[str, object]] = []
    for case in range(120):
        question, verdict = f"question {case % 40}", bool(case % 3)
        human = [case % 5 != 0] if case % 2 else []
        if layout == "promptfoo":
            messages = [("llm-rubric", verdict), *(("human", item) for item in human)]
            cases.append({
                "testIdx": case, "promptIdx": 0, "vars": {"q": question}, "success": messages[-1][
                1],
                "score": 1, "failureReason": 0, "provider": {"id": "m"}, "prompt": {"raw": "{{q}}"},
                "gradingResult": {"componentResults": [
                    {"pass": item, "score": int(item), "assertion": {"type": name}}
                    for name, item in messages
                ]},
            })  # fmt: skip
        else:
            metrics = [("Correctness [GEval]", verdict), *(("Human", item) for item in human)]
            cases.append({
                "name": f"test_case_{case}", "input": question, "success": verdict,
                "metricsData": [{"name": name, "success": item} for name, item in metrics],
            })  # fmt: skip
    if layout == "promptfoo":
        return jsonl(cases)
    run = {"testCases": cases, "conversationalTestCases": [], "metricsScores": []}
    return json.dumps({"testRunData": {**run, "hyperparameters": {"model": "m"}}})


@pytest.mark.parametrize(
    ("layout", "name", "judge", "truth"),
    [
        ("promptfoo", "out.jsonl", "llm-rubric", "human"),
        ("deepeval", "test_run.json", "Correctness [GEval]", "Human"),
    ],
)
def test_a_second_assertion_or_metric_of_a_record_is_its_truth(
    write: Write, layout: str, name: str, judge: str, truth: str
) -> None:
    """Against a table of the same verdicts and labels."""
    path = write(name, of_pairs(layout))
    table = [
        {"model": "m", "task": f"question {case % 40}", "attempt": case, "passed": bool(case % 3),
         "human": case % 5 != 0 if case % 2 else None}
        for case in range(120)
    ]  # fmt: skip
    plain = write("plain.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    output = passk_cli.estimate(path, outcome=judge, truth=truth)
    expected = numbers(passk_cli.estimate(plain, fields={"truth": "human"}))
    got = numbers(output)
    assert got.keys() == expected.keys()
    for key, value in expected.items():
        assert got[key] == pytest.approx(value), key
    assert "corrected by 60 labels of 20 tasks" in str(output)


def test_attempts_without_a_number_are_listed_by_their_place(
    passk: Passk, write: Write, tmp_path: Path
) -> None:
    path, file = write("test_run.json", of_pairs("deepeval")), tmp_path / "next.csv"
    judge = ["--outcome", "Correctness [GEval]"]
    assert passk("judge", path, *judge, "--list", file, "--number", "60").code == 0
    names = [row[2] for row in labelled(file)]
    assert len(set(names)) == len(names) >= 60
    assert all(name.startswith(f"{path}: testCases[") for name in names)
    file.write_text(file.read_text().replace('""\n', "true\n"))
    output = passk_cli.estimate(path, outcome=judge[1], truth=str(file))
    assert f"corrected by {len(names)} labels of" in str(output)


def test_labels_are_read_with_counts_and_stay_with_them(write: Write) -> None:
    table = rows()
    labels = pd.DataFrame([{**row, "truth": row["human"]} for row in table])
    counts = passk_cli.read(pd.DataFrame(table).drop(columns="human"), truth=labels)
    path = write("r.csv", as_csv(table, "model", "task", "attempt", "passed", "human"))
    assert numbers(passk_cli.estimate(counts)) == numbers(
        passk_cli.estimate(path, fields={"truth": "human"})
    )
    with pytest.raises(passk_cli.ParameterError, match="uses each single verdict"):
        passk_cli.tasks(counts)


def test_labels_of_other_models_correct_one_attempt_with_a_warning(write: Write) -> None:
    rivals = write("o.csv", as_csv(rows(seed=1), "model", "task", "attempt", "passed", "human"))
    suite_rows = write("r.csv", as_csv(rows(), "model", "task", "attempt", "passed"))
    values = {"truth_from": str(rivals), "fields": {"truth": "human"}}
    with pytest.warns(passk_cli.PasskWarning, match="judge errs equally often"):
        output = passk_cli.estimate(suite_rows, **values)
    assert {name for _, name in numbers(output)} == {"pass@1"}
    assert "others-labels" in [message.name for message in output.messages]
    for option, value in (("truth", str(rivals)), ("k", 2)):
        with warnings.catch_warnings(action="ignore"):
            if option == "k":
                row = passk_cli.estimate(suite_rows, **values, k=2).frame.iloc[0]
                assert "only metrics with k = 1" in row["note"]
                continue
            with pytest.raises(passk_cli.ParameterError, match="already have labels"):
                passk_cli.estimate(suite_rows, **values, **{option: value})
