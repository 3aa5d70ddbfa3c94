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
) -> tuple[Batch, Sequence[str]]:
    """Some rows of the columns that are known, a block each, and their names."""
    is_table = isinstance(source, TableSource)
    names = source.table.names if is_table else source.names
    kinds = {
        name: kind
        for name, kind in layout.encodings.items()
        if name in known and (not is_table or name in names)
    }
    own = replace(
        layout,
        blocks=tuple(
            BlockLayout(kind if kind in ("category", "events") else "real", (name,))
            for name, kind in kinds.items()
        ),
        columns=tuple(column for column in layout.columns if column.name in kinds),
        label=None,
        weight=None,
    )
    if not is_table:
        step = max(1, source.x.shape[0] // LOOKED_AT)
        (part,) = ArraySource(source.x[::step][:LOOKED_AT], names).parts(own, 1)
        return next(part.batches()), tuple(kinds)
    own = replace(own, ignored=(*own.ignored, *(name for name in names if name not in kinds)))
    parts = replace(source, label=None, weight=None).parts(own, 1)  # other types are refused
    if (frame := in_memory(source.table)) is not None:
        few = frame.table.select(list(kinds))
        if few.num_rows > LOOKED_AT:
            few = few.take(np.linspace(0, few.num_rows - 1, LOOKED_AT).astype(np.int64))
        columns = [column.combine_chunks() for column in few.columns]
        rows = pa.RecordBatch.from_arrays(columns, names=list(kinds))
    else:
        batches = parts[0].record_batches() if source.table.about.guesses else iter(())
        rows = next(batches, source.table.head())
    return encode(rows.slice(0, LOOKED_AT), own), tuple(kinds)


def _mostly_unseen(
    known: Mapping[str, Vocabulary], batch: Batch, names: Sequence[str], fewest: int
) -> Iterator[_Unseen]:
    """The columns more than half of whose values no row of the fit showed."""
    for name, block in zip(names, batch.blocks, strict=True):
        vocabulary = known[name]
        if isinstance(block, SparseBlock):
            shown, unseen = _texts(block, vocabulary)
            values: list[Any] = []
        elif isinstance(block, CodedBlock | IntegerBlock):
            coded = block.coded()
            codes, new = coded.codes[:, 0], coded.recode((vocabulary,))[:, 0]
            beyond = new == len(vocabulary)
            shown, unseen = int((codes >= 0).sum()), int(beyond.sum())
            values = _by_frequency(codes[beyond], coded.vocabularies[0].values)
        else:
            cells = np.asarray(cast(RealBlock, block).values[:, 0], np.float64)
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
