"""What the benchmark scripts share: whole-process timing in turn, and tables kept in .md and .csv.

python benchmarks/measure.py     moves the rows of long tables in every .md to rows/*.csv
"""

from __future__ import annotations

import csv
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Runs:
    """Medians over the runs of one command: wall seconds, peak resident MiB, seconds of all cores.

    The last, user and system time together, is what a machine that others share leaves as it is.
    """

    seconds: float
    mebibytes: float
    cpu: float


def in_turn(
    commands: Mapping[str, Sequence[str]], runs: int, *, warm: bool = True
) -> dict[str, Runs]:
    """Run the commands A B C A B C … and return medians, after one warm-up round if warm is set.

    The first round compiles modules, as an installation does, whatever is set here.
    """
    with installed() as variables:
        return _in_turn(commands, runs, variables, warm)


@contextmanager
def installed() -> Iterator[dict[str, str]]:
    """The environment of an installed program: modules are compiled once and kept."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        yield variables


@dataclass(frozen=True)
class Ended:
    """The end of a command: exit code, seconds of all cores, peak resident MiB, and its messages.

    code : −9 or −24 if the command was stopped because of its time.
    """

    code: int
    cpu: float
    mebibytes: float
    words: str

    def __str__(self) -> str:
        return f"{self.cpu:.1f} s, {self.mebibytes:,.0f} MiB, exit {self.code} {self.words}"


def ended(
    command: Sequence[str], variables: Mapping[str, str], most: int, folder: Path | None = None
) -> Ended:
    """Run a command once in a folder, for at most that many CPU seconds."""
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=output, env=variables,
            cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = code = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().splitlines()
    words = f"over {most} s" if code < 0 else lines[-1] if code > 1 and lines else ""
    return Ended(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, words)


def _in_turn(
    commands: Mapping[str, Sequence[str]], runs: int, variables: Mapping[str, str], warm: bool
) -> dict[str, Runs]:
    runs_of: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for turn in range(0 if warm else 1, runs + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            child = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise SystemExit(f"{name} ended with {child.returncode}: {' '.join(command)[:200]}")
            if turn > 0:
                cpu = usage.ru_utime + usage.ru_stime
                runs_of[name].append((time.perf_counter() - start, usage.ru_maxrss / 1024, cpu))
    return {
        name: Runs(*map(median, zip(*runs_of_command, strict=True)))
        for name, runs_of_command in runs_of.items()
    }


def machine() -> str:
    """This machine in a line, for the head of a table."""
    versions = subprocess.run(
        [
            sys.executable,
            "-c",
            "import duckdb, numpy; print(duckdb.__version__, numpy.__version__)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return (
        f"{date.today()}, {os.cpu_count()} cores ({platform.machine()}),"
        f" Python {platform.python_version()}, DuckDB {versions[0]}, numpy {versions[1]}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " --: |" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def keep(section: str, text: str, file: str = "README.md") -> None:
    """Put the text between the section's markers in a file here, in place of what was there.

    Of a long table the file has the range of each column; its rows go to `rows/FILE-SECTION.csv`.
    """
    path = HERE / file
    content = path.read_text()
    if not re.search(_section(re.escape(section)), content, re.DOTALL):
        raise SystemExit(f"{path} has no section {section}")
    fresh = f"<!-- {section} -->\n{short(text, f'{path.stem}-{section}')}\n<!-- /{section} -->"
    path.write_text(re.sub(_section(re.escape(section)), lambda _: fresh, content, flags=re.DOTALL))


def shorten_all() -> None:
    """All sections of all files here, with the rows of their long tables."""
    for path in sorted(HERE.glob("*.md")):
        for section in re.findall(r"<!-- (\w[\w-]*) -->", path.read_text()):
            text = re.search(_section(section), path.read_text(), re.DOTALL)
            if text is not None:
                keep(section, text[1].strip("\n"), path.name)


def _section(name: str) -> str:
    return rf"<!-- {name} -->(.*?)<!-- /{name} -->"


# A table longer than this is a figure's or a program's to read.
_LONGEST = 12
_TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
_NUMBER = re.compile(r"([-+]?\d+(?:\.\d+)?)(?:\s*[±(%\[].*)?")


def short(text: str, name: str) -> str:
    """The text with the rows of its long tables in `rows/NAME.csv`, a further one in NAME-2."""
    tables: list[str] = []

    def part(match: re.Match[str]) -> str:
        head, _, *rows = [_cells(line) for line in match[0].strip().splitlines()]
        if len(rows) <= _LONGEST:
            return match[0]
        tables.append(f"{name}-{len(tables) + 1}" if tables else name)
        path = HERE / "rows" / f"{tables[-1]}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([_names(head), *map(_plain, rows)])
        note = f"{len(rows)} rows: [{path.name}](rows/{path.name}); the range of each column:"
        return f"{note}\n\n{_ranges(head, rows)}\n"

    return _TABLE.sub(part, text).rstrip("\n")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _names(head: Sequence[str]) -> list[str]:
    """Names of columns, each once."""
    return [f"{name} {head[:at].count(name) + 1}" if name in head[:at] else name or "row"
            for at, name in enumerate(head)]  # fmt: skip


def _plain(cells: Sequence[str]) -> list[str]:
    """Cells without emphasis, numbers as programs read them."""
    texts = [cell.replace("**", "").replace("−", "-").strip() for cell in cells]
    return [re.sub(r"(?<=\d),(?=\d{3}\b)", "", text) for text in texts]


def _ranges(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lowest, median and highest of every column of numbers."""
    columns = {}
    for at, name in enumerate(_names(head)):
        cells = [row[at] for row in map(_plain, rows) if at < len(row)]
        numbers = [float(match[1]) for cell in cells if (match := _NUMBER.fullmatch(cell))]
        if len(numbers) >= len(rows) / 2 and len(set(numbers)) > 1:
            columns[name] = (min(numbers), median(numbers), max(numbers))
    lines = [[word, *(f"{column[at]:.6g}" for column in columns.values())]
             for at, word in enumerate(("lowest", "median", "highest"))]  # fmt: skip
    return table(["", *columns], lines)


if __name__ == "__main__":
    shorten_all()
