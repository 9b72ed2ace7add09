"""The leaderboard: estimates, and the place of each model among those it was compared with."""

from __future__ import annotations

from dataclasses import replace

from passk_cli.report.model import ALWAYS, Cell, Report, Table

# Of a ranking, the columns that stand beside the estimates.
_PLACES = ("rank", "ahead of next")


def leaderboard(estimates: Report, differences: Report) -> Report:
    """The estimates with the places of the ranking beside them, where there is one."""
    table = estimates.tables[0]
    ranking = next((t for t in differences.tables if is_ranking(t)), None)
    if ranking is None:
        return estimates
    places = [_place(ranking, name) for name in _PLACES]
    model = _place(ranking, "model")
    rows = {row[model]: [row[place] for place in places] for row in ranking.rows}
    metric = ranking.columns[places[1] - 1].header
    columns = tuple(
        replace(ranking.columns[place], header=f"{name} at {metric}")
        for place, name in zip(places, _PLACES, strict=True)
    )
    none: list[Cell] = [None] * len(places)
    joined = Table(
        (*table.columns, *columns),
        tuple((*row, *rows.get(row[0], none)) for row in table.rows),
        table.title,
    )
    signs = differences.context.split(" · ")[0]
    return replace(
        estimates,
        tables=(joined, *estimates.tables[1:]),
        context=" · ".join(filter(None, (estimates.context, signs))),
    )


def without_ranking(differences: Report) -> Report:
    """The differences of all pairs, without the ranking."""
    others = (table for table in differences.tables if not is_ranking(table))
    return replace(differences, tables=tuple(replace(table, shown=ALWAYS) for table in others))


def is_ranking(table: Table) -> bool:
    names = [column.header for column in table.columns]
    return all(name in names for name in _PLACES)


def _place(table: Table, name: str) -> int:
    return [column.header for column in table.columns].index(name)
