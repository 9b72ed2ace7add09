"""The report of `passk plan`: the answer, tables of designs, assumptions, and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.commands.plan import PlanOptions
from passk_cli.commands.plan.continuation import ContinuationTable, ways_to_spend
from passk_cli.commands.plan.designs import Designs, DesignWithRemarks, metrics_split_is_best_for
from passk_cli.commands.plan.fixed_suite import FixedSuiteTable, suite_designs_of_attempt_counts
from passk_cli.commands.plan.parameters import PILOT_KEYWORD, PlanParameters
from passk_cli.commands.plan.variance import (
    PilotAnalysis,
    VarianceComponents,
    analyse_pilot,
    similar_model_components,
)
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.inference.cost_per_success import TaskCosts, mean_cost
from passk_cli.inference.design import AssumedMetricMoments, BetaRates
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.limits import MOST_PLANNED_K
from passk_cli.metrics.registry import Metric, standard_metrics
from passk_cli.option import changed_option_names
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Column, Estimate, OptionHint, Report, Table
from passk_cli.report.phrases import (
    SeriesName,
    amount_text,
    first_few,
    number_range,
    plural,
    tasks_and_attempts,
)
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result
from passk_cli.study.run_to_run_noise import series_noise_estimators
from passk_cli.study.section import ReportSection, build_report, data_field
from passk_cli.study.signature import signature
from passk_cli.study.values import SeriesKey, attempts_of, cluster_codes
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

_NEW_TASKS_OPTIONS = frozenset({
    "--mean", "--spread", "--correlation", "--tasks", "--budget", "--max-tasks", "--cluster",
    "--power", "--next", "--cost-per-attempt",
})  # fmt: skip
# The predicted power is only approximate with fewer than 50 tasks (benchmarks/plan.md).
_ROUGH_POWER_TASKS = 50
# A warning appears if planned standard errors are uncertain by more than 20 %.
_UNCERTAIN_ERROR_SHARE = 0.2
# A note appears if the numbers of tasks at the two limits of the correlation differ by a factor
# above 1.5.
_MIN_NOTED_TASK_COUNT_RATIO = 1.5
_CURVE_POINTS = 20

UNPLANNED_METRICS_WARNING = DiagnosticType(
    "unplanned-metrics", WARNING, "the plan leaves out {metrics} of {models}: {reason}",
    meaning="To plan a metric, passk estimates from the pilot how much the metric varies between"
    " tasks. passk cannot estimate the variation if the pilot has too few attempts, only one task"
    " or cluster, or the same value at every task.",
    why="The plan contains no table and no rows for a metric that passk cannot plan.",
    advice="If every task has the same value, choose harder or easier tasks for the pilot. If the"
    " pilot has too few attempts, make more attempts per task.",
    example="warning[unplanned-metrics]: the plan leaves out pass@1 of gpt-5.5: every task has the"
    " value 1, so the spread of new tasks is unknown",
)  # fmt: skip
UNCERTAIN_CORRELATION_NOTE = DiagnosticType(
    "uncertain-correlation", NOTE,
    "the correlation of {models:and} is uncertain at {metric}: to detect {points} points, you need"
    " {few} to {many:task}", "a pilot with more tasks narrows this range",
    "The number of tasks that you need depends on the correlation of the two models' true success"
    " rates across tasks. passk estimates the correlation from the pilot. The message shows how"
    " many tasks you need at each end of the 95 % interval of the correlation.",
    why="If you plan with the estimated correlation only, you may run too few tasks to detect the"
    " difference.",
    advice="Add tasks to the pilot, or plan with the larger number of tasks.",
    example="note[uncertain-correlation]: the correlation of alpha and beta is uncertain at pass@1:"
    " to detect 5 points, you need 210 to 640 tasks; a pilot with more tasks narrows this range",
)  # fmt: skip
CLUSTERED_PILOT_NOTE = DiagnosticType(
    "clustered-pilot", NOTE,
    "because tasks with the same {cluster} are related, {metric} needs {times:=amount} times as"
    " many tasks",
    meaning="Tasks of one cluster are related, for example by a common repository. The factor in"
    " the message is the variance with clusters divided by the variance without clusters, for the"
    " pilot's number of attempts.",
    why="Each task of a cluster adds less information than an independent task.",
    advice="You do not need to do anything, because the plan assumes clusters of the same sizes as"
    " in the pilot. If you add tasks, tasks from new clusters add more information than tasks from"
    " existing clusters.",
    example="note[clustered-pilot]: because tasks with the same repository are related, pass@1"
    " needs 2.3 times as many tasks",
)  # fmt: skip
ONE_ATTEMPT_PILOT_WARNING = DiagnosticType(
    "one-attempt-pilot", WARNING,
    "the pilot has one attempt per task, so designs with more attempts are empty",
    "make two attempts per task",
    "With one attempt per task, passk cannot separate chance from differences between tasks.",
    why="passk can plan only designs with one attempt per task.",
    advice="Make two attempts at every task of the pilot.",
    example="passk plan sample_data/evalplus.csv.gz\n"
    "warning[one-attempt-pilot]: the pilot has one attempt per task, so designs with more attempts"
    " are empty; make two attempts per task",
)  # fmt: skip
BETA_RATES_ASSUMED_NOTE = DiagnosticType(
    "modelled-pilot", NOTE,
    "with {n:attempt} per task in the pilot, some planned numbers of {metric} assume"
    " Beta-distributed success rates",
    meaning="If a design has more attempts per task than the pilot, passk cannot estimate its"
    " standard error from the pilot directly. To estimate which differences a design detects, passk"
    " needs a pilot with at least 2·k attempts per task. If passk cannot estimate a number from the"
    " pilot, passk computes the number from a Beta distribution with the pilot's mean and standard"
    " deviation.",
    why="The Beta distribution gives wrong numbers if the true success rates have another"
    " distribution.",
    advice="The column `source` in the output of `--full` shows which numbers use the Beta"
    " distribution. If you make more attempts in the pilot, passk uses data instead of a Beta"
    " distribution.",
    example="note[modelled-pilot]: with 4 attempts per task in the pilot, some planned numbers of"
    " pass@4 assume Beta-distributed success rates",
)  # fmt: skip
ZERO_SPREAD_ASSUMED_WARNING = DiagnosticType(
    "no-spread", WARNING,
    "{metrics}: tasks of the pilot differ only by chance, so the plan treats them as equally hard",
    meaning="The estimated variance of the true values over tasks is below 0, so the plan uses a"
    " variance of 0.",
    why="If the tasks really differ in difficulty, you need more tasks than the plan shows.",
    advice="Use a pilot with more tasks or more attempts per task.",
    example="warning[no-spread]: pass@1: tasks of the pilot differ only by chance, so the plan"
    " treats them as equally hard",
)  # fmt: skip
LARGEST_SPREAD_WARNING = DiagnosticType(
    "largest-spread", WARNING,
    "{metrics}: tasks of the pilot differ as much as possible for their mean; the plan uses the"
    " largest possible spread",
    meaning="The estimated variance of true values over tasks is above the largest possible"
    " variance, which is m (1 − m) for a mean m. At the largest possible variance, each task always"
    " passes or always fails. The plan uses the largest possible variance.",
    why="If the true values vary less between tasks, you need fewer tasks than the plan shows.",
    advice="Use a pilot with more tasks.",
    example="passk plan sample_data/counts.csv\n"
    "warning[largest-spread]: pass^10: tasks of the pilot differ as much as possible for their"
    " mean; the plan uses the largest possible spread",
)  # fmt: skip
UNCERTAIN_PLAN_WARNING = DiagnosticType(
    "uncertain-plan", WARNING,
    "with {units} in the pilot, planned standard errors of {metric} are uncertain by ±{error} %",
    meaning="A pilot with few tasks shows only roughly how much values vary between tasks. The"
    " percentage in the message is the relative standard error of the planned standard error. The"
    " message shows the percentage for only one metric, and `--full` shows the percentages for all"
    " metrics.",
    why="The number of tasks that you need is uncertain by twice the percentage in the message.",
    advice="Use a pilot with more tasks, or run more tasks than the plan shows.",
    example="passk plan sample_data/counts.csv\n"
    "warning[uncertain-plan]: with 40 tasks in the pilot, planned standard errors of pass@1 are"
    " uncertain by ±27 %",
)  # fmt: skip
ROUGH_POWER_NOTE = DiagnosticType(
    "rough-power", NOTE, "power and detected differences are only approximate {where}",
    meaning="passk predicts power with a normal approximation. In simulations, the normal"
    " approximation was inaccurate if there were fewer than 50 tasks, or if the mean was within 0.1"
    " of 0 or 1.",
    why="The smallest difference that a design detects may be somewhat larger or smaller than in"
    " the table.",
    advice="To be safe, use a few more tasks than the table shows.",
    example="passk plan sample_data/answers.csv\n"
    "note[rough-power]: power and detected differences are only approximate below 50 tasks",
)  # fmt: skip
MOST_VARIABLE_MODEL_NOTE = DiagnosticType(
    "pilot-models", NOTE, "interval widths are planned for {model}, the most variable model",
    SuggestedFix({"--model": Placeholder("NAME")}, "chooses another model"),
    "If the pilot has several models, passk plans each metric for the model with the most variable"
    " values, and for the pair of models with the most variable differences.",
    why="No other model and no other pair of models needs more tasks.",
    advice="If you want to plan for one model, use `--model NAME`.",
    example="passk plan sample_data/evalplus.csv.gz\n"
    "note[pilot-models]: interval widths are planned for Meta-Llama-3-8B, the most variable model;"
    " --model NAME chooses another model",
)  # fmt: skip
PILOT_COST_NOTE = DiagnosticType(
    "pilot-cost", NOTE, "an attempt of {model} cost {cost} in the pilot{?others|; other models:"
    " {others}}",
    meaning="The plan uses the mean cost of the pilot's attempts by the model that the message"
    " names. Every task has the same weight in the mean cost.",
    why="The mean cost is uncertain, and the cost of a run varies around the mean. If you plan to"
    " spend exactly the budget, about half of all runs cost more than the budget.",
    advice="Keep a reserve, or use `--cost-per-attempt` with the upper limit of the mean cost.",
    example="note[pilot-cost]: an attempt of alpha cost $0.274 [0.0956, 0.645] in the pilot; other"
    " models: beta $2.07",
)  # fmt: skip
ASSUMED_BUDGET_UNIT_NOTE = DiagnosticType(
    "money-budget", NOTE, "the budget of {number} is in dollars because the pilot has costs",
    (
        SuggestedFix({"--budget": "{number}usd"}, "means dollars"),
        SuggestedFix({"--budget": "{number}attempts"}, "means attempts"),
    ),
    "A budget without a unit is in dollars if the pilot contains costs, or if you use"
    " --cost-per-attempt. If the cost of an attempt is unknown, a budget without a unit is a number"
    " of attempts.",
    why="A budget of 100 dollars and a budget of 100 attempts lead to different plans.",
)  # fmt: skip
SMALL_BUDGET_WARNING = DiagnosticType(
    "small-budget", WARNING,
    "{metrics}: {attempts:attempt} {attempts:is|are} too few for 2 tasks × k attempts",
    meaning="For a metric such as pass@k, a split of the budget needs at least two tasks and at"
    " least k attempts per task.",
    why="If the budget is too small for a metric, passk shows no best split for this metric.",
    advice="Use a larger budget or a smaller k.",
    example="passk plan sample_data/tau_airline.csv --budget 3\n"
    "warning[small-budget]: pass@4, pass^4: 3 attempts are too few for 2 tasks × k attempts",
)  # fmt: skip
NEW_TASKS_FIRST_NOTE = DiagnosticType(
    "more-tasks-first", NOTE, "at k = 1, a new task narrows intervals more than another attempt",
    SuggestedFix({"--max-tasks": Placeholder("N")}, "limits the tasks"),
    "At k = 1, the best split of a budget has as many tasks as possible, with one attempt per"
    " task.",
    why="The best split may need more tasks than you have.",
    advice="If you have only N tasks, use `--max-tasks N`. With `--max-tasks`, passk spends the"
    " rest of the budget on more attempts per task.",
    example="passk plan sample_data/tau_airline.csv --budget 5000\n"
    "note[more-tasks-first]: at k = 1, a new task narrows intervals more than another attempt;"
    " --max-tasks N limits the tasks",
)  # fmt: skip


NO_TASK_CHOICE_BY_OUTCOMES_NOTE = DiagnosticType(
    "tasks-by-outcomes", NOTE,
    "draw new tasks in the same way as the existing tasks, never by their outcomes",
    meaning="The plan assumes that you choose new tasks without looking at outcomes. The plan also"
    " assumes that you repeat either all tasks or no tasks.",
    why="If you repeat only tasks with failures, or leave out tasks that always pass, the mean no"
    " longer describes the same tasks. In simulations, estimates were off by up to 5 points if"
    " tasks were chosen by their outcomes. Root mean squared errors were 1.1 to 2.7 times as large"
    " as with tasks chosen at random.",
    advice="Repeat all tasks of the pilot, or repeat no task.",
    example="passk plan sample_data/tau_airline.csv --next\n"
    "note[tasks-by-outcomes]: draw new tasks in the same way as the existing tasks, never by their"
    " outcomes",
)  # fmt: skip


_BEST_SPLIT_CLAUSE = (
    "{?spend|Best split of {spend} per model}{?price| at {price} an attempt}"
    "{?measured| at {measured:=$} an attempt}{?of_model| of {of_model}}{?measured| (measured)}"
    "{?spend|: }"
)
_BETWEEN_MODELS_AT_POWER_CLAUSE = (
    "{?pair| between {pair:and}}{?widest|, the pair that varies most}"
    "{?similar| between models similar to {similar}} (power {power})"
)
_BEYOND_MAX_TASKS_CLAUSE = "{?beyond|, which is above the maximum number of tasks}."


@dataclass(frozen=True)
class DesignTable(ReportSection[DesignWithRemarks]):
    """One row per design of a run, with results for the first metric."""

    designs: Designs

    columns = (
        Column("design", meaning="Tasks × attempts per task.",
               cell_of_record=lambda choice: choice.design_text),
        Column("attempts", "count", meaning="Total number of attempts of one model.",
               cell_of_record=lambda choice: choice.attempts_per_model),
        Column("cost", "$", meaning="Cost of these attempts.",
            cell_of_record=lambda choice: choice.cost,
               exists_in_section=lambda section:
               section.designs.parameters_with_defaults.dollars_per_attempt is not None),
        Column("standard error", "share", visibility=FULL, meaning="Standard error of the metric.",
               cell_of_record=lambda choice: choice.result.se),
        Column("detects", "points", field_name="difference",
               meaning="Smallest difference between two models that a two-sided paired test detects"
               " with the probability of --power.",
               cell_of_record=lambda choice: choice.result.extra_fields["difference"]),
        Column("interval width", "share", field_name="width",
               meaning="Width of the confidence interval (method guard) for new tasks.",
               cell_of_record=lambda choice: choice.result.extra_fields["width"]),
        Column(
            "source", visibility=FULL, field_name="source",
            meaning="Source of the standard error: assumed, pilot, or pilot and model (the Beta"
            " distribution, for more attempts than the pilot has).",
            cell_of_record=lambda choice: choice.result.extra_fields["source"]),
        Column("remark", meaning="Difference from other designs, or why a number is missing.",
               cell_of_record=lambda choice: ", ".join(choice.remarks)),
        data_field("fact", "Kind of row: design, split (best split of the budget), detect (tasks"
                   " needed to detect the difference of --detect), or next (with --next)."),
        data_field("best_for", "Metrics for which a split is best; all: all metrics together."),
        data_field("attempts_in_all", "Total number of attempts of one model; with --next, number"
                   " of attempts to add."),
        data_field("cost", "Cost of these attempts in US dollars."),
        data_field("cost_low", "Cost at the lower limit of the mean cost of an attempt."),
        data_field("cost_high", "Cost at the upper limit of the mean cost of an attempt."),
        data_field("left", "Rest of the budget that a split does not use, in dollars if the"
                   " budget is in dollars, else in attempts."),
        data_field("power", "Power of the test."),
        data_field("correlation_source",
                   "Source of the correlation: measured, assumed or unknown."),
    )  # fmt: skip

    @property
    def first_metric_components(self) -> VarianceComponents:
        return self.designs.variance_components[0]

    def results(self) -> list[Result]:
        return self.designs.planned_results

    def tables(self) -> Iterator[Table]:
        yield self.table(self.records)
        for components in self.designs.variance_components:
            name = components.metric.name
            table = self.table(
                self.designs.designs_with_remarks_of_metric(name), f"Designs for {name}"
            )
            yield replace(table, visibility=FULL)

    answers = (
        Answer("budget-too-small", lambda section: section.sentence_fields["unaffordable"],
               "{spend}{?pays| pays for {pays:attempt}}: too few for {metric}, which needs 2 tasks"
               " × {k:attempt}."),
        Answer("no-standard-error", lambda section: section.sentence_fields["reason"],
               "passk cannot compute a standard error of {metric} for any design: {reason}."),
        Answer("planned-error", lambda section: section.sentence_fields["untestable"],
               _BEST_SPLIT_CLAUSE + "{own} give {metric} a standard error of {error}."),
        Answer("detects-nothing",
               lambda section: section.sentence_fields["sized"]
               and section.sentence_fields["difference"] is None,
               _BEST_SPLIT_CLAUSE + "{own} detect no difference in"
                   " {metric}" + _BETWEEN_MODELS_AT_POWER_CLAUSE + "."),
        Answer("detects", lambda section: section.sentence_fields["sized"],
               _BEST_SPLIT_CLAUSE + "{own} detect {difference:=points} in"
                   " {metric}" + _BETWEEN_MODELS_AT_POWER_CLAUSE + "."),
    )  # fmt: skip
    further_answers = ((
        Answer("differences-not-planned",
               lambda section: section.sentence_fields["planned"]
               and section.sentence_fields["untestable"],
               "This pilot is not enough to plan a test of differences."),
        Answer("nothing-detects",
               lambda section: section.sentence_fields["planned"]
               and section.sentence_fields["tasks"] is None,
               "No design detects {wanted:=points} in {metric}: {why}."),
        Answer("needed-as-well",
               lambda section: section.sentence_fields["planned"]
               and section.sentence_fields["sized"],
               "To detect {wanted:=points}, you need {needed} per"
               " model" + _BEYOND_MAX_TASKS_CLAUSE),
        Answer("needed", lambda section: section.sentence_fields["planned"],
               "To detect {wanted:=points} in {metric}" + _BETWEEN_MODELS_AT_POWER_CLAUSE
               + ", you need"
                   " {needed} per model"
               + _BEYOND_MAX_TASKS_CLAUSE),
    ),)  # fmt: skip

    @cached_property
    def headline_design(self) -> Result | None:
        """The design in the answer: the best split of the budget, or the largest design."""
        designs, name = self.designs, self.first_metric_components.metric.name
        if designs.parameters.budget is not None:
            return next(
                (
                    f
                    for f in designs.best_split_results
                    if f.name == name and name in metrics_split_is_best_for(f)
                ),
                None,
            )
        same_attempts = [
            f
            for f in designs.size_grid_results
            if f.name == name and f.size.n_min == designs.answer_attempts_per_task
        ]
        return same_attempts[-1] if same_attempts else None

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The budget, the design of the answer, and the design for --detect.

        planned : whether a design has a standard error.
        sized : whether the user requested a number of tasks or a budget.
        untestable : whether the standard error of differences is unknown.
        """
        designs, components, headline = (
            self.designs,
            self.first_metric_components,
            self.headline_design,
        )
        aims, targets, budget = (
            designs.parameters_with_defaults,
            designs.parameters,
            designs.parameters.budget is not None,
        )
        n = (headline and headline.size.n_min) or designs.answer_attempts_per_task
        in_dollars, several = budget and aims.is_budget_in_dollars, designs.has_several_models
        reason, price = components.reason_standard_error_unknown(n), aims.dollars_per_attempt or 0.0
        fields: dict[str, Any] = {
            "metric": components.metric.name, "k": components.metric.k, "reason": reason,
            "spend": aims.budget_amount_text(aims.budget_number) if budget else "",
            "pays": aims.affordable_attempts
            * in_dollars,
            "measured": price if in_dollars and designs.pilot_mean_attempt_cost else None,
            "of_model": components.name if in_dollars and designs.pilot_mean_attempt_cost
            and several else "",
            "price": amount_text(price, "$") if in_dollars and not designs.pilot_mean_attempt_cost
            else "",
            "unaffordable": budget and headline is None,
            "planned": not (budget and headline is None) and not reason,
            "untestable": headline is not None and bool(components.reason_difference_unknown(n)),
            "sized": headline is not None and bool(targets.tasks or budget),
        }  # fmt: skip
        if headline is not None:
            fields |= {
                "own": _design_size_text(headline),
                "error": headline.se,
                "difference": headline.extra_fields["difference"],
            }
        if not fields["planned"] or fields["untestable"]:
            return fields
        detecting, most = designs.detecting_design(components, n), aims.max_split_tasks
        pair = (components.model_pair or ()) if several else ()
        return {
            **fields, "pair": pair, "widest": bool(pair) and len(self.study.counts.series) > 2,
            "similar": ("it" if in_dollars else components.name) if several and not pair else "",
            "power": f"{aims.power:g}", "wanted": aims.detect, "why": detecting.estimate.reason,
            "needed": _design_size_text(detecting) if detecting.size.tasks else "",
            "tasks": detecting.size.tasks,
            "beyond": most is not None and (detecting.size.tasks or 0) > most,
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str | OptionHint]:
        aims, components = self.designs.parameters_with_defaults, self.first_metric_components
        if components.pilot is None:
            yield f"{_mean_and_spread_text(aims)}, correlation {components.correlation:g}"
        elif not self.designs.has_several_models:
            yield f"pilot: {components.name}"
        if components.pilot is not None and components.correlation is not None:
            correlation_text = f"{components.correlation:g} ({components.correlation_source})"
            if components.model_correlation_limits is not None:
                low, high = components.model_correlation_limits
                correlation_text = f"{components.correlation:.2f} [{low:.2f}, {high:.2f}]"
                if high - low > 2 - 1e-9:
                    correlation_text = "not known, -1 to 1"
            yield f"correlation of models {correlation_text}"
        yield f"test at {100 * (1 - aims.level):.3g} %"
        if len(self.designs.variance_components) > 1:
            yield OptionHint("all metrics")

    def full_footer_parts(self) -> Iterator[str]:
        yield _pilot_or_rates_text(self.designs)
        if (pilot := self.first_metric_components.pilot) is not None:
            if pilot.fitted_beta_rates is not None:
                rates = _mean_and_spread_text(pilot.fitted_beta_rates)
                yield f"{self.first_metric_components.name}: {rates}"
            units, error = self.first_metric_components.pilot_size_and_error_uncertainty
            other_errors = "".join(
                f", of {components.metric.name} by"
                f" ±{100 * components.pilot_size_and_error_uncertainty[1]:.2g} %"
                for components in self.designs.variance_components[1:]
            )
            yield f"standard errors uncertain by ±{100 * error:.2g} % ({units}){other_errors}"
        cost, amount = (
            self.designs.pilot_mean_attempt_cost,
            self.designs.parameters_with_defaults.budget_number,
        )
        if (
            self.designs.parameters_with_defaults.is_budget_in_dollars
            and cost
            and cost.low
            and cost.high
        ):
            least, most = (math.floor(amount / cost_limit) for cost_limit in (cost.high, cost.low))
            yield (
                f"{self.designs.parameters_with_defaults.budget_amount_text(amount)} pays for"
                f" {number_range(least, most)} attempts"
                f" ({100 * self.designs.parameters_with_defaults.level:g} % interval of the mean"
                f" cost)"
            )
        metric_components, aims = (
            self.designs.variance_components,
            self.designs.parameters_with_defaults,
        )
        if names := [
            o.metric.name for o in metric_components if o.needs_beta_rate_assumption(aims.attempts)
        ]:
            yield f"planned partly from Beta rates: {', '.join(names)}"
        if names := [o.metric.name for o in metric_components if o.has_mean_near_0_or_1]:
            yield f"power is rough: {', '.join(names)} near 0 or 1"
        yield f"{100 * aims.level:g} % guard intervals for new tasks"
        yield self.study.unavailable_k_hint

    def messages(self) -> Iterator[Diagnostic]:
        designs, metric_components = self.designs, self.designs.variance_components
        aims = designs.parameters_with_defaults
        first, pilot = self.first_metric_components, self.first_metric_components.pilot
        pilots = [(o.metric.name, o.pilot) for o in metric_components if o.pilot is not None]
        if designs.has_several_models:
            yield MOST_VARIABLE_MODEL_NOTE(model=first.name)
        if any(pilot.fitted_beta_rates is None for _, pilot in pilots):
            yield ONE_ATTEMPT_PILOT_WARNING()
        if pilot is not None and first.needs_beta_rate_assumption(aims.attempts):
            yield BETA_RATES_ASSUMED_NOTE(metric=first.metric.name, n=pilot.fewest_attempts)
        if names := [name for name, pilot in pilots if pilot.raw_between_variance < 0]:
            yield ZERO_SPREAD_ASSUMED_WARNING(metrics=names)
        names = [n for n, p in pilots if p.raw_between_variance > p.largest_between_variance]
        if names:
            yield LARGEST_SPREAD_WARNING(metrics=names)
        units, error = first.pilot_size_and_error_uncertainty
        if error > _UNCERTAIN_ERROR_SHARE:
            yield UNCERTAIN_PLAN_WARNING(
                units=units, metric=first.metric.name, error=f"{100 * error:.2g}"
            )
        if first.model_correlation_limits and first.difference_variance_limits and first.model_pair:
            n = designs.answer_attempts_per_task
            few, many = (
                designs.detecting_design(first.with_true_difference_variance(end), n).size.tasks
                for end in first.difference_variance_limits
            )
            if few and many and many > _MIN_NOTED_TASK_COUNT_RATIO * few:
                yield UNCERTAIN_CORRELATION_NOTE(
                    models=first.model_pair, metric=first.metric.name, few=few, many=many,
                    points=f"{100 * aims.detect:.3g}",
                )  # fmt: skip
        small = any(
            (choice.result.size.tasks or _ROUGH_POWER_TASKS) < _ROUGH_POWER_TASKS
            for choice in self.records
        )
        if small or first.has_mean_near_0_or_1:
            places = [f"below {_ROUGH_POWER_TASKS} tasks"] * small
            places += [f"if {first.metric.name} is near 0 or 1"] * first.has_mean_near_0_or_1
            yield ROUGH_POWER_NOTE(where=" and ".join(places))
        served = {
            goal
            for split in designs.best_split_results
            for goal in metrics_split_is_best_for(split)
        }
        if names := [o.metric.name for o in metric_components if o.metric.name not in served]:
            yield SMALL_BUDGET_WARNING(metrics=names, attempts=aims.affordable_attempts)
        if designs.parameters.budget is not None and any(
            first.metric.name in metrics_split_is_best_for(fact) and fact.size.n_min == 1
            for fact in designs.best_split_results
        ):
            yield NEW_TASKS_FIRST_NOTE()

    def plots(self) -> tuple[Plot, ...]:
        """Plot the smallest detected difference by number of tasks, for each number of attempts.

        The designs that the user requested are marked. Two straight lines cross at the design that
        detects the difference of --detect.
        """
        designs, components, aims = (
            self.designs,
            self.first_metric_components,
            self.designs.parameters_with_defaults,
        )
        headline = self.headline_design
        n = (
            designs.answer_attempts_per_task
            if headline is None
            else headline.size.n_min or designs.answer_attempts_per_task
        )
        detecting = designs.detecting_design(components, n)
        sizes = (*aims.tasks, headline.size.tasks if headline else None, detecting.size.tasks)
        marked = {tasks for tasks in sizes if tasks is not None}
        low, high = min(marked), max(marked)
        if low == high:
            low, high = max(low // 4, 2), 4 * high
        between = np.geomspace(low, high, _CURVE_POINTS).round().astype(int).tolist()
        rows = [
            {"tasks": tasks, "attempts": plural(attempts, "attempt"),
             "difference": designs.smallest_difference(components, tasks, attempts)[0]}
            for attempts in sorted({*aims.attempts, n})
            for tasks in sorted({*between, *marked})
        ]  # fmt: skip
        detect_label = f"{100 * aims.detect:.3g} points: {_design_size_text(detecting)}"
        rules = [ReferenceLine(y=aims.detect)]
        if detecting.size.tasks:
            rules.append(ReferenceLine(x=detecting.size.tasks, text=detect_label))
        if all(row["difference"] is None for row in rows):
            return ()
        return (
            curves(
                rows, x="tasks", y="difference", colour="attempts", x_title="tasks", log_x=True,
                y_title="difference (log scale)", log_y=True, y_domain=None, shares=True,
                marked=marked, rules=rules,
                title=f"{components.metric.name}: smallest difference detected with power"
                f" {aims.power:g}",
                subtitle=f"{_pilot_or_rates_text(designs)} · two-sided test at"
                f" {100 * (1 - aims.level):.3g} % · correlation {designs.correlation_sources_text}",
            ),
        )  # fmt: skip


class PlanAssumptionsTable(ReportSection[VarianceComponents]):
    """One row per metric, with the mean, standard deviation and correlation that the plan uses."""

    title = "Assumptions of the plan"
    visibility = FULL
    columns = (
        Column("metric", meaning="The metric.",
            cell_of_record=lambda components: components.metric.name),
        Column("mean", "share", meaning="Expected value of the metric.",
               cell_of_record=lambda components: components.metric_moments.expected),
        Column("standard deviation", "share", meaning="Standard deviation of the true values over"
               " tasks, without the variation by chance.",
               cell_of_record=lambda components: components.true_value_standard_deviation),
        Column("correlation", "amount", field_name="correlation", meaning="Correlation of the true"
               " values of two models over tasks, from --correlation or from a pilot with two"
               " models.",
               cell_of_record=lambda components: components.correlation),
        Column("tasks needed, relative to {0[0]}", "amount",
               meaning="Number of tasks that the metric needs for the standard error that {0[0]}"
               " has with one task, both with {0[1]} attempts per task.",
               repeated_items=lambda section: section.reference_metric_k_and_variance,
               example=("the first metric",
                   "k"),
               cell_of_record=lambda components, first:
               components.variances(first[1])[0] / first[2]),
        Column("model", meaning="The model with the most variable values.",
               exists_in_section=lambda section: bool(section.records[0].name),
               cell_of_record=lambda components: components.name),
        Column("pair", meaning="The two models of the planned difference: the pair with the most"
               " variable differences.",
               exists_in_section=lambda section: bool(section.records[0].name),
               cell_of_record=lambda components: " − ".join(components.model_pair
                   or ("two similar to it",))),
    )  # fmt: skip

    @property
    def reference_metric_k_and_variance(self) -> list[tuple[str, int, float]]:
        """A list with the first metric, the largest k, and the variance of this metric at this k.

        The list is empty if the plan has only one metric or if the variance is 0.
        """
        first, n = self.records[0], max(components.metric.k for components in self.records)
        variance = first.variances(n)[0]
        return [(first.metric.name, n, variance)] * (len(self.records) > 1 and variance > 0)


def _signature_entries(designs: Designs) -> dict[str, Any]:
    aims = designs.parameters_with_defaults
    return {
        "level": aims.level, "power": aims.power, "difference": aims.detect,
        "correlation": designs.correlation_sources_text,
        "budget": f"${aims.budget_number:.12g}" if aims.is_budget_in_dollars
        else aims.affordable_attempts,
        "max_tasks": aims.max_split_tasks, "cluster": aims.cluster,
        "cost": aims.dollars_per_attempt,
    }  # fmt: skip


def _pilot_or_rates_text(designs: Designs) -> str:
    pilots = [
        components.pilot
        for components in designs.variance_components
        if components.pilot is not None
    ]
    if not pilots:
        return f"Beta success rates: {_mean_and_spread_text(designs.parameters_with_defaults)}"
    n = np.concatenate([pilot.n for pilot in pilots]).tolist()
    return f"pilot of {tasks_and_attempts([len(pilot.n) for pilot in pilots], n)}"


def _mean_and_spread_text(rates: BetaRates | PlanParameters) -> str:
    return f"mean {rates.mean:.3g}, standard deviation {rates.spread:.2g}"


def _design_size_text(fact: Result) -> str:
    return f"{plural(fact.size.tasks or 0, 'task')} × {plural(fact.size.n_min or 0, 'attempt')}"


class PlanRunner(CommandRunner, PlanOptions):
    """Reads the pilot of `passk plan` and computes the report."""

    sections = (DesignTable, PlanAssumptionsTable, ContinuationTable, FixedSuiteTable)

    label_refusal: ClassVar[str] = (
        "a plan uses the verdicts of attempts, which labels do not change"
    )
    missing_bounds_refusal: ClassVar[str] = "a plan needs a single success rate per task"

    def request(self, options: SharedOptions) -> Request:
        request = replace(super().request(options), cluster=self.cluster)
        in_dollars = (
            self.is_budget_in_dollars and self.dollars_per_attempt is None
        ) or self.cost_per_attempt == PILOT_KEYWORD
        priced = in_dollars or (
            self.has_pilot_dependent_budget_unit and not options.is_readable_only_once
        )
        return replace(request, attempts=("cost",)) if priced else request

    @property
    def uses_pilot_costs(self) -> bool:
        return self.cost_per_attempt == PILOT_KEYWORD or (
            self.is_budget_in_dollars and self.dollars_per_attempt is None
        )

    def report_without_data(self, options: SharedOptions) -> Report | None:
        self.check()
        metrics = (*standard_metrics(options.metric_options.k), *options.metric_options.metrics)
        raise_parameter_error_if_any("unknown-metric", *(
            (metric.definition.required_attempt_data, "",
            f"{metric.name} cannot be planned; use a metric of passes and failures,"
             " for example pass@10, pass^4 or gpass@8:0.5", ())
            for metric in metrics
        ))  # fmt: skip
        # The time to compute a plan grows with k², so a plan with a large k would take too long.
        raise_parameter_error_if_any("too-large", *(
            (metric.k > MOST_PLANNED_K, "",
             f"{metric.name} cannot be planned; use a k up to {MOST_PLANNED_K:,}", ())
            for metric in metrics
        ))  # fmt: skip
        assumptions, has_pilot = (self.mean, self.spread), options.has_data
        if self.population == THESE_TASKS:
            self._refuse_options_suite_ignores(options)
        raise_parameter_error_if_any("contradicting-options", (
            has_pilot and assumptions != (None, None), "",
            "a mean and a spread are only for plans without a pilot",
            (SuggestedFix({"--mean": None, "--spread": None}),),
        ))  # fmt: skip
        if has_pilot:
            return None
        rates = {"--mean": self.mean or 0.6, "--spread": self.spread or 0.3}
        read = (
            self.cluster
            or options.metric_options.short_tasks != "empty"
            or changed_option_names(options.request)
        )
        number = "there is no pilot; give the FILE of a pilot, or a number"
        raise_parameter_error_if_any(
            "no-pilot",
            (None in assumptions, "", "there is nothing to plan from; give the FILE of a pilot",
             (SuggestedFix(rates, "assumes success rates"),)),
            (self.is_budget_in_dollars and self.cost_per_attempt is None,
            OptionWithValue("--budget", self.budget),
             "without a pilot, the cost of an attempt is unknown",
             (SuggestedFix({"--cost-per-attempt": Placeholder("X")}, "sets the cost"),)),
            (self.max_tasks == PILOT_KEYWORD, OptionWithValue("--max-tasks", PILOT_KEYWORD), number,
                ()),
            (self.cost_per_attempt == PILOT_KEYWORD, OptionWithValue("--cost-per-attempt",
                PILOT_KEYWORD), number, ()),
            (read, "", "without a pilot, there is nothing to read; give the FILE of a pilot", ()),
        )  # fmt: skip
        metrics = tuple(dict.fromkeys(metrics)) or standard_metrics((1, 10))
        return self.report_from_assumptions(metrics)

    def _refuse_options_suite_ignores(self, options: SharedOptions) -> None:
        useless_options = [
            name for name in changed_option_names(self) if name in _NEW_TASKS_OPTIONS
        ]
        useless_options += ["-k"] * (options.metric_options.k not in ((), (1,)))
        useless_options += ["-m"] * any(
            metric.name != "pass@1" for metric in options.metric_options.metrics
        )
        place = OptionWithValue("--population", self.population)
        raise_parameter_error_if_any("contradicting-options", (
            useless_options, place,
            f"a plan for a fixed suite does not use {first_few(useless_options)}",
            (SuggestedFix(dict.fromkeys(useless_options)),),
        ))  # fmt: skip
        raise_parameter_error_if_any(
            "no-pilot",
            (not options.has_data, place, "a plan for a fixed suite needs the FILE of a pilot", ()),
        )

    def report_from_assumptions(self, metrics: Sequence[Metric]) -> Report:
        """The plan for two similar models with Beta-distributed success rates."""
        rates = BetaRates(self.mean or 0.0, self.spread or 0.0)
        metric_components = [
            similar_model_components(metric, AssumedMetricMoments(metric, rates), self.correlation)
            for metric in metrics
        ]
        nothing = Analysis(Counts.from_cells([("", "", 1, 0)]), tuple(metrics))
        designs = Designs(metric_components, self)
        entries = {"mean": rates.mean, "spread": rates.spread, **_signature_entries(designs)}
        return replace(
            _plan_report(nothing, designs), make_signature=lambda: signature(metrics, entries)
        )

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        """Read the pilot, including costs if the budget may be in dollars.

        Without -k and -m, the plan uses the smallest and the largest default value of k.
        """
        refusal = None
        try:
            pilot = super().read_analysis(options, read)
        except DataError as error:
            if not self.has_pilot_dependent_budget_unit or options.is_readable_only_once:
                raise
            refusal = error
            pilot = super(
                PlanRunner, replace(self, budget=f"{self.budget} attempts")
            ).read_analysis(options, read)
        offered = any(
            "cost" in file.command_data_column_by_role
            for file in pilot.counts.read_facts.file_readings
        )
        without = refusal and (refusal.name == "no-attempts" or refusal.problem == "no cost column")
        if refusal is not None and (offered or not without):
            raise refusal.with_changes(
                DataError, settles=[*refusal.fixes, self._budget_in_attempts_fix]
            )
        if self.has_pilot_dependent_budget_unit and options.is_readable_only_once and offered:
            raise ParameterError(
                OptionWithValue("--budget", self.budget),
                "the budget needs a unit (dollars or attempts) if a pilot with costs comes from a"
                " pipe",
                settles=[
                    SuggestedFix({"--budget": f"{self.budget}usd"}, "means dollars"),
                    self._budget_in_attempts_fix
                ],
            )  # fmt: skip
        ks = sorted({metric.k for metric in pilot.metrics})
        if options.metric_options.k or options.metric_options.metrics or len(ks) < 3:
            return pilot
        ends = tuple(metric for metric in pilot.metrics if metric.k in (ks[0], ks[-1]))
        hint = f"planned only for k = {ks[0]} and {ks[-1]} of {', '.join(map(str, ks))}"
        return replace(pilot, metrics=ends, unavailable_k_hint=hint)

    def report(self, study: Analysis) -> Report:
        """Plan from a pilot, or raise a ParameterError if the pilot supports no metric."""
        if self.population == THESE_TASKS:
            return self._fixed_suite_report(study)
        pilot = analyse_pilot(study, self.correlation)
        messages = list(_pilot_messages(pilot, study.counts.cluster))
        if not pilot.variance_components:
            reasons = "; ".join(message.text for message in messages)
            raise ParameterError(f"the pilot cannot be used for a plan: {reasons}", name="no-pilot")
        study = replace(
            study, metrics=tuple(components.metric for components in pilot.variance_components)
        )
        targets, cost = self, None
        if self.uses_pilot_costs or (
            self.has_pilot_dependent_budget_unit and "cost" in study.counts.attempts
        ):
            first, costs = pilot.variance_components[0], _mean_costs(study, self.level)
            cost = costs.pop(first.series)
            if not cost.value or cost.range_upper_end is not None:
                raise self.create_unknown_price_error(first.name, cost)
            other_costs = [
                f"{SeriesName(series)} {amount_text(float(f'{price.value:.3g}'), '$')}"
                for series, price in costs.items() if price.value and price.range_upper_end is None
            ]  # fmt: skip
            messages.append(
                PILOT_COST_NOTE(model=first.name, cost=cost, others=first_few(other_costs))
            )
            if self.has_pilot_dependent_budget_unit:
                messages.append(ASSUMED_BUDGET_UNIT_NOTE(number=self.budget))
            targets = replace(self, cost_per_attempt=repr(cost.value))
        if self.next:
            return self._ways_to_continue_report(
                study, pilot.variance_components[0], targets, messages
            )
        designs = Designs(pilot.variance_components, targets, len(study.counts.series) > 1, cost)
        return _plan_report(study, designs, (*study.messages(()), *messages))

    def _fixed_suite_report(self, study: Analysis) -> Report:
        noises = [
            noise
            for noise in series_noise_estimators(study.counts, self.level)
            if noise.flaky_task_count
        ]
        if not noises:
            problem = "attempts at a task never differ, or numbers of attempts depend on outcomes"
            place = OptionWithValue("--population", self.population)
            raise ParameterError(place, f"{problem}; make more attempts per task", name="no-pilot")
        study = replace(study, confidence=replace(study.confidence, population=THESE_TASKS))
        rows = list(suite_designs_of_attempt_counts(noises, self.detect, self.attempts))
        section = FixedSuiteTable(study, rows, self.detect)
        return build_report(study, [section], messages=study.messages(()), interval=None,
                    population=self.population, detect=self.detect, level=self.level)  # fmt: skip

    def _ways_to_continue_report(
        self,
        study: Analysis,
        components: VarianceComponents,
        targets: PlanParameters,
        messages: Sequence[Diagnostic],
    ) -> Report:
        prices: dict[str, float] | None = None
        unit = targets.dollars_per_attempt
        if unit is not None:
            mean_costs = _mean_costs(study, self.level) if self.uses_pilot_costs else {}
            prices = {SeriesName(series): unit for series in study.counts.series}
            prices |= {
                SeriesName(series): cost.value for series, cost in mean_costs.items() if cost.value
            }
        budget = None
        if self.budget is not None:
            targets.check_affordable_attempt_count()
            is_plain = targets.is_budget_in_dollars or prices is None
            budget = targets.budget_number * (1 if is_plain else unit or 1)
        ways = ways_to_spend(components, budget, prices)
        section = ContinuationTable(study, ways, components, prices is not None)
        all_messages = (*study.messages(()), *messages, NO_TASK_CHOICE_BY_OUTCOMES_NOTE())
        return build_report(
            study, [section], messages=all_messages, interval=None, budget=self.budget
        )

    def create_unknown_price_error(self, model: str, cost: Estimate) -> ParameterError:
        """The error for a plan in dollars if costs of attempts are missing or 0."""
        place = OptionWithValue("--cost-per-attempt", PILOT_KEYWORD)
        if self.budget:
            place = OptionWithValue("--budget", self.budget)
        why = "lack their cost" if cost.value else "cost 0, probably because the price is unknown"
        settles = [SuggestedFix({"--cost-per-attempt": Placeholder("X")}, "sets a cost")]
        settles += [self._budget_in_attempts_fix] * self.has_pilot_dependent_budget_unit
        problem = f"attempts of {model} {why}"
        return ParameterError(place, problem, name="no-price", settles=settles)

    @property
    def _budget_in_attempts_fix(self) -> SuggestedFix:
        return SuggestedFix({"--budget": f"{self.budget}attempts"}, "means attempts")


def _plan_report(study: Analysis, designs: Designs, messages: Sequence[Diagnostic] = ()) -> Report:
    designs.parameters.check_affordable_attempt_count()
    sections = (
        DesignTable(study, designs.main_table_choices, designs),
        PlanAssumptionsTable(study, designs.variance_components),
    )
    return build_report(
        study, sections, messages=messages, interval=None, **_signature_entries(designs)
    )


def _mean_costs(study: Analysis, level: float) -> dict[SeriesKey, Estimate]:
    """The mean cost of an attempt by each model, with an interval, or a range for missing costs."""
    counts, costs = study.counts, dict[SeriesKey, Estimate]()
    for place, series in enumerate(counts.series):
        rows = counts.slice_of_series(place)
        spent = attempts_of(counts, "cost", rows)
        clusters = cluster_codes(counts, counts.task_codes[rows])
        spending = TaskCosts.from_attempts(
            spent.cell_offsets, spent.value, spent.count, spent.pass_count, clusters
        )
        mean = mean_cost(spending, level)
        costs[series] = Estimate(
            mean.value,
            low=mean.low,
            high=mean.high,
            unit="$",
            range_upper_end=mean.missing_cost_upper_bound,
        )
    return costs


def _pilot_messages(pilot: PilotAnalysis, cluster: str | None) -> Iterator[Diagnostic]:
    for reason, silent in pilot.unusable_values_by_reason.items():
        metrics = list(dict.fromkeys(values.metric.name for values in silent))
        models = list(dict.fromkeys(values.name for values in silent))
        yield UNPLANNED_METRICS_WARNING(metrics=metrics, models=models, reason=reason)
    if pilot.cluster_design_effect is not None:
        first = pilot.variance_components[0].metric.name
        yield CLUSTERED_PILOT_NOTE(cluster=cluster, times=pilot.cluster_design_effect, metric=first)
