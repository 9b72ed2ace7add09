"""HAL's results: RUN_UPLOAD.json, which lists the tasks that succeeded and the tasks that failed.

Source: github.com/princeton-pli/hal-harness (MIT), hal/benchmarks/base_benchmark.py,
process_results, and taubench.py, get_metrics.  passk treats each agent as a model, because HAL's
leaderboard compares agents.
"""

from __future__ import annotations

from typing import Any

from passk_cli.errors import BadRecordError, FileWithoutResultsError
from passk_cli.files.formats.format import Contents, Example, File, Format, Row, value_at_key_path
from passk_cli.text import truncated_text

# passk does not load the keys in _SKIPPED_KEYS, which contain the log of every call and every
# prompt.
_SKIPPED_KEYS = ("raw_logging_results", "raw_eval_results", "task_prompts")


def _contents(file: File) -> Contents:
    document = file.document(*_SKIPPED_KEYS)
    passed, failed = (
        value_at_key_path(document, "results", f"{kind}_tasks") for kind in ("successful", "failed")
    )
    if not isinstance(passed, list) or not isinstance(failed, list):
        problem = "the file does not list the tasks that succeeded and the tasks that failed"
        raise FileWithoutResultsError(
            file.source.name, problem, "the benchmark reports only averages"
        )
    contradictory = {str(task) for task in passed} & {str(task) for task in failed}
    if contradictory:
        problem = f"task {truncated_text(min(contradictory))!r} both succeeded and failed"
        raise BadRecordError(file.source.name, problem, "correct the file")
    config = document["config"]
    agent = str(value_at_key_path(config, "agent_name"))
    model = value_at_key_path(config, "agent_args", "model_name")
    # The name of the model is added to the name of the agent, unless the name of the agent already
    # contains the model.
    names_model = str(model or "").rpartition("/")[2].lower() in agent.lower()
    facts = {
        "model": agent if names_model else f"{agent} ({model})",
        "suite": value_at_key_path(config, "benchmark_name"),
        "run": value_at_key_path(config, "run_id"),
    }
    # A result file of HAL contains times and sometimes steps per task, but only the cost of the
    # whole run.
    times, steps = (document.get(f"{kind}s") for kind in ("wall_clock_time", "task_step_count"))

    def row(task: Any, outcome: bool) -> Row:
        spans = value_at_key_path(document, "results", "latencies", str(task), "total_time")
        amounts = {
            "duration": value_at_key_path(times, str(task)) or spans,
            "turns": value_at_key_path(steps, str(task)),
        }
        return Row(task, outcome, None, 0, record=amounts)

    rows = [row(task, outcome=True) for task in passed]
    rows += [row(task, outcome=False) for task in failed]
    return Contents(lambda request: rows, constants=facts)


HAL = Format(
    "hal",
    "a task in successful_tasks",
    "github.com/princeton-pli/hal-harness: hal/benchmarks/base_benchmark.py",
    lambda file: (
        file.structure == "object"
        and file.has_keys("config.agent_name", "config.benchmark_name", "config.run_id", "results")
    ),
    _contents,
    read_usage_amounts=lambda amounts: amounts,
    example=Example(
        ("results/BENCHMARK/RUN/RUN_UPLOAD.json",),
        """\
{"config": {"agent_name": "Few Shot (gpt-5.5)", "benchmark_name": "taubench_airline",
            "run_id": "taubench_airline_1"},
 "results": {"accuracy": 0.5, "successful_tasks": ["0"], "failed_tasks": ["1"]}}
""",
        arguments="results",
    ),
)
