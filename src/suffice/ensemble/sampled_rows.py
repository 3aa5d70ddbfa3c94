"""The rows of a sample as a table again, for models that read columns in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.data.schema import LOW, Column, Layout
from suffice.statistics.block import CodedBlock, RealBlock
from suffice.statistics.kept_rows import KeptRows
from suffice.statistics.sparse_block import SparseBlock

__all__ = ["sampled_rows"]


def sampled_rows(kept: KeptRows, layout: Layout) -> pa.Table | None:
    """The cells of the columns, row by row in the order of hashes, which is a random one.

    A text is its words, and a time the seconds that models read; None where columns are no
    features of a table, as those of a sparse matrix.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"size": [1.5, None, 2.5], "note": ["so it is", "is it", None]}
    >>> model = NaiveBayes({"note": "multinomial"}, keep_sample=True).fit(rows, ["a", "b", "a"])
    >>> found = sampled_rows(model._kept[0], model.layout_).to_pylist()
    >>> sorted(found, key=str)[0]
    {'note': 'is it', 'size': None}
    """
    known = {column.name: column for column in layout.columns}
    found: dict[str, pa.Array[Any]] = {}
    for own, read in zip(kept.cells, layout.blocks, strict=True):
        block = own.block()
        if isinstance(block, SparseBlock) and not block.vocabulary.closed:
            found[read.columns[0]] = pa.array(list(_texts(block)), pa.string())
        elif isinstance(block, RealBlock | CodedBlock):
            columns = [known[name] for name in read.columns]
            found |= zip(read.columns, _columns(block, columns), strict=True)
        else:
            return None
    return pa.table(found)


def _columns(block: RealBlock | CodedBlock, columns: Sequence[Column]) -> Iterator[pa.Array[Any]]:
    for j, column in enumerate(columns):
        if isinstance(block, RealBlock):
            cells = pa.array(block.values[:, j], from_pandas=True)
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
