"""How the rows of a file are laid out, found in its first bytes, and the SQL that reads them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, NoResults
from passk_cli.files.records import (
    OBJECT_BYTES,
    OBJECTS,
    PACKINGS,
    delimited_rows,
    kind_of_type,
    of_objects,
    parsed,
    text_kind,
)
from passk_cli.files.roles import candidates
from passk_cli.files.source import HEAD_BYTES, Source, first_bytes, refuse_binary
from passk_cli.files.sql import AS_IT_IS, FILE_COLUMN, quote_name, quote_text, struct_sql

if TYPE_CHECKING:
    import duckdb

DELIMITERS = {"csv": ",;|", "tsv": "\t"}
_FIRST = 100
# What DuckDB calls a column whose name another one has.
_NUMBERED = re.compile(r"_[0-9]+$")
_DOCUMENT = "a JSON document"


@dataclass(frozen=True)
class Layout:
    """How the rows of one or more equal files are laid out.

    kind : "jsonl", "json", "csv", "parquet", "frame" or the name of a harness.
    description : of what was recognised, for people.
    columns : column → kinds of values seen in the first records, and in some further down.
    delimiter : of a delimited text.  packing : "none", "gzip", "zstd".
    complete : whether these are all columns; records of JSON can bring others further down.
    spool : the file of rows that a format's files were written to, whose lines have at most
        `longest` bytes.
    constants : column → path → value, of columns that are constant in each file and not in it.
    """

    kind: str
    description: str
    columns: tuple[tuple[str, frozenset[str]], ...]
    delimiter: str = ""
    packing: str = "none"
    complete: bool = True
    spool: str = ""
    longest: int = 0
    constants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def summary(self) -> list[Any]:
        """The layout as JSON has it; `of` reads it back."""
        columns = [[name, sorted(kinds)] for name, kinds in self.columns]
        return [
            self.kind, self.description, columns, self.delimiter, self.packing, self.complete
        ]  # fmt: skip

    @classmethod
    def of(cls, summary: Sequence[Any]) -> Layout:
        """The layout that this is the summary of.

        >>> layout = Layout("csv", "CSV", (("task", frozenset({"text"})),), ",")
        >>> Layout.of(layout.summary) == layout
        True
        """
        kind, description, columns, *rest = summary
        pairs = tuple((name, frozenset(kinds)) for name, kinds in columns)
        return cls(kind, description, pairs, *rest)

    @cached_property
    def kinds(self) -> Mapping[str, set[str]]:
        """Column → kinds of values seen."""
        inside = {name: set(kinds) for name, kinds in self.columns}
        return inside | {
            name: {text_kind(value) for value in values.values()}
            for name, values in self.constants.items()
        }

    def constants_of(self, path: str) -> dict[str, str]:
        """The constant columns of one file."""
        return {name: values[path] for name, values in self.constants.items() if path in values}

    @property
    def typed(self) -> bool:
        """Whether values carry their own types (Parquet, frames), so that reading casts them."""
        return self.kind in ("parquet", "frame")

    def relation(self, paths: Sequence[str], types: Mapping[str, str], **options: Any) -> str:
        """SQL for a table with the types columns (name → SQL type) and FILE_COLUMN.

        skip_bad : leave out what is not a record.  object_bytes : the longest record to expect.
        careful : read a delimited text from end to end, lines of up to 256 MB; else in pieces, all
        of which must fit.
        """
        if not self.constants:
            return self._rows(paths, types, **options)
        inside = {name: kind for name, kind in types.items() if name not in self.constants}
        rows = self._rows(paths, inside, **options)
        shadowed = [quote_name(name) for name, _ in self.columns if name in self.constants]
        apart = f" EXCLUDE ({', '.join(shadowed)})" if shadowed and self._all_columns else ""
        names = ", ".join(map(quote_name, self.constants))
        every = {path: None for values in self.constants.values() for path in values}
        values = ", ".join(
            "(" + ", ".join([quote_text(path), *map(_text_sql, self._values(path))]) + ")"
            for path in every
        )
        file = quote_name(FILE_COLUMN)
        return (
            f"(SELECT inside.*{apart}, {', '.join('c.' + quote_name(n) for n in self.constants)}"
            f" FROM {rows} AS inside LEFT JOIN (VALUES {values}) AS c({file}, {names})"
            f" ON c.{file} = inside.{file})"
        )

    @property
    def _all_columns(self) -> bool:
        """Whether its rows come with all columns, types or not."""
        return self.kind in ("csv", "parquet")

    def _values(self, path: str) -> list[str | None]:
        return [values.get(path) for values in self.constants.values()]

    def _rows(self, paths: Sequence[str], types: Mapping[str, str], **options: Any) -> str:
        """SQL for the columns that are in the files."""
        files = "[" + ", ".join(quote_text(p) for p in paths) + "]"
        if self.kind == "frame":
            return "frame"
        if self.spool:
            every = struct_sql({FILE_COLUMN: "VARCHAR", **types})
            return (
                f"read_json({quote_text(self.spool)}, columns={every}, format='newline_delimited',"
                f" maximum_object_size={max(OBJECT_BYTES, self.longest + 1)}{AS_IT_IS})"
            )
        name = f", filename={quote_text(FILE_COLUMN)}"
        if self.kind == "parquet":
            return f"read_parquet({files}{name}{AS_IT_IS})"
        packing = f"{name}, compression={quote_text(PACKINGS[self.packing])}{AS_IT_IS}"
        if self.kind == "csv":
            every = struct_sql({name: "VARCHAR" for name, _ in self.columns})
            rejects = ", store_rejects=true" if options.get("skip_bad") else ""
            # The longest line sets the size of a piece; of pieces of 256 MB there is mostly one.
            longest = f", max_line_size={1 << 28}" if options.get("careful", True) else ""
            return (
                f"read_csv({files}, columns={every}, delim={quote_text(self.delimiter)},"
                " quote='\"', escape='\"', header=true, auto_detect=false"
                f"{longest}{rejects}{packing})"
            )
        size = f", maximum_object_size={options.get('object_bytes', OBJECT_BYTES)}"
        shape = "newline_delimited" if self.kind == "jsonl" else "auto"
        lenient = ", ignore_errors=true" if options.get("skip_bad") and self.kind == "jsonl" else ""
        columns = struct_sql(types or {self.columns[0][0]: "VARCHAR"})
        return f"read_json({files}, columns={columns}, format='{shape}'{size}{lenient}{packing})"


def _text_sql(value: str | None) -> str:
    return "NULL::VARCHAR" if value is None else quote_text(value)


def sniff(
    con: duckdb.DuckDBPyConnection, source: Source, forced: str | None, *, whole: bool = False
) -> Layout:
    """The layout of a file, from its first bytes; `forced` names it instead.

    whole : look for columns from end to end, which takes about as long as reading.

    Errors: DataError when the file is empty, binary or nothing known.
    """
    start = first_bytes(source)
    if start[:4] == b"PAR1":
        return _parquet(con, source)
    if not start.strip():
        raise NoResults(source.name, "the file is empty", "expected JSONL, CSV or Parquet")
    if forced == "parquet":
        raise DataError(
            source.name, "not a Parquet file", "leave --from out", name="unknown-format"
        )
    text = _decode(source, start)
    if not text.strip():
        # Python's strip takes the separators 0x1c to 0x1f for white space as well.
        raise NoResults(
            source.name,
            "control characters alone",
            "expected JSONL, CSV or Parquet",
            name="unknown-format",
        )
    if forced in DELIMITERS or (forced is None and text.lstrip()[0] not in "{["):
        return _delimited(source, text, forced)
    first = text.lstrip().split("\n", 1)[0].strip()
    if forced != "json" and first[0] == "{" and (forced == "jsonl" or _is_line(text, first)):
        short = len(start) < HEAD_BYTES and not source.partial
        return _lines(con, source, text, whole or short)
    if source.shared is not None:
        raise unshared(source, "one JSON document")
    return _short_document(source, text, len(start)) or _document(con, source)


def unshared(source: Source, what: str) -> NoResults:
    """Error for a file at an address that is no table."""
    remedy = "write its attempts as JSON lines, or copy it here and leave --engine spark out"
    return NoResults(
        source.name,
        f"{what}; a cluster reads JSON lines, CSV and Parquet",
        remedy,
        name="not-on-spark",
    )


def _short_document(source: Source, text: str, size: int) -> Layout | None:
    """The layout of a document that is read already, as of thousands of short ones; else None."""
    whole = parsed(text) if size < HEAD_BYTES else None
    records = whole if isinstance(whole, list) else [whole]
    if not records or not all(isinstance(record, dict) for record in records):
        return None
    columns = _merge(records)
    return Layout("json", _DOCUMENT, columns, packing=source.packing) if columns else None


def _decode(source: Source, start: bytes) -> str:
    refuse_binary(source.name, start)
    try:
        return start.decode()
    except UnicodeDecodeError as error:
        if error.start > len(start) - 4:
            return start[: error.start].decode()
        raise DataError(
            source.name,
            f"byte {error.start + 1} is not UTF-8",
            "save the file as UTF-8",
            name="bad-encoding",
        ) from None


def _is_line(text: str, first: str) -> bool:
    """Whether lines are records by themselves (else: a document over several lines)."""
    if len(first) == 1:
        return False
    # The first of them may be damaged.
    return "\n" not in text.strip() or any(map(_keys, text.split("\n", 20)[:20]))


def _keys(line: str) -> set[str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    return set(record) if isinstance(record, dict) else set()


def _merge(records: Iterable[object]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Column → kinds of values; a summary among records, which names no task, has none of them."""
    every = [record for record in records if isinstance(record, dict)]
    # Thousands of records have few sets of keys between them.
    keys = dict.fromkeys(map(tuple, every))
    naming = {names for names in keys if candidates("task", {key: set() for key in names})}
    types: dict[str, set[type]] = {}
    for record in every:
        if not naming or tuple(record) in naming:
            for name, value in record.items():
                if (of := types.get(name)) is None:
                    of = types[name] = set()
                of.add(type(value))
    return tuple((name, frozenset(map(kind_of_type, of))) for name, of in types.items())


