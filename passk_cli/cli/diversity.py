"""passk diversity: how different are the attempts, and does pass@k's gain need it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from passk_cli.cli.options import Certainty, Interval, Reading, ShortTasks, not_empty, option
from passk_cli.cli.output import Charting, Output


@dataclass(frozen=True)
class Variety:
    """When two solutions are the same, and for which k."""

    normalise: Annotated[
        str,
        option(
            "--normalise",
            metavar="none|space|python",
            show_default=True,
            help="Compare solutions as they are; with white space as single spaces; or as Python"
            " without comments, docstrings and layout.",
        ),
    ] = "none"
    similarity: Annotated[
        float | None,
        option(
            "--similarity",
            metavar="X",
            help="Solutions that share at least X of their runs of three tokens are one, as 0.8.",
        ),
    ] = None
    k: Annotated[
        list[str],
        option(
            "-k",
            metavar="2,10,100",
            help="distinct@k for these k. Default: those of 2, 10, 100 that every task of some"
            " model supports; fewer than three: and half and all of its attempts.",
        ),
    ] = field(default_factory=list)
    short_tasks: ShortTasks = "empty"

    @property
    def same(self) -> str:
        """When two solutions are the same, in words."""
        form = {"none": "as text", "space": "with single spaces", "python": "as Python"}
        near = "" if self.similarity is None else f", similarity {self.similarity:g}"
        return form.get(self.normalise, "") + near


def diversity(
    reading: Reading,
    variety: Variety,
    method: Interval,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """How different are the solutions: distinct@k, duplicates, gains without variety.

    Example: passk diversity runs/*.jsonl --field solution=completion --normalise python
    """
    from passk_cli.metrics.registry import parse_ks
    from passk_cli.report.diversity import diversity_ks, diversity_report
    from passk_cli.report.samples import check_short_tasks

    output.check(reading.files, charting=charting)
    check_short_tasks(variety.short_tasks)
    asked = parse_ks(",".join(not_empty("-k", variety.k))) if variety.k else ()
    how = certainty.how(method.interval)
    counts = reading.counts(
        cluster=certainty.cluster,
        attempts=("solution",),
        normalise=variety.normalise,
        similarity=variety.similarity,
    )
    report = diversity_report(
        counts,
        diversity_ks(counts, asked),
        how,
        short_tasks=variety.short_tasks,
        same=variety.same,
        drawn=charting.chart is not None,
    )
    output.write(report, charting)
