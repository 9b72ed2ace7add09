"""Formats for JSON documents that users write with their own scripts. passk finds the list of
records in each document.

The columns of the records have usual names or names from `--field`. passk distinguishes the layouts
of documents by the types of the values and by the names of the columns.
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
from passk_cli.errors import BadRecordError, DataError, FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Record,
    RowRequest,
    file_with_detected_structure,
)
from passk_cli.files.roles import (
    FAILED_LIST_WORDS,
    LINE_NUMBER_AS_TASK,
    NAME_WORDS_BY_ROLE,
    ROLES,
    SETTING_COLUMN_NAMES,
    SUMMARY_LIST_WORDS,
    column_name_words,
    normalized_column_name,
    role_name_strength,
    usual_columns,
)
from passk_cli.files.sources.source import READABLE_COMPRESSION_SUFFIXES
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import first_few, truncated_text

UNJUDGED_IDS_WARNING = DiagnosticType(
    "unjudged-ids", WARNING,
    "{ids:id} in {key} {ids:is|are} missing from both {passed} and {failed}, and {ids:has|have} no"
    " outcome",
    meaning="The file contains a list of tasks that passed and a list of tasks that failed. A third"
    " list contains ids that are missing from the lists of passes and failures.",
    why="An attempt has no outcome if the lists of passes and failures do not contain the id of the"
    " attempt. If attempts without an outcome failed, the pass rate without them is too high.",
    advice="`--missing fail` counts attempts without an outcome as failures, and `--missing drop`"
    " leaves them out.",
    example="warning[unjudged-ids]: 3 ids in submitted are missing from both resolved and"
    " unresolved, and have no outcome",
)  # fmt: skip

# passk streams arrays of more than STREAMED_ARRAY_BYTES bytes, because DuckDB needs three times the
# size of an array in memory.
STREAMED_ARRAY_BYTES = 1 << 27
# passk assumes that a packed file becomes _UNPACKED_RATIO times as large when it is unpacked.
_UNPACKED_RATIO = 10
# passk inspects _MAX_INSPECTED_MEMBERS members of a document to find the layout of the document.
_MAX_INSPECTED_MEMBERS = 50
# A number under a key in _AVERAGE_KEYS at the top of a JSON document is an average, and not the
# outcome of a task.
_AVERAGE_KEYS = ("acc", "accuracy", "score", "scores")
KEYS_WITHOUT_RECORDS_WARNING = DiagnosticType(
    "keys-without-records", WARNING,
    "passk skipped {keys:key} without {key}: {names}",
    meaning="The option --records contains a key in braces, which stands for several keys of the"
    " document. Some keys that match the braces contain no records, although other keys do.",
    why="A skipped key may be metadata, which contains no attempts. If a skipped key is a run with"
    " results in an unexpected place, attempts are missing.",
    advice="If attempts are missing, name the file or the key that contains the missing attempts.",
    example="warning[keys-without-records]: passk skipped 2 keys without results: summary and"
    " config",
)  # fmt: skip

_RECORD_LIST_KEYS = tuple(
    "results records samples tasks attempts trials simulations evaluations examples instances rows"
    " data outputs items problems questions runs".split()
)
_PASSED_LIST_KEYS = (
    "passed pass passes resolved solved correct success successes successful succeeded".split()
)

_FAILED_LIST_KEYS = (
    "failed fail fails failures unresolved unsolved incorrect unsuccessful wrong".split()
)
# The value of a key in _METADATA_KEYS is usually the metadata of a JSON document. In the metadata,
# the value of a key in _MODEL_KEYS is the name of the model.
_METADATA_KEYS = frozenset("metadata meta config configuration info run args settings".split())
_MODEL_KEYS = frozenset("model model_name model_id agent_model llm".split())
# With orient="split", DataFrame.to_json() of pandas writes the keys in _PANDAS_SPLIT_KEYS.
_PANDAS_SPLIT_KEYS = {"columns", "data"}
_ID_LIST_SUFFIX_PATTERN = re.compile(
    r"_(ids?|tasks?|task_ids|instances?|instance_ids|problems?|problem_ids)$"
)
WHOLE_DOCUMENT_KEY = "."
# A placeholder in --records, for example {task}, makes a column from the keys of a JSON object.
_KEY_PLACEHOLDER_PATTERN = re.compile(r"\{(\w+)\}")
_NO_COLUMNS: Record = {}
_DETECT_FORMAT_FIX = SuggestedFix({"--from": None}, "detects the format")


@dataclass(frozen=True)
class _DocumentEntry:
    """One top-level value of a document: its key, its kind, and the columns of its first record.

    kind : "null", "bool", "number", "text", "record", "records" (a list of records), "ids" (a list
        of texts or whole numbers), "flags" (a list of truth values), "empty" (a list) or "other".
    """

    key: str
    kind: str
    record_columns: frozenset[str] = frozenset()


@lru_cache(maxsize=1000)
def _has_outcome(columns: frozenset[str], but: tuple[str, ...] = ()) -> bool:
    names = [name for name in columns if name.lower() not in but]
    has_counts = usual_columns("n", names) and usual_columns("c", names)
    return bool(usual_columns("outcome", names) or has_counts)


def _has_task_column(columns: Iterable[str]) -> bool:
    return any(
        ROLES["task"].rank_by_name.get(normalized_column_name(name)) == 0 for name in columns
    )


@lru_cache(maxsize=1)
def _document_entries(file: File) -> list[_DocumentEntry]:
    if file.short_document is None and not file.start_text:
        file = file_with_detected_structure(file.source).with_longer_start()
    document = (
        file.start_value
        if file.structure == "object" and isinstance(file.start_value, dict)
        else {}
    )
    return [_document_entry(key, value) for key, value in document.items()]


def _document_entry(key: str, value: Any) -> _DocumentEntry:
    if isinstance(value, dict):
        return _DocumentEntry(key, "record", frozenset(value))
    if isinstance(value, list):
        kinds = (("records", (dict,)), ("ids", (str, int)), ("flags", (bool, type(None))))
        types = set(map(type, value))
        kind = next((kind for kind, allowed in kinds if types <= {*allowed}), "other")
        columns = frozenset(value[0] if value and kind == "records" else ())
        return _DocumentEntry(key, kind if value else "empty", columns)
    if isinstance(value, bool) or value is None:
        return _DocumentEntry(key, "null" if value is None else "bool")
    return _DocumentEntry(key, "text" if isinstance(value, str) else "number")


def _constant_values(
    values: Mapping[str, Any], requested: Collection[str] = (), record: Record | None = None
) -> dict[str, object]:
    """The constant values next to the list of records: the model, settings, and requested columns.

    If neither these values nor the first record contain a model, passk uses the model in the
    metadata.
    """
    names = {*ROLES["model"].names_by_likelihood[0], *SETTING_COLUMN_NAMES}
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
        if name.lower() in _METADATA_KEYS and isinstance(head, dict)
        for key, value in head.items()
        if normalized_column_name(key) in _MODEL_KEYS and isinstance(value, str)
    }
    return {"model": models.pop(), **facts} if len(models) == 1 else facts


def _require_record(place: str, value: Any) -> Record:
    if isinstance(value, dict):
        return value
    raise BadRecordError(
        place, f"{truncated_text(dumps(value))} is not a record", "expected an object"
    )


def _list_records_collecting_siblings(
    file: File, keys: Sequence[str], siblings: dict[str, Any]
) -> Iterator[Record]:
    for number, value in enumerate(file.records(*keys, adjacent_values=siblings), 1):
        if number == 1 and not isinstance(value, dict):
            problem, remedy = "the list contains no records", "expected a list of objects"
            raise FileWithoutResultsError(file.source.name, problem, remedy, name="unknown-format")
        yield _require_record(f"{file.source.name}: record {number}", value)


def _is_large_array(file: File) -> bool:
    times = 1 if file.source.compression == "none" else _UNPACKED_RATIO
    large = os.path.getsize(file.source.path) * times > STREAMED_ARRAY_BYTES
    return file.structure == "array" and file.short_document is None and large


LONG_ARRAY_OF_RECORDS_FORMAT = Format(
    "records",
    "the outcome of a record, in an array of records that is too long for memory",
    "",
    _is_large_array,
    lambda file: Contents(lambda request: _list_records_collecting_siblings(file, (), {})),
    is_generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
[{"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
 {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]
""",
        arguments="RESULTS.json --from records",
    ),
)


