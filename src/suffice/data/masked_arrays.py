"""Masked arrays of NumPy: what they mask is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["unmasked"]

MISSING = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}


def unmasked(values: Any, numeric: bool = False) -> Any:
    """Return a masked array as a plain one, and anything else as it is.

    What is masked becomes NaN or NaT. Where the dtype has neither, and a cell is masked, the array
    becomes one of floats if ``numeric``, else of objects with None.

    Examples
    --------
    >>> unmasked(np.ma.array([[1, 2]], mask=[[True, False]]))
    array([[None, 2]], dtype=object)
    >>> unmasked(np.ma.array([[1, 2]], mask=[[True, False]]), numeric=True)
    array([[nan,  2.]])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    cells, mask = np.asarray(values.data), np.ma.getmaskarray(values)
    if not mask.any():
        return cells
    kind = cells.dtype.kind
    if kind in "biu" and numeric:
        cells, kind = cells.astype(np.float64), "f"
    cells = cells.copy(order="K") if kind in MISSING else cells.astype(object)
    cells[mask] = MISSING.get(kind)
    return cells
