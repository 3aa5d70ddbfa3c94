"""Sums over the rows of every group, by the places of the rows: what folds are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.models.base.groups import RowsOf
from suffice.sums.batch import Batch

__all__ = ["PlacedPart", "by_place", "sums_by_place"]

P = TypeVar("P")
S = TypeVar("S")

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
        """Number of rows."""
        return self.stop - self.first

    def locate(self, row: int) -> str:
        """Where a row stands."""
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
    """What a kernel that knows the group finds in the rows of each, from one pass over the table.

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
    for found in engine.map(_of_part, (kernel, params, group), placed(parts)):
        _join(total, found)
    return total


def _of_any_group(part: Part, params: tuple[Callable[[Part, Any], S], Any], group: int) -> S:
    """Kernel: what one that knows no groups finds."""
    kernel, more = params
    return kernel(part, more)


def _of_part(part: Any, params: tuple[Callable[[Part, Any, int], S], Any, Any]) -> dict[int, S]:
    """Kernel: the sums over the rows of one part, by group."""
    kernel, more, group = params
    total: dict[int, S] = {}
    first = 0
    for batch in part.batches():
        start = part.first + first
        for g, rows in _grouped(group[start : start + batch.rows]):
            piece = _part(batch, rows)
            _join(total, {g: kernel(RowsOf(part, first, rows, piece), more, g)})
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


def _join(total: dict[int, Any], more: dict[int, Any]) -> None:
    for g, found in more.items():
        total[g] = add(total[g], found) if g in total else found
