"""Terminal-Bench 1: results.json in the folder of a run, or in the folder of each trial.

Source: github.com/laude-institute/terminal-bench (Apache-2.0), terminal_bench/harness/models.py,
BenchmarkResults, TrialResults and RunMetadata; read in the copy github.com/finyorko/longcli-bench.
RUN/results.json contains all trials. RUN/TASK/TRIAL/results.json contains one of these trials
again.  The file `run_metadata.json` contains the model and the
run. Without this file, passk takes the name of the run from the end of a trial's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    seconds_between,
    value_at_key_path,
)

_TRIAL_NUMBER_PATTERN = re.compile(r"\.(\d+)-of-\d+(?:\.(.+)|$)")
_METADATA_FILE_NAME = "run_metadata.json"
UNNAMED_MODEL_WARNING = DiagnosticType(
    "unnamed-model", WARNING, "no {file} names the model, so each file is treated as a model",
    "name the model with label=path",
    meaning="Terminal-Bench writes the name of the model into a file next to the results. The file"
    " with the name of the model is missing, so passk treats each file of results as a separate"
    " model.",
    why="If you have several runs of one model, each run becomes a separate model.",
    advice="Copy the missing file along with the results, or write `MODEL=PATH` for each file.",
    example="warning[unnamed-model]: no run_metadata.json names the model, so each file is treated"
    " as a model; name the model with label=path",
)  # fmt: skip


def _contents(file: File) -> Contents:
    is_single_trial = file.has_keys("is_resolved")
    run = file.sibling_document(
        f"../../{_METADATA_FILE_NAME}" if is_single_trial else _METADATA_FILE_NAME
    )
    numbered = _attempt_number_match(next(_trials(file, is_single_trial=is_single_trial), None))
    model = value_at_key_path(run, "model_name") or value_at_key_path(run, "agent_name")
    facts = {
        "model": model,
        "agent": value_at_key_path(run, "agent_name"),
        "dataset": value_at_key_path(run, "dataset_name"),
        "run": value_at_key_path(run, "run_id") or (numbered[2] if numbered else None),
    }
    unnamed = model is None and file.source.label is None
    messages = (UNNAMED_MODEL_WARNING(file=_METADATA_FILE_NAME),) if unnamed else ()

    def rows(request: RowRequest) -> Iterator[Row]:
        for trial in _trials(file, is_single_trial=is_single_trial):
            mode, name = (
                value_at_key_path(trial, "failure_mode"),
                value_at_key_path(trial, "trial_name"),
            )
            match = _attempt_number_match(trial)
            failed = mode not in (None, "unset", "none")
            reason = "timeout" if "timeout" in str(mode) else "error"
            # The trial name "task.2-of-3.run" means attempt 2. If a name has another form, the
            # attempt is the whole name of the trial.
            attempt = int(match[1]) if match else name if isinstance(name, str) else None
            settings = {"started_at": value_at_key_path(trial, "trial_started_at")}
            task, resolved = (
                value_at_key_path(trial, "task_id"),
                value_at_key_path(trial, "is_resolved"),
            )
            why = reason if failed else ""
            yield Row(task, resolved, None, attempt, why, settings=settings, record=trial)

    return Contents(rows, constants=facts, messages=messages)


def _trials(file: File, *, is_single_trial: bool) -> Iterator[Any]:
    return iter([file.document()]) if is_single_trial else file.records("results")


def _attempt_number_match(trial: Any) -> re.Match[str] | None:
    name, task = (str(value_at_key_path(trial, key)) for key in ("trial_name", "task_id"))
    return _TRIAL_NUMBER_PATTERN.match(name.removeprefix(task))


def _ignored_file_patterns(file: File) -> tuple[str, ...]:
    if file.has_keys("is_resolved"):
        return (f"../../{_METADATA_FILE_NAME}", "agent-logs/**/*", "sessions/**/*", "panes/**/*")
    lists_trials = file.has_keys("results[].is_resolved")
    return (
        (_METADATA_FILE_NAME, "*/*/*/**/*", "*/*/results.json")
        if lists_trials
        else (_METADATA_FILE_NAME,)
    )


TERMINAL_BENCH = Format(
    "terminal-bench",
    "is_resolved that is true; null is no outcome, although the leaderboard counts it as failed",
    "github.com/laude-institute/terminal-bench: terminal_bench/harness/models.py (in a copy)",
    lambda file: (
        file.structure == "object"
        and (
            file.has_keys("results[].is_resolved", "results[].trial_name")
            or file.has_keys("results", "n_resolved", "unresolved_ids", "pass_at_k")
            or file.has_keys("is_resolved", "trial_name", "failure_mode")
        )
    ),
    _contents,
    ignored_siblings=_ignored_file_patterns,
    # If Terminal-Bench reports 0 tokens, the agent did not count its tokens.
    read_usage_amounts=lambda trial: {
        "tokens_in": value_at_key_path(trial, "total_input_tokens"),
        "tokens_out": value_at_key_path(trial, "total_output_tokens"),
        "duration": seconds_between(
            value_at_key_path(trial, "trial_started_at"), value_at_key_path(trial, "trial_ended_at")
        ),
    },
    example=Example(
        ("runs/TIME/results.json",),
        """\
{"results": [
   {"trial_name": "sum.1-of-2.TIME", "task_id": "sum", "is_resolved": true,
    "failure_mode": "unset"},
   {"trial_name": "sum.2-of-2.TIME", "task_id": "sum", "is_resolved": false,
    "failure_mode": "unset"}],
 "n_resolved": 1, "n_unresolved": 1, "accuracy": 0.5}
""",
        arguments="runs",
    ),
)
