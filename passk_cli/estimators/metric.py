"""Names of metrics → what to compute: "pass@10", "pass^4", and the registry they live in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.pass_k import at_pairs, hat_pairs, unique_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Family → value of each distinct (n, c) pair at one k.  A new metric of counts is one line here.
FAMILIES: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.float64]]] = {
    "pass@": at_pairs,
    "pass^": hat_pairs,
}
USUAL_K = (1, 10, 100)


@dataclass(frozen=True)
class Metric:
    """One column of a report: a family of metrics at one k.

    >>> parse("pass@10")
    Metric(family='pass@', k=10)
    >>> parse("pass@10").name
    'pass@10'
    """

    family: str
    k: int

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"{self.family}{self.k}"

    def values(self, n: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.float64]:
        """The metric of each distinct (n, c) pair; NaN where n < k."""
        return FAMILIES[self.family](n, c, self.k)


def parse(text: str) -> Metric:
    """A metric from its name; ParameterError says which names there are."""
    found = re.fullmatch(r"(pass[@^])(\d+)", text.strip())
    if found is None:
        known = ", ".join(f"{family}K" for family in FAMILIES)
        raise ParameterError(f"no metric {text.strip()!r}; there are {known}, as in pass@10")
    k = int(found[2])
    if k < 1:
        raise ParameterError(f"{text.strip()}: k must be at least 1")
    return Metric(found[1], k)


def parse_list(text: str) -> tuple[Metric, ...]:
    """Metrics from a comma-separated list, each once, in the order given."""
    return tuple(dict.fromkeys(parse(part) for part in text.split(",") if part.strip()))


def parse_ks(text: str) -> tuple[int, ...]:
    """k's from "1,10,100"; ParameterError for anything but whole numbers from 1 up."""
    ks = []
    for part in text.split(","):
        if not part.strip().isdigit() or int(part) < 1:
            raise ParameterError(f"-k {text}: k must be a whole number, at least 1")
        ks.append(int(part))
    return tuple(dict.fromkeys(ks))


def default_ks(n_min: int) -> tuple[int, ...]:
    """Those of 1, 10, 100 that every task supports; when fewer than two, 1, 2, 4, … and n.

    >>> default_ks(200), default_ks(10), default_ks(5), default_ks(1)
    ((1, 10, 100), (1, 10), (1, 2, 4, 5), (1,))
    """
    usual = tuple(k for k in USUAL_K if k <= n_min)
    if len(usual) >= 2:
        return usual
    doubling = [1 << i for i in range(n_min.bit_length()) if 1 << i <= n_min]
    return tuple(dict.fromkeys([*doubling, n_min]))


def standard_metrics(ks: Iterable[int]) -> tuple[Metric, ...]:
    """pass@k and pass^k for these k; pass^1 equals pass@1 and is left out beside it."""
    ks = tuple(ks)
    hats = tuple(Metric("pass^", k) for k in ks if k != 1)
    return (*(Metric("pass@", k) for k in ks), *hats)


def task_values(
    metrics: Iterable[Metric], n: NDArray[np.int64], c: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values of several metrics for the same cells: (metrics × cells), computed per unique pair.

    n, c : int arrays of one shape (cells,).  NaN where n < k.

    >>> task_values([parse("pass@1"), parse("pass^2")], np.array([2, 2]), np.array([1, 2]))
    array([[0.5, 1. ],
           [0. , 1. ]])
    """
    un, uc, index = unique_pairs(n, c)
    return np.stack([metric.values(un, uc)[index] for metric in metrics])
