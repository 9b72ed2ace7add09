"""The files at addresses as a Spark frame, with a column of text for each column that is read.

Spark's own readers look, here and over Spark Connect alike.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.mapping import Map
from passk_cli.files.roles import find
from passk_cli.files.sources import remote
from passk_cli.files.sources.arguments import is_result, split_label
from passk_cli.files.sources.source import PACKED, Source
from passk_cli.files.spark.session import HERE, NotOnSpark
from passk_cli.near import meant
from passk_cli.settle import Blank, Settle
from passk_cli.text import first_few, name_of

# Files are found in folders at any depth, and a folder key=value adds no column.
READ = {"recursiveFileLookup": "true"}
_FORMS = {"jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl", "csv": "csv", "tsv": "csv",
          "parquet": "parquet"}  # fmt: skip
# How many lines of JSON show which columns there are.
_LINES = 1_000
# Whether a row is none; the line of a text that Spark cannot parse.
BAD, _BROKEN = "#bad", "#broken"


def name(column: str) -> str:
    """A column's name in Spark's SQL."""
    return "`" + column.replace("`", "``") + "`"


def text(value: str) -> str:
    """A text in Spark's SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True)
class Files:
    """Result files of one form.  place : the first address, for messages."""

    place: str
    form: str
    paths: Sequence[str]

    @classmethod
    def at(cls, spark: Any, addresses: Sequence[str], own: Map, form: str | None) -> Files:
        """The result files at addresses that a map is for; an address is a file, folder or pattern.

        form : one of `_FORMS`; None: by the suffixes.
        Errors: DataError if there are none, or files of two forms; ParameterError for a label, or
        an address that workers cannot read.
        """
        place = shown(addresses[0])
        paths = [_path(address) for address in addresses]
        found = spark.read.format("binaryFile").options(**READ).load(paths).inputFiles()
        files = sorted({unquote(re.sub("^([^:/]+):/(?!/)", r"\1:///", uri)) for uri in found})
        files = [uri for uri in files if is_result(uri)] or files
        named = (Source("", os.path.basename(uri), None, "none", origin=uri) for uri in files)
        files = [source.origin for source in named if own.is_named(source)]
        forms = {form or _form_of(uri) for uri in files}
        if not forms:
            problem = f"no result files there that {own.place} is for"
            remedy = "check the address, and files = of the map"
            raise DataError(place, problem, remedy, name="no-results")
        if len(forms) > 1 or not forms <= {*_FORMS}:
            problem = f"a cluster reads JSON lines, CSV or Parquet; there are {first_few(files)}"
            forced = Settle({"--from": Blank("FORMAT")}, "reads them as this")
            raise NotOnSpark(place, problem, "name files of one format", settles=[forced])
        return cls(place, _FORMS[forms.pop()], [_escaped(uri) for uri in files])


def shown(address: str) -> str:
    """An address in a message: without what it keeps secret."""
    return name_of(address) if remote.is_remote(address) else address


def _path(address: str) -> str:
    """An address as Spark takes it."""
    label, path = split_label(address)
    if label is not None:
        problem = 'a cluster takes no label; write model = {value = "NAME"} in the map'
        raise ParameterError(f"{label}={shown(path)}: {problem}", name="contradicting-options")
    if not remote.is_remote(path):
        # Spark looks patterns up, but a name with such signs is not a pattern.
        own = os.path.abspath(path)
        return "file://" + (_escaped(own) if os.path.exists(own) else own)
    if not remote.is_shared(path):
        shared = "write s3a://" if remote.scheme_of(path) == "s3" else ""
        problem = "fetched to this machine, which a cluster does not share"
        raise NotOnSpark(name_of(path), problem, shared, settles=[] if shared else [HERE])
    return path


def _form_of(uri: str) -> str:
    for packed in PACKED[1:]:
        uri = uri.removesuffix(packed)
    return uri.rpartition(".")[2].lower()


def _escaped(path: str) -> str:
    """A path without signs that Spark takes for a pattern."""
    return "".join("\\" * (sign in "\\{}[]*?") + sign for sign in path)


