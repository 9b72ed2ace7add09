"""Proofs of answers: tests on random data that each sentence above a table is true.

A proof yields the names of the answers that it has checked, on the fields behind the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest

# Answer → the test that proves it.
PROOFS: dict[str, str] = {}

Proof = Callable[..., Iterator[str]]


def proves(*names: str) -> Callable[[Proof], Callable[..., None]]:
    """A test from a proof of these answers.

    It runs until each answer was checked, and fails if the proof ends before an answer was printed.
    """

    def decorate(proof: Proof) -> Callable[..., None]:
        PROOFS.update(dict.fromkeys(names, f"{proof.__module__}.{proof.__name__}"))

        @wraps(proof)
        def test(**fixtures: Any) -> None:
            never = {*names}
            for name in proof(**fixtures):
                never.discard(name)
                if not never:
                    return
            pytest.fail(f"never said: {never}")

        return test

    return decorate
