"""Tests of the page as a file: its content, its safety against names in data, and Markdown."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
import warnings
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli import pages
from passk_cli.charts.theme import THEMES, rgb
from passk_cli.pages.leaderboard import leaderboard_view
from passk_cli.render.style import Style, answer_text
from passk_cli.report.data_types import Column, Estimate, Leaderboard, LeaderboardRow

EVIL = (
    "<script>alert(1)</script>", "a|b&c", "long" * 75, "שלום \u202eabc", '"><img src=x>',
    "{{ 7 * 7 }}", "$(x) ; </style>",
)  # fmt: skip


def rows(models: tuple[str, ...]) -> list[dict[str, Any]]:
    """A few tasks and attempts of each model; every other name is evil too."""
    return [
        {"model": model, "task": f"{EVIL[t % len(EVIL)]} {t}", "attempt": k,
         "passed": (7 * m + 5 * t + 3 * k * t) % (m + 3) > 0}
        for m, model in enumerate(models) for t in range(8) for k in range(3)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def hostile_findings() -> passk_cli.Findings:
    """A page with few of its pictures, because pictures are slow to draw."""
    with warnings.catch_warnings(action="ignore"):
        result = passk_cli.report(rows(EVIL[:3]), metrics="pass@1", headline=EVIL[0], resamples=100)
    page = result.report.page
    assert page is not None
    (section,) = page.chapters
    panels = tuple(
        panel if panel.name in ("leaderboard", "curves")
        else replace(panel, report=replace(panel.report, make_plots=tuple))
        for panel in section.panels
    )  # fmt: skip
    page = replace(page, chapters=(replace(section, panels=panels),))
    return passk_cli.Findings(replace(result.report, page=page))


@pytest.fixture(scope="module")
def text(hostile_findings: passk_cli.Findings) -> str:
    return pages.page_files_by_name(hostile_findings.report, "html", Style())[""].decode()


class Elements(HTMLParser):
    """Every element with its attributes, and the text of tables and headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "h1"} & set(self.open):
            self.cells.append(data)


def test_names_stay_text(text: str) -> None:
    elements = Elements(text)
    names = [tag for tag, _ in elements.tags]
    # The page contains the results at every task as JSON, and the script that shows them.
    assert names.count("script") == 2
    assert "img" not in names
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert "alert(1)" not in script
    assert "<" not in data
    assert set(EVIL[:3]) == set(json.loads(data)["models"])
    titles = {attrs["title"] or "" for _, attrs in elements.tags if "title" in attrs}
    assert {EVIL[0], "a|b&c", EVIL[2]} <= {*elements.cells, *titles}
    assert not any(name.startswith("on") for _, attrs in elements.tags for name in attrs)
    assert "49" not in re.findall(r"\b49\b", "".join(elements.cells))
    assert "\u202e" not in text


def test_a_page_requests_no_resources(text: str) -> None:
    for _, attributes in Elements(text).tags:
        for name in ("src", "srcset", "action", "data"):
            assert not attributes.get(name)
        assert (attributes.get("href") or "#").startswith(("#", "data:"))
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


def test_addresses_are_unique_and_links_lead_to_them(text: str) -> None:
    tags = Elements(text).tags
    places = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(places) == len(set(places))
    links = [attributes["href"] or "" for tag, attributes in tags
             if tag == "a" and "download" not in attributes]  # fmt: skip
    assert {link[1:] for link in links} <= set(places)
    assert {"leaderboard", "differences", "curves", "tasks", "quality", "notes"} <= set(places)


def test_links_of_the_contents_reach_their_sections(text: str) -> None:
    """The test fails if a browser draws distant parts late and therefore scrolls too far."""
    assert "content-visibility" not in text
    assert "scroll-behavior" not in text


def test_the_leaderboard_comes_first_and_needs_no_script(text: str) -> None:
    page = Elements(text[: text.index("</table>")])
    assert {"tbody", "circle", "line"} <= {tag for tag, _ in page.tags}
    assert {"a|b&c", EVIL[2]} <= set(page.cells)
    words = re.sub(r"<(style|script|option)\b.*?</\1>|<[^>]+>", " ", text[: text.index("<table")],
                   flags=re.DOTALL)  # fmt: skip
    assert len(words.split()) < 200
    assert "<noscript>" in text
    head = text[text.index("<body") : text.index("</thead>")]
    assert head.count("aria-sort") == 1
    assert '<button type="button">model</button>' in head


