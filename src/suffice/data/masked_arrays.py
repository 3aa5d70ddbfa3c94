"""Masked arrays of NumPy, and arrays with nulls: what they mask is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["unmasked"]

MISSING = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}


def unmasked(values: Any, numeric: bool = False) -> Any:
    """Return a masked array as a plain one, and most other things as they are.

    What is masked becomes NaN or NaT. Where the dtype has neither, and a cell is masked, the array
    becomes one of floats if ``numeric``, else of objects with None: so do whole numbers and truth
    values with nulls of pandas, polars and pyarrow, of which NumPy would make floats.

    Examples
    --------
    >>> unmasked(np.ma.array([[1, 2]], mask=[[True, False]]))
    array([[None, 2]], dtype=object)
    >>> unmasked(np.ma.array([[1, 2]], mask=[[True, False]]), numeric=True)
    array([[nan,  2.]])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values if numeric else _with_nulls(values)
    cells, mask = np.asarray(values.data), np.ma.getmaskarray(values)
    if not mask.any():
        return cells
    kind = cells.dtype.kind
    if kind in "biu" and numeric:
        cells, kind = cells.astype(np.float64), "f"
    cells = cells.copy(order="K") if kind in MISSING else cells.astype(object)
    cells[mask] = MISSING.get(kind)
    return cells


def _with_nulls(values: Any) -> Any:
    """Whole numbers and truth values with nulls as objects; anything else as it is."""
    package = type(values).__module__.partition(".")[0]
    if package == "pandas" and getattr(values, "ndim", 0) == 1:
        nullable = getattr(values.dtype, "kind", "") in "iub" and bool(values.isna().any())
        return values.to_numpy(dtype=object, na_value=None) if nullable else values
    if package == "polars" and type(values).__name__ == "Series" and values.null_count():
        whole = values.dtype.is_integer() or str(values.dtype) == "Boolean"
        return np.array(values.to_list(), dtype=object) if whole else values
    if package == "pyarrow" and getattr(values, "null_count", None):
        whole = str(values.type).startswith(("int", "uint", "bool"))
        return np.array(values.to_pylist(), dtype=object) if whole else values
    return values
