"""The leaderboard: estimates, and the place of each model among those it was compared with."""

from __future__ import annotations

from dataclasses import replace

from passk_cli.report.model import Cell, Column, Report, Table

# Of a ranking, what stands beside the estimates; P(best) is called leads there.
_PLACES = ("tied", "leads", "rank")


def leaderboard(estimates: Report, differences: Report) -> Report:
    """The estimates with the places of the first ranking beside them, where there is one."""
    table = estimates.tables[0]
    ranking = next((t for t in differences.tables if is_ranking(t)), None)
    if ranking is None:
        return estimates
    places = [_place(ranking, name) for name in _PLACES]
    rows = {row[0]: [row[place] for place in places] for row in ranking.rows}
    metric = ranking.columns[1].name
    columns = tuple(replace(ranking.columns[place], name=_heading(ranking.columns[place], metric))
                    for place in places)  # fmt: skip
    none: list[Cell] = [None] * len(places)
    joined = Table(
        (*table.columns, *columns),
        tuple((*row, *rows.get(row[0], none)) for row in table.rows),
        table.title,
    )
    words = next((part for part in differences.context.split(" · tied: ")[1:]), "")
    caption = f"{estimates.context} · tied: {words}" if words else estimates.context
    return replace(estimates, tables=(joined, *estimates.tables[1:]), context=caption)


def without_ranking(differences: Report) -> Report:
    """The differences, with the rankings after them, and without the one of the leaderboard."""
    rankings = [table for table in differences.tables if is_ranking(table)]
    others = [table for table in differences.tables if not is_ranking(table)]
    titled = (replace(table, title=f"Ranking at {table.columns[1].name}") for table in rankings[1:])
    return replace(differences, tables=(*others, *titled))


def is_ranking(table: Table) -> bool:
    names = [column.header for column in table.columns]
    return all(name in names for name in _PLACES)


def _place(table: Table, name: str) -> int:
    return [column.header for column in table.columns].index(name)


def _heading(column: Column, metric: str) -> str:
    return f"{column.header} at {metric}"