def test_the_address_contains_the_choices_of_the_reader(text: str) -> None:
    script = text[text.rindex("<script>") :]
    for key in ("metric", "sort", "find", "tied", "task", "tasks", "class"):
        assert f"keep(`{key}${{end}}`" in script
        assert f"state.get(`{key}${{end}}`)" in script


def test_numbers_are_downloaded_from_the_page_itself(text: str) -> None:
    for kind in ("text/csv", "application/json"):
        # The leaderboard comes first, and then the differences.
        content, _ = re.findall(rf'href="data:{kind};base64,([^"]*)"', text)
        numbers = b64decode(content).decode()
        assert "pass@1" in numbers
        assert "letters" in numbers
    assert len(json.loads(numbers)["rows"]) == 3


def test_a_page_of_four_models_is_short() -> None:
    models = ("ada", "bob", "cyd", "dan")
    with warnings.catch_warnings(action="ignore"):
        result = passk_cli.report(rows(models), resamples=100)
    page = pages.page_files_by_name(result.report, "html", Style())[""].decode()
    body = re.sub(r"<(style|script)\b.*?</\1>|<[^>]+>", " ", page[page.index("<body") :],
                  flags=re.DOTALL)  # fmt: skip
    assert len(body.split()) <= 1500


def test_a_long_table_can_be_searched(hostile_findings: passk_cli.Findings) -> None:
    page = hostile_findings.report.page
    assert page is not None
    panel = next(panel_ for panel_ in page.chapters[0].panels if panel_.name == "curves")
    table = panel.report.tables[0]
    long = replace(table, rows=[*table.rows] * 4, rows_without_full=0)
    panel = replace(panel, report=replace(panel.report, tables=(long,), make_plots=tuple))
    page = replace(page, chapters=(replace(page.chapters[0], panels=(panel,)),))
    text = pages.page_files_by_name(replace(hostile_findings.report, page=page), "html", Style())[
        ""
    ].decode()
    assert re.search(r'<div class="table">\s*<div class="tools"><label>Search <input ', text)
    assert "<output>12 rows</output>" in text


def test_many_models_and_tasks_make_a_small_page() -> None:
    draws = np.random.default_rng(5)
    many = [
        {"model": f"m{m:03}", "task": f"t{t:03}", "n": 4, "c": int(c)}
        for m in range(24)
        for t, c in enumerate(draws.binomial(4, (m + 1) / 25, 60))
    ]
    with warnings.catch_warnings(action="ignore"):
        result = passk_cli.report(many, metrics=["pass@1", "pass^4"], resamples=100)
    page = pages.page_files_by_name(result.report, "html", Style())[""]
    assert page.count(b"<tr>") < 3 * 24 + 60
    assert len(page) < 200_000
    data = json.loads(re.findall(rb'<script type="application/json">(.*?)</script>', page)[0])
    assert [len(row) for row in data["codes"]] == [60 * data["digits"]] * 24


def test_places_of_intervals_are_inside_the_drawing() -> None:
    numbers = tuple(
        Estimate(v, low=v / 2, high=math.inf if v > 5 else 2 * v, unit="$") for v in (0.1, 3.0, 9.0)
    )
    entries = tuple(LeaderboardRow(str(n.value), (n,), ("1",), ()) for n in numbers)
    view = leaderboard_view(Leaderboard((Column("cost", "$"),), (), entries), Style())
    places = [
        place
        for e in view.entries
        for n in e.numbers
        for place in (*n.value_point_positions, *n.interval_positions)
    ]
    assert all(0 <= place <= 100 for place in places)
    (metric,) = view.metrics
    assert metric.lower_is_better
    assert [text for _, text in metric.ticks] == ["$0", "$2", "$4", "$6", "$8"]


