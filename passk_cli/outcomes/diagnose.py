"""When a load fails or looks wrong: the exact place and what to do.  The slow path, only then."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, ParameterError
from passk_cli.limits import MOST_ATTEMPTS
from passk_cli.outcomes.columns import CONDITION
from passk_cli.outcomes.fields import find, judge
from passk_cli.outcomes.layout import (
    OBJECTS,
    delimited_rows,
    kind_of,
    object_bytes,
    of_objects,
    parsed,
    quote_name,
)
from passk_cli.outcomes.model import TOO_MANY
from passk_cli.outcomes.sources import Source, open_bytes

if TYPE_CHECKING:
    import duckdb

    from passk_cli.outcomes.tables import Batch, Request, Tally

Record = Mapping[str, Any]
SKIP = "skip such lines with --skip-bad"
# What DuckDB says first when an expression, not a file, is wrong.
_OF_EXPRESSIONS = tuple(
    f"{kind} Error"
    for kind in ("Binder", "Catalog", "Conversion", "Out of Range", "Permission", "Not implemented")
)
REPEAT_REMEDY = "a resumed run? decide with --duplicates first, last or keep"


def explain(error: duckdb.Error, batches: Sequence[Batch], request: Request) -> Exception:
    """The error DuckDB ended with, as one the user can act on."""
    message = str(error)
    if "maximum_object_size" in message:
        return DataError(batches[0].sources[0].name, "a record over 4 GB", "split the file")
    if request.where and message.startswith(_OF_EXPRESSIONS):
        return _wrong_condition(message, request)
    for batch in batches:
        for source in batch.sources:
            if "GZIP" in message and source.path in message:
                return DataError(
                    source.name, "the gzip stream is cut off or damaged", "copy the file again"
                )
    repeated_key = _repeated_key(message, batches)
    if repeated_key is not None:
        return repeated_key
    for batch in batches:
        for source in batch.sources:
            found = (
                misshapen(source, batch) or mixed_ends(source) or _untidy(source, message)
                if batch.layout.kind == "csv"
                else malformed(source, batch.layout.kind)
            ) or _not_a_list(source, batch)
            if found is not None:
                return found
    if request.where and message.startswith("Invalid Input Error"):
        return _wrong_condition(message, request)
    first = re.sub(r"\s+", " ", message)[:300]
    for batch in batches:
        if batch.layout.kind == "parquet":
            return damaged_parquet(batch.sources[0], message)
    return DataError(batches[0].sources[0].name, first, "passk describe FILE shows how it is read")


def _wrong_condition(message: str, request: Request) -> ParameterError:
    problem = message.split("\n")[0].rstrip("!.")
    return ParameterError(f"--where {request.where}: {problem}; {CONDITION}")


def _repeated_key(message: str, batches: Sequence[Batch]) -> DataError | None:
    """The record with one of the needed keys twice, which DuckDB names by its place."""
    told = re.search(
        r'in file "(.*)", in (line|record/value) (\d+): .* has duplicate key "(.*?)"',
        message,
        re.DOTALL,
    )
    for source in (source for batch in batches for source in batch.sources):
        if told is not None and source.path == told[1]:
            place = f":{told[3]}" if told[2] == "line" else f": record {told[3]}"
            problem = f'the key "{told[4]}" is there twice'
            return DataError(f"{source.name}{place}", problem, "keep one")
    return None


def damaged_parquet(source: Source, message: str) -> DataError:
    """What DuckDB says of a Parquet file, in short."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    return DataError(
        source.name, f"not readable as Parquet ({reason})", "damaged? copy the file again"
    )


