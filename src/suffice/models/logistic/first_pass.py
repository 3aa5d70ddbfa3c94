"""Readers of logistic regression, and its first pass over the rows.

A reader says what columns become, such as terms that are laid out. The first pass finds moments and
counts of every column in every class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.encode import stored_cells
from suffice.data.schema import BlockLayout, Layout, UniformColumns
from suffice.data.source import ArraySource, Part, each_batch, refusal
from suffice.data.table_source import TableSource
from suffice.engines.engine import engine_for
from suffice.errors import DataError, SchemaError
from suffice.models.base.checks import require_weights
from suffice.models.base.options import incomplete, listed_missing
from suffice.models.design.feature_columns import (
    features,
    settled_design,
    without_unused,
)
from suffice.models.design.learnt_bins import with_learnt_bins
from suffice.models.design.matrix import Design
from suffice.models.design.remarks import learnt_rows, weight_missing, without_rows, without_value
from suffice.models.logistic.model import LogisticModel
from suffice.models.logistic.rows import CentredDesign, DataLoop, TrainingRows
from suffice.models.optimise.gradient_descent import STEPS
from suffice.models.reading import LabelReader, is_named, settle_columns
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import NAMED
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, Encoding, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.comoments import ComomentsAccumulator
from suffice.sums.counts import CountAccumulator
from suffice.sums.moments import TOO_LARGE, Moments, MomentsAccumulator, refuse_underflow
from suffice.sums.vocabulary import Vocabulary

MOST_LAID_OUT = 1_000  # columns of a sparse matrix whose numbers are cut
KEPT_CELLS = 2**26  # that are kept from pass to pass: codes of 128 MB, or doubles of 512 MB

Missing = Literal["error", "drop", "indicator"]


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
    found, sparse, with_bins = features(source, estimator), False, estimator.numbers == "bins"
    if isinstance(source, ArraySource):
        sparse = not isinstance(source.x, np.ndarray)
    if with_bins and sparse and len(found.columns) > MOST_LAID_OUT:
        raise SchemaError(
            f"a sparse matrix has {len(found.columns):,} columns, which would be cut into bins",
            f"its rows are laid out for that, of at most {MOST_LAID_OUT:,} columns",
            "use numbers='linear'",
        )
    if found.is_plain and not with_bins:
        if isinstance(source, ArraySource):
            laid_out = not sparse or estimator.solver in STEPS
            blocks: tuple[BlockLayout, ...]
            blocks = (BlockLayout("real" if laid_out else "sparse", source.names),)
        else:
            coded = [column.name for column in found.columns if column.kind == "category"]
            names = tuple(column.name for column in found.columns)
            blocks = Design(names, (), dict.fromkeys(coded, Vocabulary(()))).blocks
        return LogisticReader.of(source, found.columns, blocks, {}, label_dtype=label_dtype)
    engine = engine_for(source)
    design = settled_design(source, found, engine)
    more: dict[str, Any] = {"design": design, "label_dtype": label_dtype}
    reader = LogisticReader.of(source, found.columns, design.blocks, {}, **more)
    if with_bins:
        parts, missing = source.parts(reader.layout, engine.workers), estimator.incomplete
        how = missing == "drop", missing == "indicator"
        design = with_learnt_bins(design, reader.layout, engine, parts, *how)
    reader = replace(reader, design=design.spanning(bool(estimator.fit_intercept)))
    reader = without_unused(reader, source, found)
    if found.formula is not None and isinstance(source, TableSource):
        settle_columns(estimator, len(reader.names), reader.names if is_named(estimator) else None)
    return reader


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

    def parts(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Return parts that keep their rows where to lay them out takes longer than a pass."""
        kept = self.design.is_sparse or self.design.words or self.design.bins
        most = KEPT_CELLS // len(parts) if kept else 0
        return [LaidOutPart(part, self, most) for part in parts]

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
class LaidOutPart(Part):
    """A part whose rows are laid out, and kept for the next pass if they are not too many."""

    inner: Part
    laid_out: LaidOut
    most: int  # cells that are kept
    _kept: list[Batch] = field(default_factory=list, init=False, repr=False)

    def count(self) -> int:
        return self.inner.count()

    def locate(self, row: int) -> str:
        return self.inner.locate(row)

    def batches(self) -> Iterator[Batch]:
        if self._kept:
            yield from self._kept
            return
        found, cells, first = list[Batch](), 0, 0
        for given in self.inner.batches():
            try:
                for batch in self.laid_out.of(given):
                    cells += sum(map(_cells, batch.blocks))
                    if cells <= self.most:
                        found.append(batch)
                    else:
                        found.clear()
                    yield batch
            except BadCell as bad:
                raise refusal(self.inner, self.laid_out.layout, first, bad) from None
            first += given.rows
        self._kept.extend(found)

    def __reduce__(self) -> Any:
        return type(self), (self.inner, self.laid_out, self.most)


