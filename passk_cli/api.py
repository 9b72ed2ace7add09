"""The Python face of the commands: the same numbers as frames."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.commands import command_of
from passk_cli.commands.command import answer
from passk_cli.errors import PasskWarning
from passk_cli.files.reading import read
from passk_cli.metrics.registry import Metric, needs, parse_list, scores_only
from passk_cli.outcomes.counts import Counts
from passk_cli.report.estimate import choose_metrics, estimate_report
from passk_cli.report.model import Report
from passk_cli.report.samples import Uncertainty, check_short_tasks

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
    Errors: ParameterError, DataError as in `read`.  Warnings: PasskWarning for everything that the
    command warns of, such as attempts at several temperatures that are pooled.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": ["a", "b"], "n": [4, 4], "c": [1, 3]})
    >>> estimate(frame, "pass@1,pass^2")[["metric", "estimate"]].values.tolist()
    [['pass@1', 0.5], ['pass^2', 0.25]]
    """
    named = parse_list(_names(metrics))
    counts = data if isinstance(data, Counts) else _read(data, named)
    how = Uncertainty(interval, level, population, _clustered(counts), resamples, seed).checked()
    check_short_tasks(short_tasks)
    chosen = choose_metrics(counts, (), named)
    return _frame(estimate_report(counts, chosen, how, short_tasks=short_tasks))


def compare(
    data: Counts | pd.DataFrame,
    metrics: str | Sequence[str] = (),
    *,
    baseline: str | None = None,
    test: str | None = None,
    adjust: str = "holm",
    family: str = "primary",
    margin: float = 0.0,
    interval: str | None = None,
    level: float = 0.95,
    population: str = "new-tasks",
    resamples: int = 10_000,
    seed: int = 0,
    short_tasks: str = "empty",
) -> pd.DataFrame:
    """The tidy rows of `passk compare`: one row per pair of models × metric.

    data, metrics, interval … short_tasks : as in `estimate`.
    baseline : compare each model with this one; all pairs when None.
    test, adjust, family, margin : as the options of the same names.
    Returns columns model, against, <groups>, metric, estimate, low, high, p, p_adjusted, verdict
    and more; estimate is the difference, model − against.
    Errors, warnings: as in `estimate`.

    >>> import pandas as pd
    >>> rows = [(m, t, 8, 8 if m == "a" else t % 3) for m in "ab" for t in range(8)]
    >>> frame = pd.DataFrame(rows, columns=["model", "task", "n", "c"])
    >>> compare(frame, "pass@1")[["model", "against", "verdict", "p"]].values.tolist()
    [['a', 'b', 'better', 0.0078125]]
    """
    question, asked = command_of("compare").ask(
        {
            "metrics": metrics, "baseline": baseline, "test": test, "adjust": adjust,
            "family": family, "margin": margin, "interval": interval, "level": level,
            "population": population, "resamples": resamples, "seed": seed,
            "short_tasks": short_tasks,
        }
    )  # fmt: skip
    counts = data if isinstance(data, Counts) else _read(data, asked.metrics.metrics)
    return _frame(answer(question, asked, lambda *_: counts))


def _read(data: pd.DataFrame, metrics: Sequence[Metric]) -> Counts:
    threshold = math.inf if scores_only(metrics) else None
    return read(data, threshold=threshold, attempts=needs(metrics))


def _clustered(counts: Counts) -> str | None:
    """What the signature says of clusters that came with the counts."""
    return None if counts.clusters is None else "yes"


def _names(metrics: str | Sequence[str]) -> str:
    return metrics if isinstance(metrics, str) else ",".join(metrics)


def _frame(report: Report) -> pd.DataFrame:
    """The tidy rows; what the command line warns of on stderr is warned of here."""
    import pandas as pd

    for note in report.notes:
        if note.level == "warning":
            # At the line that called estimate or compare.
            warnings.warn(note.text, PasskWarning, stacklevel=3)
    columns = [column.name for column in report.data.columns]
    return pd.DataFrame(list(report.data.rows), columns=columns)
