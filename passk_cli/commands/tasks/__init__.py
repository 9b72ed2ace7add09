"""The command `passk tasks`, which finds flaky, changed and suspicious tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import ANY_DATA_OPTION_TYPE, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import AttemptCountOptions


@dataclass(frozen=True)
class TasksOptions:
    """Find flaky, changed and suspicious tasks.

    A task is flaky if some attempts pass and some fail. The table has a row per number of passes,
    with the pass rates that the attempts do not rule out. With several models, the table has a row
    per model. --against shows which tasks changed, and how many changes chance explains. --suspects
    shows tasks that weaker models pass more often than better models, and --matrix shows the pass
    rate of each model at each task.

    # count flaky tasks
    passk tasks sample_data/tau_airline.csv

    # find the tasks that changed against another model
    passk tasks sample_data/agents.jsonl --against gpt-5.5

    # find tasks that weak models pass more often than strong models
    passk tasks sample_data/agents.jsonl --suspects
    """

    # fmt: off
    always: Annotated[float | None, Option(
        "--always", "RATE", "Test which tasks pass above this rate.", low=0,
        high=1, excludes_limits=True,
        detail="If the attempts do not show that a task passes above the rate, passk shows how many"
        " more passes would be enough.")] = None
    against: Annotated[ANY_DATA_OPTION_TYPE, Option(
        "--against", "FILE|NAME", "Show which tasks changed compared with another run or model.",
        file_use="read", is_model_name=True,
        detail="FILE is a file, a folder, or label=path. NAME is a model in the data. passk"
        " compares each model with the model of the same name in the other run. If the other run"
        " has only one model, passk compares all models with the model of the other run.")] = None
    suspects: Annotated[bool, Option(
        "--suspects",
        help="Show tasks that weaker models pass more often.")] = False
    matrix: Annotated[bool, Option(
        "--matrix", help="Show pass rates with one row per task and one column per model.")] = False
    rows: Annotated[int | None, Option(
        "--rows", "N", "Show one row per task for the first N tasks (csv has all tasks).",
        low=1, high=1_000_000)] = None
    order_from_lines: Annotated[bool, Option(
        "--order-from-lines", help="Use the order of lines in the files as the order of attempts.",
        detail="By default, passk orders attempts by their number or time. Attempts in a list keep"
        " the order of the list.")] = False
    # fmt: on


COMMAND = Command(
    TasksOptions, (Request, AttemptCountOptions, Confidence), has_charts=True,
    excluded_options=("interval", "population", "cluster", "resamples", "seed", "bounds"),
    runner_path="passk_cli.commands.tasks.view:TasksRunner")  # fmt: skip
