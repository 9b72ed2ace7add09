"""Harbor's trials: <job>/<task>__<random>/result.json, one attempt each.

Source: github.com/harbor-framework/harbor (Apache-2.0), models/trial/result.py, TrialResult.  The
job's own result.json above them holds no trial, and is none of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import Contents, Folder, Format, Row, Wanted, at, judged
from passk_cli.files.formats.head import Head


def _table(head: Head, folder: Folder) -> Contents:
    trial = head.document()
    rewards = at(trial, "verifier_result", "rewards")
    agent = at(trial, "config", "agent", "name") or at(trial, "agent_info", "name")
    named = at(trial, "agent_info", "model_info")
    model = "/".join(str(part) for key in ("provider", "name") if (part := at(named, key)))
    facts = {
        # The oracle and other agents without a model go by their own name.
        "model": at(trial, "config", "agent", "model_name") or model or agent,
        "agent": agent,
        "reasoning_effort": at(trial, "config", "agent", "kwargs", "reasoning_effort"),
        "dataset": trial.get("source"),
    }
    names = tuple(rewards) if isinstance(rewards, dict) and rewards else None
    return Contents(lambda wanted: _rows(trial, wanted), names, facts)


def _rows(trial: dict[str, Any], wanted: Wanted) -> Iterator[Row]:
    reward = at(trial, "verifier_result", "rewards", wanted.outcome)
    outcome, score = judged(reward, lambda points: points == 1)
    yield Row(
        trial.get("task_name"),
        outcome,
        trial.get("id") or trial.get("trial_name"),
        _reason(trial),
        score,
        settings={"started_at": trial.get("started_at")},
    )


def _reason(trial: dict[str, Any]) -> str:
    """Reason for which the trial ended; an exception may come with a reward all the same."""
    name = at(trial, "exception_info", "exception_type")
    if name is None:
        return "" if at(trial, "verifier_result", "rewards") else "unscored"
    return "timeout" if "timeout" in str(name).lower() else "error"


HARBOR = Format(
    "harbor",
    "a reward of 1; other rewards fail, or pass from --threshold on",
    "github.com/harbor-framework/harbor: src/harbor/models/trial/result.py",
    lambda head: head.form == "object" and head.has("task_name", "trial_name", "verifier_result"),
    _table,
    # What the agent and the verifier leave behind can look like results.
    covers=(
        "config.json",
        "agent/**/*",
        "verifier/**/*",
        "artifacts/**/*",
        "../config.json",
        "../result.json",
    ),
)
