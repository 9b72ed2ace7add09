"""passk extrapolate: pass@k and pass^k beyond the attempts there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import MOST_REFITS, whole_number
from passk_cli.option import Option, split
from passk_cli.settle import Given
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Completeness

CURVES = ("pass@k", "pass^k")


def parse_to(given: Any) -> tuple[int, ...]:
    """k's, increasing, from numbers or texts as "100,1000"; ParameterError for anything else."""
    text = ",".join(map(str, given))
    return tuple(sorted({whole_number(Given("--to", text), part) for part in text.split(",")}))


def parse_curves(given: Any) -> tuple[str, ...]:
    """pass@k, pass^k or both, from their names; pass@k where none is named.

    >>> parse_curves(["pass^k, pass@k"]), parse_curves([","])
    (('pass^k', 'pass@k'), ('pass@k',))
    """
    names = tuple(name.lower() for name in split(given))
    for name in names:
        if name not in CURVES:
            raise ParameterError(
                Given("-m", name), "pass@k and pass^k can be extrapolated", name="unknown-metric"
            )
    return names or CURVES[:1]


@dataclass(frozen=True)
class ExtrapolateOptions:
    """pass@k beyond the attempts made; the k for a target.

    Fits a distribution of task difficulty to the counts and predicts pass@k at larger k, with an
    interval under that fit and an assumption-free bound.

    Example: passk extrapolate sample_data/counts.csv --to 100,1000 --target 0.5

    Example: passk extrapolate sample_data/counts.csv --to 100 --fit beta -m pass@k,pass^k
    """

    # fmt: off
    to: Annotated[tuple[int, ...], Option(
        "--to", "100,1000", "Predict at these k.", parse=parse_to,
        detail="Default: 10 times the attempts there are.")] = ()
    target: Annotated[float | None, Option(
        "--target", "P", "Find the k at which pass@k reaches P, e.g. 0.9.", low=0,
        high=1, between=True,
    )] = None
    metrics: Annotated[tuple[str, ...], Option(
        "-m --metric", "pass@k,pass^k", "pass@k, pass^k or both. Default: pass@k.",
        parse=parse_curves)] = CURVES[:1]
    fit: Annotated[str | None, Option(
        "--fit", "NAME",
        "Law to fit: ex-gaussian (default), smooth, beta, beta+0, beta+0+1, power, log-logit;"
        " weighed (default for pass^k): all but the first.",
        choices="passk_cli.inference.futures:FITS",
        detail="ex-gaussian has priors from published data sets, and its interval allows for a"
        " lighter tail of hard tasks; where the counts contradict it, the estimate is that of"
        " weighed, and the interval holds both fits. weighed: smooth has two thirds of the weight"
        " or more; misfit and backtest weigh the others.")] = None
    resamples: Annotated[int, Option(
        "--resamples", "N", "Refits of the law to resampled tasks.", low=100, high=MOST_REFITS,
        detail="For ex-gaussian: draws from its posterior.")] = 400
    # fmt: on


COMMAND = Command(
    ExtrapolateOptions, (Request, Completeness, Confidence), without=("interval", "bounds"),
    charts=True, methods=True,
    lacking={"-k": "its k are those of --to", "k": "its k are those of to="},
    view="passk_cli.commands.extrapolate.view:Extrapolate")  # fmt: skip
