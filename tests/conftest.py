"""Fixtures that run the command line as a function, and the places of the data."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha1
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

from docs.sessions import alike, with_numbers
from passk_cli.__main__ import main
from passk_cli.files import load as reading
from passk_cli.files.attempts.solutions import register_sql_functions
from passk_cli.files.database import DUCKDB_SETTINGS_CHANGED_LATER
from passk_cli.files.request import NORMALISE_CHOICES, Request
from passk_cli.outcomes.counts import Counts

# The same examples in every run, however slow the machine: a red test means a change.
settings.register_profile(
    "steady",
    deadline=None,
    max_examples=30,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# If tests run in a GitHub workflow, their output must not look like that of a gate there.
os.environ.pop("GITHUB_ACTIONS", None)

# Commands that tests start find the package compiled, as they do once it is installed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_data"
PACKAGE = ROOT / "passk_cli"
CRUXEVAL = ROOT / "tests" / "data" / "cruxeval"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Test files contain no doctests, and searching them for examples takes seconds."""
    collectors = yield
    of_tests = file_path.name.startswith("test_")
    return (
        [collector for collector in collectors if type(collector) is pytest.Module]
        if of_tests
        else collectors
    )


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The name of the error at the beginning of stderr, or "" if stderr begins differently."""
        label = re.match(r"error\[([a-z-]+)\]: ", self.err)
        return label[1] if label else ""

    @property
    def message(self) -> str:
        """stderr without the label of its error."""
        return self.err.removeprefix(f"error[{self.error}]: ")

    @property
    def sentences(self) -> int:
        """How many there are on stderr, without the commands below them that settle it."""
        return sum(not line.startswith("  ") for line in self.err.splitlines())


# What was read → its counts, for all tests of a process.
COUNTS: dict[tuple[object, ...], Counts] = {}


@pytest.fixture(scope="module", autouse=True)
def files_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep counts for the next command that reads files with the same bytes in the same way.

    Reading is nine tenths of a quick command, and most tests run several commands on one small
    file. Tests of reading always read again, except for the samples.
    """
    load = reading.load
    of_reading = request.path.is_relative_to(ROOT / "tests" / "files")

    def load_once(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
        paths = list(data) if isinstance(data, list | tuple) else [data]
        paths += [path for path in (request.truth, request.truth_from) if path is not None]
        if request.conversion or not all(_is_plain(path, of_reading) for path in paths):
            return load(data, request, tolerant=tolerant)
        contents = (sha1(Path(path).read_bytes()).digest() for path in paths)
        key = (*map(os.path.abspath, paths), *map(str, paths), *contents, repr(request), tolerant)
        assert " object at " not in repr(request), "a request is told apart by what it asks"
        if key not in COUNTS:
            COUNTS[key] = load(data, request, tolerant=tolerant)
        return COUNTS[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "load", load_once)
        yield


def _is_plain(path: object, of_samples: bool) -> bool:
    """Whether this is the path of an existing file, and of a sample if only samples count."""
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return False
    return not of_samples or Path(path).resolve().parent in (SAMPLES, CRUXEVAL)


@pytest.fixture(scope="session")
def reused_connection(tmp_path_factory: pytest.TempPathFactory) -> Connect:
    """A version of `connect` that uses one database for all reads of the process, in turn.

    Making a database takes a third of the time of a small read. The shared one is locked like any
    other, except for the files that it may see. Every read finds the initial settings.
    """
    connect = reading.connect
    with pytest.MonkeyPatch.context() as patch:
        # The processes of the tests keep all cores busy, and threads of small reads wait mostly.
        patch.setattr(duckdb, "connect", partial(duckdb.connect, config={"threads": 1}))
        database = connect([], tmp_path_factory.mktemp("database"), [Path("/")])
    for normalise in NORMALISE_CHOICES:
        # Functions go with the connection that made them known.
        register_sql_functions(database, normalise)
    current = ", ".join(
        f"current_setting('{name}')::VARCHAR" for name in DUCKDB_SETTINGS_CHANGED_LATER
    )
    (values,) = database.execute(f"SELECT {current}").fetchall()
    first = ";".join(
        f"SET GLOBAL {n} = '{v}'"
        for n, v in zip(DUCKDB_SETTINGS_CHANGED_LATER, values, strict=True)
    )
    last = database.cursor()
    last.close()

    def lend(*arguments: Any) -> duckdb.DuckDBPyConnection:
        nonlocal last
        if _is_open(last):
            return connect(*arguments)
        last = database.cursor()
        return last.execute(first)

    return lend


@pytest.fixture(scope="module", autouse=True)
def reads_are_lent_a_database(
    request: pytest.FixtureRequest, reused_connection: Connect
) -> Iterator[None]:
    """Lend a database, except to tests of access: sources, databases, threads and safety."""
    excluded = request.path.parent == ROOT / "tests" / "files" / "sources" or request.path.stem in (
        "test_database", "test_large", "test_spark", "test_safety",
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        if not excluded:
            patch.setattr(reading, "connect", reused_connection)
        yield


def _is_open(con: duckdb.DuckDBPyConnection) -> bool:
    try:
        con.cursor().close()
    except duckdb.ConnectionException:
        return False
    return True


@cache
def package_nodes() -> tuple[tuple[Path, ast.AST], ...]:
    """All nodes of the package's code with their files. Parsing the package takes a second."""
    sources = sorted(PACKAGE.rglob("*.py"))
    return tuple((path, node) for path in sources for node in ast.walk(ast.parse(path.read_text())))


def long_cases(*cases: Any) -> list[Any]:
    """Cases of a test that .ci/run tries later. A tuple has one value per parameter."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for case in cases
    ]


def mark_long(names: Iterable[str], *slow: str) -> list[Any]:
    """Names of cases. .ci/run tries the slow ones later."""
    return [*(name for name in names if name not in slow), *long_cases(*slow)]


def mark_long_except(names: Iterable[Any], *quick: Any) -> list[Any]:
    """Names of cases. The quick ones represent all of them, and .ci/run tries the rest later."""
    return [*quick, *long_cases(*(name for name in names if name not in quick))]


def records(text: str) -> list[dict[str, str]]:
    """The rows of a csv, by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text)))


