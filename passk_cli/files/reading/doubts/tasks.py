"""Tasks that are none: a column that is coarser than a task, and names that mean one thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from shlex import quote

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.survey import Survey, distinct, joined_codes
from passk_cli.files.roles import judge, leaf, strength, words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle
from passk_cli.text import first_few, shortened

# Names of what a task says, which differs from task to task alone; and of what may be said anew.
_QUESTIONS = {*"question problem problem_statement statement instruction query goal".split()}
_STATEMENTS = _QUESTIONS | {
    *"gold golden target expected expected_output expected_answer reference".split(),
    *"reference_answer ground_truth answer_key correct_answer label_text".split(),
}
# Words of names of what was expected, as in gt_action.
_EXPECTED = {*"gt gold golden expected groundtruth".split()}
_PROMPTS = {"prompt", "input", "task_description", "description", "user_input", "inputs"}
# Names of what tells the tasks apart that have one name.
_IDS = {
    *"id idx index question_id sample_id case case_id item item_id no number example_id".split(),
    *"row_id doc_id qid uid key problem_id instance_id question_idx sample_idx item_idx".split(),
}
# Words of names of what each row has of its own.
_OF_ROWS = {*"run trial attempt rollout session completion generation response trajectory".split()}
# Names of the language that a task is stated in, once in each.
LANGUAGES = {*"language lang locale".split()}
# Share of the tasks with several rows in which a statement differs.
_DIFFERS = 0.2
# Share of the questions that come in several rows, where a row is an attempt.
_AGAIN = 0.9
# Rows of a task from which an id in each row is one of tasks, where there are few of these.
_MANY_ROWS, _FEW_TASKS = 5, 20
# What is more in a name than ASCII letters in another case.
_ODD = re.compile(r"\s|^\./|\.0+$|[^\x00-\x7f]|^\D*0[0-9]+$")
_POWER = re.compile(r"[0-9](\.[0-9]+)?[eE]\+?[0-9]{1,3}")

# How names of models begin: a family of them, and what is said of its members.
_MEMBERS = (
    r"base|chat|code|coder|flash|haiku|instruct|large|lite|max|medium|mini|nano|next|opus|plus"
    r"|preview|pro|small|sonnet|turbo|ultra"
)
FAMILIES = (
    r"(baichuan|claude|code(gen|llama|stral)|command(?=-r)|deepseek|devstral|exaone|falcon|gemini"
    r"|gemma|glm|(chat)?gpt|granite|grok|haiku|hermes|hunyuan|internlm|jamba|kimi|llama|magistral"
    r"|minicpm|minimax|ministral|mistral|mixtral|nemotron|o(?=[134])|olmo|opus|phi|pixtral|pythia"
    r"|qwen|qwq|smollm|solar|sonnet|starcoder|starling|tinyllama|vicuna|wizard(coder|lm)|yi|zephyr)"
    rf"([-_ .:]?[rv]?\d|[-_ .:]({_MEMBERS})\b|$)"
)
# The share of the tasks from which on such names are no accident.
_SHARE = 0.75
# So many billions of parameters say it too.
MODEL_NAME = re.compile(rf"(.*/)?{FAMILIES}.*|.+[-_]\d+(\.\d+)?b\b.*", re.I | re.S)
# Kinds of names that tasks do not have.
_KINDS = {
    "models": MODEL_NAME,
    "levels of difficulty": re.compile(
        r"(easy|medium|moderate|normal|hard|difficult|introductory|interview"
        r"|competition|beginner|intermediate|advanced|expert|simple|complex)", re.I,
    ),
}  # fmt: skip

UNLIKELY_TASKS = Message(
    "unlikely-tasks", WARNING, "the tasks are called as {kind} are: {names}",
    "passk needs what each task came to",
    "A row for each model, or for each level, says how many tasks passed and not which. Read as"
    " tasks, models would be pooled as one, and 45 of 60 tasks would be 45 of 60 attempts at one.",
)  # fmt: skip
COARSE_TASKS = Message(
    "coarse-tasks", WARNING,
    "{tasks:row} of one {task} have different {column} ({values}): it names no single task",
    "",
    "Attempts at one task answer the same question. Where a column that states the question, or its"
    " expected answer, differs among the rows of a task, or each row has an id of its own and there"
    " are few tasks with many rows, what is read as the task is a category, a subject or a suite.",
)  # fmt: skip
SIMILAR_TASKS = Message(
    "similar-tasks", WARNING, "{names:and} are read as different tasks", "",
    "Names of tasks differ only in case, blanks, a leading ./, or as 1, 1.0 and 01. They are often"
    " one task in the spelling of two tools, and its attempts lie under two names. Where two files"
    " have the two spellings and no other task in common, passk asks before it counts.",
)  # fmt: skip
ROWS_AS_TASKS = Message(
    "rows-as-tasks", WARNING,
    "{task} is different in each row, so that every task has one attempt{?statement|, though each"
    " {statement} comes several times}", "",
    "An id of each row, run, trial or response names no task. Read as one, attempts at the same"
    " task count as tasks of their own, and nothing is known of how often a task passes.",
)  # fmt: skip
ROUNDED_IDS = Message(
    "rounded-ids", WARNING, "the task {name} is a number that a spreadsheet rounded", "",
    "A spreadsheet wrote a long id as 1.23E+11: its digits are lost, and several tasks may have one"
    " name. Export the table again with the column as text.",
)  # fmt: skip


def coarse(grounds: Grounds) -> Iterator[Finding]:
    """Statements that differ within a task, or ids that are all different in a few tasks."""
    survey, task = grounds.survey, grounds.column("task")
    if grounds.harness or not task:
        return
    judges = "judge" in words(grounds.column("outcome") or "")
    languages = (column for name, column in survey.columns.items() if leaf(name) in LANGUAGES)
    stated = joined_codes(survey.task, *(each.codes for each in languages if each.share == 1))
    for name in grounds.unread:
        states = leaf(name) in _STATEMENTS or words(name) & _EXPECTED
        if not states and leaf(name) not in _PROMPTS:
            continue
        if judges and not any(isinstance(judge(t, None), str) for t in survey.texts(name)):
            # Verdicts beside those of a judge say whether these are right.
            continue
        differs, example = _differs(stated, survey.columns[name].codes)
        nested = _nested(survey.task, survey.columns[name].codes)
        if differs < _DIFFERS or (leaf(name) in _PROMPTS and not nested):
            continue
        yield _coarse(grounds, name, example, certain=bool(states) or nested)
        return
    sizes = np.bincount(survey.task[survey.task >= 0])
    series = int(survey.series.max(initial=0)) + 1
    few = len(sizes) <= _FEW_TASKS and sizes.mean() >= _MANY_ROWS * series if len(sizes) else False
    if not few or len(set(sizes.tolist())) < 2 or not survey.whole:
        return
    attempt = grounds.column("attempt")
    for name in [*([attempt] if attempt in survey.columns else []), *grounds.unread]:
        column = survey.columns[name]
        pairs = joined_codes(survey.series, column.codes)
        # Numbers of attempts start again at each task; ids go on.
        alone = distinct(pairs) == np.sum(pairs >= 0)
        if leaf(name) in _IDS and alone and column.share == 1 and "attempt" not in words(name):
            example = np.flatnonzero(survey.task == int(sizes.argmax()))[:3].tolist()
            yield _coarse(grounds, name, example, certain=True)
            return


def _differs(task: Ints, codes: Ints) -> tuple[float, list[int]]:
    """Share of the tasks with several values of a column, of those with several rows; the rows of
    two values of one."""
    there = (task >= 0) & (codes >= 0)
    rows = np.flatnonzero(there)
    if not len(rows):
        return 0.0, []
    pairs, firsts = np.unique(np.stack([task[rows], codes[rows]]), axis=1, return_index=True)
    values = np.bincount(pairs[0])
    sizes = np.bincount(task[rows])
    several = sizes > 1
    if not several.any():
        return 0.0, []
    own = firsts[pairs[0] == int(values.argmax())][:2]
    return float(np.mean(values[several] > 1)), rows[own].tolist()


def _nested(task: Ints, codes: Ints) -> bool:
    """Whether values belong to one task each, and come in several rows, as statements do."""
    there = (task >= 0) & (codes >= 0)
    pairs = np.unique(np.stack([codes[there], task[there]]), axis=1)
    values = distinct(pairs[0])
    return bool(pairs.shape[1] <= 1.1 * values and there.sum() >= 1.5 * values)


def _coarse(grounds: Grounds, name: str, rows: Sequence[int], *, certain: bool) -> Finding:
    """The finding, with the column that tells the tasks apart."""
    survey, task = grounds.survey, grounds.column("task")
    texts = [shortened(text, 40) for text in survey.at(name, rows)]
    fine = [
        other
        for other in grounds.unread
        if leaf(other) in _IDS and _names(survey, other, name)
    ]  # fmt: skip
    settles = [Settle({"--field": {"task": f"{task},{other}"}}) for other in [*fine[:1], name]]
    settles = settles if fine else settles[-1:]
    pairs = joined_codes(survey.task, survey.columns[name].codes)
    values, tasks = survey.columns[name].distinct, survey.columns[task].distinct
    if tasks > 1 and distinct(pairs) >= 0.9 * values * tasks:
        # What several tasks have in common tells the tasks, and these are something else.
        of = {"--by": (task,)} if grounds.column("model") else {"--field": {"model": task}}
        settles.insert(0, Settle(of).merged(Settle({"--field": {"task": name}})))
    elif values > 1.5 * tasks and not fine:
        settles.append(Settle({"--field": {"task": name}}, f"if it is the same under each {task}"))
    shown = {"tasks": len(rows), "task": task, "column": quote(name), "values": texts}
    return Finding(COARSE_TASKS, certain, shown, tuple(settles))


def _names(survey: Survey, column: str, statement: str) -> bool:
    """Whether a task and a column together have one statement each."""
    joint = joined_codes(survey.task, survey.columns[column].codes)
    differs, _ = _differs(joint, survey.columns[statement].codes)
    return survey.columns[column].share == 1 and differs < 0.02


def similar(grounds: Grounds) -> Iterator[Finding]:
    """Names of tasks that mean one thing."""
    spellings: dict[str, list[str]] = {}
    for name in grounds.tasks:
        spellings.setdefault(_plain(name), []).append(name)
    pairs = [names for names in spellings.values() if len(names) > 1]
    if pairs:
        first = [repr(name) for name in pairs[0]]
        apart = len(pairs) >= 0.8 * len(spellings) and len(grounds.survey.files) > 1
        yield Finding(SIMILAR_TASKS, apart and _of_two_files(grounds, pairs), {"names": first})


def _plain(name: str) -> str:
    """A name without what tools spell differently.

    >>> _plain("./A b"), _plain("a_B"), _plain("1.0"), _plain("01")
    ('a b', 'a_b', '1', '1')
    """
    if _ODD.search(name) is None:
        return name.lower()
    text = unicodedata.normalize("NFKC", name).casefold().strip().removeprefix("./")
    number = re.sub(r"^(\D*)0+([0-9]+)$", r"\1\2", re.sub(r"^(-?[0-9]+)\.0+$", r"\1", text))
    return re.sub(r"\s+", " ", number)


def _of_two_files(grounds: Grounds, pairs: Sequence[Sequence[str]]) -> bool:
    """Whether files have either the one or the other spelling."""
    survey, task = grounds.survey, grounds.column("task")
    if task not in survey.columns:
        return False
    texts = dict(zip(survey.texts(task, 10_000), range(10_000), strict=False))
    of_file: dict[str, set[int]] = {}
    for names in pairs:
        for name in names:
            rows = survey.columns[task].codes == texts.get(name, -2)
            of_file[name] = {*np.unique(survey.file[rows]).tolist()}
    return all(not of_file[one] & of_file[other] for one, other, *_ in pairs)


def single(grounds: Grounds) -> Iterator[Finding]:
    """Ids of rows that are read as tasks."""
    survey, task = grounds.survey, grounds.column("task")
    column = survey.columns.get(task)
    if grounds.harness or column is None or not 1 < survey.rows == column.distinct:
        return
    asked = [name for name in grounds.unread if leaf(name) in _QUESTIONS | _PROMPTS]
    repeated = [name for name in asked if _comes_again(survey.columns[name].codes)]
    if words(task) & _OF_ROWS:
        others = (name for name in grounds.unread if strength("task", name))
        tasks = [name for name in others if 1 < survey.columns[name].distinct < survey.rows]
        settles = tuple(Settle({"--field": {"task": name}}) for name in tasks[:2])
        yield Finding(ROWS_AS_TASKS, False, {"task": quote(task), "statement": ""}, settles)
    elif repeated and len(repeated) == len(asked):
        settle = Settle({"--field": {"task": repeated[0]}})
        shown = {"task": quote(task), "statement": quote(repeated[0])}
        yield Finding(ROWS_AS_TASKS, False, shown, (settle,))


def _comes_again(codes: Ints) -> bool:
    """Whether nearly all of many values come in several rows, as questions do at each attempt."""
    rows = np.bincount(codes[codes >= 0], minlength=1)
    many = len(rows) >= max(_MANY_ROWS, len(codes) ** 0.5)
    return bool(many and codes.min() >= 0 and np.mean(rows > 1) >= _AGAIN)


def unlikely(grounds: Grounds) -> Iterator[Finding]:
    """Tasks of which each is called as a model is, or as a level of difficulty."""
    tasks, task = grounds.tasks, grounds.column("task")
    if len(tasks) < 2 or grounds.harness or "task" in grounds.request.named:
        return
    alone = len(grounds.models) == 1
    of_kind = {kind: sum(map(bool, map(name.fullmatch, tasks))) for kind, name in _KINDS.items()}
    for kind in (kind for kind, count in of_kind.items() if count >= _SHARE * len(tasks)):
        role = {"model": task} if kind == "models" and alone else {}
        others = (name for name in grounds.unread if strength("task", name))
        finer = [Settle({"--field": {"task": name, **role}}) for name in others][:2]
        indeed = Settle({"--field": {"task": task}}, f"if these are tasks, and no {kind}")
        shown = {"kind": kind, "names": first_few(tasks)}
        yield Finding(UNLIKELY_TASKS, True, shown, (*finer, indeed))


def rounded(grounds: Grounds) -> Iterator[Finding]:
    """Ids that a spreadsheet rounded."""
    table = any(batch.layout.kind == "csv" for batch in grounds.batches)
    name = next(filter(_POWER.fullmatch, grounds.tasks), None) if table else None
    if name is not None:
        yield Finding(ROUNDED_IDS, True, {"name": name})


DOUBTS = (
    Doubt(
        COARSE_TASKS,
        "A column that states a task (question, problem, gold, expected, reference …) differs"
        " within tasks; or few tasks have many rows, unequally many, and a column called id, idx,"
        " index, question_id … is different in every row.",
        ("--field task=task,idx",),
        coarse,
    ),
    Doubt(
        SIMILAR_TASKS,
        "Names of tasks differ by case, blanks, ./, or as 1 and 1.0. Asked where two files hold the"
        " two spellings and share no other task.",
        (),
        similar,
    ),
    Doubt(
        ROWS_AS_TASKS,
        "No row has the same task as another, and it is called an id of runs, trials, attempts or"
        " responses; or a question or a prompt beside it comes in several rows.",
        ("--field task=COLUMN",),
        single,
    ),
    Doubt(
        UNLIKELY_TASKS,
        "Three of four tasks or more are called as models are (gpt-4o, claude-3), or as levels of"
        " difficulty (easy, hard), and the task was not named.",
        ("--field task=COLUMN --field model=COLUMN", "--field task=COLUMN"),
        unlikely,
    ),
    Doubt(ROUNDED_IDS, "A task of a table is called as 1.23E+11.", (), rounded),
)
