"""HELM's per-instance statistics: SCENARIO:ARGUMENTS,model=MODEL/per_instance_stats.json.

Source: github.com/stanford-crfm/helm (Apache-2.0), src/helm/benchmark/runner.py and
metrics/statistic.py: [{"instance_id", "train_trial_index", "perturbation"?, "stats": [{"name":
{"name", "split"}, "count", "mean"}, …]}].  HELM's trials are attempts with different examples in
the prompt. passk does not count perturbed instances as attempts. If the file contains the split
"test", passk reads only this split, like HELM.  In the same folder, run_spec.json contains the
name of the model, and stats.json contains averages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from passk_cli.diagnostic import NOTE, DiagnosticType
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    finite_number,
    judge_without_harness_pass_rule,
    require_list,
    value_at_key_path,
)

PERTURBED_INSTANCES_NOTE = DiagnosticType(
    "perturbed-instances", NOTE, "passk skipped {instances:perturbed instance}",
    meaning="To measure robustness, HELM also runs instances with changed text. passk skips these"
    " perturbed instances.",
    why="A perturbed instance is a different task and not a second attempt at the original task.",
    advice="You do not have to do anything.",
    example="note[perturbed-instances]: passk skipped 120 perturbed instances",
)  # fmt: skip
OTHER_SPLITS_NOTE = DiagnosticType(
    "other-splits", NOTE, "passk skipped {instances:instance} outside the test split: {splits}",
    meaning="The file contains instances of several splits. passk reads only the test split.",
    why="HELM also computes its results from the test split, so you can compare HELM's results"
    " with the results of passk.",
    advice="You do not have to do anything.",
    example="note[other-splits]: passk skipped 50 instances outside the test split: valid",
)  # fmt: skip

_MODEL_PATTERN = re.compile(r"(?:^|[:,])model=([^,]+)")
# Statistics with a name that matches _LIKELY_OUTCOME_PATTERN are likely outcomes, so `--outcome`
# lists them first.
_LIKELY_OUTCOME_PATTERN = re.compile(r"match|correct|accuracy|pass|equivalent", re.IGNORECASE)


def _contents(file: File) -> Contents:
    spec = file.sibling_document("run_spec.json")
    scenario = value_at_key_path(spec, "name") or file.path.parent.name
    model = _MODEL_PATTERN.search(scenario)
    outcomes, splits, perturbed = _outcome_names_and_instance_counts(file)
    split = "test" if "test" in splits else None
    messages = [PERTURBED_INSTANCES_NOTE(instances=perturbed)] if perturbed else []
    other_splits = {name: times for name, times in splits.items() if split and name != split}
    if other_splits:
        instances = sum(other_splits.values())
        messages.append(OTHER_SPLITS_NOTE(instances=instances, splits=list(other_splits)))
    facts = {
        "model": value_at_key_path(spec, "adapter_spec", "model") or (model[1] if model else None),
        "suite": _MODEL_PATTERN.sub("", scenario) if model or spec else None,
        "temperature": value_at_key_path(spec, "adapter_spec", "temperature"),
        "n_shot": value_at_key_path(spec, "adapter_spec", "max_train_instances"),
    }
    return Contents(lambda request: _rows(file, request, split), tuple(outcomes), facts, messages)


def _outcome_names_and_instance_counts(file: File) -> tuple[list[str], Counter[str], int]:
    """Return the names of the statistics that are always between 0 and 1, the number of records
    per split, and the number of perturbed records."""
    highest: dict[str, float] = {}
    lowest: dict[str, float] = {}
    splits: Counter[str] = Counter()
    perturbed = 0
    for record in file.records():
        perturbed += value_at_key_path(record, "perturbation") is not None
        stats = _unperturbed_stat_means(file, record)
        splits.update({split for _, split, _ in stats[:1]})
        for name, _, value in stats:
            mean = finite_number(value)
            if mean is not None:
                highest[name] = max(mean, highest.get(name, mean))
                lowest[name] = min(mean, lowest.get(name, mean))
    names = [name for name in highest if lowest[name] >= 0 and highest[name] <= 1]
    return (
        sorted(names, key=lambda name: _LIKELY_OUTCOME_PATTERN.search(name) is None),
        splits,
        perturbed,
    )


def _unperturbed_stat_means(file: File, record: Any) -> list[tuple[str, str, Any]]:
    stats = require_list(file, "stats", value_at_key_path(record, "stats"))
    return [
        (
            str(value_at_key_path(stat, "name", "name")),
            str(value_at_key_path(stat, "name", "split")),
            value_at_key_path(stat, "mean"),
        )
        for stat in stats
        if value_at_key_path(stat, "name", "perturbation") is None
    ]


def _rows(file: File, request: RowRequest, only: str | None) -> Iterator[Row]:
    for place, record in enumerate(file.records()):
        stats = _unperturbed_stat_means(file, record)
        split = stats[0][1] if stats else None
        if value_at_key_path(record, "perturbation") is not None or (only and split != only):
            continue
        value = next((mean for name, _, mean in stats if name == request.outcome), None)
        yield Row(
            value_at_key_path(record, "instance_id"),
            *judge_without_harness_pass_rule(value),
            value_at_key_path(record, "train_trial_index"),
            settings={"split": split},
            place=f"record {place + 1}",
            record=stats,
        )


def _usage_amounts(stats: list[tuple[str, str, Any]]) -> dict[str, object]:
    means = {name: mean for name, _, mean in stats}
    into, time = means.get("num_prompt_tokens"), means.get("inference_runtime")
    out = means.get("num_completion_tokens", means.get("num_output_tokens"))
    return {"tokens_in": into, "tokens_out": out, "duration": time}


HELM = Format(
    "helm",
    "a statistic of 1 passes; other numbers need --threshold",
    "github.com/stanford-crfm/helm: src/helm/benchmark/runner.py",
    lambda file: file.has_keys("[].instance_id", "[].train_trial_index", "[].stats"),
    _contents,
    ("stats.json", "run_spec.json", "scenario.json", "scenario_state.json", "instances.json"),
    _usage_amounts,
    example=Example(
        ("benchmark_output/runs/SUITE/mmlu:subject=law,model=MODEL/per_instance_stats.json",),
        """\
[{"instance_id": "id1", "train_trial_index": 0, "stats": [
   {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 1.0}]},
 {"instance_id": "id2", "train_trial_index": 0, "stats": [
   {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 0.0}]}]
""",
        arguments="benchmark_output/runs/SUITE --outcome exact_match",
    ),
)
