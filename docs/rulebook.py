"""JSON Schema of a file of rules, for editors, made from declarations: `python -m docs.renew`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from passk_cli.commands.gate.rulebook import (
    OPTIONS_SAME_FOR_ALL_SUITES,
    SUITE,
    TREND,
    QuarantinedTask,
    SuiteKeyValues,
    gate_option_by_key,
    trend_option_by_key,
)
from passk_cli.files.roles import ROLES
from passk_cli.files.toml_map import TABLE, option_by_map_key
from passk_cli.option import DeclaredOption, options_by_field

PAGE = Path(__file__).parent / "passk.schema.json"
_NUMBERS = {bool: "boolean", int: "integer", float: "number"}


def page() -> str:
    """The schema as text."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """The schema: keys are options without hyphens before them, also with underscores."""
    every = gate_option_by_key()
    own = {
        key: each for key, each in every.items() if each.field not in OPTIONS_SAME_FOR_ALL_SUITES
    }
    suite = _table({**_keys(own), **_properties(options_by_field(SuiteKeyValues).values())})
    suite["required"] = ["name", "runs"]
    # What a file says of a task; the run counts the rest.
    written = [
        name for name in QuarantinedTask._fields if name not in QuarantinedTask._field_defaults
    ]
    suite["properties"]["quarantine"] = {
        "description": _words(options_by_field(SuiteKeyValues)["quarantine"]),
        "type": "array",
        "items": {
            "type": "object", "required": written, "additionalProperties": False,
            "properties": {name: {"type": "string"} for name in written},
        },
    }  # fmt: skip
    top = _keys(every)
    top[SUITE] = {"type": "array", "minItems": 1, "items": suite}
    of_trend = trend_option_by_key()
    top[TREND] = {**_table(_keys(of_trend)), "required": ["history"]}
    text = {"type": "string"}
    texts = {"anyOf": [text, {"type": "array", "items": text}]}
    value = {"type": "object", "required": ["value"], "properties": {"value": text}}
    column = {"$ref": "#/$defs/column"}
    data = _table(
        {**_keys(option_by_map_key()), **dict.fromkeys(ROLES, column), "files": texts, "has": texts}
    )
    item = {"$ref": "#/$defs/data"}
    top[TABLE] = {"anyOf": [item, {"type": "array", "items": item}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of passk gate",
        **_table(top),
        "$defs": {
            "column": {"anyOf": [*texts["anyOf"], value]},
            "data": data,
        }
        | {
            each.option.name.lstrip("-"): _property(each)
            for each in (
                *of_trend.values(),
                *every.values(),
                *options_by_field(SuiteKeyValues).values(),
            )
        },
    }


def _keys(every: Mapping[str, DeclaredOption]) -> dict[str, Any]:
    """Every spelling of options as keys."""
    spelled = {**every, **{key.replace("-", "_"): each for key, each in every.items()}}
    return {
        key: {"$ref": f"#/$defs/{each.option.name.lstrip('-')}"}
        for key, each in sorted(spelled.items())
    }


def _properties(every: Iterable[DeclaredOption]) -> dict[str, Any]:
    return _keys({each.option.name.lstrip("-"): each for each in every})


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _words(each: DeclaredOption) -> str:
    summary = each.option.help.removesuffix(":")
    stop = "" if not summary or summary.endswith((".", "?")) else "."
    return f"{summary}{stop} {each.option.detail_with_choices}".strip()


def _property(each: DeclaredOption) -> dict[str, Any]:
    """The values of one option."""
    option, kind = each.option, _NUMBERS.get(each.base_type, "")
    single: dict[str, Any] = {"type": kind or ["string", "number"]}
    if isinstance(option.choices, tuple) and option.choices:
        single = {"enum": list(option.choices)}
    least, most = "minimum", "maximum"
    if option.excludes_limits:
        least, most = "exclusiveMinimum", "exclusiveMaximum"
    if option.low is not None:
        single[least] = option.low
    if option.high is not None:
        single[most] = option.high
    if each.base_type is Mapping:
        single = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
    if each.repeatable or not (kind or option.choices):
        single = {"anyOf": [single, {"type": "array", "items": {"type": ["string", "number"]}}]}
        if each.base_type is Mapping:
            single["anyOf"][1]["items"] = {"type": "string"}
    return {"description": _words(each), **single}
