"""The rows of a sample as a table again, for models that read columns in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import LOW, Column, Layout
from suffice.statistics.batch import Batch
from suffice.statistics.block import CodedBlock, RealBlock, converted
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.row_sample import RowSample
from suffice.statistics.sparse_block import SparseBlock

__all__ = ["sampled_rows"]


def sampled_rows(
    sample: RowSample, layout: Layout
) -> tuple[pa.Table, NDArray[Any], NDArray[np.float64]] | None:
    """The cells of the columns, the labels and the weights, row by row in the order of hashes.

    That order is a random one. A text is its words, and a time the seconds that models read; None
    where columns are no features of a table, as those of a sparse matrix.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"size": [1.5, None, 2.5], "note": ["so it is", "is it", None]}
    >>> model = NaiveBayes({"note": "multinomial"}).fit(rows, ["a", "b", "a"])
    >>> found, labels, weights = sampled_rows(model.statistic_.sample, model.layout_)
    >>> sorted(found.to_pylist(), key=str)[0]
    {'note': 'is it', 'size': None}
    """
    batches = [piece.batch for piece in sample.pieces]
    tables = [table for batch in batches if (table := _table(batch, layout)) is not None]
    if not tables:
        return None
    order = np.argsort(np.concatenate([piece.hashes for piece in sample.pieces]))
    labels = [np.array(batch.classes.values, object)[batch.codes] for batch in batches]
    weights = [batch.weights for batch in batches]
    rows = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return rows.take(pa.array(order)), np.concatenate(labels)[order], np.concatenate(weights)[order]


def _table(batch: Batch, layout: Layout) -> pa.Table | None:
    """The rows of a batch; None where columns are no features of a table."""
    known = {column.name: column for column in layout.columns}
    found: dict[str, pa.Array[Any]] = {}
    blocks: Sequence[Any] = batch.blocks
    for block, read in zip(blocks, layout.blocks, strict=True):
        if isinstance(block, SparseBlock) and not block.vocabulary.closed:
            found[read.columns[0]] = pa.array(list(_texts(block.merged())), pa.string())
        elif isinstance(block, SparseBlock | MixedBlock):
            return None
        else:
            coded = block if isinstance(block, RealBlock) else block.coded()
            columns = [known[name] for name in read.columns]
            found |= zip(read.columns, _columns(coded, columns), strict=True)
    return pa.table(found)


def _columns(block: RealBlock | CodedBlock, columns: Sequence[Column]) -> Iterator[pa.Array[Any]]:
    for j, column in enumerate(columns):
        if isinstance(block, RealBlock):
            numbers = np.asarray(converted(block.values[:, [j]]), np.float64)
            cells = pa.array(numbers[:, 0], from_pandas=True)
            yield cells.cast(pa.int64()) if column.stored == "integer" else cells
            continue
        values = [*block.vocabularies[j].values, None]
        if column.stored in ("integer", "number"):
            low = LOW.get(column.reason, 0.0)
            values = [None if v is None else low if v is False else float(v) for v in values]
        cells = pa.array(values).take(pa.array(block.codes[:, j] % len(values)))
        yield cells.cast(pa.int64()) if column.stored == "integer" else cells


def _texts(block: SparseBlock) -> Iterator[str | None]:
    words = np.array(block.vocabulary.values, object)
    spans = zip(block.indptr[:-1].tolist(), block.indptr[1:].tolist(), strict=True)
    for present, (start, stop) in zip(block.present.tolist(), spans, strict=True):
        counts = np.nan_to_num(block.data[start:stop]).astype(np.intp)
        yield " ".join(np.repeat(words[block.indices[start:stop]], counts)) if present else None
