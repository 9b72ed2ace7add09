"""Settings that would be pooled: attempts of one model at one task that were not made alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from shlex import quote
from typing import Any

import numpy as np

from passk_cli.arrays import Bools, Ints
from passk_cli.files.database import quote_text
from passk_cli.files.reading.doubts.evenness import VARIES, Evenness, evenness, goes_up
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.doubts.steps import parts
from passk_cli.files.reading.survey import Observed, Survey, distinct, joined_codes
from passk_cli.files.roles import ROLE_WORDS, ROLES, SETTINGS, SHORT, candidates, leaf, words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Names that mean a setting, besides those that every reading looks for.
NAMES = {
    *SETTINGS,
    *"arm cond condition strategy harness effort variant adapter pipeline route routing".split(),
    *"config configuration edit_format checkpoint provider scaffold scaffolding mode".split(),
    *"prompt_version prompt_name prompt_variant prompt_template system_prompt template".split(),
    *"max_tokens tools toolset method approach policy treatment setting settings".split(),
    *"experiment ablation baseline quantization quant precision thinking reasoning".split(),
    *"thinking_budget budget shots num_shots n_shot few_shot language_version noise".split(),
    *"intensity severity perturbation prompt_v prompt_type prompt_style prompt_mode".split(),
}
# What names of settings end in.
_KINDS = {*"arm condition strategy method approach treatment variant scaffold".split()}
# Words of names of what happens while attempts are made: never a setting.
_HAPPENS = {
    *"date time timestamp ts datetime at started start finished ended end created updated".split(),
    *"host hostname machine node worker workers process pid thread rank shard shards".split(),
    *"gpu device session batch part chunk uuid hash day hour minute week month ip port".split(),
    *"duration elapsed latency seconds ms error exit returncode stop finish reason".split(),
    *"token tokens cost costs usd price weight steps turns chars length len size lines".split(),
}
# Words of names that number attempts, and values that do, with their number.
_NUMBERS = {
    *"seed run runs rep reps repeat repetition replicate replica replication trial".split(),
    *"job sample attempt epoch iteration iter try round rollout generation index idx".split(),
}
NUMBERED = re.compile(rf"(?:(?:{'|'.join(_NUMBERS)})[ _\-#]*)?([0-9]+)(?:\.0+)?", re.I)
DATES = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})([T ].*)?")
# Words of numbers that are of a task as often, and those that say so.
_PLACES = {"index", "idx"}
_OF_TASKS = ROLE_WORDS["task"] - {"id", "uid", *_PLACES}
# Settings that may make another task of one.
_OF_STATEMENTS = {*"variant version language lang template format paraphrase perturbation".split()}
# Names of what holds tasks of its own.
SUITES = {
    *"subject category domain split dataset benchmark suite subset topic track".split(),
    *"collection section language repo repository group family type".split(),
}
_SCORERS = {
    *"scorer grader judge evaluator metric rubric criterion annotator rater reviewer".split(),
    *"dimension aspect".split(),
    *"judge_model grader_model scorer_name metric_name check check_name".split(),
}
# Names of flags that say which of several records of an attempt counts.
_FLAGS = {
    *"superseded final is_final is_retry retry retried latest is_latest deprecated".split(),
    *"discarded excluded stale replaced invalidated valid is_valid invalid is_invalid".split(),
    *"selected is_selected chosen is_chosen picked".split(),
}
# Those that hold where they are true; those that say as often that an answer was none.
_KEEP = {
    *"final is_final latest is_latest valid is_valid".split(),
    *"selected is_selected chosen is_chosen picked".split(),
}
_VALID = {"valid", "is_valid", "invalid", "is_invalid"}
# Share of the pairs of a cell and a value that have one row, where the values number attempts.
_ONCE = 0.9
# Correlation of the tasks' pass rates above which values are settings rather than suites.
_CORRELATED = 0.2

POOLED_SETTINGS = Message(
    "pooled-settings", WARNING,
    "attempts at one task differ in {column} ({values})",
    "",
    "Attempts of one model at one task were made under different settings, such as prompts or"
    " temperatures. The numbers are those of the mixture, and pass@k of a mixture is not that of"
    " any setting. Where a column's values are shared out over the tasks as only a plan does, passk"
    " asks before it counts.",
)  # fmt: skip
UNREAD_NUMBER = Message(
    "unread-column", WARNING,
    "{column} is not read and tells the attempts at each task apart ({values})",
    "",
    "A column has each of its values once at each task, nearly as often as the task has attempts."
    " It may number the attempts, be a setting or a part of the task. Where it numbers attempts,"
    " repeated ones are found by it.",
)  # fmt: skip
RESTARTING_TASKS = Message(
    "restarting-tasks", WARNING,
    "tasks are numbered from the start again under each {column} ({values}), and would be one",
    "",
    "The names of tasks repeat in every part of the data, as where each subject numbers its own"
    " questions. Read by that name alone, different tasks would count as one.",
)  # fmt: skip
SEVERAL_VERDICTS = Message(
    "several-verdicts", WARNING,
    "each attempt is there once for each {column} ({values})", "",
    "A row is one verdict on an attempt, and several scorers or criteria judged each attempt. Read"
    " as they are, verdicts would count as attempts.",
)  # fmt: skip
FLAGGED_ROWS = Message(
    "flagged-rows", WARNING,
    "{column} is not read and says which rows of a task count ({values})", "",
    "A column says which rows hold, as where a retry supersedes a failed attempt and both are"
    " there. Counting both mixes them; leaving out those that were replaced may select by outcome.",
)  # fmt: skip
# What tells the attempts at a task apart.
APART = (POOLED_SETTINGS, UNREAD_NUMBER, SEVERAL_VERDICTS, FLAGGED_ROWS)


def pooled(grounds: Grounds) -> Iterator[Finding]:
    """Columns whose values are shared out over the cells as only a plan does, or named so."""
    survey = grounds.survey
    numbered = parts(grounds)
    names = [name for name in grounds.unread if name not in numbered and _may_be(grounds, name)]
    columns = [survey.columns[name] for name in names]
    if columns and not survey.whole:
        survey = grounds.refined([column.name for column in columns])
        columns = [survey.columns[c.name] for c in columns if c.name in survey.columns]
    # An attempt that ended before it was judged says little of itself.
    there = np.isfinite(survey.verdict)
    judged = np.where(there, survey.cell, -1) if there.any() else survey.cell
    found = []
    for column in columns:
        column = _by_value(survey, column)
        if goes_up(survey.cell, survey.numbers(column.name)):
            own = GONE_UP
        else:
            own = evenness(np.where(_split(survey, column), judged, -1), column.codes)
        if own.varies >= VARIES or (own.varies > 0 and leaf(column.name) in _FLAGS):
            found.append((column, own, _verdict(grounds, survey, column, own)))
    certain = [each for each in found if each[2] is True]
    # Of settings that go together the first names all; of several, the one with most values.
    certain.sort(
        key=lambda each: (
            leaf(each[0].name) not in _FLAGS,
            not _named(grounds, each[0].name),
            bool(words(each[0].name) & _NUMBERS),
            -each[0].distinct,
        )
    )
    for column, own, _ in certain:
        yield _finding(grounds, survey, column, own)
    if not certain:
        for column, own, verdict in found:
            if verdict is False:
                yield _finding(grounds, survey, column, own, likely=True)


def number(grounds: Grounds) -> str:
    """The column that numbers the attempts, where nothing is read as that: "" if there is none.

    Each of its values comes once in nearly every cell, and its name or its values are numbers'.
    """
    survey = grounds.survey
    if any(batch.roles.attempt or batch.roles.shape != "attempts" for batch in grounds.batches):
        return ""
    names = [
        name
        for name in grounds.unread
        if leaf(name) in ROLES["attempt"].doubtful.split()
        or (
            words(name) & _NUMBERS - _PLACES
            and words(name).isdisjoint(_HAPPENS)
            and len(words(name)) < 3
        )
    ]
    numbers = [name for name in names if _numbers_attempts(survey, survey.columns[name])]
    return numbers[0] if len(numbers) == 1 else ""


def _numbers_attempts(survey: Survey, column: Observed) -> bool:
    """Whether each of a column's values comes once in nearly every cell."""
    cell = survey.cell
    there = (cell >= 0) & (column.codes >= 0)
    sizes = np.bincount(cell[cell >= 0], minlength=1)
    most = int(sizes.max(initial=0))
    if most < 2 or column.share < _ONCE or column.distinct > few(most):
        return False
    pairs = joined_codes(cell[there], column.codes[there])
    return distinct(pairs) >= _ONCE * len(pairs)


