"""How tests are adjusted that flip no signs."""

from __future__ import annotations

import pytest

from passk_cli.errors import ParameterError
from passk_cli.study.rules import Rules


@pytest.mark.parametrize(
    ("asked", "used"), [(None, "holm"), ("holm", "holm"), ("bh", "bh"), ("none", "none")]
)
def test_holm_unless_asked_for_another(asked: str | None, used: str) -> None:
    assert Rules(adjust=asked).without_flips() == used


def test_max_t_flips_signs() -> None:
    with pytest.raises(ParameterError, match="--adjust holm"):
        Rules(adjust="max-t").without_flips()
