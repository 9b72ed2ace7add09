"""Names that would be commands, markup or line breaks: every format of every command shows them as
names, and ordinary ones as they are."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from passk_cli import pages, render
from passk_cli.charts.picture import picture_bytes
from passk_cli.cli.output import OutputOptions
from passk_cli.option import load_object
from passk_cli.render.style import Style, visible_parts
from passk_cli.report.data_types import Report
from passk_cli.text import is_unprintable, printable
from tests.conftest import SAMPLES, Passk, Write, jsonl, mark_long_except

ORDINARY = "é中 👩‍🔬 R2-D2"
TERMINAL = "t\x1b[31m\x9b1m\r\x08\x7f\u202e\u2028\ufeff\x85::error::x\nEVIL"
MARKUP = "m\n\\input{evil}%$x$&#_^~|`b`<script>alert(1)</script>[l](u)**]]>\ufffe&lt;"
TABLE = 'c,"d"\te\rf;=1+1\r\nEVIL'
COLUMN = "g\x1b[0m|`$\\evil{}\nEVIL"


# Nothing is broken into lines that was one.
WIDE, COLOURED = Style(terminal_width=10_000), Style(terminal_width=10_000, colour=True)


@pytest.fixture
def results(write: Write) -> tuple[Path, ...]:
    """A file per model, named as badly as a file can be, with tasks and groups no better."""
    paths = []
    for at, name in enumerate((TERMINAL, MARKUP.replace("/", "∕"), TABLE)):
        rows = [
            {
                COLUMN: (ORDINARY, TABLE)[attempt // 6],
                "task": f"{MARKUP}{task}",
                "attempt": attempt % 6 + 1,
                "passed": (task * 7 + attempt * (3 + at)) % 5 > 1 + task % 2,
                "temperature": (0.2, 0.8)[attempt // 6],
                "solution": f"{TERMINAL}{task}{attempt % 4}",
            }
            for task in range(12)
            for attempt in range(12)
        ]
        path = write(f"{name}.jsonl", jsonl(rows))
        paths.append(path)
    return tuple(paths)


BY = ["--by", COLUMN]
COMMANDS: dict[str, list[str]] = {
    "estimate": ["-k", "1,3", *BY],
    "compare": ["-m", "pass@1", "--crossings", *BY],
    "gate": ["--min", "pass@1=0.7", "--baseline", TABLE, "--max-drop", "pass@1=0.01", *BY],
    "bootstrap": ["-k", "1", "--resamples", "100", *BY],
    "curve": ["--delta", *BY],
    "extrapolate": [*BY],
    "order": ["-k", "1,2", *BY],
    "diversity": ["-k", "1,2", *BY],
    "temperature": ["-k", "1,2", "--duplicates", "keep"],
    "plan": ["-k", "1", "--where", "temperature < 0.5"],
    "describe": ["--duplicates", "keep", "--full"],
    "convert": ["-o", "/dev/null", "-f", "csv", *BY],
    "tasks": ["--against", TABLE, *BY],
    "report": ["-m", "pass@1", "--resamples", "100", "--where", "attempt < 3", *BY],
}


@pytest.mark.parametrize(
    "command", mark_long_except(COMMANDS, "estimate", "compare", "gate", "curve", "tasks")
)
def test_hostile_names_are_escaped_in_every_output(
    passk: Passk, monkeypatch: pytest.MonkeyPatch, results: tuple[Path, ...], command: str
) -> None:
    reports: list[Report] = []
    monkeypatch.setattr(OutputOptions, "write", keeping(reports, OutputOptions.write))
    # A plan names its pilot when that is of one model; flips are of two.
    files = {"plan": results[1:2], "report": results[:2]}.get(command, results)
    result = passk(command, *files, *COMMANDS[command])
    assert result.code == (command == "gate"), result.err
    assert_lines(result.out + result.err)
    assert "m\\n\\input{evil}%$x$" in result.out
    (report,) = reports
    for name, check in FORMATS.items():
        check(load_object(render.WRITER_BY_FORMAT[name])(report, WIDE), report)
    assert_lines(
        re.sub(
            r"\x1b\[[0-9;]*m", "", load_object(render.WRITER_BY_FORMAT["table"])(report, COLOURED)
        )
    )
    if report.checks:
        assert_junit(load_object(render.WRITER_BY_FORMAT["junit"])(report, WIDE), report)
        assert_github(load_object(render.WRITER_BY_FORMAT["github"])(report, WIDE), report)
    if report.page:
        assert_pages(report)
    if report.plots:
        assert_picture(picture_bytes(report, ".svg").decode())
    if command == "estimate":
        assert_page(picture_bytes(report, ".html").decode())


Writer = Callable[..., None]


def keeping(reports: list[Report], write: Writer) -> Writer:
    """A version of `Output.write` that also keeps the reports."""

    def record_and_write(output: OutputOptions, report: Report, *more: Any) -> None:
        reports.append(report)
        write(output, report, *more)

    return record_and_write


def assert_lines(text: str, report: Report | None = None) -> None:
    """The lines contain no cursor movement, and no name begins a line."""
    assert [c for c in text if c != "\n" and is_unprintable(c)] == []
    assert not any(line.startswith(("EVIL", "::error::x")) for line in text.split("\n"))


def assert_delimited(text: str, report: Report, delimiter: str = ",") -> None:
    """Python and pandas read the rows that were meant, names to the letter."""
    names = [column.header for column in report.data_table.columns]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert rows[0] == names
    for row, facts in zip(rows[1:], report.data_table.rows, strict=True):
        assert len(row) == len(names)
        assert [b for a, b in zip(row, facts, strict=True) if isinstance(b, str) and a != b] == []
    frame = pd.read_csv(io.StringIO(text, newline=""), sep=delimiter, dtype=str)
    assert len(frame) == len(report.data_table.rows)


def assert_json(text: str, report: Report) -> None:
    assert_lines(text)
    document = json.loads(text)
    assert [list(row) for row in document["rows"]] == [
        [column.header for column in report.data_table.columns] for _ in report.data_table.rows
    ]


def assert_jsonl(text: str, report: Report) -> None:
    assert_lines(text)
    assert len([json.loads(line) for line in text.splitlines()]) == len(report.data_table.rows)


def assert_markdown(text: str, report: Report) -> None:
    """Outside the signature's code no sign of Markdown or HTML is left but of tables and folds."""
    assert_lines(text)
    blocks = text.rstrip("\n").split("\n\n")
    if fence := re.match("`+", blocks[-1]):
        signature = blocks.pop()
        assert signature.endswith(fence[0])
        assert fence[0] not in signature[len(fence[0]) : -len(fence[0])]
    markup = r"</?sub>|</?details>|<summary>[^<>\n]+</summary>|<!-- -->"
    code = r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)"
    for block in blocks:
        bare = re.sub(rf"\\.|{markup}|{code}", "", block)
        assert not set("`<>[]$&~") & set(bare)
        if block.startswith("|"):
            assert len({line.count("|") for line in bare.split("\n")}) == 1


