"""passk curve: coverage (pass@k) and reliability (pass^k) over k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.limits import MOST_ATTEMPTS, parse_whole_number
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions, parse_k_values
from passk_cli.suggested_fix import OptionWithValue

BAND_CHOICES = (POINTWISE, SIMULTANEOUS) = ("pointwise", "simultaneous")
_MOST_POINTS = 100_000


def parse_points(value: Any) -> str:
    """Parse the number of points, or "all"; raise ParameterError for other values."""
    text = str(value)
    if text == "all":
        return text
    return str(parse_whole_number(OptionWithValue("--points", text), text, 2, _MOST_POINTS))


@dataclass(frozen=True)
class CurveOptions:
    """Show pass@k and pass^k over k.

    pass@k (coverage) rises with k and pass^k (reliability) falls. The gap between them shows
    whether many tasks are solved sometimes or few tasks always. --delta measures this difference.

    # print pass@k and pass^k for each k
    passk curve sample_data/tau_airline.csv

    # measure how much of pass^k is due to differences in difficulty
    passk curve sample_data/tau_airline.csv --delta

    # draw the curves of task families with exact success rates
    passk curve sample_data/toy_families.csv --max-k 20 --chart curves.svg
    """

    # The type is Any, because importing the types of families and metrics would slow down `--help`.
    # fmt: off
    rates: Annotated[tuple[Any, ...], Option(
        "--rates", "NAME=P,P,…", "Exact success rates of tasks, such as mixed=0,1.",
        parse="passk_cli.commands.curve.view:parse_exact_rates",
        detail="Use --rates instead of files. passk can also read success rates from a file that"
        " has a column named rate. Repeatable.",
    )] = ()
    points: Annotated[str, Option(
        "--points", "N|all", "Show all values of k, or about N if there are more than N.",
        parse=parse_points,
        detail="If there are more than N values of k, passk spreads about N of them over a"
        " logarithmic scale.")] = "40"
    max_k: Annotated[int | None, Option(
        "--max-k", "K", "Largest k of the curves.", low=1, high=MOST_ATTEMPTS,
        detail="By default, the curve of a model ends at the smallest number of attempts at any"
        " task of the model. With --short-tasks drop, the curve ends at the largest number of"
        " attempts. For exact rates, the largest k is 10 by default.")] = None
    band: Annotated[str, Option(
        "--band", help="Whether intervals hold at each k or at all k together",
        choices=BAND_CHOICES,
        detail="Simultaneous intervals are valid for both curves of a model at all k"
        " together.")] = POINTWISE
    delta: Annotated[bool, Option(
        "--delta", help="Show Δ_k, the coverage deficit and the moments.",
        detail="Δ_k, the deficit and the moments measure how differences in difficulty between"
        " tasks affect the curves.")] = False
    metrics: Annotated[tuple[Any, ...], Option(
        "-m --metric", "NAMES", "Curves to show, such as pass@k or maj@k,gpass@k:0.5.",
        parse="passk_cli.commands.curve.view:parse_curve_metrics",
        detail="passk also shows pass@k and pass^k, unless you name one of them. Use cover to"
        " show, for each success rate, the share of tasks with at least this true success"
        " rate.")] = ()
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,2,5,10", "Compute the curves only at these values of k.", parse=parse_k_values,
        detail="Use -k instead of --points.")] = ()
    # fmt: on


COMMAND = Command(
    CurveOptions, (Request, MetricOptions, Confidence), file_requirement="optional",
    has_charts=True, has_methods_text=True,
    runner_path="passk_cli.commands.curve.view:CurveRunner")  # fmt: skip
