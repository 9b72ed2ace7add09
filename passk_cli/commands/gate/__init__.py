"""passk gate: rules for a pipeline, and an exit code."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.commands.gate.rules import (
    BY_INTERVAL,
    EveryAttempt,
    EveryTask,
    GateRule,
    MaxDrop,
    MinEach,
    Minimum,
    MustPass,
    NoRegression,
)
from passk_cli.errors import ParameterError
from passk_cli.files.request import BOUNDS, Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import ALL, FAIL, PASS, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


# The rules there are, in the order of their lines; each brings its options.
@dataclass(frozen=True)
class Gate(
    EveryTask, EveryAttempt, Minimum, MustPass, MinEach, NoRegression, MaxDrop, Question
):  # fmt: skip
    """Passes or fails CI by rules about a run, by exit code.

    Exit code: 0 no rule fails, 1 one fails, 3 none fails but one cannot be checked. A rule that the
    data do not decide counts as pass, unless --on-undecided fail. Rules are about the new run
    alone, or about changes from a baseline.

    Example: passk gate sample_data/tau_airline.csv --min pass@1=0.3

    Example: passk gate sample_data/agents.jsonl --baseline gpt-5.6-sol --max-drop pass@1=0.6
    """

    baseline: Annotated[
        DATA,
        Option(
            "--baseline", "FILE|NAME", "A file, label=path, or a model in the data.",
            file="read", of_models=True, detail="Several files are read together.",
        ),
    ] = None  # fmt: skip
    on_undecided: Annotated[
        str,
        Option("--on-undecided", help="Undecided rules count as", choices=(PASS, FAIL)),
    ] = PASS
    rehearse: Annotated[
        bool,
        Option(
            "--rehearse", help="How often this gate fails with nothing changed.",
            detail="Also the smallest drop that each rule detects, and which rules cannot pass"
            " or fail. Exits with 0, unless --max-false-alarms is exceeded; without --baseline the"
            " run is its own.",
        ),
    ] = False  # fmt: skip
    max_false_alarms: Annotated[
        float | None,
        Option(
            "--max-false-alarms", "SHARE", "--rehearse fails when the gate fails more often.",
            low=0.0, high=1.0,
            detail="The share of rehearsals with nothing changed in which the whole gate fails:"
            " above SHARE the exit code is 1.",
        ),
    ] = None  # fmt: skip

    @property
    def rules(self) -> list[GateRule]:
        """The rules that are asked for."""
        kinds = [kind for kind in Gate.__bases__ if issubclass(kind, GateRule)]
        every = [kind(**{f.name: getattr(self, f.name) for f in fields(kind)}) for kind in kinds]
        return [rule for rule in every if rule.wanted]

    def request(self, options: SharedOptions) -> Request:
        """The columns to read of the new run, with what its metrics need of attempts."""
        from passk_cli.metrics.registry import needs, scores_only

        general = options.metrics.metrics
        metrics = self.needed(general)
        standard = any(rule.general for rule in self.rules) and not general
        return replace(
            super().request(options),
            attempts=needs(metrics),
            scores_only=scores_only(metrics) and not standard,
        )

    def needed(self, general: Sequence[Metric]) -> tuple[Metric, ...]:
        """Every metric a rule needs.

        general : those that rules without metrics of their own are about.
        """
        # The metrics of rules about differences first.
        named = [metric for rule in reversed(self.rules) for metric in rule.named]
        more = general if any(rule.general for rule in self.rules) else ()
        return tuple(dict.fromkeys((*named, *more)))

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The new run, and the baseline where that is another file."""
        from passk_cli.study.baseline import Runs, only_models
        from passk_cli.study.study import Study

        self._check()
        confidence = options.confidence.required()
        runs = Runs.apart(options.files, self.baseline)
        request = self.request(options)
        baseline = None
        if runs.baseline is None:
            counts = read(request.keeping(self.baseline), runs.files)
        else:
            counts = read(request, runs.files)
            baseline = read(request.of_all_models(), runs.baseline)
        # The baseline says what has to be shown: a new run cut short must not ask for less.
        metrics = options.metrics.of(counts if baseline is None else baseline)
        if baseline is not None:
            baseline = only_models(baseline, request)
        study = Study(
            counts, metrics, confidence, replace(options.rules, family=ALL),
            options.metrics.short_tasks, baseline=baseline, reading=runs.notes,
        )  # fmt: skip
        if options.once or not self._asks_for_order(study, request):
            return study
        lines = replace(request, attempts=("line",))
        ordered = read(lines.keeping(self.baseline) if baseline is None else lines, runs.files)
        return replace(
            study, counts=replace(counts, attempts={**counts.attempts, **ordered.attempts})
        )

    def _asks_for_order(self, study: Study, request: Request) -> bool:
        """Whether the order of attempts may tell why there are more of them than there should be.

        It needs one more reading, of rows that are attempts.
        """
        from passk_cli.study.made_attempts import made_by
        from passk_cli.study.sides import sides_of

        counts = study.counts
        rows = bool(counts.facts.inputs) and all("n" not in f.roles for f in counts.facts.inputs)
        known = "attempt" in counts.attempts or request.missing == BOUNDS
        if known or not rows or self.unpaired == "drop" or request.engine != "duckdb":
            return False
        every = made_by(sides_of(study, self.baseline), self.attempts)
        return any(len(made.longer) and not made.design for made in every.values())

    def report(self, study: Study) -> Report:
        """Every rule for every candidate, in each group; rehearsed where that is asked for.

        A rule that cannot be checked is a row with the verdict "error", and shuts the gate.
        Errors: ParameterError when nothing can be judged.
        """
        from passk_cli.commands.gate.judgement import at_both_ends
        from passk_cli.commands.gate.trial import Trial
        from passk_cli.commands.gate.view import ITSELF, Rehearsal, RuleTable, TableLine, rehearsed
        from passk_cli.study.section import view
        from passk_cli.study.sides import against, sides_of
        from passk_cli.study.values import require_monotone

        metrics, rules = self.needed(study.metrics), self.rules
        whole = replace(study, metrics=metrics, confidence=study.confidence.for_metrics(metrics))
        if whole.bounded:
            whole.confidence.required_steady()
            require_monotone(metrics)
        if self.rehearse and self.baseline is None and any(rule.compares for rule in rules):
            sides = against(study.counts, study.counts, ITSELF)
        else:
            sides = sides_of(study, self.baseline)
        trial = Trial(whole, sides, study.metrics, self.unpaired, self.attempts)
        lines = []
        for place, rule in enumerate(rules):
            for first, *others in zip(*(rule.judge(case) for case in trial.cases), strict=True):
                line = at_both_ends(first, *others) if others else first
                lines.append((place, line.counting(self.on_undecided)))
        if not lines:
            raise ParameterError(
                "no rule was checked: the new run and the baseline share no group; see --by",
                name="nothing-to-compare",
            )
        entries = [TableLine(line) for _, line in lines]
        section = RuleTable(whole, entries, trial, rules, self.on_undecided)
        if self.rehearse:
            most = self.max_false_alarms
            entries, setting = rehearsed(trial, rules, lines, self.on_undecided, most)
            section = Rehearsal(
                whole, entries, trial, rules, self.on_undecided, entries[-1], setting, most
            )
        report = view(replace(whole, decided=section.decided()), [section])
        listed = () if self.rehearse else section.flips()
        return replace(report, checks=section.checks, listed=listed, rehearsal=self.rehearse)

    def _check(self) -> None:
        declared = self.attempts is not None and self.unpaired != "drop"
        automatic = EveryTask, EveryAttempt
        if not declared and all(isinstance(rule, automatic) for rule in self.rules):
            raise ParameterError(
                "no rule to check; give --max-drop pass@1=0.02, --min pass@10=0.80"
                " or --no-regression",
                name="no-rule",
            )
        compares = any(rule.compares for rule in self.rules)
        contradictions = {
            "--min-by says how --min is judged; there is no --min": self.min_by != BY_INTERVAL
            and not self.minimum,
            "--max-false-alarms is about a rehearsal; add --rehearse": self.max_false_alarms
            is not None and not self.rehearse,
            "--must-pass-rate is about --must-pass; name its tasks": self.must_pass_rate != 1.0
            and not self.must_pass,
            "--max-drop and --no-regression need a --baseline FILE or NAME": compares
            and self.baseline is None and not self.rehearse,
        }  # fmt: skip
        for words, there in contradictions.items():
            if there:
                raise ParameterError(words, name="contradicting-options")


COMMAND = Command(
    Gate, (Request, Metrics, Rules, Confidence), without=("test", "family", "margin"), judges=True,
    view="passk_cli.commands.gate.view",
)  # fmt: skip
