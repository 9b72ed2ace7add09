"""The report of a comparison: its tables, its chart, and what was left out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from passk_cli.commands.compare.answer import change_answer, compare_answer
from passk_cli.commands.compare.band import (
    band_notes,
    band_plots,
    band_tables,
    band_words,
    find_bands,
)
from passk_cli.commands.compare.change import change_table, change_values
from passk_cli.commands.compare.crossings import crossing_table, crossing_words, find_crossings
from passk_cli.commands.compare.pairs import (
    Pair,
    baseline_table,
    choose_pairs,
    drawn,
    listed,
    listed_words,
    pair_table,
)
from passk_cli.commands.compare.ranking import (
    Rank,
    find_ranks,
    lead_notes,
    rank_words,
    ranking_tables,
)
from passk_cli.commands.tasks import ROWS
from passk_cli.commands.tasks.flips import (
    Flips,
    Side,
    find_flips,
    flips_caption,
    flips_facts,
    flips_notes,
    flips_tables,
)
from passk_cli.errors import ParameterError
from passk_cli.inference.intervals import TANGO
from passk_cli.message import Said
from passk_cli.metrics.registry import Change
from passk_cli.report.model import Note, Report, Table
from passk_cli.report.plot import Plot, Rule, forest
from passk_cli.report.words import plural, series_name, span
from passk_cli.study.adjustment import Adjustment
from passk_cli.study.comparison import Comparison
from passk_cli.study.influence import decided_by_few, influence_words
from passk_cli.study.pairs import BETTER, WORSE, compare_pairs
from passk_cli.study.rules import MAX_T, UNADJUSTED
from passk_cli.study.study import Study


def compare_report(
    study: Study,
    baseline: str | None = None,
    *,
    crossings: bool = False,
    band: bool = False,
    flips: bool = False,
    change: Change | None = None,
    further: Sequence[Table] = (),
) -> Report:
    """Differences, p-values and verdicts; a ranking with letters when all pairs are compared.

    crossings : also the k at which one model overtakes another.  band : also which one leads at
    which k.  flips : also the tasks that pass in one model and fail in the other.
    change : whose differences between the models are tested as well.
    further : tables to show as well.
    """
    confidence, rules = study.confidence, study.rules
    if study.bounded:
        _require_curves(crossings=crossings, band=band)
    if flips and study.bounded:
        raise ParameterError(
            "--flips: with --missing bounds a task may flip with each missing outcome; use"
            " --missing fail or drop"
        )
    changes = [] if change is None else change_values(study, change)
    compared = compare_pairs(choose_pairs(study, baseline, changes), confidence, rules)
    comparisons = [c for c in compared if c.first.metric != change]
    ranks = [] if baseline is not None else list(find_ranks(comparisons, confidence))
    crossed = find_crossings(comparisons, confidence) if crossings else {}
    rank_of = {(rank.values.series, rank.values.metric): rank for rank in ranks}
    pairs = [
        Pair(
            c, c.fact(confidence),
            (rank_of.get((c.first.series, metric)), rank_of.get((c.second.series, metric))),
            crossed.get((c.first.series, c.second.series, metric.family)),
        )
        for c in compared
        for metric in [c.first.metric]
    ]  # fmt: skip
    rows = [pair.row for pair in pairs]
    changed = [pair for pair in pairs if pair.metric == change]
    pairs = [pair for pair in pairs if pair.metric != change]
    answer = compare_answer(study, pairs, ranks, baseline)
    bands = find_bands(comparisons, study) if band else []
    words = band_words(study, bands) if bands else ""
    tables = [
        *_tables(study, pairs, ranks, baseline),
        *([change_table(study, change, changed)] if change and listed(changed) else []),
        *([crossing_table(study, crossed)] if crossings else []),
        *band_tables(study, bands),
    ]
    flipped = _flips(study, comparisons) if flips else []
    adjustment = Adjustment(compared, confidence.level, rules)
    study = replace(study, confidence=confidence.as_used(adjustment.methods))
    basis = _basis(study, compared, adjustment)
    alpha = f"{100 * (1 - confidence.level):g} %"
    margin = f"= equivalent: within ±{rules.margin:g}, two one-sided tests at the {alpha} level"
    first, *others = basis
    return study.report(
        [
            *rows,
            *(row for each in bands for row in each.rows),
            *flips_facts(study, flipped),
        ],
        [*tables, *(flips_tables(study, flipped, ROWS) if flipped else ()), *further],
        context=(
            f"~ {first}",
            margin if rules.margin else "",
            *others,
            listed_words(pairs) if baseline is None else "",
            rank_words(ranks, confidence.resamples),
            crossing_words(study, crossed) if crossings else "",
            words,
            "may cross at is judged at all k together, crosses at for each crossing by itself"
            * (bool(words) and bool(crossed)),
            *(flips_caption(flipped) if flipped else ()),
        ),
        messages=(
            *study.messages(()),
            *_left_out(study, compared, baseline),
            *_decided_by_few(study, comparisons),
            *lead_notes(ranks),
            *_group_notes(study, comparisons),
            *(band_notes(bands, comparisons) if bands else ()),
            *(flips_notes(flipped) if flipped else ()),
        ),
        plots=partial(band_plots, study, bands, words)
        if bands
        else partial(_differences, study, [*pairs, *changed], baseline, basis),
        resamples=confidence.resamples,
        seed=confidence.seed,
        answer=(*answer, *(change_answer(change, changed) if change else ())),
        **adjustment.signature,
        family=rules.family,
        margin=rules.margin or None,
        change=f"{change.start.name}:{change.end.name}" if change else None,
        baseline=baseline,
        unpaired=rules.unpaired,
        band="simultaneous" if bands else None,
    )


def _require_curves(*, crossings: bool, band: bool) -> None:
    """ParameterError for what ranges, of outcomes that may pass or fail, have not."""
    if crossings:
        raise ParameterError(
            "--crossings: with --missing bounds curves are ranges, which cross at no one k; leave"
            " --crossings out"
        )
    if band:
        raise ParameterError(
            "--band: with --missing bounds curves are ranges, and no band holds for what lies"
            " between their ends; use --missing fail or drop"
        )


def _tables(
    study: Study, pairs: Sequence[Pair], ranks: Sequence[Rank], baseline: str | None
) -> Iterator[Table]:
    """Against the baseline, or the ranking and the pairs listed beside it."""
    if baseline is not None:
        yield baseline_table(study, pairs, baseline)
        return
    yield from ranking_tables(study, ranks)
    if own_rows := listed(pairs):
        yield pair_table(study, own_rows)


def _flips(study: Study, comparisons: Sequence[Comparison]) -> list[Flips]:
    """The tasks that flipped, of every pair once."""
    counts = study.counts
    places = {series: place for place, series in enumerate(counts.series)}
    pairs = dict.fromkeys((c.first.series, c.second.series) for c in comparisons if len(c.tasks))
    return find_flips(
        [
            (Side(counts, places[a], series_name(a)), Side(counts, places[b], b[0]))
            for a, b in pairs
        ],
        study.confidence.level,
    )


def _basis(study: Study, comparisons: Sequence[Comparison], adjustment: Adjustment) -> list[str]:
    """At what level, by which tests, on how many tasks, with which intervals."""
    sizes = [len(c.tasks) for c in comparisons]
    level = f"{100 * (1 - study.confidence.level):g} %"
    return [
        f"not significant at the {level} level, {adjustment.words}",
        adjustment.test_words,
        f"{span(min(sizes), max(sizes))} shared task{'s' * (max(sizes) != 1)}",
        study.confidence.words(),
        adjustment.decision,
    ]


def _left_out(
    study: Study, comparisons: Sequence[Comparison], baseline: str | None
) -> Iterator[Said]:
    """What is not compared or not tested, and intervals of another method than asked for."""
    series = study.counts.series
    lacking = {key[1:] for key in series} - {key[1:] for key in series if key[0] == baseline}
    if baseline is not None and lacking:
        where = ", ".join(map(series_name, sorted(lacking)[:4]))
        yield Note(f"not compared: {baseline} is not in the groups {where}", "warning")
    unpaired = [c for c in comparisons if c.only_first + c.only_second]
    if unpaired:
        most = max(unpaired, key=lambda c: c.only_first + c.only_second)
        yield Note(
            f"tasks that only one of two models has are left out of"
            f" {plural(len(unpaired), 'comparison')}"
            f" (at most {most.only_first + most.only_second:,}:"
            f" {' '.join(most.first.series)} against {' '.join(most.second.series)})",
            "warning",
        )
    for reason in dict.fromkeys(c.reason for c in comparisons if c.reason):
        yield Note(f"not compared: {reason}", "warning")
    method = study.confidence.method
    usual = (method, TANGO)
    others = [(c, c.interval) for c in comparisons if c.interval and c.interval.method not in usual]
    if others:
        metrics = ", ".join(dict.fromkeys(c.first.metric.name for c, _ in others))
        yield Note(f"{metrics}: {others[0][1].reason}")
    empty: dict[str, list[str]] = {}
    for c in comparisons:
        if c.interval and c.interval.low is None:
            empty.setdefault(c.interval.reason, []).append(c.first.metric.name)
    for reason, names in empty.items():
        yield Note(f"no interval of {', '.join(dict.fromkeys(names))}: {reason}", "warning")


def _decided_by_few(study: Study, comparisons: Sequence[Comparison]) -> Iterator[Said]:
    few = list(decided_by_few(comparisons, study.confidence))
    yield from (Note(words, "warning") for words in influence_words(few, study.counts.tasks))


def _group_notes(study: Study, comparisons: Sequence[Comparison]) -> list[Said]:
    """How many groups are compared, which is as many chances of a false positive."""
    if not study.counts.group_names:
        return []
    groups = plural(len({c.first.series[1:] for c in comparisons}), "group")
    if study.rules.adjust == UNADJUSTED:
        return [Note(f"{groups} compared without adjustment: expect false positives")]
    return [Note(f"{groups} compared; p-values are adjusted over all of them")]


def _differences(
    study: Study, pairs: Sequence[Pair], baseline: str | None, basis: Sequence[str]
) -> tuple[Plot, ...]:
    """A forest of the differences, a panel per metric; no chart when none could be computed."""
    facts = [pair.fact for pair in (pairs if baseline else drawn(pairs))]
    if all(fact.estimate.value is None for fact in facts):
        return ()
    rows = []
    # A difference that is a range has a point at each end.
    points = [(fact, value) for fact in facts for value in dict.fromkeys(fact.estimate.ends)]
    for fact, value in points:
        model, *groups = fact.series
        names = model if baseline else f"{model} − {fact.against}"
        rows.append(
            {
                "pair": " · ".join([names, *(group or '""' for group in groups)]),
                "metric": fact.name,
                "difference": value,
                "low": fact.estimate.low,
                "high": fact.estimate.high,
                "told": fact.verdict in (BETTER, WORSE),
            }
        )
    margin = study.rules.margin
    margins = [Rule(x=x) for x in (-margin, margin) if margin]
    dashed = f"dashed: ±{margin:g}" if margin else ""
    first, *others = basis
    together = all(pair.comparison.adjustment in ("", MAX_T) for pair in pairs)
    alone = "" if together else "unadjusted intervals"
    left_out = "" if len(facts) == len(pairs) else f"{len(facts)} of {len(pairs):,} differences"
    chart = forest(
        rows, label="pair", value="difference", low="low", high="high", facet="metric",
        told="told", rules=[Rule(x=0.0, dashed=False), *margins],
        title=f"Difference to {baseline}" if baseline else "Differences between models",
        subtitle=" · ".join(
            filter(None, [f"○ {first}", dashed, *others, alone, left_out])
        ),
        x_title="difference",
    )  # fmt: skip
    return (chart,)
