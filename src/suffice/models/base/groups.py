"""Groups of rows: by values of columns that are read along, or by a number given for each row.

A part of a table whose rows have groups yields batches that say the group of every row. A kernel of
sums adds each row to the sums of its group; one that judges rows is given those of a group at a
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Column, Layout
from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import is_array
from suffice.numerics.in_print import Printed, Table
from suffice.sums.batch import Batch
from suffice.sums.block import KeyBlock
from suffice.sums.by_class import ClassesByGroup
from suffice.sums.kept_rows import KeptRows
from suffice.sums.keys import Keyed, KeyNumbers, Keys, distinct

MOST_GROUPS = 1_000

P = TypeVar("P")
S = TypeVar("S")
E = TypeVar("E", bound="InShort")


class InShort(Protocol):
    """A group of rows, in short."""

    @property
    def in_short(self) -> dict[str, str]:
        """Figures as they are printed, by name."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ByGroup(Printed, Mapping[Any, E]):
    """An evaluation of the rows of every value of a column.

    Parameters
    ----------
    column : str
        Its name.
    groups : mapping
        Evaluations by value, sorted; None stands for missing cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import NaiveBayes
    >>> x, sex = [1.0, 2.0, 5.0, 6.0], ["f", "m", "f", "m"]
    >>> table = pa.table({"x": x, "sex": sex, "y": list("aabb")})
    >>> NaiveBayes().fit(table, "y").evaluate_by(table, "y", by="sex")["m"].accuracy
    1.0
    """

    column: str
    groups: Mapping[Any, E]

    def __getitem__(self, value: Any) -> E:
        return self.groups[value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def table(self) -> Table:
        """Return the figures of every group as a table."""
        names = next(iter(self.values())).in_short if self.groups else {}
        rows = [
            ["(missing)" if value is None else str(value), *found.in_short.values()]
            for value, found in self.items()
        ]
        return Table("", [self.column, *names], rows)


class Rows(Protocol):
    """A table that says what its columns are, and is read in parts."""

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The columns of the given names."""
        ...

    def parts(self, layout: Layout, workers: int) -> Sequence[Any]:
        """The parts, to be read by so many workers."""
        ...


# -- by columns


@dataclass(frozen=True)
class ByColumns:
    """Groups of rows with the same values of some columns, which the model may read or not."""

    names: tuple[str, ...]

    def parts(self, rows: Rows, layout: Layout, workers: int) -> Sequence[Part]:
        block = BlockLayout("key", self.names)
        known = {column.name for column in layout.columns}
        more = [name for name in self.names if name not in known]
        columns = tuple(layout.columns)
        if more:
            columns = (*rows.columns(more), *columns)
        ignored = tuple(name for name in layout.ignored if name not in self.names)
        read = replace(layout, blocks=(block, *layout.blocks), columns=columns, ignored=ignored)
        return rows.parts(read, workers)

    def read(self, part: Part) -> KeyedPart:
        return KeyedPart(part, self.names)

    def keyed(self, part: KeyedPart, sums: Any) -> Keyed:
        return Keyed(part.numbers.keys(), sums)


class KeyedPart(Part):
    """A part whose first block says the keys of its rows, which are numbered as they come."""

    def __init__(self, part: Part, names: Sequence[str]) -> None:
        self.part, self.names = part, tuple(names)
        self.numbers = KeyNumbers(self.names)

    def batches(self) -> Iterator[Batch]:
        self.numbers = KeyNumbers(self.names)
        for batch in self.part.batches():
            keys = batch.blocks[0]
            assert isinstance(keys, KeyBlock)
            groups = self.numbers.codes(keys.columns)
            yield replace(batch, blocks=batch.blocks[1:], groups=groups)

    @property
    def rows(self) -> int | None:
        return self.part.rows

    def locate(self, row: int) -> str:
        return self.part.locate(row)


def key_columns(by: Any, table: Any) -> tuple[tuple[str, ...], dict[str, pa.Array[Any]] | None]:
    """Return names of columns of keys, or the values of these, which are given row by row."""
    if by is None:
        return (), None
    if isinstance(by, str):
        return (by,), None
    of_names = isinstance(by, list | tuple) and all(isinstance(name, str) for name in by)
    if of_names and not (len(by) and is_array(table) and len(by) == len(table)):
        if not by or len(set(by)) < len(by):
            raise ParameterError(
                f"by={by!r}", "columns of keys are named once, one at least", "name them"
            )
        return tuple(by), None
    values = by if isinstance(by, pa.Array | pa.ChunkedArray) else np.asarray(by)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ParameterError(
            f"keys of the shape {values.shape}", "there is one key per row", "name columns instead"
        )
    name = getattr(by, "name", None)
    try:
        column = pa.array(by, from_pandas=True) if isinstance(values, np.ndarray) else values
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise DataError(
            f"the keys mix types: {str(error).splitlines()[0]}", "keys are of one type"
        ) from error
    return (), {name if isinstance(name, str) else "group": column}


def require_products(sums: Any) -> None:
    """Refuse sums by group that are rows of wide tables."""
    blocks = sums.blocks if isinstance(sums, ClassesByGroup) else (sums,)
    if any(isinstance(block, KeptRows) for block in blocks):
        raise ParameterError(
            f"the sums of {blocks[0].d:,} columns by group",
            "of so many columns a fit keeps the rows, and no products",
            "use fewer columns, or fit the groups one by one",
        )


# -- by place


@dataclass(frozen=True)
class ByPlace:
    """Groups of rows by their places in a table.

    Parameters
    ----------
    codes : ndarray of int (n,)
        The group of every row, from 0 on; −1 for rows in none.
    keys : Keys, optional
        Those of the groups; they may have numbers only.
    """

    codes: NDArray[np.intp]
    keys: Keys | None = None

    def parts(self, rows: Rows, layout: Layout, workers: int) -> Sequence[Part]:
        parts = rows.parts(layout, workers)
        # Few bytes a row: all are compared with their neighbours.
        codes = self.codes.astype(np.min_scalar_type(-1 - int(self.codes.max(initial=0))))
        edges = list(accumulate((part.count() for part in parts), initial=0))
        if edges[-1] != len(codes):
            raise ParameterError(
                f"{len(codes)} keys for {edges[-1]} rows", "there is one key per row"
            )
        return [PlacedPart(p, codes[a:b]) for p, (a, b) in zip(parts, pairwise(edges), strict=True)]

    def read(self, part: Part) -> Part:
        return part

    @classmethod
    def of(cls, columns: Mapping[str, pa.Array[Any]]) -> Self:
        """Return the groups of rows whose keys are given, the keys in order."""
        cells = Keys.of(columns)
        first, codes = distinct(cells.columns)
        return cls(codes, cells.take(first))

    @property
    def known(self) -> Keys:
        """The keys of the groups, or their numbers."""
        if self.keys is not None:
            return self.keys
        return Keys.numbered(int(self.codes.max(initial=-1)) + 1)

    def without_rows(self) -> Self:
        """Return the groups as a worker needs them that is given its rows with their groups."""
        return replace(self, codes=np.empty(0, np.intp), keys=self.known)

    def keyed(self, part: Part, sums: Any) -> Keyed:
        return Keyed(self.known, sums)


@dataclass(frozen=True)
class PlacedPart(Part):
    """A part that knows the groups of its rows (n,)."""

    part: Part
    groups: NDArray[np.signedinteger[Any]]

    def batches(self) -> Iterator[Batch]:
        first = 0
        for batch in self.part.batches():
            groups = self.groups[first : first + batch.rows].astype(np.intp)
            yield replace(batch, groups=groups)
            first += batch.rows

    @property
    def rows(self) -> int:
        return len(self.groups)

    def locate(self, row: int) -> str:
        return self.part.locate(row)

    @property
    def nbytes(self) -> int | None:
        return self.part.nbytes


# -- sums by group


def sums_by_group(
    kernel: Callable[[Part, Any], Any],
    params: Any,
    engine: Engine,
    rows: Rows,
    layout: Layout,
    groups: ByColumns | ByPlace,
) -> Keyed:
    """Return the sums of a kernel over the rows of every group, from one pass over a table.

    Parameters
    ----------
    kernel : callable
        Takes a part whose batches have groups, and returns sums with an axis of groups.
    params : object
        What it takes beside the part.
    """
    parts = groups.parts(rows, layout, engine.workers)
    if engine.in_process:  # to add the sums of many groups takes as long as to read many rows
        parts = side_by_side(parts, engine.workers)
    of_worker = groups.without_rows() if isinstance(groups, ByPlace) else groups
    found: Keyed = engine.run(_keyed, (kernel, params, of_worker), parts)
    return found.sorted() if isinstance(groups, ByColumns) else found


@dataclass(frozen=True)
class Successive(Part):
    """Parts that follow each other, as one."""

    parts: tuple[Part, ...]

    def batches(self) -> Iterator[Batch]:
        for part in self.parts:
            yield from part.batches()

    @property
    def rows(self) -> int | None:
        known = [part.rows for part in self.parts]
        return None if None in known else sum(rows or 0 for rows in known)

    @property
    def file(self) -> Path | None:
        return self.parts[0].file

    def locate(self, row: int) -> str:
        for part in self.parts[:-1]:
            if row < (rows := part.count()):
                return part.locate(row)
            row -= rows
        return self.parts[-1].locate(row)


def side_by_side(parts: Sequence[Part], workers: int) -> Sequence[Part]:
    """Join parts to as many as there are workers."""
    if len(parts) <= workers:
        return parts
    edges = (np.arange(workers + 1) * len(parts) // workers).tolist()
    return [Successive(tuple(parts[a:b])) for a, b in pairwise(edges)]


def _keyed(part: Part, task: tuple[Callable[[Part, Any], Any], Any, Any]) -> Keyed:
    """Kernel: the sums of one part, by key."""
    kernel, params, groups = task
    read = groups.read(part)
    found: Keyed = groups.keyed(read, kernel(read, params))
    return replace(found, sums=found.sums.padded(len(found.keys)))


# -- results of other kernels

STRETCH = 4096  # rows of one group side by side that are worth a call of their own


@dataclass(frozen=True)
class RowsOf(Part):
    """Some rows of a batch as a part."""

    part: Part
    first: int
    places: NDArray[np.intp] | range
    batch: Batch

    def batches(self) -> Iterator[Batch]:
        """The rows."""
        yield self.batch

    @property
    def rows(self) -> int:
        return self.batch.rows

    def locate(self, row: int) -> str:
        return self.part.locate(self.first + int(self.places[row]))


class Results(dict[Any, Any]):
    """Results by group, or by model, which are added one by one."""

    def __add__(self, other: Results) -> Results:
        both = {key: self[key] + other[key] for key in self.keys() & other.keys()}
        return Results({**self, **other, **both})


def for_every_group(part: Part, params: Any, group: Any, kernel: Callable[..., S]) -> S:
    """Call a kernel that knows no groups."""
    return kernel(part, params)


def require_free(by: str, taken: Sequence[str | None]) -> None:
    """Refuse to group rows by a column that has another part to play."""
    if by in taken:
        raise ParameterError(
            f"the column {by!r} is to divide the rows, and is their label or their weight",
            "a column has one part to play",
            "choose another column",
        )


def results_by_group(
    kernel: Callable[[Part, P, Any], S],
    params: P,
    engine: Engine,
    rows: Rows,
    layout: Layout,
    groups: ByColumns | ByPlace,
) -> dict[Any, S]:
    """Apply a kernel to the rows of every group, in one pass over a table.

    Parameters
    ----------
    kernel : callable
        Takes rows, ``params`` and a group; its results can be added.

    Returns
    -------
    dict
        Results by number of the group, or by the value of its only column, sorted.
    """
    parts = groups.parts(rows, layout, engine.workers)
    of_worker = groups.without_rows() if isinstance(groups, ByPlace) else groups
    found = Results()
    for more in engine.map(_results, (kernel, params, of_worker), parts):
        found = found + more
        if isinstance(groups, ByColumns) and len(found) > MOST_GROUPS:
            raise DataError(
                f"the column that divides the rows has more than {MOST_GROUPS:,} values",
                "every value is a group of its own",
                "choose a column with fewer values",
            )
    return dict(sorted(found.items(), key=_in_order))


def _in_order(item: tuple[Any, Any]) -> tuple[bool, Any]:
    """Values by their order; missing ones last."""
    value = item[0]
    return value is None, 0 if value is None else value


def _results(part: Part, task: tuple[Callable[[Part, Any, Any], Any], Any, Any]) -> Results:
    """Kernel: the results of the rows of one part, by group."""
    kernel, params, groups = task
    read, found, first = groups.read(part), Results(), 0
    for batch in read.batches():
        for g, rows in _grouped(batch.groups):
            piece = RowsOf(read, first, rows, _some(batch, rows))
            found = found + Results({g: kernel(piece, params, g)})
        first += batch.rows
    if isinstance(groups, ByPlace):
        return found
    keys = read.numbers.keys()
    return Results({keys.key(g)[0]: result for g, result in found.items()})


def _grouped(group: NDArray[np.intp]) -> Iterator[tuple[int, range | NDArray[np.intp]]]:
    """Yield groups and places of their rows: long stretches, which need no copy, and the others."""
    edges = np.flatnonzero(group[1:] != group[:-1]) + 1
    starts, stops = np.append(0, edges), np.append(edges, len(group))
    long = np.flatnonzero(stops - starts >= STRETCH)
    rest = np.ones(len(group), np.bool_)
    for start, stop in zip(starts[long].tolist(), stops[long].tolist(), strict=True):
        rest[start:stop] = False
        if group[start] >= 0:
            yield int(group[start]), range(start, stop)
    places = np.flatnonzero(rest)
    of_places = group[places]
    for g in np.flatnonzero(np.bincount(of_places[of_places >= 0])).tolist():
        yield g, places[of_places == g]


def _some(batch: Batch, rows: range | NDArray[np.intp]) -> Batch:
    """Some rows of a batch, without a copy where they lie side by side."""
    if len(rows) == batch.rows:
        return batch
    return batch.cut(rows.start, rows.stop) if isinstance(rows, range) else batch.take(rows)
