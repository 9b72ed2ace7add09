"""Random generators named by their purpose, so that a new purpose changes no other draws."""

from __future__ import annotations

import zlib

import numpy as np


def named_generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """A random generator for one purpose (and one block of its draws) under a seed.

    seed : integer ≥ 0.  purpose : text; generators for different purposes are independent.
    block : index of a part of the draws, which can be drawn in any order and on any thread.

    >>> bool(named_generator(0, "tasks").random() == named_generator(0, "tasks").random())
    True
    """
    return np.random.default_rng(
        np.random.SeedSequence([seed, zlib.crc32(purpose.encode())], spawn_key=(block,))
    )
