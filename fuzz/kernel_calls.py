"""Functions of the compiled module with arrays of wrong shapes, strides and types.

The changes are those of `tests/numerics/kernels/test_wrong_calls.py`; the input chooses them.
"""

from __future__ import annotations

import sys

from driver import HERE, fuzz
from tests.numerics.kernels import test_wrong_calls as wrong
from tests.numerics.kernels.signatures import FUNCTIONS, right_calls

CALLS = right_calls()
NAMES = sorted(name for name in FUNCTIONS if CALLS[name])


def call(data: bytes) -> None:
    """One wrong call: a sentence or an answer, and nothing written beside an array."""
    chosen = int.from_bytes(data[:8], "little")
    name = NAMES[chosen % len(NAMES)]
    wrong.call_wrongly(name, CALLS[name], chosen // len(NAMES))


if __name__ == "__main__":
    sys.argv[1:1] = ["-rss_limit_mb=0"]  # a size takes as much memory as it says
    fuzz(call, HERE / "seeds/kernel_calls")