def _untidy(source: Source, message: str) -> DataError | None:
    """What DuckDB says of a delimited text, in short."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line is None and "state machine" not in message:
        return None
    place = source.name + (f":{line[1]}" if line is not None else "")
    problem = "a quote without its partner" if line is not None else "mixed line ends, or quotes"
    return DataError(place, problem, "write it once more with a CSV library")


def malformed(source: Source, kind: str) -> DataError | None:
    """The first line (or place in a document) that is not a JSON record."""
    if kind == "jsonl":
        for number, line in _lines(source):
            problem = _line_problem(line)
            if problem is not None:
                shown = _shown(line.decode(errors="replace").strip())
                return DataError(f"{source.name}:{number}", f"{problem} in {shown}", SKIP)
        return None
    if kind != "json":
        return None
    with open_bytes(source) as stream:
        try:
            json.loads(stream.read())
        except UnicodeDecodeError as error:
            return DataError(
                source.name, f"byte {error.start + 1} is not UTF-8", "save it as UTF-8"
            )
        except RecursionError:
            return DataError(source.name, "nested too deeply", "is it an evaluation's result?")
        except json.JSONDecodeError as error:
            place = f"{source.name}:{error.lineno}"
            cut = error.pos >= len(error.doc.rstrip())
            remedy = "is the file cut off?" if cut or "Unterminated" in error.msg else "mend it"
            return DataError(place, f"not JSON ({error.msg})", remedy)
    return None


def misshapen(source: Source, batch: Batch) -> DataError | None:
    """The first row of a delimited text whose number of fields is not the header's."""
    width = len(batch.layout.columns)
    for line, row in _csv_rows(source, batch.layout.delimiter):
        if row and len(row) != width:
            return DataError(
                f"{source.name}:{line}", f"{len(row)} fields; the header has {width}", SKIP
            )
    return None


def require_even_rows(source: Source, batch: Batch) -> None:
    """DataError for the first row with an empty field too many, which DuckDB would pass over."""
    width = len(batch.layout.columns)
    for line, row in _csv_rows(source, batch.layout.delimiter):
        if len(row) > width and not any(row[width:]):
            problem = f"{len(row)} fields; the header has {width}"
            raise DataError(f"{source.name}:{line}", problem, "remove the delimiter at its end")


def mixed_ends(source: Source) -> DataError | None:
    """The first line that ends in another way than the first one."""
    with open_bytes(source) as stream:
        first = stream.readline().endswith(b"\r\n")
        for number, line in enumerate(stream, 2):
            if line.endswith(b"\n") and line.endswith(b"\r\n") != first:
                here, before = (r"\n", r"\r\n") if first else (r"\r\n", r"\n")
                return DataError(
                    f"{source.name}:{number}",
                    f"ends in {here}, the lines before in {before}",
                    "give all lines the same end, as dos2unix does",
                )
    return None


def bad_value(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first outcome stands that is neither a pass nor a fail (or impossible counts)."""
    where = int(tally.cells["bad"].argmax())
    task, example = _cell(tally, "task", where), _cell(tally, "example", where)
    for batch in batches:
        if batch.roles.shape == "counts":
            found = _impossible_counts(batch)
            if found is not None:
                return found

    def neither(record: Record, batch: Batch) -> bool:
        values = _outcomes(record, batch)
        return _as_text(_get(record, batch.roles.task)) == task and any(
            isinstance(judge(v, request.threshold), str) and _reads_as(v, example) for v in values
        )

    number = _is_number(example)
    shown = example if number else json.dumps(example, ensure_ascii=False)
    remedy = (
        "a score needs --threshold X (it passes when ≥ X); best@k, worst@k and mean need none"
        if number
        else "expected a number or true/false"
        if request.scores_only
        else "expected true/false, 0/1 or a score with --threshold"
    )
    plain = str(example) if example and example.isalnum() else ""
    place, batch, _ = _locate(batches, neither, plain)
    return DataError(place, f'"{batch.roles.outcome}" is {shown}', remedy)


def missing_value(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first null outcome stands, and why there is no default for it."""
    task = _cell(tally, "task", int((tally.cells["missing"] > 0).argmax()))
    total = int(tally.cells["missing"].sum())

    def empty(record: Record, batch: Batch) -> bool:
        values = _outcomes(record, batch) or [None]
        return _as_text(_get(record, batch.roles.task)) == task and any(
            judge(v, request.threshold) is None for v in values
        )

    place, batch, _ = _locate(batches, empty, "")
    column = batch.roles.outcome
    return DataError(
        place,
        f'"{column}" has no value (so in {total} attempt{"s" * (total != 1)})',
        "leave the attempt out with --missing drop"
        if request.scores_only
        else "boards disagree on what that means: count it as a failure with --missing fail,"
        " or leave the attempt out with --missing drop",
    )


def no_name(batches: Sequence[Batch], role: str) -> DataError:
    """Where the first record stands that has no task, or no model."""

    def nameless(record: Record, batch: Batch) -> bool:
        column = getattr(batch.roles, role)
        return column is not None and _as_text(_get(record, column)) is None

    place, batch, record = _locate(batches, nameless, "")
    shown = _shown(json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str))
    remedy = (
        f"a summary line? {SKIP}"
        if role == "task"
        else f'others have one: leave these out with --where "{batch.roles.model} IS NOT NULL",'
        " or name all of the file's records with label=path"
    )
    return DataError(place, f"no {role} in {shown}", remedy)


