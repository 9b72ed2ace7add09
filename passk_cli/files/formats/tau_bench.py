"""τ-bench's results: an array of {task_id, reward, info, traj, trial}.

Source: github.com/sierra-research/tau-bench (MIT), tau_bench/run.py and types.py, EnvRunResult.
Neither the model nor the domain is in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import File, Format, Row, Wanted, at, judged, outcomes_alone

_SLACK = 1e-6


def passes(reward: float) -> bool:
    """τ-bench's and τ²-bench's rule: a reward of 1, but for rounding.

    >>> passes(1.0 - 1e-7), passes(0.999), passes(2.0)
    (True, False, False)
    """
    return abs(reward - 1) <= _SLACK


def _rows(file: File, wanted: Wanted) -> Iterator[Row]:
    for result in file.records():
        # A run that broke down was given a reward of 0.
        failed = at(result, "info", "error") is not None
        points = judged(None if failed else at(result, "reward"), passes)
        reason = "error" if failed else ""
        yield Row(at(result, "task_id"), *points, at(result, "trial"), reason, "no score")


TAU_BENCH = Format(
    "tau-bench",
    "a reward of 1 (± 1e-6); a run that ended in an error is no outcome (τ-bench: reward 0)",
    "github.com/sierra-research/tau-bench: tau_bench/run.py, types.py",
    lambda file: file.form == "array" and file.has("[].task_id", "[].reward", "[].traj"),
    outcomes_alone(_rows),
)
