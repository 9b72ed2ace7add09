"""passk extrapolate: pass@k and pass^k beyond the attempts there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import MOST_REFITS, whole_number
from passk_cli.option import Option, split
from passk_cli.study.confidence import Confidence

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study

CURVES = ("pass@k", "pass^k")


def parse_to(given: Any) -> tuple[int, ...]:
    """k's, increasing, from numbers or texts as "100,1000"; ParameterError for anything else."""
    text = ",".join(map(str, given))
    return tuple(sorted({whole_number(f"--to {text}: k", part) for part in text.split(",")}))


def parse_target(given: Any) -> float:
    """A number between 0 and 1, which are themselves never reached."""
    target = float(given)
    if not 0 < target < 1:
        raise ParameterError(f"--target {target:g} must lie between 0 and 1, as 0.9 does")
    return target


def parse_curves(given: Any) -> tuple[str, ...]:
    """pass@k, pass^k or both, from their names; pass@k where none is named.

    >>> parse_curves(["pass^k, pass@k"]), parse_curves([","])
    (('pass^k', 'pass@k'), ('pass@k',))
    """
    names = split(given)
    for name in names:
        if name not in CURVES:
            raise ParameterError(f"-m {name}: pass@k and pass^k can be extrapolated")
    return names or CURVES[:1]


def models() -> tuple[str, ...]:
    """What can be fitted to the attempts there are."""
    from passk_cli.inference.futures import FITS

    return FITS


@dataclass(frozen=True)
class Extrapolate(Question):
    """pass@k beyond the attempts made; the k for a target.

    Fits a law of how hard tasks are to the counts and predicts pass@k at larger k. Gives two
    intervals: one under that law, one for any rare tasks.

    Example: passk extrapolate sample_data/counts.csv --to 100,1000 --target 0.5

    Example: passk extrapolate sample_data/counts.csv --to 100 --fit beta -m pass@k,pass^k
    """

    unbounded: ClassVar[str] = (
        "pass@k beyond the attempts made need not lie between the fits with all missing"
        " outcomes failing and with all passing"
    )

    to: Annotated[
        tuple[int, ...],
        Option(
            "--to",
            "100,1000",
            "Predict at these k.",
            parse=parse_to,
            detail="Default: 10 and 100 times the attempts there are.",
        ),
    ] = ()
    target: Annotated[
        float | None,
        Option(
            "--target", "P", "Find the k at which pass@k reaches P, as 0.9.", parse=parse_target
        ),
    ] = None
    curves: Annotated[
        tuple[str, ...],
        Option(
            "-m --metric",
            "pass@k,pass^k",
            "pass@k, pass^k or both. Default: pass@k.",
            parse=parse_curves,
        ),
    ] = CURVES[:1]
    fit: Annotated[
        str | None,
        Option(
            "--fit",
            "NAME",
            "Law to fit: ex-gaussian (default), smooth, beta, beta+0, beta+0+1, power, log-logit;"
            " weighed (default for pass^k): all but the first.",
            choices=models,
            detail="ex-gaussian has priors from published data sets, and its interval allows for a"
            " lighter tail of hard tasks; where the counts contradict it, the estimate is"
            " that of weighed, and the interval holds both fits. weighed: smooth has two thirds of"
            " the weight or more; misfit and backtest weigh the others.",
        ),
    ] = None
    resamples: Annotated[
        int,
        Option(
            "--resamples",
            "N",
            "Refits of the law to resampled tasks.",
            low=100,
            high=MOST_REFITS,
            detail="For ex-gaussian: draws from its posterior.",
        ),
    ] = 400

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None at one k: what is predicted lies beyond those that the data supports."""
        return ()

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it, with as many resamples as every model has refits."""
        confidence = replace(options.confidence, resamples=self.resamples)
        return super().study(replace(options, confidence=confidence), read)

    def report(self, study: Study) -> Report:
        """Predictions of every model at larger k, with what they rest on."""
        from passk_cli.commands.extrapolate.report import extrapolate_report

        return extrapolate_report(study, self.curves, self.to, self.target, self.fit)


COMMAND = Command(
    Extrapolate, (Request, Confidence), without=("interval", "bounds"), charts=True, methods=True
)