def few(most: int) -> int:
    """The most numbers of attempts there are where cells have at most so many."""
    return 2 * most + 2


def is_setting(column: str) -> bool:
    """Whether a column, or a key above it, is called as a setting.

    >>> [is_setting(name) for name in ("config.name", "judging_method", "name")]
    [True, True, False]
    """
    *above, last = map(leaf, column.split("."))
    return not NAMES.isdisjoint((*above, last)) or last.rpartition("_")[2] in _KINDS


def _named(grounds: Grounds, name: str) -> bool:
    """Whether a column is called as a setting, or stands in paths, where somebody kept it apart."""
    template = grounds.request.template
    return is_setting(name) or (template is not None and name in template.names)


def _by_value(survey: Survey, column: Observed) -> Observed:
    """The column with equal numbers as one value, however they are written, and times by days."""
    if days := _days(survey, column):
        values, codes = np.unique(days, return_inverse=True)
        return replace(
            column,
            codes=np.where(column.codes < 0, -1, codes[column.codes]),
            distinct=len(values),
        )
    if survey.kind(column.name).name != "number":
        return column
    numbers = survey.numbers(column.name)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    there = np.isfinite(numbers)
    values, codes[there] = np.unique(numbers[there], return_inverse=True)
    return replace(column, codes=codes, distinct=len(values))


