"""Inspect AI's logs: `.eval` (a zip) and `.json`.

Source: github.com/UKGovernmentBEIS/inspect_ai (MIT), log/_recorders/eval.py, log/_log.py and
scorer/_metric.py.  In a zip, the outcomes are in `summaries.json`, or in the journal if the run
ended early. The samples can be gigabytes large, so passk reads the samples only for solutions, or
if the log has no summaries.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, FileWithoutResultsError
from passk_cli.files.formats.format import (
    INCOMPLETE_RUN_WARNING,
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    require_type,
    value_at_key_path,
)
from passk_cli.files.roles import column_name_words
from passk_cli.suggested_fix import SuggestedFix

UNFINISHED_RUN_WARNING = DiagnosticType(
    "unfinished-run", WARNING, "the run did not finish{?status|: its status is {status}}",
    meaning="The run of this log was cancelled, ended with an error, or has not ended yet.",
    why="passk counts only the attempts that the log contains. Slow or difficult attempts are most"
    " likely to be missing, so the estimates may be too high.",
    advice="Finish the run, for example with `inspect eval-retry`, and read its log again.",
    example="warning[unfinished-run]: the run did not finish: its status is cancelled",
)  # fmt: skip
INVALIDATED_LOG_WARNING = DiagnosticType(
    "invalidated-log", WARNING, "the log is marked as invalidated",
    meaning="Somebody marked the Inspect log as invalid. passk still counts the attempts in an"
    " invalidated log.",
    why="The person who marked the log may know that its outcomes are wrong.",
    advice="If the log is really invalid, leave the file out.",
    example="warning[invalidated-log]: the log is marked as invalidated",
)  # fmt: skip

HIGH_SCORE_MAY_BE_BAD_WARNING = DiagnosticType(
    "unclear-score", WARNING,
    "a score of 1 is a pass, but {score} may measure a failure",
    (SuggestedFix({"--passes": ("false",), "--fails": ("true",)}, "makes 1 a failure"),),
    meaning="The name of the scorer suggests something undesired, such as a refusal, a deception or"
    " a leak. By default, passk counts a score of 1 as a pass for every scorer.",
    why="The log does not show whether a high score is good or bad. If a score of 1 means"
    " that the model did something undesired, the reported pass rate is the failure rate.",
    example="warning[unclear-score]: a score of 1 is a pass, but refusal may measure a failure;"
    " --passes false --fails true makes 1 a failure",
)  # fmt: skip

# If the name of a scorer contains a word in _UNDESIRED_EVENT_WORDS, a score of 1 is probably
# undesirable.
_UNDESIRED_EVENT_WORDS = frozenset(
    "attack deceived deception deceptive error failure hallucination harm harmful jailbreak leak"
    " misaligned refusal refused sabotage toxicity unsafe violation".split()
)
# Inspect's function value_to_float converts the texts in _SCORE_BY_LETTER to numbers. The text "P"
# means partial credit.
_SCORE_BY_LETTER = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_SCORE_BY_LOWERCASE_WORD = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COMPLETION_PATH = ("output", "choices", 0, "message", "content")
# The header of a zipped log is a file with a name in _HEADER_MEMBERS. If the run crashed, the log
# contains _journal/start.json but not header.json.
_HEADER_MEMBERS = ("header.json", "_journal/start.json")
_SAMPLE_MEMBER_PATTERN = re.compile(r"samples/.*\.json")
_SUMMARIES_MEMBER_PATTERN = re.compile(r"_journal/summaries/(\d+)\.json")


@dataclass(frozen=True, slots=True)
class _SampleScores:
    """An attempt at a sample, with the scores that the attempt got.

    scores : maps the name of each scorer to the value and to the answer that the scorer judged.
    usage : the tokens and times of the attempt, unchanged from the log.
    """

    id: Any
    epoch: Any
    scores: dict[str, tuple[Any, Any]]
    has_error: bool
    solution: Any
    usage: dict[str, Any]

    def value_and_answer(self, name: str) -> tuple[Any, Any]:
        """Return the value and the answer of a score, or (None, None) if there is no such score.

        name : the name of a scorer, or SCORER.KEY if the scorer gives several values.
        """
        if name in self.scores:
            return self.scores[name]
        for scorer, (value, answer) in self.scores.items():
            if isinstance(value, dict) and name.startswith(f"{scorer}."):
                return value.get(name.removeprefix(f"{scorer}.")), answer
        return None, None


def _contents(file: File) -> Contents:
    header = _header(file)
    samples = _samples(file, value_at_key_path(header, "results", "scorer", "name") or "score")
    if not samples:
        problem, remedy = "the log contains no samples", "check whether it was cut off"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    # If a scorer has several values, each value becomes an outcome named SCORER.KEY.
    scores: dict[str, None] = {}
    for sample in samples:
        for name, (value, _) in sample.scores.items():
            keys = [f"{name}.{key}" for key in value] if isinstance(value, dict) else [name]
            scores.update(dict.fromkeys(keys))
    names = tuple(scores)
    if not names and not any(sample.has_error for sample in samples):
        problem, remedy = "no sample has a score", "score the log, for example with `inspect score`"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    run = header.get("eval") or {}
    model, number = run.get("model"), run.get("task_id") or run.get("run_id")
    facts = {"model": model, "suite": run.get("task"), "run": number, **_settings(header, run)}
    messages = [*_log_state_warnings(file, header, len(samples))]
    messages += [
        HIGH_SCORE_MAY_BE_BAD_WARNING(score=name)
        for name in names
        if column_name_words(name) & _UNDESIRED_EVENT_WORDS
    ]
    dataset = run.get("dataset") or {}
    order = dataset.get("sample_ids") if dataset.get("shuffled") else None
    return Contents(
        lambda request: _rows(file, samples, model, request), names or None, facts, messages,
        tasks_as_attempted_if_shuffled=order if isinstance(order, list) else (),
    )  # fmt: skip


def _settings(header: dict[str, Any], run: dict[str, Any]) -> dict[str, object]:
    configs = (run.get("model_generate_config"), value_at_key_path(header, "plan", "config"))
    generation = ("temperature", "reasoning_effort")
    settings: dict[str, object] = {
        name: next((v for c in configs if (v := value_at_key_path(c, name)) is not None), None)
        for name in generation
    }
    arguments = ("task_args", "solver_args")
    return settings | {n: json.dumps(run[n], sort_keys=True) for n in arguments if run.get(n)}


def _header(file: File) -> dict[str, Any]:
    """The header of the log, or the record of the start of the run if the run crashed."""
    if file.archive is None:
        return file.document("samples")
    for name in _HEADER_MEMBERS:
        header = file.archive.read_json(name)
        if isinstance(header, dict):
            return header
    problem = "the zip contains neither header.json nor a journal"
    remedy = "check whether it is an Inspect log"
    raise DataError(file.source.name, problem, remedy, name="unknown-format")


def _samples(file: File, scorer_of_version_1: str) -> list[_SampleScores]:
    """Return the last record of each sample and epoch, in the order of the log.

    scorer_of_version_1 : the scorer in a log of version 1, in which a sample has only one score.
    """
    last: dict[tuple[str, Any], _SampleScores] = {}
    for record in _records(file):
        if isinstance(record, dict):
            scores = record.get("scores") or {scorer_of_version_1: record.get("score")}
            sample = _SampleScores(
                record.get("id"),
                require_type(file, "epoch", record.get("epoch"), int),
                {
                    name: (value_at_key_path(score, "value"), value_at_key_path(score, "answer"))
                    for name, score in (scores.items() if isinstance(scores, dict) else ())
                    if score is not None
                },
                record.get("error") is not None,
                value_at_key_path(record, *_COMPLETION_PATH),
                {name: record.get(name) for name in ("model_usage", "total_time", "working_time")},
            )
            last[str(sample.id), sample.epoch] = sample
    return list(last.values())


def _records(file: File) -> Iterator[Any]:
    archive = file.archive
    if archive is None:
        yield from file.records("samples")
        return
    names = ["summaries.json"]
    if not file.has_keys("summaries.json"):
        journal = [
            (int(m[1]), m[0]) for m in map(_SUMMARIES_MEMBER_PATTERN.fullmatch, archive.names) if m
        ]
        names = [name for _, name in sorted(journal)]
    if not names:
        # A log that another program wrote may contain samples without summaries.
        yield from map(archive.read_json, filter(_SAMPLE_MEMBER_PATTERN.fullmatch, archive.names))
    for records in map(archive.read_json, names):
        yield from records if isinstance(records, list) else ()


def _rows(
    file: File, samples: Sequence[_SampleScores], model: Any, request: RowRequest
) -> Iterator[Row]:
    for sample in samples:
        value, answer = sample.value_and_answer(request.outcome)
        number = value_to_float(value)
        missing = isinstance(number, float) and math.isnan(number)
        solution = sample.solution
        if file.archive is not None and "solution" in request.requested_texts:
            # In a zipped log, each sample is a separate file, which also contains the solution.
            name = f"samples/{sample.id}_epoch_{sample.epoch}.json"
            solution = value_at_key_path(file.archive.read_json(name), *_COMPLETION_PATH)
        yield Row(
            sample.id,
            None if missing else number == 1.0 if number in (0.0, 1.0) else number,
            number if isinstance(number, float) and not missing else None,
            sample.epoch,
            "error" if missing and sample.has_error else "",
            answer=answer,
            solution=solution,
            place=f"sample {sample.id}, epoch {sample.epoch}",
            record=(model, sample.usage),
        )


def _usage_amounts(record: tuple[Any, dict[str, Any]]) -> dict[str, object]:
    """Return the tokens and times of an attempt, and the cost in dollars if the log contains a
    cost.

    The tokens and costs of graders and simulated users are in `other_tokens` and `other_cost`.
    """
    model, usage_record = record
    usage = usage_record["model_usage"] if isinstance(usage_record["model_usage"], dict) else {}
    name = model if model in usage or len(usage) != 1 else next(iter(usage))
    model_usage = usage.get(name)
    other_usages = [other for model_name, other in usage.items() if model_name != name]
    cached, cache_written = (
        value_at_key_path(model_usage, f"input_tokens_cache_{direction}")
        for direction in ("read", "write")
    )
    into = value_at_key_path(model_usage, "input_tokens")
    out = value_at_key_path(model_usage, "output_tokens")
    all_tokens = sum(part or 0 for part in (into, out, cached, cache_written))
    if into is not None and value_at_key_path(model_usage, "total_tokens") == all_tokens:
        # Some providers report cached tokens separately, but cached tokens are also input.
        into += (cached or 0) + (cache_written or 0)
    return {
        "cost": value_at_key_path(model_usage, "total_cost"),
        "tokens": value_at_key_path(model_usage, "total_tokens"),
        "tokens_in": into,
        "tokens_out": out,
        "tokens_cached": cached,
        "duration": usage_record["total_time"],
        "working_time": usage_record["working_time"],
        "other_tokens": _sum_of_known_values(
            value_at_key_path(usage, "total_tokens") for usage in other_usages
        ),
        "other_cost": _sum_of_known_values(
            value_at_key_path(usage, "total_cost") for usage in other_usages
        ),
    }


def _sum_of_known_values(values: Iterable[Any]) -> Any:
    known_values = [value for value in values if value is not None]
    return sum(known_values) if known_values else None


def value_to_float(value: Any) -> Any:
    """Convert a score to a number, as Inspect's metrics do. A missing score becomes NaN.

    A score that Inspect cannot convert is returned unchanged.

    >>> [value_to_float(value) for value in ("C", "P", "Yes", "0.25", True, "?", None)]
    [1.0, 0.5, 1.0, 0.25, 1.0, '?', nan]
    """
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) <= sys.float_info.max or value != value else value
    if not isinstance(value, str):
        return value
    points = _SCORE_BY_LETTER.get(value, _SCORE_BY_LOWERCASE_WORD.get(value.lower()))
    try:
        return float(value) if points is None else points
    except ValueError:
        return value


def _log_state_warnings(
    file: File, header: dict[str, Any], samples_read: int
) -> Iterator[Diagnostic]:
    status = header.get("status")
    crashed = file.structure == "zip" and not file.has_keys("header.json")
    if crashed or status not in ("success", None):
        yield UNFINISHED_RUN_WARNING(status="" if crashed else str(status))
    if header.get("invalidated"):
        yield INVALIDATED_LOG_WARNING()
    samples = value_at_key_path(header, "results", "total_samples")
    plan = value_at_key_path(header, "eval", "config") or {}
    if samples is None and plan.get("limit") is None and plan.get("sample_id") is None:
        dataset_size = value_at_key_path(header, "eval", "dataset", "samples")
        epochs = plan.get("epochs") or 1
        samples = dataset_size * epochs if isinstance(dataset_size, int) else None
    if isinstance(samples, int) and samples != samples_read:
        yield INCOMPLETE_RUN_WARNING(listed=samples, held=samples_read)


INSPECT = Format(
    "inspect",
    "a score of C or 1 passes; P and other numbers need --threshold",
    "github.com/UKGovernmentBEIS/inspect_ai: log/_recorders/eval.py, scorer/_metric.py",
    lambda file: (
        (file.structure == "object" and file.has_keys("eval.task", "eval.model", "status"))
        or (file.structure == "zip" and not file.keys.isdisjoint(_HEADER_MEMBERS))
    ),
    _contents,
    read_usage_amounts=_usage_amounts,
    example=Example(
        ("logs/LOG.json", "logs/LOG.eval"),
        """\
{"version": 2, "status": "success",
 "eval": {"task": "gsm8k", "run_id": "r1", "model": "openai/gpt-5.5"},
 "samples": [
   {"id": 1, "epoch": 1, "scores": {"match": {"value": "C", "answer": "4"}}},
   {"id": 1, "epoch": 2, "scores": {"match": {"value": "I", "answer": "5"}}},
   {"id": 2, "epoch": 1, "scores": {"match": {"value": "C", "answer": "7"}}},
   {"id": 2, "epoch": 2, "scores": {"match": {"value": "C", "answer": "7"}}}
 ]}
""",
        arguments="logs",
    ),
)
