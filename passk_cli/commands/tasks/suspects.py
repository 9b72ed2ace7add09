"""Tasks that weaker models pass more often than better ones, and tasks that separate no models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.tasks.classes import TaskRates, rates_by_task
from passk_cli.commands.tasks.listing import Listing, listing_report, natural_ranks
from passk_cli.commands.tasks.matrix import heat_maps
from passk_cli.errors import ParameterError
from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.discrimination import FEWEST, MOST_ORDERED, ItemRest, item_rest
from passk_cli.message import Said
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Sentence, Table
from passk_cli.report.words import first_few, natural, plural, series_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts
    from passk_cli.study.study import Study
    from passk_cli.study.values import Series

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

# What a task can be: one that weaker models pass more often, one without differences, or none.
KINDS = (SUSPECT, NOBODY, EVERYBODY, PLAIN) = (
    "weaker models pass it more often", "nobody solves it", "everybody solves it", "",
)  # fmt: skip
LOOK = "look at the task's checker"


@dataclass(frozen=True)
class Suspects:
    """The tasks of one group of models, and what each says about differences between these.

    groups : values of the group columns.  tasks : indices into Counts.tasks.
    rates : (models × tasks) pass rates, NaN where missing.  n, c : attempts and passes of all
        models at each task.  items : correlations, their tests and shares, as
        `inference.discrimination.item_rest`.
    adjusted : p by Benjamini and Hochberg over all tasks of all groups; NaN without one.
    codes : indices into KINDS.
    """

    groups: Series
    tasks: Ints
    rates: Floats
    n: Ints
    c: Ints
    items: ItemRest
    adjusted: Floats
    codes: Ints

    @property
    def models(self) -> int:
        """How many models there are."""
        return len(self.rates)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the models' rates at each task."""
        means: Floats = np.nanmean(self.rates, axis=0)
        return means

    def places(self, kind: str) -> list[int]:
        """Places of the tasks of a kind; suspects with the smallest p first."""
        at = np.flatnonzero(self.codes == KINDS.index(kind))
        if kind == SUSPECT:
            at = at[np.lexsort((self.items.correlation[at], self.items.p[at]))]
        return [int(i) for i in at]


def find_suspects(counts: Counts, level: float = 0.95) -> list[Suspects]:
    """Every group's tasks; a task is suspect where its adjusted p is at most 1 − level.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [(f"m{i}", t, 1, int(i > 2)) for i in range(5) for t in "abc"]
    >>> (group,) = find_suspects(Counts.from_cells(cells))
    >>> group.items.correlation.tolist(), group.places("nobody solves it")
    ([1.0, 1.0, 1.0], [])
    """
    by_group: dict[Series, list[TaskRates]] = {}
    for each in rates_by_task(counts, level):
        by_group.setdefault(each.series[1:], []).append(each)
    items = {}
    for groups, models in by_group.items():
        items[groups] = item_rest(np.stack([model.rates for model in models]), level)
    adjusted = benjamini_hochberg(np.concatenate([item.p for item in items.values()]))
    parts = np.split(adjusted, np.cumsum([len(item.p) for item in items.values()])[:-1])
    return [
        _suspects(groups, by_group[groups], item, own, level)
        for (groups, item), own in zip(items.items(), parts, strict=True)
    ]


def _suspects(
    groups: Series, models: Sequence[TaskRates], items: ItemRest, adjusted: Floats, level: float
) -> Suspects:
    n, c = sum(model.n for model in models), sum(model.c for model in models)
    n, c = np.asarray(n), np.asarray(c)
    suspect = np.nan_to_num(adjusted, nan=1.0) <= 1 - level + 1e-12
    codes = np.select([suspect, c == 0, c == n], [0, 1, 2], 3)
    rates = np.stack([model.rates for model in models])
    return Suspects(groups, models[0].tasks, rates, n, c, items, adjusted, codes)