def _records_by_task(
    members: Iterable[tuple[str, Any]], place: str, columns: Record, siblings: Record = _NO_COLUMNS
) -> Iterator[Record]:
    """Yield the records in an object with tasks as keys. Each value of the object is an outcome, a
    record, or a list.

    columns : the columns made from the keys above the object.
    siblings : the columns that were collected outside the object (see `_records_below`).
    """
    for task, value in members:
        first = value[0] if isinstance(value, list) and value else value
        key = "key" if isinstance(first, dict) and _has_task_column(first) else "task"
        where = f"{place}: {truncated_text(task)}"
        yield from _records_below(value, (), {key: task, **columns}, where, (), siblings)


def _is_outcome_by_task(entries: Sequence[_DocumentEntry]) -> bool:
    kinds = {entry.kind for entry in entries}
    flags = ("bool" in kinds and kinds <= {"bool", "null"}) or kinds == {"flags"}
    return flags and not _has_outcome(frozenset(entry.key for entry in entries))


OBJECT_OF_TASK_OUTCOMES_FORMAT = Format(
    "task-outcomes",
    "the value true, in an object by task with truth values or lists of truth values",
    "",
    lambda file: _is_outcome_by_task(_document_entries(file)),
    lambda file: Contents(
        lambda request: _records_by_task(file.object_members(), file.source.name, {})
    ),
    is_generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"a": [true, false], "b": [true, true]}
