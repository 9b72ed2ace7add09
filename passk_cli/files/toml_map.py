"""Read maps. A map defines the roles of the columns in result files.

A map is a table `[data]`, or several tables `[[data]]`, in the file passk.toml next to the data, or
in the file that --map names. The keys of a table are roles and options for reading. The keys
`files` and `has` define which files the table covers. The options in a table have the same effect
as on the command line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePath
from typing import Any

from passk_cli.diagnostic import NOTE, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request, parse_column_by_role
from passk_cli.files.roles import (
    CONVERTED_TABLE_COLUMNS,
    COUNTS_COLUMNS,
    FIXED_VALUE_PREFIX,
    HISTORY_COLUMNS,
    ROLES,
)
from passk_cli.files.sources.arguments import is_outside_folder, paths_in_data, split_label
from passk_cli.files.sources.source import Source
from passk_cli.option import DeclaredOption, options_by_field, parse_option_value
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import first_few
from passk_cli.toml import read_toml

# NAME is the name of a map file in the folder of the data, and TABLE is the name of the tables in a
# map file. If --map is NO_MAP, passk uses no map.
NAME, TABLE, NO_MAP = "passk.toml", "data", "none"
_FILE_SELECTION_KEYS = ("files", "has")
# The options in _NON_MAP_OPTIONS are not keys of a map, because these options do not define the
# meaning of columns.
_NON_MAP_OPTIONS = (
    "--map --field --model --truth --truth-from --exclude-model --alias --exclude-task --only-task"
).split()
_OWN_OUTPUT_REASON = "written by passk"
# If an option names the outcome, passk ignores the keys of a map that are in
# _MAP_OPTIONS_REPLACED_BY_OUTCOME.
_MAP_OPTIONS_REPLACED_BY_OUTCOME = ("outcome", "all_of", "passes", "fails", "threshold")
MAP_USED_NOTE = DiagnosticType(
    "mapped", NOTE,
    "{map} defines the roles of the columns",
    meaning="A map defines the role of each column, such as task or outcome. passk reads the file"
    " passk.toml next to the data, or the file that you name with --map.",
    why="If the map is wrong, passk reads the wrong columns. Options on the command line take"
    " precedence over a map.",
    advice="To read the files without a map, use --map none.",
    example="note[mapped]: passk.toml defines the roles of the columns",
)  # fmt: skip
SKIPPED_UNMAPPED_FILES_NOTE = DiagnosticType(
    "unmapped-files", NOTE,
    "passk skipped {count:file} that {map} does not cover: {files}",
    "to read a skipped file, name it, or add it to the key 'files' of the map",
    meaning="The keys `files` and `has` of a map select the files that the map covers.",
    why="If a map does not cover a file in a folder, the attempts in the file are missing from the"
    " result.",
    advice="To read a skipped file, name it on the command line, or add it to the key 'files' of"
    " the map.",
    example="note[unmapped-files]: passk skipped 2 files that passk.toml does not cover: a.csv,"
    " b.csv; to read a skipped file, name it, or add it to the key 'files' of the map",
)  # fmt: skip


class AdjacentMapPath(str):
    """The path of a map file in the folder of the data. The map does not necessarily cover the
    data."""


@cache
def option_by_map_key() -> dict[str, DeclaredOption]:
    """Map each key that a map can contain to the corresponding option. Keys that are roles are not
    included."""
    options = {option.option.name: option for option in options_by_field(Request).values()}
    return {
        name.lstrip("-"): option for name, option in options.items() if name not in _NON_MAP_OPTIONS
    }


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """A table of a map. The table defines the roles of columns in some files.

    place : the path of the map, which appears in messages.
    folder : the folder that contains the map.
    file_patterns : patterns for the names of the files that the table covers.
    required_columns : columns that a file must contain.
    columns_by_role : maps roles to columns.
    options : the value of each option, with the field of `Request` as the key.
    """

    place: str
    folder: str
    file_patterns: tuple[str, ...]
    required_columns: tuple[str, ...]
    columns_by_role: Mapping[str, str]
    options: Mapping[str, Any]

    @property
    def records_key(self) -> str:
        """The value of --records, or "" for records at the top of a file."""
        return self.options.get("records") or ""

    def matches_file_name(self, source: Source) -> bool:
        """Whether the name of a file matches a pattern in `file_patterns`. The result is also true
        if there are no patterns, or if the data does not come from a named file.
        """
        if not self.file_patterns or source.frame is not None or not source.original_local_path:
            return True
        path = PurePath(os.path.relpath(source.original_local_path, self.folder or ".")).as_posix()
        names = (path, os.path.basename(path), source.name)
        return any(fnmatch(name, pattern) for name in names for pattern in self.file_patterns)

    def missing_required_columns(self, columns: Sequence[str]) -> list[str]:
        """The columns in `required_columns` that a file does not contain, not even in nested
        records."""
        return [
            n for n in self.required_columns if not any(f".{c}".endswith(f".{n}") for c in columns)
        ]

    def merged_request(self, request: Request) -> Request:
        """Add the keys of this table to a request. Options that the user set are not changed."""
        fields, options = dict(self.columns_by_role), dict(self.options)
        if "outcome" in request.named_column_by_role:
            fields = {role: c for role, c in fields.items() if role not in ("n", "c")}
            options = {
                name: v
                for name, v in options.items()
                if name not in _MAP_OPTIONS_REPLACED_BY_OUTCOME
            }
        options = {name: v for name, v in options.items() if name not in request.given_options}
        return replace(request, fields={**fields, **request.fields}, is_mapped=True, **options)


def select_files_and_apply_map(
    data: Any,
    sources: Sequence[Source],
    request: Request,
    columns: Callable[[Source], Sequence[str]],
) -> tuple[list[Source], Request, list[Diagnostic]]:
    """Apply a map to a request. Return the files to read, the new request, and messages.

    Errors: ParameterError if the map is invalid, if it does not cover a file that the user named,
        or if it covers none of the files.
    """
    without = replace(request, map=NO_MAP)
    path = _adjacent_map_path(data) if request.map is None else request.map
    if path in ("", NO_MAP):
        return [*sources], without, []
    maps = read_maps(path)
    if not maps and isinstance(path, AdjacentMapPath):
        return [*sources], without, []
    fit_by_path = {source.path: _fitting_map_or_reason(source, maps, columns) for source in sources}
    maps_used = [fit for fit in dict.fromkeys(fit_by_path.values()) if isinstance(fit, ColumnMap)]
    unmapped = [source for source in sources if not isinstance(fit_by_path[source.path], ColumnMap)]
    is_own_output = any(fit_by_path[source.path] == _OWN_OUTPUT_REASON for source in unmapped)
    if not maps_used and (is_own_output or isinstance(path, AdjacentMapPath)):
        return [*sources], without, []
    refused = [source for source in unmapped if source.is_explicit] if maps_used else unmapped
    name = maps[0].place if maps else str(path)
    if refused:
        problem = f"[{TABLE}] does not cover {refused[0].name}{fit_by_path[refused[0].path]}"
        remedy = "add a table for the file" + ", or leave the file out" * bool(maps_used)
        raise ParameterError(name, problem, remedy, name="bad-map")
    if len(maps_used) > 1:
        ends = [
            next(s.name for s in sources if fit_by_path[s.path] is fit) for fit in maps_used[:2]
        ]
        problem = f"{' and '.join(ends)} belong to different tables"
        raise ParameterError(
            name, problem, "read these files with two separate commands", name="bad-map"
        )
    messages = [MAP_USED_NOTE(map=maps_used[0].place)] if isinstance(path, AdjacentMapPath) else []
    if unmapped:
        messages.append(
            SKIPPED_UNMAPPED_FILES_NOTE(
                count=len(unmapped), map=maps_used[0].place, files=[s.name for s in unmapped]
            )
        )
    read = [replace(source, is_explicit=True) for source in sources if source not in unmapped]
    return read, maps_used[0].merged_request(without), messages


def read_maps(map_source: Any) -> list[ColumnMap]:
    """Read the tables of a map, from a file or from Python objects.

    Errors: ParameterError for an unknown key, a wrong value or an empty value. The error names the
        line of the key.
    """
    if isinstance(map_source, Mapping | list | tuple):
        text, name = "", ""
        tables = (
            map_source.get(TABLE, map_source) if isinstance(map_source, Mapping) else map_source
        )
    else:
        name = os.fspath(map_source)
        text, document = read_toml(name, "bad-map", f'write [{TABLE}] with task = "COLUMN"')
        tables = document.get(TABLE, document.get("tool", {}).get("passk", {}).get(TABLE, []))
    tables = tables if isinstance(tables, list | tuple) else [tables]
    if not all(isinstance(table, Mapping) for table in tables):
        raise ParameterError(f"{name or 'map'}: write [[{TABLE}]] with keys", name="bad-map")
    return [_MapTableParser(table, name, text, at).column_map() for at, table in enumerate(tables)]


@dataclass(frozen=True, eq=False)
class _MapTableParser:
    table: Mapping[str, Any]
    map_path: str
    map_text: str
    table_index: int

    def column_map(self) -> ColumnMap:
        fields, options = dict[str, str](), dict[str, Any]()
        known_keys = (*_FILE_SELECTION_KEYS, *ROLES, *option_by_map_key())
        for written_key, value in self.table.items():
            # A key may contain underscores instead of hyphens, as in a rules file of the gate.
            key = written_key if written_key in known_keys else written_key.replace("_", "-")
            if key not in known_keys:
                suggestion = did_you_mean_or_list(
                    key, known_keys, f"the keys are {', '.join(known_keys)}"
                )
                raise self.key_error(written_key, "there is no such key", suggestion)
            if value in ("", []):
                raise self.empty_value_error(written_key)
            try:
                if key == "outcome":
                    options["outcome"] = self.parse_column_or_fixed_value(key, value)
                elif key in ROLES:
                    fields[key] = self.parse_column_or_fixed_value(key, value)
                elif key in option_by_map_key():
                    option = option_by_map_key()[key]
                    value = self.resolve_path(key, value) if option.option.file_use else value
                    options[option.field] = parse_option_value(option, _as_option_text(value))
            except ParameterError as error:
                if error.name == "bad-map":
                    raise
                raise self.key_error(key, error.problem) from None
        if "outcome" in options and "all_of" in options:
            raise self.key_error("all", "the map also names an outcome; remove one of the two keys")
        files, has = ((v,) if isinstance(v, str) else tuple(v)
                      for v in (self.table.get(key,
                          ()) for key in _FILE_SELECTION_KEYS))  # fmt: skip
        folder = os.path.dirname(os.path.abspath(self.map_path)) if self.map_path else os.getcwd()
        place = self.map_path or "map"
        return ColumnMap(place, folder, files, has, fields, options)

    def resolve_path(self, key: str, value: Any) -> Any:
        if not self.map_path or not isinstance(value, str):
            return value
        folder = os.path.dirname(self.map_path)
        path = os.path.join(folder, value)
        if os.path.isabs(value) or is_outside_folder(path, folder):
            problem = f"{value} is not in the folder of the map"
            remedy = f"move the file there, or use --{key} on the command line"
            raise self.key_error(key, problem, remedy)
        return path

    def parse_column_or_fixed_value(self, key: str, value: Any) -> str:
        if isinstance(value, Mapping):
            if [*value] != ["value"]:
                raise self.key_error(key, "this is a table", 'write a column, or {value = "TEXT"}')
            return f"{FIXED_VALUE_PREFIX}{_as_option_text(value['value'])}"
        if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
            value = ",".join(value)
        if not isinstance(value, str):
            raise self.key_error(key, f"{value} is not a column", "write its name in quotes")
        return parse_column_by_role({key: value})[key]

    def key_error(self, key: str, problem: str, remedy: str = "") -> ParameterError:
        return ParameterError(f"{self.key_place(key)}: {key}", problem, remedy, name="bad-map")

    def empty_value_error(self, key: str) -> ParameterError:
        lines = self.map_text.split("\n")[self.key_line_number(key) :]
        matches = (re.fullmatch(rf"# ({key}|all) = (.*)", line.strip()) for line in lines)
        choices = [
            re.sub(r" {2,}# ", " (", f"{match[1]} = {match[2]}") for match in matches if match
        ]
        texts = [f"{text})" if " (" in text else text for text in choices]
        remedy = f"choose one: {'; '.join(texts[:8])}" if texts else "name a column"
        remedy += f" and {len(texts) - 8} more" if len(texts) > 8 else ""
        return ParameterError(
            f"{self.key_place(key)}: {key}", "the key has no value yet", remedy, name="open-role"
        )

    def key_place(self, key: str) -> str:
        return (
            f"{self.map_path}:{self.key_line_number(key)}"
            if self.key_line_number(key)
            else self.map_path or "map"
        )

    def key_line_number(self, key: str) -> int:
        count = -1
        for number, line in enumerate(self.map_text.split("\n"), 1):
            if head := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(#.*)?$", line):
                inside = head[1].removeprefix("tool.passk.") == TABLE
                count += inside
            elif (
                count == self.table_index
                and inside
                and re.match(rf"\s*[\"']?{key}[\"']?\s*[.=]", line)
            ):
                return number
        return 0


def _as_option_text(value: Any) -> Any:
    """Convert each number or date in a map to text, as on the command line."""
    if isinstance(value, list | tuple):
        return [_as_option_text(item) for item in value]
    if isinstance(value, bool | str | Mapping):
        return value
    return str(value)


def map_folders(data: Any) -> Iterator[str]:
    """The folders that may contain a map: given folders, and the folders of given files."""
    for path in paths_in_data(data):
        path = split_label(path)[1]
        if path != "-" and "://" not in path:
            yield path if os.path.isdir(path) else os.path.dirname(path)


def _adjacent_map_path(data: Any) -> str:
    names = (os.path.join(folder, NAME) for folder in map_folders(data))
    return next((AdjacentMapPath(name) for name in names if os.path.isfile(name)), "")


def _fitting_map_or_reason(
    source: Source, maps: Sequence[ColumnMap], columns_of: Callable[[Source], Sequence[str]]
) -> ColumnMap | str:
    """The first table that covers a file, or the reason why no table covers the file."""
    candidates = [table for table in maps if table.matches_file_name(source)]
    if not candidates:
        return ""
    columns = columns_of(source)
    if any(
        {*written_columns} <= {*columns}
        for written_columns in (CONVERTED_TABLE_COLUMNS, COUNTS_COLUMNS, HISTORY_COLUMNS)
    ):
        return _OWN_OUTPUT_REASON
    lacking = [table.missing_required_columns(columns) for table in candidates]
    fits = next(
        (table for table, names in zip(candidates, lacking, strict=True) if not names), None
    )
    return fits or f", which has no column {first_few(lacking[0])}"
