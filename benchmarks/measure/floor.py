"""The floor: how long threads take that only read the input."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure.timing import Call
from suffice.engines.local import LocalEngine

__all__ = ["THREADS", "reading"]

THREADS = LocalEngine().workers
PIECE = 2**20  # words that a thread takes at a time, 8 MB
POOL = ThreadPoolExecutor(THREADS)


def reading(arrays: Sequence[NDArray[Any]]) -> Call:
    """Return a call that reads contiguous arrays once, on as many threads as a fit."""
    pieces = [piece for array in arrays for piece in _pieces(array)]
    if len(pieces) <= len(arrays):
        return lambda: [np.bitwise_xor.reduce(piece) for piece in pieces]
    return lambda: list(POOL.map(np.bitwise_xor.reduce, pieces))


def _pieces(array: NDArray[Any]) -> list[NDArray[np.int64]]:
    """View the memory of an array as pieces of 8-byte words; the odd bytes at the end are left."""
    memory = array.ravel(order="K").view(np.uint8)
    words = memory[: len(memory) // 8 * 8].view(np.int64)
    return [words[start : start + PIECE] for start in range(0, len(words), PIECE)]
