"""Results of τ-bench, an array of {task_id, reward, info, traj, trial}, and of τ²-bench and
τ³-bench.

Sources: github.com/sierra-research/tau-bench (MIT), tau_bench/run.py and types.py, EnvRunResult;
github.com/sierra-research/tau2-bench (MIT), src/tau2/data_model/simulation.py (Results,
SimulationRun) and metrics/agent_metrics.py.  A file of τ-bench contains neither the model nor the
domain.  A run of τ²-bench is one document, or a results.json with the files simulations/*.json in
the same folder.  The metrics of τ²-bench exclude simulations that τ²-bench could not evaluate, so
passk treats the outcomes of such simulations as missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import (
    INCOMPLETE_RUN_WARNING,
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_by_harness_pass_rule,
    reader_of_outcome_per_attempt,
    value_at_key_path,
)

_SIMULATION_FILES_PATTERN = "simulations/*.json"
# passk does not load the keys in _UNLOADED_KEYS, because the values of these keys can be megabytes
# long.
_UNLOADED_KEYS = ("messages", "ticks", "effect_timeline", "review")
_MISSING_REASON_BY_TERMINATION = {
    "infrastructure_error": "infrastructure",
    "context_window_exceeded": "context window exceeded",
}


def is_full_reward(reward: float) -> bool:
    """Whether a reward is a pass in τ-bench and τ²-bench. Only a reward of 1 is a pass, up to a
    rounding error.

    >>> is_full_reward(1.0 - 1e-7), is_full_reward(0.999), is_full_reward(2.0)
    (True, False, False)
    """
    return abs(reward - 1) <= 1e-6


def _tau_rows(file: File, request: RowRequest) -> Iterator[Row]:
    for result in file.records():
        # τ-bench gives a reward of 0 to an attempt that ended with an error.
        failed = value_at_key_path(result, "info", "error") is not None
        points = judge_by_harness_pass_rule(
            None if failed else value_at_key_path(result, "reward"), is_full_reward
        )
        reason = "error" if failed else ""
        task, trial = value_at_key_path(result, "task_id"), value_at_key_path(result, "trial")
        yield Row(task, *points, trial, reason, "no score", record=result)


TAU_BENCH = Format(
    "tau-bench",
    "a reward of 1 (± 1e-6); errors are no outcome, although τ-bench gives them a reward of 0",
    "github.com/sierra-research/tau-bench: tau_bench/run.py, types.py",
    lambda file: file.structure == "array" and file.has_keys("[].task_id", "[].reward", "[].traj"),
    reader_of_outcome_per_attempt(_tau_rows),
    # τ-bench's files contain the cost of the simulated user, but not the cost of the agent.
    read_usage_amounts=lambda result: {"user_cost": value_at_key_path(result, "info", "user_cost")},
    example=Example(
        ("results/tool-calling-MODEL-0.0_range_0--1_user-MODEL-llm_TIME.json",),
        """\
