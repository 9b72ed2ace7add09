"""passk extrapolate: pass@k and pass^k beyond the attempts there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import whole_number
from passk_cli.option import Option, split_at_commas
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import RequiredAttempts
from passk_cli.suggested_fix import OptionValue, SuggestedFix

CURVES = ("pass@k", "pass^k")


def parse_to(value: Any) -> tuple[int, ...]:
    """Parse numbers of attempts, increasing, from numbers or texts such as "100,1000".

    Errors: ParameterError for anything else.
    """
    text = ",".join(map(str, value))
    return tuple(
        sorted({whole_number(OptionValue("--to", text), part) for part in text.split(",")})
    )


def parse_curves(value: Any) -> tuple[str, ...]:
    """Parse pass@k, pass^k or both; pass@k if there is no name.

    >>> parse_curves(["pass^k, pass@k"]), parse_curves([","])
    (('pass^k', 'pass@k'), ('pass@k',))
    """
    names = tuple(name.lower() for name in split_at_commas(value))
    for name in names:
        if name not in CURVES:
            raise ParameterError(
                OptionValue("-m", name),
                "only pass@k and pass^k can be extrapolated",
                name="unknown-metric",
            )
    return names or CURVES[:1]


# Fits of earlier versions. The range replaces them, for any distribution of success rates.
_REMOVED = ("ex-gaussian", "smooth", "beta", "beta+0", "beta+0+1", "power", "weighed")


def parse_fit(value: Any) -> str:
    """Parse the name of a fit.

    Errors: ParameterError for another name.

    >>> parse_fit("log-logit")
    'log-logit'
    """
    name = str(value)
    if name in _REMOVED:
        raise ParameterError(
            OptionValue("--fit", name), "this fit was removed; the range needs no fit",
            settles=[SuggestedFix({"--fit": None})],
        )  # fmt: skip
    if name != "log-logit":
        raise ParameterError(OptionValue("--fit", name), "the only fit is log-logit")
    return name


@dataclass(frozen=True)
class ExtrapolateOptions:
    """Predict pass@k beyond the attempts made.

    Prints the range of values that the counts allow at larger k, whatever the tasks' success rates
    are. If the range is at most 0.4 wide, it prints an estimate as well: an average of models.

    # predict pass@100 from 20 attempts per task
    passk extrapolate sample_data/counts.csv --to 100

    # find the k at which pass@k reaches 50 %
    passk extrapolate sample_data/counts.csv --to 100,1000 --target 0.5

    # predict pass^100 as well
    passk extrapolate sample_data/counts.csv --to 100 -m pass@k,pass^k
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
        "--fit", "log-logit", "Add the line of logit pass@k in log k, a heuristic.",
        parse=parse_fit,
        detail="The line has no interval. On real data with many attempts it was often far too"
        " high.")] = None
    # fmt: on


COMMAND = Command(
    ExtrapolateOptions, (Request, RequiredAttempts, Confidence),
    without=("interval", "bounds", "resamples", "seed"), charts=True, methods=True,
    lacking={
        "-k": "its k are those of --to", "k": "its k are those of to=",
        "--resamples": "the range needs no random draws", "resamples": "the range needs no draws",
        "--seed": "the range needs no random draws", "seed": "the range needs no draws",
    },
    view="passk_cli.commands.extrapolate.view:ExtrapolateQuestion")  # fmt: skip
