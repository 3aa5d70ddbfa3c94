"""Rows of a table as those of another one, whose columns become numbers and indicators.

Of terms, where columns become more than that; or of categories, where numbers are cut into bins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from suffice.data.schema import BlockLayout, Layout, UniformColumns
from suffice.data.source import Part, refusal
from suffice.models.design.matrix import Design
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, RealBlock

KEPT_CELLS = 2**26  # whose codes are kept from pass to pass: 128 MB


def plain_layout(design: Design) -> Layout:
    """How the terms of a design are read where they are columns of their own."""
    columns = UniformColumns(design.terms, "number", "real", "a term")
    return Layout((BlockLayout("real", design.terms),), columns)


def read_as(design: Design, layout: Layout) -> LaidOut:
    """How the rows of a table are read whose columns are more than numbers and categories."""
    coded = design.is_of_cells and len(design.bins) > 0
    return Coded(design, layout) if coded else LaidOut(design, layout)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A design whose terms are laid out before anything is summed.

    Parameters
    ----------
    design : Design
        The terms.
    layout : Layout
        How a table is read.
    """

    design: Design
    layout: Layout

    @property
    def terms(self) -> Design:
        """The terms as columns of their own."""
        return Design(self.design.terms, ())

    @property
    def terms_layout(self) -> Layout:
        """How these are read."""
        return plain_layout(self.design)

    def parts(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The rows of parts as rows of terms."""
        return [LaidOutPart(part, self) for part in parts]

    def of(self, batch: Batch) -> Iterator[Batch]:
        """The rows of a batch, some at a time."""
        self.design.require_words(batch)
        for start, x in self.design.rows(self.design.present(batch)):
            yield replace(batch.cut(start, start + len(x)), blocks=(RealBlock(x),))

    @property
    def by_column(self) -> Layout:
        """The layout of the terms, each called by its column, as messages name cells."""
        names = tuple(self.design.column(place) for place in range(len(self.design)))
        return Layout((BlockLayout("real", names),), ())


@dataclass(frozen=True, eq=False)
class Coded(LaidOut):
    """A design of which some numbers are cut into bins: they are read as ordered categories."""

    @property
    def terms(self) -> Design:
        """The same terms, of categories."""
        return self.design.coded

    @property
    def terms_layout(self) -> Layout:
        """How these are read: numbers that are left, then categories."""
        return Layout(self.terms.blocks, self.layout.columns)

    def parts(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The rows of parts as rows of categories."""
        return [CodedPart(part, self, KEPT_CELLS // len(parts)) for part in parts]

    def of(self, batch: Batch) -> Iterator[Batch]:
        """The rows of a batch, all at once."""
        yield self.design.recoded(batch)

    @property
    def by_column(self) -> Layout:
        """The layout itself, whose columns are those of the table."""
        return self.terms_layout


@dataclass(frozen=True, eq=False)
class LaidOutPart(Part):
    """A part whose rows are those of `LaidOut`."""

    inner: Part
    laid_out: LaidOut

    def batches(self) -> Iterator[Batch]:
        """Yield some rows at a time."""
        first = 0
        for batch in self.inner.batches():
            try:
                yield from self.laid_out.of(batch)
            except BadCell as bad:
                raise refusal(self.inner, self.laid_out.layout, first, bad) from None
            first += batch.rows

    def count(self) -> int:
        """Return the number of rows."""
        return self.inner.count()

    def locate(self, row: int) -> str:
        """Say where a row stands."""
        return self.inner.locate(row)


@dataclass(frozen=True, eq=False)
class CodedPart(LaidOutPart):
    """The same, which keeps codes of rows for the next pass, unless they are too many.

    Parameters
    ----------
    most : int
        Cells that are kept.
    """

    laid_out: LaidOut
    most: int
    _kept: list[Batch] = field(default_factory=list, init=False, repr=False)

    def batches(self) -> Iterator[Batch]:
        """Yield some rows at a time."""
        if self._kept:
            yield from self._kept
            return
        found, cells = list[Batch](), 0
        for batch in super().batches():
            cells += batch.rows * len(self.laid_out.layout.names)
            if cells <= self.most:
                found.append(batch)
            else:
                found.clear()
            yield batch
        self._kept.extend(found)

    def __reduce__(self) -> Any:
        return type(self), (self.inner, self.laid_out, self.most)
