"""Rows in memory by their places, with labels or targets, weights and groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.content_hash import row_hashes
from suffice.data.open import open_table
from suffice.data.python_cells import is_missing
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import is_array, labels_of


class Rows(Protocol):
    """A table whose rows are known by their places, 0 to n − 1."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def whole(self) -> tuple[Any, Any, Any]:
        """All rows, as `fit` takes them: X, y, weights."""
        ...

    @property
    def codes(self) -> NDArray[np.intp] | None:
        """Labels (n,), −1 where there is none; None of targets."""
        ...

    def at(self, places: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Return the rows at these places, as `fit` takes them."""
        ...


@dataclass(frozen=True)
class MemoryRows:
    """An array, a frame, or columns in memory.

    Parameters
    ----------
    X : table (n, d)
    y : array-like (n,) or (n, t), or name of a column
    weight : array-like (n,), optional
    n : int
    codes : ndarray of int (n,), optional
        Labels; −1 where there is none.
    groups : array-like (n,), optional
    """

    X: Any
    y: Any
    weight: Any
    n: int
    codes: NDArray[np.intp] | None = None
    groups: Any = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        weight: Any,
        groups: Any,
        labelled: bool,
        ignored: Collection[str] = (),
    ) -> MemoryRows:
        """Count the rows, encode labels, and find groups that are a column.

        Such a column is no feature, whether estimators leave it out already or not.
        """
        if isinstance(X, list):
            X = np.asarray(X)
        n = _number_of_rows(X)
        if isinstance(groups, str):
            name, cells = groups, _column(X, groups)
            if name not in ignored:
                X = _without(X, name)
            if missing := [i for i, value in enumerate(cells) if value is None]:
                raise DataError(
                    f"the column of groups is empty in row {missing[0]}",
                    "every row belongs to a group",
                    "fill it in, or leave the row out",
                )
            groups = cells
        rows = cls(X, y, weight, n, None, None if groups is None else np.asarray(groups))
        if not labelled:
            return rows
        codes = np.asarray(labels_of(rows.truth).codes(slice(None)), np.intp)
        return cls(X, y, weight, n, codes, rows.groups)

    @property
    def truth(self) -> Any:
        """Labels or targets, (n,) or (n, t)."""
        return np.array(_column(self.X, self.y)) if isinstance(self.y, str) else self.y

    @property
    def whole(self) -> tuple[Any, Any, Any]:
        """All rows."""
        return self.X, self.y, self.weight

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hash of every row without its label, (n,); all differ in a sparse matrix."""
        X = self.X
        if hasattr(X, "tocsr"):
            return np.arange(self.n, dtype=np.uint64)
        if is_array(X):
            X = {str(j): column for j, column in enumerate(np.asarray(X).T)}
        table = open_table(X).table
        parts = table.parts(dict.fromkeys(table.names))
        found = [row_hashes(records) for part in parts for records in part.record_batches()]
        return np.concatenate([np.zeros(0, np.uint64), *found])

    def at(self, places: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Return the rows at these places; one that is named twice comes twice."""
        X, y, weight = (rows_at(given, places) for given in self.whole)
        return X, y, weight


def rows_at(table: Any, rows: NDArray[np.intp]) -> Any:
    """Return the rows of an array or frame at these places; a name stays."""
    if table is None or isinstance(table, str):
        return table
    if isinstance(table, Mapping):
        return {name: rows_at(column, rows) for name, column in table.items()}
    if isinstance(table, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return table.take(pa.array(rows))
    if isinstance(table, np.ndarray):
        return table[rows]
    if isinstance(table, list):
        return [table[row] for row in rows.tolist()]
    from sklearn.utils import _safe_indexing  # it takes seconds to import

    return _safe_indexing(table, rows)


def _number_of_rows(X: Any) -> int:
    if isinstance(X, Mapping):
        return len(next(iter(X.values())))
    if hasattr(X, "num_rows"):
        return int(X.num_rows)
    if hasattr(X, "shape"):
        return int(X.shape[0])
    raise ParameterError(
        f"X is {type(X).__name__}",
        "folds are made of rows in memory: an array, a frame, a dict of columns",
        "read the table first, or use evaluate_folds",
    )


def _column(X: Any, name: str) -> list[Any]:
    """Return the cells of a column of a table in memory."""
    try:
        column = X[name]
    except (KeyError, IndexError, TypeError):
        raise ParameterError(f"there is no column {name!r}", "it names a column of X") from None
    cells: list[Any] = (column if hasattr(column, "to_pylist") else pa.array(column)).to_pylist()
    return cells


def _without(X: Any, name: str) -> Any:
    """Return a table in memory without a column."""
    if isinstance(X, Mapping):
        return {other: column for other, column in X.items() if other != name}
    if hasattr(X, "drop_columns"):
        return X.drop_columns([name])
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def require_labels(y: Any) -> None:
    """Refuse a row without a label."""
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind in "biuSU":
        return
    for row in [i for i, label in enumerate(y.tolist()) if is_missing(label)][:1]:
        raise DataError(
            f"label, row {row}: {y[row]}",
            "a row is judged by its label",
            "leave out rows without one, or use evaluate_folds, which does so",
        )
