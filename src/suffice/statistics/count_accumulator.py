"""Adding up counts of categories, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.block import CodedBlock, IntegerBlock, tiles
from suffice.statistics.counts import Counts, grown
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["WIDEST", "CountAccumulator"]

FIRST_LOOK = 1_024  # rows that suggest the range of whole numbers
WIDEST = 262_144  # places in a table of whole numbers; what is wider is looked up


@dataclass(frozen=True, eq=False)
class CodeRange:
    """The codes low[j], ..., low[j] + size[j] − 1 of every column, side by side in a table.

    ``vocabularies`` tells what they stand for: code −1 is a missing cell, 0 the first value. Where
    it is None, a code is itself the value, a whole number.
    """

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    vocabularies: tuple[Vocabulary, ...] | None = None

    @classmethod
    def of(cls, vocabularies: tuple[Vocabulary, ...]) -> CodeRange:
        """The codes of vocabularies, and −1."""
        size = np.array([len(v) + 1 for v in vocabularies], np.int64)
        return cls(np.full(len(size), -1), size, vocabularies)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where every column starts, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.size)])

    @classmethod
    def spanning(cls, values: NDArray[Any], known: CodeRange | None = None) -> CodeRange | None:
        """The range of whole numbers (n, d), and of those known; None if it is too wide."""
        low, high = values.min(axis=0).astype(np.int64), values.max(axis=0).astype(np.int64)
        if known is not None:
            low, high = np.minimum(low, known.low), np.maximum(high, known.low + known.size - 1)
        if (high.astype(np.float64) - low + 1).sum() > WIDEST:
            return None
        return cls(low, high - low + 1)

    def counts(self, table: DoubleDouble) -> Counts:
        """What a table (k, M) over this range has counted."""
        if self.vocabularies is not None:
            kept = np.setdiff1d(np.arange(table.shape[1]), self.offsets[:-1])
            return Counts(self.vocabularies, table[:, kept]).sorted()
        shown = np.any(table.hi > 0, axis=0)
        columns = [np.flatnonzero(shown[a:b]) for a, b in pairwise(self.offsets)]
        vocabularies = tuple(
            Vocabulary(tuple((low + codes).tolist()))
            for low, codes in zip(self.low, columns, strict=True)
        )
        return Counts(vocabularies, table[:, shown])


class CountAccumulator:
    """Builds `Counts` of d columns of categories.

    Rows are added into one table while the codes keep their meaning. A batch may bring
    vocabularies of its own, unsorted and with unused values, or whole numbers beyond the range so
    far; then the table is folded into the sum by value, so that codes never travel.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._k = 0
        self._range: CodeRange | None = None
        self._tally: NDArray[np.int64] = np.zeros((0, 0), np.int64)  # rows of weight one, (k, M)
        self._table: NDArray[np.float64] = np.zeros((0, 2, 0))  # the others, (k, 2, M)
        self._sum: Counts | None = None

    def add(
        self,
        block: CodedBlock | IntegerBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block."""
        self._k = max(k, self._k)
        if isinstance(block, IntegerBlock):
            self._add_integers(block.values, codes, weights)
            return
        if self._range is None or self._range.vocabularies != block.vocabularies:
            self._open(CodeRange.of(block.vocabularies))
        binary = block.codes.dtype == np.int8 and not weights.size
        stored = binary or block.codes.dtype == np.int32
        for start, values in tiles(block.codes, block.codes.dtype if stored else np.int64):
            rows = slice(start, start + len(values))
            if binary:
                kernels.counts.add_binary(values, codes[rows], self._grown_tally())
            else:
                self._count(values, codes[rows], weights[rows])

    def statistic(self) -> Counts:
        """Freeze what was added; without any block, the vocabularies are empty."""
        self._fold()
        nothing = Counts((Vocabulary(()),) * self._d, DoubleDouble.zeros((self._k, 0)))
        return self._sum or nothing

    def _add_integers(
        self, values: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        """Count whole numbers directly, widening the range whenever one is beyond it."""
        if not len(values):
            return
        if self._range is None or self._range.vocabularies is not None:
            self._open(CodeRange.spanning(values[:FIRST_LOOK]))
        for start, part in tiles(values, np.int64):
            done = 0
            while self._range is not None and self._range.vocabularies is None:
                rows = slice(start + done, start + len(part))
                stopped = self._count(part[done:], codes[rows], weights[rows])
                if stopped < 0:
                    break
                done += stopped
                self._open(CodeRange.spanning(part[done:], self._range))
            else:
                rows = slice(start + done, start + len(part))
                self.add(IntegerBlock(part[done:]).coded(), codes[rows], weights[rows], self._k)

    def _count(
        self, values: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> int:
        """Run the kernel; return −1, or the first row that has a code beyond the range."""
        assert self._range is not None
        bounds = self._range.low, self._range.size, self._range.offsets
        if weights.size:
            args = codes, weights, self._grown_table()
            return int(kernels.counts.add_weighted_codes(values, *bounds, *args))
        return int(kernels.counts.add_codes(values, *bounds, codes, self._grown_tally()))

    def _grown_tally(self) -> NDArray[np.int64]:
        assert self._range is not None
        if not self._tally.size:
            self._tally = np.zeros((0, int(self._range.offsets[-1])), np.int64)
        self._tally = grown(self._tally, self._k)
        return self._tally

    def _grown_table(self) -> NDArray[np.float64]:
        assert self._range is not None
        if not self._table.size:
            self._table = np.zeros((0, 2, int(self._range.offsets[-1])))
        self._table = grown(self._table, self._k)
        return self._table

    def _open(self, codes: CodeRange | None) -> None:
        self._fold()
        self._range = codes

    def _fold(self) -> None:
        """Add what was counted to the sum, by value."""
        if self._range is None:
            return
        tally, pairs = self._grown_tally(), self._grown_table()
        part = self._range.counts(DoubleDouble.from_table(pairs) + DoubleDouble.of(tally))
        if self._sum is not None:
            known = np.arange(self._sum.count.shape[0])
            part = self._sum.place(known, part.count.shape[0]) + part
        self._range, self._sum = None, part
        self._tally, self._table = np.zeros((0, 0), np.int64), np.zeros((0, 2, 0))
