"""The parts of a page, with the command, the options and the explanation of each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from passk_cli.commands.compare.view import CompareWithoutPairTableRunner
from passk_cli.commands.report.page import PageAnalysis
from passk_cli.commands.runner import CommandRunner
from passk_cli.commands.tasks.view import TasksWithoutTaskListRunner
from passk_cli.errors import PasskError
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report, ReportPagePanel
from passk_cli.report.phrases import plural
from passk_cli.report.plot import Plot

# If there are more than MANY models, some parts of the page show only the FEW best models to keep
# the page short.
MANY, FEW = 16, 5
NO_SOLUTIONS_REASON = "the data contains no solutions"


@dataclass(frozen=True)
class Part:
    """The declaration of a part of a page, which becomes a panel.

    shown_model_count_if_many : number of models to show if there are more than MANY models, or None
        for all.
    needs_repeats : whether some task must have several attempts.
    find_absence_reason : function that returns why the counts are not enough for the part, or "".
    error_replacement_text : text that the page shows instead of an error of the command.
    """

    name: str
    title: str
    instructions: str
    command: str
    command_options: Callable[[PageAnalysis, Counts], Mapping[str, Any]] = lambda page, counts: {}
    shown_model_count_if_many: int | None = None
    min_models: int = 1
    needs_repeats: bool = False
    find_absence_reason: Callable[[PageAnalysis, Counts], str] = lambda page, counts: ""
    error_replacement_text: str = ""
    has_plots: bool = True
    is_in_page_answer: bool = False
    runner_class: type[CommandRunner] | None = None

    def panel(
        self, page: PageAnalysis, counts: Counts | str, section: str = ""
    ) -> ReportPagePanel | None:
        """Compute the panel of this part, or add the reason for its absence to `absent_parts`."""
        try:
            if isinstance(counts, str):
                reason = counts
            elif (models := len({model for model, *_ in counts.series})) < self.min_models:
                reason = f"the data has {plural(models, 'model')}"
            elif not (reason := self.find_absence_reason(page, counts)):
                if not self.needs_repeats or int(counts.n.max()) > 1:
                    return self._compute(page, counts)
                reason = "no task has a second attempt"
        except PasskError as error:
            reason = self.error_replacement_text or str(error)
        page.absent_parts.setdefault((self.title, reason), []).append(section)
        return None

    def _compute(self, page: PageAnalysis, counts: Counts) -> ReportPagePanel:
        present, models = {model for model, *_ in counts.series}, page.models
        limited = self.shown_model_count_if_many is not None and len(page.models) > MANY
        if limited:
            models = page.models[: self.shown_model_count_if_many]
            if page.baseline_name is not None and page.baseline_name not in models:
                models.append(page.baseline_name)
        if not present <= set(models):
            series = [key if key[0] in models else None for key in counts.series]
            counts = counts.with_renamed_series(series, counts.group_names)
        question: str | type[CommandRunner] = self.runner_class or self.command
        if self is DIFFERENCES_PART and len(page.models) > MANY and page.baseline_name is None:
            question = CompareWithoutPairTableRunner
        report = page.command_report(question, counts, **self.command_options(page, counts))
        if not self.has_plots:
            report = replace(report, make_plots=tuple)
        elif self is DIFFERENCES_PART:
            report = replace(report, make_plots=partial(first_metric_plots, report))
        if limited and report.answer:
            first, *sentences = report.answer
            numbers = {"first_models": len(models), "all_models": len(page.models)}
            first = first.with_prefix("The first {first_models} of {all_models:model}: ", **numbers)
            report = replace(report, answer=(first, *sentences))
        return ReportPagePanel(
            self.name, self.title, self.instructions, report, self.is_in_page_answer
        )


def first_metric_plots(report: Report) -> tuple[Plot, ...]:
    """The charts of differences for the first metric only, to keep the page short."""

    def first_rows(plot: Plot) -> Plot:
        first = plot.rows[0].get("panel")
        return replace(plot, rows=tuple(row for row in plot.rows if row.get("panel") == first))

    return tuple(map(first_rows, report.plots))


def first_metric_if_many_models(page: PageAnalysis, counts: Counts) -> dict[str, Any]:
    return {"metrics": page.metrics[:1]} if len(page.models) > MANY else {}


def plannable_metrics_option(page: PageAnalysis, counts: Counts) -> dict[str, Any]:
    """The option `metrics` without the costs of the page, which passk cannot plan."""
    metrics = [m for m in page.metrics if not m.definition.required_attempt_data]
    chosen = first_metric_if_many_models(page, counts)
    if chosen or not metrics or len(metrics) == len(page.metrics):
        return chosen
    return {"metrics": tuple(metrics)}


def leaderboard_metrics_option(page: PageAnalysis, counts: Counts) -> dict[str, Any]:
    """The option `metrics` with the metrics that the leaderboard shows."""
    if len(page.models) > MANY or page.are_metrics_chosen_by_user:
        return first_metric_if_many_models(page, counts)
    most = max(metric.k for metric in page.metrics)
    return {"metrics": tuple(metric for metric in page.metrics if metric.k in (1, most))}


def reason_order_unknown(page: PageAnalysis, counts: Counts) -> str:
    """The reason why the order of attempts cannot be tested, or "" if it can be tested."""
    inputs = counts.read_facts.file_readings
    # If the attempts in a list have no numbers, the list may not be in the order in which the
    # attempts were made.
    if "attempt" not in counts.attempts or any("attempt" not in file.roles for file in inputs):
        return "the data does not contain the order of attempts"
    return ""


def reason_costs_unknown(page: PageAnalysis, counts: Counts) -> str:
    """The reason why the page has no part about costs, or "" if the page has this part."""
    if "cost" in counts.attempts:
        return ""
    inputs = counts.read_facts.file_readings
    offered = bool(inputs) and all("cost" in file.command_data_column_by_role for file in inputs)
    return "the metrics don't include cost" if offered else "the data contains no costs"


def flip_baseline_name(page: PageAnalysis, counts: Counts) -> str | None:
    """The model that the part about flips compares with all other models, or None.

    This model is the baseline, the first of two labelled runs, or the weaker of two models.
    """
    present = {model for model, *_ in counts.series}
    models = [model for model in page.models if model in present]
    if (base := page.baseline_name or page.earlier_run_name) in models and len(models) > 1:
        return base
    return models[1] if len(models) == 2 else None


# fmt: off
DIFFERENCES_PART = Part(
    "differences", "Differences",
    "A filled point is a significant difference. A hollow point is a tie.",
    "compare",
    lambda page, counts: {"baseline": page.baseline_name, **leaderboard_metrics_option(page,
        counts)},
    min_models=2, is_in_page_answer=True)
CURVES_PART = Part(
    "curves", "Curves over k",
    "pass@k is the probability that at least one of k attempts passes. pass^k is the probability"
    " that all k attempts pass. A wide gap means many flaky tasks.", "curve", needs_repeats=True)
COST = Part(
    "cost", "Cost", "The cost of a solved task is the cost of an attempt divided by pass@1. A model"
    " is on the frontier if no cheaper model is better.", "cost",
    find_absence_reason=reason_costs_unknown)
TASKS_NEEDED_PART = Part(
    "separation", "Tasks needed", "The table treats these results as a pilot. It shows which"
    " differences you could detect with more tasks"
    " or attempts.", "plan", plannable_metrics_option, has_plots=False)
ATTEMPT_ORDER_PART = Part(
    "order", "Order of attempts", "If the pass rate changes from attempt to attempt, pass@k is"
                                  " misleading.",
    "order", shown_model_count_if_many=FEW, needs_repeats=True, has_plots=False,
    find_absence_reason=reason_order_unknown)
DIVERSITY_PART = Part(
    "diversity", "Diversity",
    "If attempts contain few different solutions, more attempts add little.", "diversity",
    shown_model_count_if_many=FEW, has_plots=False, find_absence_reason=lambda page, counts: (
        "" if "solution" in counts.attempts else NO_SOLUTIONS_REASON))
TASKS = Part(
    "tasks", "Tasks", "A task is flaky if some attempts pass and some fail.", "tasks",
    has_plots=False,
    runner_class=TasksWithoutTaskListRunner)
FLIPS_PART = Part(
    "flips", "Flips", "A task flips when its two pass rates differ by more than one half.", "tasks",
    lambda page, counts: {"against": flip_baseline_name(page, counts)},
    shown_model_count_if_many=FEW,
    has_plots=False,
    min_models=2,
    find_absence_reason=lambda page, counts: (
        "" if flip_baseline_name(page, counts) else "flips need a baseline"))
SUSPECT_TASKS_PART = Part(
    "suspects", "Suspicious tasks",
    "A task is suspicious if models with a lower pass rate at all other tasks pass it more often.",
    "tasks",
    lambda page, counts: {"suspects": True, "rows": 5}, has_plots=False, min_models=4)
TEMPERATURE = Part(
    "temperature", "Temperature",
    "A low temperature is often best for one attempt, and a higher temperature for many attempts.",
    "temperature",
    first_metric_if_many_models,
    error_replacement_text="the data does not contain several temperatures")
DATA_QUALITY_PART = Part("quality", "Data quality", "", "describe")
# fmt: on
# PARTS_OF_EACH_SECTION lists the parts that follow the leaderboard in each section, in reading
# order.
PARTS_OF_EACH_SECTION = (
    DIFFERENCES_PART,
    COST,
    CURVES_PART,
    TASKS_NEEDED_PART,
    ATTEMPT_ORDER_PART,
    DIVERSITY_PART,
    TASKS,
    FLIPS_PART,
    SUSPECT_TASKS_PART,
)
