"""Names and texts as SQL spells them."""

from __future__ import annotations

from collections.abc import Mapping

# The column that says which file a row is from: a name that no file's own column has.
FILE_COLUMN = "#source"
# The column that says where in its file a row of a spool stands.
PLACE_COLUMN = "#place"
# Folders named key=value must not become columns, which would take the place of those in the file.
AS_IT_IS = ", hive_partitioning=false"


def quote_name(name: str) -> str:
    """A column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A string for SQL."""
    return "'" + text.replace("'", "''") + "'"


def struct_sql(columns: Mapping[str, str]) -> str:
    """Column → type, for SQL."""
    return "{" + ", ".join(f"{quote_text(k)}: {quote_text(v)}" for k, v in columns.items()) + "}"
