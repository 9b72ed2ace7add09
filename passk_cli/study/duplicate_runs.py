"""Detects duplicate runs and models, which are pairs with more equal outcomes than chance
explains."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints, group_by
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.outcomes.counts import Counts
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import plural

# Two runs or models are copies if less than 1 % of their outcomes differ. One pair of runs in a
# thousand may look like copies by chance, but only one pair of models in a million, because passk
# stops with an error if models are copies.
_CHANGED, _RUNS, _MODELS = 0.01, 1_000, 1_000_000
_COPY_CRITERION = (
    "The attempts that pass usually differ from run to run. passk computes how many tasks would"
    " have equal outcomes by chance if the passes of each task were divided at random between the"
    " two runs. passk reports a copy only if less than 1 % of the outcomes differ and the agreement"
    " is hardly possible by chance. Chance must produce the agreement in at most one of a thousand"
    " pairs of runs, or in at most one of a million pairs of models. If every task has one attempt,"
    " all outcomes must be equal, and there must be at least a million ways to distribute the"
    " outcomes over the tasks."
)
COPIED_RUN = DiagnosticType(
    "copied-run", WARNING,
    "{first} and {second} have the same outcomes at {tasks:task}{?changed| of {every}"
    " ({changed:attempt} changed)}{?more| (and {more:more pair})}",
    "if one run is a copy, run the evaluation again",
    meaning="Two runs have the same outcomes at almost all tasks. By chance, at most one of a"
    " thousand pairs of runs agrees at this many tasks. " + _COPY_CRITERION,
    why="If a run is recorded twice, the variation between runs seems smaller than it really is. If"
    " passk underestimates the variation between runs, a gate makes wrong decisions more often.",
    advice="If one run is a copy, run the evaluation again. If both runs are real, ignore this"
    " warning.",
    example="warning[copied-run]: r1 and r2 have the same outcomes at 200 tasks; if one run is a"
    " copy, run the evaluation again",
)  # fmt: skip
IDENTICAL_OUTCOMES = DiagnosticType(
    "identical-outcomes", WARNING,
    "{copy} has the same outcomes as {model} at {tasks:task}{?changed| of {every}"
    " ({changed:attempt} changed)}{?more| (and {more:more model} with a copy)}, but passk counts"
    " each name as a model",
    (SuggestedFix({"--exclude-model": "{copies}"}, "leaves out the possible copy"),
     SuggestedFix({"--exclude-model": "{original}"}, "leaves out the other model")),
    meaning="Two models have the same outcomes at all or almost all tasks. The two names probably"
    " belong to the same model, which was read from two files, for example from results and from a"
    " summary. " + _COPY_CRITERION,
    why="passk treats the two names as separate models. `passk compare` and leaderboards stop with"
    " an error if two models have the same outcomes, unless you name both models with `--model`.",
    advice="Leave out the copy with `--exclude-model`.",
    example="warning[identical-outcomes]: alpha-rerun has the same outcomes as alpha at 164 tasks,"
    " but passk counts each name as a model; --exclude-model alpha-rerun leaves out the possible"
    " copy; --exclude-model alpha leaves out the other model",
)  # fmt: skip


class DuplicateRun(NamedTuple):
    """A model or run with almost the same outcomes as another model or run.

    name, original : the name of the possible copy, and the name of the model or run with the same
        outcomes.
    equal_task_count : number of shared tasks at which the outcomes are equal.
    shared_tasks : number of shared tasks.
    changed_attempt_count : number of attempts with a different outcome.
    """

    name: str
    original: str
    equal_task_count: int
    shared_tasks: int
    changed_attempt_count: int


def detect_copy(
    name: str,
    original: str,
    n: Ints,
    passes: tuple[Ints, Ints],
    pair_count: int,
    *,
    models: bool = False,
) -> DuplicateRun | None:
    """A DuplicateRun if one run is a copy of another run, or None if chance explains the
    agreement of the two runs.

    n : number of attempts at each task, which is the same in both runs.
    passes : for each of the two runs, an array with the number of passes at each task.
    pairs : number of pairs that the caller compares.  Probabilities are adjusted for this number.
    models : whether two models are compared rather than two runs.

    >>> n, c = np.full(60, 4), np.arange(60) % 5
    >>> detect_copy("b", "a", n, (c, c), 1).equal_task_count, detect_copy("b", "a", n[:9], (c[:9],
    ...     c[:9]), 1)
    (60, None)
    """
    c, c_other = passes
    changed, moved = int(np.abs(c - c_other).sum()), int((c != c_other).sum())
    if changed >= _CHANGED * n.sum():
        return None
    if moved or not (models or n.max() == 1) or not _has_many_permutations(n, c, pair_count):
        by_chance = _change_distribution(n, n, c + c_other)[: moved + 1].sum()
        if by_chance * pair_count * (_MODELS if models else _RUNS) > 1:
            return None
    return DuplicateRun(name, original, len(n) - moved, len(n), changed)


def _change_distribution(n: Ints, n_other: Ints, passes: Ints) -> Floats:
    from passk_cli.inference.flips import flip_chances, poisson_binomial

    return poisson_binomial(flip_chances(n, n_other, passes).changes)


def _has_many_permutations(n: Ints, c: Ints, pair_count: int) -> bool:
    """Whether the outcomes can be distributed over the tasks in at least a million ways per pair of
    runs.

    The number of ways is ∏_n (T_n! / ∏_c T_nc!) if T_n tasks have n attempts, and T_nc of these
    tasks have c passes.
    """
    kinds, sizes = np.unique([n, c], axis=1, return_counts=True)
    ways = -sum(math.lgamma(size + 1) for size in sizes)
    ways += sum(math.lgamma(sizes[kinds[0] == size].sum() + 1) for size in set(kinds[0].tolist()))
    return ways >= math.log(_MODELS * pair_count)


def copies_among_models(counts: Counts) -> list[DuplicateRun]:
    """The models with the same tasks and almost the same outcomes as an earlier model.

    >>> cells = [(m, f"t{t}", 2, t % 3) for m in "ab" for t in range(20)]
    >>> [(copy.name, copy.original,
    ...     copy.equal_task_count) for copy in copies_among_models(Counts.from_cells(cells))]
    [('b', 'a', 20)]
    >>> copies_among_models(Counts.from_cells([(m, t, 2, 2) for m in "ab" for t in "xyz"]))
    []
    """
    places = group_by(range(len(counts.series)), lambda place: counts.series[place][0])
    by_tasks: dict[object, list[tuple[str, Ints]]] = {}
    for model, model_places in places.items():
        cells = np.concatenate([np.r_[counts.slice_of_series(place)] for place in model_places])
        groups = tuple(counts.series[place][1:] for place in model_places)
        sizes = [
            counts.slice_of_series(place).stop - counts.slice_of_series(place).start
            for place in model_places
        ]
        same = (groups, *sizes, counts.task_codes[cells].tobytes(), counts.n[cells].tobytes())
        by_tasks.setdefault(same, []).append((model, cells))
    pairs, copies = math.comb(max(len(places), 2), 2), []
    for models in by_tasks.values():
        n, passes = counts.n[models[0][1]], np.stack([counts.c[cells] for _, cells in models])
        copies += find_copies([name for name, _ in models], n, passes, pairs, models=True)
    return sorted(copies)


def find_copies(
    names: Sequence[str], n: Ints, passes: Ints, pair_count: int, *, models: bool = False
) -> list[DuplicateRun]:
    """The copies among runs or models that all have the same tasks and numbers of attempts.

    n : number of attempts at each task.
    passes : number of passes of each run or model at each task, (names × tasks).
    pairs, models : see `detect_copy`.
    """
    firsts: dict[bytes, int] = {}
    same = [firsts.setdefault(row.tobytes(), place) for place, row in enumerate(passes)]
    candidates = {(place, row) for row, place in enumerate(same) if place != row}
    first = np.array([*firsts.values()], dtype=np.int64)
    distinct = passes[first]
    totals, least = distinct.sum(axis=1), _CHANGED * n.sum()
    order = np.argsort(totals, kind="stable")
    ends = np.searchsorted(totals[order], totals[order] + least)
    for at, end in enumerate(ends.tolist()):
        rivals = order[at + 1 : end]
        changed = np.abs(distinct[rivals] - distinct[order[at]]).sum(axis=1)
        rows = first[rivals[changed < least]].tolist()
        candidates |= {
            (min(row, int(first[order[at]])), max(row, int(first[order[at]]))) for row in rows
        }
    copies: dict[int, DuplicateRun] = {}
    for earlier, later in sorted(candidates):
        pair_passes = passes[later], passes[earlier]
        if later not in copies:
            copy = detect_copy(
                names[later], names[earlier], n, pair_passes, pair_count, models=models
            )
            copies |= {} if copy is None else {later: copy}
    return [copies[row] for row in sorted(copies)]


def require_no_copies(counts: Counts, models_assumed_different: Collection[str]) -> None:
    """Raise DataError if a model is a copy of another model.

    named_models : models that the user named.  passk assumes that these models are not copies.
    """
    for copy in copies_among_models(counts):
        if not {copy.name, copy.original} <= {*models_assumed_different}:
            where = f"all {plural(copy.equal_task_count, 'task')}"
            if copy.changed_attempt_count:
                changed = plural(copy.changed_attempt_count, "attempt")
                equal = plural(copy.equal_task_count, "task")
                where = f"{equal} of {copy.shared_tasks} ({changed} changed)"
            without = [
                SuggestedFix({"--exclude-model": (copy.name,)}, f"if {copy.name} is the copy"),
                SuggestedFix(
                    {"--exclude-model": (copy.original,)}, f"if {copy.original} is the copy"
                ),
            ]
            only_two = len({series[0] for series in counts.series}) == 2
            keep_both = SuggestedFix(
                {"--model": ("*", copy.original, copy.name)}, "if they are two models"
            )
            raise DataError(
                copy.name, f"this model has the same outcomes as {copy.original} at {where}",
                "if one model is a copy of the other model, use the results of a different"
                " model" * only_two,
                name="duplicate-models", settles=[*([] if only_two else without), keep_both],
            )  # fmt: skip


def copied_models_warning(counts: Counts) -> Iterator[Diagnostic]:
    """The warning about models that are probably copies of other models."""
    if copies := copies_among_models(counts):
        (name, model, tasks, shared_tasks, changed), more = copies[0], len(copies) - 1
        yield IDENTICAL_OUTCOMES(
            copy=name, model=model, tasks=tasks, every=shared_tasks, changed=changed, more=more,
            copies=tuple(copy.name for copy in copies), original="" if more else model,
        )  # fmt: skip


def copied_runs_warning(copies: Iterable[DuplicateRun]) -> Iterator[Diagnostic]:
    """The warning about runs that are probably copies of other runs."""
    if duplicates := list(copies):
        name, original, tasks, shared_tasks, changed = duplicates[0]
        yield COPIED_RUN(first=original, second=name, tasks=tasks, every=shared_tasks,
        changed=changed,
                         more=len(duplicates) - 1)  # fmt: skip


def copies_in_other_counts(
    counts: Counts, place: int, other_counts: Counts, rivals: Mapping[str, int], name: str
) -> Iterator[DuplicateRun]:
    """Yield the series in other counts that have almost the same outcomes as a given series.

    place : index of the given series in `counts`.
    rivals : maps the name of a series to the index of this series in `other_counts`.
    """
    cells = counts.slice_of_series(place)
    tasks = [counts.tasks[code] for code in counts.task_codes[cells].tolist()]
    for rival, rival_place in rivals.items():
        rows = other_counts.slice_of_series(rival_place)
        if tasks == [other_counts.tasks[code] for code in other_counts.task_codes[rows].tolist()]:
            n = counts.n[cells]
            if np.array_equal(n, other_counts.n[rows]):
                copy = detect_copy(
                    name, rival, n, (counts.c[cells], other_counts.c[rows]), len(rivals)
                )
                if copy is not None:
                    yield copy


def renamed_models(
    before: Counts, gone: Iterable[str], after: Counts, candidates: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """For each model that was probably renamed, a pair of its old name and its new name.

    gone : models in `before` that `after` does not contain.
    candidates : models in `after` that may have been renamed.
    """
    for old in gone:
        base = _counts_by_task(before, old)
        fits = {new: _p_value_of_changes(base, _counts_by_task(after, new)) for new in candidates}
        if any(fits.values()):
            yield old, max(candidates, key=fits.__getitem__)


def _counts_by_task(counts: Counts, model: str) -> dict[tuple[str, ...], tuple[int, int]]:
    return {
        (task, *series[1:]): (n, c)
        for (series, task), n, c in zip(
            counts.cells, counts.n.tolist(), counts.c.tolist(), strict=True
        )
        if series[0] == model
    }


def _p_value_of_changes(
    old_cells: Mapping[tuple[str, ...], tuple[int, int]],
    new_cells: Mapping[tuple[str, ...], tuple[int, int]],
) -> float:
    """The probability that chance changes the outcomes of at least as many tasks as differ between
    two models.

    The function returns 0 if the probability is below 1 %, or if the two models have less than 90 %
    of the tasks in common.
    """
    shared = sorted(old_cells.keys() & new_cells.keys())
    if len(shared) < 0.9 * max(len(old_cells), len(new_cells)):
        return 0.0
    (n, c), (n_other, c_other) = (
        np.array([cells[task] for task in shared]).T for cells in (old_cells, new_cells)
    )
    moved = int((c * n_other != c_other * n).sum())
    chance = float(_change_distribution(n, n_other, c + c_other)[moved:].sum())
    return chance if chance >= 0.01 else 0.0
