"""The rows of a batch of files in Spark's SQL: a column for each that plays a role, and faults.

A fault is a row that cannot be read as it is; what that means is decided at home, in the words of
one machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from passk_cli.errors import BadRecord, DataError
from passk_cli.files.counting.checks import require_even_rows
from passk_cli.files.counting.statement import LateColumn
from passk_cli.files.database import FILE_COLUMN
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.records import first_fault, mixed_ends
from passk_cli.files.request import Request
from passk_cli.files.roles import BELOW, REACHED, SLACK
from passk_cli.files.sources.cluster import READ, paths_by
from passk_cli.files.sources.source import QUOTE, SKIPPED, csv_rows, lines


def name(column: str) -> str:
    """A column's name in Spark's SQL."""
    return "`" + column.replace("`", "``") + "`"


def text(value: str) -> str:
    """A text in Spark's SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


# What each row and each group has besides the columns of the file.
# Those that come home are without Spark's quotes.
FILE, FAULT, NUMBER = map(name, (FILE_COLUMN, "#fault", "#number"))
LEAST_FILE, GREATEST_FILE = "#least file", "#greatest file"
DOUBTS, WEIGHT, NUMBERED, FINGERPRINT = "#doubts", "#weight", "#numbered", "#fingerprint"
# A number that both engines read alike; all other texts are judged at home.
_PLAIN = r"^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$"
# Half a pair of surrogates, which is no text.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = rf"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}"

Name = Callable[[str], str]


@dataclass(frozen=True)
class SparkColumn:
    """A column that comes home.

    name : as the statement at home calls it.  base, keys : the file's column, the keys inside it.
    listed : whether it is a list of texts.  bar : what its numbers are compared with, if anything.
    hashed : whether a hash of the text stands for it.
    """

    name: str
    base: str
    keys: tuple[str, ...] = ()
    listed: bool = False
    bar: float | None = None
    hashed: bool = False


