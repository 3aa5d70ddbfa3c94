"""Results of a kernel by group of rows: by the values of a column, or by given indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Column, Layout
from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.numerics.in_print import Printed, Table
from suffice.sums.batch import Batch
from suffice.sums.block import Block, CodedBlock, RealBlock

MOST_GROUPS = 1_000

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


class HasColumns(Protocol):
    """A table that says what its columns are."""

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The columns of the given names."""
        ...


def group_layout(
    layout: Layout, source: HasColumns, by: str, taken: Iterable[str | None]
) -> tuple[Layout, tuple[int, int]]:
    """Add the column that divides the rows to a layout, and return its position.

    Parameters
    ----------
    layout : Layout
        How they are read without it.
    source : HasColumns
        The table.
    by : str
        The column.
    taken : iterable of str or None
        Columns that have another part to play: labels, targets, weights.

    Returns
    -------
    layout : Layout
        With one more block, unless the model reads the column itself.
    at : (int, int)
        The block, and the column in it.
    """
    if by in taken:
        raise ParameterError(
            f"the column {by!r} is to divide the rows, and is their label or their weight",
            "a column has one part to play",
            "choose another column",
        )
    for b, block in enumerate(layout.blocks):
        if by in block.columns:
            return layout, (b, list(block.columns).index(by))
    (column,) = source.columns([by])
    columns = [known for known in layout.columns if known.name != by]
    own = BlockLayout("category", (by,))
    kept = tuple(name for name in layout.ignored if name != by)
    read = replace(
        layout,
        blocks=(*layout.blocks, own),
        columns=(*columns, replace(column, kind="category")),
        ignored=kept,
    )
    return read, (len(layout.blocks), 0)


def sum_by_group(
    kernel: Callable[[Part, Any], S],
    params: Any,
    engine: Engine,
    parts: Sequence[Part],
    at: tuple[int, int],
    blocks: int,
) -> dict[Any, S]:
    """The sums of a kernel over the rows of every group, by value of the column; None if missing.

    Parameters
    ----------
    kernel : callable
        Its results can be added.
    params : object
        What it takes beside a part.
    engine : Engine
    parts : sequence of Part
        Read as `group_layout` says.
    at : (int, int)
        Where the column stands.
    blocks : int
        How many blocks the kernel knows, which come first.
    """
    total: dict[Any, S] = {}
    part = partial(_of_part, kernel=kernel, at=at, blocks=blocks)
    for found in engine.map(part, params, parts):
        _join(total, found)
    return dict(sorted(total.items(), key=_in_order))


def _in_order(item: tuple[Any, Any]) -> tuple[bool, str, Any]:
    """Values of one type by their order; missing ones last."""
    value = item[0]
    return value is None, type(value).__name__, 0 if value is None else value


def _join(total: dict[Any, Any], more: Mapping[Any, Any]) -> None:
    for value, found in more.items():
        total[value] = add(total[value], found) if value in total else found
    if len(total) > MOST_GROUPS:
        raise DataError(
            f"the column that divides the rows has more than {MOST_GROUPS:,} values",
            "every value is a group of its own",
            "choose a column with fewer values",
        )


def _of_part(
    part: Part,
    params: Any,
    kernel: Callable[[Part, Any], S],
    at: tuple[int, int],
    blocks: int,
) -> dict[Any, S]:
    total: dict[Any, S] = {}
    first = 0
    for batch in part.batches():
        b, j = at
        groups = dict(_groups(batch.blocks[b].column(j)))
        rest = replace(batch, blocks=batch.blocks[:blocks])
        pieces = {
            value: RowsOf(part, first, rows, rest.take(rows)) for value, rows in groups.items()
        }
        _join(total, {value: kernel(piece, params) for value, piece in pieces.items()})
        first += batch.rows
    return total


def _groups(column: Block) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    """Yield the values of one column that occur, and their rows; None for missing ones."""
    if isinstance(column, RealBlock):
        values, codes = np.unique(column.values[:, 0], return_inverse=True)
        names = [None if np.isnan(value) else value for value in values.tolist()]
    elif isinstance(column, CodedBlock):
        coded = column.coded()
        codes, names = coded.codes[:, 0], [*coded.vocabularies[0].values, None]
    else:
        raise DataError(
            "the column that divides the rows is a text or a count of words",
            "a group is a category or a number",
            "choose another column",
        )
    for code in np.unique(codes).tolist():
        yield _printed(names[code]), np.flatnonzero(codes == code)