def test_drawings_are_xml_with_the_colours_of_the_page(text: str) -> None:
    drawings = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(drawings) >= 2
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert not re.findall(r'(?:fill|stroke)="#', drawing)
    variables = set(re.findall(r"var\((--[a-z0-9-]+)\)", text))
    assert variables <= set(re.findall(r"(--[a-z0-9-]+):", text))
    assert "data-say=" in text


def test_the_answer_is_the_headline(hostile_findings: passk_cli.Findings, text: str) -> None:
    (headline,) = re.findall(r"<h1[^>]*>(.*?)</h1>", text)
    expected = answer_text(hostile_findings.report, Style().copy_with_typographic_minus)
    assert expected
    assert unescape(headline) == expected


def test_markdown_pictures_are_in_a_folder_next_to_it(
    hostile_findings: passk_cli.Findings, tmp_path: Path
) -> None:
    path = tmp_path / "my report.md"
    hostile_findings.save(path)
    page = path.read_text()
    images = re.findall(r'(?:src|srcset)="([^"]+)"', page)
    assert len(images) == 4
    assert {image.split("/")[0] for image in images} == {"my%20report_images"}
    files = {file.name for file in (tmp_path / "my report_images").iterdir()}
    assert {image.split("/")[1] for image in images} == files
    assert "<script>" not in page
    assert page.startswith("# \\<script\\>alert(1)")
    assert "a\\|b\\&c" in page


def test_markdown_without_a_file_has_no_pictures(hostile_findings: passk_cli.Findings) -> None:
    files = pages.page_files_by_name(hostile_findings.report, "markdown", Style())
    assert list(files) == [""]
    assert not re.search(rb"(?<!\\)<(?:img|picture)", files[""])


def test_a_report_without_a_page_is_refused() -> None:
    report = passk_cli.estimate(rows(EVIL[:1])).report
    for name in pages.SUFFIX_BY_FORMAT:
        with pytest.raises(ValueError, match="cannot be shown as a page"):
            pages.page_files_by_name(report, name, Style())