@dataclass(frozen=True)
class Rows:
    """Columns to read of one batch of files.

    DOUBTS is 1 for rows of a delimited text that end in \\r, at which more has to be looked.

    uris : the files.  late : columns that must not appear.
    number : the column of attempt numbers, where these are only counted.
    quoted : whether fields of a delimited text hold line breaks.
    """

    batch: Batch
    parts: Sequence[SparkColumn]
    uris: Sequence[str]
    late: Sequence[str] = ()
    number: SparkColumn | None = None
    quoted: bool = False

    def frame(self, session: Any) -> Any:
        """A Spark frame with the columns FILE, FAULT, DOUBTS, NUMBER and the parts."""
        layout = self.batch.layout
        if layout.kind == "csv":
            return self._delimited(session)
        if layout.kind != "parquet":
            return self._lines(session)
        several = {"mergeSchema": "true"} if len(self.uris) > 1 else {}
        frame = session.read.options(**READ, **several).parquet(*self.uris)
        frame = frame.selectExpr(
            "*", f"_metadata.file_path AS {FILE}", f"CAST(NULL AS STRING) AS {FAULT}",
            f"0 AS {name(DOUBTS)}",
        )  # fmt: skip
        return frame.selectExpr(*self._selected(name))

    @property
    def bases(self) -> list[str]:
        """The file's columns that are looked at."""
        parts = [*self.parts, *([self.number] if self.number else [])]
        inside = [FILE_COLUMN] if self.batch.layout.spool else []
        return list(dict.fromkeys([*(p.base for p in parts), *self.late, *inside]))

    def _selected(self, of: Name) -> Iterator[str]:
        """The columns, all empty where there is a fault."""
        typed = self.batch.layout.typed
        # A row that is none still belongs to its file.
        inside = f"coalesce({of(FILE_COLUMN)}, {FILE})" if self.batch.layout.spool else FILE
        yield f"{inside} AS {FILE}"
        yield FAULT
        yield name(DOUBTS)

        def sound(sql: str) -> str:
            return sql if typed else f"CASE WHEN {FAULT} IS NULL THEN {sql} END"

        for part in self.parts:
            yield f"{sound(_value(part, of, typed))} AS {name(part.name)}"
        if self.number is not None:
            yield f"{sound(f'CAST({_value(self.number, of, typed)} AS STRING)')} AS {NUMBER}"

    def _lines(self, session: Any) -> Any:
        """Lines of JSON, each parsed as a list, which shows what else is on the line."""
        fields = ",".join(f"{name(column)}:string" for column in self.bases)
        options = "map('mode', 'PERMISSIVE', 'allowSingleQuotes', 'false')"
        parsed = (
            f"from_json(concat('[', value, ']'), {text(f'array<struct<{fields}>>')}, {options})"
        )
        lines = session.read.options(**READ, lineSep="\n").text(list(self.uris))
        lines = lines.where(r"value RLIKE '\\S'")
        frame = lines.selectExpr(f"_metadata.file_path AS {FILE}", "value", f"{parsed} AS r")
        faults = f"CASE {' '.join(self._line_faults())} END AS {FAULT}"
        frame = frame.selectExpr("*", faults, f"0 AS {name(DOUBTS)}")
        return frame.selectExpr(*self._selected(_of_record))

    def _line_faults(self) -> Iterator[str]:
        half = f"contains(value, {text(chr(92) + 'u')}) AND value RLIKE {text(_HALF)}"
        yield f"WHEN r IS NULL OR size(r) <> 1 OR NOT is_valid_utf8(value) OR ({half}) THEN 'bad'"
        if not self.batch.layout.spool:
            # Nearly no line has one of the names twice, and those are looked at closely.
            signs = [text(json.dumps(column, ensure_ascii=False)) for column in self.bases]
            again = " OR ".join(f"locate({k}, value, locate({k}, value) + 1) > 0" for k in signs)
            wanted = ", ".join(map(text, self.bases))
            keys = f"filter(json_object_keys(value), k -> k IN ({wanted}))"
            yield f"WHEN ({again}) AND size({keys}) > size(array_distinct({keys})) THEN 'twice'"
        for part in self.parts:
            if part.listed:
                value = _of_record(part.base)
                yield f"WHEN {value} IS NOT NULL AND {_list(value)} IS NULL THEN 'bad'"
        if self.late:
            late = f"coalesce({', '.join(map(_of_record, self.late))}) IS NOT NULL"
            task = next(p.base for p in self.parts if p.name == self.batch.roles.task)
            yield f"WHEN {late} AND {_of_record(task)} IS NOT NULL THEN 'late'"

    def _delimited(self, session: Any) -> Any:
        """Rows of a delimited text: line by line, or whole files where fields hold line breaks."""
        columns = [column for column, _ in self.batch.layout.columns]
        schema = ", ".join(f"{name(column)} STRING" for column in (*columns, "#bad"))
        options = {
            "mode": "PERMISSIVE", "sep": self.batch.layout.delimiter, "quote": '"', "escape": '"',
            "columnNameOfCorruptRecord": "#bad", "columnPruning": "false",
        }  # fmt: skip
        uneven = "WHEN r.`#bad` IS NOT NULL THEN 'fields'"
        reader = session.read.options(**READ)
        if self.quoted:
            options |= {"multiLine": "true", "header": "true", "enforceSchema": "true"}
            reader = reader.options(**options, unescapedQuoteHandling="RAISE_ERROR").schema(schema)
            fields = ", ".join(map(name, (*columns, "#bad")))
            frame = reader.csv(list(self.uris)).selectExpr(
                f"_metadata.file_path AS {FILE}", f"struct({fields}) AS r", f"0 AS {name(DOUBTS)}"
            )
            cases = [uneven]
        else:
            given = ", ".join(f"{text(k)}, {text(v)}" for k, v in options.items())
            returns = r"endswith(value, '\r')"
            frame = reader.options(lineSep="\n").text(list(self.uris)).selectExpr(
                f"_metadata.file_path AS {FILE}",
                f"CASE WHEN {returns} THEN left(value, length(value) - 1) ELSE value END AS line",
                f"CASE WHEN {returns} THEN 1 ELSE 0 END AS {name(DOUBTS)}",
            )  # fmt: skip
            record = f"from_csv(line, {text(schema)}, map({given})) AS r"
            frame = frame.where("line <> ''").selectExpr("*", record)
            tidy = f"replace(line, '\"\"', '') RLIKE {text(_tidy(self.batch.layout.delimiter))}"
            cases = [
                r"WHEN contains(line, '\r') THEN 'return'",
                f"WHEN contains(line, '\"') AND NOT {tidy} THEN"
                " CASE WHEN (length(line) - length(replace(line, '\"', ''))) % 2 = 1"
                " THEN 'open' ELSE 'quoted' END",
                "WHEN NOT is_valid_utf8(line) THEN 'bad'",
                uneven,
                f"WHEN {' AND '.join(map(_heads, columns))} THEN 'header'",
            ]
        frame = frame.selectExpr("*", f"CASE {' '.join(cases)} END AS {FAULT}")
        return frame.selectExpr(*self._selected(lambda column: f"r.{name(column)}"))


