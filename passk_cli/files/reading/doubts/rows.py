"""Rows that are not one attempt each: counts, rates, sums, headers, and records that repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from shlex import quote

import numpy as np

from passk_cli.files.database import quote_text
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.doubts.settings import NUMBERED
from passk_cli.files.reading.survey import distinct, joined_codes
from passk_cli.files.roles import (
    EQUAL,
    FAIL_WORDS,
    PASS_WORDS,
    ROLES,
    SHORT,
    candidates,
    judge,
    leaf,
    spelled,
    strength,
    words,
)
from passk_cli.message import WARNING, Message
from passk_cli.settle import Blank, Settle

_WEIGHTS = {
    *"count counts freq frequency times weight weights occurrences multiplicity".split(),
}
_SIZES = {
    *"n samples num_samples n_samples attempts num_attempts n_attempts trials num_trials".split(),
    *"n_trials runs num_runs n_runs total num_total repeats".split(),
}
_RATES = {"accuracy", "acc", "pass_rate", "success_rate", "solve_rate", "rate", "score", "mean"}
_MOST = {"max_score", "max_points", "points_possible", "out_of", "total_points", "possible", "max"}
# Words of names of what is each attempt's own.
_OF_ATTEMPTS = {
    *"at time timestamp ts started finished ended created uuid hash session latency".split(),
    *"elapsed duration response answer output completion solution raw text trace log".split(),
}
# Tasks passed and failed, or both, in a run that two runs hardly share without an exception.
_MIXED = 5
# Rows of costs that are enough to say that these only grow.
_GROWING = 10
_SUMMARIES = {
    *"total totals overall average averages avg mean all summary macro micro aggregate".split(),
    *"sum macro_avg micro_avg macro_average micro_average grand_total".split(),
}

WEIGHTED_ROWS = Message(
    "weighted-rows", WARNING,
    "{column} is not read and says how many attempts a row stands for ({values})", "",
    "A row per task and outcome, with the number of attempts that ended so, counts as one attempt"
    " unless it is written as counts: n attempts and c passes of a task, or a row per attempt.",
)  # fmt: skip
RATES_OF_SEVERAL = Message(
    "rates-of-several", WARNING,
    "{outcome} is the share of {column} attempts ({values}), and would count as one attempt",
    "give the number of passes as a column c",
    "A row sums up several attempts at its task: a rate, and how many there were. Its counts are"
    " meant: n, and c = rate × n. Write c as a column, or give the attempts themselves.",
)  # fmt: skip
PARTIAL_SCORES = Message(
    "partial-scores", WARNING,
    "{outcome} is a score out of {column} ({values}): 1 is no pass", "",
    "A row has a score and the highest score there is. A score of 1 passes only where the highest"
    " one is 1.",
)  # fmt: skip
SUMMARY_ROWS = Message(
    "summary-rows", WARNING, "the task {names:and} sums up others", "",
    "A row called total, overall, average or the like is no attempt at a task.",
)  # fmt: skip
HEADER_ROWS = Message(
    "header-rows", WARNING, "a header stands among the rows, as task {name}", "",
    "Tables that were put together have their headers among the rows, sometimes in another case or"
    " with other names. Read as a row, a header would be a task.",
)  # fmt: skip
REPEATED_RECORDS = Message(
    "repeated-records", WARNING,
    "{rows:record} {rows:comes|come} again, equal in every column"
    "{?column|, {column} included}{?order|, and in the same order, as of a run pasted twice}", "",
    "Records repeat as a whole, also in columns whose values do not repeat by chance, such as a"
    " text, a time or an id; or the whole file comes again in the same order. A run was probably"
    " uploaded or appended twice. Remove the copy.",
)  # fmt: skip
SIMILAR_ATTEMPTS = Message(
    "similar-attempts", WARNING,
    "the attempts {names:and} of a task are one number, written differently", "",
    "Numbers of attempts are compared as numbers: 0, 0.0, 000 and attempt_0 are one. A task has the"
    " same number in two spellings, so that an attempt may be there twice.",
)  # fmt: skip

ALWAYS_SUCCESS = Message(
    "always-success", WARNING,
    "{column} is true in all {attempts:attempt}{?sample| of a sample}, while {field} {says}",
    "",
    "Many agents write success: true when they end without an error, whatever an evaluation says of"
    " their work, and some also with one. Where such a column is true everywhere and a score or"
    " rate beside it is not, the score is more likely the outcome, and pass@k of the column is 1"
    " for no reason.",
)  # fmt: skip
# Names of columns that may say no more than that a run ended, and words of an evaluation's names.
_ENDED = {*"success successful is_success status result outcome".split()}
_EVALUATED = {
    *"rate score scores reward acc accuracy correct passed pass resolved solved grade eval".split(),
    *"evaluation verdict".split(),
}
_ERRORS = {*"error errors err exception".split()}
# Names of what an answer should be.
_KEYS = {
    *"expected expected_answer expected_output gold gold_answer golden target label".split(),
    *"reference reference_answer ground_truth answer_key correct_answer truth".split(),
}
SUMMED_COSTS = Message(
    "summed-costs", WARNING,
    "{column} only grows from row to row ({first} to {last}): is it the sum of all before it?", "",
    "A column of costs that never falls in the order of the file, by steps of the size of its first"
    " value, is what all attempts up to a row took together. Each attempt's own is the difference.",
)  # fmt: skip


def weighted(grounds: Grounds) -> Iterator[Finding]:
    """Columns that say how many attempts a row stands for."""
    survey = grounds.survey
    outcome = survey.columns.get(grounds.column("outcome"))
    if outcome is None:
        return
    for name in grounds.unread:
        column = survey.columns[name]
        if leaf(name) not in _WEIGHTS or survey.kind(name)[:2] != ("number", True):
            continue
        pairs = joined_codes(survey.cell, outcome.codes)
        alone = distinct(pairs) >= 0.95 * np.sum(pairs >= 0)
        if column.share == 1 and alone and survey.numbers(name).max(initial=0) > 1:
            # What a task weighs, once for each model, says as often how much it matters.
            once = Settle({"--pool": (name,)}, "counts each row once, whatever its weight")
            weighs = "weight" in words(name) and distinct(survey.cell) == np.sum(pairs >= 0)
            yield Finding(WEIGHTED_ROWS, True, _shown(grounds, name), (once,) if weighs else ())


def rates(grounds: Grounds) -> Iterator[Finding]:
    """Rates beside the number of attempts that they are of; scores beside the highest score."""
    survey, outcome = grounds.survey, grounds.column("outcome")
    if outcome not in survey.columns:
        return
    for name in grounds.unread:
        size = leaf(name) in _SIZES and leaf(outcome) in _RATES
        beside = name.rpartition(".")[0] == outcome.rpartition(".")[0]
        most = beside and leaf(name) in _MOST and survey.kind(outcome).name == "number"
        if not (size or most) or survey.kind(name).name != "number":
            continue
        numbers, scores = survey.numbers(name), survey.numbers(outcome)
        if not np.nanmax(numbers, initial=0) > 1:
            continue
        shown = {**_shown(grounds, name), "outcome": quote(outcome)}
        whole = np.nanmax(np.abs(numbers * scores - np.round(numbers * scores)), initial=0) < 0.02
        if size and whole and np.nanmax(scores, initial=0) <= 1:
            yield Finding(RATES_OF_SEVERAL, True, shown)
        elif most and grounds.request.bar is None:
            highest = float(np.nanmax(numbers))
            only = bool(np.nanmin(numbers) == highest)
            full = Settle({"--threshold": (highest,)}, "counts full scores as passes")
            yield Finding(PARTIAL_SCORES, True, shown, (full,) * only)


def summaries(grounds: Grounds) -> Iterator[Finding]:
    """Rows that sum up others."""
    names = [n for n in grounds.unnumbered if re.sub(r"[\W_]+", "_", n.casefold()) in _SUMMARIES]
    task = grounds.column("task")
    if names and 0 < len(names) <= 3 and len(grounds.tasks) > 2 * len(names):
        texts = ", ".join(map(quote_text, names))
        without = Settle(
            {"--where": f"{grounds.condition(task)} NOT IN ({texts})"}, "leaves them out"
        )
        yield Finding(SUMMARY_ROWS, True, {"names": [*map(repr, names)]}, (without,))


def headers(grounds: Grounds) -> Iterator[Finding]:
    """Headers among the rows, in any case and with any usual name."""
    usual = {*ROLES["task"].ranks}
    task = grounds.column("task")
    numbered = any(map(str.isdigit, task))
    for name in grounds.tasks if numbered else grounds.unnumbered:
        plain = spelled(name.strip().removeprefix("\ufeff").strip())
        if plain in usual | {spelled(task)} and _is_header(grounds, name):
            where = Settle(
                {"--where": f"{grounds.condition(task)} <> {quote_text(name)}"}, "leaves it out"
            )
            yield Finding(HEADER_ROWS, True, {"name": repr(name)}, (where,))
            return


def _is_header(grounds: Grounds, task: str) -> bool:
    """Whether the row of a task has names in its other columns as well, as far as that is seen."""
    survey, column = grounds.survey, grounds.column("task")
    if not any(batch.layout.kind == "csv" for batch in grounds.batches):
        return False
    rows = [i for i, text in enumerate(survey.texts(column, 100_000)) if text == task]
    if not rows:
        return True
    row = int(np.flatnonzero(survey.columns[column].codes == rows[0])[0])
    names = {spelled(name) for name in survey.columns} | {
        name for role in ROLES.values() for name in role.ranks
    }
    others = [survey.at(name, [row])[0] for name in survey.columns if name != column]
    known = [spelled(text.strip()) in names for text in others if text]
    return sum(known) >= 0.5 * len(known)


def repeated(grounds: Grounds) -> Iterator[Finding]:
    """Whole records that come again, where something in them does not repeat by chance."""
    survey = grounds.survey
    if grounds.harness or grounds.request.duplicates != "error" or survey.rows < 4:
        return
    if any(batch.roles.attempt for batch in grounds.batches):
        # Their numbers tell.
        return
    # Files of two kinds may lack columns, and have long texts cut.
    alike = len(grounds.batches) == 1
    columns = [
        column
        for name, column in survey.columns.items()
        if alike or (column.share == 1 and survey.kind(name).longest <= SHORT)
    ]
    codes = [column.codes + 1 for column in columns]
    firsts = np.unique(joined_codes(survey.series, *codes), return_index=True)[1]
    again = survey.rows - len(firsts)
    if not again:
        return
    read = {column for batch in grounds.batches for column in batch.roles.columns().values()}
    cells = distinct(survey.cell)
    for name in [name for name in survey.columns if name not in read]:
        column = survey.columns[name]
        unique = distinct(column.codes[firsts]) >= 0.98 * len(firsts)
        # What a task says is in each of its records.
        own = column.distinct > cells or bool(words(name) & _OF_ATTEMPTS)
        long = survey.kind(name).longest > 4 or bool(words(name) & {"id"})
        if column.share == 1 and unique and own and long:
            key = Settle(
                {"--field": {"attempt": name}, "--duplicates": "first"}, "counts each record once"
            )
            keep = Settle({"--duplicates": "keep"}, "counts them as attempts of their own")
            shown = {"rows": again, "column": quote(name), "order": False}
            yield Finding(REPEATED_RECORDS, True, shown, (key, keep))
            return
    records = joined_codes(survey.series, *codes)
    half = survey.rows // 2
    cell, passes = survey.cell[:half], survey.verdict[:half]
    failed, passed = np.unique(cell[passes == 0]), np.unique(cell[passes == 1])
    mixed = min(len(failed), len(passed))
    if distinct(cell) < half:
        # Of several attempts at a task, all of one outcome, the same come again by themselves.
        mixed = len(np.intersect1d(failed, passed))
    halves = survey.whole and half * 2 == survey.rows and len(survey.files) == 1
    if halves and mixed >= _MIXED and np.all(records[:half] == records[half:]):
        keep = Settle({"--duplicates": "keep"}, "counts them as attempts of their own")
        shown = {"rows": half, "column": "", "order": True}
        yield Finding(REPEATED_RECORDS, False, shown, (keep,))


def attempts(grounds: Grounds) -> Iterator[Finding]:
    """Numbers of attempts that are one number in two spellings."""
    survey, name = grounds.survey, grounds.column("attempt")
    if name not in survey.columns or grounds.request.duplicates != "error":
        return
    texts = survey.texts(name, 5000)
    plain = [_number(text) for text in texts]
    if len(texts) >= 5000 or len({*plain}) == len(texts):
        return
    codes = np.unique(plain, return_inverse=True)[1].astype(np.int64)
    attempt = survey.columns[name].codes
    there = (attempt >= 0) & (survey.cell >= 0)
    own = joined_codes(survey.cell[there], attempt[there])
    alike = joined_codes(survey.cell[there], codes[attempt[there]])
    if distinct(own) == distinct(alike):
        return
    pairs = np.unique(np.stack([alike, own]), axis=1)
    double = int(np.bincount(pairs[0]).argmax())
    rows = [int(np.flatnonzero(own == code)[0]) for code in pairs[1][pairs[0] == double]]
    names = [repr(text) for text in survey.at(name, np.flatnonzero(there)[rows].tolist())]
    yield Finding(SIMILAR_ATTEMPTS, True, {"names": names})


def summed(grounds: Grounds) -> Iterator[Finding]:
    """Costs that add up from row to row."""
    survey, name = grounds.survey, grounds.column("cost")
    if name not in survey.columns or len(survey.files) > 1 or not survey.whole:
        return
    costs = survey.numbers(name)
    steps = np.diff(costs)
    if len(costs) < _GROWING or not np.all(steps > 0):
        return
    # Sorted costs begin at what is usual, and go on by less.
    if costs[-1] > 0.5 * len(costs) * costs[0] and np.median(steps) > 0.5 * costs[0]:
        shown = {"column": quote(name), "first": f"{costs[0]:g}", "last": f"{costs[-1]:g}"}
        yield Finding(SUMMED_COSTS, False, shown)


def _number(text: str) -> str:
    """A number of an attempt without what tools write around it.

    >>> [_number(text) for text in ("0", "0.0", "000", "attempt_0", "a")]
    ['0', '0', '0', '0', 'a']
    """
    match = NUMBERED.fullmatch(text.strip())
    return str(int(match[1])) if match else text


def _shown(grounds: Grounds, name: str) -> dict[str, object]:
    """A column and its values."""
    return {"column": quote(name), "values": grounds.survey.texts(name, 20)}


def verdicts(grounds: Grounds) -> Iterator[Finding]:
    """Verdicts beside the outcome: of the same name with a number, or what was expected."""
    survey, outcome = grounds.survey, grounds.column("outcome")
    if outcome not in survey.columns or "outcome" in grounds.request.fields or grounds.harness:
        return
    if grounds.request.outcome is not None:
        return
    stem = re.sub(r"[._ -]?[0-9]+$", "", outcome)
    for name in grounds.unread:
        column = survey.columns[name]
        if re.sub(r"[._ -]?[0-9]+$", "", name) == stem and name != outcome and stem:
            if np.any(column.codes >= 0) and _differ(grounds, name, outcome):
                settles = tuple(Settle({"--outcome": each}) for each in (outcome, name))
                yield Finding(TWO_VERDICTS, True, {"names": [outcome, name]}, settles)
        elif leaf(name).startswith("expected") and survey.kind(outcome).name == "text":
            own, other = ({text.lower() for text in survey.texts(c, 50)} for c in (outcome, name))
            known = {*PASS_WORDS, *FAIL_WORDS}
            if other and other <= known and own & other:
                agree = Settle({"--field": {"outcome": f"{outcome}{EQUAL}{name}"}}, "compares them")
                shown = {"outcome": outcome, "column": name}
                yield Finding(EXPECTED_VERDICTS, True, shown, (agree,))
        elif (
            words(name) & {"first", "initial"}
            and strength("outcome", name)
            and _is_verdict(grounds, name, outcome)
        ):
            settles = tuple(Settle({"--outcome": each}) for each in (name, outcome))
            yield Finding(TWO_VERDICTS, True, {"names": [outcome, name]}, settles)


def _is_verdict(grounds: Grounds, name: str, outcome: str) -> bool:
    """Whether a column holds truth values that differ from the outcome."""
    values = {text.lower() for text in grounds.survey.texts(name, 10)}
    return values <= {"true", "false", "0", "1"} and _differ(grounds, name, outcome)


def _differ(grounds: Grounds, one: str, other: str) -> bool:
    """Whether two columns have different values in some row."""
    survey = grounds.survey
    rows = np.flatnonzero((survey.columns[one].codes >= 0) & (survey.columns[other].codes >= 0))
    pairs = joined_codes(survey.columns[one].codes[rows], survey.columns[other].codes[rows])
    firsts = rows[np.unique(pairs, return_index=True)[1][:20]].tolist()
    return any(
        first.lower() != second.lower()
        for first, second in zip(survey.at(one, firsts), survey.at(other, firsts), strict=True)
    )


def ended(grounds: Grounds) -> Iterator[Finding]:
    """An outcome that always passes beside an evaluation that does not, or beside errors."""
    survey, outcome = grounds.survey, grounds.column("outcome")
    verdict = survey.verdict[survey.task >= 0]
    if spelled(outcome) not in _ENDED or len(verdict) < 2 or not np.all(verdict == 1):
        return
    yield from _ungraded(grounds, outcome)
    for name in grounds.unread:
        kind, texts = survey.kind(name).name, survey.texts(name)
        if {word for key in name.split(".") for word in words(key)} & _EVALUATED:
            numbers = survey.numbers(name)
            if kind == "bool":
                truths = [text.lower() == "true" for text in texts]
                numbers = np.array([*truths, np.nan])[survey.columns[name].codes]
            there = numbers[np.isfinite(numbers)]
            if not len(there) or there.min() < 0 or there.max() > 1 or there.mean() >= 1:
                continue
            says, own = f"averages {there.mean():.3f}", {"--field": {"outcome": name}}
            settle = Settle(own, "reads the other")
            if {*there.tolist()} - {0.0, 1.0}:
                why = f"reads it, of {there.min():g} to {there.max():g}"
                settle = Settle({**own, "--threshold": Blank("X")}, why)
        elif words(name) & _ERRORS and kind == "text":
            errors = [i for i, text in enumerate(texts) if type(judge(text, None)) is str]
            several = int(np.isin(survey.columns[name].codes, errors).sum())
            if not several:
                continue
            says = f"says an error in {several:,}"
            settle = Settle({"--where": f"{grounds.condition(name)} IS NULL"}, "leaves these out")
        else:
            continue
        shown = {"column": outcome, "attempts": len(verdict), "sample": not survey.whole}
        yield Finding(ALWAYS_SUCCESS, False, {**shown, "field": name, "says": says}, (settle,))
        return


def _ungraded(grounds: Grounds, outcome: str) -> Iterator[Finding]:
    """An outcome that always passes beside an answer that is not always what was expected."""
    survey, request = grounds.survey, grounds.request
    if "outcome" in request.fields or request.outcome is not None:
        return
    short = [name for name in survey.columns if survey.kind(name).longest <= SHORT]
    answers = [name for name in candidates("answer", short) if name != outcome]
    keys = [name for name in short if leaf(name) in _KEYS]
    for answer, key in product(answers, keys):
        rows = np.flatnonzero(
            (survey.columns[answer].codes >= 0) & (survey.columns[key].codes >= 0)
        )
        pairs = zip(*(survey.at(name, rows.tolist()) for name in (answer, key)), strict=True)
        differ = [one.strip().lower() != other.strip().lower() for one, other in pairs]
        if len(rows) < 2 or not any(differ) or all(differ):
            continue
        agree = Settle({"--field": {"outcome": f"{answer}{EQUAL}{key}"}}, "compares them")
        shown = {"column": outcome, "attempts": len(survey.verdict), "sample": not survey.whole}
        shown |= {"field": answer, "says": f"differs from {key} in {sum(differ):,}"}
        yield Finding(ALWAYS_SUCCESS, True, shown, (agree, Settle({"--outcome": outcome})))
        return


TWO_VERDICTS = Message(
    "two-verdicts", WARNING, "{names:and} are two verdicts on an attempt, which differ",
    "",
    "Two columns could be the outcome, and they differ: verdicts of two scorers, the first try"
    " beside the last one, or one column that was joined twice. Which is meant is not guessed.",
)  # fmt: skip
EXPECTED_VERDICTS = Message(
    "expected-verdicts", WARNING,
    "{outcome} is a verdict that {column} expects: an attempt passes where they agree",
    "",
    "The subject of the evaluation gives verdicts itself, and the data say which were expected. An"
    " attempt passes where the two agree.",
)  # fmt: skip

DOUBTS = (
    Doubt(
        WEIGHTED_ROWS,
        "A column called count, freq, times or weight has whole numbers above 1, and rows are one"
        " for each task and outcome.",
        ("--pool X",),
        weighted,
    ),
    Doubt(
        RATES_OF_SEVERAL,
        "An outcome called accuracy or pass_rate stands beside n, samples or num_samples, whose"
        " product is whole.",
        (),
        rates,
    ),
    Doubt(
        PARTIAL_SCORES,
        "A score stands beside max_score, out_of or points_possible above 1, without a threshold.",
        ("--threshold X",),
        rates,
    ),
    Doubt(
        SUMMARY_ROWS,
        "A task is called total, overall, average, mean, all, summary, macro or micro, as a whole.",
        ("--where \"task NOT IN ('overall')\"",),
        summaries,
    ),
    Doubt(
        HEADER_ROWS,
        "A task of a table is called as a column of tasks, and the rest of its row is names too.",
        ("--where \"task <> 'task_id'\"",),
        headers,
    ),
    Doubt(
        REPEATED_RECORDS,
        "Records without numbers of attempts are equal in every column, one of which is otherwise"
        " different in each record (asked); or the second half of a file is the first again, with"
        " five tasks or more that pass and five that fail, or five that do both where tasks have"
        " several attempts.",
        ("--field attempt=X --duplicates first", "--duplicates keep"),
        repeated,
    ),
    Doubt(
        SIMILAR_ATTEMPTS,
        "A task has attempts called 0 and 0.0, 000 or attempt_0.",
        (),
        attempts,
    ),
    Doubt(
        SUMMED_COSTS,
        "Costs that are asked for grow in ten rows or more of one file, by steps as large as the"
        " first.",
        (),
        summed,
    ),
    Doubt(
        ALWAYS_SUCCESS,
        "A success or a status is true in every attempt, and a score, rate or verdict beside it is"
        " below 1 on average, or a column of errors has a text; asked where an answer is not always"
        " what was expected.",
        (
            "--field outcome=X",
            "--field outcome=X==Y",
            "--field outcome=X --threshold Y",
            '--where "X IS NULL"',
        ),
        ended,
    ),
    Doubt(
        TWO_VERDICTS,
        "A column is called as the outcome with a number after it, or as a first try, and differs"
        " from it.",
        ("--outcome X",),
        verdicts,
    ),
    Doubt(
        EXPECTED_VERDICTS,
        "A column called expected has the words that the outcome has.",
        ("--field outcome=X==Y",),
        verdicts,
    ),
)