def repeated(batches: Sequence[Batch], request: Request, tally: Tally) -> DataError:
    """Where the first attempt that comes twice stands, both times, and in what the two differ."""
    from passk_cli.outcomes.tables import in_order

    assert tally.repeated is not None
    cells, extra, first = tally.repeated
    model, *groups, task, attempt = first
    counts = all(b.roles.shape == "counts" for b in batches)
    places: list[tuple[str, Record]] = []
    for batch in in_order(batches):
        for place, record in records(batch, task):
            same = _as_text(_get(record, batch.roles.task)) == task
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
    what = (
        f"task {task!r} of model {model!r}"
        if counts
        else (f"attempt {attempt} of model {model!r} at task {task!r}")
    )
    total = f"{cells} such, {extra} row{'s' * (extra != 1)} too many"
    place = places[-1][0] if places else batches[0].sources[0].name
    before = f", first at {places[0][0]}" if len(places) == 2 else ""
    remedy = REPEAT_REMEDY
    if len(places) == 2:
        one, two = places[0][1], places[1][1]
        settings = [c for c in one if _is_setting(c, one, two, batches)]
        if settings:
            remedy = (
                f"they differ in {', '.join(settings[:4])}: keep settings apart with --by,"
                f" or decide with --duplicates first, last or keep"
            )
    return DataError(place, f"{what} comes again{before} ({total})", remedy)


def records(batch: Batch, needle: str = "") -> Iterator[tuple[str, Record]]:
    """(place, record) of every record of a batch's files, in order.

    needle : a text that the wanted lines contain; other lines are not even parsed.
    """
    layout = batch.layout
    for source in batch.sources:
        if layout.kind == "jsonl":
            escaped = json.dumps(needle)[1:-1].encode()
            for number, line in _lines(source):
                if needle.encode() in line or escaped in line:
                    record = parsed(line)
                    if isinstance(record, dict):
                        yield f"{source.name}:{number}", record
        elif layout.kind == "csv":
            names = [name for name, _ in layout.columns]
            for start, row in _csv_rows(source, layout.delimiter):
                if len(row) == len(names):
                    yield f"{source.name}:{start}", dict(zip(names, row, strict=True))
        else:
            yield from _queried(batch, source)


def _locate(
    batches: Sequence[Batch], wanted: Callable[[Record, Batch], bool], needle: str
) -> tuple[str, Batch, Record]:
    """The place and the record of the first one wanted; the first file when none is found."""
    from passk_cli.outcomes.tables import in_order

    for batch in in_order(batches):
        for place, record in records(batch, needle):
            if wanted(record, batch):
                return place, batch, record
    return batches[0].sources[0].name, batches[0], {}


