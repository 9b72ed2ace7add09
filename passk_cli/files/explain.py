"""Errors with a place: on failure the files are replayed in Python to the first bad record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import no_room
from passk_cli.errors import BadRecord, DataError, ParameterError
from passk_cli.files.condition import CONDITION
from passk_cli.files.database import FILE_COLUMN, PLACE_COLUMN, quote_name
from passk_cli.files.export import os_error
from passk_cli.files.layout import Batch, Layout, in_order
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    EACH,
    ENDED_WORDS,
    MISSING_WORDS,
    SETTINGS,
    addends,
    find,
    join,
    judge,
)
from passk_cli.files.source import (
    OBJECTS,
    Source,
    csv_rows,
    fetched,
    kind_of,
    lines,
    object_bytes,
    of_objects,
    open_bytes,
    parsed,
    text_kind,
)
from passk_cli.files.statement import Repeats, Tally
from passk_cli.limits import MORE_MEMORY, MOST_ATTEMPTS
from passk_cli.outcomes.counts import TOO_MANY
from passk_cli.text import plural

if TYPE_CHECKING:
    import duckdb

Record = Mapping[str, Any]
SKIP = "skip such lines with --skip-bad"
QUOTE = ("a quote without its partner", "write it once more with a CSV library")
REPEAT_REMEDY = (
    "for a copy or a resumed run, --duplicates first or last; for a further attempt, --duplicates"
    " keep"
)
_OF_TWO_FILES = "; for files of different models, label=path"
# Records in which a field is looked for.
_LOOKED_AT = 1000
_MARK = b"\xef\xbb\xbf"
# What DuckDB says first when an expression, not a file, is wrong.
_OF_EXPRESSIONS = re.compile(
    "(Binder|Catalog|Conversion|Out of Range|Permission|Not implemented) Error"
)
_KEY_TWICE = re.compile(
    r'in file "(.*)", in (line|record/value) (\d+): .* has duplicate key "(.*?)"', re.DOTALL
)
_COUNTS = "they need whole numbers, n ≥ 1 and 0 ≤ c ≤ n"


def explain(error: duckdb.Error, batches: Sequence[Batch], request: Request) -> Exception:
    """The error DuckDB ended with, as one the user can act on."""
    import duckdb

    message, sources = str(error), [source for batch in batches for source in batch.sources]
    first = sources[0].name
    if isinstance(error, duckdb.OutOfMemoryException):
        problem = "there is not enough memory to read it"
        return DataError(first, problem, MORE_MEMORY, name="out-of-memory")
    if isinstance(error, duckdb.IOException):
        full = no_room(os_error(error), "temporary files")
        if full is not None:
            return full
    if "maximum_object_size" in message:
        source = max(sources, key=lambda s: object_bytes([s]))
        packed = source.packing != "none"
        remedy = "unpack it yourself and give that file" if packed else "split it into several"
        problem = f"a record over {object_bytes([source]):,} bytes"
        return DataError(source.name, problem, remedy, name="too-large")
    if request.where and _OF_EXPRESSIONS.match(message):
        return _wrong_condition(message, request)
    key = _KEY_TWICE.search(message)
    for source in sources:
        if "GZIP" in message and source.path in message:
            problem = "the gzip stream is cut off or damaged"
            return DataError(source.name, problem, "copy the file again", name="damaged-file")
        if key is not None and source.path == key[1]:
            place = f"{source.name}{':' if key[2] == 'line' else ': record '}{key[3]}"
            return BadRecord(place, f'the key "{key[4]}" is there twice', "keep one")
    for batch in batches:
        for source in batch.sources:
            fault = first_fault(source, batch.layout)
            if batch.layout.kind == "csv":
                fault = fault or mixed_ends(source)
                if (line := re.search(r"CSV Error on Line: (\d+)", message)) is not None:
                    fault = fault or BadRecord(f"{source.name}:{line[1]}", *QUOTE)
                elif "state machine" in message:
                    fault = fault or BadRecord(source.name, "mixed line ends, or quotes", QUOTE[1])
            if fault := fault or _not_a_list(source, batch):
                return fault
    if request.where and message.startswith("Invalid Input Error"):
        return _wrong_condition(message, request)
    for batch in batches:
        if batch.layout.kind == "parquet":
            return damaged_parquet(batch.sources[0], message)
    reason, remedy = re.sub(r"\s+", " ", message)[:300], "passk describe FILE shows how it is read"
    return DataError(first, reason, remedy, name="unreadable-file")


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


def damaged_parquet(source: Source, message: str) -> DataError:
    """Error for a Parquet file that DuckDB cannot read."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    problem = f"not readable as Parquet ({reason})"
    return DataError(source.name, problem, "damaged? copy the file again", name="damaged-file")


