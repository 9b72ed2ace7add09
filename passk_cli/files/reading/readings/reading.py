"""Readings: what records may mean, ranked by names and by how columns behave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import product
from typing import Any

from passk_cli.files.reading.doubts.attacks import attacked, is_of_either
from passk_cli.files.reading.doubts.settings import NUMBERED
from passk_cli.files.reading.judges import judged
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.readings.outcomes import (
    Likely,
    agreements,
    answers_and_golds,
    laid_out,
    likely_outcome,
    spoken,
    tests_and_totals,
)
from passk_cli.files.reading.readings.tasks import attempt_of, called, likely_tasks
from passk_cli.files.reading.structures import FieldColumn, Structure
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    COLUMN,
    EACH,
    EQUAL,
    LINE,
    ROLE_WORDS,
    above,
    candidates,
    leaf,
    parts,
    spelled,
    strength,
    words,
)

# How many columns are compared as task, and half as many as outcome; the least score of a reading.
_COMPARED, _LEAST = 6, 2.5
# Columns from which on records are not looked at.
_WIDE = 400
# Tasks from which on truth values under any name may be their outcomes.
_NAMED = 3
# From this score on an outcome judges what lies below it.
_JUDGES = 2.4


@dataclass(frozen=True)
class RankedReading:
    """The meaning of a structure's records.

    roles : role → path, of a task also two with a comma between them.  by : columns that make
    groups.
    question : what its values do not say of the outcome, as `Likely` has it; "parts" where they
        judge parts of an attempt; "which" where others are called as it is.
    """

    score: float
    structure: Structure
    roles: Mapping[str, str]
    by: tuple[str, ...] = ()
    question: str = ""

    @property
    def outcome(self) -> FieldColumn:
        """The column that is the outcome, or of counts that of the passes."""
        return self.structure.columns[self.roles.get("outcome", self.roles.get("c", ""))]

    def options(self, request: Request) -> dict[str, Any]:
        """The options that a request lacks for this reading."""
        options: dict[str, Any] = {}
        if self.structure.keys:
            options = {"--records": ".".join(self.structure.keys)}
            options |= {"--from": None} if request.format else {}
        fields = {}
        for role, path in self.roles.items():
            known = candidates(role, self.structure.usual) == [path]
            if role == "model" and any(
                self.structure.columns[part].beside for part in parts(path, self.structure.columns)
            ):
                # What stands beside a list comes along under its usual names alone.
                known = strength(role, path) == 3
            if request.named.get(role, "" if not known else path) != path:
                fields[role] = path
        if request.outcome is not None and "outcome" in fields:
            options["--outcome"] = None
        options |= {"--by": self.by} if self.by else {}
        return options | ({"--field": fields} if fields else {})


def ranked_readings(
    found: Sequence[Structure], request: Request, wrong: Collection[str] = ()
) -> list[RankedReading]:
    """The readings of these structures, the best first.

    wrong : roles whose columns, as asked, are not there or no outcomes: others are meant.
    """
    every = [reading for each in found for reading in _readings_of(each, request, wrong)]
    return sorted(every, key=lambda reading: -reading.score)


def _readings_of(
    structure: Structure, request: Request, wrong: Collection[str]
) -> Iterator[RankedReading]:
    if len(structure.columns) > _WIDE:
        # Keys that name tasks, say, and are read as such elsewhere.
        return
    judges = judged(structure.columns, request)
    # Labels say of a verdict whether it is right, and are themselves no outcome, unless asked for.
    labels = {request.labels, *judges.values()} - {*parts(request.named.get("outcome", ""))}
    own = {path: column for path, column in structure.columns.items() if path not in labels}
    view = _View(replace(structure, columns=own), request, wrong, {*judges})
    if "" in view.given.values() or any(_sums(key) for key in structure.keys if key[0] != "{"):
        return
    tasks = sorted(view.tasks, key=lambda path: -view.tasks[path])[:_COMPARED]
    outcomes = sorted(view.outcomes, key=lambda path: -view.outcomes[path].score)
    for task, outcome in product(tasks, outcomes[: 2 * _COMPARED]):
        reading = view.reading(task, outcome)
        if reading is not None and reading.score >= _LEAST:
            yield reading


@dataclass(frozen=True, eq=False)
class _View:
    """A structure as a request sees it.

    wrong : roles of which other columns are meant.  judges : columns of verdicts on answers.
    """

    found: Structure
    request: Request
    wrong: Collection[str]
    judges: Collection[str]

    @cached_property
    def lists(self) -> dict[str, FieldColumn]:
        """Outcomes of an attempt each as one list."""
        asked = self.request.named.get("outcome", "")
        return {column.path: column for column in laid_out(self.found.columns, asked)}

    @cached_property
    def agreements(self) -> dict[str, FieldColumn]:
        """Outcomes that pass where two columns agree."""
        asked = self.request.named.get("outcome", "")
        return {column.path: column for column in agreements(self.found.columns, asked)}

    @cached_property
    def _answers(self) -> set[str]:
        """The columns that are compared."""
        return {part for path in self.agreements for part in parts(path)}

    @cached_property
    def structure(self) -> Structure:
        """The records, with the columns that are made of others."""
        made = {**self.lists, **self.agreements}
        made[LINE] = FieldColumn(LINE, range(1, self.found.size + 1))
        return replace(self.found, columns={**self.found.columns, **made})

    @property
    def columns(self) -> Mapping[str, FieldColumn]:
        return self.structure.columns

    @cached_property
    def given(self) -> dict[str, str]:
        """Role → the columns that are asked for and not wrong; "" where one is not there."""
        asked = {role: path for role, path in self.request.named.items() if role in ROLE_WORDS}
        return {
            role: located(path, self.columns)
            for role, path in asked.items()
            if path != COLUMN and role not in self.wrong
        }

    @cached_property
    def free(self) -> dict[str, FieldColumn]:
        """The columns that may play a role that is not given."""
        taken = {part for path in self.given.values() for part in parts(path)} | {*self.request.by}
        return {path: column for path, column in self.found.columns.items() if path not in taken}

    @cached_property
    def counts(self) -> str:
        """The column of the passes, where the records are counts; else ""."""
        n, c = (candidates(role, self.found.usual) for role in ("n", "c"))
        return c[0] if n and c else ""

    def near(self, role: str, path: str) -> float:
        """How similar a column's name is to the one that was asked for and is not there."""
        if role not in self.wrong:
            return 0.0
        return 3 * SequenceMatcher(None, self.request.named[role], path).ratio()

    @cached_property
    def tasks(self) -> dict[str, float]:
        """Columns that may be the task → how likely each is."""
        template = self.request.template
        if "task" in self.given or (template and "task" in template.names):
            return {self.given.get("task", ""): 3.0}
        likely = likely_tasks(self.found, self.free)
        known = self.counts or candidates("task", self.found.usual) or called("attempt", self.free)
        if not (likely or known or self.found.alone) and self.found.size > 1:
            # Of rows that name none, and are numbered by nothing, each may be one.
            likely = {LINE: 0.5}
        return {path: score + self.near("task", path) for path, score in likely.items()}

    @cached_property
    def outcomes(self) -> dict[str, Likely]:
        """Columns that may be the outcome → how likely each is."""
        every = {
            path: Likely(each.score + self.near("outcome", path), each.question)
            for path, each in self._alone.items()
            if each is not None and each.score > 0
        }
        whole = [p for p, each in every.items() if not each.question and self._sums_up(p, every)]
        every |= {path: Likely(every[path].score + 1) for path in whole}
        # Where a name speaks for a flag, and none is unclear, those of any name beside it do not
        # count.
        named = {above(path) for path, each in every.items() if not each.question}
        named -= {above(path) for path, each in every.items() if each.question == "polarity"}
        every = {p: o for p, o in every.items() if o.question != "name" or above(p) not in named}
        if "outcome" not in self.given and attacked(self.columns):
            # Whose success it is, the attack's or the model's, is asked.
            either = (path for path in every if is_of_either(path))
            every |= {path: every[path]._replace(question="polarity") for path in either}
        return every

    @cached_property
    def _alone(self) -> dict[str, Likely | None]:
        """Column → how likely it is the outcome by itself, or as it was asked for."""
        if "outcome" in self.given:
            path = self.given["outcome"]
            own = Likely(5.0) if path == self.counts else self._every.get(path)
            own = own or likely_outcome(self.columns[path]) or Likely(0.0, "words")
            # Who names it knows what it means.
            return {
                path: own._replace(question="") if own.question in ("name", "polarity") else own
            }
        return {self.counts: Likely(5.0)} if self.counts else self._every

    @cached_property
    def _every(self) -> dict[str, Likely | None]:
        """Column → how likely it is the outcome; without the columns that are compared."""
        pairs = [*answers_and_golds(self.free)]
        compared = {path for pair in pairs for path in pair if strength("outcome", path) < 3}
        # What stands with an answer, apart from what was expected, tells the answer again.
        told = {above(answer) for answer, gold in pairs if above(answer) != above(gold)}
        compared |= {p for p in self.free if above(p) in told and strength("outcome", p) < 1.7}
        compared |= {part for path in self.lists for part in parts(path)}
        totals = (score for score, _ in tests_and_totals(self.free))
        compared |= {score for score in totals if words(score) & vocabulary.SCORES}
        outcomes = {p: likely_outcome(c) for p, c in self.free.items() if p not in compared}
        for path in self.free.keys() & self.judges:
            verdict = likely_outcome(replace(self.free[path], path=f"{path}_verdict"))
            outcomes[path] = max(outcomes.get(path) or Likely(0.0), verdict or Likely(0.0))
        for path in {*outcomes} & self._answers:
            if (outcomes[path] or Likely(0)).question == "words":
                # Words that are no verdicts, beside those that were expected.
                del outcomes[path]
        outcomes |= {p: likely_outcome(replace(c, path="outcome")) for p, c in self.lists.items()}
        # Where nothing gives a verdict, an answer passes that is the expected one.
        outcomes |= {
            path: Likely(2.3 if len({*column.judged}) == 2 else 0.5)
            for path, column in self.agreements.items()
        }
        if any(outcomes.values()):
            return outcomes
        # Where no name says anything, a few words may.
        return {p: spoken(c) for p, c in self.free.items() if not (c.listed or "." in p)}

    def reading(self, task: str, outcome: str) -> RankedReading | None:
        """The reading with this task and outcome; None where they go ill together."""
        score, question = self.outcomes[outcome]
        column, played = self.columns[outcome], {*task.split(","), outcome, *parts(outcome)}
        read = played | self._answers
        others = {p: c for p, c in self.free.items() if p not in read}
        model = self.given.get("model", next(iter(called("model", others)), ""))
        if self._apart(task, outcome, model):
            return None
        score += self.tasks[task] + 0.7 * strength("model", model)
        attempt, by = self.given.get("attempt", ""), tuple[str, ...]()
        if column.listed:
            score += self._of_lists(column)
        elif task and not self.counts:
            cell = [
                p
                for p in (*task.split(","), *model.split(","), *self.request.by)
                if p in self.columns
            ]
            others.pop(model, None)
            attempt, by, fit = attempt_of(self.structure, cell, attempt, others)
            score += fit
            if by and self.found.alone and not model:
                (model,), by = by, ()
        score -= 0.1 * any(self.columns[part].beside for part in played & {*self.columns})
        score -= 2.5 * self._is_below_a_verdict(outcome) + 4.0 * self._is_one_of(outcome)
        # What keys name may have averages.
        score -= self.found.named and bool(words(leaf(outcome)) & vocabulary.AVERAGES)
        way = [
            *self.found.keys,
            *outcome.replace(EACH, "").split(".")[: -1 * (EQUAL not in outcome)],
        ]
        piece = any(vocabulary.PARTS.fullmatch(spelled(key)) for key in way)
        beside = {leaf(p) for p in self.columns if above(p) == above(outcome) != ""}
        piece = piece or (column.listed and not beside.isdisjoint(vocabulary.OF_PARTS))
        score -= 2.5 * (piece or any(words(key) & vocabulary.ANSWERS for key in way))
        if not self.request.named.get("outcome"):
            if piece and (column.listed or self.found.keys):
                question = "parts"
            elif not question and self._has_like(outcome):
                question = "which"
            elif not question and self._is_graded(outcome):
                score, question = score - 2.6, "threshold"
        prose = any(column.is_prose for column in self.free.values())
        vague = question in ("name", "words") and not strength("outcome", outcome)
        if task == LINE and (vague or (question == "threshold" and not prose)):
            # Rows of numbers alone sum up runs.
            return None
        verdict = "c" if self.counts else "outcome"
        roles = {"task": task, verdict: outcome, "model": model, "attempt": attempt}
        return RankedReading(
            score, self.structure, {r: p for r, p in roles.items() if p}, by, question
        )

    def _apart(self, task: str, outcome: str, model: str) -> bool:
        """Whether an outcome is none of this task and model."""
        column, tasks = self.columns[outcome], task.split(",")
        if {outcome, *parts(outcome)} & {*tasks} or column.beside:
            # What stands beside a list judges what the list is a part of.
            return True
        if EQUAL in outcome and self._is_one_of(outcome):
            return True
        if self.found.named and leaf(outcome) in ("acc", "accuracy"):
            # What keys name may have averages.
            return True
        models, own = self.columns.get(model), self.columns.get(task)
        if models and own and _is_of(own, models) and _is_of(models, own):
            # It is the model by another name.
            return True
        flags = {p: _is_of_tasks(self.columns[p], own) for p, each in self.outcomes.items()
                 if each.question in ("name", "polarity")}  # fmt: skip
        if flags.get(outcome) and not all(flags.values()):
            # Beside a verdict it says what kind of task it is.
            return True
        if EQUAL not in outcome and _beside(task, outcome, self.columns):
            return True
        if self.found.size == 1 and len({p.partition(".")[0] for p in (task, outcome, model)
                                         if "." in p}) > 1:  # fmt: skip
            # Of one document parts beside each other are no attempt.
            return True
        lists = [p for p, each in self.outcomes.items()
                 if each.question == "name" and self.columns[p].listed]  # fmt: skip
        if outcome in lists and len(lists) >= _NAMED:
            # Several lists of 0 and 1 under any names are answers in several conditions.
            return True
        if self.outcomes[outcome].question not in ("name", "words"):
            return False
        if own and _is_crossed(column, own):
            # Each value comes as often at each task: it was chosen, and did not happen.
            return True
        if self.outcomes[outcome].question == "words":
            return False
        few = any(len(self.columns[part].counts) < _NAMED for part in tasks if part)
        return few or _is_of(column, models)

    def _of_lists(self, column: FieldColumn) -> float:
        """How well a list in each record fits as that of its attempts."""
        even = len({len(values) for values in column.values if values}) == 1
        beside = [p for p, c in self.columns.items() if c.listed and _names_others(c)]
        # Entries that name their models, or tasks that differ, are no attempts of one.
        return 0.8 * even - 2.5 * any(above(path) == above(column.path) for path in beside)

    def _is_below_a_verdict(self, outcome: str) -> bool:
        """Whether something judges what an outcome is a part of."""
        column = self.columns[outcome]
        judging = [self.columns[p] for p, each in self.outcomes.items() if each.score >= _JUDGES]
        if column.listed:
            return any(not each.listed for each in judging)
        return not column.beside and any(each.beside for each in judging)

    def _is_one_of(self, outcome: str) -> bool:
        """Whether paths that differ in one key, or in the side of a comparison, lead to outcomes:
        each is that of a part alone."""
        own, others = words(outcome), [path for path in self.outcomes if path != outcome]
        if own & vocabulary.SIDES and any(own ^ words(path) <= vocabulary.SIDES for path in others):
            return True
        before, _, last = outcome.rpartition(".")
        alike = re.compile(rf"{re.escape(above(before))}\.[^.]+\.{re.escape(last)}")
        return bool(above(before)) and any(map(alike.fullmatch, others))

    def _has_like(self, outcome: str) -> bool:
        """Whether other truth values beside an outcome are called as it is, as alert_ok and
        order_ok, or other answers are compared with what was expected.

        A usual name says which is meant.
        """
        if EQUAL in outcome:
            gold, others = parts(outcome)[-1], {*self.outcomes} - {outcome}
            return any(EQUAL in path and parts(path)[-1] == gold for path in others)
        alike = strength("outcome", outcome) < 3 and self._alike(outcome, self.outcomes)
        return bool(alike) and not self._sums_up(outcome, self.outcomes)

    def _is_graded(self, outcome: str) -> bool:
        """Whether a number is one of several scores that are called alike, most of them graded."""
        kind = spelled(outcome).rpartition("_")[2]
        others = (
            self.outcomes[path].question == "threshold"
            for path in self.outcomes
            if path != outcome and above(path) == above(outcome)
            and spelled(path).rpartition("_")[2] == kind
        )  # fmt: skip
        return strength("outcome", outcome) < 3 and sum(others) > 1

    def _alike(self, outcome: str, outcomes: Collection[str]) -> list[FieldColumn]:
        """Truth values beside an outcome that are called as it is."""
        kind = spelled(outcome).rpartition("_")[2]
        return [
            self.columns[path]
            for path in outcomes
            if path != outcome
            and EQUAL not in path
            and spelled(path).rpartition("_")[2] == kind
            and above(path) == above(outcome)
            and {text.lower() for text in self.columns[path].counts} <= vocabulary.TRUTH_VALUES
        ]

    def _sums_up(self, outcome: str, outcomes: Collection[str]) -> bool:
        """Whether an outcome passes where all others that are called alike do, several that differ:
        it is the verdict, and they are its parts."""
        own = self.columns[outcome].judged
        each = [column.judged for column in self._alike(outcome, outcomes)]
        varied = {tuple(verdicts) for verdicts in each if len({*verdicts}) == 2} - {tuple(own)}
        return (
            len(varied) > 1
            and all(len(verdicts) == len(own) for verdicts in each)
            and own == [all(row) for row in zip(*each, strict=True)]
        )


