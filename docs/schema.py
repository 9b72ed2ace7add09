"""JSON Schema of the documents of `-f json`, made from the declarations: `python -m docs.renew`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.render.csv_json import REPORT_SCHEMA_VERSION
from passk_cli.study.result import SHARED_FIELDS

PAGE = Path(__file__).parent / "report.schema.json"
TEXT, NUMBER = {"type": "string"}, {"type": ["number", "null"]}
_TEXTS = {"model", "interval", "population", "note"}
_TEXTS_OR_NOTHING = {"against", "metric", "verdict"}
_COUNTS = {"k", "tasks", "n_min", "n_max"}


def page() -> str:
    """The schema as text."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """The schema: one document, with a kind of row for each command."""
    message = {
        "name": _said(TEXT, "Its name, as in passk help NAME."),
        "severity": {"enum": ["note", "warning", "error"]},
        "text": _said(TEXT, "Its words, with default rounding."),
        "fields": _said({"type": "object"}, "What its words name: field → value."),
        "remedies": _said({"type": "array", "items": TEXT}, "Whole commands that settle it."),
    }
    answer = {
        "name": _said(TEXT, "The name of a sentence of the answer."),
        "fields": _said({"type": "object"}, "What its words name: field → value."),
    }
    document = {
        "schema": {"const": REPORT_SCHEMA_VERSION},
        "result": _said(
            {"enum": ["pass", "fail", "rehearsal", "not yet"]}, "Of gate, watch: the verdict."
        ),
        "exit": _said({"type": "integer"}, "Of gate, watch: the exit code."),
        "answer": _said(TEXT, "What was found, in a sentence or two."),
        "answers": {"type": "array", "items": {"$ref": "#/$defs/answer"}},
        "rows": {
            "type": "array",
            "items": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in COMMANDS]},
        },
        "columns": {"type": "array", "items": {"type": "object"}},
        "messages": {"type": "array", "items": {"$ref": "#/$defs/message"}},
        "context": _said(TEXT, "What was counted, and how certain it is."),
        "signature": _said({"type": "object"}, "Options that reproduce the numbers."),
        "methods": {
            "type": "object", "properties": {"text": TEXT, "bibtex": TEXT},
            "required": ["text", "bibtex"], "additionalProperties": False,
        },
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": REPORT_SCHEMA_VERSION,
        "type": "object",
        "properties": document,
        "required": ["schema", "rows", "messages", "context", "signature"],
        "additionalProperties": False,
        "$defs": {
            "message": {
                "type": "object", "properties": message, "required": list(message),
                "additionalProperties": False,
            },
            "answer": {
                "type": "object", "properties": answer, "required": list(answer),
                "additionalProperties": False,
            },
            **{name: _row(name) for name in COMMANDS},
        },
    }  # fmt: skip


def _row(name: str) -> dict[str, Any]:
    """A row of a command; further properties are the columns of --by."""
    fields = {
        field: _said(_type(field), meaning)
        for field, meaning in load_command(name).runner_class.data_field_meanings().items()
    }
    return {"type": "object", "properties": fields}


def _type(field: str) -> dict[str, Any]:
    """The type of a field that every command has; of another, any that is no object."""
    if field in _TEXTS:
        return TEXT
    if field in _TEXTS_OR_NOTHING:
        return {"type": ["string", "null"]}
    if field in _COUNTS:
        return {"type": ["integer", "null"]}
    if field in {column.field_name for column in SHARED_FIELDS}:
        return NUMBER
    return {"type": ["string", "number", "boolean", "array", "null"]}


def _said(kind: dict[str, Any], meaning: str) -> dict[str, Any]:
    return {**kind, "description": meaning}
