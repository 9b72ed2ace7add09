"""Read the rows of result files into a Spark frame, and select columns as strings."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.roles import find_column_and_keys
from passk_cli.files.sources import remote
from passk_cli.files.sources.arguments import split_label
from passk_cli.files.sources.source import READABLE_COMPRESSION_SUFFIXES, Source
from passk_cli.files.spark.session import COUNT_LOCALLY_FIX, NotOnSparkError
from passk_cli.files.toml_map import ColumnMap
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import first_few, public_url

_FORMATS_BY_SUFFIX = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "tsv": "csv",
    "parquet": "parquet",
}
# passk collects the columns from the first _COLUMN_DETECTION_LINES JSON lines.
_COLUMN_DETECTION_LINES = 1_000
# The column BAD_ROW_COLUMN marks bad rows, and the column _BROKEN_LINE_COLUMN contains lines that
# Spark cannot parse.
BAD_ROW_COLUMN, _BROKEN_LINE_COLUMN = "#bad", "#broken"


def quote_column(column: str) -> str:
    """Quote the name of a column for Spark's SQL."""
    return "`" + column.replace("`", "``") + "`"


class SparkRows(NamedTuple):
    """The rows of files on a cluster, with all columns.

    place : the first address, which appears in messages.
    file_format : "jsonl", "csv" or "parquet".
    frame : the Spark frame.
    columns : the columns of the frame, or the keys of the first JSON lines.
    """

    place: str
    file_format: str
    frame: Any
    columns: Sequence[str]

    def select(self, columns: Sequence[str]) -> Any:
        """Select columns as strings, and add the column BAD_ROW_COLUMN, which marks bad rows.

        A bad row is a row that is not a record. In a bad row, all selected columns are null.

        columns : the names of the columns. A name with dots, for example "meta.id", is the name of
            a nested column.
        Errors: DataError for a column that does not exist.
        """
        kinds = {column: {"record"} for column in self.columns}
        places = [find_column_and_keys(column, kinds) for column in columns]
        for column, place in zip(columns, places, strict=True):
            if place is None or any(re.search(r"[\[\]'\\]", key) for key in place[1]):
                listing = f"there are {first_few(self.columns)}"
                hint = did_you_mean_or_list(column, self.columns, listing)
                problem = f"the files contain no column {column!r}"
                raise DataError(self.place, problem, hint, name="no-such-column")
        paths = [(quote_column(place[0]), place[1]) for place in places if place is not None]
        frame = self.frame
        bad = (
            f"{quote_column(_BROKEN_LINE_COLUMN)} IS NOT NULL"
            if self.file_format == "csv"
            else "false"
        )
        if self.file_format == "jsonl":
            # A JSON line is parsed as a list to detect a second value on the same line.
            fields = ",".join(f"{base}:string" for base in dict.fromkeys(base for base, _ in paths))
            kind = f"array<struct<{fields}>>".replace("\\", "\\\\").replace("'", "\\'")
            strict = "map('mode', 'PERMISSIVE', 'allowSingleQuotes', 'false')"
            parsed = f"from_json(concat('[', value, ']'), '{kind}', {strict}) AS r"
            frame = frame.selectExpr("value", parsed)
            bad = "r IS NULL OR size(r) <> 1 OR NOT is_valid_utf8(value)"
            paths = [(f"r[0].{base}", keys) for base, keys in paths]
        selection = [
            f"CASE WHEN NOT ({bad}) THEN CAST({self._nested_field_sql(*path)} AS STRING) END"
            f" AS {quote_column(column)}"
            for path, column in zip(paths, columns, strict=True)
        ]
        return frame.selectExpr(*selection, f"({bad}) AS {quote_column(BAD_ROW_COLUMN)}")

    def _nested_field_sql(self, value: str, keys: Sequence[str]) -> str:
        if not keys or self.file_format == "parquet":
            return ".".join((value, *map(quote_column, keys)))
        path = "".join(f"['{key}']" for key in keys)
        return f'get_json_object({value}, "${path}")'