def _of_record(column: str) -> str:
    return f"r[0].{name(column)}"


def _heads(column: str) -> str:
    """Whether a field is the name of its column; a column without one has no name there."""
    nameless = f" OR r.{name(column)} IS NULL" if column.startswith("column ") else ""
    return f"(r.{name(column)} <=> {text(column)}{nameless})"


def _tidy(delimiter: str) -> str:
    """The pattern of a line whose quotes enclose whole fields, once doubled quotes are out."""
    sign = f"[{delimiter}]"
    one = f'(?:"[^"]*+"|[^"{delimiter}][^{delimiter}]*+|)'
    return f"^{one}(?:{sign}{one})*+$"


def _value(part: SparkColumn, of: Name, typed: bool) -> str:
    """Spark's SQL for a part."""
    value = of(part.base)
    if part.keys and typed:
        value = ".".join([value, *map(name, part.keys)])
    elif part.keys:
        path = "$" + "".join(f"['{key}']" for key in part.keys)
        value = f"get_json_object({value}, {text(path)})"
    if part.listed and not typed:
        value = _list(value)
    if part.hashed:
        value = f"transform({value}, x -> {_code('x')})" if part.listed else _code(value)
    if part.bar is None:
        return value
    value = f"CAST({value} AS STRING)"
    number = f"try_cast({value} AS DOUBLE)"
    bar = f"CAST('{part.bar - SLACK!r}' AS DOUBLE)"
    passes = f"if({number} >= {bar}, '{REACHED}', '{BELOW}')"
    finite = f"{value} RLIKE {text(_PLAIN)} AND abs({number}) < 1e308"
    return f"CASE WHEN {finite} THEN {passes} ELSE {value} END"


def _code(value: str) -> str:
    """A text that stands for another one, which is longer."""
    code = f"CAST(xxhash64(CAST({value} AS STRING)) AS STRING)"
    return f"CASE WHEN {value} IS NOT NULL THEN {code} END"


def _list(value: str) -> str:
    return f"from_json({value}, 'array<string>', map('mode', 'PERMISSIVE'))"


