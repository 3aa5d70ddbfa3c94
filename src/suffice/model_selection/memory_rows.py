"""Rows in memory, by their places, as `TableRows` has those of a file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.content_hash import row_hashes
from suffice.data.open import open_table
from suffice.model_selection.rows import Rows
from suffice.model_selection.rows_at import rows_at
from suffice.models.base.checks import is_array, labels_of

__all__ = ["MemoryRows"]


@dataclass(frozen=True)
class MemoryRows:
    """Rows in memory with their labels or targets.

    Parameters
    ----------
    rows : Rows
    weight : array-like (n,), optional
    codes : ndarray of int (n,), optional
        Labels; −1 where there is none.
    groups : ndarray of int (n,), optional
    hashes : ndarray of uint64 (n,), optional
    """

    rows: Rows
    weight: Any
    codes: NDArray[np.intp] | None
    groups: NDArray[np.intp] | None
    hashes: NDArray[np.uint64] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        weight: Any,
        labelled: bool,
        groups: Any,
        ignored: Collection[str] = (),
        hashed: bool = False,
    ) -> MemoryRows:
        """Encode labels and groups; the rows of a regression have targets instead of labels."""
        rows = Rows.of(X, y, groups, ignored)
        codes = np.asarray(labels_of(rows.truth).codes(slice(None)), np.intp) if labelled else None
        groups = None if groups is None else np.unique(rows.groups, return_inverse=True)[1]
        return cls(rows, weight, codes, groups, _hashes(rows.X, rows.n) if hashed else None)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def whole(self) -> tuple[Any, Any, Any]:
        """All rows, for `fit`."""
        return self.rows.X, self.rows.y, self.weight

    def at(self, times: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """The rows, each as often as it is asked for, for `fit`."""
        places = np.repeat(np.arange(self.n), times)
        X, y, weight = (rows_at(given, places) for given in self.whole)
        return X, y, weight


def _hashes(X: Any, n: int) -> NDArray[np.uint64]:
    """The hash of every row without its label; all differ in a sparse matrix."""
    if hasattr(X, "tocsr"):
        return np.arange(n, dtype=np.uint64)
    if is_array(X):
        X = {str(j): column for j, column in enumerate(np.asarray(X).T)}
    table = open_table(X).table
    parts = table.parts(dict.fromkeys(table.names))
    found = [row_hashes(records) for part in parts for records in part.record_batches()]
    return np.concatenate([np.zeros(0, np.uint64), *found])
