"""The grid of a page, which shows all outcomes by model and task and links to transcripts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import quote

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.errors import ParameterError
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import TaskGrid
from passk_cli.report.phrases import natural_key
from passk_cli.study.flips import outcome_strips
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

# A grid with more than 400,000 outcomes shows texts such as "2/3" instead of "++-", to keep the
# page small.
_MAX_OUTCOMES_SHOWN_ONE_BY_ONE = 400_000
_LINK_FIELD_PATTERN = re.compile(r"\{([^{}]*)\}")
_LINK_TEMPLATE_FIELDS = ("model", "task", "attempt")


def task_grid(counts: Counts, models: list[str], link: str = "") -> TaskGrid:
    """The grid of outcomes of one group of tasks.

    models : all models in the order of the page.
    link : address of transcripts, as in `TaskGrid`.
    Errors: ParameterError if the link contains {attempt}, but attempts have no consecutive numbers.

    >>> counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 2, 2), ("o", "b", 2, 1)])
    >>> grid = task_grid(counts, ["o", "m"])
    >>> grid.tasks, grid.distinct_results, [list(row) for row in grid.result_codes]
    (('a', 'b'), ('', '1/2', '2/2'), [[0, 1], [1, 2]])
    """
    order = sorted(range(len(counts.tasks)), key=lambda task: natural_key(counts.tasks[task]))
    place_of_task = np.argsort(order, kind="stable")
    place_of_model = [models.index(model) for model, *_ in counts.series]
    present = np.unique(np.asarray(place_of_model))
    strips = outcome_strips(counts)
    if sum(map(len, set(strips.tolist()))) > _MAX_OUTCOMES_SHOWN_ONE_BY_ONE:
        strips = np.full(len(strips), "", dtype=object)
    sizes, at = np.unique(np.stack([counts.c, counts.n], axis=1), axis=0, return_inverse=True)
    plain = np.array([f"{c}/{n}" for c, n in sizes.tolist()], dtype=object)[at.ravel()]
    results, at = np.unique(np.where(strips == "", plain, strips).astype(str), return_inverse=True)
    codes = np.zeros((len(models), len(counts.tasks)), dtype=np.int64)
    codes[np.array(place_of_model)[counts.series_codes], place_of_task[counts.task_codes]] = at + 1
    first = _first_attempt_number(counts) if "{attempt}" in link else 1
    return TaskGrid(
        tuple(models[at] for at in present.tolist()), tuple(counts.tasks[task] for task in order),
        ("", *results.tolist()), codes[present].tolist(), link, first,
    )  # fmt: skip


def _first_attempt_number(counts: Counts) -> int:
    bag = counts.attempts.get("attempt")
    if bag is not None and len(bag.value):
        numbers: Ints = np.asarray(bag.value)
        first = numbers.min()
        within = np.arange(len(numbers)) - np.repeat(
            bag.cell_offsets[:-1], np.diff(bag.cell_offsets)
        )
        if np.all(bag.count == 1) and np.array_equal(numbers - first, within):
            return int(first)
    raise ParameterError(
        OptionWithValue("--link"),
        "{attempt} needs consecutive attempt numbers that start at the same number at every task",
        settles=[SuggestedFix({"--link": None})],
    )  # fmt: skip


def require_valid_link_template(link: str, groups: Collection[str]) -> None:
    """Raise a ParameterError if the link lacks {task}, has unknown fields or is not an address."""
    field_names = (*_LINK_TEMPLATE_FIELDS, *groups)
    unknown = next(
        (name for name in _LINK_FIELD_PATTERN.findall(link) if name not in field_names), None
    )
    if unknown is not None:
        question = did_you_mean_or_list(unknown, [f"{{{name}}}" for name in field_names])
        raise ParameterError(
            OptionWithValue("--link"), f"there is no field {{{unknown}}}; {question}"
        )
    if "{task}" not in link:
        raise ParameterError(OptionWithValue("--link", link), "the address must contain {task}")
    if not re.match(r"https?://[^{}/]+/|[^:]*(/|$)", link):
        raise ParameterError(
            OptionWithValue("--link", link),
            "the address must begin with https:// or with a folder that is next to the report",
        )


def link_in_group(link: str, values: Mapping[str, str]) -> str:
    """The link of one group, with the values of the group instead of the columns of --by.

    >>> link_in_group("https://a.org/{benchmark}/{task}", {"benchmark": "math 500"})
    'https://a.org/math%20500/{task}'
    """
    return _LINK_FIELD_PATTERN.sub(
        lambda field: quote(values[field[1]], safe="") if field[1] in values else field[0], link
    )