def _lines(con: duckdb.DuckDBPyConnection, source: Source, text: str, whole: bool) -> Layout:
    # Not splitlines: model output holds separators such as U+2028, which end no line of JSON.
    lines: Iterable[str | bytes] = text.split("\n")
    if whole and len(text) >= HEAD_BYTES:
        lines = chain(lines, _differing(con, source, lines=True))
    columns = _merge(parsed(line) for line in lines)
    if not columns:
        from passk_cli.files.explain import first_fault

        fault = first_fault(source, Layout("jsonl", "", ()))
        raise fault or NoResults(source.name, "no records", "is it JSONL?")
    return Layout(
        "jsonl", "one JSON record per line", columns, packing=source.packing, complete=whole
    )


def _differing(con: duckdb.DuckDBPyConnection, source: Source, *, lines: bool) -> list[str]:
    """One record of each set of keys there is in a file."""
    rows = con.execute(
        f"SELECT any_value(json) FROM {OBJECTS}"
        " WHERE json_type(json) = 'OBJECT' GROUP BY json_keys(json)",
        of_objects(source, lines=lines),
    )
    return [text for (text,) in rows.fetchall()]


def _document(con: duckdb.DuckDBPyConnection, source: Source) -> Layout:
    """One JSON document: an array of records, or what a harness writes."""
    import duckdb

    layout = Layout("json", _DOCUMENT, (), packing=source.packing)
    try:
        rows = con.execute(
            f"SELECT json FROM {OBJECTS} LIMIT {_FIRST}", of_objects(source, lines=False)
        ).fetchall()
        records = [json.loads(text) for (text,) in rows]
        if len(records) == _FIRST:
            records += map(json.loads, _differing(con, source, lines=False))
    except (duckdb.Error, ValueError, RecursionError) as error:
        from passk_cli.files.explain import first_fault

        raise first_fault(source, layout) or DataError(
            source.name, str(error).split("\n")[0], "is it JSON?", name="bad-record"
        ) from None
    if not any(records):
        raise NoResults(source.name, "an empty JSON document", "did the run write its results?")
    columns = _merge(records)
    if not columns:
        raise NoResults(
            source.name, "no records in this JSON document", "expected an array of them"
        )
    return Layout("json", layout.description, columns, packing=source.packing)


