"""Compare the texts of solutions, either after normalization or by similarity.

passk computes a 63-bit key for each text. Among 10¹⁴ tasks with 400 attempts per task, about one
pair of different solutions of the same task has the same key.
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

from passk_cli.arrays import Indices, Ints, NDArray

# A shingle is a sequence of SHINGLE_TOKENS tokens. With 3 tokens per shingle, the order of tokens
# matters even in short answers.
SHINGLE_TOKENS = 3

_INDENTED_START_PATTERN = re.compile(r"(?:[ \t\r\f]*\n)*[ \t]+\S")
_TOKEN_PATTERN = re.compile(r"\w+|[^\w\s]")
_TEXTS_PER_BLOCK = 256
_TEMPORARY_FILE_COUNT = 100


def solution_key_sql(text: str, normalise: str) -> str:
    """SQL for the key of a solution, which is a BIGINT of at least 0, or −1 if there is no text.

    normalise : "none", "space" (see `single_spaces`) or "python" (see
        `normalize_python_with_validity`). Before you run the SQL for "space" or "python", call
        `register_sql_functions`.

    >>> solution_key_sql("code", "none")
    'CASE WHEN code IS NULL THEN -1 ELSE (hash(code) >> 1)::BIGINT END'
    """
    if normalise == "python":
        return f"coalesce(python_key({text}), -1)"
    form = f"single_spaces({text})" if normalise == "space" else text
    return f"CASE WHEN {text} IS NULL THEN -1 ELSE (hash({form}) >> 1)::BIGINT END"


def register_sql_functions(con: duckdb.DuckDBPyConnection, normalise: str) -> None:
    """Register the functions that the SQL of `solution_key_sql` calls.

    The SQL function `python_key` returns an odd key for a Python program and an even key for a text
    that does not parse. `count_unparsable_attempts` counts the even keys.
    """
    name = {"space": "single_spaces", "python": "python_key"}.get(normalise, "")
    is_registered = "SELECT 1 FROM duckdb_functions() WHERE function_name = $name"
    if not name or con.execute(is_registered, {"name": name}).fetchall():
        return
    if normalise == "space":
        # A Python function is four times as fast as a regular expression in SQL.
        con.create_function(name, single_spaces, ["VARCHAR"], "VARCHAR")
        return
    keys: dict[int, int] = {}

    def key(text: str) -> int:
        code = hash(text)
        if code not in keys:
            form, parsed = normalize_python_with_validity(text)
            digest = blake2b(form.encode(errors="surrogatepass"), digest_size=8).digest()
            if len(keys) >= 1 << 17:
                keys.clear()
            keys[code] = int.from_bytes(digest) >> 2 << 1 | parsed
        return keys[code]

    con.create_function(name, key, ["VARCHAR"], "BIGINT")


def count_unparsable_attempts(value: Ints, times: Ints) -> int:
    """Count the attempts with a solution that is not valid Python and therefore has an even key.

    >>> count_unparsable_attempts(np.array([-1, 4, 7]), np.array([1, 2, 5]))
    2
    """
    return int(times[(value >= 0) & (value % 2 == 0)].sum())


_warnings_lock = threading.Lock()


def normalize_python_with_validity(text: str) -> tuple[str, bool]:
    """Return Python code without comments, docstrings and layout, and whether the text is valid
    Python.

    The function does not rename or reorder anything. A text that begins with an indented line is
    read as the body of a function. A text that consists only of a string literal is not removed. If
    a text does not parse as Python, the function only replaces each run of white space by one
    space.

    >>> normalize_python_with_validity("x = ( 1 )  # one")
    ('x = 1', True)
    >>> normalize_python_with_validity("the answer  is 1")
    ('the answer is 1', False)
    """
    head = "if 1:\n" if _INDENTED_START_PATTERN.match(text) else ""
    # All threads share Python's warning filters, and DuckDB parses solutions in several threads.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(head + text)
            _drop_docstrings(tree)
            return ast.unparse(tree), True
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return single_spaces(text), False


def single_spaces(text: str) -> str:
    """Replace each run of white space by one space, and remove white space at both ends."""
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
    """Yield each cell with a mapping from the key to the text of each different solution.

    rows : triples (cell, key, text) in any order. The rows are written to 100 temporary files,
        which are then read one by one, so that only about 1/100 of the cells are in memory at a
        time.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile()) for _ in range(_TEMPORARY_FILE_COUNT)]
        for row in rows:
            files[row[0] % _TEMPORARY_FILE_COUNT].write(json.dumps(row).encode() + b"\n")
        for file in files:
            file.seek(0)
            cells: dict[int, dict[int, str]] = {}
            for cell, key, text in map(json.loads, file):
                cells.setdefault(cell, {}).setdefault(key, text)
            yield from cells.items()


