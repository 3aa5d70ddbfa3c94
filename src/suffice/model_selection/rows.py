"""The rows of a table by their places: labels, groups, hashes, and some of them as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from os import PathLike
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.content_hash import row_hashes
from suffice.data.open import distributed_table, open_table
from suffice.data.schema import BlockLayout, Layout, rows_taken
from suffice.data.source import Part, each_batch
from suffice.data.table import RowsWhere, Table, WithoutColumns
from suffice.engines.engine import engine_for
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import is_array
from suffice.models.reading import labels_of
from suffice.sums.batch import Batch
from suffice.sums.block import CodedBlock
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True)
class MemoryRows:
    """An array, a frame, or columns in memory, of n rows; y and weights as `fit` takes them.

    ``codes`` are labels (n,), −1 where there is none; None of targets.
    """

    X: Any
    y: Any
    weight: Any
    n: int
    codes: NDArray[np.intp] | None = None
    groups: Any = None

    @classmethod
    def of(cls, X: Any, y: Any, weight: Any, groups: Any, labelled: bool) -> MemoryRows:
        """Count the rows, encode labels, and find groups that are a column, and so no feature."""
        if isinstance(X, list):
            X = np.asarray(X)
        n = _number_of_rows(X)
        if isinstance(groups, str):
            name, cells = groups, _column(X, groups)
            X = _without(X, name)
            _require_groups(name, np.array([value is None for value in cells], np.bool_))
            groups = cells
        rows = cls(X, y, weight, n, None, None if groups is None else np.asarray(groups))
        if not labelled:
            return rows
        codes = labels_of(rows.truth).codes
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
        return _hashes(X)

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
        return rows_taken(table, rows)
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


def _require_groups(name: str, missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise DataError(
            f"column {name!r}, row {int(missing.argmax())}: missing",
            "every row belongs to a group",
            "fill it in, or leave the row out",
        )


def _column(X: Any, name: str) -> list[Any]:
    try:
        column = X[name]
    except (KeyError, IndexError, TypeError):
        raise ParameterError(f"there is no column {name!r}", "it names a column of X") from None
    cells: list[Any] = (column if hasattr(column, "to_pylist") else pa.array(column)).to_pylist()
    return cells


def _without(X: Any, name: str) -> Any:
    if isinstance(X, Mapping):
        return {other: column for other, column in X.items() if other != name}
    if hasattr(X, "drop_columns"):
        return X.drop_columns([name])
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def is_table(X: Any) -> bool:
    """Tell files, opened tables and frames of engines from rows in memory."""
    if isinstance(X, str | PathLike) or distributed_table(X) is not None:
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(path, str | PathLike) for path in X)
    return hasattr(X, "parts") and hasattr(X, "head") and hasattr(X, "names")


@dataclass(frozen=True)
class TableRows:
    """A table whose rows are read part by part, in one order.

    ``edges`` are the places where parts begin, and n; ``codes`` are labels (n,), −1 where there is
    none; groups (n,) only where asked for.
    """

    table: Table
    y: Any
    weight: str | None
    edges: tuple[int, ...]
    codes: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls, X: Any, y: Any, weight: Any, labelled: bool = False, groups: Any = None
    ) -> TableRows:
        """Read labels and groups, in one pass; the column of groups is no feature."""
        names = [y] if isinstance(y, str) else y
        for what, given in (("y", y), ("sample_weight", weight), ("groups", groups)):
            columns = names if what == "y" else [given] if given is not None else []
            if not (isinstance(columns, list | tuple) and all(isinstance(c, str) for c in columns)):
                raise ParameterError(
                    f"{what} is {type(given).__name__}, and the rows are read from a table",
                    "it is one of its columns",
                    "give the name of the column",
                )
        source = open_table(X, y if labelled else None, weight)
        if source.engine == "spark":
            raise ParameterError(
                "the rows of a Spark DataFrame have no order",
                "folds are made of rows by their places",
                "write it to Parquet files, and give these",
            )
        columns = source.columns([groups]) if groups is not None else ()
        read = {groups, source.label, source.weight}
        layout = Layout(
            tuple([BlockLayout("category", (column.name,)) for column in columns]),
            tuple([replace(column, kind="category") for column in columns]),
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=tuple([name for name in source.table.names if name not in read]),
        )
        if labelled or columns:
            parts, kernel = source.parts(layout, 1), _read
        else:
            parts, kernel = source.table.parts(dict.fromkeys(source.table.names[:1])), _counted
        found = list(engine_for(source).map(kernel, layout, parts))
        batches = [batch for part in found for batch in part]
        codes = group = None
        if labelled:
            codes = _joined([(batch.codes, batch.classes) for batch in batches])
        if columns:
            cells = [cast(CodedBlock, batch.blocks[0]).coded() for batch in batches]
            group = _joined([(one.codes[:, 0], one.vocabularies[0]) for one in cells])
            _require_groups(groups, group < 0)
        sizes = (sum(batch.rows for batch in part) for part in found)
        table = source.table if groups is None else WithoutColumns(source.table, (groups,))
        return cls(table, y, weight, tuple(accumulate(sizes, initial=0)), codes, group)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.edges[-1]

    @property
    def whole(self) -> tuple[Any, Any, Any]:
        """All rows, for `fit`."""
        return self.table, self.y, self.weight

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hash of every row but for its weight, (n,)."""
        return _hashes(self.table, self.weight)

    def at(self, places: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Return the rows at these places, as `fit` takes them; none may be named twice."""
        times = np.bincount(places, minlength=self.n)
        if (times > 1).any():
            raise ParameterError(
                f"row {int((times > 1).argmax())} is in a training set twice",
                "only models of sums are fitted to a row of a table twice",
                "read the table into memory first",
            )
        return RowsWhere(self.table, times > 0, self.edges), self.y, self.weight


def _read(part: Part, layout: Layout) -> list[Batch]:
    """Kernel: the batches of a part."""
    return list(each_batch(part, layout, lambda batch: batch))


def _counted(part: Part, layout: Layout) -> list[Batch]:
    """Kernel: the number of rows of a part of which nothing is read."""
    return [Batch(part.count(), ())]


def _joined(parts: Sequence[tuple[NDArray[Any], Vocabulary]]) -> NDArray[np.intp]:
    """Codes of all rows into the sorted values of all, from those of each part into its own."""
    every = Vocabulary.of(value for _, values in parts for value in values.values)
    return np.concatenate(
        [np.append(every.index(values.values, -1), -1)[codes] for codes, values in parts]
    )


def _hashes(X: Any, weight: str | None = None) -> NDArray[np.uint64]:
    """The hash of every row, (n,), but for its weight."""
    source = open_table(X)
    names = [name for name in source.table.names if name != weight]
    found = engine_for(source).map(_hashed, None, source.table.parts(dict.fromkeys(names)))
    return np.concatenate([np.zeros(0, np.uint64), *chain.from_iterable(found)])


def _hashed(part: Any, params: None) -> list[NDArray[np.uint64]]:
    """Kernel: the hashes of the rows of a part, batch by batch."""
    return [row_hashes(records) for records in part.record_batches()]


Rows: TypeAlias = MemoryRows | TableRows
"""A table whose rows are known by their places, 0 to n − 1."""
