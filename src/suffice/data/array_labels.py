"""Labels of the rows of an array, as codes of classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.label_values import is_missing, require_label_values, warn_of_alike
from suffice.numerics import kernels
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.vocabulary import Vocabulary

__all__ = ["Labels"]


@dataclass(frozen=True)
class Labels:
    """Class labels of all rows, encoded batch by batch so that no array of n codes is needed."""

    values: NDArray[Any]  # (n,); None, NaN, NaT and pandas.NA are missing
    classes: Vocabulary  # their distinct values

    @classmethod
    def of(cls, values: NDArray[Any]) -> Labels:
        """Find the distinct labels, without sorting them.

        Raises
        ------
        SchemaError
            If one holds several values, or Booleans are among others.
        """
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        if values.dtype == np.bool_:
            shown = (value for value in (False, True) if (values == value).any())
            return cls(values, Vocabulary(tuple(shown)))
        if values.dtype.kind in "iu" and len(values):
            low = values.min()
            width = int(values.max()) - int(low) + 1
            if width <= BATCH_ROWS:
                seen = np.zeros(width, np.bool_)
                kernels.counts.mark(values, low, seen)
                found = map(int(low).__add__, np.flatnonzero(seen).tolist())
                return cls(values, Vocabulary(tuple(found)))
        cells = values.tolist()
        if values.dtype == object:
            require_label_values(cells)
        classes = Vocabulary.of(cell for cell in cells if not is_missing(cell))
        if values.dtype.kind in "OUT":
            warn_of_alike(classes.values)
        return cls(values, classes)

    def codes(self, rows: slice) -> NDArray[np.intp]:
        """Codes of some rows; −1 = missing."""
        values = self.values[rows]
        if self._are_codes:
            return values
        if values.dtype == np.bool_ and len(values):
            return values.astype(np.intp) - int(self.classes.values[0])
        if self._table is not None:
            codes, low = np.empty(len(values), np.intp), values.dtype.type(self.classes.values[0])
            kernels.counts.look_up(values, low, self._table, codes)
            return codes
        return self.classes.index(
            (None if is_missing(value) else value for value in values.tolist()), -1
        )

    @cached_property
    def _are_codes(self) -> bool:
        """Whether the labels are 0, 1, 2, ..., laid out as codes are, and so are codes already."""
        known, alike = self.classes.values, self.values.flags.carray
        return alike and self.values.dtype == np.intp and known == tuple(range(len(known)))

    @cached_property
    def _table(self) -> NDArray[np.intp] | None:
        """Code of every integer from the smallest label to the largest, where these are few."""
        known = self.classes.values
        if self.values.dtype.kind not in "iu" or not 0 < len(known) <= BATCH_ROWS:
            return None
        above = np.array([value - known[0] for value in known])
        if above[-1] >= BATCH_ROWS:
            return None
        table = np.full(above[-1] + 1, -1, np.intp)
        table[above] = np.arange(len(known))
        return table