def mixed_ends(source: Source) -> DataError | None:
    """The first line that ends in another way than the first one."""
    with open_bytes(source) as stream:
        first = stream.readline().endswith(b"\r\n")
        for number, line in enumerate(stream, 2):
            if line.endswith(b"\n") and line.endswith(b"\r\n") != first:
                here, before = (r"\n", r"\r\n") if first else (r"\r\n", r"\n")
                problem = f"ends in {here}, the lines before in {before}"
                remedy = "give all lines the same end, as dos2unix does"
                return BadRecord(f"{source.name}:{number}", problem, remedy)
    return None


def first_fault(source: Source, layout: Layout) -> DataError | None:
    """Error for the first record of a file that is none."""
    if layout.kind == "json":
        # The place in a document where it is no JSON.
        with open_bytes(source) as stream:
            try:
                json.loads(stream.read())
            except UnicodeDecodeError as error:
                problem = f"byte {error.start + 1} is not UTF-8"
                return DataError(source.name, problem, "save it as UTF-8", name="bad-encoding")
            except RecursionError:
                remedy = "is it an evaluation's result?"
                return BadRecord(source.name, "nested too deeply", remedy)
            except json.JSONDecodeError as error:
                place = f"{source.name}:{error.lineno}"
                cut = error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg
                remedy = "is the file cut off?" if cut else "correct it"
                return BadRecord(place, f"not JSON ({error.msg})", remedy)
        return None
    if layout.kind not in ("jsonl", "csv"):
        return None
    return next((r for _, r in _replayed(source, layout) if isinstance(r, DataError)), None)


def _replayed(
    source: Source, layout: Layout, needle: str = ""
) -> Iterator[tuple[str, Record | DataError]]:
    """(place, record) of lines of JSON and rows of a delimited text; an error for what is none.

    needle : as of `records`.
    """
    if layout.kind == "jsonl":
        plain, escaped = needle.encode(), json.dumps(needle)[1:-1].encode()
        for number, line in lines(source):
            if plain in line or escaped in line:
                place = f"{source.name}:{number}"
                yield place, _line(line, place, first=number == 1)
    else:
        names = [name for name, _ in layout.columns]
        for number, row in csv_rows(source, layout.delimiter):
            place = f"{source.name}:{number}"
            if len(row) == len(names):
                yield place, dict(zip(names, row, strict=True))
            elif row:
                problem = f"{len(row)} fields; the header has {len(names)}"
                yield place, BadRecord(place, problem, SKIP)


def _line(line: bytes, place: str, *, first: bool) -> Record | DataError:
    """The record of a line of JSON, or what is wrong with it."""
    if line.startswith(_MARK) and not first:
        problem = "a mark of byte order, as where files were joined"
        remedy = "give these files one by one, or take the mark out"
        return BadRecord(place, problem, remedy)
    problem = "not a JSON record"
    try:
        record = json.loads(line)
        if isinstance(record, dict):
            return record
    except UnicodeDecodeError:
        problem = "not UTF-8"
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
    except RecursionError:
        problem = "nested too deeply"
    text = shortened(line.decode(errors="replace").strip())
    return BadRecord(place, f"{problem} in {text}", SKIP)


