"""Tests of charts as files: their content, their look, and that they need no network."""

from __future__ import annotations

import html
import itertools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passk_cli.charts import PICTURE_SUFFIXES
from passk_cli.charts.picture import picture_bytes
from passk_cli.charts.theme import THEMES, rgb
from passk_cli.diagnostic import Diagnostic
from passk_cli.report.data_types import Report
from passk_cli.report.plot import Plot, curves
from tests.charts.plots import PLOTS
from tests.conftest import Write

MAGIC = {".png": b"\x89PNG\r\n", ".svg": b"<svg", ".pdf": b"%PDF-", ".html": b"<!DOCTYPE html>"}


def report(*plots: Plot, **more: Any) -> Report:
    return Report(make_plots=lambda: plots, make_signature=lambda: {"passk": "0"}, **more)


@pytest.mark.parametrize("suffix", MAGIC)
def test_pictures_have_the_format_of_their_suffix(suffix: str, page: str) -> None:
    content = page.encode() if suffix == ".html" else picture_bytes(report(*PLOTS.values()), suffix)
    assert content.startswith(MAGIC[suffix])
    assert len(content) > 10_000


def test_all_suffixes_are_drawn() -> None:
    assert set(MAGIC) == set(PICTURE_SUFFIXES)


def test_still_pictures_contain_only_visible_points() -> None:
    svg = picture_bytes(report(PLOTS["lone"]), ".svg").decode()
    assert "data-say" not in svg
    assert 'fill-opacity="0"' not in svg
    assert "data-say" in picture_bytes(report(PLOTS["lone"]), ".html").decode()


def test_several_plots_are_stacked_vertically() -> None:
    single, double = (picture_bytes(report(*plots), ".svg").decode()
                 for plots in ([PLOTS["labels"]], [PLOTS["labels"], PLOTS["forest"]]))  # fmt: skip
    heights = [float(re.search(r'height="([\d.]+)"', svg)[1]) for svg in (single, double)]  # type: ignore[index]
    assert heights[1] > heights[0] + 50
    assert all(f">{PLOTS[name].title}<" in double for name in ("labels", "forest"))


# Machado, Oliveira and Fernandes 2009, severity 1; linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    t = XYZ @ rgb.clip(0, 1) / [0.95047, 1, 1.08883]
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colours_differ_with_every_colour_blindness(theme: str, blindness: str) -> None:
    colours = [lab(np.array(BLINDNESS[blindness]) @ linear(c)) for c in THEMES[theme].series]
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)]
    assert min(distances) > 20


@pytest.mark.parametrize("theme", THEMES)
def test_colours_have_enough_contrast(theme: str) -> None:
    look = THEMES[theme]

    def contrast(colour: str) -> float:
        low, high = sorted(float((XYZ @ linear(c))[1]) for c in (colour, look.paper))
        return (high + 0.05) / (low + 0.05)

    assert contrast(look.text) > 12
    assert contrast(look.faint) > 4.5
    assert min(map(contrast, look.series)) >= 3
    lightness = [lab(linear(colour))[0] for colour in look.series]
    assert np.abs(np.diff(lightness)).min() > 4


EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def page() -> str:
    """A page of all charts, and a page of one chart with names that try to break it."""
    rows = [{"k": k, "value": 0.5, "model": EVIL} for k in (1, 2)]
    plot = curves(rows, x="k", y="value", colour="model", title=EVIL)
    return picture_bytes(
        report(
            *PLOTS.values(),
            plot,
            messages=(Diagnostic("evil", "note", "{text}", fields={"text": EVIL}),),
        ),
        ".html",
    ).decode()


def test_a_page_does_not_load_other_files(page: str) -> None:
    head, _, body = page.partition("</head>")
    assert "default-src 'none'" in html.unescape(head)
    for text in (head, re.sub(r"<script>.*?</script>", "", body, flags=re.S)):
        assert not re.findall(r"""(?:src|href)=["']?(?!data:)[^"'>]+|@import|url\(""", text)


def test_names_cannot_leave_their_place_in_a_page(page: str) -> None:
    assert EVIL not in page
    assert html.escape(EVIL) in page


BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
# The script hovers over every point and then writes down what the reader would see.
PROBE = """<script>
setTimeout(() => {
  const found = [];
  document.querySelectorAll("figure svg path, figure svg circle").forEach((mark) => {
    const box = mark.getBoundingClientRect();
    const [clientX, clientY] = [box.x + box.width / 2, box.y + box.height / 2];
    const where = { bubbles: true, clientX, clientY };
    for (const kind of ["pointermove", "mousemove"])
      mark.dispatchEvent(new PointerEvent(kind, where));
    const tip = document.querySelector("#tip:not([hidden])");
    if (tip) found.push(tip.textContent);
  });
  const said = document.createElement("pre");
  said.id = "said";
  const paper = getComputedStyle(document.body).backgroundColor;
  said.textContent = JSON.stringify([...new Set(found)]) + ` paper: ${paper}`;
  document.body.append(said);
}, 3000);
</script>"""


@pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine to open the page in")
@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_the_page_works_in_a_browser_without_network(
    page: str, scheme: int, tmp_path: Path, write: Write
) -> None:
    # The security policy of the page would block the script of this test.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    file = write("chart.html", page.removesuffix("</body>\n</html>\n") + PROBE)
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
        " --disable-background-networking --disable-component-update --disable-sync"
        " --enable-logging=stderr --v=0 --virtual-time-budget=6000 --dump-dom"
        f" --proxy-server=127.0.0.1:9 --blink-settings=preferredColorScheme={scheme}"
    ).split()
    hosts = "--host-resolver-rules=MAP * ~NOTFOUND"
    result = subprocess.run(
        [BROWSER, *options, hosts, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "CONSOLE" not in result.stderr
    figures = re.findall(r"<figure.*?</figure>", result.stdout, flags=re.S)
    assert len(figures) == len(PLOTS) + 1
    for figure, plot in zip(figures, PLOTS.values(), strict=False):
        assert f'aria-label="{plot.title}' in figure
    red, green, blue = rgb(THEMES["light" if scheme else "dark"].paper)
    assert f"paper: rgb({red}, {green}, {blue})" in result.stdout
    text = re.search(r'<pre id="said">(.*?)</pre>', result.stdout, flags=re.S)
    assert text is not None
    tips = html.unescape(text[1])
    # Points of a curve, a forest and a density, with the values behind them.
    last = f"{PLOTS['labels'].rows[-1]['y']:.4g}"
    for expected in ("model-1", "pass^k", last, "model-0 − model-2", "pass@10", "estimate"):
        assert expected in tips
