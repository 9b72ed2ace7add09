"""Readings: what the records of a file may mean, ranked by names and by how columns behave.

Only on failure.  Of each structure the columns are found that may be the task, the outcome, the
model and the attempt; the best reading is tried, and an error says how to ask for it.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, PasskError
from passk_cli.files.reading.doubts.settings import DATES, NUMBERED, SUITES, is_setting
from passk_cli.files.reading.judges import judged
from passk_cli.files.reading.structures import ROWS, FieldColumn, Structure, beginning
from passk_cli.files.request import AVERAGED, BOUNDS, Request
from passk_cli.files.roles import (
    COLUMN,
    EACH,
    EQUAL,
    FAIL_WORDS,
    PASS_WORDS,
    ROLE_WORDS,
    SETTINGS,
    TRUTH,
    UNITS,
    agree,
    candidates,
    judge,
    leaf,
    parts,
    spelled,
    strength,
    words,
)
from passk_cli.files.sources.arguments import comes_once
from passk_cli.files.sources.paths import layout_template
from passk_cli.files.sources.source import text_kind
from passk_cli.near import did_you_mean, meant, nearest, there_are
from passk_cli.settle import Blank, Settle
from passk_cli.text import first_few, plural

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
# How many readings are tried, and how often options are added to one; how close the second best
# has to be; share of the outcomes that may be missing where a reading is proposed.
_TRIED, _ROUNDS, _CLOSE, _MISSING = 8, 6, 0.8, 0.2
# How many answers to a question are printed; how close scores are that may be meant as well; the
# share that reaches the highest score, from which on it may be what passes.
_OFFERED, _NEAR, _OFTEN = 3, 0.3, 0.1
# Options that answer a question.
_ANSWERS_OF = ("--passes", "--fails", "--threshold", *AVERAGED)
# Bytes of files that are read again for each remedy, to make it whole.
_TRIED_BYTES = 1 << 26
# The longest value that names something, also in words; how many columns are compared as task, as
# outcome.
_LONG, _SENTENCE, _COMPARED = 200, 6, 6
# The least score of a reading.
_LEAST = 2.5
# A name that ends in a number; how much a word before it has to be one for attempts or outcomes.
_NUMBERED, _ALIKE = re.compile(r"(.*[a-z])[_\- ]?\d{1,3}", re.I), 1.1
# What names of models begin with, or have in them.
_MODELS = re.compile(
    r"agent|claude|codestral|command|deepseek|falcon|gemini|gemma|glm|gpt|grok|haiku|kimi|llama"
    r"|minimax|mistral|mixtral|model|nemotron|nova|o[134]\b|opus|phi|qwen|sonnet|starcoder|yi\b",
    re.I,
)
# Names of values of several attempts.
_OF_SEVERAL = re.compile(r"(.*_)?pass(_at|_hat|@|\^)_?[0-9k]+")
# Words of the sides of a comparison in one record.
_SIDES = frozenset("a b left right".split())
# Words of verdicts on a classification, of which the first two are right.
_CLASSIFIED = ("tp", "tn", "fp", "fn")
_TRUTH_VALUES = frozenset("true false yes no 0 1".split())
# Questions about truth values.
_FLAGS = ("name", "polarity", "which")
# Tasks from which on truth values under any name may be their outcomes.
_NAMED = 3
# Words of outcomes of which nobody can know whether true passes.
UNCLEAR = frozenset(
    "label refusal refused refuse jailbreak jailbroken attack toxic toxicity harmful harm unsafe"
    " hallucination hallucinated violation leaked leak flagged fail failed failure wrong biased"
    " bias misled cheated hacked error breach breached obeyed complied exploited".split()
)
# Those of which true fails, as a rule.
_FAILURES = frozenset("fail failed failure wrong error".split())
# Words of names of what is no outcome, and of what is no task.
_CONTRARY = frozenset(
    "first total valid num count max min time timeout cached enabled skipped retry n index number"
    " exists has is_valid completed finished format prediction predicted dirty to type class kind"
    " mode".split()
)
_NO_TASK = frozenset(
    "run session time timestamp date response output trajectory uuid hash attempt trial seed log"
    " version created at ts started finished answer worker host category type difficulty level"
    " count duration reason path file url message error rep repeat iter iteration round epoch"
    " rollout sha256 sha digest trace span note notes comment reasoning explanation rationale final"
    " story len length size chars lines".split()
)
# Words of names of what an attempt took, and of the records in which its answer lies.
_AMOUNTS = frozenset("tokens token cost usd latency seconds ms weight".split())
_ANSWERS = frozenset("response usage raw output".split())
_GOLDS = frozenset("gold golden target expected reference".split())
_STATEMENTS = _GOLDS | {*"question problem statement instruction query prompt input".split()}
# Words of names of how good an attempt is, and of shares that say something else.
QUALITIES = frozenset(
    "quality rating overall f1 em bleu rouge meteor similarity recall precision coverage compliance"
    " faithfulness relevance truthfulness helpfulness plausibility coherence completeness".split()
)
_SHARES = frozenset(
    "probability prob confidence threshold risk entropy diversity std variance loss ratio density"
    " noise distance delta fraction uncertainty".split()
)
# Words of names of what is summed up over several tasks.
_SUMMED = frozenset(
    "category categories difficulty level domain topic tag aggregate aggregates averages".split()
)
# Names of what one attempt consists of.
_PARTS = re.compile(
    r"(turn|step|message|criteri(on|a)|rubric|check|claim|gate|evidence|assertion|expectation"
    r"|event|tool_call)(s|_results)?"
)
# Words of names of what is true, and of what was answered, which agrees with it or not.
_TRUTHS, _EXPECTED = frozenset("label truth true actual".split()), frozenset(("expected", "gold"))
# Words of names of numbers of something and of what is asked: no answers, and no statements.
_NO_ANSWER = frozenset("hits count counts num n length len size".split())
# Words of names of how many of an attempt's tests passed, and of how many there were.
_PASSED, _TOTAL = frozenset("passed pass passing correct".split()), frozenset("total max".split())
_PREDICTED = frozenset("pred predicted prediction".split())
_ANSWERED = _PREDICTED | {*"answer output response label action".split()}


@dataclass(frozen=True)
class RankedReading:
    """The meaning of a structure's records.

    roles : role → path, of a task also two with a comma between them.  by : columns that make
    groups.
    question : what its values do not say of the outcome: "polarity", "threshold" or "words";
        "parts" where they judge parts of an attempt; "name" where nothing but its two values speaks
        for it; "which" where others are called as it is; else "".
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


def readings(
    found: Sequence[Structure], request: Request, wrong: Collection[str] = ()
) -> list[RankedReading]:
    """The readings of these structures, the best first.

    wrong : roles whose columns, as asked, are not there or no outcomes: others are meant.
    """
    every = [reading for each in found for reading in _of_structure(each, request, wrong)]
    return sorted(every, key=lambda reading: -reading.score)


