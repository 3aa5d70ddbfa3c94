"""Reads the tables of a logistic regression, and makes terms of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.data.encode import stored_cells
from suffice.data.schema import BlockLayout, Layout, UniformColumns
from suffice.data.source import ArraySource, Part, refusal
from suffice.data.table_source import TableSource
from suffice.engines.engine import engine_for
from suffice.errors import SchemaError
from suffice.models.design.feature_columns import (
    Features,
    features,
    predictors,
    settled_design,
    without_unused,
)
from suffice.models.design.learnt_bins import with_learnt_bins
from suffice.models.design.matrix import Design
from suffice.models.optimise.gradient_descent import STEPS
from suffice.models.reading import LabelReader, is_named, settle_columns
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, Encoding, RealBlock, SparseBlock
from suffice.sums.vocabulary import Vocabulary

MOST_LAID_OUT = 1_000  # columns of a sparse matrix whose numbers are cut
KEPT_CELLS = 2**26  # that are kept from pass to pass: codes of 128 MB, or doubles of 512 MB


@dataclass(frozen=True)
class LogisticReader(LabelReader):
    """Reads tables, whose rows become rows of numbers."""

    design: Design | None = None  # where terms are more than numbers and unordered categories


def reader_of(
    estimator: Any, source: TableSource | ArraySource, label_dtype: np.dtype[Any] | None
) -> LogisticReader:
    """Return the reader of tables like a first one, by the options of an estimator.

    Sparse rows are laid out for a descent, and where numbers are cut into bins.
    """
    told, with_bins = predictors(estimator), estimator.numbers == "bins"
    found = features(source, told)
    if with_bins:
        _check_width(source)
    if found.is_plain and not with_bins:
        blocks = _blocks(source, found, estimator.solver in STEPS)
        return LogisticReader.of(source, found.columns, blocks, {}, label_dtype=label_dtype)
    engine = engine_for(source)
    design = settled_design(source, found, engine)
    more: dict[str, Any] = {"design": design, "label_dtype": label_dtype}
    reader = LogisticReader.of(source, found.columns, design.blocks, {}, **more)
    if with_bins:
        parts, missing = source.parts(reader.layout, engine.workers), estimator.incomplete
        how = missing == "drop", missing == "indicator"
        design = with_learnt_bins(design, reader.layout, engine, parts, *how)
    reader = replace(reader, design=design.spanning(told.intercept))
    reader = without_unused(reader, source, found)
    if found.formula is not None and isinstance(source, TableSource):
        settle_columns(estimator, len(reader.names), reader.names if is_named(estimator) else None)
    return reader


def _check_width(source: TableSource | ArraySource) -> None:
    if not isinstance(source, ArraySource) or not is_sparse(source.x):
        return
    if (width := len(source.names)) > MOST_LAID_OUT:
        raise SchemaError(
            f"a sparse matrix has {width:,} columns, which would be cut into bins",
            f"its rows are laid out for that, of at most {MOST_LAID_OUT:,} columns",
            "use numbers='linear'",
        )


def _blocks(
    source: TableSource | ArraySource, found: Features, laid_out: bool
) -> tuple[BlockLayout, ...]:
    """Return blocks of numbers, dense or sparse, and then of categories."""
    if isinstance(source, ArraySource):
        sparse = is_sparse(source.x) and not laid_out
        return (BlockLayout("sparse" if sparse else "real", source.names),)
    coded = tuple(column.name for column in found.columns if column.kind == "category")
    empty = dict.fromkeys(coded, Vocabulary(()))
    return Design(tuple(column.name for column in found.columns), (), empty).blocks


def read_as(design: Design, layout: Layout) -> LaidOut:
    """Choose the rows of a design whose columns are more than numbers and categories."""
    coded = design.is_of_cells and len(design.bins) > 0
    return Coded(design, layout) if coded else LaidOut(design, layout)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A design whose terms are laid out before anything is summed."""

    design: Design  # the terms
    layout: Layout  # how a table is read

    @property
    def terms(self) -> Design:
        """The terms as columns of their own."""
        return Design(self.design.terms, ())

    @property
    def terms_layout(self) -> Layout:
        columns = UniformColumns(self.design.terms, "number", "real", "a term")
        encoding: Encoding = "sparse" if self.design.is_sparse else "real"
        return Layout((BlockLayout(encoding, self.design.terms),), columns)

    @property
    def is_kept(self) -> bool:
        """Tell whether rows are kept between passes: to lay them out takes longer than a pass."""
        return self.design.is_sparse or bool(self.design.words or self.design.bins)

    def parts(self, parts: Sequence[Part]) -> Sequence[Part]:
        laid_out = [LaidOutPart(part, self) for part in parts]
        if not self.is_kept:
            return laid_out
        return [KeptPart(part, KEPT_CELLS // len(parts)) for part in laid_out]

    def of(self, batch: Batch) -> Iterator[Batch]:
        """The rows of a batch, some at a time."""
        self.design.require_words(batch)
        there = self.design.present(batch)
        if self.design.is_sparse:
            yield replace(batch, blocks=(stored_cells(self.design.sparse_rows(there)),))
            return
        for start, x in self.design.rows(there):
            yield replace(batch.cut(start, start + len(x)), blocks=(RealBlock(x),))

    @property
    def by_column(self) -> Layout:
        """The layout of the terms, each called by its column, as messages name cells."""
        names = np.empty(len(self.design), object)
        for column in self.design.groups:
            names[self.design.places([column])] = column
        return Layout((BlockLayout("real", tuple(names)),), ())


@dataclass(frozen=True, eq=False)
class Coded(LaidOut):
    """A design of which some numbers are cut into bins: they are read as ordered categories."""

    @property
    def terms(self) -> Design:
        return self.design.coded

    @property
    def terms_layout(self) -> Layout:
        return Layout(self.terms.blocks, self.layout.columns)

    def of(self, batch: Batch) -> Iterator[Batch]:
        yield self.design.recoded(batch)

    @property
    def by_column(self) -> Layout:
        """The layout itself, whose columns are those of the table."""
        return self.terms_layout


@dataclass(frozen=True, eq=False)
class Wrapped(Part):
    """A part whose rows are those of another."""

    inner: Part

    def count(self) -> int:
        return self.inner.count()

    def locate(self, row: int) -> str:
        return self.inner.locate(row)


@dataclass(frozen=True, eq=False)
class LaidOutPart(Wrapped):
    """A part whose rows are those of `LaidOut`."""

    laid_out: LaidOut

    def batches(self) -> Iterator[Batch]:
        first = 0
        for batch in self.inner.batches():
            try:
                yield from self.laid_out.of(batch)
            except BadCell as bad:
                raise refusal(self.inner, self.laid_out.layout, first, bad) from None
            first += batch.rows


@dataclass(frozen=True, eq=False)
class KeptPart(Wrapped):
    """A part whose batches are kept for the next pass, unless they have too many cells."""

    most: int  # cells that are kept
    _kept: list[Batch] = field(default_factory=list, init=False, repr=False)

    def batches(self) -> Iterator[Batch]:
        if self._kept:
            yield from self._kept
            return
        found, cells = list[Batch](), 0
        for batch in self.inner.batches():
            cells += sum(map(_cells, batch.blocks))
            if cells <= self.most:
                found.append(batch)
            else:
                found.clear()
            yield batch
        self._kept.extend(found)

    def __reduce__(self) -> Any:
        return type(self), (self.inner, self.most)


def _cells(block: Any) -> int:
    return len(block.data) if isinstance(block, SparseBlock) else block.rows * block.width
