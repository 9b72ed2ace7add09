"""The parts of a page: which command answers each, what it is asked, and how to read the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from passk_cli.commands.curve.view import uneven_alone
from passk_cli.commands.report.gathered import Gathered
from passk_cli.report.words import plural

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report

# More models than MANY make a page slow to compute and long to read: the first few are looked at.
MANY, FEW, FEWEST = 16, 5, 2


@dataclass(frozen=True)
class Part:
    """A panel before it is filled.

    name, title, how : of the panel.  command : that answers it.
    given : the options of that command, from what was gathered and the counts.
    most : models it is about where there are MANY more; None for all.
    kept : what of the answer is shown; not what another panel has.
    lacks : why these counts cannot give it; "" where they can.
    answered : as in `Panel`.
    """

    name: str
    title: str
    how: str
    command: str
    given: Callable[[Gathered, Counts], Mapping[str, Any]] = lambda study, counts: {}
    most: int | None = None
    kept: Callable[[Report], Report] = lambda report: report
    lacks: Callable[[Gathered, Counts], str] = lambda study, counts: ""
    answered: bool = False


def first_metric(study: Gathered, counts: Counts) -> dict[str, Any]:
    """The first metric alone where there are many models."""
    many = len(study.models) > MANY
    return {"metrics": study.metrics[:1]} if many else {}


def without_order(study: Gathered, counts: Counts) -> str:
    """Why the order of attempts cannot be tested."""
    inputs = counts.facts.inputs
    # The entries of a list have an order, which need not be that of the attempts.
    if "attempt" not in counts.attempts or any("attempt" not in file.roles for file in inputs):
        return "the data does not say in which order attempts were made"
    if int(counts.n.max()) < 2:
        return "no task has a second attempt"
    return ""


def one_attempt(study: Gathered, counts: Counts) -> str:
    """Why there is nothing over k."""
    return "" if int(counts.n.max()) > 1 else "no task has a second attempt"


def few_models(least: int) -> Callable[[Gathered, Counts], str]:
    """Why models cannot be compared."""

    def lacks(study: Gathered, counts: Counts) -> str:
        number = len({model for model, *_ in counts.series})
        return "" if number >= least else f"the data has {plural(number, 'model')}"

    return lacks


def rival(study: Gathered, counts: Counts) -> str | None:
    """Whom flips are against: the baseline, or the weaker one of two models."""
    there = {model for model, *_ in counts.series}
    models = [model for model in study.models if model in there]
    if study.baseline_name in models and len(models) > 1:
        return study.baseline_name
    return models[1] if len(models) == 2 else None


DIFFERENCES = Part(
    "differences",
    "Differences",
    "Each line is the difference of two models on the tasks they share, with its interval. A"
    " filled point is a significant difference after adjustment; a hollow one is a tie.",
    "compare",
    lambda study, counts: {"baseline": study.baseline_name, **first_metric(study, counts)},
    lacks=few_models(2),
    answered=True,
)
CURVES = Part(
    "curves",
    "Curves over k",
    "pass@k rises with k: at least one of k attempts passes. pass^k falls with k: all of them"
    " pass; a wide gap between the two means many tasks that pass only sometimes.",
    "curve",
    most=FEW,
    lacks=one_attempt,
)
RELIABILITY = Part(
    "reliability",
    "Reliability",
    "Δ_k is what uneven tasks add to pass^k, compared with tasks that all have the same success"
    " rate. Near its maximum, tasks are solved always or never; near 0, all are solved equally"
    " often.",
    "curve",
    lambda study, counts: {"delta": True, "points": "4"},
    most=FEWEST,
    kept=uneven_alone,
    lacks=one_attempt,
)
SEPARATION = Part(
    "separation",
    "Tasks needed",
    "The plan takes these results as a pilot of the first two models. It says"
    " which difference more tasks or attempts would detect, and how many tasks detect a small one.",
    "plan",
    first_metric,
    lacks=few_models(2),
)
ORDER = Part(
    "order",
    "Order of attempts",
    "A trend means that later attempts pass more, or less, often than earlier ones. Where the"
    " order matters, pass@k does not describe how the attempts were made.",
    "order",
    most=FEW,
    lacks=without_order,
)
DIVERSITY = Part(
    "diversity",
    "Diversity",
    "distinct@k counts the different solutions among k attempts. Few different solutions mean that"
    " more attempts bring little that is new.",
    "diversity",
    most=FEW,
    lacks=lambda study, counts: (
        "" if "solution" in counts.attempts else "the data holds no solutions"
    ),
)
TASKS = Part(
    "tasks",
    "Tasks",
    "A flaky task passed some attempts and failed others. Three passes of three still allow a task"
    " that fails every other time: an interval holds the rates that attempts do not rule out.",
    "tasks",
)
FLIPS = Part(
    "flips",
    "Flips",
    "A task flips when its two pass rates differ by more than one half."
    " Compare the number of flips with the number expected with no change before reading the list.",
    "tasks",
    lambda study, counts: {"against": rival(study, counts)},
    most=FEW,
    kept=lambda report: replace(report, draw=tuple),  # another panel has them
    lacks=lambda study, counts: (
        few_models(2)(study, counts)
        or ("" if rival(study, counts) else "they are against one model; name it with --baseline")
    ),
)
SUSPECTS = Part(
    "suspects",
    "Suspicious tasks",
    "A suspicious task is passed more often by models that do worse on the other tasks. Look at"
    " the task's checker first.",
    "tasks",
    lambda study, counts: {"suspects": True},
    kept=lambda report: replace(report, draw=tuple),  # another panel has them
    lacks=few_models(4),
)
TEMPERATURE = Part(
    "temperature",
    "Temperature",
    "A low temperature is often best for one attempt, a higher one for many. For each k the best"
    " temperature is tested against the others.",
    "temperature",
    first_metric,
)
QUALITY = Part(
    "quality",
    "Data quality",
    "How the files were read, before anything was computed. Missing outcomes, duplicate attempts"
    " and assumptions stand here and in the notes.",
    "describe",
)
# In reading order, after the leaderboard.
OF_A_GROUP = (
    DIFFERENCES, CURVES, RELIABILITY, SEPARATION, ORDER, DIVERSITY, TASKS, FLIPS, SUSPECTS,
)  # fmt: skip
