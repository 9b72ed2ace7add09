"""Computes the widths of texts in charts."""

from __future__ import annotations

import re
from functools import partial

from passk_cli.text import display_width, wrap_text

# The width of each letter in Liberation Sans and Arial, as a share of the font size.
_LETTER_WIDTHS = {
    letter: width / 1000
    for width, letters in {
        191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r·", 355: '"', 389: "*",
        469: "^", 500: "Jcksvxyz", 556: "#$0123456789?L_abdeghnopqu–", 584: "+<=>~−",
        611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%",
        944: "W", 1000: "…—", 1015: "@",
    }.items()
    for letter in letters
}  # fmt: skip


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a text in units of the drawing, approximate for scripts other than Latin."""
    text = text.replace("\u00a0", " ")
    width = sum(_LETTER_WIDTHS.get(letter, 0.62 * display_width(letter)) for letter in text)
    # Bold words are at most 8 % wider than normal words.
    return size * width * (1.08 if bold else 1.0)


def wrapped_chart_text(
    text: str, size: float, longest: float, *, bold: bool = False, joint: str = " "
) -> list[str]:
    """The text in lines of at most `longest`.  Expressions such as "p = 0.03" stay in one line."""
    text = re.sub(r"(?<=\bp) ([<=]) (?=\d)", "\u00a0\\1\u00a0", text)
    return wrap_text(text, longest, partial(text_width, size=size, bold=bold), joint)
