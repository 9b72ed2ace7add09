"""A run in progress, and the verdicts of interim looks at the first tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from passk_cli.commands.gate.context import JudgedRun
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rules import Minimum, RelativeLimit
from passk_cli.commands.gate.runner import GateRunner
from passk_cli.commands.watch.interim_looks import InterimLook, WatchPlan, outcome_digest
from passk_cli.commands.watch.task_order import (
    InterimLookCountingOrder,
    MadeAttemptCountByTaskAndModel,
    RunProgress,
)
from passk_cli.errors import DataError
from passk_cli.inference.alpha_spending import (
    SMALLEST_LOOK_ALPHA,
    confidence_level_at_boundary,
    pass_fail_chances_at_last_look,
)
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis
from passk_cli.study.significance_options import FAIL, PASS, UNDECIDED
from passk_cli.suggested_fix import SuggestedFix

# UNDECIDED_AT_END is the outcome of a complete run if no interim look decided the run.
UNDECIDED_AT_END = "end"
# Forecasts assume that the true share varies around its limit with the standard deviation
# _FORECAST_PRIOR_DEVIATION.
_FORECAST_PRIOR_DEVIATION = 0.1
# Standard errors are derived from an interval at the level _FORECAST_INTERVAL_LEVEL, because a
# sample variance may be 0.
_FORECAST_INTERVAL_LEVEL = 0.95


def judgement_subject_and_rule_text(line: Judgement) -> str:
    return f"{line.subject_name}: {line.rule_text}"


@dataclass(frozen=True)
class WatchedRun:
    """A run in progress, with its rules and its plan."""

    gate_runner: GateRunner
    study: Analysis
    plan: WatchPlan
    order: InterimLookCountingOrder
    attempts_made: MadeAttemptCountByTaskAndModel

    @property
    def models(self) -> frozenset[str]:
        return frozenset(model for by_model in self.attempts_made.values() for model in by_model)

    @property
    def progress(self) -> RunProgress:
        return self.order.progress(
            self.attempts_made, self.models, self.plan.attempts_per_task, self.plan.total_tasks
        )

    def counts_of_first_tasks(self, tasks: int) -> Counts:
        """The counts of the first `tasks` tasks, or a DataError if none of them has an outcome."""
        counts, first = self.study.counts, set(self.progress.tasks_in_counting_order[:tasks])
        try:
            return counts.without_tasks([task for task in counts.tasks if task not in first])
        except ValueError:
            raise DataError(
                next(iter(first)), f"none of the first {tasks} tasks has an outcome",
                name="no-attempts",
            ) from None  # fmt: skip

    def judge_first_tasks(self, tasks: int, level: float) -> JudgedRun:
        """Judge the first tasks by all rules, or raise a DataError if the baseline lacks a task."""
        context = self.gate_runner.gate_context(
            replace(self.study, counts=self.counts_of_first_tasks(tasks))
        )
        sides = context.baseline_match
        for series, coverage in context.coverages.items():
            base = sides.base_series(series)
            if coverage is not None and coverage.extra and base is not None:
                base_codes = set(sides.task_codes_by_baseline_series[base].tolist())
                codes = (
                    code
                    for code in sides.task_codes_by_candidate[series].tolist()
                    if code not in base_codes
                )
                name = sides.counts.tasks[next(codes)]
                raise DataError(
                    name, "the baseline has no attempts at this task of the plan",
                    name="other-plan",
                    settles=[SuggestedFix({"--exclude-task": (name,)}, "leaves the task out")],
                )  # fmt: skip
        return JudgedRun(self.gate_runner, context).judge(level)

    def make_next_look(self, looks: Sequence[InterimLook], *, forecast: bool) -> InterimLook:
        """Make the next interim look, and compute the chance of a decision if `forecast` is set."""
        place = len(looks)
        tasks, limit, verdicts = (
            self.plan.task_counts_at_looks[place],
            self.plan.boundaries[place],
            {},
        )
        if math.isfinite(limit):
            lines = self.judge_first_tasks(tasks, confidence_level_at_boundary(limit)).judgements
            verdicts = {judgement_subject_and_rule_text(line): line.verdict for line in lines}
        look = InterimLook(tasks, outcome_digest(self.counts_of_first_tasks(tasks)), verdicts)
        return replace(look, chance=self.decision_chance([*looks, look])) if forecast else look

    def decision_chance(self, looks: Sequence[InterimLook]) -> float | None:
        """The probability that the remaining tasks lead to a verdict on the run, or None.

        A run gets a verdict if all undecided rules pass, or if one rule fails. The calculation
        assumes that the rules are independent.
        """
        decided, tasks = self.deciding_look_by_judgement(looks), looks[-1].tasks
        share, all_pass, none_fails = tasks / self.plan.total_tasks, 1.0, 1.0
        if share >= 1:
            return 0.0
        part = self.judge_first_tasks(tasks, _FORECAST_INTERVAL_LEVEL)
        for line in part.judgements:
            number, limit = line.result.estimate, line.limit or 0.0
            if judgement_subject_and_rule_text(line) in decided:
                continue
            if (
                number.value is None
                or number.low is None
                or number.high is None
                or number.range_upper_end
            ):
                return None
            away = number.value - limit
            if not isinstance(self.gate_runner.active_rules[line.rule_index_in_gate], Minimum):
                away = parse_metric(line.result.name).better_sign * number.value + limit
            error = (
                (number.high - number.low)
                / 2
                / STANDARD_NORMAL.inv_cdf((1 + _FORECAST_INTERVAL_LEVEL) / 2)
            )
            if not 0 < error < math.inf:
                return None
            shares = number.unit == "share" or isinstance(line.limit, RelativeLimit)
            prior = _FORECAST_PRIOR_DEVIATION if shares else math.inf
            up, down = pass_fail_chances_at_last_look(
                away, error, share, self.plan.boundaries[-1], prior
            )
            all_pass, none_fails = all_pass * up, none_fails * (1 - down)
        return min(all_pass + 1 - none_fails, 1.0)

    def deciding_look_by_judgement(self, looks: Sequence[InterimLook]) -> dict[str, int]:
        places: dict[str, int] = {}
        for place, look in enumerate(looks):
            for name, verdict in look.verdicts.items():
                if verdict in (PASS, FAIL):
                    places.setdefault(name, place)
        return places

    def outcome(self, looks: Sequence[InterimLook]) -> str:
        """The outcome of the run: PASS, FAIL, UNDECIDED_AT_END, or "" if the run continues."""
        if not looks:
            return ""
        last, decided = looks[-1], self.deciding_look_by_judgement(looks)
        if FAIL in (looks[place].verdicts[name] for name, place in decided.items()):
            return FAIL
        if last.verdicts and last.verdicts.keys() <= decided.keys():
            return PASS
        return UNDECIDED_AT_END if last.tasks == self.plan.total_tasks else ""

    def judge_at_deciding_or_last_look(self, looks: Sequence[InterimLook]) -> JudgedRun:
        """All judgements at the last interim look, with the verdicts of earlier looks.

        Undecided judgements do not suggest a number of tasks, because the plan sets this number.
        """
        decided, parts = self.deciding_look_by_judgement(looks), dict[int, JudgedRun]()
        for place in {len(looks) - 1, *decided.values()}:
            limit, tasks = self.plan.boundaries[place], looks[place].tasks
            level = (
                confidence_level_at_boundary(limit)
                if math.isfinite(limit)
                else 1 - SMALLEST_LOOK_ALPHA
            )
            parts[place] = self.judge_first_tasks(tasks, level)
        last = len(looks) - 1
        lines = {(place, judgement_subject_and_rule_text(line)): line for place,
            part in parts.items()
                 for line in part.judgements}  # fmt: skip
        names = dict.fromkeys(
            (*decided, *map(judgement_subject_and_rule_text, parts[last].judgements))
        )
        rows = sorted((lines[decided.get(name, last), name] for name in names),
                      key=lambda line: line.rule_index_in_gate)  # fmt: skip
        return replace(parts[last], judgements=[
            line if judgement_subject_and_rule_text(line) in decided
            or line.verdict not in (PASS, FAIL, UNDECIDED)
            else replace(line, verdict=UNDECIDED, reason="",
                         fails_gate=line.fails_gate and line.verdict == UNDECIDED)
            for line in rows
        ])  # fmt: skip
