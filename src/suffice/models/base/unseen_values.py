"""Columns most of whose values no row of the fit showed: one warning names them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.encode import encode
from suffice.data.frames.memory import in_memory
from suffice.data.schema import BlockLayout, Layout
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.errors import DataError, warn
from suffice.numerics.in_print import NAMED
from suffice.phrases import meant
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, CodedBlock, IntegerBlock, RealBlock, SparseBlock
from suffice.sums.vocabulary import Vocabulary

LOOKED_AT = 4_096  # rows of a table, evenly spread where it is in memory, else its first
FEWEST = 5  # values of a column in these: of fewer, most may be new by chance


def warn_of_unseen(
    known: Mapping[str, Vocabulary],
    source: TableSource | ArraySource,
    layout: Layout,
    fewest: int = FEWEST,
) -> None:
    """Warn of columns of rows to be answered, more than half of whose values are unseen.

    A value is unseen if no row of the fit showed it, and a text if none of its words is known.
    Missing cells do not count. At most 4,096 rows are looked at, so that it costs next to nothing.

    Parameters
    ----------
    known : mapping of str to Vocabulary
        Values of categories, and words of texts, by column.
    source : TableSource or ArraySource
        The rows.
    layout : Layout
        How they are read.
    fewest : int
        A column with fewer values among these rows is not judged.
    """
    if not known or _are_fewer(source, fewest):
        return
    if isinstance(source, TableSource) and known.keys().isdisjoint(source.table.names):
        return  # they are missed when all rows are read
    with suppress(DataError, BadCell):  # which are found again when all rows are read
        batch, read = _some_rows(known, source, layout)
        found = list(_mostly_unseen(known, batch, read, fewest))
        if found:
            more = f"; and {len(found) - NAMED} more columns" if len(found) > NAMED else ""
            warn("; ".join(map(str, found[:NAMED])) + more + ".")


def _are_fewer(source: Any, rows: int) -> bool:
    if isinstance(source, ArraySource):
        return int(source.x.shape[0]) < rows
    frame = in_memory(source.table)
    return frame is not None and frame.table.num_rows < rows


@dataclass(frozen=True)
class _Unseen:
    column: str
    unseen: int
    shown: int
    values: Sequence[Any]  # the unseen ones, the most frequent first; none of a text
    known: Vocabulary

    def __str__(self) -> str:
        share = f"{self.unseen:,} of {self.shown:,} ({self.unseen / self.shown:.0%})"
        if not self.values:
            return f"column {self.column!r}: {share} texts have no word that was seen in training"
        said = f"column {self.column!r}: {share} values were never seen in training, such as "
        return f"{said}{self.values[0]!r}{self._meant()}"

    def _meant(self) -> str:
        """A known value that is one of the unseen ones but for its spelling."""
        spelt = {_spelling(value): value for value in reversed(self.known.values)}
        for value in self.values:
            if (same := spelt.get(_spelling(value))) is not None:
                which = "" if value is self.values[0] else f" by {value!r}"
                return f"; perhaps {same!r} is meant{which}"
        near = meant(self.values[0], self.known.values) if isinstance(self.values[0], str) else ""
        return f"; {near}" if near else ""


def _spelling(value: Any) -> Any:
    """A value but for case, blanks, and how a number or a truth value is written."""
    text = " ".join(str(value).split()).casefold()
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def _some_rows(
    known: Mapping[str, Vocabulary], source: Any, layout: Layout
) -> tuple[Batch, Sequence[BlockLayout]]:
    """Some rows of the columns that are known, and how they are read."""
    table = isinstance(source, TableSource)
    kinds: dict[str, str] = {}
    for block in layout.blocks:
        is_number = layout.is_number(block) if block.encoding == "mixed" else ()
        for j, name in enumerate(block.columns):
            if (
                name in known
                and name not in kinds
                and not (table and name not in source.table.names)
            ):
                mixed = block.encoding == "mixed" and not is_number[j]
                kinds[name] = "category" if mixed else block.encoding
    texts = [name for name, kind in kinds.items() if kind == "events"]
    categories = tuple(name for name, kind in kinds.items() if kind == "category")
    numbers = tuple(name for name in kinds if name not in (*texts, *categories))
    blocks = [BlockLayout("category", categories)] if categories else []
    blocks += [BlockLayout("real", numbers)] if numbers else []
    blocks += [BlockLayout("events", (name,)) for name in texts]
    own = replace(
        layout,
        blocks=tuple(blocks),
        columns=tuple(column for column in layout.columns if column.name in kinds),
        label=None,
        weight=None,
    )
    if table:
        others = tuple(name for name in source.table.names if name not in kinds)
        own = replace(own, ignored=(*own.ignored, *others))
        source = replace(source, label=None, weight=None)
        parts = source.parts(own, 1)  # which refuses columns of other types
        if not source.table.about.guesses:
            return encode(_spread(source, tuple(kinds)), own), own.blocks
        return encode(next(parts[0].records()).slice(0, LOOKED_AT), own), own.blocks
    step = max(1, source.x.shape[0] // LOOKED_AT)
    (part,) = ArraySource(source.x[::step][:LOOKED_AT], source.names).parts(own, 1)
    return next(part.batches()), own.blocks


def _spread(source: TableSource, names: Sequence[str]) -> pa.RecordBatch:
    """Rows of a table that has types, evenly spread where it is in memory."""
    frame = in_memory(source.table)
    rows = source.table.head().slice(0, LOOKED_AT) if frame is None else frame.table
    few = rows.select(list(names))
    if few.num_rows > LOOKED_AT:
        few = few.take(np.linspace(0, few.num_rows - 1, LOOKED_AT).astype(np.int64))
    if isinstance(few, pa.Table):
        few = pa.RecordBatch.from_arrays(
            [column.combine_chunks() for column in few.columns], names=list(names)
        )
    return few


def _mostly_unseen(
    known: Mapping[str, Vocabulary], batch: Batch, blocks: Sequence[BlockLayout], fewest: int
) -> Iterator[_Unseen]:
    """The columns more than half of whose values no row of the fit showed."""
    for layout, block in zip(blocks, batch.blocks, strict=True):
        for j, name in enumerate(layout.columns):
            vocabulary = known[name]
            if isinstance(block, SparseBlock):
                shown, unseen = _texts(block, vocabulary)
                values: list[Any] = []
            elif isinstance(block, CodedBlock | IntegerBlock):
                coded = block.column(j).coded()
                codes, new = coded.codes[:, 0], coded.recode((vocabulary,))[:, 0]
                beyond = new == len(vocabulary)
                shown, unseen = int((codes >= 0).sum()), int(beyond.sum())
                values = _by_frequency(codes[beyond], coded.vocabularies[0].values)
            else:
                cells = np.asarray(cast(RealBlock, block).values[:, j], np.float64)
                cells = cells[cells == cells]
                beyond = ~np.isin(cells, np.array(vocabulary.values, np.float64))
                shown, unseen = len(cells), int(beyond.sum())
                distinct, codes = np.unique(cells[beyond], return_inverse=True)
                whole = (int(v) if v.is_integer() else v for v in distinct.tolist())
                values = _by_frequency(codes, list(whole))
            if shown >= fewest and 2 * unseen > shown:
                yield _Unseen(name, unseen, shown, values, vocabulary)


def _by_frequency(codes: NDArray[Any], values: Sequence[Any]) -> list[Any]:
    """The values that some codes show, the most frequent first."""
    if not len(codes):
        return []
    counts = np.bincount(codes, minlength=len(values))
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    return [values[code] for code in order.tolist()]


def _texts(block: SparseBlock, known: Vocabulary) -> tuple[int, int]:
    """Return the number of texts with a word, and of those without a known one."""
    row = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    words = np.bincount(row, minlength=block.rows) > 0
    seen = np.bincount(row[block.reindex(known) < len(known)], minlength=block.rows) > 0
    return int(words.sum()), int((words & ~seen).sum())
