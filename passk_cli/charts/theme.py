"""The colours and the font of charts."""

from __future__ import annotations

from dataclasses import dataclass

# passk includes Liberation Sans, because its letters are as wide as the letters of Arial.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True, eq=False, repr=False)
class Theme:
    """The colours of a chart: background (`paper`), text, axes (`faint`), grid and series."""

    paper: str
    text: str
    faint: str
    grid: str
    series: tuple[str, ...]


# The colours are from Okabe and Ito (2008), adjusted so that colour-blind readers can distinguish
# all series. Neighbouring colours also differ in lightness, so that you can distinguish the series
# in grey print.
THEMES = {
    "light": Theme(
        "#ffffff", "#1b1f24", "#5b6570", "#e3e6ea",
        ("#16569e", "#d97c00", "#00884f", "#b23f03", "#0f9cec", "#222222", "#c27fa2", "#8020e0"),
    ),
    "dark": Theme(
        "#14171a", "#e8ebee", "#a3acb5", "#2c3238",
        ("#4f85e0", "#f8c030", "#3ad491", "#e56a3a", "#aed0ff", "#f5f1ec", "#b080a8", "#7d2cf5"),
    ),
}  # fmt: skip


def rgb(paint: str) -> tuple[int, int, int]:
    """The red, green and blue parts (0 to 255) of a colour that is written as #rrggbb."""
    return int(paint[1:3], 16), int(paint[3:5], 16), int(paint[5:7], 16)


def mix_colours(paint: str, paper: str, share: float) -> str:
    """The colour `paint` mixed with a share of the colour `paper`.

    The result is a CSS formula if `paint` is a CSS variable, and otherwise has the form #rrggbb.
    """
    if not share:
        return paint
    if not paint.startswith("#"):
        return f"color-mix(in srgb, {paper} {100 * share:.0f}%, {paint})"
    parts = zip(rgb(paint), rgb(paper), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)