def bad_value(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first outcome stands that is neither a pass nor a fail (or impossible counts)."""
    where = int(tally.cells["bad"].argmax())
    task, example = (tally.cells[column].at(where) for column in ("task", "example"))
    for batch in batches:
        if batch.roles.shape == "counts" and (fault := _impossible_counts(batch, str(task))):
            return fault

    number = text_kind(example or "") == "number"

    def neither(record: Record, batch: Batch) -> bool:
        return _task(record, batch) == task and any(
            isinstance(judge(value, request.bar), str)
            # Numbers may be spelled in several ways.
            and (float(example) == value if isinstance(value, float) and number
                 else _as_text(value) == example)
            for value in _outcomes(record, batch)
        )  # fmt: skip

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
    task = tally.cells["task"].at(int((tally.cells["missing"] > 0).argmax()))
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
    texts = [str(value) for value in _outcomes(record, batch) if value is not None]
    word = next((text for text in texts if text.strip().lower() in ENDED_WORDS), "")
    absent = f'"{column}" is {json.dumps(word)}, which is no outcome' if word else ""
    lacking = "no outcome" if own else absent or f'"{column}" has no value'
    problem = f"{lacking}{reason} ({plural(total, 'attempt')} in all)"
    return DataError(place, problem, remedy, name="missing-outcome")


def place_without(batches: Sequence[Batch], roles: Sequence[str], request: Request) -> str:
    """Where the first attempt stands that counts and lacks one of these amounts."""

    if request.price and "cost" in roles:
        roles = (*roles, "tokens_in", "tokens_out")

    def lacks(record: Record, batch: Batch) -> bool:
        if batch.roles.shape == "lists" and value_of(record, batch.roles.outcome) is None:
            return False
        if request.missing == "drop" and None in [
            judge(v, request.bar) for v in _outcomes(record, batch)
        ]:
            return False
        columns = ((role, batch.roles.column(role)) for role in roles)
        parts = (p for r, c in columns if c for p, _ in addends(r, c, batch.layout.kinds))
        values = [value_of(record, part) for part in parts]
        entries = [each for v in values for each in (v if isinstance(v, list) and v else [v])]
        return any(_as_text(v) is None or str(v).lower() in MISSING_WORDS for v in entries)

    return _locate(batches, lacks, "")[0]


def absent_field(batches: Sequence[Batch]) -> DataError | None:
    """Error for an outcome inside a column that no record has: it is not missing, it is not there.

    Among the first records, which is all that is looked at.
    """

    def there(value: Any, keys: Sequence[str]) -> bool:
        if isinstance(value, list):
            rest = [key for key in keys if key != EACH]
            return any(there(entry, rest) for entry in value)
        return not keys or (
            isinstance(value, dict) and keys[0] in value and there(value[keys[0]], keys[1:])
        )

    for batch in batches:
        path = find(batch.roles.outcome or "", batch.layout.kinds)
        if path is None or not path[1]:
            continue
        base, keys = path
        values = [record.get(base) for _, record in islice(records(batch), _LOOKED_AT)]
        if any(there(value, keys) for value in values):
            continue
        names: dict[str, None] = {}
        for value in values:
            for entry in value if isinstance(value, list) else [value]:
                names |= dict.fromkeys(entry if isinstance(entry, dict) else ())
        problem = f"--field outcome={batch.roles.outcome}: no record has it"
        remedy = f"{base} holds {', '.join(islice(names, 12)) or 'no fields'}"
        return DataError(batch.sources[0].name, problem, remedy, name="no-such-column")
    return None


def no_name(batches: Sequence[Batch], role: str) -> DataError:
    """Where the first record stands that has no task, or no model."""

    def nameless(record: Record, batch: Batch) -> bool:
        column = batch.roles.column(role)
        return column is not None and _as_text(value_of(record, column)) is None

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

    def same(record: Record, batch: Batch) -> bool:
        wanted = dict(zip(request.by, groups, strict=True))
        if batch.roles.shape == "attempts":
            wanted[str(batch.roles.attempt)] = attempt
        if batch.roles.model is not None and not any(s.label for s in batch.sources):
            wanted[batch.roles.model] = model
        return _task(record, batch) == task and all(
            _as_text(value_of(record, column)) == value for column, value in wanted.items()
        )

    places = [(place, record) for place, _, record in islice(_matching(batches, same, task), 2)]
    subject = f"attempt {attempt} of model {model!r} at task {task!r}"
    if counts:
        subject = f"task {task!r} of model {model!r}"
    place = places[-1][0] if places else batches[0].sources[0].name
    before = f", first seen at {places[0][0]}" if len(places) == 2 else ""
    remedy = REPEAT_REMEDY
    if len(places) == 2:
        if places[0][0].rpartition(":")[0] != place.rpartition(":")[0]:
            remedy += _OF_TWO_FILES
        first, second = places[0][1], places[1][1]
        names = (*SETTINGS, *(request.template.names if request.template else ()))
        roles = {c for b in batches for c in b.roles.columns().values()}
        settings = [c for c in first if c in names and c not in roles]
        settings = [c for c in settings if first.get(c) != second.get(c)]
        if settings:
            remedy = (
                f"they differ in {', '.join(settings[:4])}: keep settings apart with --by"
                f" {','.join(settings[:4])}, or decide with --duplicates first, last or keep"
            )
    problem = f"{subject} is duplicated{before} ({plural(repeats.rows, 'duplicate row')})"
    return DataError(place, problem, remedy, name="duplicate-attempts")


def records(batch: Batch, needle: str = "") -> Iterator[tuple[str, Record]]:
    """(place, record) of every record of a batch's files, in order.

    needle : a text that the wanted lines contain; other lines are not even parsed.
    """
    layout = batch.layout
    if layout.constants or layout.joined:
        # What a path says stands in no line, nor what several columns make.
        needle = ""
    if layout.spool:
        escaped = json.dumps(needle, ensure_ascii=False)[1:-1]
        with open(layout.spool, encoding="utf-8") as file:
            for record in (json.loads(line) for line in file if escaped in line):
                place = record.pop(PLACE_COLUMN)
                constants = layout.constants_of(str(record[FILE_COLUMN]))
                yield place, _completed(record | constants, layout)
        return
    replayed = layout.kind in ("jsonl", "csv")
    for source in batch.sources:
        constants = layout.constants_of(source.path)
        table = _replayed(source, layout, needle) if replayed else _queried(batch, source)
        for place, record in table:
            if not isinstance(record, DataError):
                yield place, _completed({**record, **constants}, layout)


def _completed(record: Record, layout: Layout) -> Record:
    """A record with the columns that others make."""
    made = {
        name: join([_as_text(value_of(record, part)) for part in of])
        for name, of in layout.joined.items()
    }
    return {**record, **made} if made else record


def _locate(
    batches: Sequence[Batch], matches: Callable[[Record, Batch], bool], needle: str
) -> tuple[str, Batch, Record]:
    """The place and the record of the first one wanted; the first file when none is found."""
    first = batches[0].sources[0].name, batches[0], dict[str, Any]()
    return next(_matching(batches, matches, needle), first)


def _matching(
    batches: Sequence[Batch], matches: Callable[[Record, Batch], bool], needle: str
) -> Iterator[tuple[str, Batch, Record]]:
    """The records wanted, in the order of the arguments, with their places and batches."""
    for batch in in_order(batches):
        for place, record in records(batch, needle):
            if matches(record, batch):
                yield place, batch, record


def _queried(batch: Batch, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records of what has no lines (documents, Parquet), numbered from 1."""
    from passk_cli.files.database import connect

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
        n, c = value_of(record, n_name), value_of(record, c_name)
        try:
            whole = float(n) == int(float(n)) and float(c) == int(float(c))
            valid = whole and float(n) >= 1 and 0 <= float(c) <= float(n)
        except (TypeError, ValueError, OverflowError):
            valid = False
        if valid and float(n) > MOST_ATTEMPTS:
            return DataError(place, f"{n_name} = {n}", TOO_MANY, name="bad-counts")
        if not valid:
            problem = f"{n_name} = {n} and {c_name} = {c} cannot be counts"
            return DataError(place, problem, _COUNTS, name="bad-counts")
    if batch.layout.kind == "frame":
        problem = f"{n_name} and {c_name} of task {task!r} cannot be counts"
        return DataError(batch.sources[0].name, problem, _COUNTS, name="bad-counts")
    return None


def _not_a_list(source: Source, batch: Batch) -> DataError | None:
    if batch.roles.shape != "lists" or batch.layout.kind not in ("json", "jsonl"):
        return None
    column = str(batch.roles.outcome)
    for place, record in records(batch):
        if place.startswith(source.name) and kind_of(value_of(record, column)) not in (
            "list",
            "null",
        ):
            text = shortened(json.dumps(value_of(record, column)))
            return BadRecord(place, f'"{column}" is {text}', "elsewhere it is a list of outcomes")
    return None


def _outcomes(record: Record, batch: Batch) -> list[Any]:
    value = value_of(record, str(batch.roles.outcome))
    return value if batch.roles.shape == "lists" and isinstance(value, list) else [value]


def value_of(record: Record, column: str | None) -> Any:
    """The value of a column, or below the keys of a dotted path; None where there is none."""
    path = find(column or "", {name: set() for name in record})
    return None if path is None else inside(record[path[0]], path[1])


def inside(value: Any, keys: Sequence[str]) -> Any:
    """Value below these keys; of a list in the way, that of each entry.

    >>> inside({"a": [{"b": 1}, {}]}, ["a", "b"]), inside({"a": 1}, ["a", "b"])
    ([1, None], None)
    """
    for place, key in enumerate(keys):
        if isinstance(value, list):
            rest = [name for name in keys[place:] if name != EACH]
            return [inside(entry, rest) for entry in value]
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _task(record: Record, batch: Batch) -> str | None:
    """The task of a record, as the statement names it."""
    task = _as_text(value_of(record, batch.roles.task))
    return f"{record.get('suite')}/{task}" if batch.suited and task is not None else task


def _as_text(value: Any) -> str | None:
    """A value as the statement sees it: text, or None."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, default=str)


def shortened(text: str) -> str:
    """A text as a message quotes it: at most 80 characters."""
    return text if len(text) <= 80 else text[:77] + "…"
