"""The command `passk judge`, which estimates the error rates of a judge from labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions


@dataclass(frozen=True)
class JudgeOptions:
    """Estimate how often a judge errs.

    A judge, for example a model or weak tests, gives the verdicts. Labels show for some attempts
    whether the attempts truly pass. The first table has a row per model. It shows how often the
    judge passes attempts that truly fail, how often the judge fails attempts that truly pass, and
    whether these error rates differ between models. The second table shows pass rates from the
    verdicts and after correction. --width adds the number of labels for a narrower interval, and
    --list writes a list of attempts to label next.

    # estimate how often a judge errs, and correct pass@1
    passk judge sample_data/evalplus.csv.gz --field truth=label

    # find the number of labels that an interval of width 0.1 needs
    passk judge sample_data/evalplus.csv.gz --field truth=label --width 0.1

    # write the attempts to label next to a file
    passk judge sample_data/evalplus.csv.gz --field truth=label --list next.csv
    """

    # fmt: off
    width: Annotated[float | None, Option(
        "--width", "W", "Show how many labels you need for an interval of width W.",
        low=0, high=1)] = None
    to_label: Annotated[str | None, Option(
        "--list", "FILE", "Write attempts to label: .csv, .jsonl or .parquet.",
        parse="passk_cli.files.export:check_output_file_name", file_use="written",
        detail="The file contains the columns model, task and attempt, and an empty column 'truth'."
        " passk draws attempts without a label at random (see --seed): at least ten per verdict"
        " from tasks that mostly pass, and ten from other tasks. Fill in the column 'truth', and"
        " then give the file to --truth.")] = None
    number: Annotated[int | None, Option(
        "--number", "N", "Number of attempts to list per model.", low=1,
        detail="The default is the number of labels that --width needs, or 100 without --width.",
    )] = None
    each: Annotated[int, Option(
        "--each", "K", "List K attempts per listed task, for metrics up to k = K.", low=1,
        detail="passk lists attempts at the same tasks for all models. Without --each, passk"
        " scatters the listed attempts over all tasks, which is best for k = 1 but not enough for k"
        " of 3 or more.")] = 1
    # fmt: on


COMMAND = Command(
    JudgeOptions, (Request, MetricOptions, Confidence),
    excluded_options=("interval", "population", "bounds"),
    runner_path="passk_cli.commands.judge.view:JudgeRunner")  # fmt: skip
