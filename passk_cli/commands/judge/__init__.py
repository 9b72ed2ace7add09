"""passk judge: how often a judge errs, and which attempts to label."""

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
    """Estimate how often a judge errs.

    A judge (for example a model or weak tests) gives the verdicts, and labels show for some
    attempts whether they truly pass. The first table has one row per model. It shows how often the
    judge passes attempts that fail, how often it fails attempts that pass, and whether it errs
    differently about one model. The second table shows judged and corrected numbers. --width adds
    the number of labels for a narrower interval, and --list writes attempts to label next.

    # estimate how often a judge errs, and correct pass@1
    passk judge sample_data/evalplus.csv.gz --field truth=label

    # find the number of labels that an interval of width 0.1 needs
    passk judge sample_data/evalplus.csv.gz --field truth=label --width 0.1

    # write the attempts to label next to a file
    passk judge sample_data/evalplus.csv.gz --field truth=label --list next.csv
    """

    # fmt: off
    width: Annotated[float | None, Option(
        "--width", "W", "Show how many labels make intervals this narrow (upper − lower limit).",
        low=0, high=1)] = None
    to_label: Annotated[str | None, Option(
        "--list", "FILE", "Write attempts to label: .csv, .jsonl or .parquet.",
        parse="passk_cli.files.export:parse_file", file="written",
        detail="The file has the model, task and attempt, and an empty column truth. Attempts"
        " without a label are drawn at random (see --seed), separately by verdict and by whether"
        " their task mostly passes, with at least ten of each kind. Fill in the column truth,"
        " and read the file with --truth FILE.")] = None
    number: Annotated[int | None, Option(
        "--number", "N", "How many attempts to list per model.", low=1,
        detail="Default: as many as --width needs, or else 100.")] = None
    each: Annotated[int, Option(
        "--each", "K", "List K attempts per listed task, for metrics up to k = K.", low=1,
        detail="The tasks are the same for all models. Without this option, listed attempts are"
        " scattered over tasks. That is best for k = 1, and not enough from k = 3 on.")] = 1
    # fmt: on


COMMAND = Command(
    JudgeOptions, (Request, Metrics, Confidence), without=("interval", "population", "bounds"),
    view="passk_cli.commands.judge.view:JudgeQuestion")  # fmt: skip