def _days(survey: Survey, column: Observed) -> list[str]:
    """The days of a column's values in the order of their codes; none where they are no dates."""
    dates = [*map(DATES.fullmatch, survey.texts(column.name, column.distinct))]
    return ["".join(date.groups()[:3]) for date in dates if date] if all(dates) else []


def _split(survey: Survey, column: Observed) -> Bools:
    """Rows of the models in which a column takes several values, of which none may be no value."""
    models = int(survey.series.max(initial=0)) + 1
    least, most = np.full(models, len(column.codes)), np.full(models, -2)
    np.minimum.at(least, survey.series, column.codes)
    np.maximum.at(most, survey.series, column.codes)
    several: Bools = (least < most)[survey.series]
    return several


def _may_be(grounds: Grounds, name: str) -> bool:
    """Whether a column of the sample can be a setting."""
    survey, column = grounds.survey, grounds.survey.columns[name]
    rows = np.bincount(survey.cell[survey.cell >= 0], minlength=1)
    most = max(20, int(survey.rows**0.5), int(np.median(rows)))
    if not 2 <= column.distinct + (column.share < 1) <= max(most, int(rows.max())):
        return False
    if column.distinct > most and not goes_up(survey.cell, survey.numbers(column.name)):
        return False
    dates = bool(_days(survey, column))
    if words(name) & _HAPPENS and not (dates or _named(grounds, name)):
        return False
    if grounds.harness and not _named(grounds, name):
        return False
    if ROLES["outcome"].ranks.get(leaf(name)) == 0 or _is_filled_by_outcome(survey, column):
        # Where another outcome is read, this one is no setting.
        return False
    kind = survey.kind(name)
    chosen = survey.columns.get(grounds.request.fields.get("attempt", ""))
    counts = kind.name == "number" and leaf(name) in ROLES["attempt"].ranks
    if chosen and counts and _pairs(survey.cell, chosen.codes) >= _pairs(survey.cell, column.codes):
        # The caller chose another column to number the attempts, which tells as many apart.
        return False
    if survey.whole and _pairs(survey.cell, column.codes) == distinct(survey.cell):
        # It has one value in each cell.
        return False
    return kind.longest <= SHORT or _named(grounds, name)