@dataclass(frozen=True)
class Rows:
    """The rows of files, before any column is chosen.

    frame : of Spark.  columns : its columns, of JSON those of the first lines.  form : as of Files.
    """

    place: str
    frame: Any
    columns: Sequence[str]
    form: str

    @classmethod
    def of(cls, spark: Any, files: Files) -> Rows:
        """Errors: DataError for a header with a name twice; those of Spark."""
        reader = spark.read.options(**READ)
        if files.form == "parquet":
            frame = reader.options(mergeSchema="true").parquet(*files.paths)
            return cls(files.place, frame, frame.columns, files.form)
        lines = reader.options(lineSep="\n").text(list(files.paths))
        if files.form == "jsonl":
            lines = lines.where(r"value RLIKE '\\S'")
            keys = lines.limit(_LINES).selectExpr("explode(json_object_keys(value)) AS k")
            columns = keys.distinct().toArrow().column("k").to_pylist()
            return cls(files.place, lines, sorted(columns), files.form)
        return cls._delimited(files, reader, lines.first())

    @classmethod
    def _delimited(cls, files: Files, reader: Any, first: Any) -> Rows:
        """Rows of a delimited text.  Fields may contain line breaks, so a file is one task."""
        from pyspark.sql.types import StringType, StructField, StructType

        header = first[0].removeprefix("\ufeff").rstrip("\r") if first else ""
        sign = max(",;\t|", key=header.count)
        columns = next(csv.reader([header], delimiter=sign), [])
        if len({*columns}) < len(columns):
            problem = "its header names a column twice"
            raise DataError(files.place, problem, "rename one of them", name="ambiguous-column")
        schema = StructType([StructField(c, StringType()) for c in (*columns, _BROKEN)])
        # A file with another header is refused instead of read by places.
        frame = reader.options(
            header="true", enforceSchema="false", multiLine="true", sep=sign, quote='"',
            escape='"', mode="PERMISSIVE", columnNameOfCorruptRecord=_BROKEN, columnPruning="false",
            unescapedQuoteHandling="RAISE_ERROR", maxCharsPerColumn="-1",
        ).schema(schema).csv(list(files.paths))  # fmt: skip
        return cls(files.place, frame, columns, files.form)

    def chosen(self, columns: Sequence[str]) -> Any:
        """A frame of these columns as text, and BAD: whether the row is none, and all are empty.

        columns : names, with a dot before a nested one.
        Errors: DataError for a column that is not there.
        """
        kinds = {column: {"record"} for column in self.columns}
        places = []
        for column in columns:
            place = find(column, kinds)
            if place is None or any(re.search(r"[\[\]'\\]", key) for key in place[1]):
                there = meant(column, self.columns, f"there are {first_few(self.columns)}")
                raise DataError(self.place, f"no column {column!r}", there, name="no-such-column")
            places.append(place)
        frame, bad, before = self.frame, "false", ""
        if self.form == "csv":
            bad = f"{name(_BROKEN)} IS NOT NULL"
        if self.form == "jsonl":
            # Parsed as a list, which shows what else is on the line.
            fields = ",".join(f"{name(base)}:string" for base in {base: 0 for base, _ in places})
            options = "map('mode', 'PERMISSIVE', 'allowSingleQuotes', 'false')"
            kind = text(f"array<struct<{fields}>>")
            parsed = f"from_json(concat('[', value, ']'), {kind}, {options}) AS r"
            frame, before = frame.selectExpr("value", parsed), "r[0]."
            bad = "r IS NULL OR size(r) <> 1 OR NOT is_valid_utf8(value)"
        values = [self._value(before + name(base), keys) for base, keys in places]
        shown = [
            f"CASE WHEN NOT ({bad}) THEN CAST({value} AS STRING) END AS {name(column)}"
            for value, column in zip(values, columns, strict=True)
        ]
        return frame.selectExpr(*shown, f"({bad}) AS {name(BAD)}")

    def _value(self, value: str, keys: Sequence[str]) -> str:
        if not keys or self.form == "parquet":
            return ".".join([value, *map(name, keys)])
        path = "$" + "".join(f"['{key}']" for key in keys)
        return f"get_json_object({value}, {text(path)})"