def read_rows(
    spark: Any, addresses: Sequence[str], data_map: ColumnMap, form: str | None
) -> SparkRows:
    """Read the rows of the files at the given addresses. Only files that match the key `files` of
    the map are read.

    addresses : files, folders (searched at any depth) or patterns.
    form : a key of `_FORMATS_BY_SUFFIX`, or None to use the suffixes of the files.
    Errors: DataError if there are no files, if the files have two formats, or if workers cannot
        read an address. ParameterError if an address has a label. This function does not convert
        errors of Spark.
    """
    place = public_url(addresses[0]) if remote.is_remote(addresses[0]) else addresses[0]
    # The option recursiveFileLookup prevents Spark from making columns of folders named key=value.
    reader = spark.read.options(recursiveFileLookup="true")
    uris = reader.format("binaryFile").load([*map(_checked_spark_uri, addresses)]).inputFiles()
    sources = (Source("", os.path.basename(uri), None, "none", original_local_path=uri)
               for uri in sorted({*map(unquote, uris)}))  # fmt: skip
    files = {
        s.original_local_path: form or _suffix(s.original_local_path)
        for s in sources
        if data_map.matches_file_name(s)
    }
    files = {uri: suffix for uri, suffix in files.items() if suffix in _FORMATS_BY_SUFFIX} or files
    if not files:
        problem = f"no result file at this address matches {data_map.place}"
        remedy = "check the address, and the key `files` of the map"
        raise DataError(place, problem, remedy, name="no-results")
    forms = {_FORMATS_BY_SUFFIX.get(suffix, "") for suffix in files.values()}
    if len(forms) > 1 or "" in forms:
        problem = "a cluster reads only JSON lines, CSV or Parquet in one format; there are "
        problem += first_few([*files])
        forced = SuggestedFix({"--from": Placeholder("FORMAT")}, "reads all files in this format")
        raise NotOnSparkError(
            place, problem, "pass only files of the same format", settles=[forced]
        )
    read, paths = forms.pop(), [*map(_escape_pattern, files)]
    if read == "parquet":
        frame = reader.options(mergeSchema="true").parquet(*paths)
        return SparkRows(place, read, frame, frame.columns)
    lines = reader.options(lineSep="\n").text(paths)
    if read == "jsonl":
        lines = lines.where(r"value RLIKE '\\S'")
        keys = lines.limit(_COLUMN_DETECTION_LINES).selectExpr(
            "explode(json_object_keys(value)) AS k"
        )
        return SparkRows(place, read, lines, sorted(key for (key,) in keys.distinct().collect()))
    first = lines.first()
    # Spark reads each CSV file in one Spark task, because fields may contain line breaks. A CSV
    # file with a different header causes an error.
    delimited = reader.options(
        header="true", enforceSchema="false", multiLine="true", quote='"', escape='"',
        sep=max(",;\t|", key=first[0].count) if first else ",", mode="PERMISSIVE",
        columnNameOfCorruptRecord=_BROKEN_LINE_COLUMN, columnPruning="false",
        unescapedQuoteHandling="RAISE_ERROR", maxCharsPerColumn="-1",
    )  # fmt: skip
    columns = delimited.csv(paths[:1]).columns
    schema = ", ".join(
        f"{quote_column(column)} STRING" for column in (*columns, _BROKEN_LINE_COLUMN)
    )
    return SparkRows(place, read, delimited.schema(schema).csv(paths), columns)


def _checked_spark_uri(address: str) -> str:
    label, path = split_label(address)
    if label is not None:
        problem = 'a cluster does not accept a label; write model = {value = "NAME"} in the map'
        raise ParameterError(label, problem, name="contradicting-options")
    if not remote.is_remote(path):
        # Spark expands patterns in paths, so passk escapes the name of an existing file.
        absolute = os.path.abspath(path)
        return "file://" + (_escape_pattern(absolute) if os.path.exists(absolute) else absolute)
    if not remote.is_cluster_only(path):
        shared = "write s3a://" if remote.scheme_of(path) == "s3" else ""
        problem = "passk fetches this address to this machine, which a cluster cannot access"
        raise NotOnSparkError(
            public_url(path), problem, shared, settles=[] if shared else [COUNT_LOCALLY_FIX]
        )
    return path


def _suffix(uri: str) -> str:
    for packed in READABLE_COMPRESSION_SUFFIXES[1:]:
        uri = uri.removesuffix(packed)
    return uri.rpartition(".")[2].lower()


def _escape_pattern(path: str) -> str:
    return "".join("\\" * (sign in "\\{}[]*?") + sign for sign in path)