def lowest_similar_key_by_key(
    texts: Mapping[int, str], similarity: float, normalise: str = "none"
) -> dict[int, int]:
    """Map the key of each solution in a cell to the lowest key in its group of similar solutions.

    >>> lowest_similar_key_by_key({3: "return a + b", 5: "return a - b", 8: "return  a + b"}, 1.0)
    {3: 3, 5: 5, 8: 3}
    """
    keys = sorted(texts)
    python = normalise == "python"
    forms = [
        normalize_python_with_validity(texts[key])[0] if python else texts[key] for key in keys
    ]
    return {
        key: keys[first]
        for key, first in zip(keys, similarity_groups(forms, similarity).tolist(), strict=True)
    }


def similarity_groups(texts: Sequence[str], similarity: float) -> Ints:
    """Group similar texts. Texts that are linked by a chain of similar texts are in the same group.

    Two texts are similar if the Jaccard index |A ∩ B| / |A ∪ B| of their sets of shingles is at
    least `similarity`. A shingle is a sequence of 3 consecutive tokens, which are words or single
    symbols. A text of fewer than 3 tokens is one shingle. All pairs are compared, so the time grows
    with the square of the number of texts.
    Source: Broder 1997, "On the resemblance and containment of documents".

    similarity : the minimum Jaccard index of similar texts, in (0, 1].
    Returns an array with one value per text: the index of the first text in the same group.

    >>> similarity_groups(["return a + b", "return  a + b", "return a - b"], 1.0).tolist()
    [0, 0, 2]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    has = csr_array(_shingle_matrix_entries(texts))
    has.data[:] = 1
    sizes = np.diff(has.indptr)
    group = np.arange(len(texts))
    for first in range(0, len(texts), _TEXTS_PER_BLOCK):
        common = (has[first : first + _TEXTS_PER_BLOCK] @ has.T).tocoo()
        first_text, second_text = common.coords[0] + first, common.coords[1]
        union = sizes[first_text] + sizes[second_text] - common.data
        is_similar = common.data >= similarity * union * (1 - 1e-12)
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


def _shingle_matrix_entries(texts: Sequence[str]) -> tuple[NDArray[np.int32], tuple[Indices, ...]]:
    """The values and the (text, shingle) positions of a sparse matrix that shows which shingles
    each text contains."""
    # Texts that are shorter than a shingle are filled with empty tokens, which never occur in a
    # text.
    tokens = [
        words + [""] * (SHINGLE_TOKENS - len(words)) for words in map(_TOKEN_PATTERN.findall, texts)
    ]
    lengths = np.array([len(words) for words in tokens])
    numbers: dict[str, int] = {}
    sequence = map(numbers.setdefault, chain.from_iterable(tokens), count())
    _, token = np.unique(np.fromiter(sequence, np.int64, lengths.sum()), return_inverse=True)
    runs = lengths - SHINGLE_TOKENS + 1
    text = np.repeat(np.arange(len(texts)), runs)
    at = np.arange(runs.sum()) + (SHINGLE_TOKENS - 1) * text
    run = token[at]
    for step in range(1, SHINGLE_TOKENS):
        _, run = np.unique(run * len(numbers) + token[at + step], return_inverse=True)
    return np.ones(len(run), dtype=np.int32), (text, run)