def suspects_report(study: Study, rows: int) -> Report:
    """A row per task, the ones that weaker models pass more often first."""
    level = study.confidence.level
    groups = find_suspects(study.counts, level)
    most = max(group.models for group in groups)
    if most < FEWEST:
        raise ParameterError(
            f"--suspects: it needs {FEWEST} models, whose results at each task are compared with"
            f" their results at all others; there {'is' if most == 1 else 'are'} {most}"
        )
    total = sum(len(group.tasks) for group in groups)
    order = _order(study, groups)
    tables = [_table(study, groups, order[:rows]), *_agreed(study, groups, rows)]
    return listing_report(
        study,
        Listing(tuple(tables), _data(study, groups, order), total, min(rows, total)),
        answer=_answer(study, groups),
        context=_caption(groups, level),
        messages=_notes(groups, level),
        correlation="spearman",
        level=level,
        plots=partial(heat_maps, study),
        adjust="bh",
    )


def _order(study: Study, groups: Sequence[Suspects]) -> list[tuple[int, int]]:
    """(group, task) of every row: smallest p, lowest correlation first, undefined last."""
    p = np.concatenate([group.items.p for group in groups])
    correlation = np.concatenate([group.items.correlation for group in groups])
    codes = np.concatenate([group.codes for group in groups])
    places = [(g, t) for g, group in enumerate(groups) for t in range(len(group.tasks))]
    ranks = natural_ranks(study.counts.tasks)[np.concatenate([group.tasks for group in groups])]
    return [places[i] for i in np.lexsort((ranks, codes, correlation, p))]