""",
    ),
)


def _is_records_by_task(entries: Sequence[_DocumentEntry]) -> bool:
    kinds = {entry.kind for entry in entries} - {"null"}
    filled = [entry for entry in entries if entry.record_columns]
    if len(filled) < 2 and kinds != {"records"}:
        return False
    if kinds not in ({"record"}, {"records"}, {"records", "empty"}):
        return False
    # A list of models, or of records with a task column, does not contain attempts at a single
    # task.
    names_its_tasks = kinds != {"record"} and any(
        _has_task_column(entry.record_columns) or column_name_words(entry.key) & SUMMARY_LIST_WORDS
        for entry in filled
    )
    return not names_its_tasks and all(
        _has_outcome(entry.record_columns, ("acc", "accuracy")) for entry in filled
    )


OBJECT_OF_TASK_RECORDS_FORMAT = Format(
    "task-records",
    "the outcome of a record, in an object by task with records or lists of records",
    "",
    lambda file: _is_records_by_task(_document_entries(file)),
    lambda file: Contents(
        lambda request: _records_by_task(file.object_members(), file.source.name, {})
    ),
    is_generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"a": {"passed": true, "seconds": 12.5}, "b": {"passed": false, "seconds": 3.1}}
""",
    ),
)


def _record_lists(entries: Sequence[_DocumentEntry]) -> list[_DocumentEntry]:
    other_words = FAILED_LIST_WORDS | SUMMARY_LIST_WORDS
    lists = [
        e for e in entries if e.kind == "records" and not column_name_words(e.key) & other_words
    ]
    judged = [entry for entry in lists if _has_outcome(entry.record_columns)]
    top = _scalar_keys(entries)
    if _has_outcome(top):
        usual = () if _has_outcome(top, _AVERAGE_KEYS) else _RECORD_LIST_KEYS
        return [e for e in judged if _has_task_column(e.record_columns) or e.key.lower() in usual]
    return judged or (lists if len(lists) == 1 else [])


def _scalar_keys(entries: Sequence[_DocumentEntry]) -> frozenset[str]:
    return frozenset(
        entry.key
        for entry in entries
        if entry.kind in ("bool", "text")
        or (entry.kind == "number" and entry.key not in ("tests_passed", "tests_pass"))
    )


def _single_list_contents(file: File) -> Contents:
    entries = _document_entries(file)
    lists = _record_lists(entries)
    top = _scalar_keys(entries)
    if _has_outcome(top) and _has_outcome(top, _AVERAGE_KEYS) and _has_task_column(top):
        _raise_several_lists_error(file, [WHOLE_DOCUMENT_KEY, *(entry.key for entry in lists)])
    if len(lists) > 1:
        _raise_several_lists_error(file, [entry.key for entry in lists])
    if not lists:
        raise _wrong_format_error(file, "the document contains no list of records")
    return _list_contents(file, (lists[0].key,), later=True)


