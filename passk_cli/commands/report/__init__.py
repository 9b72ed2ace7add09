"""passk report: the results of the other commands on one page that you can send to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules


@dataclass(frozen=True)
class ReportOptions:
    """Write a full report, or a leaderboard to publish.

    The page contains the leaderboard, differences, curves, tasks needed, order, diversity,
    temperature, tasks and data quality. It is .html (one file, no network) or .md with its pictures
    next to it. With --by it has one section per group, and --average adds the average over groups.

    # write a full report as one HTML file
    passk report sample_data/agents.jsonl -m pass@1 -o report.html

    # write a leaderboard to publish
    passk report sample_data/agents.jsonl --board --title Agents -o board.html

    # write the report as Markdown with pictures
    passk report sample_data/tau_airline.csv -o report.md
    """

    # fmt: off
    baseline: Annotated[str | None, Option(
        "--baseline", "NAME", "Compare every model with this one only.", of_models=True,
        detail="A model in the data.")] = None
    average: Annotated[str | None, Option(
        "--average", "COLUMN", "Average over the groups of a column, with equal weights.",
        detail="For example over benchmarks. Groups are then as with --by COLUMN."
    )] = None
    headline: Annotated[str, Option(
        "--title", "TEXT", "Title of the page, e.g. the benchmark's name.")] = "Evaluation report"
    board: Annotated[bool, Option(
        "--board", help="Only the leaderboard: finding, date, numbers to download.")] = False
    link: Annotated[str, Option(
        "--link", "URL", "Address of transcripts, with {model} and {task}.",
        detail="Each task of an .html page links to it. {attempt} is the number of the attempt in"
        " the data, and {COLUMN} the value of a column of --by. Values are escaped as in URLs."
    )] = ""
    # fmt: on


COMMAND = Command(
    ReportOptions, (Request, Metrics, Rules, Confidence), paged=True,
    view="passk_cli.commands.report.view:ReportQuestion")  # fmt: skip
