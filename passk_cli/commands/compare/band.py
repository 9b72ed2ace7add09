"""Band: which model is ahead at each k, of every pair and curve, as people read it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passk_cli.commands.compare.leads import UNKNOWN, Band
from passk_cli.message import NOTE, WARNING, Message, Said
from passk_cli.report.model import FULL, Column, Sentence
from passk_cli.report.plot import Plot, Rule, curves
from passk_cli.report.words import listed
from passk_cli.study.comparison import Comparison
from passk_cli.study.fact import Fact
from passk_cli.study.pairs import BETTER, WORSE
from passk_cli.study.rules import UNADJUSTED
from passk_cli.study.section import AGAINST, GROUPS, MODEL, Section, data_field

# Bands listed without --full, and pairs that a chart has room for.
MOST_LISTED, _MOST_DRAWN = 56, 8
_ONE_OF_TWO = "for these tasks only pass@k and pass^k have one"

NO_BAND = Message(
    "no-band", NOTE, "no band of {metrics}: {reason}",
    meaning="A band needs a metric of k that is computed from counts of passes; for these tasks,"
    " pass@k or pass^k.")  # fmt: skip
SOME_KS = Message(
    "band-at-some-k", NOTE, "the band is computed at {ks} k's up to {last}; ranges end at one of"
    " them",
    meaning="Of long curves some k's are computed, evenly spread on a logarithmic scale.",
)  # fmt: skip
NO_LIMITS = Message(
    "no-limits-of-band", WARNING, "no band at {places}: {reason}",
    meaning="At these k's the method has no interval, and so no verdict.")  # fmt: skip


def _pair_name(band: Band) -> str:
    first, second = band.comparison.first.series, band.comparison.second.series
    names = f"{first[0]} − {second[0]}"
    return " · ".join([names, *(group or '""' for group in first[1:])])


@dataclass(frozen=True)
class Bands(Section[Band]):
    """The model that is ahead at each k, of every pair and curve.

    comparisons : all pairs, with those that have no band.
    """

    title = "Which model leads at which k"
    columns = (
        MODEL,
        AGAINST,
        GROUPS,
        Column("curve", meaning="The metric over k.", cell=lambda band: band.curve),
        Column(
            "model against the other", meaning="Verdict at each k: tied where 0 lies in the band.",
            cell=lambda band: band.sentence),
        Column(
            "may cross at", meaning="The k's at which the other model can overtake; with the level"
            " of the band, it overtakes at no other.", cell=lambda band: band.crossing_words),
        *(
            Column(f"at the {word} k", "share", shown=FULL,
                   meaning=f"Difference, model minus other, at the {word} k, with its band.",
                   cell=lambda band, place=place: band.points[place].estimate)
            for word, place in (("first", 0), ("last", -1))
        ),
        data_field("band", '"simultaneous" in rows of a band.'),
        data_field("pointwise_level", "Level of the interval at each k by itself."),
        data_field("range_first", "First k of the range that shares the verdict."),
        data_field("range_last", "Last k of that range."),
        data_field("crossing", "Whether one model may overtake the other at this k: no, possible or"
                   " certain (somewhere in the range)."),
    )  # fmt: skip

    comparisons: Sequence[Comparison]

    def facts_of(self, record: Band) -> Iterator[Fact]:
        return record.rows

    def answer(self) -> Iterator[Sentence]:
        ahead = [
            band for band in self.records if {BETTER, WORSE} & {p.verdict for p in band.points}
        ]
        first = next(iter(ahead or self.records), None)
        if first is None:
            return
        sentence = f"{_pair_name(first)}, {first.curve}: {first.sentence}."
        if len(self.records) == 1:
            yield (sentence,)
        elif ahead:
            yield (f"{len(ahead)} of {len(self.records):,} differences are significant at some k;"
                   f" {sentence}",)  # fmt: skip
        else:
            yield (f"All differences are tied at every k ({len(self.records):,} curves).",)

    def context(self) -> Iterator[str]:
        yield f"band: {100 * self.study.confidence.level:g} % simultaneous"

    def details(self) -> list[str]:
        study, count = self.study, Counter(band.curve for band in self.records)
        pairs = max(count.values())
        levels = sorted({100 * band.level for band in self.records})
        # To the digits in which they differ from 100: 99.7, 99.998.
        ends = dict.fromkeys(
            f"{level:.{max(1, math.ceil(1 - math.log10(100 - level)))}f}" if level < 100 else "100"
            for level in (levels[0], levels[-1])
        )
        over = "all k together, each curve by itself"
        if pairs > 1 and study.rules.adjust == UNADJUSTED:
            over = "all k together, each pair and curve by itself"
        elif pairs > 1:
            over = f"all k and {pairs:,} pairs together (Bonferroni), each curve by itself"
        margin = study.rules.margin
        method = self.records[0].points[0].method
        return [
            f"band: {100 * study.confidence.level:g} % for {over} ({method} intervals of"
            f" {'–'.join(ends)} % at each k)",
            f"equivalent at a k: the band lies within ±{margin:g} and holds 0" if margin else "",
        ]

    def messages(self) -> Iterator[Said]:
        drawn = {band.comparison.first.metric.family for band in self.records}
        families = dict.fromkeys(c.first.metric for c in self.comparisons if not c.reason)
        for counted, reason in ((True, _ONE_OF_TWO), (False, "it is no curve over k")):
            names = [
                metric.name for metric in families
                if metric.family not in drawn and metric.kind.counted == counted
            ]  # fmt: skip
            if names:
                yield NO_BAND(metrics=names, reason=reason)
        for band in self.records:
            last = int(band.ks[-1])
            if len(band.ks) < last:
                yield SOME_KS(ks=len(band.ks), last=last)
                break
        lacking = [p for band in self.records for p in band.points if p.verdict == UNKNOWN]
        for reason in dict.fromkeys(point.flaw for point in lacking):
            places = dict.fromkeys(p.name for p in lacking if p.flaw == reason)
            yield NO_LIMITS(places=list(places), reason=reason)

    def plots(self) -> tuple[Plot, ...]:
        every = list(dict.fromkeys(map(_pair_name, self.records)))
        pairs = every[:_MOST_DRAWN]
        rows = [
            {
                "pair": _pair_name(band), "curve": band.curve, "k": point.k,
                "difference": point.estimate.value, "low": point.estimate.low,
                "high": point.estimate.high,
            }
            for band in self.records
            if _pair_name(band) in pairs
            for point in band.points
        ]  # fmt: skip
        part = f"{len(pairs)} of {len(every)} pairs" if len(every) > len(pairs) else ""
        alone = len(pairs) == 1
        chart = curves(
            rows, x="k", y="difference", low="low", high="high", dash="curve",
            facet="" if alone else "pair", rules=[Rule(y=0.0, dashed=False)],
            title=f"{self.title}: {pairs[0]}" if alone else self.title,
            subtitle=" · ".join(filter(None, [*self.details(), part])), x_title="k (attempts)",
            y_title=f"difference in {listed(list(dict.fromkeys(b.curve for b in self.records)))}",
            y_domain=None, shares=self.study.metrics[0].unit == "share",
        )  # fmt: skip
        return (chart,)
