"""passk tasks: which tasks are flaky, which changed, which look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import RequiredAttempts


@dataclass(frozen=True)
class TasksOptions:
    """Find flaky, changed and suspicious tasks.

    A flaky task passed some attempts and failed others. The table has a row per number of passes,
    with the pass rates that the attempts do not rule out, or a row per model. --against shows which
    tasks changed, and how many changes chance explains. --suspects shows tasks that weaker models
    pass more often than better ones, and --matrix all tasks and models.

    # count flaky tasks
    passk tasks sample_data/tau_airline.csv

    # find the tasks that changed against another model
    passk tasks sample_data/agents.jsonl --against gpt-5.5

    # find tasks that weak models pass more often than strong models
    passk tasks sample_data/agents.jsonl --suspects
    """

    # fmt: off
    always: Annotated[float | None, Option(
        "--always", "RATE", "Which tasks are shown to pass above this rate.", low=0,
        high=1, between=True,
        detail="And how many more attempts the others need, if all of them pass.")] = None
    against: Annotated[DATA, Option(
        "--against", "FILE|NAME", "Which tasks changed against another run or model.",
        file="read", of_models=True,
        detail="A file or folder, label=path, or a model in the data. Models are compared with the"
        " models of the same name in the other run, or with its only model.")] = None
    suspects: Annotated[bool, Option(
        "--suspects",
        help="Tasks that weaker models pass more often; tasks that separate no models.")] = False
    matrix: Annotated[bool, Option(
        "--matrix", help="Pass rates, a row per task and a column per model.")] = False
    rows: Annotated[int | None, Option(
        "--rows", "N", "Each task, the first N; csv has all.", low=1, high=1_000_000)] = None
    order_from_lines: Annotated[bool, Option(
        "--order-from-lines", help="Attempts were made in the order of the lines.",
        detail="Default: by attempt number or time; entries of lists in their order.")] = False
    # fmt: on


COMMAND = Command(
    TasksOptions, (Request, RequiredAttempts, Confidence), charts=True,
    without=("interval", "population", "cluster", "resamples", "seed", "bounds"),
    view="passk_cli.commands.tasks.view:TasksQuestion")  # fmt: skip
