"""Proposals: an error with the options by which its data can be read, or with a question.

Only on failure.  Of each structure the columns are found that may be the task, the outcome, the
model and the attempt; the best readings are tried, and the error says how to ask for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from passk_cli.errors import DataError, PasskError
from passk_cli.files.reading.doubts.settings import DATES, is_setting
from passk_cli.files.reading.judges import judged
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.readings.outcomes import answers_and_golds, likely_outcome
from passk_cli.files.reading.readings.question import columns_of_models
from passk_cli.files.reading.readings.reading import RankedReading, located, ranked_readings
from passk_cli.files.reading.readings.trials import (
    ANSWERS_OF,
    TRIED,
    Answer,
    Trials,
    chosen,
    is_open,
)
from passk_cli.files.reading.structures import ROWS, FieldColumn, Structure, beginning
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    EITHER,
    EQUAL,
    LINE,
    ROLE_WORDS,
    TRUTH,
    UNITS,
    candidates,
    judge,
    leaf,
    parts,
    strength,
    words,
)
from passk_cli.files.sources.arguments import comes_once
from passk_cli.files.sources.paths import layout_template
from passk_cli.near import did_you_mean, meant, nearest, there_are
from passk_cli.settle import Blank, Settle

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.sources.source import Source
    from passk_cli.outcomes.counts import Counts

# Errors after which readings are looked for.
_ASKED = (
    *("no-task-column", "no-outcome-column", "no-model-column", "no-such-column"),
    *("ambiguous-column", "ambiguous-records", "no-results", "unknown-format"),
    *("missing-outcome", "bad-outcome"),
)
# Score above which a column of an outcome's usual name judges.
_JUDGES = 0.5
# Bytes of files that are read again for each remedy, to make it whole.
_TRIED_BYTES = 1 << 26


def proposed(
    error: DataError,
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    read: Callable[[Request], Counts],
) -> PasskError:
    """The error with the options by which its data can be read, or with what only people know.

    Where what remedies read is none that the question answers for, the error that says so.
    read : reads with a request.
    """
    if request.engine != "duckdb" or any(comes_once(s.frame) for s in sources):
        return error
    trials = Trials(request, read)
    small = sum(os.path.getsize(s.path) for s in sources if s.frame is None) <= _TRIED_BYTES
    settled = _settled(error, con, sources, trials, small=small)
    if trials.unsuited or (small and request.suits is not None):
        settled.settles = tuple(filter(trials.suits, settled.settles))
        if trials.unsuited and not any(settle.complete for settle in settled.settles):
            return trials.unsuited[0]
    return settled


def _settled(
    error: DataError, con: duckdb.DuckDBPyConnection, sources: Sequence[Source], trials: Trials,
    *, small: bool,
) -> DataError:  # fmt: skip
    """The error with the options by which its data can be read, or with what only people know.

    small : whether each remedy is tried, of any error.
    """
    if error.name == "no-role-column":
        # What an attempt took may lie deeper.
        (role,) = error.settles[0].options["--field"]
        records = beginning(str(error.place), con, sources, trials.request)
        inside = {path: path.rpartition(".")[2] for each in records for path in each.columns}
        named = [Settle({"--field": {role: path}}) for path, name in inside.items()
                 if path != name and candidates(role, [name])]  # fmt: skip
        error = error.but(type(error), settles=trials.readable(named) or error.settles)
    if error.name not in _ASKED:
        if not small:
            return error
        whole = [*trials.completed(error.settles)]
        left = [settle for settle in error.settles if trials.leads_on(settle, error)]
        return error.but(type(error), settles=tuple(whole or left))
    failure = _Failure(error, con, sources, trials)
    try:
        _ = failure.structures
    except DataError as refusal:
        return refusal if error.name == "unknown-format" else error
    return failure.grouped() if failure.group else failure.answered()


@dataclass(frozen=True, eq=False)
class _Failure:
    """An error after which readings are looked for, and the data that it is about."""

    error: DataError
    con: duckdb.DuckDBPyConnection
    sources: Sequence[Source]
    trials: Trials

    @property
    def request(self) -> Request:
        return self.trials.request

    @cached_property
    def absent(self) -> dict[str, str]:
        """The column that was asked for and is not there → the role that it was to play."""
        return {
            part: role
            for role, column in self.request.named.items()
            for part in parts(column)
            if self.error.problem.startswith(f"no column {part!r}")
        }

    @cached_property
    def group(self) -> str:
        """The column of --by that is not there; else ""."""
        by = self.request.by
        return next((c for c in by if self.error.problem == f"no column {c!r}"), "")

    @cached_property
    def structures(self) -> list[Structure]:
        """Structures that the data may hold."""
        offered = {role for each in self.error.settles for role in each.options.get("--field", {})}
        sought = self.absent or self.group or self.error.name != "no-such-column"
        if not sought or offered - {*ROLE_WORDS, "n", "c"}:
            # Of what attempts took or said no reading knows.
            return []
        found = beginning(str(self.error.place), self.con, self.sources, self.request)
        absent = [*self.absent.values()]
        if self.error.name not in ("no-task-column", "no-outcome-column"):
            return found
        if ranked_readings(found, self.request, absent):
            return found
        # The first file of a folder may be the one that sums up the others.
        others = (beginning(s.name, self.con, [s], self.request) for s in self.sources[:TRIED])
        alike = (other for other in others if ranked_readings(other, self.request, absent))
        return next(alike, found)

    @cached_property
    def columns(self) -> list[str]:
        """The columns of all structures."""
        return [path for structure in self.structures for path in structure.columns]

    @cached_property
    def ranked(self) -> list[RankedReading]:
        """The readings that can be meant, the best first."""
        asked, wrong = self.request.named, [*self.absent.values()]
        if self.error.name in ("missing-outcome", "bad-outcome"):
            wrong = ["outcome"] if "outcome" in asked else []
        elif self.structures:
            wrong += [
                role
                for role in {*asked} & {*ROLE_WORDS} - {*wrong}
                if not any(located(asked[role], each.columns) for each in self.structures)
            ]
        every = ranked_readings(self.structures, self.request, wrong)
        if any(source.frame is not None for source in self.sources):
            # Its index may name the tasks.
            every = [reading for reading in every if reading.roles.get("task") != LINE]
        return [reading for reading in every if _suits(reading, self.error, self.request)]

    def grouped(self) -> DataError:
        """The error with the paths that end in the column that groups were to be made by."""
        deeper = [path for path in self.columns if leaf(path) == self.group]
        if not deeper or self.request.by != (self.group,):
            return self.error
        settles = [Settle({"--by": path}) for path in deeper]
        return self.error.but(type(self.error), settles=settles)

    def answered(self) -> DataError:
        """The error with the best readings, or with a question; else with other remedies."""
        error = self.error
        settles, question = self._found()
        likely = (nearest(name, self.columns) for name in self.absent if name not in self.columns)
        if near := next(filter(None, likely), []):
            # A word that is nearly right says what is to be read.
            settles = [s for s in settles if near[0] in s.options.get("--field", {}).values()][:1]
            return error.but(type(error), remedy=did_you_mean(near), settles=settles)
        if self.absent:
            # One wrong word is answered by one line.
            settles = settles[:1]
        elif other := "" if settles or question else self._absent_other():
            problem = f"no column {other!r}"
            remedy = meant(other, self.columns, there_are(self.columns))
            return DataError(error.place, problem, remedy, name="no-such-column")
        # Beside its own remedies stands what else may be done.
        own = error.name == "no-results" and all("--skip-bad" in each.options for each in settles)
        remedy = question or error.words * (not settles or own)
        # What to make of missing outcomes is to be said, also where something else is asked then.
        settles = settles or [
            each for each in error.settles if is_open(each) or error.name == "missing-outcome"
        ]
        if error.name == "ambiguous-column" and error.settles and not (settles or question):
            role = next(iter(error.settles[0].options["--field"]))
            settles = [Settle({"--field": {role: Blank("COLUMN")}}, "chooses one")]
        nested = any("." in p and s.size == ROWS for s in self.structures[:1] for p in s.columns)
        if not any(settle.complete for settle in settles) and not question and nested:
            sought = f"nested fields were looked for in the first {ROWS:,} records"
            remedy = "; ".join(filter(None, [remedy, sought]))
        return error.but(type(error), remedy=remedy, settles=settles)

    def _found(self) -> Answer:
        """The best readings, or a question; else what else reads."""
        error, trials = self.error, self.trials
        settles, question = chosen(self.ranked, trials, 0.6 * len(self.sources))
        settles += [*self._with_labels(settles)]
        if error.name == "ambiguous-column" and settles and not question:
            # Each of the columns that it names is an answer.
            told = [settle.options.get("--field") for settle in settles]
            others = [s for s in error.settles if s.options.get("--field") not in (None, *told)]
            settles += trials.readable(others)
        if error.name == "ambiguous-records" or not (settles or question):
            known = [settle.options.get("--records") for settle in settles]
            unknown = [s for s in error.settles if s.options.get("--records", "") not in known]
            settles += trials.readable(unknown)
        rows = [s for s in settles if s.options.get("--field", {}).get("task") == LINE]
        if error.name == "no-task-column" and rows:
            # What a row is nobody can know.
            of_rows = [
                replace(s, why=f"if each row is a task, {s.why}") for s in rows if s.complete
            ]
            alone = self._by_path()
            prose = any(c.is_prose for s in self.structures for c in s.columns.values())
            both = [*of_rows, *alone] if prose else [*alone, *of_rows]
            settles = [*both, *(s for s in settles if s not in rows or not s.complete)]
        if settles or question:
            return settles, question
        if error.name == "no-outcome-column":
            several = columns_of_models(self.structures, self.request)
            settles = trials.readable([*_aggregated(self.structures), *several])
        if not settles and (amount := next((r for r in self.request.attempts if r in UNITS), "")):
            # What attempts took may be missing beside what they were.
            without = replace(trials, request=replace(self.request, attempts=()))
            settles, question = chosen(self.ranked, without, 0.6 * len(self.sources))
            named = Settle({"--field": {amount: Blank("COLUMN")}}, "names it")
            settles = [settle.merged(named) for settle in settles[:1]]
        if error.name == "no-task-column" and not (settles or question):
            settles = self._by_path()
        if error.name in ("no-task-column", "no-outcome-column") and not (settles or question):
            clear = (each for each in self.ranked if not each.question)
            best = [Settle(each.options(self.request)) for each in islice(clear, 1)]
            settles = [*trials.asking(best)]
            return (settles, "") if settles else self._agreeing()
        return settles, question

    def _with_labels(self, settles: Sequence[Settle]) -> Iterator[Settle]:
        """How a judge's verdicts, which remedies read, are compared with labels of them."""
        every = (judged(each.columns, self.request) for each in self.structures)
        judges = {judge: label for each in every for judge, label in each.items()}
        for settle in settles if not self.request.labelled else ():
            fields = settle.options.get("--field", {})
            outcome = fields.get("outcome", self.request.named.get("outcome", ""))
            if settle.complete and outcome in judges and "-m" not in settle.options:
                fields = {**fields, TRUTH: judges[outcome]}
                why = f"says how often {outcome} errs, and corrects"
                yield Settle({**settle.options, "--field": fields}, why, "judge")

    def _agreeing(self) -> Answer:
        """The question whether attempts pass where an answer is what was expected."""
        every = (pair for each in self.structures for pair in answers_and_golds(each.columns))
        pairs = [*dict.fromkeys(every)]
        if not pairs:
            return [], ""
        either = Settle({"--field": {"outcome": Blank("A==B")}}, "compares columns")
        same = [Settle({"--field": {"outcome": EQUAL.join(pair)}}, "compares these as they are")
                for pair in pairs[:TRIED]]  # fmt: skip
        # Those that lie side by side in objects are parts of one attempt, as a rule.
        settles = self.trials.readable(same if len(same) == 1 or "." not in pairs[0][0] else [])
        asked = "an attempt passes where {} agrees with {}?".format(*pairs[0])
        return settles or [either], asked

    def _by_path(self) -> list[Settle]:
        """The option by which paths name the tasks, or by which a file is one."""
        paths = [source.path for source in self.sources if source.frame is None]
        rows = next((each for each in self.structures if not each.keys and each.size > 1), None)
        if len(paths) == 1 and rows and not _tells_tasks(rows):
            way = {"--path": "{task}" + os.path.splitext(paths[0])[1]}
            alone = self.trials.readable([Settle(way, "if all are attempts at one task")])
            # Of one task nothing else is settled on the way, as what passes.
            return [settle for settle in alone if settle.options.keys().isdisjoint(ANSWERS_OF)]
        template = layout_template(paths)
        return self.trials.readable([Settle({"--path": template})]) if template else []

    def _absent_other(self) -> str:
        """The first column of those that make groups and that no structure has; else ""."""
        there = {each for path in self.columns for each in (path, leaf(path))}
        request = self.request
        asked = (*request.by, *request.pool, *filter(None, [request.cluster]))
        return next((name for name in asked if self.structures and name not in there), "")


