"""JSON documents that no particular harness writes: passk finds their records in the document.

The columns of records have the usual names or those of `--field`. The shapes differ in the types of
their values and the names of their columns.  Source: layouts that people's own scripts write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile
from json import dumps
from typing import Any

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.errors import BadRecordError, DataError, NoResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Record,
    RowRequest,
    sniff_file,
)
from passk_cli.files.roles import (
    LINE,
    ONE_SIDED,
    ROLE_WORDS,
    ROLES,
    SETTINGS,
    SUMMED_UP,
    name_strength,
    name_words,
    spelled_name,
    usual_columns,
)
from passk_cli.files.sources.source import PACKED
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import first_few, shortened

UNJUDGED_IDS = DiagnosticType(
    "unjudged-ids", WARNING,
    "{ids:id} of {key} {ids:is|are} neither in {passed} nor in {failed}, and {ids:has|have} no"
    " outcome",
    meaning="The file lists the ids of tasks that passed and of tasks that failed. A third list"
    " contains ids that are in neither of them.",
    why="These attempts have no outcome. If they failed, the pass rate is too high without them.",
    advice="`--missing fail` counts them as failures and `--missing drop` leaves them out.",
    example="warning[unjudged-ids]: 3 ids of submitted are neither in resolved nor in unresolved,"
    " and have no outcome",
)  # fmt: skip

# DuckDB needs three times the size of an array as memory, so longer arrays are streamed.
LARGE_BYTES = 1 << 27
# Assumed ratio of the unpacked size to the packed size.
_UNPACKED = 10
_LOOKED_AT = 50
# Values with these names are averages, not the outcome of a task.
_AVERAGES = ("acc", "accuracy", "score", "scores")
KEYS_WITHOUT_RECORDS = DiagnosticType(
    "keys-without-records", WARNING,
    "{keys:key} without {key} {keys:is|are} skipped: {names}",
    meaning="--records names keys by a part in braces. Some of these keys do not contain the"
    " records that the other keys contain.",
    why="The key may be metadata of the document, or a run with its results in another place. In"
    " that case attempts are missing.",
    advice="If attempts are missing, give the file or the key that contains them.",
    example="warning[keys-without-records]: 2 keys without results are skipped: summary and config",
)  # fmt: skip

_LISTS = tuple(
    "results records samples tasks attempts trials simulations evaluations examples instances rows"
    " data outputs items problems questions runs".split()
)
_PASSED = (
    "passed pass passes resolved solved correct success successes successful succeeded".split()
)

_FAILED = "failed fail fails failures unresolved unsolved incorrect unsuccessful wrong".split()
# Keys of metadata that may name the model, and the names of the model in it.
_HEADS = frozenset("metadata meta config configuration info run args settings".split())
_MODELS = frozenset("model model_name model_id agent_model llm".split())
# The keys that pandas writes with orient="split".
_SPLIT = {"columns", "data"}
_SUFFIX = re.compile(r"_(ids?|tasks?|task_ids|instances?|instance_ids|problems?|problem_ids)$")
# The value of --records for the document itself.
WHOLE_DOCUMENT = "."
# A key of a document that names a column: {task}.
_KEY_COLUMN = re.compile(r"\{(\w+)\}")
_NO_RECORD_LIST = "no list of records"
_NOTHING: Record = {}
_DETECT_FORMAT = SuggestedFix({"--from": None}, "detects the format")


@dataclass(frozen=True)
class _Entry:
    """One value of a document: its key, its kind, and the columns of its first record.

    kind : "null", "bool", "number", "text", "record", "records" (a list of them), "ids" (a list of
        texts or whole numbers), "flags" (a list of truth values), "empty" (a list) or "other".
    """

    key: str
    kind: str
    columns: frozenset[str] = frozenset()


@lru_cache(maxsize=1000)
def _has_outcome(columns: frozenset[str], but: tuple[str, ...] = ()) -> bool:
    """Whether one of the columns is usually an outcome, or the columns contain counts."""
    names = [name for name in columns if name.lower() not in but]
    has_counts = usual_columns("n", names) and usual_columns("c", names)
    return bool(usual_columns("outcome", names) or has_counts)


def _names_task(columns: Iterable[str]) -> bool:
    """Whether one of these columns is usually the task; "id" and "name" may belong to anything."""
    return any(ROLES["task"].ranks.get(spelled_name(name)) == 0 for name in columns)


@lru_cache(maxsize=1)
def _entries(file: File) -> list[_Entry]:
    """The top-level entries of a document, as far as its beginning goes."""
    if file.short_document is None and not file.text:
        file = sniff_file(file.source).with_longer_start()
    document = file.beginning if file.form == "object" and isinstance(file.beginning, dict) else {}
    return [_entry(key, value) for key, value in document.items()]


def _entry(key: str, value: Any) -> _Entry:
    if isinstance(value, dict):
        return _Entry(key, "record", frozenset(value))
    if isinstance(value, list):
        kinds = (("records", (dict,)), ("ids", (str, int)), ("flags", (bool, type(None))))
        types = set(map(type, value))
        kind = next((kind for kind, allowed in kinds if types <= {*allowed}), "other")
        columns = frozenset(value[0] if value and kind == "records" else ())
        return _Entry(key, kind if value else "empty", columns)
    if isinstance(value, bool) or value is None:
        return _Entry(key, "null" if value is None else "bool")
    return _Entry(key, "text" if isinstance(value, str) else "number")


def _constant_values(
    values: Mapping[str, Any], requested: Collection[str] = (), record: Record | None = None
) -> dict[str, object]:
    """The constant values next to the records: the model, settings, and requested columns.

    If neither these values nor the records name a model, a name in the metadata counts.
    record : the first record.
    """
    names = {*ROLES["model"].names[0], *SETTINGS}
    plain = (str, int, float)
    facts: dict[str, object] = {
        name: value
        for name, value in values.items()
        if (name in requested and isinstance(value, plain))
        or (name.lower() in names and isinstance(value, plain) and not isinstance(value, bool))
    }
    heads = [] if usual_columns("model", [*facts, *(record or ())]) else values.items()
    models = {
        value
        for name, head in heads
        if name.lower() in _HEADS and isinstance(head, dict)
        for key, value in head.items()
        if spelled_name(key) in _MODELS and isinstance(value, str)
    }
    return {"model": models.pop(), **facts} if len(models) == 1 else facts


def _require_record(place: str, value: Any) -> Record:
    if isinstance(value, dict):
        return value
    raise BadRecordError(place, f"not a record: {shortened(dumps(value))}", "expected an object")


def _list_records(file: File, keys: Sequence[str], siblings: dict[str, Any]) -> Iterator[Record]:
    for number, value in enumerate(file.records(*keys, siblings=siblings), 1):
        if number == 1 and not isinstance(value, dict):
            raise NoResultsError(
                file.source.name, _NO_RECORD_LIST, "expected objects in it", name="unknown-format"
            )
        yield _require_record(f"{file.source.name}: record {number}", value)


# --- an array of records ---


def _is_large(file: File) -> bool:
    times = 1 if file.source.packing == "none" else _UNPACKED
    large = os.path.getsize(file.source.path) * times > LARGE_BYTES
    return file.form == "array" and file.short_document is None and large


RECORDS = Format(
    "records",
    "the outcome of an array of records too long for memory, which is streamed",
    "",
    _is_large,
    lambda file: Contents(lambda request: _list_records(file, (), {})),
    generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
[{"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
 {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]
""",
        arguments="RESULTS.json --from records",
    ),
)


