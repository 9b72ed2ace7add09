"""Tests of the checks of a reading: misleading files have a finding, and honest files have none."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli import DataError, PasskWarning, read
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.files.checks import CHECKS
from passk_cli.files.checks.check import CERTAIN, EITHER, LIKELY
from passk_cli.files.checks.evenness import column_evenness
from passk_cli.files.request import Request
from passk_cli.option import options_by_field
from passk_cli.python.python_calls import fix_with_python_keywords
from passk_cli.suggested_fix import SuggestedFix
from tests.conftest import Passk, jsonl, long_cases, mark_long_except
from tests.files.checks.cases import MISLEADING, Case, Rows, attempts, honest
from tests.proposals import commands, run_calls


def lines(path: Path, rows: Rows) -> Path:
    path.write_text(jsonl(rows))
    return path


def options_of(settle: SuggestedFix) -> dict[str, Any]:
    """The keywords of Python for a remedy."""
    options = fix_with_python_keywords(settle, options_by_field(Request))
    assert options is not None
    return dict(options.options)


def first_finding(data: Any, **options: Any) -> tuple[str, bool, tuple[SuggestedFix, ...]]:
    """The name of the finding, whether it is certain, and its fixes; "" without a finding."""
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        try:
            counts = read(data, **options)
        except DataError as error:
            return error.name, True, error.fixes
    names = {check.message_type.name for check in CHECKS}
    diagnostics = [message for message in counts.read_facts.messages if message.name in names]
    return (diagnostics[0].name, False, diagnostics[0].fixes) if diagnostics else ("", False, ())


# One case of each message, and of each degree of certainty.
ONE_EACH = {(case.name, case.certain): name for name, case in MISLEADING.items()}.values()


def cases_by_form() -> Iterator[tuple[str, str]]:
    """All cases with one of the possible forms: each form has a sixth of the cases."""
    for place, (name, case) in enumerate(MISLEADING.items()):
        forms = ["lines", "array"]
        if all(not isinstance(value, dict | list) for row in case.rows for value in row.values()):
            forms += ["table", "frame"]
        # A file for each attempt has no order of rows, and two spellings in them are two names.
        if not name.endswith(("pasted twice", "invisible character")):
            forms.append("documents")
        yield name, forms[place % len(forms)]


@pytest.mark.parametrize(
    ("name", "door"),
    [*mark_long_except(((name, "rows") for name in MISLEADING), *((name, "rows") for name
    in ONE_EACH)),
     *long_cases(*cases_by_form())],
)  # fmt: skip
def test_a_misleading_file_leads_to_its_finding(name: str, door: str, tmp_path: Path) -> None:
    case, data = MISLEADING[name], MISLEADING[name].rows
    source: Any = data
    if door == "frame":
        source = pd.DataFrame(data)
    elif door == "table":
        source = tmp_path / "m.csv"
        pd.DataFrame(data).to_csv(source, index=False)
    elif door == "lines":
        source = lines(tmp_path / "m.jsonl", data)
    elif door == "array":
        source = tmp_path / "m.json"
        source.write_text(json.dumps(data))
    elif door == "documents":
        # A file of each attempt.
        source = tmp_path
        for i, row in enumerate(data):
            (tmp_path / f"{i}.json").write_text(json.dumps(row))
    assert first_finding(source, **case.options)[:2] == (case.name, case.certain)


_COMMA = "an arm with a comma in its name"


@pytest.mark.parametrize(
    "name", mark_long_except(MISLEADING, "two arms", "temperature", _COMMA, *[*MISLEADING][-3:])
)
def test_every_proposed_option_settles_the_finding(name: str, passk: Passk, tmp_path: Path) -> None:
    """Every printed command and call reads the file or removes the finding."""
    case = MISLEADING[name]
    path = lines(tmp_path / "m.jsonl", case.rows)
    _, certain, settles = first_finding(path)
    if not certain:
        for settle in settles:
            assert first_finding(path, **options_of(settle))[0] != case.name, settle
        return
    result = passk("estimate", path, "-m", "mean,pass@1" if "score" in case.rows[0] else "pass@1")
    assert result.error == case.name
    printed = commands(result.err)
    assert len(printed) == len(settles)
    for words in printed:
        again = passk(*words)
        assert again.code == 0, (words, again.err)
        assert f"[{case.name}]" not in again.err


@pytest.mark.parametrize(
    "name", mark_long_except([name for name, case in MISLEADING.items() if case.certain], _COMMA)
)
def test_every_proposed_call_settles_the_finding(name: str) -> None:
    case = MISLEADING[name]
    with pytest.raises(DataError) as error:
        passk_cli.estimate(case.rows, "pass@1")
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        assert len(run_calls(error.value, rows=case.rows)) == len(error.value.fixes)


@pytest.mark.parametrize(
    ("seed", "step"), [(1, 4), *long_cases(*((seed, 1) for seed in range(1, 8)))]
)
def test_honest_files_have_no_finding(seed: int, step: int) -> None:
    files = [*honest(seed)]
    assert len(files) >= 60
    accused = [
        (name, finding) for name, rows in files[::step] if (finding := first_finding(rows)[0])
    ]
    assert accused == []


def test_a_check_is_declared_once_and_explained() -> None:
    catalogue = all_messages()
    for check in CHECKS:
        assert catalogue[check.message_type.name] is check.message_type
        assert check.message_type.meaning
        assert check.severity in (CERTAIN, LIKELY, EITHER)
        assert check.message_condition_sentence.endswith(".")
    assert len({(check.message_type.name, check.findings_function) for check in CHECKS}) == len(
        CHECKS
    )


def test_findings_are_as_certain_as_their_check_declares() -> None:
    severities: dict[str, set[str]] = {}
    for check in CHECKS:
        severities.setdefault(check.message_type.name, set()).add(check.severity)
    for case in MISLEADING.values():
        assert severities[case.name] & {EITHER, CERTAIN if case.certain else LIKELY}, case.name


@pytest.mark.long
@pytest.mark.parametrize("case", ["two arms", "arms with attempts lost"])
def test_settings_are_found_in_files_larger_than_a_sample(case: str, tmp_path: Path) -> None:
    """Samples contain all tasks in any order of rows, because a hash chooses complete cells."""
    rows = [
        {"model": f"m{m}", "task": f"t{t}", "passed": (t + a) % 3 > 0, "zork": "ab"[a % 2],
         "pad": "x" * 200}
        for m in range(2) for t in range(1500) for a in range(8)
    ]  # fmt: skip
    order = np.random.default_rng(1).permutation(len(rows))
    if case != "two arms":
        rows = [rows[i] for i in order[: int(0.95 * len(rows))]]
    path = lines(tmp_path / "big.jsonl", rows)
    assert path.stat().st_size > 1 << 22
    assert first_finding(path)[:2] == ("pooled-settings", True)
    assert first_finding(path, by="zork")[0] == ""
    for row, value in zip(rows, np.random.default_rng(2).integers(0, 2, len(rows)), strict=True):
        row["zork"] = "ab"[value]
    assert first_finding(lines(path, rows))[0] == ""


def test_a_condition_on_rows_applies_to_files_larger_than_a_sample(tmp_path: Path) -> None:
    rows = [{"task": f"t{t}", "passed": (t + a) % 3 > 0, "temperature": (0.2, 0.8)[a % 2],
             "pad": "x" * 200}
            for t in range(6000) for a in range(4)]  # fmt: skip
    path = lines(tmp_path / "m.jsonl", rows)
    assert path.stat().st_size > 1 << 22
    assert first_finding(path)[:2] == ("pooled-settings", True)
    assert first_finding(path, where="temperature < 0.5")[0] == ""


def test_pooling_on_purpose_is_reported(passk: Passk, tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", MISLEADING["two arms"].rows)
    result = passk("estimate", path, "--pool", "arm", "-k", "1", "-v")
    assert result.code == 0
    assert "· pooled over arm ·" in result.out
    assert "pool=arm" in result.out
    refused = passk("estimate", path, "--pool", "arms")
    assert refused.code == 2
    assert "--pool arms: no such column; did you mean arm?" in refused.err


def test_files_of_arms_lead_to_a_question(tmp_path: Path) -> None:
    for seed, arm in enumerate(("control", "treatment")):
        rows = [{"model": "m", **row} for row in attempts(per_task=2, draws=seed)]
        lines(tmp_path / f"{arm}.jsonl", rows)
    name, certain, settles = first_finding(tmp_path)
    assert (name, certain) == ("files-share-tasks", True)
    separate, pooled = (read(tmp_path, **options_of(settle)) for settle in settles)
    assert separate.series == (("m", "control"), ("m", "treatment"))
    assert (pooled.series, pooled.n.sum()) == ((("m",),), separate.n.sum())
    # Runs have numbers.
    for run, arm in enumerate(("control", "treatment")):
        (tmp_path / f"{arm}.jsonl").rename(tmp_path / f"run-{run}.jsonl")
    assert first_finding(tmp_path)[0] == ""


@pytest.mark.parametrize("layout", ["{model}/{arm}.jsonl", "{arm}/{model}.jsonl"])
def test_arms_in_folders_lead_to_a_question(tmp_path: Path, layout: str) -> None:
    for model, (seed, arm) in product("ab", enumerate(("control", "treatment"))):
        path = tmp_path / layout.format(model=model, arm=arm)
        path.parent.mkdir(exist_ok=True)
        lines(path, [{"model": model, **row} for row in attempts(per_task=2, draws=seed)])
    name, certain, (separate, pooled) = first_finding(tmp_path)
    assert (name, certain) == ("files-share-tasks", True)
    counts = read(tmp_path, **options_of(separate))
    assert counts.series == tuple(product("ab", ("control", "treatment")))
    assert read(tmp_path, **options_of(pooled)).n.sum() == counts.n.sum()


def test_files_of_the_same_names_without_shared_tasks_are_not_copies(tmp_path: Path) -> None:
    for model in "ab":
        (tmp_path / model).mkdir()
        for part in ("code", "math"):
            rows = [{**row, "model": model, "task": part + str(row["task"])} for row in attempts()]
            lines(tmp_path / model / f"{part}.jsonl", rows)
    assert first_finding(tmp_path)[0] == ""
    # A folder per model with one file.
    for path in tmp_path.rglob("math.jsonl"):
        path.unlink()
    assert first_finding(tmp_path)[0] == ""


def test_documents_of_single_attempts_are_not_models(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model).mkdir()
        for i, row in enumerate(attempts(4, 3)):
            (tmp_path / model / f"trial-{i}.json").write_text(json.dumps({**row, "took": i}))
    counts = read(tmp_path)
    assert [name for name, *_ in counts.series] == ["a", "b"]
    assert counts.n.tolist() == [3] * 8
    assert read(tmp_path / "a").series == (("a",),)


def test_a_document_next_to_the_documents_that_it_lists_is_a_copy(tmp_path: Path) -> None:
    rows = attempts(6, 1, took_ms=lambda t, a, p: 100.5 + t, reply=lambda t, a, p: f"{t}" * 300)
    for i, row in enumerate(rows):
        (tmp_path / f"{i}.json").write_text(json.dumps({"model": "m", **row}))
    assert first_finding(tmp_path)[0] == ""
    lines(tmp_path / "all.jsonl", [{"model": "m", **row} for row in rows])
    assert first_finding(tmp_path)[:2] == ("repeated-records", True)


def test_a_repeated_header_is_found_in_any_spelling(tmp_path: Path) -> None:
    body = "".join(f"t{i},{i % 2}\n" for i in range(9))
    path = tmp_path / "m.csv"
    for head in ("task,passed", "Task,Passed", " task , passed "):
        path.write_text(f"task,passed\n{body}{head}\n{body}")
        assert first_finding(path, duplicates="keep")[0] in ("header-rows", "bad-record"), head


def test_entries_of_scorers_are_not_attempts() -> None:
    rows: Rows = [
        {"id": f"i{i}", "scores": [{"name": name, "value": (i + place) % 2}
                                   for place, name in enumerate(("correct", "concise"))]}
        for i in range(12)
    ]  # fmt: skip
    assert first_finding(rows, fields={"outcome": "scores.value"})[:2] == ("several-verdicts", True)
    for row in rows:
        # Runs have numbers.
        row["scores"] = [{**entry, "name": f"run{i}"} for i, entry in enumerate(row["scores"])]
    assert first_finding(rows, fields={"outcome": "scores.value"})[0] == ""


def test_lists_of_the_same_entries_in_another_order_are_reported() -> None:
    rows: Rows = [
        {"id": i, "predicted": ["a", "b"], "actual": (["a", "b"], ["b", "a"], ["c"])[i % 3]}
        for i in range(9)
    ]
    fields = {"task": "id", "outcome": "predicted==actual"}
    assert first_finding(rows, fields=fields)[:2] == ("lists-in-order", False)
    assert (
        first_finding([row for row in rows if row["actual"] != ["b", "a"]], fields=fields)[0] == ""
    )


def test_ids_that_start_again_in_each_domain_are_parts_of_the_task() -> None:
    rows: Rows = [
        {"domain": domain, "task_id": t, "trial": a, "reward": (t + a) % 2}
        for domain in ("airline", "retail") for t in range(4) for a in range(3)
    ]  # fmt: skip
    name, certain, (first, *_) = first_finding(rows)
    assert (name, certain) == ("restarting-tasks", True)
    assert len(read(rows, **first.options).tasks) == 8


@pytest.mark.parametrize("outcome", ["success_rate", "success_within_7_actions"])
@pytest.mark.parametrize("digits", [2, *long_cases(3, 16)])
def test_rates_next_to_a_number_of_attempts_are_refused(outcome: str, digits: int) -> None:
    rows: Rows = [
        {"agent": agent, "perturbation": f"p{t}", "episodes": 30,
         "success_rate": round((t + 9) / 30, digits),
         "success_within_7_actions": round(t / 30, digits)}
        for agent in ("base", "tuned") for t in range(12)
    ]  # fmt: skip
    options: dict[str, Any] = {"fields": {"task": "perturbation", "outcome": outcome}}
    options["threshold"] = 1
    assert first_finding(rows, **options)[:2] == ("rates-of-several", True)
    for row in rows:
        row["episodes"] = 31
    assert first_finding(rows, **options)[0] == ""


def test_costs_that_only_grow_are_reported(passk: Passk, tmp_path: Path) -> None:
    rows = attempts(12, 1, cost=lambda t, a, p: 0.5 * (t + 1))
    summed = "cost only grows from row to row (0.5 to 6)"
    assert summed in passk("cost", lines(tmp_path / "m.jsonl", rows)).err
    rows[3]["cost"] = 0.25
    assert "only grows" not in passk("cost", lines(tmp_path / "m.jsonl", rows)).err


def test_a_consequence_of_the_outcome_is_not_a_setting() -> None:
    assert first_finding(attempts(8, 4, severity=lambda t, a, p: 0 if p else 1))[0] == ""


def test_evenness_separates_planned_columns_from_results() -> None:
    random = np.random.default_rng(4)
    cell, value = np.repeat(np.arange(30), 6), np.tile([0, 0, 0, 1, 1, 1], 30)
    laid = column_evenness(cell, value)
    assert (
        laid.dispersion_to_shuffled_ratio,
        laid.is_below_all_shuffles,
        laid.are_values_certainly_planned,
        laid.cell_share_with_several_values,
    ) == (
        0.0,
        True,
        True,
        1.0,
    )
    assert not column_evenness(cell, random.permutation(value)).are_values_likely_planned
    # A property of the task does not vary within one.
    assert not column_evenness(cell, cell % 3).are_values_certainly_planned
    assert column_evenness(cell, np.zeros_like(cell)).cell_share_with_several_values == 0
    assert column_evenness(np.arange(5), np.arange(5)).cell_count == 0


def test_every_misleading_case_is_a_case() -> None:
    assert len(MISLEADING) >= 39
    assert all(isinstance(case, Case) for case in MISLEADING.values())
