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
from passk_cli.commands.gate.question import GateQuestion
from passk_cli.commands.gate.rulebook import SuiteEntry, read_rulebook
from passk_cli.commands.gate.rules import BY_INTERVAL, is_given
from passk_cli.commands.gate.view import RuleTable
from passk_cli.commands.question import Question, ReadCounts, SharedOptions
from passk_cli.commands.watch import COMPLETION, REFUSED, WatchOptions
from passk_cli.commands.watch.interim_looks import (
    InterimLook,
    InterimLooks,
    WatchPlan,
    default_looks_path,
    exclusive_lock,
    outcome_digest,
)
from passk_cli.commands.watch.order import (
    DATASET,
    LIST,
    RunProgress,
    TaskOrder,
    attempts_by_task,
    last_attempt_positions,
)
from passk_cli.commands.watch.run import WatchedRun
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, PasskError, refuse_if_any
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import real_paths
from passk_cli.inference.alpha_spending import level_at_boundary
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.option import fill_options
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    AnswerSentence,
    Column,
    OptionHint,
    ProvisionalResult,
    Report,
    Table,
)
from passk_cli.report.phrases import number_range, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.metric_selection import refuse_ranged_metrics
from passk_cli.study.result import Result
from passk_cli.study.section import build_report, data_field
from passk_cli.study.significance_options import ERROR, FAIL, PASS
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

# passk watch does not check the rules in _NOT_WATCHED, because these rules are about single tasks.
_NOT_WATCHED = {"must_pass": "must-pass", "min_each": "min-each"}
# Only passk gate uses the fields of a rules file that are in _GATE_ONLY.
_GATE_ONLY = (*_NOT_WATCHED, "must_pass_rate", "runs", "unpaired", "first", "tier")
# After an error in _FINAL_ERRORS, --follow stops at once. In contrast, --follow waits while a run
# has no results, and waits for five pauses if a file is unreadable.
_FINAL_ERRORS = ("other-run", "other-plan", "bad-looks", "nothing-to-compare")
_NO_RESULTS_YET, _MAX_PAUSES = ("no-such-file", "no-results", "no-attempts"), 5
_PAUSE = 0.5
_GATE_MESSAGES = ("baseline-tasks-not-run", "rule-cannot-decide")

STOPPED_EARLY = DiagnosticType(
    "stopped-early", NOTE,
    "the run was decided {left:task} before the end, so the estimate tends to be too far from its"
    " limit",
    meaning="The run was decided at an interim look, before all planned tasks were complete.",
    why="A run is more likely to stop early if chance moved the estimate away from the limit. In"
    " simulations with a true rate of 0.064, the mean estimate at the end was 0.072, and 0.087 in"
    " runs that stopped early (benchmarks/watch.md). The early stop does not change the confidence"
    " level of the verdict.",
    advice="If you report the estimate, also report that the run was stopped early, or complete the"
    " plan.",
    example="passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks tau.looks\n"
    "note[stopped-early]: the run was decided 11 tasks before the end, so the estimate tends to be"
    " too far from its limit",
)  # fmt: skip
ORDER_OF_COMPLETION = DiagnosticType(
    "order-of-completion", WARNING,
    "tasks are counted in the order of completion, so early looks are too optimistic if failures"
    " take longer",
    meaning="With `--order completion`, a look counts the tasks that were completed first.",
    why="A look is valid only if the outcomes do not influence which tasks it counts. In runs with"
    " slower failures than passes, pass@1 of the first half of the tasks was 4 to 10 points too"
    " high.",
    advice="Draw the order of the tasks before the run, and name its file with `--order FILE`.",
    example="passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2"
    " --order completion --looks tau.looks\n"
    "warning[order-of-completion]: tasks are counted in the order of completion, so early looks are"
    " too optimistic if failures take longer",
)  # fmt: skip
NOT_WATCHED = DiagnosticType(
    "rules-not-watched", NOTE, "passk watch does not judge these rules of the suite: {rules}",
    "judge the complete run with passk gate",
    meaning="The suite has rules about single tasks, for example must-pass. An interim look"
    " judges only means over tasks.",
    why="A run that passes passk watch can still fail these rules.",
    advice="Judge the complete run with `passk gate --rules FILE`.",
    example="note[rules-not-watched]: passk watch does not judge these rules of the suite:"
    " must-pass; judge the complete run with passk gate",
)  # fmt: skip
SHORT_OF_PLAN = DiagnosticType(
    "short-of-plan", NOTE,
    "{short:task} {short:is|are} not counted, with only {made} of {attempts} planned attempts",
    meaning="All tasks of the plan have attempts, but some tasks have fewer attempts than"
    " --attempts requires.",
    why="passk counts neither an incomplete task nor later tasks until all planned attempts are"
    " made.",
    advice="Complete the attempts. If attempts failed to start, run these attempts again. If you"
    " change --attempts, you change the plan, so begin a new looks file.",
    example="note[short-of-plan]: 1 task is not counted, with only 3 of 4 planned attempts",
)  # fmt: skip
WAITING_FOR = DiagnosticType(
    "waiting-for-task", NOTE,
    "{behind:complete task} {behind:waits|wait} for task {task}, which comes earlier in the order",
    meaning="An interim look counts only the tasks before the first incomplete task of the order."
    " The task in the message is incomplete, but later tasks are complete.",
    why="A look that skipped slow tasks would count too many easy tasks.",
    advice="Check whether the task hangs or was never started. If you must leave the task out, use"
    " `--exclude-task TASK` with a new looks file.",
    example="note[waiting-for-task]: 31 complete tasks wait for task t08, which comes earlier in"
    " the order",
)  # fmt: skip


