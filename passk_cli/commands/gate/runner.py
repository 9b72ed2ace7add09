"""The runner of `passk gate`, which reads a run and its baseline and judges all rules."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from passk_cli.commands.gate import GateOptions
from passk_cli.commands.gate.baseline_match import SELF_BASELINE_LABEL, BaselineMatch
from passk_cli.commands.gate.context import GateContext, JudgedRun
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rulebook import FILE, Rulebook, read_rulebook
from passk_cli.commands.gate.rules import (
    BY_INTERVAL,
    BaselineRule,
    BaselineTasksPresentRule,
    ExpectedAttemptCountRule,
    GateRule,
)
from passk_cli.commands.gate.simulation import RuleRehearsalTable, rehearse
from passk_cli.commands.gate.suites import SuiteDeclarationTable, report_on_suites
from passk_cli.commands.gate.view import RuleTable
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.diagnostic import DiagnosticType
from passk_cli.errors import DataError, ParameterError, PasskError, raise_parameter_error_if_any
from passk_cli.files.database import quote_name_if_needed
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import is_existing_data_argument, paths_in_data
from passk_cli.limits import MOST_GROUPS
from passk_cli.metrics.registry import Metric, required_attempt_data, uses_only_scores
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import ProvisionalGateResult, Report, Sentence
from passk_cli.study.analysis import Analysis
from passk_cli.study.baseline import FilesOfRunAndBaseline, select_models
from passk_cli.study.history import (
    missing_last_runs_suffix_error,
    parse_last_runs,
    read_pooled_baseline,
    refuse_same_file,
)
from passk_cli.study.metric_selection import is_corrected_for_judge_errors
from passk_cli.study.section import build_report
from passk_cli.study.significance_options import ALL
from passk_cli.study.values import require_monotone
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# passk looks for error messages of attempts in a column with one of the names in
# _ERROR_MESSAGE_COLUMN_NAMES.
_ERROR_MESSAGE_COLUMN_NAMES = ("error", "errors", "error_message", "exception")


class GateRunner(CommandRunner, GateOptions):
    """Judges the rules of `passk gate` and computes its report."""

    sections = (RuleTable, RuleRehearsalTable, SuiteDeclarationTable)
    label_refusal = ""
    label_refusal_by_option: ClassVar[Mapping[str, str]] = {
        "--must-pass": "labels cannot correct the outcomes of single tasks",
        "--min-each": "labels cannot correct the outcomes of single tasks",
        "--rehearse": "a rehearsal cannot simulate labels",
    }
    max_groups = MOST_GROUPS

    @classmethod
    def parse_options(
        cls, values: Mapping[str, Any], source: Any, *, requires_data: bool
    ) -> tuple[Self, SharedOptions]:
        """Create the runner for one run, or for the suites of a rules file.

        Errors: ParameterError if there is neither a result file nor a rules file, or if both are
            given.
        """
        question, options = super().parse_options(values, source, requires_data=False)
        if source is not None:
            of_suites = {"--rules": question.rules, "--tier": question.tier,
                         "--check": question.check, "--trust-rules": question.trust_rules,
                         }  # fmt: skip
            raise_parameter_error_if_any("contradicting-options", *(
                (value, OptionWithValue(option),
                 "a rules file names the files to judge; leave out FILE",
                 (SuggestedFix({option: None}, "judges FILE"),) * question.has_rule_set_by_options)
                for option, value in of_suites.items()
            ))  # fmt: skip
            question.require_rules()
            return question, options
        book = read_rulebook(question.rules, question.tier, trusted=question.trust_rules)
        if book is None:
            raise ParameterError(
                f"no files are given, and there is no {FILE} in this folder; name files",
                name="no-files",
                settles=[SuggestedFix({"--rules": Placeholder("FILE")}, "names a rules file")],
            )
        return replace(
            question, rulebook=book.with_gate_runners(super().parse_options, values)
        ), options

    @classmethod
    def declared_messages(cls) -> dict[str, DiagnosticType]:
        modules = {cls.__module__, *(section.__module__ for section in cls.sections)}
        names = [value for module in modules for value in vars(sys.modules[module]).values()]
        return {message.name: message for message in names if isinstance(message, DiagnosticType)}

    @property
    def additional_input_files(self) -> list[str]:
        entries = self.rulebook.suite_entries if self.rulebook else ()
        files = [
            f
            for e in entries
            for f in (*e.shared_options.files, *paths_in_data(e.gate_runner.baseline))
        ]
        files += (
            [self.rulebook.trend_entry.history]
            if self.rulebook and self.rulebook.trend_entry
            else []
        )
        return [file for file in files if is_existing_data_argument(file)]

    def read_and_report(self, options: SharedOptions, read: ReadCountsFunction) -> Report:
        if self.rulebook is not None:
            return report_on_suites(self, self.rulebook, read)
        gate = self.runner_without_baseline_rules(options, read) if self.first_run else self
        if gate is None:
            raise self.first_run_option_error()
        return super(GateRunner, gate).read_and_report(options, read)

    @cached_property
    def active_rules(self) -> list[GateRule]:
        """The rules that the options set, and the rules that are always active."""
        kinds = [kind for kind in GateOptions.__bases__ if issubclass(kind, GateRule)]
        rules = [kind(**{f.name: getattr(self, f.name) for f in fields(kind)}) for kind in kinds]
        return [rule for rule in rules if rule.is_active]

    @property
    def needs_baseline(self) -> bool:
        return any(rule.compares_with_baseline for rule in self.active_rules)

    @property
    def names_awaiting_baseline(self) -> list[Sentence]:
        return [
            words for rule in self.rules_awaiting_baseline for words in rule.names_awaiting_baseline
        ]

    def runner_without_baseline_rules(
        self, options: SharedOptions, read: ReadCountsFunction
    ) -> GateRunner | None:
        """The gate without the rules that need a baseline, or None if the baseline exists."""
        if parse_last_runs(self.baseline):
            try:
                request = _history_request(self.request(options))
                read_pooled_baseline(read, request, self.baseline, self.skip_run)
                return None
            except DataError as error:
                if error.name != "no-history-yet":
                    raise
        elif not self.baseline or all(map(is_existing_data_argument, paths_in_data(self.baseline))):
            return None
        later = [rule for rule in self.active_rules if isinstance(rule, BaselineRule)]
        return replace(
            self,
            baseline=None,
            max_drop={},
            max_increase={},
            no_regression=False,
            rules_awaiting_baseline=later,
        )

    def first_run_option_error(self) -> ParameterError:
        settle = SuggestedFix({"--first-run": None}, "compares with the baseline")
        problem = "this option is for a run without a baseline, but the baseline exists"
        if self.baseline is None and self.rulebook is None:
            settle = SuggestedFix({"--baseline": Placeholder("FILE")}, "names this baseline")
            problem = "this option needs --baseline, which names the baseline of later runs"
        place, name = OptionWithValue("--first-run"), "contradicting-options"
        return ParameterError(place, problem, name=name, settles=[settle])

    def request(self, options: SharedOptions) -> Request:
        general = options.metric_options.metrics
        metrics = self.metrics_of_all_rules(general)
        standard = any(rule.uses_general_metrics for rule in self.active_rules) and not general
        scores_only = uses_only_scores(metrics) and not standard
        attempts = required_attempt_data(metrics)
        return replace(super().request(options), attempts=attempts, scores_only=scores_only)

    def metrics_of_all_rules(self, general: Sequence[Metric]) -> tuple[Metric, ...]:
        """All metrics that the rules need. Metrics of rules about the baseline come first."""
        rule_metrics = [m for rule in reversed(self.active_rules) for m in rule.option_metrics]
        more = general if any(rule.uses_general_metrics for rule in self.active_rules) else ()
        return tuple(dict.fromkeys((*rule_metrics, *more)))

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        """Read the new run, and the baseline if it is another file or a history.

        Errors: DataError if a file cannot be read. ParameterError if options contradict the data.
        """
        confidence = options.confidence.require_intervals()
        history = parse_last_runs(self.baseline)
        runs = FilesOfRunAndBaseline.from_arguments(
            options.files, None if history else self.baseline
        )
        request = self.request(options)
        baseline = past = None
        if history and (request.has_correcting_labels or request.truth_from is not None):
            problem = "a history contains no labels; compare with a file of attempts"
            raise ParameterError(OptionWithValue("--baseline"), problem, name="no-labels")
        if history:
            refuse_same_file(options.files, history[0])
            counts = read(request, runs.files)
            try:
                past_request = _history_request(request)
                past = read_pooled_baseline(read, past_request, self.baseline, self.skip_run)
            except PasskError as error:
                error.fixes = runs.applicable_fixes(error.fixes, read, request)
                raise
            baseline = past.counts
        elif runs.baseline is None:
            counts = read(request.with_additional_model(self.baseline), runs.files)
        else:
            counts = read(request, runs.files)
            try:
                baseline = runs.read_baseline(read, request)
            except DataError as error:
                raise missing_last_runs_suffix_error(read, runs.baseline) or error from None
        if self.max_errors is not None:
            counts = _add_error_outcome_facts(counts, request, read, runs.files)
        # passk chooses the metrics from the baseline, because a new run that lost attempts would
        # have fewer metrics.
        reference = baseline if past is None else past.latest_run_counts
        metrics = options.metric_options.choose(counts if reference is None else reference)
        if baseline is not None:
            baseline = select_models(baseline, request)
        return Analysis(
            counts, metrics, confidence, replace(options.comparison_options, family=ALL),
            options.metric_options.short_tasks, baseline=baseline, pooled_baseline=past,
            reading_messages=runs.notes,
        )  # fmt: skip

    def report(self, study: Analysis) -> Report:
        """Judge all candidates by all rules, and report the verdicts.

        If a rule cannot be checked, its row has the verdict "error", which fails the gate.
        Errors: ParameterError if no rule applies to the data.
        """
        run = JudgedRun(self, self.gate_context(study)).judge(study.confidence.level)
        if not run.report_rows:
            raise ParameterError(
                "no rule was checked: the new run and the baseline share no group",
                name="nothing-to-compare",
                settles=[SuggestedFix({"--by": None}, "compares the runs as a whole")],
            )
        return self.report_of_runs(run.context.study, [run])

    def report_of_runs(
        self, study: Analysis, runs: Sequence[JudgedRun], book: Rulebook | None = None,
        unread: Sequence[Judgement] = (),
    ) -> Report:  # fmt: skip
        """The report about judged runs.  unread : rows of suites that cannot be read."""
        if self.rehearse:
            section: RuleTable = rehearse(study, runs, self.max_false_alarms, book, unread)
        else:
            rows = [*(row for run in runs for row in run.report_rows), *unread]
            section = RuleTable(study, rows, runs, book)
        report = build_report(
            replace(study, signature_entries=section.signature_entries()), [section]
        )
        result = None
        if self.rehearse and self.max_false_alarms is None:
            result = ProvisionalGateResult("rehearsal", 0)
        return replace(
            report,
            checks=section.checks,
            make_changed_tasks=section.changed_tasks,
            provisional=result,
        )

    def gate_context(self, study: Analysis) -> GateContext:
        metrics = self.metrics_of_all_rules(study.metrics)
        confidence = study.confidence.with_methods_for_metrics(metrics)
        if is_corrected_for_judge_errors(study.counts):
            confidence = confidence.for_corrected_values()
        full_study = replace(study, metrics=metrics, confidence=confidence)
        if full_study.has_missing_outcome_ranges:
            full_study.confidence.require_valid_for_missing_outcomes()
            require_monotone(metrics)
        if self.rehearse and self.baseline is None and self.needs_baseline:
            sides = BaselineMatch.from_two_files(study.counts, study.counts, SELF_BASELINE_LABEL)
        else:
            sides = BaselineMatch.from_study(study, self.baseline)
        return GateContext(full_study, sides, study.metrics, self.unpaired, self.attempts)

    @property
    def has_rule_set_by_options(self) -> bool:
        """Whether the options set a rule in addition to the rules that are always active."""
        declared = self.attempts is not None and self.unpaired != "drop"
        automatic = BaselineTasksPresentRule, ExpectedAttemptCountRule
        return declared or not all(isinstance(rule, automatic) for rule in self.active_rules)

    def require_rules(self) -> None:
        """Raise a ParameterError if there is no rule, or if an option needs another option."""
        both_options = {"--no-regression": True, "--baseline": Placeholder("FILE")}
        differs = SuggestedFix({"--no-regression": True}, "compares with the baseline")
        if self.baseline is None:
            differs = SuggestedFix(both_options, "compares with another run")
        raise_parameter_error_if_any("no-rule", (
            not self.has_rule_set_by_options, "", "no rule to check",
            (SuggestedFix({"--min": {"pass@1": 0.8}}, "requires a pass rate"), differs),
        ))  # fmt: skip
        drops = (("--max-drop", self.max_drop), ("--max-increase", self.max_increase))
        differing = next((option for option, limits in drops if limits), "--no-regression")
        raise_parameter_error_if_any(
            "contradicting-options",
            (self.min_by != BY_INTERVAL and not self.minimum,
             OptionWithValue("--min-by"), "this option works only with a minimum",
             (SuggestedFix({"--min-by": None}),)),
            (self.max_false_alarms is not None and not self.rehearse,
             OptionWithValue("--max-false-alarms"), "this option works only with a rehearsal",
             (SuggestedFix({"--rehearse": True}, "adds a rehearsal"),)),
            (self.skip_run and not parse_last_runs(self.baseline), OptionWithValue("--skip-run"),
             "this option leaves out runs of a history, but the baseline is not a history",
             (SuggestedFix({"--skip-run": None}),)),
            (self.must_pass_rate != 1.0 and not self.must_pass,
             OptionWithValue("--must-pass-rate"),
             "this option works only with tasks that must pass",
             (SuggestedFix({"--must-pass": Placeholder("TASKS")}, "names the tasks"),)),
            (self.needs_baseline and self.baseline is None and not self.rehearse,
             OptionWithValue(differing), "this rule needs a baseline",
             (SuggestedFix({"--baseline": Placeholder("NAME")}, "names a file or a model"),)),
        )  # fmt: skip


def _history_request(request: Request) -> Request:
    return Request(
        by=request.by, cluster=request.cluster, attempts=request.attempts,
        missing_cost=request.missing_cost, alias=request.alias,
        exclude_tasks=request.exclude_tasks, only_tasks=request.only_tasks,
    )  # fmt: skip


def _add_error_outcome_facts(
    counts: Counts, request: Request, read: ReadCountsFunction, files: Sequence[str] | None
) -> Counts:
    columns = {name for file in counts.read_facts.file_readings for name in file.unused_columns}
    name = next((name for name in _ERROR_MESSAGE_COLUMN_NAMES if name in columns), None)
    if name is None:
        return counts
    has_error = f"length(trim(CAST({quote_name_if_needed(name)} AS VARCHAR))) > 0"
    where = f"({request.where}) AND {has_error}" if request.where else has_error
    try:
        erring = read(replace(request, where=where, attempts=()), files).missing_outcomes
    except DataError:
        return counts
    return replace(
        counts, read_facts=replace(counts.read_facts, error_counts_by_model_and_task=erring)
    )
