"""Words of reference lines hide no line where there is room."""

from __future__ import annotations

import pytest

from passk_cli.charts.layout import Lines
from passk_cli.charts.placing import WordPlace, word_places
from passk_cli.report.plot import Plot, Rule, curves

LETTER, HEIGHT = 0.02, 0.06
START, END = WordPlace(), WordPlace(at_end=True)
UNDER_START, UNDER_END = WordPlace(below=True), WordPlace(below=True, at_end=True)


def plot_of(values: list[float], *rules: Rule, band: float = 0.0, facet: str = "") -> Plot:
    """A line through values at x = 0, 1, 2 …, with a band of a half-width."""
    rows = [
        {"x": x, "y": y, "low": y - band, "high": y + band, "panel": "p"}
        for x, y in enumerate(values)
    ]
    limits = {"low": "low", "high": "high"} if band else {}
    return curves(rows, x="x", y="y", **limits, facet=facet, rules=rules, log_x=False)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "height", "place"),
    [
        ([0.9, 0.9, 0.9], 0.5, START),
        ([0.53, 0.53, 0.9], 0.5, UNDER_START),
        ([0.50, 0.53, 0.9], 0.5, END),
        ([0.50, 0.50, 0.53], 0.5, UNDER_END),
        # Under the lowest line there is no room, and over it the line starts.
        ([0.05, 0.3, 0.6], 0.02, END),
    ],
)
def test_the_first_place_that_hides_no_line(
    values: list[float], height: float, place: WordPlace
) -> None:
    rule = Rule(y=height, text="0123456789")
    plot = plot_of(values, rule)
    assert word_places(plot, Lines.of(plot), LETTER, HEIGHT) == {rule: place}


def test_of_places_without_a_line_one_without_a_band() -> None:
    rule = Rule(y=0.5, text="0123456789")
    for band, place in ((0.0, START), (0.08, END)):
        plot = plot_of([0.45, 0.45, 0.9], rule, band=band)
        assert word_places(plot, Lines.of(plot), LETTER, HEIGHT) == {rule: place}


def test_words_and_lines_of_other_rules_are_not_hidden() -> None:
    first, second = Rule(y=0.52, text="first"), Rule(y=0.5, text="second")
    plot = plot_of([0.9, 0.9, 0.9], first, second, Rule(x=0.1, text="vertical"))
    places = word_places(plot, Lines.of(plot), LETTER, HEIGHT)
    assert places == {first: END, second: UNDER_END}


def test_in_panels_words_are_over_the_start() -> None:
    rule = Rule(y=0.5, text="0123456789")
    plot = plot_of([0.53, 0.53, 0.9], rule, facet="panel")
    assert word_places(plot, Lines.of(plot), LETTER, HEIGHT) == {rule: START}
