"""The pictures of README and docs show what the program draws and says now."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from docs import figures
from passk_cli.charts.theme import THEMES
from tests.conftest import mark_long_except

RENEW = "renew with: python -m docs.renew --figures (the page: with chromium)"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
# Half a pixel: the last digits of a place are the processor's.
_NEAR = 0.5


def words(svg: str) -> list[str]:
    """The texts of a picture, in their order."""
    return re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)


def same_picture(svg: str, other: str) -> bool:
    """Whether two pictures have the same words and shapes, each at the same place."""
    if words(svg) != words(other) or _NUMBER.split(svg) != _NUMBER.split(other):
        return False
    places = [np.array(_NUMBER.findall(first), dtype=float) for first in (svg, other)]
    return np.allclose(*places, rtol=0, atol=_NEAR)


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize(
    "name",
    mark_long_except([*figures.COMMANDS, *figures.BENCHMARKS], "leaderboard", "curve"),
)
def test_pictures_are_as_drawn(name: str, tmp_path: Path) -> None:
    figures.draw([name], tmp_path)
    for theme in THEMES:
        file = f"{name}-{theme}.svg"
        stored, fresh = ((folder / file).read_text() for folder in (figures.IMAGES, tmp_path))
        assert words(stored) == words(fresh), f"{file}; {RENEW}"
        assert same_picture(stored, fresh), f"{file}; {RENEW}"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_the_page_says_what_its_picture_shows() -> None:
    assert (figures.IMAGES / "report.txt").read_text() == figures.top(figures.page()), RENEW


def test_every_picture_is_drawn() -> None:
    expected = {f"{name}-{theme}.svg" for name in (*figures.COMMANDS, *figures.BENCHMARKS)
             for theme in THEMES}  # fmt: skip
    page = {"report.txt", "logo.svg", *(f"report-{theme}.png" for theme in THEMES)}
    assert {path.name for path in figures.IMAGES.iterdir()} == expected | page


def test_a_difference_is_seen() -> None:
    svg = '<path d="M1,2.5L3,4"/><text x="1">now 0.14</text>'
    assert same_picture(svg, svg.replace("2.5", "2.6"))
    assert not same_picture(svg, svg.replace("2.5", "12.5"))
    assert not same_picture(svg, svg.replace("0.14", "0.15"))
    assert not same_picture(svg, svg.replace("L3,4", "L3,4L5,6"))
