"""The command `passk horizon`, which finds the length of the tasks that a model can solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import AttemptCountOptions
from passk_cli.suggested_fix import OptionWithValue


def parse_rates(value: Any) -> tuple[float, ...]:
    """Parse success rates between 0 and 1, such as "0.5,0.8".

    >>> parse_rates(["0.5,0.8"])
    (0.5, 0.8)
    """
    text = ",".join(map(str, value))
    try:
        rates = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        rates = ()
    if not rates or not all(0 < rate < 1 for rate in rates):
        raise ParameterError(
            OptionWithValue("--at", text),
            "the success rates must be between 0 and 1, for example 0.5,0.8",
        )
    return rates


@dataclass(frozen=True)
class HorizonOptions:
    """Find the length of task that half of the attempts solve.

    The length of a task is the time in minutes that a human expert needs for the task. Like METR,
    passk fits the success rate as a logistic curve in the logarithm of the length. passk also shows
    how much the horizon depends on the shape of the curve. With release dates, passk prints the
    time in which the longest horizon doubles.

    # find the horizons of models, with families of tasks
    passk horizon sample_data/cyber.csv.gz --cluster family

    # find the length at which 90 % of the attempts succeed
    passk horizon sample_data/cyber.csv.gz --cluster family --at 0.9

    # add the time in which the longest horizon doubles
    passk horizon sample_data/cyber.csv.gz --cluster family --field date=release_date
    """

    # fmt: off
    at: Annotated[tuple[float, ...], Option(
        "--at", "P,…", "Success rates of the horizons, such as 0.5,0.8.", parse=parse_rates,
        detail="If the column with the lengths is not named human_minutes, use --field"
        " minutes=COLUMN. Use --cluster COLUMN to name the column with the families of"
        " tasks.")] = (0.5, 0.8)
    penalty: Annotated[float, Option(
        "--penalty", "L", "Fit the success curve with the penalty L/2·slope².", low=0, high=1,
        detail="The penalty keeps the slope of the curve finite. METR's reports until January 2026"
               " used L = 0.1.",
    )] = 1e-5
    # fmt: on


COMMAND = Command(
    HorizonOptions, (Request, AttemptCountOptions, Confidence),
    excluded_options=("interval", "bounds", "population", "short_tasks"), has_charts=True,
    absent_option_reasons={"-k": "horizons are about single attempts",
        "k": "horizons are about single attempts"},
    runner_path="passk_cli.commands.horizon.view:HorizonRunner")  # fmt: skip