def _of_structure(
    structure: Structure, request: Request, wrong: Collection[str]
) -> Iterator[RankedReading]:
    asked = request.named
    judges = judged(structure.columns, request)
    # Labels say of a verdict whether it is right, and are themselves no outcome, unless asked for.
    labels = {request.labels, *judges.values()} - {*parts(asked.get("outcome", ""))}
    own = {path: column for path, column in structure.columns.items() if path not in labels}
    together = dict(_laid_out(own, asked.get("outcome", "")))
    agreeing = _agreements(own, asked.get("outcome", ""), summed=structure.named)
    structure = replace(structure, columns={**own, **together, **agreeing})
    columns = structure.columns
    known = {role for role in asked if role in ROLE_WORDS and asked[role] != COLUMN}
    wanted = {role: asked[role] for role in asked if role in known and role not in wrong}
    given = {role: _located(path, columns) for role, path in wanted.items()}
    if "" in given.values() or any(words(key) & _SUMMED for key in structure.keys):
        return
    taken = {part for path in given.values() for part in parts(path)} | {*request.by}
    free = {path: column for path, column in own.items() if path not in taken}
    pairs = [*_agreeing(free)]
    compared = {path for pair in pairs for path in pair if strength("outcome", path) < 3}
    # What stands with an answer, apart from what was expected, tells the answer again.
    told = {_within(answer) for answer, gold in pairs if _within(answer) != _within(gold)}
    compared |= {p for p in free if _within(p) in told and strength("outcome", p) < 1.7}
    compared |= {part for path in together for part in path.split(",")}
    tasks = _tasks(structure, free)
    outcomes = {p: _outcome(c) for p, c in free.items() if p not in compared}
    outcomes |= {p: _outcome(replace(c, path="outcome")) for p, c in together.items()}
    for path in judges.keys() & free.keys():
        as_verdict = _outcome(replace(free[path], path=f"{path}_verdict"))
        outcomes[path] = max(outcomes[path] or (0.0, ""), as_verdict or (0.0, ""))
    answers = {part for path in agreeing for part in parts(path)}
    for answer in answers:
        if (outcomes.get(answer) or (0, ""))[1] == "words":
            # Words that are no verdicts, beside those that were expected.
            del outcomes[answer]
    # Where nothing gives a verdict, an answer passes that is the expected one.
    outcomes |= {p: (2.3 if len({*c.judged}) == 2 else 0.5, "") for p, c in agreeing.items()}
    if "task" in given or (request.template and "task" in request.template.names):
        tasks = {given.get("task", ""): 3.0}
    counts = bool(candidates("n", structure.usual) and candidates("c", structure.usual))
    if counts:
        outcomes = {candidates("c", structure.usual)[0]: (5.0, "")}
    if "outcome" in given:
        path = given["outcome"]
        score, question = outcomes.get(path) or _outcome(columns[path]) or (0.0, "words")
        # Who names it knows what it means.
        outcomes = {path: (score, "" if question in ("name", "polarity") else question)}

    def near(role: str, path: str) -> float:
        """How similar a column's name is to the one that was asked for and is not there."""
        return 3 * SequenceMatcher(None, asked[role], path).ratio() if role in wrong else 0.0

    likely = {p: (o[0] + near("outcome", p), o[1]) for p, o in outcomes.items() if o and o[0] > 0}
    whole = [p for p, o in likely.items() if not o[1] and _sums_up(p, likely, columns)]
    likely |= {p: (likely[p][0] + 1, "") for p in whole}
    # Where a name speaks for a flag, and none is unclear, those of any name beside it do not count.
    named = {_within(p) for p, each in likely.items() if not (each[1] or columns[p].listed)}
    named -= {_within(p) for p, (_, question) in likely.items() if question == "polarity"}
    likely = {p: o for p, o in likely.items() if o[1] != "name" or _within(p) not in named}
    for task, outcome in product(
        sorted(tasks, key=lambda path: -tasks[path] - near("task", path))[:_COMPARED],
        sorted(likely, key=lambda path: -likely[path][0])[: 2 * _COMPARED],
    ):
        score, question = likely[outcome]
        played = {*task.split(","), outcome, *parts(outcome)}
        few = any(len(columns[part].counts) < _NAMED for part in task.split(",") if part)
        both = bool({outcome, *parts(outcome)} & {*task.split(",")})
        both = both or (EQUAL in outcome and _is_one_of(likely, outcome))
        if both or (question == "name" and few) or columns[outcome].beside:
            # What stands beside a list judges what the list is a part of.
            continue
        others = {path: c for path, c in free.items() if path not in played | answers}
        others = {p: c for p, c in others.items() if p.rpartition("_")[0] not in answers}
        models = _ranked("model", others)
        model = given.get("model", next(iter(models), ""))
        if question == "name" and _is_of(columns[outcome], columns.get(model)):
            continue
        if structure.named and model in columns:
            rows = [*zip(columns[model].texts, columns[outcome].texts, strict=True)]
            if {name for name, _ in rows} > {name for name, text in rows if text}:
                # Of keys that are named each has it.
                continue
        score += tasks[task] + near("task", task) + 0.7 * strength("model", model)
        attempt, by = given.get("attempt", ""), tuple[str, ...]()
        verdict = "c" if counts else "outcome"
        if columns[outcome].listed:
            score += 0.8 * (len({len(v) for v in columns[outcome].values if v}) == 1)
            beside = [p for p, c in columns.items() if c.listed and strength("model", p) == 3]
            # Entries that name their models are no attempts of one.
            score -= 2.5 * any(_within(path) == _within(outcome) for path in beside)
        elif task and not counts:
            cells = [p for p in (*task.split(","), *model.split(","), *request.by) if p in columns]
            others.pop(model, None)
            attempt, by, fit = _attempt(structure, cells, attempt, others)
            score += fit
        way = [
            *structure.keys,
            *outcome.replace(EACH, "").split(".")[: -1 * (EQUAL not in outcome)],
        ]
        piece = next((key for key in way if _PARTS.fullmatch(spelled(key))), "")
        score -= 2.5 * (bool(piece) or any(words(key) & _ANSWERS for key in way))
        if piece and not asked.get("outcome") and (columns[outcome].listed or structure.keys):
            question = "parts"
        score -= 2.5 * (_below_a_verdict(columns, likely, outcome) or _is_one_of(likely, outcome))
        if not question and not asked.get("outcome") and _has_like(columns, likely, outcome):
            question = "which"
        score -= 0.1 * (EACH in outcome)
        score -= 0.1 * any(columns[part].beside for part in played if part)
        last = outcome.rpartition(".")[2].lower()
        if score < _LEAST or (structure.named and last in ("acc", "accuracy")):
            # What keys name may have averages.
            continue
        roles = {"task": task, verdict: outcome, "model": model, "attempt": attempt}
        yield RankedReading(score, structure, {r: p for r, p in roles.items() if p}, by, question)


def _laid_out(columns: Mapping[str, FieldColumn], asked: str) -> Iterator[tuple[str, FieldColumn]]:
    """Columns of an attempt each, which differ by a number after a word for attempts or outcomes,
    as the list that they are: run1, run2, run3; and those that were asked for so.

    asked : the columns of the outcome with commas between them, "" where it is not asked for.
    """
    alike: dict[str, list[str]] = {asked: asked.split(",")} if "," in asked else {}
    for path, column in columns.items():
        name = None if column.listed else _NUMBERED.fullmatch(path)
        if name and max(strength(role, name[1]) for role in ("attempt", "outcome")) > _ALIKE:
            alike.setdefault(name[1], []).append(path)
    for paths in alike.values():
        if len(paths) > 1 and all(path in columns for path in paths):
            values = [list(row) for row in zip(*(columns[p].values for p in paths), strict=True)]
            yield ",".join(paths), FieldColumn(",".join(paths), values)


