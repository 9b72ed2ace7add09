"""The verdict of a run that goes on: what the last look shows, and when the next is made."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from passk_cli.activity import doing
from passk_cli.commands.gate import GateOptions
from passk_cli.commands.gate.parts import GatePart
from passk_cli.commands.gate.rulebook import SuiteEntry, read_rulebook
from passk_cli.commands.gate.rules import BY_INTERVAL
from passk_cli.commands.gate.view import Gate, RuleTable, is_given
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.commands.watch import COMPLETION, WatchOptions
from passk_cli.commands.watch.course import DATASET, LIST, course_of, last_attempts, order_of
from passk_cli.commands.watch.looks import Look, Looks, Plan, alone, beside, digest
from passk_cli.commands.watch.run import GIVEN_UP, Run, decided_by
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import read_paths
from passk_cli.inference.boundary import level_at
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.near import meant
from passk_cli.option import filled
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Hint, Report, Sentence, Table
from passk_cli.report.words import plural
from passk_cli.settle import Blank, Given, Settle
from passk_cli.study.fact import Fact
from passk_cli.study.rules import ERROR, FAIL, PASS
from passk_cli.study.section import data_field, view
from passk_cli.study.study import Study

# Rules of a gate that are not watched: about single tasks, or decided by an estimate.
_NOT_WATCHED = {"must_pass": "must-pass", "min_each": "min-each"}
# What else of a file of rules is about its gate.
_ELSEWHERE = (*_NOT_WATCHED, "must_pass_rate", "runs", "unpaired", "first", "tier")
# Errors that no further results settle, and those of a run that has none yet.  How many pauses a
# file may be unreadable for.
_OF_LOOKS = ("other-run", "other-plan", "bad-looks", "nothing-to-compare")
_NOT_BEGUN, _PATIENCE = ("no-such-file", "no-results", "no-attempts"), 5
_SAID_OF_GATES = ("baseline-tasks-not-run",)

STOPPED_EARLY = Message(
    "stopped-early", NOTE,
    "decided {left:task} before the end: the estimate lies a little too far from its limit", "",
    "A run that stops when its rule is decided stops where chance helped: over many such runs"
    " the estimate at the stop exceeds the truth, by .007 for a difference of .063. The verdict is"
    " right as often as it says; report the number as that of a run that was stopped early.",
)  # fmt: skip
ORDER_OF_COMPLETION = Message(
    "order-of-completion", WARNING,
    "tasks count as they were completed: if failures take longer, early looks are too good", "",
    "A look is valid where which tasks it counts does not depend on their outcomes. Where failures"
    " take longer than passes, the first half to be complete passed 4 to 10 points more often. Draw"
    " the order before the run, and give it with --order FILE.")  # fmt: skip
NOT_WATCHED = Message(
    "rules-not-watched", NOTE, "not watched: {rules}", "passk gate judges them at the end",
    "A look judges averages over tasks. Rules about single tasks are judged when the run is"
    " complete.")  # fmt: skip
WAITING_FOR = Message(
    "waiting-for-task", NOTE,
    "{behind:task} {behind:is|are} complete and {behind:waits|wait} for {task}, which comes before",
    "",
    "A look counts the first tasks of the order, which are all complete. A task that hangs or was"
    " left out holds up those behind it, so that a slow task cannot be passed over.")  # fmt: skip


@dataclass(frozen=True)
class Looked(RuleTable):
    """Every rule at the look that decided it, else at the last one.

    run : what is watched.  looks : those made so far.  ended : how the run ends; "" where it goes
    on.  decided : lines with a verdict.  skipped : rules of a file that are not watched.
    """

    columns: ClassVar = (
        *RuleTable.columns,
        data_field("planned", "Tasks at the end of the plan."),
        data_field("looks", "Looks made so far."),
        data_field("boundary", "Standard errors from its limit from which this look decides."),
        data_field("chance", "Chance that the rest of the plan decides."),
    )

    run: Run = field(kw_only=True)
    looks: Sequence[Look] = field(kw_only=True)
    ended: str = field(kw_only=True)
    skipped: Sequence[str] = ()

    @property
    def last(self) -> Look | None:
        """The last look."""
        return self.looks[-1] if self.looks else None

    def facts(self) -> Iterator[Fact]:
        """A tidy row per rule and model."""
        plan = self.run.plan
        for line in self.records:
            tasks = line.fact.size.tasks or 0
            limit = plan.limits[plan.sizes.index(tasks)] if tasks in plan.sizes else math.inf
            chance = None if self.last is None else self.last.chance
            more = {
                **line.row.more, "planned": plan.planned, "looks": len(self.looks),
                "boundary": None if math.isinf(limit) else limit, "chance": chance,
            }  # fmt: skip
            yield replace(line.row, more=more)

    def answer(self) -> Iterator[Sentence]:
        """The verdict, and after how many tasks; or when the next look is made."""
        plan, done = self.run.plan, self.run.course.done
        if not self.ended:
            words = f"NOT YET: {done:,} of {plural(plan.planned, 'task')}"
            if self.last is not None and self.last.chance is not None:
                words += f"; {_percent(self.last.chance)} chance that the rest decides"
            following = next(
                size for size in plan.sizes if self.last is None or size > self.last.tasks
            )
            name = "next look" if self.looks else "first look"
            yield (f"{words}; {name} from {following:,} on",)
            return
        tasks = self.last.tasks if self.last else 0
        after = f"After {tasks:,} of {plural(plan.planned, 'task')}"
        if self.ended == GIVEN_UP and self.last is not None:
            after = (
                f"Given up a{after[1:]}, {_percent(self.last.chance or 0.0)} chance of a decision"
            )
        for sentence in super().answer():
            yield (f"{after}, ", *sentence)

    def context(self) -> Iterator[str | Hint]:
        """The tasks that were counted, the levels, and whose order it is."""
        plan, last = self.run.plan, self.last
        if last is not None:
            yield f"{plural(last.tasks, 'task')} × {plural(plan.attempts, 'attempt')}"
            limit = plan.limits[len(self.looks) - 1]
            all_looks = f"{100 * (1 - plan.alpha):g} % over all looks"
            at = f"{_level(level_at(limit))} at this one" if math.isfinite(limit) else "too early"
            yield f"{at}, {all_looks}"
        yield f"look {len(self.looks)} of {len(plan.sizes)}"
        order = {LIST: "order as given", DATASET: "order of the dataset"}
        yield order.get(self.run.course.kind, "order of completion")
        if self.ended:
            yield from (part for part in super().context() if str(part).startswith("undecided"))

    def messages(self) -> Iterator[Said]:
        """Those of the gate, and what the order and an early stop mean."""
        course, plan = self.run.course, self.run.plan
        if course.kind == COMPLETION:
            yield ORDER_OF_COMPLETION()
        if course.behind and not self.ended:
            yield WAITING_FOR(behind=course.behind, task=course.tasks[course.done])
        left = plan.planned - (self.last.tasks if self.last else 0)
        if left and self.ended in (PASS, FAIL):
            yield STOPPED_EARLY(left=left)
        if self.skipped:
            yield NOT_WATCHED(rules=self.skipped)
        yield from (said for said in super().messages() if said.name not in _SAID_OF_GATES)

    def tables(self) -> Iterator[Table]:
        """The rules at their looks; none before the first look."""
        yield from super().tables() if self.records else ()

    def decided(self) -> dict[str, object]:
        """Entries of the signature."""
        plan = self.run.plan
        return {
            **super().decided(), "planned": plan.planned, "attempts": plan.attempts,
            "every": plan.every, "order": self.run.course.kind, "looks": len(self.looks),
        }  # fmt: skip

    @property
    def words(self) -> str:
        """What there is to see while it goes on, in one line."""
        ((answer,),) = self.answer()
        numbers = [
            f"{line.fact.name} {number.value:.3f} [{number.low:.3f}, {number.high:.3f}]"
            for line in self.records
            if None not in ((number := line.fact.estimate).value, number.low, number.high)
        ]
        return " · ".join([str(answer).removeprefix("NOT YET: "), *numbers[:3]])


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "less than 1 %"


def _level(level: float) -> str:
    """A level in percent, with two digits of what is left to 100.

    >>> _level(0.97345), _level(1 - 7.6e-6)
    ('97.3 %', '99.99924 %')
    """
    left = 100 * (1 - level)
    return f"{100 - left:.{max(1 - math.floor(math.log10(left)), 1)}f} %"


class Watch(Question, WatchOptions):
    """The question of `passk watch`."""

    sections = (Looked,)
    unbounded: ClassVar[str] = ""

    @classmethod
    def ask(
        cls, given: Mapping[str, Any], source: Any, *, needed: bool
    ) -> tuple[Self, SharedOptions]:
        """The question of a run, or of a suite of a file of rules.

        Errors: ParameterError where there are neither files nor rules.
        """
        skipped: list[str] = []
        asked = filled(WatchOptions, {name: given.get(name) for name in ("rules", "suite")})
        if asked.rules is not None:
            entry = _suite(asked.rules, asked.suite)
            own = {name: value for name, value in entry.given.items() if name not in _ELSEWHERE}
            over = {name: value for name, value in given.items() if is_given(value)}
            skipped = [key for name, key in _NOT_WATCHED.items() if is_given(entry.given.get(name))]
            source = entry.given["runs"] if source is None else source
            given = {**own, **over}
        elif asked.suite is not None:
            raise ParameterError(
                Given("--suite", asked.suite), "it is about a file of rules",
                name="contradicting-options",
                settles=[Settle({"--rules": Blank("FILE")}, "names it")],
            )  # fmt: skip
        question, options = super().ask(given, source, needed=True)
        out = () if asked.rules is None else tuple(each.task for each in entry.suite.out)
        question = replace(question, out=out, skipped=tuple(skipped))
        question.gate.require_rules()
        if question.min_by != BY_INTERVAL:
            raise ParameterError(
                Given("--min-by", question.min_by),
                "a look is judged by its interval",
                name="bad-rules",
            )
        if question.follow and options.once:
            raise ParameterError(
                Given("--follow"),
                "what comes through a pipe is read once; name a file",
                name="contradicting-options",
            )
        if question.planned is None and question.order == (COMPLETION,):
            raise ParameterError(
                Given("--order", COMPLETION),
                "it does not say how many tasks the plan has",
                name="contradicting-options",
                settles=[Settle({"--planned": Blank("N")}, "says it")],
            )
        return question, options

    @property
    def gate(self) -> Gate:
        """The gate with the same rules, about the tasks that are there."""
        own = {each.name: getattr(self, each.name) for each in fields(GateOptions)
               if hasattr(self, each.name) and each.name not in ("attempts", "rules")}  # fmt: skip
        return Gate(**own, unpaired="drop")

    def request(self, options: SharedOptions) -> Request:
        """The columns to read, as a gate's."""
        return self.gate.request(options)

    def answered(self, options: SharedOptions, read: Read) -> Report:
        """The report of the looks made so far; with --follow, once they decide."""
        path = Path(self.looks) if self.looks else beside(options.files) if options.files else None
        with alone(path):
            if not self.follow:
                return self._reported(options, read, path)[0]
            return self._followed(options, read, path)

    def _followed(self, options: SharedOptions, read: Read, path: Path | None) -> Report:
        """The report of the look that ends the run.

        What cannot be read may be half written: it is an error once it no longer changes.
        """
        words = "waiting for results"
        while True:
            before, patience, problem = _stamp(options.files), math.inf, None
            try:
                report, words = self._reported(options, read, path)
                if not report.waiting:
                    return report
            except DataError as error:
                if error.name in _OF_LOOKS:
                    raise
                if error.name not in _NOT_BEGUN:
                    problem, patience = error, _PATIENCE
            with doing(lambda words=words: words):  # type: ignore[misc]
                while _stamp(options.files) == before:
                    if patience <= 0 and problem is not None:
                        raise problem
                    time.sleep(self.pause)
                    patience -= 1

    def _reported(
        self, options: SharedOptions, read: Read, path: Path | None
    ) -> tuple[Report, str]:
        """The report of the looks that are due, which are kept; and its line while it goes on."""

        def of_run(request: Request, source: Any = None, /) -> Counts:
            counts = read(request, options.source if source is None else source)
            return counts.without_tasks(self.out)

        gate = self.gate
        self._require_attempts(options)
        study = gate.study(options, of_run)
        if study.baseline is None:
            # Tasks that are not complete say nothing of how many attempts there are.
            whole = study.counts.n == self.attempts
            if whole.any() and not options.metrics.k:
                full = study.counts.of_sizes(study.counts.n * whole, study.counts.c * whole)
                study = replace(study, metrics=options.metrics.of(full))
        sides = gate.trial(study).sides
        order, kind = order_of(self.order, study.counts, self.planned)
        order = [task for task in order if task not in self.out]
        plan = Plan.of(
            self.planned or len(order), self.attempts, self.every, 1 - study.confidence.level
        )
        looks = Looks.read(path, self._about(study, plan, kind))
        last: Mapping[str, float] = {}
        if kind == COMPLETION:
            lined = of_run(replace(gate.request(options), attempts=("line",)))
            last = last_attempts(lined, {series[0] for series in sides.series})
        course = course_of(sides, plan, order, kind, looks.tasks, last)
        run = Run(gate, study, plan, course, self.prior)
        looks.require_same(course.done, course.tasks, lambda tasks: digest(run.counted(tasks)))
        decided, ended = decided_by(looks.looks, plan.planned, self.give_up)
        for place, tasks in enumerate(plan.sizes):
            if ended or tasks > course.done:
                break
            if place < len(looks.looks):
                continue
            before = {name: verdict for name, (verdict, _) in decided.items()}
            due = place + 1 < len(plan.sizes) and plan.sizes[place + 1] <= course.done
            look = run.look(place, before, forecast=self.give_up is not None or not due)
            looks.looks.append(look)
            decided, ended = decided_by(looks.looks, plan.planned, self.give_up)
        if looks.looks:
            looks.write(course.tasks[: looks.looks[-1].tasks])
        part = GatePart(gate.chosen, gate.on_undecided, gate.trial(study))
        if looks.looks:
            part = run.lines(decided, looks.looks[-1].tasks)
        section = Looked(
            study, part.rows, [part], run=run, looks=looks.looks, ended=ended, skipped=self.skipped
        )
        report = view(replace(study, decided=section.decided()), [section])
        waiting = not ended and not any(line.verdict == ERROR for line in section.records)
        report = replace(
            report, checks=section.checks, changes=section.changes(), waiting=waiting
        )  # fmt: skip
        return report, section.words if waiting else ""

    def _require_attempts(self, options: SharedOptions) -> None:
        """ParameterError for a metric of more attempts than the plan has at a task."""
        for metric in self.gate.needed(options.metrics.metrics):
            if metric.k > self.attempts:
                raise ParameterError(
                    f"{metric.name} needs {plural(metric.k, 'attempt')} per task, and the plan has"
                    f" {self.attempts}", name="too-few-attempts",
                    settles=[Settle({"--attempts": Blank("N")}, "plans more")],
                )  # fmt: skip

    def _about(self, study: Study, plan: Plan, kind: str) -> Mapping[str, Any]:
        """The plan and the rules that looks are about."""
        rules = {k: str(v) for rule in self.gate.chosen for k, v in rule.signature.items()}
        base = study.baseline
        if base is None:
            rules |= {"baseline": self.baseline} if self.baseline is not None else {}
        else:
            rules["baseline"] = digest(base)
        metrics = [metric.name for metric in study.metrics]
        if not any(rule.general for rule in self.gate.chosen):
            metrics = []
        models = sorted({series[0] for series in study.counts.series})
        return {
            "planned": plan.planned, "attempts": plan.attempts, "every": plan.every,
            "level": study.confidence.level, "interval": study.confidence.method_name,
            "order": kind, "rules": rules, "metrics": metrics, "models": models,
        }  # fmt: skip


def _stamp(files: Sequence[str]) -> list[tuple[str, int, int]]:
    """Size and time of the last change of every file that these arguments mean now."""
    states = []
    with suppress(PasskError):
        for file in sorted(read_paths(files)):
            with suppress(OSError):
                status = os.stat(file)
                states.append((file, status.st_size, status.st_mtime_ns))
    return states


def _suite(path: str, name: str | None) -> SuiteEntry:
    """A suite of a file of rules; its only one where none is named.

    Errors: ParameterError where there is no such suite, or there are several.
    """
    book = read_rulebook(path, None)
    entries = {} if book is None else {entry.suite.name: entry for entry in book.entries}
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    if name is None:
        raise ParameterError(
            f"{path}: it has several suites, and one run is watched", name="no-such-suite",
            settles=[Settle({"--suite": each}) for each in entries],
        )  # fmt: skip
    if name not in entries:
        raise ParameterError(
            Given("--suite", name),
            f"{path} has no such suite; {meant(name, entries)}",
            name="no-such-suite",
        )
    return entries[name]
