"""The first pass of an iterative fit: moments and counts of every column in every class.

Where terms depend on each other, a further pass tells which, by their co-moments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.schema import Layout
from suffice.data.source import ArraySource, Part, each_batch
from suffice.data.table_source import TableSource
from suffice.engines.engine import engine_for
from suffice.errors import DataError
from suffice.models.base.checks import require_weights
from suffice.models.base.options import incomplete, listed_missing
from suffice.models.design.matrix import Design
from suffice.models.design.remarks import learnt_rows, weight_missing, without_rows, without_value
from suffice.models.logistic.model import LogisticModel
from suffice.models.logistic.options import Missing
from suffice.models.logistic.reader import (
    KEPT_CELLS,
    Coded,
    KeptPart,
    LaidOut,
    LogisticReader,
    read_as,
)
from suffice.models.logistic.rows import CentredDesign, DataLoop
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import NAMED
from suffice.sums.block import Encoding, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.counts import CountAccumulator
from suffice.sums.moments import TOO_LARGE, Moments, MomentsAccumulator, refuse_underflow


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Sums of the first pass over the rows of a fit, and how the rows are read."""

    data: DataLoop  # over the rows
    layout: Layout  # how these are read
    laid_out: LaidOut | None  # what the columns are, where ``data`` has terms in their place
    intercept: bool  # whether b is estimated
    every: ByClass  # moments and counts of all rows
    seen: ByClass  # those of the rows that are not left out
    rows: CentredDesign  # how rows that are read become rows of terms

    @property
    def table(self) -> CentredDesign:
        """Rows of the table as those that the coefficients are of."""
        if self.laid_out is not None:
            return replace(self.rows, design=self.laid_out.design, layout=self.laid_out.layout)
        return self.rows

    @property
    def constant(self) -> tuple[str, ...]:
        constant = np.flatnonzero(self.table.scale == 0)
        if not len(constant):
            return ()
        return (f"{listed(constant, self.table.design)}: constant, so the coefficient is 0",)

    def start(self, before: LogisticModel) -> NDArray[np.float64] | None:
        """Return the coefficients of an earlier model, if it is of these columns and classes."""
        table = self.table
        same = before.centred.design == table.design and before.classes == self.seen.classes
        return before.about(table) if same else None


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
    parts: Sequence[Any] = rows_often.parts(layout, workers or engine.workers)
    if any(block.encoding == "sparse" for block in layout.blocks):
        parts = [KeptPart(part, KEPT_CELLS // len(parts)) for part in parts]
    laid_out = None if design is None else read_as(design, layout)
    if laid_out is not None:
        parts, layout = laid_out.parts(parts), laid_out.terms_layout
        intercept = intercept and laid_out.design.allows_intercept
    data = DataLoop(engine, parts)
    every = data.run(first_pass, (layout, False))
    require_weights(source, every.classes)
    seen = _complete(data, layout, laid_out, missing, every)
    _require_classes(seen)
    for block, place in zip(seen.blocks, layout.blocks, strict=True):
        if (too_small := block.too_small).any():
            refuse_underflow(too_small, place.columns.__getitem__)
    design = _design(layout, seen, intercept) if laid_out is None else laid_out.terms
    left_out = seen is not every and every.rows - seen.rows > 0
    rows = CentredDesign.of(design, layout, seen, intercept, left_out)
    return FirstPass(data, layout, laid_out, intercept, every, seen, rows)


def _complete(
    data: DataLoop, layout: Layout, laid_out: LaidOut | None, missing: Missing, every: ByClass
) -> ByClass:
    """Return the sums of complete rows: a second pass, if cells without a term are missing."""
    own = () if laid_out is None else laid_out.design.missing
    missing_cells = weight_missing(every, layout if laid_out is None else laid_out.by_column)
    lacking = {name: f"{w:g}" for name, w in missing_cells.items() if name not in own}
    if not lacking:
        return every
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


def _require_classes(seen: ByClass) -> None:
    labels = seen.classes.values
    if not labels:
        raise without_rows(labelled=True)
    if len(labels) < 2:
        raise DataError(
            f"there is one class: every label is {labels[0]!r}",
            "a classifier needs two classes or more",
            "check the label column and the weights",
        )


def _design(layout: Layout, seen: ByClass, intercept: bool) -> Design:
    last, sums = layout.blocks[-1], seen.blocks[-1]
    if last.encoding != "category":
        return Design(layout.names, ())
    values = dict(zip(last.columns, sums.vocabularies, strict=True))
    for name in (name for name, vocabulary in values.items() if not len(vocabulary)):
        raise without_value(name, rows=learnt_rows(seen, layout))
    return Design(layout.names, (), values).spanning(intercept)


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
        _check_sizes(block, cells, codes)
        missing = np.isnan(cells)
        present = np.where(missing, 0.0, cells)

        def summed(values: NDArray[np.float64]) -> DoubleDouble:
            table = csr_array((values, block.indices, block.indptr), shape=(block.rows, self._d))
            return DoubleDouble.of((classes @ table).toarray())

        observed = DoubleDouble.of(np.bincount(codes[rows], weight, k)[:, None] + np.zeros(self._d))
        if missing.any():
            observed -= summed(missing.astype(np.float64))
        added = observed, summed(present), summed(present**2)
        self._sums = [_grown(a, k) + b for a, b in zip(self._sums, added, strict=True)]

    def statistic(self) -> Moments:
        weight, sums, squares = (np.stack([s.hi, s.lo], axis=1) for s in self._sums)
        both = np.concatenate([sums, squares], axis=1)
        return Moments(weight, np.zeros(self._sums[0].shape), both)


def _grown(sums: DoubleDouble, k: int) -> DoubleDouble:
    return sums.scatter(slice(0, sums.shape[0]), (k, sums.shape[1]))


def _check_sizes(block: SparseBlock, cells: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
    summed = np.repeat(codes >= 0, np.diff(block.indptr))
    for q in np.flatnonzero((np.abs(cells) > LARGEST) & summed)[:1].tolist():
        rule = "a number must be finite" if np.isinf(cells[q]) else TOO_LARGE
        raise block.bad_cell(q, float(cells[q]), rule)


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