def _raise_several_lists_error(file: File, keys: Sequence[str]) -> None:
    places = " and ".join(
        truncated_text(key) if key != WHOLE_DOCUMENT_KEY else "the document itself" for key in keys
    )
    raise DataError(
        file.source.name,
        f"the document contains records in several places: {places}",
        name="ambiguous-records",
        settles=[SuggestedFix({"--records": key}, "reads these records") for key in keys],
    )


def _list_contents(
    file: File, keys: Sequence[str], requested: Collection[str] = (), *, later: bool = False
) -> Contents:
    """Read the records in the list that the given keys lead to.

    The constants of the file are complete only after all rows were read, because the file may
    contain further values after the list.

    requested : the requested columns, which may be outside the list.
    later : whether a second list of records in the file is an error.
    """
    siblings: dict[str, Any] = {}
    facts: dict[str, object] = {}

    def rows(request: RowRequest) -> Iterator[Record]:
        records = _list_records_collecting_siblings(file, keys, siblings)
        first = next(records, None)
        if first is not None:
            yield first
            yield from records
        if later:
            other_lists = _record_lists(
                [_document_entry(key, value) for key, value in siblings.items()]
            )
            if any(
                _has_outcome(entry.record_columns) and _has_task_column(entry.record_columns)
                for entry in other_lists
            ):
                _raise_several_lists_error(file, [keys[0], *(entry.key for entry in other_lists)])
        facts.update(_constant_values(siblings, requested, first))

    return Contents(rows, constants=facts)


