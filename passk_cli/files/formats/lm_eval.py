"""lm-evaluation-harness's logged samples: samples_TASK_TIME.jsonl, one line per doc and filter.

Source: github.com/EleutherAI/lm-evaluation-harness (MIT), lm_eval/evaluator.py (samples) and
lm_eval/loggers/evaluation_tracker.py (names of files).  A line has the keys doc_id, resps (the
answers), filtered_resps (the filtered answers), filter, metrics (the names of the metrics), and one
key per metric.  A run writes one line per doc and filter, so several lines of a doc in one run are
not several attempts. A second run adds a second attempt at each doc.  The name of the model is in
results_TIME.json in the same folder, or in the name of the folder.  In early versions, a line
contains neither the name of the filter nor the names of the metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    finite_number,
    judge_without_harness_pass_rule,
    require_type,
    value_at_key_path,
)

ANSWERS_COMBINED_BY_FILTER_WARNING = DiagnosticType(
    "filtered-answers", WARNING,
    "{answers:answer} per task are counted as one attempt, because the filter combines them into"
    " one answer",
    meaning="lm-eval generated several answers per task. A filter of lm-eval, for example a"
    " majority vote, combined the answers into one answer. Only the answer that the filter returned"
    " has an outcome.",
    why="pass@1 is the pass rate of the filtered answer, and passk cannot estimate pass@k for a"
    " larger k.",
    advice="Evaluate with a filter that keeps every answer.",
    example="warning[filtered-answers]: 8 answers per task are counted as one attempt, because the"
    " filter combines them into one answer",
)  # fmt: skip

_FILE_NAME_PATTERN = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?)\.jsonl.*"
)
_MODEL_NAME_ARGUMENT_PATTERN = re.compile(r"(?:^|,)(?:pretrained|model|path)=([^,]+)")
# In files of early lm-eval versions, each key of a sample that is not in _NON_METRIC_KEYS is a
# metric.
_NON_METRIC_KEYS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash"
    " target_hash".split()
)


def _contents(file: File) -> Contents:
    outcomes: dict[str, None] = {}
    answers, prompts = 1, dict[str, str]()
    for _, sample in file.numbered_records():
        outcomes.update(dict.fromkeys(map(",".join, _metric_and_filter_names(sample))))
        answers = max(answers, _unfiltered_answer_count(file, sample))
        if sample.get("prompt_hash"):
            prompts[str(sample.get("doc_id"))] = str(sample["prompt_hash"])
    messages = (ANSWERS_COMBINED_BY_FILTER_WARNING(answers=answers),) if answers > 1 else ()
    facts = _model_suite_and_settings(file, prompts)
    return Contents(lambda request: _rows(file, request), tuple(outcomes), facts, messages)


def _model_suite_and_settings(file: File, prompts: Mapping[str, str]) -> dict[str, object]:
    """Find the model, the benchmark and the settings, in the file name and in the results file with
    the same time.

    prompts : maps the id of each document to the hash of the prompt. passk uses the hash of the
        document with the first id for the whole file.
    """
    name = _FILE_NAME_PATTERN.fullmatch(file.name)
    if name is None:
        return {}
    task, results = name["task"], file.sibling_document(f"results_{name['time']}.json")
    arguments = value_at_key_path(results, "config", "model_args")
    parts = _MODEL_NAME_ARGUMENT_PATTERN.search(arguments) if isinstance(arguments, str) else None
    # lm-eval writes all samples of a model into a folder with the name of the model.
    above = PurePath(file.source.name).parent.name
    config_model = value_at_key_path(arguments, "pretrained") or value_at_key_path(
        arguments, "model"
    )
    model = value_at_key_path(results, "model_name") or (parts[1] if parts else config_model)
    return {
        "model": model or above.replace("__", "/") or None,
        "suite": task,
        "run": name["time"],
        "temperature": value_at_key_path(
            results, "configs", task, "generation_kwargs", "temperature"
        ),
        "n_shot": value_at_key_path(results, "n-shot", task),
        "prompt_hash": prompts[min(prompts)] if prompts else None,
    }


def _metric_and_filter_names(sample: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs (metric, filter) of a sample, for metrics with a number, true, false or no value."""
    names = sample.get("metrics")
    if not isinstance(names, list):
        names = [key for key in sample if key not in _NON_METRIC_KEYS]
    values = ((name, sample.get(name)) for name in map(str, names))
    filter_name = str(sample.get("filter", "none"))
    return [
        (name, filter_name)
        for name, value in values
        if value is None or isinstance(value, bool) or finite_number(value) is not None
    ]


def _unfiltered_answer_count(file: File, sample: dict[str, Any]) -> int:
    resps = require_type(file, "resps", sample.get("resps"), list) or []
    return max((len(answers) for answers in resps if isinstance(answers, list)), default=1)


def _rows(file: File, request: RowRequest) -> Iterator[Row]:
    metric, _, filter_name = request.outcome.rpartition(",")
    nameless: set[str] = set()
    for line, sample in file.numbered_records(request):
        place, doc = f"{file.source.name}:{line}", str(sample.get("doc_id"))
        if "filter" not in sample:
            if doc in nameless:
                problem = f"doc_id {doc} appears once per filter, but the samples lack the filter"
                remedy = "log the samples with lm-eval 0.4.4 or newer"
                raise DataError(place, problem, remedy, name="duplicate-attempts")
            nameless.add(doc)
        if str(sample.get("filter", "none")) != filter_name:
            continue
        answers, filtered = (
            _unfiltered_answer_count(file, sample),
            value_at_key_path(sample, "filtered_resps", 0),
        )
        if answers > 1 and isinstance(filtered, list) and len(filtered) > 1:
            problem = f"{metric} is one number for {len(filtered)} answers (repeats: {answers});"
            problem += " lm-eval does not keep the outcome of each answer"
            remedy = "evaluate with repeats: 1 several times and give the samples of all runs"
            raise DataError(place, problem, remedy, name="no-attempts")
        settings: dict[str, object] = {"filter": filter_name}
        arguments = sample.get("arguments")
        generation = value_at_key_path(arguments, "gen_args_0", "arg_1") or value_at_key_path(
            arguments, 0, 1
        )
        if (temperature := value_at_key_path(generation, "temperature")) is not None:
            settings["temperature"] = temperature
        yield Row(
            sample.get("doc_id"),
            *judge_without_harness_pass_rule(sample.get(metric)),
            0,
            settings=settings,
            answer=filtered,
            solution=value_at_key_path(sample, "resps", 0, 0),
            place=f"line {line}",
        )


LM_EVAL = Format(
    "lm-eval",
    "a metric of 1 passes; other numbers need --threshold",
    "github.com/EleutherAI/lm-evaluation-harness: lm_eval/evaluator.py,"
    " lm_eval/loggers/evaluation_tracker.py",
    lambda file: file.has_keys("doc_id", "resps", "filtered_resps"),
    _contents,
    ("results_*.json",),
    example=Example(
        ("OUTPUT/MODEL/samples_gsm8k_2026-01-01T12-00-00.000000.jsonl",),
        """\
{"doc_id": 0, "resps": [["4"]], "filtered_resps": ["4"], "metrics": ["acc"], "acc": 1.0}
{"doc_id": 1, "resps": [["5"]], "filtered_resps": ["5"], "metrics": ["acc"], "acc": 0.0}
""",
        arguments="OUTPUT",
    ),
)
