"""Find the lists of records in a file, and the columns of these records.

passk uses this module for `describe`, for drafts of maps, and for errors about files that passk
cannot read. The records may be at the top of a file, in a list, or in an object with names as keys.
If the records are in an object, the keys of the object become a column.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.records import naming_field_and_shared_names, read_records
from passk_cli.files.reading.schema_detection import detect_storage_layout
from passk_cli.files.request import SPECIFICATION_BY_TABLE_FORMAT, Request
from passk_cli.files.roles import (
    EACH_ENTRY_KEY,
    FAILED_LIST_WORDS,
    NAME_WORDS_BY_ROLE,
    ColumnRoles,
    column_name_words,
    outcome_verdict_sql,
    role_name_strength,
)
from passk_cli.files.sources.memory import register_table
from passk_cli.files.sources.source import Source, json_or_none
from passk_cli.files.vocabulary import ATTEMPT_NUMBER_VALUE_PATTERN
from passk_cli.text import truncated_text

if TYPE_CHECKING:
    import duckdb

# While passk searches for records, these constants limit the numbers of records, bytes, files,
# nesting levels, and fields per record.
MOST_RECORDS, _MOST_BYTES, _MOST_FILES, _MOST_LEVELS, _MOST_FIELDS = 1000, 1 << 22, 200, 4, 500
_LONGEST_WORD, _SHOWN_LETTERS = 40, 30

RecordContext = Mapping[str, Any]
ContextRecordPairs = Sequence[tuple[RecordContext, Any]]


@dataclass(frozen=True, eq=False)
class FieldValues:
    """A column in a list of records, with the values of the column.

    path : the name of the column for --field.
    values : one value per record, which is a list if the column is inside a list.
    verdict_and_number_by_text : maps each value, as a string, to a pair. The pair contains the
        verdict (1 for a pass, 0 for a failure, None if missing, −1 if unknown), and the value as a
        number or None.
    """

    path: str
    values: Sequence[Any]
    verdict_and_number_by_text: Mapping[str, tuple[int | None, float | None]]

    @cached_property
    def has_lists(self) -> bool:
        """Whether a record can have several values, because the column is inside a list."""
        return any(isinstance(value, list) for value in self.values)

    @cached_property
    def present_values(self) -> list[Any]:
        """All values that are not missing, including the entries of lists."""
        lists = (value if isinstance(value, list) else [value] for value in self.values)
        return [value for values in lists for value in values if value not in (None, "")]

    @cached_property
    def missing_count(self) -> int:
        """The number of missing values."""
        size = sum(len(value) if isinstance(value, list) else 1 for value in self.values)
        return size - len(self.present_values)

    @cached_property
    def text_counts(self) -> Counter[str]:
        """Map each value, as a string, to its number of occurrences."""
        return Counter(map(value_text, self.present_values))

    @cached_property
    def numbers(self) -> list[float]:
        """The values as numbers. The result is empty if any value is not a number, or is true or
        false."""
        numbers = [
            self.verdict_and_number_by_text.get(text, (-1, None))[1]
            for text in map(value_text, self.present_values)
        ]
        plain = bool not in {*map(type, self.present_values)}
        return [n for n in numbers if n is not None] if plain and None not in numbers else []

    @cached_property
    def is_integer(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(self.numbers) and all(float(n).is_integer() for n in self.numbers)

    @cached_property
    def is_text(self) -> bool:
        """Whether all values are strings, and some string is neither a number nor a truth value."""
        return {*map(type, self.present_values)} == {str} and not (
            self.numbers or self.verdicts <= {0, 1}
        )

    @cached_property
    def verdicts(self) -> set[int | None]:
        """The distinct verdicts of the values: 1 (pass), 0 (failure) or −1 (unknown)."""
        verdicts = {
            self.verdict_and_number_by_text.get(text, (-1, None))[0] for text in self.text_counts
        }
        return (verdicts - {None}) or {-1}

    @cached_property
    def verdicts_relative_to_first(self) -> tuple[bool | None, ...]:
        """For each record, whether the verdict equals the first verdict in the column. The result
        is empty if all records have the same verdict.

        A column and its negation therefore have the same result.
        """
        if self.has_lists or self.verdicts != {0, 1}:
            return ()
        verdicts = [
            self.verdict_and_number_by_text.get(value_text(value), (None, None))[0]
            for value in self.values
        ]
        first = next(verdict for verdict in verdicts if verdict is not None)
        return tuple(None if verdict is None else verdict == first for verdict in verdicts)

    @cached_property
    def codes(self) -> tuple[int, ...]:
        """One number per record. Records with equal values have equal numbers."""
        code_by_value: dict[str, int] = {}
        return tuple(
            code_by_value.setdefault(repr(value), len(code_by_value)) for value in self.values
        )

    @cached_property
    def frequency_text(self) -> str:
        """The most frequent values as text, for example "145 false, 43 true" or "0 to 5: 12 × 5,
        …"."""
        numbers = [*map(str, self.numbers)] and len(self.text_counts) > 2
        sign = " × " if self.numbers else " "
        texts = [
            f"{n:,}{sign}{truncated_text(v, _SHOWN_LETTERS)}"
            for v, n in self.text_counts.most_common(3)
        ]
        if more := len(self.text_counts) - len(texts):
            texts.append(f"{more:,} more")
        texts += [f"{self.missing_count:,} missing"] if self.missing_count else []
        reach = f"{min(self.numbers):g} to {max(self.numbers):g}: " if numbers else ""
        return reach + ", ".join(texts)

    @cached_property
    def value_and_row_counts_text(self) -> str:
        """The number of values and the number of rows per value, for example "30 values, 5 to 7
        rows each"."""
        low, high = min(self.text_counts.values()), max(self.text_counts.values())
        rows = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        missing = f", {self.missing_count:,} missing" if self.missing_count else ""
        return f"{len(self.text_counts):,} values, {rows} row{'s' * (high > 1)} each{missing}"