def assert_latex(text: str, report: Report) -> None:
    """The commands are ours, and every row has as many cells as the table columns."""
    assert_lines(text)
    lines = [line for line in text.split("\n") if line and not line.startswith("%")]
    commands = "textbackslash textasciitilde textasciicircum textless textgreater textbf".split()
    commands += (
        "begin end toprule midrule bottomrule addlinespace pm sim geq leq cdot dots times to infty"
        " Delta mu tau textsuperscript".split()
    )
    assert set(re.findall(r"\\([a-zA-Z]+)", "\n".join(lines))) <= set(commands)
    assert not any(line.startswith(("[", "*")) for line in lines)
    rows = [line for line in lines if line.endswith(r" \\")]
    assert len(rows) == sum(len(table.rows) + 1 for table in visible_parts(report, WIDE).tables)
    for line in lines:
        assert "%" not in line.replace(r"\%", "")
        assert line in rows or re.match(
            r"\\(begin|end|toprule|midrule|bottomrule|addlinespace)\b", line
        )


def assert_junit(text: str, report: Report) -> None:
    suite = ElementTree.fromstring(text)
    models = [case.get("classname") for case in suite.iter("testcase")]
    assert models == [printable(check.model) for check in report.checks]


def assert_github(text: str, report: Report) -> None:
    assert_lines(text)
    lines = text.splitlines()
    warnings = [note for note in report.messages if note.severity == "warning"]
    flips = 1 if report.changed_task_lines else 0
    assert len(lines) == len(report.checks) + len(warnings) + flips
    assert all(re.match("::(error|warning|notice) title=[^:,]*::", line) for line in lines)


