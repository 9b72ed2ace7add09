"""Folders as people have them: repeats, strays, spellings, suites, broken and empty files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from passk_cli import DataError, PasskWarning, estimate, read
from passk_cli.study.data_notes import reading_notes
from tests.conftest import Passk, Write, long_cases
from tests.files.formats.cells import DATA, cells
from tests.files.formats.test_generic import write_document

ROWS = [{"task": task, "passed": task != "b"} for task in "abc"]
NUMBERED = [{**row, "attempt": 0} for row in ROWS]


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def message_lines(folder: Path) -> list[str]:
    with pytest.warns(PasskWarning):
        messages = estimate(folder, "pass@1", interval="none").messages
    return [f"{message['name']}: {message['text']}" for message in messages]


@pytest.mark.parametrize("rows", [ROWS, NUMBERED], ids=["no numbers", "numbers"])
def test_the_same_results_in_two_forms_are_refused(
    tmp_path: Path, rows: list[dict[str, object]]
) -> None:
    write_document(tmp_path, "m.json", rows)
    write_document(tmp_path, "m.jsonl", jsonl(rows))
    message = r"m\.jsonl: named like .*m\.json, and|attempt 0 of model 'm' .* is duplicated"
    with pytest.raises(DataError, match=message):
        read(tmp_path)
    listed_files = [tmp_path / "m.jsonl", tmp_path / "m.json"]
    assert cells(listed_files, duplicates="first")[("m", "a")] in ((1, 1), (2, 2))


def test_the_same_results_in_two_forms_of_a_harness_are_refused() -> None:
    with pytest.raises(DataError, match="is duplicated"):
        read(DATA / "promptfoo", missing="drop", pool="prompt")


def test_a_summary_of_the_same_name_is_not_a_repeat(tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    write_document(tmp_path, "m.json", {"accuracy": 2 / 3, "configuration": {"k": 1}}, indent=1)
    counts = read(tmp_path)
    assert (len(counts.tasks), counts.read_facts.non_result_files) == (
        3,
        (str(tmp_path / "m.json"),),
    )


def test_foreign_files_are_skipped_and_counted(tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    for i in range(3):
        write_document(tmp_path, f"config-{i}.json", {"seed": i, "models": ["m"]}, indent=1)
    write_document(tmp_path, "state.json", {"name": "nightly", "status": "success"}, indent=1)
    counts = read(tmp_path)
    assert (len(counts.read_facts.non_result_files), counts.series) == (4, (("m",),))
    for name in ("config-0.json",):
        unread = "config-0.json: no column .* the columns are seed, models"
        with pytest.raises(DataError, match=unread):
            read([tmp_path / "m.jsonl", tmp_path / name])
    by_argument = read([tmp_path / "m.jsonl", tmp_path / "state.json"])
    assert "nightly" in by_argument.tasks


@pytest.mark.parametrize("content", ["", "\n \n", "{}", " [ ]\n", "{\n}"])
def test_an_empty_file_next_to_results_is_skipped(
    passk: Passk, tmp_path: Path, content: str
) -> None:
    for place in ("one", "two", "three"):
        write_document(tmp_path, f"{place}/result.jsonl", jsonl(ROWS))
    lost = [tmp_path / place / "result.json" for place in ("four", "five")]
    for path in lost:
        write_document(tmp_path, str(path.relative_to(tmp_path)), content)
    for arguments in ([tmp_path], [tmp_path / "one", *lost]):
        result = passk("estimate", *arguments, "-q")
        assert (result.code, result.out) == (3, "")
        warning = (
            rf"error\[no-results\]: {tmp_path}/f[a-z]+/result.json: the"
            rf" file is empty, like 1 more file; run the evaluation again\n"
            r"  passk estimate .* -q --skip-bad  #"
        )
        assert re.match(warning, result.err)
    skipped = passk("estimate", tmp_path, "-q", "--skip-bad", "-k", "1")
    assert skipped.code == 0
    warning = f"warning[empty-files]: passk skipped 2 empty files: {lost[1]}, {lost[0]}\n"
    assert warning in skipped.err
    assert warning in passk("describe", tmp_path, "-q").err
    # If it is the only file, it is an error with all options.
    assert passk("estimate", tmp_path / "four", "--skip-bad").code == 3


def test_skipped_files_are_named_with_their_folders(passk: Passk, tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    write_document(tmp_path, "a/config.json", {"seed": 1}, indent=1)
    note = f"note[skipped-files]: passk skipped 1 file without results: {tmp_path}/a/config.json\n"
    assert note in passk("estimate", tmp_path).err


def test_results_without_a_column_of_a_role_are_reported(passk: Passk, tmp_path: Path) -> None:
    """The files contain results, but these options read none of them."""
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    counts = [{"llm": "x", "task": task, "n": 4, "c": 1} for task in "abc"]
    write_document(tmp_path, "counts.jsonl", jsonl(counts))
    result = passk("estimate", tmp_path, "--field", "model=llm")
    lack = f"{tmp_path}/m.jsonl (no column 'llm')"
    assert (
        f"warning[left-files]: passk left out 1 file that may contain results: {lack}\n"
        in result.err
    )
    assert "skipped-files" not in result.err
    # Nobody names a file to have it left out.
    files = [tmp_path / "m.jsonl", tmp_path / "counts.jsonl"]
    explicit = passk("estimate", *files, "--field", "model=llm")
    assert (explicit.code, f"{tmp_path}/m.jsonl: no column 'llm'" in explicit.err) == (2, True)


def test_a_history_in_a_folder_of_results_is_not_counted_again(
    passk: Passk, tmp_path: Path
) -> None:
    results = write_document(tmp_path, "r/m.jsonl", jsonl(ROWS))
    expected = passk("estimate", results).out
    for place in ("h.parquet", "r/h.parquet"):
        assert passk("record", results, "--to", tmp_path / place, "--at", "x").code == 0
    result = passk("estimate", tmp_path / "r")
    assert (result.code, result.out) == (0, expected)
    note = f"left out 1 file that may contain results: {tmp_path}/r/h.parquet (a history of runs)\n"
    assert f"warning[left-files]: passk {note}" in result.err
    # One that is named is read.
    assert passk("estimate", tmp_path / "h.parquet").code == 0


def test_a_question_about_settings_names_their_file(passk: Passk, tmp_path: Path) -> None:
    rows = [{"model": "m", "task": f"t{i}", "passed": i % 3 == 0} for i in range(20)]
    write_document(tmp_path, "a.jsonl", jsonl(rows))
    arms = [{**row, "arm": arm} for row in rows for arm in "xyxy"]
    write_document(tmp_path, "b.jsonl", jsonl(arms))
    result = passk("estimate", tmp_path)
    assert result.err.startswith(
        f"error[pooled-settings]: {tmp_path}/b.jsonl: attempts at one task"
    )


def test_a_folder_without_results_lists_its_contents(tmp_path: Path) -> None:
    write_document(tmp_path, "a.json", {"seed": 1})
    write_document(tmp_path, "b.json", {"seed": 2})
    with pytest.raises(DataError, match=r"attempt passed .1 more file not read"):
        read(tmp_path)


def test_a_run_with_its_trials_below_counts_once() -> None:
    """The result.json of the job is in the folder above the results of its trials."""
    job = DATA / "harbor"
    if not job.exists():
        pytest.skip("no such fixture")
    counts = read(job, missing="fail")
    assert int(counts.n.sum()) == len(list(job.rglob("*/result.json"))) - len(
        [path for path in job.rglob("result.json") if len(list(path.parent.glob("*/result.json")))]
    )


def test_two_spellings_of_a_model_are_reported(tmp_path: Path) -> None:
    for model in ("org/alpha", "org__alpha", "beta", "beta+", "beta "):
        name = model.replace("/", "-")
        write_document(tmp_path, f"{name}.jsonl", jsonl([{**row, "model": model} for row in ROWS]))
    blank, note = [note for note in message_lines(tmp_path) if "count as 2 models" in note]
    assert "'beta' and 'beta ' count as 2 models" in blank
    assert note.startswith(
        "similar-names: 'org/alpha' and 'org__alpha' count as 2 models; alias={\"org__alpha\": "
    )


def test_three_spellings_become_one_by_the_remedy(tmp_path: Path) -> None:
    names = ("m-5", "M-5", "m-5 ")
    rows = [{"model": name, "task": f"q{i}", "passed": i > 2} for name in names for i in range(5)]
    path = write_document(tmp_path, "all.jsonl", jsonl(rows))
    (note,) = [note for note in message_lines(path) if note.startswith("similar-names")]
    assert note.endswith("counts all as one model, if they are one, with the attempts of each")
    counts = read(path, alias={"M-5": "m-5", "m-5 ": "m-5"})
    assert (counts.series, counts.n.tolist()) == ((("m-5",),), [3] * 5)


def test_equal_ids_in_two_suites_do_not_merge() -> None:
    counts = read(DATA / "inspect" / "logs", outcome="verify", missing="drop")
    assert {"sums/1", "words/1"} <= set(counts.tasks)


def test_a_number_and_its_text_are_one_task(tmp_path: Path) -> None:
    first = write_document(tmp_path, "one/m.jsonl", jsonl([{"task": 7, "passed": True},
                                                  {"task": "7", "passed": False}]))  # fmt: skip
    counts = read(first)
    assert (list(counts.tasks), counts.n.tolist(), counts.read_facts.messages) == (["7"], [2], ())
    write_document(tmp_path, "two/a.jsonl", jsonl([{"task": 7, "passed": True}] * 2))
    write_document(tmp_path, "two/b.json", {"task": "7", "passed": False}, indent=1)
    counts = read(tmp_path / "two")
    assert (list(counts.tasks), counts.n.tolist()) == (["7"], [2, 1])
    (message,) = counts.read_facts.messages
    assert message.name == "mixed-tasks"
    assert message.text.endswith('7 and "7" count as one task')


def test_concatenated_documents_are_read(tmp_path: Path) -> None:
    text = "\n".join(json.dumps(row, indent=1) for row in ROWS)
    assert cells(write_document(tmp_path, "m.json", text)) == cells(
        write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    )
    long = [
        {**row, "task": f"{row['task']}{i}", "log": "x" * 900} for i in range(100) for row in ROWS
    ]
    text = "".join(json.dumps(row, indent=1) for row in long)
    assert len(cells(write_document(tmp_path, "long.json", text))) == 300


def test_a_summary_line_at_the_end_is_refused_or_skipped(tmp_path: Path) -> None:
    path = write_document(tmp_path, "m.jsonl", jsonl(ROWS) + '{"accuracy": 0.67, "total": 3}\n')
    with pytest.raises(DataError, match=r"m\.jsonl:4: no task in .*; is this record a summary\?"):
        read(path)
    assert len(cells(path, skip_bad=True)) == 3


@pytest.mark.parametrize("model", [{}, {"model": "@column"}])
def test_a_line_without_a_task_is_one_line_however_many_outcomes_it_has(
    write: Write, model: dict[str, str]
) -> None:
    path = write(
        "a.csv", "task,a,b,c,d\n,no,yes,no,no\nx,yes,no,yes,no\ny,yes,yes,no,no\n,yes,no,no,no\n"
    )
    counts = read(path, fields={"outcome": "a,b,c", **model}, skip_bad=True)
    assert (counts.read_facts.skipped_lines, int(counts.n.sum())) == (2, 6)
    notes = [note.text for note in reading_notes(counts)]
    assert "passk skipped 2 lines that are not records" in notes


def test_a_crashed_log_next_to_results_is_reported(tmp_path: Path) -> None:
    for log in (DATA / "inspect" / "stopped").glob("*crashed*"):
        shutil.copy(log, tmp_path)
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    counts = read(tmp_path, missing="drop")
    assert counts.series == (("m",), ("mockllm/alpha",))
    assert counts.read_facts.messages[0].name == "unfinished-run"


def test_links_in_circles_are_followed_once(tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    os.symlink(tmp_path, tmp_path / "again")
    assert len(cells(tmp_path)) == 3
    os.symlink(tmp_path / "loop.jsonl", tmp_path / "loop.jsonl")
    with pytest.raises(DataError, match=r"loop\.jsonl: this path cannot be read"):
        read(tmp_path)


def model_rows(*outcomes: bool) -> list[dict[str, object]]:
    return [{"model": "m", "task": "a", "passed": passed} for passed in outcomes]


@pytest.mark.parametrize("copy", ["m.copy.jsonl", "_old/m.jsonl"])
@pytest.mark.parametrize("duplicate", [shutil.copy, os.link])
def test_a_copy_of_unnumbered_attempts_is_refused(
    tmp_path: Path, copy: str, duplicate: Callable[[Path, Path], object]
) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(model_rows(True, False)))
    (tmp_path / "_old").mkdir()
    duplicate(tmp_path / "m.jsonl", tmp_path / copy)
    message = (
        r"m\.jsonl: byte for byte the same as .*leave one of the files out; duplicates=\"keep\""
    )
    with pytest.raises(DataError, match=message):
        read(tmp_path)
    assert cells(tmp_path, duplicates="keep") == {("m", "a"): (4, 2)}


@pytest.mark.parametrize(
    ("columns", "column_name"),
    [
        (("run_1", "run_2"), "the files are byte for byte the same: leave"),
        (("passed",), "byte for byte the same as .*leave one of the files out"),
    ],
)
def test_a_copy_is_not_an_arm_of_an_experiment(
    tmp_path: Path, columns: tuple[str, ...], column_name: str
) -> None:
    rows = [{"model": m, "task": f"t{t}", **dict.fromkeys(columns, t % 2)}
            for m in "ab" for t in range(20)]  # fmt: skip
    for name in ("a.jsonl", "a (1).jsonl"):
        write_document(tmp_path, name, jsonl(rows))
    with pytest.raises(DataError, match=column_name):
        read(tmp_path, fields={"outcome": ",".join(columns)})


def test_files_of_one_size_are_not_copies(tmp_path: Path) -> None:
    write_document(tmp_path, "a.jsonl", jsonl(model_rows(True, False)))
    write_document(tmp_path, "b.jsonl", jsonl(model_rows(False, True)))
    assert cells(tmp_path) == {("m", "a"): (4, 2)}


def test_hidden_folders_are_skipped_and_reported(tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(ROWS))
    (tmp_path / "deep" / ".ipynb_checkpoints").mkdir(parents=True)
    (tmp_path / ".old" / "deep").mkdir(parents=True)
    hidden = ["deep/.ipynb_checkpoints/m-checkpoint.jsonl", ".old/deep/m.jsonl"]
    for name in hidden:
        write_document(tmp_path, name, jsonl(ROWS))
    counts = read(tmp_path)
    assert (counts.series, set(counts.n.tolist())) == ((("m",),), {1})
    (message,) = counts.read_facts.messages
    assert message.text.startswith("passk skipped 2 files in hidden folders: ")
    assert all(name in message.text for name in hidden)
    # A hidden folder that is named is read.
    assert len(read((tmp_path / hidden[0]).parent).tasks) == 3
    (tmp_path / "m.jsonl").unlink()
    with pytest.raises(
        DataError, match=r"the directory contains no result files; .* is in a hidden folder: name"
    ):
        read(tmp_path)


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        ("estimate", "csv"), ("describe", "json"),
        *long_cases(("estimate", "json"), ("estimate", "jsonl"), ("compare", "csv"), ("tasks",
        "jsonl"),
              ("curve", "csv")),
    ],
)  # fmt: skip
def test_an_output_in_the_input_folder_is_not_data(
    passk: Passk, tmp_path: Path, command: str, suffix: str
) -> None:
    for model in "mn":
        write_document(tmp_path, f"{model}.jsonl", jsonl(ROWS + ROWS))
    before = cells(tmp_path)
    output = tmp_path / f"output.{suffix}"
    assert passk(command, tmp_path, "-o", output).code == 0
    assert cells(tmp_path) == before
    assert read(tmp_path).read_facts.non_result_files == (str(output),)


def test_a_table_is_not_written_into_the_input_folder(passk: Passk, tmp_path: Path) -> None:
    write_document(tmp_path, "m.jsonl", jsonl(model_rows(True, False)))
    refused = passk("convert", tmp_path, "-o", tmp_path / "all.csv")
    assert refused.code == 2
    assert "so passk would count each attempt twice; choose another folder" in refused.err
    assert not (tmp_path / "all.csv").exists()
    assert passk("convert", tmp_path / "m.jsonl", "-o", tmp_path / "all.csv").code == 0
