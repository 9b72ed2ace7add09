"""passk diversity: the different solutions among the attempts, and the gain they come with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import NORMALISE, Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, choose_metrics, parse_k, supported_k

if TYPE_CHECKING:
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study

# distinct@1 is 1 for everyone.
USUAL_K = (2, 10, 100)
_FORMS = {"none": "as text", "space": "with single spaces", "python": "as Python"}


@dataclass(frozen=True)
class Diversity(Question):
    """How many different solutions the attempts hold.

    Counts the different solutions, and the different correct ones, among k attempts, and shows how
    much variety comes with the gain from pass@1 to pass@k.

    Example: passk diversity sample_data/cruxeval.jsonl.gz --model codellama-7b -k 2,10

    Example: passk diversity sample_data/cruxeval.jsonl.gz --model gpt-4-0613 --normalise space
    """

    unbounded: ClassVar[str] = (
        "how many solutions differ does not lie between what it is with all missing outcomes"
        " failing and with all passing"
    )

    # fmt: off
    normalise: Annotated[str, Option(
        "--normalise", help="Compare solutions as", choices=NORMALISE,
        detail="none: as they are; space: with white space as single spaces; python: without"
        " comments, docstrings and layout.",
    )] = "none"
    similarity: Annotated[float | None, Option(
        "--similarity", "X", "Count solutions with similarity X or more as one.",
        detail="Similarity: the share of common runs of three tokens, e.g. 0.8.",
    )] = None
    k: Annotated[tuple[int, ...], Option(
        "-k", "2,10,100", "distinct@k at these k.", parse=parse_k,
        detail="Default: those of 2, 10, 100 that the data allow; where fewer than three, also half"
        " and all of the attempts.",
    )] = ()
    # fmt: on

    def request(self, options: SharedOptions) -> Request:
        """The request, with the solutions and when two are one."""
        return replace(
            options.request, cluster=options.confidence.cluster, attempts=("solution",),
            normalise=self.normalise, similarity=self.similarity,
        )  # fmt: skip

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """distinct@k and distinct-correct@k; for k > 1 the gain over one attempt."""
        from passk_cli.study.variety import metrics_at

        return choose_metrics(counts, (), metrics_at(diversity_ks(counts, self.k)))

    def report(self, study: Study) -> Report:
        """Different solutions, different correct ones, and the gain that comes with them."""
        from passk_cli.commands.diversity.view import Gain, Solutions, VarietyOfGains
        from passk_cli.study.section import view
        from passk_cli.study.variety import variety

        study = replace(study, decided={"normalise": self.normalise, "similarity": self.similarity})
        near = "" if self.similarity is None else f", similarity {self.similarity:g}"
        rows = [variety(study, place) for place in study.best_first]
        ks = [k for k in diversity_ks(study.counts, self.k) if k > 1]
        gains = [Gain(row.series, k, row) for row in rows for k in ks]
        solutions = Solutions(study, rows, compared=_FORMS[self.normalise] + near)
        return view(study, [solutions, VarietyOfGains(study, gains)])


COMMAND = Command(
    Diversity,
    (Request, Metrics, Confidence),
    without=("metrics", "bounds"),
    charts=True,
    view="passk_cli.commands.diversity.view",
)


def diversity_ks(counts: Counts, asked: Sequence[int] = ()) -> tuple[int, ...]:
    """The k's asked for; else those of 2, 10, 100 that every task of some model supports; where
    these are fewer than three, half and all of its attempts as well.

    Errors: ParameterError where no model has two attempts at every task.
    """
    if asked:
        return tuple(asked)
    most = supported_k(counts)
    if most < 2:
        raise ParameterError(
            "no model has two attempts at every task, and diversity needs them; make more attempts",
            name="too-few-attempts",
        )
    usual = {k for k in USUAL_K if k <= most}
    return tuple(sorted(usual if len(usual) == len(USUAL_K) else usual | {max(most // 2, 2), most}))
