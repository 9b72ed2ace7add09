"""The report on a run in progress, with the verdicts at the last interim look."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from passk_cli.activity import report_activity
from passk_cli.commands.gate import GateOptions
from passk_cli.commands.gate.context import JudgedRun
from passk_cli.commands.gate.rulebook import SuiteEntry, read_rulebook
from passk_cli.commands.gate.rules import BY_INTERVAL, is_given
from passk_cli.commands.gate.runner import GateRunner
from passk_cli.commands.gate.view import RuleTable
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.watch import COMPLETION_ORDER, REFUSED_GATE_OPTIONS, WatchOptions
from passk_cli.commands.watch.interim_looks import (
    InterimLook,
    InterimLooksRecord,
    WatchPlan,
    default_looks_path,
    exclusive_lock,
    outcome_digest,
)
from passk_cli.commands.watch.task_order import (
    DATASET,
    LIST,
    InterimLookCountingOrder,
    RunProgress,
    attempt_counts_by_task_and_model,
    last_attempt_file_positions,
)
from passk_cli.commands.watch.watched_run import WatchedRun
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, PasskError, raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import resolved_file_paths
from passk_cli.inference.alpha_spending import confidence_level_at_boundary
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.option import fill_options
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    AnswerSentence,
    Column,
    OptionHint,
    ProvisionalGateResult,
    Report,
    Table,
)
from passk_cli.report.phrases import number_range, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.metric_selection import refuse_range_valued_metrics
from passk_cli.study.result import Result
from passk_cli.study.section import build_report, data_field
from passk_cli.study.significance_options import ERROR, FAIL, PASS
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

# passk watch does not check the rules in _UNWATCHED_RULES, because these rules are about single
# tasks or about the share of failed attempts.
_UNWATCHED_RULES = {
    "must_pass": "must-pass", "min_each": "min-each", "max_errors": "max-errors",
    "max_missing": "max-missing",
}  # fmt: skip
# _GATE_ONLY_SUITE_FIELDS lists the fields of a rules file that only passk gate uses.
_GATE_ONLY_SUITE_FIELDS = (*_UNWATCHED_RULES, "must_pass_rate", "runs", "unpaired", "first", "tier")
# After an error in _FINAL_ERRORS, --follow stops at once. If a run has no results yet, --follow
# waits until a file changes. If a file is unreadable, --follow waits for at most _MAX_PAUSES pauses
# until a file changes.
_FINAL_ERRORS = ("other-run", "other-plan", "bad-looks", "nothing-to-compare")
_NO_RESULTS_YET, _MAX_PAUSES = ("no-such-file", "no-results", "no-attempts"), 5
_PAUSE_SECONDS = 0.5
_OMITTED_GATE_MESSAGES = ("baseline-tasks-not-run", "rule-cannot-decide")

STOPPED_EARLY_NOTE = DiagnosticType(
    "stopped-early", NOTE,
    "an interim look gave the verdict {left:task} before the end, so the estimate tends to be too"
    " far from the limit of the rule",
    meaning="An interim look reached a verdict before all planned tasks were complete.",
    why="A run is more likely to stop early if the estimate is far from the limit of the rule by"
    " chance. In simulations with a true drop of 0.064, the mean estimated drop was 0.072 in all"
    " runs, and 0.087 in runs that stopped early (benchmarks/watch.md). The early stop does not"
    " change the confidence level of the verdict.",
    advice="If you report the estimate, also report that the run was stopped early, or complete the"
    " plan.",
    example="passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks tau.looks\n"
    "note[stopped-early]: an interim look gave the verdict 11 tasks before the end, so the estimate"
    " tends to be too far from the limit of the rule",
)  # fmt: skip
ORDER_OF_COMPLETION_WARNING = DiagnosticType(
    "order-of-completion", WARNING,
    "tasks are counted in the order of completion, so early looks are too optimistic if failures"
    " take longer",
    meaning="With `--order completion`, an interim look counts the tasks that were completed"
    " first.",
    why="An interim look is valid only if outcomes do not influence which tasks the look counts. In"
    " runs in which failures took longer than passes, pass@1 of the first half of the tasks was 4"
    " to 10 points too high.",
    advice="Choose a random order of the tasks before the run, and name the file with the order"
    " with `--order FILE`.",
    example="passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks tau.looks\n"
    "warning[order-of-completion]: tasks are counted in the order of completion, so early looks are"
    " too optimistic if failures take longer",
)  # fmt: skip
RULES_NOT_WATCHED_NOTE = DiagnosticType(
    "rules-not-watched", NOTE, "passk watch does not judge these rules of the suite: {rules}",
    "judge the complete run with passk gate",
    meaning="The suite has rules about single tasks (must-pass, min-each) or about attempts without"
    " an outcome (max-errors, max-missing). An interim look checks only rules about means over"
    " tasks.",
    why="A run that passes passk watch can still fail the rules that the message names.",
    advice="Judge the complete run with `passk gate --rules FILE`.",
    example="note[rules-not-watched]: passk watch does not judge these rules of the suite:"
    " must-pass; judge the complete run with passk gate",
)  # fmt: skip
TASKS_LACK_ATTEMPTS_NOTE = DiagnosticType(
    "short-of-plan", NOTE,
    "{short:task} {short:is|are} not counted, with only {made} of {attempts} planned attempts",
    meaning="All tasks of the plan have attempts, but some tasks have fewer attempts than"
    " --attempts requires.",
    why="Until all planned attempts at a task are made, passk counts neither the task nor later"
    " tasks.",
    advice="Complete the attempts, including attempts that failed to start. A change of --attempts"
    " changes the plan and needs a new looks file.",
    example="note[short-of-plan]: 1 task is not counted, with only 3 of 4 planned attempts",
)  # fmt: skip
TASKS_WAIT_FOR_EARLIER_TASK_NOTE = DiagnosticType(
    "waiting-for-task", NOTE,
    "{behind:complete task} {behind:waits|wait} for task {task}, which comes earlier in the order",
    meaning="An interim look counts only the tasks before the first incomplete task in the order."
    " The task in the message is incomplete, but later tasks are complete.",
    why="If an interim look skipped slow tasks, the share of easy tasks would be too large.",
    advice="Check whether the task is stuck or was never started. If you must leave the task out,"
    " use `--exclude-task TASK` with a new looks file.",
    example="note[waiting-for-task]: 31 complete tasks wait for task t08, which comes earlier in"
    " the order",
)  # fmt: skip


NOT_YET_DECIDED_ANSWER = Answer(
    "not-yet",
    lambda section: not section.outcome,
    "NOT YET: {done} of {planned:task} complete{?chance|; {chance} chance of a decision by the"
    " end}; {look} look at {next} tasks",
)
_AFTER_TASKS_PREFIX = "After {looked} of {planned:task}, "


@dataclass(frozen=True)
class WatchedRuleTable(RuleTable):
    """One row per rule, judged at the look that gave the rule a verdict, or at the last look.

    outcome : PASS, FAIL or UNDECIDED_AT_END, or "" if the run continues.
    skipped_rules : rules of the rules file that passk watch does not judge.
    looks_path : path of the looks file, if --looks does not name the file.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        *RuleTable.columns,
        data_field("planned", "Number of tasks in the plan."),
        data_field("looks", "Number of interim looks so far."),
        data_field("boundary", "Distance from the limit, in standard errors, at which this look"
                   " decides the rule."),
        data_field("chance", "Chance that the remaining tasks decide the run."),
    )  # fmt: skip

    run: WatchedRun = field(kw_only=True)
    looks: Sequence[InterimLook] = field(kw_only=True)
    outcome: str = field(kw_only=True)
    skipped_rules: Sequence[str] = ()
    looks_path: Path | None = None

    @property
    def counted_task_count(self) -> int:
        return self.looks[-1].tasks if self.looks else 0

    @property
    def decision_chance(self) -> float | None:
        return self.looks[-1].chance if self.looks else None

    @property
    def progress(self) -> RunProgress:
        return self.run.progress

    def results(self) -> Sequence[Result]:
        plan, rows = self.run.plan, []
        limits = dict(zip(plan.task_counts_at_looks, plan.boundaries, strict=True))
        for row in super().results():
            limit = limits.get(row.size.tasks or 0, math.inf)
            more = {
                **row.extra_fields, "planned": plan.total_tasks, "looks": len(self.looks),
                "boundary": None if math.isinf(limit) else limit, "chance": self.decision_chance,
            }  # fmt: skip
            rows.append(replace(row, extra_fields=more))
        return rows

    def answer(self) -> Iterator[AnswerSentence]:
        if not self.outcome:
            yield NOT_YET_DECIDED_ANSWER.sentence_about(self)
            return
        for sentence in super().answer():
            yield sentence.with_prefix(_AFTER_TASKS_PREFIX, **self.sentence_fields)

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        plan = self.run.plan
        return {
            "looked": self.counted_task_count, "planned": plan.total_tasks,
            "done": self.progress.complete_task_count_from_start,
            "chance": "" if self.decision_chance is None else _percent(self.decision_chance),
            "next": next(
                (size for size in plan.task_counts_at_looks if size > self.counted_task_count),
                None),
            "look": "next" if self.looks else "first",
        }  # fmt: skip

    @property
    def follow_status_line(self) -> str:
        numbers = [
            f"{line.result.name} {number.value:.3f} [{number.low:.3f}, {number.high:.3f}]"
            for line in self.records
            if None not in ((number := line.result.estimate).value, number.low, number.high)
        ]
        state = "".join(map(str, NOT_YET_DECIDED_ANSWER.sentence_about(self))).removeprefix(
            "NOT YET: "
        )
        return " · ".join([state, *numbers[:2]])

    def footer_parts(self) -> Iterator[str | OptionHint]:
        plan = self.run.plan
        size = (
            f"{plural(self.counted_task_count, 'task')} ×"
            f" {plural(plan.attempts_per_task, 'attempt')}"
        )
        looks = f"look {len(self.looks)} of {len(plan.task_counts_at_looks)}"
        yield f"{looks}: {size}" if self.looks else looks
        if self.looks:
            limit, all_looks = plan.boundaries[len(self.looks) - 1], f"{100 * plan.level:g} %"
            at = "too early"
            if math.isfinite(limit):
                at = f"{_level_words(confidence_level_at_boundary(limit))} at this look"
            yield f"{at}, {all_looks} over all looks"
            sizes = {line.result.size.tasks for line in self.judgements if line.result.size.tasks}
            if earlier := sorted(sizes - {self.counted_task_count}):
                yield f"verdicts of earlier looks: after {', '.join(map(str, earlier))} tasks"
        order = {LIST: "order as given", DATASET: "order of the dataset"}
        yield order.get(self.run.order.order_source, "order of completion")
        if self.looks and self.looks_path is not None:
            yield f"looks in {self.looks_path}"
        if self.outcome:
            yield from (
                part for part in super().footer_parts() if str(part).startswith("undecided")
            )

    def messages(self) -> Iterator[Diagnostic]:
        progress, remaining = self.progress, self.run.plan.total_tasks - self.counted_task_count
        if self.run.order.order_source == COMPLETION_ORDER:
            yield ORDER_OF_COMPLETION_WARNING()
        attempts_made, plan = self.run.attempts_made, self.run.plan
        fewest = [min(by_model.values()) for by_model in attempts_made.values()]
        short = [n for n in fewest if n < plan.attempts_per_task]
        if short and len(attempts_made) >= plan.total_tasks and not self.outcome:
            few = number_range(min(short), max(short))
            yield TASKS_LACK_ATTEMPTS_NOTE(
                short=len(short), made=few, attempts=plan.attempts_per_task
            )
        if progress.waiting_complete_task_count and not self.outcome:
            yield TASKS_WAIT_FOR_EARLIER_TASK_NOTE(
                behind=progress.waiting_complete_task_count,
                task=progress.tasks_in_counting_order[progress.complete_task_count_from_start],
            )
        if remaining and self.outcome in (PASS, FAIL):
            yield STOPPED_EARLY_NOTE(left=remaining)
        if self.skipped_rules:
            yield RULES_NOT_WATCHED_NOTE(rules=self.skipped_rules)
        yield from (
            message for message in super().messages() if message.name not in _OMITTED_GATE_MESSAGES
        )

    def tables(self) -> Iterator[Table]:
        yield from super().tables() if self.records else ()

    def signature_entries(self) -> dict[str, object]:
        plan = self.run.plan
        return {
            **super().signature_entries(), "planned": plan.total_tasks,
            "attempts": plan.attempts_per_task,
            "every": plan.tasks_between_looks, "order": self.run.order.order_source,
            "looks": len(self.looks),
        }  # fmt: skip

    @property
    def report(self) -> Report:
        report = build_report(
            replace(self.study, signature_entries=self.signature_entries()), [self]
        )
        waiting = not self.outcome and not any(line.verdict == ERROR for line in self.records)
        result = ProvisionalGateResult("not yet", 5) if waiting else None
        return replace(
            report, checks=self.checks, make_changed_tasks=self.changed_tasks, provisional=result
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "less than 1 %"


def _level_words(level: float) -> str:
    """A confidence level in percent, with two significant digits of the distance to 100 %.

    >>> _level_words(0.97345), _level_words(1 - 7.6e-6)
    ('97.3 %', '99.99924 %')
    """
    complement = 100 * (1 - level)
    return f"{100 - complement:.{max(1 - math.floor(math.log10(complement)), 1)}f} %"


class WatchRunner(CommandRunner, WatchOptions):
    """Reads the run of `passk watch` and computes the report."""

    sections = (WatchedRuleTable,)

    @classmethod
    def parse_options(
        cls, values: Mapping[str, Any], source: Any, *, requires_data: bool
    ) -> tuple[Self, SharedOptions]:
        """Create the runner of the command, with the options of a suite if --rules names a file.

        Errors: ParameterError if there are neither result files nor a rules file, or if options
            contradict each other.
        """
        skipped: list[str] = []
        names = "rules", "suite", "trust_rules"
        given = fill_options(WatchOptions, {name: values.get(name) for name in names})
        if given.rules is not None:
            entry = _suite_entry(given.rules, given.suite, given.trust_rules)
            suite_options = {
                k: v for k, v in entry.values.items() if k not in _GATE_ONLY_SUITE_FIELDS
            }
            overrides = {name: value for name, value in values.items() if is_given(value)}
            skipped = [
                k for name, k in _UNWATCHED_RULES.items() if is_given(entry.values.get(name))
            ]
            source = entry.values["runs"] if source is None else source
            values = {**suite_options, **overrides}
        raise_parameter_error_if_any("contradicting-options", (
            given.rules is None and given.suite is not None,
            OptionWithValue("--suite", given.suite),
            "this option selects a suite of a rules file, but no rules file is given",
            (SuggestedFix({"--rules": Placeholder("FILE")}, "names the file"),),
        ))  # fmt: skip
        question, options = super().parse_options(values, source, requires_data=True)
        if given.rules is not None:
            refused_uses = {
                "by": options.request.by, "cluster": options.confidence.cluster,
                "population": options.confidence.population != NEW_TASKS,
                "min-by": question.min_by != BY_INTERVAL,
            }  # fmt: skip
            for name in filter(refused_uses.get, refused_uses):
                raise entry.error_with_line(
                    ParameterError(f"{name}: {REFUSED_GATE_OPTIONS[name]}", name="bad-rules")
                )
            quarantine = tuple(flaky.task for flaky in entry.suite.active_quarantine)
            question = replace(question, quarantine=quarantine, skipped_rules=tuple(skipped))
        question.gate_runner(options).require_rules()
        raise_parameter_error_if_any(
            "contradicting-options",
            (question.follow and options.is_readable_only_once, OptionWithValue("--follow"),
             "passk cannot read a pipe twice; name a file", ()),
            (question.planned is None and question.order == (COMPLETION_ORDER,),
             OptionWithValue("--order", COMPLETION_ORDER),
             "this order needs the number of planned tasks",
             (SuggestedFix({"--planned": Placeholder("N")}, "sets the number"),)),
        )  # fmt: skip
        return question, options

    def read_and_report(self, options: SharedOptions, read: ReadCountsFunction) -> Report:
        path = default_looks_path(options.files) if options.files and not self.looks else None
        path = Path(self.looks) if self.looks else path
        with exclusive_lock(path):
            if not self.follow:
                return self._make_due_looks(options, read, path).report
            return self._follow(options, read, path)

    def _follow(
        self, options: SharedOptions, read: ReadCountsFunction, path: Path | None
    ) -> Report:
        """Repeat interim looks until one of the looks gives the run a verdict.

        If passk cannot read a file, the file may be incomplete, so passk waits before it raises an
        error.
        """
        words = "waiting for results"
        while True:
            before, patience, problem = _file_states(options.files), math.inf, None
            try:
                table = self._make_due_looks(options, read, path)
                if not table.report.provisional:
                    return table.report
                words = table.follow_status_line
            except DataError as error:
                if error.name in _FINAL_ERRORS:
                    raise
                if error.name not in _NO_RESULTS_YET:
                    problem, patience = error, _MAX_PAUSES
            with report_activity(lambda words=words: words):  # type: ignore[misc]
                while _file_states(options.files) == before:
                    if patience <= 0 and problem is not None:
                        raise problem
                    time.sleep(_PAUSE_SECONDS)
                    patience -= 1

    def _make_due_looks(
        self, options: SharedOptions, read: ReadCountsFunction, path: Path | None
    ) -> WatchedRuleTable:
        def read_run(request: Request, source: Any = None, /) -> Counts:
            counts = read(request, options.source if source is None else source)
            return counts.without_tasks(self.quarantine)

        gate = self.gate_runner(options)
        study = gate.read_analysis(options, read_run)
        order = InterimLookCountingOrder.from_options(
            self.order, study.counts, self.quarantine, self.planned, self.attempts
        )
        if study.baseline is None:
            # passk chooses the metrics from the complete tasks, because incomplete tasks must not
            # limit k.
            n, c = study.counts.n, study.counts.c
            is_full = n == self.attempts
            if is_full.any() and not options.metric_options.k:
                full = study.counts.with_fewer_attempts(n * is_full, c * is_full)
                study = replace(study, metrics=options.metric_options.choose(full))
        sides = gate.gate_context(study).baseline_match
        models = {series[0] for series in sides.series}
        total_tasks = self.planned or len(order.task_names)
        level = study.confidence.level
        plan = WatchPlan.from_options(total_tasks, self.attempts, self.every, level)
        looks = InterimLooksRecord.from_file(
            path, self._plan_settings(gate, study, plan, order.order_source, models)
        )
        if order.order_source == COMPLETION_ORDER:
            counts_by_line = read_run(replace(gate.request(options), attempts=("line",)))
            order = InterimLookCountingOrder(
                looks.counted_task_names,
                COMPLETION_ORDER,
                last_attempt_file_positions(counts_by_line, models),
            )
        attempts_made = attempt_counts_by_task_and_model(sides.counts, models)
        order.refuse_unplanned_attempts(attempts_made, self.attempts)
        run, recorded_looks = WatchedRun(gate, study, plan, order, attempts_made), looks.looks
        if recorded_looks:
            tasks = recorded_looks[-1].tasks
            looks.require_unchanged_outcomes(
                run.progress, lambda: outcome_digest(run.counts_of_first_tasks(tasks))
            )
        reached = sum(
            size <= run.progress.complete_task_count_from_start
            for size in plan.task_counts_at_looks
        )
        while not (outcome := run.outcome(recorded_looks)) and len(recorded_looks) < reached:
            is_last = len(recorded_looks) == reached - 1
            recorded_looks.append(run.make_next_look(recorded_looks, forecast=is_last))
        looks.write(run.progress.tasks_in_counting_order)
        judged = JudgedRun(gate, gate.gate_context(study))
        if recorded_looks:
            judged = run.judge_at_deciding_or_last_look(recorded_looks)
        return WatchedRuleTable(
            study, judged.report_rows, [judged], run=run, looks=recorded_looks, outcome=outcome,
            skipped_rules=self.skipped_rules, looks_path=None if self.looks else path,
        )  # fmt: skip

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        InterimLookCountingOrder.from_options(self.order, counts, self.quarantine, self.planned)

    def gate_runner(self, options: SharedOptions) -> GateRunner:
        """A runner of passk gate with the same rules, in which baseline tasks may be missing.

        Errors: ParameterError for a metric that needs more attempts per task than planned.
        """
        names = {option.name for option in fields(GateOptions)} - {"attempts", "rules"}
        rule_options = {name: getattr(self, name) for name in names if hasattr(self, name)}
        gate = GateRunner(**rule_options, unpaired="drop")
        for metric in gate.metrics_of_all_rules(options.metric_options.metrics):
            refuse_range_valued_metrics([metric], "--min")
            if metric.k > self.attempts:
                raise ParameterError(
                    f"{metric.name} needs {plural(metric.k, 'attempt')} per task, but the plan has"
                    f" {self.attempts}", name="too-few-attempts",
                    settles=[SuggestedFix({"--attempts": Placeholder("N")}, "plans more attempts")],
                )  # fmt: skip
        return gate

    def _plan_settings(
        self, gate: GateRunner, study: Analysis, plan: WatchPlan, kind: str,
        models: Collection[str],
    ) -> Mapping[str, Any]:  # fmt: skip
        rules = {k: str(v) for rule in gate.active_rules for k, v in rule.signature.items()}
        base = self.baseline if study.baseline is None else outcome_digest(study.baseline)
        general = any(rule.uses_general_metrics for rule in gate.active_rules)
        return {
            "planned": plan.total_tasks, "attempts": plan.attempts_per_task,
            "every": plan.tasks_between_looks,
            "level": plan.level, "interval": study.confidence.method_name, "order": kind,
            "rules": rules, "baseline": base, "models": sorted(models),
            "metrics": [metric.name for metric in study.metrics] if general else [],
        }  # fmt: skip


def _file_states(files: Sequence[str]) -> list[tuple[str, int, int]]:
    states = []
    with suppress(PasskError):
        for file in sorted(resolved_file_paths(files)):
            with suppress(OSError):
                status = os.stat(file)
                states.append((file, status.st_size, status.st_mtime_ns))
    return states


def _suite_entry(path: str, name: str | None, trusted: bool) -> SuiteEntry:
    """The suite with this name in a rules file or, if no name is given, the only suite."""
    book = read_rulebook(path, None, trusted=trusted)
    entries = {} if book is None else {entry.suite.name: entry for entry in book.suite_entries}
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    if name is None:
        raise ParameterError(
            f"{path}: the file has several suites, but passk watch can use only one suite",
            name="no-such-suite",
            settles=[SuggestedFix({"--suite": suite_name}) for suite_name in entries],
        )  # fmt: skip
    if name not in entries:
        problem = f"{path} has no such suite; {did_you_mean_or_list(name, entries)}"
        raise ParameterError(OptionWithValue("--suite", name), problem, name="no-such-suite")
    return entries[name]
