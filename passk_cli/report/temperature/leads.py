"""Which of two models leads at which k and temperature, and where that turns round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from passk_cli.report.model import Cell, Column, Note, Table
from passk_cli.report.notes import plural
from passk_cli.report.pairs import BETTER, UNDECIDED, WORSE, Comparison
from passk_cli.report.temperature.best import Pairs, Rivals, heat, model_of

if TYPE_CHECKING:
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.samples import Measured

# More pairs of models than this are for programs to read.
_PAIRS_SHOWN = 28


@dataclass(frozen=True)
class Lead:
    """Two models (of one group) at every metric and temperature that both have.

    same : at one temperature.  own : metric → each at its own best one, first − second.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    same: tuple[Comparison, ...]
    own: dict[Metric, Comparison]

    def where(self, verdict: str) -> list[Comparison]:
        """The (k, T) with this verdict of the first."""
        return [c for c in self.same if c.verdict == verdict]

    @property
    def flips(self) -> bool:
        """Whether each of the two leads somewhere."""
        return bool(self.where(BETTER) and self.where(WORSE))


def model_pairs(measured: Sequence[Measured], found: Sequence[Rivals]) -> Pairs:
    """Two models of a group at each metric: at the same temperature, and each at its best.

    The model that is better over all its metrics and temperatures comes first.
    """
    alike: dict[tuple[Metric, tuple[str, ...]], list[Measured]] = {}
    means: dict[str, list[float]] = {}
    for one in measured:
        if one.values is not None:
            alike.setdefault((one.metric, one.series[1:]), []).append(one)
            means.setdefault(one.series[0], []).append(float(one.values.mean()))
    for rivals in found:
        alike.setdefault((rivals.metric, ("best", *rivals.model[1:])), []).append(rivals.best)
    order = {model: (-sum(values) / len(values), model) for model, values in means.items()}
    pairs: dict[tuple[Metric, tuple[str, ...], tuple[str, ...]], tuple[Measured, Measured]] = {}
    for (metric, _), mine in alike.items():
        for a, b in combinations(sorted(mine, key=lambda one: order[one.series[0]]), 2):
            pairs.setdefault((metric, a.series, b.series), (a, b))
    return list(pairs.values())


def find_leads(compared: Sequence[Comparison], found: Sequence[Rivals]) -> list[Lead]:
    """The comparisons of `model_pairs`, per pair of models; pairs that flip first."""
    best = {(rivals.model, rivals.metric): rivals.best.series for rivals in found}
    by_pair: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Comparison]] = {}
    for c in compared:
        by_pair.setdefault((model_of(c.first), model_of(c.second)), []).append(c)
    leads = []
    for (first, second), mine in by_pair.items():
        same = [c for c in mine if heat(c.first) == heat(c.second)]
        same.sort(key=lambda c: float(heat(c.first)))
        own = {
            c.first.metric: c
            for c in mine
            if best.get((first, c.first.metric)) == c.first.series
            and best.get((second, c.first.metric)) == c.second.series
        }
        leads.append(Lead(first, second, tuple(same), own))
    return sorted(leads, key=lambda lead: not lead.flips)


def lead_tables(counts: Counts, metrics: Sequence[Metric], leads: Sequence[Lead]) -> list[Table]:
    """At which (k, T) each of two models leads, and with each at its own best temperature."""
    shown = [lead for lead in leads if len(leads) <= _PAIRS_SHOWN or lead.flips]
    rows: list[tuple[Cell, ...]] = []
    for lead in shown:
        (first, *group), second = lead.first, lead.second[0]
        for model, sign, other, verdict in (
            (first, "leads", second, BETTER),
            (second, "leads", first, WORSE),
            (first, "~", second, UNDECIDED),
        ):
            where = places(lead, verdict, metrics)
            if where:
                rows.append((model, sign, other, *group, where))
    columns = (
        Column("model"), Column("verdict"), Column("against"),
        *(Column(g) for g in counts.group_names[1:]), Column("at"),
    )  # fmt: skip
    title = "who leads where (own T*: each at its best temperature, chosen on the same tasks)"
    return [Table(columns, tuple(rows), title)] if rows else []


def lead_notes(leads: Sequence[Lead], metrics: Sequence[Metric]) -> list[Note]:
    """The rank flips in words, and those that the data does not bear out."""
    notes = [
        Note(
            f"rank flip: {spoken(lead.first)} leads at {places(lead, BETTER, metrics, own=False)};"
            f" {spoken(lead.second)} at {places(lead, WORSE, metrics, own=False)}"
        )
        for lead in leads
        if lead.flips
    ]
    turned = [lead for lead in leads if not lead.flips and _order_changes(lead)]
    if turned:
        one = turned[0]
        notes.append(
            Note(
                f"the order of {plural(len(turned), 'pair')} of models changes over (k, T), but one"
                f" of the two leads is not significant ({spoken(one.first)},"
                f" {spoken(one.second)}): no flip"
            )
        )
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
    if len(leads) > _PAIRS_SHOWN:
        told = f"of {len(leads)} pairs of models only those that flip are listed"
        if not any(lead.flips for lead in leads):
            told = (
                f"no pair of models changes places, of {len(leads)}, with both leads significant:"
                " none is listed"
            )
        notes.append(Note(f"{told}; -f csv or -f json holds them all"))
    return notes


def places(lead: Lead, verdict: str, metrics: Sequence[Metric], *, own: bool = True) -> str:
    """ "T=0.2,0.8, k=1,10; own T*, k=10"; metrics by name where they are not all pass@k."""
    plain = all(metric.family == "pass@" for metric in metrics)
    at: dict[str, list[str]] = {}
    for c in lead.where(verdict):
        at.setdefault(heat(c.first), []).append(_short(c.first.metric, plain))
    same: dict[str, list[str]] = {}
    for temperature, ks in at.items():
        same.setdefault(",".join(ks), []).append(temperature)
    own_ks = [_short(m, plain) for m, c in lead.own.items() if c.verdict == verdict]
    k = "k=" if plain else ""
    told = [f"T={','.join(temperatures)}, {k}{ks}" for ks, temperatures in same.items()]
    return "; ".join([*told, *([f"own T*, {k}{','.join(own_ks)}"] if own and own_ks else [])])


def _short(metric: Metric, plain: bool) -> str:
    return str(metric.k) if plain else metric.name


def spoken(model: tuple[str, ...]) -> str:
    """The model and its groups, for people."""
    return " ".join(part or '""' for part in model)


def _order_changes(lead: Lead) -> bool:
    signs = {(c.difference or 0.0) > 0 for c in lead.same if c.difference}
    return len(signs) > 1
