"""Proofs of answers: tests on random data that each sentence above a table is true.

A proof yields the names of the answers that it has checked, on the fields behind the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import pytest

from tests.conftest import long

# Answer → the test that proves it.
PROOFS: dict[str, str] = {}

Proof = Callable[..., Iterator[str]]


def proves(*names: str) -> Callable[[Proof], Callable[..., None]]:
    """A test from a proof of these answers: it runs until each was checked, and after the quick
    tests until each was checked twice; it fails if the proof ends before an answer was said."""

    def decorate(proof: Proof) -> Callable[..., None]:
        PROOFS.update(dict.fromkeys(names, f"{proof.__module__}.{proof.__name__}"))

        @pytest.mark.parametrize("times", [1, *long(2)])
        @wraps(proof)
        def test(times: int, **fixtures: Any) -> None:
            checked: Counter[str] = Counter()
            for name in proof(**fixtures):
                checked[name] += 1
                if all(checked[each] >= times for each in names):
                    return
            never = {*names} - checked.keys()
            assert not never, f"never said: {never}"

        own = signature(proof)
        times = Parameter("times", Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = own.replace(parameters=[times, *own.parameters.values()])  # type: ignore[attr-defined]
        return test

    return decorate