# --- task → bool, record or list of them ---


def _records_by_task(
    members: Iterable[tuple[str, Any]], place: str, columns: Record, siblings: Record = _NOTHING
) -> Iterator[Record]:
    """The records of a mapping by task: each value is an outcome, a record, or a list of either.

    columns : columns from keys further up.  siblings : see `_records_below`.
    """
    for task, value in members:
        first = value[0] if isinstance(value, list) and value else value
        # If the records name their task, the key is not the task.
        key = "key" if isinstance(first, dict) and _names_task(first) else "task"
        where = f"{place}: {shortened(task)}"
        yield from _records_below(value, (), {key: task, **columns}, where, (), siblings)


def _is_outcome_by_task(entries: Sequence[_Entry]) -> bool:
    kinds = {entry.kind for entry in entries}
    flags = ("bool" in kinds and kinds <= {"bool", "null"}) or kinds == {"flags"}
    return flags and not _has_outcome(frozenset(entry.key for entry in entries))


TASK_OUTCOMES = Format(
    "task-outcomes",
    "true, in an object of truth values, or lists of them, by task",
    "",
    lambda file: _is_outcome_by_task(_entries(file)),
    lambda file: Contents(lambda request: _records_by_task(file.members(), file.source.name, {})),
    generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"a": [true, false], "b": [true, true]}
