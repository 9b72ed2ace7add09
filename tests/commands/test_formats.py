"""passk formats: every format with what passes and where its layout was read."""

from __future__ import annotations

import json

import pytest

import passk_cli
from passk_cli.files.formats import FORMATS
from passk_cli.files.request import TABLES
from tests.conftest import Passk, records


def test_every_format_is_listed(passk: Passk) -> None:
    rows = records(passk("formats", "-f", "csv").out)
    assert [row["format"] for row in rows] == [*FORMATS, *TABLES]
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
    with pytest.raises(TypeError, match=r"formats\(\) takes no data"):
        passk_cli.formats([])  # type: ignore[call-arg]


def test_what_is_forced_is_listed(passk: Passk) -> None:
    done = passk("estimate", "sample_data/tau_airline.csv", "--from", "nothing")
    assert done.code == 2
    assert all(name in done.err for name in (*TABLES, *FORMATS))