def _is_of(column: FieldColumn, model: FieldColumn | None) -> bool:
    """Whether a column has one value at each of several models: it says something of these."""
    pairs = {*zip(model.texts, column.texts, strict=True)} if model else set()
    return 1 < len(pairs) == len({name for name, _ in pairs})


def _beside(task: str, outcome: str, columns: Collection[str]) -> bool:
    """Whether a task and an outcome belong to two records side by side, whose keys are alike."""
    one, other = task.partition(".")[0], outcome.partition(".")[0]
    return one != other and "." in task and f"{one}.{outcome.partition('.')[2]}" in columns


def _is_crossed(column: FieldColumn, task: FieldColumn) -> bool:
    """Whether each value comes with each of several tasks, and equally often."""
    pairs = Counter(zip(task.texts, column.texts, strict=True))
    crossed = len(pairs) == len(task.counts) * len(column.counts)
    return crossed and len(task.counts) >= _NAMED and len({*pairs.values()}) == 1


def _is_of_tasks(column: FieldColumn, task: FieldColumn | None) -> bool:
    """Whether a flag differs between tasks of several attempts each, and never within one."""
    if task is None or len(column.texts) < _NAMED * len(task.counts):
        return False
    return len({*column.judged}) == 2 and _is_of(column, task)


def _names_others(column: FieldColumn) -> bool:
    """Whether entries of lists name their models, or each a task of its own: under a usual name, or
    the same ones in every list."""
    lists = [[*map(str, value)] for value in column.values if isinstance(value, list)]
    apart = any(len({*names}) > 1 for names in lists)
    once = all(len({*names}) == len(names) >= _NAMED for names in lists)
    alike = once and len(lists) > 1 and len({*map(frozenset, lists)}) == 1
    numbers = strength("attempt", column.path) or all(
        NUMBERED.fullmatch(name) for names in lists for name in names
    )
    return strength("model", column.path) == 3 or (
        apart and (strength("task", column.path) == 3 or (alike and not numbers))
    )


def _sums(key: str) -> bool:
    """Whether a key says that sums of several tasks lie below: by_difficulty, but not by_task."""
    known = ROLE_WORDS["task"] | ROLE_WORDS["model"] | {"by"}
    return bool(words(key) & vocabulary.SUMMED) or ("by" in words(key) and not words(key) <= known)


def located(path: str, columns: Mapping[str, FieldColumn]) -> str:
    """The columns that a role's value is made of, as they are spelled here; "" where one is not."""
    plain = {each.replace(EACH, ""): each for each in columns}
    own = [p if p in columns else plain.get(p.replace(EACH, ""), "") for p in parts(path, columns)]
    return ",".join(own) if all(own) else ""
