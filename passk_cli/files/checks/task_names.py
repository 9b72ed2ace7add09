"""Find tasks that are in fact headers, totals, models or row ids, and tasks that occur in two
spellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from shlex import quote

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import CERTAIN, LIKELY, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.database import quote_text
from passk_cli.files.roles import column_name_words, normalized_column_name, role_name_strength
from passk_cli.files.vocabulary import PROBLEM_STATEMENT_WORDS, look_like_models
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import first_few

_TOTAL_ROW_WORDS = frozenset(
    "total totals overall average avg mean all summary macro aggregate sum".split()
)
# passk converts most names only to lower case before it compares them. Names that match
# _NAME_TO_NORMALIZE_PATTERN need further changes.
_NAME_TO_NORMALIZE_PATTERN = re.compile(r"\s|^\./|\.0+$|[^\x00-\x7f]|^\D*0[0-9]+$")

SUMMARY_ROWS_WARNING = DiagnosticType(
    "summary-rows", WARNING,
    "the task {names:and} summarizes other rows",
    meaning="A row with a task name like total, overall or average is a summary and not an"
    " attempt.",
    why="If passk counted a summary row as a task, the mean over tasks would be wrong.",
    advice="Leave the summary rows out with --where.",
    example="warning[summary-rows]: the task 'overall' summarizes other rows",
)  # fmt: skip
HEADER_ROWS_WARNING = DiagnosticType(
    "header-rows", WARNING,
    "one of the rows is a header, with the task {name}",
    meaning="Several tables were probably joined into one file, so the file contains a second"
    " header row.",
    why="passk would count the second header row as an attempt.",
    advice="Leave the header row out with --where, or delete the row.",
    example="warning[header-rows]: one of the rows is a header, with the task 'task_id'",
)  # fmt: skip
SIMILAR_TASK_NAMES_WARNING = DiagnosticType(
    "similar-tasks", WARNING,
    "{names:and} count as different tasks",
    meaning="The names of two tasks differ only in case, spaces, invisible characters or a leading"
    " ./, or spell the same number differently, for example 1 and 01.",
    why="Different tools may spell the name of the same task in different ways. If a task has two"
    " names, passk divides its attempts between two tasks, or counts the same attempt twice.",
    advice="If both names refer to the same task, use the same spelling for both.",
    example="warning[similar-tasks]: 'Task 1' and 'task 1' count as different tasks",
)  # fmt: skip
MODEL_NAMES_AS_TASKS_WARNING = DiagnosticType(
    "unlikely-tasks", WARNING,
    "the tasks are named like models: {names}",
    "passk needs the outcome of each task",
    meaning="The file probably has one row per model, with the number of tasks that the model"
    " solved instead of the outcome of each task.",
    why="If passk treated models as tasks, a model that solved 45 of 60 tasks would become one task"
    " with 45 passes in 60 attempts.",
    advice="Use a file that contains the outcome of each task. If the names are tasks and not"
    " models, name the task column with --field task=COLUMN.",
    example="warning[unlikely-tasks]: the tasks are named like models: gpt-5, gemini-3; passk"
    " needs the outcome of each task",
)  # fmt: skip
ROW_IDS_AS_TASKS_WARNING = DiagnosticType(
    "rows-as-tasks", WARNING,
    "{task} differs in each row, so every task has one attempt, although each {statement} occurs in"
    " several rows",
    meaning="The column that passk uses as the task probably contains ids of rows, runs or"
    " responses.",
    why="If each attempt counts as a separate task, passk cannot compute pass@k for k above 1.",
    advice="Name the column that contains the tasks, for example with --field task=question.",
    example="warning[rows-as-tasks]: id differs in each row, so every task has one attempt,"
    " although each question occurs in several rows",
)  # fmt: skip


def summary_row_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find tasks that are named like a total over other tasks."""
    task = context.role_column("task")
    names = [name for name in context.task_names_lacking_digits if _is_named_like_total(name)]
    if names and len(names) <= 3 and len(context.tasks) > 2 * len(names):
        texts = ", ".join(map(quote_text, names))
        without = f"{context.column_expression_sql(task)} NOT IN ({texts})"
        settle = SuggestedFix({"--where": without}, "leaves them out")
        yield CheckFinding(SUMMARY_ROWS_WARNING, True, {"names": [*map(repr, names)]}, (settle,))


def _is_named_like_total(name: str) -> bool:
    """Whether a name consists of one or two words that mean a total, for example "Macro avg".

    >>> (_is_named_like_total("Macro avg"), _is_named_like_total("suite-overall"),
    ...  _is_named_like_total("all pairs"))
    (True, False, False)
    """
    terms = re.findall(r"[^\W_]+", name.casefold())
    return 0 < len(terms) <= 2 and _TOTAL_ROW_WORDS.issuperset(terms)


