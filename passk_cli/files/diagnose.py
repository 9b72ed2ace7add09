"""When a load fails or looks wrong: the exact place and what to do.  The slow path, only then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import no_room
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.columns import CONDITION
from passk_cli.files.export import os_error
from passk_cli.files.faults import (
    SKIP,
    damaged_parquet,
    malformed,
    misshapen,
    mixed_ends,
    shortened,
    untidy,
)
from passk_cli.files.records import (
    OBJECTS,
    csv_rows,
    fetched,
    kind_of,
    lines,
    object_bytes,
    of_objects,
    parsed,
)
from passk_cli.files.request import Request
from passk_cli.files.roles import ENDED_WORDS, SETTINGS, find, judge
from passk_cli.files.source import Source
from passk_cli.files.sql import FILE_COLUMN, PLACE_COLUMN, quote_name
from passk_cli.files.statement import Batch, Repeats, Tally, in_order
from passk_cli.files.texts import Texts
from passk_cli.limits import MORE_MEMORY, MOST_ATTEMPTS
from passk_cli.outcomes.counts import TOO_MANY
from passk_cli.text import plural

if TYPE_CHECKING:
    import duckdb

Record = Mapping[str, Any]
# What DuckDB says first when an expression, not a file, is wrong.
_OF_EXPRESSIONS = tuple(
    f"{kind} Error"
    for kind in ("Binder", "Catalog", "Conversion", "Out of Range", "Permission", "Not implemented")
)
_COUNTS = "they need whole numbers, n ≥ 1 and 0 ≤ c ≤ n"
REPEAT_REMEDY = (
    "for a copy or a resumed run, --duplicates first or last; for a further attempt, --duplicates"
    " keep"
)
_OF_TWO_FILES = "; for files of different models, label=path"


def explain(error: duckdb.Error, batches: Sequence[Batch], request: Request) -> Exception:
    """The error DuckDB ended with, as one the user can act on."""
    import duckdb

    message, first = str(error), batches[0].sources[0].name
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(
            first, "there is not enough memory to read it", MORE_MEMORY, name="out-of-memory"
        )
    if isinstance(error, duckdb.IOException):
        full = no_room(os_error(error), "temporary files")
        if full is not None:
            return full
    if "maximum_object_size" in message:
        source = max((s for b in batches for s in b.sources), key=lambda s: object_bytes([s]))
        packed = source.packing != "none"
        remedy = "unpack it yourself and give that file" if packed else "split it into several"
        return DataError(
            source.name, f"a record over {object_bytes([source]):,} bytes", remedy, name="too-large"
        )
    if request.where and message.startswith(_OF_EXPRESSIONS):
        return _wrong_condition(message, request)
    for batch in batches:
        for source in batch.sources:
            if "GZIP" in message and source.path in message:
                return DataError(
                    source.name,
                    "the gzip stream is cut off or damaged",
                    "copy the file again",
                    name="damaged-file",
                )
    repeated_key = _repeated_key(message, batches)
    if repeated_key is not None:
        return repeated_key
    for batch in batches:
        for source in batch.sources:
            fault = (
                misshapen(source, batch.layout) or mixed_ends(source) or untidy(source, message)
                if batch.layout.kind == "csv"
                else malformed(source, batch.layout.kind)
            ) or _not_a_list(source, batch)
            if fault is not None:
                return fault
    if request.where and message.startswith("Invalid Input Error"):
        return _wrong_condition(message, request)
    reason = re.sub(r"\s+", " ", message)[:300]
    for batch in batches:
        if batch.layout.kind == "parquet":
            return damaged_parquet(batch.sources[0], message)
    return DataError(
        first, reason, "passk describe FILE shows how it is read", name="unreadable-file"
    )


def _wrong_condition(message: str, request: Request) -> ParameterError:
    problem = message.split("\n")[0].rstrip("!.")
    remedy = CONDITION
    if "Malformed JSON" in message:
        problem = "a text is compared with a part of a nested column"
        remedy = "take the part as text with ->>, as meta->>'lang' = 'py'"
    if "Cannot compare values" in message or "Cannot mix values" in message:
        problem = "a text is compared with a number or a truth value"
        remedy = "put the value in quotes ('0'), or write TRY_CAST(COLUMN AS DOUBLE) for the column"
    return ParameterError(f"--where {request.where}: {problem}; {remedy}", name="bad-condition")


def _repeated_key(message: str, batches: Sequence[Batch]) -> DataError | None:
    """The record with one of the needed keys twice, which DuckDB names by its place."""
    match = re.search(
        r'in file "(.*)", in (line|record/value) (\d+): .* has duplicate key "(.*?)"',
        message,
        re.DOTALL,
    )
    for source in (source for batch in batches for source in batch.sources):
        if match is not None and source.path == match[1]:
            place = f":{match[3]}" if match[2] == "line" else f": record {match[3]}"
            problem = f'the key "{match[4]}" is there twice'
            return DataError(f"{source.name}{place}", problem, "keep one", name="bad-record")
    return None


def bad_value(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first outcome stands that is neither a pass nor a fail (or impossible counts)."""
    where = int(tally.cells["bad"].argmax())
    task, example = _cell(tally, "task", where), _cell(tally, "example", where)
    for batch in batches:
        if batch.roles.shape == "counts":
            fault = _impossible_counts(batch, str(task))
            if fault is not None:
                return fault

    def neither(record: Record, batch: Batch) -> bool:
        values = _outcomes(record, batch)
        return _task(record, batch) == task and any(
            isinstance(judge(v, request.bar), str) and _reads_as(v, example) for v in values
        )

    number = _is_number(example)
    value = example if number else json.dumps(example, ensure_ascii=False)
    remedy = (
        "a score needs --threshold X (it passes when ≥ X); best@k, worst@k and mean need none"
        if number
        else "expected a number or true/false"
        if request.unjudged
        else "expected true/false, 0/1 or a score with --threshold"
    )
    plain = str(example) if example and example.isalnum() else ""
    place, batch, _ = _locate(batches, neither, plain)
    return DataError(place, f'"{batch.roles.outcome}" is {value}', remedy, name="bad-outcome")