[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": []},
 {"task_id": 0, "trial": 1, "reward": 0.0, "info": {}, "traj": []},
 {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": []},
 {"task_id": 1, "trial": 1, "reward": 1.0, "info": {}, "traj": []}]
""",
    ),
)


def _is_single_simulation(file: File) -> bool:
    return file.has_keys("task_id", "termination_reason", "reward_info", "start_time")


def _contents(file: File) -> Contents:
    if _is_single_simulation(file):
        run = file.sibling_document("../results.json")
        return Contents(
            lambda request: _rows([file.document(*_UNLOADED_KEYS)]), constants=_run_facts(run)
        )
    run = file.document("simulations", "tasks")
    names = (
        file.sibling_names(_SIMULATION_FILES_PATTERN) if not file.has_keys("simulations") else []
    )
    index = run.get("simulation_index")
    messages = []
    if names and index and len(index) != len(names):
        messages = [INCOMPLETE_RUN_WARNING(listed=len(index), held=len(names))]
    return Contents(
        lambda request: _rows(_simulations(file)), constants=_run_facts(run), messages=messages
    )


def _run_facts(run: Any) -> dict[str, object]:
    return {
        "model": value_at_key_path(run, "info", "agent_info", "llm"),
        "agent": value_at_key_path(run, "info", "agent_info", "implementation"),
        "user_model": value_at_key_path(run, "info", "user_info", "llm"),
        "suite": value_at_key_path(run, "info", "environment_info", "domain_name"),
        "temperature": value_at_key_path(run, "info", "agent_info", "llm_args", "temperature"),
        "run": value_at_key_path(run, "timestamp"),
    }


def _simulations(file: File) -> Iterator[Any]:
    """Yield the simulations in the document, or in simulations/*.json if the document has none."""
    in_document = False
    for simulation in file.records("simulations"):
        in_document = True
        yield simulation
    if not in_document:
        for sibling in file.sibling_files(_SIMULATION_FILES_PATTERN):
            yield sibling.document(*_UNLOADED_KEYS)


def _rows(simulations: Any) -> Iterator[Row]:
    for simulation in simulations:
        reason = _MISSING_REASON_BY_TERMINATION.get(
            str(value_at_key_path(simulation, "termination_reason"))
        )
        reward = None if reason else value_at_key_path(simulation, "reward_info", "reward")
        yield Row(
            value_at_key_path(simulation, "task_id"),
            *judge_by_harness_pass_rule(reward, is_full_reward),
            value_at_key_path(simulation, "trial"),
            reason or "",
            "no score",
            settings={"started_at": value_at_key_path(simulation, "start_time")},
            record=simulation,
        )


def _usage_amounts(simulation: Any) -> dict[str, object]:
    """Return the costs of the agent and the simulated user in dollars, the tokens of the agent, and
    the duration of the simulation in seconds.

    passk counts the tokens in the messages, but does not read the messages if each simulation has
    its own file.
    """
    messages = value_at_key_path(simulation, "messages")
    usage = [
        value_at_key_path(message, "usage")
        for message in (messages if isinstance(messages, list) else ())
        if value_at_key_path(message, "role") == "assistant"
        and value_at_key_path(message, "usage") is not None
    ]
    into, out = (
        sum(value_at_key_path(message_usage, name) or 0 for message_usage in usage)
        if usage
        else None
        for name in ("prompt_tokens", "completion_tokens")
    )
    names = ("agent_cost", "user_cost", "duration")
    amounts = {name: value_at_key_path(simulation, name) for name in names}
    return {**amounts, "tokens_in": into, "tokens_out": out}


TAU2 = Format(
    "tau2",
    "a reward of 1 (± 1e-6); infrastructure errors and full context windows are no outcome",
    "github.com/sierra-research/tau2-bench: src/tau2/data_model/simulation.py",
    lambda file: (
        file.structure == "object"
        and (
            file.has_keys("info.agent_info", "info.environment_info") or _is_single_simulation(file)
        )
    ),
    _contents,
    ignored_siblings=lambda file: (
        () if _is_single_simulation(file) else (_SIMULATION_FILES_PATTERN,)
    ),
    read_usage_amounts=_usage_amounts,
    cost_causes_besides_model="the simulated user",
    example=Example(
        ("data/simulations/RUN.json", "data/simulations/RUN/results.json"),
        """\
{"timestamp": "2026-01-01T12:00:00",
 "info": {"agent_info": {"implementation": "llm_agent", "llm": "gpt-5.5"},
          "environment_info": {"domain_name": "airline"}},
 "tasks": [{"id": "0"}],
 "simulations": [
   {"task_id": "0", "trial": 0, "termination_reason": "user_stop",
    "reward_info": {"reward": 1.0}},
   {"task_id": "0", "trial": 1, "termination_reason": "agent_stop",
    "reward_info": {"reward": 0.0}}]}
""",
        arguments="data/simulations",
    ),
)
