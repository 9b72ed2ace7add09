"""Nothing small takes much, and nothing a user can cause is internal: what is too much is refused
in one sentence that says what makes it less."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from passk_cli.limits import MOST_COLUMNS, MOST_GROUPS, MOST_TOML
from tests.conftest import SAMPLES, CommandResult, Passk, Write, long_cases

# Bytes of data that a command may hold, for files of a few megabytes.
MOST = 500 << 20
COUNTS = SAMPLES / "counts.csv"


def assert_refused(result: CommandResult, code: int, message: str) -> None:
    _, *commands = result.err.splitlines()
    assert (result.code, result.out) == (code, ""), result.err
    assert all(line.startswith("  ") for line in commands), result.err
    assert message in result.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"min = {'[' * 3000}{']' * 3000}", "the tables of this file are nested too deeply"),
        (f"min = {'{a = ' * 40}1{'}' * 40}", "the tables of this file are nested too deeply"),
        (f"min{'.a' * 5000} = 1", "the tables of this file are nested too deeply"),
        (f"attempts = {'9' * 5000}", "this file contains a whole number of more than 64 bits"),
        (f"attempts = 0x{'f' * 5000}", "this file contains a whole number of more than 64 bits"),
        (f"# {'x' * MOST_TOML}", "this file is longer than 1,000,000 bytes"),
        ('min = "\udcff"', "this file is not UTF-8 text"),
    ],
    ids=["lists", "tables", "a key", "digits", "hexadecimal", "long", "bytes"],
)
def test_rules_and_prices_of_any_text(passk: Passk, write: Write, text: str, problem: str) -> None:
    path = write("x.toml", text.encode(errors="surrogateescape"))
    assert_refused(passk("gate", "--rules", path), 2, f"x.toml: {problem}; write a [[suite]]")
    assert_refused(
        passk("cost", SAMPLES / "costs.csv", "--price", path), 2, f"x.toml: {problem}; write TOML"
    )


def test_a_long_word_in_rules_is_read_once(passk: Passk, write: Write) -> None:
    """It was looked through from each of its letters, for twenty minutes."""
    path = write("x.toml", f'min = "{"x" * 100_000}"')
    result = passk("gate", "--rules", path)
    assert (result.code, result.error) == (2, "bad-rules"), result.err


@pytest.mark.parametrize("date", ["0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00", "soon"])
def test_times_outside_the_calendar_are_refused(passk: Passk, tmp_path: Path, date: str) -> None:
    result = passk("record", COUNTS, "--to", tmp_path / "h.parquet", "--at", "r", "--date", date)
    assert_refused(result, 2, f"--date {date}: the date must be a day or a time")
    assert not list(tmp_path.iterdir())


# A flip in a page of data, in one that only some columns need, in sizes of pages.
@pytest.mark.parametrize(("at", "bit"), [(465, 16), (550, 16), (2874, 4)])
def test_damaged_histories(passk: Passk, tmp_path: Path, at: int, bit: int) -> None:
    path = tmp_path / "h.parquet"
    content = bytearray((SAMPLES / "nights.parquet").read_bytes())
    content[at] ^= bit
    path.write_bytes(content)
    read = passk("trend", path)
    added = passk("record", COUNTS, "--to", path, "--at", "r")
    assert {read.code, added.code} <= {0, 3}, (read.err, added.err)
    assert "internal" not in read.err + added.err
    if added.code == 3:
        assert path.read_bytes() == content


def test_a_task_of_thousands_of_digits(passk: Passk, write: Write) -> None:
    path = write("x.csv", f"task,passed\n{'9' * 5000},1\n7,0\n")
    assert passk("tasks", path, "--full").code == 0


def models_apart(number: int) -> str:
    return "model,task,passed\n" + "".join(f"m{i},t{i},{i % 2}\n" for i in range(number))


def models_at_a_task(number: int) -> str:
    return "model,task,passed\n" + "".join(f"m{i},t,{i % 2}\n" for i in range(number))


def groups(number: int) -> str:
    rows = (f"{m},t,g{g},{g % 2}\n" for g in range(number) for m in "ab")
    return "model,task,lang,passed\n" + "".join(rows)


@pytest.mark.parametrize(
    ("arguments", "content", "message"),
    [
        (["tasks"], models_apart(2000), "2,000 models at 2,000 tasks: there are 4,000,000 pairs"),
        (["tasks", "--matrix"], models_apart(2000), "names some models"),
        (
            ["report", "-o", "x.html"],
            models_apart(1001),
            "1,001 models on a page, but at most 1,000",
        ),
        (["compare", "--by", "lang"], groups(MOST_GROUPS + 1), "--by lang: there are 2,001 groups"),
        (
            ["compare", "-m", "pass@1"],
            models_at_a_task(450),
            "450 models have 101,025 pairwise diff",
        ),
        (["gate", "--by", "lang", "--min", "pass@1=0"], groups(MOST_GROUPS + 1), "--where"),
        (
            ["report", "--by", "lang", "-o", "x.html"],
            groups(101),
            "--by lang: there are 101 groups, but at most",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_answers_that_nobody_reads(
    passk: Passk, workdir: Path, arguments: list[str],
    content: str, message: str,
) -> None:  # fmt: skip
    Path("x.csv").write_text(content)
    command, *options = arguments
    assert_refused(passk(command, "x.csv", *options), 2, message)
    assert [path.name for path in workdir.iterdir()] == ["x.csv"]


def test_the_remedy_of_groups_works(passk: Passk, write: Write) -> None:
    path = write("x.csv", groups(MOST_GROUPS + 1))
    result = passk("compare", path, "--by", "lang", "--where", "\"lang\" = 'g0'")
    assert (result.code, "1 shared task" in result.out) == (0, True), result.err


def test_columns_beyond_number(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    names = ",".join(f"c{i}" for i in range(MOST_COLUMNS))
    path.write_text(f"task,passed,{names}\na,1,{names}\n")
    assert_refused(
        passk("estimate", path),
        3,
        "x.csv: the file has 20,002 columns, and passk reads at most 20,000; keep only",
    )


def of_counts(n: int, models: str = "ab", tasks: int = 100) -> str:
    rows = (f"{m},t{t},{n},{n * (7 * t + i) // 710}\n" for i, m in enumerate(models)
            for t in range(tasks))  # fmt: skip
    return "model,task,n,c\n" + "".join(rows)


SMALL: dict[str, tuple[list[str], Callable[[], str]]] = {
    "flips of 10⁸ attempts": (["tasks", "--against", "b"], partial(of_counts, 10**8)),
    "pairs of 10⁸ attempts": (["compare"], partial(of_counts, 10**8)),
    "rehearsals of 10⁸ attempts": (
        ["gate", "--baseline", "b", "--max-drop", "pass@1=0.1", "--rehearse"],
        partial(of_counts, 10**8, tasks=20),
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_small_files_take_little_memory(write: Write, name: str) -> None:
    (command, *options), content = SMALL[name]
    path = write("x.csv", content())
    result = _limited(command, path, *options)
    assert result.returncode in (0, 1), result.stderr


def _limited(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A command that may hold 500 MB of data."""
    return subprocess.run(
        [sys.executable, "-m", "passk_cli", *map(str, arguments)], capture_output=True,
        text=True, preexec_fn=partial(resource.setrlimit, resource.RLIMIT_DATA, (MOST, MOST)),
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("start", ['{"task": "a", "x": "', "task,passed\n", "["])
def test_a_packed_file_without_end_takes_little_memory(tmp_path: Path, start: str) -> None:
    path = tmp_path / "x.zst"
    with zstandard.open(path, "wb") as file:
        file.write(start.encode())
        for _ in range(1000):
            file.write(b"a" * (1 << 20))
    result = _limited("estimate", path)
    assert (result.returncode, "unpacks to more than 67,108,864" in result.stderr) == (3, True)


# Injection and secrets ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["table", *long_cases("plain", "markdown")])
def test_no_printed_line_is_a_command_of_the_runner(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path = tmp_path / "x.csv"
    names = ("::stop-commands::tok", " ::add-mask::x", "a##[add-mask]x")
    path.write_text("model,task,passed\n" + "".join(f"{n},a,1\n{n},b,0\n" for n in names))
    for command in ("estimate", "compare", "tasks", "describe"):
        result = passk(command, path, "-f", form)
        assert_no_command(result)
    gate = passk("gate", path, "--min", "pass@1=0.9", "--on-undecided", "fail", "-f", form)
    assert gate.code == 1
    assert_no_command(gate, "::error title=passk", "::warning title=passk")
    assert_no_command(passk("compare", path, "--baseline", "##[add-mask]x"))
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::stop-commands::tok" in passk("estimate", path).out


@pytest.mark.parametrize("form", ["csv", "tsv", "latex", "json", "jsonl"])
@pytest.mark.parametrize("command", ["estimate", "tasks", "convert"])
def test_data_that_is_printed_has_no_command_of_the_runner(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, form: str
) -> None:
    if command == "convert" and form not in ("csv", "jsonl"):
        pytest.skip("convert does not write this format")
    path = tmp_path / "x.csv"
    names = ("::stop-commands::tok", " ::add-mask::x", "a##[add-mask]x")
    rows = [f"{n},{t},{passed}" for n in names for t, passed in (("::set-output::a", 1), ("b", 0))]
    path.write_text("\n".join(["model,task,passed", *rows, ""]))
    plain = passk(command, path, "-f", form).out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = passk(command, path, "-f", form)
    assert_no_command(result)
    read: dict[str, Callable[[str], object]] = {
        "csv": lambda text: [*csv.reader(io.StringIO(text))],
        "tsv": lambda text: [*csv.reader(io.StringIO(text), delimiter="\t")],
        "json": json.loads,
        "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    }
    if form == "latex":
        return
    # JSON is the same data, and a table is the same but for the sign that quotes do not hide.
    expected = plain if form.startswith("json") else plain.replace("##[", "## [")
    assert read[form](result.out) == read[form](expected)


def assert_no_command(result: CommandResult, *own_lines: str) -> None:
    lines = [line.strip() for line in (result.out + result.err).split("\n")]
    foreign_lines = [line for line in lines if not (own_lines and line.startswith(own_lines))]
    assert [line for line in foreign_lines if line.startswith("::") or "##[" in line] == []


@pytest.mark.parametrize(
    "name",
    ["http://a.org", "HTTPS://a.org", "www.a.org", "GH-2", "o/r#12", "@me", "me@a.org", "0123abc",
     "c0ffee" * 6 + "abcd", "mailto:x"],
)  # fmt: skip
def test_a_comment_links_no_name(passk: Passk, write: Write, name: str) -> None:
    path = write("x.csv", f"model,task,passed\n{name},a,1\n{name},b,0\n")
    out = passk("gate", path, "--min", "pass@1=0.9", "-f", "markdown").out
    assert name not in out
    assert name in out.replace("<!-- -->", "").replace("\\", "")
    # Between two comments nothing is left that GitHub would link.
    for piece in out.replace("\\", "").split("<!-- -->"):
        assert not re.search(r"(?i)https?:|www\.|gh-\d|#\d|[\w]@\w+\.\w|\b[0-9a-f]{7,40}\b", piece)


SECRET = "http://user:pw@h.org/p?token=X"


@pytest.mark.parametrize(
    "arguments",
    [
        ["gate", "--rules", SECRET],
        ["gate", COUNTS, "--baseline", SECRET, "--no-regression"],
        ["cost", SAMPLES / "costs.csv", "--price", SECRET],
        ["estimate", COUNTS, "--where", f"task = '{SECRET}' AND"],
        ["estimate", COUNTS, "--model", SECRET],
        ["estimate", COUNTS, "--field", f"task={SECRET}"],
        ["estimate", COUNTS, "-m", SECRET],
        ["estimate", COUNTS, "-f", SECRET],
        ["estimate", "ftp://user:pw@h.org/p?token=X"],
        ["record", COUNTS, "--to", SECRET, "--at", "x"],
        ["report", COUNTS, "-o", SECRET],
        [SECRET],
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [[], ["-f", "json"]], ids=["text", "json"])
def test_no_message_shows_a_password(
    passk: Passk, arguments: list[object], form: list[str]
) -> None:
    result = passk(*arguments, *form * (len(arguments) > 1))
    assert result.code in (2, 3)
    assert not re.search("pw@|:pw|token=X", result.out + result.err), result.err


@pytest.mark.parametrize("text", ["A=SECRETabc\nOTHER=4711\n", "export A=SECRET,abc\nB=47,11\n"])
def test_a_file_of_keys_is_named_and_not_quoted(passk: Passk, write: Write, text: str) -> None:
    path = write(".env", text)
    result = passk("estimate", path)
    assert_refused(
        result, 3, ".env: this is neither JSON nor a delimited table; a table needs a header line"
    )
    assert not re.search("SECRET|abc|4711", result.err)


def test_links_to_tasks_of_any_name(passk: Passk, tmp_path: Path) -> None:
    names = ["javascript:alert(1)", '"><script>x</script>', "../../x", "{model}", "a?b#c&d", "é 中"]
    path, page = tmp_path / "x.csv", tmp_path / "x.html"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["task", "passed"], *([name, 1] for name in names)])
    link = "https://a.org/{model}/{task}"
    assert passk("report", path, "-o", page, "--link", link).code == 0
    text = page.read_text()
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    (grid,) = (grid for grid in map(json.loads, data) if "link" in grid)
    assert (grid["link"], sorted(grid["tasks"])) == (link, sorted(names))
    assert "<script>x" not in text
    assert not re.search(r'(?i)<a [^>]*href="(?!data:|#)', text)
    # Every field that is filled in is escaped; what it is filled into is the caller's own.
    (filled,) = re.findall(r"data\.link\.replace\((.*)\);", text)
    assert filled.endswith("(_, name) => encodeURIComponent(fields[name])")
