"""Evaluations of skills: benchmark.json, and the grading.json of each run.

Source: github.com/anthropics/skills (Apache-2.0), skills/skill-creator: references/schemas.md and
scripts/aggregate_benchmark.py.  A run passes if all its expectations pass. The score of a run is
pass_rate, the share of expectations that pass.  A model runs all evaluations under each
configuration (with_skill, without_skill), so passk treats each configuration as a model.  Gradings
are in eval-N/CONFIGURATION/run-N/grading.json, and benchmark.json repeats all gradings.  passk
ignores numbers of tokens, because these numbers may really be numbers of characters. passk also
ignores times of 0 seconds, because 0 means that the time was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    finite_number,
    require_list,
    value_at_key_path,
)

_RUN, _EVAL = re.compile(r"run-(\d+)"), re.compile(r"eval-(.+)")
# If a name is missing, scripts/aggregate_benchmark.py writes a placeholder in angle brackets.
_UNKNOWN_NAME_PATTERN = re.compile("<.*>")


def _recognises(file: File) -> bool:
    result = ("runs[].result.pass_rate", "runs[].result.passed", "runs[].expectations[].passed")
    runs = file.has_keys("runs[].eval_id", "runs[].configuration")
    runs = runs and any(map(file.has_keys, result))
    return file.structure == "object" and (runs or _is_grading(file))


def _is_grading(file: File) -> bool:
    return file.has_keys("expectations[].text", "expectations[].passed", "summary.pass_rate")


def _outcome_and_score(file: File, run: Any, result: Any) -> tuple[bool | None, float | None]:
    verdicts = [
        value_at_key_path(expectation, "passed")
        for expectation in require_list(
            file, "expectations", value_at_key_path(run, "expectations")
        )
    ]
    passed, total, rate = (
        finite_number(value_at_key_path(result, key)) for key in ("passed", "total", "pass_rate")
    )
    if verdicts:
        share = sum(verdict is True for verdict in verdicts) / len(verdicts)
        return all(verdict is True for verdict in verdicts), share
    if passed is not None and total:
        return passed == total, passed / total
    return (None, None) if rate is None or total == 0 else (rate == 1, rate)


def _row(file: File, run: Any, result: Any, metadata: Any, place: str) -> Row:
    model = _known_name(value_at_key_path(metadata, "executor_model"))
    model = model or _known_name(value_at_key_path(metadata, "model"))
    configuration, task = value_at_key_path(run, "configuration"), value_at_key_path(run, "eval_id")
    if configuration is not None:
        model = str(configuration) if model is None else f"{configuration} ({model})"
    outcome, score = _outcome_and_score(file, run, result)
    return Row(
        value_at_key_path(run, "eval_name") if task is None else task,
        outcome,
        score,
        value_at_key_path(run, "run_number"),
        model=model,
        settings={"configuration": configuration},
        place=place,
        record=result,
    )


def _known_name(value: Any) -> str | None:
    return value if isinstance(value, str) and not _UNKNOWN_NAME_PATTERN.fullmatch(value) else None


def _contents(file: File) -> Contents:
    if _is_grading(file):
        return _grading_contents(file)
    metadata = value_at_key_path(file.document("runs"), "metadata")

    def rows(request: RowRequest) -> Iterator[Row]:
        for place, run in enumerate(file.records("runs")):
            yield _row(file, run, value_at_key_path(run, "result"), metadata, f"runs[{place}]")

    return Contents(
        rows, constants={"suite": _known_name(value_at_key_path(metadata, "skill_name"))}
    )


def _grading_contents(file: File) -> Contents:
    document = file.document()
    require_list(file, "expectations", document.get("expectations"))
    *above, folder = file.path.parent.parts
    run: dict[str, object] = {"expectations": document["expectations"]}
    if numbered := _RUN.fullmatch(folder):
        run["run_number"] = int(numbered[1])
        *above, folder = above
    if above and (eval_match := _EVAL.fullmatch(above[-1])):
        levels = "../" * (2 if numbered else 1)
        metadata = file.sibling_document(f"{levels}eval_metadata.json")
        eval_id = value_at_key_path(metadata, "eval_id")
        run |= {"configuration": folder, "eval_id": eval_match[1] if eval_id is None else eval_id}
    row = _row(file, run, document.get("summary"), None, "expectations")
    row.record = {"time_seconds": value_at_key_path(document, "timing", "total_duration_seconds")}
    return Contents(lambda request: [row])


def _usage_amounts(result: Any) -> Mapping[str, object]:
    return {"duration_s": value_at_key_path(result, "time_seconds") or None}


SKILL_EVALS = Format(
    "skill-evals",
    "a run in which all expectations pass; its score is the share of expectations that pass",
    "github.com/anthropics/skills: skills/skill-creator/references/schemas.md",
    _recognises,
    _contents,
    lambda file: () if _is_grading(file) else ("**/grading.json",),
    _usage_amounts,
    "the grader and the analyzer",
    example=Example(
        ("benchmark.json", "WORKSPACE/eval-0/with_skill/run-1/grading.json"),
        """\
{"metadata": {"skill_name": "pdf", "executor_model": "claude-opus-5"},
 "runs": [
   {"eval_id": 1, "configuration": "with_skill", "run_number": 1,
    "result": {"passed": 2, "failed": 0, "total": 2, "pass_rate": 1.0, "time_seconds": 42.5},
    "expectations": [{"text": "has a sum", "passed": true, "evidence": "B10"},
                     {"text": "has a title", "passed": true, "evidence": "A1"}]},
   {"eval_id": 1, "configuration": "without_skill", "run_number": 1,
    "result": {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5, "time_seconds": 28.0},
    "expectations": [{"text": "has a sum", "passed": false, "evidence": "no sheet"},
                     {"text": "has a title", "passed": true, "evidence": "A1"}]}
 ]}
""",
    ),
)
