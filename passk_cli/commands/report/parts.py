"""The parts of a page: which command answers each, what it is asked, and how to read the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from passk_cli.commands.compare.view import RankedModels
from passk_cli.commands.question import Question
from passk_cli.commands.report.page import Page
from passk_cli.commands.tasks.view import TasksInBrief
from passk_cli.errors import PasskError
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Panel, Report
from passk_cli.report.plot import Plot
from passk_cli.report.words import plural

# More models than MANY make a page slow to compute and long to read: the first few are looked at.
MANY, FEW = 16, 5
NO_SOLUTIONS = "the data holds no solutions"


@dataclass(frozen=True)
class Part:
    """A panel before it is filled.

    name, title, how : of the panel.  command : that answers it.
    given : the options of that command, from the page and the counts.
    most : models it is about where there are MANY more; None for all.
    fewest : models that it needs.  repeated : whether it needs second attempts.
    lacks : why else these counts cannot give it; "" where they can.
    refusal : said instead of what the command says where it refuses.
    drawn : whether its pictures are shown.  answered : as in `Panel`.
    question : that is asked instead of the command's.
    """

    name: str
    title: str
    how: str
    command: str
    command_options: Callable[[Page, Counts], Mapping[str, Any]] = lambda page, counts: {}
    max_models: int | None = None
    min_models: int = 1
    needs_repeats: bool = False
    reason_absent: Callable[[Page, Counts], str] = lambda page, counts: ""
    refusal: str = ""
    has_plots: bool = True
    answered: bool = False
    question: type[Question] | None = None

    def panel(self, page: Page, counts: Counts | str, section: str = "") -> Panel | None:
        """The panel; None, with the reason among what is absent, where there can be none.

        counts : or why there are none.
        """
        try:
            if isinstance(counts, str):
                reason = counts
            elif (models := len({model for model, *_ in counts.series})) < self.min_models:
                reason = f"the data has {plural(models, 'model')}"
            elif not (reason := self.reason_absent(page, counts)):
                if not self.needs_repeats or int(counts.n.max()) > 1:
                    return self._fill(page, counts)
                reason = "no task has a second attempt"
        except PasskError as error:
            reason = self.refusal or str(error)
        page.absent_parts.setdefault((self.title, reason), []).append(section)
        return None

    def _fill(self, page: Page, counts: Counts) -> Panel:
        """The panel, about the first models alone where there are many, which its answer says."""
        present, models = {model for model, *_ in counts.series}, page.models
        limited = self.max_models is not None and len(page.models) > MANY
        if limited:
            models = page.models[: self.max_models]
            if page.baseline_name is not None and page.baseline_name not in models:
                models.append(page.baseline_name)
        if not present <= set(models):
            series = [key if key[0] in models else None for key in counts.series]
            counts = counts.regrouped(series, counts.group_names)
        question: str | type[Question] = self.question or self.command
        if self is DIFFERENCES and len(page.models) > MANY and page.baseline_name is None:
            question = RankedModels
        report = page.ask(question, counts, **self.command_options(page, counts))
        if not self.has_plots:
            report = replace(report, draw=tuple)
        elif self is DIFFERENCES:
            report = replace(report, draw=partial(at_first_metric, report))
        if limited and report.answer:
            first, *sentences = report.answer
            numbers = {"first_models": len(models), "all_models": len(page.models)}
            first = first.after("The first {first_models} of {all_models:model}: ", **numbers)
            report = replace(report, answer=(first, *sentences))
        return Panel(self.name, self.title, self.how, report, self.answered)


def at_first_metric(report: Report) -> tuple[Plot, ...]:
    """Plots of differences, whose pairs fill a sheet, at the first metric alone."""

    def first_rows(plot: Plot) -> Plot:
        first = plot.rows[0].get("panel")
        return replace(plot, rows=tuple(row for row in plot.rows if row.get("panel") == first))

    return tuple(map(first_rows, report.plots))


def first_metric(page: Page, counts: Counts) -> dict[str, Any]:
    """The first metric alone where there are many models."""
    return {"metrics": page.metrics[:1]} if len(page.models) > MANY else {}


def shown_metrics(page: Page, counts: Counts) -> dict[str, Any]:
    """The metrics of the leaderboard; the first alone where there are many models."""
    if len(page.models) > MANY or page.metrics_requested:
        return first_metric(page, counts)
    most = max(metric.k for metric in page.metrics)
    return {"metrics": tuple(metric for metric in page.metrics if metric.k in (1, most))}


def order_unknown(page: Page, counts: Counts) -> str:
    """Why the order of attempts cannot be tested."""
    inputs = counts.facts.inputs
    # The entries of a list have an order, which need not be that of the attempts.
    if "attempt" not in counts.attempts or any("attempt" not in file.roles for file in inputs):
        return "the data does not say in which order attempts were made"
    return ""


def costs_unknown(page: Page, counts: Counts) -> str:
    """Why nothing can be said of costs."""
    if "cost" in counts.attempts:
        return ""
    inputs = counts.facts.inputs
    offered = bool(inputs) and all("cost" in file.offered for file in inputs)
    return "costs were not asked for, as the metric cost" if offered else "the data holds no costs"


def flip_rival(page: Page, counts: Counts) -> str | None:
    """Whom flips are against: the baseline, the first labelled run, or the weaker of two models."""
    present = {model for model, *_ in counts.series}
    models = [model for model in page.models if model in present]
    if (base := page.baseline_name or page.earlier) in models and len(models) > 1:
        return base
    return models[1] if len(models) == 2 else None


# fmt: off
DIFFERENCES = Part(
    "differences", "Differences", "A filled point is a significant difference, a hollow one a tie.",
    "compare",
    lambda page, counts: {"baseline": page.baseline_name, **shown_metrics(page, counts)},
    min_models=2, answered=True)
CURVES = Part(
    "curves", "Curves over k",
    "pass@k: at least one of k attempts passes. pass^k: all of them pass. A wide gap means many"
    " flaky tasks.", "curve", needs_repeats=True)
COST = Part(
    "cost", "Cost", "A solved task costs what an attempt costs, divided by pass@1. No model on the"
    " frontier is both dearer and worse than another.", "cost", reason_absent=costs_unknown)
SEPARATION = Part(
    "separation", "Tasks needed", "These results are the pilot of a plan: which difference more"
    " tasks or attempts detect.", "plan", first_metric, has_plots=False)
ORDER = Part(
    "order", "Order of attempts", "If pass rates drift over attempts, pass@k misstates them.",
    "order", max_models=FEW, needs_repeats=True, has_plots=False, reason_absent=order_unknown)
DIVERSITY = Part(
    "diversity", "Diversity",
    "Few different solutions mean that more attempts bring little that is new.", "diversity",
    max_models=FEW, has_plots=False, reason_absent=lambda page, counts: (
        "" if "solution" in counts.attempts else NO_SOLUTIONS))
TASKS = Part(
    "tasks", "Tasks", "A flaky task passed some attempts and failed others.", "tasks",
    has_plots=False,
    question=TasksInBrief)
FLIPS = Part(
    "flips", "Flips", "A task flips when its two pass rates differ by more than one half.", "tasks",
    lambda page, counts: {"against": flip_rival(page, counts)}, max_models=FEW, has_plots=False,
    min_models=2,
    reason_absent=lambda page, counts: (
        "" if flip_rival(page, counts) else "they are against one model, a baseline"))
SUSPECTS = Part(
    "suspects", "Suspicious tasks",
    "A task is suspicious if models that do worse elsewhere pass it more often.", "tasks",
    lambda page, counts: {"suspects": True, "rows": 5}, has_plots=False, min_models=4)
TEMPERATURE = Part(
    "temperature", "Temperature",
    "A low temperature is often best for one attempt, a higher one for many.", "temperature",
    first_metric, refusal="the data does not name several temperatures")
QUALITY = Part("quality", "Data quality", "", "describe")
# fmt: on
# In reading order, after the leaderboard.
GROUP_PARTS = (DIFFERENCES, COST, CURVES, SEPARATION, ORDER, DIVERSITY, TASKS, FLIPS, SUSPECTS)
