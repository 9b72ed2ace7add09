"""Columns from paths: templates and folders named key=value."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from passk_cli import DataError, ParameterError, PasskWarning, read
from passk_cli.files.sources.path_templates import PathTemplate
from tests.conftest import jsonl
from tests.files.formats.cells import DATA
from tests.files.formats.test_generic import cells, write_document

TEMPLATE = "{model}/{task}/run-{attempt}.json"


def trials(folder: Path) -> None:
    for model in ("m", "n"):
        for task in ("a", "b"):
            for attempt in (0, 1):
                passed = (model, task, attempt) != ("m", "a", 0)
                name = f"{model}/{task}/run-{attempt}.json"
                write_document(folder, name, {"passed": passed, "info": {"seconds": 3}}, indent=1)


EXPECTED = {("m", "a"): (2, 1), ("m", "b"): (2, 2), ("n", "a"): (2, 2), ("n", "b"): (2, 2)}


def test_a_template_gives_records_columns(tmp_path: Path) -> None:
    trials(tmp_path)
    assert cells(tmp_path, path=TEMPLATE) == EXPECTED
    assert cells(f"{tmp_path}/**/*.json", path=TEMPLATE) == EXPECTED


def test_a_label_beats_the_path(tmp_path: Path) -> None:
    trials(tmp_path)
    assert cells(f"x={tmp_path}/m", path=TEMPLATE) == {("x", "a"): (2, 1), ("x", "b"): (2, 2)}


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "json"])
def test_a_template_gives_tables_columns(tmp_path: Path, form: str) -> None:
    rows = [("a", True), ("b", False)]
    for model in ("m", "n"):
        for run in (0, 1):
            text = {
                "jsonl": "".join(json.dumps({"task": t, "passed": p}) + "\n" for t, p in rows),
                "json": json.dumps([{"task": t, "passed": p} for t, p in rows]),
                "csv": "task,passed\n" + "".join(f"{t},{p}\n" for t, p in rows),
                "parquet": "",
            }[form]
            path = write_document(tmp_path, f"{model}/{run}.{form}", text)
            if form == "parquet":
                duckdb.sql(
                    f"COPY (FROM (VALUES ('a', true), ('b', false)) AS t(task, passed)) TO '{path}'"
                )
    counts = cells(tmp_path, path=f"{{model}}/{{attempt}}.{form}")
    assert counts == {(m, t): (2, 2 if t == "a" else 0) for m in "mn" for t in "ab"}


def test_a_repeat_is_found_by_its_path(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        write_document(tmp_path, f"{folder}/m/3.jsonl", '{"task": "a", "passed": true}\n')
    with pytest.raises(
        DataError, match=r"y/m/3\.jsonl:1: attempt 3 of model 'm' at task 'a' is dupl"
    ):
        cells(tmp_path, path="{model}/{attempt}.jsonl")


def test_the_template_replaces_a_column_of_that_name(tmp_path: Path) -> None:
    for model, passed in (("m", 1), ("n", 0)):
        write_document(tmp_path, f"{model}/a.csv", f"model,task,passed\nx,t,{passed}\n")
    assert cells(tmp_path, path="{model}/a.csv") == {("m", "t"): (1, 1), ("n", "t"): (1, 0)}


def test_numbers_in_paths_compare_as_numbers(tmp_path: Path) -> None:
    for value in ("0.2", "0.8", "10"):
        write_document(tmp_path, f"{value}/m.jsonl", '{"task": "a", "passed": true}\n' * 2)
    counts = cells(tmp_path, path="{temperature}/*.jsonl", where="temperature > 0.5",
                    by="temperature", fields={})  # fmt: skip
    assert {key[1] for key in counts} == {"0.8", "10"}


def test_folders_named_key_value_give_columns(tmp_path: Path) -> None:
    for value in ("0.2", "0.8"):
        write_document(
            tmp_path, f"temperature={value}/m.jsonl", '{"task": "a", "passed": true}\n' * 2
        )
        write_document(
            tmp_path, f"temperature={value}/n.json", {"task": "a", "passed": False}, indent=1
        )
    by = cells(tmp_path, by="temperature", path="temperature=*/{model}.*")
    assert by == {("m", "0.2", "a"): (2, 2), ("m", "0.8", "a"): (2, 2),
                  ("n", "0.2", "a"): (1, 0), ("n", "0.8", "a"): (1, 0)}  # fmt: skip


def test_folders_do_not_replace_columns(tmp_path: Path) -> None:
    path = write_document(
        tmp_path, "temperature=0.2/m.jsonl", '{"task": "a", "passed": 1, "temperature": 1}\n' * 2
    )
    assert list(cells(path, by="temperature")) == [("m", "1", "a")]
    second = write_document(tmp_path, "model=x/m.jsonl", '{"task": "a", "passed": 1}\n' * 2)
    assert list(cells(second)) == [("m", "a")]


def test_equal_ids_in_two_suites_do_not_merge(tmp_path: Path) -> None:
    for suite in ("sums", "words"):
        write_document(tmp_path, f"{suite}/m.jsonl", '{"task": 1, "passed": true}\n' * 2)
        write_document(
            tmp_path, f"{suite}/n.json", {"task": 1, "passed": suite == "sums"}, indent=1
        )
    counts = cells(tmp_path, path="{suite}/{model}.*")
    assert counts == {("m", "sums/1"): (2, 2), ("m", "words/1"): (2, 2),
                       ("n", "sums/1"): (1, 1), ("n", "words/1"): (1, 0)}  # fmt: skip
    write_document(tmp_path, "sums/n.json", {"task": 1, "passed": "?"}, indent=1)
    with pytest.raises(DataError, match=r"sums/n\.json: record 1: \"passed\" is"):
        cells(tmp_path, path="{suite}/{model}.*")


def test_results_outside_of_the_template_are_refused_and_other_files_skipped(
    tmp_path: Path,
) -> None:
    trials(tmp_path)
    write_document(tmp_path, "config.json", {"name": "night", "seed": 3}, indent=1)
    write_document(tmp_path, "package.json", {"name": "x", "status": "success"}, indent=1)
    assert cells(tmp_path, path=TEMPLATE) == EXPECTED
    summary = write_document(tmp_path, "summary.json", {"passed": True, "task": "x"}, indent=1)
    with pytest.raises(
        DataError, match=r"summary\.json: the path of the file does not match .*\(1 of 9 files\)"
    ):
        cells(tmp_path, path=TEMPLATE)
    with pytest.raises(DataError, match=r"the path of the file does not match \{model") as caught:
        cells(summary, path=TEMPLATE)
    assert (caught.value.name, caught.value.exit_code) == ("bad-path", 3)
    rows = [{"task": "a", "passed": True}]
    for data in (rows, pd.DataFrame(rows)):
        with pytest.raises(DataError, match=r"the path of the file does not match \{model"):
            read(data, path=TEMPLATE)


@pytest.mark.parametrize("form", ["table", "record", "harness"])
def test_errors_name_all_files_outside_of_the_template(tmp_path: Path, form: str) -> None:
    """The error counts files without a column of the path. Only files inside have the outcome."""
    text = {
        "table": "id,passed\na,1\nb,0\n",
        "record": '{"passed": true}',
        "harness": (DATA / "human_eval" / "example_samples.jsonl_results.jsonl").read_text(),
    }[form]
    for name in ("in/m", "in/n", *(f"out/deep/{model}" for model in "abcde")):
        write_document(tmp_path, f"{name}/x.{'csv' if form == 'table' else 'json'}", text)
    with pytest.raises(DataError, match=r"\(5 of 7 files: .*and \d more\); write \*") as caught:
        cells(tmp_path, path="in/{model}/x.*" if form != "record" else "in/{task}/x.*")
    assert caught.value.name == "bad-path"


def test_fields_of_a_template_are_columns_of_a_harness_too(tmp_path: Path) -> None:
    text = (DATA / "promptfoo" / "out.jsonl").read_text()
    for arm in ("a", "b"):
        write_document(tmp_path, f"{arm}/s/7/x.jsonl", text)
    options = {"missing": "fail", "where": "prompt LIKE 'Short%'", "duplicates": "keep"}
    counts = cells(tmp_path, path="{arm}/{suite}/{task}/*.jsonl", by=["arm"], **options)
    assert {key[1:] for key in counts} == {("a", "s/7"), ("b", "s/7")}
    counts = cells(tmp_path, path="{model}/*/{attempt}/*.jsonl", **options)
    assert {key[0] for key in counts} == {"a", "b"}
    with pytest.raises(DataError, match="attempt 7 of model 'a'"):
        cells(tmp_path, path="{model}/*/{attempt}/*.jsonl", **{**options, "duplicates": "error"})


def test_two_ways_to_read_a_path_are_refused() -> None:
    with pytest.raises(DataError, match=r"two ways: model=a_b, task=c, or model=a, task=b_c"):
        PathTemplate("{model}_{task}.json").column_values("/x/a_b_c.json")
    assert PathTemplate("{model}_{task}.json").column_values("/x/a_b.json.gz") == {
        "model": "a",
        "task": "b",
    }


def test_a_name_never_crosses_a_folder() -> None:
    template = PathTemplate("results/{model}/*.json")
    assert template.column_values("/x/results/a/b/c.json") is None
    assert template.column_values("/x/results/a/c.json") == {"model": "a"}
    assert PathTemplate("results/{model}/**/c.json").column_values("/results/a/b/d/c.json") == {
        "model": "a"
    }


@pytest.mark.parametrize("text", ["no-names", "{a", "a}", "{a-b}", "{1a}", "{²}", "{a}/{a}"])
def test_invalid_templates_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"braces|twice"):
        cells(tmp_path, path=text)


def write_temperatures(folder: Path, **numbered: object) -> None:
    for heat in ("0.2", "0.8"):
        rows = [{"task": task, "passed": True, **numbered} for task in "ab"]
        (folder / f"m-{heat}.jsonl").write_text(jsonl(rows))


def test_an_unused_column_of_a_template_is_reported(tmp_path: Path) -> None:
    write_temperatures(tmp_path)
    with pytest.warns(PasskWarning, match="differ in heat"):
        assert read(tmp_path, path="{model}-{heat}.jsonl").read_facts.pooled_setting_columns == (
            "heat",
        )
    assert (
        read(tmp_path, path="{model}-{heat}.jsonl", by=["heat"]).read_facts.pooled_setting_columns
        == ()
    )


def test_repeats_that_differ_in_a_path_column_lead_to_a_question(tmp_path: Path) -> None:
    write_temperatures(tmp_path, attempt=0)
    with pytest.raises(DataError, match=r'differ in heat .*by="heat" keeps them apart'):
        read(tmp_path, path="{model}-{heat}.jsonl")
    by = cells(tmp_path, path="{model}-{heat}.jsonl", by=["heat"])
    assert {key[1] for key in by} == {"0.2", "0.8"}


@pytest.mark.parametrize(
    "pattern",
    [
        "**/r.csv",
        "a/**/*.csv",
        "./a/**/r.csv",
        "a/**",
        "[a]/**/r.csv",
        "**/b/**/r.csv",
        "*/b/*.csv",
    ],
)
def test_a_glob_skips_links_and_hidden_folders(workdir: Path, pattern: str) -> None:
    for folder in ("a/b", "a/.hidden"):
        (workdir / folder).mkdir(parents=True)
        (workdir / folder / "r.csv").write_text("task,passed\nt,1\n")
    for link in ("x", "y", "z"):
        (workdir / "a" / link).symlink_to("..")
    assert cells(pattern) == {("r", "t"): (1, 1)}
