"""How tests are adjusted that flip no signs."""

from __future__ import annotations

import pytest

from passk_cli.errors import ParameterError
from passk_cli.option import fill_options
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import ComparisonOptions


@pytest.mark.parametrize(
    ("option", "adjustment"), [(None, "holm"), ("holm", "holm"), ("bh", "bh"), ("none", "none")]
)
def test_holm_is_the_default_without_sign_flips(option: str | None, adjustment: str) -> None:
    assert ComparisonOptions(adjust=option).adjustment_without_sign_flips() == adjustment


def test_min_p_flips_signs() -> None:
    with pytest.raises(ParameterError, match="--adjust holm"):
        ComparisonOptions(adjust="min-p").adjustment_without_sign_flips()


def test_earlier_names_are_accepted_for_one_release() -> None:
    assert fill_options(ComparisonOptions, {"adjust": "max-t"}).adjust == "min-p"
    assert fill_options(Confidence, {"interval": "tango"}).interval == "paired-score"
