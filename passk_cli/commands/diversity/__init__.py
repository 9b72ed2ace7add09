"""The command `passk diversity`, which shows how much the solutions of attempts differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import NORMALISE_CHOICES, Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions, parse_k_values


@dataclass(frozen=True)
class DiversityOptions:
    """Count the different solutions among the attempts.

    The command counts the different solutions and the different correct solutions among k attempts,
    and shows how varied the solutions are at tasks that gain from more attempts.

    # count the different solutions at each temperature
    passk diversity sample_data/cruxeval.jsonl.gz --model codellama-7b \
    --by temperature

    # count solutions that differ only in spaces as equal
    passk diversity sample_data/cruxeval.jsonl.gz --by temperature --normalise space

    # draw how variety grows with k
    passk diversity sample_data/cruxeval.jsonl.gz --model codellama-7b \
    --by temperature --chart diversity.svg
    """

    # fmt: off
    normalise: Annotated[str, Option(
        "--normalise", help="How to compare solutions", choices=NORMALISE_CHOICES,
        detail="With none, passk compares solutions without changing them. With space, passk"
        " replaces all white space by single spaces. With python, passk ignores comments,"
        " docstrings and layout.")] = "none"
    similarity: Annotated[float | None, Option(
        "--similarity", "X", "Treat solutions with a similarity of at least X as equal.",
        detail="The similarity is the share of sequences of three tokens that two solutions have in"
               " common. X is, for example, 0.8.",
    )] = None
    k: Annotated[tuple[int, ...], Option(
        "-k", "2,10,100", "Compute distinct@k at these values of k.", parse=parse_k_values,
        detail="By default, passk uses each k of 2, 10 and 100 for which there are enough attempts."
        " If fewer than three values of k remain, passk adds the number of attempts and half of"
        " this number.")] = ()
    # fmt: on


COMMAND = Command(
    DiversityOptions, (Request, MetricOptions, Confidence), excluded_options=("metrics", "bounds"),
    has_charts=True,
    runner_path="passk_cli.commands.diversity.view:DiversityRunner")  # fmt: skip