def _delimited(source: Source, text: str, forced: str | None) -> Layout:
    first = io.StringIO(text, newline="").readline().rstrip("\r\n")
    allowed = DELIMITERS[forced] if forced else ",;\t|"
    delimiter = max(allowed, key=first.count)
    rows = delimited_rows(io.StringIO(text, newline=""), delimiter)
    names = _header(next(rows, (1, []))[1])
    if len(names) < 2:
        raise NoResults(
            source.name,
            f"neither JSON nor a delimited table (its first line is {first[:40]!r})",
            "a table needs a header line with at least a task and an outcome",
            name="unknown-format",
        )
    require_distinct(source.name, names)
    filled = [row for _, row in islice(rows, 200) if row][:100]
    kinds = {
        name: {text_kind(row[i]) for row in filled if len(row) == len(names)}
        for i, name in enumerate(names)
    }
    sign = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}[delimiter]
    columns = tuple((name, frozenset(values)) for name, values in kinds.items())
    return Layout("csv", f"{sign}-separated with a header", columns, delimiter, source.packing)


def require_distinct(place: str, names: Sequence[str]) -> None:
    """DataError for a column that is there twice, also in capitals: either could be meant."""
    folded = [name.lower() for name in names]
    repeated = [name for name in names if folded.count(name.lower()) > 1]
    if repeated:
        same = "is there twice" if len(set(repeated)) == 1 else f"and {repeated[1]!r} are the same"
        raise DataError(
            place, f"the column {repeated[0]!r} {same}", "rename one", name="ambiguous-column"
        )


