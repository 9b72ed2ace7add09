"""Names and texts as SQL spells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import has_magic

# The column that says which file a row is from: a name that no file's own column has.
FILE_COLUMN = "#source"
# The column that says where in its file a row of a spool stands.
PLACE_COLUMN = "#place"
# Folders named key=value must not become columns, which would take the place of those in the file.
AS_IT_IS = ", hive_partitioning=false"


def quote_name(name: str) -> str:
    """A column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def models_kept(model: str, models: Sequence[str], exclude_models: Sequence[str]) -> str:
    """The condition that a model, as SQL names it, is to be kept; "" where all are.

    models, exclude_models : names and patterns, as a request has them.
    """

    def fits(patterns: Sequence[str]) -> str:
        return " OR ".join(
            f"{model} = {quote_text(pattern)}"
            + f" OR {model} GLOB {quote_text(pattern)}" * has_magic(pattern)
            for pattern in patterns
        )

    kept, out = fits(models), fits(exclude_models)
    # A row without a model stays, to be refused as what it is.
    others = f"NOT coalesce({out}, false)"
    return " AND ".join([f"({kept})"] * bool(kept) + [others] * bool(out))


def quote_text(text: str) -> str:
    """A string for SQL."""
    return "'" + text.replace("'", "''") + "'"


def struct_sql(columns: Mapping[str, str]) -> str:
    """Column → type, for SQL."""
    return "{" + ", ".join(f"{quote_text(k)}: {quote_text(v)}" for k, v in columns.items()) + "}"