""",
    ),
)


def _is_records_by_task(entries: Sequence[_Entry]) -> bool:
    kinds = {entry.kind for entry in entries} - {"null"}
    filled = [entry for entry in entries if entry.columns]
    if len(filled) < 2 and kinds != {"records"}:
        return False
    if kinds not in ({"record"}, {"records"}, {"records", "empty"}):
        return False
    # A list of models, or of records that name their tasks, does not contain the attempts at one
    # task.
    names_its_tasks = kinds != {"record"} and any(
        _names_task(entry.columns) or name_words(entry.key) & SUMMED_UP for entry in filled
    )
    return not names_its_tasks and all(
        _has_outcome(entry.columns, ("acc", "accuracy")) for entry in filled
    )


TASK_RECORDS = Format(
    "task-records",
    "the outcome of a record, in an object of records, or lists of them, by task",
    "",
    lambda file: _is_records_by_task(_entries(file)),
    lambda file: Contents(lambda request: _records_by_task(file.members(), file.source.name, {})),
    generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"a": {"passed": true, "seconds": 12.5}, "b": {"passed": false, "seconds": 3.1}}
""",
    ),
)


# --- an object with one list of records ---


def _record_lists(entries: Sequence[_Entry]) -> list[_Entry]:
    """The lists of records that may be the main content of the document."""
    other_words = ONE_SIDED | SUMMED_UP
    lists = [e for e in entries if e.kind == "records" and not name_words(e.key) & other_words]
    judged = [entry for entry in lists if _has_outcome(entry.columns)]
    top = _plain_keys(entries)
    if _has_outcome(top):
        usual = () if _has_outcome(top, _AVERAGES) else _LISTS
        return [e for e in judged if _names_task(e.columns) or e.key.lower() in usual]
    return judged or (lists if len(lists) == 1 else [])


def _plain_keys(entries: Sequence[_Entry]) -> frozenset[str]:
    return frozenset(
        entry.key
        for entry in entries
        # A number of tests only summarises the list.
        if entry.kind in ("bool", "text")
        or (entry.kind == "number" and entry.key not in ("tests_passed", "tests_pass"))
    )


def _single_list_contents(file: File) -> Contents:
    entries = _entries(file)
    lists = _record_lists(entries)
    top = _plain_keys(entries)
    if _has_outcome(top) and _has_outcome(top, _AVERAGES) and _names_task(top):
        _refuse_several_lists(file, [WHOLE_DOCUMENT, *(entry.key for entry in lists)])
    if len(lists) > 1:
        _refuse_several_lists(file, [entry.key for entry in lists])
    if not lists:
        raise _unsuitable_error(file, _NO_RECORD_LIST)
    return _list_contents(file, (lists[0].key,), later=True)


def _refuse_several_lists(file: File, keys: Sequence[str]) -> None:
    places = " and ".join(
        shortened(key) if key != WHOLE_DOCUMENT else "the document itself" for key in keys
    )
    raise DataError(
        file.source.name,
        f"the document has records in several places: {places}",
        name="ambiguous-records",
        settles=[SuggestedFix({"--records": key}, "reads these") for key in keys],
    )


