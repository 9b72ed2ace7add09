"""NeMo Evaluator's results: RUN/BENCHMARK/results.jsonl, one record per repeat of a problem.

Source: github.com/NVIDIA-NeMo/Evaluator (Apache-2.0), src/nemo_evaluator/engine/eval_loop.py and
artifacts.py, docs/result-format.mdx: {problem_idx, repeat, reward, scoring_details, metadata}.  The
bundle eval-*.json in the same folder contains the model, the benchmark and averages. The files
trajectories.jsonl and verified_log.jsonl repeat the results.  If an attempt fails because of the
infrastructure, NeMo Evaluator gives a reward of 0, but passk treats the outcome as missing.  Before
version 0.3, core/evaluate.py wrote only a file with averages, results.yml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.errors import FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    value_at_key_path,
)

# passk skips files that match _NON_RESULT_FILE_PATTERNS, because they are bundles of averages, logs
# for resuming a run, or statistics.
_NON_RESULT_FILE_PATTERNS = (
    "eval-*.json",
    "trajectories.jsonl",
    "*_log.jsonl",
    "*_traffic.jsonl",
    "*.json",
)
_AVERAGES_TEXT_PATTERN = re.compile(
    r"^results:\n  (groups|tasks):.*^ +metrics:.*^ +stats:", re.M | re.S
)
_MISSING_REASON_BY_CATEGORY = {"infra_error": "infrastructure", "system": "error"}


def _averages_file_kind_and_remedy(file: File) -> tuple[str, str] | None:
    """Describe a file that contains only averages, and suggest what to read instead. Return None
    for other files."""
    if file.structure == "object" and file.has_keys("run_id", "config_hash", "benchmark.scores"):
        return "a bundle", "give the results.jsonl from the same folder"
    if file.structure == "other" and _AVERAGES_TEXT_PATTERN.search(file.start_text):
        remedy = "give the files of the underlying harness, for example samples_*.jsonl of lm-eval"
        return "results.yml", remedy
    return None


def _contents(file: File) -> Contents:
    if averages := _averages_file_kind_and_remedy(file):
        kind, remedy = averages
        problem = f"{kind} of NeMo Evaluator contains only averages"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    bundles = file.sibling_names("eval-*.json")
    bundle = file.sibling_document(bundles[0]) if len(bundles) == 1 else None
    facts = {
        "model": value_at_key_path(bundle, "config", "model"),
        "suite": value_at_key_path(bundle, "benchmark", "name"),
        "temperature": value_at_key_path(bundle, "config", "temperature"),
        "run": value_at_key_path(bundle, "run_id"),
    }

    def rows(request: RowRequest) -> Iterator[Row]:
        for line, record in file.numbered_records(request):
            category = value_at_key_path(record, "scoring_details", "error_category")
            reason = _MISSING_REASON_BY_CATEGORY.get(category)
            yield Row(
                record.get("problem_idx"),
                *judge_without_harness_pass_rule(None if reason else record.get("reward")),
                record.get("repeat"),
                reason or category or "",
                settings={"category": value_at_key_path(record, "metadata", "category")},
                answer=record.get("extracted_answer"),
                solution=record.get("model_response"),
                place=f"line {line}",
                record=record,
            )

    return Contents(rows, constants=facts)


NEMO_EVALUATOR = Format(
    "nemo-evaluator",
    "a reward of 1; other numbers need --threshold; infrastructure errors are no outcome, although"
    " NeMo Evaluator gives them a reward of 0",
    "github.com/NVIDIA-NeMo/Evaluator: src/nemo_evaluator/engine/eval_loop.py, artifacts.py",
    lambda file: (
        file.has_keys("problem_idx", "reward", "scoring_details")
        or _averages_file_kind_and_remedy(file) is not None
    ),
    _contents,
    lambda file: () if file.name != "results.jsonl" else _NON_RESULT_FILE_PATTERNS,
    lambda record: {name: record.get(name) for name in ("tokens", "latency_ms")},
    example=Example(
        ("RUN/BENCHMARK/results.jsonl",),
        """\
{"problem_idx": 0, "repeat": 0, "reward": 1.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 0, "repeat": 1, "reward": 0.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 1, "repeat": 0, "reward": 1.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 1, "repeat": 1, "reward": 1.0, "scoring_details": {"method": "exact"}}
""",
        arguments="RUN",
    ),
)
