"""Columns in SQL: as text, as a list, as an expression compares them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passk_cli.errors import ParameterError
from passk_cli.files.layout import Layout
from passk_cli.files.roles import find
from passk_cli.files.sql import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb


# A number's text as a number to compare with: of up to 15 digits, whole ones of up to 38, any.
# Where one of the first two would not be exact it ends with an error, and the next is tried.
NUMBERS = (
    "CAST(CASE WHEN strlen({name}) > 15 AND NOT contains({name}, '.') THEN error('a long number')"
    " ELSE {name} END AS DOUBLE)",
    "CAST(CASE WHEN NOT regexp_full_match({name}, '[+-]?[0-9]+') THEN error('not a whole number')"
    " ELSE {name} END AS HUGEINT)",
    "CAST({name} AS DOUBLE)",
)
_QUOTES = " (text goes between single quotes)"
CONDITION = "write a condition on the columns, such as difficulty = 'hard'"


def columns_in(con: duckdb.DuckDBPyConnection, where: str, layouts: Sequence[Layout]) -> list[str]:
    """The columns a --where expression names; ParameterError when one of them is not there."""
    names = names_in(con, where)
    columns = {c for layout in layouts for c in layout.kinds}
    absent = [n for n in names if n not in columns]
    if absent:
        in_names = " (in the files' names? give --path, as '{model}_temp{temperature}.json')"
        hint = in_names if absent[0] in ("temperature", "temp") else _QUOTES
        raise ParameterError(
            f"--where {where}: no column {absent[0]!r}; there are {', '.join(sorted(columns))}"
            f"{hint}"
        )
    return names


def names_in(con: duckdb.DuckDBPyConnection, where: str) -> list[str]:
    """The names in a --where expression; ParameterError when it is not one expression."""
    if not where:
        return []
    tree = _parsed(con, where)
    if tree["error"]:
        syntax = tree["error_type"] == "parser"
        problem = tree["error_message"] if syntax else "not one expression"
        raise ParameterError(f"--where {where}: {problem}; {CONDITION}")
    if _without_condition(tree) != _without_condition(_parsed(con, "true")):
        raise ParameterError(f"--where {where}: not one expression; {CONDITION}")
    if _selects(tree["statements"][0]["node"]["where_clause"]):
        raise ParameterError(f"--where {where}: no SELECT and no tables here; {CONDITION}")
    names: list[str] = []
    _collect(tree, names)
    return list(dict.fromkeys(names))


def _parsed(con: duckdb.DuckDBPyConnection, where: str) -> dict[str, Any]:
    """DuckDB's syntax tree of a statement with this condition, or what is wrong with it.

    The line break ends a comment, which else would swallow what our statements say after it.
    """
    statement = f"SELECT 1 WHERE ({where}\n)"
    ((tree,),) = con.execute("SELECT json_serialize_sql($q)", {"q": statement}).fetchall()
    parsed: dict[str, Any] = json.loads(tree)
    return parsed


def _without_condition(tree: Mapping[str, Any]) -> list[Any]:
    """The statements of a tree with their conditions taken out."""
    return [{**s["node"], "where_clause": None} for s in tree["statements"]]


def _selects(node: object) -> bool:
    """Whether an expression holds a SELECT, which could name tables, files and addresses."""
    if isinstance(node, dict):
        return node.get("class") == "SUBQUERY" or any(map(_selects, node.values()))
    return isinstance(node, list) and any(map(_selects, node))


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
