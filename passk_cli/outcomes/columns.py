"""Columns in SQL: as text, as a list, as an expression compares them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.outcomes.fields import find
from passk_cli.outcomes.layout import Layout, quote_name, quote_text

if TYPE_CHECKING:
    import duckdb


def columns_in(con: duckdb.DuckDBPyConnection, where: str, layouts: Sequence[Layout]) -> list[str]:
    """The columns a --where expression names; ParameterError when it is not an expression."""
    if not where:
        return []
    answer = con.execute(
        "SELECT json_serialize_sql($q)", {"q": f"SELECT 1 WHERE ({where})"}
    ).fetchall()
    tree = json.loads(answer[0][0])
    if tree["error"]:
        raise ParameterError(f"--where {where}: {tree.get('error_message', 'not an expression')}")
    names: list[str] = []
    _collect(tree, names)
    known = {c for layout in layouts for c in layout.kinds}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise ParameterError(
            f"--where {where}: no column {unknown[0]!r}; there are {', '.join(sorted(known))}"
            " (text goes between single quotes)"
        )
    return list(dict.fromkeys(names))


def _collect(node: object, names: list[str]) -> None:
    if isinstance(node, dict):
        if node.get("class") == "COLUMN_REF":
            names.append(node["column_names"][0])
        for child in node.values():
            _collect(child, names)
    elif isinstance(node, list):
        for child in node:
            _collect(child, names)


def _path(keys: Sequence[str]) -> str:
    return quote_text("$" + "".join('."' + key.replace('"', '\\"') + '"' for key in keys))


def text_sql(layout: Layout, column: str, nested: set[str]) -> str:
    """A column, or what a dotted path finds in one, as text; nested ones are read as JSON."""
    name, keys = find(column, layout.kinds) or (column, [])
    if layout.typed:
        return f"CAST({'.'.join(quote_name(k) for k in (name, *keys))} AS VARCHAR)"
    return f"({quote_name(name)} ->> {_path(keys)})" if name in nested else quote_name(name)


def list_sql(layout: Layout, column: str, nested: set[str]) -> str:
    """The same for a column of lists, as a list of texts."""
    name, keys = find(column, layout.kinds) or (column, [])
    if layout.typed:
        return f"CAST({'.'.join(quote_name(k) for k in (name, *keys))} AS VARCHAR[])"
    if name in nested:
        return f"CAST(json_extract({quote_name(name)}, {_path(keys)}) AS VARCHAR[])"
    return quote_name(name)


def where_sql(layout: Layout, column: str, nested: set[str]) -> str:
    """A column as an expression compares it: numbers as numbers, truth as truth."""
    if layout.typed or column in nested:
        return quote_name(column)
    kinds = layout.kinds.get(column, set()) - {"null"}
    if kinds in ({"number"}, {"bool"}):
        return f"CAST({quote_name(column)} AS {'DOUBLE' if kinds == {'number'} else 'BOOLEAN'})"
    return quote_name(column)