def _list_contents(
    file: File, keys: Sequence[str], requested: Collection[str] = (), *, later: bool = False
) -> Contents:
    """The list below these keys; the values next to it are known after it was read.

    requested : columns that may be next to the list.  later : whether to refuse a second list.
    """
    siblings: dict[str, Any] = {}
    facts: dict[str, object] = {}

    def rows(request: RowRequest) -> Iterator[Record]:
        records = _list_records(file, keys, siblings)
        first = next(records, None)
        if first is not None:
            yield first
            yield from records
        if later:
            other_lists = _record_lists([_entry(key, value) for key, value in siblings.items()])
            if any(
                _has_outcome(entry.columns) and _names_task(entry.columns) for entry in other_lists
            ):
                _refuse_several_lists(file, [keys[0], *(entry.key for entry in other_lists)])
        facts.update(_constant_values(siblings, requested, first))

    return Contents(rows, facts=facts)


RECORD_LIST = Format(
    "list-of-records",
    "the outcome of a record, in the one list of records of an object",
    "",
    lambda file: bool(_record_lists(_entries(file))),
    _single_list_contents,
    generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
{"model": "gpt-5.5", "date": "2026-01-01", "results": [
   {"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
   {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]}
""",
    ),
)


# --- a pair of id lists ---


def _id_list_keys(entries: Sequence[_Entry]) -> tuple[str, str] | None:
    """The keys of the ids that passed and of the ids that failed."""
    ids = [entry.key for entry in entries if entry.kind in ("ids", "empty")]
    names = {key: _SUFFIX.sub("", key.lower().replace("-", "_")) for key in ids}
    passed, failed = ([key for key in ids if names[key] in of] for of in (_PASSED, _FAILED))
    filled = any(entry.kind == "ids" for entry in entries if entry.key in (*passed, *failed))
    return (passed[0], failed[0]) if len(passed) == len(failed) == 1 and filled else None


def _id_list_contents(file: File) -> Contents:
    document = file.document()
    pair = _id_list_keys(_entries(file))
    if pair is None:
        raise _unsuitable_error(file, "no list of ids that passed")
    passed, failed = pair
    outcomes: dict[object, bool | None] = {}
    for key in (passed, failed):
        for task in document[key]:
            if task in outcomes:
                conflict = (
                    "twice" if outcomes[task] == (key == passed) else "as passed and as failed"
                )
                problem = f"the id {shortened(str(task))} is listed {conflict}"
                raise DataError(file.source.name, problem, "keep one", name="duplicate-attempts")
            outcomes[task] = key == passed
    messages = []
    for key, value in document.items():
        other_ids = value if key not in (passed, failed) and isinstance(value, list) else []
        fresh = [task for task in other_ids if type(task) in (str, int) and task not in outcomes]
        if fresh:
            outcomes |= dict.fromkeys(fresh)
            unjudged = UNJUDGED_IDS(
                ids=len(fresh), key=shortened(key), passed=passed, failed=failed
            )
            messages.append(unjudged)
    rows = [{"task": task, "outcome": outcome} for task, outcome in outcomes.items()]
    return Contents(lambda request: rows, facts=_constant_values(document), messages=messages)


ID_LISTS = Format(
    "id-lists",
    "an id in the list of those that passed; a second list has those that failed",
    "",
    lambda file: _id_list_keys(_entries(file)) is not None,
    _id_list_contents,
    generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"passed": ["a", "c"], "failed": ["b"]}
""",
    ),
)


# --- columns ---


def rows_from_columns(values: Mapping[str, Any]) -> list[Record]:
    """The rows of a document that stores columns; [] if its values are not columns with an outcome.

    A column is a list parallel to the tasks, or an object by row number, as DataFrame.to_json()
    writes it. The document may also contain names and rows, as with orient="split".

    >>> rows_from_columns({"columns": ["id", "correct"], "data": [["a", True]]})
    [{'id': 'a', 'correct': True}]
    >>> columns = {"ids": ["a", "b"], "correct": {"0": True, "1": False}, "date": "2026-01-01"}
    >>> rows_from_columns(columns)
    [{'id': 'a', 'correct': True}, {'id': 'b', 'correct': False}]
    """
    if values.keys() - {"index"} == _SPLIT:
        names, rows = values["columns"], values["data"]
        even = isinstance(names, list) and isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        )  # fmt: skip
        return [dict(zip(map(str, names), row, strict=True)) for row in rows] if even else []
    columns, numbered = dict[str, list[Any]](), True
    for name, value in values.items():
        if isinstance(value, list | dict):
            singular = name.removesuffix("s")
            usual = any(
                usual_columns(role, [singular]) for role in ("task", "outcome", "model", "attempt")
            )
            columns[singular if usual else name] = (
                [*value.values()] if isinstance(value, dict) else value
            )
        numbered &= isinstance(value, dict) and [*value][:1] == ["0"]
    of_tasks = bool(usual_columns("task", columns)) and not any(
        usual_columns("task", [name]) for name in values.keys() - columns.keys()
    )
    flat = all(isinstance(v, str | int | float | None) for of in columns.values() for v in of)
    plain = all([*v][:1] == ["0"] for v in values.values() if isinstance(v, dict))
    even = len({*map(len, columns.values())}) == 1
    if not (
        flat and plain and even and usual_columns("outcome", columns) and (of_tasks or numbered)
    ):
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _stores_columns(file: File) -> bool:
    entries = _entries(file)
    column_kinds = {entry.kind for entry in entries} & {"ids", "flags", "record"}
    split = {entry.key for entry in entries} - {"index"} == _SPLIT
    has_outcome = split or _has_outcome(frozenset(entry.key.removesuffix("s") for entry in entries))
    return bool(column_kinds) and has_outcome and bool(rows_from_columns(file.document()))


