"""passk compare: which models differ significantly, and which tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules


@dataclass(frozen=True)
class CompareOptions:
    """Test which models differ, and which tie.

    Models are compared task by task, on the tasks they share. Each difference has an interval and a
    p-value, adjusted for the number of tests. With a baseline, every model is compared only with
    the baseline.

    # test all pairs of models at pass@1
    passk compare sample_data/agents.jsonl -k 1

    # test every model against one baseline, at each temperature
    passk compare sample_data/cruxeval.jsonl.gz --baseline gpt-4-0613 --by temperature

    # count the tasks that flip between two models
    passk compare sample_data/agents.jsonl -k 1 --model 'gpt-5.*' --flips
    """

    # fmt: off
    baseline: Annotated[DATA, Option(
        "--baseline", "FILE|NAME", "Compare every model with this one only.", file="read",
        of_models=True,
        detail="A model in the data, or a file with one model; several files are read"
        " together.")] = None
    crossings: Annotated[bool, Option(
        "--crossings", help="The k at which one model overtakes another.")] = False
    flips: Annotated[bool, Option(
        "--flips", help="Tasks that flip between models, and how many by chance.")] = False
    change: Annotated[str | None, Option(
        "--change", "FROM:TO", "Do models change differently, e.g. from pass@1 to pass@100?",
        parse="passk_cli.commands.compare.view:parse_change_name",
        detail="The difference between two models at TO minus their difference at FROM. These tests"
        " are a separate family. Without -k and -m these are the metrics that are compared.",
    )] = None
    sensitivity: Annotated[str | None, Option(
        "--sensitivity", "COLUMN", "Repeat without each group of a column.",
        detail="Shows whether verdicts change without a group of tasks, or with half the attempts.",
    )] = None
    # fmt: on


COMMAND = Command(
    CompareOptions, (Request, Metrics, Rules, Confidence), charts=True, methods=True,
    lacking=dict.fromkeys(("--band", "band"), "passk curve draws the bands of each model"),
    view="passk_cli.commands.compare.view:CompareQuestion")  # fmt: skip
