"""NeMo-Skills' outputs: RUN/eval-results/BENCHMARK/output-rsSEED.jsonl, one attempt per file.

Source: github.com/NVIDIA/NeMo-Skills (Apache-2.0), nemo_skills/evaluation/metrics/*.py.  All files
contain the same tasks in the same order, so passk uses the line number as the task.  The available
outcomes depend on the benchmark.  The file metrics.json in the parent folder contains the values of
pass@k that NeMo-Skills computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from passk_cli.errors import DataError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    finite_number,
    value_at_key_path,
)

_FILE_NAME_PATTERN = re.compile(r"output(?:-rs(?P<seed>\d+))?(?P<part>_chunk_\d+)?\.jsonl.*")


def _is_judged_as_expected(record: dict[str, Any]) -> bool | None:
    """Whether the judgement equals the expected judgement, which is "yes" by default.

    Source: nemo_skills/evaluation/metrics/utils.py, is_correct_judgement.
    """
    if record.get("judgement") is None:
        return None
    verdicts = []
    for key in ("judgement", "expected_judgement"):
        parts = str(record.get(key)).rpartition("Judgement:")
        word = parts[2].strip().lower() if parts[1] else ""
        verdicts.append(word[:3] == "yes" if word.startswith(("yes", "no")) else None)
    if "expected_judgement" in record:
        return verdicts[0] == verdicts[1]
    return verdicts[0] is True


def _build_key_equality_reader(key: str, value: str) -> Callable[[dict[str, Any]], bool | None]:
    return lambda record: None if record.get(key) is None else record[key] == value


# _READER_BY_OUTCOME maps each outcome to the function that reads the outcome from a record. A
# record has the outcome if it has a key with the name of the outcome.
_READER_BY_OUTCOME: dict[str, Callable[[dict[str, Any]], Any]] = {
    "symbolic_correct": lambda record: record.get("symbolic_correct"),
    "judgement": _is_judged_as_expected,
    "is_correct": lambda record: record.get("is_correct"),
    "is_correct-plus": lambda record: record.get("is_correct-plus"),
    "proof_status": _build_key_equality_reader("proof_status", "completed"),
    "strict_eval": lambda record: value_at_key_path(
        record, "strict_eval", "follow_all_instructions"
    ),
    "loose_eval": lambda record: value_at_key_path(record, "loose_eval", "follow_all_instructions"),
    "graded_list": lambda record: value_at_key_path(record, "graded_list", 0),
    "status": _build_key_equality_reader("status", "pass"),
}


def _outcome_names(file: File) -> tuple[str, ...]:
    return tuple(name for name in _READER_BY_OUTCOME if name in file.keys)


def _contents(file: File) -> Contents:
    name = _FILE_NAME_PATTERN.fullmatch(file.name)
    if name is not None and name["part"]:
        problem = "the file is a part of a run, so its line numbers do not identify the tasks"
        remedy = "give the file into which the run merges its parts"
        raise DataError(file.source.name, problem, remedy)
    facts = {}
    if name is not None:
        # NeMo-Skills writes the name of the model only into the name of the run's folder.
        benchmark = file.path.parent
        run = benchmark.parent
        run = run.parent if run.name == "eval-results" else run
        facts = {"model": run.name or None, "suite": benchmark.name, "run": name["seed"] or "-"}
        # NeMo-Skills reports the file without a seed separately, because its answers come from
        # greedy decoding.
        facts["decoding"] = "sampled" if name["seed"] else "greedy"

    def rows(request: RowRequest) -> Iterator[Row]:
        outcome = _READER_BY_OUTCOME[request.outcome]
        for line, record in file.numbered_records(request):
            verdict = outcome(record)
            late = request.outcome == "proof_status" and record.get("proof_status") == "timeout"
            yield Row(
                line,
                verdict,
                attempt=0,
                reason="timeout" if late else "",
                settings={"subset": record.get("subset_for_metrics")},
                answer=record.get("predicted_answer"),
                solution=record.get("generation"),
                place=f"line {line}",
                record=record,
            )

    return Contents(rows, _outcome_names(file), facts)


def _usage_amounts(record: Any) -> dict[str, object]:
    start, end = (finite_number(record.get(f"generation_{name}_time")) for name in ("start", "end"))
    return {
        "tokens_out": record.get("num_generated_tokens"),
        "duration": None if start is None or end is None else end - start,
    }


NEMO_SKILLS_FORMAT = Format(
    "nemo-skills",
    "an outcome that is true, a proof_status of completed, or a judgement that is yes or expected",
    "github.com/NVIDIA/NeMo-Skills: nemo_skills/evaluation/metrics/",
    lambda file: file.has_keys("num_generated_tokens") and bool(_outcome_names(file)),
    _contents,
    ("../metrics.json", "metrics.json"),
    _usage_amounts,
    example=Example(
        ("RUN/eval-results/BENCHMARK/output-rs0.jsonl",),
        """\
{"problem": "1 + 1", "predicted_answer": "2", "symbolic_correct": true, "num_generated_tokens": 44}
{"problem": "1 + 2", "predicted_answer": "4", "symbolic_correct": false, "num_generated_tokens": 51}
""",
        arguments="RUN",
    ),
)
