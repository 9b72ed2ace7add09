"""The command `passk report`, which writes a page that you can publish or send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions


@dataclass(frozen=True)
class ReportOptions:
    """Write a full report, or a leaderboard to publish.

    The page contains a leaderboard, differences between models, curves, the number of tasks needed,
    order, diversity, temperature, tasks and data quality. It is an .html file that needs no
    network, or an .md file with separate pictures. With --by, the page has one section per group,
    and --average adds the average over groups.

    # write a full report as one HTML file
    passk report sample_data/agents.jsonl -m pass@1 -o report.html

    # write a leaderboard to publish
    passk report sample_data/agents.jsonl --board --title Agents -o board.html

    # write the report as Markdown with pictures
    passk report sample_data/tau_airline.csv -o report.md
    """

    # fmt: off
    baseline: Annotated[str | None, Option(
        "--baseline", "NAME", "Compare every model only with this model.", is_model_name=True,
        detail="NAME is a model in the data.")] = None
    average: Annotated[str | None, Option(
        "--average", "COLUMN", "Average over the groups of a column, with equal weights.",
        detail="For example, COLUMN can be the column that contains the benchmark. Like --by"
        " COLUMN, --average COLUMN also splits the page into groups."
    )] = None
    headline: Annotated[str, Option(
        "--title", "TEXT", "Title of the page, such as the benchmark's"
        " name.")] = "Evaluation report"
    board: Annotated[bool, Option(
        "--board", help="Write only the leaderboard, with data to download.")] = False
    link: Annotated[str, Option(
        "--link", "URL", "URL of transcripts, with {model} and {task}.",
        detail="Each task on an .html page links to its transcripts. You can also use {attempt}"
        " for the number of the attempt, and {COLUMN} for the value of a --by column. passk"
        " escapes the values for URLs."
    )] = ""
    # fmt: on


COMMAND = Command(
    ReportOptions, (Request, MetricOptions, ComparisonOptions, Confidence), writes_page=True,
    runner_path="passk_cli.commands.report.view:ReportRunner")  # fmt: skip
