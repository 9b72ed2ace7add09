"""The Python face of the commands: the same numbers as frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.outcomes.model import Counts
from passk_cli.outcomes.reading import read
from passk_cli.report.estimate import choose_metrics, estimate_report

if TYPE_CHECKING:
    import pandas as pd


def estimate(
    data: Counts | pd.DataFrame,
    metrics: str | Sequence[str] = (),
    *,
    short_tasks: str = "empty",
) -> pd.DataFrame:
    """The tidy rows of `passk estimate`: one row per model (and group) × metric.

    data : Counts from `read`, or a DataFrame as `read` takes it.
    metrics : "pass@10,pass^4" or a list of such; the standard ones when empty.
    Returns columns model, <groups>, metric, k, estimate, se, low, high, level, interval, tasks,
    n_min, n_max, note; an estimate that cannot be computed is NaN, and its note says why.
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
    report = estimate_report(counts, chosen, short_tasks=short_tasks)
    columns = [column.name for column in report.data.columns]
    return pd.DataFrame(list(report.data.rows), columns=columns)
