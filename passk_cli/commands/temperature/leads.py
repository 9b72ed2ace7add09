"""Which of two models leads at which k and temperature, and where that turns round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from passk_cli.commands.temperature.rivals import Pairs, Rivals, heat, model_of
from passk_cli.message import Said
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Note, Table
from passk_cli.report.words import first_few, plural, series_name
from passk_cli.study.comparison import Comparison
from passk_cli.study.pairs import BETTER, UNDECIDED, WORSE
from passk_cli.study.values import Series, TaskValues

# Rank flips that a note spells out.
_FLIPS = 3
# More pairs of models than this are for programs to read.
_PAIRS_SHOWN = 28


@dataclass(frozen=True)
class Lead:
    """Two models (of one group) at every metric and temperature that both have.

    same : at one temperature.  own : metric → each at its own best one, first − second.
    """

    first: Series
    second: Series
    same: tuple[Comparison, ...]
    own: dict[Metric, Comparison]

    def where(self, verdict: str) -> list[Comparison]:
        """The (k, T) with this verdict of the first."""
        return [c for c in self.same if c.verdict == verdict]

    @property
    def flips(self) -> bool:
        """Whether each of the two leads somewhere."""
        return bool(self.where(BETTER) and self.where(WORSE))

    @property
    def turns(self) -> bool:
        """Whether the sign of the difference changes, significantly or not."""
        return len({c.difference > 0 for c in self.same if c.difference}) > 1


def model_pairs(values: Sequence[TaskValues], rivals: Sequence[Rivals]) -> Pairs:
    """Two models of a group at each metric: at the same temperature, and each at its best.

    The model that is better over all its metrics and temperatures comes first.
    """
    alike: dict[tuple[Metric, Series], list[TaskValues]] = {}
    means: dict[str, list[float]] = {}
    for rates in values:
        if rates.there:
            alike.setdefault((rates.metric, rates.series[1:]), []).append(rates)
            means.setdefault(rates.series[0], []).append(rates.mean)
    for model in rivals:
        alike.setdefault((model.metric, ("best", *model.model[1:])), []).append(model.best)
    order = {model: (-sum(each) / len(each), model) for model, each in means.items()}
    pairs: dict[tuple[Metric, Series, Series], tuple[TaskValues, TaskValues]] = {}
    for (metric, _), models in alike.items():
        for a, b in combinations(sorted(models, key=lambda rates: order[rates.series[0]]), 2):
            pairs.setdefault((metric, a.series, b.series), (a, b))
    return list(pairs.values())


def find_leads(comparisons: Sequence[Comparison], rivals: Sequence[Rivals]) -> list[Lead]:
    """The comparisons of `model_pairs`, per pair of models; pairs that flip first."""
    best = {(rival.model, rival.metric): rival.best.series for rival in rivals}
    by_pair: dict[tuple[Series, Series], list[Comparison]] = {}
    for c in comparisons:
        pair = (model_of(c.first.series), model_of(c.second.series))
        by_pair.setdefault(pair, []).append(c)
    leads = []
    for (first, second), each in by_pair.items():
        same = [c for c in each if heat(c.first) == heat(c.second)]
        same.sort(key=lambda c: float(heat(c.first)))
        own = {
            c.first.metric: c
            for c in each
            if best.get((first, c.first.metric)) == c.first.series
            and best.get((second, c.first.metric)) == c.second.series
        }
        leads.append(Lead(first, second, tuple(same), own))
    return sorted(leads, key=lambda lead: not lead.flips)


def lead_tables(
    groups: Sequence[str], metrics: Sequence[Metric], leads: Sequence[Lead]
) -> list[Table]:
    """At which (k, T) each of two models leads, and with each at its own best temperature."""
    listed_leads = [lead for lead in leads if len(leads) <= _PAIRS_SHOWN or lead.flips]
    rows: list[tuple[Cell, ...]] = []
    for lead in listed_leads:
        (first, *group), second = lead.first, lead.second[0]
        for model, sign, other, verdict in (
            (first, "better than", second, BETTER),
            (second, "better than", first, WORSE),
            (first, "tied with", second, UNDECIDED),
        ):
            where = places(lead, verdict, metrics)
            if where:
                rows.append((model, sign, other, *group, where))
    columns = (
        Column("model"), Column("verdict"), Column("other model"), *map(Column, groups),
        Column("at"),
    )  # fmt: skip
    title = (
        "Which model is better where (own T*: each at its best temperature, chosen on these tasks)"
    )
    return [Table(columns, tuple(rows), title)] if rows else []


def lead_notes(leads: Sequence[Lead], metrics: Sequence[Metric]) -> list[Said]:
    """Rank flips in words, those that are not significant, and what the pairs leave out."""
    flips = [
        f"{series_name(lead.first)} is significantly better at"
        f" {places(lead, BETTER, metrics, own=False)}; {series_name(lead.second)} at"
        f" {places(lead, WORSE, metrics, own=False)}"
        for lead in leads
        if lead.flips
    ]
    notes = []
    if flips:
        more = f"; and {plural(len(flips) - _FLIPS, 'more pair')}" * (len(flips) > _FLIPS)
        notes.append(Note(f"rank flip: {', and '.join(flips[:_FLIPS])}{more}"))
    partial = {id(c) for lead in leads for c in (*lead.same, *lead.own.values())
               if c.only_first or c.only_second}  # fmt: skip
    if partial:
        notes.append(
            Note(
                f"{plural(len(partial), 'comparison')} of two models left out tasks that only one"
                " of them has",
                "warning",
            )
        )
    turns = [f"{series_name(lead.first)} and {series_name(lead.second)}"
             for lead in leads if not lead.flips and lead.turns]  # fmt: skip
    if turns:
        notes.append(
            Note(
                f"no significant rank flip, though estimates change order over k and T:"
                f" {first_few(turns)}"
            )
        )
    if len(leads) > _PAIRS_SHOWN:
        text = f"of {len(leads)} pairs of models only those with a rank flip are listed"
        if not flips:
            text = (
                f"none of {len(leads)} pairs of models has a significant rank flip: none is listed"
            )
        notes.append(Note(f"{text}; -f csv or -f json holds them all"))
    return notes


def places(lead: Lead, verdict: str, metrics: Sequence[Metric], *, own: bool = True) -> str:
    """ "T 0.2, 0.8 (k = 1, 10), own T* (k = 10)"; metrics by name where not all are pass@k."""
    plain = all(metric.family == "pass@" for metric in metrics)
    at: dict[str, list[str]] = {}
    for c in lead.where(verdict):
        at.setdefault(heat(c.first), []).append(_short(c.first.metric, plain))
    same: dict[str, list[str]] = {}
    for temperature, ks in at.items():
        same.setdefault(", ".join(ks), []).append(temperature)
    where = {ks: f"T {', '.join(temperatures)}" for ks, temperatures in same.items()}
    own_ks = ", ".join(_short(m, plain) for m, c in lead.own.items() if c.verdict == verdict)
    if own and own_ks:
        where[own_ks] = " and own T*".join((where[own_ks], "")) if own_ks in where else "own T*"
    k = "k = " if plain else ""
    return ", ".join(f"{temperatures} ({k}{ks})" for ks, temperatures in where.items())


def _short(metric: Metric, plain: bool) -> str:
    return str(metric.k) if plain else metric.name
