"""Cells as Python has them, in lists and arrays of objects, beside what NumPy makes of them.

NumPy makes doubles of whole numbers that stand beside fractions, and of those of 64 bits beside
negative ones. Beyond 2^53 they may become others, and two of them the same. Masked arrays, and
arrays with nulls, have missing cells; a label is one value, and all labels are of one type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, SchemaError, warn
from suffice.sums.block import HELD, HELD_RULE, HELD_STEP
from suffice.sums.vocabulary import KINDS


def is_rounded(cell: Any) -> bool:
    """Tell whether a cell is a whole number that the double nearest to it is not."""
    cell = cell.item() if isinstance(cell, np.integer) else cell
    if isinstance(cell, Decimal):
        whole = cell.is_finite() and cell == cell.to_integral_value()
    else:
        whole = isinstance(cell, int)
    try:
        return whole and cell != float(cell)
    except OverflowError:
        return True


def _rounded(given: Any, values: NDArray[Any]) -> tuple[tuple[int, ...], Any] | None:
    """Return the place of the first whole number that NumPy made another one of, and the number."""
    if values.dtype.kind != "f" or (hasattr(given, "dtype") and given.dtype == values.dtype):
        return None
    far = np.argwhere(np.abs(values) >= HELD).tolist()
    cells = np.asarray(given, dtype=object).reshape(values.shape) if far else values
    found = ((tuple(place), cells[tuple(place)]) for place in far)
    return next((one for one in found if is_rounded(one[1])), None)


def require_faithful(
    given: Any,
    values: NDArray[Any],
    where: Callable[[tuple[int, ...]], str],
    next_step: str = HELD_STEP,
) -> None:
    """Refuse numbers of which NumPy made others; ``where`` says what a place is called."""
    found = _rounded(given, values)
    if found is not None:
        raise DataError(f"{where(found[0])}: {found[1]}", HELD_RULE, next_step)


def faithful(given: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Return values, or an array of objects where a whole number would become another one."""
    if _rounded(given, values) is None:
        return values
    return np.asarray(given, dtype=object).reshape(values.shape)


MISSING = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}


def unmasked(values: Any, numeric: bool = False) -> Any:
    """Return a masked array as a plain one, and most other things as they are.

    What is masked becomes NaN or NaT. Where the dtype has neither, and a cell is masked, the array
    becomes one of floats if ``numeric``, else of objects with None: so do whole numbers and truth
    values with nulls of pandas, polars and pyarrow, of which NumPy would make floats. Those of
    pandas without nulls keep their type.
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
    """Whole numbers and truth values of pandas, and others with nulls, as arrays."""
    package = type(values).__module__.partition(".")[0]
    if package == "pandas" and getattr(values, "ndim", 0) == 1 and values.dtype.kind in "iub":
        has_nulls = bool(values.isna().any())
        return values.to_numpy(dtype=object, na_value=None) if has_nulls else values.to_numpy()
    if package == "polars" and type(values).__name__ == "Series" and values.null_count():
        whole = values.dtype.is_integer() or str(values.dtype) == "Boolean"
        return np.array(values.to_list(), dtype=object) if whole else values
    if package == "pyarrow" and getattr(values, "null_count", None):
        whole = str(values.type).startswith(("int", "uint", "bool"))
        return np.array(values.to_pylist(), dtype=object) if whole else values
    return values


BOOLEANS, COMPLEX = (bool, np.bool_), (np.complexfloating,)


def is_missing(value: Any) -> bool:
    """Tell whether a cell is None, NaN, NaT or pandas.NA."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def require_label_values(cells: Sequence[Any]) -> None:
    """Refuse labels that are no values, and Booleans among other labels: 1 equals True."""
    kinds = set(map(type, cells))
    if all(issubclass(kind, KINDS) and not issubclass(kind, BOOLEANS + COMPLEX) for kind in kinds):
        return
    kinds = {type(cell) for cell in cells if not is_missing(cell)}
    other = next(
        (kind for kind in kinds if not issubclass(kind, KINDS) or issubclass(kind, COMPLEX)), None
    )
    if other is not None:
        row = next(i for i, cell in enumerate(cells) if type(cell) is other)
        raise SchemaError(
            f"label, row {row}: {cells[row]!r}",
            "a label is one value: a string, a whole number, a Boolean or a date",
            "write it as a string",
        )
    names = sorted({kind.__name__ for kind in kinds})
    if len(names) > 1 and any(issubclass(kind, BOOLEANS) for kind in kinds):
        raise SchemaError(
            f"the labels mix types: {', '.join(names)}", "labels are of one type", "convert them"
        )


def warn_of_alike(labels: Sequence[Any]) -> None:
    """Warn of labels that differ by blanks or by case only: they look the same in a table."""
    texts = [label for label in labels if isinstance(label, str)]
    for what, same, step in (
        ("blanks", lambda text: " ".join(text.split()), "strip=True reads them as one"),
        ("case", str.casefold, "label_map={{{1!r}: {0!r}}} reads them as one"),
    ):
        first: dict[str, str] = {}
        for text in texts:
            other = first.setdefault(same(text), text)
            if other != text:
                warn(
                    f"the labels {other!r} and {text!r} differ by {what} only: "
                    f"{step.format(other, text)}."
                )
                return
