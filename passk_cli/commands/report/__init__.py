"""passk report: what the other commands find, on one page to send to others."""

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
    """A full report on one page, or a leaderboard to publish.

    Leaderboard, differences, curves, tasks needed, order, diversity, temperature, tasks and data
    quality, as .html (one file, no network) or .md with its pictures beside it. With --by there is
    a section for each group; --average also averages over them.

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
        detail="As benchmarks, with --by COLUMN. Without it nothing is averaged over groups."
    )] = None
    headline: Annotated[str, Option(
        "--title", "TEXT", "Title of the page, e.g. the benchmark's name.")] = "Evaluation report"
    board: Annotated[bool, Option(
        "--board", help="Only the leaderboard: finding, date, numbers to download.")] = False
    link: Annotated[str, Option(
        "--link", "URL", "Address of transcripts, with {model} and {task}.",
        detail="Each task of an .html page leads to it. {attempt} is the number of an attempt"
        " in the data; a column of --by is its value. Values are escaped as in URLs.")] = ""
    # fmt: on


COMMAND = Command(
    ReportOptions, (Request, Metrics, Rules, Confidence), paged=True,
    view="passk_cli.commands.report.view:OnePage")  # fmt: skip