def _table(study: Study, groups: Sequence[Suspects], order: Sequence[tuple[int, int]]) -> Table:
    names = study.counts.group_names
    columns = (
        *map(Column, names), Column("task"), Column("pass rate", "share"),
        Column("item–rest correlation", "score"), Column("p", "p"), Column("adjusted", "p"),
        Column("contribution", "share"), Column("finding"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for g, t in order:
        group, items = groups[g], groups[g].items
        correlation = Estimate(
            _or_none(items.correlation[t]), low=_or_none(items.low[t]),
            high=_or_none(items.high[t]), signed=True, share=False,
        )  # fmt: skip
        rows.append(
            (*group.groups, study.counts.tasks[group.tasks[t]], float(group.mean[t]), correlation,
             _or_none(items.p[t]), _or_none(group.adjusted[t]), _or_none(items.share[t]),
             _finding(group, t))
        )  # fmt: skip
    return Table(columns, tuple(rows))


def _finding(group: Suspects, task: int) -> str:
    kind = KINDS[int(group.codes[task])]
    return f"{kind}: {LOOK}" if kind == SUSPECT else kind


def _agreed(study: Study, groups: Sequence[Suspects], rows: int) -> Iterator[Table]:
    """The tasks without any difference, where there are some."""
    names = study.counts.group_names
    every = [(group, kind, group.places(kind)) for group in groups for kind in (NOBODY, EVERYBODY)]
    listed: list[tuple[Cell, ...]] = []
    for group, kind, places in every:
        if places:
            names_of = (study.counts.tasks[group.tasks[t]] for t in places)
            shown = sorted(names_of, key=natural)[:rows]
            more = f" and {len(places) - rows:,} more" * (len(places) > rows)
            attempts = plural(int(group.n[places].sum()), "attempt")
            listed.append((*group.groups, kind, len(places), attempts, ", ".join(shown) + more))
    if listed:
        columns = (*map(Column, names), Column("finding"), Column("tasks", "count"),
                   Column("of"), Column("names"))  # fmt: skip
        yield Table(columns, tuple(listed), "Tasks without a difference between models")


def _answer(study: Study, groups: Sequence[Suspects]) -> tuple[Sentence, ...]:
    suspects = [
        series_name((*group.groups, study.counts.tasks[group.tasks[t]]))
        for group in groups
        for t in group.places(SUSPECT)
    ]
    total = sum(len(group.tasks) for group in groups)
    solved = {kind: sum(len(g.places(kind)) for g in groups) for kind in (NOBODY, EVERYBODY)}
    if suspects:
        verb = "is" if len(suspects) == 1 else "are"
        first = (
            f"{plural(len(suspects), 'task')} {verb} passed more often by weaker models:"
            f" {first_few(suspects)}; {LOOK if len(suspects) == 1 else 'look at their checkers'}."
        )
    else:
        first = "No task is passed significantly more often by weaker models."
    if all(np.isnan(group.items.p).all() for group in groups):
        first = "No task could be tested: at every task the models pass equally often."
    second = (
        f"Of {plural(total, 'task')}, {solved[NOBODY]:,} nobody solves and"
        f" {solved[EVERYBODY]:,} everybody solves."
    )
    return (first,), (second,)


def _caption(groups: Sequence[Suspects], level: float) -> tuple[str, ...]:
    tests = sum(int((~np.isnan(group.items.p)).sum()) for group in groups)
    models = max(group.models for group in groups)
    orders = "all orders of the models" if models <= MOST_ORDERED else "t, given the ranks"
    return (
        "item–rest correlation: Spearman's, over models, of the pass rate at this task and at all"
        f" others; {100 * level:g} % limits",
        f"p: of a correlation of 0 or more, from {orders}, Benjamini–Hochberg over"
        f" {plural(tests, 'task')}",
        "contribution: of the task to the variance between the models' means; all add up to 1, and"
        " it is negative where better models pass less often",
    )


def _notes(groups: Sequence[Suspects], level: float) -> Iterator[Said]:
    """What cannot be shown with so few models, and what is assumed of them."""
    few = [group for group in groups if group.models < FEWEST]
    if few:
        yield Note(
            f"a correlation over models needs {FEWEST} models; there are {few[0].models}", "warning"
        )
    enough = [group for group in groups if group.models >= FEWEST]
    tests = np.concatenate([group.items.smallest for group in groups])
    tests = tests[~np.isnan(tests)]
    if enough and len(tests) and tests.min() * len(tests) > 1 - level:
        alone = int(np.ceil(tests.min() * len(tests) / (1 - level)))
        none = f"no task of {len(tests):,} can become significant"
        many = f"a task becomes significant only if {alone:,} of {len(tests):,} tasks have it"
        yield Note(
            f"with {plural(enough[0].models, 'model')} the smallest p is {tests.min():.2g}:"
            f" {many if alone <= len(tests) else none}; the correlations rank the tasks all the"
            " same"
        )
    if enough:
        yield Note("models are taken as independent; relatives make the limits too narrow")
    gone = sum(int(np.isnan(group.rates).sum()) for group in groups)
    if gone:
        yield Note(f"{plural(gone, 'model–task pair')} without attempts left out", "warning")


def _data(study: Study, groups: Sequence[Suspects], order: Sequence[tuple[int, int]]) -> Table:
    """All tasks at full precision."""
    names = study.counts.group_names
    level = study.confidence.level
    columns = (
        *names, "task", "metric", "estimate", "low", "high", "level", "p", "p_adjusted", "verdict",
        "models", "n", "c", "mean_rate", "contribution", "note",
    )  # fmt: skip
    rows = []
    for g, t in order:
        group, items = groups[g], groups[g].items
        kind = KINDS[int(group.codes[t])]
        rows.append(
            (*group.groups, study.counts.tasks[group.tasks[t]], "item-rest correlation",
             _or_none(items.correlation[t]), _or_none(items.low[t]), _or_none(items.high[t]),
             level, _or_none(items.p[t]), _or_none(group.adjusted[t]), kind,
             int(items.models[t]), int(group.n[t]), int(group.c[t]), float(group.mean[t]),
             _or_none(items.share[t]), LOOK if kind == SUSPECT else "")
        )  # fmt: skip
    return Table(tuple(map(Column, columns)), tuple(rows))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
