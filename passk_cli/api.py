"""The Python face of the commands: the same numbers as frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.outcomes.model import Counts
from passk_cli.outcomes.reading import read
from passk_cli.report.estimate import choose_metrics, estimate_report
from passk_cli.report.samples import Uncertainty

if TYPE_CHECKING:
    import pandas as pd


def estimate(
    data: Counts | pd.DataFrame,
    metrics: str | Sequence[str] = (),
    *,
    interval: str | None = None,
    level: float = 0.95,
    population: str = "new-tasks",
    resamples: int = 10_000,
    seed: int = 0,
    short_tasks: str = "empty",
) -> pd.DataFrame:
    """The tidy rows of `passk estimate`: one row per model (and group) × metric.

    data : Counts from `read`, or a DataFrame as `read` takes it.
    metrics : "pass@10,pass^4" or a list of such; the standard ones when empty.
    interval : a method's name, "none", or None for the population's default.
    level, population, resamples, seed : as the options of the same names.
    Returns columns model, <groups>, metric, k, estimate, se, low, high, level, interval,
    population, tasks, n_min, n_max, note; an estimate that cannot be computed is NaN, and its
    note says why.
    Errors: ParameterError, DataError as in `read`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": ["a", "b"], "n": [4, 4], "c": [1, 3]})
    >>> estimate(frame, "pass@1,pass^2")[["metric", "estimate"]].values.tolist()
    [['pass@1', 0.5], ['pass^2', 0.25]]
    """
    import pandas as pd

    counts = data if isinstance(data, Counts) else read(data)
    names = metrics if isinstance(metrics, str) else ",".join(metrics)
    chosen = choose_metrics(counts, (), names)
    cluster = None if counts.clusters is None else "yes"
    how = Uncertainty(interval, level, population, cluster, resamples, seed)
    report = estimate_report(counts, chosen, how, short_tasks=short_tasks)
    columns = [column.name for column in report.data.columns]
    return pd.DataFrame(list(report.data.rows), columns=columns)
