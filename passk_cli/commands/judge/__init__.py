"""passk judge: what a judge's verdicts are worth, and which attempts to label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics


@dataclass(frozen=True)
class JudgeOptions:
    """How often a judge errs, and which attempts to label.

    A judge (a model, weak tests) gives the verdicts, and labels say of some attempts whether they
    truly pass. The table has a row per model: how often the judge passes what fails, and fails what
    passes; whether its errors go together within tasks; whether it is kinder to one model. Below it
    stand judged and corrected numbers, and how many labels a narrower interval takes. --list writes
    the attempts to label next.

    # estimate how often a judge errs, and correct pass@1
    passk judge sample_data/evalplus.csv.gz --field truth=label

    # find the number of labels that an interval of width 0.1 needs
    passk judge sample_data/evalplus.csv.gz --field truth=label --width 0.1

    # write the attempts to label next to a file
    passk judge sample_data/evalplus.csv.gz --field truth=label --list next.csv
    """

    # fmt: off
    width: Annotated[float | None, Option(
        "--width", "W", "How many labels make intervals this narrow, from limit to limit.",
        low=0, high=1)] = None
    to_label: Annotated[str | None, Option(
        "--list", "FILE", "Write attempts to label: .csv, .jsonl or .parquet.",
        parse="passk_cli.files.export:parse_file", file="written",
        detail="Model, task and attempt, with an empty column truth. They are drawn at random among"
        " attempts without a label, by --seed; each verdict, in tasks that mostly pass and in"
        " others, has its share, and not less than ten, however few are asked for. With truth"
        " filled in, --truth FILE reads it.")] = None
    number: Annotated[int | None, Option(
        "--number", "N", "How many attempts of each model to list.", low=1,
        detail="Default: as many as --width needs, or else 100.")] = None
    each: Annotated[int, Option(
        "--each", "K", "List K attempts of each chosen task, for metrics up to k = K.", low=1,
        detail="The same tasks for every model. Without it attempts are scattered, which is best"
        " for k = 1 and too few from k = 3 on.")] = 1
    # fmt: on


COMMAND = Command(
    JudgeOptions, (Request, Metrics, Confidence), without=("interval", "population", "bounds"),
    view="passk_cli.commands.judge.view:Judge")  # fmt: skip
