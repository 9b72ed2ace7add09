"""What a screen offers: kinds of files that once had no option, or a wrong one."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli import DataError
from passk_cli.files.reading.candidates import Candidates
from tests.conftest import Passk, Write, jsonl, long_cases
from tests.proposals import commands

Rows = Sequence[Mapping[str, Any]]


@pytest.fixture
def screen(write: Write) -> Callable[..., Candidates]:
    """The candidates of a file that is refused."""

    def candidates_of(text: str, name: str = "runs.jsonl") -> Candidates:
        with pytest.raises(DataError) as caught:
            passk_cli.read(str(write(name, text)))
        assert isinstance(caught.value.candidates, Candidates)
        return caught.value.candidates

    return candidates_of


def columns(candidates: Candidates, role: str) -> list[str]:
    return [candidate.column for candidate in candidates.get(role, ())]


def test_a_list_of_models_is_not_a_list_of_attempts(passk: Passk, write: Write) -> None:
    models = [{"id": name, "passed": passed, "total": 91} for name, passed in
              (("A", 91), ("B", 74), ("C", 78))]  # fmt: skip
    path = write("board.json", json.dumps({"models": models}))
    result = passk("estimate", path)
    assert result.code == 3
    assert not commands(result.err)
    passk("describe", path, "--init", path.with_name("passk.toml"))
    assert passk("estimate", path).error == "open-role"


@pytest.mark.parametrize("pred", [["1"], "1", [1]])
def test_an_answer_in_a_list_of_one_is_compared(passk: Passk, write: Write, pred: Any) -> None:
    rows = [{"question": f"q{i}", "gt": str(i % 2), "pred": pred} for i in range(20)]
    path = write("runs.jsonl", jsonl(rows))
    result = passk("estimate", path)
    assert "--field outcome=pred==gt  10 of 20 agree" in result.err
    result = passk("estimate", path, "--field", "outcome=pred==gt", "--field", "task=question")
    assert "pass@1 0.500" in result.out


def test_a_verdict_with_a_word_of_time_or_the_highest_reward_is_offered(screen: Any) -> None:
    rows = [{"question": f"q{i}", "found_correct_chunk": i % 3 > 0,
             "turns": {"max_reward": (0, 0.5, 1)[i % 3]}} for i in range(12)]  # fmt: skip
    candidates = screen(jsonl(rows))
    assert {"found_correct_chunk", "turns.max_reward"} <= {*columns(candidates, "outcome")}


def test_a_constant_flag_is_offered_only_without_alternatives(screen: Any) -> None:
    rows = [{"goal": f"g{i}", "jailbroken": True} for i in range(9)]
    assert columns(screen(jsonl(rows)), "outcome") == ["jailbroken"]
    varied = [{**row, "safe": i % 2 > 0} for i, row in enumerate(rows)]
    assert columns(screen(jsonl(varied)), "outcome") == ["safe"]


def test_equal_verdicts_are_both_offered(screen: Any) -> None:
    rows = [{"task_id": f"t{i}", "silent": i % 4 == 0, "won_with_control": i % 4 > 0,
             "raw_success": i % 5 > 0} for i in range(20)]  # fmt: skip
    assert {*columns(screen(jsonl(rows)), "outcome")} == {"won_with_control", "raw_success"}


def test_fields_of_the_only_record_of_a_list_are_offered(screen: Any) -> None:
    attempts = [{"question": f"q{i}", "completions": [{"score": i % 2}, {"score": 1}],
                 "best_score": 1.0} for i in range(8)]  # fmt: skip
    document = {"groups": [{"name": "g", "sets": [{"name": "s", "results": attempts}]}]}
    candidates = screen(json.dumps(document, indent=1), "runs.json")
    assert candidates.records_key == "groups.sets.results"
    assert "completions.score" in columns(candidates, "outcome")


def test_text_that_separates_passes_from_failures_is_not_a_setting(
    passk: Passk, write: Write
) -> None:
    rows = [{"task": f"t{i % 8}", "model": "m", "success": i % 3 > 0, "arm": "ab"[i // 24],
             "log": f"tests passed={i % 3 and 50 + i % 2} of 90"} for i in range(48)]  # fmt: skip
    assert "--by log" not in passk("estimate", write("runs.jsonl", jsonl(rows))).err


def test_a_folder_is_tallied_over_its_files(passk: Passk, tmp_path: Path) -> None:
    for number in range(5):
        rows = [{"question": f"q{i}", "cited": i > 2 or number > 0, "kept": (i + number) % 2 > 0}
                for i in range(30)]  # fmt: skip
        (tmp_path / f"e{number}.jsonl").write_text(jsonl(rows))
    result = passk("estimate", tmp_path)
    assert "75 false, 75 true" in result.err
    assert "values of" not in result.err
    for number in range(60):
        (tmp_path / f"f{number:02}.jsonl").write_text(jsonl(rows))
    assert "values of the first 1,000 records of 34 of 65 files" in passk("estimate", tmp_path).err


def test_all_concatenated_documents_are_read_for_the_screen(screen: Any) -> None:
    rows = [{"case": f"c{i}", "verdict_a": i % 2 > 0, "verdict_b": i % 3 > 0} for i in range(30)]
    candidates = screen("\n".join(json.dumps(row, indent=1) for row in rows))
    assert candidates.row_count == 30


def test_the_threshold_is_asked_before_the_settings(passk: Passk, write: Write) -> None:
    rows = "".join(f"t{i},{mode},{(i % 4) / 3:.3f}\n" for i in range(12) for mode in ("on", "off"))
    path = write("runs.csv", "task,condition,score\n" + rows)
    result = passk("estimate", path)
    assert result.error == "bad-outcome"
    assert not commands(result.err)
    result = passk("estimate", path, "--threshold", "1")
    assert result.error == "pooled-settings"
    assert [passk(*words).code for words in commands(result.err)] == [0] * len(commands(result.err))


def test_a_folder_of_tasks_has_one_screen(passk: Passk, tmp_path: Path) -> None:
    for number in range(6):
        folder = tmp_path / f"case-{number}"
        folder.mkdir()
        verdict = {"verdict": "PASS" if number % 2 else "PARTIAL", "note": "n"}
        (folder / "judge.json").write_text("null" if number == 5 else json.dumps(verdict))
    result = passk("estimate", tmp_path)
    assert "--path '{task}/judge.json'" in result.err
    assert "3 PARTIAL, 2 PASS" in result.err


def test_the_map_of_a_screen_is_found_next_to_the_data(passk: Passk, workdir: Path) -> None:
    folder = workdir / "runs"
    folder.mkdir()
    rows = [{"question": f"q{i}", "met": i % 2 > 0, "kept": i % 3 > 0} for i in range(12)]
    (folder / "a.jsonl").write_text(jsonl(rows))
    (line,) = (line for line in passk("estimate", "runs").err.splitlines() if "--init" in line)
    assert passk(*line.partition("  # ")[0].split()[1:]).code == 0
    assert passk("estimate", "runs").error == "open-role"


def test_two_names_of_the_outcome_in_a_folder_lead_to_a_question(
    passk: Passk, tmp_path: Path
) -> None:
    for name, outcome in (("a", "llm_correct"), ("b", "correct")):
        records = [{"instance_id": i, outcome: (i + len(name)) % 3 > 0} for i in range(20)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"engine": name, "instances": records}))
    result = passk("estimate", tmp_path)
    assert (result.code, result.out) == (3, "")
    assert "--field outcome=llm_correct" in result.err


def test_two_possible_places_leave_the_roles_of_a_draft_open(passk: Passk, write: Write) -> None:
    part = {f"t{i}": {"task": f"t{i}", "score": i % 2 > 0} for i in range(4)}
    path = write("parts.json", json.dumps({"logs": {"a": {"x": part}, "b": {"y": part}}}))
    passk("describe", path, "--init", path.with_name("passk.toml"))
    assert passk("estimate", path).error == "open-role"


@pytest.mark.parametrize("word", ["KILLED", "SURVIVED"])
def test_either_of_two_words_may_pass(screen: Any, word: str) -> None:
    rows = [{"mutation_id": i, "verdict": ("KILLED", "SURVIVED")[i % 3 == 0]} for i in range(12)]
    (verdict,) = screen(jsonl(rows))["outcome"]
    assert (word,) in [way.options["--passes"] for way in verdict.pass_definitions]


def test_numbers_in_questions_and_answers_are_not_errors(passk: Passk, write: Write) -> None:
    rows = [{"task": f"t{i}", "question": f"{i} of 500 bolts", "answer": f"500 of {i}",
             "passed": i % 2 > 0} for i in range(20)]  # fmt: skip
    assert "errors-as-failures" not in passk("estimate", write("a.jsonl", jsonl(rows))).err
    for row in rows[::2]:
        row["answer"] = "connections"
    assert "errors-as-failures" not in passk("estimate", write("c.jsonl", jsonl(rows))).err
    for row in rows[::2]:
        row["answer"] = "HTTP 503"
    assert "errors-as-failures" in passk("estimate", write("b.jsonl", jsonl(rows))).err


def test_parts_that_are_named_above_their_records_are_kept_apart(
    passk: Passk, write: Write
) -> None:
    parts = [{"indicator_name": name, "case_datas": [{"case_id": f"{i}", "passed": i % k > 0}
              for i in range(25)]} for k, name in ((2, "logical"), (3, "syntax"))]  # fmt: skip
    result = passk("estimate", write("runs.json", json.dumps(parts)), "--records", "case_datas",
                 "--field", "task=case_id")  # fmt: skip
    assert result.error == "pooled-settings"
    assert "--by indicator_name" in result.err
    for words in commands(result.err):
        assert passk(*words).code == 0


def test_counts_per_model_are_offered_as_one_task(passk: Passk, write: Write) -> None:
    path = write("totals.csv", "model,n,c\nx,164,131\ny,164,118\n")
    assert "--field task=@value:all  one task with all attempts" in passk("estimate", path).err
    result = passk("estimate", path, "--field", "task=@value:all", "--population", "these-tasks")
    assert "pass@1 0.799" in result.out


def test_attempts_at_one_question_by_model_are_offered_as_one_task(
    passk: Passk, write: Write
) -> None:
    answers = {
        name: [{"met": i % k > 0, "feedback": f"{name} {i}", "question": "Why?"} for i in range(10)]
        for k, name in ((2, "gpt-4o"), (3, "o1-mini"))
    }
    path = write("runs.json", json.dumps({"friend": answers}))
    result = passk("estimate", path)
    assert "--records 'friend.{model}'" in result.err
    assert "--field task=@value:all" in result.err
    result = passk("estimate", path, "--records", "friend.{model}", "--field", "task=@value:all",
                 "--field", "outcome=met", "--passes", "true")  # fmt: skip
    assert "o1-mini scores highest: pass@1 0.600" in result.out


@pytest.mark.parametrize(
    ("columns_", "expected"),
    [
        (("predicted_label", "label"), ["predicted_label==label"]),
        (("model_label", "true_label"), ["model_label==true_label"]),
        (("prediction", "label", "target"), ["prediction==target", "prediction==label"]),
    ],
)
def test_an_answer_is_compared_with_each_reference(
    screen: Any, columns_: Sequence[str], expected: Sequence[str]
) -> None:
    rows = [{"text": f"t{i}", **{name: "xyz"[(i + k * (i % 4 == 0)) % 3]
             for k, name in enumerate(columns_)}} for i in range(24)]  # fmt: skip
    compared = [name for name in columns(screen(jsonl(rows)), "outcome") if "==" in name]
    assert {*expected} <= {*compared}
    assert all(answer != reference for answer, reference in (name.split("==") for name in compared))


@pytest.mark.parametrize(("n", "c"), [("total_steps", "correct_steps"), ("turn_count", "correct")])
def test_what_happens_in_an_attempt_is_not_a_number_of_attempts(
    screen: Any, n: str, c: str
) -> None:
    rows = [{"scenario": f"t{i}", n: 5 + i % 7, c: i % 4, "goal_achieved": i % 3 > 0}
            for i in range(24)]  # fmt: skip
    assert "counts" not in screen(jsonl(rows))


def test_counts_of_rows_by_category_get_no_command(passk: Passk, write: Write) -> None:
    path = write("totals.csv", "category,count,correct\nmath,50,31\ncode,40,22\nlaw,80,60\n")
    result = passk("estimate", path)
    assert not commands(result.err)
    assert "--field task=category" in result.err
    assert "--field n=count --field c=correct" in result.err


@pytest.mark.parametrize(
    "text",
    [
        "Model,Acc,Total\ngpt-4o,71.2,164\nclaude-3-opus,70.1,164\n",
        json.dumps({"gpt-4o": {"acc": 0.7, "total": 9}, "claude-3-opus": {"acc": 0.6, "total": 9}}),
    ],
)
def test_one_row_per_model_with_grades_is_a_summary(passk: Passk, write: Write, text: str) -> None:
    result = passk("estimate", write("board.csv" if text[0] == "M" else "board.json", text))
    assert result.error == "summary"
    assert not commands(result.err)


def test_a_command_that_lacks_another_column_is_not_printed(passk: Passk, write: Write) -> None:
    text = "Model,Acc,Correct,Total\ngpt-4o,0.71,100,164\nclaude-3-opus,0.7,90,164\n"
    result = passk("estimate", write("board.csv", text))
    assert (result.error, commands(result.err)) == ("ambiguous-column", [])
    assert "--field n=Total --field c=Correct" in result.err


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (("gpt_result",), ("1", "2", "Tie")),
        (("answer_a", "answer_b", "verdict"), ("A", "B", "tie")),
        (("response_1", "response_2", "label"), ("1", "2")),
        (("vicuna", "alpaca", "choice"), ("vicuna", "alpaca")),
    ],
)
def test_values_that_name_two_sides_are_a_preference(
    passk: Passk, write: Write, fields: Sequence[str], values: Sequence[str]
) -> None:
    *answers, choice = fields
    rows = [{"prompt": f"p{i}", **{name: f"{name} says {i}" for name in answers},
             choice: values[(i + i // 5) % len(values)]} for i in range(24)]  # fmt: skip
    result = passk("estimate", write("pairs.jsonl", jsonl(rows)))
    assert result.error == "preferences"


def test_one_file_per_run_is_not_one_task_per_file(passk: Passk, tmp_path: Path) -> None:
    for i in range(24):
        record = {"run_id": f"r{i}", "prompt": f"Do {i % 6}", "success": i * i % 5 > 1}
        (tmp_path / f"{i:03}_x.json").write_text(json.dumps(record))
    result = passk("estimate", tmp_path)
    assert result.err.index("--field task=prompt") < result.err.index("--path")
    (command,) = commands(result.err)
    assert "6 tasks × 4 attempts" in passk(*command).out


def test_whether_an_attempt_ran_is_offered_after_its_verdict(screen: Any) -> None:
    rows = [{"problem": f"p{i}", "ran": i % 9 > 0, "equal": i % 9 > 4} for i in range(18)]
    assert columns(screen(jsonl(rows)), "outcome")[:2] == ["equal", "ran"]


def test_words_that_never_vary_between_attempts_are_not_outcomes(screen: Any) -> None:
    rows = [{"question": f"q{i % 12}", "decision": "ab"[i % 12 % 2], "category": "xyz"[i % 3],
             "answer_ok": i % 5 > 1} for i in range(48)]  # fmt: skip
    candidates = screen(jsonl(rows))
    assert columns(candidates, "outcome") == ["answer_ok"]
    assert "category" in columns(candidates, "setting")


def test_records_come_before_a_score_of_the_document_above_them(passk: Passk, write: Write) -> None:
    cases = [{"question": f"q{i}", "met": i % 3 > 0} for i in range(24)]
    document = [{"task": "run", "score": 0.67, "examples": cases}]
    path = write("run.json", json.dumps(document))
    result = passk("estimate", path)
    assert (result.error, commands(result.err)) == ("ambiguous-records", [])
    assert result.err.index("--records examples") < result.err.index("--records .")
    assert "outcome=score" not in result.err
    result = passk("estimate", path, "--records", "examples", "--field", "task=question",
                 "--field", "outcome=met", "--passes", "true")  # fmt: skip
    assert "pass@1 0.667" in result.out


def test_a_short_column_with_the_expected_values_is_compared(screen: Any) -> None:
    rows = [{"question": f"q{i}", "response": f"Let me think about {i}. " * 8,
             "extracted": str((i + (i % 3 == 0)) % 4), "ground_truth": str(i % 4)}
            for i in range(24)]  # fmt: skip
    assert columns(screen(jsonl(rows)), "outcome") == ["extracted==ground_truth"]


def test_long_prompts_are_not_named_like_models(passk: Passk, write: Write) -> None:
    rows = [{"prompt": f"Load the weights of net-{i % 8}b, 7b. {'Then do what it says. ' * 9}",
             "passed": i % 3 > 0} for i in range(24)]  # fmt: skip
    (command,) = commands(passk("estimate", write("runs.jsonl", jsonl(rows))).err)
    result = passk(*command)
    assert "8 tasks × 3 attempts" in result.out
    assert "unlikely-tasks" not in result.err


def test_a_draft_of_a_folder_names_the_folder_and_the_suffix(passk: Passk, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    rows = [{"question": f"q{i}", "met": i % 2 > 0, "kept": i % 3 > 0} for i in range(12)]
    for model in ("gpt-4.1", "gpt-4.1-mini"):
        (folder / f"{model}.jsonl").write_text(jsonl(rows))
    passk("describe", folder, "--init", folder / "passk.toml")
    draft = (folder / "passk.toml").read_text()
    assert 'files = ["*.jsonl"]' in draft
    assert f"passk estimate {folder} --map" in draft


@pytest.mark.parametrize("form", ["csv", *long_cases("jsonl", "json")])
def test_the_command_of_a_long_file_is_tried_on_its_beginning(
    passk: Passk, write: Write, form: str
) -> None:
    rows = [{"prompt": f"Question number {i}, with some words", "passed": i % 3 > 0}
            for i in range(30_000)]  # fmt: skip
    texts = {"jsonl": jsonl, "json": json.dumps}
    for missing in (False, True):
        if missing:
            rows[2000] = {**rows[2000], "passed": None}
        table = "".join(f'"{row["prompt"]}",{row["passed"]}\n' for row in rows)
        text = texts[form](rows) if form in texts else "prompt,passed\n" + table
        result = passk("estimate", write(f"runs{missing}.{form}", text.replace("None", "")))
        assert all("--missing" in words for words in commands(result.err)) == missing
        assert " in all)" not in result.err
        assert {passk(*words).code for words in commands(result.err)} == {0}


def test_a_screen_asks_one_question(passk: Passk, write: Write) -> None:
    rows = [{"prompt": f"p{i}", "entry": f"e{i // 2}", "met": i % 2 > 0} for i in range(12)]
    (line, *_) = passk("estimate", write("runs.jsonl", jsonl(rows))).err.splitlines()
    assert line.count("?") == 1


def test_ids_of_runs_of_a_few_questions_are_not_tasks(passk: Passk, write: Write) -> None:
    rows = [{"id": f"{i:04x}", "question": f"Why {i % 6}?", "is_correct": i % 5 > 1}
            for i in range(72)]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", jsonl(rows)))
    assert "warning[rows-as-tasks]" in result.err
    assert "--field task=question" in result.err


def test_the_verdict_of_each_judge_can_be_chosen_if_each_attempt_has_one(
    passk: Passk, write: Any
) -> None:
    rows = [{"question": f"q{i % 10}", "reviews": [{"judge": "ab"[i % 3 > 0], "ok": i % 2 > 0}]}
            for i in range(30)]  # fmt: skip
    path = write("log.jsonl", jsonl(rows))
    option = "--field outcome=reviews[judge=a].ok"
    assert option in passk("estimate", path).err.replace("'", "")
    result = passk("estimate", path, "--field", "task=question", *option.split())
    assert (result.code, "no-such-column" in result.err) == (3, False)
    assert "--missing drop" in result.err
    result = passk(
        "estimate", path, "--field", "task=question", *option.split(), "--missing", "drop"
    )
    assert "pass@1 0.5" in result.out


def test_a_match_with_the_gold_answer_is_an_outcome(screen: Any) -> None:
    rows = [{"question": f"q{i}", "label": i % 3, "answer_matches_gold": i % 4 > 0}
            for i in range(24)]  # fmt: skip
    assert columns(screen(jsonl(rows)), "outcome")[0] == "answer_matches_gold"


def test_columns_without_a_telling_name_are_offered_last(screen: Any) -> None:
    ended = ("calm", "pressed")
    rows = [{"question": f"q{i % 8}", "ok": i % 9 > 0,
             "category": ended[i % 2] if i % 9 else "error",
             "compliance": (0, 86, 100)[i * i % 5 % 3], "tokens": i % 5}
            for i in range(24)]  # fmt: skip
    assert {*columns(screen(jsonl(rows)), "outcome")[1:]} == {"category", "compliance"}


def test_numbers_without_a_verdict_are_listed_and_not_counted(passk: Passk, write: Any) -> None:
    rows = [{"question": f"q{i % 8}", "compliance": (0, 86, 100)[i % 3]} for i in range(24)]
    result = passk("estimate", write("m.jsonl", jsonl(rows)))
    assert (result.code, result.error) == (3, "no-outcome-column")
    assert "--field outcome=compliance" in result.err
    assert not [line for line in result.err.splitlines() if line.startswith("  passk estimate")]


@pytest.mark.parametrize("count", ["correct_answer", "task_1_success_total"])
def test_an_index_and_a_total_are_not_passes(screen: Any, count: str) -> None:
    rows = [{"question": f"q{i}", "task_0_success_total": 20, count: i % 4, "safe": i % 3 > 0}
            for i in range(20)]  # fmt: skip
    assert "counts" not in screen(jsonl(rows))


def test_a_possible_task_column_is_preferred_to_files_as_tasks(
    passk: Passk, tmp_path: Path
) -> None:
    for model in ("one_high", "two_mini", "three"):
        rows = [f"{case},{(case + len(model)) % 3 > 0}" for case in range(1, 11) for _ in range(3)]
        (tmp_path / f"{model}.csv").write_text("\n".join(["fallnummer,correct", *rows, ""]))
    result = passk("estimate", tmp_path)
    assert (result.code, result.error) == (3, "no-task-column")
    printed = [line for line in result.err.splitlines() if line.startswith("  passk estimate")]
    assert [line for line in printed if "--field task=fallnummer" in line] == printed != []


def test_repeats_under_two_settings_are_not_reported_as_copies(passk: Passk, write: Any) -> None:
    rows = [{"task": f"t{i}", "attempt": 1, "passed": (i + (s == "b")) % 3 > 0, "suite": s}
            for s in "ab" for i in range(6)]  # fmt: skip
    # One attempt more is a repeat within its suite, so the suite does not explain all repeats.
    result = passk("estimate", write("m.jsonl", jsonl([*rows, {**rows[5], "passed": False}])))
    assert (result.code, result.error) == (3, "duplicate-attempts")
    assert "the two differ in suite; report each setting separately with --by suite" in result.err
    assert "--duplicates" not in result.err


@pytest.mark.parametrize(("passed", "c"), [(False, 0), (True, 8)])
def test_a_column_that_never_varies_gets_no_command(
    passk: Passk, write: Write, passed: bool, c: int
) -> None:
    rows = [{"item": f"t{i}", "is_correct": passed} for i in range(20)]
    path = write("runs.jsonl", jsonl(rows))
    result = passk("estimate", path)
    assert "--field outcome=is_correct" in result.err
    assert not any(words[0] == "estimate" for words in commands(result.err))
    count_rows = [{"item": f"t{i}", "n_samples": 8, "n_correct": c} for i in range(20)]
    result = passk("estimate", write("counts.jsonl", jsonl(count_rows)))
    assert "--field task=item" in result.err
    assert not any(words[0] == "estimate" for words in commands(result.err))
    # A draft is not surer than a command.
    passk("describe", path, "--init", path.with_name("passk.toml"))
    assert passk("estimate", path).error == "open-role"


def test_a_draft_names_the_only_model(passk: Passk, write: Write) -> None:
    rows = [{"case": f"t{i // 3}", "is_correct": i % 2 > 0, "llm_used": "gpt-4o"}
            for i in range(30)]  # fmt: skip
    path = write("runs.jsonl", jsonl(rows))
    passk("describe", path, "--init", path.with_name("passk.toml"))
    assert "gpt-4o: pass@1 0.500" in passk("estimate", path).out


def test_lists_of_other_records_are_not_models(screen: Any) -> None:
    models = ("gpt-4o", "claude-3", "llama-3")
    summary = [{"model": model, "passed": 10, "total": 20} for model in models]
    attempts = [{"case_name": f"q{i}", "llm": model, "verdict": "good" if i % 3 else "poor"}
                for i in range(20) for model in models]  # fmt: skip
    candidates = screen(json.dumps({"summary": summary, "attempts": attempts}), "runs.json")
    assert (candidates.records_key, columns(candidates, "task")) == ("attempts", ["case_name"])


def test_a_leaderboard_comes_after_its_details(screen: Any) -> None:
    board = [{"name": name, "score": 0.4 + at / 10} for at, name in enumerate("abcd")]
    details = {name: [{"prompt_name": f"q{i}", "pass": (i + at) % 3 > 0} for i in range(15)]
               for at, name in enumerate("abcd")}  # fmt: skip
    candidates = screen(json.dumps({"leaderboard": board, "details": details}), "runs.json")
    assert candidates.records_key == "details.{model}"


def test_a_verdict_on_a_step_is_not_the_verdict_on_the_attempt(screen: Any) -> None:
    rows = [{"instance": f"t{i}", "resolved_ok": i % 3 > 0,
             "trajectory": [{"task": f"a{j}", "success": j % 2 > 0} for j in range(5)]}
            for i in range(20)]  # fmt: skip
    assert columns(screen(jsonl(rows)), "outcome") == ["resolved_ok"]


@pytest.mark.parametrize("inside", [True, False])
def test_a_file_per_attempt_has_tasks_by_their_places(
    passk: Passk, tmp_path: Path, inside: bool
) -> None:
    for trial in range(3):
        flags = [(i * 5 + trial) % 7 < 3 for i in range(20)]
        rows = [{"passed": flag, "tokens": i} for i, flag in enumerate(flags)]
        text = json.dumps({"results": flags}) if inside else jsonl(rows)
        (tmp_path / f"trial_{trial}.json").write_text(text)
    result = passk("estimate", tmp_path)
    option = "--field task=@position --field model=@value:all --path 'trial_{attempt}.json'"
    assert f"{option}  if each file is an attempt" in result.err
    records = ("--records", "results") if inside else ()
    result = passk("estimate", tmp_path, *shlex.split(option), *records)
    assert "20 tasks × 3 attempts" in result.out


@pytest.mark.parametrize(
    "rows",
    [
        [{"rank": i + 1, "team": f"team{i}", "score": 0.9 - i / 20} for i in range(10)],
        [{"team": f"team{i}", "rank": i + 1, "solved": 10 - i} for i in range(10)],
        [{"model": name, "median": at / 10, "mean": at / 9, "pass": at % 2}
         for at, name in enumerate(("gpt-4o", "claude-3", "llama-3", "qwen2"))],
    ],
)  # fmt: skip
def test_ranks_and_medians_make_a_summary(passk: Passk, write: Write, rows: Rows) -> None:
    assert passk("estimate", write("board.jsonl", jsonl(rows))).error == "summary"


def test_columns_are_models_only_if_their_verdicts_are_of_one_kind(
    passk: Passk, write: Write
) -> None:
    rows = [{"item": f"q{i}", "gpt-4o": i % 2, "claude-3": i % 3 % 2} for i in range(20)]
    assert "if each column is a model" in passk("estimate", write("a.jsonl", jsonl(rows))).err
    mixed = [{**row, "gpt-4o": "yes" if row["gpt-4o"] else "no"} for row in rows]
    rated = [{**row, "quality": ("good", "bad")[i % 2]} for i, row in enumerate(rows)]
    for number, records in enumerate((mixed, rated)):
        result = passk("estimate", write(f"b{number}.jsonl", jsonl(records)))
        assert "if each column is a model" not in result.err


@pytest.mark.parametrize(
    ("values", "bars"),
    [([0, 0.25, 0.5, 1], ["1.0", "0.25"]), ([i / 40 for i in range(41)], ["1.0"])],
)
def test_thresholds_are_the_ends_of_a_scale(
    passk: Passk, write: Write, values: Sequence[float], bars: Sequence[str]
) -> None:
    rows = [{"question": f"q{i}", "rating": values[i % len(values)]} for i in range(82)]
    result = passk("estimate", write("runs.jsonl", jsonl(rows)))
    assert re.findall("--threshold ([0-9.]+)", result.err) == bars


def test_a_printed_command_counts_missing_outcomes_as_failures(passk: Passk, write: Write) -> None:
    rows = [{"task": f"t{i}", "arm": arm, "judge": judge, "passed": None if i == 3 else i % 2 > 0}
            for i in range(12) for arm in "ab" for judge in "xy"]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", jsonl(rows)))
    printed = [line for line in result.err.splitlines() if line.startswith("  passk estimate")]
    failing = [line for line in printed if "--missing fail" in line]
    assert failing
    assert all("attempts without an outcome fail" in line for line in failing)


def test_the_same_questions_under_each_key_make_the_keys_a_setting(
    passk: Passk, write: Write
) -> None:
    under = {way: [{"question": f"How much is {i} + {i}?", "correct": (i + at) % 3 > 0}
                   for i in range(30)] for at, way in enumerate(("direct", "cot"))}  # fmt: skip
    path = write("runs.json", json.dumps(under))
    result = passk("estimate", path)
    assert (result.code, result.error) == (3, "coarse-tasks")
    (command,) = commands(result.err)
    assert command[-4:] == ["--field", "task=question", "--by", "task"]
    assert "30 tasks × 1 attempt" in passk(*command).out


def test_another_verdict_is_not_a_statement_of_the_task(passk: Passk, write: Write) -> None:
    rows = [{"task": f"a{i}", "attempt": j, "success": (i + j) % 3 > 0,
             "target_action_achieved": (i + j) % 3 > 0 if i else j > 0}
            for i in range(20) for j in range(3)]  # fmt: skip
    result = passk("estimate", write("runs.jsonl", jsonl(rows)))
    assert result.error != "coarse-tasks"
    answers = [{**row, "target_action_achieved": f"move {i}"} for i, row in enumerate(rows)]
    assert passk("estimate", write("other.jsonl", jsonl(answers))).error == "coarse-tasks"


def test_a_column_of_nulls_does_not_name_a_model(passk: Passk, write: Write) -> None:
    rows = [{"task": f"t{i}", "passed": i % 2 > 0, "model": None} for i in range(12)]
    assert "runs: pass@1 0.500" in passk("estimate", write("runs.jsonl", jsonl(rows))).out
    rows[3]["model"] = "gpt-4o"
    assert passk("estimate", write("some.jsonl", jsonl(rows))).error == "missing-name"


@pytest.mark.parametrize(
    ("names", "open_role"),
    [(("scenario_id", "input", "model"), "task"),
     (("case", "generator_model", "evaluator_model"), "model")],
)  # fmt: skip
def test_a_draft_leaves_open_what_may_be_a_setting(
    passk: Passk, write: Write, names: tuple[str, str, str], open_role: str
) -> None:
    rows = [{**dict(zip(names, (f"s{i}", f"q{j}", f"m{k}"), strict=True)),
             "attack_ok": (i + j) % 2 > 0, "utility_ok": (j + k) % 3 > 0}
            for i in range(8) for j in range(16) for k in range(2)]  # fmt: skip
    path = write("runs.jsonl", jsonl(rows))
    passk("describe", path, "--init", path.with_name("passk.toml"))
    text = path.with_name("passk.toml").read_text()
    assert not re.search(rf'^{open_role} = "\w', text, re.M)
