"""Harbor's trials: JOB/TASK__RANDOM/result.json, one attempt per file.

Source: github.com/harbor-framework/harbor (Apache-2.0), models/trial/result.py, TrialResult.  The
folder of the job also contains a result.json, which summarises the job and contains no attempts.
"""

from __future__ import annotations

from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_by_harness_pass_rule,
    seconds_between,
    value_at_key_path,
)


def _contents(file: File) -> Contents:
    trial = file.document()
    rewards = value_at_key_path(trial, "verifier_result", "rewards")
    agent = value_at_key_path(trial, "config", "agent", "name")
    agent = agent or value_at_key_path(trial, "agent_info", "name")
    model_info = value_at_key_path(trial, "agent_info", "model_info")
    parts = (value_at_key_path(model_info, key) for key in ("provider", "name"))
    model = "/".join(str(part) for part in parts if part)
    facts = {
        # If an agent has no model (for example the oracle agent), the name of the agent is used as
        # the model.
        "model": value_at_key_path(trial, "config", "agent", "model_name") or model or agent,
        "agent": agent,
        "reasoning_effort": value_at_key_path(
            trial, "config", "agent", "kwargs", "reasoning_effort"
        ),
        "dataset": trial.get("source"),
    }
    names = tuple(rewards) if isinstance(rewards, dict) and rewards else None
    error = value_at_key_path(trial, "exception_info", "exception_type")
    # A trial that raised an exception may still have a reward.
    reason = "" if rewards else "unscored"
    if error is not None:
        reason = "timeout" if "timeout" in str(error).lower() else "error"

    def row(request: RowRequest) -> list[Row]:
        points = judge_by_harness_pass_rule(
            value_at_key_path(rewards, request.outcome), lambda reward: reward == 1
        )
        attempt = trial.get("id") or trial.get("trial_name")
        settings = {"started_at": trial.get("started_at")}
        task = trial.get("task_name")
        return [Row(task, *points, attempt, reason, "", settings=settings, record=trial)]

    return Contents(row, names, facts)


def _usage_amounts(trial: Any) -> dict[str, object]:
    agent = value_at_key_path(trial, "agent_result")
    start, end = value_at_key_path(trial, "started_at"), value_at_key_path(trial, "finished_at")
    return {
        "cost_usd": value_at_key_path(agent, "cost_usd"),
        "tokens_in": value_at_key_path(agent, "n_input_tokens"),
        "tokens_out": value_at_key_path(agent, "n_output_tokens"),
        "tokens_cached": value_at_key_path(agent, "n_cache_tokens"),
        "duration_s": seconds_between(start, end),
    }


HARBOR = Format(
    "harbor",
    "a reward of 1; other rewards fail, or need --threshold to pass",
    "github.com/harbor-framework/harbor: src/harbor/models/trial/result.py",
    lambda file: (
        file.structure == "object" and file.has_keys("task_name", "trial_name", "verifier_result")
    ),
    _contents,
    # Files that the agent and the verifier wrote are excluded, because such files can look like
    # results.
    ignored_siblings=tuple(
        "config.json agent/**/* verifier/**/* artifacts/**/* ../config.json ../result.json".split()
    ),
    read_usage_amounts=_usage_amounts,
    cost_causes_besides_model="a verifier that asks a model",
    example=Example(
        ("jobs/JOB/TASK__ID/result.json",),
        """\
{"task_name": "fix-bug", "trial_name": "fix-bug__a1b2c3d",
 "config": {"agent": {"name": "codex", "model_name": "openai/gpt-5.5"}},
 "agent_info": {"name": "codex", "model_info": {"name": "gpt-5.5", "provider": "openai"}},
 "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": null}
""",
        arguments="jobs",
    ),
)