def _within(path: str) -> str:
    """Where a field stands."""
    return path.rpartition(".")[0]


def _is_one_of(outcomes: Collection[str], outcome: str) -> bool:
    """Whether paths that differ in one key, or in the side of a comparison, lead to outcomes: each
    is that of a part alone."""
    own = words(outcome)
    if own & _SIDES and any(own ^ words(path) <= _SIDES for path in outcomes if path != outcome):
        return True
    before, _, last = outcome.rpartition(".")
    above, last = before.rpartition(".")[0], re.escape(last)
    alike = [path for path in outcomes if re.fullmatch(rf"{re.escape(above)}\.[^.]+\.{last}", path)]
    return bool(above) and len(alike) > 1


def _has_like(columns: Mapping[str, FieldColumn], outcomes: Collection[str], outcome: str) -> bool:
    """Whether other truth values beside an outcome are called as it is, as alert_ok and order_ok,
    or other answers are compared with what was expected.

    A usual name says which is meant.
    """
    if EQUAL in outcome:
        # Answers of several systems.
        gold = parts(outcome)[-1]
        return any(EQUAL in p and parts(p)[-1] == gold for p in outcomes if p != outcome)
    alike = strength("outcome", outcome) < 3 and _alike(outcome, outcomes, columns)
    return bool(alike) and not _sums_up(outcome, outcomes, columns)


def _alike(
    outcome: str, outcomes: Collection[str], columns: Mapping[str, FieldColumn]
) -> list[FieldColumn]:
    """Truth values beside an outcome that are called as it is."""
    kind = spelled(outcome).rpartition("_")[2]
    return [
        columns[path]
        for path in outcomes
        if path != outcome
        and EQUAL not in path
        and spelled(path).rpartition("_")[2] == kind
        and _within(path) == _within(outcome)
        and {text.lower() for text in columns[path].counts} <= _TRUTH_VALUES
    ]


def _sums_up(outcome: str, outcomes: Collection[str], columns: Mapping[str, FieldColumn]) -> bool:
    """Whether an outcome passes where all others that are called alike do, several that differ: it
    is the verdict, and they are its parts."""
    own = columns[outcome].judged
    each = [column.judged for column in _alike(outcome, outcomes, columns)]
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


def _located(path: str, columns: Mapping[str, FieldColumn]) -> str:
    """The columns that a role's value is made of, as they are spelled here; "" where one is not."""
    plain = {each.replace(EACH, ""): each for each in columns}
    own = [p if p in columns else plain.get(p.replace(EACH, ""), "") for p in parts(path, columns)]
    return ",".join(own) if all(own) else ""


def _agreements(
    columns: Mapping[str, FieldColumn], asked: str, *, summed: bool
) -> dict[str, FieldColumn]:
    """Whether columns agree, as outcomes: an answer with what was expected, of which most answers
    are values; what passed with how many there are; and those that are asked for.

    summed : whether records may be sums of several tasks, whose tests are these.
    """
    pairs = [
        (answer, gold)
        for answer, gold in _agreeing(columns)
        if not _is_prose(columns[gold])  # Sentences that agree are a copy.
        and 2 * sum(n for v, n in columns[answer].counts.items() if v in columns[gold].counts)
        >= columns[answer].counts.total()
    ]
    pairs += [] if summed else _of_totals(columns)
    both = parts(asked, columns)
    pairs += [(both[0], both[1])] if EQUAL in asked and {*both} <= columns.keys() else []
    return {
        f"{one}{EQUAL}{other}": FieldColumn(
            f"{one}{EQUAL}{other}",
            [*map(agree, columns[one].values, columns[other].values)],
        )
        for one, other in pairs
    }