def require_sound(groups: Any, read: Rows, request: Request) -> bool:
    """Raise for rows that are none; whether fields of a delimited text hold line breaks.

    groups : what came home, as an Arrow table.
    Errors: DataError; duckdb.InvalidInputException where reading on one machine ends with one.
    """
    faults, path_of = _faults(groups), paths_by(read.batch.sources)
    if "quoted" in faults or "open" in faults:
        for uri, number in faults.get("open", {}).items():
            if number % 2:
                raise _open_quote(path_of(uri), read)
        return True
    if read.batch.layout.kind == "csv":
        _require_rows(groups, faults, read)
    if "late" in faults:
        raise LateColumn
    if "twice" in faults:
        raise _twice(read)
    if "bad" in faults and not request.skip_bad:
        number = sum(faults["bad"].values())
        place = next(s for s in read.batch.sources if s.path == path_of(min(faults["bad"])))
        if place.partial:
            problem = f"{number:,} line{'s' * (number != 1)} that cannot be read as JSON records"
            raise BadRecord(place.name, problem, settles=[SKIPPED])
        raise duckdb.InvalidInputException(
            f"Spark cannot read {number:,} record{'s' * (number != 1)} that others may"
        )
    return False


def _faults(groups: Any) -> dict[str, dict[str, int]]:
    """Fault → file → rows that have it."""
    faults: dict[str, dict[str, int]] = {}
    broken = groups.filter(groups.column("#fault").is_valid())
    columns = (broken.column(c).to_pylist() for c in ("#fault", LEAST_FILE, WEIGHT))
    for fault, uri, rows in zip(*columns, strict=True):
        of_fault = faults.setdefault(fault, {})
        of_fault[uri] = of_fault.get(uri, 0) + rows
    return faults


def _require_rows(groups: Any, faults: dict[str, dict[str, int]], read: Rows) -> None:
    """DataError for what is no row of a delimited text."""
    sources = {source.path: source for source in read.batch.sources}
    path_of, layout = paths_by(read.batch.sources), read.batch.layout
    returns, rows = (sum(groups.column(c).to_pylist()) for c in (DOUBTS, WEIGHT))
    if "return" in faults or 0 < returns < rows:
        for source in sources.values():
            if mixed := mixed_ends(source):
                raise mixed
    for fault in ("return", "fields", "bad", "header"):
        for uri, number in sorted(faults.get(fault, {}).items()):
            source = sources[path_of(uri)]
            if fault == "return":
                raise BadRecord(source.name, r"lines end in \r", "save it with line ends \\n")
            if fault == "bad":
                remedy = "save the file as UTF-8"
                raise DataError(source.name, "not UTF-8", remedy, name="bad-encoding")
            if fault == "fields":
                width = len(layout.columns)
                uneven = (row for _, row in csv_rows(source, layout.delimiter) if row)
                if any(len(row) < width or any(row[width:]) for row in uneven if len(row) != width):
                    wrong = first_fault(source, layout)
                    if wrong is not None:
                        raise wrong
                    continue
                require_even_rows(source, layout)
                problem = f"{number:,} rows have another number of fields than the header"
                raise BadRecord(source.name, problem, QUOTE[1])
            if number > 1:
                problem = f"its header comes {number:,} times"
                raise BadRecord(source.name, problem, "remove the others")


def _open_quote(path: str, read: Rows) -> DataError:
    """A quote that nothing ends, in the last row of a file, which goes on to its end."""
    source = next(source for source in read.batch.sources if source.path == path)
    place = source.name
    for line, _ in csv_rows(source, read.batch.layout.delimiter):
        place = f"{source.name}:{line}"
    return BadRecord(place, *QUOTE)


def _twice(read: Rows) -> DataError:
    """The first record with a key that comes twice."""
    wanted = set(read.bases)
    for source in read.batch.sources:
        for number, line in lines(source):
            try:
                keys = [k for k, _ in json.loads(line, object_pairs_hook=list)]
            except (ValueError, TypeError, RecursionError):
                continue
            again = [key for key in keys if key in wanted and keys.count(key) > 1]
            if again:
                problem = f'the key "{again[0]}" is there twice'
                return BadRecord(f"{source.name}:{number}", problem, "keep one")
    return BadRecord(read.batch.sources[0].name, "a record has a key twice", "keep one")