@dataclass(frozen=True, eq=False)
class RecordList:
    """A list of records in a file, with its columns.

    records_key : the value of --records, for example "results.{model}", or "" at the top of the
        file. A name in braces stands for any key.
    row_count : the number of records.
    columns_seen_without_option : names of the columns that passk recognises without an option.
    parent_columns : the columns that come from the objects around the list of records.
    coverage : a text that describes the part of the files or records that passk read, or "" if
        passk read all of them.
    """

    records_key: str
    row_count: int
    columns: Mapping[str, FieldValues]
    columns_seen_without_option: Sequence[str]
    parent_columns: frozenset[str] = frozenset()
    coverage: str = ""

    @property
    def object_key_columns(self) -> list[str]:
        """The names of the columns that contain the keys of objects."""
        return [key[1:-1] for key in self.records_key.split(".") if key.startswith("{")]


def value_text(value: Any) -> str:
    """Write a value as a string, with "true" and "false" as in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def find_record_lists(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request
) -> list[RecordList]:
    """Find the lists of records in files. passk reads only as many files as it needs.

    The result is empty for files of a harness, because the format defines the outcomes. Errors:
    DataError if a file cannot contain results.
    """
    pairs_by_keys: dict[str, list[Any]]
    if sources[0].frame is not None:
        pairs_by_keys = {"": [({}, row) for row in _frame_rows(con, sources[0].frame)]}
        coverage = ""
    else:
        pairs_by_keys, files = _record_lists_in_main_file_kind(con, sources, request)
        coverage = f"{files:,} of {len(sources):,} files" if 0 < files < len(sources) else ""
    verdict_of: dict[str, tuple[int | None, float | None]] = {}
    places = [
        _build_record_list(keys, pairs, verdict_of, coverage)
        for keys, pairs in pairs_by_keys.items()
        if pairs
    ]
    verdict_of.update(_texts_with_verdict_and_number(con, places))
    return [place for place in places if place.columns]


def _record_lists_in_main_file_kind(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request
) -> tuple[dict[str, list[Any]], int]:
    """Return the lists of records in the most frequent kind of file, and the number of files of
    this kind."""
    kinds: list[tuple[dict[str, list[Any]], list[Source]]] = []
    for source in sources[:_MOST_FILES]:
        try:
            inside = dict(_record_lists_in_file(con, source, request, several=len(sources) > 1))
        except DataError:
            # If the first file is readable, unreadable files in a folder are ignored.
            if not kinds:
                raise
            continue
        if not (kinds or any(record for pairs in inside.values() for _, record in pairs)):
            break
        for pairs_by_keys, files in kinds:
            if shared := [
                keys
                for keys in inside
                if _first_records_share_fields(pairs_by_keys.get(keys, ()), inside[keys])
            ]:
                files.append(source)
                for keys in shared:
                    pairs_by_keys[keys] += inside[keys]
                break
        else:
            kinds.append(({keys: [*pairs] for keys, pairs in inside.items()}, [source]))
        if any(
            pairs_by_keys and all(len(p) >= MOST_RECORDS for p in pairs_by_keys.values())
            for pairs_by_keys, _ in kinds
        ):
            break
    pairs_by_keys, files = max(kinds, key=lambda kind: len(kind[1]), default=({}, []))
    return pairs_by_keys, len(files)


def _first_records_share_fields(
    first_pairs: ContextRecordPairs, other_pairs: ContextRecordPairs
) -> bool:
    """Whether the first records of two files share at least half of the fields of one record."""
    fields, other_fields = (
        {*pairs[0][1]} if pairs else set() for pairs in (first_pairs, other_pairs)
    )
    return 2 * len(fields & other_fields) >= min(len(fields), len(other_fields)) > 0


def _texts_with_verdict_and_number(
    con: duckdb.DuckDBPyConnection, places: Iterable[RecordList]
) -> Iterator[tuple[str, tuple[int | None, float | None]]]:
    texts = {
        text
        for place in places
        for column in place.columns.values()
        for text in column.text_counts
        if len(text) <= _LONGEST_WORD
    }
    rows = con.execute(
        f"SELECT outcome, {outcome_verdict_sql('outcome', None)}, TRY_CAST(outcome AS DOUBLE)"
        " FROM (SELECT unnest($1::VARCHAR[]) AS outcome)",
        [[*texts]],
    ).fetchall()
    return (
        (text, (verdict, number if number == number else None)) for text, verdict, number in rows
    )


def _record_lists_in_file(
    con: duckdb.DuckDBPyConnection, source: Source, request: Request, *, several: bool
) -> Iterator[tuple[str, ContextRecordPairs]]:
    """The lists of records in a file. A whole file can be one record if there are several files, or
    if the file contains no list of records."""
    # Importing all formats is slow, so the import is inside the function that needs the formats.
    from passk_cli.files.formats import recognise_format
    from passk_cli.files.formats.format import file_with_detected_structure

    file = file_with_detected_structure(source, size=_MOST_BYTES)
    recognised = recognise_format(file)
    if recognised is not None and not recognised[1].is_generic:
        if file.structure == "other":
            recognised[1].read_contents(file)
        return
    if file.structure not in ("lines", "array", "object") or request.format in (
        *SPECIFICATION_BY_TABLE_FORMAT,
    ):
        yield "", [({}, row) for row in _records_of_table_file(con, source, request)]
        return
    if file.structure == "lines":
        document: Any = [*map(json_or_none, islice(file.start_text.split("\n"), MOST_RECORDS))]
    else:
        stream = (
            [*islice(_concatenated_documents(file.start_text), MOST_RECORDS)]
            if file.structure == "object"
            else []
        )
        document = stream if len(stream) > 1 else file.start_value
    places = [*_record_lists_in_values([({}, document)])]
    is_record_list = recognised is not None and recognised[1].name != "record"
    if isinstance(document, dict) and (not places or (several and not is_record_list)):
        yield "", [({}, document)]
    yield from ((".".join(keys), pairs) for keys, pairs in places)


def _concatenated_documents(text: str) -> Iterator[Any]:
    decoder, end = json.JSONDecoder(), 0
    while text[end:].strip():
        end += len(text[end:]) - len(text[end:].lstrip())
        try:
            document, end = decoder.raw_decode(text, end)
        except ValueError:
            return
        yield document


def _records_of_table_file(
    con: duckdb.DuckDBPyConnection, source: Source, request: Request
) -> list[Mapping[str, Any]]:
    layout = detect_storage_layout(con, source, request.format)
    batch = Batch(layout, ColumnRoles("attempts", ""), (source,))
    return [record for _, record in islice(read_records(batch), MOST_RECORDS)]


def _frame_rows(con: duckdb.DuckDBPyConnection, frame: Any) -> list[dict[str, Any]]:
    register_table(con, frame)
    rows = con.execute(f"SELECT to_json(frame) FROM frame LIMIT {MOST_RECORDS}").fetchall()
    return [json.loads(row) for (row,) in rows]


def _record_lists_in_values(
    pairs: ContextRecordPairs, keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], ContextRecordPairs]]:
    """The lists of records inside values, as pairs (keys, records). The key "{}" stands for any
    key.

    pairs : pairs (context, value). The context contains the plain fields of the objects around the
        value, and the keys of these objects as "{0}", "{1}" and so on.
    """
    if len(keys) > _MOST_LEVELS:
        return
    from passk_cli.files.formats.generic import are_outcomes, rows_from_columns

    lists = [(context, entry) for context, v in pairs if isinstance(v, list) for entry in v]
    if lists:
        entries = [(c, entry) for c, entry in lists if isinstance(entry, dict)][:MOST_RECORDS]
        if entries and not entries[0][1].keys() >= {"role", "content"}:
            yield keys, entries
            yield from _record_lists_in_records(entries, keys)
        elif keys[-1:] == ("{}",) and all(isinstance(entry, bool) for _, entry in lists):
            yield keys, [(context, {"outcomes": value}) for context, value in pairs]
        elif keys and are_outcomes([entry for _, entry in lists]) and len(lists) > 1:
            yield keys, [(context, {"outcome": entry}) for context, entry in lists[:MOST_RECORDS]]
        return
    objects = [(context, v) for context, v in pairs if isinstance(v, dict) and v][:MOST_RECORDS]
    if not objects:
        return
    if len(objects) == 1 and (table := rows_from_columns(objects[0][1])) and keys:
        yield keys, [(objects[0][0], row) for row in table[:MOST_RECORDS]]
        return
    inner = [v for _, value in objects for v in value.values()]
    names = dict.fromkeys(name for _, value in objects for name in value)
    dotted = any("." in name for name in names)
    if (len(names) > 1 and _are_similar_values(inner, names, keys)) or (
        dotted and _are_similar_values(inner * 2, names, keys)
    ):
        level = f"{{{keys.count('{}')}}}"
        members = [({**c, level: k}, v) for c, value in objects for k, v in value.items()]
        if not any(isinstance(v, dict | list) for v in inner):
            yield (
                (*keys, "{}"),
                [(context, {"outcome": v}) for context, v in members[:MOST_RECORDS]],
            )
            return
        if all(isinstance(v, dict) and not _has_names_as_keys(v, keys) for v in inner):
            yield (*keys, "{}"), members[:MOST_RECORDS]
        yield from _record_lists_in_values(members, (*keys, "{}"))
        return
    side_by_side = _keys_with_shared_inner_list_key(objects[0][1]) if len(objects) == 1 else []
    if side_by_side:
        level, (context, value) = f"{{{keys.count('{}')}}}", objects[0]
        members = [({**context, level: name}, value[name]) for name in side_by_side]
        yield from _record_lists_in_values(members, (*keys, "{}"))
    contexts = [({**context, **_scalar_fields(value)}, value) for context, value in objects]
    for key in names:
        if not (column_name_words(key) & FAILED_LIST_WORDS or "." in key or key in side_by_side):
            members = [(context, value[key]) for context, value in contexts if key in value]
            yield from _record_lists_in_values(members, (*keys, key))


def _record_lists_in_records(
    entries: ContextRecordPairs, keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ContextRecordPairs]]:
    for key in dict.fromkeys(key for _, record in entries for key in record if "." not in key):
        values = [record[key] for _, record in entries if record.get(key)]
        members = [({**c, **_scalar_fields(r)}, r[key]) for c, r in entries if r.get(key)]
        if not values or column_name_words(key) & FAILED_LIST_WORDS:
            continue
        if all(isinstance(value, list) for value in values):
            inside = [entry for value in values for entry in value if isinstance(entry, dict)]
            # If the list in each record has only one entry, the entries are not attempts.
            several = len(inside) > len(entries) or len(entries) == 1
            has_task_names = several and any(
                role_name_strength("task", name) for name in (inside or [{}])[0]
            )
            if (
                inside
                and (has_task_names or len(entries) == 1)
                and naming_field_and_shared_names(values) is None
            ):
                yield from _record_lists_in_values(members, (*keys, key))
        elif all(
            isinstance(value, dict) and _has_names_as_keys(value, (*keys, key)) for value in values
        ):
            inner = next(iter(values[0].values()))
            if not isinstance(inner, dict) or any(
                role_name_strength("outcome", name) for name in inner
            ):
                yield from _record_lists_in_values(members, (*keys, key))


def _keys_with_shared_inner_list_key(value: Mapping[str, Any]) -> list[str]:
    """The keys of a document that lead to lists of records with the same inner key. The result is
    empty if there are fewer than two such keys."""
    keys_of: dict[str, list[str]] = {}
    for name, inner in value.items():
        for key, entries in inner.items() if isinstance(inner, dict) else ():
            if isinstance(entries, list) and entries and isinstance(entries[0], dict):
                keys_of.setdefault(key, []).append(name)
    return max((names for names in keys_of.values() if len(names) > 1), key=len, default=[])


def _scalar_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if isinstance(value, str | int | float)}


def _has_names_as_keys(value: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return len(value) > 1 and _are_similar_values([*value.values()], value, keys)


def _are_similar_values(values: Sequence[Any], names: Iterable[str], keys: tuple[str, ...]) -> bool:
    """Whether the values of objects are similar, which means that the keys are names, for example
    of tasks, and not fields."""
    if len(values) < 2:
        return False
    if all(isinstance(value, dict) and value for value in values):
        shared = {*values[0]}.intersection(*values[1:])
        return bool(shared) or all(_has_names_as_keys(value, (*keys, "{}")) for value in values)
    if all(isinstance(value, list) and value for value in values):
        firsts = [value[0].keys() for value in values if isinstance(value[0], dict)]
        return all(isinstance(entry, dict | bool) for value in values for entry in value) and all(
            2 * len(fields & next_fields) >= max(len(fields), len(next_fields))
            for fields, next_fields in pairwise(firsts)
        )
    # Flags deep in a document are usually properties and not outcomes of tasks.
    judging = bool(keys) and role_name_strength("outcome", keys[-1]) > 0
    is_near_the_top = len(keys) < 2 or keys[-1] == "{}" or judging
    flags = all(v is None or (type(v) is bool) or (judging and v in (0, 1)) for v in values)
    return (
        is_near_the_top and flags and not any(role_name_strength("outcome", name) for name in names)
    )


def _build_record_list(
    keys: str,
    pairs: ContextRecordPairs,
    verdict_of: Mapping[str, tuple[int | None, float | None]],
    files: str,
) -> RecordList:
    """Build the list of records, and name the columns that contain the keys of objects."""
    coverage = f"the first {MOST_RECORDS:,} records" if len(pairs) >= MOST_RECORDS else ""
    coverage = " of ".join(filter(None, (coverage, files)))
    pairs = pairs[:MOST_RECORDS]
    flat = [dict(islice(_flattened_fields(record), _MOST_FIELDS)) for _, record in pairs]
    inside = dict.fromkeys(name for row in flat for name in row)
    contexts = [dict(context) for context, _ in pairs]
    names = _nesting_level_names(flat, contexts, keys.split("."))
    for context in contexts:
        for place, name in enumerate(names):
            context[name] = context.pop(f"{{{place}}}")
    rows = [
        {**context, **row, **{name: context[name] for name in names}}
        for context, row in zip(contexts, flat, strict=True)
    ]
    paths = dict.fromkeys([*inside, *(name for row in rows for name in row)])
    columns = [FieldValues(path, [row.get(path) for row in rows], verdict_of) for path in paths]
    way = iter(names)
    full_keys = ".".join(f"{{{next(way)}}}" if key == "{}" else key for key in keys.split("."))
    usual = dict.fromkeys([*(name for _, record in pairs for name in record), *names])
    above = frozenset(paths) - inside.keys() - {*names}
    filled = {column.path: column for column in columns if column.present_values}
    return RecordList(full_keys, len(pairs), filled, [*usual], above, coverage)


def _nesting_level_names(
    rows: Sequence[RecordContext], contexts: Sequence[RecordContext], keys: Sequence[str]
) -> list[str]:
    """Name the columns for the keys at each level of nesting, for example "task" or "model".

    Keys are models if neighbouring keys have at least half of their tasks in common. Keys are parts
    if each key has several different tasks. If keys are neither models nor parts, they are tasks.
    Without tasks in the records, keys are models if there are at most twice as many keys as rows
    per key.
    """
    places = [place for place, key in enumerate(keys) if key == "{}"]
    names = [""] * len(places)
    task = max(
        (name for row in rows[:1] for name in row),
        key=partial(role_name_strength, "task"),
        default="",
    )
    inner = [str(row.get(task)) for row in rows] if role_name_strength("task", task) else []
    # If all records contain the same question, the question is not the task.
    inner = inner if len({*inner}) > 1 else []
    for level in reversed(range(len(places))):
        paths = [tuple(str(c[f"{{{at}}}"]) for at in range(level + 1)) for c in contexts]
        level_keys = [path[-1] for path in paths]
        numbered = all(map(ATTEMPT_NUMBER_VALUE_PATTERN.fullmatch, level_keys))
        above = keys[places[level] - 1] if places[level] else ""
        if inner:
            name = _nesting_level_name(level_keys, inner)
            name = "attempt" if name == "model" and numbered else name
        elif numbered and level:
            name = "attempt"
        elif (
            "attempt" in names
            or column_name_words(above) & NAME_WORDS_BY_ROLE["task"]
            or _have_model_field(contexts)
        ):
            name = "task"
        else:
            different = len({*paths})
            many = different < len(paths) and different**2 <= 2 * len(paths)
            name = "model" if many else "task"
        is_used = name in names or (name == "task" == task)
        free = (name, "part", "setting", "group", f"level{level}")
        names[level] = next(n for n in free if n not in names) if is_used else name
        inner = inner or (level_keys if name == "task" else [])
    return names


def _nesting_level_name(keys: Sequence[str], tasks: Sequence[str]) -> str:
    tasks_of: dict[str, set[str]] = {}
    for key, task in zip(keys, tasks, strict=True):
        tasks_of.setdefault(key, set()).add(task)
    pairs = [*pairwise(tasks_of.values())]
    if not pairs:
        return "model"
    shared = sum(
        2 * len(tasks_of_key & tasks_of_next) >= min(len(tasks_of_key), len(tasks_of_next))
        for tasks_of_key, tasks_of_next in pairs
    )
    several = all(len(key_tasks) > 1 for key_tasks in tasks_of.values())
    if (
        pairs
        and 2 * shared >= len(pairs)
        and any(len(key_tasks) > 1 for key_tasks in tasks_of.values())
    ):
        return "model"
    return "part" if several else "task"


def _have_model_field(contexts: Sequence[RecordContext]) -> bool:
    return any(role_name_strength("model", name) for context in contexts[:1] for name in context)


def _flattened_fields(record: Any, prefix: str = "", level: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) for each field of a record and of nested records. A list stays a list.

    >>> dict(_flattened_fields({"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}], "e": {"f": [True]}}))
    {'a.b': 1, 'c.d': [2, 3], 'e.f[]': [True]}
    """
    for name, value in record.items() if level <= _MOST_LEVELS else ():
        path = f"{prefix}{name}"
        if (prefix and "." in name) or (
            isinstance(value, list) and column_name_words(name) & FAILED_LIST_WORDS
        ):
            continue
        if isinstance(value, dict):
            yield from _flattened_fields(value, f"{path}.", level + 1)
        elif not isinstance(value, list):
            yield path, value
        elif any(isinstance(entry, dict) for entry in value):
            entries = [
                dict(_flattened_fields(e, "", level + 1)) for e in value if isinstance(e, dict)
            ]
            for key in dict.fromkeys(key for entry in entries for key in entry):
                values = [entry.get(key) for entry in entries]
                if not any(isinstance(inner, list) for inner in values):
                    yield f"{path}{EACH_ENTRY_KEY * (level > 0)}.{key}", values
        elif not any(isinstance(entry, list) for entry in value):
            yield f"{path}{EACH_ENTRY_KEY * (level > 0)}", value
