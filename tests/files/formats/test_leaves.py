"""A value of an unexpected type is read or refused, wherever it is in a file."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli import PasskWarning
from passk_cli.errors import PasskError
from passk_cli.files.formats import FORMATS
from passk_cli.files.formats.format import Format, Row, RowRequest, file_with_detected_structure
from passk_cli.files.sources.source import Source
from passk_cli.text import printable_json
from tests.conftest import jsonl
from tests.files.formats.cells import DATA

# One value of each type, and values that break sums, keys or names.
VALUES: tuple[Any, ...] = (None, True, "x", 7, -0.5, 10**400, [], [[1]], {}, {"": 1}, [{"a": 1}])
# Entries of an object with more keys than this have one schema: they are tasks.
MOST_KEYS = 40
Way = tuple[str | int, ...]


def leaves(value: Any) -> Iterator[tuple[Way, Way]]:
    """(schema, path) of every value in a document; the entries of a list have one schema."""
    yield (), ()
    if isinstance(value, dict):
        for key, inner in value.items():
            part = key if len(value) <= MOST_KEYS else "*"
            yield from (((part, *schema), (key, *way)) for schema, way in leaves(inner))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ((("[]", *schema), (place, *way)) for schema, way in leaves(inner))


def first_paths(document: Any) -> list[Way]:
    """The path to the first value of each schema."""
    first: dict[Way, Way] = {}
    for schema, way in leaves(document):
        first.setdefault(schema, way)
    return [*first.values()]


def changed(document: Any, way: Way, value: Any) -> Any:
    """The document with a different value at the end of a path."""
    if not way:
        return value
    document = inner = deepcopy(document)
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = value
    return document


def parsed(text: str) -> tuple[Any, bool]:
    """The document in a text, and whether the text has one record per line."""
    try:
        return json.loads(text), False
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()], True


def encoded(document: Any, lines: bool, name: str) -> bytes:
    records = document if lines and isinstance(document, list) else [document]
    data = jsonl(records).encode()
    return gzip.compress(data) if name.endswith(".gz") else data


def read_rows(form: Format, path: Path) -> None:
    """Read all rows of a file with each of its outcomes."""
    packing = "gzip" if path.suffix == ".gz" else "none"
    file = file_with_detected_structure(Source(str(path), str(path), None, packing))
    if not form.recognises(file):
        return
    contents = form.contents(file)
    for outcome in contents.outcome_names or ("",):
        for row in contents.rows(RowRequest(outcome, frozenset(("answer", "solution")))):
            if isinstance(row, Row):
                printable_json([row.task, row.attempt, row.outcome])
                if form.read_usage_amounts is not None:
                    form.read_usage_amounts(row.record)


HARNESSES = [form for form in FORMATS.values() if not form.is_generic]


@pytest.mark.parametrize("form", HARNESSES, ids=lambda form: form.name)
def test_a_changed_leaf_of_an_example_is_read_or_refused(form: Format, tmp_path: Path) -> None:
    path = tmp_path / form.example.paths[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".parquet", ".eval"):
        pytest.skip("not a file of text")
    document, lines = parsed(form.example.text)
    for way in first_paths(document):
        for value in VALUES:
            path.write_bytes(encoded(changed(document, way, value), lines, path.name))
            try:
                read_rows(form, path)
            except PasskError:
                pass
            except Exception as error:
                raise AssertionError(f"{form.name}: {way} = {value!r}") from error


FIXTURES = [
    path
    for path in sorted(DATA.rglob("*"))
    if path.name.removesuffix(".gz").endswith((".json", ".jsonl")) and path.stat().st_size < 1 << 16
]


def broken_leaves(folder: Path, stride: int = 1) -> Iterator[str]:
    """Wrong results after a change of one leaf per schema of the fixtures.

    stride : only every stride-th schema is tried.
    """
    triples: set[tuple[str, Way]] = set()
    for number, path in enumerate(FIXTURES):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        try:
            document, lines = parsed(text)
        except ValueError:
            continue
        harness = path.relative_to(DATA).parts[0]
        copy = folder / str(number) / path.relative_to(DATA)
        copy.parent.mkdir(parents=True)
        for schema, way in leaves(document):
            if (harness, schema) in triples:
                continue
            triples.add((harness, schema))
            if len(triples) % stride:
                continue
            value = VALUES[len(triples) // stride % len(VALUES)]
            copy.write_bytes(encoded(changed(document, way, value), lines, path.name))
            try:
                with warnings.catch_warnings(action="ignore", category=PasskWarning):
                    passk_cli.read(copy, missing="fail")
            except PasskError:
                pass
            except Exception as error:
                yield f"{path}: {way} = {value!r}: {error!r}"
    assert len(triples) > 10_000 / 4


@pytest.mark.long
def test_a_changed_leaf_of_a_fixture_is_read_or_refused(tmp_path: Path) -> None:
    assert [*broken_leaves(tmp_path, stride=10)] == []