def _printed(value: Any) -> Any:
    """A value as it is printed: a whole number without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


P = TypeVar("P")

STRETCH = 4096  # rows of one group side by side that are worth a call of their own


@dataclass(frozen=True)
class PlacedPart(Part):
    """A part that knows which rows of its table it holds: from ``first`` to ``stop``."""

    part: Part
    first: int
    stop: int

    def batches(self) -> Iterator[Batch]:
        """The rows in order."""
        return self.part.batches()

    @property
    def rows(self) -> int:
        return self.stop - self.first

    def locate(self, row: int) -> str:
        return self.part.locate(row)

    @property
    def nbytes(self) -> int | None:
        """Bytes of the part."""
        return self.part.nbytes


def placed(parts: Sequence[Part]) -> list[PlacedPart]:
    """Count the rows of the parts, one or more."""
    edges = accumulate((part.count() for part in parts), initial=0)
    return [PlacedPart(part, *pair) for part, pair in zip(parts, pairwise(edges), strict=True)]


def sums_by_place(
    kernel: Callable[[Part, Any], S],
    params: Any,
    engine: Engine,
    parts: Sequence[Part],
    group: NDArray[np.intp],
) -> list[S]:
    """The sums of a kernel over the rows of every group, from one pass over the table.

    Parameters
    ----------
    kernel : callable
        Its results can be added.
    params : object
        What it takes beside a part.
    engine, parts, group
        As in `by_place`; every group has a row.

    Returns
    -------
    list of g sums
    """
    total = by_place(_of_any_group, (kernel, params), engine, parts, group)
    return [total[g] for g in range(int(group.max()) + 1)]


def by_place(
    kernel: Callable[[Part, P, int], S],
    params: P,
    engine: Engine,
    parts: Sequence[Part],
    group: NDArray[np.intp],
) -> dict[int, S]:
    """Apply a kernel that knows the group to the rows of each, in one pass over the table.

    Parameters
    ----------
    kernel : callable
        Takes rows, ``params`` and a group; its results can be added.
    params : object
    engine : Engine
    parts : sequence of Part
        Of the whole table, in order.
    group : ndarray of int (n,)
        The group of every row, 0 to g − 1; −1 leaves a row out.

    Returns
    -------
    dict
        The sums by group.
    """
    total: dict[int, S] = {}
    # Few bytes a row: all are compared with their neighbours.
    group = group.astype(np.min_scalar_type(-1 - int(group.max(initial=0))))
    for found in engine.map(_of_placed, (kernel, params, group), placed(parts)):
        _join_places(total, found)
    return total


def _of_any_group(part: Part, params: tuple[Callable[[Part, Any], S], Any], group: int) -> S:
    """Kernel: what one that knows no groups finds."""
    kernel, more = params
    return kernel(part, more)


def _of_placed(part: Any, params: tuple[Callable[[Part, Any, int], S], Any, Any]) -> dict[int, S]:
    """Kernel: the sums over the rows of one part, by group."""
    kernel, more, group = params
    total: dict[int, S] = {}
    first = 0
    for batch in part.batches():
        start = part.first + first
        for g, rows in _grouped(group[start : start + batch.rows]):
            piece = _part(batch, rows)
            _join_places(total, {g: kernel(RowsOf(part, first, rows, piece), more, g)})
        first += batch.rows
    return total


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


def _part(batch: Batch, rows: range | NDArray[np.intp]) -> Batch:
    """Some rows of a batch, without a copy where they lie side by side."""
    if len(rows) == batch.rows:
        return batch
    return batch.cut(rows.start, rows.stop) if isinstance(rows, range) else batch.take(rows)


def _join_places(total: dict[int, Any], more: dict[int, Any]) -> None:
    for g, found in more.items():
        total[g] = add(total[g], found) if g in total else found