def _of_totals(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Columns of how many tests passed, each with that of how many there were."""
    counts = {
        path: column
        for path, column in columns.items()
        if not column.listed and "" not in column.texts and all(map(str.isdigit, column.texts))
    }
    totals = [path for path in counts if words(path) & _TOTAL]
    for one, other in product(counts, totals):
        rest = words(one) - _PASSED, words(other) - _TOTAL
        alike = rest[0] == rest[1] and rest[0] < words(one) and rest[1] < words(other)
        if alike and _within(one) == _within(other):
            passed, made = counts[one].numbers, counts[other].numbers
            if max(made) > 1 and all(0 <= p <= n for p, n in zip(passed, made, strict=True)):
                yield one, other


def _below_a_verdict(
    columns: Mapping[str, FieldColumn], outcomes: Mapping[str, tuple[float, str]], outcome: str
) -> bool:
    """Whether something judges what an outcome is a part of."""
    above = [columns[p] for p, (score, _) in outcomes.items() if score >= 2.4]
    if columns[outcome].listed:
        return any(not column.listed for column in above)
    return not columns[outcome].beside and any(column.beside for column in above)


def _ranked(role: str, columns: Mapping[str, FieldColumn]) -> list[str]:
    """The columns whose names mean a role, and whose values may name something."""
    scores = {
        path: strength(role, path)
        for path, column in columns.items()
        if not column.listed
        and max(map(len, column.counts), default=_LONG) < _LONG
        and not (_is_amount(path) or _is_prose(column))
        and not (role == "model" and (column.numbers or {*map(type, column.judged)} == {bool}))
    }
    named = (path for path, score in scores.items() if score)
    return sorted(
        named, key=lambda path: (-scores[path], role == "attempt" and not columns[path].numbers)
    )


def _is_amount(path: str) -> bool:
    last = path.rpartition(".")[2]
    return bool(words(last) & _AMOUNTS) or any(candidates(role, [last]) for role in UNITS)


def _tasks(structure: Structure, columns: Mapping[str, FieldColumn]) -> dict[str, float]:
    """Columns that may be the task, also two together, and how likely each is."""
    plain = {p: c for p, c in columns.items() if not c.listed and c.counts}
    statements = [
        column
        for path, column in plain.items()
        if words(path) & _STATEMENTS
        and (leaf(path) in _STATEMENTS or not is_setting(path))
        and not (_is_amount(path) or words(path) & _NO_ANSWER)
    ]
    numbers = [name for name in candidates("attempt", structure.usual) if name in plain]
    rows = [
        columns[p].texts for p in (*candidates("model", structure.usual), *numbers) if p in columns
    ]
    apart = len({*zip(*rows, strict=True)}) if numbers and len(rows) > 1 else structure.size
    scores: dict[str, float] = {}
    for path, column in plain.items():
        last, values = path.rpartition(".")[2], column.counts
        kinds = {type(value) for value in column.values} - {type(None)}
        named = strength("task", path)
        foreign = max(strength(role, path) for role in ("model", "outcome", "attempt"))
        unlike = not kinds <= {str, int} or _is_amount(path) or column.texts.count("")
        constant = named < 3 and len(values) == 1 < structure.size
        if unlike or max(map(len, values)) > 10 * _LONG or constant:
            continue
        evenly = max(values.values()) <= 2 * min(values.values()) > 2
        own = evenly or (len(values) == structure.size and (kinds == {str} or _is_count(column)))
        if apart < structure.size and not is_setting(path) and kinds == {str}:
            # With the model and the attempt it tells all rows apart.
            own = own or len({*zip(*rows, column.texts, strict=True)}) == structure.size
        if not (named or own) or (named < 1.7 and _is_prose(column) and column not in statements):
            # Under a name of its own a task comes about equally often, is the id of a row, or what
            # an attempt's number counts within.
            continue
        answered = any(words(part) & _ANSWERS for part in path.split(".")[:-1])
        if named < 3 and (answered or (structure.size == 1 and named < 1.7)):
            continue
        score = named + (1.0 if len(values) >= 5 else 0.0 if len(values) >= 3 else -1.2)
        score += 0.6 * (len(set(values.values())) == 1) + 0.2 * (len(values) == structure.size)
        score -= 1.0 * (is_setting(path))
        numbers_of = _NO_ANSWER | _TOTAL | {"cases"}
        unlikely = foreign == 3 or bool(words(last) & (_NO_TASK | numbers_of | ROLE_WORDS["model"]))
        unlikely = unlikely and named < 1.7
        # Where attempts have numbers a task has several, as a rule.
        numbered = any(1 < len(plain[name].counts) < structure.size for name in numbers)
        alone = len(values) == structure.size > 1
        score -= 2.0 * unlikely + 3.0 * (named < 1.7 and alone and numbered)
        # An id of each row, such as a trial's, is a task's only where it is called so.
        score -= 2.0 * (unlikely and alone)
        score -= 2.0 * (named < 3 and all(map(NUMBERED.fullmatch, values)) and int not in kinds)
        score -= 0.5 * (max(map(len, values)) > _LONG) + 2.0 * all(v[0] == "/" for v in values)
        score -= 1.0 * (not named and ({*map(text_kind, values)} == {"number"}))
        if len(values) < structure.size:
            for statement in statements:
                if statement is not column and statement.path != path:
                    pairs = {
                        pair for pair in zip(column.texts, statement.texts, strict=True) if pair[1]
                    }
                    score += 1.2 if len(pairs) == len({name for name, _ in pairs}) else -2.5
                    break
        suite = next((p for p, c in plain.items() if _restarts(c, column)), "")
        if suite:
            scores[f"{suite},{path}"], score = score - 0.5, score - 3
        scores[path] = score
    likely = {path: score for path, score in scores.items() if score > 0.5}
    if max(likely.values(), default=0) < 1:
        likely |= {f"{one},{other}": 1.0 for one, other in _grids(plain)}
    return likely


def _grids(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Two columns that occur in all combinations: of whole numbers, as year and day, or of texts
    that are no settings."""
    few = {
        path: column
        for path, column in columns.items()
        if len(column.counts) in range(2, 100)
        and not (_is_amount(path) or is_setting(path) or _is_prose(column))
        and not words(path) & (_NO_TASK | _CONTRARY | ROLE_WORDS["model"])
    }
    for kind in (int, str):
        alike = [path for path in few if {type(value) for value in few[path].values} == {kind}]
        if kind is str:
            # Of texts neither numbers nor what may pass or fail.
            alike = [p for p in alike if {*map(type, few[p].judged)} == {str}]
            alike = [p for p in alike if not (few[p].numbers or _outcome(few[p]))]
        for one, other in combinations(alike, 2):
            pairs = {*zip(few[one].texts, few[other].texts, strict=True)}
            if len(pairs) == len(few[one].counts) * len(few[other].counts):
                yield one, other


def _is_prose(column: FieldColumn) -> bool:
    """Whether values are sentences, which name nothing."""
    values = column.counts
    return sum(len(value.split()) > _SENTENCE for value in values) > 0.5 * len(values)


def _restarts(suite: FieldColumn, column: FieldColumn) -> bool:
    """Whether a column's numbers start again under each of a few parts, which differ in size."""
    if suite is column or len(suite.counts) not in range(2, 40):
        return False
    outer = suite.beside and not (strength("model", suite.path) or is_setting(suite.path))
    if not (outer or words(suite.path) & SUITES):
        return False
    if {*map(text_kind, column.counts)} != {"number"}:
        return False
    under: dict[str, set[float]] = defaultdict(set)
    for part, text in zip(suite.texts, column.texts, strict=True):
        under[part].add(float(text or -1))
    first = {min(numbers) for numbers in under.values()}
    return len(first) == 1 and len({len(numbers) for numbers in under.values()}) > 1


def _outcome(column: FieldColumn) -> tuple[float, str] | None:
    """How likely a column is the outcome, and what nobody can know of it; None for no outcome."""
    last = column.path.replace(EACH, "").rpartition(".")[2]
    named = strength("outcome", column.path)
    # A refusal that is correct passes.
    unclear = bool(words(last) & UNCLEAR) and "correct" not in words(last)
    verdicts, name = column.judged, spelled(last)
    if _OF_SEVERAL.fullmatch(name):
        return None
    said = {str(v).strip().lower() for v in column.flat} & {*PASS_WORDS, *FAIL_WORDS}
    # A word that passes or fails says which it is.
    unclear = unclear and not said - {"true", "false"}
    if (unclear and named < 3) or (named == 0 and _says_passes(column)):
        named = 1.2
    amount = _is_amount(column.path) or bool(candidates("n", [last]))
    # Of what is true or expected an answer makes an outcome.
    truth = named < 1.7 and words(last) & (_TRUTHS | _EXPECTED) - {"label"}
    if not verdicts or amount or truth or any(isinstance(v, list | dict) for v in column.flat):
        return None
    foreign = any(strength(role, name) == 3 for role in ("task", "attempt", "model"))
    if named < 3 and (foreign or name in SETTINGS):
        return None
    score = named - 1.5 * len(words(last) & _CONTRARY) * (named < 1.7)
    score -= 1.0 * (len(verdicts) < 0.5 * len(column.flat))
    texts = [verdict for verdict in verdicts if isinstance(verdict, str)]
    if named == 0 and _is_score(column):
        usual = bool(words(last) & QUALITIES) + ("overall" in words(last))
        return 0.2 + 0.6 * usual, "threshold"
    if not texts:
        both, plain = len({*verdicts}) == 2, said <= {"true", "false"} and bool(said)
        foreign = is_setting(column.path)
        foreign = foreign or bool(words(last) & (_STATEMENTS | _ANSWERED | _ANSWERS))
        foreign = foreign or strength("attempt", column.path) > 1.2
        if named == 0 and not (both and len(verdicts) == len(column.flat) and not foreign):
            return None
        several = (word for word in words(last) if word.endswith("s"))
        if named < 3 and not plain and any(map(_PARTS.fullmatch, several)):
            # How many parts of an attempt passed, at most 1.
            return None
        score += (
            2.0 if both else -2.0 if name == "status" else 0.5 if plain and not unclear else -0.5
        )
        score -= 0.3 * unclear + 0.8 * (named == 0)
        # A constant says little, and less where it says it of the agent: that it ran.
        alone = not (both or unclear) and named < 1.6
        score -= (1.0 + bool(words(last) & ROLE_WORDS["model"])) * alone
        score += 1.5 * bool(both and said - {"true", "false"})
        return score, "polarity" if unclear else "" if named else "name"
    if named == 0 or (unclear and column.numbers):
        # Of a rate of what is bad less is better.
        return None
    if column.numbers:
        low, high = min(column.numbers), max(column.numbers)
        if math.isinf(high - low):
            return None
        whole = all(number % 1 == 0 for number in column.numbers)
        passing = words(last) & {*PASS_WORDS, "verified"}
        score += 0.5 * (low >= 0 and high <= 1) - 3.0 * bool(whole and high > 1 and passing)
        score -= 0.5 + 1.0 * (low == high) + 1.0 * bool(words(last) & _NO_ANSWER)
        return score - 1.0 * (whole and high > 1 and named < 1.6), "threshold"
    distinct = {*texts}
    choices = 2 <= len({*map(str, verdicts)}) <= 5 and max(map(len, distinct)) <= 40
    score += 0.5 * (len({*map(str, verdicts)}) == 2)
    return (score, "words") if choices and len(verdicts) > len(distinct) else None


def _is_score(column: FieldColumn) -> bool:
    """Whether values say how good an attempt is: under a name for that, or as grades from 1 to 5 or
    shares of 1 under a name that is nothing else's."""
    numbers, named = {*column.numbers}, words(column.path)
    known = _NO_TASK | _CONTRARY | _AMOUNTS | ROLE_WORDS["task"] | ROLE_WORDS["attempt"]
    if len(numbers) < 2 or min(numbers) < 0 or named & known or is_setting(column.path):
        return False
    grades = {1, 5} < numbers <= {1, 2, 3, 4, 5}
    shares = len(numbers) > 2 and max(numbers) <= 1 and not named & _SHARES
    return bool(named & QUALITIES) or grades or shares


def _says_passes(column: FieldColumn) -> bool:
    """Whether some of its few words pass or fail, as correct and hedged_wrong do."""
    texts = {value for value in column.flat if isinstance(value, str)}
    # These are less: ja and no are languages as well.
    known = {*PASS_WORDS, *FAIL_WORDS} - {"true", "false", "t", "f", "yes", "no", "ja", "ok"}
    return len(texts) in range(2, 6) and any(
        {*re.split(r"[\W_]+", t.lower())} & known for t in texts
    )


def _attempt(
    structure: Structure, cell: Sequence[str], given: str, columns: Mapping[str, FieldColumn]
) -> tuple[str, tuple[str, ...], float]:
    """The column that numbers the attempts, "" for none; a setting without which its numbers
    repeat; and how well the rows fit the reading.

    cell : columns whose values an attempt shares with the others at its task.
    """
    cells = [*zip(*(structure.columns[path].texts for path in cell), strict=True)]
    sizes = {*Counter(cells).values()}
    fit = 0.8 * (len(sizes) == 1 and sizes != {1})
    usual = candidates("attempt", structure.usual)
    if given or sizes <= {1}:
        return given or (usual[0] if len(usual) > 1 else ""), (), fit

    def distinct(*paths: str) -> bool:
        """Whether the values of columns tell the rows of each cell apart."""
        return len({*zip(cells, *(columns[p].texts for p in paths), strict=True)}) == len(cells)

    named = _ranked("attempt", columns)
    once = [path for path in named if distinct(path)]
    if once or any(strength("attempt", path) >= 1.7 for path in named):
        # A usual name is taken for it in any case.
        return (once or named)[0], (), fit + (0.9 if once else -0.8)
    numbers = [p for p, c in columns.items() if _is_count(c) and len(c.counts) <= max(sizes)]
    numbers = [p for p in numbers if not (_is_amount(p) or words(p) & _NO_ANSWER)]
    numbers = [p for p in numbers if not _outcome(columns[p])]
    texts = (p for p, c in columns.items() if not (c.listed or c.numbers or "" in c.texts))
    texts = (path for path in texts if is_setting(path) or not words(path) & _NO_TASK)
    settings = ["", *(path for path in texts if len(columns[path].counts) in range(2, 20))]
    for setting, number in product(settings, numbers):
        by = (setting,) if setting else ()
        if distinct(*by, number):
            return number, by, fit + 0.4
    return "", (), fit


def _is_count(column: FieldColumn) -> bool:
    """Whether its values are the whole numbers up to some number, from 0 or 1 on."""
    plain = not column.listed and "" not in column.texts and type(column.flat[0]) is not bool
    numbers = sorted({*column.numbers}) if plain else []
    return len(numbers) > 1 and numbers in ([*range(len(numbers))], [*range(1, len(numbers) + 1)])


def proposed(
    error: DataError,
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    read: Callable[[Request], Counts],
) -> DataError:
    """The error with the options by which its data can be read, or with what only people know.

    read : reads with a request.
    """
    if request.engine != "duckdb" or any(comes_once(s.frame) for s in sources):
        return error
    if error.name == "no-role-column":
        # What an attempt took may lie deeper.
        (role,) = error.settles[0].options["--field"]
        records = beginning(str(error.place), con, sources, request)
        inside = {path: path.rpartition(".")[2] for each in records for path in each.columns}
        named = [Settle({"--field": {role: path}}) for path, name in inside.items()
                 if path != name and candidates(role, [name])]  # fmt: skip
        error = error.but(type(error), settles=_readable(named, request, read) or error.settles)
    if error.name not in _ASKED:
        small = sum(os.path.getsize(s.path) for s in sources if s.frame is None) <= _TRIED_BYTES
        whole = _completed(error.settles, request, read) if small else error.settles
        return error if whole == error.settles else error.but(type(error), settles=whole)
    asked = request.named
    absent = {part: role for role, column in asked.items() for part in parts(column)
              if error.problem.startswith(f"no column {part!r}")}  # fmt: skip
    wrong = [*absent.values()]
    offered = {role for settle in error.settles for role in settle.options.get("--field", {})}
    structures: list[Structure] = []
    # Of what attempts took or said no reading knows.
    grouped = next((c for c in request.by if error.problem == f"no column {c!r}"), "")
    sought = wrong or grouped or error.name != "no-such-column"
    if sought and not offered - {*ROLE_WORDS, "n", "c"}:
        try:
            structures = beginning(str(error.place), con, sources, request)
        except DataError as refusal:
            return refusal if error.name == "unknown-format" else error
        if error.name in ("no-task-column", "no-outcome-column"):
            # The first file of a folder may be the one that sums up the others.
            others = (beginning(s.name, con, [s], request) for s in sources[:_TRIED])
            alike = (found for found in others if readings(found, request, wrong))
            if not readings(structures, request, wrong):
                structures = next(alike, structures)
    deeper = [p for each in structures for p in each.columns if leaf(p) == grouped]
    if deeper and request.by == (grouped,):
        return error.but(type(error), settles=[Settle({"--by": path}) for path in deeper])
    if grouped:
        return error
    if error.name in ("missing-outcome", "bad-outcome"):
        wrong = ["outcome"] if "outcome" in asked else []
    elif structures:
        wrong += [
            role
            for role in {*asked} & {*ROLE_WORDS} - {*wrong}
            if not any(_located(asked[role], structure.columns) for structure in structures)
        ]
    ranked = [r for r in readings(structures, request, wrong) if _suits(r, error, request)]
    settles, question = _settled(ranked, request, read, 0.6 * len(sources))
    settles += [*_with_labels(settles, structures, request)]
    if error.name == "ambiguous-records" or not (settles or question):
        known = [settle.options.get("--records") for settle in settles]
        unknown = [s for s in error.settles if s.options.get("--records", "") not in known]
        settles += _readable(unknown, request, read)
    if error.name == "no-outcome-column" and not (settles or question):
        settles = _readable([*_aggregated(structures)], request, read)
    amount = next((role for role in request.attempts if role in UNITS), "")
    if amount and not (settles or question):
        # What attempts took may be missing beside what they were.
        settles, question = _settled(
            ranked, replace(request, attempts=()), read, 0.6 * len(sources)
        )
        settles = [s.merged(Settle({"--field": {amount: Blank("COLUMN")}}, "names it"))
                   for s in settles[:1]]  # fmt: skip
    paths = [source.path for source in sources if source.frame is None]
    template, why = layout_template(paths), ""
    rows = next((each for each in structures if not each.keys and each.size > 1), None)
    if len(paths) == 1 and rows and not _tells_tasks(rows):
        template, why = "{task}" + os.path.splitext(paths[0])[1], "attempts at one task"
    if template and error.name == "no-task-column" and not (settles or question):
        settles = _readable([Settle({"--path": template}, why)], request, read)
        # Of one task nothing else is settled on the way, as what passes.
        settles = [s for s in settles if not why or s.options.keys() == {"--path"}]
    pairs = [*dict.fromkeys(pair for each in structures for pair in _agreeing(each.columns))]
    if error.name in ("no-task-column", "no-outcome-column") and pairs and not settles:
        question = question or "an attempt passes where {} agrees with {}?".format(*pairs[0])
        same = Settle({"--field": {"outcome": EQUAL.join(pairs[0])}}, "compares them as they are")
        settles = _readable([same] * (len(pairs) == 1), request, read)
        settles = settles or [Settle({"--field": {"outcome": Blank("A==B")}}, "compares columns")]
    columns = [path for structure in structures for path in structure.columns]
    likely = (nearest(name, columns) for name in absent if name not in columns)
    if near := next(filter(None, likely), []):
        # A word that is nearly right says what is to be read.
        settles = [s for s in settles if near[0] in s.options.get("--field", {}).values()][:1]
        return error.but(type(error), remedy=did_you_mean(near), settles=settles)
    if absent:
        # One wrong word is answered by one line.
        settles = settles[:1]
    elif other := "" if settles or question else _absent(request, structures):
        problem, remedy = f"no column {other!r}", meant(other, columns, there_are(columns))
        return DataError(error.place, problem, remedy, name="no-such-column")
    # Beside its own remedies stands what else may be done.
    own = error.name == "no-results" and all("--skip-bad" in each.options for each in settles)
    remedy = question or error.words * (not settles or own)
    # What to make of missing outcomes is to be said, also where something else is asked then.
    settles = settles or [
        each for each in error.settles if _open(each) or error.name == "missing-outcome"
    ]
    if error.name == "ambiguous-column" and error.settles and not (settles or question):
        role = next(iter(error.settles[0].options["--field"]))
        settles = [Settle({"--field": {role: Blank("COLUMN")}}, "chooses one")]
    nested = any("." in path and s.size == ROWS for s in structures[:1] for path in s.columns)
    if not any(settle.complete for settle in settles) and not question and nested:
        sought = f"nested fields were looked for in the first {ROWS:,} records"
        remedy = "; ".join(filter(None, [remedy, sought]))
    return error.but(type(error), remedy=remedy, settles=settles)


def _with_labels(
    settles: Sequence[Settle], structures: Sequence[Structure], request: Request
) -> Iterator[Settle]:
    """How a judge's verdicts, which remedies read, are compared with labels of them."""
    judges = {k: v for each in structures for k, v in judged(each.columns, request).items()}
    for settle in settles if not request.labelled else ():
        fields = settle.options.get("--field", {})
        outcome = fields.get("outcome", request.named.get("outcome", ""))
        if settle.complete and outcome in judges and "-m" not in settle.options:
            fields = {**fields, TRUTH: judges[outcome]}
            why = f"says how often {outcome} errs, and corrects"
            yield Settle({**settle.options, "--field": fields}, why, "judge")


def _tells_tasks(structure: Structure) -> bool:
    """Whether a column may tell tasks apart: texts that differ and are no times, and numbers that
    count."""
    plain = [c for c in structure.columns.values() if not c.listed and len(c.counts) > 1]
    texts = (c for c in plain if not c.numbers and {*map(type, c.judged)} != {bool})
    counts = any(
        _is_count(c)
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


def _absent(request: Request, structures: Sequence[Structure]) -> str:
    """The first column of those that split, pool or group that no structure has; "" for none."""
    there = {each for s in structures for path in s.columns for each in (path, leaf(path))}
    asked = (*request.by, *request.pool, *filter(None, [request.cluster]))
    return next((name for name in asked if structures and name not in there), "")


def _agreeing(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Columns of answers, each with one of what was expected, which have values in common."""
    texts = {
        path: c
        for path, c in columns.items()
        if not (c.listed or _is_amount(path) or words(path) & _NO_ANSWER)
        and not leaf(path).endswith("model")
    }
    golds = {path: c for path, c in texts.items() if words(path) & (_GOLDS | _TRUTHS)}
    if any(words(path) & _PREDICTED for path in texts):
        # Beside what was predicted, an answer is the right one.
        golds = golds or {path: c for path, c in texts.items() if leaf(path) == "answer"}
    for (gold, one), (answer, other) in product(golds.items(), texts.items()):
        rest = words(gold) - _EXPECTED
        alike = rest < words(gold) and bool(rest) and rest <= words(answer)
        alike = alike or (not rest and strength("outcome", answer) == 3)
        alike = alike or (
            bool(rest) and _has_labels(other, one) and _within(gold) == _within(answer)
        )
        named = words(answer)
        meant = (alike or bool(named & _ANSWERED)) and not named & _EXPECTED
        if meant and leaf(gold) != leaf(answer) and {*other.counts} & {*one.counts}:
            yield answer, gold


def _has_labels(column: FieldColumn, gold: FieldColumn) -> bool:
    """Whether values are labels of those that were expected, several of them."""
    labels = len(gold.counts) in range(2, 20) and column.counts.total() > 2 * len(gold.counts)
    labels = labels and not gold.numbers
    return labels and len(column.counts) > 1 and column.counts.keys() <= gold.counts.keys()


def _settled(
    ranked: Sequence[RankedReading],
    request: Request,
    read: Callable[[Request], Counts],
    most: float,
) -> tuple[list[Settle], str]:
    """The best reading that reads, and the second best where it is close; or else a question.

    most : files that may be passed over.
    """
    settles: list[Settle] = []
    asked: list[dict[str, Any]] = []
    known: list[list[tuple[int, int]]] = []
    # Structures of which a better reading needs no answer.
    clear: list[Structure] = []
    best = 0.0
    for reading in ranked:
        own = reading.options(request)
        if own in asked:
            continue
        far = bool(settles) and reading.score < best - _CLOSE
        if far or len(settles) == 2 or len(asked) == _TRIED:
            break
        asked.append(own)
        scored = request.threshold or request.scores_only
        if reading.question and not (scored and reading.question == "threshold"):
            if settles or reading.structure in clear:
                continue
            rivals = _rivals(reading, ranked)
            ways = _ways(rivals, request)
            whole = _readable(ways[:_OFFERED], request, read)
            if reading.question == "name" and not whole:
                continue
            answered = len(whole) == len(ways) > 0
            given = whole[0].options if whole else own
            left = {name: value for name, value in given.items() if name not in _ANSWERS_OF}
            blank = [] if answered and reading.question != "threshold" else _blank(rivals, left)
            whole = whole if len(ways) <= _OFFERED else []
            return [*whole, *blank], _question(rivals, answered=answered)
        settle, counts = _tried(Settle(own), request, read) if own else (Settle(own), None)
        clear.append(reading.structure)
        # What most files lack is no outcome of theirs.
        if counts is None or len(counts.facts.foreign) > most:
            continue
        passes = sorted(zip(counts.n.tolist(), counts.c.tolist(), strict=True))
        if passes in known:
            continue
        missing, outcome = counts.facts.missing, reading.outcome.path
        if missing > _MISSING * int(counts.n.sum()):
            whys = {"fail": "counts them as failures", "drop": "leaves them out"}
            if request.ends and not request.attempts:
                whys[BOUNDS] = "gives the range of both"
            ways = [Settle({**settle.options, "--missing": way}, why) for way, why in whys.items()]
            return [*settles, *ways], (
                f"{plural(missing, 'value')} of {outcome} are missing: what does that mean?"
            )
        best = best if settles else reading.score
        chosen = outcome == "outcome" or "outcome" in settle.options.get("--field", {})
        why = f"reads {_size(counts)}" + f", outcome {outcome}" * (not chosen)
        if "--missing" in settle.options:
            fails = f"{why}; {plural(missing, 'missing outcome')} fail"
            dropped = Settle({**settle.options, "--missing": "drop"}, "leaves these out")
            return [replace(settle, why=fails), dropped], ""
        settles.append(replace(settle, why=why))
        known.append(passes)
    return settles, ""


def _completed(
    settles: Sequence[Settle], request: Request, read: Callable[[Request], Counts]
) -> tuple[Settle, ...]:
    """Remedies with what else has to be settled after them; those that lead to no number go."""
    whole = []
    for settle in settles:
        # What is left to people, or to another command, is not tried.
        own, counts = (settle, True) if _open(settle) else _tried(settle, request, read)
        averaged = "; scores are averaged" * ("-m" in own.options.keys() - settle.options.keys())
        whole += [replace(own, why=settle.why + averaged)] if counts is not None else []
    return tuple(whole or settles)


def _open(settle: Settle) -> bool:
    return bool(settle.command) or not settle.complete


def _readable(
    settles: Sequence[Settle], request: Request, read: Callable[[Request], Counts]
) -> list[Settle]:
    """The remedies that an error brings along, as far as they read."""
    own = [each for each in settles if not _open(each)]
    tried = [(each, *_tried(each, request, read)) for each in own[:_TRIED]]
    return [
        replace(settle, why=f"{each.why + ': ' if each.why else ''}reads {_size(counts)}")
        for each, settle, counts in tried
        if counts is not None
    ]


def _rivals(reading: RankedReading, ranked: Sequence[RankedReading]) -> list[RankedReading]:
    """The readings whose outcomes may be meant as well as that of one, which is the first of them:
    flags of the same records; scores that are as likely, and a flag that stands alone with them."""
    flags, scores = dict[str, RankedReading](), {reading.outcome.path: reading}
    for each in (each for each in ranked if each.structure is reading.structure):
        if each.question in _FLAGS:
            flags.setdefault(each.outcome.path, each)
        elif each.question == "threshold" and each.score >= reading.score - _NEAR:
            scores.setdefault(each.outcome.path, each)
    if reading.question in _FLAGS:
        return [*flags.values()]
    if reading.question != "threshold":
        return [reading]
    alone = [*flags.values()] if len(flags) == 1 else []
    return [*[*scores.values()][: _OFFERED - len(alone)], *alone]


def _ways(rivals: Sequence[RankedReading], request: Request) -> list[Settle]:
    """Whole answers to what readings leave open.

    Of several flags each is the verdict, or all are those of a model each.
    """
    first, *others = rivals
    ways, scores = list[Settle](), sum(each.question == "threshold" for each in rivals)
    for each in rivals:
        if each.question in _FLAGS and others:
            either = _answers(each, request) if each.question == "polarity" else []
            by = Settle(each.options(request), f"{_share(each, True)} pass")
            ways += [
                replace(way, why=f"by {each.outcome.path}, {way.why}") for way in either or [by]
            ]
        else:
            ways += _answers(each, request, scores)
    paths = [each.outcome.path for each in rivals]
    several = first.question in _FLAGS and bool(others) and "model" not in first.roles
    if several and not any(EQUAL in path for path in paths):
        own = first.options(request)
        fields = {**own.get("--field", {}), "outcome": ",".join(paths), "model": COLUMN}
        models = Settle({**own, "--field": fields}, "if each column is a model")
        ways = [models] if all(map(_MODELS.match, paths)) else [*ways, models]
    return ways


def _share(reading: RankedReading, verdict: object) -> str:
    """How many outcomes are the same, of how many."""
    column, seen = reading.outcome, "the first " * (reading.structure.size == ROWS)
    values: Sequence[object] = column.numbers if isinstance(verdict, float) else column.judged
    return f"{values.count(verdict):,} of {seen}{len(column.flat):,}"


def _answers(reading: RankedReading, request: Request, scores: int = 1) -> list[Settle]:
    """Whole answers to what a reading leaves open.

    Of two words either passes, of more each alone; a score passes where it is as high as many are,
    or is averaged.
    scores : how many scores may be meant.
    """
    column, own, flag = reading.outcome, reading.options(request), reading.question in _FLAGS
    if reading.question == "threshold":
        numbers, top = column.numbers, max(column.numbers, default=0.0)
        often = numbers.count(top) >= max(2, _OFTEN * len(numbers))
        high = Settle({**own, "--threshold": (top,)}, f"if {top:g} passes, {_share(reading, top)}")
        mean = Settle({**own, **AVERAGED}, f"averages {column.path}")
        return [high] * (often and min(numbers) < top and scores == 1) + [mean] * request.averages
    if reading.question == "parts" or len(column.judged) < (1 - _MISSING) * len(column.flat):
        return []
    values = Counter(str(v).lower() for v in column.flat if v not in (None, ""))
    unknown = [value for value in values if isinstance(judge(value, None), str)]
    if reading.question == "words" and values.keys() <= {*_CLASSIFIED}:
        right = [value for value in _CLASSIFIED[:2] if value in values]
        return [Settle({**own, "--passes": (*right,)}, "counts what was classified rightly")]
    if reading.question == "words" and 0 < len(unknown) < len(values):
        passing = [value for value in values if judge(value, None) is True]
        one, count = len(unknown) == 1, sum(map(values.__getitem__, unknown))
        subject, share = f"if {first_few(unknown)}", f"{count:,} of {values.total():,}"
        fails, passes = ("fails", "passes") if one else ("fail", "pass")
        return [
            Settle({**own, "--fails": (*unknown,)}, f"{subject} {fails}, {share}"),
            Settle({**own, "--passes": (*passing, *unknown)}, f"{subject} {passes}, {share}"),
        ]
    if len(values) < 2 or (len(values) > 2 and flag):
        return []
    first, *others = sorted(values, key=lambda value: judge(value, None) is not True)
    usual = {"--passes": (first,)} if reading.question == "words" else {}
    more = [{"--passes": (other,), **({} if usual else {"--fails": (first,)})} for other in others]
    ways = [
        Settle({**own, **way}, f"if {value} passes, {values[value]:,} of {values.total():,}")
        for value, way in zip((first, *others), (usual, *more), strict=True)
    ]
    return ways[::-1] if flag and words(column.path) & _FAILURES else ways


def _question(rivals: Sequence[RankedReading], *, answered: bool) -> str:
    """Question that a reading leaves open, with its outcome's values; "" where the answers say it.

    answered : whether each answer is printed.
    """
    first, column = rivals[0], rivals[0].outcome
    if first.question == "parts":
        *way, last = (*first.structure.keys, *column.path.split("."))
        whole = f"which {last} of {'.'.join(way)} make an attempt pass: all, a share, one?"
        return f"{whole} write a column"
    if first.question == "threshold":
        ranges = [
            f"{path} pass ({min(numbers):g} to {max(numbers):g})" if numbers else f"{path} pass"
            for path, numbers in (
                (each.outcome.path, each.outcome.numbers)
                for each in rivals
                if each.question == "threshold"
            )
        ]
        return f"from what value does {', or '.join(ranges)}?"
    if answered:
        return "which says that an attempt passed?" * (len(rivals) > 1)
    if first.question == "words":
        return f"{column.path}: which words pass? {column.tally}"
    tallies = ", ".join(f"{each.outcome.path} ({each.outcome.tally})" for each in rivals)
    return f"which says that an attempt passed: {tallies}?"


def _blank(rivals: Sequence[RankedReading], options: Mapping[str, Any]) -> list[Settle]:
    """The options with what is left to the reader, if an option says it."""
    kind, way = rivals[0].question, dict[str, Any]()
    if kind in _FLAGS or sum(each.question == kind for each in rivals) > 1:
        way["--field"] = {**options.get("--field", {}), "outcome": Blank("COLUMN")}
    if kind in ("threshold", "words"):
        way |= {"--threshold": Blank("X")} if kind == "threshold" else {"--passes": Blank("WORD")}
    return [Settle({**options, **way}, "reads it")] if way else []


def _tried(
    settle: Settle,
    request: Request,
    read: Callable[[Request], Counts],
    rounds: int = _ROUNDS,
) -> tuple[Settle, Counts | None]:
    """A remedy with what else has to be settled, and the counts that it reads; None for none.

    What is pooled, or kept apart, by one column is so by the others.
    """
    try:
        asked = replace(request.settled(settle), conversion=None, resume=None)
        return settle, read(asked)
    except PasskError as error:
        kind = next((name for name in ("--pool", "--by") if name in settle.options), "")
        ways = [each for each in error.settles if kind and kind in each.options]
        ways += [each for each in error.settles if each not in ways]
        # Nobody is led to count what repeats, unless settings are what is asked about.
        ways = [each for each in ways if not (_open(each) or "--duplicates" in each.options)]
        if error.name == "missing-outcome" and "--missing" not in settle.options:
            ways = [Settle({"--missing": "fail"})]
        elif error.name == "duplicate-attempts" and kind:
            ways = [Settle({"--duplicates": "keep"})]
        elif error.name == "bad-outcome" and request.averages and not ways:
            # Of scores that are no verdicts the mean is a number.
            ways = [Settle(AVERAGED)]
        # What takes back what is tried is another remedy.
        ways = [each for each in ways if not _undone(settle, each)]
    if not ways or rounds == 1:
        return settle, None
    # Where the first leads to no number the last may: pooling on purpose.
    first = _tried(settle.merged(ways[0]), request, read, rounds - 1)
    if first[1] is not None or len(ways) == 1 or rounds < _ROUNDS:
        return first
    last = _tried(settle.merged(ways[-1]), request, read, rounds - 1)
    return first if last[1] is None else last


def _undone(settle: Settle, other: Settle) -> bool:
    """Whether another remedy gives an option of the first a value that takes the place of its own.

    >>> _undone(Settle({"--missing": "drop"}), Settle({"--missing": "fail"}))
    True
    >>> _undone(Settle({"--where": "x > 1"}), Settle({"--where": "y = 2"}))
    False
    """
    both = settle.merged(other).options
    return any(
        isinstance(value, str) and both[name] != value and both[name] == other.options[name]
        for name, value in settle.options.items()
    )


def _size(counts: Counts) -> str:
    """How much was read: "8 tasks × 3 attempts under 2 conditions"."""
    least, most = int(counts.n.min()), int(counts.n.max())
    each = plural(most, "attempt") if least == most else f"{least:,} to {plural(most, 'attempt')}"
    size = f"{plural(len(counts.tasks), 'task')} × {each}"
    models = len({name for name, *_ in counts.series})
    size += f" by {plural(models, 'model')}" * (models > 1)
    for place, name in enumerate(counts.group_names, 1):
        size += f" {'under' if place == 1 else 'and'} "
        size += plural(len({series[place] for series in counts.series}), name)
    return size


def _suits(reading: RankedReading, error: DataError, request: Request) -> bool:
    """Whether an outcome can be what another one lacks: it has to agree with those there are, and
    to be there where one is missing."""
    if error.name not in ("missing-outcome", "bad-outcome"):
        return True
    columns = reading.structure.columns
    own = [request.outcome] if request.outcome else candidates("outcome", reading.structure.usual)
    own = [request.fields["outcome"]] if "outcome" in request.fields else own
    path = reading.outcome.path
    if EQUAL in path:
        return any(name in parts(path) for name in own)
    if path in own:
        return error.name == "bad-outcome" and reading.question in ("words", "threshold")
    below = any(path.startswith(f"{name}.") for name in own)
    judges = any(_outcome(columns[name]) for name in own if name in columns)
    if (error.name == "bad-outcome" and (judges or request.named.get("outcome"))) or below:
        return below
    if error.name == "bad-outcome":
        # What is one word in all records judges nothing.
        return True
    column = columns[path]
    if reading.structure.keys or column.listed or not own:
        return not own
    before = [judge(v, request.bar) for v in columns[own[0]].values] if own[0] in columns else []
    after = [judge(value, request.bar) for value in column.values]
    pairs = [*zip(before, after, strict=bool(before))]
    filled = any(b is None and a is not None for b, a in pairs)
    return all(b is None or b == a for b, a in pairs) and (filled or not pairs)
