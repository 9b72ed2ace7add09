"""Tests of maps: every key works like the option of its name, and errors name what is wrong."""

import json
from pathlib import Path

import pandas as pd
import pytest

from passk_cli import read
from passk_cli.errors import DataError, ParameterError
from passk_cli.files import toml_map
from passk_cli.files.roles import ATTEMPT_FACT_ROLES, ROLES, TRUTH_ROLE
from passk_cli.outcomes.counts import Counts
from tests.conftest import jsonl, mark_long_except

ROWS = [
    {
        "case": case, "suite": suite, "llm": llm, "seed": seed, "verdict": verdict,
        "compiles": verdict != "no", "slow": verdict == "slow", "grade": grade, "spent": 0.5,
        "scores": [{"name": "form", "value": 1}, {"name": "v1.correct", "value": int(grade > 0.5)}],
    }
    for suite in ("x", "y") for case in ("a", "b") for llm in ("m1", "m2")
    for seed, verdict, grade in ((0, "yes", 0.9), (1, "slow" if llm == "m1" else "no", 0.4))
]  # fmt: skip
PLAIN = {"task": "suite,case", "model": "llm", "attempt": "seed"}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text(jsonl(rows))
    return path


def read_with_map(path: Path, text: str, **options: object) -> Counts:
    """The counts of a file with a map next to it."""
    (path.parent / "passk.toml").write_text(f"[data]\n{text}\n")
    return read(path, **options)  # type: ignore[arg-type]


def equal_counts(first: Counts, second: Counts) -> bool:
    return first.to_frame().equals(second.to_frame())


COMPILES = 'outcome = "compiles"\n'
# Lines of a map, and the same as options of `read`.
KEYS = {
    "outcome": (COMPILES, {"outcome": "compiles"}),
    "all": ('all = ["compiles", "not slow"]', {"all_of": ["compiles", "not slow"]}),
    "threshold": ('outcome = "grade"\nthreshold = 0.5', {"outcome": "grade", "threshold": 0.5}),
    "passes": ('outcome = "verdict"\npasses = ["yes"]', {"outcome": "verdict", "passes": "yes"}),
    "fails": ('outcome = "verdict"\npasses = ["yes"]\nfails = ["no", "slow"]',
              {"outcome": "verdict", "passes": "yes", "fails": ["no", "slow"]}),
    "by": (COMPILES + 'by = ["suite"]', {"outcome": "compiles", "by": "suite"}),
    "pool": (COMPILES + 'pool = "slow"', {"outcome": "compiles", "pool": "slow"}),
    "where": (COMPILES + "where = \"llm = 'm1'\"", {"outcome": "compiles", "where": "llm = 'm1'"}),
    "missing": (COMPILES + 'missing = "fail"', {"outcome": "compiles", "missing": "fail"}),
    "duplicates": (COMPILES + 'duplicates = "keep"', {"outcome": "compiles", "duplicates": "keep"}),
    "skip-bad": (COMPILES + "skip-bad = true", {"outcome": "compiles", "skip_bad": True}),
    "missing-cost": (COMPILES + 'missing-cost = "drop"',
                     {"outcome": "compiles", "missing_cost": "drop"}),
    "price": (COMPILES + "price = {m1 = {input = 1.0, output = 2.0}}",
              {"outcome": "compiles", "price": {"m1": {"input": 1.0, "output": 2.0}}}),
    "from": (COMPILES + 'from = "jsonl"', {"outcome": "compiles", "format": "jsonl"}),
    "path": (COMPILES + 'path = "{run}.jsonl"', {"outcome": "compiles", "path": "{run}.jsonl"}),
    "records": (COMPILES + 'records = "."', {"outcome": "compiles", "records": "."}),
}  # fmt: skip


@pytest.mark.parametrize(
    "key",
    mark_long_except(toml_map.option_by_map_key(), "all", "fails", "price", "where", "records"),
)
def test_a_key_works_like_the_option_of_its_name(key: str, tmp_path: Path) -> None:
    text, options = KEYS[key]
    file = write(tmp_path / "runs.jsonl", ROWS)
    plain = 'task = ["suite", "case"]\nmodel = "llm"\nattempt = "seed"\n'
    if key == "records":
        file = tmp_path / "run.json"
        file.write_text(json.dumps(ROWS[0]))
    try:
        expected = read(file, fields=PLAIN, map="none", **options)  # type: ignore[arg-type]
    except ParameterError:
        assert key == "price", "prices are for costs, and nothing here needs them"
        with pytest.raises(ParameterError, match="price"):
            read_with_map(file, plain + text)
    else:
        assert equal_counts(read_with_map(file, plain + text), expected)


