"""passk formats: every format with what passes and where its layout was read."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import passk_cli
from passk_cli.commands.formats.view import RecognisedFormat, recognised_formats
from passk_cli.files.formats import FORMAT_NAMES, FORMATS
from passk_cli.files.request import SPECIFICATION_BY_TABLE_FORMAT
from tests.conftest import Passk, mark_long_except, records


def test_every_format_is_listed(passk: Passk) -> None:
    rows = records(passk("formats", "-f", "csv").out)
    assert [row["format"] for row in rows] == [*FORMATS, *SPECIFICATION_BY_TABLE_FORMAT]
    assert json.loads(passk("formats", "-f", "json").out)["rows"] == rows
    assert all(row["passes"] and row["source"] for row in rows)
    assert all(row["format"] in passk("formats").out for row in rows)
    full = passk("formats", "--full").out
    assert all(row[name] in full for row in rows for name in ("format", "passes", "source"))
    assert {row["kind"] for row in rows} == {"harness", "general", "refused"}
    assert passk_cli.formats().frame.to_dict("records") == rows


def test_a_table_fits_its_terminal(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = passk("formats", "-f", "table").out
    assert max(map(len, out.splitlines())) <= 80
    assert all(name in out for name in FORMATS)


def test_it_takes_no_data(passk: Passk) -> None:
    assert passk("formats", "a.csv").code == 2
    with pytest.raises(TypeError, match=r"formats\(\) takes only name by position; pass all"):
        passk_cli.formats("csv", [])  # type: ignore[call-arg]


def of_format(name: str) -> RecognisedFormat:
    return next(row for row in recognised_formats() if row.name == name)


@pytest.mark.parametrize("name", mark_long_except(FORMAT_NAMES, *FORMAT_NAMES[::5]))
def test_an_example_is_read_by_the_command_beside_it(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The format recognises it, and what is refused is refused with the remedy that is shown."""
    example = of_format(name).example
    path, text = tmp_path / example.paths[0], example.text
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        decoder, rows, rest = json.JSONDecoder(), [], text.strip()
        while rest:
            row, end = decoder.raw_decode(rest)
            rows, rest = [*rows, row], rest[end:].strip()
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    monkeypatch.chdir(tmp_path)
    if example.alternative:
        result = passk("estimate", example.paths[0])
        assert (result.code, example.usage in result.err) == (3, True)
        return
    _, *words = shlex.split(example.usage)
    # As the command reads it, without its intervals.
    read_as = "csv" if name == "tsv" else name
    result = passk("describe", *words[1:])
    assert re.search(rf"^format +{read_as} \(", result.out, re.MULTILINE), result.err
    assert "No outcome is missing" in result.out


def test_one_format_is_shown_with_its_example(passk: Passk) -> None:
    for name in FORMAT_NAMES:
        example, result = of_format(name).example, passk("formats", name)
        starts = (f"{name} is recognised and ", f"To read {name}: ")
        assert result.out.startswith(starts)
        assert example.text.rstrip("\n").replace("\t", "\\t") in result.out
        assert all(path in result.out for path in example.paths)
        assert max(map(len, result.out.splitlines())) <= 120
    (row,) = records(passk("formats", "inspect", "-f", "csv").out)
    assert row == json.loads(passk("formats", "inspect", "-f", "json").out)["rows"][0]
    assert row == passk_cli.formats("inspect").frame.to_dict("records")[0]
    assert row["example"] == of_format("inspect").example.text


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("pytest", "did you mean pytest-json-report?"),
        ("Inspct", "did you mean inspect?"),
        ("swe", "did you mean swe-bench or swe-bench-instance or swe-bench-pro?"),
        ("results.jsonl", "`passk formats` lists them"),
    ],
)
def test_an_unknown_format_ends_with_the_nearest_one(passk: Passk, name: str, meant: str) -> None:
    result = passk("formats", name)
    assert (result.code, result.out) == (2, "")
    assert f"no format is named '{name}'; {meant}" in result.err


def test_what_is_forced_is_listed(passk: Passk) -> None:
    result = passk("estimate", "sample_data/tau_airline.csv", "--from", "nothing")
    assert result.code == 2
    assert all(name in result.err for name in (*SPECIFICATION_BY_TABLE_FORMAT, *FORMATS))
