"""When two solutions count as one."""

from __future__ import annotations

import threading
from itertools import combinations

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.files.attempts.solutions import (
    by_cell,
    count_unparsed,
    near_duplicates,
    python_form,
    register,
    similarity_groups,
    solution_sql,
)

SAME_PYTHON = [
    ("x = ( 1 )  # one", "x=1"),
    ('def f(a):\n    """What it does."""\n    return a\n', "def f(a):\n  return a"),
    ('"""Module."""\nx = 1', "x = 1"),
    ('class A:\n    "Told."\n    y = 2', "class A:\n\n    y = 2"),
    ("    return [x\n            for x in y]\n", "  return [x for x in y]  # a body alone"),
    ("'a'", '"a"'),
    ("f([1,2])", "f([1, 2,])"),
    ('async def f():\n    "told"', "async def f():\n    pass"),
]
OTHER_PYTHON = [
    ("x = 1", "y = 1"),
    ("'a'", "'b'"),
    ('"""a"""', '"""b"""'),
    ("return x", "return -x"),
    ("x = '# no comment'", "x = ''"),
    ("if a:\n    b\n    c", "if a:\n    b\nc"),
]
NO_PYTHON = [
    "x = = 1", "the answer is 1", "x=1\0", "(" * 10_000, "-" * 100_000 + "1", "x" + ".a" * 100_000,
    "1" + "+1" * 100_000, "lambda:" * 50_000 + "1", "x = " + "9" * 5000, "\ufeffx=1", "a\ud800b =",
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME_PYTHON)
def test_same_python(one: str, other: str) -> None:
    assert python_form(one) == python_form(other)
    assert python_form(one)[1]


@pytest.mark.parametrize(("one", "other"), OTHER_PYTHON)
def test_other_python(one: str, other: str) -> None:
    assert python_form(one)[0] != python_form(other)[0]
    assert python_form(one)[1]


@pytest.mark.parametrize("text", NO_PYTHON, ids=lambda text: text[:12].encode("ascii", "replace"))
def test_what_does_not_parse_falls_back(text: str) -> None:
    assert python_form(f" \n{text}\t ") == (text, False)


def test_a_text_that_warns_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    assert python_form("x = '\\d' if 1is 2 else 3")[1]
    assert not recwarn.list


def test_forms_from_many_threads() -> None:
    found: list[tuple[str, bool]] = []
    workers = [
        threading.Thread(
            target=lambda i=i: found.extend(python_form(f"x = '\\d' + {i}") for _ in range(20))
        )
        for i in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(found)) == 8
    assert all(parsed for _, parsed in found)


def keys(texts: list[str | None], normalise: str) -> list[int]:
    with duckdb.connect() as con:
        register(con, normalise)
        con.execute("CREATE TABLE t (i INT, code VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(texts)))
        rows = con.execute(f"SELECT {solution_sql('code', normalise)} FROM t ORDER BY i").fetchall()
    return [key for (key,) in rows]


def test_keys() -> None:
    texts = ["a  b", " a\n\tb ", None, "a b", "a\v\f\rb", "ab", "", "A b"]
    exact, space, python = (keys(texts, how) for how in ("none", "space", "python"))
    for found in (exact, space, python):
        assert found[2] == -1
        assert min(found[:2] + found[3:]) >= 0
    assert len(set(exact)) == len(texts)
    assert len({space[i] for i in (0, 1, 3, 4)}) == 1
    assert len(set(space)) == 5
    assert len({python[i] for i in (0, 1, 3, 4)}) == 1
    ones = np.ones(len(texts), dtype=np.int64)
    # "ab" and the empty text are Python; the five with two words are not.
    assert count_unparsed(np.array(python), ones) == 5
    programs = [text for pair in SAME_PYTHON for text in pair]
    found = keys([*programs, *programs], "python")
    assert found[: len(programs)] == found[len(programs) :]
    assert [a == b for a, b in zip(found[::2], found[1::2], strict=True)] == [True] * len(
        found[::2]
    )
    assert count_unparsed(np.array(found), np.ones(len(found), dtype=np.int64)) == 0


words = st.lists(st.sampled_from(["a", "b", "(", ")", "x1"]), max_size=8).map(" ".join)


def shingles(text: str) -> set[tuple[str, ...]]:
    tokens = text.split()
    return {tuple(tokens[i : i + 3]) for i in range(max(1, len(tokens) - 2))}


@settings(max_examples=60)
@given(st.lists(words, min_size=1, max_size=9), st.sampled_from([0.1, 0.25, 0.5, 2 / 3, 0.9, 1.0]))
def test_groups_are_what_all_pairs_say(texts: list[str], similarity: float) -> None:
    group = list(range(len(texts)))
    for i, j in combinations(range(len(texts)), 2):
        one, other = shingles(texts[i]), shingles(texts[j])
        if len(one & other) / len(one | other) >= similarity - 1e-9:
            low, high = sorted((group[i], group[j]))
            group = [low if g == high else g for g in group]
    assert similarity_groups(texts, similarity).tolist() == group


def test_many_texts_of_one_task() -> None:
    """More than one block: a chain whose links lie in different blocks is one group."""
    words = [f"w{i}" for i in range(700)]
    chain = [" ".join(words[i : i + 12]) for i in range(600)]
    alone = [f"other {i} thing {i}" for i in range(5)]
    group = similarity_groups([*chain[::2], *alone, *chain[1::2]], 0.8)
    assert set(group[:300]) | set(group[305:]) == {0}
    assert group[300:305].tolist() == [300, 301, 302, 303, 304]


def test_cells_one_by_one() -> None:
    rows = [(3, 2, "x  # two"), (0, 1, "a b c d"), (0, 9, "a  b c d"), (0, 1, "a b c d"),
            (0, 5, "x y z"), (3, 1, "x  # one"), (103, 1, "\ud800")]  # fmt: skip
    cells = dict(by_cell(rows))
    assert cells == {
        0: {1: "a b c d", 9: "a  b c d", 5: "x y z"},
        3: {2: "x  # two", 1: "x  # one"},
        103: {1: "\ud800"},
    }
    assert near_duplicates(cells[0], 1.0) == {1: 1, 5: 5, 9: 1}
    assert near_duplicates(cells[3], 1.0) == {1: 1, 2: 2}
    assert near_duplicates(cells[3], 1.0, "python") == {1: 1, 2: 1}
    assert list(by_cell([])) == []
