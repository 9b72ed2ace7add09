"""When two solutions are the same: normal forms of their text, and near-duplicates.

While texts are read they become 63-bit keys, and the texts are not kept. Two solutions of one task
share a key by accident once in 10¹³ tasks of 400 attempts.
"""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from itertools import chain, count
from tempfile import TemporaryFile

import duckdb
import numpy as np

from passk_cli.arrays import Ints, NDArray, Places

# Tokens per shingle: enough for the order of tokens to matter, and few enough for short answers.
SHINGLE = 3

_INDENTED = re.compile(r"(?:[ \t\r\f]*\n)*[ \t]+\S")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REMEMBERED = 1 << 17
_BLOCK_TEXTS = 256
_FILES = 100


def solution_sql(text: str, normalise: str) -> str:
    """SQL for the key of a solution's text: a BIGINT ≥ 0, or −1 if there is no text.

    text : SQL of the text.  normalise : "none", "space" (each run of white space becomes one space,
        and none remains at the ends) or "python" (see `normalized_python`); the last two need
        `register_functions`.

    >>> solution_sql("code", "none")
    'CASE WHEN code IS NULL THEN -1 ELSE (hash(code) >> 1)::BIGINT END'
    """
    if normalise == "python":
        return f"coalesce(python_key({text}), -1)"
    form = f"single_spaces({text})" if normalise == "space" else text
    return f"CASE WHEN {text} IS NULL THEN -1 ELSE (hash({form}) >> 1)::BIGINT END"


def register_functions(con: duckdb.DuckDBPyConnection, normalise: str) -> None:
    """Register the functions that `solution_sql` calls in the database of a connection.

    `python_key` is even for a text that does not parse and odd for a program, so that
    `count_unparsed` can count the fallbacks afterwards. The keys of earlier texts are cached.
    """
    name = {"space": "single_spaces", "python": "python_key"}.get(normalise, "")
    is_registered = "SELECT 1 FROM duckdb_functions() WHERE function_name = $name"
    if not name or con.execute(is_registered, {"name": name}).fetchall():
        return
    if normalise == "space":
        # Four times as fast as a regular expression in SQL.
        con.create_function(name, single_spaces, ["VARCHAR"], "VARCHAR")
        return
    keys: dict[int, int] = {}

    def key(text: str) -> int:
        code = hash(text)
        if code not in keys:
            form, parsed = normalized_python(text)
            digest = blake2b(form.encode(errors="surrogatepass"), digest_size=8).digest()
            if len(keys) >= _REMEMBERED:
                keys.clear()
            keys[code] = int.from_bytes(digest) >> 2 << 1 | parsed
        return keys[code]

    con.create_function(name, key, ["VARCHAR"], "BIGINT")


def count_unparsed(value: Ints, times: Ints) -> int:
    """The number of attempts with a text that is not Python, from the keys of `python_key`.

    >>> count_unparsed(np.array([-1, 4, 7]), np.array([1, 2, 5]))
    2
    """
    return int(times[(value >= 0) & (value % 2 == 0)].sum())


_warnings_lock = threading.Lock()


def normalized_python(text: str) -> tuple[str, bool]:
    """A Python text without comments, docstrings and layout, and whether it is Python.

    Nothing is renamed or reordered.  A text that begins with an indented line is read as the body
    of a block, because completions of a given function head look like that.  A text that consists
    of a string only is unchanged.  A text that does not parse is returned with single spaces.

    >>> normalized_python("x = ( 1 )  # one")
    ('x = 1', True)
    >>> normalized_python("the answer  is 1")
    ('the answer is 1', False)
    """
    head = "if 1:\n" if _INDENTED.match(text) else ""
    # All threads share the warning filters, and DuckDB calls this function from several threads.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(head + text)
            _drop_docstrings(tree)
            return ast.unparse(tree), True
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return single_spaces(text), False


def single_spaces(text: str) -> str:
    """The text with one space for every run of white space, and none at its ends."""
    return " ".join(text.split())


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str())), _, *_]:
                    del node.body[0]
                case [ast.Expr(ast.Constant(str()))] if not isinstance(node, ast.Module):
                    node.body[0] = ast.Pass()