def _cells(block: Any) -> int:
    return len(block.data) if isinstance(block, SparseBlock) else block.rows * block.width


# -- the first pass


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Sums of the first pass over the rows of a fit, and how the rows are read."""

    data: DataLoop  # over the rows
    rows: CentredDesign  # how rows that are read become rows of terms
    table: CentredDesign  # how rows of the table do, which have the same coefficients
    intercept: bool  # whether b is estimated
    every: ByClass  # moments and counts of all rows
    seen: ByClass  # those of the rows that are not left out

    def start(self, before: LogisticModel) -> NDArray[np.float64] | None:
        """Return the coefficients of an earlier model, if it is of these columns and classes."""
        same = before.centred.design == self.table.design and before.classes == self.seen.classes
        return before.about(self.table) if same else None


def read_once(
    source: TableSource | ArraySource,
    reader: LogisticReader,
    workers: int | None,
    intercept: bool,
    missing: Missing,
) -> FirstPass:
    """Read the rows of a fit for the first time, twice where some are left out.

    They come in parts for so many ``workers``, by default those of the engine.
    """
    engine, layout, design = engine_for(source), reader.layout, reader.design
    rows_often = source.read_often(layout) if isinstance(source, TableSource) else source
    parts: Sequence[Part] = rows_often.parts(layout, workers or engine.workers)
    laid_out = None if design is None else read_as(design, layout)
    if laid_out is not None:
        parts, layout = laid_out.parts(parts), laid_out.terms_layout
        intercept = intercept and laid_out.design.allows_intercept
    data = DataLoop(engine, parts, layout)
    every = seen = data.run(first_pass, (layout, False))
    missing_cells = weight_missing(every, layout if laid_out is None else laid_out.by_column)
    own = () if laid_out is None else laid_out.design.missing
    if lacking := {name: f"{w:g}" for name, w in missing_cells.items() if name not in own}:
        seen = _complete(data, layout, laid_out, missing, lacking)
    if len(seen.classes) < 2:
        require_weights(source, every.classes)
        raise _too_few(seen.classes)
    for block, place in zip(seen.blocks, layout.blocks, strict=True):
        if (too_small := block.too_small).any():
            refuse_underflow(too_small, place.columns.__getitem__)
    left_out = seen is not every and every.rows - seen.rows > 0
    if laid_out is None:
        design = Design(layout.blocks[0].columns, ())
        if layout.blocks[-1].encoding == "category":
            design = _with_categories(layout, seen).spanning(intercept)
        rows = table = CentredDesign.of(design, layout, seen, intercept, left_out)
    else:
        rows = CentredDesign.of(laid_out.terms, layout, seen, intercept, left_out)
        table = replace(rows, design=laid_out.design, layout=laid_out.layout)
    return FirstPass(data, rows, table, intercept, every, seen)


def _complete(
    data: DataLoop,
    layout: Layout,
    laid_out: LaidOut | None,
    missing: Missing,
    lacking: Mapping[str, str],
) -> ByClass:
    """Return the sums of complete rows, by a second pass, where columns lack cells."""
    cells = listed_missing(lacking)
    texts = lacking.keys() & (laid_out.design.words.keys() if laid_out else ())
    with_bins = "" if isinstance(laid_out, Coded) else " with numbers='bins'"
    steps = ["leave the texts out"] if texts else []  # no option gives a missing one a term
    steps += [f"use incomplete='indicator'{with_bins}"] if lacking.keys() > texts else []
    otherwise = " and ".join(steps)
    if missing != "drop":
        raise incomplete(cells, otherwise)
    complete = data.run(first_pass, (layout, True))
    if not len(complete.classes):
        raise DataError(
            f"no labelled row is complete: values are missing, {cells}",
            "incomplete='drop' learns from complete rows only",
            f"leave columns out, or {otherwise}",
        )
    return complete


def _too_few(classes: Vocabulary) -> DataError:
    if not len(classes):
        return without_rows(labelled=True)
    return DataError(
        f"there is one class: every label is {classes.values[0]!r}",
        "a classifier needs two classes or more",
        "check the label column and the weights",
    )


def _with_categories(layout: Layout, seen: ByClass) -> Design:
    values = dict(zip(layout.blocks[-1].columns, seen.blocks[-1].vocabularies, strict=True))
    for name in (name for name, vocabulary in values.items() if not len(vocabulary)):
        raise without_value(name, rows=learnt_rows(seen, layout))
    return Design(layout.names, (), values)


def listed(places: Sequence[int] | NDArray[np.intp], design: Design) -> str:
    """Name some terms: ``column 'a'``, or ``columns 'a', 'b'``, and how many more.

    Examples
    --------
    >>> listed([0, 2], Design(("a", "b", "c"), ()))
    "columns 'a', 'c'"
    """
    terms = design.columns if design.is_of_numbers else design.terms
    names = [repr(terms[j]) for j in places[:NAMED]]
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"column{'s' * (len(places) > 1)} {', '.join(names)}{more}"


# -- kernels


class SparseMomentsAccumulator:
    """Builds `Moments` of the d columns of a sparse matrix; squares are rounded to double."""

    def __init__(self, d: int) -> None:
        self._d = d
        self._sums = [DoubleDouble.zeros((0, d))] * 3

    def add(
        self, block: SparseBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        rows = np.flatnonzero(codes >= 0)
        weight = weights[rows] if len(weights) else np.ones(len(rows))
        classes = csr_array((weight, (codes[rows], rows)), shape=(k, block.rows))
        cells = np.asarray(block.data, np.float64)
        summed_cells = np.repeat(codes >= 0, np.diff(block.indptr))
        for q in np.flatnonzero((np.abs(cells) > LARGEST) & summed_cells)[:1].tolist():
            rule = "a number must be finite" if np.isinf(cells[q]) else TOO_LARGE
            raise block.bad_cell(q, float(cells[q]), rule)
        missing = np.isnan(cells)
        present = np.where(missing, 0.0, cells)

        def summed(values: NDArray[np.float64]) -> DoubleDouble:
            table = csr_array((values, block.indices, block.indptr), shape=(block.rows, self._d))
            return DoubleDouble.of((classes @ table).toarray())

        observed = DoubleDouble.of(np.bincount(codes[rows], weight, k)[:, None] + np.zeros(self._d))
        if missing.any():
            observed -= summed(missing.astype(np.float64))
        added = observed, summed(present), summed(present**2)
        before = (a.scatter(slice(0, a.shape[0]), (k, self._d)) for a in self._sums)
        self._sums = [a + b for a, b in zip(before, added, strict=True)]

    def statistic(self) -> Moments:
        weight, sums, squares = (np.stack([s.hi, s.lo], axis=1) for s in self._sums)
        both = np.concatenate([sums, squares], axis=1)
        return Moments(weight, np.zeros(self._sums[0].shape), both)


ACCUMULATORS: dict[Encoding, Callable[[int], Any]] = {
    "real": MomentsAccumulator,
    "category": CountAccumulator,
    "sparse": SparseMomentsAccumulator,
}


def first_pass(part: Part, plan: tuple[Layout, bool]) -> ByClass:
    """Kernel of the first pass: moments and counts of every column in every class.

    ``plan`` is the layout, and whether rows with a missing cell are left out.
    """
    layout, complete = plan
    total = ByClassAccumulator([ACCUMULATORS[b.encoding](len(b.columns)) for b in layout.blocks])
    for _ in each_batch(part, layout, lambda b: total.add(b.complete_rows() if complete else b)):
        pass
    return total.statistic()


def joint_moments(part: Part, rows: TrainingRows) -> ByClass:
    total = ByClassAccumulator([ComomentsAccumulator(rows.centred.width - 1, pooled=True)])

    def add(batch: Batch) -> None:
        batch, *_ = rows.of(batch)
        for start, x in rows.centred.tables(batch):
            piece = batch.cut(start, start + len(x))
            total.add(replace(piece, blocks=(RealBlock(x.astype(float, copy=False)),)))

    for _ in each_batch(part, rows.layout, add):
        pass
    return total.statistic()