def _is_filled_by_outcome(survey: Survey, column: Observed) -> bool:
    """Whether a column has values exactly where attempts failed, or where they passed: it is a
    measure of these."""
    there, filled = np.isfinite(survey.verdict), column.codes >= 0
    own, other = ({*survey.verdict[there & rows].tolist()} for rows in (filled, ~filled))
    return len(own) == len(other) == 1 and own != other


def _pairs(cell: Ints, codes: Ints) -> int:
    """How many pairs of a cell and a value there are."""
    there = cell >= 0
    return int(np.unique(np.stack([cell[there], codes[there]]), axis=1).shape[1])


def _verdict(grounds: Grounds, survey: Survey, column: Observed, own: Evenness) -> bool | None:
    """True: certainly laid out; False: likely a setting; None: neither."""
    kind = grounds.survey.kind(column.name)
    number = kind.name == "number"
    named = _named(grounds, column.name) or leaf(column.name) in _SCORERS
    attempt = grounds.survey.columns.get(grounds.column("attempt"))
    # Decimals, as of versions, number nothing.
    numbers = (number and kind.whole) or words(column.name) & _NUMBERS or _numbered(survey, column)
    if attempt is not None and own.once > _ONCE and not named and numbers:
        # It numbers attempts that have numbers, in other words.
        return None
    # Of few cells each has each setting equally often.
    crossed = own.ratio == 0 and own.varies == 1 and own.cells > 1
    # So have words that are there in every row, as one deal in hundreds has at most.
    rare = leaf(column.name) in NAMES or (column.share == 1 and own.cells > 8 and own.p <= 0.005)
    if own.certain or own is GONE_UP or (crossed and rare and not number):
        return True
    if named or (leaf(column.name) in _FLAGS and not _answers_valid(survey, column)):
        return False
    return False if own.likely and not number else None


def _answers_valid(survey: Survey, column: Observed) -> bool:
    """Whether a column says which answers were valid: one of its values never passes."""
    if leaf(column.name) not in _VALID:
        return False
    there = (column.codes >= 0) & np.isfinite(survey.verdict)
    passes = np.bincount(column.codes[there], survey.verdict[there], minlength=column.distinct)
    return bool(passes.min() <= 0)


def _numbered(survey: Survey, column: Observed) -> bool:
    """Whether values are numbers with a word, as run1 or attempt_2."""
    return all(map(NUMBERED.fullmatch, survey.texts(column.name, 20)))


