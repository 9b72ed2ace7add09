"""How the rows of files are laid out, and the SQL that makes a flat table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

from passk_cli.files.database import AS_IT_IS, FILE_COLUMN, quote_name, quote_text, struct_sql
from passk_cli.files.roles import Roles, find
from passk_cli.files.source import OBJECT_BYTES, PACKINGS, Source, text_kind

# A number's text as a number to compare with: of up to 15 digits, whole ones of up to 38, any.
# Where one of the first two would not be exact it ends with an error, and the next is tried.
NUMBERS = (
    "CAST(CASE WHEN strlen({name}) > 15 AND NOT contains({name}, '.') THEN error('a long number')"
    " ELSE {name} END AS DOUBLE)",
    "CAST(CASE WHEN NOT regexp_full_match({name}, '[+-]?[0-9]+') THEN error('not a whole number')"
    " ELSE {name} END AS HUGEINT)",
    "CAST({name} AS DOUBLE)",
)


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

    @property
    def says_types(self) -> bool:
        """Whether it says what is a number and what a text, as delimited texts do not."""
        return self.typed or self.kind in ("json", "jsonl") or self.spool != ""

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
        # Their rows come with all columns, types or not.
        whole = self.kind in ("csv", "parquet")
        apart = f" EXCLUDE ({', '.join(shadowed)})" if shadowed and whole else ""
        names = ", ".join(map(quote_name, self.constants))
        every = {path: None for values in self.constants.values() for path in values}
        texts = {path: [values.get(path) for values in self.constants.values()] for path in every}
        values = ", ".join(
            f"({', '.join(['NULL::VARCHAR' if t is None else quote_text(t) for t in (path, *of)])})"
            for path, of in texts.items()
        )
        file = quote_name(FILE_COLUMN)
        return (
            f"(SELECT inside.*{apart}, {', '.join('c.' + quote_name(n) for n in self.constants)}"
            f" FROM {rows} AS inside LEFT JOIN (VALUES {values}) AS c({file}, {names})"
            f" ON c.{file} = inside.{file})"
        )

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


@dataclass(frozen=True)
class Batch:
    """Files of one layout, whose columns play the same roles."""

    layout: Layout
    roles: Roles
    sources: tuple[Source, ...]

    @property
    def suited(self) -> bool:
        """Whether files are of suites, without which task ids mean nothing."""
        return "suite" in self.layout.constants and self.roles.task != "suite"


def in_order(batches: Sequence[Batch]) -> list[Batch]:
    """Batches in the order of the arguments: one ends where a file of another comes.

    What was spooled is one file.
    """
    files = sorted(
        (
            (source, i)
            for i, batch in enumerate(batches)
            for source in (batch.sources[:1] if batch.layout.spool else batch.sources)
        ),
        key=lambda file: file[0].position,
    )
    return [
        replace(batches[i], sources=tuple(source for source, _ in run))
        for i, run in groupby(files, key=itemgetter(1))
    ]


def _path(keys: Sequence[str]) -> str:
    return quote_text("$" + "".join('."' + key.replace('"', '\\"') + '"' for key in keys))


def text_sql(layout: Layout, column: str, nested: set[str]) -> str:
    """A column, or what a dotted path finds in one, as text; nested ones are read as JSON."""
    name, keys = find(column, layout.kinds) or (column, [])
    if layout.typed:
        return f"CAST({'.'.join(quote_name(k) for k in (name, *keys))} AS VARCHAR)"
    return f"({quote_name(name)} ->> {_path(keys)})" if name in nested else quote_name(name)


def list_sql(layout: Layout, column: str, nested: set[str]) -> str:
    """A column of lists, or what a dotted path finds in one, as a list of texts."""
    name, keys = find(column, layout.kinds) or (column, [])
    if layout.typed:
        return f"CAST({'.'.join(quote_name(k) for k in (name, *keys))} AS VARCHAR[])"
    if name in nested:
        return f"CAST(json_extract({quote_name(name)}, {_path(keys)}) AS VARCHAR[])"
    return quote_name(name)


def where_sql(layout: Layout, column: str, nested: set[str], numbers: str = NUMBERS[0]) -> str:
    """A column as an expression compares it: numbers as numbers, truth as truth.

    numbers : SQL of the number in {name}, one of NUMBERS.
    """
    name = quote_name(column)
    kinds = layout.kinds.get(column, set()) - {"null"}
    if layout.typed or column in nested or kinds not in ({"number"}, {"bool"}):
        return name
    if kinds == {"bool"}:
        return f"CAST({name} AS BOOLEAN)"
    return numbers.format(name=name)