COLUMNS = Format(
    "columns",
    "the outcome of a row, in an object of columns that are lists, or objects by row, or in rows"
    " next to the names of columns",
    "",
    _stores_columns,
    lambda file: Contents(
        lambda request: rows_from_columns(file.document()), facts=_constant_values(file.document())
    ),
    generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
{"model": "gpt-5.5", "ids": ["a", "b", "c"], "correct": [true, false, true]}
""",
    ),
)


# --- one record per file ---


def _unsuitable_error(file: File, problem: str) -> DataError:
    return DataError(file.source.name, problem, name="unknown-format", settles=[_DETECT_FORMAT])


def _is_single_record(file: File) -> bool:
    if file.form != "object":
        return False
    if file.short_document is None:
        # If a short text is not a document, it is damaged or contains several documents.
        return len(file.text.encode()) >= 1 << 16
    # A file of lines with a single line stays a file of lines.
    ends = tuple(f"{end}{packed}" for end in (".jsonl", ".ndjson") for packed in PACKED)
    return not (file.source.name.endswith(ends) and "\n" not in file.text.strip())


RECORD = Format(
    "record",
    "the outcome of the one record of a file",
    "",
    _is_single_record,
    lambda file: Contents(lambda request: _list_records(file, (), {})),
    generic=True,
    example=Example(
        ("RUN/TASK.json",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true, "seconds": 12.5}
""",
        arguments="RUN",
    ),
)

FORMATS = (RECORDS, COLUMNS, TASK_OUTCOMES, TASK_RECORDS, RECORD_LIST, ID_LISTS, RECORD)


# --- what an option asks for ---


