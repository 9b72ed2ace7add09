"""What an interval depends on stands in the signature, and nothing else does."""

from __future__ import annotations

import pytest

from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.study.confidence import Confidence


@pytest.mark.parametrize(
    ("method", "population", "cluster", "uses_draws"),
    [
        ("percentile", NEW_TASKS, None, False),
        ("percentile", NEW_TASKS, "repo", True),
        ("percentile", THESE_TASKS, None, True),
        ("percentile", THESE_TASKS, "repo", True),
        ("jackknife", THESE_TASKS, None, False),
        ("t", NEW_TASKS, "repo", False),
        ("none", NEW_TASKS, "repo", False),
    ],
)
def test_the_signature_has_draws_only_if_the_method_draws(
    method: str, population: str, cluster: str | None, uses_draws: bool
) -> None:
    confidence = Confidence(interval=method, population=population, cluster=cluster, seed=3)
    entries = confidence.signature()
    assert (entries.get("resamples"), entries.get("seed")) == (
        (10_000, 3) if uses_draws else (None,) * 2
    )
