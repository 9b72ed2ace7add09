"""Noise within tasks of metrics that need more than counts."""

from __future__ import annotations

import numpy as np
import pytest

from passk_cli.inference.sampling_variance import within_variance, within_variance_from_attempts
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.attempts import AttemptValuesByCell


@pytest.mark.parametrize("k", [1, 2, 3])
def test_scores_of_zero_and_one_vary_as_passes_do(k: int) -> None:
    """Among them tasks with one attempt, of which none can be left out."""
    n, c = np.array([4, 1, 6, 3, 1]), np.array([1, 0, 6, 2, 1])
    rows = [
        [(x, m, x * m) for x, m in ((0, n - c), (1, c)) if m] for n, c in zip(n, c, strict=True)
    ]
    start = np.cumsum([0, *map(len, rows)])
    value, count, passed = np.array([row for cell in rows for row in cell]).T
    scores = AttemptValuesByCell(start, value.astype(float), count, passed)
    for graded, counts in ((f"best@{k}", f"pass@{k}"), (f"worst@{k}", f"pass^{k}")):
        metric = parse_metric(graded)
        with np.errstate(invalid="ignore"):
            result = within_variance_from_attempts(
                metric, scores, metric.values_from_attempts(scores)
            )
        expected = within_variance(parse_metric(counts), n, c)
        np.testing.assert_allclose(result, expected, atol=1e-14)
        assert np.isnan(result[[1, 4]]).all()