OBJECT_WITH_RECORD_LIST_FORMAT = Format(
    "list-of-records",
    "the outcome of a record, in the one list of records of an object",
    "",
    lambda file: bool(_record_lists(_document_entries(file))),
    _single_list_contents,
    is_generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
{"model": "gpt-5.5", "date": "2026-01-01", "results": [
   {"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
   {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]}
""",
    ),
)


def _passed_and_failed_list_keys(entries: Sequence[_DocumentEntry]) -> tuple[str, str] | None:
    ids = [entry.key for entry in entries if entry.kind in ("ids", "empty")]
    names = {key: _ID_LIST_SUFFIX_PATTERN.sub("", key.lower().replace("-", "_")) for key in ids}
    passed, failed = (
        [key for key in ids if names[key] in of] for of in (_PASSED_LIST_KEYS, _FAILED_LIST_KEYS)
    )
    filled = any(entry.kind == "ids" for entry in entries if entry.key in (*passed, *failed))
    return (passed[0], failed[0]) if len(passed) == len(failed) == 1 and filled else None


def _id_list_contents(file: File) -> Contents:
    document = file.document()
    pair = _passed_and_failed_list_keys(_document_entries(file))
    if pair is None:
        raise _wrong_format_error(file, "the document contains no list of ids that passed")
    passed, failed = pair
    outcomes: dict[object, bool | None] = {}
    for key in (passed, failed):
        for task in document[key]:
            if task in outcomes:
                is_repeated = outcomes[task] == (key == passed)
                conflict = "twice" if is_repeated else "as passed and as failed"
                problem = f"the id {truncated_text(str(task))} is listed {conflict}"
                raise DataError(file.source.name, problem, "keep one", name="duplicate-attempts")
            outcomes[task] = key == passed
    messages = []
    for key, value in document.items():
        other_ids = value if key not in (passed, failed) and isinstance(value, list) else []
        fresh = [task for task in other_ids if type(task) in (str, int) and task not in outcomes]
        if fresh:
            outcomes |= dict.fromkeys(fresh)
            fields = {"ids": len(fresh), "key": truncated_text(key)}
            messages.append(UNJUDGED_IDS_WARNING(passed=passed, failed=failed, **fields))
    rows = [{"task": task, "outcome": outcome} for task, outcome in outcomes.items()]
    return Contents(lambda request: rows, constants=_constant_values(document), messages=messages)


PASSED_AND_FAILED_IDS_FORMAT = Format(
    "id-lists",
    "an id in the list of passed ids; a second list contains the failed ids",
    "",
    lambda file: _passed_and_failed_list_keys(_document_entries(file)) is not None,
    _id_list_contents,
    is_generic=True,
    example=Example(
        ("MODEL.json",),
        """\
{"passed": ["a", "c"], "failed": ["b"]}
""",
    ),
)


def rows_from_columns(values: Mapping[str, Any]) -> list[Record]:
    """The rows of a document that stores data by column. For any other document, the result is [].

    The value of a column is a list with one entry per task, or an object with row numbers as keys,
    which DataFrame.to_json() of pandas writes. With orient="split", pandas writes a document with
    column names and rows.

    >>> rows_from_columns({"columns": ["id", "correct"], "data": [["a", True]]})
    [{'id': 'a', 'correct': True}]
    >>> columns = {"ids": ["a", "b"], "correct": {"0": True, "1": False}, "date": "2026-01-01"}
    >>> rows_from_columns(columns)
    [{'id': 'a', 'correct': True}, {'id': 'b', 'correct': False}]
    """
    if values.keys() - {"index"} == _PANDAS_SPLIT_KEYS:
        names, rows = values["columns"], values["data"]
        even = isinstance(names, list) and isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        )  # fmt: skip
        return [dict(zip(map(str, names), row, strict=True)) for row in rows] if even else []
    columns, numbered = dict[str, list[Any]](), True
    for name, value in values.items():
        if isinstance(value, list | dict):
            singular = name.removesuffix("s")
            roles = ("task", "outcome", "model", "attempt")
            usual = any(usual_columns(role, [singular]) for role in roles)
            values_of_column = [*value.values()] if isinstance(value, dict) else value
            columns[singular if usual else name] = values_of_column
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
    entries = _document_entries(file)
    column_kinds = {entry.kind for entry in entries} & {"ids", "flags", "record"}
    split = {entry.key for entry in entries} - {"index"} == _PANDAS_SPLIT_KEYS
    has_outcome = split or _has_outcome(frozenset(entry.key.removesuffix("s") for entry in entries))
    return bool(column_kinds) and has_outcome and bool(rows_from_columns(file.document()))


COLUMN_LISTS_FORMAT = Format(
    "columns",
    "the outcome of a row, in an object of columns, or in rows next to the names of columns",
    "",
    _stores_columns,
    lambda file: Contents(
        lambda request: rows_from_columns(file.document()),
        constants=_constant_values(file.document()),
    ),
    is_generic=True,
    example=Example(
        ("RESULTS.json",),
        """\
{"model": "gpt-5.5", "ids": ["a", "b", "c"], "correct": [true, false, true]}
""",
    ),
)


def _wrong_format_error(file: File, problem: str) -> DataError:
    return DataError(file.source.name, problem, name="unknown-format", settles=[_DETECT_FORMAT_FIX])


def _is_single_record(file: File) -> bool:
    if file.structure != "object":
        return False
    if file.short_document is None:
        return len(file.start_text.encode()) >= 1 << 16
    # A file named .jsonl with a single line contains JSON lines and is not a JSON document.
    ends = tuple(
        f"{end}{packed}"
        for end in (".jsonl", ".ndjson")
        for packed in READABLE_COMPRESSION_SUFFIXES
    )
    return not (file.source.name.endswith(ends) and "\n" not in file.start_text.strip())


SINGLE_RECORD_FORMAT = Format(
    "record",
    "the outcome of the single record in the file",
    "",
    _is_single_record,
    lambda file: Contents(lambda request: _list_records_collecting_siblings(file, (), {})),
    is_generic=True,
    example=Example(
        ("RUN/TASK.json",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true, "seconds": 12.5}
""",
        arguments="RUN",
    ),
)

FORMATS = (
    LONG_ARRAY_OF_RECORDS_FORMAT,
    COLUMN_LISTS_FORMAT,
    OBJECT_OF_TASK_OUTCOMES_FORMAT,
    OBJECT_OF_TASK_RECORDS_FORMAT,
    OBJECT_WITH_RECORD_LIST_FORMAT,
    PASSED_AND_FAILED_IDS_FORMAT,
    SINGLE_RECORD_FORMAT,
)


def nested_records_format(key: str, columns: Collection[str] = ()) -> Format:
    """Build a format for `--records`. The key of `--records` leads to a list of records, to an
    object with tasks as keys, or to a single record.

    key : the dotted key that leads to the records. A part in braces such as {name} matches any key,
        and the column `name` contains the matched keys. In lines and arrays, passk searches each
        record for the key.
    columns : the columns with a role.
    """

    def contents(file: File) -> Contents:
        if key == WHOLE_DOCUMENT_KEY:
            return SINGLE_RECORD_FORMAT.read_contents(file)
        if file.structure not in ("object", "array", "lines"):
            problem = f"records below {key} need a JSON document, but the file is not JSON"
            raise FileWithoutResultsError(file.source.name, problem, name="unknown-format")
        is_one_key = (
            key in file.keys
            and "." in key
            and any(entry.key == key for entry in _document_entries(file))
        )
        keys = (key,) if is_one_key else tuple(key.split("."))
        fixed = len(
            list(takewhile(lambda name: not _KEY_PLACEHOLDER_PATTERN.fullmatch(name), keys))
        )
        if file.structure != "object":
            return Contents(
                lambda request: _records_below_each_element(file, keys, columns, request)
            )
        if fixed < len(keys):
            return Contents(
                lambda request: _records_below_each_member(file, keys, fixed, columns, request)
            )
        # If a path of keys contains a list, passk reads the list record by record.
        lists = (n for n in range(len(keys), 0, -1) if any(True for _ in file.records(*keys[:n])))
        cut = next(lists, 0)
        if cut == len(keys) and are_outcomes(
            [*islice(file.records(*keys), _MAX_INSPECTED_MEMBERS)]
        ):
            return Contents(lambda request: ({"outcome": flag} for flag in file.records(*keys)))
        if cut == len(keys):
            return _list_contents(file, keys, columns)
        if cut:
            facts = _constant_values(file.document(keys[0]))
            return Contents(
                lambda request: _records_below_each_element(file, keys, columns, request, cut),
                constants=facts,
            )
        members = list(islice(file.object_members(*keys), _MAX_INSPECTED_MEMBERS))
        entries = [_document_entry(name, value) for name, value in members]
        facts = _constant_values(file.document(keys[0])) if members else {}
        place = file.source.name
        requested = {column.split(".")[0] for column in columns} & {entry.key for entry in entries}
        tables = _is_records_by_task(entries) or (
            _are_all_records_or_lists(entries) and not requested
        )
        if tables or _is_outcome_by_task(entries):
            return Contents(
                lambda request: _records_by_task(file.object_members(*keys), place, {}),
                constants=facts,
            )
        if rows := rows_from_columns(dict(file.object_members(*keys))):
            return Contents(lambda request: rows, constants=facts)
        if members:
            return Contents(lambda request: [dict(file.object_members(*keys))])
        present = [
            truncated_text(name)
            for name, _ in islice(file.object_members(), _MAX_INSPECTED_MEMBERS)
        ]
        remedy = did_you_mean_or_list(key, present) if present else ""
        problem = f"the document contains no records below {truncated_text(key)!r}"
        raise FileWithoutResultsError(file.source.name, problem, remedy)

    rule = f"the outcome of a record below {truncated_text(key)}; in an object, the key is the task"
    return Format(
        "records-inside", rule, "", bool, contents, is_generic=True, example=Example((), "")
    )


def _are_all_records_or_lists(entries: Sequence[_DocumentEntry]) -> bool:
    kinds = {entry.kind for entry in entries}
    return bool(kinds & {"record", "records"}) and kinds <= {"record", "records", "empty", "null"}


def _records_below_each_element(
    file: File, keys: Sequence[str], requested: Collection[str], request: RowRequest, cut: int = 0
) -> Iterator[Record]:
    """Yield the records that the given keys lead to. The keys apply to each line of a file, or to
    each record of an array.

    requested : requested columns, which may be outside the list of records.
    cut : the number of keys that lead to the array.
    """
    records = (
        file.numbered_records(request)
        if file.structure == "lines"
        else enumerate(file.records(*keys[:cut]), 1)
    )
    for number, record in records:
        place = f"{file.source.name}{':' if file.structure == 'lines' else ': record '}{number}"
        parts = {
            name: text
            for name, text in _require_record(place, record).items()
            if isinstance(text, str)
            and not any(role_name_strength(role, name) for role in NAME_WORDS_BY_ROLE)
        }
        siblings = parts | _constant_values(record, requested)
        yield from _records_below(record, keys[cut:], {}, place, requested, siblings)


def _records_below_each_member(
    file: File, keys: Sequence[str], fixed: int, requested: Collection[str], request: RowRequest
) -> Iterator[Record]:
    """Yield the records below the members of a document. A column contains the key of each member.

    fixed : the number of keys that lead to the members.  A member without the next key is skipped.
        The function raises BadRecordError if all members lack the next key.
    """
    name, further_keys = keys[fixed][1:-1], keys[fixed + 1 :]
    key = (
        further_keys[0]
        if further_keys and not _KEY_PLACEHOLDER_PATTERN.fullmatch(further_keys[0])
        else ""
    )
    without, has_records = list[str](), False
    for member, value in file.object_members(*keys[:fixed]):
        if key and not (isinstance(value, list) or (isinstance(value, dict) and key in value)):
            without.append(member)
            continue
        has_records = True
        yield from _records_below(
            value, further_keys, {name: member}, f"{file.source.name}: {member}", requested
        )
    if without and not has_records:
        place = f"{file.source.name}: {without[0]}"
        problem = f"the key {truncated_text(key)!r} is missing"
        raise BadRecordError(place, problem, "give a key that the document contains")
    if without:
        message_fields = {"keys": len(without), "key": key, "names": first_few(without)}
        request.messages.append(KEYS_WITHOUT_RECORDS_WARNING(**message_fields))


def _records_below(
    value: Any,
    keys: Sequence[str],
    columns: Mapping[str, object],
    place: str,
    requested: Collection[str] = (),
    siblings: Record = _NO_COLUMNS,
) -> Iterator[Record]:
    """Yield the records that the given keys lead to in a value. Keys in braces become columns.

    The last key may lead to a list, to an object with tasks as keys, or to a single record.

    requested : requested columns, which may be outside the list of records.
    siblings : the columns that were collected outside the record. A column of the record takes
        precedence over a collected column with the same name.
    """
    if keys and isinstance(value, dict):
        key_column = _KEY_PLACEHOLDER_PATTERN.fullmatch(keys[0])
        if key_column is None and keys[0] not in value:
            remedy = did_you_mean_or_list(keys[0], value, "give a key that the document contains")
            raise BadRecordError(place, f"the key {truncated_text(keys[0])!r} is missing", remedy)
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
        if "task" in columns and _document_entry("", value).kind in ("flags", "empty"):
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
        entries = [_document_entry(name, inner) for name, inner in value.items()]
        if "task" not in columns and (
            _is_outcome_by_task(entries) or _are_all_records_or_lists(entries)
        ):
            yield from _records_by_task(value.items(), place, columns, siblings)
        else:
            yield {**siblings, **value, **columns}
    elif "task" in columns and (value is None or not keys):
        yield {**siblings, **columns, **({} if value is None else {"outcome": value})}
    else:
        _require_record(place, value)


def are_outcomes(values: Sequence[Any]) -> bool:
    """Whether a list contains only outcomes: true, false, 1, 0 or null. The result is False for [].

    >>> are_outcomes([True, None]), are_outcomes([0, 1]), are_outcomes([0, 2]), are_outcomes([])
    (True, True, False, False)
    """
    return bool(values) and all(
        value is None or (isinstance(value, int) and value in (0, 1)) for value in values
    )


# The task of a record is its line number in the file, so passk also counts lines that are not
# records.
LINE_NUMBER_AS_TASK_FORMAT = Format(
    "aligned-lines",
    "the outcome of a record, with its line number as the task",
    "",
    bool,
    lambda file: Contents(
        lambda request: (
            {LINE_NUMBER_AS_TASK: number, **record}
            for number, record in file.numbered_records(request)
        )
    ),
    is_generic=True,
    example=Example((), ""),
)
