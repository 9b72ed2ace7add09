"""Random generators, each named by its purpose, so that new purposes do not change old draws."""

from __future__ import annotations

import zlib

import numpy as np


def named_generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """A random generator for a seed, a purpose and a block of draws.

    seed : integer ≥ 0.  purpose : a name. Generators with different names are independent.
    block : index of a block of draws. You can draw the blocks in any order and on any thread.

    >>> bool(named_generator(0, "tasks").random() == named_generator(0, "tasks").random())
    True
    """
    return np.random.default_rng(
        np.random.SeedSequence([seed, zlib.crc32(purpose.encode())], spawn_key=(block,))
    )
