"""passk compare: which models differ significantly, and which tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import ANY_DATA_OPTION_TYPE, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions


@dataclass(frozen=True)
class CompareOptions:
    """Test which models differ, and which tie.

    Models are compared task by task, on the tasks that they share. Each difference has an interval
    and a p-value that is adjusted for the number of tests. With a baseline, every model is compared
    only with the baseline.

    # test all pairs of models at pass@1
    passk compare sample_data/agents.jsonl -k 1

    # test every model against one baseline, at each temperature
    passk compare sample_data/cruxeval.jsonl.gz --baseline gpt-4-0613 --by temperature

    # count the tasks that flip between two models
    passk compare sample_data/agents.jsonl -k 1 --model 'gpt-5.*' --flips
    """

    # fmt: off
    baseline: Annotated[ANY_DATA_OPTION_TYPE, Option(
        "--baseline", "FILE|NAME", "Compare every model only with this model.", file_use="read",
        is_model_name=True,
        detail="NAME is a model in the data. FILE contains the results of one model. If you give"
        " several files, passk combines them into one baseline.")] = None
    crossings: Annotated[bool, Option(
        "--crossings", help="Show the k at which one model overtakes another model.")] = False
    flips: Annotated[bool, Option(
        "--flips", help="Test whether more tasks flip than expected by chance.")] = False
    change: Annotated[str | None, Option(
        "--change", "FROM:TO", "Compare models by their change from FROM to TO, such as"
        " pass@1:pass@100.",
        parse="passk_cli.commands.compare.view:checked_change_text",
        detail="passk tests whether the change from metric FROM to metric TO differs between"
        " models. The p-values of changes are adjusted separately from other p-values. Without -k"
        " and -m, passk also compares the models at the metrics FROM and TO.",
    )] = None
    sensitivity: Annotated[str | None, Option(
        "--sensitivity", "COLUMN", "Repeat the tests, leaving out one group of tasks at a time.",
        detail="COLUMN splits the tasks into groups. passk shows whether a verdict changes if one"
        " group is left out, or if only half of the attempts are used.",
    )] = None
    # fmt: on


COMMAND = Command(
    CompareOptions, (Request, MetricOptions, ComparisonOptions, Confidence), has_charts=True,
    has_methods_text=True,
    absent_option_reasons=dict.fromkeys(("--band", "band"),
        "passk curve draws confidence bands for each model"),
    runner_path="passk_cli.commands.compare.view:CompareRunner")  # fmt: skip
