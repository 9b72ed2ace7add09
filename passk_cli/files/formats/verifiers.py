"""Results of verifiers: results.jsonl with metadata.json, and traces.jsonl.

Source: github.com/PrimeIntellect-ai/verifiers (MIT), verifiers/utils/save_utils.py and
metric_utils.py (a reward of 0.5 or more passes), v1/trace.py, v1/episode.py and v1/cli/output.py.
Each rollout of an example is a line, so lines with the same example are attempts at this example.
The name of the folder outputs/…/ID/ is the name of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.errors import BadRecordError
from passk_cli.files.formats.format import (
    INCOMPLETE_RUN_WARNING,
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    build_usage_amount_reader,
    finite_number,
    judge_by_harness_pass_rule,
    judge_without_harness_pass_rule,
    number_attempts_per_task,
    value_at_key_path,
)
from passk_cli.suggested_fix import Placeholder, SuggestedFix

ASSUMED_THRESHOLD_WARNING = DiagnosticType(
    "assumed-threshold", WARNING, "a reward of {bar} or more counts as a pass",
    SuggestedFix({"--threshold": Placeholder("X")}, "sets another threshold"),
    meaning="Some rewards are between 0 and 1. Without --threshold, passk uses the threshold of the"
    " run, or 0.5 if the run has no threshold.",
    why="The pass rate depends on the threshold.",
    example="warning[assumed-threshold]: a reward of 0.5 or more counts as a pass; --threshold X"
    " sets another threshold",
)  # fmt: skip

# verifiers names the folder of a run by an id. _RUN_ID_PATTERN matches the ids of verifiers v0
# and v1.
_RUN_ID_PATTERN = re.compile(
    r"[0-9a-f]{8}|[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_OUTCOME_NAME_FOR_SINGLE_AGENT = "reward"


def _results_contents(file: File) -> Contents:
    metadata = file.sibling_document("metadata.json")
    stated = finite_number(value_at_key_path(metadata, "pass_threshold"))
    bar = 0.5 if stated is None else stated
    facts = {
        "model": value_at_key_path(metadata, "model"),
        "suite": value_at_key_path(metadata, "env_id") or value_at_key_path(metadata, "env"),
        "run": _run_name(file),
        "temperature": value_at_key_path(metadata, "sampling_args", "temperature"),
    }
    return Contents(
        lambda request: number_attempts_per_task(_rollout_rows(file, metadata, bar, request)),
        constants=facts,
    )


def _rollout_rows(file: File, metadata: Any, bar: float, request: RowRequest) -> Iterator[Row]:
    rollouts_read, partly = 0, False
    for line, rollout in file.numbered_records(request):
        rollouts_read += 1
        # verifiers gives a reward of 0 to a rollout that ended with an error.
        failed = rollout.get("error") is not None
        reward = None if failed else rollout.get("reward")
        outcome, score = judge_by_harness_pass_rule(reward, lambda points: points >= bar)
        partly = partly or score not in (None, 0.0, 1.0)
        example, reason = rollout.get("example_id", rollout.get("id")), "error" if failed else ""
        place = f"line {line}"
        yield Row(example, outcome, score, None, reason, "no score", place=place, record=rollout)
    if partly:
        request.messages.append(ASSUMED_THRESHOLD_WARNING(bar=f"{bar:g}"))
    examples = finite_number(value_at_key_path(metadata, "num_examples"))
    per_example = finite_number(value_at_key_path(metadata, "rollouts_per_example"))
    if examples and per_example and 0 < examples * per_example != rollouts_read:
        listed = int(examples * per_example)
        request.messages.append(INCOMPLETE_RUN_WARNING(listed=listed, held=rollouts_read))


def _traces_contents(file: File) -> Contents:
    # An episode can end with an error before it has a trace, so passk uses the first episode with a
    # trace.
    episodes = (record for _, record in file.numbered_records())
    first = next((record for record in episodes if record.get("traces", [record])), {})
    traces = first.get("traces", [first])
    traces = traces if isinstance(traces, list) else []
    names = tuple(dict.fromkeys(map(_agent_name, traces)))
    facts = {
        "model": _model_name(value_at_key_path(traces, 0)),
        "suite": value_at_key_path(first, "env", "id") or None,
        "run": _run_name(file) or value_at_key_path(first, "run", "id"),
    }
    outcomes = names if len(names) > 1 else (_OUTCOME_NAME_FOR_SINGLE_AGENT,)
    return Contents(
        lambda request: number_attempts_per_task(_chosen_agent_row_per_episode(file, request)),
        outcomes,
        facts,
    )


def _run_name(file: File) -> str | None:
    folder = file.path.parent.name
    return folder if _RUN_ID_PATTERN.fullmatch(folder) else None


def _agent_name(trace: Any) -> str:
    return str(value_at_key_path(trace, "agent", "name") or "agent")


def _chosen_agent_row_per_episode(file: File, request: RowRequest) -> Iterator[Row]:
    for line, episode in file.numbered_records(request):
        trace = _agent_trace(f"{file.source.name}:{line}", episode, request.outcome)
        failed = any(flag is False for flag in (episode.get("ok"), value_at_key_path(trace, "ok")))
        failed = failed or value_at_key_path(trace, "error") is not None
        yield Row(
            _task_key(episode),
            *judge_without_harness_pass_rule(None if failed else _total_reward(trace)),
            reason="error" if failed else "",
            default_missing_reason="no score",
            model=_model_name(trace),
            settings={
                "temperature": value_at_key_path(
                    trace, "agent", "config", "sampling", "temperature"
                )
            },
            place=f"line {line}",
        )


def _agent_trace(place: str, episode: dict[str, Any], agent: str) -> Any:
    episode_traces = episode.get("traces", [episode]) or []
    if not isinstance(episode_traces, list):
        raise BadRecordError(place, "the value of traces is not a list", "expected a list")
    traces = [
        trace
        for trace in episode_traces
        if agent in (_OUTCOME_NAME_FOR_SINGLE_AGENT, _agent_name(trace))
    ]
    if len(traces) > 1:
        problem = f"one episode contains {len(traces)} traces of {agent!r}"
        raise BadRecordError(place, problem, "passk expects one trace per agent and episode")
    return traces[0] if traces else None


def _task_key(record: dict[str, Any]) -> Any:
    """Return the key or the hash of the task, which are the same in all runs. If both are missing,
    return the name or the index of the task."""
    task = record.get("task")
    data = value_at_key_path(task, "data") or task
    ways = ((task, "key"), (task, "hash"), (data, "name"), (data, "idx"))
    values = (value_at_key_path(where, key) for where, key in ways)
    return next((value for value in values if value is not None), None)


def _total_reward(trace: Any) -> object:
    """The sum of the weighted rewards, or None if a reward is missing.

    If a reward is not a number, the function returns this reward, so that passk reports an error.
    """
    total = 0.0
    rewards = value_at_key_path(trace, "rewards")
    for reward in rewards.values() if isinstance(rewards, dict) else ():
        score = value_at_key_path(reward, "score") if isinstance(reward, dict) else reward
        points = finite_number(score)
        if points is None:
            return score
        weight = finite_number(value_at_key_path(reward, "weight"))
        total += points * (1.0 if weight is None else weight)
    return total if rewards else None


def _model_name(trace: Any) -> str | None:
    model = value_at_key_path(trace, "agent", "config", "model")
    model = model or value_at_key_path(trace, "calls", 0, "model")
    return None if model is None else str(model)


VERIFIERS = Format(
    "verifiers",
    "a reward of 0.5 or more; a rollout that ended with an error is no outcome",
    "github.com/PrimeIntellect-ai/verifiers: verifiers/utils/save_utils.py, metric_utils.py",
    lambda file: (
        file.structure in ("lines", "object")
        and (file.has_keys("example_id") or file.has_keys("id", "generation_ms"))
        and file.has_keys("reward", "prompt", "completion")
    ),
    _results_contents,
    ignored_siblings=("metadata.json",),
    # Before 2026, verifiers wrote the time of generation and scoring in milliseconds. Since then,
    # verifiers has written the time in seconds.
    read_usage_amounts=build_usage_amount_reader(
        tokens_in="token_usage.input_tokens",
        tokens_out="token_usage.output_tokens",
        turns="metrics.num_turns",
        duration_ms="timing.total_ms",
        duration="timing.total",
    ),
    cost_causes_besides_model="a judge",
    example=Example(
        ("outputs/evals/ENVIRONMENT--MODEL/ID/results.jsonl",),
        """\
{"example_id": 0, "prompt": [], "completion": [], "answer": "4", "reward": 1.0, "error": null}
{"example_id": 0, "prompt": [], "completion": [], "answer": "4", "reward": 0.0, "error": null}
{"example_id": 1, "prompt": [], "completion": [], "answer": "7", "reward": 1.0, "error": null}
{"example_id": 1, "prompt": [], "completion": [], "answer": "7", "reward": 1.0, "error": null}
""",
        arguments="outputs/evals",
    ),
)
VERIFIERS_TRACES = Format(
    "verifiers-traces",
    "a reward of 1 (0 fails; others need --threshold); errors are no outcome",
    "github.com/PrimeIntellect-ai/verifiers: verifiers/v1/episode.py, trace.py, cli/output.py",
    lambda file: (
        file.structure in ("lines", "object")
        and (
            file.has_keys("task", "ok", "errors", "traces")
            or file.has_keys("task", "nodes", "rewards")
        )
    ),
    _traces_contents,
    example=Example(
        ("outputs/ENVIRONMENT--MODEL/ID/traces.jsonl",),
        """\
{"task": {"key": "a1"}, "agent": {"config": {"model": "gpt-5.5"}}, "nodes": [], "rewards": {"exact": {"score": 1.0}}}
{"task": {"key": "b2"}, "agent": {"config": {"model": "gpt-5.5"}}, "nodes": [], "rewards": {"exact": {"score": 0.0}}}
""",  # noqa: E501
        arguments="outputs",
    ),
)