def records_inside(key: str, columns: Collection[str] = ()) -> Format:
    """A format for the records below a key, as `--records` requests: a list, a mapping by task, or
    one record.

    key : dotted; {name} in it matches every key, and the matched key becomes the column `name`.
        Each record of lines and arrays is searched.
    columns : the columns with a role.
    """

    def contents(file: File) -> Contents:
        if key == WHOLE_DOCUMENT:
            return RECORD.read_contents(file)
        # A dotted name is one key if the document has such a key.
        if file.form not in ("object", "array", "lines"):
            problem = f"the records at {key} need a JSON document"
            raise NoResultsError(
                file.source.name, problem, "this file is not JSON", name="unknown-format"
            )
        is_one_key = (
            key in file.keys and "." in key and any(entry.key == key for entry in _entries(file))
        )
        keys = (key,) if is_one_key else tuple(key.split("."))
        fixed = len(list(takewhile(lambda name: not _KEY_COLUMN.fullmatch(name), keys)))
        if file.form != "object":
            return Contents(lambda request: _records_of_each(file, keys, columns, request))
        if fixed < len(keys):
            # From the first name in braces on, the document is read member by member.
            return Contents(
                lambda request: _records_of_members(file, keys, fixed, columns, request)
            )
        # A list on the way is read record by record.
        lists = (n for n in range(len(keys), 0, -1) if any(True for _ in file.records(*keys[:n])))
        cut = next(lists, 0)
        if cut == len(keys) and are_flags([*islice(file.records(*keys), _LOOKED_AT)]):
            return Contents(lambda request: ({"outcome": flag} for flag in file.records(*keys)))
        if cut == len(keys):
            return _list_contents(file, keys, columns)
        if cut:
            facts = _constant_values(file.document(keys[0]))
            return Contents(
                lambda request: _records_of_each(file, keys, columns, request, cut), facts=facts
            )
        members = list(islice(file.members(*keys), _LOOKED_AT))
        entries = [_entry(name, value) for name, value in members]
        facts = _constant_values(file.document(keys[0])) if members else {}
        place = file.source.name
        requested = {column.split(".")[0] for column in columns} & {entry.key for entry in entries}
        tables = _is_records_by_task(entries) or (_are_tables(entries) and not requested)
        if tables or _is_outcome_by_task(entries):
            return Contents(
                lambda request: _records_by_task(file.members(*keys), place, {}), facts=facts
            )
        if rows := rows_from_columns(dict(file.members(*keys))):
            return Contents(lambda request: rows, facts=facts)
        if members:
            return Contents(lambda request: [dict(file.members(*keys))])
        present = [shortened(name) for name, _ in islice(file.members(), _LOOKED_AT)]
        remedy = did_you_mean_or_list(key, present) if present else ""
        raise NoResultsError(file.source.name, f"no records in {shortened(key)!r}", remedy)

    rule = (
        f"the records in {shortened(key)}; if they are in an object by key, the key is their task"
    )
    return Format("records-inside", rule, "", bool, contents, generic=True, example=Example((), ""))


def _are_tables(entries: Sequence[_Entry]) -> bool:
    """Whether every value is a record or a list of records, and there is at least one."""
    kinds = {entry.kind for entry in entries}
    return bool(kinds & {"record", "records"}) and kinds <= {"record", "records", "empty", "null"}


def _records_of_each(
    file: File, keys: Sequence[str], requested: Collection[str], request: RowRequest, cut: int = 0
) -> Iterator[Record]:
    """The records below these keys of each line, or of each record of an array, with the requested
    columns next to them.

    cut : how many keys lead to the array.
    """
    records = (
        file.lines(request) if file.form == "lines" else enumerate(file.records(*keys[:cut]), 1)
    )
    for number, record in records:
        place = f"{file.source.name}{':' if file.form == 'lines' else ': record '}{number}"
        # Texts that name the part have no role, but checks need them to see that parts differ.
        parts = {
            name: text
            for name, text in _require_record(place, record).items()
            if isinstance(text, str) and not any(name_strength(role, name) for role in ROLE_WORDS)
        }
        siblings = parts | _constant_values(record, requested)
        yield from _records_below(record, keys[cut:], {}, place, requested, siblings)


