"""The command `passk temperature`, which finds the best temperature for each k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import Option, split_at_commas
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions, parse_k_values
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.suggested_fix import OptionWithValue


def parse_spreads(value: Any) -> tuple[float, ...]:
    """Parse spreads such as "4,16".

    Errors: ParameterError if a value is not a number.
    """
    parts = split_at_commas([str(spread) for spread in value])
    try:
        return tuple(dict.fromkeys(map(float, parts)))
    except ValueError:
        raise ParameterError(
            OptionWithValue("--spread", ",".join(parts)), "write numbers, for example 4,16"
        ) from None


@dataclass(frozen=True)
class TemperatureOptions:
    """Find the best temperature for each k.

    A low temperature is often best for one attempt, and a higher temperature for many attempts. For
    each model and k, the command tests the best temperature against all other temperatures. It also
    compares the models with each other. The toy model needs no data.

    # find the best temperature for 1 and for 10 attempts
    passk temperature sample_data/cruxeval.jsonl.gz -k 1,10

    # draw pass@k over the temperature
    passk temperature sample_data/cruxeval.jsonl.gz -k 1,10 --chart temperature.svg

    # compute the best temperatures of a toy model
    passk temperature --toy gaussian --spread 16 -k 2,8,64
    """

    # fmt: off
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,10,100", "Compute pass@k at these values of k (for pass^k, use -m).",
        parse=parse_k_values,
        detail="By default, k is 1, 10 and 100, if every task of most models has that many"
        " attempts. For the toy model, the default is 1, 2, 4, … 16384.")] = ()
    temperature: Annotated[str | None, Option(
        "--temperature", "COLUMN", "Column that contains the temperatures.",
        detail="The default is the column temperature or temp. If file names contain the"
        " temperature, use --path, for example --path '{model}_T{temperature}.jsonl'.")] = None
    toy: Annotated[tuple[str, ...], Option(
        "--toy", "NAMES", "Families of the toy model: gaussian, exponential, power-law.",
        parse="passk_cli.commands.temperature.view:parse_toy_task_families",
        detail="For a family of toy tasks, passk computes the best temperature T*(k) without data."
        " Separate families by commas.")] = ()
    spread: Annotated[tuple[float, ...], Option(
        "--spread", "S", "Standard deviation of the toy tasks.", parse=parse_spreads,
        detail="Separate several values by commas, such as 4,16. Default: 16.")] = ()
    gamma: Annotated[float | None, Option(
        "--gamma", "G", "Exponent of the power law of toy tasks.", detail="Default: 2.")] = None
    fit: Annotated[bool, Option(
        "--fit", help="Fit T* of the toy model as a function of k and spread.",
        detail="The regression uses the same values of k and spread as the article about the toy"
        " model.")] = False
    # fmt: on


COMMAND = Command(
    TemperatureOptions, (Request, MetricOptions, ComparisonOptions, Confidence),
    excluded_options=("test", "family", "margin", "unpaired"), file_requirement="optional",
    has_charts=True,
    runner_path="passk_cli.commands.temperature.view:TemperatureRunner")  # fmt: skip
