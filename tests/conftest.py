"""The command line as a function, and where the data is."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from passk_cli.__main__ import main
from passk_cli.files import load as reading
from passk_cli.files.request import Request
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

# Where a runner runs the tests, they are not its gate.
os.environ.pop("GITHUB_ACTIONS", None)

# Commands that tests start find the package compiled, as they do once it is installed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_data"
CRUXEVAL = ROOT / "tests" / "data" / "cruxeval"
# Folders whose files do not change while tests run; a module adds its own.
STEADY = {SAMPLES, CRUXEVAL}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The name of the error that stderr begins with; "" where it begins otherwise."""
        label = re.match(r"error\[([a-z-]+)\]: ", self.err)
        return label[1] if label else ""

    @property
    def said(self) -> str:
        """stderr without the label of its error."""
        return self.err.removeprefix(f"error[{self.error}]: ")

    @property
    def sentences(self) -> int:
        """How many there are on stderr, without the commands below them that settle it."""
        return sum(not line.startswith("  ") for line in self.err.splitlines())


@pytest.fixture(scope="session", autouse=True)
def sample_data_is_read_once() -> Iterator[None]:
    """Counts of steady files are kept for the next command that asks for the same.

    Nine tenths of a quick command is reading, and hundreds of tests read these few files.  Tests of
    reading have files of their own.
    """
    counts: dict[tuple[object, ...], Counts] = {}
    load = reading.load

    def kept(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
        paths = data if isinstance(data, list | tuple) else [data]
        if request.conversion or request.resume or not all(map(_is_steady, paths)):
            return load(data, request, tolerant=tolerant)
        key = (*map(str, paths), repr(request), tolerant)
        assert " object at " not in key[-2], "a request is told apart by what it asks"
        if key not in counts:
            counts[key] = load(data, request, tolerant=tolerant)
        return counts[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "load", kept)
        yield


def _is_steady(path: object) -> bool:
    """Whether this names a file of a steady folder."""
    if not isinstance(path, str | os.PathLike):
        return False
    real = Path(os.path.realpath(path))
    return real.is_file() and real.parent in STEADY


def long(*cases: Any) -> list[Any]:
    """Cases of a test that .ci/run tries after the others; a tuple is one value per parameter."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for case in cases
    ]


def but(names: Iterable[str], *slow: str) -> list[Any]:
    """Names of cases, of which .ci/run tries these after the others."""
    return [*(name for name in names if name not in slow), *long(*slow)]


def only(names: Iterable[Any], *quick: Any) -> list[Any]:
    """Names of cases, of which these stand for all; .ci/run tries the rest after the others."""
    return [*quick, *long(*(name for name in names if name not in quick))]


def records(text: str) -> list[dict[str, str]]:
    """The rows of a csv, by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text)))


Passk = Callable[..., Done]
Write = Callable[[str, str | bytes], Path]
Golden = Callable[[str, list[object]], None]
_FULL_PRECISION = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?")


def assert_same_text(found: str, expected: str) -> None:
    """Equal to the byte, but for the last digits of numbers printed at full precision: processors
    add up in different orders."""
    assert _FULL_PRECISION.sub("#", found) == _FULL_PRECISION.sub("#", expected)
    pairs = (_FULL_PRECISION.findall(text) for text in (found, expected))
    for one, other in zip(*pairs, strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-9, abs=1e-12)


@pytest.fixture
def passk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Passk:
    """passk("estimate", path, …) → exit code, stdout, stderr."""

    def run(*arguments: object, stdin: bytes | None = None) -> Done:
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
        return Done(code, out, err)

    return run


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
    """golden(name, arguments): what the command prints is what tests/golden/NAME.txt says.

    Set PASSK_GOLDEN=1 to write what is printed as the new expectation, and read the diff.
    """

    def run(name: str, arguments: list[object]) -> None:
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("COLUMNS", "80")
        relative = [a.relative_to(ROOT) if isinstance(a, Path) else a for a in arguments]
        done = passk(*relative)
        text = f"exit {done.code}\n--- stdout\n{done.out}--- stderr\n{done.err}"
        path = ROOT / "tests" / "golden" / f"{name}.txt"
        if os.environ.get("PASSK_GOLDEN"):
            path.write_text(text)
        assert_same_text(text, path.read_text())

    return run