def _finding(
    grounds: Grounds, survey: Survey, column: Observed, own: Evenness, *, likely: bool = False
) -> Finding:
    """The finding about a column, with the options that settle it, the likeliest first."""
    name, task, model = column.name, grounds.column("task"), grounds.column("model")
    values = sorted(survey.texts(name), key=_natural)
    shown = {"column": quote(name), "values": [*values, *["none"] * (column.share < 1)]}
    apart = Settle({"--by": (name,)}, "keeps them apart")
    models = Settle({"--field": {"model": f"{model},{name}" if model else name}}, "as models")
    tasks = Settle({"--field": {"task": f"{name},{task}"}}, "as parts of the tasks")
    pool = Settle({"--pool": (name,)}, "pools them on purpose")
    if leaf(name) in _SCORERS and not _answers_differ(grounds, name):
        chosen = Settle(
            {"--where": f"{grounds.condition(name)} = {quote_text(values[0])}"}, "reads one of them"
        )
        return Finding(SEVERAL_VERDICTS, not likely, shown, (chosen, apart, pool))
    if leaf(name) in _FLAGS:
        flag = next((v for v in values if v.lower() in ("true", "1", "yes")), values[-1])
        kept = flag if leaf(name) in _KEEP else next((v for v in values if v != flag), "")
        # Where only what is replaced has a flag, the others have no value.
        holds = f"= {quote_text(kept)}" if kept else "IS NULL"
        chosen = Settle(
            {"--where": f"{grounds.condition(name)} {holds}"}, f"reads those with {kept or 'none'}"
        )
        return Finding(FLAGGED_ROWS, not likely, shown, (chosen, pool))
    if _restarts(survey, column, grounds):
        return Finding(RESTARTING_TASKS, not likely, shown, (tasks, apart, pool))
    attempt = not any(batch.roles.attempt for batch in grounds.batches)
    if own.once > _ONCE and attempt and not _named(grounds, name):
        numbers = Settle({"--field": {"attempt": name}}, "numbers the attempts")
        if _days(grounds.survey, grounds.survey.columns[name]):
            return Finding(UNREAD_NUMBER, not likely, shown, (apart, numbers, tasks, pool))
        kind = grounds.survey.kind(name)
        if (kind.name == "number" and kind.whole) or _numbered(survey, column):
            order = [numbers, apart, tasks, pool]
            if not words(name) & _NUMBERS and _far(grounds, survey, column):
                order = [models, apart, tasks, pool]
            if words(name) & _OF_TASKS and not words(name) & _NUMBERS - _PLACES:
                tasks = replace(tasks, options={"--field": {"task": f"{task},{name}"}})
                order = [tasks, numbers, apart, pool]
            return Finding(UNREAD_NUMBER, not likely, shown, tuple(order))
    order = [apart, models, pool] if model else [models, apart, pool]
    finer = next((each for each in grounds.unread if _is_finer(survey, each, column)), "")
    if finer:
        # It is a property of tasks that are finer.
        options: dict[str, Any] = {"--field": {"task": f"{task},{finer}"}}
        options |= {} if attempt else {"--duplicates": "keep"}
        order.insert(0, Settle(options, "as parts of the tasks"))
    elif not _named(grounds, name) or leaf(name) in _OF_STATEMENTS:
        # Where tasks are called by words, or by what they ask, those of a suite differ.
        asked = survey.texts(task, 20) if task in survey.columns else []
        asks = bool(asked) and all(t.count(" ") > 2 or not re.search("[0-9]", t) for t in asked)
        suite = leaf(name) in SUITES or _correlation(survey, column) <= _CORRELATED
        suite = suite and not asks
        order.insert(0 if suite else 2, tasks)
    return Finding(POOLED_SETTINGS, not likely, shown, tuple(order))


def _far(grounds: Grounds, survey: Survey, column: Observed) -> bool:
    """Whether numbers are too far apart to number attempts, as those of checkpoints."""
    numbers = grounds.survey.numbers(column.name)
    return bool(np.nanmax(numbers) - np.nanmin(numbers) > few(column.distinct))


def _is_finer(survey: Survey, name: str, column: Observed) -> bool:
    """Whether ids that start again in each task have, with the task, one value of a column each,
    of which some come in several rows; alone they have several."""
    if name not in survey.columns or leaf(name).rpartition("_")[2] != "id":
        return False
    ids = survey.columns[name].codes
    part = joined_codes(survey.cell, ids)
    fixed = _pairs(part, column.codes) == distinct(part) < np.sum(part >= 0)
    other = words(name) & (_NUMBERS | _HAPPENS) or is_setting(name)
    return bool(not other and fixed) and _pairs(ids, column.codes) > survey.columns[name].distinct


