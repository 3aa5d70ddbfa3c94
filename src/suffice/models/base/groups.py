"""Groups of rows: by values of columns that are read along, or by a number given for each row.

A part of a table whose rows have groups yields batches that say the group of every row. A kernel of
sums adds each row to the sums of its group; one that judges rows is given those of a group at a
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Layout
from suffice.data.source import Part, PartThrough, RowsOf, Source
from suffice.engines.engine import Engine, engine_for
from suffice.errors import DataError, ParameterError, first_line
from suffice.models.base.checks import is_array
from suffice.numerics.in_print import Printed, Table
from suffice.sums.batch import Batch
from suffice.sums.block import KeyBlock
from suffice.sums.by_class import ClassesByGroup
from suffice.sums.kept_rows import KeptRows
from suffice.sums.keys import Keyed, KeyNumbers, Keys, distinct
from suffice.sums.sorted_rows import in_order

MOST_GROUPS = 1_000

P = TypeVar("P")
S = TypeVar("S")
E = TypeVar("E", bound=Any)  # an evaluation, with figures `in_short`


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


# -- parts that know the groups of their rows


@dataclass(frozen=True)
class ByColumns:
    """Groups of rows with the same values of some columns, which the model may read or not."""

    names: tuple[str, ...]

    def parts(self, rows: Source, layout: Layout, workers: int) -> Sequence[Part]:
        """Return parts that read the keys as their first block: see `_grouped`."""
        known = {column.name for column in layout.columns}
        more = [name for name in self.names if name not in known]
        read = replace(
            layout,
            blocks=(BlockLayout("key", self.names), *layout.blocks),
            columns=(*(rows.columns(more) if more else ()), *layout.columns),
            ignored=tuple(name for name in layout.ignored if name not in self.names),
        )
        return rows.parts(read, workers)


@dataclass(frozen=True)
class ByPlace:
    """Groups of rows by their places in a table."""

    codes: NDArray[np.intp]  # from 0 on; −1 for rows in none, (n,)
    keys: Keys | None = None  # default: the numbers of the groups
    names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, columns: Mapping[str, pa.Array[Any]]) -> Self:
        """Return the groups of rows whose keys are given, the keys in order."""
        cells = Keys.of(columns)
        first, codes = distinct(cells.columns)
        return cls(codes, cells.take(first))

    def parts(self, rows: Source, layout: Layout, workers: int) -> Sequence[Part]:
        parts = rows.parts(layout, workers)
        keys = self.keys or Keys.numbered(np.arange(int(self.codes.max(initial=-1)) + 1))
        # Few bytes a row: all are compared with their neighbours.
        codes = self.codes.astype(np.min_scalar_type(-1 - int(self.codes.max(initial=0))))
        edges = list(accumulate((part.count() for part in parts), initial=0))
        if edges[-1] != len(codes):
            raise ParameterError(
                f"{len(codes)} keys for {edges[-1]} rows", "there is one key per row"
            )
        pairs = zip(parts, pairwise(edges), strict=True)
        return [PlacedPart(part, codes[a:b], keys) for part, (a, b) in pairs]


@dataclass(frozen=True)
class PlacedPart(Part):
    """A part that knows the groups of its rows (n,), and the keys of all groups."""

    part: Part
    groups: NDArray[np.signedinteger[Any]]
    keys: Keys

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


def _grouped(part: Any, names: tuple[str, ...]) -> tuple[Any, Callable[[], Keys]]:
    """Return a part whose rows have groups, and what gives the keys of these once it is read.

    Keys that are columns, the first block of a part, are numbered as they come.
    """
    if not names:
        return part, lambda: part.keys
    numbers = KeyNumbers(names)

    def numbered(batch: Batch) -> Batch:
        keys, *blocks = batch.blocks
        assert isinstance(keys, KeyBlock)
        return replace(batch, blocks=tuple(blocks), groups=numbers.codes(keys.columns))

    return PartThrough(part, numbered), numbers.keys


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
    name, column = getattr(by, "name", None), by
    if not isinstance(by, pa.Array | pa.ChunkedArray):
        try:
            column = pa.array(by, from_pandas=True)
        except (pa.ArrowException, LookupError, OverflowError, TypeError, ValueError) as error:
            raise DataError(
                f"the keys are no column: {first_line(error)}",
                "there is one key per row, and all are of one type",
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


# -- sums by group


def sums_by_group(
    kernel: Callable[[Part, Any], Any],
    params: Any,
    engine: Engine,
    rows: Source,
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
    found: Keyed = engine.run(_keyed, (kernel, params, groups.names), parts)
    return found.sorted() if groups.names else found


def _keyed(part: Part, task: tuple[Callable[[Part, Any], Any], Any, tuple[str, ...]]) -> Keyed:
    """Kernel: the sums of one part, by key."""
    kernel, params, names = task
    grouped, keys_of = _grouped(part, names)
    sums, keys = kernel(grouped, params), keys_of()
    return Keyed(keys, sums.padded(len(keys)))


# -- results of other kernels


class Results(dict[Any, Any]):
    """Results by group, or by model, which are added one by one."""

    def __add__(self, other: Results) -> Results:
        both = {key: self[key] + other[key] for key in self.keys() & other.keys()}
        return Results({**self, **other, **both})


def require_free(by: str, taken: Sequence[str | None]) -> None:
    """Refuse to group rows by a column that has another part to play."""
    if by in taken:
        raise ParameterError(
            f"the column {by!r} is to divide the rows, and is their label or their weight",
            "a column has one part to play",
            "choose another column",
        )


def results_by_group(
    kernel: Callable[[Part, P, int], Results],
    params: P,
    rows: Source,
    layout: Layout,
    groups: ByColumns | ByPlace,
) -> dict[Any, Any]:
    """Apply a kernel to the rows of every group, in one pass over a table.

    Parameters
    ----------
    kernel : callable
        Takes rows, ``params`` and the number of a group; its `Results` can be added.

    Returns
    -------
    dict
        Results, sorted; those of groups by the value of their only column.
    """
    engine, found = engine_for(rows), Results()
    parts = groups.parts(rows, layout, engine.workers)
    for more in engine.map(_results, (kernel, params, groups.names), parts):
        found = found + more
        if groups.names and len(found) > MOST_GROUPS:
            raise DataError(
                f"the column that divides the rows has more than {MOST_GROUPS:,} values",
                "every value is a group of its own",
                "choose a column with fewer values",
            )
    known = sorted(value for value in found if value is not None)
    return {value: found[value] for value in (*known, *({None} & found.keys()))}


def _results(
    part: Part, task: tuple[Callable[[Part, Any, Any], Any], Any, tuple[str, ...]]
) -> Results:
    """Kernel: the results of the rows of one part, by group; a batch is sorted by group once."""
    kernel, params, names = task
    grouped, keys_of = _grouped(part, names)
    found, first = Results(), 0
    for batch in grouped.batches():
        order = in_order(batch.groups)[np.count_nonzero(batch.groups < 0) :]
        in_place, groups = np.array_equal(order, np.arange(batch.rows)), batch.groups[order]
        starts = np.flatnonzero(np.diff(groups, prepend=-1)).tolist()
        for a, b in pairwise([*starts, len(order)]):
            g, rows = int(groups[a]), batch.cut(a, b) if in_place else batch.take(order[a:b])
            found = found + kernel(RowsOf(part, first, order[a:b], rows), params, g)
        first += batch.rows
    if not names:
        return found
    keys = keys_of()
    return Results({keys.key(g)[0]: result for g, result in found.items()})
