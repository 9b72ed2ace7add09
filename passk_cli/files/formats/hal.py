"""HAL's results: <run>_UPLOAD.json with the tasks that succeeded and those that failed.

Source: github.com/princeton-pli/hal-harness (MIT), hal/benchmarks/base_benchmark.py,
process_results, and taubench.py, get_metrics.  An agent's name is what its board compares.
"""

from __future__ import annotations

from typing import Any

from passk_cli.errors import DataError, NoResults
from passk_cli.files.formats.format import Contents, Folder, Format, Row, at, quoted
from passk_cli.files.formats.head import Head

# The log of every call, and every prompt.
_LONG = ("raw_logging_results", "raw_eval_results", "task_prompts")


def _table(head: Head, folder: Folder) -> Contents:
    document = head.document(*_LONG)
    passed, failed = (at(document, "results", f"{kind}_tasks") for kind in ("successful", "failed"))
    if not isinstance(passed, list) or not isinstance(failed, list):
        problem = "names no tasks that succeeded and failed"
        raise NoResults(head.source.name, problem, "its benchmark gives averages alone")
    both = {str(task) for task in passed} & {str(task) for task in failed}
    if both:
        problem = f"task {quoted(min(both))!r} both succeeded and failed"
        raise DataError(head.source.name, problem, "correct the file", name="bad-record")
    config = document["config"]
    facts = {
        "model": _model(config),
        "suite": at(config, "benchmark_name"),
        "run": at(config, "run_id"),
    }
    outcomes = [(task, True) for task in passed] + [(task, False) for task in failed]
    return Contents(
        lambda wanted: (Row(task, outcome, 0) for task, outcome in outcomes), facts=facts
    )


def _model(config: Any) -> str:
    """The agent, and its model where the name does not say it."""
    agent, model = str(at(config, "agent_name")), at(config, "agent_args", "model_name")
    short = str(model or "").rpartition("/")[2].lower()
    return agent if short in agent.lower() else f"{agent} ({model})"


HAL = Format(
    "hal",
    "a task among successful_tasks",
    "github.com/princeton-pli/hal-harness: hal/benchmarks/base_benchmark.py",
    lambda head: (
        head.form == "object"
        and head.has("config.agent_name", "config.benchmark_name", "config.run_id", "results")
    ),
    _table,
)