def _answers_differ(grounds: Grounds, name: str) -> bool:
    """Whether the attempts themselves differ in a column's values: so it is no judge of them."""
    survey = grounds.survey
    answers = [*candidates("answer", survey.columns), *candidates("solution", survey.columns)]
    for answer in answers:
        judge, own = survey.columns[name].codes, survey.columns[answer].codes
        there = (survey.cell >= 0) & (judge >= 0) & (own >= 0)
        cell = survey.cell[there]
        given = joined_codes(cell, own[there])
        found = distinct(joined_codes(given, judge[there]))
        # Of the same attempts each judge sees the same answers.
        judges = np.bincount(np.unique(np.stack([cell, judge[there]]), axis=1)[0])
        seen = np.unique(np.stack([given, cell]), axis=1)[1]
        if found < 0.9 * judges[seen].sum():
            return True
    return False


def _natural(text: str) -> tuple[float, str]:
    """Key that sorts numbers before texts, and by size."""
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _restarts(survey: Survey, column: Observed, grounds: Grounds) -> bool:
    """Whether tasks are numbered from the start again, unequally far, under a column's values."""
    task = grounds.column("task")
    if task not in survey.columns or grounds.survey.kind(task).name != "number":
        return False
    numbers = grounds.survey.numbers(task) if survey is grounds.survey else survey.numbers(task)
    ends = []
    for value in range(column.distinct):
        own = np.unique(numbers[(column.codes == value) & np.isfinite(numbers)])
        if len(own) < 3 or own[0] > 1 or own[-1] - own[0] + 1 > 1.2 * len(own):
            return False
        ends.append(len(own))
    return len(set(ends)) > 1


def _correlation(survey: Survey, column: Observed) -> float:
    """Mean correlation of the tasks' pass rates between a column's values; NaN if undefined."""
    there = (survey.cell >= 0) & np.isfinite(survey.verdict) & (column.codes >= 0)
    cell, code = survey.cell[there], column.codes[there]
    shape = int(cell.max(initial=-1)) + 1, column.distinct
    place = cell * column.distinct + code
    n = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    c = np.bincount(place, survey.verdict[there], minlength=n.size).reshape(shape)
    rates = np.where(n > 0, c / np.maximum(n, 1), np.nan)
    found = []
    for one, other in combinations(range(min(column.distinct, 8)), 2):
        both = np.isfinite(rates[:, one]) & np.isfinite(rates[:, other])
        first, second = rates[both, one], rates[both, other]
        if both.sum() > 2 and np.ptp(first) > 0 and np.ptp(second) > 0:
            found.append(float(np.corrcoef(first, second)[0, 1]))
    return float(np.mean(found)) if found else float("nan")


# What goes up by 1 in every cell.
GONE_UP = Evenness(0.0, True, 0.0, 1.0, 1, 1.0)
_EVENLY = (
    "Its values come equally often in every cell in which they occur: below 0.35 of the dispersion"
    " of random deals, and below each of 200 deals, in at least 8 cells with several rows, where at"
    " least a fifth of the cells have several of its values."
)
DOUBTS = (
    Doubt(
        POOLED_SETTINGS,
        "An unread column was laid out over models and tasks (asked). " + _EVENLY + " A warning"
        " where it is likely: below 0.6 of random deals, or by a name that means a setting.",
        ("--by X", "--field model=model,X", "--field task=X,task", "--pool X"),
        pooled,
    ),
    Doubt(
        UNREAD_NUMBER,
        "An unread column has each value once at each task, and numbers or days; or whole numbers"
        " that go up from 0 or 1 at each task.",
        ("--field attempt=X", "--by X", "--field task=X,task", "--pool X"),
        pooled,
    ),
    Doubt(
        RESTARTING_TASKS,
        "An unread column was laid out as a setting is, and under each of its values tasks are"
        " numbered from the start, unequally far.",
        ("--field task=X,task", "--by X", "--pool X"),
        pooled,
    ),
    Doubt(
        SEVERAL_VERDICTS,
        "An unread column of scorers or criteria was laid out as a setting is.",
        ("--where \"X = 'value'\"", "--by X", "--pool X"),
        pooled,
    ),
    Doubt(
        FLAGGED_ROWS,
        "An unread flag such as superseded, final or is_retry differs among the rows of a task.",
        ("--where \"X = 'value'\"", "--pool X"),
        pooled,
    ),
)