def texts_by_cell(rows: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, dict[int, str]]]:
    """(cell, key → text of its different solutions), from rows (cell, key, text) in any order.

    The rows are written to a hundred temporary files, which are then read one after the other, so
    that memory holds at most a hundredth of the cells.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile()) for _ in range(_FILES)]
        for row in rows:
            files[row[0] % _FILES].write(json.dumps(row).encode() + b"\n")
        for file in files:
            file.seek(0)
            cells: dict[int, dict[int, str]] = {}
            for cell, key, text in map(json.loads, file):
                cells.setdefault(cell, {}).setdefault(key, text)
            yield from cells.items()


def near_duplicates(
    texts: Mapping[int, str], similarity: float, normalise: str = "none"
) -> dict[int, int]:
    """Key → the lowest key among the similar texts, for the different solutions of one cell.

    >>> near_duplicates({3: "return a + b", 5: "return a - b", 8: "return  a + b"}, 1.0)
    {3: 3, 5: 5, 8: 3}
    """
    keys = sorted(texts)
    python = normalise == "python"
    forms = [normalized_python(texts[key])[0] if python else texts[key] for key in keys]
    return {
        key: keys[first]
        for key, first in zip(keys, similarity_groups(forms, similarity).tolist(), strict=True)
    }


def similarity_groups(texts: Sequence[str], similarity: float) -> Ints:
    """The group of each text: texts that are similar, directly or through other texts, share a
    group.

    Two texts are similar if the Jaccard index |A ∩ B| / |A ∪ B| of their sets of shingles is
    ≥ similarity. Shingles are all runs of 3 tokens (words and single signs); a shorter text is one
    shingle.  All pairs are compared exactly, so the time grows with the square of the number of
    texts.
    Source: Broder 1997, "On the resemblance and containment of documents".

    similarity : in (0, 1].  Returns (texts,), the index of the first text in the group.

    >>> similarity_groups(["return a + b", "return  a + b", "return a - b"], 1.0).tolist()
    [0, 0, 2]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    has = csr_array(_shingle_entries(texts))
    has.data[:] = 1
    sizes = np.diff(has.indptr)
    group = np.arange(len(texts))
    for first in range(0, len(texts), _BLOCK_TEXTS):
        common = (has[first : first + _BLOCK_TEXTS] @ has.T).tocoo()
        first_text, second_text = common.coords[0] + first, common.coords[1]
        union = sizes[first_text] + sizes[second_text] - common.data
        is_similar = common.data >= similarity * union * (1 - 1e-12)
        # The links so far, and the similar pairs of this block.
        first_text = np.concatenate([np.arange(len(texts)), first_text[is_similar]])
        second_text = np.concatenate([group, second_text[is_similar]])
        links = csr_array(
            (np.ones(len(first_text), dtype=bool), (first_text, second_text)),
            shape=(len(texts),) * 2,
        )
        label = connected_components(links, directed=False)[1]
        _, first_of, label = np.unique(label, return_index=True, return_inverse=True)
        group = first_of[label]
    return group


def _shingle_entries(texts: Sequence[str]) -> tuple[NDArray[np.int32], tuple[Places, ...]]:
    """(ones, (text, shingle)) for every run of tokens, as entries of a sparse matrix."""
    # Real tokens are never empty, so empty tokens can fill up short texts.
    tokens = [words + [""] * (SHINGLE - len(words)) for words in map(_TOKEN.findall, texts)]
    lengths = np.array([len(words) for words in tokens])
    numbers: dict[str, int] = {}
    sequence = map(numbers.setdefault, chain.from_iterable(tokens), count())
    _, token = np.unique(np.fromiter(sequence, np.int64, lengths.sum()), return_inverse=True)
    runs = lengths - SHINGLE + 1
    text = np.repeat(np.arange(len(texts)), runs)
    at = np.arange(runs.sum()) + (SHINGLE - 1) * text
    run = token[at]
    for step in range(1, SHINGLE):
        _, run = np.unique(run * len(numbers) + token[at + step], return_inverse=True)
    return np.ones(len(run), dtype=np.int32), (text, run)
