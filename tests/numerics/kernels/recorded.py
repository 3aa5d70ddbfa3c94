"""Results of kernels as the version that was compiled by Numba gave them, bit by bit.

A case is a name and the arrays that a kernel returned or wrote. ``recorded/<kernels>.json`` holds a
digest of each; with ``SUFFICE_RECORD=1`` the tests write it instead of comparing.
"""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["check"]

FOLDER = Path(__file__).parent / "recorded"


def check(kernels: str, cases: Iterable[tuple[str, Iterable[Any]]]) -> None:
    """Compare every case of some kernels with what was recorded."""
    found = {name: digest(results) for name, results in cases}
    file = FOLDER / f"{kernels}.json"
    if os.environ.get("SUFFICE_RECORD"):
        file.write_text(json.dumps(found, indent=0) + "\n")
    recorded = json.loads(file.read_text())
    assert set(found) == set(recorded)
    assert [name for name in found if found[name] != recorded[name]] == []


def digest(results: Iterable[Any]) -> str:
    """Twelve bytes of a digest of numbers and arrays; one NaN is as good as another."""
    total = sha256()
    for result in results:
        array = np.array(result, order="C")
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
        total.update(f"{array.dtype} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()[:24]
