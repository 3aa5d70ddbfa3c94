"""Rows of many classes, which are sorted before they are added: each class is then gone to once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.arrays import Floats, Ints

MANY_CLASSES = 512  # of fewer, rows are added as they come
MOST_ROWS = 2**20
MOST_CELLS = 2**24  # of the rows that wait: 128 MB
TOGETHER = 128  # classes added in one call of a kernel


class Piece(NamedTuple):
    """Rows (n, d) of a few classes (m,), their codes among these, and weights (n,) or (0,)."""

    classes: Ints
    x: Floats
    codes: Ints
    weights: Floats


class SortedRows:
    """Rows that wait until there are enough of every class.

    Examples
    --------
    >>> rows = SortedRows()
    >>> rows.put(np.array([[1.0], [2.0], [3.0]]), np.array([7, 3, 7]), np.empty(0))
    >>> [(piece.classes, piece.x.tolist(), piece.codes) for piece, _ in rows.pieces()]
    [(array([3, 7]), [[2.0], [1.0], [3.0]], array([0, 1, 1]))]
    """

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._rows = self._cells = 0

    def put(self, x: Floats, codes: Ints, weights: Floats) -> None:
        """Keep rows (n, d), which nobody changes; of code −1, they are left out later."""
        self._parts.append((x, codes, weights))
        self._rows, self._cells = self._rows + len(x), self._cells + x.size

    @property
    def is_full(self) -> bool:
        return self._rows >= MOST_ROWS or self._cells >= MOST_CELLS

    def pieces(self, *sums: Floats) -> Iterator[tuple[Piece, list[Floats]]]:
        """Yield the rows in the order of their classes, with the sums of these to add to.

        ``sums`` are arrays whose first axis is that of the classes. Then no row waits.
        """
        if not self._parts:
            return
        parts, self._parts, self._rows, self._cells = self._parts, [], 0, 0
        x, codes = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        weights = np.empty(0)
        if any(len(part[2]) for part in parts):
            each = (w if len(w) else np.ones(len(rows)) for rows, _, w in parts)
            weights = np.concatenate(list(each))
        order = in_order(codes)
        order = order[np.count_nonzero(codes < 0) :]
        codes, x = codes[order], x.take(order, axis=0)
        weights = weights[order] if len(weights) else weights
        new = codes[1:] != codes[:-1]
        first = np.flatnonzero(np.append(len(codes) > 0, new))
        classes, rank = codes[first], np.append(0, np.cumsum(new))
        ends = np.append(first, len(codes)).tolist()
        for a in range(0, len(classes), TOGETHER):
            b = min(a + TOGETHER, len(classes))
            rows, own = slice(ends[a], ends[b]), [part[classes[a:b]] for part in sums]
            yield Piece(classes[a:b], x[rows], rank[rows] - a, weights[rows]), own
            for part, new in zip(sums, own, strict=True):
                part[classes[a:b]] = new


def in_order(codes: Ints) -> Ints:
    """Return a stable order of codes from −1 to 2³² − 3, by their halves.

    Examples
    --------
    >>> in_order(np.array([2, -1, 70_000, 2]))
    array([1, 0, 3, 2])
    """
    halves = (codes + 1).astype(np.uint32)
    order = np.argsort(halves.astype(np.uint16), kind="stable")
    if len(codes) and int(codes.max()) + 1 >= 2**16:
        order = order[np.argsort((halves >> 16).astype(np.uint16)[order], kind="stable")]
    return order
