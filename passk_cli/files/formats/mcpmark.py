"""MCPMark's results: EXPERIMENT/MODEL__SERVICE/run-N/CATEGORY__TASK/meta.json, or merged runs.

Source: github.com/eval-sys/mcpmark (Apache-2.0), src/results_reporter.py and
src/aggregators/aggregate_results.py.  Merged runs, with one file per model and task, are in
github.com/eval-sys/mcpmark-experiments.  A meta.json does not contain the attempt number, so passk
reads the attempt number from the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    build_usage_amount_reader,
    value_at_key_path,
)

_RUN_FOLDER_PATTERN = re.compile(r"run-(\d+)")
_MERGED_RUN_KEY_PATTERN = re.compile(r"runs\.run-\d+\.(success|execution_result)")


def _contents(file: File) -> Contents:
    result = file.document()
    service = result.get("mcp") or result.get("service")
    facts = {
        "model": result.get("model_name") or result.get("model"),
        # passk treats the two playwright services as one service, as MCPMark does.
        "suite": "playwright" if service == "playwright_webarena" else service,
        "reasoning_effort": result.get("reasoning_effort"),
    }
    task, runs = result.get("task_name") or result.get("task"), result.get("runs")
    if not isinstance(runs, dict):
        above = [part for part in file.path.parts if _RUN_FOLDER_PATTERN.fullmatch(part)]
        runs = {above[-1] if above else "": result}

    def rows(request: RowRequest) -> Iterator[Row]:
        for name, run in runs.items():
            number, result = (
                _RUN_FOLDER_PATTERN.fullmatch(name),
                value_at_key_path(run, "execution_result") or run,
            )
            attempt = int(number[1]) if number else name or None
            reason = "" if value_at_key_path(result, "error_message") is None else "error"
            settings = {"started_at": value_at_key_path(run, "time", "start")}
            success = value_at_key_path(result, "success")
            yield Row(task, success, None, attempt, reason, settings=settings, record=run)

    return Contents(rows, constants=facts)


MCPMARK = Format(
    "mcpmark",
    "a run with execution_result.success true",
    "github.com/eval-sys/mcpmark: src/results_reporter.py, src/aggregators/aggregate_results.py",
    lambda file: (
        file.structure == "object"
        and (
            file.has_keys("task_name", "model_name", "mcp", "execution_result.success")
            or (
                file.has_keys("model", "service")
                and any(map(_MERGED_RUN_KEY_PATTERN.fullmatch, file.keys))
            )
        )
    ),
    _contents,
    ignored_siblings=("messages.json", "../summary.json"),
    read_usage_amounts=build_usage_amount_reader(
        tokens_in="token_usage.input_tokens",
        tokens_out="token_usage.output_tokens",
        tokens="token_usage.total_tokens",
        turns="turn_count",
        # The duration is the time of the agent in seconds, without the time of the verifier.
        duration="agent_execution_time",
    ),
    example=Example(
        ("results/EXPERIMENT/MODEL__postgres/run-1/CATEGORY__TASK/meta.json",),
        """\
{"task_name": "CATEGORY__TASK", "model_name": "gpt-5.5", "mcp": "postgres",
 "execution_result": {"success": true, "error_message": null}}
""",
        arguments="results/EXPERIMENT",
    ),
)
