"""A check of JSON by the part of JSON Schema that ours uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list,
    "object": dict, "null": type(None),
}  # fmt: skip
KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "type", "enum", "const", "properties",
    "required", "additionalProperties", "items", "anyOf", "minimum", "maximum", "minItems",
}  # fmt: skip


def errors(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    """Faults of a value by a schema.

    >>> list(errors({"a": 1}, {"properties": {"a": {"type": "string"}}}, {}))
    ["a: 1 is no ['string']"]
    """
    assert set(schema) <= KNOWN, schema
    if "$ref" in schema:
        yield from errors(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{value!r} is no {kinds}"
    if "const" in schema and value != schema["const"]:
        yield f"{value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is none of {schema['enum']}"
    if "anyOf" in schema:
        all_values = [list(errors(value, entry, root)) for entry in schema["anyOf"]]
        yield from [] if [] in all_values else min(all_values, key=len)
    if isinstance(value, int | float) and not (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
    ):
        yield f"{value!r} is out of range"
    if isinstance(value, list) and len(value) < schema.get("minItems", 0):
        yield "it is empty"
    properties = schema.get("properties", {})
    for name, content in value.items() if isinstance(value, dict) else ():
        if name in properties:
            yield from (f"{name}: {error}" for error in errors(content, properties[name], root))
        elif (rivals := schema.get("additionalProperties", True)) is False:
            yield f"{name} is not declared"
        elif isinstance(rivals, dict):
            yield from (f"{name}: {error}" for error in errors(content, rivals, root))
    yield from (f"{name} is absent" for name in schema.get("required", ()) if name not in value)
    if isinstance(value, list) and "items" in schema:
        for each in value:
            yield from errors(each, schema["items"], root)


def _is(value: Any, kind: str) -> bool:
    number = kind in ("integer", "number")
    return isinstance(value, _TYPES[kind]) and not (number and isinstance(value, bool))