NOT_YET = Answer(
    "not-yet",
    lambda section: not section.outcome,
    "NOT YET: {done} of {planned:task} complete{?chance|; {chance} chance of a decision by the"
    " end}; {look} look at {next} tasks",
)
_AFTER_TASKS = "After {looked} of {planned:task}, "


@dataclass(frozen=True)
class LookTable(RuleTable):
    """One row per rule, at the interim look that decided the rule, or at the last look.

    outcome : PASS, FAIL or END, or "" if the run is not decided.
    skipped_rules : rules of the rules file that passk watch does not judge.
    path : path of the looks file, if --looks does not name the file.
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
    path: Path | None = None

    @property
    def tasks(self) -> int:
        return self.looks[-1].tasks if self.looks else 0

    @property
    def chance(self) -> float | None:
        return self.looks[-1].chance if self.looks else None

    @property
    def progress(self) -> RunProgress:
        return self.run.progress

    def facts(self) -> Sequence[Result]:
        plan, rows = self.run.plan, []
        limits = dict(zip(plan.look_sizes, plan.boundaries, strict=True))
        for row in super().facts():
            limit = limits.get(row.size.tasks or 0, math.inf)
            more = {
                **row.more, "planned": plan.total_tasks, "looks": len(self.looks),
                "boundary": None if math.isinf(limit) else limit, "chance": self.chance,
            }  # fmt: skip
            rows.append(replace(row, more=more))
        return rows

    def answer(self) -> Iterator[AnswerSentence]:
        if not self.outcome:
            yield NOT_YET.sentence_about(self)
            return
        for sentence in super().answer():
            yield sentence.with_prefix(_AFTER_TASKS, **self.fields)

    @property
    def fields(self) -> Mapping[str, Any]:
        plan = self.run.plan
        return {
            "looked": self.tasks, "planned": plan.total_tasks, "done": self.progress.countable,
            "chance": "" if self.chance is None else _percent(self.chance),
            "next": next((size for size in plan.look_sizes if size > self.tasks), None),
            "look": "next" if self.looks else "first",
        }  # fmt: skip

    @property
    def progress_line(self) -> str:
        numbers = [
            f"{line.fact.name} {number.value:.3f} [{number.low:.3f}, {number.high:.3f}]"
            for line in self.records
            if None not in ((number := line.fact.estimate).value, number.low, number.high)
        ]
        state = "".join(map(str, NOT_YET.sentence_about(self))).removeprefix("NOT YET: ")
        return " · ".join([state, *numbers[:2]])

    def context(self) -> Iterator[str | OptionHint]:
        plan = self.run.plan
        size = f"{plural(self.tasks, 'task')} × {plural(plan.attempts, 'attempt')}"
        yield f"look {len(self.looks)} of {len(plan.look_sizes)}{f': {size}' * bool(self.looks)}"
        if self.looks:
            limit, all_looks = plan.boundaries[len(self.looks) - 1], f"{100 * plan.level:g} %"
            at = "too early"
            if math.isfinite(limit):
                at = f"{_level_words(level_at_boundary(limit))} at this look"
            yield f"{at}, {all_looks} over all looks"
        order = {LIST: "order as given", DATASET: "order of the dataset"}
        yield order.get(self.run.order.kind, "order of completion")
        if self.looks and self.path is not None:
            yield f"looks in {self.path}"
        if self.outcome:
            yield from (part for part in super().context() if str(part).startswith("undecided"))

    def messages(self) -> Iterator[Diagnostic]:
        progress, remaining = self.progress, self.run.plan.total_tasks - self.tasks
        if self.run.order.kind == COMPLETION:
            yield ORDER_OF_COMPLETION()
        attempts_made, plan = self.run.attempts_made, self.run.plan
        fewest = [min(by_model.values()) for by_model in attempts_made.values()]
        short = [n for n in fewest if n < plan.attempts]
        if short and len(attempts_made) >= plan.total_tasks and not self.outcome:
            few = number_range(min(short), max(short))
            yield SHORT_OF_PLAN(short=len(short), made=few, attempts=plan.attempts)
        if progress.waiting and not self.outcome:
            yield WAITING_FOR(behind=progress.waiting, task=progress.tasks[progress.countable])
        if remaining and self.outcome in (PASS, FAIL):
            yield STOPPED_EARLY(left=remaining)
        if self.skipped_rules:
            yield NOT_WATCHED(rules=self.skipped_rules)
        yield from (message for message in super().messages() if message.name not in _GATE_MESSAGES)

    def tables(self) -> Iterator[Table]:
        yield from super().tables() if self.records else ()

    def decided(self) -> dict[str, object]:
        plan = self.run.plan
        return {
            **super().decided(), "planned": plan.total_tasks, "attempts": plan.attempts,
            "every": plan.step, "order": self.run.order.kind, "looks": len(self.looks),
        }  # fmt: skip

    @property
    def report(self) -> Report:
        report = build_report(replace(self.study, decided=self.decided()), [self])
        waiting = not self.outcome and not any(line.verdict == ERROR for line in self.records)
        result = ProvisionalResult("not yet", 5) if waiting else None
        return replace(report, checks=self.checks, changes=self.changes, provisional=result)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "less than 1 %"


def _level_words(level: float) -> str:
    """A confidence level in percent, with two significant digits of its difference from 100 %.

    >>> _level_words(0.97345), _level_words(1 - 7.6e-6)
    ('97.3 %', '99.99924 %')
    """
    complement = 100 * (1 - level)
    return f"{100 - complement:.{max(1 - math.floor(math.log10(complement)), 1)}f} %"


class WatchQuestion(Question, WatchOptions):
    """The question of `passk watch`."""

    sections = (LookTable,)

    @classmethod
    def ask(
        cls, values: Mapping[str, Any], source: Any, *, requires_data: bool
    ) -> tuple[Self, SharedOptions]:
        """Create the question about a run, with the options of a suite if --rules names a file.

        Errors: ParameterError if there are neither result files nor a rules file, or if options
            contradict each other.
        """
        skipped: list[str] = []
        names = "rules", "suite", "trust_rules"
        given = fill_options(WatchOptions, {name: values.get(name) for name in names})
        if given.rules is not None:
            entry = _suite_entry(given.rules, given.suite, given.trust_rules)
            suite_options = {k: v for k, v in entry.values.items() if k not in _GATE_ONLY}
            overrides = {name: value for name, value in values.items() if is_given(value)}
            skipped = [k for name, k in _NOT_WATCHED.items() if is_given(entry.values.get(name))]
            source = entry.values["runs"] if source is None else source
            values = {**suite_options, **overrides}
        refuse_if_any("contradicting-options", (
            given.rules is None and given.suite is not None, OptionValue("--suite", given.suite),
            "this option selects a suite of a rules file, but no rules file is given",
            (SuggestedFix({"--rules": Placeholder("FILE")}, "names the file"),),
        ))  # fmt: skip
        question, options = super().ask(values, source, requires_data=True)
        if given.rules is not None:
            refused_uses = {
                "by": options.request.by, "cluster": options.confidence.cluster,
                "population": options.confidence.population != NEW_TASKS,
                "min-by": question.min_by != BY_INTERVAL,
            }  # fmt: skip
            for name in filter(refused_uses.get, refused_uses):
                raise entry.refused(ParameterError(f"{name}: {REFUSED[name]}", name="bad-rules"))
            quarantine = tuple(flaky.task for flaky in entry.suite.quarantined)
            question = replace(question, quarantine=quarantine, skipped_rules=tuple(skipped))
        question.gate_with_rules(options).require_rules()
        refuse_if_any(
            "contradicting-options",
            (question.follow and options.read_once, OptionValue("--follow"),
             "passk cannot read a pipe twice; name a file", ()),
            (question.planned is None and question.order == (COMPLETION,),
             OptionValue("--order", COMPLETION), "this order needs the number of planned tasks",
             (SuggestedFix({"--planned": Placeholder("N")}, "sets the number"),)),
        )  # fmt: skip
        return question, options

    def report_from(self, options: SharedOptions, read: ReadCounts) -> Report:
        path = default_looks_path(options.files) if options.files and not self.looks else None
        path = Path(self.looks) if self.looks else path
        with exclusive_lock(path):
            if not self.follow:
                return self._make_due_looks(options, read, path).report
            return self._follow(options, read, path)

    def _follow(self, options: SharedOptions, read: ReadCounts, path: Path | None) -> Report:
        """Look again until a look decides the run. Files that passk cannot read may be
        incomplete."""
        words = "waiting for results"
        while True:
            before, patience, problem = _file_states(options.files), math.inf, None
            try:
                table = self._make_due_looks(options, read, path)
                if not table.report.provisional:
                    return table.report
                words = table.progress_line
            except DataError as error:
                if error.name in _FINAL_ERRORS:
                    raise
                if error.name not in _NO_RESULTS_YET:
                    problem, patience = error, _MAX_PAUSES
            with report_activity(lambda words=words: words):  # type: ignore[misc]
                while _file_states(options.files) == before:
                    if patience <= 0 and problem is not None:
                        raise problem
                    time.sleep(_PAUSE)
                    patience -= 1

    def _make_due_looks(
        self, options: SharedOptions, read: ReadCounts, path: Path | None
    ) -> LookTable:
        def read_run(request: Request, source: Any = None, /) -> Counts:
            counts = read(request, options.source if source is None else source)
            return counts.without_tasks(self.quarantine)

        gate = self.gate_with_rules(options)
        study = gate.study(options, read_run)
        order = TaskOrder.from_options(
            self.order, study.counts, self.quarantine, self.planned, self.attempts
        )
        if study.baseline is None:
            # Incomplete tasks must not limit k, so the complete tasks set the metrics.
            n, c = study.counts.n, study.counts.c
            is_full = n == self.attempts
            if is_full.any() and not options.metrics.k:
                full = study.counts.resized(n * is_full, c * is_full)
                study = replace(study, metrics=options.metrics.choose(full))
        sides = gate.gate_context(study).sides
        models = {series[0] for series in sides.series}
        total_tasks = self.planned or len(order.tasks)
        level = study.confidence.level
        plan = WatchPlan.from_options(total_tasks, self.attempts, self.every, level)
        looks = InterimLooks.from_file(path, self._setup(gate, study, plan, order.kind, models))
        if order.kind == COMPLETION:
            counts_by_line = read_run(replace(gate.request(options), attempts=("line",)))
            order = TaskOrder(
                looks.tasks, COMPLETION, last_attempt_positions(counts_by_line, models)
            )
        attempts_made = attempts_by_task(sides.counts, models)
        order.require_planned(attempts_made, self.attempts)
        run, recorded_looks = WatchedRun(gate, study, plan, order, attempts_made), looks.looks
        if recorded_looks:
            tasks = recorded_looks[-1].tasks
            looks.require_same(run.progress, lambda: outcome_digest(run.first_counts(tasks)))
        reached = sum(size <= run.progress.countable for size in plan.look_sizes)
        while not (outcome := run.outcome(recorded_looks)) and len(recorded_looks) < reached:
            is_last = len(recorded_looks) == reached - 1
            recorded_looks.append(run.next_look(recorded_looks, forecast=is_last))
        looks.write(run.progress.tasks)
        judged = JudgedRun(gate, gate.gate_context(study))
        if recorded_looks:
            judged = run.judged_at_looks(recorded_looks)
        return LookTable(
            study, judged.rows, [judged], run=run, looks=recorded_looks, outcome=outcome,
            skipped_rules=self.skipped_rules, path=None if self.looks else path,
        )  # fmt: skip

    def require(self, options: SharedOptions, counts: Counts) -> None:
        TaskOrder.from_options(self.order, counts, self.quarantine, self.planned)

    def gate_with_rules(self, options: SharedOptions) -> GateQuestion:
        """A gate with the same rules, which allows missing baseline tasks.

        Errors: ParameterError for a metric that needs more attempts per task than planned.
        """
        names = {option.name for option in fields(GateOptions)} - {"attempts", "rules"}
        rule_options = {name: getattr(self, name) for name in names if hasattr(self, name)}
        gate = GateQuestion(**rule_options, unpaired="drop")
        for metric in gate.needed_metrics(options.metrics.metrics):
            refuse_ranged_metrics([metric], "--min")
            if metric.k > self.attempts:
                raise ParameterError(
                    f"{metric.name} needs {plural(metric.k, 'attempt')} per task, but the plan has"
                    f" {self.attempts}", name="too-few-attempts",
                    settles=[SuggestedFix({"--attempts": Placeholder("N")}, "plans more attempts")],
                )  # fmt: skip
        return gate

    def _setup(
        self, gate: GateQuestion, study: Analysis, plan: WatchPlan, kind: str,
        models: Collection[str],
    ) -> Mapping[str, Any]:  # fmt: skip
        rules = {k: str(v) for rule in gate.active_rules for k, v in rule.signature.items()}
        base = self.baseline if study.baseline is None else outcome_digest(study.baseline)
        general = any(rule.general for rule in gate.active_rules)
        return {
            "planned": plan.total_tasks, "attempts": plan.attempts, "every": plan.step,
            "level": plan.level, "interval": study.confidence.method_name, "order": kind,
            "rules": rules, "baseline": base, "models": sorted(models),
            "metrics": [metric.name for metric in study.metrics] if general else [],
        }  # fmt: skip


def _file_states(files: Sequence[str]) -> list[tuple[str, int, int]]:
    states = []
    with suppress(PasskError):
        for file in sorted(real_paths(files)):
            with suppress(OSError):
                status = os.stat(file)
                states.append((file, status.st_size, status.st_mtime_ns))
    return states


def _suite_entry(path: str, name: str | None, trusted: bool) -> SuiteEntry:
    """The suite with this name in a rules file or, without a name, the only suite."""
    book = read_rulebook(path, None, trusted=trusted)
    entries = {} if book is None else {entry.suite.name: entry for entry in book.entries}
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
        raise ParameterError(OptionValue("--suite", name), problem, name="no-such-suite")
    return entries[name]