@pytest.mark.parametrize(
    "role", [role for role in ATTEMPT_FACT_ROLES if role not in (TRUTH_ROLE, "tokens_cached")]
)
def test_a_role_of_attempts_can_be_a_key(role: str, tmp_path: Path) -> None:
    rows = [{**row, "odd": 2.0, "passed": True} for row in ROWS]
    file = write(tmp_path / "runs.jsonl", rows)
    text = 'task = ["suite", "case"]\nmodel = "llm"\nattempt = "seed"\noutcome = "passed"'
    text += f'\n{role} = "odd"'
    counts = read_with_map(file, text, attempts=(role,))
    assert role in counts.attempts


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('task = "case"\nmodel = "llm"\nby = "suite"', {"task": "case", "model": "llm"}),
        ('task = ["suite", "case"]\nmodel = {value = "ours, v1"}',
         {"task": "suite,case", "model": "@value:ours, v1"}),
        ('task = "@position"\nmodel = "llm"\nattempt = "seed"',
         {"task": "@position", "model": "llm", "attempt": "seed"}),
    ],
)  # fmt: skip
def test_a_role_can_be_one_or_more_columns_a_value_or_a_place(
    text: str, fields: dict[str, str], tmp_path: Path
) -> None:
    file = write(tmp_path / "runs.jsonl", ROWS)
    by = ("suite",) if "by" in text else ()
    options = {"duplicates": "keep", "pool": ("suite", "slow", "llm", "verdict", "grade", "seed")}
    expected = read(file, fields={**fields, "outcome": "compiles"}, by=by, map="none", **options)  # type: ignore[arg-type]
    counts = read_with_map(file, text + "\n" + COMPILES, **options)
    assert equal_counts(counts, expected)
    assert {model for model, *_ in counts.series} <= {"m1", "m2", "ours, v1"}


def test_counts_and_truth_can_be_roles_of_a_map(tmp_path: Path) -> None:
    file = write(tmp_path / "sums.jsonl", [{"case": "a", "made": 5, "good": 3}])
    counts = read_with_map(file, 'task = "case"\nn = "made"\nc = "good"')
    assert (counts.n.tolist(), counts.c.tolist()) == ([5], [3])
    rows = [{**row, "human": row["compiles"]} for row in ROWS]
    labelled = read_with_map(
        write(tmp_path / "runs.jsonl", rows),
        'task = ["suite", "case"]\nmodel = "llm"\nattempt = "seed"\n'
        'outcome = "slow"\ntruth = "human"',
    )
    assert TRUTH_ROLE in labelled.attempts
    assert {*ROLES} >= {"n", "c", TRUTH_ROLE}


def test_the_role_all_passes_if_every_column_passes(tmp_path: Path) -> None:
    rows = [
        {"task": f"{i}", "a": a, "b": b, "bad": bad}
        for i, (a, b, bad) in enumerate(
            [(True, "yes", False), (True, "yes", True), (True, "no", False), (False, None, False)]
        )
    ]
    file = write(tmp_path / "runs.jsonl", rows)
    assert read(file, all_of=["a", "b", "not bad"]).c.tolist() == [1, 0, 0, 0]
    rows.append({"task": "4", "a": True, "b": None, "bad": False})
    with pytest.raises(DataError, match="has no value"):
        read(write(file, rows), all_of=["a", "b", "not bad"])
    rows[-1]["b"] = "perhaps"
    with pytest.raises(DataError, match="perhaps"):
        read(write(file, rows), all_of=["a", "b", "not bad"])
    # The named words are added to the known ones.
    assert read(file, all_of=["a", "b"], passes=["perhaps"]).c.tolist() == [1, 1, 0, 0, 1]


def test_an_entry_of_a_list_is_found_by_its_name(tmp_path: Path) -> None:
    column = "scores[name=v1.correct].value"
    fields = {**PLAIN, "outcome": column}
    file = write(tmp_path / "runs.jsonl", ROWS)
    lines = read(file, fields=fields)
    assert lines.c.tolist() == [1] * 8
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "runs.parquet")
    document = tmp_path / "runs.json"
    document.write_text(json.dumps({"results": ROWS}))
    for data in (frame, tmp_path / "runs.parquet", ROWS):
        assert equal_counts(read(data, fields=fields), lines)
    assert equal_counts(read(document, fields=fields, records="results"), lines)
    # Two entries with one name that differ do not count.
    scores = [{"name": "v1.correct", "value": value} for value in (1, 0)]
    with pytest.raises(DataError, match=r"1 and 0|0 and 1"):
        read([{**ROWS[0], "scores": scores}, ROWS[1]], fields=fields)


def test_a_position_counts_within_its_list(tmp_path: Path) -> None:
    document = {"results": {m: [{"passed": m == "m1"}, {"passed": True}] for m in ("m1", "m2")}}
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(document))
    counts = read(file, map={"records": "results.{model}", "task": "@position"})
    assert counts.to_frame().values.tolist() == [
        ["m1", "1", 1, 1], ["m1", "2", 1, 1], ["m2", "1", 1, 0], ["m2", "2", 1, 1],
    ]  # fmt: skip


