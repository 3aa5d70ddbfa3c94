"""Rows of a table as rows of terms, where columns become more than numbers and indicators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from suffice.data.schema import BlockLayout, Layout, UniformColumns
from suffice.data.source import Split, refusal
from suffice.models.design.matrix import Design
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, RealBlock

__all__ = ["LaidOut", "LaidOutSplit", "plain_layout"]


def plain_layout(design: Design) -> Layout:
    """How the terms of a design are read where they are columns of their own."""
    columns = UniformColumns(design.terms, "number", "real", "a term")
    return Layout((BlockLayout("real", design.terms),), columns)


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

    def split(self, split: Split) -> LaidOutSplit:
        """The rows of a split as rows of terms."""
        return LaidOutSplit(split, self)

    @property
    def by_column(self) -> Layout:
        """The layout of the terms, each called by its column, as messages name cells."""
        names = tuple(self.design.column(place) for place in range(len(self.design)))
        return Layout((BlockLayout("real", names),), ())


@dataclass(frozen=True, eq=False)
class LaidOutSplit:
    """A split whose rows are rows of terms."""

    inner: Split
    laid_out: LaidOut

    def batches(self) -> Iterator[Batch]:
        """Yield some rows at a time.

        Raises
        ------
        DataError
            If a cell breaks a rule.
        """
        first, design = 0, self.laid_out.design
        for batch in self.inner.batches():
            try:
                design.require_words(batch)
                for start, x in design.rows(design.present(batch)):
                    yield replace(batch.cut(start, start + len(x)), blocks=(RealBlock(x),))
            except BadCell as bad:
                raise refusal(self.inner, self.laid_out.layout, first, bad) from None
            first += batch.rows

    def count(self) -> int:
        """Return the number of rows."""
        return self.inner.count()

    def locate(self, row: int) -> str:
        """Say where a row stands."""
        return self.inner.locate(row)
