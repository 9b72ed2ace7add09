"""Drafts of maps: every refused input has one, and unedited it counts right or not at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import passk_cli
from passk_cli import PasskWarning, read
from passk_cli.errors import PasskError
from tests.conftest import jsonl, mark_long_except
from tests.files.reading.shapes import ATTEMPTS, NEAR, SHAPES, TASKS, USUAL, passes
from tests.files.reading.test_column_choice_errors import CASES, LISTED
from tests.files.reading.traps import TRAPS

DATA = Path(__file__).parents[2] / "data"


def inputs() -> Iterator[tuple[str, str, str, list[Fraction]]]:
    """Name, file name, text, and the pass rates: one or all of them are right."""
    for case, (rows, rates) in TRAPS.items():
        yield case, "m.jsonl", jsonl(rows), rates
    for case, (document, _, rate) in CASES.items():
        text = document if isinstance(document, str) else json.dumps(document)
        yield case, "m.csv" if text[0] not in "[{" else "m.json", text, [rate]
    for case, (rows, *_) in LISTED.items():
        yield case, "m.jsonl", jsonl(rows), [Fraction(1, 4)] * (case == "counts by value")
    for kind, names in (("usual", USUAL), ("near", NEAR)):
        for shape, (models, attempts) in SHAPES.items():
            rates = [Fraction(sum(passes(t, a, m) for t in range(len(TASKS)) for a in ATTEMPTS), 24)
                     for m in range(models)]  # fmt: skip
            yield f"{shape}, {kind}", *attempts(names), rates


INPUTS = {name: fields for name, *fields in inputs()}


def rates_of(path: Path, draft: Path) -> list[Fraction] | str:
    """The pass rate of each model that a draft reads; else the name of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PasskWarning)
        try:
            counts = read(path, map=draft)
        except PasskError as error:
            return error.name
    if caught:
        return "warned"
    return [Fraction(int(counts.c[rows].sum()), int(counts.n[rows].sum()))
            for rows in map(counts.slice_of_series, range(len(counts.series)))]  # fmt: skip


@pytest.mark.parametrize("name", mark_long_except(INPUTS, *[*TRAPS][::3]))
def test_a_draft_that_nobody_edited_counts_right_or_not_at_all(name: str, tmp_path: Path) -> None:
    file, text, expected = INPUTS[name]
    path, draft = tmp_path / str(file), tmp_path / "map.toml"
    path.write_text(str(text))
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        try:
            read(path)
            refused = None
        except PasskError as error:
            refused = error
    try:
        passk_cli.describe(path, init=draft)
    except PasskError:
        # Nothing to map: no candidates were shown either.
        assert refused is None or not refused.candidates
        return
    rates = rates_of(path, draft)
    if isinstance(rates, str):
        assert rates not in ("bad-map", "no-such-column", "internal")
    else:
        assert {*expected} & {*rates}, draft.read_text()


REFUSED = [str(path.relative_to(DATA)) for path in sorted(DATA.rglob("*"))
           if path.suffix in (".json", ".jsonl", ".csv", ".gz", ".parquet")]  # fmt: skip


@pytest.mark.parametrize(
    "name", mark_long_except(REFUSED, "phoenix/stub-a.csv", "ragas/metrics.csv")
)
def test_a_draft_of_a_refused_file_does_not_count(name: str, tmp_path: Path) -> None:
    draft = tmp_path / "map.toml"
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        try:
            read(DATA / name)
        except PasskError as error:
            refused = error
        else:
            return
        if refused.candidates:
            problem = ""
            try:
                passk_cli.describe(DATA / name, init=draft)
            except PasskError as error:
                problem = error.name
            # The only outcomes may be columns that no name speaks for.
            assert problem == "no-outcome-column" or isinstance(rates_of(DATA / name, draft), str)