def _tells_tasks(structure: Structure) -> bool:
    """Whether a column may tell tasks apart: texts that differ and are no times, and numbers that
    count."""
    plain = [c for c in structure.columns.values() if not c.listed and len(c.counts) > 1]
    texts = (
        c
        for c in plain
        if not c.numbers
        and {*map(type, c.judged)} != {bool}
        and not (is_setting(c.path) or words(c.path) & vocabulary.NO_TASK)
    )
    counts = any(
        c.is_count
        and max(c.counts.values()) <= 2 * min(c.counts.values())
        and not strength("attempt", c.path)
        for c in plain
    )
    return counts or any(not all(map(DATES.fullmatch, column.counts)) for column in texts)


def _aggregated(structures: Sequence[Structure]) -> Iterator[Settle]:
    """Counts and sums of a column as attempts and passes, as a groupby of pandas leaves them."""
    for columns in (structure.columns for structure in structures):
        numbers = {p: c.numbers for p, c in columns.items() if c.numbers and "" not in c.texts}
        for (n, counts), (c, sums) in product(numbers.items(), repeat=2):
            named = words(n) & {"count", "size"} and "sum" in words(c)
            alike = words(n) - {"count", "size"} == words(c) - {"sum"} or leaf(n) == "size"
            if named and alike and all(a >= b >= 0 for a, b in zip(counts, sums, strict=True)):
                yield Settle({"--field": {"n": n, "c": c}}, "are attempts and passes")


