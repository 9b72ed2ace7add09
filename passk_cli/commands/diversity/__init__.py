"""passk diversity: how different the attempts of a model are, and what that leaves of pass@k."""

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

    normalise: Annotated[
        str,
        Option(
            "--normalise",
            help="Compare solutions as",
            choices=NORMALISE,
            detail="none: as they are; space: with white space as single spaces; python: without"
            " comments, docstrings and layout.",
        ),
    ] = "none"
    similarity: Annotated[
        float | None,
        Option(
            "--similarity",
            "X",
            "Solutions alike from a share X on are one.",
            detail="The share of common runs of three tokens, as 0.8.",
        ),
    ] = None
    k: Annotated[
        tuple[int, ...],
        Option(
            "-k",
            "2,10,100",
            "distinct@k at these k.",
            parse=parse_k,
            detail="Default: those of 2, 10, 100 that every task of some model supports; fewer"
            " than three: and half and all of its attempts.",
        ),
    ] = ()

    def request(self, options: SharedOptions) -> Request:
        """What to read: the solutions, compared as asked."""
        return replace(
            options.request,
            cluster=options.confidence.cluster,
            attempts=("solution",),
            normalise=self.normalise,
            similarity=self.similarity,
        )

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """distinct@k and distinct-correct@k; for k > 1 what is gained."""
        from passk_cli.commands.diversity.solutions import metrics_at

        return choose_metrics(counts, (), metrics_at(diversity_ks(counts, self.k)))

    def report(self, study: Study) -> Report:
        """Different solutions, different correct ones, and what is gained with them."""
        from passk_cli.commands.diversity.solutions import diversity_report

        near = "" if self.similarity is None else f", similarity {self.similarity:g}"
        study = replace(study, decided={"normalise": self.normalise, "similarity": self.similarity})
        ks = diversity_ks(study.counts, self.k)
        return diversity_report(study, ks, _FORMS[self.normalise] + near)


COMMAND = Command(
    Diversity, (Request, Metrics, Confidence), without=("metrics", "bounds"), charts=True
)


def diversity_ks(counts: Counts, asked: Sequence[int] = ()) -> tuple[int, ...]:
    """The k's asked for; else those of 2, 10, 100 that every task of some model supports, and half
    and all of its attempts where these are fewer than three.

    Errors: ParameterError where no model has two attempts at every task.
    """
    if asked:
        return tuple(asked)
    most = supported_k(counts)
    if most < 2:
        raise ParameterError(
            "no model has two attempts at every task, and diversity needs them; make more attempts"
        )
    usual = {k for k in USUAL_K if k <= most}
    return tuple(sorted(usual if len(usual) == len(USUAL_K) else usual | {max(most // 2, 2), most}))