@pytest.mark.parametrize("theme", THEMES)
def test_all_words_have_enough_contrast(theme: str) -> None:
    """What axe-core leaves open: words in drawings, in cells that scroll, of one letter."""
    look = THEMES[theme]

    def light(paint: tuple[float, ...]) -> float:
        linear = [v / 3294.6 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in paint]
        return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    hovered = tuple(0.3 * g + 0.7 * p for g, p in zip(rgb(look.grid), rgb(look.paper), strict=True))
    grounds: list[tuple[float, ...]] = [rgb(look.paper), hovered]
    pairs = [(rgb(paint), ground) for paint in (look.text, look.faint) for ground in grounds]
    pairs += [(rgb(look.series[0]), ground) for ground in grounds]
    pairs += [(rgb(look.text), rgb(look.grid)), (rgb(look.paper), rgb(look.text))]
    for words, ground in pairs:
        high, low = sorted((light(words), light(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def with_script(text: str, script: str) -> str:
    """The page with a script of a test, which its security policy would block."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return page.replace("</head>", script, 1)


PROBE = """<script>
window.onerror = (text) => { document.body.dataset.error = text; };
addEventListener("load", () => {
  document.body.dataset.beyond = document.body.scrollWidth - document.body.clientWidth;
  const texts = [...document.querySelectorAll(".panels text, .legend text")];
  document.body.dataset.cut = texts.filter((text) => {
    const [own, all] = [text, text.closest("svg")].map((each) => each.getBoundingClientRect());
    return own.left < all.left - 1 || own.right > all.right + 1;
  }).length;
  const board = document.querySelector(".board table");
  const [head] = board.querySelectorAll("th.number button");
  const keys = () => [...board.tBodies[0].rows].map(
    (row) => Number(row.cells[head.closest("th").cellIndex].dataset.key));
  head.click();
  document.body.dataset.up = keys().every((key, i, all) => !i || all[i - 1] <= key);
  head.click();
  document.body.dataset.down = keys().every((key, i, all) => !i || all[i - 1] >= key);
  const input = document.querySelector("#tasks [name=find]");
  input.value = "A|B&C";
  input.dispatchEvent(new Event("input"));
  document.body.dataset.rows = document.querySelector("#tasks output").textContent;
  document.querySelector("#tasks .task").click();
  document.body.dataset.attempts = document.querySelector(".attempts").textContent;
  document.body.dataset.address = decodeURIComponent(location.hash);
  board.querySelector(".task").click();
  document.body.dataset.facts = JSON.stringify([...document.querySelectorAll(".facts li")].map(
    (line) => [...line.children].slice(0, 2).map((part) => part.textContent)));
  const mark = document.querySelector("svg [data-say]");
  mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  document.body.dataset.tip = document.getElementById("tip").textContent;
});
</script></head>"""


def test_the_page_passes_its_checks_in_a_browser(text: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    page = tmp_path / "page.html"
    # The page uses another font with wider letters than the charts were made for.
    page.write_text(with_script(text, PROBE).replace('"Liberation Sans"', '"DejaVu Sans"'))
    result = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri(),
         "--window-size=768,900",
         f"--user-data-dir={tmp_path / 'profile'}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    body = next(attrs for tag, attrs in Elements(result.stdout).tags if tag == "body")
    assert "data-error" not in body
    assert (body["data-beyond"], body["data-cut"]) == ("0", "0")
    assert body["data-down"] == body["data-up"] == "true"
    assert body["data-rows"] == "1 of 8 tasks"
    assert "of 3" in (body["data-attempts"] or "")
    assert (body["data-address"] or "").startswith("#tasks=A|B&C&task=a|b&c")
    assert "model: " in (body["data-tip"] or "")
    facts = dict(json.loads(body["data-facts"] or ""))
    # Every second model has the same verdict, and every metric has its interval.
    verdicts = [facts[f] for f in ("Significantly better", "Tied", "Significantly worse")]
    assert sum(int(re.sub(r"\D.*", "", v, flags=re.DOTALL) or 0) for v in verdicts) == 2
    assert re.fullmatch(r"0\.\d+ \[0\.\d+, [01]\.\d+\]", facts["pass@1"])
    assert "task" in facts["Solved only by this model"]
    assert "task" in facts["Failed only by this model"]


FIT = """<script>addEventListener("load", () => {
  const wide = document.querySelector(".board .wide"), own = document.body.dataset;
  own.over = wide.scrollWidth - wide.clientWidth;
  own.shown = [...document.querySelectorAll("th.value")].filter((head) => !head.hidden).length;
});</script></head>"""


@pytest.mark.parametrize(("width", "fewest"), [(1200, 4), (900, 2)])
def test_metrics_leave_a_board_before_one_is_cut(width: int, fewest: int, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    names = [f"organisation/a-model-of-a-long-name-{at}-instruct-2026" for at in range(3)]
    rows = [{"model": name, "task": f"t{t}", "n": 12, "c": (5 * at + 7 * t) % 13}
            for at, name in enumerate(names) for t in range(9)]  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        result = passk_cli.report(rows, k=[*range(1, 13)], board=True, resamples=100)
    page = tmp_path / "page.html"
    text = pages.page_files_by_name(result.report, "html", Style())[""].decode()
    page.write_text(with_script(text, FIT))
    outcome = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri(),
         f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    body = next(attrs for tag, attrs in Elements(outcome.stdout).tags if tag == "body")
    assert body["data-over"] == "0"
    assert fewest <= int(body["data-shown"] or 0) < 24


PAPER = """<script>
addEventListener("load", () => {
  const tasks = document.querySelector("#tasks");
  const counted = () =>
    `${tasks.querySelectorAll(".task").length} ${tasks.querySelector("output").textContent}`;
  const screen = counted();
  dispatchEvent(new Event("beforeprint"));
  const paper = counted();
  dispatchEvent(new Event("afterprint"));
  const edge = document.body.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll(".table table, .tasks table")].filter(
    (table) => table.getBoundingClientRect().right > edge + 1);
  document.body.dataset.paper = JSON.stringify({
    screen, paper, after: counted(), beyond: wide.map((table) => table.tHead.textContent) });
});
</script></head>"""


def test_all_tasks_and_columns_are_printed_on_paper(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    chance = random.Random(1)
    prints = [
        {"model": f"organisation/a-model-of-a-long-name-{m}-instruct-2026@temperature=0.{m}",
         "task": f"t{t}", "passed": chance.random() < 0.6, "cost": 0.1 * (t % 3 + i + m + 1)}
        for m in range(4) for t in range(30) for i in range(2)
    ]  # fmt: skip
    path, page = tmp_path / "report.html", tmp_path / "page.html"
    passk_cli.report(prints).save(path)
    # A sheet between its margins is 710 pixels wide.
    page.write_text(with_script(path.read_text().replace("@media print", "@media all"), PAPER))
    result = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri(),
         "--window-size=710,900", f"--user-data-dir={tmp_path / 'profile'}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    body = next(attrs for tag, attrs in Elements(result.stdout).tags if tag == "body")
    assert json.loads(body["data-paper"] or "") == {
        "screen": "12 30 tasks", "paper": "30 30 tasks", "after": "12 30 tasks", "beyond": [],
    }  # fmt: skip


WIDE = """<script>
addEventListener("load", () => {
  const [board] = document.querySelectorAll(".board table");
  board.querySelector(".task").click();
  const inner = (each) => each.scrollWidth - each.clientWidth;
  document.body.dataset.beyond = Math.max(...[...document.querySelectorAll(".wide")].map(inner));
  const input = document.querySelector("#curves input");
  input.value = "instruct-2026-07";
  input.dispatchEvent(new Event("input"));
  document.body.dataset.rows = document.querySelector("#curves output").textContent;
});
</script></head>"""


def test_long_names_are_complete_in_tables_that_fit_the_page(tmp_path: Path) -> None:
    names = tuple(f"org/Some-Very-Long-Name-Coder-{m:02}B-Instruct-2026-{m:02}" for m in range(12))
    data = [{**row, "cost": 0.03} for row in rows(names)]
    with warnings.catch_warnings(action="ignore"):
        report = passk_cli.report(data, resamples=100).report
    text = pages.page_files_by_name(report, "html", Style())[""].decode()
    assert text.count(f">{names[3]}</bdi>") >= 2
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    (tmp_path / "page.html").write_text(with_script(text, WIDE))
    result = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--window-size=1280,900", f"--user-data-dir={tmp_path / 'profile'}",
         (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    body = next(attrs for tag, attrs in Elements(result.stdout).tags if tag == "body")
    assert (body["data-beyond"], body["data-rows"]) == ("0", "1 of 12 rows")


NARROW = """<script>
addEventListener("DOMContentLoaded", () => {
  const cells = [...document.querySelectorAll(".board td.kept")];
  const marked = cells.find((cell) => cell.textContent.includes("/"));
  parent.postMessage([Math.ceil(marked.getBoundingClientRect().right), innerWidth], "*");
});
</script></head>"""
# A window is 500 pixels wide at least.
PHONE = """<!doctype html><body><script>
addEventListener("message", (said) => {
  [document.body.dataset.right, document.body.dataset.width] = said.data;
});
</script><iframe src="page.html" style="width: 390px; height: 800px; border: 0"></iframe></body>"""


def test_lost_attempts_of_a_board_are_visible_on_a_phone(tmp_path: Path) -> None:
    """Next to long names the count and its mark are visible at 390 pixels."""
    names = [f"org/Some-Very-Long-Name-Coder-{m:02}B-Instruct-2026" for m in range(6)]
    data = [
        {"model": m, "task": f"t{t}", "n": 4 - (m == names[3] and t < 90), "c": t * (i + 1) % 7 % 3}
        for i, m in enumerate(names) for t in range(150)
    ]  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        report = passk_cli.report(data, board=True, resamples=100).report
    text = pages.page_files_by_name(report, "html", Style())[""].decode()
    assert "510 / 600 ⚠" in text
    assert ".board table:has(.kept) .draw { display: none; }" in text
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    (tmp_path / "page.html").write_text(with_script(text, NARROW))
    (tmp_path / "phone.html").write_text(PHONE)
    result = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--virtual-time-budget=5000", f"--user-data-dir={tmp_path / 'profile'}",
         (tmp_path / "phone.html").as_uri()],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    body = next(attrs for tag, attrs in Elements(result.stdout).tags if tag == "body")
    assert int(body["data-right"]) <= int(body["data-width"]) == 390