def _header(names: Sequence[str]) -> list[str]:
    """The names of the columns; one without a name, such as a pandas index, is "column 1"."""
    return [name or f"column {place}" for place, name in enumerate(names, 1)]


def _parquet(con: duckdb.DuckDBPyConnection, source: Source) -> Layout:
    import duckdb

    try:
        described = con.execute(
            f"DESCRIBE SELECT * FROM read_parquet($p{AS_IT_IS})", {"p": source.path}
        ).fetchall()
    except duckdb.Error as error:
        from passk_cli.files.explain import damaged_parquet

        raise damaged_parquet(source, str(error)) from None
    if any(_NUMBERED.search(name) for name, *_ in described):
        require_distinct(source.name, _parquet_names(con, source))
    return Layout("parquet", "Parquet", typed_columns(described))


def _parquet_names(con: duckdb.DuckDBPyConnection, source: Source) -> list[str]:
    """The columns as the file names them: of one that is there twice DuckDB makes x and x_1."""
    elements = con.execute(
        "SELECT name, coalesce(num_children, 0) FROM parquet_schema($p)", {"p": source.path}
    ).fetchall()
    names, inside = [], 0
    # The first is the table; what lies inside a column follows it.
    for name, children in elements[1:]:
        if not inside:
            names.append(name)
        inside += children - bool(inside)
    return names


def typed_columns(described: Sequence[tuple[Any, ...]]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Columns and kinds from DuckDB's DESCRIBE."""
    return tuple((row[0], frozenset({_typed_kind(row[1])})) for row in described)


def _typed_kind(sql_type: str) -> str:
    if sql_type.endswith("]"):
        return "list"
    if sql_type.startswith(("STRUCT", "MAP", "JSON")):
        return "record"
    if sql_type == "BOOLEAN":
        return "bool"
    numeric = (
        "INT",
        "UINT",
        "BIGINT",
        "UBIGINT",
        "SMALLINT",
        "TINYINT",
        "HUGEINT",
        "UTINY",
        "USMALL",
        "FLOAT",
        "DOUBLE",
        "DECIMAL",
    )
    return "number" if sql_type.startswith(numeric) else "text"
