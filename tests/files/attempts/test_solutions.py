"""When two solutions count as the same."""

from __future__ import annotations

import threading
from itertools import combinations

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.files.attempts.solutions import (
    count_unparsable_attempts,
    lowest_similar_key_by_key,
    normalize_python_with_validity,
    register_sql_functions,
    similarity_groups,
    solution_key_sql,
    texts_by_cell,
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


@pytest.mark.parametrize(("first", "second"), SAME_PYTHON)
def test_equivalent_python_programs_have_one_form(first: str, second: str) -> None:
    assert normalize_python_with_validity(first) == normalize_python_with_validity(second)
    assert normalize_python_with_validity(first)[1]


@pytest.mark.parametrize(("first", "second"), OTHER_PYTHON)
def test_different_python_programs_have_different_forms(first: str, second: str) -> None:
    assert normalize_python_with_validity(first)[0] != normalize_python_with_validity(second)[0]
    assert normalize_python_with_validity(first)[1]


@pytest.mark.parametrize("text", NO_PYTHON, ids=lambda text: text[:12].encode("ascii", "replace"))
def test_text_that_is_not_python_falls_back_to_itself(text: str) -> None:
    assert normalize_python_with_validity(f" \n{text}\t ") == (text, False)


def test_warnings_of_python_source_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    assert normalize_python_with_validity("x = '\\d' if 1is 2 else 3")[1]
    assert not recwarn.list


def test_forms_are_correct_in_many_threads() -> None:
    forms: list[tuple[str, bool]] = []
    workers = [
        threading.Thread(
            target=lambda i=i: forms.extend(
                normalize_python_with_validity(f"x = '\\d' + {i}") for _ in range(20)
            )
        )
        for i in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(forms)) == 8
    assert all(parsed for _, parsed in forms)


def keys(texts: list[str | None], normalise: str) -> list[int]:
    with duckdb.connect() as con:
        register_sql_functions(con, normalise)
        con.execute("CREATE TABLE t (i INT, code VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(texts)))
        rows = con.execute(
            f"SELECT {solution_key_sql('code', normalise)} FROM t ORDER BY i"
        ).fetchall()
    return [key for (key,) in rows]


def test_keys_are_equal_for_equal_normal_forms() -> None:
    texts = ["a  b", " a\n\tb ", None, "a b", "a\v\f\rb", "ab", "", "A b"]
    exact, space, python = (keys(texts, how) for how in ("none", "space", "python"))
    for groups in (exact, space, python):
        assert groups[2] == -1
        assert min(groups[:2] + groups[3:]) >= 0
    assert len(set(exact)) == len(texts)
    assert len({space[i] for i in (0, 1, 3, 4)}) == 1
    assert len(set(space)) == 5
    assert len({python[i] for i in (0, 1, 3, 4)}) == 1
    sizes = np.ones(len(texts), dtype=np.int64)
    # "ab" and the empty text are Python; the five with two words are not.
    assert count_unparsable_attempts(np.array(python), sizes) == 5
    programs = [text for pair in SAME_PYTHON for text in pair]
    groups = keys([*programs, *programs], "python")
    assert groups[: len(programs)] == groups[len(programs) :]
    assert [a == b for a, b in zip(groups[::2], groups[1::2], strict=True)] == [True] * len(
        groups[::2]
    )
    assert count_unparsable_attempts(np.array(groups), np.ones(len(groups), dtype=np.int64)) == 0


words = st.lists(st.sampled_from(["a", "b", "(", ")", "x1"]), max_size=8).map(" ".join)


def shingles(text: str) -> set[tuple[str, ...]]:
    tokens = text.split()
    return {tuple(tokens[i : i + 3]) for i in range(max(1, len(tokens) - 2))}


@settings(max_examples=60)
@given(st.lists(words, min_size=1, max_size=9), st.sampled_from([0.1, 0.25, 0.5, 2 / 3, 0.9, 1.0]))
def test_groups_match_a_comparison_of_all_pairs(texts: list[str], similarity: float) -> None:
    group = list(range(len(texts)))
    for i, j in combinations(range(len(texts)), 2):
        left_shingles, right_shingles = shingles(texts[i]), shingles(texts[j])
        if (
            len(left_shingles & right_shingles) / len(left_shingles | right_shingles)
            >= similarity - 1e-9
        ):
            low, high = sorted((group[i], group[j]))
            group = [low if g == high else g for g in group]
    assert similarity_groups(texts, similarity).tolist() == group


def test_similar_texts_in_different_blocks_are_one_group() -> None:
    """The texts need more than one block: a chain with links in different blocks is one group."""
    words = [f"w{i}" for i in range(700)]
    chain = [" ".join(words[i : i + 12]) for i in range(600)]
    fillers = [f"other {i} thing {i}" for i in range(5)]
    group = similarity_groups([*chain[::2], *fillers, *chain[1::2]], 0.8)
    assert set(group[:300]) | set(group[305:]) == {0}
    assert group[300:305].tolist() == [300, 301, 302, 303, 304]


def test_solutions_are_grouped_by_cell() -> None:
    rows = [(3, 2, "x  # two"), (0, 1, "a b c d"), (0, 9, "a  b c d"), (0, 1, "a b c d"),
            (0, 5, "x y z"), (3, 1, "x  # one"), (103, 1, "\ud800")]  # fmt: skip
    cells = dict(texts_by_cell(rows))
    assert cells == {
        0: {1: "a b c d", 9: "a  b c d", 5: "x y z"},
        3: {2: "x  # two", 1: "x  # one"},
        103: {1: "\ud800"},
    }
    assert lowest_similar_key_by_key(cells[0], 1.0) == {1: 1, 5: 5, 9: 1}
    assert lowest_similar_key_by_key(cells[3], 1.0) == {1: 1, 2: 2}
    assert lowest_similar_key_by_key(cells[3], 1.0, "python") == {1: 1, 2: 1}
    assert list(texts_by_cell([])) == []