def assert_pages(report: Report) -> None:
    """Names cannot end an element, begin one or hide a character. Drawings are SVG, and Markdown
    has its own markup."""
    page = pages.page_files_by_name(report, "html", WIDE)[""].decode()
    assert_lines(page)
    begun = re.findall(r"<script\b[^>]*>", page)
    assert begun.count("<script>") == 1
    assert len(begun) == page.count("</script>")
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL):
        json.loads(data)
    assert "{evil}" in page
    for drawing in re.findall(r"<svg .*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)
    files = pages.page_files_by_name(report, "markdown", WIDE, "images")
    for name, content in files.items():
        assert_lines(content.decode())
        if name:
            assert re.fullmatch(r"[a-z]+-\d+-\d+-(light|dark)\.svg", name)
            ElementTree.fromstring(content)
    assert not re.search(
        rb"(?<!\\)<(?!/?(?:picture|details|summary)>|source |img )", files[""].split(b"\n`")[0]
    )


def assert_picture(text: str) -> None:
    """XML of shapes and texts: no script, no link, nothing of another place."""
    elements = list(ElementTree.fromstring(text).iter())
    kinds = {element.tag.rpartition("}")[2] for element in elements}
    assert kinds <= {"svg", "title", "desc", "g", "path", "circle", "text", "rect"}
    assert not any(name.startswith("on") for element in elements for name in element.attrib)


def assert_page(text: str) -> None:
    """Our own scripts and no element that a name has opened."""
    page = Page()
    page.feed(text)
    assert page.opened.count("script") == text.count("</script>") > 0
    assert not {"iframe", "object", "img", "a", "b"} & set(page.opened)
    assert "alert(1)</script>" not in text


class Page(HTMLParser):
    """The elements of a page. No element has an event handler."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


FORMATS: dict[str, Callable[[str, Report], None]] = {
    "table": assert_lines,
    "plain": assert_lines,
    "markdown": assert_markdown,
    "latex": assert_latex,
    "csv": assert_delimited,
    "tsv": lambda text, report: assert_delimited(text, report, "\t"),
    "json": assert_json,
    "jsonl": assert_jsonl,
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", f"{TERMINAL}.csv"],
        ["estimate", SAMPLES / "counts.csv", "--model", TERMINAL],
        ["estimate", SAMPLES / "counts.csv", "-m", TERMINAL],
        ["estimate", SAMPLES / "counts.csv", "--where", TERMINAL],
        ["estimate", SAMPLES / "counts.csv", "--field", f"task={TERMINAL}"],
        ["estimate", SAMPLES / "counts.csv", "-f", TERMINAL],
        ["estimate", SAMPLES / "counts.csv", "--seed", TERMINAL],
        ["gate", SAMPLES / "counts.csv", "--baseline", TERMINAL, "--no-regression"],
        [TERMINAL],
    ],
    ids=lambda arguments: " ".join(a for a in map(str, arguments) if a.isprintable())[:40],
)
def test_errors_quote_names_safely(passk: Passk, arguments: list[object]) -> None:
    result = passk(*arguments)
    assert result.code in (2, 3), result.err
    assert_lines(result.err)


def test_errors_quote_data_safely(passk: Passk, write: Write) -> None:
    path = write("x.jsonl", json.dumps({"task": "a", "passed": TERMINAL}) + "\n")
    result = passk("estimate", path)
    assert (result.code, "t\\u001b[31m\\x9b1m\\r" in result.err) == (3, True), result.err
    assert_lines(result.err)


@pytest.mark.parametrize("format", ["table", "csv", "json", "latex", "markdown"])
def test_names_of_ten_thousand_characters_are_printed(
    passk: Passk, write: Write, format: str
) -> None:
    name = "é" * 10_000
    path = write("x.jsonl", json.dumps({"model": name, "task": name, "passed": True}) + "\n")
    result = passk("estimate", path, "-f", format)
    assert (result.code, name in result.out.replace("\n", "")) == (0, True), result.err


def test_ordinary_names_stay_as_they_are(passk: Passk, write: Write) -> None:
    path = write(f"{ORDINARY}.csv", "task,passed\na,1\na,0\n")
    for name in ("table", "plain", "markdown", "latex", "csv", "json"):
        assert ORDINARY in passk("estimate", path, "-f", name).out