def _queried(batch: Batch, source: Source) -> Iterator[tuple[str, Record]]:
    """Records of what has no lines (documents, Parquet), numbered from 1."""
    from passk_cli.outcomes.connection import connect

    if batch.layout.kind == "frame":
        return
    con = connect([source.path])
    if batch.layout.kind == "json":
        con.execute(f"SELECT json FROM {OBJECTS}", of_objects(source, lines=False))
        for number, (text,) in enumerate(_fetched(con), 1):
            record = parsed(text)
            if isinstance(record, dict):
                yield f"{source.name}: record {number}", record
        return
    columns = [name for name, _ in batch.layout.columns]
    relation = batch.layout.relation([source.path], {}, object_bytes=object_bytes([source]))
    # As JSON, because Python needs further packages for some types, such as times with zones.
    values = ", ".join(f"to_json({quote_name(name)})" for name in columns)
    con.execute(f"SELECT {values} FROM {relation}")
    for number, row in enumerate(_fetched(con), 1):
        cells = (None if value is None else json.loads(value) for value in row)
        yield f"{source.name}: record {number}", dict(zip(columns, cells, strict=True))


def _fetched(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := con.fetchmany(1000):
        yield from rows


def _impossible_counts(batch: Batch) -> DataError | None:
    n_name, c_name = str(batch.roles.n), str(batch.roles.c)
    for place, record in records(batch):
        n, c = _get(record, n_name), _get(record, c_name)
        try:
            fine = (
                float(n) == int(float(n))
                and float(c) == int(float(c))
                and 0 <= float(c) <= float(n)
            )
            fine = fine and float(n) >= 1
        except (TypeError, ValueError, OverflowError):
            fine = False
        if fine and float(n) > MOST_ATTEMPTS:
            return DataError(place, f"{n_name} = {n}", TOO_MANY)
        if not fine:
            return DataError(
                place,
                f"{n_name} = {n} and {c_name} = {c} cannot be counts",
                "they need whole numbers, n ≥ 1 and 0 ≤ c ≤ n",
            )
    return None


def _not_a_list(source: Source, batch: Batch) -> DataError | None:
    if batch.roles.shape != "lists" or batch.layout.kind not in ("json", "jsonl"):
        return None
    column = str(batch.roles.outcome)
    for place, record in records(batch):
        if place.startswith(source.name) and kind_of(_get(record, column)) not in ("list", "null"):
            shown = _shown(json.dumps(_get(record, column)))
            return DataError(place, f'"{column}" is {shown}', "elsewhere it is a list of outcomes")
    return None


def _is_setting(column: str, one: Record, two: Record, batches: Sequence[Batch]) -> bool:
    """A short value that differs between two rows and could name a setting, not a measurement."""
    from passk_cli.outcomes.fields import SETTINGS

    roles = {c for b in batches for c in b.roles.used().values()}
    return column in SETTINGS and column not in roles and one.get(column) != two.get(column)


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    with open_bytes(source) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, line


def _line_problem(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except UnicodeDecodeError:
        return "not UTF-8"
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg})"
    except RecursionError:
        return "nested too deeply"
    return None if isinstance(record, dict) else "not a JSON record"


def _csv_rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line of its start, fields) of each row after the header."""
    with open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        yield from islice(delimited_rows(text, delimiter), 1, None)


def _outcomes(record: Record, batch: Batch) -> list[Any]:
    value = _get(record, str(batch.roles.outcome))
    return value if batch.roles.shape == "lists" and isinstance(value, list) else [value]


def _get(record: Record, column: str | None) -> Any:
    found = find(column or "", {name: set() for name in record})
    if found is None:
        return None
    name, keys = found
    value: Any = record[name]
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


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
    value = tally.cells[column][where]
    return None if value is None or not isinstance(value, str) else value


def _shown(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
