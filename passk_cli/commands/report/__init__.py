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
    """A full report on one page.

    Leaderboard, curves, differences, reliability, order, diversity, temperature, tasks and data
    quality, as .html (one file, no network) or .md with its pictures beside it. With --by there is
    a section for each group, and a macro average.

    Example: passk report sample_data/agents.jsonl -m pass@1 -o report.html

    Example: passk report sample_data/tau_airline.csv -k 1,4 -o report.md
    """

    # fmt: off
    baseline: Annotated[str | None, Option(
        "--baseline", "NAME", "Compare every model with this one only.", of_models=True,
        detail="A model in the data.",
    )] = None
    headline: Annotated[str, Option(
        "--title", "TEXT", "Title of the page.",
    )] = "Evaluation report"
    # fmt: on


COMMAND = Command(
    ReportOptions, (Request, Metrics, Rules, Confidence), paged=True,
    view="passk_cli.commands.report.view:OnePage",
)  # fmt: skip