def jsonl(rows: Iterable[object]) -> str:
    """The text of a file with one record per line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


Connect = Callable[..., duckdb.DuckDBPyConnection]
Passk = Callable[..., CommandResult]
Write = Callable[[str, str | bytes], Path]
Golden = Callable[[str, list[object]], None]


def assert_same_text(actual: str, expected: str) -> None:
    """Assert that two texts are equal, except for last digits; see `docs.sessions.alike`."""
    # The first shows what differs in words.
    assert with_numbers(actual, "#") == with_numbers(expected, "#")
    assert alike(actual, expected)


@pytest.fixture
def passk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Passk:
    """passk("estimate", path, …) → exit code, stdout, stderr."""

    def run(*arguments: object, stdin: bytes | None = None) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["passk", *map(str, arguments)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return CommandResult(code, out, err)

    return run


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, content) → the path of a new file."""

    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


@pytest.fixture
def golden(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> Golden:
    """golden(name, arguments) compares the output of a command with tests/golden/NAME.txt.

    Set PASSK_GOLDEN=1 to write the output as the new expectation, and read the diff.
    """

    def run(name: str, arguments: list[object]) -> None:
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("COLUMNS", "80")
        relative = [a.relative_to(ROOT) if isinstance(a, Path) else a for a in arguments]
        result = passk(*relative)
        text = f"exit {result.code}\n--- stdout\n{result.out}--- stderr\n{result.err}"
        path = ROOT / "tests" / "golden" / f"{name}.txt"
        if os.environ.get("PASSK_GOLDEN"):
            before = path.read_text() if path.exists() else ""
            path.write_text(before if alike(before, text) else text)
        assert_same_text(text, path.read_text())

    return run