def header_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find a row that repeats the header of the table. Case is ignored."""
    task = context.role_column("task")
    if not any(batch.layout.kind == "csv" for batch in context.batches):
        return
    for name in context.tasks if any(map(str.isdigit, task)) else context.task_names_lacking_digits:
        if normalized_column_name(name.strip("\ufeff \t")) == normalized_column_name(
            task
        ) and _row_repeats_header(context, name):
            without = f"{context.column_expression_sql(task)} <> {quote_text(name)}"
            settle = SuggestedFix({"--where": without}, "leaves it out")
            yield CheckFinding(HEADER_ROWS_WARNING, True, {"name": repr(name)}, (settle,))
            return


def _row_repeats_header(context: CheckContext, task: str) -> bool:
    """Whether at least half of the other values in the row of a task are column names."""
    profile, column = context.profile, context.role_column("task")
    if task not in (texts := profile.distinct_texts(column, 100_000)):
        return True
    row = int(np.flatnonzero(profile.columns[column].codes == texts.index(task))[0])
    names = {normalized_column_name(name) for name in profile.columns}
    values = [profile.texts_at(name, [row])[0] for name in profile.columns if name != column]
    is_column_name = [normalized_column_name(value.strip()) in names for value in values if value]
    return sum(is_column_name) >= 0.5 * len(is_column_name)


def spelling_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find tasks that occur in two spellings."""
    groups: dict[str, list[str]] = {}
    for name in context.tasks:
        groups.setdefault(unify_name_spelling(name), []).append(name)
    names = next((group for group in groups.values() if len(group) > 1), None)
    if names is not None:
        yield CheckFinding(
            SIMILAR_TASK_NAMES_WARNING, False, {"names": [repr(name) for name in names]}
        )


def unify_name_spelling(name: str) -> str:
    r"""The name in lower case, without extra spaces, invisible characters, `./` or leading zeros.

    >>> [unify_name_spelling(name) for name in ("./A b", "a_B", "1.0", "01", "t0\u200b")]
    ['a b', 'a_b', '1', '1', 't0']
    """
    if _NAME_TO_NORMALIZE_PATTERN.search(name) is None:
        return name.lower()
    text = unicodedata.normalize("NFKC", name)
    text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
    text = text.casefold().strip().removeprefix("./")
    number = re.sub(r"^(\D*)0+([0-9]+)$", r"\1\2", re.sub(r"^(-?[0-9]+)\.0+$", r"\1", text))
    return re.sub(r"\s+", " ", number)


def model_like_task_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find tasks that are named like models."""
    tasks, task = context.tasks, context.role_column("task")
    if (
        context.is_known_format
        or "task" in context.request.named_column_by_role
        or not look_like_models(tasks)
    ):
        return
    model = {} if len(context.models) > 1 else {"model": task}
    finer = [name for name in context.unread_columns if role_name_strength("task", name)][:2]
    settles = [SuggestedFix({"--field": {"task": name, **model}}) for name in finer]
    settles.append(SuggestedFix({"--field": {"task": task}}, "if these are tasks and not models"))
    yield CheckFinding(
        MODEL_NAMES_AS_TASKS_WARNING, True, {"names": first_few(tasks)}, tuple(settles)
    )


def row_id_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find row ids that passk read as tasks although each question occurs in several rows."""
    profile, task = context.profile, context.role_column("task")
    column = profile.columns.get(task)
    if (
        context.is_known_format
        or column is None
        or not 1 < profile.row_count == column.distinct_count
    ):
        return
    statements = [
        name for name in context.unread_columns if column_name_words(name) & PROBLEM_STATEMENT_WORDS
    ]
    if statements and all(
        _has_mostly_repeated_values(profile.columns[name].codes) for name in statements
    ):
        fields = {"task": quote(task), "statement": quote(statements[0])}
        by_statement = SuggestedFix({"--field": {"task": statements[0]}})
        yield CheckFinding(ROW_IDS_AS_TASKS_WARNING, False, fields, (by_statement,))


def _has_mostly_repeated_values(codes: Ints) -> bool:
    """Whether nearly all values occur in several rows, like the question of a task."""
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    return bool(len(sizes) >= 5 and codes.min() >= 0 and np.mean(sizes > 1) >= 0.9)


CHECKS = (
    ReadingCheck(
        SUMMARY_ROWS_WARNING, CERTAIN,
        "A task is named total, overall, average or similar.",
        ("--where \"task NOT IN ('overall')\"",), summary_row_findings,
    ),
    ReadingCheck(
        HEADER_ROWS_WARNING, CERTAIN,
        "A row of a CSV table repeats the name of the task column and half of the other names.",
        ("--where \"task <> 'task_id'\"",), header_findings,
    ),
    ReadingCheck(
        SIMILAR_TASK_NAMES_WARNING, LIKELY,
        "Names of tasks differ only in case, spaces, invisible characters or ./, or like 1 and"
        " 1.0.",
        (), spelling_findings,
    ),
    ReadingCheck(
        MODEL_NAMES_AS_TASKS_WARNING, CERTAIN,
        "You named no task column, and most tasks are named like models, for example gpt-4o.",
        ("--field task=X --field model=Y", "--field task=X"), model_like_task_findings,
    ),
    ReadingCheck(
        ROW_IDS_AS_TASKS_WARNING, LIKELY,
        "The task differs in every row, but each question or prompt occurs in several rows.",
        ("--field task=X",), row_id_findings,
    ),
)  # fmt: skip
