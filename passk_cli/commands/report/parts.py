"""The parts of a page: the command of each part, its options, and how to read its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from passk_cli.commands.compare.view import CompareWithoutPairsQuestion
from passk_cli.commands.question import Question
from passk_cli.commands.report.page import Page
from passk_cli.commands.tasks.view import BriefTasksQuestion
from passk_cli.errors import PasskError
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Panel, Report
from passk_cli.report.plot import Plot
from passk_cli.report.words import plural

# With more than MANY models, a page would be slow and long. Some parts then show only the first
# FEW.
MANY, FEW = 16, 5
NO_SOLUTIONS = "the data contains no solutions"


@dataclass(frozen=True)
class Part:
    """The declaration of a panel: the command that fills it, and the data that it needs.

    name, title, how : as in `Panel`.  command : the command that fills it.
    command_options : gives the options of that command for a page and its counts.
    max_models : the number of models shown if there are more than MANY; None for all.
    min_models : the number of models that it needs.
    needs_repeats : whether some task needs a second attempt.
    reason_absent : gives any further reason why the counts cannot fill it, or "".
    refusal : replaces the error of the command, if it stops with one.
    has_plots : whether its charts are shown.  answered : as in `Panel`.
    question : replaces the question of the command.
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
        """The panel; None if it cannot be filled, with the reason added to `page.absent_parts`.

        counts : the counts, or the reason why there are none.
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
        """The panel. With many models it is about the first ones only, and its answer says so."""
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
            question = CompareWithoutPairsQuestion
        report = page.ask(question, counts, **self.command_options(page, counts))
        if not self.has_plots:
            report = replace(report, draw=tuple)
        elif self is DIFFERENCES:
            report = replace(report, draw=partial(first_metric_plots, report))
        if limited and report.answer:
            first, *sentences = report.answer
            numbers = {"first_models": len(models), "all_models": len(page.models)}
            first = first.with_prefix("The first {first_models} of {all_models:model}: ", **numbers)
            report = replace(report, answer=(first, *sentences))
        return Panel(self.name, self.title, self.how, report, self.answered)


def first_metric_plots(report: Report) -> tuple[Plot, ...]:
    """The charts of differences at the first metric only, because all pairs fill a sheet."""

    def first_rows(plot: Plot) -> Plot:
        first = plot.rows[0].get("panel")
        return replace(plot, rows=tuple(row for row in plot.rows if row.get("panel") == first))

    return tuple(map(first_rows, report.plots))


def first_metric(page: Page, counts: Counts) -> dict[str, Any]:
    """The option `metrics`: only the first metric if there are many models."""
    return {"metrics": page.metrics[:1]} if len(page.models) > MANY else {}


def shown_metrics(page: Page, counts: Counts) -> dict[str, Any]:
    """The option `metrics`: the metrics of the leaderboard, or only the first with many models."""
    if len(page.models) > MANY or page.metrics_requested:
        return first_metric(page, counts)
    most = max(metric.k for metric in page.metrics)
    return {"metrics": tuple(metric for metric in page.metrics if metric.k in (1, most))}


def reason_order_unknown(page: Page, counts: Counts) -> str:
    """The reason why the order of attempts cannot be tested, or ""."""
    inputs = counts.facts.inputs
    # The entries of a list have an order, but it may not be the order of the attempts.
    if "attempt" not in counts.attempts or any("attempt" not in file.roles for file in inputs):
        return "the data does not contain the order of attempts"
    return ""


def reason_costs_unknown(page: Page, counts: Counts) -> str:
    """The reason why the page has no costs, or ""."""
    if "cost" in counts.attempts:
        return ""
    inputs = counts.facts.inputs
    offered = bool(inputs) and all("cost" in file.offered for file in inputs)
    return "the metrics don't include cost" if offered else "the data contains no costs"


def flip_baseline(page: Page, counts: Counts) -> str | None:
    """The model that flips compare with: the baseline, the first labelled run, or the weaker of two
    models.

    None if there is no such model.
    """
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
    "cost", "Cost", "The cost of a solved task is the cost of an attempt divided by pass@1. No"
    " model on the frontier is both more expensive and worse than another.", "cost",
    reason_absent=reason_costs_unknown)
SEPARATION = Part(
    "separation", "Tasks needed", "With these results as a pilot, the table shows the differences"
    " that more tasks or attempts would detect.", "plan", first_metric, has_plots=False)
ORDER = Part(
    "order", "Order of attempts", "If pass rates drift over attempts, pass@k misstates them.",
    "order", max_models=FEW, needs_repeats=True, has_plots=False,
    reason_absent=reason_order_unknown)
DIVERSITY = Part(
    "diversity", "Diversity",
    "If attempts give few different solutions, more attempts add little.", "diversity",
    max_models=FEW, has_plots=False, reason_absent=lambda page, counts: (
        "" if "solution" in counts.attempts else NO_SOLUTIONS))
TASKS = Part(
    "tasks", "Tasks", "A flaky task passed some attempts and failed others.", "tasks",
    has_plots=False,
    question=BriefTasksQuestion)
FLIPS = Part(
    "flips", "Flips", "A task flips when its two pass rates differ by more than one half.", "tasks",
    lambda page, counts: {"against": flip_baseline(page, counts)}, max_models=FEW, has_plots=False,
    min_models=2,
    reason_absent=lambda page, counts: (
        "" if flip_baseline(page, counts) else "they need a baseline"))
SUSPECTS = Part(
    "suspects", "Suspicious tasks",
    "A task is suspicious if models that do worse elsewhere pass it more often.", "tasks",
    lambda page, counts: {"suspects": True, "rows": 5}, has_plots=False, min_models=4)
TEMPERATURE = Part(
    "temperature", "Temperature",
    "A low temperature is often best for one attempt, a higher one for many.", "temperature",
    first_metric, refusal="the data does not contain several temperatures")
QUALITY = Part("quality", "Data quality", "", "describe")
# fmt: on
# The parts of a section in reading order. The leaderboard comes before them.
GROUP_PARTS = (DIFFERENCES, COST, CURVES, SEPARATION, ORDER, DIVERSITY, TASKS, FLIPS, SUSPECTS)
