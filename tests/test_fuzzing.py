"""A slice of the fuzzing, and every file that it once found to be read wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import long_cases
from tests.files.formats.cells import cells
from tests.fuzzing import (
    Case,
    Seed,
    file_cases,
    law,
    option_cases,
    seeds,
    try_file,
    written_cases,
)

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="module")
def valid() -> dict[str, Seed]:
    return {seed.label: seed for seed in seeds()}


def defects(cases: list[Case]) -> list[str]:
    return [f"{c.kind}: {c.name}: {c.outcome.kind}: {c.outcome.detail}" for c in cases
            if c.outcome.defect]  # fmt: skip


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize(("number", "seed"), [(15, 0), *long_cases((300, 1))])
def test_mutated_files(workdir: Path, number: int, seed: int) -> None:
    cases = list(file_cases(number, seed=seed, place=workdir))
    assert defects(cases) == []
    assert {case.outcome.kind for case in cases} == {"read", "refused"}


@pytest.mark.parametrize(("number", "seed"), [(30, 2), *long_cases((600, 3))])
def test_absurd_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, seed: int
) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    assert defects(list(option_cases(number, seed=seed, place=place))) == []


@pytest.mark.parametrize(("number", "seed"), [(20, 4), *long_cases((400, 5))])
def test_what_users_write(workdir: Path, number: int, seed: int) -> None:
    assert defects(list(written_cases(number, seed=seed, place=workdir))) == []


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_what_was_once_read_wrongly(valid: dict[str, Seed], tmp_path: Path, path: Path) -> None:
    """Files of the corpus are called WHAT--SEED, after the valid file they were made from."""
    seed = valid[path.name.partition("--")[2]]
    (tmp_path / seed.label).write_bytes(seed.content)
    before = cells(tmp_path / seed.label, **seed.options)
    outcome = try_file(seed, path.read_bytes(), before, tmp_path)
    assert not outcome.defect, outcome


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"task": "a", "passed": true}\n{"task": "b", "passed": fal', "refused"),
        ('{"passed": true, "task": "a"}\n\n{"task": "b", "passed": true}\n', "same"),
        ('{"task": "a", "passed": true}\n', "fewer"),
        ('{"task": "a", "passed": true}\n{"task": "b", "passed": NaN}\n', "few"),
        ("", ""),
    ],
)
def test_laws_can_tell(text: str, expected: str) -> None:
    rows = b'{"task": "a", "passed": true}\n{"task": "b", "passed": true}\n'
    assert law(Seed("rows.jsonl", rows, "lines"), text.encode()) == expected
