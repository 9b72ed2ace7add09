"""Randomness named by its purpose, so that another model or metric changes no other number."""

from __future__ import annotations

import zlib

import numpy as np


def named_generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """The generator for one purpose (and one block of its draws) under a seed.

    seed : any integer ≥ 0; 0 is an ordinary seed.
    purpose : what is drawn; different purposes are independent.
    block : a part of the draws that can be made separately, in any order and on any thread.

    >>> bool(named_generator(0, "tasks").random() == named_generator(0, "tasks").random())
    True
    """
    return np.random.default_rng(
        np.random.SeedSequence([seed, zlib.crc32(purpose.encode())], spawn_key=(block,))
    )
