"""passk bootstrap: the bootstrap distribution of every estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.errors import raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.limits import MOST_RESAMPLES
from passk_cli.option import Option, split_at_commas
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix


def parse_draws_file(name: str) -> str:
    """Parse the path of the file for resamples.

    Errors: ParameterError if the path is a number.
    """
    from passk_cli.files.export import check_output_file_name

    if str(name).isdecimal():
        resamples = min(max(int(name), 100), MOST_RESAMPLES)
        why = "sets the number of resamples" + f", at least {resamples}" * (int(name) < resamples)
        settle = SuggestedFix({"--draws": None, "--resamples": resamples}, why)
        raise_parameter_error_if_any(
            "bad-output", (True, OptionWithValue("--draws", name), "it names a file", (settle,))
        )
    return check_output_file_name(name)


@dataclass(frozen=True)
class BootstrapOptions:
    """Show the intervals of every method, bias and errors.

    The command resamples the tasks. For each metric, it shows how much the limits depend on the
    interval method. The full tables also show bias, standard errors, the shares of the variance
    from tasks and from attempts, and how often each model comes first.

    # compare the intervals of three methods
    passk bootstrap sample_data/tau_airline.csv -k 1,2 --interval guard,percentile,bca

    # use more resamples than 10,000
    passk bootstrap sample_data/tau_airline.csv -k 1 --resamples 20000

    # write the resampled values of a Bayesian bootstrap to a file
    passk bootstrap sample_data/tau_airline.csv --weights dirichlet --draws draws.csv
    """

    # fmt: off
    interval: Annotated[tuple[str, ...], Option(
        "--interval", "METHODS|all", "Interval methods to compare, such as guard,bca,t.",
        parse=split_at_commas,
        detail="The available methods are guard, percentile, bca and t. The word all selects every"
        " method.",
    )] = ()
    weights: Annotated[str, Option(
        "--weights", help="Kind of bootstrap: ordinary or Bayesian",
        choices=("multinomial", "dirichlet"),
    )] = "multinomial"
    draws: Annotated[str | None, Option(
        "--draws", "FILE", "Write the resamples: .csv, .jsonl or .parquet.", file_use="written",
        parse="passk_cli.commands.bootstrap:parse_draws_file")] = None
    # fmt: on


COMMAND = Command(
    BootstrapOptions, (Request, MetricOptions, Confidence), has_charts=True,
    runner_path="passk_cli.commands.bootstrap.view:BootstrapRunner")  # fmt: skip
