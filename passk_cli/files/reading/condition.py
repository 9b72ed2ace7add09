"""Check that the condition of --where is a single expression, and find the columns that it uses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from passk_cli.errors import ParameterError
from passk_cli.files.reading.layout import Batch
from passk_cli.limits import is_nested_deeper_than
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean, did_you_mean_or_list, list_known_names

_QUOTES_HINT = " (write text in single quotes)"
_RESERVED_WORDS_HINT = ' (write a column named like an SQL keyword in double quotes: "end" > 3)'
# The result of each function in ALLOWED_FUNCTIONS depends only on the row and is not much larger
# than the arguments of the function.
ALLOWED_FUNCTIONS = frozenset(
    "abs ceil concat contains date_part date_trunc ends_with exp floor greatest instr isfinite"
    " isinf isnan json_array_length json_contains json_exists json_extract json_extract_string"
    " json_type least left len length list_contains ln log log10 log2 lower ltrim nullif position"
    " regexp_extract regexp_full_match regexp_matches reverse right round rtrim sign split"
    " split_part sqrt starts_with strftime strlen strptime strpos struct_extract substr substring"
    " trim trunc upper".split()
)
_ALLOWED_OPERATORS = frozenset(
    "+ - * / // % ^ ** || & | ~ ~~ !~~ ~~* !~~* ~~~ -> ->> ^@ @> <@ && list_value row to_years"
    " to_months to_days to_hours to_minutes to_seconds".split()
)
# The syntax tree of a condition has at most _MAX_SYNTAX_TREE_DEPTH levels. A sum or NOT has two
# levels.
_MAX_SYNTAX_TREE_DEPTH = 200
CONDITION_REMEDY = "write a condition on the columns, such as difficulty = 'hard'"


def condition_columns(
    con: duckdb.DuckDBPyConnection, where: str, batches: Sequence[Batch]
) -> list[str]:  # fmt: skip
    """The columns that a --where expression uses. Raise ParameterError if a column does not
    exist."""
    names = names_in_condition(con, where)
    columns = {c for batch in batches for c in batch.layout.kinds_by_column}
    absent = [n for n in names if n not in columns]
    if absent:
        problem, settles = f"no column {absent[0]!r}", list[SuggestedFix]()
        roles = {
            role: column for batch in batches for role, column in batch.roles.columns().items()
        }
        if absent[0] in roles:
            problem += f"; {did_you_mean([roles[absent[0]]])}"
        elif absent[0] == "model":
            settles = [SuggestedFix({"--model": Placeholder("NAME")}, "keeps a model")]
        else:
            available = sorted(columns)
            known = list_known_names(available) + _QUOTES_HINT
            problem += f"; {did_you_mean_or_list(absent[0], available, known)}"
        option = OptionWithValue("--where", where)
        raise ParameterError(option, problem, name="no-such-column", settles=settles)
    return names


def names_in_condition(con: duckdb.DuckDBPyConnection, where: str) -> list[str]:
    """The names that a --where expression uses. Raise ParameterError if the expression is invalid,
    contains SELECT, or calls a function that is not allowed."""
    if not where:
        return []
    tree = _syntax_tree(con, where)
    if tree["error"]:
        syntax = tree["error_type"] == "parser"
        problem = (
            f"{tree['error_message']}{_RESERVED_WORDS_HINT}"
            if syntax
            else "the condition must be a single expression"
        )
        raise ParameterError(
            OptionWithValue("--where", where),
            f"{problem}; {CONDITION_REMEDY}",
            name="bad-condition",
        )
    wrapped_tree = _syntax_tree(con, f"len([{where}\n]) = 1") if ")" in where else tree
    same_statement = _statements_without_where_clause(tree) == _statements_without_where_clause(
        _syntax_tree(con, "true")
    )
    star = any(_tree_nodes_of_class(tree, "STAR")) and not any(
        _tree_nodes_of_class(tree, "SUBQUERY")
    )
    if wrapped_tree["error"] or not same_statement or star:
        raise ParameterError(
            OptionWithValue("--where", where),
            f"the condition must be a single expression; {CONDITION_REMEDY}",
            name="bad-condition",
        )
    # A condition must not contain a subquery, because a subquery could read other tables, files and
    # web addresses.
    if any(_tree_nodes_of_class(tree, "SUBQUERY")):
        raise ParameterError(
            OptionWithValue("--where", where),
            f"a condition must not contain SELECT or tables; {CONDITION_REMEDY}",
            name="bad-condition",
        )  # fmt: skip
    # The result of a condition must not depend on chance, time or settings, and must not fill the
    # memory.
    function_names = {str(node["function_name"]) for node in _tree_nodes_of_class(tree, "FUNCTION")}
    if forbidden := sorted(function_names - _ALLOWED_OPERATORS - ALLOWED_FUNCTIONS):
        problem = f"{forbidden[0]}() is not allowed in a condition"
        remedy = did_you_mean_or_list(
            forbidden[0],
            sorted(ALLOWED_FUNCTIONS),
            f"there are {', '.join(sorted(ALLOWED_FUNCTIONS))}",
        )
        raise ParameterError(
            OptionWithValue("--where", where), f"{problem}; {remedy}", name="bad-condition"
        )
    return list(
        dict.fromkeys(node["column_names"][0] for node in _tree_nodes_of_class(tree, "COLUMN_REF"))
    )


def condition_raising_on_mixed_types(con: duckdb.DuckDBPyConnection, where: str) -> str:
    """Replace comparisons such as = and IN by < in a condition, to find out whether the condition
    compares a string with a number.

    If < compares a string with a number, DuckDB raises an error. For =, DuckDB converts the string
    to a whole number, so '0.2' = 0 would be true.
    """
    tree = json.dumps(_tree_that_checks_types(_syntax_tree(con, where)))
    ((sql,),) = con.execute("SELECT json_deserialize_sql($tree)", {"tree": tree}).fetchall()
    return str(sql).removeprefix("SELECT 1 WHERE ")


def _tree_that_checks_types(node: Any) -> Any:
    if isinstance(node, list):
        return [_tree_that_checks_types(child) for child in node]
    if not isinstance(node, dict):
        return node
    node = {key: _tree_that_checks_types(child) for key, child in node.items()}
    if node.get("class") == "COMPARISON":
        return node | {"type": "COMPARE_LESSTHAN"}
    operands: list[Any] = []
    if node.get("type") in ("COMPARE_IN", "COMPARE_NOT_IN"):
        operands = node["children"]
    elif node.get("function_name") == "nullif":
        operands = [argument["expression"] for argument in node["arguments"]]
    if len(operands) < 2:
        return node
    common = {"alias": "", "query_location": 0}
    less = {"class": "COMPARISON", "type": "COMPARE_LESSTHAN", **common}
    comparisons = [{**less, "left": operands[0], "right": operand} for operand in operands[1:]]
    disjunction = {"class": "CONJUNCTION", "type": "CONJUNCTION_OR", **common}
    return {**disjunction, "children": [*comparisons, comparisons[0]]}


def _syntax_tree(con: duckdb.DuckDBPyConnection, where: str) -> dict[str, Any]:
    statement = f"SELECT 1 WHERE ({where}\n)"
    place, deep = (
        OptionWithValue("--where", where),
        f"the condition is nested too deeply; {CONDITION_REMEDY}",
    )
    ((tree,),) = con.execute("SELECT json_serialize_sql($q)", {"q": statement}).fetchall()
    try:
        parsed: dict[str, Any] = json.loads(tree)
    except RecursionError:
        raise ParameterError(place, deep, name="bad-condition") from None
    if is_nested_deeper_than(parsed, _MAX_SYNTAX_TREE_DEPTH):
        raise ParameterError(place, deep, name="bad-condition")
    return parsed


def _statements_without_where_clause(tree: Mapping[str, Any]) -> list[Any]:
    return [{**s["node"], "where_clause": None} for s in tree["statements"]]


def _tree_nodes_of_class(tree: object, kind: str) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        if tree.get("class") == kind:
            yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for child in tree:
            yield from _tree_nodes_of_class(child, kind)