def _suits(reading: RankedReading, error: DataError, request: Request) -> bool:
    """Whether an outcome can be what another one lacks: it has to agree with those there are, and
    to be there where one is missing."""
    if error.name not in ("missing-outcome", "bad-outcome"):
        return True
    columns = reading.structure.columns
    asked = request.named.get("outcome", "")
    own = [asked] if asked else candidates("outcome", reading.structure.usual)
    path = reading.outcome.path
    if EITHER in path:
        return error.name == "bad-outcome" and not asked
    if EQUAL in path:
        return any(part == name or part.startswith(f"{name}.") for part in parts(path)
                   for name in own)  # fmt: skip
    if error.name == "missing-outcome" and asked in columns and columns[asked].judged:
        # Who names an outcome is asked what becomes of those that are missing.
        return False
    if path in own:
        return error.name == "bad-outcome" and reading.question in ("words", "threshold")
    below = any(path.startswith(f"{name}.") for name in own)
    if below or error.name == "bad-outcome":
        # What is one word in all records judges nothing, nor does how a run ended.
        every = (likely_outcome(columns[name]) for name in own if name in columns)
        judges = any(likely.score > _JUDGES for likely in every if likely)
        return below or not (judges or asked)
    column = columns[path]
    if reading.structure.keys or column.listed or not own:
        return not own
    return _fills(column, columns.get(own[0]), request)


def _fills(column: FieldColumn, own: FieldColumn | None, request: Request) -> bool:
    """Whether verdicts agree with those of an outcome, and are there where one is missing."""
    if own is None:
        return True
    before = [judge(value, request.bar) for value in own.values]
    after = [judge(value, request.bar) for value in column.values]
    pairs = [*zip(before, after, strict=True)]
    filled = any(b is None and a is not None for b, a in pairs)
    return filled and all(b is None or b == a for b, a in pairs)
