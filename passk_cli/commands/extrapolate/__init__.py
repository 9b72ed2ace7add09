"""The command `passk extrapolate`, which predicts pass@k and pass^k beyond the attempts made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import parse_whole_number
from passk_cli.option import Option, split_at_commas
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import AttemptCountOptions
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

CURVE_NAMES = ("pass@k", "pass^k")


def parse_prediction_ks(value: Any) -> tuple[int, ...]:
    """Parse numbers of attempts such as "100,1000", or raise a ParameterError."""
    text = ",".join(map(str, value))
    return tuple(
        sorted(
            {parse_whole_number(OptionWithValue("--to", text), part) for part in text.split(",")}
        )
    )


def parse_curves(value: Any) -> tuple[str, ...]:
    """Parse the names pass@k and pass^k. If no name is given, the result is pass@k.

    >>> parse_curves(["pass^k, pass@k"]), parse_curves([","])
    (('pass^k', 'pass@k'), ('pass@k',))
    """
    names = tuple(name.lower() for name in split_at_commas(value))
    for name in names:
        if name not in CURVE_NAMES:
            raise ParameterError(
                OptionWithValue("-m", name),
                "only pass@k and pass^k can be extrapolated",
                name="unknown-metric",
            )
    return names or CURVE_NAMES[:1]


# Earlier versions accepted the fits in _REMOVED_FITS. A range that needs no assumption has replaced
# these fits.
_REMOVED_FITS = ("ex-gaussian", "smooth", "beta", "beta+0", "beta+0+1", "power", "weighed")


def parse_fit_name(value: Any) -> str:
    """Parse the name of a fit, or raise a ParameterError if the name is not log-logit."""
    name = str(value)
    if name in _REMOVED_FITS:
        raise ParameterError(
            OptionWithValue("--fit", name),
            "this fit was removed; passk now extrapolates a range without a fit",
            settles=[SuggestedFix({"--fit": None})],
        )  # fmt: skip
    if name != "log-logit":
        raise ParameterError(OptionWithValue("--fit", name), "passk has only one fit, log-logit")
    return name


@dataclass(frozen=True)
class ExtrapolateOptions:
    """Predict pass@k beyond the attempts made.

    The command prints the range of values that the counts allow at a larger k, whatever success
    rates the tasks have. If this range is at most 0.4 wide, the command also prints an estimate,
    which is an average of several statistical models.

    # predict pass@100 from 20 attempts per task
    passk extrapolate sample_data/counts.csv --to 100

    # find the k at which pass@k reaches 50 %
    passk extrapolate sample_data/counts.csv --to 100,1000 --target 0.5

    # predict pass^100 as well
    passk extrapolate sample_data/counts.csv --to 100 -m pass@k,pass^k
    """

    # fmt: off
    to: Annotated[tuple[int, ...], Option(
        "--to", "100,1000", "Predict the metric at these values of k.", parse=parse_prediction_ks,
        detail="By default, k is 10 times the number of attempts.")] = ()
    target: Annotated[float | None, Option(
        "--target", "P", "Find the k at which pass@k reaches P, such as 0.9.", low=0,
        high=1, excludes_limits=True,
    )] = None
    metrics: Annotated[tuple[str, ...], Option(
        "-m --metric", "pass@k,pass^k", "Predict pass@k, pass^k or both. Default: pass@k.",
        parse=parse_curves)] = CURVE_NAMES[:1]
    fit: Annotated[str | None, Option(
        "--fit", "log-logit", "Add a straight-line fit of logit pass@k against log k.",
        parse=parse_fit_name,
        detail="The log-logit fit is a heuristic without an interval. On real data with many"
        " attempts, the line was often far too high.")] = None
    # fmt: on


COMMAND = Command(
    ExtrapolateOptions, (Request, AttemptCountOptions, Confidence),
    excluded_options=("interval", "bounds", "resamples", "seed"), has_charts=True,
    has_methods_text=True,
    absent_option_reasons={
        "-k": "set the k's with --to", "k": "set the k's with to=",
        **dict.fromkeys(("--resamples", "resamples", "--seed", "seed"),
                        "the range is computed without resampling"),
    },
    runner_path="passk_cli.commands.extrapolate.view:ExtrapolateRunner")  # fmt: skip
