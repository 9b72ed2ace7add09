"""passk diversity: the different solutions among the attempts, and the gain they come with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import NORMALISE, Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, parse_k


@dataclass(frozen=True)
class DiversityOptions:
    """Count the different solutions among the attempts.

    Counts the different solutions, and the different correct ones, among k attempts, and shows how
    much variety comes with the gain from pass@1 to pass@k.

    # count the different solutions at each temperature
    passk diversity sample_data/cruxeval.jsonl.gz --model codellama-7b \
    --by temperature

    # treat solutions that differ in spaces only as equal
    passk diversity sample_data/cruxeval.jsonl.gz --by temperature --normalise space

    # draw how variety grows with k
    passk diversity sample_data/cruxeval.jsonl.gz --model codellama-7b \
    --by temperature --chart diversity.svg
    """

    # fmt: off
    normalise: Annotated[str, Option(
        "--normalise", help="Compare solutions as", choices=NORMALISE,
        detail="none: as they are; space: with white space as single spaces; python: without"
        " comments, docstrings and layout.")] = "none"
    similarity: Annotated[float | None, Option(
        "--similarity", "X", "Count solutions of similarity X or more as one.",
        detail="Similarity: the share of common runs of three tokens, e.g. 0.8.")] = None
    k: Annotated[tuple[int, ...], Option(
        "-k", "2,10,100", "distinct@k at these k.", parse=parse_k,
        detail="Default: those of 2, 10, 100 that the data allow; if these are fewer than three,"
        " also half and all of the attempts.")] = ()
    # fmt: on


COMMAND = Command(
    DiversityOptions, (Request, Metrics, Confidence), without=("metrics", "bounds"), charts=True,
    view="passk_cli.commands.diversity.view:DiversityQuestion")  # fmt: skip