def test_options_of_the_caller_win_over_a_map(tmp_path: Path) -> None:
    rows = [*ROWS, {**ROWS[0], "seed": 9, "verdict": None, "compiles": None}]
    file = write(tmp_path / "runs.jsonl", rows)
    text = 'task = ["suite", "case"]\nmodel = "llm"\noutcome = "verdict"\npasses = "yes"'
    text += '\nmissing = "fail"'
    assert read_with_map(file, text).n.sum() == 17
    assert read_with_map(file, text, missing="drop").n.sum() == 16
    suites = {"fields": {"model": "suite"}, "duplicates": "keep", "pool": "llm"}
    # The words that pass apply to the outcome of the map and not to other outcomes.
    assert read_with_map(file, text, outcome="compiles").c.sum() == 12
    assert {m for m, *_ in read_with_map(file, text, **suites).series} == {"x", "y"}
    with pytest.raises(DataError):
        read_with_map(file, text, map="none")


@pytest.mark.long
def test_frames_rows_folders_and_packed_files_are_read_with_a_map(tmp_path: Path) -> None:
    table = {"task": ["suite", "case"], "model": "llm", "attempt": "seed", "outcome": "compiles"}
    expected = read(write(tmp_path / "runs.jsonl", ROWS), map=table)
    frame = pd.DataFrame(ROWS)
    frame.drop(columns="scores").to_csv(tmp_path / "runs.csv.gz", index=False)
    frame.to_parquet(tmp_path / "runs.parquet")
    path = tmp_path / "map.toml"
    path.write_text(
        '[[data]]\nhas = ["nothing"]\n[[data]]\nhas = ["case"]\n'
        'task = ["suite", "case"]\nmodel = "llm"\nattempt = "seed"\noutcome = "compiles"\n'
    )
    for data in (frame, ROWS, *map(str, sorted(tmp_path.glob("runs.*")))):
        assert equal_counts(read(data, map=table), expected)
        assert equal_counts(read(data, map=path), expected)


def test_a_map_next_to_a_folder_is_for_its_files_only(tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", ROWS)
    write(tmp_path / "notes.jsonl", [{"task": "z", "passed": True}])
    text = 'files = "one*"\ntask = ["suite", "case"]\nmodel = "llm"\nattempt = "seed"\n' + COMPILES
    counts = read_with_map(tmp_path / "one.jsonl", text)
    folder = read(tmp_path)
    assert equal_counts(folder, counts)
    assert {"mapped", "unmapped-files"} <= {message.name for message in folder.read_facts.messages}
    assert read(tmp_path / "notes.jsonl").tasks == ("z",)
    with pytest.raises(ParameterError, match=r"notes\.jsonl"):
        read([tmp_path / "one.jsonl", tmp_path / "notes.jsonl"])


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ('tusk = "case"', "bad-map", r"passk\.toml:2: tusk: .*task"),
        ('missing = "fial"', "bad-map", r"passk\.toml:2: missing: .*fail"),
        ("task = 3", "bad-map", "its name in quotes"),
        ('model = {name = "m"}', "bad-map", "value ="),
        ('task = "case"\nall = ["slow"]\noutcome = "slow"', "bad-map", "all"),
        ('task = "cases"', "no-such-column", "case"),
        ('task = "case"\noutcome = "verdicts"', "no-such-column", "verdict"),
        ('task = "case"\noutcome = "verdict"\npasses = "ja"', "unmatched-words", r"yes \(8\)"),
        ('task = "case"\noutcome = "compiles"\nfails = "nope"', "unmatched-words", "nope"),
        ('task = "case"\noutcome = ""  # choose one\n# outcome = "slow"  # 4 true\n'
         '# all = ["a"]', "open-role", r'toml:3.*outcome = "slow" \(4 true\); all = \["a"\]'),
    ],
)  # fmt: skip
def test_a_wrong_map_is_refused_with_its_reason(
    text: str, name: str, words: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "runs.jsonl", ROWS)
    with pytest.raises((DataError, ParameterError), match=words) as caught:
        read_with_map(file, text, duplicates="keep")
    assert caught.value.name == name


def test_a_map_without_a_matching_file_is_an_error_only_if_you_name_it(tmp_path: Path) -> None:
    file = write(tmp_path / "runs.jsonl", [{"task": "a", "passed": True}])
    text = 'has = ["episode"]\ntask = "episode"'
    assert read_with_map(file, text).tasks == ("a",)
    with pytest.raises(ParameterError, match="no column episode"):
        read_with_map(file, text, map=tmp_path / "passk.toml")