def _records_of_members(
    file: File, keys: Sequence[str], fixed: int, requested: Collection[str], request: RowRequest
) -> Iterator[Record]:
    """The records below the members of a document, with the key of each member as a column.

    fixed : how many keys lead to the members.  Members without the next key are skipped, unless all
    lack it.
    """
    name, further_keys = keys[fixed][1:-1], keys[fixed + 1 :]
    key = further_keys[0] if further_keys and not _KEY_COLUMN.fullmatch(further_keys[0]) else ""
    without, has_records = list[str](), False
    for member, value in file.members(*keys[:fixed]):
        if key and not (isinstance(value, list) or (isinstance(value, dict) and key in value)):
            without.append(member)
            continue
        has_records = True
        yield from _records_below(
            value, further_keys, {name: member}, f"{file.source.name}: {member}", requested
        )
    if without and not has_records:
        place, remedy = f"{file.source.name}: {without[0]}", "expected as in the others"
        raise BadRecordError(place, f"no {shortened(key)!r} in it", remedy)
    if without:
        message_fields = {"keys": len(without), "key": key, "names": first_few(without)}
        request.messages.append(KEYS_WITHOUT_RECORDS(**message_fields))


def _records_below(
    value: Any,
    keys: Sequence[str],
    columns: Mapping[str, object],
    place: str,
    requested: Collection[str] = (),
    siblings: Record = _NOTHING,
) -> Iterator[Record]:
    """The records below these keys of a value, with the columns from the keys on the way: those of
    a list, of a mapping by task if no key names one, or the record itself.

    requested : columns that may be next to a list on the way.  siblings : columns collected so far;
        the columns of a record take precedence.
    """
    if keys and isinstance(value, dict):
        key_column = _KEY_COLUMN.fullmatch(keys[0])
        if key_column is None and keys[0] not in value:
            remedy = did_you_mean_or_list(keys[0], value, "expected as in the others")
            raise BadRecordError(place, f"no {shortened(keys[0])!r} in it", remedy)
        members = value.items() if key_column else [(keys[0], value[keys[0]])]
        siblings = {**siblings, **{name: value[name] for name in {*requested} & {*value}
                               if isinstance(value[name], str | int | float)}}  # fmt: skip
        for key, inner in members:
            more = {key_column[1]: key} if key_column else {}
            yield from _records_below(
                inner, keys[1:], {**columns, **more}, place, requested, siblings
            )
    elif keys and isinstance(value, list):
        for number, entry in enumerate(value, 1):
            record = _require_record(f"{place}: record {number}", entry)
            further = {**siblings, **_constant_values(record, requested)}
            yield from _records_below(record, keys, columns, place, requested, further)
    elif isinstance(value, list) and not keys:
        if "task" in columns and _entry("", value).kind in ("flags", "empty"):
            yield {**siblings, **columns, **({"outcomes": value} if value else {})}
            return
        of_task = not columns.keys().isdisjoint(("task", "key"))
        for number, record in enumerate(value):
            record = _require_record(place, record)
            numbers_attempts = of_task and not usual_columns("attempt", record)
            yield {
                **siblings,
                **({"attempt": number} if numbers_attempts else {}),
                **record,
                **columns,
            }
    elif isinstance(value, dict) and not keys:
        entries = [_entry(name, inner) for name, inner in value.items()]
        if "task" not in columns and (_is_outcome_by_task(entries) or _are_tables(entries)):
            yield from _records_by_task(value.items(), place, columns, siblings)
        else:
            yield {**siblings, **value, **columns}
    elif "task" in columns and (value is None or not keys):
        yield {**siblings, **columns, **({} if value is None else {"outcome": value})}
    else:
        _require_record(place, value)


def are_flags(values: Sequence[Any]) -> bool:
    """Whether all values of a list are outcomes: true, false, 1, 0 or null.

    >>> are_flags([True, None]), are_flags([0, 1]), are_flags([0, 2]), are_flags([])
    (True, True, False, False)
    """
    return bool(values) and all(
        value is None or (isinstance(value, int) and value in (0, 1)) for value in values
    )


# Line numbers also count lines that are not records.
ALIGNED = Format(
    "aligned-lines", "records whose task is the number of their line", "", bool,
    lambda file: Contents(
        lambda request: ({LINE: number, **record} for number, record in file.lines(request))
    ),
    generic=True,
    example=Example((), ""),
)  # fmt: skip