def missing_value(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first null outcome stands, and why there is no default for it."""
    task = _cell(tally, "task", int((tally.cells["missing"] > 0).argmax()))
    total = int(tally.cells["missing"].sum())

    def empty(record: Record, batch: Batch) -> bool:
        values = _outcomes(record, batch) or [None]
        return _task(record, batch) == task and any(judge(v, request.bar) is None for v in values)

    place, batch, record = _locate(batches, empty, "")
    column = batch.roles.outcome
    reason = f": {record['reason']}" if batch.layout.spool and record.get("reason") else ""
    remedy = "leave the attempt out with --missing drop"
    if not request.unjudged:
        both = ", or get the range of both with --missing bounds"
        both = both if request.ends and not request.attempts else ""
        remedy = (
            "benchmarks differ in what that means: count it as a failure with --missing fail,"
            f"{'' if both else ' or'} leave the attempt out with --missing drop{both}"
        )
    # A format's outcomes stand in no column of that name.
    own = bool(batch.layout.spool) and column == "outcome"
    word = _ended(_outcomes(record, batch))
    absent = f'"{column}" is {json.dumps(word)}, which is no outcome' if word else ""
    lacking = "no outcome" if own else absent or f'"{column}" has no value'
    problem = f"{lacking}{reason} ({plural(total, 'attempt')} in all)"
    return DataError(place, problem, remedy, name="missing-outcome")


def _ended(values: Sequence[Any]) -> str:
    """The first of the outcomes that is missing, as its word; "" where nothing stands there."""
    texts = [str(value) for value in values if value is not None]
    return next((text for text in texts if text.strip().lower() in ENDED_WORDS), "")


def no_name(batches: Sequence[Batch], role: str) -> DataError:
    """Where the first record stands that has no task, or no model."""

    def nameless(record: Record, batch: Batch) -> bool:
        column = batch.roles.column(role)
        return column is not None and _as_text(_get(record, column)) is None

    place, batch, record = _locate(batches, nameless, "")
    if not record and batch.layout.kind == "frame":
        column = batch.roles.column(role)
        remedy = f"drop such rows with .dropna(subset={[column]!r})"
        return DataError(place, f"{column!r} has no value in some row", remedy, name="missing-name")
    record = {name: value for name, value in record.items() if name != FILE_COLUMN}
    text = shortened(json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str))
    remedy = (
        f"a summary line? {SKIP}"
        if role == "task"
        else f'others have one: leave these out with --where "{batch.roles.model} IS NOT NULL",'
        " or name all of the file's records with label=path"
    )
    return DataError(place, f"no {role} in {text}", remedy, name="missing-name")


def repeated_attempt(batches: Sequence[Batch], request: Request, repeats: Repeats) -> DataError:
    """Where the first attempt that comes twice stands, both times, and in what the two differ."""
    model, *groups, task, attempt = repeats.first
    counts = all(b.roles.shape == "counts" for b in batches)
    places: list[tuple[str, Record]] = []
    for batch in in_order(batches):
        for place, record in records(batch, task):
            same = _task(record, batch) == task
            if batch.roles.shape == "attempts":
                same = same and _as_text(_get(record, batch.roles.attempt)) == attempt
            if batch.roles.model is not None and not any(s.label for s in batch.sources):
                same = same and _as_text(_get(record, batch.roles.model)) == model
            same = same and all(
                _as_text(_get(record, column)) == value
                for column, value in zip(request.by, groups, strict=True)
            )
            if same:
                places.append((place, record))
                if len(places) == 2:
                    break
        if len(places) == 2:
            break
    subject = (
        f"task {task!r} of model {model!r}"
        if counts
        else (f"attempt {attempt} of model {model!r} at task {task!r}")
    )
    place = places[-1][0] if places else batches[0].sources[0].name
    before = f", first seen at {places[0][0]}" if len(places) == 2 else ""
    remedy = REPEAT_REMEDY
    if len(places) == 2:
        if places[0][0].rpartition(":")[0] != place.rpartition(":")[0]:
            remedy += _OF_TWO_FILES
        first, second = places[0][1], places[1][1]
        names = (*SETTINGS, *(request.template.names if request.template else ()))
        settings = [c for c in first if c in names and _differs(c, first, second, batches)]
        if settings:
            remedy = (
                f"they differ in {', '.join(settings[:4])}: keep settings apart with --by"
                f" {','.join(settings[:4])}, or decide with --duplicates first, last or keep"
            )
    return DataError(
        place,
        f"{subject} is duplicated{before} ({plural(repeats.rows, 'duplicate row')})",
        remedy,
        name="duplicate-attempts",
    )


def records(batch: Batch, needle: str = "") -> Iterator[tuple[str, Record]]:
    """(place, record) of every record of a batch's files, in order.

    needle : a text that the wanted lines contain; other lines are not even parsed.
    """
    layout = batch.layout
    if layout.constants:
        # What a path says stands in no line.
        needle = ""
    if layout.spool:
        for place, record in _spooled(layout.spool, needle):
            yield place, record | layout.constants_of(str(record[FILE_COLUMN]))
        return
    for source in batch.sources:
        constants = layout.constants_of(source.path)
        for place, record in _of_table(batch, source, needle):
            yield place, record | constants if constants else record


def _of_table(batch: Batch, source: Source, needle: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records of one file that is a table as it is, and their places."""
    layout = batch.layout
    if layout.kind == "jsonl":
        escaped = json.dumps(needle)[1:-1].encode()
        for number, line in lines(source):
            if needle.encode() in line or escaped in line:
                record = parsed(line)
                if isinstance(record, dict):
                    yield f"{source.name}:{number}", record
    elif layout.kind == "csv":
        names = [name for name, _ in layout.columns]
        for start, row in csv_rows(source, layout.delimiter):
            if len(row) == len(names):
                yield f"{source.name}:{start}", dict(zip(names, row, strict=True))
    else:
        yield from _queried(batch, source)


def _spooled(path: str, needle: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The attempts that formats found, with their places in the files they are from."""
    escaped = json.dumps(needle, ensure_ascii=False)[1:-1]
    with open(path, encoding="utf-8") as file:
        for line in file:
            if escaped in line:
                record = json.loads(line)
                yield record.pop(PLACE_COLUMN), record


def _locate(
    batches: Sequence[Batch], matches: Callable[[Record, Batch], bool], needle: str
) -> tuple[str, Batch, Record]:
    """The place and the record of the first one wanted; the first file when none is found."""
    for batch in in_order(batches):
        for place, record in records(batch, needle):
            if matches(record, batch):
                return place, batch, record
    return batches[0].sources[0].name, batches[0], {}


def _queried(batch: Batch, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records of what has no lines (documents, Parquet), numbered from 1."""
    from passk_cli.files.connection import connect

    if batch.layout.kind == "frame":
        return
    con = connect([source.path])
    if batch.layout.kind == "json":
        con.execute(f"SELECT json FROM {OBJECTS}", of_objects(source, lines=False))
        for number, (text,) in enumerate(fetched(con), 1):
            record = parsed(text)
            if isinstance(record, dict):
                yield f"{source.name}: record {number}", record
        return
    columns = [name for name, _ in batch.layout.columns]
    relation = batch.layout.relation([source.path], {}, object_bytes=object_bytes([source]))
    # As JSON, because Python needs further packages for some types, such as times with zones.
    values = ", ".join(f"to_json({quote_name(name)})" for name in columns)
    con.execute(f"SELECT {values} FROM {relation}")
    for number, row in enumerate(fetched(con), 1):
        cells = (None if value is None else json.loads(value) for value in row)
        yield f"{source.name}: record {number}", dict(zip(columns, cells, strict=True))


def _impossible_counts(batch: Batch, task: str) -> DataError | None:
    n_name, c_name = str(batch.roles.n), str(batch.roles.c)
    for place, record in records(batch):
        n, c = _get(record, n_name), _get(record, c_name)
        try:
            valid = (
                float(n) == int(float(n))
                and float(c) == int(float(c))
                and 0 <= float(c) <= float(n)
            )
            valid = valid and float(n) >= 1
        except (TypeError, ValueError, OverflowError):
            valid = False
        if valid and float(n) > MOST_ATTEMPTS:
            return DataError(place, f"{n_name} = {n}", TOO_MANY, name="bad-counts")
        if not valid:
            return DataError(
                place,
                f"{n_name} = {n} and {c_name} = {c} cannot be counts",
                _COUNTS,
                name="bad-counts",
            )
    if batch.layout.kind == "frame":
        problem = f"{n_name} and {c_name} of task {task!r} cannot be counts"
        return DataError(batch.sources[0].name, problem, _COUNTS, name="bad-counts")
    return None


def _not_a_list(source: Source, batch: Batch) -> DataError | None:
    if batch.roles.shape != "lists" or batch.layout.kind not in ("json", "jsonl"):
        return None
    column = str(batch.roles.outcome)
    for place, record in records(batch):
        if place.startswith(source.name) and kind_of(_get(record, column)) not in ("list", "null"):
            text = shortened(json.dumps(_get(record, column)))
            return DataError(
                place,
                f'"{column}" is {text}',
                "elsewhere it is a list of outcomes",
                name="bad-record",
            )
    return None


def _differs(column: str, first: Record, second: Record, batches: Sequence[Batch]) -> bool:
    """Whether two rows differ in a column that plays no role."""
    roles = {c for b in batches for c in b.roles.columns().values()}
    return column not in roles and first.get(column) != second.get(column)


def _outcomes(record: Record, batch: Batch) -> list[Any]:
    value = _get(record, str(batch.roles.outcome))
    return value if batch.roles.shape == "lists" and isinstance(value, list) else [value]


def _get(record: Record, column: str | None) -> Any:
    path = find(column or "", {name: set() for name in record})
    if path is None:
        return None
    name, keys = path
    value: Any = record[name]
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _task(record: Record, batch: Batch) -> str | None:
    """The task of a record, as the statement names it."""
    task = _as_text(_get(record, batch.roles.task))
    return f"{record.get('suite')}/{task}" if batch.suited and task is not None else task


def _as_text(value: Any) -> str | None:
    """A value as the statement sees it: text, or None."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _reads_as(value: Any, text: str | None) -> bool:
    """Whether the statement sees a value as this text: numbers may be spelled in several ways."""
    if isinstance(value, float) and text is not None and _is_number(text):
        return float(text) == value
    return _as_text(value) == text


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _cell(tally: Tally, column: str, where: int) -> str | None:
    texts: Texts = tally.cells[column]
    return texts.at(where)
