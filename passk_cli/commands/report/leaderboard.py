"""The leaderboard of a page with estimates, possible ranks and ties of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from passk_cli.report.data_types import (
    ALWAYS,
    WARNING_SIGN,
    Cell,
    Column,
    Estimate,
    Leaderboard,
    LeaderboardRow,
    Report,
    Table,
)
from passk_cli.study.completeness import ModelLackingAttempts


class RanksAndTieLetters(NamedTuple):
    """The possible ranks of models by one metric, such as "1–3", and the letters that mark ties."""

    ranks: Mapping[str, str]
    tie_letters_by_model: Mapping[str, str]


def ranks_by_metric(compared: Report) -> dict[str, RanksAndTieLetters]:
    """Map each metric to the ranks in a report of `passk compare`, if the report has ranks."""
    table = next((t for t in compared.tables if t.columns[0].header == "rank"), None)
    if table is None:
        return {}
    heads = [column.header for column in table.columns]
    rows: list[dict[str, Any]] = [dict(zip(heads, row, strict=True)) for row in table.rows]
    first = next(head for head in heads[2:] if isinstance(rows[0][head], Estimate))
    at_others = "rank at "
    ranks = {h.removeprefix(at_others): h for h in heads if h.startswith(at_others)}
    return {
        metric: RanksAndTieLetters(
            {row["model"]: row[rank] or "" for row in rows},
            {row["model"]: row[metric].tie_letters for row in rows},
        )
        for metric, rank in {first: "rank", **ranks}.items()
    }


def leaderboard(
    estimates: Report,
    places: Mapping[str, RanksAndTieLetters],
    uneven: Sequence[ModelLackingAttempts] = (),
) -> tuple[Leaderboard, Report]:
    """Create the leaderboard, and add ranks and tie letters to the rows of `estimates`."""
    lacking = {
        model.series[0]: f"{model.actual:,} / {model.expected:,} {WARNING_SIGN}" for model in uneven
    }
    table = estimates.tables[0]
    visible = [at for at, column in enumerate(table.columns) if column.visibility == ALWAYS]
    numbers = [at for at in visible if isinstance(table.rows[0][at], Estimate)]
    model_at = next(at for at in visible if table.columns[at].header == "model")
    other_columns = [at for at in visible if at != model_at and at not in numbers]
    metrics = tuple(table.columns[at] for at in numbers)
    no_places = RanksAndTieLetters({}, {})
    ranked = [places.get(metric.header, no_places) for metric in metrics]
    entries = []
    for row in table.rows:
        model = str(row[model_at])
        cells = [cell for at in numbers for cell in [row[at]] if isinstance(cell, Estimate)]
        entries.append(LeaderboardRow(
            model,
            tuple(
                replace(cell, tie_letters=place.tie_letters_by_model.get(model, ""))
                for cell, place in zip(cells, ranked, strict=True)
            ),
            tuple(place.ranks.get(model, "") for place in ranked),
            tuple(
                lacking.get(model, row[at]) if table.columns[at].header == "attempts" else row[at]
                for at in other_columns
            ),
        ))  # fmt: skip
    order = {model: at for at, model in enumerate(ranked[0].ranks)}
    entries.sort(key=lambda entry: order.get(entry.model, len(order)))
    board = Leaderboard(metrics, tuple(table.columns[at] for at in other_columns), tuple(entries))
    rows = partial(_data_table_with_ranks_and_letters, estimates, places)
    return board, replace(estimates, tables=(board.table,), make_data_rows=rows)


def _data_table_with_ranks_and_letters(
    estimates: Report, places: Mapping[str, RanksAndTieLetters]
) -> Table:
    if not places:
        return estimates.data_table
    heads = [column.header for column in estimates.data_table.columns]
    model, metric = heads.index("model"), heads.index("metric")
    rows: list[tuple[Cell, ...]] = []
    for row in estimates.data_table.rows:
        at, name = places.get(str(row[metric]), RanksAndTieLetters({}, {})), str(row[model])
        rows.append((*row, at.ranks.get(name), at.tie_letters_by_model.get(name)))
    columns = (*estimates.data_table.columns, Column("rank"), Column("letters"))
    return Table(columns, tuple(rows))
