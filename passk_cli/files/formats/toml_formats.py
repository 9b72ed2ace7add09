"""Formats of harnesses that TOML files in passk_cli/files/maps define, with one file per harness.

The table [format] of a TOML file contains the pass rule, the source of the layout, and an example.
The table [data] is a column map, like the maps that users write. The key `has` of this table lists
the keys by which passk recognises a record.  The key `scorers` names a list of {name, value} with
one entry per scorer, and each scorer is an outcome.  The key `error` contains the name of a field
and a value. An attempt ended with an error if this field has this value in the attempt's record.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passk_cli.files.formats import generic
from passk_cli.files.formats.format import (
    Example,
    File,
    Format,
    JudgedAttempts,
    OutcomeAndScoreByScorer,
    Row,
    RowRequest,
    contents_with_scorer_outcomes,
    judge_without_harness_pass_rule,
    number_attempts_per_task,
    reader_of_outcome_per_attempt,
    require_list,
    value_at_key_path,
)
from passk_cli.files.toml_map import ColumnMap, read_maps

_MAPS_FOLDER = Path(__file__).parents[1] / "maps"


def mapped_formats() -> list[Format]:
    """The formats of all TOML files, sorted by name."""
    return [_format_from_toml(path) for path in sorted(_MAPS_FOLDER.glob("*.toml"))]


def _format_from_toml(path: Path) -> Format:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    about, (table,) = document["format"], read_maps(document)

    def rows(file: File, request: RowRequest) -> Iterator[Row]:
        attempts = _rows(table, file, request)
        return iter(attempts) if "{" in table.records_key else number_attempts_per_task(attempts)

    return Format(
        path.stem,
        about["rule"],
        about["source"],
        lambda file: _has_all_keys_of_map(table, file),
        (
            lambda file: contents_with_scorer_outcomes(
                lambda: _attempts_judged_by_scorers(table, file, about)
            )
        )
        if "scorers" in about
        else reader_of_outcome_per_attempt(rows),
        tuple(about.get("covers", ())),
        example=Example(tuple(about["paths"]), about["example"].lstrip()),
    )


def _has_all_keys_of_map(table: ColumnMap, file: File) -> bool:
    """Whether the records of a file have all keys of a map. Records at the top of a file must not
    have any other keys."""
    if not table.records_key:
        return file.keys == {*table.required_columns}
    steps = [
        ".+" if step.startswith("{") else re.escape(step) for step in table.records_key.split(".")
    ]
    above = re.compile(rf"{'[.]'.join(steps)}(\[\])?[.]")
    inside = {above.sub("", key, 1) for key in file.keys if above.match(key)}
    return inside.issuperset(table.required_columns)


def _rows(table: ColumnMap, file: File, request: RowRequest) -> Iterator[Row]:
    numbered_records: Any = file.numbered_records(request)
    if table.records_key:
        records = generic.nested_records_format(table.records_key).read_contents(file).rows(request)
        numbered_records = enumerate(records, 1)
    passes, fails = (table.options.get(name, ()) for name in ("passes", "fails"))
    for number, record in numbered_records:
        values = {
            r: value_at_key_path(record, *name.split("."))
            for r, name in table.columns_by_role.items()
        }
        value = value_at_key_path(record, *table.options["outcome"].split("."))
        outcome = True if value in passes else False if value in fails else value
        task, attempt = values["task"], values.get("attempt", record.get("attempt"))
        above = ".".join(str(record.get(s.strip("{}"), s)) for s in table.records_key.split("."))
        place = f"{above}[{attempt}]" if above else f"line {number}"
        missed = table.records_key and attempt is None
        reason = "not attempted" if missed else "timeout" if value == "timeout" else ""
        solution = values.get("solution")
        yield Row(task, outcome, None, attempt, reason, solution=solution, place=place)


def _attempts_judged_by_scorers(
    table: ColumnMap, file: File, about: Mapping[str, Any]
) -> JudgedAttempts:
    key, failed = about.get("error", ("", None))
    for number, record in enumerate(file.records(*table.records_key.split(".")), 1):
        scores = require_list(file, about["scorers"], value_at_key_path(record, about["scorers"]))
        values = {
            r: value_at_key_path(record, *name.split("."))
            for r, name in table.columns_by_role.items()
        }
        reason = "error" if key and value_at_key_path(record, key) == failed else ""
        judgements: OutcomeAndScoreByScorer = {}
        for score in scores:
            name = str(value_at_key_path(score, "name"))
            judgement = judge_without_harness_pass_rule(value_at_key_path(score, "value"))
            # If two scores with the same name differ, the outcome becomes invalid.
            if judgements.setdefault(name, judgement) != judgement:
                judgements[name] = "several scores", None
        yield judgements, {**values, "reason": reason, "place": f"record {number}"}
